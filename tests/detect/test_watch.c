/* A run's detector on a running bus: its scores, and what it blames, are those of an evaluation of
 * a cache of the same log, bit for bit; for each model, however windows overlap. */
#include "ingest/core_support.h"

#include <math.h>

#include "base/file.h"
#include "leat/detect_run.h"
#include "leat/ingest.h"
#include "leat/load_can.h"
#include "load/can/cache.h"

enum { WINDOW = 20, FRAMES = 1600 };

/* ---- logs, a cache, and runs ---- */

/* A frame a millisecond; a third of the second half is injected, some by identifiers of its own. */
static void write_log(const char *name, int seed, bool clean) {
    FILE *file = fopen(core_path(name), "w");
    assert_non_null(file);
    fprintf(file, "timestamp,arbitration_id,data_field,attack\n");
    for (int i = 0; i < FRAMES; i++) {
        const uint64_t bits = leat_random(9, (uint64_t)seed, (uint64_t)i);
        const bool attack = !clean && i > FRAMES / 2 && i / 50 % 3 == 0 && bits % 3 == 0;
        const unsigned id =
            attack ? 0x700 + (unsigned)(bits >> 9) % 5 : 0x100u + (unsigned)(i * i % 13);
        fprintf(file, "%.6f,%03X,%04X,%d\n", 1000 + i * 1e-3, id,
                (unsigned)(attack ? bits >> 20 : (uint64_t)i * 7) & 0xffff, attack);
    }
    assert_int_equal(fclose(file), 0);
}

/* With `like`, as that cache; captures are merged for the folder "merged". */
static void ingest(const char *dir, int64_t stride, const char *like,
                   leat_can_ingest_result *result) {
    static const char *const train[] = {"normal.csv", "train.csv"};
    char paths[3][LEAT_PATH_BYTES];
    const char *trains[2], *test = paths[2];
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s", core_path(train[i]));
        trains[i] = paths[i];
    }
    snprintf(paths[2], sizeof paths[2], "%s", core_path("test.csv"));
    leat_can_ingest_options options = leat_can_ingest_options_default();
    options.settings.window = WINDOW;
    options.settings.stride = stride;
    if (strcmp(dir, "merged") == 0) options.settings.captures = LEAT_CAPTURES_MERGED;
    options.train = trains;
    options.train_count = 2;
    options.test = &test;
    options.test_count = 1;
    options.threads = 1;
    options.like = like;
    options.memory_bytes = INT64_C(512) << 20;
    assert_ok(leat_can_ingest(NULL, 0, core_path(dir), &options, result, err));
}

static void train(const char *model, const char *cache, const char *run) {
    leat_train_options options = leat_train_options_default();
    leat_setting_memory settings;
    leat_train_result result;
    leat_train_settings_table(model)->set_defaults(&settings);
    options.settings = &settings;
    options.unit_size = 1;
    options.micro_batch = 16;
    options.steps = 3;
    options.checkpoint_every = 3;
    options.sample_every = 0;
    options.threads = 1;
    assert_ok(leat_train(model, cache, core_path(run), &options, &result, err));
}

static const char *const models[] = {"vgae", "gat"};
static leat_can_ingest_result made, dense;

static int setup(void **state) {
    (void)state;
    write_log("normal.csv", 1, true);
    write_log("train.csv", 2, false);
    write_log("test.csv", 3, false);
    ingest("caches", WINDOW, NULL, &made);
    ingest("dense", 7, made.cache, &dense);
    for (int m = 0; m < 2; m++) train(models[m], made.cache, models[m]);
    return 0;
}

/* ---- an evaluation, and the same log live ---- */

static leat_evaluation *evaluate(const char *run, const char *cache,
                                 const leat_evaluation_options *options) {
    leat_evaluation *out = NULL;
    assert_ok(leat_evaluation_create(&out, &run, 1, cache, options, err));
    assert_int_equal(out->split_count, 1);
    return out;
}

static leat_can_frame_reader *open_log(const leat_watch *watch) {
    leat_can_frames_options options = leat_can_frames_options_default();
    leat_can_frame_reader *reader = NULL;
    assert_string_equal(leat_watch_setting(watch, "identifiers"), "canonical");
    assert_null(leat_watch_setting(watch, "nothing"));
    assert_ok(leat_can_frames_open(&reader, core_path("test.csv"), &options, err));
    return reader;
}

/* The evaluation's window that begins with a frame of the log's only capture. */
static int64_t find_window(const leat_eval_windows *windows, int64_t start) {
    for (int64_t i = 0; i < windows->count; i++) {
        if (windows->start[i] == start) return i;
    }
    fail_msg("no window begins with frame %d", (int)start);
    return -1;
}

static void compare(const leat_evaluation *of, leat_watch *watch, int64_t from) {
    const leat_evaluation_split *split = &of->splits[0];
    leat_can_frame_reader *reader = open_log(watch);
    leat_can_frame frame;
    bool found = true;
    int64_t windows = 0, alarms = 0;
    for (;;) {
        leat_watched step;
        assert_ok(leat_can_frames_next(reader, &frame, &found, err));
        if (!found) break;
        assert_ok(leat_watch_add(watch, &frame, &step, err));
        if (step.live.window == NULL) continue;
        assert_true(step.scored && step.why[0] == 0);
        const int64_t at = find_window(&split->windows, step.window.start);
        assert_memory_equal(&step.window.score, &split->scores[0][at], sizeof(double));
        assert_int_equal(step.window.cause.feature, split->blamed_features[0][at]);
        const int32_t id = split->blamed_identifiers[0][at];
        if (id > 0)
            assert_string_equal(step.window.cause.identifier, leat_watch_identifier(watch, id - 1));
        else assert_int_equal(step.window.cause.identifier[0], '7');
        assert_int_equal(step.live.window->y, split->windows.label[at]);
        assert_int_equal(step.window.alarms, split->scores[0][at] > of->methods[0].threshold.value);
        windows++;
        alarms += step.window.alarms;
    }
    int64_t early = 0;
    for (int64_t i = 0; i < split->windows.count; i++) early += split->windows.start[i] < from;
    assert_int_equal(windows, split->windows.count - early);
    print_message("%s: %d windows, %d alarms\n", of->methods[0].name, (int)windows, (int)alarms);
    leat_can_frames_close(reader);
}

static void check_facts(const leat_watch *watch, const leat_evaluation *of) {
    leat_watch_facts facts;
    leat_watch_get_facts(watch, &facts);
    assert_string_equal(facts.model, of->methods[0].name);
    assert_string_equal(facts.score, of->methods[0].score);
    assert_string_equal(facts.state, of->runs[0].state);
    assert_int_equal(facts.step, of->runs[0].step);
    assert_true(facts.threshold.value == of->methods[0].threshold.value);
    assert_int_equal(facts.window, WINDOW);
    assert_int_equal(facts.identifiers - facts.timed, 5); /* those that only attacks have */
    assert_int_equal(facts.bus, LEAT_BUS_SEPARATE);
    assert_true(facts.memory_bytes > 0 && facts.memory_bytes < INT64_C(64) << 20);
}

static void same_scores(void **state) {
    (void)state;
    for (int k = 0; k < 5; k++) {
        const char *run = core_path(models[k % 2]);
        leat_watch_options options = leat_watch_options_default();
        leat_watch *watch = NULL;
        options.detector.bootstrap.replicates = 0;
        options.detector.threads = 1;
        options.detector.target_fpr = 0.1;
        if (k == 4) options.detector.score = LEAT_WINDOW_SCORE_REFERENCE;
        options.live.stride = k < 2 ? 0 : 7;
        options.live.from = k < 4 ? 0 : 70;
        leat_evaluation *of = evaluate(run, k < 2 ? made.cache : dense.cache, &options.detector);
        assert_ok(leat_watch_open(&watch, run, &options, err));
        check_facts(watch, of);
        compare(of, watch, options.live.from);
        leat_watch_close(watch);
        leat_evaluation_destroy(of);
    }
}

/* ---- two buses ---- */

static void write_buses(const char *name, int seed, bool more) {
    FILE *file = fopen(core_path(name), "w");
    assert_non_null(file);
    for (int i = 0; i < FRAMES; i++) {
        const uint64_t bits = leat_random(9, (uint64_t)seed, (uint64_t)i);
        const unsigned id = more && bits % 50 == 0 ? 0x7f0 + (unsigned)(bits >> 9) % 4
                                                   : 0x100u + (unsigned)(i * i % 13);
        fprintf(file, "(%.6f) can%d %03X#%04X\n", 1000 + i * 1e-3, (int)(bits >> 32) % 2, id,
                (unsigned)(i * 7) & 0xffff);
    }
    assert_int_equal(fclose(file), 0);
}

static void ingest_buses(const char *dir, leat_can_captures captures,
                         leat_can_ingest_result *result) {
    char paths[2][LEAT_PATH_BYTES];
    const char *train_log = paths[0], *test_log = paths[1];
    snprintf(paths[0], sizeof paths[0], "%s", core_path("buses.log"));
    snprintf(paths[1], sizeof paths[1], "%s", core_path("more.log"));
    leat_can_ingest_options options = leat_can_ingest_options_default();
    options.settings.window = options.settings.stride = WINDOW;
    options.settings.unlabelled = LEAT_UNLABELLED_BENIGN;
    options.settings.captures = captures;
    options.train = &train_log;
    options.test = &test_log;
    options.train_count = options.test_count = 1;
    options.threads = 1;
    options.memory_bytes = INT64_C(512) << 20;
    assert_ok(leat_can_ingest(NULL, 0, core_path(dir), &options, result, err));
}

/* Identifiers have their bus, and so have unknown ones that are blamed. */
static void two_buses(void **state) {
    (void)state;
    leat_can_ingest_result result;
    leat_can_cache *cache = NULL;
    write_buses("buses.log", 11, false);
    write_buses("more.log", 12, true);
    ingest_buses("two", LEAT_CAPTURES_SEPARATE, &result);
    train("vgae", result.cache, "two_buses");
    leat_watch_options options = leat_watch_options_default();
    options.detector.bootstrap.replicates = 0;
    options.detector.threads = 1;
    leat_evaluation *of = evaluate(core_path("two_buses"), result.cache, &options.detector);
    const leat_evaluation_split *split = &of->splits[0];
    leat_watch *watch = NULL;
    assert_ok(leat_can_cache_open(&cache, result.cache, err));
    assert_ok(leat_watch_open(&watch, core_path("two_buses"), &options, err));
    leat_can_frame_reader *reader = NULL;
    const leat_can_frames_options frames = leat_can_frames_options_default();
    assert_ok(leat_can_frames_open(&reader, core_path("more.log"), &frames, err));
    bool found = true;
    int64_t windows = 0, unknown = 0;
    for (;;) {
        leat_can_frame frame;
        leat_watched step;
        assert_ok(leat_can_frames_next(reader, &frame, &found, err));
        if (!found) break;
        assert_ok(leat_watch_add(watch, &frame, &step, err));
        if (step.live.window == NULL) continue;
        int64_t at = 0;
        while (at < split->windows.count &&
               (split->windows.start[at] != step.window.start ||
                cache->meta.captures[split->windows.capture[at]].bus != step.window.bus))
            at++;
        assert_true(at < split->windows.count);
        assert_memory_equal(&step.window.score, &split->scores[0][at], sizeof(double));
        const char *name = step.window.cause.identifier;
        const int32_t id = split->blamed_identifiers[0][at];
        assert_true(name[0] == '0' + step.window.bus && name[1] == ':');
        if (id > 0) assert_string_equal(name, leat_watch_identifier(watch, id - 1));
        else assert_true(strncmp(name + 2, "7F", 2) == 0);
        windows++;
        unknown += id == 0;
    }
    assert_int_equal(windows, split->windows.count);
    assert_true(unknown > 0);
    leat_can_frames_close(reader);
    leat_watch_close(watch);
    /* all of them mixed is another thing than each by itself */
    options.bus = LEAT_BUS_MERGE;
    assert_fails(leat_watch_open(&watch, core_path("two_buses"), &options, err), LEAT_ERR_OPTION,
                 "have their bus, as \"0:100\"");
    leat_can_cache_close(cache);
    leat_evaluation_destroy(of);
}

/* ---- captures that are merged ---- */

/* The same scores, and no new recording where the clock falls, since the cache has sorted there; of
 * several buses, whose windows are mixed, nothing can be followed. */
static void merged(void **state) {
    (void)state;
    leat_can_ingest_result result;
    leat_watch_options options = leat_watch_options_default();
    leat_watch *watch = NULL;
    options.detector.bootstrap.replicates = 0;
    options.detector.threads = 1;
    options.detector.target_fpr = 0.1;
    ingest("merged", WINDOW, NULL, &result);
    train("vgae", result.cache, "run_merged");
    leat_evaluation *of = evaluate(core_path("run_merged"), result.cache, &options.detector);
    assert_ok(leat_watch_open(&watch, core_path("run_merged"), &options, err));
    compare(of, watch, 0);
    leat_can_frame frame = {.time_s = 500, .line = FRAMES + 2};
    leat_watched step;
    memcpy(frame.id, "101", 3);
    assert_ok(leat_watch_add(watch, &frame, &step, err));
    assert_int_equal(step.live.restart, LEAT_LIVE_GOES_ON);
    leat_watch_close(watch);
    leat_evaluation_destroy(of);
    write_buses("buses.log", 11, false);
    write_buses("more.log", 12, true);
    ingest_buses("two_merged", LEAT_CAPTURES_MERGED, &result);
    train("vgae", result.cache, "run_two_merged");
    leat_evaluation_destroy(evaluate(core_path("run_two_merged"), result.cache, &options.detector));
    for (int bus = LEAT_WATCH_BUS_OF_RUN; bus <= 0; bus++) {
        options.bus = bus;
        assert_fails(leat_watch_open(&watch, core_path("run_two_merged"), &options, err),
                     LEAT_ERR_UNSUPPORTED, "windows that mix several buses, by --captures merged");
    }
    assert_null(watch);
}

/* ---- what cannot be watched, or scored ---- */

static void refused(void **state) {
    (void)state;
    leat_watch_options options = leat_watch_options_default();
    leat_watch *watch = NULL;
    assert_fails(leat_watch_open(&watch, core_path("nothing"), &options, err), LEAT_ERR_NOT_FOUND,
                 "nothing");
    options.detector.step = 2;
    assert_fails(leat_watch_open(&watch, core_path("gat"), &options, err), LEAT_ERR_OPTION, "2");
    options.detector.step = -1;
    options.live.stride = -5;
    assert_fails(leat_watch_open(&watch, core_path("gat"), &options, err), LEAT_ERR_OPTION,
                 "stride: \"-5\" is not accepted");
    options = leat_watch_options_default();
    options.detector.score = LEAT_WINDOW_SCORE_DIFFICULTY;
    assert_fails(leat_watch_open(&watch, core_path("gat"), &options, err), LEAT_ERR_OPTION,
                 "leave --score out");
    assert_null(watch);
    /* a run that has no calibration says which command makes it */
    options = leat_watch_options_default();
    train("vgae", made.cache, "bare");
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/calibration-000000003.safetensors", core_path("bare"));
    assert_ok(leat_path_remove(path, err));
    assert_fails(leat_watch_open(&watch, core_path("bare"), &options, err), LEAT_ERR_INPUT,
                 "; run `leat eval ");
    assert_null(watch);
}

/* Times so far apart that a feature is not finite: the bus goes on. */
static void not_scored(void **state) {
    (void)state;
    leat_watch_options options = leat_watch_options_default();
    leat_watch *watch = NULL;
    assert_ok(leat_watch_open(&watch, core_path("vgae"), &options, err));
    int64_t windows = 0, scored = 0;
    for (int i = 0; i < 4 * WINDOW; i++) {
        leat_can_frame frame = {.time_s = i < 2 * WINDOW ? 1000 + i * 1e-3 : i * 1e100, .line = i};
        leat_watched step;
        memcpy(frame.id, "101", 3);
        assert_ok(leat_watch_add(watch, &frame, &step, err));
        if (step.live.window == NULL) continue;
        windows++;
        scored += step.scored;
        assert_int_equal(step.scored, step.why[0] == 0);
        assert_int_equal(isfinite(step.window.score) != 0, step.scored);
        if (!step.scored) assert_false(step.window.alarms);
    }
    assert_int_equal(windows, 4);
    assert_int_equal(scored, 2);
    leat_live_counts counts;
    leat_watch_count(watch, &counts);
    assert_int_equal(counts.windows, 4);
    leat_watch_close(watch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_scores), cmocka_unit_test(two_buses),  cmocka_unit_test(merged),
        cmocka_unit_test(refused),     cmocka_unit_test(not_scored),
    };
    return cmocka_run_group_tests(tests, setup, core_teardown);
}
