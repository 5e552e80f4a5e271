/* See trainer.h. */
#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/batch.h"
#include "nn/ops/streams.h"
#include "nn/unit/floats.h"
#include "nn/unit/unit.h"

/* What is of no use for these options is not allocated: without codec-down units see the weights
 * themselves, and the only unit of a step is its own sum. */
struct leat_trainer {
    leat_train_options options; /* its texts and settings are the caller's */
    leat_plan plan;
    const leat_samples *samples;
    leat_model model;
    leat_model_sizes sizes;
    leat_train_state state;
    leat_unit_numbers unit;
    uint8_t *batches; /* [workers][batch_bytes] */
    float *rounded;   /* weights as units see them, or NULL */
    float *sum;       /* of gradients, or NULL */
    leat_step_numbers numbers;
    int pass_index;
    int64_t added; /* units, of this pass */
};

/* ---- Memory --------------------------------------------------------------------------------- */

static void lay_out(leat_trainer *self, leat_floats *floats) {
    const int64_t size = self->sizes.parameters;
    self->state.parameters = leat_floats_take(floats, size);
    self->state.first = leat_floats_take(floats, size);
    self->state.second = leat_floats_take(floats, size);
    self->state.running = leat_floats_take(floats, self->sizes.running);
    self->unit.gradient = leat_floats_take(floats, size);
    self->unit.statistics =
        leat_floats_take(floats, leat_plan_micro_batches(&self->plan) * self->sizes.statistics);
    self->rounded =
        self->options.codec_down != LEAT_CODEC_F32 ? leat_floats_take(floats, size) : NULL;
    self->sum = self->plan.units > 1 ? leat_floats_take(floats, size) : NULL;
}

/* Images of one micro-batch, after what is said of them. */
#define BATCH_HEAD 64
_Static_assert(sizeof(leat_image_batch) <= BATCH_HEAD, "the head of a batch");

static int64_t batch_bytes(const leat_plan *plan) {
    const int64_t bytes = BATCH_HEAD + plan->micro_batch * leat_model_sample_bytes();
    return (bytes + 63) / 64 * 64;
}

/* Of all workers of a unit. */
static int64_t batches_bytes(const leat_plan *plan, int threads) {
    const int64_t micros = leat_plan_micro_batches(plan);
    return (micros < threads ? micros : threads) * batch_bytes(plan);
}

static leat_code fill(leat_trainer *self, leat_error *err) {
    leat_floats floats = {0};
    void *block = NULL;
    LEAT_TRY(leat_model_create(&self->model, &self->options, err));
    self->sizes = self->model.sizes;
    lay_out(self, &floats);
    LEAT_TRY(leat_block_alloc(&block, floats.used * (int64_t)sizeof(float), err));
    floats = (leat_floats){.base = block};
    lay_out(self, &floats);
    LEAT_TRY(leat_block_alloc((void **)&self->batches,
                              batches_bytes(&self->plan, self->options.threads), err));
    self->model.class->init(self->model.self, self->plan.seed, self->state.parameters,
                            self->state.running);
    return LEAT_OK;
}

leat_code leat_trainer_create(leat_trainer **out, const leat_train_options *options,
                              const leat_plan *plan, const leat_samples *samples, leat_error *err) {
    leat_trainer *self = NULL;
    *out = NULL;
    if (samples->sample_bytes != leat_model_sample_bytes())
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the images have %lld bytes each, but a %s takes images of %d x %d, %lld "
                         "bytes; ingest them with --size %d",
                         (long long)samples->sample_bytes, leat_model_name(), LEAT_IMAGE_SIZE,
                         LEAT_IMAGE_SIZE, (long long)leat_model_sample_bytes(), LEAT_IMAGE_SIZE);
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->options = *options;
    self->plan = *plan;
    self->samples = samples;
    leat_code code = fill(self, err);
    if (code != LEAT_OK) {
        leat_trainer_destroy(self);
        return code;
    }
    *out = self;
    return LEAT_OK;
}

void leat_trainer_destroy(leat_trainer *trainer) {
    if (trainer == NULL) return;
    leat_floats floats = {0};
    float *block = trainer->state.parameters;
    if (block != NULL) {
        lay_out(trainer, &floats); /* to know its size */
        leat_block_free(block, floats.used * (int64_t)sizeof(float));
    }
    leat_block_free(trainer->batches, batches_bytes(&trainer->plan, trainer->options.threads));
    leat_model_destroy(&trainer->model);
    leat_free(trainer);
}

leat_code leat_trainer_bytes(const leat_train_options *options, const leat_plan *plan,
                             int64_t *bytes, leat_error *err) {
    leat_trainer of = {.options = *options, .plan = *plan};
    leat_floats floats = {0};
    *bytes = 0;
    LEAT_TRY(leat_model_measure(options, &of.sizes, err));
    lay_out(&of, &floats);
    *bytes = of.sizes.bytes + batches_bytes(plan, options->threads) +
             floats.used * (int64_t)sizeof(float);
    return LEAT_OK;
}

leat_model *leat_trainer_model(leat_trainer *trainer) { return &trainer->model; }
const leat_plan *leat_trainer_plan(const leat_trainer *trainer) { return &trainer->plan; }
leat_train_state *leat_trainer_state(leat_trainer *trainer) { return &trainer->state; }

static void hash_floats(leat_sha256 *sha, const float *values, int64_t count) {
    uint8_t bytes[4096];
    for (int64_t first = 0; first < count; first += 1024) {
        const int64_t some = count - first < 1024 ? count - first : 1024;
        leat_codec_encode(LEAT_CODEC_F32, 0, values + first, some, bytes);
        leat_sha256_update(sha, bytes, 4 * some);
    }
}

void leat_trainer_hash(const leat_trainer *trainer, char hash[65]) {
    const leat_train_state *state = &trainer->state;
    const int64_t size = trainer->sizes.parameters;
    uint8_t step[8], digest[32];
    leat_sha256 sha;
    leat_sha256_init(&sha);
    for (int i = 0; i < 8; i++) step[i] = (uint8_t)((uint64_t)state->step >> 8 * i);
    leat_sha256_update(&sha, step, sizeof step);
    hash_floats(&sha, state->parameters, size);
    hash_floats(&sha, state->first, size);
    hash_floats(&sha, state->second, size);
    hash_floats(&sha, state->running, trainer->sizes.running);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hash);
}

int leat_step_values(const leat_step_numbers *numbers, double values[LEAT_STEP_VALUES_MAX]) {
    const leat_model_class *model = numbers->model;
    int count = 0;
    for (int i = 0; i < model->sums; i++) values[count++] = numbers->sums[i] / numbers->weight;
    for (int i = 0; i < model->norms; i++) values[count++] = numbers->norms[i];
    return count;
}

/* ---- Parts of a step ------------------------------------------------------------------------ */

uint64_t leat_trainer_key(const leat_plan *plan, int64_t step, int64_t unit, int pass_index) {
    const uint64_t position = (uint64_t)leat_plan_position(plan, step, unit);
    return leat_random(plan->seed, LEAT_STREAM_ROUNDING,
                       position * LEAT_MODEL_PASSES_MAX + (uint64_t)pass_index);
}

void leat_trainer_begin(leat_trainer *trainer, int pass_index) {
    const int64_t size = trainer->sizes.parameters;
    if (pass_index == 0) trainer->numbers = (leat_step_numbers){.model = trainer->model.class};
    trainer->pass_index = pass_index;
    trainer->added = 0;
    trainer->numbers.weight = 0;
    if (trainer->rounded == NULL) return;
    memcpy(trainer->rounded, trainer->state.parameters, (size_t)size * sizeof(float));
    leat_codec_round(trainer->options.codec_down, 0, trainer->rounded, size);
}

/* A unit while it is computed. */
typedef struct making {
    leat_trainer *trainer;
    int64_t position;
} making;

static leat_code make_batch(void *context, int64_t index, int worker, const void **batch,
                            leat_error *err) {
    const making *of = context;
    const leat_plan *plan = &of->trainer->plan;
    const leat_samples *samples = of->trainer->samples;
    uint8_t *memory = of->trainer->batches + worker * batch_bytes(plan);
    const int64_t position = of->position + index * plan->micro_batch;
    uint8_t *levels = memory + BATCH_HEAD;
    for (int64_t i = 0; i < plan->micro_batch; i++)
        LEAT_TRY(samples->read(samples->context, leat_plan_sample(plan, position + i),
                               levels + i * samples->sample_bytes, err));
    *(leat_image_batch *)(void *)memory =
        (leat_image_batch){.levels = levels, .seed = plan->seed, .position = position};
    *batch = memory;
    return LEAT_OK;
}

leat_code leat_trainer_unit(leat_trainer *trainer, int64_t unit, leat_unit_numbers *out,
                            leat_error *err) {
    const float *weights = trainer->rounded != NULL ? trainer->rounded : trainer->state.parameters;
    making making = {trainer, leat_plan_position(&trainer->plan, trainer->state.step, unit)};
    const leat_unit_batches batches = {leat_plan_micro_batches(&trainer->plan), make_batch,
                                       &making};
    *out = trainer->unit;
    return trainer->model.class->unit(trainer->model.self, trainer->pass_index, &batches, weights,
                                      out, err);
}

void leat_trainer_cancel(leat_trainer *trainer, bool cancelled) {
    trainer->model.class->cancel(trainer->model.self, cancelled);
}

void leat_trainer_round(const leat_trainer *trainer, int64_t unit, leat_unit_numbers *of) {
    const uint64_t key =
        leat_trainer_key(&trainer->plan, trainer->state.step, unit, trainer->pass_index);
    leat_codec_round(trainer->options.codec_up, key, of->gradient, trainer->sizes.parameters);
}

void leat_trainer_add(leat_trainer *trainer, int64_t unit, const leat_unit_numbers *of) {
    const int64_t size = trainer->sizes.parameters;
    float *sum = trainer->sum != NULL ? trainer->sum : trainer->unit.gradient;
    LEAT_ASSERT(unit == trainer->added && unit < trainer->plan.units);
    trainer->added++;
    if (unit > 0) leat_unit_add(size, of->gradient, sum);
    else if (sum != of->gradient) memcpy(sum, of->gradient, (size_t)size * sizeof(float));
    trainer->numbers.weight += of->weight;
    for (int i = 0; i < trainer->model.class->sums; i++) trainer->numbers.sums[i] += of->sums[i];
    trainer->model.class->fold(trainer->model.self, trainer->pass_index,
                               leat_plan_micro_batches(&trainer->plan), of->statistics,
                               trainer->state.running);
}

static leat_code check_finite(const leat_trainer *trainer, leat_error *err) {
    const leat_step_numbers *numbers = &trainer->numbers;
    const leat_model_class *class = trainer->model.class;
    const char *of = "", *what = NULL;
    for (int i = class->norms - 1; i >= 0; i--)
        if (!isfinite(numbers->norms[i])) {
            of = "the gradient of ";
            what = class->values[class->sums + i].label;
        }
    for (int i = class->sums - 1; i >= 0; i--)
        if (!isfinite(numbers->sums[i])) {
            of = "";
            what = class->values[i].name;
        }
    if (what == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "step %lld: %s%s is not finite: training has diverged; continue from an "
                     "earlier checkpoint with another learning-rate",
                     (long long)trainer->state.step + 1, of, what);
}

leat_code leat_trainer_end(leat_trainer *trainer, leat_step_numbers *numbers, leat_error *err) {
    const leat_model *model = &trainer->model;
    leat_train_state *state = &trainer->state;
    leat_step_numbers *of = &trainer->numbers;
    const leat_model_step step = {.pass = trainer->pass_index,
                                  .step = state->step,
                                  .gradient =
                                      trainer->sum != NULL ? trainer->sum : trainer->unit.gradient,
                                  .weight = of->weight,
                                  .parameters = state->parameters,
                                  .first = state->first,
                                  .second = state->second};
    LEAT_ASSERT(trainer->added == trainer->plan.units);
    model->class->norm(model->self, step.pass, step.gradient, step.weight, of->norms);
    LEAT_TRY(check_finite(trainer, err));
    LEAT_TRY(model->class->step(model->self, &step, err));
    if (trainer->pass_index == model->passes - 1) state->step++;
    *numbers = *of;
    return LEAT_OK;
}

static leat_code run_pass(leat_trainer *trainer, int pass_index, leat_step_numbers *numbers,
                          leat_error *err) {
    leat_unit_numbers unit;
    leat_trainer_begin(trainer, pass_index);
    for (int64_t k = 0; k < trainer->plan.units; k++) {
        LEAT_TRY(leat_trainer_unit(trainer, k, &unit, err));
        leat_trainer_round(trainer, k, &unit);
        leat_trainer_add(trainer, k, &unit);
    }
    return leat_trainer_end(trainer, numbers, err);
}

leat_code leat_trainer_step(leat_trainer *trainer, leat_step_numbers *numbers, leat_error *err) {
    for (int i = 0; i < trainer->model.passes; i++) LEAT_TRY(run_pass(trainer, i, numbers, err));
    return LEAT_OK;
}
