/* See detector_tasks.h. What the detectors have in common is written once, for a model by its name;
 * the rows at the end have what differs. */
#include "train/tasks/graphs/detector_tasks.h"

#include <stddef.h>

#include "nn/models/gat/model.h"
#include "nn/models/gat/settings.h"
#include "nn/models/vgae/model.h"
#include "nn/models/vgae/settings.h"
#include "train/tasks/graphs/graph_feed.h"
#include "train/tasks/graphs/graph_measure.h"
#include "train/tasks/graphs/graph_run.h"
#include "train/tasks/graphs/graph_weights.h"

/* ---- Settings ------------------------------------------------------------------------------- */

/* leat_MODEL_row: a table of the model's settings, `own_rows`, and of those of its batches, and one
 * of the options of every run, of which `patience_of` measurements without a better one end it. */
#define SETTINGS_OF(model_, words, own_rows, patience_of)                                          \
    _Static_assert(offsetof(leat_##model_##_row, model) == 0,                                      \
                   "the model's rows have its own places");                                        \
    static const leat_setting model_##_rows[] = {                                                  \
        own_rows, LEAT_GRAPH_SETTING_ROWS(leat_##model_##_row, graphs), {.name = NULL}};           \
    static void model_##_set_defaults(void *settings) {                                            \
        *(leat_##model_##_row *)settings = (leat_##model_##_row){                                  \
            .model = leat_##model_##_settings_default(), .graphs = leat_graph_settings_default()}; \
    }                                                                                              \
    static const leat_setting_table *model_##_settings(void) {                                     \
        static const leat_setting_table table = {.owner = (words),                                 \
                                                 .rows = model_##_rows,                            \
                                                 .size_bytes = sizeof(leat_##model_##_row),        \
                                                 .set_defaults = model_##_set_defaults};           \
        return &table;                                                                             \
    }                                                                                              \
    static void model_##_set_run_defaults(void *options) {                                         \
        leat_graph_run_defaults(options, (patience_of));                                           \
    }                                                                                              \
    static const leat_setting_table *model_##_run_options(void) {                                  \
        static const leat_setting_table table = {.owner = "a training run",                        \
                                                 .rows = leat_train_rows,                          \
                                                 .size_bytes = sizeof(leat_train_options),         \
                                                 .set_defaults = model_##_set_run_defaults};       \
        return &table;                                                                             \
    }

/* ---- Data ----------------------------------------------------------------------------------- */

#define BOUNDS_OF(model_)                                                                          \
    static void model_##_get_bounds(const void *settings, leat_graph_bounds *out) {                \
        const leat_##model_##_settings *of = settings;                                             \
        *out = (leat_graph_bounds){of->vocabulary, of->max_nodes, of->max_edges};                  \
    }                                                                                              \
    static void model_##_set_bounds(void *settings, const leat_graph_bounds *of) {                 \
        leat_##model_##_settings *to = settings;                                                   \
        to->vocabulary = of->vocabulary;                                                           \
        to->max_nodes = of->max_nodes;                                                             \
        to->max_edges = of->max_edges;                                                             \
    }

/* ---- Exports and imports -------------------------------------------------------------------- */

/* Files of its weights, and what is known of those of another program: model_weights, by a tensor
 * `another` of which it is recognised, model_extras, tensors that may be there, and the sizes. */
#define EXPORTS_OF(model_, another, small, large)                                                  \
    static leat_code model_##_guess(const leat_safetensors *tensors, const char *path, bool whole, \
                                    void *out, leat_error *err) {                                  \
        leat_##model_##_settings *settings = out;                                                  \
        int size = 0;                                                                              \
        (void)whole;                                                                               \
        LEAT_TRY(leat_graph_weights_guess(&model_##_weights, tensors, path, &size,                 \
                                          &settings->vocabulary, err));                            \
        settings->size = size == 0 ? (small) : (large);                                            \
        return LEAT_OK;                                                                            \
    }                                                                                              \
    static void model_##_settle(void *settings) {                                                  \
        leat_graph_bounds bounds;                                                                  \
        model_##_get_bounds(settings, &bounds);                                                    \
        leat_graph_weights_settle(&bounds);                                                        \
        model_##_set_bounds(settings, &bounds);                                                    \
    }                                                                                              \
    static leat_code model_##_check(const void *settings, const leat_feed *feed,                   \
                                    leat_error *err) {                                             \
        leat_graph_bounds bounds;                                                                  \
        model_##_get_bounds(settings, &bounds);                                                    \
        return leat_graph_weights_check(&bounds, feed, err);                                       \
    }                                                                                              \
    static const leat_export_file model_##_files[] = {                                             \
        {.name = #model_ ".safetensors", .prefix = "", .member = "weights"}, {.name = NULL}};      \
    static const leat_export_class model_##_exports = {                                            \
        .files = model_##_files,                                                                   \
        .guess = model_##_guess,                                                                   \
        .unsaid = leat_graph_weights_unsaid,                                                       \
        .settle = model_##_settle,                                                                 \
        .check = model_##_check,                                                                   \
        .extras = model_##_extras,                                                                 \
        .third_party = "a file with graphids' names (\"" another "\")",                            \
        .misfit = "their size may differ from --size, or the cache has other identifiers",         \
    };

/* ---- The task ------------------------------------------------------------------------------- */

/* The further arguments say which graphs it trains on (leat_graph_feed). */
#define TASK_OF(model_, saved, ...)                                                                \
    static const leat_graph_feed model_##_feed = {.class = LEAT_GRAPH_FEED_CLASS,                  \
                                                  .settings =                                      \
                                                      offsetof(leat_##model_##_row, graphs),       \
                                                  .get = model_##_get_bounds,                      \
                                                  .set = model_##_set_bounds,                      \
                                                  __VA_ARGS__};                                    \
    const leat_task leat_##model_##_task = {.model = &leat_##model_##_class,                       \
                                            .feed = &model_##_feed.class,                          \
                                            .measures = leat_##model_##_measures,                  \
                                            .saved_measures = (saved),                             \
                                            .measure = &leat_##model_##_measure,                   \
                                            .measures_epochs = true,                               \
                                            .settings = model_##_settings,                         \
                                            .options = model_##_run_options,                       \
                                            .exports = &model_##_exports}

/* ---- What differs --------------------------------------------------------------------------- */

/* as in graphids */
enum { VGAE_PATIENCE = 100, GAT_PATIENCE = 50 };

#define VGAE_TENSOR "z_mean.weight"
#define GAT_TENSOR "jk.att.weight"
static const leat_graph_weights vgae_weights = {.model = "VGAE",
                                                .attention = "encoder_layers.0.att",
                                                .another = VGAE_TENSOR,
                                                .heads = {4, 4},
                                                .width = {16, 32},
                                                .embedding = LEAT_VGAE_EMBEDDING,
                                                .rows = 1, /* of hidden identifiers */
                                                .vocabulary_max = LEAT_VGAE_VOCABULARY_MAX},
                                gat_weights = {.model = "GAT",
                                               .attention = "convs.0.att",
                                               .another = GAT_TENSOR,
                                               .heads = {4, 8},
                                               .width = {24, 64},
                                               .embedding = LEAT_GAT_EMBEDDING,
                                               .vocabulary_max = LEAT_GAT_VOCABULARY_MAX};

/* Of a checkpoint; and graphids' mask, which is 0, and its calibration, which leat makes again. */
static const char *const vgae_extras[] = {"adam_m/", "adam_v/", "masker.", "mu_", "score_", NULL};
static const char *const gat_extras[] = {"adam_m/", "adam_v/", NULL};

SETTINGS_OF(vgae, "a VGAE", LEAT_VGAE_SETTING_ROWS, VGAE_PATIENCE)
BOUNDS_OF(vgae)
EXPORTS_OF(vgae, VGAE_TENSOR, LEAT_VGAE_SMALL, LEAT_VGAE_LARGE)
TASK_OF(vgae, LEAT_VGAE_SAVED_MEASURES, .graphs = LEAT_FILTER_BENIGN, .weighs_nodes = true);

SETTINGS_OF(gat, "a GAT", LEAT_GAT_SETTING_ROWS, GAT_PATIENCE)
BOUNDS_OF(gat)
EXPORTS_OF(gat, GAT_TENSOR, LEAT_GAT_SMALL, LEAT_GAT_LARGE)
TASK_OF(gat, LEAT_GAT_SAVED_MEASURES, .graphs = LEAT_FILTER_LABELLED, .both_classes = true);
