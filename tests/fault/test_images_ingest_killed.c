/*
 * The ingest of images killed before its n-th call into the file system, for every n, then resumed:
 * the bytes of a run that was left alone, nothing beside them, and at no moment a folder that looks
 * like a data set and is none.
 */
#include "ingest/core_support.h"
#include "ingest/image_files.h"
#include "ingest/ingest_support.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "image_libraries.h"

#define POINTS_MAX 5000

static atomic_long kill_at = -1, calls_seen; /* -1: lives */

bool leat_fault_point(leat_fault_kind kind) {
    if (kind == LEAT_FAULT_ALLOC || kind == LEAT_FAULT_READ) return false; /* change nothing */
    if (atomic_load(&kill_at) >= 0 && atomic_fetch_add(&calls_seen, 1) == atomic_load(&kill_at)) {
        raise(SIGKILL);
    }
    return false;
}

/* Of the folder with files that are rejected, and of the one without, which the first replaces. */
static image_digest want, old;

typedef struct way {
    int threads; /* of the run that is killed */
    bool zip;
    bool replaces; /* there is a data set before */
    bool resumes;  /* else the next one begins anew */
    bool twice;    /* the run that resumes is killed too */
} way;

/* Images of 208 pixels are about half of the writer's buffer: each is a part of the job, and they
 * reach the file one by one. */
static leat_images_ingest_options options_of(const way *how) {
    leat_images_ingest_options options = image_files_options();
    options.size = 208;
    options.threads = how->threads;
    return options;
}

static leat_code run(const way *how, const leat_images_ingest_options *options,
                     leat_images_ingest_result *result, leat_error *err) {
    return leat_images_ingest(core_path(how->zip ? "files.zip" : "files"), core_path("out"),
                              options, result, err);
}

/* Runs in a child that dies before call `at`; false if it came to its end. */
static bool run_killed(const way *how, const leat_images_ingest_options *options, long at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        leat_images_ingest_result result;
        atomic_store(&kill_at, at);
        _exit(run(how, options, &result, NULL) == LEAT_OK ? 0 : 1);
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

static void check_never_half(const way *how, long at) {
    image_digest now = image_set_digest(core_path("out"));
    if (now.text[0] == 0 || strcmp(now.text, want.text) == 0) return;
    if (!how->replaces || strcmp(now.text, old.text) != 0)
        fail_msg("killed before call %ld: half a data set", at);
}

/* Continues, or begins anew; *resumed counts those that continued. */
static void mend(const way *how, const leat_images_ingest_options *options, long at,
                 int64_t *resumed) {
    leat_images_ingest_result result;
    leat_error err = {0};
    leat_code code = run(how, options, &result, &err);
    if (code != LEAT_OK) fail_msg("killed before call %ld: %s", at, err.message);
    if (strcmp(image_set_digest(core_path("out")).text, want.text) != 0)
        fail_msg("killed before call %ld: another data set", at);
    if (dir_count(core_path("out")) != 5)
        fail_msg("killed before call %ld: more than a data set is left", at);
    *resumed += result.resumed > 0;
}

/* A sanitizer makes each fork costly and has nothing to see in a killed process. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEP 5
#else
#define STEP 1
#endif

/* What is in the folder before the run: nothing, or a data set, which is made once and copied. */
static void make_ready(const way *how) {
    leat_images_ingest_options options = options_of(how);
    leat_images_ingest_result result;
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    if (!how->replaces) return;
    assert_ok(leat_images_ingest(core_path("clean"), core_path("out"), &options, &result, err));
}

/* The killed run had not begun to replace the data set: there is nothing to resume. */
static bool is_untouched(const way *how, const leat_images_ingest_options *options) {
    leat_images_ingest_result result;
    if (!how->replaces || !how->resumes ||
        strcmp(image_set_digest(core_path("out")).text, old.text) != 0)
        return false;
    bool mark_only = dir_count(core_path("out/.leat")) <= 1;
    if (mark_only)
        assert_fails(run(how, options, &result, err), LEAT_ERR_EXISTS, "holds a complete data set");
    return mark_only;
}

static void sweep(const way *how) {
    int64_t resumed = 0;
    long at = 0;
    for (bool reached = true; reached; at += STEP) {
        assert_true(at < POINTS_MAX);
        leat_images_ingest_options options = options_of(how);
        options.replace = how->replaces;
        make_ready(how);
        reached = run_killed(how, &options, at);
        check_never_half(how, at);
        options.resume = how->resumes;
        options.replace = !how->resumes;
        options.threads = 4 - how->threads;
        if (is_untouched(how, &options)) continue;
        if (reached && how->twice) {
            run_killed(how, &options, (long)(leat_random(1, 2, (uint64_t)at) % 60));
            check_never_half(how, at);
        }
        mend(how, &options, at, &resumed);
    }
    assert_true(at > 60);
    assert_true(!how->resumes || resumed > 10 / STEP);
}

static void resumed(void **state) {
    (void)state;
    sweep(&(way){.threads = 1, .resumes = true});
}
static void from_archive(void **state) {
    (void)state;
    sweep(&(way){.threads = 3, .zip = true, .resumes = true, .twice = true});
}
static void replacing(void **state) {
    (void)state;
    sweep(&(way){.threads = 1, .replaces = true, .resumes = true});
}
static void begun_anew(void **state) {
    (void)state;
    sweep(&(way){.threads = 2, .replaces = true});
}

static int setup(void **state) {
    (void)state;
    const way how = {.threads = 1};
    core_in_memory(INT64_C(64) << 20);
    image_files_write(core_path("files"), false);
    image_files_zip(core_path("files.zip"), false);
    image_files_write(core_path("clean"), true);
    leat_images_ingest_options options = options_of(&how);
    leat_images_ingest_result result;
    assert_ok(run(&how, &options, &result, err));
    want = image_set_digest(core_path("out"));
    make_ready(&(way){.threads = 1, .replaces = true});
    old = image_set_digest(core_path("out"));
    return strcmp(want.text, old.text) == 0;
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed),
        cmocka_unit_test(from_archive),
        cmocka_unit_test(replacing),
        cmocka_unit_test(begun_anew),
    };
    return cmocka_run_group_tests_name("ingest of images killed", tests, setup, core_teardown);
}
