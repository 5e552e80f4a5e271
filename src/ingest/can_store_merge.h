/*
 * Blocks that overlap in time as one sequence of segments: a sweep over time that reads a block
 * only while others overlap it, and names it where none does.
 */
#ifndef LEAT_INGEST_CAN_STORE_MERGE_H
#define LEAT_INGEST_CAN_STORE_MERGE_H

#include "ingest/can_store_parts.h"

/* Blocks that follow each other in the table and share no time with those outside. */
typedef struct leat_can_task {
    int64_t first_block, block_count;
    leat_can_segment *segments; /* room for leat_can_task_segments; `start` is the number of rows */
    int64_t segment_count;
    int32_t stream;
} leat_can_task;

/* No more than so many come out of a task: a block is named whole, or it begins and ends once, and
 * merged rows lie between what is named. */
static inline int64_t leat_can_task_segments(int64_t block_count) { return 4 * block_count + 1; }

/* What one thread works with. */
typedef struct leat_can_merge_room {
    int64_t runs;      /* blocks of the largest task */
    int64_t fan;       /* runs that are read at once */
    int64_t slab_rows; /* of all their buffers */
} leat_can_merge_room;

/* Shares out so many bytes; fan_min: blocks that must be read at once. False: it is too little. */
bool leat_can_merge_plan(int64_t size_bytes, int64_t runs, int64_t fan_min,
                         leat_can_merge_room *room);
/* The least with which that succeeds. */
int64_t leat_can_merge_least_bytes(int64_t runs, int64_t fan_min);

typedef struct leat_can_merger leat_can_merger;
/* `number` counts the store's order files, one a merger; room's bytes are counted already. */
LEAT_MUST_CHECK leat_code leat_can_merger_create(leat_can_merger **out, leat_can_store *store,
                                                 int number, const leat_can_merge_room *room,
                                                 leat_error *err);
/* The order file stays. */
void leat_can_merger_destroy(leat_can_merger *merger);
LEAT_MUST_CHECK leat_code leat_can_merger_run(leat_can_merger *merger, leat_can_task *task,
                                              leat_error *err);
/* Bytes that were written, to the order file and by passes before. */
int64_t leat_can_merger_written(const leat_can_merger *merger);

#endif
