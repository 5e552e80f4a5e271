/* What the tests of the transformer share: a small one, batches, parameters. */
#ifndef TESTS_NN_TRANSFORMER_SUPPORT_H
#define TESTS_NN_TRANSFORMER_SUPPORT_H

#include "nn/models/transformer/model.h"
#include "nn/models/transformer/transformer.h"
#include "nn_support.h"

/* A tiny one, whose widths are not whole vectors. */
static const leat_transformer_size small = {2, 20, 4, 2, 6, 22, 19, 40, 10000};
enum { SEQUENCES = 2, LENGTH = 12, ROWS = SEQUENCES * LENGTH };

static const leat_schedule constant = {.kind = LEAT_SCHEDULE_CONSTANT, .peak = 3e-4};

static inline void *model_make(leat_transformer_size size, int64_t sequences, int threads,
                               const char *kernels, double dropout) {
    const leat_transformer_settings settings = {size, constant, dropout};
    const leat_model_setup setup = {&settings, sequences, threads, kernels};
    leat_model_sizes sizes;
    void *self = NULL;
    assert_ok(leat_transformer_class.sizes(&setup, &sizes, err));
    assert_ok(leat_transformer_class.create(&self, &setup, err));
    return self;
}

/* ---- Batches -------------------------------------------------------------------------------- */

typedef struct tokens {
    leat_token_micro micro;
    int32_t inputs[ROWS], positions[ROWS], segments[ROWS], targets[ROWS], target_segments[ROWS];
    int64_t number[SEQUENCES], epoch[SEQUENCES];
} tokens;

/* Sequences of segments of 7, 1 and 3 tokens, then padding; or 5 and 7. */
static inline void tokens_make(tokens *t, int seed) {
    static const int32_t segments[SEQUENCES][LENGTH] = {{1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 0},
                                                        {1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2}};
    *t = (tokens){.number = {4 * seed, 4 * seed + 1}, .epoch = {0, 1}};
    t->micro = (leat_token_micro){SEQUENCES,   LENGTH,     t->inputs,          t->positions,
                                  t->segments, t->targets, t->target_segments, t->number,
                                  t->epoch,    5};
    for (int i = 0; i < ROWS; i++) {
        t->segments[i] = segments[i / LENGTH][i % LENGTH];
        const bool same = i % LENGTH > 0 && t->segments[i] == t->segments[i - 1];
        t->positions[i] = same ? t->positions[i - 1] + 1 : 0;
        t->inputs[i] = t->segments[i] == 0 ? 0 : (5 * i * i + 3 * i + seed) % 19;
    }
    for (int i = 0; i < ROWS; i++) {
        if ((i + 1) % LENGTH == 0 || t->segments[i + 1] != t->segments[i]) continue;
        t->target_segments[i] = t->segments[i];
        t->targets[i] = t->inputs[i + 1];
    }
}

static inline leat_code get(void *context, int64_t index, int worker, const void **batch,
                            leat_error *err) {
    tokens *all = context;
    (void)worker;
    (void)err;
    *batch = &all[index].micro;
    return LEAT_OK;
}

/* First values that are larger than a model begins with, so that every part counts. */
static inline float *parameters_of(const leat_transformer_shape *shape) {
    float *out = nn_numbers(8, shape->count);
    for (int i = 0; i < shape->param_count; i++) {
        const leat_param *param = &shape->params[i];
        for (int64_t k = 0; k < param->count; k++)
            out[param->offset + k] = (param->rank == 1 ? 1 : 0) + 0.5f * out[param->offset + k];
    }
    return out;
}

static inline const leat_transformer_shape *shape_of(const leat_transformer_size *size) {
    static leat_transformer_shape shape;
    assert_ok(leat_transformer_shape_set(&shape, size, err));
    return &shape;
}

#endif
