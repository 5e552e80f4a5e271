/*
 * A model of graphs (graph_tenant.h) trained through leat's public functions over the feed of
 * graphs: the same bits for any number of threads, also if the process is killed and resumed, and a
 * run that knows without its data what these have decided.
 */
/* TSan: micro-batches of graphs on a pool. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "graph_tenant.h"
#include "load/graph_support.h"
#include "train/run/run_reader.h"
#include "train_support.h"

/* Instead of the list in src/train/tasks/tasks.c. */
const leat_task *const leat_tasks[] = {&pooled_task, &pooled_benign_task, NULL};

enum { STEPS = 14 };

static pooled_row row_default(void) {
    pooled_row row;
    pooled_table()->set_defaults(&row);
    return row;
}

static leat_train_options options_of(const pooled_row *row, int32_t threads) {
    leat_train_options options = leat_train_options_default();
    options.settings = row;
    options.units = 2;
    options.unit_size = 3;
    options.micro_batch = 4;
    options.steps = STEPS;
    options.codec_up = LEAT_CODEC_BF16;
    options.checkpoint_every = 3;
    options.checkpoint_minutes = 0;
    options.threads = threads;
    return options;
}

static leat_train_result train(const char *model, const char *run,
                               const leat_train_options *options) {
    leat_train_result result;
    assert_ok(leat_train(model, graphs_stored, train_path(run), options, &result, err));
    return result;
}

/* ---- The same bits -------------------------------------------------------------------------- */

static void it_learns_with_the_same_bits(void **state) {
    static const char *const models[] = {"pooled", "pooled-benign"};
    const pooled_row row = row_default();
    (void)state;
    for (int m = 0; m < 2; m++) {
        const leat_train_options one = options_of(&row, 1), three = options_of(&row, 3);
        leat_run_metrics *metrics = NULL;
        leat_run *run = NULL;
        char names[2][40];
        snprintf(names[0], sizeof names[0], "%s-alone", models[m]);
        snprintf(names[1], sizeof names[1], "%s-many", models[m]);
        const leat_train_result alone = train(models[m], names[0], &one);
        const leat_train_result many = train(models[m], names[1], &three);
        assert_string_equal(alone.state, many.state);
        assert_string_equal(alone.run, many.run);
        assert_ok(leat_run_open(&run, train_path(names[0]), err));
        assert_ok(leat_run_metrics_load(&metrics, run, 100, err));
        assert_int_equal(metrics->point_count, STEPS);
        assert_true(metrics->points[STEPS - 1].values[0] < 0.5 * metrics->points[0].values[0]);
        leat_run_metrics_destroy(metrics);
        leat_run_close(run);
    }
}

/* Of 60 graphs 12 are attacks, and 48 benign ones in tiers of 16, of which an epoch has 1, 2, 3, 3:
 * graphs used after each. */
static const int64_t after[] = {28, 28 + 44, 28 + 44 + 60, 28 + 44 + 60 + 60};

/* A step is in the epoch of its last graph. */
static void check_epoch(void *user, const leat_train_step *step) {
    int64_t *steps = user;
    int epoch = 0;
    while (step->samples > after[epoch]) epoch++;
    assert_int_equal(step->epoch, epoch);
    (*steps)++;
}

/* The lines of epochs say where they ended, and no step has graphs of two. */
static void epochs_end_with_their_steps(void **state) {
    pooled_row row = row_default();
    leat_train_options options = options_of(&row, 1);
    (void)state;
    int64_t steps = 0;
    row.graphs.curriculum = LEAT_CURRICULUM_RANDOM;
    row.graphs.tiers = row.graphs.curriculum_epochs = 3;
    row.graphs.curriculum_end = 3;
    options.steps = 0;
    options.epochs = 4;
    options.stepped = check_epoch;
    options.user = &steps;
    const leat_train_result result = train("pooled", "epochs", &options);
    assert_int_equal(result.last_step, steps);
    int64_t size = 0, found = 0, step = 0, graphs = 0;
    char *text = train_read(train_path("epochs/metrics.jsonl"), &size), *end = text + size;
    for (char *at = text; at < end; at = strchr(at, '\n') + 1) {
        long long epoch = -1, its_step = 0, its_graphs = 0;
        if (sscanf(at, "{\"epoch\":%lld,\"step\":%lld,\"graphs\":%lld", &epoch, &its_step,
                   &its_graphs) != 3)
            continue;
        assert_int_equal(epoch, found);
        assert_int_equal(its_graphs, after[found++]);
        assert_true(its_step > step && its_graphs > graphs);
        step = its_step;
        graphs = its_graphs;
    }
    assert_int_equal(found, 4);
    leat_free(text);
}

/* ---- Killed, and resumed -------------------------------------------------------------------- */

static void die(void *user, const leat_train_step *step) {
    if (step->step == *(const int64_t *)user) raise(SIGKILL);
}

/* A process that is killed after a step, before its checkpoint is written. */
static void train_and_die(const char *run, leat_train_options options, int64_t step) {
    int status = 0;
    options.stepped = die;
    options.user = &step;
    const pid_t child = fork();
    if (child == 0) {
        leat_train_result result;
        _exit(leat_train("pooled", graphs_stored, run, &options, &result, NULL) == LEAT_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_run_that_was_killed_goes_on(void **state) {
    pooled_row row = row_default();
    (void)state;
    row.graphs.curriculum = LEAT_CURRICULUM_RANDOM; /* epochs of other lengths */
    row.graphs.tiers = row.graphs.curriculum_epochs = 3;
    row.graphs.curriculum_end = 3;
    leat_train_options options = options_of(&row, 1);
    const leat_train_result whole = train("pooled", "whole", &options);
    const char *run = train_path("killed");
    options.resume = true;
    for (int64_t step = 2; step < STEPS; step += 3) {
        options.threads = 1 + (int32_t)(step % 3);
        train_and_die(run, options, step);
    }
    const leat_train_result result = train("pooled", "killed", &options);
    assert_string_equal(result.state, whole.state);
    assert_true(result.first_step > 0 && result.first_step < STEPS);
}

/* ---- What the data have decided ------------------------------------------------------------- */

static void another_fingerprint(leat_can_meta *meta) { meta->digest[1] = '7'; }

static void a_run_knows_it_without_its_data(void **state) {
    pooled_row row = row_default();
    leat_train_options options = options_of(&row, 1);
    leat_trainer *trainer = NULL;
    leat_train_result result;
    leat_train_estimate estimate;
    leat_run *run = NULL;
    (void)state;
    const leat_train_result before = train("pooled", "settled", &options);
    assert_ok(leat_run_open(&run, train_path("settled"), err));
    assert_string_equal(leat_run_setting(run, "vocabulary"), "31");
    assert_int_equal(strtoll(leat_run_setting(run, "max-edges"), NULL, 10), 4 * 18);
    assert_true(strtoll(leat_run_setting(run, "max-nodes"), NULL, 10) > 0);
    assert_ok(leat_run_load(run, -1, 1, NULL, &trainer, NULL, err));
    assert_int_equal(leat_trainer_model(trainer)->sizes.parameters, 35 + 1 + 31);
    leat_trainer_destroy(trainer);
    leat_run_close(run);
    /* its own file of settings begins the same run again */
    leat_train_config *config = NULL;
    leat_train_options from_file = options_of(&row, 1);
    pooled_row of_file = row_default();
    char notes[100];
    assert_ok(leat_train_config_load(&config, train_path("settled/config.yaml"), "pooled",
                                     &from_file, &of_file, notes, sizeof notes, err));
    assert_int_equal(of_file.model.vocabulary, 31);
    result = train("pooled", "again", &from_file);
    assert_string_equal(result.run, before.run);
    assert_string_equal(result.state, before.state);
    leat_train_config_destroy(config);
    /* a plan settles the same */
    assert_ok(leat_train_plan("pooled", graphs_stored, &options, false, &estimate, err));
    assert_int_equal(estimate.parameters, 35 + 1 + 31);
    assert_true(estimate.memory_bytes > 0 && estimate.steps == STEPS && estimate.samples == 60);
}

static void other_data_are_refused(void **state) {
    pooled_row row = row_default();
    leat_train_options options = options_of(&row, 1);
    leat_train_result result;
    make_cache other = make_cache_default();
    char dir[256];
    (void)state;
    options.steps = 3;
    train("pooled", "resumed", &options);
    other.change_meta = another_fingerprint;
    graphs_make("other", &other, dir);
    options.resume = true;
    options.steps = STEPS;
    assert_fails(leat_train("pooled", dir, train_path("resumed"), &options, &result, err),
                 LEAT_ERR_OPTION, "the data set (fingerprint) is e700");
    row.model.max_nodes = 100;
    assert_fails(leat_train("pooled", graphs_stored, train_path("resumed"), &options, &result, err),
                 LEAT_ERR_OPTION, "max-nodes is 100 here, but the run began with ");
    row.model.max_nodes = 0;
    row.graphs.pack = LEAT_PACK_BUCKET;
    assert_fails(leat_train("pooled", graphs_stored, train_path("resumed"), &options, &result, err),
                 LEAT_ERR_OPTION, "pack is bucket here, but the run began with ffd");
    row.graphs.pack = LEAT_PACK_FFD;
    train("pooled", "resumed", &options);
    assert_fails(
        leat_train("pooled-benign", graphs_stored, train_path("resumed"), &options, &result, err),
        LEAT_ERR_OPTION, "the model is pooled-benign here");
}

/* A user is told of graphs that are not trained on. */
static void what_is_left_out_is_said(void **state) {
    pooled_row row = row_default();
    leat_train_options options = options_of(&row, 1);
    (void)state;
    row.graphs.oversize = LEAT_GRAPH_OVERSIZE_SKIP;
    row.model.max_nodes = 12;
    const leat_train_result result = train("pooled", "skipping", &options);
    assert_non_null(strstr(result.note, "of 60 graphs are left out: they have more than 12 nodes"));
}

static int teardown(void **state) {
    const int train = train_teardown(state), load = loader_teardown(state);
    return train != 0 ? train : load;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns_with_the_same_bits),
        cmocka_unit_test(epochs_end_with_their_steps),
        cmocka_unit_test(a_run_that_was_killed_goes_on),
        cmocka_unit_test(a_run_knows_it_without_its_data),
        cmocka_unit_test(other_data_are_refused),
        cmocka_unit_test(what_is_left_out_is_said),
    };
    return cmocka_run_group_tests(tests, graphs_setup, teardown);
}
