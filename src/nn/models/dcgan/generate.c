/*
 * Images from the generator of a DCGAN: latent vectors, the statistics that its normalisations use
 * outside of training, and the forward pass with them.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "nn/float_mode.h"
#include "nn/models/dcgan/handle.h"
#include "nn/ops/random.h"
#include "nn/random_streams.h"

void leat_dcgan_noise(const leat_dcgan *dcgan, leat_noise purpose, uint64_t seed, int64_t first,
                      int64_t count, float *noise) {
    const int64_t latent = dcgan->shape.latent;
    const uint64_t stream =
        purpose == LEAT_NOISE_TRAINING ? LEAT_STREAM_NOISE : LEAT_STREAM_FIXED_NOISE;
    const uint64_t mode = leat_float_mode_begin();
    for (int64_t i = 0; i < count; i++)
        leat_normal_fill(&dcgan->engine.device, leat_random(seed, stream, (uint64_t)(first + i)), 0,
                         latent, noise + i * latent);
    leat_float_mode_end(mode);
}

/* ---- The parts of a call ------------------------------------------------------------------ */

typedef struct generating {
    leat_dcgan *dcgan;
    const float *parameters, *noise;
    float *statistics; /* generating: [mean, variance]; NULL: they are measured */
    float *images;
    float *moments;       /* measuring: of the micro-batch in hand, [worker][2 channels] */
    double *sum, *square; /* measuring: of means and variances [2 channels]; of squared means */
} generating;

static void pack_g(void *context, int64_t part) {
    const generating *self = context;
    const leat_dcgan *dcgan = self->dcgan;
    leat_dcgan_pack(dcgan, &dcgan->g, (int)part, true, self->parameters);
}

static leat_code make(void *context, int worker, int64_t part, leat_error *err) {
    const generating *self = context;
    leat_dcgan *dcgan = self->dcgan;
    const leat_device alone = leat_engine_alone(&dcgan->engine);
    const leat_dcgan_micro micro = {dcgan, alone, &dcgan->scratch[worker], self->parameters};
    const int64_t first = part * dcgan->micro_batch;
    const bool training = self->statistics == NULL;
    float *moments =
        training ? self->moments + worker * 2 * dcgan->shape.g_channels : self->statistics;
    const uint64_t mode = leat_float_mode_begin();
    leat_code code = leat_dcgan_forward_g(&micro, training,
                                          self->noise + first * dcgan->shape.latent, moments, err);
    if (code == LEAT_OK && self->images != NULL)
        code = leat_dcgan_keep_fakes(&micro, self->images + first * LEAT_IMAGE_VALUES, err);
    leat_float_mode_end(mode);
    return code;
}

static leat_code take(void *context, int worker, int64_t part, leat_error *err) {
    const generating *self = context;
    const int64_t channels = self->dcgan->shape.g_channels;
    const float *moments = self->moments + worker * 2 * channels;
    (void)part;
    (void)err;
    for (int64_t c = 0; c < 2 * channels; c++) {
        self->sum[c] += moments[c];
        if (c < channels) self->square[c] += (double)moments[c] * moments[c];
    }
    return LEAT_OK;
}

static leat_code run(generating *self, int micro_batches, leat_error *err) {
    leat_dcgan *dcgan = self->dcgan;
    const leat_pool_job job = {.parts = micro_batches,
                               .context = self,
                               .make = make,
                               .take = self->statistics == NULL ? take : NULL};
    uint64_t mode = 0;
    if (micro_batches < 1)
        return leat_fail(err, LEAT_ERR_OPTION, "%d micro-batches to generate; 1 is the least",
                         micro_batches);
    LEAT_TRY(leat_engine_enter(&dcgan->engine, &mode, err));
    leat_code code = leat_device_run(&dcgan->engine.device, LEAT_DCGAN_LAYERS, pack_g, self, err);
    if (code == LEAT_OK) code = leat_pool_run(dcgan->engine.device.pool, &job, err);
    leat_engine_leave(&dcgan->engine, mode);
    return code;
}

/* ---- Statistics and images ---------------------------------------------------------------- */

static leat_code measure(generating *self, int micro_batches, float *statistics, leat_error *err) {
    const int64_t channels = self->dcgan->shape.g_channels;
    LEAT_TRY(LEAT_NEW(&self->moments, self->dcgan->engine.threads * 2 * channels, err));
    LEAT_TRY(LEAT_NEW(&self->sum, 2 * channels, err));
    LEAT_TRY(LEAT_NEW(&self->square, channels, err));
    LEAT_TRY(run(self, micro_batches, err));
    for (int64_t c = 0; c < channels; c++) {
        const double mean = self->sum[c] / micro_batches;
        const double between = self->square[c] / micro_batches - mean * mean;
        statistics[c] = (float)mean;
        statistics[channels + c] =
            (float)(self->sum[channels + c] / micro_batches + (between > 0 ? between : 0));
    }
    return LEAT_OK;
}

int64_t leat_dcgan_statistics_count(const leat_dcgan *dcgan) { return 2 * dcgan->shape.g_channels; }

leat_code leat_dcgan_statistics(leat_dcgan *dcgan, int micro_batches, const float *parameters,
                                const float *noise, float *statistics, leat_error *err) {
    generating self = {.dcgan = dcgan, .parameters = parameters, .noise = noise};
    leat_code code = measure(&self, micro_batches, statistics, err);
    leat_free(self.moments);
    leat_free(self.sum);
    leat_free(self.square);
    return code;
}

leat_code leat_dcgan_generate(leat_dcgan *dcgan, int micro_batches, const float *parameters,
                              const float *statistics, const float *noise, float *images,
                              leat_error *err) {
    generating self = {.dcgan = dcgan,
                       .parameters = parameters,
                       .noise = noise,
                       .statistics = (float *)(uintptr_t)statistics, /* only read */
                       .images = images};
    return run(&self, micro_batches, err);
}
