/*
 * CAN caches opened: what their JSON says; every graph as it was written, raw and scaled, with
 * stored features and stored frames alike; and of damage, wherever it is, an error and never other
 * bytes.
 */
/* TSan: several threads read one cache. */
#include "graph_support.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/sink.h"
#include <sys/mman.h>

#include "check.h"
#include "load/can/cache.h"
#include "load/can/put.h"

/* ---- what it says -------------------------------------------------------------------------------
 */

static void facts(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_framed);
    leat_can_facts facts;
    leat_can_scaler_facts scaler;
    leat_can_split split;
    leat_can_capture_facts capture;
    leat_error err = {0};
    leat_can_cache_get_facts(cache, &facts);
    assert_string_equal(facts.path, graphs_framed);
    assert_string_equal(facts.dataset, "made");
    assert_int_equal(strlen(facts.fingerprint), 64);
    assert_true(facts.frames);
    assert_int_equal(facts.window, 20);
    assert_int_equal(facts.stride, 10);
    assert_int_equal(facts.split_count, 2);
    assert_int_equal(facts.vocab_count, MAKE_VOCAB);
    assert_int_equal(facts.id_count, MAKE_IDS);
    assert_int_equal(facts.capture_count, 2);
    assert_string_equal(leat_can_cache_setting(cache, "edge-step"), "previous");
    assert_null(leat_can_cache_setting(cache, "colour"));
    assert_non_null(leat_can_cache_setting_name(cache, 0));
    assert_null(leat_can_cache_setting_name(cache, 64));
    assert_string_equal(leat_can_cache_identifier(cache, 1), "101");
    assert_null(leat_can_cache_identifier(cache, MAKE_IDS));
    leat_can_cache_get_scaler(cache, &scaler);
    assert_string_equal(scaler.strategy, "z_benign");
    assert_true(scaler.x_center[34] == make_scaler().x_center[34]);
    assert_true(scaler.edge_scale[10] == make_scaler().edge_scale[10]);
    assert_ok(leat_can_cache_get_split(cache, 1, &split, err));
    assert_string_equal(split.name, "val");
    assert_int_equal(split.graph_count, 12);
    assert_int_equal(split.edge_count, 12 * 18);
    assert_int_equal(split.attack_count, 2);
    assert_string_equal(split.attacks[1].name, "dos");
    assert_int_equal(split.attacks[0].graphs + split.attacks[1].graphs, 12);
    assert_int_equal(leat_can_cache_get_split(cache, 2, &split, &err), LEAT_ERR_OPTION);
    assert_ok(leat_can_cache_get_capture(cache, 1, &capture, err));
    assert_string_equal(capture.file, "DoS-2.csv");
    assert_int_equal(capture.vehicle, 2);
    assert_int_equal(leat_can_cache_get_capture(cache, -1, &capture, &err), LEAT_ERR_OPTION);
    leat_can_cache_close(cache);
}

static void expect_refused(const char *path, leat_code expected, const char *words) {
    leat_can_cache *cache = (leat_can_cache *)1;
    leat_error err = {0};
    assert_int_equal(leat_can_cache_open(&cache, path, &err), expected);
    assert_null(cache);
    if (strstr(err.message, words) == NULL) fail_msg("\"%s\" lacks \"%s\"", err.message, words);
}

/* A cache by its own folder, or by the one that holds it. */
static void folders(void **state) {
    (void)state;
    char parent[300], dir[600], path[700];
    leat_error err = {0};
    make_cache small = {.graphs = {3, 1}, .window = 8};
    snprintf(parent, sizeof parent, "%s/parent", loader_folder());
    must(leat_path_make_dir(parent, &err), &err);
    expect_refused(parent, LEAT_ERR_NOT_FOUND, "does not hold one");
    snprintf(dir, sizeof dir, "%s/.leat-work", parent); /* as that of a run at work */
    must(make_can_cache(dir, &small, &err), &err);
    snprintf(dir, sizeof dir, "%s/torn", parent);
    must(make_can_cache(dir, &small, &err), &err);
    snprintf(path, sizeof path, "%s/%s", dir, LEAT_CAN_COMPLETE_NAME);
    assert_int_equal(unlink(path), 0);
    expect_refused(parent, LEAT_ERR_NOT_FOUND, "does not hold one");
    expect_refused(dir, LEAT_ERR_NOT_FOUND, "not a complete CAN cache");
    snprintf(dir, sizeof dir, "%s/one", parent);
    must(make_can_cache(dir, &small, &err), &err);
    leat_can_cache *cache = graphs_open(parent);
    leat_can_facts facts;
    leat_can_cache_get_facts(cache, &facts);
    assert_string_equal(facts.path, dir);
    leat_can_cache_close(cache);
    snprintf(dir, sizeof dir, "%s/two", parent);
    must(make_can_cache(dir, &small, &err), &err);
    expect_refused(parent, LEAT_ERR_INPUT,
                   "holds 2 caches; give the path of one of them: one, two");
    leat_can_cache_close(graphs_open(dir));
    snprintf(path, sizeof path, "%s/vocab.json", dir);
    expect_refused(path, LEAT_ERR_NOT_FOUND, "is not a folder");
    expect_refused("/nowhere", LEAT_ERR_NOT_FOUND, "is not a folder");
    leat_can_cache_close(NULL);
}

/* ---- graphs -------------------------------------------------------------------------------------
 */

/* As a batch of one. */
static void expect_graph(const made_graphs *made, leat_scale how, const leat_can_graph *graph) {
    int64_t g = graph->facts.graph, n = graph->facts.node_count;
    int64_t ptr[2] = {0, n}, edge_ptr[2] = {0, graph->facts.edge_count};
    int32_t zeros[64] = {0};
    const leat_graph_batch batch = {.graph_count = 1,
                                    .node_count = n,
                                    .edge_count = edge_ptr[1],
                                    .x = graph->x,
                                    .edge_attr = graph->edge_attr,
                                    .edge_index = graph->edge_index,
                                    .node_id = graph->node_id,
                                    .node_graph = zeros,
                                    .node_ptr = ptr,
                                    .edge_ptr = edge_ptr,
                                    .y = &graph->facts.y,
                                    .attack_type = &graph->facts.attack_type,
                                    .graph = &g};
    assert_true(n <= 64);
    graphs_expect(made, how, &batch);
    assert_int_equal(graph->facts.window_start, made->window_start[g]);
    assert_int_equal(graph->facts.capture, made->capture[g]);
    assert_int_equal(graph->facts.attack_first, made->attack_first[g]);
    assert_int_equal(graph->facts.attack_count, made->attack_count[g]);
}

static void expect_graphs(const char *dir, const make_cache *options) {
    static const char *const splits[] = {"train", "val"};
    leat_can_cache *cache = graphs_open(dir);
    leat_error err = {0};
    for (int s = 0; s < 2; s++) {
        made_graphs made = make_graphs(s, options);
        for (int how = LEAT_SCALE_STORED; how <= LEAT_SCALE_NONE; how++) {
            leat_can_reader *reader = NULL;
            leat_can_graph graph;
            must(leat_can_reader_create(&reader, cache, splits[s], how, &err), &err);
            for (int64_t g = made.graphs - 1; g >= 0; g--) {
                must(leat_can_reader_graph(reader, g, &graph, &err), &err);
                assert_int_equal(graph.facts.graph, g);
                expect_graph(&made, how, &graph);
            }
            assert_int_equal(leat_can_reader_graph(reader, made.graphs, &graph, &err),
                             LEAT_ERR_OPTION);
            assert_null(graph.x);
            leat_can_reader_destroy(reader);
        }
        made_graphs_free(&made);
    }
    leat_can_cache_close(cache);
}

/* Windows from the smallest to some that no page holds; however graphs are made. */
static void graphs(void **state) {
    (void)state;
    static const struct {
        int64_t graphs, window;
        bool frames, own_step, no_loops;
    } cases[] = {
        {60, 20, false, false, false}, {60, 20, true, false, false}, {60, 20, true, true, false},
        {60, 20, true, false, true},   {9, 3, false, false, false},  {9, 3, true, false, false},
        {40, 700, false, true, true},  {4, 700, true, true, true},   {0, 20, false, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[16], dir[256];
        make_cache options = {.graphs = {cases[i].graphs, 12},
                              .window = cases[i].window,
                              .frames = cases[i].frames,
                              .own_step = cases[i].own_step,
                              .no_loops = cases[i].no_loops};
        snprintf(name, sizeof name, "graphs_%d", (int)i);
        graphs_make(name, &options, dir);
        expect_graphs(dir, &options);
    }
}

static void readers(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_can_reader *reader = (leat_can_reader *)1;
    leat_error err = {0};
    assert_int_equal(leat_can_reader_create(&reader, cache, "test_dos", LEAT_SCALE_NONE, &err),
                     LEAT_ERR_OPTION);
    assert_null(reader);
    assert_non_null(strstr(err.message, "no split \"test_dos\"; it has train, val"));
    assert_int_equal(leat_can_reader_create(&reader, cache, "train", (leat_scale)7, &err),
                     LEAT_ERR_OPTION);
    leat_can_reader_destroy(NULL);
    pid_t child = fork();
    if (child == 0) {
        leat_code code = leat_can_reader_create(&reader, cache, "train", LEAT_SCALE_NONE, NULL);
        _exit(code == LEAT_ERR_OPTION ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    leat_can_cache_close(cache);
}

static void *read_all(void *context) {
    const leat_can_cache *cache = context;
    leat_can_reader *reader = NULL;
    leat_can_graph graph;
    leat_code code = leat_can_reader_create(&reader, cache, "train", LEAT_SCALE_STORED, NULL);
    for (int64_t g = 0; g < 60 && code == LEAT_OK; g++)
        code = leat_can_reader_graph(reader, g, &graph, NULL);
    leat_can_reader_destroy(reader);
    return code == LEAT_OK ? NULL : context;
}

/* Several threads at the first touch of a split. */
static void readers_at_once(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        leat_can_cache *cache = graphs_open(round % 2 == 0 ? graphs_stored : graphs_framed);
        pthread_t threads[4];
        for (int t = 0; t < 4; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, read_all, cache), 0);
        for (int t = 0; t < 4; t++) {
            void *failed = NULL;
            pthread_join(threads[t], &failed);
            assert_null(failed);
        }
        leat_can_cache_close(cache);
    }
}

/* ---- the loops that put values ------------------------------------------------------------------
 */

enum { PERIOD = 24, VALUES = 200 };

/* Every length, place and way, against one value at a time. */
static void rows_are_put(void **state) {
    (void)state;
    static float in[VALUES + 16], center[PERIOD + LEAT_PUT_SPARE], by[PERIOD + LEAT_PUT_SPARE];
    static float room[2][VALUES + 64] __attribute__((aligned(64)));
    for (int i = 0; i < VALUES + 16; i++) in[i] = (float)leat_random_unit(leat_random(1, 2, i)) * 9;
    for (int i = 0; i < PERIOD + LEAT_PUT_SPARE; i++) {
        center[i] = 0.3F * (float)(i % PERIOD);
        by[i] = 0.7F + 0.2F * (float)(i % PERIOD);
    }
    for (int c = 0; c < 16 * 4 * VALUES; c++) {
        int at = c % 16, count = c / 64, way = c / 16 % 4;
        bool is_scaled = way % 2 == 1;
        leat_put_rows rows = {.values = in + (c % 5),
                              .count = count,
                              .period = PERIOD,
                              .ahead = {(const uint8_t *)in, count % 7 * 32},
                              .stream = way / 2 == 1};
        if (is_scaled) {
            rows.center = center;
            rows.scale = by;
        }
        memset(room, 0x5a, sizeof room);
        leat_put_rows_to(room[0] + at, &rows);
        leat_put_settle();
        leat_put_rows_portable(room[1] + at, &rows);
        assert_memory_equal(room[0], room[1], sizeof room[0]);
        for (int i = 0; i < count; i++) {
            float value = rows.values[i];
            if (is_scaled) value = (value - center[i % PERIOD]) / by[i % PERIOD];
            assert_memory_equal(&room[0][at + i], &value, 4);
        }
        for (int i = 0; i < VALUES + 64; i++) { /* and nothing beside them */
            if (i >= at && i < at + count) continue;
            if (((uint8_t *)room[0])[4 * i] != 0x5a) fail_msg("case %d writes to %d", c, i);
        }
    }
}

static void numbers_are_put(void **state) {
    (void)state;
    static const int32_t odd[] = {-1, 41, INT32_MAX, INT32_MIN, -40};
    int32_t in[48], out[2][64];
    for (int count = 0; count <= 40; count++) {
        for (int bad = -1; bad < count; bad++) {
            for (int k = 0; k < (bad < 0 ? 1 : 5); k++) {
                for (int i = 0; i < 48; i++) in[i] = i * 7 % 41;
                if (bad >= 0) in[1 + bad] = odd[k];
                memset(out, 0, sizeof out);
                bool good = leat_put_numbers(out[0] + count % 3, in + 1, count, 40, 1000);
                assert_int_equal(good, bad < 0);
                assert_int_equal(
                    leat_put_numbers_portable(out[1] + count % 3, in + 1, count, 40, 1000), good);
                assert_memory_equal(out[0], out[1], sizeof out[0]);
                assert_int_equal(out[0][count % 3 + count], 0);
                for (int i = 0; i < count && good; i++)
                    assert_int_equal(out[0][count % 3 + i], in[1 + i] + 1000);
            }
        }
    }
    assert_true(leat_put_numbers(out[0], in, 0, -1, 0));  /* no node, no edge */
    assert_false(leat_put_numbers(out[0], in, 1, -1, 0)); /* an edge of no node */
}

/* ---- damage -------------------------------------------------------------------------------------
 */

/* Reads all graphs of a split, which must be those that were made or fail; how many fail. */
static int count_failures(const char *dir, const char *split, const made_graphs *made) {
    leat_can_cache *cache = graphs_open(dir);
    leat_can_reader *reader = NULL;
    leat_can_graph graph;
    leat_error err = {0};
    int failures = 0;
    leat_code code = leat_can_reader_create(&reader, cache, split, LEAT_SCALE_STORED, &err);
    if (code != LEAT_OK) {
        assert_int_equal(code, LEAT_ERR_CORRUPT);
        failures = 1000;
    }
    for (int64_t g = 0; g < made->graphs && code == LEAT_OK; g++) {
        leat_code read = leat_can_reader_graph(reader, g, &graph, &err);
        if (read == LEAT_OK) {
            expect_graph(made, LEAT_SCALE_STORED, &graph);
            continue;
        }
        assert_int_equal(read, LEAT_ERR_CORRUPT);
        assert_non_null(strstr(err.message, split));
        assert_non_null(strstr(err.message, "page at byte")); /* seen by its hash */
        assert_null(graph.x);
        failures++;
    }
    leat_can_reader_destroy(reader);
    leat_can_cache_close(cache);
    return failures;
}

static int64_t size_of(const char *dir, const char *name) {
    char path[400];
    leat_path_facts facts;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    must(leat_path_stat(path, &facts, NULL), NULL);
    return facts.size_bytes;
}

static void flip_page(const char *dir, const made_graphs *made, int64_t size, int64_t page) {
    int64_t left = size - page * LEAT_PAGE_BYTES;
    uint64_t most = (uint64_t)(left < LEAT_PAGE_BYTES ? left : LEAT_PAGE_BYTES);
    int64_t byte = page * LEAT_PAGE_BYTES +
                   (int64_t)leat_random_below(leat_random(5, 5, (uint64_t)page), most);
    loader_flip(dir, "train.safetensors", byte, (int)(page % 8));
    int failures = count_failures(dir, "train", made);
    if (failures == 0) fail_msg("byte %d changes and nobody sees it", (int)byte);
    loader_flip(dir, "train.safetensors", byte, (int)(page % 8));
}

/* A bit of every page: what lies there is an error, everything else is as it was. Of a larger file
 * a page within each tensor, so that none is seen for the sake of its neighbours. */
static void pages_flipped(const char *dir, const make_cache *options, bool each) {
    made_graphs made = make_graphs(0, options);
    leat_safetensors *tensors = NULL;
    char path[400];
    int64_t size = size_of(dir, "train.safetensors");
    assert_int_equal(count_failures(dir, "train", &made), 0);
    for (int64_t page = 0; each && page * LEAT_PAGE_BYTES < size; page++)
        flip_page(dir, &made, size, page);
    snprintf(path, sizeof path, "%s/train.safetensors", dir);
    assert_ok(leat_safetensors_read(&tensors, path, err));
    for (int64_t i = 0; i < leat_safetensors_count(tensors); i++) {
        const leat_tensor *tensor = leat_safetensors_at(tensors, i);
        for (int quarter = 1; quarter < 4; quarter += 2) { /* both rows of edge_index */
            int64_t byte = tensor->offset + tensor->size_bytes * quarter / 4;
            flip_page(dir, &made, size, byte / LEAT_PAGE_BYTES);
        }
    }
    leat_safetensors_destroy(tensors);
    assert_int_equal(count_failures(dir, "train", &made), 0);
    made_graphs_free(&made);
}

static void damaged_pages(void **state) {
    (void)state;
    for (int frames = 0; frames < 2; frames++) {
        make_cache small = make_cache_default(), large = {.graphs = {2500, 1}, .window = 10};
        char dir[256];
        small.frames = large.frames = frames;
        pages_flipped(frames ? graphs_framed : graphs_stored, &small, true);
        graphs_make("many", &large, dir);
        pages_flipped(dir, &large, false);
    }
}

/* The small files: no bit of them goes unnoticed. */
static void damaged_words(void **state) {
    (void)state;
    static const char *const names[] = {"vocab.json", "scaler.json", "cache_metadata.json",
                                        ".complete", "train.pages"};
    make_cache options = make_cache_default();
    made_graphs made = make_graphs(0, &options);
    for (int f = 0; f < 5; f++) {
        int64_t size = size_of(graphs_stored, names[f]);
        for (int64_t byte = 0; byte < size; byte += f == 2 ? 7 : 3) {
            leat_can_cache *cache = NULL;
            loader_flip(graphs_stored, names[f], byte, (int)(byte % 8));
            if (f == 4) {
                assert_int_equal(count_failures(graphs_stored, "train", &made), 1000);
            } else if (leat_can_cache_open(&cache, graphs_stored, NULL) == LEAT_OK) {
                fail_msg("%s: byte %d changes and nobody sees it", names[f], (int)byte);
            }
            loader_flip(graphs_stored, names[f], byte, (int)(byte % 8));
        }
    }
    assert_int_equal(count_failures(graphs_stored, "train", &made), 0);
    made_graphs_free(&made);
}

static void truncated(void **state) {
    (void)state;
    static const char *const names[] = {"train.safetensors", "train.pages"};
    make_cache options = make_cache_default();
    made_graphs made = make_graphs(0, &options);
    char dir[256], path[400];
    graphs_make("truncated", &options, dir);
    for (int f = 0; f < 2; f++) {
        int64_t size = size_of(dir, names[f]);
        snprintf(path, sizeof path, "%s/%s", dir, names[f]);
        static const int64_t cut[] = {1, 8, 4096, 40000, 0};
        for (int c = 0; c < 5; c++) {
            int64_t keep = cut[c] == 0 ? 0 : size - cut[c];
            if (keep < 0) continue;
            assert_int_equal(truncate(path, keep), 0);
            assert_int_equal(count_failures(dir, "train", &made), 1000);
            must(make_can_cache(dir, &options, NULL), NULL); /* whole again */
        }
        assert_int_equal(truncate(path, size + 1), 0);
        assert_int_equal(count_failures(dir, "train", &made), 1000);
        must(make_can_cache(dir, &options, NULL), NULL);
        assert_int_equal(unlink(path), 0);
        leat_can_reader *reader = NULL;
        leat_can_cache *cache = graphs_open(dir);
        assert_fails(
            leat_can_reader_create(&reader, cache, "train", LEAT_SCALE_NONE, err), LEAT_ERR_CORRUPT,
            "is missing; repeat the `leat ingest can` command of this cache with --replace");
        leat_can_cache_close(cache);
        must(make_can_cache(dir, &options, NULL), NULL);
    }
    made_graphs_free(&made);
}

/* Cut while it is mapped, at a page: an error that says so, of the graphs that are gone, and no
 * signal. */
static void cut_while_open(void **state) {
    (void)state;
    make_cache options = make_cache_default();
    char dir[256], path[400];
    for (int frames = 0; frames < 2; frames++) {
        int gone = 0;
        options.frames = frames;
        made_graphs made = make_graphs(0, &options);
        graphs_make("cut", &options, dir);
        snprintf(path, sizeof path, "%s/train.safetensors", dir);
        leat_can_cache *cache = graphs_open(dir);
        leat_can_reader *reader = NULL;
        leat_can_graph graph;
        leat_error err = {0};
        must(leat_can_reader_create(&reader, cache, "train", LEAT_SCALE_STORED, &err), &err);
        for (int64_t g = 0; g < 20; g++) must(leat_can_reader_graph(reader, g, &graph, &err), &err);
        int64_t pages = size_of(dir, "train.safetensors") / LEAT_PAGE_BYTES;
        assert_int_equal(truncate(path, pages / 2 * LEAT_PAGE_BYTES), 0);
        for (int64_t g = 0; g < made.graphs; g++) {
            leat_code code = leat_can_reader_graph(reader, g, &graph, &err);
            if (code == LEAT_OK) expect_graph(&made, LEAT_SCALE_STORED, &graph);
            else assert_int_equal(code, LEAT_ERR_IO);
            gone += code != LEAT_OK;
        }
        assert_true(gone > 0);
        leat_can_reader_destroy(reader);
        leat_can_cache_close(cache);
        made_graphs_free(&made);
    }
}

/* A page that fails on the disk, after it was checked: of a file that has none there. */
static void fail_page(const leat_graph_file *file, int64_t page) {
    char path[300];
    snprintf(path, sizeof path, "%s/empty", loader_folder());
    FILE *empty = fopen(path, "w+");
    assert_non_null(empty);
    void *at = (void *)(uintptr_t)(file->paged.data + page * LEAT_PAGE_BYTES);
    assert_true(mmap(at, LEAT_PAGE_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED, fileno(empty), 0) ==
                at);
    assert_int_equal(fclose(empty), 0);
}

/* Just the graphs that lie there fail, from then on. */
static void failing_page(void **state) {
    (void)state;
    make_cache options = make_cache_default();
    made_graphs made = make_graphs(0, &options);
    for (int frames = 0; frames < 2; frames++) {
        leat_can_cache *cache = graphs_open(frames ? graphs_framed : graphs_stored);
        const leat_graph_file *file = NULL;
        leat_can_reader *reader = NULL;
        leat_can_graph graph;
        leat_error err = {0};
        int failures = 0;
        must(leat_can_reader_create(&reader, cache, "train", LEAT_SCALE_STORED, &err), &err);
        must(leat_can_cache_file(cache, "train", &file, &err), &err);
        for (int64_t g = 0; g < 60; g++) must(leat_can_reader_graph(reader, g, &graph, &err), &err);
        fail_page(file, file->at[frames ? LEAT_CAN_FRAME_TIME : LEAT_CAN_X] / LEAT_PAGE_BYTES + 1);
        for (int64_t i = 0; i < 180; i++) {
            leat_code code = leat_can_reader_graph(reader, i % 60, &graph, &err);
            if (code == LEAT_OK) expect_graph(&made, LEAT_SCALE_STORED, &graph);
            else assert_int_equal(code, LEAT_ERR_IO);
            failures += code != LEAT_OK;
        }
        assert_true(failures >= 3 && failures < 150 && failures % 3 == 0);
        leat_can_reader_destroy(reader);
        leat_can_cache_close(cache);
    }
    made_graphs_free(&made);
}

/* ---- files that lie -----------------------------------------------------------------------------
 */

static void edge_outside(made_graphs *made) { made->edge_index[made->edge_ptr[7] + 3] = 60; }
static void edge_below(made_graphs *made) { made->edge_index[made->edges + 5] = -1; }
static void edge_of_next(made_graphs *made) {
    made->edge_index[made->edge_ptr[7]] = (int32_t)(made->node_ptr[8] - made->node_ptr[7]);
}
static void id_above(made_graphs *made) { made->node_id[made->node_ptr[7]] = MAKE_VOCAB + 1; }
static void id_below(made_graphs *made) { made->node_id[made->node_ptr[7]] = -1; }
static void ptr_back(made_graphs *made) { made->node_ptr[7] = made->node_ptr[6] - 1; }
static void ptr_first(made_graphs *made) { made->node_ptr[0] = 1; }
static void ptr_last(made_graphs *made) { made->edge_ptr[made->graphs]--; }
static void ptr_far(made_graphs *made) { made->edge_ptr[7] = INT64_MAX; }
static void ptr_large(made_graphs *made) { /* one graph with all nodes of many */
    for (int64_t g = 30; g < made->graphs; g++) made->node_ptr[g] = made->nodes;
}
static void ptr_negative(made_graphs *made) { made->node_ptr[7] = INT64_MIN; }
static void label_other(made_graphs *made) { made->y[7] = 2; }
static void type_above(made_graphs *made) { made->attack_type[7] = 64; }
static void type_below(made_graphs *made) { made->attack_type[7] = -1; }
static void capture_above(made_graphs *made) { made->capture[7] = 2; }
static void frame_of_none(made_graphs *made) { made->frame_id[7 * made->window] = MAKE_IDS; }
static void frame_of_another(made_graphs *made) {
    for (int64_t i = 0; i < made->window; i++) made->frame_id[7 * made->window + i] = 0;
}
static void frame_wild(made_graphs *made) {
    made->frame_time[7 * made->window + 1] = 1e308 * 10;
    made->frame_time[7 * made->window + 2] = -1e308;
    made->frame_bytes[7 * made->window + 1][0] = INT16_MIN;
}

/* Pages that are what was written, by somebody who wrote what no cache may hold. */
static void lies(void **state) {
    (void)state;
    static const struct {
        void (*change)(made_graphs *made);
        bool frames, opens;
        const char *words;
    } cases[] = {
        {edge_outside, false, true, "graph 7: an edge or a node's identifier"},
        {edge_below, false, true, "graph 0: an edge or a node's identifier"},
        {edge_of_next, false, true, "graph 7: an edge or a node's identifier"},
        {id_above, false, true, "graph 7: an edge or a node's identifier is out of range"},
        {id_below, false, true, "graph 7: an edge or a node's identifier is out of range"},
        {ptr_back, false, false, "node_ptr"},
        {ptr_first, false, false, "node_ptr"},
        {ptr_last, false, false, "edge_ptr"},
        {ptr_far, true, false, "edge_ptr"},
        {ptr_large, false, false, "node_ptr"},
        {ptr_negative, true, false, "node_ptr"},
        {label_other, false, false, "y"},
        {type_above, false, false, "attack_type"},
        {type_below, false, false, "attack_type"},
        {capture_above, false, true, "capture"},
        {frame_of_none, true, true, "graph 7: a frame's identifier is out of range"},
        {frame_of_another, true, true, "graph 7: its frames make a different graph"},
        {frame_wild, true, true, NULL}, /* numbers like others */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_cache options = make_cache_default();
        char dir[256];
        leat_can_reader *reader = NULL;
        leat_error err = {0};
        leat_code code = LEAT_OK;
        options.frames = cases[i].frames;
        options.change = cases[i].change;
        graphs_make("lies", &options, dir);
        leat_can_cache *cache = graphs_open(dir);
        leat_code created = leat_can_reader_create(&reader, cache, "train", LEAT_SCALE_NONE, &err);
        assert_int_equal(created == LEAT_OK, cases[i].opens);
        for (int64_t g = 0; g < 60 && created == LEAT_OK && code == LEAT_OK; g++) {
            leat_can_graph graph;
            code = leat_can_reader_graph(reader, g, &graph, &err);
        }
        if (created != LEAT_OK) code = created;
        assert_int_equal(code, cases[i].words == NULL ? LEAT_OK : LEAT_ERR_CORRUPT);
        if (cases[i].words != NULL && strstr(err.message, cases[i].words) == NULL)
            fail_msg("case %d: \"%s\"", (int)i, err.message);
        leat_can_reader_destroy(reader);
        leat_can_cache_close(cache);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts),
        cmocka_unit_test(folders),
        cmocka_unit_test(graphs),
        cmocka_unit_test(readers),
        cmocka_unit_test(readers_at_once),
        cmocka_unit_test(rows_are_put),
        cmocka_unit_test(numbers_are_put),
        cmocka_unit_test(damaged_pages),
        cmocka_unit_test(damaged_words),
        cmocka_unit_test(truncated),
        cmocka_unit_test(cut_while_open),
        cmocka_unit_test(failing_page),
        cmocka_unit_test(lies),
    };
    return cmocka_run_group_tests(tests, graphs_setup, loader_teardown);
}
