/* Synthetic portraits: the pixels are pinned, the files do not depend on threads, and an output
 * appears completely or not at all. */
/* TSan: threads draw, and write in turn. */
#include <unistd.h>

#include "base/hash.h"
#include "format/image/image.h"
#include "format/picture_support.h"
#include "format/zip/zip.h"
#include "image_libraries.h"
#include "ingest/core_support.h"
#include "ingest/ingest_support.h"
#include "leat/synth.h"
#include "synth/images/images.h"

enum { PIXELS = LEAT_PORTRAIT_WIDTH * LEAT_PORTRAIT_HEIGHT * 3 };

static leat_code synth(const char *out, int64_t count, uint64_t seed, int threads, bool replace,
                       leat_error *err) {
    leat_synth_images_options options = leat_synth_images_options_default();
    leat_synth_images_result result;
    options.count = count;
    options.seed = seed;
    options.threads = threads;
    options.replace = replace;
    leat_code code = leat_synth_images(out, &options, &result, err);
    assert_int_equal(result.images, code == LEAT_OK ? count : 0);
    return code;
}

static uint64_t hash_of(uint64_t seed, int64_t index) {
    static leat_canvas canvas;
    static uint8_t rgb[PIXELS];
    leat_portrait_draw(seed, index, &canvas, rgb);
    return leat_xxh3(rgb, PIXELS);
}

/* The same on every machine and with every compiler: all their arithmetic is rounded exactly. */
static void pixels_pinned(void **state) {
    (void)state;
    static const struct {
        uint64_t seed;
        int64_t index;
        uint64_t hash;
    } cases[] = {
        {UINT64_C(0), 0, UINT64_C(0x1cc26c645af80e10)},
        {UINT64_C(0), 1, UINT64_C(0xd39a24cbd7b89e1c)},
        {UINT64_C(0), 999999, UINT64_C(0x0cfca5da161bf1b4)},
        {UINT64_C(1), 0, UINT64_C(0x8739f8309ca3d871)},
        {UINT64_C(7), 3, UINT64_C(0xecfd2d8fba4bd778)},
        {UINT64_C(7), 4, UINT64_C(0x6d8315fabb69cf27)},
        {UINT64_C(12345678901234), 202598, UINT64_C(0xba9658932472c961)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t hash = hash_of(cases[i].seed, cases[i].index);
        if (hash != cases[i].hash)
            fail_msg("{%llu, %lld, UINT64_C(0x%016llx)},", (unsigned long long)cases[i].seed,
                     (long long)cases[i].index, (unsigned long long)hash);
        assert_true(hash_of(cases[i].seed, cases[i].index) == hash); /* again, on a used canvas */
    }
}

/* No two of a hundred pictures are equal, and none is plain. */
static void pictures_differ(void **state) {
    (void)state;
    static leat_canvas canvas;
    static uint8_t rgb[PIXELS];
    static uint64_t hashes[120];
    for (int64_t i = 0; i < 120; i++) {
        int64_t sum = 0, squares = 0;
        leat_portrait_draw((uint64_t)i / 60, i % 60, &canvas, rgb);
        for (int k = 0; k < PIXELS; k++) {
            sum += rgb[k];
            squares += rgb[k] * rgb[k];
        }
        double mean = (double)sum / PIXELS, variance = (double)squares / PIXELS - mean * mean;
        assert_true(mean > 20 && mean < 235 && variance > 400);
        hashes[i] = leat_xxh3(rgb, PIXELS);
        for (int64_t k = 0; k < i; k++) assert_true(hashes[k] != hashes[i]);
    }
}

static void same_for_threads(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    const char *zip = core_path("x.zip");
    core_image want = {0};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        assert_ok(synth(zip, 20, 3, threads[i], true, err));
        core_image got = core_load(zip);
        if (i == 0) want = got;
        assert_int_equal(got.size_bytes, want.size_bytes);
        assert_memory_equal(got.data, want.data, (size_t)want.size_bytes);
        if (i > 0) free(got.data);
    }
    free(want.data);
}

/* A folder has the members of the archive; a picture is that of its number. */
static void folder_and_archive(void **state) {
    (void)state;
    leat_zip *zip = NULL;
    static leat_canvas canvas;
    static uint8_t rgb[PIXELS];
    assert_ok(synth(core_path("both.zip"), 12, 5, 2, false, err));
    assert_ok(synth(core_path("both"), 9, 5, 2, false, err));
    assert_int_equal(dir_count(core_path("both")), 9);
    assert_ok(leat_zip_open(&zip, core_path("both.zip"), err));
    assert_int_equal(leat_zip_count(zip), 12);
    for (int64_t i = 0; i < 12; i++) {
        char name[32];
        leat_zip_member member;
        leat_buf jpeg = {0};
        snprintf(name, sizeof name, "%06d.jpg", (int)i + 1);
        assert_ok(leat_zip_get(zip, i, &member, err));
        assert_string_equal(member.name, name);
        uint8_t *bytes = malloc((size_t)member.size_bytes);
        assert_non_null(bytes);
        assert_ok(leat_zip_read(zip, i, bytes, member.size_bytes, err));
        leat_portrait_draw(5, i, &canvas, rgb);
        assert_ok(leat_jpeg_encode(rgb, LEAT_PORTRAIT_WIDTH, LEAT_PORTRAIT_HEIGHT, 90, &jpeg, err));
        assert_int_equal(jpeg.size, member.size_bytes);
        assert_memory_equal(jpeg.data, bytes, (size_t)jpeg.size);
        if (i < 9) {
            char path[64];
            snprintf(path, sizeof path, "both/%s", name);
            core_image file = core_load(core_path(path));
            assert_int_equal(file.size_bytes, jpeg.size);
            assert_memory_equal(file.data, bytes, (size_t)jpeg.size);
            free(file.data);
        }
        leat_buf_free(&jpeg);
        free(bytes);
    }
    leat_zip_close(zip);
}

static bool stop_late(void *user, const leat_progress *progress) {
    int *calls = user;
    (void)progress;
    return (*calls)++ < 1;
}

static void outputs(void **state) {
    (void)state;
    const char *dir = core_path("out"), *zip = core_path("out.zip");
    assert_ok(synth(dir, 3, 0, 1, false, err));
    assert_ok(synth(zip, 3, 0, 1, false, err));
    assert_fails(synth(dir, 2, 0, 1, false, err), LEAT_ERR_EXISTS, "not empty; use --replace");
    assert_fails(synth(zip, 2, 0, 1, false, err), LEAT_ERR_EXISTS, "already exists");
    assert_ok(synth(dir, 2, 0, 1, true, err));
    assert_int_equal(dir_count(dir), 2);
    core_save(core_path("out/mine.jpg"), "x", 1);
    assert_fails(synth(dir, 2, 0, 1, true, err), LEAT_ERR_EXISTS, "are not synthetic data");
    assert_int_equal(dir_count(dir), 3);
    assert_fails(synth(dir, 0, 0, 1, true, err), LEAT_ERR_OPTION, "--count must be between 1");
    assert_fails(synth(dir, 1, 0, 0, true, err), LEAT_ERR_OPTION, "--threads must be between 1");
    for (int is_zip = 0; is_zip < 2; is_zip++) {
        leat_synth_images_options options = leat_synth_images_options_default();
        leat_synth_images_result result;
        int calls = 0;
        const char *out = core_path(is_zip ? "stopped.zip" : "stopped");
        options.count = 100000;
        options.progress = stop_late;
        options.progress_user = &calls;
        assert_fails(leat_synth_images(out, &options, &result, err), LEAT_ERR_CANCELLED,
                     "nothing is kept");
        assert_false(path_exists(out));
    }
    /* out, out.zip; drafts are gone */
    assert_int_equal(dir_count(core_dir()), 2);
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(64) << 20);
    return 0;
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs),
        cmocka_unit_test(pixels_pinned),
        cmocka_unit_test(pictures_differ),
        cmocka_unit_test(same_for_threads),
        cmocka_unit_test(folder_and_archive),
    };
    return cmocka_run_group_tests_name("synthetic images", tests, setup, core_teardown);
}
