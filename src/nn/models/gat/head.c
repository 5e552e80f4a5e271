/* All after the layers: jumping knowledge, pooling, linear layers; forward and backward. */
#include "nn/models/gat/gat.h"
#include "nn/ops/each.h"
#include "nn/ops/graph_random.h"
#include "nn/ops/move.h"
#include "nn/ops/product.h"
#include "nn/ops/rows.h"
#include "nn/random_streams.h"

/* ---- Memory --------------------------------------------------------------------------------- */

static leat_lstm lstm_of(const leat_gat_shape *shape, const leat_gat_head *head, int64_t nodes,
                         const float *parameters) {
    leat_lstm lstm = {.rows = nodes,
                      .columns = shape->values,
                      .hidden = shape->hidden,
                      .steps = shape->layers,
                      .gates = head->gates,
                      .cells = head->cells,
                      .work = head->lstm_work};
    for (int i = 0; i < 2 && parameters != NULL; i++)
        lstm.weights[i] =
            (leat_lstm_weights){parameters + shape->lstm[i][0], parameters + shape->lstm[i][1],
                                parameters + shape->lstm[i][2], parameters + shape->lstm[i][3]};
    return lstm;
}

/* Of a product with two factors that are packed, whatever its form. */
static int64_t product_work(int64_t rows, int64_t columns, int64_t depth) {
    return (rows + leat_lanes(columns) + LEAT_TILE_COLUMNS_MAX) * depth;
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Of the products of scores and linear layers, and of the loss. */
static int64_t work_count(const leat_gat_shape *shape, int64_t nodes) {
    const int64_t rows = shape->layers * nodes, hidden = 2 * shape->hidden;
    const int64_t scores = most(product_work(rows, 1, hidden), product_work(rows, hidden, 1));
    const int64_t score_weight = product_work(1, hidden, rows);
    const int64_t dense = most(product_work(nodes, shape->values, shape->values),
                               product_work(shape->values, shape->values, nodes));
    return most(most(scores, score_weight), dense);
}

bool leat_gat_head_fits(const leat_gat_shape *shape, int64_t nodes) {
    const leat_gat_head none = {0};
    const leat_lstm lstm = lstm_of(shape, &none, nodes, NULL);
    return leat_lstm_fits(&lstm);
}

void leat_gat_head_lay_out(leat_gat_head *head, const leat_gat_shape *shape,
                           const leat_device *device, int64_t nodes, leat_float_layout *floats) {
    const leat_gat_head none = {0};
    const leat_lstm lstm = lstm_of(shape, &none, nodes, NULL);
    const int64_t layer = nodes * shape->values, all = shape->layers * nodes;
    head->layers = leat_float_layout_take(floats, shape->layers * layer);
    head->up_layers = leat_float_layout_take(floats, shape->layers * layer);
    head->gates = leat_float_layout_take(floats, leat_lstm_gate_count(&lstm));
    head->cells = leat_float_layout_take(floats, leat_lstm_cell_count(&lstm));
    head->hidden = leat_float_layout_take(floats, 2 * all * shape->hidden);
    head->up_hidden = leat_float_layout_take(floats, 2 * all * shape->hidden);
    head->scores = leat_float_layout_take(floats, all);
    head->up_scores = leat_float_layout_take(floats, all);
    head->mixed = leat_float_layout_take(floats, layer);
    head->up_mixed = leat_float_layout_take(floats, layer);
    for (int i = 0; i < LEAT_GAT_DENSE; i++) head->dense[i] = leat_float_layout_take(floats, layer);
    head->dense[LEAT_GAT_DENSE] = leat_float_layout_take(floats, nodes * LEAT_LANES);
    head->up_dense[0] = leat_float_layout_take(floats, layer);
    head->up_dense[1] = leat_float_layout_take(floats, layer);
    head->ones = leat_float_layout_take(floats, all);
    head->lstm_work = leat_float_layout_take(floats, leat_lstm_work_count(device, &lstm));
    head->work = leat_float_layout_take(floats, work_count(shape, nodes));
}

void leat_gat_head_set(const leat_gat_head *head, const leat_gat_shape *shape, int64_t nodes) {
    for (int64_t i = 0; i < shape->layers * nodes; i++) head->ones[i] = 1;
}

/* ---- Forward -------------------------------------------------------------------------------- */

static leat_code run(const leat_gat_pass *pass, const leat_product *product, leat_error *err) {
    return leat_product_run(&pass->device, product, pass->head->work, err);
}

static leat_mix mix_of(const leat_gat_pass *pass) {
    return (leat_mix){pass->batch->nodes, pass->shape->values, pass->shape->layers,
                      pass->head->layers, pass->head->scores};
}

static leat_row_segments graphs_of(const leat_gat_pass *pass) {
    const leat_graph_micro *batch = pass->batch;
    return (leat_row_segments){batch->graphs, pass->shape->values, batch->node_first};
}

/* The score of each layer and node. */
static leat_code score(const leat_gat_pass *pass, leat_error *err) {
    const leat_gat_shape *shape = pass->shape;
    const leat_product product = {.rows = shape->layers * pass->batch->nodes,
                                  .columns = 1,
                                  .depth = 2 * shape->hidden,
                                  .a = pass->head->hidden,
                                  .a_step = 2 * shape->hidden,
                                  .b = pass->parameters + shape->score_weight,
                                  .b_step = 2 * shape->hidden,
                                  .b_transposed = true,
                                  .c = pass->head->scores,
                                  .c_step = 1,
                                  .bias = pass->parameters + shape->score_bias};
    return run(pass, &product, err);
}

static int64_t dense_columns(const leat_gat_shape *shape, int i) {
    return i < LEAT_GAT_DENSE - 1 ? shape->values : LEAT_GAT_CLASSES;
}

static int64_t dense_step(const leat_gat_shape *shape, int i) {
    return leat_lanes(dense_columns(shape, i));
}

static leat_code drop(const leat_gat_pass *pass, int dense, float *values, leat_error *err) {
    const leat_graph_random of = {.batch = pass->batch,
                                  .stream = LEAT_STREAM_DROPOUT,
                                  .place = LEAT_GAT_HEAD_PLACE + dense,
                                  .of_graphs = true,
                                  .share = pass->dropout};
    if (pass->dropout == 0) return LEAT_OK;
    return leat_graph_dropout(&pass->device, &of, pass->shape->values, values, values, err);
}

static leat_code dense_forward(const leat_gat_pass *pass, int i, leat_error *err) {
    const leat_gat_shape *shape = pass->shape;
    const bool last = i == LEAT_GAT_DENSE - 1;
    const leat_product product = {.rows = pass->batch->graphs,
                                  .columns = dense_columns(shape, i),
                                  .depth = shape->values,
                                  .a = pass->head->dense[i],
                                  .a_step = shape->values,
                                  .b = pass->parameters + shape->dense_weight[i],
                                  .b_step = shape->values,
                                  .b_transposed = true,
                                  .c = pass->head->dense[i + 1],
                                  .c_step = dense_step(shape, i),
                                  .bias = pass->parameters + shape->dense_bias[i],
                                  .act = last ? LEAT_ACT_NONE : LEAT_ACT_LEAKY};
    LEAT_TRY(run(pass, &product, err));
    return last ? LEAT_OK : drop(pass, i, pass->head->dense[i + 1], err);
}

leat_code leat_gat_head_forward(const leat_gat_pass *pass, leat_error *err) {
    const leat_gat_head *head = pass->head;
    const leat_lstm lstm = lstm_of(pass->shape, head, pass->batch->nodes, pass->parameters);
    const leat_mix mix = mix_of(pass);
    const leat_row_segments graphs = graphs_of(pass);
    LEAT_TRY(leat_lstm_forward(&pass->device, &lstm, head->layers, head->hidden, err));
    LEAT_TRY(score(pass, err));
    LEAT_TRY(leat_rows_mix(&pass->device, &mix, head->mixed, err));
    LEAT_TRY(leat_rows_pool(&pass->device, &graphs, head->mixed, head->dense[0], err));
    for (int i = 0; i < LEAT_GAT_DENSE; i++) LEAT_TRY(dense_forward(pass, i, err));
    return LEAT_OK;
}

/* ---- Backward ------------------------------------------------------------------------------- */

/* From the gradient of its output to those of its weights, bias and input. */
static leat_code dense_backward(const leat_gat_pass *pass, int i, float *up, float *down,
                                leat_error *err) {
    const leat_gat_shape *shape = pass->shape;
    const int64_t graphs = pass->batch->graphs, columns = dense_columns(shape, i);
    const int64_t step = dense_step(shape, i);
    const leat_rows rows = {graphs, columns, step};
    const leat_product weights = {.rows = columns,
                                  .columns = shape->values,
                                  .depth = graphs,
                                  .a = up,
                                  .a_step = step,
                                  .a_transposed = true,
                                  .b = pass->head->dense[i],
                                  .b_step = shape->values,
                                  .c = pass->gradient + shape->dense_weight[i],
                                  .c_step = shape->values,
                                  .add = true};
    const leat_product below = {.rows = graphs,
                                .columns = shape->values,
                                .depth = columns,
                                .a = up,
                                .a_step = step,
                                .b = pass->parameters + shape->dense_weight[i],
                                .b_step = shape->values,
                                .c = down,
                                .c_step = shape->values};
    if (i < LEAT_GAT_DENSE - 1) {
        LEAT_TRY(leat_relu_dropout_backward(&pass->device, leat_graph_dropout_scale(pass->dropout),
                                            graphs * step, pass->head->dense[i + 1], up, err));
    }
    LEAT_TRY(run(pass, &weights, err));
    LEAT_TRY(leat_rows_sum(&pass->device, &rows, up, pass->gradient + shape->dense_bias[i], err));
    return run(pass, &below, err);
}

/* From the gradient of the scores to those of their weights and bias, and of the LSTM's output. */
static leat_code score_backward(const leat_gat_pass *pass, leat_error *err) {
    const leat_gat_shape *shape = pass->shape;
    const int64_t rows = shape->layers * pass->batch->nodes, hidden = 2 * shape->hidden;
    leat_product weights = {.rows = 1,
                            .columns = hidden,
                            .depth = rows,
                            .a = pass->head->up_scores,
                            .a_step = 1,
                            .a_transposed = true,
                            .b = pass->head->hidden,
                            .b_step = hidden,
                            .c = pass->gradient + shape->score_weight,
                            .c_step = hidden,
                            .add = true};
    const leat_product below = {.rows = rows,
                                .columns = hidden,
                                .depth = 1,
                                .a = pass->head->up_scores,
                                .a_step = 1,
                                .b = pass->parameters + shape->score_weight,
                                .b_step = hidden,
                                .c = pass->head->up_hidden,
                                .c_step = hidden};
    LEAT_TRY(run(pass, &weights, err));
    LEAT_TRY(run(pass, &below, err));
    weights.columns = weights.b_step = weights.c_step = 1;
    weights.b = pass->head->ones;
    weights.c = pass->gradient + shape->score_bias;
    return run(pass, &weights, err);
}

static leat_code lstm_backward(const leat_gat_pass *pass, leat_error *err) {
    const leat_gat_head *head = pass->head;
    const leat_lstm lstm = lstm_of(pass->shape, head, pass->batch->nodes, pass->parameters);
    leat_lstm_gradient gradient[2];
    for (int i = 0; i < 2; i++) {
        const int64_t *at = pass->shape->lstm[i];
        gradient[i] = (leat_lstm_gradient){pass->gradient + at[0], pass->gradient + at[1],
                                           pass->gradient + at[2], pass->gradient + at[3]};
    }
    const leat_lstm_flow flow = {head->layers, head->hidden, head->up_hidden, head->up_layers};
    return leat_lstm_backward(&pass->device, &lstm, &flow, gradient, err);
}

leat_code leat_gat_head_backward(const leat_gat_pass *pass, leat_error *err) {
    const leat_gat_head *head = pass->head;
    const leat_mix mix = mix_of(pass);
    const leat_row_segments graphs = graphs_of(pass);
    float *up = head->up_dense[0], *down = head->up_dense[1];
    for (int i = LEAT_GAT_DENSE - 1; i >= 0; i--) {
        LEAT_TRY(dense_backward(pass, i, up, down, err));
        float *swap = up;
        up = down;
        down = swap;
    }
    LEAT_TRY(leat_rows_pool_backward(&pass->device, &graphs, up, head->up_mixed, err));
    LEAT_TRY(leat_rows_mix_backward(&pass->device, &mix, head->up_mixed, head->up_layers,
                                    head->up_scores, err));
    LEAT_TRY(score_backward(pass, err));
    return lstm_backward(pass, err);
}
