/*
 * The memory for reading files without leat's index. Everything is decided by their footers and by
 * the limit, before a record is read: which chunks are refused, how many threads read at the same
 * time. So the outcome does not depend on threads or on what was read before.
 */
#ifndef LEAT_LOAD_PROBES_READING_H
#define LEAT_LOAD_PROBES_READING_H

#include <stdbool.h>

#include "base/budget.h"

/* A chunk as the footer describes it. */
typedef struct leat_reading_chunk {
    int64_t file_bytes; /* from its beginning to the next one's */
    int64_t decoded_bytes, record_count;
} leat_reading_chunk;

typedef struct leat_reading {
    int64_t memory_bytes;
    int64_t cache_wanted;    /* for records kept for reuse: no more than a quarter of the memory */
    int64_t table_bytes;     /* what stays: the facts of rows, the tables of readers */
    int64_t most_bytes;      /* that reading a record of any chunk takes */
    leat_reading_chunk most; /* of all chunks */
    int64_t fit_decode_bytes, fit_record_bytes; /* the same of chunks that fit, in two parts */
    leat_budget gate;                           /* what decoding at this moment takes */
    int64_t table_max; /* what the measurements of a record may take, decoded */
    int threads;       /* that would like to read */
} leat_reading;

void leat_reading_init(leat_reading *reading, int64_t memory_bytes, int64_t cache_wanted);
void leat_reading_destroy(leat_reading *reading);
int64_t leat_reading_cache_bytes(const leat_reading *reading);
/* Before tables of this many bytes are allocated: LEAT_ERR_LIMIT names `what` and a sufficient
 * limit. */
LEAT_MUST_CHECK leat_code leat_reading_take(leat_reading *reading, const char *what,
                                            int64_t size_bytes, leat_error *err);
/* What tables may still take. */
int64_t leat_reading_left(const leat_reading *reading);
void leat_reading_add_chunk(leat_reading *reading, const leat_reading_chunk *chunk);
/* Makes *to as large as `chunk` in each way. */
void leat_reading_widen(leat_reading_chunk *to, const leat_reading_chunk *chunk);
/* After all chunks were added, and whenever it changes: the number of threads that would like to
 * read. Returns how many may, at least 1. Not while any thread reads. */
int leat_reading_share(leat_reading *reading, int threads);
/* LEAT_ERR_LIMIT for a chunk that does not fit; otherwise waits until there is memory for decoding
 * it, and reserves that. A thread holds one chunk at a time. */
LEAT_MUST_CHECK leat_code leat_reading_enter(leat_reading *reading, const leat_reading_chunk *chunk,
                                             int64_t *taken, leat_error *err);
/* The same of a chunk that is known to fit, or to be skipped: returns what was taken. */
int64_t leat_reading_enter_most(leat_reading *reading, const leat_reading_chunk *chunk);
void leat_reading_leave(leat_reading *reading, int64_t taken);
/* What a record needs more than was planned where its measurements' columns are compressed, and
 * decode to that many bytes. */
int64_t leat_reading_table_bytes(const leat_reading *reading, int64_t decoded_bytes);
/* The least --memory, in MiB, with which a record that takes `more_bytes` more than was planned,
 * and every chunk, can be read. */
int64_t leat_reading_least_mib(const leat_reading *reading, int64_t more_bytes);

#endif
