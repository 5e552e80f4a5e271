/*
 * A training run killed before its n-th call that changes a file, then resumed: the bytes of a run
 * that was left alone, and at no moment a checkpoint that is none.
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

enum { IMAGES = 5, STEPS = 3, POINTS_MAX = 3000 };

static atomic_long kill_at = -1, calls_seen; /* -1: lives */

bool leat_fault_point(leat_fault_kind kind) {
    if (kind == LEAT_FAULT_ALLOC || kind == LEAT_FAULT_READ || kind == LEAT_FAULT_THREAD)
        return false;
    if (atomic_load(&kill_at) >= 0 && atomic_fetch_add(&calls_seen, 1) == atomic_load(&kill_at))
        raise(SIGKILL);
    return false;
}

static char top[LEAT_PATH_BYTES - 200];
static char data[LEAT_PATH_BYTES], run[LEAT_PATH_BYTES], whole[LEAT_PATH_BYTES];
static leat_train_result want;

static leat_code train(const char *at, leat_train_result *result, leat_error *err) {
    leat_dcgan_settings settings = leat_dcgan_settings_default();
    leat_train_options options = leat_train_options_default();
    settings.width = 1;
    settings.latent = 2;
    options.settings = &settings;
    options.unit_size = 4;
    options.micro_batch = 2;
    options.threads = 1;
    options.steps = STEPS;
    options.checkpoint_every = 1;
    options.keep = 2;
    options.sample_every = 0;
    options.resume = true;
    return leat_train("dcgan", data, at, &options, result, err);
}

static bool run_killed(long at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        leat_train_result result;
        atomic_store(&kill_at, at);
        _exit(train(run, &result, NULL) == LEAT_OK ? 0 : 1);
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

/* Whoever looks at the run now finds whole checkpoints, or none. */
static void look(long at) {
    leat_run *opened = NULL;
    leat_run_checkpoint checkpoint;
    leat_error err = {0};
    if (!leat_run_is_at(run)) return;
    if (leat_run_open(&opened, run, &err) != LEAT_OK) fail_msg("call %ld: %s", at, err.message);
    for (int i = 0; leat_run_checkpoint_at(opened, i, &checkpoint); i++) {
        uint8_t digest[32];
        if (leat_file_sha256(checkpoint.path, digest, &err) != LEAT_OK)
            fail_msg("call %ld: %s", at, err.message);
    }
    leat_run_close(opened);
}

static char *lines_of(const char *at, int64_t *count) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    assert_int_equal(leat_path_join(path, sizeof path, at, "metrics.jsonl", NULL), LEAT_OK);
    assert_int_equal(leat_file_load(path, 1 << 20, &text, &size, NULL), LEAT_OK);
    *count = 0;
    for (int64_t i = 0; i < size; i++) *count += text[i] == '\n';
    return (char *)text;
}

static void resume(long at) {
    leat_train_result result;
    leat_error err = {0};
    int64_t lines = 0, all = 0;
    if (train(run, &result, &err) != LEAT_OK) fail_msg("call %ld: %s", at, err.message);
    assert_string_equal(result.state, want.state);
    leat_free(lines_of(run, &lines));
    leat_free(lines_of(whole, &all));
    if (lines != all) fail_msg("call %ld: %d lines of metrics", at, (int)lines);
    assert_int_equal(leat_path_remove_tree(run, NULL), LEAT_OK);
}

static void killed_once(void **state) {
    long at = 0;
    (void)state;
    for (bool reached = true; reached; at++) {
        assert_true(at < POINTS_MAX);
        reached = run_killed(at);
        look(at);
        resume(at);
    }
    assert_true(at > 60);
}

/* The run that resumes is killed, too, until one comes to its end. */
static void killed_again_and_again(void **state) {
    (void)state;
    for (long at = 5; at < 60; at += 13) {
        int kills = 0;
        while (run_killed(at + 9 * kills)) {
            look(at);
            assert_true(++kills < 100);
        }
        resume(at);
        assert_true(kills > 0);
    }
}

static int setup(void **state) {
    leat_error err = {0};
    (void)state;
    snprintf(top, sizeof top, "%s/leat_train_killed_XXXXXX", memory_folder(INT64_C(16) << 20));
    assert_non_null(mkdtemp(top));
    snprintf(data, sizeof data, "%s/data", top);
    snprintf(run, sizeof run, "%s/run", top);
    snprintf(whole, sizeof whole, "%s/whole", top);
    if (image_set_make(data, IMAGES, LEAT_IMAGE_SIZE, 0, &err) != LEAT_OK ||
        train(whole, &want, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_once),
        cmocka_unit_test(killed_again_and_again),
    };
    return cmocka_run_group_tests_name("training killed", tests, setup, teardown);
}
