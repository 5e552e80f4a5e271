/* A part is a block of columns (sums), a piece of the rows (mixing), or a segment (pooling). */
#include "nn/ops/rows.h"

#include <string.h>

#define PIECE 64 /* rows */

typedef struct rows_job {
    const leat_kernels *kernels;
    const leat_rows *of;
    int steps;
    const float *x, *up, *shares;
    float *out, *scores;
    const int64_t *first;
} rows_job;

static void check(const leat_rows *of) {
    LEAT_ASSERT(of->rows >= 1 && of->columns >= 1 && of->step >= leat_lanes(of->columns));
    LEAT_ASSERT(of->step <= LEAT_OP_VALUES_MAX / of->rows);
}

/* ---- Sums ----------------------------------------------------------------------------------- */

static void sum_block(void *context, int64_t part) {
    const rows_job *job = context;
    const int64_t first = part * LEAT_LANES;
    const size_t bytes = sizeof(float) * (size_t)leat_min(LEAT_LANES, job->of->columns - first);
    float sums[LEAT_LANES] = {0};
    memcpy(sums, job->out + first, bytes);
    job->kernels->row_sums(job->of->rows, job->of->step, job->x + first, sums);
    memcpy(job->out + first, sums, bytes);
}

leat_code leat_rows_sum(const leat_device *device, const leat_rows *of, const float *x, float *sums,
                        leat_error *err) {
    rows_job job = {.kernels = device->kernels, .of = of, .x = x, .out = sums};
    check(of);
    LEAT_ASSERT(leat_apart(x, of->rows * of->step, sums, of->columns));
    return leat_device_run(device, leat_lanes(of->columns) / LEAT_LANES, sum_block, &job, err);
}

/* ---- Layers by their weights ---------------------------------------------------------------- */

static int64_t end_of(const rows_job *job, int64_t part) {
    return leat_min((part + 1) * PIECE, job->of->rows);
}

static void softmax(const rows_job *job, int64_t row) {
    float shares[LEAT_MIX_STEPS_MAX], most, sum = 0;
    const int64_t rows = job->of->rows;
    most = job->scores[row];
    for (int t = 1; t < job->steps; t++)
        most = job->scores[t * rows + row] > most ? job->scores[t * rows + row] : most;
    for (int t = 0; t < job->steps; t++) shares[t] = job->scores[t * rows + row] - most;
    job->kernels->map(LEAT_FUNCTION_EXP, job->steps, shares, shares);
    for (int t = 0; t < job->steps; t++) sum += shares[t];
    for (int t = 0; t < job->steps; t++) job->scores[t * rows + row] = shares[t] / sum;
}

static void mix_piece(void *context, int64_t part) {
    const rows_job *job = context;
    const int64_t rows = job->of->rows, step = job->of->step;
    for (int64_t row = part * PIECE; row < end_of(job, part); row++) {
        float *out = job->out + row * step;
        softmax(job, row);
        memset(out, 0, sizeof *out * (size_t)step);
        for (int t = 0; t < job->steps; t++)
            job->kernels->add_scaled(job->of->columns, job->scores[t * rows + row],
                                     job->x + (t * rows + row) * step, out);
    }
}

static void check_mix(const leat_rows *of, int steps) {
    check(of);
    LEAT_ASSERT(steps >= 1 && steps <= LEAT_MIX_STEPS_MAX);
    LEAT_ASSERT(of->step == leat_lanes(of->columns));
}

leat_code leat_rows_mix(const leat_device *device, const leat_rows *of, int steps, const float *x,
                        float *scores, float *out, leat_error *err) {
    rows_job job = {device->kernels, of, .steps = steps, .x = x, .scores = scores, .out = out};
    const int64_t all = of->rows * of->step;
    check_mix(of, steps);
    LEAT_ASSERT(leat_apart(x, steps * all, out, all) &&
                leat_apart(scores, steps * of->rows, out, all) &&
                leat_apart(scores, steps * of->rows, x, steps * all));
    return leat_device_run(device, (of->rows + PIECE - 1) / PIECE, mix_piece, &job, err);
}

static void mix_back_piece(void *context, int64_t part) {
    const rows_job *job = context;
    const int64_t rows = job->of->rows, step = job->of->step, columns = job->of->columns;
    for (int64_t row = part * PIECE; row < end_of(job, part); row++) {
        const float *up = job->up + row * step;
        float along[LEAT_MIX_STEPS_MAX], share[LEAT_MIX_STEPS_MAX], sum[1] = {0};
        for (int t = 0; t < job->steps; t++) {
            const int64_t at = t * rows + row;
            float *down = job->out + at * step;
            share[t] = job->shares[at];
            along[t] = job->kernels->row_dot(columns, up, job->x + at * step);
            job->kernels->add_scaled(1, share[t], &along[t], sum);
            memset(down, 0, sizeof *down * (size_t)step);
            job->kernels->add_scaled(columns, share[t], up, down);
        }
        for (int t = 0; t < job->steps; t++)
            job->scores[t * rows + row] = share[t] * (along[t] - sum[0]);
    }
}

leat_code leat_rows_mix_backward(const leat_device *device, const leat_rows *of, int steps,
                                 const float *x, const float *shares, const float *up, float *down,
                                 float *scores, leat_error *err) {
    rows_job job = {.kernels = device->kernels,
                    .of = of,
                    .steps = steps,
                    .x = x,
                    .shares = shares,
                    .up = up,
                    .out = down,
                    .scores = scores};
    const int64_t all = of->rows * of->step;
    check_mix(of, steps);
    LEAT_ASSERT(leat_apart(x, steps * all, down, steps * all) &&
                leat_apart(up, all, down, steps * all) &&
                leat_apart(scores, steps * of->rows, down, steps * all) &&
                leat_same_or_apart(shares, scores, steps * of->rows));
    return leat_device_run(device, (of->rows + PIECE - 1) / PIECE, mix_back_piece, &job, err);
}

/* ---- Pooling -------------------------------------------------------------------------------- */

static void pool_segment(void *context, int64_t part) {
    const rows_job *job = context;
    const int64_t step = job->of->step, row = job->first[part];
    const int64_t rows = job->first[part + 1] - row;
    float *out = job->out + part * step;
    LEAT_ASSERT(rows >= 1);
    memset(out, 0, sizeof *out * (size_t)step);
    for (int64_t c = 0; c < step; c += LEAT_LANES)
        job->kernels->row_sums(rows, step, job->x + row * step + c, out + c);
    for (int64_t c = 0; c < step; c++) out[c] /= (float)rows;
}

static void pool_back_segment(void *context, int64_t part) {
    const rows_job *job = context;
    const int64_t step = job->of->step, row = job->first[part];
    const int64_t rows = job->first[part + 1] - row;
    float *down = job->out + row * step;
    LEAT_ASSERT(rows >= 1);
    for (int64_t c = 0; c < step; c++) down[c] = job->up[part * step + c] / (float)rows;
    for (int64_t i = 1; i < rows; i++) memcpy(down + i * step, down, sizeof *down * (size_t)step);
}

static void check_segments(const leat_rows *of, int64_t segments, const int64_t *first,
                           const float *pooled, const float *rows) {
    check(of);
    LEAT_ASSERT(of->step == leat_lanes(of->columns));
    LEAT_ASSERT(segments >= 1 && first[0] == 0 && first[segments] == of->rows);
    LEAT_ASSERT(leat_apart(pooled, segments * of->step, rows, of->rows * of->step));
}

leat_code leat_rows_pool(const leat_device *device, const leat_rows *of, int64_t segments,
                         const int64_t *first, const float *x, float *out, leat_error *err) {
    rows_job job = {.kernels = device->kernels, .of = of, .first = first, .x = x, .out = out};
    check_segments(of, segments, first, out, x);
    return leat_device_run(device, segments, pool_segment, &job, err);
}

leat_code leat_rows_pool_backward(const leat_device *device, const leat_rows *of, int64_t segments,
                                  const int64_t *first, const float *up, float *down,
                                  leat_error *err) {
    rows_job job = {.kernels = device->kernels, .of = of, .first = first, .up = up, .out = down};
    check_segments(of, segments, first, up, down);
    return leat_device_run(device, segments, pool_back_segment, &job, err);
}
