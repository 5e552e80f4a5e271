/* base64: the examples of RFC 4648, all lengths there and back, and texts that are none. */
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "check.h"

static const struct {
    const char *bytes, *padded, *url;
} known[] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    {"\xfb\xff\xfe", "+//+", "-__-"},
};

static void examples(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int64_t size = (int64_t)strlen(known[i].bytes);
        char text[LEAT_BASE64_BYTES(6)];
        int64_t length = leat_base64_encode(text, known[i].bytes, size, LEAT_BASE64_PADDED);
        assert_string_equal(text, known[i].padded);
        assert_int_equal(length, strlen(text));
        length = leat_base64_encode(text, known[i].bytes, size, LEAT_BASE64_URL);
        assert_string_equal(text, known[i].url);
        assert_int_equal(length, strlen(text));
    }
}

/* Exactly the room that is promised is used: a byte after it stays. */
static void every_length(void **state) {
    enum { MOST = 200 };
    uint8_t bytes[MOST], back[(MOST / 3 + 2) * 3];
    char text[LEAT_BASE64_BYTES(MOST) + 1];
    (void)state;
    for (int i = 0; i < MOST; i++) bytes[i] = (uint8_t)(i * 77 + 3);
    for (int64_t size = 0; size <= MOST; size++) {
        int64_t got = -1;
        text[LEAT_BASE64_BYTES(size)] = '!';
        const int64_t padded = leat_base64_encode(text, bytes, size, LEAT_BASE64_PADDED);
        assert_int_equal(padded + 1, LEAT_BASE64_BYTES(size));
        assert_int_equal(text[LEAT_BASE64_BYTES(size)], '!');
        const int64_t length = leat_base64_encode(text, bytes, size, LEAT_BASE64_URL);
        memset(back, 0xaa, sizeof back);
        assert_int_equal(leat_base64_decode(back, &got, text, length), -1);
        assert_int_equal(got, size);
        assert_memory_equal(back, bytes, (size_t)size);
        assert_int_equal(back[(length / 4 + 1) * 3], 0xaa);
    }
}

static void refused(void **state) {
    static const struct {
        const char *text;
        int64_t wrong, bytes;
    } cases[] = {
        {"Zg", -1, 1},         {"Zh", 2, 1},     {"Z", 1, 0},     {"Zm8", -1, 2},
        {"Zm9", 3, 2},         {"Zm9vY", 5, 3},  {"Zg==", 2, 1},  {"Zm+v", 2, 1},
        {"Zm/v", 2, 1},        {"Zm9v\n", 4, 3}, {" Zm9v", 0, 0}, {"Zm9v Zm9v", 4, 3},
        {"Zm\xc3\xb6v", 2, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t out[9];
        int64_t bytes = -1;
        const int64_t length = (int64_t)strlen(cases[i].text);
        assert_int_equal(leat_base64_decode(out, &bytes, cases[i].text, length), cases[i].wrong);
        assert_int_equal(bytes, cases[i].bytes);
    }
    uint8_t out[3];
    int64_t bytes = -1;
    assert_int_equal(leat_base64_decode(out, &bytes, "Zm\0v", 4), 2);
    assert_int_equal(leat_base64_digit('=', LEAT_BASE64_PADDED), -1);
    assert_int_equal(leat_base64_digit('-', LEAT_BASE64_PADDED), -1);
    assert_int_equal(leat_base64_digit('/', LEAT_BASE64_PADDED), 63);
    assert_int_equal(leat_base64_digit('_', LEAT_BASE64_URL), 63);
}

static void in_a_text(void **state) {
    leat_textbuf *text = NULL;
    const char *words = NULL;
    int64_t size = 0;
    (void)state;
    assert_ok(leat_textbuf_create(&text, err));
    leat_textbuf_put(text, "data:;base64,");
    leat_textbuf_base64(text, "foob", 4);
    leat_textbuf_base64(text, NULL, 0);
    leat_textbuf_put(text, "\"");
    assert_ok(leat_textbuf_finish(text, &words, &size, err));
    assert_string_equal(words, "data:;base64,Zm9vYg==\"");
    assert_int_equal(size, strlen(words));
    leat_textbuf_destroy(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples), cmocka_unit_test(every_length),
                                       cmocka_unit_test(refused), cmocka_unit_test(in_a_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
