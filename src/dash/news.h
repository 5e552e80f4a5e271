/*
 * What streams are told: documents, each with a number that grows when its text changes. A stream
 * that was interrupted says which numbers it has (Last-Event-ID), and gets what it lacks, once.
 *
 * As server-sent events, the newest text of a document in one line:
 *
 *     event: facts
 *     id: 0123456789abcdef-12-3
 *     data: {...}
 *
 * The first part of an id is drawn by each start of a server, because its numbers begin again; the
 * others are the numbers that a stream has after this event.
 */
#ifndef LEAT_DASH_NEWS_H
#define LEAT_DASH_NEWS_H

#include <pthread.h>

#include "dash/http.h"

enum { LEAT_NEWS_FACTS, LEAT_NEWS_CURVES };
_Static_assert(LEAT_NEWS_CURVES == LEAT_HTTP_DOCUMENTS - 1, "a document each");

typedef struct leat_news {
    pthread_mutex_t lock;
    uint64_t start;
    struct {
        int64_t number; /* 0: there is no text yet */
        leat_buf text;
    } documents[LEAT_HTTP_DOCUMENTS];
} leat_news;

LEAT_MUST_CHECK leat_code leat_news_create(leat_news *news, leat_error *err);
void leat_news_destroy(leat_news *news);
/* The text of a document, without line breaks but for one at the end, which is left out; copied. If
 * it is the one that is there, nothing happens. */
LEAT_MUST_CHECK leat_code leat_news_publish(leat_news *news, int document, const char *text,
                                            int64_t size_bytes, leat_error *err);
/* Appends the newest text of a document; nothing if there is none yet. */
LEAT_MUST_CHECK leat_code leat_news_copy(leat_news *news, int document, leat_buf *out,
                                         leat_error *err);
/* Appends events of what a stream lacks. */
LEAT_MUST_CHECK leat_code leat_news_next(leat_news *news, leat_http_cursor *cursor, leat_buf *out,
                                         leat_error *err);
/* What an id says; all 0, everything is lacking, if it is not one of this start. NULL accepted. */
leat_http_cursor leat_news_parse(leat_news *news, const char *id);

#endif
