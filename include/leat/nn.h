/*
 * leat/nn.h: the kernels that models compute with, and the DCGAN. Every result is the same bits on
 * every processor, for any number of threads. docs/kernels.md says how, and what it costs.
 */
#ifndef LEAT_NN_H
#define LEAT_NN_H

#include "leat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Kernels ------------------------------------------------------------------------------ */

/* One variant of the kernels: "scalar" (plain C, the specification of the others), "avx2",
 * "avx512", "neon". All give the same bits. */
typedef struct leat_kernel_variant {
    const char *name;
    int lanes; /* floats of a vector */
    bool runs; /* on this processor */
    bool used; /* unless another one is asked for: the widest that runs */
} leat_kernel_variant;
/* The variants that were built, index 0, 1, ...; false after the last. */
LEAT_API bool leat_kernel_variant_at(int index, leat_kernel_variant *out);

/*
 * The self-test consists of suites, each of some kernels, and with a hash of its own: "core" (index
 * 0; all that a DCGAN computes with), "rows", "segments", "tokens". A model's kernel class is made
 * of the suites that it computes with. NULL after the last.
 */
LEAT_API const char *leat_kernel_suite_at(int index);
/*
 * Runs one suite with a variant (NULL: the one that is used) and gives the hash of its results,
 * which is the same for every correct variant; a second or less. LEAT_ERR_OPTION: no such variant;
 * LEAT_ERR_UNSUPPORTED: this processor cannot run it, or there is no such suite; LEAT_ERR_CORRUPT:
 * a result is wrong, which the message names.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_kernel_suite_verify(const char *suite, const char *variant,
                                                            uint64_t *hash, leat_error *err);
/* The same of the suite "core" alone. */
LEAT_API LEAT_MUST_CHECK leat_code leat_kernels_verify(const char *variant, uint64_t *hash,
                                                       leat_error *err);

/* Speeds in GFLOP/s of one thread: the peak of the processor, from fused multiply-adds between
 * registers, and some products and convolutions, whose taps outside the image are not counted. */
#define LEAT_KERNEL_SHAPES 6
typedef struct leat_kernel_speed {
    const char *name;
    double gflops;
} leat_kernel_speed;
typedef struct leat_kernel_speeds {
    double peak;
    leat_kernel_speed shapes[LEAT_KERNEL_SHAPES];
} leat_kernel_speeds;
/* Measures a variant for some seconds. Errors as leat_kernels_verify, and LEAT_ERR_MEMORY. */
LEAT_API LEAT_MUST_CHECK leat_code leat_kernels_measure(const char *variant,
                                                        leat_kernel_speeds *out, leat_error *err);

/* ---- Values --------------------------------------------------------------------------------- */

/* What a model computes besides its weights, such as a part of its loss: lists of these name the
 * numbers of a step, in their order, and end with an empty one. */
typedef struct leat_value {
    const char *name;   /* in files: "loss_d_images"; NULL ends a list */
    const char *label;  /* in tables and figures: "D, real" */
    int better;         /* -1 if a lower one is better, 1 if a higher one is, 0 if neither */
    const char *figure; /* the title of the figure it is drawn in: "Losses"; NULL: none */
    const char *axis;   /* what is on the y axis of that figure: "binary cross-entropy" */
    const char *sum; /* where only few numbers fit, values with the same words here are added, and
                        shown by them: "D loss"; NULL: not shown there */
} leat_value;

/* How many values a list has; NULL has none. */
LEAT_API int leat_value_count(const leat_value *list);
/* Of numbers in the order of a list, the one of that name; NaN: the list has no such name. */
LEAT_API double leat_value_get(const leat_value *list, const double *numbers, const char *name);
/* Whether the number a of a value is better than b: lower or higher, as the value says, and not
 * equal. False if one of them is NaN, or if neither is better. */
LEAT_API bool leat_value_is_better(const leat_value *value, double a, double b);

/* ---- DCGAN -------------------------------------------------------------------------------- */

/*
 * Generator G and discriminator D for images of 64 x 64 x 3, their parameters, and one unit of
 * training: one or more micro-batches of the same size, each normalised separately (ghost batch
 * normalisation). The result of a unit is the sum over micro-batches, in order, of weight (the
 * number of images) times gradient, the total weight, the moments of every micro-batch, and the
 * sums of the losses. So the sum of all units of a step, divided by their total weight, is the mean
 * gradient over its images, however it was cut; for the same bits, cut it in the same way and add
 * the units in order.
 *
 * The discriminator's gradient is that of BCE(D(x), 1) + BCE(D(G(z)), 0) and holds no term of the
 * generator's pass; the generator's is that of BCE(D(G(z)), 1). Source: Radford, Metz, Chintala,
 * arXiv:1511.06434.
 */
typedef struct leat_dcgan leat_dcgan;

#define LEAT_IMAGE_SIZE 64 /* height and width */
#define LEAT_IMAGE_COLORS 3
#define LEAT_IMAGE_VALUES (LEAT_IMAGE_SIZE * LEAT_IMAGE_SIZE * LEAT_IMAGE_COLORS)

typedef struct leat_dcgan_options {
    int width;           /* channels of the widest images' layers, 1 to 1024 */
    int latent;          /* values of a noise vector, 1 to 4096 */
    int micro_batch;     /* images, 2 to 1024 */
    int threads;         /* 1 to 256: micro-batches at a time, each with memory of its own */
    const char *kernels; /* a variant, read by create only; NULL: the widest that runs here */
} leat_dcgan_options;
/* 64, 100, 64, 1, NULL */
LEAT_API leat_dcgan_options leat_dcgan_options_default(void);

/* Allocates what units need; they allocate nothing. A handle computes for one thread at a time
 * (otherwise LEAT_ERR_BUSY); different handles are independent. LEAT_ERR_OPTION names a value out
 * of range, LEAT_ERR_UNSUPPORTED kernels that do not run here. */
LEAT_API LEAT_MUST_CHECK leat_code leat_dcgan_create(leat_dcgan **out,
                                                     const leat_dcgan_options *options,
                                                     leat_error *err);
LEAT_API void leat_dcgan_destroy(leat_dcgan *dcgan);
/* From any thread: while it is cancelled, a unit ends with LEAT_ERR_CANCELLED before its next
 * micro-batch. */
LEAT_API void leat_dcgan_cancel(leat_dcgan *dcgan, bool cancelled);
/* Bytes that leat_dcgan_create allocates for numbers; threads and their stacks come on top. Errors
 * as there, except LEAT_ERR_MEMORY. */
LEAT_API LEAT_MUST_CHECK leat_code leat_dcgan_bytes(const leat_dcgan_options *options,
                                                    int64_t *bytes, leat_error *err);

/* A tensor of the block of parameters: G's first, then D's. */
typedef struct leat_parameter {
    const char *name; /* of the handle. "G.main.0.weight": after "G." as in a PyTorch state dict */
    int rank;
    int64_t shape[4];
    int64_t offset, count; /* floats */
} leat_parameter;
/* Index 0, 1, ...; false after the last. */
LEAT_API bool leat_dcgan_parameter_at(const leat_dcgan *dcgan, int index, leat_parameter *out);
/* Floats of the block of parameters, and of G's part of it. */
LEAT_API int64_t leat_dcgan_size(const leat_dcgan *dcgan);
LEAT_API int64_t leat_dcgan_generator_size(const leat_dcgan *dcgan);
/* Floats of the moments of one micro-batch, and of the running statistics. */
LEAT_API int64_t leat_dcgan_moment_count(const leat_dcgan *dcgan);
LEAT_API int64_t leat_dcgan_running_count(const leat_dcgan *dcgan);

/* First values, the same for a seed on every machine: weights of convolutions normal with deviation
 * 0.02, those of normalisations 1 plus such a number, shifts 0. Running statistics: mean 0,
 * variance 1. The caller owns the arrays: [leat_dcgan_size], [leat_dcgan_running_count]. */
LEAT_API void leat_dcgan_init(const leat_dcgan *dcgan, uint64_t seed, float *parameters);
LEAT_API void leat_dcgan_init_running(const leat_dcgan *dcgan, float *running);

/* Which gradients a unit computes: both at the same weights, as in distributed training, or,
 * alternating, D's, and after D's step G's with the same noise. */
typedef enum leat_dcgan_pass { LEAT_DCGAN_BOTH, LEAT_DCGAN_D, LEAT_DCGAN_G } leat_dcgan_pass;

typedef struct leat_dcgan_result {
    float *gradient; /* [leat_dcgan_size]: sum of weight * gradient; 0 what is not computed */
    /* [micro-batch][leat_dcgan_moment_count]: mean, then biased variance, of G's normalised
     * channels, of D's for the images (0 in LEAT_DCGAN_G), of D's for the fakes. */
    float *moments;
    double weight;                              /* the number of images */
    double loss_d_images, loss_d_fakes, loss_g; /* sums of weight * loss */
    /* Optional, NULL if not wanted: logits [micro-batch][image], and the fakes
     * [micro-batch][image][y][x][color] in -1 .. 1. */
    float *logits_images, *logits_fakes, *fakes;
} leat_dcgan_result;

/*
 * One unit: parameters [leat_dcgan_size], images [micro-batch][image][y][x][color] as 0 .. 255
 * (NULL in LEAT_DCGAN_G), noise [micro-batch][image][latent]. The caller owns all arrays, those of
 * `result` too. LEAT_ERR_OPTION: fewer than 1 micro-batch, no images, no such pass. LEAT_ERR_BUSY:
 * see leat_dcgan_create. After a failure the weight and the losses are 0.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_dcgan_unit(leat_dcgan *dcgan, leat_dcgan_pass pass,
                                                   int micro_batches, const float *parameters,
                                                   const uint8_t *images, const float *noise,
                                                   leat_dcgan_result *result, leat_error *err);
/* Folds the moments of a unit into running statistics, micro-batch by micro-batch: G's (not again
 * in LEAT_DCGAN_G), D's for the images, D's for the fakes. [mean, variance] of G, then of D. */
LEAT_API void leat_dcgan_fold(const leat_dcgan *dcgan, leat_dcgan_pass pass, int micro_batches,
                              const float *moments, float *running);

/* Adds the gradient of a unit to the sum of the units before it, in the order of their numbers:
 * this is how the units of a step are added. count: leat_dcgan_size; the arrays do not overlap. */
LEAT_API void leat_dcgan_add(int64_t count, const float *gradient, float *sum);

/* Adam with bias correction (arXiv:1412.6980), or AdamW if decay is not 0. */
typedef struct leat_adam {
    double rate, beta1, beta2, eps, decay;
} leat_adam;
/* A step of the parameters that a pass has gradients for. Arrays are [leat_dcgan_size], and the
 * caller's. */
typedef struct leat_dcgan_update {
    leat_dcgan_pass pass;
    const leat_adam *adam;
    int64_t step;          /* 1, 2, ... */
    const float *gradient; /* of all units of the step, and the sum of their weights: */
    double weight;         /* gradient * (1 / weight) is the mean gradient */
    float *parameters;     /* they and the moments are changed */
    float *first, *second; /* moments, 0 before the first step */
} leat_dcgan_update;
/* decay shrinks all parameters. LEAT_ERR_OPTION: a step below 1, betas outside [0, 1), a negative
 * eps or decay, a weight that is not above 0, a value that is not finite, no such pass, arrays that
 * overlap. LEAT_ERR_BUSY: see leat_dcgan_create. */
LEAT_API LEAT_MUST_CHECK leat_code leat_dcgan_step(leat_dcgan *dcgan,
                                                   const leat_dcgan_update *update,
                                                   leat_error *err);

/* When G and D take their steps in training: at the same weights, or D first and G through the new
 * D, with the same latent vectors. */
typedef enum leat_dcgan_schedule {
    LEAT_DCGAN_SIMULTANEOUS,
    LEAT_DCGAN_ALTERNATING
} leat_dcgan_schedule;

/* What a run that trains a DCGAN (leat/train.h) has beyond the options of every run. The table
 * below has the range of each value. */
typedef struct leat_dcgan_settings {
    int32_t width, latent; /* as in leat_dcgan_options */
    leat_dcgan_schedule schedule;
    double learning_rate, beta1, beta2; /* of Adam, for both networks */
} leat_dcgan_settings;
/* Width 64, latent size 100, simultaneous, 2e-4, 0.5 and 0.999. */
LEAT_API leat_dcgan_settings leat_dcgan_settings_default(void);
/* "width", "latent", "schedule", "learning-rate", "beta1", "beta2". */
LEAT_API const leat_setting_table *leat_dcgan_settings_table(void);

/* Latent vectors first .. first + count - 1 of a purpose: [count][latent], normal numbers. A vector
 * is a function of (purpose, seed, its number). In training, the number is the position of the
 * image that is judged beside it (leat/train.h). */
typedef enum leat_noise { LEAT_NOISE_TRAINING, LEAT_NOISE_FIXED } leat_noise;
LEAT_API void leat_dcgan_noise(const leat_dcgan *dcgan, leat_noise purpose, uint64_t seed,
                               int64_t first, int64_t count, float *noise);

/*
 * What G's normalisations use outside of training: mean, then biased variance of its normalised
 * channels, over micro-batches of noise [micro-batch][image][latent]. Running statistics lag behind
 * the weights; these are of the weights given. Means are averaged over the micro-batches; variances
 * too, plus the variance of the means. LEAT_ERR_OPTION: fewer than 1 micro-batch; LEAT_ERR_BUSY:
 * see leat_dcgan_create. Source: Wu and Johnson, arXiv:2105.07576, section 3 (PreciseBN).
 */
LEAT_API int64_t leat_dcgan_statistics_count(const leat_dcgan *dcgan); /* floats */
LEAT_API LEAT_MUST_CHECK leat_code leat_dcgan_statistics(leat_dcgan *dcgan, int micro_batches,
                                                         const float *parameters,
                                                         const float *noise, float *statistics,
                                                         leat_error *err);
/* G's images with such statistics: [micro-batch][image][y][x][color] in -1 .. 1. An image does not
 * depend on the others. Errors as above. */
LEAT_API LEAT_MUST_CHECK leat_code leat_dcgan_generate(leat_dcgan *dcgan, int micro_batches,
                                                       const float *parameters,
                                                       const float *statistics, const float *noise,
                                                       float *images, leat_error *err);

/* ---- Features of images ------------------------------------------------------------------- */

/* Features of images from a network with fixed random weights, fixed across versions and machines;
 * comparing the means and covariances of two sets of images measures the distance between the
 * sets. */
#define LEAT_IMAGE_FEATURES 64
typedef struct leat_features leat_features;
/* threads: 1 to 256; kernels as in leat_dcgan_options. A handle computes for one thread at a time
 * (otherwise LEAT_ERR_BUSY). */
LEAT_API LEAT_MUST_CHECK leat_code leat_features_create(leat_features **out, int threads,
                                                        const char *kernels, leat_error *err);
LEAT_API void leat_features_destroy(leat_features *features);
/* images [count][y][x][color] in -1 .. 1 to out [count][LEAT_IMAGE_FEATURES]. */
LEAT_API LEAT_MUST_CHECK leat_code leat_features_compute(leat_features *features, int64_t count,
                                                         const float *images, float *out,
                                                         leat_error *err);

/* ---- The VGAE that reconstructs graphs ------------------------------------------------------ */

/* small: 4 heads of 16, latent vectors of 64 values; large: 4 of 32, 128. */
typedef enum leat_vgae_size { LEAT_VGAE_SMALL, LEAT_VGAE_LARGE } leat_vgae_size;

/* What a VGAE is trained with. The table below has the range of each value. */
typedef struct leat_vgae_settings {
    leat_vgae_size size;
    double dropout;       /* share of activations that become 0 in training */
    double id_drop;       /* share of nodes whose identifier becomes unknown in training */
    double learning_rate; /* of Adam */
    /* 0: the data decide. Numbers of identifiers, with 0 for unknown ones; of a micro-batch. */
    int64_t vocabulary, max_nodes, max_edges;
} leat_vgae_settings;
/* Small, 0.1, 0.01, 2e-3; the data decide the rest. */
LEAT_API leat_vgae_settings leat_vgae_settings_default(void);
/* "size", "dropout", "id-drop", "learning-rate", "vocabulary", "max-nodes", "max-edges". */
LEAT_API const leat_setting_table *leat_vgae_settings_table(void);

/* ---- The GAT that classifies graphs --------------------------------------------------------- */

/* small: 2 layers of 4 heads x 24; large: 3 of 8 x 64. */
typedef enum leat_gat_size { LEAT_GAT_SMALL, LEAT_GAT_LARGE } leat_gat_size;
/* Focal (gamma 2), cross-entropy, or cross-entropy in which an attack weighs 5 times as much. */
typedef enum leat_gat_loss {
    LEAT_GAT_LOSS_FOCAL,
    LEAT_GAT_LOSS_CE,
    LEAT_GAT_LOSS_WEIGHTED
} leat_gat_loss;

/* What a GAT is trained with. The table below has the range of each value. */
typedef struct leat_gat_settings {
    leat_gat_size size;
    leat_gat_loss loss;
    double dropout;       /* share of activations that become 0 in training */
    double id_drop;       /* share of nodes whose identifier becomes unknown in training */
    double learning_rate; /* of Adam */
    /* 0: the data decide. Numbers of identifiers, with 0 for unknown ones; of a micro-batch. */
    int64_t vocabulary, max_nodes, max_edges;
} leat_gat_settings;
/* Small, focal, 0.3, 0.01, 1e-3; the data decide the rest. */
LEAT_API leat_gat_settings leat_gat_settings_default(void);
/* "size", "loss", "dropout", "id-drop", "learning-rate", "vocabulary", "max-nodes", "max-edges". */
LEAT_API const leat_setting_table *leat_gat_settings_table(void);

#ifdef __cplusplus
}
#endif

#endif
