/*
 * A census of the sources: every worker logs the addresses that it defines. After the scan the log
 * gives the exact number of probes (which determines the number of shards) and, for the ordered
 * split, the address that separates train from test. Bounded memory: the log is read several times
 * if its ids do not fit.
 */
#ifndef LEAT_INGEST_PROBES_CENSUS_H
#define LEAT_INGEST_PROBES_CENSUS_H

#include "base/address.h"
#include "base/file.h"
#include "base/mem.h"
#include "format/dataset/layout.h"

/* One worker's log: a file of {i64 src_id, u8 split, u8 size, text}. */
typedef struct leat_census_log {
    leat_file *file;
    leat_buf buf;
    int64_t file_bytes;
    int64_t entries;
} leat_census_log;

/* In an unnamed file in temp_dir. */
LEAT_MUST_CHECK leat_code leat_census_log_open(leat_census_log *log, const char *temp_dir,
                                               leat_error *err);
void leat_census_log_close(leat_census_log *log);
LEAT_MUST_CHECK leat_code leat_census_log_add(leat_census_log *log, int64_t src_id,
                                              leat_split split, const char *text,
                                              int32_t size_bytes, leat_error *err);
LEAT_MUST_CHECK leat_code leat_census_log_flush(leat_census_log *log, leat_error *err);

/* One entry while a log is read. */
typedef struct leat_census_entry {
    int64_t src_id;
    int split;
    int32_t size_bytes;
    const char *text;
} leat_census_entry;
typedef leat_code (*leat_census_fn)(void *context, const leat_census_entry *item, leat_error *err);
/* All entries of a log that was flushed, in order. */
LEAT_MUST_CHECK leat_code leat_census_for_each(const leat_census_log *log, leat_census_fn fn,
                                               void *context, leat_error *err);

/* Distinct src_ids per split: the total, and the number in each of 2^16 equal ranges. */
#define LEAT_CENSUS_RANGE_BITS 16
typedef struct leat_census {
    int64_t probes[LEAT_SPLITS];
    uint32_t *ranges[LEAT_SPLITS];
} leat_census;

/* Counts, within about memory_bytes. */
/* Logs, all of which are read, and the memory for the table that counts them. */
typedef struct leat_census_logs {
    leat_census_log *logs;
    int count;
    int64_t memory_bytes;
} leat_census_logs;

LEAT_MUST_CHECK leat_code leat_census_count(const leat_census_logs *logs, leat_census *census,
                                            leat_error *err);
void leat_census_free(leat_census *census);
/* An upper bound for the probes of the fullest of the given number of shards of the split. */
int64_t leat_census_fullest(const leat_census *census, leat_split split, int64_t shards);

/* A boundary address: texts below it, in byte order, are train. size -1: all are. */
typedef struct leat_census_bound {
    int32_t size_bytes;
    char text[LEAT_ADDRESS_TEXT_BYTES];
} leat_census_bound;

/* The text with exactly `rank` distinct texts below it; uses an unnamed file in temp_dir. */
LEAT_MUST_CHECK leat_code leat_census_rank(const leat_census_logs *logs, int64_t rank,
                                           const char *temp_dir, leat_census_bound *bound,
                                           leat_error *err);

/* Addresses of several spellings among the distinct sources, and how many sources they are. */
typedef struct leat_census_spellings {
    int64_t addresses, probes;
    bool complete; /* false: there are too many other spellings to count all of them */
} leat_census_spellings;
LEAT_MUST_CHECK leat_code leat_census_spell(const leat_census_logs *logs,
                                            leat_census_spellings *out, leat_error *err);

#endif
