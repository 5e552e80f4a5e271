/* What a server may run out of, and who keeps it from cleaning up. */
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "crowd/check.h"

/* A snapshot is old when that many transactions came after it, whatever the time. */
enum { OLD_TRANSACTIONS = 1000 };
#define SPACE_LEFT (INT64_C(4) << 30)

/* ---- space ----------------------------------------------------------------------------------- */

/* A server of this machine says where its files are, if this login may know. The folder of another
 * one, in a container behind a port of this machine, is not here. */
static void find_space(leat_check *self) {
    leat_pg_rows *rows = NULL;
    leat_error err = {0};
    leat_machine machine;
    if (!self->facts->loopback) return;
    if (leat_pg_call(self->pg, &rows, (leat_pg_shape){1, 1, false},
                     "select current_setting('data_directory')", NULL, 0, &err) != LEAT_OK)
        return; /* that needs pg_read_all_settings */
    leat_machine_look(leat_pg_text(rows, 0, 0), &machine);
    self->facts->free_bytes = machine.disk_free_bytes;
    leat_pg_rows_destroy(rows);
}

static void tell_space(leat_check *self) {
    leat_crowd_facts *facts = self->facts;
    leat_pg_rows *rows = NULL;
    if (!leat_check_ask(self, "database size", &rows, 1,
                        "select pg_database_size(current_database())", NULL))
        return;
    facts->database_bytes = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    find_space(self);
    const double size = (double)facts->database_bytes * 1e-6;
    if (facts->free_bytes < 0)
        leat_check_tell(self, LEAT_CROWD_OK, "",
                        "space: the database has %.1f MB; how much is free only the server's "
                        "administrator can see",
                        size);
    else
        leat_check_tell(self, facts->free_bytes < SPACE_LEFT ? LEAT_CROWD_NOTE : LEAT_CROWD_OK,
                        facts->free_bytes < SPACE_LEFT ? "free some space before a long run" : "",
                        "space: the database has %.1f MB; %.1f GB are free in the server's folder "
                        "on this machine",
                        size, (double)facts->free_bytes * 1e-9);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

/* Reports the first row of a statement: age in transactions, who, and the SQL that ends it. Rows
 * that a run updates stay on disk as long as anybody could still read their old versions. */
static bool tell_holder(leat_check *self, const char *kind, int64_t old, const char *sql) {
    leat_pg_rows *rows = NULL;
    char todo[512];
    if (!leat_check_ask(self, "snapshots", &rows, 3, sql, NULL)) return true;
    const bool is_there = !leat_pg_is_null(rows, 0, 0);
    const int64_t age = leat_pg_int(rows, 0, 0);
    if (is_there && age > self->facts->snapshot_age) self->facts->snapshot_age = age;
    const bool told = is_there && age >= old;
    if (told) {
        snprintf(todo, sizeof todo, "end it if it is not needed: %s", leat_pg_text(rows, 0, 2));
        leat_check_tell(self, LEAT_CROWD_NOTE, todo,
                        "snapshots: %s %s holds one that is %lld transactions old, so that rows "
                        "of runs cannot be cleaned up",
                        kind, leat_pg_text(rows, 0, 1), (long long)age);
    }
    leat_pg_rows_destroy(rows);
    return told;
}

static void tell_snapshots(leat_check *self) {
    /* aggregates give one row, of nulls if there is nobody */
    static const char sessions[] =
        "select max(age), min(who) filter (where first), min(sql) filter (where first) from ("
        "select age(backend_xmin) as age, row_number() over (order by age(backend_xmin) desc, pid) "
        "= 1 as first, pid || coalesce(' of login ' || quote_ident(usename), '') || coalesce(', ' "
        "|| nullif(application_name, ''), '') || coalesce(', since ' || date_trunc('second', "
        "xact_start), '') as who, 'SELECT pg_terminate_backend(' || pid || ');' as sql "
        "from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid() and "
        "(datid is null or datname = current_database())) s";
    static const char slots[] =
        "select max(age), min(who) filter (where first), min(sql) filter (where first) from ("
        "select age, row_number() over (order by age desc, slot_name) = 1 as first, "
        "quote_ident(slot_name) || case when active then '' else ' (nobody reads it)' end as who, "
        "'SELECT pg_drop_replication_slot(' || quote_literal(slot_name) || ');' as sql "
        "from (select slot_name, active, greatest(age(xmin), age(catalog_xmin)) as age from "
        "pg_replication_slots) a where age is not null) s";
    static const char prepared[] =
        "select max(age), min(who) filter (where first), min(sql) filter (where first) from ("
        "select age(transaction) as age, row_number() over (order by prepared, gid) = 1 as first, "
        "quote_literal(gid) || ' of login ' || quote_ident(owner) as who, 'ROLLBACK PREPARED ' || "
        "quote_literal(gid) || ';' as sql from pg_prepared_xacts where database = "
        "current_database()) s";
    bool told = tell_holder(self, "session", OLD_TRANSACTIONS, sessions);
    told |= tell_holder(self, "replication slot", OLD_TRANSACTIONS, slots);
    /* nobody will end it, and it has locks */
    told |= tell_holder(self, "prepared transaction", 0, prepared);
    if (!told) leat_check_tell(self, LEAT_CROWD_OK, "", "snapshots: nobody holds an old one");
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* A session that others wait for, and that waits for nobody. */
typedef struct blocker {
    char transaction[32], who[256], process[24];
    int64_t waiting;
} blocker;

/* False: nobody waits, or it is not known. */
static bool find_blocker(leat_check *self, blocker *out) {
    static const char sql[] =
        "with recursive chain (pid, first) as (select pid, pid from pg_stat_activity where datname "
        "= current_database() and cardinality(pg_blocking_pids(pid)) > 0 union select of.pid, "
        "first from chain, unnest(pg_blocking_pids(chain.pid)) of (pid)), roots as (select "
        "chain.pid, count(distinct first) as waiting from chain where "
        "cardinality(pg_blocking_pids(chain.pid)) = 0 group by chain.pid order by 2 desc, 1 limit "
        "1) "
        "select max(waiting), max(a.pid), max((select min(virtualtransaction) from pg_locks l "
        "where "
        "l.pid = a.pid)), max(a.pid || coalesce(' of login ' || quote_ident(usename), '') || "
        "coalesce(', ' || nullif(application_name, ''), '') || coalesce(', since ' || "
        "date_trunc('second', xact_start), '')) from roots join pg_stat_activity a using (pid)";
    leat_pg_rows *rows = NULL;
    *out = (blocker){0};
    if (!leat_check_ask(self, "locks", &rows, 4, sql, NULL)) return false;
    out->waiting = leat_pg_int(rows, 0, 0);
    snprintf(out->process, sizeof out->process, "%s", leat_pg_text(rows, 0, 1));
    snprintf(out->transaction, sizeof out->transaction, "%s", leat_pg_text(rows, 0, 2));
    snprintf(out->who, sizeof out->who, "%s", leat_pg_text(rows, 0, 3));
    leat_pg_rows_destroy(rows);
    return out->waiting > 0;
}

/* Locks are held for the time of a call: one that is still held after a second is looked at. */
static void tell_locks(leat_check *self) {
    blocker first, second;
    leat_pg_rows *rows = NULL;
    char todo[128];
    bool blocks = find_blocker(self, &first);
    if (blocks && leat_check_ask(self, "locks", &rows, 1, "select pg_sleep(1)", NULL))
        leat_pg_rows_destroy(rows);
    blocks = blocks && !leat_pg_broken(self->pg) && find_blocker(self, &second) &&
             strcmp(first.transaction, second.transaction) == 0;
    if (leat_pg_broken(self->pg)) return;
    if (!blocks) {
        leat_check_tell(self, LEAT_CROWD_OK, "", "locks: no session waits for another one");
        return;
    }
    snprintf(todo, sizeof todo, "end it if it is not needed: SELECT pg_terminate_backend(%s);",
             second.process);
    leat_check_tell(self, LEAT_CROWD_NOTE, todo,
                    "locks: session %s has a transaction open for which %lld other%s wait%s",
                    second.who, (long long)second.waiting, second.waiting == 1 ? "" : "s",
                    second.waiting == 1 ? "s" : "");
}

void leat_check_server(leat_check *self) {
    tell_space(self);
    tell_snapshots(self);
    if (!leat_pg_broken(self->pg)) tell_locks(self);
}
