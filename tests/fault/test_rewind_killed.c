/*
 * A rewind killed before its n-th call that changes a file, or in which that call fails: at no
 * moment a checkpoint that is none, and the next call leaves what a rewind without faults leaves.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "format/image_set_support.h"
#include "leat/train.h"
#include "memory_folder.h"
#include "quick_kernels.h"
#include "train/run/rewind.h"
#include "train/run/run_reader.h"
#include "trees.h"

enum { IMAGES = 5, STEPS = 3, TO = 1, POINTS_MAX = 3000 };

static atomic_long chosen = -1, calls_seen; /* -1: none */
static atomic_bool kills, reads;            /* whether the chosen one kills; reading calls count */

bool leat_fault_point(leat_fault_kind kind) {
    const bool changes = kind != LEAT_FAULT_ALLOC && kind != LEAT_FAULT_READ;
    if (kind == LEAT_FAULT_THREAD || (!changes && !atomic_load(&reads))) return false;
    if (atomic_load(&chosen) < 0 || atomic_fetch_add(&calls_seen, 1) != atomic_load(&chosen))
        return false;
    if (atomic_load(&kills)) raise(SIGKILL);
    return true;
}

static char top[LEAT_PATH_BYTES - 200];
static char data[LEAT_PATH_BYTES], kept[LEAT_PATH_BYTES], run[LEAT_PATH_BYTES];
static char hash[65], state_of_whole[65];

/* Each step has a checkpoint. */
static leat_code train(const char *at, leat_error *err) {
    leat_dcgan_settings settings = leat_dcgan_settings_default();
    leat_train_options options = leat_train_options_default();
    leat_train_result result;
    settings.width = 1;
    settings.latent = 2;
    options.settings = &settings;
    options.unit_size = 4;
    options.micro_batch = 2;
    options.threads = 1;
    options.steps = STEPS;
    options.checkpoint_every = 1;
    options.keep = 9;
    options.sample_every = 0;
    options.resume = true;
    const leat_code code = leat_train("dcgan", data, at, &options, &result, err);
    memcpy(hash, result.run, sizeof hash);
    memcpy(state_of_whole, result.state, sizeof state_of_whole);
    return code;
}

/* As leat_train does it, without what comes before and after. */
static leat_code rewind_run(leat_error *err) {
    leat_run_folder folder;
    leat_rewound done;
    LEAT_TRY(leat_run_folder_open(&folder, run, true, err));
    const leat_rewind_of what = {.folder = &folder, .run = hash, .kept = ".png"};
    leat_code code = leat_rewind_complete(&what, &done, err);
    if (code == LEAT_OK) code = leat_rewind(&what, TO, &done, err);
    leat_run_folder_close(&folder);
    return code;
}

/* ---- Trees ---------------------------------------------------------------------------------- */

static void join(char out[LEAT_PATH_BYTES], const char *dir, const char *name) {
    assert_int_equal(leat_path_join(out, LEAT_PATH_BYTES, dir, name, NULL), LEAT_OK);
}

/* Names and hashes of all files, a line each. */
static void list(const char *dir, leat_buf *out) {
    leat_path_list names = {0};
    assert_int_equal(leat_path_list_dir(dir, &names, NULL), LEAT_OK);
    for (int64_t i = 0; i < names.count; i++) {
        char path[LEAT_PATH_BYTES], hex[65] = "folder";
        leat_path_facts facts;
        uint8_t digest[32];
        join(path, dir, names.paths[i]);
        assert_int_equal(leat_path_stat(path, &facts, NULL), LEAT_OK);
        if (facts.kind == LEAT_PATH_FILE) {
            assert_int_equal(leat_file_sha256(path, digest, NULL), LEAT_OK);
            for (int k = 0; k < 32; k++) snprintf(hex + 2 * k, 3, "%02x", digest[k]);
        }
        assert_int_equal(leat_buf_printf(out, NULL, "%s %s\n", names.paths[i], hex), LEAT_OK);
        if (facts.kind == LEAT_PATH_DIR) list(path, out);
    }
    leat_path_list_free(&names);
}

static char *tree_of(const char *dir) {
    leat_buf text = {0};
    list(dir, &text);
    assert_int_equal(leat_buf_append(&text, "", 1, NULL), LEAT_OK);
    return (char *)text.data;
}

/* ---- Looking -------------------------------------------------------------------------------- */

/* A reader finds whole checkpoints, of the first steps; returns the last one's. */
static int64_t look(long at) {
    leat_run *opened = NULL;
    leat_run_checkpoint checkpoint;
    leat_error err = {0};
    int64_t last = 0;
    if (leat_run_open(&opened, run, &err) != LEAT_OK) fail_msg("call %ld: %s", at, err.message);
    for (int i = 0; leat_run_checkpoint_at(opened, i, &checkpoint); i++) {
        uint8_t digest[32];
        if (checkpoint.step != ++last || leat_file_sha256(checkpoint.path, digest, &err) != LEAT_OK)
            fail_msg("call %ld: step %lld: %s", at, (long long)checkpoint.step, err.message);
    }
    assert_int_equal(opened->checkpoints.damaged, -1);
    leat_run_close(opened);
    assert_true(last >= TO);
    return last;
}

static char *want; /* the tree after a rewind without faults */

static void finish(long at) {
    leat_error err = {0};
    if (rewind_run(&err) != LEAT_OK) fail_msg("call %ld: %s", at, err.message);
    char *found = tree_of(run);
    if (strcmp(found, want) != 0) fail_msg("call %ld: %s\nnot %s", at, found, want);
    leat_free(found);
}

static void begin_again(void) {
    assert_int_equal(leat_path_remove_tree(run, NULL), LEAT_OK);
    tree_copy(kept, run);
}

/* ---- Sweeps --------------------------------------------------------------------------------- */

static bool run_killed(long at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        atomic_store(&kills, true);
        atomic_store(&chosen, at);
        _exit(rewind_run(NULL) == LEAT_OK ? 0 : 1);
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

static void killed_once(void **state) {
    long at = 0;
    int lasts[STEPS + 1] = {0}; /* how often each was the last step */
    (void)state;
    for (bool reached = true; reached; at++) {
        assert_true(at < POINTS_MAX);
        begin_again();
        reached = run_killed(at);
        lasts[look(at)]++;
        finish(at);
    }
    for (int step = TO; step <= STEPS; step++) assert_true(lasts[step] > 0);
    assert_true(at > 30);
}

static void killed_again_and_again(void **state) {
    (void)state;
    for (long first = 1; first < 12; first += 5) {
        int times = 0;
        begin_again();
        while (run_killed(first + 3 * times)) {
            look(first);
            assert_true(++times < 100);
        }
        finish(first);
        assert_true(times > 1);
    }
}

static void failing_once(void **state) {
    long at = 0, failures = 0;
    (void)state;
    atomic_store(&reads, true);
    for (bool reached = true; reached; at++) {
        leat_error err = {0};
        assert_true(at < POINTS_MAX);
        begin_again();
        atomic_store(&calls_seen, 0);
        atomic_store(&chosen, at);
        const leat_code code = rewind_run(&err);
        reached = atomic_load(&calls_seen) > at;
        atomic_store(&chosen, -1);
        failures += code != LEAT_OK;
        if (code != LEAT_OK && err.message[0] == 0) fail_msg("call %ld: no message", at);
        look(at);
        finish(at);
    }
    atomic_store(&reads, false);
    assert_true(failures > 40);
}

/* And the run goes on to the bits that it had. */
static void to_the_same_bits(void **state) {
    leat_error err = {0};
    char before[65];
    (void)state;
    memcpy(before, state_of_whole, sizeof before);
    begin_again();
    finish(0);
    if (train(run, &err) != LEAT_OK) fail_msg("%s", err.message);
    assert_string_equal(state_of_whole, before);
}

static int setup(void **state) {
    leat_error err = {0};
    (void)state;
    snprintf(top, sizeof top, "%s/leat_rewind_killed_XXXXXX", memory_folder(INT64_C(16) << 20));
    assert_non_null(mkdtemp(top));
    join(data, top, "data");
    join(kept, top, "kept");
    join(run, top, "run");
    if (image_set_make(data, IMAGES, LEAT_IMAGE_SIZE, 0, &err) != LEAT_OK ||
        train(kept, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    char path[LEAT_PATH_BYTES];
    join(path, kept, "samples/step-000000003.png"); /* not drawn: that takes long */
    assert_int_equal(leat_file_save(path, "picture", 7, NULL), LEAT_OK);
    begin_again();
    if (rewind_run(&err) != LEAT_OK) fail_msg("%s", err.message);
    want = tree_of(run);
    assert_non_null(strstr(want, "rewound-1 folder\n"));
    assert_null(strstr(want, ".leat"));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    leat_free(want);
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_once),
        cmocka_unit_test(killed_again_and_again),
        cmocka_unit_test(failing_once),
        cmocka_unit_test(to_the_same_bits),
    };
    return cmocka_run_group_tests_name("rewinds killed", tests, setup, teardown);
}
