/* See model.h. */
#include "train/step/model.h"

#include <stdio.h>

#include "base/hash.h"

int leat_model_passes(const leat_model_class *class, const leat_train_options *options) {
    LEAT_ASSERT(options->settings != NULL); /* within the room also where they are the defaults */
    return class->passes(options->settings);
}

static leat_model_setup setup_of(const leat_train_options *options) {
    LEAT_ASSERT(options->settings != NULL);
    return (leat_model_setup){.settings = options->settings,
                              .micro_batch = options->micro_batch,
                              .threads = options->threads,
                              .kernels = options->kernels};
}

leat_code leat_model_measure(const leat_model_class *class, const leat_train_options *options,
                             leat_model_sizes *out, leat_error *err) {
    const leat_model_setup setup = setup_of(options);
    return class->sizes(&setup, out, err);
}

leat_code leat_model_create(leat_model *out, const leat_model_class *class,
                            const leat_train_options *options, leat_error *err) {
    const leat_model_setup setup = setup_of(options);
    leat_model model = {.class = class, .passes = leat_model_passes(class, options)};
    *out = (leat_model){0};
    LEAT_ASSERT(model.passes >= 1 && model.passes <= LEAT_MODEL_PASSES_MAX);
    LEAT_ASSERT(class->sums <= LEAT_UNIT_SUMS_MAX && class->norms <= LEAT_MODEL_NORMS_MAX);
    LEAT_ASSERT(class->sums + class->norms <= LEAT_STEP_VALUES_MAX);
    LEAT_TRY(class->sizes(&setup, &model.sizes, err));
    LEAT_TRY(class->create(&model.self, &setup, err));
    *out = model;
    return LEAT_OK;
}

void leat_model_destroy(leat_model *model) {
    if (model->class != NULL) model->class->destroy(model->self);
    *model = (leat_model){0};
}

int leat_model_tensor_count(const leat_model *model) {
    leat_model_tensor tensor;
    int count = 0;
    while (leat_model_tensor_at(model, count, &tensor)) count++;
    return count;
}

static void hash_line(leat_sha256 *sha, const char *name, const int64_t *shape, int rank) {
    char line[200];
    int size = snprintf(line, sizeof line, "%s", name);
    for (int i = 0; i < rank; i++)
        size += snprintf(line + size, sizeof line - (size_t)size, " %lld", (long long)shape[i]);
    line[size++] = '\n';
    leat_sha256_update(sha, line, size);
}

void leat_model_hash(const leat_model *model, char hash[65]) {
    leat_model_tensor tensor;
    leat_sha256 sha;
    uint8_t digest[32];
    leat_sha256_init(&sha);
    hash_line(&sha, model->class->identity, NULL, 0);
    for (int i = 0; leat_model_tensor_at(model, i, &tensor); i++)
        hash_line(&sha, tensor.name, tensor.shape, tensor.rank);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hash);
}
