/* Helps the tests of nn: numbers, the golden files, layouts, and a loop over kernels and threads.
 */
#ifndef TESTS_NN_SUPPORT_H
#define TESTS_NN_SUPPORT_H

#include "check.h"
#include "format/safetensors/safetensors.h"
#include "golden_files.h"
#include "nn/ops/op.h"

/* count floats of about normal size, the same for a seed; freed by nn_free_all. */
float *nn_numbers(uint64_t seed, int64_t count);
/* count zeroed floats, aligned to 64 bytes (not with ASan); freed by nn_free_all. */
float *nn_zeros(int64_t count);
void nn_free_all(void);

/* The kernels that run here, one after the other, each with 1, 2, 3 and 8 threads if every_count (a
 * sanitizer's build: 1 and 3), else with one: for (int i = 0; nn_variant(i, true, &device); i++).
 * Variants that this processor does not run are told once. */
bool nn_variant(int index, bool every_count, leat_device *out);

/* [image][channel][y][x] <-> [y][x][channel][lane]; pixels = height * width. Unused lanes get NaN,
 * which must show nowhere. */
float *nn_to_lanes(const float *in, int images, int channels, int pixels);
float *nn_from_lanes(const float *in, int images, int channels, int pixels);

/* Fails unless both are the same bits; every NaN is equal. */
#define nn_assert_same(a, b, count) nn_assert_same_at(a, b, count, __FILE__, __LINE__)
void nn_assert_same_at(const float *a, const float *b, int64_t count, const char *file, int line);

/* A golden file below golden/nn, and its tensors as floats. */
typedef struct nn_golden nn_golden;
nn_golden *nn_golden_open(const char *name);
nn_golden *nn_golden_open_path(const char *path); /* one of golden_path or golden_left_out */
void nn_golden_close(nn_golden *golden);
/* A tensor of any float or integer type, as floats or doubles; *count its size. */
float *nn_golden_floats(nn_golden *golden, const char *name, int64_t *count);
double *nn_golden_doubles(nn_golden *golden, const char *name, int64_t *count);
/* The number of values of which the file has each everyth, in C order: 1, and so all of them,
 * unless the tensor is cut (tests/golden/reference). It has as many as that leaves. */
int64_t nn_golden_every(nn_golden *golden, const char *name, int64_t *whole);

/* Fails unless max |a - want| <= share * max |want|; NaN must be where NaN is wanted. */
#define nn_assert_close(a, want, count, share)                                                     \
    nn_assert_close_at(a, want, count, share, "values", __FILE__, __LINE__)
void nn_assert_close_at(const float *a, const double *want, int64_t count, double share,
                        const char *name, const char *file, int line);
/* The same for a tensor of a golden file; a holds all values of it, even if it is cut. */
#define nn_assert_golden(a, golden, name, share)                                                   \
    nn_assert_golden_at(a, golden, name, share, __FILE__, __LINE__)
void nn_assert_golden_at(const float *a, nn_golden *golden, const char *name, double share,
                         const char *file, int line);

#endif
