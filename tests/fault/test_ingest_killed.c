/*
 * The ingest killed before its n-th call into the file system, for every n, then resumed: the bytes
 * of a run that was left alone, and at no moment a folder that looks whole and is not.
 */
#include "ingest/core_support.c"
#include "ingest/ingest_support.c"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"

#define POINTS_MAX 5000

static atomic_long kill_at = -1, calls_seen; /* -1: lives */

bool leat_fault_point(leat_fault_kind kind) {
    if (kind == LEAT_FAULT_ALLOC || kind == LEAT_FAULT_READ) return false; /* change nothing */
    if (atomic_load(&kill_at) >= 0 && atomic_fetch_add(&calls_seen, 1) == atomic_load(&kill_at)) {
        raise(SIGKILL);
    }
    return false;
}

static dataset_digest want, old; /* of seed 0, and of seed 7, which is replaced */

static leat_probes_ingest_options options_now(const char *temp) {
    leat_probes_ingest_options options = ingest_options();
    options.threads = 1;
    options.probes_per_shard = 6;
    options.temp_dir = temp;
    return options;
}

static leat_code run(const char *out, const leat_probes_ingest_options *options, leat_error *err) {
    leat_probes_ingest_result result;
    return leat_probes_ingest(csv_paths("killed", 2), 2, out, options, &result, err);
}

/* Runs in a child that dies before call `at`; false if it came to its end. */
static bool run_killed(const char *out, const leat_probes_ingest_options *options, long at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        atomic_store(&kill_at, at);
        _exit(run(out, options, NULL) == LEAT_OK ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

/* Whatever has a manifest is whole: the old data set or the new one. */
static void check_never_mixed(const char *out, bool replaces, long at) {
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/manifest.json", out);
    if (!path_exists(path)) return;
    dataset_digest now = dataset_hash(out);
    bool is_new = memcmp(now.bytes, want.bytes, sizeof now.bytes) == 0;
    bool is_old = replaces && memcmp(now.bytes, old.bytes, sizeof now.bytes) == 0;
    if (!is_new && !is_old) fail_msg("killed before call %ld: a mixture with a manifest", at);
}

/* Whether --resume has anything to go on with beside the lock. */
static bool has_more_than_lock(const char *out) {
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/.leat", out);
    return dir_count(path) > 1;
}

static void resume(const char *out, const char *temp, long at) {
    leat_probes_ingest_options options = options_now(temp);
    leat_error err = {0};
    options.resume = true;
    bool work = has_more_than_lock(out);
    leat_code code = run(out, &options, &err);
    dataset_digest now = dataset_hash(out);
    if (code != LEAT_OK) {
        /* killed so early that the old one was not touched, and there was nothing to resume */
        if (work || code != LEAT_ERR_EXISTS)
            fail_msg("killed before call %ld: %s", at, err.message);
        assert_memory_equal(now.bytes, old.bytes, sizeof now.bytes);
        assert_false(has_work(out));
        options.resume = false;
        options.replace = true;
        assert_ok(run(out, &options, err));
    }
    assert_same_dataset(out, want);
    assert_int_equal(dir_count(out), 6);
    if (temp != NULL) assert_true(dir_count(temp) <= 0);
}

/*
 * Whatever was killed, --replace is accepted: one that fails leaves a folder that the next one
 * accepts, with a whole data set in it if there was one, moved to its place or not.
 */
static void replace(const char *out, long at) {
    char manifest[LEAT_PATH_BYTES];
    leat_probes_ingest_options options = options_now(NULL);
    leat_error err = {0};
    snprintf(manifest, sizeof manifest, "%s/manifest.json", out);
    bool whole = path_exists(manifest);
    options.replace = true;
    options.strict = true; /* there are rows that it does not like */
    leat_code code = run(out, &options, &err);
    if (code != LEAT_ERR_INPUT) fail_msg("killed before call %ld: %s", at, err.message);
    assert_false(path_exists(out) && has_work(out));
    if (whole) assert_true(path_exists(manifest));
    check_never_mixed(out, true, at);
    options.strict = false;
    code = run(out, &options, &err);
    if (code != LEAT_OK) fail_msg("killed before call %ld, failed, then: %s", at, err.message);
    assert_same_dataset(out, want);
    assert_int_equal(dir_count(out), 6);
}

/* A sanitizer makes each fork costly and has nothing to see in a killed process. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEP 5
#else
#define STEP 1
#endif

typedef enum mend { BY_RESUME, BY_REPLACE } mend;

static void sweep(const char *temp, bool replaces, bool twice, mend how) {
    const char *out = core_path("out");
    long at = 0;
    for (bool reached = true; reached; at += STEP) {
        assert_true(at < POINTS_MAX);
        leat_probes_ingest_options options = options_now(temp);
        assert_ok(leat_path_remove_tree(out, err));
        if (replaces) {
            options.seed = 7;
            assert_ok(run(out, &options, err));
            options.seed = 0;
            options.replace = true;
        }
        reached = run_killed(out, &options, at);
        check_never_mixed(out, replaces, at);
        if (reached && twice && has_more_than_lock(out)) {
            options.replace = false;
            options.resume = true;
            run_killed(out, &options, (long)(leat_random(1, 2, (uint64_t)at) % 150));
            check_never_mixed(out, replaces, at);
        }
        if (how == BY_REPLACE) replace(out, at);
        else resume(out, temp, at);
    }
    assert_true(at > 100);
}

static void fresh(void **state) {
    (void)state;
    sweep(NULL, false, false, BY_RESUME);
}
static void with_temp(void **state) {
    (void)state;
    sweep(core_path("temp"), false, true, BY_RESUME);
}
static void replacing(void **state) {
    (void)state;
    sweep(NULL, true, false, BY_RESUME);
}
static void replacing_twice(void **state) {
    (void)state;
    sweep(core_path("temp"), true, true, BY_RESUME);
}

static void fresh_replaced(void **state) {
    (void)state;
    sweep(NULL, false, false, BY_REPLACE);
}
static void replacing_replaced(void **state) {
    (void)state;
    sweep(NULL, true, false, BY_REPLACE);
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(64) << 20);
    core_shape shape = {.seed = 3, .rows = 150, .sources = 14, .times = 40, .targets = 8};
    core_row *rows = core_rows(&shape);
    csv_write("killed", rows, shape.rows, &(csv_cut){.files = 2, .bad_every = 30});
    free(rows);
    leat_probes_ingest_options options = options_now(NULL);
    assert_ok(run(core_path("out"), &options, err));
    want = dataset_hash(core_path("out"));
    options.seed = 7;
    options.replace = true;
    assert_ok(run(core_path("out"), &options, err));
    old = dataset_hash(core_path("out"));
    assert_memory_not_equal(old.bytes, want.bytes, sizeof old.bytes);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    core_dir_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh),          cmocka_unit_test(with_temp),
        cmocka_unit_test(replacing),      cmocka_unit_test(replacing_twice),
        cmocka_unit_test(fresh_replaced), cmocka_unit_test(replacing_replaced),
    };
    return cmocka_run_group_tests_name("ingest killed", tests, setup, teardown);
}
