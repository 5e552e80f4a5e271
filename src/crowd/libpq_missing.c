/* The functions of libpq.h in a build without libpq: each says so. */
#include "crowd/libpq.h"

#if !LEAT_HAVE_PQ

static leat_code missing(leat_error *err) {
    return leat_fail(
        err, LEAT_ERR_UNSUPPORTED,
        "leat was built without libpq, which reaches PostgreSQL; run scripts/install.sh "
        "and rebuild leat");
}

leat_code leat_pg_place_parse(leat_pg_place *place, const char *url, leat_error *err) {
    (void)url;
    *place = (leat_pg_place){0};
    return missing(err);
}

leat_code leat_pg_connect(leat_pg **out, const leat_pg_place *place, const char *program,
                          int timeout_ms, const leat_stop *stop, leat_error *err) {
    (void)place, (void)program, (void)timeout_ms, (void)stop;
    *out = NULL;
    return missing(err);
}

leat_code leat_pg_connect_why(leat_pg **out, const leat_pg_place *place, const char *program,
                              int timeout_ms, const leat_stop *stop, char sqlstate[6],
                              leat_error *err) {
    sqlstate[0] = 0;
    return leat_pg_connect(out, place, program, timeout_ms, stop, err);
}

/* Without a connection none of these is called. */
void leat_pg_close(leat_pg *pg) { LEAT_ASSERT(pg == NULL); }
bool leat_pg_broken(const leat_pg *pg) { return pg == NULL; }
int leat_pg_server_version(const leat_pg *pg) { return (void)pg, 0; }
int64_t leat_pg_sent(const leat_pg *pg) { return (void)pg, 0; }
const char *leat_pg_sqlstate(const leat_pg *pg) { return (void)pg, ""; }
void leat_pg_get_link(const leat_pg *pg, leat_pg_link *link) {
    (void)pg;
    *link = (leat_pg_link){0};
}
bool leat_pg_retryable(const leat_pg *pg) { return (void)pg, false; }

leat_code leat_pg_verifier(leat_pg *pg, const char *login, const char *password,
                           char out[LEAT_PG_VERIFIER_BYTES], leat_error *err) {
    (void)pg, (void)login, (void)password;
    out[0] = 0;
    return missing(err);
}

leat_code leat_pg_call(leat_pg *pg, leat_pg_rows **rows, leat_pg_shape shape, const char *sql,
                       const leat_pg_value *values, int count, leat_error *err) {
    (void)pg, (void)shape, (void)sql, (void)values, (void)count;
    if (rows != NULL) *rows = NULL;
    return missing(err);
}

leat_code leat_pg_script(leat_pg *pg, const char *sql, leat_error *err) {
    (void)pg, (void)sql;
    return missing(err);
}

leat_code leat_pg_notified(leat_pg *pg, bool *any, leat_error *err) {
    (void)pg;
    *any = false;
    return missing(err);
}

void leat_pg_rows_destroy(leat_pg_rows *rows) { LEAT_ASSERT(rows == NULL); }
int leat_pg_row_count(const leat_pg_rows *rows) { return (void)rows, 0; }
bool leat_pg_is_null(const leat_pg_rows *rows, int row, int column) {
    return (void)rows, (void)row, (void)column, true;
}
const char *leat_pg_text(const leat_pg_rows *rows, int row, int column) {
    return (void)rows, (void)row, (void)column, "";
}
bool leat_pg_bool(const leat_pg_rows *rows, int row, int column) {
    return (void)rows, (void)row, (void)column, false;
}
int64_t leat_pg_int(const leat_pg_rows *rows, int row, int column) {
    return (void)rows, (void)row, (void)column, 0;
}
double leat_pg_real(const leat_pg_rows *rows, int row, int column) {
    return (void)rows, (void)row, (void)column, 0;
}
const uint8_t *leat_pg_bytes(const leat_pg_rows *rows, int row, int64_t *size_bytes) {
    (void)rows, (void)row;
    *size_bytes = 0;
    return NULL;
}

#endif
