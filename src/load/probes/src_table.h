/*
 * A value for each source: CSV files with the columns src_id and one other, as --addresses and
 * --client-weights take them. 16 bytes a source and its text.
 */
#ifndef LEAT_LOAD_PROBES_SRC_TABLE_H
#define LEAT_LOAD_PROBES_SRC_TABLE_H

#include "base/lines.h"

typedef struct leat_src_table leat_src_table;

/*
 * Reads `path`: a header with src_id and `column` (others are ignored), then one record per source.
 * LEAT_ERR_INPUT names line and value: not a whole number, or a source that appears twice.
 */
LEAT_MUST_CHECK leat_code leat_src_table_load(leat_src_table **out, const char *path,
                                              const char *column, leat_error *err);
void leat_src_table_destroy(leat_src_table *table);
int64_t leat_src_table_bytes(const leat_src_table *table);
/* The text of a source, NUL-terminated; NULL if it is not there. */
const char *leat_src_table_find(const leat_src_table *table, int64_t src_id);
/* SHA-256 over all entries in order: equal for files with equal contents. */
void leat_src_table_hash(const leat_src_table *table, uint8_t digest[32]);

#endif
