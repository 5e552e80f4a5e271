/*
 * Loaders of images that stop and resume: at every step, by state, file or seek, with other threads
 * and hosts; states of other data, options or seed; damage, which fails the steps that need it and
 * no others; a process that forks.
 */
/* TSan: a ring is parked and moved to a saved state. */
#include "image_support.h"

#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "load/images/loader.h"

enum { IMAGES = 50, SIZE = 40, STEPS = 13 }; /* 3 x 50 images in batches of 12 */

static char set_dir[256];

static int setup(void **state) {
    (void)state;
    images_make("set", IMAGES, SIZE, set_dir);
    return 0;
}

static void expect_rest(leat_image_loader *loader, const leat_image_loader_options *options,
                        int64_t first) {
    for (int64_t step = first; step < STEPS; step++) {
        const leat_image_batch *batch = images_next(loader);
        assert_non_null(batch);
        assert_int_equal(batch->step, step);
        images_expect(options, IMAGES, batch);
        leat_image_batch_release(batch);
    }
    assert_null(images_next(loader));
}

static void resume(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = images_options();
    char states[STEPS + 1][LEAT_LOADER_STATE_BYTES], path[400];
    leat_error err = {0};
    leat_image_loader *loader = images_create(images, &options);
    for (int step = 0; step <= STEPS; step++) {
        leat_image_loader_state(loader, states[step]);
        const leat_image_batch *batch = images_next(loader);
        assert_int_equal(batch == NULL, step == STEPS);
        leat_image_batch_release(batch);
    }
    leat_image_loader_destroy(loader);
    snprintf(path, sizeof path, "%s/state.json", loader_folder());
    for (int step = 0; step <= STEPS; step++) {
        for (int c = 0; c < 3; c++) { /* hosts 1, 2, 4 */
            char text[LEAT_LOADER_STATE_BYTES];
            options.threads = 1 + c;
            options.prefetch = c - 1;
            options.host_count = 1 << c;
            options.host_index = options.host_count - 1;
            loader = images_create(images, &options);
            for (int i = 0; i < c * 3; i++) leat_image_batch_release(images_next(loader));
            must(leat_image_loader_restore(loader, states[step], &err), &err);
            leat_image_loader_state(loader, text);
            assert_string_equal(text, states[step]);
            expect_rest(loader, &options, step);
            must(leat_image_loader_seek(loader, step, &err), &err);
            must(leat_image_loader_save(loader, path, true, &err), &err);
            expect_rest(loader, &options, step);
            must(leat_image_loader_load(loader, path, &err), &err);
            expect_rest(loader, &options, step);
            leat_image_loader_destroy(loader);
        }
    }
    leat_images_close(images);
}

static void other_states(void **state) {
    (void)state;
    char other[256], path[400], text[LEAT_LOADER_STATE_BYTES];
    images_make("other", IMAGES + 1, SIZE, other);
    leat_images *images = images_open(set_dir), *others = images_open(other);
    leat_image_loader_options options = images_options();
    leat_image_loader *loader = images_create(images, &options);
    snprintf(path, sizeof path, "%s/other.json", loader_folder());
    assert_ok(leat_image_loader_save(loader, path, true, err));
    leat_image_loader_state(loader, text);
    leat_image_loader_destroy(loader);
    loader = images_create(others, &options);
    assert_fails(leat_image_loader_restore(loader, text, err), LEAT_ERR_INPUT, "data: the state");
    leat_image_loader_destroy(loader);
    options.seed++;
    loader = images_create(images, &options);
    assert_fails(leat_image_loader_load(loader, path, err), LEAT_ERR_INPUT, "seed 11, but");
    leat_image_loader_destroy(loader);
    options = images_options();
    options.batch = 24;
    loader = images_create(images, &options);
    assert_fails(leat_image_loader_load(loader, path, err), LEAT_ERR_INPUT, "batch was 12");
    assert_fails(leat_image_loader_restore(loader, text, err), LEAT_ERR_INPUT, "options");
    leat_image_loader_destroy(loader);
    options = images_options();
    options.as = LEAT_IMAGE_FLOAT;
    loader = images_create(images, &options);
    assert_fails(leat_image_loader_load(loader, path, err), LEAT_ERR_INPUT, "as was u8");
    assert_fails(leat_image_loader_restore(loader, "[]", err), LEAT_ERR_INPUT, "JSON object");
    leat_image_loader_destroy(loader);
    /* what decides no byte may be other */
    options = images_options();
    options.epochs = 100;
    options.memory_bytes *= 2;
    loader = images_create(images, &options);
    assert_ok(leat_image_loader_load(loader, path, err));
    leat_image_loader_destroy(loader);
    leat_images_close(images);
    leat_images_close(others);
}

/* Steps that hold a damaged image fail, with its name's number and file, again and again; all
 * others are right. */
static void damaged(void **state) {
    (void)state;
    char dir[256];
    images_make("damaged", IMAGES, SIZE, dir);
    loader_flip(dir, LEAT_IMAGES_TENSORS_NAME, 4096 + 17 * 4800 + 2000, 3); /* image 17 alone */
    leat_images *images = images_open(dir);
    for (int threads = 1; threads < 9; threads += threads == 1 ? 1 : 6) {
        leat_image_loader_options options = images_options();
        options.threads = threads;
        leat_image_loader *loader = images_create(images, &options);
        int failed = 0;
        for (int64_t step = 0; step < STEPS; step++) {
            const leat_image_batch *batch = NULL;
            leat_error err = {0}, again = {0};
            bool holds = false;
            for (int64_t p = step * 12; p < (step + 1) * 12; p++)
                holds = holds || leat_image_at(options.seed, IMAGES, p) == 17;
            must(leat_image_loader_seek(loader, step, &err), &err);
            leat_code code = leat_image_loader_next(loader, &batch, &err);
            assert_int_equal(code, holds ? LEAT_ERR_CORRUPT : LEAT_OK);
            failed += holds;
            if (!holds) {
                images_expect(&options, IMAGES, batch);
                leat_image_batch_release(batch);
                continue;
            }
            assert_null(batch);
            assert_non_null(strstr(err.message, "image 17: "));
            assert_int_equal(leat_image_loader_next(loader, &batch, &again), LEAT_ERR_CORRUPT);
            assert_string_equal(again.message, err.message);
        }
        assert_in_range(failed, 3, 4);
        leat_image_loader_destroy(loader);
    }
    leat_images_close(images);
}

static void forked(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* threads in the child of a program with threads: the sanitizer ends it */
#endif
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = images_options();
    leat_image_loader *loader = images_create(images, &options);
    leat_image_batch_release(images_next(loader));
#if defined(__SANITIZE_ADDRESS__)
    ring_rests(loader->steps.ring); /* locks of this sanitizer's heap do not survive a fork */
#endif
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(120); /* no hang */
        const leat_image_batch *batch = NULL;
        bool refused = leat_image_loader_next(loader, &batch, NULL) == LEAT_ERR_OPTION &&
                       leat_image_loader_seek(loader, 0, NULL) == LEAT_ERR_OPTION &&
                       leat_image_loader_wait(loader, -1);
        leat_image_loader_destroy(loader);
        /* of its own it may have one */
        bool own = leat_image_loader_create(&loader, images, &options, NULL) == LEAT_OK &&
                   leat_image_loader_next(loader, &batch, NULL) == LEAT_OK && batch->step == 0;
        _exit(refused && own ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    expect_rest(loader, &options, 1);
    leat_image_loader_destroy(loader);
    leat_images_close(images);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume),
        cmocka_unit_test(other_states),
        cmocka_unit_test(damaged),
        cmocka_unit_test(forked),
    };
    return cmocka_run_group_tests(tests, setup, loader_teardown);
}
