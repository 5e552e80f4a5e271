/* What a run that trains a GAT has beyond the options of every run: leat/nn.h. */
#include "nn/models/gat/settings.h"

static const leat_setting rows[] = {LEAT_GAT_SETTING_ROWS, {.name = NULL}};

leat_gat_settings leat_gat_settings_default(void) {
    return (leat_gat_settings){.dropout = 0.3, .id_drop = 0.01, .learning_rate = 1e-3};
}

static void set_defaults(void *settings) {
    *(leat_gat_settings *)settings = leat_gat_settings_default();
}

const leat_setting_table *leat_gat_settings_table(void) {
    static const leat_setting_table table = {.owner = "a GAT",
                                             .rows = rows,
                                             .size_bytes = sizeof(leat_gat_settings),
                                             .set_defaults = set_defaults};
    return &table;
}
