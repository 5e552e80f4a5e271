/* Image data sets and their batches for tests: see image_support.h. */
#include "image_support.h"

void images_make(const char *name, int64_t count, int32_t size, char dir[256]) {
    leat_error err = {0};
    snprintf(dir, 256, "%s/%s", loader_folder(), name);
    must(image_set_make(dir, count, size, 0, &err), &err);
}

leat_images *images_open(const char *dir) {
    leat_images *images = NULL;
    leat_error err = {0};
    must(leat_images_open(&images, dir, &err), &err);
    return images;
}

leat_image_loader_options images_options(void) {
    leat_image_loader_options options = leat_image_loader_options_default();
    options.batch = 12;
    options.threads = 2;
    options.seed = 11;
    options.epochs = 3;
    return options;
}

leat_image_loader *images_create(const leat_images *images,
                                 const leat_image_loader_options *options) {
    leat_image_loader *loader = NULL;
    leat_error err = {0};
    must(leat_image_loader_create(&loader, images, options, &err), &err);
    return loader;
}

const leat_image_batch *images_next(leat_image_loader *loader) {
    const leat_image_batch *batch = NULL;
    leat_error err = {0};
    must(leat_image_loader_next(loader, &batch, &err), &err);
    return batch;
}

/* Image [S, S, 3] as values [3, S, S], each worked out. */
static void expect_floats(const uint8_t *levels, int32_t size, const float *values) {
    for (int64_t i = 0; i < (int64_t)size * size; i++) {
        for (int64_t c = 0; c < 3; c++) {
            volatile float value = (float)levels[3 * i + c] / 255.0f;
            value = value - 0.5f;
            value = value / 0.5f;
            assert_true(values[c * size * size + i] == value);
        }
    }
}

void images_expect(const leat_image_loader_options *options, int64_t count,
                   const leat_image_batch *batch) {
    int64_t rows = options->batch / options->host_count, bytes = leat_image_bytes(batch->size);
    uint8_t *pixels = malloc((size_t)bytes);
    leat_image_order order = {.seed = options->seed,
                              .count = count,
                              .image_bytes = bytes,
                              .window_bytes = options->window_bytes};
    assert_int_equal(batch->row_count, rows);
    assert_int_equal(batch->first_row, options->host_index * rows);
    assert_int_equal(batch->first_position, batch->step * options->batch + batch->first_row);
    assert_true((batch->u8 != NULL) == (options->as == LEAT_IMAGE_U8));
    assert_true((batch->f32 != NULL) == (options->as == LEAT_IMAGE_FLOAT));
    for (int64_t i = 0; i < rows; i++) {
        int64_t image = leat_image_in_order(&order, batch->first_position + i);
        assert_int_equal(batch->index[i], image);
        image_pixels(image, batch->size, pixels);
        if (batch->u8 != NULL) assert_memory_equal(batch->u8 + i * bytes, pixels, (size_t)bytes);
        else expect_floats(pixels, batch->size, batch->f32 + i * bytes);
    }
    free(pixels);
}

char *images_lines(const leat_image_batch *batch) {
    leat_batch_hash *hash = NULL;
    leat_textbuf *lines = NULL;
    const char *words = NULL;
    int64_t size = 0;
    leat_error err = {0};
    must(leat_batch_hash_create(&hash, &err), &err);
    must(leat_textbuf_create(&lines, &err), &err);
    leat_batch_hash_add_images(hash, batch, lines);
    must(leat_textbuf_finish(lines, &words, &size, &err), &err);
    char *copy = strdup(words);
    leat_textbuf_destroy(lines);
    leat_batch_hash_destroy(hash);
    return copy;
}
