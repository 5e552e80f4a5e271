/* See vgae.h: memory, and the net without its two heads. */
#include <math.h>
#include <string.h>

#include "nn/models/vgae/vgae.h"
#include "nn/ops/each.h"
#include "nn/ops/embedding.h"
#include "nn/ops/graph_random.h"
#include "nn/ops/graphnorm.h"
#include "nn/ops/latent.h"
#include "nn/ops/move.h"
#include "nn/random_streams.h"

enum { FEATURES = LEAT_MICRO_NODE_FEATURES };

/* ---- Memory --------------------------------------------------------------------------------- */

static leat_gatv2 encoder_of(const leat_vgae_pass *pass) {
    const leat_vgae_shape *shape = pass->shape;
    const float *parameters = pass->parameters;
    const leat_vgae_gat *at = &shape->encoder;
    return (leat_gatv2){.in = LEAT_VGAE_INPUT,
                        .heads = shape->heads,
                        .width = shape->width,
                        .att = parameters + at->att,
                        .bias = parameters + at->bias,
                        .left = parameters + at->left,
                        .right = parameters + at->right,
                        .left_bias = parameters + at->left_bias,
                        .right_bias = parameters + at->right_bias,
                        .edge = parameters + at->edge,
                        .work = pass->scratch->work};
}

static leat_gatv2 decoder_of(const leat_vgae_pass *pass) {
    const leat_vgae_shape *shape = pass->shape;
    const float *parameters = pass->parameters;
    const leat_vgae_gat *at = &shape->decoder;
    return (leat_gatv2){.in = shape->values,
                        .heads = 1,
                        .width = FEATURES,
                        .att = parameters + at->att,
                        .bias = parameters + at->bias,
                        .left = parameters + at->left,
                        .right = parameters + at->right,
                        .left_bias = parameters + at->left_bias,
                        .right_bias = parameters + at->right_bias,
                        .edge = parameters + at->edge,
                        .work = pass->scratch->work};
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* No product that large is refused: each dimension and its product with the values of a node is
 * below what an op takes. */
_Static_assert((LEAT_VGAE_EDGES_MAX + LEAT_VGAE_NODES_MAX) * LEAT_VGAE_VALUES_MAX <=
                   LEAT_OP_VALUES_MAX / 2,
               "the rows of edges");
_Static_assert(LEAT_VGAE_VOCABULARY_MAX *LEAT_VGAE_BLOCK <= LEAT_OP_VALUES_MAX / 2 &&
                   LEAT_VGAE_VOCABULARY_MAX * LEAT_VGAE_VALUES_MAX <= LEAT_OP_VALUES_MAX / 2,
               "the logits of identifiers");

static int64_t counted(int64_t count) {
    LEAT_ASSERT(count >= 0);
    return count;
}

static int64_t work_count(const leat_vgae_shape *shape, const leat_device *device, int64_t nodes,
                          int64_t edges) {
    static const float none[1];
    const leat_gatv2 encoder = {
        .in = LEAT_VGAE_INPUT, .heads = shape->heads, .width = shape->width};
    const leat_gatv2 decoder = {.in = shape->values, .heads = 1, .width = FEATURES};
    const leat_linear dense = {.rows = nodes, .in = shape->values, .out = shape->values};
    const leat_linear ids = {
        .rows = LEAT_VGAE_BLOCK, .in = shape->values, .out = shape->vocabulary, .weight = none};
    const int64_t all = edges + nodes;
    const int64_t gats = most(counted(leat_gatv2_work_count(device, &encoder, nodes, all)),
                              counted(leat_gatv2_work_count(device, &decoder, nodes, all)));
    return most(gats, most(counted(leat_linear_work_count(device, &dense)),
                           counted(leat_linear_work_count(device, &ids))));
}

static int32_t *take_ints(leat_float_layout *floats, int64_t count) {
    return (int32_t *)(void *)leat_float_layout_take(floats, count);
}
static uint8_t *take_bytes(leat_float_layout *floats, int64_t count) {
    return (uint8_t *)(void *)leat_float_layout_take(floats, count / 4 + 1);
}
static double *take_doubles(leat_float_layout *floats, int64_t count) {
    return (double *)(void *)leat_float_layout_take(floats, 2 * count);
}

static void lay_out_lists(leat_vgae_scratch *s, const leat_vgae_shape *shape, int64_t nodes,
                          int64_t edges, leat_float_layout *floats) {
    const int64_t all = edges + nodes; /* a self-loop for each node */
    const int64_t terms = leat_neighbour_terms_most(LEAT_VGAE_BLOCK, LEAT_VGAE_DRAWS, edges);
    s->edges.target_first = take_ints(floats, nodes + 1);
    s->edges.source_first = take_ints(floats, nodes + 1);
    s->edges.source = take_ints(floats, all);
    s->edges.target = take_ints(floats, all);
    s->edges.place = take_ints(floats, all);
    s->edges.features = leat_float_layout_take(floats, all * LEAT_EDGE_STEP);
    s->neighbours.first = take_ints(floats, nodes + 1);
    s->neighbours.positive = take_ints(floats, edges);
    s->neighbours.kept = take_bytes(floats, nodes * LEAT_VGAE_DRAWS);
    s->terms.first = take_ints(floats, LEAT_VGAE_BLOCK + 1);
    s->terms.id = take_ints(floats, terms);
    s->terms.times = leat_float_layout_take(floats, terms);
    s->terms.logit = leat_float_layout_take(floats, terms);
    s->terms.counts = leat_float_layout_take(floats, leat_neighbour_work_count(shape->vocabulary));
    s->id = take_ints(floats, nodes);
    s->rows = take_ints(floats, nodes);
    s->want = take_ints(floats, nodes);
    s->drawn = take_ints(floats, nodes * LEAT_VGAE_DRAWS);
    s->by_id = take_ints(floats, leat_embedding_work_count(nodes, shape->vocabulary + 1));
    s->hidden = take_bytes(floats, nodes);
    s->dropped = take_bytes(floats, nodes);
    s->sums[0] = take_doubles(floats, nodes);
    s->sums[1] = take_doubles(floats, nodes);
}

void leat_vgae_lay_out(leat_vgae_scratch *s, const leat_vgae_shape *shape,
                       const leat_device *device, int64_t nodes, int64_t edges,
                       leat_float_layout *floats) {
    const int64_t values = nodes * leat_lanes(shape->values);
    const int64_t features = nodes * leat_lanes(FEATURES), all = edges + nodes;
    float **const of_values[] = {&s->encoder.left,
                                 &s->encoder.right,
                                 &s->attended,
                                 &s->normed,
                                 &s->encoded,
                                 &s->graph_mean,
                                 &s->graph_root,
                                 &s->mu,
                                 &s->logvar,
                                 &s->noise,
                                 &s->z,
                                 &s->dense[0],
                                 &s->dense[1],
                                 &s->dropped_dense[0],
                                 &s->dropped_dense[1],
                                 &s->d_z,
                                 &s->up[0],
                                 &s->up[1]};
    float **const of_features[] = {&s->decoder.left, &s->decoder.right, &s->recon, &s->d_recon};
    lay_out_lists(s, shape, nodes, edges, floats);
    for (size_t i = 0; i < sizeof of_values / sizeof *of_values; i++)
        *of_values[i] = leat_float_layout_take(floats, values);
    for (size_t i = 0; i < sizeof of_features / sizeof *of_features; i++)
        *of_features[i] = leat_float_layout_take(floats, features);
    s->encoder.alpha = leat_float_layout_take(floats, all * shape->heads);
    s->decoder.alpha = leat_float_layout_take(floats, all);
    s->input = leat_float_layout_take(floats, nodes * leat_lanes(LEAT_VGAE_INPUT));
    s->d_input = leat_float_layout_take(floats, nodes * leat_lanes(LEAT_VGAE_INPUT));
    s->block = leat_float_layout_take(floats, LEAT_VGAE_BLOCK * leat_lanes(shape->values));
    s->d_block = leat_float_layout_take(floats, LEAT_VGAE_BLOCK * leat_lanes(shape->values));
    s->logits = leat_float_layout_take(floats, LEAT_VGAE_BLOCK * leat_lanes(shape->vocabulary));
    s->work = leat_float_layout_take(floats, work_count(shape, device, nodes, edges));
    s->gradient = leat_float_layout_take(floats, shape->size);
}

/* ---- Forward -------------------------------------------------------------------------------- */

leat_linear leat_vgae_linear(const leat_vgae_pass *pass, const leat_vgae_dense *of, int64_t rows,
                             int64_t out, bool relu) {
    return (leat_linear){.rows = rows,
                         .in = pass->shape->values,
                         .out = out,
                         .weight = pass->parameters + of->weight,
                         .bias = pass->parameters + of->bias,
                         .relu = relu,
                         .work = pass->scratch->work};
}

static leat_embedding embedding_of(const leat_vgae_pass *pass) {
    return (leat_embedding){.rows = pass->batch->nodes,
                            .ids = pass->shape->vocabulary + 1,
                            .width = LEAT_VGAE_EMBEDDING,
                            .features = FEATURES,
                            .id = pass->scratch->id,
                            .table = pass->parameters + pass->shape->embedding};
}

static leat_graphnorm norm_of(const leat_vgae_pass *pass) {
    const leat_vgae_shape *shape = pass->shape;
    return (leat_graphnorm){.graphs = pass->batch->graphs,
                            .channels = shape->values,
                            .node_first = pass->batch->node_first,
                            .weight = pass->parameters + shape->norm_weight,
                            .bias = pass->parameters + shape->norm_bias,
                            .mean_scale = pass->parameters + shape->norm_scale,
                            .mean = pass->scratch->graph_mean,
                            .root = pass->scratch->graph_root};
}

static leat_graph_random dropout_of(const leat_vgae_pass *pass) {
    return (leat_graph_random){
        .batch = pass->batch, .stream = LEAT_STREAM_DROPOUT, .share = pass->dropout};
}

static void set_ids(const leat_vgae_pass *pass) {
    const leat_vgae_random *random = &pass->random;
    for (int64_t i = 0; i < pass->batch->nodes; i++) {
        const bool hidden = random->hidden != NULL && random->hidden[i] != 0;
        const bool dropped = random->dropped != NULL && random->dropped[i] != 0;
        pass->scratch->id[i] = hidden    ? (int32_t)pass->shape->vocabulary
                               : dropped ? 0
                                         : pass->batch->node_id[i];
    }
}

static leat_code encode(const leat_vgae_pass *pass, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const leat_device *device = &pass->device;
    const int64_t values = pass->shape->values, nodes = pass->batch->nodes;
    const leat_embedding embedding = embedding_of(pass);
    const leat_gatv2 encoder = encoder_of(pass);
    const leat_gatv2_flow flow = {.x = s->input, .kept = &s->encoder};
    const leat_graphnorm norm = norm_of(pass);
    const leat_graph_random dropout = dropout_of(pass);
    const leat_linear mean = leat_vgae_linear(pass, &pass->shape->mean, nodes, values, false);
    const leat_linear logvar = leat_vgae_linear(pass, &pass->shape->logvar, nodes, values, false);
    LEAT_TRY(leat_embedding_forward(device, &embedding, pass->batch->x, pass->random.hidden,
                                    s->input, err));
    LEAT_TRY(leat_gatv2_forward(device, &encoder, &s->edges, &flow, s->attended, err));
    LEAT_TRY(leat_graphnorm_forward(device, &norm, s->attended, s->normed, err));
    LEAT_TRY(leat_leaky(device, 0, nodes * leat_lanes(values), s->normed, s->normed, err));
    LEAT_TRY(leat_graph_dropout(device, &dropout, values, s->normed, s->encoded, err));
    LEAT_TRY(leat_linear_forward(device, &mean, s->encoded, s->mu, err));
    return leat_linear_forward(device, &logvar, s->encoded, s->logvar, err);
}

static leat_latent latent_of(const leat_vgae_pass *pass) {
    const double terms = (double)pass->batch->nodes * (double)pass->shape->values;
    return (leat_latent){pass->batch->nodes, pass->shape->values,
                         pass->scratch->mu,  pass->scratch->logvar,
                         pass->random.noise, (float)(LEAT_VGAE_SHARE_KL / terms)};
}

leat_code leat_vgae_forward(const leat_vgae_pass *pass, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const leat_gatv2 decoder = decoder_of(pass);
    const leat_gatv2_flow flow = {.x = s->z, .kept = &s->decoder};
    const leat_latent latent = latent_of(pass);
    leat_graph_edges_set(pass->batch, &s->edges);
    set_ids(pass);
    LEAT_TRY(encode(pass, err));
    LEAT_TRY(leat_latent_forward(&pass->device, &latent, s->z, s->sums[1], err));
    return leat_gatv2_forward(&pass->device, &decoder, &s->edges, &flow, s->recon, err);
}

/* ---- Backward ------------------------------------------------------------------------------- */

static leat_gatv2_gradient gat_gradient(const leat_vgae_pass *pass, const leat_vgae_gat *at) {
    float *g = pass->scratch->gradient;
    return (leat_gatv2_gradient){.att = g + at->att,
                                 .bias = g + at->bias,
                                 .left = g + at->left,
                                 .right = g + at->right,
                                 .left_bias = g + at->left_bias,
                                 .right_bias = g + at->right_bias,
                                 .edge = g + at->edge};
}

static double sum_rows(int64_t rows, const double *sums) {
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) sum += sums[i];
    return sum;
}

/* The reconstruction: d_z becomes its gradient. */
static leat_code decode_back(const leat_vgae_pass *pass, double *loss, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const int64_t nodes = pass->batch->nodes;
    const double terms = (double)nodes * FEATURES;
    const leat_square_loss square = {nodes, FEATURES, s->recon, pass->batch->x, (float)(1 / terms)};
    const leat_gatv2 decoder = decoder_of(pass);
    const leat_gatv2_gradient gradient = gat_gradient(pass, &pass->shape->decoder);
    const leat_gatv2_flow flow = {s->z, &s->decoder, s->d_recon, s->d_z};
    LEAT_TRY(leat_square_loss_run(&pass->device, &square, s->d_recon, s->sums[0], err));
    *loss = sum_rows(nodes, s->sums[0]) / terms;
    return leat_gatv2_backward(&pass->device, &decoder, &s->edges, &flow, &gradient, err);
}

/* From d_z through the latent vectors to up[1], the gradient of what was encoded. */
static leat_code latent_back(const leat_vgae_pass *pass, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const leat_vgae_shape *shape = pass->shape;
    const int64_t nodes = pass->batch->nodes, values = shape->values;
    const leat_latent latent = latent_of(pass);
    const leat_linear mean = leat_vgae_linear(pass, &shape->mean, nodes, values, false);
    const leat_linear logvar = leat_vgae_linear(pass, &shape->logvar, nodes, values, false);
    const leat_linear_gradient of_mean = {s->gradient + shape->mean.weight,
                                          s->gradient + shape->mean.bias, s->up[1], false};
    const leat_linear_gradient of_logvar = {s->gradient + shape->logvar.weight,
                                            s->gradient + shape->logvar.bias, s->up[1], true};
    LEAT_TRY(leat_latent_backward(&pass->device, &latent, s->d_z, s->d_z, s->up[0], err));
    LEAT_TRY(leat_linear_backward(&pass->device, &mean, s->encoded, s->d_z, &of_mean, err));
    return leat_linear_backward(&pass->device, &logvar, s->encoded, s->up[0], &of_logvar, err);
}

static leat_code encode_back(const leat_vgae_pass *pass, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const leat_vgae_shape *shape = pass->shape;
    const leat_device *device = &pass->device;
    const int64_t count = pass->batch->nodes * leat_lanes(shape->values);
    const leat_embedding embedding = embedding_of(pass);
    const leat_gatv2 encoder = encoder_of(pass);
    leat_graphnorm norm = norm_of(pass);
    const float scale = leat_graph_dropout_scale(pass->dropout);
    norm.gradient =
        (leat_graphnorm_gradient){s->gradient + shape->norm_weight, s->gradient + shape->norm_bias,
                                  s->gradient + shape->norm_scale};
    const leat_gatv2_gradient gradient = gat_gradient(pass, &shape->encoder);
    const leat_gatv2_flow flow = {s->input, &s->encoder, s->up[1], s->d_input};
    LEAT_TRY(leat_relu_dropout_backward(device, scale, count, s->encoded, s->up[1], err));
    LEAT_TRY(leat_graphnorm_backward(device, &norm, s->attended, s->up[1], s->up[1], err));
    LEAT_TRY(leat_gatv2_backward(device, &encoder, &s->edges, &flow, &gradient, err));
    return leat_embedding_backward(device, &embedding, s->d_input, s->gradient + shape->embedding,
                                   s->by_id, err);
}

leat_code leat_vgae_backward(const leat_vgae_pass *pass, leat_vgae_losses *out, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    const int64_t nodes = pass->batch->nodes;
    *out = (leat_vgae_losses){0};
    leat_clear(&pass->device, pass->shape->size, s->gradient);
    out->kl = sum_rows(nodes, s->sums[1]) / ((double)nodes * (double)pass->shape->values);
    LEAT_TRY(decode_back(pass, &out->recon, err));
    LEAT_TRY(leat_vgae_id_head(pass, &out->id, err));
    LEAT_TRY(leat_vgae_neighbour_head(pass, &out->neighbours, err));
    LEAT_TRY(latent_back(pass, err));
    LEAT_TRY(encode_back(pass, err));
    out->total = out->recon + LEAT_VGAE_SHARE_ID * out->id +
                 LEAT_VGAE_SHARE_NEIGHBOURS * out->neighbours + LEAT_VGAE_SHARE_KL * out->kl;
    return LEAT_OK;
}
