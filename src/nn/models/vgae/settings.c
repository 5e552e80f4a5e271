/* What a run that trains a VGAE has beyond the options of every run: leat/nn.h. */
#include "nn/models/vgae/settings.h"

static const leat_setting rows[] = {LEAT_VGAE_SETTING_ROWS, {.name = NULL}};

leat_vgae_settings leat_vgae_settings_default(void) {
    return (leat_vgae_settings){.dropout = 0.1, .id_drop = 0.01, .learning_rate = 2e-3};
}

static void set_defaults(void *settings) {
    *(leat_vgae_settings *)settings = leat_vgae_settings_default();
}

const leat_setting_table *leat_vgae_settings_table(void) {
    static const leat_setting_table table = {.owner = "a VGAE",
                                             .rows = rows,
                                             .size_bytes = sizeof(leat_vgae_settings),
                                             .set_defaults = set_defaults};
    return &table;
}
