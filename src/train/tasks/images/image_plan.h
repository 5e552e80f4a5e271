/*
 * The plan of a run on images: which samples a unit uses. Unit k of step s covers positions
 * [(s K + k) n, + n) of an endless sequence, K units a step, n samples a unit; position p is sample
 * perm_e(p mod N) of epoch e = floor(p / N) (leat_image_at). So a unit is three integers, every
 * sample is used once an epoch, and a unit may straddle two epochs. Steps and units count from 0.
 */
#ifndef LEAT_TRAIN_TASKS_IMAGES_IMAGE_PLAN_H
#define LEAT_TRAIN_TASKS_IMAGES_IMAGE_PLAN_H

#include "train/step/feed.h"

typedef struct leat_image_plan {
    uint64_t seed;
    int64_t samples; /* N, of the data set */
    int64_t units, unit_size;
    int32_t micro_batch;
} leat_image_plan;

LEAT_MUST_CHECK leat_code leat_image_plan_make(leat_image_plan *plan,
                                               const leat_train_options *options, int64_t samples,
                                               leat_error *err);
static inline int64_t leat_image_plan_position(const leat_image_plan *plan, int64_t step,
                                               int64_t unit) {
    return (step * plan->units + unit) * plan->unit_size;
}
/* The sample at a position. */
int64_t leat_image_plan_sample(const leat_image_plan *plan, int64_t position);
static inline int leat_image_plan_micro_batches(const leat_image_plan *plan) {
    return (int)(plan->unit_size / plan->micro_batch);
}
/* The number of steps of a run: as set, or ceil(E N / (K n)) for E epochs. LEAT_ERR_OPTION: too
 * many. */
LEAT_MUST_CHECK leat_code leat_image_plan_steps(const leat_image_plan *plan,
                                                const leat_train_options *options, int64_t *steps,
                                                leat_error *err);

#endif
