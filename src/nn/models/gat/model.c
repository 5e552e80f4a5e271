/* See model.h: memory, units, the step, and scores. */
#include "nn/models/gat/model.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "nn/kernel_suites.h"
#include "nn/models/gat/gat.h"
#include "nn/ops/move.h"
#include "nn/unit/one_pass.h"

enum { LOSS, SUMS };
enum { NORM, NORMS };

static const leat_value values[SUMS + NORMS + 1] = {
    [LOSS] = {"loss", "loss", -1, "Loss", "mean over graphs", "loss"},
    [SUMS + NORM] = {"norm", "all weights", 0, "Gradients", "norm of the mean gradient", NULL},
};

typedef struct model {
    leat_gat_shape shape;
    leat_gat_settings settings;
    leat_gat_bounds bounds;
    leat_engine engine;
    leat_gat_memory *memory; /* [threads] */
    float *scaled;           /* [shape.size] gradient of a step, as Adam gets it */
    leat_float_layout floats;
} model;

/* ---- Memory --------------------------------------------------------------------------------- */

static leat_code lay_out(model *of, leat_float_layout *floats, leat_error *err) {
    of->scaled = leat_float_layout_take(floats, of->shape.size);
    for (int i = 0; i < of->engine.threads; i++) {
        leat_gat_memory none;
        LEAT_TRY(leat_gat_lay_out(of->memory == NULL ? &none : &of->memory[i], &of->shape,
                                  &of->engine.device, &of->bounds, floats, err));
    }
    return LEAT_OK;
}

static leat_code check_bound(const char *option, int64_t value, int64_t least, int64_t most,
                             leat_error *err) {
    if (value >= least && value <= most) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "a GAT: %s must be between %lld and %lld, not %lld",
                     option, (long long)least, (long long)most, (long long)value);
}

/* Checks the setup and counts, without memory. */
static leat_code plan(model *of, const leat_model_setup *setup, leat_float_layout *floats,
                      leat_error *err) {
    const leat_gat_settings *settings = setup->settings;
    *of = (model){.settings = *settings, .bounds = {settings->max_nodes, settings->max_edges}};
    LEAT_TRY(check_bound("--max-nodes", settings->max_nodes, 1, LEAT_GAT_NODES_MAX, err));
    LEAT_TRY(check_bound("--max-edges", settings->max_edges, 1, LEAT_GAT_EDGES_MAX, err));
    LEAT_TRY(leat_gat_shape_set(&of->shape, settings->size, settings->vocabulary, err));
    LEAT_TRY(leat_engine_set(&of->engine, "GAT", setup->kernels, setup->threads, err));
    return lay_out(of, floats, err);
}

static leat_code sizes_of(const leat_model_setup *setup, leat_model_sizes *out, leat_error *err) {
    model of;
    leat_float_layout floats = {0};
    *out = (leat_model_sizes){0};
    LEAT_TRY(plan(&of, setup, &floats, err));
    out->parameters = of.shape.size;
    out->bytes = leat_float_layout_bytes(&floats) + (int64_t)sizeof of +
                 setup->threads * (int64_t)sizeof(leat_gat_memory);
    return LEAT_OK;
}

static void destroy(void *self) {
    model *of = self;
    if (of == NULL) return;
    leat_engine_stop(&of->engine);
    leat_float_layout_free(&of->floats);
    leat_free(of->memory);
    leat_free(of);
}

static leat_code create(void **self, const leat_model_setup *setup, leat_error *err) {
    model *of = NULL;
    leat_float_layout floats = {0};
    *self = NULL;
    LEAT_TRY(LEAT_NEW(&of, 1, err));
    leat_code code = plan(of, setup, &floats, err);
    if (code == LEAT_OK) code = leat_engine_start(&of->engine, err);
    if (code == LEAT_OK) code = LEAT_NEW(&of->memory, setup->threads, err);
    if (code == LEAT_OK) code = leat_float_layout_alloc(&floats, err);
    if (code == LEAT_OK) {
        of->floats = floats;
        code = lay_out(of, &floats, err);
    }
    if (code != LEAT_OK) {
        destroy(of);
        return code;
    }
    leat_float_layout_end(&floats);
    *self = of;
    return LEAT_OK;
}

/* ---- What it is made of --------------------------------------------------------------------- */

static bool tensor(const void *self, int index, leat_model_tensor *out) {
    const leat_gat_shape *shape = &((const model *)self)->shape;
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
    LEAT_ASSERT(batch->nodes <= of->bounds.nodes && batch->edges <= of->bounds.edges);
}

static leat_class_loss loss_of(const model *of, const leat_graph_micro *batch, float *work) {
    static const leat_class_loss_kind kinds[] = {
        [LEAT_GAT_LOSS_FOCAL] = LEAT_CLASS_LOSS_FOCAL,
        [LEAT_GAT_LOSS_CE] = LEAT_CLASS_LOSS_CE,
        [LEAT_GAT_LOSS_WEIGHTED] = LEAT_CLASS_LOSS_WEIGHTED,
    };
    return (leat_class_loss){.kind = kinds[of->settings.loss],
                             .weight = {1, LEAT_GAT_ATTACK_WEIGHT},
                             .rows = batch->graphs,
                             .label = batch->label,
                             .work = work};
}

typedef struct making {
    model *of;
    const leat_unit_batches *batches;
    const float *parameters;
} making;

static leat_code make(void *context, leat_micro *micro, leat_error *err) {
    const making *making = context;
    model *of = making->of;
    const leat_gat_memory *memory = &of->memory[micro->worker];
    const leat_gat_head *head = &memory->head;
    const void *batch = NULL;
    LEAT_TRY(
        making->batches->get(making->batches->context, micro->index, micro->worker, &batch, err));
    const leat_gat_run run = {.shape = &of->shape,
                              .device = micro->device,
                              .memory = memory,
                              .batch = batch,
                              .parameters = making->parameters,
                              .noise = {of->settings.dropout, of->settings.id_drop}};
    check_batch(of, run.batch);
    const leat_class_loss loss = loss_of(of, run.batch, head->work);
    LEAT_TRY(leat_gat_forward(&run, err));
    leat_class_loss_run(&micro->device, &loss, head->dense[LEAT_GAT_DENSE], &micro->sums[LOSS],
                        head->up_dense[0]);
    micro->gradient = memory->gradient;
    micro->weight = (double)run.batch->graphs;
    return leat_gat_backward(&run, err);
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
    out->sums[LOSS] = sums.sums[LOSS];
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

/* ---- Scores --------------------------------------------------------------------------------- */

/* |gradient x feature| from the gradient of the attack's logit: graphs share nothing but weights,
 * so all are computed at once. */
static leat_code blame(const leat_gat_run *run, float *out, leat_error *err) {
    const int64_t step = leat_lanes(LEAT_GAT_INPUT);
    const leat_graph_micro *batch = run->batch;
    float *up = run->memory->head.up_dense[0];
    leat_clear(&run->device, batch->graphs * LEAT_LANES, up);
    for (int64_t g = 0; g < batch->graphs; g++) up[g * LEAT_LANES + 1] = 1;
    LEAT_TRY(leat_gat_backward(run, err));
    for (int64_t i = 0; i < batch->nodes; i++) {
        const float *gradient = run->memory->up_input + i * step + LEAT_GAT_EMBEDDING;
        const float *x = batch->x + i * LEAT_MICRO_NODE_FEATURES;
        for (int f = 0; f < LEAT_MICRO_NODE_FEATURES; f++)
            out[i * LEAT_MICRO_NODE_FEATURES + f] = fabsf(gradient[f] * x[f]);
    }
    return LEAT_OK;
}

static leat_code score(const leat_gat_run *run, const leat_gat_scores *out, leat_error *err) {
    LEAT_TRY(leat_gat_forward(run, err));
    const float *logits = run->memory->head.dense[LEAT_GAT_DENSE];
    for (int64_t i = 0; i < LEAT_GAT_CLASSES * run->batch->graphs; i++)
        out->logits[i] = logits[i / LEAT_GAT_CLASSES * LEAT_LANES + i % LEAT_GAT_CLASSES];
    leat_class_probability(&run->device, run->batch->graphs, logits, out->probability);
    return out->blame == NULL ? LEAT_OK : blame(run, out->blame, err);
}

leat_code leat_gat_score(void *self, const leat_graph_micro *batch, const float *parameters,
                         const leat_gat_scores *out, leat_error *err) {
    model *of = self;
    uint64_t mode = 0;
    check_batch(of, batch);
    LEAT_TRY(leat_engine_enter(&of->engine, &mode, err));
    const leat_gat_run run = {.shape = &of->shape,
                              .device = of->engine.device,
                              .memory = &of->memory[0],
                              .batch = batch,
                              .parameters = parameters};
    const leat_code code = score(&run, out, err);
    leat_engine_leave(&of->engine, mode);
    return code;
}

static const char *const suites[] = {LEAT_SUITE_CORE, LEAT_SUITE_ROWS, LEAT_SUITE_SEGMENTS, NULL};

const leat_model_class leat_gat_class = {
    .name = "gat",
    .identity = "leat gat 1",
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
