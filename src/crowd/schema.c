/*
 * The schema: it is created once, and compared with this leat's version by all who use it.
 *
 * What a database of another version needs is said here, and nowhere else. No version is migrated:
 * a run's folder has everything that decides its weights, so an empty schema is filled from it. A
 * version that can be refused for that reason is a row of `older`; tests/golden/crowd has a
 * database of it, and tests/crowd/test_schema_versions.py follows the remedy.
 */
#include <stdio.h>
#include <string.h>

#include "crowd/database_parts.h"

enum { SERVER_MIN = 130000 };

static const char schema[] = {
#include "crowd/schema.sql.h"
    0};
static const char schema_limits[] = {
#include "crowd/schema_limits.sql.h"
    0};
static const char schema_owner[] = {
#include "crowd/schema_owner.sql.h"
    0};
static const char *const parts[LEAT_DATABASE_SCHEMA_PARTS] = {schema, schema_limits, schema_owner};

/* ---- versions -------------------------------------------------------------------------------- */

/* The schema is created again; %s is the folder of a run, as a shell writes it. */
static const char replacement[] =
    "nothing is lost if its owner runs: DROP SCHEMA leat CASCADE; and each of its runs is then "
    "continued from its folder, with its options: leat coordinate %s --resume --db URL --data DIR";
/* The version is newer, or one that nobody knows. */
static const char another[] = "use the version of leat that created it, or another database";

static const struct {
    int64_t first, last;
    const char *remedy;
} older[] = {
    /* in 6 a machine has no secret, so whoever shares a login can work as it; in 5 machines are of
     * a run before they can work on it, and norms of results are not kept; in 1 to 4 all steps have
     * the same number of units; in 1 to 3, moreover, a step has a column for each number of one
     * model, and in 1 and 2 a run has no data set or no list of it */
    {1, 6, replacement},
};

void leat_database_replacement(const char *run, char words[LEAT_DATABASE_REMEDY_BYTES]) {
    snprintf(words, LEAT_DATABASE_REMEDY_BYTES, replacement, run);
}

bool leat_database_remedy(int64_t version, const char *run,
                          char words[LEAT_DATABASE_REMEDY_BYTES]) {
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        if (version < older[i].first || version > older[i].last) continue;
        snprintf(words, LEAT_DATABASE_REMEDY_BYTES, older[i].remedy, run);
        return true;
    }
    snprintf(words, LEAT_DATABASE_REMEDY_BYTES, "%s", another);
    return false;
}

leat_code leat_database_find_version(leat_pg *pg, int64_t *version, leat_error *err) {
    leat_pg_rows *rows = NULL;
    *version = 0;
    LEAT_TRY(leat_database_call(pg, &rows, (leat_pg_shape){2, 1, false},
                                "select to_regnamespace('leat') is not null, "
                                "to_regclass('leat.version') is not null",
                                NULL, 0, err));
    const bool schema_there = leat_pg_bool(rows, 0, 0);
    const bool table_there = leat_pg_bool(rows, 0, 1);
    leat_pg_rows_destroy(rows);
    if (!table_there) {
        *version = schema_there ? LEAT_DATABASE_UNFINISHED : 0;
        return LEAT_OK;
    }
    LEAT_TRY(leat_database_call(pg, &rows, (leat_pg_shape){1, 0, false},
                                "select version from leat.version", NULL, 0, err));
    *version = leat_pg_row_count(rows) == 1 ? leat_pg_int(rows, 0, 0) : LEAT_DATABASE_UNFINISHED;
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

/* ---- a schema that is being restored --------------------------------------------------------- */

/* Whoever restores a dump creates schema, functions and tables first, then fills the tables, one
 * after the other, and then adds keys and indexes. A coordinator that began before the end would
 * write rows twice, or be in the way of a key. */
static leat_code refuse_unfinished(const char *missing, leat_error *err) {
    return leat_fail(err, LEAT_ERR_BUSY,
                     "the schema \"leat\" of this database is not complete, without %.150s: a dump "
                     "is being restored; if nobody is restoring one, restore it again or drop the "
                     "schema: DROP SCHEMA leat CASCADE",
                     missing);
}

leat_code leat_database_check_finished(int64_t version, leat_error *err) {
    return version == LEAT_DATABASE_UNFINISHED ? refuse_unfinished("its version", err) : LEAT_OK;
}

leat_code leat_database_find_missing(leat_pg *pg, char missing[LEAT_CROWD_WORDS_BYTES],
                                     leat_error *err) {
    static const char sql[] =
        "select coalesce(string_agg(what, ', ' order by what), '') from ("
        "select 'the key of ' || relname as what from pg_class c where relnamespace = "
        "'leat'::regnamespace and relkind = 'r' and relname <> 'version' and not exists (select "
        "from pg_constraint where conrelid = c.oid and contype = 'p') union all "
        "select 'the index ' || name from "
        "unnest('{run_name,lease_unit,lease_machine,event_account}'::text[]) "
        "name where to_regclass('leat.' || name) is null union all "
        "select 'foreign keys' where (select count(*) from pg_constraint where connamespace = "
        "'leat'::regnamespace and contype = 'f') < 3) m";
    leat_pg_rows *rows = NULL;
    const leat_code code =
        leat_database_call(pg, &rows, (leat_pg_shape){1, 1, false}, sql, NULL, 0, err);
    return leat_database_take_text(code, rows, missing, LEAT_CROWD_WORDS_BYTES);
}

leat_code leat_database_check_complete(leat_pg *pg, leat_error *err) {
    char missing[LEAT_CROWD_WORDS_BYTES];
    LEAT_TRY(leat_database_find_missing(pg, missing, err));
    return missing[0] == 0 ? LEAT_OK : refuse_unfinished(missing, err);
}

leat_code leat_database_refuse_version(int64_t version, const char *remedy, leat_error *err) {
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "the schema \"leat\" of this database has version %lld, this leat needs "
                     "%d; %s",
                     (long long)version, LEAT_CROWD_SCHEMA_VERSION, remedy);
}

leat_code leat_database_check_version(leat_pg *pg, leat_error *err) {
    leat_error why = {0};
    int64_t version = 0;
    const leat_code code = leat_database_find_version(pg, &version, &why);
    if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
    /* a dump that is restored makes the schema and the tables first, and gives rights at its end */
    if (code != LEAT_OK && strcmp(leat_pg_sqlstate(pg), "42501") == 0)
        return leat_fail(err, LEAT_ERR_BUSY,
                         "%.300s; or a dump is being restored, and its end is waited for",
                         why.message);
    if (code == LEAT_OK) LEAT_TRY(leat_database_check_finished(version, err));
    if (code != LEAT_OK || version <= 0 || version == LEAT_CROWD_SCHEMA_VERSION) return LEAT_OK;
    return leat_database_refuse_version(
        version,
        "use the version of leat that the run is coordinated with, or ask whoever coordinates it",
        err);
}

/* ---- creating it ----------------------------------------------------------------------------- */

const char *leat_database_schema(int part) {
    LEAT_ASSERT(part >= 0 && part < LEAT_DATABASE_SCHEMA_PARTS);
    return parts[part];
}

static leat_code create(leat_pg *pg, leat_error *err) {
    leat_error why = {0};
    leat_code code = leat_pg_script(pg, "begin", err);
    for (int i = 0; code == LEAT_OK && i < LEAT_DATABASE_SCHEMA_PARTS; i++)
        code = leat_pg_script(pg, parts[i], err);
    if (code == LEAT_OK) return leat_pg_script(pg, "commit", err);
    const bool denied = strcmp(leat_pg_sqlstate(pg), "42501") == 0;
    if (!leat_pg_broken(pg)) (void)!leat_pg_script(pg, "rollback", &why);
    if (!denied) return code;
    return leat_fail(
        err, LEAT_ERR_OPTION,
        "this login may not create the schema \"leat\"; let its owner run: GRANT CREATE "
        "ON DATABASE ... TO ...");
}

leat_code leat_database_install(leat_pg *pg, leat_error *err) {
    int64_t version = 0;
    if (leat_pg_server_version(pg) < SERVER_MIN)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "PostgreSQL %d is too old: 13 or newer is needed",
                         leat_pg_server_version(pg) / 10000);
    LEAT_TRY(leat_database_find_version(pg, &version, err));
    if (version == 0) {
        leat_error why = {0};
        const leat_code code = create(pg, &why);
        if (code == LEAT_OK) return LEAT_OK;
        if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
        /* another process may have been faster */
        LEAT_TRY(leat_database_find_version(pg, &version, err));
        if (version == 0) return leat_error_copy(err, &why);
    }
    LEAT_TRY(leat_database_check_finished(version, err));
    if (version == LEAT_CROWD_SCHEMA_VERSION) return leat_database_check_complete(pg, err);
    char remedy[LEAT_DATABASE_REMEDY_BYTES];
    (void)leat_database_remedy(version, "RUN", remedy);
    return leat_database_refuse_version(version, remedy, err);
}
