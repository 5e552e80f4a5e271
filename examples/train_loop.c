/*
 * A training loop of your own, from batches of images to the weights of a DCGAN: for another
 * optimizer, another loss on top, or gradients that go to another machine.
 *
 * Build it after make install, and run it:
 *
 *   cc train_loop.c $(pkg-config --cflags --libs leat) \
 *      -Wl,-rpath,"$(pkg-config --variable=libdir leat)" -o train_loop
 *   ./train_loop faces 10
 *
 * After make install PREFIX=$HOME/.local, this line comes first:
 *
 *   export PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig
 *
 * The losses are those in metrics.jsonl of "leat train dcgan faces -o run --width 8 --steps 10".
 */
#include <inttypes.h>
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 64, WIDTH = 8, LATENT = 100, SEED = 0 };

typedef struct trainer {
    leat_dcgan *dcgan;
    float *parameters, *first, *second; /* [size]: weights, and Adam's moments */
    float *gradient;                    /* [size] */
    float *moments;                     /* means and variances of normalised channels */
    float *noise;                       /* [BATCH][LATENT] */
} trainer;

static leat_code set_up(trainer *self, leat_error *err) {
    leat_dcgan_options options = leat_dcgan_options_default();
    options.width = WIDTH;
    options.latent = LATENT;
    options.micro_batch = BATCH;
    leat_code code = leat_dcgan_create(&self->dcgan, &options, err);
    if (code != LEAT_OK) return code;
    const size_t size = (size_t)leat_dcgan_size(self->dcgan);
    self->parameters = malloc(size * sizeof(float));
    self->gradient = malloc(size * sizeof(float));
    self->first = calloc(size, sizeof(float));
    self->second = calloc(size, sizeof(float));
    self->moments = malloc((size_t)leat_dcgan_moment_count(self->dcgan) * sizeof(float));
    self->noise = malloc(sizeof(float) * BATCH * LATENT);
    if (self->parameters == NULL || self->gradient == NULL || self->first == NULL ||
        self->second == NULL || self->moments == NULL || self->noise == NULL) {
        snprintf(err->message, sizeof err->message, "out of memory");
        return LEAT_ERR_MEMORY;
    }
    leat_dcgan_init(self->dcgan, SEED, self->parameters);
    return LEAT_OK;
}

static void tear_down(trainer *self) {
    free(self->noise);
    free(self->moments);
    free(self->second);
    free(self->first);
    free(self->gradient);
    free(self->parameters);
    leat_dcgan_destroy(self->dcgan);
}

/* One step: the batch's gradients for both networks, at the same weights, and Adam. */
static leat_code step(trainer *self, const leat_image_batch *batch, leat_error *err) {
    const leat_adam adam = {.rate = 2e-4, .beta1 = 0.5, .beta2 = 0.999, .eps = 1e-8};
    leat_dcgan_result result = {.gradient = self->gradient, .moments = self->moments};
    leat_dcgan_noise(self->dcgan, LEAT_NOISE_TRAINING, SEED, batch->first_position, BATCH,
                     self->noise);
    leat_code code = leat_dcgan_unit(self->dcgan, LEAT_DCGAN_BOTH, 1, self->parameters, batch->u8,
                                     self->noise, &result, err);
    if (code != LEAT_OK) return code;
    printf("step %" PRId64 ": loss of D %.17g + %.17g, of G %.17g\n", batch->step + 1,
           result.loss_d_images / result.weight, result.loss_d_fakes / result.weight,
           result.loss_g / result.weight);
    const leat_dcgan_update update = {.pass = LEAT_DCGAN_BOTH,
                                      .adam = &adam,
                                      .step = batch->step + 1,
                                      .gradient = self->gradient,
                                      .weight = result.weight,
                                      .parameters = self->parameters,
                                      .first = self->first,
                                      .second = self->second};
    return leat_dcgan_step(self->dcgan, &update, err);
}

static leat_code run(const char *path, int64_t steps, leat_error *err) {
    leat_images *images = NULL;
    leat_image_loader *loader = NULL;
    trainer self = {0};
    leat_image_loader_options options = leat_image_loader_options_default();
    options.batch = BATCH;
    options.seed = SEED;

    leat_code code = leat_images_open(&images, path, err);
    if (code == LEAT_OK) code = leat_image_loader_create(&loader, images, &options, err);
    if (code == LEAT_OK) code = set_up(&self, err);
    for (int64_t i = 0; i < steps && code == LEAT_OK; i++) {
        const leat_image_batch *batch;
        code = leat_image_loader_next(loader, &batch, err);
        if (code != LEAT_OK) break;
        code = step(&self, batch, err);
        leat_image_batch_release(batch);
    }
    tear_down(&self);
    leat_image_loader_destroy(loader);
    leat_images_close(images);
    return code;
}

int main(int argc, char **argv) {
    char *end = NULL;
    const long long steps = argc == 3 ? strtoll(argv[2], &end, 10) : 0;
    if (steps < 1 || *end != '\0') {
        fprintf(stderr, "usage: train_loop DATA STEPS\n");
        return 2;
    }
    leat_error err;
    if (run(argv[1], steps, &err) != LEAT_OK) {
        fprintf(stderr, "train_loop: %s\n", err.message);
        return 1;
    }
    return 0;
}
