/* What the tests of the loader share: data sets with rows of all sizes, loaders, comparing. */
#ifndef TESTS_LOAD_LOADER_SUPPORT_H
#define TESTS_LOAD_LOADER_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "leat/load.h"
#include "load/ring.h"
#include "make_dataset.h"

void must(leat_code code, const leat_error *err);

/* A folder of its own for a test program; removed by loader_teardown. */
const char *loader_folder(void);
int loader_teardown(void **state);

/* 48 rows of train and 16 of test, 1 to 6,000 measurements each. */
int64_t loader_count(int64_t row);
make_options loader_data_options(leat_compression compression);
/* Makes it in a folder of this name, and gives the folder's path. */
void loader_make(const char *name, const make_options *options, char dir[256]);
leat_dataset *loader_open(const char *path);

/* Turns one bit of a file of a folder. */
void loader_flip(const char *dir, const char *name, int64_t byte, int bit);

/* Small sequences, batch 12, 2 threads; in the windowed order where loader_window_bytes is set. */
extern int64_t loader_window_bytes;
leat_loader_options loader_options(void);
/* Batches of 6 MiB, in 40 MiB. */
leat_loader_options loader_large_options(int threads);
leat_loader *loader_create(const leat_dataset *dataset, const leat_loader_options *options);
const leat_batch *loader_next(leat_loader *loader);
/* Waits until all steps that may be made are, and the ring's threads sleep. */
void ring_rests(leat_ring *ring);

/* The six arrays of `steps` whole batches from `first`, by row, as the simplest loader makes them.
 */
typedef struct run {
    int64_t first, steps, batch, length;
    int32_t *values; /* [steps][batch][6][length] */
} run;
run run_make(const leat_dataset *dataset, const leat_loader_options *options, int64_t first,
             int64_t steps);
void run_free(run *reference);
const int32_t *run_row(const run *reference, int64_t step, int64_t row);
/* Row `index` of a batch, packed as a run has it, into room for 6 x length. */
void pack_row(const leat_batch *batch, int64_t index, int32_t *values);
/* Fails the test unless each row of the batch is the run's. */
void run_expect(const run *reference, const leat_batch *batch);
/* Fails the test unless a data set gives the same batches with these options without leat's own
 * index: split by name, facts from the records. The data set has no index afterwards. */
leat_dataset *expect_without_index(const char *name, leat_loader_options options);

#endif
