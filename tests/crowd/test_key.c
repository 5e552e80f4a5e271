/* The identity of a machine in a file: created once, kept, one process each, and closed again. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "leat/crowd.h"

static char top[64], path[128];

static int setup(void **state) {
    (void)state;
    snprintf(top, sizeof top, "/tmp/leat-key-XXXXXX");
    if (mkdtemp(top) == NULL) return 1;
    snprintf(path, sizeof path, "%s/state/machine.key", top);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

static int open_files(void) {
    int count = 0;
    DIR *files = opendir("/proc/self/fd");
    assert_non_null(files);
    while (readdir(files) != NULL) count++;
    closedir(files);
    return count;
}

static void created_and_kept(void **state) {
    char id[33], secret[33];
    leat_key *key = NULL;
    const int before = open_files();
    (void)state;
    assert_ok(leat_key_open(&key, path, err));
    assert_int_equal(open_files(), before + 1);
    assert_string_equal(leat_key_path(key), path);
    assert_int_equal(strlen(leat_key_id(key)), 32);
    assert_int_equal(strlen(leat_key_secret(key)), 32);
    assert_string_not_equal(leat_key_id(key), leat_key_secret(key));
    snprintf(id, sizeof id, "%s", leat_key_id(key));
    snprintf(secret, sizeof secret, "%s", leat_key_secret(key));
    leat_key_close(key);
    assert_int_equal(open_files(), before);
    assert_ok(leat_key_open(&key, path, err));
    assert_string_equal(leat_key_id(key), id);
    assert_string_equal(leat_key_secret(key), secret);
    leat_key_close(key);
    assert_int_equal(open_files(), before);
}

/* The file of a leat that wrote the first line alone, or a process that died in between. */
static void without_secret(void **state) {
    static const char id[] = "0123456789abcdef0123456789abcdef";
    char secret[33];
    leat_key *key = NULL;
    (void)state;
    assert_ok(leat_path_make_dir(top, err));
    snprintf(path, sizeof path, "%s/machine.key", top);
    for (int size = 33; size <= 34; size++) {
        char text[35];
        snprintf(text, sizeof text, "%s\na", id);
        assert_ok(leat_file_save(path, text, size, err));
        for (int i = 0; i < 2; i++) {
            assert_ok(leat_key_open(&key, path, err));
            assert_string_equal(leat_key_id(key), id);
            if (i == 0) snprintf(secret, sizeof secret, "%s", leat_key_secret(key));
            assert_int_equal(strlen(leat_key_secret(key)), 32);
            assert_string_equal(leat_key_secret(key), secret);
            leat_key_close(key);
        }
    }
}

static void one_each(void **state) {
    leat_key *first = NULL, *second = NULL;
    (void)state;
    assert_ok(leat_key_open(&first, path, err));
    assert_ok(leat_key_open(&second, path, err));
    assert_non_null(strstr(leat_key_path(second), "/machine-2.key"));
    assert_string_not_equal(leat_key_id(first), leat_key_id(second));
    leat_key_close(first);
    leat_key_close(second);
}

static void damaged(void **state) {
    leat_key *key = NULL;
    const int before = open_files();
    (void)state;
    assert_ok(leat_path_make_dir(top, err));
    snprintf(path, sizeof path, "%s/machine.key", top);
    assert_ok(leat_file_save(path, "not a key\n", 10, err));
    assert_fails(leat_key_open(&key, path, err), LEAT_ERR_CORRUPT, "is not the key of a machine");
    assert_null(key);
    assert_int_equal(open_files(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(created_and_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(without_secret, setup, teardown),
        cmocka_unit_test_setup_teardown(one_each, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
