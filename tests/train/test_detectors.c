/*
 * The VGAE and the GAT as they are trained: the same state for any number of threads, of stored
 * features and of stored frames, and of a run that is killed anywhere and resumed; runs that end
 * early; what the data must have; and detector.json, which says what their scores need.
 */
/* TSan: micro-batches of graphs on a pool, and validation graphs. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "load/graph_support.h"
#include "train/run/session.h"
#include "train/step/exchange.h"
#include "train/tasks/graphs/detector.h"
#include "train/tasks/graphs/detector_tasks.h"
#include "train/tasks/graphs/graph_context.h"
#include "train_support.h"

static const char *const models[] = {"vgae", "gat"};
enum { MODELS = 2, EPOCHS = 2 };

/* The row's own defaults, on a cache of 60 graphs. */
static leat_train_options options_of(const char *model, int32_t threads) {
    leat_train_options options = leat_train_options_default();
    leat_train_options_suit(&options, model);
    options.micro_batch = 8;
    options.unit_size = 2;
    options.epochs = EPOCHS;
    options.checkpoint_minutes = 0;
    options.threads = threads;
    return options;
}

static leat_train_result train(const char *model, const char *cache, const char *run,
                               const leat_train_options *options) {
    leat_train_result result;
    assert_ok(leat_train(model, cache, train_path(run), options, &result, err));
    return result;
}

static const char *name_of(char out[60], const char *model, const char *what) {
    snprintf(out, 60, "%s-%s", model, what);
    return out;
}

/* ---- The same bits -------------------------------------------------------------------------- */

static void rows_have_their_defaults(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        leat_train_options options = leat_train_options_default(), same;
        const leat_setting_table *table = leat_train_model_options_table(models[m]);
        leat_train_options_suit(&options, models[m]);
        table->set_defaults(&same);
        assert_true(options.unit_size == 2 && options.micro_batch == 8 && options.units == 1);
        assert_true(options.sample_every == 1 && options.patience == (m == 0 ? 100 : 50));
        assert_memory_equal(&options, &same, sizeof same);
        assert_ok(leat_settings_check(table, &options, err));
    }
    leat_train_options options = leat_train_options_default();
    const leat_train_options before = options;
    leat_train_options_suit(&options, "dcgan");
    leat_train_options_suit(&options, "no such model");
    assert_memory_equal(&options, &before, sizeof before);
}

static leat_train_result alone[MODELS]; /* for the tests that follow */

static void they_learn_with_the_same_bits(void **state) {
    char name[60];
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        const leat_train_options one = options_of(models[m], 1), three = options_of(models[m], 3);
        alone[m] = train(models[m], graphs_stored, name_of(name, models[m], "alone"), &one);
        const leat_train_result many =
            train(models[m], graphs_framed, name_of(name, models[m], "many"), &three);
        assert_string_equal(alone[m].state, many.state);
        assert_true(alone[m].measured[0] == many.measured[0] && isfinite(many.measured[0]));
        assert_true(alone[m].best_step == many.best_step && many.best_step >= 0);
    }
}

/* ---- Killed, and resumed -------------------------------------------------------------------- */

static void die(void *user, const leat_train_step *step) {
    if (step->step == *(const int64_t *)user) raise(SIGKILL);
}

static void train_and_die(const char *model, const char *run, leat_train_options options,
                          int64_t step) {
    int status = 0;
    options.stepped = die;
    options.user = &step;
    const pid_t child = fork();
    if (child == 0) {
        leat_train_result result;
        _exit(leat_train(model, graphs_stored, run, &options, &result, NULL) == LEAT_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void killed_they_go_on(void **state) {
    char name[60], run[300];
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        leat_train_options options = options_of(models[m], 1);
        name_of(name, models[m], "killed");
        snprintf(run, sizeof run, "%s", train_path(name));
        options.resume = true;
        options.checkpoint_every = 2;
        for (int64_t step = 3; step < alone[m].last_step; step += 2) {
            options.threads = 1 + (int32_t)(step % 3);
            train_and_die(models[m], run, options, step);
        }
        const leat_train_result result = train(models[m], graphs_stored, name, &options);
        assert_string_equal(result.state, alone[m].state);
        assert_int_equal(result.best_step, alone[m].best_step);
        assert_true(result.first_step > 0);
    }
}

/* Weights that do not move are never better than those before. */
static void they_end_early(void **state) {
    leat_gat_row row = {.model = leat_gat_settings_default(),
                        .graphs = leat_graph_settings_default()};
    leat_train_options options = options_of("gat", 1);
    (void)state;
    row.model.learning_rate = 1e-30;
    options.settings = &row;
    options.epochs = 5;
    options.patience = 2;
    const leat_train_result result = train("gat", graphs_stored, "early", &options);
    assert_true(result.stopped_early && result.best_step == 0);
    assert_int_equal(result.last_step, alone[1].last_step); /* after as many epochs */
}

/* ---- Diverged -------------------------------------------------------------------------------- */

static void a_loss_that_is_not_finite_is_named(void **state) {
    static const char *const says[MODELS] = {"step 1: loss, loss_recon", "step 1: loss is not"};
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        const leat_train_options options = options_of(models[m], 1);
        leat_train_result result;
        leat_step_numbers numbers;
        leat_session session;
        assert_ok(leat_session_begin(&session, models[m], graphs_stored, &options, &result, err));
        leat_train_state *of = leat_trainer_state(session.trainer);
        const int64_t size = leat_trainer_model(session.trainer)->sizes.parameters;
        for (int64_t i = 0; i < size; i++) of->parameters[i] = 1e30f;
        assert_fails(leat_trainer_step(session.trainer, &numbers, err), LEAT_ERR_INPUT, says[m]);
        assert_true(of->step == 0);
        leat_session_close(&session);
    }
}

/* ---- What the data must have ---------------------------------------------------------------- */

static void all_benign(made_graphs *made) {
    for (int64_t g = 0; g < made->graphs; g++) made->y[g] = made->attack_type[g] = 0;
}
static void all_attacks(made_graphs *made) {
    for (int64_t g = 0; g < made->graphs; g++) made->y[g] = made->attack_type[g] = 1;
}

static void classes_that_are_missing(void **state) {
    make_cache of_cache = make_cache_default();
    const leat_train_options options = options_of("gat", 1);
    leat_train_result result;
    char benign[256], attacks[256];
    (void)state;
    of_cache.change = all_benign;
    graphs_make("benign", &of_cache, benign);
    of_cache.change = all_attacks;
    graphs_make("attacks", &of_cache, attacks);
    assert_fails(leat_train("gat", benign, train_path("none"), &options, &result, err),
                 LEAT_ERR_INPUT, "all 60 labelled graphs of the split train are benign");
    assert_fails(leat_train("gat", attacks, train_path("none"), &options, &result, err),
                 LEAT_ERR_INPUT, "all 60 labelled graphs of the split train are attacks");
    assert_fails(leat_train("vgae", attacks, train_path("none"), &options, &result, err),
                 LEAT_ERR_INPUT, "has no benign graph to train on");
    leat_train_options few = options_of("vgae", 1);
    few.steps = 1;
    few.epochs = 0;
    train("vgae", benign, "of-benign", &few);
}

static void scores_are_of_graphs_on_one_machine(void **state) {
    leat_train_options options = train_options(1);
    leat_train_result result;
    (void)state;
    options.scores = "scores.json";
    assert_fails(
        leat_train("dcgan", train_data(TRAIN_IMAGES), train_path("none"), &options, &result, err),
        LEAT_ERR_OPTION, "\"scores.json\": scores are of graphs");
    assert_fails(leat_exchange_check(leat_gat_task.model, &options, err), LEAT_ERR_OPTION,
                 "\"scores.json\": the scores of a curriculum are on this machine alone");
}

/* ---- detector.json -------------------------------------------------------------------------- */

/* A run of one step, on a cache. */
static const char *run_of(const char *name, const char *cache) {
    leat_train_options options = options_of("vgae", 1);
    options.epochs = 0;
    options.steps = 1;
    options.sample_every = 0;
    train("vgae", cache, name, &options);
    return train_path(name);
}

/* What is read has the same bytes when it is written. */
static bool is_same(const leat_graph_context *context, const char *text, int64_t size_bytes) {
    int64_t size = 0;
    assert_ok(leat_graph_context_save(context, train_path(""), err));
    char *again = train_read(train_path("detector.json"), &size);
    const bool same = size == size_bytes && memcmp(text, again, (size_t)size) == 0;
    leat_free(again);
    return same;
}

static void the_context_is_kept(void **state) {
    leat_graph_context *context = NULL;
    leat_can_cache *cache = graphs_open(graphs_stored);
    make_cache options = make_cache_default();
    made_graphs made = make_graphs(0, &options);
    int64_t frames[MAKE_VOCAB + 1] = {0}, size = 0, windows = 0;
    double seconds = 0;
    (void)state;
    assert_ok(leat_graph_context_load(&context, train_path("vgae-alone"), err));
    assert_int_equal(context->window, 20);
    assert_int_equal(context->identifier_count, MAKE_VOCAB);
    for (int64_t g = 0; g < made.graphs; g++) { /* counted again */
        double gaps = 0;
        if (made.y[g] != 0) continue;
        for (int64_t i = made.node_ptr[g]; i < made.node_ptr[g + 1]; i++)
            frames[made.node_id[i]] +=
                (int64_t)made.x[i * LEAT_NODE_FEATURES + LEAT_NODE_MSG_COUNT];
        for (int64_t i = made.edge_ptr[g]; i < made.edge_ptr[g + 1]; i++)
            gaps += (double)made.edge_attr[i * LEAT_EDGE_FEATURES + LEAT_EDGE_IAT];
        seconds += gaps / (double)(made.edge_ptr[g + 1] - made.edge_ptr[g]) * 20;
        windows++;
    }
    assert_int_equal(context->benign_windows, windows);
    assert_true(fabs(context->benign_seconds - seconds) <= 1e-9 * seconds);
    for (int i = 0; i < MAKE_VOCAB; i++) {
        const leat_graph_identifier *of = &context->identifiers[i];
        assert_int_equal(of->frames, frames[i + 1]);
        assert_string_equal(of->text, leat_can_cache_identifier(cache, i));
        if (of->frames > 0)
            assert_true(fabs(of->interval_s * (double)of->frames - seconds) <= 1e-9 * seconds);
        else assert_true(isnan(of->interval_s));
    }
    assert_ok(leat_graph_context_compare(context, cache, err));
    /* the same bytes each time, also of what was read */
    char *text = train_read(train_path("vgae-alone/detector.json"), &size);
    assert_true(is_same(context, text, size));
    leat_free(text);
    leat_graph_context_destroy(context);
    leat_can_cache_close(cache);
    made_graphs_free(&made);
}

/* Each byte that is flipped, cut or missing is found, or it is the last digit of a number that has
 * more than it takes. */
static void a_damaged_one_is_refused(void **state) {
    leat_graph_context *context = NULL;
    char path[300], run[300];
    int64_t size = 0;
    (void)state;
    snprintf(run, sizeof run, "%s", run_of("damaged", graphs_stored));
    snprintf(path, sizeof path, "%s/detector.json", run);
    char *text = train_read(path, &size);
    for (int64_t i = 0; i < size; i += 11) {
        const char was = text[i];
        if (was == ' ' || was == '\n') continue;
        text[i] ^= 1;
        assert_ok(leat_file_save(path, text, size, err));
        leat_error why = {0};
        const leat_code code = leat_graph_context_load(&context, run, &why);
        text[i] = was;
        if (code == LEAT_OK && is_same(context, text, size)) {
            leat_graph_context_destroy(context);
            continue;
        }
        if (code != LEAT_ERR_CORRUPT && code != LEAT_ERR_UNSUPPORTED)
            fail_msg("byte %lld: %d %s", (long long)i, (int)code, why.message);
    }
    for (int64_t cut = 0; cut < size - 2; cut += 211) {
        assert_ok(leat_file_save(path, text, cut, err));
        assert_fails(leat_graph_context_load(&context, run, err), LEAT_ERR_CORRUPT, "is damaged: ");
    }
    /* a run is not resumed with it; without it, it is written again */
    leat_train_options options = options_of("vgae", 1);
    leat_train_result result;
    options.resume = true;
    assert_fails(leat_train("vgae", graphs_stored, run, &options, &result, err), LEAT_ERR_CORRUPT,
                 "detector.json\" is damaged: ");
    assert_int_equal(unlink(path), 0);
    assert_fails(leat_graph_context_load(&context, run, err), LEAT_ERR_NOT_FOUND, "is missing");
    assert_ok(leat_train("vgae", graphs_stored, run, &options, &result, err));
    int64_t again_size = 0;
    char *again = train_read(path, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(text, again, (size_t)size);
    leat_free(again);
    leat_free(text);
}

/* Whole, but of another cache, or something that is no file: neither trains nor scores. */
static void a_foreign_one_is_refused(void **state) {
    leat_graph_context *context = NULL;
    leat_can_cache *framed = graphs_open(graphs_framed);
    leat_detector *detector = NULL;
    leat_train_options options = options_of("vgae", 1);
    leat_train_result result;
    char run[300], path[320];
    (void)state;
    snprintf(run, sizeof run, "%s", run_of("foreign", graphs_stored));
    snprintf(path, sizeof path, "%s/detector.json", run);
    assert_ok(leat_graph_context_make(&context, framed, err));
    assert_ok(leat_graph_context_count(context, framed, err));
    assert_ok(leat_graph_context_save(context, run, err));
    leat_graph_context_destroy(context);
    leat_can_cache_close(framed);
    options.resume = true;
    assert_fails(leat_train("vgae", graphs_stored, run, &options, &result, err), LEAT_ERR_CORRUPT,
                 "is of the cache f000000000000000..., but the run was trained on e00000");
    assert_fails(leat_detector_open(&detector, run, -1, LEAT_WINDOW_SCORE_RESIDUAL, NULL, err),
                 LEAT_ERR_CORRUPT, "but the run was trained on e000000000000000...; restore it");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(leat_graph_context_load(&context, run, err), LEAT_ERR_CORRUPT, "it is not a file");
    assert_int_equal(unlink(path), 0);
    assert_ok(leat_path_make_dir(path, err));
    assert_fails(leat_graph_context_load(&context, run, err), LEAT_ERR_CORRUPT, "it is not a file");
}

/* A calibration that is a link, whatever its step. */
static void linked_calibrations_are_refused(void **state) {
    leat_train_options options = options_of("vgae", 1);
    leat_train_result result;
    char run[300], path[360];
    (void)state;
    snprintf(run, sizeof run, "%s", run_of("linked", graphs_stored));
    snprintf(path, sizeof path, "%s/calibration-000000009.safetensors", run);
    assert_int_equal(symlink("elsewhere", path), 0);
    options.resume = true;
    assert_fails(leat_train("vgae", graphs_stored, run, &options, &result, err), LEAT_ERR_INPUT,
                 "calibration-000000009.safetensors\" is a link, and training would write to its");
    assert_int_equal(unlink(path), 0);
}

static void another_name(leat_can_meta *meta) {
    snprintf(meta->ids.text[7], sizeof meta->ids.text[7], "%s", "1065");
}
static void one_less(leat_can_meta *meta) { meta->ids.known--; }
static void another_center(leat_can_meta *meta) { meta->scaler.x_center[3] += 1e-9; }
static void another_scale(leat_can_meta *meta) { meta->scaler.edge_scale[10] *= 2; }
static void another_payload(leat_can_meta *meta) {
    snprintf(meta->preset, sizeof meta->preset, "reference");
    assert_ok(leat_can_meta_set(meta, "payload", "lenient", err));
}
static void merged_buses(leat_can_meta *meta) {
    assert_ok(leat_can_meta_set(meta, "bus", "merge", err));
}
static void one_bus(leat_can_meta *meta) { assert_ok(leat_can_meta_set(meta, "bus", "3", err)); }

static void other_caches_are_refused(void **state) {
    static const struct {
        int64_t window;
        bool own_step;
        void (*change)(leat_can_meta *meta);
        const char *words; /* NULL: its graphs mean the same */
    } cases[] = {
        {16, false, NULL, "windows of 16 frames, but the run was trained on windows of 20"},
        {20, true, NULL, "edge-step is own (preset default), but the run was trained on a cache"},
        {20, false, another_payload, "payload is lenient (preset reference), but the run was"},
        {20, false, merged_buses, "bus is merge (preset default), but"},
        {20, false, one_bus, NULL},
        {20, false, another_name, "number 8 is 1065 here, and 107 there"},
        {20, false, one_less, "its vocabulary of 29 identifiers is not the one of 30"},
        {20, false, another_center, "the center of byte_3_mean is "},
        {20, false, another_scale, "the scale of "},
    };
    leat_graph_context *context = NULL;
    (void)state;
    assert_ok(leat_graph_context_load(&context, train_path("vgae-alone"), err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_cache options = make_cache_default();
        char name[20], dir[256];
        options.window = cases[i].window;
        options.own_step = cases[i].own_step;
        options.change_meta = cases[i].change;
        snprintf(name, sizeof name, "other-%d", (int)i);
        graphs_make(name, &options, dir);
        leat_can_cache *cache = graphs_open(dir);
        if (cases[i].words == NULL) assert_ok(leat_graph_context_compare(context, cache, err));
        else
            assert_fails(leat_graph_context_compare(context, cache, err), LEAT_ERR_OPTION,
                         cases[i].words);
        leat_can_cache_close(cache);
    }
    leat_can_cache *framed = graphs_open(graphs_framed); /* another cache of the same graphs */
    assert_ok(leat_graph_context_compare(context, framed, err));
    leat_can_cache_close(framed);
    leat_graph_context_destroy(context);
}

static int teardown(void **state) {
    const int train = train_teardown(state), load = loader_teardown(state);
    return train != 0 ? train : load;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_their_defaults),
        cmocka_unit_test(they_learn_with_the_same_bits),
        cmocka_unit_test(killed_they_go_on),
        cmocka_unit_test(they_end_early),
        cmocka_unit_test(a_loss_that_is_not_finite_is_named),
        cmocka_unit_test(classes_that_are_missing),
        cmocka_unit_test(scores_are_of_graphs_on_one_machine),
        cmocka_unit_test(the_context_is_kept),
        cmocka_unit_test(a_damaged_one_is_refused),
        cmocka_unit_test(a_foreign_one_is_refused),
        cmocka_unit_test(linked_calibrations_are_refused),
        cmocka_unit_test(other_caches_are_refused),
    };
    return cmocka_run_group_tests(tests, graphs_setup, teardown);
}
