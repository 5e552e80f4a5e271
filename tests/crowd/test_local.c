/*
 * Training over lent machines gives the weights of one: a coordinator and workers as threads of
 * this program, over a real server, against the trainer alone. Workers that come and go, results
 * that are wrong, a coordinator that is stopped and resumed, from RUN, from the database, from
 * either alone.
 */
/* TSan: workers compute in a thread of their own, and the hold is kept by another. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster.h"
#include "crowd/store.h"
#include "leat/crowd.h"
#include "train/train_support.h"

enum { WORKERS_MAX = 4, IMAGES = 20, STEPS = 6 };

typedef struct helper {
    pthread_t thread;
    leat_work_options options;
    leat_work_result result;
    atomic_bool stop;
    leat_code code;
    leat_error err;
    char url[LEAT_PG_URL_BYTES], machine[33];
} helper;

static int database_number;
static char database[32], run_path[512];

static void url_of(char *url, const char *login) {
    leat_pg_place place;
    cluster_place(&place, login, database);
    snprintf(url, LEAT_PG_URL_BYTES, "%s", place.url);
}

static int setup(void **state) {
    char name[32];
    (void)state;
    snprintf(database, sizeof database, "local%d", database_number);
    snprintf(name, sizeof name, "run-%d", database_number++);
    snprintf(run_path, sizeof run_path, "%s", train_path(name));
    cluster_database(database);
    return 0;
}

static bool until_stopped(void *user, const leat_progress *progress) {
    (void)progress;
    return !atomic_load(&((helper *)user)->stop);
}

static void *helper_main(void *argument) {
    helper *self = argument;
    self->code = leat_work(&self->options, &self->result, &self->err);
    return NULL;
}

static void helper_start(helper *self, int number) {
    *self = (helper){0};
    url_of(self->url, number % 2 == 0 ? "ann" : "bob");
    snprintf(self->machine, sizeof self->machine, "%032x", number + 1);
    self->options = (leat_work_options){.url = self->url,
                                        .data = train_data(IMAGES),
                                        .machine = self->machine,
                                        .name = "helper",
                                        .hardware = "cpu",
                                        .threads = 1,
                                        .poll_ms = 5,
                                        .progress = until_stopped,
                                        .user = self};
    assert_int_equal(pthread_create(&self->thread, NULL, helper_main, self), 0);
}

static void helper_join(helper *self) {
    assert_int_equal(pthread_join(self->thread, NULL), 0);
    if (self->code != LEAT_OK && self->code != LEAT_ERR_CANCELLED)
        fail_msg("a worker: %s", self->err.message);
}

static leat_train_options small(void) {
    leat_train_options options = train_small();
    options.steps = STEPS;
    options.units = 3;
    options.codec_up = LEAT_CODEC_INT8;
    options.codec_down = LEAT_CODEC_BF16;
    return options;
}

/* What one machine computes. */
static const char *alone(int64_t steps) {
    static char hash[65];
    const leat_train_options options = small();
    leat_train_result result;
    leat_error err = {0};
    char name[32];
    snprintf(name, sizeof name, "alone-%d-%lld", database_number, (long long)steps);
    leat_train_options some = options;
    some.steps = steps;
    some.resume = true;
    if (leat_train("dcgan", train_data(IMAGES), train_path(name), &some, &result, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    snprintf(hash, sizeof hash, "%s", result.state);
    return hash;
}

static leat_coordinate_options coordinator(char *url) {
    leat_coordinate_options options = leat_coordinate_options_default();
    url_of(url, "owner");
    options.url = url;
    options.name = "local";
    options.train = small();
    options.part_bytes = 1024;
    options.poll_ms = 5;
    options.state_ms = 0;
    options.hold_ms = 2000;
    return options;
}

/* Once so many steps are done, and the database knows it; with 0, once the run is there. */
static bool stop_after(void *user, const leat_progress *progress) {
    const int64_t last = *(const int64_t *)user;
    leat_pg_rows *rows = NULL;
    if (progress->done < last) return true;
    leat_pg *pg = cluster_connect("owner", database);
    const leat_pg_value steps = LEAT_PG_I(last);
    const leat_code code = leat_pg_call(
        pg, &rows, false, "select exists (select from leat.run where step >= $1)", &steps, 1, NULL);
    const bool there = code == LEAT_OK && leat_pg_text(rows, 0, 0)[0] == 't';
    leat_pg_rows_destroy(rows);
    leat_pg_close(pg);
    return !there;
}

/* Coordinates up to a step; the code. */
static leat_code coordinate(int64_t last, bool resume, leat_coordinate_result *result,
                            leat_error *err) {
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_options options = coordinator(url);
    options.train.resume = resume;
    options.train.progress = stop_after;
    options.train.user = &last;
    return leat_coordinate("dcgan", train_data(IMAGES), run_path, &options, result, err);
}

static void expect_end(const leat_coordinate_result *result) {
    leat_pg *pg = cluster_connect("owner", database);
    assert_string_equal(result->train.state, alone(STEPS));
    assert_string_equal(ask(pg, "select state from leat.run"), "finished");
    assert_string_equal(ask(pg, "select count(*) from leat.unit where state <> 'confirmed'"), "0");
    assert_string_equal(ask(pg, "select count(*) from leat.lease where state = 'live'"), "0");
    char text[65];
    snprintf(text, sizeof text, "%s", ask(pg, "select state_hash from leat.run"));
    assert_string_equal(text, result->train.state);
    leat_pg_close(pg);
}

static void many_are_one(void **state) {
    const int counts[] = {1, 3};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        helper workers[WORKERS_MAX];
        leat_coordinate_result result;
        leat_error err = {0};
        int64_t accepted = 0;
        if (i > 0) setup(NULL);
        /* workers wait for a run that is not there yet: they are told so, and end */
        leat_pg *pg = cluster_connect("owner", database);
        assert_int_equal(leat_store_install(pg, &err), LEAT_OK);
        leat_pg_close(pg);
        for (int k = 0; k < counts[i]; k++) helper_start(&workers[k], k);
        for (int k = 0; k < counts[i]; k++) {
            pthread_join(workers[k].thread, NULL);
            assert_int_equal(workers[k].code, LEAT_ERR_NOT_FOUND);
        }
        if (coordinate(0, false, &result, &err) != LEAT_ERR_CANCELLED) fail_msg("%s", err.message);
        for (int k = 0; k < counts[i]; k++) helper_start(&workers[k], k);
        if (coordinate(STEPS + 1, true, &result, &err) != LEAT_OK) fail_msg("%s", err.message);
        for (int k = 0; k < counts[i]; k++) {
            helper_join(&workers[k]);
            accepted += workers[k].result.accepted;
            assert_int_equal(workers[k].result.connections, 1);
        }
        assert_int_equal(result.refused, 0);
        assert_int_equal(result.arrived + result.own, 3 * STEPS);
        assert_int_equal(accepted, result.arrived);
        expect_end(&result);
    }
}

/* Workers that go on whatever happens to the coordinator. */
static void start_all(helper *workers, int count) {
    for (int k = 0; k < count; k++) helper_start(&workers[k], k);
}

static void join_all(helper *workers, int count) {
    for (int k = 0; k < count; k++) helper_join(&workers[k]);
}

/* A coordinator that is stopped after each step, and continues with the folder, the database, or
 * both. */
static void resumed(bool lose_run, bool lose_database) {
    leat_coordinate_result result;
    leat_error err = {0};
    char command[700];
    if (coordinate(0, false, &result, &err) != LEAT_ERR_CANCELLED) fail_msg("%s", err.message);
    for (int64_t step = 1; step <= STEPS; step++) {
        helper workers[2];
        leat_code code;
        if (lose_run) {
            snprintf(command, sizeof command, "rm -rf '%s'", run_path);
            assert_int_equal(system(command), 0);
        }
        if (lose_database) {
            leat_pg *pg = cluster_connect("owner", database);
            tell(pg, "drop schema leat cascade");
            leat_pg_close(pg);
            /* a worker that is there before the coordinator has nothing to work on */
        }
        if (!lose_database) start_all(workers, 2);
        if (lose_database) { /* the coordinator makes the run again; then workers find it */
            assert_int_equal(coordinate(step - 1, true, &result, &err), LEAT_ERR_CANCELLED);
            start_all(workers, 2);
        }
        code = coordinate(step == STEPS ? STEPS + 1 : step, true, &result, &err);
        if (code != (step == STEPS ? LEAT_OK : LEAT_ERR_CANCELLED))
            fail_msg("step %lld: %s", (long long)step, err.message);
        for (int k = 0; k < 2; k++) atomic_store(&workers[k].stop, true);
        join_all(workers, 2);
    }
    expect_end(&result);
}

static void resumed_from_both(void **state) {
    (void)state;
    resumed(false, false);
}

static void resumed_from_the_folder(void **state) {
    (void)state;
    resumed(false, true);
}

static void resumed_from_the_database(void **state) {
    (void)state;
    resumed(true, false);
}

static bool stop_when_open(void *user, const leat_progress *progress) {
    leat_pg *pg = cluster_connect("owner", database);
    const bool open = strcmp(ask(pg, "select state from leat.run"), "open") == 0;
    (void)user, (void)progress;
    leat_pg_close(pg);
    return !open;
}

/* A finished run goes on to a later end; parts keep the size that they had, whatever the option. */
static void longer(void **state) {
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_result result;
    leat_error err = {0};
    helper workers[2];
    (void)state;
    assert_int_equal(coordinate(0, false, &result, &err), LEAT_ERR_CANCELLED);
    start_all(workers, 2);
    if (coordinate(STEPS + 1, true, &result, &err) != LEAT_OK) fail_msg("%s", err.message);
    join_all(workers, 2);
    leat_coordinate_options options = coordinator(url);
    options.train.resume = true;
    options.train.steps = STEPS + 2;
    options.part_bytes = 4096;
    options.lease_ms = 77000;
    options.train.progress = stop_when_open;
    assert_int_equal(
        leat_coordinate("dcgan", train_data(IMAGES), run_path, &options, &result, &err),
        LEAT_ERR_CANCELLED);
    start_all(workers, 2);
    options.train.progress = NULL;
    if (leat_coordinate("dcgan", train_data(IMAGES), run_path, &options, &result, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    join_all(workers, 2);
    assert_string_equal(result.train.state, alone(STEPS + 2));
    leat_pg *pg = cluster_connect("owner", database);
    assert_string_equal(ask(pg, "select state from leat.run"), "finished");
    assert_string_equal(ask(pg, "select lease_ms from leat.run"), "77000");
    assert_string_equal(ask(pg, "select part_bytes from leat.run"), "1024");
    leat_pg_close(pg);
}

/* The name in the database: given, or that of the folder. */
static void names(void **state) {
    const char *const bad[] = {"", "a b", "a/b", "\xc3\xa9",
                               "12345678901234567890123456789012345678901234567890123456789012345"};
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_options options = coordinator(url);
    leat_coordinate_result result;
    leat_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.name = bad[i];
        assert_int_equal(
            leat_coordinate("dcgan", train_data(IMAGES), run_path, &options, &result, &err),
            LEAT_ERR_OPTION);
        assert_non_null(strstr(err.message, "name: "));
    }
    int64_t last = 0;
    options.name = NULL;
    options.train.progress = stop_after;
    options.train.user = &last;
    char path[512];
    snprintf(path, sizeof path, "%s//", train_path("faces of \xc3\xa9 2"));
    assert_int_equal(leat_coordinate("dcgan", train_data(IMAGES), path, &options, &result, &err),
                     LEAT_ERR_CANCELLED);
    leat_pg *pg = cluster_connect("owner", database);
    assert_string_equal(ask(pg, "select name from leat.run"), "faces-of----2");
    leat_pg_close(pg);
    /* the settings of that run, for a coordinator that has lost its folder */
    leat_train_options train = leat_train_options_default();
    if (leat_coordinate_settings(&options, path, &train, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(train.steps, STEPS);
    assert_int_equal(train.codec_up, LEAT_CODEC_INT8);
    options.name = "none";
    assert_int_equal(leat_coordinate_settings(&options, path, &train, &err), LEAT_ERR_NOT_FOUND);
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
             database);
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
    if (coordinate(0, false, &result, &err) != LEAT_ERR_CANCELLED) fail_msg("%s", err.message);
    start_all(workers, 3);
    assert_int_equal(pthread_create(&of.thread, NULL, chaos_main, &of), 0);
    const leat_code code = coordinate(STEPS + 1, true, &result, &err);
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

/* ---- who may not take part ----------------------------------------------------------------------
 */

static void other_machines(void **state) {
    const struct {
        const char *sql, *says;
    } cases[] = {{"update leat.run set data = 'other'", "its data set (fingerprint) is "},
                 {"update leat.run set model_hash = 'other'", "its model (hash) is "},
                 {"update leat.run set kernel_class = 'other'", "its kernel class is "},
                 {"update leat.run set leat_version = 'other'", "its version of leat is "},
                 {"update leat.run set payload_bytes = 77", "sizes are not those"}};
    leat_coordinate_result result;
    leat_error err = {0};
    (void)state;
    if (coordinate(0, false, &result, &err) != LEAT_ERR_CANCELLED) fail_msg("%s", err.message);
    leat_pg *pg = cluster_connect("owner", database);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        helper worker;
        tell(pg, "create table public.keep as select * from leat.run");
        tell(pg, cases[i].sql);
        helper_start(&worker, 0);
        pthread_join(worker.thread, NULL);
        assert_int_equal(worker.code, LEAT_ERR_OPTION);
        if (strstr(worker.err.message, cases[i].says) == NULL) fail_msg("%s", worker.err.message);
        tell(pg, "update leat.run r set data = k.data, model_hash = k.model_hash, kernel_class = "
                 "k.kernel_class, leat_version = k.leat_version, payload_bytes = k.payload_bytes "
                 "from public.keep k; drop table public.keep");
    }
    leat_pg_close(pg);
    /* a coordinator with other settings */
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_options options = coordinator(url);
    options.train.resume = true;
    options.train.learning_rate *= 2;
    assert_int_equal(
        leat_coordinate("dcgan", train_data(IMAGES), train_path("other"), &options, &result, &err),
        LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "other data, another model or other settings"));
    options.train.learning_rate /= 2;
    options.train.resume = false;
    assert_int_equal(
        leat_coordinate("dcgan", train_data(IMAGES), train_path("third"), &options, &result, &err),
        LEAT_ERR_EXISTS);
    assert_non_null(strstr(err.message, "--resume"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(many_are_one, setup),
        cmocka_unit_test_setup(resumed_from_both, setup),
        cmocka_unit_test_setup(resumed_from_the_folder, setup),
        cmocka_unit_test_setup(resumed_from_the_database, setup),
        cmocka_unit_test_setup(longer, setup),
        cmocka_unit_test_setup(names, setup),
        cmocka_unit_test_setup(connections_that_end, setup),
        cmocka_unit_test_setup(servers_that_crash, setup),
        cmocka_unit_test_setup(other_machines, setup),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
