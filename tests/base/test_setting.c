/* Options by name: what is taken, what is refused with which words, and that text reads back. */
#include <math.h>
#include <string.h>

#include "base/setting.h"
#include "check.h"

typedef enum taste { SWEET, SOUR, SALTY } taste;

typedef struct meal {
    taste taste;
    int64_t guests;
    uint64_t seed;
    double share, factor;
    int32_t chairs, tables;
} meal;

static const leat_setting table[] = {
    {"taste", LEAT_SETTING_CHOICE, offsetof(meal, taste), "sweet|sour|salty", 0, 0},
    {"guests", LEAT_SETTING_INT, offsetof(meal, guests), NULL, -2, 100},
    {"seed", LEAT_SETTING_SEED, offsetof(meal, seed), NULL, 0, 0},
    {"share", LEAT_SETTING_SHARE, offsetof(meal, share), NULL, 0, 0},
    {"factor", LEAT_SETTING_FACTOR, offsetof(meal, factor), NULL, 0, 0},
    {"chairs", LEAT_SETTING_INT32, offsetof(meal, chairs), NULL, -2, INT32_MAX},
    {.name = NULL},
};

static const meal usual = {SOUR, 4, 42, 0.25, 1, 6, 1};

static void taken(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *back; /* NULL: the same */
        meal want;
    } cases[] = {
        {"taste", "sweet", NULL, {SWEET, 4, 42, 0.25, 1, 6, 1}},
        {"taste", "salty", NULL, {SALTY, 4, 42, 0.25, 1, 6, 1}},
        {"guests", "-2", NULL, {SOUR, -2, 42, 0.25, 1, 6, 1}},
        {"guests", "100", NULL, {SOUR, 100, 42, 0.25, 1, 6, 1}},
        {"guests", "007", "7", {SOUR, 7, 42, 0.25, 1, 6, 1}},
        {"seed", "18446744073709551615", NULL, {SOUR, 4, UINT64_MAX, 0.25, 1, 6, 1}},
        {"seed", "0", NULL, {SOUR, 4, 0, 0.25, 1, 6, 1}},
        {"share", "0", NULL, {SOUR, 4, 42, 0, 1, 6, 1}},
        {"share", "0.2", NULL, {SOUR, 4, 42, 0.2, 1, 6, 1}},
        {"share", "1e-3", "0.001", {SOUR, 4, 42, 0.001, 1, 6, 1}},
        {"share", "1e-05", NULL, {SOUR, 4, 42, 1e-5, 1, 6, 1}},
        {"share",
         "0.99999999999999989",
         "0.9999999999999999",
         {SOUR, 4, 42, 0.99999999999999989, 1, 6, 1}},
        {"factor", "10", NULL, {SOUR, 4, 42, 0.25, 10, 6, 1}},
        {"factor", "1e9", "1000000000", {SOUR, 4, 42, 0.25, 1e9, 6, 1}},
        {"factor", "2.5e+03", "2500", {SOUR, 4, 42, 0.25, 2500, 6, 1}},
        {"chairs", "-2", NULL, {SOUR, 4, 42, 0.25, 1, -2, 1}},
        {"chairs", "2147483647", NULL, {SOUR, 4, 42, 0.25, 1, INT32_MAX, 1}},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        meal it = usual;
        char text[LEAT_SETTING_BYTES];
        const leat_setting *setting = leat_setting_find(table, cases[c].name);
        assert_ok(leat_setting_set(setting, &it, cases[c].text, err));
        assert_ok(leat_settings_check(table, &it, err));
        assert_true(it.taste == cases[c].want.taste && it.guests == cases[c].want.guests);
        assert_true(it.seed == cases[c].want.seed && it.share == cases[c].want.share);
        assert_true(it.factor == cases[c].want.factor);
        assert_true(it.chairs == cases[c].want.chairs && it.tables == cases[c].want.tables);
        leat_setting_get(setting, &it, text);
        assert_string_equal(text, cases[c].back != NULL ? cases[c].back : cases[c].text);
    }
    assert_null(leat_setting_find(table, "tast"));
    assert_null(leat_setting_find(table, ""));
}

static void refused_texts(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"taste", "swee", "taste: \"swee\"; it is sweet, sour or salty"},
        {"taste", "sweet|sour", "taste"},
        {"taste", "", "taste"},
        {"guests", "101", "guests: \"101\"; it is a whole number from -2 to 100"},
        {"guests", "-3", "guests"},
        {"guests", "4 ", "guests"},
        {"guests", "+4", "guests"},
        {"guests", "--2", "guests"},
        {"guests", "-", "guests"},
        {"guests", "", "guests"},
        {"guests", "18446744073709551615", "guests"},
        {"guests", "99999999999999999999999", "guests"},
        {"seed", "18446744073709551616", "seed: \"18446744073709551616\"; it is a whole number"},
        {"seed", "-1", "seed"},
        {"seed", "0x10", "seed"},
        {"share", "1", "share: \"1\"; it is a number from 0 to below 1"},
        {"share", "0.5-", "share"},
        {"share", "-0", "share"},
        {"share", ".5", "share"},
        {"share", "0.", "share"},
        {"share", "1e", "share"},
        {"share", "nan", "share"},
        {"share", "0,5", "share"},
        {"factor", "0", "factor: \"0\"; it is a number above 0, at most 1e9"},
        {"factor", "1e-400", "factor"},
        {"factor", "1000000001", "factor"},
        {"factor", "inf", "factor"},
        {"chairs", "2147483648", "chairs: \"2147483648\"; it is a whole number from -2"},
        {"chairs", "4294967296", "chairs"}, /* 0 in 32 bits */
        {"chairs", "-3", "chairs"},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        meal it = usual;
        leat_error err = {0};
        const leat_setting *setting = leat_setting_find(table, cases[c][0]);
        assert_int_equal(leat_setting_set(setting, &it, cases[c][1], &err), LEAT_ERR_OPTION);
        if (strstr(err.message, cases[c][2]) == NULL) fail_msg("%d: %s", (int)c, err.message);
        assert_memory_equal(&it, &usual, sizeof(it));
    }
}

static void refused_values(void **state) {
    (void)state;
    static const struct {
        meal it;
        const char *says;
    } cases[] = {
        {{(taste)3, 4, 42, 0.25, 1, 6, 1}, "taste: \"3\"; it is sweet"},
        {{(taste)-1, 4, 42, 0.25, 1, 6, 1}, "taste: \"-1\"; it is sweet"},
        {{SOUR, -3, 42, 0.25, 1, 6, 1}, "guests: \"-3\""},
        {{SOUR, INT64_MAX, 42, 0.25, 1, 6, 1}, "guests: \"9223372036854775807\""},
        {{SOUR, 4, 42, -0.5, 1, 6, 1}, "share: \"-0.5\""},
        {{SOUR, 4, 42, 1, 1, 6, 1}, "share: \"1\""},
        {{SOUR, 4, 42, NAN, 1, 6, 1}, "share: \""},
        {{SOUR, 4, 42, 0.25, 0, 6, 1}, "factor: \"0\""},
        {{SOUR, 4, 42, 0.25, INFINITY, 6, 1}, "factor: \"inf\""},
        {{SOUR, 4, 42, 0.25, 1, -3, 1}, "chairs: \"-3\""},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_error err = {0};
        assert_int_equal(leat_settings_check(table, &cases[c].it, &err), LEAT_ERR_OPTION);
        if (strstr(err.message, cases[c].says) == NULL) fail_msg("%d: %s", (int)c, err.message);
    }
    assert_ok(leat_settings_check(table, &usual, err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken),
        cmocka_unit_test(refused_texts),
        cmocka_unit_test(refused_values),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
