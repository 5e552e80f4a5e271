/*
 * The options of a sampler: their defaults, what is allowed, and their names and values as text.
 * One table says how each option is read and written, so that no two places can differ; the shares
 * of the timestamp modes, three numbers, stand beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/setting.h"
#include "leat/sample.h"

leat_sample_options leat_sample_options_default(void) {
    return (leat_sample_options){.length = 1024, .timestamp_modes = {40, 30, 30}};
}

/* ---- the table ---------------------------------------------------------------------------- */

#define PLACE(field) offsetof(leat_sample_options, field)
#define CHOICE(name, field, choices)                                                               \
    { name, LEAT_SETTING_CHOICE, PLACE(field), choices, 0, 0 }

static const leat_setting table[] = {
    CHOICE("sampler", sampler, "plan3|plan2|all"),
    {"length", LEAT_SETTING_INT32, PLACE(length), NULL, LEAT_LENGTH_MIN, LEAT_LENGTH_MAX},
    {"seed", LEAT_SETTING_SEED, PLACE(seed), NULL, 0, 0},
    CHOICE("field-order", field_order, "random|content"),
    CHOICE("packing", packing, "fill|none"),
    CHOICE("tail", tail, "cut|pad"),
    CHOICE("boundary", boundary, "mask|cross"),
    {.name = NULL},
};

static const char modes_name[] = "timestamp-modes";
enum { MODES_INDEX = 3 }; /* among the names: states of runs hold them in this order */

const char *leat_sample_option_name(int index) {
    int count = (int)(sizeof(table) / sizeof(*table)) - 1;
    if (index == MODES_INDEX) return modes_name;
    int row = index < MODES_INDEX ? index : index - 1;
    return row >= 0 && row < count ? table[row].name : NULL;
}

static const leat_setting *find_option(const char *name, leat_error *err) {
    const leat_setting *option = leat_setting_find(table, name);
    if (option == NULL) {
        leat_fail(err, LEAT_ERR_OPTION, "a sampler has no option \"%.40s\"", name);
    }
    return option;
}

/* ---- the modes ---------------------------------------------------------------------------- */

static leat_code check_modes(const leat_sample_options *options, leat_error *err) {
    const int *share = options->timestamp_modes;
    for (int i = 0; i < 3; i++) {
        if (share[i] < 0 || share[i] > 100) {
            return leat_fail(err, LEAT_ERR_OPTION, "%s: %d is no share, 0..100 percent", modes_name,
                             share[i]);
        }
    }
    if (share[0] + share[1] + share[2] != 100) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "%s: %d + %d + %d percent is %d; the sum must be 100", modes_name,
                         share[0], share[1], share[2], share[0] + share[1] + share[2]);
    }
    return LEAT_OK;
}

static bool parse_modes(const char *text, int share[3]) {
    for (int i = 0; i < 3; i++) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 7 || text[digits] != (i < 2 ? ',' : 0)) return false;
        share[i] = (int)strtoll(text, NULL, 10);
        if (share[i] > 100) return false;
        text += digits + 1;
    }
    return true;
}

static leat_code set_modes(leat_sample_options *options, const char *value, leat_error *err) {
    leat_sample_options changed = *options;
    if (!parse_modes(value, changed.timestamp_modes)) {
        return leat_fail(err, LEAT_ERR_OPTION, "%s: \"%.40s\"; it is three percents, as 40,30,30",
                         modes_name, value);
    }
    LEAT_TRY(check_modes(&changed, err));
    *options = changed;
    return LEAT_OK;
}

/* ---- all of them -------------------------------------------------------------------------- */

leat_code leat_sample_options_check(const leat_sample_options *options, leat_error *err) {
    LEAT_TRY(leat_settings_check(table, options, err));
    return check_modes(options, err);
}

leat_code leat_sample_option_set(leat_sample_options *options, const char *name, const char *value,
                                 leat_error *err) {
    if (strcmp(name, modes_name) == 0) return set_modes(options, value, err);
    const leat_setting *option = find_option(name, err);
    return option == NULL ? LEAT_ERR_OPTION : leat_setting_set(option, options, value, err);
}

leat_code leat_sample_option_get(const leat_sample_options *options, const char *name,
                                 char text[LEAT_SAMPLE_OPTION_BYTES], leat_error *err) {
    const int *share = options->timestamp_modes;
    bool is_modes = strcmp(name, modes_name) == 0;
    text[0] = 0;
    const leat_setting *option = is_modes ? NULL : find_option(name, err);
    if (option == NULL && !is_modes) return LEAT_ERR_OPTION;
    LEAT_TRY(leat_sample_options_check(options, err));
    if (is_modes)
        snprintf(text, LEAT_SAMPLE_OPTION_BYTES, "%d,%d,%d", share[0], share[1], share[2]);
    else leat_setting_get(option, options, text);
    return LEAT_OK;
}
