/* Round-trip times as written: --lost, values that repeat, units in names. */
#include "core_support.h"

#include <math.h>

#include "ingest/probes/rtt_values.h"

static void test_lost(void **state) {
    (void)state;
    static const struct {
        const char *text, *written; /* NULL: refused */
    } cases[] = {
        {NULL, ""},
        {"", ""},
        {"0", "0"},
        {"-0", "0"},
        {"9999,0", "0,9999"},
        {"0,9999.0,9.999e3,0.0", "0,9999"},
        {"4294967295,99999.9", "99999.9,4294967295"},
        {"1e300,-1", "-1,1e+300"},
        {"1,2,3,4,5,6,7,8", "1,2,3,4,5,6,7,8"},
        {"1,2,3,4,5,6,7,8,9", NULL},
        {"1,,2", NULL},
        {"1,", NULL},
        {",", NULL},
        {"x", NULL},
        {"nan", NULL},
        {"inf", NULL},
        {"1e999", NULL},
        {"1 ,2", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_lost lost;
        leat_error error = {0};
        char text[LEAT_LOST_TEXT_BYTES];
        leat_code code = leat_lost_read(cases[i].text, &lost, &error);
        assert_int_equal(code, cases[i].written != NULL ? LEAT_OK : LEAT_ERR_OPTION);
        if (code != LEAT_OK) {
            assert_non_null(strstr(error.message, "--lost \""));
            continue;
        }
        leat_lost_write(&lost, text);
        assert_string_equal(text, cases[i].written);
    }
    leat_lost lost = {1, {9999.9}};
    assert_int_equal(leat_lost_find(&lost, 9999.9, false), 0);
    assert_int_equal(leat_lost_find(&lost, (double)9999.9F, false), -1);
    assert_int_equal(leat_lost_find(&lost, (double)9999.9F, true), 0);
    assert_int_equal(leat_lost_find(NULL, 0, false), -1);
}

/* Values of a file: `rows` of them between 20 and 300, and others; what repeats, and what the
 * advice gives. */
static const struct {
    int rows;
    struct {
        double value;
        int count;
    } more[3];
    bool single;
    const char *text, *option;
} files[] = {
    {100, {{0, 0}}, false, "", ""},
    {97, {{0, 3}}, false, "0 in 3", "0"},
    {97, {{-0.0, 3}}, true, "0 in 3", "0"},
    {99, {{0, 1}}, false, "", ""},     /* 1 % is not more than that */
    {20, {{9999, 1}}, false, "", ""},  /* it does not repeat */
    {198, {{9999, 2}}, false, "", ""}, /* 1 % */
    {21, {{9999, 3}}, false, "9999 in 3", "9999"},
    {21, {{65535, 3}}, true, "65535 in 3", "65535"},
    {21, {{99999, 2}}, false, "99999 in 2", "99999"},
    {21, {{2147483647, 2}}, false, "2147483647 in 2", "2147483647"},
    {21, {{2147483648, 2}}, true, "2147483647 in 2", "2147483647"},
    {21, {{4294967296, 2}}, true, "4294967295 in 2", "4294967295"},
    {21, {{4294967295, 2}, {0, 4}}, false, "0 in 4, 4294967295 in 2", "0,4294967295"},
    {0, {{0, 5}}, false, "0 in 5", "0"}, /* all of them */
    {0, {{5, 50}}, false, "", ""},       /* a constant */
    {21, {{30000, 2}}, false, "30000 in 2", "30000"},
    {21, {{1e300, 2}}, false, "", ""}, /* rejected */
    {21, {{(double)5000.5F, 2}}, true, "5000.5 in 2", "5000.5"},
    {21, {{(double)5000.1F, 2}}, true, "5000.1 in 2", "5000.1"},
    {21, {{320, 3}}, false, "320 in 3", "320"}, /* where a timeout is */
    {21, {{320, 2}}, false, "", ""},            /* by chance */
    {21, {{320, 9}, {310, 8}}, false, "", ""},  /* a distribution */
    {0, {{1, 20}, {2, 79}, {5, 1}}, false, "", ""},
    {0, {{1, 20}, {2, 80}}, false, "", ""}, /* rounded ones */
    {10, {{3100, 90}}, false, "3100 in 90", "3100"},
};

static void add_file(leat_rtt_tally *tally, size_t which, int part, int parts) {
    int number = 0;
    for (int i = 0; i < files[which].rows; i++)
        if (number++ % parts == part) leat_rtt_tally_add(tally, NULL, 20 + 280.0 / (i + 1));
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < files[which].more[k].count; i++)
            if (number++ % parts == part)
                leat_rtt_tally_add(tally, NULL, files[which].more[k].value);
}

static void test_repeats(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (int parts = 1; parts <= 5; parts++) {
            leat_rtt_tally all = {0};
            leat_lost found = {0};
            char text[LEAT_RTT_REPEATS_BYTES], option[LEAT_LOST_TEXT_BYTES];
            for (int part = parts - 1; part >= 0; part--) {
                leat_rtt_tally some = {.single = files[i].single};
                add_file(&some, i, part, parts);
                leat_rtt_tally_merge(&all, &some);
            }
            leat_rtt_tally_repeats(&all, &found, text);
            leat_lost_write(&found, option);
            if (strcmp(text, files[i].text) != 0 || strcmp(option, files[i].option) != 0)
                fail_msg("file %zu in %d parts: \"%s\", \"%s\"", i, parts, text, option);
        }
    }
}

static void test_counts(void **state) {
    (void)state;
    const leat_lost lost = {2, {0, 9999}};
    leat_rtt_tally tally = {0};
    static const double values[] = {5, NAN, 0, 9999, 9999, -1, INFINITY, NAN, NAN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        leat_rtt_tally_add(&tally, &lost, values[i]);
    assert_int_equal(tally.rows, 9);
    assert_int_equal(tally.empty, 3);
    assert_int_equal(tally.lost[0], 1);
    assert_int_equal(tally.lost[1], 2);
    assert_true(tally.top[0].value == 5 && tally.top[0].count == 1);
    assert_true(tally.top[1].value == -1 && tally.top[1].count == 1);
}

static void test_units(void **state) {
    (void)state;
    static const struct {
        const char *names[12];
        leat_rtt_unit unit;
    } cases[] = {
        {{"rtt_us", "latencyUs", "RTT (us)", "usec", "rtt-micros", "rtt[\xc2\xb5s]", "rtt_us_avg",
          "microseconds", "rtt.us", "rttMicroseconds", "RTTus", "latency_us_p99"},
         LEAT_RTT_UNIT_US},
        {{"ping_ms", "ms", "avg_rtt_ms", "rtt_millis", "rtt (ms)", "rttMs", "time_in_msec",
          "RTT_MS", "rttms", "latencyms"},
         LEAT_RTT_UNIT_MS},
        {{"rtt_seconds", "rtt_s", "latency_sec", "Seconds", "rtt/s", "rtt_secs_max"},
         LEAT_RTT_UNIT_S},
        {{"latency_ns", "rttNanos", "rtt nanoseconds", "NS"}, LEAT_RTT_UNIT_NS},
        {{"rtt", "rtts", "pings", "us_rtt", "delay", "", "delays", "bus", "rtt_us_east", "avg",
          "nanosecondsoflatency"},
         LEAT_RTT_UNIT_AUTO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 12 && cases[i].names[k] != NULL; k++)
            if (leat_rtt_unit_of_name(cases[i].names[k]) != cases[i].unit)
                fail_msg("%s: %d", cases[i].names[k], leat_rtt_unit_of_name(cases[i].names[k]));
    leat_probes_ingest_options options = leat_probes_ingest_options_default();
    assert_int_equal(leat_rtt_unit_of(&options), LEAT_RTT_UNIT_MS);
    options.column_rtt = "rtt_us";
    assert_int_equal(leat_rtt_unit_of(&options), LEAT_RTT_UNIT_US);
    options.rtt_unit = LEAT_RTT_UNIT_MS;
    assert_int_equal(leat_rtt_unit_of(&options), LEAT_RTT_UNIT_MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
