/*
 * Which format a vehicle log has. Not guessed from names or single characters: each format's own
 * parser is tried on the first lines, and the one that accepts most of them wins.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/can/read/hints.h"
#include "ingest/can/read/known_logs.h"

/* The number of lines examined. */
enum { SAMPLE_LINES = 256 };

typedef struct sample {
    int count;
    leat_text lines[SAMPLE_LINES]; /* not blank */
} sample;

/* ---- formats ---- */

/* The layout of a file of this format with these lines; *first: the line after its header. False if
 * the header belongs to another format; `why`, of LEAT_CAN_WHY_BYTES, then says what a csv lacks.
 */
static bool make_layout(leat_can_format format, const sample *lines,
                        const leat_can_line_options *options, leat_can_layout *layout, int *first,
                        char *why) {
    const leat_can_first_lines of = {lines->lines, lines->count};
    const leat_can_format_lines *known = leat_can_formats[format].lines;
    *layout = (leat_can_layout){.format = format};
    *first = 0;
    return known->lay_out == NULL || known->lay_out(&of, options, layout, first, why);
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
        leat_can_follow(&layout, lines->lines[i].data, lines->lines[i].size_bytes);
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
        cells[count++] = leat_text_trim(cell);
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
static leat_code refuse(const sample *lines, const leat_can_head *head, leat_can_format looks,
                        const char *why, leat_error *err) {
    const char *path = head->path;
    leat_can_format wanted = head->wanted;
    char text[64], cells[LEAT_CAN_WHY_BYTES];
    show(lines->lines[0], text);
    if (looks != LEAT_CAN_AUTO) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": its first lines do not match format %s; the file looks like %s "
                         "(use --format %s or auto): %s",
                         path, leat_can_format_name(wanted), leat_can_format_name(looks),
                         leat_can_format_name(looks), text);
    }
    if (wanted != LEAT_CAN_AUTO && wanted != LEAT_CAN_CSV) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": its first lines match neither format %s nor any other: %s", path,
                         leat_can_format_name(wanted), text);
    }
    show_cells(lines->lines[0], cells);
    if (leat_can_hint_first(lines->lines[0])[0] != 0) why = leat_can_hint_first(lines->lines[0]);
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

/* Bytes before the first line of frames, of lines number `first`. */
static int64_t bytes_before(const leat_can_head *head, const sample *lines, int first) {
    if (first < lines->count) return lines->lines[first].data - head->text;
    /* the text may have more lines than were examined */
    const leat_text *last = &lines->lines[lines->count - 1];
    int64_t skip = last->data + last->size_bytes - head->text;
    while (skip < head->size_bytes && strchr("\r\n", head->text[skip]) != NULL) skip++;
    return skip;
}

leat_code leat_can_detect(const leat_can_head *head, const leat_can_line_options *options,
                          leat_can_detected *out, leat_error *err) {
    sample lines;
    char why[LEAT_CAN_WHY_BYTES] = "";
    *out = (leat_can_detected){0};
    LEAT_TRY(leat_can_check_text(head->text, head->size_bytes, head->path, err));
    take_sample(head->text, head->size_bytes, &lines);
    if (lines.count == 0) return LEAT_OK;
    out->found = true;
    for (int i = 0; i < LEAT_CAN_FORMATS && options->columns == NULL; i++) {
        const leat_can_format_lines *known = leat_can_formats[i].lines;
        if (known != NULL && known->check != NULL)
            LEAT_TRY(known->check(lines.lines[0], head->path, err));
    }
    int counts[LEAT_CAN_FORMATS] = {0}, first;
    out->looks = best_format(&lines, options, counts, why);
    leat_can_format format = head->wanted != LEAT_CAN_AUTO ? head->wanted : out->looks;
    if (counts[format] == 0) return refuse(&lines, head, out->looks, why, err);
    leat_can_layout *layout = &out->layout;
    bool made = make_layout(format, &lines, options, layout, &first, why);
    LEAT_ASSERT(made);
    layout->gaps = !layout->no_time && (layout->gaps || options->times == LEAT_TIMES_GAP);
    out->skip_bytes = bytes_before(head, &lines, first);
    return LEAT_OK;
}
