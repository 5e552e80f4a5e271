/*
 * The ingest of vehicle logs killed before its n-th call into the file system, for every n, then
 * resumed: the bytes of a run that was left alone, nothing beside them, and at no moment a folder
 * that looks like a cache and is none.
 */
#include "ingest/core_support.h"
#include "ingest/ingest_support.h"

#include "ingest/can_logs.h"

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

static can_digest want;

static leat_can_ingest_options options_now(const char *temp, int threads) {
    leat_can_ingest_options options = can_logs_options();
    options.threads = threads;
    options.temp_dir = core_made(temp);
    return options;
}

static leat_code run(const leat_can_ingest_options *options, leat_can_ingest_result *result,
                     leat_error *err) {
    return can_logs_ingest(core_path("logs"), core_path("out"), options, result, err);
}

/* Runs in a child that dies before call `at`; false if it came to its end. */
static bool run_killed(const leat_can_ingest_options *options, long at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        leat_can_ingest_result result;
        atomic_store(&kill_at, at);
        _exit(run(options, &result, NULL) == LEAT_OK ? 0 : 1);
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

static void check_never_half(long at) {
    can_digest now = can_cache_digest(core_path("out"));
    if (now.text[0] != 0 && strcmp(now.text, want.text) != 0)
        fail_msg("killed before call %ld: half a cache", at);
}

/* Goes on, or begins anew; *resumed counts those that went on. */
static void mend(const leat_can_ingest_options *options, long at, int64_t *resumed) {
    leat_can_ingest_result result;
    leat_error err = {0};
    leat_code code = run(options, &result, &err);
    if (code != LEAT_OK) fail_msg("killed before call %ld: %s", at, err.message);
    assert_string_equal(can_cache_digest(core_path("out")).text, want.text);
    if (dir_count(core_path("out")) != 1)
        fail_msg("killed before call %ld: more than a cache is left", at);
    if (dir_count(core_path("temp")) > 0)
        fail_msg("killed before call %ld: files are left in --temp", at);
    *resumed += result.resumed;
}

/* A sanitizer makes each fork costly and has nothing to see in a killed process. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEP 5
#else
#define STEP 1
#endif

typedef struct way {
    const char *temp;
    int threads;  /* of the run that is killed */
    bool resumes; /* else the next one begins anew */
    bool twice;   /* the run that resumes is killed too */
} way;

static void sweep(const way *how) {
    int64_t resumed = 0;
    long at = 0;
    for (bool reached = true; reached; at += STEP) {
        assert_true(at < POINTS_MAX);
        leat_can_ingest_options options = options_now(how->temp, how->threads);
        assert_ok(leat_path_remove_tree(core_path("out"), err));
        reached = run_killed(&options, at);
        check_never_half(at);
        options = options_now(how->temp, 1);
        options.resume = how->resumes;
        if (reached && how->twice) {
            run_killed(&options, (long)(leat_random(1, 2, (uint64_t)at) % 60));
            check_never_half(at);
        }
        mend(&options, at, &resumed);
    }
    assert_true(at > 60);
    assert_true(how->resumes ? resumed > 10 / STEP : resumed == 0);
}

static void resumed(void **state) {
    (void)state;
    sweep(&(way){.threads = 1, .resumes = true});
}
static void with_temp(void **state) {
    (void)state;
    sweep(&(way){.temp = core_path("temp"), .threads = 1, .resumes = true, .twice = true});
}
static void other_threads(void **state) {
    (void)state;
    sweep(&(way){.threads = 3, .resumes = true, .twice = true});
}
static void begun_anew(void **state) {
    (void)state;
    sweep(&(way){.temp = core_path("temp"), .threads = 2});
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(64) << 20);
    can_logs_write(core_path("logs"), false);
    leat_can_ingest_options options = options_now(NULL, 1);
    leat_can_ingest_result result;
    assert_ok(run(&options, &result, err));
    want = can_cache_digest(core_path("out"));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    core_dir_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed),
        cmocka_unit_test(with_temp),
        cmocka_unit_test(other_threads),
        cmocka_unit_test(begun_anew),
    };
    return cmocka_run_group_tests_name("ingest of logs killed", tests, setup, teardown);
}
