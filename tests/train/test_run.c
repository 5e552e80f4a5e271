/*
 * Runs in folders: what is there afterwards, and stopping and resuming to the same bytes. The
 * gate's ASan leaves these out: nine tenths of the time are scores, which test_score.c has there.
 */
/* TSan: micro-batches on a pool. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "leat/format.h"
#include "train/tasks/images/measure.h"
#include "train_support.h"

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
    leat_train_options options = train_options(5);
    leat_run_checkpoint checkpoint;
    leat_run_facts facts;
    leat_run *opened = NULL;
    (void)state;
    options.sample_every = 3;
    const leat_train_result result = train_run(run, &options);
    assert_int_equal(result.first_step, 0);
    assert_int_equal(result.last_step, 5);
    assert_true(result.measured[LEAT_MEASURE_SCORE] >= 0 && result.untrained[0] >= 0);
    assert_true(result.measured[LEAT_MEASURE_DEVIATION] > 0 && result.samples_per_second > 0);
    assert_ptr_equal(result.measures, leat_image_measures);
    assert_string_equal(result.reference.name, "score_halves");
    assert_string_equal(result.many, "images");
    static const char *const names[] = {"config.yaml",
                                        "training.json",
                                        "metrics.jsonl",
                                        "reference.json",
                                        "samples/step-000000000.png",
                                        "samples/step-000000003.png",
                                        "samples/step-000000005.png",
                                        "checkpoints/step-000000005.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!train_has(run, names[i])) fail_msg("no %s", names[i]);
    assert_false(train_has(run, ".leat.lock"));
    assert_false(train_has(run, "samples/step-000000004.png"));
    assert_ok(leat_run_open(&opened, run, err));
    leat_run_get_facts(opened, &facts);
    assert_string_equal(facts.run, result.run);
    assert_int_equal(facts.samples, TRAIN_IMAGES);
    assert_string_equal(facts.leat_version, LEAT_VERSION);
    assert_int_equal(facts.sample_size, LEAT_IMAGE_SIZE);
    assert_string_equal(facts.reference.name, "score_halves");
    assert_true(facts.reference.value >= 0 && facts.reference.value == result.reference.value);
    assert_string_equal(leat_run_setting(opened, "width"), "1");
    assert_null(leat_run_setting(opened, "threads"));
    assert_true(leat_run_checkpoint_at(opened, facts.checkpoint_count - 1, &checkpoint));
    assert_int_equal(checkpoint.step, 5);
    assert_string_equal(checkpoint.state, result.state);
    assert_string_equal(checkpoint.path, result.checkpoint);
    assert_true(checkpoint.measured[LEAT_MEASURE_SCORE] == result.measured[LEAT_MEASURE_SCORE]);
    assert_true(checkpoint.measured[LEAT_MEASURE_DEVIATION] ==
                result.measured[LEAT_MEASURE_DEVIATION]);
    assert_true(isnan(checkpoint.measured[LEAT_MEASURE_SPREAD])); /* in metrics.jsonl alone */
    assert_false(leat_run_checkpoint_at(opened, facts.checkpoint_count, &checkpoint));
    leat_run_close(opened);
}

/* 8 images a step, 11 an epoch: epoch e ends in step ceil(11 (e + 1) / 8). */
static void metrics_have_a_line_a_step_and_a_line_an_epoch(void **state) {
    static const struct {
        int64_t step, epoch;
    } want[] = {{0, -1}, {1, -1}, {2, -1}, {2, 0}, {3, -1}, {3, 1}, {4, -1}, {5, -1}, {5, 2}};
    const char *run = train_path("metrics");
    leat_train_options options = train_options(5);
    (void)state;
    options.sample_every = 100;
    const leat_train_result result = train_run(run, &options);
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
    leat_train_options options = train_options(2), again = leat_train_options_default();
    leat_dcgan_settings rare = train_small_settings(), own = leat_dcgan_settings_default();
    leat_train_config *config = NULL;
    char path[LEAT_PATH_BYTES], notes[100];
    (void)state;
    rare.learning_rate = 1e-5;
    options.settings = &rare;
    options.codec_up = LEAT_CODEC_BF16;
    options.seed = UINT64_MAX;
    const leat_train_result one = train_run(a, &options);
    assert_ok(leat_path_join(path, sizeof path, a, "config.yaml", err));
    assert_ok(
        leat_train_config_load(&config, path, "dcgan", &again, &own, notes, sizeof notes, err));
    assert_string_equal(notes, "");
    again.threads = 2;
    const leat_train_result two = train_run(b, &again);
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
    leat_train_options options = train_options(7);
    (void)state;
    options.sample_every = 7;
    const leat_train_result whole = train_run(train_path("stop0"), &options);
    for (int64_t after = 1; after < 7; after += 3) {
        char name[32];
        snprintf(name, sizeof name, "stop%lld", (long long)after);
        const char *run = train_path(name);
        leat_train_options stopped = options;
        leat_train_result result;
        stopping until = {.after = after};
        stopped.progress = stop_after;
        stopped.user = &until;
        assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &stopped, &result, err),
                     LEAT_ERR_CANCELLED, "--resume");
        assert_false(train_has(run, ".leat.lock"));
        options.resume = true;
        options.threads = 3;
        const leat_train_result rest = train_run(run, &options);
        assert_int_equal(rest.first_step, after);
        assert_string_equal(rest.state, whole.state);
        assert_true(rest.measured[0] == whole.measured[0]);
        char *a = read_in(train_path("stop0"), "checkpoints/step-000000007.sha256");
        char *b = read_in(run, "checkpoints/step-000000007.sha256");
        assert_string_equal(a, b);
        free(a);
        free(b);
        options.resume = false;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_folder_holds_what_is_promised),
        cmocka_unit_test(metrics_have_a_line_a_step_and_a_line_an_epoch),
        cmocka_unit_test(its_own_configuration_repeats_it),
        cmocka_unit_test(a_stopped_run_continues_to_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
