/*
 * Blocks that overlap in time as one sequence of segments: a sweep over time that reads a block
 * only while others overlap it, and otherwise refers to it in place.
 */
#ifndef LEAT_INGEST_CAN_STORE_MERGE_H
#define LEAT_INGEST_CAN_STORE_MERGE_H

#include "ingest/can/store/tables.h"

/* Consecutive blocks of the table that share no time with any other block. */
typedef struct leat_can_task {
    int64_t first_block, block_count;
    leat_can_segment
        *segments; /* space for leat_can_task_segments; `start` is the number of rows */
    int64_t segment_count;
    int32_t stream;
} leat_can_task;

/* An upper bound of a task's segments: a block is referred to as a whole, or begins and ends once,
 * and merged rows lie between these references. */
static inline int64_t leat_can_task_segments(int64_t block_count) { return 4 * block_count + 1; }

/* What one thread works with. */
typedef struct leat_can_merge_room {
    int64_t runs;      /* blocks of the largest task */
    int64_t fan;       /* runs that are read at once */
    int64_t slab_rows; /* of all their buffers */
} leat_can_merge_room;

/* Divides the given number of bytes; fan_min: blocks that must be read at once. False: it is too
 * little. */
bool leat_can_merge_plan(int64_t size_bytes, int64_t runs, int64_t fan_min,
                         leat_can_merge_room *room);
/* The minimum for which that succeeds. */
int64_t leat_can_merge_least_bytes(int64_t runs, int64_t fan_min);

typedef struct leat_can_merger leat_can_merger;
/* `number` counts the store's order files, one per merger; the bytes of `room` are counted already.
 */
LEAT_MUST_CHECK leat_code leat_can_merger_create(leat_can_merger **out, leat_can_store *store,
                                                 int number, const leat_can_merge_room *room,
                                                 leat_error *err);
/* The order file stays. */
void leat_can_merger_destroy(leat_can_merger *merger);
LEAT_MUST_CHECK leat_code leat_can_merger_run(leat_can_merger *merger, leat_can_task *task,
                                              leat_error *err);
/* Bytes written, to the order file and by earlier passes. */
int64_t leat_can_merger_written(const leat_can_merger *merger);

#endif
