/* See train_support.h. */
#include "train_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "format/image_set_support.h"
#include "memory_folder.h"
#include "train/tasks/images/dcgan_task.h"

static const leat_dcgan_settings small = {
    .width = 1, .latent = 3, .learning_rate = 2e-4, .beta1 = 0.5, .beta2 = 0.999};

leat_dcgan_settings train_small_settings(void) { return small; }

leat_train_options train_small(void) {
    leat_train_options options = leat_train_options_default();
    options.settings = &small;
    options.units = 2;
    options.unit_size = 4;
    options.micro_batch = 2;
    options.threads = 1;
    options.steps = 4;
    options.sample_every = 0;
    return options;
}

static leat_code read_image(const void *context, int64_t index, uint8_t *out, leat_error *err) {
    (void)context;
    (void)err;
    image_pixels(index, LEAT_IMAGE_SIZE, out);
    return LEAT_OK;
}

leat_samples train_samples(int64_t count) {
    return (leat_samples){.count = count,
                          .fingerprint = "images of a formula",
                          .sample_bytes = LEAT_IMAGE_VALUES,
                          .read = read_image};
}

leat_trainer *train_create(const leat_train_options *options, const leat_samples *samples) {
    leat_trainer *trainer = NULL;
    leat_feed *feed = calloc(1, sizeof *feed);
    assert_ok(leat_feed_open_samples(feed, leat_dcgan_task.feed, samples, err));
    assert_ok(leat_feed_plan(feed, options, err));
    assert_ok(leat_trainer_create(&trainer, leat_dcgan_task.model, options, feed, err));
    return trainer;
}

void train_destroy(leat_trainer *trainer) {
    leat_feed *feed = (leat_feed *)(uintptr_t)leat_trainer_feed(trainer); /* of train_create */
    leat_trainer_destroy(trainer);
    leat_feed_close(feed);
    free(feed);
}

const char *train_steps(leat_trainer *trainer, int64_t steps, char hash[65]) {
    leat_step_numbers numbers;
    for (int64_t i = 0; i < steps; i++) assert_ok(leat_trainer_step(trainer, &numbers, err));
    leat_trainer_hash(trainer, hash);
    return hash;
}

static char top[LEAT_PATH_BYTES - 200];

const char *train_path(const char *name) {
    static char paths[64][LEAT_PATH_BYTES]; /* no test keeps more */
    static int next;
    if (top[0] == 0) {
        snprintf(top, sizeof top, "%s/leat_train_XXXXXX", memory_folder(INT64_C(32) << 20));
        if (mkdtemp(top) == NULL) fail_msg("no folder");
    }
    char *path = paths[next++ % 64];
    snprintf(path, LEAT_PATH_BYTES, "%s/%s", top, name);
    return path;
}

int train_teardown(void **state) {
    (void)state;
    return top[0] == 0 || leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

const char *train_data(int64_t count) {
    char name[32];
    leat_path_facts facts;
    snprintf(name, sizeof name, "data-%lld", (long long)count);
    const char *path = train_path(name);
    assert_ok(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE)
        assert_ok(image_set_make(path, count, LEAT_IMAGE_SIZE, 0, err));
    return path;
}

leat_train_options train_options(int64_t steps) {
    leat_train_options options = train_small();
    options.steps = steps;
    options.units = 1;
    options.unit_size = options.micro_batch = 8;
    options.checkpoint_every = 2;
    options.keep = 2;
    return options;
}

leat_train_result train_run(const char *run, const leat_train_options *options) {
    leat_train_result result;
    assert_ok(leat_train("dcgan", train_data(TRAIN_IMAGES), run, options, &result, err));
    return result;
}

bool train_has(const char *run, const char *name) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    assert_ok(leat_path_join(path, sizeof path, run, name, err));
    assert_ok(leat_path_stat(path, &facts, err));
    return facts.kind != LEAT_PATH_NONE;
}

char *train_read(const char *path, int64_t *size_bytes) {
    uint8_t *bytes = NULL;
    if (leat_file_load(path, INT64_C(1) << 26, &bytes, size_bytes, NULL) != LEAT_OK) return NULL;
    return (char *)bytes;
}
