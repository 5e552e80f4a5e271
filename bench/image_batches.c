/*
 * One sample of making batches of images with one thread, in a fresh process:
 *
 *   bench_image_batches SET BATCH EPOCHS
 *
 * As levels, an epoch whose pages are checked at their first access, then EPOCHS more; as floats,
 * EPOCHS. Their bounds are memcpy of the same bytes: image by image from the same places of the
 * mapped file, and straight through it. bench/images.py runs it.
 */
#include "base/map.h"
#include "bench.h"
#include "format/image_set/image_set.h"
#include "leat/load_images.h"

/* As many as a loader has ahead plus the caller's, so that copies leave the processor's caches. */
enum { SLOTS = 9 };

typedef struct work {
    const leat_images *images;
    leat_images_facts facts;
    int64_t batch, steps; /* full batches of an epoch */
    int64_t epochs;
} work;

static leat_image_loader *make_loader(const work *job, leat_image_values as) {
    leat_image_loader_options options = leat_image_loader_options_default();
    leat_image_loader *loader = NULL;
    leat_error err = {0};
    options.batch = job->batch;
    options.as = as;
    options.threads = 1;
    bench_must(leat_image_loader_create(&loader, job->images, &options, &err), &err);
    return loader;
}

/* Images per second of that many steps. */
static double make_batches(leat_image_loader *loader, const work *job, int64_t steps) {
    leat_error err = {0};
    double begin = bench_seconds();
    for (int64_t step = 0; step < steps; step++) {
        const leat_image_batch *batch = NULL;
        bench_must(leat_image_loader_next(loader, &batch, &err), &err);
        leat_image_batch_release(batch);
    }
    return (double)(steps * job->batch) / (bench_seconds() - begin);
}

/* ---- bounds ------------------------------------------------------------------------------- */

/* In the order of the batches, or as they lie. */
static double copy(const work *job, const uint8_t *pixels, uint8_t *slots[SLOTS], bool in_order) {
    int64_t bytes = job->facts.image_bytes, count = job->facts.count, at = 0;
    int64_t steps = job->steps * job->epochs;
    double begin = bench_seconds();
    for (int64_t step = 0; step < steps; step++) {
        uint8_t *out = slots[step % SLOTS];
        for (int64_t row = 0; row < job->batch; row++, at++) {
            int64_t image = in_order ? at % count : leat_image_at(0, count, at);
            memcpy(out + row * bytes, pixels + image * bytes, (size_t)bytes);
        }
        __asm__ volatile("" ::: "memory");
    }
    return (double)(steps * job->batch) / (bench_seconds() - begin);
}

static void measure_bounds(const work *job, double *gathered, double *straight) {
    char path[LEAT_PATH_BYTES];
    leat_map *map = NULL;
    leat_error err = {0};
    uint8_t *slots[SLOTS];
    bench_must(leat_path_join(path, sizeof path, job->facts.path, LEAT_IMAGES_TENSORS_NAME, &err),
               &err);
    bench_must(leat_map_open(&map, path, &err), &err);
    for (int k = 0; k < SLOTS; k++) slots[k] = bench_room(job->batch * job->facts.image_bytes);
    const uint8_t *pixels = leat_map_data(map) + LEAT_IMAGES_HEADER_BYTES;
    *straight = copy(job, pixels, slots, true); /* reads it all into the process, too */
    *gathered = copy(job, pixels, slots, false);
    *straight = copy(job, pixels, slots, true);
    for (int k = 0; k < SLOTS; k++) free(slots[k]);
    leat_map_close(map);
}

int main(int argc, char **argv) {
    if (argc != 4) bench_die("usage: bench_image_batches SET BATCH EPOCHS");
    work job = {.batch = bench_number(argv[2], 1), .epochs = bench_number(argv[3], 1)};
    leat_images *images = NULL;
    leat_error err = {0};
    double gathered = 0, straight = 0;
    bench_must(leat_images_open(&images, argv[1], &err), &err);
    job.images = images;
    leat_images_get_facts(images, &job.facts);
    job.steps = job.facts.count / job.batch;
    if (job.steps == 0) bench_die("a batch of %lld is more than all images", (long long)job.batch);
    leat_image_loader *loader = make_loader(&job, LEAT_IMAGE_U8);
    double fresh = make_batches(loader, &job, job.steps);
    double levels = make_batches(loader, &job, job.steps * job.epochs);
    leat_image_loader_destroy(loader);
    loader = make_loader(&job, LEAT_IMAGE_FLOAT);
    (void)make_batches(loader, &job, SLOTS + 1); /* accesses its slots, as for the other loader */
    double floats = make_batches(loader, &job, job.steps * job.epochs);
    leat_image_loader_destroy(loader);
    measure_bounds(&job, &gathered, &straight);

    leat_json *json = bench_json_begin();
    leat_json_member_int(json, "images", job.facts.count);
    leat_json_member_int(json, "image_bytes", job.facts.image_bytes);
    leat_json_member_double(json, "fresh_images_per_s", fresh);
    leat_json_member_double(json, "images_per_s", levels);
    leat_json_member_double(json, "float_images_per_s", floats);
    leat_json_member_double(json, "gather_images_per_s", gathered);
    leat_json_member_double(json, "copy_images_per_s", straight);
    bench_json_end(json);
    leat_images_close(images);
    return 0;
}
