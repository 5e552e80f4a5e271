/*
 * Each condition of renew, put, submit and commit, with that condition alone not met: the refusal
 * in its words, and that nothing is written. And the same calls when they wait for a lock while a
 * lease or a hold runs out: what counts is the time after the lock.
 */
/* No TSan: a thread makes one call of the database, and the test waits for it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "world.h"

static const char back[] = "another lease has its number now: the database went back";
static const char none[] = "there is no such lease";
static const char faster[] = "another machine was faster";
static const char taken[] = "the lease ended, and another machine has the unit";
static const char over[] = "the step is not open any more";
static const char accepted[] = "the result was accepted already";

/* Step 0 as it was opened. */
static void reset(world *of) {
    tell(of->owner,
         "delete from leat.lease; delete from leat.part_1_0; update leat.unit set state = "
         "'ready', lease = null, hash = null; update leat.run set state = 'open', step = "
         "0");
}

/* ---- workers --------------------------------------------------------------------------------- */

typedef enum change { NOTHING, ACCOUNT, NUMBER, EPOCH, HASH } change;

static const struct {
    const char *sql;
    change change; /* of what the caller says */
    const char *renew, *put, *submit;
} conditions[] = {
    {"select 1", NOTHING, "", "", ""},
    {"select 1", ACCOUNT, none, none, none},
    {"select 1", NUMBER, none, none, none},
    {"select 1", EPOCH, back, back, back},
    {"select 1", HASH, "", "", "the bytes received do not have the hash"},
    /* the lease */
    {"update leat.lease set state = 'used'", NOTHING, accepted, accepted, accepted},
    {"update leat.lease set state = 'superseded'", NOTHING, faster, faster, faster},
    {"update leat.lease set state = 'expired'", NOTHING, taken, taken, taken},
    {"update leat.lease set state = 'refused', reason = 'x'", NOTHING, "the result was refused: x",
     "the result was refused: x", "the result was refused: x"},
    {"update leat.lease set state = 'failed'", NOTHING, "the lease ended (failed)",
     "the lease ended (failed)", "the lease ended (failed)"},
    {"update leat.lease set state = 'released'", NOTHING, "the lease ended (released)",
     "the lease ended (released)", "the lease ended (released)"},
    {"update leat.lease set state = 'released', reason = 'the machine began anew'", NOTHING,
     LEAT_DATABASE_CLONED, LEAT_DATABASE_CLONED, LEAT_DATABASE_CLONED},
    {"update leat.lease set state = 'released', reason = 'the machine does not know of it'",
     NOTHING, LEAT_DATABASE_CLONED, LEAT_DATABASE_CLONED, LEAT_DATABASE_CLONED},
    /* a repetition: the same lease, epoch, unit and hash */
    {"update leat.lease set state = 'used'; update leat.unit set state = 'done', lease = "
     "(select lease from leat.lease), hash = '%s' where unit = 0",
     NOTHING, accepted, accepted, ""},
    {"update leat.lease set state = 'used'; update leat.unit set state = 'done', lease = "
     "(select lease from leat.lease), hash = '%s' where unit = 0",
     HASH, accepted, accepted, accepted},
    {"update leat.lease set state = 'used'; update leat.unit set state = 'done', lease = "
     "(select lease from leat.lease), hash = '%s' where unit = 0",
     EPOCH, back, back, back},
    {"update leat.lease set state = 'used'; update leat.unit set state = 'done', lease = "
     "(select lease from leat.lease), hash = '%s' where unit = 0",
     ACCOUNT, none, none, none},
    {"update leat.lease set state = 'used'; update leat.unit set state = 'done', lease = "
     "(select lease + 1 from leat.lease), hash = '%s' where unit = 0",
     NOTHING, accepted, accepted, accepted},
    /* the run */
    {"update leat.run set state = 'paused'", NOTHING, "the run is paused", over, over},
    {"update leat.run set state = 'finished'", NOTHING, "the run is finished", over, over},
    {"update leat.run set step = 1", NOTHING, "", over, over},
    /* the unit */
    {"update leat.unit set state = 'done' where unit = 0", NOTHING, "", "", faster},
    {"update leat.unit set state = 'confirmed' where unit = 0", NOTHING, "", "", faster},
    {"update leat.unit set state = 'failed' where unit = 0", NOTHING, "", "", faster},
    {"update leat.unit set state = 'ready' where unit = 0", NOTHING, "", "", ""},
    /* the parts; put brings back the first */
    {"delete from leat.part_1_0 where part = 2", NOTHING, "", "",
     "2048 bytes of 2500 were received"},
    {"delete from leat.part_1_0 where part > 0", NOTHING, "", "",
     "1024 bytes of 2500 were received"},
    {"update leat.part_1_0 set lease = lease + 1", NOTHING, "", "",
     "1024 bytes of 2500 were received"},
    {"insert into leat.part_1_0 select lease, 3, 'x' from leat.lease", NOTHING, "", "",
     "2501 bytes of 2500 were received"},
    {"update leat.part_1_0 set bytes = set_byte(bytes, 5, 255) where part = 1", NOTHING, "", "",
     "the bytes received do not have the hash"},
};

static void each_condition_alone(void **state) {

    world *of = *state;
    join(of->ann, M1);
    join(of->bob, M2);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        char sql[500], hash[65];
        reset(of);
        leat_database_lease lease = get(of, of->ann, M1, 0, false);
        put_all(of, of->ann, &lease);
        snprintf(sql, sizeof sql, conditions[i].sql, of->hash);
        tell(of->owner, sql);
        leat_pg *who = conditions[i].change == ACCOUNT ? of->bob : of->ann;
        lease.lease += conditions[i].change == NUMBER;
        lease.epoch += conditions[i].change == EPOCH;
        snprintf(hash, sizeof hash, "%s", conditions[i].change == HASH ? HASH64 : of->hash);
        const char *const wanted[] = {conditions[i].renew, conditions[i].put, conditions[i].submit};
        for (int call = 0; call < 3; call++) {
            const char *why = call == 0   ? renew(who, &lease)
                              : call == 1 ? put(of, who, &lease, 0)
                                          : submit(who, &lease, hash);
            if (strcmp(why, wanted[call]) != 0)
                fail_msg("case %zu, call %d: \"%s\", not \"%s\"", i, call, why, wanted[call]);
        }
        /* what is refused is not written */
        snprintf(sql, sizeof sql,
                 "select count(*) from leat.unit where state = 'done' and hash = '%s'", of->hash);
        const bool counts =
            conditions[i].submit[0] == 0 || strstr(conditions[i].sql, "hash = ") != NULL;
        assert_string_equal(ask(of->owner, sql), counts ? "1" : "0");
    }
}

static void parts_of_exactly_their_size(void **state) {
    world *of = *state;
    const struct {
        int64_t part, bytes;
        const char *why;
    } cases[] = {{0, PART - 1, "part 0 has 1023 bytes instead of 1024"},
                 {0, PART + 1, "part 0 has 1025 bytes instead of 1024"},
                 {0, 0, "part 0 has 0 bytes instead of 1024"},
                 {2, 451, "part 2 has 451 bytes instead of 452"},
                 {2, 453, "part 2 has 453 bytes instead of 452"},
                 {3, 1, "part 3 has 1 bytes instead of 0"},
                 {3, 0, "part 3 has 0 bytes instead of 0"},
                 {-1, PART, "part -1 has 1024 bytes instead of 1024"},
                 {1 << 30, PART, "part 1073741824 has 1024 bytes instead of 0"}};
    uint8_t bytes[2 * PART] = {0};
    char why[LEAT_CROWD_WORDS_BYTES];
    leat_error err = {0};
    join(of->ann, M1);
    const leat_database_lease lease = get(of, of->ann, M1, 0, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        must(leat_database_put(of->ann, &lease, cases[i].part, bytes, cases[i].bytes, why, &err),
             &err);
        assert_string_equal(why, cases[i].why);
    }
    assert_string_equal(ask(of->owner, "select count(*) from leat.part_1_0"), "0");
}

/* ---- a commit -------------------------------------------------------------------------------- */

#define OTHERS "\"here\" has taken over the run"
#define SO "step 0 cannot be committed so"
#define NOT_ALL "not all units of step 0 are confirmed"
static const struct {
    const char *sql, *undo;
    /* added to what is right */
    int run, fence, epoch, step, weights_slot, state_slot, units, next_units;
    leat_code code;
    const char *says;
} commits[] = {
    {"select 1", "select 1", .run = 100, .code = LEAT_ERR_NOT_FOUND, .says = "there is no run 101"},
    {"select 1", "select 1", .fence = 1, .code = LEAT_ERR_BUSY, .says = OTHERS},
    {"select 1", "select 1", .fence = -1, .code = LEAT_ERR_BUSY, .says = OTHERS},
    {"select 1", "select 1", .epoch = 1, .code = LEAT_ERR_BUSY, .says = OTHERS},
    {"select 1", "select 1", .step = 1, .code = LEAT_ERR_BUSY, .says = "step 0 is open, not 1"},
    {"select 1", "select 1", .step = -1, .code = LEAT_ERR_BUSY, .says = "step 0 is open, not -1"},
    {"update leat.run set step = 1", "update leat.run set step = 0", .code = LEAT_ERR_BUSY,
     .says = "step 1 is open, not 0"},
    {"update leat.run set steps = 1, step = 1", "update leat.run set steps = 4, step = 0",
     .step = 1, .code = LEAT_ERR_BUSY, .says = "step 1 cannot be committed so"},
    {"select 1", "select 1", .weights_slot = -1, .code = LEAT_ERR_BUSY, .says = SO},
    {"update leat.run set state_step = 0", "update leat.run set state_step = -1", .state_slot = 1,
     .code = LEAT_ERR_BUSY, .says = SO},
    {"update leat.unit set state = 'ready' where unit = 0",
     "update leat.unit set state = 'confirmed'", .code = LEAT_ERR_BUSY, .says = NOT_ALL},
    {"update leat.unit set state = 'out' where unit = 1",
     "update leat.unit set state = 'confirmed'", .code = LEAT_ERR_BUSY, .says = NOT_ALL},
    {"update leat.unit set state = 'done' where unit = 2",
     "update leat.unit set state = 'confirmed'", .code = LEAT_ERR_BUSY, .says = NOT_ALL},
    {"update leat.unit set state = 'failed' where unit = 2",
     "update leat.unit set state = 'confirmed'", .code = LEAT_ERR_BUSY, .says = NOT_ALL},
    {"delete from leat.unit where unit = 1",
     "insert into leat.unit (run, step, unit, state) values (1, 0, 1, 'confirmed')",
     .code = LEAT_ERR_BUSY, .says = "step 0 has 2 units, not 3"},
    {"insert into leat.unit (run, step, unit, state) values (1, 0, 3, 'confirmed')",
     "delete from leat.unit where unit = 3", .code = LEAT_ERR_BUSY,
     .says = "step 0 has 4 units, not 3"},
    {"select 1", "select 1", .units = 1, .code = LEAT_ERR_BUSY,
     .says = "step 0 has 3 units, not 4"},
    {"select 1", "select 1", .next_units = 1, .code = LEAT_ERR_OPTION,
     .says = "a step of this run has at most 3 units, and at least one, not 4"},
    {"select 1", "select 1", .next_units = -3, .code = LEAT_ERR_OPTION,
     .says = "a step of this run has at most 3 units, and at least one, not 0"},
    {"update leat.run set value_names = '{loss}'",
     "update leat.run set value_names = '{loss,norm}'", .code = LEAT_ERR_OPTION,
     .says = "a step of this run has 1 values, not 2"},
    {"update leat.run set value_names = '{loss,norm,more}'",
     "update leat.run set value_names = '{loss,norm}'", .code = LEAT_ERR_OPTION,
     .says = "a step of this run has 3 values, not 2"},
    {"select 1", "select 1", .code = LEAT_OK, .says = ""},
};

static void each_condition_of_a_commit_alone(void **state) {
    world *of = *state;
    join(of->ann, M1);
    deliver_step(of);
    confirm_all(of, 0);
    for (size_t i = 0; i < sizeof commits / sizeof *commits; i++) {
        leat_database_step step = a_step(0);
        leat_database_hold hold = of->hold;
        leat_error err = {0};
        tell(of->owner, commits[i].sql);
        hold.run += commits[i].run;
        hold.fence += commits[i].fence;
        hold.epoch += commits[i].epoch;
        step.step += commits[i].step;
        step.weights_slot += commits[i].weights_slot;
        step.state_slot += commits[i].state_slot;
        step.units += commits[i].units;
        step.next_units += commits[i].next_units;
        if (leat_database_commit(of->owner, &hold, &step, &err) != commits[i].code ||
            strcmp(err.message, commits[i].says) != 0)
            fail_msg("case %zu: \"%s\", not \"%s\"", i, err.message, commits[i].says);
        tell(of->owner, commits[i].undo);
        assert_string_equal(ask(of->owner, "select step || ' ' || weights_slot || ' ' || (select "
                                           "count(*) from leat.step) from leat.run"),
                            commits[i].code == LEAT_OK ? "1 1 1" : "0 0 0");
    }
}

/* ---- calls that wait ------------------------------------------------------------------------- */

typedef enum call { RENEW, PUT, SUBMIT, TAKE, RENEW_HOLD, COMMIT } call;

/* A call in a thread of its own. */
typedef struct waiter {
    pthread_t thread;
    world *of;
    leat_pg *pg;
    call call;
    leat_database_lease lease; /* of ann */
    leat_database_hold hold;
    leat_code code;
    leat_error err;
    char why[LEAT_CROWD_WORDS_BYTES];
} waiter;

static void *waiter_main(void *argument) {
    waiter *self = argument;
    world *of = self->of;
    const leat_database_step step = a_step(0);
    leat_error *err = &self->err;
    switch (self->call) {
    case RENEW: self->code = leat_database_renew(self->pg, &self->lease, self->why, err); break;
    case PUT:
        self->code =
            leat_database_put(self->pg, &self->lease, 0, of->payload, PART, self->why, err);
        break;
    case SUBMIT:
        self->code = leat_database_submit(self->pg, &self->lease, of->hash, self->why, err);
        break;
    case TAKE: self->code = leat_database_take(self->pg, "there", &self->hold, err); break;
    case RENEW_HOLD: self->code = leat_database_renew_hold(self->pg, &self->hold, err); break;
    case COMMIT: self->code = leat_database_commit(self->pg, &self->hold, &step, err); break;
    }
    return NULL;
}

/* Begins a call, which comes to a lock that another session has. */
static void waits(waiter *self, world *of, leat_pg *pg, call what,
                  const leat_database_lease *lease) {
    *self = (waiter){.of = of, .pg = pg, .call = what, .hold = of->hold};
    if (lease != NULL) self->lease = *lease;
    assert_int_equal(pthread_create(&self->thread, NULL, waiter_main, self), 0);
    while (strcmp(ask(of->owner, "select count(*) from pg_locks l join pg_stat_activity a using "
                                 "(pid) where not granted and a.datname = current_database()"),
                  "1") != 0)
        usleep(1000);
}

static void ends(waiter *self) {
    pthread_join(self->thread, NULL);
    must(self->code, &self->err);
}

static leat_pg *another(world *of, const char *login) {
    char name[32];
    snprintf(name, sizeof name, "%s", ask(of->owner, "select current_database()"));
    return cluster_connect(login, name);
}

/* The lease runs out while the call waits. Nobody has taken the unit over, so it counts, and is
 * held for its whole length from the moment at which the lock was free. */
static void leases_that_run_out(void **state) {
    world *of = *state;
    const struct {
        call call;
        const char *lock, *then;
    } cases[] = {
        {RENEW, "select from leat.lease for update",
         "select until = leat.clock() + interval '300 s' and renewed_at = leat.clock() from "
         "leat.lease"},
        {PUT, "select from leat.lease for update",
         "select until = leat.clock() + interval '300 s' and renewed_at = leat.clock() from "
         "leat.lease"},
        {SUBMIT, "select from leat.lease for update",
         "select state = 'used' and ended_at = leat.clock() from leat.lease"},
        {SUBMIT, "select from leat.unit where unit = 0 for update",
         "select state = 'used' and ended_at = leat.clock() from leat.lease"},
        {SUBMIT, "select from leat.run for update",
         "select state = 'used' and ended_at = leat.clock() from leat.lease"},
    };
    leat_pg *locker = another(of, "owner");
    join(of->ann, M1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        waiter ann;
        reset(of);
        const leat_database_lease lease = get(of, of->ann, M1, 0, false);
        put_all(of, of->ann, &lease);
        tell(locker, "begin");
        tell(locker, cases[i].lock);
        waits(&ann, of, of->ann, cases[i].call, &lease);
        pass(of, 400);
        tell(locker, "commit");
        ends(&ann);
        assert_string_equal(ann.why, "");
        if (strcmp(ask(of->owner, cases[i].then), "t") != 0) fail_msg("case %zu", i);
    }
    leat_pg_close(locker);
}

/* The lease has run out, and another machine takes the unit over while the call waits. */
static void units_that_are_taken_over(void **state) {
    world *of = *state;
    const call calls[] = {RENEW, PUT, SUBMIT};
    join(of->ann, M1);
    join(of->bob, M2);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        waiter ann;
        reset(of);
        tell(of->owner, "update leat.unit set state = 'confirmed' where unit > 0");
        const leat_database_lease lease = get(of, of->ann, M1, 0, false);
        put_all(of, of->ann, &lease);
        pass(of, 301);
        tell(of->bob, "begin");
        const leat_database_lease taken_over = claim_with(of, of->bob, M2, 0);
        assert_int_equal(taken_over.unit, 0);
        waits(&ann, of, of->ann, calls[i], &lease);
        tell(of->bob, "commit");
        ends(&ann);
        assert_string_equal(ann.why, taken);
        assert_string_equal(renew(of->bob, &taken_over), "");
    }
}

/* The other way round: a lease that has run out is renewed while another machine asks for a unit.
 */
static void leases_that_are_renewed(void **state) {
    world *of = *state;
    leat_database_lease got;
    leat_error err = {0};
    join(of->ann, M1);
    join(of->bob, M2);
    tell(of->owner, "update leat.unit set state = 'confirmed' where unit > 0");
    const leat_database_lease lease = get(of, of->ann, M1, 0, false);
    put_all(of, of->ann, &lease);
    pass(of, 200);
    tell(of->ann, "begin");
    assert_string_equal(renew(of->ann, &lease), "");
    pass(of, 150); /* after the old end, before the new one */
    /* Nobody waits for ann. She has been silent, before she is done and afterwards, so bob gets
     * copies; but he does not take the unit from her. */
    for (int done = 0; done < 2; done++) {
        must(leat_database_claim(of->bob, of->hold.run, M2, 0, &got, &err), &err);
        assert_true(got.lease != 0 && got.copy);
        if (done == 0) tell(of->ann, "commit");
    }
    assert_string_equal(submit(of->ann, &lease, of->hash), "");
}

/* A hold that runs out, or is renewed, while another coordinator waits for the run. */
static void holds_that_run_out(void **state) {
    world *of = *state;
    static const char holds[] =
        "select coordinator_until = leat.clock() + interval '15 s' from leat.run";
    leat_pg *locker = another(of, "owner"), *second = another(of, "owner");
    waiter there;
    tell(locker, "begin; select from leat.run for update");
    waits(&there, of, second, RENEW_HOLD, NULL);
    pass(of, 10);
    tell(locker, "commit");
    ends(&there);
    assert_string_equal(ask(of->owner, holds), "t");
    /* renewed: it is not free */
    pass(of, 10);
    leat_error err = {0};
    tell(locker, "begin");
    must(leat_database_renew_hold(locker, &of->hold, &err), &err);
    const leat_database_hold mine = of->hold;
    of->hold.fence = of->hold.epoch = 0; /* another one's */
    waits(&there, of, second, TAKE, NULL);
    pass(of, 10);
    tell(locker, "commit");
    pthread_join(there.thread, NULL);
    assert_int_equal(there.code, LEAT_ERR_BUSY);
    assert_non_null(strstr(there.err.message, "its hold ends in 5.0 s"));
    /* not renewed: it is, from the moment at which the lock was free */
    tell(locker, "begin; select from leat.run for update");
    waits(&there, of, second, TAKE, NULL);
    pass(of, 6);
    tell(locker, "commit");
    ends(&there);
    assert_int_equal(there.hold.fence, mine.fence + 1);
    assert_string_equal(ask(of->owner, holds), "t");
    leat_pg_close(locker);
    leat_pg_close(second);
}

/* A commit that waits has the time after it; or finds that the run has been taken over. */
static void commits_that_wait(void **state) {
    world *of = *state;
    leat_pg *locker = another(of, "owner"), *second = another(of, "owner");
    waiter here;
    leat_error err = {0};
    leat_database_hold there = {.run = of->hold.run};
    join(of->ann, M1);
    deliver_step(of);
    confirm_all(of, 0);
    pass(of, 16);
    tell(locker, "begin");
    must(leat_database_take(locker, "there", &there, &err), &err);
    waits(&here, of, second, COMMIT, NULL);
    tell(locker, "commit");
    pthread_join(here.thread, NULL);
    assert_int_equal(here.code, LEAT_ERR_BUSY);
    assert_string_equal(here.err.message, "\"there\" has taken over the run");
    assert_string_equal(ask(of->owner, "select step from leat.run"), "0");
    of->hold = there;
    /* past its hold, which nobody has taken over */
    tell(locker, "begin; select from leat.run for update");
    waits(&here, of, second, COMMIT, NULL);
    pass(of, 20);
    tell(locker, "commit");
    ends(&here);
    assert_string_equal(ask(of->owner, "select committed_at = leat.clock() from leat.step"), "t");
    assert_string_equal(ask(of->owner, "select step from leat.run"), "1");
    leat_pg_close(locker);
    leat_pg_close(second);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_condition_alone),
        TEST(parts_of_exactly_their_size),
        TEST(each_condition_of_a_commit_alone),
        TEST(leases_that_run_out),
        TEST(units_that_are_taken_over),
        TEST(leases_that_are_renewed),
        TEST(holds_that_run_out),
        TEST(commits_that_wait),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
