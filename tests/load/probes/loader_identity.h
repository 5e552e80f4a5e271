/*
 * The same bytes whatever makes them: threads, hosts, prefetch, input/output. One program for plain
 * shards and one for compressed ones, because all of it takes minutes with TSan on a busy machine.
 */
#ifndef TESTS_LOAD_PROBES_LOADER_IDENTITY_H
#define TESTS_LOAD_PROBES_LOADER_IDENTITY_H

#include "loader_support.h"

enum { IDENTITY_STEPS = 3, IDENTITY_BATCH = 120 };

static void expect_hosts(const leat_dataset *dataset, leat_loader_options options,
                         const run *reference, int hosts) {
    for (int h = 0; h < hosts; h++) {
        options.host_index = h;
        options.host_count = hosts;
        leat_loader *loader = loader_create(dataset, &options);
        for (int s = 0; s < IDENTITY_STEPS; s++) {
            const leat_batch *batch = loader_next(loader);
            assert_int_equal(batch->row_count, IDENTITY_BATCH / hosts);
            assert_int_equal(batch->rows[0], h * IDENTITY_BATCH / hosts);
            assert_int_equal(batch->step, s);
            run_expect(reference, batch);
            leat_batch_release(batch);
        }
        leat_loader_destroy(loader);
    }
}

/* Compares the batches of `dataset`, however they are made, with the simplest loader's of
 * `simple`, which holds the same rows; every stride-th of the ways to make them. */
static void expect_identity(const leat_dataset *simple, const leat_dataset *dataset, int stride) {
    static const int threads[] = {1, 2, 3, 16}, hosts[] = {1, 2, 3, 4, 5, 8}, depths[] = {0, 1, 8};
    leat_loader_options options = loader_options();
    options.batch = IDENTITY_BATCH;
    run reference = run_make(simple, &options, 0, IDENTITY_STEPS);
    for (int c = 0; c < 2 * 4 * 3; c += stride) {
        options.io = c % 2 == 0 ? LEAT_IO_MMAP : LEAT_IO_PREAD;
        options.threads = threads[c / 2 % 4];
        options.prefetch = depths[c / 8];
        for (int h = 0; h < 6; h++) expect_hosts(dataset, options, &reference, hosts[h]);
    }
    run_free(&reference);
}

/* The same rows in plain shards and in compressed ones. */
static inline void identity_open(leat_dataset *datasets[2]) {
    static const leat_compression compressions[2] = {LEAT_COMPRESSION_NONE, LEAT_COMPRESSION_ZSTD};
    for (int i = 0; i < 2; i++) {
        char dir[256];
        make_options data = loader_data_options(compressions[i]);
        loader_make(i == 0 ? "plain" : "packed", &data, dir);
        datasets[i] = loader_open(dir);
    }
}

static inline void identity_close(leat_dataset *datasets[2]) {
    for (int i = 0; i < 2; i++) leat_dataset_close(datasets[i]);
}

#endif
