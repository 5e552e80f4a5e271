/* Events of streams: each text once, also for a stream that was interrupted. */
#include "check.h"

#include <stdio.h>

#include "dash/news.h"

static const char *next(leat_news *news, leat_http_cursor *cursor, leat_buf *out) {
    out->size = 0;
    assert_ok(leat_news_next(news, cursor, out, err));
    assert_ok(leat_buf_append(out, "", 1, err));
    return (const char *)out->data;
}

static void publish(leat_news *news, int document, const char *text) {
    assert_ok(leat_news_publish(news, document, text, (int64_t)strlen(text), err));
}

static void each_once(void **state) {
    leat_news news;
    leat_http_cursor cursor = {0};
    leat_buf out = {0};
    char wanted[256];
    (void)state;
    assert_ok(leat_news_create(&news, err));
    news.start = 0x0123456789abcdef;
    assert_string_equal(next(&news, &cursor, &out), "");
    publish(&news, LEAT_NEWS_FACTS, "{\"step\":1}\n");
    publish(&news, LEAT_NEWS_CURVES, "{}");
    snprintf(wanted, sizeof wanted, "%s%s",
             "event: facts\nid: 0123456789abcdef-1-0\ndata: {\"step\":1}\n\n",
             "event: curves\nid: 0123456789abcdef-1-1\ndata: {}\n\n");
    assert_string_equal(next(&news, &cursor, &out), wanted);
    assert_string_equal(next(&news, &cursor, &out), "");
    publish(&news, LEAT_NEWS_FACTS, "{\"step\":1}\n"); /* the same text is no news */
    assert_string_equal(next(&news, &cursor, &out), "");
    publish(&news, LEAT_NEWS_FACTS, "{\"step\":2}");
    publish(&news, LEAT_NEWS_FACTS, "{\"step\":3}"); /* of two the newest */
    assert_string_equal(next(&news, &cursor, &out),
                        "event: facts\nid: 0123456789abcdef-3-1\ndata: {\"step\":3}\n\n");
    leat_buf_free(&out);
    leat_news_destroy(&news);
}

static void resumed(void **state) {
    static const char *const strange[] = {
        "",
        "x",
        "0123456789abcdef-",
        "0123456789abcdef-1",
        "0123456789abcdef-1-",
        "0123456789abcdef-1-1x",
        "0123456789abcdef--1-1",
        "0123456789abcdef-1--1",
        "0123456789abcdef-1-1-1",
        "0123456789abcdef- 1-1",
        "0123456789abcdee-1-1",
        "0123456789abcdef-3-1", /* a number that no text has had */
        "0123456789abcdef-1-99999999999999999999999999999999999999999999999999999999999999999999",
    };
    leat_news news;
    (void)state;
    assert_ok(leat_news_create(&news, err));
    news.start = 0x0123456789abcdef;
    publish(&news, LEAT_NEWS_FACTS, "1");
    publish(&news, LEAT_NEWS_FACTS, "2");
    publish(&news, LEAT_NEWS_CURVES, "1");
    leat_http_cursor cursor = leat_news_parse(&news, "0123456789abcdef-1-1");
    assert_int_equal(cursor.seen[0], 1);
    assert_int_equal(cursor.seen[1], 1);
    leat_buf out = {0};
    assert_string_equal(next(&news, &cursor, &out),
                        "event: facts\nid: 0123456789abcdef-2-1\ndata: 2\n\n");
    leat_buf_free(&out);
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        cursor = leat_news_parse(&news, strange[i]);
        if (cursor.seen[0] != 0 || cursor.seen[1] != 0) fail_msg("read: \"%s\"", strange[i]);
    }
    cursor = leat_news_parse(&news, NULL);
    assert_int_equal(cursor.seen[0] + cursor.seen[1], 0);
    leat_news_destroy(&news);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_once), cmocka_unit_test(resumed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
