/*
 * What decides the weights of a run, as a text and its hash: model, data, kernel class, settings
 * that are not neutral, initial weights. Runs with one hash have the same weights after every step,
 * on one machine or many.
 */
#ifndef LEAT_TRAIN_RUN_IDENTITY_H
#define LEAT_TRAIN_RUN_IDENTITY_H

#include "base/file.h"
#include "base/json.h"
#include "nn/kernel_suites.h"
#include "train/run/train_options.h"
#include "train/step/feed.h"
#include "train/step/model.h"

#define LEAT_MODEL_NAME_BYTES 16

typedef struct leat_identity {
    char model[LEAT_MODEL_NAME_BYTES], model_hash[65];
    char data[65];   /* fingerprint; "": none, weights that were imported */
    int64_t samples; /* of the data */
    char kernel_class[LEAT_KERNEL_CLASS_BYTES]; /* hash of the kernels' self-test */
    char init[65];                   /* SHA-256 of the initial weights; "": by the seed */
    char init_path[LEAT_PATH_BYTES]; /* where they were, not part of the hash; "" */
    char run[65];                    /* SHA-256 of all of it */
} leat_identity;

/* Fills all but `init`, which the caller has set. feed NULL: no data. Runs the self-test of the
 * model's kernels. */
LEAT_MUST_CHECK leat_code leat_identity_make(leat_identity *identity, const leat_model *model,
                                             const leat_feed *feed, const leat_run_options *options,
                                             leat_error *err);
/* Sets `run`. */
LEAT_MUST_CHECK leat_code leat_identity_hash(leat_identity *identity,
                                             const leat_run_options *options, leat_error *err);
/* Whether a run with `here` may continue one with `there`, whose settings are an object of texts:
 * LEAT_ERR_OPTION names what differs. */
LEAT_MUST_CHECK leat_code leat_identity_compare(const leat_identity *here,
                                                const leat_run_options *options,
                                                const leat_identity *there, const json_t *settings,
                                                leat_error *err);
/* Whether an option is kept with a run: all but those of a machine (threads, memory, kernels,
 * export) and of the beginning (init). */
bool leat_identity_keeps(const leat_setting *row);

#endif
