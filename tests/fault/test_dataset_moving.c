/*
 * A reader beside an ingest that moves a data set to its place (format/dataset/journal.h): before
 * the n-th call of the reader into the file system, for every n, all files move, and the journal
 * stays or goes. The data set opens, and every row of it is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "format/dataset/journal.h"
#include "load/make_dataset.h"
#include "load/probes/dataset.h"

#define POINTS_MAX 5000

static char top[] = "/tmp/leat_moving_XXXXXX";
static char dir[64], stage[80];
static const char *const splits[] = {"train", "test"};

static struct {
    long at, seen; /* moves before call `at`; -1: not at all */
    bool ends;     /* the journal goes with it */
    bool done;     /* it has moved */
} move = {.at = -1};

static void move_name(const char *from, const char *to, const char *name) {
    char old[300], new[300];
    snprintf(old, sizeof old, "%s/%s", from, name);
    snprintf(new, sizeof new, "%s/%s", to, name);
    if (rename(old, new) != 0) fail_msg("cannot move %s", old);
}

/* All files of the data set, shards first. */
static void move_files(const char *from, const char *to) {
    for (int s = 0; s < 2; s++) {
        leat_path_list names = {0};
        char split[100], target[100];
        snprintf(split, sizeof split, "%s/%s", from, splits[s]);
        snprintf(target, sizeof target, "%s/%s", to, splits[s]);
        assert_int_equal(leat_path_list_dir(split, &names, NULL), LEAT_OK);
        for (int64_t i = 0; i < names.count; i++) move_name(split, target, names.paths[i]);
        leat_path_list_free(&names);
    }
    move_name(from, to, LEAT_INDEX_NAME);
    move_name(from, to, LEAT_MANIFEST_NAME);
}

bool leat_fault_point(leat_fault_kind kind) {
    char journal[100];
    bool counts = kind != LEAT_FAULT_ALLOC && kind != LEAT_FAULT_THREAD;
    if (move.at < 0 || !counts || move.seen++ != move.at) return false;
    move.at = -1;
    move.done = true;
    move_files(stage, dir);
    snprintf(journal, sizeof journal, "%s/" LEAT_WORK_NAME "/" LEAT_JOURNAL_NAME, dir);
    if (move.ends) assert_int_equal(unlink(journal), 0);
    return false;
}

static void must(leat_code code, const leat_error *err, const char *what, long at) {
    if (code != LEAT_OK) fail_msg("%s, moved before call %ld: %s", what, at, err->message);
}

static void read_all(const char *what, long at) {
    const char *path = dir;
    leat_dataset *dataset = NULL;
    leat_row *cursor = NULL;
    leat_error err = {0};
    must(leat_dataset_open(&dataset, &path, 1, NULL, &err), &err, what, at);
    must(leat_row_create(&cursor, dataset, &err), &err, what, at);
    for (int64_t row = 0; row < 16; row++) {
        leat_measurement got;
        must(leat_dataset_row_open(dataset, row, cursor, &err), &err, what, at);
        must(leat_row_measurement(cursor, 0, &got, &err), &err, what, at);
        assert_int_equal(got.time_us, make_measurement(row, 0).time_us);
    }
    leat_row_destroy(cursor);
    leat_dataset_close(dataset);
}

/* The data set is in the stage, and its journal is written. */
static void put_back(void) {
    char work[80];
    leat_error err = {0};
    const leat_journal journal = {.shards = {3, 1}};
    snprintf(work, sizeof work, "%s/" LEAT_WORK_NAME, dir);
    if (move.done) move_files(dir, stage);
    move.done = false;
    must(leat_journal_save(&journal, work, &err), &err, "journal", -1);
}

static void sweep(const char *name, leat_compression compression) {
    make_options options = make_options_default();
    leat_error err = {0};
    char path[100];
    options.record.compression = compression;
    snprintf(dir, sizeof dir, "%s/%s", top, name);
    snprintf(stage, sizeof stage, "%s/" LEAT_WORK_NAME "/" LEAT_STAGE_NAME, dir);
    must(make_dataset(dir, &options, &err), &err, name, -1);
    for (int s = 0; s < 2; s++) {
        snprintf(path, sizeof path, "%s/%s", stage, splits[s]);
        must(leat_path_make_dir(path, &err), &err, name, -1);
    }
    move_files(dir, stage);
    for (int ends = 0; ends < 2; ends++) {
        long at = 0;
        for (bool reached = true; reached; at++) {
            assert_true(at < POINTS_MAX);
            put_back();
            move.ends = ends == 1;
            move.seen = 0;
            move.at = at;
            read_all(name, at);
            move.at = -1;
            reached = move.done;
        }
        assert_true(at > 20);
    }
}

static void mapped(void **state) {
    (void)state;
    sweep("mapped", LEAT_COMPRESSION_NONE);
}

static void compressed(void **state) {
    (void)state;
    sweep("compressed", LEAT_COMPRESSION_ZSTD);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mapped), cmocka_unit_test(compressed)};
    if (mkdtemp(top) == NULL) return 1;
    int failed = cmocka_run_group_tests_name("data set on the move", tests, NULL, NULL);
    if (leat_path_remove_tree(top, NULL) != LEAT_OK) return 1;
    return failed;
}
