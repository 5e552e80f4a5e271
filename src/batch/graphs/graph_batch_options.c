/* The options of graph batches, by name: one table for command line, state and Python. */
#include "base/error.h"
#include "batch/order_setting.h"
#include "leat/batch.h"

enum { TIERS_MAX = 250, BATCH_MAX = 1 << 24, STEPS_MAX = 1 << 30 };

#define AT(field) .place = offsetof(leat_graph_batch_options, field)
#define CHOICE(word, field, words)                                                                 \
    .name = word, .kind = LEAT_SETTING_CHOICE, AT(field), .choices = words
#define INT(word, field, least, most)                                                              \
    .name = word, .kind = LEAT_SETTING_INT, AT(field), .min = least, .max = most
#define FACTOR(word, field)                                                                        \
    .name = word, .kind = LEAT_SETTING_REAL, AT(field), .low_open = true, .high = 1e9

/* States of runs hold them in this order. */
static const leat_setting rows[] = {
    {CHOICE("graphs", graphs, "all|benign|attack|labelled"),
     .help = "load all graphs, only benign ones (y = 0), those with an attack (y = 1), or both of "
             "these"},
    {CHOICE("pack", pack, "ffd|next-fit|bucket|fixed"),
     .help = "how graphs are packed into batches (see docs/can-graphs.md)"},
    {INT("batch", batch, 1, BATCH_MAX), .help = "graphs per batch with --pack fixed"},
    {INT("max-nodes", max_nodes, 0, INT32_MAX),
     .help = "maximum number of nodes per batch; 0: no limit"},
    {INT("max-edges", max_edges, 0, INT32_MAX), .value = "E",
     .help = "maximum number of edges per batch; 0: no limit"},
    {CHOICE("oversize", oversize, "skip|alone|fail"),
     .help = "skip graphs that alone exceed the budget, give each its own batch, or fail"},
    {INT("min-steps", min_steps, 1, STEPS_MAX),
     .help = "make batches smaller so that an epoch has at least N of them"},
    {.name = "seed", .kind = LEAT_SETTING_SEED, AT(seed), .help = "random seed"},
    {CHOICE("curriculum", curriculum, "none|random|scores"),
     .help = "rank benign graphs at random or by scores, and begin with the easy ones"},
    {INT("tiers", tiers, 1, TIERS_MAX), .help = "tiers of the curriculum, from easy to hard"},
    {FACTOR("curriculum-start", curriculum_start), .help = "where the ramp over --epochs begins"},
    {FACTOR("curriculum-end", curriculum_end),
     .help = "where the ramp ends; all tiers are in use then"},
    {INT("epochs", epochs, 0, INT32_MAX), .help = "end after N epochs; 0: never"},
    {CHOICE("preset", preset, "default|reference"),
     .help = "reference: batches as graphids makes them"},
    {LEAT_ORDER_SETTING(leat_graph_batch_options),
     .help =
         "global: graphs of a batch are from anywhere; windowed, for caches larger than memory: "
         "from one window of about SIZE (128M), so that the file is read once an epoch, in "
         "large pieces"},
    {.name = NULL},
};

leat_graph_batch_options leat_graph_batch_options_default(void) {
    return (leat_graph_batch_options){
        .batch = 32,
        .max_nodes = 8192,
        .max_edges = 32768,
        .min_steps = 1,
        .tiers = 10,
        .curriculum_start = 1,
        .curriculum_end = 10,
    };
}

leat_code leat_graph_batch_options_check(const leat_graph_batch_options *options, leat_error *err) {
    LEAT_TRY(leat_settings_check(leat_graph_batch_options_table(), options, err));
    if (options->pack != LEAT_PACK_FIXED && options->max_nodes == 0 && options->max_edges == 0) {
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "max-nodes and max-edges are both 0 (no limit); set one of them, or use pack fixed");
    }
    if (options->window_bytes > 0 && options->preset == LEAT_GRAPHS_REFERENCE) {
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "order windowed is not for preset reference, whose batches are those of the "
            "global order; use order global, or preset default");
    }
    if (options->curriculum == LEAT_CURRICULUM_NONE) return LEAT_OK;
    if (options->graphs == LEAT_FILTER_ATTACK) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "graphs attack leaves out the benign graphs, which a curriculum ranks; "
                         "use curriculum none, or graphs all or benign");
    }
    if (options->epochs == 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "curriculum requires a number of epochs; set epochs (now 0: never ends)");
    }
    if (options->curriculum_start > options->curriculum_end) {
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "curriculum-start: %g is above curriculum-end, %g; tiers can only be added",
            options->curriculum_start, options->curriculum_end);
    }
    return LEAT_OK;
}

static void set_defaults(void *options) {
    *(leat_graph_batch_options *)options = leat_graph_batch_options_default();
}

const leat_setting_table *leat_graph_batch_options_table(void) {
    static const leat_setting_table table = {"a batch of graphs", rows,
                                             sizeof(leat_graph_batch_options), set_defaults};
    return &table;
}
