/*
 * One sample of what an ingest of images does to each file, in a fresh process and one thread:
 *
 *   bench_images PATH MAX   decoding, hashing and resizing of the first MAX images of a folder or
 *                           zip archive, whose files are in memory
 *
 * Decoding is libjpeg-turbo's and libpng's own time: it is the bound of any program that uses them.
 * Times are those of the fastest of five passes; those of hashing and resizing, of a pass with them
 * less the pass without. bench/images.py runs it.
 */
#include "base/hash.h"
#include "bench.h"
#include "format/image/image.h"
#include "ingest/images/list.h"
#include "ingest/images/resize.h"

enum { SIZE = 64, PASSES = 5 };

typedef struct picture {
    uint8_t *bytes;
    int64_t size_bytes;
    leat_image_header header;
} picture;

typedef struct pass {
    leat_xxh3_run *hash; /* NULL: not hashed */
    leat_resize *resize; /* NULL: not resized */
    int64_t row_bytes;
    uint64_t sum; /* so that nothing can be left out */
} pass;

/* The pictures among the files; others are passed over. */
static int64_t read_all(const leat_image_list *list, picture *pictures, int64_t most) {
    int64_t count = 0;
    for (int64_t i = 0; i < list->count && count < most; i++) {
        picture *it = &pictures[count];
        leat_image_reason reason = LEAT_IMAGE_GOOD;
        leat_error err = {0};
        it->size_bytes = list->files[i].size_bytes;
        if (it->size_bytes < 1 || it->size_bytes > LEAT_IMAGE_FILE_BYTES_MAX) continue;
        it->bytes = bench_room(it->size_bytes);
        leat_code code =
            leat_image_list_read(list, list->zip, i, it->bytes, it->size_bytes, &reason, &err);
        if (code == LEAT_OK)
            code = leat_image_look(it->bytes, it->size_bytes, &it->header, &reason, &err);
        if (code == LEAT_OK) count++;
        else free(it->bytes);
        if (code != LEAT_OK && reason == LEAT_IMAGE_GOOD) bench_must(code, &err);
    }
    if (count == 0) bench_die("\"%s\" has no image", list->path);
    return count;
}

static leat_code take(void *context, const uint8_t *rgb, int32_t rows, leat_error *err) {
    pass *self = context;
    (void)err;
    if (self->hash != NULL) leat_xxh3_update(self->hash, rgb, rows * self->row_bytes);
    if (self->resize != NULL) leat_resize_rows(self->resize, rgb, rows);
    self->sum += rgb[0];
    return LEAT_OK;
}

/* Seconds of one pass over all pictures; those that are damaged count as far as they go. */
static double run(const picture *pictures, int64_t count, pass *self) {
    static uint8_t pixels[SIZE * SIZE * 3];
    double begin = bench_seconds();
    for (int64_t i = 0; i < count; i++) {
        const picture *it = &pictures[i];
        leat_image_header header = it->header; /* decoding adds remarks */
        leat_image_reason reason = LEAT_IMAGE_GOOD;
        leat_error err = {0};
        self->row_bytes = (int64_t)it->header.width * 3;
        if (self->hash != NULL) leat_xxh3_begin(self->hash);
        if (self->resize != NULL)
            bench_must(
                leat_resize_begin(self->resize, it->header.width, it->header.height, pixels, &err),
                &err);
        leat_code code =
            leat_image_decode(it->bytes, it->size_bytes, &header, take, self, &reason, &err);
        if (code != LEAT_OK && reason == LEAT_IMAGE_GOOD) bench_must(code, &err);
        if (self->hash != NULL) self->sum += leat_xxh3_final(self->hash);
        if (self->resize != NULL) self->sum += pixels[0];
    }
    return bench_seconds() - begin;
}

int main(int argc, char **argv) {
    if (argc != 3) bench_die("usage: bench_images PATH MAX");
    int64_t most = bench_number(argv[2], 1), pixels = 0, bytes = 0;
    leat_image_list list;
    leat_ticker ticker = {0};
    leat_error err = {0};
    bench_must(leat_image_list_find(&list, argv[1], NULL, &ticker, &err), &err);
    picture *pictures = bench_room(most * (int64_t)sizeof *pictures);
    int64_t count = read_all(&list, pictures, most);
    leat_xxh3_run *hash = NULL;
    leat_resize *resize = NULL;
    bench_must(leat_xxh3_create(&hash, &err), &err);
    bench_must(leat_resize_create(&resize, SIZE, &err), &err);
    pass kinds[3] = {{0}, {.hash = hash}, {.hash = hash, .resize = resize}};
    double best[3] = {1e9, 1e9, 1e9};
    for (int i = 0; i < 3 * PASSES; i++) {
        double seconds = run(pictures, count, &kinds[i % 3]);
        if (seconds < best[i % 3]) best[i % 3] = seconds;
    }
    for (int64_t i = 0; i < count; i++) {
        pixels += (int64_t)pictures[i].header.width * pictures[i].header.height;
        bytes += pictures[i].size_bytes;
        free(pictures[i].bytes);
    }
    leat_json *json = bench_json_begin();
    leat_json_member_int(json, "images", count);
    leat_json_member_int(json, "pixels", pixels);
    leat_json_member_int(json, "bytes", bytes);
    leat_json_member_double(json, "decode_seconds", best[0]);
    leat_json_member_double(json, "hash_seconds", best[1] - best[0]);
    leat_json_member_double(json, "resize_seconds", best[2] - best[1]);
    bench_json_end(json);
    free(pictures);
    leat_xxh3_destroy(hash);
    leat_resize_destroy(resize);
    leat_image_list_free(&list);
    return 0;
}
