/*
 * Settings from YAML: names of option tables, and the sections of the config.yaml of
 * GANNs-with-friends (docs/README.md), some of whose keys are options here under another name.
 *
 * A reader opens the file, applies it to each of its tables, and ends with leat_config_check, which
 * refuses names that no table has.
 */
#ifndef LEAT_TRAIN_CONFIG_H
#define LEAT_TRAIN_CONFIG_H

#include "base/yaml.h"
#include "leat/train.h"

struct leat_train_config {
    leat_yaml *yaml;
    bool *known; /* of each item: some table had it */
    int64_t count;
};

LEAT_MUST_CHECK leat_code leat_config_open(leat_train_config **out, const char *path,
                                           leat_error *err);
/* Sets the options of a table that the file has, under their own names or those of
 * GANNs-with-friends. LEAT_ERR_OPTION names file, line and value. */
LEAT_MUST_CHECK leat_code leat_config_apply(leat_train_config *config,
                                            const leat_setting_table *table, void *options,
                                            leat_error *err);
/* LEAT_ERR_OPTION: a name that no table has had, with the nearest of these tables' (NULL ends
 * them). Keys of GANNs-with-friends that are of no use here are described in `notes`, a line
 * each. */
LEAT_MUST_CHECK leat_code leat_config_check(const leat_train_config *config,
                                            const leat_setting_table *const *tables, char *notes,
                                            size_t notes_bytes, leat_error *err);
/* The value of a key of GANNs-with-friends, such as "database", "host"; NULL if it has none. */
const char *leat_config_get(const leat_train_config *config, const char *section, const char *key);

#endif
