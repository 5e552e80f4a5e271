/* HCRL's log in free text, which has no labels. */
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

/* Timestamp: 1479121434.850202        ID: 0350    000    DLC: 8    05 28 84 66 6d 00 00 a2 */
static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    (void)layout;
    if (!is_word(next_word(&at, end), "Timestamp:")) return LEAT_CAN_REJECT_LINE;
    leat_text time = next_word(&at, end);
    if (!is_word(next_word(&at, end), "ID:")) return LEAT_CAN_REJECT_LINE;
    leat_text id = next_word(&at, end), flags = next_word(&at, end);
    if (!is_word(next_word(&at, end), "DLC:")) return LEAT_CAN_REJECT_LINE;
    int count = 0, kind = 0;
    if (!read_count(next_word(&at, end), LEAT_CAN_FD_BYTES, &count)) return LEAT_CAN_REJECT_LINE;
    /* three digits; the first marks a remote frame */
    if (flags.size_bytes != 3 || !read_count(flags, 111, &kind)) return LEAT_CAN_REJECT_LINE;
    if (!read_time(time, 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!leat_can_take_id(id, false, options, line)) return LEAT_CAN_REJECT_ID;
    note_padded(id, line);
    if (kind >= 100) return LEAT_CAN_REJECT_REMOTE;
    line->bus = 0;
    line->attack = false;
    leat_text bytes = leat_text_trim(text_between(at, end));
    return leat_can_take_bytes(bytes.data, bytes.data + bytes.size_bytes, ' ', count, false,
                               options, line);
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    (void)layout;
    return is_word(next_word(&at, end), "Timestamp:") && read_time(next_word(&at, end), 0, time);
}

const leat_can_format_lines leat_can_hcrl_text = {.parse = parse, .find_time = find_time};
