/*
 * A model as the room sees it: the one place where train meets the DCGAN of nn. What it needs of a
 * model is here: sizes, first values, the numbers of one unit, and the step.
 *
 * A step of a model has one or two passes; the units of a pass are computed from the same weights,
 * added in order, and then the weights step. Sums of a unit are the sums over its images of the
 * parts of the loss, in the order of leat_model_values.
 */
#ifndef LEAT_TRAIN_MODEL_H
#define LEAT_TRAIN_MODEL_H

#include "train/plan.h"

typedef struct leat_model leat_model;

#define LEAT_MODEL_SUMS 3
#define LEAT_MODEL_NORMS 2
#define LEAT_MODEL_PASSES_MAX 2

/* Samples, read one at a time from any thread of one caller. */
typedef struct leat_samples {
    int64_t count;
    const char *fingerprint; /* which data it is: 64 hexadecimal digits */
    int64_t sample_bytes;
    leat_code (*read)(const void *context, int64_t index, uint8_t *out, leat_error *err);
    const void *context;
} leat_samples;

/* The numbers of one unit, in memory of the model's sizes. */
typedef struct leat_unit {
    float *gradient;   /* [size]: sum of weight x gradient */
    float *statistics; /* [micro-batches][statistics of one] */
    double sums[LEAT_MODEL_SUMS];
    double weight; /* number of images */
} leat_unit;

/* LEAT_ERR_OPTION: the data set's images are not of the model's size, and the errors of
 * leat_dcgan_create. */
LEAT_MUST_CHECK leat_code leat_model_create(leat_model **out, const leat_train_options *options,
                                            const leat_plan *plan, leat_error *err);
void leat_model_destroy(leat_model *model);
/* Bytes that a model and its unit take. */
LEAT_MUST_CHECK leat_code leat_model_bytes(const leat_train_options *options, const leat_plan *plan,
                                           int64_t *bytes, leat_error *err);

/* Bytes of a sample; "dcgan"; LEAT_ERR_OPTION for another name. */
int64_t leat_model_sample_bytes(void);
const char *leat_model_name(void);
LEAT_MUST_CHECK leat_code leat_model_find(const char *name, leat_error *err);
/* The names of what a step has computed: its sums, as means over the samples, then the norms of
 * mean gradients. */
const leat_value *leat_model_values(void);

typedef struct leat_model_sizes {
    int64_t parameters, generator; /* floats; G's are the first */
    int64_t running;               /* floats of the running statistics */
    int64_t statistics;            /* floats of a micro-batch's statistics */
} leat_model_sizes;
leat_model_sizes leat_model_get_sizes(const leat_model *model);
/* SHA-256, as hexadecimal digits, of names and shapes of all parameters and statistics: equal for
 * models whose payloads and checkpoints are interchangeable. */
void leat_model_hash(const leat_model *model, char hash[65]);
/* Tensors of the parameters, index 0, 1, ...; false after the last. */
bool leat_model_parameter_at(const leat_model *model, int index, leat_parameter *out);
/* Those of the running statistics, "G.main.1.running_mean", ... */
typedef struct leat_running_tensor {
    char name[64];
    int64_t offset, count;
} leat_running_tensor;
bool leat_model_running_at(const leat_model *model, int index, leat_running_tensor *out);

void leat_model_init(const leat_model *model, uint64_t seed, float *parameters, float *running);

/* The passes of a schedule. */
int leat_model_passes(leat_train_schedule schedule);
leat_dcgan_pass leat_model_pass(leat_train_schedule schedule, int index);

/* Computes unit `unit` of step `step`. LEAT_ERR_CORRUPT and others: of reading samples. */
LEAT_MUST_CHECK leat_code leat_model_unit(leat_model *model, leat_dcgan_pass pass,
                                          const leat_samples *samples, int64_t step, int64_t unit,
                                          const float *parameters, leat_unit *out, leat_error *err);
/* From any thread: see leat_dcgan_cancel. */
void leat_model_cancel(leat_model *model, bool cancelled);
/* Adds the statistics of a unit to the running ones. */
void leat_model_fold(const leat_model *model, leat_dcgan_pass pass, const float *statistics,
                     float *running);
/* Step number `step` (from 0) with the sum of gradients and their total weight. */
LEAT_MUST_CHECK leat_code leat_model_step(leat_model *model, leat_dcgan_pass pass, int64_t step,
                                          const float *gradient, double weight, float *parameters,
                                          float *first, float *second, leat_error *err);

/* ---- Images --------------------------------------------------------------------------------- */

/* What G's normalisations use outside of training (leat_dcgan_statistics), from at least
 * LEAT_SAMPLE_VECTORS fixed latent vectors in micro-batches of the run's size. */
int64_t leat_model_statistics_count(const leat_model *model);
LEAT_MUST_CHECK leat_code leat_model_statistics(leat_model *model, const float *parameters,
                                                float *statistics, leat_error *err);
/* Images of latent vectors first .. first + count - 1 of a seed, handed on in order, in groups:
 * values [images][y][x][color] in -1 .. 1. */
typedef leat_code (*leat_model_images_fn)(void *context, const float *images, int64_t count,
                                          leat_error *err);
LEAT_MUST_CHECK leat_code leat_model_generate(leat_model *model, const float *parameters,
                                              const float *statistics, uint64_t seed, int64_t first,
                                              int64_t count, leat_model_images_fn take,
                                              void *context, leat_error *err);

#endif
