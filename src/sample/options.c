/*
 * The options of a sampler: their defaults, what is allowed, and their names and values as text.
 * One table says how each option is read and written, so that no two places can differ.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "leat/sample.h"

leat_sample_options leat_sample_options_default(void) {
    return (leat_sample_options){.length = 1024, .timestamp_modes = {40, 30, 30}};
}

/* ---- the table ---------------------------------------------------------------------------- */

typedef enum kind { CHOICE, LENGTH, SEED, MODES } kind;

enum { CHOICES_MAX = 3 };

typedef struct option {
    const char *name;
    kind kind;
    size_t place;                     /* in leat_sample_options */
    const char *choices[CHOICES_MAX]; /* of a CHOICE, in the order of its enum */
} option;

static const option options_table[] = {
    {"sampler", CHOICE, offsetof(leat_sample_options, sampler), {"plan3", "plan2", "all"}},
    {"length", LENGTH, offsetof(leat_sample_options, length), {NULL}},
    {"seed", SEED, offsetof(leat_sample_options, seed), {NULL}},
    {"timestamp-modes", MODES, offsetof(leat_sample_options, timestamp_modes), {NULL}},
    {"field-order",
     CHOICE,
     offsetof(leat_sample_options, field_order),
     {"random", "content", NULL}},
    {"packing", CHOICE, offsetof(leat_sample_options, packing), {"fill", "none", NULL}},
    {"tail", CHOICE, offsetof(leat_sample_options, tail), {"cut", "pad", NULL}},
    {"boundary", CHOICE, offsetof(leat_sample_options, boundary), {"mask", "cross", NULL}},
};
enum { OPTIONS = sizeof(options_table) / sizeof(*options_table) };

const char *leat_sample_option_name(int index) {
    return index >= 0 && index < OPTIONS ? options_table[index].name : NULL;
}

static const option *find_option(const char *name, leat_error *err) {
    for (int i = 0; i < OPTIONS; i++) {
        if (strcmp(options_table[i].name, name) == 0) return &options_table[i];
    }
    leat_fail(err, LEAT_ERR_OPTION, "a sampler has no option \"%s\"", name);
    return NULL;
}

/* Enums are read and written through an int; all of them have its size. */
_Static_assert(sizeof(leat_sampler) == sizeof(int) && sizeof(leat_tail) == sizeof(int),
               "enums are as wide as int");

static int get_choice(const leat_sample_options *options, const option *it) {
    int value = 0;
    memcpy(&value, (const char *)options + it->place, sizeof(value));
    return value;
}

static int choice_count(const option *it) {
    int count = 0;
    while (count < CHOICES_MAX && it->choices[count] != NULL) count++;
    return count;
}

/* "plan3, plan2 or all" */
static void list_choices(const option *it, char text[64]) {
    int count = choice_count(it), size = 0;
    for (int i = 0; i < count; i++) {
        size += snprintf(text + size, 64 - (size_t)size, "%s%s",
                         i == 0           ? ""
                         : i == count - 1 ? " or "
                                          : ", ",
                         it->choices[i]);
    }
}

/* ---- checks ------------------------------------------------------------------------------- */

static leat_code check_modes(const leat_sample_options *options, leat_error *err) {
    const int *share = options->timestamp_modes;
    for (int i = 0; i < 3; i++) {
        if (share[i] < 0 || share[i] > 100) {
            return leat_fail(err, LEAT_ERR_OPTION,
                             "timestamp-modes: %d is no share, 0..100 percent", share[i]);
        }
    }
    if (share[0] + share[1] + share[2] != 100) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "timestamp-modes: %d + %d + %d percent is %d; the sum must be 100",
                         share[0], share[1], share[2], share[0] + share[1] + share[2]);
    }
    return LEAT_OK;
}

leat_code leat_sample_options_check(const leat_sample_options *options, leat_error *err) {
    for (int i = 0; i < OPTIONS; i++) {
        const option *it = &options_table[i];
        if (it->kind != CHOICE) continue;
        int value = get_choice(options, it);
        if (value < 0 || value >= choice_count(it)) {
            char choices[64];
            list_choices(it, choices);
            return leat_fail(err, LEAT_ERR_OPTION, "%s: choice number %d; it is %s", it->name,
                             value, choices);
        }
    }
    if (options->length < LEAT_LENGTH_MIN || options->length > LEAT_LENGTH_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "length: %d tokens; it is %d to %d", options->length,
                         LEAT_LENGTH_MIN, LEAT_LENGTH_MAX);
    }
    return check_modes(options, err);
}

/* ---- as text ------------------------------------------------------------------------------ */

/* A whole number without sign or blanks; false if the text is anything else or too large. */
static bool parse_number(const char *text, uint64_t max, uint64_t *out) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] != 0) return false;
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    *out = value;
    return errno == 0 && value <= max;
}

static bool parse_modes(const char *text, int share[3]) {
    char part[8];
    for (int i = 0; i < 3; i++) {
        size_t size = strcspn(text, ",");
        uint64_t value = 0;
        if (size >= sizeof(part) || (text[size] == ',') != (i < 2)) return false;
        memcpy(part, text, size);
        part[size] = 0;
        if (!parse_number(part, 100, &value)) return false;
        share[i] = (int)value;
        text += size + 1;
    }
    return true;
}

static leat_code set_choice(leat_sample_options *options, const option *it, const char *value,
                            leat_error *err) {
    for (int i = 0; i < choice_count(it); i++) {
        if (strcmp(it->choices[i], value) != 0) continue;
        memcpy((char *)options + it->place, &i, sizeof(i));
        return LEAT_OK;
    }
    char choices[64];
    list_choices(it, choices);
    return leat_fail(err, LEAT_ERR_OPTION, "%s: \"%.40s\"; it is %s", it->name, value, choices);
}

leat_code leat_sample_option_set(leat_sample_options *options, const char *name, const char *value,
                                 leat_error *err) {
    const option *it = find_option(name, err);
    if (it == NULL) return LEAT_ERR_OPTION;
    leat_sample_options changed = *options;
    uint64_t number = 0;
    switch (it->kind) {
    case CHOICE: LEAT_TRY(set_choice(&changed, it, value, err)); break;
    case LENGTH:
        if (!parse_number(value, LEAT_LENGTH_MAX, &number) || number < LEAT_LENGTH_MIN) {
            return leat_fail(err, LEAT_ERR_OPTION, "length: \"%.40s\"; it is %d to %d tokens",
                             value, LEAT_LENGTH_MIN, LEAT_LENGTH_MAX);
        }
        changed.length = (int32_t)number;
        break;
    case SEED:
        if (!parse_number(value, UINT64_MAX, &number)) {
            return leat_fail(err, LEAT_ERR_OPTION,
                             "seed: \"%.40s\"; it is a whole number from 0 to 2^64 - 1", value);
        }
        changed.seed = number;
        break;
    case MODES:
        if (!parse_modes(value, changed.timestamp_modes)) {
            return leat_fail(err, LEAT_ERR_OPTION,
                             "timestamp-modes: \"%.40s\"; it is three percents, as 40,30,30",
                             value);
        }
        LEAT_TRY(check_modes(&changed, err));
    }
    *options = changed;
    return LEAT_OK;
}

leat_code leat_sample_option_get(const leat_sample_options *options, const char *name,
                                 char text[LEAT_SAMPLE_OPTION_BYTES], leat_error *err) {
    const size_t size = LEAT_SAMPLE_OPTION_BYTES;
    const int *share = options->timestamp_modes;
    text[0] = 0;
    const option *it = find_option(name, err);
    if (it == NULL) return LEAT_ERR_OPTION;
    LEAT_TRY(leat_sample_options_check(options, err));
    switch (it->kind) {
    case CHOICE: snprintf(text, size, "%s", it->choices[get_choice(options, it)]); break;
    case LENGTH: snprintf(text, size, "%d", options->length); break;
    case SEED: snprintf(text, size, "%llu", (unsigned long long)options->seed); break;
    case MODES: snprintf(text, size, "%d,%d,%d", share[0], share[1], share[2]);
    }
    return LEAT_OK;
}
