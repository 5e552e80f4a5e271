/*
 * Data sets opened for reading: ours (mapped, compressed) and files of others give the same rows;
 * damage is refused where it lies and nowhere else; files cut while they are open; threads.
 */
/* TSan: several threads read one data set. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/address.h"
#include "base/rng.h"
#include "leat/load.h"
#include "make_dataset.h"
#include "threads.h"

static char top[] = "/tmp/leat_dataset_XXXXXX";
enum { ROWS = 16, SHARDS = 4, BIG = 5 };

static void must(leat_code code, const leat_error *err) {
    if (code != LEAT_OK) fail_msg("code %d: %s", code, err->message);
}

static void make(const char *name, const make_options *options, char dir[256]) {
    leat_error err = {0};
    snprintf(dir, 256, "%s/%s", top, name);
    must(leat_path_make_dir(dir, &err), &err);
    must(make_dataset(dir, options, &err), &err);
}

static leat_dataset *open_at(const char *path) {
    leat_error err = {0};
    leat_dataset *dataset = NULL;
    must(leat_dataset_open(&dataset, &path, 1, NULL, &err), &err);
    return dataset;
}

/* 0 if the measurement is the one that was written. */
static int differs(const leat_measurement *got, int64_t row, int64_t i) {
    char src[LEAT_PROBE_SRC_BYTES];
    made expected = make_measurement(row, i);
    make_source(row, src);
    return got->time_us != expected.time_us || got->ip_version != expected.ip_version ||
           got->rtt != expected.rtt || got->src_size != (int)strlen(src) ||
           memcmp(got->src, src, strlen(src)) != 0 || got->dst_size != (int)strlen(expected.dst) ||
           memcmp(got->dst, expected.dst, strlen(expected.dst)) != 0;
}

static void check_facts(const leat_row_facts *facts, int64_t row, int rows_per_shard) {
    char src[LEAT_PROBE_SRC_BYTES];
    make_source(row, src);
    int64_t n = make_count(row);
    assert_int_equal(facts->src_id, leat_address_src_id(src, (int64_t)strlen(src)));
    assert_int_equal(facts->n_measurements, n);
    assert_int_equal(facts->first_us, make_measurement(row, 0).time_us);
    assert_int_equal(facts->last_us, make_measurement(row, n - 1).time_us);
    assert_int_equal(facts->ip_version, row % 2 == 0 ? 4 : 6);
    assert_int_equal(facts->shard, row / rows_per_shard);
    assert_int_equal(facts->record_index, row % rows_per_shard);
}

/* One row: facts, measurements one by one, decoded whole, its bytes. */
static void check_row(const make_options *options, leat_dataset *dataset, leat_row *cursor,
                      int64_t row) {
    leat_error err = {0};
    leat_row_facts facts;
    leat_measurement got;
    must(leat_dataset_row(dataset, row, &facts, &err), &err);
    check_facts(&facts, row, options->rows_per_shard);
    must(leat_dataset_row_open(dataset, row, cursor, &err), &err);
    check_facts(leat_row_get_facts(cursor), row, options->rows_per_shard);
    for (int64_t i = 0; i < facts.n_measurements; i += i < 300 ? 1 : 97) {
        must(leat_row_measurement(cursor, i, &got, &err), &err);
        if (differs(&got, row, i)) fail_msg("row %d measurement %d", (int)row, (int)i);
    }
    assert_int_equal(leat_row_measurement(cursor, -1, &got, NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_row_measurement(cursor, facts.n_measurements, &got, NULL),
                     LEAT_ERR_OPTION);
    leat_measurements all = {0};
    must(leat_dataset_row_decode(cursor, &all, &err), &err);
    assert_int_equal(all.count, facts.n_measurements);
    for (int64_t i = 0; i < all.count; i++) {
        leat_measurements_get(&all, i, &got);
        if (differs(&got, row, i)) fail_msg("row %d decoded %d", (int)row, (int)i);
    }
    leat_measurements_free(&all);
    uint8_t *expected = NULL;
    const uint8_t *record = NULL;
    int64_t size = 0, expected_size = 0;
    must(make_record(options, row, &expected, &expected_size, &err), &err);
    must(leat_dataset_row_record(cursor, &record, &size, &err), &err);
    assert_int_equal(size, expected_size);
    assert_int_equal(size, facts.record_bytes);
    assert_memory_equal(record, expected, (size_t)size);
    leat_free(expected);
}

static void check_all(const make_options *options, leat_dataset *dataset) {
    leat_row *cursor = NULL;
    assert_int_equal(leat_row_create(&cursor, dataset, NULL), LEAT_OK);
    assert_null(leat_row_get_facts(cursor));
    leat_measurement got;
    assert_int_equal(leat_row_measurement(cursor, 0, &got, NULL), LEAT_ERR_OPTION);
    for (int64_t row = 0; row < ROWS; row++) check_row(options, dataset, cursor, row);
    for (int64_t row = ROWS - 1; row >= 0; row--) check_row(options, dataset, cursor, row);
    leat_row_facts facts;
    assert_int_equal(leat_dataset_row(dataset, -1, &facts, NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_dataset_row(dataset, ROWS, &facts, NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_dataset_row_open(dataset, ROWS, cursor, NULL), LEAT_ERR_OPTION);
    assert_null(leat_row_get_facts(cursor));
    leat_row_destroy(cursor);
}

static void check_totals(leat_dataset *dataset, bool indexed, bool compressed) {
    leat_dataset_facts facts;
    leat_dataset_get_facts(dataset, &facts);
    int64_t measurements = 0;
    for (int64_t row = 0; row < ROWS; row++) measurements += make_count(row);
    assert_int_equal(facts.indexed, indexed);
    assert_int_equal(facts.compressed, compressed);
    assert_int_equal(facts.shard_count, SHARDS);
    assert_int_equal(facts.row_count, ROWS);
    assert_int_equal(facts.measurement_count, indexed ? measurements : -1);
    assert_int_equal(facts.split_shards[LEAT_SPLIT_TRAIN], 3);
    assert_int_equal(facts.split_shards[LEAT_SPLIT_TEST], 1);
    assert_int_equal(facts.split_rows[LEAT_SPLIT_TRAIN], 12);
    assert_int_equal(facts.split_rows[LEAT_SPLIT_TEST], 4);
    assert_int_equal(facts.split_rows[LEAT_SPLIT_NONE], 0);
    int64_t bytes = 0;
    for (int64_t s = 0; s < SHARDS; s++) {
        leat_dataset_shard shard;
        assert_int_equal(leat_dataset_get_shard(dataset, s, &shard, NULL), LEAT_OK);
        assert_int_equal(shard.first_row, 4 * s);
        assert_int_equal(shard.row_count, 4);
        assert_int_equal(shard.split, s < 3 ? LEAT_SPLIT_TRAIN : LEAT_SPLIT_TEST);
        assert_non_null(strstr(shard.name, "_shard_0000"));
        bytes += shard.file_bytes;
    }
    assert_int_equal(facts.file_bytes, bytes);
    leat_dataset_shard shard;
    assert_int_equal(leat_dataset_get_shard(dataset, SHARDS, &shard, NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_dataset_get_shard(dataset, -1, &shard, NULL), LEAT_ERR_OPTION);
}

/* Ours, then the same folder as files of others, for each compression. */
static void kinds(void **state) {
    (void)state;
    static const struct {
        const char *name;
        leat_compression compression;
        bool dictionary;
    } cases[] = {
        {"none", LEAT_COMPRESSION_NONE, false},     {"dictionary", LEAT_COMPRESSION_NONE, true},
        {"zstd", LEAT_COMPRESSION_ZSTD, false},     {"snappy", LEAT_COMPRESSION_SNAPPY, true},
        {"brotli", LEAT_COMPRESSION_BROTLI, false},
    };
    char print[5][65], foreign[5][65];
    for (int c = 0; c < 5; c++) {
        char dir[256];
        make_options options = make_options_default();
        options.record.compression = cases[c].compression;
        if (cases[c].compression == LEAT_COMPRESSION_BROTLI) options.record.level = 1;
        options.dictionary_src = cases[c].dictionary;
        make(cases[c].name, &options, dir);
        leat_dataset *dataset = open_at(dir);
        check_totals(dataset, true, cases[c].compression != LEAT_COMPRESSION_NONE);
        check_all(&options, dataset);
        assert_int_equal(leat_dataset_fingerprint(dataset, print[c], NULL), LEAT_OK);
        leat_dataset_close(dataset);
        assert_int_equal(make_files_of_others(dir, NULL), LEAT_OK);
        dataset = open_at(dir);
        check_totals(dataset, false, false);
        check_all(&options, dataset);
        assert_int_equal(leat_dataset_fingerprint(dataset, foreign[c], NULL), LEAT_OK);
        leat_dataset_close(dataset);
    }
    /* the content's, whatever the compression; of files of others that of the files */
    assert_string_equal(print[0], print[2]);
    assert_string_equal(print[0], print[4]);
    assert_string_equal(print[1], print[3]);
    assert_string_not_equal(print[0], print[1]);
    for (int a = 0; a < 5; a++) {
        assert_int_equal(strlen(foreign[a]), 64);
        for (int b = 0; b < a; b++) assert_string_not_equal(foreign[a], foreign[b]);
    }
}

/* ---- damage -------------------------------------------------------------------------------------
 */

/* What reading a whole data set gives: rows refused (bits), -1 if a wrong value came out. */
static int64_t refused_rows(leat_dataset *dataset, leat_error *last) {
    int64_t refused = 0;
    leat_row *cursor = NULL;
    if (leat_row_create(&cursor, dataset, NULL) != LEAT_OK) return -1;
    for (int64_t row = 0; row < ROWS; row++) {
        leat_measurement got;
        leat_code code = leat_dataset_row_open(dataset, row, cursor, last);
        for (int64_t i = 0; i < make_count(row) && code == LEAT_OK; i += i < 10 ? 1 : 31) {
            code = leat_row_measurement(cursor, i, &got, last);
            if (code == LEAT_OK && differs(&got, row, i)) refused = -1;
            if (code != LEAT_OK && got.time_us != 0) refused = -1;
        }
        const uint8_t *bytes = NULL;
        int64_t size = 0;
        if (code == LEAT_OK) code = leat_dataset_row_record(cursor, &bytes, &size, last);
        if (code != LEAT_OK && refused >= 0) refused |= INT64_C(1) << row;
    }
    leat_row_destroy(cursor);
    return refused;
}

/*
 * A flipped bit anywhere in a mapped shard refuses exactly the rows that have bytes on its page (in
 * compressed shards: in its chunk), and no wrong value comes out.
 */
static void damaged(void **state) {
    (void)state;
    static const leat_compression compressions[] = {LEAT_COMPRESSION_NONE, LEAT_COMPRESSION_ZSTD};
    for (int c = 0; c < 2; c++) {
        char dir[256], path[400];
        leat_row_facts facts;
        leat_dataset_shard shard;
        leat_error err = {0};
        make_options options = make_options_default();
        options.record.compression = compressions[c];
        make(c == 0 ? "damaged_none" : "damaged_zstd", &options, dir);
        leat_dataset *dataset = open_at(dir);
        must(leat_dataset_row(dataset, BIG, &facts, &err), &err);
        must(leat_dataset_get_shard(dataset, facts.shard, &shard, &err), &err);
        snprintf(path, sizeof(path), "%s/%s", dir, shard.name);
        leat_dataset_close(dataset);
        int seen = 0;
        for (int64_t k = 0; k < 60; k++) {
            int64_t at = 64 + (int64_t)leat_random_below(leat_random(3, 0, (uint64_t)k),
                                                         (uint64_t)shard.file_bytes - 64);
            make_flip(path, at, 4);
            leat_error last = {0};
            const char *paths[] = {dir};
            leat_code code = leat_dataset_open(&dataset, paths, 1, NULL, &last);
            assert_int_equal(code, LEAT_OK);
            int64_t refused = refused_rows(dataset, &last);
            assert_true(refused >= 0);
            assert_int_equal(refused & ~INT64_C(0xf0), 0); /* rows of the other shards are fine */
            if (refused != 0) {
                assert_non_null(strstr(last.message, "train_shard_00001"));
                assert_true(last.code == LEAT_ERR_CORRUPT || last.code == LEAT_ERR_UNSUPPORTED ||
                            last.code == LEAT_ERR_LIMIT);
                seen++;
            }
            leat_dataset_close(dataset);
            make_flip(path, at, 4);
        }
        /* the large row fills nearly all of its shard; zstd makes it small beside the padding */
        assert_true(c == 0 ? seen > 50 : seen > 5);
    }
}

/* One page of a large row: what lies on the other pages is still given out. */
static void one_page(void **state) {
    (void)state;
    char dir[256], path[400];
    leat_error err = {0};
    leat_measurement got;
    leat_row *cursor = NULL;
    make_options options = make_options_default();
    make("one_page", &options, dir);
    snprintf(path, sizeof(path), "%s/train/train_shard_00001.arrayrecord", dir);
    make_flip(path, 200000, 4);
    leat_dataset *dataset = open_at(dir);
    must(leat_row_create(&cursor, dataset, &err), &err);
    must(leat_dataset_row_open(dataset, BIG, cursor, &err), &err);
    int good = 0, bad = 0;
    for (int64_t i = 0; i < make_count(BIG); i++) {
        leat_code code = leat_row_measurement(cursor, i, &got, &err);
        if (code == LEAT_OK) {
            if (differs(&got, BIG, i)) fail_msg("measurement %d", (int)i);
            good++;
        } else {
            assert_int_equal(code, LEAT_ERR_CORRUPT);
            assert_non_null(strstr(err.message, "record 1"));
            assert_non_null(strstr(err.message, "page at byte 196608"));
            bad++;
        }
    }
    assert_in_range(bad, 100, 5000);
    assert_in_range(good, 50000, 60000);
    leat_measurements all = {0};
    assert_int_equal(leat_dataset_row_decode(cursor, &all, NULL), LEAT_ERR_CORRUPT);
    leat_measurements_free(&all);
    leat_row_destroy(cursor);
    leat_dataset_close(dataset);
}

/* ---- an index that lies ------------------------------------------------------------------------
 */

static int lie_kind;
static void lie(int64_t row, leat_index_row *indexed) {
    static int64_t before;
    int64_t here = indexed->chunk_offset;
    if (row == 2 && lie_kind == 0) indexed->src_id ^= 1;
    if (row == 2 && lie_kind == 1) indexed->n_measurements++;
    if (row == 2 && lie_kind == 2) indexed->n_measurements--;
    if (row == 2 && lie_kind == 3) indexed->first_us--;
    if (row == 2 && lie_kind == 4) indexed->last_us++;
    if (row == 2 && lie_kind == 5) indexed->record_bytes++;
    if (row == 2 && lie_kind == 6) indexed->chunk_offset = before; /* the chunk of row 1 */
    if (row == 2 && lie_kind == 7) indexed->chunk_offset++;
    if (row == 2 && lie_kind == 8) indexed->chunk_offset = 65536;
    before = here;
}

/* Hashes that are right, facts that are not: the record itself tells. */
static void lies(void **state) {
    (void)state;
    static const leat_compression compressions[] = {LEAT_COMPRESSION_NONE, LEAT_COMPRESSION_ZSTD};
    for (int c = 0; c < 2; c++) {
        for (lie_kind = 0; lie_kind < 9; lie_kind++) {
            char dir[256];
            leat_error err = {0};
            leat_row *cursor = NULL;
            make_options options = make_options_default();
            options.record.compression = compressions[c];
            options.lie = lie;
            make("lies", &options, dir);
            leat_dataset *dataset = open_at(dir);
            must(leat_row_create(&cursor, dataset, &err), &err);
            must(leat_dataset_row_open(dataset, 1, cursor, &err), &err);
            leat_code code = leat_dataset_row_open(dataset, 2, cursor, &err);
            if (code != LEAT_ERR_CORRUPT) fail_msg("lie %d: code %d", lie_kind, code);
            assert_non_null(strstr(err.message, "train_shard_00000"));
            assert_non_null(strstr(err.message, "record 2"));
            assert_null(leat_row_get_facts(cursor));
            must(leat_dataset_row_open(dataset, 3, cursor, &err), &err);
            leat_row_destroy(cursor);
            leat_dataset_close(dataset);
            assert_int_equal(leat_path_remove_tree(dir, NULL), LEAT_OK);
        }
    }
}

/* ---- folders that are not what they seem ---- */

static void copy_file(const char *from, const char *to) {
    uint8_t *bytes = NULL;
    int64_t size = 0;
    assert_int_equal(leat_file_load(from, 1 << 26, &bytes, &size, NULL), LEAT_OK);
    assert_int_equal(leat_file_save(to, bytes, size, NULL), LEAT_OK);
    leat_free(bytes);
}

static leat_code try_open(const char *path, leat_error *err) {
    leat_dataset *dataset = (leat_dataset *)1;
    leat_code code = leat_dataset_open(&dataset, &path, 1, NULL, err);
    if (code != LEAT_OK) assert_null(dataset);
    else leat_dataset_close(dataset);
    return code;
}

static void folders(void **state) {
    (void)state;
    char dir[256], other[256], from[400], to[400];
    leat_error err = {0};
    make_options options = make_options_default(), swapped = options;
    swapped.dictionary_src = true;
    make("folder", &options, dir);
    make("folder_other", &swapped, other);
    /* index of another data set */
    snprintf(from, sizeof(from), "%s/%s", other, LEAT_INDEX_NAME);
    snprintf(to, sizeof(to), "%s/%s", dir, LEAT_INDEX_NAME);
    copy_file(from, to);
    assert_int_equal(try_open(dir, &err), LEAT_ERR_CORRUPT);
    assert_non_null(strstr(err.message, LEAT_INDEX_NAME));
    assert_int_equal(unlink(to), 0);
    assert_int_equal(try_open(dir, &err), LEAT_ERR_NOT_FOUND);
    /* shard of another data set: opening does not look at it, reading does */
    snprintf(from, sizeof(from), "%s/train/train_shard_00000.arrayrecord", dir);
    snprintf(to, sizeof(to), "%s/train/train_shard_00000.arrayrecord", other);
    copy_file(from, to);
    leat_dataset *dataset = open_at(other);
    assert_int_equal(refused_rows(dataset, &err), 0xf);
    leat_dataset_close(dataset);
    assert_int_equal(unlink(to), 0);
    dataset = open_at(other);
    assert_int_equal(refused_rows(dataset, &err), 0xf);
    leat_dataset_close(dataset);
    /* a shard that is longer or shorter than the manifest says */
    snprintf(to, sizeof(to), "%s/train/train_shard_00001.arrayrecord", other);
    leat_path_facts size;
    assert_int_equal(leat_path_stat(to, &size, NULL), LEAT_OK);
    for (int longer = 0; longer < 2; longer++) {
        assert_int_equal(truncate(to, size.size_bytes - 65536 + longer * 131072), 0);
        dataset = open_at(other);
        assert_int_equal(refused_rows(dataset, &err), 0xff);
        assert_int_equal(err.code, LEAT_ERR_CORRUPT);
        assert_non_null(strstr(err.message, "the manifest says"));
        leat_dataset_close(dataset);
    }
    /* more than one data set of ours, unfinished ones, nothing, no ArrayRecord */
    const char *both[] = {other, dir};
    assert_int_equal(leat_dataset_open(&dataset, both, 2, NULL, &err), LEAT_ERR_OPTION);
    assert_int_equal(leat_dataset_open(&dataset, both, 0, NULL, &err), LEAT_ERR_OPTION);
    leat_dataset_options negative = {.cache_bytes = -1};
    assert_int_equal(leat_dataset_open(&dataset, both, 1, &negative, &err), LEAT_ERR_OPTION);
    snprintf(from, sizeof(from), "%s/%s", dir, LEAT_MANIFEST_NAME);
    assert_int_equal(unlink(from), 0);
    assert_int_equal(try_open(dir, &err), LEAT_OK);
    /* an index without its manifest: shards may be missing, too */
    snprintf(from, sizeof(from), "%s/%s", other, LEAT_INDEX_NAME);
    snprintf(to, sizeof(to), "%s/%s", dir, LEAT_INDEX_NAME);
    copy_file(from, to);
    assert_int_equal(try_open(dir, &err), LEAT_ERR_INPUT);
    assert_non_null(strstr(err.message, "has an index.bin of leat, but no manifest.json"));
    assert_int_equal(leat_file_save(to, "leatidy", 8, NULL), LEAT_OK);
    assert_int_equal(try_open(dir, &err), LEAT_OK); /* of somebody else */
    assert_int_equal(unlink(to), 0);
    snprintf(from, sizeof(from), "%s/.leat", dir);
    assert_int_equal(leat_path_make_dir(from, NULL), LEAT_OK);
    assert_int_equal(try_open(dir, &err), LEAT_OK); /* without its mark it is not leat's */
    assert_int_equal(try_open(from, &err), LEAT_ERR_NOT_FOUND);
    snprintf(from, sizeof(from), "%s/.leat/leat-work.json", dir);
    assert_int_equal(leat_file_save(from, "{}", 2, NULL), LEAT_OK);
    assert_int_equal(try_open(dir, &err), LEAT_ERR_INPUT);
    assert_non_null(strstr(err.message, "--resume"));
    snprintf(from, sizeof(from), "%s/nothing", top);
    assert_int_equal(try_open(from, &err), LEAT_ERR_NOT_FOUND);
    assert_int_equal(leat_file_save(from, "text", 4, NULL), LEAT_OK);
    assert_int_equal(try_open(from, &err), LEAT_ERR_CORRUPT);
}

/* A manifest that is right in itself but not that of the index. */
static void other_manifest(void **state) {
    (void)state;
    char dir[256];
    leat_error err = {0};
    make_options options = make_options_default();
    make("other_manifest", &options, dir);
    for (int kind = 0; kind < 7; kind++) {
        leat_manifest manifest;
        must(leat_manifest_load(dir, &manifest, &err), &err);
        leat_shard_info *info = &manifest.shards[1], before = *info;
        if (kind == 1) info->measurement_count++;
        if (kind == 2) info->row_count--;
        if (kind == 3) info->file_bytes += 65536;
        if (kind == 4) info->first_us--;
        if (kind == 5) info->last_us++;
        if (kind == 6) manifest.shard_count--;
        must(leat_manifest_save(&manifest, dir, &err), &err);
        assert_int_equal(try_open(dir, &err), kind == 0 ? LEAT_OK : LEAT_ERR_CORRUPT);
        *info = before;
        manifest.shard_count = SHARDS;
        must(leat_manifest_save(&manifest, dir, &err), &err);
        leat_manifest_free(&manifest);
    }
}

static void splits_of_others(void **state) {
    (void)state;
    char dir[256], from[300];
    static const struct {
        const char *name;
        leat_split split;
    } cases[] = {
        {"a.arrayrecord", LEAT_SPLIT_NONE},
        {"train_x.arrayrecord", LEAT_SPLIT_TRAIN},
        {"test.arrayrecord", LEAT_SPLIT_TEST},
        {"train/x.arrayrecord", LEAT_SPLIT_TRAIN},
        {"test/train0.arrayrecord", LEAT_SPLIT_TRAIN},
        {"test/b.arrayrecord", LEAT_SPLIT_TEST},
    };
    make_options options = make_options_default();
    make("splits", &options, dir);
    snprintf(from, sizeof(from), "%s/train/train_shard_00000.arrayrecord", dir);
    enum { CASES = sizeof(cases) / sizeof(cases[0]) };
    char files[CASES][400];
    const char *paths[CASES];
    for (int i = 0; i < CASES; i++) {
        snprintf(files[i], sizeof(files[i]), "%s/%s", dir, cases[i].name);
        copy_file(from, files[i]);
        paths[i] = files[i];
    }
    leat_dataset *dataset = NULL;
    assert_int_equal(leat_dataset_open(&dataset, paths, CASES, NULL, NULL), LEAT_OK);
    for (int i = 0; i < CASES; i++) {
        leat_dataset_shard shard;
        assert_int_equal(leat_dataset_get_shard(dataset, i, &shard, NULL), LEAT_OK);
        if (shard.split != cases[i].split) fail_msg("%s: %d", cases[i].name, shard.split);
        assert_string_equal(shard.name, files[i]);
    }
    leat_dataset_close(dataset);
}

static int count_open_files(void) {
    int count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (list != NULL && readdir(list) != NULL) count++;
    if (list != NULL) closedir(list);
    return count;
}

/* More files than readers may be open at once, and records past the cache. */
static void many_files(void **state) {
    (void)state;
    int open_before = count_open_files();
    char dir[256], from[300];
    enum { FILES = 300 };
    make_options options = make_options_default();
    options.shards[0] = options.shards[1] = 1;
    options.rows_per_shard = 2;
    make("many", &options, dir);
    snprintf(from, sizeof(from), "%s/train/train_shard_00000.arrayrecord", dir);
    for (int i = 0; i < FILES; i++) {
        char to[400];
        snprintf(to, sizeof(to), "%s/train/x%04d.arrayrecord", dir, i);
        assert_int_equal(link(from, to), 0);
    }
    assert_int_equal(make_files_of_others(dir, NULL), LEAT_OK);
    leat_dataset_options small = {.cache_bytes = 10000};
    const char *paths[] = {dir};
    leat_dataset *dataset = NULL;
    leat_row *cursor = NULL;
    leat_error err = {0};
    must(leat_dataset_open(&dataset, paths, 1, &small, &err), &err);
    must(leat_row_create(&cursor, dataset, &err), &err);
    for (int64_t row = 0; row < 2 * FILES; row++) {
        leat_measurement got;
        must(leat_dataset_row_open(dataset, row, cursor, &err), &err);
        must(leat_row_measurement(cursor, 0, &got, &err), &err);
        assert_int_equal(differs(&got, row % 2, 0), 0);
    }
    assert_in_range(count_open_files() - open_before, 0, 200); /* the program may be given some */
    leat_row_destroy(cursor);
    leat_dataset_close(dataset);
}

/* ---- threads ---- */

typedef struct team {
    leat_dataset *dataset;
    const char *cut; /* a shard that one thread cuts while the others read */
    atomic_int wrong;
} team;

static leat_code member(void *context, int index, leat_error *err) {
    team *work = context;
    leat_row *cursor = NULL;
    if (work->cut != NULL && index == 0)
        return truncate(work->cut, 65536) == 0 ? LEAT_OK : LEAT_ERR_IO;
    LEAT_TRY(leat_row_create(&cursor, work->dataset, err));
    for (int64_t k = 0; k < 4000; k++) {
        uint64_t bits = leat_random(5, (uint64_t)index, (uint64_t)k);
        int64_t row = (int64_t)(bits % ROWS);
        leat_measurement got;
        leat_code code = leat_dataset_row_open(work->dataset, row, cursor, NULL);
        for (int j = 0; j < 5 && code == LEAT_OK; j++) {
            int64_t i = (int64_t)leat_random_below(leat_random(6, bits, (uint64_t)j),
                                                   (uint64_t)make_count(row));
            code = leat_row_measurement(cursor, i, &got, NULL);
            if (code == LEAT_OK && differs(&got, row, i)) atomic_fetch_add(&work->wrong, 1);
        }
        bool may_fail = work->cut != NULL && row >= 4 && row < 8 && code == LEAT_ERR_IO;
        if (code != LEAT_OK && !may_fail) atomic_fetch_add(&work->wrong, 1);
    }
    leat_row_destroy(cursor);
    return LEAT_OK;
}

static void threads(void **state) {
    (void)state;
    for (int mode = 0; mode < 4; mode++) { /* mapped, mapped and cut, compressed, others */
        char dir[256], path[400];
        leat_error err = {0};
        make_options options = make_options_default();
        if (mode == 2) options.record.compression = LEAT_COMPRESSION_SNAPPY;
        make("threads", &options, dir);
        if (mode == 3) assert_int_equal(make_files_of_others(dir, NULL), LEAT_OK);
        snprintf(path, sizeof(path), "%s/train/train_shard_00001.arrayrecord", dir);
        team work = {.dataset = open_at(dir), .cut = mode == 1 ? path : NULL};
        leat_row *cursor = NULL; /* the shard is mapped before it is cut */
        must(leat_row_create(&cursor, work.dataset, &err), &err);
        must(leat_dataset_row_open(work.dataset, 4, cursor, &err), &err);
        leat_row_destroy(cursor);
        must(run_threads(4, member, &work, &err), &err);
        if (atomic_load(&work.wrong) != 0) fail_msg("mode %d", mode);
        if (mode == 1) {
            /* what lay before the cut is still there, the rest is an error that says so */
            leat_error last = {0};
            assert_int_equal(refused_rows(work.dataset, &last), 0xe0);
            assert_int_equal(last.code, LEAT_ERR_IO);
            assert_non_null(strstr(last.message, "cannot be read"));
        }
        leat_dataset_close(work.dataset);
        assert_int_equal(leat_path_remove_tree(dir, NULL), LEAT_OK);
    }
}

static int64_t count_more(int64_t row) { return make_count(row) + 3; }

/* Another data set in the place of the one that was opened: a shard first touched by then is not
 * damaged, and the message says what happened. The same data set again is no other one. */
static void replaced(void **state) {
    (void)state;
    static const struct {
        bool packed, fewer, same, flipped;
        leat_code code;
        const char *words;
    } cases[] = {
        {false, false, false, false, LEAT_ERR_NOT_FOUND, "was replaced after it was opened"},
        {true, false, false, false, LEAT_ERR_NOT_FOUND, "was replaced after it was opened"},
        {false, true, false, false, LEAT_ERR_NOT_FOUND, "was replaced after it was opened"},
        {true, true, false, false, LEAT_ERR_NOT_FOUND, "was replaced after it was opened"},
        {false, false, true, false, LEAT_OK, ""},
        {false, false, true, true, LEAT_ERR_CORRUPT, "hash mismatch"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char dir[256], other[256], path[400];
        leat_error err = {0};
        leat_row *cursor = NULL;
        make_options options = make_options_default();
        if (cases[c].packed) options.record.compression = LEAT_COMPRESSION_SNAPPY;
        make("replaced", &options, dir);
        if (!cases[c].same) options.count_of = count_more;
        if (cases[c].fewer) options.shards[0] = 1;
        make("other", &options, other);
        leat_dataset *dataset = open_at(dir);
        must(leat_row_create(&cursor, dataset, &err), &err);
        must(leat_dataset_row_open(dataset, 0, cursor, &err), &err);
        must(leat_path_remove_tree(dir, &err), &err);
        assert_int_equal(rename(other, dir), 0);
        snprintf(path, sizeof path, "%s/train/train_shard_00002.arrayrecord", dir);
        leat_path_facts shard = {0};
        if (cases[c].flipped) must(leat_path_stat(path, &shard, &err), &err);
        for (int64_t at = 100; at < shard.size_bytes; at += 2000) make_flip(path, at, 3);
        must(leat_dataset_row_open(dataset, 1, cursor, &err), &err); /* touched before */
        leat_measurement got;
        leat_code code = leat_dataset_row_open(dataset, 9, cursor, &err);
        if (code == LEAT_OK) code = leat_row_measurement(cursor, 0, &got, &err);
        if (code != cases[c].code || strstr(err.message, cases[c].words) == NULL)
            fail_msg("case %zu: code %d: %s", c, code, err.message);
        if (code == LEAT_ERR_NOT_FOUND) assert_non_null(strstr(err.message, dir));
        leat_row_destroy(cursor);
        leat_dataset_close(dataset);
        must(leat_path_remove_tree(dir, &err), &err);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),          cmocka_unit_test(damaged),
        cmocka_unit_test(one_page),       cmocka_unit_test(lies),
        cmocka_unit_test(other_manifest), cmocka_unit_test(folders),
        cmocka_unit_test(threads),        cmocka_unit_test(splits_of_others),
        cmocka_unit_test(many_files),     cmocka_unit_test(replaced),
    };
    if (mkdtemp(top) == NULL) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (leat_path_remove_tree(top, NULL) != LEAT_OK) return 1;
    return failed;
}
