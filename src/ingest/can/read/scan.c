/*
 * Vehicle logs read by several threads, in turns (parallel_lines.h). A turn copies complete lines
 * unchanged and does only what must be done in order: the first lines of a file determine its
 * format, and the interfaces of a candump log are numbered as they appear. The worker splits and
 * parses the lines after it has released the reader's lock.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ingest/can/read/context.h"
#include "ingest/can/read/hints.h"
#include "ingest/can/read/known_logs.h"
#include "ingest/can/read/labels.h"
#include "ingest/can/read/scan.h"
#include "ingest/parallel_lines.h"
#include "ingest/value_text.h"

#define BLOCK_BYTES (INT64_C(256) << 10)
#define TEXT_BYTES (BLOCK_BYTES + LEAT_LINE_RUN_ROOM)

/* A file with more rejected lines than this, by both limits, or with more than half, is refused. */
#define REJECTED_MIN INT64_C(100)
#define REJECTED_SHARE INT64_C(100) /* one of this many */

/* A worker's block and its results. */
typedef struct can_block {
    int32_t file_index;
    int64_t number; /* in its file */
    leat_line_run run;
    int64_t skip_bytes; /* header and blank lines at the beginning */
    int64_t elapsed_ns; /* the sum of the gaps before it */
    double origin_s;    /* the time of its file's first frame, for injections */
    double before_s;    /* the last time before it that is not 0, and the file's first; NAN: none */
    double first_s;
    bool truncated; /* its last line, which has no end, is not a complete frame */
    leat_can_layout layout;
    char *text; /* TEXT_BYTES */
    leat_buf reject;
    leat_can_file found; /* in this block */
    leat_can_line lines[LEAT_CAN_BLOCK_LINES];
} can_block;

typedef struct can_scan {
    const leat_input_list *inputs;
    const leat_can_scan_options *options;
    /* Of the current file; owned by the worker whose turn it is. */
    leat_can_layout layout;
    bool detected;
    int64_t elapsed_ns;       /* the sum of its gaps so far */
    double origin_s;          /* the time of its first frame; NAN: not met yet */
    double first_s, before_s; /* its first time that is not 0, and the last one so far; or NAN */
    bool searched;            /* beyond its first block, for first_s */
    leat_can_layout at_begin; /* its layout before its first line */
    pthread_mutex_t lock;     /* for the files */
    leat_can_file *files;
    can_block **blocks;
} can_scan;

/* ---- a turn ---- */

static leat_code open_file(void *context, int32_t input, leat_lines **lines, leat_error *err) {
    can_scan *self = context;
    const leat_input *item = &self->inputs->items[input];
    leat_lines_options reading = {.coding = item->coding};
    self->detected = false;
    self->elapsed_ns = 0;
    self->origin_s = self->first_s = self->before_s = NAN;
    self->searched = false;
    return leat_lines_open(lines, item->path, &reading, err);
}

/* What the summary and the errors of a file take from its layout. */
static void note_layout(const leat_can_layout *layout, leat_can_file *file) {
    file->gaps = layout->gaps;
    file->no_unit = layout->format == LEAT_CAN_CSV && layout->time_unit == LEAT_CAN_UNIT_NONE;
    file->id_may_be_decimal = layout->id_may_be_decimal;
    memcpy(file->time_name, layout->time_name, sizeof file->time_name);
    memcpy(file->id_name, layout->id_name, sizeof file->id_name);
    memcpy(file->unused, layout->unused, sizeof file->unused);
}

static void note_columns(const leat_can_layout *layout, leat_can_file *file) {
    if (layout->format != LEAT_CAN_CSV) return;
    for (int i = layout->column_count - 1; i >= 0; i--) {
        int column = layout->column[i];
        if (column == LEAT_CAN_COLUMN_TIME) file->time_column = (uint8_t)(i + 1);
        if (column == LEAT_CAN_COLUMN_ID) file->id_column = (uint8_t)(i + 1);
        if (column == LEAT_CAN_COLUMN_PAYLOAD) file->data_column = (uint8_t)(i + 1);
    }
}

/* What is said of an input besides its lines. */
static leat_can_injection_kind injection_of(const can_scan *self, int32_t input) {
    const leat_can_injection *all = self->options->injections;
    return all == NULL ? LEAT_CAN_INJECTION_UNSAID : all[input].kind;
}

static leat_code check_injection(const can_scan *self, int32_t input, leat_error *err) {
    const char *path = self->inputs->items[input].path;
    if (injection_of(self, input) != LEAT_CAN_INJECTION_INTERVAL) return LEAT_OK;
    if (self->layout.labelled)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" has labels, but capture_metadata.json beside it also says which "
                         "of its frames are attacks; move that file away to use the log's labels",
                         path);
    if (!self->layout.no_time) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\" has no times (--no-time), but capture_metadata.json beside it says by "
                     "times which of its frames are attacks; move that file away to read the log "
                     "without labels",
                     path);
}

/* Once per file, at its first line. */
static leat_code detect_format(can_scan *self, can_block *block, leat_error *err) {
    const leat_can_scan_options *options = self->options;
    const leat_can_head head = {block->text, block->run.size_bytes,
                                self->inputs->items[block->file_index].path, options->format};
    leat_can_detected found;
    leat_code code = leat_can_detect(&head, &options->lines, &found, err);
    self->layout = found.layout;
    self->detected = found.found;
    block->skip_bytes = found.skip_bytes;
    if (code != LEAT_OK || !found.found) return code;
    self->at_begin = self->layout;
    LEAT_TRY(check_injection(self, block->file_index, err));
    const leat_can_injection_kind said = injection_of(self, block->file_index);
    pthread_mutex_lock(&self->lock);
    leat_can_file *file = &self->files[block->file_index];
    file->format = self->layout.format;
    file->labelled = self->layout.labelled || said == LEAT_CAN_INJECTION_INTERVAL ||
                     said == LEAT_CAN_INJECTION_NONE;
    file->looks = found.looks;
    file->no_time = self->layout.no_time;
    file->doubts = self->layout.doubts;
    if (self->layout.id_named_decimal) file->ids |= LEAT_CAN_IDS_NAMED_DEC;
    if (self->layout.id_unit != LEAT_CAN_UNIT_NONE) file->ids |= LEAT_CAN_IDS_DECIDED;
    file->label_like = self->layout.label_like;
    note_layout(&self->layout, file);
    note_columns(&self->layout, file);
    pthread_mutex_unlock(&self->lock);
    return LEAT_OK;
}

/* What the lines of a block decide about those after it, and the sum of its gaps, have to be known
 * before the next one is parsed. */
static void follow_lines(can_scan *self, const can_block *block) {
    bool gaps = self->layout.gaps;
    if (!gaps && leat_can_formats[self->layout.format].lines->follow == NULL) return;
    const char *at = block->text + block->skip_bytes, *end = block->text + block->run.size_bytes;
    while (at < end && block->run.fault == LEAT_LINE_GOOD) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        int64_t size = stop - at;
        if (size > 0 && at[size - 1] == '\r') size--;
        leat_can_line line;
        if (size > 0 && gaps)
            (void)leat_can_parse_gap(&self->layout, &self->options->lines, at, size,
                                     &self->elapsed_ns, &line);
        if (size > 0) leat_can_follow(&self->layout, at, size);
        at = stop + 1;
    }
}

/* A truncated line is not a frame. */
static leat_can_reject parse_line(const can_scan *self, const can_block *block, leat_text text,
                                  int64_t *elapsed_ns, leat_can_line *line) {
    const leat_can_line_options *options = &self->options->lines;
    if (block->run.fault != LEAT_LINE_GOOD) return LEAT_CAN_REJECT_LINE;
    if (block->layout.gaps)
        return leat_can_parse_gap(&block->layout, options, text.data, text.size_bytes, elapsed_ns,
                                  line);
    return leat_can_parse_line(&block->layout, options, text.data, text.size_bytes, line);
}

/* The time of the file's first frame has to be known before any block is parsed. */
static void find_origin(can_scan *self, can_block *block) {
    const char *at = block->text + block->skip_bytes, *end = block->text + block->run.size_bytes;
    const leat_can_layout at_begin = block->layout;
    int64_t elapsed_ns = block->elapsed_ns;
    while (at < end && isnan(self->origin_s)) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        leat_text text = {at, (int32_t)(stop - at)};
        if (text.size_bytes > 0 && stop[-1] == '\r') text.size_bytes--;
        leat_can_line line;
        if (text.size_bytes > 0 &&
            parse_line(self, block, text, &elapsed_ns, &line) == LEAT_CAN_TAKEN &&
            (line.time != 0 || block->layout.gaps || leat_can_is_zero_time(NAN, block->first_s)))
            self->origin_s = line.time;
        if (text.size_bytes > 0) leat_can_follow(&block->layout, text.data, text.size_bytes);
        at = stop + 1;
    }
    block->layout = at_begin;
    block->origin_s = self->origin_s;
}

/* The lines of a block with their layout. */
static leat_can_text text_from(const can_scan *self, const can_block *block, const char *at,
                               const leat_can_layout *layout) {
    return (leat_can_text){layout, &self->options->lines, at, block->text + block->run.size_bytes};
}

/* The first time other than 0 after a block that begins a file and has none. Memory is for one
 * reader: the current one is opened again. */
static leat_code search_time(can_scan *self, const can_block *block, leat_line_block *turn,
                             leat_error *err) {
    const leat_input *item = &self->inputs->items[block->file_index];
    leat_lines_options reading = {.coding = item->coding};
    self->searched = true;
    leat_lines_close(turn->lines);
    turn->lines = NULL;
    LEAT_TRY(leat_can_find_first_time(item, &self->at_begin, &self->options->lines, &self->first_s,
                                      err));
    LEAT_TRY(leat_lines_open(&turn->lines, item->path, &reading, err));
    int64_t before = block->run.number - 1 + block->run.line_count;
    bool found = true;
    for (leat_line line; before > 0 && found; before--)
        LEAT_TRY(leat_lines_next(turn->lines, &line, &found, err));
    return LEAT_OK;
}

/* The times around the block, by which a time of 0 in it is judged. */
static leat_code note_times(can_scan *self, can_block *block, leat_line_block *turn,
                            leat_error *err) {
    const leat_can_text lines =
        text_from(self, block, block->text + block->skip_bytes, &block->layout);
    if (block->layout.gaps || block->layout.no_time) return LEAT_OK;
    if (isnan(self->first_s)) self->first_s = leat_can_first_time(&lines);
    if (isnan(self->first_s) && !self->searched) LEAT_TRY(search_time(self, block, turn, err));
    block->first_s = self->first_s;
    block->before_s = self->before_s;
    const double last_s = leat_can_last_time(&lines);
    if (!isnan(last_s)) self->before_s = last_s;
    return LEAT_OK;
}

/* A last line that has no end; the file is closed after it, and may be read again. */
static leat_code check_end(can_scan *self, can_block *block, leat_line_block *turn,
                           leat_error *err) {
    block->truncated = false;
    if (block->run.fault != LEAT_LINE_GOOD || block->text[block->run.size_bytes - 1] == '\n')
        return LEAT_OK;
    /* the longest line is returned without its CRLF, wherever it is */
    if (!leat_lines_ended(turn->lines)) return LEAT_OK;
    turn->ended = true;
    leat_lines_close(turn->lines);
    turn->lines = NULL;
    leat_can_layout layout = self->at_begin;
    layout.buses = self->layout.buses;
    const leat_can_text lines = text_from(self, block, block->text + block->skip_bytes, &layout);
    return leat_can_is_truncated(&self->inputs->items[block->file_index], &lines, block->run.number,
                                 &block->truncated, err);
}

static leat_code fill_block(void *context, int worker, leat_line_block *turn, leat_error *err) {
    can_scan *self = context;
    can_block *block = self->blocks[worker];
    block->file_index = turn->input;
    block->number = turn->block;
    block->skip_bytes = 0;
    LEAT_TRY(leat_lines_take(turn->lines, block->text, BLOCK_BYTES, LEAT_CAN_BLOCK_LINES,
                             &block->run, err));
    turn->line_count = block->run.line_count;
    turn->ended = block->run.line_count == 0;
    if (turn->ended) return LEAT_OK;
    if (!self->detected) LEAT_TRY(detect_format(self, block, err));
    leat_can_note_buses(&self->layout, block->text, block->run.size_bytes);
    block->layout = self->layout;
    block->elapsed_ns = self->elapsed_ns;
    if (self->detected) {
        follow_lines(self, block);
        LEAT_TRY(note_times(self, block, turn, err));
        LEAT_TRY(check_end(self, block, turn, err));
    }
    if (injection_of(self, block->file_index) == LEAT_CAN_INJECTION_INTERVAL)
        find_origin(self, block);
    return LEAT_OK;
}

/* ---- lines to frames ---- */

static leat_code set_aside(can_scan *self, int worker, int64_t number, leat_can_reject reason,
                           leat_text text, leat_error *err) {
    can_block *block = self->blocks[worker];
    leat_can_file *found = &block->found;
    found->rejected[reason]++;
    if (reason <= LEAT_CAN_MALFORMED_LAST && found->first_malformed == 0) {
        found->first_malformed = number;
    }
    if (self->options->rejects == NULL) return LEAT_OK;
    block->reject.size = 0;
    LEAT_TRY(
        leat_csv_append(&block->reject, text.data, text.size_bytes, LEAT_REJECT_TEXT_BYTES, err));
    leat_reject_row row = {block->file_index, number, (int)reason, (const char *)block->reject.data,
                           block->reject.size};
    return leat_reject_log_add(self->options->rejects, worker, &row, err);
}

/* What a canonical identifier looks like: three or eight digits. */
static inline int shape_of(const char id[LEAT_CAN_ID_BYTES]) {
    uint64_t digits;
    memcpy(&digits, id, sizeof digits);
    if ((digits & UINT64_C(0x4040404040404040)) != 0) return LEAT_CAN_IDS_LETTERS;
    if (digits >> 32 == 0) return 0;
    char text[9] = {0};
    memcpy(text, id, 8);
    if (strcmp(text, "00000800") < 0) return 0; /* marked as extended */
    return strcmp(text, "00002047") <= 0 ? LEAT_CAN_IDS_LONG : LEAT_CAN_IDS_BEYOND;
}

/* What a block has at a line that is not empty. */
typedef struct at_line {
    int64_t number, elapsed_ns;
    leat_text text, before; /* the line, and that of the frame before it; data NULL: none */
    double before_s;        /* the last time that is not 0; NAN: none */
    bool after_zero;        /* the time of the frame before it, a frame or not, is 0 */
    bool known;             /* after_s is that of this run of zeros */
    double after_s;
} at_line;

/* A line that was read as a frame, beside the lines around it. */
static leat_can_reject judge(const can_scan *self, can_block *block, at_line *at,
                             const leat_can_line *line) {
    const char *end = block->text + block->run.size_bytes, *next = at->text.data;
    if (block->truncated && next + at->text.size_bytes == end) return LEAT_CAN_REJECT_TRUNCATED;
    if (block->layout.gaps || block->layout.no_time) return LEAT_CAN_TAKEN;
    if (line->time != 0) {
        at->before_s = line->time;
        at->after_zero = at->known = false;
        return LEAT_CAN_TAKEN;
    }
    if (!at->known) {
        const leat_can_text rest = text_from(self, block, next, &block->layout);
        at->after_s = leat_can_first_time(&rest);
        at->known = true;
        if (isnan(at->after_s) && isnan(at->before_s)) at->after_s = block->first_s;
    }
    if (leat_can_is_zero_time(at->before_s, at->after_s)) return LEAT_CAN_TAKEN;
    block->found.zero_falls += !at->after_zero && !isnan(at->before_s);
    at->after_zero = true;
    return LEAT_CAN_REJECT_ZERO;
}

/* A frame: what it adds to what was found in its block. */
static void count_frame(can_block *block, at_line *at, leat_can_line *line) {
    leat_can_file *found = &block->found;
    const int shape = shape_of(line->id);
    found->ids |= shape;
    if ((line->marks & LEAT_CAN_MARK_PREFIXED) != 0) found->ids |= LEAT_CAN_IDS_PREFIXED;
    else if (shape == LEAT_CAN_IDS_LONG) found->ids |= LEAT_CAN_IDS_BARE_LONG;
    else if (shape != 0) found->ids |= LEAT_CAN_IDS_BARE_HEX;
    found->marks |= line->marks;
    found->frames_cut += line->marks & LEAT_CAN_MARK_CUT;
    found->frames_sparse += (line->marks & LEAT_CAN_MARK_SPARSE) != 0;
    found->short_times += line->time >= 0 && line->time <= 1;
    if (found->frames == 1 || line->time < found->first_s) found->first_s = line->time;
    if (found->frames == 1 || line->time > found->last_s) found->last_s = line->time;
    if (block->layout.watch_count > 0) leat_can_watch_line(&block->layout, at->text, found->seen);
    if (found->frames > 1) {
        found->equal_times += line->time == line[-1].time;
        found->earlier_times += line->time < line[-1].time;
        found->slow_times += line->time > line[-1].time + LEAT_CAN_SLOW_S;
        if (line->time < line[-1].time && !block->layout.no_time &&
            leat_can_is_unpadded_step(at->before, line[-1].time, at->text, line->time) &&
            found->unpadded++ == 0)
            found->first_unpadded = at->number;
    }
    at->before = at->text;
}

/* Splits the block's text into lines and parses them. */
static leat_code parse_lines(can_scan *self, int worker, leat_error *err) {
    can_block *block = self->blocks[worker];
    leat_can_file *found = &block->found;
    const bool no_time = block->layout.no_time;
    const char *path = self->inputs->items[block->file_index].path;
    const leat_can_injection *injected =
        injection_of(self, block->file_index) == LEAT_CAN_INJECTION_INTERVAL
            ? &self->options->injections[block->file_index]
            : NULL;
    at_line now = {.elapsed_ns = block->elapsed_ns, .before_s = block->before_s};
    const char *at = block->text, *end = at + block->run.size_bytes;
    const char *begin = at + block->skip_bytes; /* of the frames */
    for (now.number = block->run.number; at < end; now.number++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        leat_text text = {at, (int32_t)(stop - at)};
        at = stop + 1;
        if (text.size_bytes > 0 && stop[-1] == '\r') text.size_bytes--;
        if (text.size_bytes == 0 || text.data < begin) continue;
        found->lines++;
        leat_can_line *line = &block->lines[found->frames];
        now.text = text;
        leat_can_reject reason = parse_line(self, block, text, &now.elapsed_ns, line);
        if (reason == LEAT_CAN_TAKEN) reason = judge(self, block, &now, line);
        leat_can_follow(&block->layout, text.data, text.size_bytes);
        if (reason != LEAT_CAN_TAKEN) {
            const leat_can_text rest = text_from(self, block, text.data, &block->layout);
            LEAT_TRY(leat_can_check_rejected(&rest, text, reason, path, now.number, err));
            LEAT_TRY(set_aside(self, worker, now.number, reason, text, err));
            continue;
        }
        found->frames++;
        if (injected != NULL) {
            line->attack = leat_can_is_injected(injected, block->origin_s, line);
            line->type = LEAT_CAN_TYPE_BY_FILE;
        }
        count_frame(block, &now, line);
        if (no_time) line->time = (double)(now.number - 1) / (double)self->options->lines.no_time;
    }
    return LEAT_OK;
}

static void add_found(can_scan *self, const can_block *block) {
    enum {
        LABELS = LEAT_CAN_MARK_BENIGN | LEAT_CAN_MARK_ATTACK | LEAT_CAN_MARK_MORE |
                 LEAT_CAN_MARK_NEGATIVE
    };
    const leat_can_file *found = &block->found;
    pthread_mutex_lock(&self->lock);
    leat_can_file *file = &self->files[block->file_index];
    bool first_frames = file->frames == 0 && found->frames > 0, more_frames = found->frames > 0;
    if (first_frames || (more_frames && found->first_s < file->first_s))
        file->first_s = found->first_s;
    if (first_frames || (more_frames && found->last_s > file->last_s)) file->last_s = found->last_s;
    file->lines += found->lines;
    file->frames += found->frames;
    file->ids |= found->ids;
    file->marks |= found->marks;
    file->labelled = file->labelled || (found->marks & LABELS) != 0; /* labels that begin late */
    file->frames_cut += found->frames_cut;
    file->frames_sparse += found->frames_sparse;
    file->equal_times += found->equal_times;
    file->earlier_times += found->earlier_times;
    file->short_times += found->short_times;
    file->slow_times += found->slow_times;
    file->zero_falls += found->zero_falls;
    file->unpadded += found->unpadded;
    if (found->unpadded > 0 &&
        (file->first_unpadded == 0 || found->first_unpadded < file->first_unpadded))
        file->first_unpadded = found->first_unpadded;
    leat_can_watch_add(&block->layout, found->seen, file);
    for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) file->rejected[i] += found->rejected[i];
    int64_t first = found->first_malformed;
    if (first > 0 && (file->first_malformed == 0 || first < file->first_malformed)) {
        file->first_malformed = first;
    }
    pthread_mutex_unlock(&self->lock);
}

static leat_code parse_block(void *context, int worker, leat_error *err) {
    can_scan *self = context;
    can_block *block = self->blocks[worker];
    block->found = (leat_can_file){0};
    LEAT_TRY(parse_lines(self, worker, err));
    add_found(self, block);
    leat_can_batch batch = {.file_index = block->file_index,
                            .block = block->number,
                            .count = block->found.frames,
                            .lines = block->lines};
    return self->options->batch(self->options->batch_context, worker, &batch, err);
}

/* ---- the files ---- */

/* Rejections that say something about the file: not those of frames without data, nor those that
 * --can-fd asks for. */
static bool is_counted(int reason) { return reason <= (int)LEAT_CAN_REJECT_PAYLOAD; }

static bool has_too_many(const leat_can_scan_options *options, const leat_can_file *file,
                         int64_t rejected) {
    bool some = rejected >= REJECTED_MIN && rejected > file->lines / REJECTED_SHARE;
    if (!some && rejected <= file->lines / 2) return false;
    return (double)rejected > options->max_rejected * (double)file->lines;
}

/* The first rejected lines, for a message. */
enum { SHOWN_LINES = 3 };
typedef struct shown_lines {
    char text[320];
    int count;
    bool labels; /* only the words of labels that cannot be read: */
    leat_can_label_list words;
    bool late; /* the first lines do not have such labels */
    char header[1024],
        remedy[400]; /* the file's first line; what helps with the first rejected one */
} shown_lines;

static void show_label(shown_lines *shown, const leat_can_layout *layout, int64_t number,
                       leat_text line) {
    shown->late = !layout->labelled;
    leat_can_labels_add(&shown->words, leat_can_rejected_label(layout, line.data, line.size_bytes),
                        number);
}

static void show_line(shown_lines *shown, const char *given, const leat_can_layout *layout,
                      int64_t number, leat_can_reject reason, leat_text line) {
    leat_text header = {shown->header, (int32_t)strlen(shown->header)};
    if (shown->count == 0)
        leat_can_hint(layout, given, header, line, reason, shown->remedy, sizeof shown->remedy);
    char text[52];
    size_t used = strlen(shown->text), size = sizeof shown->text;
    int64_t taken = leat_text_show(text, 49, line.data, line.size_bytes);
    if (taken < line.size_bytes) memcpy(text + strlen(text), "...", 4);
    snprintf(shown->text + used, size - used, "%s line %lld %s: %s", shown->count++ > 0 ? ";" : "",
             (long long)number, leat_can_rejects.reasons[reason], text);
}

static void show_block(can_scan *self, can_block *block, shown_lines *shown) {
    const char *at = block->text, *end = at + block->run.size_bytes;
    const char *begin = at + block->skip_bytes;
    int64_t number = block->run.number;
    for (; at < end && (shown->labels || shown->count < SHOWN_LINES); number++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        leat_text text = {at, (int32_t)(stop - at)};
        at = stop + 1;
        if (text.size_bytes > 0 && stop[-1] == '\r') text.size_bytes--;
        if (text.size_bytes == 0 || text.data < begin) continue;
        leat_can_line line;
        int64_t elapsed_ns = 0;
        leat_can_reject reason = parse_line(self, block, text, &elapsed_ns, &line);
        leat_can_follow(&block->layout, text.data, text.size_bytes);
        if (shown->labels && reason == LEAT_CAN_REJECT_LABEL)
            show_label(shown, &block->layout, number, text);
        if (!shown->labels && reason != LEAT_CAN_TAKEN && is_counted(reason))
            show_line(shown, self->options->lines.column, &block->layout, number, reason, text);
    }
}

static void keep_header(const can_block *block, shown_lines *shown) {
    const char *at = block->text, *end = at + block->run.size_bytes;
    while (at < end && (*at == '\n' || *at == '\r')) at++;
    int64_t size = 0;
    while (at + size < end && at[size] != '\n' && at[size] != '\r') size++;
    if (size >= (int64_t)sizeof shown->header) return;
    memcpy(shown->header, at, (size_t)size);
    shown->header[size] = 0;
}

/* Reads the file again up to its third rejected line, or for labels to its end: a scan keeps none.
 */
static leat_code find_rejected(can_scan *self, int32_t file_index, shown_lines *shown,
                               leat_error *err) {
    leat_line_block turn = {.input = file_index};
    LEAT_TRY(open_file(self, file_index, &turn.lines, err));
    leat_code code = LEAT_OK;
    while (code == LEAT_OK && !turn.ended && (shown->labels || shown->count < SHOWN_LINES)) {
        code = fill_block(self, 0, &turn, err);
        const bool filled = code == LEAT_OK && turn.line_count > 0;
        if (filled && turn.block == 0) keep_header(self->blocks[0], shown);
        if (filled) show_block(self, self->blocks[0], shown);
        turn.block++;
    }
    leat_lines_close(turn.lines);
    return code;
}

/* Labels that are not known are not noise: the frames that have them may be all of the attacks. */
static leat_code check_labels(can_scan *self, int32_t file_index, leat_error *err) {
    const leat_can_file file = self->files[file_index];
    double bad = (double)file.rejected[LEAT_CAN_REJECT_LABEL], lines = (double)file.lines;
    if (bad <= self->options->max_rejected * lines) return LEAT_OK;
    shown_lines shown = {.labels = true};
    LEAT_TRY(find_rejected(self, file_index, &shown, err));
    leat_can_labels_show(&shown.words, !shown.late, shown.text, sizeof shown.text);
    const char *why = "are not known", *help = "expected numbers (0 = benign) or words such as "
                                               "normal, attack; --column label=NAME reads another "
                                               "column";
    if (shown.late) {
        why = "are missing from most of its first lines, or vary in number there, so it was taken "
              "for a log without labels";
        help = "add a label to every line, or split the file where the labels begin; if lines "
               "without a label are benign, use --unlabelled benign-lines";
    }
    char allow[80] = ""; /* not where most attacks may be lost */
    if (bad < 0.01 * lines)
        snprintf(allow, sizeof allow, "; or reject such lines with --max-rejected %.4f",
                 ceil(10000.0 * bad / lines) / 10000.0);
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": the labels of %lld of its %lld lines %s:%s; %s%s",
                     self->inputs->items[file_index].path, (long long)bad, (long long)file.lines,
                     why, shown.text, help, allow);
}

/* Milliseconds and microseconds with a fraction look like seconds of a bus that hardly ever sends.
 */
static void note_slow(leat_can_file *file) {
    enum { FRAMES_ENOUGH = 100 };
    /* frames that are in no order are far from the one before, but not few in all of the time */
    const bool few = (file->last_s - file->first_s) > LEAT_CAN_SLOW_S * (double)file->frames;
    if (file->no_unit && !file->no_time && file->frames >= FRAMES_ENOUGH && few &&
        2 * file->slow_times > file->frames)
        file->doubts |= LEAT_CAN_DOUBT_SLOW;
}

/* Times that are not those of a clock, as they are read. */
static leat_code check_times(const can_scan *self, const leat_can_file *file, const char *path,
                             leat_error *err) {
    const leat_can_line_options *lines = &self->options->lines;
    const int64_t zeros = file->rejected[LEAT_CAN_REJECT_ZERO];
    if (leat_can_looks_like_gaps(file, lines)) return leat_can_refuse_gaps(file, path, lines, err);
    if (leat_can_looks_unpadded(file, lines)) return leat_can_refuse_unpadded(file, path, err);
    if (2 * zeros <= file->lines ||
        (double)zeros <= self->options->max_rejected * (double)file->lines)
        return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": the times of %lld of its %lld lines are 0, and those of the others "
                     "are not; use a log with times, or read only the others with --max-rejected "
                     "%.3f",
                     path, (long long)zeros, (long long)file->lines,
                     ceil(1000.0 * (double)zeros / (double)file->lines) / 1000.0);
}

/* A few bad lines are the log's fault; many indicate the wrong format. */
static leat_code check_file(can_scan *self, int32_t file_index, leat_error *err) {
    leat_can_file *file = &self->files[file_index];
    int64_t rejected = 0;
    note_slow(file);
    for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) {
        if (is_counted(i)) rejected += file->rejected[i];
    }
    bool too_many = has_too_many(self->options, file, rejected);
    bool labels = 2 * file->rejected[LEAT_CAN_REJECT_LABEL] > rejected;
    if (!too_many || labels) LEAT_TRY(check_labels(self, file_index, err));
    if (!too_many) return check_times(self, file, self->inputs->items[file_index].path, err);
    shown_lines shown = {.count = 0};
    const leat_can_file copy = *file;
    LEAT_TRY(find_rejected(self, file_index, &shown, err));
    bool other = copy.looks != copy.format && copy.looks != LEAT_CAN_AUTO;
    char help[sizeof shown.remedy] =
        "if the file is intact, name its columns and their notations with --column";
    if (copy.format != LEAT_CAN_CSV)
        snprintf(help, sizeof help,
                 "they are damaged, or of a kind that is not read; repair or remove them");
    if (shown.remedy[0] != 0) memcpy(help, shown.remedy, sizeof help);
    const char *looks = leat_can_format_name(copy.looks);
    if (other) snprintf(help, sizeof help, "the file looks like %s; use --format %s", looks, looks);
    double share = ceil(1000.0 * (double)rejected / (double)copy.lines) / 1000.0;
    char allow[64] = ""; /* not where most lines would be lost */
    if (copy.frames > 0 && 2 * rejected <= copy.lines &&
        2 * copy.rejected[LEAT_CAN_REJECT_NO_LABEL] <= rejected)
        snprintf(allow, sizeof allow, ", or allow it with --max-rejected %.3f", share);
    return leat_fail(
        err, LEAT_ERR_INPUT, "\"%s\": %lld of its %lld lines are rejected as %s:%s; %s%s",
        self->inputs->items[file_index].path, (long long)rejected, (long long)copy.lines,
        leat_can_format_name(copy.format), shown.text, help, allow);
}

static void free_block(can_block *block) {
    if (block == NULL) return;
    leat_block_free(block->text, TEXT_BYTES);
    leat_buf_free(&block->reject);
    leat_block_free(block, sizeof *block);
}

static leat_code make_block(can_block **out, leat_error *err) {
    LEAT_TRY(leat_block_alloc((void **)out, sizeof **out, err));
    return leat_block_alloc((void **)&(*out)->text, TEXT_BYTES, err);
}

static leat_code run(can_scan *self, leat_error *err) {
    int threads = self->options->threads;
    leat_code code = LEAT_NEW(&self->blocks, threads, err);
    for (int i = 0; i < threads && code == LEAT_OK; i++) code = make_block(&self->blocks[i], err);
    if (code == LEAT_OK) {
        leat_parallel_lines turns = {.inputs = self->inputs,
                                     .threads = threads,
                                     .ticker = self->options->ticker,
                                     .context = self,
                                     .open = open_file,
                                     .fill = fill_block,
                                     .parse = parse_block};
        code = leat_parallel_lines_run(&turns, err);
    }
    for (int64_t i = 0; i < self->inputs->count && code == LEAT_OK; i++) {
        code = check_file(self, (int32_t)i, err);
    }
    for (int i = 0; i < threads && self->blocks != NULL; i++) free_block(self->blocks[i]);
    leat_free(self->blocks);
    return code;
}

leat_code leat_can_scan(const leat_input_list *inputs, const leat_can_scan_options *options,
                        leat_can_file *files, leat_error *err) {
    LEAT_ASSERT(options->threads >= 1);
    memset(files, 0, (size_t)inputs->count * sizeof *files);
    can_scan *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->inputs = inputs;
    self->options = options;
    self->files = files;
    pthread_mutex_init(&self->lock, NULL);
    leat_code code = run(self, err);
    if (code != LEAT_OK) memset(files, 0, (size_t)inputs->count * sizeof *files);
    pthread_mutex_destroy(&self->lock);
    leat_free(self);
    return code;
}

int64_t leat_can_scan_memory(int threads) {
    int64_t block = (int64_t)sizeof(can_block) + TEXT_BYTES + 4 * LEAT_REJECT_TEXT_BYTES;
    return LEAT_LINES_MEMORY_BYTES + threads * block;
}
