/*
 * The index of a data set (DIR/index.bin): facts and place of every row, hash of every page of
 * every uncompressed shard, and hashes of its own pages, so that a reader trusts what it touches
 * without reading the rest. Format: docs/dataset.md.
 *
 * Made from parts: whoever writes a shard fills a leat_shard_part, which may be put in a file until
 * all shards are there; leat_index_build then streams the parts, one at a time, into the index.
 */
#ifndef LEAT_FORMAT_DATASET_INDEX_H
#define LEAT_FORMAT_DATASET_INDEX_H

#include "base/sink.h"
#include "format/dataset/manifest.h"

/* One row, in memory as on disk (little-endian machines only). */
typedef struct leat_index_row {
    int64_t src_id;            /* 0 .. 2^60 - 1 */
    int64_t first_us, last_us; /* 0 <= first <= last */
    int64_t chunk_offset;      /* file position where the record's chunk begins */
    int64_t record_bytes;      /* uncompressed */
    uint32_t n_measurements;   /* 1 .. 2^31 - 1 */
    uint8_t ip_version;        /* 4 or 6; 0: both */
    uint8_t zero[3];
} leat_index_row;
_Static_assert(sizeof(leat_index_row) == 48, "a row of the index takes 48 bytes");

/* Describes what is wrong with a row of a shard that has file_bytes; NULL: nothing. */
const char *leat_index_row_problem(const leat_index_row *row, int64_t file_bytes);

/*
 * What the index and the manifest must know of one shard. page_count is 0 for a compressed shard,
 * else ceil(file_bytes / LEAT_PAGE_BYTES): XXH3-64 of each page, the last one as long as it is, as
 * leat_sink_page_hashes gives them.
 */
typedef struct leat_shard_part {
    leat_shard_info info;
    leat_index_row *rows; /* info.row_count of them, record 0 first */
    int64_t row_capacity;
    uint64_t *page_hashes;
    int64_t page_count;
    int64_t duplicates; /* measurements that the writer found to be duplicates */
} leat_shard_part;

/* Appends a row and counts it in info (row_count, measurement_count, first_us, last_us). A row that
 * is out of bounds is LEAT_ERR_INPUT. */
LEAT_MUST_CHECK leat_code leat_shard_part_add_row(leat_shard_part *part, const leat_index_row *row,
                                                  leat_error *err);
/* Copies the page hashes of the finished sink. */
LEAT_MUST_CHECK leat_code leat_shard_part_set_pages(leat_shard_part *part, const uint64_t *hashes,
                                                    int64_t page_count, leat_error *err);
/* Frees rows and hashes (both are the part's own) and zeroes the part. */
void leat_shard_part_free(leat_shard_part *part);

/* To and from a file of its own. The file appears complete or not at all. It is not synced: a file
 * that a power failure truncated, or that a run with another number wrote, is detected by its
 * hashes (LEAT_ERR_CORRUPT). */
LEAT_MUST_CHECK leat_code leat_shard_part_save(const leat_shard_part *part, uint64_t run,
                                               const char *path, leat_error *err);
LEAT_MUST_CHECK leat_code leat_shard_part_load(const char *path, uint64_t run,
                                               leat_shard_part *part, leat_error *err);

typedef struct leat_index_facts {
    int64_t file_bytes, row_count;
    uint8_t table_sha256[32]; /* for leat_manifest.index_sha256 */
} leat_index_facts;

/* Fills *part (zeroed before the call) with shard k; leat_index_build frees it. The callback may
 * add part->info to a manifest on the way. */
typedef leat_code (*leat_part_fn)(void *context, int64_t k, leat_shard_part *part, leat_error *err);

/* Writes the index of shards 0 .. shard_count - 1 in the manifest's order (train, then test), one
 * part in memory at a time; synced and renamed to `path` at the end. */
LEAT_MUST_CHECK leat_code leat_index_build(const char *path, int64_t shard_count, leat_part_fn load,
                                           void *context, leat_index_facts *facts, leat_error *err);

/* ---- Reading ------------------------------------------------------------------------------ */

typedef struct leat_index leat_index;

typedef struct leat_index_shard {
    leat_split split;
    int32_t number;
    int64_t first_row, row_count; /* of all rows */
    int64_t page_count, file_bytes, measurement_count;
    int64_t first_us, last_us;
    int64_t rows_offset, pages_offset; /* in the index, bytes */
} leat_index_shard;

/* Whether DIR/index.bin is a file that begins as an index of leat does. */
LEAT_MUST_CHECK leat_code leat_index_is_in(const char *dir, bool *there, leat_error *err);

/*
 * Maps the index and checks its page table (against file_bytes and sha256, which the manifest
 * states), header, trailer and shard table; any other page is checked when it is first touched.
 * The functions below may be called by several threads at once.
 */
LEAT_MUST_CHECK leat_code leat_index_open(leat_index **out, const char *path, int64_t file_bytes,
                                          const uint8_t sha256[32], leat_error *err);
void leat_index_close(leat_index *index);
int64_t leat_index_shard_count(const leat_index *index);
int64_t leat_index_row_count(const leat_index *index);
const leat_index_shard *leat_index_shard_get(const leat_index *index, int64_t shard);
/* The shard that holds a row, 0 <= row < row count. */
int64_t leat_index_shard_of(const leat_index *index, int64_t row);
/* LEAT_ERR_CORRUPT names the index, its page and the row. */
LEAT_MUST_CHECK leat_code leat_index_row_get(const leat_index *index, int64_t row,
                                             leat_index_row *out, leat_error *err);
/* The same, where the row's shard is known already. */
LEAT_MUST_CHECK leat_code leat_index_row_in(const leat_index *index, int64_t shard, int64_t row,
                                            leat_index_row *out, leat_error *err);
LEAT_MUST_CHECK leat_code leat_index_page_hash(const leat_index *index, int64_t shard, int64_t page,
                                               uint64_t *out, leat_error *err);
/* Checks every page of the index now, and every row's bounds. */
LEAT_MUST_CHECK leat_code leat_index_verify(const leat_index *index, leat_error *err);

#endif
