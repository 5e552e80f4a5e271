/* See gat_task.h. */
#include "train/tasks/graphs/gat_task.h"

#include <stddef.h>

#include "nn/models/gat/model.h"
#include "nn/models/gat/settings.h"
#include "train/tasks/graphs/graph_feed.h"
#include "train/tasks/graphs/graph_measure.h"
#include "train/tasks/graphs/graph_run.h"

/* Measurements without a better one, as in graphids. */
enum { PATIENCE = 50 };

/* ---- Settings -------------------------------------------------------------------------------- */

_Static_assert(offsetof(leat_gat_row, model) == 0, "the model's rows have its own places");

static const leat_setting rows[] = {
    LEAT_GAT_SETTING_ROWS, LEAT_GRAPH_SETTING_ROWS(leat_gat_row, graphs), {.name = NULL}};

static void set_defaults(void *settings) {
    *(leat_gat_row *)settings = (leat_gat_row){.model = leat_gat_settings_default(),
                                               .graphs = leat_graph_settings_default()};
}

static const leat_setting_table *settings(void) {
    static const leat_setting_table table = {.owner = "a GAT",
                                             .rows = rows,
                                             .size_bytes = sizeof(leat_gat_row),
                                             .set_defaults = set_defaults};
    return &table;
}

static void set_run_defaults(void *options) { leat_graph_run_defaults(options, PATIENCE); }

static const leat_setting_table *run_options(void) {
    static const leat_setting_table table = {.owner = "a training run",
                                             .rows = leat_train_rows,
                                             .size_bytes = sizeof(leat_train_options),
                                             .set_defaults = set_run_defaults};
    return &table;
}

/* ---- Data ------------------------------------------------------------------------------------ */

static void get_bounds(const void *settings_of, leat_graph_bounds *out) {
    const leat_gat_settings *of = settings_of;
    *out = (leat_graph_bounds){of->vocabulary, of->max_nodes, of->max_edges};
}

static void set_bounds(void *settings_of, const leat_graph_bounds *of) {
    leat_gat_settings *to = settings_of;
    to->vocabulary = of->vocabulary;
    to->max_nodes = of->max_nodes;
    to->max_edges = of->max_edges;
}

static const leat_graph_feed feed = {.class = LEAT_GRAPH_FEED_CLASS,
                                     .graphs = LEAT_FILTER_LABELLED,
                                     .both_classes = true,
                                     .settings = offsetof(leat_gat_row, graphs),
                                     .get = get_bounds,
                                     .set = set_bounds};

static const leat_export_file files[] = {
    {.name = "gat.safetensors", .prefix = "", .member = "weights"}, {.name = NULL}};
static const leat_export_class exports = {.files = files};

const leat_task leat_gat_task = {.model = &leat_gat_class,
                                 .feed = &feed.class,
                                 .measures = leat_gat_measures,
                                 .saved_measures = LEAT_GAT_SAVED_MEASURES,
                                 .measure = &leat_gat_measure,
                                 .measures_epochs = true,
                                 .settings = settings,
                                 .options = run_options,
                                 .exports = &exports};
