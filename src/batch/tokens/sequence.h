/*
 * A sequence: one row of the six int32 arrays that a transformer trains on, with MaxText's meaning.
 *
 *   inputs                tokens; 0 in the padding (0 is a token too: look at the segmentation)
 *   inputs_segmentation   1, 2, 3, ... : the contexts of the sequence; 0: padding
 *   inputs_position       0, 1, 2, ... in each segment; 0 in the padding
 *   targets               the next token of the same segment; 0 where there is none
 *   targets_segmentation  as inputs_segmentation, but 0 where there is no target: the loss mask
 *   targets_position      as inputs_position, not shifted
 *
 * --boundary cross: the last token of a segment predicts the first of the next one, under that
 * one's segment number, as Grain's packing does.
 */
#ifndef LEAT_BATCH_TOKENS_SEQUENCE_H
#define LEAT_BATCH_TOKENS_SEQUENCE_H

#include "batch/tokens/anchors.h"
#include "batch/tokens/source.h"
#include "leat/batch.h"

typedef struct leat_sequence {
    int32_t *inputs, *targets; /* [length] each, the caller's */
    int32_t *inputs_position, *targets_position;
    int32_t *inputs_segmentation, *targets_segmentation;
    int32_t length;
    leat_boundary boundary;
    int32_t used;     /* tokens so far */
    int32_t segments; /* so far */
    /* since leat_sequence_begin: measurements that were meant to be in, and that are in */
    int64_t drawn, kept;
    bool cut; /* the last measurement is cut at the end */
} leat_sequence;

/* Empties a sequence whose arrays, length and boundary are set. */
void leat_sequence_begin(leat_sequence *sequence);

/* Makes the `count` tokens that were put at inputs + used the next segment. count >= 1. */
void leat_sequence_end_segment(leat_sequence *sequence, int32_t count);

/* Pads what is left with zeros, in all six arrays. After begin alone: a row of zeros. */
void leat_sequence_finish(leat_sequence *sequence);

/* ---- the whole of it ----------------------------------------------------------------------- */

typedef struct leat_context leat_context;

/*
 * Whether context t = 0, 1, 2, ... is to be added, for callers that take the three steps of
 * batch/tokens/context.h themselves; `context` is as the one before left it.
 */
bool leat_sequence_wants(const leat_sequence *sequence, const leat_context *context, int64_t t);

/* How a sequence reads rows: sizes as leat_row_size_fn, and measurements of ascending places. */
typedef struct leat_row_reader {
    void *user;
    leat_row_size_fn row_size;
    leat_code (*points)(void *user, int64_t row, const int64_t *index, int32_t count,
                        leat_measurement *points, leat_error *err);
    leat_measurement *point; /* room for leat_context_capacity(length) of them */
    /* may be NULL: called after each context, with what it chose; for --explain and tests */
    void (*explain)(void *user, int64_t t, int64_t row, int64_t k, const leat_context *context,
                    const leat_measurement *point);
} leat_row_reader;

/*
 * Makes the sequence of `source`: the anchor's context, then fillers as the options ask, then
 * padding. On failure (the reader's) the six arrays hold zeros.
 */
LEAT_MUST_CHECK leat_code leat_sequence_make(leat_sequence *sequence, const leat_source *source,
                                             const leat_anchors *anchors, leat_context *context,
                                             leat_row_reader *reader, leat_error *err);

#endif
