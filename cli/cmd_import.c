/* leat import: creates a run from exported or third-party weights. */
#include "command/cli.h"
#include "leat/train.h"

static int run_import(leat_cli *cli) {
    const char *path = leat_cli_text(cli, "output");
    leat_run *run = NULL;
    leat_run_facts facts;
    leat_error err = {0};
    if (leat_run_import(leat_cli_argument(cli, 0), path, &err) != LEAT_OK ||
        leat_run_open(&run, path, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_run_get_facts(run, &facts);
    leat_out(cli, "imported to ");
    leat_out_name(cli, path);
    leat_out(cli, "; to train from it: leat train %s DATA -o NEW --init ", facts.model);
    leat_out_name(cli, path);
    leat_out(cli, "\n");
    leat_run_close(run);
    return 0;
}

static const leat_cli_option options[] = {
    {.own.name = "output",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "RUN",
     .own.help = "run folder to create",
     .letter = 'o',
     .required = true},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat import model -o run && leat sample run -o grid.png",
     "generate images with an exported model"},
    {"leat import weights.safetensors -o run", "both networks in one file"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_import = {
    .words = "import",
    .purpose = "create a run from exported or third-party weights",
    .usage = "FILE|DIR -o RUN",
    .about =
        "Creates a run with one checkpoint, at step 0, from an exported folder, whose config.json "
        "names the model. Weights of a DCGAN that leat did not export are recognised as well: a "
        "safetensors file that contains both networks, with PyTorch state-dict names prefixed "
        "\"G.\" and \"D.\", or a folder with a file for each network, named as in an export. Only "
        "safetensors files are read.",
    .argument = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .examples = examples,
    .run = run_import,
};
