/* Options by row: what each kind accepts, what it refuses with which words, and that text reads
 * back as the same value. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "check.h"
#include "comma_locale.h"

typedef enum taste { SWEET, SOUR, SALTY } taste;

typedef struct meal {
    taste taste;
    int64_t guests;
    uint64_t seed;
    double share, factor, cold;
    int32_t chairs, tables; /* no row is of tables: it must stay as it is */
    int64_t oven, bread;
    bool vegan, spicy;
    const char *cook, *recipe;
    int pair[2];
} meal;

/* "1+2": a kind of its own. */
static leat_code parse_pair(const char *text, void *member, leat_error *err) {
    if (strlen(text) != 3 || text[1] != '+')
        return leat_fail(err, LEAT_ERR_OPTION, "\"%s\" is not a pair", text);
    const int pair[2] = {text[0] - '0', text[2] - '0'};
    memcpy(member, pair, sizeof pair);
    return LEAT_OK;
}

static leat_code check_pair(const void *member, leat_error *err) {
    const int *pair = member;
    if (pair[0] >= 0 && pair[1] >= 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "%d is negative", pair[0]);
}

static void format_pair(const void *member, char text[LEAT_SETTING_BYTES]) {
    const int *pair = member;
    snprintf(text, LEAT_SETTING_BYTES, "%d+%d", pair[0], pair[1]);
}

static const leat_setting_type pair_type = {parse_pair, check_pair, format_pair};

#define ROW(word, of_kind, field) .name = word, .kind = of_kind, .place = offsetof(meal, field)

static const leat_setting rows[] = {
    {ROW("taste", LEAT_SETTING_CHOICE, taste), .choices = "sweet|sour|salty"},
    {ROW("guests", LEAT_SETTING_INT, guests), .min = -2, .max = 100},
    {ROW("seed", LEAT_SETTING_SEED, seed)},
    {ROW("share", LEAT_SETTING_REAL, share), .high = 1, .high_open = true},
    {ROW("factor", LEAT_SETTING_REAL, factor), .low_open = true, .high = 1e9},
    {ROW("cold", LEAT_SETTING_REAL, cold), .low = -40, .high = -0.5},
    {ROW("chairs", LEAT_SETTING_INT32, chairs), .min = 0, .max = INT32_MAX, .choices = "few|many",
     .word_value = -1, .usually = "one per guest"},
    {ROW("oven", LEAT_SETTING_SIZE, oven), .min = 1024, .max = INT64_C(1) << 41},
    {ROW("bread", LEAT_SETTING_SIZE, bread), .min = 1, .max = INT64_MAX, .choices = "none"},
    {ROW("vegan", LEAT_SETTING_FLAG, vegan)},
    {ROW("cook", LEAT_SETTING_TEXT, cook)},
    {ROW("recipe", LEAT_SETTING_PATH, recipe)},
    {ROW("pair", LEAT_SETTING_OTHER, pair), .type = &pair_type},
    {.name = NULL},
};

static const meal usual = {SOUR, 4, 42,   0.25,  1,    -3,     6,     1,
                           2048, 0, true, false, NULL, "soup", {3, 4}};

static void set_defaults(void *options) { memcpy(options, &usual, sizeof usual); }

static const leat_setting_table table = {"a meal", rows, sizeof(meal), set_defaults};

/* Accepted texts, and as what they read back; NULL: the same. */
static const char *const accepted[][3] = {
    {"taste", "sweet", NULL},
    {"taste", "salty", NULL},
    {"guests", "-2", NULL},
    {"guests", "100", NULL},
    {"guests", "007", "7"},
    {"guests", "-0", "0"},
    {"seed", "18446744073709551615", NULL},
    {"seed", "0", NULL},
    {"share", "0", NULL},
    {"share", "0.2", NULL},
    {"share", "1e-3", "0.001"},
    {"share", "1E-05", "1e-05"},
    {"share", "-0", "0"},
    {"share", ".5", "0.5"},
    {"share", "0.", "0"},
    {"share", "+0.5", "0.5"},
    {"share", "0.99999999999999989", "0.9999999999999999"},
    {"factor", "10", NULL},
    {"factor", "1e9", "1000000000"},
    {"factor", "2.5e+03", "2500"},
    {"factor", "4.9e-324", "5e-324"},
    {"cold", "-40", NULL},
    {"cold", "-0.5", NULL},
    {"cold", "-12.25", NULL},
    {"chairs", "0", NULL},
    {"chairs", "2147483647", NULL},
    {"chairs", "few", NULL},
    {"chairs", "many", NULL},
    {"oven", "1024", "1K"},
    {"oven", "1025", NULL},
    {"oven", "1KiB", "1K"},
    {"oven", "512m", "512M"},
    {"oven", "2048G", "2T"},
    {"oven", "2199023255552", "2T"},
    {"bread", "none", NULL},
    {"bread", "1", NULL},
    {"bread", "8388607T", NULL},
    {"bread", "9223372036854775807", NULL},
    {"vegan", "false", NULL},
    {"vegan", "true", NULL},
    {"cook", "Ada, of \xc3\x85rhus", NULL},
    {"cook", " ", NULL},
    {"recipe", "/a b/c", NULL},
    {"pair", "0+9", NULL},
};

/* Each changes what it names and nothing else. */
static void taken(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof accepted / sizeof *accepted; c++) {
        meal it = usual, again = usual;
        char text[LEAT_SETTING_BYTES], other[LEAT_SETTING_BYTES];
        const char *want = accepted[c][2] != NULL ? accepted[c][2] : accepted[c][1];
        assert_ok(leat_settings_set(&table, &it, accepted[c][0], accepted[c][1], err));
        assert_ok(leat_settings_check(&table, &it, err));
        assert_string_equal(leat_settings_get(&table, &it, accepted[c][0], text), want);
        assert_ok(leat_settings_set(&table, &again, accepted[c][0], want, err));
        assert_string_equal(leat_settings_get(&table, &again, accepted[c][0], text), want);
        for (const leat_setting *row = rows; row->name != NULL; row++) {
            if (strcmp(row->name, accepted[c][0]) == 0) continue;
            const char *now = leat_setting_get(row, &it, text);
            const char *before = leat_setting_get(row, &usual, other);
            if (before == NULL) assert_null(now);
            else assert_string_equal(now, before);
        }
        assert_int_equal(it.tables, 1);
        assert_false(it.spicy);
    }
}

/* A locale whose decimal point is a comma changes nothing. */
static void taken_with_a_decimal_comma(void **state) {
    if (!comma_locale_set()) skip();
    taken(state);
    setlocale(LC_ALL, "C");
}

static void values(void **state) {
    (void)state;
    meal it = usual;
    assert_ok(leat_settings_set(&table, &it, "taste", "salty", err));
    assert_ok(leat_settings_set(&table, &it, "guests", "-2", err));
    assert_ok(leat_settings_set(&table, &it, "seed", "18446744073709551615", err));
    assert_ok(leat_settings_set(&table, &it, "cold", "-0.75", err));
    assert_ok(leat_settings_set(&table, &it, "chairs", "many", err));
    assert_ok(leat_settings_set(&table, &it, "oven", "3G", err));
    assert_ok(leat_settings_set(&table, &it, "vegan", "false", err));
    assert_ok(leat_settings_set(&table, &it, "cook", "x", err));
    assert_ok(leat_settings_set(&table, &it, "pair", "7+8", err));
    assert_true(it.taste == SALTY && it.guests == -2 && it.seed == UINT64_MAX);
    assert_true(it.cold == -0.75 && it.chairs == -2 && it.oven == INT64_C(3) << 30);
    assert_true(!it.vegan && strcmp(it.cook, "x") == 0 && it.pair[0] == 7 && it.pair[1] == 8);
    assert_null(leat_setting_find(&table, "tast"));
    assert_null(leat_setting_find(&table, ""));
    char text[LEAT_SETTING_BYTES];
    assert_null(leat_settings_get(&table, &it, "tast", text));
    assert_null(leat_settings_get(&table, &usual, "cook", text));
}

static const char *const refused[][3] = {
    {"taste", "swee", "taste: \"swee\" is not accepted; it takes sweet, sour or salty"},
    {"taste", "sweet|sour", "taste"},
    {"taste", "", "taste"},
    {"guests", "101", "guests: \"101\" is not accepted; it takes a whole number from -2 to 10"},
    {"guests", "-3", "guests"},
    {"guests", "4 ", "guests"},
    {"guests", " 4", "guests"},
    {"guests", "+4", "guests"},
    {"guests", "--2", "guests"},
    {"guests", "-", "guests"},
    {"guests", "", "guests"},
    {"guests", "4.0", "guests"},
    {"guests", "18446744073709551615", "guests"},
    {"guests", "99999999999999999999999", "guests"},
    {"seed", "18446744073709551616", "it takes a whole number from 0 to 2^64 - 1"},
    {"seed", "-1", "seed"},
    {"seed", "0x10", "seed"},
    {"share", "1", "share: \"1\" is not accepted; it takes a number from 0 to below 1"},
    {"share", "0.5-", "share"},
    {"share", "1e", "share"},
    {"share", ".", "share"},
    {"share", "", "share"},
    {"share", " 0.5", "share"},
    {"share", "0x0.8", "share"},
    {"share", "nan", "share"},
    {"share", "0,5", "share"},
    {"share", "-1e-300", "share"},
    {"factor", "0", "factor: \"0\" is not accepted; it takes a number above 0 to 1000000000"},
    {"factor", "1e-400", "factor"},
    {"factor", "1000000001", "factor"},
    {"factor", "1e999", "factor"},
    {"factor", "inf", "factor"},
    {"cold", "-40.5", "cold: \"-40.5\" is not accepted; it takes a number from -40 to -0.5"},
    {"cold", "0", "cold"},
    {"chairs", "2147483648", "it takes few, many or a whole number from 0 to 2147483647"},
    {"chairs", "4294967296", "chairs"}, /* 0 in 32 bits */
    {"chairs", "-1", "chairs"},         /* has a word */
    {"chairs", "some", "chairs"},
    {"oven", "1023", "it takes a size from 1K to 2T, in bytes or as 64K, 512M, 4G or 1T"},
    {"oven", "2199023255553", "oven"},
    {"oven", "12Q", "oven"},
    {"oven", "512MB", "oven"},
    {"oven", "512iB", "oven"},
    {"oven", "1.5G", "oven"},
    {"oven", "-1K", "oven"},
    {"oven", "K", "oven"},
    {"oven", "none", "oven"},
    {"oven", "16777216T", "oven"},                                            /* 2^64 */
    {"bread", "8388608T", "it takes none or a size of at least 1, in bytes"}, /* 2^63 */
    {"bread", "9223372036854775808", "bread"},
    {"bread", "0", "bread"}, /* has a word */
    {"vegan", "yes", "vegan: \"yes\" is not accepted; it takes true or false"},
    {"vegan", "", "vegan"},
    {"cook", "", "cook: \"\" is not accepted; it takes text that is not empty"},
    {"recipe", "", "recipe: \"\" is not accepted; it takes a path"},
    {"pair", "12", "pair: \"12\" is not a pair"},
    {"drink", "tea", "a meal does not have an option \"drink\""},
};

static void refused_texts(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof(refused) / sizeof(*refused); c++) {
        meal it, before;
        leat_error err = {0};
        memcpy(&before, &usual, sizeof before);
        memcpy(&it, &before, sizeof it);
        assert_int_equal(leat_settings_set(&table, &it, refused[c][0], refused[c][1], &err),
                         LEAT_ERR_OPTION);
        if (strstr(err.message, refused[c][2]) == NULL) fail_msg("%d: %s", (int)c, err.message);
        assert_memory_equal(&it, &before, sizeof(it));
    }
}

static void refused_values(void **state) {
    (void)state;
    static const char *const says[] = {
        "taste: \"3\" is not accepted; it takes sweet, sour or salty",
        "taste: \"-1\"",
        "guests: \"-3\"",
        "guests: \"9223372036854775807\"",
        "share: \"-0.5\"",
        "share: \"1\"",
        "share: \"nan\"",
        "factor: \"0\"",
        "factor: \"inf\"",
        "chairs: \"-3\"",
        "oven: \"1023\"",
        "bread: \"-1\"",
        "cook: \"\"",
        "pair: -1 is negative",
    };
    for (int c = 0; c < (int)(sizeof says / sizeof *says); c++) {
        meal it = usual;
        leat_error err = {0};
        if (c == 0) it.taste = (taste)3;
        if (c == 1) it.taste = (taste)-1;
        if (c == 2) it.guests = -3;
        if (c == 3) it.guests = INT64_MAX;
        if (c == 4) it.share = -0.5;
        if (c == 5) it.share = 1;
        if (c == 6) it.share = (double)NAN;
        if (c == 7) it.factor = 0;
        if (c == 8) it.factor = (double)INFINITY;
        if (c == 9) it.chairs = -3;
        if (c == 10) it.oven = 1023;
        if (c == 11) it.bread = -1;
        if (c == 12) it.cook = "";
        if (c == 13) it.pair[0] = -1;
        assert_int_equal(leat_settings_check(&table, &it, &err), LEAT_ERR_OPTION);
        if (strstr(err.message, says[c]) == NULL) fail_msg("%d: %s", c, err.message);
    }
    assert_ok(leat_settings_check(&table, &usual, err));
}

/* What help shows: value, range, default. */
static void shown(void **state) {
    (void)state;
    static const char *const want[][4] = {
        {"taste", "sweet|sour|salty", "", "sour"},
        {"guests", "N", "-2 to 100", "4"},
        {"seed", "S", "", "42"},
        {"share", "X", "0 to below 1", "0.25"},
        {"factor", "X", "above 0 to 1000000000", "1"},
        {"cold", "X", "-40 to -0.5", "-3"},
        {"chairs", "N", "0 to 2147483647", "one per guest"},
        {"oven", "SIZE", "1K to 2T", "2K"},
        {"bread", "SIZE", "at least 1", "none"},
        {"vegan", NULL, "", NULL},
        {"cook", "TEXT", "", NULL},
        {"recipe", "PATH", "", "soup"},
        {"pair", "TEXT", "", "3+4"},
    };
    for (int i = 0; rows[i].name != NULL; i++) {
        char range[64], text[LEAT_SETTING_BYTES];
        leat_setting_range(&rows[i], range, sizeof range);
        const char *value = leat_setting_value(&rows[i]);
        const char *preset = leat_setting_default(&table, &rows[i], text);
        assert_string_equal(rows[i].name, want[i][0]);
        assert_string_equal(range, want[i][2]);
        assert_int_equal(value == NULL, want[i][1] == NULL);
        assert_int_equal(preset == NULL, want[i][3] == NULL);
        if (value != NULL) assert_string_equal(value, want[i][1]);
        if (preset != NULL) assert_string_equal(preset, want[i][3]);
        /* cut, not written beyond */
        for (size_t bytes = 1; bytes < 80; bytes++) {
            char cut[80];
            memset(cut, '#', sizeof cut);
            leat_setting_accepts(&rows[i], cut, bytes);
            assert_true(strlen(cut) < bytes && cut[bytes] == '#');
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken),          cmocka_unit_test(taken_with_a_decimal_comma),
        cmocka_unit_test(values),         cmocka_unit_test(refused_texts),
        cmocka_unit_test(refused_values), cmocka_unit_test(shown),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
