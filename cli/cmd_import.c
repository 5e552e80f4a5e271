/* leat import: creates a run from exported or third-party weights. */
#include "command/cli.h"
#include "leat/load_can.h"
#include "leat/train.h"

/* What to do next. */
static void tell(leat_cli *cli, const char *path, const char *data, const char *model) {
    leat_out(cli, "imported to ");
    leat_out_name(cli, path);
    if (data != NULL && leat_can_cache_is_at(data)) {
        leat_out(cli, "; to use it: leat eval ");
        leat_out_name(cli, path);
        leat_out(cli, " ");
        leat_out_name(cli, data);
        leat_out(cli, ", which leat detect needs once");
    }
    if (data != NULL)
        leat_out(cli, "; to train it further: leat train %s DATA --resume -o ", model);
    else leat_out(cli, "; to train from it: leat train %s DATA -o NEW --init ", model);
    leat_out_name(cli, path);
    leat_out(cli, "\n");
}

static int run_import(leat_cli *cli) {
    const char *path = leat_cli_text(cli, "output"), *data = leat_cli_text(cli, "data");
    leat_run *run = NULL;
    leat_run_facts facts;
    leat_error err = {0};
    char note[LEAT_IMPORT_NOTE_BYTES];
    if (leat_run_import(leat_cli_argument(cli, 0), data, path, note, &err) != LEAT_OK ||
        leat_run_open(&run, path, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_run_get_facts(run, &facts);
    tell(cli, path, data, facts.model);
    if (note[0] != 0) leat_cli_note(cli, "%s", note);
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
    {.own.name = "data",
     .own.kind = LEAT_SETTING_PATH,
     .own.value = "DATA",
     .own.help = "the data that the weights are for; leat eval and leat detect need those of a "
                 "detector (a cache)"},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat import model -o run && leat sample run -o grid.png",
     "generate images with an exported model"},
    {"leat import weights.safetensors -o run", "both networks in one file"},
    {"leat import gat.safetensors --data cache -o run && leat eval run cache",
     "evaluate a detector that another program trained"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_import = {
    .words = "import",
    .purpose = "create a run from exported or third-party weights",
    .usage = "FILE|DIR -o RUN [options]",
    .about =
        "Creates a run with one checkpoint, at step 0, from an exported folder, whose config.json "
        "names the model. Weights that leat did not export are recognised as well: of a DCGAN a "
        "safetensors file that contains both networks, with PyTorch state-dict names prefixed "
        "\"G.\" and \"D.\", or a folder with a file for each network, named as in an export; of a "
        "VGAE or GAT a file with the state-dict names of graphids. Only safetensors files are "
        "read.\n\n"
        "With --data, which leat eval and leat detect need, a detector is one of that cache: the "
        "weights do not say which identifier has which number, nor how features were scaled, so "
        "that the cache has to be made as the one that they were trained on "
        "(docs/detect.md).",
    .argument = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .examples = examples,
    .run = run_import,
};
