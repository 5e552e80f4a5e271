/* See linear.h: products, and sums of rows. */
#include "nn/ops/linear.h"

#include <string.h>

#include "nn/ops/product.h"

typedef struct sums_job {
    const leat_kernels *kernels;
    int64_t rows, columns;
    const float *x;
    float *sums;
} sums_job;

static void sums_part(void *context, int64_t part) {
    const sums_job *job = context;
    const int64_t at = part * LEAT_LANES;
    const size_t bytes = sizeof(float) * (size_t)leat_min(LEAT_LANES, job->columns - at);
    float sums[LEAT_LANES] = {0};
    memcpy(sums, job->sums + at, bytes);
    job->kernels->row_sums(job->rows, leat_lanes(job->columns), job->x + at, sums);
    memcpy(job->sums + at, sums, bytes);
}

leat_code leat_row_sums(const leat_device *device, int64_t rows, int64_t columns, const float *x,
                        float *sums, leat_error *err) {
    sums_job job = {device->kernels, rows, columns, x, sums};
    LEAT_ASSERT(rows >= 0 && columns >= 1);
    const int64_t all = rows * leat_lanes(columns);
    LEAT_ASSERT(leat_apart(x, all, sums, columns));
    return leat_device_run(device, leat_lanes(columns) / LEAT_LANES, sums_part, &job, err);
}

static leat_product forward_of(const leat_linear *layer, const float *x, float *y) {
    return (leat_product){.rows = layer->rows,
                          .columns = layer->out,
                          .depth = layer->in,
                          .a = x,
                          .a_step = leat_lanes(layer->in),
                          .b = layer->weight,
                          .b_step = layer->in,
                          .b_transposed = true,
                          .c = y,
                          .c_step = leat_lanes(layer->out),
                          .bias = layer->bias,
                          .act = layer->relu ? LEAT_ACT_LEAKY : LEAT_ACT_NONE};
}

static leat_product weights_of(const leat_linear *layer, const float *x, const float *up,
                               float *weight) {
    return (leat_product){.rows = layer->out,
                          .columns = layer->in,
                          .depth = layer->rows,
                          .a = up,
                          .a_step = leat_lanes(layer->out),
                          .a_transposed = true,
                          .b = x,
                          .b_step = leat_lanes(layer->in),
                          .c = weight,
                          .c_step = layer->in,
                          .add = true};
}

static leat_product down_of(const leat_linear *layer, const float *up, float *x, bool add) {
    return (leat_product){.rows = layer->rows,
                          .columns = layer->in,
                          .depth = layer->out,
                          .a = up,
                          .a_step = leat_lanes(layer->out),
                          .b = layer->weight,
                          .b_step = layer->in,
                          .c = x,
                          .c_step = leat_lanes(layer->in),
                          .add = add};
}

int64_t leat_linear_work_count(const leat_device *device, const leat_linear *layer) {
    const leat_product of[] = {forward_of(layer, NULL, NULL), weights_of(layer, NULL, NULL, NULL),
                               down_of(layer, NULL, NULL, false)};
    int64_t most = 0;
    for (int i = 0; i < 3; i++) {
        const int64_t count = leat_product_work_count(device, &of[i]);
        if (count < 0) return -1;
        most = count > most ? count : most;
    }
    return most;
}

leat_code leat_linear_forward(const leat_device *device, const leat_linear *layer, const float *x,
                              float *y, leat_error *err) {
    const leat_product product = forward_of(layer, x, y);
    return leat_product_run(device, &product, layer->work, err);
}

leat_code leat_linear_backward(const leat_device *device, const leat_linear *layer, const float *x,
                               const float *up, const leat_linear_gradient *out, leat_error *err) {
    if (out->weight != NULL) {
        const leat_product product = weights_of(layer, x, up, out->weight);
        LEAT_TRY(leat_product_run(device, &product, layer->work, err));
    }
    if (out->bias != NULL)
        LEAT_TRY(leat_row_sums(device, layer->rows, layer->out, up, out->bias, err));
    if (out->x == NULL) return LEAT_OK;
    const leat_product product = down_of(layer, up, out->x, out->add);
    return leat_product_run(device, &product, layer->work, err);
}
