/* The server with clients of its own: what is answered, how many streams there may be, and what
 * becomes of readers that do not read. */
/* TSan: the server's thread, and clients that wake it. */
#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread.h"
#include "dash/http.h"

/* What the server says: a stream has event 1, 2, ... as far as `number`. */
typedef struct world {
    leat_http *http;
    int32_t port;
    atomic_llong number;
    int64_t event_bytes;
    atomic_int asked;
    atomic_llong idle_at; /* how far a stream is for which there was nothing */
    atomic_bool holds;    /* what is asked for /hold keeps the server's thread */
    atomic_llong now_ns;
} world;

static void rest(void) { leat_word_wait(&(_Atomic uint32_t){0}, 0, 1000000); }

static void answer(void *user, const leat_http_request *request, leat_http_reply *reply) {
    world *w = user;
    atomic_fetch_add(&w->asked, 1);
    while (strcmp(request->path, "/hold") == 0 && atomic_load(&w->holds)) rest();
    reply->status = 200;
    reply->type = "text/plain";
    if (strcmp(request->path, "/stream") == 0) {
        reply->type = "text/event-stream";
        reply->stream = true;
        if (request->last_event != NULL) reply->cursor.seen[0] = atoll(request->last_event);
        return;
    }
    assert_ok(leat_buf_printf(&reply->kept, err, "%s|%s|%s|%s", request->path,
                              request->host != NULL ? request->host : "-",
                              request->token != NULL ? request->token : "-",
                              request->cookie != NULL ? request->cookie : "-"));
}

static leat_code on_news(void *user, leat_http_cursor *cursor, leat_buf *out, leat_error *err) {
    world *w = user;
    if (cursor->seen[0] >= atomic_load(&w->number)) {
        atomic_store(&w->idle_at, cursor->seen[0]);
        return LEAT_OK;
    }
    LEAT_TRY(leat_buf_printf(out, err, "id: %lld\n\n", (long long)++cursor->seen[0]));
    LEAT_TRY(leat_buf_reserve(out, w->event_bytes, err));
    memset(out->data + out->size, 'x', (size_t)w->event_bytes);
    out->size += w->event_bytes;
    return LEAT_OK;
}

static const leat_http_class own = {.answer = answer, .news = on_news};

static int64_t on_clock(void *user) { return atomic_load(&((world *)user)->now_ns); }

static void begin(world *w) {
    const leat_http_options options = {.place = {.version = 4, .bytes = {127, 0, 0, 1}},
                                       .cookie = "it",
                                       .own = &own,
                                       .user = w,
                                       .now_ns = on_clock};
    leat_error err = {0};
    const leat_code code = leat_http_create(&w->http, &options, &w->port, &err);
    if (code == LEAT_ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", err.message);
        skip();
    }
    assert_int_equal(code, LEAT_OK);
    assert_true(w->port > 0);
}

static void pass(world *w, int64_t ms) { atomic_fetch_add(&w->now_ns, ms * 1000000); }

static void wake(world *w) { assert_ok(leat_http_wake(w->http, err)); }

/* A client with the address 127.0.0.`last`, which has said this. */
static int say(const world *w, int last, const char *words) {
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in mine = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(0x7f000000u + (unsigned)last)};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)w->port),
                             .sin_addr.s_addr = htonl(0x7f000001u)};
    const struct timeval limit = {.tv_sec = 60};
    assert_true(s >= 0);
    assert_int_equal(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    const int few = 4096; /* so that a server meets a reader that does not read */
    assert_int_equal(setsockopt(s, SOL_SOCKET, SO_RCVBUF, &few, sizeof few), 0);
    assert_int_equal(bind(s, (struct sockaddr *)&mine, sizeof mine), 0);
    assert_int_equal(connect(s, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(s, words, strlen(words), MSG_NOSIGNAL), (ssize_t)strlen(words));
    return s;
}

/* Reads until the text is there, or the end; returns what was read. */
static const char *read_until(int s, const char *words) {
    static char text[65536];
    size_t size = 0;
    text[0] = 0;
    while (strstr(text, words) == NULL) {
        const ssize_t got = recv(s, text + size, sizeof text - 1 - size, 0);
        assert_true(got >= 0);
        if (got == 0) break;
        size += (size_t)got;
        text[size] = 0;
    }
    return text;
}

/* A request that ends its connection, and all of the answer. */
static const char *ask(const world *w, const char *words) {
    const int s = say(w, 1, words);
    const char *text = read_until(s, "no such text");
    close(s);
    return text;
}

static void expect(const char *text, const char *words) {
    if (strstr(text, words) == NULL) fail_msg("no \"%s\" in: %s", words, text);
}

#define CLOSE "Host: here\r\nConnection: close\r\n\r\n"
#define STREAM "GET /stream HTTP/1.1\r\nHost: here\r\n\r\n"

static void answers(void **state) {
    static const char *const always[] = {
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; ",
        "frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Cache-Control: no-store",
        "Cross-Origin-Resource-Policy: same-origin",
    };
    world w = {0};
    (void)state;
    begin(&w);
    const char *text = ask(&w, "GET /a%20b?token=t HTTP/1.1\r\nCookie: x=y; it=c\r\n" CLOSE);
    expect(text, "HTTP/1.1 200 OK\r\n");
    expect(text, "\r\n\r\n/a b|here|t|c");
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) expect(text, always[i]);
    text = ask(&w, "HEAD /abc HTTP/1.1\r\n" CLOSE);
    expect(text, "Content-Length: 13\r\n");
    assert_null(strstr(text, "/abc|here"));
    text = ask(&w, "HEAD /stream HTTP/1.1\r\n" CLOSE);
    expect(text, "HTTP/1.1 200 OK\r\n");
    assert_null(strstr(text, "Content-Length"));
    assert_int_equal(leat_http_streams(w.http), 0);
    atomic_store(&w.asked, 0);
    text = ask(&w, "POST / HTTP/1.1\r\nContent-Length: 5\r\n" CLOSE "hello");
    expect(text, "HTTP/1.1 405 ");
    expect(text, "Allow: GET, HEAD\r\n");
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) expect(text, always[i]);
    expect(ask(&w, "DELETE / HTTP/1.1\r\n" CLOSE), "HTTP/1.1 405 ");
    assert_int_equal(atomic_load(&w.asked), 0);
    /* a body is thrown away, and one without an end ends the connection */
    expect(ask(&w, "GET /x HTTP/1.1\r\nContent-Length: 5\r\n" CLOSE "hello"), "/x|here");
    leat_http_destroy(w.http);
}

/* 8 of an address, 64 of all; one that ends makes place for another. */
static void limits(void **state) {
    enum { EACH = LEAT_HTTP_STREAMS_EACH, ALL = LEAT_HTTP_STREAMS_MAX };
    int streams[ALL];
    world w = {.number = 1};
    (void)state;
    begin(&w);
    for (int i = 0; i < ALL; i++) {
        streams[i] = say(&w, 1 + i / EACH, STREAM);
        expect(read_until(streams[i], "id: 1\n"), "Content-Type: text/event-stream\r\n");
        if (i != EACH - 1) continue;
        const int more = say(&w, 1, "GET /stream HTTP/1.1\r\n" CLOSE);
        const char *text = read_until(more, "tries again.\n");
        expect(text, "HTTP/1.1 503 ");
        expect(text, "Retry-After: 10\r\n");
        close(more);
    }
    assert_int_equal(leat_http_streams(w.http), ALL);
    int other = say(&w, 1 + ALL / EACH, "GET /stream HTTP/1.1\r\n" CLOSE);
    expect(read_until(other, "tries again.\n"), "HTTP/1.1 503 ");
    close(other);
    expect(ask(&w, "GET /page HTTP/1.1\r\n" CLOSE), "/page|here"); /* the page itself is there */
    /* one that ends makes place at once, though there is nothing to send; one that is reset, too */
    const struct linger reset = {.l_onoff = 1};
    assert_int_equal(setsockopt(streams[ALL - 2], SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
    close(streams[ALL - 1]);
    close(streams[ALL - 2]);
    other = say(&w, 1 + ALL / EACH, STREAM);
    expect(read_until(other, "id: "), "HTTP/1.1 200 OK\r\n");
    const int third = say(&w, 2 + ALL / EACH, STREAM);
    expect(read_until(third, "id: "), "HTTP/1.1 200 OK\r\n");
    close(third);
    leat_http_destroy(w.http); /* with streams that are open */
    for (int i = 0; i < ALL - 2; i++) close(streams[i]);
    close(other);
}

/* The last stream has all that there is, and waits for more. */
static void until_idle(world *w) {
    while (atomic_load(&w->idle_at) != atomic_load(&w->number)) rest();
    (void)leat_http_streams(w->http); /* a lock later: the library waits, too */
}

static void news_comments_and_resume(void **state) {
    world w = {.number = 2};
    char byte;
    (void)state;
    begin(&w);
    int s = say(&w, 1, "GET /stream HTTP/1.1\r\nHost: here\r\nLast-Event-ID: 1\r\n\r\n");
    const char *text = read_until(s, "id: 2\n\n");
    assert_null(strstr(text, "id: 1\n"));
    until_idle(&w);
    pass(&w, LEAT_HTTP_COMMENT_MS);
    wake(&w);
    expect(read_until(s, "nothing new\n\n\r\n"), ": nothing new");
    until_idle(&w);
    pass(&w, LEAT_HTTP_COMMENT_MS - 1); /* too early for the next one */
    wake(&w);
    assert_int_equal(recv(s, &byte, 1, MSG_DONTWAIT), -1);
    atomic_store(&w.number, 3);
    wake(&w);
    text = read_until(s, "id: 3\n\n");
    assert_null(strstr(text, "nothing new"));
    close(s);
    leat_http_destroy(w.http);
}

/* A reader that takes nothing is dropped; one that does is not. */
static void slow_readers(void **state) {
    world w = {.number = 1, .event_bytes = 1000000};
    char some[65536];
    (void)state;
    begin(&w);
    const int slow = say(&w, 1, STREAM);
    read_until(slow, "id: 1\n");
    const int quick = say(&w, 2, STREAM);
    while (atomic_load(&w.idle_at) == 0) {
        while (recv(quick, some, sizeof some, MSG_DONTWAIT) > 0) continue;
        rest();
    }
    assert_int_equal(leat_http_streams(w.http), 2);
    pass(&w, LEAT_HTTP_SLOW_MS - 1);
    wake(&w);
    until_idle(&w);
    assert_int_equal(leat_http_streams(w.http), 2);
    pass(&w, 1);
    wake(&w);
    while (leat_http_streams(w.http) == 2) rest();
    assert_int_equal(leat_http_streams(w.http), 1);
    while (recv(slow, some, sizeof some, 0) > 0) continue; /* what was on its way, then its end */
    atomic_store(&w.number, 2);
    wake(&w);
    read_until(quick, "id: 2\n");
    close(slow);
    close(quick);
    leat_http_destroy(w.http);
}

static bool has_ended(int s) {
    char byte;
    const ssize_t got = recv(s, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

/* The first one of a connection has less. */
static void late_first_requests(void **state) {
    world w = {0};
    (void)state;
    begin(&w);
    const int silent = say(&w, 1, ""), slow = say(&w, 1, "GET /x HTTP/1.1\r\nHos");
    const int asked = say(&w, 1, "GET /a HTTP/1.1\r\nHost: here\r\n\r\n");
    read_until(asked, "/a|here");
    pass(&w, LEAT_HTTP_FIRST_MS - 1);
    wake(&w);
    expect(ask(&w, "GET /page HTTP/1.1\r\n" CLOSE), "/page|here");
    assert_false(has_ended(silent));
    assert_int_equal(send(slow, "t", 1, MSG_NOSIGNAL), 1);
    pass(&w, 1);
    wake(&w);
    while (!has_ended(silent) || !has_ended(slow)) rest();
    assert_false(has_ended(asked));
    close(silent);
    close(slow);
    close(asked);
    leat_http_destroy(w.http);
}

static void say_more(int s, const char *text) {
    assert_int_equal(send(s, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* A request has its time, however it is sent: byte by byte it is no longer. */
static void late_requests(void **state) {
    world w = {.number = 1};
    (void)state;
    begin(&w);
    const int slow = say(&w, 1, "GET /w HTTP/1.1\r\nHost: here\r\n\r\nGET /x HTTP/1.1\r\nHos");
    read_until(slow, "/w|here");
    const int stream = say(&w, 1, STREAM);
    read_until(stream, "id: 1\n");
    const int again = say(&w, 1, "GET /a HTTP/1.1\r\nHost: here\r\n\r\n");
    read_until(again, "/a|here");
    pass(&w, LEAT_HTTP_ASK_MS / 2);
    wake(&w);
    say_more(again, "GET /b HTTP/1.1\r\nHost: here\r\n\r\n");
    read_until(again, "/b|here");
    pass(&w, LEAT_HTTP_ASK_MS / 2);
    assert_int_equal(send(slow, "t", 1, MSG_NOSIGNAL), 1);
    wake(&w);
    while (!has_ended(slow)) rest();
    assert_false(has_ended(stream));
    say_more(again, "GET /c HTTP/1.1\r\nHost: here\r\n\r\n");
    read_until(again, "/c|here");
    while (!has_ended(again)) { /* the answer is there before the server counts from its end */
        pass(&w, LEAT_HTTP_ASK_MS);
        wake(&w);
        rest();
    }
    assert_int_equal(leat_http_streams(w.http), 1);
    close(slow);
    close(stream);
    close(again);
    leat_http_destroy(w.http);
}

/* Who has many connections gets no more; others do, and one that ends makes place. */
static void many_connections(void **state) {
    enum { EACH = LEAT_HTTP_CONNECTIONS_EACH };
    int held[EACH];
    world w = {0};
    (void)state;
    begin(&w);
    for (int i = 0; i < EACH; i++) {
        held[i] = say(&w, 3, "GET /w HTTP/1.1\r\nHost: here\r\n\r\nGET /x HTTP/1.1\r\n");
        read_until(held[i], "/w|here");
    }
    const int more = say(&w, 3, "");
    while (!has_ended(more)) rest();
    close(more);
    expect(ask(&w, "GET /page HTTP/1.1\r\n" CLOSE), "/page|here");
    assert_int_equal(send(held[0], CLOSE, strlen(CLOSE), MSG_NOSIGNAL), (ssize_t)strlen(CLOSE));
    expect(read_until(held[0], "no such text"), "/x|here");
    expect(ask(&w, "GET /page HTTP/1.1\r\n" CLOSE), "/page|here"); /* after its end was seen */
    const int again = say(&w, 3, "GET /y HTTP/1.1\r\n" CLOSE);
    expect(read_until(again, "no such text"), "/y|here");
    close(again);
    for (int i = 0; i < EACH; i++) close(held[i]);
    leat_http_destroy(w.http);
}

/* Connections that ask nothing keep nobody out: those of one address. */
static void silent_connections(void **state) {
    enum { EACH = LEAT_HTTP_SILENT_EACH };
    int held[EACH + 1];
    world w = {0};
    (void)state;
    begin(&w);
    const int asked = say(&w, 3, "GET /a HTTP/1.1\r\nHost: here\r\n\r\n");
    read_until(asked, "/a|here");
    for (int i = 0; i <= EACH; i++) held[i] = say(&w, 3, i % 2 == 0 ? "" : "GET /x HTTP/1.1\r\n");
    while (!has_ended(held[0])) rest();
    expect(ask(&w, "GET /page HTTP/1.1\r\n" CLOSE), "/page|here");
    for (int i = 1; i <= EACH; i++) assert_false(has_ended(held[i]));
    assert_false(has_ended(asked));
    /* with its own address, too: one of the silent ones ends */
    const int again = say(&w, 3, "GET /y HTTP/1.1\r\n" CLOSE);
    expect(read_until(again, "no such text"), "/y|here");
    while (!has_ended(held[1])) rest();
    for (int i = 0; i <= EACH; i++) close(held[i]);
    close(again);
    close(asked);
    leat_http_destroy(w.http);
}

/* And those of many. */
static void all_silent(void **state) {
    enum { EACH = LEAT_HTTP_SILENT_EACH, FULL = LEAT_HTTP_SILENT_FULL };
    int all[FULL];
    world w = {0};
    (void)state;
    begin(&w);
    const int asked = say(&w, 3, "GET /a HTTP/1.1\r\nHost: here\r\n\r\n");
    read_until(asked, "/a|here");
    for (int i = 0; i < FULL; i++) all[i] = say(&w, 4 + i / EACH, "");
    expect(ask(&w, "GET /page HTTP/1.1\r\n" CLOSE), "/page|here");
    while (!has_ended(all[0])) rest();
    assert_false(has_ended(all[FULL - 1]));
    assert_false(has_ended(asked));
    for (int i = 0; i < FULL; i++) close(all[i]);
    close(asked);
    leat_http_destroy(w.http);
}

/* The server does nothing until `release`: what comes meanwhile, it finds all at once. */
static int hold(world *w) {
    atomic_store(&w->holds, true);
    atomic_store(&w->asked, 0);
    const int s = say(w, 2, "GET /hold HTTP/1.1\r\n" CLOSE);
    while (atomic_load(&w->asked) == 0) rest();
    return s;
}

static void release(world *w, int held) {
    atomic_store(&w->holds, false);
    expect(read_until(held, "no such text"), "/hold|here");
    close(held);
}

/* Connections that have asked for something, 40 from each address. */
static void ask_and_keep(const world *w, int first, int count, int *out) {
    for (int i = 0; i < count; i++) {
        out[i] =
            say(w, first + i / LEAT_HTTP_CONNECTIONS_EACH, "GET /w HTTP/1.1\r\nHost: h\r\n\r\n");
        read_until(out[i], "/w|h");
    }
}

static void close_all(const int *all, int count) {
    for (int i = 0; i < count; i++) close(all[i]);
}

/* Each of 30 requests at once is answered: all from one address, or each from another. */
static void expect_burst(world *w, int first, int step) {
    enum { BURST = 30 };
    int all[BURST];
    const int held = hold(w);
    for (int i = 0; i < BURST; i++) all[i] = say(w, first + i * step, "GET /x HTTP/1.1\r\n" CLOSE);
    release(w, held);
    for (int i = 0; i < BURST; i++) expect(read_until(all[i], "no such text"), "/x|here");
    close_all(all, BURST);
}

/* A request that has arrived and was not read yet is one, however many come at once. */
static void bursts(void **state) {
    enum { FULL = LEAT_HTTP_SILENT_FULL };
    int all[FULL];
    world w = {0};
    (void)state;
    begin(&w);
    expect_burst(&w, 3, 0);
    ask_and_keep(&w, 4, FULL, all);
    expect_burst(&w, 10, 1);
    for (int i = 0; i < FULL; i++) assert_false(has_ended(all[i]));
    leat_http_destroy(w.http);
    close_all(all, FULL);
}

/* Whoever is refused pushes nobody out, but may take the place of an own one that asks nothing. */
static void refused_connections(void **state) {
    enum { EACH = LEAT_HTTP_CONNECTIONS_EACH, SILENT = LEAT_HTTP_SILENT_FULL - 2 * EACH };
    int asked[2 * EACH], silent[SILENT];
    world w = {0};
    (void)state;
    begin(&w);
    ask_and_keep(&w, 3, 2 * EACH, asked);
    for (int i = 0; i < SILENT; i++) silent[i] = say(&w, 5 + i / LEAT_HTTP_SILENT_EACH, "");
    const int more = say(&w, 3, "");
    while (!has_ended(more)) rest();
    assert_false(has_ended(silent[0]));
    expect(ask(&w, "GET /page HTTP/1.1\r\n" CLOSE), "/page|here"); /* for which it ends */
    while (!has_ended(silent[0])) rest();
    for (int i = 1; i < SILENT; i++) assert_false(has_ended(silent[i]));
    assert_int_equal(shutdown(asked[0], SHUT_RDWR), 0);
    read_until(asked[0], "no such text");
    expect(ask(&w, "GET /page HTTP/1.1\r\n" CLOSE), "/page|here"); /* after that end was seen */
    const int own_silent = say(&w, 3, "");
    const int again = say(&w, 3, "GET /y HTTP/1.1\r\n" CLOSE);
    expect(read_until(again, "no such text"), "/y|here");
    while (!has_ended(own_silent)) rest();
    close(more);
    close(own_silent);
    close(again);
    close_all(asked, 2 * EACH);
    close_all(silent, SILENT);
    leat_http_destroy(w.http);
}

/* A stream that was closed, though its browser had asked for more behind it. */
static void closed_behind_bytes(void **state) {
    world w = {.number = 1};
    (void)state;
    begin(&w);
    const int s = say(&w, 1, STREAM STREAM);
    read_until(s, "id: 1\n");
    until_idle(&w);
    assert_int_equal(shutdown(s, SHUT_WR), 0);
    while (leat_http_streams(w.http) > 0) {
        wake(&w);
        rest();
    }
    close(s);
    leat_http_destroy(w.http);
}

static void taken_port(void **state) {
    world w = {0}, again = {0};
    (void)state;
    begin(&w);
    const leat_http_options options = {
        .place = {4, {127, 0, 0, 1}, w.port}, .cookie = "it", .own = &own, .user = &again};
    assert_fails(leat_http_create(&again.http, &options, &again.port, err), LEAT_ERR_OPTION,
                 "another program listens there");
    assert_null(again.http);
    const leat_http_options far = {
        .place = {4, {192, 0, 2, 1}, 0}, .cookie = "it", .own = &own, .user = &again};
    assert_fails(leat_http_create(&again.http, &far, &again.port, err), LEAT_ERR_OPTION,
                 "no such address");
    leat_http_destroy(w.http);
    leat_http_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(limits),
        cmocka_unit_test(news_comments_and_resume),
        cmocka_unit_test(slow_readers),
        cmocka_unit_test(late_first_requests),
        cmocka_unit_test(late_requests),
        cmocka_unit_test(closed_behind_bytes),
        cmocka_unit_test(many_connections),
        cmocka_unit_test(silent_connections),
        cmocka_unit_test(all_silent),
        cmocka_unit_test(bursts),
        cmocka_unit_test(refused_connections),
        cmocka_unit_test(taken_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
