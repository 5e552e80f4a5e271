/*
 * Documents in pieces. The end of a value is found by counting brackets outside of strings, which
 * takes no memory; whether it is valid JSON is checked by jansson when it is read.
 */
#include <string.h>

#include "base/json.h"

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) at++;
    return at;
}

/* After the quotation mark that ends the string at `at`; `end` if there is none. */
static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end; at++) {
        if (*at == '"') return at + 1;
        if (*at == '\\' && ++at == end) break;
    }
    return end;
}

/* After the value at `at`; `at` itself if no value begins there. */
static const char *skip_value(const char *at, const char *end) {
    int64_t depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            if (depth == 0) return at;
            depth--;
            at++;
        } else if (depth == 0) { /* a number, true, false, null */
            while (at < end && strchr(" \t\r\n,:\"{}[]", *at) == NULL) at++;
            return at;
        } else {
            at++;
            continue;
        }
        if (depth == 0) return at;
    }
    return end;
}

static leat_code no_json(const leat_json_walk *walk, const char *problem, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s is not valid JSON: byte %lld: %s", walk->what,
                     (long long)(walk->at - walk->begin), problem);
}

static leat_code begin(leat_json_walk *walk, leat_json_span text, char open, char close,
                       const char *what, leat_error *err) {
    const char *end = text.text + text.size_bytes;
    *walk = (leat_json_walk){.begin = text.text, .end = end, .what = what, .close = close};
    walk->at = skip_blanks(text.text, end);
    if (walk->at == end || *walk->at != open) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s is not a JSON %s", what,
                         open == '{' ? "object" : "array");
    }
    walk->at++;
    return LEAT_OK;
}

leat_code leat_json_walk_object(leat_json_walk *walk, leat_json_span text, const char *what,
                                leat_error *err) {
    return begin(walk, text, '{', '}', what, err);
}

leat_code leat_json_walk_array(leat_json_walk *walk, leat_json_span text, const char *what,
                               leat_error *err) {
    return begin(walk, text, '[', ']', what, err);
}

/* The key at walk->at, and the colon after it. */
static leat_code read_key(leat_json_walk *walk, leat_error *err) {
    if (walk->at == walk->end || *walk->at != '"') return no_json(walk, "a key is missing", err);
    const char *key_end = skip_string(walk->at, walk->end);
    json_t *key = NULL;
    leat_json_span text = {walk->at, key_end - walk->at};
    LEAT_TRY(leat_json_parse_value(text, walk->what, &key, err));
    bool fits = json_string_length(key) < sizeof walk->key;
    if (fits) memcpy(walk->key, json_string_value(key), json_string_length(key) + 1);
    json_decref(key);
    if (!fits) return no_json(walk, "a key of more than 255 bytes", err);
    walk->at = skip_blanks(key_end, walk->end);
    if (walk->at == walk->end || *walk->at != ':') return no_json(walk, "a colon is missing", err);
    walk->at = skip_blanks(walk->at + 1, walk->end);
    return LEAT_OK;
}

leat_code leat_json_walk_next(leat_json_walk *walk, bool *more, leat_error *err) {
    *more = false;
    walk->at = skip_blanks(walk->at, walk->end);
    if (walk->at == walk->end) return no_json(walk, "it ends too early", err);
    if (*walk->at == walk->close) {
        walk->at = skip_blanks(walk->at + 1, walk->end);
        return walk->at == walk->end ? LEAT_OK : no_json(walk, "text after the end", err);
    }
    if (walk->count > 0) {
        if (*walk->at != ',') return no_json(walk, "a comma is missing", err);
        walk->at = skip_blanks(walk->at + 1, walk->end);
    }
    if (walk->close == '}') LEAT_TRY(read_key(walk, err));
    const char *value_end = skip_value(walk->at, walk->end);
    if (value_end == walk->at) return no_json(walk, "a value is missing", err);
    walk->value = (leat_json_span){walk->at, value_end - walk->at};
    walk->at = value_end;
    walk->count++;
    *more = true;
    return LEAT_OK;
}

leat_code leat_json_walk_value(const leat_json_walk *walk, int64_t max_bytes, json_t **out,
                               leat_error *err) {
    *out = NULL;
    if (walk->value.size_bytes > max_bytes) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: item %lld, \"%.80s\", has %lld bytes; the limit is %lld", walk->what,
                         (long long)walk->count - 1, walk->key, (long long)walk->value.size_bytes,
                         (long long)max_bytes);
    }
    return leat_json_parse_value(walk->value, walk->what, out, err);
}

static int find(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return i;
    }
    return -1;
}

/* Stores the walk's item in spans or root. */
static leat_code split_item(const leat_json_walk *walk, leat_json_large large, int64_t *left_bytes,
                            json_t *root, leat_error *err) {
    int which = find(large.names, large.count, walk->key);
    bool twice =
        which >= 0 ? large.spans[which].text != NULL : json_object_get(root, walk->key) != NULL;
    if (twice) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s is not valid JSON: duplicate key \"%.80s\"",
                         walk->what, walk->key);
    }
    if (which >= 0) {
        large.spans[which] = walk->value;
        return LEAT_OK;
    }
    json_t *value = NULL;
    LEAT_TRY(leat_json_walk_value(walk, *left_bytes, &value, err));
    *left_bytes -= walk->value.size_bytes;
    if (json_object_set_new_nocheck(root, walk->key, value) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_MEMORY, "reading %s: out of memory", walk->what);
}

leat_code leat_json_split(leat_json_span text, leat_json_large large, int64_t max_bytes,
                          const char *what, json_t **out, leat_error *err) {
    leat_json_walk walk;
    bool more = true;
    *out = NULL;
    for (int i = 0; i < large.count; i++) large.spans[i] = (leat_json_span){0};
    LEAT_TRY(leat_json_walk_object(&walk, text, what, err));
    json_t *root = json_object();
    leat_code code = LEAT_OK;
    if (root == NULL) code = leat_fail(err, LEAT_ERR_MEMORY, "reading %s: out of memory", what);
    while (code == LEAT_OK) {
        code = leat_json_walk_next(&walk, &more, err);
        if (code != LEAT_OK || !more) break;
        code = split_item(&walk, large, &max_bytes, root, err);
    }
    if (code == LEAT_OK) {
        *out = root;
        return LEAT_OK;
    }
    json_decref(root);
    for (int i = 0; i < large.count; i++) large.spans[i] = (leat_json_span){0};
    return code;
}
