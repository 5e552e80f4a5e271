/*
 * See libpq.h. Calls are sent and answers read without blocking; the waits between are poll(2) with
 * a limit, so that a server or a network that stands still is noticed.
 */
#include "crowd/libpq.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/library.h"
#include "base/mem.h"
#include "base/thread.h"
#include "crowd/ticket.h"
#include "crowd/url_text.h"

#if LEAT_HAVE_PQ

#include <libpq-fe.h>
#include <poll.h>

#define FUNCTIONS(X)                                                                               \
    X(libVersion)                                                                                  \
    X(conninfoParse)                                                                               \
    X(conninfoFree)                                                                                \
    X(freemem)                                                                                     \
    X(connectStartParams)                                                                          \
    X(connectPoll)                                                                                 \
    X(status)                                                                                      \
    X(socket)                                                                                      \
    X(finish)                                                                                      \
    X(setErrorVerbosity)                                                                           \
    X(conninfo)                                                                                    \
    X(hostaddr)                                                                                    \
    X(host)                                                                                        \
    X(sslInUse)                                                                                    \
    X(sslAttribute)                                                                                \
    X(backendPID)                                                                                  \
    X(encryptPasswordConn)                                                                         \
    X(errorMessage)                                                                                \
    X(serverVersion)                                                                               \
    X(setnonblocking)                                                                              \
    X(setNoticeProcessor)                                                                          \
    X(sendQueryParams)                                                                             \
    X(sendQuery)                                                                                   \
    X(flush)                                                                                       \
    X(consumeInput)                                                                                \
    X(notifies)                                                                                    \
    X(isBusy)                                                                                      \
    X(getResult)                                                                                   \
    X(resultStatus)                                                                                \
    X(resultErrorField)                                                                            \
    X(clear)                                                                                       \
    X(ntuples)                                                                                     \
    X(nfields)                                                                                     \
    X(getvalue)                                                                                    \
    X(getlength)                                                                                   \
    X(getisnull)

typedef struct library {
    void *handle;
#define MEMBER(name) __typeof__(&PQ##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} library;

struct leat_pg {
    library pq;
    PGconn *connection;
    const leat_stop *stop;
    leat_clocks clocks;
    int64_t asleep_ns; /* of the machine, when it connected */
    int timeout_ms;
    bool broken;
    int64_t sent;
    char shown[LEAT_PG_URL_BYTES];
    char sqlstate[6];
};

struct leat_pg_rows {
    leat_pg *pg;
    PGresult *result;
};

enum { SLICE_MS = 100, BYTEA_OID = 17, LEAST_WITH_AUTH = 160000 };

/* ---- the library ---------------------------------------------------------------------------- */

static const leat_library_function functions[] = {
#define ROW(name) {"PQ" #name, offsetof(library, name), LEAT_LINKED(LEAT_LINK_PQ, PQ##name)},
    FUNCTIONS(ROW)
#undef ROW
        {0}};

static const leat_library libpq = {.name = "libpq",
                                   .least = "13",
                                   .files = {"libpq.so.5"},
                                   .stays = true,
                                   .use = "PostgreSQL is reached through",
                                   .package = "libpq5",
                                   .functions = functions};

static leat_code load(library *pq, leat_error *err) {
    return leat_library_open(&pq->handle, &libpq, pq, err);
}

/* ---- URLs ----------------------------------------------------------------------------------- */

/* One character of a URL's parameter, which may be %XX; -1: damaged. */
static int decode_char(const char **at) {
    const char *from = (*at)++;
    char digits[3] = {0}, *end = NULL;
    if (*from != '%') return (unsigned char)*from;
    if (from[1] == 0 || from[2] == 0) return -1;
    memcpy(digits, from + 1, 2);
    *at += 2;
    const long value = strtol(digits, &end, 16);
    return *end == 0 && value > 0 ? (int)value : -1;
}

/* Takes `run=NAME` out of the parameters of a URL. */
static leat_code take_run(leat_pg_place *place, leat_error *err) {
    const char *found = leat_url_parameters(place->url);
    char *at = found != NULL ? place->url + (found - place->url) : NULL;
    while (at != NULL) {
        char *word = at + 1, *next = strchr(word, '&');
        if (strncmp(word, "run=", 4) != 0) {
            at = next;
            continue;
        }
        const char *from = word + 4, *end = next != NULL ? next : word + strlen(word);
        size_t length = 0;
        while (from < end) {
            const int c = decode_char(&from);
            if (c < 0 || length + 1 >= sizeof place->run)
                return leat_fail(err, LEAT_ERR_OPTION,
                                 "the name of the run in the URL is not valid");
            place->run[length++] = (char)c;
        }
        place->run[length] = 0;
        if (next != NULL) memmove(word, next + 1, strlen(next + 1) + 1);
        else *at = 0;
        return LEAT_OK;
    }
    return LEAT_OK;
}

/* libpq before 16 does not know `require_auth=scram-sha-256`, with which it sends no password to a
 * server that has not shown that it knows it, and would refuse the URL. */
static void drop_auth(leat_pg_place *place) {
    const char *found = leat_url_parameters(place->url);
    char *at = found != NULL ? place->url + (found - place->url) : NULL;
    while (at != NULL && strncmp(at + 1, "require_auth=", 13) != 0) at = strchr(at + 1, '&');
    if (at == NULL) return;
    const char *next = strchr(at + 1, '&');
    if (next != NULL) memmove(at + 1, next + 1, strlen(next + 1) + 1);
    else *at = 0;
}

/* A setting of a parsed URL; NULL if it is not there. */
static const char *setting(const PQconninfoOption *options, const char *keyword) {
    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->val != NULL && *options->val != 0 ? options->val : NULL;
    return NULL;
}

static leat_code keep(char *out, size_t out_bytes, const PQconninfoOption *options,
                      const char *keyword, leat_error *err) {
    const char *value = setting(options, keyword);
    if (snprintf(out, out_bytes, "%s", value != NULL ? value : "") < (int)out_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "\"%s\" in the URL has more than %zu characters",
                     keyword, out_bytes - 1);
}

static leat_code keep_settings(leat_pg_place *place, const PQconninfoOption *options,
                               leat_error *err) {
    LEAT_TRY(keep(place->host, sizeof place->host, options, "host", err));
    LEAT_TRY(keep(place->port, sizeof place->port, options, "port", err));
    LEAT_TRY(keep(place->login, sizeof place->login, options, "user", err));
    LEAT_TRY(keep(place->database, sizeof place->database, options, "dbname", err));
    if (place->port[0] == 0) snprintf(place->port, sizeof place->port, "5432");
    return LEAT_OK;
}

static leat_code check_settings(const PQconninfoOption *options, leat_error *err) {
    static const char *const needed[][2] = {
        {"user", "a login"}, {"host", "a host"}, {"dbname", "a database"}};
    static const char *const refused[] = {"service", "options", "passfile", "sslpassword"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (setting(options, needed[i][0]) == NULL)
            return leat_fail(
                err, LEAT_ERR_OPTION,
                "the URL does not name %s: postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
                needed[i][1]);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (setting(options, refused[i]) != NULL)
            return leat_fail(err, LEAT_ERR_OPTION,
                             "\"%s\" in the URL is not supported: leat sets "
                             "its own",
                             refused[i]);
    }
    return LEAT_OK;
}

/* With libpq of any version as with 16 and newer: the certificate is always verified, as is the
 * name of the host. */
static leat_code find_authorities(leat_pg_place *place, const PQconninfoOption *options,
                                  leat_error *err) {
    const char *root = setting(options, "sslrootcert"), *mode = setting(options, "sslmode");
    if (root == NULL || strcmp(root, "system") != 0) return LEAT_OK;
    if (mode != NULL && strcmp(mode, "verify-full") != 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "sslrootcert=system in the URL requires sslmode=verify-full, not %.40s: "
                         "anybody can have a certificate from these authorities",
                         mode);
    return leat_authorities_find(place->authorities, err);
}

/* What else "host=x sslmode=y" says, without passwords: "?sslmode=y". */
static void encode_rest(char to[256], const PQconninfoOption *options) {
    static const char own[] = " user password host port dbname ";
    char word[64], value[LEAT_URL_WORD_BYTES];
    size_t size = 0;
    for (to[0] = 0; options->keyword != NULL; options++) {
        snprintf(word, sizeof word, " %s ", options->keyword);
        if (options->val == NULL || strstr(own, word) != NULL || options->dispchar[0] == '*')
            continue;
        leat_url_encode(value, options->val, "");
        snprintf(to + size, 256 - size, "%c%s=%s", size == 0 ? '?' : '&', options->keyword, value);
        size = strlen(to);
    }
}

/* "host=x dbname=y" is another way to name a database: says it as a URL. */
static leat_code refuse_words(const char *words, leat_error *err) {
    library pq = {0};
    char *why = NULL, user[LEAT_URL_WORD_BYTES], host[LEAT_URL_WORD_BYTES];
    char port[LEAT_URL_WORD_BYTES], database[LEAT_URL_WORD_BYTES], rest[256];
    LEAT_TRY(load(&pq, err));
    PQconninfoOption *options = pq.conninfoParse(words, &why);
    if (why != NULL) pq.freemem(why);
    if (options == NULL)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a database is named as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or "
                         "by a ticket, leat1:...; @FILE reads either from a file");
    leat_url_encode(user, setting(options, "user"), "USER");
    leat_url_encode(host, setting(options, "host"), "HOST");
    leat_url_encode(port, setting(options, "port"), "5432");
    leat_url_encode(database, setting(options, "dbname"), "DATABASE");
    encode_rest(rest, options);
    pq.conninfoFree(options);
    return leat_fail(err, LEAT_ERR_OPTION,
                     "a database is named by a URL: use postgresql://%s:PASSWORD@%s:%s/%s%s", user,
                     host, port, database, rest);
}

leat_code leat_pg_place_parse(leat_pg_place *place, const char *url, leat_error *err) {
    library pq = {0};
    char *why = NULL;
    *place = (leat_pg_place){0};
    if (leat_ticket_is(url)) return leat_ticket_place(place, url, err);
    if (strlen(url) >= sizeof place->url)
        return leat_fail(err, LEAT_ERR_OPTION, "the URL has more than %d characters",
                         LEAT_PG_URL_BYTES - 1);
    if (strncmp(url, "postgresql://", 13) != 0 && strncmp(url, "postgres://", 11) != 0)
        return refuse_words(url, err);
    memcpy(place->url, url, strlen(url) + 1);
    leat_url_hide(url, place->shown);
    LEAT_TRY(take_run(place, err));
    LEAT_TRY(load(&pq, err));
    if (pq.libVersion() < LEAST_WITH_AUTH) drop_auth(place);
    PQconninfoOption *options = pq.conninfoParse(place->url, &why);
    leat_code code = LEAT_OK;
    if (options == NULL) {
        code = leat_fail(err, LEAT_ERR_OPTION, "the URL \"%.200s\" is not valid", place->shown);
    } else {
        code = check_settings(options, err);
        if (code == LEAT_OK) code = keep_settings(place, options, err);
        if (code == LEAT_OK) code = find_authorities(place, options, err);
        pq.conninfoFree(options);
    }
    if (why != NULL) pq.freemem(why);
    return code;
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* The first line of what libpq says. */
static leat_code lost(leat_pg *pg, const char *doing, leat_error *err) {
    char text[200];
    snprintf(text, sizeof text, "%s", pg->pq.errorMessage(pg->connection));
    text[strcspn(text, "\n")] = 0;
    pg->broken = true;
    return leat_fail(err, LEAT_ERR_CONNECTION, "%.150s: %s: %s", pg->shown, doing,
                     *text != 0 ? text : "the connection was lost");
}

/* The machine has slept: the peer has closed the connection meanwhile, or something on the way has
 * forgotten it. Whoever waits for an answer waits in vain, for minutes perhaps. */
static leat_code check_awake(leat_pg *pg, const char *doing, leat_error *err) {
    if (leat_asleep_ns(&pg->clocks) - pg->asleep_ns <= LEAT_SLEPT_NS) return LEAT_OK;
    pg->broken = true;
    return leat_fail(err, LEAT_ERR_CONNECTION, "%.150s: %s: this machine has slept", pg->shown,
                     doing);
}

/* Waits until the socket can be read (or written, too); in slices, to notice `stop` while
 * connecting, and that the machine has slept. */
static leat_code wait_for(leat_pg *pg, bool write, bool read, int64_t until_ns, const char *doing,
                          leat_error *err) {
    for (;;) {
        struct pollfd at = {.fd = pg->pq.socket(pg->connection),
                            .events = (short)((read ? POLLIN : 0) | (write ? POLLOUT : 0))};
        const int64_t left_ms = (until_ns - leat_clock_ns()) / 1000000;
        if (leat_stop_asked(pg->stop)) {
            pg->broken = true;
            return leat_fail(err, LEAT_ERR_CANCELLED, "stopped");
        }
        LEAT_TRY(check_awake(pg, doing, err));
        if (at.fd < 0) return lost(pg, doing, err);
        if (left_ms <= 0) {
            pg->broken = true;
            return leat_fail(err, LEAT_ERR_CONNECTION, "%.150s: %s: no answer for %d s", pg->shown,
                             doing, pg->timeout_ms / 1000);
        }
        const int ready = poll(&at, 1, left_ms < SLICE_MS ? (int)left_ms : SLICE_MS);
        if (ready > 0) return LEAT_OK;
        if (ready < 0 && errno != EINTR) {
            pg->broken = true;
            return leat_fail_errno(err, errno, "%.150s: %s", pg->shown, doing);
        }
    }
}

static int64_t limit_of(const leat_pg *pg) {
    return leat_clock_ns() + (int64_t)pg->timeout_ms * 1000000;
}

/* ---- connections ---------------------------------------------------------------------------- */

/* Takes the SQLSTATE out of a message of libpq, "...: FATAL:  28P01: password ...", which gives it
 * in no other way before a connection is made. Returns where the line with it, or the first line,
 * begins. */
static char *take_sqlstate(char *text, char sqlstate[6]) {
    static const char symbols[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *line = text, *found = NULL;
    for (char *at = text; *at != 0; at++) {
        if (*at == '\n') line = at + 1;
        if (strncmp(at, ":  ", 3) != 0 || strspn(at + 3, symbols) != 5) continue;
        if (strncmp(at + 8, ": ", 2) != 0) continue;
        memcpy(sqlstate, at + 3, 5);
        sqlstate[5] = 0;
        memmove(at + 2, at + 10, strlen(at + 10) + 1);
        found = line;
    }
    if (found == NULL) found = text;
    found[strcspn(found, "\n")] = 0;
    return found;
}

static leat_code not_connected(leat_pg *pg, leat_error *err) {
    static const char *const final[] = {"28", "3D000", "42501"};
    char text[1024];
    leat_code code = LEAT_ERR_CONNECTION;
    snprintf(text, sizeof text, "%s", pg->pq.errorMessage(pg->connection));
    const char *line = take_sqlstate(text, pg->sqlstate);
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        if (strncmp(pg->sqlstate, final[i], strlen(final[i])) == 0) code = LEAT_ERR_OPTION;
    pg->broken = true;
    return leat_fail(err, code, "%.150s: connecting: %.300s", pg->shown, line);
}

static void no_notice(void *user, const char *text) { (void)user, (void)text; }

/* `roots`: the file of certificate authorities, instead of what the URL says; "": as it says. */
static leat_code start(leat_pg *pg, const leat_pg_place *place, const char *roots,
                       const char *program, leat_error *err) {
    /* The URL comes first; what follows wins, unless it is "". Keep-alives notice a peer that is
     * gone. */
    const char *const mode = roots[0] != 0 ? "verify-full" : "";
    const char *const names[] = {"dbname",
                                 "application_name",
                                 "fallback_application_name",
                                 "client_encoding",
                                 "passfile",
                                 "keepalives",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "tcp_user_timeout",
                                 "gssencmode",
                                 "sslrootcert",
                                 "sslmode",
                                 NULL};
    const char *const values[] = {place->url, program, program, "UTF8", "/dev/null/none",
                                  "1",        "10",    "5",     "3",    "30000",
                                  "disable",  roots,   mode,    NULL};
    const int64_t until_ns = limit_of(pg);
    pg->connection = pg->pq.connectStartParams(names, values, 1);
    if (pg->connection == NULL) return leat_fail(err, LEAT_ERR_MEMORY, "libpq: out of memory");
    pg->pq.setNoticeProcessor(pg->connection, no_notice, NULL);
    pg->pq.setErrorVerbosity(pg->connection, PQERRORS_VERBOSE);
    if (pg->pq.status(pg->connection) == CONNECTION_BAD) return not_connected(pg, err);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        LEAT_TRY(wait_for(pg, state == PGRES_POLLING_WRITING, state == PGRES_POLLING_READING,
                          until_ns, "connecting", err));
        state = pg->pq.connectPoll(pg->connection);
        if (state == PGRES_POLLING_FAILED) return not_connected(pg, err);
    }
    pg->pq.setErrorVerbosity(pg->connection, PQERRORS_DEFAULT);
    if (pg->pq.setnonblocking(pg->connection, 1) != 0) return lost(pg, "connecting", err);
    return LEAT_OK;
}

/* The same where the authority came with a ticket: libpq reads it from a file, which is in memory
 * and ends with the attempt. */
static leat_code start_trusting(leat_pg *pg, const leat_pg_place *place, const char *program,
                                leat_error *err) {
    char path[LEAT_FILE_MEMORY_BYTES];
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open_memory(&file, "the certificate of the ticket", path, err));
    leat_code code =
        leat_file_pwrite(file, place->certificate, (int64_t)strlen(place->certificate), 0, err);
    if (code == LEAT_OK) code = start(pg, place, path, program, err);
    leat_file_close(file);
    return code;
}

/* The server's side of keep-alives, which a dead peer's locks depend on; and what the functions of
 * the schema are written for: a stricter isolation, which a login or database may have as its
 * default, would undo most calls of machines that work at the same time. By SET, because session
 * poolers do not pass on the options of a connection. */
static const char settings[] =
    "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3; "
    "set tcp_user_timeout = 30000; set client_min_messages = error; set bytea_output = hex; "
    "set extra_float_digits = 3; set datestyle = iso; set timezone = 'UTC'; "
    "set statement_timeout = 0; set idle_in_transaction_session_timeout = "
    "60000; " LEAT_PG_SET_LOCK_TIMEOUT "; set default_transaction_isolation = 'read committed'; "
    "set search_path = pg_catalog, pg_temp";

leat_code leat_pg_connect_why(leat_pg **out, const leat_pg_place *place, const char *program,
                              int timeout_ms, const leat_stop *stop, char sqlstate[6],
                              leat_error *err) {
    leat_pg *pg = NULL;
    *out = NULL;
    sqlstate[0] = 0;
    LEAT_TRY(LEAT_NEW(&pg, 1, err));
    pg->stop = stop;
    pg->clocks = *leat_stop_clocks(stop);
    pg->asleep_ns = leat_asleep_ns(&pg->clocks);
    pg->timeout_ms = timeout_ms;
    memcpy(pg->shown, place->shown, sizeof pg->shown);
    leat_code code = load(&pg->pq, err);
    if (code == LEAT_OK && place->certificate[0] != 0)
        code = start_trusting(pg, place, program, err);
    else if (code == LEAT_OK) code = start(pg, place, place->authorities, program, err);
    pg->stop = NULL;
    if (code == LEAT_OK) code = leat_pg_script(pg, settings, err);
    memcpy(sqlstate, pg->sqlstate, sizeof pg->sqlstate);
    if (code == LEAT_OK) *out = pg;
    else leat_pg_close(pg);
    return code;
}

leat_code leat_pg_connect(leat_pg **out, const leat_pg_place *place, const char *program,
                          int timeout_ms, const leat_stop *stop, leat_error *err) {
    char sqlstate[6];
    return leat_pg_connect_why(out, place, program, timeout_ms, stop, sqlstate, err);
}

void leat_pg_close(leat_pg *pg) {
    if (pg == NULL) return;
    if (pg->connection != NULL) pg->pq.finish(pg->connection);
    leat_free(pg);
}

bool leat_pg_broken(const leat_pg *pg) { return pg->broken; }
int leat_pg_server_version(const leat_pg *pg) { return pg->pq.serverVersion(pg->connection); }
int64_t leat_pg_sent(const leat_pg *pg) { return pg->sent; }
const char *leat_pg_sqlstate(const leat_pg *pg) { return pg->sqlstate; }

void leat_pg_get_link(const leat_pg *pg, leat_pg_link *link) {
    const char *host = pg->pq.host(pg->connection), *address = pg->pq.hostaddr(pg->connection);
    *link = (leat_pg_link){.backend = pg->pq.backendPID(pg->connection)};
    const bool socket = host != NULL && (host[0] == '/' || host[0] == '@');
    if (!socket) snprintf(link->address, sizeof link->address, "%s", address);
    link->local =
        socket || strncmp(link->address, "127.", 4) == 0 || strcmp(link->address, "::1") == 0;
    if (!pg->pq.sslInUse(pg->connection)) return;
    const char *protocol = pg->pq.sslAttribute(pg->connection, "protocol");
    const char *cipher = pg->pq.sslAttribute(pg->connection, "cipher");
    snprintf(link->tls, sizeof link->tls, "%s", protocol != NULL ? protocol : "TLS");
    snprintf(link->cipher, sizeof link->cipher, "%s", cipher != NULL ? cipher : "");
    PQconninfoOption *options = pg->pq.conninfo(pg->connection);
    if (options == NULL) return;
    const char *mode = setting(options, "sslmode");
    link->verified = mode != NULL && strncmp(mode, "verify-", 7) == 0;
    link->name_verified = mode != NULL && strcmp(mode, "verify-full") == 0;
    snprintf(link->authorities, sizeof link->authorities, "%s",
             link->verified && setting(options, "sslrootcert") != NULL
                 ? setting(options, "sslrootcert")
                 : "");
    pg->pq.conninfoFree(options);
}

leat_code leat_pg_verifier(leat_pg *pg, const char *login, const char *password,
                           char out[LEAT_PG_VERIFIER_BYTES], leat_error *err) {
    char *made = pg->pq.encryptPasswordConn(pg->connection, password, login, "scram-sha-256");
    const int size = made != NULL ? snprintf(out, LEAT_PG_VERIFIER_BYTES, "%s", made) : 0;
    if (made != NULL) pg->pq.freemem(made);
    if (size > 0 && size < LEAT_PG_VERIFIER_BYTES) return LEAT_OK;
    out[0] = 0;
    return leat_fail(err, LEAT_ERR_MEMORY, "libpq: preparing a password fails: %.200s",
                     pg->pq.errorMessage(pg->connection));
}

bool leat_pg_retryable(const leat_pg *pg) {
    return strcmp(pg->sqlstate, "40001") == 0 || strcmp(pg->sqlstate, "40P01") == 0;
}

/* ---- statements ----------------------------------------------------------------------------- */

/* A limit is for silence: whatever is sent or received begins it anew. */
static leat_code send_all(leat_pg *pg, leat_error *err) {
    for (;;) {
        const int64_t until_ns = limit_of(pg);
        const int left = pg->pq.flush(pg->connection);
        if (left == 0) return LEAT_OK;
        if (left < 0) return lost(pg, "sending", err);
        /* the server may write while it reads: what it says must be taken */
        LEAT_TRY(wait_for(pg, true, true, until_ns, "sending", err));
        if (!pg->pq.consumeInput(pg->connection)) return lost(pg, "sending", err);
    }
}

/* The next result, or NULL after the last. */
static leat_code next_result(leat_pg *pg, PGresult **result, leat_error *err) {
    *result = NULL;
    while (pg->pq.isBusy(pg->connection)) {
        LEAT_TRY(wait_for(pg, false, true, limit_of(pg), "waiting for an answer", err));
        if (!pg->pq.consumeInput(pg->connection)) return lost(pg, "reading", err);
    }
    *result = pg->pq.getResult(pg->connection);
    return LEAT_OK;
}

/* An error of the server. Errors of class 57P and 08 end the connection. */
static leat_code refused(leat_pg *pg, const PGresult *result, leat_error *err) {
    const char *state = pg->pq.resultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = pg->pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *hint = pg->pq.resultErrorField(result, PG_DIAG_MESSAGE_HINT);
    if (state == NULL) return lost(pg, "waiting for an answer", err);
    if (message == NULL) message = "the server reports an error";
    snprintf(pg->sqlstate, sizeof pg->sqlstate, "%s", state);
    if (strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0) {
        pg->broken = true;
        return leat_fail(err, LEAT_ERR_CONNECTION, "%.150s: %.300s", pg->shown, message);
    }
    return leat_fail(err, LEAT_ERR_INPUT, "%.350s%s%.100s", message, hint != NULL ? "; " : "",
                     hint != NULL ? hint : "");
}

/* All results of what was sent; the first is kept. */
static leat_code collect(leat_pg *pg, PGresult **kept, leat_error *err) {
    leat_code code = LEAT_OK;
    for (;;) {
        PGresult *result = NULL;
        const leat_code read = next_result(pg, &result, code == LEAT_OK ? err : NULL);
        if (read != LEAT_OK) return code == LEAT_OK ? read : code;
        if (result == NULL) return code;
        const ExecStatusType status = pg->pq.resultStatus(result);
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && code == LEAT_OK)
            code = refused(pg, result, err);
        if (*kept == NULL && code == LEAT_OK && kept != NULL) *kept = result;
        else pg->pq.clear(result);
        if (pg->broken) return code; /* COPY, which nobody asks for, would have results for ever */
    }
}

/* A number with the digits that give it back, in a text of an array, with what is around it. */
enum { REAL_BYTES = 26 };

/* As SQL writes an array: "{0.5,NaN}". */
static void write_reals(char text[2 + LEAT_PG_REALS_MAX * REAL_BYTES], const double *values,
                        int64_t count) {
    char *to = text;
    *to++ = '{';
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) *to++ = ',';
        if (isfinite(values[i])) to += snprintf(to, REAL_BYTES, "%.17g", values[i]);
        else
            to += snprintf(to, REAL_BYTES, "%s",
                           isnan(values[i]) ? "NaN"
                           : values[i] > 0  ? "Infinity"
                                            : "-Infinity");
    }
    memcpy(to, "}", 2);
}

/* Texts of numbers, and what libpq takes. */
typedef struct parameters {
    char numbers[LEAT_PG_PARAMETERS_MAX][32];
    char reals[2 + LEAT_PG_REALS_MAX * REAL_BYTES];
    const char *values[LEAT_PG_PARAMETERS_MAX];
    int lengths[LEAT_PG_PARAMETERS_MAX], formats[LEAT_PG_PARAMETERS_MAX];
    Oid types[LEAT_PG_PARAMETERS_MAX];
    int64_t bytes;
} parameters;

static void fill(parameters *to, const leat_pg_value *values, int count) {
    for (int i = 0; i < count; i++) {
        const leat_pg_value *of = &values[i];
        switch (of->kind) {
        case LEAT_PG_INT:
            snprintf(to->numbers[i], sizeof *to->numbers, "%lld", (long long)of->number);
            to->values[i] = to->numbers[i];
            break;
        case LEAT_PG_REALS:
            LEAT_ASSERT(to->reals[0] == 0 && of->number <= LEAT_PG_REALS_MAX);
            write_reals(to->reals, of->data, of->number);
            to->values[i] = to->reals;
            break;
        case LEAT_PG_TEXT: to->values[i] = of->data; break;
        case LEAT_PG_BYTES:
            to->values[i] = of->data;
            to->lengths[i] = (int)of->number;
            to->formats[i] = 1;
            to->types[i] = BYTEA_OID;
            break;
        default: break;
        }
        if (to->formats[i] == 1) to->bytes += of->number;
        else if (to->values[i] != NULL) to->bytes += (int64_t)strlen(to->values[i]);
    }
}

/* A server may be anything that speaks its language. */
static leat_code check_shape(leat_pg *pg, const PGresult *result, leat_pg_shape shape,
                             leat_error *err) {
    const int columns = pg->pq.nfields(result), rows = pg->pq.ntuples(result);
    if (columns == shape.columns && rows >= shape.least_rows) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "%.150s: the server's answer has columns: %d, rows: %d; leat needs columns: "
                     "%d, rows: at least %d; check that the URL leads to a PostgreSQL server with "
                     "leat's schema",
                     pg->shown, columns, rows, shape.columns, shape.least_rows);
}

leat_code leat_pg_call(leat_pg *pg, leat_pg_rows **rows, leat_pg_shape shape, const char *sql,
                       const leat_pg_value *values, int count, leat_error *err) {
    parameters of = {0};
    PGresult *kept = NULL;
    if (rows != NULL) *rows = NULL;
    LEAT_ASSERT(count <= LEAT_PG_PARAMETERS_MAX && !pg->broken);
    LEAT_ASSERT(rows == NULL || shape.columns > 0);
    pg->sqlstate[0] = 0;
    LEAT_TRY(check_awake(pg, "sending", err));
    fill(&of, values, count);
    if (!pg->pq.sendQueryParams(pg->connection, sql, count, of.types, of.values, of.lengths,
                                of.formats, shape.bytes))
        return lost(pg, "sending", err);
    pg->sent += of.bytes + (int64_t)strlen(sql);
    LEAT_TRY(send_all(pg, err));
    leat_code code = collect(pg, &kept, err);
    if (code == LEAT_OK && rows != NULL) code = check_shape(pg, kept, shape, err);
    if (code == LEAT_OK && rows != NULL) {
        code = LEAT_NEW(rows, 1, err);
        if (code == LEAT_OK) **rows = (leat_pg_rows){.pg = pg, .result = kept};
    }
    if ((code != LEAT_OK || rows == NULL) && kept != NULL) pg->pq.clear(kept);
    return code;
}

leat_code leat_pg_script(leat_pg *pg, const char *sql, leat_error *err) {
    PGresult *kept = NULL;
    LEAT_ASSERT(!pg->broken);
    pg->sqlstate[0] = 0;
    LEAT_TRY(check_awake(pg, "sending", err));
    if (!pg->pq.sendQuery(pg->connection, sql)) return lost(pg, "sending", err);
    pg->sent += (int64_t)strlen(sql);
    LEAT_TRY(send_all(pg, err));
    leat_code code = collect(pg, &kept, err);
    if (kept != NULL) pg->pq.clear(kept);
    return code;
}

leat_code leat_pg_notified(leat_pg *pg, bool *any, leat_error *err) {
    PGnotify *each;
    *any = false;
    LEAT_ASSERT(!pg->broken);
    LEAT_TRY(check_awake(pg, "listening", err));
    if (!pg->pq.consumeInput(pg->connection)) return lost(pg, "listening", err);
    while ((each = pg->pq.notifies(pg->connection)) != NULL) {
        *any = true;
        pg->pq.freemem(each);
    }
    return LEAT_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

void leat_pg_rows_destroy(leat_pg_rows *rows) {
    if (rows == NULL) return;
    rows->pg->pq.clear(rows->result);
    leat_free(rows);
}

int leat_pg_row_count(const leat_pg_rows *rows) { return rows->pg->pq.ntuples(rows->result); }

bool leat_pg_is_null(const leat_pg_rows *rows, int row, int column) {
    const int row_count = leat_pg_row_count(rows);
    const int column_count = rows->pg->pq.nfields(rows->result);
    LEAT_ASSERT(row >= 0 && row < row_count && column >= 0 && column < column_count);
    return rows->pg->pq.getisnull(rows->result, row, column) != 0;
}

const char *leat_pg_text(const leat_pg_rows *rows, int row, int column) {
    return leat_pg_is_null(rows, row, column) ? ""
                                              : rows->pg->pq.getvalue(rows->result, row, column);
}

bool leat_pg_bool(const leat_pg_rows *rows, int row, int column) {
    return leat_pg_text(rows, row, column)[0] == 't';
}

int64_t leat_pg_int(const leat_pg_rows *rows, int row, int column) {
    return strtoll(leat_pg_text(rows, row, column), NULL, 10);
}

double leat_pg_real(const leat_pg_rows *rows, int row, int column) {
    return strtod(leat_pg_text(rows, row, column), NULL);
}

const uint8_t *leat_pg_bytes(const leat_pg_rows *rows, int row, int64_t *size_bytes) {
    *size_bytes = 0;
    if (leat_pg_is_null(rows, row, 0)) return NULL;
    *size_bytes = rows->pg->pq.getlength(rows->result, row, 0);
    return (const uint8_t *)rows->pg->pq.getvalue(rows->result, row, 0);
}

#endif
