/*
 * Which format a vehicle log has. Not guessed from names or single characters: each format's own
 * parser is tried on the first lines, and the one that accepts most of them wins.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/can/read/pieces.h"
#include "ingest/can/read/table.h"

/* The number of lines examined. */
enum { SAMPLE_LINES = 256 };

typedef struct sample {
    int count;
    leat_text lines[SAMPLE_LINES]; /* not blank */
} sample;

#define NAME(format, name) [format] = (name),
static const char *const names[LEAT_CAN_FORMATS] = {[LEAT_CAN_AUTO] = "auto",
                                                    LEAT_CAN_FORMAT_TABLE(NAME)};
#undef NAME

const char *leat_can_format_name(leat_can_format format) {
    return (unsigned)format < LEAT_CAN_FORMATS ? names[format] : "";
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

/* "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,...", in any case, with blanks around names, with or
 * without Dir. */
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

/* A label behind the data would be skipped like padding: the columns have to be named. */
static leat_code check_gvret(leat_text header, const char *path, leat_error *err) {
    leat_can_layout layout;
    leat_text cells[LEAT_CAN_COLUMNS_MAX];
    char text[64];
    if (!read_gvret_header(header, &layout)) return LEAT_OK;
    int count = leat_can_split_cells(header.data, header.data + header.size_bytes, ',', cells,
                                     LEAT_CAN_COLUMNS_MAX);
    for (int i = layout.direction ? 7 : 6; i < count; i++) {
        if (leat_can_label_rank(cells[i]) < 0 && !leat_can_label_like(cells[i])) continue;
        leat_text_show(text, sizeof text, cells[i].data, cells[i].size_bytes);
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": column \"%s\" looks like a label, but gvret logs have none; read "
                         "it with --column \"time=1:us,label=%s\"",
                         path, text, text);
    }
    return LEAT_OK;
}

/* ---- formats ---- */

/* Whether any line ends with a flag. */
static bool has_flags(const sample *lines) {
    for (int i = 0; i < lines->count; i++) {
        const char *at = lines->lines[i].data, *end = at + lines->lines[i].size_bytes;
        while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
        if (end - at >= 2 && end[-2] == ',' && (end[-1] == 'R' || end[-1] == 'T')) return true;
    }
    return false;
}

/* The label columns at the end of lines, if most have them, by the number that most of these have.
 * Words of different numbers behind a payload of CrySyS may as well be its padding. */
static void note_labels(const sample *lines, leat_can_layout *layout) {
    int seen[LEAT_CAN_TRAILING_LABELS_MAX + 1] = {0}, complete = 0, most = 1;
    for (int i = 0; i < lines->count; i++) {
        int count = leat_can_trailing_labels(layout->format, lines->lines[i].data,
                                             lines->lines[i].size_bytes);
        if (count < 0) continue;
        complete++;
        seen[count]++;
    }
    for (int i = 2; i <= LEAT_CAN_TRAILING_LABELS_MAX; i++) {
        if (seen[i] > seen[most]) most = i;
    }
    int with = complete - seen[0];
    bool same = seen[most] == with || layout->format != LEAT_CAN_CRYSYS;
    if (with == 0 || seen[0] > with || !same) return;
    layout->trailing_labels = most;
    layout->labelled = true;
}

/* The layout of a file of this format with these lines; *first: the line after its header. False if
 * the header belongs to another format; `why`, of LEAT_CAN_WHY_BYTES, then says what a csv lacks.
 */
static bool make_layout(leat_can_format format, const sample *lines,
                        const leat_can_line_options *options, leat_can_layout *layout, int *first,
                        char *why) {
    *layout = (leat_can_layout){.format = format};
    *first = 0;
    leat_can_layout gvret = {.format = LEAT_CAN_GVRET};
    if (format == LEAT_CAN_CSV) {
        why[0] = 0;
        if (options->columns == NULL && read_gvret_header(lines->lines[0], &gvret)) return false;
        return leat_can_read_header(lines->lines, lines->count, options, layout, first, why);
    }
    switch (format) {
    case LEAT_CAN_GVRET: *first = 1; return read_gvret_header(lines->lines[0], layout);
    case LEAT_CAN_HCRL: layout->labelled = true; return true;
    case LEAT_CAN_SURVIVAL: layout->labelled = has_flags(lines); return true;
    case LEAT_CAN_CRYSYS: note_labels(lines, layout); return true;
    case LEAT_CAN_CANDUMP:
        note_labels(lines, layout);
        for (int i = 0; i < lines->count; i++) {
            leat_can_note_buses(layout, lines->lines[i].data, lines->lines[i].size_bytes);
        }
        return true;
    default: return true;
    }
}

/* How many of the lines match the format, including its header. */
static int count_lines(leat_can_format format, const sample *lines,
                       const leat_can_line_options *options, char *why) {
    leat_can_layout layout;
    int first;
    if (!make_layout(format, lines, options, &layout, &first, why)) return 0;
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

/* A line as shown in a message. */
static const char *show(leat_text line, char text[64]) {
    int64_t taken = leat_text_show(text, 61, line.data, line.size_bytes);
    if (taken < line.size_bytes) memcpy(text + strlen(text), "...", 4);
    return text;
}

/* The first cells: "a", "b", "c". */
static void show_cells(leat_text line, char text[LEAT_CAN_WHY_BYTES]) {
    static const char parts[] = ",;\t ";
    leat_text cells[3];
    int count = 0;
    char best = ',';
    size_t used = 0;
    for (const char *part = parts; *part != 0; part++) {
        if (memchr(line.data, *part, (size_t)line.size_bytes) == NULL) continue;
        best = *part;
        break;
    }
    const char *at = line.data, *end = at + line.size_bytes;
    while (at != NULL && count < 3) {
        leat_text cell = best == ' ' ? next_word(&at, end) : text_between(at, end);
        if (best == ' ' && cell.size_bytes == 0) break;
        if (best != ' ' && !take_field(&at, end, best, &cell)) at = NULL;
        cells[count++] = trim(cell);
    }
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        char shown[48];
        leat_text_show(shown, sizeof shown, cells[i].data, cells[i].size_bytes);
        used += (size_t)snprintf(text + used, LEAT_CAN_WHY_BYTES - used, "%s\"%s\"",
                                 i > 0 ? ", " : "", shown);
    }
}

#define AND(format, name) ", " name
static leat_code refuse(const sample *lines, const char *path, leat_can_format wanted,
                        leat_can_format looks, const char *why, leat_error *err) {
    char text[64], cells[LEAT_CAN_WHY_BYTES];
    show(lines->lines[0], text);
    if (looks != LEAT_CAN_AUTO) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": its first lines do not match format %s; the file looks like %s "
                         "(use --format %s or auto): %s",
                         path, names[wanted], names[looks], names[looks], text);
    }
    if (wanted != LEAT_CAN_AUTO && wanted != LEAT_CAN_CSV) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": its first lines match neither format %s nor any other: %s", path,
                         names[wanted], text);
    }
    show_cells(lines->lines[0], cells);
    if (leat_can_hint_line(lines->lines[0])[0] != 0) why = leat_can_hint_line(lines->lines[0]);
    return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" begins with %s: %s (formats: %s)", path, cells,
                     why[0] != 0 ? why
                                 : "not a vehicle log format; for a csv, name its columns with "
                                   "--column time=NAME,id=NAME,data=NAME, or number them if it has "
                                   "no header: time=1,id=2,data=3; a file whose name begins with _ "
                                   "is not read",
                     &("" LEAT_CAN_FORMAT_TABLE(AND))[2]);
}

/* Tries all formats; a csv, whose header may have any names, must be better than the others. */
static leat_can_format best_format(const sample *lines, const leat_can_line_options *options,
                                   int counts[LEAT_CAN_FORMATS], char *why) {
    leat_can_format best = LEAT_CAN_AUTO;
    counts[LEAT_CAN_CSV] = count_lines(LEAT_CAN_CSV, lines, options, why);
    for (int i = LEAT_CAN_CSV + 1; i < LEAT_CAN_FORMATS && options->columns == NULL; i++) {
        counts[i] = count_lines((leat_can_format)i, lines, options, why);
        if (counts[i] > counts[best]) best = (leat_can_format)i;
    }
    if (counts[LEAT_CAN_CSV] > counts[best]) return LEAT_CAN_CSV;
    /* a header that lacks a column: a few lines that look like another format by chance do not
     * count */
    bool few = why[0] != 0 && 2 * counts[best] < lines->count;
    return few ? LEAT_CAN_AUTO : best;
}

leat_code leat_can_detect(const char *text, int64_t size_bytes, const char *path,
                          leat_can_format wanted, const leat_can_line_options *options,
                          leat_can_layout *layout, leat_can_format *looks, int64_t *skip_bytes,
                          bool *found, leat_error *err) {
    sample lines;
    char why[LEAT_CAN_WHY_BYTES] = "";
    *layout = (leat_can_layout){0};
    *looks = LEAT_CAN_AUTO;
    *skip_bytes = 0;
    LEAT_TRY(leat_can_check_text(text, size_bytes, path, err));
    take_sample(text, size_bytes, &lines);
    *found = lines.count > 0;
    if (!*found) return LEAT_OK;
    if (options->columns == NULL) LEAT_TRY(check_gvret(lines.lines[0], path, err));
    int counts[LEAT_CAN_FORMATS] = {0}, first;
    *looks = best_format(&lines, options, counts, why);
    leat_can_format format = wanted != LEAT_CAN_AUTO ? wanted : *looks;
    if (counts[format] == 0) return refuse(&lines, path, wanted, *looks, why, err);
    bool made = make_layout(format, &lines, options, layout, &first, why);
    LEAT_ASSERT(made);
    layout->gaps = !layout->no_time && (layout->gaps || options->times == LEAT_TIMES_GAP);
    if (first < lines.count) *skip_bytes = lines.lines[first].data - text;
    else *skip_bytes = size_bytes;
    return LEAT_OK;
}
