/* See trees.h. */
#include "trees.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"

void tree_copy(const char *from, const char *to) {
    leat_path_facts facts;
    leat_path_list names = {0};
    uint8_t *bytes = NULL;
    int64_t size = 0;
    assert_int_equal(leat_path_stat(from, &facts, NULL), LEAT_OK);
    if (facts.kind == LEAT_PATH_FILE) {
        assert_int_equal(leat_file_load(from, 1 << 26, &bytes, &size, NULL), LEAT_OK);
        assert_int_equal(leat_file_save(to, bytes, size, NULL), LEAT_OK);
        leat_free(bytes);
        return;
    }
    assert_int_equal(leat_path_make_dir(to, NULL), LEAT_OK);
    assert_int_equal(leat_path_list_dir(from, &names, NULL), LEAT_OK);
    for (int64_t i = 0; i < names.count; i++) {
        char old[LEAT_PATH_BYTES], new[LEAT_PATH_BYTES];
        assert_int_equal(leat_path_join(old, sizeof old, from, names.paths[i], NULL), LEAT_OK);
        assert_int_equal(leat_path_join(new, sizeof new, to, names.paths[i], NULL), LEAT_OK);
        tree_copy(old, new);
    }
    leat_path_list_free(&names);
}
