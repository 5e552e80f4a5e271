/* JSON: documents that are read and refused, the writer's bytes, its refusal of wrong calls. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static void parse_table(void **state) {
    (void)state;
    static const struct {
        const char *text;
        leat_code code;
    } cases[] = {
        {"{}", LEAT_OK},
        {"[1, 2.5, \"\\u00e4\", null, true]", LEAT_OK},
        {" {\"a\": {\"b\": []}} \n", LEAT_OK},
        {"", LEAT_ERR_CORRUPT},
        {"{", LEAT_ERR_CORRUPT},
        {"{} x", LEAT_ERR_CORRUPT},
        {"{} {}", LEAT_ERR_CORRUPT},
        {"{\"a\":1,\"a\":2}", LEAT_ERR_CORRUPT},
        {"{\"a\":1,}", LEAT_ERR_CORRUPT},
        {"{'a':1}", LEAT_ERR_CORRUPT},
        {"{\"a\":NaN}", LEAT_ERR_CORRUPT},
        {"{\"a\":\"\xff\"}", LEAT_ERR_CORRUPT},
        {"{\"a\":\"\\u0000\"}", LEAT_ERR_CORRUPT},
        {"{\"a\":99999999999999999999}", LEAT_ERR_CORRUPT},
        {"{\"a\":1e999}", LEAT_ERR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *value = (json_t *)1;
        leat_error err = {0};
        leat_code code =
            leat_json_parse(cases[i].text, (int64_t)strlen(cases[i].text), "doc", &value, &err);
        if (code != cases[i].code) fail_msg("%s: code %d: %s", cases[i].text, code, err.message);
        if (code != LEAT_OK) {
            assert_null(value);
            assert_non_null(strstr(err.message, "doc"));
        }
        json_decref(value);
    }
    /* nesting without end must not run into the stack */
    enum { DEEP = 100000 };
    static char deep[DEEP];
    memset(deep, '[', sizeof(deep));
    json_t *value = NULL;
    assert_int_equal(leat_json_parse(deep, DEEP, "doc", &value, NULL), LEAT_ERR_CORRUPT);
}

static void members(void **state) {
    (void)state;
    static const char text[] = "{\"n\": 5, \"s\": \"x\", \"a\": [1], \"o\": {}, \"r\": 5.0}";
    json_t *root = NULL;
    int64_t number = -1;
    const char *words = NULL;
    const json_t *inner = NULL;
    assert_int_equal(leat_json_parse(text, sizeof(text) - 1, "doc", &root, NULL), LEAT_OK);
    assert_int_equal(leat_json_get_int(root, "n", 0, 5, &number, "doc", NULL), LEAT_OK);
    assert_int_equal(number, 5);
    assert_int_equal(leat_json_get_int(root, "n", 0, 4, &number, "doc", NULL), LEAT_ERR_CORRUPT);
    assert_int_equal(number, 0);
    assert_int_equal(leat_json_get_int(root, "n", 6, 9, &number, "doc", NULL), LEAT_ERR_CORRUPT);
    assert_int_equal(leat_json_get_int(root, "r", 0, 9, &number, "doc", NULL), LEAT_ERR_CORRUPT);
    leat_error err = {0};
    assert_int_equal(leat_json_get_int(root, "m", 0, 9, &number, "doc", &err), LEAT_ERR_CORRUPT);
    assert_string_equal(err.message, "doc: member \"m\" is missing");
    assert_int_equal(leat_json_get_string(root, "s", &words, "doc", NULL), LEAT_OK);
    assert_string_equal(words, "x");
    assert_int_equal(leat_json_get_string(root, "n", &words, "doc", NULL), LEAT_ERR_CORRUPT);
    assert_null(words);
    assert_int_equal(leat_json_get_array(root, "a", &inner, "doc", NULL), LEAT_OK);
    assert_int_equal(leat_json_get_array(root, "o", &inner, "doc", NULL), LEAT_ERR_CORRUPT);
    assert_null(inner);
    assert_int_equal(leat_json_get_object(root, "o", &inner, "doc", NULL), LEAT_OK);
    assert_int_equal(leat_json_get_object(root, "a", &inner, "doc", NULL), LEAT_ERR_CORRUPT);
    json_decref(root);
}

static void write_document(leat_json *json) {
    leat_json_begin_object(json);
    leat_json_member_string(json, "text", "a\"b\\c\n\t\x01/\x7f");
    leat_json_member_int(json, "least", INT64_MIN);
    leat_json_key(json, "empty");
    leat_json_begin_object(json);
    leat_json_end_object(json);
    leat_json_key(json, "list");
    leat_json_begin_array(json);
    leat_json_double(json, 0.1);
    leat_json_null(json);
    leat_json_begin_array(json);
    leat_json_end_array(json);
    leat_json_bool(json, false);
    leat_json_end_array(json);
    leat_json_member_bool(json, "yes", true);
    leat_json_end_object(json);
}

static void document(void **state) {
    (void)state;
    static const char *const expected[2] = {
        "{\n  \"text\": \"a\\\"b\\\\c\\n\\t\\u0001/\x7f\",\n  \"least\": -9223372036854775808,\n"
        "  \"empty\": {},\n  \"list\": [\n    0.1,\n    null,\n    [],\n    false\n  ],\n"
        "  \"yes\": true\n}\n",
        "{\"text\":\"a\\\"b\\\\c\\n\\t\\u0001/\x7f\",\"least\":-9223372036854775808,\"empty\":{},"
        "\"list\":[0.1,null,[],false],\"yes\":true}\n",
    };
    for (int compact = 0; compact < 2; compact++) {
        leat_json *json = NULL;
        const char *text = NULL;
        int64_t size_bytes = 0;
        json_t *root = NULL;
        assert_int_equal(leat_json_create(&json, compact == 1, NULL), LEAT_OK);
        write_document(json);
        assert_int_equal(leat_json_finish(json, &text, &size_bytes, NULL), LEAT_OK);
        assert_string_equal(text, expected[compact]);
        assert_int_equal(size_bytes, strlen(text));
        assert_int_equal(leat_json_parse(text, size_bytes, "own", &root, NULL), LEAT_OK);
        json_decref(root);
        leat_json_destroy(json);
    }
}

/* The text of one value, "" if it was refused. */
static void one_value(char *out, size_t out_bytes, const char *bytes, int64_t size, double value) {
    leat_json *json = NULL;
    const char *text = NULL;
    int64_t size_bytes = 0;
    assert_int_equal(leat_json_create(&json, true, NULL), LEAT_OK);
    if (bytes != NULL) leat_json_text(json, bytes, size);
    else leat_json_double(json, value);
    assert_int_equal(leat_json_finish(json, &text, &size_bytes, NULL), LEAT_OK);
    snprintf(out, out_bytes, "%.*s", (int)size_bytes - 1, text);
    leat_json_destroy(json);
}

static void texts(void **state) {
    (void)state;
#define BAD "\xef\xbf\xbd"
    static const struct {
        const char *in;
        int64_t size;
        const char *out;
    } cases[] = {
        {"", 0, "\"\""},
        {"a\0b", 3, "\"a\\u0000b\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\x80", 1, "\"" BAD "\""},
        {"a\xc3", 2, "\"a" BAD "\""},
        {"\xc0\x80", 2, "\"" BAD BAD "\""},
        {"\xe0\x80\x80", 3, "\"" BAD BAD BAD "\""},
        {"\xed\xa0\x80", 3, "\"" BAD BAD BAD "\""},
        {"\xf4\x90\x80\x80", 4, "\"" BAD BAD BAD BAD "\""},
        {"\xe2\x82z", 3, "\"" BAD BAD "z\""},
        {"\x1f\x20", 2, "\"\\u001f \""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[64];
        one_value(out, sizeof(out), cases[i].in, cases[i].size, 0);
        assert_string_equal(out, cases[i].out);
    }
}

static void doubles(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *out;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {0.9, "0.9"},
        {123456789, "123456789"},
        {1e300, "1e+300"},
        {5e-324, "5e-324"},
        {(double)NAN, "null"},
        {(double)INFINITY, "null"},
        {-(double)INFINITY, "null"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[64];
        one_value(out, sizeof(out), NULL, 0, cases[i].value);
        assert_string_equal(out, cases[i].out);
    }
}

/* Letters: { } [ ] brackets, k key, v value. */
static leat_code play(const char *calls) {
    leat_json *json = NULL;
    const char *text = NULL;
    int64_t size_bytes = 0;
    assert_int_equal(leat_json_create(&json, true, NULL), LEAT_OK);
    for (const char *at = calls; *at != 0; at++) {
        if (*at == '{') leat_json_begin_object(json);
        if (*at == '}') leat_json_end_object(json);
        if (*at == '[') leat_json_begin_array(json);
        if (*at == ']') leat_json_end_array(json);
        if (*at == 'k') leat_json_key(json, "k");
        if (*at == 'v') leat_json_int(json, 1);
    }
    leat_code code = leat_json_finish(json, &text, &size_bytes, NULL);
    assert_true(code == LEAT_OK ? text != NULL : text == NULL && size_bytes == 0);
    leat_json_destroy(json);
    return code;
}

static void misuse(void **state) {
    (void)state;
    static const struct {
        const char *calls;
        leat_code code;
    } cases[] = {
        {"v", LEAT_OK},           {"[vv]", LEAT_OK},       {"{kvkv}", LEAT_OK},
        {"{k[{kv}]}", LEAT_OK},   {"", LEAT_ERR_INPUT},    {"vv", LEAT_ERR_INPUT},
        {"{", LEAT_ERR_INPUT},    {"{]", LEAT_ERR_INPUT},  {"[}", LEAT_ERR_INPUT},
        {"]", LEAT_ERR_INPUT},    {"{v}", LEAT_ERR_INPUT}, {"{k}", LEAT_ERR_INPUT},
        {"{kk}", LEAT_ERR_INPUT}, {"[k]", LEAT_ERR_INPUT}, {"k", LEAT_ERR_INPUT},
        {"{}{}", LEAT_ERR_INPUT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (play(cases[i].calls) != cases[i].code) fail_msg("calls %s", cases[i].calls);
    }
    char deep[131] = {0};
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    assert_int_equal(play(deep), LEAT_ERR_INPUT);
    assert_int_equal(play(deep + 1), LEAT_ERR_INPUT); /* one ] too many */
    deep[129] = 0;
    assert_int_equal(play(deep + 1), LEAT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_table), cmocka_unit_test(members), cmocka_unit_test(document),
        cmocka_unit_test(texts),       cmocka_unit_test(doubles), cmocka_unit_test(misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
