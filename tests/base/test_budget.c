/* A budget of bytes under threads: never more is taken than there is, except by one alone; all get
 * through. */
/* TSan: threads take and return bytes. */
#include "base/budget.h"

#include <stdatomic.h>

#include "base/rng.h"
#include "base/thread.h"
#include "check.h"

enum { THREADS = 8, ROUNDS = 400, LIMIT = 100 };

static leat_budget budget;
static atomic_llong used, alone;

static void *take_and_return(void *argument) {
    uint64_t key = (uint64_t)(uintptr_t)argument;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        /* 0 .. 119: some need more than there is */
        int64_t bytes = (int64_t)leat_random_below(leat_random_at(key, i), 120);
        leat_budget_take(&budget, bytes);
        long long now = atomic_fetch_add(&used, bytes) + bytes;
        if (now > LIMIT && now != bytes) return "more was taken than there is";
        if (now > LIMIT) atomic_fetch_add(&alone, 1);
        atomic_fetch_sub(&used, bytes);
        leat_budget_return(&budget, bytes);
    }
    return NULL;
}

static void shared_by_threads(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    leat_budget_create(&budget, LIMIT);
    for (int i = 0; i < THREADS; i++)
        assert_ok(leat_thread_start(&threads[i], take_and_return, (void *)(uintptr_t)(i + 1), err));
    for (int i = 0; i < THREADS; i++) {
        void *problem = NULL;
        pthread_join(threads[i], &problem);
        if (problem != NULL) fail_msg("%s", (const char *)problem);
    }
    assert_int_equal(budget.used_bytes, 0);
    assert_true(atomic_load(&alone) > 0);
    leat_budget_destroy(&budget);
}

static void *raise_limit(void *argument) {
    (void)argument;
    leat_budget_set_limit(&budget, 200);
    return NULL;
}

/* One that waits continues when the limit grows. */
static void limit_raised(void **state) {
    (void)state;
    pthread_t thread;
    leat_budget_create(&budget, 100);
    leat_budget_take(&budget, 90);
    assert_ok(leat_thread_start(&thread, raise_limit, NULL, err));
    leat_budget_take(&budget, 90);
    assert_int_equal(budget.used_bytes, 180);
    pthread_join(thread, NULL);
    leat_budget_return(&budget, 180);
    leat_budget_return(&budget, 0);
    leat_budget_destroy(&budget);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shared_by_threads),
                                       cmocka_unit_test(limit_raised)};
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
