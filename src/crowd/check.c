/*
 * Whether runs can be coordinated or worked on in a database: leat_crowd_check. Each part reports
 * what it finds and leaves the rest to the next, so that one answer that a server does not give to
 * this login hides no other.
 */
#include "crowd/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "crowd/pooler.h"

/* A link of 5 kB/s sends the largest message of the measurement in that time. */
enum { TIMEOUT_MS = 30000, SERVER_MIN = 130000, WORDS_BYTES = 2048 };

/* ---- the connection -------------------------------------------------------------------------- */

static bool has_address(const leat_pg_place *place) {
    if (place->host[0] == '/' || place->host[0] == '@' || strchr(place->host, ',') != NULL)
        return true;
    return leat_check_host(place->host, leat_check_reaches) != LEAT_CHECK_NO_ADDRESS;
}

/* Which part failed, and what to do about it. */
static void tell_failure(leat_check *self, const char *sqlstate, const leat_error *why) {
    leat_crowd_facts *facts = self->facts;
    char todo[WORDS_BYTES];
    const char *failed = "connection";
    if (strncmp(sqlstate, "28", 2) == 0) {
        failed = "login";
        snprintf(todo, sizeof todo,
                 "check login and password in the URL, whether the login exists and has LOGIN, "
                 "and whether pg_hba.conf lets it in from this address");
    } else if (strcmp(sqlstate, "3D000") == 0) {
        failed = "database";
        snprintf(todo, sizeof todo,
                 "check its name in the URL, or create it: CREATE DATABASE "
                 "\"%s\";",
                 facts->database);
    } else if (strcmp(sqlstate, "42501") == 0) {
        failed = "database";
        snprintf(todo, sizeof todo,
                 "let its owner run: GRANT CONNECT ON DATABASE \"%s\" TO "
                 "\"%s\";",
                 facts->database, facts->login);
    } else if (sqlstate[0] != 0) {
        snprintf(todo, sizeof todo,
                 "the server is there, but takes no connection now: try again, or ask its "
                 "administrator about \"%s\"",
                 sqlstate);
    } else if (!has_address(&self->place)) {
        failed = "name";
        snprintf(todo, sizeof todo,
                 "check the host in the URL: this machine finds no address "
                 "for \"%s\"",
                 facts->host);
    } else if (leat_check_host(facts->host, leat_check_reaches) == LEAT_CHECK_IPV6) {
        snprintf(
            todo, sizeof todo,
            "\"%s\" has only IPv6 addresses, and this machine has no route to them: use a name "
            "of the server that has an IPv4 address (providers give one to their session "
            "pooler, or sell it), or a network with IPv6",
            facts->host);
    } else {
        snprintf(todo, sizeof todo,
                 "check that PostgreSQL listens at %s port %s (listen_addresses), and that no "
                 "firewall is in between",
                 facts->host, facts->port);
    }
    snprintf(facts->failed, sizeof facts->failed, "%s", failed);
    leat_check_tell(self, LEAT_CROWD_PROBLEM, todo, "%s: %s", failed, why->message);
}

static void tell_tls(leat_check *self) {
    leat_crowd_facts *facts = self->facts;
    leat_pg_link link;
    leat_pg_get_link(self->pg, &link);
    facts->loopback = link.local;
    facts->verified = link.verified;
    snprintf(facts->tls, sizeof facts->tls, "%s", link.tls);
    if (link.tls[0] == 0 && link.local)
        leat_check_tell(self, LEAT_CROWD_OK, "", "TLS: none, and nothing leaves this machine");
    else if (link.tls[0] == 0)
        leat_check_tell(self, LEAT_CROWD_NOTE,
                        "add sslmode=verify-full and sslrootcert=FILE to the URL, or "
                        "sslmode=require; the server needs ssl = on",
                        "TLS: none to %s: whoever is on the way reads and changes everything, the "
                        "password too unless the server asks for it with scram-sha-256",
                        link.address);
    else if (!link.verified)
        leat_check_tell(self, LEAT_CROWD_NOTE,
                        "add sslmode=verify-full and sslrootcert=FILE to the URL",
                        "TLS: %s, %s, but the server's certificate is not verified: another "
                        "machine on the way could pass for it",
                        link.tls, link.cipher);
    else
        leat_check_tell(self, LEAT_CROWD_OK, "", "TLS: %s, %s, certificate verified", link.tls,
                        link.cipher);
}

/* False: it cannot be worked with. */
static bool tell_version(leat_check *self) {
    const int version = leat_pg_server_version(self->pg);
    self->facts->server_version = version;
    const bool enough = version >= SERVER_MIN;
    leat_check_tell(self, enough ? LEAT_CROWD_OK : LEAT_CROWD_PROBLEM,
                    enough ? "" : "upgrade it: 13 or newer is needed", "server: PostgreSQL %d.%d",
                    version / 10000, version % 10000);
    return enough;
}

/* A pool that is too small lets connections wait, without an error. Its size cannot be asked for
 * over the connections that it passes on. */
static void tell_pool_size(const leat_check *self) {
    static const char todo[] =
        "ask its administrator (SHOW DATABASES on its console; pgbouncer: default_pool_size, which "
        "is 20 as shipped, and max_db_connections)";
    if (self->workers == 0)
        leat_check_tell(self, LEAT_CROWD_OK, todo,
                        "pooler: session pooling, which works; its pool must have a connection for "
                        "each worker, and 2 for a coordinator");
    else
        leat_check_tell(self, LEAT_CROWD_OK, todo,
                        "pooler: session pooling, which works; for %lld workers and a coordinator, "
                        "its pool must have %lld connections",
                        (long long)self->workers, (long long)self->workers + 2);
}

/* False: it cannot be worked with. */
static bool tell_pooler(leat_check *self) {
    static const char todo[] =
        "use the server's own address, or a pooler with session pooling (pgbouncer: pool_mode = "
        "session)";
    leat_crowd_pooler *found = &self->facts->pooler;
    leat_error why = {0}, err = {0};
    if (leat_pooler_look(self->pg, &self->place, NULL, found, &why, &err) != LEAT_OK) why = err;
    if (leat_pooler_reason(*found) != NULL) {
        leat_check_tell(self, LEAT_CROWD_PROBLEM, todo, "pooler: %s", leat_pooler_reason(*found));
        return false;
    }
    if (*found == LEAT_CROWD_POOLER_UNKNOWN)
        leat_check_tell(self, LEAT_CROWD_NOTE,
                        "this needs a second connection for a moment; see the limits below",
                        "pooler: not known: %s", why.message);
    else if (*found == LEAT_CROWD_POOLER_NONE)
        leat_check_tell(self, LEAT_CROWD_OK, "", "pooler: none");
    else tell_pool_size(self);
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void ask_names(leat_check *self) {
    leat_pg_rows *rows = NULL;
    if (!leat_check_ask(self, "login", &rows, 4,
                        "select quote_ident(session_user), quote_ident(current_user), "
                        "quote_ident(current_database()), rolsuper from pg_roles where rolname = "
                        "current_user",
                        NULL))
        return;
    snprintf(self->login, sizeof self->login, "%s", leat_pg_text(rows, 0, 0));
    snprintf(self->acting, sizeof self->acting, "%s", leat_pg_text(rows, 0, 1));
    snprintf(self->database, sizeof self->database, "%s", leat_pg_text(rows, 0, 2));
    self->superuser = leat_pg_bool(rows, 0, 3);
    leat_pg_rows_destroy(rows);
}

static leat_code look(leat_check *self, leat_error *err) {
    char sqlstate[6];
    leat_error why = {0};
    const leat_code code = leat_pg_connect_why(&self->pg, &self->place, "leat doctor", TIMEOUT_MS,
                                               NULL, sqlstate, &why);
    if (code == LEAT_ERR_MEMORY || code == LEAT_ERR_UNSUPPORTED) return leat_error_copy(err, &why);
    if (code != LEAT_OK) {
        tell_failure(self, sqlstate, &why);
        return LEAT_OK;
    }
    leat_check_tell(self, LEAT_CROWD_OK, "",
                    "connection: %s port %s, database \"%s\", login "
                    "\"%s\"",
                    self->facts->host, self->facts->port, self->facts->database,
                    self->facts->login);
    tell_tls(self);
    if (!tell_version(self) || !tell_pooler(self)) return LEAT_OK;
    ask_names(self);
    leat_check_schema(self);
    leat_check_server(self);
    leat_check_class(self);
    leat_check_logins(self);
    leat_check_speed(self);
    if (!leat_pg_broken(self->pg)) return LEAT_OK;
    self->facts->can_coordinate = self->facts->can_work = false;
    leat_check_tell(self, LEAT_CROWD_PROBLEM,
                    "run this again; if it is lost again, ask the "
                    "server's administrator for its log",
                    "connection: lost while the server was checked");
    return LEAT_OK;
}

leat_code leat_crowd_check(const char *url, int64_t workers, leat_crowd_finding_fn tell, void *user,
                           leat_crowd_facts *facts, leat_error *err) {
    leat_check self = {.tell = tell, .user = user, .workers = workers, .facts = facts};
    *facts = (leat_crowd_facts){.database_bytes = -1,
                                .free_bytes = -1,
                                .clock_seconds = NAN,
                                .round_trip_seconds = NAN,
                                .up_bytes = NAN,
                                .down_bytes = NAN,
                                .connections = -1,
                                .connections_max = -1,
                                .workers_fit = -1,
                                .step_bytes = -1,
                                .snapshot_age = -1,
                                .open_runs = -1,
                                .schema_version = -1};
    LEAT_TRY(leat_pg_place_parse(&self.place, url, err));
    snprintf(facts->host, sizeof facts->host, "%s", self.place.host);
    snprintf(facts->port, sizeof facts->port, "%s", self.place.port);
    snprintf(facts->login, sizeof facts->login, "%s", self.place.login);
    snprintf(facts->database, sizeof facts->database, "%s", self.place.database);
    const leat_code code = look(&self, err);
    leat_pg_close(self.pg);
    return code;
}
