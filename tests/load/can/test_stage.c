/*
 * Staging: a copy that gives the same batches, is found again, and waited for; what is damaged,
 * stopped or in the way leaves nothing behind and nothing of others touched.
 */
/* TSan: several processes and threads stage one cache. */
#include "graph_support.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/workdir.h"
#include "check.h"

static char source[256];
static char place[512];
static int places; /* each test stages to a folder of its own */

static const char *const files[] = {
    "train.safetensors", "train.pages", "val.safetensors",     "val.pages",
    "vocab.json",        "scaler.json", "cache_metadata.json", ".complete",
};
enum { FILES = (int)(sizeof files / sizeof *files) };

static int next_place(void **state) {
    (void)state;
    snprintf(place, sizeof place, "%s/fast_%d", loader_folder(), places++);
    return 0;
}

static void copy_path(char out[600], const char *name) { snprintf(out, 600, "%s/%s", place, name); }

static leat_code stage(const char *from, leat_can_stage_result *result, leat_error *err) {
    leat_can_stage_options options = leat_can_stage_options_default();
    options.threads = 2;
    memset(result, 0x55, sizeof *result);
    memset(err, 0, sizeof *err);
    return leat_can_cache_stage(from, place, &options, result, err);
}

static void stage_fails(const char *from, leat_code expected, const char *words) {
    leat_can_stage_result result;
    leat_error err;
    assert_int_equal(stage(from, &result, &err), expected);
    if (strstr(err.message, words) == NULL) fail_msg("\"%s\" lacks \"%s\"", err.message, words);
    assert_int_equal(result.path[0], 0);
    assert_false(result.reused);
}

/* The names in the folder are these, divided by blanks; NULL: there is no folder. */
static void expect_names(const char *expected) {
    leat_path_list names = {0};
    leat_path_facts facts;
    char text[1024] = "";
    assert_ok(leat_path_stat(place, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) {
        assert_null(expected);
        return;
    }
    assert_non_null(expected);
    assert_ok(leat_path_list_dir(place, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        size_t size = strlen(text);
        snprintf(text + size, sizeof text - size, "%s%s", i == 0 ? "" : " ", names.paths[i]);
    }
    leat_path_list_free(&names);
    assert_string_equal(text, expected);
}

static void expect_same_files(const char *copy) {
    for (int i = 0; i < FILES; i++) {
        char path[2][700];
        uint8_t digest[2][32];
        snprintf(path[0], sizeof path[0], "%s/%s", source, files[i]);
        snprintf(path[1], sizeof path[1], "%s/%s", copy, files[i]);
        for (int k = 0; k < 2; k++) assert_ok(leat_file_sha256(path[k], digest[k], err));
        assert_memory_equal(digest[0], digest[1], 32);
    }
}

static void expect_staged(bool reused) {
    leat_can_stage_result result;
    leat_error err;
    must(stage(source, &result, &err), &err);
    assert_int_equal(err.code, LEAT_OK);
    assert_int_equal(result.reused, reused);
    expect_same_files(result.path);
    expect_names("cache");
}

static uint64_t inode_of(const char *path) {
    leat_path_facts facts;
    assert_ok(leat_path_stat(path, &facts, err));
    assert_int_not_equal(facts.kind, LEAT_PATH_NONE);
    return facts.inode;
}

/* ---- copies -------------------------------------------------------------------------------------
 */

static void batches_of(const char *path, char text[65]) {
    leat_can_cache *cache = graphs_open(path);
    leat_graph_loader_options options = graphs_options();
    leat_graph_loader *loader = graphs_create(cache, &options);
    char *lines = NULL;
    graphs_hash(&loader, 1, text, &lines);
    free(lines);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

static void copies(void **state) {
    (void)state;
    leat_can_stage_result result;
    leat_error err;
    char hash[2][65], path[600];
    int64_t size = 0;
    must(stage(source, &result, &err), &err);
    copy_path(path, "cache");
    assert_string_equal(result.path, path);
    assert_false(result.reused);
    expect_same_files(path);
    expect_names("cache");
    for (int i = 0; i < FILES; i++) {
        leat_path_facts facts;
        char file[700];
        snprintf(file, sizeof file, "%s/%s", source, files[i]);
        must(leat_path_stat(file, &facts, &err), &err);
        size += facts.size_bytes;
    }
    assert_int_equal(result.size_bytes, size);
    batches_of(source, hash[0]);
    batches_of(path, hash[1]);
    assert_string_equal(hash[0], hash[1]);

    uint64_t inode = inode_of(path);
    expect_staged(true);
    assert_int_equal(inode_of(path), inode);
    must(stage(loader_folder(), &result, &err), &err); /* by the folder that holds it */
    assert_string_equal(result.path, path);
    assert_true(result.reused);
    must(leat_can_cache_stage(source, place, NULL, &result, &err), &err);
    assert_int_equal(result.size_bytes, size);
}

static void any_threads(void **state) {
    static const int counts[] = {1, 2, 3, 8};
    for (int i = 0; i < 4; i++) {
        leat_can_stage_options options = {.threads = counts[i]};
        leat_can_stage_result result;
        leat_error err = {0};
        (void)next_place(state);
        must(leat_can_cache_stage(source, place, &options, &result, &err), &err);
        expect_same_files(result.path);
    }
    leat_can_stage_options none = {.threads = 0};
    leat_can_stage_result result;
    leat_error err = {0};
    assert_int_equal(leat_can_cache_stage(source, place, &none, &result, &err), LEAT_ERR_OPTION);
}

/* A cache that stands where it is to be staged to is its own copy. */
static void itself(void **state) {
    (void)state;
    leat_can_stage_result result;
    leat_error err;
    snprintf(place, sizeof place, "%s", loader_folder());
    uint64_t inode = inode_of(source);
    must(stage(source, &result, &err), &err);
    assert_true(result.reused);
    assert_string_equal(result.path, source);
    assert_int_equal(inode_of(source), inode);
}

/* A path whose last name says nothing. */
static void named(void **state) {
    (void)state;
    char here[1024], path[600], slashes[300];
    leat_can_stage_result result;
    leat_error err;
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(source), 0);
    leat_code code = stage(".", &result, &err);
    assert_int_equal(chdir(here), 0);
    must(code, &err);
    expect_names("can-e000000000000000");
    copy_path(path, "can-e000000000000000");
    expect_same_files(path);
    snprintf(slashes, sizeof slashes, "%s//", source);
    must(stage(slashes, &result, &err), &err);
    expect_names("cache can-e000000000000000");
}

/* ---- what is there ------------------------------------------------------------------------------
 */

static void cut(const char *name, int64_t size) {
    char path[700];
    snprintf(path, sizeof path, "%s/cache/%s", place, name);
    assert_int_equal(truncate(path, size), 0);
}

/* A copy that lacks anything is made again. */
static void torn_copies(void **state) {
    (void)state;
    char path[600], file[700];
    expect_staged(false);
    copy_path(path, "cache");
    for (int i = 0; i < FILES; i++) {
        cut(files[i], 5);
        expect_staged(false);
        snprintf(file, sizeof file, "%s/%s", path, files[i]);
        assert_int_equal(unlink(file), 0);
        expect_staged(false);
    }
    assert_ok(leat_path_remove_tree(path, err));
    expect_staged(false);
    loader_flip(path, "vocab.json", 10, 2);
    expect_staged(false);
}

/* Gives the copy other metadata. */
static void change_copy(void (*change)(leat_can_meta *meta)) {
    char path[600];
    leat_can_meta meta;
    copy_path(path, "cache");
    assert_ok(leat_can_meta_load(&meta, path, true, err));
    change(&meta);
    assert_ok(leat_can_meta_save(&meta, path, err));
    leat_can_meta_free(&meta);
}
static void rebuild(leat_can_meta *meta) { meta->built_at[3] ^= 1; }
static void make_other(leat_can_meta *meta) { meta->digest[5] = '7'; }

static void others(void **state) {
    (void)state;
    char path[600];
    expect_staged(false);
    change_copy(rebuild); /* the same inputs, another time */
    expect_staged(false);
    change_copy(make_other);
    stage_fails(source, LEAT_ERR_EXISTS, "not a copy of it; move it away");
    copy_path(path, "cache");
    uint64_t inode = inode_of(path);
    stage_fails(source, LEAT_ERR_EXISTS, "not a copy of it; move it away");
    assert_int_equal(inode_of(path), inode);
    expect_names("cache");

    assert_ok(leat_path_remove_tree(path, err));
    assert_ok(leat_path_make_dir(path, err));
    expect_staged(false); /* in place of a folder that holds nothing */
    assert_ok(leat_path_remove_tree(path, err));
    assert_ok(leat_file_save(path, "mine", 4, err));
    stage_fails(source, LEAT_ERR_EXISTS, "not a copy of it; move it away");
    expect_names("cache");
}

/* The work folder of a run that was killed while it copied. */
static void leave_work(void) {
    static const char *const names[] = {NULL};
    char path[600];
    leat_workdir work;
    copy_path(path, ".stage-cache");
    assert_ok(leat_workdir_look(&work, path, names, err));
    assert_ok(leat_workdir_begin(&work, NULL, "", err));
    copy_path(path, ".stage-cache/out");
    assert_ok(leat_path_make_dir(path, err));
    copy_path(path, ".stage-cache/out/train.safetensors");
    assert_ok(leat_file_save(path, "half", 4, err));
    copy_path(path, ".stage-cache.lock");
    assert_ok(leat_file_save(path, "", 0, err));
}

static void leftovers(void **state) {
    (void)state;
    leave_work();
    expect_staged(false);
    leave_work(); /* the copy was complete when it was killed */
    expect_staged(true);
    expect_names("cache");
}

/* A folder with the name of a work folder, or a link, is not leat's by its name. */
static void third_party(void **state) {
    (void)state;
    char path[600], link[600], mine[600];
    copy_path(mine, ".stage-cache/out/train.safetensors");
    copy_path(path, ".stage-cache/out");
    assert_ok(leat_path_make_dir(path, err));
    assert_ok(leat_file_save(mine, "mine", 4, err));
    stage_fails(source, LEAT_ERR_EXISTS, "does not have leat's mark");
    assert_true(inode_of(mine) != 0);
    copy_path(path, ".stage-cache");
    copy_path(link, "scratch");
    assert_int_equal(rename(path, link), 0);
    assert_int_equal(symlink(link, path), 0);
    stage_fails(source, LEAT_ERR_EXISTS, "is a link");
    assert_int_equal(unlink(path), 0);
    copy_path(path, "scratch/out/train.safetensors");
    assert_true(inode_of(path) != 0);
    copy_path(path, ".stage-cache.lock");
    assert_ok(leat_file_save(path, "notes", 5, err));
    stage_fails(source, LEAT_ERR_EXISTS, "is not a lock file");
    assert_ok(leat_path_remove(path, err));
    copy_path(path, "scratch");
    assert_ok(leat_path_remove_tree(path, err));
    expect_staged(false);
    /* what its user keeps beside an older copy stays there */
    copy_path(path, "cache/checkpoints");
    assert_ok(leat_path_make_dir(path, err));
    copy_path(path, "cache/checkpoints/last");
    assert_ok(leat_file_save(path, "weights", 7, err));
    copy_path(mine, "cache/.complete");
    assert_ok(leat_path_remove(mine, err));
    expect_staged(false);
    assert_true(inode_of(path) != 0);
    expect_names("cache");
}

/* ---- failures -----------------------------------------------------------------------------------
 */

static void damaged(void **state) {
    (void)state;
    make_cache options = {.graphs = {200, 4}, .window = 20};
    leat_error err = {0};
    char dir[256], path[300];
    leat_path_facts facts;
    graphs_make("damage", &options, dir);
    snprintf(path, sizeof path, "%s/train.safetensors", dir);
    must(leat_path_stat(path, &facts, &err), &err);
    assert_true(facts.size_bytes > 3 * 4096);
    for (int i = 0; i < 3; i++) {
        static const char *const pages[] = {"page at byte 0", "page at byte 8192", "page at byte"};
        int64_t byte = i == 0 ? 7 : i == 1 ? 9000 : facts.size_bytes - 1;
        loader_flip(dir, "train.safetensors", byte, 3);
        stage_fails(dir, LEAT_ERR_CORRUPT, pages[i]);
        expect_names(NULL); /* the folder was made for it */
        loader_flip(dir, "train.safetensors", byte, 3);
    }
    loader_flip(dir, "val.pages", 4, 0);
    stage_fails(dir, LEAT_ERR_CORRUPT, "val.pages\" has changed since it was written");
    loader_flip(dir, "val.pages", 4, 0);
    loader_flip(dir, "scaler.json", 20, 0);
    stage_fails(dir, LEAT_ERR_CORRUPT, "scaler.json");
    loader_flip(dir, "scaler.json", 20, 0);
    must(leat_path_make_dir(place, &err), &err);
    assert_int_equal(truncate(path, facts.size_bytes - 1), 0);
    stage_fails(dir, LEAT_ERR_CORRUPT, "its metadata says");
    assert_int_equal(truncate(path, facts.size_bytes + 1), 0);
    stage_fails(dir, LEAT_ERR_CORRUPT, "its metadata says");
    expect_names(""); /* it was there before */
    assert_int_equal(truncate(path, facts.size_bytes), 0);
    loader_flip(dir, "train.safetensors", facts.size_bytes - 1, 0);
    stage_fails(dir, LEAT_ERR_CORRUPT, "page at byte");
    stage_fails("/nowhere", LEAT_ERR_NOT_FOUND, "is not a folder");
    must(leat_path_remove_tree(dir, &err), &err);
}

/* Of a path whose folders were not there none is left, of one that was there all is. */
static void deep(void **state) {
    (void)state;
    static const char *const tails[] = {"", "/a", "/a/b", "/a/b/", "//a//b//c"};
    char dir[256], top[512], path[600];
    leat_path_facts facts;
    make_cache options = make_cache_default();
    graphs_make("deep_source", &options, dir);
    loader_flip(dir, "train.safetensors", 4096, 0);
    memcpy(top, place, sizeof top);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        snprintf(place, sizeof place, "%.400s%s", top, tails[i]);
        stage_fails(dir, LEAT_ERR_CORRUPT, "page at byte");
        assert_ok(leat_path_stat(top, &facts, err));
        assert_int_equal(facts.kind, LEAT_PATH_NONE);
    }
    snprintf(path, sizeof path, "%s/a", top);
    assert_ok(leat_path_make_dir(path, err));
    snprintf(place, sizeof place, "%.400s/a/b/c", top);
    stage_fails(dir, LEAT_ERR_CORRUPT, "page at byte");
    memcpy(place, top, sizeof place);
    expect_names("a");
    snprintf(place, sizeof place, "%.400s/a", top);
    expect_names("");
    assert_ok(leat_path_remove_tree(dir, err));
}

typedef struct stopper {
    int64_t at; /* bytes */
    int calls;
    bool staging;
} stopper;
static bool stop_at(void *user, const leat_progress *progress) {
    stopper *self = user;
    self->calls++;
    self->staging = self->staging || strcmp(progress->stage, "staging") == 0;
    assert_true(progress->done <= progress->total);
    return progress->done < self->at;
}

static void stopped(void **state) {
    (void)state;
    stopper at_once = {.at = 0}, never = {.at = INT64_MAX};
    leat_can_stage_options options = {.threads = 2, .progress = stop_at, .progress_user = &at_once};
    leat_can_stage_result result;
    leat_error err = {0};
    assert_int_equal(leat_can_cache_stage(source, place, &options, &result, &err),
                     LEAT_ERR_CANCELLED);
    assert_true(at_once.calls > 0);
    expect_names(NULL);
    options.progress_user = &never;
    must(leat_can_cache_stage(source, place, &options, &result, &err), &err);
    assert_true(never.staging);
}

/* The cache is made again while it is copied. */
static bool change_source(void *user, const leat_progress *progress) {
    bool *changed = user;
    if (strcmp(progress->stage, "staging") != 0 || *changed) return true;
    *changed = true;
    loader_flip(source, "vocab.json", 9, 1);
    return true;
}

static void changed(void **state) {
    (void)state;
    bool done = false;
    leat_can_stage_options options = {
        .threads = 1, .progress = change_source, .progress_user = &done};
    leat_can_stage_result result;
    leat_error err = {0};
    leat_code code = leat_can_cache_stage(source, place, &options, &result, &err);
    assert_true(done);
    loader_flip(source, "vocab.json", 9, 1);
    assert_int_equal(code, LEAT_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "changed while it was copied"));
    expect_names(NULL);
}

/* ---- several at once ----------------------------------------------------------------------------
 */

enum { STAGERS = 8 };
static leat_can_stage_result results[STAGERS];
static leat_error errors[STAGERS];
static void *stage_thread(void *argument) {
    leat_can_stage_options options = {.threads = 1};
    int i = (int)(intptr_t)argument;
    if (leat_can_cache_stage(source, place, &options, &results[i], &errors[i]) != LEAT_OK)
        return argument;
    return NULL;
}

static void at_once(void **state) {
    for (int round = 0; round < 3; round++) {
        pthread_t threads[STAGERS];
        int made = 0;
        (void)next_place(state);
        for (int i = 0; i < STAGERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, stage_thread, (void *)(intptr_t)i),
                             0);
        for (int i = 0; i < STAGERS; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < STAGERS; i++) {
            if (errors[i].code != LEAT_OK) fail_msg("%s", errors[i].message);
            made += !results[i].reused;
        }
        assert_int_equal(made, 1);
        expect_same_files(results[0].path);
        expect_names("cache");
    }
}

static int setup(void **state) {
    (void)state;
    make_cache options = make_cache_default();
    graphs_make("cache", &options, source);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(copies, next_place),
        cmocka_unit_test(any_threads),
        cmocka_unit_test_setup(itself, next_place),
        cmocka_unit_test_setup(named, next_place),
        cmocka_unit_test_setup(torn_copies, next_place),
        cmocka_unit_test_setup(others, next_place),
        cmocka_unit_test_setup(leftovers, next_place),
        cmocka_unit_test_setup(third_party, next_place),
        cmocka_unit_test_setup(damaged, next_place),
        cmocka_unit_test_setup(deep, next_place),
        cmocka_unit_test_setup(stopped, next_place),
        cmocka_unit_test_setup(changed, next_place),
        cmocka_unit_test(at_once),
    };
    return cmocka_run_group_tests_name("staging", tests, setup, loader_teardown);
}
