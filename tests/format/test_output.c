/* Which output of leat a folder is, by the names in it, and which kinds are not taken for another.
 */
#include <stdio.h>
#include <string.h>

#include "ar_support.h"
#include "format/output.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
enum { NAMES_MAX = 6 };

static const struct {
    const char *names[NAMES_MAX]; /* of files; folders end in "/" */
    leat_output of, look;
    bool named;
} cases[] = {
    {{"x.csv"}, {0}, {0}, false},
    {{"manifest.json"}, {0}, {0}, false},
    {{"images.json"}, {0}, {0}, false},
    {{"images.safetensors"}, {0}, {0}, false},
    {{"index.bin", "images.json"}, {0}, {0}, false},
    {{"manifest.json", "index.bin"},
     {LEAT_OUTPUT_PROBES, true, true},
     {LEAT_OUTPUT_PROBES, true, true},
     true},
    {{".complete"}, {LEAT_OUTPUT_CAN, true, true}, {LEAT_OUTPUT_CAN, true, true}, false},
    {{".complete", "cache_metadata.json", "train.safetensors"},
     {LEAT_OUTPUT_CAN, true, true},
     {LEAT_OUTPUT_CAN, true, true},
     true},
    {{"cache_metadata.json"}, {LEAT_OUTPUT_CAN, false, true}, {LEAT_OUTPUT_CAN, false, true}, true},
    {{".complete", "images.json", "images.safetensors", "images.pages"},
     {LEAT_OUTPUT_IMAGES, true, true},
     {LEAT_OUTPUT_IMAGES, true, true},
     true},
    {{".complete", "images.safetensors"},
     {LEAT_OUTPUT_IMAGES, true, true},
     {LEAT_OUTPUT_IMAGES, true, true},
     false},
    {{".complete", "images.json"},
     {LEAT_OUTPUT_IMAGES, true, true},
     {LEAT_OUTPUT_IMAGES, true, true},
     false},
    {{"images.json", "images.safetensors"},
     {LEAT_OUTPUT_IMAGES, false, true},
     {LEAT_OUTPUT_IMAGES, false, true},
     true},
    /* a folder of the name is not the file */
    {{".complete/", "manifest.json/", "index.bin/"}, {0}, {0}, true},
    /* work */
    {{".leat/leat-work.json"}, {0}, {LEAT_OUTPUT_PROBES, false, true}, true},
    {{".leat/leat-work.json", ".leat/out/images.safetensors"},
     {0},
     {LEAT_OUTPUT_IMAGES, false, true},
     true},
    {{".leat/out/images.safetensors"}, {0}, {0}, true},
    {{".leat-0123/leat-work.json"}, {0}, {LEAT_OUTPUT_CAN, false, false}, false},
    {{".leat-0123/other"}, {0}, {0}, false},
    /* caches in it, and what is no cache */
    {{"a/.complete", "b/x"}, {0}, {LEAT_OUTPUT_CAN, true, false}, false},
    {{".a/.complete"}, {0}, {0}, false},
    {{"a/cache_metadata.json"}, {0}, {0}, false},
    {{"a/.complete", "a/images.json"}, {0}, {0}, false},
    {{"a/.complete", "a/images.json", "b/.complete"}, {0}, {LEAT_OUTPUT_CAN, true, false}, false},
    {{".leat-0/leat-work.json", "a/.complete"}, {0}, {LEAT_OUTPUT_CAN, true, false}, false},
    {{"a/manifest.json", "a/index.bin"}, {0}, {0}, false},
    /* an image data set that is being replaced */
    {{".leat/leat-work.json", ".complete", "images.json", "images.safetensors"},
     {LEAT_OUTPUT_IMAGES, true, true},
     {LEAT_OUTPUT_IMAGES, true, true},
     true},
};

static void make(const char *dir, const char *const names[NAMES_MAX]) {
    for (int k = 0; k < NAMES_MAX && names[k] != NULL; k++) {
        char path[LEAT_PATH_BYTES], parent[LEAT_PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        if (leat_path_has_suffix(path, "/")) {
            assert_ok(leat_path_make_dir(path, err));
            continue;
        }
        assert_ok(leat_path_parent(path, parent, err));
        assert_ok(leat_path_make_dir(parent, err));
        ar_save(path, (const uint8_t *)"x", 1);
    }
}

static void assert_output(int which, leat_output found, leat_output expected) {
    if (found.kind != expected.kind || found.complete != expected.complete ||
        (found.kind != LEAT_OUTPUT_NONE && found.itself != expected.itself))
        fail_msg("case %d: kind %d, complete %d, itself %d", which, found.kind, found.complete,
                 found.itself);
}

static void kinds(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        char dir[LEAT_PATH_BYTES];
        leat_output found;
        leat_path_list names = {0};
        snprintf(dir, sizeof dir, "%s/kind-%d", ar_dir(), i);
        make(dir, cases[i].names);
        assert_ok(leat_output_of(dir, &found, err));
        assert_output(i, found, cases[i].of);
        assert_ok(leat_output_look(dir, &found, err));
        assert_output(i, found, cases[i].look);
        assert_ok(leat_path_list_dir(dir, &names, err));
        if (leat_output_has_names(&names) != cases[i].named) fail_msg("case %d: names", i);
        leat_path_list_free(&names);
    }
}

static void none(void **state) {
    (void)state;
    leat_output found;
    assert_ok(leat_output_look(ar_path("not-there"), &found, err));
    assert_int_equal(found.kind, LEAT_OUTPUT_NONE);
    ar_save(ar_path("file"), (const uint8_t *)"x", 1);
    assert_ok(leat_output_look(ar_path("file"), &found, err));
    assert_int_equal(found.kind, LEAT_OUTPUT_NONE);
    assert_string_equal(leat_output_command(LEAT_OUTPUT_NONE), "");
    assert_string_equal(leat_output_command(LEAT_OUTPUT_PROBES), "leat ingest probes");
    assert_string_equal(leat_output_command(LEAT_OUTPUT_CAN), "leat ingest can");
    assert_string_equal(leat_output_command(LEAT_OUTPUT_IMAGES), "leat ingest images");
    assert_string_equal(leat_output_opened_with(LEAT_OUTPUT_NONE), "");
    assert_string_equal(leat_output_opened_with(LEAT_OUTPUT_PROBES),
                        "leat.ProbeDataset in Python, leat_dataset_open() in C");
    assert_string_equal(leat_output_opened_with(LEAT_OUTPUT_CAN),
                        "leat.CanDataset in Python, leat_can_cache_open() in C");
    assert_string_equal(leat_output_opened_with(LEAT_OUTPUT_IMAGES),
                        "leat.ImageDataset in Python, leat_images_open() in C");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds), cmocka_unit_test(none)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
