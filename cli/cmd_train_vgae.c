/* leat train vgae: trains a detector on graphs of benign traffic. */
#include "train/train.h"

static int run_train_vgae(leat_cli *cli) { return leat_train_graphs_command(cli, "vgae"); }

const leat_setting_table *leat_train_vgae_settings(void) {
    return leat_train_settings_table("vgae");
}
static const leat_setting_table *run_options(void) {
    return leat_train_model_options_table("vgae");
}

static const leat_cli_option options[] = {
    LEAT_TRAIN_OPTION_CURRICULUM,
    LEAT_TRAIN_OPTIONS_OF(run_options, leat_train_vgae_settings, leat_train_graph_words),
    {0}};

static const leat_cli_example examples[] = {
    {"leat train vgae cache -o run --epochs 12", "train, and look at run/report.html meanwhile"},
    {"leat train vgae cache --epochs 12 --dry-run", "estimate memory and time"},
    {"leat train vgae cache -o run --epochs 1000 --patience 20",
     "train until validation has not improved for 20 epochs"},
    {"leat train vgae cache -o run --resume", "continue a run that was interrupted"},
    {"leat train vgae cache -o same --config run/config.yaml",
     "repeat a run: the same weights, bit for bit"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_train_vgae = {
    .words = "train vgae",
    .purpose = "train a detector on benign CAN traffic",
    .usage = "CACHE -o RUN [options]",
    .about =
        "Trains a variational graph autoencoder on the graphs of a CAN cache (leat ingest can): "
        "it learns to reconstruct windows of benign traffic, and windows that it reconstructs "
        "badly are suspicious. Only benign training graphs are used; attack labels decide "
        "nothing.\n\n"
        "The weights after a step are a function of the graphs, the settings and the seed: the "
        "same bits for any number of threads, on any processor, and after any interruption. A "
        "micro-batch is a batch of graphs, planned anew for each epoch; a unit is --unit-size of "
        "them, and a step --units units. The last step of an epoch has what is left.\n\n"
        "RUN receives config.yaml, training.json, detector.json (what the data decide: "
        "identifiers, scaler, window), metrics.jsonl (a line per step), checkpoints/ and "
        "report.html, which is updated during training. Ctrl-C saves the state and stops; "
        "--resume continues.",
    .argument = "CACHE",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_train_vgae,
};
