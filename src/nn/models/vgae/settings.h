/* The rows of leat_vgae_settings (leat/nn.h), for tables of structs that begin with it. */
#ifndef LEAT_NN_MODELS_VGAE_SETTINGS_H
#define LEAT_NN_MODELS_VGAE_SETTINGS_H

#include "nn/graph_model_settings.h"
#include "nn/models/vgae/vgae.h"

/* clang-format off */
#define LEAT_VGAE_SETTING_ROWS                                                                     \
    {.name = "size", .kind = LEAT_SETTING_CHOICE, .place = offsetof(leat_vgae_settings, size),     \
     .choices = "small|large",                                                                     \
     .help = "small: 4 heads of 16, latent vectors of 64 values; large: 4 heads of 32, 128 "       \
             "values"},                                                                            \
    LEAT_GRAPH_MODEL_SETTING_ROWS(leat_vgae_settings, LEAT_VGAE_VOCABULARY_MAX,                    \
                                  LEAT_VGAE_NODES_MAX, LEAT_VGAE_EDGES_MAX)
/* clang-format on */

#endif
