/* See linear.h: products, and sums of rows. */
#include "nn/ops/linear.h"

#include "nn/ops/product.h"
#include "nn/ops/rows.h"

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
                          .c_padded = true,
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
                          .b_padded = true,
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
                          .c_padded = true,
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
    if (out->bias != NULL && layer->rows > 0) {
        const leat_rows rows = {layer->rows, layer->out, leat_lanes(layer->out)};
        LEAT_TRY(leat_rows_sum(device, &rows, up, out->bias, err));
    }
    if (out->x == NULL) return LEAT_OK;
    const leat_product product = down_of(layer, up, out->x, out->add);
    return leat_product_run(device, &product, layer->work, err);
}
