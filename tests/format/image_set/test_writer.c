/* The writer of image data sets: its bytes, and runs that are interrupted and resumed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_support.h"
#include "image_set_support.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const char *const names[] = {LEAT_IMAGES_TENSORS_NAME, LEAT_IMAGES_PAGES_NAME,
                                    LEAT_IMAGES_NAME, LEAT_COMPLETE_NAME};

static ar_image load_in(const char *dir, const char *name) {
    char path[LEAT_PATH_BYTES];
    assert_ok(leat_path_join(path, sizeof path, dir, name, err));
    return ar_load(path);
}

static void assert_same(const char *a_dir, const char *b_dir) {
    for (int i = 0; i < COUNT(names); i++) {
        ar_image a = load_in(a_dir, names[i]), b = load_in(b_dir, names[i]);
        if (a.size_bytes != b.size_bytes || memcmp(a.data, b.data, (size_t)a.size_bytes) != 0)
            fail_msg("%s differs: %lld and %lld bytes", names[i], (long long)a.size_bytes,
                     (long long)b.size_bytes);
        free(a.data);
        free(b.data);
    }
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* The files made anew from the images, the plain way. */
static void check_files(const char *dir, int64_t count, int32_t size) {
    int64_t bytes = leat_image_bytes(size), file_bytes = leat_image_place(size, count);
    ar_image tensors = load_in(dir, LEAT_IMAGES_TENSORS_NAME);
    ar_image pages = load_in(dir, LEAT_IMAGES_PAGES_NAME);
    leat_image_set set;
    leat_sha256 sha;
    uint8_t header[LEAT_IMAGES_HEADER_BYTES], digest[32], *pixels = malloc((size_t)bytes);
    char hex[65];
    assert_ok(leat_image_set_load(&set, dir, err));
    assert_int_equal(tensors.size_bytes, file_bytes);
    assert_int_equal(set.file_bytes, file_bytes);
    assert_ok(leat_image_set_header(count, size, header, err));
    assert_memory_equal(tensors.data, header, sizeof header);
    leat_sha256_init(&sha);
    for (int64_t i = 0; i < count; i++) {
        char name[64];
        const leat_image_entry entry = image_entry(i, name), found = leat_image_set_entry(&set, i);
        image_pixels(i, size, pixels);
        assert_memory_equal(tensors.data + leat_image_place(size, i), pixels, (size_t)bytes);
        leat_sha256_update(&sha, pixels, bytes);
        assert_string_equal(entry.name, found.name);
    }
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hex);
    assert_string_equal(set.fingerprint, hex);
    assert_int_equal(pages.size_bytes, (file_bytes + 4095) / 4096 * 8);
    for (int64_t at = 0; at < file_bytes; at += 4096) {
        uint64_t hash =
            leat_xxh3(tensors.data + at, file_bytes - at < 4096 ? file_bytes - at : 4096);
        assert_memory_equal(pages.data + at / 4096 * 8, &hash, 8);
    }
    assert_int_equal(set.pages_hash, leat_xxh3(pages.data, pages.size_bytes));
    free(pixels);
    free(tensors.data);
    free(pages.data);
    leat_image_set_free(&set);
}

static void bytes(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        int32_t size;
    } cases[] = {{1, 8}, {2, 9}, {21, 8}, {22, 64}, {23, 64}, {50, 40}, {3, 300}, {1, 1024}};
    for (int i = 0; i < COUNT(cases); i++) {
        char dir[LEAT_PATH_BYTES];
        snprintf(dir, sizeof dir, "%s-%d", ar_path("bytes"), i);
        assert_ok(image_set_make(dir, cases[i].count, cases[i].size, i, err));
        check_files(dir, cases[i].count, cases[i].size);
    }
}

/* ---- interrupted ---------------------------------------------------------------------------- */

static leat_code append_some(leat_image_writer *writer, int64_t first, int64_t end, int32_t size,
                             uint8_t *pixels, leat_error *err) {
    for (int64_t i = first; i < end; i++) {
        char name[64];
        const leat_image_entry entry = image_entry(i, name);
        image_pixels(i, size, pixels);
        LEAT_TRY(leat_image_writer_append(writer, &entry, pixels, err));
    }
    return LEAT_OK;
}

/* Keeps images of an interrupted run, up to the first that the file does not have. */
static leat_code keep_some(leat_image_writer *writer, int64_t end, int32_t size, uint8_t *pixels,
                           int64_t *kept, leat_error *err) {
    for (*kept = 0; *kept < end; (*kept)++) {
        char name[64];
        bool there = false;
        const leat_image_entry entry = image_entry(*kept, name);
        image_pixels(*kept, size, pixels);
        LEAT_TRY(
            leat_image_writer_keep(writer, &entry, leat_image_hash(pixels, size), &there, err));
        if (!there) break;
    }
    return LEAT_OK;
}

enum { IMAGES = 61, SIZE = 40 }; /* more than the buffer holds; no multiple of a page */

/* A run of `done` images that ends without finishing; `flush`: its images are in the file. */
static void interrupt(const char *dir, int64_t done, bool flush) {
    leat_image_writer *writer = NULL;
    uint8_t pixels[SIZE * SIZE * 3];
    assert_ok(leat_image_writer_create(&writer, dir, SIZE, false, err));
    assert_ok(append_some(writer, 0, done, SIZE, pixels, err));
    if (flush) assert_ok(leat_image_writer_flush(writer, err));
    leat_image_writer_destroy(writer);
}

/* Resumes it, with notes of `noted` images; returns how many were kept. */
static int64_t resume(const char *dir, int64_t noted) {
    leat_image_writer *writer = NULL;
    const leat_image_set *set = NULL;
    uint8_t pixels[SIZE * SIZE * 3];
    int64_t kept = 0;
    assert_ok(leat_image_writer_create(&writer, dir, SIZE, true, err));
    assert_ok(keep_some(writer, noted, SIZE, pixels, &kept, err));
    assert_ok(append_some(writer, kept, IMAGES, SIZE, pixels, err));
    assert_ok(leat_image_writer_finish(writer, 2, &set, err));
    assert_int_equal(set->count, IMAGES);
    leat_image_writer_destroy(writer);
    return kept;
}

static void interrupted(void **state) {
    (void)state;
    static const int64_t done[] = {0, 1, 20, 54, 55, 60, IMAGES};
    char whole[LEAT_PATH_BYTES], dir[LEAT_PATH_BYTES];
    snprintf(whole, sizeof whole, "%s", ar_path("whole"));
    assert_ok(image_set_make(whole, IMAGES, SIZE, 2, err));
    for (int i = 0; i < COUNT(done); i++) {
        for (int flush = 0; flush < 2; flush++) {
            snprintf(dir, sizeof dir, "%s-%d-%d", ar_path("part"), i, flush);
            interrupt(dir, done[i], flush == 1);
            int64_t kept = resume(dir, done[i]);
            /* what was not flushed is lost, but for what the buffer was too small for */
            assert_int_equal(kept, flush == 1 ? done[i] : done[i] > 54 ? 54 : 0);
            assert_same(whole, dir);
        }
    }
    /* a run that comes after one with more images leaves none of theirs */
    snprintf(dir, sizeof dir, "%s", ar_path("longer"));
    assert_ok(image_set_make(dir, IMAGES + 40, SIZE, 0, err));
    assert_int_equal(resume(dir, 7), 7);
    assert_same(whole, dir);
    /* without files to resume from */
    snprintf(dir, sizeof dir, "%s", ar_path("nothing"));
    assert_int_equal(resume(dir, IMAGES), 0);
    assert_same(whole, dir);
}

/* A data set that is written over is none until the new one is whole. */
static void over_another(void **state) {
    (void)state;
    char dir[LEAT_PATH_BYTES];
    leat_image_set set;
    snprintf(dir, sizeof dir, "%s", ar_path("over"));
    for (int resumed = 0; resumed < 2; resumed++) {
        leat_image_writer *writer = NULL;
        assert_ok(image_set_make(dir, 3, SIZE, 0, err));
        assert_ok(leat_image_writer_create(&writer, dir, SIZE, resumed == 1, err));
        leat_image_writer_destroy(writer);
        assert_fails(leat_image_set_load(&set, dir, err), LEAT_ERR_NOT_FOUND, LEAT_COMPLETE_NAME);
    }
}

/* Images after a damaged one are made again, since their notes may be as wrong. */
static void damaged_work(void **state) {
    (void)state;
    char whole[LEAT_PATH_BYTES], dir[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    static const int64_t at[] = {LEAT_IMAGES_HEADER_BYTES, 4096 + 17 * 4800 + 4799,
                                 4096 + 30 * 4800 - 1};
    static const int64_t expected[] = {0, 17, 29};
    snprintf(whole, sizeof whole, "%s", ar_path("whole"));
    for (int i = 0; i < COUNT(at); i++) {
        snprintf(dir, sizeof dir, "%s-%d", ar_path("damaged"), i);
        interrupt(dir, 30, true);
        assert_ok(leat_path_join(path, sizeof path, dir, LEAT_IMAGES_TENSORS_NAME, err));
        ar_image image = ar_load(path);
        image.data[at[i]] ^= 1;
        ar_save(path, image.data, image.size_bytes);
        free(image.data);
        assert_int_equal(resume(dir, 30), expected[i]);
        assert_same(whole, dir);
    }
}

/* ---- refused -------------------------------------------------------------------------------- */

static void refused(void **state) {
    (void)state;
    static const int32_t sizes[] = {7, 1025, 0, -1};
    leat_image_writer *writer = NULL;
    const leat_image_set *set = NULL;
    uint8_t pixels[8 * 8 * 3] = {0};
    for (int i = 0; i < COUNT(sizes); i++) {
        assert_fails(leat_image_writer_create(&writer, ar_path("refused"), sizes[i], false, err),
                     LEAT_ERR_OPTION, "it must be 8 to 1024");
        assert_null(writer);
    }
    assert_ok(leat_image_writer_create(&writer, ar_path("refused"), 8, false, err));
    assert_fails(leat_image_writer_finish(writer, 0, &set, err), LEAT_ERR_INPUT, "no image");
    const leat_image_entry entry = {"x", 1, 1, 0};
    assert_ok(leat_image_writer_append(writer, &entry, pixels, err));
    assert_fails(leat_image_writer_append(writer, &entry, pixels, err), LEAT_ERR_INPUT, "twice");
    assert_fails(leat_image_writer_finish(writer, -1, &set, err), LEAT_ERR_INPUT, "rejected");
    assert_null(set);
    leat_image_writer_destroy(writer);
    leat_image_writer_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),        cmocka_unit_test(interrupted),
        cmocka_unit_test(over_another), cmocka_unit_test(damaged_work),
        cmocka_unit_test(refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
