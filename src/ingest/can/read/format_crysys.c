/* CrySyS, TANGOCAN: time identifier 000 DLC bytes, also with label columns at the end. */
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

typedef struct crysys_line {
    leat_text time, id, flags, data, rest;
    int count;
} crysys_line;

/* time identifier flags DLC bytes [labels]: the bytes as words, or as one word. */
static bool read_crysys(const char *at, const char *end, crysys_line *found) {
    found->time = next_word(&at, end);
    found->id = next_word(&at, end);
    found->flags = next_word(&at, end);
    if (!read_count(next_word(&at, end), LEAT_CAN_FD_BYTES, &found->count)) return false;
    while (at < end && leat_is_blank(*at)) at++;
    const char *begin = at, *stop = at;
    for (int i = 0; i < found->count; i++) {
        leat_text word = next_word(&at, end);
        if (word.size_bytes == 0) return false;
        stop = at;
        if (i == 0 && found->count > 1 && word.size_bytes == 2 * found->count) break;
    }
    found->data = text_between(begin, stop);
    found->rest = leat_text_trim(text_between(at, end));
    return found->flags.size_bytes == 3;
}

static leat_text rest_of(const char *at, const char *end) {
    crysys_line found;
    return read_crysys(at, end, &found) ? found.rest : (leat_text){NULL, 0};
}

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)first;
    (void)why;
    leat_can_note_trailing(of, options, rest_of, false, true, layout);
    return true;
}

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    crysys_line found;
    int kind = 0;
    if (!read_crysys(at, end, &found)) return LEAT_CAN_REJECT_LINE;
    if (!read_count(found.flags, 111, &kind)) return LEAT_CAN_REJECT_LINE;
    line->bus = 0;
    leat_can_reject label =
        leat_can_take_trailing(found.rest, layout->trailing_labels, false, options, line);
    if (label == LEAT_CAN_REJECT_LINE) return label;
    if (!read_time(found.time, 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!leat_can_take_id(found.id, false, options, line)) return LEAT_CAN_REJECT_ID;
    note_padded(found.id, line);
    if (kind >= 100) return LEAT_CAN_REJECT_REMOTE;
    const char *data = found.data.data, *stop = data + found.data.size_bytes;
    bool run = found.count > 1 && memchr(data, ' ', (size_t)(stop - data)) == NULL &&
               memchr(data, '\t', (size_t)(stop - data)) == NULL;
    leat_can_reject reason =
        run ? leat_can_take_run(found.data, false, options, line)
            : leat_can_take_bytes(data, stop, ' ', found.count, false, options, line);
    return reason == LEAT_CAN_TAKEN ? label : reason;
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    (void)layout;
    return read_time(next_word(&at, end), 0, time);
}

static leat_text find_label(const leat_can_layout *layout, const char *at, const char *end) {
    return leat_can_find_trailing(layout, at, end, rest_of, false);
}

const leat_can_format_lines leat_can_crysys = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time, .find_label = find_label};
