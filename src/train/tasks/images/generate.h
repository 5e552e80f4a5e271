/* What a generator makes: images of fixed latent vectors, and the statistics that they need. Of a
 * model that is a DCGAN. */
#ifndef LEAT_TRAIN_TASKS_IMAGES_GENERATE_H
#define LEAT_TRAIN_TASKS_IMAGES_GENERATE_H

#include "train/step/model.h"

/* LEAT_ERR_UNSUPPORTED: another model, of which there are no samples and no exports; `run` is its
 * folder. The functions below are not called with it. */
LEAT_MUST_CHECK leat_code leat_generate_check(const leat_model_class *class, const char *run,
                                              leat_error *err);

/* Floats of the parameters that are the generator's, the first ones. */
int64_t leat_generator_size(const leat_model *model);

/* What G's normalisations use outside of training (leat_dcgan_statistics), from at least
 * LEAT_SAMPLE_VECTORS fixed latent vectors in micro-batches of the run's size. */
int64_t leat_generate_statistics_count(const leat_model *model);
LEAT_MUST_CHECK leat_code leat_generate_statistics(const leat_model *model, const float *parameters,
                                                   float *statistics, leat_error *err);

/* Which images, and what makes them. */
typedef struct leat_generate_from {
    const leat_model *model;
    const float *parameters, *statistics;
    uint64_t seed;
    int64_t first, count; /* latent vectors first .. first + count - 1 of the seed */
} leat_generate_from;
/* They are handed on in order, in groups: values [images][y][x][color] in -1 .. 1. */
typedef leat_code (*leat_generate_take_fn)(void *context, const float *images, int64_t count,
                                           leat_error *err);
LEAT_MUST_CHECK leat_code leat_generate(const leat_generate_from *from, leat_generate_take_fn take,
                                        void *context, leat_error *err);

#endif
