/* Text from outside as it is shown: what is escaped and what stays, in messages too. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/escape.h"
#include "check.h"

static const struct {
    const char *text, *words, *json;
} cases[] = {
    {"", "", ""},
    {"plain", "plain", "plain"},
    {"a\\b \"c\"", "a\\b \"c\"", "a\\b \"c\""}, /* quotes are whoever's asks to protect */
    {"z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80", "z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80",
     "z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\x1b]0;x\x07", "\\x1b]0;x\\x07", "\\u001b]0;x\\u0007"},
    {"a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd", "a\\u000ab\\u0009c\\u000dd"},
    {"\x7f", "\\x7f", "\\u007f"},
    {"\xc2\x9b"
     "2J",
     "\\u009b2J", "\\u009b2J"},
    {"\xc2\x80\xc2\x9f\xc2\xa0", "\\u0080\\u009f\xc2\xa0", "\\u0080\\u009f\xc2\xa0"},
    {"\xd8\x9c\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90",
     "\\u061c\xe2\x80\x8d\\u200e\\u200f\xe2\x80\x90",
     "\\u061c\xe2\x80\x8d\\u200e\\u200f\xe2\x80\x90"},
    {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf",
     "\xe2\x80\xa7\\u2028\\u2029\\u202a\\u202e\xe2\x80\xaf",
     "\xe2\x80\xa7\\u2028\\u2029\\u202a\\u202e\xe2\x80\xaf"},
    {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa",
     "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa"},
    {"\xff\xfe", "\\xff\\xfe", "\\ufffd\\ufffd"},
    {"\x9b"
     "1m",
     "\\x9b1m", "\\ufffd1m"},                     /* C1 as a byte */
    {"\xc0\x9b", "\\xc0\\x9b", "\\ufffd\\ufffd"}, /* too long a form */
    {"\xe0\x82\x9b", "\\xe0\\x82\\x9b", "\\ufffd\\ufffd\\ufffd"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\ufffd\\ufffd\\ufffd"}, /* half a surrogate pair */
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
    {"cut \xe2\x82", "cut \\xe2\\x82", "cut \\ufffd\\ufffd"},
};

static void escapes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t size = (int64_t)strlen(cases[i].text);
        char shown[256], again[256], json[256] = "";
        assert_int_equal(leat_text_show(shown, sizeof shown, cases[i].text, size), size);
        assert_string_equal(shown, cases[i].words);
        /* what was shown may be shown */
        leat_text_show(again, sizeof again, shown, (int64_t)strlen(shown));
        assert_string_equal(again, shown);
        for (int64_t at = 0; at < size;) {
            char escape[LEAT_ESCAPE_BYTES];
            int64_t clean = leat_text_clean(cases[i].text + at, size - at);
            strncat(json, cases[i].text + at, (size_t)clean);
            at += clean;
            if (at == size) break;
            at += leat_text_escape(cases[i].text + at, size - at, LEAT_ESCAPE_JSON, escape);
            strcat(json, escape);
        }
        assert_string_equal(json, cases[i].json);
    }
    char nul[16];
    assert_int_equal(leat_text_show(nul, sizeof nul, "a\0b", 3), 3);
    assert_string_equal(nul, "a\\x00b");
}

/* Every sequence of up to three bytes: what is shown is UTF-8 without anything to escape. */
static void all_short(void **state) {
    (void)state;
    for (uint32_t bytes = 0; bytes < 1 << 24; bytes += bytes < 1 << 16 ? 1 : 7) {
        const char text[3] = {(char)bytes, (char)(bytes >> 8), (char)(bytes >> 16)};
        char shown[64];
        assert_int_equal(leat_text_show(shown, sizeof shown, text, 3), 3);
        int64_t size = (int64_t)strlen(shown);
        if (leat_text_clean(shown, size) != size) fail_msg("%06x is shown as \"%s\"", bytes, shown);
    }
}

/* A text that does not fit ends after a whole character. */
static void cut_texts(void **state) {
    (void)state;
    static const char text[] = "a\xe2\x82\xac\x1b\xe2\x80\xae!";
    static const char *const shown[] = {"",
                                        "",
                                        "a",
                                        "a",
                                        "a",
                                        "a\xe2\x82\xac",
                                        "a\xe2\x82\xac",
                                        "a\xe2\x82\xac",
                                        "a\xe2\x82\xac",
                                        "a\xe2\x82\xac\\x1b"};
    for (int room = 1; room < 10; room++) {
        char out[32];
        memset(out, 'z', sizeof out);
        leat_text_show(out, room, text, (int64_t)strlen(text));
        assert_string_equal(out, shown[room]);
        assert_int_equal(out[room], 'z');
    }
}

static void shown_messages(void **state) {
    (void)state;
    leat_error err = {0};
    leat_fail(&err, LEAT_ERR_INPUT, "\"%s\" holds %s", "\x1b]0;x\x07\n.csv",
              "\xc2\x9b\xe2\x80\xae\xc3\xbc\xff");
    assert_string_equal(err.message,
                        "\"\\x1b]0;x\\x07\\x0a.csv\" holds \\u009b\\u202e\xc3\xbc\\xff");
    leat_error_context(&err, err.code, "\x1b[1m");
    assert_string_equal(err.message,
                        "\\x1b[1m: \"\\x1b]0;x\\x07\\x0a.csv\" holds \\u009b\\u202e\xc3\xbc\\xff");
    leat_fail_errno(&err, ENOENT, "cannot open \"%s\"", "\xe2\x80\xae");
    assert_string_equal(err.message, "cannot open \"\\u202e\": No such file or directory");
    /* a name that fills the message leaves the reason, and is not cut within a letter */
    char name[1500];
    for (int letter = 0; letter < 3; letter++) {
        size_t used = (size_t)letter;
        memset(name, 'x', used);
        for (; used + 3 < sizeof name; used += 3) memcpy(name + used, "\xe2\x82\xac", 3);
        name[used] = 0;
        leat_fail_errno(&err, EACCES, "%s", name);
        assert_non_null(strstr(err.message, "\xac: Permission denied"));
        leat_error_context(&err, err.code, "%s", name);
        assert_null(strchr(err.message, '\\'));
        leat_fail(&err, LEAT_ERR_INPUT, "%s", name);
        assert_null(strchr(err.message, '\\'));
        assert_true(strlen(err.message) > LEAT_MESSAGE_BYTES - 4);
    }
}

/* tests/cli and tests/oracle run commands with such words in a shell. */
static void shell_words(void **state) {
    static const struct {
        const char *text, *word;
    } rows[] = {{"id=ID:dec,data=D0..D7", "id=ID:dec,data=D0..D7"},
                {"a/b-c_d+1.csv", "a/b-c_d+1.csv"},
                {"", "''"},
                {"-x", "'-x'"},
                {"a b", "'a b'"},
                {"it's", "'it'\\''s'"},
                {"$HOME`x`\"\\", "'$HOME`x`\"\\'"},
                {"\xc3\xbc", "'\xc3\xbc'"},
                {"a\nb", NULL},
                {"a\x7f", NULL}};
    char out[32];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(leat_shell_word(out, sizeof out, rows[i].text), rows[i].word != NULL);
        assert_string_equal(out, rows[i].word != NULL ? rows[i].word : "");
    }
    assert_true(leat_shell_word(out, 6, "a b"));
    assert_false(leat_shell_word(out, 5, "a b"));
    assert_string_equal(out, "");
    assert_false(leat_shell_word(out, 1, ""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shell_words),    cmocka_unit_test(escapes),
        cmocka_unit_test(all_short),      cmocka_unit_test(cut_texts),
        cmocka_unit_test(shown_messages),
    };
    return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
