/* Runs in folders: what is refused, damaged files, and what reads a run: samples, exports, grids.
 */
/* TSan: micro-batches on a pool. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/lock.h"
#include "leat/format.h"
#include "train/run/checkpoint.h"
#include "train/run/folder.h"
#include "train_support.h"

static bool exists(const char *path) {
    leat_path_facts facts;
    assert_ok(leat_path_stat(path, &facts, err));
    return facts.kind != LEAT_PATH_NONE;
}

/* ---- resuming ------------------------------------------------------------------------------- */

static void a_finished_run_can_go_further(void **state) {
    const char *run = train_path("further");
    leat_train_options options = train_options(6);
    (void)state;
    const leat_train_result whole = train_run(train_path("further0"), &options);
    options = train_options(3);
    train_run(run, &options);
    options.resume = true;
    const leat_train_result same = train_run(run, &options); /* nothing to do */
    assert_int_equal(same.first_step, 3);
    assert_int_equal(same.last_step, 3);
    options.steps = 6;
    const leat_train_result more = train_run(run, &options);
    assert_string_equal(more.state, whole.state);
    options.steps = 5;
    leat_train_result result;
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &options, &result, err),
                 LEAT_ERR_OPTION, "ends at step 5");
}

static void a_damaged_checkpoint_is_passed_over(void **state) {
    const char *run = train_path("damaged");
    leat_train_options options = train_options(6);
    char path[LEAT_PATH_BYTES];
    (void)state;
    const leat_train_result whole = train_run(train_path("damaged0"), &options);
    options.steps = 4;
    train_run(run, &options);
    assert_ok(
        leat_path_join(path, sizeof path, run, "checkpoints/step-000000004.safetensors", err));
    leat_file *file = NULL;
    assert_ok(leat_file_open(&file, path, LEAT_FILE_UPDATE, err));
    assert_ok(leat_file_pwrite(file, "x", 1, 9000, err));
    leat_file_close(file);
    options.steps = 6;
    options.resume = true;
    const leat_train_result rest = train_run(run, &options);
    assert_int_equal(rest.first_step, 2);
    assert_non_null(strstr(rest.note, "checkpoint 4 is damaged"));
    assert_string_equal(rest.state, whole.state);
}

/* ---- refused -------------------------------------------------------------------------------- */

static void other_settings_and_data_are_refused_by_name(void **state) {
    static const char *const says[] = {"use --width ", "use --seed ",  "use --learning-rate 0.",
                                       "codec-up",     "use --units ", "data set",
                                       "--init"};
    const char *run = train_path("refused"), *other = train_path("refused-init");
    leat_train_options options = train_options(2);
    (void)state;
    train_run(run, &options);
    train_run(other, &options);
    for (int i = 0; i < 7; i++) {
        leat_train_result result;
        leat_dcgan_settings own = train_small_settings();
        options = train_options(4);
        options.settings = &own;
        options.resume = true;
        if (i == 0) own.width = 2;
        if (i == 1) options.seed = 3;
        if (i == 2) own.learning_rate = 0.01;
        if (i == 3) options.codec_up = LEAT_CODEC_INT8;
        if (i == 4) options.units = 2;
        if (i == 6) options.init = other;
        const char *data = train_data(i == 5 ? TRAIN_IMAGES + 1 : TRAIN_IMAGES);
        assert_fails(leat_train("dcgan", data, run, &options, &result, err), LEAT_ERR_OPTION,
                     says[i]);
        assert_fails(leat_train("dcgan", data, run, &options, &result, err), LEAT_ERR_OPTION,
                     "cannot resume");
    }
    options = train_options(4);
    options.resume = true;
    train_run(run, &options); /* and the right ones are not */
}

static void folders_of_others_are_refused(void **state) {
    const char *run = train_path("others");
    leat_train_options options = train_options(2);
    leat_train_result result;
    char path[LEAT_PATH_BYTES];
    leat_lock lock;
    (void)state;
    train_run(run, &options);
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &options, &result, err),
                 LEAT_ERR_EXISTS, "--resume");
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), train_data(TRAIN_IMAGES), &options,
                            &result, err),
                 LEAT_ERR_EXISTS, "does not hold a run");
    assert_ok(leat_path_join(path, sizeof path, run, "config.yaml", err));
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), path, &options, &result, err),
                 LEAT_ERR_EXISTS, "not a folder");
    options.resume = true;
    assert_ok(leat_path_join(path, sizeof path, run, ".leat.lock", err));
    assert_ok(leat_lock_try(&lock, path, err));
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &options, &result, err),
                 LEAT_ERR_BUSY, "another process");
    leat_lock_release(&lock);
    /* nothing is left of a run that could not begin */
    run = train_path("none");
    options.resume = false;
    options.steps = 0;
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &options, &result, err),
                 LEAT_ERR_OPTION, "no end");
    options.steps = 1;
    options.memory_bytes = 1 << 20;
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &options, &result, err),
                 LEAT_ERR_LIMIT, "--memory 1M is too low");
    assert_fails(leat_train("gpt", train_data(TRAIN_IMAGES), run, &options, &result, err),
                 LEAT_ERR_OPTION, "there is dcgan");
    assert_false(exists(run));
}

static void a_changed_training_file_is_refused(void **state) {
    const char *run = train_path("changed");
    leat_train_options options = train_options(1);
    char path[LEAT_PATH_BYTES];
    leat_run *opened = NULL;
    int64_t size = 0;
    (void)state;
    train_run(run, &options);
    assert_ok(leat_path_join(path, sizeof path, run, "training.json", err));
    char *text = train_read(path, &size);
    char *at = strstr(text, "\"width\": \"1\"");
    assert_non_null(at);
    at[10] = '2';
    assert_ok(leat_file_save(path, text, size, err));
    assert_fails(leat_run_open(&opened, run, err), LEAT_ERR_CORRUPT, "training.json");
    /* a model of a later version */
    char *model = strstr(text, "\"dcgan\"");
    assert_non_null(model);
    memcpy(model, "\"later\"", 7);
    assert_ok(leat_file_save(path, text, size, err));
    assert_fails(leat_run_open(&opened, run, err), LEAT_ERR_UNSUPPORTED, "the model \"later\"");
    memcpy(model, "\"dcgan\"", 7);
    for (int64_t cut = 0; cut < size - 2; cut += 7) {
        assert_ok(leat_file_save(path, text, cut, err));
        assert_fails(leat_run_open(&opened, run, err), LEAT_ERR_CORRUPT, "training.json");
    }
    free(text);
    assert_fails(leat_run_open(&opened, train_path("nothing"), err), LEAT_ERR_NOT_FOUND,
                 "not the folder of a run");
}

/* ---- reading a run -------------------------------------------------------------------------- */

static void samples_are_functions_of_their_number(void **state) {
    const char *run = train_path("samples");
    leat_train_options options = train_options(4);
    leat_run_sample_options of = leat_run_sample_options_default();
    enum { COUNT = 7 };
    uint8_t *all = malloc(COUNT * LEAT_IMAGE_VALUES), *some = malloc(COUNT * LEAT_IMAGE_VALUES);
    double deviation = 0;
    int64_t step = 0;
    leat_run *opened = NULL;
    (void)state;
    train_run(run, &options);
    assert_ok(leat_run_open(&opened, run, err));
    of.count = COUNT;
    assert_ok(leat_run_sample(opened, &of, all, &deviation, &step, err));
    assert_int_equal(step, 4);
    assert_true(deviation > 0.01);
    of.first = 3;
    of.count = 2;
    of.threads = 3;
    assert_ok(leat_run_sample(opened, &of, some, NULL, NULL, err));
    assert_memory_equal(some, all + 3 * LEAT_IMAGE_VALUES, 2 * LEAT_IMAGE_VALUES);
    of.run_seed = false;
    of.seed = 1234;
    assert_ok(leat_run_sample(opened, &of, some, NULL, NULL, err));
    assert_memory_not_equal(some, all + 3 * LEAT_IMAGE_VALUES, 2 * LEAT_IMAGE_VALUES);
    of.step = 2;
    assert_ok(leat_run_sample(opened, &of, some, NULL, &step, err));
    assert_int_equal(step, 2);
    of.step = 3;
    assert_fails(leat_run_sample(opened, &of, some, NULL, NULL, err), LEAT_ERR_OPTION,
                 "there are: 2, 4");
    of.count = 0;
    assert_fails(leat_run_sample(opened, &of, some, NULL, NULL, err), LEAT_ERR_OPTION, "0 samples");
    leat_run_close(opened);
    free(all);
    free(some);
}

static void an_export_comes_back(void **state) {
    const char *run = train_path("export"), *dir = train_path("exported");
    const char *back = train_path("imported"), *on = train_path("continued");
    leat_train_options options = train_options(4);
    leat_run_sample_options of = leat_run_sample_options_default();
    uint8_t *a = malloc(4 * LEAT_IMAGE_VALUES), *b = malloc(4 * LEAT_IMAGE_VALUES);
    leat_run *one = NULL, *two = NULL;
    leat_run_facts facts;
    (void)state;
    train_run(run, &options);
    assert_ok(leat_run_export(run, -1, dir, false, err));
    static const char *const names[] = {"generator.safetensors", "discriminator.safetensors",
                                        "config.json", "README.md", "samples.png"};
    for (int i = 0; i < 5; i++) assert_true(train_has(dir, names[i]));
    assert_ok(leat_run_import(dir, NULL, back, NULL, err));
    assert_ok(leat_run_open(&one, run, err));
    assert_ok(leat_run_open(&two, back, err));
    leat_run_get_facts(two, &facts);
    assert_string_equal(facts.data, "");
    assert_int_equal(facts.checkpoint_count, 1);
    of.count = 4;
    of.run_seed = false;
    assert_ok(leat_run_sample(one, &of, a, NULL, NULL, err));
    assert_ok(leat_run_sample(two, &of, b, NULL, NULL, err));
    /* statistics are computed in micro-batches of the run's size, which an export does not have */
    int64_t off = 0;
    for (int64_t i = 0; i < 4 * LEAT_IMAGE_VALUES; i++) off += abs(a[i] - b[i]);
    assert_true(off < 4 * LEAT_IMAGE_VALUES * 20);
    leat_run_close(one);
    leat_run_close(two);
    /* the same weights from a run, an export and a file begin the same run */
    char first[65], path[LEAT_PATH_BYTES];
    options = train_options(2);
    options.init = run;
    memcpy(first, train_run(on, &options).state, 65);
    assert_ok(
        leat_path_join(path, sizeof path, run, "checkpoints/step-000000004.safetensors", err));
    options.init = path;
    assert_string_equal(train_run(train_path("continued2"), &options).state, first);
    options.init = NULL;
    assert_string_not_equal(train_run(train_path("continued3"), &options).state, first);
    free(a);
    free(b);
}

static void imports_that_do_not_fit_are_refused(void **state) {
    const char *run = train_path("misfit"), *dir = train_path("misfit-out");
    leat_train_options options = train_options(1);
    leat_train_result result;
    char path[LEAT_PATH_BYTES];
    (void)state;
    train_run(run, &options);
    assert_ok(leat_run_export(run, -1, dir, false, err));
    leat_dcgan_settings wider = train_small_settings();
    wider.width = 2;
    options.settings = &wider;
    options.init = run;
    assert_fails(
        leat_train("dcgan", train_data(TRAIN_IMAGES), train_path("m1"), &options, &result, err),
        LEAT_ERR_INPUT, "width or latent size");
    options = train_options(1);
    assert_ok(leat_path_join(path, sizeof path, dir, "generator.safetensors", err));
    options.init = path;
    assert_fails(
        leat_train("dcgan", train_data(TRAIN_IMAGES), train_path("m2"), &options, &result, err),
        LEAT_ERR_INPUT, "0 of 24 parameters");
    options.init = train_path("absent");
    assert_fails(
        leat_train("dcgan", train_data(TRAIN_IMAGES), train_path("m3"), &options, &result, err),
        LEAT_ERR_NOT_FOUND, "absent");
    assert_ok(leat_path_join(path, sizeof path, dir, "discriminator.safetensors", err));
    assert_ok(leat_path_remove(path, err));
    assert_fails(leat_run_import(dir, NULL, train_path("m4"), NULL, err), LEAT_ERR_INPUT,
                 "of 24 parameters");
    assert_fails(leat_run_import(run, NULL, train_path("m5"), NULL, err), LEAT_ERR_INPUT, "--init");
    for (int i = 1; i <= 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "m%d", i);
        assert_false(exists(train_path(name)));
    }
}

static void the_estimate_is_kept(void **state) {
    leat_train_options options = train_options(3);
    leat_train_estimate estimate;
    (void)state;
    options.settings = NULL; /* width 64, latent size 100 */
    options.units = 3;
    options.unit_size = 320;
    options.micro_batch = 32;
    options.codec_up = LEAT_CODEC_INT8;
    options.codec_down = LEAT_CODEC_BF16;
    assert_ok(leat_train_plan("dcgan", train_data(TRAIN_IMAGES), &options, false, &estimate, err));
    assert_int_equal(estimate.parts[0].parameters, 3576704);
    assert_int_equal(estimate.parts[1].parameters, 2765568);
    assert_int_equal(estimate.step_samples, 960);
    assert_int_equal(estimate.weights_bytes, 12684544);
    assert_int_equal(estimate.payload_bytes, 128 + 6342272 + 99100 + 220160 + 24);
    assert_true(estimate.samples_per_second == 0);
    assert_in_range(estimate.memory_bytes, 300 << 20, 600 << 20);
    options = train_options(3);
    assert_ok(leat_train_plan("dcgan", train_data(TRAIN_IMAGES), &options, true, &estimate, err));
    assert_true(estimate.samples_per_second > 0);
}

/* ---- grids ---------------------------------------------------------------------------------- */

static void grids_have_limits(void **state) {
    uint8_t image[3] = {1, 2, 3};
    const char *path = train_path("grid.png");
    (void)state;
    assert_ok(leat_image_grid_save(path, image, 1, 1, 8, true, err));
    assert_fails(leat_image_grid_save(path, image, 0, 1, 8, true, err), LEAT_ERR_OPTION,
                 "grid of 0");
    assert_fails(leat_image_grid_save(path, image, 1, 0, 8, true, err), LEAT_ERR_OPTION, "0 x 0");
    assert_fails(leat_image_grid_save(path, image, 65536, 1024, 4096, true, err), LEAT_ERR_OPTION,
                 "too large");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finished_run_can_go_further),
        cmocka_unit_test(a_damaged_checkpoint_is_passed_over),
        cmocka_unit_test(other_settings_and_data_are_refused_by_name),
        cmocka_unit_test(folders_of_others_are_refused),
        cmocka_unit_test(a_changed_training_file_is_refused),
        cmocka_unit_test(samples_are_functions_of_their_number),
        cmocka_unit_test(an_export_comes_back),
        cmocka_unit_test(imports_that_do_not_fit_are_refused),
        cmocka_unit_test(the_estimate_is_kept),
        cmocka_unit_test(grids_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
