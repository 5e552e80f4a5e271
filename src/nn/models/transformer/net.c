/* See transformer.h: memory, and both directions. */
#include "nn/models/transformer/transformer.h"

#include "nn/ops/each.h"
#include "nn/ops/embedding.h"
#include "nn/ops/linear.h"
#include "nn/ops/move.h"
#include "nn/ops/rms_norm.h"
#include "nn/ops/rope.h"
#include "nn/ops/swiglu.h"
#include "nn/ops/token_dropout.h"
#include "nn/ops/token_loss.h"

/* ---- Memory --------------------------------------------------------------------------------- */

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* No product that large is refused. */
_Static_assert(LEAT_TRANSFORMER_ROWS_MAX *LEAT_TRANSFORMER_VOCABULARY_MAX <= LEAT_OP_VALUES_MAX,
               "logits");
_Static_assert((int64_t)LEAT_TRANSFORMER_WIDTH_MAX *LEAT_TRANSFORMER_VOCABULARY_MAX <=
                   LEAT_OP_VALUES_MAX,
               "weights of the output");

static int64_t work_count(const leat_transformer_shape *shape, const leat_device *device,
                          int64_t rows) {
    const leat_transformer_size *size = &shape->size;
    const int64_t sizes[][2] = {{size->width, shape->attention}, {size->width, shape->key_values},
                                {shape->attention, size->width}, {size->width, size->mlp},
                                {size->mlp, size->width},        {size->width, size->vocabulary}};
    int64_t count = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const leat_linear layer = {.rows = rows, .in = sizes[i][0], .out = sizes[i][1]};
        const int64_t needed = leat_linear_work_count(device, &layer);
        LEAT_ASSERT(needed >= 0);
        count = most(count, needed);
    }
    return count;
}

static void lay_out_layer(leat_transformer_kept *kept, const leat_transformer_shape *shape,
                          int64_t rows, leat_float_layout *floats) {
    const int64_t wide = rows * leat_lanes(shape->size.width);
    const int64_t queries = rows * leat_lanes(shape->attention);
    const int64_t keys = rows * leat_lanes(shape->key_values);
    const int64_t units = rows * leat_lanes(shape->size.mlp), heads = rows * shape->size.heads;
    kept->x = leat_float_layout_take(floats, wide);
    kept->middle = leat_float_layout_take(floats, wide);
    kept->scale[0] = leat_float_layout_take(floats, rows);
    kept->scale[1] = leat_float_layout_take(floats, rows);
    kept->q = leat_float_layout_take(floats, queries);
    kept->k = leat_float_layout_take(floats, keys);
    kept->v = leat_float_layout_take(floats, keys);
    kept->most = leat_float_layout_take(floats, heads);
    kept->sum = leat_float_layout_take(floats, heads);
    kept->y = leat_float_layout_take(floats, queries);
    kept->gate = leat_float_layout_take(floats, units);
    kept->up = leat_float_layout_take(floats, units);
}

void leat_transformer_lay_out(leat_transformer_scratch *s, const leat_transformer_shape *shape,
                              const leat_device *device, int64_t rows, leat_float_layout *floats) {
    const leat_transformer_size *size = &shape->size;
    const int64_t wide = rows * leat_lanes(size->width);
    const int64_t queries = rows * leat_lanes(shape->attention);
    const int64_t keys = rows * leat_lanes(shape->key_values);
    for (int64_t i = 0; i < size->layers; i++) lay_out_layer(&s->layers[i], shape, rows, floats);
    s->x = leat_float_layout_take(floats, wide);
    s->scale = leat_float_layout_take(floats, rows);
    s->normed = leat_float_layout_take(floats, wide);
    s->branch = leat_float_layout_take(floats, wide);
    s->active = leat_float_layout_take(floats, rows * leat_lanes(size->mlp));
    s->logits = leat_float_layout_take(floats, rows * leat_lanes(size->vocabulary));
    s->terms = leat_float_layout_take(floats, rows);
    s->d_x = leat_float_layout_take(floats, wide);
    s->d_normed = leat_float_layout_take(floats, wide);
    s->d_y = leat_float_layout_take(floats, queries);
    s->d_q = leat_float_layout_take(floats, queries);
    s->d_k = leat_float_layout_take(floats, keys);
    s->d_v = leat_float_layout_take(floats, keys);
    s->work = leat_float_layout_take(floats, work_count(shape, device, rows));
    s->delta = leat_float_layout_take(floats, rows * size->heads);
    s->by_id = (int32_t *)(void *)leat_float_layout_take(
        floats, leat_embedding_work_count(rows, size->vocabulary));
    s->gradient = leat_float_layout_take(floats, shape->count);
}

/* ---- What both directions have -------------------------------------------------------------- */

static int64_t rows_of(const leat_transformer_pass *pass) {
    return pass->batch->sequences * pass->batch->length;
}

static leat_linear linear_of(const leat_transformer_pass *pass, int64_t weight, int64_t in,
                             int64_t out) {
    return (leat_linear){.rows = rows_of(pass),
                         .in = in,
                         .out = out,
                         .weight = pass->parameters + weight,
                         .work = pass->scratch->work};
}

static leat_rms_norm norm_of(const leat_transformer_pass *pass, int64_t weight) {
    return (leat_rms_norm){rows_of(pass), pass->shape->size.width, LEAT_TRANSFORMER_EPS,
                           pass->parameters + weight};
}

static leat_attention attention_of(const leat_transformer_pass *pass,
                                   const leat_transformer_kept *kept) {
    const leat_transformer_size *size = &pass->shape->size;
    return (leat_attention){.sequences = pass->batch->sequences,
                            .length = pass->batch->length,
                            .heads = size->heads,
                            .kv_heads = size->kv_heads,
                            .width = size->head_width,
                            .segment = pass->batch->segments,
                            .q = kept->q,
                            .k = kept->k,
                            .v = kept->v,
                            .most = kept->most,
                            .sum = kept->sum};
}

static leat_rope rope_of(const leat_transformer_pass *pass, int64_t heads) {
    const leat_transformer_size *size = &pass->shape->size;
    return (leat_rope){rows_of(pass), heads,       size->head_width,
                       size->length,  pass->table, pass->batch->positions};
}

static leat_embedding embedding_of(const leat_transformer_pass *pass) {
    const leat_transformer_size *size = &pass->shape->size;
    return (leat_embedding){.rows = rows_of(pass),
                            .ids = size->vocabulary,
                            .width = size->width,
                            .id = pass->batch->inputs,
                            .table = pass->parameters + pass->shape->embedding};
}

/* Of the two halves of a layer, what each adds to a row. */
static leat_code drop(const leat_transformer_pass *pass, int64_t place, const float *x, float *y,
                      leat_error *err) {
    const leat_token_dropout dropout = {pass->batch, (int)place, pass->dropout};
    return leat_token_dropout_run(&pass->device, &dropout, pass->shape->size.width, x, y, err);
}

/* out = x + more, where x may be out. */
static leat_code add_rows(const leat_transformer_pass *pass, const float *x, const float *more,
                          float *out, leat_error *err) {
    const int64_t count = rows_of(pass) * leat_lanes(pass->shape->size.width);
    if (x != out) leat_copy(&pass->device, count, x, out);
    return leat_add_scaled(&pass->device, count, 1, more, out, err);
}

/* ---- Forward -------------------------------------------------------------------------------- */

static leat_code attend(const leat_transformer_pass *pass, int64_t layer, leat_error *err) {
    const leat_transformer_shape *shape = pass->shape;
    const leat_transformer_layer *at = &shape->layers[layer];
    leat_transformer_scratch *s = pass->scratch;
    leat_transformer_kept *kept = &s->layers[layer];
    const leat_device *device = &pass->device;
    const int64_t width = shape->size.width;
    const leat_rms_norm norm = norm_of(pass, at->norm[0]);
    const leat_linear q = linear_of(pass, at->q, width, shape->attention);
    const leat_linear k = linear_of(pass, at->k, width, shape->key_values);
    const leat_linear v = linear_of(pass, at->v, width, shape->key_values);
    const leat_linear o = linear_of(pass, at->o, shape->attention, width);
    const leat_rope queries = rope_of(pass, shape->size.heads);
    const leat_rope keys = rope_of(pass, shape->size.kv_heads);
    const leat_attention attention = attention_of(pass, kept);
    LEAT_TRY(leat_rms_norm_forward(device, &norm, kept->x, s->normed, kept->scale[0], err));
    LEAT_TRY(leat_linear_forward(device, &q, s->normed, kept->q, err));
    LEAT_TRY(leat_linear_forward(device, &k, s->normed, kept->k, err));
    LEAT_TRY(leat_linear_forward(device, &v, s->normed, kept->v, err));
    LEAT_TRY(leat_rope_forward(device, &queries, kept->q, err));
    LEAT_TRY(leat_rope_forward(device, &keys, kept->k, err));
    LEAT_TRY(leat_attention_forward(device, &attention, kept->y, err));
    LEAT_TRY(leat_linear_forward(device, &o, kept->y, s->branch, err));
    if (pass->dropout > 0) LEAT_TRY(drop(pass, 2 * layer, s->branch, s->branch, err));
    return add_rows(pass, kept->x, s->branch, kept->middle, err);
}

/* `next` receives what goes into the next layer. */
static leat_code gate(const leat_transformer_pass *pass, int64_t layer, float *next,
                      leat_error *err) {
    const leat_transformer_shape *shape = pass->shape;
    const leat_transformer_layer *at = &shape->layers[layer];
    leat_transformer_scratch *s = pass->scratch;
    leat_transformer_kept *kept = &s->layers[layer];
    const leat_device *device = &pass->device;
    const int64_t width = shape->size.width, mlp = shape->size.mlp;
    const leat_rms_norm norm = norm_of(pass, at->norm[1]);
    const leat_linear gate = linear_of(pass, at->gate, width, mlp);
    const leat_linear up = linear_of(pass, at->up, width, mlp);
    const leat_linear down = linear_of(pass, at->down, mlp, width);
    LEAT_TRY(leat_rms_norm_forward(device, &norm, kept->middle, s->normed, kept->scale[1], err));
    LEAT_TRY(leat_linear_forward(device, &gate, s->normed, kept->gate, err));
    LEAT_TRY(leat_linear_forward(device, &up, s->normed, kept->up, err));
    LEAT_TRY(leat_swiglu_forward(device, rows_of(pass) * leat_lanes(mlp), kept->gate, kept->up,
                                 s->active, err));
    LEAT_TRY(leat_linear_forward(device, &down, s->active, s->branch, err));
    if (pass->dropout > 0) LEAT_TRY(drop(pass, 2 * layer + 1, s->branch, s->branch, err));
    return add_rows(pass, kept->middle, s->branch, next, err);
}

leat_code leat_transformer_forward(const leat_transformer_pass *pass, leat_error *err) {
    const leat_transformer_shape *shape = pass->shape;
    const int64_t layers = shape->size.layers, width = shape->size.width;
    leat_transformer_scratch *s = pass->scratch;
    const leat_device *device = &pass->device;
    const leat_embedding embedding = embedding_of(pass);
    const leat_rms_norm norm = norm_of(pass, shape->norm);
    const leat_linear output = linear_of(pass, shape->output, width, shape->size.vocabulary);
    LEAT_TRY(leat_embedding_forward(device, &embedding, NULL, NULL, s->layers[0].x, err));
    for (int64_t layer = 0; layer < layers; layer++) {
        LEAT_TRY(attend(pass, layer, err));
        LEAT_TRY(gate(pass, layer, layer + 1 < layers ? s->layers[layer + 1].x : s->x, err));
    }
    LEAT_TRY(leat_rms_norm_forward(device, &norm, s->x, s->normed, s->scale, err));
    return leat_linear_forward(device, &output, s->normed, s->logits, err);
}

/* ---- Backward ------------------------------------------------------------------------------- */

/* The gradients of a linear layer: that of its weight, and of its input as `of` has it. */
static leat_code back(const leat_transformer_pass *pass, const leat_linear *layer, const float *x,
                      const float *up, leat_linear_gradient of, leat_error *err) {
    of.weight = pass->scratch->gradient + (layer->weight - pass->parameters);
    return leat_linear_backward(&pass->device, layer, x, up, &of, err);
}

/* From d_normed to d_x, to which it is added. */
static leat_code norm_back(const leat_transformer_pass *pass, int64_t weight, const float *x,
                           const float *scale, leat_error *err) {
    leat_transformer_scratch *s = pass->scratch;
    const leat_rms_norm norm = norm_of(pass, weight);
    const leat_rms_norm_gradient gradient = {s->d_normed, s->gradient + weight, s->d_normed};
    LEAT_TRY(leat_rms_norm_backward(&pass->device, &norm, x, scale, &gradient, err));
    return add_rows(pass, s->d_x, s->d_normed, s->d_x, err);
}

/* The gradient of what a half of a layer adds: d_x, or what dropout leaves of it. */
static leat_code branch_back(const leat_transformer_pass *pass, int64_t place, const float **up,
                             leat_error *err) {
    leat_transformer_scratch *s = pass->scratch;
    *up = s->d_x;
    if (pass->dropout <= 0) return LEAT_OK;
    *up = s->branch;
    return drop(pass, place, s->d_x, s->branch, err);
}

/* gate and up of the layer are replaced by their gradients. */
static leat_code gate_back(const leat_transformer_pass *pass, int64_t layer, leat_error *err) {
    const leat_transformer_shape *shape = pass->shape;
    const leat_transformer_layer *at = &shape->layers[layer];
    leat_transformer_scratch *s = pass->scratch;
    leat_transformer_kept *kept = &s->layers[layer];
    const leat_device *device = &pass->device;
    const int64_t width = shape->size.width, mlp = shape->size.mlp;
    const int64_t units = rows_of(pass) * leat_lanes(mlp);
    const leat_rms_norm norm = norm_of(pass, at->norm[1]);
    const leat_linear gate = linear_of(pass, at->gate, width, mlp);
    const leat_linear up = linear_of(pass, at->up, width, mlp);
    leat_linear down = linear_of(pass, at->down, mlp, width);
    const float *from;
    LEAT_TRY(branch_back(pass, 2 * layer + 1, &from, err));
    LEAT_TRY(leat_swiglu_forward(device, units, kept->gate, kept->up, s->active, err));
    LEAT_TRY(back(pass, &down, s->active, from, (leat_linear_gradient){0}, err));
    const leat_linear_gradient input = {.x = s->active};
    LEAT_TRY(leat_linear_backward(device, &down, NULL, from, &input, err));
    LEAT_TRY(leat_swiglu_backward(device, units, kept->gate, kept->up, s->active, err));
    LEAT_TRY(leat_rms_norm_forward(device, &norm, kept->middle, s->normed, kept->scale[1], err));
    LEAT_TRY(
        back(pass, &gate, s->normed, kept->gate, (leat_linear_gradient){.x = s->d_normed}, err));
    LEAT_TRY(back(pass, &up, s->normed, kept->up,
                  (leat_linear_gradient){.x = s->d_normed, .add = true}, err));
    return norm_back(pass, at->norm[1], kept->middle, kept->scale[1], err);
}

static leat_code attend_back(const leat_transformer_pass *pass, int64_t layer, leat_error *err) {
    const leat_transformer_shape *shape = pass->shape;
    const leat_transformer_layer *at = &shape->layers[layer];
    leat_transformer_scratch *s = pass->scratch;
    leat_transformer_kept *kept = &s->layers[layer];
    const leat_device *device = &pass->device;
    const int64_t width = shape->size.width;
    const leat_rms_norm norm = norm_of(pass, at->norm[0]);
    const leat_linear q = linear_of(pass, at->q, width, shape->attention);
    const leat_linear k = linear_of(pass, at->k, width, shape->key_values);
    const leat_linear v = linear_of(pass, at->v, width, shape->key_values);
    const leat_linear o = linear_of(pass, at->o, shape->attention, width);
    const leat_rope queries = rope_of(pass, shape->size.heads);
    const leat_rope keys = rope_of(pass, shape->size.kv_heads);
    const leat_attention attention = attention_of(pass, kept);
    const leat_attention_gradient gradient = {kept->y, s->d_y, s->d_q, s->d_k, s->d_v, s->delta};
    const float *from;
    LEAT_TRY(branch_back(pass, 2 * layer, &from, err));
    LEAT_TRY(back(pass, &o, kept->y, from, (leat_linear_gradient){.x = s->d_y}, err));
    LEAT_TRY(leat_attention_backward(device, &attention, &gradient, err));
    LEAT_TRY(leat_rope_backward(device, &queries, s->d_q, err));
    LEAT_TRY(leat_rope_backward(device, &keys, s->d_k, err));
    LEAT_TRY(leat_rms_norm_forward(device, &norm, kept->x, s->normed, kept->scale[0], err));
    LEAT_TRY(back(pass, &q, s->normed, s->d_q, (leat_linear_gradient){.x = s->d_normed}, err));
    LEAT_TRY(back(pass, &k, s->normed, s->d_k,
                  (leat_linear_gradient){.x = s->d_normed, .add = true}, err));
    LEAT_TRY(back(pass, &v, s->normed, s->d_v,
                  (leat_linear_gradient){.x = s->d_normed, .add = true}, err));
    return norm_back(pass, at->norm[0], kept->x, kept->scale[0], err);
}

leat_code leat_transformer_backward(const leat_transformer_pass *pass, double *loss,
                                    int64_t *targets, leat_error *err) {
    const leat_transformer_shape *shape = pass->shape;
    const int64_t width = shape->size.width, rows = rows_of(pass);
    leat_transformer_scratch *s = pass->scratch;
    const leat_device *device = &pass->device;
    const leat_token_loss cross_entropy = {rows, shape->size.vocabulary, pass->batch->targets,
                                           pass->batch->target_segments, s->terms};
    const leat_embedding embedding = embedding_of(pass);
    const leat_linear output = linear_of(pass, shape->output, width, shape->size.vocabulary);
    double sum = 0;
    *loss = 0;
    leat_clear(device, shape->count, s->gradient);
    leat_clear(device, rows * leat_lanes(width), s->d_x);
    LEAT_TRY(leat_token_loss_run(device, &cross_entropy, s->logits, &sum, targets, err));
    if (*targets > 0) *loss = sum / (double)*targets;
    LEAT_TRY(
        back(pass, &output, s->normed, s->logits, (leat_linear_gradient){.x = s->d_normed}, err));
    LEAT_TRY(norm_back(pass, shape->norm, s->x, s->scale, err));
    for (int64_t layer = shape->size.layers - 1; layer >= 0; layer--) {
        LEAT_TRY(gate_back(pass, layer, err));
        LEAT_TRY(attend_back(pass, layer, err));
    }
    return leat_embedding_backward(device, &embedding, s->d_x, s->gradient + shape->embedding,
                                   s->by_id, err);
}
