/*
 * Fault sweep over index, manifest, parts and data sets: the n-th allocation or file call fails,
 * once or from then on, for n = 1, 2, ... until the work succeeds untouched. Each time it fails
 * with an error or gives the right values, and leaves no temporary file and (under a sanitizer) no
 * memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load/make_dataset.h"
#include "load/probes/dataset.h"
#include "sweep.h"

static char top[] = "/tmp/leat_faults_XXXXXX";

/* ---- what is swept ------------------------------------------------------------------------------
 */

static int64_t few(int64_t row) { return 1 + row * 3; }

static make_options options_of(leat_compression compression) {
    make_options options = make_options_default();
    options.count_of = few;
    options.rows_per_shard = 2;
    options.shards[0] = 2;
    options.record.compression = compression;
    return options;
}

static char folder[3][64]; /* mapped, compressed, of others */
static char written[64];

static leat_code read_row(const leat_dataset *dataset, leat_row *cursor, int64_t row,
                          leat_error *err) {
    leat_measurement got;
    leat_measurements all = {0};
    const uint8_t *record = NULL;
    int64_t size = 0;
    LEAT_TRY(leat_dataset_row_open(dataset, row, cursor, err));
    for (int64_t i = 0; i < few(row); i++) {
        LEAT_TRY(leat_row_measurement(cursor, i, &got, err));
        assert_int_equal(got.time_us, make_measurement(row, i).time_us);
    }
    int64_t ends[2] = {0, few(row) - 1};
    leat_measurement points[2];
    for (int texts = 0; texts < 2; texts++) {
        leat_row_keep_texts(cursor, texts == 1);
        LEAT_TRY(leat_row_gather(cursor, ends, 2, points, err));
        assert_int_equal(points[0].time_us, make_measurement(row, 0).time_us);
        assert_int_equal(points[1].time_us, make_measurement(row, ends[1]).time_us);
    }
    leat_code code = leat_dataset_row_decode(cursor, &all, err);
    if (code == LEAT_OK) assert_int_equal(all.count, few(row));
    leat_measurements_free(&all);
    LEAT_TRY(code);
    return leat_dataset_row_record(cursor, &record, &size, err);
}

static leat_code read_folder(const void *of, leat_error *err) {
    const char *path = of;
    leat_dataset *dataset = (leat_dataset *)1;
    leat_row *cursor = NULL;
    char print[65];
    leat_code code = leat_dataset_open(&dataset, &path, 1, NULL, err);
    if (code != LEAT_OK) {
        assert_null(dataset);
        return code;
    }
    code = leat_row_create(&cursor, dataset, err);
    for (int64_t row = 0; row < 6 && code == LEAT_OK; row++) {
        code = read_row(dataset, cursor, row, err);
    }
    if (code == LEAT_OK) code = leat_dataset_fingerprint(dataset, print, err);
    leat_row_destroy(cursor);
    leat_dataset_close(dataset);
    return code;
}

static leat_code write_folder(const void *of, leat_error *err) {
    make_options options = options_of(LEAT_COMPRESSION_NONE);
    (void)of;
    return make_dataset(written, &options, err);
}

static leat_code save_and_load_part(const void *of, leat_error *err) {
    char path[64];
    leat_shard_part part = {0}, again = {0};
    leat_index_row row = {.record_bytes = 1, .chunk_offset = 64, .n_measurements = 2};
    const uint64_t hashes[2] = {1, 2};
    (void)of;
    snprintf(path, sizeof(path), "%s/part", top);
    part.info.file_bytes = 8192;
    leat_code code = leat_shard_part_add_row(&part, &row, err);
    if (code == LEAT_OK) code = leat_shard_part_set_pages(&part, hashes, 2, err);
    if (code == LEAT_OK) code = leat_shard_part_save(&part, 3, path, err);
    if (code == LEAT_OK) code = leat_shard_part_load(path, 3, &again, err);
    if (code == LEAT_OK) assert_int_equal(again.info.measurement_count, 2);
    leat_shard_part_free(&part);
    leat_shard_part_free(&again);
    return code;
}

/* ---- the sweep ----------------------------------------------------------------------------------
 */

static void look_after(leat_code code) {
    (void)code;
    expect_no_drafts(top);
    expect_no_drafts(written);
}

static void all(void **state) {
    (void)state;
    leat_error err = {0};
    snprintf(written, sizeof(written), "%s/written", top);
    assert_int_equal(leat_path_make_dir(written, NULL), LEAT_OK);
    for (int i = 0; i < 3; i++) {
        make_options options = options_of(i == 1 ? LEAT_COMPRESSION_ZSTD : LEAT_COMPRESSION_NONE);
        snprintf(folder[i], sizeof(folder[i]), "%s/d%d", top, i);
        if (make_dataset(folder[i], &options, &err) != LEAT_OK) fail_msg("%s", err.message);
    }
    assert_int_equal(make_files_of_others(folder[2], NULL), LEAT_OK);
    const fault_sweep sweeps[] = {
        {"mapped", read_folder, folder[0], look_after, 3},
        {"compressed", read_folder, folder[1], look_after, 3},
        {"others", read_folder, folder[2], look_after, 3},
        {"part", save_and_load_part, NULL, look_after, 3},
        {"write", write_folder, NULL, look_after, 3},
    };
    for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++) sweep_faults(&sweeps[i]);
}

/* Once every row was open and the texts have their room, mapped rows are read without allocating.
 */
static void no_allocation(void **state) {
    (void)state;
    const char *path = folder[0];
    leat_dataset *dataset = NULL;
    leat_row *cursor = NULL;
    assert_int_equal(leat_dataset_open(&dataset, &path, 1, NULL, NULL), LEAT_OK);
    assert_int_equal(leat_row_create(&cursor, dataset, NULL), LEAT_OK);
    leat_row_keep_texts(cursor, true);
    atomic_store(&fault_counted, FAULT_MEMORY);
    for (int round = 0; round < 3; round++) {
        set_fault(-1, false); /* counts from 0 */
        for (int64_t row = 0; row < 6; row++) {
            leat_measurement points[16];
            int64_t indices[16];
            for (int64_t k = 0; k < few(row); k++) indices[k] = k;
            assert_int_equal(leat_dataset_row_open(dataset, row, cursor, NULL), LEAT_OK);
            assert_int_equal(leat_row_gather(cursor, indices, few(row), points, NULL), LEAT_OK);
        }
        long seen = atomic_load(&fault_seen);
        assert_true(round == 0 ? seen > 0 : seen == 0);
    }
    leat_row_destroy(cursor);
    leat_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(no_allocation)};
    if (mkdtemp(top) == NULL) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    clear_fault();
    if (leat_path_remove_tree(top, NULL) != LEAT_OK) return 1;
    return failed;
}
