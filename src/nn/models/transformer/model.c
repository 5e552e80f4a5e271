/* See model.h: memory, units, the step, and logits. */
#include "nn/models/transformer/model.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "nn/float_mode.h"
#include "nn/kernel_suites.h"
#include "nn/models/transformer/transformer.h"
#include "nn/ops/adam.h"
#include "nn/ops/move.h"
#include "nn/ops/rope.h"
#include "nn/ops/rows.h"
#include "nn/unit/one_pass.h"

#define BETA1 0.9
#define BETA2 0.999
#define ADAM_EPS 1e-8
#define DECAY 0.01

enum { LOSS, SUMS };
enum { NORM, NORMS };

static const leat_value values[SUMS + NORMS + 1] = {
    [LOSS] = {"loss", "loss", -1, "Losses", "mean over tokens", "loss"},
    [SUMS + NORM] = {"norm", "all weights", 0, "Gradients", "norm of the mean gradient", NULL},
};

typedef struct model {
    leat_transformer_shape shape;
    leat_transformer_settings settings;
    int64_t rows; /* of the largest micro-batch */
    leat_engine engine;
    leat_transformer_scratch *scratch; /* [threads] */
    float *table;                      /* of rotary positions */
    leat_float_layout floats;
} model;

/* ---- Memory --------------------------------------------------------------------------------- */

static void lay_out(model *of, leat_float_layout *floats) {
    of->table =
        leat_float_layout_take(floats, of->settings.size.length * of->settings.size.head_width);
    for (int i = 0; i < of->engine.threads; i++) {
        leat_transformer_scratch none;
        leat_transformer_lay_out(of->scratch == NULL ? &none : &of->scratch[i], &of->shape,
                                 &of->engine.device, of->rows, floats);
    }
}

static leat_code check_settings(const leat_transformer_settings *settings, leat_error *err) {
    const leat_schedule *schedule = &settings->schedule;
    if (!(settings->dropout >= 0 && settings->dropout < 1))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a transformer: dropout must be at least 0 and below 1, not %g",
                         settings->dropout);
    if (!(schedule->peak > 0 && isfinite(schedule->peak)))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a transformer: the learning rate must be above 0 and finite, not %g",
                         schedule->peak);
    if (schedule->kind == LEAT_SCHEDULE_COSINE &&
        !(schedule->warmup >= 0 && schedule->warmup < schedule->steps))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a transformer: a cosine schedule of %lld steps cannot have a warm-up of "
                         "%lld; it must be at least 0 and below the number of steps",
                         (long long)schedule->steps, (long long)schedule->warmup);
    return LEAT_OK;
}

/* Checks the setup and counts, without memory. */
static leat_code plan(model *of, const leat_model_setup *setup, leat_float_layout *floats,
                      leat_error *err) {
    const leat_transformer_settings *settings = setup->settings;
    *of = (model){.settings = *settings};
    LEAT_TRY(check_settings(settings, err));
    LEAT_TRY(leat_transformer_shape_set(&of->shape, &settings->size, err));
    const int64_t most = LEAT_TRANSFORMER_ROWS_MAX / settings->size.length;
    if (setup->micro_batch < 1 || setup->micro_batch > most)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a transformer: a micro-batch must have between 1 and %lld sequences of "
                         "%lld tokens, not %lld",
                         (long long)most, (long long)settings->size.length,
                         (long long)setup->micro_batch);
    of->rows = setup->micro_batch * settings->size.length;
    LEAT_TRY(leat_engine_set(&of->engine, "transformer", setup->kernels, setup->threads, err));
    lay_out(of, floats);
    return LEAT_OK;
}

static leat_code sizes_of(const leat_model_setup *setup, leat_model_sizes *out, leat_error *err) {
    model of;
    leat_float_layout floats = {0};
    *out = (leat_model_sizes){0};
    LEAT_TRY(plan(&of, setup, &floats, err));
    out->parameters = of.shape.count;
    out->bytes = leat_float_layout_bytes(&floats) + (int64_t)sizeof of +
                 setup->threads * (int64_t)sizeof(leat_transformer_scratch);
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
    const leat_transformer_size *size = &of->settings.size;
    const uint64_t mode = leat_float_mode_begin();
    leat_rope_fill(size->length, size->head_width, size->rope_base, of->table);
    leat_float_mode_end(mode);
    *self = of;
    return LEAT_OK;
}

/* ---- What it is made of --------------------------------------------------------------------- */

static bool tensor(const void *self, int index, leat_model_tensor *out) {
    const leat_transformer_shape *shape = &((const model *)self)->shape;
    return leat_params_tensor(shape->params, shape->param_count, index, out);
}

static void init(const void *self, uint64_t seed, float *parameters, float *running) {
    const model *of = self;
    (void)running; /* it has none */
    leat_one_pass_init(&of->engine, of->shape.params, of->shape.param_count, seed, parameters);
}

/* ---- A unit --------------------------------------------------------------------------------- */

/* Numbers of tokens and positions, which come from data. */
static leat_code check_rows(const model *of, const leat_token_micro *batch, bool targets,
                            leat_error *err) {
    const leat_transformer_size *size = &of->settings.size;
    const struct {
        const char *what;
        const int32_t *numbers, *where; /* where: NULL, or not 0 in the rows that count */
        int64_t below;
    } all[] = {{"input", batch->inputs, NULL, size->vocabulary},
               {"position", batch->positions, NULL, size->length},
               {"target", batch->targets, batch->target_segments, size->vocabulary}};
    for (int k = 0; k < (targets ? 3 : 2); k++) {
        for (int64_t i = 0; i < batch->sequences * batch->length; i++) {
            const int32_t number = all[k].numbers[i];
            if (all[k].where != NULL && all[k].where[i] == 0) continue;
            if (number >= 0 && number < all[k].below) continue;
            return leat_fail(err, LEAT_ERR_INPUT,
                             "token %lld of sequence %lld of a micro-batch: the %s is %d; this "
                             "transformer takes 0 to %lld",
                             (long long)(i % batch->length), (long long)(i / batch->length),
                             all[k].what, number, (long long)all[k].below - 1);
        }
    }
    return LEAT_OK;
}

/* Sizes, too: sequences may be those of another program's data set. */
static leat_code check_batch(const model *of, const leat_token_micro *batch, bool targets,
                             leat_error *err) {
    const int64_t most = of->settings.size.length;
    LEAT_ASSERT(batch->sequences >= 1 && batch->length >= 1);
    if (batch->length > most)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "a micro-batch: its sequences have %lld tokens; this transformer takes at "
                         "most %lld, its length; give it shorter sequences or make it longer",
                         (long long)batch->length, (long long)most);
    if (batch->sequences > of->rows / batch->length)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "a micro-batch: it has %lld sequences of %lld tokens; this transformer "
                         "has memory for %lld of them; give it fewer at a time",
                         (long long)batch->sequences, (long long)batch->length,
                         (long long)(of->rows / batch->length));
    return check_rows(of, batch, targets, err);
}

static leat_transformer_pass pass_of(const model *of, const leat_device *device, int worker,
                                     const leat_token_micro *batch, const float *parameters) {
    return (leat_transformer_pass){.shape = &of->shape,
                                   .device = *device,
                                   .scratch = &of->scratch[worker],
                                   .batch = batch,
                                   .table = of->table,
                                   .parameters = parameters};
}

typedef struct making {
    model *of;
    const leat_unit_batches *batches;
    const float *parameters;
} making;

static leat_code make(void *context, leat_micro *micro, leat_error *err) {
    const making *making = context;
    model *of = making->of;
    const void *batch = NULL;
    int64_t targets = 0;
    LEAT_TRY(
        making->batches->get(making->batches->context, micro->index, micro->worker, &batch, err));
    leat_transformer_pass pass =
        pass_of(of, &micro->device, micro->worker, batch, making->parameters);
    pass.dropout = of->settings.dropout;
    LEAT_TRY(check_batch(of, batch, true, err));
    LEAT_TRY(leat_transformer_forward(&pass, err));
    LEAT_TRY(leat_transformer_backward(&pass, &micro->sums[LOSS], &targets, err));
    if (targets == 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "micro-batch %lld of a unit has no token to predict: all of its target "
                         "segments are 0",
                         (long long)micro->index);
    micro->gradient = pass.scratch->gradient;
    micro->weight = (double)targets;
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
                               .size = of->shape.count,
                               .end = of->shape.count,
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
    norms[NORM] = leat_one_pass_norm(((const model *)self)->shape.count, gradient, weight);
}

static leat_code apply(const model *of, const leat_model_step *step, leat_error *err) {
    const leat_transformer_shape *shape = &of->shape;
    const double length = leat_one_pass_norm(shape->count, step->gradient, step->weight);
    const double factor = leat_one_pass_clip(length) / step->weight;
    leat_adam adam = {.rate = leat_schedule_rate(&of->settings.schedule, step->step + 1),
                      .beta1 = BETA1,
                      .beta2 = BETA2,
                      .eps = ADAM_EPS};
    for (int i = 0; i < shape->param_count; i++) {
        const leat_param *param = &shape->params[i];
        const leat_adam_weights weights = {.count = param->count,
                                           .gradient = step->gradient + param->offset,
                                           .gradient_factor = factor,
                                           .weights = step->parameters + param->offset,
                                           .first = step->first + param->offset,
                                           .second = step->second + param->offset};
        adam.decay = param->rank == 2 ? DECAY : 0;
        LEAT_TRY(leat_adam_apply(&of->engine.device, &adam, step->step + 1, &weights, err));
    }
    return LEAT_OK;
}

static leat_code step(void *self, const leat_model_step *step, leat_error *err) {
    model *of = self;
    const leat_schedule *schedule = &of->settings.schedule;
    uint64_t mode = 0;
    LEAT_TRY(leat_one_pass_check(step, err));
    if (schedule->kind == LEAT_SCHEDULE_COSINE && step->step >= schedule->steps)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "step %lld of a cosine schedule of %lld steps, which has no rate for it; "
                         "use a constant one to go beyond",
                         (long long)step->step + 1, (long long)schedule->steps);
    LEAT_TRY(leat_engine_enter(&of->engine, &mode, err));
    const leat_code code = apply(of, step, err);
    leat_engine_leave(&of->engine, mode);
    return code;
}

static void cancel(void *self, bool cancelled) {
    leat_engine_cancel(&((model *)self)->engine, cancelled);
}

/* ---- Logits --------------------------------------------------------------------------------- */

leat_code leat_transformer_logits(void *self, const leat_token_micro *batch,
                                  const float *parameters, float *out, leat_error *err) {
    model *of = self;
    uint64_t mode = 0;
    LEAT_TRY(check_batch(of, batch, false, err));
    LEAT_TRY(leat_engine_enter(&of->engine, &mode, err));
    const leat_transformer_pass pass = pass_of(of, &of->engine.device, 0, batch, parameters);
    const leat_code code = leat_transformer_forward(&pass, err);
    if (code == LEAT_OK)
        leat_rows_out(batch->sequences * batch->length, of->shape.size.vocabulary, INFINITY,
                      pass.scratch->logits, out);
    leat_engine_leave(&of->engine, mode);
    return code;
}

static const char *const suites[] = {LEAT_SUITE_CORE, LEAT_SUITE_ROWS, LEAT_SUITE_SEGMENTS,
                                     LEAT_SUITE_TOKENS, NULL};

const leat_model_class leat_transformer_class = {
    .name = "transformer",
    .identity = "leat transformer 1",
    .batch = LEAT_MICRO_BATCH_TOKENS,
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
