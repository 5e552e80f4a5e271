/* Reading JSON through jansson. The writer is in leat/base.h, except for saving what it wrote. */
#ifndef LEAT_BASE_JSON_H
#define LEAT_BASE_JSON_H

#include <jansson.h>

#include "base/mem.h"

/* Parses text; duplicate keys and anything after the value are errors. Call json_decref when done.
 */
LEAT_MUST_CHECK leat_code leat_json_parse(const char *text, int64_t size_bytes, const char *what,
                                          json_t **out, leat_error *err);
/* Members of an object with their type checked; `what` names the document in messages. */
LEAT_MUST_CHECK leat_code leat_json_get_int(const json_t *object, const char *key, int64_t min,
                                            int64_t max, int64_t *out, const char *what,
                                            leat_error *err);
/* An integer or a real. */
LEAT_MUST_CHECK leat_code leat_json_get_double(const json_t *object, const char *key, double *out,
                                               const char *what, leat_error *err);
LEAT_MUST_CHECK leat_code leat_json_get_string(const json_t *object, const char *key,
                                               const char **out, const char *what, leat_error *err);
/* A string with only one allowed value. */
LEAT_MUST_CHECK leat_code leat_json_expect_string(const json_t *object, const char *key,
                                                  const char *expected, const char *what,
                                                  leat_error *err);
LEAT_MUST_CHECK leat_code leat_json_get_array(const json_t *object, const char *key,
                                              const json_t **out, const char *what,
                                              leat_error *err);
LEAT_MUST_CHECK leat_code leat_json_get_object(const json_t *object, const char *key,
                                               const json_t **out, const char *what,
                                               leat_error *err);

/*
 * Documents in pieces. Parsed as one value, a document takes up to about forty times its size in
 * memory. So a document that may be large is walked: item by item, where each value is a piece of
 * text that is parsed by itself or walked in turn. A piece that is not read is not checked.
 */
typedef struct leat_json_span {
    const char *text; /* no NUL after it */
    int64_t size_bytes;
} leat_json_span;

/* Like leat_json_parse, but accepts any value, including a bare number or string. */
LEAT_MUST_CHECK leat_code leat_json_parse_value(leat_json_span text, const char *what, json_t **out,
                                                leat_error *err);

#define LEAT_JSON_KEY_BYTES 256
typedef struct leat_json_walk {
    const char *begin, *at, *end, *what;
    char close;                    /* the bracket that ends it */
    int64_t count;                 /* of the items so far */
    char key[LEAT_JSON_KEY_BYTES]; /* of the last item; "" in an array */
    leat_json_span value;          /* of the last item */
} leat_json_walk;
/* The text must be an object, or an array; `what` must outlive the walk. */
LEAT_MUST_CHECK leat_code leat_json_walk_object(leat_json_walk *walk, leat_json_span text,
                                                const char *what, leat_error *err);
LEAT_MUST_CHECK leat_code leat_json_walk_array(leat_json_walk *walk, leat_json_span text,
                                               const char *what, leat_error *err);
/* Moves to the next item: *more is false if there is none, which ends the walk. A key may appear
 * twice. */
LEAT_MUST_CHECK leat_code leat_json_walk_next(leat_json_walk *walk, bool *more, leat_error *err);
/* The last item's value; LEAT_ERR_CORRUPT if its text has more than max_bytes. Call json_decref
 * when done. */
LEAT_MUST_CHECK leat_code leat_json_walk_value(const leat_json_walk *walk, int64_t max_bytes,
                                               json_t **out, leat_error *err);
/* Members of an object that are too large to be parsed at once. */
typedef struct leat_json_large {
    const char *const *names; /* [count] */
    int count;
    leat_json_span *spans; /* [count]: their texts are written here; {NULL, 0}: it is missing */
} leat_json_large;
/* Reads an object except its large members. The others may have max_bytes in total. Duplicate keys
 * are errors. Call json_decref when done. */
LEAT_MUST_CHECK leat_code leat_json_split(leat_json_span text, leat_json_large large,
                                          int64_t max_bytes, const char *what, json_t **out,
                                          leat_error *err);

/* Whether the bytes are UTF-8, which the writer copies unchanged. */
bool leat_json_is_utf8(const char *bytes, int64_t size_bytes);

/* From now on the text is written to `out` in pieces, whatever its size; leat_json_finish writes
 * the last piece and returns a text of 0 bytes. */
typedef leat_code (*leat_json_out_fn)(void *context, const void *bytes, int64_t size_bytes,
                                      leat_error *err);
void leat_json_stream(leat_json *json, leat_json_out_fn out, void *context);

/* From now on, until it is called with false, no line is broken: for small arrays in a long one. */
void leat_json_on_line(leat_json *json, bool on_line);

/* Key and array; as leat_json_member_double. */
void leat_json_member_doubles(leat_json *json, const char *key, const double *values,
                              int64_t count);

/* Finishes the document, saves it like leat_file_save, and destroys the writer, even on failure. */
LEAT_MUST_CHECK leat_code leat_json_save(leat_json *json, const char *path, leat_error *err);

#endif
