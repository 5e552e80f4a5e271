/*
 * Databases whose schema has another version than this leat's: what each needs is said here, and
 * nowhere else. No version is migrated: a run's folder has everything that decides its weights, so
 * an empty schema is filled from it. A version that can be refused for that reason is a row of
 * `older`; tests/golden/crowd has a database of it, and tests/crowd/test_schema_versions.py follows
 * the remedy.
 */
#include <stdio.h>

#include "crowd/store_parts.h"

/* The schema is created again; %s is the folder of a run, as a shell writes it. */
static const char replacement[] =
    "nothing is lost if its owner runs: DROP SCHEMA leat CASCADE; and each of its runs is then "
    "continued from its folder: leat coordinate %s --resume";
/* The version is newer, or one that nobody knows. */
static const char another[] = "use the version of leat that created it, or another database";

static const struct {
    int64_t first, last;
    const char *remedy;
} older[] = {
    /* a step has a column for each number of one model; in 1 and 2, moreover, a run has no data set
     * or no list of it */
    {1, 3, replacement},
};

void leat_store_replacement(const char *run, char words[LEAT_STORE_REMEDY_BYTES]) {
    snprintf(words, LEAT_STORE_REMEDY_BYTES, replacement, run);
}

bool leat_store_remedy(int64_t version, const char *run, char words[LEAT_STORE_REMEDY_BYTES]) {
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        if (version < older[i].first || version > older[i].last) continue;
        snprintf(words, LEAT_STORE_REMEDY_BYTES, older[i].remedy, run);
        return true;
    }
    snprintf(words, LEAT_STORE_REMEDY_BYTES, "%s", another);
    return false;
}

leat_code leat_store_find_version(leat_pg *pg, int64_t *version, leat_error *err) {
    leat_pg_rows *rows = NULL;
    bool there = false;
    *version = 0;
    const leat_code code = leat_store_call(
        pg, &rows, false, "select to_regclass('leat.version') is not null", NULL, 0, err);
    LEAT_TRY(leat_store_take_bool(code, rows, &there));
    if (!there) return LEAT_OK;
    LEAT_TRY(leat_store_call(pg, &rows, false, "select version from leat.version", NULL, 0, err));
    if (leat_pg_row_count(rows) == 1) *version = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_store_refuse_version(int64_t version, const char *remedy, leat_error *err) {
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "the schema \"leat\" of this database has version %lld, this leat needs "
                     "%d; %s",
                     (long long)version, LEAT_CROWD_SCHEMA_VERSION, remedy);
}

leat_code leat_store_check_version(leat_pg *pg, leat_error *err) {
    leat_error why = {0};
    int64_t version = 0;
    const leat_code code = leat_store_find_version(pg, &version, &why);
    if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
    if (code != LEAT_OK || version == 0 || version == LEAT_CROWD_SCHEMA_VERSION) return LEAT_OK;
    return leat_store_refuse_version(
        version,
        "use the version of leat that the run is coordinated with, or ask whoever coordinates it",
        err);
}
