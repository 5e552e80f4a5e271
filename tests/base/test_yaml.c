/* Settings in YAML: what is read, and what is refused, with line and column. */
#include "base/yaml.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

typedef struct good {
    const char *text;
    const char *items; /* "section.key=value line:column; ..." */
} good;

static void settings_are_read(void **state) {
    static const good cases[] = {
        {"", ""},
        {"# only a comment\n", ""},
        {"---\n...\n", ""},
        {"a: 1\nb: two words\n", ".a=1 1:1; .b=two words 2:1; "},
        {"a: 1 # why\n", ".a=1 1:1; "},
        {"a: '1'\nb: \"x\\ty\"\nc: ''\n", ".a=1 1:1; .b=x\ty 2:1; .c= 3:1; "},
        {"a:\nb: ~\nc: null\nd: 'null'\n", ".a! 1:1; .b! 2:1; .c! 3:1; .d=null 4:1; "},
        {"rate: 2e-4\nflag: true\n", ".rate=2e-4 1:1; .flag=true 2:1; "},
        {"s:\n  a: 1\n  b: 2\nt:\n  a: 3\nu: 4\n", "s.a=1 2:3; s.b=2 3:3; t.a=3 5:3; .u=4 6:1; "},
        {"s: {a: 1, b: 2}\n", "s.a=1 1:5; s.b=2 1:11; "},
        {"{a: 1}\n", ".a=1 1:2; "},
        {"s: {}\n", ""},
        {"\xef\xbb\xbf"
         "a: 1\n",
         ".a=1 1:1; "},
        {"a: \xc3\xa9\n", ".a=\xc3\xa9 1:1; "},
        {"a: |\n  x\n  y\n", ".a=x\ny\n 1:1; "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_yaml *yaml = NULL;
        leat_yaml_item item;
        char text[500] = "";
        assert_ok(
            leat_yaml_parse(&yaml, cases[i].text, (int64_t)strlen(cases[i].text), "file", err));
        for (int64_t k = 0; leat_yaml_at(yaml, k, &item); k++) {
            size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "%s.%s%s%s %lld:%lld; ", item.section, item.key,
                     item.value != NULL ? "=" : "!", item.value != NULL ? item.value : "",
                     (long long)item.line, (long long)item.column);
        }
        assert_string_equal(text, cases[i].items);
        leat_yaml_destroy(yaml);
    }
}

static void everything_else_is_refused(void **state) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"just text\n", "line 1, column 1: expected \"key: value\""},
        {"- a\n- b\n", "line 1, column 1: a list"},
        {"a: 1\nb: [1, 2]\n", "line 2, column 4: a list"},
        {"a:\n  - 1\n", "line 2, column 3: a list"},
        {"s:\n  t:\n    a: 1\n", "line 3, column 5: nested too deeply"},
        {"a: &x 1\n", "line 1, column 4: an anchor"},
        {"a: &x\n  b: 1\n", "an anchor"},
        {"a: 1\nb: *a\n", "line 2, column 4: an alias"},
        {"a: !!str 1\n", "line 1, column 4: a tag"},
        {"a: !!python/object:os.system x\n", "a tag"},
        {"a: !x {b: 1}\n", "a tag"},
        {"a: 1\nb: 2\na: 3\n", "line 3, column 1: \"a\" appears twice"},
        {"s:\n  a: 1\n  a: 2\n", "line 3, column 3: \"a\" appears twice"},
        {"s:\n  a: 1\ns:\n  b: 2\n", "line 3, column 1: \"s\" appears twice"},
        {"a: 1\n---\nb: 2\n", "a second document"},
        {"? [a, b]\n: 1\n", "a list"},
        {"? {a: b}\n: 1\n", "a key that is not a text"},
        {"'': 1\n", "line 1, column 1: an empty key"},
        {"a: \"x\\0y\"\n", "a character with the code 0"},
        {"a: 'unclosed\n", "line 2, column 1"},
        {"a: {b: 1\n", "line 2"},
        {"a: 1\n\tb: 2\n", "line 2"},
        {"a: \xff\n", "byte"},
        {"a: b: c\n", "line 1, column 5"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_yaml *yaml = NULL;
        leat_error err = {0};
        assert_int_equal(
            leat_yaml_parse(&yaml, cases[i].text, (int64_t)strlen(cases[i].text), "file", &err),
            LEAT_ERR_INPUT);
        assert_null(yaml);
        if (strstr(err.message, cases[i].says) == NULL) fail_msg("%zu: %s", i, err.message);
        assert_non_null(strstr(err.message, "\"file\""));
    }
}

static void a_large_file_is_refused(void **state) {
    static char many[65536];
    leat_yaml *yaml = NULL;
    leat_error err = {0};
    size_t size = 0;
    (void)state;
    for (int i = 0; i < 5000; i++)
        size += (size_t)snprintf(many + size, sizeof many - size, "k%d: 1\n", i);
    assert_int_equal(leat_yaml_parse(&yaml, many, (int64_t)size, "file", &err), LEAT_ERR_INPUT);
    assert_non_null(strstr(err.message, "line 4097"));
    assert_int_equal(leat_yaml_parse(&yaml, "a: 1", LEAT_YAML_BYTES_MAX + 1, "file", &err),
                     LEAT_ERR_LIMIT);
}

static void texts_that_need_no_quotes(void **state) {
    static const struct {
        const char *text;
        bool plain;
    } cases[] = {{"dcgan", true},     {"a/b.zip", true}, {"x-1_y", true}, {"", false},
                 {"yes", false},      {"No", false},     {"null", false}, {"12", false},
                 {"1e5", false},      {"a b", false},    {"a: b", false}, {"-x", false},
                 {"\xc3\xa9", false}, {"a#b", false},    {".inf", false}, {"TRUE", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(leat_yaml_is_plain(cases[i].text), cases[i].plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_read),
        cmocka_unit_test(everything_else_is_refused),
        cmocka_unit_test(a_large_file_is_refused),
        cmocka_unit_test(texts_that_need_no_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
