/*
 * Scanning JSON: see json_scan.h. Eight bytes of a text are examined at once: most are neither the
 * end of the text, nor an escape, nor a control character. Whether it is UTF-8 matters only if it
 * is the value of a member that is wanted. Nested values are skipped with one bit a level, so
 * neither depth nor length takes memory.
 */
#include "base/json_scan.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/number.h"

typedef struct scanner {
    const char *end;
    int64_t values;
} scanner;

static inline bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

static inline const char *skip_blanks(const char *at, const char *end) {
    while (at < end && is_blank(*at)) at++;
    return at;
}

static inline bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/* ---- texts ---------------------------------------------------------------------------------- */

static int hex_of(char letter) {
    if (is_digit(letter)) return letter - '0';
    char small = (char)(letter | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/* Four hexadecimal digits; -1 if they are not. */
static int read_hex(const char *at, const char *end) {
    int value = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_of(at[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* After the escape at `at`, a backslash; NULL if it is not one. */
static const char *skip_escape(const char *at, const char *end) {
    if (end - at < 2) return NULL;
    if (at[1] == 'u') return read_hex(at + 2, end) < 0 ? NULL : at + 6;
    return memchr("\"\\/bfnrt", at[1], 8) != NULL ? at + 2 : NULL;
}

/* The high bit of each byte that a text cannot be skipped over with, a quotation mark, backslash or
 * control character; other bytes after the first such byte may have theirs set too. */
static inline uint64_t special_bytes(uint64_t word) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
    return ((quote - ones) | (slash - ones) | (word - ones * 0x20)) & ~word & ones * 0x80;
}

/* The quotation mark that ends the text from `at` on; NULL if there is none, or the text is not
 * valid. */
static inline const char *skip_text(const char *at, const char *end, bool *escaped) {
    *escaped = false;
    for (;;) {
        while (end - at >= 8) {
            uint64_t word;
            memcpy(&word, at, 8);
            uint64_t special = special_bytes(word);
            if (special != 0) {
                at += __builtin_ctzll(special) >> 3;
                break;
            }
            at += 8;
        }
        if (at == end) return NULL;
        uint8_t letter = (uint8_t)*at;
        if (letter == '"') return at;
        if (letter == '\\') {
            *escaped = true;
            at = skip_escape(at, end);
            if (at == NULL) return NULL;
        } else if (letter < 0x20) {
            return NULL;
        } else {
            at++;
        }
    }
}

bool leat_json_is_readable(const leat_json_slice *value) {
    return value->kind != LEAT_JSON_STRING || leat_json_is_utf8(value->text, value->size_bytes);
}

/* ---- values --------------------------------------------------------------------------------- */

static const char *skip_digits(const char *at, const char *end) {
    if (at == end || !is_digit(*at)) return NULL;
    while (at < end && is_digit(*at)) at++;
    return at;
}

static const char *skip_number(const char *at, const char *end, uint8_t *kind) {
    *kind = LEAT_JSON_INTEGER;
    if (*at == '-') at++;
    if (at < end && *at == '0') at++;
    else at = skip_digits(at, end);
    if (at == NULL) return NULL;
    if (at < end && *at == '.') {
        *kind = LEAT_JSON_REAL;
        at = skip_digits(at + 1, end);
    }
    if (at != NULL && at < end && (*at | 0x20) == 'e') {
        *kind = LEAT_JSON_REAL;
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        at = skip_digits(at, end);
    }
    return at;
}

static bool begins(const char *at, const char *end, const char *word, size_t size) {
    return (size_t)(end - at) >= size && memcmp(at, word, size) == 0;
}

static const char *skip_word(const char *at, const char *end, leat_json_slice *value) {
    static const struct {
        const char *word;
        uint8_t size, kind;
    } words[] = {{"null", 4, LEAT_JSON_NULL},         {"true", 4, LEAT_JSON_TRUE},
                 {"false", 5, LEAT_JSON_FALSE},       {"NaN", 3, LEAT_JSON_STRING},
                 {"Infinity", 8, LEAT_JSON_INFINITE}, {"-Infinity", 9, LEAT_JSON_INFINITE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!begins(at, end, words[i].word, words[i].size)) continue;
        value->kind = words[i].kind;
        if (value->kind == LEAT_JSON_STRING) value->size_bytes = 0;
        return at + words[i].size;
    }
    return NULL;
}

/* Any value but an object or array; sets the value but for its size, which is that up to the
 * returned end unless it is a text. */
static inline const char *skip_scalar(const char *at, const char *end, leat_json_slice *value) {
    if (at == end) return NULL;
    *value = (leat_json_slice){.text = at};
    const char *stop;
    if (*at == '"') {
        value->text = at + 1;
        value->kind = LEAT_JSON_STRING;
        stop = skip_text(at + 1, end, &value->escaped);
        if (stop == NULL) return NULL;
        value->size_bytes = (int32_t)(stop - at - 1);
        return stop + 1;
    }
    if (is_digit(*at) || (*at == '-' && end - at > 1 && at[1] != 'I')) {
        stop = skip_number(at, end, &value->kind);
    } else {
        stop = skip_word(at, end, value);
    }
    if (stop != NULL && value->kind != LEAT_JSON_STRING) value->size_bytes = (int32_t)(stop - at);
    return stop;
}

/* A key, and the colon after it; returns where its value begins. */
static inline const char *skip_key(const char *at, const char *end, leat_json_slice *key) {
    if (at == end || *at != '"') return NULL;
    const char *stop = skip_text(at + 1, end, &key->escaped);
    if (stop == NULL) return NULL;
    key->text = at + 1;
    key->size_bytes = (int32_t)(stop - at - 1);
    key->kind = LEAT_JSON_STRING;
    at = skip_blanks(stop + 1, end);
    return at < end && *at == ':' ? skip_blanks(at + 1, end) : NULL;
}

static inline bool is_open(char letter) { return letter == '{' || letter == '['; }

/* After the object or array at `at`, which has `outer` containers around it. */
static const char *skip_nested(scanner *self, const char *at, int outer) {
    const char *end = self->end;
    uint8_t objects[LEAT_JSON_LEVELS_MAX + 1]; /* of each open level: whether it is an object */
    int level = 0;
    leat_json_slice ignored;
    do {
        /* a value begins here */
        if (at == end || outer + level >= LEAT_JSON_LEVELS_MAX) return NULL;
        if (++self->values > LEAT_JSON_VALUES_MAX) return NULL;
        bool inside = is_open(*at);
        if (inside) {
            bool object = *at == '{';
            objects[level++] = object;
            at = skip_blanks(at + 1, end);
            inside = at == end || *at != (object ? '}' : ']'); /* it has an item */
            if (inside && object) at = skip_key(at, end, &ignored);
        } else {
            at = skip_scalar(at, end, &ignored);
        }
        /* levels end here, until there is another value */
        while (!inside && level > 0 && at != NULL) {
            bool object = objects[level - 1];
            at = skip_blanks(at, end);
            if (at == end) return NULL;
            if (*at == (object ? '}' : ']')) {
                at++;
                level--;
            } else if (*at == ',') {
                at = skip_blanks(at + 1, end);
                if (object) at = skip_key(at, end, &ignored);
                inside = true;
            } else {
                return NULL;
            }
        }
        if (at == NULL) return NULL;
    } while (level > 0);
    return at;
}

static inline const char *skip_value(scanner *self, const char *at, int outer,
                                     leat_json_slice *value) {
    if (at == self->end) return NULL;
    if (!is_open(*at)) {
        if (++self->values > LEAT_JSON_VALUES_MAX) return NULL;
        return skip_scalar(at, self->end, value);
    }
    const char *stop = skip_nested(self, at, outer);
    *value = (leat_json_slice){.text = at,
                               .size_bytes = (int32_t)(stop != NULL ? stop - at : 0),
                               .kind = *at == '{' ? LEAT_JSON_OBJECT : LEAT_JSON_ARRAY};
    return stop;
}

/* ---- names ---------------------------------------------------------------------------------- */

static inline unsigned hash_of(const char *text, int32_t size_bytes) {
    if (size_bytes == 0) return 0;
    unsigned first = (uint8_t)text[0], last = (uint8_t)text[size_bytes - 1];
    return (first * 7 + last * 3 + (unsigned)size_bytes * 11) & 63;
}

static int find_name(const leat_json_names *names, const char *text, int32_t size_bytes) {
    for (int i = names->first[hash_of(text, size_bytes)]; i > 0; i = names->next[i - 1]) {
        if (names->name[i - 1].size_bytes == size_bytes &&
            memcmp(names->name[i - 1].text, text, (size_t)size_bytes) == 0)
            return i - 1;
    }
    return -1;
}

/* The same of a key as written; one with escapes is resolved first, if it is not longer than any
 * name is likely to be. */
static int find_key(const leat_json_names *names, const leat_json_slice *key) {
    enum { KEY_BYTES = 256 };
    char plain[KEY_BYTES + 1];
    if (!key->escaped) return find_name(names, key->text, key->size_bytes);
    int64_t size = leat_json_read_text(key, plain, sizeof plain);
    return size < 0 || size > KEY_BYTES ? -1 : find_name(names, plain, (int32_t)size);
}

int leat_json_names_add(leat_json_names *names, const char *name) {
    int32_t size = (int32_t)strlen(name);
    int found = find_name(names, name, size);
    if (found >= 0) return found;
    LEAT_ASSERT(names->count < LEAT_JSON_NAMES_MAX);
    int number = names->count++;
    uint8_t *first = &names->first[hash_of(name, size)];
    names->name[number].text = name;
    names->name[number].size_bytes = size;
    names->next[number] = *first;
    *first = (uint8_t)(number + 1);
    return number;
}

/* ---- an object ------------------------------------------------------------------------------ */

bool leat_json_scan(const char *text, int64_t size_bytes, const leat_json_names *names,
                    leat_json_fields *fields) {
    scanner self = {.end = text + size_bytes, .values = 1};
    const char *end = self.end, *at = skip_blanks(text, end);
    leat_json_slice key, value;
    fields->found = fields->repeated = 0;
    if (at == end || *at != '{') return false;
    at = skip_blanks(at + 1, end);
    if (at < end && *at == '}') return skip_blanks(at + 1, end) == end;
    for (;;) {
        at = skip_key(at, end, &key);
        if (at == NULL) return false;
        at = skip_value(&self, at, 1, &value);
        if (at == NULL) return false;
        int number = find_key(names, &key);
        if (number >= 0) {
            uint32_t bit = UINT32_C(1) << number;
            if ((fields->found & bit) != 0) fields->repeated |= bit;
            else if (leat_json_is_readable(&value)) fields->value[number] = value;
            else return false;
            fields->found |= bit;
        }
        at = skip_blanks(at, end);
        if (at == end) return false;
        if (*at == '}') return skip_blanks(at + 1, end) == end;
        if (*at != ',') return false;
        at = skip_blanks(at + 1, end);
    }
}

/* ---- reading values ------------------------------------------------------------------------- */

bool leat_json_read_int(const leat_json_slice *value, int64_t *number) {
    *number = 0;
    if (value->kind != LEAT_JSON_INTEGER) return false;
    const char *at = value->text, *end = at + value->size_bytes;
    bool negative = *at == '-';
    int64_t read = 0;
    for (at += negative; at < end; at++) { /* downwards: the range has one more number there */
        if (__builtin_mul_overflow(read, 10, &read) ||
            __builtin_sub_overflow(read, *at - '0', &read))
            return false;
    }
    if (!negative && read == INT64_MIN) return false;
    *number = negative ? read : -read;
    return true;
}

bool leat_json_read_double(const leat_json_slice *value, double *number) {
    int64_t whole = 0;
    *number = 0;
    if (value->kind == LEAT_JSON_INTEGER) {
        if (!leat_json_read_int(value, &whole)) return false;
        *number = (double)whole;
        return true;
    }
    if (value->kind != LEAT_JSON_REAL) return false;
    /* a longer number ends before what follows it in the text, which is not part of a number */
    if (!leat_decimal_parse(value->text, value->size_bytes, 0, number))
        *number = leat_double_parse(value->text);
    return isfinite(*number);
}

/* The character of the escape at `*at`, which is valid, and of a second half; -1: it is not one. */
static int32_t read_escape(const char **at, const char *end) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *escape = *at;
    if (escape[1] != 'u') {
        *at += 2;
        return meant[(const char *)memchr(letters, escape[1], 8) - letters];
    }
    int high = read_hex(escape + 2, end);
    *at += 6;
    if (high < 0xd800 || high > 0xdfff) return high == 0 ? -1 : high;
    if (high > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u') return -1;
    int low = read_hex(*at + 2, end);
    if (low < 0xdc00 || low > 0xdfff) return -1;
    *at += 6;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static int encode(int32_t character, char bytes[4]) {
    if (character < 0x80) {
        bytes[0] = (char)character;
        return 1;
    }
    int count = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (int i = count - 1; i > 0; i--, character >>= 6)
        bytes[i] = (char)(0x80 | (character & 0x3f));
    bytes[0] = (char)((0xf00 >> count & 0xff) | character);
    return count;
}

int64_t leat_json_read_text(const leat_json_slice *value, char *to, int64_t most_bytes) {
    const char *at = value->text, *end = at + value->size_bytes;
    int64_t size = 0;
    while (at < end) {
        char bytes[4];
        int count = 1;
        if (*at == '\\') {
            int32_t character = read_escape(&at, end);
            if (character < 0) return -1;
            count = encode(character, bytes);
        } else {
            bytes[0] = *at++;
        }
        for (int i = 0; i < count && size < most_bytes; i++) to[size++] = bytes[i];
    }
    return size;
}

bool leat_json_is_text(const leat_json_slice *value, const char *text) {
    char plain[64];
    int64_t size = (int64_t)strlen(text);
    if (value->kind != LEAT_JSON_STRING) return false;
    if (!value->escaped)
        return value->size_bytes == size && memcmp(value->text, text, (size_t)size) == 0;
    return size < (int64_t)sizeof plain &&
           leat_json_read_text(value, plain, sizeof plain) == size &&
           memcmp(plain, text, (size_t)size) == 0;
}

/* ---- items ---------------------------------------------------------------------------------- */

leat_json_items leat_json_items_of(const leat_json_slice *container) {
    LEAT_ASSERT(container->kind == LEAT_JSON_OBJECT || container->kind == LEAT_JSON_ARRAY);
    return (leat_json_items){container->text + 1, container->text + container->size_bytes,
                             container->kind == LEAT_JSON_OBJECT};
}

bool leat_json_items_next(leat_json_items *items, leat_json_slice *key, leat_json_slice *value) {
    scanner self = {.end = items->end};
    leat_json_slice own;
    const char *at = skip_blanks(items->at, items->end);
    if (at < items->end && *at == ',') at = skip_blanks(at + 1, items->end);
    if (at == items->end || *at == ']' || *at == '}') return false;
    if (items->object) at = skip_key(at, items->end, key != NULL ? key : &own);
    if (at != NULL) at = skip_value(&self, at, 1, value);
    LEAT_ASSERT(at != NULL);
    items->at = at;
    return true;
}

int64_t leat_json_items_count(const leat_json_slice *array) {
    leat_json_items items = leat_json_items_of(array);
    leat_json_slice value;
    int64_t count = 0;
    while (leat_json_items_next(&items, NULL, &value)) count++;
    return count;
}
