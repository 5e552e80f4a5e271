/*
 * Whether the present rules read logs otherwise than earlier ones, back to those that leat's first
 * caches were made by. The number of the earliest rules that make the same frames enters the
 * digest, unless it is the first: a cache of other frames must not be taken for one of the same
 * logs that is right, and all other caches stay what they are.
 *
 * Logs are read by these earliest rules, so that their caches keep their bytes. One bus in all of
 * them, where there was none, is no difference, unless a file has buses by both rules: those
 * without one would be taken for its bus 0.
 *
 * The first lines show whether a file has anything that only the present rules know, or may have it
 * later. Then its lines are read by both, up to the first difference; all other files are not read
 * any further, unless an old cache is to be reused: then times that begin near 0 are read to the
 * end, since gaps may not show before.
 */
#include <string.h>

#include "base/file.h"
#include "ingest/can/read/column_option.h"
#include "ingest/can/read/known.h"
#include "ingest/can/read/rules.h"

#define BLOCK_BYTES (INT64_C(256) << 10)
#define TEXT_BYTES (BLOCK_BYTES + LEAT_LINE_RUN_ROOM)

typedef struct comparison {
    const leat_can_settings *settings;
    leat_can_line_options earlier, present;
    leat_can_layout before, now; /* of the current file */
    int bus;             /* that all of the logs have where only the present rules see one */
    bool buses;          /* a log has some by both rules */
    bool complete;       /* logs whose times may be gaps are read to the end */
    leat_can_file times; /* those of the frames */
    bool other_bus;      /* found in the current file by the present rules alone */
    double last_s;
    char *text; /* TEXT_BYTES */
} comparison;

/* The next line of the block at *at, without its end; empty ones too. */
static leat_text next_line(const char **at, const char *end) {
    const char *begin = *at, *feed = memchr(begin, '\n', (size_t)(end - begin));
    const char *stop = feed != NULL ? feed : end;
    *at = stop + 1;
    leat_text line = {begin, (int32_t)(stop - begin)};
    if (line.size_bytes > 0 && stop[-1] == '\r') line.size_bytes--;
    return line;
}

/* One bus is the same as none, unless it is chosen by its number. */
static bool is_same_bus(comparison *of, int bus) {
    if (of->settings->bus >= 0) return bus == 0;
    if (of->bus < 0) of->bus = bus;
    return of->bus == bus;
}

static bool is_same_line(comparison *of, leat_text text, leat_can_line *line,
                         leat_can_reject *now) {
    leat_can_line other;
    *now = leat_can_parse_line(&of->now, &of->present, text.data, text.size_bytes, line);
    leat_can_reject before =
        leat_can_parse_line(&of->before, &of->earlier, text.data, text.size_bytes, &other);
    leat_can_follow(&of->now, text.data, text.size_bytes);
    leat_can_follow(&of->before, text.data, text.size_bytes);
    if (*now != before) return false;
    if (before != LEAT_CAN_TAKEN) return true;
    bool same_id = memcmp(line->id, other.id, LEAT_CAN_ID_BYTES) == 0;
    return same_id && line->time == other.time && (!of->other_bus || is_same_bus(of, line->bus));
}

/* Whether both rules make the same frames of a block; its times are counted. */
static bool is_same_block(comparison *of, const leat_line_run *run, int64_t skip_bytes) {
    const char *at = of->text + skip_bytes, *end = of->text + run->size_bytes;
    leat_can_note_buses(&of->before, of->text, run->size_bytes);
    leat_can_note_buses(&of->now, of->text, run->size_bytes);
    while (at < end && run->fault == LEAT_LINE_GOOD) {
        leat_text text = next_line(&at, end);
        leat_can_line line;
        leat_can_reject reason;
        if (text.size_bytes == 0) continue;
        if (!is_same_line(of, text, &line, &reason)) return false;
        if (reason != LEAT_CAN_TAKEN) continue;
        of->times.earlier_times += of->times.frames++ > 0 && line.time < of->last_s;
        of->times.short_times += line.time >= 0 && line.time <= 1;
        if (of->times.frames == 1 || line.time < of->times.first_s) of->times.first_s = line.time;
        if (of->times.frames == 1 || line.time > of->times.last_s) of->times.last_s = line.time;
        of->last_s = line.time;
    }
    return true;
}

/* What the first lines of a file say. */
typedef enum first_lines {
    BLANK,
    REFUSED,   /* by both rules */
    DIFFERENT, /* refused by one of them */
    KNOWN,
} first_lines;

static leat_code detect(comparison *of, const char *path, const leat_line_run *run,
                        int64_t *skip_bytes, first_lines *what) {
    leat_can_format looks = LEAT_CAN_AUTO, format = of->settings->format;
    bool found = false, other = false;
    leat_code now = leat_can_detect(of->text, run->size_bytes, path, format, &of->present, &of->now,
                                    &looks, skip_bytes, &found, NULL);
    leat_code before = leat_can_detect(of->text, run->size_bytes, path, format, &of->earlier,
                                       &of->before, &looks, skip_bytes, &other, NULL);
    *what = now != before ? DIFFERENT : now != LEAT_OK ? REFUSED : !found && !other ? BLANK : KNOWN;
    return now == LEAT_ERR_MEMORY ? now : before == LEAT_ERR_MEMORY ? before : LEAT_OK;
}

static bool has_same_columns(const comparison *of) {
    return of->now.format == of->before.format && of->now.table == of->before.table &&
           of->now.time_unit == of->before.time_unit &&
           of->now.column_count == of->before.column_count &&
           memcmp(of->now.column, of->before.column, sizeof of->now.column) == 0;
}

static bool has_bus(const leat_can_layout *layout) {
    return memchr(layout->column, LEAT_CAN_COLUMN_BUS, (size_t)layout->column_count) != NULL;
}

/* By the earlier rules. */
static bool has_buses(const leat_can_layout *layout) {
    return leat_can_formats[layout->format].has_bus ||
           (layout->format == LEAT_CAN_CSV && has_bus(layout));
}

/* Whether times can turn out to be gaps after the first block: gaps begin near 0. */
static bool may_be_gaps(const comparison *of) {
    return of->complete && of->present.times == LEAT_TIMES_AUTO && !of->now.no_time &&
           !leat_can_is_far_from_gaps(&of->times);
}

static leat_code compare(comparison *of, const char *path, leat_lines *lines, bool *same,
                         leat_error *err) {
    leat_line_run run = {0};
    int64_t skip_bytes = 0;
    first_lines what = BLANK;
    of->times = (leat_can_file){0};
    while (what == BLANK) {
        LEAT_TRY(leat_lines_take(lines, of->text, BLOCK_BYTES, LEAT_CAN_BLOCK_LINES, &run, err));
        if (run.line_count == 0) return LEAT_OK;
        LEAT_TRY(detect(of, path, &run, &skip_bytes, &what));
    }
    *same = what == KNOWN; /* a file that both refuse is refused with what the present ones say */
    if (what != KNOWN) return LEAT_OK;
    of->buses = of->buses || has_buses(&of->before);
    /* no cache of gaps is older than the present rules: there is nothing to compare them with */
    if (of->now.gaps && !(of->now.may_shift && has_same_columns(of))) {
        *same = has_same_columns(of);
        return LEAT_OK;
    }
    of->other_bus = has_bus(&of->now) && !has_bus(&of->before);
    *same = is_same_block(of, &run, skip_bytes);
    /* gaps are what only the first rules take for the times of a clock */
    bool clock = !of->now.gaps && of->earlier.reader == LEAT_CAN_READER_FIRST;
    bool gaps = clock && leat_can_looks_like_gaps(&of->times, &of->present);
    bool all = !has_same_columns(of) || of->now.may_shift || gaps || (clock && may_be_gaps(of));
    while (*same && all) {
        LEAT_TRY(leat_lines_take(lines, of->text, BLOCK_BYTES, LEAT_CAN_BLOCK_LINES, &run, err));
        if (run.line_count == 0) break;
        *same = is_same_block(of, &run, 0);
    }
    if (all && clock && *same) *same = !leat_can_looks_like_gaps(&of->times, &of->present);
    return LEAT_OK;
}

static leat_code compare_file(comparison *of, const leat_input *input, bool *same,
                              leat_error *err) {
    leat_lines *lines = NULL;
    leat_lines_options reading = {.coding = input->coding};
    LEAT_TRY(leat_lines_open(&lines, input->path, &reading, err));
    leat_code code = compare(of, input->path, lines, same, err);
    leat_lines_close(lines);
    return code;
}

/* Whether the rules of this number make the same frames of all inputs as the present ones. */
static leat_code compare_rules(comparison *of, const leat_input_list *inputs, int reader,
                               const leat_can_mapping *mapping, bool *same, leat_error *err) {
    of->bus = -1;
    of->buses = false;
    of->earlier = leat_can_lines_of(of->settings, reader, mapping);
    *same = true;
    for (int64_t i = 0; i < inputs->count && *same; i++)
        LEAT_TRY(compare_file(of, &inputs->items[i], same, err));
    if (of->bus > 0 && of->buses) *same = false;
    return LEAT_OK;
}

leat_code leat_can_rules_of(const leat_input_list *inputs, const leat_can_settings *settings,
                            bool complete, int *reader, leat_error *err) {
    leat_can_mapping mapping = {0};
    bool same = false;
    LEAT_TRY(leat_can_mapping_read(&mapping, settings, err));
    comparison *of = NULL;
    LEAT_TRY(LEAT_NEW(&of, 1, err));
    of->settings = settings;
    of->complete = complete;
    of->present = leat_can_lines_of(settings, LEAT_CAN_READER, &mapping);
    leat_code code = leat_block_alloc((void **)&of->text, TEXT_BYTES, err);
    for (*reader = LEAT_CAN_READER_FIRST; code == LEAT_OK && *reader < LEAT_CAN_READER; ++*reader) {
        code = compare_rules(of, inputs, *reader, &mapping, &same, err);
        if (same) break;
    }
    leat_block_free(of->text, TEXT_BYTES);
    leat_free(of);
    return code;
}

/* ---- a run that resumes --------------------------------------------------------------------- */

static leat_code look_again(const leat_input *input, const leat_can_settings *settings,
                            const leat_can_line_options *options, char *text, leat_can_file *file,
                            leat_error *err) {
    leat_lines *lines = NULL;
    leat_lines_options reading = {.coding = input->coding};
    leat_line_run run = {.line_count = 1};
    leat_can_layout layout;
    bool found = false;
    LEAT_TRY(leat_lines_open(&lines, input->path, &reading, err));
    leat_code code = LEAT_OK;
    while (code == LEAT_OK && !found && run.line_count > 0) {
        leat_can_format looks = LEAT_CAN_AUTO;
        int64_t skip_bytes = 0;
        code = leat_lines_take(lines, text, BLOCK_BYTES, LEAT_CAN_BLOCK_LINES, &run, err);
        if (code == LEAT_OK && run.line_count > 0)
            code = leat_can_detect(text, run.size_bytes, input->path, settings->format, options,
                                   &layout, &looks, &skip_bytes, &found, err);
    }
    leat_lines_close(lines);
    if (code == LEAT_OK && found) leat_can_note_layout(&layout, file);
    return code;
}

leat_code leat_can_look_again(const leat_input_list *inputs, const leat_can_settings *settings,
                              int reader, leat_can_file *files, leat_error *err) {
    leat_can_mapping mapping = {0};
    char *text = NULL;
    LEAT_TRY(leat_can_mapping_read(&mapping, settings, err));
    const leat_can_line_options options = leat_can_lines_of(settings, reader, &mapping);
    LEAT_TRY(leat_block_alloc((void **)&text, TEXT_BYTES, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < inputs->count && code == LEAT_OK; i++)
        code = look_again(&inputs->items[i], settings, &options, text, &files[i], err);
    leat_block_free(text, TEXT_BYTES);
    return code;
}
