/*
 * Which sources there are: every worker logs the addresses that it defines; after the scan the log
 * gives the exact number of probes (which fixes the number of shards) and, for the ordered split,
 * the address that divides train from test. Bounded memory: the log is read several times if its
 * ids do not fit.
 */
#ifndef LEAT_INGEST_CENSUS_H
#define LEAT_INGEST_CENSUS_H

#include "base/address.h"
#include "base/file.h"
#include "base/mem.h"
#include "format/layout.h"

/* One worker's log: a file of {i64 src_id, u8 split, u8 size, text}. */
typedef struct leat_census_log {
    leat_file *file;
    leat_buf buf;
    int64_t file_bytes;
    int64_t entries;
} leat_census_log;

LEAT_MUST_CHECK leat_code leat_census_log_open(leat_census_log *log, const char *path,
                                               leat_error *err);
void leat_census_log_close(leat_census_log *log);
LEAT_MUST_CHECK leat_code leat_census_log_add(leat_census_log *log, int64_t src_id,
                                              leat_split split, const char *text,
                                              int32_t size_bytes, leat_error *err);
LEAT_MUST_CHECK leat_code leat_census_log_flush(leat_census_log *log, leat_error *err);

/* Different src_ids per split: all of them, and those of each of 2^16 equal ranges. */
#define LEAT_CENSUS_RANGE_BITS 16
typedef struct leat_census {
    int64_t probes[LEAT_SPLITS];
    uint32_t *ranges[LEAT_SPLITS];
} leat_census;

/* Counts, in about memory_bytes. */
LEAT_MUST_CHECK leat_code leat_census_count(leat_census_log *logs, int log_count,
                                            int64_t memory_bytes, leat_census *census,
                                            leat_error *err);
void leat_census_free(leat_census *census);
/* At least as many as the fullest of so many shards of the split has. */
int64_t leat_census_fullest(const leat_census *census, leat_split split, int64_t shards);

/* An address text as a bound: texts below it, in byte order, are train. size -1: all are. */
typedef struct leat_census_bound {
    int32_t size_bytes;
    char text[LEAT_ADDRESS_TEXT_BYTES];
} leat_census_bound;

/* The text with exactly `rank` different texts below it. temp_path names a file that is made and
 * removed again. */
LEAT_MUST_CHECK leat_code leat_census_rank(leat_census_log *logs, int log_count,
                                           int64_t memory_bytes, int64_t rank,
                                           const char *temp_path, leat_census_bound *bound,
                                           leat_error *err);

/* Byte order of two texts: <0, 0, >0. */
int leat_text_compare(const char *a, int32_t a_bytes, const char *b, int32_t b_bytes);

#endif
