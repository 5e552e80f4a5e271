/* Alarms: what is one, what is told of it and when, and what is held back. */
#include "check.h"

#include <stdio.h>

#include "leat/detect.h"

/* One letter a window: '.' does not alarm; capitals name its identifier, small letters one that the
 * detector does not know. Half of the time between windows is in none of them. */
typedef struct script {
    const char *windows;
    double step_s;
    int64_t per_minute;
    const char *want; /* "+1A", "-1A3": the begin of alarm 1 for A, its end after 3 windows; "(2)":
                         alarms that were held back before */
} script;

static leat_alarm_window window_at(int i, char letter, double step_s) {
    leat_alarm_window window = {
        .start = i * 100,
        .begin_s = i * step_s,
        .end_s = (i + 0.5) * step_s,
        .elapsed_s = (i + 0.5) * step_s,
        .score = i % 7,
        .alarms = letter != '.',
        .cause = {.unknown = letter >= 'a', .feature = i % 35, .byte = leat_feature_byte(i % 35)}};
    window.cause.identifier[0] = letter != '.' ? letter : 0;
    return window;
}

static leat_alarm_window window_of(int i, char letter) { return window_at(i, letter, 1); }

static void put_line(char *text, const leat_alarm_line *line) {
    char *at = text + strlen(text);
    if (line->held_back > 0) at += sprintf(at, "(%d)", (int)line->held_back);
    at += sprintf(at, "%c%d%s", line->ended ? '-' : '+', (int)line->alarm.number,
                  line->alarm.cause.identifier);
    if (line->ended || line->alarm.windows > 1) at += sprintf(at, "%d", (int)line->alarm.windows);
    sprintf(at, " ");
}

static void scripts(void **state) {
    (void)state;
    static const script cases[] = {
        {"", 1, 0, ""},
        {"...", 1, 0, ""},
        {"A", 1, 0, "+1A -1A1 "},
        {"..AAA..", 1, 0, "+1A -1A3 "},
        /* a gap of 0.5 s, and of 1.5 s before the second window */
        {"A.A", 1, 0, "+1A -1A2 "},
        {"A..A", 1, 0, "+1A -1A1 +2A -2A1 "},
        {"A.A.A.A", 0.1, 0, "+1A -1A4 "},
        {"A..........A", 0.1, 0, "+1A -1A2 "},
        {"A............A", 0.1, 0, "+1A -1A1 +2A -2A1 "},
        /* windows that are slow, or far apart: none was between them */
        {"AA", 5, 0, "+1A -1A2 "},
        {"A.A", 5, 0, "+1A -1A1 +2A -2A1 "},
        /* another cause is another alarm, beside the first */
        {"AABBA", 1, 0, "+1A +2B -1A2 +3A -2B2 -3A1 "},
        {"ABABAB", 1, 0, "+1A +2B -1A3 -2B3 "},
        {"abc", 1, 0, "+1a -1c3 "},
        {"aAb", 1, 0, "+1a +2A -1b2 -2A1 "},
        /* two a minute: the third is told with the next that is */
        {"A.B.C.D", 1, 2, "+1A -1A1 +2B -2B1 "},
        {"A.B.C.D......................................................E", 1, 2,
         "+1A -1A1 +2B -2B1 (2)+5E -5E1 "},
        /* one that lasts is told late, and has its begin; nothing of it is held back then */
        {"A.BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB", 1, 1,
         "+1A -1A1 +2B59 -2B62 "},
        {"ABAB", 1, 1, "+1A -1A2 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512] = "";
        leat_alarms *alarms = NULL;
        leat_alarm_line lines[LEAT_ALARM_LINES_MAX];
        leat_alarm_counts counts;
        assert_ok(leat_alarms_create(&alarms, cases[i].per_minute, err));
        for (int k = 0; cases[i].windows[k] != 0; k++) {
            const leat_alarm_window window = window_at(k, cases[i].windows[k], cases[i].step_s);
            const int count = leat_alarms_add(alarms, &window, lines);
            for (int n = 0; n < count; n++) put_line(text, &lines[n]);
        }
        while (leat_alarms_end(alarms, lines)) put_line(text, lines);
        assert_string_equal(text, cases[i].want);
        leat_alarms_count(alarms, &counts);
        int told = 0;
        for (const char *at = text; *at != 0; at++) told += *at == '+';
        assert_int_equal(counts.alarms, told + counts.held_back);
        leat_alarms_destroy(alarms);
    }
}

/* The highest score of an alarm says what it is about, and ends are of its last window. */
static void peaks(void **state) {
    (void)state;
    leat_alarms *alarms = NULL;
    leat_alarm_line lines[LEAT_ALARM_LINES_MAX];
    assert_ok(leat_alarms_create(&alarms, 0, err));
    for (int i = 3; i < 10; i++) {
        const leat_alarm_window window = window_of(i, 'A');
        assert_int_equal(leat_alarms_add(alarms, &window, lines), i == 3);
    }
    assert_true(leat_alarms_end(alarms, lines));
    assert_false(leat_alarms_end(alarms, lines + 1));
    const leat_alarm *alarm = &lines[0].alarm;
    assert_true(lines[0].ended && alarm->peak == 6 && alarm->peak_start == 600);
    assert_int_equal(alarm->cause.feature, 6);
    assert_int_equal(alarm->cause.byte, 6);
    assert_int_equal(alarm->start, 300);
    assert_true(alarm->begin_s == 3 && alarm->end_s == 9.5 && alarm->duration_s == 6.5);
    leat_alarms_destroy(alarms);
}

/* Each bus has an alarm of its own; a new recording ends it. */
static void captures(void **state) {
    (void)state;
    char text[512] = "";
    leat_alarms *alarms = NULL;
    leat_alarm_line lines[LEAT_ALARM_LINES_MAX];
    assert_ok(leat_alarms_create(&alarms, 0, err));
    for (int i = 0; i < 8; i++) {
        leat_alarm_window window = window_of(i, 'A');
        window.bus = i % 2 - 1;
        window.recording = i / 6;
        const int count = leat_alarms_add(alarms, &window, lines);
        for (int n = 0; n < count; n++) put_line(text, &lines[n]);
    }
    assert_string_equal(text, "+1A +2A -1A3 +3A -2A3 +4A ");
    while (leat_alarms_end(alarms, lines)) put_line(text, lines);
    assert_string_equal(text, "+1A +2A -1A3 +3A -2A3 +4A -3A1 -4A1 ");
    leat_alarms_destroy(alarms);
    assert_fails(leat_alarms_create(&alarms, -1, err), LEAT_ERR_OPTION, "not -1");
    assert_fails(leat_alarms_create(&alarms, 10001, err), LEAT_ERR_OPTION,
                 "--alarms-per-minute must be between 0 (all of them) and 10000, not 10001");
    assert_null(alarms);
}

/* A clock that steps back, where that begins no recording, has no hold on an alarm. */
static void a_clock_that_steps_back(void **state) {
    (void)state;
    char text[512] = "";
    leat_alarms *alarms = NULL;
    leat_alarm_line lines[LEAT_ALARM_LINES_MAX];
    assert_ok(leat_alarms_create(&alarms, 0, err));
    for (int i = 0; i < 5; i++) {
        leat_alarm_window window = window_of(i, i < 2 ? 'A' : '.');
        if (i > 0) window.begin_s -= i == 1 ? 0 : 1000;
        if (i > 0) window.end_s -= 1000;
        const int count = leat_alarms_add(alarms, &window, lines);
        for (int n = 0; n < count; n++) put_line(text, &lines[n]);
    }
    assert_string_equal(text, "+1A -1A2 ");
    assert_true(lines[0].alarm.duration_s == 1.5 && lines[0].alarm.end_s == 0.5);
    leat_alarms_destroy(alarms);
}

/* More than go on at once: the one that has waited longest ends, and begins anew if it goes on. */
static void too_many_causes(void **state) {
    (void)state;
    leat_alarms *alarms = NULL;
    leat_alarm_line lines[LEAT_ALARM_LINES_MAX];
    leat_alarm_counts counts;
    assert_ok(leat_alarms_create(&alarms, 0, err));
    for (int i = 0; i <= LEAT_ALARMS_OPEN_MAX; i++) {
        leat_alarm_window window = window_at(i, 'A', 1e-3);
        snprintf(window.cause.identifier, sizeof window.cause.identifier, "%03X", i);
        const int count = leat_alarms_add(alarms, &window, lines);
        assert_int_equal(count, i < LEAT_ALARMS_OPEN_MAX ? 1 : 2);
    }
    assert_true(lines[0].ended && lines[0].alarm.number == 1 && !lines[1].ended);
    assert_string_equal(lines[1].alarm.cause.identifier, "040");
    /* a window that comes 2 s later ends all of them */
    const leat_alarm_window last = window_of(2, 'A');
    assert_int_equal(leat_alarms_add(alarms, &last, lines), LEAT_ALARM_LINES_MAX);
    leat_alarms_count(alarms, &counts);
    assert_int_equal(counts.alarms, LEAT_ALARMS_OPEN_MAX + 2);
    leat_alarms_destroy(alarms);
}

static void bytes_of_features(void **state) {
    (void)state;
    for (int i = -1; i <= LEAT_NODE_FEATURES; i++) {
        const char *name = leat_node_feature_name(i);
        const bool byte = name != NULL && strncmp(name, "byte_", 5) == 0;
        assert_int_equal(leat_feature_byte(i), byte ? name[5] - '0' : -1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts),         cmocka_unit_test(peaks),
        cmocka_unit_test(captures),        cmocka_unit_test(a_clock_that_steps_back),
        cmocka_unit_test(too_many_causes), cmocka_unit_test(bytes_of_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
