/*
 * Options by table row: see leat/base.h. A value is parsed, checked and formatted in one place, so
 * that command line, saved states and Python cannot differ in what they accept. Values are copied
 * to and from their place in the struct; nothing is allocated.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

typedef enum any_choice { ANY_CHOICE } any_choice;
_Static_assert(sizeof(any_choice) == sizeof(int), "enums are read and written through an int");
_Static_assert(sizeof(int) == sizeof(int32_t), "an int is set as an int32_t");

/* A value of any kind but OTHER, outside its struct. */
typedef struct value {
    bool flag;
    int choice;
    int64_t whole;
    int32_t narrow; /* `whole` as it is in the struct, where that is an int32_t */
    uint64_t seed;
    double real;
    const char *text;
} value;

const leat_setting *leat_setting_find(const leat_setting_table *table, const char *name) {
    for (const leat_setting *row = table->rows; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) return row;
    }
    return NULL;
}

/* ---- in the struct -------------------------------------------------------------------------- */

static void *member(value *v, const leat_setting *setting, size_t *bytes) {
    switch (setting->kind) {
    case LEAT_SETTING_FLAG: *bytes = sizeof v->flag; return &v->flag;
    case LEAT_SETTING_CHOICE: *bytes = sizeof v->choice; return &v->choice;
    case LEAT_SETTING_INT32: *bytes = sizeof v->narrow; return &v->narrow;
    case LEAT_SETTING_SEED: *bytes = sizeof v->seed; return &v->seed;
    case LEAT_SETTING_REAL: *bytes = sizeof v->real; return &v->real;
    case LEAT_SETTING_TEXT:
    case LEAT_SETTING_PATH:
    case LEAT_SETTING_OUTPUT: *bytes = sizeof v->text; return &v->text;
    default: *bytes = sizeof v->whole; return &v->whole;
    }
}

static value load(const leat_setting *setting, const void *options) {
    value v = {0};
    size_t bytes = 0;
    void *at = member(&v, setting, &bytes);
    memcpy(at, (const char *)options + setting->place, bytes);
    if (setting->kind == LEAT_SETTING_INT32) v.whole = v.narrow;
    return v;
}

static void store(const leat_setting *setting, void *options, value *v) {
    size_t bytes = 0;
    v->narrow = (int32_t)v->whole;
    const void *at = member(v, setting, &bytes);
    memcpy((char *)options + setting->place, at, bytes);
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The word with this number; returns its length, 0 if there is none. */
static int choice_at(const leat_setting *setting, int64_t number, const char **word) {
    const char *at = setting->choices;
    if (at == NULL || number < 0) return 0;
    for (int64_t i = 0; i < number; i++) {
        at = strchr(at, '|');
        if (at == NULL) return 0;
        at++;
    }
    *word = at;
    return (int)strcspn(at, "|");
}

/* The word for a whole number. */
static int word_of(const leat_setting *setting, int64_t number, const char **word) {
    if (number > setting->word_value || number < setting->word_value - 99) return 0;
    return choice_at(setting, setting->word_value - number, word);
}

static bool parse_choice(const leat_setting *setting, const char *text, int *out) {
    const char *word = NULL;
    int size = 0;
    for (int i = 0; (size = choice_at(setting, i, &word)) > 0; i++) {
        *out = i;
        if (strlen(text) == (size_t)size && memcmp(word, text, (size_t)size) == 0) return true;
    }
    return false;
}

static bool in_range(const leat_setting *setting, const value *v) {
    const char *word = NULL;
    switch (setting->kind) {
    case LEAT_SETTING_CHOICE: return choice_at(setting, v->choice, &word) > 0;
    case LEAT_SETTING_INT:
    case LEAT_SETTING_INT32:
    case LEAT_SETTING_SIZE:
        return (v->whole >= setting->min && v->whole <= setting->max) ||
               word_of(setting, v->whole, &word) > 0;
    case LEAT_SETTING_REAL:
        return (setting->low_open ? v->real > setting->low : v->real >= setting->low) &&
               (setting->high_open ? v->real < setting->high : v->real <= setting->high);
    case LEAT_SETTING_TEXT:
    case LEAT_SETTING_PATH:
    case LEAT_SETTING_OUTPUT: return v->text == NULL || v->text[0] != 0;
    default: return true;
    }
}

/* ---- from text ------------------------------------------------------------------------------ */

/* Parses digits; *end is after the last one. */
static bool parse_digits(const char *text, uint64_t *out, const char **end) {
    size_t digits = strspn(text, "0123456789");
    *end = text + digits;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return digits > 0 && errno == 0;
}

static bool parse_whole(const char *text, uint64_t *out) {
    const char *end = NULL;
    return parse_digits(text, out, &end) && *end == 0;
}

static bool parse_signed(const char *text, int64_t *out) {
    bool negative = text[0] == '-';
    uint64_t size = 0;
    if (!parse_whole(text + negative, &size) || size > INT64_MAX) return false;
    *out = negative ? -(int64_t)size : (int64_t)size;
    return true;
}

static bool parse_size(const char *text, int64_t *out) {
    static const char letters[] = "KkMmGgTt";
    const char *end = NULL, *letter = NULL;
    uint64_t number = 0;
    if (!parse_digits(text, &number, &end)) return false;
    int shift = 0;
    if (*end != 0) {
        letter = strchr(letters, *end);
        if (letter == NULL || (end[1] != 0 && strcmp(end + 1, "iB") != 0)) return false;
        shift = 10 * (int)((letter - letters) / 2 + 1);
    }
    if (number > (uint64_t)INT64_MAX >> shift) return false;
    *out = (int64_t)(number << shift);
    return true;
}

static bool parse_number(const leat_setting *setting, const char *text, int64_t *out) {
    int word = 0;
    if (parse_choice(setting, text, &word)) {
        *out = setting->word_value - word;
        return true;
    }
    /* a value that has a word is accepted by its word alone */
    bool read =
        setting->kind == LEAT_SETTING_SIZE ? parse_size(text, out) : parse_signed(text, out);
    return read && *out >= setting->min;
}

static bool parse(const leat_setting *setting, const char *text, value *v) {
    switch (setting->kind) {
    case LEAT_SETTING_FLAG:
        v->flag = strcmp(text, "true") == 0;
        return v->flag || strcmp(text, "false") == 0;
    case LEAT_SETTING_CHOICE: return parse_choice(setting, text, &v->choice);
    case LEAT_SETTING_INT:
    case LEAT_SETTING_INT32:
    case LEAT_SETTING_SIZE: return parse_number(setting, text, &v->whole);
    case LEAT_SETTING_SEED: return parse_whole(text, &v->seed);
    case LEAT_SETTING_REAL:
        if (!leat_decimal_parse(text, (int64_t)strlen(text), 0, &v->real)) return false;
        v->real += 0.0; /* not -0 */
        return isfinite(v->real);
    case LEAT_SETTING_TEXT:
    case LEAT_SETTING_PATH:
    case LEAT_SETTING_OUTPUT: v->text = text; return true;
    case LEAT_SETTING_OTHER: break; /* by its own function */
    }
    return false;
}

/* ---- what is accepted, in words ------------------------------------------------------------- */

/* "this, that or the other", or, if `more` follows, "this, that"; returns its length. */
static size_t list_choices(const leat_setting *setting, bool more, char *text, size_t bytes) {
    const char *word = NULL, *next = NULL;
    size_t size = 0;
    text[0] = 0;
    for (int i = 0; size < bytes; i++) {
        int length = choice_at(setting, i, &word);
        bool last = !more && choice_at(setting, i + 1, &next) == 0;
        if (length == 0) break;
        size += (size_t)snprintf(text + size, bytes - size, "%s%.*s",
                                 i == 0 ? ""
                                 : last ? " or "
                                        : ", ",
                                 length, word);
    }
    return size < bytes ? size : bytes - 1;
}

/* "512M": with the largest letter that leaves a whole number. */
static void format_size(int64_t size_bytes, char text[LEAT_SETTING_BYTES]) {
    int power = 0;
    for (; power < 4 && size_bytes != 0 && size_bytes % 1024 == 0; power++) size_bytes /= 1024;
    snprintf(text, LEAT_SETTING_BYTES, "%" PRId64 "%.*s", size_bytes, power > 0 ? 1 : 0,
             &"KMGT"[power > 0 ? power - 1 : 0]);
}

static void format_real(double real, char text[LEAT_SETTING_BYTES]) {
    char digits[LEAT_DOUBLE_TEXT_BYTES];
    /* not "1e+01" */
    if (real == floor(real) && real < 1e15) leat_double_decimals(real, 0, digits);
    else leat_double_format(real, digits);
    snprintf(text, LEAT_SETTING_BYTES, "%s", digits);
}

/* The ends of a range as texts; *upper false if there is no upper one. */
static void range_ends(const leat_setting *setting, char low[LEAT_SETTING_BYTES],
                       char high[LEAT_SETTING_BYTES], bool *upper) {
    *upper = setting->kind == LEAT_SETTING_REAL || setting->max != INT64_MAX;
    if (setting->kind == LEAT_SETTING_REAL) {
        format_real(setting->low, low);
        format_real(setting->high, high);
    } else if (setting->kind == LEAT_SETTING_SIZE) {
        format_size(setting->min, low);
        format_size(setting->max, high);
    } else {
        snprintf(low, LEAT_SETTING_BYTES, "%" PRId64, setting->min);
        snprintf(high, LEAT_SETTING_BYTES, "%" PRId64, setting->max);
    }
}

void leat_setting_range(const leat_setting *setting, char *text, size_t text_bytes) {
    char low[LEAT_SETTING_BYTES], high[LEAT_SETTING_BYTES];
    bool upper = false;
    text[0] = 0;
    if (setting->kind != LEAT_SETTING_INT && setting->kind != LEAT_SETTING_INT32 &&
        setting->kind != LEAT_SETTING_SIZE && setting->kind != LEAT_SETTING_REAL)
        return;
    range_ends(setting, low, high, &upper);
    if (upper)
        snprintf(text, text_bytes, "%s%s to %s%s", setting->low_open ? "above " : "", low,
                 setting->high_open ? "below " : "", high);
    else if (setting->min != 0) snprintf(text, text_bytes, "at least %s", low);
}

/* ", in bytes or as 512M, 4G or 1T": examples that are in the range. */
static void show_sizes(const leat_setting *setting, char *text, size_t bytes) {
    static const int64_t sizes[] = {INT64_C(64) << 10, INT64_C(512) << 20, INT64_C(4) << 30,
                                    INT64_C(1) << 40};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    int fit = 0, shown = 0;
    for (int i = 0; i < SIZES; i++) fit += sizes[i] >= setting->min && sizes[i] <= setting->max;
    int used = snprintf(text, bytes, fit > 0 ? ", in bytes or as " : ", in bytes");
    for (int i = 0; i < SIZES && (size_t)used < bytes; i++) {
        char size[LEAT_SETTING_BYTES];
        if (sizes[i] < setting->min || sizes[i] > setting->max) continue;
        format_size(sizes[i], size);
        const char *link = shown == 0 ? "" : shown == fit - 1 ? " or " : ", ";
        used += snprintf(text + used, bytes - (size_t)used, "%s%s", link, size);
        shown++;
    }
}

static void accepts_number(const leat_setting *setting, char *text, size_t bytes) {
    char low[LEAT_SETTING_BYTES], high[LEAT_SETTING_BYTES];
    bool upper = false, size = setting->kind == LEAT_SETTING_SIZE;
    const char *what = size                                 ? "a size"
                       : setting->kind == LEAT_SETTING_REAL ? "a number"
                                                            : "a whole number";
    range_ends(setting, low, high, &upper);
    int used = snprintf(text, bytes, "%s %s%s", what,
                        setting->low_open ? "above "
                        : upper           ? "from "
                                          : "of at least ",
                        low);
    if (upper && (size_t)used < bytes)
        used += snprintf(text + used, bytes - (size_t)used, " to %s%s",
                         setting->high_open ? "below " : "", high);
    if (size && (size_t)used < bytes) show_sizes(setting, text + used, bytes - (size_t)used);
}

void leat_setting_accepts(const leat_setting *setting, char *text, size_t text_bytes) {
    size_t size = 0;
    switch (setting->kind) {
    case LEAT_SETTING_FLAG: snprintf(text, text_bytes, "true or false"); return;
    case LEAT_SETTING_CHOICE: list_choices(setting, false, text, text_bytes); return;
    case LEAT_SETTING_INT:
    case LEAT_SETTING_INT32:
    case LEAT_SETTING_SIZE:
    case LEAT_SETTING_REAL:
        size = list_choices(setting, true, text, text_bytes);
        if (size > 0) size += (size_t)snprintf(text + size, text_bytes - size, " or ");
        if (size < text_bytes) accepts_number(setting, text + size, text_bytes - size);
        return;
    case LEAT_SETTING_SEED: snprintf(text, text_bytes, "a whole number from 0 to 2^64 - 1"); return;
    case LEAT_SETTING_TEXT: snprintf(text, text_bytes, "text that is not empty"); return;
    case LEAT_SETTING_PATH:
    case LEAT_SETTING_OUTPUT: snprintf(text, text_bytes, "a path"); return;
    case LEAT_SETTING_OTHER: text[0] = 0; /* described by its own function */
    }
}

const char *leat_setting_value(const leat_setting *setting) {
    if (setting->value != NULL) return setting->value;
    switch (setting->kind) {
    case LEAT_SETTING_FLAG: return NULL;
    case LEAT_SETTING_CHOICE: return setting->choices;
    case LEAT_SETTING_INT:
    case LEAT_SETTING_INT32: return "N";
    case LEAT_SETTING_SEED: return "S";
    case LEAT_SETTING_SIZE: return "SIZE";
    case LEAT_SETTING_REAL: return "X";
    case LEAT_SETTING_PATH:
    case LEAT_SETTING_OUTPUT: return "PATH";
    default: return "TEXT";
    }
}

static leat_code refuse(const leat_setting *setting, const char *text, leat_error *err) {
    char accepts[256];
    leat_setting_accepts(setting, accepts, sizeof accepts);
    return leat_fail(err, LEAT_ERR_OPTION, "%s: \"%.100s\" is not accepted; it takes %s",
                     setting->name, text, accepts);
}

leat_code leat_setting_set(const leat_setting *setting, void *options, const char *text,
                           leat_error *err) {
    value v = {0};
    if (setting->kind == LEAT_SETTING_OTHER) {
        leat_code code = setting->type->parse(text, (char *)options + setting->place, err);
        return code == LEAT_OK ? LEAT_OK : leat_error_context(err, code, "%s", setting->name);
    }
    if (!parse(setting, text, &v) || !in_range(setting, &v)) return refuse(setting, text, err);
    store(setting, options, &v);
    return LEAT_OK;
}

leat_code leat_settings_set(const leat_setting_table *table, void *options, const char *name,
                            const char *text, leat_error *err) {
    const leat_setting *setting = leat_setting_find(table, name);
    if (setting != NULL) return leat_setting_set(setting, options, text, err);
    return leat_fail(err, LEAT_ERR_OPTION, "%s does not have an option \"%.40s\"", table->owner,
                     name);
}

/* ---- as text -------------------------------------------------------------------------------- */

const char *leat_setting_get(const leat_setting *setting, const void *options,
                             char text[LEAT_SETTING_BYTES]) {
    const char *word = NULL;
    int size = 0;
    text[0] = 0;
    if (setting->kind == LEAT_SETTING_OTHER) {
        setting->type->format((const char *)options + setting->place, text);
        return text;
    }
    value v = load(setting, options);
    switch (setting->kind) {
    case LEAT_SETTING_FLAG: return v.flag ? "true" : "false";
    case LEAT_SETTING_TEXT:
    case LEAT_SETTING_PATH:
    case LEAT_SETTING_OUTPUT: return v.text;
    case LEAT_SETTING_SEED: snprintf(text, LEAT_SETTING_BYTES, "%" PRIu64, v.seed); break;
    case LEAT_SETTING_REAL: format_real(v.real, text); break;
    case LEAT_SETTING_CHOICE:
        v.whole = v.choice;
        size = choice_at(setting, v.choice, &word);
        break;
    default: size = word_of(setting, v.whole, &word);
    }
    if (size > 0) snprintf(text, LEAT_SETTING_BYTES, "%.*s", size, word);
    else if (setting->kind == LEAT_SETTING_SIZE) format_size(v.whole, text);
    else if (text[0] == 0) snprintf(text, LEAT_SETTING_BYTES, "%" PRId64, v.whole);
    return text;
}

const char *leat_settings_get(const leat_setting_table *table, const void *options,
                              const char *name, char text[LEAT_SETTING_BYTES]) {
    const leat_setting *setting = leat_setting_find(table, name);
    return setting == NULL ? NULL : leat_setting_get(setting, options, text);
}

leat_code leat_settings_check(const leat_setting_table *table, const void *options,
                              leat_error *err) {
    for (const leat_setting *row = table->rows; row->name != NULL; row++) {
        if (row->kind == LEAT_SETTING_OTHER) {
            leat_code code = row->type->check((const char *)options + row->place, err);
            if (code != LEAT_OK) return leat_error_context(err, code, "%s", row->name);
            continue;
        }
        value v = load(row, options);
        if (in_range(row, &v)) continue;
        char text[LEAT_SETTING_BYTES];
        return refuse(row, leat_setting_get(row, options, text), err);
    }
    return LEAT_OK;
}

const char *leat_setting_default(const leat_setting_table *table, const leat_setting *setting,
                                 char text[LEAT_SETTING_BYTES]) {
    leat_setting_memory options;
    if (setting->usually != NULL) return setting->usually;
    if (setting->kind == LEAT_SETTING_FLAG) return NULL;
    LEAT_ASSERT(table->size_bytes <= sizeof options);
    table->set_defaults(&options);
    return leat_setting_get(setting, &options, text);
}
