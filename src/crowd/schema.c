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
static const char schema_owner[] = {
#include "crowd/schema_owner.sql.h"
    0};

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
    /* all steps have the same number of units; in 1 to 3, moreover, a step has a column for each
     * number of one model, and in 1 and 2 a run has no data set or no list of it */
    {1, 4, replacement},
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
    bool there = false;
    *version = 0;
    const leat_code code =
        leat_database_call(pg, &rows, (leat_pg_shape){1, 1, false},
                           "select to_regclass('leat.version') is not null", NULL, 0, err);
    LEAT_TRY(leat_database_take_bool(code, rows, &there));
    if (!there) return LEAT_OK;
    LEAT_TRY(leat_database_call(pg, &rows, (leat_pg_shape){1, 0, false},
                                "select version from leat.version", NULL, 0, err));
    if (leat_pg_row_count(rows) == 1) *version = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
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
    if (code != LEAT_OK || version == 0 || version == LEAT_CROWD_SCHEMA_VERSION) return LEAT_OK;
    return leat_database_refuse_version(
        version,
        "use the version of leat that the run is coordinated with, or ask whoever coordinates it",
        err);
}

/* ---- creating it ----------------------------------------------------------------------------- */

const char *leat_database_schema(int part) { return part == 0 ? schema : schema_owner; }

static leat_code create(leat_pg *pg, leat_error *err) {
    leat_error why = {0};
    leat_code code = leat_pg_script(pg, "begin", err);
    if (code == LEAT_OK) code = leat_pg_script(pg, schema, err);
    if (code == LEAT_OK) code = leat_pg_script(pg, schema_owner, err);
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
    if (version == LEAT_CROWD_SCHEMA_VERSION) return LEAT_OK;
    char remedy[LEAT_DATABASE_REMEDY_BYTES];
    (void)leat_database_remedy(version, "RUN", remedy);
    return leat_database_refuse_version(version, remedy, err);
}
