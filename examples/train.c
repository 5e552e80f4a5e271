/*
 * Trains a DCGAN on a data set of images, and saves a grid of what it generates. Ctrl-C saves the
 * state and stops; the same command resumes.
 *
 * Build it after make install, and run it:
 *
 *   cc train.c $(pkg-config --cflags --libs leat) \
 *      -Wl,-rpath,"$(pkg-config --variable=libdir leat)" -o train
 *   ./train faces run 300
 *
 * After make install PREFIX=$HOME/.local, this line comes first:
 *
 *   export PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig
 *
 * The run is the one of "leat train dcgan faces -o run --width 16 --steps 300".
 */
#include <inttypes.h>
#include <leat/leat.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

/* Called some times a second; false stops. */
static bool proceed(void *user, const leat_progress *progress) {
    (void)user;
    (void)progress;
    return !interrupted;
}

static void show(void *user, const leat_train_step *step) {
    (void)user;
    if (step->step == 0) return; /* the weights before the first step */
    printf("step %" PRId64 " of %" PRId64 ": loss of D %.4f, of G %.4f\n", step->step, step->steps,
           leat_train_step_value(step, "loss_d_images") +
               leat_train_step_value(step, "loss_d_fakes"),
           leat_train_step_value(step, "loss_g"));
}

static leat_code save_samples(const char *path, leat_error *err) {
    leat_run *run = NULL;
    const leat_run_sample_options options = leat_run_sample_options_default();
    double deviation;
    int64_t step;
    leat_code code = leat_run_open(&run, path, err);
    if (code == LEAT_OK)
        code = leat_run_sample_save(run, &options, "grid.png", 8, &deviation, &step, err);
    if (code == LEAT_OK) printf("grid.png shows 64 images of step %" PRId64 "\n", step);
    leat_run_close(run);
    return code;
}

int main(int argc, char **argv) {
    char *end = NULL;
    const long long steps = argc == 4 ? strtoll(argv[3], &end, 10) : 0;
    if (steps < 1 || *end != '\0') {
        fprintf(stderr, "usage: train DATA RUN STEPS\n");
        return 2;
    }
    signal(SIGINT, on_interrupt);
    leat_train_options options = leat_train_options_default();
    leat_dcgan_settings settings = leat_dcgan_settings_default();
    settings.width = 16; /* a quarter of the usual channels: fast on a laptop */
    options.settings = &settings;
    options.steps = steps;
    options.resume = leat_run_is_at(argv[2]);
    options.progress = proceed;
    options.stepped = show;

    leat_train_result result;
    leat_error err;
    leat_code code = leat_train("dcgan", argv[1], argv[2], &options, &result, &err);
    if (code == LEAT_OK) code = save_samples(argv[2], &err);
    if (code == LEAT_OK) return 0;
    fprintf(stderr, "train: %s\n", err.message);
    return code == LEAT_ERR_CANCELLED ? 130 : 1;
}
