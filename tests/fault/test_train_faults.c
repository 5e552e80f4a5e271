/*
 * Fault sweeps over a training run: the n-th allocation, file call or start of a thread fails, once
 * or from then on. A run that fails says why, leaves every checkpoint that it had, and continues
 * afterwards to the bytes of a run without faults. The same for what reads a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "format/image_set_support.h"
#include "leat/train.h"
#include "memory_folder.h"
#include "quick_kernels.h"
#include "sweep.h"
#include "train/run/folder.h"
#include "train/step/trainer.h"
#include "train/tasks/images/dcgan_task.h"
#include "train/tasks/images/measure.h"
#include "trees.h"

enum { IMAGES = 5, STEPS = 2 };

static char top[LEAT_PATH_BYTES - 200];
static char data[LEAT_PATH_BYTES], run[LEAT_PATH_BYTES], done[LEAT_PATH_BYTES];
static char kept[LEAT_PATH_BYTES]; /* a copy of `done` */
static char out[LEAT_PATH_BYTES], back[LEAT_PATH_BYTES];
static char want[65];
static leat_model model;

static leat_train_options options_of(void) {
    static const leat_dcgan_settings settings = {
        .width = 1, .latent = 2, .learning_rate = 2e-4, .beta1 = 0.5, .beta2 = 0.999};
    leat_train_options options = leat_train_options_default();
    options.settings = &settings;
    options.unit_size = 4;
    options.micro_batch = 2;
    options.threads = 2;
    options.steps = STEPS;
    options.checkpoint_every = 1;
    options.keep = 1;
    options.sample_every = 0;
    return options;
}

static leat_code train(const char *at, bool resume, leat_error *err) {
    leat_train_options options = options_of();
    leat_train_result result;
    options.resume = resume;
    leat_code code = leat_train("dcgan", data, at, &options, &result, err);
    if (code == LEAT_OK) assert_string_equal(result.state, want);
    else assert_int_equal(result.last_step, 0);
    return code;
}

/* ---- training ------------------------------------------------------------------------------- */

static leat_code train_new(const void *of, leat_error *err) {
    (void)of;
    return train(run, true, err);
}

/* Continues what is left, to the same bytes; then away with it. */
static void continue_it(leat_code code) {
    leat_error err = {0};
    (void)code;
    if (train(run, true, &err) != LEAT_OK) fail_msg("continued: %s", err.message);
    char path[LEAT_PATH_BYTES];
    assert_int_equal(leat_path_join(path, sizeof path, run, "checkpoints", NULL), LEAT_OK);
    expect_no_drafts(path);
    assert_int_equal(leat_path_remove_tree(run, NULL), LEAT_OK);
}

static void training(void **state) {
    (void)state;
    atomic_store(&fault_counted, FAULT_FILES);
    sweep_step = 1;
    sweep_run(&(fault_sweep){"train", train_new, NULL, continue_it, 20}, false);
}

static void training_without_memory(void **state) {
    (void)state;
    atomic_store(&fault_counted, FAULT_MEMORY);
    sweep_step = 5;
    sweep_run(&(fault_sweep){"train", train_new, NULL, NULL, 20}, false);
    continue_it(LEAT_OK);
}

/* Each run goes on from what the one before has left: some never end. */
static void training_that_fails_for_good(void **state) {
    (void)state;
    sweep_step = 4;
    atomic_store(&fault_counted, FAULT_FILES);
    sweep_run(&(fault_sweep){"train", train_new, NULL, NULL, 20}, true);
    continue_it(LEAT_OK);
}

/* The last checkpoint is still there, whatever the next one met. */
static leat_code go_further(const void *of, leat_error *err) {
    leat_train_options options = options_of();
    leat_train_result result;
    (void)of;
    options.steps = STEPS + 1;
    options.resume = true;
    return leat_train("dcgan", data, done, &options, &result, err);
}

static void look_at_checkpoints(leat_code code) {
    leat_run *opened = NULL;
    leat_run_checkpoint last;
    leat_run_facts facts;
    leat_error err = {0};
    if (leat_run_open(&opened, done, &err) != LEAT_OK) fail_msg("%s", err.message);
    leat_run_get_facts(opened, &facts);
    assert_true(facts.checkpoint_count >= 1);
    assert_true(leat_run_checkpoint_at(opened, facts.checkpoint_count - 1, &last));
    assert_true(last.step >= STEPS);
    if (code == LEAT_OK) assert_int_equal(last.step, STEPS + 1);
    leat_run_close(opened);
    /* back to the run of STEPS steps */
    assert_int_equal(leat_path_remove_tree(done, NULL), LEAT_OK);
    tree_copy(kept, done);
}

static void checkpoints_survive(void **state) {
    (void)state;
    sweep_step = 1;
    atomic_store(&fault_counted, FAULT_FILES);
    sweep_run(&(fault_sweep){"further", go_further, NULL, look_at_checkpoints, 15}, false);
}

/* ---- samples -------------------------------------------------------------------------------- */

static leat_code read_image(const void *context, int64_t index, uint8_t *image, leat_error *err) {
    (void)context;
    (void)err;
    image_pixels(index, LEAT_IMAGE_SIZE, image);
    return LEAT_OK;
}

static leat_code measure(const void *of, leat_error *err) {
    const leat_samples samples = {IMAGES, "faults", LEAT_IMAGE_VALUES, read_image, NULL};
    const leat_train_options options = options_of();
    leat_image_measure sampling = {0};
    leat_run_folder folder;
    (void)of;
    LEAT_TRY(leat_run_folder_look(&folder, out, err));
    LEAT_TRY(leat_path_make_dir(out, err));
    const leat_feed feed = {.samples = &samples};
    const leat_measuring by = {
        .folder = &folder, .model = &model, .feed = &feed, .options = &options};
    leat_code code = leat_image_measure_create(&sampling, &by, err);
    if (code == LEAT_OK) assert_true(sampling.halves >= 0);
    leat_image_measure_free(&sampling);
    return code;
}

static void forget(leat_code code) {
    (void)code;
    assert_int_equal(leat_path_remove_tree(out, NULL), LEAT_OK);
}

/* ---- reading -------------------------------------------------------------------------------- */

static leat_code read_run(const void *of, leat_error *err) {
    leat_run *opened = (leat_run *)1;
    leat_run_metrics *metrics = (leat_run_metrics *)1;
    (void)of;
    leat_code code = leat_run_open(&opened, done, err);
    if (code != LEAT_OK) {
        assert_null(opened);
        return code;
    }
    code = leat_run_metrics_load(&metrics, opened, 10, err);
    if (code == LEAT_OK) assert_int_equal(metrics->point_count, STEPS);
    else assert_null(metrics);
    leat_run_metrics_destroy(metrics);
    leat_run_close(opened);
    return code;
}

/* Lines of a ledger, as far as who computed what is read of them: an account has two units. */
static const char ledger[] = "{\"kind\":\"unit\",\"step\":1,\"unit\":0,\"account\":\"ann\"}\n"
                             "{\"kind\":\"unit\",\"step\":1,\"unit\":1,\"account\":\"ann\"}\n"
                             "{\"kind\":\"unit\",\"step\":2,\"unit\":0,\"account\":\"bob\"}\n";

static leat_code read_contributors(const void *of, leat_error *err) {
    leat_run_contributors found;
    memset(&found, 1, sizeof found);
    const leat_code code = leat_run_contributors_load(of, &found, err);
    if (code != LEAT_OK) assert_int_equal(found.accounts + found.units, 0);
    else assert_int_equal(found.accounts + found.units, 2 + 3);
    return code;
}

static void contributors(void **state) {
    char path[LEAT_PATH_BYTES];
    leat_run *opened = NULL;
    leat_error err = {0};
    (void)state;
    atomic_store(&fault_counted, FAULT_ALL);
    sweep_step = 1;
    snprintf(path, sizeof path, "%s/ledger.jsonl", done);
    assert_int_equal(leat_file_save(path, ledger, sizeof ledger - 1, &err), LEAT_OK);
    if (leat_run_open(&opened, done, &err) != LEAT_OK) fail_msg("%s", err.message);
    sweep_faults(&(fault_sweep){"contributors", read_contributors, opened, NULL, 5});
    leat_run_close(opened);
    leat_path_discard(path);
}

static leat_code import_run(const void *of, leat_error *err) {
    (void)of;
    return leat_run_import(out, data, back, NULL, err);
}

static void look_at_import(leat_code code) {
    leat_path_facts facts;
    assert_int_equal(leat_path_stat(back, &facts, NULL), LEAT_OK);
    assert_int_equal(facts.kind != LEAT_PATH_NONE, code == LEAT_OK);
    assert_int_equal(leat_path_remove_tree(back, NULL), LEAT_OK);
}

static void reading(void **state) {
    leat_error err = {0};
    (void)state;
    atomic_store(&fault_counted, FAULT_ALL);
    sweep_step = 1;
    sweep_faults(&(fault_sweep){"read", read_run, NULL, NULL, 5});
    sweep_faults(&(fault_sweep){"measure", measure, NULL, forget, 10});
    if (leat_run_export(done, -1, out, false, &err) != LEAT_OK) fail_msg("%s", err.message);
    sweep_run(&(fault_sweep){"import", import_run, NULL, look_at_import, 20}, false);
}

static int setup(void **state) {
    leat_error err = {0};
    leat_train_options options = options_of();
    leat_train_result result;
    (void)state;
    snprintf(top, sizeof top, "%s/leat_train_faults_XXXXXX", memory_folder(INT64_C(16) << 20));
    assert_non_null(mkdtemp(top));
    snprintf(data, sizeof data, "%s/data", top);
    snprintf(run, sizeof run, "%s/run", top);
    snprintf(done, sizeof done, "%s/done", top);
    snprintf(kept, sizeof kept, "%s/kept", top);
    snprintf(out, sizeof out, "%s/out", top);
    snprintf(back, sizeof back, "%s/back", top);
    if (image_set_make(data, IMAGES, LEAT_IMAGE_SIZE, 0, &err) != LEAT_OK ||
        leat_train("dcgan", data, done, &options, &result, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    memcpy(want, result.state, sizeof want);
    tree_copy(done, kept);
    assert_int_equal(leat_model_create(&model, leat_dcgan_task.model, &options, &err), LEAT_OK);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    leat_model_destroy(&model);
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training),
        cmocka_unit_test(training_without_memory),
        cmocka_unit_test(training_that_fails_for_good),
        cmocka_unit_test(checkpoints_survive),
        cmocka_unit_test(reading),
        cmocka_unit_test(contributors),
    };
    return cmocka_run_group_tests_name("faults of training", tests, setup, teardown);
}
