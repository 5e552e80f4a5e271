/*
 * Batches of graphs: each graph of the split once an epoch, within the budgets, put together right;
 * the same bytes whatever makes them (threads, hosts, prefetch, either store); drawn anew each
 * epoch; what was handed out stays.
 */
/* TSan: the ring's threads make graph batches. */
#include "graph_support.h"

#include <unistd.h>

#include "check.h"
#include "load/can/loader.h"

/* ---- what batches hold --------------------------------------------------------------------------
 */

/* Every epoch: its batches in order, all graphs once, budgets kept; which batch each graph was in.
 */
static void expect_epochs(const leat_can_cache *cache, const leat_graph_loader_options *options,
                          const made_graphs *made, int32_t *in_batch) {
    leat_graph_loader *loader = graphs_create(cache, options);
    for (int64_t e = 0; e < options->batches.epochs; e++) {
        leat_graph_epoch_facts facts;
        int64_t graphs = 0;
        leat_error err = {0};
        must(leat_graph_loader_get_epoch(loader, e, &facts, &err), &err);
        assert_int_equal(facts.step_count, facts.batch_count);
        assert_int_equal(facts.graph_count, made->graphs);
        for (int64_t g = 0; g < made->graphs; g++) in_batch[e * made->graphs + g] = -1;
        for (int64_t b = 0; b < facts.batch_count; b++) {
            int64_t epoch = -1, at = -1;
            leat_graph_loader_place(loader, &epoch, &at);
            assert_int_equal(epoch, e);
            assert_int_equal(at, b);
            const leat_graph_batch *batch = graphs_next(loader);
            assert_int_equal(batch->epoch, e);
            assert_int_equal(batch->batch, b);
            assert_int_equal(batch->batch_count, facts.batch_count);
            assert_true(batch->node_count <= options->batches.max_nodes);
            assert_true(batch->edge_count <= options->batches.max_edges);
            assert_true(batch->graph_count > 0);
            graphs_expect(made, options->scale, batch);
            for (int64_t i = 0; i < batch->graph_count; i++) {
                int32_t *seen = &in_batch[e * made->graphs + batch->graph[i]];
                assert_int_equal(*seen, -1);
                *seen = (int32_t)b;
            }
            graphs += batch->graph_count;
            leat_graph_batch_release(batch);
        }
        assert_int_equal(graphs, made->graphs);
    }
    assert_null(graphs_next(loader));
    assert_null(graphs_next(loader));
    leat_graph_loader_destroy(loader);
}

static void batches(void **state) {
    (void)state;
    make_cache of_cache = make_cache_default();
    made_graphs made = make_graphs(0, &of_cache);
    int32_t *in_batch = calloc((size_t)made.graphs * 3, 4);
    for (int c = 0; c < 2 * 2 * 3; c++) {
        leat_graph_loader_options options = graphs_options();
        leat_can_cache *cache = graphs_open(c % 2 == 0 ? graphs_stored : graphs_framed);
        options.scale = c / 2 % 2;
        options.batches.pack = c / 4;
        expect_epochs(cache, &options, &made, in_batch);
        /* not the same graphs together in the next epoch */
        int64_t together = 0, again = 0;
        for (int64_t g = 1; g < made.graphs; g++) {
            for (int64_t h = 0; h < g; h++) {
                bool first = in_batch[g] == in_batch[h];
                together += first;
                again += first && in_batch[made.graphs + g] == in_batch[made.graphs + h];
            }
        }
        assert_true(together > 0 && again < together);
        leat_can_cache_close(cache);
    }
    free(in_batch);
    made_graphs_free(&made);
}

static void fixed(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    options.batches.pack = LEAT_PACK_FIXED;
    options.batches.batch = 7;
    leat_graph_loader *loader = graphs_create(cache, &options);
    for (int e = 0; e < 3; e++) {
        int rests = 0;
        for (int b = 0; b < 9; b++) { /* in any order */
            const leat_graph_batch *batch = graphs_next(loader);
            assert_int_equal(batch->batch_count, 9);
            rests += batch->graph_count == 60 % 7;
            assert_true(batch->graph_count == 7 || batch->graph_count == 60 % 7);
            leat_graph_batch_release(batch);
        }
        assert_int_equal(rests, 1);
    }
    assert_null(graphs_next(loader));
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* ---- the same bytes -----------------------------------------------------------------------------
 */

static void identity(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8}, hosts[] = {1, 2, 3, 5};
    static const int64_t depths[] = {0, 1, 2, 9, LEAT_PREFETCH_AUTO};
    leat_can_cache *caches[2] = {graphs_open(graphs_stored), graphs_open(graphs_framed)};
    leat_graph_loader_options options = graphs_options();
    char expected[65], text[65];
    options.threads = 1;
    options.prefetch = 0;
    graphs_hash_run(caches[0], options, 1, expected);
    for (int c = 0; c < 2 * 4 * 4 * 5; c++) {
        options.threads = threads[c / 2 % 4];
        options.prefetch = depths[c / 8 % 5];
        graphs_hash_run(caches[c % 2], options, hosts[c / 40], text);
        if (strcmp(text, expected) != 0) fail_msg("case %d differs", c);
    }
    leat_can_cache_close(caches[0]);
    leat_can_cache_close(caches[1]);
}

/* Batches so large that they are written past the caches. */
static void large(void **state) {
    (void)state;
    make_cache of_cache = {.graphs = {300, 1}, .window = 200};
    char dir[256], expected[65], text[65];
    graphs_make("large", &of_cache, dir);
    made_graphs made = make_graphs(0, &of_cache);
    leat_can_cache *cache = graphs_open(dir);
    leat_graph_loader_options options = graphs_options();
    options.batches.epochs = 1;
    options.batches.max_nodes = 4000;
    options.batches.max_edges = 40000;
    int32_t *in_batch = calloc((size_t)made.graphs, 4);
    expect_epochs(cache, &options, &made, in_batch);
    graphs_hash_run(cache, options, 1, expected);
    for (int t = 1; t <= 3; t++) {
        options.threads = t;
        options.prefetch = 1; /* and not past them */
        graphs_hash_run(cache, options, 1, text);
        assert_string_equal(text, expected);
    }
    free(in_batch);
    made_graphs_free(&made);
    leat_can_cache_close(cache);
}

/* No array can change unseen. */
static void hash_of_arrays(void **state) {
    (void)state;
    float x[2 * LEAT_NODE_FEATURES] = {0}, edge_attr[LEAT_EDGE_FEATURES] = {0};
    int32_t edge_index[2] = {0}, node_id[2] = {0}, node_graph[2] = {0}, y[1] = {0}, type[1] = {0};
    int64_t node_ptr[2] = {0}, edge_ptr[2] = {0}, graph[1] = {0};
    const leat_graph_batch batch = {.graph_count = 1,
                                    .node_count = 2,
                                    .edge_count = 1,
                                    .x = x,
                                    .edge_attr = edge_attr,
                                    .edge_index = edge_index,
                                    .node_id = node_id,
                                    .node_graph = node_graph,
                                    .node_ptr = node_ptr,
                                    .edge_ptr = edge_ptr,
                                    .y = y,
                                    .attack_type = type,
                                    .graph = graph};
    uint8_t *last[] = {NULL,
                       (uint8_t *)(x + 2 * LEAT_NODE_FEATURES),
                       (uint8_t *)(edge_attr + LEAT_EDGE_FEATURES),
                       (uint8_t *)(edge_index + 2),
                       (uint8_t *)(node_id + 2),
                       (uint8_t *)(node_graph + 2),
                       (uint8_t *)(node_ptr + 2),
                       (uint8_t *)(edge_ptr + 2),
                       (uint8_t *)(y + 1),
                       (uint8_t *)(type + 1),
                       (uint8_t *)(graph + 1)};
    char text[11][65];
    for (int a = 0; a < 11; a++) {
        leat_batch_hash *hash = NULL;
        if (a > 0) last[a][-1] ^= 1;
        assert_ok(leat_batch_hash_create(&hash, err));
        leat_batch_hash_add_graphs(hash, &batch, NULL);
        leat_batch_hash_text(hash, text[a]);
        leat_batch_hash_destroy(hash);
        if (a > 0) last[a][-1] ^= 1;
        for (int b = 0; b < a; b++) assert_string_not_equal(text[a], text[b]);
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of all hosts, sorted, are those of one. */
static void hash_lines(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    char text[65], *lines[4], *parts[2][64];
    int counts[2] = {0};
    options.batches.epochs = 1;
    options.batches.max_nodes = 30;
    leat_graph_loader *loader = graphs_create(cache, &options);
    graphs_hash(&loader, 1, text, &lines[3]);
    leat_graph_loader_destroy(loader);
    options.host_count = 3;
    for (int h = 0; h < 3; h++) {
        options.host_index = h;
        loader = graphs_create(cache, &options);
        graphs_hash(&loader, 1, text, &lines[h]);
        leat_graph_loader_destroy(loader);
    }
    for (int h = 0; h < 4; h++) {
        for (char *line = strtok(lines[h], "\n"); line != NULL; line = strtok(NULL, "\n"))
            parts[h == 3][counts[h == 3]++] = line;
    }
    assert_int_equal(counts[0], counts[1]);
    assert_true(counts[0] > 9);
    for (int k = 0; k < 2; k++) qsort(parts[k], (size_t)counts[k], sizeof(char *), by_text);
    for (int i = 0; i < counts[0]; i++) assert_string_equal(parts[0][i], parts[1][i]);
    assert_non_null(strstr(parts[0][0], "0 0 "));
    for (int h = 0; h < 4; h++) free(lines[h]);
    leat_can_cache_close(cache);
}

/* A host without a batch in the last step of an epoch has one of no graph. */
static void more_hosts_than_batches(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    leat_graph_epoch_facts facts;
    options.host_count = 1000;
    for (options.host_index = 0; options.host_index < 1000; options.host_index += 999) {
        leat_graph_loader *loader = graphs_create(cache, &options);
        for (int64_t e = 0; e < 3; e++) {
            assert_ok(leat_graph_loader_get_epoch(loader, e, &facts, err));
            assert_int_equal(facts.step_count, 1);
            assert_true(facts.batch_count > 5);
            const leat_graph_batch *batch = graphs_next(loader);
            assert_int_equal(batch->epoch, e);
            assert_int_equal(batch->batch, options.host_index);
            assert_int_equal(batch->batch_count, facts.batch_count);
            assert_int_equal(batch->graph_count > 0, options.host_index == 0);
            assert_int_equal(batch->node_ptr[batch->graph_count], batch->node_count);
            leat_graph_batch_release(batch);
        }
        leat_graph_loader_counters counters;
        leat_graph_loader_get_counters(loader, &counters);
        assert_int_equal(counters.batches, options.host_index == 0 ? 3 : 0);
        assert_null(graphs_next(loader));
        leat_graph_loader_destroy(loader);
    }
    leat_can_cache_close(cache);
}

/* The next epoch is planned while batches of one are made, without anybody asking for them. */
static void planned_ahead(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    options.batches.pack = LEAT_PACK_FIXED;
    options.batches.batch = 60; /* one batch an epoch */
    leat_graph_loader *loader = graphs_create(cache, &options);
    for (int64_t e = 0; e < 3; e++) {
        int64_t ahead = e < 2 ? e + 1 : 2;
        for (int i = 0; i < 120000 && atomic_load(&loader->planned) < ahead; i++) usleep(1000);
        assert_int_equal(atomic_load(&loader->planned), ahead);
        leat_graph_batch_release(graphs_next(loader));
    }
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* ---- options ------------------------------------------------------------------------------------
 */

static leat_code set(leat_graph_loader_options *options, const char *name, const char *text,
                     leat_error *err) {
    const leat_setting_table *own = leat_graph_loader_options_table();
    if (leat_setting_find(own, name) != NULL)
        return leat_settings_set(own, options, name, text, err);
    return leat_settings_set(leat_graph_batch_options_table(), &options->batches, name, text, err);
}

static void options_matter(void **state) {
    (void)state;
    static const struct {
        const char *name, *value;
    } cases[] = {{"seed", "12"},          {"pack", "next-fit"}, {"pack", "bucket"},
                 {"pack", "fixed"},       {"max-nodes", "50"},  {"max-edges", "80"},
                 {"min-steps", "40"},     {"scale", "none"},    {"curriculum", "random"},
                 {"preset", "reference"}, {"graphs", "benign"}, {"graphs", "attack"}};
    enum { COUNT = sizeof cases / sizeof cases[0] + 2 };
    leat_can_cache *cache = graphs_open(graphs_stored);
    char hashes[COUNT][65], states[COUNT][LEAT_LOADER_STATE_BYTES];
    for (int c = 0; c < COUNT; c++) {
        leat_graph_loader_options options = graphs_options();
        leat_error err = {0};
        if (c > 1) {
            must(set(&options, cases[c - 2].name, cases[c - 2].value, &err), &err);
        }
        if (c == 1) options.split = "val";
        leat_graph_loader *loader = graphs_create(cache, &options);
        leat_graph_loader_state(loader, states[c]);
        graphs_hash(&loader, 1, hashes[c], NULL);
        leat_graph_loader_destroy(loader);
        for (int b = 0; b < c; b++) {
            if (strcmp(hashes[b], hashes[c]) == 0) fail_msg("cases %d and %d are the same", b, c);
            if (strcmp(states[b], states[c]) == 0) fail_msg("states %d and %d are the same", b, c);
        }
    }
    leat_can_cache_close(cache);
}

/* Every option of both tables reads back as its own text. */
static int round_trip(const leat_setting_table *table, void *options) {
    int count = 0;
    for (const leat_setting *row = table->rows; row->name != NULL; row++, count++) {
        char text[LEAT_SETTING_BYTES], again[LEAT_SETTING_BYTES];
        leat_error err = {0};
        const char *value = leat_setting_get(row, options, text);
        must(leat_setting_set(row, options, value, &err), &err);
        assert_string_equal(leat_setting_get(row, options, again), value);
    }
    return count;
}

static void options_by_name(void **state) {
    (void)state;
    leat_graph_loader_options options = leat_graph_loader_options_default();
    const leat_setting_table *table = leat_graph_loader_options_table();
    char text[LEAT_SETTING_BYTES];
    leat_error err = {0};
    assert_int_equal(round_trip(table, &options), 6);
    assert_int_equal(round_trip(leat_graph_batch_options_table(), &options.batches), 15);
    assert_ok(set(&options, "scale", "none", err));
    assert_string_equal(leat_settings_get(table, &options, "scale", text), "none");
    assert_int_equal(options.scale, LEAT_SCALE_NONE);
    assert_ok(set(&options, "prefetch", "auto", err));
    assert_int_equal(options.prefetch, LEAT_PREFETCH_AUTO);
    assert_int_equal(set(&options, "scale", "some", &err), LEAT_ERR_OPTION);
    assert_int_equal(set(&options, "colour", "red", &err), LEAT_ERR_OPTION);
    assert_null(leat_settings_get(table, &options, "colour", text));
}

static void options_refused(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    static const char *const words[] = {
        "hosts: \"0\" is not",
        "host is 3; it must be 0 to 2",
        "threads: \"0\"",
        "threads: \"257\" is not accepted; it takes a whole number from 1 to 256",
        "prefetch: \"-2\" is not accepted; it takes auto or a whole number",
        "prefetch: \"1025\"",
        "memory: \"0\"",
        "seed is",
        "scale",
        "memory_bytes is 100000, but",
        "no split \"test\"; it has train, val",
        "scores",
        "graph 0 has",
        "max-nodes"};
    for (int c = 0; c < 14; c++) {
        leat_graph_loader_options options = graphs_options();
        leat_graph_loader *loader = (leat_graph_loader *)1;
        leat_error err = {0};
        if (c == 0) options.host_count = 0;
        if (c == 1) options.host_index = options.host_count = 3;
        if (c == 2) options.threads = 0;
        if (c == 3) options.threads = 257;
        if (c == 4) options.prefetch = -2;
        if (c == 5) options.prefetch = 1025;
        if (c == 6) options.memory_bytes = 0;
        if (c == 7) options.batches.seed = UINT64_C(1) << 63;
        if (c == 8) options.scale = (leat_scale)2;
        if (c == 9) options.memory_bytes = 100000;
        if (c == 10) options.split = "test";
        if (c == 11) options.batches.curriculum = LEAT_CURRICULUM_SCORES;
        if (c >= 12) options.batches.max_nodes = 1;
        if (c == 12) options.batches.oversize = LEAT_OVERSIZE_FAIL;
        leat_code code = leat_graph_loader_create(&loader, cache, &options, &err);
        assert_int_equal(code, c < 11 ? LEAT_ERR_OPTION : LEAT_ERR_INPUT);
        assert_null(loader);
        if (strstr(err.message, words[c]) == NULL) fail_msg("case %d: %s", c, err.message);
    }
    leat_can_cache_close(cache);
}

/* A graph over the budget: left out and told, or a batch of its own. */
static void oversize(void **state) {
    (void)state;
    make_cache of_cache = make_cache_default();
    made_graphs made = make_graphs(0, &of_cache);
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    options.batches.epochs = 1;
    int64_t over = 0, most = made.node_ptr[31] - made.node_ptr[30]; /* some have more */
    options.batches.max_nodes = most;
    for (int64_t g = 0; g < made.graphs; g++)
        over += made.node_ptr[g + 1] - made.node_ptr[g] > most;
    assert_true(over > 3 && over < made.graphs - 3);
    for (int alone = 0; alone < 2; alone++) {
        leat_graph_loader_facts facts;
        int64_t graphs = 0, large = 0;
        options.batches.oversize = alone ? LEAT_OVERSIZE_ALONE : LEAT_OVERSIZE_SKIP;
        leat_graph_loader *loader = graphs_create(cache, &options);
        leat_graph_loader_get_facts(loader, &facts);
        assert_int_equal(facts.split_graphs, made.graphs);
        assert_int_equal(facts.oversize_count, over);
        assert_int_equal(facts.graphs, made.graphs - (alone ? 0 : over));
        for (int64_t i = 0; i < over; i++) {
            int64_t g = facts.oversize[i];
            assert_true(made.node_ptr[g + 1] - made.node_ptr[g] > most);
        }
        for (const leat_graph_batch *batch; (batch = graphs_next(loader)) != NULL;) {
            graphs_expect(&made, options.scale, batch);
            graphs += batch->graph_count;
            if (batch->node_count > most) assert_int_equal(batch->graph_count, 1);
            large += batch->node_count > most;
            assert_true(batch->node_count <= facts.most_nodes);
            leat_graph_batch_release(batch);
        }
        assert_int_equal(graphs, facts.graphs);
        assert_int_equal(large, alone ? over : 0);
        leat_graph_loader_destroy(loader);
    }
    leat_can_cache_close(cache);
    made_graphs_free(&made);
}

/* ---- curriculum ---------------------------------------------------------------------------------
 */

typedef struct score_file {
    const char *fingerprint;
    int missing, twice, short_by, text, other, part; /* what is wrong, of which item; -1: none */
} score_file;

static void write_scores(const char *path, const made_graphs *made, const score_file *file) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "{\"fingerprint\": \"%s\", \"model\": \"vgae\"", file->fingerprint);
    static const char *const names[] = {"capture", "window_start", "score"};
    for (int list = 0; list < 3; list++) {
        fprintf(out, ", \"%s\": [", names[list]);
        int64_t count = made->graphs - (list == 2 && file->short_by > 0 ? file->short_by : 0);
        bool first = true;
        for (int64_t i = count - 1; i >= 0; i--) { /* any order will do */
            int64_t g = i == file->twice ? i + 1 : i;
            if (i == file->missing) continue;
            if (!first) fputc(',', out);
            first = false;
            if (list == 0) fprintf(out, "%d", i == file->other ? 9 : made->capture[g]);
            if (list == 1) fprintf(out, "%lld", (long long)made->window_start[g]);
            if (list < 2 && i == file->part) fputs(".5", out);
            if (list == 2 && i == file->text) fputs("\"much\"", out);
            if (list == 2 && i != file->text) fprintf(out, "%g", (double)(g * 37 % 60) / 3);
        }
        fputc(']', out);
    }
    fputs("}", out);
    assert_int_equal(fclose(out), 0);
}

/* Tiers by score: the first epoch has the graphs of low scores, and all that are attacks. */
static void curriculum(void **state) {
    (void)state;
    make_cache of_cache = make_cache_default();
    made_graphs made = make_graphs(0, &of_cache);
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    leat_can_facts facts;
    leat_graph_epoch_facts epoch;
    char path[400], text[2][LEAT_LOADER_STATE_BYTES];
    leat_can_cache_get_facts(cache, &facts);
    snprintf(path, sizeof path, "%s/scores.json", loader_folder());
    const score_file good = {facts.fingerprint, -1, -1, -1, -1, -1, -1};
    write_scores(path, &made, &good);
    options.batches.curriculum = LEAT_CURRICULUM_SCORES;
    options.batches.epochs = 10;
    options.scores = path;
    leat_graph_loader *loader = graphs_create(cache, &options);
    leat_graph_loader_state(loader, text[0]);
    for (int64_t last = 0, e = 0; e < 10; e++) {
        double most = -1, least = 1e9;
        int64_t attacks = 0, graphs = 0;
        assert_ok(leat_graph_loader_get_epoch(loader, e, &epoch, err));
        char in[60] = {0};
        for (int64_t b = 0; b < epoch.batch_count; b++) {
            const leat_graph_batch *batch = graphs_next(loader);
            assert_int_equal(batch->epoch, e);
            for (int64_t i = 0; i < batch->graph_count; i++) {
                attacks += batch->y[i];
                in[batch->graph[i]] = 1;
            }
            graphs += batch->graph_count;
            leat_graph_batch_release(batch);
        }
        for (int64_t g = 0; g < 60; g++) {
            double score = (double)(g * 37 % 60) / 3;
            if (made.y[g] != 0) continue;
            if (in[g] && score > most) most = score;
            if (!in[g] && score < least) least = score;
        }
        assert_true(most < least);
        assert_int_equal(attacks, 12);
        assert_int_equal(graphs, epoch.graph_count);
        assert_true(graphs >= last && (e != 0 || graphs < 25) && (e != 9 || graphs == 60));
        last = graphs;
    }
    leat_graph_loader_destroy(loader);
    /* other scores are other options */
    FILE *file = fopen(path, "a");
    fputs("\n", file);
    fclose(file);
    loader = graphs_create(cache, &options);
    leat_graph_loader_state(loader, text[1]);
    assert_string_not_equal(text[0], text[1]);
    leat_error err = {0};
    assert_int_equal(leat_graph_loader_restore(loader, text[0], &err), LEAT_ERR_INPUT);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
    made_graphs_free(&made);
}

static void scores_refused(void **state) {
    (void)state;
    make_cache of_cache = make_cache_default();
    made_graphs made = make_graphs(0, &of_cache);
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_can_facts facts;
    leat_can_cache_get_facts(cache, &facts);
    const struct {
        score_file file;
        const char *words;
    } cases[] = {
        {{"0123", -1, -1, -1, -1, -1, -1}, "the scores are of a cache with fingerprint 0123"},
        {{facts.fingerprint, 4, -1, -1, -1, -1, -1}, "graph 4 has"}, /* benign, without score */
        {{facts.fingerprint, -1, 4, -1, -1, -1, -1}, "is listed twice"},
        {{facts.fingerprint, -1, -1, 1, -1, -1, -1}, "differ in length"},
        {{facts.fingerprint, -1, -1, -1, 4, -1, -1}, "not a number"},
        {{facts.fingerprint, -1, -1, -1, -1, 4, -1}, "no graph of capture 9"},
        {{facts.fingerprint, -1, -1, -1, -1, -1, 4}, "window 40.5; the scores are"},
    };
    char path[400];
    snprintf(path, sizeof path, "%s/bad_scores.json", loader_folder());
    for (size_t c = 0; c < sizeof cases / sizeof cases[0] + 4; c++) {
        leat_graph_loader_options options = graphs_options();
        leat_graph_loader *loader = NULL;
        leat_error err = {0};
        size_t known = sizeof cases / sizeof cases[0];
        static const char *const texts[] = {"[]", "{\"fingerprint\": 3}",
                                            "{\"fingerprint\":", "{}"};
        options.batches.curriculum = LEAT_CURRICULUM_SCORES;
        options.scores = path;
        if (c < known) write_scores(path, &made, &cases[c].file);
        else
            must(leat_text_save(path, texts[c - known], (int64_t)strlen(texts[c - known]),
                                LEAT_MARK_NONE, true, &err),
                 &err);
        assert_int_equal(leat_graph_loader_create(&loader, cache, &options, &err), LEAT_ERR_INPUT);
        if (c < known && strstr(err.message, cases[c].words) == NULL) fail_msg("%s", err.message);
    }
    /* as Python's json writes what a broken model gives */
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        leat_graph_loader_options options = graphs_options();
        leat_graph_loader *loader = NULL;
        leat_error err = {0};
        char text[400];
        int size = snprintf(text, sizeof text,
                            "{\"fingerprint\": \"%s\", \"capture\": [0], \"window_start\": [0], "
                            "\"score\": [%s]}",
                            facts.fingerprint, words[w]);
        options.batches.curriculum = LEAT_CURRICULUM_SCORES;
        options.scores = path;
        must(leat_text_save(path, text, size, LEAT_MARK_NONE, true, &err), &err);
        assert_int_equal(leat_graph_loader_create(&loader, cache, &options, &err), LEAT_ERR_INPUT);
        snprintf(text, sizeof text, "item 0 of the list \"score\" is %s; scores must be finite",
                 words[w]);
        if (strstr(err.message, text) == NULL) fail_msg("%s", err.message);
    }
    leat_can_cache_close(cache);
    made_graphs_free(&made);
}

/* ---- what stands beside batches -----------------------------------------------------------------
 */

/* A batch that was handed out is the one of the lists. */
static void expect_listed(const leat_graph_epoch_lists *lists, const leat_graph_batch *batch) {
    const uint32_t *graph = lists->graph + lists->first[batch->batch];
    assert_int_equal(lists->batch_count, batch->batch_count);
    assert_int_equal(lists->first[batch->batch + 1] - lists->first[batch->batch],
                     batch->graph_count);
    for (int64_t i = 0; i < batch->graph_count; i++) {
        assert_int_equal(graph[i], batch->graph[i]);
        assert_int_equal(lists->nodes[graph[i]], batch->node_ptr[i + 1] - batch->node_ptr[i]);
        assert_int_equal(lists->edges[graph[i]], batch->edge_ptr[i + 1] - batch->edge_ptr[i]);
        assert_int_equal(lists->y[graph[i]], batch->y[i]);
    }
    assert_true(batch->node_count <= lists->max_nodes && batch->edge_count <= lists->max_edges);
}

static void listed(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    options.batches.curriculum = LEAT_CURRICULUM_RANDOM;
    leat_graph_loader *loader = graphs_create(cache, &options);
    leat_graph_epoch_lists *lists = NULL;
    leat_error err = {0};
    for (const leat_graph_batch *batch; (batch = graphs_next(loader)) != NULL;) {
        leat_graph_epoch_facts facts;
        must(leat_graph_loader_list_epoch(loader, batch->epoch, &lists, &err), &err);
        must(leat_graph_loader_get_epoch(loader, batch->epoch, &facts, &err), &err);
        assert_int_equal(lists->epoch, batch->epoch);
        assert_int_equal(lists->tiers, facts.tiers);
        assert_int_equal(lists->graph_count, facts.graph_count);
        assert_int_equal(lists->first[lists->batch_count], facts.graph_count);
        assert_int_equal(lists->max_nodes, options.batches.max_nodes);
        expect_listed(lists, batch);
        leat_graph_epoch_lists_destroy(lists);
        leat_graph_batch_release(batch);
    }
    lists = (leat_graph_epoch_lists *)1;
    assert_int_equal(leat_graph_loader_list_epoch(loader, 3, &lists, &err), LEAT_ERR_OPTION);
    assert_null(lists);
    leat_graph_epoch_lists_destroy(NULL);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

static void explained(void **state) {
    (void)state;
    make_cache of_cache = make_cache_default();
    made_graphs made = make_graphs(0, &of_cache);
    leat_can_cache *cache = graphs_open(graphs_framed);
    leat_graph_loader_options options = graphs_options();
    leat_graph_loader *loader = graphs_create(cache, &options);
    leat_graph_explanation *told = NULL;
    leat_error err = {0};
    for (const leat_graph_batch *batch; (batch = graphs_next(loader)) != NULL;) {
        must(leat_graph_loader_explain(loader, batch->epoch, batch->batch, &told, &err), &err);
        assert_int_equal(told->epoch, batch->epoch);
        assert_int_equal(told->batch, batch->batch);
        assert_int_equal(told->batch_count, batch->batch_count);
        assert_int_equal(told->graph_count, batch->graph_count);
        assert_int_equal(told->node_count, batch->node_count);
        assert_int_equal(told->edge_count, batch->edge_count);
        for (int64_t i = 0; i < told->graph_count; i++) {
            int64_t g = batch->graph[i];
            assert_int_equal(told->graphs[i].graph, g);
            assert_int_equal(told->graphs[i].capture, made.capture[g]);
            assert_int_equal(told->graphs[i].window_start, made.window_start[g]);
            assert_int_equal(told->graphs[i].y, batch->y[i]);
            assert_int_equal(told->graphs[i].attack_first, made.attack_first[g]);
        }
        leat_graph_explanation_destroy(told);
        leat_graph_batch_release(batch);
    }
    static const int64_t none[][2] = {{-1, 0}, {3, 0}, {0, -1}, {0, 1000}};
    for (int i = 0; i < 4; i++) {
        told = (leat_graph_explanation *)1;
        assert_int_equal(leat_graph_loader_explain(loader, none[i][0], none[i][1], &told, &err),
                         LEAT_ERR_OPTION);
        assert_null(told);
    }
    leat_graph_epoch_facts facts;
    assert_int_equal(leat_graph_loader_get_epoch(loader, 3, &facts, &err), LEAT_ERR_OPTION);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
    made_graphs_free(&made);
}

/* Batches that are held stay as they are, whatever the loader does meanwhile, also behind its end.
 */
static void held(void **state) {
    (void)state;
    make_cache of_cache = make_cache_default();
    made_graphs made = make_graphs(0, &of_cache);
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    const leat_graph_batch *batch[20];
    leat_graph_loader *loader = graphs_create(cache, &options);
    for (int i = 0; i < 20; i++) batch[i] = graphs_next(loader);
    leat_graph_batch_retain(batch[3]);
    leat_graph_batch_release(batch[3]);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
    for (int i = 0; i < 20; i++) {
        graphs_expect(&made, options.scale, batch[i]);
        assert_int_equal((uintptr_t)batch[i]->x % 4096, 0);
        assert_int_equal((uintptr_t)batch[i]->node_ptr % 4096, 0);
        leat_graph_batch_release(batch[i]);
    }
    leat_graph_batch_release(NULL);
    leat_graph_batch_retain(NULL);
    made_graphs_free(&made);
}

static void counters(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    leat_graph_loader *loader = graphs_create(cache, &options);
    leat_graph_loader_counters counters;
    int64_t sums[4] = {0};
    for (const leat_graph_batch *batch; (batch = graphs_next(loader)) != NULL;) {
        sums[0]++;
        sums[1] += batch->graph_count;
        sums[2] += batch->node_count;
        sums[3] += batch->edge_count;
        leat_graph_batch_release(batch);
        leat_graph_loader_get_counters(loader, &counters);
        assert_int_equal(counters.batches, sums[0]);
        assert_int_equal(counters.graphs, sums[1]);
        assert_int_equal(counters.nodes, sums[2]);
        assert_int_equal(counters.edges, sums[3]);
    }
    assert_int_equal(sums[1], 180);
    /* every page, but for those of which create has read a piece already */
    assert_in_range(counters.payload_bytes, 25 * 4096, 33 * 4096);
    assert_true(counters.work_ns > 0);
    assert_true(counters.memory_bytes > 0 && counters.memory_bytes <= options.memory_bytes);
    assert_int_equal(counters.prefetch, 8);
    assert_true(leat_graph_loader_wait(loader, 0)); /* at the end there is nothing to wait for */
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* As much prefetch as the memory holds, and no loader without the least of it. */
static void memory(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    leat_graph_loader_counters counters;
    leat_graph_loader *loader = NULL;
    int64_t last = 9, least = 0;
    leat_error err = {0};
    for (options.memory_bytes = INT64_C(2) << 20;; options.memory_bytes -= 10000) {
        if (leat_graph_loader_create(&loader, cache, &options, &err) != LEAT_OK) break;
        leat_graph_loader_get_counters(loader, &counters);
        assert_true(counters.memory_bytes <= options.memory_bytes);
        assert_true(counters.prefetch >= 1 && counters.prefetch <= last);
        last = counters.prefetch;
        least = counters.memory_bytes;
        leat_graph_loader_destroy(loader);
    }
    assert_int_equal(last, 1);
    assert_int_equal(err.code, LEAT_ERR_OPTION);
    char words[64];
    snprintf(words, sizeof words, "but %lld are required", (long long)least);
    assert_non_null(strstr(err.message, words));
    leat_can_cache_close(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches),
        cmocka_unit_test(fixed),
        cmocka_unit_test(identity),
        cmocka_unit_test(large),
        cmocka_unit_test(hash_lines),
        cmocka_unit_test(hash_of_arrays),
        cmocka_unit_test(planned_ahead),
        cmocka_unit_test(more_hosts_than_batches),
        cmocka_unit_test(options_matter),
        cmocka_unit_test(options_by_name),
        cmocka_unit_test(options_refused),
        cmocka_unit_test(oversize),
        cmocka_unit_test(curriculum),
        cmocka_unit_test(scores_refused),
        cmocka_unit_test(explained),
        cmocka_unit_test(listed),
        cmocka_unit_test(held),
        cmocka_unit_test(counters),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, graphs_setup, loader_teardown);
}
