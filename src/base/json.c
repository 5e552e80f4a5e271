/*
 * JSON. jansson does the parsing; this file gets members of a stated type and range, with errors
 * that name document, member and value. leat writes JSON itself, because the bytes must be
 * canonical: members in the order of the calls, fixed line breaks, reals as leat_double_repr writes
 * them.
 *
 * The writer keeps one level of state per open bracket, and the first failure: callers write a
 * complete document without checking, and learn of a failure at the end.
 */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/number.h"

/* ---- reading ----------------------------------------------------------------------------------
 */

static leat_code load(const char *text, int64_t size_bytes, size_t flags, const char *what,
                      json_t **out, leat_error *err) {
    json_error_t problem;
    *out = NULL;
    /* jansson ignores a NUL after a number */
    const char *nul = size_bytes > 0 ? memchr(text, 0, (size_t)size_bytes) : NULL;
    if (nul != NULL) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s is not valid JSON: byte %lld is NUL", what,
                         (long long)(nul - text));
    }
    *out = json_loadb(text, (size_t)size_bytes, JSON_REJECT_DUPLICATES | flags, &problem);
    if (*out != NULL) return LEAT_OK;
    if (json_error_code(&problem) == json_error_out_of_memory)
        return leat_fail(err, LEAT_ERR_MEMORY, "reading %s: out of memory", what);
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s is not valid JSON: line %d column %d: %s", what,
                     problem.line, problem.column, problem.text);
}

leat_code leat_json_parse(const char *text, int64_t size_bytes, const char *what, json_t **out,
                          leat_error *err) {
    return load(text, size_bytes, 0, what, out, err);
}

leat_code leat_json_parse_value(leat_json_span text, const char *what, json_t **out,
                                leat_error *err) {
    return load(text.text, text.size_bytes, JSON_DECODE_ANY, what, out, err);
}

/* The member if it exists and has this type, else an error. */
static leat_code member(const json_t *object, const char *key, json_type type,
                        const char *type_text, const json_t **out, const char *what,
                        leat_error *err) {
    *out = NULL;
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" is missing", what, key);
    }
    if (json_typeof(value) != type) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" must be %s", what, key,
                         type_text);
    }
    *out = value;
    return LEAT_OK;
}

leat_code leat_json_get_int(const json_t *object, const char *key, int64_t min, int64_t max,
                            int64_t *out, const char *what, leat_error *err) {
    const json_t *value = NULL;
    *out = 0;
    LEAT_TRY(member(object, key, JSON_INTEGER, "an integer", &value, what, err));
    json_int_t number = json_integer_value(value);
    if (number < min || number > max) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: member \"%s\" is %lld; it must be %lld to %lld", what, key,
                         (long long)number, (long long)min, (long long)max);
    }
    *out = number;
    return LEAT_OK;
}

leat_code leat_json_get_double(const json_t *object, const char *key, double *out, const char *what,
                               leat_error *err) {
    const json_t *value = json_object_get(object, key);
    *out = json_number_value(value) + 0.0; /* no negative zero: it would be written as -0 */
    if (json_is_number(value)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" %s", what, key,
                     value == NULL ? "is missing" : "must be a number");
}

leat_code leat_json_get_string(const json_t *object, const char *key, const char **out,
                               const char *what, leat_error *err) {
    const json_t *value = NULL;
    *out = NULL;
    LEAT_TRY(member(object, key, JSON_STRING, "a string", &value, what, err));
    *out = json_string_value(value);
    return LEAT_OK;
}

leat_code leat_json_expect_string(const json_t *object, const char *key, const char *expected,
                                  const char *what, leat_error *err) {
    const char *text = NULL;
    LEAT_TRY(leat_json_get_string(object, key, &text, what, err));
    if (strcmp(text, expected) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" is \"%.80s\"; it must be \"%s\"",
                     what, key, text, expected);
}

leat_code leat_json_get_array(const json_t *object, const char *key, const json_t **out,
                              const char *what, leat_error *err) {
    return member(object, key, JSON_ARRAY, "an array", out, what, err);
}

leat_code leat_json_get_object(const json_t *object, const char *key, const json_t **out,
                               const char *what, leat_error *err) {
    return member(object, key, JSON_OBJECT, "an object", out, what, err);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

#define JSON_DEPTH_MAX 64
#define PIECE_BYTES (64 << 10)

struct leat_json {
    leat_buf buf;
    leat_json_out_fn out; /* NULL: all of the text stays in buf */
    void *out_context;
    leat_error error; /* the first failure */
    bool compact;
    bool after_key; /* a value must come next */
    int depth;
    struct {
        bool object;
        bool empty;
    } level[JSON_DEPTH_MAX + 1]; /* level 0: the document, which holds one value */
};

leat_code leat_json_create(leat_json **out, bool compact, leat_error *err) {
    *out = NULL;
    leat_json *json = NULL;
    LEAT_TRY(LEAT_NEW(&json, 1, err));
    json->compact = compact;
    json->level[0].empty = true;
    *out = json;
    return LEAT_OK;
}

void leat_json_destroy(leat_json *json) {
    if (json == NULL) return;
    leat_buf_free(&json->buf);
    leat_free(json);
}

void leat_json_stream(leat_json *json, leat_json_out_fn out, void *context) {
    json->out = out;
    json->out_context = context;
}

void leat_json_on_line(leat_json *json, bool on_line) { json->compact = on_line; }

/* Writes the text out if there is that much of it. */
static leat_code hand_over(leat_json *json, int64_t least, leat_error *err) {
    int64_t size_bytes = json->buf.size;
    if (json->out == NULL || size_bytes < least) return LEAT_OK;
    json->buf.size = 0;
    return json->out(json->out_context, json->buf.data, size_bytes, err);
}

static void put(leat_json *json, const void *bytes, int64_t size_bytes) {
    if (json->error.code != LEAT_OK) return;
    leat_error err = {0};
    leat_code code = leat_buf_append(&json->buf, bytes, size_bytes, &err);
    if (code == LEAT_OK) code = hand_over(json, PIECE_BYTES, &err);
    if (code != LEAT_OK) json->error = err;
}

static void put_text(leat_json *json, const char *text) { put(json, text, (int64_t)strlen(text)); }

static void misuse(leat_json *json, const char *what) {
    if (json->error.code == LEAT_OK) {
        (void)leat_fail(&json->error, LEAT_ERR_INPUT, "writing JSON at byte %lld: %s",
                        (long long)json->buf.size, what);
    }
}

static void new_line(leat_json *json) {
    if (json->compact) return;
    put(json, "\n", 1);
    for (int i = 0; i < json->depth; i++) put(json, "  ", 2);
}

/* Comma and line break before the next item of the open level. */
static void begin_item(leat_json *json) {
    if (!json->level[json->depth].empty) put(json, ",", 1);
    json->level[json->depth].empty = false;
    if (json->depth > 0) new_line(json);
}

/* What precedes any value; false if a value is not allowed here. */
static bool begin_value(leat_json *json) {
    if (json->error.code != LEAT_OK) return false;
    if (json->after_key) {
        json->after_key = false;
        return true;
    }
    if (json->level[json->depth].object) {
        misuse(json, "a value without a key in an object");
    } else if (json->depth == 0 && !json->level[0].empty) {
        misuse(json, "a second value after the document");
    } else {
        begin_item(json);
        return true;
    }
    return false;
}

static void open_level(leat_json *json, bool object) {
    if (!begin_value(json)) return;
    if (json->depth == JSON_DEPTH_MAX) {
        misuse(json, "more than 64 levels");
        return;
    }
    json->depth++;
    json->level[json->depth].object = object;
    json->level[json->depth].empty = true;
    put_text(json, object ? "{" : "[");
}

static void close_level(leat_json *json, bool object) {
    if (json->error.code != LEAT_OK) return;
    if (json->depth == 0 || json->level[json->depth].object != object || json->after_key) {
        misuse(json, "a closing bracket without an opening one");
        return;
    }
    bool empty = json->level[json->depth].empty;
    json->depth--;
    if (!empty) new_line(json);
    put_text(json, object ? "}" : "]");
}

void leat_json_begin_object(leat_json *json) { open_level(json, true); }
void leat_json_end_object(leat_json *json) { close_level(json, true); }
void leat_json_begin_array(leat_json *json) { open_level(json, false); }
void leat_json_end_array(leat_json *json) { close_level(json, false); }

static void put_quoted(leat_json *json, const uint8_t *bytes, int64_t size_bytes) {
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char escaped[] = "\"\\bfnrt";
    put(json, "\"", 1);
    int64_t done = 0; /* bytes before this one are written */
    int64_t i = 0;
    while (i < size_bytes) {
        int length = leat_utf8_length(bytes + i, size_bytes - i);
        bool control = bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\';
        if (length > 0 && !control) {
            i += length;
            continue;
        }
        put(json, bytes + done, i - done);
        char text[8];
        const char *known = bytes[i] == 0 ? NULL : strchr(plain, bytes[i]);
        if (length == 0) snprintf(text, sizeof(text), "\xef\xbf\xbd");
        else if (known != NULL) snprintf(text, sizeof(text), "\\%c", escaped[known - plain]);
        else snprintf(text, sizeof(text), "\\u%04x", (unsigned)bytes[i]);
        put_text(json, text);
        i++;
        done = i;
    }
    put(json, bytes + done, size_bytes - done);
    put(json, "\"", 1);
}

bool leat_json_is_utf8(const char *bytes, int64_t size_bytes) {
    int64_t i = 0;
    while (i < size_bytes) {
        uint64_t word = 0;
        if (size_bytes - i >= (int64_t)sizeof word) memcpy(&word, bytes + i, sizeof word);
        else word = UINT64_MAX;
        if ((word & UINT64_C(0x8080808080808080)) == 0) { /* eight characters of ASCII */
            i += (int64_t)sizeof word;
            continue;
        }
        int length = leat_utf8_length((const uint8_t *)bytes + i, size_bytes - i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

void leat_json_key(leat_json *json, const char *key) {
    if (json->error.code != LEAT_OK) return;
    if (!json->level[json->depth].object || json->after_key) {
        misuse(json, "a key where none is allowed");
        return;
    }
    begin_item(json);
    put_quoted(json, (const uint8_t *)key, (int64_t)strlen(key));
    put_text(json, json->compact ? ":" : ": ");
    json->after_key = true;
}

void leat_json_text(leat_json *json, const char *bytes, int64_t size_bytes) {
    if (begin_value(json)) put_quoted(json, (const uint8_t *)bytes, size_bytes);
}

void leat_json_string(leat_json *json, const char *text) {
    leat_json_text(json, text, (int64_t)strlen(text));
}

void leat_json_int(leat_json *json, int64_t value) {
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    if (begin_value(json)) put_text(json, text);
}

void leat_json_double(leat_json *json, double value) {
    char text[LEAT_REPR_BYTES] = "null";
    if (isfinite(value)) leat_double_repr(value, text);
    if (begin_value(json)) put_text(json, text);
}

void leat_json_float(leat_json *json, float value) {
    char text[LEAT_REPR_BYTES] = "null";
    if (isfinite(value)) leat_float_repr(value, text);
    if (begin_value(json)) put_text(json, text);
}

void leat_json_bool(leat_json *json, bool value) {
    if (begin_value(json)) put_text(json, value ? "true" : "false");
}

void leat_json_null(leat_json *json) {
    if (begin_value(json)) put_text(json, "null");
}

void leat_json_member_string(leat_json *json, const char *key, const char *text) {
    leat_json_key(json, key);
    leat_json_string(json, text);
}

void leat_json_member_int(leat_json *json, const char *key, int64_t value) {
    leat_json_key(json, key);
    leat_json_int(json, value);
}

void leat_json_member_double(leat_json *json, const char *key, double value) {
    leat_json_key(json, key);
    leat_json_double(json, value);
}

void leat_json_member_doubles(leat_json *json, const char *key, const double *values,
                              int64_t count) {
    leat_json_key(json, key);
    leat_json_begin_array(json);
    for (int64_t i = 0; i < count; i++) leat_json_double(json, values[i]);
    leat_json_end_array(json);
}

void leat_json_member_known(leat_json *json, const char *key, double value) {
    if (!isnan(value)) leat_json_member_double(json, key, value);
}

void leat_json_member_bool(leat_json *json, const char *key, bool value) {
    leat_json_key(json, key);
    leat_json_bool(json, value);
}

leat_code leat_json_finish(leat_json *json, const char **text, int64_t *size_bytes,
                           leat_error *err) {
    *text = NULL;
    *size_bytes = 0;
    if (json->depth > 0 || json->level[0].empty) misuse(json, "the document is incomplete");
    put(json, "\n", 1);
    if (json->error.code == LEAT_OK) (void)hand_over(json, 1, &json->error);
    put(json, "", 1); /* a NUL, not counted */
    if (json->error.code != LEAT_OK) return leat_error_copy(err, &json->error);
    *text = (const char *)json->buf.data;
    *size_bytes = json->buf.size - 1;
    return LEAT_OK;
}

leat_code leat_json_save(leat_json *json, const char *path, leat_error *err) {
    const char *text = NULL;
    int64_t size_bytes = 0;
    leat_code code = leat_json_finish(json, &text, &size_bytes, err);
    if (code == LEAT_OK) code = leat_file_save(path, text, size_bytes, err);
    leat_json_destroy(json);
    return code;
}
