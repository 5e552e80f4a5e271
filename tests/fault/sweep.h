/*
 * A fault sweep over work that is done again and again: the n-th allocation, call into the file
 * system or start of a thread fails, once and then from there on, for n = 0, 1, ... until the work
 * is done with no call failing. Each time the work fails with an error that says why, or succeeds
 * and has checked itself what it made.
 */
#ifndef LEAT_TESTS_FAULT_SWEEP_H
#define LEAT_TESTS_FAULT_SWEEP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "points.h"

typedef struct fault_sweep {
    const char *name; /* in messages */
    leat_code (*work)(const void *of, leat_error *err);
    const void *of;
    /* What is looked at after each run; not where removing fails as well. NULL: nothing. */
    void (*after)(leat_code code);
    long least; /* more than so many runs fail */
} fault_sweep;

/* Work that takes long tries only every such n. */
static long sweep_step = 1;

static inline void sweep_run(const fault_sweep *sweep, bool stays) {
    long failures = 0;
    for (long at = 0;; at += sweep_step) {
        leat_error err = {0};
        set_fault(at, stays);
        leat_code code = sweep->work(sweep->of, &err);
        bool reached = clear_fault();
        if (code != LEAT_OK) {
            bool known =
                code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO || code == LEAT_ERR_NO_SPACE;
            if (!known || !reached || err.message[0] == 0)
                fail_msg("%s, call %ld: code %d: %s", sweep->name, at, code, err.message);
            failures++;
        }
        assert_int_equal(err.code, code);
        if (!stays && sweep->after != NULL) sweep->after(code);
        if (!reached) break;
        assert_true(at < 100000);
    }
    assert_true(failures > sweep->least);
}

static inline void sweep_faults(const fault_sweep *sweep) {
    sweep_run(sweep, false);
    sweep_run(sweep, true);
}

/* No file of the folder is a draft. */
static inline void expect_no_drafts(const char *dir) {
    leat_path_list names = {0};
    assert_int_equal(leat_path_list_dir(dir, &names, NULL), LEAT_OK);
    for (int64_t i = 0; i < names.count; i++) assert_null(strstr(names.paths[i], ".tmp"));
    leat_path_list_free(&names);
}

#endif
