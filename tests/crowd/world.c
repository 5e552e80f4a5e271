/* See world.h. */
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"

void must(leat_code code, const leat_error *err) {
    if (code != LEAT_OK) fail_msg("%s", err->message);
}

/* Moves the clock of the server by seconds. */
void pass(world *of, double seconds) {
    char sql[128];
    snprintf(sql, sizeof sql, "update public.now set at = at + %f * interval '1 second'", seconds);
    tell(of->owner, sql);
}

leat_database_run a_run(const char *name) {
    return (leat_database_run){.name = name,
                               .identity = HASH64,
                               .settings = "width: 6\n",
                               .model = "dcgan",
                               .model_hash = HASH64,
                               .data = HASH64,
                               .data_note = "ask ann",
                               .kernel_class = "987ed34e963da973",
                               .leat_version = "0.1.0",
                               .value_names = "loss norm",
                               .samples = 1000,
                               .units = UNITS,
                               .unit_size = 100,
                               .steps = STEPS,
                               .payload_bytes = PAYLOAD,
                               .weights_bytes = WEIGHTS,
                               .state_bytes = STATE,
                               .memory_bytes = 1,
                               .part_bytes = PART,
                               .lease_ms = LEASE_MS,
                               .renew_ms = 10000,
                               .silent_ms = SILENT_MS,
                               .hold_ms = HOLD_MS};
}

leat_code open_step(leat_pg *pg, const leat_database_hold *hold, int64_t step, int slot,
                    int64_t units, leat_error *err) {
    const leat_database_opening of = {
        .step = step, .units = units, .slot = slot, .weights = HASH64};
    return leat_database_open_step(pg, hold, &of, err);
}

void open_run(world *of, const char *name) {
    leat_error err = {0};
    const leat_database_run run = a_run(name);
    must(leat_database_create_run(of->owner, &run, &of->hold.run, &err), &err);
    must(leat_database_take(of->owner, "here", &of->hold, &err), &err);
    must(leat_database_clear(of->owner, &of->hold, LEAT_DATABASE_WEIGHTS, 0, 100, NULL, &err),
         &err);
    must(leat_database_write(of->owner, &of->hold, LEAT_DATABASE_WEIGHTS, 0, of->weights, WEIGHTS,
                             PART, &err),
         &err);
    must(open_step(of->owner, &of->hold, 0, 0, UNITS, &err), &err);
}

/* A database of its own for each test, named after it. */
int world_setup(void **state) {
    static int number = 0;
    static world of;
    char name[32];
    leat_error err = {0};
    uint8_t digest[32];
    leat_sha256 sha;
    of = (world){0};
    snprintf(name, sizeof name, "t%d", number++);
    cluster_database(name);
    of.owner = cluster_connect("owner", name);
    of.ann = cluster_connect("ann", name);
    of.bob = cluster_connect("bob", name);
    must(leat_database_install(of.owner, &err), &err);
    tell(of.owner, "create table public.now (at timestamptz); insert into public.now values "
                   "('2026-01-01'); grant select on public.now to public; "
                   "create or replace function leat.clock() returns timestamptz language sql "
                   "volatile as 'select at from public.now'");
    for (int i = 0; i < PAYLOAD; i++) of.payload[i] = (uint8_t)(i * 7 + i / 256);
    for (int i = 0; i < WEIGHTS; i++) of.weights[i] = (uint8_t)(i * 5 + i / 256);
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, of.payload, PAYLOAD);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, of.hash);
    open_run(&of, "run-a");
    *state = &of;
    return 0;
}

int world_teardown(void **state) {
    world *of = *state;
    leat_pg_close(of->owner);
    leat_pg_close(of->ann);
    leat_pg_close(of->bob);
    return 0;
}

/* ---- short words for what tests do ------------------------------------------------------------
 */

void join(leat_pg *who, const char *machine) {
    leat_database_run run;
    leat_pg_rows *rows = NULL;
    leat_error err = {0};
    const leat_database_machine of = {machine, "secret", "name", "cpu"};
    must(leat_database_register(who, "", &of, &run, &rows, &err), &err);
    leat_pg_rows_destroy(rows);
}

void join_and_ask(world *of, leat_pg *who, const char *machine) {
    leat_error err = {0};
    join(who, machine);
    const leat_database_lease lease = claim_with(of, who, machine, 0);
    assert_true(lease.lease > 0);
    must(leat_database_release(who, &lease, &err), &err);
}

leat_database_lease claim_with(world *of, leat_pg *who, const char *machine, int64_t kept) {
    leat_database_lease lease;
    leat_error err = {0};
    must(leat_database_claim(who, of->hold.run, machine, kept, &lease, &err), &err);
    return lease;
}

leat_database_lease claim_ahead(world *of, leat_pg *who, const char *machine, int64_t kept) {
    leat_database_lease lease;
    leat_error err = {0};
    must(leat_database_claim_ahead(who, of->hold.run, machine, kept, &lease, &err), &err);
    return lease;
}

leat_database_lease claim(world *of, leat_pg *who, const char *machine) {
    char sql[200];
    snprintf(sql, sizeof sql,
             "select coalesce(max(lease), 0) from leat.lease where state = 'live' and machine = "
             "'%s'",
             machine);
    return claim_with(of, who, machine, strtoll(ask(of->owner, sql), NULL, 10));
}

/* A claim that must give this unit. */
leat_database_lease get(world *of, leat_pg *who, const char *machine, int64_t unit, bool copy) {
    leat_database_lease lease = claim(of, who, machine);
    if (lease.lease == 0) fail_msg("no unit for %.2s", machine);
    assert_int_equal(lease.unit, unit);
    assert_int_equal(lease.copy, copy);
    return lease;
}

const char *renew(leat_pg *who, const leat_database_lease *lease) {
    static char why[LEAT_CROWD_WORDS_BYTES];
    leat_error err = {0};
    must(leat_database_renew(who, lease, why, &err), &err);
    return why;
}

const char *put(world *of, leat_pg *who, const leat_database_lease *lease, int64_t part) {
    static char why[LEAT_CROWD_WORDS_BYTES];
    leat_error err = {0};
    const int64_t first = part * PART, left = PAYLOAD - first;
    must(leat_database_put(who, lease, part, of->payload + first, left < PART ? left : PART, why,
                           &err),
         &err);
    return why;
}

const char *submit(leat_pg *who, const leat_database_lease *lease, const char *hash) {
    static char why[LEAT_CROWD_WORDS_BYTES];
    leat_error err = {0};
    must(leat_database_submit(who, lease, hash, why, &err), &err);
    return why;
}

void put_all(world *of, leat_pg *who, const leat_database_lease *lease) {
    for (int64_t part = 0; part * PART < PAYLOAD; part++)
        assert_string_equal(put(of, who, lease, part), "");
}

void deliver(world *of, leat_pg *who, const leat_database_lease *lease) {
    put_all(of, who, lease);
    assert_string_equal(submit(who, lease, of->hash), "");
}

void confirm_all(world *of, int64_t step) {
    leat_database_result results[UNITS];
    leat_error err = {0};
    int count = 0;
    bool done = false;
    must(leat_database_arrived(of->owner, of->hold.run, results, UNITS, &count, &err), &err);
    for (int i = 0; i < count; i++) {
        must(leat_database_confirm(of->owner, &of->hold, step, &results[i], &done, &err), &err);
        assert_true(done);
    }
}

leat_database_step a_step(int64_t step) {
    leat_database_step of = {.step = step,
                             .samples = 300 * (step + 1),
                             .weights_slot = (int)((step + 1) % 2),
                             .state_slot = -1,
                             .units = UNITS,
                             .next_units = UNITS,
                             .value_count = 2,
                             .values = {0.5, 0.25}};
    memcpy(of.weights, HASH64, 65);
    memcpy(of.state, HASH64, 65);
    return of;
}

void deliver_step(world *of) {
    for (int i = 0; i < UNITS; i++) {
        leat_database_lease lease = claim(of, of->ann, M1);
        assert_true(lease.lease > 0);
        deliver(of, of->ann, &lease);
    }
}

leat_code commit(world *of, const leat_database_step *step) {
    leat_error err = {0};
    return leat_database_commit(of->owner, &of->hold, step, &err);
}
