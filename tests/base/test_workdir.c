/*
 * Work folders and their locks: what is leat's, what is not, and what a removal leaves where it is.
 */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/lock.h"
#include "base/workdir.h"
#include "check.h"

static char top[] = "/tmp/leat_workdir_XXXXXX";
static leat_error failure, *const err = &failure;

static const char *const names[] = {"state", "out/", "out/a_*.x", "temp/", "temp/spill_*", NULL};

static const char *at(const char *name) {
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", top, name);
    return path;
}

static bool there(const char *name) {
    struct stat facts;
    return lstat(at(name), &facts) == 0;
}

static void put(const char *name) {
    char dir[512];
    snprintf(dir, sizeof dir, "%s", at(name));
    *strrchr(dir, '/') = 0;
    assert_ok(leat_path_make_dir(dir, err));
    FILE *file = fopen(at(name), "w");
    assert_non_null(file);
    fputs("x", file);
    fclose(file);
}

static int clear(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) != LEAT_OK || mkdir(top, 0700) != 0;
}

static void begin(leat_workdir *dir, const char *temp) {
    assert_ok(leat_workdir_look(dir, at("work"), names, err));
    assert_int_equal(dir->run, 0);
    if (temp != NULL && !there(temp + strlen(top) + 1)) assert_int_equal(mkdir(temp, 0700), 0);
    assert_ok(leat_workdir_begin(dir, temp, "noted", err));
    assert_true(dir->run != 0);
}

/* ---- what is leat's ---- */

static void life(void **state) {
    (void)state;
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        leat_workdir dir, again;
        begin(&dir, elsewhere ? at("fast") : NULL);
        put("work/state");
        put("work/out/a_1.x");
        put("work/.leat-work.json.leat-0123456789abcdef.tmp"); /* killed while it was written */
        put("work/.state.leat-0123456789abcdef.tmp");
        put("work/out/.a_22.x.leat-0123456789abcdef.tmp");
        put("work/out/a_3.x.tmp");
        char spill[600];
        snprintf(spill, sizeof spill, "%s/spill_7", dir.temp + strlen(top) + 1);
        put(spill);
        assert_ok(leat_workdir_look(&again, at("work"), names, err));
        assert_true(again.run == dir.run && again.used);
        assert_int_equal(again.temp_elsewhere, elsewhere);
        assert_string_equal(again.temp, dir.temp);
        assert_string_equal(again.note, "noted");
        assert_ok(leat_workdir_check_temp(&again, err));
        assert_ok(leat_workdir_remove(&again, "state", err));
        assert_false(there("work"));
        assert_false(there(spill));
        assert_int_equal(again.run, 0);
        begin(&again, NULL);
        assert_true(again.run != dir.run);
        assert_ok(leat_workdir_remove(&again, NULL, err));
        assert_ok(leat_workdir_remove(&again, NULL, err)); /* again is fine */
    }
    assert_true(there("fast")); /* --temp itself is its user's */
}

static void empty(void **state) {
    (void)state;
    leat_workdir dir;
    assert_ok(leat_path_make_dir(at("work"), err));
    begin(&dir, NULL);
    assert_false(dir.used);
    assert_ok(leat_workdir_remove(&dir, NULL, err));
}

/* ---- what is not ---- */

/* In an unmarked folder of that name, and in one with a mark: refused, and all of it stays. */
static void foreign(void **state) {
    (void)state;
    static const char *const files[] = {"work/notes.txt", "work/state",      "work/out/a_1.x",
                                        "work/deep/er/x", "work/out/in/a.x", "work/out/b_1.x"};
    for (int marked = 0; marked < 2; marked++) {
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            leat_workdir dir;
            bool known = marked && (i == 1 || i == 2);
            if (marked) begin(&dir, NULL);
            put(files[i]);
            assert_fails(leat_workdir_look(&dir, at("work"), names, err),
                         known ? LEAT_OK : LEAT_ERR_EXISTS,
                         known    ? ""
                         : marked ? "leat did not"
                                  : "does not have leat's mark");
            if (known) assert_ok(leat_workdir_remove(&dir, NULL, err));
            else assert_true(there(files[i]));
            assert_int_equal(clear(NULL), 0);
        }
    }
}

/* What appears after the look is seen by the removal, before it removes anything. */
static void appears(void **state) {
    (void)state;
    leat_workdir dir;
    begin(&dir, at("fast"));
    put("work/state");
    assert_ok(leat_workdir_look(&dir, at("work"), names, err));
    put("work/zz");
    assert_fails(leat_workdir_remove(&dir, NULL, err), LEAT_ERR_EXISTS, "zz");
    assert_true(there("work/state") && there("work/zz"));
    assert_int_equal(unlink(at("work/zz")), 0);
    char other[600];
    snprintf(other, sizeof other, "%s/mine", dir.temp + strlen(top) + 1);
    put(other);
    assert_fails(leat_workdir_remove(&dir, NULL, err), LEAT_ERR_EXISTS, "mine");
    assert_true(there("work/state") && there(other));
}

/* A link is not followed, wherever it stands. */
static void links(void **state) {
    (void)state;
    static const struct {
        const char *link, *to;
    } cases[] = {{"work", "scratch"},
                 {"work/out", "scratch"},
                 {"work/state", "scratch/a_1.x"},
                 {"work/out/a_2.x", "scratch/a_1.x"},
                 {"work/leat-work.json", "scratch/leat-work.json"},
                 {"work/temp", "scratch"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_workdir dir;
        put("scratch/a_1.x");
        if (i > 0) begin(&dir, NULL);
        if (i == 3) assert_ok(leat_path_make_dir(at("work/out"), err));
        if (i == 4) assert_int_equal(rename(at(cases[i].link), at(cases[i].to)), 0);
        if (i == 5) assert_int_equal(rmdir(at("work/temp")), 0);
        assert_int_equal(symlink(at(cases[i].to), at(cases[i].link)), 0);
        assert_fails(leat_workdir_look(&dir, at("work"), names, err), LEAT_ERR_EXISTS, "");
        assert_true(there("scratch/a_1.x") && there(cases[i].link));
        assert_int_equal(clear(NULL), 0);
    }
}

/* A mark could not tell a later run where these temporary files are. */
static void temp_not_utf8(void **state) {
    (void)state;
    leat_workdir dir;
    assert_ok(leat_workdir_look(&dir, at("work"), names, err));
    assert_int_equal(mkdir(at("fast\xff"), 0700), 0);
    assert_fails(leat_workdir_begin(&dir, at("fast\xff"), "", err), LEAT_ERR_OPTION, "UTF-8");
    assert_false(there("work"));
}

/* A disk that is not mounted must not be taken for a folder that is yet to be made. */
static void temp_missing(void **state) {
    (void)state;
    leat_workdir dir;
    assert_ok(leat_workdir_look(&dir, at("work"), names, err));
    assert_fails(leat_workdir_begin(&dir, at("fast"), "", err), LEAT_ERR_NOT_FOUND,
                 "does not exist");
    put("fast");
    assert_fails(leat_workdir_begin(&dir, at("fast"), "", err), LEAT_ERR_NOT_FOUND,
                 "is not a folder");
    assert_false(there("work"));
}

/* Temporary files elsewhere are a run's by their mark, too. */
static void temp_swapped(void **state) {
    (void)state;
    leat_workdir one, two;
    char spill[700];
    begin(&one, at("fast"));
    assert_int_equal(rename(at("work"), at("first")), 0);
    begin(&two, at("fast"));
    assert_ok(leat_path_remove_tree(two.temp, err));
    assert_int_equal(rename(one.temp, two.temp), 0); /* the first run's under the second's name */
    snprintf(spill, sizeof spill, "%s/spill_1", two.temp + strlen(top) + 1);
    put(spill);
    assert_fails(leat_workdir_check_temp(&two, err), LEAT_ERR_NOT_FOUND, "temporary files");
    assert_fails(leat_workdir_remove(&two, NULL, err), LEAT_ERR_EXISTS, "spill_1");
    assert_true(there(spill) && there("work/leat-work.json"));
}

/* ---- locks ---- */

static void not_a_lock(void **state) {
    (void)state;
    leat_lock lock = {0};
    put("lock");
    assert_fails(leat_lock_try(&lock, at("lock"), err), LEAT_ERR_EXISTS, "not a lock file");
    assert_true(there("lock"));
    assert_int_equal(unlink(at("lock")), 0);
    put("target");
    assert_int_equal(symlink(at("target"), at("lock")), 0);
    assert_fails(leat_lock_try(&lock, at("lock"), err), LEAT_ERR_EXISTS, "is a link");
    assert_int_equal(unlink(at("lock")), 0);
    assert_int_equal(mkdir(at("lock"), 0700), 0);
    assert_fails(leat_lock_try(&lock, at("lock"), err), LEAT_ERR_EXISTS, "");
    assert_fails(leat_lock_try(&lock, at("no/lock"), err), LEAT_ERR_NOT_FOUND, "");
}

/* Each of several processes takes the lock often; in it, a folder is made that nobody else may
 * have made, and removed. Nobody removes another's lock. */
enum { PROCESSES = 4, TURNS = 400 };

static int race(void) {
    int taken = 0;
    alarm(120); /* ends a process that would wait for ever */
    while (taken < TURNS) {
        leat_lock lock = {0};
        leat_code code = leat_lock_try(&lock, at("race.lock"), err);
        if (code == LEAT_ERR_BUSY || code == LEAT_ERR_NOT_FOUND) {
            sched_yield(); /* its holder may be waiting for this processor */
            continue;
        }
        if (code != LEAT_OK) return 2;
        if (mkdir(at("inside"), 0700) != 0) return 3; /* two had it at once */
        if (rmdir(at("inside")) != 0) return 4;
        leat_lock_release(&lock);
        taken++;
    }
    return 0;
}

static void processes(void **state) {
    (void)state;
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) _exit(race());
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
            fail_msg("process %d did not have the lock %d times within 120 s", i, TURNS);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_false(there("race.lock"));
}

int main(void) {
    if (mkdtemp(top) == NULL) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(life, clear),         cmocka_unit_test_setup(empty, clear),
        cmocka_unit_test_setup(foreign, clear),      cmocka_unit_test_setup(appears, clear),
        cmocka_unit_test_setup(links, clear),        cmocka_unit_test_setup(temp_not_utf8, clear),
        cmocka_unit_test_setup(temp_missing, clear), cmocka_unit_test_setup(temp_swapped, clear),
        cmocka_unit_test_setup(not_a_lock, clear),   cmocka_unit_test_setup(processes, clear),
    };
    int failed = cmocka_run_group_tests_name("work folders", tests, NULL, NULL);
    return leat_path_remove_tree(top, NULL) != LEAT_OK || failed;
}
