/*
 * Jansson as the reference of base/json_scan.h: whether both read the same of a text. They differ
 * on purpose in values that nobody reads: jansson refuses an object for a number out of range, half
 * a surrogate pair, NUL in a text, a text that is not UTF-8, a key that appears twice, NaN and
 * Infinity anywhere in it.
 */
#ifndef LEAT_TESTS_JSON_REFERENCE_H
#define LEAT_TESTS_JSON_REFERENCE_H

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_scan.h"

/* The names that are looked for. */
static inline void json_reference_names(leat_json_names *names) {
    static const char *const all[] = {"a", "b", "rtt", "avg", "type", "from", "x\xc3\xa9", ""};
    *names = (leat_json_names){0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) leat_json_names_add(names, all[i]);
}

static inline bool json_reference_same(const leat_json_slice *value, const json_t *want);

static inline bool json_reference_same_items(const leat_json_slice *value, const json_t *want) {
    leat_json_items items = leat_json_items_of(value);
    leat_json_slice key, item;
    size_t count = 0, size = json_is_array(want) ? json_array_size(want) : json_object_size(want);
    for (; leat_json_items_next(&items, &key, &item); count++) {
        const json_t *one = json_array_get(want, count);
        char *name = json_is_object(want) ? calloc(1, (size_t)key.size_bytes + 1) : NULL;
        if (name != NULL) {
            if (leat_json_read_text(&key, name, key.size_bytes) >= 0)
                one = json_object_get(want, name);
            free(name);
        }
        if (one == NULL || !json_reference_same(&item, one)) return false;
    }
    return count == size &&
           (!json_is_array(want) || leat_json_items_count(value) == (int64_t)count);
}

/* Whether a value has the type and contents of jansson's. */
static inline bool json_reference_same(const leat_json_slice *value, const json_t *want) {
    int64_t number = 0, size = value->size_bytes;
    double real = 0, wanted = json_real_value(want);
    switch (json_typeof(want)) {
    case JSON_NULL: return value->kind == LEAT_JSON_NULL || value->kind == LEAT_JSON_INFINITE;
    case JSON_FALSE: return value->kind == LEAT_JSON_FALSE;
    case JSON_TRUE: return value->kind == LEAT_JSON_TRUE;
    case JSON_INTEGER:
        return value->kind == LEAT_JSON_INTEGER && leat_json_read_int(value, &number) &&
               number == json_integer_value(want) && leat_json_read_double(value, &real) &&
               real == (double)number;
    case JSON_REAL:
        return value->kind == LEAT_JSON_REAL && !leat_json_read_int(value, &number) &&
               leat_json_read_double(value, &real) && memcmp(&real, &wanted, sizeof real) == 0;
    case JSON_OBJECT:
        return value->kind == LEAT_JSON_OBJECT && json_reference_same_items(value, want);
    case JSON_ARRAY:
        return value->kind == LEAT_JSON_ARRAY && json_reference_same_items(value, want);
    default: break;
    }
    char *text = calloc(1, (size_t)size + 1);
    bool same = text != NULL && value->kind == LEAT_JSON_STRING &&
                leat_json_read_text(value, text, size) == (int64_t)json_string_length(want) &&
                memcmp(text, json_string_value(want), json_string_length(want)) == 0 &&
                (value->escaped || memcmp(text, value->text, (size_t)size) == 0) &&
                (size >= 60 || leat_json_is_text(value, json_string_value(want)));
    free(text);
    return same;
}

/* Replaces the words for numbers that JSON does not have, outside of texts, by values of the same
 * length that it has: NaN by an empty text, unless it is in the place of a key. */
static inline void json_reference_plain(char *text, int64_t size) {
    bool inside = false;
    for (int64_t i = 0; i < size; i++) {
        int64_t left = size - i;
        if (text[i] == '"') inside = !inside;
        if (inside && text[i] == '\\') i++;
        if (inside) continue;
        if (left >= 3 && memcmp(text + i, "NaN", 3) == 0) {
            int64_t after = i + 3;
            while (after < size && strchr(" \t\r\n", text[after]) != NULL && text[after] != 0)
                after++;
            if (after == size || text[after] != ':') memcpy(text + i, "\"\" ", 3);
            i += 2;
        } else if (left >= 9 && memcmp(text + i, "-Infinity", 9) == 0) {
            memcpy(text + i, "null     ", 9);
        } else if (left >= 8 && memcmp(text + i, "Infinity", 8) == 0) {
            memcpy(text + i, "null    ", 8);
        }
    }
}

/* Why jansson's refusal may be that of a value nobody reads. */
static inline bool json_reference_odd(const json_error_t *problem) {
    enum json_error_code code = json_error_code(problem);
    return code == json_error_numeric_overflow || code == json_error_duplicate_key ||
           code == json_error_null_character || code == json_error_null_byte_in_key ||
           code == json_error_invalid_utf8 || strstr(problem->text, "nvalid Unicode") != NULL;
}

/* Whether all texts that are wanted are in UTF-8, as jansson judges it. */
static inline bool json_reference_readable(const leat_json_names *names,
                                           const leat_json_fields *fields) {
    for (int i = 0; i < names->count; i++) {
        const leat_json_slice *value = leat_json_field(fields, i);
        if (value->kind != LEAT_JSON_STRING) continue;
        bool ascii = true;
        for (int32_t k = 0; k < value->size_bytes; k++)
            ascii = ascii && (value->text[k] & 0x80) == 0;
        if (ascii) continue;
        json_t *text = json_stringn(value->text, (size_t)value->size_bytes);
        if (text == NULL) return false;
        json_decref(text);
    }
    return true;
}

/* NULL if both agree on a text; else in what they differ. *object: whether it is an object. */
static inline const char *json_reference_differs(const char *text, int64_t size, bool *object) {
    leat_json_names names;
    leat_json_fields fields;
    json_error_t problem = {0};
    const char *differs = NULL;
    char *copy = malloc((size_t)size + 1);
    if (copy == NULL) return "no memory";
    memcpy(copy, text, (size_t)size);
    json_reference_plain(copy, size);
    json_reference_names(&names);
    json_t *tree = json_loadb(copy, (size_t)size, JSON_REJECT_DUPLICATES, &problem);
    *object = leat_json_scan(text, size, &names, &fields);
    if (memchr(text, 0, (size_t)size) != NULL) {
        if (*object) differs = "NUL was accepted";
    } else if (tree == NULL) {
        if (*object && !json_reference_odd(&problem)) differs = "accepted, and jansson refuses it";
        else if (*object && !json_reference_readable(&names, &fields))
            differs = "a member is not in UTF-8";
    } else if (*object != json_is_object(tree)) {
        differs = *object ? "an array was accepted" : "refused, and jansson accepts it";
    } else if (*object) {
        if (fields.repeated != 0) differs = "a key is repeated";
        for (int i = 0; i < names.count && differs == NULL; i++) {
            const leat_json_slice *value = leat_json_field(&fields, i);
            const json_t *want = json_object_get(tree, names.name[i].text);
            if (want == NULL ? value->kind != LEAT_JSON_MISSING : !json_reference_same(value, want))
                differs = "a member has another value";
        }
    }
    json_decref(tree);
    free(copy);
    return differs;
}

#endif
