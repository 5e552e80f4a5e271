/*
 * A replicate is how often each window counts: the windows are sorted once, and each metric is
 * computed from the same code as that of the windows themselves.
 */
#include "train/eval/bootstrap.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"

/* "eval": other uses of the same seed draw other numbers. */
static const uint64_t stream = UINT64_C(0x6576616c);

leat_bootstrap_options leat_bootstrap_options_default(void) {
    return (leat_bootstrap_options){.replicates = 1000, .block_windows = 20};
}

static leat_code check_options(const leat_bootstrap_options *options, leat_error *err) {
    if (options->replicates < 0 || options->replicates > LEAT_BOOTSTRAP_REPLICATES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "replicates: %lld; it must be from 0 to %d",
                         (long long)options->replicates, LEAT_BOOTSTRAP_REPLICATES_MAX);
    if (options->block_windows < 1 || options->block_windows > LEAT_EVAL_WINDOWS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "block of %lld windows; it must be from 1 to %lld",
                         (long long)options->block_windows, (long long)LEAT_EVAL_WINDOWS_MAX);
    return LEAT_OK;
}

/* block_of[i]: the block of window i; returns how many there are. */
static int64_t cut(const leat_eval_windows *windows, int64_t block_windows, int32_t *block_of,
                   int64_t *longest) {
    int64_t blocks = 0, size = 0;
    *longest = 0;
    for (int64_t i = 0; i < windows->count; i++) {
        const bool begins =
            i == 0 || size == block_windows || windows->capture[i] != windows->capture[i - 1];
        if (begins) {
            blocks++;
            size = 0;
        }
        size++;
        if (size > *longest) *longest = size;
        block_of[i] = (int32_t)(blocks - 1);
    }
    return blocks;
}

typedef struct resampling {
    int32_t *block_of, *drawn, *times; /* [windows], [blocks], [windows] */
    double *values;                    /* [metrics, replicates] */
    int64_t used[LEAT_EVAL_METRIC_COUNT];
    int64_t blocks;
} resampling;

int64_t leat_bootstrap_bytes(int64_t windows, const leat_bootstrap_options *options) {
    int64_t of_windows = 0, of_values = 0, all = 0;
    if (!leat_mul_size(windows, 3 * (int64_t)sizeof(int32_t), &of_windows) ||
        !leat_mul_size(options->replicates,
                       (int64_t)LEAT_EVAL_METRIC_COUNT * (int64_t)sizeof(double), &of_values) ||
        !leat_add_size(of_windows, of_values, &all))
        return INT64_MAX;
    return all;
}

static void draw(resampling *work, const leat_eval_windows *windows, uint64_t seed,
                 int64_t replicate) {
    memset(work->drawn, 0, (size_t)work->blocks * sizeof *work->drawn);
    const uint64_t first = (uint64_t)replicate * (uint64_t)work->blocks;
    for (int64_t d = 0; d < work->blocks; d++) {
        const uint64_t bits = leat_random(seed, stream, first + (uint64_t)d);
        work->drawn[leat_random_below(bits, (uint64_t)work->blocks)]++;
    }
    for (int64_t i = 0; i < windows->count; i++) work->times[i] = work->drawn[work->block_of[i]];
}

/* 2.5 % of the values are below, and as many above. */
static leat_eval_interval interval_of(double *values, int64_t count) {
    leat_sort_doubles(values, count);
    const int64_t outside = count / 40;
    return (leat_eval_interval){.low = values[outside], .high = values[count - 1 - outside]};
}

static void replicate(resampling *work, const leat_eval_windows *windows,
                      const leat_eval_ranking *ranking, double threshold,
                      const leat_bootstrap_options *options) {
    for (int64_t r = 0; r < options->replicates; r++) {
        draw(work, windows, options->seed, r);
        leat_eval_number metrics[LEAT_EVAL_METRIC_COUNT];
        leat_eval_measure(windows, ranking, work->times, threshold, metrics);
        for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++) {
            if (metrics[m].undefined == LEAT_EVAL_DEFINED)
                work->values[m * options->replicates + work->used[m]++] = metrics[m].value;
        }
    }
}

static leat_code resample(resampling *work, const leat_eval_windows *windows,
                          const leat_eval_ranking *ranking, double threshold,
                          const leat_bootstrap_options *options, leat_error *err) {
    int64_t longest = 0;
    LEAT_TRY(LEAT_NEW(&work->block_of, windows->count, err));
    LEAT_TRY(LEAT_NEW(&work->times, windows->count, err));
    work->blocks = cut(windows, options->block_windows, work->block_of, &longest);
    if (work->blocks < LEAT_BOOTSTRAP_BLOCKS_MIN) return LEAT_OK;
    if (work->blocks > LEAT_EVAL_WINDOWS_MAX / longest)
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "%lld blocks of up to %lld windows: a replicate could have more than %lld "
                         "windows; use shorter blocks",
                         (long long)work->blocks, (long long)longest,
                         (long long)LEAT_EVAL_WINDOWS_MAX);
    LEAT_TRY(LEAT_NEW(&work->drawn, work->blocks, err));
    LEAT_TRY(LEAT_NEW(&work->values, options->replicates * LEAT_EVAL_METRIC_COUNT, err));
    replicate(work, windows, ranking, threshold, options);
    return LEAT_OK;
}

leat_code leat_bootstrap(const leat_eval_windows *windows, const leat_eval_ranking *ranking,
                         double threshold, const leat_bootstrap_options *options,
                         leat_eval_interval out[LEAT_EVAL_METRIC_COUNT], leat_error *err) {
    leat_eval_number metrics[LEAT_EVAL_METRIC_COUNT];
    leat_eval_measure(windows, ranking, NULL, threshold, metrics);
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++) {
        const leat_eval_reason reason = metrics[m].undefined;
        out[m] = (leat_eval_interval){(double)NAN, (double)NAN,
                                      reason == LEAT_EVAL_DEFINED ? LEAT_EVAL_FEW_BLOCKS : reason};
    }
    LEAT_TRY(check_options(options, err));
    if (windows->count == 0 || options->replicates == 0) return LEAT_OK;
    resampling work = {0};
    leat_code code = resample(&work, windows, ranking, threshold, options, err);
    for (int m = 0; code == LEAT_OK && m < LEAT_EVAL_METRIC_COUNT; m++) {
        if (metrics[m].undefined == LEAT_EVAL_DEFINED && 2 * work.used[m] > options->replicates)
            out[m] = interval_of(work.values + m * options->replicates, work.used[m]);
    }
    leat_free(work.block_of);
    leat_free(work.drawn);
    leat_free(work.times);
    leat_free(work.values);
    return code;
}
