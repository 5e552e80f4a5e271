/*
 * The parameters of a model: one block of floats, described by one table, which gives its size, its
 * first values, the names in checkpoints and what tests compare.
 */
#ifndef LEAT_NN_PARAMS_H
#define LEAT_NN_PARAMS_H

#include "base/error.h"
#include "nn/model.h"

#define LEAT_PARAM_RANK_MAX 4

typedef struct leat_param {
    char name[48]; /* as in a PyTorch state dict */
    int rank;
    int64_t shape[LEAT_PARAM_RANK_MAX];
    double mean, deviation; /* first values are normal; deviation 0: all are the mean */
    int64_t offset, count;  /* place in the block, in floats */
} leat_param;

/* Appends a row to params[*count], which has room for it, after the last one in the block. */
leat_param *leat_param_add(leat_param *params, int *count, double mean, double deviation, int rank,
                           const int64_t *shape, const char *format, ...) LEAT_PRINTF(7, 8);
/* What a model says of row `index`: a leat_model_class.tensor of the table. False, and *out zeros:
 * there is no such row. */
bool leat_params_tensor(const leat_param *params, int count, int index, leat_model_tensor *out);
/* Floats of the block. */
int64_t leat_params_size(const leat_param *params, int count);

#endif
