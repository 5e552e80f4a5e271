/*
 * Limits of memory that are too low for images: what the message names is enough. Memory is counted
 * here (count.h), so that the process is of the same size in every run.
 */
#include "count.h"
#include "image_libraries.h"
#include "ingest/image_files.h"
#include "ingest/ingest_support.h"
#include "points.h"

#define MIB (INT64_C(1) << 20)
/* The process has taken so much already: of the least limit that the options accept, 26 MiB are
 * left. */
#define BALLAST_BYTES (6 * MIB)

static leat_code run(const char *from, const char *out, const leat_images_ingest_options *options,
                     leat_images_ingest_result *result, leat_error *err) {
    leat_images_ingest_result ignored;
    count_restart();
    leat_code code =
        leat_images_ingest(from, out, options, result != NULL ? result : &ignored, err);
    assert_true(count_peak() <= options->memory_bytes);
    return code;
}

/* 9 megapixels that must be turned: all of them are in memory once. */
static void write_turned(const char *path, int32_t width, int32_t height) {
    const image_file file = {"turned.jpg", width, height, FILE_TURNED};
    leat_buf bytes = image_file_bytes(&file);
    core_save(path, bytes.data, bytes.size);
    leat_buf_free(&bytes);
}

/* The number after `before` in a message. */
static int64_t number_after(const char *message, const char *before) {
    const char *at = strstr(message, before);
    if (at == NULL) fail_msg("no \"%s\" in: %s", before, message);
    return strtoll(at + strlen(before), NULL, 10);
}

/* A picture that does not fit stops the run, the message names a limit that is enough for it and
 * one for all, and the run is resumed with that. */
static void large_pictures(void **state) {
    (void)state;
    const char *dir = core_path("large"), *out = core_path("large_out");
    leat_images_ingest_options options = image_files_options();
    leat_images_ingest_result result;
    leat_error err_now = {0};
    void *ballast = NULL;
    image_files_write(dir, false);
    write_turned(core_path("large/m1.jpg"), 3000, 2000);
    write_turned(core_path("large/m2.jpg"), 3000, 3000);
    options.memory_bytes = 512 * MIB;
    options.threads = 3;
    options.size = 256; /* each picture is a part of the job */
    assert_ok(run(dir, core_path("large_want"), &options, NULL, err));
    options.memory_bytes = 32 * MIB;
    assert_ok(leat_block_alloc(&ballast, BALLAST_BYTES, err));
    assert_int_equal(run(dir, out, &options, NULL, &err_now), LEAT_ERR_LIMIT);
    assert_non_null(strstr(err_now.message, "\"m1.jpg\" of 2000 x 3000 pixels: the memory limit"));
    int64_t one = number_after(err_now.message, "use --memory ");
    int64_t all = number_after(err_now.message, "with --resume; ");
    assert_true(all > one + 5 && one * MIB > options.memory_bytes + 5000000);
    assert_true(has_work(out));
    options.resume = true;
    options.memory_bytes = one * MIB;
    assert_int_equal(run(dir, out, &options, NULL, &err_now), LEAT_ERR_LIMIT);
    assert_non_null(strstr(err_now.message, "\"m2.jpg\""));
    options.memory_bytes = all * MIB;
    assert_ok(run(dir, out, &options, &result, err));
    assert_true(result.resumed > 10);
    assert_string_equal(image_set_digest(out).text, image_set_digest(core_path("large_want")).text);
    leat_block_free(ballast, BALLAST_BYTES);
}

static void least_memory(void **state) {
    (void)state;
    const char *out = core_path("least");
    leat_images_ingest_options options = image_files_options();
    leat_error err_now = {0};
    void *ballast = NULL;
    assert_ok(leat_block_alloc(&ballast, 32 * MIB, err));
    options.threads = 8;
    options.memory_bytes = 33 * MIB;
    assert_int_equal(run(core_path("folder"), out, &options, NULL, &err_now), LEAT_ERR_LIMIT);
    int64_t least = number_after(err_now.message, "require at least ");
    assert_non_null(strstr(err_now.message, "the memory limit of 33 MiB is too low: these 14"));
    assert_false(path_exists(out));
    options.memory_bytes = least * MIB;
    assert_ok(run(core_path("folder"), out, &options, NULL, err));
    assert_true(options.memory_bytes < leat_rss_bytes() + 30 * MIB);
    leat_block_free(ballast, 32 * MIB);
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(256) << 20);
    image_files_write(core_path("folder"), false);
    return 0;
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_pictures),
        cmocka_unit_test(least_memory),
    };
    return cmocka_run_group_tests_name("limits of images", tests, setup, core_teardown);
}
