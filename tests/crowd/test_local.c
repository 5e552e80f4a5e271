/*
 * Training over lent machines gives the weights of one: a coordinator and workers as threads of
 * this program, over a real server, against the trainer alone.
 */
/* TSan: workers compute in a thread of their own, and the hold is kept by another. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "crowd/database.h"
#include "local.h"
#include "train/train_support.h"

static void many_are_one(void **state) {
    const int counts[] = {1, 3};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        helper workers[LOCAL_WORKERS_MAX];
        leat_coordinate_result result;
        leat_error err = {0};
        if (i > 0) local_setup(NULL);
        /* workers wait for a run that is not there yet: they are told so, and end */
        leat_pg *pg = cluster_connect("owner", local_database());
        assert_int_equal(leat_database_install(pg, &err), LEAT_OK);
        leat_pg_close(pg);
        for (int k = 0; k < counts[i]; k++) helper_start(&workers[k], k);
        for (int k = 0; k < counts[i]; k++) {
            pthread_join(workers[k].thread, NULL);
            assert_int_equal(workers[k].code, LEAT_ERR_NOT_FOUND);
        }
        if (coordinate(0, false, &result, &err) != LEAT_ERR_CANCELLED) fail_msg("%s", err.message);
        for (int k = 0; k < counts[i]; k++) helper_start(&workers[k], k);
        if (coordinate(LOCAL_STEPS + 1, true, &result, &err) != LEAT_OK)
            fail_msg("%s", err.message);
        expect_undisturbed(workers, counts[i], &result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(many_are_one, local_setup)};
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
