/*
 * Builds batches of tokens for training and prints their shapes and a checksum over all of them.
 *
 * Build it after make install, and run it:
 *
 *   cc batches.c $(pkg-config --cflags --libs leat) \
 *      -Wl,-rpath,"$(pkg-config --variable=libdir leat)" -o batches
 *   ./batches probes 10
 *
 * After make install PREFIX=$HOME/.local, this line comes first:
 *
 *   export PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig
 *
 * The checksum is that of the command with the same options, on any machine and with any number of
 * threads:
 *
 *   leat batches probes --batch 4 --length 256 --seed 1 --steps 0:10 --hash
 */
#include <inttypes.h>
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>

/* Positions without a target are padding. */
static int64_t count_targets(const leat_batch *batch) {
    int64_t targets = 0;
    for (int64_t i = 0; i < batch->row_count * batch->length; i++)
        targets += batch->targets_segmentation[i] != 0;
    return targets;
}

static leat_code take(leat_loader *loader, leat_batch_hash *hash, int64_t steps, leat_error *err) {
    while (leat_loader_step(loader) < steps) {
        const leat_batch *batch;
        leat_code code = leat_loader_next(loader, &batch, err);
        if (code != LEAT_OK) return code;
        if (batch == NULL) break; /* the end, which only a loader with `epochs` has */
        printf("step %" PRId64 ": [%" PRId64 ", %" PRId64 "], %" PRId64 " targets\n", batch->step,
               batch->row_count, batch->length, count_targets(batch));
        leat_batch_hash_add(hash, batch, NULL);
        /* The arrays are the loader's memory, not a copy; after release it is reused. */
        leat_batch_release(batch);
    }
    return LEAT_OK;
}

static leat_code run(const char *path, int64_t steps, leat_error *err) {
    leat_dataset *dataset = NULL;
    leat_loader *loader = NULL;
    leat_batch_hash *hash = NULL;
    leat_loader_options options = leat_loader_options_default();
    options.batch = 4;
    options.sample.length = 256;
    options.sample.seed = 1;

    leat_code code = leat_dataset_open(&dataset, &path, 1, NULL, err);
    if (code == LEAT_OK) code = leat_loader_create(&loader, dataset, &options, err);
    if (code == LEAT_OK) code = leat_batch_hash_create(&hash, err);
    if (code == LEAT_OK) code = take(loader, hash, steps, err);
    if (code == LEAT_OK) {
        char text[65];
        leat_batch_hash_text(hash, text);
        printf("%s\n", text);
    }
    /* In reverse order; each takes NULL. */
    leat_batch_hash_destroy(hash);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
    return code;
}

int main(int argc, char **argv) {
    char *end = NULL;
    long long steps = argc == 3 ? strtoll(argv[2], &end, 10) : 0;
    if (steps < 1 || *end != '\0') {
        fprintf(stderr, "usage: batches PATH STEPS\n");
        return 2;
    }
    leat_error err;
    if (run(argv[1], steps, &err) != LEAT_OK) {
        fprintf(stderr, "batches: %s\n", err.message);
        return 1;
    }
    return 0;
}
