/*
 * The handle of a DCGAN: what units (dcgan_unit.c) and generating (dcgan_generate.c) compute with.
 */
#ifndef LEAT_NN_MODELS_DCGAN_UNIT_H
#define LEAT_NN_MODELS_DCGAN_UNIT_H

#include <stdatomic.h>

#include "nn/models/dcgan.h"
#include "nn/ops/batchnorm.h"

/* Places of the gradients in the order in which the ops write them: of a convolution, and of the
 * normalisation after it. */
typedef struct leat_dcgan_places {
    int64_t conv, norm_weight, norm_shift;
} leat_dcgan_places;

typedef struct leat_dcgan_packed {
    float *down, *up;
} leat_dcgan_packed;

/* Memory of one micro-batch. Activations are [pixel][channel][lane]. */
typedef struct leat_dcgan_scratch {
    float *images, *noise;
    float *g_raw[LEAT_DCGAN_LAYERS]; /* before the normalisation, */
    float *g_out[LEAT_DCGAN_LAYERS]; /* and after */
    float *d_raw[LEAT_DCGAN_LAYERS], *d_out[LEAT_DCGAN_LAYERS];
    float *up[2]; /* gradients of activations, in turn */
    float *small; /* of logits */
    float *work;  /* of ops */
    float *gradient;
} leat_dcgan_scratch;

struct leat_dcgan {
    leat_dcgan_model model;
    leat_nn nn;
    int threads, micro_batch;
    int64_t lanes;
    leat_dcgan_places g_place[LEAT_DCGAN_LAYERS], d_place[LEAT_DCGAN_LAYERS];
    int64_t g_size, size; /* floats of gradients, in the order of the ops */
    leat_dcgan_packed g[LEAT_DCGAN_LAYERS], d[LEAT_DCGAN_LAYERS];
    float *total;
    float pixel[256];            /* the value of a level */
    leat_dcgan_scratch *scratch; /* [threads] */
    void *block;
    int64_t block_bytes;
    atomic_bool busy, cancelled;
};

/* What one micro-batch is computed with. */
typedef struct leat_dcgan_micro {
    leat_dcgan *dcgan;
    leat_nn nn;
    leat_dcgan_scratch *scratch;
    const float *parameters;
} leat_dcgan_micro;

/* The normalisation of a layer for a micro-batch. */
leat_batchnorm leat_dcgan_norm(const leat_dcgan *dcgan, const leat_dcgan_layer *layer,
                               bool training);
/* Packs the weights of a layer for one direction. */
void leat_dcgan_pack(const leat_dcgan *dcgan, const leat_dcgan_layer *layer,
                     const leat_dcgan_packed *packed, bool up, const float *parameters);
/* Runs a network (`layers` and `packed` of G or D) from the input of the first layer to the output
 * of the last, without the final tanh. moments: mean [channels], then variance; written in
 * training, read otherwise. */
LEAT_MUST_CHECK leat_code leat_dcgan_forward(const leat_dcgan_micro *self, bool training,
                                             const leat_dcgan_layer *layers,
                                             const leat_dcgan_packed *packed, const float *in,
                                             float *const *raw, float *const *out, float *moments,
                                             int64_t channels, leat_error *err);
/* The fakes of a micro-batch, in scratch->g_out of the last layer, from noise
 * [image][latent]. moments of G as above. */
LEAT_MUST_CHECK leat_code leat_dcgan_forward_g(const leat_dcgan_micro *self, bool training,
                                               const float *noise, float *moments, leat_error *err);
/* Those fakes as [image][y][x][color]. */
void leat_dcgan_keep_fakes(const leat_dcgan_micro *self, float *out);

#endif
