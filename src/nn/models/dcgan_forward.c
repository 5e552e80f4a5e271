/* The forward passes of a DCGAN's networks, and how images and noise come into the order of the
 * ops and back. */
#include "nn/models/dcgan_unit.h"
#include "nn/ops/batchnorm.h"
#include "nn/ops/each.h"

static const float norm_eps = 1e-5f;

leat_batchnorm leat_dcgan_norm(const leat_dcgan *dcgan, const leat_dcgan_layer *layer,
                               bool training) {
    return (leat_batchnorm){.pixels = layer->pixels,
                            .channels = layer->channels,
                            .images = dcgan->micro_batch,
                            .eps = norm_eps,
                            .slope = layer->slope,
                            .training = training};
}

void leat_dcgan_pack(const leat_dcgan *dcgan, const leat_dcgan_layer *layer,
                     const leat_dcgan_packed *packed, bool up, const float *parameters) {
    const float *weights = parameters + layer->weight;
    if (up) leat_conv_pack_up(&dcgan->nn, &layer->conv, weights, packed->up);
    else leat_conv_pack_down(&dcgan->nn, &layer->conv, weights, packed->down);
}

leat_code leat_dcgan_forward(const leat_dcgan_micro *self, bool training,
                             const leat_dcgan_layer *layers, const leat_dcgan_packed *packed,
                             const float *in, float *const *raw, float *const *out, float *moments,
                             int64_t channels, leat_error *err) {
    const leat_dcgan *dcgan = self->dcgan;
    const int images = dcgan->micro_batch;
    for (int i = 0; i < LEAT_DCGAN_LAYERS; i++) {
        const leat_dcgan_layer *layer = &layers[i];
        const int64_t count = layer->pixels * layer->channels * dcgan->lanes;
        if (layer->up)
            LEAT_TRY(leat_conv_up(&self->nn, &layer->conv, images, packed[i].up, in, raw[i], err));
        else
            LEAT_TRY(
                leat_conv_down(&self->nn, &layer->conv, images, packed[i].down, in, raw[i], err));
        if (layer->norm) {
            const leat_batchnorm bn = leat_dcgan_norm(dcgan, layer, training);
            LEAT_TRY(leat_batchnorm_forward(
                &self->nn, &bn, self->parameters + layer->norm_weight,
                self->parameters + layer->norm_shift, raw[i], moments + layer->moments,
                moments + channels + layer->moments, out[i], self->scratch->work, err));
        } else if (layer->slope != 1) {
            LEAT_TRY(leat_leaky(&self->nn, layer->slope, count, out[i], out[i], err));
        }
        in = out[i];
    }
    return LEAT_OK;
}

static void load_noise(const leat_dcgan *dcgan, const float *noise, float *out) {
    for (int64_t i = 0; i < dcgan->model.latent; i++, out += dcgan->lanes) {
        for (int64_t n = 0; n < dcgan->lanes; n++)
            out[n] = n < dcgan->micro_batch ? noise[n * dcgan->model.latent + i] : 0.0f;
    }
}

leat_code leat_dcgan_forward_g(const leat_dcgan_micro *self, bool training, const float *noise,
                               float *moments, leat_error *err) {
    const leat_dcgan *dcgan = self->dcgan;
    leat_dcgan_scratch *s = self->scratch;
    float *fakes = s->g_out[LEAT_DCGAN_LAYERS - 1];
    load_noise(dcgan, noise, s->noise);
    LEAT_TRY(leat_dcgan_forward(self, training, dcgan->model.g, dcgan->g, s->noise, s->g_raw,
                                s->g_out, moments, dcgan->model.g_channels, err));
    return leat_map_values(&self->nn, LEAT_FUNCTION_TANH, LEAT_IMAGE_VALUES * dcgan->lanes, fakes,
                           fakes, err);
}

void leat_dcgan_keep_fakes(const leat_dcgan_micro *self, float *out) {
    const float *in = self->scratch->g_out[LEAT_DCGAN_LAYERS - 1];
    for (int64_t n = 0; n < self->dcgan->micro_batch; n++) {
        for (int64_t i = 0; i < LEAT_IMAGE_VALUES; i++) *out++ = in[i * self->dcgan->lanes + n];
    }
}
