/* Parameters of a transformer: names, shapes, first values, and the sizes that have a name. */
#include <stdio.h>
#include <string.h>

#include "nn/models/transformer/transformer.h"
#include "nn/ops/rope.h"

#define DEVIATION 0.02 /* of the first values of matrices, as GPT-2's and Llama's */

static const struct {
    const char *name;
    leat_transformer_size size;
} named[] = {
    {"tiny", {4, 128, 4, 4, 32, 352, 267, 256, 10000}},
    {"small", {6, 320, 5, 5, 64, 1024, 267, 1024, 10000}},
    {"base", {20, 640, 10, 10, 64, 2048, 267, 1024, 10000}},
};

bool leat_transformer_size_named(const char *name, leat_transformer_size *out) {
    *out = (leat_transformer_size){0};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(named[i].name, name) != 0) continue;
        *out = named[i].size;
        return true;
    }
    return false;
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

static leat_code check_bound(const char *what, int64_t value, int64_t most, leat_error *err) {
    if (value >= 1 && value <= most) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "a transformer: %s must be between 1 and %lld, not %lld",
                     what, (long long)most, (long long)value);
}

static leat_code check_heads(const leat_transformer_size *size, leat_error *err) {
    LEAT_TRY(check_bound("heads", size->heads, LEAT_TRANSFORMER_WIDTH_MAX, err));
    LEAT_TRY(check_bound("key-value heads", size->kv_heads, size->heads, err));
    LEAT_TRY(check_bound("the width of a head", size->head_width, LEAT_ATTENTION_WIDTH_MAX, err));
    if (size->heads % size->kv_heads != 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a transformer: %lld heads are not a multiple of its %lld key-value heads",
                         (long long)size->heads, (long long)size->kv_heads);
    if (size->head_width % 2 != 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a transformer: the width of a head must be even, not %lld, because its "
                         "halves turn with the position",
                         (long long)size->head_width);
    return check_bound("heads times their width", size->heads * size->head_width,
                       LEAT_TRANSFORMER_WIDTH_MAX, err);
}

static leat_code check(const leat_transformer_size *size, leat_error *err) {
    LEAT_TRY(check_bound("layers", size->layers, LEAT_TRANSFORMER_LAYERS_MAX, err));
    LEAT_TRY(check_bound("the width", size->width, LEAT_TRANSFORMER_WIDTH_MAX, err));
    LEAT_TRY(
        check_bound("the width of the gated unit", size->mlp, LEAT_TRANSFORMER_WIDTH_MAX, err));
    LEAT_TRY(check_bound("the vocabulary", size->vocabulary, LEAT_TRANSFORMER_VOCABULARY_MAX, err));
    LEAT_TRY(check_bound("the length", size->length, LEAT_ROPE_POSITIONS_MAX, err));
    LEAT_TRY(check_heads(size, err));
    if (size->rope_base >= 1 && size->rope_base <= LEAT_ROPE_BASE_MAX) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_OPTION,
        "a transformer: the base of its rotary positions must be between 1 and %g, not "
        "%g",
        LEAT_ROPE_BASE_MAX, size->rope_base);
}

/* ---- Parameters ----------------------------------------------------------------------------- */

static int64_t add(leat_transformer_shape *shape, int64_t out, int64_t in, const char *name) {
    const int64_t sizes[] = {out, in};
    LEAT_ASSERT(shape->param_count < LEAT_TRANSFORMER_PARAMS);
    return leat_param_add(shape->params, &shape->param_count, 0, DEVIATION, 2, sizes, "%s", name)
        ->offset;
}

static int64_t add_of(leat_transformer_shape *shape, int64_t layer, int64_t out, int64_t in,
                      const char *part) {
    char name[64];
    snprintf(name, sizeof name, "model.layers.%lld.%s_proj.weight", (long long)layer, part);
    return add(shape, out, in, name);
}

static int64_t add_norm(leat_transformer_shape *shape, const char *name) {
    LEAT_ASSERT(shape->param_count < LEAT_TRANSFORMER_PARAMS);
    return leat_param_add(shape->params, &shape->param_count, 1, 0, 1, &shape->size.width, "%s",
                          name)
        ->offset;
}

static void add_layer(leat_transformer_shape *shape, int64_t layer) {
    static const char *const norms[] = {"input", "post_attention"};
    leat_transformer_layer *at = &shape->layers[layer];
    const int64_t width = shape->size.width, mlp = shape->size.mlp;
    at->q = add_of(shape, layer, shape->attention, width, "self_attn.q");
    at->k = add_of(shape, layer, shape->key_values, width, "self_attn.k");
    at->v = add_of(shape, layer, shape->key_values, width, "self_attn.v");
    at->o = add_of(shape, layer, width, shape->attention, "self_attn.o");
    at->gate = add_of(shape, layer, mlp, width, "mlp.gate");
    at->up = add_of(shape, layer, mlp, width, "mlp.up");
    at->down = add_of(shape, layer, width, mlp, "mlp.down");
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.layers.%lld.%s_layernorm.weight", (long long)layer,
                 norms[i]);
        at->norm[i] = add_norm(shape, name);
    }
}

leat_code leat_transformer_shape_set(leat_transformer_shape *shape,
                                     const leat_transformer_size *size, leat_error *err) {
    *shape = (leat_transformer_shape){.size = *size};
    LEAT_TRY(check(size, err));
    shape->attention = size->heads * size->head_width;
    shape->key_values = size->kv_heads * size->head_width;
    shape->embedding = add(shape, size->vocabulary, size->width, "model.embed_tokens.weight");
    for (int64_t layer = 0; layer < size->layers; layer++) add_layer(shape, layer);
    shape->norm = add_norm(shape, "model.norm.weight");
    shape->output = add(shape, size->vocabulary, size->width, "lm_head.weight");
    shape->count = leat_params_size(shape->params, shape->param_count);
    return LEAT_OK;
}
