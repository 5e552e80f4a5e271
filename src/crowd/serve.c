/*
 * Storing the data set of a run in the database: the list of its samples, for workers whose data
 * set is another one, and the samples, for workers that do not have it. Both once a run, before it
 * is opened, a part at a time. The samples that are there are the first ones, so that a coordinator
 * that was interrupted, or its successor, continues after them.
 */
#include <stdio.h>

#include "base/mem.h"
#include "base/thread.h"
#include "crowd/coordinator.h"

#define SAY_EVERY_NS INT64_C(10000000000)

typedef struct upload {
    leat_coordinator *self;
    const leat_samples *samples;
    int64_t stored; /* samples */
    int64_t said_ns;
    uint8_t *bytes; /* of `most` samples */
    int64_t most;
} upload;

/* Between two parts. False: the caller wants an end. */
static bool goes_on(leat_coordinator *self, const char *stage, int64_t done, int64_t all) {
    const leat_train_options *train = &self->options->train;
    const leat_progress progress = {stage, "bytes", done, all};
    if (!self->stopped && train->progress != NULL)
        self->stopped = !train->progress(train->user, &progress);
    return !self->stopped;
}

static bool reports(upload *of) {
    leat_coordinator *self = of->self;
    const leat_samples *samples = of->samples;
    const bool on = goes_on(self, "storing the data set", of->stored * samples->sample_bytes,
                            samples->count * samples->sample_bytes);
    if (leat_clock_ns() - of->said_ns >= SAY_EVERY_NS) {
        leat_coordinator_say(self, "%lld of %lld %s are stored", (long long)of->stored,
                             (long long)samples->count, self->session.feed.class->many);
        of->said_ns = leat_clock_ns();
    }
    return on;
}

static leat_code store_part(upload *of, leat_error *err) {
    leat_coordinator *self = of->self;
    const leat_samples *samples = of->samples;
    const int64_t left = samples->count - of->stored, count = left < of->most ? left : of->most;
    for (int64_t i = 0; i < count; i++)
        LEAT_TRY(samples->read(samples->context, of->stored + i,
                               of->bytes + i * samples->sample_bytes, err));
    LEAT_TRY(leat_database_put_data(self->pg, &self->hold, of->stored, of->bytes,
                                    count * samples->sample_bytes, err));
    of->stored += count;
    return LEAT_OK;
}

static leat_code store(upload *of, leat_error *err) {
    const int64_t count = of->samples->count;
    char there[64] = "";
    if (of->stored > 0)
        snprintf(there, sizeof there, "; %lld of them are there", (long long)of->stored);
    leat_coordinator_say(of->self, "stores the data set in the database: %lld %s, %.1f MB%s",
                         (long long)count, of->self->session.feed.class->many,
                         (double)(count * of->samples->sample_bytes) / 1e6, there);
    of->said_ns = leat_clock_ns();
    while (of->stored < count) {
        if (!reports(of))
            return leat_fail(err, LEAT_ERR_CANCELLED, "stopped while storing the data set");
        LEAT_TRY(store_part(of, err));
    }
    leat_coordinator_say(of->self, "the data set is in the database");
    return LEAT_OK;
}

leat_code leat_coordinator_check_serve(const leat_coordinator *self, leat_error *err) {
    const leat_feed *feed = &self->session.feed;
    if (feed->samples != NULL && feed->class->numbers != NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "--serve-data: %s cannot be kept in the database; leave the option out, and "
                     "use leat work with --data on every machine",
                     feed->class->many);
}

leat_code leat_coordinator_serve_data(leat_coordinator *self, leat_error *err) {
    const leat_feed *feed = &self->session.feed;
    upload of = {.self = self, .samples = feed->samples};
    self->serves = self->serves || self->options->serve_data || self->at.sample_bytes > 0;
    if (!self->serves) return LEAT_OK;
    LEAT_TRY(leat_coordinator_check_serve(self, err));
    const int64_t size = of.samples->sample_bytes;
    LEAT_TRY(leat_database_serve_data(self->pg, &self->hold, size, &of.stored, err));
    if (of.stored >= of.samples->count) return LEAT_OK;
    of.most = leat_database_samples_most(self->part_bytes, size);
    LEAT_TRY(LEAT_NEW(&of.bytes, of.most * size, err));
    const leat_code code = store(&of, err);
    leat_free(of.bytes);
    return code;
}

static leat_code store_list(leat_coordinator *self, const leat_buf *list, leat_error *err) {
    char stage[64];
    snprintf(stage, sizeof stage, "storing the list of %s", self->session.feed.class->many);
    for (int64_t first = 0; first < list->size; first += self->part_bytes) {
        const int64_t left = list->size - first;
        if (!goes_on(self, stage, first, list->size))
            return leat_fail(err, LEAT_ERR_CANCELLED, "stopped while %s", stage);
        LEAT_TRY(leat_database_put_list(self->pg, &self->hold, first / self->part_bytes,
                                        list->data + first,
                                        left < self->part_bytes ? left : self->part_bytes, err));
    }
    return leat_database_keep_list(self->pg, &self->hold, list->size, err);
}

leat_code leat_coordinator_list_data(leat_coordinator *self, leat_error *err) {
    const leat_feed *feed = &self->session.feed;
    leat_buf list = {0};
    if (self->at.list_bytes > 0 || feed->class->list == NULL) return LEAT_OK;
    leat_code code = feed->class->list(feed, &list, err);
    if (code == LEAT_OK && list.size > LEAT_DATABASE_LIST_BYTES_MAX)
        leat_coordinator_say(self,
                             "the list of the %s has %.1f MB, more than the database keeps: a "
                             "worker with another data set will not be told how it differs",
                             feed->class->many, (double)list.size / 1e6);
    else if (code == LEAT_OK) code = store_list(self, &list, err);
    leat_buf_free(&list);
    return code;
}
