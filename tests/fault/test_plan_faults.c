/* Fault sweep over a table of plans: the n-th allocation fails, and the table is then empty. */
#include "leat/crowd.h"
#include "sweep.h"

static leat_code work(const void *of, leat_error *err) {
    leat_crowd_plan_options options = leat_crowd_plan_options_default();
    leat_crowd_plan_table table;
    (void)of;
    options.workers = 2;
    options.unit_seconds = 1;
    const leat_code code = leat_crowd_plan(&options, &table, err);
    assert_true((code == LEAT_OK) == (table.count > 0));
    return code;
}

static void failing(void **state) {
    const fault_sweep sweep = {.name = "plan", .work = work, .least = 8};
    (void)state;
    sweep_step = 7; /* each run of the table allocates the same */
    sweep_faults(&sweep);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
