/* See machines.h. A login sees its own sessions, and the limits of every role. Of machines that
 * connect at the same moment, each counts those before it: as many as may work do. */
#include "crowd/machines.h"

#include "crowd/database_parts.h"
#include "crowd/roles.h"

/* The application_name of a machine's connection. */
#define PROGRAM "leat work"
enum { TIMEOUT_MS = 60000 };

/* When a session began says, with its login, which one it is: also after the server was restarted,
 * when numbers of processes come again. */
#define SESSIONS                                                                                   \
    "(select *, (extract(epoch from backend_start) * 1000000)::bigint as begun_us from "           \
    "pg_stat_activity)"

/* Whether one more may work. *begun_us: of the connection that this one replaces, then of this one.
 */
static leat_code check(leat_pg *pg, int64_t *begun_us, leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 4, 1,
        "select r.rolname, case when shobj_description(r.oid, 'pg_authid') = $1 and r.rolconnlimit "
        "> 0 then r.rolconnlimit - 1 else 0 end, (select count(*) from " SESSIONS " a where "
        "a.usesysid = r.oid and a.application_name = $2 and a.begun_us <> $3 and "
        "(a.backend_start, a.pid) < (o.backend_start, o.pid)), o.begun_us from pg_roles "
        "r, " SESSIONS " o where r.rolname = session_user and o.pid = pg_backend_pid()",
        err, LEAT_PG_T(LEAT_ROLES_MARK), LEAT_PG_T(PROGRAM), LEAT_PG_I(*begun_us)));
    const int64_t most = leat_pg_int(rows, 0, 1), others = leat_pg_int(rows, 0, 2);
    leat_code code = LEAT_OK;
    if (most > 0 && others >= most)
        code = leat_fail(err, LEAT_ERR_CONNECTION,
                         "%lld machine%s with the login \"%.64s\" already, as many as it is for; "
                         "stop one, or ask whoever invited it for more (leat invite --machines)",
                         (long long)others, others == 1 ? " works" : "s work",
                         leat_pg_text(rows, 0, 0));
    else *begun_us = leat_pg_int(rows, 0, 3);
    leat_pg_rows_destroy(rows);
    return code;
}

leat_code leat_machine_connect(leat_pg **pg, int64_t *begun_us, const leat_pg_place *place,
                               const leat_stop *stop, leat_error *err) {
    leat_pg_close(*pg);
    *pg = NULL;
    LEAT_TRY(leat_pg_connect(pg, place, PROGRAM, TIMEOUT_MS, stop, err));
    const leat_code code = check(*pg, begun_us, err);
    if (code == LEAT_OK) return LEAT_OK;
    leat_pg_close(*pg);
    *pg = NULL;
    return code;
}
