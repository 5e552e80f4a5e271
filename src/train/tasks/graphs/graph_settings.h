/*
 * What a row (run/task.h) whose model is trained on graphs has among its settings beside those of
 * its model: how graphs are put into batches. Its struct and its one table are those of the model
 * and then these:
 *
 *     typedef struct vgae_row {
 *         leat_vgae_settings model;
 *         leat_graph_settings graphs;
 *     } vgae_row;
 *
 *     static const leat_setting rows[] = {
 *         LEAT_VGAE_SETTING_ROWS, LEAT_GRAPH_SETTING_ROWS(vgae_row, graphs), {.name = NULL}};
 *
 * The model's own are at the same offsets in both structs, so its rows are too. They have
 * max-nodes, max-edges and vocabulary, which bound its memory, and which the data decide where they
 * are 0 (graph_feed.h).
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_SETTINGS_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_SETTINGS_H

#include <stddef.h>

#include "base/error.h"
#include "leat/batch.h"

/* What becomes of a graph that alone exceeds max-nodes or max-edges. */
typedef enum leat_graph_oversize {
    LEAT_GRAPH_OVERSIZE_FAIL,
    LEAT_GRAPH_OVERSIZE_SKIP
} leat_graph_oversize;

/* As in leat_graph_batch_options; the seed is that of the run. */
typedef struct leat_graph_settings {
    leat_graph_pack pack;
    int64_t batch;
    leat_graph_oversize oversize;
    int64_t min_steps;
    leat_curriculum curriculum;
    /* Of a curriculum by scores: the first 15 hexadecimal digits of the SHA-256 of their file. 0:
     * those of leat_train_options.scores, for the data to settle. */
    int64_t scores_hash;
    int64_t tiers;
    int64_t curriculum_epochs; /* of the ramp, wherever the run ends */
    double curriculum_start, curriculum_end;
} leat_graph_settings;

/* ffd, 32 graphs, fail, 1 step, no curriculum, 10 tiers from 1 to 10 in 0 epochs: to be set. */
leat_graph_settings leat_graph_settings_default(void);
/* The options of batches that they say; seed, filter and budgets are those of the defaults, for the
 * caller to set, and graphs over a budget are skipped. LEAT_ERR_OPTION: they do not fit together.
 */
LEAT_MUST_CHECK leat_code leat_graph_settings_read(const leat_graph_settings *settings,
                                                   leat_graph_batch_options *out, leat_error *err);

/* Rows of a table of `type`, whose member `of` they are. */
#define LEAT_GRAPH_SETTING(type, of, field) .place = offsetof(type, of.field)
/* clang-format off */
#define LEAT_GRAPH_SETTING_ROWS(type, of)                                                          \
    {.name = "pack", .kind = LEAT_SETTING_CHOICE, LEAT_GRAPH_SETTING(type, of, pack),              \
     .choices = "ffd|next-fit|bucket|fixed",                                                       \
     .help = "how graphs are packed into batches (see docs/can-graphs.md)"},                       \
    {.name = "batch", .kind = LEAT_SETTING_INT, LEAT_GRAPH_SETTING(type, of, batch),               \
     .min = 1, .max = 1 << 24, .help = "graphs per batch with --pack fixed"},                      \
    {.name = "oversize", .kind = LEAT_SETTING_CHOICE, LEAT_GRAPH_SETTING(type, of, oversize),      \
     .choices = "fail|skip",                                                                       \
     .help = "what to do with graphs that alone exceed --max-nodes or --max-edges"},               \
    {.name = "min-steps", .kind = LEAT_SETTING_INT, LEAT_GRAPH_SETTING(type, of, min_steps),       \
     .min = 1, .max = 1 << 30,                                                                     \
     .help = "make batches smaller so that an epoch has at least N of them"},                      \
    {.name = "curriculum", .kind = LEAT_SETTING_CHOICE, LEAT_GRAPH_SETTING(type, of, curriculum),  \
     .choices = "none|random|scores",                                                              \
     .help = "rank benign graphs, and begin with the first tier of them"},                         \
    {.name = "scores-hash", .kind = LEAT_SETTING_INT, LEAT_GRAPH_SETTING(type, of, scores_hash),   \
     .max = INT64_MAX, .help = "number of the scores of a curriculum (0: of their file)"},         \
    {.name = "tiers", .kind = LEAT_SETTING_INT, LEAT_GRAPH_SETTING(type, of, tiers),               \
     .min = 1, .max = 250, .help = "tiers of the curriculum"},                                     \
    {.name = "curriculum-epochs", .kind = LEAT_SETTING_INT,                                        \
     LEAT_GRAPH_SETTING(type, of, curriculum_epochs), .max = INT32_MAX,                            \
     .usually = "none; --curriculum requires it",                                                  \
     .help = "epochs over which tiers are added"},                                                 \
    {.name = "curriculum-start", .kind = LEAT_SETTING_REAL,                                        \
     LEAT_GRAPH_SETTING(type, of, curriculum_start), .low_open = true, .high = 1e9,                \
     .help = "where the ramp over --curriculum-epochs begins"},                                    \
    {.name = "curriculum-end", .kind = LEAT_SETTING_REAL,                                          \
     LEAT_GRAPH_SETTING(type, of, curriculum_end), .low_open = true, .high = 1e9,                  \
     .help = "where the ramp ends; all tiers are in use then"}
/* clang-format on */

#endif
