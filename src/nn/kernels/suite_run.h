/*
 * How a suite of cases runs: inputs that are the same everywhere, results that are compared with a
 * reference and hashed. For the files of this folder that hold a suite; each has a table of cases.
 */
#ifndef LEAT_NN_KERNELS_SUITE_RUN_H
#define LEAT_NN_KERNELS_SUITE_RUN_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"

/* A suite need not use all of them. */
#define LEAT_SUITE __attribute__((unused)) static

typedef struct suite_run {
    const leat_kernels *kernels;
    uint64_t hash;  /* FNV-1a over words of 32 bits */
    uint64_t state; /* of the inputs' generator */
    char *message;  /* of the first difference */
    size_t size;
    bool different;
} suite_run;

LEAT_SUITE uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? UINT32_C(0x7fc00000) : bits;
}

LEAT_SUITE float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* splitmix64, as base/rng.h */
#define DRAWS_APART UINT64_C(0x9e3779b97f4a7c15)
LEAT_SUITE uint64_t next_bits(suite_run *run) {
    uint64_t x = run->state += DRAWS_APART;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* In [-1, 1). */
LEAT_SUITE void fill(suite_run *run, int64_t count, float *out) {
    for (int64_t i = 0; i < count; i++) out[i] = (float)(next_bits(run) >> 40) * 0x1p-23f - 1.0f;
}

/* In (-1, 1), 24 bits with many exponents, so that sums and products must be rounded. */
LEAT_SUITE void fill_rough(suite_run *run, int64_t count, float *out) {
    fill(run, count, out);
    for (int64_t i = 0; i < count; i++) out[i] *= (float)(next_bits(run) >> 40 | 1) * 0x1p-24f;
}

static const float edges[] = {0.0f,       -0.0f,           INFINITY,  -INFINITY, NAN,     0x1p-149f,
                              -0x1p-140f, 0x1.fffffep127f, -0x1p127f, 0x1p-75f,  0x1p64f, 1.0f};
enum { EDGES = sizeof edges / sizeof *edges };

/* Every seventh is an edge, so that most sums are still numbers. */
LEAT_SUITE void fill_edges(suite_run *run, int64_t count, float *out) {
    fill_rough(run, count, out);
    for (int64_t i = (int64_t)(next_bits(run) % 7); i < count; i += 7)
        out[i] = edges[next_bits(run) % EDGES];
}

/* `name` and `sizes` are for the message. */
LEAT_SUITE void compare(suite_run *run, const char *name, const char *sizes, int64_t count,
                        const float *got, const float *expected) {
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = bits_of(got[i]);
        run->hash = (run->hash ^ bits) * UINT64_C(0x100000001b3);
        if (bits == bits_of(expected[i]) || run->different) continue;
        run->different = true;
        snprintf(run->message, run->size,
                 "%s, %s: %s: result %" PRId64 " is %a (%08" PRIx32 "), not %a (%08" PRIx32 ")",
                 run->kernels->name, name, sizes, i, (double)got[i], bits, (double)expected[i],
                 bits_of(expected[i]));
    }
}

/* A function of one number, by the specification. */
LEAT_SUITE float map_one(leat_function what, float x) {
    leat_kernels_scalar.map(what, 1, &x, &x);
    return x;
}

/* Lanes added, and the inner product, as kernels.h has them. */
LEAT_SUITE float tree_of(float lanes[LEAT_LANES]) {
    for (int half = LEAT_LANES / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0] + 0.0f;
}

LEAT_SUITE float lanes_dot(int64_t columns, const float *a, const float *b) {
    float lanes[LEAT_LANES] = {0};
    for (int64_t c = 0; c < columns; c++)
        lanes[c % LEAT_LANES] = fmaf(a[c], b[c], lanes[c % LEAT_LANES]);
    return tree_of(lanes);
}

/* A case computes something with the kernels of the run, and gives results and reference to
 * `compare`. */
typedef void suite_case(suite_run *run);

/* What the files of suites share of "rows" and "segments": inputs, in turn. */
typedef void fill_function(suite_run *run, int64_t count, float *out);
__attribute__((unused)) static fill_function *const fills[] = {fill_rough, fill_edges};
enum { FILLS = sizeof fills / sizeof *fills };

LEAT_SUITE void suite_cases(suite_case *const *cases, size_t count, suite_run *run) {
    run->hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) {
        run->state = i; /* each case has its own inputs */
        cases[i](run);
    }
}

LEAT_SUITE bool suite_check(suite_case *const *cases, size_t count, const leat_kernels *kernels,
                            uint64_t *hash, char *message, size_t size) {
    suite_run run = {.kernels = kernels, .message = message, .size = size};
    if (size > 0) message[0] = '\0';
    suite_cases(cases, count, &run);
    *hash = run.hash;
    return !run.different;
}

#endif
