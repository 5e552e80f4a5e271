/*
 * What is looked at while a run is trained: a grid of images and three numbers, the score
 * (score.h), the deviation of the grid, and the spread between its images (image_spread.h). All
 * from the same latent vectors at every step.
 */
#ifndef LEAT_TRAIN_TASKS_IMAGES_MEASURE_H
#define LEAT_TRAIN_TASKS_IMAGES_MEASURE_H

#include "train/run/folder.h"
#include "train/run/task.h"
#include "train/tasks/images/generate.h"
#include "train/tasks/images/score.h"

#define LEAT_GRID_ENDING ".png" /* of those in RUN/samples */
enum { LEAT_GRID_IMAGES = 64, LEAT_GRID_COLUMNS = 8, LEAT_GRID_BORDER = 2 };
/* The spread is that between the first of the grid. */
enum { LEAT_IMAGE_SPREAD_COUNT = 64 };

/* What is measured, in the order of leat_image_measures. */
enum { LEAT_MEASURE_SCORE, LEAT_MEASURE_DEVIATION, LEAT_MEASURE_SPREAD, LEAT_MEASURE_SPREAD_DATA };
extern const leat_value leat_image_measures[];

typedef struct leat_image_measure {
    const leat_model *model;
    uint64_t seed; /* of the grids */
    leat_features *features;
    leat_score_reference *reference;
    float *statistics;
    double halves; /* the distance of one half of the data's images from the other */
} leat_image_measure;

/* Bytes that it takes with these options, and an export does. */
int64_t leat_image_measure_bytes(const leat_train_options *options);

/* Reads the measurements of the data from the run folder, or makes and saves them. */
LEAT_MUST_CHECK leat_code leat_image_measure_create(leat_image_measure *self,
                                                    const leat_measuring *of, leat_error *err);
void leat_image_measure_free(leat_image_measure *self);
/* Of a run's folder, how far one half of the data's images is from the other; NaN: it was not
 * measured, or is of other data than that with this fingerprint. */
LEAT_MUST_CHECK leat_code leat_image_measure_reference(const leat_run_folder *folder,
                                                       const char *data, double *halves,
                                                       leat_error *err);

/* Writes samples/step-N.png of the step in *of, unless the grid is almost uniform, and measures:
 * of->measured. */
LEAT_MUST_CHECK leat_code leat_image_measure_take(leat_image_measure *self,
                                                  const leat_run_folder *folder,
                                                  const float *parameters, leat_train_step *of,
                                                  leat_error *err);

/* Images as levels: out is [from->count][size][size][3]; *deviation of all values. */
LEAT_MUST_CHECK leat_code leat_image_measure_images(const leat_generate_from *from, uint8_t *out,
                                                    double *deviation, leat_error *err);

#endif
