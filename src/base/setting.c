/* Options by name: see setting.h. Values are read and written where they lie in the struct. */
#include "base/setting.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

typedef enum any_choice { ANY_CHOICE } any_choice;
_Static_assert(sizeof(any_choice) == sizeof(int), "enums are read and written through an int");

static const double factor_max = 1e9;

/* A value of any kind, outside of its struct. */
typedef struct value {
    int choice;
    int64_t whole;
    int32_t narrow; /* `whole` as it lies in the struct, where that is an int32_t */
    uint64_t seed;
    double real;
} value;

const leat_setting *leat_setting_find(const leat_setting *table, const char *name) {
    for (; table->name != NULL; table++) {
        if (strcmp(table->name, name) == 0) return table;
    }
    return NULL;
}

/* ---- in the struct -------------------------------------------------------------------------- */

static size_t bytes_of(const leat_setting *setting) {
    switch (setting->kind) {
    case LEAT_SETTING_CHOICE: return sizeof(int);
    case LEAT_SETTING_INT32: return sizeof(int32_t);
    default: return 8;
    }
}

static void *member(value *v, const leat_setting *setting) {
    switch (setting->kind) {
    case LEAT_SETTING_CHOICE: return &v->choice;
    case LEAT_SETTING_INT: return &v->whole;
    case LEAT_SETTING_INT32: return &v->narrow;
    case LEAT_SETTING_SEED: return &v->seed;
    default: return &v->real;
    }
}

static value load(const leat_setting *setting, const void *options) {
    value v = {0};
    memcpy(member(&v, setting), (const char *)options + setting->place, bytes_of(setting));
    if (setting->kind == LEAT_SETTING_INT32) v.whole = v.narrow;
    return v;
}

static void store(const leat_setting *setting, void *options, value *v) {
    v->narrow = (int32_t)v->whole;
    memcpy((char *)options + setting->place, member(v, setting), bytes_of(setting));
}

/* The word with this number and its length, which is 0 if there is none. */
static int choice_at(const leat_setting *setting, int number, const char **word) {
    const char *at = setting->choices;
    for (int i = 0; i < number; i++) {
        at = strchr(at, '|');
        if (at == NULL) return 0;
        at++;
    }
    *word = at;
    return number < 0 ? 0 : (int)strcspn(at, "|");
}

static bool in_range(const leat_setting *setting, const value *v) {
    const char *word = NULL;
    switch (setting->kind) {
    case LEAT_SETTING_CHOICE: return choice_at(setting, v->choice, &word) > 0;
    case LEAT_SETTING_INT:
    case LEAT_SETTING_INT32: return v->whole >= setting->min && v->whole <= setting->max;
    case LEAT_SETTING_SEED: return true;
    case LEAT_SETTING_SHARE: return v->real >= 0 && v->real < 1;
    default: return v->real > 0 && v->real <= factor_max;
    }
}

/* ---- from text ------------------------------------------------------------------------------ */

static bool parse_choice(const leat_setting *setting, const char *text, int *out) {
    const char *word = NULL;
    int size = 0;
    for (int i = 0; (size = choice_at(setting, i, &word)) > 0; i++) {
        *out = i;
        if (strlen(text) == (size_t)size && memcmp(word, text, (size_t)size) == 0) return true;
    }
    return false;
}

static bool parse_whole(const char *text, uint64_t *out) {
    if (text[0] == 0 || text[strspn(text, "0123456789")] != 0) return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

static bool parse_signed(const char *text, int64_t *out) {
    bool negative = text[0] == '-';
    uint64_t size = 0;
    if (!parse_whole(text + negative, &size) || size > INT64_MAX) return false;
    *out = negative ? -(int64_t)size : (int64_t)size;
    return true;
}

/* Digits, a full stop and digits, an exponent: no sign, no blanks, no "inf". */
static bool parse_real(const char *text, double *out) {
    const char *digits = "0123456789", *at = text + strspn(text, digits);
    if (at == text) return false;
    if (*at == '.') {
        if (!isdigit((unsigned char)at[1])) return false;
        at += 1 + strspn(at + 1, digits);
    }
    if (*at == 'e') {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        if (!isdigit((unsigned char)*at)) return false;
        at += strspn(at, digits);
    }
    *out = leat_double_parse(text);
    return *at == 0;
}

/* "this, that or the other" */
static void list_choices(const leat_setting *setting, char *text, size_t bytes) {
    const char *word = NULL, *next = NULL;
    size_t size = 0;
    for (int i = 0; size < bytes; i++) {
        int length = choice_at(setting, i, &word);
        bool last = choice_at(setting, i + 1, &next) == 0;
        if (length == 0) break;
        size += (size_t)snprintf(text + size, bytes - size, "%s%.*s",
                                 i == 0 ? ""
                                 : last ? " or "
                                        : ", ",
                                 length, word);
    }
}

static leat_code refuse(const leat_setting *setting, const char *text, leat_error *err) {
    char takes[200] = "";
    switch (setting->kind) {
    case LEAT_SETTING_CHOICE: list_choices(setting, takes, sizeof takes); break;
    case LEAT_SETTING_INT:
    case LEAT_SETTING_INT32:
        snprintf(takes, sizeof takes, "a whole number from %" PRId64 " to %" PRId64, setting->min,
                 setting->max);
        break;
    case LEAT_SETTING_SEED:
        snprintf(takes, sizeof takes, "a whole number from 0 to 2^64 - 1");
        break;
    case LEAT_SETTING_SHARE: snprintf(takes, sizeof takes, "a number from 0 to below 1"); break;
    case LEAT_SETTING_FACTOR: snprintf(takes, sizeof takes, "a number above 0, at most 1e9");
    }
    return leat_fail(err, LEAT_ERR_OPTION, "%s: \"%.40s\"; it is %s", setting->name, text, takes);
}

leat_code leat_setting_set(const leat_setting *setting, void *options, const char *text,
                           leat_error *err) {
    value v = {0};
    bool read = false;
    switch (setting->kind) {
    case LEAT_SETTING_CHOICE: read = parse_choice(setting, text, &v.choice); break;
    case LEAT_SETTING_INT:
    case LEAT_SETTING_INT32: read = parse_signed(text, &v.whole); break;
    case LEAT_SETTING_SEED: read = parse_whole(text, &v.seed); break;
    case LEAT_SETTING_SHARE:
    case LEAT_SETTING_FACTOR: read = parse_real(text, &v.real);
    }
    if (!read || !in_range(setting, &v)) return refuse(setting, text, err);
    store(setting, options, &v);
    return LEAT_OK;
}

/* ---- as text -------------------------------------------------------------------------------- */

void leat_setting_get(const leat_setting *setting, const void *options,
                      char text[LEAT_SETTING_BYTES]) {
    value v = load(setting, options);
    char digits[LEAT_DOUBLE_TEXT_BYTES];
    const char *word = NULL;
    int size = 0;
    switch (setting->kind) {
    case LEAT_SETTING_CHOICE:
        size = choice_at(setting, v.choice, &word);
        if (size > 0) snprintf(text, LEAT_SETTING_BYTES, "%.*s", size, word);
        else snprintf(text, LEAT_SETTING_BYTES, "%d", v.choice);
        break;
    case LEAT_SETTING_INT:
    case LEAT_SETTING_INT32: snprintf(text, LEAT_SETTING_BYTES, "%" PRId64, v.whole); break;
    case LEAT_SETTING_SEED: snprintf(text, LEAT_SETTING_BYTES, "%" PRIu64, v.seed); break;
    case LEAT_SETTING_SHARE:
    case LEAT_SETTING_FACTOR:
        /* not "1e+01" */
        if (v.real == floor(v.real) && v.real < 1e15) leat_double_decimals(v.real, 0, digits);
        else leat_double_format(v.real, digits);
        snprintf(text, LEAT_SETTING_BYTES, "%s", digits);
    }
}

leat_code leat_settings_check(const leat_setting *table, const void *options, leat_error *err) {
    for (; table->name != NULL; table++) {
        value v = load(table, options);
        if (in_range(table, &v)) continue;
        char text[LEAT_SETTING_BYTES];
        leat_setting_get(table, options, text);
        return refuse(table, text, err);
    }
    return LEAT_OK;
}
