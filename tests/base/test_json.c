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
#include "base/rng.h"

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
    json_t *nul = NULL; /* jansson passes over one behind a number */
    assert_int_equal(leat_json_parse("[1\0]", 4, "doc", &nul, NULL), LEAT_ERR_CORRUPT);
    assert_null(nul);
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
    double real = -1;
    assert_int_equal(leat_json_get_double(root, "r", &real, "doc", NULL), LEAT_OK);
    assert_true(real == 5);
    assert_int_equal(leat_json_get_double(root, "n", &real, "doc", NULL), LEAT_OK);
    assert_int_equal(leat_json_get_double(root, "s", &real, "doc", NULL), LEAT_ERR_CORRUPT);
    assert_true(real == 0);
    assert_int_equal(leat_json_get_double(root, "m", &real, "doc", &err), LEAT_ERR_CORRUPT);
    assert_string_equal(err.message, "doc: member \"m\" is missing");
    assert_int_equal(leat_json_expect_string(root, "s", "x", "doc", NULL), LEAT_OK);
    assert_int_equal(leat_json_expect_string(root, "n", "5", "doc", NULL), LEAT_ERR_CORRUPT);
    assert_int_equal(leat_json_expect_string(root, "s", "xy", "doc", &err), LEAT_ERR_CORRUPT);
    assert_string_equal(err.message, "doc: member \"s\" is \"x\"; it must be \"xy\"");
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
    leat_json_member_doubles(json, "three", (const double[]){2, NAN, -0.25}, 3);
    leat_json_member_doubles(json, "none", NULL, 0);
    leat_json_end_object(json);
}

static void document(void **state) {
    (void)state;
    static const char *const expected[2] = {
        "{\n  \"text\": \"a\\\"b\\\\c\\n\\t\\u0001/\x7f\",\n  \"least\": -9223372036854775808,\n"
        "  \"empty\": {},\n  \"list\": [\n    0.1,\n    null,\n    [],\n    false\n  ],\n"
        "  \"yes\": true,\n  \"three\": [\n    2.0,\n    null,\n    -0.25\n  ],\n"
        "  \"none\": []\n}\n",
        "{\"text\":\"a\\\"b\\\\c\\n\\t\\u0001/\x7f\",\"least\":-9223372036854775808,\"empty\":{},"
        "\"list\":[0.1,null,[],false],\"yes\":true,\"three\":[2.0,null,-0.25],\"none\":[]}\n",
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
        {0, "0.0"},
        {1, "1.0"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {0.9, "0.9"},
        {123456789, "123456789.0"},
        {1e300, "1.0e+300"},
        {5e-324, "5.0e-324"},
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

/* ---- documents in pieces ---- */

/* Walks an object or array down to its last value; duplicate keys are refused as jansson does. */
static leat_code walk_down(leat_json_span text, int depth) {
    leat_json_walk walk;
    json_t *seen = NULL, *value = NULL;
    bool more = true, object = text.size_bytes > 0 && text.text[0] == '{';
    LEAT_TRY(object ? leat_json_walk_object(&walk, text, "doc", NULL)
                    : leat_json_walk_array(&walk, text, "doc", NULL));
    seen = json_object();
    leat_code code = LEAT_OK;
    while (code == LEAT_OK) {
        code = leat_json_walk_next(&walk, &more, NULL);
        if (code != LEAT_OK || !more) break;
        if (object && json_object_get(seen, walk.key) != NULL) code = LEAT_ERR_CORRUPT;
        if (object) json_object_set_new(seen, walk.key, json_null());
        if (code != LEAT_OK) break;
        if (depth < 16 && strchr("{[", walk.value.text[0]) != NULL) {
            code = walk_down(walk.value, depth + 1);
        } else {
            code = leat_json_walk_value(&walk, 1000, &value, NULL);
            json_decref(value);
        }
    }
    json_decref(seen);
    return code;
}

/* What the walk accepts is what jansson accepts, for a document with a few bytes changed. */
static void walk_equals_parse(void **state) {
    (void)state;
    static const char good[] =
        " {\"a\": {\"b\": [], \"c\\u0041\\\\\": [1, -2.5e3, \"x\\\"]\", {}]}, "
        "\"d\":null,\"\":[[true] , {\"e\": false}]}\n";
    static const char bytes[] = " {}[],:\"\\ab01.eE-+tfnu\n\xc3\0";
    int64_t accepted = 0;
    uint64_t draws = 0;
    for (int round = 0; round < 200000; round++) {
        char text[sizeof good];
        int64_t size = (int64_t)sizeof good - 1;
        memcpy(text, good, sizeof good);
        for (int i = round % 4; i > 0; i--) {
            int64_t at = (int64_t)leat_random_below(leat_random_at(7, draws++), (uint64_t)size);
            text[at] = bytes[leat_random_below(leat_random_at(7, draws++), sizeof bytes - 1)];
        }
        if (round % 3 == 0) size -= (int64_t)leat_random_below(leat_random_at(7, draws++), 4);
        int64_t blanks = (int64_t)strspn(text, " \n");
        json_t *value = NULL;
        leat_code whole = leat_json_parse(text, size, "doc", &value, NULL);
        leat_code pieces = walk_down((leat_json_span){text + blanks, size - blanks}, 0);
        json_decref(value);
        accepted += whole == LEAT_OK;
        if (whole != pieces)
            fail_msg("round %d: %d, walked %d: %.*s", round, whole, pieces, (int)size, text);
    }
    assert_in_range(accepted, 1000, 199000);
}

static void split(void **state) {
    (void)state;
    static const char *const large[] = {"big", "other"};
    static const struct {
        const char *text, *message; /* NULL: it is read */
    } cases[] = {
        {"{}", NULL},
        {"{\"big\": [1, 2 ], \"s\": 1, \"t\": \"ab\"}", NULL},
        {"{\"big\": 1, \"big\": 1}", "duplicate key \"big\""},
        {"{\"s\": 1, \"s\": 1}", "duplicate key \"s\""},
        {"{\"s\": {\"s\": 1, \"s\": 2}}", "duplicate"},
        {"{\"s\": [1,2], \"t\": [1,2,3,4,5,6,7,8]}",
         "item 1, \"t\", has 17 bytes; the limit is 15"},
        {"[]", "not a JSON object"},
        {"", "not a JSON object"},
        {"{\"s\": 1} {}", "text after the end"},
        {"{\"s\": 1,}", "a key is missing"},
        {"{\"s\" 1}", "a colon is missing"},
        {"{\"s\": }", "a value is missing"},
        {"{\"s\": 1", "ends too early"},
        {"{\"s\": 1 \"t\": 1}", "a comma is missing"},
        {"{\"s\": 01}", "is not valid JSON"},
        {"{\"s\": -}", "is not valid JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_json_span text = {cases[i].text, (int64_t)strlen(cases[i].text)}, spans[2];
        leat_error err = {0};
        json_t *root = (json_t *)1;
        leat_code code =
            leat_json_split(text, (leat_json_large){large, 2, spans}, 20, "doc", &root, &err);
        if (cases[i].message == NULL) {
            assert_int_equal(code, LEAT_OK);
            assert_int_equal(spans[0].size_bytes, i == 0 ? 0 : 7);
            assert_int_equal(json_object_size(root), i == 0 ? 0 : 2);
            json_decref(root);
        } else {
            assert_int_equal(code, LEAT_ERR_CORRUPT);
            if (strstr(err.message, cases[i].message) == NULL) fail_msg("%s", err.message);
            assert_null(root);
            assert_null(spans[0].text);
        }
        assert_null(spans[1].text);
    }
    char key[LEAT_JSON_KEY_BYTES + 16];
    for (int size = LEAT_JSON_KEY_BYTES - 1; size <= LEAT_JSON_KEY_BYTES; size++) {
        leat_json_span span;
        json_t *root = NULL;
        snprintf(key, sizeof key, "{\"%0*d\":1}", size, 7);
        leat_json_span text = {key, (int64_t)strlen(key)};
        leat_code code =
            leat_json_split(text, (leat_json_large){NULL, 0, &span}, 8, "doc", &root, NULL);
        assert_int_equal(code, size < LEAT_JSON_KEY_BYTES ? LEAT_OK : LEAT_ERR_CORRUPT);
        json_decref(root);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_table),       cmocka_unit_test(members),
        cmocka_unit_test(document),          cmocka_unit_test(texts),
        cmocka_unit_test(doubles),           cmocka_unit_test(misuse),
        cmocka_unit_test(walk_equals_parse), cmocka_unit_test(split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
