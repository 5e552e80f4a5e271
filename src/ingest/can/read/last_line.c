/*
 * The last line of a file that was copied while it was being written, or whose disk was full: it
 * may end anywhere. Within its payload it may still look like a frame, with fewer bytes. A line
 * that has an end is complete, and so is one whose length says how many bytes there are.
 *
 * How a format writes payloads is not asked: a line to which another byte can be added, or another
 * digit, ends within its payload.
 */
#include <stdio.h>
#include <string.h>

#include "base/lines.h"
#include "ingest/can/read/context.h"
#include "ingest/can/read/formats.h"

/* A longer line is not one of a frame. */
enum { LINE_MAX_BYTES = 4096, SUFFIX_BYTES = 12 };

/* What a line with a text added to its end is read as; false: not as a frame. */
static bool read_longer(const leat_can_text *of, leat_text text, const char *suffix,
                        leat_can_line *line) {
    char longer[LINE_MAX_BYTES + SUFFIX_BYTES];
    const int size = (int)strlen(suffix);
    if (text.size_bytes > LINE_MAX_BYTES) return false;
    memcpy(longer, text.data, (size_t)text.size_bytes);
    memcpy(longer + text.size_bytes, suffix, (size_t)size);
    return leat_can_parse_line(of->layout, of->options, longer, text.size_bytes + size, line) ==
           LEAT_CAN_TAKEN;
}

/* Whether nothing but the end of the line says how many bytes a frame has. */
static bool is_open(const leat_can_text *of, leat_text text, const leat_can_line *line) {
    /* in digits, bits and base64 */
    static const char *const bytes[] = {"00", " 00", ",00", ";00", "\t00", "00000000", "AA=="};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        leat_can_line longer;
        if (read_longer(of, text, bytes[i], &longer) && longer.time == line->time &&
            memcmp(longer.id, line->id, sizeof line->id) == 0 &&
            longer.size_bytes == line->size_bytes + 1)
            return true;
    }
    return false;
}

/* Whether a line ends with a byte of one digit, which another one would change. */
static bool ends_with_digit(const leat_can_text *of, leat_text text, const leat_can_line *line) {
    leat_can_line longer;
    return read_longer(of, text, "F", &longer) && longer.size_bytes == line->size_bytes &&
           memcmp(longer.bytes, line->bytes, sizeof line->bytes) != 0;
}

/* The last line of a text; what is before it. */
static leat_text last_of(const leat_can_text *of, leat_can_text *before) {
    const char *feed = of->end > of->at ? memrchr(of->at, '\n', (size_t)(of->end - of->at)) : NULL;
    *before = *of;
    before->end = feed != NULL ? feed + 1 : of->at;
    return (leat_text){before->end, (int32_t)(of->end - before->end)};
}

/* Whether a line of the text ends with a byte of one digit: its writer writes them so. */
bool leat_can_has_single_digits(const leat_can_text *of) {
    leat_can_layout layout = *of->layout;
    leat_can_reject reason;
    leat_can_line line;
    leat_text text;
    const char *at = of->at;
    while (leat_can_next_line(&layout, of->options, &at, of->end, &text, &reason, &line)) {
        if (reason == LEAT_CAN_TAKEN && ends_with_digit(of, text, &line)) return true;
    }
    return false;
}

/* The frames of an identifier. */
typedef struct others {
    const leat_can_line *last;
    bool any;    /* there are some */
    bool short_; /* one of them has no more bytes than the last one */
} others;

static void look_at(others *of, leat_can_reject reason, const leat_can_line *line) {
    if (reason != LEAT_CAN_TAKEN || memcmp(line->id, of->last->id, sizeof line->id) != 0) return;
    of->any = true;
    of->short_ = of->short_ || line->size_bytes <= of->last->size_bytes;
}

static void look_at_text(const leat_can_text *of, others *found) {
    leat_can_layout layout = *of->layout;
    leat_can_reject reason;
    leat_can_line line;
    leat_text text;
    const char *at = of->at;
    while (!found->short_ &&
           leat_can_next_line(&layout, of->options, &at, of->end, &text, &reason, &line))
        look_at(found, reason, &line);
}

/* The lines of a file before this one. */
static leat_code look_at_file(const leat_input *input, const leat_can_text *of, int64_t number,
                              others *found, leat_error *err) {
    leat_lines *lines = NULL;
    leat_lines_options reading = {.coding = input->coding};
    leat_can_layout layout = *of->layout;
    leat_line next = {.number = 0};
    bool more = true;
    LEAT_TRY(leat_lines_open(&lines, input->path, &reading, err));
    leat_code code = LEAT_OK;
    while (code == LEAT_OK && more && !found->short_) {
        leat_can_line line;
        code = leat_lines_next(lines, &next, &more, err);
        if (code != LEAT_OK || !more || next.number >= number) break;
        if (next.fault != LEAT_LINE_GOOD || next.size_bytes == 0) continue;
        leat_can_reject reason =
            leat_can_parse_line(&layout, of->options, next.data, next.size_bytes, &line);
        leat_can_follow(&layout, next.data, next.size_bytes);
        look_at(found, reason, &line);
    }
    leat_lines_close(lines);
    return code;
}

leat_can_ending leat_can_ending_of(const leat_can_text *of, leat_text text, leat_can_line *line) {
    /* after CR, only LF is missing */
    if (text.size_bytes == 0 || text.data[text.size_bytes - 1] == '\r') return LEAT_CAN_ENDS;
    if (!read_longer(of, text, "", line)) return LEAT_CAN_ENDS;
    if (ends_with_digit(of, text, line)) return LEAT_CAN_ENDS_WITH_DIGIT;
    return is_open(of, text, line) ? LEAT_CAN_ENDS_OPEN : LEAT_CAN_ENDS;
}

leat_code leat_can_is_truncated(const leat_input *input, const leat_can_text *text, int64_t number,
                                bool *truncated, leat_error *err) {
    leat_can_text before;
    leat_can_line line;
    const leat_text last = last_of(text, &before);
    const leat_can_ending ending = leat_can_ending_of(text, last, &line);
    *truncated = ending == LEAT_CAN_ENDS_WITH_DIGIT && !leat_can_has_single_digits(&before);
    if (ending != LEAT_CAN_ENDS_OPEN) return LEAT_OK;
    others found = {.last = &line};
    look_at_text(&before, &found);
    if (!found.short_ && number > 1) LEAT_TRY(look_at_file(input, text, number, &found, err));
    *truncated = found.any && !found.short_;
    return LEAT_OK;
}
