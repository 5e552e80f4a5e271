/*
 * Which format a vehicle log has. Not guessed from names or from a letter here and there: each
 * format's own parser is tried on the first lines, and the one that takes most of them has it.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/can_lines.h"

/* Lines that are looked at. */
enum { SAMPLE_LINES = 256 };

typedef struct sample {
    int count;
    leat_text lines[SAMPLE_LINES]; /* not blank */
} sample;

static const char *const names[LEAT_CAN_FORMATS] = {
    [LEAT_CAN_AUTO] = "auto",         [LEAT_CAN_CSV] = "csv",
    [LEAT_CAN_HCRL] = "hcrl",         [LEAT_CAN_HCRL_TEXT] = "hcrl-text",
    [LEAT_CAN_SURVIVAL] = "survival", [LEAT_CAN_GVRET] = "gvret",
    [LEAT_CAN_CANDUMP] = "candump",
};

const char *leat_can_format_name(leat_can_format format) {
    return (unsigned)format < LEAT_CAN_FORMATS ? names[format] : "";
}

leat_code leat_can_format_parse(const char *text, leat_can_format *format, leat_error *err) {
    *format = LEAT_CAN_AUTO;
    for (int i = 0; i < LEAT_CAN_FORMATS; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *format = (leat_can_format)i;
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_OPTION,
                     "format \"%.64s\" of a vehicle log: it is auto, csv, hcrl, hcrl-text, "
                     "survival, gvret or candump",
                     text);
}

#define TEXT(name, text) [name] = (text),
static const char *const reject_texts[LEAT_CAN_REJECT_COUNT] = {LEAT_CAN_REJECTS(TEXT)};
#undef TEXT
const leat_reject_kind leat_can_rejects = {
    .columns = "file,line,reason,text",
    .row = "line",
    .reasons = reject_texts,
    .reason_count = LEAT_CAN_REJECT_COUNT,
};

/* ---- headers ---- */

static bool is_name(leat_text field, const char *name) {
    return (size_t)field.size_bytes == strlen(name) &&
           memcmp(field.data, name, (size_t)field.size_bytes) == 0;
}

static int column_of(leat_text field) {
    static const struct {
        const char *name;
        int column;
    } columns[] = {
        {"timestamp", LEAT_CAN_COLUMN_TIME},  {"arbitration_id", LEAT_CAN_COLUMN_ID},
        {"arb_id", LEAT_CAN_COLUMN_ID},       {"data_field", LEAT_CAN_COLUMN_PAYLOAD},
        {"payload", LEAT_CAN_COLUMN_PAYLOAD}, {"attack", LEAT_CAN_COLUMN_LABEL},
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (is_name(field, columns[i].name)) return columns[i].column;
    }
    return LEAT_CAN_COLUMN_OTHER;
}

/* The header of a CSV; false if a column is missing, or there twice. */
static bool read_csv_header(leat_text header, leat_can_layout *layout) {
    const char *at = header.data, *end = at + header.size_bytes;
    int seen[LEAT_CAN_COLUMN_KINDS] = {0};
    while (at != NULL) {
        leat_text field;
        if (layout->column_count == LEAT_CAN_COLUMNS_MAX) return false;
        if (!leat_can_field(&at, end, &field)) return false;
        int column = column_of(field);
        seen[column]++;
        layout->column[layout->column_count++] = (int8_t)column;
    }
    layout->labelled = seen[LEAT_CAN_COLUMN_LABEL] == 1;
    return seen[LEAT_CAN_COLUMN_TIME] == 1 && seen[LEAT_CAN_COLUMN_ID] == 1 &&
           seen[LEAT_CAN_COLUMN_PAYLOAD] == 1 && seen[LEAT_CAN_COLUMN_LABEL] <= 1;
}

/* "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,...", in any case, blanks around names, with or without
 * Dir. */
static bool read_gvret_header(leat_text header, leat_can_layout *layout) {
    static const char *const wanted[] = {"timestamp", "id", "extended", "dir", "bus", "len", "d1"};
    const char *at = header.data, *end = at + header.size_bytes;
    for (int i = 0; i < 7; i++) {
        char name[16] = "";
        size_t size = 0;
        for (; at < end && *at != ','; at++) {
            if (*at == ' ' || *at == '\t') continue;
            if (size + 1 == sizeof name) return false;
            name[size++] = (char)(*at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at);
        }
        if (i == 3) {
            layout->direction = strcmp(name, "dir") == 0;
            if (!layout->direction) i++;
        }
        if (strcmp(name, wanted[i]) != 0) return false;
        if (at < end) at++;
    }
    return true;
}

/* ---- formats ---- */

/* Whether any line ends as a flag does. */
static bool has_flags(const sample *lines) {
    for (int i = 0; i < lines->count; i++) {
        const char *at = lines->lines[i].data, *end = at + lines->lines[i].size_bytes;
        while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
        if (end - at >= 2 && end[-2] == ',' && (end[-1] == 'R' || end[-1] == 'T')) return true;
    }
    return false;
}

/* Makes the layout that a file of this format with such lines has; *first: the line behind its
 * header. False if the header is of another one. */
static bool make_layout(leat_can_format format, const sample *lines, leat_can_layout *layout,
                        int *first) {
    *layout = (leat_can_layout){.format = format};
    *first = 0;
    switch (format) {
    case LEAT_CAN_CSV: *first = 1; return read_csv_header(lines->lines[0], layout);
    case LEAT_CAN_GVRET: *first = 1; return read_gvret_header(lines->lines[0], layout);
    case LEAT_CAN_HCRL: layout->labelled = true; return true;
    case LEAT_CAN_SURVIVAL: layout->labelled = has_flags(lines); return true;
    case LEAT_CAN_CANDUMP:
        for (int i = 0; i < lines->count; i++) {
            leat_can_note_buses(layout, lines->lines[i].data, lines->lines[i].size_bytes);
        }
        return true;
    default: return true;
    }
}

/* How many of the lines are of the format, its header among them. */
static int count_lines(leat_can_format format, const sample *lines,
                       const leat_can_line_options *options) {
    leat_can_layout layout;
    int first;
    if (!make_layout(format, lines, &layout, &first)) return 0;
    int count = first;
    for (int i = first; i < lines->count; i++) {
        leat_can_line line;
        leat_can_reject reason = leat_can_parse_line(&layout, options, lines->lines[i].data,
                                                     lines->lines[i].size_bytes, &line);
        count += reason > LEAT_CAN_MALFORMED_LAST;
    }
    return count;
}

/* ---- the beginning of a file ---- */

static void take_sample(const char *text, int64_t size_bytes, sample *lines) {
    const char *end = text + size_bytes;
    lines->count = 0;
    for (const char *at = text; at < end && lines->count < SAMPLE_LINES;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        int64_t size = stop - at;
        if (size > 0 && at[size - 1] == '\r') size--;
        if (size > 0) lines->lines[lines->count++] = (leat_text){at, (int32_t)size};
        at = stop + 1;
    }
}

/* A line as a message may hold it. */
static const char *show(leat_text line, char text[64]) {
    int size = line.size_bytes < 60 ? line.size_bytes : 60;
    for (int i = 0; i < size; i++) {
        char letter = line.data[i];
        text[i] = letter == '\t' ? ' ' : letter;
        if (text[i] < ' ' || text[i] > '~') text[i] = '?';
    }
    snprintf(text + size, 4, "%s", line.size_bytes > size ? "..." : "");
    return text;
}

static leat_code refuse(const sample *lines, const char *path, leat_can_format wanted,
                        leat_can_format looks, leat_error *err) {
    char text[64];
    show(lines->lines[0], text);
    if (looks != LEAT_CAN_AUTO) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": its first lines are not of format %s; the file looks like %s "
                         "(pass --format %s or auto): %s",
                         path, names[wanted], names[looks], names[looks], text);
    }
    if (wanted != LEAT_CAN_AUTO && wanted != LEAT_CAN_CSV) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": its first lines are not of format %s, nor of another: %s", path,
                         names[wanted], text);
    }
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": its first lines are of no format of vehicle logs (csv needs a "
                     "header with timestamp, arbitration_id or arb_id, data_field or payload): %s",
                     path, text);
}

leat_code leat_can_detect(const char *text, int64_t size_bytes, const char *path,
                          leat_can_format wanted, const leat_can_line_options *options,
                          leat_can_layout *layout, leat_can_format *looks, int64_t *skip_bytes,
                          bool *found, leat_error *err) {
    sample lines;
    *layout = (leat_can_layout){0};
    *looks = LEAT_CAN_AUTO;
    *skip_bytes = 0;
    take_sample(text, size_bytes, &lines);
    *found = lines.count > 0;
    if (!*found) return LEAT_OK;
    int counts[LEAT_CAN_FORMATS] = {0};
    for (int i = LEAT_CAN_AUTO + 1; i < LEAT_CAN_FORMATS; i++) {
        counts[i] = count_lines((leat_can_format)i, &lines, options);
        if (counts[i] > counts[*looks]) *looks = (leat_can_format)i;
    }
    leat_can_format format = wanted != LEAT_CAN_AUTO ? wanted : *looks;
    if (counts[format] == 0) return refuse(&lines, path, wanted, *looks, err);
    int first;
    bool made = make_layout(format, &lines, layout, &first);
    LEAT_ASSERT(made);
    if (first < lines.count) *skip_bytes = lines.lines[first].data - text;
    else *skip_bytes = size_bytes;
    return LEAT_OK;
}
