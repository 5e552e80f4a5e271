/*
 * Options of a job as a table: name, kind and place in a struct, so that the command line, saved
 * files and Python read and write them alike, and no option can be forgotten in one of them.
 */
#ifndef LEAT_BASE_SETTING_H
#define LEAT_BASE_SETTING_H

#include "base/error.h"

typedef enum leat_setting_kind {
    LEAT_SETTING_CHOICE, /* an enum (as wide as int), by the words of `choices` */
    LEAT_SETTING_INT,    /* int64_t in [min, max] */
    LEAT_SETTING_INT32,  /* int32_t in [min, max] */
    LEAT_SETTING_SEED,   /* uint64_t */
    LEAT_SETTING_SHARE,  /* double in [0, 1) */
    LEAT_SETTING_FACTOR, /* double above 0, at most 10^9 */
} leat_setting_kind;

typedef struct leat_setting {
    const char *name;
    leat_setting_kind kind;
    size_t place;        /* in the struct */
    const char *choices; /* of a choice: "this|that", in the order of the enum */
    int64_t min, max;    /* of an int */
} leat_setting;

#define LEAT_SETTING_BYTES 32

/* The setting of this name; NULL if there is none. The table ends with a row without a name. */
const leat_setting *leat_setting_find(const leat_setting *table, const char *name);
/* LEAT_ERR_OPTION names setting and value and says what it takes; *options is then as before. */
LEAT_MUST_CHECK leat_code leat_setting_set(const leat_setting *setting, void *options,
                                           const char *value, leat_error *err);
/* The value as such a text, NUL-terminated. */
void leat_setting_get(const leat_setting *setting, const void *options,
                      char text[LEAT_SETTING_BYTES]);
/* LEAT_ERR_OPTION names the first setting whose value is out of its range. */
LEAT_MUST_CHECK leat_code leat_settings_check(const leat_setting *table, const void *options,
                                              leat_error *err);

#endif
