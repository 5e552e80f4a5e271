/* Faults of an ingest that finds a data set or work to resume, and of one with several threads. */
#include "ingest_sweep.h"

static const setting replaces = {
    .name = "replaces",
    .begins = REPLACES,
    .threads = 1,
    .max_row_bytes = 2000,
    .spill = LEAT_SPILL_ALWAYS,
    .step = 3,
};
static const setting resumes = {
    .name = "resumes",
    .begins = RESUMES,
    .threads = 1,
    .max_row_bytes = 2000,
    .step = 1,
};
static const setting threads = {
    .name = "threads",
    .threads = 3,
    .own_temp = true,
    .max_row_bytes = 2000,
    .spill = LEAT_SPILL_ALWAYS,
    .step = 2,
};

static void over_data(void **state) {
    (void)state;
    sweep_setting(&replaces);
}

static void over_work(void **state) {
    (void)state;
    sweep_setting(&resumes);
}

static void with_threads(void **state) {
    (void)state;
    threads_refused = 0;
    sweep_setting(&threads);
    assert_true(threads_refused > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_data),
        cmocka_unit_test(over_work),
        cmocka_unit_test(with_threads),
    };
    return cmocka_run_group_tests_name("faults of the ingest over what is there", tests,
                                       ingest_sweep_setup, core_teardown);
}
