/*
 * Reading all files: see job.h. Threads make a few pictures each (a part), then write them in turn:
 * the data set is in the order of the names, whatever the number of threads. Where a run was
 * interrupted, it begins with the first file that is not in the data set.
 */
#include <stdio.h>

#include "base/pool.h"
#include "ingest/images/job.h"

/* How often what is done is handed to the system, in bytes of images and in time: a killed run
 * loses no more than that. */
#define SAVE_BYTES (INT64_C(1) << 20)
#define SAVE_NS (2 * INT64_C(1000000000))

typedef struct worker {
    leat_picture_maker *maker;
    uint8_t *pixels; /* [part, S, S, 3] */
    leat_image_outcome *outcomes;
} worker;

typedef struct reading {
    leat_images_job *job;
    leat_picture_source source;
    worker *workers;
    int part;
    int64_t first; /* file */
    int64_t image_bytes;
    int64_t saved;        /* files that were done when they were saved last */
    int64_t save_ns;      /* when to save */
    int64_t need_bytes;   /* the most of a picture that did not fit; 0: all did */
    pthread_mutex_t lock; /* of it */
} reading;

/* ---- one run -------------------------------------------------------------------------------- */

static leat_code create_worker(reading *self, worker *it, leat_error *err) {
    LEAT_TRY(leat_picture_maker_create(&it->maker, &self->source, err));
    LEAT_TRY(LEAT_NEW(&it->pixels, self->part * self->image_bytes, err));
    return LEAT_NEW(&it->outcomes, self->part, err);
}

static leat_code create(reading *self, leat_error *err) {
    leat_images_job *job = self->job;
    LEAT_TRY(LEAT_NEW(&self->workers, job->memory.threads, err));
    for (int i = 0; i < job->memory.threads; i++)
        LEAT_TRY(create_worker(self, &self->workers[i], err));
    return LEAT_OK;
}

static void destroy(reading *self) {
    for (int i = 0; self->workers != NULL && i < self->job->memory.threads; i++) {
        leat_picture_maker_destroy(self->workers[i].maker);
        leat_free(self->workers[i].pixels);
        leat_free(self->workers[i].outcomes);
    }
    leat_free(self->workers);
}

/* ---- parts ---------------------------------------------------------------------------------- */

static int64_t part_end(const reading *self, int64_t part) {
    int64_t end = self->first + (part + 1) * self->part;
    return end < self->job->list.count ? end : self->job->list.count;
}

static leat_code check_strict(const reading *self, int64_t i, const leat_image_outcome *outcome,
                              leat_error *err) {
    if (outcome->reason == LEAT_IMAGE_GOOD || outcome->reason == LEAT_IMAGE_TEXT ||
        !self->job->options->strict)
        return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": %s: %s (run without --strict to reject such files and continue)",
                     leat_image_list_name(&self->job->list, i),
                     leat_image_reason_name(outcome->reason), outcome->what);
}

static void note_need(reading *self, int64_t need_bytes) {
    pthread_mutex_lock(&self->lock);
    if (need_bytes > self->need_bytes) self->need_bytes = need_bytes;
    pthread_mutex_unlock(&self->lock);
}

static leat_code make(void *context, int number, int64_t part, leat_error *err) {
    reading *self = context;
    worker *it = &self->workers[number];
    const int64_t begin = self->first + part * self->part, end = part_end(self, part);
    for (int64_t i = begin; i < end; i++) {
        leat_image_outcome *outcome = &it->outcomes[i - begin];
        int64_t need_bytes = 0;
        LEAT_TRY(leat_ticker_check(&self->job->ticker, err));
        leat_code code = leat_picture_make(
            it->maker, i, it->pixels + (i - begin) * self->image_bytes, outcome, &need_bytes, err);
        if (code == LEAT_ERR_LIMIT) note_need(self, need_bytes);
        LEAT_TRY(code);
        LEAT_TRY(check_strict(self, i, outcome, err));
    }
    return LEAT_OK;
}

static leat_code write_one(leat_images_job *job, int64_t i, const leat_image_outcome *outcome,
                           const uint8_t *pixels, leat_error *err) {
    const char *name = leat_image_list_name(&job->list, i);
    const leat_image_entry entry = {name, outcome->width, outcome->height, outcome->decoded};
    if (outcome->reason == LEAT_IMAGE_GOOD)
        LEAT_TRY(leat_image_writer_append(job->writer, &entry, pixels, err));
    LEAT_TRY(leat_images_job_settle(job, name, outcome, err));
    LEAT_TRY(leat_image_notes_add(&job->notes, outcome, err));
    job->done = i + 1;
    job->result->bytes_read += job->list.files[i].size_bytes;
    job->result->pixels_read += (int64_t)outcome->width * outcome->height;
    return LEAT_OK;
}

static leat_code take(void *context, int number, int64_t part, leat_error *err) {
    reading *self = context;
    leat_images_job *job = self->job;
    const worker *it = &self->workers[number];
    const int64_t begin = self->first + part * self->part, end = part_end(self, part);
    for (int64_t i = begin; i < end; i++) {
        LEAT_TRY(write_one(job, i, &it->outcomes[i - begin],
                           it->pixels + (i - begin) * self->image_bytes, err));
        LEAT_TRY(leat_images_job_check_share(job, err));
    }
    if ((job->done - self->saved) * self->image_bytes >= SAVE_BYTES ||
        leat_clock_ns() >= self->save_ns) {
        LEAT_TRY(leat_images_job_save(job, err));
        self->saved = job->done;
        self->save_ns = leat_clock_ns() + SAVE_NS;
    }
    return leat_ticker_step(&job->ticker, end - begin, err);
}

leat_code leat_images_job_save(leat_images_job *job, leat_error *err) {
    LEAT_TRY(leat_image_writer_flush(job->writer, err));
    return leat_image_notes_flush(&job->notes, err);
}

/* ---- a picture that does not fit ------------------------------------------------------------ */

/* The limit that is enough for all: the headers of the files that are left are read, one by one. */
static leat_code name_limit(reading *self, const leat_error *why, leat_error *err) {
    leat_images_job *job = self->job;
    for (int64_t i = job->done; i < job->list.count; i++) {
        int64_t need_bytes = 0;
        if (leat_ticker_check(&job->ticker, NULL) != LEAT_OK ||
            leat_picture_need(self->workers[0].maker, i, &need_bytes, NULL) != LEAT_OK)
            break;
        if (need_bytes > self->need_bytes) self->need_bytes = need_bytes;
    }
    long long mib = leat_images_memory_for(&job->memory, self->need_bytes);
    return leat_fail(err, LEAT_ERR_LIMIT, "%s (with --resume; %lldM is enough for all files)",
                     why->message, mib);
}

/* ---- all ------------------------------------------------------------------------------------ */

static leat_code run(reading *self, leat_error *err) {
    leat_images_job *job = self->job;
    const int64_t left = job->list.count - self->first;
    const leat_pool_job parts = {
        .parts = (left + self->part - 1) / self->part,
        .threads = job->memory.threads,
        .context = self,
        .make = make,
        .take = take,
    };
    leat_error why = {0};
    LEAT_TRY(create(self, err));
    leat_code code = leat_pool_once(&parts, &why);
    if (code == LEAT_ERR_LIMIT && self->need_bytes > 0) return name_limit(self, &why, err);
    return code == LEAT_OK ? code : leat_error_copy(err, &why);
}

leat_code leat_images_job_read(leat_images_job *job, leat_error *err) {
    reading self = {
        .job = job,
        .part = leat_images_part(job->options->size),
        .first = job->done,
        .image_bytes = leat_image_bytes(job->options->size),
        .saved = job->done,
        .save_ns = leat_clock_ns() + SAVE_NS,
    };
    leat_ticker_stage(&job->ticker, "reading", "files", job->list.count - job->done);
    LEAT_TRY(leat_images_job_check_share(job, err));
    if (job->done == job->list.count) return LEAT_OK;
    LEAT_TRY(leat_picture_source_create(&self.source, &job->list, job->options->size,
                                        job->options->background, &job->memory, err));
    pthread_mutex_init(&self.lock, NULL);
    leat_code code = run(&self, err);
    destroy(&self);
    pthread_mutex_destroy(&self.lock);
    leat_picture_source_destroy(&self.source);
    return code;
}
