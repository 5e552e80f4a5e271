/*
 * A model as those who train it see it: a class of functions on plain arrays. Nothing else in leat
 * knows how a model computes, and a model knows neither files nor where its batches come from.
 *
 * A step of a model has one pass or two. The units of a pass are computed from the same weights;
 * their numbers are added in the order of the units, and then the weights step. A unit consists of
 * micro-batches; its gradient is the sum of weight x gradient over them, so that the sum over all
 * units, divided by their weight, is the mean gradient, however it was cut.
 *
 * Units have the same weight in every pass, and a sum belongs to one pass of a step: what two of
 * them compute has two names. In the other passes the sum is 0; the trainer asserts it, because it
 * adds the sums of all passes.
 *
 * Results are the same bits for every number of threads, variant of the kernels and machine.
 */
#ifndef LEAT_NN_MODEL_H
#define LEAT_NN_MODEL_H

#include "base/error.h"
#include "leat/nn.h"

#define LEAT_UNIT_SUMS_MAX 16
#define LEAT_MODEL_NORMS_MAX 8

/* The numbers of one unit, in memory of the model's sizes. */
typedef struct leat_unit_numbers {
    float *gradient;   /* [parameters]: sum of weight x gradient; 0 what a pass does not compute */
    float *statistics; /* [micro-batches][statistics of one] */
    double sums[LEAT_UNIT_SUMS_MAX]; /* of weight x value; at first 0, as those of other passes */
    double weight;                   /* above 0: how many terms the sums and the gradient have */
} leat_unit_numbers;

/* Micro-batches of a unit, each made when a worker is about to compute it: so memory is bounded by
 * workers, not by the size of units. */
typedef struct leat_unit_batches {
    int64_t count; /* at least 1 */
    /* From any thread. *batch, of the model's kind, stays as it is until the next call with this
     * worker, which is below the setup's threads and below `count`. */
    leat_code (*get)(void *context, int64_t index, int worker, const void **batch, leat_error *err);
    void *context;
} leat_unit_batches;

/* What a model is made with. */
typedef struct leat_model_setup {
    const void *settings; /* of the class; read by the call only */
    int64_t micro_batch;  /* samples, or what the batches of its kind count */
    int threads;          /* 1 to 256 */
    const char *kernels;  /* a variant, read by the call only; NULL: the widest that runs here */
} leat_model_setup;

typedef struct leat_model_sizes {
    int64_t parameters; /* floats */
    int64_t running;    /* floats of the running statistics */
    int64_t statistics; /* floats of a micro-batch's statistics */
    int64_t bytes;      /* that the model takes; threads and their stacks come on top */
} leat_model_sizes;

/* A tensor of the parameters, or of the running statistics. */
typedef struct leat_model_tensor {
    char name[64]; /* in files: "G.main.0.weight" */
    bool running;
    int rank;
    int64_t shape[4];
    int64_t offset, count; /* floats, in its block */
} leat_model_tensor;

/* A step of the parameters that a pass has gradients for. */
typedef struct leat_model_step {
    int pass;
    int64_t step;                       /* from 0 */
    const float *gradient;              /* [parameters]: the sum over all units */
    double weight;                      /* and theirs */
    float *parameters, *first, *second; /* [parameters]: weights, and the optimizer's two means */
} leat_model_step;

/* All functions are needed. They may be called in any mode for floating point, which those that
 * compute set (nn/float_mode.h; leat_engine_enter does). */
typedef struct leat_model_class {
    const char *name;     /* "dcgan" */
    const char *identity; /* "leat dcgan 1": another number for what computes other bits */
    const char *batch;    /* kind of its micro-batches (micro_batch.h) */
    /* The names of what a step has computed: the sums of a unit, as means over the weight, then the
     * norms of mean gradients, whose labels say of what ("the gradient of D is not finite"). Names
     * are keys of metrics.jsonl, and no other number of a line has them. */
    const leat_value *values;
    int sums, norms;
    /* The kernels that it computes with: names of suites (nn/kernel_suites.h); NULL ends the list.
     */
    const char *const *suites;

    int (*passes)(const void *settings); /* 1 or 2 */
    /* The option with which a step has one pass; NULL: it always has. */
    const char *one_pass;
    /* Sizes without memory; errors as create. */
    leat_code (*sizes)(const leat_model_setup *setup, leat_model_sizes *out, leat_error *err);
    /* Allocates what units need; they allocate nothing. LEAT_ERR_OPTION names what is out of range;
     * LEAT_ERR_UNSUPPORTED: such kernels do not run here. */
    leat_code (*create)(void **self, const leat_model_setup *setup, leat_error *err);
    void (*destroy)(void *self);
    /* Index 0, 1, ...: the parameters in the order of their block, then the running statistics;
     * false after the last. */
    bool (*tensor)(const void *self, int index, leat_model_tensor *out);
    /* First values of a seed. */
    void (*init)(const void *self, uint64_t seed, float *parameters, float *running);

    /* Computes a unit. Other errors than LEAT_ERR_CANCELLED are those of making a batch, the first
     * in the order of the micro-batches. */
    leat_code (*unit)(void *self, int pass, const leat_unit_batches *batches,
                      const float *parameters, leat_unit_numbers *out, leat_error *err);
    /* Adds the statistics of a unit to the running ones, micro-batch by micro-batch; nothing if the
     * model has none. */
    void (*fold)(const void *self, int pass, int64_t micro_batches, const float *statistics,
                 float *running);
    /* Sets the norms that this pass has gradients for, of gradient / weight. */
    void (*norm)(const void *self, int pass, const float *gradient, double weight, double *norms);
    leat_code (*step)(void *self, const leat_model_step *step, leat_error *err);
    /* From any thread: while it is cancelled, a unit ends before its next micro-batch. */
    void (*cancel)(void *self, bool cancelled);
} leat_model_class;

#endif
