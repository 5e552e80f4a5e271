/*
 * Image batches in the windowed order: each image once an epoch, the same bytes whatever makes
 * them, resumed anywhere, and a window read before its first batch. How windows are drawn is tested
 * with the order (tests/batch/images/test_order.c).
 */
/* TSan: threads that read windows ahead, and seeks. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "image_support.h"
#include "load/images/loader.h"

enum { IMAGES = 1000, SIZE = 40, BATCH = 60, EPOCHS = 2 }; /* 4,800 bytes each: five windows */

static char set_dir[256];

static int setup(void **state) {
    (void)state;
    images_make("windowed", IMAGES, SIZE, set_dir);
    return 0;
}

static leat_image_loader_options windowed(void) {
    leat_image_loader_options options = images_options();
    options.batch = BATCH;
    options.epochs = EPOCHS;
    options.window_bytes = 1 << 20;
    return options;
}

/* The last batch goes on into an epoch that is not asked for, of which it has a few images. */
static void each_image_once(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    for (int64_t batch_size = 1; batch_size <= 4096; batch_size *= 16) {
        leat_image_loader_options options = windowed();
        options.batch = batch_size;
        leat_image_loader *loader = images_create(images, &options);
        const leat_image_batch *batch = NULL;
        int64_t seen[IMAGES] = {0};
        while ((batch = images_next(loader)) != NULL) {
            images_expect(&options, IMAGES, batch);
            for (int64_t i = 0; i < batch->row_count; i++)
                seen[batch->index[i]] += batch->first_position + i < EPOCHS * IMAGES;
            leat_image_batch_release(batch);
        }
        for (int i = 0; i < IMAGES; i++) assert_int_equal(seen[i], EPOCHS);
        leat_image_loader_destroy(loader);
    }
    leat_images_close(images);
}

/* images_expect compares with the order, which knows of no hosts, threads and prefetch. */
static void identity(void **state) {
    (void)state;
    static const int64_t hosts[] = {1, 2, 3, 5}, depths[] = {0, 3, LEAT_PREFETCH_AUTO};
    leat_images *images = images_open(set_dir);
    for (int c = 0; c < 24; c++) {
        leat_image_loader_options options = windowed();
        const leat_image_batch *batch = NULL;
        int64_t steps = 0;
        options.host_count = hosts[c % 4];
        options.host_index = options.host_count - 1;
        options.threads = 1 + c % 5;
        options.prefetch = depths[c % 3];
        options.as = c % 2 == 0 ? LEAT_IMAGE_U8 : LEAT_IMAGE_FLOAT;
        leat_image_loader *loader = images_create(images, &options);
        for (; (batch = images_next(loader)) != NULL; steps++) {
            images_expect(&options, IMAGES, batch);
            leat_image_batch_release(batch);
        }
        assert_int_equal(steps, (EPOCHS * IMAGES + BATCH - 1) / BATCH);
        leat_image_loader_destroy(loader);
    }
    leat_images_close(images);
}

/* From every step, back and forth, by seeking and by state. */
static void resumed(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = windowed();
    char text[LEAT_LOADER_STATE_BYTES];
    leat_error err = {0};
    leat_image_loader *loader = images_create(images, &options);
    int64_t steps = leat_image_loader_step_count(loader);
    for (int64_t i = 0; i < 2 * steps; i++) {
        int64_t step = i * 13 % steps;
        must(leat_image_loader_seek(loader, step, &err), &err);
        for (int back = 0; back < 2; back++) {
            leat_image_loader_state(loader, text);
            const leat_image_batch *batch = images_next(loader);
            assert_int_equal(batch->step, step);
            images_expect(&options, IMAGES, batch);
            leat_image_batch_release(batch);
            must(leat_image_loader_restore(loader, text, &err), &err);
        }
    }
    must(leat_image_loader_seek(loader, steps, &err), &err);
    assert_null(images_next(loader));
    leat_image_loader_destroy(loader);
    options.epochs = 0;
    loader = images_create(images, &options);
    must(leat_image_loader_seek(loader, LEAT_STEPS_MAX - 1, &err), &err);
    const leat_image_batch *batch = images_next(loader);
    images_expect(&options, IMAGES, batch);
    leat_image_batch_release(batch);
    leat_image_loader_destroy(loader);
    leat_images_close(images);
}

/* A state names the order: a step of one means nothing in another. */
static void states(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = windowed();
    char text[LEAT_LOADER_STATE_BYTES];
    leat_image_loader *loader = images_create(images, &options);
    leat_image_loader_state(loader, text);
    leat_image_loader_destroy(loader);
    for (int more = 0; more < 2; more++) {
        options.window_bytes = more == 0 ? 2 << 20 : 0;
        loader = images_create(images, &options);
        assert_fails(leat_image_loader_restore(loader, text, err), LEAT_ERR_INPUT,
                     "use the options with which the state was saved");
        assert_fails(leat_image_loader_restore(loader, text, err), LEAT_ERR_INPUT,
                     "The hash covers batch, as, order");
        leat_image_loader_destroy(loader);
    }
    leat_images_close(images);
}

/* Whether all pages of images [first, end) are in memory. */
static bool is_there(const leat_images *images, int64_t first, int64_t end) {
    int64_t begin = leat_image_place(SIZE, first), stop = leat_image_place(SIZE, end);
    unsigned char pages[64];
    begin -= begin % 4096;
    int64_t count = (stop - begin + 4095) / 4096;
    assert_in_range(count, 1, sizeof pages);
    uint8_t *data = (uint8_t *)(uintptr_t)images->paged.data + begin;
    assert_int_equal(mincore(data, (size_t)(stop - begin), pages), 0);
    for (int64_t i = 0; i < count; i++) {
        if ((pages[i] & 1) == 0) return false;
    }
    return true;
}

/* A window is read before a batch of it is made: all of it, and not page by page. The first two may
 * have been read before the pages were dropped. */
static void read_ahead(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = windowed();
    options.prefetch = 0;
    leat_image_loader *loader = images_create(images, &options);
    int file = open(leat_map_path(images->paged.map), O_RDONLY);
    assert_true(file >= 0 && fsync(file) == 0);
    assert_int_equal(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
    close(file);
    leat_image_windows windows = leat_image_windows_of(&loader->order);
    assert_int_equal(windows.count, 5);
    for (int64_t w = 0; w < windows.count; w++) {
        leat_fetcher_need(loader->fetcher, 0, w);
        int64_t end = leat_image_windows_begin(&windows, w + 1);
        for (int64_t p = leat_image_windows_begin(&windows, w); w >= 2 && p < end; p++) {
            int64_t first = 0, last = 0;
            leat_image_windows_chunk(&loader->order, 0, p, &first, &last);
            assert_true(is_there(images, first, last));
        }
    }
    leat_image_loader_destroy(loader);
    leat_images_close(images);
}

/* In a window a damaged image fails its step alone, too. */
static void damaged(void **state) {
    (void)state;
    char dir[256];
    images_make("windowed-damaged", IMAGES, SIZE, dir);
    loader_flip(dir, LEAT_IMAGES_TENSORS_NAME, leat_image_place(SIZE, 17) + 2000, 3);
    leat_images *images = images_open(dir);
    leat_image_loader_options options = windowed();
    leat_image_order order = {.seed = options.seed,
                              .count = IMAGES,
                              .image_bytes = leat_image_bytes(SIZE),
                              .window_bytes = options.window_bytes};
    leat_image_loader *loader = images_create(images, &options);
    int64_t steps = leat_image_loader_step_count(loader), failed = 0;
    for (int64_t step = 0; step < steps; step++) {
        const leat_image_batch *batch = NULL;
        leat_error err = {0};
        bool holds = false;
        for (int64_t p = step * BATCH; p < (step + 1) * BATCH; p++)
            holds = holds || leat_image_in_order(&order, p) == 17;
        must(leat_image_loader_seek(loader, step, &err), &err);
        leat_code code = leat_image_loader_next(loader, &batch, &err);
        assert_int_equal(code, holds ? LEAT_ERR_CORRUPT : LEAT_OK);
        leat_image_batch_release(batch);
        failed += holds;
    }
    assert_in_range(failed, EPOCHS, EPOCHS + 1);
    leat_image_loader_destroy(loader);
    leat_images_close(images);
}

static void refused(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = windowed();
    leat_image_loader *loader = NULL;
    options.window_bytes = 1000;
    assert_fails(leat_image_loader_create(&loader, images, &options, err), LEAT_ERR_OPTION,
                 "window_bytes is 1000");
    leat_images_close(images);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_image_once), cmocka_unit_test(identity),   cmocka_unit_test(resumed),
        cmocka_unit_test(states),          cmocka_unit_test(read_ahead), cmocka_unit_test(damaged),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, setup, loader_teardown);
}
