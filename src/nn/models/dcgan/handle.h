/*
 * The handle of a DCGAN: what units (training.c) and generating (generate.c) compute with.
 */
#ifndef LEAT_NN_MODELS_DCGAN_HANDLE_H
#define LEAT_NN_MODELS_DCGAN_HANDLE_H

#include "nn/models/dcgan/dcgan.h"
#include "nn/ops/batchnorm.h"
#include "nn/unit/float_layout.h"

/* Places of the gradients in the order in which the ops write them: of a convolution, and of the
 * normalisation after it. */
typedef struct leat_dcgan_places {
    int64_t conv, norm_weight, norm_shift;
} leat_dcgan_places;

typedef struct leat_dcgan_packed {
    float *down, *up;
} leat_dcgan_packed;

/* G or D: its layers, and what a unit keeps of them. */
typedef struct leat_dcgan_network {
    const leat_dcgan_layer *layers;
    leat_dcgan_packed packed[LEAT_DCGAN_LAYERS];
    leat_dcgan_places place[LEAT_DCGAN_LAYERS];
    int64_t channels; /* that are normalised */
} leat_dcgan_network;

/* What a network has made of a micro-batch. Activations are [pixel][channel][lane]. */
typedef struct leat_dcgan_layers_out {
    float *raw[LEAT_DCGAN_LAYERS]; /* before the normalisation, */
    float *out[LEAT_DCGAN_LAYERS]; /* and after */
} leat_dcgan_layers_out;

/* A pass of a network over a micro-batch: the input of the first layer, what the layers make of it,
 * and the moments: mean [channels], then variance; written in training, read otherwise. */
typedef struct leat_dcgan_flow {
    const float *in;
    const leat_dcgan_layers_out *layers;
    float *moments;
    bool training;
} leat_dcgan_flow;

/* Memory of one micro-batch. */
typedef struct leat_dcgan_scratch {
    float *images, *noise;
    leat_dcgan_layers_out g, d;
    float *up[2]; /* gradients of activations, in turn */
    float *small; /* of logits */
    float *work;  /* of ops */
    float *gradient;
} leat_dcgan_scratch;

struct leat_dcgan {
    leat_dcgan_shape shape;
    leat_engine engine;
    int micro_batch;
    int64_t lanes;
    leat_dcgan_network g, d;
    /* Floats of gradients in the order of the ops, with their padding: more than parameters. */
    int64_t g_gradient_size, gradient_size;
    float *total;
    float pixel[256];            /* the value of a level */
    leat_dcgan_scratch *scratch; /* [threads] */
    leat_float_layout memory;
};

/* What one micro-batch is computed with. */
typedef struct leat_dcgan_micro {
    leat_dcgan *dcgan;
    leat_device device;
    leat_dcgan_scratch *scratch;
    const float *parameters;
} leat_dcgan_micro;

/* The normalisation of layer `i` of a network. */
leat_batchnorm leat_dcgan_batchnorm(const leat_dcgan_micro *self, const leat_dcgan_network *network,
                                    const leat_dcgan_flow *flow, int i);
/* Packs the weights of layer `i` for one direction. */
void leat_dcgan_pack(const leat_dcgan *dcgan, const leat_dcgan_network *network, int i, bool up,
                     const float *parameters);
/* Runs a network from the input of the first layer to the output of the last, without the final
 * tanh. */
LEAT_MUST_CHECK leat_code leat_dcgan_forward(const leat_dcgan_micro *self,
                                             const leat_dcgan_network *network,
                                             const leat_dcgan_flow *flow, leat_error *err);
/* The fakes of a micro-batch, in scratch->g.out of the last layer, from noise
 * [image][latent]. moments of G as above. */
LEAT_MUST_CHECK leat_code leat_dcgan_forward_g(const leat_dcgan_micro *self, bool training,
                                               const float *noise, float *moments, leat_error *err);
/* Those fakes as [image][y][x][color]. */
LEAT_MUST_CHECK leat_code leat_dcgan_keep_fakes(const leat_dcgan_micro *self, float *out,
                                                leat_error *err);

#endif
