/* Images of a checkpoint, and a PNG of them: leat_run_sample. */
#include <math.h>

#include "base/mem.h"
#include "base/thread.h"
#include "train/run/run_reader.h"
#include "train/tasks/images/measure.h"

leat_run_sample_options leat_run_sample_options_default(void) {
    return (leat_run_sample_options){
        .step = -1, .run_seed = true, .count = 64, .threads = leat_cpu_count()};
}

static leat_code sample(leat_trainer *trainer, const leat_run_sample_options *options,
                        uint64_t seed, uint8_t *out, double *deviation, leat_error *err) {
    const leat_model *model = leat_trainer_model(trainer);
    const float *parameters = leat_trainer_state(trainer)->parameters;
    float *statistics = NULL;
    LEAT_TRY(LEAT_NEW(&statistics, leat_generate_statistics_count(model), err));
    leat_code code = leat_generate_statistics(model, parameters, statistics, err);
    const leat_generate_from from = {.model = model,
                                     .parameters = parameters,
                                     .statistics = statistics,
                                     .seed = seed,
                                     .first = options->first,
                                     .count = options->count};
    if (code == LEAT_OK) code = leat_image_measure_images(&from, out, deviation, err);
    leat_free(statistics);
    return code;
}

leat_code leat_run_sample(const leat_run *run, const leat_run_sample_options *options, uint8_t *out,
                          double *deviation, int64_t *step, leat_error *err) {
    const leat_checkpoint *of = NULL;
    leat_trainer *trainer = NULL;
    double here = NAN;
    if (deviation != NULL) *deviation = NAN;
    if (step != NULL) *step = -1;
    LEAT_TRY(leat_generate_check(run->task->model, run->folder.path, err));
    if (options->count < 1 || options->count > 1 << 24 || options->first < 0 ||
        options->first > INT64_C(1) << 32)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "%lld samples from number %lld; there may be 1 to 2^24, from 0 to 2^32",
                         (long long)options->count, (long long)options->first);
    LEAT_TRY(
        leat_run_load(run, options->step, options->threads, options->kernels, &trainer, &of, err));
    leat_code code =
        sample(trainer, options, options->run_seed ? run->options.run.seed : options->seed, out,
               &here, err);
    leat_trainer_destroy(trainer);
    if (code != LEAT_OK) return code;
    if (deviation != NULL) *deviation = here;
    if (step != NULL) *step = of->step;
    return LEAT_OK;
}

leat_code leat_run_sample_save(const leat_run *run, const leat_run_sample_options *options,
                               const char *path, int64_t columns, double *deviation, int64_t *step,
                               leat_error *err) {
    uint8_t *images = NULL;
    *deviation = NAN;
    *step = -1;
    if (options->count < 1 || options->count > 65536)
        return leat_fail(err, LEAT_ERR_OPTION, "%lld images; a grid has 1 to 65536",
                         (long long)options->count);
    LEAT_TRY(leat_file_can_save(path, LEAT_MARK_PNG, options->replace, err));
    LEAT_TRY(LEAT_NEW(&images, options->count * LEAT_IMAGE_VALUES, err));
    leat_code code = leat_run_sample(run, options, images, deviation, step, err);
    if (code == LEAT_OK && !(*deviation >= LEAT_SAMPLE_DEVIATION_MIN))
        code = leat_fail(err, LEAT_ERR_INPUT,
                         "the samples of step %lld are almost uniform (deviation %.4f, less than "
                         "%.2f), so nothing was written; use another step, or train longer",
                         (long long)*step, *deviation, LEAT_SAMPLE_DEVIATION_MIN);
    if (code == LEAT_OK)
        code = leat_image_grid_save(path, images, options->count, LEAT_IMAGE_SIZE, columns,
                                    options->replace, err);
    leat_free(images);
    return code;
}
