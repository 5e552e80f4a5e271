/* The scanner of JSON objects: cases, and the same fuzzed lines as jansson. */
#include "base/json_scan.h"

#include "check.h"
#include "json_reference.h"

/* ---- cases ---------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    bool object;
} cases[] = {
    {"{}", true},
    {" {\t} \r\n", true},
    {"{\"a\":1}", true},
    {"{\"a\":1,}", false},
    {"{,}", false},
    {"{\"a\" : [ 1 , { } , [ ] , \"x\" ] }", true},
    {"{\"a\":[1,]}", false},
    {"{\"a\":[,1]}", false},
    {"{\"a\":[1 2]}", false},
    {"{\"a\":[}", false},
    {"{\"a\":[1}", false},
    {"{\"a\":{1}}", false},
    {"{\"a\":{\"b\":1]}", false},
    {"{\"a\"}", false},
    {"{\"a\":}", false},
    {"{\"a\":1", false},
    {"{\"a\":1}}", false},
    {"{\"a\":1} x", false},
    {"{a:1}", false},
    {"[]", false},
    {"7", false},
    {"", false},
    {" ", false},
    {"{\"a\":01}", false},
    {"{\"a\":-}", false},
    {"{\"a\":+1}", false},
    {"{\"a\":1.}", false},
    {"{\"a\":.5}", false},
    {"{\"a\":1e}", false},
    {"{\"a\":1e+}", false},
    {"{\"a\":-0.0e-0}", true},
    {"{\"a\":0x1}", false},
    {"{\"a\":tru}", false},
    {"{\"a\":truex}", false},
    {"{\"a\":\"\t\"}", false},
    {"{\"a\":\"\x7f\"}", true},
    {"{\"a\":\"a longer text \x1f\"}", false},
    {"{\"a\":\"a longer text  \"}", true},
    {"{\"a\":\"\\x\"}", false},
    {"{\"a\":\"\\u12g4\"}", false},
    {"{\"a\":\"\\u12\"}", false},
    {"{\"a\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}", true},
    {"{\"a\":\"\xc3\"}", false},
    {"{\"a\":\"\xed\xa0\x80\"}", false},
    {"{\"a\":\"\xff\"}", false},
    {"\xef\xbb\xbf{}", false},
    /* values that nobody reads, however odd */
    {"{\"z\":111222333444555666777,\"y\":1e400,\"w\":-1e-400}", true},
    {"{\"z\":\"\\ud83d\",\"y\":\"\\ude00\",\"w\":\"a\\u0000b\",\"\\u0000\":1}", true},
    {"{\"z\":NaN,\"y\":[Infinity,-Infinity]}", true},
    {"{\"z\":\"caf\xe9\",\"y\":[\"\xff\xfe, and more of it\"],\"\x80\xa2\":1}", true},
    {"{\"z\":\"\xa2\xdc\x82\xfc\xa2\xdc\x9f\x80\\\"\xa2\",\"a\":\"\xc3\xa9\"}", true},
    {"{\"z\":\"\xa2\xdc\x82\xfc\xa2\xdc\x9f\x80\x1f\"}", false},
    {"{\"a\":[\"\xff\",{\"a\":\"\xff\"}]}", true},
    {"{\"a\":\"of more than eight bytes \xff\"}", false},
    {"{\"a\":1,\"rtt\":\"1234567\xc3\"}", false},
    {"{\"z\":1,\"z\":2}", true},
    {"{\"z\":nan}", false},
    {"{\"z\":NaNs}", false},
    {"{\"z\":-NaN}", false},
    {"{\"z\":Infinit}", false},
    {"{NaN:1}", false},
};

static void test_cases(void **state) {
    (void)state;
    leat_json_names names;
    leat_json_fields fields;
    json_reference_names(&names);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t size = (int64_t)strlen(cases[i].text);
        bool object = false;
        if (leat_json_scan(cases[i].text, size, &names, &fields) != cases[i].object)
            fail_msg("%s", cases[i].text);
        const char *differs = json_reference_differs(cases[i].text, size, &object);
        if (differs != NULL) fail_msg("%s: %s", cases[i].text, differs);
        /* no byte after a text is read, nor is an object complete before its end */
        for (int64_t cut = 0; cut < size; cut++) {
            char *part = malloc((size_t)cut + 1);
            memcpy(part, cases[i].text, (size_t)cut);
            part[cut] = '}';
            differs = json_reference_differs(part, cut, &object);
            if (differs != NULL) fail_msg("%.*s: %s", (int)cut, cases[i].text, differs);
            free(part);
        }
    }
}

static leat_json_slice member(const char *text, const char *name, bool *repeated) {
    leat_json_names names = {0};
    leat_json_fields fields;
    assert_int_equal(leat_json_names_add(&names, "other"), 0);
    assert_int_equal(leat_json_names_add(&names, name), 1);
    assert_int_equal(leat_json_names_add(&names, name), 1);
    if (!leat_json_scan(text, (int64_t)strlen(text), &names, &fields)) fail_msg("%s", text);
    *repeated = (fields.repeated & 2) != 0;
    return *leat_json_field(&fields, 1);
}

static void test_values(void **state) {
    (void)state;
    bool repeated = false;
    int64_t whole = 0;
    double real = 0;
    char text[64];
    leat_json_slice value = member("{\"a\":9223372036854775807}", "a", &repeated);
    assert_true(leat_json_read_int(&value, &whole) && whole == INT64_MAX);
    value = member("{\"a\":-9223372036854775808}", "a", &repeated);
    assert_true(leat_json_read_int(&value, &whole) && whole == INT64_MIN);
    static const char *const over[] = {"9223372036854775808",
                                       "-9223372036854775809",
                                       "18446744073709551616",
                                       "111222333444555666777",
                                       "1e400",
                                       "-1e400",
                                       "Infinity",
                                       "true",
                                       "\"1\"",
                                       "null",
                                       "[1]"};
    for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
        snprintf(text, sizeof text, "{\"a\":%s}", over[i]);
        value = member(text, "a", &repeated);
        assert_false(leat_json_read_int(&value, &whole));
        assert_false(leat_json_read_double(&value, &real));
    }
    /* found by any spelling of its name, and the first of several */
    value = member("{\"\\u0061b\":1,\"ab\":2,\"b\":3}", "ab", &repeated);
    assert_true(leat_json_read_int(&value, &whole) && whole == 1 && repeated);
    value = member("{\"b\":1,\"c\":1,\"b\":1}", "a", &repeated);
    assert_int_equal(value.kind, LEAT_JSON_MISSING);
    assert_false(repeated);
    static const char *const bad[] = {"\\ud83d", "\\ude00",  "\\ud83d\\u0041",
                                      "\\u0000", "\\ud83dx", "\\ud83d\\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "{\"a\":\"x%sy\"}", bad[i]);
        value = member(text, "a", &repeated);
        assert_int_equal(leat_json_read_text(&value, text, sizeof text), -1);
    }
    value = member("{\"a\":\"\\ud83d\\ude00\\u20AC\\u00e9\\/\\n\"}", "a", &repeated);
    assert_int_equal(leat_json_read_text(&value, text, sizeof text), 11);
    assert_memory_equal(text, "\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9/\n", 11);
    assert_int_equal(leat_json_read_text(&value, text, 5), 5);
    assert_false(leat_json_is_text(&value, "x"));
    value = member("{\"a\":\"p\\u0069ng\"}", "a", &repeated);
    assert_true(leat_json_is_text(&value, "ping") && !leat_json_is_text(&value, "pin"));
}

/* As deep and as many as allowed, and one more. */
static void test_limits(void **state) {
    (void)state;
    leat_json_names names;
    leat_json_fields fields;
    json_reference_names(&names);
    enum { SPACE = 4 * LEAT_JSON_VALUES_MAX };
    char *text = malloc(SPACE);
    for (int more = 0; more < 2; more++) {
        for (int inner = 0; inner < 2; inner++) { /* the innermost value: an array, or a number */
            int count = LEAT_JSON_LEVELS_MAX - 1 - inner + more, at = sprintf(text, "{\"a\":");
            bool object = false;
            for (int i = 0; i < count; i++) text[at++] = '[';
            if (inner) text[at++] = '1';
            for (int i = 0; i < count; i++) text[at++] = ']';
            text[at++] = '}';
            assert_int_equal(leat_json_scan(text, at, &names, &fields), more == 0);
            assert_null(json_reference_differs(text, at, &object));
        }
        int at = sprintf(text, "{\"a\":[1");
        for (int i = 3; i < LEAT_JSON_VALUES_MAX + more; i++) at += sprintf(text + at, ",1");
        at += sprintf(text + at, "]}");
        assert_int_equal(leat_json_scan(text, at, &names, &fields), more == 0);
    }
    free(text);
}

/* ---- fuzzed lines --------------------------------------------------------------------------- */

enum { LINE_BYTES = 4096, LINES = 40000 };

typedef struct fuzz {
    uint64_t seed;
    char text[LINE_BYTES];
    int size;
} fuzz;

static unsigned draw(fuzz *self, unsigned below) {
    self->seed = self->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(self->seed >> 33) % below;
}

static void put(fuzz *self, const char *text) {
    int size = (int)strlen(text);
    if (self->size + size > LINE_BYTES / 2) return;
    memcpy(self->text + self->size, text, (size_t)size);
    self->size += size;
}

#define PICK(self, list) ((list)[draw(self, sizeof(list) / sizeof *(list))])

static void put_blank(fuzz *self) {
    static const char *const blanks[] = {"", "", "", "", " ", "\t", "\r ", "\n"};
    put(self, PICK(self, blanks));
}

static void put_value(fuzz *self, int depth) {
    static const char *const scalars[] = {"0",
                                          "-0",
                                          "17",
                                          "-123456789",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "9223372036854775808",
                                          "1e400",
                                          "0.5",
                                          "88.0393736667",
                                          "-1.5E-3",
                                          "1e22",
                                          "123456789012345678901234567890.5",
                                          "null",
                                          "true",
                                          "false",
                                          "NaN",
                                          "Infinity",
                                          "-Infinity",
                                          "\"\"",
                                          "\"ping\"",
                                          "\"192.0.46.157\"",
                                          "\"2001:db8::1\"",
                                          "\"a\\u0041\\n\\\"\\\\\"",
                                          "\"\\ud83d\\ude00\"",
                                          "\"\\ud83d\"",
                                          "\"\\u0000\"",
                                          "\"\xc3\xa9\xf0\x9f\x98\x80\"",
                                          "\"a longer text, of more than eight bytes\""};
    unsigned kind = draw(self, depth > 4 ? 8 : 11);
    if (kind < 8) {
        put(self, PICK(self, scalars));
        return;
    }
    bool object = kind == 8;
    unsigned count = draw(self, 4);
    put(self, object ? "{" : "[");
    for (unsigned i = 0; i < count; i++) {
        static const char *const keys[] = {"\"rtt\":", "\"dup\" :", "\"x\\u0041\":", "\"\": "};
        put(self, i > 0 ? "," : "");
        put_blank(self);
        if (object) put(self, PICK(self, keys));
        put_value(self, depth + 1);
        put_blank(self);
    }
    put(self, object ? "}" : "]");
}

static void make_line(fuzz *self) {
    static const char *const keys[] = {"\"a\"",
                                       "\"b\"",
                                       "\"rtt\"",
                                       "\"avg\"",
                                       "\"type\"",
                                       "\"fr\\u006fm\"",
                                       "\"x\xc3\xa9\"",
                                       "\"x\\u00e9\"",
                                       "\"\"",
                                       "\"aa\"",
                                       "\"other\"",
                                       "\"\\ud83d\"",
                                       "\"long name of it\""};
    unsigned count = draw(self, 8);
    self->size = 0;
    put_blank(self);
    put(self, "{");
    for (unsigned i = 0; i < count; i++) {
        put(self, i > 0 ? "," : "");
        put_blank(self);
        put(self, PICK(self, keys));
        put_blank(self);
        put(self, ":");
        put_blank(self);
        put_value(self, 1);
    }
    put_blank(self);
    put(self, "}");
}

/* Bytes replaced, removed, inserted, or a piece repeated. */
static void damage(fuzz *self) {
    static const char bytes[] = "{}[],:\"\\ 0-.eENaInu\t\n\x01\x80\xc3\xed\xff";
    unsigned at = draw(self, (unsigned)self->size + 1), left = (unsigned)self->size - at;
    unsigned size = left > 0 ? draw(self, left < 8 ? left : 8) + 1 : 0;
    char *place = self->text + at;
    switch (draw(self, 4)) {
    case 0:
        if (left > 0) *place = PICK(self, bytes);
        break;
    case 1:
        memmove(place, place + size, left - size);
        self->size -= (int)size;
        break;
    case 2:
        memmove(place + 1, place, left);
        *place = bytes[draw(self, sizeof bytes - 1)];
        self->size++;
        break;
    default:
        memmove(place + size, place, left);
        self->size += (int)size;
        break;
    }
}

static void test_fuzzed(void **state) {
    (void)state;
    fuzz *self = calloc(1, sizeof *self);
    int64_t objects = 0;
    self->seed = 26;
    for (int i = 0; i < LINES; i++) {
        bool object = false;
        make_line(self);
        for (unsigned k = draw(self, 4); k > 0; k--) damage(self);
        /* exactly its bytes, so that a sanitizer finds what reads beyond them */
        char *text = malloc((size_t)self->size + 1);
        memcpy(text, self->text, (size_t)self->size);
        const char *differs = json_reference_differs(text, self->size, &object);
        if (differs != NULL) fail_msg("line %d: %s: %.*s", i, differs, self->size, text);
        objects += object;
        free(text);
    }
    free(self);
    /* both kinds are there, or the lines would show little */
    assert_in_range(objects, LINES / 4, LINES * 3 / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_fuzzed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
