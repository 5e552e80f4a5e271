/* See generate.h. */
#include "train/tasks/images/generate.h"

#include "base/mem.h"
#include "leat/train.h"
#include "nn/models/dcgan/model.h"

/* Of the vectors that statistics are computed from, far from those of any grid. */
#define STATISTICS_FIRST (INT64_C(1) << 40)

static leat_dcgan *dcgan_of(const leat_model *model) {
    LEAT_ASSERT(model->class == &leat_dcgan_class);
    return leat_dcgan_of_model(model->self);
}

leat_code leat_generate_check(const leat_model_class *class, const char *run, leat_error *err) {
    if (class == &leat_dcgan_class) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_UNSUPPORTED,
        "\"%.300s\" is of a run of the model \"%s\": samples are images, which runs of "
        "\"%s\" alone generate",
        run, class->name, leat_dcgan_class.name);
}

int64_t leat_generator_size(const leat_model *model) {
    return leat_dcgan_generator_size(dcgan_of(model));
}

int64_t leat_generate_statistics_count(const leat_model *model) {
    return leat_dcgan_statistics_count(dcgan_of(model));
}

leat_code leat_generate_statistics(const leat_model *model, const float *parameters,
                                   float *statistics, leat_error *err) {
    leat_dcgan *dcgan = dcgan_of(model);
    const int64_t batch = leat_dcgan_micro_batch(dcgan);
    const int64_t count = (LEAT_SAMPLE_VECTORS + batch - 1) / batch * batch;
    float *noise = NULL;
    LEAT_TRY(LEAT_NEW(&noise, count * leat_dcgan_shape_of(dcgan)->latent, err));
    leat_dcgan_noise(dcgan, LEAT_NOISE_FIXED, 0, STATISTICS_FIRST, count, noise);
    leat_code code =
        leat_dcgan_statistics(dcgan, (int)(count / batch), parameters, noise, statistics, err);
    leat_free(noise);
    return code;
}

/* A group of images, one micro-batch a thread. */
typedef struct group {
    leat_dcgan *dcgan;
    int64_t size;
    float *noise, *images;
} group;

static leat_code generate(const leat_generate_from *from, const group *of,
                          leat_generate_take_fn take, void *context, leat_error *err) {
    const int64_t batch = leat_dcgan_micro_batch(of->dcgan);
    for (int64_t done = 0; done < from->count; done += of->size) {
        const int64_t left = from->count - done, wanted = left < of->size ? left : of->size;
        const int64_t micros = (wanted + batch - 1) / batch;
        leat_dcgan_noise(of->dcgan, LEAT_NOISE_FIXED, from->seed, from->first + done,
                         micros * batch, of->noise);
        LEAT_TRY(leat_dcgan_generate(of->dcgan, (int)micros, from->parameters, from->statistics,
                                     of->noise, of->images, err));
        LEAT_TRY(take(context, of->images, wanted, err));
    }
    return LEAT_OK;
}

leat_code leat_generate(const leat_generate_from *from, leat_generate_take_fn take, void *context,
                        leat_error *err) {
    leat_dcgan *dcgan = dcgan_of(from->model);
    group of = {.dcgan = dcgan,
                .size = leat_dcgan_engine(dcgan)->threads * (int64_t)leat_dcgan_micro_batch(dcgan)};
    leat_code code = LEAT_NEW(&of.noise, of.size * leat_dcgan_shape_of(dcgan)->latent, err);
    if (code == LEAT_OK) code = LEAT_NEW(&of.images, of.size * LEAT_IMAGE_VALUES, err);
    if (code == LEAT_OK) code = generate(from, &of, take, context, err);
    leat_free(of.noise);
    leat_free(of.images);
    return code;
}
