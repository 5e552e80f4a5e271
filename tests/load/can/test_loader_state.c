/*
 * Loaders of graphs that stop and go on: from every step, by state, file or place, with other
 * threads and hosts; damage, which fails the steps that need it and no others; a process that
 * forks; and no allocation once all is there.
 */
/* TSan: a ring is parked and moved to a saved state. */
#include "graph_support.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/sink.h"
#include "calls.h"
#include "check.h"
#include "load/can/loader.h"

/* ---- the run that all others must be ------------------------------------------------------------
 */

enum { STEPS_MAX = 64 };
typedef struct whole_run {
    int steps;
    char lines[STEPS_MAX][96]; /* of the hash */
    int64_t place[STEPS_MAX + 1][2];
    char state[STEPS_MAX + 1][LEAT_LOADER_STATE_BYTES]; /* before each step, and behind the last */
} whole_run;

static void line_of(const leat_graph_batch *batch, char line[96]) {
    leat_batch_hash *hash = NULL;
    leat_textbuf *lines = NULL;
    const char *words = NULL;
    int64_t size = 0;
    leat_error err = {0};
    must(leat_batch_hash_create(&hash, &err), &err);
    must(leat_textbuf_create(&lines, &err), &err);
    leat_batch_hash_add_graphs(hash, batch, lines);
    must(leat_textbuf_finish(lines, &words, &size, &err), &err);
    snprintf(line, 96, "%s", words);
    leat_textbuf_destroy(lines);
    leat_batch_hash_destroy(hash);
}

static whole_run run_whole(const leat_can_cache *cache, const leat_graph_loader_options *options) {
    whole_run run = {0};
    leat_graph_loader *loader = graphs_create(cache, options);
    for (;; run.steps++) {
        assert_true(run.steps < STEPS_MAX);
        leat_graph_loader_place(loader, &run.place[run.steps][0], &run.place[run.steps][1]);
        leat_graph_loader_state(loader, run.state[run.steps]);
        const leat_graph_batch *batch = graphs_next(loader);
        if (batch == NULL) break;
        line_of(batch, run.lines[run.steps]);
        leat_graph_batch_release(batch);
    }
    leat_graph_loader_destroy(loader);
    return run;
}

/* From where the loader is, step `first`, on to the end; host h of hosts. */
static void expect_rest(leat_graph_loader *loader, const whole_run *run, int first, int h,
                        int hosts) {
    char line[96];
    for (int step = first; step < run->steps;) {
        int64_t epoch = run->place[step][0];
        int count = 0;
        while (step + count < run->steps && run->place[step + count][0] == epoch && count < hosts)
            count++;
        const leat_graph_batch *batch = graphs_next(loader);
        assert_non_null(batch);
        line_of(batch, line);
        assert_string_equal(line, h < count ? run->lines[step + h] : "");
        leat_graph_batch_release(batch);
        step += count;
    }
    assert_null(graphs_next(loader));
}

/* ---- going on -----------------------------------------------------------------------------------
 */

/* Killed before any step: a new loader goes on with the same bytes, whatever makes them. */
static void resume(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    whole_run run = run_whole(cache, &options);
    assert_true(run.steps > 20);
    assert_int_equal(run.place[run.steps][0], 3);
    assert_int_equal(run.place[run.steps][1], 0);
    for (int step = 0; step <= run.steps; step++) {
        assert_true(strlen(run.state[step]) < LEAT_LOADER_STATE_BYTES);
        for (int c = 0; c < 4; c++) {
            leat_graph_loader_options other = options;
            char text[LEAT_LOADER_STATE_BYTES];
            leat_error err = {0};
            other.threads = 1 + c;
            other.prefetch = c - 1;
            leat_graph_loader *loader = graphs_create(cache, &other);
            for (int i = 0; i < c * 3; i++) leat_graph_batch_release(graphs_next(loader));
            must(leat_graph_loader_restore(loader, run.state[step], &err), &err);
            leat_graph_loader_state(loader, text);
            assert_string_equal(text, run.state[step]);
            expect_rest(loader, &run, step, 0, 1);
            must(leat_graph_loader_seek(loader, run.place[step][0], run.place[step][1], &err),
                 &err);
            expect_rest(loader, &run, step, 0, 1);
            leat_graph_loader_destroy(loader);
        }
    }
    leat_can_cache_close(cache);
}

/* With other hosts, where their number divides the place. */
static void resume_with_hosts(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    whole_run run = run_whole(cache, &options);
    for (options.host_count = 2; options.host_count < 5; options.host_count++) {
        for (int step = 0; step <= run.steps; step++) {
            for (int h = 0; h < options.host_count; h++) {
                leat_error err = {0};
                options.host_index = h;
                leat_graph_loader *loader = graphs_create(cache, &options);
                leat_code code = leat_graph_loader_restore(loader, run.state[step], &err);
                bool fits = run.place[step][1] % options.host_count == 0;
                assert_int_equal(code, fits ? LEAT_OK : LEAT_ERR_OPTION);
                if (!fits) assert_non_null(strstr(err.message, "hosts cannot resume at batch"));
                expect_rest(loader, &run, fits ? step : 0, h, (int)options.host_count);
                leat_graph_loader_destroy(loader);
            }
        }
    }
    leat_can_cache_close(cache);
}

/* The hosts of a run tell the same state, right for one host too. */
static void hosts_agree(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    whole_run run = run_whole(cache, &options);
    leat_graph_loader *loaders[3];
    options.host_count = 3;
    for (int h = 0; h < 3; h++) {
        options.host_index = h;
        loaders[h] = graphs_create(cache, &options);
    }
    for (bool more = true; more;) {
        char text[3][LEAT_LOADER_STATE_BYTES];
        int64_t epoch = 0, batch = 0;
        for (int h = 0; h < 3; h++) {
            leat_graph_loader_state(loaders[h], text[h]);
            assert_string_equal(text[h], text[0]);
            const leat_graph_batch *given = graphs_next(loaders[h]);
            more = given != NULL;
            leat_graph_batch_release(given);
        }
        int found = 0;
        for (int step = 0; step <= run.steps; step++) found += !strcmp(text[0], run.state[step]);
        assert_int_equal(found, 1);
        leat_graph_loader_place(loaders[0], &epoch, &batch);
        assert_int_equal(batch % 3, 0);
    }
    for (int h = 0; h < 3; h++) leat_graph_loader_destroy(loaders[h]);
    leat_can_cache_close(cache);
}

static void saved(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    whole_run run = run_whole(cache, &options);
    char path[400];
    leat_error err = {0};
    snprintf(path, sizeof path, "%s/state.json", loader_folder());
    leat_graph_loader *loader = graphs_create(cache, &options);
    for (int i = 0; i < 9; i++) leat_graph_batch_release(graphs_next(loader));
    must(leat_graph_loader_save(loader, path, true, &err), &err);
    leat_graph_loader_destroy(loader);
    loader = graphs_create(cache, &options);
    must(leat_graph_loader_load(loader, path, &err), &err);
    expect_rest(loader, &run, 9, 0, 1);
    leat_graph_loader_destroy(loader);
    options.batches.max_nodes = 61;
    loader = graphs_create(cache, &options);
    assert_int_equal(leat_graph_loader_load(loader, path, &err), LEAT_ERR_INPUT);
    assert_non_null(strstr(err.message, "max-nodes was 60 when the state was saved and is 61 now"));
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* A run with another filter is another run, and the file says with which one it was saved. */
static void filters(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    static const char *const words[] = {"all", "benign", "attack"};
    char path[400], said[120];
    snprintf(path, sizeof path, "%s/filter.json", loader_folder());
    for (int saved = 0; saved < 3; saved++) {
        for (int now = 0; now < 3; now++) {
            leat_error err = {0};
            options.batches.graphs = (leat_graph_filter)saved;
            whole_run run = run_whole(cache, &options);
            leat_graph_loader *loader = graphs_create(cache, &options);
            for (int i = 0; i < 3; i++) leat_graph_batch_release(graphs_next(loader));
            must(leat_graph_loader_save(loader, path, true, &err), &err);
            leat_graph_loader_destroy(loader);
            options.batches.graphs = (leat_graph_filter)now;
            loader = graphs_create(cache, &options);
            leat_code code = leat_graph_loader_load(loader, path, &err);
            assert_int_equal(code, saved == now ? LEAT_OK : LEAT_ERR_INPUT);
            snprintf(said, sizeof said, "graphs was %s when the state was saved and is %s now",
                     words[saved], words[now]);
            if (code == LEAT_OK) expect_rest(loader, &run, 3, 0, 1);
            else assert_non_null(strstr(err.message, said));
            leat_graph_loader_destroy(loader);
        }
    }
    leat_can_cache_close(cache);
}

/* More epochs, or no end, are no other run; nor is a curriculum of another length the same. */
static void more_epochs(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    whole_run run = run_whole(cache, &options);
    leat_error err = {0};
    options.batches.epochs = 0;
    leat_graph_loader *loader = graphs_create(cache, &options);
    must(leat_graph_loader_restore(loader, run.state[run.steps], &err), &err);
    for (int i = 0; i < 100; i++) {
        const leat_graph_batch *batch = graphs_next(loader);
        assert_true(batch->epoch >= 3);
        leat_graph_batch_release(batch);
    }
    must(leat_graph_loader_seek(loader, 1000000, 2, &err), &err);
    const leat_graph_batch *batch = graphs_next(loader);
    assert_int_equal(batch->epoch, 1000000);
    assert_int_equal(batch->batch, 2);
    leat_graph_batch_release(batch);
    must(leat_graph_loader_restore(loader, run.state[4], &err), &err);
    options.batches.epochs = 2;
    leat_graph_loader *shorter = graphs_create(cache, &options);
    assert_int_equal(leat_graph_loader_restore(shorter, run.state[run.steps], &err),
                     LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "epochs are 0 to 2"));
    leat_graph_loader_destroy(shorter);
    options.batches.curriculum = LEAT_CURRICULUM_RANDOM;
    shorter = graphs_create(cache, &options);
    char text[LEAT_LOADER_STATE_BYTES];
    leat_graph_loader_state(shorter, text);
    leat_graph_loader_destroy(shorter);
    options.batches.epochs = 4;
    shorter = graphs_create(cache, &options);
    assert_int_equal(leat_graph_loader_restore(shorter, text, &err), LEAT_ERR_INPUT);
    leat_graph_loader_destroy(shorter);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

static void states_refused(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    whole_run run = run_whole(cache, &options);
    leat_graph_loader *loader = graphs_create(cache, &options);
    static const struct {
        const char *from, *to, *words;
        leat_code code;
    } cases[] = {
        {"\"v\":1", "\"v\":2", "version", LEAT_ERR_INPUT},
        {"\"data\":\"e", "\"data\":\"f", "data", LEAT_ERR_INPUT},
        {"\"seed\":11", "\"seed\":12", "seed", LEAT_ERR_INPUT},
        {"\"options\":\"", "\"options\":\"x", "options", LEAT_ERR_INPUT},
        {"\"epoch\":0", "\"epoch\":-1", "epoch", LEAT_ERR_INPUT},
        {"\"epoch\":0", "\"epoch\":4", "epochs are 0 to 3", LEAT_ERR_OPTION},
        {"\"epoch\":0", "\"epoch\":3", "no batch 1: epoch 3 has 0", LEAT_ERR_OPTION},
        {"\"epoch\":0", "\"step\":0", "epoch", LEAT_ERR_INPUT},
        {"\"batch\":1", "\"batch\":1000", "no batch 1000: epoch 0 has", LEAT_ERR_OPTION},
        {"\"batch\":1", "\"batch\":4294967297", "batch", LEAT_ERR_INPUT},
        {"{", "[", "", LEAT_ERR_INPUT},
        {"}", "", "", LEAT_ERR_INPUT},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char text[600];
        leat_error err = {0};
        const char *at = strstr(run.state[1], cases[c].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - run.state[1]), run.state[1], cases[c].to,
                 at + strlen(cases[c].from));
        assert_int_equal(leat_graph_loader_restore(loader, text, &err), cases[c].code);
        if (strstr(err.message, cases[c].words) == NULL) fail_msg("%s", err.message);
    }
    expect_rest(loader, &run, 0, 0, 1); /* none of them moved it */
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* A state that an older leat saved, which does not name the rules of its plan. */
static void older_states(void **state) {
    (void)state;
    static const char rules[] = ",\"plan\":2";
    leat_can_cache *cache = graphs_open(graphs_stored);
    int refused = 0, accepted = 0;
    for (int64_t nodes = 20; nodes < 140; nodes += 3) {
        leat_graph_loader_options options = graphs_options();
        options.batches.max_nodes = nodes;
        options.batches.max_edges = nodes % 2 == 0 ? 0 : 200;
        leat_graph_loader *loader = graphs_create(cache, &options);
        char text[LEAT_LOADER_STATE_BYTES], older[LEAT_LOADER_STATE_BYTES + 1];
        leat_graph_epoch epoch = {0};
        leat_error err = {0};
        leat_graph_loader_state(loader, text);
        char *at = strstr(text, rules);
        assert_non_null(at);
        snprintf(older, sizeof older, "%.*s%s", (int)(at - text), text, at + strlen(rules));
        must(leat_graph_loader_restore(loader, older, &err), &err); /* at batch 0 of any epoch */
        leat_graph_batch_release(graphs_next(loader));
        leat_graph_loader_state(loader, text);
        at = strstr(text, rules);
        assert_non_null(at);
        snprintf(older, sizeof older, "%.*s%s", (int)(at - text), text, at + strlen(rules));
        must(leat_graph_plan_again(loader, 0, &epoch, &err), &err);
        leat_code code = leat_graph_loader_restore(loader, older, &err);
        assert_int_equal(code, epoch.dealt_again ? LEAT_ERR_INPUT : LEAT_OK);
        if (code == LEAT_OK) accepted++;
        else refused += strstr(err.message, "by seeking to its batch 0") != NULL;
        must(leat_graph_loader_restore(loader, text, &err), &err);
        must(leat_graph_loader_seek(loader, 0, 0, &err), &err);
        snprintf(older, sizeof older, "%.*s,\"plan\":3%s", (int)(at - text), text,
                 at + strlen(rules));
        assert_int_equal(leat_graph_loader_restore(loader, older, &err), LEAT_ERR_INPUT);
        assert_non_null(strstr(err.message, "use a newer version"));
        leat_graph_epoch_free(&epoch);
        leat_graph_loader_destroy(loader);
    }
    if (refused == 0 || accepted == 0) fail_msg("%d, %d", refused, accepted);
    leat_can_cache_close(cache);
}

/* ---- damage -------------------------------------------------------------------------------------
 */

/* A page where some graph's features lie: just the steps that need it fail, each time. */
static void damage_at(const char *dir, int64_t page) {
    leat_graph_loader_options options = graphs_options();
    leat_can_cache *cache = graphs_open(dir);
    whole_run run = run_whole(cache, &options);
    leat_can_cache_close(cache);
    loader_flip(dir, "train.safetensors", page * LEAT_PAGE_BYTES + 1000, 3);
    int failed_before = -1;
    for (options.threads = 1; options.threads <= 3; options.threads++) {
        int failed = 0;
        cache = graphs_open(dir);
        leat_graph_loader *loader = graphs_create(cache, &options);
        for (int step = 0; step < run.steps; step++) {
            const leat_graph_batch *batch = (const leat_graph_batch *)1;
            leat_error err = {0}, again = {0};
            char line[96], words[64];
            if (leat_graph_loader_next(loader, &batch, &err) == LEAT_OK) {
                line_of(batch, line);
                assert_string_equal(line, run.lines[step]);
                leat_graph_batch_release(batch);
                continue;
            }
            failed++;
            assert_null(batch);
            assert_int_equal(err.code, LEAT_ERR_CORRUPT);
            snprintf(words, sizeof words, "epoch %lld, batch %lld, train graph ",
                     (long long)run.place[step][0], (long long)run.place[step][1]);
            assert_non_null(strstr(err.message, words));
            snprintf(words, sizeof words, "page at byte %lld", (long long)page * LEAT_PAGE_BYTES);
            assert_non_null(strstr(err.message, words));
            assert_int_equal(leat_graph_loader_next(loader, &batch, &again), LEAT_ERR_CORRUPT);
            assert_string_equal(err.message, again.message);
            must(leat_graph_loader_seek(loader, run.place[step + 1][0], run.place[step + 1][1],
                                        NULL),
                 NULL);
        }
        assert_true(failed >= 3); /* each graph comes once an epoch */
        if (failed_before >= 0) assert_int_equal(failed, failed_before);
        failed_before = failed;
        leat_graph_loader_destroy(loader);
        leat_can_cache_close(cache);
    }
    loader_flip(dir, "train.safetensors", page * LEAT_PAGE_BYTES + 1000, 3);
}

static void damage(void **state) {
    (void)state;
    damage_at(graphs_stored, 12);
    damage_at(graphs_framed, 6);
}

/* The file cut behind the back of a loader that has it mapped. */
static void cut_while_open(void **state) {
    (void)state;
    make_cache of_cache = make_cache_default();
    made_graphs made = make_graphs(0, &of_cache);
    leat_graph_loader_options options = graphs_options();
    char dir[256], path[400];
    int failed = 0;
    graphs_make("cut", &of_cache, dir);
    snprintf(path, sizeof path, "%s/train.safetensors", dir);
    leat_can_cache *cache = graphs_open(dir);
    leat_graph_loader *loader = graphs_create(cache, &options);
    leat_graph_batch_release(graphs_next(loader));
    assert_int_equal(truncate(path, INT64_C(12) * LEAT_PAGE_BYTES), 0);
    for (int64_t e = 1; e < 3; e++) {
        leat_graph_epoch_facts facts;
        must(leat_graph_loader_get_epoch(loader, e, &facts, NULL), NULL);
        for (int64_t b = 0; b < facts.batch_count; b++) {
            const leat_graph_batch *batch = NULL;
            leat_error err = {0};
            must(leat_graph_loader_seek(loader, e, b, NULL), NULL);
            leat_code code = leat_graph_loader_next(loader, &batch, &err);
            if (code == LEAT_OK) graphs_expect(&made, options.scale, batch);
            else assert_int_equal(code, LEAT_ERR_IO);
            failed += code != LEAT_OK;
            leat_graph_batch_release(batch);
        }
    }
    assert_true(failed > 3);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
    made_graphs_free(&made);
}

/* ---- the process --------------------------------------------------------------------------------
 */

static void forked(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    leat_graph_loader *loader = graphs_create(cache, &options);
    leat_graph_batch_release(graphs_next(loader));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    ring_rests(loader->ring); /* locks of this sanitizer's heap do not survive a fork */
#endif
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(120); /* no hang */
        const leat_graph_batch *batch = NULL;
        leat_graph_loader *other = NULL;
        leat_graph_explanation *told = NULL;
        leat_graph_epoch_facts facts;
        bool good = leat_graph_loader_next(loader, &batch, NULL) == LEAT_ERR_OPTION;
        good &= leat_graph_loader_seek(loader, 0, 0, NULL) == LEAT_ERR_OPTION;
        good &= leat_graph_loader_restore(loader, "{}", NULL) == LEAT_ERR_OPTION;
        good &= leat_graph_loader_explain(loader, 0, 0, &told, NULL) == LEAT_ERR_OPTION;
        good &= leat_graph_loader_get_epoch(loader, 0, &facts, NULL) == LEAT_ERR_OPTION;
        good &= leat_graph_loader_create(&other, cache, &options, NULL) == LEAT_ERR_OPTION;
        good &= leat_graph_loader_wait(loader, -1);
        leat_graph_loader_destroy(loader);
        _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    leat_graph_batch_release(graphs_next(loader)); /* goes on here */
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* Once every buffer is there nothing is allocated, and a lock is taken once an epoch. */
static void steady(void **state) {
    (void)state;
#if COUNTS
    for (int c = 0; c < 2; c++) {
        leat_can_cache *cache = graphs_open(c == 0 ? graphs_stored : graphs_framed);
        leat_graph_loader_options options = graphs_options();
        options.batches.epochs = 0;
        options.threads = 3;
        leat_graph_loader *loader = graphs_create(cache, &options);
        const leat_graph_batch *held = NULL;
        for (int i = 0; i < 2000; i++) {
            const leat_graph_batch *batch = graphs_next(loader);
            leat_graph_batch_release(held);
            held = batch;
        }
        long locked = atomic_load(&locks), allocated = atomic_load(&allocations);
        assert_true(locked > 0 && allocated > 0); /* both are counted at all */
        int64_t epoch = held->epoch;
        for (int i = 0; i < 500; i++) {
            const leat_graph_batch *batch = NULL;
            if (leat_graph_loader_next(loader, &batch, NULL) != LEAT_OK) fail_msg("step %d", i);
            leat_graph_batch_release(held);
            held = batch;
        }
        assert_true(atomic_load(&locks) - locked <= held->epoch - epoch + 3);
        assert_int_equal(atomic_load(&allocations) - allocated, 0);
        leat_graph_batch_release(held);
        leat_graph_loader_destroy(loader);
        leat_can_cache_close(cache);
    }
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume),         cmocka_unit_test(resume_with_hosts),
        cmocka_unit_test(hosts_agree),    cmocka_unit_test(saved),
        cmocka_unit_test(more_epochs),    cmocka_unit_test(states_refused),
        cmocka_unit_test(older_states),   cmocka_unit_test(damage),
        cmocka_unit_test(cut_while_open), cmocka_unit_test(forked),
        cmocka_unit_test(steady),         cmocka_unit_test(filters),
    };
    return cmocka_run_group_tests(tests, graphs_setup, loader_teardown);
}
