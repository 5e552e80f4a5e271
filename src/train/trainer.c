/* See trainer.h. */
#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/ops/streams.h"
#include "nn/unit/floats.h"

/* What is of no use for these options is not allocated: without codec-down units see the weights
 * themselves, and the only unit of a step is its own sum. */
struct leat_trainer {
    leat_train_options options; /* its texts are the caller's */
    leat_plan plan;
    const leat_samples *samples;
    leat_model *model;
    leat_model_sizes sizes;
    leat_train_state state;
    leat_unit unit;
    float *rounded; /* weights as units see them, or NULL */
    float *sum;     /* of gradients, or NULL */
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

static leat_code fill(leat_trainer *self, leat_error *err) {
    leat_floats floats = {0};
    void *block = NULL;
    LEAT_TRY(leat_model_create(&self->model, &self->options, &self->plan, err));
    self->sizes = leat_model_get_sizes(self->model);
    lay_out(self, &floats);
    LEAT_TRY(leat_block_alloc(&block, floats.used * (int64_t)sizeof(float), err));
    floats = (leat_floats){.base = block};
    lay_out(self, &floats);
    leat_model_init(self->model, self->plan.seed, self->state.parameters, self->state.running);
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
    leat_model_destroy(trainer->model);
    leat_free(trainer);
}

leat_code leat_trainer_bytes(const leat_train_options *options, const leat_plan *plan,
                             int64_t *bytes, leat_error *err) {
    leat_trainer of = {.options = *options, .plan = *plan};
    leat_floats floats = {0};
    *bytes = 0;
    LEAT_TRY(leat_model_create(&of.model, options, plan, err));
    of.sizes = leat_model_get_sizes(of.model);
    leat_model_destroy(of.model);
    lay_out(&of, &floats);
    LEAT_TRY(leat_model_bytes(options, plan, bytes, err));
    *bytes += floats.used * (int64_t)sizeof(float);
    return LEAT_OK;
}

const leat_model *leat_trainer_model(const leat_trainer *trainer) { return trainer->model; }
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
    int count = 0;
    for (int i = 0; i < LEAT_MODEL_SUMS; i++) values[count++] = numbers->sums[i] / numbers->weight;
    for (int i = 0; i < LEAT_MODEL_NORMS; i++) values[count++] = numbers->norms[i];
    return count;
}

/* ---- Parts of a step ------------------------------------------------------------------------ */

uint64_t leat_trainer_key(const leat_plan *plan, int64_t step, int64_t unit, int pass_index) {
    const uint64_t position = (uint64_t)leat_plan_position(plan, step, unit);
    return leat_random(plan->seed, LEAT_STREAM_ROUNDING,
                       position * LEAT_MODEL_PASSES_MAX + (uint64_t)pass_index);
}

static leat_dcgan_pass pass_of(const leat_trainer *trainer) {
    return leat_model_pass(trainer->options.schedule, trainer->pass_index);
}

void leat_trainer_begin(leat_trainer *trainer, int pass_index) {
    const int64_t size = trainer->sizes.parameters;
    if (pass_index == 0) trainer->numbers = (leat_step_numbers){0};
    trainer->pass_index = pass_index;
    trainer->added = 0;
    trainer->numbers.weight = 0;
    if (trainer->rounded == NULL) return;
    memcpy(trainer->rounded, trainer->state.parameters, (size_t)size * sizeof(float));
    leat_codec_round(trainer->options.codec_down, 0, trainer->rounded, size);
}

leat_code leat_trainer_unit(leat_trainer *trainer, int64_t unit, leat_unit *out, leat_error *err) {
    const float *weights = trainer->rounded != NULL ? trainer->rounded : trainer->state.parameters;
    *out = trainer->unit;
    return leat_model_unit(trainer->model, pass_of(trainer), trainer->samples, trainer->state.step,
                           unit, weights, out, err);
}

void leat_trainer_cancel(leat_trainer *trainer, bool cancelled) {
    leat_model_cancel(trainer->model, cancelled);
}

void leat_trainer_round(const leat_trainer *trainer, int64_t unit, leat_unit *of) {
    const uint64_t key =
        leat_trainer_key(&trainer->plan, trainer->state.step, unit, trainer->pass_index);
    leat_codec_round(trainer->options.codec_up, key, of->gradient, trainer->sizes.parameters);
}

void leat_trainer_add(leat_trainer *trainer, int64_t unit, const leat_unit *of) {
    const int64_t size = trainer->sizes.parameters;
    float *sum = trainer->sum != NULL ? trainer->sum : trainer->unit.gradient;
    LEAT_ASSERT(unit == trainer->added && unit < trainer->plan.units);
    trainer->added++;
    if (unit > 0) leat_dcgan_add(size, of->gradient, sum);
    else if (sum != of->gradient) memcpy(sum, of->gradient, (size_t)size * sizeof(float));
    trainer->numbers.weight += of->weight;
    for (int i = 0; i < LEAT_MODEL_SUMS; i++) trainer->numbers.sums[i] += of->sums[i];
    leat_model_fold(trainer->model, pass_of(trainer), of->statistics, trainer->state.running);
}

/* The length of a vector, summed in double precision in order. */
static double norm_of(const float *values, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (double)values[i] * values[i];
    return sqrt(sum);
}

static leat_code check_finite(const leat_trainer *trainer, leat_error *err) {
    const leat_step_numbers *numbers = &trainer->numbers;
    const leat_value *values = leat_model_values();
    const char *of = "", *what = NULL;
    for (int i = LEAT_MODEL_NORMS - 1; i >= 0; i--)
        if (!isfinite(numbers->norms[i])) {
            of = "the gradient of ";
            what = values[LEAT_MODEL_SUMS + i].label;
        }
    for (int i = LEAT_MODEL_SUMS - 1; i >= 0; i--)
        if (!isfinite(numbers->sums[i])) {
            of = "";
            what = values[i].name;
        }
    if (what == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "step %lld: %s%s is not finite: training has diverged; continue from an "
                     "earlier checkpoint with another learning-rate",
                     (long long)trainer->state.step + 1, of, what);
}

leat_code leat_trainer_end(leat_trainer *trainer, leat_step_numbers *numbers, leat_error *err) {
    const int passes = leat_model_passes(trainer->options.schedule);
    const leat_dcgan_pass pass = pass_of(trainer);
    const int64_t generator = trainer->sizes.generator, size = trainer->sizes.parameters;
    const float *sum = trainer->sum != NULL ? trainer->sum : trainer->unit.gradient;
    leat_step_numbers *of = &trainer->numbers;
    LEAT_ASSERT(trainer->added == trainer->plan.units);
    if (pass != LEAT_DCGAN_D) of->norms[1] = norm_of(sum, generator) / of->weight;
    if (pass != LEAT_DCGAN_G)
        of->norms[0] = norm_of(sum + generator, size - generator) / of->weight;
    LEAT_TRY(check_finite(trainer, err));
    LEAT_TRY(leat_model_step(trainer->model, pass, trainer->state.step, sum, of->weight,
                             trainer->state.parameters, trainer->state.first, trainer->state.second,
                             err));
    if (trainer->pass_index == passes - 1) trainer->state.step++;
    *numbers = *of;
    return LEAT_OK;
}

static leat_code run_pass(leat_trainer *trainer, int pass_index, leat_step_numbers *numbers,
                          leat_error *err) {
    leat_unit unit;
    leat_trainer_begin(trainer, pass_index);
    for (int64_t k = 0; k < trainer->plan.units; k++) {
        LEAT_TRY(leat_trainer_unit(trainer, k, &unit, err));
        leat_trainer_round(trainer, k, &unit);
        leat_trainer_add(trainer, k, &unit);
    }
    return leat_trainer_end(trainer, numbers, err);
}

leat_code leat_trainer_step(leat_trainer *trainer, leat_step_numbers *numbers, leat_error *err) {
    for (int i = 0; i < leat_model_passes(trainer->options.schedule); i++)
        LEAT_TRY(run_pass(trainer, i, numbers, err));
    return LEAT_OK;
}
