/*
 * The server of a private database: see local.h. It listens on the loopback interface, on a port
 * that it keeps, and on a socket in a folder of its own in /tmp, because the path of a socket has
 * 107 bytes at most and that of a run may be longer.
 *
 * A server that a killed process has left is stopped, never used: its log, port and end belong to
 * that process, and it is probably stopping, because it gets a signal when that process dies.
 * PostgreSQL's own postmaster.pid does not tell a server of this folder from a program that has its
 * number by now, so every start gives its processes a random word, by which they are found.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/random.h"
#include "base/rng.h"
#include "base/thread.h"
#include "crowd/local.h"

enum {
    PORT_TRIES = 5,
    PORT_FIRST = 20000,
    PORTS = 12000,
    DRAWS = 20,
    SLICE_MS = 20,
    FAST_MS = 30000,     /* for sessions to be ended and a checkpoint */
    AT_ONCE_MS = 10000,  /* for processes to end */
    LOG_BYTES = 1 << 20, /* then its second half becomes log.old */
    WATCH_NS = 1000000000,
    PID_FILE_BYTES = 8192,
    EARLIER_MAX = 512,
    WORDS_MAX = 80
};

void leat_local_say(const leat_local *self, const char *format, ...) {
    char line[LEAT_MESSAGE_BYTES];
    va_list args;
    if (self->options.say == NULL) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    self->options.say(self->options.user, line);
}

bool leat_local_stopped(const leat_local *self) {
    const leat_progress progress = {"starting the database", "", 0, -1};
    return self->options.progress != NULL && !self->options.progress(self->options.user, &progress);
}

static void sleep_ms(int ms) { nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL); }

/* ---- the log ----------------------------------------------------------------------------------
 */

static int64_t log_size(const leat_local *self) {
    leat_path_facts facts;
    return leat_path_stat(self->log, &facts, NULL) == LEAT_OK ? facts.size_bytes : 0;
}

/* Reads at most `most` bytes of the log, from a place or the beginning of a shorter one. */
static int64_t read_log(const leat_local *self, int64_t from, char *out, int64_t most) {
    leat_file *file = NULL;
    int64_t size = 0;
    leat_code code = leat_file_open(&file, self->log, LEAT_FILE_READ, NULL);
    if (code == LEAT_OK) code = leat_file_size(file, &size, NULL);
    if (from > size) from = 0;
    size = size - from < most ? size - from : most;
    if (code == LEAT_OK) code = leat_file_pread(file, out, size, from, NULL);
    leat_file_close(file);
    return code == LEAT_OK ? size : 0;
}

/* What the log says since `from` on why a program failed: its last line with an error, else its
 * last one. *taken: the port is. */
static void last_words(const leat_local *self, int64_t from, char words[200], bool *taken) {
    char text[8192];
    const int64_t size = read_log(self, from, text, (int64_t)sizeof text - 1);
    text[size] = 0;
    snprintf(words, 200, "no message");
    *taken = strstr(text, "Address already in use") != NULL;
    bool found = false;
    char *next = NULL;
    for (char *line = strtok_r(text, "\n", &next); line != NULL;
         line = strtok_r(NULL, "\n", &next)) {
        const char *error = strstr(line, "FATAL:");
        if (error == NULL) error = strstr(line, "error: ");
        if (error == NULL && found) continue;
        found = found || error != NULL;
        snprintf(words, 200, "%.199s", error != NULL ? error : line);
    }
}

/* The server appends, so the file can be shortened under it; what it says between is lost. */
static leat_code halve_log(const leat_local *self, leat_error *err) {
    char old[LEAT_PATH_BYTES];
    char *text = NULL;
    leat_file *file = NULL;
    const int64_t from = log_size(self) - LOG_BYTES / 2;
    LEAT_TRY(leat_local_join(self, "log.old", old, err));
    LEAT_TRY(LEAT_NEW(&text, LOG_BYTES / 2, err));
    const int64_t size = read_log(self, from, text, LOG_BYTES / 2);
    leat_code code = leat_file_save_private(old, text, size, err);
    leat_free(text);
    if (code == LEAT_OK) code = leat_file_open(&file, self->log, LEAT_FILE_OWN, err);
    if (code == LEAT_OK) code = leat_file_truncate(file, 0, err);
    leat_file_close(file);
    return code;
}

static void *watch_main(void *argument) {
    leat_local *self = argument;
    do {
        if (log_size(self) > LOG_BYTES && halve_log(self, NULL) != LEAT_OK) {
            /* the next time, perhaps */
        }
        leat_word_wait(&self->quit, 0, WATCH_NS);
    } while (atomic_load(&self->quit) == 0);
    return NULL;
}

leat_code leat_local_watch(leat_local *self, leat_error *err) {
    LEAT_TRY(leat_thread_start(&self->watch, watch_main, self, err));
    self->watches = true;
    return LEAT_OK;
}

void leat_local_unwatch(leat_local *self) {
    if (!self->watches) return;
    atomic_store(&self->quit, 1);
    leat_word_wake(&self->quit, LEAT_WAKE_ALL);
    pthread_join(self->watch, NULL);
    self->watches = false;
}

/* ---- its socket and port ----------------------------------------------------------------------
 */

/* Removes the folder of the last start's socket, if it is that: /tmp is everybody's. */
static void remove_socket(leat_local *self) {
    leat_path_rights rights;
    char path[128];
    const char *folder = self->state.socket;
    if (strncmp(folder, "/tmp/leat-", 10) == 0 && leat_path_get_rights(folder, &rights) &&
        !rights.is_link && rights.owner == self->user.user) {
        snprintf(path, sizeof path, "%s/.s.PGSQL.%d", folder, (int)self->state.port);
        leat_path_discard(path);
        snprintf(path, sizeof path, "%s/.s.PGSQL.%d.lock", folder, (int)self->state.port);
        leat_path_discard(path);
        if (leat_path_remove_dir(folder, NULL) != LEAT_OK) return; /* something else is in it */
    }
    self->state.socket[0] = 0;
}

static leat_code make_socket(leat_local *self, leat_error *err) {
    char word[17];
    LEAT_TRY(leat_random_hex(word, sizeof word, err));
    snprintf(self->state.socket, sizeof self->state.socket, "/tmp/leat-%s", word);
    leat_code code = leat_path_make_new_dir(self->state.socket, 0700, err);
    if (code == LEAT_OK && self->other_user) {
        code = leat_path_give(self->state.socket, self->user.user, self->user.group, err);
        if (code != LEAT_OK && leat_path_remove_dir(self->state.socket, NULL) != LEAT_OK)
            return code;
    }
    if (code != LEAT_OK) self->state.socket[0] = 0;
    return code;
}

/* A port that can be bound now: `port`, or any if that is 0; 0: it cannot. */
static int64_t try_port(int64_t port) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)port)};
    socklen_t length = sizeof at;
    const int yes = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) return 0;
    const bool bound = setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                       bind(s, (struct sockaddr *)&at, sizeof at) == 0 &&
                       getsockname(s, (struct sockaddr *)&at, &length) == 0;
    shutdown(s, SHUT_RDWR);
    close(s);
    return bound ? ntohs(at.sin_port) : 0;
}

static bool is_free(const leat_local *self, int64_t port) {
    return try_port(port) != 0 && leat_local_can_listen(self, port);
}

/* Below those that the kernel gives to connections, so that none takes it between two starts. */
static leat_code draw_port(const leat_local *self, int64_t *port, leat_error *err) {
    *port = 0;
    for (int i = 0; i < DRAWS && *port == 0; i++) {
        uint64_t bits = 0;
        LEAT_TRY(leat_random_u64(&bits, err));
        const int64_t drawn = PORT_FIRST + (int64_t)leat_random_below(bits, PORTS);
        if (is_free(self, drawn)) *port = drawn;
    }
    if (*port == 0) *port = try_port(0);
    if (*port != 0 && !leat_local_can_listen(self, *port)) *port = 0;
    return LEAT_OK;
}

static leat_code choose_port(leat_local *self, leat_error *err) {
    const int64_t before = self->state.port, wanted = self->listen.port;
    if (wanted != 0) {
        self->state.port = wanted;
        if (is_free(self, wanted)) return LEAT_OK;
        return leat_fail(err, LEAT_ERR_CONNECTION,
                         "port %d is taken by another program; end that, or use --listen with "
                         "another port",
                         (int)wanted);
    }
    if (before != 0 && is_free(self, before)) return LEAT_OK;
    LEAT_TRY(draw_port(self, &self->state.port, err));
    if (self->state.port == 0)
        return leat_fail(err, LEAT_ERR_CONNECTION,
                         "no free port on 127.0.0.1 for the database's server");
    if (before != 0)
        leat_local_say(self,
                       "port %d is taken by another program: the database has port %d from now on",
                       (int)before, (int)self->state.port);
    return LEAT_OK;
}

/* ---- starting ---------------------------------------------------------------------------------
 */

/* Its programs find each other, and their files, by the path that is their first argument; by a
 * mere name they look on PATH, where Debian does not have them. */
static leat_code start(leat_local *self, const char *name, const char *const *arguments,
                       int ends_with_us, leat_error *err) {
    char program[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(program, sizeof program, self->programs.folder, name, err));
    const char *words[WORDS_MAX] = {program};
    for (int i = 0; arguments[i] != NULL; i++) {
        LEAT_ASSERT(i + 2 < WORDS_MAX);
        words[i + 1] = arguments[i];
    }
    const leat_process_options options = {.program = program,
                                          .words = words,
                                          .log = self->log,
                                          .user = self->other_user ? &self->user : NULL,
                                          .ends_with_us = ends_with_us};
    return leat_process_start(&self->server, &options, err);
}

static leat_code give_data(leat_local *self, const char *path, leat_error *err) {
    return self->other_user ? leat_path_give(path, self->user.user, self->user.group, err)
                            : LEAT_OK;
}

static leat_code run_initdb(leat_local *self, const char *password, leat_error *err) {
    char file[LEAT_PATH_BYTES + 16], words[200];
    const int64_t from = log_size(self);
    int status = 0;
    bool taken;
    snprintf(file, sizeof file, "--pwfile=%s", password);
    const char *const arguments[] = {"-D", self->data, "-U",   "admin",       "-A", "scram-sha-256",
                                     file, "-E",       "UTF8", "--no-locale", NULL};
    LEAT_TRY(start(self, "initdb", arguments, SIGKILL, err));
    bool stopped = false;
    while (!leat_process_wait(self->server, SLICE_MS, &status) && !stopped)
        stopped = leat_local_stopped(self);
    leat_process_close(self->server);
    self->server = NULL;
    if (stopped) return leat_fail(err, LEAT_ERR_CANCELLED, "stopped");
    if (status == 0) return LEAT_OK;
    last_words(self, from, words, &taken);
    return leat_fail(err, LEAT_ERR_IO, "\"%.180s\": initdb fails (status %d): %s", self->folder,
                     status, words);
}

leat_code leat_local_init(leat_local *self, leat_error *err) {
    char password[LEAT_PATH_BYTES];
    LEAT_TRY(leat_local_join(self, "password", password, err));
    LEAT_TRY(leat_path_make_new_dir(self->data, 0700, err));
    LEAT_TRY(give_data(self, self->data, err));
    leat_code code = leat_file_save_private(password, self->state.admin,
                                            (int64_t)strlen(self->state.admin), err);
    if (code == LEAT_OK) code = give_data(self, password, err);
    if (code == LEAT_OK) code = run_initdb(self, password, err);
    leat_path_discard(password);
    return code;
}

/* Whether it takes connections: the last line of the file that PostgreSQL keeps in its data. */
static bool is_ready(const leat_local *self) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    if (leat_path_join(path, sizeof path, self->data, "postmaster.pid", NULL) != LEAT_OK ||
        leat_file_load(path, PID_FILE_BYTES, &text, &size, NULL) != LEAT_OK)
        return false;
    char *words = (char *)text;
    while (size > 0 && words[size - 1] == '\n') words[--size] = 0;
    const char *last = strrchr(words, '\n');
    const bool ready = last != NULL && strncmp(last, "\nready", 6) == 0 &&
                       strtoll(words, NULL, 10) == leat_process_id(self->server);
    leat_free(text);
    return ready;
}

static leat_code wait_until_ready(leat_local *self, int64_t from, bool *taken, leat_error *err) {
    char words[200];
    int status = 0;
    *taken = false;
    while (!is_ready(self)) {
        if (leat_process_wait(self->server, SLICE_MS, &status)) {
            leat_process_close(self->server);
            self->server = NULL;
            last_words(self, from, words, taken);
            return leat_fail(err, LEAT_ERR_IO,
                             "\"%.160s\": the database's server ends at its start (status %d): %s",
                             self->folder, status, words);
        }
        if (leat_local_stopped(self)) {
            leat_local_unserve(self);
            return leat_fail(err, LEAT_ERR_CANCELLED, "stopped");
        }
    }
    return LEAT_OK;
}

/* "ssl_key_file=FILE" and the like. */
static void set_file(char out[LEAT_PATH_BYTES + 32], const char *name, const char *path) {
    snprintf(out, LEAT_PATH_BYTES + 32, "%s=%s", name, path);
}

/* PostgreSQL serves if it can listen at one of its addresses. */
static leat_code check_addresses(leat_local *self, int64_t from, bool *taken, leat_error *err) {
    char text[8192];
    const int64_t size = read_log(self, from, text, (int64_t)sizeof text - 1);
    text[size] = 0;
    *taken = self->listen.port == 0 && strstr(text, "Address already in use") != NULL;
    if (strstr(text, "could not create listen socket") == NULL) return LEAT_OK;
    leat_local_unserve(self);
    return leat_fail(err, LEAT_ERR_CONNECTION,
                     "the database's server cannot listen at %.200s port %d; another program may "
                     "have taken the port",
                     self->listen.host, (int)self->state.port);
}

/* Settings are given at each start, so those of this version of leat are in force. */
static leat_code start_server(leat_local *self, bool *taken, leat_error *err) {
    const bool listens = self->listen.host[0] != 0;
    const int version = self->programs.version;
    char port[32], socket_at[96], name[96], addresses[LEAT_LOCAL_LISTEN_BYTES];
    char key[LEAT_PATH_BYTES + 32], certificate[LEAT_PATH_BYTES + 32];
    char access[LEAT_PATH_BYTES + 32];
    const int64_t from = log_size(self);
    snprintf(port, sizeof port, "port=%d", (int)self->state.port);
    snprintf(socket_at, sizeof socket_at, "unix_socket_directories=%s", self->state.socket);
    snprintf(name, sizeof name, "cluster_name=%s", self->state.token);
    leat_local_listen_addresses(self, addresses);
    set_file(key, "ssl_key_file", self->listen.key);
    set_file(certificate, "ssl_cert_file", self->listen.certificate);
    set_file(access, "hba_file", self->listen.access);
    /* clang-format off */
    const char *const arguments[] = {
        "-D", self->data,
        "-c", port, "-c", socket_at, "-c", name,
        "-c", addresses, "-c", listens ? "ssl=on" : "ssl=off",
        "-c", "unix_socket_permissions=0700", "-c", "password_encryption=scram-sha-256",
        "-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "huge_pages=off",
        /* connections that never log in keep a place each; sorts of any login write files */
        "-c", "authentication_timeout=10s", "-c", "temp_file_limit=64MB",
        /* a login that hoards locks is ended at a look: until then there shall be some */
        "-c", "max_locks_per_transaction=256",
        /* every step commits; what a volunteer was told is on disk */
        "-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "full_page_writes=on",
        "-c", "wal_level=minimal", "-c", "max_wal_senders=0", "-c", "max_wal_size=256MB",
        "-c", "autovacuum=on", "-c", "max_parallel_workers_per_gather=0", "-c", "jit=off",
        /* the log is for the server's own troubles: volunteers could fill it with theirs */
        "-c", "logging_collector=off", "-c", "log_destination=stderr",
        "-c", "log_min_messages=warning", "-c", "log_min_error_statement=panic",
        "-c", "log_checkpoints=off", "-c", "log_timezone=UTC", "-c", "timezone=UTC",
        /* 64 MiB of notifications, which any login may send, instead of 8 GiB */
        "-c", version >= 1700 ? "max_notify_queue_pages=8192" : "jit=off",
        /* for other machines; otherwise the list ends here */
        listens ? "-c" : NULL, key, "-c", certificate, "-c", access, NULL};
    /* clang-format on */
    LEAT_TRY(start(self, "postgres", arguments, SIGINT, err));
    LEAT_TRY(wait_until_ready(self, from, taken, err));
    return listens ? check_addresses(self, from, taken, err) : LEAT_OK;
}

static void make_urls(leat_local *self) {
    const leat_local_state *of = &self->state;
    snprintf(self->url, sizeof self->url,
             "postgresql://owner:%s@127.0.0.1:%d/" LEAT_LOCAL_DATABASE
             "?sslmode=disable" LEAT_PG_REQUIRE_SCRAM,
             of->owner, (int)of->port);
    snprintf(self->worker_url, sizeof self->worker_url,
             "postgresql://worker:%s@127.0.0.1:%d/" LEAT_LOCAL_DATABASE, of->worker, (int)of->port);
}

static leat_code serve_once(leat_local *self, bool *taken, leat_error *err) {
    char word[17];
    *taken = false;
    LEAT_TRY(choose_port(self, err));
    LEAT_TRY(leat_random_hex(word, sizeof word, err));
    snprintf(self->state.token, sizeof self->state.token, "leat-%s", word);
    LEAT_TRY(make_socket(self, err));
    /* before the start: whoever comes after a kill finds the processes by it */
    leat_code code = leat_local_save(self, err);
    if (code == LEAT_OK) code = leat_local_write_listen(self, err);
    if (code == LEAT_OK) code = start_server(self, taken, err);
    if (code == LEAT_OK) {
        code = leat_local_write_invite(self, err);
        if (code == LEAT_OK) code = leat_local_keep_listened(self, err);
        if (code != LEAT_OK) leat_local_unserve(self);
    }
    if (code == LEAT_OK) make_urls(self);
    else remove_socket(self);
    return code;
}

leat_code leat_local_serve(leat_local *self, leat_error *err) {
    leat_error why = {0};
    leat_code code = LEAT_OK;
    for (int i = 0; i < PORT_TRIES; i++) {
        bool taken = false;
        remove_socket(self);
        code = serve_once(self, &taken, &why);
        if (code == LEAT_OK || !taken) break; /* somebody took the port after it was tried */
    }
    return code == LEAT_OK ? code : leat_error_copy(err, &why);
}

void leat_local_unserve(leat_local *self) {
    int status = 0;
    if (self->server == NULL) return;
    leat_process_signal(self->server, SIGINT);
    if (!leat_process_wait(self->server, FAST_MS, &status)) {
        leat_local_say(self, "the database's server does not stop: it is stopped at once");
        leat_process_signal(self->server, SIGQUIT);
        (void)leat_process_wait(self->server, AT_ONCE_MS, &status);
    }
    leat_process_close(self->server);
    self->server = NULL;
    remove_socket(self);
}

/* ---- what a killed process has left -----------------------------------------------------------
 */

typedef struct earlier {
    const leat_local *self;
    int64_t ids[EARLIER_MAX];
    int count;
} earlier;

/* A process of this folder's last server. Where the system does not say in which folder it works
 * (root in some containers), its word is enough; where it does, a copy of this folder is told from
 * the original. */
static bool look(void *context, const leat_process_facts *facts) {
    earlier *of = context;
    bool known = false;
    if (facts->user != of->self->user.user || strstr(facts->words, of->self->state.token) == NULL)
        return true;
    const bool here = leat_process_works_in(facts->id, of->self->data, &known);
    if (here || !known) of->ids[of->count++] = facts->id;
    return of->count < EARLIER_MAX;
}

/* The process that starts the others, as PostgreSQL has noted it; 0: none. */
static int64_t main_process(const leat_local *self, char path[LEAT_PATH_BYTES]) {
    uint8_t *text = NULL;
    int64_t size = 0, id = 0;
    if (leat_path_join(path, LEAT_PATH_BYTES, self->data, "postmaster.pid", NULL) == LEAT_OK &&
        leat_file_load(path, PID_FILE_BYTES, &text, &size, NULL) == LEAT_OK)
        id = strtoll((const char *)text, NULL, 10);
    leat_free(text);
    return id;
}

/* The main process stops the others; without it, they get the signal themselves. */
static void signal_earlier(const earlier *of, int number) {
    char path[LEAT_PATH_BYTES];
    const int64_t main_id = main_process(of->self, path);
    bool there = false;
    for (int i = 0; i < of->count; i++) there = there || of->ids[i] == main_id;
    for (int i = 0; i < of->count; i++)
        if (!there || of->ids[i] == main_id || number == SIGKILL)
            leat_process_signal_id(of->ids[i], there ? number : SIGKILL);
}

/*
 * PostgreSQL does not start while any process has the number that it noted: one that was killed and
 * that nobody waits for, as in a container without init, or another program by now. No server of
 * ours is left here, so unless somebody else has started one, the note is removed.
 */
static leat_code remove_note(const leat_local *self, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_process_facts facts;
    bool known = false;
    const int64_t id = main_process(self, path);
    if (id <= 0 || !leat_process_get(id, &facts)) return LEAT_OK; /* PostgreSQL's own business */
    const bool here = leat_process_works_in(id, self->data, &known);
    if (!here && (known || strstr(facts.words, "postgres") == NULL))
        return leat_path_remove(path, err);
    return leat_fail(err, LEAT_ERR_BUSY,
                     "\"%.250s\": process %lld is a server of this database that leat did not "
                     "start; stop it",
                     self->folder, (long long)id);
}

leat_code leat_local_end_earlier(leat_local *self, leat_error *err) {
    static const int signals[] = {SIGINT, SIGQUIT, SIGKILL};
    static const int patience_ms[] = {FAST_MS, AT_ONCE_MS, AT_ONCE_MS};
    const int64_t begin_ns = leat_clock_ns();
    int64_t next_ms = 0;
    for (int stage = 0;; sleep_ms(SLICE_MS)) {
        earlier of = {.self = self};
        if (self->state.token[0] == 0) break;
        LEAT_TRY(leat_process_list(look, &of, err));
        if (of.count == 0) break;
        const int64_t now_ms = (leat_clock_ns() - begin_ns) / 1000000;
        if (now_ms >= next_ms && stage == 3)
            return leat_fail(err, LEAT_ERR_BUSY,
                             "\"%.250s\": process %lld of an earlier server does not end; end it",
                             self->folder, (long long)of.ids[0]);
        if (now_ms >= next_ms) {
            if (stage == 0)
                leat_local_say(self,
                               "stopping the server that a killed leat has left (process "
                               "%lld)",
                               (long long)of.ids[0]);
            signal_earlier(&of, signals[stage]);
            next_ms = now_ms + patience_ms[stage++];
        }
        if (leat_local_stopped(self)) return leat_fail(err, LEAT_ERR_CANCELLED, "stopped");
    }
    remove_socket(self);
    return remove_note(self, err);
}
