/* See image_feed.h. */
#include "train/tasks/images/image_feed.h"

#include "format/image_set/image_set.h"
#include "load/images/images.h"
#include "nn/micro_batch.h"
#include "train/tasks/images/image_plan.h"

_Static_assert(LEAT_FEED_WORDS_BYTES == LEAT_IMAGES_DIFFERENCE_BYTES, "words of one size");

typedef struct image_feed {
    leat_images *images; /* NULL: the samples come from elsewhere */
    leat_samples samples;
    leat_image_plan plan;
} image_feed;

/* ---- The data ------------------------------------------------------------------------------- */

static leat_code open_samples(leat_feed *feed, const leat_samples *samples, leat_error *err) {
    image_feed *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->samples = *samples;
    feed->self = self;
    feed->samples = &self->samples;
    feed->count = samples->count;
    feed->fingerprint = samples->fingerprint;
    return LEAT_OK;
}

static leat_code read_image(const void *context, int64_t index, uint8_t *out, leat_error *err) {
    return leat_images_read(context, index, out, err);
}

static leat_code open_data(leat_feed *feed, const char *path, leat_error *err) {
    leat_images *images = NULL;
    leat_images_facts facts;
    LEAT_TRY(leat_images_open(&images, path, err));
    leat_images_get_facts(images, &facts);
    const leat_samples samples = {.count = facts.count,
                                  .fingerprint = facts.fingerprint,
                                  .sample_bytes = facts.image_bytes,
                                  .read = read_image,
                                  .context = images};
    const leat_code code = open_samples(feed, &samples, err);
    if (code == LEAT_OK) ((image_feed *)feed->self)->images = images;
    else leat_images_close(images);
    return code;
}

static void close_data(void *of) {
    image_feed *self = of;
    leat_images_close(self->images);
    leat_free(self);
}

static leat_code append(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    return leat_buf_append(context, bytes, size_bytes, err);
}

/* images.json */
static leat_code list(const leat_feed *feed, leat_buf *out, leat_error *err) {
    const image_feed *self = feed->self;
    LEAT_ASSERT(self->images != NULL);
    return leat_image_set_write(&self->images->set, append, out, err);
}

static leat_code difference(const leat_feed *feed, const uint8_t *of, int64_t list_bytes,
                            char words[LEAT_FEED_WORDS_BYTES], leat_error *err) {
    const image_feed *self = feed->self;
    leat_image_set wanted;
    bool same = false;
    LEAT_ASSERT(self->images != NULL);
    words[0] = 0;
    LEAT_TRY(leat_image_set_parse(&wanted, (leat_json_span){(const char *)of, list_bytes},
                                  "the list of the run's images", err));
    const leat_code code =
        leat_image_set_difference(&wanted, &self->images->set, &same, words, err);
    leat_image_set_free(&wanted);
    return code;
}

/* ---- Units ---------------------------------------------------------------------------------- */

/* A batch is this, then the levels. */
#define HEAD_BYTES 64
_Static_assert(sizeof(leat_image_micro) <= HEAD_BYTES, "the head of a batch");

static leat_code plan(leat_feed *feed, const leat_train_options *options, leat_error *err) {
    image_feed *self = feed->self;
    if (self->samples.sample_bytes != LEAT_IMAGE_VALUES)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the images have %lld bytes each, but training takes images of %d x %d, "
                         "%d bytes; ingest them with --size %d",
                         (long long)self->samples.sample_bytes, LEAT_IMAGE_SIZE, LEAT_IMAGE_SIZE,
                         LEAT_IMAGE_VALUES, LEAT_IMAGE_SIZE);
    if (options->scores != NULL)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.300s\": scores are of graphs, and this model is trained on images",
                         options->scores);
    LEAT_TRY(leat_image_plan_make(&self->plan, options, self->samples.count, err));
    feed->steps_most = LEAT_TRAIN_POSITIONS_MAX / leat_image_plan_position(&self->plan, 1, 0);
    feed->units_most = self->plan.units;
    feed->batches_most = leat_image_plan_micro_batches(&self->plan);
    feed->samples_most = self->plan.unit_size;
    feed->unit_samples = self->plan.unit_size;
    feed->repeats = self->samples.count < self->plan.micro_batch;
    feed->batch_bytes = HEAD_BYTES + self->plan.micro_batch * LEAT_IMAGE_VALUES;
    return LEAT_OK;
}

static leat_code steps(const leat_feed *feed, const leat_train_options *options, int64_t *out,
                       leat_error *err) {
    const image_feed *self = feed->self;
    return leat_image_plan_steps(&self->plan, options, out, err);
}

static leat_code units(const leat_feed *feed, int64_t step, int64_t *out, leat_error *err) {
    const image_feed *self = feed->self;
    (void)step;
    (void)err;
    *out = self->plan.units;
    return LEAT_OK;
}

static leat_code place(const leat_feed *feed, int64_t step, int64_t unit, leat_unit_place *out,
                       leat_error *err) {
    const leat_image_plan *of = &((const image_feed *)feed->self)->plan;
    (void)err;
    out->position = leat_image_plan_position(of, step, unit);
    out->epoch = out->position / of->samples;
    out->first = out->position % of->samples;
    out->count = of->unit_size;
    out->batches = leat_image_plan_micro_batches(of);
    return LEAT_OK;
}

static leat_code weight(const leat_feed *feed, const leat_unit_place *at, double *out,
                        leat_error *err) {
    (void)feed;
    (void)err;
    *out = (double)at->count;
    return LEAT_OK;
}

static leat_code make(const leat_feed *feed, const leat_unit_place *at, int64_t index, void *batch,
                      leat_error *err) {
    const image_feed *self = feed->self;
    const leat_samples *samples = &self->samples;
    const int64_t position = at->position + index * self->plan.micro_batch;
    uint8_t *levels = (uint8_t *)batch + HEAD_BYTES;
    for (int64_t i = 0; i < self->plan.micro_batch; i++)
        LEAT_TRY(samples->read(samples->context, leat_image_plan_sample(&self->plan, position + i),
                               levels + i * LEAT_IMAGE_VALUES, err));
    *(leat_image_micro *)batch =
        (leat_image_micro){.levels = levels, .seed = self->plan.seed, .position = position};
    return LEAT_OK;
}

static leat_code numbers(const leat_feed *feed, const leat_unit_place *at, int64_t *out,
                         int64_t *count, leat_error *err) {
    const image_feed *self = feed->self;
    (void)err;
    for (int64_t i = 0; i < at->count; i++)
        out[i] = leat_image_plan_sample(&self->plan, at->position + i);
    *count = at->count;
    return LEAT_OK;
}

const leat_feed_class leat_image_feed = {
    .one = "image",
    .many = "images",
    .sample_size = LEAT_IMAGE_SIZE,
    .batch = LEAT_MICRO_BATCH_IMAGES,
    .open = open_data,
    .open_samples = open_samples,
    .close = close_data,
    .plan = plan,
    .steps = steps,
    .units = units,
    .place = place,
    .weight = weight,
    .make = make,
    .numbers = numbers,
    .list = list,
    .difference = difference,
};
