/*
 * An HTTP server for a page and its streams: one thread, bounded in connections, streams and
 * memory; GET and HEAD only. Through libmicrohttpd, which this file's source alone knows, and which
 * is opened with the first server.
 *
 * Whatever is answered carries headers that let a browser load nothing but files of this server,
 * run nothing that is written in the page itself, and say nowhere where it came from.
 */
#ifndef LEAT_DASH_HTTP_H
#define LEAT_DASH_HTTP_H

#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define LEAT_HTTP_CONNECTIONS_MAX 160
#define LEAT_HTTP_CONNECTIONS_EACH 40 /* of an address; of IPv6 of the network it is in (/64) */
/* A connection without a complete request yet is silent. Of these, an address has 8; once there are
 * 120 connections, each new one takes the place of the oldest silent one, but not of one whose
 * bytes are still to be read: it may have asked. */
#define LEAT_HTTP_SILENT_EACH 8
#define LEAT_HTTP_SILENT_FULL 120
#define LEAT_HTTP_FIRST_MS 5000 /* for the first request of a connection */
#define LEAT_HTTP_STREAMS_MAX 64
#define LEAT_HTTP_STREAMS_EACH 8      /* likewise */
#define LEAT_HTTP_ASK_MS 20000        /* for another one, from the last answer on */
#define LEAT_HTTP_ANSWER_MS 120000    /* for an answer that is no stream */
#define LEAT_HTTP_RETRY_SECONDS 10    /* after which a stream that was refused may ask again */
#define LEAT_HTTP_COMMENT_MS 15000    /* without news a stream has a comment as often */
#define LEAT_HTTP_SLOW_MS 30000       /* in which a reader takes what was written for it */
#define LEAT_HTTP_PIECE_MAX (1 << 20) /* bytes that are written for a stream at once */

/* Where a server listens. */
typedef struct leat_http_place {
    int version; /* 4 or 6 */
    uint8_t bytes[16];
    int32_t port; /* 0: any free one */
} leat_http_place;

/* What was asked. Texts are the browser's own words, NULL if it did not say. */
typedef struct leat_http_request {
    const char *path;
    bool head; /* the answer has no body */
    const char *host, *site, *last_event;
    const char *token, *cookie; /* the parameter `token`; the cookie of the server's name */
} leat_http_request;

/* How far a stream is: the number of the newest of each document that it has. */
enum { LEAT_HTTP_DOCUMENTS = 2 };
typedef struct leat_http_cursor {
    int64_t seen[LEAT_HTTP_DOCUMENTS];
} leat_http_cursor;

/* What is answered; {0}: nothing is set. One of body, file and stream. */
typedef struct leat_http_reply {
    int status;                        /* 200, ... */
    const char *type;                  /* "text/css"; NULL: there is no body */
    const char *location, *set_cookie; /* NULL: none */
    char cookie[160];                  /* place for one */
    const char *body;                  /* outlives the call, or is `kept` */
    int64_t body_bytes;
    leat_buf kept;   /* freed by the server */
    leat_file *file; /* closed by the server */
    int64_t file_bytes;
    bool stream;
    leat_http_cursor cursor; /* of the stream */
} leat_http_reply;

/* A line of text, which outlives the call. */
static inline leat_http_reply leat_http_words(int status, const char *words) {
    return (leat_http_reply){.status = status,
                             .type = "text/plain; charset=utf-8",
                             .body = words,
                             .body_bytes = (int64_t)strlen(words)};
}

/* Called from the server's thread, one at a time. */
typedef struct leat_http_class {
    void (*answer)(void *user, const leat_http_request *request, leat_http_reply *reply);
    /* Writes what a stream does not have yet, at most LEAT_HTTP_PIECE_MAX bytes, and moves its
     * cursor; nothing: there is no news. */
    leat_code (*news)(void *user, leat_http_cursor *cursor, leat_buf *out, leat_error *err);
} leat_http_class;

typedef struct leat_http_options {
    leat_http_place place;
    const char *cookie; /* name of the cookie that is looked for */
    const leat_http_class *own;
    void *user;
    int64_t (*now_ns)(void *user); /* a clock that cannot be set; NULL: that of this machine */
} leat_http_options;

typedef struct leat_http leat_http;
/* Listens, and answers from now on. *port receives its port. LEAT_ERR_UNSUPPORTED: libmicrohttpd is
 * missing, too old, or leat was built without it. LEAT_ERR_OPTION: it cannot listen there. */
LEAT_MUST_CHECK leat_code leat_http_create(leat_http **out, const leat_http_options *options,
                                           int32_t *port, leat_error *err);
/* Ends all streams, and the thread. NULL accepted. */
void leat_http_destroy(leat_http *http);
/* There may be news: streams are looked after, and readers that are too slow are dropped. To be
 * called about once a second. LEAT_ERR_IO: the server has failed. */
LEAT_MUST_CHECK leat_code leat_http_wake(leat_http *http, leat_error *err);
/* Streams that are open. */
int leat_http_streams(leat_http *http);

#endif
