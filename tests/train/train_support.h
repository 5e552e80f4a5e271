/* Helps the tests of train: small options, images that a formula makes, folders, and a data set on
 * disk. */
#ifndef TESTS_TRAIN_SUPPORT_H
#define TESTS_TRAIN_SUPPORT_H

#include "check.h"
#include "train/step/trainer.h"
#include "train/tasks/images/dcgan_task.h"

/* Width 1, latent size 3, 2 units of 4 images, micro-batches of 2, one thread, 4 steps, no samples.
 */
leat_train_options train_small(void);
/* The settings that these refer to. */
leat_dcgan_settings train_small_settings(void);
/* `count` images (image_set_support.h), without a file. */
leat_samples train_samples(int64_t count);
/* A DCGAN's trainer of these options, with its feed, on samples that outlive it. */
leat_trainer *train_create(const leat_train_options *options, const leat_samples *samples);
void train_destroy(leat_trainer *trainer);
/* The hash of the state after that many more steps. */
const char *train_steps(leat_trainer *trainer, int64_t steps, char hash[65]);

/* "<folder of the test program>/<name>"; the folder is removed by train_teardown. */
const char *train_path(const char *name);
int train_teardown(void **state);
/* Makes a data set of `count` images once, and returns its path. */
const char *train_data(int64_t count);

/* A run in a folder: one unit of 8 images a step, because samples are slow with smaller ones, and
 * checkpoints every 2 steps, of which 2 are kept. */
enum { TRAIN_IMAGES = 11 };
leat_train_options train_options(int64_t steps);
/* Trains on TRAIN_IMAGES images, which must succeed. */
leat_train_result train_run(const char *run, const leat_train_options *options);
/* Whether the run has a file or folder of this name. */
bool train_has(const char *run, const char *name);

/* The file at a path, freed by the caller with leat_free; NULL if it is missing. */
char *train_read(const char *path, int64_t *size_bytes);

#endif
