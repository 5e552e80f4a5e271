/*
 * Letting people in, and out: leat_invite, leat_revoke (leat/crowd.h).
 *
 * Statements about roles take no parameters, so the server itself writes them, with its own rules
 * for names and texts (format), and is then sent what it wrote. A password never leaves this
 * process but in the ticket: the server gets what SCRAM keeps of it.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "crowd/authority.h"
#include "crowd/database_parts.h"
#include "crowd/pause.h"
#include "crowd/roles.h"
#include "crowd/ticket.h"
#include "leat/crowd.h"

enum { TIMEOUT_MS = 30000, END_MS = 10000, END_POLL_MS = 20, SCRIPT_BYTES = 4096 };

/* The first statements of a script that changes a login: see change_login. */
#define BEGIN "begin; set local lock_timeout = '1s'; "

typedef struct invitation {
    const leat_invite_options *options;
    leat_invite_result *result;
    leat_pg_place place;
    leat_pg *pg;
    leat_ticket ticket;
} invitation;

leat_invite_options leat_invite_options_default(void) { return (leat_invite_options){0}; }

static leat_code refuse_ticket(const char *url, leat_error *err) {
    if (!leat_ticket_is(url)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "--db is a volunteer's ticket; use the URL of the owner or a superuser, "
                     "@RUN/database/invite.url for --db local");
}

/* ---- the login ------------------------------------------------------------------------------- */

static leat_code check_name(const char *login, leat_error *err) {
    const int64_t size = (int64_t)strlen(login);
    if (size > 0 && size < 64 && leat_text_clean(login, size) == size) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "a login's name must have 1 to 63 bytes, without control characters");
}

/* Of the login that is named, on the server. */
typedef struct role {
    bool exists, invited; /* by leat */
    bool superuser;       /* whoever asks is one */
    int64_t connections;  /* that it may have */
} role;

static leat_code find_role(leat_pg *pg, const char *login, role *out, leat_error *err) {
    leat_pg_rows *rows = NULL;
    *out = (role){0};
    LEAT_TRY(LEAT_DATABASE_ROWS(
        pg, &rows, 4, 1,
        "select count(r.oid) > 0, coalesce(bool_or(shobj_description(r.oid, 'pg_authid') = $2), "
        "false), (select rolsuper from pg_roles where rolname = current_user), "
        "coalesce(max(r.rolconnlimit), -1) from pg_roles r where r.rolname = $1",
        err, LEAT_PG_T(login), LEAT_PG_T(LEAT_ROLES_MARK)));
    out->exists = leat_pg_bool(rows, 0, 0);
    out->invited = leat_pg_bool(rows, 0, 1);
    out->superuser = leat_pg_bool(rows, 0, 2);
    out->connections = leat_pg_int(rows, 0, 3);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

/* Runs what the server makes of a format, whose $1 is the login and $2 a text. */
static leat_code run(leat_pg *pg, const char *format, const char *login, const char *text,
                     leat_error *err) {
    leat_pg_rows *rows = NULL;
    LEAT_TRY(LEAT_DATABASE_VALUE(pg, &rows,
                                 "select format($1::text, $2::text, $3::text, current_database())",
                                 err, LEAT_PG_T(format), LEAT_PG_T(login), LEAT_PG_T(text)));
    const leat_code code = leat_pg_script(pg, leat_pg_text(rows, 0, 0), err);
    leat_pg_rows_destroy(rows);
    return code;
}

/* Whether a change of a login failed because a transaction had changed it, too. */
static bool is_in_the_way(const leat_pg *pg) {
    const char *state = leat_pg_sqlstate(pg);
    /* the last one: "tuple concurrently updated" */
    return strcmp(state, "55P03") == 0 || strcmp(state, "57014") == 0 ||
           strcmp(state, "XX000") == 0;
}

/* Runs a script that begins with BEGIN and changes a login. Whoever has the login may change its
 * password, too, and so keeps it locked for as long as a transaction lasts: its sessions are ended
 * before each try. *ended: how many it had. */
static leat_code change_login(leat_pg *pg, const char *format, const char *login, const char *text,
                              int64_t *ended, leat_error *err) {
    const int64_t until_ns = leat_clock_ns() + END_MS * INT64_C(1000000);
    for (*ended = 0;;) {
        leat_pg_rows *rows = NULL;
        leat_error why = {0};
        const leat_code code = LEAT_DATABASE_VALUE(
            pg, &rows,
            "select count(*) filter (where pg_terminate_backend(pid)) from pg_stat_activity where "
            "usename = $1",
            &why, LEAT_PG_T(login));
        if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
        if (code == LEAT_OK && *ended == 0) *ended = leat_pg_int(rows, 0, 0);
        leat_pg_rows_destroy(rows);
        if (run(pg, format, login, text, &why) == LEAT_OK) return LEAT_OK;
        if (leat_pg_broken(pg)) return leat_error_copy(err, &why);
        const bool again = is_in_the_way(pg) && leat_clock_ns() < until_ns;
        if (!again) return leat_error_copy(err, &why);
        LEAT_TRY(leat_pg_script(pg, "rollback", err));
    }
}

static void add_settings(char script[SCRIPT_BYTES], const char *const *settings) {
    for (; *settings != NULL; settings++) {
        const size_t size = strlen(script);
        snprintf(script + size, SCRIPT_BYTES - size, "alter role %%1$I set %s; ", *settings);
    }
}

/* All of it is one transaction. */
static void write_script(const invitation *of, const role *found, char script[SCRIPT_BYTES]) {
    snprintf(script, SCRIPT_BYTES,
             BEGIN "%salter role %%1$I reset all; alter role %%1$I in database %%3$I reset all; "
                   "alter role %%1$I login connection limit %lld "
                   "password %%2$L; comment on role %%1$I is '" LEAT_ROLES_MARK "'; "
                   "grant connect on database %%3$I to %%1$I; ",
             found->exists ? "" : "create role %1$I; ", (long long)of->result->connections);
    add_settings(script, leat_roles_settings);
    if (found->superuser) add_settings(script, leat_roles_superuser_settings);
    const size_t size = strlen(script);
    snprintf(script + size, SCRIPT_BYTES - size, "commit");
}

/* What the server says of a right that the inviting login lacks, and of a name. */
static leat_code not_created(invitation *of, const leat_error *why, leat_error *err) {
    const char *state = leat_pg_broken(of->pg) ? "" : leat_pg_sqlstate(of->pg);
    const leat_code code =
        strcmp(state, "42501") == 0 || strcmp(state, "42939") == 0 ? LEAT_ERR_OPTION : why->code;
    return leat_fail(err, code, "the login \"%s\" cannot be created: %.300s%s", of->options->login,
                     why->message,
                     strcmp(state, "42501") == 0
                         ? "; use the URL of a superuser, or of a login with CREATEROLE that owns "
                           "the database"
                         : "");
}

/* Whether what is asked for fits whom the server knows. */
static leat_code check_role(const invitation *of, const role *found, leat_error *err) {
    const leat_invite_options *options = of->options;
    if (found->exists && !found->invited)
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "the server has a login \"%s\" that leat invite did not create; choose "
                         "another name",
                         options->login);
    if (!found->exists && options->new_password)
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "--new-password: nobody was invited as \"%s\"; leave it out to invite "
                         "them, or check the name",
                         options->login);
    /* without a ticket, a run for it would be ignored */
    if (found->exists && !options->new_password && (options->machines == 0 || options->run != NULL))
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%s\" was invited already: use --new-password for another ticket, which "
                         "ends the sessions of the earlier one, or --machines alone for another "
                         "number of machines",
                         options->login);
    return LEAT_OK;
}

/* One more than machines: see machines.h. */
static void choose_machines(invitation *of, const role *found) {
    leat_invite_result *result = of->result;
    result->machines = of->options->machines;
    if (result->machines == 0 && found->invited && found->connections > 1)
        result->machines = found->connections - 1;
    if (result->machines == 0) result->machines = LEAT_INVITE_MACHINES;
    result->connections = result->machines + 1;
}

static leat_code create_login(invitation *of, const role *found, leat_error *err) {
    const char *login = of->options->login;
    char script[SCRIPT_BYTES], verifier[LEAT_PG_VERIFIER_BYTES];
    leat_error why = {0};
    int64_t ended = 0;
    LEAT_TRY(leat_roles_password(of->ticket.password, err));
    LEAT_TRY(leat_pg_verifier(of->pg, login, of->ticket.password, verifier, err));
    write_script(of, found, script);
    if ((found->exists ? change_login(of->pg, script, login, verifier, &ended, &why)
                       : run(of->pg, script, login, verifier, &why)) != LEAT_OK)
        return not_created(of, &why, err);
    return LEAT_OK;
}

/* The ticket that it has stays good. */
static leat_code change_machines(invitation *of, leat_error *err) {
    char format[64];
    leat_error why = {0};
    snprintf(format, sizeof format, "alter role %%1$I connection limit %lld",
             (long long)of->result->connections);
    if (run(of->pg, format, of->options->login, "", &why) == LEAT_OK) return LEAT_OK;
    return leat_fail(err, why.code, "the number of machines cannot be changed: %.300s",
                     why.message);
}

/* GRANT without the right to grant is a warning, not an error. */
static leat_code check_access(invitation *of, leat_error *err) {
    leat_pg_rows *rows = NULL;
    bool may = false;
    const leat_code code = LEAT_DATABASE_VALUE(
        of->pg, &rows, "select has_database_privilege($1, current_database(), 'connect')", err,
        LEAT_PG_T(of->options->login));
    LEAT_TRY(leat_database_take_bool(code, rows, &may));
    if (may) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%s\" may not connect to the database \"%s\": its owner must run GRANT "
                     "CONNECT ON DATABASE \"%s\" TO \"%s\"; then invite again with --new-password",
                     of->options->login, of->place.database, of->place.database,
                     of->options->login);
}

/* ---- the ticket ------------------------------------------------------------------------------ */

static leat_code refuse_place(leat_error *err, const char *why) {
    return leat_fail(err, LEAT_ERR_OPTION,
                     "%s, so a ticket could not say how the server is verified; add "
                     "sslmode=verify-full&sslrootcert=FILE to the URL of --db, with the "
                     "certificate of the server's authority, or sslrootcert=system",
                     why);
}

/* Where the volunteer connects to, and how that is verified: as this connection is. */
static leat_code fill_place(invitation *of, leat_error *err) {
    leat_ticket *ticket = &of->ticket;
    leat_pg_link link;
    uint8_t address[16];
    leat_pg_get_link(of->pg, &link);
    if (of->place.host[0] == '/' || of->place.host[0] == '@' || strchr(of->place.host, ',') != NULL)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the host in the URL of --db must be one name or address that volunteers "
                         "reach, not \"%.100s\"",
                         of->place.host);
    const bool named = inet_pton(AF_INET, of->place.host, address) != 1 &&
                       inet_pton(AF_INET6, of->place.host, address) != 1;
    const bool plain = link.local && !link.name_verified;
    snprintf(ticket->host, sizeof ticket->host, "%s",
             plain && named ? link.address : of->place.host);
    snprintf(ticket->database, sizeof ticket->database, "%s", of->place.database);
    snprintf(ticket->login, sizeof ticket->login, "%s", of->options->login);
    ticket->port = strtoll(of->place.port, NULL, 10);
    of->result->only_here = plain;
    ticket->check = plain                           ? LEAT_TICKET_PLAIN
                    : of->place.authorities[0] != 0 ? LEAT_TICKET_SYSTEM
                                                    : LEAT_TICKET_AUTHORITY;
    if (plain || ticket->check == LEAT_TICKET_SYSTEM) return LEAT_OK;
    if (link.tls[0] == 0) return refuse_place(err, "the connection to the server is not encrypted");
    if (!link.name_verified) return refuse_place(err, "the name of the server is not verified");
    if (link.authorities[0] == 0) return refuse_place(err, "the URL does not name an authority");
    return leat_authority_read(link.authorities, ticket->certificate, sizeof ticket->certificate,
                               &ticket->certificate_bytes, err);
}

/* The run that is named, or the only open one; whether it has its data set in the database. */
static leat_code find_run(invitation *of, leat_error *err) {
    const char *wanted = of->options->run != NULL ? of->options->run : of->place.run;
    leat_pg_rows *rows = NULL;
    leat_error why = {0};
    /* that of leat.run.name, which there may not be yet */
    if (strlen(wanted) >= LEAT_CROWD_NAME_BYTES ||
        strspn(wanted, LEAT_CROWD_NAME_CHARACTERS) != strlen(wanted))
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "\"%.100s\" is not the name of a run: a run's has 1 to %d letters, digits, "
            "'.', '_' and '-'",
            wanted, LEAT_CROWD_NAME_BYTES - 1);
    snprintf(of->ticket.run, sizeof of->ticket.run, "%s", wanted);
    snprintf(of->result->run, sizeof of->result->run, "%s", wanted);
    const leat_code code = LEAT_DATABASE_ROWS(
        of->pg, &rows, 2, 0,
        "select name, sample_bytes > 0 from leat.run where state <> 'finished' and ($1 = '' or "
        "name = $1) order by id desc limit 2",
        &why, LEAT_PG_T(wanted));
    if (leat_pg_broken(of->pg)) return leat_error_copy(err, &why);
    /* there may be no schema yet, or this login may not read it */
    if (code != LEAT_OK) return LEAT_OK;
    const int count = leat_pg_row_count(rows);
    of->result->serves_data = count == 1 && leat_pg_bool(rows, 0, 1);
    leat_pg_rows_destroy(rows);
    if (count > 0 || of->options->run == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "the database has no open run \"%s\"; invite without --run, and the ticket is "
                     "for the run that is open when it is used",
                     wanted);
}

/* Whether the ticket lets its owner in: pg_hba.conf may not. */
static leat_code try_ticket(invitation *of, leat_error *err) {
    leat_pg_place *place = NULL;
    leat_pg *pg = NULL;
    leat_error why = {0};
    LEAT_TRY(LEAT_NEW(&place, 1, err));
    leat_code code = leat_ticket_place(place, of->result->ticket, &why);
    if (code == LEAT_OK) code = leat_pg_connect(&pg, place, "leat invite", TIMEOUT_MS, NULL, &why);
    leat_pg_close(pg);
    leat_free(place);
    if (code != LEAT_OK)
        snprintf(of->result->untried, sizeof of->result->untried, "%s", why.message);
    return LEAT_OK;
}

/* Ends the sessions that a login has, which can make no new ones, and waits until they are gone. */
static leat_code end_sessions(leat_pg *pg, const char *login, int64_t *ended, leat_error *err) {
    static const char sql[] =
        "select count(*), count(*) filter (where pg_terminate_backend(pid)) from pg_stat_activity "
        "where usename = $1";
    int64_t left = 1;
    for (int64_t ms = 0; left > 0; ms += END_POLL_MS) {
        leat_pg_rows *rows = NULL;
        LEAT_TRY(LEAT_DATABASE_ROWS(pg, &rows, 2, 1, sql, err, LEAT_PG_T(login)));
        left = leat_pg_int(rows, 0, 0);
        if (ms == 0) *ended = left;
        leat_pg_rows_destroy(rows);
        if (left > 0 && ms >= END_MS)
            return leat_fail(err, LEAT_ERR_BUSY,
                             "%lld session%s of \"%s\" %s not end; it can open no other, so try "
                             "again, or restart the server",
                             (long long)left, left == 1 ? "" : "s", login,
                             left == 1 ? "does" : "do");
        if (left > 0) (void)leat_pause_sleep(END_POLL_MS, NULL);
    }
    return LEAT_OK;
}

/* Whoever has the earlier ticket, which somebody may have found, works no more. */
static leat_code end_earlier(invitation *of, leat_error *err) {
    leat_error why = {0};
    int64_t ended = 0;
    if (!of->result->replaced) return LEAT_OK;
    if (end_sessions(of->pg, of->options->login, &ended, &why) == LEAT_OK) return LEAT_OK;
    return leat_fail(
        err, why.code,
        "\"%s\" has a new password, so its earlier ticket lets nobody in any more, but "
        "sessions that it has go on: %.200s; invite again with --new-password and the "
        "URL of a superuser",
        of->options->login, why.message);
}

static leat_code invite(invitation *of, leat_error *err) {
    const leat_invite_options *options = of->options;
    role found;
    LEAT_TRY(check_name(options->login, err));
    if (options->machines < 0 || options->machines > LEAT_INVITE_MACHINES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "machines must be between 1 and %d, not %lld",
                         LEAT_INVITE_MACHINES_MAX, (long long)options->machines);
    LEAT_TRY(refuse_ticket(options->url, err));
    LEAT_TRY(leat_pg_place_parse(&of->place, options->url, err));
    LEAT_TRY(leat_pg_connect(&of->pg, &of->place, "leat invite", TIMEOUT_MS, NULL, err));
    LEAT_TRY(find_role(of->pg, options->login, &found, err));
    LEAT_TRY(check_role(of, &found, err));
    of->result->replaced = found.exists;
    choose_machines(of, &found);
    if (found.exists && !options->new_password) return change_machines(of, err);
    LEAT_TRY(fill_place(of, err));
    LEAT_TRY(find_run(of, err));
    LEAT_TRY(create_login(of, &found, err));
    LEAT_TRY(end_earlier(of, err));
    LEAT_TRY(check_access(of, err));
    LEAT_TRY(leat_ticket_write(&of->ticket, of->result->ticket, err));
    return try_ticket(of, err);
}

leat_code leat_invite(const leat_invite_options *options, leat_invite_result *result,
                      leat_error *err) {
    invitation *of = NULL;
    *result = (leat_invite_result){0};
    LEAT_TRY(LEAT_NEW(&of, 1, err));
    of->options = options;
    of->result = result;
    const leat_code code = invite(of, err);
    leat_pg_close(of->pg);
    if (code != LEAT_OK) *result = (leat_invite_result){0};
    leat_free(of);
    return code;
}

/* ---- revoking -------------------------------------------------------------------------------- */

/* What it has in the runs of this database. */
static leat_code end_work(leat_pg *pg, const char *login, leat_revoke_result *result,
                          leat_error *err) {
    leat_pg_rows *rows = NULL;
    int64_t version = 0;
    LEAT_TRY(leat_database_find_version(pg, &version, err));
    if (version == 0) return LEAT_OK; /* nobody has worked here */
    LEAT_TRY(leat_database_check_version(pg, err));
    LEAT_TRY(LEAT_DATABASE_ROWS(pg, &rows, 3, 1,
                                "select leases, results, counted from leat.revoke($1)", err,
                                LEAT_PG_T(login)));
    result->leases = leat_pg_int(rows, 0, 0);
    result->results = leat_pg_int(rows, 0, 1);
    result->counted = leat_pg_int(rows, 0, 2);
    leat_pg_rows_destroy(rows);
    return LEAT_OK;
}

/* Takes from a login, in this database, what it can give itself without any right: default
 * privileges, and large objects. Tables and the like, which somebody gave it, stay, and are named.
 */
static leat_code drop_own(leat_pg *pg, const char *login, leat_error *err) {
    leat_pg_rows *rows = NULL;
    leat_error why = {0};
    bool has_more = false;
    const leat_code code = LEAT_DATABASE_VALUE(
        pg, &rows,
        "select exists (select from pg_shdepend d where d.refclassid = 'pg_authid'::regclass and "
        "d.refobjid = (select oid from pg_roles where rolname = $1) and d.deptype = 'o' and "
        "d.classid not in ('pg_default_acl'::regclass, 'pg_largeobject'::regclass) and d.dbid = "
        "(select oid from pg_database where datname = current_database()))",
        err, LEAT_PG_T(login));
    LEAT_TRY(leat_database_take_bool(code, rows, &has_more));
    if (has_more) return LEAT_OK;
    /* who may not do that learns from what follows what is in the way */
    (void)run(pg, "drop owned by %1$I", login, "", &why);
    return leat_pg_broken(pg) ? leat_error_copy(err, &why) : LEAT_OK;
}

/* What keeps a role from being removed, in the server's words; it may be in another database. */
static leat_code drop(leat_pg *pg, const char *login, leat_error *err) {
    leat_pg_rows *rows = NULL;
    leat_error why = {0};
    char owns[LEAT_CROWD_WORDS_BYTES];
    if (run(pg, "drop role %1$I", login, "", &why) == LEAT_OK) return LEAT_OK;
    if (leat_pg_broken(pg) || strcmp(leat_pg_sqlstate(pg), "2BP01") != 0)
        return leat_error_copy(err, &why);
    const leat_code code = LEAT_DATABASE_VALUE(
        pg, &rows,
        "select coalesce(left(string_agg(distinct case when d.dbid = 0 or db.datname = "
        "current_database() then pg_describe_object(d.classid, d.objid, d.objsubid) else "
        "'something in database ' || quote_ident(db.datname) end, ', '), 400), '') from "
        "pg_shdepend d left join pg_database db on db.oid = d.dbid where d.refobjid = (select oid "
        "from pg_roles where rolname = $1)",
        err, LEAT_PG_T(login));
    LEAT_TRY(leat_database_take_text(code, rows, owns, sizeof owns));
    return leat_fail(err, LEAT_ERR_BUSY,
                     "\"%s\" can no longer connect, and its work was ended, but the login stays, "
                     "because it owns or has rights on: %s; drop these or take the rights away, "
                     "then revoke it again",
                     login, owns);
}

/* Whoever wants it gone has to say so to the server, with its quotes. */
static leat_code refuse_other(leat_pg *pg, const char *login, leat_error *err) {
    leat_pg_rows *rows = NULL;
    char remedy[LEAT_CROWD_WORDS_BYTES];
    const leat_code code = LEAT_DATABASE_VALUE(
        pg, &rows,
        "select format('REVOKE CONNECT ON DATABASE %I FROM %I; DROP ROLE %2$I;', "
        "current_database(), $1::text)",
        err, LEAT_PG_T(login));
    LEAT_TRY(leat_database_take_text(code, rows, remedy, sizeof remedy));
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the login \"%s\" was not created by leat invite, so leat does not remove it; "
                     "remove it with %s",
                     login, remedy);
}

static leat_code revoke(leat_pg *pg, const char *login, leat_revoke_result *result,
                        leat_error *err) {
    role found;
    LEAT_TRY(find_role(pg, login, &found, err));
    if (!found.exists)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "the server has no login \"%s\"", login);
    if (!found.invited) return refuse_other(pg, login, err);
    int64_t ended = 0;
    LEAT_TRY(change_login(
        pg, BEGIN "alter role %1$I nologin; revoke all on database %3$I from %1$I; commit", login,
        "", &ended, err));
    LEAT_TRY(end_sessions(pg, login, &result->sessions, err));
    if (result->sessions < ended) result->sessions = ended; /* most ended before */
    LEAT_TRY(end_work(pg, login, result, err));
    LEAT_TRY(drop_own(pg, login, err));
    return drop(pg, login, err);
}

leat_code leat_revoke(const char *url, const char *login, leat_revoke_result *result,
                      leat_error *err) {
    leat_pg_place *place = NULL;
    leat_pg *pg = NULL;
    *result = (leat_revoke_result){0};
    LEAT_TRY(check_name(login, err));
    LEAT_TRY(refuse_ticket(url, err));
    LEAT_TRY(LEAT_NEW(&place, 1, err));
    leat_code code = leat_pg_place_parse(place, url, err);
    if (code == LEAT_OK) code = leat_pg_connect(&pg, place, "leat revoke", TIMEOUT_MS, NULL, err);
    if (code == LEAT_OK) code = revoke(pg, login, result, err);
    leat_pg_close(pg);
    leat_free(place);
    return code;
}
