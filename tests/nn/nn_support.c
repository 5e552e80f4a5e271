/* See nn_support.h. */
#include "nn_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"

/* From the C library, so that a sanitizer sees what lies behind the end. */
static void *blocks[4096];
static int block_count;

float *nn_zeros(int64_t count) {
    assert_true(block_count < (int)(sizeof blocks / sizeof *blocks));
    const size_t size = sizeof(float) * (size_t)count;
    void *block = aligned_alloc(64, (size + 63) / 64 * 64);
#if defined(__SANITIZE_ADDRESS__)
    free(block);
    block = malloc(size); /* exactly, at the price of the alignment */
#endif
    if (size > 0) assert_non_null(block);
    if (size > 0) memset(block, 0, size);
    blocks[block_count++] = block;
    return block;
}

void nn_free_all(void) {
    while (block_count > 0) free(blocks[--block_count]);
}

float *nn_numbers(uint64_t seed, int64_t count) {
    float *out = nn_zeros(count);
    for (int64_t i = 0; i < count; i++) {
        double sum = -2;
        for (int j = 0; j < 4; j++)
            sum += leat_random_unit(leat_random(seed, 7, (uint64_t)(4 * i + j)));
        out[i] = (float)sum;
    }
    return out;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const int threads[] = {1, 3}; /* sanitizers are slow, and look for other things */
#else
static const int threads[] = {1, 2, 3, 8};
#endif
enum { COUNTS = sizeof threads / sizeof *threads };

bool nn_variant(int index, bool every_count, leat_device *out) {
    if (!every_count) index *= COUNTS;
    static leat_pool *pool;
    static bool told;
    leat_pool_destroy(pool);
    pool = NULL;
    const leat_kernels *kernels;
    for (int i = 0; (kernels = leat_kernels_at(i)) != NULL; i++) {
        if (!leat_kernels_supported(kernels)) {
            if (!told)
                printf("# kernels %s: built, but not supported by this processor\n", kernels->name);
            told = true;
            continue;
        }
        if (index >= COUNTS) {
            index -= COUNTS;
            continue;
        }
        if (index > 0) assert_ok(leat_pool_create(&pool, threads[index], err));
        *out = (leat_device){kernels, pool};
        return true;
    }
    return false;
}

float *nn_to_lanes(const float *in, int images, int channels, int pixels) {
    const int64_t lanes = leat_lanes(images);
    float *out = nn_zeros(lanes * channels * pixels);
    for (int64_t i = 0; i < lanes * channels * pixels; i++) {
        const int64_t n = i % lanes, c = i / lanes % channels, p = i / lanes / channels;
        out[i] = n < images ? in[(n * channels + c) * pixels + p] : NAN;
    }
    return out;
}

float *nn_from_lanes(const float *in, int images, int channels, int pixels) {
    const int64_t lanes = leat_lanes(images);
    float *out = nn_zeros((int64_t)images * channels * pixels);
    for (int64_t i = 0; i < (int64_t)images * channels * pixels; i++) {
        const int64_t p = i % pixels, c = i / pixels % channels, n = i / pixels / channels;
        out[i] = in[(p * channels + c) * lanes + n];
    }
    return out;
}

void nn_assert_same_at(const float *a, const float *b, int64_t count, const char *file, int line) {
    for (int64_t i = 0; i < count; i++) {
        if (memcmp(&a[i], &b[i], sizeof *a) == 0 || (isnan(a[i]) && isnan(b[i]))) continue;
        print_error("value %lld of %lld: %a and %a\n", (long long)i, (long long)count, a[i], b[i]);
        _fail(file, line);
    }
}

void nn_assert_close_at(const float *a, const double *want, int64_t count, double share,
                        const char *name, const char *file, int line) {
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(want[i]) && fabs(want[i]) > largest) largest = fabs(want[i]);
        if ((double)a[i] == want[i] || (isnan(a[i]) && isnan(want[i]))) continue;
        double off = fabs((double)a[i] - want[i]);
        worst = isnan(off) ? INFINITY : fmax(worst, off);
    }
    if (worst <= share * largest) return;
    print_error("%s: off by %g of %g, more than the share %g\n", name, worst, largest, share);
    _fail(file, line);
}

/* ---- Golden files ------------------------------------------------------------------------- */

struct nn_golden {
    leat_safetensors *tensors;
    FILE *file;
};

nn_golden *nn_golden_open(const char *name) {
    char full[256];
    snprintf(full, sizeof full, "golden/nn/%s", name);
    return nn_golden_open_path(golden_path(full));
}

nn_golden *nn_golden_open_path(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    nn_golden *golden = calloc(1, sizeof *golden);
    golden->file = file;
    assert_ok(leat_safetensors_read(&golden->tensors, path, err));
    return golden;
}

void nn_golden_close(nn_golden *golden) {
    if (golden == NULL) return;
    leat_safetensors_destroy(golden->tensors);
    fclose(golden->file);
    free(golden);
}

static const leat_tensor *find(nn_golden *golden, const char *name) {
    for (int64_t i = 0; i < leat_safetensors_count(golden->tensors); i++) {
        const leat_tensor *tensor = leat_safetensors_at(golden->tensors, i);
        if (strcmp(tensor->name, name) == 0) return tensor;
    }
    return NULL;
}

int64_t nn_golden_every(nn_golden *golden, const char *name, int64_t *whole) {
    const leat_tensor *tensor = find(golden, name);
    if (tensor == NULL) fail_msg("no tensor \"%s\"", name);
    const int64_t found = tensor->size_bytes / leat_dtype_bytes(tensor->dtype);
    const char *cut = leat_safetensors_metadata(golden->tensors, name);
    int every = 1;
    long long all = found;
    if (cut != NULL) {
        assert_false(golden_whole());
        assert_int_equal(sscanf(cut, "every %dth value of %lld", &every, &all), 2);
    }
    assert_true(every > 0 && found > 0 && found == (all + every - 1) / every);
    *whole = all;
    return every;
}

double *nn_golden_doubles(nn_golden *golden, const char *name, int64_t *count) {
    const leat_tensor *tensor = find(golden, name);
    if (tensor == NULL) fail_msg("no tensor \"%s\"", name);
    const int64_t size = leat_dtype_bytes(tensor->dtype), found = tensor->size_bytes / size;
    uint8_t *bytes = (uint8_t *)nn_zeros(tensor->size_bytes / 4 + 1);
    double *out = (double *)nn_zeros(2 * found + 2);
    assert_int_equal(fseek(golden->file, (long)tensor->offset, SEEK_SET), 0);
    assert_int_equal(fread(bytes, 1, (size_t)tensor->size_bytes, golden->file), tensor->size_bytes);
    for (int64_t i = 0; i < found; i++) {
        const void *at = bytes + i * size;
        switch (tensor->dtype) {
        case LEAT_DTYPE_F32: out[i] = *(const float *)at; break;
        case LEAT_DTYPE_F64: out[i] = *(const double *)at; break;
        case LEAT_DTYPE_I32: out[i] = *(const int32_t *)at; break;
        case LEAT_DTYPE_I64: out[i] = (double)*(const int64_t *)at; break;
        case LEAT_DTYPE_U8: out[i] = *(const uint8_t *)at; break;
        default: fail_msg("\"%s\" is %s", name, leat_dtype_name(tensor->dtype));
        }
    }
    *count = found;
    return out;
}

float *nn_golden_floats(nn_golden *golden, const char *name, int64_t *count) {
    const double *values = nn_golden_doubles(golden, name, count);
    float *out = nn_zeros(*count);
    for (int64_t i = 0; i < *count; i++) out[i] = (float)values[i];
    return out;
}

void nn_assert_golden_at(const float *a, nn_golden *golden, const char *name, double share,
                         const char *file, int line) {
    int64_t count, whole;
    const double *want = nn_golden_doubles(golden, name, &count);
    const int64_t every = nn_golden_every(golden, name, &whole);
    float *part = nn_zeros(count);
    for (int64_t i = 0; i < count; i++) part[i] = a[i * every];
    nn_assert_close_at(part, want, count, share, name, file, line);
}
