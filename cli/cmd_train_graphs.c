/* leat train vgae, leat train gat: train a detector, on graphs of benign traffic or on labelled
 * ones. They have the same options but for those of the model, and the same runs. */
#include "train/train.h"

#define ABOUT_RUNS                                                                                 \
    "The weights after a step are a function of the graphs, the settings and the seed: the same "  \
    "bits for any number of threads, on any processor, and after any interruption. A "             \
    "micro-batch is a batch of graphs, planned anew for each epoch; a unit is --unit-size of "     \
    "them, and a step --units units. The last step of an epoch has what is left.\n\n"              \
    "RUN receives config.yaml, training.json, detector.json (what the data decide: "               \
    "identifiers, scaler, window), metrics.jsonl (a line per step), checkpoints/ and "             \
    "report.html, which is updated during training. Ctrl-C saves the state and stops; "            \
    "--resume continues."

#define EXAMPLES_OF(model, own)                                                                    \
    {                                                                                              \
        {"leat train " model " cache -o run --epochs 12",                                          \
         "train, and look at run/report.html meanwhile"},                                          \
            {"leat train " model " cache --epochs 12 --dry-run", "estimate memory and time"}, own, \
            {"leat train " model " cache -o run --resume", "continue a run that was interrupted"}, \
            {"leat train " model " cache -o same --config run/config.yaml",                        \
             "repeat a run: the same weights, bit for bit"},                                       \
        {                                                                                          \
            .line = NULL                                                                           \
        }                                                                                          \
    }

/* Its purpose, and what it trains, are the further arguments. */
#define COMMAND_OF(model, run_it, its_options, its_examples, ...)                                  \
    {                                                                                              \
        .words = "train " model, .usage = "CACHE -o RUN [options]", .argument = "CACHE",           \
        .min_arguments = 1, .max_arguments = 1, .options = (its_options), .shows_progress = true,  \
        .examples = (its_examples), .run = (run_it), __VA_ARGS__                                   \
    }

/* ---- leat train vgae ------------------------------------------------------------------------ */

static int run_train_vgae(leat_cli *cli) { return leat_train_graphs_command(cli, "vgae"); }

const leat_setting_table *leat_train_vgae_settings(void) {
    return leat_train_settings_table("vgae");
}
static const leat_setting_table *vgae_run_options(void) {
    return leat_train_model_options_table("vgae");
}

static const leat_cli_option vgae_options[] = {
    LEAT_TRAIN_OPTION_CURRICULUM,
    LEAT_TRAIN_OPTIONS_OF(vgae_run_options, leat_train_vgae_settings, leat_train_graph_words),
    {0}};

#define VGAE_EXAMPLE                                                                               \
    {                                                                                              \
        "leat train vgae cache -o run --epochs 1000 --patience 20",                                \
            "train until validation has not improved for 20 epochs"                                \
    }
static const leat_cli_example vgae_examples[] = EXAMPLES_OF("vgae", VGAE_EXAMPLE);

const leat_cli_command leat_cmd_train_vgae =
    COMMAND_OF("vgae", run_train_vgae, vgae_options, vgae_examples,
               .purpose = "train a detector on benign CAN traffic",
               .about = "Trains a variational graph autoencoder on the graphs of a CAN cache (leat "
                        "ingest can): it learns to reconstruct windows of benign traffic, and "
                        "windows that it reconstructs badly are suspicious. Only benign training "
                        "graphs are used; attack labels are not used.\n\n" ABOUT_RUNS);

/* ---- leat train gat ------------------------------------------------------------------------- */

static int run_train_gat(leat_cli *cli) { return leat_train_graphs_command(cli, "gat"); }

const leat_setting_table *leat_train_gat_settings(void) { return leat_train_settings_table("gat"); }
static const leat_setting_table *gat_run_options(void) {
    return leat_train_model_options_table("gat");
}

static const leat_cli_option gat_options[] = {
    LEAT_TRAIN_OPTION_CURRICULUM,
    LEAT_TRAIN_OPTIONS_OF(gat_run_options, leat_train_gat_settings, leat_train_graph_words),
    {0}};

#define GAT_EXAMPLE                                                                                \
    {                                                                                              \
        "leat train gat cache -o run --epochs 12 --loss weighted",                                 \
            "let a window with an attack weigh as much as 5 benign ones"                           \
    }
static const leat_cli_example gat_examples[] = EXAMPLES_OF("gat", GAT_EXAMPLE);

const leat_cli_command leat_cmd_train_gat =
    COMMAND_OF("gat", run_train_gat, gat_options, gat_examples,
               .purpose = "train a detector on labelled CAN traffic",
               .about = "Trains a graph attention network on the labelled graphs of a CAN cache "
                        "(leat ingest can): it learns to tell windows with an attack from benign "
                        "ones, and so finds attacks that are like those of its training "
                        "data.\n\n" ABOUT_RUNS);
