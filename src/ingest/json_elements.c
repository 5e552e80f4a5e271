/*
 * Elements of JSON documents: see json_elements.h. A piece of text ends at the first of some
 * letters outside of texts and brackets; it is searched for in the buffer of the lines, which
 * slides on, and the search continues where the buffer ended.
 */
#include "ingest/json_elements.h"

#include <string.h>

/* What comes next. */
enum elements_place {
    BETWEEN, /* another document, or the end */
    KEYS,    /* a member of an object around the array */
    BEGIN,   /* the first element, or the end of the array */
    ELEMENTS /* an element */
};

static bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

static int64_t skip_blanks(const char *text, int64_t size_bytes, int64_t at) {
    while (at < size_bytes && is_blank(text[at])) at++;
    return at;
}

/* The high bit of each byte that is a quotation mark or a backslash; bytes after the first such
 * byte may have theirs set too. */
static inline uint64_t marks_in(uint64_t word) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
    return (((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & ones * 0x80;
}

/* Continues to the end of a text, from a byte inside it; `size_bytes` if it is not there. */
static int64_t skip_text(const char *text, int64_t size_bytes, int64_t at, bool *quoted) {
    while (at < size_bytes) {
        if (size_bytes - at >= 8) {
            uint64_t word;
            memcpy(&word, text + at, 8);
            uint64_t marks = marks_in(word);
            if (marks == 0) {
                at += 8;
                continue;
            }
            at += __builtin_ctzll(marks) >> 3;
        }
        if (text[at] == '"') {
            *quoted = false;
            return at + 1;
        }
        if (text[at] == '\\') {
            if (at + 1 == size_bytes) return at; /* what it escapes is not there yet */
            at++;
        }
        at++;
    }
    return at;
}

/* Searches on for one of two stops that ends the piece at the beginning of the text; false if none
 * is there. */
static bool find_stop(leat_json_elements *self, const char *text, int64_t size_bytes,
                      const char *stops) {
    int64_t at = self->scanned, depth = self->depth;
    bool found = false;
    while (at < size_bytes && !found) {
        if (self->quoted) {
            int64_t next = skip_text(text, size_bytes, at, &self->quoted);
            if (next == at) break;
            at = next;
            continue;
        }
        char letter = text[at];
        if (letter == '"') {
            self->quoted = true;
        } else if (letter == '{' || letter == '[') {
            if (depth == 0 && self->closed) self->joined = true;
            depth++;
        } else if (depth == 0 && (letter == stops[0] || letter == stops[1])) {
            found = true;
            break;
        } else if ((letter == '}' || letter == ']') && depth > 0) {
            depth--;
            self->closed = depth == 0;
        }
        at++;
    }
    self->scanned = at;
    self->depth = depth;
    return found;
}

static leat_code damaged(const leat_json_elements *self, const leat_lines *lines, const char *what,
                         leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\" is not a complete JSON array: after element %lld, %s; get the file "
                     "again, or correct it",
                     leat_lines_name(lines), (long long)self->number, what);
}

/*
 * Reads up to one of the two `stops`, and leaves the text at it. The piece has no blanks around it;
 * of one that is too long, it is the beginning, with this fault, and the text may be left before
 * the stop. With `skipping`, pieces may have any size, and are not returned.
 */
static leat_code take_piece(leat_json_elements *self, leat_lines *lines, const char *stops,
                            leat_line *piece, leat_error *err) {
    char *text = NULL;
    int64_t size = 0, before = 0;
    *piece = (leat_line){0};
    for (;;) {
        LEAT_TRY(leat_lines_look(lines, before, &text, &size, err));
        bool more = size > before;
        before = size;
        bool found = find_stop(self, text, size, stops);
        if (self->joined) return damaged(self, lines, "a comma is missing", err);
        if (found) break;
        if (self->scanned > LEAT_LINE_BYTES_MAX && !self->skipping) {
            piece->fault = LEAT_LINE_TOO_LONG;
            break;
        }
        if (!more) return damaged(self, lines, "it ends", err);
        if (!self->skipping) continue;
        leat_lines_skip(lines, self->scanned);
        before -= self->scanned;
        self->scanned = 0;
    }
    int64_t begin = self->skipping ? self->scanned : skip_blanks(text, self->scanned, 0);
    int64_t end = self->scanned;
    while (end > begin && is_blank(text[end - 1])) end--;
    if (end - begin > LEAT_LINE_BYTES_MAX) {
        piece->fault = LEAT_LINE_TOO_LONG;
        end = begin + LEAT_LINE_BYTES_MAX;
    }
    piece->data = text + begin;
    piece->size_bytes = end - begin;
    return LEAT_OK;
}

/* The letter at the beginning of the text, after blanks, which are skipped; 0 at its end. */
static leat_code peek(leat_lines *lines, char *letter, leat_error *err) {
    char *text = NULL;
    int64_t size = 0, at = 0;
    do {
        LEAT_TRY(leat_lines_look(lines, 0, &text, &size, err));
        at = skip_blanks(text, size, 0);
        leat_lines_skip(lines, at);
    } while (at > 0 && at == size);
    *letter = at < size ? text[at] : 0;
    return LEAT_OK;
}

static void begin_piece(leat_json_elements *self) {
    self->scanned = self->depth = 0;
    self->quoted = self->skipping = self->closed = self->joined = false;
}

static bool is_array_name(const char *key, int64_t size_bytes) {
    return (size_bytes == 6 && memcmp(key, "\"data\"", 6) == 0) ||
           (size_bytes == 9 && memcmp(key, "\"results\"", 9) == 0);
}

static bool is_key(const char *key, int64_t size_bytes, const char *name) {
    const int64_t size = (int64_t)strlen(name);
    return size_bytes == size + 2 && key[0] == '"' && memcmp(key + 1, name, (size_t)size) == 0;
}

/* A member of the object around the array: its key, and its value up to what follows it, or the
 * bracket that opens the array. */
static leat_code take_member(leat_json_elements *self, leat_lines *lines, leat_error *err) {
    leat_line piece;
    char letter = 0;
    begin_piece(self);
    LEAT_TRY(take_piece(self, lines, ":}", &piece, err));
    bool array = is_array_name(piece.data, piece.size_bytes);
    char stop = piece.fault == LEAT_LINE_GOOD ? leat_lines_at(lines, self->scanned) : 0;
    if (stop == 0) return damaged(self, lines, "a key is too long", err);
    if (self->time_name != NULL && is_key(piece.data, piece.size_bytes, self->time_name))
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "\"%s\": an object has \"%s\", as a measurement has, and an array of objects "
            "as its data or results; remove the one or the other",
            leat_lines_name(lines), self->time_name);
    leat_lines_skip(lines, self->scanned + 1);
    if (stop == ':') {
        LEAT_TRY(peek(lines, &letter, err));
        const bool open = array && letter == '[';
        if (open) {
            leat_lines_skip(lines, 1);
            LEAT_TRY(peek(lines, &letter, err));
        }
        if (open && (letter == '{' || letter == ']')) {
            self->held = true;
            self->place = BEGIN;
            return LEAT_OK;
        }
        begin_piece(self);
        self->skipping = true; /* the value, whatever its size */
        self->depth = open;
        LEAT_TRY(take_piece(self, lines, ",}", &piece, err));
        stop = leat_lines_at(lines, self->scanned);
        leat_lines_skip(lines, self->scanned + 1);
    }
    if (stop == ',') return LEAT_OK;
    self->place = BETWEEN;
    if (self->held) return LEAT_OK;
    return damaged(self, lines, "there is an object without data or results that are objects", err);
}

/* After an array. */
static leat_code end_array(leat_json_elements *self, leat_lines *lines, leat_error *err) {
    char letter = 0;
    self->place = BETWEEN;
    if (!self->wrapped) return LEAT_OK;
    LEAT_TRY(peek(lines, &letter, err));
    if (letter != ',' && letter != '}')
        return damaged(self, lines, letter == 0 ? "it ends" : "something else follows", err);
    leat_lines_skip(lines, 1);
    if (letter == ',') self->place = KEYS;
    return LEAT_OK;
}

static leat_code begin_document(leat_json_elements *self, leat_lines *lines, bool *end,
                                leat_error *err) {
    char letter = 0;
    LEAT_TRY(peek(lines, &letter, err));
    *end = letter == 0 && leat_lines_ended(lines);
    if (*end) return LEAT_OK;
    if (letter != '[' && letter != '{') return damaged(self, lines, "something else follows", err);
    leat_lines_skip(lines, 1);
    self->wrapped = letter == '{';
    self->held = false;
    self->place = self->wrapped ? KEYS : BEGIN;
    return LEAT_OK;
}

/* Releases the last element, and skips what is left of one that was too long. */
static leat_code release(leat_json_elements *self, leat_lines *lines, leat_error *err) {
    leat_line rest;
    char stop = 0;
    if (self->number == 0 || self->place != ELEMENTS || self->done == 0) return LEAT_OK;
    if (self->done < 0) {
        self->skipping = true;
        LEAT_TRY(take_piece(self, lines, ",]", &rest, err));
        self->done = self->scanned + 1;
    }
    stop = leat_lines_at(lines, self->done - 1);
    leat_lines_skip(lines, self->done);
    self->done = 0;
    return stop == ']' ? end_array(self, lines, err) : LEAT_OK;
}

leat_code leat_json_elements_next(leat_json_elements *self, leat_lines *lines, leat_line *line,
                                  bool *found, leat_error *err) {
    char letter = 0;
    bool end = false;
    *line = (leat_line){0};
    *found = false;
    LEAT_TRY(release(self, lines, err));
    while (self->place != ELEMENTS) {
        if (self->place == BETWEEN) LEAT_TRY(begin_document(self, lines, &end, err));
        else if (self->place == KEYS) LEAT_TRY(take_member(self, lines, err));
        if (end) return LEAT_OK;
        if (self->place != BEGIN) continue;
        LEAT_TRY(peek(lines, &letter, err));
        self->place = ELEMENTS;
        if (letter != ']') continue;
        leat_lines_skip(lines, 1);
        LEAT_TRY(end_array(self, lines, err));
    }
    begin_piece(self);
    LEAT_TRY(take_piece(self, lines, ",]", line, err));
    bool open = line->fault == LEAT_LINE_TOO_LONG && self->scanned > LEAT_LINE_BYTES_MAX;
    self->done = open ? -1 : self->scanned + 1;
    line->number = ++self->number;
    *found = true;
    return LEAT_OK;
}

/* ---- detection ------------------------------------------------------------------------------ */

typedef enum verdict { UNKNOWN, LINES, DOCUMENT } verdict;

/* Whether a value is the type of a result of RIPE Atlas. */
static bool is_atlas_type(const char *value, int64_t size_bytes) {
    static const char *const types[] = {"ping", "traceroute", "dns", "sslcert",
                                        "http", "ntp",        "wifi"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_key(value, size_bytes, types[i])) return true;
    return false;
}

static int64_t without_blanks(const char *text, int64_t size_bytes) {
    while (size_bytes > 0 && is_blank(text[size_bytes - 1])) size_bytes--;
    return size_bytes;
}

/* The object at the beginning of the text, after its bracket: all members that are there, because
 * one that makes it a measurement may follow its arrays. */
static verdict judge_object(const char *text, int64_t size_bytes, const char *time_name,
                            bool *has_array) {
    *has_array = false;
    for (int64_t at = 1; at < size_bytes;) {
        leat_json_elements piece = {0};
        at = skip_blanks(text, size_bytes, at);
        if (!find_stop(&piece, text + at, size_bytes - at, ":}")) return UNKNOWN;
        const char *key = text + at;
        const int64_t key_bytes = without_blanks(key, piece.scanned);
        at += piece.scanned;
        if (text[at] == '}') return *has_array ? DOCUMENT : LINES;
        if (is_key(key, key_bytes, time_name)) return LINES;
        at = skip_blanks(text, size_bytes, at + 1);
        if (at < size_bytes && text[at] == '[' && is_array_name(key, key_bytes)) {
            int64_t item = skip_blanks(text, size_bytes, at + 1);
            if (item == size_bytes) return UNKNOWN;
            if (text[item] == '{' || text[item] == ']') *has_array = true;
        }
        begin_piece(&piece);
        if (!find_stop(&piece, text + at, size_bytes - at, ",}")) return UNKNOWN;
        if (is_key(key, key_bytes, "type") &&
            is_atlas_type(text + at, without_blanks(text + at, piece.scanned)))
            return LINES;
        at += piece.scanned;
        if (text[at] == '}') return *has_array ? DOCUMENT : LINES;
        at++;
    }
    return UNKNOWN;
}

leat_code leat_json_elements_detect(leat_lines *lines, const char *time_name, bool *elements,
                                    leat_error *err) {
    char *text = NULL;
    int64_t size = 0, before;
    verdict verdict = UNKNOWN;
    bool has_array = false;
    *elements = false;
    do {
        before = size;
        LEAT_TRY(leat_lines_look(lines, before, &text, &size, err));
        /* a plain file may deliver more at once than a packed one */
        const int64_t seen = size < LEAT_LINE_BYTES_MAX ? size : LEAT_LINE_BYTES_MAX;
        int64_t at = skip_blanks(text, seen, 0);
        if (at == seen) continue;
        if (text[at] == '[') verdict = DOCUMENT;
        else if (text[at] != '{') verdict = LINES;
        else verdict = judge_object(text + at, seen - at, time_name, &has_array);
    } while (verdict == UNKNOWN && size > before);
    /* an array that is too long to be seen whole */
    *elements = verdict == DOCUMENT || (verdict == UNKNOWN && has_array);
    return LEAT_OK;
}
