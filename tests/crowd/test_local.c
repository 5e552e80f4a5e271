/*
 * Training over lent machines gives the weights of one: a coordinator and workers as threads of
 * this program, over a real server, against the trainer alone; connections that end and servers
 * that crash meanwhile.
 */
/* TSan: workers compute in a thread of their own, and the hold is kept by another. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crowd/store.h"
#include "local.h"
#include "train/train_support.h"

static void many_are_one(void **state) {
    const int counts[] = {1, 3};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        helper workers[LOCAL_WORKERS_MAX];
        leat_coordinate_result result;
        leat_error err = {0};
        int64_t accepted = 0;
        if (i > 0) local_setup(NULL);
        /* workers wait for a run that is not there yet: they are told so, and end */
        leat_pg *pg = cluster_connect("owner", local_database());
        assert_int_equal(leat_store_install(pg, &err), LEAT_OK);
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
        for (int k = 0; k < counts[i]; k++) {
            helper_join(&workers[k]);
            accepted += workers[k].result.accepted;
            assert_int_equal(workers[k].result.connections, 1);
        }
        assert_int_equal(result.refused, 0);
        assert_int_equal(result.arrived + result.own, 3 * LOCAL_STEPS);
        assert_int_equal(accepted, result.arrived);
        expect_end(&result);
    }
}

/* ---- connections and servers that end ----------------------------------------------------------
 */

typedef struct chaos {
    pthread_t thread;
    atomic_bool quit;
    bool crash; /* the server, not connections */
    int64_t done;
} chaos;

/* Ends a connection at a time, whatever it does; or the server. */
static void *chaos_main(void *argument) {
    chaos *self = argument;
    leat_pg *pg = self->crash ? NULL : cluster_connect("owner", "postgres");
    char sql[300];
    snprintf(sql, sizeof sql,
             "select pg_terminate_backend(pid) from pg_stat_activity where datname = '%s' order by "
             "random() limit 1",
             local_database());
    while (!atomic_load(&self->quit)) {
        usleep(self->crash ? 300000 : 50000);
        if (self->done >= (self->crash ? 3 : 60)) continue; /* the server is this thread's */
        if (self->crash) cluster_crash();
        else tell(pg, sql);
        self->done++;
    }
    leat_pg_close(pg);
    return NULL;
}

static void under_chaos(bool crash) {
    helper workers[3];
    chaos of = {.crash = crash};
    leat_coordinate_result result;
    leat_error err = {0};
    int64_t connections = 0;
    if (coordinate_serving(0, false, &result, &err) != LEAT_ERR_CANCELLED)
        fail_msg("%s", err.message);
    start_all(workers, 2);
    helper_start_bare(&workers[2], 2);
    assert_int_equal(pthread_create(&of.thread, NULL, chaos_main, &of), 0);
    const leat_code code = coordinate(LOCAL_STEPS + 1, true, &result, &err);
    atomic_store(&of.quit, true);
    pthread_join(of.thread, NULL);
    if (crash) cluster_crash(); /* for the next test */
    if (code != LEAT_OK) fail_msg("%s", err.message);
    join_all(workers, 3);
    for (int k = 0; k < 3; k++) connections += workers[k].result.connections;
    print_message("%lld ended; %lld connections of the coordinator, %lld of workers\n",
                  (long long)of.done, (long long)result.connections, (long long)connections);
    expect_end(&result);
}

static void connections_that_end(void **state) {
    (void)state;
    under_chaos(false);
}

static void servers_that_crash(void **state) {
    (void)state;
    under_chaos(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(many_are_one, local_setup),
        cmocka_unit_test_setup(connections_that_end, local_setup),
        cmocka_unit_test_setup(servers_that_crash, local_setup),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
