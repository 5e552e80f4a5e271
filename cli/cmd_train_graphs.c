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

/* What the command of a model runs, and its options: those of every run with the model's defaults,
 * and the model's settings. */
#define MODEL_OF(model)                                                                            \
    static int run_train_##model(leat_cli *cli) { return leat_train_graphs_command(cli, #model); } \
    const leat_setting_table *leat_train_##model##_settings(void) {                                \
        return leat_train_settings_table(#model);                                                  \
    }                                                                                              \
    static const leat_setting_table *model##_run_options(void) {                                   \
        return leat_train_model_options_table(#model);                                             \
    }                                                                                              \
    static const leat_cli_option model##_options[] = {                                             \
        LEAT_TRAIN_OPTION_CURRICULUM,                                                              \
        LEAT_TRAIN_OPTIONS_OF(model##_run_options, leat_train_##model##_settings,                  \
                              leat_train_graph_words),                                             \
        {0}}

/* Its purpose, and what it trains, are the further arguments. */
#define COMMAND_OF(model, ...)                                                                     \
    {                                                                                              \
        .words = "train " #model, .usage = "CACHE -o RUN [options]", .argument = "CACHE",          \
        .min_arguments = 1, .max_arguments = 1, .options = model##_options,                        \
        .shows_progress = true, .examples = model##_examples, .run = run_train_##model,            \
        __VA_ARGS__                                                                                \
    }

/* ---- leat train vgae ------------------------------------------------------------------------ */

MODEL_OF(vgae);

#define VGAE_EXAMPLE                                                                               \
    {                                                                                              \
        "leat train vgae cache -o run --epochs 1000 --patience 20",                                \
            "train until validation has not improved for 20 epochs"                                \
    }
static const leat_cli_example vgae_examples[] = EXAMPLES_OF("vgae", VGAE_EXAMPLE);

const leat_cli_command leat_cmd_train_vgae =
    COMMAND_OF(vgae, .purpose = "train a detector on benign CAN traffic",
               .about = "Trains a variational graph autoencoder on the graphs of a CAN cache (leat "
                        "ingest can): it learns to reconstruct windows of benign traffic, and "
                        "windows that it reconstructs badly are suspicious. Only benign training "
                        "graphs are used; attack labels are not used.\n\n" ABOUT_RUNS);

/* ---- leat train gat ------------------------------------------------------------------------- */

MODEL_OF(gat);

#define GAT_EXAMPLE                                                                                \
    {                                                                                              \
        "leat train gat cache -o run --epochs 12 --loss weighted",                                 \
            "let a window with an attack weigh as much as 5 benign ones"                           \
    }
static const leat_cli_example gat_examples[] = EXAMPLES_OF("gat", GAT_EXAMPLE);

const leat_cli_command leat_cmd_train_gat =
    COMMAND_OF(gat, .purpose = "train a detector on labelled CAN traffic",
               .about = "Trains a graph attention network on the labelled graphs of a CAN cache "
                        "(leat ingest can): it learns to tell windows with an attack from benign "
                        "ones, and so finds attacks that are like those of its training "
                        "data.\n\n" ABOUT_RUNS);
