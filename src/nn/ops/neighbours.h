/*
 * Which identifiers are neighbours of a node, and the loss of their logits: the terms of a graph
 * autoencoder's neighbour head.
 *
 * Positive: the identifiers of the targets of a node's edges in the micro-batch, self-loops and
 * parallel edges included, of the nodes with `hidden` set, or of all nodes if none is. Negative:
 * `draws` random ones for every node, without those that are positive for it. So only few of a
 * node's logits have a term in the loss, one for each identifier that occurs.
 */
#ifndef LEAT_NN_OPS_NEIGHBOURS_H
#define LEAT_NN_OPS_NEIGHBOURS_H

#include "nn/micro_batch.h"
#include "nn/ops/op.h"

typedef struct leat_neighbours {
    int64_t nodes, ids, draws;
    const int32_t *drawn;         /* [nodes][draws] */
    int32_t *first;               /* [nodes + 1] positives of each node */
    int32_t *positive;            /* [edges] identifiers */
    uint8_t *kept;                /* [nodes][draws] whether it is a negative */
    int64_t positives, negatives; /* their numbers */
} leat_neighbours;
/* Sets what is not const, in arrays of the caller's, on the calling thread. */
void leat_neighbours_set(const leat_graph_micro *batch, const uint8_t *hidden,
                         leat_neighbours *out);

/* The terms of some nodes, which are the rows here: those of a row one after the other, identifiers
 * ascending; no identifier is both positive and negative. */
typedef struct leat_neighbour_terms {
    int64_t rows, ids;
    int32_t *first; /* [rows + 1] terms of each row */
    int32_t *id;    /* [terms] */
    float *times;   /* [terms] how often it occurs: above 0 as a negative, below as a positive */
    float *logit;   /* [terms] of the caller; then its gradient */
    float *counts;  /* work space, leat_neighbour_work_count floats: all bits 0 before and after */
} leat_neighbour_terms;
/* Terms of `rows` nodes of a micro-batch with so many edges, at most. */
int64_t leat_neighbour_terms_most(int64_t rows, int64_t draws, int64_t edges);
int64_t leat_neighbour_work_count(int64_t ids);
/* The terms of the nodes from `node` on, on the calling thread. */
void leat_neighbour_terms_set(const leat_neighbours *of, int64_t node, int64_t rows,
                              leat_neighbour_terms *out);

/*
 * Logits of the terms, as leat_linear_forward of all identifiers has them, without computing the
 * others; or from all, [rows][leat_lanes(ids)], where these are.
 *
 * Gradients, as leat_linear_backward has them from those of all logits, +0 where there is no term:
 * that of x is a chain over the identifiers from +0, those of weights and bias are chains over the
 * rows, ascending, that continue from what the arrays hold; terms without a logit would add 0. (So
 * both ways give the same bits, but for the sign of a 0 that a product has underflowed to.)
 */
typedef struct leat_neighbour_logits {
    const leat_neighbour_terms *terms;
    int64_t in;          /* columns of x, a multiple of LEAT_LANES */
    const float *x;      /* [rows][in] */
    const float *weight; /* [ids][in] */
    const float *bias;   /* [ids] */
} leat_neighbour_logits;
LEAT_MUST_CHECK leat_code leat_neighbour_logits_forward(const leat_device *device,
                                                        const leat_neighbour_logits *of,
                                                        leat_error *err);
/* x, [rows][in], is written; the others are added to. */
typedef struct leat_neighbour_gradient {
    float *weight, *bias, *x;
} leat_neighbour_gradient;
LEAT_MUST_CHECK leat_code leat_neighbour_logits_backward(const leat_device *device,
                                                         const leat_neighbour_logits *of,
                                                         const leat_neighbour_gradient *out,
                                                         leat_error *err);
void leat_neighbour_terms_take(const leat_neighbour_terms *terms, const float *logits);
void leat_neighbour_terms_put(const leat_neighbour_terms *terms, float *logits);

/*
 * softplus(-x) of positives, and softplus(x) of negatives, as often as they occur: sums of each row
 * in double, in the order of its terms, and the gradient of each logit, (times sigmoid(x))
 * of_negative or (times sigmoid(-x)) of_positive.
 */
typedef struct leat_neighbour_loss {
    const leat_neighbour_terms *terms;
    float of_positive, of_negative; /* factors */
} leat_neighbour_loss;
LEAT_MUST_CHECK leat_code leat_neighbour_loss_run(const leat_device *device,
                                                  const leat_neighbour_loss *loss,
                                                  double *positives, double *negatives,
                                                  leat_error *err);

#endif
