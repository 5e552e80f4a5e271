/*
 * DCGAN for images of 64 x 64 x 3: layers and parameters. leat/nn.h says what a unit is.
 *
 * With width w and latent size z:
 *     G: z x 1 x 1 -> 8w x 4 x 4 -> 4w x 8 x 8 -> 2w x 16 x 16 -> w x 32 x 32 -> 3 x 64 x 64
 *        transposed convolutions, kernel 4; batch normalisation and ReLU; tanh at the end
 *     D: the same way back by convolutions; LeakyReLU 0.2, batch normalisation but for the first
 *        layer; one logit
 * Source: Radford, Metz, Chintala, arXiv:1511.06434; crowd.md 1, 3, 4.
 */
#ifndef LEAT_NN_MODELS_DCGAN_DCGAN_H
#define LEAT_NN_MODELS_DCGAN_DCGAN_H

#include "leat/nn.h"
#include "nn/model.h"
#include "nn/ops/conv.h"
#include "nn/params.h"
#include "nn/unit/unit.h"

#define LEAT_DCGAN_LAYERS 5
#define LEAT_DCGAN_PARAMS 24
#define LEAT_DCGAN_WIDTH_MAX 1024
#define LEAT_DCGAN_LATENT_MAX 4096
#define LEAT_DCGAN_MICRO_BATCH_MAX 1024

typedef struct leat_dcgan_layer {
    leat_conv conv;
    bool up;     /* a transposed convolution */
    float slope; /* of the activation below 0; 1: none, or tanh */
    bool norm;
    int64_t channels, pixels;                /* of the output */
    int64_t weight, norm_weight, norm_shift; /* offsets in the block of parameters */
    int64_t moments; /* offset among the channels that are normalised, of its network */
} leat_dcgan_layer;

typedef struct leat_dcgan_shape {
    int width, latent;
    leat_dcgan_layer g[LEAT_DCGAN_LAYERS], d[LEAT_DCGAN_LAYERS];
    leat_param params[LEAT_DCGAN_PARAMS]; /* "G.main.0.weight", ..., "D.main.11.weight" */
    int param_count;
    int64_t g_size, size;           /* floats of G's parameters, and of all */
    int64_t g_channels, d_channels; /* normalised channels */
} leat_dcgan_shape;

/* The model of this width and latent size; LEAT_ERR_OPTION if one is out of range. */
LEAT_MUST_CHECK leat_code leat_dcgan_shape_set(leat_dcgan_shape *out, int width, int latent,
                                               leat_error *err);
/* Floats of the moments of one micro-batch. */
int64_t leat_dcgan_shape_moments(const leat_dcgan_shape *model);

/* Of a handle: its model, what it computes with, images of a micro-batch. */
const leat_dcgan_shape *leat_dcgan_shape_of(const leat_dcgan *dcgan);
leat_engine *leat_dcgan_engine(leat_dcgan *dcgan);
const leat_device *leat_dcgan_nn(const leat_dcgan *dcgan);
int leat_dcgan_micro_batch(const leat_dcgan *dcgan);
/* LEAT_ERR_OPTION if it is none of the three. */
LEAT_MUST_CHECK leat_code leat_dcgan_check_pass(leat_dcgan_pass pass, leat_error *err);

/* Where a unit's images and noise come from: those of micro-batch `index`, in memory that stays
 * as it is until the next call with this worker; on any thread. */
typedef struct leat_dcgan_source {
    leat_code (*get)(void *context, int64_t index, int worker, const uint8_t **images,
                     const float **noise, leat_error *err);
    void *context;
} leat_dcgan_source;
/* leat_dcgan_unit of such a source. */
LEAT_MUST_CHECK leat_code leat_dcgan_unit_of(leat_dcgan *dcgan, leat_dcgan_pass pass,
                                             int64_t micro_batches, const float *parameters,
                                             const leat_dcgan_source *source,
                                             leat_dcgan_result *result, leat_error *err);

#endif
