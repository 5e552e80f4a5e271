/* HCRL's Car-Hacking csv without a header, and Survival, whose bytes may have blanks between them:
 * time,identifier,DLC,bytes,flag. */
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"
#include "ingest/can/read/labels.h"

/* Whether any line ends with a flag. */
static bool has_flags(const leat_can_first_lines *of) {
    for (int i = 0; i < of->count; i++) {
        const char *at = of->lines[i].data, *end = at + of->lines[i].size_bytes;
        while (end > at && leat_is_blank(end[-1])) end--;
        if (end - at >= 2 && end[-2] == ',' && (end[-1] == 'R' || end[-1] == 'T')) return true;
    }
    return false;
}

/* A row without the empty cells that some programs write behind its flag, so that all rows have as
 * many; no byte is written like a flag. */
static const char *end_of_flag(const char *at, const char *end) {
    const char *last = end;
    while (last > at && (last[-1] == ',' || leat_is_blank(last[-1]))) last--;
    bool flag = last - at >= 2 && last[-2] == ',' && (last[-1] == 'R' || last[-1] == 'T');
    return flag ? last : end;
}

static bool has_empty_cells(const leat_can_first_lines *of) {
    for (int i = 0; i < of->count; i++) {
        const char *at = of->lines[i].data, *end = at + of->lines[i].size_bytes;
        const char *last = end_of_flag(at, end);
        if (memchr(last, ',', (size_t)(end - last)) != NULL) return true;
    }
    return false;
}

/* hcrl always has flags; survival may have none. */
static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)options;
    (void)first;
    (void)why;
    layout->padded = layout->format == LEAT_CAN_HCRL && has_empty_cells(of);
    layout->labelled = layout->format == LEAT_CAN_HCRL || has_flags(of);
    return true;
}

/* time,identifier,DLC,bytes,flag */
static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    while (end > at && leat_is_blank(end[-1])) end--;
    if (layout->padded) end = end_of_flag(at, end);
    leat_text time = until_comma(&at, end), id = {NULL, 0}, dlc = {NULL, 0};
    if (at != NULL) id = until_comma(&at, end);
    if (at != NULL) dlc = until_comma(&at, end);
    int count = 0;
    if (at == NULL || !read_count(leat_text_trim(dlc), LEAT_CAN_FD_BYTES, &count))
        return LEAT_CAN_REJECT_LINE;
    if (!read_time(leat_text_trim(time), 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!leat_can_take_id(leat_text_trim(id), false, options, line)) return LEAT_CAN_REJECT_ID;
    note_padded(leat_text_trim(id), line);
    line->bus = 0;
    line->attack = false;
    bool flagged = true, missing = false, blanks = layout->format == LEAT_CAN_SURVIVAL;
    if (layout->labelled || options->sparse) {
        const char *comma = memrchr(at, ',', (size_t)(end - at));
        leat_text flag = leat_text_trim(text_between(comma != NULL ? comma + 1 : at, end));
        line->attack = is_word(flag, "T");
        flagged = line->attack || is_word(flag, "R");
        missing = leat_can_label_missing(flag);
        bool data = options->sparse && !flagged && !missing; /* a byte */
        if (data) flag.size_bytes = 0;
        else blanks = blanks || comma == NULL; /* a column without a byte */
        if (!data) end = comma != NULL ? comma : at;
        if (flagged) line->marks |= line->attack ? LEAT_CAN_MARK_ATTACK : LEAT_CAN_MARK_BENIGN;
        flagged = flagged || leat_can_take_sparse(flag, options, line);
    } else if (end - at >= 2 && end[-2] == ',' && (end[-1] == 'R' || end[-1] == 'T')) {
        return LEAT_CAN_REJECT_LABEL; /* the first lines had no flags */
    }
    blanks = blanks && memchr(at, ',', (size_t)(end - at)) == NULL;
    leat_can_reject reason =
        leat_can_take_bytes(at, end, blanks ? ' ' : ',', count, false, options, line);
    if (reason == LEAT_CAN_REJECT_LINE) return reason;
    if (flagged) return reason;
    return missing ? LEAT_CAN_REJECT_NO_LABEL : LEAT_CAN_REJECT_LABEL;
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    (void)layout;
    return read_time(leat_text_trim(until_comma(&at, end)), 0, time);
}

static leat_text find_label(const leat_can_layout *layout, const char *at, const char *end) {
    (void)layout;
    const char *comma = memrchr(at, ',', (size_t)(end - at));
    return leat_text_trim(text_between(comma != NULL ? comma + 1 : at, end));
}

const leat_can_format_lines leat_can_hcrl = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time, .find_label = find_label};
const leat_can_format_lines leat_can_survival = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time, .find_label = find_label};
