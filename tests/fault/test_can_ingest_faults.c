/*
 * The ingest of vehicle logs with every allocation and every call into the file system failing in
 * turn, once and for good: the right code, nothing left behind but what --resume goes on with,
 * never half a cache, and the same cache as soon as nothing fails.
 */
#include "ingest/core_support.h"
#include "ingest/ingest_support.h"

#include "ingest/can_logs.h"

#include "points.h"

#define POINTS_MAX 20000

typedef struct setting {
    const char *name;
    bool resumes, own_temp, found, verify, like;
    int threads;
    leat_can_stored store;
    leat_can_captures captures;
    int step;  /* every so many points; what they share with `plain` is tried there */
    long most; /* points; 0: all */
} setting;

static const setting settings[] = {
    {"plain", .threads = 1, .step = 1},
    {"merged", .own_temp = true, .threads = 1, .captures = LEAT_CAPTURES_MERGED, .step = 3},
    {"resumes", .resumes = true, .own_temp = true, .threads = 1, .step = 2},
    {"threads", .own_temp = true, .threads = 3, .store = LEAT_STORE_FRAMES, .step = 3},
    {"found", .found = true, .threads = 1, .step = 1},
    {"verified", .found = true, .verify = true, .threads = 2, .step = 2},
    {"described", .threads = 1, .step = 2},
    {"like", .like = true, .threads = 1, .step = 1, .most = 80}, /* it is read at first */
};

static char like_path[LEAT_PATH_BYTES]; /* the cache to be like */

static leat_can_ingest_options options_of(const setting *how) {
    leat_can_ingest_options options = can_logs_options();
    options.threads = how->threads;
    options.settings.store = how->store;
    options.settings.captures = how->captures;
    options.temp_dir = how->own_temp ? core_made(core_path("temp")) : NULL;
    options.resume = how->resumes;
    options.verify = how->verify;
    options.like = how->like ? like_path : NULL;
    return options;
}

static leat_code run(const leat_can_ingest_options *options, leat_error *err) {
    leat_can_ingest_result result;
    memset(&result, 1, sizeof result);
    leat_code code = can_logs_ingest(core_path("logs"), core_path("out"), options, &result, err);
    assert_int_equal(result.frames, code == LEAT_OK ? CAN_LOGS_FRAMES : 0);
    return code;
}

static void make_ready(const setting *how) {
    leat_can_ingest_options options = options_of(how);
    if (how->found && can_cache_digest(core_path("out")).text[0] != 0) return;
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_ok(leat_path_remove_tree(core_path("temp"), err));
    core_made(core_path("temp"));
    if (how->found) assert_ok(run(&options, err));
    if (!how->resumes) return;
    options.progress = can_logs_stop;
    options.progress_user = "planning";
    assert_int_equal(run(&options, NULL), LEAT_ERR_CANCELLED);
    assert_non_null(can_work(core_path("out")));
}

static leat_code expected_code(void) {
    switch (atomic_load(&fault_kind)) {
    case LEAT_FAULT_ALLOC: return LEAT_ERR_MEMORY;
    case LEAT_FAULT_WRITE: return LEAT_ERR_NO_SPACE;
    default: return LEAT_ERR_IO;
    }
}

/* A fault that came once: the code is its own, and what is left is nothing, or can be resumed. */
static void check_failed(const setting *how, leat_code code, const leat_error *err, long at) {
    const char *out = core_path("out");
    bool truncation = atomic_load(&fault_kind) == LEAT_FAULT_WRITE && code == LEAT_ERR_IO;
    if (code != expected_code() && !truncation) {
        fail_msg("%s, point %ld of kind %d: code %d: %s", how->name, at, atomic_load(&fault_kind),
                 code, err->message);
    }
    assert_int_equal(err->code, code);
    assert_true(err->message[0] != 0);
    if (how->found) return;
    if (code == LEAT_ERR_NO_SPACE && strstr(err->message, "can_spill") != NULL)
        assert_non_null(strstr(err->message, "--temp"));
    int64_t names = dir_count(out);
    int64_t work = how->resumes && can_work(out) != NULL;
    /* all but its name is synced */
    if (names == 1 + work && can_cache_digest(out).text[0] != 0) return;
    if (names > work) {
        fail_msg("%s, point %ld: %lld names are left after: %s", how->name, at, (long long)names,
                 err->message);
    }
    if (how->own_temp && names <= 0 && dir_count(core_path("temp")) > 0)
        fail_msg("%s, point %ld: files are left in --temp: %s", how->name, at, err->message);
}

/* Nothing fails any more: whatever is left is gone on with, or goes. */
static void check_mended(const setting *how, const can_digest *want, long at) {
    leat_can_ingest_options options = options_of(how);
    leat_error err = {0};
    leat_code code = run(&options, &err);
    if (code != LEAT_OK) fail_msg("%s, after point %ld: %s", how->name, at, err.message);
    can_digest got = can_cache_digest(core_path("out"));
    if (strcmp(got.text, want->text) != 0)
        fail_msg("%s: another cache after point %ld", how->name, at);
    if (dir_count(core_path("out")) != 1)
        fail_msg("%s, after point %ld: more than a cache is left", how->name, at);
    if (how->own_temp) assert_true(dir_count(core_path("temp")) <= 0);
}

static long sweep(const setting *how, bool stays, const can_digest *want) {
    for (long at = 0; at < POINTS_MAX; at += how->step * (stays ? 5 : 1)) {
        if (how->most > 0 && at >= how->most) return at;
        make_ready(how);
        leat_can_ingest_options options = options_of(how);
        leat_error err = {0};
        set_fault(at, stays);
        leat_code code = run(&options, &err);
        bool reached = clear_fault();
        can_digest got = can_cache_digest(core_path("out"));
        /* half a cache is none */
        if (got.text[0] != 0 || code == LEAT_OK) assert_string_equal(got.text, want->text);
        if (!reached) {
            assert_int_equal(code, LEAT_OK);
            return at;
        }
        if (code != LEAT_OK && !stays) check_failed(how, code, &err, at);
        check_mended(how, want, at);
    }
    fail_msg("%s: more than %d points", how->name, POINTS_MAX);
    return 0;
}

static void sweep_setting(const setting *how) {
    leat_can_ingest_options options = options_of(how);
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_ok(run(&options, err));
    can_digest want = can_cache_digest(core_path("out"));
    long once = sweep(how, false, &want), good = sweep(how, true, &want);
    print_message("%s: %ld points\n", how->name, once);
    bool few = how->found || how->most > 0;
    assert_true(once > (few ? 20 : 200) && good > (few ? 10 : 100));
}

static void plain(void **state) {
    (void)state;
    sweep_setting(&settings[0]);
}
static void merged(void **state) {
    (void)state;
    sweep_setting(&settings[1]);
}
static void resumes(void **state) {
    (void)state;
    sweep_setting(&settings[2]);
}
static void threads(void **state) {
    (void)state;
    sweep_setting(&settings[3]);
}
static void like(void **state) {
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    (void)state;
    assert_ok(can_logs_ingest(core_path("logs"), core_path("first"), &options, &result, err));
    snprintf(like_path, sizeof like_path, "%s", result.cache);
    sweep_setting(&settings[7]);
}
static void found(void **state) {
    (void)state;
    sweep_setting(&settings[4]);
}
static void verified(void **state) {
    (void)state;
    sweep_setting(&settings[5]);
}

/* With labels from metadata; the last one, because it stays beside the logs. */
static void described(void **state) {
    static const char text[] = "{\"dos\": {\"elapsed_sec\": 1}, \"other\": {\"injection_id\": "
                               "\"X\", \"injection_data_str\": null, "
                               "\"injection_interval\": [0, 1]}}";
    char path[LEAT_PATH_BYTES];
    (void)state;
    snprintf(path, sizeof path, "%s/train_a/capture_metadata.json", core_path("logs"));
    core_save(path, text, sizeof text - 1);
    sweep_setting(&settings[6]);
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(64) << 20);
    can_logs_write(core_path("logs"), false);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    core_dir_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),   cmocka_unit_test(merged),    cmocka_unit_test(resumes),
        cmocka_unit_test(threads), cmocka_unit_test(found),     cmocka_unit_test(verified),
        cmocka_unit_test(like),    cmocka_unit_test(described),
    };
    return cmocka_run_group_tests_name("faults of the ingest of logs", tests, setup, teardown);
}
