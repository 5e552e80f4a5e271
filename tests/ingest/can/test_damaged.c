/*
 * A cache whose files were removed, cut or changed: the ingest that finds it says which file, and
 * the command that the message names makes the same cache again. And a second ingest while the
 * first one runs.
 */
/* TSan: pages checked by several threads. */
#include "can_logs.h"
#include "core_support.h"
#include "ingest_support.h"

static can_digest want;

static leat_code run(bool verify, bool replace, leat_can_ingest_result *result, leat_error *err) {
    leat_can_ingest_options options = can_logs_options();
    options.verify = verify;
    options.replace = replace;
    options.threads = verify ? 3 : 1;
    return can_logs_ingest(core_path("logs"), core_path("out"), &options, result, err);
}

/* ---- files of a cache ------------------------------------------------------------------------ */

typedef enum damage { REMOVED, CUT, EMPTIED, GROWN, FLIPPED, DAMAGES } damage;
static const char *const damage_names[] = {"removed", "cut", "emptied", "grown", "flipped"};

/* Who notices: anyone who finds the cache; --verify; --verify, or anyone where the labels cannot be
 * counted; the run itself, which writes the file again; nobody (no hash covers the texts in
 * rejected.csv). */
typedef enum noticed { FOUND, VERIFIED, COUNTED, HEALED, NEVER } noticed;
static const struct {
    const char *name;
    noticed by[DAMAGES];
} files[] = {
    {".complete", {FOUND, FOUND, FOUND, FOUND, FOUND}},
    {"cache_metadata.json", {FOUND, FOUND, FOUND, FOUND, FOUND}},
    {"inputs.json", {HEALED, HEALED, HEALED, HEALED, HEALED}},
    {"rejected.csv", {FOUND, VERIFIED, VERIFIED, NEVER, NEVER}},
    {"scaler.json", {FOUND, FOUND, FOUND, FOUND, FOUND}},
    {"test_x.pages", {FOUND, FOUND, FOUND, FOUND, VERIFIED}},
    {"test_x.safetensors", {FOUND, FOUND, FOUND, FOUND, COUNTED}},
    {"train.pages", {FOUND, FOUND, FOUND, FOUND, VERIFIED}},
    {"train.safetensors", {FOUND, FOUND, FOUND, FOUND, COUNTED}},
    {"val.pages", {FOUND, FOUND, FOUND, FOUND, VERIFIED}},
    {"val.safetensors", {FOUND, FOUND, FOUND, FOUND, COUNTED}},
    {"vocab.json", {FOUND, FOUND, FOUND, FOUND, FOUND}},
};
enum { FILES = sizeof files / sizeof *files };

static void spoil(const char *path, damage how, int64_t at) {
    core_image image = core_load(path);
    uint8_t *bytes = malloc((size_t)image.size_bytes + 1);
    assert_non_null(bytes);
    memcpy(bytes, image.data, (size_t)image.size_bytes);
    bytes[image.size_bytes] = ' ';
    bytes[at] ^= how == FLIPPED ? 1 : 0;
    if (how == REMOVED) assert_ok(leat_path_remove(path, err));
    else
        core_save(path, bytes,
                  how == EMPTIED ? 0
                  : how == CUT   ? image.size_bytes / 2
                                 : image.size_bytes + (how == GROWN));
    free(bytes);
    free(image.data);
}

/* The message names the file and --replace, and is true: with it the same cache is there again. */
static void check(const char *cache, int file, damage how, int64_t at) {
    noticed by = files[file].by[how];
    char what[128];
    snprintf(what, sizeof what, "%s, %s at %lld", files[file].name, damage_names[how],
             (long long)at);
    for (int verify = 0; verify < 2; verify++) {
        leat_can_ingest_result result;
        leat_error err = {0};
        leat_code code = run(verify == 1, false, &result, &err);
        bool fails = by == FOUND || ((by == VERIFIED || by == COUNTED) && verify == 1);
        if (by == COUNTED && verify == 0) fails = code != LEAT_OK;
        if ((code != LEAT_OK) != fails) fail_msg("%s: %d: %s", what, code, err.message);
        if (!fails && !result.found) fail_msg("%s: the cache is not found", what);
        if (by == HEALED && verify == 0 && how < GROWN &&
            strstr(result.warning, "inputs.json") == NULL)
            fail_msg("%s: not said", what);
        if (fails && (strstr(err.message, files[file].name) == NULL ||
                      strstr(err.message, "--replace") == NULL))
            fail_msg("%s: %s", what, err.message);
    }
    leat_can_ingest_result result;
    if (by != HEALED) assert_ok(run(false, true, &result, err));
    if (strcmp(can_cache_digest(core_path("out")).text, want.text) != 0)
        fail_msg("%s: not the same cache again", what);
    assert_ok(run(true, false, &result, err));
    assert_true(result.found);
    assert_string_equal(result.cache, cache);
    assert_null(strstr(result.warning, "inputs.json"));
}

static void damaged(void **state) {
    (void)state;
    leat_can_ingest_result result;
    leat_path_list names = {0};
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_ok(run(false, false, &result, err));
    want = can_cache_digest(core_path("out"));
    assert_ok(leat_path_list_dir(result.cache, &names, err));
    assert_int_equal(names.count, FILES);
    for (int file = 0; file < FILES; file++) {
        char path[LEAT_PATH_BYTES + 32];
        assert_string_equal(names.paths[file], files[file].name);
        snprintf(path, sizeof path, "%s/%s", result.cache, files[file].name);
        core_image image = core_load(path);
        bool texts = files[file].by[FLIPPED] == NEVER; /* its lines are counted, though */
        int64_t size = texts ? 1 : image.size_bytes, step = size / 7 + 1;
        free(image.data);
        for (int how = 0; how < FLIPPED; how++) {
            spoil(path, (damage)how, 0);
            check(result.cache, file, (damage)how, 0);
        }
        for (int64_t at = 0; at < size;
             at = at < size - 1 && at + step >= size ? size - 1 : at + step) {
            spoil(path, FLIPPED, at);
            check(result.cache, file, FLIPPED, at);
        }
    }
    leat_path_list_free(&names);
}

/* Files that are not a cache's stay where they are, and the whole of a cache can be lost. */
static void all_lost(void **state) {
    (void)state;
    leat_can_ingest_result result;
    char path[LEAT_PATH_BYTES + 32];
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_ok(run(false, false, &result, err));
    char cache[LEAT_PATH_BYTES];
    snprintf(cache, sizeof cache, "%s", result.cache);
    for (int file = 0; file < FILES; file++) {
        snprintf(path, sizeof path, "%s/%s", cache, files[file].name);
        assert_ok(leat_path_remove(path, err));
    }
    snprintf(path, sizeof path, "%s/notes.txt", cache);
    core_save(path, "mine", 4);
    assert_fails(run(false, false, &result, err), LEAT_ERR_EXISTS, "--replace");
    assert_ok(run(false, true, &result, err));
    assert_string_equal(result.cache, cache);
    core_image notes = core_load(path);
    assert_int_equal(notes.size_bytes, 4);
    free(notes.data);
}

/* ---- two at once ----------------------------------------------------------------------------- */

typedef struct second {
    const char *begin; /* the stage of the first run at which the second begins */
    int runs, stages;  /* of the second: how often, and the stages that it began */
    leat_error err;
} second;

static bool count_stages(void *user, const leat_progress *progress) {
    (void)progress;
    ((second *)user)->stages++;
    return true;
}

/* With each of the options; none of them waits, or takes the work away. */
static bool begin_second(void *user, const leat_progress *progress) {
    second *self = user;
    leat_can_ingest_result result;
    if (self->runs > 0 || strcmp(progress->stage, self->begin) != 0) return true;
    for (; self->runs < 4; self->runs++) {
        leat_can_ingest_options options = can_logs_options();
        options.progress = count_stages;
        options.progress_user = self;
        options.resume = self->runs == 1;
        options.replace = self->runs == 2;
        options.verify = self->runs == 3;
        leat_code code =
            can_logs_ingest(core_path("logs"), core_path("out"), &options, &result, &self->err);
        assert_int_equal(code, LEAT_ERR_BUSY);
    }
    return true;
}

static void two_at_once(void **state) {
    (void)state;
    static const char *const stages[] = {"reading", "planning", "publishing"};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        second other = {.begin = stages[i]};
        leat_can_ingest_options options = can_logs_options();
        leat_can_ingest_result result;
        options.progress = begin_second;
        options.progress_user = &other;
        assert_ok(leat_path_remove_tree(core_path("out"), err));
        assert_ok(can_logs_ingest(core_path("logs"), core_path("out"), &options, &result, err));
        assert_int_equal(other.runs, 4);
        assert_int_equal(other.stages, 0); /* at once: no log was hashed */
        assert_non_null(strstr(other.err.message, "another ingest"));
        assert_non_null(strstr(other.err.message, core_path("out")));
        assert_string_equal(can_cache_digest(core_path("out")).text, want.text);
        assert_int_equal(dir_count(core_path("out")), 1);
    }
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(64) << 20);
    can_logs_write(core_path("logs"), false);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    core_dir_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged),
        cmocka_unit_test(all_lost),
        cmocka_unit_test(two_at_once),
    };
    return cmocka_run_group_tests_name("damaged caches", tests, setup, teardown);
}
