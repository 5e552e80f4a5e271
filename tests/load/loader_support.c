/* What the tests of the loader share: see loader_support.h. */
#include "loader_support.h"

#include <unistd.h>

static char top[] = "/tmp/leat_loader_XXXXXX";

void must(leat_code code, const leat_error *err) {
    if (code != LEAT_OK) fail_msg("code %d: %s", code, err->message);
}

const char *loader_folder(void) {
    if (strstr(top, "XXXXXX") != NULL && mkdtemp(top) == NULL) fail_msg("no folder");
    return top;
}

int loader_teardown(void **state) {
    (void)state;
    leat_code code = leat_path_remove_tree(top, NULL);
    memcpy(strrchr(top, '_') + 1, "XXXXXX", 6); /* another group of tests gets another folder */
    return code == LEAT_OK ? 0 : 1;
}

int64_t loader_count(int64_t row) {
    if (row == 5) return 6000; /* so large that rows behind it lie past page 64 of their shard */
    if (row == 50) return 2500;
    if (row % 9 == 4) return 100 + row;
    return 1 + row * row * 31 % 47;
}

make_options loader_data_options(leat_compression compression) {
    make_options options = make_options_default();
    options.record.compression = compression;
    options.rows_per_shard = 16;
    options.count_of = loader_count;
    return options;
}

void loader_make(const char *name, const make_options *options, char dir[256]) {
    leat_error err = {0};
    snprintf(dir, 256, "%s/%s", loader_folder(), name);
    must(leat_path_make_dir(dir, &err), &err);
    must(make_dataset(dir, options, &err), &err);
}

leat_dataset *loader_open(const char *path) {
    leat_error err = {0};
    leat_dataset *dataset = NULL;
    must(leat_dataset_open(&dataset, &path, 1, NULL, &err), &err);
    return dataset;
}

void loader_flip(const char *dir, const char *name, int64_t byte, int bit) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    make_flip(path, byte, bit);
}

int64_t loader_window_bytes;

leat_loader_options loader_options(void) {
    leat_loader_options options = leat_loader_options_default();
    options.sample.length = 256;
    options.sample.seed = 11;
    options.batch = 12;
    options.threads = 2;
    options.window_bytes = loader_window_bytes;
    return options;
}

leat_loader_options loader_large_options(int threads) {
    leat_loader_options options = loader_options();
    options.sample.length = 4096;
    options.batch = 64;
    options.threads = threads;
    options.memory_bytes = 40 << 20;
    return options;
}

leat_loader *loader_create(const leat_dataset *dataset, const leat_loader_options *options) {
    leat_error err = {0};
    leat_loader *loader = NULL;
    must(leat_loader_create(&loader, dataset, options, &err), &err);
    return loader;
}

const leat_batch *loader_next(leat_loader *loader) {
    leat_error err = {0};
    const leat_batch *batch = NULL;
    must(leat_loader_next(loader, &batch, &err), &err);
    return batch;
}

void ring_rests(leat_ring *ring) {
    for (int i = 0; atomic_load(&ring->work_sleepers) < ring->worker_count; i++) {
        if (i == 120000) fail_msg("the threads of the ring do not rest");
        usleep(1000);
    }
}

void pack_row(const leat_batch *batch, int64_t index, int32_t *values) {
    const int32_t *arrays[6] = {batch->inputs,
                                batch->targets,
                                batch->inputs_position,
                                batch->targets_position,
                                batch->inputs_segmentation,
                                batch->targets_segmentation};
    for (int i = 0; i < 6; i++) {
        memcpy(values + i * batch->length, arrays[i] + index * batch->length,
               (size_t)batch->length * sizeof *values);
    }
}

run run_make(const leat_dataset *dataset, const leat_loader_options *options, int64_t first,
             int64_t steps) {
    leat_loader_options plain = *options;
    run made = {first, steps, options->batch, options->sample.length, NULL};
    plain.threads = 1;
    plain.prefetch = 0;
    plain.rows = NULL;
    plain.host_index = 0;
    plain.host_count = 1;
    leat_loader *loader = loader_create(dataset, &plain);
    must(leat_loader_seek(loader, first, NULL), NULL);
    made.values = calloc((size_t)(steps * made.batch * 6 * made.length), sizeof *made.values);
    for (int64_t s = 0; s < steps; s++) {
        const leat_batch *batch = loader_next(loader);
        assert_non_null(batch);
        assert_int_equal(batch->step, first + s);
        assert_int_equal(batch->row_count, made.batch);
        for (int64_t i = 0; i < made.batch; i++) {
            assert_int_equal(batch->rows[i], i);
            pack_row(batch, i, (int32_t *)(uintptr_t)run_row(&made, first + s, i));
        }
        leat_batch_release(batch);
    }
    leat_loader_destroy(loader);
    return made;
}

void run_free(run *reference) { free(reference->values); }

const int32_t *run_row(const run *reference, int64_t step, int64_t row) {
    int64_t number = (step - reference->first) * reference->batch + row;
    return reference->values + number * 6 * reference->length;
}

void run_expect(const run *reference, const leat_batch *batch) {
    int32_t values[6 * 4096];
    assert_non_null(batch);
    assert_true(batch->length == reference->length && batch->length <= 4096);
    assert_in_range(batch->step, reference->first, reference->first + reference->steps - 1);
    for (int64_t i = 0; i < batch->row_count; i++) {
        pack_row(batch, i, values);
        if (memcmp(values, run_row(reference, batch->step, batch->rows[i]),
                   (size_t)(6 * batch->length) * sizeof *values) != 0) {
            fail_msg("step %d row %d is another one", (int)batch->step, (int)batch->rows[i]);
        }
    }
}

leat_dataset *expect_without_index(const char *name, leat_loader_options options) {
    enum { STEPS = 5 };
    char dir[256];
    make_options data = loader_data_options(LEAT_COMPRESSION_ZSTD);
    loader_make(name, &data, dir);
    leat_dataset *dataset = loader_open(dir);
    run reference = run_make(dataset, &options, 0, STEPS);
    leat_dataset_close(dataset);
    must(make_files_of_others(dir, NULL), NULL);
    dataset = loader_open(dir);
    leat_loader *loader = loader_create(dataset, &options);
    for (int s = 0; s < STEPS; s++) {
        const leat_batch *batch = loader_next(loader);
        run_expect(&reference, batch);
        leat_batch_release(batch);
    }
    leat_loader_destroy(loader);
    run_free(&reference);
    return dataset;
}
