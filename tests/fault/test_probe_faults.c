/*
 * Fault sweep over reading probe rows: the n-th allocation fails, once or from then on, for
 * n = 1, 2, ... until the row is read. Each time the code is that of memory, nothing is given out,
 * the same arrays can be used again, and (under a sanitizer) nothing is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/probe/row.h"
#include "points.h"

/* A view that copies, so that the record is put together in memory. */
static const uint8_t *get_copy(void *context, int64_t offset, int64_t size_bytes, uint8_t *scratch,
                               leat_error *err) {
    (void)err;
    memcpy(scratch, (const uint8_t *)context + offset, (size_t)size_bytes);
    return scratch;
}

/* Opens, or decodes; then reads. */
static leat_code read_row(const leat_view *view, bool whole, leat_measurements *out,
                          leat_error *err) {
    leat_measurement measurement;
    if (whole) return leat_probe_row_decode(view, NULL, out, NULL, err);
    leat_probe_row row;
    LEAT_TRY(leat_probe_row_open(&row, view, NULL, err));
    leat_code code = leat_probe_row_get(&row, row.info.n_measurements - 1, &measurement, err);
    leat_probe_row_close(&row);
    return code;
}

static void sweep(const char *name, const leat_view *view, bool whole) {
    for (int good = 0; good < 2; good++) {
        leat_measurements kept = {0};
        leat_code code = LEAT_ERR_MEMORY;
        for (int64_t n = 1; code != LEAT_OK; n++) {
            leat_measurements fresh = {0};
            leat_error err = {0};
            if (n > 200) fail_msg("%s: no end of allocations", name);
            set_fault(n - 1, good == 1);
            code = read_row(view, whole, &fresh, &err);
            bool reached = clear_fault();
            if (code != LEAT_OK) {
                assert_true(reached);
                assert_int_equal(code, LEAT_ERR_MEMORY);
                assert_int_equal(err.code, code);
                assert_int_equal(fresh.count, 0);
            } else {
                assert_false(reached);
            }
            leat_measurements_free(&fresh);
            set_fault(n - 1, good == 1); /* the same on arrays that are used again and again */
            (void)!read_row(view, whole, &kept, &err);
            clear_fault();
            assert_int_equal(read_row(view, whole, &kept, &err), LEAT_OK);
        }
        leat_measurements_free(&kept);
    }
}

static void test_sweep(void **state) {
    (void)state;
    static const char *const names[] = {
        "plain_1",  "dictionary_26",          "row_of_string_view_v6",
        "row_zstd", "row_of_several_batches", "row_of_dictionary_int8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, LEAT_SOURCE_DIR "/tests/fuzz/corpus/arrow/%s", names[i]);
        FILE *file = fopen(path, "rb");
        if (!file) fail_msg("cannot open %s", path);
        uint8_t *bytes = malloc(1 << 16);
        int64_t size = (int64_t)fread(bytes, 1, 1 << 16, file);
        fclose(file);
        leat_view views[2] = {leat_view_of(bytes, size), {size, bytes, get_copy}};
        for (int v = 0; v < 2; v++)
            for (int whole = 0; whole < 2; whole++) sweep(names[i], &views[v], whole == 1);
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
