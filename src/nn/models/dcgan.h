/*
 * DCGAN for images of 64 x 64 x 3: layers, parameters, and one unit of training.
 *
 * With width w and latent size z:
 *     G: z x 1 x 1 -> 8w x 4 x 4 -> 4w x 8 x 8 -> 2w x 16 x 16 -> w x 32 x 32 -> 3 x 64 x 64
 *        transposed convolutions, kernel 4; batch normalisation and ReLU; tanh at the end
 *     D: the same way back by convolutions; LeakyReLU 0.2, batch normalisation but for the first
 *        layer; one logit
 *
 * A unit is a number of micro-batches of the same size, each normalised alone. Its result is the
 * sum over micro-batches, in order, of weight (the number of images) times gradient; the total
 * weight; the moments of every micro-batch; and the sums of the losses. So any cut of a step into
 * units gives the mean gradient over all images, and nothing depends on who computed which part.
 *
 * The discriminator's gradient is that of BCE(D(x), 1) + BCE(D(G(z)), 0) and holds no term of the
 * generator's pass; the generator's is that of BCE(D(G(z)), 1). D(G(z)) is computed once for both,
 * and D's weights get no gradient in the generator's pass.
 * Source: Radford, Metz, Chintala, arXiv:1511.06434; crowd.md 1, 3, 4.
 */
#ifndef LEAT_NN_MODELS_DCGAN_H
#define LEAT_NN_MODELS_DCGAN_H

#include "nn/models/params.h"
#include "nn/ops/conv.h"

#define LEAT_DCGAN_LAYERS 5
#define LEAT_DCGAN_SIZE 64 /* height and width of an image */
#define LEAT_DCGAN_PIXELS (LEAT_DCGAN_SIZE * LEAT_DCGAN_SIZE)
#define LEAT_DCGAN_COLORS 3
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

typedef struct leat_dcgan {
    int width, latent;
    leat_dcgan_layer g[LEAT_DCGAN_LAYERS], d[LEAT_DCGAN_LAYERS];
    leat_param params[LEAT_DCGAN_PARAMS]; /* "G.main.0.weight", ..., "D.main.11.weight" */
    int param_count;
    int64_t g_size, size;           /* floats of G's parameters, and of all */
    int64_t g_channels, d_channels; /* normalised channels */
} leat_dcgan;

/* The model of this width and latent size; LEAT_ERR_OPTION if one is out of range. */
LEAT_MUST_CHECK leat_code leat_dcgan_set(leat_dcgan *out, int width, int latent, leat_error *err);

/* Which gradients a unit computes. The crowd's step needs both at the same weights. An alternating
 * step computes D's, steps D, then G's with the same noise. */
typedef enum leat_dcgan_pass { LEAT_DCGAN_BOTH, LEAT_DCGAN_D, LEAT_DCGAN_G } leat_dcgan_pass;

/*
 * The moments of one micro-batch, [network pass][mean, then biased variance][channel]: G's, D's of
 * the images, D's of the fakes. leat_dcgan_moment_count floats. Passes that were not computed are
 * 0: the images in LEAT_DCGAN_G; G's moments are computed in every pass and are the same.
 */
int64_t leat_dcgan_moment_count(const leat_dcgan *model);

typedef struct leat_dcgan_result {
    float *gradient; /* [size]: sum of weight * gradient; parts that were not computed are 0 */
    float *moments;  /* [micro-batch][leat_dcgan_moment_count] */
    double weight;   /* number of images */
    double loss_d_images, loss_d_fakes, loss_g; /* sums of weight * loss */
    /* If not NULL: logits of the images and of the fakes, [micro-batch][image], and the fakes,
     * [micro-batch][image][color][y][x]. */
    float *logits_images, *logits_fakes, *fakes;
} leat_dcgan_result;

/*
 * What computes units: memory for the activations of up to `threads` micro-batches at a time, and
 * nothing is allocated afterwards. `kernels` must run here. One unit at a time.
 */
typedef struct leat_dcgan_work leat_dcgan_work;
LEAT_MUST_CHECK leat_code leat_dcgan_work_create(leat_dcgan_work **out, const leat_dcgan *model,
                                                 const leat_kernels *kernels, int threads,
                                                 int micro_batch, leat_error *err);
void leat_dcgan_work_destroy(leat_dcgan_work *work);
/* Bytes that leat_dcgan_work_create takes; INT64_MAX if the model is too large. */
int64_t leat_dcgan_work_bytes(const leat_dcgan *model, const leat_kernels *kernels, int threads,
                              int micro_batch);

/*
 * One unit of micro_batches micro-batches: images [micro-batch][image][y][x][color], 0 .. 255 (NULL
 * for LEAT_DCGAN_G), noise [micro-batch][image][latent], parameters [size].
 */
LEAT_MUST_CHECK leat_code leat_dcgan_unit(leat_dcgan_work *work, leat_dcgan_pass pass,
                                          int micro_batches, const float *parameters,
                                          const uint8_t *images, const float *noise,
                                          leat_dcgan_result *result, leat_error *err);

/*
 * Folds the moments of a unit into running statistics, mean then variance of g_channels, mean then
 * variance of d_channels: micro-batch by micro-batch G's (not again in LEAT_DCGAN_G), D's of the
 * images, D's of the fakes.
 */
void leat_dcgan_fold(const leat_dcgan *model, leat_dcgan_pass pass, int micro_batches,
                     int micro_batch, const float *moments, float *running);

#endif
