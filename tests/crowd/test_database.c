/*
 * The database of a run, on a real server and a clock that the tests move: who gets which unit, and
 * what each condition of renew, put and submit refuses.
 */
/* No TSan: one thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

static const leat_database_machine m1 = {M1, "secret", "", ""}, m2 = {M2, "secret", "", ""};

/* ---- runs ------------------------------------------------------------------------------------ */

static void installs_once(void **state) {
    world *of = *state;
    leat_error err = {0};
    must(leat_database_install(of->owner, &err), &err);
    tell(of->owner, "update leat.version set version = 9");
    assert_int_equal(leat_database_install(of->owner, &err), LEAT_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "version 9, this leat needs 7; use the version of leat"));
    tell(of->owner, "update leat.version set version = 3");
    assert_int_equal(leat_database_install(of->owner, &err), LEAT_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "version 3, this leat needs 7"));
    assert_non_null(strstr(err.message, "DROP SCHEMA leat CASCADE"));
    cluster_database("bare");
    leat_pg *ann = cluster_connect("ann", "bare");
    assert_int_equal(leat_database_install(ann, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "GRANT CREATE"));
    assert_string_equal(ask(ann, "select count(*) from pg_namespace where nspname = 'leat'"), "0");
    leat_pg_close(ann);
}

/* What the database says is checked where it is read: another server than leat's may answer. */
static void impossible(void **state) {
    world *of = *state;
    static const struct {
        const char *column, *value, *undo, *says;
    } cases[] = {
        {"part_bytes", "0", "1024", "parts of 0 bytes"},
        {"part_bytes", "8388609", "1024", "parts of 8388609 bytes"},
        {"payload_bytes", "0", "2500", "results of 0"},
        {"weights_bytes", "-1", "1500", "weights of -1"},
        {"renew_ms", "0", "10000", "each 0 ms"},
        {"samples", "-1", "1000", "a data set of -1"},
        {"data", "repeat('0', 65)", "'" HASH64 "'", "of 1000 with fingerprint"},
        {"weights_slot", "2", "0", "its weights in slot 2"},
        {"state_slot", "-1", "0", "in slot -1"},
        {"step", "-2", "0", "step -2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[256];
        leat_error err = {0};
        leat_database_run run;
        leat_database_position at;
        leat_pg_rows *rows = NULL;
        snprintf(sql, sizeof sql,
                 "alter table leat.run drop constraint if exists run_%s_check; update leat.run set "
                 "%s = %s",
                 cases[i].column, cases[i].column, cases[i].value);
        tell(of->owner, sql);
        const bool position = i > 6;
        leat_code code = position ? leat_database_look(of->owner, of->hold.run, &at, &err)
                                  : leat_database_find_run(of->owner, "run-a", &run, &rows, &err);
        if (code != LEAT_ERR_CORRUPT || strstr(err.message, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].column, err.message);
        assert_null(rows);
        if (!position)
            assert_int_equal(leat_database_register(of->ann, "", &m1, &run, &rows, &err),
                             LEAT_ERR_CORRUPT);
        assert_null(rows);
        snprintf(sql, sizeof sql, "update leat.run set %s = %s", cases[i].column, cases[i].undo);
        tell(of->owner, sql);
    }
}

static void which_run(void **state) {
    world *of = *state;
    static const leat_database_machine strange = {M1, "secret", "A\033[1m\n", "cpu"};
    leat_database_run run = a_run("run-a");
    leat_pg_rows *rows = NULL;
    leat_error err = {0};
    int64_t id = 0;
    assert_int_equal(leat_database_create_run(of->owner, &run, &id, &err), LEAT_ERR_EXISTS);
    assert_int_equal(leat_database_register(of->ann, "none", &m1, &run, &rows, &err),
                     LEAT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "open are: run-a"));
    must(leat_database_register(of->ann, "", &strange, &run, &rows, &err), &err);
    assert_string_equal(run.name, "run-a");
    assert_string_equal(run.settings, "width: 6\n");
    assert_int_equal(run.payload_bytes, PAYLOAD);
    assert_int_equal(run.lease_ms, LEASE_MS);
    leat_pg_rows_destroy(rows);
    assert_string_equal(ask(of->owner, "select name from leat.machine"), "A?[1m?");
    run = a_run("run-b");
    must(leat_database_create_run(of->owner, &run, &id, &err), &err);
    assert_int_equal(leat_database_register(of->ann, "", &m1, &run, &rows, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "run-a, run-b"));
    must(leat_database_register(of->ann, "run-b", &m1, &run, &rows, &err), &err);
    leat_pg_rows_destroy(rows);
    must(leat_database_find_run(of->owner, "run-b", &run, &rows, &err), &err);
    assert_int_equal(run.hold_ms, HOLD_MS);
    assert_int_equal(run.units, UNITS);
    leat_pg_rows_destroy(rows);
    assert_int_equal(leat_database_find_run(of->owner, "run-c", &run, &rows, &err),
                     LEAT_ERR_NOT_FOUND);
}

/* A run that is continued while a machine registers: leat.register sees it, and what the worker is
 * told of its steps is not older. */
static void steps_of_now(void **state) {
    world *of = *state;
    leat_database_run run;
    leat_pg_rows *rows = NULL;
    leat_error err = {0};
    tell(
        of->owner,
        "alter function leat.register rename to register_as_it_is; create function leat.register("
        "a text, b text, c text, d text, e text) returns table (run bigint, name text, model text, "
        "model_hash text, data text, data_note text, samples bigint, kernel_class text, identity "
        "text, settings text, leat_version text, payload_bytes bigint, weights_bytes bigint, "
        "part_bytes integer, memory_bytes bigint, lease_ms bigint, renew_ms bigint, state text, "
        "sample_bytes bigint, list_bytes bigint) language plpgsql security definer set "
        "search_path = pg_catalog, pg_temp as $$ begin update leat.run set steps = 77; return "
        "query select * from leat.register_as_it_is(a, b, c, d, e); end $$; grant execute on "
        "function leat.register(text, text, text, text, text) to public");
    must(leat_database_register(of->ann, "", &m1, &run, &rows, &err), &err);
    assert_int_equal(run.steps, 77);
    leat_pg_rows_destroy(rows);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static void units_in_order_then_none(void **state) {
    world *of = *state;
    join(of->ann, M1);
    join(of->bob, M2);
    leat_database_lease a = get(of, of->ann, M1, 0, false), b = get(of, of->bob, M2, 1, false);
    assert_int_equal(a.step, 0);
    assert_string_equal(a.weights, HASH64);
    assert_string_equal(a.run_state, "open");
    assert_true(a.lease != b.lease && a.epoch != b.epoch);
    get(of, of->ann, M1, 2, false);
    get(of, of->ann, M1, 0, false); /* two at most: the older one ended */
    assert_string_equal(submit(of->ann, &a, HASH64), LEAT_DATABASE_CLONED);
    assert_int_equal(claim(of, of->bob, M2).lease, 0); /* nothing is ready */
}

static void an_ended_lease_is_given_again(void **state) {
    world *of = *state;
    join(of->ann, M1);
    join(of->bob, M2);
    leat_database_lease a = get(of, of->ann, M1, 0, false);
    get(of, of->bob, M2, 1, false);
    get(of, of->bob, M2, 2, false);
    pass(of, 200);
    assert_string_equal(renew(of->ann, &a), "");
    pass(of, 250); /* bob's have ended, ann's has not */
    join(of->ann, M3);
    get(of, of->ann, M3, 1, false);
    get(of, of->ann, M3, 2, false);
    get(of, of->ann, M3, 1, false);
    assert_string_equal(ask(of->owner, "select count(*) from leat.lease where state = 'expired'"),
                        "2");
}

/* The reply of a claim was lost: the machine does not wait for what only it could end. */
static void a_grant_that_is_lost(void **state) {
    world *of = *state;
    join(of->ann, M1);
    leat_database_lease a = get(of, of->ann, M1, 0, false), b = get(of, of->ann, M1, 1, false);
    leat_database_lease again = claim_with(of, of->ann, M1, a.lease);
    assert_int_equal(again.unit, 1);
    assert_true(again.lease != b.lease);
    assert_string_equal(renew(of->ann, &a), "");
    assert_string_equal(renew(of->ann, &b), LEAT_DATABASE_CLONED);
    /* leases of other machines are theirs */
    join(of->ann, M2);
    assert_int_equal(claim_with(of, of->ann, M2, 0).unit, 2);
    assert_string_equal(renew(of->ann, &a), "");
    assert_string_equal(renew(of->ann, &again), "");
}

/* Past its time, but nobody took it over: the work of a slow machine is not lost. */
static void a_late_result_counts(void **state) {
    world *of = *state;
    join(of->ann, M1);
    leat_database_lease a = get(of, of->ann, M1, 0, false);
    pass(of, 10000);
    deliver(of, of->ann, &a);
}

static void copies(void **state) {
    world *of = *state;
    leat_database_lease a, b;
    join(of->ann, M1);
    join(of->bob, M2);
    join(of->bob, M3);
    a = get(of, of->ann, M1, 0, false);
    b = get(of, of->ann, M1, 1, false);
    leat_database_lease c = get(of, of->bob, M2, 2, false);
    pass(of, 29);
    assert_int_equal(claim(of, of->bob, M2).lease, 0); /* not silent yet, nothing was finished */
    assert_string_equal(renew(of->ann, &a), "");
    assert_string_equal(renew(of->bob, &c), "");
    pass(of, 2);
    /* unit 1 was silent for 31 s */
    leat_database_lease copy = get(of, of->bob, M2, 1, true);
    assert_int_equal(claim(of, of->bob, M3).lease, 0); /* one copy of a unit */
    deliver(of, of->bob, &copy);
    assert_string_equal(renew(of->ann, &b), "another machine was faster");
    assert_string_equal(put(of, of->ann, &b, 0), "another machine was faster");
    /* a finished unit took 0 s from its copy's lease: what is out longer is copied */
    pass(of, 1);
    assert_string_equal(renew(of->ann, &a), "");
    assert_string_equal(renew(of->bob, &c), "");
    get(of, of->bob, M3, 0, true);
    get(of, of->bob, M3, 2, true);
    assert_int_equal(claim(of, of->ann, M1).lease, 0); /* not of its own, nor of what has one */
}

static void a_machine_that_begins_anew(void **state) {
    world *of = *state;
    join(of->ann, M1);
    leat_database_lease a = get(of, of->ann, M1, 0, false);
    join(of->ann, M1);
    assert_string_equal(renew(of->ann, &a), LEAT_DATABASE_CLONED);
    join(of->bob, M2);
    get(of, of->bob, M2, 0, false);
}

static void release_and_fail(void **state) {
    world *of = *state;
    leat_error err = {0};
    int64_t units[UNITS];
    int count = 0;
    join(of->ann, M1);
    join_and_ask(of, of->bob, M2);
    leat_database_lease a = get(of, of->ann, M1, 0, false);
    must(leat_database_release(of->bob, &a, &err), &err); /* not bob's: nothing happens */
    assert_string_equal(renew(of->ann, &a), "");
    must(leat_database_release(of->ann, &a, &err), &err);
    assert_string_equal(renew(of->ann, &a), "the lease ended (released)");
    a = get(of, of->ann, M1, 0, false);
    must(leat_database_fail(of->ann, &a, "no memory\n", &err), &err);
    assert_string_equal(ask(of->owner, "select words from leat.event where kind = 'failed'"),
                        "step 1, unit 0: no memory?");
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(count, 0); /* one of two machines */
    leat_database_lease b = get(of, of->bob, M2, 0, false);
    must(leat_database_fail(of->bob, &b, "no memory", &err), &err);
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_int_equal(units[0], 0);
    bool done = false;
    must(leat_database_own_result(of->owner, &of->hold, 0, 0, HASH64, &done, &err), &err);
    assert_true(done);
    must(leat_database_own_result(of->owner, &of->hold, 0, 0, HASH64, &done, &err), &err);
    assert_false(done);
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(count, 0);
}

/* A machine hands in the unit that it is given, and the coordinator refuses the result. */
static void refused_at(world *of, leat_pg *who, const char *machine, int64_t unit,
                       const char *reason) {
    leat_error err = {0};
    leat_database_result result;
    int count = 0;
    bool done = false;
    leat_database_lease lease = get(of, who, machine, unit, false);
    deliver(of, who, &lease);
    must(leat_database_arrived(of->owner, of->hold.run, &result, 1, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_int_equal(result.unit, unit);
    must(
        leat_database_refuse(of->owner, &of->hold, 0, &result, reason[0] != 0, reason, &done, &err),
        &err);
    assert_true(done);
}

/* How many units are hopeless; the first must be 0. */
static int count_hopeless(world *of) {
    leat_error err = {0};
    int64_t units[UNITS] = {0};
    int count = 0;
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(units[0], 0);
    return count;
}

/* A refused result is a failure of its machine: the unit is for others. */
static void refusals_are_failures(void **state) {
    world *of = *state;
    join(of->ann, M1);
    join_and_ask(of, of->bob, M2);
    join_and_ask(of, of->bob, M3);
    refused_at(of, of->ann, M1, 0, "");
    refused_at(of, of->ann, M1, 0, ""); /* a crash took it: it is given again */
    refused_at(of, of->ann, M1, 0, "forged");
    refused_at(of, of->ann, M1, 1, "forged");
    refused_at(of, of->ann, M1, 2, "forged");
    assert_int_equal(claim(of, of->ann, M1).lease, 0);
    assert_int_equal(count_hopeless(of), 0);
    /* nor a copy of it, nor what another machine has left */
    get(of, of->bob, M2, 0, false);
    get(of, of->bob, M2, 1, false);
    leat_database_lease last = get(of, of->bob, M3, 2, false);
    pass(of, 60);
    assert_string_equal(ask(of->owner, "select leat.choose(r, '" M1 "')::text from leat.run r"),
                        "(0,copy)"); /* the owner's machine has not failed */
    assert_int_equal(claim(of, of->ann, M1).lease, 0);
    pass(of, 241);
    assert_string_equal(renew(of->bob, &last), "");
    assert_int_equal(claim(of, of->ann, M1).lease, 0);
    refused_at(of, of->bob, M3, 0, "forged");
    assert_int_equal(count_hopeless(of), 1); /* two work now, and both have failed */
}

/* Of the only machine; it is the coordinator's, also when nobody works any more. */
static void refusals_of_the_only_machine(void **state) {
    world *of = *state;
    join(of->ann, M1);
    refused_at(of, of->ann, M1, 0, "forged");
    assert_int_equal(count_hopeless(of), 1);
    refused_at(of, of->ann, M1, 0, "forged"); /* there is nobody else */
    pass(of, 500);
    assert_int_equal(count_hopeless(of), 1);
}

static void five_silences(void **state) {
    world *of = *state;
    leat_error err = {0};
    int64_t units[UNITS];
    int count = 0;
    join(of->ann, M1);
    for (int i = 0; i < 5; i++) {
        must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
        assert_int_equal(count, 0);
        get(of, of->ann, M1, 0, false);
        /* the others are taken, so that unit 0 comes again */
        if (i == 0) {
            join(of->bob, M2);
            leat_database_lease b = get(of, of->bob, M2, 1, false);
            deliver(of, of->bob, &b);
            b = get(of, of->bob, M2, 2, false);
            deliver(of, of->bob, &b);
        }
        pass(of, 301);
    }
    get(of, of->ann, M1, 0, false);
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(count, 1);
}

/* ---- results: each condition alone ------------------------------------------------------------
 */

static void submits(void **state) {
    world *of = *state;
    join(of->ann, M1);
    join(of->bob, M2);
    leat_database_lease a = get(of, of->ann, M1, 0, false);
    leat_database_lease other = a;
    put_all(of, of->ann, &a);
    put_all(of, of->ann, &a); /* parts may come again */
    assert_string_equal(submit(of->bob, &a, of->hash), "there is no such lease");
    other.lease += 100;
    assert_string_equal(submit(of->ann, &other, of->hash), "there is no such lease");
    other = a;
    other.epoch++;
    static const char back[] = "another lease has its number now: the database went back";
    assert_string_equal(submit(of->ann, &other, of->hash), back);
    assert_string_equal(renew(of->ann, &other), back);
    assert_string_equal(put(of, of->ann, &other, 0), back);
    assert_string_equal(submit(of->ann, &a, HASH64), "the bytes received do not have the hash");
    assert_string_equal(submit(of->ann, &a, of->hash), "");
    assert_string_equal(submit(of->ann, &a, of->hash), ""); /* the reply was lost */
    assert_string_equal(submit(of->ann, &a, HASH64), "the result was accepted already");
    assert_string_equal(ask(of->owner, "select bytes from leat.machine where id like '1%'"),
                        "2500");
    leat_database_lease b = get(of, of->bob, M2, 1, false);
    assert_string_equal(put(of, of->bob, &b, 0), "");
    assert_string_equal(put(of, of->bob, &b, 2), "");
    assert_string_equal(submit(of->bob, &b, of->hash), "1476 bytes of 2500 were received");
    assert_string_equal(put(of, of->bob, &b, 1), "");
    tell(of->owner, "update leat.run set state = 'paused'");
    assert_string_equal(submit(of->bob, &b, of->hash), "the step is not open any more");
    assert_string_equal(put(of, of->bob, &b, 1), "the step is not open any more");
    assert_string_equal(renew(of->bob, &b), "the run is paused");
    assert_string_equal(claim(of, of->bob, M2).run_state, "paused");
    tell(of->owner, "update leat.run set state = 'open', step = 1");
    assert_string_equal(submit(of->bob, &b, of->hash), "the step is not open any more");
    assert_string_equal(put(of, of->bob, &b, 1), "the step is not open any more");
    tell(of->owner, "update leat.run set step = 0; update leat.unit set state = 'confirmed' where "
                    "unit = 1");
    assert_string_equal(submit(of->bob, &b, of->hash), "another machine was faster");
    tell(of->owner, "update leat.unit set state = 'out' where unit = 1");
    assert_string_equal(submit(of->bob, &b, of->hash), "");
}

static void a_put_renews(void **state) {
    world *of = *state;
    join(of->ann, M1);
    leat_database_lease a = get(of, of->ann, M1, 0, false);
    pass(of, 299);
    assert_string_equal(put(of, of->ann, &a, 0), "");
    assert_string_equal(ask(of->owner, "select leat.is_held(l, 300000) from leat.lease l"), "t");
    pass(of, 299); /* the put has renewed the lease */
    assert_string_equal(ask(of->owner, "select leat.is_held(l, 300000) from leat.lease l"), "t");
    pass(of, 2);
    assert_string_equal(ask(of->owner, "select leat.is_held(l, 300000) from leat.lease l"), "f");
}

static void weights_by_hash(void **state) {
    world *of = *state;
    uint8_t bytes[WEIGHTS];
    leat_error err = {0};
    must(leat_database_fetch(of->ann, of->hold.run, HASH64, 0, bytes, PART, &err), &err);
    must(leat_database_fetch(of->ann, of->hold.run, HASH64, 1, bytes + PART, WEIGHTS - PART, &err),
         &err);
    assert_memory_equal(bytes, of->weights, WEIGHTS);
    assert_int_equal(leat_database_fetch(of->ann, of->hold.run, HASH64, 2, bytes, 1, &err),
                     LEAT_ERR_NOT_FOUND);
    assert_int_equal(leat_database_fetch(of->ann, of->hold.run, HASH64, 0, bytes, 7, &err),
                     LEAT_ERR_CORRUPT);
    assert_int_equal(leat_database_fetch(of->ann, of->hold.run, of->hash, 0, bytes, PART, &err),
                     LEAT_ERR_NOT_FOUND);
}

static void results_are_judged(void **state) {
    world *of = *state;
    leat_database_result results[UNITS];
    leat_error err = {0};
    uint8_t bytes[PAYLOAD];
    int count = 0;
    bool done = false;
    join(of->ann, M1);
    leat_database_lease a = get(of, of->ann, M1, 0, false);
    deliver(of, of->ann, &a);
    must(leat_database_arrived(of->owner, of->hold.run, results, UNITS, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_int_equal(results[0].lease, a.lease);
    assert_string_equal(results[0].account, "ann");
    assert_string_equal(results[0].machine, M1);
    assert_string_equal(results[0].hash, of->hash);
    must(leat_database_payload(of->owner, of->hold.run, 0, a.lease,
                               &(leat_database_into){bytes, PAYLOAD, PART}, &err),
         &err);
    assert_memory_equal(bytes, of->payload, PAYLOAD);
    assert_int_equal(leat_database_payload(of->owner, of->hold.run, 0, a.lease + 1,
                                           &(leat_database_into){bytes, PAYLOAD, PART}, &err),
                     LEAT_ERR_NOT_FOUND);
    must(leat_database_refuse(of->owner, &of->hold, 0, results, true, "wrong numbers", &done, &err),
         &err);
    assert_true(done);
    must(leat_database_confirm(of->owner, &of->hold, 0, results, &done, &err), &err);
    assert_false(done);
    assert_string_equal(submit(of->ann, &a, of->hash), "the result was refused: wrong numbers");
    leat_database_lease b = get(of, of->ann, M1, 0, false);
    assert_non_null(strstr(b.news, "step 1, unit 0 was refused: wrong numbers"));
    assert_string_equal(claim(of, of->ann, M1).news, ""); /* told once */
    deliver(of, of->ann, &b);
    must(leat_database_arrived(of->owner, of->hold.run, results, UNITS, &count, &err), &err);
    must(leat_database_confirm(of->owner, &of->hold, 1, results, &done, &err), &err);
    assert_false(done); /* another step */
    must(leat_database_confirm(of->owner, &of->hold, 0, results, &done, &err), &err);
    assert_true(done);
    must(leat_database_confirm(of->owner, &of->hold, 0, results, &done, &err), &err);
    assert_false(done);
    assert_string_equal(
        ask(of->owner, "select accepted || ' ' || refused || ' ' || mismatched from leat.account"),
        "1 1 1");
}

/* Functions are written for read committed: a stricter default of a login would undo calls of
 * machines that work at the same time, and nothing repeats them for ever. */
static void stricter_isolation(void **state) {
    world *of = *state;
    tell(of->owner, "alter role bob set default_transaction_isolation to serializable");
    leat_pg *bob = cluster_connect("bob", ask(of->owner, "select current_database()"));
    tell(of->owner, "alter role bob reset default_transaction_isolation");
    assert_string_equal(ask(bob, "show transaction_isolation"), "read committed");
    leat_pg_close(bob);
}

/* A machine is one of the run once it asks for a unit: many register, and find that they cannot
 * work on it. */
static void machines_that_only_register(void **state) {
    world *of = *state;
    leat_error err = {0};
    int64_t machines = -1;
    join(of->ann, M1);
    join(of->bob, M2);
    must(leat_database_machines(of->owner, of->hold.run, SILENT_MS, &machines, &err), &err);
    assert_int_equal(machines, 0);
    (void)get(of, of->bob, M2, 0, false);
    must(leat_database_machines(of->owner, of->hold.run, SILENT_MS, &machines, &err), &err);
    assert_int_equal(machines, 1);
    assert_string_equal(ask(of->owner, "select string_agg(account || ' ' || worker_id, ',') from "
                                       "leat.workers where run = 1"),
                        "bob " M2);
    join(of->bob, M2); /* again: what it did before is not forgotten */
    must(leat_database_machines(of->owner, of->hold.run, SILENT_MS, &machines, &err), &err);
    assert_int_equal(machines, 1);
}

/* What a login names but does not have, it does not lock either. */
static void leases_of_others(void **state) {
    world *of = *state;
    join(of->ann, M1);
    join(of->bob, M2);
    leat_database_lease a = get(of, of->ann, M1, 0, false);
    tell(of->bob, "begin");
    assert_string_equal(renew(of->bob, &a), "there is no such lease");
    assert_string_equal(put(of, of->bob, &a, 0), "there is no such lease");
    assert_string_equal(submit(of->bob, &a, of->hash), "there is no such lease");
    tell(of->ann, "set lock_timeout = '2s'");
    assert_string_equal(renew(of->ann, &a), "");
    deliver(of, of->ann, &a);
    tell(of->bob, "rollback");
}

/* An account that takes units and their copies, and renews them, keeps them only from itself. */
static void units_that_are_kept(void **state) {
    world *of = *state;
    leat_database_lease kept[2 * UNITS];
    char machine[33];
    join(of->ann, M1);
    for (int i = 0; i < 2 * UNITS; i++) {
        if (i == UNITS) pass(of, 301); /* longer than any is expected to take */
        for (int k = 0; k < i; k++) assert_string_equal(renew(of->bob, &kept[k]), "");
        snprintf(machine, sizeof machine, "%032x", i);
        join(of->bob, machine);
        kept[i] = get(of, of->bob, machine, i % UNITS, i >= UNITS);
    }
    assert_int_equal(claim(of, of->ann, M1).lease, 0);
    pass(of, 298);
    for (int i = 0; i < 2 * UNITS; i++) assert_string_equal(renew(of->bob, &kept[i]), "");
    assert_int_equal(claim(of, of->ann, M1).lease, 0);
    pass(of, 2);
    join(of->bob, M2);
    assert_int_equal(claim(of, of->bob, M2).lease, 0);
    leat_database_lease third = get(of, of->ann, M1, 0, true);
    deliver(of, of->ann, &third);
    assert_string_equal(renew(of->bob, &kept[0]), LEAT_DATABASE_SLOWER);
    assert_string_equal(renew(of->bob, &kept[UNITS]), LEAT_DATABASE_SLOWER);
    get(of, of->ann, M1, 1, true);
    join(of->ann, M3);
    get(of, of->ann, M3, 2, true); /* not 1: there is no fourth */
}

/* Nor does the copy of a machine that has gone, beside a lease that is renewed. */
static void a_copy_that_lapses(void **state) {
    world *of = *state;
    tell(of->owner, "update leat.unit set state = 'confirmed' where unit > 0");
    join(of->bob, M2);
    leat_database_lease kept = get(of, of->bob, M2, 0, false);
    pass(of, 31);
    join(of->ann, M1);
    get(of, of->ann, M1, 0, true);
    pass(of, 200);
    assert_string_equal(put(of, of->bob, &kept, 0), "");
    join(of->ann, M3);
    assert_int_equal(claim(of, of->ann, M3).lease, 0); /* the copy is held */
    pass(of, 101);
    assert_string_equal(put(of, of->bob, &kept, 0), "");
    get(of, of->ann, M3, 0, true);
}

/* A lease that is renewed for twenty times as long as usual ends, if others work. */
static void a_lease_that_lasts(void **state) {
    world *of = *state;
    join(of->bob, M2);
    leat_database_lease lease = get(of, of->bob, M2, 0, false);
    for (int i = 0; i < 20; i++) {
        pass(of, 299);
        assert_string_equal(renew(of->bob, &lease), "");
    }
    pass(of, 299);                                   /* 300 s is usual where nothing is known */
    assert_string_equal(renew(of->bob, &lease), ""); /* alone */
    join_and_ask(of, of->ann, M1);
    assert_string_equal(renew(of->bob, &lease),
                        "the unit takes this machine twenty times as long as it usually takes");
    lease = get(of, of->ann, M1, 0, false);
    for (int i = 0; i < 21; i++) { /* nor do parts renew it for longer */
        tell(of->owner, "update leat.machine set seen_at = leat.clock()");
        assert_string_equal(put(of, of->ann, &lease, 0), "");
        pass(of, 290);
    }
    tell(of->owner, "update leat.machine set seen_at = leat.clock()");
    assert_string_equal(put(of, of->ann, &lease, 0),
                        "the unit takes this machine twenty times as long as it usually takes");
    get(of, of->bob, M2, 0, false);
}

/* A machine does not leave the units at which it failed to others that get none. */
static void others_that_get_no_units(void **state) {
    world *of = *state;
    leat_error err = {0};
    int64_t units[UNITS];
    int count = 0;
    tell(of->owner, "update leat.unit set state = 'confirmed' where unit > 1");
    join_and_ask(of, of->bob, M2);
    join(of->ann, M1);
    leat_database_lease lease = get(of, of->ann, M1, 0, false);
    must(leat_database_fail(of->ann, &lease, "no", &err), &err);
    lease = get(of, of->ann, M1, 1, false); /* 0 is bob's now */
    must(leat_database_release(of->ann, &lease, &err), &err);
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(count, 0);
    tell(of->owner, "insert into leat.account (name) values ('ann'), ('bob'); update leat.account "
                    "set suspended_until = leat.clock() + interval '1 hour' where name = 'bob'");
    lease = get(of, of->ann, M1, 0, false);
    must(leat_database_release(of->ann, &lease, &err), &err);
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_int_equal(units[0], 0);
    tell(of->owner, "update leat.account set suspended_until = leat.clock() + interval '1 hour'");
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(count, 2); /* all */
}

/* Units that an account gives back, one after the other, are given to others. */
static void units_without_results(void **state) {
    world *of = *state;
    leat_error err = {0};
    join(of->bob, M2);
    for (int i = 0; i < 40; i++) { /* alone, it harms nobody */
        leat_database_lease lease = get(of, of->bob, M2, 0, false);
        must(leat_database_release(of->bob, &lease, &err), &err);
    }
    join(of->ann, M1);
    get(of, of->ann, M1, 0, false);
    leat_database_lease none = claim(of, of->bob, M2);
    assert_int_equal(none.lease, 0);
    assert_string_equal(none.news,
                        "this login has had 40 units of step 1 without a result; it gets "
                        "others with the next step");
    pass(of, 121); /* ann is gone */
    get(of, of->bob, M2, 1, false);
}

/* Failures of one account's machines are those of one. */
static void failures_of_one_account(void **state) {
    static const char *const machines[] = {M2, M3, "44444444444444444444444444444444",
                                           "55555555555555555555555555555555"};
    world *of = *state;
    leat_error err = {0};
    int64_t units[UNITS];
    int count = 0;
    join_and_ask(of, of->ann, M1);
    for (int i = 0; i < 4; i++) {
        join(of->bob, machines[i]);
        leat_database_lease lease = get(of, of->bob, machines[i], 0, false);
        must(leat_database_fail(of->bob, &lease, "no", &err), &err);
    }
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(count, 0);
    leat_database_lease lease = get(of, of->ann, M1, 0, false);
    must(leat_database_fail(of->ann, &lease, "no", &err), &err);
    must(leat_database_hopeless(of->owner, of->hold.run, units, UNITS, &count, &err), &err);
    assert_int_equal(count, 1);
}

/* Results that are refused, of an account beside others. */
static void many_refusals(void **state) {
    world *of = *state;
    for (int others = 0; others < 2; others++) {
        for (int i = 0; i < 20; i++) {
            tell(of->owner, "delete from leat.lease"); /* as commits do: they are failures of it */
            join(of->bob, M2);
            if (others) join_and_ask(of, of->ann, M1);
            refused_at(of, of->bob, M2, 0, "forged");
        }
        leat_database_lease next = claim(of, of->bob, M2);
        if (others == 0) assert_true(next.lease > 0);
        else assert_non_null(strstr(next.news, ": 20 of its results were refused within an hour"));
        pass(of, 3601); /* refusals before are forgotten, and so is a suspension */
        tell(of->owner, "update leat.unit set state = 'ready'");
    }
    join(of->bob, M2);
    assert_true(claim(of, of->bob, M2).lease > 0);
}

/* 64 machines of an account in an hour, and old ones without results make place for new ones. */
static void many_machines(void **state) {
    world *of = *state;
    leat_database_run run;
    leat_pg_rows *rows = NULL;
    leat_error err = {0};
    /* a login that all share may have more, as long as it is alone */
    tell(of->ann, "select leat.register('', lpad(i::text, 32, '0'), '', '', '') from "
                  "generate_series(1, 70) i");
    join_and_ask(of, of->ann, M1);
    assert_int_equal(
        leat_pg_script(of->bob,
                       "select leat.register('', lpad(i::text, 32, '0'), '', '', '') from "
                       "generate_series(1, 30000) i",
                       &err),
        LEAT_ERR_INPUT);
    tell(of->bob, "select leat.register('', lpad(i::text, 32, '0'), '', '', '') from "
                  "generate_series(1, 64) i");
    assert_int_equal(leat_database_register(of->bob, "", &m2, &run, &rows, &err), LEAT_ERR_BUSY);
    assert_non_null(strstr(err.message, "this login has registered 64 machines within an hour"));
    tell(of->bob, "select leat.register('', lpad('1', 32, '0'), '', '', '')"); /* one of them */
    join(of->ann, M1);
    pass(of, 86401);
    join(of->bob, M2);
    assert_string_equal(ask(of->owner, "select count(*) from leat.machine where account = 'bob'"),
                        "1");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(installs_once),
        TEST(impossible),
        TEST(which_run),
        TEST(steps_of_now),
        TEST(units_in_order_then_none),
        TEST(an_ended_lease_is_given_again),
        TEST(a_grant_that_is_lost),
        TEST(a_late_result_counts),
        TEST(copies),
        TEST(a_machine_that_begins_anew),
        TEST(release_and_fail),
        TEST(refusals_are_failures),
        TEST(refusals_of_the_only_machine),
        TEST(five_silences),
        TEST(submits),
        TEST(a_put_renews),
        TEST(weights_by_hash),
        TEST(results_are_judged),
        TEST(stricter_isolation),
        TEST(leases_of_others),
        TEST(units_that_are_kept),
        TEST(a_copy_that_lapses),
        TEST(a_lease_that_lasts),
        TEST(others_that_get_no_units),
        TEST(units_without_results),
        TEST(failures_of_one_account),
        TEST(many_refusals),
        TEST(many_machines),
        TEST(machines_that_only_register),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
