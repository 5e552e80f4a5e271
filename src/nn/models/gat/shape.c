/* Parameters of a GAT: names, shapes, first values. The deviations are those of PyTorch's uniform
 * ones (Glorot for GATv2; 1 / sqrt(inputs) at most for linear layers and the LSTM). */
#include <math.h>
#include <stdio.h>

#include "nn/models/gat/gat.h"

/* Of uniform numbers in [-bound, bound]. */
static double deviation_of(double square_of_bound) { return sqrt(square_of_bound / 3); }

static int64_t add(leat_gat_shape *shape, double deviation, int rank, const int64_t *sizes,
                   const char *name) {
    LEAT_ASSERT(shape->param_count < LEAT_GAT_PARAMS_MAX);
    return leat_param_add(shape->params, &shape->param_count, 0, deviation, rank, sizes, "%s", name)
        ->offset;
}

/* STEM.PART; columns 0: of rank 1. */
static int64_t add_part(leat_gat_shape *shape, double deviation, int64_t rows, int64_t columns,
                        const char *stem, const char *part) {
    const int64_t sizes[] = {rows, columns};
    char name[48];
    snprintf(name, sizeof name, "%s.%s", stem, part);
    return add(shape, deviation, columns == 0 ? 1 : 2, sizes, name);
}

static void add_layer(leat_gat_shape *shape, int i) {
    leat_gat_layer *layer = &shape->layer[i];
    const int64_t in = i == 0 ? LEAT_GAT_INPUT : shape->values, out = shape->values;
    const int64_t att[] = {1, shape->heads, shape->width};
    const int64_t edge = LEAT_MICRO_EDGE_FEATURES;
    const double glorot = deviation_of(6.0 / (double)(in + out));
    const double bias = deviation_of(1.0 / (double)in);
    char stem[24], name[32];
    layer->in = in;
    snprintf(stem, sizeof stem, "convs.%d", i);
    snprintf(name, sizeof name, "%s.att", stem);
    layer->att = add(shape, deviation_of(6.0 / (shape->heads + shape->width)), 3, att, name);
    layer->bias = add_part(shape, 0, out, 0, stem, "bias");
    layer->left_weight = add_part(shape, glorot, out, in, stem, "lin_l.weight");
    layer->left_bias = add_part(shape, bias, out, 0, stem, "lin_l.bias");
    layer->right_weight = add_part(shape, glorot, out, in, stem, "lin_r.weight");
    layer->right_bias = add_part(shape, bias, out, 0, stem, "lin_r.bias");
    layer->edge_weight = add_part(shape, deviation_of(6.0 / (double)(edge + out)), out, edge, stem,
                                  "lin_edge.weight");
}

static void add_lstm(leat_gat_shape *shape) {
    static const char *const parts[2][4] = {
        {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"},
        {"weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
         "bias_hh_l0_reverse"}};
    const int64_t columns[4] = {shape->values, shape->hidden, 0, 0};
    for (int direction = 0; direction < 2; direction++)
        for (int i = 0; i < 4; i++)
            shape->lstm[direction][i] =
                add_part(shape, deviation_of(1.0 / (double)shape->hidden), 4 * shape->hidden,
                         columns[i], "jk.lstm", parts[direction][i]);
    const double score = deviation_of(0.5 / (double)shape->hidden);
    shape->score_weight = add_part(shape, score, 1, 2 * shape->hidden, "jk", "att.weight");
    shape->score_bias = add_part(shape, score, 1, 0, "jk", "att.bias");
}

leat_code leat_gat_shape_set(leat_gat_shape *shape, leat_gat_size size, int64_t vocabulary,
                             leat_error *err) {
    const bool large = size == LEAT_GAT_LARGE;
    *shape = (leat_gat_shape){.layers = large ? 3 : 2,
                              .heads = large ? 8 : 4,
                              .width = large ? 64 : 24,
                              .vocabulary = vocabulary};
    if (vocabulary < 1 || vocabulary > LEAT_GAT_VOCABULARY_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--vocabulary must be between 1 and %lld identifiers, not %lld",
                         (long long)LEAT_GAT_VOCABULARY_MAX, (long long)vocabulary);
    const int64_t embedding[] = {vocabulary, LEAT_GAT_EMBEDDING};
    shape->values = shape->heads * shape->width;
    shape->hidden = shape->layers * shape->values / 2;
    shape->embedding = add(shape, 1, 2, embedding, "input_encoder.id_encoder.embedding.weight");
    for (int i = 0; i < shape->layers; i++) add_layer(shape, i);
    add_lstm(shape);
    for (int i = 0; i < LEAT_GAT_DENSE; i++) {
        const int64_t out = i < LEAT_GAT_DENSE - 1 ? shape->values : LEAT_GAT_CLASSES;
        const double deviation = deviation_of(1.0 / (double)shape->values);
        char stem[24];
        snprintf(stem, sizeof stem, "fc_layers.%d", 3 * i);
        shape->dense_weight[i] = add_part(shape, deviation, out, shape->values, stem, "weight");
        shape->dense_bias[i] = add_part(shape, deviation, out, 0, stem, "bias");
    }
    shape->size = leat_params_size(shape->params, shape->param_count);
    return LEAT_OK;
}
