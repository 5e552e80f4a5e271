/* Writes the graphs of a plan to the files of the cache, and computes the scaler from them. */
#ifndef LEAT_INGEST_CAN_CACHE_WRITE_H
#define LEAT_INGEST_CAN_CACHE_WRITE_H

#include "base/pool.h"
#include "ingest/can/cache/like.h"
#include "ingest/can/cache/plan.h"
#include "ingest/can/cache/scaler.h"

typedef struct leat_can_write {
    const leat_can_plan *plan;
    const leat_can_store *store;
    const leat_can_like *like; /* the scaler is that of this cache, if it has a digest */
    uint32_t vocab_count;      /* each identifier before this one is known */
    leat_pool *pool;
    int threads, rank_threads; /* of the pool: for graphs; for medians and quartiles */
    leat_ticker *ticker;
    double pause_s;           /* windows with a longer pause are not in `quiet` */
    leat_can_moments moments; /* of the training part, once it is written */
    leat_can_moments quiet;   /* the same without such windows; */
    int64_t decided[2];       /* and the numbers of windows that both are of */
} leat_can_write;

/* Bytes that a thread takes while it writes graphs of such windows. */
int64_t leat_can_write_bytes(int64_t window);
/* Bytes that a thread takes while it searches for medians and quartiles. */
int64_t leat_can_rank_bytes(int64_t window);
/* The maximum size of a file's page hashes with the given number of graphs and of different
 * identifiers. */
int64_t leat_can_pages_bytes(int64_t graphs, int64_t window, int64_t ids);
/* Writes the part's safetensors file and its page hashes; its writeback may still be in progress on
 * return. */
LEAT_MUST_CHECK leat_code leat_can_write_part(leat_can_write *write, int part, const char *path,
                                              const char *pages, int64_t *file_bytes,
                                              leat_error *err);
/* The scaler, once the training part is written. */
LEAT_MUST_CHECK leat_code leat_can_write_scaler(leat_can_write *write,
                                                leat_can_scaler_values *scaler, leat_error *err);

#endif
