/* Weights to begin a run with. */
#ifndef LEAT_TRAIN_RUN_INIT_H
#define LEAT_TRAIN_RUN_INIT_H

#include "train/run/train_options.h"
#include "train/step/trainer.h"

/* Replaces the first weights of a trainer by those of a run folder (its last checkpoint), an
 * exported folder, or a safetensors file. sha256 receives a hash of the weights, as hexadecimal
 * digits, whatever file they came from. LEAT_ERR_INPUT: shapes differ, parameters are missing, or
 * the run or export is of another model than the trainer's, which `task` is of. */
LEAT_MUST_CHECK leat_code leat_init_load(const char *path, const leat_task *task,
                                         leat_trainer *trainer, char sha256[65], leat_error *err);

#endif
