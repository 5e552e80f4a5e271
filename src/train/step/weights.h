/*
 * The numbers of a run as a safetensors file, by PyTorch's names, those of the model's tensors:
 * parameters ("main.0.weight"), running statistics ("main.1.running_mean", "running_var"), and in
 * checkpoints the optimizer's means, "adam_m/main.0.weight" and "adam_v/...". All F32.
 */
#ifndef LEAT_TRAIN_STEP_WEIGHTS_H
#define LEAT_TRAIN_STEP_WEIGHTS_H

#include "format/safetensors/safetensors.h"
#include "train/step/trainer.h"

/* A tensor of floats. */
typedef struct leat_weight_row {
    char name[LEAT_TENSOR_NAME_BYTES];
    int rank;
    int64_t shape[4];
    float *values;
    int64_t count;
} leat_weight_row;
/* What a file holds. */
typedef struct leat_weight_file {
    const leat_weight_row *rows;
    int count;
    const char *const *metadata; /* pairs of key and value */
    int metadata_count;          /* pairs */
} leat_weight_file;
/* Writes it durably, complete or not at all. */
LEAT_MUST_CHECK leat_code leat_weight_file_save(const char *path, const leat_weight_file *of,
                                                char sha256[65], leat_error *err);

/* Bytes of a file with Adam's means. */
LEAT_MUST_CHECK leat_code leat_weights_bytes(const leat_model *model, int64_t *bytes,
                                             leat_error *err);
/* Writes the state durably, complete or not at all; sha256 receives the hash of the file, as
 * hexadecimal digits. The bytes are a function of model and state. */
LEAT_MUST_CHECK leat_code leat_weights_save(const char *path, const leat_model *model,
                                            const leat_train_state *state, char sha256[65],
                                            leat_error *err);
/* Reads what leat_weights_save wrote. LEAT_ERR_CORRUPT: the file does not have this hash, or not
 * these tensors; *state may then be filled in part. */
LEAT_MUST_CHECK leat_code leat_weights_load(const char *path, const char sha256[65],
                                            const leat_model *model, leat_train_state *state,
                                            leat_error *err);
/*
 * Reads weights to begin with from a third-party file, or several that together have all
 * parameters: a tensor of a parameter must have its shape and finite values (LEAT_ERR_INPUT), and
 * running statistics are taken if they are there. Other tensors are skipped if their names begin as
 * one of `extras` (up to NULL), or if that is NULL; otherwise they are of another network:
 * LEAT_ERR_INPUT. `prefix` goes before the names in the file, as one of leat_export_class has it.
 * found[i] is set if parameter i is there. F16 and BF16 become the floats that they are.
 */
typedef struct leat_weight_names {
    const char *prefix;
    const char *const *extras;
} leat_weight_names;
LEAT_MUST_CHECK leat_code leat_weights_read(const char *path, const leat_weight_names *names,
                                            const leat_model *model, leat_train_state *state,
                                            bool *found, leat_error *err);

/* The tensor of F32, F16 or BF16 with this name; rank, shape and codes as leat_safetensors_find. */
LEAT_MUST_CHECK leat_code leat_weights_find(const leat_safetensors *tensors, const char *name,
                                            int rank, const int64_t *shape, const leat_tensor **out,
                                            leat_error *err);

#endif
