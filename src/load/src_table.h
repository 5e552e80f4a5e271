/*
 * A value for each source: CSV files with the columns src_id and one other, as --addresses and
 * --client-weights take them. 16 bytes a source and its text.
 */
#ifndef LEAT_LOAD_SRC_TABLE_H
#define LEAT_LOAD_SRC_TABLE_H

#include "base/lines.h"

typedef struct leat_src_table leat_src_table;

/*
 * Reads `path`: a header that has src_id and `column` (others are ignored), then one record a
 * source. LEAT_ERR_INPUT names line and value: no whole number, a source that stands there twice.
 */
LEAT_MUST_CHECK leat_code leat_src_table_load(leat_src_table **out, const char *path,
                                              const char *column, leat_error *err);
void leat_src_table_destroy(leat_src_table *table);
int64_t leat_src_table_bytes(const leat_src_table *table);
/* The text of a source, NUL-terminated; NULL if it is not there. */
const char *leat_src_table_find(const leat_src_table *table, int64_t src_id);
/* Source and text number 0 <= i < count, in ascending order; false past the end. */
bool leat_src_table_get(const leat_src_table *table, int64_t i, int64_t *src_id, const char **text);
/* SHA-256 over all of it in order: equal for files that say the same. */
void leat_src_table_hash(const leat_src_table *table, uint8_t digest[32]);

#endif
