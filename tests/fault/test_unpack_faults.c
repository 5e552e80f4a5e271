/* Fault sweep over reading compressed files: no memory for what a library allocates, no bytes from
 * the file. */
#include "base/lines.h"
#include "ingest/core_support.h"
#include "sweep.h"

static leat_code read_file(const void *of, leat_error *err) {
    leat_lines_options options = {.coding = *(const leat_coding *)of};
    leat_lines *lines = NULL;
    leat_line line;
    bool found = true;
    int count = 0;
    leat_code code =
        leat_lines_open(&lines, core_path(leat_coding_name(options.coding)), &options, err);
    if (code != LEAT_OK) {
        assert_null(lines);
        return code;
    }
    while (code == LEAT_OK && found) {
        code = leat_lines_next(lines, &line, &found, err);
        count += found;
    }
    leat_lines_close(lines);
    if (code == LEAT_OK) assert_int_equal(count, 4);
    return code;
}

/* Copies a seed of the fuzz corpus, whose first byte is for the fuzz target. */
static bool copy_seed(leat_coding coding) {
    char path[512];
    leat_lines_options options = {.coding = coding};
    leat_lines *lines = NULL;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/lines/%s", LEAT_SOURCE_DIR,
             leat_coding_name(coding));
    core_image image = core_load(path);
    core_save(core_path(leat_coding_name(coding)), image.data + 1, image.size_bytes - 1);
    free(image.data);
    leat_code code = leat_lines_open(&lines, core_path(leat_coding_name(coding)), &options, NULL);
    leat_lines_close(lines);
    if (code == LEAT_ERR_UNSUPPORTED)
        print_message("skipped: no library for %s\n", leat_coding_name(coding));
    return code != LEAT_ERR_UNSUPPORTED;
}

static void unpack_faults(void **state) {
    (void)state;
    static const leat_coding codings[] = {LEAT_CODING_BZIP2, LEAT_CODING_XZ, LEAT_CODING_ZSTD};
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        if (!copy_seed(codings[i])) continue;
        fault_sweep sweep = {
            .name = leat_coding_name(codings[i]), .work = read_file, .of = &codings[i], .least = 5};
        sweep_faults(&sweep);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(unpack_faults)};
    int failed = cmocka_run_group_tests_name("unpack faults", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
