/* How many machines a server takes, and what they cost there. */
#include <stdio.h>
#include <string.h>

#include "crowd/check.h"
#include "crowd/pooler.h"

/* Connections that a coordinator has, and how many should be left for people who look. */
enum { OF_COORDINATOR = 2, CONNECTIONS_LEFT = 5, WORDS_BYTES = 512 };
/* What some providers give away each month. */
#define ALLOWANCE_BYTES INT64_C(5000000000)

/* ---- connections ----------------------------------------------------------------------------- */

/* Of the server, of this database and of this login; a limit of -1 is none. */
typedef struct connections {
    int64_t used, most, reserved;
    int64_t here, of_database;
    int64_t of_login, mine;        /* its limit, and its sessions */
    int64_t workers, coordinators; /* of `here` */
} connections;

static bool ask_connections(leat_check *self, connections *of) {
    leat_pg_rows *rows = NULL;
    /* the sum of all databases is the only count that every login may see; the second kind of
     * reserved connections came with version 16; the connection that looked for a pooler ends, and
     * the server may not have noticed yet */
    if (!leat_check_ask(
            self, "connections", &rows, 9,
            "with ending as (select datname, usename from pg_stat_activity where application_name "
            "= '" LEAT_POOLER_LOOKS "') "
            "select (select sum(numbackends) from pg_stat_database where datid <> 0) - (select "
            "count(*) from ending), "
            "current_setting('max_connections')::integer, "
            "current_setting('superuser_reserved_connections')::integer + "
            "coalesce(current_setting('reserved_connections', true)::integer, 0), "
            "(select numbackends from pg_stat_database where datname = current_database()) - "
            "(select count(*) from ending where datname = current_database()), "
            "(select datconnlimit from pg_database where datname = current_database()), "
            "(select rolconnlimit from pg_roles where rolname = session_user), "
            "(select count(*) from pg_stat_activity where usename = session_user) - (select "
            "count(*) from ending where usename = session_user), "
            "count(*) filter (where application_name = 'leat work'), "
            "count(*) filter (where application_name like 'leat coordinate%') "
            "from pg_stat_activity where datname = current_database()",
            NULL))
        return false;
    int64_t *const numbers[] = {&of->used, &of->most,        &of->reserved,
                                &of->here, &of->of_database, &of->of_login,
                                &of->mine, &of->workers,     &of->coordinators};
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        *numbers[i] = leat_pg_int(rows, 0, i);
    leat_pg_rows_destroy(rows);
    return true;
}

static int64_t positive(int64_t number) { return number > 0 ? number : 0; }

/* Connections that are left besides this one, which ends: INT64_MAX if there is no limit. */
static int64_t left_of(int64_t limit, int64_t used) {
    return limit < 0 ? INT64_MAX : limit - used + 1;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* How many workers can still connect as this login, and a coordinator. */
static int64_t find_fit(const connections *of) {
    const int64_t left =
        least(least(left_of(of->most - of->reserved, of->used), left_of(of->of_database, of->here)),
              left_of(of->of_login, of->mine));
    return positive(left - positive(OF_COORDINATOR - of->coordinators));
}

/* What lets so many more workers in: the lowest limit is the first to be raised. */
static void write_todo(const leat_check *self, const connections *of, int64_t more,
                       char todo[WORDS_BYTES]) {
    const int64_t all = of->most + more;
    const int64_t server = left_of(of->most - of->reserved, of->used);
    const int64_t database = left_of(of->of_database, of->here);
    const int64_t login = left_of(of->of_login, of->mine);
    if (login < least(server, database))
        snprintf(todo, WORDS_BYTES,
                 "raise the limit of this login, or give each worker its own: ALTER ROLE %s "
                 "CONNECTION LIMIT %lld;",
                 self->login, (long long)(of->of_login + more));
    else if (database < server)
        snprintf(todo, WORDS_BYTES,
                 "its owner can raise the limit of this database: ALTER DATABASE "
                 "%s CONNECTION LIMIT %lld;",
                 self->database, (long long)(of->of_database + more));
    else
        snprintf(todo, WORDS_BYTES,
                 "raise max_connections to %lld or more (ALTER SYSTEM SET max_connections = %lld; "
                 "then restart the server), or end sessions that are not used",
                 (long long)all, (long long)all);
}

static void tell_limits(const leat_check *self, const connections *of) {
    if (of->of_login >= 0)
        leat_check_tell(self, LEAT_CROWD_OK, "", "connections: this login may have %lld",
                        (long long)of->of_login);
    if (of->of_database >= 0)
        leat_check_tell(self, LEAT_CROWD_OK, "", "connections: this database may have %lld",
                        (long long)of->of_database);
}

static void tell_connections(leat_check *self) {
    leat_crowd_facts *facts = self->facts;
    connections of = {0};
    char todo[WORDS_BYTES] = "", wanted[64] = "";
    if (!ask_connections(self, &of)) return;
    facts->connections = of.used;
    facts->connections_max = of.most;
    facts->workers_fit = find_fit(&of);
    const int64_t free = of.most - of.reserved - of.used;
    const int64_t more = positive(self->workers - of.workers); /* that shall come */
    facts->workers_missing = positive(more - facts->workers_fit);
    if (facts->workers_missing > 0) write_todo(self, &of, facts->workers_missing, todo);
    else if (free < CONNECTIONS_LEFT) write_todo(self, &of, CONNECTIONS_LEFT - free, todo);
    if (self->workers > 0)
        snprintf(wanted, sizeof wanted, ", and %lld are to come", (long long)more);
    leat_check_tell(self, todo[0] != 0 ? LEAT_CROWD_NOTE : LEAT_CROWD_OK, todo,
                    "connections: %lld of %lld are in use, %lld are left for logins that are not "
                    "superusers; a worker takes 1, a coordinator 2: room for %lld more workers "
                    "(%lld are connected%s)",
                    (long long)of.used, (long long)of.most, (long long)positive(free),
                    (long long)facts->workers_fit, (long long)of.workers, wanted);
    tell_limits(self, &of);
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* A session that blocks a run, or holds a snapshot, must be ended by somebody. */
static void tell_sessions(leat_check *self) {
    leat_pg_rows *rows = NULL;
    char todo[WORDS_BYTES];
    if (!self->facts->can_coordinate) return;
    if (!leat_check_ask(self, "sessions", &rows, 1,
                        "select pg_has_role(current_user, 'pg_signal_backend', 'USAGE')", NULL))
        return;
    self->facts->may_end_sessions = leat_pg_bool(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    snprintf(todo, sizeof todo, "as an administrator: GRANT pg_signal_backend TO %s;",
             self->acting);
    if (self->facts->may_end_sessions)
        leat_check_tell(self, LEAT_CROWD_OK, "",
                        "sessions: %s may end those of other logins, if one blocks a run",
                        self->acting);
    else
        leat_check_tell(self, LEAT_CROWD_NOTE, todo,
                        "sessions: %s may end only its own and those of roles that it belongs to, "
                        "not a worker's that blocks a run",
                        self->acting);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* What every login of a server may call, a run does not need, and harms it. */
#define HARMFUL                                                                                    \
    "pronamespace = 'pg_catalog'::regnamespace and (proname ~ '^(pg_(try_)?advisory_|lo_)' or "    \
    "proname in ('loread', 'lowrite', 'pg_logical_emit_message'))"

static void tell_functions(leat_check *self) {
    static const char todo[] =
        "as a superuser, in this database: DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT "
        "oid::regprocedure FROM pg_proc WHERE " HARMFUL " LOOP EXECUTE format('REVOKE EXECUTE ON "
        "FUNCTION %s FROM PUBLIC', f); END LOOP; END $$;";
    leat_pg_rows *rows = NULL;
    if (!self->facts->can_coordinate) return;
    if (!leat_check_ask(self, "functions", &rows, 1,
                        "select count(*) from pg_proc where has_function_privilege('public', oid, "
                        "'EXECUTE') and " HARMFUL,
                        NULL))
        return;
    const bool some = leat_pg_int(rows, 0, 0) > 0;
    leat_pg_rows_destroy(rows);
    if (some)
        leat_check_tell(self, LEAT_CROWD_NOTE, todo,
                        "functions: every login may use large objects and messages in the log of "
                        "transactions, which fill the disk, and advisory locks, of which the "
                        "server has one table for all");
    else
        leat_check_tell(self, LEAT_CROWD_OK, "",
                        "functions: large objects and advisory locks are for superusers");
}

/* ---- what is paid -----------------------------------------------------------------------------
 */

/* "381.0 MB" of 10^6 bytes, as providers count. */
static const char *write_bytes(char text[32], double bytes) {
    const bool small = bytes < 1e5;
    snprintf(text, 32, "%.1f %s", bytes * (small ? 1e-3 : 1e-6), small ? "kB" : "MB");
    return text;
}

/* Bytes that leave the server in each step: each worker fetches the weights, and a coordinator that
 * is elsewhere the results. */
static void tell_egress(leat_check *self) {
    leat_pg_rows *rows = NULL;
    char each[32], fetched[32], results[32];
    if (self->facts->open_runs <= 0) return;
    if (!leat_check_ask(self, "egress", &rows, 3,
                        "select weights_bytes, payload_bytes * units, (select count(*) from "
                        "leat.workers w where w.run = t.run and w.status = 'active') from "
                        "leat.training_state t where state <> 'finished' order by run desc limit 1",
                        NULL))
        return;
    const int64_t weights = leat_pg_int(rows, 0, 0), payloads = leat_pg_int(rows, 0, 1);
    const int64_t active = leat_pg_int(rows, 0, 2);
    leat_pg_rows_destroy(rows);
    const int64_t workers = self->workers > 0 ? self->workers : active > 0 ? active : 1;
    self->facts->step_bytes = workers * weights + payloads;
    leat_check_tell(self, LEAT_CROWD_OK, "",
                    "egress: %lld worker%s x %s = %s a step, and %s to the coordinator: a 5 GB "
                    "allowance ends after %lld steps",
                    (long long)workers, workers == 1 ? "" : "s", write_bytes(each, (double)weights),
                    write_bytes(fetched, (double)(workers * weights)),
                    write_bytes(results, (double)payloads),
                    (long long)(ALLOWANCE_BYTES / self->facts->step_bytes));
}

void leat_check_class(leat_check *self) {
    tell_connections(self);
    tell_sessions(self);
    tell_functions(self);
    tell_egress(self);
    leat_check_tell(
        self, LEAT_CROWD_OK, "",
        "idle: workers and coordinators keep connections open (LISTEN) and ask every "
        "few seconds, so a server that sleeps when idle, and is paid while it is awake, "
        "does not sleep while one of them runs");
}
