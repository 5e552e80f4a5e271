/*
 * See http.h. The library does the protocol; here are the limits. Its event loop runs in a thread
 * of ours, so that signals stay with the command, and a stream without news is suspended in it: it
 * costs nothing until leat_http_wake resumes it.
 *
 * A stream is in the list from its answer until the library releases its response, which is before
 * the socket is closed. So a socket that is shut down under the lock is that stream's own.
 */
#include "dash/http.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/library.h"
#include "base/thread.h"

#if LEAT_HAVE_MICROHTTPD

#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum {
    WAIT_MS = 200, /* how long the thread waits at most before it looks whether to end */
    CONNECTION_BYTES = 16384,
    SEND_BYTES = 65536,  /* that the system keeps of a stream that nobody reads */
    BLOCK_BYTES = 32768, /* handed to the library at once */
    BODY_MAX = 65536,    /* of a request that should have none */
    KEY_BYTES = 17
};

#define FUNCTIONS(X)                                                                               \
    X(start_daemon)                                                                                \
    X(stop_daemon)                                                                                 \
    X(run_wait)                                                                                    \
    X(get_daemon_info)                                                                             \
    X(get_connection_info)                                                                         \
    X(lookup_connection_value)                                                                     \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_callback)                                                               \
    X(add_response_header)                                                                         \
    X(queue_response)                                                                              \
    X(destroy_response)                                                                            \
    X(suspend_connection)                                                                          \
    X(resume_connection)

typedef struct http_library {
    void *handle;
#define MEMBER(name) __typeof__(&MHD_##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} http_library;

static const leat_library_function functions[] = {
#define ROW(name) {"MHD_" #name, offsetof(http_library, name), NULL},
    FUNCTIONS(ROW)
#undef ROW
        {0}};

static const leat_library microhttpd = {.name = "libmicrohttpd",
                                        .least = "0.9.72",
                                        .files = {"libmicrohttpd.so.12"},
                                        .beside = LEAT_MICROHTTPD_BESIDE,
                                        .stays = true,
                                        .use = "the page is served with",
                                        .package = "libmicrohttpd12",
                                        .functions = functions};

typedef struct http_stream {
    struct http_stream *next;
    leat_http *http;
    struct MHD_Connection *connection;
    int socket;
    uint8_t key[KEY_BYTES]; /* whose it is */
    leat_http_cursor cursor;
    leat_buf out; /* what it is sent now, and how far */
    int64_t at;
    int64_t written_ns; /* when that was written, or what came before it */
    int64_t since_ns;   /* when the library was last given something to do for it */
    bool suspended, dropped;
} http_stream;

/* A connection: of whom it is, and for how long it has been about the same thing. */
typedef struct http_client {
    struct http_client *next;
    int socket;
    uint8_t key[KEY_BYTES];
    int64_t since_ns;
    enum { SILENT, ASKING, ANSWERED, STREAMING } state;
    bool dropped;
} http_client;

struct leat_http {
    http_library mhd;
    struct MHD_Daemon *daemon;
    leat_http_options options;
    pthread_t thread;
    bool has_thread;
    atomic_bool ends, failed;
    pthread_mutex_t lock; /* of both lists and what is in them */
    http_client *clients;
    http_stream *streams;
    int stream_count;
};

/* ---- Who asks ------------------------------------------------------------------------------- */

static void find_key(leat_http *http, struct MHD_Connection *connection, uint8_t key[KEY_BYTES]) {
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    memset(key, 0, KEY_BYTES);
    if (info == NULL || info->client_addr == NULL) return;
    if (info->client_addr->sa_family == AF_INET) {
        const struct sockaddr_in *of = (const struct sockaddr_in *)info->client_addr;
        key[0] = 4;
        memcpy(key + 1, &of->sin_addr, 4);
    } else if (info->client_addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *of = (const struct sockaddr_in6 *)info->client_addr;
        key[0] = 6;
        memcpy(key + 1, &of->sin6_addr, 8);
    }
}

/* ---- Connections ---------------------------------------------------------------------------- */

static int64_t clock_of(const leat_http *http) {
    const leat_http_options *of = &http->options;
    return of->now_ns != NULL ? of->now_ns(of->user) : leat_clock_ns();
}

/* Under the lock. */
static void drop_client(http_client *client) {
    client->dropped = true;
    (void)shutdown(client->socket, SHUT_RDWR);
}

/* Whether a silent connection asks nothing. The library accepts several before it reads from any,
 * so one that has asked may still be silent: the system has what it sent. */
static bool is_idle(const http_client *client) {
    char byte;
    return recv(client->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

/* The oldest connection that asks nothing, of an address (NULL: of all); NULL: none. The list
 * begins with the newest. */
static http_client *oldest_idle(const leat_http *http, const uint8_t *key) {
    http_client *oldest = NULL;
    for (http_client *of = http->clients; of != NULL; of = of->next)
        if (!of->dropped && of->state == SILENT &&
            (key == NULL || memcmp(of->key, key, KEY_BYTES) == 0) && is_idle(of))
            oldest = of;
    return oldest;
}

/* Under the lock: connections that have not asked yet do not keep a newcomer out, whoever has them:
 * one of them ends. If its address has as many as it may, that is one of its own; without one, the
 * newcomer is refused (false), and nobody else loses a connection. */
static bool make_place(const leat_http *http, const http_client *newcomer) {
    http_client *ends = NULL;
    int all = 0, same = 0, silent_same = 0;
    for (const http_client *of = http->clients; of != NULL; of = of->next) {
        if (of->dropped) continue;
        const bool is_same = memcmp(of->key, newcomer->key, KEY_BYTES) == 0;
        all++;
        same += is_same;
        silent_same += is_same && of->state == SILENT;
    }
    const bool has_all = same >= LEAT_HTTP_CONNECTIONS_EACH;
    if (has_all || silent_same >= LEAT_HTTP_SILENT_EACH) ends = oldest_idle(http, newcomer->key);
    if (ends == NULL && has_all) return false;
    if (ends == NULL && all >= LEAT_HTTP_SILENT_FULL) ends = oldest_idle(http, NULL);
    if (ends != NULL) drop_client(ends);
    return true;
}

static void add_client(leat_http *http, struct MHD_Connection *connection, void **mine) {
    http_client *client = NULL;
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == NULL) return;
    const int socket = info->connect_fd;
    if (LEAT_NEW(&client, 1, NULL) != LEAT_OK) {
        (void)shutdown(socket, SHUT_RDWR);
        return;
    }
    *client = (http_client){.socket = socket, .since_ns = clock_of(http)};
    find_key(http, connection, client->key);
    pthread_mutex_lock(&http->lock);
    if (!make_place(http, client)) drop_client(client);
    client->next = http->clients;
    http->clients = client;
    pthread_mutex_unlock(&http->lock);
    *mine = client;
}

/* The library calls it when a connection is there, and before its socket is closed. */
static void on_connection(void *user, struct MHD_Connection *connection, void **mine,
                          enum MHD_ConnectionNotificationCode what) {
    leat_http *http = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *mine = NULL;
        add_client(http, connection, mine);
        return;
    }
    pthread_mutex_lock(&http->lock);
    for (http_client **at = &http->clients; *at != NULL; at = &(*at)->next)
        if (*at == *mine) {
            *at = (*at)->next;
            break;
        }
    pthread_mutex_unlock(&http->lock);
    leat_free(*mine);
}

/* What a connection is about from now on. */
static void set_state(leat_http *http, struct MHD_Connection *connection, int state) {
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    http_client *client = info != NULL ? info->socket_context : NULL;
    if (client == NULL) return;
    pthread_mutex_lock(&http->lock);
    client->state = state;
    client->since_ns = clock_of(http);
    pthread_mutex_unlock(&http->lock);
}

static void on_completed(void *user, struct MHD_Connection *connection, void **mine,
                         enum MHD_RequestTerminationCode how) {
    (void)mine, (void)how;
    set_state(user, connection, ASKING);
}

/* Under the lock. The library's own limit begins anew with each byte. */
static void drop_late(leat_http *http, int64_t now_ns) {
    for (http_client *of = http->clients; of != NULL; of = of->next) {
        static const int64_t most_ms[] = {[SILENT] = LEAT_HTTP_FIRST_MS,
                                          [ASKING] = LEAT_HTTP_ASK_MS,
                                          [ANSWERED] = LEAT_HTTP_ANSWER_MS};
        if (of->state == STREAMING || of->dropped ||
            now_ns - of->since_ns < most_ms[of->state] * INT64_C(1000000))
            continue;
        drop_client(of);
    }
}

/* ---- Streams -------------------------------------------------------------------------------- */

/* Under the lock. The library does not look at a connection that is suspended: whether its browser
 * has closed it, as when a page is loaded again, is seen here, also behind bytes that it has sent
 * before. */
static void resume(leat_http *http, http_stream *stream) {
    struct pollfd at = {.fd = stream->socket, .events = POLLRDHUP};
    if (!stream->suspended) return;
    if (poll(&at, 1, 0) > 0) stream->dropped = true;
    stream->suspended = false;
    stream->since_ns = clock_of(http);
    http->mhd.resume_connection(stream->connection);
}

/* Whether one more is allowed; then it is in the list. */
static bool add_stream(leat_http *http, http_stream *stream) {
    int all = 0, same = 0;
    pthread_mutex_lock(&http->lock);
    for (http_stream *of = http->streams; of != NULL; of = of->next) {
        resume(http, of);
        if (of->dropped) continue;
        all++;
        same += memcmp(of->key, stream->key, KEY_BYTES) == 0;
    }
    const bool may = all < LEAT_HTTP_STREAMS_MAX && same < LEAT_HTTP_STREAMS_EACH;
    if (may) {
        stream->next = http->streams;
        http->streams = stream;
        http->stream_count++;
    }
    pthread_mutex_unlock(&http->lock);
    return may;
}

/* The library releases the response: a MHD_ContentReaderFreeCallback. */
static void end_stream(void *user) {
    http_stream *stream = user;
    leat_http *http = stream->http;
    pthread_mutex_lock(&http->lock);
    for (http_stream **at = &http->streams; *at != NULL; at = &(*at)->next)
        if (*at == stream) {
            *at = stream->next;
            http->stream_count--;
            break;
        }
    pthread_mutex_unlock(&http->lock);
    leat_buf_free(&stream->out);
    leat_free(stream);
}

/* Writes what comes next, a comment if there has been nothing for long; false: nothing. */
static bool refill(http_stream *stream) {
    leat_http *http = stream->http;
    const int64_t now_ns = clock_of(http);
    stream->at = stream->out.size = 0;
    leat_code code =
        http->options.own->news(http->options.user, &stream->cursor, &stream->out, NULL);
    if (code == LEAT_OK && stream->out.size == 0 &&
        now_ns - stream->written_ns >= LEAT_HTTP_COMMENT_MS * INT64_C(1000000))
        code = leat_buf_printf(&stream->out, NULL, ": nothing new\n\n");
    if (code != LEAT_OK || stream->out.size > LEAT_HTTP_PIECE_MAX) stream->dropped = true;
    if (stream->out.size > 0) stream->written_ns = stream->since_ns = now_ns;
    return stream->out.size > 0;
}

static ssize_t read_stream(void *user, uint64_t position, char *to, size_t size) {
    http_stream *stream = user;
    leat_http *http = stream->http;
    ssize_t given = 0;
    (void)position;
    pthread_mutex_lock(&http->lock);
    if (atomic_load(&http->ends) || stream->dropped) given = MHD_CONTENT_READER_END_OF_STREAM;
    else if (stream->at < stream->out.size || refill(stream)) {
        const int64_t left = stream->out.size - stream->at;
        const int64_t part = (int64_t)size < left ? (int64_t)size : left;
        memcpy(to, stream->out.data + stream->at, (size_t)part);
        stream->at += part;
        stream->since_ns = clock_of(http);
        given = (ssize_t)part;
    } else if (stream->dropped) {
        given = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        stream->suspended = true;
        http->mhd.suspend_connection(stream->connection);
    }
    pthread_mutex_unlock(&http->lock);
    return given;
}

leat_code leat_http_wake(leat_http *http, leat_error *err) {
    const int64_t now_ns = clock_of(http);
    pthread_mutex_lock(&http->lock);
    drop_late(http, now_ns);
    for (http_stream *of = http->streams; of != NULL; of = of->next) {
        if (of->suspended) resume(http, of);
        else if (!of->dropped && now_ns - of->since_ns >= LEAT_HTTP_SLOW_MS * INT64_C(1000000)) {
            of->dropped = true;
            (void)shutdown(of->socket, SHUT_RDWR);
        }
    }
    pthread_mutex_unlock(&http->lock);
    if (atomic_load(&http->failed))
        return leat_fail(err, LEAT_ERR_IO, "the HTTP server has failed: start it again");
    return LEAT_OK;
}

int leat_http_streams(leat_http *http) {
    pthread_mutex_lock(&http->lock);
    const int count = http->stream_count;
    pthread_mutex_unlock(&http->lock);
    return count;
}

/* ---- Answers -------------------------------------------------------------------------------- */

typedef struct http_header {
    const char *name, *value;
} http_header;

static const http_header headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

static void put_header(const leat_http *http, struct MHD_Response *response, const char *name,
                       const char *value) {
    if (value != NULL) (void)http->mhd.add_response_header(response, name, value);
}

static enum MHD_Result send_response(leat_http *http, struct MHD_Connection *connection,
                                     const leat_http_reply *reply, struct MHD_Response *response) {
    if (response == NULL) return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        put_header(http, response, headers[i].name, headers[i].value);
    put_header(http, response, "Content-Type", reply->type);
    put_header(http, response, "Location", reply->location);
    put_header(http, response, "Set-Cookie", reply->set_cookie);
    if (reply->status == 405) put_header(http, response, "Allow", "GET, HEAD");
    if (reply->status == 503) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%d", LEAT_HTTP_RETRY_SECONDS);
        put_header(http, response, "Retry-After", seconds);
    }
    const enum MHD_Result done =
        http->mhd.queue_response(connection, (unsigned)reply->status, response);
    http->mhd.destroy_response(response); /* the library has its own reference */
    return done;
}

static struct MHD_Response *of_text(const leat_http *http, const char *text, int64_t size_bytes) {
    return http->mhd.create_response_from_buffer((size_t)size_bytes, (void *)(uintptr_t)text,
                                                 MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result send_words(leat_http *http, struct MHD_Connection *connection, int status,
                                  const char *words) {
    const leat_http_reply reply = leat_http_words(status, words);
    return send_response(http, connection, &reply, of_text(http, words, reply.body_bytes));
}

static ssize_t read_file(void *file, uint64_t position, char *to, size_t size) {
    const leat_code code = leat_file_pread(file, to, (int64_t)size, (int64_t)position, NULL);
    return code == LEAT_OK ? (ssize_t)size : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void close_file(void *file) { leat_file_close(file); }

/* The library asks for no more than the file had when it was opened. */
static struct MHD_Response *of_file(const leat_http *http, leat_http_reply *reply) {
    struct MHD_Response *response = http->mhd.create_response_from_callback(
        (uint64_t)reply->file_bytes, BLOCK_BYTES, read_file, reply->file, close_file);
    if (response == NULL) leat_file_close(reply->file);
    return response;
}

static ssize_t read_nothing(void *user, uint64_t position, char *to, size_t size) {
    (void)user, (void)position, (void)to, (void)size;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* What HEAD asks of a stream: its headers, of which none says a size. */
static struct MHD_Response *of_stream_head(const leat_http *http) {
    return http->mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_nothing,
                                                   NULL, NULL);
}

static enum MHD_Result begin_stream(leat_http *http, struct MHD_Connection *connection,
                                    const leat_http_reply *reply) {
    http_stream *stream = NULL;
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int few = SEND_BYTES;
    const unsigned gone_ms = LEAT_HTTP_SLOW_MS;
    if (info == NULL || LEAT_NEW(&stream, 1, NULL) != LEAT_OK) return MHD_NO;
    *stream = (http_stream){.http = http,
                            .connection = connection,
                            .socket = info->connect_fd,
                            .cursor = reply->cursor,
                            .written_ns = clock_of(http),
                            .since_ns = clock_of(http)};
    find_key(http, connection, stream->key);
    if (!add_stream(http, stream)) {
        leat_free(stream);
        return send_words(http, connection, 503,
                          "As many pages as possible are open here. This one tries again.\n");
    }
    (void)setsockopt(stream->socket, SOL_SOCKET, SO_SNDBUF, &few, sizeof few);
    /* of a machine that is gone, comments would be kept by the system for hours */
    (void)setsockopt(stream->socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &gone_ms, sizeof gone_ms);
    set_state(http, connection, STREAMING);
    struct MHD_Response *response = http->mhd.create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_stream, stream, end_stream);
    if (response == NULL) end_stream(stream);
    return send_response(http, connection, reply, response);
}

static enum MHD_Result send_reply(leat_http *http, struct MHD_Connection *connection, bool head,
                                  leat_http_reply *reply) {
    if (reply->stream && !head) return begin_stream(http, connection, reply);
    const char *body = reply->body != NULL ? reply->body : (const char *)reply->kept.data;
    const int64_t size_bytes = reply->body != NULL ? reply->body_bytes : reply->kept.size;
    struct MHD_Response *response = reply->stream         ? of_stream_head(http)
                                    : reply->file != NULL ? of_file(http, reply)
                                    : size_bytes > 0      ? of_text(http, body, size_bytes)
                                                          : of_text(http, "", 0);
    const enum MHD_Result done = send_response(http, connection, reply, response);
    leat_buf_free(&reply->kept);
    return done;
}

/* ---- Requests ------------------------------------------------------------------------------- */

static const char *value_of(leat_http *http, struct MHD_Connection *connection,
                            enum MHD_ValueKind kind, const char *name) {
    return http->mhd.lookup_connection_value(connection, kind, name);
}

/* The library calls it at least twice for a request, and for each part of a body, which is thrown
 * away: *mine counts its bytes, so that nobody sends one without an end. */
static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **mine) {
    leat_http *http = user;
    const size_t before = (size_t)(uintptr_t)*mine;
    const bool head = strcmp(method, "HEAD") == 0;
    (void)version, (void)upload;
    if (!head && strcmp(method, "GET") != 0)
        return send_words(http, connection, 405, "Only GET and HEAD are answered.\n");
    if (before == 0 || *upload_bytes > 0) {
        if (before + *upload_bytes > BODY_MAX) return MHD_NO;
        *mine = (void *)(uintptr_t)(before + *upload_bytes + 1);
        *upload_bytes = 0;
        return MHD_YES;
    }
    const leat_http_request request = {
        .path = url,
        .head = head,
        .host = value_of(http, connection, MHD_HEADER_KIND, "Host"),
        .site = value_of(http, connection, MHD_HEADER_KIND, "Sec-Fetch-Site"),
        .last_event = value_of(http, connection, MHD_HEADER_KIND, "Last-Event-ID"),
        .token = value_of(http, connection, MHD_GET_ARGUMENT_KIND, "token"),
        .cookie = value_of(http, connection, MHD_COOKIE_KIND, http->options.cookie),
    };
    leat_http_reply reply = {0};
    set_state(http, connection, ANSWERED);
    http->options.own->answer(http->options.user, &request, &reply);
    LEAT_ASSERT(reply.status >= 200 && reply.status < 600);
    return send_reply(http, connection, head, &reply);
}

/* ---- The server ----------------------------------------------------------------------------- */

static void *serve(void *user) {
    leat_http *http = user;
    while (!atomic_load(&http->ends))
        if (http->mhd.run_wait(http->daemon, WAIT_MS) != MHD_YES) {
            atomic_store(&http->failed, true);
            break;
        }
    return NULL;
}

static leat_code cannot_listen(const leat_http_place *place, leat_error *err) {
    const int number = errno;
    char text[LEAT_ADDRESS_TEXT_BYTES];
    const int size = leat_address_format(place->version, place->bytes, text);
    char where[LEAT_ADDRESS_TEXT_BYTES + 16];
    snprintf(where, sizeof where, place->version == 6 ? "[%.*s]:%d" : "%.*s:%d", size, text,
             (int)place->port);
    if (number == EADDRINUSE)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--listen %s: another program listens there; choose another port", where);
    if (number == EACCES)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--listen %s: this user may not listen there; choose a port above 1023",
                         where);
    if (number == EADDRNOTAVAIL)
        return leat_fail(err, LEAT_ERR_OPTION, "--listen %s: this machine has no such address",
                         where);
    return leat_fail_errno(err, number, "--listen %s: cannot listen there", where);
}

static leat_code start(leat_http *http, int32_t *port, leat_error *err) {
    const leat_http_place *place = &http->options.place;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)place->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)place->port)};
    const bool six = place->version == 6;
    memcpy(&v4.sin_addr, place->bytes, sizeof v4.sin_addr);
    memcpy(&v6.sin6_addr, place->bytes, sizeof v6.sin6_addr);
    errno = 0;
    http->daemon = http->mhd.start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (six ? MHD_USE_IPv6 : 0), (uint16_t)place->port,
        NULL, NULL, handle, http, MHD_OPTION_SOCK_ADDR, six ? (void *)&v6 : (void *)&v4,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)LEAT_HTTP_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(LEAT_HTTP_ASK_MS / 1000),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, (void *)http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, (void *)http,
        MHD_OPTION_END);
    if (http->daemon == NULL) return cannot_listen(place, err);
    const union MHD_DaemonInfo *info =
        http->mhd.get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
    *port = info != NULL ? info->port : place->port;
    LEAT_TRY(leat_thread_start(&http->thread, serve, http, err));
    http->has_thread = true;
    return LEAT_OK;
}

leat_code leat_http_create(leat_http **out, const leat_http_options *options, int32_t *port,
                           leat_error *err) {
    leat_http *http = NULL;
    *out = NULL;
    *port = 0;
    LEAT_TRY(LEAT_NEW(&http, 1, err));
    http->options = *options;
    pthread_mutex_init(&http->lock, NULL);
    leat_code code = leat_library_open(&http->mhd.handle, &microhttpd, &http->mhd, err);
    if (code == LEAT_OK) code = start(http, port, err);
    if (code == LEAT_OK) *out = http;
    else leat_http_destroy(http);
    return code;
}

/* The library does not end while a connection is suspended. */
static void resume_all(leat_http *http) {
    pthread_mutex_lock(&http->lock);
    for (http_stream *of = http->streams; of != NULL; of = of->next) resume(http, of);
    pthread_mutex_unlock(&http->lock);
}

void leat_http_destroy(leat_http *http) {
    if (http == NULL) return;
    atomic_store(&http->ends, true);
    if (http->daemon != NULL) resume_all(http);
    if (http->has_thread) pthread_join(http->thread, NULL);
    if (http->daemon != NULL) http->mhd.stop_daemon(http->daemon);
    leat_library_close(http->mhd.handle);
    pthread_mutex_destroy(&http->lock);
    leat_free(http);
}

#else

leat_code leat_http_create(leat_http **out, const leat_http_options *options, int32_t *port,
                           leat_error *err) {
    (void)options;
    *out = NULL;
    *port = 0;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "this leat was built without libmicrohttpd, with which pages are served: "
                     "install it (Debian: libmicrohttpd-dev) and build leat again");
}

void leat_http_destroy(leat_http *http) { (void)http; }

leat_code leat_http_wake(leat_http *http, leat_error *err) {
    (void)http;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "built without libmicrohttpd");
}

int leat_http_streams(leat_http *http) {
    (void)http;
    return 0;
}

#endif
