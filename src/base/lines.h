/*
 * Lines and records of text files, plain or packed, one after the other in bounded memory. Used for
 * CSV (quotes: RFC 4180, a quoted field may contain line ends), and for NDJSON and CAN logs
 * (plain).
 */
#ifndef LEAT_BASE_LINES_H
#define LEAT_BASE_LINES_H

#include <string.h>

#include "base/file.h"
#include "base/unpack.h"

/* Records longer than this, not counting line ends, are too long: only their beginning is returned.
 */
#define LEAT_LINE_BYTES_MAX (INT64_C(1) << 20)
/* Memory of one reader at most, without leat_lines_unpack_bytes. */
#define LEAT_LINES_MEMORY_BYTES (LEAT_LINE_BYTES_MAX + (INT64_C(512) << 10))

typedef enum leat_line_fault {
    LEAT_LINE_GOOD,
    LEAT_LINE_TOO_LONG, /* only the first LEAT_LINE_BYTES_MAX bytes are returned */
    LEAT_LINE_UNCLOSED, /* a quote opens that spans LEAT_LINE_BYTES_MAX bytes or the rest of the
                           file: only the line is returned, and the reader continues after it */
} leat_line_fault;

typedef struct leat_line {
    char *data; /* without its line end (LF or CRLF); may be written to until the next call */
    int64_t size_bytes;
    int64_t number; /* of the line where the record begins, from 1 */
    leat_line_fault fault;
} leat_line;

typedef struct leat_lines_options {
    leat_coding coding;     /* see unpack.h */
    int64_t unpack_bytes;   /* the memory that unpacking may take; 0: LEAT_UNPACK_MEMORY_BYTES */
    int64_t *refused_bytes; /* set to what a member requires that requires more; NULL: not wanted */
    bool quotes; /* records of RFC 4180, fields separated by commas; else every line is a record */
} leat_lines_options;

typedef struct leat_lines leat_lines;

/* `path` may be a pipe. A byte order mark of UTF-8 at the beginning is skipped. */
LEAT_MUST_CHECK leat_code leat_lines_open(leat_lines **out, const char *path,
                                          const leat_lines_options *options, leat_error *err);
/* Reads from memory, which must outlive the reader; `name` for messages. */
LEAT_MUST_CHECK leat_code leat_lines_open_bytes(leat_lines **out, const void *bytes,
                                                int64_t size_bytes, const char *name,
                                                const leat_lines_options *options, leat_error *err);
/* Reads from what `read` returns: up to size_bytes at once, *got of them, 0 at the end. Takes the
 * source over, even on failure; `name` must outlive the reader. */
typedef struct leat_lines_source {
    void *context;
    leat_code (*read)(void *context, void *bytes, int64_t size_bytes, int64_t *got,
                      leat_error *err);
    int64_t (*position)(const void *context); /* in the file, for leat_lines_position */
    void (*close)(void *context);
} leat_lines_source;
LEAT_MUST_CHECK leat_code leat_lines_open_source(leat_lines **out, const leat_lines_source *source,
                                                 const char *name,
                                                 const leat_lines_options *options,
                                                 leat_error *err);
void leat_lines_close(leat_lines *lines);

/* The next record; *found is false at the end. Blank lines are returned too. Damaged packed
 * data is LEAT_ERR_CORRUPT and names file and byte. */
LEAT_MUST_CHECK leat_code leat_lines_next(leat_lines *lines, leat_line *line, bool *found,
                                          leat_error *err);
/* The next line that is not blank. */
LEAT_MUST_CHECK leat_code leat_lines_first(leat_lines *lines, leat_line *line, bool *found,
                                           leat_error *err);

/* Consecutive complete lines with their line ends, as in the file: for readers that split lines
 * themselves, in several threads. */
typedef struct leat_line_run {
    int64_t size_bytes, line_count; /* 0: the end of the file */
    int64_t number;                 /* of the first line */
    leat_line_fault fault;
} leat_line_run;

/*
 * Copies the next lines to `to`: up to the first line end at or after want_bytes, but no more than
 * want_lines lines; so the end of a run does not depend on how the file was delivered. The last
 * line of a file may lack a line end. A line that is too long is returned alone: its beginning,
 * without its end and with its fault. want_bytes: up to LEAT_LINE_BYTES_MAX; `to` has space for
 * want_bytes and LEAT_LINE_RUN_ROOM. Not with `quotes`.
 */
#define LEAT_LINE_RUN_ROOM (LEAT_LINE_BYTES_MAX + 2)
LEAT_MUST_CHECK leat_code leat_lines_take(leat_lines *lines, char *to, int64_t want_bytes,
                                          int64_t want_lines, leat_line_run *run, leat_error *err);

/*
 * For readers that find the ends of records themselves: the text that was not used yet, from its
 * next byte on, after reading on until there are more than have_bytes of it, or all that is left,
 * or more than LEAT_LINE_BYTES_MAX. It may be written to, and moves with the next call of any
 * function but leat_lines_skip. Lines are not counted any more.
 */
LEAT_MUST_CHECK leat_code leat_lines_look(leat_lines *lines, int64_t have_bytes, char **text,
                                          int64_t *size_bytes, leat_error *err);
/* Uses the next bytes of that text. */
void leat_lines_skip(leat_lines *lines, int64_t size_bytes);
/* The byte of that text at a place within it. */
char leat_lines_at(const leat_lines *lines, int64_t place);
/* Fields are separated by another letter than a comma from here on, where a line begins. */
void leat_lines_separate(leat_lines *lines, char separator);
/* Whether all of the text was used. */
bool leat_lines_ended(const leat_lines *lines);
/* The file, for messages. */
const char *leat_lines_name(const leat_lines *lines);

/* The memory that unpacking has taken so far; 0 for a plain file. */
int64_t leat_lines_unpack_bytes(const leat_lines *lines);
/* Bytes of the file (packed ones of a packed file) used so far. */
int64_t leat_lines_position(const leat_lines *lines);

/* Text inside a larger buffer, without a NUL. */
typedef struct leat_text {
    const char *data;
    int32_t size_bytes; /* -1: null or missing */
} leat_text;

static inline bool leat_is_blank(char letter) { return letter == ' ' || letter == '\t'; }

/* Whether it has these words, and no more. */
static inline bool leat_text_is(leat_text text, const char *words) {
    return text.size_bytes == (int32_t)strlen(words) &&
           memcmp(text.data, words, (size_t)text.size_bytes) == 0;
}

/* The text without blanks around it. */
static inline leat_text leat_text_trim(leat_text text) {
    while (text.size_bytes > 0 && leat_is_blank(*text.data)) {
        text.data++;
        text.size_bytes--;
    }
    while (text.size_bytes > 0 && leat_is_blank(text.data[text.size_bytes - 1])) text.size_bytes--;
    return text;
}

/*
 * Reads the field at *at, removing its quotes in place. *at moves past the separator, or to NULL if
 * this was the last field. False if there is text after a closing quote or a quote is not closed.
 */
static inline bool leat_line_field_of(char **at, char *end, char separator, leat_text *field) {
    char *begin = *at;
    if (begin < end && *begin == '"') {
        char *out = ++begin, *in = begin;
        for (;;) {
            char *quote = in < end ? memchr(in, '"', (size_t)(end - in)) : NULL;
            if (quote == NULL) return false;
            bool doubled = quote + 1 < end && quote[1] == '"';
            int64_t size = quote - in + (doubled ? 1 : 0);
            if (out != in) memmove(out, in, (size_t)size);
            out += size;
            in = quote + (doubled ? 2 : 1);
            if (!doubled) break;
        }
        *field = (leat_text){begin, (int32_t)(out - begin)};
        if (in < end && *in != separator) return false;
        *at = in < end ? in + 1 : NULL;
        return true;
    }
    char *stop = begin < end ? memchr(begin, separator, (size_t)(end - begin)) : NULL;
    *field = (leat_text){begin, (int32_t)((stop != NULL ? stop : end) - begin)};
    *at = stop != NULL ? stop + 1 : NULL;
    return true;
}

/* The same of CSV. */
static inline bool leat_line_field(char **at, char *end, leat_text *field) {
    return leat_line_field_of(at, end, ',', field);
}

#endif
