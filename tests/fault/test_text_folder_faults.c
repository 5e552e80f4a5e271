/*
 * Fault sweep over folders of text files: the n-th allocation or call into the file system fails,
 * once or from then on. The folder has all files or, if it was new, does not exist; an older folder
 * keeps what is not replaced; no draft is left.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sweep.h"

static char root[] = "/tmp/leat-text-folder-faults-XXXXXX";
static char fresh[64], older[64];

static const char *const names[] = {"a.svg", "a.csv", "b.svg"};
enum { FILES = sizeof names / sizeof names[0] };

static int setup(void **state) {
    (void)state;
    char path[128];
    if (mkdtemp(root) == NULL) return 1;
    snprintf(fresh, sizeof fresh, "%s/fresh", root);
    snprintf(older, sizeof older, "%s/older", root);
    snprintf(path, sizeof path, "%s/own.txt", older);
    return leat_path_make_dir(older, NULL) != LEAT_OK || leat_file_save(path, "own", 3, NULL) != 0;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(root, NULL) != LEAT_OK;
}

static leat_code save(const void *of, leat_error *err) {
    const char *path = of;
    leat_text_folder *folder = NULL;
    leat_code code = leat_text_folder_create(&folder, path, path == older, err);
    if (code != LEAT_OK) assert_null(folder);
    for (int i = 0; code == LEAT_OK && i < FILES; i++)
        code = leat_text_folder_add(folder, names[i], names[i], 5, err);
    if (code == LEAT_OK) code = leat_text_folder_publish(folder, err);
    leat_text_folder_destroy(folder);
    return code;
}

static void expect_files(const char *dir, int64_t others) {
    leat_path_list found = {0};
    assert_int_equal(leat_path_list_dir(dir, &found, NULL), LEAT_OK);
    assert_int_equal(found.count, FILES + others);
    leat_path_list_free(&found);
    for (int i = 0; i < FILES; i++) {
        char path[128];
        uint8_t *text = NULL;
        int64_t size = 0;
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        assert_int_equal(leat_file_load(path, 100, &text, &size, NULL), LEAT_OK);
        assert_string_equal((const char *)text, names[i]);
        leat_free(text);
    }
}

/* A failure after the rename, of a sync, leaves the complete folder. */
static void look_at_fresh(leat_code code) {
    leat_path_facts facts;
    expect_no_drafts(root);
    assert_int_equal(leat_path_stat(fresh, &facts, NULL), LEAT_OK);
    if (code == LEAT_OK) assert_int_equal(facts.kind, LEAT_PATH_DIR);
    if (facts.kind != LEAT_PATH_NONE) expect_files(fresh, 0);
    assert_int_equal(leat_path_remove_tree(fresh, NULL), LEAT_OK);
}

static void look_at_older(leat_code code) {
    char path[128];
    leat_path_facts facts;
    expect_no_drafts(root);
    expect_no_drafts(older);
    snprintf(path, sizeof path, "%s/own.txt", older);
    assert_int_equal(leat_path_stat(path, &facts, NULL), LEAT_OK);
    assert_int_equal(facts.size_bytes, 3);
    if (code == LEAT_OK) expect_files(older, 1);
}

static void new_folders(void **state) {
    (void)state;
    sweep_run(&(fault_sweep){"a new folder", save, fresh, look_at_fresh, 10}, false);
}

static void older_folders(void **state) {
    (void)state;
    sweep_faults(&(fault_sweep){"an older folder", save, older, look_at_older, 10});
}

/* Without `replace`, a folder that has files, and anything that is not a folder, is refused before
 * anything is written. */
static void what_is_taken(void **state) {
    (void)state;
    char file[128], missing[128];
    leat_text_folder *folder = NULL;
    leat_error err = {0};
    snprintf(file, sizeof file, "%s/own.txt", older);
    snprintf(missing, sizeof missing, "%s/no/such", root);
    assert_int_equal(leat_text_folder_create(&folder, older, false, &err), LEAT_ERR_EXISTS);
    assert_non_null(strstr(err.message, "--replace"));
    assert_int_equal(leat_text_folder_create(&folder, file, true, &err), LEAT_ERR_EXISTS);
    assert_int_equal(leat_text_folder_create(&folder, missing, true, &err), LEAT_ERR_NOT_FOUND);
    assert_int_equal(leat_text_folder_create(&folder, "s3://x", true, &err), LEAT_ERR_OPTION);
    assert_null(folder);
}

/* A folder that is filled meanwhile is not overwritten. */
static void filled_meanwhile(void **state) {
    (void)state;
    char path[128];
    leat_text_folder *folder = NULL;
    leat_error err = {0};
    leat_path_facts facts;
    assert_int_equal(leat_text_folder_create(&folder, fresh, false, &err), LEAT_OK);
    assert_int_equal(leat_text_folder_add(folder, "a.svg", "x", 1, &err), LEAT_OK);
    assert_int_equal(leat_path_make_dir(fresh, NULL), LEAT_OK);
    snprintf(path, sizeof path, "%s/a.svg", fresh);
    assert_int_equal(leat_file_save(path, "their own", 9, NULL), LEAT_OK);
    assert_int_equal(leat_text_folder_publish(folder, &err), LEAT_ERR_EXISTS);
    leat_text_folder_destroy(folder);
    assert_int_equal(leat_path_stat(path, &facts, NULL), LEAT_OK);
    assert_int_equal(facts.size_bytes, 9);
    expect_no_drafts(root);
    assert_int_equal(leat_path_remove_tree(fresh, NULL), LEAT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_folders),
        cmocka_unit_test(what_is_taken),
        cmocka_unit_test(filled_meanwhile),
        cmocka_unit_test(older_folders),
    };
    return cmocka_run_group_tests_name("folders of text files", tests, setup, teardown);
}
