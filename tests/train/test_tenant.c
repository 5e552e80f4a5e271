/*
 * A second model and its feed (tenant.h), which no file of src knows, in the list of what can be
 * trained: a run of it is trained, stopped, resumed and read like any other. Its units differ in
 * weight and in their number of micro-batches, its steps in their number of units. As processes:
 * tests/crowd/test_tenant.py.
 */
/* TSan: micro-batches on a pool. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apart.h"
#include "base/file.h"
#include "base/mem.h"
#include "tenant.h"
#include "train/run/run_reader.h"
#include "train/step/exchange.h"
#include "train/step/weights.h"
#include "train/tasks/images/dcgan_task.h"
#include "train/tasks/images/image_feed.h"
#include "train_support.h"

/* Instead of the list in src/train/tasks/tasks.c. The last one is a model without exports (main).
 */
static leat_model_class bare_class;
static leat_task bare_task;
const leat_task *const leat_tasks[] = {
    &leat_dcgan_task,   &tenant_task,         &tenant_higher_task,
    &tenant_lower_task, &tenant_neither_task, &tenant_second_task,
    &tenant_aside_task, &bare_task,           NULL};

enum { ROWS = 23, STEPS = TENANT_STEPS };

static const char *data(void) {
    const char *path = train_path("rows.txt");
    tenant_data(path, ROWS);
    return path;
}

static leat_train_options options_of(int32_t threads) {
    leat_train_options options = tenant_options(threads);
    options.codec_up = LEAT_CODEC_BF16;
    return options;
}

static leat_train_result train_model(const char *model, const char *run,
                                     const leat_train_options *options) {
    leat_train_result result;
    assert_ok(leat_train(model, data(), run, options, &result, err));
    return result;
}
static leat_train_result train(const char *run, const leat_train_options *options) {
    return train_model("linear", run, options);
}

/* ---- a run ---------------------------------------------------------------------------------- */

static void it_learns_with_the_same_bits(void **state) {
    const leat_train_options one = options_of(1), three = options_of(3);
    leat_run_metrics *metrics = NULL;
    leat_run_facts facts;
    leat_run *run = NULL;
    (void)state;
    const leat_train_result alone = train(train_path("alone"), &one);
    const leat_train_result many = train(train_path("many"), &three);
    assert_string_equal(alone.state, many.state);
    assert_string_equal(alone.run, many.run);
    assert_ok(leat_run_open(&run, train_path("alone"), err));
    leat_run_get_facts(run, &facts);
    assert_string_equal(facts.model, "linear");
    assert_true(facts.samples == ROWS && facts.sample_size == 0);
    /* no suites of kernels: SHA-256 of no line */
    assert_string_equal(facts.kernel_class, "e3b0c44298fc1c14");
    assert_string_equal(leat_run_setting(run, "learning-rate"), "0.0625");
    assert_null(leat_run_setting(run, "width"));
    assert_ok(leat_run_metrics_load(&metrics, run, 100, err));
    assert_string_equal(metrics->names[0].name, "loss");
    assert_string_equal(metrics->names[1].name, "norm");
    assert_int_equal(metrics->point_count, STEPS);
    assert_true(metrics->points[STEPS - 1].values[0] < 0.5 * metrics->points[0].values[0]);
    leat_run_metrics_destroy(metrics);
    leat_run_close(run);
}

/* Asks for an end after some steps. */
static bool until(void *user, const leat_progress *progress) {
    return strcmp(progress->stage, "training") != 0 || progress->done < *(const int64_t *)user;
}

static void a_run_that_was_stopped_goes_on(void **state) {
    leat_train_options options = options_of(1);
    leat_train_result result;
    int64_t stop = 3;
    (void)state;
    const leat_train_result whole = train(train_path("whole"), &options);
    options.progress = until;
    options.user = &stop;
    const char *run = train_path("stopped");
    assert_fails(leat_train("linear", data(), run, &options, &result, err), LEAT_ERR_CANCELLED,
                 "after step 3 of 9");
    options.resume = true;
    options.progress = NULL;
    result = train(run, &options);
    assert_int_equal(result.first_step, 3);
    assert_string_equal(result.state, whole.state);
    /* from an earlier checkpoint */
    options.rewind = 6;
    result = train(run, &options);
    assert_int_equal(result.first_step, 6);
    assert_string_equal(result.state, whole.state);
}

static void check_warnings(const leat_train_warning *found, const leat_train_warning *want) {
    for (int i = 0; i < LEAT_WARNINGS_MAX; i++) {
        assert_int_equal(found[i].step, want[i].step);
        assert_int_equal(found[i].over, want[i].over);
        assert_true(i < 2 ? found[i].name != NULL : found[i].name == NULL);
    }
}

/* What the row says is measured and warned of; a run that was stopped warns at the same steps. */
static void it_is_measured_and_watched(void **state) {
    leat_train_options options = options_of(1);
    char text[LEAT_WARNING_BYTES];
    leat_train_result result;
    leat_run_metrics *metrics;
    leat_run_checkpoint last;
    leat_run *run;
    (void)state;
    options.sample_every = 2;
    options.checkpoint_every = 1;
    const leat_train_result whole = train(train_path("watched"), &options);
    assert_ok(leat_run_open(&run, train_path("watched"), err));
    assert_ok(leat_run_metrics_load(&metrics, run, 100, err));
    assert_string_equal(metrics->measures[1].name, "rows_seen");
    assert_int_equal(metrics->measurement_count, 6); /* 0, 2, 4, 6, 8, 9 */
    assert_true(leat_run_checkpoint_at(run, 2, &last));
    assert_string_equal(last.measures[1].name, "rows_seen");
    assert_true(last.measured[0] == whole.measured[0] && last.measured[1] == whole.measured[1]);
    assert_true(whole.measured[1] == metrics->measurements[5].values[1]);
    for (int i = 1; i < 6; i++)
        assert_true(metrics->measurements[i].values[0] < metrics->measurements[i - 1].values[0]);
    assert_true(metrics->measurements[1].values[1] == 5 + 6 + 7 + 5);
    check_warnings(metrics->warnings, whole.warnings);
    leat_run_metrics_destroy(metrics);
    leat_run_close(run);
    assert_string_equal(whole.warnings[0].name, "near");
    assert_int_equal(whole.warnings[0].step, 8);
    assert_string_equal(leat_train_warning_text(&whole.warnings[0], text),
                        "the line is near at step 8; stop");
    assert_int_equal(whole.warnings[1].step, 2);
    assert_int_equal(whole.warnings[1].over, 6);
    for (int64_t stop = 1; stop < STEPS; stop += 2) {
        char name[32];
        snprintf(name, sizeof name, "watched-%d", (int)stop);
        const char *path = train_path(name);
        leat_train_options some = options;
        some.progress = until;
        some.user = &stop;
        assert_fails(leat_train("linear", data(), path, &some, &result, err), LEAT_ERR_CANCELLED,
                     "cancelled");
        some.progress = NULL;
        some.resume = true;
        result = train(path, &some);
        check_warnings(result.warnings, whole.warnings);
        some.rewind = 7;
        result = train(path, &some);
        check_warnings(result.warnings, whole.warnings);
    }
}

/* By any number that is measured, not by the first alone. */
static void what_became_worse_is_told(void **state) {
    static const struct {
        const char *model, *note;
    } cases[] = {{"second",
                  "the misfit is worse than before the first step: training has diverged, "
                  "or was too short"},
                 {"aside", "the rank is worse than before the first step, the fit is not"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_train_options options = options_of(1);
        options.sample_every = 1;
        const leat_train_result result =
            train_model(cases[i].model, train_path(cases[i].model), &options);
        assert_string_equal(result.note, cases[i].note);
        assert_true(fabs(result.untrained[1]) == 0.625 && fabs(result.measured[1]) == 0.5);
        assert_true(isnan(result.untrained[0]) == (i == 0));
    }
}

/* The steps of the checkpoints that are there, with a star at the best: "2* 9 ". */
static const char *checkpoints_of(const char *path, char out[100]) {
    leat_run_checkpoint of;
    leat_run *run = NULL;
    out[0] = 0;
    assert_ok(leat_run_open(&run, path, err));
    for (int i = 0; leat_run_checkpoint_at(run, i, &of); i++)
        snprintf(out + strlen(out), 100 - strlen(out), "%lld%s ", (long long)of.step,
                 of.best ? "*" : "");
    leat_run_close(run);
    return out;
}

/* Of equal ones the earlier is kept, and one that is not a number never, whether the run is
 * interrupted or not. It says so if it ends worse than it began. */
static void the_best_checkpoint_is_kept(void **state) {
    static const struct {
        const char *model, *midway, *kept, *note;
    } cases[] = {
        {"higher", "2* 4 ", "2* 9 ",
         "the fit is worse than before the first step: training has "
         "diverged, or was too short"},
        {"lower", "3* 4 ", "3* 9 ", ""},
        {"neither", "4 ", "9 ", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *model = cases[i].model, *run = train_path(model);
        char name[40], got[100];
        leat_train_options options = options_of(1);
        leat_train_result result;
        int64_t stop = 4;
        options.checkpoint_every = options.sample_every = options.keep = 1;
        const leat_train_result whole = train_model(model, run, &options);
        assert_string_equal(checkpoints_of(run, got), cases[i].kept);
        assert_string_equal(whole.note, cases[i].note);
        assert_true(whole.measured[0] == 0.5 && whole.untrained[0] == 0.625);
        options.progress = until;
        options.user = &stop;
        snprintf(name, sizeof name, "%s-stopped", model);
        run = train_path(name);
        assert_fails(leat_train(model, data(), run, &options, &result, err), LEAT_ERR_CANCELLED,
                     "after step 4 of 9");
        assert_string_equal(checkpoints_of(run, got), cases[i].midway);
        options.progress = NULL;
        options.resume = true;
        const leat_train_result resumed = train_model(model, run, &options);
        assert_string_equal(resumed.state, whole.state);
        assert_string_equal(resumed.note, cases[i].note);
        assert_true(resumed.untrained[0] == 0.625);
        assert_string_equal(checkpoints_of(run, got), cases[i].kept);
    }
}

/* What the row keeps of the steps that were measured; a rewind moves it, and nothing else. */
static void it_keeps_files_of_steps(void **state) {
    static const int64_t steps[] = {0, 3, 6, 9};
    leat_train_options options = options_of(1);
    leat_run_kept kept;
    leat_run *run;
    int count = 0;
    (void)state;
    const char *path = train_path("kept");
    options.sample_every = 3;
    options.checkpoint_every = 3;
    train(path, &options);
    assert_ok(leat_run_open(&run, path, err));
    for (; leat_run_kept_at(run, count, &kept); count++) {
        assert_in_range(count, 0, 3);
        assert_int_equal(kept.step, steps[count]);
        assert_true(leat_run_kept_step(strrchr(kept.path, '/') + 1, ".line") == kept.step);
    }
    leat_run_close(run);
    assert_int_equal(count, 4);
    assert_true(train_has(path, "samples/step-000000009.line"));
    assert_ok(leat_file_save(train_path("kept/samples/step-000000009.png"), "mine", 4, err));
    options.resume = true;
    options.rewind = 6;
    train(path, &options);
    assert_true(train_has(path, "rewound-6/samples/step-000000009.line"));
    assert_false(train_has(path, "rewound-6/samples/step-000000006.line"));
    assert_false(train_has(path, "rewound-6/samples/step-000000009.png"));
    assert_true(train_has(path, "samples/step-000000009.line"));
    assert_int_equal(leat_run_kept_step("step-000000009.line", ".png"), -1);
    assert_int_equal(leat_run_kept_step("step-9.line", ".line"), -1);
    assert_int_equal(leat_run_kept_step("step-000000009.line", NULL), -1);
}

static void what_does_not_fit_is_refused(void **state) {
    leat_train_options options = options_of(1);
    const tenant_settings other = {.scale = 2, .learning_rate = 0.0625};
    leat_train_result result;
    leat_train_estimate estimate;
    (void)state;
    const char *run = train_path("refused");
    train(run, &options);
    options.resume = true;
    options.settings = &other;
    assert_fails(leat_train("linear", data(), run, &options, &result, err), LEAT_ERR_OPTION,
                 "scale is 2 here, but the run began with 1");
    leat_dcgan_settings small = leat_dcgan_settings_default();
    small.width = 1;
    options = options_of(1);
    options.resume = true;
    options.unit_size = options.micro_batch;
    options.settings = &small;
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), run, &options, &result, err),
                 LEAT_ERR_OPTION,
                 "the model is dcgan here, but the run began with linear; resume "
                 "it with leat train linear or leat coordinate --model linear");
    options.settings = NULL;
    assert_fails(leat_train("mlp", data(), run, &options, &result, err), LEAT_ERR_OPTION,
                 "there is dcgan, linear, higher, lower, neither");
    assert_fails(leat_train(NULL, data(), run, &options, &result, err), LEAT_ERR_OPTION,
                 "no model is named; there is dcgan, linear, higher, lower, neither");
    assert_fails(leat_train_plan(NULL, data(), &options, false, &estimate, err), LEAT_ERR_OPTION,
                 "no model is named");
    assert_null(leat_train_settings_table(NULL));
    assert_string_equal(leat_train_sample_words(NULL, true), "samples");
    assert_string_equal(leat_train_sample_words("linear", false), "row");
    /* what only a DCGAN has */
    uint8_t pixels[1];
    leat_run *opened = NULL;
    const leat_run_sample_options samples = leat_run_sample_options_default();
    assert_ok(leat_run_open(&opened, run, err));
    assert_fails(leat_run_sample(opened, &samples, pixels, NULL, NULL, err), LEAT_ERR_UNSUPPORTED,
                 "of a run of the model \"linear\"");
    leat_run_close(opened);
    options = options_of(1);
    assert_ok(leat_train_plan("linear", data(), &options, true, &estimate, err));
    assert_int_equal(estimate.parameters, TENANT_INPUTS + 1);
    assert_null(estimate.parts[0].name);
    assert_int_equal(estimate.sample_size, 0);
    assert_true(estimate.step_samples == 11 && estimate.samples_per_second > 0);
}

/* ---- exported, and back --------------------------------------------------------------------- */

/* The parameters and running statistics of a run's last checkpoint. */
static void weights_of(const char *path, float out[TENANT_INPUTS + 2]) {
    leat_trainer *trainer = NULL;
    leat_run *run = NULL;
    assert_ok(leat_run_open(&run, path, err));
    assert_ok(leat_run_load(run, -1, 1, NULL, &trainer, NULL, err));
    const leat_train_state *state = leat_trainer_state(trainer);
    memcpy(out, state->parameters, (TENANT_INPUTS + 1) * sizeof *out);
    out[TENANT_INPUTS + 1] = state->running[0];
    leat_trainer_destroy(trainer);
    leat_run_close(run);
}

/* "<dir>/<name>", until four more were made. */
static const char *in(const char *dir, const char *name) {
    static char paths[4][LEAT_PATH_BYTES];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, LEAT_PATH_BYTES, "%s/%s", dir, name);
    return path;
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* The document `name` of a folder has this text. */
static void assert_says(const char *dir, const char *name, const char *text) {
    int64_t size = 0;
    char *all = train_read(in(dir, name), &size);
    assert_non_null(all);
    if (strstr(all, text) == NULL) fail_msg("%s has no %s:\n%s", name, text, all);
    leat_free(all);
}

static void an_export_comes_back(void **state) {
    const tenant_settings other = {.scale = 3, .learning_rate = 0.03125};
    leat_train_options options = options_of(1);
    float one[TENANT_INPUTS + 2], two[TENANT_INPUTS + 2];
    leat_train_result result;
    leat_run *run = NULL;
    (void)state;
    options.settings = &other;
    options.export_dir = train_path("kept exported"); /* with each checkpoint */
    const char *of = train_path("exported run"), *dir = train_path("export");
    train(of, &options);
    assert_ok(leat_run_export(of, -1, dir, false, err));
    assert_true(train_has(dir, TENANT_WEIGHTS) && !train_has(dir, "samples.png"));
    assert_says(dir, "config.json", "\"model_type\": \"linear\",\n  \"micro_batch\": 3,");
    assert_says(dir, "config.json", "\"weights\": \"" TENANT_WEIGHTS "\"");
    assert_says(dir, "config.json", "\"rows\": 23");
    assert_says(dir, "README.md", "- linear\n---\n\n# linear\n\nAfter step 9 of a run of leat ");
    assert_says(dir, "README.md", "| scale | 3 |");
    assert_says(options.export_dir, "config.json", "\"step\": 9");
    /* settings that the shapes do not show come from config.json */
    const char *back = train_path("imported");
    assert_ok(leat_run_import(dir, NULL, back, NULL, err));
    weights_of(of, one);
    weights_of(back, two);
    assert_memory_equal(one, two, sizeof one);
    assert_ok(leat_run_open(&run, back, err));
    assert_string_equal(leat_run_setting(run, "scale"), "3");
    assert_string_equal(leat_run_setting(run, "micro-batch"), "3");
    leat_run_close(run);
    /* the same weights, whatever they are in, begin the same run */
    const char *const from[] = {of, back, dir, in(dir, TENANT_WEIGHTS)};
    char first[65] = "", path[32];
    options = options_of(1);
    for (int i = 0; i < 4; i++) {
        options.init = from[i];
        snprintf(path, sizeof path, "from-%d", i);
        result = train(train_path(path), &options);
        if (i == 0) memcpy(first, result.state, sizeof first);
        assert_string_equal(result.state, first);
    }
    options.init = NULL;
    assert_string_not_equal(train(train_path("from-nothing"), &options).state, first);
}

static void what_is_not_such_an_export_is_refused(void **state) {
    leat_train_options options = options_of(1);
    leat_train_result result;
    (void)state;
    const char *of = train_path("whole run"), *dir = train_path("folder of it");
    const char *new = train_path("never");
    train(of, &options);
    assert_ok(leat_run_export(of, -1, dir, false, err));
    /* another model's */
    leat_train_options images = train_options(1);
    const char *const others[] = {of, dir};
    for (int i = 0; i < 2; i++) {
        images.init = others[i];
        assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), new, &images, &result, err),
                     LEAT_ERR_INPUT, "of the model \"linear\", but this one is \"dcgan\"");
    }
    /* a file of another shape, and one that lacks the bias */
    images.init = in(dir, TENANT_WEIGHTS);
    assert_fails(leat_train("dcgan", train_data(TRAIN_IMAGES), new, &images, &result, err),
                 LEAT_ERR_INPUT, "0 of 24 parameters; both networks are required");
    float values[4] = {1, 2, 3, 4};
    char hash[65];
    leat_weight_row row = {"weight", 2, {2, 2}, values, 4};
    const leat_weight_file file = {.rows = &row, .count = 1};
    assert_ok(leat_weight_file_save(in(dir, TENANT_WEIGHTS), &file, hash, err));
    assert_fails(leat_run_import(dir, NULL, new, NULL, err), LEAT_ERR_INPUT, "initial weights: ");
    row.shape[0] = 1;
    row.shape[1] = row.count = 3;
    assert_ok(leat_weight_file_save(in(dir, TENANT_WEIGHTS), &file, hash, err));
    assert_fails(leat_run_import(dir, NULL, new, NULL, err), LEAT_ERR_INPUT,
                 "1 of 2 parameters; all are required, named as in a checkpoint (\"weight\")");
    /* nor what nobody knows, which is asked for in the words of all */
    static const char known[] = "holds weights of no model that leat knows; import a folder that "
                                "leat export wrote (dcgan, linear); of a dcgan also a safetensors "
                                "file with the tensors \"G.main.0.weight\", ";
    assert_fails(leat_run_import(in(dir, TENANT_WEIGHTS), NULL, new, NULL, err),
                 LEAT_ERR_UNSUPPORTED, known);
    assert_fails(leat_run_import(train_path(""), NULL, new, NULL, err), LEAT_ERR_UNSUPPORTED,
                 "a folder with generator.safetensors and discriminator.safetensors");
    assert_fails(leat_run_import(train_path("no such"), NULL, new, NULL, err), LEAT_ERR_NOT_FOUND,
                 "no such\" does not exist");
    /* what is not the export of this run is not replaced */
    options.export_dir = dir;
    assert_fails(leat_train("linear", data(), new, &options, &result, err), LEAT_ERR_EXISTS,
                 TENANT_WEIGHTS "\" is not recognised as a file that leat wrote");
    assert_fails(leat_run_export(of, -1, dir, false, err), LEAT_ERR_EXISTS,
                 "has a file \"" TENANT_WEIGHTS "\"; use --replace");
    assert_ok(leat_path_remove(in(dir, TENANT_WEIGHTS), err));
    assert_fails(leat_run_import(dir, NULL, new, NULL, err), LEAT_ERR_INPUT, "0 of 2 parameters");
    const char *mine = train_path("mine");
    assert_ok(leat_path_make_dir(mine, err));
    put(in(mine, "README.md"), "# mine\n");
    options.export_dir = mine;
    assert_fails(leat_train("linear", data(), new, &options, &result, err), LEAT_ERR_EXISTS,
                 "has a file \"README.md\" and is not an export of this run");
    assert_says(mine, "README.md", "# mine");
    /* config.json names no model of this version, or has no such setting */
    put(in(dir, "config.json"), "{\"model_type\": \"mlp\", \"leat_version\": \"9\"}");
    assert_fails(leat_run_import(dir, NULL, new, NULL, err), LEAT_ERR_UNSUPPORTED,
                 "there is no model \"mlp\"; there is dcgan, linear");
    put(in(dir, "config.json"),
        "{\"model_type\": \"linear\", \"leat_version\": \"9\", \"training\": {\"scale\": \"10\"}}");
    assert_fails(leat_run_import(dir, NULL, new, NULL, err), LEAT_ERR_CORRUPT,
                 "config.json\" is damaged: scale: ");
    put(in(dir, "config.json"),
        "{\"model_type\": \"linear\", \"leat_version\": \"9\", \"training\": {\"scale\": \"1\"}}");
    assert_fails(leat_run_import(dir, NULL, new, NULL, err), LEAT_ERR_CORRUPT,
                 "training: member \"learning-rate\" is missing");
    assert_false(train_has(train_path(""), "never"));
}

static void a_model_without_exports_is_refused(void **state) {
    leat_train_options options = options_of(1);
    leat_train_result result;
    (void)state;
    const char *run = train_path("bare"), *dir = train_path("bare export");
    assert_ok(leat_train("bare", data(), run, &options, &result, err));
    assert_fails(leat_run_export(run, -1, dir, false, err), LEAT_ERR_UNSUPPORTED,
                 "leat does not export runs of the model \"bare\"");
    options.export_dir = dir;
    assert_fails(leat_train("bare", data(), train_path("bare 2"), &options, &result, err),
                 LEAT_ERR_UNSUPPORTED, "leat does not export runs of the model \"bare\"");
    assert_ok(leat_path_make_dir(dir, err));
    put(in(dir, "config.json"), "{\"model_type\": \"bare\", \"leat_version\": \"9\"}");
    assert_fails(leat_run_import(dir, NULL, train_path("bare 3"), NULL, err), LEAT_ERR_UNSUPPORTED,
                 "leat does not import the model \"bare\"");
    /* a run of it is one to begin with, like any other */
    options.export_dir = NULL;
    options.init = run;
    assert_ok(leat_train("bare", data(), train_path("bare 4"), &options, &result, err));
    options.init = dir;
    put(in(dir, "config.json"), "{");
    assert_fails(leat_train("bare", data(), train_path("bare 5"), &options, &result, err),
                 LEAT_ERR_INPUT, "0 of 2 parameters; all are required");
}

/* ---- units that weigh differently -------------------------------------------------------------
 */

typedef struct side {
    leat_run_options all;
    leat_feed feed;
    leat_trainer *trainer;
    leat_exchange *exchange;
} side;

#define RUN "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void open_side(side *of) {
    const leat_train_options options = options_of(2);
    assert_ok(leat_run_options_take(&of->all, "linear", &options, err));
    assert_ok(leat_feed_open(&of->feed, tenant_task.feed, data(), err));
    assert_ok(leat_feed_plan(&of->feed, &of->all.run, err));
    assert_ok(leat_trainer_create(&of->trainer, tenant_task.model, &of->all.run, &of->feed, err));
    assert_ok(leat_exchange_create(&of->exchange, of->trainer, &of->all.run, RUN, err));
}

static void close_side(side *of) {
    leat_exchange_destroy(of->exchange);
    leat_trainer_destroy(of->trainer);
    leat_feed_close(&of->feed);
}

/* As coordinator and worker do: weights there, results back, in any order. */
static void apart_is_alone(void **state) {
    side owner, worker;
    char hash[65], unit_hash[2][65], alone[65], apart[65];
    double weights[STEPS][2] = {0};
    (void)state;
    open_side(&owner);
    train_steps(owner.trainer, STEPS, alone);
    close_side(&owner);
    open_side(&owner);
    open_side(&worker);
    const leat_exchange_sizes sizes = leat_exchange_get_sizes(owner.exchange);
    uint8_t *bytes = malloc((size_t)sizes.weights), *payload[2];
    for (int k = 0; k < 2; k++) payload[k] = malloc((size_t)sizes.payload);
    for (int64_t s = 0; s < STEPS; s++) {
        leat_step_numbers numbers;
        leat_unit_numbers unit;
        const int units = s % 3 == 2 ? 1 : 2, last = units - 1;
        assert_ok(leat_exchange_put_weights(owner.exchange, bytes, hash, err));
        assert_ok(leat_exchange_take_weights(worker.exchange, s, bytes, hash, err));
        assert_int_equal(leat_trainer_units(owner.trainer), units);
        for (int k = last; k >= 0; k--)
            assert_ok(leat_exchange_compute(worker.exchange, k, payload[k], unit_hash[k], err));
        /* nothing of a larger unit is left in a smaller one's */
        assert_ok(leat_exchange_compute(worker.exchange, last, payload[last], hash, err));
        assert_string_equal(hash, unit_hash[last]);
        /* a unit's result is none of another one's, whose weight the owner knows by itself; nor of
         * one that only other steps have */
        payload[0][40] ^= 1;
        if (units == 2)
            assert_fails(
                leat_exchange_read(owner.exchange, 0, payload[1], sizes.payload, &unit, err),
                LEAT_ERR_INPUT, "unit is 1 (expected 0)");
        assert_fails(leat_exchange_read(owner.exchange, 1, payload[0], sizes.payload, &unit, err),
                     units == 2 ? LEAT_ERR_INPUT : LEAT_ERR_CORRUPT,
                     units == 2 ? "weight is" : "has no unit 1");
        payload[0][40] ^= 1;
        for (int k = 0; k < units; k++) {
            assert_ok(leat_exchange_read(owner.exchange, k, payload[k], sizes.payload, &unit, err));
            assert_ok(leat_trainer_add(owner.trainer, k, &unit, err));
            weights[s][k] = unit.weight;
        }
        assert_ok(leat_trainer_end(owner.trainer, &numbers, err));
        assert_true(numbers.weight == weights[s][0] + weights[s][1]);
    }
    assert_true(weights[0][0] == 5 && weights[0][1] == 6 && weights[1][0] == 7);
    assert_true(weights[2][0] == 6 && weights[2][1] == 0 && weights[3][0] == 7);
    leat_trainer_hash(owner.trainer, apart);
    assert_string_equal(apart, alone);
    free(bytes);
    for (int k = 0; k < 2; k++) free(payload[k]);
    close_side(&owner);
    close_side(&worker);
}

/* The rows that were seen are those of all units, each micro-batch counted once (fold). */
static void every_micro_batch_is_folded_once(void **state) {
    char hash[65];
    side of;
    int64_t position = 0;
    (void)state;
    open_side(&of);
    train_steps(of.trainer, STEPS, hash);
    assert_ok(leat_feed_position(&of.feed, STEPS, &position, err));
    assert_true(leat_trainer_state(of.trainer)->running[0] == (float)position);
    close_side(&of);
}

/* A feed that says another weight than the model finds. */
static leat_code wrong_weight(const leat_feed *feed, const leat_unit_place *place, double *weight,
                              leat_error *err) {
    LEAT_TRY(tenant_task.feed->weight(feed, place, weight, err));
    *weight += 1;
    return LEAT_OK;
}

static void another_weight_ends_the_step(void **state) {
    leat_feed_class class = *tenant_task.feed;
    leat_step_numbers numbers;
    side of;
    (void)state;
    open_side(&of);
    class.weight = wrong_weight;
    of.feed.class = &class;
    assert_fails(leat_trainer_step(of.trainer, &numbers, err), LEAT_ERR_CORRUPT,
                 "step 1, unit 0: the rows weigh 5, but the data set says 6");
    close_side(&of);
}

/* ---- two passes a step ---- */

static int two_passes(const void *settings) {
    (void)settings;
    return 2;
}

/* The loss of the second pass is a sum of its own. */
static leat_code unit_of_two(void *self, int pass, const leat_unit_batches *batches,
                             const float *parameters, leat_unit_numbers *out, leat_error *err) {
    LEAT_TRY(tenant_task.model->unit(self, pass, batches, parameters, out, err));
    if (pass == 0) return LEAT_OK;
    out->sums[1] = out->sums[0];
    out->sums[0] = 0;
    return LEAT_OK;
}

static leat_code two_steps_of(const leat_model_class *class, leat_step_numbers *numbers,
                              leat_error *why) {
    const leat_train_options options = options_of(1);
    leat_run_options all;
    leat_trainer *trainer = NULL;
    leat_feed feed;
    assert_ok(leat_run_options_take(&all, "linear", &options, err));
    assert_ok(leat_feed_open(&feed, tenant_task.feed, data(), err));
    assert_ok(leat_feed_plan(&feed, &all.run, err));
    leat_code code = leat_trainer_create(&trainer, class, &all.run, &feed, why);
    for (int i = 0; i < 2 && code == LEAT_OK; i++)
        code = leat_trainer_step(trainer, &numbers[i], why);
    leat_trainer_destroy(trainer);
    leat_feed_close(&feed);
    return code;
}

static leat_code share_a_sum(leat_error *why) {
    leat_model_class class = *tenant_task.model;
    leat_step_numbers numbers[2];
    class.passes = two_passes;
    return two_steps_of(&class, numbers, why);
}

/* A sum is the mean of what one pass computes. One that two would add to is a broken model. */
static void passes_have_sums_of_their_own(void **state) {
    leat_model_class class = *tenant_task.model;
    leat_step_numbers one[2], two[2];
    char text[600];
    (void)state;
    assert_ok(two_steps_of(&class, one, err));
    class.passes = two_passes;
    class.unit = unit_of_two;
    class.sums = 2;
    assert_ok(two_steps_of(&class, two, err));
    assert_true(two[0].weight == one[0].weight && two[0].sums[0] == one[0].sums[0]);
    assert_true(two[0].sums[1] > 0 && two[0].sums[1] < two[0].sums[0]);
    assert_true(two[1].weight == one[1].weight && two[1].sums[0] < one[1].sums[0]);
    const int status = run_apart(share_a_sum, text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "trainer->before[i] == 0"));
}

/* Who has samples of units must know which. */
static void samples_without_numbers_are_refused(void **state) {
    const leat_samples samples = train_samples(4);
    leat_feed_class class = leat_image_feed;
    leat_feed feed;
    (void)state;
    class.numbers = NULL;
    assert_fails(leat_feed_open_samples(&feed, &class, &samples, err), LEAT_ERR_OPTION,
                 "images cannot be sent one by one; use a data set");
    leat_feed_close(&feed);
}

int main(void) {
    bare_class = *tenant_task.model;
    bare_class.name = "bare";
    bare_task = (leat_task){
        .model = &bare_class, .feed = tenant_task.feed, .settings = tenant_task.settings};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns_with_the_same_bits),
        cmocka_unit_test(a_run_that_was_stopped_goes_on),
        cmocka_unit_test(it_is_measured_and_watched),
        cmocka_unit_test(what_became_worse_is_told),
        cmocka_unit_test(the_best_checkpoint_is_kept),
        cmocka_unit_test(it_keeps_files_of_steps),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(an_export_comes_back),
        cmocka_unit_test(what_is_not_such_an_export_is_refused),
        cmocka_unit_test(a_model_without_exports_is_refused),
        cmocka_unit_test(apart_is_alone),
        cmocka_unit_test(every_micro_batch_is_folded_once),
        cmocka_unit_test(another_weight_ends_the_step),
        cmocka_unit_test(passes_have_sums_of_their_own),
        cmocka_unit_test(samples_without_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
