/*
 * Fault sweep over a thread pool: an allocation or the start of a thread fails. Then there is no
 * pool, and the threads that were started are gone (a leak checker sees their memory).
 */
#include "base/pool.h"
#include "sweep.h"

static leat_code add_one(void *context, int worker, int64_t part, leat_error *err) {
    (void)worker, (void)part, (void)err;
    atomic_fetch_add((atomic_int *)context, 1);
    return LEAT_OK;
}

static leat_code run_parts(const void *of, leat_error *err) {
    const int *threads = of;
    leat_pool *pool = NULL;
    atomic_int sum = 0;
    leat_pool_job job = {.parts = 20, .context = &sum, .make = add_one};
    leat_code code = leat_pool_create(&pool, *threads, err);
    if (code != LEAT_OK) {
        assert_null(pool);
        return code;
    }
    code = leat_pool_run(pool, &job, err); /* which has nothing that could fail */
    leat_pool_destroy(pool);
    assert_int_equal(code, LEAT_OK);
    assert_int_equal(atomic_load(&sum), 20);
    return LEAT_OK;
}

static void pool_faults(void **state) {
    (void)state;
    static const int counts[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fault_sweep sweep = {
            .name = "pool", .work = run_parts, .of = &counts[i], .least = counts[i]};
        sweep_faults(&sweep);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pool_faults)};
    return cmocka_run_group_tests_name("pool faults", tests, NULL, NULL);
}
