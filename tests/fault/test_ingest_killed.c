/*
 * The ingest killed before its n-th call into the file system, for every n, then resumed: the bytes
 * of a run that was left alone, and at no moment a folder that looks whole and is not.
 */
#include "ingest/core_support.h"
#include "ingest/ingest_support.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "opens.h"

#define POINTS_MAX 5000

static atomic_long kill_at = -1, calls_seen; /* -1: lives */
static bool breaks_commit, is_broken; /* the journal's folder cannot be synced; it was tried */

bool leat_fault_point(leat_fault_kind kind) {
    if (kind == LEAT_FAULT_ALLOC || kind == LEAT_FAULT_READ) return false; /* change nothing */
    if (breaks_commit && !is_broken) {
        is_broken = kind == LEAT_FAULT_SYNC && path_exists(core_path("out/.leat/publish.json"));
        return is_broken;
    }
    if (atomic_load(&kill_at) >= 0 && atomic_fetch_add(&calls_seen, 1) == atomic_load(&kill_at)) {
        raise(SIGKILL);
    }
    return false;
}

static dataset_digest want, old; /* of seed 0, and of seed 7, which is replaced */

static leat_probes_ingest_result last_result;

/* What was only in memory is read again. */
static leat_spill_rule spill_now = LEAT_SPILL_ALWAYS;

static leat_probes_ingest_options options_now(const char *temp) {
    leat_probes_ingest_options options = ingest_options();
    options.threads = 1;
    options.probes_per_shard = 6;
    options.temp_dir = core_made(temp);
    options.spill = spill_now;
    return options;
}

static leat_code run(const char *out, const leat_probes_ingest_options *options, leat_error *err) {
    return leat_probes_ingest(csv_paths("killed", 2), 2, out, options, &last_result, err);
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

static char want_print[65], old_print[65]; /* fingerprints of want and old */

/* Whatever has a manifest is whole: the old data set or the new one. And at every moment of a
 * replacement leat itself opens one of them. */
static void check_never_mixed(const char *out, bool replaces, long at) {
    char path[LEAT_PATH_BYTES], found[65];
    leat_error err = {0};
    if (replaces) {
        if (dataset_opens(out, found, &err) != LEAT_OK)
            fail_msg("killed before call %ld: %s", at, err.message);
        assert_true(strcmp(found, want_print) == 0 || strcmp(found, old_print) == 0);
    }
    snprintf(path, sizeof path, "%s/manifest.json", out);
    if (!path_exists(path)) return;
    dataset_digest now = dataset_hash(out);
    bool is_new = memcmp(now.bytes, want.bytes, sizeof now.bytes) == 0;
    bool is_old = replaces && memcmp(now.bytes, old.bytes, sizeof now.bytes) == 0;
    if (!is_new && !is_old) fail_msg("killed before call %ld: a mixture with a manifest", at);
}

/* Whether --resume has anything to resume besides the mark of the work folder. */
static bool has_more_than_mark(const char *out) {
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/.leat", out);
    return dir_count(path) > 1;
}

static bool is_whole(const char *out) {
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/manifest.json", out);
    if (!path_exists(path)) return false;
    dataset_digest now = dataset_hash(out);
    return memcmp(now.bytes, want.bytes, sizeof now.bytes) == 0;
}

static void resume(const char *out, const char *temp, long at) {
    leat_probes_ingest_options options = options_now(temp);
    leat_error err = {0};
    options.resume = true;
    bool work = has_more_than_mark(out), whole = is_whole(out);
    leat_code code = run(out, &options, &err);
    dataset_digest now = dataset_hash(out);
    /* what is complete is not made again */
    if (whole && !last_result.resumed) fail_msg("killed before call %ld: ingested again", at);
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
    check_never_mixed(out, whole, at);
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
        if (reached && twice && has_more_than_mark(out)) {
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
static void fresh_in_memory(void **state) {
    (void)state;
    spill_now = LEAT_SPILL_AUTO;
    sweep(core_path("temp"), false, true, BY_RESUME);
    spill_now = LEAT_SPILL_ALWAYS;
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

/* The journal is there, but its folder could not be synced: the run fails, is killed before its
 * n-th call after that, and the old data set is there. */
static void failing(void **state) {
    (void)state;
    const char *out = core_path("out");
    int status = 0;
    long at = 0;
    for (bool killed = true; killed; at++) {
        char found[65];
        leat_error err = {0};
        leat_probes_ingest_options options = options_now(NULL);
        options.seed = 7;
        assert_ok(leat_path_remove_tree(out, err));
        assert_ok(run(out, &options, err));
        options.seed = 0;
        options.replace = true;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            breaks_commit = true;
            atomic_store(&kill_at, at);
            _exit(run(out, &options, NULL) == LEAT_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        killed = WIFSIGNALED(status);
        if (!killed) assert_int_equal(WEXITSTATUS(status), 1);
        if (dataset_opens(out, found, &err) != LEAT_OK)
            fail_msg("killed before call %ld after the failure: %s", at, err.message);
        assert_true(strcmp(found, old_print) == 0 || (at == 0 && strcmp(found, want_print) == 0));
        if (killed) replace(out, at);
    }
    assert_true(at > 20);
}

/* ---- power failures ---- */

/*
 * What a power failure takes away: of the finished shards and their parts, all bytes that were not
 * synced and all names whose folder was not. It comes right after the n-th time that an ingest has
 * given the room of temporary files back, which it may do only if it can go on without them.
 */
#define SYNCED_MAX 4000
static struct {
    bool armed;
    int at, releases;
    int count;
    char paths[SYNCED_MAX][128]; /* files whose bytes, and names (with a "+" before), are safe */
} power;

static void path_of(int fd, char path[LEAT_PATH_BYTES]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, LEAT_PATH_BYTES - 1);
    path[length < 0 ? 0 : length] = 0;
}

static void add_safe(const char *mark, const char *path) {
    assert_true(power.count < SYNCED_MAX);
    snprintf(power.paths[power.count++], sizeof power.paths[0], "%s%s", mark, path);
}

static bool is_safe(const char *mark, const char *path) {
    char text[128];
    snprintf(text, sizeof text, "%s%s", mark, path);
    for (int i = 0; i < power.count; i++) {
        if (strcmp(power.paths[i], text) == 0) return true;
    }
    return false;
}

/* Stands before the C library's. */
int fsync(int fd) {
    char path[LEAT_PATH_BYTES];
    if (power.armed) {
        path_of(fd, path);
        leat_path_list names = {0};
        if (leat_path_list_dir(path, &names, NULL) == LEAT_OK) {
            for (int64_t i = 0; i < names.count; i++) {
                char child[LEAT_PATH_BYTES];
                assert_ok(leat_path_join(child, sizeof child, path, names.paths[i], err));
                add_safe("+", child);
            }
            leat_path_list_free(&names);
        } else {
            add_safe("", path);
        }
    }
    return (int)syscall(SYS_fsync, fd);
}

static void lose_unsynced(const char *pattern, bool bytes_too) {
    leat_path_list names = {0};
    if (leat_path_glob(core_path(pattern), &names, NULL) != LEAT_OK) return;
    for (int64_t i = 0; i < names.count; i++) {
        bool safe = is_safe("+", names.paths[i]) && (!bytes_too || is_safe("", names.paths[i]));
        if (!safe) assert_int_equal(unlink(names.paths[i]), 0);
    }
    leat_path_list_free(&names);
}

/* Stands before the C library's. */
int ftruncate(int fd, off_t size) {
    char path[LEAT_PATH_BYTES];
    int result = (int)syscall(SYS_ftruncate, fd, size);
    path_of(fd, path);
    if (!power.armed || size != 0 || strstr(path, "/spill_") == NULL) return result;
    if (!path_exists(core_path("out/.leat/state.json"))) return result; /* empty from the start */
    if (power.releases++ < power.at) return result;
    power.armed = false;
    lose_unsynced("out/.leat/parts/*.part", true);
    lose_unsynced("out/.leat/out/train/*.arrayrecord", false); /* synced under another name */
    lose_unsynced("out/.leat/out/test/*.arrayrecord", false);
    raise(SIGKILL);
    return result;
}

static leat_code run_power(leat_probes_ingest_options *options, leat_probes_ingest_result *result,
                           leat_error *err) {
    options->probes_per_shard = 4;
    return leat_probes_ingest(csv_paths("power", 2), 2, core_path("out"), options, result, err);
}

/* Power fails at the at-th release; false if the run came to its end before. */
static bool run_unpowered(bool resumes, int at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        leat_probes_ingest_options options = options_now(NULL);
        leat_probes_ingest_result result;
        options.resume = resumes;
        power.at = at;
        power.armed = true;
        _exit(run_power(&options, &result, NULL) == LEAT_OK ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status);
}

static void power_fails(void **state) {
    (void)state;
    const char *out = core_path("out");
    leat_probes_ingest_options options = options_now(NULL);
    leat_probes_ingest_result result;
    assert_ok(leat_path_remove_tree(out, err));
    assert_ok(run_power(&options, &result, err));
    dataset_digest straight = dataset_hash(out);
    int64_t most = 0;
    for (int twice = 0; twice < 2; twice++) {
        int at = 0;
        for (;; at += 1 + twice) {
            leat_error err = {0};
            assert_ok(leat_path_remove_tree(out, err));
            if (!run_unpowered(false, at)) break;
            if (twice && !run_unpowered(true, 1)) continue;
            options.resume = true;
            leat_code code = run_power(&options, &result, &err);
            if (code != LEAT_OK) fail_msg("power failed at release %d: %s", at, err.message);
            assert_true(result.resumed);
            if (result.shards_resumed > most) most = result.shards_resumed;
            assert_same_dataset(out, straight);
        }
        assert_true(at >= 4);
    }
    assert_true(most > 10);
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(64) << 20);
    core_shape shape = {.seed = 3, .rows = 150, .sources = 14, .times = 40, .targets = 8};
    core_row *rows = core_rows(&shape);
    csv_write("killed", rows, shape.rows, &(csv_cut){.files = 2, .bad_every = 30});
    free(rows);
    core_shape many = {.seed = 5, .rows = 4000, .sources = 160, .times = 900, .targets = 9};
    rows = core_rows(&many);
    csv_write("power", rows, many.rows, &(csv_cut){.files = 2});
    free(rows);
    leat_probes_ingest_options options = options_now(NULL);
    assert_ok(run(core_path("out"), &options, err));
    want = dataset_hash(core_path("out"));
    assert_ok(dataset_opens(core_path("out"), want_print, err));
    options.seed = 7;
    options.replace = true;
    assert_ok(run(core_path("out"), &options, err));
    old = dataset_hash(core_path("out"));
    assert_ok(dataset_opens(core_path("out"), old_print, err));
    assert_memory_not_equal(old.bytes, want.bytes, sizeof old.bytes);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh),           cmocka_unit_test(with_temp),
        cmocka_unit_test(replacing),       cmocka_unit_test(replacing_twice),
        cmocka_unit_test(fresh_replaced),  cmocka_unit_test(replacing_replaced),
        cmocka_unit_test(power_fails),     cmocka_unit_test(failing),
        cmocka_unit_test(fresh_in_memory),
    };
    return cmocka_run_group_tests_name("ingest killed", tests, setup, core_teardown);
}
