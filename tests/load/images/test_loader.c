/*
 * Batches of images: each image once an epoch, in order, across the ends of epochs; the same bytes
 * whatever makes them (threads, hosts, prefetch); what was returned stays; options and memory.
 */
/* TSan: the ring's threads make batches of images. */
#include "image_support.h"

#include <unistd.h>

#include "calls.h"
#include "check.h"
#include "load/images/loader.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
enum { IMAGES = 50, SIZE = 24 };

static char set_dir[256];

static int setup(void **state) {
    (void)state;
    images_make("set", IMAGES, SIZE, set_dir);
    return 0;
}

/* ---- what batches hold ---------------------------------------------------------------------- */

static void batches(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 7, 12, 50, 64, 120};
    leat_images *images = images_open(set_dir);
    for (int c = 0; c < 2 * COUNT(sizes); c++) {
        leat_image_loader_options options = images_options();
        int64_t seen[IMAGES] = {0};
        options.batch = sizes[c / 2];
        options.as = c % 2 == 0 ? LEAT_IMAGE_U8 : LEAT_IMAGE_FLOAT;
        leat_image_loader *loader = images_create(images, &options);
        int64_t steps = (3 * IMAGES + options.batch - 1) / options.batch;
        assert_int_equal(leat_image_loader_step_count(loader), steps);
        for (int64_t step = 0; step < steps; step++) {
            assert_int_equal(leat_image_loader_step(loader), step);
            const leat_image_batch *batch = images_next(loader);
            assert_int_equal(batch->step, step);
            assert_int_equal(batch->size, SIZE);
            images_expect(&options, IMAGES, batch);
            for (int64_t i = 0; i < batch->row_count; i++)
                if (batch->first_position + i < 3 * IMAGES) seen[batch->index[i]]++;
            leat_image_batch_release(batch);
        }
        for (int i = 0; i < IMAGES; i++) assert_int_equal(seen[i], 3);
        assert_null(images_next(loader));
        assert_null(images_next(loader));
        assert_int_equal(leat_image_loader_step(loader), steps);
        leat_image_loader_destroy(loader);
    }
    leat_images_close(images);
    leat_image_loader_destroy(NULL);
}

/* Without end; far into it. */
static void endless(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = images_options();
    options.epochs = 0;
    leat_image_loader *loader = images_create(images, &options);
    assert_int_equal(leat_image_loader_step_count(loader), -1);
    static const int64_t steps[] = {0, 1000003, LEAT_STEPS_MAX - 2, 5};
    for (int i = 0; i < COUNT(steps); i++) {
        assert_ok(leat_image_loader_seek(loader, steps[i], err));
        for (int k = 0; k < 2; k++) {
            const leat_image_batch *batch = images_next(loader);
            assert_int_equal(batch->step, steps[i] + k);
            images_expect(&options, IMAGES, batch);
            leat_image_batch_release(batch);
        }
    }
    assert_ok(leat_image_loader_seek(loader, LEAT_STEPS_MAX, err));
    assert_null(images_next(loader));
    assert_fails(leat_image_loader_seek(loader, LEAT_STEPS_MAX + 1, err), LEAT_ERR_OPTION,
                 "no step");
    assert_fails(leat_image_loader_seek(loader, -1, err), LEAT_ERR_OPTION, "no step -1");
    leat_image_loader_destroy(loader);
    leat_images_close(images);
}

/* ---- the same bytes ------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b) {
    long long x[2], y[2];
    sscanf(*(char *const *)a, "%lld %lld", &x[0], &x[1]);
    sscanf(*(char *const *)b, "%lld %lld", &y[0], &y[1]);
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* All lines of a run by its hosts, sorted; to be freed. */
static char *lines_of_run(const leat_images *images, leat_image_loader_options options,
                          int64_t hosts) {
    char *lines[1024], *text = NULL;
    size_t count = 0, size = 1;
    options.host_count = hosts;
    for (int64_t h = 0; h < hosts; h++) {
        const leat_image_batch *batch = NULL;
        options.host_index = h;
        leat_image_loader *loader = images_create(images, &options);
        while ((batch = images_next(loader)) != NULL) {
            images_expect(&options, IMAGES, batch);
            char *rows = images_lines(batch);
            for (char *at = strtok(rows, "\n"); at != NULL; at = strtok(NULL, "\n")) {
                assert_true(count < 1024);
                lines[count++] = strdup(at);
                size += strlen(at) + 1;
            }
            free(rows);
            leat_image_batch_release(batch);
        }
        leat_image_loader_destroy(loader);
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    text = calloc(size, 1);
    for (size_t i = 0; i < count; i++) {
        strcat(strcat(text, lines[i]), "\n");
        free(lines[i]);
    }
    return text;
}

static void identity(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    static const int64_t hosts[] = {1, 2, 4}, depths[] = {0, 1, 2, 9, LEAT_PREFETCH_AUTO};
    leat_images *images = images_open(set_dir);
    for (int as = 0; as < 2; as++) {
        leat_image_loader_options options = images_options();
        options.as = (leat_image_values)as;
        options.threads = 1;
        options.prefetch = 0;
        char *expected = lines_of_run(images, options, 1);
        for (int c = 0; c < 4 * 3 * 5; c++) {
            options.threads = threads[c % 4];
            options.prefetch = depths[c / 4 % 5];
            char *lines = lines_of_run(images, options, hosts[c / 20]);
            if (strcmp(lines, expected) != 0) fail_msg("case %d differs", c);
            free(lines);
        }
        free(expected);
    }
    leat_images_close(images);
}

/* The hash is one over all lines, and the lines are those of a plain SHA-256. */
static void hashes(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = images_options();
    leat_image_loader *loader = images_create(images, &options);
    const leat_image_batch *batch = images_next(loader);
    leat_batch_hash *hash = NULL;
    leat_sha256 sha;
    uint8_t digest[32], pixels[SIZE * SIZE * 3];
    char hex[65], line[128], text[65], *lines = images_lines(batch);
    assert_ok(leat_batch_hash_create(&hash, err));
    leat_batch_hash_add_images(hash, batch, NULL);
    leat_batch_hash_text(hash, text);
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, lines, (int64_t)strlen(lines));
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hex);
    assert_string_equal(text, hex);
    image_pixels(batch->index[0], SIZE, pixels);
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, pixels, sizeof pixels);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hex);
    snprintf(line, sizeof line, "0 0 %s\n", hex);
    assert_memory_equal(lines, line, strlen(line));
    leat_batch_hash_destroy(hash);
    leat_image_batch_release(batch);
    leat_image_loader_destroy(loader);
    leat_images_close(images);
    free(lines);
}

/* ---- owners --------------------------------------------------------------------------------- */

/* Batches that are held do not change, and outlive the loader. */
static void held(void **state) {
    (void)state;
    enum { HELD = 10 };
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = images_options();
    const leat_image_batch *batches[HELD];
    options.prefetch = 3;
    leat_image_loader *loader = images_create(images, &options);
    for (int i = 0; i < HELD; i++) batches[i] = images_next(loader);
    leat_image_batch_retain(batches[4]);
    leat_image_batch_release(batches[4]);
    for (int i = 0; i < 3; i++) leat_image_batch_release(images_next(loader));
    leat_image_loader_destroy(loader);
    for (int i = 0; i < HELD; i++) {
        images_expect(&options, IMAGES, batches[i]);
        leat_image_batch_release(batches[i]);
    }
    leat_image_batch_retain(NULL);
    leat_image_batch_release(NULL);
    leat_images_close(images);
}

static void nothing_allocated(void **state) {
    (void)state;
#if COUNTS
    leat_images *images = images_open(set_dir);
    for (int as = 0; as < 2; as++) {
        leat_image_loader_options options = images_options();
        options.epochs = 0;
        options.as = (leat_image_values)as;
        leat_image_loader *loader = images_create(images, &options);
        for (int i = 0; i < 20; i++) leat_image_batch_release(images_next(loader));
        long before = atomic_load(&allocations), locks_before = atomic_load(&locks);
        for (int i = 0; i < 200; i++) leat_image_batch_release(images_next(loader));
        assert_int_equal(atomic_load(&allocations), before);
        assert_int_equal(atomic_load(&locks), locks_before);
        leat_image_loader_destroy(loader);
    }
    leat_images_close(images);
#endif
}

/* ---- options -------------------------------------------------------------------------------- */

static void refused_options(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    static const struct {
        size_t place;
        int64_t value;
        bool narrow;
        const char *message;
    } cases[] = {
        {offsetof(leat_image_loader_options, batch), 0, false, "batch"},
        {offsetof(leat_image_loader_options, batch), (1 << 20) + 1, false, "batch"},
        {offsetof(leat_image_loader_options, as), 2, true, "as"},
        {offsetof(leat_image_loader_options, seed), INT64_MIN, false, "seed"},
        {offsetof(leat_image_loader_options, epochs), -1, false, "epochs"},
        {offsetof(leat_image_loader_options, host_count), 0, false, "hosts"},
        {offsetof(leat_image_loader_options, host_count), 5, false, "cannot share a batch of 12"},
        {offsetof(leat_image_loader_options, host_count), 13, false, "hosts is 13"},
        {offsetof(leat_image_loader_options, host_index), 1, false, "host is 1"},
        {offsetof(leat_image_loader_options, host_index), -1, false, "host"},
        {offsetof(leat_image_loader_options, threads), 0, true, "threads"},
        {offsetof(leat_image_loader_options, threads), 257, true, "threads"},
        {offsetof(leat_image_loader_options, prefetch), 1025, false, "prefetch"},
        {offsetof(leat_image_loader_options, prefetch), -2, false, "prefetch"},
        {offsetof(leat_image_loader_options, memory_bytes), 0, false, "memory"},
        {offsetof(leat_image_loader_options, memory_bytes), 300000, false, "are required"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        leat_image_loader_options options = images_options();
        leat_image_loader *loader = NULL;
        leat_error err = {0};
        char *at = (char *)&options + cases[i].place;
        int32_t narrow = (int32_t)cases[i].value;
        if (cases[i].narrow) memcpy(at, &narrow, sizeof narrow);
        else memcpy(at, &cases[i].value, sizeof cases[i].value);
        leat_code code = leat_image_loader_create(&loader, images, &options, &err);
        if (code != LEAT_ERR_OPTION || loader != NULL ||
            strstr(err.message, cases[i].message) == NULL)
            fail_msg("case %d: code %d: %s", i, code, err.message);
    }
    leat_images_close(images);
}

/* --memory decides how many batches are made ahead, and the error names what is enough. */
static void memory(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_image_loader_options options = images_options();
    leat_image_loader_counters counters;
    leat_image_loader *loader = images_create(images, &options);
    leat_image_loader_get_counters(loader, &counters);
    assert_int_equal(counters.prefetch, 8);
    assert_true(counters.memory_bytes <= options.memory_bytes);
    leat_image_loader_destroy(loader);
    leat_error err = {0};
    options.memory_bytes = 1;
    assert_int_equal(leat_image_loader_create(&loader, images, &options, &err), LEAT_ERR_OPTION);
    const char *needed = strstr(err.message, "but ");
    assert_non_null(needed);
    options.memory_bytes = strtoll(needed + 4, NULL, 10);
    leat_images_close(images); /* which has checked pages */
    images = images_open(set_dir);
    loader = images_create(images, &options);
    leat_image_loader_get_counters(loader, &counters);
    assert_int_equal(counters.prefetch, 1);
    assert_int_equal(counters.memory_bytes, options.memory_bytes);
    for (int i = 0; i < 5; i++) leat_image_batch_release(images_next(loader));
    assert_true(leat_image_loader_wait(loader, -1));
    leat_image_loader_get_counters(loader, &counters);
    assert_int_equal(counters.batches, 5);
    assert_int_equal(counters.images, 60);
    assert_int_equal(counters.payload_bytes, 22 * 4096); /* all but the header's page */
    assert_true(counters.work_ns > 0 && counters.stall_ns >= 0);
    leat_image_loader_destroy(loader);
    leat_images_close(images);
}

/* NULL options are the defaults; steps of so many epochs that they have no end in practice. */
static void defaults(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_image_loader *loader = images_create(images, NULL);
    leat_image_loader_options options = leat_image_loader_options_default();
    const leat_image_batch *batch = images_next(loader);
    assert_int_equal(batch->row_count, 64);
    images_expect(&options, IMAGES, batch);
    leat_image_batch_release(batch);
    leat_image_loader_destroy(loader);
    options.epochs = LEAT_STEPS_MAX;
    options.batch = 1;
    loader = images_create(images, &options);
    assert_int_equal(leat_image_loader_step_count(loader), LEAT_STEPS_MAX);
    leat_image_loader_destroy(loader);
    leat_images_close(images);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches),
        cmocka_unit_test(endless),
        cmocka_unit_test(identity),
        cmocka_unit_test(hashes),
        cmocka_unit_test(held),
        cmocka_unit_test(nothing_allocated),
        cmocka_unit_test(refused_options),
        cmocka_unit_test(memory),
        cmocka_unit_test(defaults),
    };
    return cmocka_run_group_tests(tests, setup, loader_teardown);
}
