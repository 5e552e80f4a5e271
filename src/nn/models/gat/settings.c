/* What a run that trains a GAT has beyond the options of every run: leat/nn.h. */
#include <stddef.h>

#include "nn/models/gat/gat.h"

#define AT(field) .place = offsetof(leat_gat_settings, field)

static const leat_setting rows[] = {
    {.name = "size",
     .kind = LEAT_SETTING_CHOICE,
     AT(size),
     .choices = "small|large",
     .help =
         "small: 2 layers of 4 heads, 200,000 weights; large: 3 layers of 8 heads, 9.5 million"},
    {.name = "loss",
     .kind = LEAT_SETTING_CHOICE,
     AT(loss),
     .choices = "focal|ce|weighted",
     .help = "focal: graphs that are hard weigh more; ce: cross-entropy; weighted: an attack "
             "weighs as much as 5 benign graphs"},
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
     .max = LEAT_GAT_VOCABULARY_MAX,
     .value = "V",
     .help = "number of identifiers, with the unknown one (0: of the data)"},
    {.name = "max-nodes",
     .kind = LEAT_SETTING_INT,
     AT(max_nodes),
     .max = LEAT_GAT_NODES_MAX,
     .value = "N",
     .help = "nodes of a micro-batch, at most (0: by the data)"},
    {.name = "max-edges",
     .kind = LEAT_SETTING_INT,
     AT(max_edges),
     .max = LEAT_GAT_EDGES_MAX,
     .value = "N",
     .help = "edges of a micro-batch, at most (0: by the data)"},
    {.name = NULL},
};

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
