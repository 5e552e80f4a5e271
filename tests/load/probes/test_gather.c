/*
 * Many measurements of a row at once: the values that were written, in every layout of a data set;
 * damage and files that are cut refuse what lies there and nothing else.
 */
/* TSan: several threads read one data set. */
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
#include "base/hash.h"
#include "base/rng.h"
#include "load/probes/dataset.h"
#include "make_dataset.h"
#include "threads.h"

static char top[] = "/tmp/leat_gather_XXXXXX";
enum { ROWS = 16, BIG = 5, SET = 200 };

static void must(leat_code code, const leat_error *err) {
    if (code != LEAT_OK) fail_msg("code %d: %s", code, err->message);
}

static leat_dataset *make(const char *name, const make_options *options, char dir[256]) {
    leat_error err = {0};
    leat_dataset *dataset = NULL;
    snprintf(dir, 256, "%s/%s", top, name);
    must(leat_path_make_dir(dir, &err), &err);
    must(make_dataset(dir, options, &err), &err);
    must(leat_dataset_open(&dataset, (const char *const *)&dir, 1, NULL, &err), &err);
    return dataset;
}

static leat_dataset *reopen(leat_dataset *dataset, const char *dir) {
    leat_error err = {0};
    leat_dataset_close(dataset);
    must(leat_dataset_open(&dataset, &dir, 1, NULL, &err), &err);
    return dataset;
}

static leat_row *cursor_of(const leat_dataset *dataset) {
    leat_row *cursor = NULL;
    assert_int_equal(leat_row_create(&cursor, dataset, NULL), LEAT_OK);
    return cursor;
}

/* 0 if the measurement is the one that was written. */
static int differs(const leat_measurement *got, int64_t row, int64_t i, bool texts) {
    char src[LEAT_PROBE_SRC_BYTES];
    made expected = make_measurement(row, i);
    uint8_t src_bytes[16] = {0}, dst_bytes[16] = {0};
    make_source(row, src);
    (void)leat_address_parse(src, (int64_t)strlen(src), src_bytes);
    (void)leat_address_parse(expected.dst, (int64_t)strlen(expected.dst), dst_bytes);
    if (got->time_us != expected.time_us || got->ip_version != expected.ip_version ||
        got->rtt != expected.rtt || memcmp(got->src_bytes, src_bytes, 16) != 0 ||
        memcmp(got->dst_bytes, dst_bytes, 16) != 0)
        return 1;
    if (!texts) return got->src != NULL || got->dst != NULL || got->src_size + got->dst_size != 0;
    return got->src_size != (int)strlen(src) || strcmp(got->src, src) != 0 ||
           got->dst_size != (int)strlen(expected.dst) || strcmp(got->dst, expected.dst) != 0;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Up to SET random places of [from, below), ascending. */
static int64_t draw(uint64_t seed, int64_t from, int64_t below, int64_t indices[SET]) {
    int64_t count = 1 + (int64_t)leat_random_below(leat_random(seed, 0, 0), SET);
    for (int64_t k = 0; k < count; k++) {
        uint64_t place =
            leat_random_below(leat_random(seed, 1, (uint64_t)k), (uint64_t)(below - from));
        indices[k] = from + (int64_t)place;
    }
    qsort(indices, (size_t)count, sizeof *indices, by_value);
    return count;
}

static bool is_zero(const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (((const uint8_t *)bytes)[i] != 0) return false;
    return true;
}

/* ---- values ------------------------------------------------------------------------------- */

static void check_row(leat_dataset *dataset, leat_row *cursor, int64_t row) {
    static leat_measurement points[60000];
    static int64_t indices[60000];
    leat_error err = {0};
    int64_t n = make_count(row);
    must(leat_dataset_row_open(dataset, row, cursor, &err), &err);
    for (uint64_t set = 0; set < 8; set++) {
        bool texts = set % 2 == 1;
        int64_t count = draw(100 * (uint64_t)row + set, 0, n, indices);
        leat_row_keep_texts(cursor, texts);
        must(leat_row_gather(cursor, indices, count, points, &err), &err);
        for (int64_t k = 0; k < count; k++)
            if (differs(&points[k], row, indices[k], texts))
                fail_msg("row %d, measurement %d", (int)row, (int)indices[k]);
    }
    /* all of them, so that every block header of the file lies in some value */
    for (int64_t k = 0; k < n; k++) indices[k] = k;
    must(leat_row_gather(cursor, indices, n, points, &err), &err);
    for (int64_t k = 0; k < n; k++)
        if (differs(&points[k], row, k, true)) fail_msg("row %d, all: %d", (int)row, (int)k);
    must(leat_row_gather(cursor, indices, 0, points, &err), &err);
    static const int64_t bad[] = {-1, INT64_MIN, INT64_MAX};
    for (int i = 0; i < 4; i++) {
        int64_t three[3] = {0, i < 3 ? bad[i] : n, 0};
        memset(points, 0xAA, 3 * sizeof *points);
        assert_int_equal(leat_row_gather(cursor, three, 3, points, &err), LEAT_ERR_OPTION);
        assert_true(is_zero(points, 3 * sizeof *points));
    }
}

static void check_all(leat_dataset *dataset) {
    leat_row *cursor = cursor_of(dataset);
    leat_measurement points[1];
    int64_t zero = 0;
    assert_int_equal(leat_row_gather(cursor, &zero, 1, points, NULL), LEAT_ERR_OPTION);
    for (int64_t row = 0; row < ROWS; row++) check_row(dataset, cursor, row);
    leat_row_destroy(cursor);
}

static void layouts(void **state) {
    (void)state;
    static const struct {
        const char *name;
        leat_compression compression;
        bool dictionary;
    } cases[] = {
        {"none", LEAT_COMPRESSION_NONE, false},
        {"dictionary", LEAT_COMPRESSION_NONE, true},
        {"zstd", LEAT_COMPRESSION_ZSTD, false},
        {"zstd_dictionary", LEAT_COMPRESSION_ZSTD, true},
    };
    for (int c = 0; c < 4; c++) {
        char dir[256];
        make_options options = make_options_default();
        options.record.compression = cases[c].compression;
        options.dictionary_src = cases[c].dictionary;
        leat_dataset *dataset = make(cases[c].name, &options, dir);
        check_all(dataset);
        assert_int_equal(make_files_of_others(dir, NULL), LEAT_OK);
        dataset = reopen(dataset, dir);
        check_all(dataset);
        leat_dataset_close(dataset);
    }
}

/* ---- opening without parsing ---- */

static int64_t small(int64_t row) { return 1 + row * 7919 % 211; }

/* Every row of ours is known by its bytes, wherever block headers cut it. */
static void known(void **state) {
    (void)state;
    for (int coded = 0; coded < 2; coded++) {
        char dir[256];
        leat_error err = {0};
        make_options options = make_options_default();
        options.dictionary_src = coded == 1;
        options.shards[0] = options.shards[1] = 1;
        options.rows_per_shard = 700;
        options.count_of = small;
        leat_dataset *dataset = make(coded ? "known_coded" : "known", &options, dir);
        int cut = 0;
        for (int64_t row = 0; row < 1400; row++) {
            leat_row_facts facts;
            leat_record_place place = {0};
            leat_probe_row probe;
            uint8_t head[LEAT_AR_PLAIN_HEAD_BYTES];
            int64_t end;
            must(leat_dataset_row_place(dataset, row, &facts, &place.begin, &err), &err);
            must(leat_shard_paged(dataset, facts.shard, false, &place.paged, &err), &err);
            place.data = place.paged->data;
            place.first = leat_ar_plain_head(place.begin, facts.record_bytes, head, &end);
            leat_view view = leat_view_of_place(&place, facts.record_bytes);
            leat_probe_facts told = {.src_id = facts.src_id,
                                     .n_measurements = facts.n_measurements,
                                     .first_us = facts.first_us,
                                     .last_us = facts.last_us};
            if (!leat_probe_row_open_known(&probe, &view, &told)) fail_msg("row %d", (int)row);
            assert_int_equal(probe.info.n_measurements, small(row));
            leat_probe_row_close(&probe);
            cut += place.begin / 65536 != (place.begin + 1700) / 65536;
            /* a chunk that begins elsewhere, a record of another size: not known, no harm */
            for (int lie = 0; lie < 4; lie++) {
                leat_record_place other = place;
                int64_t size = facts.record_bytes;
                if (lie == 0) other.begin += 1;
                if (lie == 1) other.begin = facts.shard == 0 ? INT64_MAX / 4 : -1;
                if (lie == 2) size += 8;
                if (lie == 3) size = INT64_MAX / 4;
                view = leat_view_of_place(&other, size);
                assert_false(leat_probe_row_open_known(&probe, &view, &told));
            }
        }
        assert_in_range(cut, 10, 1000);
        leat_dataset_close(dataset);
    }
}

/* Hashes of a file's pages as they are, whatever they should be. */
typedef struct whole_file {
    uint8_t *bytes;
    int64_t size_bytes;
} whole_file;

static leat_code hash_as_it_is(const void *context, int64_t page, uint64_t *hash, leat_error *err) {
    const whole_file *file = context;
    int64_t at = page * LEAT_PAGE_BYTES, left = file->size_bytes - at;
    (void)err;
    *hash = leat_xxh3(file->bytes + at, left < LEAT_PAGE_BYTES ? left : LEAT_PAGE_BYTES);
    return LEAT_OK;
}

/* Every byte of a chunk's head but its two hashes, which those of the pages stand for. */
static void chunk_heads(void **state) {
    (void)state;
    char dir[256], path[400];
    leat_error err = {0};
    leat_row_facts facts;
    whole_file file;
    uint8_t head[LEAT_AR_PLAIN_HEAD_BYTES];
    int64_t begin = 0, end = 0;
    make_options options = make_options_default();
    leat_dataset *dataset = make("heads", &options, dir);
    must(leat_dataset_row_place(dataset, 2, &facts, &begin, &err), &err);
    snprintf(path, sizeof(path), "%s/train/train_shard_00000.arrayrecord", dir);
    must(leat_file_load(path, 1 << 26, &file.bytes, &file.size_bytes, &err), &err);
    int size = leat_ar_plain_head(begin, facts.record_bytes, head, &end);
    leat_probe_facts told = {.src_id = facts.src_id,
                             .n_measurements = facts.n_measurements,
                             .first_us = facts.first_us,
                             .last_us = facts.last_us};
    for (int i = -1; i < size; i++) {
        leat_map *map = NULL;
        leat_paged paged;
        leat_probe_row probe;
        if (i >= 0) file.bytes[begin + i] ^= 4;
        must(leat_file_save(path, file.bytes, file.size_bytes, &err), &err);
        must(leat_map_open(&map, path, &err), &err);
        must(leat_paged_init(&paged, map, file.size_bytes, hash_as_it_is, &file, &err), &err);
        leat_record_place place = {paged.data, &paged, begin, size};
        leat_view view = leat_view_of_place(&place, facts.record_bytes);
        bool is_hash = i < 8 || (i >= 16 && i < 24);
        if (leat_probe_row_open_known(&probe, &view, &told) != is_hash) fail_msg("byte %d", i);
        leat_probe_row_close(&probe);
        leat_paged_free(&paged);
        if (i >= 0) file.bytes[begin + i] ^= 4;
    }
    leat_free(file.bytes);
    leat_dataset_close(dataset);
}

/* ---- damage ------------------------------------------------------------------------------- */

/* A set is refused exactly if one of its measurements is, alone. */
static void compare_with_single(leat_row *cursor, uint64_t seed, int64_t count_max, int *good,
                                int *bad) {
    leat_measurement points[SET], one;
    int64_t indices[SET];
    leat_error err = {0};
    int64_t count = draw(seed, 0, make_count(BIG), indices);
    if (count > count_max) count = count_max;
    memset(points, 0xAA, sizeof points);
    leat_code code = leat_row_gather(cursor, indices, count, points, &err);
    leat_code expected = LEAT_OK;
    for (int64_t k = 0; k < count && expected == LEAT_OK; k++)
        expected = leat_row_measurement(cursor, indices[k], &one, NULL);
    assert_int_equal(code, expected);
    if (code == LEAT_OK) {
        for (int64_t k = 0; k < count; k++)
            if (differs(&points[k], BIG, indices[k], false)) fail_msg("%d", (int)indices[k]);
        (*good)++;
    } else {
        assert_int_equal(code, LEAT_ERR_CORRUPT);
        assert_true(is_zero(points, (size_t)count * sizeof *points));
        assert_non_null(strstr(err.message, "train_shard_00001"));
        assert_non_null(strstr(err.message, "record 1"));
        assert_non_null(strstr(err.message, "page at byte"));
        (*bad)++;
    }
}

/* A damaged page refuses what lies on it; the row's other measurements are given out. */
static void one_page(void **state) {
    (void)state;
    char dir[256], path[400];
    leat_error err = {0};
    leat_row_facts facts;
    make_options options = make_options_default();
    leat_dataset *dataset = make("one_page", &options, dir);
    int64_t begin = 0;
    must(leat_dataset_row_place(dataset, BIG, &facts, &begin, &err), &err);
    snprintf(path, sizeof(path), "%s/train/train_shard_00001.arrayrecord", dir);
    /* places of times, offsets, texts, rtts in the record */
    int64_t n = make_count(BIG), source = 11 * n, size = facts.record_bytes;
    int64_t at[] = {100000, 12 * n + source + 2 * n, size - 5 * n - 100000, size - 2 * n};
    for (int c = 0; c < 4; c++) {
        int good = 0, bad = 0;
        make_flip(path, leat_ar_byte_at(begin, 48 + at[c]), 4);
        dataset = reopen(dataset, dir);
        leat_row *cursor = cursor_of(dataset);
        must(leat_dataset_row_open(dataset, BIG, cursor, &err), &err);
        for (uint64_t set = 0; set < 200; set++)
            compare_with_single(cursor, 1000 * (uint64_t)c + set, 60, &good, &bad);
        if (good < 10 || bad < 10) fail_msg("place %d: %d good, %d bad", c, good, bad);
        leat_row_destroy(cursor);
        make_flip(path, leat_ar_byte_at(begin, 48 + at[c]), 4);
    }
    leat_dataset_close(dataset);
}

/* The page where a row begins: it is not opened, and the code says damage; others are. */
static void head_page(void **state) {
    (void)state;
    char dir[256], path[400];
    leat_error err = {0};
    leat_row_facts facts;
    make_options options = make_options_default();
    leat_dataset *dataset = make("head_page", &options, dir);
    int64_t begin = 0;
    must(leat_dataset_row_place(dataset, BIG, &facts, &begin, &err), &err);
    snprintf(path, sizeof(path), "%s/train/train_shard_00001.arrayrecord", dir);
    for (int tail = 0; tail < 2; tail++) {
        int64_t at = tail ? leat_ar_byte_at(begin, facts.record_bytes) : begin + 500;
        make_flip(path, at, 4);
        dataset = reopen(dataset, dir);
        leat_row *cursor = cursor_of(dataset);
        leat_measurement point;
        int64_t zero = 0;
        char page[64];
        snprintf(page, sizeof page, "page at byte %lld", (long long)(at / 4096 * 4096));
        assert_int_equal(leat_dataset_row_open(dataset, BIG, cursor, &err), LEAT_ERR_CORRUPT);
        assert_non_null(strstr(err.message, "record 1"));
        assert_non_null(strstr(err.message, page));
        assert_int_equal(leat_row_gather(cursor, &zero, 1, &point, NULL), LEAT_ERR_OPTION);
        check_row(dataset, cursor, BIG + 2);
        check_row(dataset, cursor, BIG - 5);
        leat_row_destroy(cursor);
        make_flip(path, at, 4);
    }
    leat_dataset_close(dataset);
}

/* A file that is cut while it is mapped: what was before the cut is there, checked before or not;
 * what was behind it is an error of reading, touched before or not. */
static void cut(void **state) {
    (void)state;
    for (int touched = 0; touched < 2; touched++) {
        char dir[256], path[400];
        leat_error err = {0};
        leat_measurement points[SET];
        int64_t indices[SET], n = make_count(BIG);
        make_options options = make_options_default();
        leat_dataset *dataset = make(touched ? "cut_touched" : "cut", &options, dir);
        leat_row *cursor = cursor_of(dataset);
        must(leat_dataset_row_open(dataset, BIG, cursor, &err), &err);
        for (uint64_t set = 0; set < 300 && touched; set++) {
            int64_t count = draw(set, 0, n, indices);
            must(leat_row_gather(cursor, indices, count, points, &err), &err);
        }
        snprintf(path, sizeof(path), "%s/train/train_shard_00001.arrayrecord", dir);
        leat_row_facts facts;
        must(leat_dataset_row(dataset, BIG, &facts, &err), &err);
        /* the last column is cut in its middle: rtts of the second half are gone */
        assert_int_equal(truncate(path, facts.record_bytes - 2 * n), 0);
        for (uint64_t set = 0; set < 50; set++) {
            bool gone = set % 2 == 0;
            int64_t count =
                gone ? draw(900 + set, n * 3 / 4, n, indices) : draw(900 + set, 0, n / 8, indices);
            memset(points, 0xAA, sizeof points);
            leat_code code = leat_row_gather(cursor, indices, count, points, &err);
            if (gone) {
                assert_int_equal(code, LEAT_ERR_IO);
                assert_non_null(strstr(err.message, "cannot be read"));
                assert_non_null(strstr(err.message, "record 1"));
                assert_true(is_zero(points, (size_t)count * sizeof *points));
                continue;
            }
            must(code, &err);
            for (int64_t k = 0; k < count; k++)
                if (differs(&points[k], BIG, indices[k], false)) fail_msg("%d", (int)indices[k]);
        }
        assert_int_equal(leat_dataset_row_open(dataset, BIG, cursor, &err), LEAT_ERR_IO);
        leat_row_destroy(cursor);
        leat_dataset_close(dataset);
    }
}

/* ---- threads ------------------------------------------------------------------------------ */

typedef struct team {
    leat_dataset *dataset;
    const char *cut; /* a shard that one thread cuts while the others read; NULL: none does */
    atomic_int wrong;
} team;

static leat_code member(void *context, int index, leat_error *err) {
    team *work = context;
    leat_row *cursor = NULL;
    leat_measurement points[SET];
    int64_t indices[SET];
    if (work->cut != NULL && index == 0)
        return truncate(work->cut, 65536) == 0 ? LEAT_OK : LEAT_ERR_IO;
    LEAT_TRY(leat_row_create(&cursor, work->dataset, err));
    for (uint64_t k = 0; k < 1000; k++) {
        uint64_t seed = leat_random(5, (uint64_t)index, k);
        int64_t row = (int64_t)(seed % ROWS), count = 0;
        leat_code code = leat_dataset_row_open(work->dataset, row, cursor, NULL);
        if (code == LEAT_OK) {
            count = draw(seed, 0, make_count(row), indices);
            code = leat_row_gather(cursor, indices, count, points, NULL);
        }
        for (int64_t j = 0; j < count && code == LEAT_OK; j++)
            if (differs(&points[j], row, indices[j], false)) atomic_fetch_add(&work->wrong, 1);
        bool may_fail = work->cut != NULL && row >= 4 && row < 8 && code == LEAT_ERR_IO;
        if (code != LEAT_OK && !may_fail) atomic_fetch_add(&work->wrong, 1);
    }
    leat_row_destroy(cursor);
    return LEAT_OK;
}

static void threads(void **state) {
    (void)state;
    for (int mode = 0; mode < 3; mode++) { /* mapped, mapped and cut, compressed */
        char dir[256], path[400];
        leat_error err = {0};
        make_options options = make_options_default();
        if (mode == 2) options.record.compression = LEAT_COMPRESSION_SNAPPY;
        leat_dataset *dataset = make("threads", &options, dir);
        snprintf(path, sizeof(path), "%s/train/train_shard_00001.arrayrecord", dir);
        team work = {.dataset = dataset, .cut = mode == 1 ? path : NULL};
        leat_row *cursor = cursor_of(dataset); /* the shard is mapped before it is cut */
        must(leat_dataset_row_open(dataset, 4, cursor, &err), &err);
        leat_row_destroy(cursor);
        must(run_threads(4, member, &work, &err), &err);
        if (atomic_load(&work.wrong) != 0) fail_msg("mode %d", mode);
        leat_dataset_close(dataset);
        assert_int_equal(leat_path_remove_tree(dir, NULL), LEAT_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),  cmocka_unit_test(known),     cmocka_unit_test(chunk_heads),
        cmocka_unit_test(one_page), cmocka_unit_test(head_page), cmocka_unit_test(cut),
        cmocka_unit_test(threads),
    };
    if (mkdtemp(top) == NULL) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (leat_path_remove_tree(top, NULL) != LEAT_OK) return 1;
    return failed;
}
