/* The schema of a database, and what this login may do with it. */
#include <stdio.h>
#include <string.h>

#include "crowd/check.h"
#include "crowd/database.h"
#include "crowd/roles.h"

enum { WORDS_BYTES = 2048 };

/* Names of the schema's objects, as SQL writes an array of texts: "{run,step}". */
typedef struct names {
    char text[WORDS_BYTES];
    size_t size;
} names;

static void add_name(names *to, const char *name, size_t length) {
    LEAT_ASSERT(to->size + length + 3 < sizeof to->text);
    if (to->size == 0) to->text[to->size++] = '{';
    else to->text[to->size - 1] = ',';
    memcpy(to->text + to->size, name, length);
    to->size += length;
    memcpy(to->text + to->size, "}", 2);
    to->size++;
}

/* Adds each NAME of "leat.NAME" in a part of the SQL that creates the schema; `one`: only the first
 * of it. */
static void add_names(names *to, const char *from, const char *end, bool one) {
    static const char symbols[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    static const char prefix[] = "leat.";
    for (;;) {
        const char *at = strstr(from, prefix);
        if (at == NULL || at >= end) return;
        from = at + strlen(prefix);
        const size_t length = strspn(from, symbols);
        add_name(to, from, length);
        if (one) return;
    }
}

/* The objects that lines with this beginning create. */
static void find_created(names *to, const char *const *beginnings) {
    for (int part = 0; part < LEAT_DATABASE_SCHEMA_PARTS; part++) {
        const char *line = leat_database_schema(part);
        while (*line != 0) {
            const char *end = line + strcspn(line, "\n");
            for (int i = 0; beginnings[i] != NULL; i++)
                if (strncmp(line, beginnings[i], strlen(beginnings[i])) == 0)
                    add_names(to, line, end, true);
            line = *end != 0 ? end + 1 : end;
        }
    }
}

/* What a grant gives to all logins. */
static void find_granted(names *to, const char *beginning) {
    const char *grant = strstr(leat_database_schema(LEAT_DATABASE_SCHEMA_PARTS - 1), beginning);
    const char *end = grant != NULL ? strstr(grant, "to public;") : NULL;
    LEAT_ASSERT(end != NULL);
    add_names(to, grant, end, false);
}

/* What the schema is to this login. */
typedef struct schema_facts {
    char owner[160];
    bool there, may_use, is_owner, owner_is_super;
    bool may_create; /* a schema in this database */
    bool invited;    /* a volunteer, who cannot grant anything, and need not */
} schema_facts;

static bool ask_schema(leat_check *self, schema_facts *of) {
    leat_pg_rows *rows = NULL;
    /* tables that a coordinator creates must be those of the owner of the functions, or he must be
     * a superuser */
    if (!leat_check_ask(
            self, "schema", &rows, 7,
            "select n.oid is not null, quote_ident(pg_get_userbyid(n.nspowner)), "
            "has_schema_privilege(n.oid, 'USAGE'), n.nspowner = r.oid or (r.rolsuper and "
            "o.rolsuper), has_database_privilege(current_database(), 'CREATE'), o.rolsuper, "
            "coalesce(shobj_description(r.oid, 'pg_authid') = '" LEAT_ROLES_MARK
            "', false) from pg_roles r left join pg_namespace n on n.nspname = 'leat' left join "
            "pg_roles o on o.oid = n.nspowner "
            "where r.rolname = current_user",
            NULL))
        return false;
    of->there = leat_pg_bool(rows, 0, 0);
    snprintf(of->owner, sizeof of->owner, "%s", leat_pg_text(rows, 0, 1));
    of->may_use = leat_pg_bool(rows, 0, 2);
    of->is_owner = leat_pg_bool(rows, 0, 3);
    of->may_create = leat_pg_bool(rows, 0, 4);
    of->owner_is_super = leat_pg_bool(rows, 0, 5);
    of->invited = leat_pg_bool(rows, 0, 6);
    leat_pg_rows_destroy(rows);
    return true;
}

/* One text of a statement with one parameter; "" if it is null, or the server does not answer. */
static void ask_text(leat_check *self, char text[WORDS_BYTES], const char *sql,
                     const char *parameter) {
    leat_pg_rows *rows = NULL;
    const leat_pg_value value = LEAT_PG_T(parameter);
    text[0] = 0;
    if (!leat_check_ask(self, "schema", &rows, 1, sql, &value)) return;
    snprintf(text, WORDS_BYTES, "%s", leat_pg_text(rows, 0, 0));
    leat_pg_rows_destroy(rows);
}

/* ---- what is there --------------------------------------------------------------------------- */

static void tell_absent(leat_check *self, const schema_facts *of) {
    char todo[WORDS_BYTES];
    self->facts->schema_version = 0;
    self->facts->open_runs = 0;
    self->facts->can_coordinate = of->may_create;
    if (of->may_create) {
        leat_check_tell(self, LEAT_CROWD_OK, "",
                        "schema: none yet; leat coordinate with this login creates it");
        return;
    }
    snprintf(todo, sizeof todo,
             "for a coordinator: GRANT CREATE ON DATABASE %s TO %s; for a worker: begin the run "
             "with leat coordinate and another login",
             self->database, self->login);
    leat_check_tell(self, LEAT_CROWD_PROBLEM, todo,
                    "schema: none yet, and this login may not create it");
}

/* Reports what is missing, unless it is "". */
static bool tell_missing(const leat_check *self, const char *missing) {
    char remedy[LEAT_DATABASE_REMEDY_BYTES], todo[2 * LEAT_DATABASE_REMEDY_BYTES];
    if (missing[0] == 0) return false;
    leat_database_replacement("RUN", remedy);
    snprintf(todo, sizeof todo, "if a dump is being restored, wait for its end; otherwise %s",
             remedy);
    leat_check_tell(self, LEAT_CROWD_PROBLEM, todo, "schema: incomplete: %.1500s missing", missing);
    return true;
}

/* `version`: as is_ours found it. */
static bool is_complete(leat_check *self, int64_t version) {
    static const char *const creates_relation[] = {"create table ", "create view ", NULL};
    static const char *const creates_function[] = {"create function ", NULL};
    static const char missing_relations[] =
        "select string_agg(name, ', ') from unnest($1::text[]) name where not exists (select from "
        "pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'leat' and "
        "c.relname = name)";
    static const char missing_functions[] =
        "select string_agg(name || '()', ', ') from unnest($1::text[]) name where not exists "
        "(select from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = "
        "'leat' and p.proname = name)";
    names relations = {0}, functions = {0};
    char missing[2][WORDS_BYTES], keys[LEAT_CROWD_WORDS_BYTES] = "";
    find_created(&relations, creates_relation);
    find_created(&functions, creates_function);
    ask_text(self, missing[0], missing_relations, relations.text);
    ask_text(self, missing[1], missing_functions, functions.text);
    /* whoever may not use the schema does not learn it */
    if (!leat_pg_broken(self->pg)) (void)!leat_database_find_missing(self->pg, keys, NULL);
    bool complete = !tell_missing(self, missing[0]);
    complete = !tell_missing(self, missing[1]) && complete;
    return complete &&
           !tell_missing(self, version == LEAT_DATABASE_UNFINISHED ? "its version" : keys);
}

/* *version: 0 if this login may not know it, or as leat_database_find_version. False: it is another
 * one than this leat's. */
static bool is_ours(leat_check *self, int64_t *version) {
    char todo[LEAT_DATABASE_REMEDY_BYTES];
    leat_error why = {0};
    *version = 0;
    if (leat_pg_broken(self->pg) ||
        leat_database_find_version(self->pg, version, &why) != LEAT_OK || *version <= 0)
        return true;
    self->facts->schema_version = *version;
    if (*version == LEAT_CROWD_SCHEMA_VERSION) return true;
    (void)leat_database_remedy(*version, "RUN", todo);
    leat_check_tell(self, LEAT_CROWD_PROBLEM, todo, "schema: version %lld, and this leat needs %d",
                    (long long)*version, LEAT_CROWD_SCHEMA_VERSION);
    return false;
}

static void tell_runs(leat_check *self) {
    leat_pg_rows *rows = NULL;
    if (!leat_check_ask(self, "runs", &rows, 2,
                        "select count(*), string_agg(name, ', ' order by name) from "
                        "leat.training_state where state <> 'finished'",
                        NULL))
        return;
    self->facts->open_runs = leat_pg_int(rows, 0, 0);
    if (self->facts->open_runs == 0)
        leat_check_tell(self, LEAT_CROWD_NOTE,
                        "workers can join once leat coordinate has begun one",
                        "runs: none is open");
    else
        leat_check_tell(self, LEAT_CROWD_OK, "", "runs: open are %.1000s",
                        leat_pg_text(rows, 0, 1));
    leat_pg_rows_destroy(rows);
}

/* ---- rights ---------------------------------------------------------------------------------- */

/* The lines that let this login work ("": it may), and what it may not read. */
static void find_grants(leat_check *self, const schema_facts *of, char grants[WORDS_BYTES],
                        char views[WORDS_BYTES]) {
    names for_workers = {0}, readable = {0};
    char functions[WORDS_BYTES];
    find_granted(&for_workers, "grant execute on function ");
    find_granted(&readable, "grant select on ");
    ask_text(self, functions,
             "select string_agg(p.oid::regprocedure::text, ', ' order by proname) from pg_proc p "
             "join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'leat' and p.proname "
             "= any ($1::text[]) and not has_function_privilege(p.oid, 'EXECUTE')",
             for_workers.text);
    ask_text(
        self, views,
        "select string_agg('leat.' || relname, ', ' order by relname) from pg_class c join "
        "pg_namespace n on n.oid = c.relnamespace where n.nspname = 'leat' and c.relname = any "
        "($1::text[]) and not has_table_privilege(c.oid, 'SELECT')",
        readable.text);
    int size = 0;
    grants[0] = 0;
    if (!of->may_use)
        size = snprintf(grants, WORDS_BYTES, "GRANT USAGE ON SCHEMA leat TO %s; ", self->acting);
    if (functions[0] != 0)
        size += snprintf(grants + size, WORDS_BYTES - (size_t)size,
                         "GRANT EXECUTE ON FUNCTION %.1500s TO %s; ", functions, self->acting);
    if (size > 0) grants[size - 1] = 0;
}

/* Membership alone is not enough: the tables of a run must belong to the owner of the functions
 * that workers call, so the login acts as the owner. */
static void coordinator_lines(const leat_check *self, const schema_facts *of,
                              char lines[WORDS_BYTES]) {
    snprintf(
        lines, WORDS_BYTES,
        "for a coordinator: use the login %s%s; or GRANT %s TO %s; ALTER ROLE %s IN DATABASE %s "
        "SET role = %s;",
        of->owner, of->owner_is_super ? ", which is a superuser" : "", of->owner, self->login,
        self->login, self->database, of->owner);
}

static void tell_rights(leat_check *self, const schema_facts *of, const char *grants) {
    char lines[WORDS_BYTES], todo[2 * WORDS_BYTES];
    const leat_crowd_facts *facts = self->facts;
    coordinator_lines(self, of, lines);
    if (facts->can_coordinate && facts->can_work) {
        leat_check_tell(self, LEAT_CROWD_OK, "", "rights: %s may coordinate and work%s",
                        self->login, self->superuser ? "; it is a superuser" : "");
    } else if (facts->can_coordinate) {
        snprintf(todo, sizeof todo, "for a worker: %s", grants);
        leat_check_tell(self, LEAT_CROWD_OK, todo, "rights: %s may coordinate, but not work",
                        self->login);
    } else if (facts->can_work) {
        leat_check_tell(self, LEAT_CROWD_OK, of->invited ? "" : lines,
                        "rights: %s may work, but not coordinate: the schema belongs to %s",
                        self->login, of->owner);
    } else {
        snprintf(todo, sizeof todo, "for a worker: %s %s", grants, lines);
        leat_check_tell(self, LEAT_CROWD_PROBLEM, todo,
                        "rights: %s may neither coordinate nor work: the schema belongs to %s",
                        self->login, of->owner);
    }
}

static void tell_present(leat_check *self, const schema_facts *of) {
    char grants[WORDS_BYTES], views[WORDS_BYTES], todo[WORDS_BYTES];
    int64_t version = 0;
    if (!is_ours(self, &version) || !is_complete(self, version)) return;
    find_grants(self, of, grants, views);
    const bool may_read = of->may_use && views[0] == 0;
    if (leat_pg_broken(self->pg)) return;
    if (may_read)
        leat_check_tell(self, LEAT_CROWD_OK, "", "schema: version %d, complete, owner %s",
                        LEAT_CROWD_SCHEMA_VERSION, of->owner);
    self->facts->can_coordinate = of->is_owner;
    self->facts->can_work = grants[0] == 0;
    tell_rights(self, of, grants);
    if (may_read) {
        tell_runs(self);
    } else {
        snprintf(todo, sizeof todo, "GRANT SELECT ON %.1500s TO %s;", views, self->acting);
        leat_check_tell(self, LEAT_CROWD_NOTE, views[0] != 0 ? todo : "",
                        "schema: version and runs are not known: this login may not read them");
    }
}

/* ---- access ---------------------------------------------------------------------------------- */

/* Work is granted to PUBLIC, so who may connect may take part. A new database lets everybody. */
static void tell_access(leat_check *self) {
    leat_pg_rows *rows = NULL;
    char todo[WORDS_BYTES];
    if (!leat_check_ask(self, "access", &rows, 1,
                        "select has_database_privilege('public', current_database(), 'CONNECT')",
                        NULL))
        return;
    self->facts->public_may_connect = leat_pg_bool(rows, 0, 0);
    leat_pg_rows_destroy(rows);
    if (!self->facts->public_may_connect) {
        leat_check_tell(self, LEAT_CROWD_OK, "",
                        "access: only logins with a grant may connect to the database");
        return;
    }
    snprintf(todo, sizeof todo,
             "let its owner run: REVOKE CONNECT, TEMPORARY ON DATABASE %s FROM PUBLIC; then, for "
             "each login that is to work: GRANT CONNECT ON DATABASE %s TO LOGIN;",
             self->database, self->database);
    leat_check_tell(self, LEAT_CROWD_NOTE, todo,
                    "access: every login of this server may connect to the database, so it can "
                    "work on its runs, and read names and samples of a data set kept there");
}

void leat_check_schema(leat_check *self) {
    schema_facts of = {0};
    tell_access(self);
    if (!ask_schema(self, &of)) return;
    if (of.there) tell_present(self, &of);
    else tell_absent(self, &of);
}
