/*
 * What the generator of a run's last checkpoint makes of latent vectors 0 .. COUNT - 1 of the run's
 * seed, before it is rounded to levels:
 *
 *   tool RUN COUNT
 *
 * writes f32 vectors [COUNT][latent], then f32 images [COUNT][64][64][3].
 */
#include <stdio.h>
#include <stdlib.h>

#include "train/run/run_reader.h"
#include "train/tasks/images/generate.h"

static leat_code take(void *context, const float *images, int64_t count, leat_error *err) {
    (void)context;
    if (fwrite(images, sizeof *images * LEAT_IMAGE_VALUES, (size_t)count, stdout) == (size_t)count)
        return LEAT_OK;
    return leat_fail(err, LEAT_ERR_IO, "stdout");
}

static leat_code put_vectors(const leat_run *run, int64_t count, leat_error *err) {
    leat_dcgan_options options = leat_dcgan_options_default();
    leat_dcgan *dcgan = NULL;
    options.latent = ((const leat_dcgan_settings *)run->options.run.settings)->latent;
    options.width = 1; /* vectors do not depend on it */
    LEAT_TRY(leat_dcgan_create(&dcgan, &options, err));
    float *vectors = calloc((size_t)(count * options.latent), sizeof *vectors);
    if (vectors == NULL) abort();
    leat_dcgan_noise(dcgan, LEAT_NOISE_FIXED, run->options.run.seed, 0, count, vectors);
    fwrite(vectors, sizeof *vectors, (size_t)(count * options.latent), stdout);
    free(vectors);
    leat_dcgan_destroy(dcgan);
    return LEAT_OK;
}

static leat_code put(const char *path, int64_t count, leat_error *err) {
    leat_run *run = NULL;
    leat_trainer *trainer = NULL;
    LEAT_TRY(leat_run_open(&run, path, err));
    LEAT_TRY(put_vectors(run, count, err));
    LEAT_TRY(leat_run_load(run, -1, 1, NULL, &trainer, NULL, err));
    const leat_model *model = leat_trainer_model(trainer);
    const float *parameters = leat_trainer_state(trainer)->parameters;
    float *statistics = calloc((size_t)leat_generate_statistics_count(model), sizeof *statistics);
    if (statistics == NULL) abort();
    leat_code code = leat_generate_statistics(model, parameters, statistics, err);
    const leat_generate_from from = {.model = model,
                                     .parameters = parameters,
                                     .statistics = statistics,
                                     .seed = run->options.run.seed,
                                     .count = count};
    if (code == LEAT_OK) code = leat_generate(&from, take, NULL, err);
    free(statistics);
    leat_trainer_destroy(trainer);
    leat_run_close(run);
    return code;
}

int main(int argc, char **argv) {
    leat_error err;
    if (argc != 3) return 2;
    if (put(argv[1], atoll(argv[2]), &err) == LEAT_OK) return 0;
    fprintf(stderr, "%s\n", err.message);
    return 1;
}
