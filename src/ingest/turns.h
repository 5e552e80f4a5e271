/*
 * Text files read by several threads: the workers take turns at the reader. Whose turn it is copies
 * a block of lines into room of its own, then parses that block while the next one reads. So at
 * most one block a worker is in memory, no queue is needed, and inflating overlaps with parsing.
 */
#ifndef LEAT_INGEST_TURNS_H
#define LEAT_INGEST_TURNS_H

#include "base/lines.h"
#include "ingest/source.h"

/* One turn at the reader. */
typedef struct leat_turn {
    int32_t input; /* in the list of inputs */
    int64_t block; /* number in the input, from 0 */
    leat_lines *lines;
    /* What `fill` says: */
    int64_t line_count; /* in the block; 0: none is left, which only the end may bring */
    bool ended;         /* the input */
} leat_turn;

typedef struct leat_turns {
    const leat_input_list *inputs;
    int threads;
    int64_t bytes_before; /* of input that others have read, for `report` */
    void *context;
    /* Called by one worker at a time, in the order of the inputs and of their blocks. */
    bool (*wanted)(void *context, const leat_input *input); /* NULL: every input is */
    leat_code (*open)(void *context, int32_t input, leat_lines **lines, leat_error *err);
    leat_code (*fill)(void *context, int worker, leat_turn *turn, leat_error *err);
    leat_code (*report)(void *context, int64_t bytes_done, leat_error *err);
    /* The worker's block; different workers' calls overlap. */
    leat_code (*parse)(void *context, int worker, leat_error *err);
} leat_turns;

/* Reads all inputs. The first failure of a worker ends it all and is returned. */
LEAT_MUST_CHECK leat_code leat_turns_run(const leat_turns *turns, leat_error *err);

#endif
