/*
 * How every model computes a unit: kernels, threads, and the sums over its micro-batches.
 *
 * Threads take whole micro-batches, each with memory of its own, and gradients and sums are added
 * in the order of the micro-batches, so that the result does not depend on the number of threads.
 * If there is only one micro-batch, or one thread, the parts of each op are divided instead.
 */
#ifndef LEAT_NN_UNIT_UNIT_H
#define LEAT_NN_UNIT_UNIT_H

#include <stdatomic.h>

#include "nn/model.h"
#include "nn/ops/op.h"

/* ---- Who computes --------------------------------------------------------------------------- */

/* In the handle of a model, one caller at a time. */
typedef struct leat_engine {
    const char *model;  /* for messages */
    leat_device device; /* without a pool until leat_engine_start */
    int threads;
    atomic_bool busy, cancelled;
} leat_engine;

/* Chooses the kernels (NULL: the widest that run here), without memory or threads. LEAT_ERR_OPTION:
 * there are no such kernels, or threads are out of range; LEAT_ERR_UNSUPPORTED: they do not run
 * here. */
LEAT_MUST_CHECK leat_code leat_engine_set(leat_engine *engine, const char *model,
                                          const char *kernels, int threads, leat_error *err);
LEAT_MUST_CHECK leat_code leat_engine_start(leat_engine *engine, leat_error *err);
/* Also of one that was never started, or is all 0. */
void leat_engine_stop(leat_engine *engine);

/* The same without its threads: for what runs in a part of a job of them. */
leat_device leat_engine_alone(const leat_engine *engine);

/* Around a call that uses the model's memory or pool: LEAT_ERR_BUSY if another one does. Sets the
 * mode for floating point, and restores the caller's. */
LEAT_MUST_CHECK leat_code leat_engine_enter(leat_engine *engine, uint64_t *mode, leat_error *err);
void leat_engine_leave(leat_engine *engine, uint64_t mode);
/* From any thread: while it is cancelled, a unit ends before its next micro-batch. */
void leat_engine_cancel(leat_engine *engine, bool cancelled);

/* ---- What is computed ----------------------------------------------------------------------- */

/* One micro-batch: what it is computed with, and what it has computed. */
typedef struct leat_micro {
    leat_device device; /* for its ops: with the pool if nothing else is computed meanwhile */
    int worker;    /* whose memory it uses, below the numbers of threads and of micro-batches */
    int64_t index; /* in the unit */
    /* Set by `make`. */
    const float *gradient;           /* [size], of the worker: the mean over the loss terms */
    double weight;                   /* the number of loss terms, above 0 */
    double sums[LEAT_UNIT_SUMS_MAX]; /* parts of the loss, also means over its terms; at first 0 */
} leat_micro;

typedef struct leat_unit_job {
    int64_t micro_batches; /* at least 1 */
    int64_t size;          /* floats of the gradient */
    int64_t begin, end;    /* the part of it that this pass computes; the rest is 0 */
    int sums;
    /* Computes a micro-batch; at any time on any thread. */
    leat_code (*make)(void *context, leat_micro *micro, leat_error *err);
    void *context;
} leat_unit_job;

typedef struct leat_unit_sums {
    double weight, sums[LEAT_UNIT_SUMS_MAX]; /* of weight x loss */
} leat_unit_sums;

/*
 * Computes all micro-batches between leat_engine_enter and leat_engine_leave. gradient [size]
 * receives the sum of weight x gradient: one chain of fused multiply-adds from 0 in the order of
 * the micro-batches; the sums are added in that order in double precision. LEAT_ERR_CANCELLED, or
 * the first error of `make` in that order; then the gradient and the sums are 0.
 */
LEAT_MUST_CHECK leat_code leat_unit_run(leat_engine *engine, const leat_unit_job *job,
                                        float *gradient, leat_unit_sums *sums, leat_error *err);

/* Adds the gradient of a unit to the sum of those before it, in the order of the units. */
void leat_unit_add(int64_t count, const float *gradient, float *sum);
/* The length of a gradient, or of a part of it, over its weight: squares summed in
 * double precision, in order. */
double leat_unit_length(int64_t count, const float *gradient, double weight);

#endif
