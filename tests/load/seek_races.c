/*
 * Both loaders moved about while their threads fill slots: seeks, refused ones too, to any place
 * and to the end, between batches that are taken, held and let go by another thread; while a third
 * one looks at counters, places and epochs; with damaged pages, so that steps fail while others are
 * sought; loaders destroyed while they fill. Whatever was done before, the next batch must be the
 * one that a loader just opened at that place makes. For the thread sanitizer too.
 */
#include "seek_races.h"

#include <pthread.h>

#include "graph_support.h"

enum { HELD = 5, PLACES_MAX = 160, LINE = 96, TOKEN_STEPS = 24, DAMAGED_PAGE = 12 };

static int moves; /* of each configuration */
static uint64_t draw_state;

/* SplitMix64. */
static int64_t draw(int64_t below) {
    uint64_t z = draw_state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (int64_t)((z ^ z >> 31) % (uint64_t)below);
}

/* ---- a thread that lets go, a thread that looks -------------------------------------------------
 */

/* One batch at a time, let go by whoever is `releaser`; NULL: there is room for one. */
static _Atomic(const void *) to_release;
static atomic_bool is_over;
static bool of_graphs;

static void release(const void *batch) {
    if (of_graphs) leat_graph_batch_release(batch);
    else leat_batch_release(batch);
}

static void *releaser_main(void *unused) {
    (void)unused;
    for (;;) {
        bool last = atomic_load(&is_over);
        const void *batch = atomic_exchange(&to_release, NULL);
        if (batch != NULL) release(batch);
        else if (last) return NULL;
        else sched_yield();
    }
}

static void release_somewhere(const void *batch) {
    const void *none = NULL;
    if (batch == NULL) return;
    if (draw(2) == 0 || !atomic_compare_exchange_strong(&to_release, &none, batch)) release(batch);
}

typedef struct looking {
    pthread_t thread;
    atomic_bool stopped;
    void *loader;
    int64_t looks;
    bool odd; /* what was seen cannot be */
} looking;

static void look_at_graphs(looking *look) {
    char text[LEAT_LOADER_STATE_BYTES];
    leat_graph_loader_counters counters;
    leat_graph_epoch_facts facts;
    int64_t epoch, batch;
    leat_graph_loader_place(look->loader, &epoch, &batch);
    leat_graph_loader_state(look->loader, text);
    leat_graph_loader_get_counters(look->loader, &counters);
    look->odd |= epoch < 0 || batch < 0 || counters.stall_ns < 0 || counters.work_ns < 0;
    if (look->looks++ % 16 != 0) return;
    look->odd |=
        leat_graph_loader_get_epoch(look->loader, look->looks / 16 % 3, &facts, NULL) != LEAT_OK;
}

static void look_at_tokens(looking *look) {
    char text[LEAT_LOADER_STATE_BYTES];
    leat_loader_counters counters;
    leat_loader_state(look->loader, text);
    leat_loader_get_counters(look->loader, &counters);
    look->odd |= leat_loader_step(look->loader) < 0;
    look->odd |= counters.stall_ns < 0 || counters.work_ns < 0;
    look->looks++;
}

static void *looker_main(void *context) {
    looking *look = context;
    while (!atomic_load(&look->stopped)) {
        if (of_graphs) look_at_graphs(look);
        else look_at_tokens(look);
        sched_yield();
    }
    return NULL;
}

static void look_begin(looking *look, void *loader) {
    *look = (looking){.loader = loader};
    assert_int_equal(pthread_create(&look->thread, NULL, looker_main, look), 0);
}

static void look_end(looking *look) {
    atomic_store(&look->stopped, true);
    assert_int_equal(pthread_join(look->thread, NULL), 0);
    assert_false(look->odd);
}

/* ---- graphs -------------------------------------------------------------------------------------
 */

/* What must come at every place of the run, each made by a loader of its own. */
typedef struct expected {
    int count; /* places; the end is one more */
    int64_t place[PLACES_MAX + 1][2];
    char line[PLACES_MAX + 1][LINE]; /* "": a step without graphs */
    leat_error err[PLACES_MAX + 1];  /* of steps that fail */
} expected;

static void line_of(const leat_graph_batch *batch, char line[LINE]) {
    leat_batch_hash *hash = NULL;
    leat_textbuf *lines = NULL;
    const char *words = NULL;
    int64_t size = 0;
    leat_error err = {0};
    must(leat_batch_hash_create(&hash, &err), &err);
    must(leat_textbuf_create(&lines, &err), &err);
    leat_batch_hash_add_graphs(hash, batch, lines);
    must(leat_textbuf_finish(lines, &words, &size, &err), &err);
    snprintf(line, LINE, "%s", words);
    leat_textbuf_destroy(lines);
    leat_batch_hash_destroy(hash);
}

static void expect_place(const leat_can_cache *cache, leat_graph_loader_options options,
                         expected *all, int64_t epoch, int64_t batch) {
    const leat_graph_batch *made = NULL;
    int at = all->count++;
    assert_true(at < PLACES_MAX);
    options.threads = 1;
    options.prefetch = 0;
    leat_graph_loader *loader = graphs_create(cache, &options);
    must(leat_graph_loader_seek(loader, epoch, batch, NULL), NULL);
    all->place[at][0] = epoch;
    all->place[at][1] = batch;
    if (leat_graph_loader_next(loader, &made, &all->err[at]) == LEAT_OK)
        line_of(made, all->line[at]);
    leat_graph_batch_release(made);
    leat_graph_loader_destroy(loader);
}

static expected *expect_all(const leat_can_cache *cache, const leat_graph_loader_options *options) {
    expected *all = calloc(1, sizeof *all);
    leat_graph_loader *loader = graphs_create(cache, options);
    for (int64_t e = 0; e < options->batches.epochs; e++) {
        leat_graph_epoch_facts facts;
        must(leat_graph_loader_get_epoch(loader, e, &facts, NULL), NULL);
        for (int64_t s = 0; s < facts.step_count; s++)
            expect_place(cache, *options, all, e, s * options->host_count);
    }
    leat_graph_loader_destroy(loader);
    all->place[all->count][0] = options->batches.epochs;
    return all;
}

typedef struct graph_race {
    const leat_can_cache *cache;
    leat_graph_loader_options options;
    const expected *all;
    leat_graph_loader *loader;
    looking look;
    int now; /* place that is next */
    struct {
        const leat_graph_batch *batch;
        char line[LINE];
    } held[HELD];
    int64_t taken, failed;
} graph_race;

/* Lets go of the oldest, which nobody has written to, and holds this one instead. */
static void hold_graphs(graph_race *race, const leat_graph_batch *batch) {
    char line[LINE];
    int64_t at = draw(HELD);
    if (race->held[at].batch != NULL) {
        line_of(race->held[at].batch, line);
        assert_string_equal(line, race->held[at].line);
    }
    release_somewhere(race->held[at].batch);
    race->held[at].batch = batch;
    if (batch != NULL) line_of(batch, race->held[at].line);
}

static void take_graphs(graph_race *race) {
    const leat_graph_batch *batch = NULL;
    const expected *all = race->all;
    leat_error err = {0};
    leat_code code = leat_graph_loader_next(race->loader, &batch, &err);
    if (race->now == all->count) {
        assert_int_equal(code, LEAT_OK);
        assert_null(batch);
        return;
    }
    assert_int_equal(code, all->err[race->now].code);
    if (code != LEAT_OK) {
        assert_null(batch);
        assert_string_equal(err.message, all->err[race->now].message);
        race->failed++;
        return;
    }
    char line[LINE];
    line_of(batch, line);
    assert_string_equal(line, all->line[race->now]);
    hold_graphs(race, batch);
    race->now++;
    race->taken++;
}

static void seek_graphs(graph_race *race) {
    leat_error err = {0};
    /* often the last place of an epoch, where the next one is about to be planned */
    int to = (int)draw(race->all->count + 1);
    if (draw(3) == 0)
        while (to > 0 && to < race->all->count &&
               race->all->place[to][0] == race->all->place[to + 1][0])
            to++;
    must(leat_graph_loader_seek(race->loader, race->all->place[to][0], race->all->place[to][1],
                                &err),
         &err);
    race->now = to;
}

/* Refused, and nothing moves. */
static void seek_nowhere(graph_race *race) {
    const int64_t places[][2] = {{-1, 0},        {4, 0},  {0, -1},
                                 {1, 1000},      {3, 2},  {INT64_MAX, INT64_MAX},
                                 {0, INT32_MAX}, {2, 999}};
    const int64_t *to = places[draw((int64_t)(sizeof places / sizeof places[0]))];
    int64_t epoch, batch;
    assert_int_equal(leat_graph_loader_seek(race->loader, to[0], to[1], NULL), LEAT_ERR_OPTION);
    leat_graph_loader_place(race->loader, &epoch, &batch);
    assert_int_equal(epoch, race->all->place[race->now][0]);
    assert_int_equal(batch, race->all->place[race->now][1]);
}

static void open_graphs(graph_race *race) {
    static const int threads[] = {1, 2, 3, 8}, prefetch[] = {0, 1, 2, 7, 16};
    race->options.threads = threads[draw(4)];
    race->options.prefetch = prefetch[draw(5)];
    race->loader = graphs_create(race->cache, &race->options);
    race->now = 0;
    look_begin(&race->look, race->loader);
}

/* While its threads fill slots, and batches of it are held. */
static void close_graphs(graph_race *race) {
    look_end(&race->look);
    leat_graph_loader_destroy(race->loader);
}

static void race_graphs(const char *dir, int64_t hosts, int ops, graph_race *race) {
    leat_can_cache *cache = graphs_open(dir);
    *race = (graph_race){.cache = cache, .options = graphs_options()};
    race->options.host_count = hosts;
    race->options.host_index = hosts - 1;
    expected *all = expect_all(cache, &race->options);
    race->all = all;
    open_graphs(race);
    for (int i = 0; i < ops; i++) {
        int64_t op = draw(16);
        if (op < 7) take_graphs(race);
        else if (op < 12) seek_graphs(race);
        else if (op == 12) seek_nowhere(race);
        else if (op == 13) (void)leat_graph_loader_wait(race->loader, draw(2));
        else if (op == 14) hold_graphs(race, NULL);
        else if (draw(4) == 0) {
            close_graphs(race);
            open_graphs(race);
        }
    }
    close_graphs(race);
    for (int i = 0; i < 8 * HELD; i++) hold_graphs(race, NULL);
    for (int i = 0; i < HELD; i++) release(race->held[i].batch);
    free(all);
    leat_can_cache_close(cache);
}

static pthread_t start_releaser(bool graphs_next_up) {
    pthread_t releaser;
    of_graphs = graphs_next_up;
    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&releaser, NULL, releaser_main, NULL), 0);
    return releaser;
}

static void stop_releaser(pthread_t releaser) {
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(releaser, NULL), 0);
}

static void graphs(void **state) {
    (void)state;
    graph_race race;
    draw_state = 1;
    pthread_t releaser = start_releaser(true);
    for (int64_t hosts = 1; hosts <= 3; hosts++) {
        race_graphs(hosts == 2 ? graphs_framed : graphs_stored, hosts, moves, &race);
        assert_true(race.taken > moves / 8 && race.failed == 0);
    }
    loader_flip(graphs_stored, "train.safetensors", DAMAGED_PAGE * LEAT_PAGE_BYTES + 1000, 3);
    race_graphs(graphs_stored, 1, moves, &race);
    assert_true(race.taken > moves / 16 && race.failed > moves / 100);
    loader_flip(graphs_stored, "train.safetensors", DAMAGED_PAGE * LEAT_PAGE_BYTES + 1000, 3);
    stop_releaser(releaser);
}

/* ---- tokens -------------------------------------------------------------------------------------
 */

typedef struct token_race {
    leat_dataset *dataset;
    leat_loader_options options;
    run whole;
    leat_error err[TOKEN_STEPS]; /* of steps that fail */
    leat_loader *loader;
    looking look;
    int64_t now, end;
    const leat_batch *held[HELD];
    int64_t taken, failed;
} token_race;

static void hold_tokens(token_race *race, const leat_batch *batch) {
    int64_t at = draw(HELD);
    if (race->held[at] != NULL) run_expect(&race->whole, race->held[at]);
    release_somewhere(race->held[at]);
    race->held[at] = batch;
}

static void take_tokens(token_race *race) {
    const leat_batch *batch = NULL;
    leat_error err = {0};
    if (race->now >= TOKEN_STEPS && race->now < race->end) return; /* nothing is known of it */
    leat_code code = leat_loader_next(race->loader, &batch, &err);
    if (race->now == race->end) {
        assert_int_equal(code, LEAT_OK);
        assert_null(batch);
        return;
    }
    assert_int_equal(code, race->err[race->now].code);
    if (code != LEAT_OK) {
        assert_null(batch);
        assert_string_equal(err.message, race->err[race->now].message);
        race->failed++;
        return;
    }
    assert_int_equal(batch->step, race->now++);
    run_expect(&race->whole, batch);
    hold_tokens(race, batch);
    race->taken++;
}

static void seek_tokens(token_race *race) {
    race->now = draw(12) == 0 ? race->end : draw(TOKEN_STEPS);
    must(leat_loader_seek(race->loader, race->now, NULL), NULL);
}

static void open_tokens(token_race *race) {
    static const int threads[] = {1, 2, 3, 8}, prefetch[] = {0, 1, 2, 7, 16};
    race->options.threads = threads[draw(4)];
    race->options.prefetch = prefetch[draw(5)];
    race->loader = loader_create(race->dataset, &race->options);
    race->now = 0;
    race->end = leat_loader_step_count(race->loader);
    assert_true(race->end >= TOKEN_STEPS);
    look_begin(&race->look, race->loader);
}

static void close_tokens(token_race *race) {
    look_end(&race->look);
    leat_loader_destroy(race->loader);
}

/* The failures, each of a loader of its own. */
static void expect_failures(token_race *race) {
    for (int64_t s = 0; s < TOKEN_STEPS; s++) {
        const leat_batch *batch = NULL;
        leat_loader *loader = loader_create(race->dataset, &race->options);
        race->err[s] = (leat_error){0};
        must(leat_loader_seek(loader, s, NULL), NULL);
        if (leat_loader_next(loader, &batch, &race->err[s]) == LEAT_OK)
            run_expect(&race->whole, batch);
        leat_batch_release(batch);
        leat_loader_destroy(loader);
    }
}

static void race_tokens(const char *dir, int ops, token_race *race) {
    race->dataset = loader_open(dir);
    race->taken = race->failed = 0;
    expect_failures(race);
    open_tokens(race);
    for (int i = 0; i < ops; i++) {
        int64_t op = draw(16);
        if (op < 7) take_tokens(race);
        else if (op < 12) seek_tokens(race);
        else if (op == 12) {
            int64_t bad = draw(2) == 0 ? -1 - draw(5) : race->end + 1 + draw(5);
            assert_int_equal(leat_loader_seek(race->loader, bad, NULL), LEAT_ERR_OPTION);
            assert_int_equal(leat_loader_step(race->loader), race->now);
        } else if (op == 13) (void)leat_loader_wait(race->loader, draw(2));
        else if (op == 14) hold_tokens(race, NULL);
        else if (draw(4) == 0) {
            close_tokens(race);
            open_tokens(race);
        }
    }
    close_tokens(race);
    for (int i = 0; i < HELD; i++) {
        if (race->held[i] != NULL) run_expect(&race->whole, race->held[i]);
        release(race->held[i]);
        race->held[i] = NULL;
    }
    leat_dataset_close(race->dataset);
}

/* Inside a row of the first shard that is in some steps, not in all. */
static int64_t damage_place(const char *path) {
    leat_ar_reader *reader = NULL;
    must(leat_ar_reader_open(&reader, path, NULL, NULL), NULL);
    int64_t place = leat_ar_reader_chunk(reader, 13).offset + 500;
    leat_ar_reader_close(reader);
    return place;
}

static void tokens(void **state) {
    (void)state;
    static const char shard[] = "train/train_shard_00000.arrayrecord";
    token_race race = {.options = loader_options()};
    char dir[256], path[400];
    draw_state = 2;
    race.options.epochs = 12;
    race.options.batch = 3; /* few rows, so that some steps need nothing that is damaged */
    pthread_t releaser = start_releaser(false);
    for (int packed = 0; packed < 2; packed++) {
        make_options made =
            loader_data_options(packed ? LEAT_COMPRESSION_ZSTD : LEAT_COMPRESSION_NONE);
        loader_make(packed ? "races_packed" : "races", &made, dir);
        leat_dataset *dataset = loader_open(dir);
        race.whole = run_make(dataset, &race.options, 0, TOKEN_STEPS);
        leat_dataset_close(dataset);
        race_tokens(dir, moves, &race);
        assert_true(race.taken > moves / 8 && race.failed == 0);
        snprintf(path, sizeof path, "%s/%s", dir, shard);
        loader_flip(dir, shard, damage_place(path), 3);
        race_tokens(dir, moves, &race);
        assert_true(race.taken > moves / 16 && race.failed > moves / 50);
        run_free(&race.whole);
    }
    stop_releaser(releaser);
}

int seek_races_run(int moves_each) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(graphs), cmocka_unit_test(tokens)};
    moves = moves_each;
    return cmocka_run_group_tests(tests, graphs_setup, loader_teardown);
}
