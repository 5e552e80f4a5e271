/*
 * Members of a JSON object by name, without a tree: a text is checked from its first byte to its
 * last, and the values that are wanted are returned as slices of it. Nothing is allocated, and
 * texts are copied only to resolve escapes.
 *
 * The grammar is that of RFC 8259 in UTF-8, nested no deeper than jansson allows. A value is judged
 * when it is read: one that nobody reads may be a number of any size or a text with half a
 * surrogate pair or in another encoding, and programs write NaN, Infinity and -Infinity for numbers
 * that JSON does not have.
 */
#ifndef LEAT_BASE_JSON_SCAN_H
#define LEAT_BASE_JSON_SCAN_H

#include "leat/base.h"

/* A value with this many containers around it is too deep. */
#define LEAT_JSON_LEVELS_MAX 2048
/* An object with more values than this, nested ones included, is not accepted: those who read all
 * of them need a bound. */
#define LEAT_JSON_VALUES_MAX 32768

typedef enum leat_json_kind {
    LEAT_JSON_MISSING,
    LEAT_JSON_NULL,
    LEAT_JSON_FALSE,
    LEAT_JSON_TRUE,
    LEAT_JSON_INTEGER,
    LEAT_JSON_REAL,
    LEAT_JSON_STRING,
    LEAT_JSON_OBJECT,
    LEAT_JSON_ARRAY,
    LEAT_JSON_INFINITE
} leat_json_kind;

/* A value. NaN is an empty text: a missing value. */
typedef struct leat_json_slice {
    const char *text; /* a text without its quotation marks; any other value as it is */
    int32_t size_bytes;
    uint8_t kind; /* leat_json_kind */
    bool escaped; /* a text with escapes */
} leat_json_slice;

/* ---- wanted members ------------------------------------------------------------------------- */

#define LEAT_JSON_NAMES_MAX 32
typedef struct leat_json_names {
    int count;
    struct {
        const char *text; /* must outlive this */
        int32_t size_bytes;
    } name[LEAT_JSON_NAMES_MAX];
    /* By a hash of a name: 1 + the first one with it, and after each the next one; 0: none. */
    uint8_t first[64], next[LEAT_JSON_NAMES_MAX];
} leat_json_names;

/* Adds a name unless it is there, and returns its number. All zero: no names. */
int leat_json_names_add(leat_json_names *names, const char *name);

typedef struct leat_json_fields {
    uint32_t found, repeated; /* bit 1 << number: the member is there; more than once */
    leat_json_slice value[LEAT_JSON_NAMES_MAX]; /* of those found; the first of several */
} leat_json_fields;

/* Whether the text is an object, with nothing but blanks around it, and those of the wanted members
 * that are texts are in UTF-8. size_bytes: less than 2 GiB. */
bool leat_json_scan(const char *text, int64_t size_bytes, const leat_json_names *names,
                    leat_json_fields *fields);

/* The value of a member, of kind LEAT_JSON_MISSING if it is not there. */
static inline const leat_json_slice *leat_json_field(const leat_json_fields *fields, int number) {
    static const leat_json_slice missing = {0};
    return (fields->found >> number & 1) != 0 ? &fields->value[number] : &missing;
}

/* ---- values --------------------------------------------------------------------------------- */

/* False if it is not an integer, or exceeds 64 bits. */
bool leat_json_read_int(const leat_json_slice *value, int64_t *number);
/* The double nearest to an integer or real; false if it is neither, is out of range, or is an
 * integer that exceeds 64 bits. */
bool leat_json_read_double(const leat_json_slice *value, double *number);
/*
 * Copies a text with its escapes resolved, at most most_bytes of it; returns how many, or -1 if one
 * of its escapes is not a character: NUL, or half a surrogate pair.
 */
int64_t leat_json_read_text(const leat_json_slice *value, char *to, int64_t most_bytes);
/* Whether it is this text, which is ASCII. */
bool leat_json_is_text(const leat_json_slice *value, const char *text);

/* Whether it is not a text, or one in UTF-8: so are the values of members, but not those of items.
 */
bool leat_json_is_readable(const leat_json_slice *value);

/* The items of an object or array that has been scanned, one by one. */
typedef struct leat_json_items {
    const char *at, *end;
    bool object;
} leat_json_items;
leat_json_items leat_json_items_of(const leat_json_slice *container);
/* False at the end. `key` is a text, as written; it may be NULL, and is not set in an array. */
bool leat_json_items_next(leat_json_items *items, leat_json_slice *key, leat_json_slice *value);
/* How many items an array has. */
int64_t leat_json_items_count(const leat_json_slice *array);

#endif
