/*
 * A block of rows in memory: what the windowed order reads in one piece. Rows of a block are
 * consecutive in the split; where they lie in several shards the block has several parts.
 *
 *   leat's shard, mapped          its pages are fetched into the page cache: nothing is held here
 *   leat's shard, read            its pages, each checked when it is first touched
 *   leat's shard, compressed      its records, decoded
 *   third-party file              nothing: its rows are read one by one
 *
 * What could not be read or decoded is not held: whoever needs it reads the row itself, and so
 * finds the same error as without a block.
 */
#ifndef LEAT_LOAD_PROBES_LOADED_H
#define LEAT_LOAD_PROBES_LOADED_H

#include "load/probes/dataset.h"

/* Consecutive rows of one shard. */
typedef struct leat_loaded_part {
    int64_t row, row_count; /* of the data set */
    int64_t shard;
    uint8_t *bytes;   /* NULL: nothing is held */
    leat_paged paged; /* pages that were read; `data` NULL: records that were decoded */
    int64_t *ends; /* [row_count] where each of those ends; where the one before ends: not held */
} leat_loaded_part;

typedef struct leat_loaded {
    leat_loaded_part *parts;
    int64_t count, capacity;
} leat_loaded;

/* Adds a part with these rows, which is not read yet. */
LEAT_MUST_CHECK leat_code leat_loaded_add(leat_loaded *loaded, int64_t shard, int64_t row,
                                          int64_t row_count, leat_error *err);
/* Bytes that the rows take in memory once they are read; of a mapped shard: in the page cache. And
 * what they take besides while they are read: the chunks that are decoded. */
LEAT_MUST_CHECK leat_code leat_loaded_bytes(const leat_dataset *dataset, leat_io io,
                                            const leat_loaded_part *part, int64_t *size_bytes,
                                            int64_t *chunk_bytes, leat_error *err);
/* Reads all parts; fails only for want of memory. */
LEAT_MUST_CHECK leat_code leat_loaded_read(leat_loaded *loaded, const leat_dataset *dataset,
                                           leat_io io, bool any_size, leat_error *err);
/* {0} accepted. */
void leat_loaded_free(leat_loaded *loaded);
/* The part that has a row of the data set and holds something; NULL: none. */
const leat_loaded_part *leat_loaded_find(const leat_loaded *loaded, int64_t row);
/* The record of a row of a part that was decoded; false: it is not held. */
bool leat_loaded_record(const leat_loaded_part *part, int64_t row, leat_view *view);

/* ---- row.c ---- */
/* leat_dataset_row_open, from a part that has the row; NULL: none. The part must stay until the
 * cursor opens another row, or is destroyed. */
LEAT_MUST_CHECK leat_code leat_dataset_row_open_in(const leat_dataset *dataset, int64_t row,
                                                   leat_row *cursor, const leat_loaded_part *part,
                                                   leat_error *err);

#endif
