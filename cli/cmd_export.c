/* leat export: writes a run's weights for PyTorch and Hugging Face. */
#include "command/cli.h"
#include "leat/train.h"

static int run_export(leat_cli *cli) {
    const char *run = leat_cli_argument(cli, 0), *dir = leat_cli_text(cli, "output");
    const int64_t step = leat_cli_given(cli, "step") ? leat_cli_int(cli, "step") : -1;
    const bool replace = leat_cli_flag(cli, "replace");
    leat_error err = {0};
    if (leat_run_export(run, step, dir, replace, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    leat_out(cli, "exported to ");
    leat_out_name(cli, dir);
    leat_out(cli, "; to publish it:\n  hf upload REPO ");
    leat_out_name(cli, dir);
    leat_out(cli, "\n");
    return 0;
}

static const leat_cli_option options[] = {
    {.own.name = "output",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "DIR",
     .own.help = "folder to write",
     .letter = 'o',
     .required = true},
    {.own.name = "step",
     .own.kind = LEAT_SETTING_INT,
     .own.max = INT64_MAX,
     .own.usually = "the last",
     .own.help = "step of the checkpoint to use"},
    {.own.name = "replace",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "overwrite the files of an earlier export in DIR"},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat export run -o model", "weights for PyTorch, a model card, samples"},
    {"leat export run -o model && hf upload me/faces model", "and publish them"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_export = {
    .words = "export",
    .purpose = "write a run's weights for PyTorch and Hugging Face",
    .usage = "RUN -o DIR [options]",
    .about =
        "Writes a checkpoint as a folder in Hugging Face's layout: weights with the names of a "
        "PyTorch state dict, config.json, and README.md (a model card with the facts of the "
        "run).\n\n"
        "Of a DCGAN, the weights are generator.safetensors and discriminator.safetensors, the "
        "card has the classes to load them with, and samples.png shows what it generates. The "
        "running statistics of the generator are those that leat sample computes, so PyTorch "
        "in eval() mode generates the same images.",
    .argument = "RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .examples = examples,
    .run = run_export,
};
