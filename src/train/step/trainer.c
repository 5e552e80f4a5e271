/* See trainer.h. */
#include "train/step/trainer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/random_streams.h"
#include "nn/unit/float_layout.h"
#include "nn/unit/unit.h"

/* What is of no use for these options is not allocated: without codec-down units see the weights
 * themselves, and the only unit of a step is its own sum. */
struct leat_trainer {
    leat_train_options options; /* its texts and settings are the caller's */
    const leat_feed *feed;
    leat_model model;
    leat_model_sizes sizes;
    leat_train_state state;
    leat_unit_numbers unit;
    uint8_t *batches; /* [workers][batch_bytes] */
    float *rounded;   /* weights as units see them, or NULL */
    float *sum;       /* of gradients, or NULL */
    leat_step_numbers numbers;
    double before[LEAT_UNIT_SUMS_MAX]; /* sums of the passes before this one */
    int pass_index;
    int64_t units, added; /* of this pass */
};

/* ---- Memory --------------------------------------------------------------------------------- */

static void lay_out(leat_trainer *self, leat_float_layout *floats) {
    const leat_feed *feed = self->feed;
    const int64_t size = self->sizes.parameters;
    self->state.parameters = leat_float_layout_take(floats, size);
    self->state.first = leat_float_layout_take(floats, size);
    self->state.second = leat_float_layout_take(floats, size);
    self->state.running = leat_float_layout_take(floats, self->sizes.running);
    if (feed == NULL) return;
    self->unit.gradient = leat_float_layout_take(floats, size);
    self->unit.statistics =
        leat_float_layout_take(floats, feed->batches_most * self->sizes.statistics);
    self->rounded =
        self->options.codec_down != LEAT_CODEC_F32 ? leat_float_layout_take(floats, size) : NULL;
    self->sum = feed->units_most > 1 ? leat_float_layout_take(floats, size) : NULL;
}

/* From one worker's batch to the next one's. */
static int64_t batch_step(const leat_feed *feed) { return (feed->batch_bytes + 63) / 64 * 64; }

static int64_t batches_bytes(const leat_feed *feed, int threads) {
    if (feed == NULL) return 0;
    return (feed->batches_most < threads ? feed->batches_most : threads) * batch_step(feed);
}

static leat_code fill(leat_trainer *self, const leat_model_class *class, leat_error *err) {
    leat_float_layout floats = {0};
    void *block = NULL;
    LEAT_TRY(leat_model_create(&self->model, class, &self->options, err));
    self->sizes = self->model.sizes;
    lay_out(self, &floats);
    LEAT_TRY(leat_block_alloc(&block, leat_float_layout_bytes(&floats), err));
    leat_float_layout_place(&floats, block);
    lay_out(self, &floats);
    leat_float_layout_end(&floats);
    if (self->feed != NULL)
        LEAT_TRY(leat_block_alloc((void **)&self->batches,
                                  batches_bytes(self->feed, self->options.threads), err));
    self->model.class->init(self->model.self, self->options.seed, self->state.parameters,
                            self->state.running);
    return LEAT_OK;
}

static leat_code check_kind(const leat_model_class *class, const leat_feed *feed, leat_error *err) {
    if (feed == NULL || strcmp(feed->class->batch, class->batch) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "a %s is trained on %s, and the data set holds %s",
                     class->name, class->batch, feed->class->batch);
}

leat_code leat_trainer_create(leat_trainer **out, const leat_model_class *class,
                              const leat_train_options *options, const leat_feed *feed,
                              leat_error *err) {
    leat_trainer *self = NULL;
    *out = NULL;
    LEAT_ASSERT(feed == NULL || feed->planned);
    LEAT_TRY(check_kind(class, feed, err));
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->options = *options;
    self->feed = feed;
    leat_code code = fill(self, class, err);
    if (code != LEAT_OK) {
        leat_trainer_destroy(self);
        return code;
    }
    *out = self;
    return LEAT_OK;
}

void leat_trainer_destroy(leat_trainer *trainer) {
    if (trainer == NULL) return;
    leat_float_layout floats = {0};
    float *block = trainer->state.parameters;
    if (block != NULL) {
        lay_out(trainer, &floats); /* to know its size */
        leat_block_free(block, floats.used * (int64_t)sizeof(float));
    }
    leat_block_free(trainer->batches, batches_bytes(trainer->feed, trainer->options.threads));
    leat_model_destroy(&trainer->model);
    leat_free(trainer);
}

leat_code leat_trainer_bytes(const leat_model_class *class, const leat_train_options *options,
                             const leat_feed *feed, int64_t *bytes, leat_error *err) {
    leat_trainer of = {.options = *options, .feed = feed};
    leat_float_layout floats = {0};
    *bytes = 0;
    LEAT_TRY(leat_model_measure(class, options, &of.sizes, err));
    lay_out(&of, &floats);
    *bytes = of.sizes.bytes + batches_bytes(feed, options->threads) +
             floats.used * (int64_t)sizeof(float);
    return LEAT_OK;
}

leat_model *leat_trainer_model(leat_trainer *trainer) { return &trainer->model; }
const leat_feed *leat_trainer_feed(const leat_trainer *trainer) { return trainer->feed; }
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

uint64_t leat_trainer_key(uint64_t seed, int64_t position, int pass_index) {
    return leat_random(seed, LEAT_STREAM_ROUNDING,
                       (uint64_t)position * LEAT_MODEL_PASSES_MAX + (uint64_t)pass_index);
}

leat_code leat_trainer_begin(leat_trainer *trainer, int pass_index, leat_error *err) {
    const int64_t size = trainer->sizes.parameters;
    LEAT_ASSERT(trainer->feed != NULL && pass_index >= 0 && pass_index < trainer->model.passes);
    LEAT_TRY(leat_feed_units(trainer->feed, trainer->state.step, &trainer->units, err));
    if (pass_index == 0) trainer->numbers = (leat_step_numbers){.model = trainer->model.class};
    memcpy(trainer->before, trainer->numbers.sums, sizeof trainer->before);
    trainer->pass_index = pass_index;
    trainer->added = 0;
    trainer->numbers.weight = 0;
    if (trainer->rounded == NULL) return LEAT_OK;
    memcpy(trainer->rounded, trainer->state.parameters, (size_t)size * sizeof(float));
    leat_codec_round(trainer->options.codec_down, 0, trainer->rounded, size);
    return LEAT_OK;
}

int64_t leat_trainer_units(const leat_trainer *trainer) { return trainer->units; }

/* A unit while it is computed. */
typedef struct making {
    leat_trainer *trainer;
    leat_unit_place place;
} making;

static leat_code make_batch(void *context, int64_t index, int worker, const void **batch,
                            leat_error *err) {
    const making *of = context;
    const leat_feed *feed = of->trainer->feed;
    uint8_t *memory = of->trainer->batches + worker * batch_step(feed);
    LEAT_ASSERT(index >= 0 && index < of->place.batches && worker < feed->batches_most);
    *batch = memory;
    return feed->class->make(feed, &of->place, index, memory, err);
}

leat_code leat_trainer_unit(leat_trainer *trainer, int64_t unit, leat_unit_numbers *out,
                            leat_error *err) {
    const leat_model *model = &trainer->model;
    const leat_feed *feed = trainer->feed;
    const float *weights = trainer->rounded != NULL ? trainer->rounded : trainer->state.parameters;
    const int64_t most = feed->batches_most * trainer->sizes.statistics;
    making making = {.trainer = trainer};
    double weight = 0;
    *out = trainer->unit;
    LEAT_TRY(leat_feed_place(feed, trainer->state.step, unit, &making.place, err));
    LEAT_TRY(leat_feed_weight(feed, &making.place, &weight, err));
    const leat_unit_batches batches = {making.place.batches, make_batch, &making};
    const int64_t here = batches.count * trainer->sizes.statistics;
    /* a unit has room for the statistics of the largest, and no bits that were left there */
    memset(out->statistics + here, 0, (size_t)(most - here) * sizeof(float));
    LEAT_TRY(model->class->unit(model->self, trainer->pass_index, &batches, weights, out, err));
    if (out->weight == weight) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "step %lld, unit %lld: the %s weigh %.17g, but the data set says %.17g",
                     (long long)trainer->state.step + 1, (long long)unit, feed->class->many,
                     out->weight, weight);
}

void leat_trainer_cancel(leat_trainer *trainer, bool cancelled) {
    trainer->model.class->cancel(trainer->model.self, cancelled);
}

leat_code leat_trainer_round(const leat_trainer *trainer, int64_t unit, leat_unit_numbers *of,
                             leat_error *err) {
    leat_unit_place place;
    LEAT_TRY(leat_feed_place(trainer->feed, trainer->state.step, unit, &place, err));
    leat_codec_round(trainer->options.codec_up,
                     leat_trainer_key(trainer->options.seed, place.position, trainer->pass_index),
                     of->gradient, trainer->sizes.parameters);
    return LEAT_OK;
}

leat_code leat_trainer_add(leat_trainer *trainer, int64_t unit, const leat_unit_numbers *of,
                           leat_error *err) {
    const leat_model *model = &trainer->model;
    const int64_t size = trainer->sizes.parameters;
    float *sum = trainer->sum != NULL ? trainer->sum : trainer->unit.gradient;
    leat_unit_place place;
    LEAT_ASSERT(unit == trainer->added && unit < trainer->units);
    LEAT_TRY(leat_feed_place(trainer->feed, trainer->state.step, unit, &place, err));
    trainer->added++;
    if (unit > 0) leat_unit_add(size, of->gradient, sum);
    else if (sum != of->gradient) memcpy(sum, of->gradient, (size_t)size * sizeof(float));
    trainer->numbers.weight += of->weight;
    for (int i = 0; i < model->class->sums; i++) {
        LEAT_ASSERT(trainer->before[i] == 0 || of->sums[i] == 0); /* else it counts twice */
        trainer->numbers.sums[i] += of->sums[i];
    }
    model->class->fold(model->self, trainer->pass_index, place.batches, of->statistics,
                       trainer->state.running);
    return LEAT_OK;
}

#define LEAT_DIVERGED                                                                              \
    "training has diverged; begin another run from a checkpoint of this one (--init) with a "      \
    "smaller learning-rate"

/* A norm whose square is no float: an optimizer that averages squares would keep an infinite one,
 * and never change the weights again. */
static bool is_too_large(double norm) { return !(norm * norm <= FLT_MAX); }
static bool is_not_finite(double sum) { return !isfinite(sum); }

/* Numbers of a step that are bad. */
typedef struct bad_numbers {
    int count;
    bool finite;     /* all of them: they are too large */
    char names[200]; /* "a, b" */
} bad_numbers;

static bad_numbers find_bad(const double *numbers, int count, bool (*is_bad)(double),
                            const leat_value *values, bool labels) {
    bad_numbers bad = {.finite = true};
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(bad.names);
        if (!is_bad(numbers[i])) continue;
        snprintf(bad.names + used, sizeof bad.names - used, "%s%s", bad.count++ > 0 ? ", " : "",
                 labels ? values[i].label : values[i].name);
        bad.finite = bad.finite && isfinite(numbers[i]);
    }
    return bad;
}

/* Sums first: a gradient of what is not finite is not, either. */
static leat_code check_numbers(const leat_trainer *trainer, leat_error *err) {
    const leat_step_numbers *numbers = &trainer->numbers;
    const leat_model_class *class = trainer->model.class;
    bad_numbers bad = find_bad(numbers->sums, class->sums, is_not_finite, class->values, false);
    const bool gradient = bad.count == 0;
    if (gradient)
        bad =
            find_bad(numbers->norms, class->norms, is_too_large, class->values + class->sums, true);
    if (bad.count == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "step %lld: %s%s %s %s: " LEAT_DIVERGED,
                     (long long)trainer->state.step + 1, gradient ? "the gradient of " : "",
                     bad.names, bad.count > 1 ? "are" : "is",
                     bad.finite ? "too large to be squared" : "not finite");
}

static bool all_finite(const float *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

/* Nothing that later steps are computed from may be lost in silence; `stepped`: the step of the
 * weights is taken, which running statistics do not depend on. */
static leat_code check_state(const leat_trainer *trainer, bool stepped, leat_error *err) {
    const leat_train_state *state = &trainer->state;
    const int64_t size = trainer->sizes.parameters;
    const char *what = NULL;
    if (!stepped) {
        if (!all_finite(state->running, trainer->sizes.running)) what = "a running statistic";
    } else if (!all_finite(state->parameters, size)) {
        what = "a weight";
    } else if (!all_finite(state->first, size) || !all_finite(state->second, size)) {
        what = "a mean of gradients, or of their squares,";
    }
    if (what == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "step %lld: %s is not finite: " LEAT_DIVERGED,
                     (long long)state->step + 1, what);
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
    LEAT_ASSERT(trainer->added == trainer->units);
    model->class->norm(model->self, step.pass, step.gradient, step.weight, of->norms);
    LEAT_TRY(check_numbers(trainer, err));
    LEAT_TRY(check_state(trainer, false, err));
    LEAT_TRY(model->class->step(model->self, &step, err));
    LEAT_TRY(check_state(trainer, true, err));
    if (trainer->pass_index == model->passes - 1) state->step++;
    *numbers = *of;
    return LEAT_OK;
}

static leat_code run_pass(leat_trainer *trainer, int pass_index, leat_step_numbers *numbers,
                          leat_error *err) {
    leat_unit_numbers unit;
    LEAT_TRY(leat_trainer_begin(trainer, pass_index, err));
    for (int64_t k = 0; k < trainer->units; k++) {
        LEAT_TRY(leat_trainer_unit(trainer, k, &unit, err));
        LEAT_TRY(leat_trainer_round(trainer, k, &unit, err));
        LEAT_TRY(leat_trainer_add(trainer, k, &unit, err));
    }
    return leat_trainer_end(trainer, numbers, err);
}

leat_code leat_trainer_step(leat_trainer *trainer, leat_step_numbers *numbers, leat_error *err) {
    for (int i = 0; i < trainer->model.passes; i++) LEAT_TRY(run_pass(trainer, i, numbers, err));
    return LEAT_OK;
}
