/*
 * A data set that a run keeps in the database: what the functions of the schema give and refuse,
 * and workers without a data set, who compute the weights of one machine that has it.
 */
/* No TSan: test_local.c has a worker without data. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "local.h"
#include "train/train_support.h"
#include "world.h"

/* ---- functions of the schema --------------------------------------------------------------------
 */

enum { SAMPLE = 300, MOST = PART / SAMPLE, SAMPLES = 1000 };

/* The bytes of `count` samples from `first` on. */
static const uint8_t *samples(int64_t first, int64_t count) {
    static uint8_t bytes[SAMPLE * (MOST + 1)];
    for (int64_t i = 0; i < count * SAMPLE; i++)
        bytes[i] = (uint8_t)((first + i / SAMPLE) * 31 + i % SAMPLE);
    return bytes;
}

static int64_t serve(world *of) {
    leat_error err = {0};
    int64_t count = -1;
    must(leat_database_serve_data(of->owner, &of->hold, SAMPLE, &count, &err), &err);
    return count;
}

static leat_code put_samples(world *of, int64_t first, int64_t bytes) {
    leat_error err = {0};
    return leat_database_put_data(of->owner, &of->hold, first, samples(first, MOST + 1), bytes,
                                  &err);
}

static void stored_in_order(void **state) {
    world *of = *state;
    leat_database_position at;
    leat_error err = {0};
    int64_t count = 0;
    assert_int_equal(put_samples(of, 0, SAMPLE), LEAT_ERR_OPTION); /* not served */
    assert_int_equal(serve(of), 0);
    assert_int_equal(leat_database_serve_data(of->owner, &of->hold, SAMPLE + 1, &count, &err),
                     LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "have 300 bytes each"));
    must(leat_database_look(of->owner, of->hold.run, &at, &err), &err);
    assert_int_equal(at.sample_bytes, SAMPLE);
    const struct {
        int64_t first, bytes;
    } wrong[] = {
        {1, SAMPLE},  {0, SAMPLE - 1},   {0, SAMPLE + 1},          {0, 0}, {0, (MOST + 1) * SAMPLE},
        {-1, SAMPLE}, {SAMPLES, SAMPLE}, {SAMPLES - 1, 2 * SAMPLE}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(put_samples(of, wrong[i].first, wrong[i].bytes), LEAT_ERR_OPTION);
    assert_int_equal(serve(of), 0);
    assert_int_equal(put_samples(of, 0, MOST * SAMPLE), LEAT_OK);
    assert_int_equal(serve(of), MOST);
    tell(of->owner,
         "create table public.before as select sample, xmin::text as version from leat.data_1");
    assert_int_equal(put_samples(of, MOST + 1, SAMPLE), LEAT_ERR_OPTION); /* a gap */
    assert_int_equal(put_samples(of, 1, MOST * SAMPLE), LEAT_OK);         /* one of them is new */
    assert_int_equal(serve(of), MOST + 1);
    assert_string_equal(ask(of->owner, "select count(*) from leat.data_1 d join public.before b "
                                       "on b.sample = d.sample and b.version = d.xmin::text"),
                        "3"); /* what was there was not written again */
    assert_string_equal(ask(of->owner, "select attstorage from pg_attribute where attrelid = "
                                       "'leat.data_1'::regclass and attname = 'bytes'"),
                        "e");
    /* another coordinator has taken over */
    of->hold.fence--;
    assert_int_equal(put_samples(of, MOST + 1, SAMPLE), LEAT_ERR_BUSY);
    assert_int_equal(leat_database_serve_data(of->owner, &of->hold, SAMPLE, &count, &err),
                     LEAT_ERR_BUSY);
    tell(of->owner, "select leat.drop_run(1)");
    assert_string_equal(ask(of->owner, "select to_regclass('leat.data_1') is null"), "t");
}

/* Samples that ann asks for: their bytes, or the failure. */
static leat_code fetch(world *of, const int64_t *numbers, int64_t count, leat_error *err) {
    uint8_t bytes[SAMPLE * MOST];
    leat_code code = leat_database_samples(of->ann, of->hold.run, numbers, count, bytes,
                                           (count < MOST ? count : MOST) * SAMPLE, err);
    for (int64_t i = 0; code == LEAT_OK && i < count; i++)
        assert_memory_equal(bytes + i * SAMPLE, samples(numbers[i], 1), SAMPLE);
    return code;
}

static void refused(leat_pg *pg, const char *sql, const char *words) {
    leat_error err = {0};
    assert_int_equal(leat_pg_script(pg, sql, &err), LEAT_ERR_INPUT);
    if (strstr(err.message, words) == NULL) fail_msg("%s: %s", sql, err.message);
}

static void fetched_as_asked(void **state) {
    world *of = *state;
    const int64_t some[] = {3, 0, 3, 4}, low[] = {-1}, high[] = {SAMPLES}, last[] = {SAMPLES - 1};
    uint8_t byte;
    leat_error err = {0};
    assert_int_equal(fetch(of, some, 3, &err), LEAT_ERR_NOT_FOUND); /* not served */
    serve(of);
    assert_int_equal(fetch(of, some, 3, &err), LEAT_ERR_NOT_FOUND);
    assert_int_equal(put_samples(of, 0, MOST * SAMPLE), LEAT_OK);
    assert_int_equal(put_samples(of, MOST, SAMPLE), LEAT_OK);
    must(fetch(of, some, 3, &err), &err);
    must(fetch(of, some + 1, 1, &err), &err);
    assert_int_equal(fetch(of, some + 2, 2, &err), LEAT_ERR_NOT_FOUND); /* 4 is not there yet */
    assert_non_null(strstr(err.message, "not completely in the database"));
    assert_int_equal(fetch(of, last, 1, &err), LEAT_ERR_NOT_FOUND);
    assert_int_equal(fetch(of, low, 1, &err), LEAT_ERR_OPTION);
    assert_int_equal(fetch(of, high, 1, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "not among the 1000 of the run"));
    assert_int_equal(fetch(of, some, 0, &err), LEAT_ERR_OPTION);
    assert_int_equal(fetch(of, some, 4, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "4 samples are asked for; 1 to 3 can be"));
    assert_int_equal(leat_database_samples(of->ann, of->hold.run, some, 1, &byte, 1, &err),
                     LEAT_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "300 bytes instead of 1"));
    refused(of->ann, "select leat.samples(1, '{1,null}')", "not among");
    refused(of->ann, "select leat.samples(1, '{{1,2}}')", "1 to 3 can be");
    refused(of->ann, "select leat.samples(1, null)", "0 samples are asked for");
    assert_string_equal(ask(of->ann, "select leat.samples(7, '{1}') is null"), "t");
    /* the owner's alone */
    refused(of->ann, "select * from leat.data_1", "permission denied");
    refused(of->ann, "select leat.put_data(1, 1, 1, 0, '')", "permission denied");
    refused(of->ann, "select leat.serve_data(1, 1, 1, 1)", "permission denied");
    refused(of->ann, "select leat.data_count(1)", "permission denied");
    tell(of->owner, "drop table leat.data_1");
    assert_int_equal(fetch(of, some, 1, &err), LEAT_ERR_NOT_FOUND);
}

static leat_code put_list(world *of, const uint8_t *bytes, int64_t size) {
    leat_error err = {0};
    leat_code code = LEAT_OK;
    for (int64_t first = 0; code == LEAT_OK && first < size; first += PART)
        code = leat_database_put_list(of->owner, &of->hold, first / PART, bytes + first,
                                      size - first < PART ? size - first : PART, &err);
    return code == LEAT_OK ? leat_database_keep_list(of->owner, &of->hold, size, &err) : code;
}

/* The list of the samples, in parts; another one takes its place. */
static void listed(void **state) {
    world *of = *state;
    uint8_t list[3 * PART], got[sizeof list];
    leat_database_position at;
    leat_database_run run = {.id = of->hold.run, .part_bytes = PART, .list_bytes = sizeof list};
    leat_error err = {0};
    for (size_t i = 0; i < sizeof list; i++) list[i] = (uint8_t)(i * 7 >> 3);
    assert_int_equal(leat_database_list(of->ann, &run, got, &err), LEAT_ERR_NOT_FOUND);
    for (int64_t parts = 3; parts >= 2; parts--) {
        run.list_bytes = parts * PART - (parts == 3);
        assert_int_equal(put_list(of, list + 3 - parts, run.list_bytes), LEAT_OK);
        must(leat_database_look(of->owner, of->hold.run, &at, &err), &err);
        assert_int_equal(at.list_bytes, run.list_bytes);
        must(leat_database_list(of->ann, &run, got, &err), &err);
        assert_memory_equal(got, list + 3 - parts, run.list_bytes);
    }
    run.list_bytes--;
    assert_int_equal(leat_database_list(of->ann, &run, got, &err), LEAT_ERR_CORRUPT);
    run.list_bytes += 2;
    assert_int_equal(leat_database_list(of->ann, &run, got, &err), LEAT_ERR_NOT_FOUND);
    /* not complete: not there */
    tell(of->owner, "select leat.put_list(1, fence, epoch, 0, 'abc') from leat.run");
    refused(of->owner, "select leat.keep_list(1, fence, epoch, 4) from leat.run", "3 bytes");
    assert_string_equal(ask(of->ann, "select leat.fetch_list(1, 0) is null"), "t");
    assert_string_equal(ask(of->ann, "select leat.fetch_list(7, 0) is null"), "t");
    refused(of->ann, "select * from leat.list_1", "permission denied");
    refused(of->ann, "select leat.put_list(1, 1, 1, 0, '')", "permission denied");
    refused(of->ann, "select leat.keep_list(1, 1, 1, 0)", "permission denied");
    of->hold.fence--;
    assert_int_equal(put_list(of, list, 5), LEAT_ERR_BUSY);
    tell(of->owner, "select leat.drop_run(1)");
    assert_string_equal(ask(of->owner, "select to_regclass('leat.list_1') is null"), "t");
}

/* One that is larger than a part travels alone. */
static void samples_larger_than_parts(void **state) {
    world *of = *state;
    uint8_t large[2 * PART] = {1, 2, 3}, bytes[2 * PART];
    const int64_t numbers[] = {0, 0};
    leat_error err = {0};
    int64_t count = 0;
    must(leat_database_serve_data(of->owner, &of->hold, sizeof large, &count, &err), &err);
    assert_int_equal(leat_database_samples_most(PART, sizeof large), 1);
    must(leat_database_put_data(of->owner, &of->hold, 0, large, sizeof large, &err), &err);
    must(leat_database_samples(of->bob, of->hold.run, numbers, 1, bytes, sizeof bytes, &err), &err);
    assert_memory_equal(bytes, large, sizeof large);
    assert_int_equal(
        leat_database_samples(of->bob, of->hold.run, numbers, 2, bytes, sizeof bytes, &err),
        LEAT_ERR_OPTION);
}

static void units_ahead(void **state) {
    world *of = *state;
    leat_database_lease lease, ahead;
    leat_error err = {0};
    assert_int_equal(leat_database_claim_ahead(of->ann, of->hold.run, M1, 0, &lease, &err),
                     LEAT_ERR_NOT_FOUND); /* not registered */
    join(of->ann, M1);
    lease = get(of, of->ann, M1, 0, false);
    ahead = claim_ahead(of, of->ann, M1, lease.lease);
    assert_int_equal(ahead.unit, 1);
    assert_string_equal(ahead.weights, HASH64);
    deliver(of, of->ann, &lease);
    /* the last ready unit is that of another machine */
    join_and_ask(of, of->bob, M2);
    lease = claim_ahead(of, of->ann, M1, ahead.lease);
    assert_int_equal(lease.lease, 0);
    assert_string_equal(lease.run_state, "open");
    assert_string_equal(renew(of->ann, &ahead), "");
    pass(of, 121); /* that machine is gone */
    lease = claim_ahead(of, of->ann, M1, ahead.lease);
    assert_int_equal(lease.unit, 2);
    assert_string_equal(renew(of->ann, &ahead), "");
    /* nothing is ready: no copies ahead */
    pass(of, 1000);
    assert_int_equal(claim_ahead(of, of->ann, M1, ahead.lease).lease, 0);
    tell(of->owner, "update leat.run set state = 'paused'");
    assert_string_equal(claim_ahead(of, of->ann, M1, 0).run_state, "paused");
}

/* ---- workers without data -----------------------------------------------------------------------
 */

/* Machines without data, and both kinds together. */
static void the_same_weights(void **state) {
    (void)state;
    for (int with = 0; with < 2; with++) {
        helper workers[3];
        leat_coordinate_result result;
        leat_error err = {0};
        if (with > 0) local_setup(NULL);
        if (coordinate_serving(0, false, &result, &err) != LEAT_ERR_CANCELLED)
            fail_msg("%s", err.message);
        for (int k = 0; k < 3; k++)
            if (k < with) helper_start(&workers[k], k);
            else helper_start_bare(&workers[k], k);
        if (coordinate(LOCAL_STEPS + 1, true, &result, &err) != LEAT_OK)
            fail_msg("%s", err.message);
        expect_undisturbed(workers, 3, &result);
        leat_pg *pg = cluster_connect("owner", local_database());
        assert_string_equal(ask(pg, "select count(*) from leat.data_1"), "20");
        leat_pg_close(pg);
    }
}

/* ---- the upload --------------------------------------------------------------------------------
 */

/* What a coordinator that stores its data does, and its lines. */
typedef struct uploading {
    int64_t until; /* it is stopped, or its connections end, once so many images are stored */
    bool cut;      /* these */
    bool once;     /* it is stopped once all are stored */
    int64_t last;  /* for stop_after */
    int64_t cuts;
    bool seen;
    char said[4096];
} uploading;

static void hear(void *user, const char *line) {
    uploading *self = user;
    const size_t used = strlen(self->said);
    snprintf(self->said + used, sizeof self->said - used, "%s\n", line);
}

static bool watch(void *user, const leat_progress *progress) {
    uploading *self = user;
    if (strcmp(progress->stage, "storing the data set") != 0)
        return self->once ? !self->seen : stop_after(&self->last, progress);
    self->seen = true;
    if (progress->done < self->until * LEAT_IMAGE_VALUES) return true;
    if (!self->cut) return false;
    if (self->cuts > 0) return true;
    leat_pg *pg = cluster_connect("owner", local_database());
    self->cuts += strtoll(ask(pg, "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                                  "where application_name like 'leat coordinate%'"),
                          NULL, 10);
    leat_pg_close(pg);
    return true;
}

static leat_code upload(uploading *of, bool serve_data, bool resume, leat_coordinate_result *result,
                        leat_error *err) {
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_options options = coordinator(url);
    options.serve_data = serve_data;
    options.train.resume = resume;
    options.train.progress = watch;
    options.train.user = options.user = of;
    options.say = hear;
    return leat_coordinate("dcgan", local_data(), local_run(), &options, result, err);
}

static void heard(const uploading *of, const char *words, bool wanted) {
    if ((strstr(of->said, words) != NULL) != wanted) fail_msg("\"%s\": %s", words, of->said);
}

/* Stopped while it stores the data, it continues after what is there, whether it is told to serve
 * it or not; workers wait until all of it is there. */
static void interrupted(void **state) {
    uploading first = {.until = 5}, second = {.until = 100, .last = LOCAL_STEPS + 1};
    leat_coordinate_result result;
    leat_error err = {0};
    helper worker;
    (void)state;
    assert_int_equal(upload(&first, true, false, &result, &err), LEAT_ERR_CANCELLED);
    heard(&first, "the database: 20 images, 0.2 MB\n", true);
    heard(&first, "is open at step", false);
    leat_pg *pg = cluster_connect("owner", local_database());
    assert_string_equal(ask(pg, "select count(*) from leat.data_1"), "5");
    assert_string_equal(ask(pg, "select step from leat.run"), "-1");
    tell(pg, "create table public.before as select sample, xmin::text as version from leat.data_1");
    helper_start_bare(&worker, 0);
    assert_int_equal(upload(&second, false, true, &result, &err), LEAT_OK);
    heard(&second, "5 of them are there", true);
    heard(&second, "the data set is in the database", true);
    heard(&second, "?run=local", true);
    heard(&second, "--data", false); /* the line that lends a machine */
    helper_join(&worker);
    assert_string_equal(ask(pg, "select count(*) from leat.data_1 d join public.before b on "
                                "b.sample = d.sample and b.version = d.xmin::text"),
                        "5");
    leat_pg_close(pg);
    assert_int_equal(worker.result.accepted, result.arrived);
    expect_end(&result);
}

/* The connections of the coordinator end meanwhile. */
static void cut_off(void **state) {
    uploading of = {.until = 7, .cut = true};
    leat_coordinate_result result;
    leat_error err = {0};
    (void)state;
    assert_int_equal(upload(&of, true, false, &result, &err), LEAT_ERR_CANCELLED);
    assert_true(of.cuts >= 1);
    assert_true(result.connections >= 2);
    heard(&of, "7 of them are there", true);
    leat_pg *pg = cluster_connect("owner", local_database());
    assert_string_equal(ask(pg, "select count(*) from leat.data_1"), "20");
    assert_string_equal(ask(pg, "select step from leat.run"), "0");
    leat_pg_close(pg);
}

/* A run that began without, in a database that is lost later. */
static void served_later(void **state) {
    uploading of = {.until = 100, .once = true}, again = of;
    leat_coordinate_result result;
    leat_error err = {0};
    helper worker;
    (void)state;
    assert_int_equal(coordinate(0, false, &result, &err), LEAT_ERR_CANCELLED);
    helper_start_bare(&worker, 0);
    pthread_join(worker.thread, NULL);
    assert_int_equal(worker.code, LEAT_ERR_OPTION);
    assert_non_null(strstr(worker.err.message, "does not keep its data set in the database"));
    assert_int_equal(upload(&of, true, true, &result, &err), LEAT_ERR_CANCELLED);
    heard(&of, "20 images, 0.2 MB\n", true);
    leat_pg *pg = cluster_connect("owner", local_database());
    tell(pg, "drop schema leat cascade");
    assert_int_equal(upload(&again, true, true, &result, &err), LEAT_ERR_CANCELLED);
    heard(&again, "20 images, 0.2 MB\n", true);
    assert_string_equal(ask(pg, "select count(*) from leat.data_1"), "20");
    leat_pg_close(pg);
    helper_start_bare(&worker, 0);
    assert_int_equal(coordinate(LOCAL_STEPS + 1, true, &result, &err), LEAT_OK);
    helper_join(&worker);
    expect_end(&result);
}

/* ---- what a worker receives ---------------------------------------------------------------------
 */

/* Samples that are not there are waited for; others than those asked for end the worker. */
static void what_comes_is_checked(void **state) {
    static const char replace[] =
        "create or replace function leat.samples(p_run bigint, p_samples bigint[]) returns bytea "
        "language plpgsql security definer as $$ begin %s end $$";
    const struct {
        const char *body, *says;
        leat_code code;
    } cases[] = {
        {"return '\\x00';", "1 samples of the database have 1 bytes instead of 12288",
         LEAT_ERR_CORRUPT},
        {"raise exception 'no more' using errcode = '22023';", "no more", LEAT_ERR_OPTION}};
    leat_coordinate_result result;
    leat_error err = {0};
    helper worker;
    char sql[500];
    (void)state;
    assert_int_equal(coordinate_serving(0, false, &result, &err), LEAT_ERR_CANCELLED);
    leat_pg *pg = cluster_connect("owner", local_database());
    tell(pg, "create table public.keep as select pg_get_functiondef('leat.samples'::regproc) sql");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(sql, sizeof sql, replace, cases[i].body);
        tell(pg, sql);
        helper_start_bare(&worker, 0);
        pthread_join(worker.thread, NULL);
        assert_int_equal(worker.code, cases[i].code);
        if (strstr(worker.err.message, cases[i].says) == NULL) fail_msg("%s", worker.err.message);
        assert_string_equal(ask(pg, "select count(*) from leat.lease where state = 'live'"), "0");
    }
    tell(pg, "do $$ begin execute (select sql from public.keep); end $$; delete from leat.data_1");
    helper_start_bare(&worker, 0);
    while (strtoll(ask(pg, "select count(*) from leat.lease where state = 'released'"), NULL, 10) <
           5)
        usleep(2000);
    /* the coordinator stores what is missing */
    assert_int_equal(coordinate(LOCAL_STEPS + 1, true, &result, &err), LEAT_OK);
    helper_join(&worker);
    leat_pg_close(pg);
    expect_end(&result);
}

/* Once two steps are done, and a unit was claimed while another one was computed. */
static bool until_ahead(void *user, const leat_progress *progress) {
    (void)progress;
    if (atomic_load(&((helper *)user)->ended)) return false;
    leat_pg *pg = cluster_connect("owner", local_database());
    const bool ends = ask(pg, "select exists (select from leat.run where step >= 2) and exists "
                              "(select from public.ahead)")[0] == 't';
    leat_pg_close(pg);
    return !ends;
}

/* While samples are fetched, their lease is renewed between the calls; and the next unit's are
 * fetched while one is computed. */
static void between_calls(void **state) {
    char url[LEAT_PG_URL_BYTES];
    leat_coordinate_result result;
    leat_error err = {0};
    helper worker;
    (void)state;
    assert_int_equal(coordinate_serving(0, false, &result, &err), LEAT_ERR_CANCELLED);
    leat_pg *pg = cluster_connect("owner", local_database());
    /* a slow link: each call takes longer than the time between two signs of life */
    tell(pg, "create table public.seen (n bigint generated always as identity, lease bigint, "
             "renewed boolean); create table public.ahead (lease bigint); "
             "alter function leat.samples rename to real_samples; "
             "create function leat.samples(p_run bigint, p_samples bigint[]) returns bytea "
             "language plpgsql security definer as $$ begin "
             "insert into public.seen (lease, renewed) select lease, renewed_at > granted_at "
             "from leat.lease where state = 'live' order by lease desc limit 1; "
             "perform pg_sleep(0.03); return leat.real_samples(p_run, p_samples); end $$; "
             "create function public.note() returns trigger language plpgsql as $$ "
             "declare stack text; begin get diagnostics stack = pg_context; "
             "insert into public.ahead select new.lease where stack like '%claim_ahead%'; "
             "return null; end $$; "
             "create trigger note after insert on leat.lease for each row execute function "
             "public.note()");
    leat_coordinate_options options = coordinator(url);
    options.renew_ms = 20;
    options.train.steps = 1 << 20;
    options.train.resume = true;
    options.train.progress = until_ahead;
    options.train.user = &worker;
    tell(pg, "update leat.run set renew_ms = 20"); /* the worker may be there first */
    helper_start_bare(&worker, 0);
    const leat_code code =
        leat_coordinate("dcgan", local_data(), local_run(), &options, &result, &err);
    if (code != LEAT_ERR_CANCELLED) fail_msg("%s", err.message);
    atomic_store(&worker.stop, true);
    helper_join(&worker);
    print_message("%s calls; ", ask(pg, "select count(*) from public.seen"));
    print_message("%s units ahead\n", ask(pg, "select count(*) from public.ahead"));
    assert_string_equal(
        ask(pg, "select count(*) > 0 and bool_and(renewed) from (select renewed, row_number() "
                "over (partition by lease order by n) call from public.seen) s where call > 1"),
        "t");
    leat_pg_close(pg);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(stored_in_order),
        TEST(fetched_as_asked),
        TEST(listed),
        TEST(samples_larger_than_parts),
        TEST(units_ahead),
        cmocka_unit_test_setup(the_same_weights, local_setup),
        cmocka_unit_test_setup(interrupted, local_setup),
        cmocka_unit_test_setup(cut_off, local_setup),
        cmocka_unit_test_setup(served_later, local_setup),
        cmocka_unit_test_setup(what_comes_is_checked, local_setup),
        cmocka_unit_test_setup(between_calls, local_setup),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
