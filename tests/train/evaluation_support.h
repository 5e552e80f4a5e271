/* Detectors that are trained in four steps to be evaluated. A call that must succeed fails the
 * test. */
#ifndef LEAT_TESTS_TRAIN_EVALUATION_SUPPORT_H
#define LEAT_TESTS_TRAIN_EVALUATION_SUPPORT_H

#include "base/file.h"
#include "leat/train_eval.h"

enum { EVALUATION_STEPS = 4 };

/* A run of EVALUATION_STEPS steps in train_path(name), which is returned, with a checkpoint every
 * other step. `measured`: after each step, so that one of them is the best. */
typedef struct evaluation_training {
    const char *model, *cache;
    uint64_t seed;
    bool measured, resume;
    char note[1024]; /* set: that of the result */
} evaluation_training;
const char *evaluation_train(evaluation_training *of, const char *name);

/* One thread, 10 replicates, a threshold for 10 % of benign windows. */
leat_evaluation_options evaluation_options(void);
/* The threshold of a run that is evaluated on a cache, without a note. */
double evaluation_threshold(const char *run, const char *cache, bool *reused);

/* Where a run keeps the calibration of a step; without that of the last one. */
void evaluation_calibration_path(const char *run, int64_t step, char path[LEAT_PATH_BYTES]);
void evaluation_forget(const char *run);

#endif
