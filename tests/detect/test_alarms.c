/* Alarms: what is one, what is told of it and when, and what is held back. */
#include "check.h"

#include <stdio.h>

#include "leat/detect.h"

/* One letter a window: '.' does not alarm; others name its identifier. Times are 1 s apart. */
typedef struct script {
    const char *windows;
    int64_t per_minute;
    const char *want; /* "+1A", "-1A3": the begin of alarm 1 for A, its end after 3 windows; "(2)":
                         alarms that were held back before */
} script;

static leat_alarm_window window_of(int i, char letter) {
    leat_alarm_window window = {.start = i * 100,
                                .begin_s = i,
                                .end_s = i + 0.5,
                                .elapsed_s = i + 0.5,
                                .score = i % 7,
                                .alarms = letter != '.',
                                .cause = {.feature = i % 35, .byte = leat_feature_byte(i % 35)}};
    window.cause.identifier[0] = letter != '.' ? letter : 0;
    return window;
}

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
        {"", 0, ""},
        {"...", 0, ""},
        {"A", 0, "+1A -1A1 "},
        {"..AAA..", 0, "+1A -1A3 "},
        {"AABBA", 0, "+1A -1A2 +2B -2B2 +3A -3A1 "},
        {"A.A", 0, "+1A -1A1 +2A -2A1 "},
        /* two a minute: the third is told with the next that is */
        {"A.B.C.D", 2, "+1A -1A1 +2B -2B1 "},
        {"A.B.C.D......................................................E", 2,
         "+1A -1A1 +2B -2B1 (2)+5E -5E1 "},
        /* one that lasts is told late, and has its begin; nothing of it is held back then */
        {"A.BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB", 1,
         "+1A -1A1 +2B59 -2B62 "},
        {"ABAB", 1, "+1A -1A1 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512] = "";
        leat_alarms *alarms = NULL;
        leat_alarm_line lines[2];
        leat_alarm_counts counts;
        assert_ok(leat_alarms_create(&alarms, cases[i].per_minute, err));
        for (int k = 0; cases[i].windows[k] != 0; k++) {
            const leat_alarm_window window = window_of(k, cases[i].windows[k]);
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
    leat_alarm_line lines[2];
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
    assert_true(alarm->begin_s == 3 && alarm->end_s == 9.5);
    leat_alarms_destroy(alarms);
}

/* Each bus has an alarm of its own; a new recording ends it. */
static void captures(void **state) {
    (void)state;
    char text[512] = "";
    leat_alarms *alarms = NULL;
    leat_alarm_line lines[2];
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
        cmocka_unit_test(scripts),
        cmocka_unit_test(peaks),
        cmocka_unit_test(captures),
        cmocka_unit_test(bytes_of_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
