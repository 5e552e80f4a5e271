/* Values alone: pieces of an array, one kernel call each. */
#include "nn/ops/each.h"

#define PIECE 16384
_Static_assert(PIECE % LEAT_LANES == 0, "only the last piece has a rest");

typedef enum each_what { LEAKY, LEAKY_BACK, RELU_BACK, MAP, TANH_BACK, ADD_SCALED } each_what;

typedef struct each_job {
    const leat_kernels *kernels;
    each_what what;
    leat_function map;
    float factor;
    int64_t count;
    const float *x, *up;
    float *out;
} each_job;

static void run_piece(void *context, int64_t part) {
    const each_job *job = context;
    const leat_kernels *k = job->kernels;
    const int64_t at = part * PIECE, n = leat_min(PIECE, job->count - at);
    switch (job->what) {
    case LEAKY: k->leaky(job->factor, n, job->x + at, job->out + at); break;
    case LEAKY_BACK: k->leaky_back(job->factor, n, job->x + at, job->up + at, job->out + at); break;
    case RELU_BACK: k->relu_back(job->factor, n, job->x + at, job->up + at, job->out + at); break;
    case MAP: k->map(job->map, n, job->x + at, job->out + at); break;
    case TANH_BACK: k->tanh_back(n, job->x + at, job->up + at, job->out + at); break;
    case ADD_SCALED: k->add_scaled(n, job->factor, job->x + at, job->out + at); break;
    }
}

static leat_code run(const leat_device *device, each_job job, leat_error *err) {
    LEAT_ASSERT(job.count >= 0 && leat_same_or_apart(job.x, job.out, job.count) &&
                leat_same_or_apart(job.up, job.out, job.count));
    job.kernels = device->kernels;
    return leat_device_run(device, (job.count + PIECE - 1) / PIECE, run_piece, &job, err);
}

leat_code leat_leaky(const leat_device *device, float slope, int64_t count, const float *x,
                     float *y, leat_error *err) {
    LEAT_ASSERT(slope >= 0); /* below, the kernels compute ReLU */
    return run(device, (each_job){.what = LEAKY, .factor = slope, .count = count, .x = x, .out = y},
               err);
}

leat_code leat_leaky_backward(const leat_device *device, float slope, int64_t count, const float *y,
                              const float *up, float *down, leat_error *err) {
    LEAT_ASSERT(slope >= 0); /* so y has the sign of x */
    const each_job job = {
        .what = LEAKY_BACK, .factor = slope, .count = count, .x = y, .up = up, .out = down};
    return run(device, job, err);
}

leat_code leat_relu_dropout_backward(const leat_device *device, float scale, int64_t count,
                                     const float *y, float *up, leat_error *err) {
    LEAT_ASSERT(scale >= 1); /* so what is kept stays above 0 */
    const each_job job = {
        .what = RELU_BACK, .factor = scale, .count = count, .x = y, .up = up, .out = up};
    return run(device, job, err);
}

leat_code leat_map_values(const leat_device *device, leat_function what, int64_t count,
                          const float *x, float *y, leat_error *err) {
    LEAT_ASSERT(leat_is_function(what));
    return run(device, (each_job){.what = MAP, .map = what, .count = count, .x = x, .out = y}, err);
}

leat_code leat_tanh_backward(const leat_device *device, int64_t count, const float *y,
                             const float *up, float *down, leat_error *err) {
    return run(device, (each_job){.what = TANH_BACK, .count = count, .x = y, .up = up, .out = down},
               err);
}

leat_code leat_add_scaled(const leat_device *device, int64_t count, float factor, const float *x,
                          float *sum, leat_error *err) {
    return run(device,
               (each_job){.what = ADD_SCALED, .factor = factor, .count = count, .x = x, .out = sum},
               err);
}
