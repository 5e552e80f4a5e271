/*
 * 64 features of an image, from a convolution net with fixed random weights: for distances between
 * sets of images that need no weights from anywhere. Three layers of kernel 4 and stride 2 (3 -> 16
 * -> 32 -> 64 channels, 64 x 64 -> 8 x 8), LeakyReLU 0.2 after each, weights normal with variance
 * 2 / fan-in; then the mean of each channel over its pixels, in their order.
 */
#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "leat/nn.h"
#include "nn/float_mode.h"
#include "nn/ops/conv.h"
#include "nn/ops/each.h"
#include "nn/ops/mean.h"
#include "nn/ops/move.h"
#include "nn/ops/random.h"
#include "nn/random_streams.h"
#include "nn/unit/float_layout.h"
#include "nn/unit/unit.h"

enum { LAYERS = 3, IMAGES = 32 }; /* images at once */
_Static_assert(IMAGES % LEAT_LANES == 0, "they are the lanes; only the last ones have unused ones");
static const float slope = 0.2f;

typedef struct features_scratch {
    float *in, *out[LAYERS];
} features_scratch;

struct leat_features {
    leat_engine engine;
    leat_conv conv[LAYERS];
    float *packed[LAYERS];
    features_scratch *scratch; /* [threads] */
    leat_float_layout memory;
};

static const int channels[LAYERS + 1] = {LEAT_IMAGE_COLORS, 16, 32, LEAT_IMAGE_FEATURES};

/* ---- Created ------------------------------------------------------------------------------ */

/* The weights of a layer depend on nothing: the features of an image never change. */
static leat_code make_weights(leat_features *self, int layer, leat_error *err) {
    const leat_conv *conv = &self->conv[layer];
    const int64_t count = leat_conv_weight_count(conv);
    const float deviation =
        (float)sqrt(2.0 / (double)(conv->wide_channels * conv->kernel * conv->kernel));
    float *weights = NULL;
    LEAT_TRY(LEAT_NEW(&weights, count, err));
    leat_normal_values(&self->engine.device, leat_random(0, LEAT_STREAM_FEATURES, (uint64_t)layer),
                       0, deviation, count, weights);
    leat_conv_pack_down(&self->engine.device, conv, weights, self->packed[layer]);
    leat_free(weights);
    return LEAT_OK;
}

static void lay_out(leat_features *self, leat_float_layout *floats) {
    for (int i = 0; i < LAYERS; i++)
        self->packed[i] = leat_float_layout_take(floats, leat_conv_weight_count(&self->conv[i]));
    for (int t = 0; t < self->engine.threads; t++) {
        features_scratch *out = &self->scratch[t];
        out->in = leat_float_layout_take(floats, leat_conv_wide_count(&self->conv[0], IMAGES));
        for (int i = 0; i < LAYERS; i++)
            out->out[i] =
                leat_float_layout_take(floats, leat_conv_narrow_count(&self->conv[i], IMAGES));
    }
}

static leat_code fill(leat_features *self, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&self->scratch, self->engine.threads, err));
    for (int i = 0; i < LAYERS; i++) {
        const int size = LEAT_IMAGE_SIZE >> i;
        self->conv[i] = (leat_conv){.kernel = 4,
                                    .stride = 2,
                                    .padding = 1,
                                    .wide_channels = channels[i],
                                    .wide_height = size,
                                    .wide_width = size,
                                    .narrow_channels = channels[i + 1]};
        LEAT_TRY(leat_conv_complete(&self->conv[i], err));
    }
    lay_out(self, &self->memory);
    LEAT_TRY(leat_float_layout_alloc(&self->memory, err));
    lay_out(self, &self->memory);
    leat_float_layout_end(&self->memory);
    for (int i = 0; i < LAYERS; i++) LEAT_TRY(make_weights(self, i, err));
    return leat_engine_start(&self->engine, err);
}

leat_code leat_features_create(leat_features **out, int threads, const char *kernels,
                               leat_error *err) {
    leat_features *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    leat_code code = leat_engine_set(&self->engine, "features", kernels, threads, err);
    const uint64_t mode = leat_float_mode_begin();
    if (code == LEAT_OK) code = fill(self, err);
    leat_float_mode_end(mode);
    if (code != LEAT_OK) {
        leat_features_destroy(self);
        return code;
    }
    *out = self;
    return LEAT_OK;
}

void leat_features_destroy(leat_features *features) {
    if (features == NULL) return;
    leat_engine_stop(&features->engine);
    leat_float_layout_free(&features->memory);
    leat_free(features->scratch);
    leat_free(features);
}

/* ---- Computed ----------------------------------------------------------------------------- */

typedef struct computing {
    const leat_features *features;
    const float *images;
    int64_t count;
    float *out;
} computing;

static leat_code compute(const computing *self, const features_scratch *scratch, int64_t part,
                         leat_error *err) {
    const leat_features *features = self->features;
    const leat_device alone = leat_engine_alone(&features->engine);
    const int64_t first = part * IMAGES, count = leat_min(self->count - first, IMAGES);
    const float *in = scratch->in;
    LEAT_TRY(leat_move_in(&alone, count, LEAT_IMAGE_VALUES,
                          self->images + first * LEAT_IMAGE_VALUES, scratch->in, err));
    for (int i = 0; i < LAYERS; i++) {
        float *out = scratch->out[i];
        LEAT_TRY(
            leat_conv_down(&alone, &features->conv[i], count, features->packed[i], in, out, err));
        LEAT_TRY(leat_leaky(&alone, slope, leat_conv_narrow_count(&features->conv[i], count), out,
                            out, err));
        in = out;
    }
    const leat_conv *last = &features->conv[LAYERS - 1];
    const leat_mean of = {count, (int64_t)last->narrow_height * last->narrow_width,
                          LEAT_IMAGE_FEATURES};
    return leat_mean_pixels(&alone, &of, in, self->out + first * LEAT_IMAGE_FEATURES, err);
}

static leat_code make(void *context, int worker, int64_t part, leat_error *err) {
    const computing *self = context;
    const uint64_t mode = leat_float_mode_begin();
    leat_code code = compute(self, &self->features->scratch[worker], part, err);
    leat_float_mode_end(mode);
    return code;
}

leat_code leat_features_compute(leat_features *features, int64_t count, const float *images,
                                float *out, leat_error *err) {
    computing self = {features, images, count, out};
    const leat_pool_job job = {
        .parts = (count + IMAGES - 1) / IMAGES, .context = &self, .make = make};
    uint64_t mode = 0;
    LEAT_TRY(leat_engine_enter(&features->engine, &mode, err));
    leat_code code = leat_pool_run(features->engine.device.pool, &job, err);
    leat_engine_leave(&features->engine, mode);
    return code;
}
