/*
 * Text files read by several threads: the workers take turns at the reader. The worker whose turn
 * it is copies a block of lines into its own buffer, then parses that block while the next worker
 * reads: blocks are the parts of a job, which are fetched and then processed (base/pool.h). So at
 * most one block per worker is in memory, no queue is needed, and decompression overlaps with
 * parsing.
 */
#ifndef LEAT_INGEST_PARALLEL_LINES_H
#define LEAT_INGEST_PARALLEL_LINES_H

#include "base/lines.h"
#include "ingest/source.h"

/* One turn at the reader. */
typedef struct leat_line_block {
    int32_t input;     /* in the list of inputs */
    int64_t block;     /* number in the input, from 0 */
    leat_lines *lines; /* `fill` may open them again at the same place, or close them (NULL) at the
                          end of the input */
    /* Set by `fill`: */
    int64_t line_count; /* in the block; 0: no lines are left, allowed only at the end */
    bool ended;         /* end of the input */
} leat_line_block;

typedef struct leat_parallel_lines {
    const leat_input_list *inputs;
    int threads;
    int64_t bytes_before; /* input bytes that were read elsewhere */
    leat_ticker *ticker;  /* counts bytes of input; may be NULL */
    void *context;
    /* Called by one worker at a time, in the order of the inputs and of their blocks. */
    bool (*wanted)(void *context, const leat_input *input); /* NULL: read every input */
    leat_code (*open)(void *context, int32_t input, leat_lines **lines, leat_error *err);
    leat_code (*fill)(void *context, int worker, leat_line_block *turn, leat_error *err);
    /* Processes the worker's block; calls of different workers overlap. */
    leat_code (*parse)(void *context, int worker, leat_error *err);
} leat_parallel_lines;

/* Reads all inputs. Returns the failure of the first block that fails. */
LEAT_MUST_CHECK leat_code leat_parallel_lines_run(const leat_parallel_lines *turns,
                                                  leat_error *err);

#endif
