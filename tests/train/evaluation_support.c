/* See evaluation_support.h. */
#include "evaluation_support.h"

#include <stdio.h>

#include "check.h"
#include "train/tasks/graphs/calibration.h"
#include "train_support.h"

const char *evaluation_train(evaluation_training *of, const char *name) {
    leat_train_options options = leat_train_options_default();
    leat_setting_memory settings;
    leat_train_result result;
    const char *run = train_path(name);
    leat_train_settings_table(of->model)->set_defaults(&settings);
    options.settings = &settings;
    options.unit_size = 1;
    options.micro_batch = 16;
    options.steps = EVALUATION_STEPS;
    options.checkpoint_every = 2;
    options.sample_every = of->measured;
    options.seed = of->seed;
    options.resume = of->resume;
    options.threads = 1;
    assert_ok(leat_train(of->model, of->cache, run, &options, &result, err));
    snprintf(of->note, sizeof of->note, "%s", result.note);
    return run;
}

leat_evaluation_options evaluation_options(void) {
    leat_evaluation_options options = leat_evaluation_options_default();
    options.threads = 1;
    options.bootstrap.replicates = 10;
    options.target_fpr = 0.1;
    return options;
}

double evaluation_threshold(const char *run, const char *cache, bool *reused) {
    const leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    assert_ok(leat_evaluation_create(&made, &run, 1, cache, &options, err));
    const double threshold = made->methods[0].threshold.value;
    *reused = made->runs[0].reused;
    assert_string_equal(made->note, "");
    leat_evaluation_destroy(made);
    return threshold;
}

void evaluation_calibration_path(const char *run, int64_t step, char path[LEAT_PATH_BYTES]) {
    char name[LEAT_CALIBRATION_NAME_BYTES];
    leat_calibration_name(step, name);
    assert_ok(leat_path_join(path, LEAT_PATH_BYTES, run, name, err));
}

void evaluation_forget(const char *run) {
    char path[LEAT_PATH_BYTES];
    evaluation_calibration_path(run, EVALUATION_STEPS, path);
    leat_path_discard(path);
}
