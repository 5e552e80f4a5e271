/* What decides the content of a cache, by name: one table for the command line and the cache. */
#include <stdio.h>
#include <string.h>

#include "base/setting.h"
#include "leat/ingest.h"

#define PLACE(field) offsetof(leat_can_settings, field)
#define CHOICE(name, field, choices)                                                               \
    { name, LEAT_SETTING_CHOICE, PLACE(field), choices, 0, 0 }

static const leat_setting table[] = {
    CHOICE("format", format, "auto|csv|hcrl|hcrl-text|survival|gvret|candump"),
    {"window", LEAT_SETTING_INT, PLACE(window), NULL, LEAT_WINDOW_MIN, LEAT_WINDOW_MAX},
    {"stride", LEAT_SETTING_INT, PLACE(stride), NULL, 1, INT64_C(1) << 30},
    CHOICE("captures", captures, "separate|merged"),
    {"bus", LEAT_SETTING_INT, PLACE(bus), NULL, LEAT_BUS_MERGE, UINT16_MAX},
    CHOICE("payload", payload, "strict|lenient"),
    CHOICE("can-fd", fd, "cut|refuse"),
    CHOICE("identifiers", identifiers, "canonical|written"),
    CHOICE("val-split", val_split, "blocks|random"),
    {"val-fraction", LEAT_SETTING_SHARE, PLACE(val_fraction), NULL, 0, 0},
    CHOICE("edge-step", edge_step, "previous|own"),
    CHOICE("self-loops", self_loops, "count|ignore"),
    CHOICE("attack-type", attack_type, "frame|file"),
    CHOICE("attack-codes", attack_codes, "long|short"),
    CHOICE("vocab", vocab, "train|all"),
    CHOICE("scaler", scaler, "z_benign|z_all|robust_benign|none"),
    CHOICE("store", store, "features|frames"),
    {"seed", LEAT_SETTING_SEED, PLACE(seed), NULL, 0, 0},
    {.name = NULL},
};

const char *leat_can_setting_name(int index) {
    int count = (int)(sizeof table / sizeof *table) - 1;
    return index >= 0 && index < count ? table[index].name : NULL;
}

static const leat_setting *find(const char *name, leat_error *err) {
    const leat_setting *setting = leat_setting_find(table, name);
    if (setting == NULL) leat_fail(err, LEAT_ERR_OPTION, "a cache has no setting \"%.40s\"", name);
    return setting;
}

leat_code leat_can_setting_set(leat_can_settings *settings, const char *name, const char *value,
                               leat_error *err) {
    const leat_setting *setting = find(name, err);
    if (setting == NULL) return LEAT_ERR_OPTION;
    if (strcmp(name, "bus") == 0) {
        if (strcmp(value, "separate") == 0) value = "-1";
        else if (strcmp(value, "merge") == 0) value = "-2";
        else if (value[0] == '-' || leat_setting_set(setting, settings, value, NULL) != LEAT_OK)
            return leat_fail(err, LEAT_ERR_OPTION,
                             "bus: \"%.40s\"; it is separate, merge, or a number up to %d", value,
                             UINT16_MAX);
    }
    return leat_setting_set(setting, settings, value, err);
}

leat_code leat_can_setting_get(const leat_can_settings *settings, const char *name,
                               char text[LEAT_CAN_SETTING_BYTES], leat_error *err) {
    text[0] = 0;
    const leat_setting *setting = find(name, err);
    if (setting == NULL) return LEAT_ERR_OPTION;
    leat_setting_get(setting, settings, text);
    if (strcmp(name, "bus") == 0 && settings->bus < 0)
        snprintf(text, LEAT_CAN_SETTING_BYTES, "%s",
                 settings->bus == LEAT_BUS_MERGE ? "merge" : "separate");
    return LEAT_OK;
}

leat_code leat_can_settings_check(const leat_can_settings *settings, leat_error *err) {
    return leat_settings_check(table, settings, err);
}

static const leat_can_settings preset_default = {
    .window = 100,
    .stride = 100,
    .bus = LEAT_BUS_SEPARATE,
    .val_fraction = 0.2,
    .seed = 42,
};

leat_code leat_can_settings_preset(leat_can_settings *settings, const char *name, leat_error *err) {
    if (strcmp(name, "default") == 0) {
        *settings = preset_default;
        return LEAT_OK;
    }
    if (strcmp(name, "reference") != 0) {
        return leat_fail(err, LEAT_ERR_OPTION, "preset: \"%.40s\"; it is default or reference",
                         name);
    }
    *settings = preset_default;
    settings->captures = LEAT_CAPTURES_MERGED;
    settings->bus = LEAT_BUS_MERGE;
    settings->payload = LEAT_PAYLOAD_LENIENT;
    settings->identifiers = LEAT_IDS_WRITTEN;
    settings->val_split = LEAT_VAL_RANDOM;
    settings->attack_type = LEAT_ATTACK_FILE;
    settings->attack_codes = LEAT_CODES_SHORT;
    settings->vocab = LEAT_VOCAB_ALL;
    return LEAT_OK;
}
