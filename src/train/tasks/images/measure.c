/* See measure.h. */
#include "train/tasks/images/measure.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "leat/format.h"
#include "train/tasks/images/image_spread.h"

_Static_assert((int)LEAT_GRID_IMAGES >= (int)LEAT_IMAGE_SPREAD_COUNT,
               "the grid has the images of the spread");

/* ---- Images --------------------------------------------------------------------------------- */

typedef struct taking {
    uint8_t *out;
    double sum, squares;
    int64_t values;
} taking;

static uint8_t level_of(float value) {
    const double level = ((double)value * 0.5 + 0.5) * 255 + 0.5;
    if (!(level > 0)) return 0;
    return level < 255 ? (uint8_t)level : 255;
}

static leat_code take(void *context, const float *images, int64_t count, leat_error *err) {
    taking *self = context;
    const int64_t values = count * LEAT_IMAGE_VALUES;
    (void)err;
    for (int64_t i = 0; i < values; i++) {
        *self->out++ = level_of(images[i]);
        self->sum += images[i];
        self->squares += (double)images[i] * images[i];
    }
    self->values += values;
    return LEAT_OK;
}

leat_code leat_image_measure_images(const leat_generate_from *from, uint8_t *out, double *deviation,
                                    leat_error *err) {
    taking self = {.out = out};
    *deviation = NAN;
    LEAT_TRY(leat_generate(from, take, &self, err));
    const double mean = self.sum / (double)self.values;
    const double variance = self.squares / (double)self.values - mean * mean;
    *deviation = variance > 0 ? sqrt(variance) : variance; /* NaN stays */
    return LEAT_OK;
}

leat_code leat_image_grid_save(const char *path, const uint8_t *images, int64_t count, int32_t size,
                               int64_t columns, bool replace, leat_error *err) {
    const int64_t border = LEAT_GRID_BORDER;
    int64_t pixels = 0;
    if (count < 1 || columns < 1 || columns > 4096 || count > 65536 || size < 1 || size > 1024)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a grid of %lld images of %d x %d in rows of %lld: the number of images "
                         "must be between 1 "
                         "and 65536, their sides between 1 and 1024, and rows between 1 and 4096",
                         (long long)count, (int)size, (int)size, (long long)columns);
    if (columns > count) columns = count;
    const int64_t rows = (count + columns - 1) / columns;
    const int64_t width = columns * (size + border) + border;
    const int64_t height = rows * (size + border) + border;
    if (!leat_mul_size(width, height, &pixels) || pixels > INT64_C(1) << 26)
        return leat_fail(err, LEAT_ERR_OPTION, "a grid of %lld x %lld pixels is too large",
                         (long long)width, (long long)height);
    uint8_t *grid = NULL;
    LEAT_TRY(LEAT_NEW(&grid, pixels * 3, err));
    for (int64_t i = 0; i < count; i++) {
        const int64_t left = i % columns * (size + border) + border;
        const int64_t top = i / columns * (size + border) + border;
        for (int64_t y = 0; y < size; y++)
            memcpy(grid + ((top + y) * width + left) * 3, images + (i * size + y) * size * 3,
                   (size_t)size * 3);
    }
    leat_code code = leat_png_save(path, grid, (int32_t)width, (int32_t)height, replace, err);
    leat_free(grid);
    return code;
}

/* Of the features' net: activations of 32 images and their gradients never; per thread. */
#define FEATURES_BYTES (INT64_C(10) << 20)

/* Samples are made with the model's own memory; on top of it come a group of images, those of the
 * grid, and the features' net. */
int64_t leat_image_measure_bytes(const leat_train_options *options) {
    const int64_t group = options->threads * (int64_t)options->micro_batch;
    const int64_t image = LEAT_IMAGE_VALUES * (int64_t)sizeof(float);
    const leat_dcgan_settings *settings = options->settings;
    if (options->sample_every == 0 && options->export_dir == NULL) return 0;
    return group * (image + settings->latent * (int64_t)sizeof(float)) +
           options->threads * FEATURES_BYTES + (256 + LEAT_GRID_IMAGES) * image +
           (int64_t)sizeof(leat_image_spread) +
           LEAT_SAMPLE_VECTORS * 2 * settings->latent * (int64_t)sizeof(float);
}

/* ---- While training ------------------------------------------------------------------------- */

static leat_code get_reference(leat_image_measure *self, const leat_measuring *of,
                               leat_error *err) {
    const leat_samples *samples = of->feed->samples;
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_run_folder_join(of->folder, LEAT_RUN_REFERENCE, path, err));
    leat_error why = {0};
    leat_code code = leat_score_load(self->reference, samples->fingerprint, path, &why);
    /* runs of earlier versions have no spread; data of fewer than two images has none either */
    if (code == LEAT_OK && isnan(self->reference->spread) && samples->count > 1)
        code = LEAT_ERR_NOT_FOUND;
    if (code != LEAT_ERR_NOT_FOUND) return leat_error_copy(err, &why);
    LEAT_TRY(leat_score_measure(self->reference, samples, of->options->threads,
                                of->options->kernels, of->ticker, err));
    return leat_score_save(self->reference, samples->fingerprint, path, err);
}

leat_code leat_image_measure_create(leat_image_measure *self, const leat_measuring *of,
                                    leat_error *err) {
    const leat_train_options *options = of->options;
    *self = (leat_image_measure){.model = of->model, .seed = options->seed};
    leat_code code = LEAT_NEW(&self->reference, 1, err);
    if (code == LEAT_OK)
        code = LEAT_NEW(&self->statistics, leat_generate_statistics_count(of->model), err);
    if (code == LEAT_OK)
        code = leat_features_create(&self->features, options->threads, options->kernels, err);
    if (code == LEAT_OK) code = get_reference(self, of, err);
    if (code == LEAT_OK)
        code = leat_score_distance(&self->reference->half[0], &self->reference->half[1],
                                   &self->halves, err);
    if (code != LEAT_OK) leat_image_measure_free(self);
    return code;
}

leat_code leat_image_measure_reference(const leat_run_folder *folder, const char *data,
                                       double *halves, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_score_reference *reference = NULL;
    *halves = NAN;
    LEAT_TRY(leat_run_folder_join(folder, LEAT_RUN_REFERENCE, path, err));
    LEAT_TRY(LEAT_NEW(&reference, 1, err));
    leat_error why = {0};
    leat_code code = leat_score_load(reference, data, path, &why);
    if (code == LEAT_OK)
        code = leat_score_distance(&reference->half[0], &reference->half[1], halves, &why);
    leat_free(reference);
    return code == LEAT_ERR_NOT_FOUND ? LEAT_OK : leat_error_copy(err, &why);
}

void leat_image_measure_free(leat_image_measure *self) {
    leat_features_destroy(self->features);
    leat_free(self->reference);
    leat_free(self->statistics);
    *self = (leat_image_measure){0};
}

static leat_code save_grid(const leat_run_folder *folder, int64_t step, const uint8_t *images,
                           leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_run_kept_path(folder, LEAT_GRID_ENDING, step, path, err));
    return leat_image_grid_save(path, images, LEAT_GRID_IMAGES, LEAT_IMAGE_SIZE, LEAT_GRID_COLUMNS,
                                true, err);
}

const leat_value leat_image_measures[] = {
    {"score", "generated images", -1, "Score over time", "score, distance from the data", "score"},
    {"deviation", "deviation", 0, NULL, NULL, NULL},
    {"spread", "samples", 0, "Spread between samples over time", "spread", NULL},
    {"spread_data", "images of the data set", 0, "Spread between samples over time", "spread",
     NULL},
    {0},
};

static leat_code measure_spread(const uint8_t *images, double *out, leat_error *err) {
    leat_image_spread *spread = NULL;
    LEAT_TRY(LEAT_NEW(&spread, 1, err));
    for (int i = 0; i < LEAT_IMAGE_SPREAD_COUNT; i++)
        leat_image_spread_add(spread, images + (int64_t)i * LEAT_IMAGE_VALUES);
    *out = leat_image_spread_get(spread);
    leat_free(spread);
    return LEAT_OK;
}

static leat_code take_grid(leat_image_measure *self, const leat_run_folder *folder,
                           const float *parameters, uint8_t *images, leat_train_step *of,
                           leat_error *err) {
    double *measured = of->measured;
    const leat_generate_from from = {.model = self->model,
                                     .parameters = parameters,
                                     .statistics = self->statistics,
                                     .seed = self->seed,
                                     .count = LEAT_GRID_IMAGES};
    LEAT_TRY(leat_image_measure_images(&from, images, &measured[LEAT_MEASURE_DEVIATION], err));
    LEAT_TRY(measure_spread(images, &measured[LEAT_MEASURE_SPREAD], err));
    measured[LEAT_MEASURE_SPREAD_DATA] = self->reference->spread;
    if (!(measured[LEAT_MEASURE_DEVIATION] >= LEAT_SAMPLE_DEVIATION_MIN)) return LEAT_OK;
    return save_grid(folder, of->step, images, err);
}

leat_code leat_image_measure_take(leat_image_measure *self, const leat_run_folder *folder,
                                  const float *parameters, leat_train_step *of, leat_error *err) {
    uint8_t *images = NULL;
    LEAT_TRY(leat_generate_statistics(self->model, parameters, self->statistics, err));
    const leat_generate_from made = {
        .model = self->model, .parameters = parameters, .statistics = self->statistics};
    LEAT_TRY(leat_score_generator(&made, self->features, self->reference,
                                  &of->measured[LEAT_MEASURE_SCORE], err));
    LEAT_TRY(LEAT_NEW(&images, LEAT_GRID_IMAGES * LEAT_IMAGE_VALUES, err));
    leat_code code = take_grid(self, folder, parameters, images, of, err);
    leat_free(images);
    return code;
}
