/* See image_plan.h. */
#include "train/tasks/images/image_plan.h"

#include "base/mem.h"
#include "leat/batch.h"

leat_code leat_image_plan_make(leat_image_plan *plan, const leat_train_options *options,
                               int64_t samples, leat_error *err) {
    *plan = (leat_image_plan){.seed = options->seed,
                              .samples = samples,
                              .units = options->units,
                              .unit_size = options->unit_size,
                              .micro_batch = options->micro_batch};
    if (samples < 1) return leat_fail(err, LEAT_ERR_INPUT, "the data set has no images");
    if (plan->unit_size % plan->micro_batch == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "unit-size %lld is not a multiple of micro-batch %d, and a unit consists of "
                     "complete micro-batches; change one of them",
                     (long long)plan->unit_size, (int)plan->micro_batch);
}

int64_t leat_image_plan_sample(const leat_image_plan *plan, int64_t position) {
    return leat_image_at(plan->seed, plan->samples, position);
}

leat_code leat_image_plan_steps(const leat_image_plan *plan, const leat_train_options *options,
                                int64_t *steps, leat_error *err) {
    const int64_t step_images = plan->units * plan->unit_size;
    int64_t images = 0;
    *steps = 0;
    *steps = options->steps;
    if (options->epochs > 0 && leat_mul_size(options->epochs, plan->samples, &images))
        *steps = (images - 1) / step_images + 1;
    if (*steps > 0 && *steps <= LEAT_TRAIN_POSITIONS_MAX / step_images) return LEAT_OK;
    *steps = 0;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "%lld steps or %lld epochs of %lld images: too many; a run is limited to "
                     "2^60 images",
                     (long long)options->steps, (long long)options->epochs,
                     (long long)plan->samples);
}
