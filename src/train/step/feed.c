/* See feed.h. */
#include "train/step/feed.h"

#include <math.h>

leat_code leat_feed_open(leat_feed *feed, const leat_feed_class *class, const char *path,
                         leat_error *err) {
    *feed = (leat_feed){.class = class};
    LEAT_TRY(class->open(feed, path, err));
    LEAT_ASSERT(feed->self != NULL && feed->fingerprint != NULL && feed->count >= 0);
    return LEAT_OK;
}

leat_code leat_feed_open_samples(leat_feed *feed, const leat_feed_class *class,
                                 const leat_samples *samples, leat_error *err) {
    *feed = (leat_feed){.class = class};
    if (class->open_samples == NULL || class->numbers == NULL)
        return leat_fail(err, LEAT_ERR_OPTION, "%s cannot be sent one by one; use a data set",
                         class->many);
    LEAT_TRY(class->open_samples(feed, samples, err));
    LEAT_ASSERT(feed->self != NULL && feed->fingerprint != NULL && feed->count >= 0);
    return LEAT_OK;
}

void leat_feed_close(leat_feed *feed) {
    if (feed->self != NULL) feed->class->close(feed->self);
    *feed = (leat_feed){0};
}

leat_code leat_feed_settle(const leat_feed *feed, const leat_train_options *options, void *settings,
                           leat_error *err) {
    LEAT_ASSERT(!feed->planned && options->settings == settings);
    return feed->class->settle == NULL ? LEAT_OK
                                       : feed->class->settle(feed, options, settings, err);
}

leat_code leat_feed_plan(leat_feed *feed, const leat_train_options *options, leat_error *err) {
    LEAT_ASSERT(!feed->planned);
    LEAT_TRY(feed->class->plan(feed, options, err));
    LEAT_ASSERT(feed->steps_most >= 1 && feed->units_most >= 1);
    LEAT_ASSERT(feed->batches_most >= 1 && feed->batch_bytes >= 1);
    LEAT_ASSERT(feed->class->numbers == NULL || feed->samples_most >= 1);
    LEAT_ASSERT(feed->unit_samples >= 0 && feed->bytes >= 0);
    LEAT_ASSERT(!feed->repeats || feed->count < options->micro_batch);
    feed->planned = true;
    return LEAT_OK;
}

leat_code leat_feed_steps(const leat_feed *feed, const leat_train_options *options, int64_t *steps,
                          leat_error *err) {
    LEAT_ASSERT(feed->planned);
    *steps = 0;
    if ((options->steps > 0) == (options->epochs > 0))
        return leat_fail(err, LEAT_ERR_OPTION,
                         options->steps > 0
                             ? "steps and epochs are both set; use one of them"
                             : "the run has no end: set steps or epochs to 1 or more, for example "
                               "--epochs 10");
    LEAT_TRY(feed->class->steps(feed, options, steps, err));
    LEAT_ASSERT(*steps >= 1);
    if (*steps <= feed->steps_most) return LEAT_OK;
    const int64_t wanted = *steps;
    *steps = 0;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "%lld steps: too many; with this data set and these options, a run has at "
                     "most %lld",
                     (long long)wanted, (long long)feed->steps_most);
}

void leat_feed_end(leat_feed *feed, int64_t steps) {
    LEAT_ASSERT(feed->planned && steps >= 1 && steps <= feed->steps_most);
    feed->end = steps;
}

static leat_code check_step(const leat_feed *feed, int64_t step, leat_error *err) {
    LEAT_ASSERT(feed->planned && step >= 0);
    if (feed->end == 0 || step <= feed->end) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "no step %lld: the run has %lld", (long long)step + 1,
                     (long long)feed->end);
}

leat_code leat_feed_units(const leat_feed *feed, int64_t step, int64_t *units, leat_error *err) {
    *units = 0;
    LEAT_TRY(check_step(feed, step, err));
    LEAT_TRY(feed->class->units(feed, step, units, err));
    LEAT_ASSERT(*units >= 1 && *units <= feed->units_most);
    LEAT_ASSERT(feed->unit_samples == 0 || *units == feed->units_most);
    return LEAT_OK;
}

leat_code leat_feed_place(const leat_feed *feed, int64_t step, int64_t unit, leat_unit_place *out,
                          leat_error *err) {
    LEAT_ASSERT(unit >= 0 && unit < feed->units_most);
    *out = (leat_unit_place){0};
    LEAT_TRY(check_step(feed, step, err));
    LEAT_TRY(feed->class->place(feed, step, unit, out, err));
    LEAT_ASSERT(out->count >= 1 && out->batches >= 1 && out->batches <= feed->batches_most);
    LEAT_ASSERT(feed->unit_samples == 0 || out->count == feed->unit_samples);
    LEAT_ASSERT(out->position >= 0 && out->position <= LEAT_TRAIN_POSITIONS_MAX);
    return LEAT_OK;
}

leat_code leat_feed_weight(const leat_feed *feed, const leat_unit_place *place, double *weight,
                           leat_error *err) {
    *weight = 0;
    LEAT_TRY(feed->class->weight(feed, place, weight, err));
    LEAT_ASSERT(*weight > 0 && isfinite(*weight));
    return LEAT_OK;
}

leat_code leat_feed_position(const leat_feed *feed, int64_t step, int64_t *position,
                             leat_error *err) {
    leat_unit_place place;
    *position = 0;
    LEAT_TRY(leat_feed_place(feed, step, 0, &place, err));
    *position = place.position;
    return LEAT_OK;
}
