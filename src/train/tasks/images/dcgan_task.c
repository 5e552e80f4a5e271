/* The DCGAN, trained on images: samples are made and compared with the data. */
#include "train/tasks/images/dcgan_task.h"

#include <stdio.h>

#include "base/mem.h"
#include "nn/models/dcgan/model.h"
#include "train/tasks/images/dcgan_export.h"
#include "train/tasks/images/dcgan_warnings.h"
#include "train/tasks/images/image_feed.h"
#include "train/tasks/images/measure.h"

typedef struct measuring {
    leat_image_measure measure;
    const leat_run_folder *folder;
} measuring;

static void destroy(void *self) {
    measuring *of = self;
    if (of == NULL) return;
    leat_image_measure_free(&of->measure);
    leat_free(of);
}

static leat_code create(void **self, const leat_measuring *of, char note[LEAT_MEASURE_NOTE_BYTES],
                        leat_error *err) {
    measuring *here = NULL;
    *self = NULL;
    if (of->feed->count < 2 * LEAT_SCORE_N)
        snprintf(note, LEAT_MEASURE_NOTE_BYTES,
                 "the data set has %lld images, too few for the score to mean anything",
                 (long long)of->feed->count);
    LEAT_TRY(LEAT_NEW(&here, 1, err));
    here->folder = of->folder;
    const leat_code code = leat_image_measure_create(&here->measure, of, err);
    if (code == LEAT_OK) *self = here;
    else leat_free(here);
    return code;
}

static leat_code take(void *self, const float *parameters, leat_train_step *step,
                      char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    measuring *of = self;
    LEAT_TRY(leat_image_measure_take(&of->measure, of->folder, parameters, step, err));
    const double deviation = step->measured[LEAT_MEASURE_DEVIATION];
    if (deviation < LEAT_SAMPLE_DEVIATION_MIN)
        snprintf(note, LEAT_MEASURE_NOTE_BYTES,
                 "the samples of step %lld are almost uniform (deviation %.4f): no grid was "
                 "written",
                 (long long)step->step, deviation);
    return LEAT_OK;
}

static double get_reference(const void *self) {
    const measuring *of = self;
    return of->measure.halves;
}

static int64_t measure_bytes(const leat_train_options *options, const leat_feed *feed) {
    (void)feed;
    return leat_image_measure_bytes(options);
}

static const leat_measure_class measure = {
    .kept = LEAT_GRID_ENDING,
    .bytes = measure_bytes,
    .create = create,
    .destroy = destroy,
    .take = take,
    .reference_name = "score_halves",
    .reference = leat_image_measure_reference,
    .get_reference = get_reference,
};

static void get_parts(const leat_model *model, leat_train_part parts[LEAT_PARTS_MAX]) {
    const int64_t generator = leat_generator_size(model);
    parts[0] = (leat_train_part){"generator", generator};
    parts[1] = (leat_train_part){"discriminator", model->sizes.parameters - generator};
}

/* ---- Options --------------------------------------------------------------------------------- */

/* The hashes of runs are made of their settings in this order. */
static const char *const order[] = {
    "steps",       "epochs",   "width",      "latent",        "schedule", "units", "unit-size",
    "micro-batch", "codec-up", "codec-down", "learning-rate", "beta1",    "beta2", NULL};

/* Keys of the config.yaml of GANNs-with-friends: the option that each is here, or why there is
 * none. docs/dcgan.md has this table, too. */
static const leat_foreign_key foreign[] = {
    {.section = "database", .key = "host"},
    {.section = "database", .key = "port"},
    {.section = "database", .key = "database"},
    {.section = "database", .key = "user"},
    {.section = "database", .key = "password"},
    {.section = "training", .key = "latent_dim", .option = "latent"},
    {.section = "training", .key = "image_size", .only = "64"},
    {.section = "training", .key = "images_per_work_unit", .option = "unit-size"},
    {.section = "training", .key = "num_workunits_per_update", .option = "units"},
    {.section = "training", .key = "learning_rate", .option = "learning-rate"},
    {.section = "training", .key = "beta1", .option = "beta1"},
    {.section = "training", .key = "beta2", .option = "beta2"},
    {.section = "worker", .key = "name", .note = "single-machine training"},
    {.section = "worker", .key = "batch_size", .option = "micro-batch"},
    {.section = "worker", .key = "poll_interval", .note = "single-machine training"},
    {.section = "worker", .key = "heartbeat_interval", .note = "single-machine training"},
    {.section = "worker", .key = "work_unit_timeout", .option = "lease-seconds"},
    {.section = "data", .key = "dataset_path", .note = "the data set is named on the command line"},
    {.section = "data",
     .key = "num_workers_dataloader",
     .note = "images are mapped; there are no loader processes"},
    {.section = "huggingface", .key = "enabled", .note = "publish with leat export and hf upload"},
    {.section = "huggingface", .key = "repo_id", .note = "publish with leat export and hf upload"},
    {.section = "huggingface", .key = "token", .note = "use hf auth login instead"},
    {.section = "huggingface",
     .key = "push_interval",
     .note = "publish with leat export and hf upload"},
    {.section = NULL},
};

const leat_task leat_dcgan_task = {
    .model = &leat_dcgan_class,
    .feed = &leat_image_feed,
    .measures = leat_image_measures,
    .saved_measures = 2, /* score and deviation */
    .measure = &measure,
    .warning_rules = leat_dcgan_warnings,
    .parts = get_parts,
    .settings = leat_dcgan_settings_table,
    .order = order,
    .foreign = foreign,
    .exports = &leat_dcgan_exports,
};
