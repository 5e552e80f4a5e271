/* Fault sweep over the merge of sorted runs, with passes: nothing is lost or left behind. */
#include "base/merge_records.h"
#include "ingest/core_support.h"
#include "sweep.h"

static leat_code write_and_merge(const void *of, leat_error *err) {
    enum { RUNS = 11, RECORDS = 90 };
    records it = {.runs = {.temp_dir = core_dir()}, .refuse_at = -1};
    leat_code code = LEAT_OK;
    (void)of;
    for (int i = 0; i < RUNS && code == LEAT_OK; i++)
        code = records_add_run(&it, RECORDS, 20, 900, err);
    if (code == LEAT_OK) code = records_merge(&it, 3, err);
    if (code == LEAT_OK) {
        assert_int_equal(it.taken, RUNS * RECORDS);
        assert_int_equal(it.runs.passes, 2);
    }
    leat_merge_runs_close(&it.runs);
    return code;
}

static void after(leat_code code) {
    (void)code;
    expect_no_drafts(core_dir());
}

static void merge_faults(void **state) {
    (void)state;
    const fault_sweep sweep = {
        .name = "merge", .work = write_and_merge, .after = after, .least = 100};
    sweep_faults(&sweep);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(merge_faults)};
    int failed = cmocka_run_group_tests_name("merge faults", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
