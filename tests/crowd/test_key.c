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
    char id[33];
    leat_key *key = NULL;
    const int before = open_files();
    (void)state;
    assert_ok(leat_key_open(&key, path, err));
    assert_int_equal(open_files(), before + 1);
    assert_string_equal(leat_key_path(key), path);
    assert_int_equal(strlen(leat_key_id(key)), 32);
    snprintf(id, sizeof id, "%s", leat_key_id(key));
    leat_key_close(key);
    assert_int_equal(open_files(), before);
    assert_ok(leat_key_open(&key, path, err));
    assert_string_equal(leat_key_id(key), id);
    leat_key_close(key);
    assert_int_equal(open_files(), before);
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
        cmocka_unit_test_setup_teardown(one_each, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
