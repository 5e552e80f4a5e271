/* The options of a sampler as a table, and the shares of the timestamp modes, three numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "leat/batch.h"

leat_sampler_options leat_sampler_options_default(void) {
    return (leat_sampler_options){.length = 1024, .timestamp_modes = {40, 30, 30}};
}

/* ---- the modes ---------------------------------------------------------------------------- */

static leat_code check_modes(const void *member, leat_error *err) {
    int share[3];
    memcpy(share, member, sizeof share);
    for (int i = 0; i < 3; i++) {
        if (share[i] < 0 || share[i] > 100) {
            return leat_fail(err, LEAT_ERR_OPTION, "%d is not a percentage from 0 to 100",
                             share[i]);
        }
    }
    int sum = share[0] + share[1] + share[2];
    if (sum == 100) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "%d + %d + %d percent is %d; the sum must be 100",
                     share[0], share[1], share[2], sum);
}

static bool read_modes(const char *text, int share[3]) {
    for (int i = 0; i < 3; i++) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 7 || text[digits] != (i < 2 ? ',' : 0)) return false;
        share[i] = (int)strtoll(text, NULL, 10);
        if (share[i] > 100) return false;
        text += digits + 1;
    }
    return true;
}

static leat_code parse_modes(const char *text, void *member, leat_error *err) {
    int share[3];
    if (!read_modes(text, share)) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.40s\" is not accepted; it takes three percentages, as 40,30,30",
                         text);
    }
    LEAT_TRY(check_modes(share, err));
    memcpy(member, share, sizeof share);
    return LEAT_OK;
}

static void format_modes(const void *member, char text[LEAT_SETTING_BYTES]) {
    int share[3];
    memcpy(share, member, sizeof share);
    snprintf(text, LEAT_SETTING_BYTES, "%d,%d,%d", share[0], share[1], share[2]);
}

static const leat_setting_type modes = {parse_modes, check_modes, format_modes};

/* ---- the table ---------------------------------------------------------------------------- */

#define AT(field) .place = offsetof(leat_sampler_options, field)
#define CHOICE(word, field, words)                                                                 \
    .name = word, .kind = LEAT_SETTING_CHOICE, AT(field), .choices = words

/* States of runs hold them in this order. */
static const leat_setting rows[] = {
    {CHOICE("sampler", sampler, "plan3|plan2|all"),
     .help = "how contexts are drawn from a row (see docs/sampling.md)"},
    {.name = "length",
     .kind = LEAT_SETTING_INT32,
     AT(length),
     .min = LEAT_LENGTH_MIN,
     .max = LEAT_LENGTH_MAX,
     .help = "tokens per sequence"},
    {.name = "seed", .kind = LEAT_SETTING_SEED, AT(seed), .help = "random seed"},
    {.name = "timestamp-modes",
     .kind = LEAT_SETTING_OTHER,
     AT(timestamp_modes),
     .type = &modes,
     .value = "A,B,C",
     .help = "percentages of contexts with all, some and no timestamps (plan2: all, none, mixed)"},
    {CHOICE("field-order", field_order, "random|content"),
     .help = "order of a measurement's fields: random, or derived from its content"},
    {CHOICE("packing", packing, "fill|none"),
     .help = "fill sequences with more contexts, or write one context per sequence"},
    {CHOICE("tail", tail, "cut|pad"),
     .help = "cut the last measurement of a filled sequence, or pad the sequence instead"},
    {CHOICE("boundary", boundary, "mask|cross"),
     .help = "whether the last token of a context predicts the first token of the next one"},
    {.name = NULL},
};

static void set_defaults(void *options) {
    *(leat_sampler_options *)options = leat_sampler_options_default();
}

const leat_setting_table *leat_sampler_options_table(void) {
    static const leat_setting_table table = {"a sampler", rows, sizeof(leat_sampler_options),
                                             set_defaults};
    return &table;
}

leat_code leat_sampler_options_check(const leat_sampler_options *options, leat_error *err) {
    return leat_settings_check(leat_sampler_options_table(), options, err);
}
