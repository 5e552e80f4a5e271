/*
 * The rule of plan_books.c is that of the database: the same machines, played once with books in
 * memory and once with the functions of the schema, on a clock that is moved, do the same at the
 * same instants.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "check.h"
#include "crowd/plan.h"
#include "world.h"

enum { MS = 1000, S = 1000000, MIB = 1 << 20, MACHINES_MAX = 10, UNITS_MAX = 64 };

typedef struct books {
    const leat_plan_setting *setting;
    leat_pg *owner, *logins[MACHINES_MAX];
    leat_database_hold hold;
    leat_database_lease leases[MACHINES_MAX][2]; /* that a machine may have */
    int64_t clock, step, claims, ahead;
    uint8_t result[PART];
    char hash[65];
} books;

static const char *machine_of(int64_t worker) {
    static char id[33];
    snprintf(id, sizeof id, "%032lld", (long long)worker);
    return id;
}

/* The server's clock shows so many microseconds after its beginning. */
static void set_clock(books *of, int64_t now) {
    char sql[128];
    if (now == of->clock) return;
    of->clock = now;
    snprintf(sql, sizeof sql,
             "update public.now set at = '2026-01-01'::timestamptz + %lld * interval '1 "
             "microsecond'",
             (long long)now);
    tell(of->owner, sql);
}

static leat_database_lease *find(books *of, int64_t worker, int64_t number) {
    for (int i = 0; i < 2; i++)
        if (of->leases[worker][i].lease == number) return &of->leases[worker][i];
    fail_msg("machine %lld has no lease %lld", (long long)worker, (long long)number);
    return NULL;
}

/* What was claimed is the machine's, besides what it keeps. */
static void keep(books *of, int64_t worker, int64_t kept, const leat_database_lease *lease,
                 leat_plan_lease *out) {
    leat_database_lease *to = of->leases[worker];
    *out = (leat_plan_lease){0};
    assert_string_equal(lease->news, "");
    if (lease->lease == 0) return;
    assert_int_equal(lease->step, of->step);
    *out = (leat_plan_lease){lease->lease, lease->unit, lease->copy};
    if (to->lease == kept && kept != 0) to++;
    *to = *lease;
}

static leat_code claimed(void *of_, int64_t now, int64_t worker, int64_t kept, leat_plan_lease *out,
                         leat_error *err) {
    books *of = of_;
    leat_database_lease lease;
    set_clock(of, now);
    of->claims++;
    LEAT_TRY(leat_database_claim(of->logins[worker], of->hold.run, machine_of(worker), kept, &lease,
                                 err));
    keep(of, worker, kept, &lease, out);
    return LEAT_OK;
}

static leat_code claimed_ahead(void *of_, int64_t now, int64_t worker, int64_t kept,
                               leat_plan_lease *out, leat_error *err) {
    books *of = of_;
    leat_database_lease lease;
    set_clock(of, now);
    LEAT_TRY(leat_database_claim_ahead(of->logins[worker], of->hold.run, machine_of(worker), kept,
                                       &lease, err));
    of->ahead += lease.lease != 0;
    keep(of, worker, kept, &lease, out);
    return LEAT_OK;
}

static leat_code renewed(void *of_, int64_t now, int64_t worker, const leat_plan_lease *lease,
                         bool *over, leat_error *err) {
    books *of = of_;
    char why[LEAT_CROWD_WORDS_BYTES];
    set_clock(of, now);
    LEAT_TRY(leat_database_renew(of->logins[worker], find(of, worker, lease->lease), why, err));
    *over = why[0] != 0;
    return LEAT_OK;
}

/* The last part alone has bytes: the database's results are small. */
static leat_code put_part(void *of_, int64_t now, int64_t worker, const leat_plan_lease *lease,
                          int64_t part, bool *over, leat_error *err) {
    books *of = of_;
    char why[LEAT_CROWD_WORDS_BYTES];
    const int64_t parts =
        (of->setting->payload_bytes + of->setting->part_bytes - 1) / of->setting->part_bytes;
    if (part + 1 < parts) return renewed(of_, now, worker, lease, over, err);
    set_clock(of, now);
    LEAT_TRY(leat_database_put(of->logins[worker], find(of, worker, lease->lease), 0, of->result,
                               PART, why, err));
    *over = why[0] != 0;
    return LEAT_OK;
}

static leat_code submitted(void *of_, int64_t now, int64_t worker, const leat_plan_lease *lease,
                           bool *over, leat_error *err) {
    books *of = of_;
    char why[LEAT_CROWD_WORDS_BYTES];
    set_clock(of, now);
    LEAT_TRY(leat_database_submit(of->logins[worker], find(of, worker, lease->lease), of->hash, why,
                                  err));
    *over = why[0] != 0;
    return LEAT_OK;
}

static leat_code released(void *of_, int64_t now, int64_t worker, const leat_plan_lease *lease,
                          leat_error *err) {
    books *of = of_;
    set_clock(of, now);
    return leat_database_release(of->logins[worker], find(of, worker, lease->lease), err);
}

static leat_code committed(void *of_, int64_t now, leat_error *err) {
    books *of = of_;
    leat_database_result results[UNITS_MAX];
    int count = 0;
    set_clock(of, now);
    LEAT_TRY(leat_database_renew_hold(of->owner, &of->hold, err));
    LEAT_TRY(leat_database_arrived(of->owner, of->hold.run, results, UNITS_MAX, &count, err));
    assert_int_equal(count, of->setting->units);
    for (int i = 0; i < count; i++) {
        bool done = false;
        LEAT_TRY(leat_database_confirm(of->owner, &of->hold, of->step, &results[i], &done, err));
        assert_true(done);
    }
    leat_database_step step = a_step(of->step);
    step.units = step.next_units = of->setting->units;
    LEAT_TRY(leat_database_commit(of->owner, &of->hold, &step, err));
    of->step++;
    return LEAT_OK;
}

static void open_books(books *of, const leat_plan_setting *setting) {
    static int number = 0;
    char name[32], login[32];
    leat_error err = {0};
    uint8_t digest[32];
    leat_sha256 sha;
    *of = (books){.setting = setting, .clock = -1};
    assert_true(setting->workers <= MACHINES_MAX && setting->units <= UNITS_MAX);
    snprintf(name, sizeof name, "p%d", number++);
    cluster_database(name);
    of->owner = cluster_connect("owner", name);
    must(leat_database_install(of->owner, &err), &err);
    tell(of->owner, "create table public.now (at timestamptz); insert into public.now values "
                    "('2026-01-01'); grant select on public.now to public; "
                    "create or replace function leat.clock() returns timestamptz language sql "
                    "volatile as 'select at from public.now'");
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, of->result, PART);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, of->hash);
    leat_database_run run = a_run("plan");
    run.units = setting->units;
    run.steps = setting->steps + 1; /* the last one stays open */
    run.payload_bytes = PART;
    run.lease_ms = setting->lease_us / MS;
    run.silent_ms = setting->silent_us / MS;
    must(leat_database_create_run(of->owner, &run, &of->hold.run, &err), &err);
    must(leat_database_take(of->owner, "here", &of->hold, &err), &err);
    must(open_step(of->owner, &of->hold, 0, 0, setting->units, &err), &err);
    for (int64_t i = 0; i < setting->workers; i++) {
        snprintf(login, sizeof login, "machine%lld", (long long)i);
        of->logins[i] = cluster_connect(login, name);
        join(of->logins[i], machine_of(i));
    }
}

static void close_books(books *of) {
    leat_pg_close(of->owner);
    for (int64_t i = 0; i < of->setting->workers; i++) leat_pg_close(of->logins[i]);
}

/* Both ways; prints what came out. */
static leat_plan_sums compare(const leat_plan_setting *setting) {
    static books of;
    leat_plan_sums memory, database;
    assert_ok(leat_plan_run(setting, &memory, err));
    open_books(&of, setting);
    const leat_plan_books calls = {&of,      claimed,   claimed_ahead, renewed,
                                   put_part, submitted, released,      committed};
    assert_ok(leat_plan_play(setting, &calls, &database, err));
    print_message(
        "%lld units, %lld machines: %.3f s a step, %lld copies; with the database %.3f s, "
        "%lld copies, %lld claims\n",
        (long long)setting->units, (long long)setting->workers,
        1e-6 * (double)memory.us / (double)memory.steps, (long long)memory.copies,
        1e-6 * (double)database.us / (double)database.steps, (long long)database.copies,
        (long long)of.claims);
    assert_int_equal(memory.us, database.us);
    assert_memory_equal(&memory, &database, sizeof memory);
    assert_true((of.ahead > 0) == (setting->sample_bytes > 0));
    close_books(&of);
    return memory;
}

static leat_plan_setting ten(int64_t units) {
    leat_plan_setting of = leat_plan_setting_default();
    of.workers = 10;
    of.units = units;
    of.steps = 4;
    of.unit_us = 20 * S;
    of.spread = 0.3;
    of.payload_bytes = 2 * MIB + MIB / 2;
    of.weights_bytes = MIB;
    of.up_bits = of.down_bits = 100000000;
    of.server_bits = 1000000000;
    of.read_us = 20 * MS;
    of.commit_us = 500 * MS;
    of.call_us = 2 * MS;
    return of;
}

static void thirty_units(void **state) {
    const leat_plan_setting of = ten(30);
    (void)state;
    assert_true(compare(&of).copies > 0);
}

/* Copies of nearly all units, many of which come first. */
static void few_units(void **state) {
    leat_plan_setting of = ten(6);
    (void)state;
    of.spread = 0.6;
    of.seed = 1;
    const leat_plan_sums sums = compare(&of);
    assert_true(sums.copies >= 6 && sums.abandoned > 0);
}

/* Parts that take longer than silence may last, and weights that are replaced while they are
 * fetched. */
static void slow_links(void **state) {
    leat_plan_setting of = ten(3);
    (void)state;
    of.workers = 5;
    of.unit_us = 5 * S;
    of.up_bits = of.down_bits = 200000; /* a part in 42 s */
    of.payload_bytes = MIB;
    of.weights_bytes = MIB + MIB / 2;
    of.spread = 1;
    assert_true(compare(&of).copies > 0);
}

/* Logins are those of a server, not of a database. */
static int create_logins(void **state) {
    leat_pg *owner = cluster_connect("owner", "postgres");
    (void)state;
    for (int i = 0; i < MACHINES_MAX; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "create role machine%d login", i);
        tell(owner, sql);
    }
    leat_pg_close(owner);
    return 0;
}

/* Units that are claimed while another one is computed, so that their samples come meanwhile. */
static void served(void **state) {
    leat_plan_setting of = ten(30);
    (void)state;
    of.steps = 3;
    of.sample_bytes = 3 * MIB;
    of.down_bits = 10000000;
    assert_true(compare(&of).copies > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(thirty_units), cmocka_unit_test(few_units),
                                       cmocka_unit_test(slow_links), cmocka_unit_test(served)};
    cluster_start();
    return cmocka_run_group_tests(tests, create_logins, NULL);
}
