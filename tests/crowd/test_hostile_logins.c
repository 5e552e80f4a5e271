/*
 * What a login can do to a run, and what is done about it: bob does what no worker does, on a real
 * server, while ann and a coordinator go on. The looks of the coordinator for sessions that block
 * have times of the test's own.
 */
/* No TSan: a thread makes one call of the database, and the test waits for it. */
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

#include "crowd/blockers.h"
#include "world.h"

#define SECONDS INT64_C(1000000000)
#define LOCK_RUN "select from leat.run for no key update"

static leat_pg *another(world *of, const char *login) {
    char name[32];
    snprintf(name, sizeof name, "%s", ask(of->owner, "select current_database()"));
    return cluster_connect(login, name);
}

/* ---- a statement in a thread ----------------------------------------------------------------- */

typedef struct waiter {
    pthread_t thread;
    leat_pg *pg;
    const char *sql;
    atomic_bool done;
    leat_code code;
    leat_error err;
} waiter;

static void *waiter_main(void *argument) {
    waiter *self = argument;
    self->code = leat_pg_script(self->pg, self->sql, &self->err);
    atomic_store(&self->done, true);
    return NULL;
}

/* Until it waits for a lock that another session has. */
static void until_waiting(waiter *self, world *of) {
    while (strcmp(ask(of->owner, "select count(*) from pg_locks l join pg_stat_activity a using "
                                 "(pid) where not granted and a.datname = current_database()"),
                  "1") != 0) {
        if (atomic_load(&self->done)) fail_msg("%s waits for nothing", self->sql);
        usleep(2000);
    }
}

/* Begins it, and it comes to a lock that another session has. */
static void begins(waiter *self, world *of, leat_pg *pg, const char *sql) {
    self->pg = pg;
    self->sql = sql;
    self->err = (leat_error){0};
    atomic_store(&self->done, false);
    assert_int_equal(pthread_create(&self->thread, NULL, waiter_main, self), 0);
    until_waiting(self, of);
}

static void ends(waiter *self) {
    pthread_join(self->thread, NULL);
    must(self->code, &self->err);
}

/* As a coordinator waits. */
static leat_pg *coordinator(world *of) {
    leat_pg *pg = another(of, "owner");
    tell(pg, "set application_name = 'leat coordinate'; set lock_timeout = 20000");
    return pg;
}

/* ---- sessions that block --------------------------------------------------------------------- */

static bool is_ended(leat_pg *pg) {
    leat_error err = {0};
    return leat_pg_script(pg, "select 1", &err) != LEAT_OK && leat_pg_broken(pg);
}

/* A session of bob with a transaction that has the run locked. */
static void block(leat_pg *pg, int machine) {
    char sql[300];
    snprintf(sql, sizeof sql,
             "select leat.register('', '%032d', '', '', ''); begin; select leat.claim(1, '%032d', "
             "0)",
             machine, machine);
    leat_error err = {0};
    const char *at = strchr(sql, ';') + 1;
    sql[at - sql - 1] = 0;
    must(leat_pg_script(pg, sql, &err), &err); /* a transaction of its own */
    must(leat_pg_script(pg, at, &err), &err);
}

enum { SESSIONS = 4 };

/* Blocks with several sessions at once until they are ended; what is said. */
static void block_and_end(world *of, leat_blockers *blockers, int64_t *now_ns) {
    leat_pg *pg = coordinator(of), *bob[SESSIONS];
    leat_error err = {0};
    waiter waits;
    blockers->line[0] = 0;
    for (int i = 0; i < SESSIONS; i++) {
        bob[i] = another(of, "bob");
        block(bob[i], i);
    }
    begins(&waits, of, pg, LOCK_RUN);
    int looks = 0;
    for (; looks < 20 && blockers->line[0] == 0; looks++, *now_ns += SECONDS)
        must(leat_blockers_look(blockers, of->owner, &of->hold, *now_ns, &err), &err);
    assert_in_range(looks, 10, 11);
    ends(&waits); /* none of them blocks any more */
    for (int i = 0; i < SESSIONS; i++) {
        assert_true(is_ended(bob[i]));
        leat_pg_close(bob[i]);
    }
    leat_pg_close(pg);
}

/* They are ended together, their login is blamed once, and the third time it is kept out. */
static void sessions_that_overlap(void **state) {
    world *of = *state;
    leat_blockers blockers = {0};
    leat_error err = {0};
    leat_pg_place place;
    leat_pg *pg = NULL;
    int64_t now_ns = SECONDS;
    join_and_ask(of, of->ann, M1);
    for (int i = 0; i < 3; i++) {
        block_and_end(of, &blockers, &now_ns);
        assert_non_null(strstr(blockers.line, " blocked the run for 10 s, and was ended: login "
                                              "\"bob\""));
        assert_int_equal(strstr(blockers.line, "gets no units for an hour and is kept out") != NULL,
                         i == 2);
        if (i < 2) assert_non_null(strstr(blockers.line, "\"bob\", with 3 more of its sessions"));
    }
    assert_string_equal(ask(of->owner, "select blocks || ' ' || (select count(*) from leat.event "
                                       "where kind = 'blocked') from leat.account"),
                        "3 3");
    cluster_place(&place, "bob", ask(of->owner, "select current_database()"));
    assert_int_equal(leat_pg_connect(&pg, &place, "test", 60000, NULL, &err), LEAT_ERR_OPTION);
    tell(of->owner, "alter role bob login");
    assert_true(is_ended(of->bob));
    get(of, of->ann, M1, 0, false);
}

/* Each transaction for less than 2 s, each statement of the coordinator for 3 s, and with a rest.
 */
static void sessions_that_take_turns(void **state) {
    world *of = *state;
    leat_blockers blockers = {0};
    leat_error err = {0};
    leat_pg *pg = coordinator(of), *bob[2] = {another(of, "bob"), another(of, "bob")};
    int64_t now_ns = SECONDS;
    int statements = 0;
    for (; statements < 20 && blockers.line[0] == 0; statements++) {
        waiter waits;
        for (int i = 0; i < 4 && blockers.line[0] == 0; i++, now_ns += SECONDS) {
            block(bob[i % 2], i % 2);
            if (i == 0) begins(&waits, of, pg, LOCK_RUN);
            else tell(bob[(i + 1) % 2], "rollback"), until_waiting(&waits, of);
            must(leat_blockers_look(&blockers, of->owner, &of->hold, now_ns, &err), &err);
        }
        if (blockers.line[0] == 0) tell(bob[1], "rollback");
        ends(&waits);
        if (blockers.line[0] != 0) continue;
        must(leat_blockers_look(&blockers, of->owner, &of->hold, now_ns, &err), &err);
    }
    assert_int_equal(statements, 4); /* of 3 s each, without what rests take off */
    assert_string_equal(ask(of->owner, "select blocks from leat.account"), "1");
    for (int i = 0; i < 2; i++) leat_pg_close(bob[i]);
    leat_pg_close(pg);
}

/* A login that works is seen to block at each look, by chance, and the coordinator goes on. */
static void sessions_that_work(void **state) {
    world *of = *state;
    leat_blockers blockers = {0};
    leat_error err = {0};
    leat_pg *pg = coordinator(of), *bob = another(of, "bob");
    for (int i = 0; i < 14; i++) {
        waiter waits;
        block(bob, 1);
        begins(&waits, of, pg, LOCK_RUN);
        must(leat_blockers_look(&blockers, of->owner, &of->hold, i * SECONDS, &err), &err);
        assert_string_equal(blockers.line, "");
        tell(bob, "rollback");
        ends(&waits);
    }
    leat_pg_close(bob);
    leat_pg_close(pg);
}

/* Who waits for the run has no hold, and blames nevertheless. */
static void before_the_run_is_held(void **state) {
    world *of = *state;
    leat_error err = {0};
    bool suspended = true;
    const leat_database_hold none = {of->hold.run, 0, 0};
    must(leat_database_blame(of->owner, &none, "bob", "it", &suspended, &err), &err);
    assert_false(suspended);
    assert_string_equal(ask(of->owner, "select blocks from leat.account where name = 'bob'"), "1");
}

/* Nothing that a volunteer has locked keeps the coordinator from blaming. */
static void blame_waits_for_nobody(void **state) {
    world *of = *state;
    leat_error err = {0};
    bool suspended = false;
    join_and_ask(of, of->ann, M1);
    join(of->bob, M2);
    leat_database_lease lease = get(of, of->bob, M2, 0, false);
    tell(of->bob, "begin; select leat.claim(1, '" M2 "', 0); select leat.fail(max(l.lease), 0, "
                  "'') from (select 1 as lease) l");
    tell(of->owner, "set lock_timeout = 500");
    for (int i = 0; i < 3; i++)
        must(leat_database_blame(of->owner, &of->hold, "bob", "it", &suspended, &err), &err);
    assert_true(suspended);
    tell(of->bob, "rollback");
    /* its lease was locked then */
    assert_string_equal(ask(of->owner, "select state from leat.lease order by lease desc limit 1"),
                        "live");
    must(leat_database_blame(of->owner, &of->hold, "bob", "it", &suspended, &err), &err);
    assert_string_equal(ask(of->owner, "select l.state || ' ' || u.state from leat.lease l join "
                                       "leat.unit u using (unit) order by l.lease desc limit 1"),
                        "released ready");
    assert_true(lease.lease > 0);
}

/* Each savepoint keeps a lock, of which the server has one table for all. */
static void sessions_that_hoard_locks(void **state) {
    world *of = *state;
    leat_blockers blockers = {0};
    leat_error err = {0};
    tell(of->ann, "begin; select 1");
    tell(of->bob, "begin");
    for (int i = 0; i < 600; i++) tell(of->bob, "savepoint s; alter role bob password null");
    must(leat_blockers_look(&blockers, of->owner, &of->hold, 0, &err), &err);
    assert_non_null(strstr(blockers.line, "of login \"bob\" was ended: it had 6"));
    assert_true(is_ended(of->bob));
    assert_string_equal(ask(of->owner, "select name || ' ' || blocks from leat.account"), "bob 1");
    tell(of->ann, "commit");
}

/* Who reads and stays keeps rows from being cleaned up; backups may. */
static void transactions_that_stay(void **state) {
    world *of = *state;
    leat_database_greedy found;
    leat_error err = {0};
    tell(of->owner, "alter role ann replication"); /* as pg_read_all_data, of PostgreSQL 14 */
    tell(of->ann, "begin isolation level repeatable read; select 1");
    tell(of->bob, "begin isolation level repeatable read; select 1");
    must(leat_database_end_greedy(of->owner, 600000, &found, &err), &err);
    assert_int_equal(found.count, 0);
    must(leat_database_end_greedy(of->owner, 0, &found, &err), &err);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.account, "bob");
    assert_false(found.hoards);
    assert_true(is_ended(of->bob));
    tell(of->ann, "commit");
    tell(of->owner, "alter role ann noreplication");
}

/* A login that has changed itself in a transaction is kept out nevertheless. */
static void keeps_out_who_holds_the_login(void **state) {
    world *of = *state;
    char line[LEAT_DATABASE_STATEMENT_BYTES];
    leat_error err = {0};
    tell(of->bob, "begin; alter role bob password 'y'");
    must(leat_database_keep_out(of->owner, "bob", line, &err), &err);
    assert_string_equal(line, "");
    assert_string_equal(ask(of->owner, "select rolcanlogin from pg_roles where rolname = 'bob'"),
                        "f");
    tell(of->owner, "alter role bob login");
    assert_true(is_ended(of->bob));
}

static void prepared_transactions(void **state) {
    world *of = *state;
    leat_blockers blockers = {0};
    leat_error err = {0};
    leat_pg *pg = coordinator(of);
    waiter waits;
    block(of->bob, 2);
    tell(of->bob, "prepare transaction 'it''s \\ left'");
    begins(&waits, of, pg, LOCK_RUN);
    must(leat_blockers_look(&blockers, of->owner, &of->hold, 0, &err), &err);
    assert_string_equal(blockers.line, "");
    must(leat_blockers_look(&blockers, of->owner, &of->hold, 10 * SECONDS, &err), &err);
    assert_string_equal(blockers.line, "a prepared transaction blocked the run for 10 s, and was "
                                       "undone: login \"bob\"");
    ends(&waits);
    assert_string_equal(ask(of->owner, "select blocks from leat.account where name = 'bob'"), "1");
    /* also where a table is waited for */
    block(of->bob, 2);
    tell(of->bob, "prepare transaction 'left'");
    blockers.line[0] = 0;
    begins(&waits, of, pg, "begin; lock table leat.lease; rollback");
    for (int i = 100; i < 120; i += 10)
        must(leat_blockers_look(&blockers, of->owner, &of->hold, i * SECONDS, &err), &err);
    assert_non_null(strstr(blockers.line, "and was undone: login \"bob\""));
    ends(&waits);
    /* that of an administrator is named */
    tell(of->owner, "begin; " LOCK_RUN "; prepare transaction 'it''s \\ left'");
    blockers.line[0] = 0;
    begins(&waits, of, pg, LOCK_RUN);
    for (int i = 200; i < 220; i += 10)
        must(leat_blockers_look(&blockers, of->owner, &of->hold, i * SECONDS, &err), &err);
    assert_string_equal(blockers.line,
                        "a prepared transaction of login \"owner\" blocks the run; let that login "
                        "or an administrator run, in this database: ROLLBACK PREPARED E'it''s \\\\"
                        " left';");
    tell(of->owner, strstr(blockers.line, "ROLLBACK"));
    ends(&waits);
    leat_pg_close(pg);
}

/* ---- suspended logins ------------------------------------------------------------------------ */

/* A call that has waited sees that its login was suspended meanwhile, and has locked nothing. */
static void suspended_while_it_waits(void **state) {
    world *of = *state;
    static const char *const calls[] = {
        "begin; select leat.claim(1, '" M2 "', 0)",
        "begin; select leat.release(lease, epoch) from public.mine",
        "begin; select leat.fail(lease, epoch, '') from public.mine",
        "begin; select leat.submit(lease, epoch, '') from public.mine",
        "begin; select leat.register('', '" M2 "', 'secret', '', '')",
    };
    join_and_ask(of, of->ann, M1);
    join(of->bob, M2);
    get(of, of->bob, M2, 0, false);
    tell(of->owner, "create table public.mine as select lease, epoch from leat.lease where account "
                    "= 'bob'; grant select on public.mine to bob");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        waiter waits;
        leat_pg *const second = another(of, "owner");
        tell(of->owner, "delete from leat.account");
        tell(of->owner, "begin; " LOCK_RUN);
        begins(&waits, of, of->bob, calls[i]);
        tell(second, "insert into leat.account (name, suspended_until, suspended_for) values "
                     "('bob', leat.clock() + interval '1 hour', 'it did')");
        tell(of->owner, "commit");
        pthread_join(waits.thread, NULL);
        assert_int_equal(waits.code, LEAT_ERR_INPUT);
        assert_non_null(strstr(waits.err.message, "this login gets no units until 2026-01-01 01:00 "
                                                  "UTC: it did"));
        assert_string_equal(leat_pg_sqlstate(of->bob), "55P03"); /* it passes */
        tell(second, "set lock_timeout = 1000; begin; select from leat.run for update; select from "
                     "leat.unit for update; select from leat.lease for update; select from "
                     "leat.machine for update; rollback");
        tell(of->bob, "rollback");
        leat_pg_close(second);
    }
    /* and so does one that does not wait, without a lock */
    tell(of->owner, "begin; select from leat.run for update; select from leat.machine for update");
    tell(of->bob, "set lock_timeout = 1000");
    join(of->bob, M2);
    join(of->bob, M3);
    assert_non_null(strstr(claim_with(of, of->bob, M2, 0).news, "this login gets no units until"));
    tell(of->owner, "rollback");
    assert_string_equal(ask(of->owner, "select count(*) from leat.machine where id = '" M3 "'"),
                        "0");
}

/* ---- one login, several people --------------------------------------------------------------- */

/* Whoever knows the id of a machine, and not its secret, is not that machine. */
static void machines_of_others(void **state) {
    world *of = *state;
    leat_pg *other = another(of, "bob");
    leat_pg_rows *rows = NULL;
    leat_database_run run;
    leat_database_lease none;
    leat_error err = {0};
    bool known = true;
    char sql[200];
    const leat_database_machine wrong = {M2, "another", "", ""};
    join(of->bob, M2);
    leat_database_lease lease = get(of, of->bob, M2, 0, false);
    assert_int_equal(leat_database_register(other, "", &wrong, &run, &rows, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "key file has lost its secret"));
    must(leat_database_rejoin(other, M2, "another", &known, &err), &err);
    assert_false(known);
    snprintf(sql, sizeof sql, "set leat.session = '%s'",
             ask(of->owner, "select session from leat.machine"));
    tell(other, sql); /* it may know that, too */
    assert_int_equal(leat_database_claim(other, 1, M2, 0, &none, &err), LEAT_ERR_NOT_FOUND);
    assert_string_equal(renew(other, &lease), LEAT_DATABASE_CLONED);
    assert_string_equal(put(of, other, &lease, 0), LEAT_DATABASE_CLONED);
    assert_string_equal(submit(other, &lease, of->hash), LEAT_DATABASE_CLONED);
    must(leat_database_release(other, &lease, &err), &err);
    must(leat_database_fail(other, &lease, "no", &err), &err);
    must(leat_database_slow(other, 1, M2, "no", &err), &err);
    assert_string_equal(ask(of->owner, "select state || ' ' || (select count(*) from leat.event) "
                                       "from leat.lease"),
                        "live 0");
    put_all(of, of->bob, &lease);
    /* the same machine, after a connection that was lost: its lease goes on, in that session alone
     */
    must(leat_database_rejoin(other, M2, "secret", &known, &err), &err);
    assert_true(known);
    assert_string_equal(renew(of->bob, &lease), LEAT_DATABASE_CLONED);
    assert_string_equal(submit(other, &lease, of->hash), "");
    leat_pg_close(other);
}

/* ---- what is kept, and what is sent ---------------------------------------------------------- */

/* What a login reports removes nothing that is said of it, or of others. */
static void events_of_each(void **state) {
    world *of = *state;
    join(of->bob, M2);
    tell(of->owner, "select leat.note(1, 'blocked', 'bob', null, 'a'), leat.note(1, 'failed', "
                    "'ann', null, 'b')");
    tell(of->owner, "insert into leat.event (run, kind, account, words) select 1, 'failed', 'bob', "
                    "'no' from generate_series(1, 495)");
    tell(of->bob, "select count(leat.fail(c.lease, c.epoch, 'no')) from generate_series(1, 10) i, "
                  "lateral leat.claim(1, '" M2 "', i * 0) c");
    assert_string_equal(ask(of->owner, "select string_agg(n || ' ' || kind, ', ' order by n) from "
                                       "(select count(*) as n, kind || account as kind from "
                                       "leat.event group by 2) e"),
                        "1 blockedbob, 1 failedann, 500 failedbob");
}

#define SEND                                                                                       \
    "do $$ begin for i in 1 .. 20 loop begin perform leat.put(lease, epoch, 0, "                   \
    "decode(repeat('00', 1024), 'hex')) from public.mine; raise exception 'undo'; exception when " \
    "raise_exception then null; end; end loop; end $$"

static void parts_that_are_undone(void **state) {
    world *of = *state;
    leat_database_lease lease;
    /* what counts them cannot be undone with them */
    tell(of->bob, "begin; select leat.register('', '" M2 "', 'secret', '', '')");
    assert_string_equal(ask(of->bob, "select leat.put(c.lease, c.epoch, 0, decode(repeat('00', "
                                     "1024), 'hex')) from leat.claim(1, '" M2 "', 0) c"),
                        "a login is registered in a transaction of its own");
    tell(of->bob, "rollback");
    join(of->bob, M2);
    lease = get(of, of->bob, M2, 0, false);
    tell(of->owner, "create table public.mine as select lease, epoch from leat.lease; grant select "
                    "on public.mine to bob");
    tell(of->owner, "select setval('leat.sent_2', 766)"); /* as if it had done so before */
    tell(of->bob, SEND);
    assert_string_equal(put(of, of->bob, &lease, 0),
                        "this login has sent more than four results for each unit that it was "
                        "given");
    assert_string_equal(ask(of->owner, "select last_value + 1 from leat.sent_2"), "781");
    /* another unit is another four; ann is not concerned */
    lease = get(of, of->bob, M2, 1, false);
    deliver(of, of->bob, &lease);
    join(of->ann, M1);
    lease = get(of, of->ann, M1, 2, false);
    deliver(of, of->ann, &lease);
}

#define SEND_MUCH                                                                                  \
    "do $$ declare c record; why text; begin for i in 1 .. 700 loop select * into c from "         \
    "leat.claim(1, '" M2 "', 0); end loop; for i in 1 .. 20000 loop "                              \
    "why := leat.put(c.lease, c.epoch, 0, decode(repeat('00', 1024), 'hex')); "                    \
    "exit when why is not null; end loop; end $$"

/* Units that it was given in a transaction that it undoes let it send nothing afterwards. */
static void units_that_are_undone(void **state) {
    world *of = *state;
    join(of->bob, M2);
    leat_database_lease lease = get(of, of->bob, M2, 0, false);
    tell(of->bob, "begin; " SEND_MUCH);
    tell(of->bob, "rollback");
    assert_string_equal(put(of, of->bob, &lease, 0),
                        "this login has sent more than four results for each unit that it was "
                        "given");
    tell(of->bob, "begin; " SEND_MUCH "; rollback");
    assert_string_equal(put(of, of->bob, &lease, 0),
                        "this login has sent more than four results for each unit that it was "
                        "given");
}

/* Machines that the owner removes, as docs/security.md says, take nothing from their login. */
static void grants_of_removed_machines(void **state) {
    world *of = *state;
    join(of->bob, M2);
    tell(of->owner, "update leat.machine set granted = 3000; select setval('leat.sent_1', 12000)");
    tell(of->owner, "delete from leat.machine");
    join(of->bob, M2);
    leat_database_lease lease = get(of, of->bob, M2, 0, false);
    deliver(of, of->bob, &lease);
}

/* ---- logins that are removed ----------------------------------------------------------------- */

/* What a login did is not what the next one of its name did. */
static void another_of_that_name(void **state) {
    world *of = *state;
    join_and_ask(of, of->ann, M1);
    for (int i = 0; i < 2; i++) {
        join(of->bob, M2);
        leat_database_lease lease = get(of, of->bob, M2, 0, false);
        tell(of->owner, "insert into leat.account (name, blocks, blocks_since, suspended_until, "
                        "suspended_for) values ('bob', 3, leat.clock(), leat.clock() + interval "
                        "'1 hour', 'it did'); select leat.note(1, 'blocked', 'bob', null, 'it')");
        assert_string_equal(claim_with(of, of->bob, M2, lease.lease).news,
                            "this login gets no units until 2026-01-01 01:00 UTC: it did");
        assert_string_equal(ask(of->owner, "select leases from leat.revoke('bob')"), "1");
    }
    assert_string_equal(ask(of->owner, "select string_agg(name, '; ' order by name) from "
                                       "leat.account where blocks = 3"),
                        "bob (removed 2026-01-01); bob (removed 2026-01-01, 2)");
    assert_string_equal(ask(of->owner, "select count(*) || ' ' || count(*) filter (where name <> "
                                       "'') from leat.events where account like 'bob (%'"),
                        "2 0");
    assert_string_equal(ask(of->owner, "select count(*) from (select account from leat.machine "
                                       "union all select account from leat.lease union all select "
                                       "account from leat.meter) a where account = 'bob'"),
                        "0");
}

/* The hash of a large result takes time: nothing is locked meanwhile. */
static void hashes_without_locks(void **state) {
    world *of = *state;
    join(of->ann, M1);
    leat_database_lease lease = get(of, of->ann, M1, 0, false);
    put_all(of, of->ann, &lease);
    tell(of->owner,
         "create or replace function leat.check_parts(p_lease bigint, p_hash text) returns text "
         "language sql volatile as $$ select string_agg(l.relation::regclass || ' ' || "
         "l.mode, ', ') from pg_locks l where l.pid = pg_backend_pid() and l.relation "
         "in ('leat.run'::regclass, 'leat.unit'::regclass, 'leat.lease'::regclass) and "
         "l.mode <> 'AccessShareLock' $$");
    assert_string_equal(submit(of->ann, &lease, of->hash), "");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(sessions_that_overlap),
        TEST(sessions_that_take_turns),
        TEST(sessions_that_work),
        TEST(before_the_run_is_held),
        TEST(blame_waits_for_nobody),
        TEST(prepared_transactions),
        TEST(keeps_out_who_holds_the_login),
        TEST(sessions_that_hoard_locks),
        TEST(transactions_that_stay),
        TEST(suspended_while_it_waits),
        TEST(machines_of_others),
        TEST(events_of_each),
        TEST(parts_that_are_undone),
        TEST(units_that_are_undone),
        TEST(grants_of_removed_machines),
        TEST(another_of_that_name),
        TEST(hashes_without_locks),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
