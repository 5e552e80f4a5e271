/*
 * Damage: with `fail` a step that needs damaged bytes is an error; with `mask` the sequences that
 * need them are zeros, all others stay the same bytes, every host and thread agrees, and the
 * quarantine names the record. No damage gives other bytes, ever.
 */
/* TSan: parts fail on several of the ring's threads. */
#include <unistd.h>

#include "damage_bits.h"

#include "base/sink.h"
#include "format/dataset/layout.h"

enum { STEPS = 40, BATCH = 12, LENGTH = 256 };

static char plain[256], packed[256];
static run clean; /* STEPS steps of the undamaged data */

/* Where the chunk of a row begins, from the index. */
static int64_t chunk_of(const char *dir, int64_t row) {
    leat_manifest manifest = {0};
    leat_index *index = NULL;
    leat_index_row found;
    char path[400];
    leat_error err = {0};
    snprintf(path, sizeof path, "%s/%s", dir, LEAT_INDEX_NAME);
    must(leat_manifest_load(dir, &manifest, &err), &err);
    must(leat_index_open(&index, path, manifest.index_bytes, manifest.index_sha256, &err), &err);
    must(leat_index_row_get(index, row, &found, &err), &err);
    leat_index_close(index);
    leat_manifest_free(&manifest);
    return found.chunk_offset;
}

/* Which rows of the run are zeros; every other one must be the undamaged run's. */
static int count_masked(const leat_dataset *dataset, const leat_loader_options *options,
                        char masked[STEPS][BATCH]) {
    int count = 0;
    int32_t values[6 * LENGTH];
    static const int32_t zeros[6 * LENGTH];
    leat_loader *loader = loader_create(dataset, options);
    for (int s = 0; s < STEPS; s++) {
        const leat_batch *batch = loader_next(loader);
        for (int64_t i = 0; i < batch->row_count; i++) {
            int64_t row = batch->rows[i];
            pack_row(batch, i, values);
            bool zero = memcmp(values, zeros, sizeof values) == 0;
            if (!zero && memcmp(values, run_row(&clean, s, row), sizeof values) != 0)
                fail_msg("step %d row %d has other bytes", s, (int)row);
            masked[s][row] = zero;
            count += zero;
        }
        leat_batch_release(batch);
    }
    leat_loader_counters counters;
    leat_loader_get_counters(loader, &counters);
    assert_int_equal(counters.masked, count);
    leat_loader_destroy(loader);
    return count;
}

/* Whether the undamaged sequence holds something of the row. */
static bool holds_row(const leat_loader *loader, int64_t step, int64_t i, int64_t row) {
    leat_explanation *told = NULL;
    leat_error err = {0};
    bool found = false;
    must(leat_loader_explain(loader, step, i, &told, &err), &err);
    for (int64_t s = 0; s < told->segment_count; s++) found |= told->segments[s].row == row;
    leat_explanation_destroy(told);
    return found;
}

static void expect_quarantine(const leat_dataset *dataset, int64_t row, int64_t byte) {
    leat_loader_options options = loader_options();
    leat_quarantined *items = NULL;
    int64_t count = 0;
    leat_error err = {0};
    options.on_corrupt = LEAT_CORRUPT_MASK;
    options.threads = 3;
    leat_loader *loader = loader_create(dataset, &options);
    for (int s = 0; s < STEPS; s++) leat_batch_release(loader_next(loader));
    must(leat_loader_quarantine(loader, &items, &count, &err), &err);
    assert_int_equal(count, 1); /* once, however many sequences needed it */
    assert_int_equal(items[0].row, row);
    assert_int_equal(items[0].record_index, row % 16);
    assert_int_equal(items[0].byte, byte);
    assert_string_equal(items[0].shard, "train/train_shard_00000.arrayrecord");
    assert_non_null(strstr(items[0].reason, "train_shard_00000.arrayrecord"));
    leat_quarantine_free(items);
    leat_loader_destroy(loader);
}

/* Every host and thread count masks the same rows. */
static void expect_agreement(const char *dir, char masked[STEPS][BATCH]) {
    static const int hosts[] = {1, 3, 4};
    for (int c = 0; c < 6; c++) {
        char other[STEPS][BATCH] = {{0}};
        leat_loader_options options = loader_options();
        options.on_corrupt = LEAT_CORRUPT_MASK;
        options.threads = 1 + c;
        options.prefetch = c;
        options.io = c % 2 == 0 ? LEAT_IO_MMAP : LEAT_IO_PREAD;
        options.host_count = hosts[c % 3];
        for (options.host_index = 0; options.host_index < hosts[c % 3]; options.host_index++) {
            leat_dataset *dataset = loader_open(dir);
            count_masked(dataset, &options, other);
            leat_dataset_close(dataset);
        }
        assert_memory_equal(other, masked, sizeof other);
    }
}

/* The first step that holds the row fails, and so does each later call; seek goes on behind it. */
static void expect_failure(const char *dir, const char masked[STEPS][BATCH], const char *words) {
    leat_dataset *dataset = loader_open(dir);
    leat_loader_options options = loader_options();
    leat_loader *loader = loader_create(dataset, &options);
    for (int s = 0; s < STEPS; s++) {
        const leat_batch *batch = NULL;
        leat_error err = {0}, again = {0};
        int first = 0;
        while (first < BATCH && !masked[s][first]) first++;
        leat_code code = leat_loader_next(loader, &batch, &err);
        assert_int_equal(code == LEAT_OK, first == BATCH);
        if (code == LEAT_OK) {
            run_expect(&clean, batch);
            leat_batch_release(batch);
            continue;
        }
        char place[64];
        snprintf(place, sizeof place, "step %d, row %d: ", s, first); /* the lowest one */
        assert_int_equal(code, LEAT_ERR_CORRUPT);
        assert_null(batch);
        if (strncmp(err.message, place, strlen(place)) != 0 || strstr(err.message, words) == NULL)
            fail_msg("\"%s\"", err.message);
        assert_int_equal(leat_loader_next(loader, &batch, &again), LEAT_ERR_CORRUPT);
        assert_string_equal(again.message, err.message);
        assert_int_equal(leat_loader_step(loader), s);
        must(leat_loader_seek(loader, s + 1, NULL), NULL);
    }
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

/* Damages byte `at` of shard 0, which belongs to `row`, and looks at everything; whether all that
 * hold something of the row were masked. */
static bool check_damage(const char *dir, int64_t row, int64_t at, int64_t told_byte) {
    leat_dataset *dataset = loader_open(dir);
    leat_loader_options options = loader_options();
    char holds[STEPS][BATCH], masked[STEPS][BATCH] = {{0}};
    int held = 0;
    leat_loader *loader = loader_create(dataset, &options);
    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < BATCH; i++) held += holds[s][i] = holds_row(loader, s, i, row);
    }
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
    assert_true(held > 0);
    loader_flip(dir, "train/train_shard_00000.arrayrecord", at, 3);
    dataset = loader_open(dir);
    options.on_corrupt = LEAT_CORRUPT_MASK;
    int count = count_masked(dataset, &options, masked);
    assert_true(count > 0);
    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < BATCH; i++) {
            /* a page may hold the neighbours of a small row too, so only the large one is sure */
            if (row == 5 && masked[s][i]) assert_true(holds[s][i]);
        }
    }
    if (row == 5) expect_quarantine(dataset, row, told_byte);
    leat_dataset_close(dataset);
    expect_agreement(dir, masked);
    expect_failure(dir, masked, "train_shard_00000.arrayrecord");
    loader_flip(dir, "train/train_shard_00000.arrayrecord", at, 3);
    return memcmp(holds, masked, sizeof holds) == 0;
}

/* A page in the middle of the long row: sequences that draw from elsewhere in it stay. */
static void one_page(void **state) {
    (void)state;
    int64_t at = chunk_of(plain, 5) + 3 * LEAT_PAGE_BYTES + 77;
    assert_false(check_damage(plain, 5, at, at / LEAT_PAGE_BYTES * LEAT_PAGE_BYTES));
}

/* A compressed record is one piece: all that hold something of it are masked, and no other. */
static void one_chunk(void **state) {
    (void)state;
    int64_t begin = chunk_of(packed, 5);
    assert_true(check_damage(packed, 5, begin + 500, begin));
}

/* A small row. Its page holds other rows, which are masked too. */
static void small_row(void **state) {
    (void)state;
    (void)check_damage(plain, 2, chunk_of(plain, 2) + 100, 0);
}

/* A shard cut in the long row, and cut to nothing: with `mask` what lies before the cut is as it
 * was. Returns how many sequences the first cut leaves that the second takes. */
static int cut_to(const char *dir, int64_t in_row) {
    char path[400], masked[2][STEPS][BATCH] = {{{0}}};
    uint8_t *bytes = NULL;
    int64_t size = 0;
    int left = 0;
    leat_error err = {0};
    const leat_batch *batch = NULL;
    snprintf(path, sizeof path, "%s/train/train_shard_00000.arrayrecord", dir);
    must(leat_file_load(path, 1 << 24, &bytes, &size, &err), &err);
    const int64_t sizes[2] = {chunk_of(dir, 5) + in_row, 0};
    for (int c = 0; c < 2; c++) {
        leat_loader_options options = loader_options();
        assert_int_equal(truncate(path, sizes[c]), 0);
        leat_dataset *dataset = loader_open(dir);
        options.on_corrupt = LEAT_CORRUPT_MASK;
        assert_true(count_masked(dataset, &options, masked[c]) > 0);
        leat_dataset_close(dataset);
        dataset = loader_open(dir);
        options.on_corrupt = LEAT_CORRUPT_FAIL;
        leat_loader *loader = loader_create(dataset, &options);
        leat_code code = LEAT_OK;
        for (int s = 0; s < STEPS && code == LEAT_OK; s++) {
            code = leat_loader_next(loader, &batch, &err);
            leat_batch_release(batch);
        }
        assert_int_equal(code, LEAT_ERR_CORRUPT); /* refused as a whole */
        assert_non_null(strstr(err.message, "the manifest says"));
        leat_loader_destroy(loader);
        leat_dataset_close(dataset);
        expect_agreement(dir, masked[c]);
    }
    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < BATCH; i++) {
            assert_true(!masked[0][s][i] || masked[1][s][i]);
            left += masked[1][s][i] && !masked[0][s][i];
        }
    }
    FILE *back = fopen(path, "wb");
    assert_non_null(back);
    assert_int_equal(fwrite(bytes, 1, (size_t)size, back), size);
    assert_int_equal(fclose(back), 0);
    leat_free(bytes);
    return left;
}

static void cut_shard(void **state) {
    (void)state;
    assert_true(cut_to(plain, 40000) > 0);
    assert_true(cut_to(packed, 10) > 0);
}

/* The file's own index, which nothing is read from where ours is there, harms nobody. */
static void damaged_footer(void **state) {
    (void)state;
    const char *dirs[] = {plain, packed};
    for (int d = 0; d < 2; d++) {
        char path[400], masked[STEPS][BATCH];
        leat_path_facts facts;
        leat_error err = {0};
        static const char name[] = "train/train_shard_00000.arrayrecord";
        snprintf(path, sizeof path, "%s/%s", dirs[d], name);
        must(leat_path_stat(path, &facts, &err), &err);
        loader_flip(dirs[d], name, facts.size_bytes - 20, 1);
        leat_dataset *dataset = loader_open(dirs[d]);
        leat_loader_options options = loader_options();
        assert_int_equal(count_masked(dataset, &options, masked), 0);
        options.on_corrupt = LEAT_CORRUPT_MASK;
        assert_int_equal(count_masked(dataset, &options, masked), 0);
        leat_dataset_close(dataset);
        loader_flip(dirs[d], name, facts.size_bytes - 20, 1);
    }
}

/* A damaged row of the index is found when the loader is made, before anything is drawn. */
static void damaged_index(void **state) {
    (void)state;
    leat_dataset *dataset = NULL;
    leat_loader_options options = loader_options();
    leat_loader *loader = NULL;
    leat_error err = {0};
    const char *path = plain;
    options.on_corrupt = LEAT_CORRUPT_MASK;
    loader_flip(plain, LEAT_INDEX_NAME, 100, 0);
    leat_code code = leat_dataset_open(&dataset, &path, 1, NULL, &err);
    if (code == LEAT_OK) code = leat_loader_create(&loader, dataset, &options, &err);
    assert_int_equal(code, LEAT_ERR_CORRUPT);
    assert_non_null(strstr(err.message, LEAT_INDEX_NAME));
    leat_dataset_close(dataset);
    loader_flip(plain, LEAT_INDEX_NAME, 100, 0);
}

/* A shard that is not there is no damage: masking it would hide a mistake. */
static void missing_shard(void **state) {
    (void)state;
    char path[400], away[400];
    leat_loader_options options = loader_options();
    leat_error err = {0};
    const leat_batch *batch = NULL;
    snprintf(path, sizeof path, "%s/train/train_shard_00001.arrayrecord", plain);
    snprintf(away, sizeof away, "%s/away", plain);
    assert_int_equal(rename(path, away), 0);
    options.on_corrupt = LEAT_CORRUPT_MASK;
    leat_dataset *dataset = loader_open(plain);
    leat_loader *loader = loader_create(dataset, &options);
    leat_code code = LEAT_OK;
    for (int s = 0; s < STEPS && code == LEAT_OK; s++) {
        code = leat_loader_next(loader, &batch, &err);
        leat_batch_release(batch);
    }
    assert_int_equal(code, LEAT_ERR_NOT_FOUND);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
    assert_int_equal(rename(away, path), 0);
}

static int64_t count_less(int64_t row) { return loader_count(row) / 2 + 1; }

/* Nor is another data set in the place of the one that was opened: all of it would be masked. */
static void replaced(void **state) {
    (void)state;
    char dir[256], other[256];
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    leat_loader_options options = loader_options();
    leat_error err = {0};
    const leat_batch *batch = NULL;
    loader_make("open", &data, dir);
    data.count_of = count_less;
    loader_make("other", &data, other);
    options.on_corrupt = LEAT_CORRUPT_MASK;
    leat_dataset *dataset = loader_open(dir);
    must(leat_path_remove_tree(dir, &err), &err);
    assert_int_equal(rename(other, dir), 0);
    leat_loader *loader = loader_create(dataset, &options);
    assert_int_equal(leat_loader_next(loader, &batch, &err), LEAT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "was replaced after it was opened"));
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

/* A sample of the bits; test_loader_damage_slow and its packed sister take all. */
static void some_bits(void **state) {
    (void)state;
    damage_bits(LEAT_COMPRESSION_NONE, "tiny_plain", 397);
    damage_bits(LEAT_COMPRESSION_ZSTD, "tiny_packed", 397);
}

static int setup(void **state) {
    (void)state;
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    leat_loader_options options = loader_options();
    loader_make("plain", &data, plain);
    data.record.compression = LEAT_COMPRESSION_ZSTD;
    loader_make("packed", &data, packed);
    leat_dataset *dataset = loader_open(plain);
    clean = run_make(dataset, &options, 0, STEPS);
    leat_dataset_close(dataset);
    return 0;
}

static int teardown(void **state) {
    run_free(&clean);
    return loader_teardown(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_page),       cmocka_unit_test(one_chunk),
        cmocka_unit_test(small_row),      cmocka_unit_test(cut_shard),
        cmocka_unit_test(damaged_footer), cmocka_unit_test(damaged_index),
        cmocka_unit_test(missing_shard),  cmocka_unit_test(replaced),
    };
    const struct CMUnitTest global[] = {cmocka_unit_test(some_bits)}; /* with the sampler "all" */
    int failed = cmocka_run_group_tests_name("global only", global, setup, teardown);
    failed += cmocka_run_group_tests_name("global", tests, setup, teardown);
    loader_window_bytes = INT64_C(1) << 20;
    return failed + cmocka_run_group_tests_name("windowed", tests, setup, teardown);
}
