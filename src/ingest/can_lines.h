/*
 * Lines of vehicle logs as CAN frames: what a scan of several threads hands out, block by block.
 */
#ifndef LEAT_INGEST_CAN_LINES_H
#define LEAT_INGEST_CAN_LINES_H

#include "base/error.h"
#include "leat/graph.h"

#define LEAT_CAN_ID_BYTES 16

typedef struct leat_can_line {
    double time;                   /* seconds, finite */
    char id[LEAT_CAN_ID_BYTES];    /* zero padded */
    int16_t bytes[LEAT_CAN_BYTES]; /* -15..255; 0 where there is none */
    uint16_t bus;                  /* 0 where the format has none */
    bool attack;
} leat_can_line;

/* A block of consecutive lines of one file, as frames; valid during the call only. */
typedef struct leat_can_batch {
    int32_t file_index;
    int64_t block; /* number in its file, from 0: frames stand in the order of (block, i) */
    int64_t count;
    const leat_can_line *lines;
} leat_can_batch;

/* A worker's calls do not overlap, different workers' do; every block of a file is given once, also
 * one without frames. */
typedef leat_code (*leat_can_batch_fn)(void *context, int worker, const leat_can_batch *batch,
                                       leat_error *err);

#endif
