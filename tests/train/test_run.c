/*
 * Runs in folders: what is there afterwards, resuming to the same bytes, what is refused, and what
 * reads a run.
 */
/* TSan: micro-batches on a pool. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"
#include "leat/format.h"
#include "train/checkpoint.h"
#include "train/folder.h"
#include "train_support.h"

enum { IMAGES = 11 };

static leat_train_result run_at(const char *run, const leat_train_options *options) {
    leat_train_result result;
    assert_ok(leat_train("dcgan", train_data(IMAGES), run, options, &result, err));
    return result;
}

static leat_train_options options_of(int64_t steps) {
    leat_train_options options = train_small();
    options.steps = steps;
    options.units = 1;
    options.unit_size = options.micro_batch = 8; /* samples are slow with smaller ones */
    options.checkpoint_every = 2;
    options.keep = 2;
    return options;
}

static bool exists(const char *path) {
    leat_path_facts facts;
    assert_ok(leat_path_stat(path, &facts, err));
    return facts.kind != LEAT_PATH_NONE;
}

static bool is_there(const char *run, const char *name) {
    char path[LEAT_PATH_BYTES];
    assert_ok(leat_path_join(path, sizeof path, run, name, err));
    return exists(path);
}

/* ---- what a run leaves ---------------------------------------------------------------------- */

static char *read_in(const char *run, const char *name) {
    char path[LEAT_PATH_BYTES];
    int64_t size = 0;
    assert_ok(leat_path_join(path, sizeof path, run, name, err));
    char *text = train_read(path, &size);
    assert_non_null(text);
    return text;
}

static void the_folder_holds_what_is_promised(void **state) {
    const char *run = train_path("whole");
    leat_train_options options = options_of(5);
    leat_run_checkpoint checkpoint;
    leat_run_facts facts;
    leat_run *opened = NULL;
    (void)state;
    options.sample_every = 3;
    const leat_train_result result = run_at(run, &options);
    assert_int_equal(result.first_step, 0);
    assert_int_equal(result.last_step, 5);
    assert_true(result.score >= 0 && result.score_untrained >= 0 && result.score_halves >= 0);
    assert_true(result.deviation > 0 && result.images_per_second > 0);
    static const char *const names[] = {"config.yaml",
                                        "training.json",
                                        "metrics.jsonl",
                                        "reference.json",
                                        "samples/step-000000000.png",
                                        "samples/step-000000003.png",
                                        "samples/step-000000005.png",
                                        "checkpoints/step-000000005.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_there(run, names[i])) fail_msg("no %s", names[i]);
    assert_false(is_there(run, ".leat.lock"));
    assert_false(is_there(run, "samples/step-000000004.png"));
    assert_ok(leat_run_open(&opened, run, err));
    leat_run_get_facts(opened, &facts);
    assert_string_equal(facts.run, result.run);
    assert_int_equal(facts.images, IMAGES);
    assert_string_equal(facts.leat_version, LEAT_VERSION);
    assert_true(facts.score_halves == result.score_halves);
    assert_string_equal(leat_run_setting(opened, "width"), "1");
    assert_null(leat_run_setting(opened, "threads"));
    assert_true(leat_run_checkpoint_at(opened, facts.checkpoint_count - 1, &checkpoint));
    assert_int_equal(checkpoint.step, 5);
    assert_string_equal(checkpoint.state, result.state);
    assert_string_equal(checkpoint.path, result.checkpoint);
    assert_true(checkpoint.score == result.score);
    assert_false(leat_run_checkpoint_at(opened, facts.checkpoint_count, &checkpoint));
    leat_run_close(opened);
}

/* 8 images a step, 11 an epoch: epoch e ends in step ceil(11 (e + 1) / 8). */
static void metrics_have_a_line_a_step_and_a_line_an_epoch(void **state) {
    static const struct {
        int64_t step, epoch;
    } want[] = {{0, -1}, {1, -1}, {2, -1}, {2, 0}, {3, -1}, {3, 1}, {4, -1}, {5, -1}, {5, 2}};
    const char *run = train_path("metrics");
    leat_train_options options = options_of(5);
    (void)state;
    options.sample_every = 100;
    const leat_train_result result = run_at(run, &options);
    char *text = read_in(run, "metrics.jsonl"), *at = text;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        json_t *line = NULL;
        char *end = strchr(at, '\n');
        assert_non_null(end);
        assert_ok(leat_json_parse(at, end - at, "line", &line, err));
        assert_int_equal(json_integer_value(json_object_get(line, "step")), want[i].step);
        const json_t *epoch = json_object_get(line, "epoch");
        assert_int_equal(epoch != NULL ? json_integer_value(epoch) : -1, want[i].epoch);
        const bool step = epoch == NULL && want[i].step > 0;
        assert_true(json_is_real(json_object_get(line, "loss_g")) == step);
        assert_true(json_is_real(json_object_get(line, "norm_d")) == step);
        if (want[i].step == 5 && step)
            assert_string_equal(json_string_value(json_object_get(line, "state")), result.state);
        if (want[i].step == 0) assert_true(json_is_real(json_object_get(line, "score")));
        json_decref(line);
        at = end + 1;
    }
    assert_int_equal(*at, 0);
    free(text);
}

/* The configuration of a run gives the same run. */
static void its_own_configuration_repeats_it(void **state) {
    const char *a = train_path("config1"), *b = train_path("config2");
    leat_train_options options = options_of(2), again = leat_train_options_default();
    leat_train_config *config = NULL;
    char path[LEAT_PATH_BYTES], notes[100];
    (void)state;
    options.learning_rate = 1e-5;
    options.codec_up = LEAT_CODEC_BF16;
    options.seed = UINT64_MAX;
    const leat_train_result one = run_at(a, &options);
    assert_ok(leat_path_join(path, sizeof path, a, "config.yaml", err));
    assert_ok(leat_train_config_load(&config, path, &again, notes, sizeof notes, err));
    assert_string_equal(notes, "");
    again.threads = 2;
    const leat_train_result two = run_at(b, &again);
    assert_string_equal(one.run, two.run);
    assert_string_equal(one.state, two.state);
    leat_train_config_destroy(config);
}

/* ---- resuming -------------------------------------------------------------------------------- */

typedef struct stopping {
    int64_t after; /* steps */
    int64_t last;
} stopping;

static bool stop_after(void *user, const leat_progress *progress) {
    stopping *self = user;
    if (strcmp(progress->stage, "training") != 0) return true;
    self->last = progress->done;
    return progress->done < self->after;
}

static void a_stopped_run_continues_to_the_same_bytes(void **state) {
    leat_train_options options = options_of(7);
    (void)state;
    options.sample_every = 7;
    const leat_train_result whole = run_at(train_path("stop0"), &options);
    for (int64_t after = 1; after < 7; after += 3) {
        char name[32];
        snprintf(name, sizeof name, "stop%lld", (long long)after);
        const char *run = train_path(name);
        leat_train_options stopped = options;
        leat_train_result result;
        stopping until = {.after = after};
        stopped.progress = stop_after;
        stopped.user = &until;
        assert_fails(leat_train("dcgan", train_data(IMAGES), run, &stopped, &result, err),
                     LEAT_ERR_CANCELLED, "--resume");
        assert_false(is_there(run, ".leat.lock"));
        options.resume = true;
        options.threads = 3;
        const leat_train_result rest = run_at(run, &options);
        assert_int_equal(rest.first_step, after);
        assert_string_equal(rest.state, whole.state);
        assert_true(rest.score == whole.score);
        char *a = read_in(train_path("stop0"), "checkpoints/step-000000007.sha256");
        char *b = read_in(run, "checkpoints/step-000000007.sha256");
        assert_string_equal(a, b);
        free(a);
        free(b);
        options.resume = false;
    }
}

static void a_finished_run_can_go_further(void **state) {
    const char *run = train_path("further");
    leat_train_options options = options_of(6);
    (void)state;
    const leat_train_result whole = run_at(train_path("further0"), &options);
    options = options_of(3);
    run_at(run, &options);
    options.resume = true;
    const leat_train_result same = run_at(run, &options); /* nothing to do */
    assert_int_equal(same.first_step, 3);
    assert_int_equal(same.last_step, 3);
    options.steps = 6;
    const leat_train_result more = run_at(run, &options);
    assert_string_equal(more.state, whole.state);
    options.steps = 5;
    leat_train_result result;
    assert_fails(leat_train("dcgan", train_data(IMAGES), run, &options, &result, err),
                 LEAT_ERR_OPTION, "ends at step 5");
}

static void a_damaged_checkpoint_is_passed_over(void **state) {
    const char *run = train_path("damaged");
    leat_train_options options = options_of(6);
    char path[LEAT_PATH_BYTES];
    (void)state;
    const leat_train_result whole = run_at(train_path("damaged0"), &options);
    options.steps = 4;
    run_at(run, &options);
    assert_ok(
        leat_path_join(path, sizeof path, run, "checkpoints/step-000000004.safetensors", err));
    leat_file *file = NULL;
    assert_ok(leat_file_open(&file, path, LEAT_FILE_UPDATE, err));
    assert_ok(leat_file_pwrite(file, "x", 1, 9000, err));
    leat_file_close(file);
    options.steps = 6;
    options.resume = true;
    const leat_train_result rest = run_at(run, &options);
    assert_int_equal(rest.first_step, 2);
    assert_non_null(strstr(rest.note, "checkpoint 4 is damaged"));
    assert_string_equal(rest.state, whole.state);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void other_settings_and_data_are_refused_by_name(void **state) {
    static const char *const says[] = {"width", "seed",     "learning-rate", "codec-up",
                                       "units", "data set", "--init"};
    const char *run = train_path("refused"), *other = train_path("refused-init");
    leat_train_options options = options_of(2);
    (void)state;
    run_at(run, &options);
    run_at(other, &options);
    for (int i = 0; i < 7; i++) {
        leat_train_result result;
        options = options_of(4);
        options.resume = true;
        if (i == 0) options.width = 2;
        if (i == 1) options.seed = 3;
        if (i == 2) options.learning_rate = 0.01;
        if (i == 3) options.codec_up = LEAT_CODEC_INT8;
        if (i == 4) options.units = 2;
        if (i == 6) options.init = other;
        const char *data = train_data(i == 5 ? IMAGES + 1 : IMAGES);
        assert_fails(leat_train("dcgan", data, run, &options, &result, err), LEAT_ERR_OPTION,
                     says[i]);
        assert_fails(leat_train("dcgan", data, run, &options, &result, err), LEAT_ERR_OPTION,
                     "cannot resume");
    }
    options = options_of(4);
    options.resume = true;
    run_at(run, &options); /* and the right ones are not */
}

static void folders_of_others_are_refused(void **state) {
    const char *run = train_path("others");
    leat_train_options options = options_of(2);
    leat_train_result result;
    char path[LEAT_PATH_BYTES];
    leat_lock lock;
    (void)state;
    run_at(run, &options);
    assert_fails(leat_train("dcgan", train_data(IMAGES), run, &options, &result, err),
                 LEAT_ERR_EXISTS, "--resume");
    assert_fails(
        leat_train("dcgan", train_data(IMAGES), train_data(IMAGES), &options, &result, err),
        LEAT_ERR_EXISTS, "does not hold a run");
    assert_ok(leat_path_join(path, sizeof path, run, "config.yaml", err));
    assert_fails(leat_train("dcgan", train_data(IMAGES), path, &options, &result, err),
                 LEAT_ERR_EXISTS, "not a folder");
    options.resume = true;
    assert_ok(leat_path_join(path, sizeof path, run, ".leat.lock", err));
    assert_ok(leat_lock_try(&lock, path, err));
    assert_fails(leat_train("dcgan", train_data(IMAGES), run, &options, &result, err),
                 LEAT_ERR_BUSY, "another process");
    leat_lock_release(&lock);
    /* nothing is left of a run that could not begin */
    run = train_path("none");
    options.resume = false;
    options.steps = 0;
    assert_fails(leat_train("dcgan", train_data(IMAGES), run, &options, &result, err),
                 LEAT_ERR_OPTION, "no end");
    options.steps = 1;
    options.memory_bytes = 1 << 20;
    assert_fails(leat_train("dcgan", train_data(IMAGES), run, &options, &result, err),
                 LEAT_ERR_LIMIT, "--memory 1M is too low");
    assert_fails(leat_train("gpt", train_data(IMAGES), run, &options, &result, err),
                 LEAT_ERR_OPTION, "there is dcgan");
    assert_false(exists(run));
}

static void a_changed_training_file_is_refused(void **state) {
    const char *run = train_path("changed");
    leat_train_options options = options_of(1);
    char path[LEAT_PATH_BYTES];
    leat_run *opened = NULL;
    int64_t size = 0;
    (void)state;
    run_at(run, &options);
    assert_ok(leat_path_join(path, sizeof path, run, "training.json", err));
    char *text = train_read(path, &size);
    char *at = strstr(text, "\"width\": \"1\"");
    assert_non_null(at);
    at[10] = '2';
    assert_ok(leat_file_save(path, text, size, err));
    assert_fails(leat_run_open(&opened, run, err), LEAT_ERR_CORRUPT, "training.json");
    for (int64_t cut = 0; cut < size - 2; cut += 7) {
        assert_ok(leat_file_save(path, text, cut, err));
        assert_fails(leat_run_open(&opened, run, err), LEAT_ERR_CORRUPT, "training.json");
    }
    free(text);
    assert_fails(leat_run_open(&opened, train_path("nothing"), err), LEAT_ERR_NOT_FOUND,
                 "not the folder of a run");
}

/* ---- reading a run --------------------------------------------------------------------------- */

static void samples_are_functions_of_their_number(void **state) {
    const char *run = train_path("samples");
    leat_train_options options = options_of(4);
    leat_run_sample_options of = leat_run_sample_options_default();
    enum { COUNT = 7 };
    uint8_t *all = malloc(COUNT * LEAT_IMAGE_VALUES), *some = malloc(COUNT * LEAT_IMAGE_VALUES);
    double deviation = 0;
    int64_t step = 0;
    leat_run *opened = NULL;
    (void)state;
    run_at(run, &options);
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
    leat_train_options options = options_of(4);
    leat_run_sample_options of = leat_run_sample_options_default();
    uint8_t *a = malloc(4 * LEAT_IMAGE_VALUES), *b = malloc(4 * LEAT_IMAGE_VALUES);
    leat_run *one = NULL, *two = NULL;
    leat_run_facts facts;
    (void)state;
    run_at(run, &options);
    assert_ok(leat_run_export(run, -1, dir, false, err));
    static const char *const names[] = {"generator.safetensors", "discriminator.safetensors",
                                        "config.json", "README.md", "samples.png"};
    for (int i = 0; i < 5; i++) assert_true(is_there(dir, names[i]));
    assert_ok(leat_run_import(dir, back, err));
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
    options = options_of(2);
    options.init = run;
    memcpy(first, run_at(on, &options).state, 65);
    assert_ok(
        leat_path_join(path, sizeof path, run, "checkpoints/step-000000004.safetensors", err));
    options.init = path;
    assert_string_equal(run_at(train_path("continued2"), &options).state, first);
    options.init = NULL;
    assert_string_not_equal(run_at(train_path("continued3"), &options).state, first);
    free(a);
    free(b);
}

static void imports_that_do_not_fit_are_refused(void **state) {
    const char *run = train_path("misfit"), *dir = train_path("misfit-out");
    leat_train_options options = options_of(1);
    leat_train_result result;
    char path[LEAT_PATH_BYTES];
    (void)state;
    run_at(run, &options);
    assert_ok(leat_run_export(run, -1, dir, false, err));
    options.width = 2;
    options.init = run;
    assert_fails(leat_train("dcgan", train_data(IMAGES), train_path("m1"), &options, &result, err),
                 LEAT_ERR_INPUT, "width or latent size");
    options = options_of(1);
    assert_ok(leat_path_join(path, sizeof path, dir, "generator.safetensors", err));
    options.init = path;
    assert_fails(leat_train("dcgan", train_data(IMAGES), train_path("m2"), &options, &result, err),
                 LEAT_ERR_INPUT, "0 of 24 parameters");
    options.init = train_path("absent");
    assert_fails(leat_train("dcgan", train_data(IMAGES), train_path("m3"), &options, &result, err),
                 LEAT_ERR_NOT_FOUND, "absent");
    assert_ok(leat_path_join(path, sizeof path, dir, "discriminator.safetensors", err));
    assert_ok(leat_path_remove(path, err));
    assert_fails(leat_run_import(dir, train_path("m4"), err), LEAT_ERR_INPUT, "of 24 parameters");
    assert_fails(leat_run_import(run, train_path("m5"), err), LEAT_ERR_INPUT, "--init");
    for (int i = 1; i <= 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "m%d", i);
        assert_false(exists(train_path(name)));
    }
}

static void the_bill_is_kept(void **state) {
    leat_train_options options = options_of(3);
    leat_train_bill bill;
    (void)state;
    options.width = 64;
    options.latent = 100;
    options.units = 3;
    options.unit_size = 320;
    options.micro_batch = 32;
    options.codec_up = LEAT_CODEC_INT8;
    options.codec_down = LEAT_CODEC_BF16;
    assert_ok(leat_train_plan("dcgan", train_data(IMAGES), &options, false, &bill, err));
    assert_int_equal(bill.generator_parameters, 3576704);
    assert_int_equal(bill.discriminator_parameters, 2765568);
    assert_int_equal(bill.step_images, 960);
    assert_int_equal(bill.weights_bytes, 12684544);
    assert_int_equal(bill.payload_bytes, 128 + 6342272 + 99100 + 220160 + 24);
    assert_true(bill.images_per_second == 0);
    assert_in_range(bill.memory_bytes, 300 << 20, 600 << 20);
    options = options_of(3);
    assert_ok(leat_train_plan("dcgan", train_data(IMAGES), &options, true, &bill, err));
    assert_true(bill.images_per_second > 0);
}

/* ---- grids ----------------------------------------------------------------------------------- */

static void grids_have_limits(void **state) {
    uint8_t image[3] = {1, 2, 3};
    const char *path = train_path("grid.png");
    (void)state;
    assert_ok(leat_image_grid_save(path, image, 1, 1, 8, err));
    assert_fails(leat_image_grid_save(path, image, 0, 1, 8, err), LEAT_ERR_OPTION, "grid of 0");
    assert_fails(leat_image_grid_save(path, image, 1, 0, 8, err), LEAT_ERR_OPTION, "0 x 0");
    assert_fails(leat_image_grid_save(path, image, 65536, 1024, 4096, err), LEAT_ERR_OPTION,
                 "too large");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_folder_holds_what_is_promised),
        cmocka_unit_test(metrics_have_a_line_a_step_and_a_line_an_epoch),
        cmocka_unit_test(its_own_configuration_repeats_it),
        cmocka_unit_test(a_stopped_run_continues_to_the_same_bytes),
        cmocka_unit_test(a_finished_run_can_go_further),
        cmocka_unit_test(a_damaged_checkpoint_is_passed_over),
        cmocka_unit_test(other_settings_and_data_are_refused_by_name),
        cmocka_unit_test(folders_of_others_are_refused),
        cmocka_unit_test(a_changed_training_file_is_refused),
        cmocka_unit_test(samples_are_functions_of_their_number),
        cmocka_unit_test(an_export_comes_back),
        cmocka_unit_test(imports_that_do_not_fit_are_refused),
        cmocka_unit_test(the_bill_is_kept),
        cmocka_unit_test(grids_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
