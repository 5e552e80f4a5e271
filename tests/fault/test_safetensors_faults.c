/*
 * Fault sweep over safetensors: the n-th allocation or file call fails, once or from then on, for
 * n = 1, 2, ... until reading a header, or planning one, succeeds untouched. Each time it fails it
 * says why, hands out nothing and (under a sanitizer) leaves no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "format/safetensors/safetensors.h"
#include "points.h"

enum { TENSORS = 40 };
static char path[128];

static leat_code plan(leat_buf *header, leat_error *err) {
    static const char *const metadata[] = {"k", "v", "l", "w"};
    leat_tensor tensors[TENSORS] = {0};
    int64_t file_bytes = 0;
    for (int i = 0; i < TENSORS; i++) {
        tensors[i] = (leat_tensor){.dtype = LEAT_DTYPE_F32, .rank = 1, .shape = {i}};
        snprintf(tensors[i].name, sizeof tensors[i].name, "t%d", i);
    }
    leat_code code = leat_safetensors_plan(tensors, TENSORS, metadata, 2, header, &file_bytes, err);
    assert_int_equal(header->data != NULL, code == LEAT_OK);
    assert_int_equal(file_bytes,
                     code == LEAT_OK ? header->size + 4 * TENSORS * (TENSORS - 1) / 2 : 0);
    assert_int_equal(tensors[TENSORS - 1].offset != 0, code == LEAT_OK);
    return code;
}

static leat_code plan_only(leat_error *err) {
    leat_buf header = {0};
    leat_code code = plan(&header, err);
    leat_buf_free(&header);
    return code;
}

static leat_code read_file(leat_error *err) {
    leat_safetensors *read = (leat_safetensors *)1;
    leat_code code = leat_safetensors_read(&read, path, err);
    assert_int_equal(read != NULL, code == LEAT_OK);
    if (code == LEAT_OK) assert_int_equal(leat_safetensors_count(read), TENSORS);
    leat_safetensors_destroy(read);
    return code;
}

static void sweep(leat_code (*work)(leat_error *err), long least) {
    for (int stays = 0; stays < 2; stays++) {
        bool reached = true;
        long n = 0;
        for (; reached; n++) {
            leat_error err = {0};
            set_fault(n, stays == 1);
            leat_code code = work(&err);
            reached = clear_fault();
            if (!reached) assert_int_equal(code, LEAT_OK);
            else if (code != LEAT_ERR_MEMORY && code != LEAT_ERR_IO)
                fail_msg("call %ld: code %d: %s", n, code, err.message);
            assert_int_equal(err.code, code);
        }
        assert_true(n > least);
    }
}

static void all(void **state) {
    (void)state;
    leat_buf header = {0};
    leat_file *file = NULL;
    assert_int_equal(plan(&header, NULL), LEAT_OK);
    assert_int_equal(leat_file_open(&file, path, LEAT_FILE_CREATE, NULL), LEAT_OK);
    assert_int_equal(leat_file_pwrite(file, header.data, header.size, 0, NULL), LEAT_OK);
    assert_int_equal(leat_file_truncate(file, header.size + 4 * TENSORS * (TENSORS - 1) / 2, NULL),
                     LEAT_OK);
    leat_file_close(file);
    leat_buf_free(&header);
    sweep(plan_only, 5);
    sweep(read_file, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    snprintf(path, sizeof path, "%s/faults.safetensors", LEAT_BINARY_DIR);
    int failed = cmocka_run_group_tests_name("faults of safetensors", tests, NULL, NULL);
    clear_fault();
    leat_path_discard(path);
    return failed;
}
