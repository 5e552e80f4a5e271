/* As test_local.c: while connections end, one after the other, and while the server crashes. */
/* TSan: as there; what a thread does after its connection has ended. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crowd/database.h"
#include "local.h"
#include "train/train_support.h"

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
        cmocka_unit_test_setup(connections_that_end, local_setup),
        cmocka_unit_test_setup(servers_that_crash, local_setup),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
