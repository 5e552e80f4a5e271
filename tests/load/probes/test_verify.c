/*
 * Verification: says nothing against data sets that are right, names every seeded bug, every
 * damaged file and every flipped bit, and says the same for any number of threads.
 */
/* TSan: a data set verified by several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/lock.h"
#include "golden_files.h"
#include "leat/load.h"
#include "make_dataset.h"
#include "plant.h"

#ifndef LEAT_SOURCE_DIR
#define LEAT_SOURCE_DIR "."
#endif

static char root[] = "/tmp/leat-verify-XXXXXX";
static int made_folders;

static int make_root(void **state) {
    (void)state;
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state) {
    (void)state;
    return leat_path_remove_tree(root, NULL) != LEAT_OK;
}

/* A new folder's name. */
static const char *new_dir(char path[256]) {
    snprintf(path, 256, "%s/%d", root, made_folders++);
    return path;
}

static leat_verify_report *verify_with(const char *dir, int threads, bool quick) {
    leat_verify_options options = leat_verify_options_default();
    leat_verify_report *report = NULL;
    leat_error err = {0};
    options.threads = threads;
    options.quick = quick;
    if (leat_verify(&dir, 1, &options, &report, &err) != LEAT_OK) fail_msg("%s", err.message);
    return report;
}

static void print_report(const leat_verify_report *report) {
    for (int64_t i = 0; i < report->finding_count; i++)
        print_message("  %s %s, record %lld: %s\n", report->findings[i].note ? "note" : "problem",
                      report->findings[i].file, (long long)report->findings[i].record,
                      report->findings[i].reason);
}

static bool has_finding(const leat_verify_report *report, bool note, const char *words) {
    for (int64_t i = 0; i < report->finding_count; i++)
        if (report->findings[i].note == note && strstr(report->findings[i].reason, words) != NULL)
            return true;
    return false;
}

static void expect_problem(const leat_verify_report *report, const char *words) {
    if (has_finding(report, false, words)) return;
    print_report(report);
    fail_msg("no problem says \"%s\"", words);
}

static void expect_same(const leat_verify_report *a, const leat_verify_report *b) {
    assert_int_equal(a->problem_count, b->problem_count);
    assert_int_equal(a->note_count, b->note_count);
    assert_int_equal(a->finding_count, b->finding_count);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->measurements, b->measurements);
    assert_int_equal(a->file_bytes, b->file_bytes);
    for (int64_t i = 0; i < a->finding_count; i++)
        assert_memory_equal(&a->findings[i], &b->findings[i], sizeof a->findings[i]);
}

/* ---- Right data sets ---------------------------------------------------------------------- */

static void test_right(void **state) {
    (void)state;
    int64_t measurements = 0;
    for (int probe = 0; probe < PLANT_PROBES; probe++) measurements += plant_count(probe);
    for (int variant = 0; variant < 16; variant++) {
        char dir[256];
        plant_options options = plant_options_default();
        options.ordered = variant & 1;
        options.dictionary_src = variant & 2;
        options.max_row_bytes = variant & 4 ? 1 << 23 : options.max_row_bytes;
        leat_error err = {0};
        if (variant & 8)
            assert_int_equal(leat_ar_options_parse("zstd", &options.record, &err), LEAT_OK);
        plant(new_dir(dir), &options);
        leat_verify_report *report = verify_with(dir, 2, false);
        if (report->problem_count != 0) print_report(report);
        assert_int_equal(report->problem_count, 0);
        assert_int_equal(report->note_count, 1); /* there is no run.json */
        assert_true(report->ours);
        assert_int_equal(report->measurements, measurements);
        assert_true(variant & 4 ? report->rows == PLANT_PROBES : report->rows > PLANT_PROBES);
        leat_verify_report_destroy(report);
    }
}

/* ---- Seeded bugs -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *hash, *ordered; /* what is said for each split rule; NULL: cannot be seen */
} bugs[PLANT_BUG_COUNT] = {
#define SAYS(bug, words) [bug] = {#bug, words, words}
    SAYS(PLANT_SRC_ID, "src_id"),
    SAYS(PLANT_VALUES_SWAPPED, "measurement 3 is out of order"),
    SAYS(PLANT_TIES_SWAPPED, "measurement 1 is out of order"),
    SAYS(PLANT_RTT_SWAPPED, "measurement 2 is out of order"),
    SAYS(PLANT_PROBES_SWAPPED, "its src_id is smaller than that of the previous row"),
    SAYS(PLANT_ROWS_SWAPPED, "earlier than the last one of the previous row"),
    SAYS(PLANT_CUT_EARLY, "was cut too early"),
    SAYS(PLANT_CUT_LATE, "more than the row limit"),
    [PLANT_OTHER_SPLIT] = {"PLANT_OTHER_SPLIT", "other split by the hash rule",
                           "but its train_ratio implies"},
    SAYS(PLANT_BOTH_SPLITS, "is also in the train split"),
    SAYS(PLANT_OTHER_SHARD, "belongs to shard 0 of the split"),
    SAYS(PLANT_TWO_SOURCES, "source"),
    SAYS(PLANT_EXTRA_RECORD, "records, but the index says"),
    SAYS(PLANT_INDEX_TIME, "the index says"),
    SAYS(PLANT_INDEX_COUNT, "n_measurements is"),
    SAYS(PLANT_INDEX_VERSION, "ip_version is"),
    SAYS(PLANT_INDEX_SRC, "src_id is"),
    SAYS(PLANT_INDEX_SIZE, "size is"),
    SAYS(PLANT_SHARD_COUNT, "its options imply"),
    SAYS(PLANT_PAGE_HASH, "pages differ from their hash in the index"),
    SAYS(PLANT_RECORDS_HASH, "SHA-256 of its records"),
    SAYS(PLANT_FRAME, "not as this version of leat writes it"),
    [PLANT_RATIO] = {"PLANT_RATIO", "other split by the hash rule", "but its train_ratio implies"},
    [PLANT_SEED] = {"PLANT_SEED", "other split by the hash rule", NULL},
    SAYS(PLANT_ROW_LIMIT, "was cut too early"),
    SAYS(PLANT_NO_OPTIONS, "do not state how it was created"),
#undef SAYS
};

static void test_bugs(void **state) {
    (void)state;
    for (int bug = 1; bug < PLANT_BUG_COUNT; bug++) {
        for (int ordered = 0; ordered < 2; ordered++) {
            char dir[256];
            const char *words = ordered ? bugs[bug].ordered : bugs[bug].hash;
            assert_non_null(bugs[bug].name);
            if (words == NULL) continue;
            plant_options options = plant_options_default();
            options.bug = (plant_bug)bug;
            options.ordered = ordered;
            plant(new_dir(dir), &options);
            leat_verify_report *report = verify_with(dir, 1, false);
            if (!has_finding(report, false, words)) print_message("%s:\n", bugs[bug].name);
            expect_problem(report, words);
            static const int threads[] = {2, 3, 8};
            for (int i = 0; i < 3; i++) {
                leat_verify_report *other = verify_with(dir, threads[i], false);
                expect_same(report, other);
                leat_verify_report_destroy(other);
            }
            leat_verify_report_destroy(report);
        }
    }
}

/* ---- Damaged folders ---------------------------------------------------------------------- */

static void join(char path[512], const char *dir, const char *name) {
    snprintf(path, 512, "%s/%s", dir, name);
}

static uint8_t *load(const char *path, int64_t *size_bytes) {
    uint8_t *bytes = NULL;
    leat_error err = {0};
    if (leat_file_load(path, 1 << 28, &bytes, size_bytes, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    return bytes;
}

static void save(const char *path, const void *bytes, int64_t size_bytes) {
    assert_int_equal(leat_file_save(path, bytes, size_bytes, NULL), LEAT_OK);
}

#define FIRST "train/train_shard_00000.arrayrecord"
#define SECOND "train/train_shard_00001.arrayrecord"

typedef void (*damage_fn)(const char *dir);

static void swap_shards(const char *dir) {
    char a[512], b[512], c[512];
    join(a, dir, FIRST);
    join(b, dir, SECOND);
    join(c, dir, "between");
    assert_int_equal(rename(a, c), 0);
    assert_int_equal(rename(b, a), 0);
    assert_int_equal(rename(c, b), 0);
}

static void remove_shard(const char *dir) {
    char path[512];
    join(path, dir, SECOND);
    assert_int_equal(unlink(path), 0);
}

static void change_size(const char *dir, const char *name, int64_t change) {
    char path[512];
    int64_t size = 0;
    join(path, dir, name);
    uint8_t *bytes = load(path, &size);
    uint8_t *more = calloc(1, (size_t)size + 64);
    assert_non_null(more);
    memcpy(more, bytes, (size_t)size);
    save(path, more, size + change);
    free(more);
    leat_free(bytes);
}
static void cut_shard(const char *dir) { change_size(dir, FIRST, -1); }
static void lengthen_shard(const char *dir) { change_size(dir, FIRST, 1); }
static void empty_line_in_manifest(const char *dir) {
    char path[512];
    int64_t size = 0;
    join(path, dir, LEAT_MANIFEST_NAME);
    uint8_t *bytes = load(path, &size);
    bytes[size] = '\n'; /* over the NUL that leat_file_load adds */
    save(path, bytes, size + 1);
    leat_free(bytes);
}

static void replace_in_manifest(const char *dir, const char *from, const char *to) {
    char path[512];
    int64_t size = 0;
    join(path, dir, LEAT_MANIFEST_NAME);
    char *text = (char *)load(path, &size);
    char *at = strstr(text, from);
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    save(path, text, size);
    leat_free(text);
}
static void other_seed(const char *dir) { replace_in_manifest(dir, "\"seed\": 7", "\"seed\": 3"); }
static void other_version(const char *dir) {
    replace_in_manifest(dir, "\"version\": 1", "\"version\": 2");
}
static void no_manifest_json(const char *dir) { replace_in_manifest(dir, "{", "["); }
static void remove_index(const char *dir) {
    char path[512];
    join(path, dir, LEAT_INDEX_NAME);
    assert_int_equal(unlink(path), 0);
}
static void cut_index(const char *dir) { change_size(dir, LEAT_INDEX_NAME, -8); }
static void copy_shard(const char *dir) {
    char from[512], to[512];
    int64_t size = 0;
    join(from, dir, FIRST);
    join(to, dir, "train/copy.arrayrecord");
    uint8_t *bytes = load(from, &size);
    save(to, bytes, size);
    leat_free(bytes);
}
static void break_run(const char *dir) {
    char path[512];
    join(path, dir, LEAT_RUN_NAME);
    save(path, "{\"seconds\": 1", 13);
}

/* An option that no byte of the data shows, edited after run.json had stated the manifest's hash.
 */
static void edit_option(const char *dir) {
    char path[512], text[128], hex[65];
    uint8_t digest[32];
    join(path, dir, LEAT_MANIFEST_NAME);
    assert_int_equal(leat_file_sha256(path, digest, NULL), LEAT_OK);
    leat_sha256_hex(digest, hex);
    snprintf(text, sizeof text, "{\"manifest_sha256\": \"%s\"}", hex);
    join(path, dir, LEAT_RUN_NAME);
    save(path, text, (int64_t)strlen(text));
    leat_verify_report *report = verify_with(dir, 2, false);
    assert_int_equal(report->problem_count, 0);
    assert_int_equal(report->note_count, 0);
    leat_verify_report_destroy(report);
    int64_t size = 0;
    join(path, dir, LEAT_MANIFEST_NAME);
    char *manifest = (char *)load(path, &size);
    char *at = strstr(manifest, "\"per_packet\": false");
    assert_non_null(at);
    memcpy(at + 14, "true", 4);
    memmove(at + 18, at + 19, (size_t)(manifest + size - at - 19));
    save(path, manifest, size - 1);
    leat_free(manifest);
}
static void no_hash_in_run(const char *dir) {
    char path[512];
    static const char text[] = "{\"manifest_sha256\": \"12\"}";
    join(path, dir, LEAT_RUN_NAME);
    save(path, text, (int64_t)sizeof text - 1);
}

static const struct {
    const char *name;
    damage_fn damage;
    const char *says;
    bool quick; /* seen without reading too */
} damages[] = {
    {"shards exchanged", swap_shards, "SHA-256", false},
    {"shard missing", remove_shard, "", true},
    {"shard cut", cut_shard, "the manifest says", true},
    {"shard longer", lengthen_shard, "the manifest says", true},
    {"line added to the manifest", empty_line_in_manifest, "edited", true},
    {"seed edited", other_seed, "other split by the hash rule", false},
    {"version edited", other_version, "version", true},
    {"manifest no object", no_manifest_json, "", true},
    {"index missing", remove_index, "", true},
    {"index cut", cut_index, "", true},
    {"shard that nobody knows", copy_shard, "is not a shard of this data set", true},
    {"run.json broken", break_run, "", true},
    {"hash in run.json broken", no_hash_in_run, "is not a SHA-256", true},
    {"option edited", edit_option, "differs from the one in run.json", true},
};

static void test_damages(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char dir[256];
        plant_options options = plant_options_default();
        plant(new_dir(dir), &options);
        damages[i].damage(dir);
        leat_verify_report *report = verify_with(dir, 2, false);
        if (report->problem_count == 0) fail_msg("%s: not seen", damages[i].name);
        expect_problem(report, damages[i].says);
        leat_verify_report_destroy(report);
        report = verify_with(dir, 2, true);
        if (damages[i].quick != (report->problem_count > 0)) {
            print_report(report);
            fail_msg("%s: without reading %s", damages[i].name,
                     damages[i].quick ? "not seen" : "seen");
        }
        leat_verify_report_destroy(report);
    }
}

static void test_leftovers(void **state) {
    (void)state;
    char dir[256], path[512];
    plant_options options = plant_options_default();
    plant(new_dir(dir), &options);
    join(path, dir, "notes.txt");
    save(path, "mine", 4);
    join(path, dir, "train/x.tmp");
    save(path, "", 0);
    leat_verify_report *report = verify_with(dir, 1, false);
    assert_int_equal(report->problem_count, 0);
    assert_true(has_finding(report, true, "does not belong to the data set"));
    assert_true(has_finding(report, true, "left over from an interrupted ingest"));
    leat_verify_report_destroy(report);

    /* Work is left over only if nobody is at it. */
    leat_lock lock;
    assert_int_equal(unlink(path), 0);
    join(path, dir, ".leat");
    assert_int_equal(leat_path_make_dir(path, NULL), LEAT_OK);
    join(path, dir, ".leat/leat-work.json");
    save(path, "{}", 2);
    join(path, dir, ".leat.lock");
    assert_int_equal(leat_lock_try(&lock, path, NULL), LEAT_OK);
    report = verify_with(dir, 1, true);
    assert_int_equal(report->problem_count, 0);
    assert_true(has_finding(report, true, "an ingest is running here"));
    assert_false(has_finding(report, true, "left over from an interrupted ingest"));
    leat_verify_report_destroy(report);
    leat_lock_release(&lock);
    report = verify_with(dir, 1, true);
    assert_true(has_finding(report, true, "left over from an interrupted ingest"));
    leat_verify_report_destroy(report);

    /* A folder in which an ingest was killed. */
    new_dir(dir);
    join(path, dir, ".leat");
    assert_int_equal(leat_path_make_dir(path, NULL), LEAT_OK);
    join(path, dir, ".leat/leat-work.json");
    save(path, "{}", 2);
    report = verify_with(dir, 1, true);
    expect_problem(report, "before its scan was done");
    leat_verify_report_destroy(report);
    join(path, dir, ".leat/state.json");
    save(path, "{}", 2);
    report = verify_with(dir, 1, true);
    expect_problem(report, "after its scan");
    leat_verify_report_destroy(report);
}

/* ---- Flipped bits ------------------------------------------------------------------------- */

/* Flips some `wanted` bits of one file, evenly spread; bytes [skip, skip_end) are left out. */
static int flip_bits(const char *dir, const char *name, int64_t wanted, int64_t skip,
                     int64_t skip_end) {
    char path[512];
    int64_t size = 0;
    int flips = 0;
    join(path, dir, name);
    uint8_t *bytes = load(path, &size);
    int64_t step = 8 * size / wanted | 1; /* odd: all bits of a byte get their turn */
    for (int64_t bit = 0; bit < 8 * size; bit += step) {
        if (bit / 8 >= skip && bit / 8 < skip_end) continue;
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        leat_file *file = NULL;
        assert_int_equal(leat_file_open(&file, path, LEAT_FILE_UPDATE, NULL), LEAT_OK);
        assert_int_equal(leat_file_pwrite(file, bytes + bit / 8, 1, bit / 8, NULL), LEAT_OK);
        leat_verify_report *report = verify_with(dir, 1, false);
        if (report->problem_count == 0)
            fail_msg("%s: bit %lld flipped: not seen", name, (long long)bit);
        leat_verify_report_destroy(report);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(leat_file_pwrite(file, bytes + bit / 8, 1, bit / 8, NULL), LEAT_OK);
        leat_file_close(file);
        flips++;
    }
    leat_free(bytes);
    return flips;
}

static void test_flips(void **state) {
    (void)state;
    static const char *const compressions[] = {"none", "zstd"};
    for (int i = 0; i < 2; i++) {
        char dir[256], path[512];
        plant_options options = plant_options_default();
        leat_error err = {0};
        assert_int_equal(leat_ar_options_parse(compressions[i], &options.record, &err), LEAT_OK);
        plant(new_dir(dir), &options);
        join(path, dir, LEAT_MANIFEST_NAME);
        int64_t size = 0;
        char *text = (char *)load(path, &size);
        /* Options that differ in a digit may describe the same rows: not damage that can be seen,
         * but by the rules, which have their own tests above. */
        int64_t skip = strstr(text, "\"options\"") - text, skip_end = strstr(text, "}") - text;
        leat_free(text);
        int flips = flip_bits(dir, LEAT_MANIFEST_NAME, 150, skip, skip_end);
        flips += flip_bits(dir, LEAT_INDEX_NAME, 150, 0, 0);
        flips += flip_bits(dir, FIRST, 300, 0, 0);
        leat_verify_report *report = verify_with(dir, 1, false);
        assert_int_equal(report->problem_count, 0); /* all bits are back */
        leat_verify_report_destroy(report);
        print_message("%s: %d flipped bits, each seen\n", compressions[i], flips);
    }
}

/* ---- Others ------------------------------------------------------------------------------- */

static void test_golden(void **state) {
    (void)state;
    const char *both[] = {golden_path("golden/latency/rows/train.arrayrecord"),
                          golden_path("golden/latency/rows/test.arrayrecord")};
    leat_verify_report *report = NULL;
    leat_error err = {0};
    assert_int_equal(leat_verify(both, 2, NULL, &report, &err), LEAT_OK);
    if (report->problem_count > 0) print_report(report);
    assert_int_equal(report->problem_count, 0);
    assert_int_equal(report->note_count, 0); /* the baseline's src_id is the MD5 too */
    assert_false(report->ours);
    assert_int_equal(report->rows, 87);
    assert_int_equal(report->measurements, 26830);
    leat_verify_report_destroy(report);
}

/* Others' files: a copied shard of ours, numbered otherwise; and one probe in both splits. */
static void test_others(void **state) {
    (void)state;
    char dir[256];
    plant_options options = plant_options_default();
    options.bug = PLANT_BOTH_SPLITS;
    plant(new_dir(dir), &options);
    assert_int_equal(make_files_of_others(dir, NULL), LEAT_OK);
    leat_verify_report *report = verify_with(dir, 2, false);
    assert_false(report->ours);
    assert_int_equal(report->problem_count, 1);
    expect_problem(report, "is also in the train split");
    leat_verify_report_destroy(report);

    /* Given twice, each probe is twice on its side: that is told once. */
    const char *twice[] = {dir, dir};
    leat_error err = {0};
    assert_int_equal(leat_verify(twice, 2, NULL, &report, &err), LEAT_OK);
    assert_int_equal(report->problem_count, 1);
    leat_verify_report_destroy(report);

    options.bug = PLANT_SRC_ID;
    plant(new_dir(dir), &options);
    assert_int_equal(make_files_of_others(dir, NULL), LEAT_OK);
    report = verify_with(dir, 2, false);
    assert_int_equal(report->problem_count, 0);
    assert_true(has_finding(report, true, "is not the MD5 of the source"));
    leat_verify_report_destroy(report);
}

/* Part of a data set of leat: what is missing cannot be said, but that it is a part can. */
static void test_manifest_lost(void **state) {
    (void)state;
    char dir[256], path[512];
    plant_options options = plant_options_default();
    plant(new_dir(dir), &options);
    join(path, dir, LEAT_MANIFEST_NAME);
    assert_int_equal(unlink(path), 0);
    leat_verify_report *report = verify_with(dir, 1, false);
    assert_int_equal(report->problem_count, 1);
    expect_problem(report, "is missing, though there is an index.bin of leat");
    leat_verify_report_destroy(report);
}

static void test_refusals(void **state) {
    (void)state;
    char dir[256];
    leat_verify_report *report = NULL;
    leat_error err = {0};
    plant_options planted = plant_options_default();
    plant(new_dir(dir), &planted);
    const char *paths[] = {dir, "/nowhere"};
    assert_int_equal(leat_verify(paths + 1, 1, NULL, &report, &err), LEAT_ERR_NOT_FOUND);
    assert_null(report);
    assert_int_equal(leat_verify(paths, 2, NULL, &report, &err), LEAT_ERR_OPTION);
    leat_verify_options options = leat_verify_options_default();
    options.threads = 0;
    assert_int_equal(leat_verify(paths, 1, &options, &report, &err), LEAT_ERR_OPTION);
    options.threads = 2;
    options.progress = plant_stop_at_once;
    assert_int_equal(leat_verify(paths, 1, &options, &report, &err), LEAT_ERR_CANCELLED);
    assert_null(report);
    options.progress = NULL;
    options.finding_max = 2;
    swap_shards(dir);
    assert_int_equal(leat_verify(paths, 1, &options, &report, &err), LEAT_OK);
    assert_int_equal(report->finding_count, 2); /* kept; all are counted */
    assert_true(report->problem_count > 2);
    leat_verify_report_destroy(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),    cmocka_unit_test(test_bugs),
        cmocka_unit_test(test_damages),  cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_flips),    cmocka_unit_test(test_golden),
        cmocka_unit_test(test_others),   cmocka_unit_test(test_manifest_lost),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
