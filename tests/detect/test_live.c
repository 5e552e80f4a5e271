/* A running bus: its windows are those of a cache of the same log, bit for bit; recordings, buses,
 * identifiers that are missing; and what cannot be followed. */
#include "ingest/core_support.h"

#include <math.h>

#include "base/file.h"
#include "format/can_cache/can_cache.h"
#include "golden_files.h"
#include "leat/detect.h"
#include "leat/ingest.h"
#include "leat/load_can.h"
#include "load/can/cache.h"

/* ---- logs ---- */

/* A frame of a log of two buses, in order of time within each recording, with equal times; `more`:
 * with identifiers that others lack. */
static void put_frame(FILE *file, int i, double time, bool more) {
    const uint64_t bits = leat_random(3, 1, (uint64_t)i);
    const int bus = (int)(bits % 3 == 0), size = (int)(bits >> 8) % 9;
    char data[17] = "", id[9];
    for (int k = 0; k < size; k++)
        sprintf(data + 2 * k, "%02X", (unsigned)(leat_random(3, 2, (uint64_t)i) >> (8 * k)) & 255);
    const unsigned which = (unsigned)(bits >> 20) % 23;
    if (more && which < 4) sprintf(id, "%03X", 0x7ff - (unsigned)(bits >> 40) % 29);
    else if (which < 6) sprintf(id, "%08X", 0x18fef100 + which);
    else sprintf(id, "%03X", 0x100 + which * 7);
    fprintf(file, "(%.6f) can%d %s#%s\n", time, bus, id, data);
}

/* Recordings of a log of one clock that stands still between them. */
static void write_pauses(const char *name) {
    FILE *file = fopen(core_path(name), "w");
    assert_non_null(file);
    for (int i = 0; i < 600; i++) put_frame(file, i, 1000 + i / 200 * 60 + i * 1e-3, false);
    assert_int_equal(fclose(file), 0);
}

/* Three recordings: one that a step back ends, and one that a pause does, and some lines that are
 * not frames. Neither half a second back nor 9 s of silence begin a new one, but the first would be
 * sorted, so it is not there. */
static void write_log(const char *name, bool more) {
    FILE *file = fopen(core_path(name), "w");
    assert_non_null(file);
    double time = 1000;
    for (int i = 0; i < 1500; i++) {
        if (i == 400) time -= 5;
        if (i == 700) time += 9;
        if (i == 1100) time += 12;
        time += (double)(leat_random(3, 3, (uint64_t)i) % 4) * 1e-3;
        put_frame(file, i, time, more);
        if (i % 97 == 5) fprintf(file, "what\n");
    }
    assert_int_equal(fclose(file), 0);
}

static leat_can_ingest_result ingest(const char *train, const char *test,
                                     const leat_can_settings *settings) {
    leat_can_ingest_options options = leat_can_ingest_options_default();
    leat_can_ingest_result result;
    options.settings = *settings;
    options.train = &train;
    options.test = &test;
    options.train_count = options.test_count = 1;
    options.threads = 1;
    options.replace = true;
    options.max_rejected = 0.5;
    options.memory_bytes = INT64_C(512) << 20;
    assert_ok(leat_can_ingest(NULL, 0, core_path("caches"), &options, &result, err));
    return result;
}

/* ---- a cache, and the same log live ---- */

typedef struct known {
    leat_can_cache *cache;
    leat_can_reader *reader;
    leat_can_graph_facts *facts;
    int64_t graphs;
    bool *met;
} known;

static known open_known(const char *path) {
    known of = {0};
    assert_ok(leat_can_cache_open(&of.cache, path, err));
    const leat_can_meta *meta = &of.cache->meta;
    const leat_can_meta_split *split = &meta->splits[meta->split_count - 1];
    assert_true(strncmp(split->name, "test_", 5) == 0);
    assert_ok(leat_can_reader_create(&of.reader, of.cache, split->name, LEAT_SCALE_NONE, err));
    of.graphs = split->graphs;
    of.facts = calloc((size_t)of.graphs + 1, sizeof *of.facts);
    of.met = calloc((size_t)of.graphs + 1, sizeof *of.met);
    for (int64_t i = 0; i < of.graphs; i++)
        assert_ok(leat_can_reader_facts(of.reader, i, &of.facts[i], err));
    return of;
}

static void close_known(known *of) {
    leat_can_reader_destroy(of->reader);
    leat_can_cache_close(of->cache);
    free(of->facts);
    free(of->met);
}

static leat_detect_context context_of(const known *of, const leat_can_settings *settings,
                                      const char **names) {
    const leat_can_meta *meta = &of->cache->meta;
    bool has_bus = settings->bus == LEAT_BUS_SEPARATE && meta->ids.known > 0;
    for (int64_t i = 0; i < meta->ids.known; i++) {
        names[i] = meta->ids.text[i];
        has_bus = has_bus && strchr(names[i], ':') != NULL;
    }
    const bool merged = settings->captures == LEAT_CAPTURES_MERGED;
    assert_false(merged && has_bus); /* a stream of several buses: not for a live one */
    return (leat_detect_context){
        .identifiers = names,
        .identifier_count = meta->ids.known,
        .window = settings->window,
        .stride = settings->stride,
        .graph = {settings->edge_step, settings->self_loops},
        .bus = settings->bus,
        .has_bus = has_bus,
        .split = settings->clock_steps == LEAT_CLOCK_STEPS_SPLIT && !merged,
        .pause_s = settings->pause_s,
    };
}

static int64_t find_graph(const known *of, const leat_live_window *window) {
    for (int64_t i = 0; i < of->graphs; i++) {
        const leat_can_meta_capture *capture = &of->cache->meta.captures[of->facts[i].capture];
        if (of->facts[i].window_start == window->start &&
            (capture->recording == 0 || /* merged */
             (capture->recording == window->recording + 1 && capture->bus == window->bus)))
            return i;
    }
    fail_msg("no window of recording %d, bus %d, from frame %d", (int)window->recording,
             (int)window->bus, (int)window->start);
    return -1;
}

static void expect_window(const known *of, const leat_live_window *window) {
    const int64_t at = find_graph(of, window);
    const leat_graph *graph = &window->graph;
    leat_can_graph want;
    assert_false(of->met[at]);
    of->met[at] = true;
    assert_ok(leat_can_reader_graph(of->reader, at, &want, err));
    const size_t nodes = (size_t)graph->node_count, edges = (size_t)graph->edge_count;
    assert_int_equal(nodes, want.facts.node_count);
    assert_int_equal(edges, want.facts.edge_count);
    assert_memory_equal(graph->x, want.x, nodes * LEAT_NODE_FEATURES * sizeof(float));
    assert_memory_equal(graph->edge_attr, want.edge_attr,
                        edges * LEAT_EDGE_FEATURES * sizeof(float));
    assert_memory_equal(graph->source, want.edge_index, edges * sizeof(int32_t));
    assert_memory_equal(graph->target, want.edge_index + edges, edges * sizeof(int32_t));
    assert_memory_equal(window->node_id, want.node_id, nodes * sizeof(int32_t));
    assert_int_equal(window->y, want.facts.y);
    int32_t unknown = 0;
    for (size_t i = 0; i < nodes; i++) {
        const int32_t id = window->node_id[i];
        if (id > 0) assert_string_equal(window->node_name[i], of->cache->meta.ids.text[id - 1]);
        else if (unknown++ > 0)
            assert_true(strcmp(window->node_name[i - 1], window->node_name[i]) < 0);
    }
    assert_int_equal(window->unknown, unknown);
    assert_int_equal(window->steps_back, 0);
}

static leat_can_frame_reader *open_log(const char *path, const leat_can_settings *settings) {
    leat_can_frame_reader *reader = NULL;
    leat_can_frames_options options = leat_can_frames_options_default();
    options.settings = *settings;
    assert_ok(leat_can_frames_open(&reader, path, &options, err));
    return reader;
}

/* All windows of the test log, by both. Returns how many. */
static int64_t both(const char *train, const char *test, const leat_can_settings *settings,
                    const leat_live_options *options) {
    static const char *names[4096];
    const leat_can_ingest_result result = ingest(train, test, settings);
    known of = open_known(result.cache);
    const leat_detect_context context = context_of(&of, settings, names);
    leat_can_frame_reader *reader = open_log(test, settings);
    leat_live *live = NULL;
    leat_can_frame frame;
    leat_live_counts counts;
    double elapsed_s = 0;
    bool found = true;
    assert_ok(leat_live_create(&live, &context, options, err));
    for (;;) {
        leat_live_step step;
        assert_ok(leat_can_frames_next(reader, &frame, &found, err));
        if (!found) break;
        assert_ok(leat_live_add(live, &frame, &step, err));
        if (step.window == NULL) continue;
        assert_int_equal(step.window->last_line, frame.line);
        assert_true(step.window->end_s == frame.time_s && step.window->elapsed_s >= elapsed_s);
        elapsed_s = step.window->elapsed_s;
        expect_window(&of, step.window);
    }
    leat_live_count(live, &counts);
    const int64_t from = options->from;
    for (int64_t i = 0; i < of.graphs; i++) {
        const leat_can_meta_capture *capture = &of.cache->meta.captures[of.facts[i].capture];
        const bool early = capture->recording == 1 && of.facts[i].window_start < from;
        if (of.met[i] == early) fail_msg("graph %d is %s live", (int)i, early ? "" : "not");
    }
    const int64_t frames_of_test = counts.frames, windows = counts.windows;
    assert_true(frames_of_test > 0);
    leat_live_destroy(live);
    leat_can_frames_close(reader);
    close_known(&of);
    return windows;
}

static leat_can_settings settings_of(int64_t window, int64_t stride, int64_t bus) {
    leat_can_settings settings = leat_can_frames_options_default().settings;
    settings.window = window;
    settings.stride = stride;
    settings.bus = bus;
    settings.val_fraction = 0;
    return settings;
}

static void same_windows(void **state) {
    (void)state;
    write_log("train.log", false);
    write_log("test.log", true);
    static const struct {
        int64_t window, stride, bus, from;
        double pause_s;
        bool other; /* the other ways to make graphs, and steps of the clock that do not count */
    } cases[] = {
        {20, 20, LEAT_BUS_SEPARATE, 0, 0, false},
        {20, 7, LEAT_BUS_SEPARATE, 0, 10, false},
        {20, 50, LEAT_BUS_SEPARATE, 100, 10, true},
        {3, 1, LEAT_BUS_MERGE, 4, 10, false},
        {150, 60, LEAT_BUS_MERGE, 60, 8, true},
        {20, 20, 1, 40, 10, false},
        {40, 41, 0, 0, 0, true},
    };
    int64_t windows = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_can_settings settings = settings_of(cases[i].window, cases[i].stride, cases[i].bus);
        leat_live_options options = leat_live_options_default();
        settings.pause_s = cases[i].pause_s;
        if (cases[i].other) {
            settings.edge_step = LEAT_EDGE_STEP_OWN;
            settings.self_loops = LEAT_SELF_LOOPS_IGNORE;
        }
        options.from = cases[i].from;
        windows += both(core_path("train.log"), core_path("test.log"), &settings, &options);
    }
    print_message("%d windows\n", (int)windows);
    assert_true(windows > 1800);
}

/* Captures that are merged: one stream of one bus, or of all where those are mixed. */
static void merged(void **state) {
    (void)state;
    const leat_live_options options = leat_live_options_default();
    write_log("train.log", false);
    write_pauses("pauses.log");
    for (int mixed = 0; mixed < 2; mixed++) {
        leat_can_settings settings = settings_of(20, 7, mixed ? LEAT_BUS_MERGE : 0);
        settings.captures = LEAT_CAPTURES_MERGED;
        assert_true(both(core_path("train.log"), core_path("pauses.log"), &settings, &options) >
                    40);
    }
}

/* A real bus. */
static void real_bus(void **state) {
    (void)state;
    const char *path = golden_path("data/can/candump/truck_15s.log");
    const leat_can_settings settings = settings_of(100, 100, LEAT_BUS_SEPARATE);
    const leat_live_options options = leat_live_options_default();
    core_image image = core_load(path);
    core_save(core_path("truck.log"), image.data, image.size_bytes);
    free(image.data);
    assert_true(both(path, core_path("truck.log"), &settings, &options) > 20);
}

/* ---- single frames ---- */

static const char *const few[] = {"100", "200", "18FEF100"};
static const double intervals[] = {0.01, 0.5, NAN};

static leat_detect_context few_context(void) {
    return (leat_detect_context){.identifiers = few,
                                 .interval_s = intervals,
                                 .identifier_count = 3,
                                 .window = 4,
                                 .stride = 4,
                                 .bus = LEAT_BUS_SEPARATE,
                                 .split = true};
}

static leat_live *live_of(const leat_detect_context *context, const leat_live_options *options) {
    leat_live *live = NULL;
    assert_ok(leat_live_create(&live, context, options, err));
    return live;
}

static leat_can_frame frame_of(double time_s, const char *id, int bus) {
    leat_can_frame frame = {.time_s = time_s, .bus = (uint16_t)bus, .label = 0, .line = 1};
    snprintf(frame.id, sizeof frame.id, "%s", id);
    return frame;
}

static leat_live_step add(leat_live *live, double time_s, const char *id) {
    const leat_can_frame frame = frame_of(time_s, id, 0);
    leat_live_step step;
    assert_ok(leat_live_add(live, &frame, &step, err));
    return step;
}

static void missing(void **state) {
    (void)state;
    const leat_detect_context context = few_context();
    const leat_live_options options = leat_live_options_default();
    leat_live *live = live_of(&context, &options);
    leat_live_step step;
    /* 100 every 10 ms: it is missed after 1 s, the floor; 200 every 500 ms: after 5 s; 18FEF100,
     * whose interval is not known, and 7FF, which is unknown, never are */
    for (int i = 0; i <= 100; i++) {
        step = add(live, i * 0.01, "100");
        assert_int_equal(step.absence_count, 0);
    }
    step = add(live, 1.0, "200");
    step = add(live, 1.0, "18FEF100");
    for (int i = 1; i <= 600; i++) {
        step = add(live, 1.0 + i * 0.01, "7FF");
        if (i != 101 && i != 501) assert_int_equal(step.absence_count, 0);
        else assert_int_equal(step.absence_count, 1);
        if (i != 101 && i != 501) continue;
        assert_int_equal(step.absences[0].identifier, i == 101 ? 0 : 1);
        assert_false(step.absences[0].returned);
        assert_true(step.absences[0].last_s == 1.0);
        assert_true(fabs(step.absences[0].silent_s - i * 0.01) < 1e-9);
        assert_true(step.absences[0].interval_s == intervals[i == 101 ? 0 : 1]);
    }
    leat_live_counts counts;
    leat_live_count(live, &counts);
    assert_int_equal(counts.missing, 2);
    /* it returns, and is missed again */
    step = add(live, 7.0, "100");
    assert_int_equal(step.absence_count, 1);
    assert_true(step.absences[0].returned && step.absences[0].identifier == 0);
    assert_true(fabs(step.absences[0].silent_s - 6.0) < 1e-9);
    for (int i = 1; i <= 110; i++) step = add(live, 7.0 + i * 0.01, "7FF");
    leat_live_count(live, &counts);
    assert_int_equal(counts.missing, 2);
    /* an hour of silence is nobody's: */
    step = add(live, 7.0 + 3600, "7FF");
    assert_int_equal(step.absence_count, 0);
    step = add(live, 7.0 + 3600, "200");
    assert_int_equal(step.absence_count, 1);
    assert_true(step.absences[0].returned && step.absences[0].silent_s < 10);
    /* a step back by less than a second is none, and a longer one forgets all */
    step = add(live, 7.0 + 3599.5, "200");
    assert_int_equal(step.restart, LEAT_LIVE_GOES_ON);
    step = add(live, 7.0, "200");
    assert_int_equal(step.restart, LEAT_LIVE_STEP_BACK);
    assert_true(step.restart_s == 3599.5);
    leat_live_count(live, &counts);
    assert_int_equal(counts.missing, 0);
    assert_int_equal(counts.falls, 1);
    assert_int_equal(counts.steps_back, 1);
    assert_int_equal(counts.pauses, 0);
    assert_true(fabs(counts.elapsed_s - 3607) < 1e-6);
    leat_live_destroy(live);
}

static leat_live_step add_of(leat_live *live, double time_s, const char *id, int bus) {
    const leat_can_frame frame = frame_of(time_s, id, bus);
    leat_live_step step;
    assert_ok(leat_live_add(live, &frame, &step, err));
    return step;
}

/* Frames of other buses, even with a clock of their own, take no time from the one that is looked
 * at. */
static void missing_on_one(void **state) {
    (void)state;
    const leat_live_options options = leat_live_options_default();
    leat_detect_context context = few_context();
    context.bus = 1;
    for (int way = 0; way < 2; way++) {
        const double ahead_s = way == 0 ? 0 : 500;
        context.split = way == 0;
        leat_live *live = live_of(&context, &options);
        leat_live_counts counts;
        int64_t told = 0;
        (void)add_of(live, 0, "100", 1);
        for (int i = 1; i <= 1200; i++) {
            const double time_s = i * 1e-3;
            if (i % 100 == 0) told += add_of(live, time_s, "200", 1).absence_count;
            else (void)add_of(live, time_s + ahead_s, "100", 0);
            if (i < 1000) assert_int_equal(told, 0);
        }
        assert_int_equal(told, 1);
        leat_live_count(live, &counts);
        assert_int_equal(counts.missing, 1);
        assert_int_equal(counts.falls, 0);
        if (way == 0) assert_true(fabs(counts.elapsed_s - 1.2) < 1e-9);
        leat_live_destroy(live);
    }
    /* nothing on it for longer than the floor is silence, whatever the others do; and a new
     * recording, which they may begin, forgets all */
    context.split = true;
    leat_live *live = live_of(&context, &options);
    (void)add_of(live, 0, "100", 1);
    for (int i = 1; i <= 300; i++) (void)add_of(live, i * 0.01, "100", 0);
    assert_int_equal(add_of(live, 3.01, "200", 1).absence_count, 0);
    (void)add_of(live, 1000, "100", 0);
    assert_int_equal(add_of(live, 1.5, "100", 0).restart, LEAT_LIVE_STEP_BACK);
    for (int i = 0; i <= 200; i++)
        assert_int_equal(add_of(live, 1.5 + i * 0.01, "200", 1).absence_count, 0);
    leat_live_destroy(live);
}

/* Where recordings are not split, a frame of the far future does not stop time. */
static void far_future(void **state) {
    (void)state;
    const leat_live_options options = leat_live_options_default();
    leat_detect_context context = few_context();
    context.split = false;
    leat_live *live = live_of(&context, &options);
    int64_t told = 0;
    (void)add(live, 0, "100");
    (void)add(live, 1e6, "7FF");
    for (int i = 1; i <= 120; i++) {
        const leat_live_step step = add(live, i * 0.01, "7FF");
        assert_int_equal(step.restart, LEAT_LIVE_GOES_ON);
        told += step.absence_count;
    }
    leat_live_counts counts;
    leat_live_count(live, &counts);
    assert_int_equal(told, 1);
    assert_int_equal(counts.missing, 1);
    assert_int_equal(counts.falls, 0);
    assert_true(fabs(counts.elapsed_s - 1e6 - 1.19) < 1e-6);
    leat_live_destroy(live);
}

static void windows(void **state) {
    (void)state;
    const leat_detect_context context = few_context();
    const leat_live_options options = leat_live_options_default();
    leat_live *live = live_of(&context, &options);
    static const char *const ids[] = {"7FF", "200", "6FF", "200"};
    static const char *const want[] = {"200", "6FF", "7FF"};
    leat_live_step step = {0};
    for (int i = 0; i < 4; i++) {
        assert_null(step.window);
        step = add(live, i == 2 ? 0.05 : i * 0.1, ids[i]);
    }
    assert_non_null(step.window);
    assert_int_equal(step.window->steps_back, 1);
    assert_int_equal(step.window->graph.node_count, 3);
    assert_int_equal(step.window->unknown, 2);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(step.window->node_name[i], want[i]);
        assert_int_equal(step.window->node_id[i], i == 0 ? 2 : 0);
    }
    /* the step back took no time */
    assert_true(fabs(step.window->elapsed_s - 0.3) < 1e-12);
    leat_live_destroy(live);
}

/* Windows begin with frame `from` of the first recording alone, on whatever bus. */
static void first_frames(void **state) {
    (void)state;
    static const char *const named[] = {"0:100", "1:100", "2:100"};
    leat_detect_context context = few_context();
    leat_live_options options = leat_live_options_default();
    context.identifiers = named;
    context.has_bus = true;
    options.from = 2;
    leat_live *live = live_of(&context, &options);
    for (int i = 0; i < 41; i++) {
        const int bus = i < 20 ? i / 10 : i == 20 ? 0 : 2; /* the last one is new there */
        const leat_can_frame frame = frame_of(i < 20 ? 100 + i : i, "100", bus);
        leat_live_step step;
        assert_ok(leat_live_add(live, &frame, &step, err));
        const bool ends = i < 20 ? i % 10 == 5 || i % 10 == 9 : i > 20 && i % 4 == 0;
        assert_int_equal(step.window != NULL, ends);
        if (!ends) continue;
        assert_int_equal(step.window->start, i < 20 ? i % 10 - 3 : i - 24);
        assert_int_equal(step.window->bus, bus);
        assert_int_equal(step.window->recording, i >= 20);
        assert_int_equal(step.window->node_id[0], bus + 1);
    }
    leat_live_destroy(live);
}

static void refused_names(void **state) {
    (void)state;
    const leat_live_options plain = leat_live_options_default();
    leat_detect_context context = few_context();
    leat_live *live = NULL;
    static const char *const twice[] = {"100", "200", "100"};
    context.identifiers = twice;
    assert_fails(leat_live_create(&live, &context, &plain, err), LEAT_ERR_INPUT,
                 "\"100\" is twice");
    static const char *const odd[] = {"1:100", "2:200", "300"};
    context.identifiers = odd;
    context.has_bus = true;
    assert_fails(leat_live_create(&live, &context, &plain, err), LEAT_ERR_INPUT,
                 "identifier 3 of the detector, \"300\", is not a bus, a colon, and");
    /* however many zeros a damaged run puts before a bus */
    static const char *const padded[] = {"1:100", "0000000000000000000000001:0F5", "0:300"};
    context.identifiers = padded;
    assert_fails(leat_live_create(&live, &context, &plain, err), LEAT_ERR_INPUT,
                 "identifier 2 of the detector, \"0000000000000000000000001:0F5\", is not a bus");
    static const char *const longer[] = {"100", "12345678901234567", "300"};
    context.identifiers = longer;
    context.has_bus = false;
    assert_fails(leat_live_create(&live, &context, &plain, err), LEAT_ERR_INPUT,
                 "is not a text of up to 16 characters");
    assert_null(live);
}

static void refused(void **state) {
    (void)state;
    const leat_live_options plain = leat_live_options_default();
    leat_detect_context context = few_context();
    leat_live_options options = plain;
    leat_live *live = NULL;
    context.window = 2;
    assert_fails(leat_live_create(&live, &context, &plain, err), LEAT_ERR_OPTION,
                 "window must be between 3 and 4096 frames, not 2");
    context = few_context();
    context.stride = 0;
    assert_fails(leat_live_create(&live, &context, &plain, err), LEAT_ERR_OPTION, "not 0");
    options.stride = -1;
    assert_fails(leat_live_create(&live, &context, &options, err), LEAT_ERR_OPTION,
                 "stride must be between 1 and");
    options = plain;
    options.from = -3;
    context = few_context();
    assert_fails(leat_live_create(&live, &context, &options, err), LEAT_ERR_OPTION, "not -3");
    options = plain;
    options.overdue_floor_s = NAN;
    assert_fails(leat_live_create(&live, &context, &options, err), LEAT_ERR_OPTION, "overdue");
    assert_null(live);
    /* a second bus, where identifiers do not name theirs: after it, the first goes on */
    context = few_context();
    live = live_of(&context, &plain);
    leat_live_step step;
    leat_can_frame frame = frame_of(0, "100", 3);
    assert_ok(leat_live_add(live, &frame, &step, err));
    frame.bus = 4;
    assert_fails(leat_live_add(live, &frame, &step, err), LEAT_ERR_INPUT,
                 "line 1 is of bus 4 after frames of bus 3, but the detector was trained on one "
                 "bus; name the bus that it was trained on with --bus N (3 or 4)");
    frame.bus = 3;
    for (int i = 0; i < 3; i++) assert_ok(leat_live_add(live, &frame, &step, err));
    assert_non_null(step.window);
    leat_live_destroy(live);
    /* as many buses as there may be, and one more */
    static const char *const named[] = {"0:100", "1:100", "63:100"};
    context.identifiers = named;
    context.has_bus = true;
    live = live_of(&context, &plain);
    for (int bus = 0; bus < LEAT_LIVE_BUSES_MAX; bus++) {
        frame.bus = (uint16_t)bus;
        assert_ok(leat_live_add(live, &frame, &step, err));
    }
    frame.bus = LEAT_LIVE_BUSES_MAX;
    assert_fails(leat_live_add(live, &frame, &step, err), LEAT_ERR_LIMIT,
                 "there are 64 others already");
    leat_live_counts counts;
    leat_live_count(live, &counts);
    assert_int_equal(counts.frames, LEAT_LIVE_BUSES_MAX);
    assert_int_equal(counts.buses, LEAT_LIVE_BUSES_MAX);
    leat_live_destroy(live);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_windows),   cmocka_unit_test(merged),
        cmocka_unit_test(real_bus),       cmocka_unit_test(missing),
        cmocka_unit_test(windows),        cmocka_unit_test(far_future),
        cmocka_unit_test(missing_on_one), cmocka_unit_test(first_frames),
        cmocka_unit_test(refused_names),  cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, core_teardown);
}
