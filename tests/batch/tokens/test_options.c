/* Options of a sampler: every name, every value, and what is refused, with words that say why. */
#include "batch_support.h"

static void defaults(void **state) {
    (void)state;
    static const char *const want[][2] = {
        {"sampler", "plan3"},
        {"length", "1024"},
        {"seed", "0"},
        {"timestamp-modes", "40,30,30"},
        {"field-order", "random"},
        {"packing", "fill"},
        {"tail", "cut"},
        {"boundary", "mask"},
    };
    leat_sampler_options options = leat_sampler_options_default();
    assert_fine(leat_sampler_options_check(&options, err));
    for (int i = 0; i < 8; i++) {
        char text[LEAT_SETTING_BYTES];
        assert_string_equal(leat_sampler_options_table()->rows[i].name, want[i][0]);
        assert_string_equal(
            leat_settings_get(leat_sampler_options_table(), &options, want[i][0], text),
            want[i][1]);
    }
    assert_null(leat_sampler_options_table()->rows[8].name);
}

/* What can be set reads back as the same text, and changes nothing else. */
static void set_and_get(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"sampler", "plan2"},
        {"sampler", "all"},
        {"sampler", "plan3"},
        {"length", "64"},
        {"length", "1048576"},
        {"seed", "18446744073709551615"},
        {"seed", "1"},
        {"timestamp-modes", "0,0,100"},
        {"timestamp-modes", "100,0,0"},
        {"field-order", "content"},
        {"packing", "none"},
        {"tail", "pad"},
        {"boundary", "cross"},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_sampler_options options = leat_sampler_options_default();
        const leat_sampler_options defaults = options;
        char text[LEAT_SETTING_BYTES], before[LEAT_SETTING_BYTES];
        assert_fine(leat_settings_set(leat_sampler_options_table(), &options, cases[c][0],
                                      cases[c][1], err));
        for (int i = 0; leat_sampler_options_table()->rows[i].name != NULL; i++) {
            const char *name = leat_sampler_options_table()->rows[i].name;
            leat_settings_get(leat_sampler_options_table(), &options, name, text);
            leat_settings_get(leat_sampler_options_table(), &defaults, name, before);
            assert_string_equal(text, strcmp(name, cases[c][0]) == 0 ? cases[c][1] : before);
        }
    }
}

static void refused_texts(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"samplers", "plan3", "a sampler does not have an option \"samplers\""},
        {"sampler", "plan4", "sampler: \"plan4\" is not accepted; it takes plan3, plan2 or all"},
        {"sampler", "", "sampler: \"\""},
        {"packing", "Fill", "packing: \"Fill\" is not accepted; it takes fill or none"},
        {"length", "63",
         "length: \"63\" is not accepted; it takes a whole number from 64 to 1048576"},
        {"length", "1048577", "length"},
        {"length", "99999999999999999999999", "length"},
        {"length", "-64", "length"},
        {"length", "1024 ", "length"},
        {"length", "", "length"},
        {"seed", "18446744073709551616", "seed"},
        {"seed", "-1", "seed"},
        {"seed", "0x10", "seed"},
        {"timestamp-modes", "40,30", "three percentages"},
        {"timestamp-modes", "40,30,30,0", "three percentages"},
        {"timestamp-modes", "40,30,", "three percentages"},
        {"timestamp-modes", "40,,60", "three percentages"},
        {"timestamp-modes", "40, 30,30", "three percentages"},
        {"timestamp-modes", "40,30,31", "40 + 30 + 31 percent is 101; the sum must be 100"},
        {"timestamp-modes", "140,-30,-10", "three percentages"},
        {"timestamp-modes", "00000000040,30,30", "three percentages"},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_sampler_options options = leat_sampler_options_default();
        const leat_sampler_options before = options;
        leat_error err = {0};
        assert_int_equal(leat_settings_set(leat_sampler_options_table(), &options, cases[c][0],
                                           cases[c][1], &err),
                         LEAT_ERR_OPTION);
        if (strstr(err.message, cases[c][2]) == NULL) fail_msg("%d: %s", (int)c, err.message);
        assert_memory_equal(&options, &before, sizeof(options));
    }
    leat_sampler_options options = leat_sampler_options_default();
    char text[LEAT_SETTING_BYTES];
    assert_null(leat_settings_get(leat_sampler_options_table(), &options, "x", text));
}

static void refused_values(void **state) {
    (void)state;
    const leat_sampler_options good = leat_sampler_options_default();
    leat_sampler_options cases[10];
    static const char *const says[] = {
        "sampler: \"3\" is not accepted; it takes plan3, plan2 or all",
        "sampler: \"-1\"",
        "length: \"63\"",
        "length: \"1048577\"",
        "timestamp-modes: -10 is not a percentage",
        "timestamp-modes: 40 + 30 + 20 percent is 90",
        "field-order: \"2\" is not accepted; it takes random or content",
        "packing: \"2\"",
        "tail: \"7\"",
        "boundary: \"-2\"",
    };
    for (int c = 0; c < 10; c++) cases[c] = good;
    cases[0].sampler = (leat_sampler)3;
    cases[1].sampler = (leat_sampler)-1;
    cases[2].length = 63;
    cases[3].length = LEAT_LENGTH_MAX + 1;
    cases[4].timestamp_modes[1] = -10;
    cases[5].timestamp_modes[2] = 20;
    cases[6].field_order = (leat_field_order)2;
    cases[7].packing = (leat_packing)2;
    cases[8].tail = (leat_tail)7;
    cases[9].boundary = (leat_boundary)-2;
    for (int c = 0; c < 10; c++) {
        leat_error err = {0};
        leat_context *context = NULL;
        leat_anchors *anchors = NULL;
        assert_int_equal(leat_sampler_options_check(&cases[c], &err), LEAT_ERR_OPTION);
        if (strstr(err.message, says[c]) == NULL) fail_msg("%d: %s", c, err.message);
        assert_int_equal(leat_context_create(&context, &cases[c], NULL), LEAT_ERR_OPTION);
        assert_null(context);
        assert_int_equal(leat_anchors_create(&anchors, &cases[c], 0, NULL, NULL, NULL),
                         LEAT_ERR_OPTION);
        assert_null(anchors);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(set_and_get),
        cmocka_unit_test(refused_texts),
        cmocka_unit_test(refused_values),
    };
    return cmocka_run_group_tests_name("sampler options", tests, NULL, NULL);
}
