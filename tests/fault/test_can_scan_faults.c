/*
 * The scan of vehicle logs with every allocation, call into the file system and start of a thread
 * failing in turn, once and for good: an error that says so, no counts, nothing left behind (a
 * sanitizer looks), and all frames as soon as nothing fails.
 */
#include "ingest/core_support.h"

#include <stdatomic.h>

#include "ingest/can/read/scan.h"
#include "points.h"

enum { LINES = 20000, BAD = 40, ZEROS = 8200 };

static leat_input_list inputs;
static const char *input_paths[2];
static atomic_long frames;

static leat_code count(void *context, int worker, const leat_can_batch *batch, leat_error *err) {
    (void)context;
    (void)worker;
    (void)err;
    atomic_fetch_add(&frames, batch->count);
    return LEAT_OK;
}

/* The second file begins with times of 0, more than a block has, and ends in what every line of has
 * to be set aside, and in a line that is cut: for both the file is read again. */
static void make_files(void) {
    FILE *csv = fopen(core_path("a.csv"), "w"), *log = fopen(core_path("b.log"), "w");
    assert_true(csv != NULL && log != NULL);
    fputs("timestamp,arbitration_id,data_field,attack\n", csv);
    for (int i = 0; i < LINES; i++) fprintf(csv, "%d.5,%03X,%04X,0\n", i, i % 2048, i);
    for (int i = 0; i < LINES; i++)
        fprintf(log, "(%d) can%d 123#%02X\n", i < ZEROS ? 0 : i, i % 2, i % 256);
    for (int i = 0; i < BAD; i++) fprintf(log, "(%d.25) can0 123#R\n", i);
    fprintf(log, "(%d) can0 123#", LINES);
    assert_int_equal(fclose(csv) | fclose(log), 0);
    const char *paths[] = {core_path("a.csv"), core_path("b.log")};
    assert_ok(leat_inputs_find(paths, 2, &leat_can_inputs, &inputs, err));
    for (int i = 0; i < 2; i++) input_paths[i] = inputs.items[i].path;
}

static leat_code scan(int threads, leat_can_file files[2], leat_error *err) {
    leat_can_scan_options options = {
        .lines = {.canonical = true, .strict = true}, .threads = threads, .batch = count};
    atomic_store(&frames, 0);
    LEAT_TRY(leat_reject_log_create(
        &options.rejects,
        &(leat_reject_options){&leat_can_rejects, input_paths, false, threads, 1 << 20, core_dir()},
        err));
    leat_code code = leat_can_scan(&inputs, &options, files, err);
    if (code == LEAT_OK) {
        code = leat_reject_log_save(options.rejects, core_path("rejected.csv"), err);
    }
    leat_reject_log_destroy(options.rejects);
    return code;
}

static void sweep(void **state) {
    (void)state;
    make_files();
    static const int threads[] = {1, 3};
    for (int setting = 0; setting < 4; setting++) {
        bool stays = setting % 2 == 1, reached = true;
        int workers = threads[setting / 2];
        long swept = 0;
        for (long n = 0; reached; n++, swept++) {
            leat_can_file files[2];
            leat_error err = {0};
            memset(files, 1, sizeof files);
            set_fault(n, stays);
            leat_code code = scan(workers, files, &err);
            reached = clear_fault();
            /* what is no longer needed may fail to be removed, and nothing else */
            assert_true(code != LEAT_OK || !reached || atomic_load(&fault_kind) == LEAT_FAULT_PATH);
            assert_int_equal(err.code, code);
            leat_path_list names = {0};
            assert_ok(leat_path_list_dir(core_dir(), &names, err));
            /* rejected.csv may be at its place and its folder not synced */
            if (!reached || (!stays && atomic_load(&fault_kind) != LEAT_FAULT_PATH)) {
                assert_in_range(names.count, code == LEAT_OK ? 3 : 2, 3);
            }
            leat_path_list_free(&names);
            assert_ok(leat_path_remove(core_path("rejected.csv"), err));
            assert_ok(leat_path_remove_drafts(core_dir(), err));
            if (code != LEAT_OK) {
                assert_int_not_equal(err.message[0], 0);
                continue;
            }
            assert_int_equal(atomic_load(&frames), 2 * LINES);
            assert_int_equal(files[0].frames, LINES);
            assert_int_equal(files[1].rejected[LEAT_CAN_REJECT_REMOTE], BAD);
            assert_int_equal(files[1].rejected[LEAT_CAN_REJECT_TRUNCATED], 1);
        }
        print_message("%d threads: %ld points\n", workers, swept);
        assert_true(swept > 15);
    }
    leat_input_list_free(&inputs);
    core_dir_remove();
}

/* A file that is refused is read again for the lines that the message shows. */
static void sweep_refused(void **state) {
    (void)state;
    FILE *log = fopen(core_path("c.log"), "w");
    assert_non_null(log);
    for (int i = 0; i < LINES; i++) fprintf(log, "(%d.25) can0 123#%02X\n", i, i % 256);
    for (int i = 0; i < LINES; i++) fprintf(log, "(%d.25) can0 123#0\n", i);
    assert_int_equal(fclose(log), 0);
    const char *paths[] = {core_path("c.log")};
    assert_ok(leat_inputs_find(paths, 1, &leat_can_inputs, &inputs, err));
    input_paths[0] = inputs.items[0].path;
    for (int setting = 0; setting < 4; setting++) {
        bool reached = true;
        long swept = 0;
        for (long n = 0; reached; n++, swept++) {
            leat_can_file files[2];
            leat_error err = {0};
            set_fault(n, setting % 2 == 1);
            leat_code code = scan(setting / 2 == 0 ? 1 : 3, files, &err);
            reached = clear_fault();
            assert_int_not_equal(code, LEAT_OK);
            assert_int_not_equal(err.message[0], 0);
            if (reached) continue;
            assert_int_equal(code, LEAT_ERR_INPUT);
            assert_non_null(strstr(err.message, "20000 of its 40000 lines are rejected as candump: "
                                                "line 20001 payload_unparsable: (0.25) can0 "
                                                "123#0; line 20002 "));
        }
        assert_true(swept > 15);
    }
    leat_input_list_free(&inputs);
    core_dir_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sweep), cmocka_unit_test(sweep_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
