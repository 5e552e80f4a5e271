/*
 * Fault sweep over staging: the n-th allocation, file call or start of a thread fails, once or from
 * then on. Each time it fails with an error that says why, or the copy is there and whole; what is
 * left of a failure is nothing, or goes with the next call; and nothing is there by the copy's name
 * that is not whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "load/make_graphs.h"
#include "memory_folder.h"
#include "points.h"

static char top[512], source[600], place[600], copy[700];

static void must(leat_code code, const leat_error *err) {
    if (code != LEAT_OK) fail_msg("%s", err->message);
}

static leat_code stage(int threads, leat_can_stage_result *result, leat_error *err) {
    leat_can_stage_options options = {.threads = threads};
    return leat_can_cache_stage(source, place, &options, result, err);
}

/* Every graph of the copy can be read. */
static void expect_whole(void) {
    static const char *const splits[] = {"train", "val"};
    leat_can_cache *cache = NULL;
    leat_error err = {0};
    must(leat_can_cache_open(&cache, copy, &err), &err);
    for (int s = 0; s < 2; s++) {
        leat_can_reader *reader = NULL;
        leat_can_split split;
        must(leat_can_cache_get_split(cache, s, &split, &err), &err);
        must(leat_can_reader_create(&reader, cache, splits[s], LEAT_SCALE_NONE, &err), &err);
        for (int64_t g = 0; g < split.graph_count; g++) {
            leat_can_graph graph;
            must(leat_can_reader_graph(reader, g, &graph, &err), &err);
        }
        leat_can_reader_destroy(reader);
    }
    leat_can_cache_close(cache);
}

static bool is_there(const char *path) {
    leat_path_facts facts;
    leat_error err = {0};
    must(leat_path_stat(path, &facts, &err), &err);
    return facts.kind != LEAT_PATH_NONE;
}

/* Nothing but the copy; lock and work folder may be left where removing them was what failed. */
static void expect_clean(bool lock) {
    leat_path_list names = {0};
    leat_error err = {0};
    if (!is_there(place)) return;
    must(leat_path_list_dir(place, &names, &err), &err);
    for (int64_t i = 0; i < names.count; i++) {
        if (strcmp(names.paths[i], "cache") == 0) continue;
        if (lock && strcmp(names.paths[i], ".stage-cache.lock") == 0) continue;
        if (lock && strcmp(names.paths[i], ".stage-cache") == 0) continue;
        fail_msg("left behind: %s", names.paths[i]);
    }
    leat_path_list_free(&names);
}

/* What the folder holds before: nothing, a copy that is whole, or one that is torn. */
typedef enum before { ABSENT, WHOLE, TORN } before;
static void prepare(before what) {
    leat_can_stage_result result;
    leat_error err = {0};
    must(leat_path_remove_tree(place, &err), &err);
    if (what == ABSENT) return;
    must(stage(1, &result, &err), &err);
    char path[800];
    snprintf(path, sizeof path, "%s/val.pages", copy);
    if (what == TORN) must(leat_path_remove(path, &err), &err);
}

/* Whether there were so many calls. */
static bool try(before what, int threads, long at, bool stays) {
    leat_can_stage_result result;
    leat_error err = {0};
    memset(&result, 0x55, sizeof result);
    prepare(what);
    set_fault(at, stays);
    leat_code code = stage(threads, &result, &err);
    bool reached = clear_fault();
    assert_int_equal(err.code, code);
    if (code == LEAT_OK) {
        assert_string_equal(result.path, copy);
        expect_whole();
        expect_clean(reached);
        return reached;
    }
    assert_true(reached);
    if (code != LEAT_ERR_MEMORY && code != LEAT_ERR_IO && code != LEAT_ERR_NO_SPACE)
        fail_msg("point %ld: code %d: %s", at, code, err.message);
    assert_int_equal(result.path[0], 0);
    if (code == LEAT_ERR_NO_SPACE) assert_non_null(strstr(err.message, "which requires "));
    if (!stays) expect_clean(false);
    if (what != TORN && is_there(copy)) expect_whole();
    must(stage(threads, &result, &err), &err);
    expect_whole();
    expect_clean(false);
    return true;
}

static void sweep(before what, int threads, long least) {
    for (int stays = 0; stays < 2; stays++) {
        long at = 0;
        while (try(what, threads, at, stays == 1)) at++;
        assert_true(at > least);
    }
}

static void absent(void **state) {
    (void)state;
    sweep(ABSENT, 1, 60);
}
static void two_threads(void **state) {
    (void)state;
    sweep(ABSENT, 2, 60);
}
static void whole(void **state) {
    (void)state;
    sweep(WHOLE, 1, 30);
}
static void torn(void **state) {
    (void)state;
    sweep(TORN, 1, 60);
}

static int setup(void **state) {
    (void)state;
    make_cache options = {.graphs = {500, 4}, .window = 16}; /* pieces for two threads */
    leat_error err = {0};
    const int64_t room_bytes = INT64_C(16) << 20; /* each copy is synced, many times over */
    snprintf(top, sizeof top, "%s/leat_stage_faults_XXXXXX", memory_folder(room_bytes));
    if (mkdtemp(top) == NULL) return 1;
    snprintf(source, sizeof source, "%s/cache", top);
    snprintf(place, sizeof place, "%s/fast", top);
    snprintf(copy, sizeof copy, "%s/cache", place);
    must(make_can_cache(source, &options, &err), &err);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent),
        cmocka_unit_test(two_threads),
        cmocka_unit_test(whole),
        cmocka_unit_test(torn),
    };
    return cmocka_run_group_tests_name("faults of staging", tests, setup, teardown);
}
