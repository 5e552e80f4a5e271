/*
 * Losses of two classes, from logits [row][LEAT_LANES] whose columns 0 and 1 count; columns beyond
 * them may hold any number. With y the label, d the logit of the other class less that of y:
 *
 *     ce = softplus(d)            cross-entropy,   gradient q = sigmoid(d)
 *     focal: q^2 ce               (1 - p)^2 ce,    gradient q^2 (2 p ce + q),  p = sigmoid(-d)
 *     weighted: w[y] ce           gradient w[y] q
 *
 * by d: the logit of the other class has it, that of y its negative. The loss is the mean over the
 * rows; weighted: the sum divided by the sum of w[y], as in PyTorch's CrossEntropyLoss.
 *
 * Order (this is the specification): a term is rounded to float, d is one difference, products from
 * left to right as they stand (2 p ce + q: fma(2 p, ce, q)); terms are added in double in the order
 * of the rows, and divided once; a gradient is divided by the rounded divisor last.
 * Source: Lin et al., Focal loss, arXiv:1708.02002, gamma 2.
 */
#ifndef LEAT_NN_OPS_CLASS_LOSS_H
#define LEAT_NN_OPS_CLASS_LOSS_H

#include "nn/ops/op.h"

typedef enum leat_class_loss_kind {
    LEAT_CLASS_LOSS_FOCAL,
    LEAT_CLASS_LOSS_CE,
    LEAT_CLASS_LOSS_WEIGHTED,
} leat_class_loss_kind;

typedef struct leat_class_loss {
    leat_class_loss_kind kind;
    float weight[2];      /* of LEAT_CLASS_LOSS_WEIGHTED, above 0 */
    int64_t rows;         /* at least 1 */
    const int32_t *label; /* [rows] 0 or 1 */
    float *work;          /* [4 * rows] */
} leat_class_loss;

/* *loss, and gradient [row][LEAT_LANES], whose columns from 2 on become +0. */
void leat_class_loss_run(const leat_device *device, const leat_class_loss *of, const float *logits,
                         double *loss, float *gradient);

/* Probability of class 1: sigmoid(logit 1 - logit 0), [rows]. */
void leat_class_probability(const leat_device *device, int64_t rows, const float *logits,
                            float *out);

#endif
