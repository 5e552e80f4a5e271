/* The table of a model's parameters. */
#include "nn/params.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

leat_param *leat_param_add(leat_param *params, int *count, double mean, double deviation, int rank,
                           const int64_t *shape, const char *format, ...) {
    leat_param *param = &params[*count];
    LEAT_ASSERT(rank >= 1 && rank <= LEAT_PARAM_RANK_MAX && deviation >= 0);
    *param = (leat_param){.rank = rank, .mean = mean, .deviation = deviation, .count = 1};
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(param->name, sizeof param->name, format, args);
    va_end(args);
    LEAT_ASSERT(length > 0 && length < (int)sizeof param->name);
    for (int i = 0; i < rank; i++) {
        LEAT_ASSERT(shape[i] >= 1);
        param->shape[i] = shape[i];
        param->count *= shape[i];
    }
    param->offset = leat_params_size(params, *count);
    (*count)++;
    return param;
}

int64_t leat_params_size(const leat_param *params, int count) {
    return count == 0 ? 0 : params[count - 1].offset + params[count - 1].count;
}

bool leat_params_tensor(const leat_param *params, int count, int index, leat_model_tensor *out) {
    *out = (leat_model_tensor){0};
    if (index < 0 || index >= count) return false;
    const leat_param *of = &params[index];
    _Static_assert(sizeof out->shape == sizeof of->shape && sizeof of->name <= sizeof out->name,
                   "a row of the table fits into a tensor");
    out->rank = of->rank;
    out->offset = of->offset;
    out->count = of->count;
    memcpy(out->name, of->name, sizeof of->name);
    memcpy(out->shape, of->shape, sizeof out->shape);
    return true;
}
