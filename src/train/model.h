/*
 * A model of any class (nn/model.h) with its handle and sizes, and what runs need of every model:
 * the hash of its names and shapes, and its tensors by number.
 */
#ifndef LEAT_TRAIN_MODEL_H
#define LEAT_TRAIN_MODEL_H

#include "nn/model.h"
#include "train/plan.h"

typedef struct leat_model {
    const leat_model_class *class;
    void *self;
    leat_model_sizes sizes;
    int passes; /* of a step */
} leat_model;

/* Of all classes; part of the keys of rounding, and so of every run. */
#define LEAT_MODEL_PASSES_MAX 2

/* Samples, read by any number of threads at once. */
typedef struct leat_samples {
    int64_t count;
    const char *fingerprint; /* which data it is: 64 hexadecimal digits */
    int64_t sample_bytes;
    leat_code (*read)(const void *context, int64_t index, uint8_t *out, leat_error *err);
    const void *context;
} leat_samples;

/* The class of the model that a run with these options trains. */
const leat_model_class *leat_model_class_of(const leat_train_options *options);
/* Errors of the class's functions. After a failure *out is {0}. */
LEAT_MUST_CHECK leat_code leat_model_create(leat_model *out, const leat_train_options *options,
                                            leat_error *err);
void leat_model_destroy(leat_model *model);
/* Sizes without memory. */
LEAT_MUST_CHECK leat_code leat_model_measure(const leat_train_options *options,
                                             leat_model_sizes *out, leat_error *err);

/* The passes of a step with these options. */
int leat_model_passes(const leat_train_options *options);

/* Bytes of a sample; "dcgan". */
int64_t leat_model_sample_bytes(void);
const char *leat_model_name(void);
/* The class's list of values. */
const leat_value *leat_model_values(void);

/* SHA-256, as hexadecimal digits, of the class's identity, names and shapes of all parameters and
 * running statistics: equal for models whose payloads and checkpoints are interchangeable. */
void leat_model_hash(const leat_model *model, char hash[65]);
/* Tensors: the parameters, then the running statistics; false after the last. */
static inline bool leat_model_tensor_at(const leat_model *model, int index,
                                        leat_model_tensor *out) {
    return model->class->tensor(model->self, index, out);
}

#endif
