/*
 * The state of a run, and how a step changes it. The state after step s is a pure function of the
 * run's identity (identity.h) and s. A step:
 *
 *     for each pass:
 *         leat_trainer_begin    the weights as units see them: rounded by codec-down
 *         leat_trainer_unit     any unit, in any order, anywhere: its numbers
 *         leat_trainer_add      units 0, 1, ..., in order; each rounded by codec-up
 *         leat_trainer_end      the step of the weights
 *
 * leat_trainer_step does all of it here. Nothing of it allocates.
 */
#ifndef LEAT_TRAIN_STEP_TRAINER_H
#define LEAT_TRAIN_STEP_TRAINER_H

#include "train/step/feed.h"
#include "train/step/model.h"
#include "train/step/payload.h"

/* Numbers after a step; a file or database keeps them between steps. */
typedef struct leat_train_state {
    int64_t step;                       /* steps taken */
    float *parameters, *first, *second; /* [parameters]: weights, and Adam's two means */
    float *running;                     /* [running] */
} leat_train_state;

/* What the units of a step have computed. */
typedef struct leat_step_numbers {
    const leat_model_class *model; /* whose they are */
    double weight, sums[LEAT_UNIT_SUMS_MAX];
    double norms[LEAT_MODEL_NORMS_MAX]; /* of the mean gradients */
} leat_step_numbers;
/* Those of the class's list of values; returns how many there are. */
int leat_step_values(const leat_step_numbers *numbers, double values[LEAT_STEP_VALUES_MAX]);

typedef struct leat_trainer leat_trainer;

/* `feed`, which is planned with the same options, must outlive the trainer. NULL: a state without
 * data, which computes no units. */
LEAT_MUST_CHECK leat_code leat_trainer_create(leat_trainer **out, const leat_model_class *class,
                                              const leat_train_options *options,
                                              const leat_feed *feed, leat_error *err);
void leat_trainer_destroy(leat_trainer *trainer);
/* Bytes of it all, at most. */
LEAT_MUST_CHECK leat_code leat_trainer_bytes(const leat_model_class *class,
                                             const leat_train_options *options,
                                             const leat_feed *feed, int64_t *bytes,
                                             leat_error *err);

leat_model *leat_trainer_model(leat_trainer *trainer);
const leat_feed *leat_trainer_feed(const leat_trainer *trainer); /* NULL: none */
/* The state, which the caller may fill between steps: first values from the seed at create. */
leat_train_state *leat_trainer_state(leat_trainer *trainer);
/* SHA-256 of the state, as hexadecimal digits. */
void leat_trainer_hash(const leat_trainer *trainer, char hash[65]);

/* ---- Parts of a step ------------------------------------------------------------------------ */

/* Begins pass `pass_index` of the next step. Here and below, errors of the feed. */
LEAT_MUST_CHECK leat_code leat_trainer_begin(leat_trainer *trainer, int pass_index,
                                             leat_error *err);
/* The units of the step that was begun. */
int64_t leat_trainer_units(const leat_trainer *trainer);
/* Computes a unit of this step and pass into *out, whose arrays are the trainer's own, until the
 * next unit. LEAT_ERR_CORRUPT: also if the unit has another weight than the feed says. */
LEAT_MUST_CHECK leat_code leat_trainer_unit(leat_trainer *trainer, int64_t unit,
                                            leat_unit_numbers *out, leat_error *err);
/* From any thread: while it is cancelled, computing a unit ends early, with LEAT_ERR_CANCELLED. */
void leat_trainer_cancel(leat_trainer *trainer, bool cancelled);
/* Rounds a unit computed here as its payload would be. */
LEAT_MUST_CHECK leat_code leat_trainer_round(const leat_trainer *trainer, int64_t unit,
                                             leat_unit_numbers *of, leat_error *err);
/* Adds unit `unit`, which must be the next one, rounded. */
LEAT_MUST_CHECK leat_code leat_trainer_add(leat_trainer *trainer, int64_t unit,
                                           const leat_unit_numbers *of, leat_error *err);
/* The pass's step, once all units are added. LEAT_ERR_INPUT, naming what: a sum, a gradient or its
 * square, or a running statistic is not finite: then the weights are those before, and units may be
 * added again after leat_exchange_again; or, which finite gradients do not lead to, a weight or a
 * mean of the optimizer, and the trainer is of no further use. */
LEAT_MUST_CHECK leat_code leat_trainer_end(leat_trainer *trainer, leat_step_numbers *numbers,
                                           leat_error *err);

/* The entire next step. */
LEAT_MUST_CHECK leat_code leat_trainer_step(leat_trainer *trainer, leat_step_numbers *numbers,
                                            leat_error *err);

/* The key of the rounding of a unit at this position. */
uint64_t leat_trainer_key(uint64_t seed, int64_t position, int pass_index);

#endif
