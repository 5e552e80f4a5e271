/* See unit.h. A micro-batch that a thread has made waits in its slot until it is taken in order;
 * the pool gives the thread no other part before. */
#include "nn/unit/unit.h"

#include <math.h>
#include <string.h>

#include "nn/float_mode.h"
#include "nn/ops/each.h"

/* ---- Who computes --------------------------------------------------------------------------- */

leat_code leat_engine_set(leat_engine *engine, const char *model, const char *kernels, int threads,
                          leat_error *err) {
    *engine = (leat_engine){.model = model, .threads = threads};
    LEAT_TRY(leat_kernels_named(kernels, &engine->device.kernels, err));
    if (threads >= 1 && threads <= LEAT_THREADS_MAX) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "threads must be between 1 and %d, not %d",
                     LEAT_THREADS_MAX, threads);
}

leat_code leat_engine_start(leat_engine *engine, leat_error *err) {
    LEAT_ASSERT(engine->device.kernels != NULL && engine->device.pool == NULL);
    return leat_pool_create(&engine->device.pool, engine->threads, err);
}

void leat_engine_stop(leat_engine *engine) {
    leat_pool_destroy(engine->device.pool);
    engine->device.pool = NULL;
}

leat_code leat_engine_enter(leat_engine *engine, uint64_t *mode, leat_error *err) {
    if (atomic_exchange(&engine->busy, true))
        return leat_fail(err, LEAT_ERR_BUSY,
                         "another thread is computing with this %s handle; create one for each "
                         "thread that computes",
                         engine->model);
    *mode = leat_float_mode_begin();
    return LEAT_OK;
}

void leat_engine_leave(leat_engine *engine, uint64_t mode) {
    leat_float_mode_end(mode);
    const bool was_busy = atomic_exchange(&engine->busy, false);
    LEAT_ASSERT(was_busy);
}

void leat_engine_cancel(leat_engine *engine, bool cancelled) {
    atomic_store(&engine->cancelled, cancelled);
}

leat_device leat_engine_alone(const leat_engine *engine) {
    return (leat_device){.kernels = engine->device.kernels};
}

/* ---- A unit --------------------------------------------------------------------------------- */

typedef struct unit {
    leat_engine *engine;
    const leat_unit_job *job;
    float *gradient;
    leat_unit_sums *sums;
    int64_t taken;                      /* micro-batches */
    leat_micro micro[LEAT_THREADS_MAX]; /* of each thread, the one that it has made */
} unit;

static leat_code make(unit *unit, const leat_device *device, int worker, int64_t index,
                      leat_error *err) {
    const leat_unit_job *job = unit->job;
    leat_micro *micro = &unit->micro[worker];
    LEAT_ASSERT(worker >= 0 && worker < unit->engine->threads && index < job->micro_batches);
    *micro = (leat_micro){.device = *device, .worker = worker, .index = index};
    if (atomic_load(&unit->engine->cancelled))
        return leat_fail(err, LEAT_ERR_CANCELLED, "the unit was cancelled");
    LEAT_TRY(job->make(job->context, micro, err));
    LEAT_ASSERT(micro->gradient != NULL && micro->weight > 0 && isfinite(micro->weight));
    return LEAT_OK;
}

static leat_code take(unit *unit, const leat_device *device, int worker, int64_t index,
                      leat_error *err) {
    const leat_unit_job *job = unit->job;
    const leat_micro *micro = &unit->micro[worker];
    LEAT_ASSERT(micro->index == index && unit->taken == index);
    LEAT_ASSERT(leat_apart(micro->gradient, job->size, unit->gradient, job->size));
    unit->taken++;
    LEAT_TRY(leat_add_scaled(device, job->end - job->begin, (float)micro->weight,
                             micro->gradient + job->begin, unit->gradient + job->begin, err));
    unit->sums->weight += micro->weight;
    for (int i = 0; i < job->sums; i++) unit->sums->sums[i] += micro->sums[i] * micro->weight;
    return LEAT_OK;
}

static leat_code make_part(void *context, int worker, int64_t part, leat_error *err) {
    unit *unit = context;
    const leat_device alone = leat_engine_alone(unit->engine);
    const uint64_t mode = leat_float_mode_begin();
    leat_code code = make(unit, &alone, worker, part, err);
    leat_float_mode_end(mode);
    return code;
}

static leat_code take_part(void *context, int worker, int64_t part, leat_error *err) {
    unit *unit = context;
    const leat_device alone = leat_engine_alone(unit->engine);
    const uint64_t mode = leat_float_mode_begin();
    leat_code code = take(unit, &alone, worker, part, err);
    leat_float_mode_end(mode);
    return code;
}

static leat_code run_all(unit *unit, leat_error *err) {
    leat_engine *engine = unit->engine;
    const leat_unit_job *job = unit->job;
    if (job->micro_batches > 1 && engine->threads > 1) {
        const leat_pool_job parts = {
            .parts = job->micro_batches,
            .threads = job->micro_batches < engine->threads ? (int)job->micro_batches : 0,
            .context = unit,
            .make = make_part,
            .take = take_part};
        return leat_pool_run(engine->device.pool, &parts, err);
    }
    for (int64_t i = 0; i < job->micro_batches; i++) {
        LEAT_TRY(make(unit, &engine->device, 0, i, err));
        LEAT_TRY(take(unit, &engine->device, 0, i, err));
    }
    return LEAT_OK;
}

static void clear(const unit *unit) {
    *unit->sums = (leat_unit_sums){0};
    memset(unit->gradient, 0, sizeof *unit->gradient * (size_t)unit->job->size);
}

leat_code leat_unit_run(leat_engine *engine, const leat_unit_job *job, float *gradient,
                        leat_unit_sums *sums, leat_error *err) {
    unit unit = {.engine = engine, .job = job, .gradient = gradient, .sums = sums};
    LEAT_ASSERT(atomic_load(&engine->busy) && engine->device.pool != NULL);
    LEAT_ASSERT(job->micro_batches >= 1 && job->sums >= 0 && job->sums <= LEAT_UNIT_SUMS_MAX);
    LEAT_ASSERT(leat_float_mode_is_set());
    LEAT_ASSERT(0 <= job->begin && job->begin <= job->end && job->end <= job->size);
    clear(&unit);
    const leat_code code = run_all(&unit, err);
    if (code != LEAT_OK) clear(&unit); /* what was taken before */
    LEAT_ASSERT(code != LEAT_OK || unit.taken == job->micro_batches);
    return code;
}

void leat_unit_add(int64_t count, const float *gradient, float *sum) {
    LEAT_ASSERT(count >= 0 && leat_apart(gradient, count, sum, count));
    const uint64_t mode = leat_float_mode_begin();
    for (int64_t i = 0; i < count; i++) sum[i] += gradient[i];
    leat_float_mode_end(mode);
}

double leat_unit_length(int64_t count, const float *gradient, double weight) {
    double sum = 0;
    const uint64_t mode = leat_float_mode_begin();
    for (int64_t i = 0; i < count; i++) sum += (double)gradient[i] * gradient[i];
    const double length = sqrt(sum) / weight;
    leat_float_mode_end(mode);
    return length;
}
