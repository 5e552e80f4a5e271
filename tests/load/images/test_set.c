/*
 * Image data sets opened: what is known of each image, images one by one, by many threads and after
 * a fork; what is not a data set; and damage, of which nothing is returned.
 */
/* TSan: images read by several threads. */
#include "image_support.h"

#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "load/images/images.h"
#include "threads.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
enum { IMAGES = 40, SIZE = 40 };

static char set_dir[256];

static int setup(void **state) {
    (void)state;
    images_make("set", IMAGES, SIZE, set_dir);
    return 0;
}

/* ---- right ---------------------------------------------------------------------------------- */

static void facts(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_images_facts facts;
    leat_image_facts entry;
    leat_images_get_facts(images, &facts);
    assert_string_equal(facts.path, set_dir);
    assert_int_equal(strlen(facts.fingerprint), 64);
    assert_int_equal(strlen(facts.decoded_sha256), 64);
    assert_int_equal(facts.count, IMAGES);
    assert_int_equal(facts.size, SIZE);
    assert_int_equal(facts.image_bytes, SIZE * SIZE * 3);
    assert_int_equal(facts.file_bytes, 4096 + IMAGES * SIZE * SIZE * 3);
    for (int64_t i = 0; i < IMAGES; i++) {
        char name[64];
        const leat_image_entry expected = image_entry(i, name);
        assert_ok(leat_images_get_entry(images, i, &entry, err));
        assert_string_equal(entry.name, expected.name);
        assert_true(entry.width == expected.width && entry.height == expected.height);
        assert_int_equal(entry.decoded, expected.decoded);
        assert_int_equal(leat_images_find(images, name), i);
    }
    static const char *const unknown[] = {"", "a", "a/0000.pn", "a/0000.pngs", "z", "a/00005.png"};
    for (int i = 0; i < COUNT(unknown); i++)
        assert_int_equal(leat_images_find(images, unknown[i]), -1);
    static const int64_t outside[] = {-1, IMAGES, INT64_MAX, INT64_MIN};
    uint8_t pixels[SIZE * SIZE * 3];
    for (int i = 0; i < COUNT(outside); i++) {
        assert_fails(leat_images_get_entry(images, outside[i], &entry, err), LEAT_ERR_OPTION,
                     "the data set has 40");
        pixels[0] = pixels[sizeof pixels - 1] = 1;
        assert_fails(leat_images_read(images, outside[i], pixels, err), LEAT_ERR_OPTION,
                     "no image");
        assert_true(pixels[0] == 0 && pixels[sizeof pixels - 1] == 0);
    }
    leat_images_close(images);
    leat_images_close(NULL);
}

static leat_code read_all(void *context, int index, leat_error *err) {
    uint8_t found[SIZE * SIZE * 3], expected[SIZE * SIZE * 3];
    for (int64_t k = 0; k < IMAGES; k++) {
        int64_t i = (k + index * 7) % IMAGES;
        LEAT_TRY(leat_images_read(context, i, found, err));
        image_pixels(i, SIZE, expected);
        if (memcmp(found, expected, sizeof found) != 0)
            return leat_fail(err, LEAT_ERR_CORRUPT, "image %lld is another", (long long)i);
    }
    return LEAT_OK;
}

static void read_by_threads(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    for (int i = 0; i < COUNT(threads); i++) {
        leat_images *images = images_open(set_dir);
        assert_ok(run_threads(threads[i], read_all, images, err));
        leat_images_close(images);
    }
}

static void read_after_fork(void **state) {
    (void)state;
    leat_images *images = images_open(set_dir);
    leat_error err = {0};
    assert_int_equal(read_all(images, 3, &err), LEAT_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(read_all(images, 5, &err) == LEAT_OK ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    leat_images_close(images);
}

/* ---- what is not a data set ----------------------------------------------------------------- */

static void put_file(const char *dir, const char *name) {
    char path[400], parent[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(leat_path_parent(path, parent, err));
    assert_ok(leat_path_make_dir(parent, err));
    assert_ok(leat_file_save(path, "x", 1, err));
}

static void other_paths(void **state) {
    (void)state;
    static const struct {
        const char *files[3];
        const char *message;
        bool at;
    } cases[] = {
        {{"x"}, "is not an image data set; create one with `leat ingest images`", false},
        {{"manifest.json", "index.bin"}, "output of `leat ingest probes`", false},
        {{".complete", "cache_metadata.json"}, "leat_can_cache_open() in C", false},
        {{"a/.complete"}, "output of `leat ingest can`", false},
        {{".leat/leat-work.json", ".leat/out/images.safetensors"}, "with --resume", true},
        {{".leat/leat-work.json"}, "`leat ingest probes`", false},
        {{"images.json", "images.safetensors"}, ".complete is missing", true},
        {{".complete", "images.json"}, "has changed since it was written", true},
    };
    leat_images *images = NULL;
    for (int i = 0; i < COUNT(cases); i++) {
        char dir[256];
        snprintf(dir, sizeof dir, "%s/other-%d", loader_folder(), i);
        for (int k = 0; k < 3 && cases[i].files[k] != NULL; k++) put_file(dir, cases[i].files[k]);
        leat_error err = {0};
        leat_code code = leat_images_open(&images, dir, &err);
        if (code == LEAT_OK || images != NULL || strstr(err.message, cases[i].message) == NULL)
            fail_msg("case %d: code %d: %s", i, code, err.message);
        assert_int_equal(leat_images_is_at(dir), cases[i].at);
    }
    assert_fails(leat_images_open(&images, "/nowhere/at/all", err), LEAT_ERR_NOT_FOUND,
                 "is not a folder");
    assert_false(leat_images_is_at("/nowhere/at/all"));
    assert_true(leat_images_is_at(set_dir));
}

/* ---- damage --------------------------------------------------------------------------------- */

/* All that can be read: the images as they were made, or an error that names a file. */
static bool reads_all(const char *dir, int64_t count, int32_t size, leat_error *err) {
    leat_images *images = NULL;
    int64_t bytes = leat_image_bytes(size);
    uint8_t *found = malloc((size_t)bytes), *expected = malloc((size_t)bytes);
    leat_code code = leat_images_open(&images, dir, err);
    bool all = code == LEAT_OK;
    for (int64_t i = 0; images != NULL && i < count; i++) {
        leat_error why = {0};
        image_pixels(i, size, expected);
        if (leat_images_read(images, i, found, &why) == LEAT_OK) {
            assert_memory_equal(found, expected, (size_t)bytes);
        } else {
            for (int64_t k = 0; k < bytes; k++) assert_int_equal(found[k], 0);
            *err = why;
            all = false;
        }
    }
    leat_images_close(images);
    free(found);
    free(expected);
    return all;
}

/* One page of pixels: its images fail, all others do not. */
static void damaged_page(void **state) {
    (void)state;
    char dir[256];
    images_make("page", 9, SIZE, dir);                                  /* 4,800 bytes an image */
    loader_flip(dir, LEAT_IMAGES_TENSORS_NAME, 4096 + 3 * 4096 + 5, 6); /* of images 2 and 3 */
    leat_images *images = images_open(dir);
    uint8_t pixels[SIZE * SIZE * 3];
    for (int round = 0; round < 2; round++) {
        for (int64_t i = 0; i < 9; i++) {
            leat_error err = {0};
            leat_code code = leat_images_read(images, i, pixels, &err);
            assert_int_equal(code, i == 2 || i == 3 ? LEAT_ERR_CORRUPT : LEAT_OK);
            if (code != LEAT_OK) {
                assert_non_null(strstr(err.message, "page at byte 16384"));
                assert_non_null(strstr(err.message, LEAT_IMAGES_TENSORS_NAME));
            }
        }
    }
    leat_images_close(images);
}

static void missing(void **state) {
    (void)state;
    static const char *const names[] = {LEAT_IMAGES_TENSORS_NAME, LEAT_IMAGES_PAGES_NAME,
                                        LEAT_IMAGES_NAME, LEAT_COMPLETE_NAME};
    for (int i = 0; i < COUNT(names); i++) {
        char dir[256], path[400], name[32];
        snprintf(name, sizeof name, "missing-%d", i);
        images_make(name, 3, 8, dir);
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        assert_int_equal(unlink(path), 0);
        leat_error err = {0};
        assert_false(reads_all(dir, 3, 8, &err));
        assert_non_null(strstr(err.message, "is missing"));
        assert_non_null(strstr(err.message, "leat ingest images"));
    }
}

/* The file is cut while it is mapped. */
static void cut_while_open(void **state) {
    (void)state;
    char dir[256], path[400];
    uint8_t pixels[SIZE * SIZE * 3];
    leat_error err = {0};
    images_make("cut", 30, SIZE, dir);
    leat_images *images = images_open(dir);
    snprintf(path, sizeof path, "%s/%s", dir, LEAT_IMAGES_TENSORS_NAME);
    assert_int_equal(truncate(path, 40960), 0);
    must(leat_images_read(images, 0, pixels, &err), &err);
    assert_int_equal(leat_images_read(images, 29, pixels, &err), LEAT_ERR_IO);
    assert_non_null(strstr(err.message, "truncated while it was open"));
    must(leat_images_read(images, 1, pixels, &err), &err);
    leat_images_close(images);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts),           cmocka_unit_test(read_by_threads),
        cmocka_unit_test(read_after_fork), cmocka_unit_test(other_paths),
        cmocka_unit_test(damaged_page),    cmocka_unit_test(missing),
        cmocka_unit_test(cut_while_open),
    };
    return cmocka_run_group_tests(tests, setup, loader_teardown);
}
