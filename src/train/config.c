/* See config.h. */
#include "train/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "train/identity.h"

/* Keys of the config.yaml of GANNs-with-friends: the option that each is here, or why there is
 * none. docs/dcgan.md has this table, too. */
static const struct {
    const char *section, *key;
    const char *option; /* NULL: none */
    const char *note;   /* what becomes of it; NULL: nothing to say */
} foreign[] = {
    {"database", "host", NULL, NULL},
    {"database", "port", NULL, NULL},
    {"database", "database", NULL, NULL},
    {"database", "user", NULL, NULL},
    {"database", "password", NULL, NULL},
    {"training", "latent_dim", "latent", NULL},
    {"training", "image_size", NULL, NULL}, /* checked */
    {"training", "images_per_work_unit", "unit-size", NULL},
    {"training", "num_workunits_per_update", "units", NULL},
    {"training", "learning_rate", "learning-rate", NULL},
    {"training", "beta1", "beta1", NULL},
    {"training", "beta2", "beta2", NULL},
    {"worker", "name", NULL, "single-machine training"},
    {"worker", "batch_size", "micro-batch", NULL},
    {"worker", "poll_interval", NULL, "single-machine training"},
    {"worker", "heartbeat_interval", NULL, "single-machine training"},
    {"worker", "work_unit_timeout", "lease-seconds", NULL},
    {"data", "dataset_path", NULL, "the data set is named on the command line"},
    {"data", "num_workers_dataloader", NULL, "images are mapped; there are no loader processes"},
    {"huggingface", "enabled", NULL, "publish with leat export and hf upload"},
    {"huggingface", "repo_id", NULL, "publish with leat export and hf upload"},
    {"huggingface", "token", NULL, "use hf auth login instead"},
    {"huggingface", "push_interval", NULL, "publish with leat export and hf upload"},
};
enum { FOREIGN = sizeof foreign / sizeof *foreign };

static int find_foreign(const char *section, const char *key) {
    for (int i = 0; i < FOREIGN; i++)
        if (strcmp(foreign[i].section, section) == 0 && strcmp(foreign[i].key, key) == 0) return i;
    return -1;
}

static bool is_section(const char *name) {
    for (int i = 0; i < FOREIGN; i++)
        if (strcmp(foreign[i].section, name) == 0) return true;
    return false;
}

/* ---- Opened --------------------------------------------------------------------------------- */

static leat_code fill(leat_train_config *config, const char *path, leat_error *err) {
    leat_yaml_item item;
    LEAT_TRY(leat_yaml_load(&config->yaml, path, err));
    while (leat_yaml_at(config->yaml, config->count, &item)) config->count++;
    return LEAT_NEW(&config->known, config->count, err);
}

leat_code leat_config_open(leat_train_config **out, const char *path, leat_error *err) {
    leat_train_config *config = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&config, 1, err));
    leat_code code = fill(config, path, err);
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
    leat_free(config->known);
    leat_free(config);
}

const char *leat_config_get(const leat_train_config *config, const char *section, const char *key) {
    leat_yaml_item item;
    for (int64_t i = 0; leat_yaml_at(config->yaml, i, &item); i++)
        if (strcmp(item.section, section) == 0 && strcmp(item.key, key) == 0) return item.value;
    return NULL;
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

/* The option that an item sets; NULL: none of this table. */
static const leat_setting *option_of(const leat_setting_table *table, const leat_yaml_item *item) {
    const char *name = item->key;
    if (item->section[0] != 0) {
        const int i = find_foreign(item->section, item->key);
        if (i < 0 || foreign[i].option == NULL) return NULL;
        name = foreign[i].option;
    }
    return leat_setting_find(table, name);
}

/* The line of an earlier item that sets the same option; 0: none. */
static int64_t line_of(const leat_train_config *config, const leat_setting_table *table,
                       const leat_setting *row, int64_t before) {
    leat_yaml_item item;
    for (int64_t i = 0; i < before && leat_yaml_at(config->yaml, i, &item); i++)
        if (option_of(table, &item) == row) return item.line;
    return 0;
}

leat_code leat_config_apply(leat_train_config *config, const leat_setting_table *table,
                            void *options, leat_error *err) {
    leat_yaml_item item;
    for (int64_t i = 0; leat_yaml_at(config->yaml, i, &item); i++) {
        const leat_setting *row = option_of(table, &item);
        leat_error why = {0};
        if (row == NULL) continue;
        config->known[i] = true;
        if (item.value == NULL) return at_line(config, &item, err, "%s has no value", item.key);
        const int64_t line = line_of(config, table, row, i);
        if (line > 0)
            return at_line(config, &item, err,
                           "%s is set in line %lld already, as another name of %s", item.key,
                           (long long)line, row->name);
        if (leat_setting_set(row, options, item.value, &why) != LEAT_OK)
            return at_line(config, &item, err, "%.280s", why.message);
    }
    return LEAT_OK;
}

/* ---- Checked -------------------------------------------------------------------------------- */

static leat_code refuse_name(const leat_train_config *config, const leat_yaml_item *item,
                             const leat_setting_table *const *tables, leat_error *err) {
    leat_nearest nearest = leat_nearest_start(item->key);
    const bool in_section = item->section[0] != 0;
    for (int t = 0; !in_section && tables[t] != NULL; t++)
        for (const leat_setting *row = tables[t]->rows; row->name != NULL; row++)
            leat_nearest_add(&nearest, row->name);
    for (int i = 0; in_section && i < FOREIGN; i++)
        if (strcmp(foreign[i].section, item->section) == 0)
            leat_nearest_add(&nearest, foreign[i].key);
    if (in_section && !is_section(item->section))
        return at_line(config, item, err,
                       "there is no section \"%.60s\"; settings are lines \"name: value\" without "
                       "sections",
                       item->section);
    if (nearest.best == NULL)
        return at_line(config, item, err, "there is no setting \"%.60s\"", item->key);
    return at_line(config, item, err, "there is no setting \"%.60s\"; did you mean \"%s\"?",
                   item->key, nearest.best);
}

/* What the generator and discriminator of GANNs-with-friends are made for. */
static leat_code check_image_size(const leat_train_config *config, const leat_yaml_item *item,
                                  leat_error *err) {
    if (item->value == NULL || strcmp(item->value, "64") == 0) return LEAT_OK;
    return at_line(config, item, err, "image_size is %.40s; it must be %d", item->value,
                   LEAT_IMAGE_SIZE);
}

static void note(char *notes, size_t bytes, const leat_yaml_item *item, const char *why) {
    const size_t used = strlen(notes);
    if (used < bytes)
        snprintf(notes + used, bytes - used, "%s.%s is not used: %s\n", item->section, item->key,
                 why);
}

leat_code leat_config_check(const leat_train_config *config,
                            const leat_setting_table *const *tables, char *notes,
                            size_t notes_bytes, leat_error *err) {
    leat_yaml_item item;
    if (notes_bytes > 0) notes[0] = 0;
    for (int64_t i = 0; leat_yaml_at(config->yaml, i, &item); i++) {
        const int of = find_foreign(item.section, item.key);
        if (config->known[i]) continue;
        if (of < 0) return refuse_name(config, &item, tables, err);
        if (strcmp(item.key, "image_size") == 0) LEAT_TRY(check_image_size(config, &item, err));
        if (foreign[of].note != NULL && item.value != NULL && notes_bytes > 0)
            note(notes, notes_bytes, &item, foreign[of].note);
    }
    return LEAT_OK;
}

leat_code leat_train_config_load(leat_train_config **owner, const char *path,
                                 leat_train_options *options, char *notes, size_t notes_bytes,
                                 leat_error *err) {
    const leat_setting_table *const tables[] = {leat_train_options_table(), NULL};
    leat_train_options set = *options;
    LEAT_TRY(leat_config_open(owner, path, err));
    leat_code code = leat_config_apply(*owner, tables[0], &set, err);
    if (code == LEAT_OK) code = leat_config_check(*owner, tables, notes, notes_bytes, err);
    if (code != LEAT_OK) {
        leat_train_config_destroy(*owner);
        *owner = NULL;
        return code;
    }
    *options = set;
    return LEAT_OK;
}
