/* See models.h. */
#include "train/models.h"

#include <stdio.h>
#include <string.h>

#include "train/options.h"

static const leat_model_row *const models[] = {&leat_train_dcgan};
enum { MODELS = sizeof models / sizeof *models };

static const leat_model_row *find(const char *name) {
    for (int i = 0; i < MODELS; i++)
        if (strcmp(models[i]->name, name) == 0) return models[i];
    return NULL;
}

/* The options of a run are one list of names for the command line, YAML, Python and the run's
 * files, and its settings fit into the memory that every owner of some has. */
static void check_tables(const leat_model_row *model) {
    const leat_setting_table *own = model->settings(), *all = leat_train_options_table();
    _Static_assert(sizeof(leat_setting_memory) == LEAT_SETTING_STRUCT_BYTES, "one bound");
    LEAT_ASSERT(own->size_bytes <= sizeof(leat_setting_memory));
    for (const leat_setting *row = own->rows; row->name != NULL; row++) {
        const leat_setting *twin = leat_setting_find(all, row->name);
        LEAT_ASSERT(twin == NULL);
    }
}

leat_code leat_model_find(const char *name, const leat_model_row **out, leat_error *err) {
    char names[200] = "";
    size_t used = 0;
    *out = find(name);
    if (*out != NULL) {
        check_tables(*out);
        return LEAT_OK;
    }
    for (int i = 0; i < MODELS && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 models[i]->name);
    return leat_fail(err, LEAT_ERR_OPTION, "there is no model \"%.40s\"; there is %s", name, names);
}

const leat_setting_table *leat_train_settings_table(const char *model) {
    const leat_model_row *row = find(model);
    return row == NULL ? NULL : row->settings();
}
