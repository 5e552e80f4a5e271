/* The layers of a GAT below its head, and all of it: forward and backward. */
#include "nn/models/gat/gat.h"
#include "nn/ops/each.h"
#include "nn/ops/embedding.h"
#include "nn/ops/graph_random.h"
#include "nn/ops/move.h"
#include "nn/random_streams.h"

/* ---- Memory --------------------------------------------------------------------------------- */

static leat_gatv2 layer_of(const leat_gat_shape *shape, int i, const float *parameters) {
    const leat_gat_layer *layer = &shape->layer[i];
    leat_gatv2 out = {.in = layer->in, .heads = shape->heads, .width = shape->width};
    if (parameters == NULL) return out;
    out.att = parameters + layer->att;
    out.bias = parameters + layer->bias;
    out.left = parameters + layer->left_weight;
    out.left_bias = parameters + layer->left_bias;
    out.right = parameters + layer->right_weight;
    out.right_bias = parameters + layer->right_bias;
    out.edge = parameters + layer->edge_weight;
    return out;
}

/* The memory of a device has floats, which are as large as what is taken here. */
static int32_t *take_int32(leat_float_layout *floats, int64_t count) {
    _Static_assert(sizeof(int32_t) == sizeof(float), "one place each");
    return (int32_t *)(void *)leat_float_layout_take(floats, count);
}

static void lay_out_edges(leat_graph_edges *edges, int64_t nodes, int64_t count,
                          leat_float_layout *floats) {
    edges->target_first = take_int32(floats, nodes + 1);
    edges->source_first = take_int32(floats, nodes + 1);
    edges->source = take_int32(floats, count);
    edges->target = take_int32(floats, count);
    edges->place = take_int32(floats, count);
    edges->features = leat_float_layout_take(floats, count * LEAT_EDGE_STEP);
}

static leat_code too_many(const leat_gat_bounds *bounds, leat_error *err) {
    return leat_fail(err, LEAT_ERR_OPTION,
                     "a GAT on %lld nodes and %lld edges at once: too many; use a smaller "
                     "--max-nodes and --max-edges",
                     (long long)bounds->nodes, (long long)bounds->edges);
}

leat_code leat_gat_lay_out(leat_gat_memory *memory, const leat_gat_shape *shape,
                           const leat_device *device, const leat_gat_bounds *bounds,
                           leat_float_layout *floats, leat_error *err) {
    const int64_t nodes = bounds->nodes, edges = bounds->edges + nodes; /* with new self-loops */
    int64_t work = 0;
    LEAT_ASSERT(nodes >= 1 && bounds->edges >= 0 && shape->values % LEAT_LANES == 0);
    *memory = (leat_gat_memory){0};
    if (!leat_gat_head_fits(shape, nodes)) return too_many(bounds, err);
    lay_out_edges(&memory->edges, nodes, edges, floats);
    memory->id = take_int32(floats, nodes);
    memory->sorted = take_int32(floats, leat_embedding_work_count(nodes, shape->vocabulary));
    memory->hidden_id = (uint8_t *)leat_float_layout_take(floats, (nodes + 3) / 4);
    memory->input = leat_float_layout_take(floats, nodes * leat_lanes(LEAT_GAT_INPUT));
    memory->up_input = leat_float_layout_take(floats, nodes * leat_lanes(LEAT_GAT_INPUT));
    for (int i = 0; i < shape->layers; i++) {
        const leat_gatv2 layer = layer_of(shape, i, NULL);
        const int64_t count = leat_gatv2_work_count(device, &layer, nodes, edges);
        if (count < 0) return too_many(bounds, err);
        work = count > work ? count : work;
        memory->kept[i].left = leat_float_layout_take(floats, nodes * shape->values);
        memory->kept[i].right = leat_float_layout_take(floats, nodes * shape->values);
        memory->kept[i].alpha = leat_float_layout_take(floats, edges * shape->heads);
    }
    memory->down = leat_float_layout_take(floats, nodes * shape->values);
    memory->work = leat_float_layout_take(floats, work);
    leat_gat_head_lay_out(&memory->head, shape, device, nodes, floats);
    memory->gradient = leat_float_layout_take(floats, shape->size);
    if (floats->base != NULL) leat_gat_head_set(&memory->head, shape, nodes);
    return LEAT_OK;
}

/* ---- Forward -------------------------------------------------------------------------------- */

static leat_gat_pass pass_of(const leat_gat_run *run) {
    return (leat_gat_pass){.shape = run->shape,
                           .device = run->device,
                           .head = &run->memory->head,
                           .batch = run->batch,
                           .parameters = run->parameters,
                           .gradient = run->memory->gradient,
                           .dropout = run->noise.dropout};
}

static leat_code hide_ids(const leat_gat_run *run, leat_error *err) {
    const leat_gat_memory *memory = run->memory;
    const leat_graph_random of = {.batch = run->batch, .stream = LEAT_STREAM_ID_DROP};
    const bool hides = run->noise.id_drop > 0;
    if (hides)
        LEAT_TRY(
            leat_graph_mask(&run->device, &of, (float)run->noise.id_drop, memory->hidden_id, err));
    for (int64_t i = 0; i < run->batch->nodes; i++)
        memory->id[i] = hides && memory->hidden_id[i] ? 0 : run->batch->node_id[i];
    return LEAT_OK;
}

static leat_embedding embedding_of(const leat_gat_run *run) {
    return (leat_embedding){.rows = run->batch->nodes,
                            .ids = run->shape->vocabulary,
                            .width = LEAT_GAT_EMBEDDING,
                            .features = LEAT_MICRO_NODE_FEATURES,
                            .id = run->memory->id,
                            .table = run->parameters + run->shape->embedding};
}

/* The output of layer i, or its gradient. */
static float *at_layer(const leat_gat_run *run, float *layers, int i) {
    return layers + i * run->batch->nodes * run->shape->values;
}

static const float *input_of(const leat_gat_run *run, int i) {
    return i == 0 ? run->memory->input : at_layer(run, run->memory->head.layers, i - 1);
}

/* Of the output of layer i, in place. */
static leat_code drop(const leat_gat_run *run, int i, float *values, leat_error *err) {
    const leat_graph_random of = {.batch = run->batch,
                                  .stream = LEAT_STREAM_DROPOUT,
                                  .place = i,
                                  .share = run->noise.dropout};
    if (run->noise.dropout == 0) return LEAT_OK;
    return leat_graph_dropout(&run->device, &of, run->shape->values, values, values, err);
}

leat_code leat_gat_forward(const leat_gat_run *run, leat_error *err) {
    const leat_gat_memory *memory = run->memory;
    const leat_gat_shape *shape = run->shape;
    leat_graph_edges edges = memory->edges;
    const leat_gat_pass pass = pass_of(run);
    leat_graph_edges_set(run->batch, &edges);
    LEAT_TRY(hide_ids(run, err));
    const leat_embedding embedding = embedding_of(run);
    LEAT_TRY(
        leat_embedding_forward(&run->device, &embedding, run->batch->x, NULL, memory->input, err));
    for (int i = 0; i < shape->layers; i++) {
        leat_gatv2 layer = layer_of(shape, i, run->parameters);
        const leat_gatv2_flow flow = {.x = input_of(run, i), .kept = &memory->kept[i]};
        float *out = at_layer(run, memory->head.layers, i);
        layer.work = memory->work;
        LEAT_TRY(leat_gatv2_forward(&run->device, &layer, &edges, &flow, out, err));
        LEAT_TRY(leat_leaky(&run->device, 0, run->batch->nodes * shape->values, out, out, err));
        LEAT_TRY(drop(run, i, out, err));
    }
    return leat_gat_head_forward(&pass, err);
}

/* ---- Backward ------------------------------------------------------------------------------- */

static leat_gatv2_gradient gradient_of(const leat_gat_run *run, int i) {
    const leat_gat_layer *layer = &run->shape->layer[i];
    float *gradient = run->memory->gradient;
    return (leat_gatv2_gradient){.att = gradient + layer->att,
                                 .bias = gradient + layer->bias,
                                 .left = gradient + layer->left_weight,
                                 .right = gradient + layer->right_weight,
                                 .left_bias = gradient + layer->left_bias,
                                 .right_bias = gradient + layer->right_bias,
                                 .edge = gradient + layer->edge_weight};
}

/* From the gradient of the output of layer i to that of its input, which, for all but the first, is
 * added to what the head has of the layer below: one addition. */
static leat_code layer_backward(const leat_gat_run *run, const leat_graph_edges *edges, int i,
                                leat_error *err) {
    const leat_gat_memory *memory = run->memory;
    const int64_t count = run->batch->nodes * run->shape->values;
    float *up = at_layer(run, memory->head.up_layers, i);
    leat_gatv2 layer = layer_of(run->shape, i, run->parameters);
    layer.work = memory->work;
    const leat_gatv2_gradient gradient = gradient_of(run, i);
    const leat_gatv2_flow flow = {.x = input_of(run, i),
                                  .kept = &memory->kept[i],
                                  .up = up,
                                  .down = i == 0 ? memory->up_input : memory->down};
    LEAT_TRY(leat_relu_dropout_backward(&run->device, leat_graph_dropout_scale(run->noise.dropout),
                                        count, at_layer(run, memory->head.layers, i), up, err));
    LEAT_TRY(leat_gatv2_backward(&run->device, &layer, edges, &flow, &gradient, err));
    if (i == 0) return LEAT_OK;
    return leat_add_scaled(&run->device, count, 1, memory->down,
                           at_layer(run, memory->head.up_layers, i - 1), err);
}

leat_code leat_gat_backward(const leat_gat_run *run, leat_error *err) {
    const leat_gat_memory *memory = run->memory;
    const leat_gat_pass pass = pass_of(run);
    const leat_embedding embedding = embedding_of(run);
    leat_graph_edges edges = memory->edges;
    edges.nodes = run->batch->nodes;
    edges.count = edges.target_first[edges.nodes];
    leat_clear(&run->device, run->shape->size, memory->gradient);
    LEAT_TRY(leat_gat_head_backward(&pass, err));
    for (int i = run->shape->layers - 1; i >= 0; i--) LEAT_TRY(layer_backward(run, &edges, i, err));
    return leat_embedding_backward(&run->device, &embedding, memory->up_input,
                                   memory->gradient + run->shape->embedding, memory->sorted, err);
}
