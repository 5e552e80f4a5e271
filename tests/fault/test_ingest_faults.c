/* Faults of an ingest into a new or an empty folder, with one thread. */
#include "ingest_sweep.h"

static const setting plain = {
    .name = "plain",
    .threads = 1,
    .max_row_bytes = 2000,
    .spill = LEAT_SPILL_ALWAYS,
    .step = 1,
};
static const setting ordered = {
    .name = "ordered",
    .begins = EMPTY_FOLDER,
    .threads = 1,
    .own_temp = true,
    .split = LEAT_SPLIT_ORDERED,
    .compression = LEAT_COMPRESSION_ZSTD,
    .spill = LEAT_SPILL_ALWAYS,
    .step = 2,
};
static const setting in_memory = {
    .name = "in memory",
    .threads = 1,
    .max_row_bytes = 2000,
    .step = 2,
};

/* A file that is saved is there whole, or as it was, and nothing lies beside it. */
static void saved_files(void **state) {
    (void)state;
    const char *dir = core_path("saved"), *path = core_path("saved/file");
    for (int stays = 0; stays < 2; stays++) {
        bool reached = true;
        for (long at = 0; reached; at++) {
            assert_ok(leat_path_remove_tree(dir, err));
            assert_ok(leat_path_make_dir(dir, err));
            assert_ok(leat_file_save(path, "old", 3, err));
            set_fault(at, stays);
            leat_code code = leat_file_save(path, "newer", 5, NULL);
            reached = clear_fault();
            assert_int_equal(code == LEAT_OK, !reached);
            core_image image = core_load(path);
            bool is_new = image.size_bytes == 5 && memcmp(image.data, "newer", 5) == 0;
            bool is_old = image.size_bytes == 3 && memcmp(image.data, "old", 3) == 0;
            assert_true(code == LEAT_OK ? is_new : is_new || is_old);
            free(image.data);
            assert_int_equal(dir_count(dir), 1);
        }
    }
}

static void into_new_folder(void **state) {
    (void)state;
    sweep_setting(&plain);
}

static void into_empty_folder(void **state) {
    (void)state;
    sweep_setting(&ordered);
}

static void without_spill(void **state) {
    (void)state;
    sweep_setting(&in_memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_files),
        cmocka_unit_test(into_new_folder),
        cmocka_unit_test(into_empty_folder),
        cmocka_unit_test(without_spill),
    };
    return cmocka_run_group_tests_name("faults of the ingest", tests, ingest_sweep_setup,
                                       core_teardown);
}
