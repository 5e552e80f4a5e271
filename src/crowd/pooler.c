/*
 * See pooler.h. A client that is alone keeps its backend by luck, so a second connection begins a
 * transaction: from a transaction pooler it gets the backend that the first one has just used, or
 * the first one has another afterwards. With one connection of the server for each of the client's
 * neither happens, however busy the server is.
 */
#include "crowd/pooler.h"

#include <string.h>

/* The second connection gives up after TIMEOUT_MS: a session pooler whose pool is full lets it
 * wait. Where the login has met a pooler, others may use it, and take the backend that would have
 * shown of which kind it is: that is looked for more often. */
enum { TIMEOUT_MS = 5000, ROUNDS = 1, ROUNDS_POOLED = 8 };

static leat_code backend_of(leat_pg *pg, int64_t *backend, leat_error *err) {
    leat_pg_rows *rows = NULL;
    *backend = 0;
    LEAT_TRY(leat_pg_call(pg, &rows, (leat_pg_shape){1, 1, false}, "select pg_backend_pid()", NULL,
                          0, err));
    *backend = leat_pg_int(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

/* What pgbouncer says to BEGIN. */
static bool refuses_transactions(const leat_error *why) {
    return strstr(why->message, "statement pooling") != NULL;
}

/* A transaction of the other connection, which goes on; its backend. */
static leat_code begin(leat_pg *other, int64_t *backend, leat_error *why) {
    LEAT_TRY(leat_pg_script(other, "rollback", why));
    LEAT_TRY(leat_pg_script(other, "begin", why));
    return backend_of(other, backend, why);
}

/* Whether a backend is that of both connections, or one of them has had several. */
static leat_code compare(leat_pg *pg, leat_pg *other, leat_crowd_pooler *found, leat_error *why,
                         leat_error *err) {
    int64_t first = 0, others = 0, now = 0, others_now = 0;
    leat_pg_link link;
    LEAT_TRY(backend_of(pg, &first, err));
    leat_pg_get_link(pg, &link);
    const bool pooled = link.backend != first;
    const int rounds = pooled ? ROUNDS_POOLED : ROUNDS;
    leat_code code = begin(other, &others, why);
    bool shared = others == first;
    for (int i = 0; i < rounds && code == LEAT_OK && !shared; i++) {
        LEAT_TRY(backend_of(pg, &now, err));
        code = begin(other, &others_now, why);
        shared = code == LEAT_OK && (now != first || others_now != others);
    }
    if (code != LEAT_OK) {
        if (refuses_transactions(why)) *found = LEAT_CROWD_POOLER_STATEMENT;
        return LEAT_OK;
    }
    if (shared) *found = LEAT_CROWD_POOLER_TRANSACTION;
    else *found = pooled ? LEAT_CROWD_POOLER_SESSION : LEAT_CROWD_POOLER_NONE;
    return LEAT_OK;
}

leat_code leat_pooler_look(leat_pg *pg, const leat_pg_place *place, const leat_stop *stop,
                           leat_crowd_pooler *found, leat_error *why, leat_error *err) {
    leat_pg *other = NULL;
    char sqlstate[6];
    *found = LEAT_CROWD_POOLER_UNKNOWN;
    *why = (leat_error){0};
    leat_code code =
        leat_pg_connect_why(&other, place, LEAT_POOLER_LOOKS, TIMEOUT_MS, stop, sqlstate, why);
    if (code == LEAT_ERR_CANCELLED) return leat_error_copy(err, why);
    if (strcmp(sqlstate, "53300") == 0) why->code = LEAT_ERR_BUSY;
    if (code == LEAT_OK) code = compare(pg, other, found, why, err);
    else code = LEAT_OK;
    leat_pg_close(other);
    return code;
}

const char *leat_pooler_reason(leat_crowd_pooler pooler) {
    if (pooler == LEAT_CROWD_POOLER_TRANSACTION)
        return "a transaction pooler is between leat and the server: it gives each transaction "
               "another connection of the server, so that time limits and keep-alives are lost";
    if (pooler == LEAT_CROWD_POOLER_STATEMENT)
        return "a statement pooler is between leat and the server: it allows no transactions of "
               "several statements";
    return NULL;
}

leat_code leat_pooler_refuse(leat_pg *pg, const leat_pg_place *place, const leat_stop *stop,
                             leat_error *why, leat_error *err) {
    leat_crowd_pooler found;
    LEAT_TRY(leat_pooler_look(pg, place, stop, &found, why, err));
    const char *reason = leat_pooler_reason(found);
    /* the last connection of a login, which works without a second one */
    if (why->code == LEAT_ERR_BUSY) *why = (leat_error){0};
    if (reason == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "%.150s: %s; use the server's own address, or a pooler with session pooling",
                     place->shown, reason);
}
