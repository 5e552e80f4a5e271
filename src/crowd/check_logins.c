/* What a server lets the logins of volunteers do that a run does not need, and whether this login
 * can invite: of a server that leat did not start, only its administrator changes that. */
#include <stdio.h>

#include "crowd/check.h"

enum { WORDS_BYTES = 512 };

/* What takes it away. */
static const char roles_sql[] =
    "as a superuser, in this database: leat coordinate --roles-sql prints the SQL";

static void tell_invitations(leat_check *self) {
    leat_pg_rows *rows = NULL;
    char todo[WORDS_BYTES];
    if (!leat_check_ask(self, "invitations", &rows, 1,
                        "select r.rolsuper or (r.rolcreaterole and pg_has_role(d.datdba, 'usage')) "
                        "from pg_roles r, pg_database d where r.rolname = current_user and "
                        "d.datname = current_database()",
                        NULL))
        return;
    const bool may = leat_pg_bool(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    snprintf(todo, sizeof todo,
             "invite with an administrator's URL, or, as an administrator: ALTER ROLE %s "
             "CREATEROLE; ALTER DATABASE %s OWNER TO %s;",
             self->acting, self->database, self->acting);
    leat_check_tell(self, may ? LEAT_CROWD_OK : LEAT_CROWD_NOTE, may ? "" : todo,
                    may ? "invitations: %s may create logins (leat invite)"
                        : "invitations: %s may not create logins for volunteers (leat invite)",
                    self->acting);
}

static void tell_creation(leat_check *self) {
    leat_pg_rows *rows = NULL;
    if (!leat_check_ask(self, "creation", &rows, 2,
                        "select has_database_privilege('public', current_database(), 'temporary') "
                        "or has_database_privilege('public', current_database(), 'create'), "
                        "exists (select from pg_namespace n where n.nspname !~ '^pg_' and "
                        "has_schema_privilege('public', n.oid, 'create'))",
                        NULL))
        return;
    const bool temporary = leat_pg_bool(rows, 0, 0);
    const bool tables = leat_pg_bool(rows, 0, 1);
    leat_pg_rows_destroy(rows);
    if (temporary || tables)
        leat_check_tell(self, LEAT_CROWD_NOTE, roles_sql,
                        "creation: every login may create %s here, which fill the disk",
                        !temporary ? "tables"
                        : !tables  ? "temporary tables"
                                   : "tables of any kind");
    else leat_check_tell(self, LEAT_CROWD_OK, "", "creation: nobody but the owner creates tables");
}

/* Of those that may work here, and are not administrators'. */
static void tell_limits(leat_check *self) {
    leat_pg_rows *rows = NULL;
    char todo[WORDS_BYTES];
    if (!leat_check_ask(self, "limits", &rows, 2,
                        "select count(*), coalesce(min(quote_ident(rolname)), '') from pg_roles r "
                        "where rolcanlogin and not rolsuper and rolconnlimit < 0 and "
                        "has_database_privilege(oid, current_database(), 'connect') and not "
                        "pg_has_role(oid, (select datdba from pg_database where datname = "
                        "current_database()), 'member')",
                        NULL))
        return;
    const long long count = leat_pg_int(rows, 0, 0);
    snprintf(todo, sizeof todo, "ALTER ROLE %s CONNECTION LIMIT 5; or let leat invite create it",
             leat_pg_text(rows, 0, 1));
    leat_pg_rows_destroy(rows);
    if (count > 0)
        leat_check_tell(self, LEAT_CROWD_NOTE, todo,
                        "limits: %lld login%s that may connect here can take all connections of "
                        "the server",
                        count, count == 1 ? "" : "s");
    else
        leat_check_tell(self, LEAT_CROWD_OK, "",
                        "limits: every login that may connect here has a connection limit");
}

/* Only a superuser may read pg_hba.conf. */
static void tell_encryption(leat_check *self) {
    leat_pg_rows *rows = NULL;
    if (!self->superuser) return;
    if (!leat_check_ask(self, "encryption", &rows, 1,
                        "select count(*) from pg_hba_file_rules where type in ('host', "
                        "'hostnossl') and auth_method <> 'reject' and error is null and address "
                        "not in ('127.0.0.1', '::1')",
                        NULL))
        return;
    const bool some = leat_pg_int(rows, 0, 0) > 0;
    leat_pg_rows_destroy(rows);
    if (some)
        leat_check_tell(self, LEAT_CROWD_NOTE,
                        "in pg_hba.conf, write hostssl instead of host in rules for other machines",
                        "encryption: other machines may connect without TLS");
    else leat_check_tell(self, LEAT_CROWD_OK, "", "encryption: other machines must use TLS");
}

void leat_check_logins(leat_check *self) {
    if (!self->facts->can_coordinate && !self->superuser) return;
    tell_invitations(self);
    tell_creation(self);
    tell_limits(self);
    tell_encryption(self);
}
