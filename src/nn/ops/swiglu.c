/* See swiglu.h. */
#include "nn/ops/swiglu.h"

#define PIECE 8192
_Static_assert(PIECE % LEAT_LANES == 0, "only the last piece has a rest");

typedef struct swiglu_job {
    const leat_kernels *kernels;
    int64_t count;
    const float *gate, *x, *up;
    float *y, *down_gate, *down_x;
} swiglu_job;

static void forward_part(void *context, int64_t part) {
    const swiglu_job *job = context;
    const int64_t at = part * PIECE, count = leat_min(PIECE, job->count - at);
    job->kernels->swiglu(count, job->gate + at, job->x + at, job->y + at);
}

static void backward_part(void *context, int64_t part) {
    const swiglu_job *job = context;
    const int64_t at = part * PIECE, count = leat_min(PIECE, job->count - at);
    job->kernels->swiglu_back(count, job->down_gate + at, job->down_x + at, job->up + at);
}

leat_code leat_swiglu_forward(const leat_device *device, int64_t count, const float *gate,
                              const float *x, float *y, leat_error *err) {
    LEAT_ASSERT(count >= 0 && leat_same_or_apart(gate, y, count) &&
                leat_same_or_apart(x, y, count));
    swiglu_job job = {device->kernels, count, .gate = gate, .x = x, .y = y};
    return leat_device_run(device, (count + PIECE - 1) / PIECE, forward_part, &job, err);
}

leat_code leat_swiglu_backward(const leat_device *device, int64_t count, float *gate, float *x,
                               const float *up, leat_error *err) {
    LEAT_ASSERT(count >= 0 && leat_apart(gate, count, x, count) &&
                leat_apart(up, count, gate, count) && leat_apart(up, count, x, count));
    swiglu_job job = {device->kernels, count, .up = up, .down_gate = gate, .down_x = x};
    return leat_device_run(device, (count + PIECE - 1) / PIECE, backward_part, &job, err);
}
