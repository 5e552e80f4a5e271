/* See model.h: memory, units, the step, and what scores are made of. */
#include "nn/models/vgae/model.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "nn/kernel_suites.h"
#include "nn/models/vgae/vgae.h"
#include "nn/ops/graph_random.h"
#include "nn/ops/latent.h"
#include "nn/ops/move.h"
#include "nn/ops/rows.h"
#include "nn/random_streams.h"
#include "nn/unit/one_pass.h"

enum { LOSS, LOSS_RECON, LOSS_ID, LOSS_NEIGHBOURS, LOSS_KL, SUMS };
enum { NORM, NORMS };
_Static_assert(SUMS <= LEAT_UNIT_SUMS_MAX && NORMS <= LEAT_MODEL_NORMS_MAX, "of any model");

static const leat_value values[SUMS + NORMS + 1] = {
    [LOSS] = {"loss", "loss", -1, "Losses", "mean over nodes", "loss"},
    [LOSS_RECON] = {"loss_recon", "reconstruction", -1, "Losses", "mean over nodes", NULL},
    [LOSS_ID] = {"loss_id", "identifiers", -1, "Losses", "mean over nodes", NULL},
    [LOSS_NEIGHBOURS] = {"loss_neighbours", "neighbours", -1, "Losses", "mean over nodes", NULL},
    [LOSS_KL] = {"loss_kl", "KL divergence", 0, "Losses", "mean over nodes", NULL},
    [SUMS + NORM] = {"norm", "all weights", 0, "Gradients", "norm of the mean gradient", NULL},
};

typedef struct model {
    leat_vgae_shape shape;
    leat_vgae_settings settings;
    leat_engine engine;
    leat_vgae_scratch *scratch; /* [threads] */
    float *scaled;              /* [shape.size] gradient of a step, as Adam gets it */
    leat_float_layout floats;
} model;

/* ---- Memory --------------------------------------------------------------------------------- */

static void lay_out(model *of, leat_float_layout *floats) {
    of->scaled = leat_float_layout_take(floats, of->shape.size);
    for (int i = 0; i < of->engine.threads; i++) {
        leat_vgae_scratch none;
        leat_vgae_lay_out(of->scratch == NULL ? &none : &of->scratch[i], &of->shape,
                          &of->engine.device, of->settings.max_nodes, of->settings.max_edges,
                          floats);
    }
}

static leat_code check_bound(const char *option, int64_t value, int64_t most, leat_error *err) {
    if (value >= 1 && value <= most) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "a VGAE: %s must be between 1 and %lld, not %lld",
                     option, (long long)most, (long long)value);
}

/* Checks the setup and counts, without memory. */
static leat_code plan(model *of, const leat_model_setup *setup, leat_float_layout *floats,
                      leat_error *err) {
    const leat_vgae_settings *settings = setup->settings;
    *of = (model){.settings = *settings};
    LEAT_TRY(check_bound("--max-nodes", settings->max_nodes, LEAT_VGAE_NODES_MAX, err));
    LEAT_TRY(check_bound("--max-edges", settings->max_edges, LEAT_VGAE_EDGES_MAX, err));
    LEAT_TRY(leat_vgae_shape_set(&of->shape, settings->size, settings->vocabulary, err));
    LEAT_TRY(leat_engine_set(&of->engine, "VGAE", setup->kernels, setup->threads, err));
    lay_out(of, floats);
    return LEAT_OK;
}

static leat_code sizes_of(const leat_model_setup *setup, leat_model_sizes *out, leat_error *err) {
    model of;
    leat_float_layout floats = {0};
    *out = (leat_model_sizes){0};
    LEAT_TRY(plan(&of, setup, &floats, err));
    out->parameters = of.shape.size;
    out->bytes = leat_float_layout_bytes(&floats) + (int64_t)sizeof of +
                 setup->threads * (int64_t)sizeof(leat_vgae_scratch);
    return LEAT_OK;
}

static void destroy(void *self) {
    model *of = self;
    if (of == NULL) return;
    leat_engine_stop(&of->engine);
    leat_float_layout_free(&of->floats);
    leat_free(of->scratch);
    leat_free(of);
}

static leat_code create(void **self, const leat_model_setup *setup, leat_error *err) {
    model *of = NULL;
    leat_float_layout floats = {0};
    *self = NULL;
    LEAT_TRY(LEAT_NEW(&of, 1, err));
    leat_code code = plan(of, setup, &floats, err);
    if (code == LEAT_OK) code = leat_engine_start(&of->engine, err);
    if (code == LEAT_OK) code = LEAT_NEW(&of->scratch, setup->threads, err);
    if (code == LEAT_OK) code = leat_float_layout_alloc(&floats, err);
    if (code != LEAT_OK) {
        destroy(of);
        return code;
    }
    lay_out(of, &floats);
    leat_float_layout_end(&floats);
    of->floats = floats;
    /* lanes that no op writes are numbers, as ops that compute with whole rows need them */
    leat_clear(&of->engine.device, floats.used, floats.base);
    *self = of;
    return LEAT_OK;
}

/* ---- What it is made of --------------------------------------------------------------------- */

static bool tensor(const void *self, int index, leat_model_tensor *out) {
    const leat_vgae_shape *shape = &((const model *)self)->shape;
    return leat_params_tensor(shape->params, shape->param_count, index, out);
}

static void init(const void *self, uint64_t seed, float *parameters, float *running) {
    const model *of = self;
    (void)running; /* it has none */
    leat_one_pass_init(&of->engine, of->shape.params, of->shape.param_count, seed, parameters);
}

/* ---- A unit --------------------------------------------------------------------------------- */

static void check_batch(const model *of, const leat_graph_micro *batch) {
    LEAT_ASSERT(batch->graphs >= 1 && batch->graphs <= batch->nodes);
    LEAT_ASSERT(batch->nodes <= of->settings.max_nodes && batch->edges >= 0 &&
                batch->edges <= of->settings.max_edges);
    for (int64_t i = 0; i < batch->nodes; i++) /* number V is that of hidden nodes */
        LEAT_ASSERT(batch->node_id[i] >= 0 && batch->node_id[i] < of->shape.vocabulary);
}

static leat_code draw(const leat_vgae_pass *pass, double id_drop, leat_error *err) {
    leat_vgae_scratch *s = pass->scratch;
    leat_graph_random random = {.batch = pass->batch, .stream = LEAT_STREAM_NODE_MASK};
    LEAT_TRY(leat_graph_mask(&pass->device, &random, LEAT_VGAE_HIDDEN, s->hidden, err));
    random.stream = LEAT_STREAM_ID_DROP;
    LEAT_TRY(leat_graph_mask(&pass->device, &random, (float)id_drop, s->dropped, err));
    random.stream = LEAT_STREAM_LATENT;
    LEAT_TRY(leat_graph_normal(&pass->device, &random, pass->shape->values, s->noise, err));
    random.stream = LEAT_STREAM_NEGATIVES;
    return leat_graph_below(&pass->device, &random, LEAT_VGAE_DRAWS,
                            (int32_t)pass->shape->vocabulary, s->drawn, err);
}

typedef struct making {
    model *of;
    const leat_unit_batches *batches;
    const float *parameters;
} making;

static leat_code make(void *context, leat_micro *micro, leat_error *err) {
    const making *making = context;
    model *of = making->of;
    leat_vgae_scratch *s = &of->scratch[micro->worker];
    const void *batch = NULL;
    leat_vgae_losses losses;
    LEAT_TRY(
        making->batches->get(making->batches->context, micro->index, micro->worker, &batch, err));
    const leat_vgae_pass pass = {.shape = &of->shape,
                                 .device = micro->device,
                                 .scratch = s,
                                 .batch = batch,
                                 .parameters = making->parameters,
                                 .random = {s->hidden, s->dropped, s->noise, s->drawn},
                                 .dropout = of->settings.dropout};
    check_batch(of, pass.batch);
    LEAT_TRY(draw(&pass, of->settings.id_drop, err));
    LEAT_TRY(leat_vgae_forward(&pass, err));
    LEAT_TRY(leat_vgae_backward(&pass, &losses, err));
    micro->sums[LOSS] = losses.total;
    micro->sums[LOSS_RECON] = losses.recon;
    micro->sums[LOSS_ID] = losses.id;
    micro->sums[LOSS_NEIGHBOURS] = losses.neighbours;
    micro->sums[LOSS_KL] = losses.kl;
    micro->gradient = s->gradient;
    micro->weight = (double)pass.batch->nodes;
    return LEAT_OK;
}

static leat_code unit(void *self, int pass, const leat_unit_batches *batches,
                      const float *parameters, leat_unit_numbers *out, leat_error *err) {
    model *of = self;
    making making = {of, batches, parameters};
    leat_unit_sums sums = {0};
    uint64_t mode = 0;
    LEAT_ASSERT(pass == 0);
    const leat_unit_job job = {.micro_batches = batches->count,
                               .size = of->shape.size,
                               .end = of->shape.size,
                               .sums = SUMS,
                               .make = make,
                               .context = &making};
    LEAT_TRY(leat_engine_enter(&of->engine, &mode, err));
    const leat_code code = leat_unit_run(&of->engine, &job, out->gradient, &sums, err);
    leat_engine_leave(&of->engine, mode);
    for (int i = 0; i < SUMS; i++) out->sums[i] = sums.sums[i];
    out->weight = sums.weight;
    return code;
}

/* ---- A step --------------------------------------------------------------------------------- */

static void norm(const void *self, int pass, const float *gradient, double weight, double *norms) {
    LEAT_ASSERT(pass == 0);
    norms[NORM] = leat_one_pass_norm(((const model *)self)->shape.size, gradient, weight);
}

static leat_code step(void *self, const leat_model_step *step, leat_error *err) {
    model *of = self;
    return leat_one_pass_step(&of->engine, of->settings.learning_rate, of->shape.size, of->scaled,
                              step, err);
}

static void cancel(void *self, bool cancelled) {
    leat_engine_cancel(&((model *)self)->engine, cancelled);
}

/* ---- What scores are made of ---------------------------------------------------------------- */

int64_t leat_vgae_latent(const void *self) { return ((const model *)self)->shape.values; }

leat_code leat_vgae_reconstruct(void *self, const leat_graph_micro *batch, const uint8_t *hidden,
                                const float *parameters, const leat_vgae_output *out,
                                leat_error *err) {
    model *of = self;
    leat_vgae_scratch *s = of->scratch;
    const int64_t nodes = batch->nodes, width = of->shape.values;
    uint64_t mode = 0;
    check_batch(of, batch);
    LEAT_TRY(leat_engine_enter(&of->engine, &mode, err));
    const leat_vgae_pass pass = {.shape = &of->shape,
                                 .device = of->engine.device,
                                 .scratch = s,
                                 .batch = batch,
                                 .parameters = parameters,
                                 .random = {.hidden = hidden}};
    const leat_code code = leat_vgae_forward(&pass, err);
    if (code == LEAT_OK && out->recon != NULL)
        leat_rows_out(nodes, LEAT_MICRO_NODE_FEATURES, INFINITY, s->recon, out->recon);
    if (code == LEAT_OK && out->mu != NULL) leat_rows_out(nodes, width, INFINITY, s->mu, out->mu);
    if (code == LEAT_OK && out->logvar != NULL)
        leat_rows_out(nodes, width, LEAT_LOGVAR_MAX, s->logvar, out->logvar);
    if (code == LEAT_OK && out->divergence != NULL)
        memcpy(out->divergence, s->sums[1], sizeof *out->divergence * (size_t)nodes);
    leat_engine_leave(&of->engine, mode);
    return code;
}

static const char *const suites[] = {LEAT_SUITE_CORE, LEAT_SUITE_ROWS, LEAT_SUITE_SEGMENTS, NULL};

const leat_model_class leat_vgae_class = {
    .name = "vgae",
    .identity = "leat vgae 1",
    .batch = LEAT_MICRO_BATCH_GRAPHS,
    .values = values,
    .sums = SUMS,
    .norms = NORMS,
    .suites = suites,
    .passes = leat_one_pass_passes,
    .sizes = sizes_of,
    .create = create,
    .destroy = destroy,
    .tensor = tensor,
    .init = init,
    .unit = unit,
    .fold = leat_one_pass_fold,
    .norm = norm,
    .step = step,
    .cancel = cancel,
};
