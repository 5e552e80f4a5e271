/* Values as text: times to the microsecond, numbers to the last bit, whatever the locale. */
#include "core_support.h"

#include <math.h>

#include "base/number.h"
#include "comma_locale.h"
#include "ingest/value_text.h"

#define MISSING LEAT_TIME_MISSING
#define PAST LEAT_TIME_PAST
#define FUTURE LEAT_TIME_FUTURE

static const struct {
    const char *text;
    bool good;
    int64_t time_us;
} times[] = {
    {"", true, MISSING},
    {"  ", true, MISSING},
    {"2019-04-24 20:00:00", true, 1556136000000000},
    {"2019-04-24T20:00:00Z", true, 1556136000000000},
    {"2019-04-24t20:00:00z", true, 1556136000000000},
    {" 2019-04-24 20:00:00 ", true, 1556136000000000},
    {"2019-04-24 20:00", true, 1556136000000000},
    {"2019-04-24 20:00:00.5", true, 1556136000500000},
    {"2019-04-24 20:00:00.123456", true, 1556136000123456},
    {"2019-04-24 20:00:00.123456999", true, 1556136000123456},
    {"2019-04-24 20:00:00.000001+00", true, 1556136000000001},
    {"2019-04-24 20:00:00+00:00", true, 1556136000000000},
    {"2019-04-24 20:00:00 UTC", true, 1556136000000000},
    {"2019-04-24 22:00:00+02", true, 1556136000000000},
    {"2019-04-24 22:00:00 +02:00", true, 1556136000000000},
    {"2019-04-25T01:30:00+0530", true, 1556136000000000},
    {"2019-04-24T16:30:00.25-03:30", true, 1556136000250000},
    {"1970-01-01 00:00:00", true, 0},
    {"1969-12-31 23:59:59.999999", true, -1},
    {"1969-12-31 23:59:59.9999999", true, -1},
    {"2000-02-29 00:00:00", true, 951782400000000},
    {"2024-02-29 12:00:00", true, 1709208000000000},
    {"9999-12-31 23:59:59", true, 253402300799000000},
    {"0000-01-01 00:00:00", true, -62167219200000000},
    {"0001-01-01 00:00:00", true, -62135596800000000},
    {"1556136000", true, 1556136000000000},
    {"+1556136000", true, 1556136000000000},
    {"1556136000.", true, 1556136000000000},
    {"1556136000.1", true, 1556136000100000},
    {"1556136000.1234567", true, 1556136000123456},
    {"1556136000.999999999999999999999", true, 1556136000999999},
    {"0", true, 0},
    {"-0.0000001", true, -1},
    {"-0.000001", true, -1},
    {"-1.5", true, -1500000},
    {"9223372036854.775806", true, INT64_MAX - 1},
    {"9223372036854.775807", true, FUTURE},
    {"9223372036854.775808", true, FUTURE},
    {"99999999999999999999999", true, FUTURE},
    {"-99999999999999999999999", true, PAST},
    {"-9223372036854.775808", true, PAST},
    {"2019-02-29 00:00:00", false, 0},
    {"1900-02-29 00:00:00", false, 0},
    {"2019-04-31 00:00:00", false, 0},
    {"2019-13-01 00:00:00", false, 0},
    {"2019-00-01 00:00:00", false, 0},
    {"2019-01-00 00:00:00", false, 0},
    {"2019-04-24 24:00:00", false, 0},
    {"2019-04-24 20:60:00", false, 0},
    {"2019-04-24 20:00:60", false, 0},
    {"2019-04-24 20:00:00.", false, 0},
    {"2019-04-24 20:00:0", false, 0},
    {"2019-04-24 20:00:", false, 0},
    {"2019-04-24 20:00:00+", false, 0},
    {"2019-04-24 20:00:00+2", false, 0},
    {"2019-04-24 20:00:00+24", false, 0},
    {"2019-04-24 20:00:00+02:60", false, 0},
    {"2019-04-24 20:00:00Europe/Paris", false, 0},
    {"2019-04-24", false, 0},
    {"2019-04-24X20:00:00", false, 0},
    {"19-04-24 20:00:00", false, 0},
    {"24/04/2019 20:00:00", false, 0},
    {"yesterday", false, 0},
    {"1e9", true, 1000000000000000},
    {"1.7e+09", true, 1700000000000000},
    {"1.700000037E+09", true, 1700000037000000},
    {"+1.7000000375e9", true, 1700000037500000},
    {"1.700000037e+12", true, 1700000037000000},
    {"1700000037e0", true, 1700000037000000},
    {"17000000370000e-4", true, 1700000037000000},
    {"-1.5e0", true, -1500000},
    {"1e-7", true, 0},
    {"-1e-7", true, -1},
    {"-1e-999", true, -1},
    {"0e999", true, 0},
    {"1e99", true, FUTURE},
    {"-1e99999999999999999999", true, PAST},
    {"0.000000000000000000000000000000000000017e47", true, 1700000000000000},
    {"1e", false, 0},
    {"1e+", false, 0},
    {"e9", false, 0},
    {"1e9.5", false, 0},
    {"1.7.0e9", false, 0},
    {".5e9", false, 0},
    {"1e9e9", false, 0},
    {"17000000000000000000000000000000000000000e-31", false, 0}, /* too many digits */
    {"0x10", false, 0},
    {"1556136000s", false, 0},
    {"--1", false, 0},
    {".5", false, 0},
    {"-", false, 0},
    {".", false, 0},
};

static void test_times(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        int64_t size = (int64_t)strlen(times[i].text), time_us = 7;
        char *copy = malloc((size_t)size + 1); /* no NUL behind it */
        memcpy(copy, times[i].text, (size_t)size);
        copy[size] = '0';
        bool good = leat_time_of_text(copy, size, &time_us);
        free(copy);
        if (good != times[i].good) fail_msg("\"%s\": good %d", times[i].text, good);
        if (good && time_us != times[i].time_us) {
            fail_msg("\"%s\": %lld", times[i].text, (long long)time_us);
        }
    }
}

static void test_time_format(void **state) {
    (void)state;
    static const struct {
        int64_t time_us;
        const char *text;
    } cases[] = {
        {MISSING, ""},
        {PAST, "-infinity"},
        {FUTURE, "infinity"},
        {0, "1970-01-01T00:00:00.000000Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {1556136000123456, "2019-04-24T20:00:00.123456Z"},
        {951782400000000, "2000-02-29T00:00:00.000000Z"},
        {INT64_MAX - 1, "294247-01-10T04:00:54.775806Z"},
    };
    char text[LEAT_TIME_TEXT_BYTES + 1];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text[leat_time_to_text(cases[i].time_us, text)] = 0;
        assert_string_equal(text, cases[i].text);
    }
    /* every day of the years 0 to 9999, and back */
    for (int64_t day = -719528; day < 2932897; day += 13) {
        int64_t time_us = day * 86400000000 + (day & 1023), back;
        int size = leat_time_to_text(time_us, text);
        assert_true(leat_time_of_text(text, size, &back));
        assert_int_equal(back, time_us);
    }
}

static int64_t time_of_seconds(double seconds) {
    return leat_time_of_real(seconds, LEAT_TIME_UNIT_AUTO, NULL);
}

static void test_ticks(void **state) {
    (void)state;
    static const struct {
        int64_t ticks, per_second, time_us;
    } cases[] = {
        {7, 1, 7000000},
        {-7, 1, -7000000},
        {INT64_MAX, 1, FUTURE},
        {INT64_MIN, 1, PAST},
        {INT64_MAX / 1000000 + 1, 1, FUTURE},
        {7, 1000, 7000},
        {INT64_MIN / 1000, 1000, INT64_MIN / 1000 * 1000},
        {7, 1000000, 7},
        {INT64_MIN, 1000000, PAST},
        {1999, 1000000000, 1},
        {-1, 1000000000, -1},
        {-1000, 1000000000, -1},
        {-1001, 1000000000, -2},
        {INT64_MIN, 1000000000, INT64_MIN / 1000 - 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(leat_time_of_ticks(cases[i].ticks, cases[i].per_second), cases[i].time_us);
    }
    assert_int_equal(time_of_seconds(1602039732), 1602039732000000);
    assert_int_equal(time_of_seconds(1602039732.123456), 1602039732123456);
    assert_int_equal(time_of_seconds(1602039732.999999), 1602039732999999);
    assert_int_equal(time_of_seconds(0.1), 100000);
    assert_int_equal(time_of_seconds(-0.1), -100000);
    assert_int_equal(time_of_seconds(0), 0);
    assert_int_equal(time_of_seconds(1e300), FUTURE);
    assert_int_equal(time_of_seconds(-INFINITY), PAST);
    assert_int_equal(time_of_seconds(NAN), MISSING);
    for (int64_t i = 0; i < 20000; i++) {
        int64_t time_us = (int64_t)(leat_random(3, 0, (uint64_t)i) % 4000000000000000);
        char text[64];
        snprintf(text, sizeof text, "%lld.%06lld", (long long)(time_us / 1000000),
                 (long long)(time_us % 1000000));
        assert_int_equal(time_of_seconds(strtod(text, NULL)), time_us);
    }
}

static const struct {
    const char *text;
    bool good;
    double value;
} numbers[] = {
    {"", true, NAN},
    {" ", true, NAN},
    {"nan", true, NAN},
    {"NaN", true, NAN},
    {"NA", true, NAN},
    {" N/A ", true, NAN},
    {"NULL", true, NAN},
    {"None", true, NAN},
    {"\\N", true, NAN},
    {"-1", true, -1},
    {"0", true, 0},
    {"-0", true, -0.0},
    {"+1.5", true, 1.5},
    {"1.", true, 1},
    {".5", true, .5},
    {"1e3", true, 1000},
    {"1E-3", true, 1e-3},
    {"1.5e+2", true, 150},
    {"inf", true, INFINITY},
    {"-Infinity", true, -INFINITY},
    {"1e400", true, INFINITY},
    {"1e39", true, INFINITY},
    {"1e-400", true, 0},
    {" 12.25 ", true, 12.25},
    {"88.0393736667", true, 88.0393736667},
    {"0.1", true, .1},
    {"123456789012345", true, 123456789012345},
    {"1234567890123456789", true, 1234567890123456789.},
    {"0.00000000000001", true, 1e-14},
    {".", false, 0},
    {"-", true, NAN},
    {"*", true, NAN},
    {"timeout", true, NAN},
    {"TimeOut", true, NAN},
    {" False ", true, NAN},
    {"u", true, NAN},
    {"X", true, NAN},
    {"\r", false, 0},
    {"\n", false, 0},
    {"--", false, 0},
    {"true", false, 0},
    {"timed out", false, 0},
    {"xx", false, 0},
    {"+-1", false, 0},
    {"1e", false, 0},
    {"e5", false, 0},
    {"1e+", false, 0},
    {"0x1p3", false, 0},
    {"1,5", false, 0},
    {"1.2.3", false, 0},
    {"12 ms", false, 0},
    {"nano", false, 0},
    {"nul", false, 0},
    {"N", false, 0},
    {"\\n", false, 0},
    {"-none", false, 0},
    {"infinit", false, 0},
    {"1f", false, 0},
};

static const struct {
    const char *text;
    leat_time_unit unit;
    unsigned units;
    int64_t time_us;
} unit_times[] = {
    {"99999999999", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_S, 99999999999000000},
    {"100000000000", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_MS, 100000000000000},
    {"-100000000000", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_MS, -100000000000000},
    {"1556136000123", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_MS, 1556136000123000},
    {"1556136000123.0", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_MS, 1556136000123000},
    {"99999999999999", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_MS, 99999999999999000},
    {"100000000000000", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_US, 100000000000000},
    {"1556136000123456", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_US, 1556136000123456},
    {"99999999999999999", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_US, 99999999999999999},
    {"100000000000000000", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_NS, 100000000000000},
    {"1556136000123456789", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_NS, 1556136000123456},
    {"9223372036854775806", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_NS, 9223372036854775},
    {"9223372036854775807", LEAT_TIME_UNIT_AUTO, 0, FUTURE},
    {"-9223372036854775807", LEAT_TIME_UNIT_AUTO, 0, PAST},
    {"1556136000.5", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_S, 1556136000500000},
    {"2019-04-24 20:00:00", LEAT_TIME_UNIT_MS, 0, 1556136000000000},
    {"7", LEAT_TIME_UNIT_MS, 0, 7000},
    {"1556136000123.4567", LEAT_TIME_UNIT_MS, 0, 1556136000123456},
    {"-0.0001", LEAT_TIME_UNIT_MS, 0, -1},
    {"7.9", LEAT_TIME_UNIT_US, 0, 7},
    {"1999", LEAT_TIME_UNIT_NS, 0, 1},
    {"-1999.5", LEAT_TIME_UNIT_NS, 0, -2},
    {"-2000", LEAT_TIME_UNIT_NS, 0, -2},
    {"200000000000", LEAT_TIME_UNIT_S, 0, 200000000000000000},
    {"99999999999999999999", LEAT_TIME_UNIT_NS, 0, FUTURE},
    {"25569", LEAT_TIME_UNIT_EXCEL, 0, 0},
    {"43579.8333333333", LEAT_TIME_UNIT_EXCEL, 0, 1556135999999997},
    {"43579.25", LEAT_TIME_UNIT_EXCEL, 0, 1556085600000000},
    {"4.357925e+04", LEAT_TIME_UNIT_EXCEL, 0, 1556085600000000},
    {"1.5561360001234567e+12", LEAT_TIME_UNIT_MS, 0, 1556136000123456},
    {"1.556136000123456789e18", LEAT_TIME_UNIT_AUTO, 1U << LEAT_TIME_UNIT_NS, 1556136000123456},
};

static void test_time_units(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof unit_times / sizeof *unit_times; i++) {
        const char *text = unit_times[i].text;
        uint8_t units = 0;
        int64_t time_us = 7, again = 7;
        bool good =
            leat_time_read(text, (int64_t)strlen(text), unit_times[i].unit, &time_us, &units);
        assert_true(good);
        if (time_us != unit_times[i].time_us || units != unit_times[i].units)
            fail_msg("\"%s\": %lld, %d", text, (long long)time_us, units);
        if (strpbrk(text, ".: ") != NULL || strlen(text) > 19) continue;
        again = leat_time_of_integer(strtoll(text, NULL, 10), unit_times[i].unit, NULL);
        assert_int_equal(again, time_us);
    }
    assert_int_equal(leat_time_of_real(1556136000123.0, LEAT_TIME_UNIT_AUTO, NULL),
                     1556136000123000);
    assert_int_equal(leat_time_of_real(1556136000123.25, LEAT_TIME_UNIT_MS, NULL),
                     1556136000123250);
    assert_int_equal(leat_time_of_real(43579.25, LEAT_TIME_UNIT_EXCEL, NULL), 1556085600000000);
    assert_int_equal(leat_time_of_real(1e300, LEAT_TIME_UNIT_EXCEL, NULL), FUTURE);
    float rtt;
    assert_true(leat_rtt_read("0.0203", 6, LEAT_RTT_UNIT_S, &rtt) && rtt == 20.3F);
    assert_true(leat_rtt_read("20300", 5, LEAT_RTT_UNIT_US, &rtt) && rtt == 20.3F);
    assert_true(leat_rtt_read("-1", 2, LEAT_RTT_UNIT_S, &rtt) && rtt < 0);
}

static void test_numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        float rtt = 7, want = (float)numbers[i].value;
        bool good = leat_rtt_parse(numbers[i].text, (int64_t)strlen(numbers[i].text), &rtt);
        if (good != numbers[i].good) fail_msg("\"%s\": good %d", numbers[i].text, good);
        if (!good) continue;
        bool same = isnan(want) ? isnan(rtt) : rtt == want && signbit(rtt) == signbit(want);
        if (!same) fail_msg("\"%s\": %g", numbers[i].text, (double)rtt);
    }
    char longer[500];
    memset(longer, '1', sizeof longer);
    float rtt;
    assert_false(leat_rtt_parse(longer, sizeof longer, &rtt));
}

/* Against strtod: short texts take another way. */
static void test_numbers_like_strtod(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 300000; i++) {
        uint64_t bits = leat_random(5, 1, i);
        char text[64];
        int size = snprintf(text, sizeof text, "%s%.*f", bits & 1 ? "-" : "", (int)(bits >> 1 & 15),
                            (double)(bits >> 20) / (double)(UINT64_C(1) << (bits >> 5 & 43)));
        float rtt;
        assert_true(leat_rtt_parse(text, size, &rtt));
        float want = (float)strtod(text, NULL);
        if (memcmp(&rtt, &want, sizeof rtt) != 0) fail_msg("%s: %a, %a", text, rtt, want);
    }
}

static void test_float_format(void **state) {
    (void)state;
    char text[LEAT_FLOAT_TEXT_BYTES + 1];
    static const struct {
        float value;
        const char *text;
    } cases[] = {{0.1f, "0.1"},
                 {-1, "-1"},
                 {(float)16777217.0, "16777216"},
                 {1e30f, "1e+30"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, ""},
                 {-0.0f, "-0"},
                 {100000, "100000"},
                 {2000000, "2e+06"},
                 {0.001f, "0.001"},
                 {12.5f, "12.5"},
                 {-302281.01f, "-302281"},
                 {27.350388f, "27.350388"},
                 {0.0001f, "0.0001"},
                 {1.4e-45f, "1e-45"},
                 {3.4028235e38f, "3.4028235e+38"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text[leat_float_format(cases[i].value, text)] = 0;
        assert_string_equal(text, cases[i].text);
    }
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t bits = (uint32_t)leat_random(6, 0, i);
        float value, back;
        memcpy(&value, &bits, sizeof value);
        int size = leat_float_format(value, text);
        assert_true(leat_rtt_parse(text, size, &back));
        if (isnan(value)) assert_true(isnan(back));
        else assert_memory_equal(&value, &back, sizeof value);
        /* few decimals are written on a path of their own: the slow one gives no shorter text */
        char slow[LEAT_DOUBLE_TEXT_BYTES];
        value = (float)((double)(bits % 2000000000) / 1000);
        size = leat_float_format(value, text);
        assert_true(leat_rtt_parse(text, size, &back) && back == value);
        for (int digits = 6; digits <= 9; digits++) {
            leat_double_digits((double)value, digits, slow);
            if ((float)leat_double_parse(slow) == value) break;
        }
        assert_int_equal(strlen(text), strlen(slow));
    }
}

static void test_versions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int32_t value;
    } cases[] = {
        {"", true, 0},         {"4", true, 4},     {" 6 ", true, 6},
        {"6.0", true, 6},      {"4e0", true, 4},   {"0.6E+01", true, 6},
        {"4.5e0", false, 0},   {"-5", true, -5},   {"99999999999", true, INT32_MAX},
        {"4.5", false, 0},     {"IPv4", false, 0}, {"-", false, 0},
        {"NA", true, 0},       {" NaN", true, 0},  {"\\N", true, 0},
        {"timeout", false, 0}, {"4,", false, 0},   {"-99999999999999999999", true, -INT32_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t value = 7;
        bool good = leat_version_parse(cases[i].text, (int64_t)strlen(cases[i].text), &value);
        assert_int_equal(good, cases[i].good);
        if (good) assert_int_equal(value, cases[i].value);
    }
}

static void test_csv_append(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t max_bytes;
        const char *out;
    } cases[] = {{"", 9, ""},
                 {"a", 9, "a"},
                 {"a,b", 9, "\"a,b\""},
                 {"a\"b", 9, "\"a\"\"b\""},
                 {"a\nb", 9, "\"a\nb\""},
                 {" a", 9, "\" a\""},
                 {"abcdef", 3, "abc"},
                 {"abc,ef", 3, "abc"},
                 /* formulas of spreadsheets, and what looks like one */
                 {"=1+1", 9, "'=1+1"},
                 {"=\"a\"", 9, "\"'=\"\"a\"\"\""},
                 {"=A1,B1", 9, "\"'=A1,B1\""},
                 {"+x", 9, "'+x"},
                 {"-x", 9, "'-x"},
                 {"@SUM", 9, "'@SUM"},
                 {"\tx", 9, "'\tx"},
                 {"\rx", 9, "\"'\rx\""},
                 {"\nx", 9, "\"\nx\""},
                 {" =x", 9, "\" =x\""},
                 {"a=x", 9, "a=x"},
                 {"'", 9, "''"},
                 {"'=x", 9, "''=x"},
                 {"''", 9, "'''"},
                 {"a'b", 9, "a'b"},
                 /* decimal numbers */
                 {"-1", 9, "-1"},
                 {"+1", 9, "+1"},
                 {"-0.5e-07", 9, "-0.5e-07"},
                 {"+.5E3", 9, "+.5E3"},
                 {"-3.", 9, "-3."},
                 {"-1 ", 9, "\"'-1 \""},
                 {"-", 9, "'-"},
                 {"+.", 9, "'+."},
                 {"-.e1", 9, "'-.e1"},
                 {"-1e", 9, "'-1e"},
                 {"-1e+", 9, "'-1e+"},
                 {"-1.2.3", 9, "'-1.2.3"},
                 {"--1", 9, "'--1"},
                 {"-1+1", 9, "'-1+1"},
                 {"-0x1", 9, "'-0x1"},
                 {"-inf", 9, "'-inf"},
                 {"-1,5", 9, "\"'-1,5\""},
                 {"-12x", 3, "-12"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_buf buf = {0};
        assert_ok(leat_csv_append(&buf, cases[i].text, (int64_t)strlen(cases[i].text),
                                  cases[i].max_bytes, err));
        assert_int_equal(buf.size, strlen(cases[i].out));
        if (buf.size > 0) assert_memory_equal(buf.data, cases[i].out, (size_t)buf.size);
        leat_buf_free(&buf);
    }
}

static void test_locale(void **state) {
    (void)state;
    if (!comma_locale_set()) skip();
    test_numbers(NULL);
    test_float_format(NULL);
    assert_int_equal(time_of_seconds(1602039732.123456), 1602039732123456);
    setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),        cmocka_unit_test(test_time_format),
        cmocka_unit_test(test_ticks),        cmocka_unit_test(test_time_units),
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_numbers_like_strtod),
        cmocka_unit_test(test_float_format), cmocka_unit_test(test_versions),
        cmocka_unit_test(test_csv_append),   cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
