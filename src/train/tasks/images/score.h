/*
 * How far generated images are from the images of a data set: a Frechet distance between
 * two sets, from means and covariances of LEAT_IMAGE_FEATURES features of a fixed net
 * (leat_features_compute), in double precision:
 *
 *     |m1 - m2|^2 + trace(C1 + C2 - 2 (C1 C2)^(1/2))
 *
 * 0 for equal sets. It is not the FID, whose net is another; values can be compared between runs on
 * the same data. Source: Dowson and Landau, Journal of Multivariate Analysis 12 (1982).
 */
#ifndef LEAT_TRAIN_TASKS_IMAGES_SCORE_H
#define LEAT_TRAIN_TASKS_IMAGES_SCORE_H

#include "base/ticker.h"
#include "train/step/feed.h"
#include "train/tasks/images/generate.h"

enum {
    LEAT_SCORE_N = LEAT_IMAGE_FEATURES,
    LEAT_SCORE_PRODUCTS = LEAT_SCORE_N * (LEAT_SCORE_N + 1) / 2
};

/* Sums over images, in their order. */
typedef struct leat_score_sums {
    int64_t count;
    double sum[LEAT_SCORE_N], product[LEAT_SCORE_PRODUCTS]; /* of features i >= j, by i */
} leat_score_sums;

void leat_score_add(leat_score_sums *sums, const float *features); /* of one image */
void leat_score_merge(leat_score_sums *to, const leat_score_sums *from);
/* NaN if one of them has fewer than 2 images, or a value is not finite. */
LEAT_MUST_CHECK leat_code leat_score_distance(const leat_score_sums *a, const leat_score_sums *b,
                                              double *distance, leat_error *err);

/* Data to compare with: its images with even, and with odd numbers; the spread of all
 * (image_spread.h), NaN if it was not measured, or there are fewer than two images. */
typedef struct leat_score_reference {
    leat_score_sums half[2];
    double spread;
} leat_score_reference;

/* Measures all samples, with the ticker's stage "measuring images". */
LEAT_MUST_CHECK leat_code leat_score_measure(leat_score_reference *out, const leat_samples *samples,
                                             int threads, const char *kernels, leat_ticker *ticker,
                                             leat_error *err);
/* As a file; loading is LEAT_ERR_NOT_FOUND if it is missing or of other data. Files of version 1
 * lack the spread. */
LEAT_MUST_CHECK leat_code leat_score_save(const leat_score_reference *reference,
                                          const char *fingerprint, const char *path,
                                          leat_error *err);
LEAT_MUST_CHECK leat_code leat_score_load(leat_score_reference *reference, const char *fingerprint,
                                          const char *path, leat_error *err);

/* The score of a generator: LEAT_SAMPLE_VECTORS images against all of the reference. `of` says what
 * makes them; which ones they are, this does. */
LEAT_MUST_CHECK leat_code leat_score_generator(const leat_generate_from *of,
                                               leat_features *features,
                                               const leat_score_reference *reference, double *score,
                                               leat_error *err);

#endif
