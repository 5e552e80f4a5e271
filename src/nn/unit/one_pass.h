/*
 * What models share whose steps have one pass, whose parameters are one network, and which have no
 * running statistics: first values, and a step of Adam as PyTorch's, with a gradient that is
 * clipped by its norm, and a decay that is added to it after that.
 */
#ifndef LEAT_NN_UNIT_ONE_PASS_H
#define LEAT_NN_UNIT_ONE_PASS_H

#include "nn/params.h"
#include "nn/unit/unit.h"

/* Functions of their class (nn/model.h): one pass, and nothing to fold. */
int leat_one_pass_passes(const void *settings);
void leat_one_pass_fold(const void *self, int pass, int64_t micro_batches, const float *statistics,
                        float *running);

/* First values of a seed: each tensor of the table normal, by its mean and deviation. */
void leat_one_pass_init(const leat_engine *engine, const leat_param *params, int count,
                        uint64_t seed, float *parameters);

/* The norm of the mean gradient, [size]. */
double leat_one_pass_norm(int64_t size, const float *gradient, double weight);

/* What a gradient of this norm is multiplied by, so that its norm is at most 1:
 * min(1, 1 / (norm + 1e-6)). */
double leat_one_pass_clip(double norm);

/* LEAT_ERR_OPTION: the total weight of a step's gradients is not above 0 and finite. */
LEAT_MUST_CHECK leat_code leat_one_pass_check(const leat_model_step *step, leat_error *err);

/*
 * A step, with betas 0.9 and 0.999, eps 1e-8:
 *     g = mean gradient * leat_one_pass_clip(its norm) + 1e-4 * weights
 * scaled [size] receives g. The norm is summed in double precision, in the order of the parameters.
 * Errors as leat_one_pass_check; LEAT_ERR_BUSY as leat_engine_enter.
 */
LEAT_MUST_CHECK leat_code leat_one_pass_step(leat_engine *engine, double rate, int64_t size,
                                             float *scaled, const leat_model_step *step,
                                             leat_error *err);

#endif
