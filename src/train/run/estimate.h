/* What a run takes. */
#ifndef LEAT_TRAIN_RUN_ESTIMATE_H
#define LEAT_TRAIN_RUN_ESTIMATE_H

#include "train/run/task.h"
#include "train/step/trainer.h"

/* Bytes of memory at most, besides the program and mapped files. */
LEAT_MUST_CHECK leat_code leat_train_bytes(const leat_task *task, const leat_train_options *options,
                                           const leat_feed *feed, int64_t *bytes, leat_error *err);
/* LEAT_ERR_LIMIT: with `more` bytes, more than options->memory_bytes, if that is set, with what is
 * enough. */
LEAT_MUST_CHECK leat_code leat_train_check_memory(const leat_task *task,
                                                  const leat_train_options *options,
                                                  const leat_feed *feed, int64_t more,
                                                  leat_error *err);

#endif
