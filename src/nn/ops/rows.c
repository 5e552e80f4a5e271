/* A part is a block of columns (sums), a piece of the rows (mixing), or a segment (pooling). */
#include "nn/ops/rows.h"

#include <string.h>

#define PIECE 64 /* rows */

/* ---- Sums ----------------------------------------------------------------------------------- */

typedef struct sum_job {
    const leat_kernels *kernels;
    const leat_rows *of;
    const float *x;
    float *sums;
} sum_job;

static void sum_block(void *context, int64_t part) {
    const sum_job *job = context;
    const int64_t first = part * LEAT_LANES;
    const size_t bytes = sizeof(float) * (size_t)leat_min(LEAT_LANES, job->of->columns - first);
    float sums[LEAT_LANES] = {0};
    memcpy(sums, job->sums + first, bytes);
    job->kernels->row_sums(job->of->rows, job->of->step, job->x + first, sums);
    memcpy(job->sums + first, sums, bytes);
}

leat_code leat_rows_sum(const leat_device *device, const leat_rows *of, const float *x, float *sums,
                        leat_error *err) {
    sum_job job = {device->kernels, of, x, sums};
    const int64_t lanes = leat_lanes(of->columns);
    LEAT_ASSERT(of->rows >= 1 && of->columns >= 1 && of->step >= lanes);
    LEAT_ASSERT(of->step <= LEAT_OP_VALUES_MAX / of->rows);
    LEAT_ASSERT(leat_apart(x, of->rows * of->step, sums, of->columns));
    return leat_device_run(device, lanes / LEAT_LANES, sum_block, &job, err);
}

/* ---- Layers by their weights ---------------------------------------------------------------- */

typedef struct mix_job {
    const leat_kernels *kernels;
    const leat_mix *of;
    int64_t step;
    const float *up;
    float *out, *up_scores; /* out: of backward, the gradient of x */
} mix_job;

static int64_t end_of(const mix_job *job, int64_t part) {
    return leat_min((part + 1) * PIECE, job->of->rows);
}

static void softmax(const mix_job *job, int64_t row) {
    const leat_mix *of = job->of;
    float shares[LEAT_MIX_STEPS_MAX], most = of->scores[row], sum = 0;
    for (int t = 1; t < of->steps; t++) {
        const float score = of->scores[t * of->rows + row];
        most = score > most ? score : most;
    }
    for (int t = 0; t < of->steps; t++) shares[t] = of->scores[t * of->rows + row] - most;
    job->kernels->map(LEAT_FUNCTION_EXP, of->steps, shares, shares);
    for (int t = 0; t < of->steps; t++) sum += shares[t];
    for (int t = 0; t < of->steps; t++) of->scores[t * of->rows + row] = shares[t] / sum;
}

static void mix_piece(void *context, int64_t part) {
    const mix_job *job = context;
    const leat_mix *of = job->of;
    for (int64_t row = part * PIECE; row < end_of(job, part); row++) {
        float *out = job->out + row * job->step;
        softmax(job, row);
        memset(out, 0, sizeof *out * (size_t)job->step);
        for (int t = 0; t < of->steps; t++)
            job->kernels->add_scaled(of->columns, of->scores[t * of->rows + row],
                                     of->x + (t * of->rows + row) * job->step, out);
    }
}

static void mix_back_piece(void *context, int64_t part) {
    const mix_job *job = context;
    const leat_mix *of = job->of;
    for (int64_t row = part * PIECE; row < end_of(job, part); row++) {
        const float *up = job->up + row * job->step;
        float along[LEAT_MIX_STEPS_MAX], sum[1] = {0};
        for (int t = 0; t < of->steps; t++) {
            const int64_t at = t * of->rows + row;
            float *down = job->out + at * job->step;
            along[t] = job->kernels->row_dot(of->columns, up, of->x + at * job->step);
            job->kernels->add_scaled(1, of->scores[at], &along[t], sum);
            memset(down, 0, sizeof *down * (size_t)job->step);
            job->kernels->add_scaled(of->columns, of->scores[at], up, down);
        }
        for (int t = 0; t < of->steps; t++) {
            const int64_t at = t * of->rows + row;
            job->up_scores[at] = of->scores[at] * (along[t] - sum[0]);
        }
    }
}

/* Floats of a step's rows. */
static int64_t check_mix(const leat_mix *of) {
    LEAT_ASSERT(of->rows >= 1 && of->columns >= 1);
    LEAT_ASSERT(of->steps >= 1 && of->steps <= LEAT_MIX_STEPS_MAX);
    const int64_t step = leat_lanes(of->columns);
    LEAT_ASSERT(step <= LEAT_OP_VALUES_MAX / LEAT_MIX_STEPS_MAX / of->rows);
    return of->rows * step;
}

leat_code leat_rows_mix(const leat_device *device, const leat_mix *of, float *out,
                        leat_error *err) {
    mix_job job = {device->kernels, of, .step = leat_lanes(of->columns), .out = out};
    const int64_t all = check_mix(of), scores = of->steps * of->rows;
    LEAT_ASSERT(leat_apart(of->x, of->steps * all, out, all) &&
                leat_apart(of->scores, scores, out, all) &&
                leat_apart(of->scores, scores, of->x, of->steps * all));
    return leat_device_run(device, (of->rows + PIECE - 1) / PIECE, mix_piece, &job, err);
}

leat_code leat_rows_mix_backward(const leat_device *device, const leat_mix *of, const float *up,
                                 float *down, float *up_scores, leat_error *err) {
    mix_job job = {device->kernels, of, leat_lanes(of->columns), up, down, up_scores};
    const int64_t all = check_mix(of), scores = of->steps * of->rows;
    LEAT_ASSERT(leat_apart(of->x, of->steps * all, down, of->steps * all) &&
                leat_apart(up, all, down, of->steps * all) &&
                leat_apart(up_scores, scores, down, of->steps * all) &&
                leat_apart(of->scores, scores, up_scores, scores));
    return leat_device_run(device, (of->rows + PIECE - 1) / PIECE, mix_back_piece, &job, err);
}

/* ---- Pooling -------------------------------------------------------------------------------- */

typedef struct pool_job {
    const leat_kernels *kernels;
    const leat_row_segments *of;
    int64_t step;
    const float *in;
    float *out;
} pool_job;

static void pool_segment(void *context, int64_t part) {
    const pool_job *job = context;
    const int64_t step = job->step, row = job->of->first[part];
    const int64_t rows = job->of->first[part + 1] - row;
    float *out = job->out + part * step;
    LEAT_ASSERT(rows >= 1);
    memset(out, 0, sizeof *out * (size_t)step);
    for (int64_t c = 0; c < step; c += LEAT_LANES)
        job->kernels->row_sums(rows, step, job->in + row * step + c, out + c);
    for (int64_t c = 0; c < step; c++) out[c] /= (float)rows;
}

static void pool_back_segment(void *context, int64_t part) {
    const pool_job *job = context;
    const int64_t step = job->step, row = job->of->first[part];
    const int64_t rows = job->of->first[part + 1] - row;
    float *down = job->out + row * step;
    LEAT_ASSERT(rows >= 1);
    for (int64_t c = 0; c < step; c++) down[c] = job->in[part * step + c] / (float)rows;
    for (int64_t i = 1; i < rows; i++) memcpy(down + i * step, down, sizeof *down * (size_t)step);
}

static void check_segments(const leat_row_segments *of, const float *pooled, const float *rows) {
    const int64_t step = leat_lanes(of->columns);
    LEAT_ASSERT(of->segments >= 1 && of->columns >= 1 && of->first[0] == 0);
    LEAT_ASSERT(leat_apart(pooled, of->segments * step, rows, of->first[of->segments] * step));
}

leat_code leat_rows_pool(const leat_device *device, const leat_row_segments *of, const float *x,
                         float *out, leat_error *err) {
    pool_job job = {device->kernels, of, leat_lanes(of->columns), x, out};
    check_segments(of, out, x);
    return leat_device_run(device, of->segments, pool_segment, &job, err);
}

leat_code leat_rows_pool_backward(const leat_device *device, const leat_row_segments *of,
                                  const float *up, float *down, leat_error *err) {
    pool_job job = {device->kernels, of, leat_lanes(of->columns), up, down};
    check_segments(of, up, down);
    return leat_device_run(device, of->segments, pool_back_segment, &job, err);
}

/* ---- Moved ---------------------------------------------------------------------------------- */

void leat_rows_out(int64_t rows, int64_t columns, float most, const float *x, float *out) {
    const int64_t step = leat_lanes(columns);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t c = 0; c < columns; c++) {
            const float value = x[row * step + c];
            out[row * columns + c] = value > most ? most : value < -most ? -most : value;
        }
    }
}

void leat_rows_gather(int64_t rows, int64_t columns, const int32_t *row, const float *x,
                      float *out) {
    const int64_t step = leat_lanes(columns);
    for (int64_t i = 0; i < rows; i++)
        memcpy(out + i * step, x + row[i] * step, sizeof *x * (size_t)step);
}

void leat_rows_gather_backward(int64_t rows, int64_t columns, const int32_t *row, const float *in,
                               float *x) {
    const int64_t step = leat_lanes(columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < columns; c++) x[row[i] * step + c] += in[i * step + c];
}
