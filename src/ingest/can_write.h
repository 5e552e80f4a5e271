/* Graphs of a plan to the files of the cache, and the scaler that they give. */
#ifndef LEAT_INGEST_CAN_WRITE_H
#define LEAT_INGEST_CAN_WRITE_H

#include "ingest/can_job.h"
#include "ingest/can_scaler.h"

typedef struct leat_can_write {
    const leat_can_plan *plan;
    const leat_can_store *store;
    uint32_t vocab_count;      /* identifiers before this one are known */
    int threads, rank_threads; /* for graphs; for medians and quartiles */
    leat_ticker *ticker;
    leat_can_moments moments; /* of the training part, once that is written */
} leat_can_write;

/* Bytes that a thread takes while it writes graphs of such windows. */
int64_t leat_can_write_bytes(int64_t window);
/* Bytes that a thread takes while it looks for medians and quartiles. */
int64_t leat_can_rank_bytes(int64_t window);
/* Bytes of the page hashes of a file of so many graphs, at most. */
int64_t leat_can_pages_bytes(int64_t graphs, int64_t window);
/* Writes the part's safetensors file and its page hashes; the disk is at work on them when it
 * returns. */
LEAT_MUST_CHECK leat_code leat_can_write_part(leat_can_write *write, int part, const char *path,
                                              const char *pages, int64_t *file_bytes,
                                              leat_error *err);
/* The scaler, once the training part is written. */
LEAT_MUST_CHECK leat_code leat_can_write_scaler(leat_can_write *write,
                                                leat_can_scaler_values *scaler, leat_error *err);

#endif
