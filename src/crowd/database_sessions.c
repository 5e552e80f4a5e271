/* Sessions of the server: see database.h. */
#include <string.h>

#include "crowd/database_parts.h"

leat_code leat_database_blockers(leat_pg *pg, leat_database_blocker *out, int most, int *count,
                                 leat_error *err) {
    leat_pg_rows *rows = NULL;
    *count = 0;
    LEAT_TRY(LEAT_DATABASE_ROWS(pg, &rows, 6, 0, "select * from leat.blockers($1)", err,
                                LEAT_PG_I(most)));
    for (int i = 0; i < leat_pg_row_count(rows) && *count < most; i++) {
        leat_database_blocker *of = &out[(*count)++];
        of->process = leat_pg_int(rows, i, 0);
        leat_database_copy(of->account, sizeof of->account, leat_pg_text(rows, i, 1));
        leat_database_copy(of->transaction, sizeof of->transaction, leat_pg_text(rows, i, 2));
        of->trusted = leat_pg_bool(rows, i, 3);
        of->role = leat_pg_int(rows, i, 4);
        leat_database_copy(of->waits, sizeof of->waits, leat_pg_text(rows, i, 5));
    }
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_database_end_sessions(leat_pg *pg, const leat_database_blocker *of, bool all,
                                     int64_t *ended, leat_error *err) {
    leat_pg_rows *rows = NULL;
    *ended = 0;
    LEAT_TRY(LEAT_DATABASE_VALUE(pg, &rows,
                                 "select leat.end_sessions($1, $2::bigint::integer, $3, "
                                 "$4::bigint <> 0)",
                                 err, LEAT_PG_I(of->role), LEAT_PG_I(of->process),
                                 LEAT_PG_T(of->transaction), LEAT_PG_I(all)));
    *ended = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_database_end_greedy(leat_pg *pg, int64_t idle_ms, leat_database_greedy *out,
                                   leat_error *err) {
    enum { LOCKS = 500, ACTIVE_MS = 900000 };
    leat_pg_rows *rows = NULL;
    *out = (leat_database_greedy){0};
    LEAT_TRY(LEAT_DATABASE_ROWS(pg, &rows, 4, 0, "select * from leat.end_greedy($1, $2, $3)", err,
                                LEAT_PG_I(LOCKS), LEAT_PG_I(idle_ms), LEAT_PG_I(ACTIVE_MS)));
    out->count = leat_pg_row_count(rows);
    if (out->count > 0) {
        out->process = leat_pg_int(rows, 0, 0);
        leat_database_copy(out->account, sizeof out->account, leat_pg_text(rows, 0, 1));
        out->hoards = leat_pg_bool(rows, 0, 2);
        leat_database_copy(out->why, sizeof out->why, leat_pg_text(rows, 0, 3));
    }
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

leat_code leat_database_rollback_line(leat_pg *pg, const leat_database_blocker *of,
                                      char line[LEAT_DATABASE_STATEMENT_BYTES], leat_error *err) {
    leat_pg_rows *rows = NULL;
    const leat_code code = LEAT_DATABASE_VALUE(pg, &rows, "select leat.rollback_prepared($1)", err,
                                               LEAT_PG_T(of->transaction));
    return leat_database_take_text(code, rows, line, LEAT_DATABASE_STATEMENT_BYTES);
}

leat_code leat_database_keep_out(leat_pg *pg, const char *account,
                                 char line[LEAT_DATABASE_STATEMENT_BYTES], leat_error *err) {
    leat_pg_rows *rows = NULL;
    const leat_code code =
        LEAT_DATABASE_VALUE(pg, &rows, "select leat.keep_out($1)", err, LEAT_PG_T(account));
    return leat_database_take_text(code, rows, line, LEAT_DATABASE_STATEMENT_BYTES);
}

leat_code leat_database_blame(leat_pg *pg, const leat_database_hold *hold, const char *account,
                              const char *words, bool *suspended, leat_error *err) {
    leat_pg_rows *rows = NULL;
    const leat_code code = LEAT_DATABASE_VALUE(
        pg, &rows, "select leat.blame($1, $2, $3, $4, $5)", err, LEAT_PG_I(hold->run),
        LEAT_PG_I(hold->fence), LEAT_PG_I(hold->epoch), LEAT_PG_T(account), LEAT_PG_T(words));
    return leat_database_take_bool(code, rows, suspended);
}
