/* Parameters of a VGAE: names, shapes, first values. The deviations are those of PyTorch's uniform
 * ones (Glorot for GATv2; 1 / sqrt(inputs) at most for linear layers). */
#include <math.h>
#include <stdio.h>

#include "nn/models/vgae/vgae.h"

/* Of uniform numbers in [-bound, bound]. */
static double deviation_of(double square_of_bound) { return sqrt(square_of_bound / 3); }

/* columns 0: a vector. deviation 0: all 0. */
static int64_t add(leat_vgae_shape *shape, double deviation, int64_t rows, int64_t columns,
                   const char *stem, const char *part) {
    const int64_t sizes[] = {rows, columns};
    LEAT_ASSERT(shape->param_count < LEAT_VGAE_PARAMS);
    return leat_param_add(shape->params, &shape->param_count, 0, deviation, columns == 0 ? 1 : 2,
                          sizes, "%s.%s", stem, part)
        ->offset;
}

static int64_t add_ones(leat_vgae_shape *shape, const char *name) {
    LEAT_ASSERT(shape->param_count < LEAT_VGAE_PARAMS);
    return leat_param_add(shape->params, &shape->param_count, 1, 0, 1, &shape->values, "%s", name)
        ->offset;
}

static void add_gat(leat_vgae_shape *shape, leat_vgae_gat *of, int64_t in, int64_t heads,
                    int64_t width, const char *stem) {
    const int64_t out = heads * width, edge = LEAT_MICRO_EDGE_FEATURES, att[] = {1, heads, width};
    const double glorot = deviation_of(6.0 / (double)(in + out));
    const double bias = deviation_of(1.0 / (double)in);
    LEAT_ASSERT(shape->param_count < LEAT_VGAE_PARAMS);
    of->att = leat_param_add(shape->params, &shape->param_count, 0,
                             deviation_of(6.0 / (double)(heads + width)), 3, att, "%s.att", stem)
                  ->offset;
    of->bias = add(shape, 0, out, 0, stem, "bias");
    of->left = add(shape, glorot, out, in, stem, "lin_l.weight");
    of->left_bias = add(shape, bias, out, 0, stem, "lin_l.bias");
    of->right = add(shape, glorot, out, in, stem, "lin_r.weight");
    of->right_bias = add(shape, bias, out, 0, stem, "lin_r.bias");
    of->edge =
        add(shape, deviation_of(6.0 / (double)(edge + out)), out, edge, stem, "lin_edge.weight");
}

static void add_dense(leat_vgae_shape *shape, leat_vgae_dense *of, int64_t out, const char *stem) {
    const double deviation = deviation_of(1.0 / (double)shape->values);
    of->weight = add(shape, deviation, out, shape->values, stem, "weight");
    of->bias = add(shape, deviation, out, 0, stem, "bias");
}

static void add_all(leat_vgae_shape *shape) {
    const int64_t values = shape->values, vocabulary = shape->vocabulary;
    shape->embedding = add(shape, 1, vocabulary + 1, LEAT_VGAE_EMBEDDING,
                           "input_encoder.id_encoder.embedding", "weight");
    add_gat(shape, &shape->encoder, LEAT_VGAE_INPUT, shape->heads, shape->width,
            "encoder_layers.0");
    shape->norm_weight = add_ones(shape, "encoder_bns.0.weight");
    shape->norm_bias = add(shape, 0, values, 0, "encoder_bns.0", "bias");
    shape->norm_scale = add_ones(shape, "encoder_bns.0.mean_scale");
    add_dense(shape, &shape->mean, values, "z_mean");
    add_dense(shape, &shape->logvar, values, "z_logvar");
    add_gat(shape, &shape->decoder, values, 1, LEAT_MICRO_NODE_FEATURES, "decoder_layers.0");
    add_dense(shape, &shape->id, vocabulary, "canid_classifier");
    add_dense(shape, &shape->neighbour[0], values, "neighborhood_decoder.0");
    add_dense(shape, &shape->neighbour[1], values, "neighborhood_decoder.3");
    add_dense(shape, &shape->neighbour[2], vocabulary, "neighborhood_decoder.6");
    LEAT_ASSERT(shape->param_count == LEAT_VGAE_PARAMS);
}

leat_code leat_vgae_shape_set(leat_vgae_shape *shape, leat_vgae_size size, int64_t vocabulary,
                              leat_error *err) {
    *shape = (leat_vgae_shape){
        .heads = 4, .width = size == LEAT_VGAE_LARGE ? 32 : 16, .vocabulary = vocabulary};
    if (vocabulary < 1 || vocabulary > LEAT_VGAE_VOCABULARY_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--vocabulary must be between 1 and %lld identifiers, not %lld",
                         (long long)LEAT_VGAE_VOCABULARY_MAX, (long long)vocabulary);
    shape->values = shape->heads * shape->width;
    LEAT_ASSERT(shape->values <= LEAT_VGAE_VALUES_MAX);
    add_all(shape);
    shape->size = leat_params_size(shape->params, shape->param_count);
    return LEAT_OK;
}
