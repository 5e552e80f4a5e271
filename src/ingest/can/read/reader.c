/*
 * Frames one by one, from a log that may still grow (leat/ingest.h). Lines are found in the text as
 * it arrives, so a frame waits for nothing but the end of its line; only two things look further:
 * the format, which the first lines decide, and a time of 0, which the next other one decides. Both
 * look at text that is used afterwards, so no line is kept twice.
 *
 * An ingest reads blocks of lines by several threads, and a line beside those of its block, or of
 * the file. Here each line is judged by the same functions, beside the lines so far.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "format/can_cache/can_cache.h"
#include "ingest/can/read/column_option.h"
#include "ingest/can/read/context.h"
#include "ingest/can/read/formats.h"
#include "ingest/can/read/scan.h"
#include "ingest/can/read/shortest.h"

/* How far lines are looked ahead, as far as a block of an ingest. */
#define AHEAD_BYTES (INT64_C(256) << 10)
/* A line of LEAT_LINE_BYTES_MAX and its CRLF. */
#define LINE_BYTES (LEAT_LINE_BYTES_MAX + 2)
#define WAIT_MS 200
/* A longer line of a frame is not looked at once more. */
enum { BEFORE_BYTES = 256 };

struct leat_can_frame_reader {
    bool (*cancelled)(void *user);
    void *cancelled_user;
    leat_file *file; /* NULL: source */
    leat_can_frames_source source;
    char *name;
    leat_lines *lines;

    int32_t sample_lines;
    leat_can_format wanted;
    char column[LEAT_CAN_SETTING_BYTES];
    leat_can_mapping mapping;
    leat_can_line_options options;

    bool detected;
    leat_can_layout layout; /* of the next line */
    bool single_digits;     /* the first lines have bytes of one digit at their ends */
    int64_t header_bytes;   /* of the text, still to be skipped */
    int64_t number;         /* lines that were used, whatever they contain */
    int64_t elapsed_ns;     /* the sum of gaps so far */
    double before_s;        /* the last time that is not 0; NAN: none */
    bool known;             /* after_s is the next one, of this run of zeros */
    double after_s;
    double frame_s;            /* of the frame before */
    char before[BEFORE_BYTES]; /* its line, if it fits */
    int32_t before_bytes;
    int64_t earlier, unpadded; /* as in leat_can_file, of all frames */
    int64_t first_unpadded;
    leat_can_file found; /* by the first frames */
    leat_can_frames_counts counts;
    leat_can_shortest shortest;
    leat_error failed;
};

leat_can_frames_options leat_can_frames_options_default(void) {
    leat_can_frames_options options = {.sample_lines = LEAT_CAN_SAMPLE_LINES};
    leat_code code = leat_can_settings_preset(&options.settings, "default", NULL);
    LEAT_ASSERT(code == LEAT_OK);
    return options;
}

/* ---- text in --------------------------------------------------------------------------------- */

static leat_code read_text(void *context, void *bytes, int64_t size_bytes, int64_t *got,
                           leat_error *err) {
    leat_can_frame_reader *self = context;
    *got = 0;
    while (self->cancelled != NULL) {
        if (self->cancelled(self->cancelled_user))
            return leat_fail(err, LEAT_ERR_CANCELLED, "reading \"%s\" was cancelled", self->name);
        if (self->file == NULL || leat_file_wait(self->file, WAIT_MS)) break;
    }
    if (self->file != NULL) return leat_file_read(self->file, bytes, size_bytes, got, err);
    LEAT_TRY(self->source.read(self->source.user, bytes, size_bytes, got, err));
    LEAT_ASSERT(*got >= 0 && *got <= size_bytes);
    return LEAT_OK;
}

static int64_t position(const void *context) {
    (void)context;
    return 0;
}

static void close_nothing(void *context) { (void)context; }

/* ---- lines ----------------------------------------------------------------------------------- */

/* A line of the text, without its end. */
typedef struct text_line {
    leat_text text;
    int64_t used_bytes; /* with its end */
    bool found, ended;  /* there is one; it has an end */
    bool too_long;      /* `text` is its beginning */
} text_line;

/* A line that has an end, LF, or that of the text, after which only LF may be missing. */
static text_line line_at(const char *text, int64_t size_bytes, bool feed) {
    const bool cr = size_bytes > 0 && text[size_bytes - 1] == '\r';
    const int64_t bare_bytes = size_bytes - (cr ? 1 : 0);
    return (text_line){
        .text = {text,
                 (int32_t)(bare_bytes < LEAT_LINE_BYTES_MAX ? bare_bytes : LEAT_LINE_BYTES_MAX)},
        .used_bytes = size_bytes + (feed ? 1 : 0),
        .found = true,
        .ended = feed || cr,
        .too_long = bare_bytes > LEAT_LINE_BYTES_MAX,
    };
}

/* The line at `from` of the text that was not used yet. */
static leat_code look_at_line(leat_can_frame_reader *self, int64_t from, text_line *line,
                              leat_error *err) {
    char *text = NULL;
    int64_t size = 0;
    *line = (text_line){0};
    for (int64_t seen = from;;) {
        LEAT_TRY(leat_lines_look(self->lines, seen, &text, &size, err));
        const int64_t limit = size < from + LINE_BYTES ? size : from + LINE_BYTES;
        const char *feed = limit > seen ? memchr(text + seen, '\n', (size_t)(limit - seen)) : NULL;
        const bool last = size <= seen;
        if (feed != NULL) *line = line_at(text + from, feed - text - from, true);
        else if (last && size > from) *line = line_at(text + from, size - from, false);
        else if (limit == from + LINE_BYTES)
            *line = (text_line){.text = {text + from, (int32_t)LEAT_LINE_BYTES_MAX},
                                .used_bytes = LINE_BYTES,
                                .found = true,
                                .too_long = true};
        /* the text has no space for all of a line that is far ahead */
        line->too_long = line->too_long || (feed == NULL && last && size >= LINE_BYTES);
        if (line->found || last) return LEAT_OK;
        seen = size;
    }
}

/* A line ahead of those that are used. Whoever stops the reading wants what is there already: then
 * there is none, as at the end of the text. */
static leat_code look_ahead(leat_can_frame_reader *self, int64_t from, text_line *line,
                            leat_error *err) {
    leat_error why = {0};
    const leat_code code = look_at_line(self, from, line, &why);
    if (code != LEAT_ERR_CANCELLED) return code == LEAT_OK ? code : leat_error_copy(err, &why);
    *line = (text_line){0};
    return LEAT_OK;
}

/* Uses the line, which is at the beginning of the text. Of one that is too long, up to its end. */
static leat_code use_line(leat_can_frame_reader *self, const text_line *line, leat_error *err) {
    leat_lines_skip(self->lines, line->used_bytes);
    self->number++;
    for (bool ended = line->ended || !line->too_long; !ended;) {
        char *text = NULL;
        int64_t size = 0;
        LEAT_TRY(leat_lines_look(self->lines, 0, &text, &size, err));
        const char *feed = size > 0 ? memchr(text, '\n', (size_t)size) : NULL;
        leat_lines_skip(self->lines, feed != NULL ? feed - text + 1 : size);
        ended = feed != NULL || size == 0;
    }
    return LEAT_OK;
}

/* ---- the format ------------------------------------------------------------------------------ */

/* Looks at the first lines, which begin with one that is not blank: *size_bytes of the text. */
static leat_code look_at_head(leat_can_frame_reader *self, int64_t *size_bytes,
                              int64_t *ended_bytes, leat_error *err) {
    int32_t count = 0;
    *size_bytes = *ended_bytes = 0;
    while (count < self->sample_lines && *size_bytes < AHEAD_BYTES) {
        text_line line;
        LEAT_TRY(look_ahead(self, *size_bytes, &line, err));
        if (!line.found || (line.too_long && count > 0)) return LEAT_OK;
        *size_bytes += line.used_bytes;
        if (line.ended) *ended_bytes = *size_bytes;
        count += line.text.size_bytes > 0;
    }
    return LEAT_OK;
}

/* A file is unpacked, but a pipe is read as it is. No magic has the end of a line. */
static leat_code check_packed(const leat_can_frame_reader *self, leat_text text, leat_error *err) {
    static const char *const programs[] = {
        [LEAT_CODING_GZIP] = "zcat",
        [LEAT_CODING_BZIP2] = "bzcat",
        [LEAT_CODING_XZ] = "xzcat",
        [LEAT_CODING_ZSTD] = "zstdcat",
    };
    const leat_coding coding = leat_coding_of((const uint8_t *)text.data, text.size_bytes);
    if (coding == LEAT_CODING_NONE) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is packed by %s; unpack it first (%s)",
                     self->name, leat_coding_name(coding), programs[coding]);
}

/* Once, at the first line that is not blank; *found is false if there is none. */
static leat_code detect(leat_can_frame_reader *self, bool *found, leat_error *err) {
    int64_t size = 0, ended_bytes = 0, all = 0;
    char *text = NULL;
    text_line line;
    for (;;) {
        LEAT_TRY(look_at_line(self, 0, &line, err));
        *found = line.found;
        if (!line.found) return LEAT_OK;
        if (self->number == 0) LEAT_TRY(check_packed(self, line.text, err));
        if (line.text.size_bytes > 0) break;
        LEAT_TRY(use_line(self, &line, err));
    }
    LEAT_TRY(look_at_head(self, &size, &ended_bytes, err));
    /* what is there, for looking has moved it */
    LEAT_TRY(leat_lines_look(self->lines, size - 1, &text, &all, err));
    LEAT_ASSERT(all >= size && size > 0);
    const leat_can_head head = {text, size, self->name, self->wanted};
    leat_can_detected it;
    LEAT_TRY(leat_can_detect(&head, &self->options, &it, err));
    LEAT_ASSERT(it.found);
    self->detected = true;
    self->layout = it.layout;
    self->header_bytes = it.skip_bytes;
    self->counts.format = self->found.format = it.layout.format;
    self->found.gaps = it.layout.gaps;
    self->found.no_time = it.layout.no_time;
    memcpy(self->found.time_name, it.layout.time_name, sizeof self->found.time_name);
    const char *begin = text + (it.skip_bytes < ended_bytes ? it.skip_bytes : ended_bytes);
    const leat_can_text lines = {&self->layout, &self->options, begin, text + ended_bytes};
    self->single_digits = leat_can_has_single_digits(&lines);
    return LEAT_OK;
}

/* ---- lines to frames ------------------------------------------------------------------------- */

/* The next time that is not 0, in the lines from `from` on; NAN: there is none nearby. */
static leat_code look_for_time(leat_can_frame_reader *self, int64_t from, double *time,
                               leat_error *err) {
    leat_can_layout layout = self->layout;
    *time = NAN;
    for (int64_t at = from; at < AHEAD_BYTES && isnan(*time);) {
        text_line line;
        LEAT_TRY(look_ahead(self, at, &line, err));
        if (!line.found || line.too_long) return LEAT_OK;
        at += line.used_bytes;
        leat_can_note_buses(&layout, line.text.data, line.text.size_bytes);
        const leat_can_text one = {&layout, &self->options, line.text.data,
                                   line.text.data + line.text.size_bytes};
        *time = leat_can_first_time(&one);
        if (line.text.size_bytes > 0)
            leat_can_follow(&layout, line.text.data, line.text.size_bytes);
    }
    return LEAT_OK;
}

/* A line that was read as a frame, beside the lines around it. The text may move. */
static leat_code judge(leat_can_frame_reader *self, const text_line *line,
                       const leat_can_line *frame, leat_can_reject *reason, leat_error *err) {
    if (!line->ended) {
        const leat_can_text of = {&self->layout, &self->options, NULL, NULL};
        leat_can_line same;
        const leat_can_ending ending = leat_can_ending_of(&of, line->text, &same);
        *reason = LEAT_CAN_REJECT_TRUNCATED;
        if (ending == LEAT_CAN_ENDS_WITH_DIGIT && !self->single_digits) return LEAT_OK;
        if (ending == LEAT_CAN_ENDS_OPEN && leat_can_is_shorter(&self->shortest, frame))
            return LEAT_OK;
    }
    leat_can_shortest_note(&self->shortest, frame);
    *reason = LEAT_CAN_TAKEN;
    if (self->layout.gaps || self->layout.no_time) return LEAT_OK;
    if (frame->time != 0) {
        self->before_s = frame->time;
        self->known = false;
        return LEAT_OK;
    }
    if (!self->known) LEAT_TRY(look_for_time(self, line->used_bytes, &self->after_s, err));
    self->known = true;
    if (!leat_can_is_zero_time(self->before_s, self->after_s)) *reason = LEAT_CAN_REJECT_ZERO;
    return LEAT_OK;
}

static void count_rejected(leat_can_frame_reader *self, leat_text text, leat_can_reject reason) {
    leat_can_frames_counts *counts = &self->counts;
    self->found.rejected[reason]++;
    if (counts->rejected++ > 0) return;
    counts->first_rejected = self->number + 1;
    snprintf(counts->first_reason, sizeof counts->first_reason, "%s",
             leat_can_rejects.reasons[reason]);
    (void)leat_text_show(counts->first_text, sizeof counts->first_text, text.data, text.size_bytes);
}

/* Times that are read as those of a clock are judged once: where an ingest has all of them, this
 * has the first ones. */
static leat_code check_times(leat_can_frame_reader *self, leat_error *err) {
    if (!leat_can_looks_like_gaps(&self->found, &self->options)) return LEAT_OK;
    return leat_can_refuse_gaps(&self->found, self->name, &self->options, err);
}

/* A frame earlier than the one before it: fractions of a second may be written without leading
 * zeros, which steps back show wherever they are. */
static leat_code check_step(leat_can_frame_reader *self, leat_text text, double time,
                            leat_error *err) {
    const leat_text before = {self->before, self->before_bytes};
    self->earlier++;
    if (before.size_bytes == 0 || self->layout.no_time ||
        !leat_can_is_unpadded_step(before, self->frame_s, text, time))
        return LEAT_OK;
    if (self->unpadded++ == 0) self->first_unpadded = self->number + 1;
    const leat_can_file steps = {.earlier_times = self->earlier,
                                 .unpadded = self->unpadded,
                                 .first_unpadded = self->first_unpadded};
    if (!leat_can_looks_unpadded(&steps, &self->options)) return LEAT_OK;
    return leat_can_refuse_unpadded(&steps, self->name, err);
}

static leat_code count_frame(leat_can_frame_reader *self, leat_text text, const leat_can_line *line,
                             leat_error *err) {
    leat_can_file *found = &self->found;
    const bool earlier = self->counts.frames > 0 && line->time < self->frame_s;
    self->counts.frames++;
    self->counts.frames_cut += (line->marks & LEAT_CAN_MARK_CUT) != 0;
    if (earlier) LEAT_TRY(check_step(self, text, line->time, err));
    self->frame_s = line->time;
    self->before_bytes = text.size_bytes <= BEFORE_BYTES ? text.size_bytes : 0;
    memcpy(self->before, text.data, (size_t)self->before_bytes);
    if (self->counts.frames > LEAT_CAN_SAMPLE_LINES) return LEAT_OK;
    if (found->frames == 0 || line->time < found->first_s) found->first_s = line->time;
    if (found->frames == 0 || line->time > found->last_s) found->last_s = line->time;
    found->earlier_times += earlier;
    found->short_times += line->time >= 0 && line->time <= 1;
    found->frames++;
    return self->counts.frames == LEAT_CAN_SAMPLE_LINES ? check_times(self, err) : LEAT_OK;
}

static void put_frame(const leat_can_frame_reader *self, const leat_can_line *line,
                      leat_can_frame *frame) {
    enum {
        LABELS = LEAT_CAN_MARK_BENIGN | LEAT_CAN_MARK_ATTACK | LEAT_CAN_MARK_MORE |
                 LEAT_CAN_MARK_NEGATIVE
    };
    const bool labelled = self->layout.labelled || (line->marks & LABELS) != 0;
    *frame = (leat_can_frame){
        .time_s = line->time,
        .line = self->number + 1,
        .bus = line->bus,
        .size_bytes = line->size_bytes,
        .label = (int8_t)(line->attack ? 1
                          : labelled   ? 0
                                       : -1),
        .cut = (line->marks & LEAT_CAN_MARK_CUT) != 0,
    };
    memcpy(frame->bytes, line->bytes, sizeof frame->bytes);
    memcpy(frame->id, line->id, sizeof line->id);
    if (self->layout.no_time) frame->time_s = (double)self->number / (double)self->options.no_time;
}

/* The line is used in any case; *taken: it is a frame. */
static leat_code take_line(leat_can_frame_reader *self, text_line *line, leat_can_frame *frame,
                           bool *taken, leat_error *err) {
    const leat_can_line_options *options = &self->options;
    leat_text text = line->text;
    leat_can_line read;
    leat_can_reject reason = LEAT_CAN_REJECT_LINE;
    *taken = false;
    leat_can_note_buses(&self->layout, text.data, text.size_bytes);
    if (!line->too_long && self->layout.gaps)
        reason = leat_can_parse_gap(&self->layout, options, text.data, text.size_bytes,
                                    &self->elapsed_ns, &read);
    else if (!line->too_long)
        reason = leat_can_parse_line(&self->layout, options, text.data, text.size_bytes, &read);
    if (reason == LEAT_CAN_TAKEN) {
        LEAT_TRY(judge(self, line, &read, &reason, err));
        if (read.time == 0) LEAT_TRY(look_at_line(self, 0, line, err)); /* it may have moved */
        text = line->text;
    }
    self->counts.lines++;
    if (!line->too_long) leat_can_follow(&self->layout, text.data, text.size_bytes);
    if (reason == LEAT_CAN_TAKEN) {
        put_frame(self, &read, frame);
        LEAT_TRY(count_frame(self, text, &read, err));
        *taken = true;
    } else {
        const leat_can_text of = {&self->layout, options, text.data, text.data};
        LEAT_TRY(leat_can_check_rejected(&of, text, reason, self->name, self->number + 1, err));
        count_rejected(self, text, reason);
    }
    return use_line(self, line, err);
}

static leat_code next_frame(leat_can_frame_reader *self, leat_can_frame *frame, bool *found,
                            leat_error *err) {
    text_line line;
    if (!self->detected) {
        LEAT_TRY(detect(self, found, err));
        if (!*found) return LEAT_OK;
    }
    *found = false;
    while (!*found) {
        LEAT_TRY(look_at_line(self, 0, &line, err));
        if (!line.found) break;
        if (self->header_bytes > 0 || line.text.size_bytes == 0) {
            self->header_bytes -= line.used_bytes;
            LEAT_TRY(use_line(self, &line, err));
            continue;
        }
        LEAT_TRY(take_line(self, &line, frame, found, err));
    }
    if (!*found && self->counts.frames < LEAT_CAN_SAMPLE_LINES) return check_times(self, err);
    return LEAT_OK;
}

leat_code leat_can_frames_next(leat_can_frame_reader *reader, leat_can_frame *frame, bool *found,
                               leat_error *err) {
    leat_error why = reader->failed;
    *found = false;
    if (why.code == LEAT_OK) {
        const leat_code code = next_frame(reader, frame, found, &why);
        if (code == LEAT_OK) return LEAT_OK;
        reader->failed = why;
    }
    *found = false;
    return leat_error_copy(err, &why);
}

void leat_can_frames_count(const leat_can_frame_reader *reader, leat_can_frames_counts *counts) {
    *counts = reader->counts;
    for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) {
        if (reader->found.rejected[i] == 0) continue;
        counts->reject_reason[counts->reject_reasons] = leat_can_rejects.reasons[i];
        counts->reject_count[counts->reject_reasons++] = reader->found.rejected[i];
    }
}

/* ---- open, close ----------------------------------------------------------------------------- */

static leat_code check_options(const leat_can_frames_options *options, leat_error *err) {
    if (options->sample_lines >= 1 && options->sample_lines <= LEAT_CAN_SAMPLE_LINES)
        return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "sample_lines must be between 1 and %d, not %d",
                     LEAT_CAN_SAMPLE_LINES, (int)options->sample_lines);
}

static leat_code create(leat_can_frame_reader **out, const char *name,
                        const leat_can_frames_options *options, leat_error *err) {
    leat_can_frame_reader *self = NULL;
    leat_can_settings settings = options->settings;
    *out = NULL;
    LEAT_TRY(check_options(options, err));
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    leat_code code = leat_strdup(&self->name, name, err);
    if (code == LEAT_OK) code = leat_can_mapping_read(&self->mapping, &settings, err);
    if (code != LEAT_OK) {
        leat_can_frames_close(self);
        return code;
    }
    if (settings.column != NULL) {
        snprintf(self->column, sizeof self->column, "%s", settings.column);
        settings.column = self->column;
    }
    self->cancelled = options->cancelled;
    self->cancelled_user = options->cancelled_user;
    self->sample_lines = options->sample_lines;
    self->wanted = settings.format;
    self->options = leat_can_lines_of(&settings, &self->mapping);
    self->options.any_order = true; /* nothing is sorted, so there is no order to ask for */
    self->before_s = self->after_s = NAN;
    *out = self;
    return LEAT_OK;
}

static leat_code open_lines(leat_can_frame_reader *self, leat_coding coding, leat_error *err) {
    const leat_lines_source from = {self, read_text, position, close_nothing};
    const leat_lines_options reading = {.coding = coding};
    return leat_lines_open_source(&self->lines, &from, self->name, &reading, err);
}

/* How a regular file is packed; a pipe is read as it is. */
static leat_code find_coding(leat_can_frame_reader *self, leat_coding *coding, leat_error *err) {
    uint8_t magic[LEAT_CODING_MAGIC_BYTES] = {0};
    leat_path_facts facts;
    *coding = LEAT_CODING_NONE;
    LEAT_TRY(leat_path_stat(self->name, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    const int64_t size =
        facts.size_bytes < (int64_t)sizeof magic ? facts.size_bytes : (int64_t)sizeof magic;
    LEAT_TRY(leat_file_pread(self->file, magic, size, 0, err));
    *coding = leat_coding_of(magic, size);
    return LEAT_OK;
}

leat_code leat_can_frames_open(leat_can_frame_reader **out, const char *path,
                               const leat_can_frames_options *options, leat_error *err) {
    leat_can_frame_reader *self = NULL;
    leat_coding coding = LEAT_CODING_NONE;
    *out = NULL;
    LEAT_TRY(create(&self, path, options, err));
    leat_code code = leat_file_open(&self->file, path, LEAT_FILE_READ, err);
    if (code == LEAT_OK) code = find_coding(self, &coding, err);
    if (code == LEAT_OK) code = open_lines(self, coding, err);
    if (code != LEAT_OK) leat_can_frames_close(self);
    else *out = self;
    return code;
}

leat_code leat_can_frames_open_fd(leat_can_frame_reader **out, int fd, const char *name,
                                  const leat_can_frames_options *options, leat_error *err) {
    leat_can_frame_reader *self = NULL;
    *out = NULL;
    LEAT_TRY(create(&self, name, options, err));
    leat_code code = leat_file_borrow(&self->file, fd, name, err);
    if (code == LEAT_OK) code = open_lines(self, LEAT_CODING_NONE, err);
    if (code != LEAT_OK) leat_can_frames_close(self);
    else *out = self;
    return code;
}

leat_code leat_can_frames_open_source(leat_can_frame_reader **out,
                                      const leat_can_frames_source *source, const char *name,
                                      const leat_can_frames_options *options, leat_error *err) {
    leat_can_frame_reader *self = NULL;
    *out = NULL;
    LEAT_TRY(create(&self, name, options, err));
    self->source = *source;
    const leat_code code = open_lines(self, LEAT_CODING_NONE, err);
    if (code != LEAT_OK) leat_can_frames_close(self);
    else *out = self;
    return code;
}

void leat_can_frames_close(leat_can_frame_reader *reader) {
    if (reader == NULL) return;
    leat_lines_close(reader->lines);
    leat_file_close(reader->file);
    leat_free(reader->name);
    leat_free(reader);
}
