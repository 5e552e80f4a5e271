/* The rows of leat_gat_settings (leat/nn.h), for tables of structs that begin with it. */
#ifndef LEAT_NN_MODELS_GAT_SETTINGS_H
#define LEAT_NN_MODELS_GAT_SETTINGS_H

#include "nn/graph_model_settings.h"
#include "nn/models/gat/gat.h"

/* clang-format off */
#define LEAT_GAT_SETTING_ROWS                                                                      \
    {.name = "size", .kind = LEAT_SETTING_CHOICE, .place = offsetof(leat_gat_settings, size),      \
     .choices = "small|large",                                                                     \
     .help = "small: 2 layers of 4 heads, 200,000 weights; large: 3 layers of 8 heads, 9.5 "       \
             "million"},                                                                           \
    {.name = "loss", .kind = LEAT_SETTING_CHOICE, .place = offsetof(leat_gat_settings, loss),      \
     .choices = "focal|ce|weighted",                                                               \
     .help = "focal: graphs that are hard weigh more; ce: cross-entropy; weighted: an attack "     \
             "weighs as much as 5 benign graphs"},                                                 \
    LEAT_GRAPH_MODEL_SETTING_ROWS(leat_gat_settings, LEAT_GAT_VOCABULARY_MAX, LEAT_GAT_NODES_MAX,  \
                                  LEAT_GAT_EDGES_MAX)
/* clang-format on */

#endif
