/* See machines.h. A login sees its own sessions, and the limits of every role. Of machines that
 * connect at the same moment, each counts those before it: as many as may work do. */
#include "crowd/machines.h"

#include "crowd/database_parts.h"
#include "crowd/roles.h"

leat_code leat_machines_check(leat_pg **pg, leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_ROWS(
        *pg, &rows, 3, 1,
        "select r.rolname, case when shobj_description(r.oid, 'pg_authid') = $1 and r.rolconnlimit "
        "> 0 then r.rolconnlimit - 1 else 0 end, (select count(*) from pg_stat_activity a join "
        "pg_stat_activity o on o.pid = pg_backend_pid() where a.usesysid = r.oid and "
        "a.application_name = $2 and (a.backend_start, a.pid) < (o.backend_start, o.pid)) from "
        "pg_roles r where r.rolname = session_user",
        err, LEAT_PG_T(LEAT_ROLES_MARK), LEAT_PG_T(LEAT_MACHINES_NAME)));
    const int64_t most = leat_pg_int(rows, 0, 1), before = leat_pg_int(rows, 0, 2);
    leat_code code = LEAT_OK;
    if (most > 0 && before >= most) {
        code = leat_fail(err, LEAT_ERR_CONNECTION,
                         "%lld machine%s with the login \"%.64s\" already, as many as it is for; "
                         "stop one, or ask whoever invited it for more (leat invite --machines)",
                         (long long)before, before == 1 ? " works" : "s work",
                         leat_pg_text(rows, 0, 0));
        leat_pg_close(*pg);
        *pg = NULL;
    }
    leat_pg_rows_destroy(rows);
    return code;
}
