/* See local.h. */
#include "local.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "train/train_support.h"

static int database_number;
static char database[32], run_path[512];

static void url_of(char *url, const char *login) {
    leat_pg_place place;
    cluster_place(&place, login, database);
    snprintf(url, LEAT_PG_URL_BYTES, "%s", place.url);
}

int local_setup(void **state) {
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
    const leat_host own = leat_host_own(), *host = self->host != NULL ? self->host : &own;
    self->code = leat_work_on(host, &self->options, &self->result, &self->err);
    atomic_store(&self->ended, true);
    return NULL;
}

static void prepare(helper *self, int number, const char *data) {
    *self = (helper){0};
    url_of(self->url, number % 2 == 0 ? "ann" : "bob");
    snprintf(self->machine, sizeof self->machine, "%032x", number + 1);
    self->options = (leat_work_options){.url = self->url,
                                        .data = data,
                                        .machine = self->machine,
                                        .secret = "secret",
                                        .name = "helper",
                                        .hardware = "cpu",
                                        .threads = 1,
                                        .poll_ms = 5,
                                        .progress = until_stopped,
                                        .user = self};
}

void helper_begin(helper *self) {
    assert_int_equal(pthread_create(&self->thread, NULL, helper_main, self), 0);
}

void helper_prepare(helper *self, int number) { prepare(self, number, train_data(LOCAL_IMAGES)); }

void helper_start(helper *self, int number) {
    helper_prepare(self, number);
    helper_begin(self);
}

void helper_start_bare(helper *self, int number) {
    prepare(self, number, NULL);
    helper_begin(self);
}

void helper_join(helper *self) {
    assert_int_equal(pthread_join(self->thread, NULL), 0);
    if (self->code != LEAT_OK && self->code != LEAT_ERR_CANCELLED)
        fail_msg("a worker: %s", self->err.message);
}

static leat_train_options small(void) {
    leat_train_options options = train_small();
    options.steps = LOCAL_STEPS;
    options.units = 3;
    options.codec_up = LEAT_CODEC_INT8;
    options.codec_down = LEAT_CODEC_BF16;
    return options;
}

const char *alone(int64_t steps) {
    static char hash[65];
    const leat_train_options options = small();
    leat_train_result result;
    leat_error err = {0};
    char name[32];
    snprintf(name, sizeof name, "alone-%d-%lld", database_number, (long long)steps);
    leat_train_options some = options;
    some.steps = steps;
    some.resume = true;
    if (leat_train("dcgan", train_data(LOCAL_IMAGES), train_path(name), &some, &result, &err) !=
        LEAT_OK)
        fail_msg("%s", err.message);
    snprintf(hash, sizeof hash, "%s", result.state);
    return hash;
}

leat_coordinate_options coordinator(char *url) {
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

bool stop_after(void *user, const leat_progress *progress) {
    const int64_t last = *(const int64_t *)user;
    leat_pg_rows *rows = NULL;
    if (progress->done < last) return true;
    leat_pg *pg = cluster_connect("owner", database);
    const leat_pg_value steps = LEAT_PG_I(last);
    const leat_code code =
        leat_pg_call(pg, &rows, (leat_pg_shape){1, 1, false},
                     "select exists (select from leat.run where step >= $1)", &steps, 1, NULL);
    const bool there = code == LEAT_OK && leat_pg_bool(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    leat_pg_close(pg);
    return !there;
}

static leat_code coordinate_so(bool serving, int64_t last, bool resume,
                               leat_coordinate_result *result, leat_error *err) {
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_options options = coordinator(url);
    options.serve_data = serving;
    options.train.resume = resume;
    options.train.progress = stop_after;
    options.train.user = &last;
    return leat_coordinate("dcgan", train_data(LOCAL_IMAGES), run_path, &options, result, err);
}

/* It is whole, and no step has more or fewer results than units. */
static void expect_ledger(void) {
    leat_run *run = NULL;
    leat_run_ledger ledger;
    assert_int_equal(leat_run_open(&run, run_path, NULL), LEAT_OK);
    assert_int_equal(leat_run_ledger_load(run, &ledger, NULL), LEAT_OK);
    assert_true(ledger.steps > 0);
    assert_int_equal(ledger.units, 3 * ledger.steps);
    leat_run_close(run);
}

leat_code coordinate(int64_t last, bool resume, leat_coordinate_result *result, leat_error *err) {
    return coordinate_so(false, last, resume, result, err);
}

leat_code coordinate_serving(int64_t last, bool resume, leat_coordinate_result *result,
                             leat_error *err) {
    return coordinate_so(true, last, resume, result, err);
}

void expect_end(const leat_coordinate_result *result) {
    leat_pg *pg = cluster_connect("owner", database);
    assert_string_equal(result->train.state, alone(LOCAL_STEPS));
    assert_string_equal(ask(pg, "select state from leat.run"), "finished");
    assert_string_equal(ask(pg, "select count(*) from leat.unit where state <> 'confirmed'"), "0");
    assert_string_equal(ask(pg, "select count(*) from leat.lease where state = 'live'"), "0");
    char text[65];
    snprintf(text, sizeof text, "%s", ask(pg, "select state_hash from leat.run"));
    assert_string_equal(text, result->train.state);
    leat_pg_close(pg);
    expect_ledger();
}

void expect_undisturbed(helper *workers, int count, const leat_coordinate_result *result) {
    int64_t accepted = 0;
    for (int k = 0; k < count; k++) {
        helper_join(&workers[k]);
        accepted += workers[k].result.accepted;
        assert_int_equal(workers[k].result.connections, 1);
    }
    assert_int_equal(result->refused, 0);
    assert_int_equal(result->arrived + result->own, 3 * LOCAL_STEPS);
    assert_int_equal(accepted, result->arrived);
    expect_end(result);
}

void start_all(helper *workers, int count) {
    for (int k = 0; k < count; k++) helper_start(&workers[k], k);
}

void join_all(helper *workers, int count) {
    for (int k = 0; k < count; k++) helper_join(&workers[k]);
}

const char *local_database(void) { return database; }
const char *local_run(void) { return run_path; }
const char *local_data(void) { return train_data(LOCAL_IMAGES); }
