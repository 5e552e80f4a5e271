/*
 * One context: which measurements of a row, in which order, with which timestamps, as tokens. In
 * three steps, so that the caller can fetch the measurements in between:
 *
 *     leat_context_draw(context, n, version, key, k, space, anchor);
 *     fill points[0 .. context->count - 1] with the row's measurements context->index[...];
 *     leat_context_write(context, points, sequence);
 *
 * The choice is in the struct afterwards; nothing else is kept from one context to the next. A
 * context belongs to one thread and allocates only when it is created.
 */
#ifndef LEAT_BATCH_TOKENS_CONTEXT_H
#define LEAT_BATCH_TOKENS_CONTEXT_H

#include "batch/tokens/sequence.h"
#include "leat/batch.h"

typedef enum leat_time_mode {
    LEAT_TIME_FULL,    /* all stamped, in time order */
    LEAT_TIME_PARTIAL, /* some lose their timestamp and are placed anywhere among the others */
    LEAT_TIME_NONE,    /* no stamps; plan3: in random order, plan2: in time order */
    LEAT_TIME_MIXED,   /* plan2: in time order, each keeps its stamp with probability 1/2 */
} leat_time_mode;

typedef struct leat_context {
    leat_sampler_options options;
    int32_t capacity; /* room in each of the arrays below */

    /* what leat_context_draw chose */
    uint64_t key;
    bool is_anchor;
    bool is_block;   /* all measurements of the window, none left to chance */
    bool is_strided; /* plan2: the window is what the candidates span; once written, what the drawn
                        measurements span */
    leat_time_mode mode;
    double lost_share; /* of the stamps that the partial mode takes away */
    int32_t space;     /* tokens that it may take */
    int64_t window;    /* measurements in the window, */
    int64_t offset;    /* its first one, */
    int64_t stride;    /* and the distance between candidates (plan2; else 1) */
    int32_t count;     /* candidates: all that could be needed */
    int64_t *index;    /* [count] their places in the row, ascending */
    int32_t *rank; /* [count] their places in the order in which they were drawn: 0 .. count - 1 */

    /* what leat_context_write made of them */
    int32_t drawn;        /* measurements that were meant to be in (packing none: before the fit) */
    int32_t drawn_tokens; /* that they would have taken; known for packing none and blocks */
    int32_t kept;         /* measurements written, the cut one included */
    int32_t tokens;       /* written */
    bool full;            /* a measurement did not fit: the space is used up */
    bool cut;             /* the last one is cut at the end of the sequence */
    int32_t *order;       /* [kept] candidates in the order in which they were written */
    bool *stamped;        /* [kept] whether that one has a timestamp */

    /* scratch of the two */
    int32_t *candidate;   /* by rank */
    int32_t *place;       /* 2 x capacity */
    int32_t *next;        /* lists of places */
    int64_t *drawn_place; /* of each rank, in the window */
    int32_t *base_tokens; /* of each candidate, without a stamp */
    bool *keeps_stamp;    /* of each candidate: false only in the mixed mode */
} leat_context;

/* The most candidates that a draw gives, for a sequence of `length` tokens. */
int32_t leat_context_capacity(int32_t length);

/* `options` must have passed leat_sampler_options_check. */
LEAT_MUST_CHECK leat_code leat_context_create(leat_context **out,
                                              const leat_sampler_options *options, leat_error *err);
void leat_context_destroy(leat_context *context);

/*
 * Draws context k of a row of n >= 1 measurements into `space` >= 1 tokens; ip_version 4, 6, or 0:
 * both. An anchor (its space is the whole sequence) is never cut; any other is a filler.
 */
void leat_context_draw(leat_context *context, int64_t n, int ip_version, uint64_t key, int64_t k,
                       int32_t space, bool is_anchor);

/* Writes it as the next segment of the sequence, whose space must be what the draw was given.
 * Writes nothing (kept 0) if no measurement fits. */
void leat_context_write(leat_context *context, const leat_measurement *points,
                        leat_sequence *sequence);

#endif
