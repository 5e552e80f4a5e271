/*
 * The settings that models of graphs have in common (models/vgae, models/gat): their rows in a
 * table of `type`, whose members have the same names in each, with the largest numbers that the
 * model takes. A struct that begins with `type` has them at the same places, so they are rows of
 * its table, too.
 */
#ifndef LEAT_NN_GRAPH_MODEL_SETTINGS_H
#define LEAT_NN_GRAPH_MODEL_SETTINGS_H

#include <stddef.h>

#include "leat/base.h"

/* clang-format off */
#define LEAT_GRAPH_MODEL_SETTING_ROWS(type, vocabulary_most, nodes_most, edges_most)               \
    {.name = "dropout", .kind = LEAT_SETTING_REAL, .place = offsetof(type, dropout),               \
     .high = 1, .high_open = true, .help = "share of activations that are 0 in training"},         \
    {.name = "id-drop", .kind = LEAT_SETTING_REAL, .place = offsetof(type, id_drop),               \
     .high = 1,                                                                                    \
     .help = "share of nodes whose identifier is hidden in training, so that the embedding of "    \
             "unknown identifiers is trained"},                                                    \
    {.name = "learning-rate", .kind = LEAT_SETTING_REAL, .place = offsetof(type, learning_rate),   \
     .high = 1, .low_open = true, .help = "step size of Adam"},                                    \
    {.name = "vocabulary", .kind = LEAT_SETTING_INT, .place = offsetof(type, vocabulary),          \
     .max = (vocabulary_most), .value = "V",                                                       \
     .help = "number of identifiers, with the unknown one (0: of the data)"},                      \
    {.name = "max-nodes", .kind = LEAT_SETTING_INT, .place = offsetof(type, max_nodes),            \
     .max = (nodes_most), .value = "N",                                                            \
     .help = "nodes of a micro-batch, at most (0: by the data)"},                                  \
    {.name = "max-edges", .kind = LEAT_SETTING_INT, .place = offsetof(type, max_edges),            \
     .max = (edges_most), .value = "N",                                                            \
     .help = "edges of a micro-batch, at most (0: by the data)"}
/* clang-format on */

#endif
