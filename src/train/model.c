/* The DCGAN as a model: see model.h. */
#include "train/model.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "leat/nn.h"

struct leat_model {
    leat_plan plan;
    leat_dcgan *dcgan;
    leat_adam adam;
    int64_t latent;
    int threads;
    uint8_t *images; /* of a unit */
    float *noise;
};

const char *leat_model_name(void) { return "dcgan"; }

leat_code leat_model_find(const char *name, leat_error *err) {
    if (strcmp(name, leat_model_name()) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "there is no model \"%.40s\"; there is %s", name,
                     leat_model_name());
}

int64_t leat_model_sample_bytes(void) { return LEAT_IMAGE_VALUES; }

const leat_value *leat_model_values(void) {
    static const leat_value values[LEAT_MODEL_SUMS + LEAT_MODEL_NORMS + 1] = {
        {"loss_d_images", "D, real", 0},
        {"loss_d_fakes", "D, generated", 0},
        {"loss_g", "G", 0},
        {"norm_d", "D", 0},
        {"norm_g", "G", 0},
    };
    return values;
}

static leat_dcgan_options dcgan_options(const leat_train_options *options) {
    return (leat_dcgan_options){.width = options->width,
                                .latent = options->latent,
                                .micro_batch = options->micro_batch,
                                .threads = options->threads,
                                .kernels = options->kernels};
}

leat_code leat_model_create(leat_model **out, const leat_train_options *options,
                            const leat_plan *plan, leat_error *err) {
    const leat_dcgan_options of = dcgan_options(options);
    leat_model *model = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&model, 1, err));
    model->plan = *plan;
    model->latent = options->latent;
    model->threads = options->threads;
    model->adam = (leat_adam){.rate = options->learning_rate,
                              .beta1 = options->beta1,
                              .beta2 = options->beta2,
                              .eps = 1e-8};
    leat_code code = leat_dcgan_create(&model->dcgan, &of, err);
    if (code == LEAT_OK) code = LEAT_NEW(&model->images, plan->unit_size * LEAT_IMAGE_VALUES, err);
    if (code == LEAT_OK) code = LEAT_NEW(&model->noise, plan->unit_size * model->latent, err);
    if (code != LEAT_OK) {
        leat_model_destroy(model);
        return code;
    }
    *out = model;
    return LEAT_OK;
}

void leat_model_destroy(leat_model *model) {
    if (model == NULL) return;
    leat_dcgan_destroy(model->dcgan);
    leat_free(model->images);
    leat_free(model->noise);
    leat_free(model);
}

leat_code leat_model_bytes(const leat_train_options *options, const leat_plan *plan, int64_t *bytes,
                           leat_error *err) {
    const leat_dcgan_options of = dcgan_options(options);
    LEAT_TRY(leat_dcgan_bytes(&of, bytes, err));
    *bytes += plan->unit_size * (LEAT_IMAGE_VALUES + options->latent * (int64_t)sizeof(float));
    return LEAT_OK;
}

/* ---- What it is made of --------------------------------------------------------------------- */

static leat_model_sizes sizes_of(const leat_dcgan *dcgan) {
    return (leat_model_sizes){.parameters = leat_dcgan_size(dcgan),
                              .generator = leat_dcgan_generator_size(dcgan),
                              .running = leat_dcgan_running_count(dcgan),
                              .statistics = leat_dcgan_moment_count(dcgan)};
}

leat_model_sizes leat_model_get_sizes(const leat_model *model) { return sizes_of(model->dcgan); }

bool leat_model_parameter_at(const leat_model *model, int index, leat_parameter *out) {
    return leat_dcgan_parameter_at(model->dcgan, index, out);
}

/* A normalisation has a weight, of rank 1, and its mean and variance have the weight's place among
 * the normalised channels of its network: means first. */
bool leat_model_running_at(const leat_model *model, int index, leat_running_tensor *out) {
    const int64_t channels[2] = {
        leat_dcgan_statistics_count(model->dcgan) / 2,
        (leat_dcgan_running_count(model->dcgan) - leat_dcgan_statistics_count(model->dcgan)) / 2};
    int64_t at[2] = {0, 0};
    leat_parameter parameter;
    int found = 0;
    *out = (leat_running_tensor){0};
    for (int i = 0; leat_dcgan_parameter_at(model->dcgan, i, &parameter); i++) {
        const char *end = strstr(parameter.name, ".weight");
        const int network = parameter.name[0] == 'G' ? 0 : 1;
        if (parameter.rank != 1 || end == NULL) continue;
        if (found++ != index / 2) {
            at[network] += parameter.count;
            continue;
        }
        const int64_t begin = network == 0 ? 0 : 2 * channels[0];
        snprintf(out->name, sizeof out->name, "%.*s.running_%s", (int)(end - parameter.name),
                 parameter.name, index % 2 == 0 ? "mean" : "var");
        out->offset = begin + (index % 2) * channels[network] + at[network];
        out->count = parameter.count;
        return true;
    }
    return false;
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
    leat_parameter parameter;
    leat_running_tensor running;
    leat_sha256 sha;
    uint8_t digest[32];
    leat_sha256_init(&sha);
    hash_line(&sha, "leat dcgan 1", NULL, 0);
    for (int i = 0; leat_model_parameter_at(model, i, &parameter); i++)
        hash_line(&sha, parameter.name, parameter.shape, parameter.rank);
    for (int i = 0; leat_model_running_at(model, i, &running); i++)
        hash_line(&sha, running.name, &running.count, 1);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hash);
}

void leat_model_init(const leat_model *model, uint64_t seed, float *parameters, float *running) {
    leat_dcgan_init(model->dcgan, seed, parameters);
    leat_dcgan_init_running(model->dcgan, running);
}

/* ---- A step --------------------------------------------------------------------------------- */

int leat_model_passes(leat_train_schedule schedule) {
    return schedule == LEAT_SCHEDULE_ALTERNATING ? 2 : 1;
}

leat_dcgan_pass leat_model_pass(leat_train_schedule schedule, int index) {
    if (schedule == LEAT_SCHEDULE_SIMULTANEOUS) return LEAT_DCGAN_BOTH;
    return index == 0 ? LEAT_DCGAN_D : LEAT_DCGAN_G;
}

static leat_code read_samples(leat_model *model, const leat_samples *samples, int64_t position,
                              leat_error *err) {
    const leat_plan *plan = &model->plan;
    for (int64_t i = 0; i < plan->unit_size; i++) {
        const int64_t index = leat_plan_sample(plan, position + i);
        LEAT_TRY(
            samples->read(samples->context, index, model->images + i * LEAT_IMAGE_VALUES, err));
    }
    return LEAT_OK;
}

leat_code leat_model_unit(leat_model *model, leat_dcgan_pass pass, const leat_samples *samples,
                          int64_t step, int64_t unit, const float *parameters, leat_unit *out,
                          leat_error *err) {
    const int64_t position = leat_plan_position(&model->plan, step, unit);
    leat_dcgan_result result = {.gradient = out->gradient, .moments = out->statistics};
    if (pass != LEAT_DCGAN_G) LEAT_TRY(read_samples(model, samples, position, err));
    leat_dcgan_noise(model->dcgan, LEAT_NOISE_TRAINING, model->plan.seed, position,
                     model->plan.unit_size, model->noise);
    LEAT_TRY(leat_dcgan_unit(model->dcgan, pass, leat_plan_micro_batches(&model->plan), parameters,
                             model->images, model->noise, &result, err));
    out->sums[0] = result.loss_d_images;
    out->sums[1] = result.loss_d_fakes;
    out->sums[2] = result.loss_g;
    out->weight = result.weight;
    return LEAT_OK;
}

void leat_model_cancel(leat_model *model, bool cancelled) {
    leat_dcgan_cancel(model->dcgan, cancelled);
}

void leat_model_fold(const leat_model *model, leat_dcgan_pass pass, const float *statistics,
                     float *running) {
    leat_dcgan_fold(model->dcgan, pass, leat_plan_micro_batches(&model->plan), statistics, running);
}

leat_code leat_model_step(leat_model *model, leat_dcgan_pass pass, int64_t step,
                          const float *gradient, double weight, float *parameters, float *first,
                          float *second, leat_error *err) {
    return leat_dcgan_step(model->dcgan, pass, &model->adam, step + 1, gradient, weight, parameters,
                           first, second, err);
}

/* ---- Images --------------------------------------------------------------------------------- */

int64_t leat_model_statistics_count(const leat_model *model) {
    return leat_dcgan_statistics_count(model->dcgan);
}

/* Of the vectors that statistics are computed from, far from those of any grid. */
#define STATISTICS_FIRST (INT64_C(1) << 40)

leat_code leat_model_statistics(leat_model *model, const float *parameters, float *statistics,
                                leat_error *err) {
    const int64_t batch = model->plan.micro_batch;
    const int64_t count = (LEAT_SAMPLE_VECTORS + batch - 1) / batch * batch;
    float *noise = NULL;
    LEAT_TRY(LEAT_NEW(&noise, count * model->latent, err));
    leat_dcgan_noise(model->dcgan, LEAT_NOISE_FIXED, 0, STATISTICS_FIRST, count, noise);
    leat_code code = leat_dcgan_statistics(model->dcgan, (int)(count / batch), parameters, noise,
                                           statistics, err);
    leat_free(noise);
    return code;
}

static leat_code generate(leat_model *model, const float *parameters, const float *statistics,
                          uint64_t seed, int64_t first, int64_t count, int64_t group, float *noise,
                          float *images, leat_model_images_fn take, void *context,
                          leat_error *err) {
    const int64_t batch = model->plan.micro_batch;
    for (int64_t done = 0; done < count; done += group) {
        const int64_t wanted = count - done < group ? count - done : group;
        const int64_t micros = (wanted + batch - 1) / batch;
        leat_dcgan_noise(model->dcgan, LEAT_NOISE_FIXED, seed, first + done, micros * batch, noise);
        LEAT_TRY(leat_dcgan_generate(model->dcgan, (int)micros, parameters, statistics, noise,
                                     images, err));
        LEAT_TRY(take(context, images, wanted, err));
    }
    return LEAT_OK;
}

leat_code leat_model_generate(leat_model *model, const float *parameters, const float *statistics,
                              uint64_t seed, int64_t first, int64_t count,
                              leat_model_images_fn take, void *context, leat_error *err) {
    const int64_t group = model->threads * (int64_t)model->plan.micro_batch;
    float *noise = NULL, *images = NULL;
    leat_code code = LEAT_NEW(&noise, group * model->latent, err);
    if (code == LEAT_OK) code = LEAT_NEW(&images, group * LEAT_IMAGE_VALUES, err);
    if (code == LEAT_OK)
        code = generate(model, parameters, statistics, seed, first, count, group, noise, images,
                        take, context, err);
    leat_free(noise);
    leat_free(images);
    return code;
}
