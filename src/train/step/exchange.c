/* See exchange.h. */
#include "train/step/exchange.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "nn/unit/unit.h"

struct leat_exchange {
    leat_trainer *trainer;
    leat_codec codec_up, codec_down;
    uint64_t seed;
    const leat_model_class *class;
    leat_model_sizes model;
    leat_exchange_sizes sizes;
    int64_t statistics_count; /* of a unit with the most micro-batches */
    uint8_t run[LEAT_PAYLOAD_RUN_BYTES];
    uint8_t weights[32];    /* hash of those of the step */
    leat_unit_numbers unit; /* of leat_exchange_read */
    float *running;         /* before the step */
    float *block;
};

/* "leatstat", the step, then parameters, both means of Adam and the running statistics as f32. */
static const char magic[8] = {'l', 'e', 'a', 't', 's', 't', 'a', 't'};
enum { STATE_HEADER_BYTES = 16 };

/* Bytes of hexadecimal digits; false if they are anything else. */
static bool from_hex(const char *digits, uint8_t *out, int count) {
    static const char all[] = "0123456789abcdef";
    for (int i = 0; i < 2 * count; i++) {
        const char *at = digits[i] != 0 ? strchr(all, digits[i]) : NULL;
        if (at == NULL) return false;
        out[i / 2] = (uint8_t)(i % 2 == 0 ? (at - all) << 4 : out[i / 2] | (at - all));
    }
    return true;
}

leat_code leat_exchange_check(const leat_model_class *class, const leat_train_options *options,
                              leat_error *err) {
    if (options->scores != NULL)
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "\"%.300s\": the scores of a curriculum are on this machine alone, and the "
            "others cannot compute without; train on one machine, or without them",
            options->scores);
    if (leat_model_passes(class, options) == 1) return LEAT_OK;
    LEAT_ASSERT(class->one_pass != NULL); /* what the message names */
    return leat_fail(err, LEAT_ERR_OPTION,
                     "many machines can train only with one pass a step, because each needs the "
                     "weights; use %s",
                     class->one_pass);
}

/* What follows from the model's sizes. */
static void set_sizes(leat_exchange *self, const leat_train_options *options,
                      const leat_feed *feed) {
    const int64_t size = self->model.parameters;
    self->seed = options->seed;
    self->codec_up = options->codec_up;
    self->codec_down = options->codec_down;
    self->statistics_count = feed->batches_most * self->model.statistics;
    self->sizes.payload =
        leat_payload_bytes(self->codec_up, size, self->statistics_count, self->class->sums);
    self->sizes.weights = leat_codec_bytes(self->codec_down, size);
    self->sizes.state = STATE_HEADER_BYTES + 4 * (3 * size + self->model.running);
}

static int64_t block_floats(const leat_exchange *self) {
    return self->model.parameters + self->statistics_count + self->model.running;
}

leat_code leat_exchange_measure(const leat_model_class *class, const leat_train_options *options,
                                const leat_feed *feed, leat_exchange_sizes *sizes, int64_t *bytes,
                                leat_error *err) {
    leat_exchange of = {.class = class};
    *bytes = 0;
    *sizes = of.sizes;
    LEAT_TRY(leat_model_measure(class, options, &of.model, err));
    set_sizes(&of, options, feed);
    *sizes = of.sizes;
    *bytes = 4 * block_floats(&of);
    return LEAT_OK;
}

leat_code leat_exchange_create(leat_exchange **out, leat_trainer *trainer,
                               const leat_train_options *options, const char run[65],
                               leat_error *err) {
    leat_exchange *self = NULL;
    *out = NULL;
    LEAT_TRY(leat_exchange_check(leat_trainer_model(trainer)->class, options, err));
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->trainer = trainer;
    self->class = leat_trainer_model(trainer)->class;
    self->model = leat_trainer_model(trainer)->sizes;
    set_sizes(self, options, leat_trainer_feed(trainer));
    leat_code code =
        from_hex(run, self->run, LEAT_PAYLOAD_RUN_BYTES)
            ? leat_block_alloc((void **)&self->block, block_floats(self) * 4, err)
            : leat_fail(err, LEAT_ERR_CORRUPT,
                        "\"%.64s\" is not the hash of a run: 64 hexadecimal digits", run);
    if (code != LEAT_OK) {
        leat_exchange_destroy(self);
        return code;
    }
    self->unit.gradient = self->block;
    self->unit.statistics = self->block + self->model.parameters;
    self->running = self->unit.statistics + self->statistics_count;
    *out = self;
    return LEAT_OK;
}

void leat_exchange_destroy(leat_exchange *exchange) {
    if (exchange == NULL) return;
    leat_block_free(exchange->block, block_floats(exchange) * 4);
    leat_free(exchange);
}

leat_exchange_sizes leat_exchange_get_sizes(const leat_exchange *exchange) {
    return exchange->sizes;
}

static void hash_of(const uint8_t *bytes, int64_t size_bytes, uint8_t digest[32], char hash[65]) {
    leat_payload_hash(bytes, size_bytes, digest);
    leat_sha256_hex(digest, hash);
}

/* ---- weights -------------------------------------------------------------------------------- */

leat_code leat_exchange_put_weights(leat_exchange *exchange, uint8_t *out, char hash[65],
                                    leat_error *err) {
    const float *weights = leat_trainer_state(exchange->trainer)->parameters;
    leat_codec_encode(exchange->codec_down, 0, weights, exchange->model.parameters, out);
    hash_of(out, exchange->sizes.weights, exchange->weights, hash);
    memcpy(exchange->running, leat_trainer_state(exchange->trainer)->running,
           (size_t)exchange->model.running * sizeof(float));
    return leat_trainer_begin(exchange->trainer, 0, err);
}

leat_code leat_exchange_again(leat_exchange *exchange, leat_error *err) {
    memcpy(leat_trainer_state(exchange->trainer)->running, exchange->running,
           (size_t)exchange->model.running * sizeof(float));
    return leat_trainer_begin(exchange->trainer, 0, err);
}

leat_code leat_exchange_take_weights(leat_exchange *exchange, int64_t step, const uint8_t *bytes,
                                     const char hash[65], leat_error *err) {
    leat_train_state *state = leat_trainer_state(exchange->trainer);
    char is[65];
    hash_of(bytes, exchange->sizes.weights, exchange->weights, is);
    if (strcmp(is, hash) != 0)
        return leat_fail(err, LEAT_ERR_CORRUPT, "the weights of step %lld do not have their hash",
                         (long long)step + 1);
    leat_codec_decode(exchange->codec_down, bytes, exchange->model.parameters, state->parameters);
    state->step = step;
    return leat_trainer_begin(exchange->trainer, 0, err); /* rounding again changes nothing */
}

/* ---- units ---------------------------------------------------------------------------------- */

/* What the payload of a unit must say of itself, and the place of the unit. */
static leat_code header_of(const leat_exchange *exchange, int64_t unit, leat_payload_header *out,
                           leat_unit_place *place, leat_error *err) {
    const leat_feed *feed = leat_trainer_feed(exchange->trainer);
    const int64_t step = leat_trainer_state(exchange->trainer)->step;
    int64_t units = 0;
    *out = (leat_payload_header){.codec = exchange->codec_up,
                                 .step = step,
                                 .unit = unit,
                                 .pass = 0, /* the only one of its step */
                                 .gradient_count = exchange->model.parameters,
                                 .statistics_count = exchange->statistics_count,
                                 .sum_count = exchange->class->sums};
    memcpy(out->run, exchange->run, sizeof out->run);
    memcpy(out->weights, exchange->weights, sizeof out->weights);
    LEAT_TRY(leat_feed_units(feed, step, &units, err));
    if (unit < 0 || unit >= units)
        return leat_fail(err, LEAT_ERR_CORRUPT, "step %lld has no unit %lld", (long long)step + 1,
                         (long long)unit);
    LEAT_TRY(leat_feed_place(feed, step, unit, place, err));
    return leat_feed_weight(feed, place, &out->weight, err);
}

leat_code leat_exchange_compute(leat_exchange *exchange, int64_t unit, uint8_t *out, char hash[65],
                                leat_error *err) {
    leat_payload_header header;
    leat_unit_place place;
    uint8_t digest[32];
    leat_unit_numbers of;
    LEAT_TRY(header_of(exchange, unit, &header, &place, err));
    LEAT_TRY(leat_trainer_unit(exchange->trainer, unit, &of, err));
    LEAT_ASSERT(of.weight == header.weight);
    const leat_payload_values values = {of.gradient, of.statistics, of.sums};
    leat_payload_write(&header, leat_trainer_key(exchange->seed, place.position, 0), &values, out);
    hash_of(out, exchange->sizes.payload, digest, hash);
    return LEAT_OK;
}

void leat_exchange_cancel(leat_exchange *exchange, bool cancelled) {
    leat_trainer_cancel(exchange->trainer, cancelled);
}

leat_code leat_exchange_read(leat_exchange *exchange, int64_t unit, const uint8_t *bytes,
                             int64_t size_bytes, leat_unit_numbers *of, leat_error *err) {
    leat_payload_header header;
    leat_unit_place place;
    LEAT_TRY(header_of(exchange, unit, &header, &place, err));
    exchange->unit.weight = header.weight;
    leat_payload_values values = {exchange->unit.gradient, exchange->unit.statistics,
                                  exchange->unit.sums};
    LEAT_TRY(leat_payload_read(bytes, size_bytes, &header, &values, err));
    *of = exchange->unit;
    return LEAT_OK;
}

void leat_exchange_measure_unit(const leat_exchange *exchange, const leat_unit_numbers *of,
                                leat_unit_norms *out) {
    out->gradient = leat_unit_length(exchange->model.parameters, of->gradient, of->weight);
    out->statistics = leat_unit_length(exchange->statistics_count, of->statistics, 1);
}

/* Of one norm, why it is strange. */
static bool judge_norm(double norm, double most, const char *what,
                       char why[LEAT_EXCHANGE_WORDS_BYTES]) {
    if (!isfinite(norm)) {
        snprintf(why, LEAT_EXCHANGE_WORDS_BYTES, "%s is not finite", what);
    } else if (norm * norm > FLT_MAX) { /* steps and statistics are in floats */
        snprintf(why, LEAT_EXCHANGE_WORDS_BYTES, "%s is too large to be squared", what);
    } else if (norm > most) {
        snprintf(why, LEAT_EXCHANGE_WORDS_BYTES, "%s has the norm %.3g, and %.3g is usual at most",
                 what, norm, most);
    } else {
        return true;
    }
    return false;
}

bool leat_exchange_is_sound(const leat_exchange *exchange, const leat_unit_numbers *of,
                            const leat_unit_norms *most, char why[LEAT_EXCHANGE_WORDS_BYTES]) {
    leat_unit_norms norms;
    leat_exchange_measure_unit(exchange, of, &norms);
    why[0] = 0;
    for (int i = exchange->class->sums - 1; i >= 0; i--)
        (void)judge_norm(fabs(of->sums[i]) / of->weight, INFINITY, exchange->class->values[i].name,
                         why);
    return why[0] == 0 &&
           judge_norm(norms.gradient, most != NULL ? most->gradient : INFINITY, "the gradient",
                      why) &&
           judge_norm(norms.statistics, most != NULL ? most->statistics : INFINITY, "a statistic",
                      why);
}

/* ---- the state ------------------------------------------------------------------------------ */

void leat_exchange_put_state(const leat_exchange *exchange, uint8_t *out) {
    const leat_train_state *state = leat_trainer_state(exchange->trainer);
    const int64_t size = exchange->model.parameters;
    const float *const parts[] = {state->parameters, state->first, state->second, state->running};
    const int64_t counts[] = {size, size, size, exchange->model.running};
    memcpy(out, magic, sizeof magic);
    for (int i = 0; i < 8; i++) out[8 + i] = (uint8_t)((uint64_t)state->step >> 8 * i);
    out += STATE_HEADER_BYTES;
    for (int i = 0; i < 4; i++) {
        leat_codec_encode(LEAT_CODEC_F32, 0, parts[i], counts[i], out);
        out += 4 * counts[i];
    }
}

leat_code leat_exchange_take_state(leat_exchange *exchange, const uint8_t *bytes,
                                   const char hash[65], leat_error *err) {
    leat_train_state *state = leat_trainer_state(exchange->trainer);
    const int64_t size = exchange->model.parameters;
    float *const parts[] = {state->parameters, state->first, state->second, state->running};
    const int64_t counts[] = {size, size, size, exchange->model.running};
    uint64_t step = 0;
    char is[65];
    for (int i = 0; i < 8; i++) step |= (uint64_t)bytes[8 + i] << 8 * i;
    const int64_t most = leat_trainer_feed(exchange->trainer)->steps_most;
    if (memcmp(bytes, magic, sizeof magic) != 0 || step > (uint64_t)most)
        return leat_fail(err, LEAT_ERR_CORRUPT, "these bytes are not the state of a run");
    bytes += STATE_HEADER_BYTES;
    for (int i = 0; i < 4; i++) {
        leat_codec_decode(LEAT_CODEC_F32, bytes, counts[i], parts[i]);
        bytes += 4 * counts[i];
    }
    state->step = (int64_t)step;
    leat_trainer_hash(exchange->trainer, is);
    if (strcmp(is, hash) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "the state of step %lld does not have its hash",
                     (long long)step);
}
