/*
 * What the programs that measure steps of models share: the best of several, in seconds of the
 * clock and of the processor, and the peak of one thread. Seconds of the processor are of all
 * threads together, so that other processes disturb them little.
 */
#ifndef LEAT_BENCH_STEP_H
#define LEAT_BENCH_STEP_H

#include "bench.h"
#include "nn/ops/op.h"

typedef struct bench_best {
    double wall, processor;
} bench_best;

static inline double bench_processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void bench_keep_best(bench_best *best, double wall, double processor) {
    if (best->wall == 0 || wall < best->wall) best->wall = wall;
    if (best->processor == 0 || processor < best->processor) best->processor = processor;
}

/* In GFLOP/s of one thread, measured between registers. */
static inline double bench_peak(const char *variant) {
    enum { ROUNDS = 100000, CALLS = 50 };
    const leat_kernels *kernels = NULL;
    bench_best best = {0};
    volatile float sink = 0;
    leat_error err = {0};
    bench_must(leat_kernels_named(variant, &kernels, &err), &err);
    for (int i = 0; i < CALLS; i++) {
        const double worked = bench_processor_seconds();
        sink = sink + kernels->peak(ROUNDS);
        bench_keep_best(&best, 1, bench_processor_seconds() - worked);
    }
    return 2e-9 * ROUNDS * kernels->tile_rows * kernels->tile_columns / best.processor;
}

#endif
