/*
 * Verification of CAN caches: says nothing against one that is right, names every seeded bug, every
 * damaged file and every flipped bit, and says the same for any number of threads. And the summary:
 * what it counts, from all graphs or some, whatever the threads.
 */
/* TSan: a cache verified by several threads. */
#include "graph_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"

static int made_caches;

static void make_whole(make_cache options, char dir[256]) {
    char name[32];
    snprintf(name, sizeof name, "whole-%d", made_caches++);
    options.whole = true;
    graphs_make(name, &options, dir);
}

static leat_can_verify_report *verify_with(const char *dir, int threads, bool quick) {
    leat_verify_options options = leat_verify_options_default();
    leat_can_verify_report *report = NULL;
    leat_error err = {0};
    options.threads = threads;
    options.quick = quick;
    must(leat_can_cache_verify(dir, &options, &report, &err), &err);
    return report;
}

static void print_report(const leat_can_verify_report *report) {
    for (int64_t i = 0; i < report->finding_count; i++)
        print_message("  %s %s, graph %lld: %s\n", report->findings[i].note ? "note" : "problem",
                      report->findings[i].file, (long long)report->findings[i].record,
                      report->findings[i].reason);
}

static const leat_verify_finding *find(const leat_can_verify_report *report, bool note,
                                       const char *file, const char *words) {
    for (int64_t i = 0; i < report->finding_count; i++) {
        const leat_verify_finding *finding = &report->findings[i];
        if (finding->note == note && strstr(finding->file, file) != NULL &&
            strstr(finding->reason, words) != NULL)
            return finding;
    }
    print_report(report);
    fail_msg("nothing says \"%s\" of %s", words, file);
    return NULL;
}

/* Some problem with this file. */
static void expect_problem(const char *dir, const char *file, const char *words) {
    leat_can_verify_report *report = verify_with(dir, 2, false);
    find(report, false, file, words);
    leat_can_verify_report_destroy(report);
}

/* ---- right ---------------------------------------------------------------------------------- */

static void right(void **state) {
    (void)state;
    for (int store = 0; store < 2; store++) {
        char dir[256];
        make_cache options = make_cache_default();
        options.frames = options.unlabelled = store == 1;
        make_whole(options, dir);
        leat_can_verify_report *report = verify_with(dir, 3, false);
        if (report->problem_count > 0) print_report(report);
        assert_int_equal(report->problem_count, 0);
        assert_int_equal(report->note_count, 1);
        find(report, true, "inputs.json", "missing");
        assert_int_equal(report->splits, 2);
        assert_int_equal(report->captures, 2);
        assert_int_equal(report->graphs, 72);
        assert_int_equal(report->edges, 72 * 18);
        assert_true(report->file_bytes > 0 && report->nodes > 72);
        leat_can_verify_report_destroy(report);
        report = verify_with(dir, 1, true);
        assert_int_equal(report->problem_count, 0);
        leat_can_verify_report_destroy(report);
    }
    leat_can_verify_report_destroy(NULL);
}

/* ---- seeded bugs ---------------------------------------------------------------------------- */

/* The first graph with an attack, and the first without. */
static int64_t graph_with(const made_graphs *train, int y) {
    int64_t g = 0;
    while (train->y[g] != y) g++;
    return g;
}

/* A pair of neighbours of one size. */
static int64_t twins(const made_graphs *train) {
    int64_t g = 0;
    const int64_t *ptr = train->node_ptr;
    while (ptr[g + 1] - ptr[g] != ptr[g + 2] - ptr[g + 1]) g++;
    assert_true(g + 1 < train->graphs);
    return g;
}

static void bad_y(made_graphs *t) { t->y[graph_with(t, 1)] = 0; }
static void bad_y_low(made_graphs *t) { t->y[graph_with(t, 0)] = -2; }
static void bad_y_alone(made_graphs *t) { t->y[graph_with(t, 0)] = -1; }
static void bad_type_alone(made_graphs *t) { t->attack_type[graph_with(t, 0)] = -1; }
static void unlabel(made_graphs *t, int64_t g) { t->y[g] = t->attack_type[g] = -1; }
static void bad_attack_unlabelled(made_graphs *t) { unlabel(t, graph_with(t, 1)); }
static void bad_balance_unlabelled(made_graphs *t) { unlabel(t, graph_with(t, 0)); }
static void bad_first_unlabelled(made_graphs *t) {
    bad_balance_unlabelled(t);
    t->attack_first[graph_with(t, -1)] = 3;
}
static void bad_first(made_graphs *t) { t->attack_first[graph_with(t, 1)] = 15; }
static void bad_first_benign(made_graphs *t) { t->attack_first[graph_with(t, 0)] = 0; }
static void bad_count(made_graphs *t) { t->attack_count[graph_with(t, 1)] = 21; }
static void bad_type(made_graphs *t) { t->attack_type[graph_with(t, 1)] = 63; }
static void bad_type_benign(made_graphs *t) { t->attack_type[graph_with(t, 0)] = 2; }
static void bad_capture(made_graphs *t) { t->capture[5] = 2; }
static void bad_start(made_graphs *t) { t->window_start[5]++; }
static void bad_start_high(made_graphs *t) { t->window_start[5] = 10 * (30 + 2 + 6); }
static void bad_start_low(made_graphs *t) { t->window_start[5] = -10; }
/* The first of all windows takes the place of the first one of some size. */
static void bad_window_twice(made_graphs *t) {
    int64_t g = 5;
    while (t->node_ptr[g + 1] - t->node_ptr[g] == t->node_ptr[g] - t->node_ptr[g - 1]) g++;
    assert_true(t->capture[g] > 0 || t->window_start[g] > 0);
    t->capture[g] = 0;
    t->window_start[g] = 0;
}
static void bad_order(made_graphs *t) {
    int64_t g = twins(t), start = t->window_start[g];
    int32_t capture = t->capture[g];
    t->window_start[g] = t->window_start[g + 1];
    t->capture[g] = t->capture[g + 1];
    t->window_start[g + 1] = start;
    t->capture[g + 1] = capture;
}
/* The last window of train to where it meets the first of val. */
static void bad_shared(made_graphs *t) {
    for (int64_t g = 0; g < t->graphs; g++)
        if (t->window_start[g] == 290) t->window_start[g] = 310;
}
static void bad_x(made_graphs *t) { t->x[40 * LEAT_NODE_FEATURES + 3] = NAN; }
static void bad_edge(made_graphs *t) { t->edge_attr[77 * LEAT_EDGE_FEATURES + 3] = -INFINITY; }
static void bad_gap(made_graphs *t) { t->edge_attr[77 * LEAT_EDGE_FEATURES] = -1; }
static void bad_end(made_graphs *t) { t->edge_index[100] = 40; }
static void bad_id(made_graphs *t) { t->node_id[100] = MAKE_VOCAB + 1; }
static void bad_id_order(made_graphs *t) {
    int32_t id = t->node_id[0];
    t->node_id[0] = t->node_id[1];
    t->node_id[1] = id;
}
static void bad_degree(made_graphs *t) { t->x[LEAT_NODE_FEATURES * 7 + 33] += 1; }
static void bad_messages(made_graphs *t) { t->x[LEAT_NODE_FEATURES * 7 + 24] += 1; }
static void bad_ptr(made_graphs *t) { t->node_ptr[7] = t->node_ptr[8] + 1; }
static void bad_frame_id(made_graphs *t) { t->frame_id[300] = MAKE_IDS; }
static void bad_frame_nodes(made_graphs *t) {
    for (int64_t i = 0; i < t->window; i++) t->frame_id[59 * t->window + i] = 0;
}
static void bad_frame_time(made_graphs *t) { t->frame_time[300] = NAN; }
static void bad_frame_order(made_graphs *t) { t->frame_time[305] -= 1; }

static void bad_frame_last(made_graphs *t) { t->frame_time[319] = INFINITY; }
static void bad_frame_last_order(made_graphs *t) { t->frame_time[319] = t->frame_time[317]; }

static const struct bug {
    void (*change)(made_graphs *train);
    const char *words;
    int stores; /* 1: features, 2: frames */
} bugs[] = {
    {bad_y, "y is not attack_count > 0", 3},
    {bad_y_low, "y: ", 3},
    {bad_y_alone, "attack_type: ", 3},
    {bad_type_alone, "attack_type: ", 3},
    {bad_attack_unlabelled, "y says unlabelled, but frames are labelled as attacks", 3},
    {bad_first_unlabelled, "attack_first is set, but no frame is labelled", 3},
    {bad_first, "attack_first leaves fewer", 3},
    {bad_first_benign, "attack_first is set, but no frame is labelled", 3},
    {bad_count, "attack_count is not possible for the window", 3},
    {bad_type, "attack_type is not a valid code", 3},
    {bad_type_benign, "attack_type is set, but no frame is labelled", 3},
    {bad_capture, "capture: 5 and 2 contradict", 3},
    {bad_start, "window_start is not where", 3},
    {bad_start_high, "window_start is not where", 3},
    {bad_start_low, "window_start is not where", 3},
    {bad_window_twice, "belongs to another graph too", 3},
    {bad_order, "is out of order", 3},
    {bad_x, "x has a value that is not finite", 1},
    {bad_edge, "edge_attr has a value that is not finite", 1},
    {bad_gap, "time goes back", 1},
    {bad_end, "an edge or a node's identifier is out of range", 1},
    {bad_id, "an edge or a node's identifier is out of range", 1},
    {bad_id_order, "node_id is out of order", 1},
    {bad_degree, "degrees are not those of its edges", 1},
    {bad_messages, "msg_count of all nodes is not the window", 1},
    {bad_ptr, "node_ptr", 3},
    {bad_frame_id, "a frame's identifier is out of range", 2},
    {bad_frame_nodes, "its frames make a different graph", 2},
    {bad_frame_time, "frame_time has a value that is not finite", 2},
    {bad_frame_order, "frame_time goes back", 2},
    {bad_frame_last, "frame_time has a value that is not finite", 2},
    {bad_frame_last_order, "frame_time goes back", 2},
};

static void seeded(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) {
        for (int store = 1; store <= 2; store++) {
            char dir[256];
            make_cache options = make_cache_default();
            if ((bugs[i].stores & store) == 0) continue;
            options.frames = store == 2;
            options.change = bugs[i].change;
            make_whole(options, dir);
            expect_problem(dir, "train.safetensors", bugs[i].words);
        }
    }
}

static void bad_tail(leat_can_meta *m) { m->captures[1].tail++; }
static void bad_between(leat_can_meta *m) { m->captures[1].between = 4; }
static void bad_dropped(leat_can_meta *m) { m->captures[0].dropped--; }
static void bad_windows(leat_can_meta *m) { m->captures[0].windows++; }
static void bad_dropped_windows(leat_can_meta *m) { m->windows_dropped--; }
static void bad_frames(leat_can_meta *m) { m->captures[0].intervals[0].frames--; }
static void bad_samples(leat_can_meta *m) { m->splits[0].raw_samples++; }
/* More of them than there is room for. */
static void bad_windows_many(leat_can_meta *m) {
    int64_t more = INT64_C(1) << 44;
    m->captures[1].windows += more;
    m->captures[1].frames += more * m->stride;
    m->splits[0].raw_samples += more * m->stride;
}
static void bad_frames_many(leat_can_meta *m) {
    int64_t more = INT64_C(1) << 44;
    m->captures[1].windows += more;
    m->captures[1].frames += more * m->stride;
    m->windows_dropped += more;
}
static void bad_sizes(leat_can_meta *m) { m->splits[1].node_count.p95 += 0.5; }
static void bad_edge_sizes(leat_can_meta *m) { m->splits[1].edge_count.min--; }
static void bad_balance(leat_can_meta *m) {
    m->splits[0].balance[0].windows--;
    m->splits[0].balance[1].windows++;
}
static void bad_window(leat_can_meta *m) { m->window = 21; }

/* A graph that is unlabelled although the metadata counts it as benign. */
static void seeded_unlabelled(void **state) {
    (void)state;
    char dir[256];
    make_cache options = make_cache_default();
    options.change = bad_balance_unlabelled;
    make_whole(options, dir);
    expect_problem(dir, "cache_metadata.json", "0 windows of unlabelled, but there are 1");
}

static void seeded_metadata(void **state) {
    (void)state;
    static const struct {
        void (*change)(leat_can_meta *meta);
        const char *file, *words;
    } changes[] = {
        {bad_tail, "cache_metadata.json", "tail is 4, but 3 by its windows"},
        {bad_between, "cache_metadata.json", "between is 4, but 0 by its windows"},
        {bad_dropped, "cache_metadata.json", "dropped is 9, but 10 by its windows"},
        {bad_windows, "cache_metadata.json", "windows is 39, but 38 by its windows"},
        {bad_dropped_windows, "cache_metadata.json", "num_dropped_windows is 3, but there are 4"},
        {bad_frames, "cache_metadata.json", "frames of its identifiers is 392"},
        {bad_samples, "cache_metadata.json", "num_raw_samples is 787"},
        {bad_windows_many, "cache_metadata.json", "num_dropped_windows is 4, but there are 17"},
        {bad_frames_many, "cache_metadata.json",
         "num_raw_samples is 786, but its captures have 17"},
        {bad_sizes, "cache_metadata.json", "graph_stats.node_count"},
        {bad_edge_sizes, "cache_metadata.json", "graph_stats.edge_count"},
        {bad_balance, "cache_metadata.json", "attack_balance"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char dir[256];
        make_cache options = make_cache_default();
        options.change_meta = changes[i].change;
        make_whole(options, dir);
        expect_problem(dir, changes[i].file, changes[i].words);
    }
    char dir[256];
    make_cache options = make_cache_default();
    options.change = bad_shared;
    make_whole(options, dir);
    expect_problem(dir, "cache_metadata.json", "is in train and in val");
    options.change = NULL;
    options.frames = true;
    options.change_meta = bad_window;
    make_whole(options, dir);
    expect_problem(dir, "train.safetensors", "header is not that of");
}

/* ---- damage --------------------------------------------------------------------------------- */

static const char *const files[] = {"train.safetensors",   "val.safetensors", "train.pages",
                                    "val.pages",           "vocab.json",      "scaler.json",
                                    "cache_metadata.json", ".complete"};
enum { FILES = sizeof files / sizeof *files };

static int64_t size_of(const char *dir, const char *name, char path[400]) {
    leat_path_facts facts;
    leat_error err = {0};
    snprintf(path, 400, "%s/%s", dir, name);
    must(leat_path_stat(path, &facts, &err), &err);
    assert_int_equal(facts.kind, LEAT_PATH_FILE);
    return facts.size_bytes;
}

static void flipped(void **state) {
    (void)state;
    char dir[256], path[400];
    make_cache options = {.graphs = {20, 4}, .window = 20};
    make_whole(options, dir);
    for (int i = 0; i < FILES; i++) {
        int64_t size = size_of(dir, files[i], path);
        for (int64_t k = 0; k < 40; k++) {
            uint64_t draw = leat_random(3, (uint64_t)i, (uint64_t)k);
            int64_t byte = k == 0 ? size - 1 : (int64_t)leat_random_below(draw, (uint64_t)size);
            loader_flip(dir, files[i], byte, (int)(draw % 8));
            leat_can_verify_report *report = verify_with(dir, 2, false);
            if (report->problem_count == 0) fail_msg("%s: byte %lld", files[i], (long long)byte);
            assert_int_equal(report->findings[0].note, false);
            leat_can_verify_report_destroy(report);
            loader_flip(dir, files[i], byte, (int)(draw % 8));
        }
    }
    leat_can_verify_report *report = verify_with(dir, 2, false);
    assert_int_equal(report->problem_count, 0); /* all flipped back */
    leat_can_verify_report_destroy(report);
    loader_flip(dir, "train.safetensors", 2 * 4096 + 17, 3);
    expect_problem(dir, "train.safetensors", "bytes 8192 to 12287: damaged");
}

static void cut_and_gone(void **state) {
    (void)state;
    for (int i = 0; i < FILES; i++) {
        char dir[256], path[400];
        make_cache options = {.graphs = {4, 2}, .window = 20};
        make_whole(options, dir);
        assert_int_equal(truncate(path, size_of(dir, files[i], path) - 1), 0);
        for (int quick = 0; quick < 2; quick++) {
            leat_can_verify_report *report = verify_with(dir, 1, quick == 1);
            find(report, false, files[i], "");
            leat_can_verify_report_destroy(report);
        }
        assert_int_equal(unlink(path), 0);
        for (int quick = 0; quick < 2; quick++) {
            leat_can_verify_report *report = verify_with(dir, 1, quick == 1);
            find(report, false, files[i], "");
            leat_can_verify_report_destroy(report);
        }
    }
}

static void strangers(void **state) {
    (void)state;
    char dir[256], path[400];
    leat_error err = {0};
    make_cache options = {.graphs = {4, 2}, .window = 20};
    make_whole(options, dir);
    snprintf(path, sizeof path, "%s/notes.txt", dir);
    must(leat_file_save(path, "mine", 4, &err), &err);
    snprintf(path, sizeof path, "%s/test_x.safetensors", dir);
    must(leat_file_save(path, "", 0, &err), &err);
    leat_can_verify_report *report = verify_with(dir, 1, false);
    assert_int_equal(report->problem_count, 1);
    find(report, false, "test_x.safetensors", "is not a split");
    find(report, true, "notes.txt", "does not belong");
    leat_can_verify_report_destroy(report);
    leat_verify_options none = leat_verify_options_default();
    assert_int_equal(leat_can_cache_verify("/nowhere", NULL, &report, &err), LEAT_ERR_NOT_FOUND);
    assert_null(report);
    none.threads = 0;
    assert_int_equal(leat_can_cache_verify(dir, &none, &report, &err), LEAT_ERR_OPTION);
    none = leat_verify_options_default();
    none.finding_max = 0;
    assert_int_equal(leat_can_cache_verify(dir, &none, &report, &err), LEAT_ERR_OPTION);
}

/* ---- any number of threads ------------------------------------------------------------------ */

static void bad_everywhere(made_graphs *train) {
    for (int64_t g = 0; g < train->graphs; g += 3) train->attack_first[g] = -7;
}

static bool stop_at_once(void *user, const leat_progress *progress) {
    (void)user;
    (void)progress;
    return false;
}

static void threads(void **state) {
    (void)state;
    char dir[256];
    make_cache options = {.graphs = {3000, 500}, .window = 20, .change = bad_everywhere};
    make_whole(options, dir);
    leat_can_verify_report *first = verify_with(dir, 1, false);
    assert_int_equal(first->problem_count, 1000);
    for (int count = 2; count <= 8; count += count == 3 ? 5 : 1) {
        leat_can_verify_report *report = verify_with(dir, count, false);
        assert_int_equal(report->problem_count, first->problem_count);
        assert_int_equal(report->finding_count, first->finding_count);
        for (int64_t i = 0; i < report->finding_count; i++)
            assert_memory_equal(&report->findings[i], &first->findings[i],
                                sizeof report->findings[i]);
        leat_can_verify_report_destroy(report);
    }
    leat_can_verify_report_destroy(first);
    leat_verify_options few = leat_verify_options_default();
    leat_error err = {0};
    few.finding_max = 5;
    must(leat_can_cache_verify(dir, &few, &first, &err), &err);
    assert_int_equal(first->finding_count, 5);
    assert_int_equal(first->findings[4].record, 12);
    leat_can_verify_report_destroy(first);
    few.progress = stop_at_once;
    assert_int_equal(leat_can_cache_verify(dir, &few, &first, &err), LEAT_ERR_CANCELLED);
}

/* ---- summary -------------------------------------------------------------------------------- */

static leat_can_summary *summarise(const leat_can_cache *cache, int count, int64_t read_bytes) {
    leat_can_summary_options options = leat_can_summary_options_default();
    leat_can_summary *summary = NULL;
    leat_error err = {0};
    options.threads = count;
    options.read_bytes_max = read_bytes;
    must(leat_can_summary_create(&summary, cache, &options, &err), &err);
    return summary;
}

static void expect_column(const leat_can_feature_facts *facts, const float *rows, int64_t count,
                          int columns, int column) {
    double sum = 0, zeros = 0;
    float min = rows[column], max = rows[column];
    for (int64_t i = 0; i < count; i++) {
        float value = rows[i * columns + column];
        sum += (double)value;
        zeros += value == 0;
        if (value < min) min = value;
        if (value > max) max = value;
    }
    assert_true(facts->min == (double)min && facts->max == (double)max);
    assert_true(fabs(facts->mean - sum / (double)count) <= 1e-12 * fabs(sum));
    assert_true(fabs(facts->zeros - zeros / (double)count) < 1e-15);
}

static void expect_columns(const leat_can_summary *summary, const made_graphs *train) {
    for (int k = 0; k < LEAT_NODE_FEATURES; k++)
        expect_column(&summary->x[k], train->x, train->nodes, LEAT_NODE_FEATURES, k);
    for (int k = 0; k < LEAT_EDGE_FEATURES; k++)
        expect_column(&summary->edge_attr[k], train->edge_attr, train->edges, LEAT_EDGE_FEATURES,
                      k);
}

static int compare_counts(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The window of a label: by sorting all of them. */
static void expect_window(const leat_can_summary_window *window, const made_graphs *splits, int y) {
    int64_t nodes[72], count = 0;
    for (int i = 0; i < 2; i++)
        for (int64_t g = 0; g < splits[i].graphs; g++)
            if (splits[i].y[g] == y)
                nodes[count++] = splits[i].node_ptr[g + 1] - splits[i].node_ptr[g];
    if (count == 0) {
        assert_int_equal(window->split, -1);
        return;
    }
    qsort(nodes, (size_t)count, sizeof *nodes, compare_counts);
    int64_t median = nodes[(count - 1) / 2];
    assert_int_equal(window->facts.node_count, median);
    assert_int_equal(window->facts.y, y);
    for (int i = 0; i < 2; i++) {
        const made_graphs *split = &splits[i];
        for (int64_t g = 0; g < split->graphs; g++) {
            if (split->y[g] != y || split->node_ptr[g + 1] - split->node_ptr[g] != median) continue;
            assert_int_equal(window->split, i);
            assert_int_equal(window->facts.graph, g);
            return;
        }
    }
    fail_msg("no window has the median");
}

static void expect_windows(const leat_can_summary *summary, const made_graphs *splits) {
    expect_window(&summary->window[LEAT_CAN_LABEL_BENIGN], splits, 0);
    expect_window(&summary->window[LEAT_CAN_LABEL_ATTACK], splits, 1);
    expect_window(&summary->window[LEAT_CAN_LABEL_UNLABELLED], splits, -1);
}

static leat_can_label label_of(int y) {
    return y > 0   ? LEAT_CAN_LABEL_ATTACK
           : y < 0 ? LEAT_CAN_LABEL_UNLABELLED
                   : LEAT_CAN_LABEL_BENIGN;
}

/* The statistics of an identifier: by looking at each window for it. */
static void expect_identifier(const leat_can_summary_identifier *of, const made_graphs *splits) {
    int64_t windows[LEAT_CAN_LABELS] = {0}, frames[LEAT_CAN_LABELS] = {0};
    for (int i = 0; i < 2; i++) {
        for (int64_t g = 0; g < splits[i].graphs; g++) {
            bool here = false;
            for (int64_t n = splits[i].node_ptr[g]; n < splits[i].node_ptr[g + 1]; n++) {
                if (splits[i].node_id[n] != of->number) continue;
                here = true;
                frames[label_of(splits[i].y[g])] +=
                    (int64_t)splits[i].x[n * LEAT_NODE_FEATURES + LEAT_NODE_MSG_COUNT];
            }
            windows[label_of(splits[i].y[g])] += here;
        }
    }
    assert_memory_equal(of->windows, windows, sizeof windows);
    assert_memory_equal(of->frames, frames, sizeof frames);
}

static void expect_same(const leat_can_summary_identifier *a,
                        const leat_can_summary_identifier *b) {
    assert_int_equal(a->number, b->number);
    assert_memory_equal(a->windows, b->windows, sizeof a->windows);
    assert_memory_equal(a->frames, b->frames, sizeof a->frames);
}

static void expect_identifiers(const leat_can_summary *summary, const made_graphs *splits) {
    bool seen[MAKE_VOCAB + 1] = {false};
    for (int64_t i = 0; i < summary->identifier_count; i++) {
        const leat_can_summary_identifier *of = &summary->identifiers[i];
        assert_in_range(of->number, 0, MAKE_VOCAB);
        assert_false(seen[of->number]);
        seen[of->number] = true;
        assert_int_equal(of->number == 0, of->text == NULL);
        expect_identifier(of, splits);
    }
    for (int i = 0; i < 2; i++)
        for (int64_t n = 0; n < splits[i].nodes; n++) assert_true(seen[splits[i].node_id[n]]);
}

static void expect_summary(const leat_can_summary *summary, const made_graphs *train) {
    const leat_can_summary_split *split = &summary->splits[0];
    int64_t attacks = 0, unlabelled = 0, frames = 0, unknown = 0;
    for (int64_t g = 0; g < train->graphs; g++) {
        attacks += train->y[g] > 0;
        unlabelled += train->y[g] < 0;
        frames += train->attack_count[g];
    }
    for (int64_t i = 0; i < train->nodes; i++) unknown += train->node_id[i] == 0;
    assert_int_equal(split->attack_count, attacks);
    assert_int_equal(split->nodes.count, train->graphs);
    assert_int_equal(split->unlabelled_count, unlabelled);
    assert_int_equal(split->benign_count, train->graphs - attacks - unlabelled);
    assert_int_equal(split->attack_types, 5 + (unlabelled > 0));
    for (int i = 1; i < 5; i++) frames -= split->attacks[i].frames;
    assert_int_equal(frames, 0);
    assert_int_equal(split->attacks[0].graphs, train->graphs - attacks - unlabelled);
    if (unlabelled > 0) {
        assert_int_equal(split->attacks[5].type, -1);
        assert_int_equal(split->attacks[5].graphs, unlabelled);
        assert_false(split->attacks[5].unknown);
    }
    assert_int_equal(split->captures, 2);
    assert_int_equal(split->tail, 6);
    assert_int_equal(split->dropped, 20);
    assert_int_equal(split->unknown_ids, 1);
    assert_int_equal(split->unknown_frames, 2 * (393 - 10));
    assert_string_equal(split->unknown[0].text, "11F");
    assert_int_equal(split->read_graphs, train->graphs);
    assert_int_equal(split->read_nodes, train->nodes);
    assert_int_equal(split->unknown_nodes, unknown);
    expect_columns(summary, train);
    assert_int_equal(summary->capture_count, 2);
    assert_int_equal(summary->captures[0].graphs + summary->captures[1].graphs, 72);
    assert_true(summary->captures[0].course[0] > 0);
    for (int c = 0; c < 2; c++) {
        const leat_can_summary_capture *capture = &summary->captures[c];
        for (int i = 0; i < LEAT_CAN_COURSE; i++)
            assert_true(capture->attack_course[i] + capture->unlabelled_course[i] <=
                        capture->course[i]);
        assert_int_equal(capture->unlabelled_graphs > 0, unlabelled > 0);
    }
}

static void summaries(void **state) {
    (void)state;
    for (int store = 0; store < 2; store++) {
        char dir[256];
        make_cache options = make_cache_default();
        options.frames = options.unlabelled = store == 1;
        options.whole = true;
        make_whole(options, dir);
        made_graphs splits[] = {make_graphs(0, &options), make_graphs(1, &options)};
        leat_can_cache *cache = graphs_open(dir);
        leat_can_summary *summary = summarise(cache, 2, -1);
        assert_int_equal(summary->graphs, summary->read_graphs);
        expect_summary(summary, &splits[0]);
        expect_windows(summary, splits);
        expect_identifiers(summary, splits);
        leat_can_summary_destroy(summary);
        summary = summarise(cache, 2, 0);
        assert_int_equal(summary->read_graphs, 0);
        assert_int_equal(summary->splits[0].nodes.count, splits[0].graphs);
        expect_windows(summary, splits);
        leat_can_summary_destroy(summary);
        leat_can_cache_close(cache);
        for (int i = 0; i < 2; i++) made_graphs_free(&splits[i]);
    }
    leat_can_summary_destroy(NULL);
}

static void summary_threads(void **state) {
    (void)state;
    char dir[256];
    make_cache options = {.graphs = {3000, 500}, .window = 20};
    make_whole(options, dir);
    options.whole = true;
    made_graphs train = make_graphs(0, &options);
    leat_can_cache *cache = graphs_open(dir);
    for (int sample = 0; sample < 2; sample++) {
        int64_t read_bytes = sample == 0 ? -1 : 2000000;
        leat_can_summary *first = summarise(cache, 1, read_bytes);
        if (sample == 1) assert_in_range(first->read_graphs, 200, 2000);
        else expect_columns(first, &train);
        for (int count = 2; count <= 8; count += count == 3 ? 5 : 1) {
            leat_can_summary *summary = summarise(cache, count, read_bytes);
            assert_memory_equal(summary->x, first->x, sizeof first->x);
            assert_memory_equal(summary->edge_attr, first->edge_attr, sizeof first->edge_attr);
            assert_int_equal(summary->read_graphs, first->read_graphs);
            assert_int_equal(summary->identifier_count, first->identifier_count);
            assert_true(first->identifier_count > MAKE_VOCAB / 2);
            for (int64_t i = 0; i < first->identifier_count; i++)
                expect_same(&summary->identifiers[i], &first->identifiers[i]);
            assert_memory_equal(summary->splits, first->splits,
                                sizeof *first->splits * (size_t)first->split_count);
            leat_can_summary_destroy(summary);
        }
        leat_can_summary_destroy(first);
    }
    made_graphs_free(&train);
    leat_can_summary_options none = leat_can_summary_options_default();
    leat_can_summary *summary = NULL;
    leat_error err = {0};
    none.threads = 0;
    assert_int_equal(leat_can_summary_create(&summary, cache, &none, &err), LEAT_ERR_OPTION);
    none = leat_can_summary_options_default();
    none.progress = stop_at_once;
    assert_int_equal(leat_can_summary_create(&summary, cache, &none, &err), LEAT_ERR_CANCELLED);
    leat_can_cache_close(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right),
        cmocka_unit_test(seeded),
        cmocka_unit_test(seeded_metadata),
        cmocka_unit_test(flipped),
        cmocka_unit_test(seeded_unlabelled),
        cmocka_unit_test(cut_and_gone),
        cmocka_unit_test(strangers),
        cmocka_unit_test(threads),
        cmocka_unit_test(summaries),
        cmocka_unit_test(summary_threads),
    };
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
