/*
 * A model of any class (nn/model.h) with its handle and sizes, and what runs need of every model:
 * the hash of its names and shapes, and its tensors by number.
 */
#ifndef LEAT_TRAIN_STEP_MODEL_H
#define LEAT_TRAIN_STEP_MODEL_H

#include "leat/train.h"
#include "nn/model.h"

typedef struct leat_model {
    const leat_model_class *class;
    void *self;
    leat_model_sizes sizes;
    int passes; /* of a step */
} leat_model;

/* Of all classes; part of the keys of rounding, and so of every run. */
#define LEAT_MODEL_PASSES_MAX 2

/* A model of this class for a run with these options: errors of the class's functions. After a
 * failure *out is {0}. */
LEAT_MUST_CHECK leat_code leat_model_create(leat_model *out, const leat_model_class *class,
                                            const leat_train_options *options, leat_error *err);
void leat_model_destroy(leat_model *model);
/* Sizes without memory. */
LEAT_MUST_CHECK leat_code leat_model_measure(const leat_model_class *class,
                                             const leat_train_options *options,
                                             leat_model_sizes *out, leat_error *err);
/* The passes of a step with these options. */
int leat_model_passes(const leat_model_class *class, const leat_train_options *options);

/* SHA-256, as hexadecimal digits, of the class's identity, names and shapes of all parameters and
 * running statistics: equal for models whose payloads and checkpoints are interchangeable. */
void leat_model_hash(const leat_model *model, char hash[65]);
/* Tensors: the parameters, then the running statistics; false after the last. */
static inline bool leat_model_tensor_at(const leat_model *model, int index,
                                        leat_model_tensor *out) {
    return model->class->tensor(model->self, index, out);
}
int leat_model_tensor_count(const leat_model *model);

#endif
