/* What all calls share: see database.h. */
#include "crowd/database.h"

#include <stdio.h>
#include <string.h>

#include "crowd/database_parts.h"

enum { TRIES = 20 };

/* ---- calls ---------------------------------------------------------------------------------- */

/* SQLSTATEs that callers tell apart. */
static const struct {
    const char *state;
    leat_code code;
} states[] = {
    {"LT001", LEAT_ERR_BUSY},
    {"LT002", LEAT_ERR_BUSY},
    {"P0002", LEAT_ERR_NOT_FOUND},
    {"22023", LEAT_ERR_OPTION},
    {"23505", LEAT_ERR_EXISTS},
    {"42501", LEAT_ERR_OPTION},
    /* the server's disk, memory or connections are used up; a statement or the wait
     * for a lock was ended; a standby that is not yet the primary: these pass */
    {"53", LEAT_ERR_BUSY},
    {"57014", LEAT_ERR_BUSY},
    {"55P03", LEAT_ERR_BUSY},
    {"25006", LEAT_ERR_BUSY},
    {"40", LEAT_ERR_BUSY}, /* undone however often it was tried */
    /* files of the server; what cannot pass is unlogged, and leat.recover makes it again */
    {"58", LEAT_ERR_BUSY},
    {"XX001", LEAT_ERR_CORRUPT},
    {"XX002", LEAT_ERR_CORRUPT},
    {"42P01", LEAT_ERR_NOT_FOUND},
    {"3F000", LEAT_ERR_NOT_FOUND}};

leat_code leat_database_call(leat_pg *pg, leat_pg_rows **rows, leat_pg_shape shape, const char *sql,
                             const leat_pg_value *values, int count, leat_error *err) {
    leat_error why = {0};
    leat_code code = LEAT_OK;
    for (int i = 0; i < TRIES; i++) {
        code = leat_pg_call(pg, rows, shape, sql, values, count, &why);
        if (code != LEAT_ERR_INPUT || !leat_pg_retryable(pg) || leat_pg_broken(pg)) break;
    }
    if (code == LEAT_OK) return LEAT_OK;
    if (leat_pg_broken(pg)) code = LEAT_ERR_CONNECTION;
    /* what the schema's functions say begins with their name, for other clients */
    const char *words = why.message + (strncmp(why.message, "leat: ", 6) == 0 ? 6 : 0);
    for (size_t i = 0; code == LEAT_ERR_INPUT && i < sizeof states / sizeof *states; i++)
        if (strncmp(states[i].state, leat_pg_sqlstate(pg), strlen(states[i].state)) == 0)
            code = states[i].code;
    /* session_user of a role that was dropped: the one object by number that statements name */
    if (code == LEAT_ERR_INPUT && strcmp(leat_pg_sqlstate(pg), "42704") == 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the login of this machine was removed from the server (%.200s); ask "
                         "whoever coordinates the run for another one",
                         words);
    const bool denied = strcmp(leat_pg_sqlstate(pg), "42501") == 0;
    return leat_fail(err, code, "%s%s", words,
                     denied ? "; leat doctor --db says which rights this login lacks" : "");
}

bool leat_database_is_taken(const leat_pg *pg) {
    return strcmp(leat_pg_sqlstate(pg), "LT001") == 0;
}

bool leat_database_is_locked(const leat_pg *pg) {
    return strcmp(leat_pg_sqlstate(pg), "55P03") == 0;
}

bool leat_database_is_lacking(const leat_pg *pg) {
    /* a function, a column, a key that "on conflict" names, a right, and what the server says of
     * something that is dropped while it plans a statement */
    static const char *const lacking[] = {"42883", "42703", "42P10", "42501", "XX000"};
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        if (strcmp(leat_pg_sqlstate(pg), lacking[i]) == 0) return true;
    return false;
}

bool leat_database_is_elsewhere(const leat_pg *pg) {
    return strcmp(leat_pg_sqlstate(pg), "LT002") == 0;
}

void leat_database_copy(char *out, size_t out_bytes, const char *text) {
    snprintf(out, out_bytes, "%s", text);
}

leat_code leat_database_take_bool(leat_code code, leat_pg_rows *rows, bool *value) {
    *value = code == LEAT_OK && leat_pg_bool(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    return code;
}

leat_code leat_database_take_text(leat_code code, leat_pg_rows *rows, char *out, size_t out_bytes) {
    leat_database_copy(out, out_bytes, code == LEAT_OK ? leat_pg_text(rows, 0, 0) : "");
    leat_pg_rows_destroy(rows);
    return code;
}

leat_code leat_database_check_run(const leat_database_run *run, leat_error *err) {
    const bool sound = run->id > 0 && run->payload_bytes > 0 && run->weights_bytes > 0 &&
                       run->part_bytes >= LEAT_CROWD_PART_BYTES_MIN &&
                       run->part_bytes <= LEAT_CROWD_PART_BYTES_MAX && run->sample_bytes >= 0 &&
                       run->list_bytes >= 0 && run->lease_ms > 0 && run->renew_ms > 0 &&
                       run->samples > 0 && strlen(run->data) == 64;
    if (sound) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_CORRUPT,
        "the database describes run \"%.64s\" as no run can be: parts of %lld bytes, "
        "results of %lld, weights of %lld, leases of %lld ms renewed each %lld ms, a data set "
        "of %lld with fingerprint \"%.70s\"",
        run->name, (long long)run->part_bytes, (long long)run->payload_bytes,
        (long long)run->weights_bytes, (long long)run->lease_ms, (long long)run->renew_ms,
        (long long)run->samples, run->data);
}

leat_code leat_database_read_parts(leat_pg *pg, const char *sql, int64_t value,
                                   const leat_database_into *into, leat_error *err) {
    const int64_t part_bytes = into->part_bytes;
    const int64_t parts = leat_database_parts(into->size_bytes, part_bytes);
    for (int64_t i = 0; i < parts; i++) {
        leat_pg_rows *rows = NULL;
        const leat_pg_value values[] = {LEAT_PG_I(value), LEAT_PG_I(i)};
        const int64_t first = i * part_bytes, left = into->size_bytes - first;
        const int64_t want = left < part_bytes ? left : part_bytes;
        int64_t got = 0;
        LEAT_TRY(leat_database_call(pg, &rows, (leat_pg_shape){1, 0, true}, sql, values, 2, err));
        const uint8_t *bytes = leat_pg_row_count(rows) == 1 ? leat_pg_bytes(rows, 0, &got) : NULL;
        if (bytes != NULL && got == want) memcpy(into->bytes + first, bytes, (size_t)got);
        leat_pg_rows_destroy(rows);
        if (bytes == NULL)
            return leat_fail(err, LEAT_ERR_NOT_FOUND, "part %lld of %lld is not in the database",
                             (long long)i, (long long)parts);
        if (got != want)
            return leat_fail(err, LEAT_ERR_CORRUPT,
                             "part %lld in the database has %lld bytes instead of %lld",
                             (long long)i, (long long)got, (long long)want);
    }
    return LEAT_OK;
}

/* ---- waking --------------------------------------------------------------------------------- */

static leat_code on_channel(leat_pg *pg, const char *verb, int64_t run, leat_error *err) {
    char sql[64];
    snprintf(sql, sizeof sql, "%s leat_%lld", verb, (long long)run);
    const leat_code code = leat_pg_script(pg, sql, err);
    return code == LEAT_ERR_INPUT ? LEAT_OK : code;
}

leat_code leat_database_wake(leat_pg *pg, int64_t run, leat_error *err) {
    return on_channel(pg, "notify", run, err);
}

leat_code leat_database_listen(leat_pg *pg, int64_t run, leat_error *err) {
    return on_channel(pg, "listen", run, err);
}
