/*
 * A database with a run, a coordinator and two logins without rights, on a clock that the test
 * moves; and what tests do with it, in short words. What fails there fails the test.
 */
#ifndef LEAT_TESTS_CROWD_WORLD_H
#define LEAT_TESTS_CROWD_WORLD_H

#include "cluster.h"
#include "crowd/database.h"

#define HASH64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define M1 "11111111111111111111111111111111"
#define M2 "22222222222222222222222222222222"
#define M3 "33333333333333333333333333333333"
enum { PART = 1024, PAYLOAD = 2500, WEIGHTS = 1500, STATE = 3000, UNITS = 3, STEPS = 4 };
enum { LEASE_MS = 300000, SILENT_MS = 30000, HOLD_MS = 15000 };

typedef struct world {
    leat_pg *owner, *ann, *bob; /* ann and bob have no rights of their own */
    leat_database_hold hold;
    uint8_t payload[PAYLOAD], weights[WEIGHTS];
    char hash[65];
} world;

/* Of cmocka: a database of its own for each test. */
int world_setup(void **state);
int world_teardown(void **state);

void must(leat_code code, const leat_error *err);
/* Moves the clock of the server by seconds. */
void pass(world *of, double seconds);
leat_database_run a_run(const char *name);

/* As a worker: registers; and asks for a unit, so that it is a machine of the run, but gives it
 * back. */
void join(leat_pg *who, const char *machine);
void join_and_ask(world *of, leat_pg *who, const char *machine);
/* A claim of a machine that keeps one lease (0: none); of one that keeps its newest. */
leat_database_lease claim_with(world *of, leat_pg *who, const char *machine, int64_t kept);
leat_database_lease claim_ahead(world *of, leat_pg *who, const char *machine, int64_t kept);
leat_database_lease claim(world *of, leat_pg *who, const char *machine);
/* A claim that must give this unit. */
leat_database_lease get(world *of, leat_pg *who, const char *machine, int64_t unit, bool copy);
/* Why it was refused; "": it was not. Valid until the next call. */
const char *renew(leat_pg *who, const leat_database_lease *lease);
const char *put(world *of, leat_pg *who, const leat_database_lease *lease, int64_t part);
const char *submit(leat_pg *who, const leat_database_lease *lease, const char *hash);
void put_all(world *of, leat_pg *who, const leat_database_lease *lease);
void deliver(world *of, leat_pg *who, const leat_database_lease *lease);

/* As the coordinator; deliver_step is of one machine, that of ann. */
void deliver_step(world *of);
void confirm_all(world *of, int64_t step);
leat_database_step a_step(int64_t step);
leat_code open_step(leat_pg *pg, const leat_database_hold *hold, int64_t step, int slot,
                    int64_t units, leat_error *err);
leat_code commit(world *of, const leat_database_step *step);

#endif
