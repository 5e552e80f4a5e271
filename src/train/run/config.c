/*
 * Settings from YAML: names of options, and the sections of other programs' files, some of whose
 * keys are options here under another name (leat_foreign_key).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/yaml.h"
#include "train/run/task.h"
#include "train/run/train_options.h"

struct leat_train_config {
    leat_yaml *yaml;
    const leat_foreign_key *foreign; /* NULL: none */
};

/* The key of another program; NULL: it is none. */
static const leat_foreign_key *find_foreign(const leat_train_config *config,
                                            const leat_yaml_item *item) {
    const leat_foreign_key *row = config->foreign;
    for (; row != NULL && row->section != NULL; row++)
        if (strcmp(row->section, item->section) == 0 && strcmp(row->key, item->key) == 0)
            return row;
    return NULL;
}

static bool is_section(const leat_train_config *config, const char *name) {
    const leat_foreign_key *row = config->foreign;
    for (; row != NULL && row->section != NULL; row++)
        if (strcmp(row->section, name) == 0) return true;
    return false;
}

/* ---- Opened --------------------------------------------------------------------------------- */

static leat_code open_file(leat_train_config **out, const char *path,
                           const leat_foreign_key *foreign, leat_error *err) {
    leat_train_config *config = NULL;
    LEAT_TRY(LEAT_NEW(&config, 1, err));
    config->foreign = foreign;
    leat_code code = leat_yaml_load(&config->yaml, path, err);
    if (code != LEAT_OK) {
        leat_train_config_destroy(config);
        return code;
    }
    *out = config;
    return LEAT_OK;
}

void leat_train_config_destroy(leat_train_config *config) {
    if (config == NULL) return;
    leat_yaml_destroy(config->yaml);
    leat_free(config);
}

/* ---- Applied -------------------------------------------------------------------------------- */

/* "settings.yaml", line 3: ... */
static leat_code at_line(const leat_train_config *config, const leat_yaml_item *item,
                         leat_error *err, const char *format, ...) LEAT_PRINTF(4, 5);
static leat_code at_line(const leat_train_config *config, const leat_yaml_item *item,
                         leat_error *err, const char *format, ...) {
    char what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return leat_fail(err, LEAT_ERR_OPTION, "\"%.200s\", line %lld: %s",
                     leat_yaml_name(config->yaml), (long long)item->line, what);
}

/* The option that an item sets, and the struct that it is in; NULL: none. */
static const leat_setting *option_of(const leat_train_config *config, leat_run_options *options,
                                     const leat_yaml_item *item, void **of) {
    if (item->section[0] == 0) return leat_run_option_find(options, item->key, of);
    const leat_foreign_key *key = find_foreign(config, item);
    if (key == NULL || key->option == NULL) return NULL;
    return leat_run_option_find(options, key->option, of);
}

/* The line of an earlier item that sets the same option; 0: none. */
static int64_t line_of(const leat_train_config *config, leat_run_options *options,
                       const leat_setting *row, int64_t before) {
    leat_yaml_item item;
    void *of = NULL;
    for (int64_t i = 0; i < before && leat_yaml_at(config->yaml, i, &item); i++)
        if (option_of(config, options, &item, &of) == row) return item.line;
    return 0;
}

/* Sets the options that the file has, under their own names or those of other programs. */
static leat_code apply(const leat_train_config *config, leat_run_options *options,
                       leat_error *err) {
    leat_yaml_item item;
    for (int64_t i = 0; leat_yaml_at(config->yaml, i, &item); i++) {
        void *of = NULL;
        const leat_setting *row = option_of(config, options, &item, &of);
        leat_error why = {0};
        if (row == NULL) continue;
        if (item.value == NULL) return at_line(config, &item, err, "%s has no value", item.key);
        const int64_t line = line_of(config, options, row, i);
        if (line > 0)
            return at_line(config, &item, err,
                           "%s is set in line %lld already, as another name of %s", item.key,
                           (long long)line, row->name);
        if (leat_setting_set(row, of, item.value, &why) != LEAT_OK)
            return at_line(config, &item, err, "%.280s", why.message);
    }
    return LEAT_OK;
}

/* ---- Checked -------------------------------------------------------------------------------- */

/* An item that is neither an option nor known of other programs. */
static leat_code refuse_name(const leat_train_config *config, const leat_run_options *options,
                             const leat_yaml_item *item, leat_error *err) {
    leat_nearest nearest = leat_nearest_start(item->key);
    const bool in_section = item->section[0] != 0;
    leat_run_option option;
    for (int i = 0; !in_section && leat_run_option_at(options, i, &option); i++)
        leat_nearest_add(&nearest, option.row->name);
    const leat_foreign_key *key = config->foreign;
    for (; in_section && key != NULL && key->section != NULL; key++)
        if (strcmp(key->section, item->section) == 0) leat_nearest_add(&nearest, key->key);
    if (in_section && !is_section(config, item->section))
        return at_line(config, item, err,
                       "there is no section \"%.60s\"; settings are lines \"name: value\" without "
                       "sections",
                       item->section);
    if (nearest.best == NULL)
        return at_line(config, item, err, "there is no setting \"%.60s\"", item->key);
    return at_line(config, item, err, "there is no setting \"%.60s\"; did you mean \"%s\"?",
                   item->key, nearest.best);
}

static void note(char *notes, size_t bytes, const leat_yaml_item *item, const char *why) {
    const size_t used = strlen(notes);
    if (used < bytes)
        snprintf(notes + used, bytes - used, "%s.%s is not used: %s\n", item->section, item->key,
                 why);
}

/* The items that set no option: what they say of other programs is noted, and other names are
 * refused. */
static leat_code check_rest(const leat_train_config *config, leat_run_options *options, char *notes,
                            size_t notes_bytes, leat_error *err) {
    leat_yaml_item item;
    if (notes_bytes > 0) notes[0] = 0;
    for (int64_t i = 0; leat_yaml_at(config->yaml, i, &item); i++) {
        void *struct_of = NULL;
        const leat_foreign_key *of = find_foreign(config, &item);
        if (option_of(config, options, &item, &struct_of) != NULL) continue;
        if (of == NULL) return refuse_name(config, options, &item, err);
        if (of->only != NULL && item.value != NULL && strcmp(item.value, of->only) != 0)
            return at_line(config, &item, err, "%s is %.40s; it must be %s", item.key, item.value,
                           of->only);
        if (of->note != NULL && item.value != NULL && notes_bytes > 0)
            note(notes, notes_bytes, &item, of->note);
    }
    return LEAT_OK;
}

leat_code leat_train_config_load(leat_train_config **owner, const char *path, const char *model,
                                 leat_train_options *options, void *settings, char *notes,
                                 size_t notes_bytes, leat_error *err) {
    leat_run_options set;
    leat_train_options here = *options;
    *owner = NULL;
    here.settings = settings;
    LEAT_TRY(leat_run_options_take(&set, model, &here, err));
    LEAT_TRY(open_file(owner, path, set.task->foreign, err));
    leat_code code = apply(*owner, &set, err);
    if (code == LEAT_OK) code = check_rest(*owner, &set, notes, notes_bytes, err);
    if (code != LEAT_OK) {
        leat_train_config_destroy(*owner);
        *owner = NULL;
        return code;
    }
    *options = set.run;
    options->settings = settings;
    memcpy(settings, &set.settings, set.task->settings()->size_bytes);
    return LEAT_OK;
}
