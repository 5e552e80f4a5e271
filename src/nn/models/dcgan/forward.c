/* The forward passes of a DCGAN's networks. */
#include "nn/models/dcgan/handle.h"
#include "nn/ops/batchnorm.h"
#include "nn/ops/each.h"
#include "nn/ops/move.h"

static const float norm_eps = 1e-5f;

leat_batchnorm leat_dcgan_batchnorm(const leat_dcgan_micro *self, const leat_dcgan_network *network,
                                    const leat_dcgan_flow *flow, int i) {
    const leat_dcgan_layer *layer = &network->layers[i];
    LEAT_ASSERT(layer->norm && layer->moments + layer->channels <= network->channels);
    return (leat_batchnorm){.pixels = layer->pixels,
                            .channels = layer->channels,
                            .images = self->dcgan->micro_batch,
                            .eps = norm_eps,
                            .slope = layer->slope,
                            .training = flow->training,
                            .weight = self->parameters + layer->norm_weight,
                            .shift = self->parameters + layer->norm_shift,
                            .mean = flow->moments + layer->moments,
                            .variance = flow->moments + network->channels + layer->moments,
                            .work = self->scratch->work};
}

void leat_dcgan_pack(const leat_dcgan *dcgan, const leat_dcgan_network *network, int i, bool up,
                     const float *parameters) {
    const leat_dcgan_layer *layer = &network->layers[i];
    const float *weights = parameters + layer->weight;
    const leat_device *device = &dcgan->engine.device;
    if (up) leat_conv_pack_up(device, &layer->conv, weights, network->packed[i].up);
    else leat_conv_pack_down(device, &layer->conv, weights, network->packed[i].down);
}

leat_code leat_dcgan_forward(const leat_dcgan_micro *self, const leat_dcgan_network *network,
                             const leat_dcgan_flow *flow, leat_error *err) {
    const int images = self->dcgan->micro_batch;
    const leat_device *device = &self->device;
    const float *in = flow->in;
    for (int i = 0; i < LEAT_DCGAN_LAYERS; i++) {
        const leat_dcgan_layer *layer = &network->layers[i];
        const leat_dcgan_packed *packed = &network->packed[i];
        const int64_t count = layer->pixels * layer->channels * self->dcgan->lanes;
        float *raw = flow->layers->raw[i], *out = flow->layers->out[i];
        LEAT_ASSERT((raw == out) == !layer->norm); /* backward reads both */
        if (layer->up)
            LEAT_TRY(leat_conv_up(device, &layer->conv, images, packed->up, in, raw, err));
        else LEAT_TRY(leat_conv_down(device, &layer->conv, images, packed->down, in, raw, err));
        if (layer->norm) {
            const leat_batchnorm bn = leat_dcgan_batchnorm(self, network, flow, i);
            LEAT_TRY(leat_batchnorm_forward(device, &bn, raw, out, err));
        } else if (layer->slope != 1) {
            LEAT_TRY(leat_leaky(device, layer->slope, count, out, out, err));
        }
        in = out;
    }
    return LEAT_OK;
}

leat_code leat_dcgan_forward_g(const leat_dcgan_micro *self, bool training, const float *noise,
                               float *moments, leat_error *err) {
    const leat_dcgan *dcgan = self->dcgan;
    leat_dcgan_scratch *s = self->scratch;
    const leat_dcgan_flow flow = {s->noise, &s->g, moments, training};
    float *fakes = s->g.out[LEAT_DCGAN_LAYERS - 1];
    LEAT_TRY(
        leat_move_in(&self->device, dcgan->micro_batch, dcgan->shape.latent, noise, s->noise, err));
    LEAT_TRY(leat_dcgan_forward(self, &dcgan->g, &flow, err));
    return leat_map_values(&self->device, LEAT_FUNCTION_TANH, LEAT_IMAGE_VALUES * dcgan->lanes,
                           fakes, fakes, err);
}

leat_code leat_dcgan_keep_fakes(const leat_dcgan_micro *self, float *out, leat_error *err) {
    return leat_move_out(&self->device, self->dcgan->micro_batch, LEAT_IMAGE_VALUES,
                         self->scratch->g.out[LEAT_DCGAN_LAYERS - 1], out, err);
}
