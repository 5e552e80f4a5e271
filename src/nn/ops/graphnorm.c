/* A part is a block of channels, over all graphs: the chains of the parameters' gradients then
 * belong to one part. */
#include "nn/ops/graphnorm.h"

#include <string.h>

typedef struct norm_job {
    const leat_kernels *kernels;
    const leat_graphnorm *norm;
    int64_t step;
    const float *x, *up;
    float *y;
    const leat_graphnorm_gradient *gradient;
} norm_job;

/* Parameters of LEAT_LANES channels, 0 behind the last one, and their gradients. */
typedef struct block {
    float weight[LEAT_LANES], bias[LEAT_LANES], mean_scale[LEAT_LANES];
    float of_weight[LEAT_LANES], of_bias[LEAT_LANES], of_mean_scale[LEAT_LANES];
} block;

static size_t block_bytes(const norm_job *job, int64_t first) {
    return sizeof(float) * (size_t)leat_min(LEAT_LANES, job->norm->channels - first);
}

static void set_block(const norm_job *job, int64_t first, block *out) {
    const leat_graphnorm *norm = job->norm;
    const size_t bytes = block_bytes(job, first);
    *out = (block){0};
    memcpy(out->weight, norm->weight + first, bytes);
    memcpy(out->bias, norm->bias + first, bytes);
    memcpy(out->mean_scale, norm->mean_scale + first, bytes);
    if (job->gradient == NULL) return;
    memcpy(out->of_weight, job->gradient->weight + first, bytes);
    memcpy(out->of_bias, job->gradient->bias + first, bytes);
    memcpy(out->of_mean_scale, job->gradient->mean_scale + first, bytes);
}

static void keep_gradients(const norm_job *job, int64_t first, const block *from) {
    const size_t bytes = block_bytes(job, first);
    memcpy(job->gradient->weight + first, from->of_weight, bytes);
    memcpy(job->gradient->bias + first, from->of_bias, bytes);
    memcpy(job->gradient->mean_scale + first, from->of_mean_scale, bytes);
}

static void run_block(void *context, int64_t part) {
    const norm_job *job = context;
    const leat_graphnorm *norm = job->norm;
    const int64_t first = part * LEAT_LANES;
    block values;
    set_block(job, first, &values);
    for (int64_t graph = 0; graph < norm->graphs; graph++) {
        const int64_t node = norm->node_first[graph], rows = norm->node_first[graph + 1] - node;
        const int64_t at = node * job->step + first, kept = graph * job->step + first;
        const leat_graph_norm of = {.weight = values.weight,
                                    .bias = values.bias,
                                    .mean_scale = values.mean_scale,
                                    .eps = LEAT_GRAPHNORM_EPS,
                                    .mean = norm->mean + kept,
                                    .root = norm->root + kept,
                                    .of_weight = values.of_weight,
                                    .of_bias = values.of_bias,
                                    .of_mean_scale = values.of_mean_scale};
        LEAT_ASSERT(rows >= 1);
        if (job->up == NULL)
            job->kernels->graph_norm(&of, rows, job->step, job->x + at, job->y + at);
        else
            job->kernels->graph_norm_back(&of, rows, job->step, job->x + at, job->up + at,
                                          job->y + at);
    }
    if (job->gradient != NULL) keep_gradients(job, first, &values);
}

static leat_code run(const leat_device *device, norm_job *job, leat_error *err) {
    const leat_graphnorm *norm = job->norm;
    LEAT_ASSERT(norm->graphs >= 1 && norm->channels >= 1 && norm->node_first[0] == 0);
    job->kernels = device->kernels;
    job->step = leat_lanes(norm->channels);
    const int64_t kept = norm->graphs * job->step;
    const int64_t all = norm->node_first[norm->graphs] * job->step;
    LEAT_ASSERT(leat_apart(norm->mean, kept, norm->root, kept));
    LEAT_ASSERT(leat_apart(norm->mean, kept, job->y, all) &&
                leat_apart(norm->root, kept, job->y, all));
    return leat_device_run(device, job->step / LEAT_LANES, run_block, job, err);
}

leat_code leat_graphnorm_forward(const leat_device *device, const leat_graphnorm *norm,
                                 const float *x, float *y, leat_error *err) {
    norm_job job = {.norm = norm, .x = x, .y = y};
    const int64_t all = norm->node_first[norm->graphs] * leat_lanes(norm->channels);
    LEAT_ASSERT(leat_same_or_apart(x, y, all));
    return run(device, &job, err);
}

leat_code leat_graphnorm_backward(const leat_device *device, const leat_graphnorm *norm,
                                  const float *x, const float *up, float *down, leat_error *err) {
    const leat_graphnorm_gradient *gradient = &norm->gradient;
    norm_job job = {.norm = norm, .x = x, .up = up, .y = down, .gradient = gradient};
    const int64_t all = norm->node_first[norm->graphs] * leat_lanes(norm->channels);
    LEAT_ASSERT(up != NULL && leat_same_or_apart(up, down, all) && leat_apart(x, all, down, all));
    LEAT_ASSERT(
        leat_apart(gradient->weight, norm->channels, gradient->bias, norm->channels) &&
        leat_apart(gradient->weight, norm->channels, gradient->mean_scale, norm->channels) &&
        leat_apart(gradient->bias, norm->channels, gradient->mean_scale, norm->channels));
    return run(device, &job, err);
}
