/*
 * A record is found in one buffer that slides over the file: the rest of it is moved to the front,
 * and the buffer is refilled from the file or unpacked from it. Nearly all records have no quotes,
 * and for them two calls of memchr are enough; the others go through a state machine of four
 * states, which continues where it stopped when the buffer was refilled.
 *
 * A stray quote must not swallow the file. The search for the end of a record may look ahead
 * LEAT_LINE_BYTES_MAX bytes; if it has passed line ends in quotes by then and not found the end,
 * the first line of the record is returned as unclosed, and up to the last byte examined, line ends
 * count inside quotes too. So every byte is examined at most twice, whatever a hostile file
 * contains, and the records do not depend on how the file was delivered.
 */
#include "base/lines.h"

#include <string.h>

#include "base/mem.h"

enum { INPUT_BYTES = 64 << 10 };
/* How far the end of a record is searched for: a CRLF after the longest record is found. */
#define LOOK_BYTES (LEAT_LINE_BYTES_MAX + 2)
#define BUFFER_BYTES (LOOK_BYTES + (INT64_C(256) << 10))

typedef enum quote_state {
    FIELD_BEGIN,
    IN_FIELD,
    IN_QUOTES,
    QUOTE_SEEN, /* inside quotes: the end of the field, or the first of two */
} quote_state;

struct leat_lines {
    leat_lines_options options;
    leat_lines_source source; /* read NULL: none */
    leat_file *file;          /* NULL: source or memory */
    const uint8_t *bytes;
    int64_t bytes_left;
    const char *name;

    char *data;          /* BUFFER_BYTES */
    int64_t begin, end;  /* not returned yet */
    int64_t scanned;     /* [begin, scanned) has no record end */
    quote_state state;   /* at `scanned` */
    char separator;      /* of fields */
    int64_t base;        /* offset of data[0] in the text */
    int64_t plain_until; /* offset in the text up to which every line is a record */
    int64_t number;      /* of the line at `begin` */
    int64_t file_bytes;  /* read from the file so far */
    bool started, file_end, text_end;
    bool skipping; /* the rest of a record that was too long */

    leat_unpacker *unpacker; /* packed files only: */
    uint8_t *input;          /* INPUT_BYTES */
    leat_unpack_flow flow;
};

/* ---- bytes in ---- */

static leat_code read_input(leat_lines *lines, void *bytes, int64_t size_bytes, int64_t *got,
                            leat_error *err) {
    if (lines->source.read != NULL) {
        LEAT_TRY(lines->source.read(lines->source.context, bytes, size_bytes, got, err));
    } else if (lines->file != NULL) {
        LEAT_TRY(leat_file_read(lines->file, bytes, size_bytes, got, err));
    } else {
        *got = size_bytes < lines->bytes_left ? size_bytes : lines->bytes_left;
        if (*got > 0) memcpy(bytes, lines->bytes, (size_t)*got);
        lines->bytes += *got;
        lines->bytes_left -= *got;
    }
    lines->file_bytes += *got;
    if (*got == 0) lines->file_end = true;
    return LEAT_OK;
}

/* One step: consumes some input or produces some output. */
static leat_code unpack_some(leat_lines *lines, leat_error *err) {
    leat_unpack_flow *flow = &lines->flow;
    leat_error why = {0};
    if (flow->in_bytes == 0 && !lines->file_end) {
        LEAT_TRY(read_input(lines, lines->input, INPUT_BYTES, &flow->in_bytes, err));
        flow->in = lines->input;
        flow->last = lines->file_end;
    }
    flow->out = (uint8_t *)lines->data + lines->end;
    flow->out_bytes = BUFFER_BYTES - lines->end;
    leat_code code = leat_unpacker_step(lines->unpacker, flow, &lines->text_end, &why);
    lines->end = BUFFER_BYTES - flow->out_bytes;
    if (code == LEAT_ERR_CORRUPT)
        return leat_fail(err, code, "\"%s\": damaged %s data at byte %lld: %s; get the file again",
                         lines->name, leat_coding_name(lines->options.coding),
                         (long long)(lines->file_bytes - flow->in_bytes), why.message);
    if (code == LEAT_ERR_LIMIT && lines->options.refused_bytes != NULL)
        *lines->options.refused_bytes = leat_unpacker_memory_bytes(lines->unpacker);
    if (code == LEAT_ERR_LIMIT)
        return leat_fail(err, code, "\"%s\": %s; use a larger --memory, or unpack the file",
                         lines->name, why.message);
    return code == LEAT_OK ? code : leat_error_copy(err, &why);
}

/* Moves the rest to the front and adds at least one byte, or sets text_end. */
static leat_code fill(leat_lines *lines, leat_error *err) {
    if (lines->begin > 0) {
        memmove(lines->data, lines->data + lines->begin, (size_t)(lines->end - lines->begin));
        lines->base += lines->begin;
        lines->scanned -= lines->begin;
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    int64_t before = lines->end;
    LEAT_ASSERT(before < BUFFER_BYTES);
    while (lines->end == before && !lines->text_end) {
        if (lines->unpacker != NULL) {
            LEAT_TRY(unpack_some(lines, err));
            continue;
        }
        int64_t got = 0;
        LEAT_TRY(read_input(lines, lines->data + lines->end, BUFFER_BYTES - lines->end, &got, err));
        lines->end += got;
        lines->text_end = lines->file_end;
    }
    return LEAT_OK;
}

/* ---- record ends ---- */

/* Runs the state machine over [scanned, limit); returns the position of the LF that ends the
 * record, or -1. */
static int64_t find_quoted_end(leat_lines *lines, int64_t limit) {
    const char *data = lines->data;
    quote_state state = lines->state;
    int64_t at = lines->scanned;
    for (; at < limit; at++) {
        char letter = data[at];
        if (state == IN_QUOTES) {
            const char *quote = memchr(data + at, '"', (size_t)(limit - at));
            if (quote == NULL) {
                at = limit;
                break;
            }
            at = quote - data;
            state = QUOTE_SEEN;
        } else if (letter == '\n') {
            lines->state = state;
            lines->scanned = at;
            return at;
        } else if (letter == lines->separator) {
            state = FIELD_BEGIN;
        } else if (letter == '"' && state != IN_FIELD) {
            state = IN_QUOTES;
        } else {
            state = IN_FIELD;
        }
    }
    lines->state = state;
    lines->scanned = at;
    return -1;
}

/* The position of the LF that ends the record at `begin`; -1 if it is not in [begin, limit). */
static int64_t find_end(leat_lines *lines, int64_t limit) {
    const char *data = lines->data;
    bool quotes = lines->options.quotes && lines->base + lines->begin >= lines->plain_until;
    if (quotes && lines->scanned > lines->begin) return find_quoted_end(lines, limit);
    const char *feed = limit > lines->scanned
                           ? memchr(data + lines->scanned, '\n', (size_t)(limit - lines->scanned))
                           : NULL;
    if (quotes) {
        int64_t line_end = feed != NULL ? feed - data : limit;
        if (line_end > lines->begin &&
            memchr(data + lines->begin, '"', (size_t)(line_end - lines->begin)) != NULL) {
            lines->state = FIELD_BEGIN;
            return find_quoted_end(lines, limit);
        }
        /* the state after what was skipped: there was no quote, so only the last byte counts */
        lines->state = line_end > lines->begin && data[line_end - 1] != lines->separator
                           ? IN_FIELD
                           : FIELD_BEGIN;
    }
    lines->scanned = feed != NULL ? feed - data : limit;
    return feed != NULL ? feed - data : -1;
}

/* Returns [begin, stop) as a record and continues at `next`. */
static void give(leat_lines *lines, leat_line *line, int64_t stop, int64_t next,
                 leat_line_fault fault) {
    char *data = lines->data + lines->begin;
    int64_t size = stop - lines->begin;
    if (size > 0 && data[size - 1] == '\r') size--;
    if (fault == LEAT_LINE_GOOD && size > LEAT_LINE_BYTES_MAX) fault = LEAT_LINE_TOO_LONG;
    if (size > LEAT_LINE_BYTES_MAX) size = LEAT_LINE_BYTES_MAX;
    *line = (leat_line){data, size, lines->number, fault};
    const char *at = data, *end = lines->data + next;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines->number++;
        at++;
    }
    lines->begin = next;
    lines->scanned = next;
    lines->state = FIELD_BEGIN;
}

/* The record at `begin` does not end within [begin, limit), which is the end of the file or of the
 * search. */
static void give_without_end(leat_lines *lines, leat_line *line, int64_t limit) {
    const char *data = lines->data;
    bool too_far = limit - lines->begin >= LOOK_BYTES;
    bool open = lines->options.quotes && lines->state == IN_QUOTES;
    const char *feed =
        open || too_far ? memchr(data + lines->begin, '\n', (size_t)(limit - lines->begin)) : NULL;
    if (open || feed != NULL) lines->plain_until = lines->base + limit;
    if (feed != NULL) {
        give(lines, line, feed - data, feed - data + 1, LEAT_LINE_UNCLOSED);
        return;
    }
    lines->skipping = too_far;
    give(lines, line, limit, limit,
         too_far ? LEAT_LINE_TOO_LONG
         : open  ? LEAT_LINE_UNCLOSED
                 : LEAT_LINE_GOOD);
}

/* Drops the rest of a record that was too long, its LF included. */
static leat_code skip_rest(leat_lines *lines, leat_error *err) {
    while (lines->skipping) {
        const char *feed = lines->end > lines->begin ? memchr(lines->data + lines->begin, '\n',
                                                              (size_t)(lines->end - lines->begin))
                                                     : NULL;
        lines->begin = feed != NULL ? feed - lines->data + 1 : lines->end;
        lines->scanned = lines->begin;
        if (feed != NULL) {
            lines->number++;
            lines->skipping = false;
        } else if (lines->text_end) {
            lines->skipping = false;
        } else {
            LEAT_TRY(fill(lines, err));
        }
    }
    return LEAT_OK;
}

static leat_code start(leat_lines *lines, leat_error *err) {
    lines->started = true;
    while (lines->end < 3 && !lines->text_end) LEAT_TRY(fill(lines, err));
    if (lines->end >= 3 && memcmp(lines->data, "\xef\xbb\xbf", 3) == 0) {
        lines->begin = 3;
        lines->scanned = 3;
    }
    return LEAT_OK;
}

leat_code leat_lines_next(leat_lines *lines, leat_line *line, bool *found, leat_error *err) {
    *line = (leat_line){0};
    *found = false;
    if (!lines->started) LEAT_TRY(start(lines, err));
    LEAT_TRY(skip_rest(lines, err));
    for (;;) {
        int64_t limit = lines->begin + LOOK_BYTES;
        if (limit > lines->end) limit = lines->end;
        int64_t stop = find_end(lines, limit);
        if (stop >= 0) {
            give(lines, line, stop, stop + 1, LEAT_LINE_GOOD);
        } else if (limit == lines->begin + LOOK_BYTES ||
                   (lines->text_end && limit > lines->begin)) {
            give_without_end(lines, line, limit);
        } else if (lines->text_end) {
            return LEAT_OK;
        } else {
            LEAT_TRY(fill(lines, err));
            continue;
        }
        *found = true;
        return LEAT_OK;
    }
}

/* ---- many lines at once ---- */

static int64_t count_feeds(const char *data, int64_t size_bytes) {
    typedef uint8_t lane16 __attribute__((vector_size(16)));
    int64_t count = 0, at = 0;
    while (size_bytes - at >= 16) {
        /* a lane counts to 255 at most */
        int64_t stop = size_bytes - at < 255 * 16 ? size_bytes - 15 : at + 255 * 16;
        lane16 sum = {0};
        for (; at < stop; at += 16) {
            lane16 bytes;
            memcpy(&bytes, data + at, sizeof bytes);
            sum -= (lane16)(bytes == '\n');
        }
        for (int i = 0; i < 16; i++) count += sum[i];
    }
    for (; at < size_bytes; at++) count += data[at] == '\n';
    return count;
}

/* The number of bytes at `begin` for a run that wants this many more: complete lines, possibly 0.
 */
static int64_t take_whole(const leat_lines *lines, int64_t want_bytes, bool *too_long) {
    const char *data = lines->data + lines->begin, *feed = NULL;
    int64_t there = lines->end - lines->begin;
    if (there >= want_bytes) {
        int64_t look =
            there - (want_bytes - 1) < LOOK_BYTES ? there - (want_bytes - 1) : LOOK_BYTES;
        feed = memchr(data + want_bytes - 1, '\n', (size_t)look);
    }
    int64_t before = there < want_bytes ? there : want_bytes - 1;
    const char *last = before > 0 ? memrchr(data, '\n', (size_t)before) : NULL;
    int64_t whole = last != NULL ? last - data + 1 : 0; /* without the line that `feed` ends */
    int64_t open = feed != NULL ? feed - data - whole : there - whole;
    bool ended = feed != NULL || lines->text_end;
    *too_long = open > (ended ? LEAT_LINE_BYTES_MAX : LOOK_BYTES - 1);
    return feed == NULL || *too_long ? whole : feed - data + 1;
}

/* The position after line end number `count`, which exists. */
static int64_t behind_lines(const char *data, int64_t size_bytes, int64_t count) {
    const char *at = data;
    for (int64_t i = 0; i < count; i++)
        at = (const char *)memchr(at, '\n', (size_t)(data + size_bytes - at)) + 1;
    return at - data;
}

/* The line at `begin`, which is too long, by itself. */
static leat_code take_one(leat_lines *lines, char *to, leat_line_run *run, leat_error *err) {
    leat_line line;
    bool found = false;
    LEAT_TRY(leat_lines_next(lines, &line, &found, err));
    LEAT_ASSERT(found);
    memcpy(to, line.data, (size_t)line.size_bytes);
    run->size_bytes = line.size_bytes;
    run->line_count = 1;
    run->fault = line.fault;
    return LEAT_OK;
}

leat_code leat_lines_take(leat_lines *lines, char *to, int64_t want_bytes, int64_t want_lines,
                          leat_line_run *run, leat_error *err) {
    LEAT_ASSERT(!lines->options.quotes && want_bytes > 0 && want_bytes <= LEAT_LINE_BYTES_MAX);
    LEAT_ASSERT(want_lines > 0);
    *run = (leat_line_run){0};
    if (!lines->started) LEAT_TRY(start(lines, err));
    LEAT_TRY(skip_rest(lines, err));
    run->number = lines->number;
    while (run->size_bytes < want_bytes && run->line_count < want_lines) {
        bool too_long = false;
        int64_t size = take_whole(lines, want_bytes - run->size_bytes, &too_long);
        if (size == 0) {
            if (too_long) return run->line_count > 0 ? LEAT_OK : take_one(lines, to, run, err);
            if (!lines->text_end) {
                LEAT_TRY(fill(lines, err));
                continue;
            }
            if (lines->begin == lines->end) break;
            size = lines->end - lines->begin; /* the last line, without an end */
        }
        const char *data = lines->data + lines->begin;
        int64_t count = count_feeds(data, size), left = want_lines - run->line_count;
        if (count == 0) count = 1;
        if (count > left) {
            count = left;
            size = behind_lines(data, size, count);
        }
        memcpy(to + run->size_bytes, data, (size_t)size);
        run->size_bytes += size;
        run->line_count += count;
        lines->number += count;
        lines->begin += size;
        lines->scanned = lines->begin;
    }
    return LEAT_OK;
}

/* ---- as it is ---- */

leat_code leat_lines_look(leat_lines *lines, int64_t have_bytes, char **text, int64_t *size_bytes,
                          leat_error *err) {
    *text = NULL;
    *size_bytes = 0;
    if (!lines->started) LEAT_TRY(start(lines, err));
    while (lines->end - lines->begin <= have_bytes && lines->end - lines->begin < LOOK_BYTES &&
           !lines->text_end)
        LEAT_TRY(fill(lines, err));
    *text = lines->data + lines->begin;
    *size_bytes = lines->end - lines->begin;
    return LEAT_OK;
}

void leat_lines_skip(leat_lines *lines, int64_t size_bytes) {
    LEAT_ASSERT(size_bytes >= 0 && size_bytes <= lines->end - lines->begin);
    lines->begin += size_bytes;
    lines->scanned = lines->begin;
}

char leat_lines_at(const leat_lines *lines, int64_t place) {
    LEAT_ASSERT(place >= 0 && place < lines->end - lines->begin);
    return lines->data[lines->begin + place];
}

void leat_lines_separate(leat_lines *lines, char separator) { lines->separator = separator; }

bool leat_lines_ended(const leat_lines *lines) {
    return lines->text_end && lines->begin == lines->end;
}

const char *leat_lines_name(const leat_lines *lines) { return lines->name; }

int64_t leat_lines_unpack_bytes(const leat_lines *lines) {
    return lines->unpacker != NULL ? leat_unpacker_memory_bytes(lines->unpacker) : 0;
}

int64_t leat_lines_position(const leat_lines *lines) {
    if (lines->source.read != NULL) return lines->source.position(lines->source.context);
    if (lines->unpacker != NULL) return lines->file_bytes - lines->flow.in_bytes;
    return lines->file_bytes - (lines->end - lines->begin);
}

/* ---- open, close ---- */

static leat_code open_reader(leat_lines **out, const leat_lines_options *options, leat_error *err) {
    *out = NULL;
    leat_lines *lines = NULL;
    LEAT_TRY(LEAT_NEW(&lines, 1, err));
    lines->options = *options;
    lines->separator = ',';
    lines->number = 1;
    leat_code code = leat_block_alloc((void **)&lines->data, BUFFER_BYTES, err);
    if (code == LEAT_OK && options->coding != LEAT_CODING_NONE) {
        code = LEAT_NEW(&lines->input, INPUT_BYTES, err);
        if (code == LEAT_OK)
            code =
                leat_unpacker_create(&lines->unpacker, options->coding, options->unpack_bytes, err);
    }
    if (code != LEAT_OK) {
        leat_lines_close(lines);
        return code;
    }
    *out = lines;
    return LEAT_OK;
}

leat_code leat_lines_open(leat_lines **out, const char *path, const leat_lines_options *options,
                          leat_error *err) {
    LEAT_TRY(open_reader(out, options, err));
    leat_code code = leat_file_open(&(*out)->file, path, LEAT_FILE_READ, err);
    if (code != LEAT_OK) {
        leat_lines_close(*out);
        *out = NULL;
        return code;
    }
    (*out)->name = leat_file_path((*out)->file);
    return LEAT_OK;
}

leat_code leat_lines_open_bytes(leat_lines **out, const void *bytes, int64_t size_bytes,
                                const char *name, const leat_lines_options *options,
                                leat_error *err) {
    LEAT_TRY(open_reader(out, options, err));
    (*out)->bytes = bytes;
    (*out)->bytes_left = size_bytes;
    (*out)->name = name;
    return LEAT_OK;
}

leat_code leat_lines_open_source(leat_lines **out, const leat_lines_source *source,
                                 const char *name, const leat_lines_options *options,
                                 leat_error *err) {
    leat_code code = open_reader(out, options, err);
    if (code != LEAT_OK) {
        source->close(source->context);
        return code;
    }
    (*out)->source = *source;
    (*out)->name = name;
    return LEAT_OK;
}

void leat_lines_close(leat_lines *lines) {
    if (lines == NULL) return;
    if (lines->source.close != NULL) lines->source.close(lines->source.context);
    leat_unpacker_destroy(lines->unpacker);
    leat_file_close(lines->file);
    leat_block_free(lines->data, BUFFER_BYTES);
    leat_free(lines->input);
    leat_free(lines);
}

leat_code leat_lines_first(leat_lines *lines, leat_line *line, bool *found, leat_error *err) {
    do {
        LEAT_TRY(leat_lines_next(lines, line, found, err));
    } while (*found && line->size_bytes == 0);
    return LEAT_OK;
}
