/* See rms_norm.h. */
#include "nn/ops/rms_norm.h"

enum { ROWS = 64, COLUMNS = 4 * LEAT_LANES }; /* of a part */

typedef struct norm_job {
    const leat_kernels *kernels;
    leat_rms_rows of;
    const float *up;
    float *out; /* y, down, or the gradient of the weight */
} norm_job;

static norm_job job_of(const leat_device *device, const leat_rms_norm *of, const float *x,
                       float *scale, float *out) {
    const int64_t step = leat_lanes(of->columns);
    LEAT_ASSERT(of->rows >= 0 && of->columns >= 1 && of->eps > 0);
    LEAT_ASSERT(of->rows <= LEAT_OP_VALUES_MAX / step);
    LEAT_ASSERT(leat_apart(of->weight, of->columns, out, of->rows * step) &&
                leat_apart(scale, of->rows, out, of->rows * step));
    return (norm_job){.kernels = device->kernels,
                      .of = {of->rows, of->columns, step, of->eps, of->weight, x, scale},
                      .out = out};
}

/* The rows of a part, and the place of its first value. */
static leat_rms_rows piece_of(const norm_job *job, int64_t part, int64_t *at) {
    leat_rms_rows piece = job->of;
    *at = part * ROWS * piece.step;
    piece.rows = leat_min(ROWS, piece.rows - part * ROWS);
    piece.x += *at;
    piece.scale += part * ROWS;
    return piece;
}

static void forward_part(void *context, int64_t part) {
    const norm_job *job = context;
    int64_t at;
    const leat_rms_rows piece = piece_of(job, part, &at);
    job->kernels->rms_norm(&piece, job->out + at);
}

static void backward_part(void *context, int64_t part) {
    const norm_job *job = context;
    int64_t at;
    const leat_rms_rows piece = piece_of(job, part, &at);
    job->kernels->rms_norm_back(&piece, job->up + at, job->out + at);
}

static void weight_part(void *context, int64_t part) {
    const norm_job *job = context;
    leat_rms_rows block = job->of;
    block.columns = leat_min(COLUMNS, block.columns - part * COLUMNS);
    block.x += part * COLUMNS;
    job->kernels->rms_norm_weight(&block, job->up + part * COLUMNS, job->out + part * COLUMNS);
}

leat_code leat_rms_norm_forward(const leat_device *device, const leat_rms_norm *of, const float *x,
                                float *y, float *scale, leat_error *err) {
    norm_job job = job_of(device, of, x, scale, y);
    LEAT_ASSERT(leat_same_or_apart(x, y, of->rows * job.of.step));
    return leat_device_run(device, (of->rows + ROWS - 1) / ROWS, forward_part, &job, err);
}

leat_code leat_rms_norm_backward(const leat_device *device, const leat_rms_norm *of, const float *x,
                                 const float *scale, const leat_rms_norm_gradient *gradient,
                                 leat_error *err) {
    const leat_rms_norm_gradient *g = gradient;
    /* the kernels of this direction only read the scale */
    norm_job job = job_of(device, of, x, (float *)(uintptr_t)scale, g->down);
    const int64_t all = of->rows * job.of.step;
    LEAT_ASSERT(leat_same_or_apart(g->up, g->down, all) && leat_apart(x, all, g->down, all));
    LEAT_ASSERT(leat_apart(g->weight, of->columns, g->down, all) &&
                leat_apart(g->weight, of->columns, g->up, all) &&
                leat_apart(g->weight, of->columns, x, all));
    job.up = g->up;
    job.out = g->weight; /* before down takes the place of up */
    LEAT_TRY(
        leat_device_run(device, (of->columns + COLUMNS - 1) / COLUMNS, weight_part, &job, err));
    job.out = g->down;
    return leat_device_run(device, (of->rows + ROWS - 1) / ROWS, backward_part, &job, err);
}
