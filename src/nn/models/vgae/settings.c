/* What a run that trains a VGAE has beyond the options of every run: leat/nn.h. */
#include <stddef.h>

#include "nn/models/vgae/vgae.h"

#define AT(field) .place = offsetof(leat_vgae_settings, field)

static const leat_setting rows[] = {
    {.name = "size",
     .kind = LEAT_SETTING_CHOICE,
     AT(size),
     .choices = "small|large",
     .help = "small: 4 heads of 16, latent vectors of 64 values; large: 4 heads of 32, 128 values"},
    {.name = "dropout",
     .kind = LEAT_SETTING_REAL,
     AT(dropout),
     .high = 1,
     .high_open = true,
     .help = "share of activations that are 0 in training"},
    {.name = "id-drop",
     .kind = LEAT_SETTING_REAL,
     AT(id_drop),
     .high = 1,
     .help = "share of nodes whose identifier is hidden in training, so that the embedding of "
             "unknown identifiers is trained"},
    {.name = "learning-rate",
     .kind = LEAT_SETTING_REAL,
     AT(learning_rate),
     .high = 1,
     .low_open = true,
     .help = "step size of Adam"},
    {.name = "vocabulary",
     .kind = LEAT_SETTING_INT,
     AT(vocabulary),
     .max = LEAT_VGAE_VOCABULARY_MAX,
     .value = "V",
     .help = "number of identifiers, with the unknown one (0: of the data)"},
    {.name = "max-nodes",
     .kind = LEAT_SETTING_INT,
     AT(max_nodes),
     .max = LEAT_VGAE_NODES_MAX,
     .value = "N",
     .help = "nodes of a micro-batch, at most (0: by the data)"},
    {.name = "max-edges",
     .kind = LEAT_SETTING_INT,
     AT(max_edges),
     .max = LEAT_VGAE_EDGES_MAX,
     .value = "N",
     .help = "edges of a micro-batch, at most (0: by the data)"},
    {.name = NULL},
};

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
