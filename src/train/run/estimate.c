/* What a run takes: memory, bytes, time. See estimate.h and leat_train_plan. */
#include "train/run/estimate.h"

#include "base/mem.h"
#include "base/thread.h"
#include "train/run/train_options.h"
#include "train/step/exchange.h"
#include "train/step/weights.h"

/* Stacks of threads, buffers of files, JSON. */
#define SMALL_BYTES (INT64_C(4) << 20)
/* By how much the resident set of a process that has only begun may differ from run to run. */
#define RESIDENT_ROOM (INT64_C(2) << 20)

leat_code leat_train_bytes(const leat_task *task, const leat_train_options *options,
                           const leat_feed *feed, int64_t *bytes, leat_error *err) {
    LEAT_TRY(leat_trainer_bytes(task->model, options, feed, bytes, err));
    *bytes += SMALL_BYTES + feed->bytes;
    if (task->measure != NULL) *bytes += task->measure->bytes(options, feed);
    return LEAT_OK;
}

/* The same with `more` bytes and with what the process has by now. */
static leat_code whole_bytes(const leat_task *task, const leat_train_options *options,
                             const leat_feed *feed, int64_t more, int64_t *bytes, leat_error *err) {
    LEAT_TRY(leat_train_bytes(task, options, feed, bytes, err));
    *bytes += more + (leat_rss_bytes() > 0 ? leat_rss_bytes() : 0);
    return LEAT_OK;
}

leat_code leat_train_check_memory(const leat_task *task, const leat_train_options *options,
                                  const leat_feed *feed, int64_t more, leat_error *err) {
    int64_t bytes = 0;
    if (options->memory_bytes == 0) return LEAT_OK;
    LEAT_TRY(whole_bytes(task, options, feed, more, &bytes, err));
    if (bytes <= options->memory_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "--memory %lldM is too low for this run; use --memory %lldM, fewer threads or "
                     "a smaller micro-batch",
                     (long long)(options->memory_bytes >> 20),
                     (long long)((bytes + RESIDENT_ROOM) >> 20) + 1);
}

static leat_code create_trainer(leat_trainer **out, const leat_task *task,
                                const leat_train_options *options, const leat_feed *feed,
                                leat_error *err) {
    int64_t bytes = 0;
    leat_error why = {0};
    LEAT_TRY(leat_train_check_memory(task, options, feed, 0, err));
    LEAT_TRY(leat_train_bytes(task, options, feed, &bytes, err));
    leat_code code = leat_trainer_create(out, task->model, options, feed, &why);
    if (code != LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    return leat_fail(
        err, code,
        "this run takes up to %lld MiB of memory, more than can be allocated here; use "
        "fewer threads, a smaller micro-batch or a smaller model",
        (long long)(bytes >> 20) + 1);
}

/* Samples of the first unit: the next one begins after them. */
static leat_code first_samples(const leat_feed *feed, int64_t *samples, leat_error *err) {
    int64_t units = 0;
    leat_unit_place next;
    LEAT_TRY(leat_feed_units(feed, 0, &units, err));
    LEAT_TRY(leat_feed_place(feed, units > 1 ? 0 : 1, units > 1 ? 1 : 0, &next, err));
    *samples = next.position;
    return LEAT_OK;
}

/* Samples per second of units alone, in all passes of a step, without what comes before and after
 * them. */
static leat_code measure_speed(leat_trainer *trainer, leat_train_estimate *estimate,
                               leat_error *err) {
    leat_unit_numbers unit;
    int64_t samples = 0, unit_samples = 0, begin_ns = 0;
    LEAT_TRY(first_samples(leat_trainer_feed(trainer), &unit_samples, err));
    for (int i = 0; i < 100; i++) {
        if (i == 1) begin_ns = leat_clock_ns(); /* the first one touches the memory */
        for (int pass = 0; pass < leat_trainer_model(trainer)->passes; pass++) {
            LEAT_TRY(leat_trainer_begin(trainer, pass, err));
            LEAT_TRY(leat_trainer_unit(trainer, 0, &unit, err));
        }
        if (i == 0) continue;
        samples += unit_samples;
        const double seconds = (double)(leat_clock_ns() - begin_ns) * 1e-9;
        estimate->samples_per_second = (double)samples / (seconds > 0 ? seconds : 1e-9);
        if (seconds > 1) break;
    }
    return LEAT_OK;
}

static leat_code fill(leat_trainer *trainer, const leat_task *task,
                      const leat_train_options *options, leat_train_estimate *estimate,
                      leat_error *err) {
    const leat_model *model = leat_trainer_model(trainer);
    const leat_feed *feed = leat_trainer_feed(trainer);
    leat_exchange_sizes sent;
    int64_t unused = 0, position = 0;
    const leat_model_sizes sizes = model->sizes;
    estimate->parameters = sizes.parameters;
    if (task->parts != NULL) task->parts(model, estimate->parts);
    estimate->samples = feed->count;
    estimate->mapped_bytes = feed->mapped_bytes;
    estimate->sample_size = feed->class->sample_size;
    LEAT_TRY(leat_feed_position(feed, 1, &estimate->step_samples, err));
    LEAT_TRY(leat_feed_position(feed, estimate->steps, &position, err));
    estimate->epochs = (double)position / (double)feed->count;
    LEAT_TRY(leat_exchange_measure(task->model, options, feed, &sent, &unused, err));
    estimate->payload_bytes = sent.payload;
    estimate->weights_bytes = sent.weights;
    return leat_weights_bytes(model, &estimate->checkpoint_bytes, err);
}

static leat_code make(leat_feed *feed, leat_run_options *all, bool measure,
                      leat_train_estimate *estimate, leat_error *err) {
    const leat_train_options *options = &all->run;
    leat_trainer *trainer = NULL;
    LEAT_TRY(leat_run_options_settle(all, feed, err));
    LEAT_TRY(leat_feed_plan(feed, options, err));
    LEAT_TRY(leat_feed_steps(feed, options, &estimate->steps, err));
    /* before the trainer has its memory, and is part of the process */
    LEAT_TRY(whole_bytes(all->task, options, feed, RESIDENT_ROOM, &estimate->memory_bytes, err));
    LEAT_TRY(create_trainer(&trainer, all->task, options, feed, err));
    leat_code code = fill(trainer, all->task, options, estimate, err);
    if (code == LEAT_OK && measure) code = measure_speed(trainer, estimate, err);
    leat_trainer_destroy(trainer);
    return code;
}

leat_code leat_train_plan(const char *model, const char *data, const leat_train_options *options,
                          bool measure, leat_train_estimate *estimate, leat_error *err) {
    leat_run_options all;
    leat_feed feed = {0};
    *estimate = (leat_train_estimate){0};
    LEAT_TRY(leat_run_options_take(&all, model, options, err));
    LEAT_TRY(leat_run_options_check(&all, err));
    leat_code code = leat_feed_open(&feed, all.task->feed, data, err);
    if (code == LEAT_OK) code = make(&feed, &all, measure, estimate, err);
    leat_feed_close(&feed);
    if (code != LEAT_OK) *estimate = (leat_train_estimate){0};
    return code;
}
