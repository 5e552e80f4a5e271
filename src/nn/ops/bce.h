/*
 * Binary cross-entropy on logits, mean over the values:
 *     loss = mean of target softplus(-x) + (1 - target) softplus(x)
 * Source: PyTorch's BCEWithLogitsLoss.
 */
#ifndef LEAT_NN_OPS_BCE_H
#define LEAT_NN_OPS_BCE_H

#include "nn/ops/op.h"

/*
 * *loss of `count` >= 1 logits x, all with the same target in [0, 1]; added in order, in double
 * precision. gradient[i] is that of the loss by x[i]. work: 2 * count floats. The arrays do not
 * overlap.
 */
void leat_bce(const leat_device *device, int64_t count, float target, const float *x, double *loss,
              float *gradient, float *work);

#endif
