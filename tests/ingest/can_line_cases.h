/*
 * Cases of lines of vehicle logs: what a line becomes in a file with given first lines, as a text,
 * or why it is no frame.
 */
#ifndef LEAT_TESTS_CAN_LINE_CASES_H
#define LEAT_TESTS_CAN_LINE_CASES_H

#include "source_support.h"

#include "ingest/can/read/known_logs.h"

/* Options, as letters: w identifiers as written, l lenient payloads, r CAN-FD refused. */
static leat_can_line_options options_of(const char *letters) {
    return (leat_can_line_options){.canonical = strchr(letters, 'w') == NULL,
                                   .strict = strchr(letters, 'l') == NULL,
                                   .fd_refuse = strchr(letters, 'r') != NULL};
}

#ifndef TIME_DIGITS
#define TIME_DIGITS 9
#endif

/* "time bus id bytes attack", bytes parted by full stops. */
static void frame_text(const leat_can_line *line, char text[256]) {
    int size = sprintf(text, "%.*g %d %.16s ", TIME_DIGITS, line->time, line->bus, line->id);
    for (int i = 0; i < LEAT_CAN_BYTES; i++) {
        size += sprintf(text + size, "%s%d", i > 0 ? "." : "", line->bytes[i]);
    }
    sprintf(text + size, " %d", line->attack);
}

/* What the line gives, in a block of exactly its size, so that a sanitizer sees one byte too many.
 */
static const char *parse(const leat_can_layout *layout, const char *letters, const char *text,
                         int64_t size) {
    static char result[256];
    leat_can_line_options options = options_of(letters);
    char *exact = malloc((size_t)size + (size == 0));
    memcpy(exact, text, (size_t)size);
    leat_can_line line;
    memset(&line, 0x5a, sizeof line);
    leat_can_reject reason = leat_can_parse_line(layout, &options, exact, size, &line);
    free(exact);
    if (reason == LEAT_CAN_TAKEN) frame_text(&line, result);
    else snprintf(result, sizeof result, "%s", leat_can_rejects.reasons[reason]);
    return result;
}

typedef struct line_case {
    const char *line, *want;
    const char *letters; /* NULL: none */
} line_case;

/* What a file with these first lines is taken for. */
typedef struct detection {
    leat_can_layout layout;
    leat_can_format looks;
    int64_t skip; /* bytes before the first line of a frame */
    bool found;
} detection;

static leat_can_head head_of(const char *text, const char *path, leat_can_format format) {
    return (leat_can_head){text, (int64_t)strlen(text), path, format};
}

static detection detect(const char *text, leat_can_format format) {
    const leat_can_head head = head_of(text, "x", format);
    leat_can_detected it;
    leat_can_line_options options = options_of("");
    assert_ok(leat_can_detect(&head, &options, &it, err));
    return (detection){it.layout, it.looks, it.skip_bytes, it.found};
}

static void check_lines(leat_can_format format, const char *first, const line_case *cases,
                        size_t count) {
    const detection it = detect(first, format);
    assert_true(it.found);
    assert_int_equal(it.layout.format, format);
    for (size_t i = 0; i < count; i++) {
        const char *letters = cases[i].letters != NULL ? cases[i].letters : "";
        const char *got = parse(&it.layout, letters, cases[i].line, (int64_t)strlen(cases[i].line));
        if (strcmp(got, cases[i].want) != 0) {
            fail_msg("%s <%s> %s:\n  %s\n  wanted %s", leat_can_format_name(format), cases[i].line,
                     letters, got, cases[i].want);
        }
    }
}
#define CHECK(format, first, cases)                                                                \
    check_lines(format, first, cases, sizeof(cases) / sizeof *(cases))

/* The lines after the header of a text, one after the other: each decides about those after it. */
static inline void check_sequence(leat_can_format format, const char *text,
                                  const char *const *wanted) {
    detection it = detect(text, format);
    for (const char *at = text + it.skip; *at != 0; wanted++) {
        const char *stop = strchr(at, '\n');
        const char *got = parse(&it.layout, "", at, stop - at);
        assert_non_null(*wanted);
        if (strcmp(got, *wanted) != 0)
            fail_msg("<%.*s>:\n  %s\n  wanted %s", (int)(stop - at), at, got, *wanted);
        leat_can_follow(&it.layout, at, stop - at);
        at = stop + 1;
    }
    assert_null(*wanted);
}

/* No format is found in this text. */
static inline void check_refused(const char *text, const char *name, const char *want) {
    const leat_can_head head = head_of(text, name, LEAT_CAN_AUTO);
    leat_can_detected found;
    leat_can_line_options options = options_of("");
    assert_fails(leat_can_detect(&head, &options, &found, err), LEAT_ERR_INPUT, want);
}

#define LINE "malformed_line"
#define TIME "timestamp_unparsable"
#define ID "identifier_unparsable"
#define LABEL "label_unparsable"
#define NO_LABEL "label_missing"
#define BUS "bus_unparsable"
#define PAYLOAD "payload_unparsable"
#define FD "can_fd_frame"
#define REMOTE "remote_frame"
#define BROKEN "error_frame"
#define EVENT "not_a_frame"

#endif
