/*
 * leat batches: builds the training batches of a data set to show, hash, time or explain them, and
 * saves and resumes their state. Each kind of data has its own loader; cli/batches/run.c holds what
 * they share.
 */
#include "data_kinds.h"
#include "leat/load.h"
#include "leat/load_can.h"
#include "leat/load_images.h"
#include "page/page.h"

/* Building or describing batches is a different job from a report. */
static int refuse_jobs(leat_cli *cli) {
    static const char *const others[] = {"hash",    "time",   "words",
                                         "explain", "resume", "save-state"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (leat_cli_given(cli, others[i]))
            return leat_cli_usage(cli,
                                  "--report and --%s cannot be combined; run them one at a "
                                  "time",
                                  others[i]);
    }
    return 0;
}

/* Fails before data is read or copied if a file cannot be written at the end. */
static int check_outputs(leat_cli *cli) {
    const leat_page_places places = leat_page_asked(cli, "report");
    const char *state = leat_cli_text(cli, "save-state");
    leat_error err = {0};
    if (leat_page_can_save(&places, &err) != LEAT_OK ||
        (state != NULL &&
         leat_text_can_save(state, LEAT_MARK_STATE, places.replace, &err) != LEAT_OK))
        return leat_cli_fail(cli, &err);
    return 0;
}

static int check_figures(leat_cli *cli) {
    if (leat_cli_given(cli, "figures") && !leat_cli_given(cli, "report"))
        return leat_cli_usage(cli, "--figures requires --report, which names the page");
    const int status = leat_page_check(cli, "report");
    return status != 0 ? status : leat_cli_check_replace(cli);
}

static int run_batches(leat_cli *cli) {
    const leat_data_kind *kind = NULL;
    leat_cli_cancellable(cli);
    int status = leat_cli_take_data(cli, &kind);
    if (status == 0 && leat_cli_given(cli, "report")) status = refuse_jobs(cli);
    if (status == 0) status = check_figures(cli);
    if (status == 0) status = check_outputs(cli);
    return status != 0 ? status : kind->batches(cli);
}

/* ---- The command -------------------------------------------------------------------------- */

#define OR(model, name) "|" name
static const leat_cli_option options[] = {
    LEAT_CLI_OPTION_JSON,
    {.own.name = "split",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "train|test|...",
     .own.help =
         "split to load: train, test or all (default: train; of third-party files that have no "
         "training rows, all); for a CAN cache train, val, test_NAME, or all, one after the other "
         "(default: train)"},
    {.table = leat_sampler_options_table, .of = LEAT_CLI_PROBES},
    {.own.name = "by",
     .own.kind = LEAT_SETTING_CHOICE,
     .own.choices = "client",
     .own.help = "take each row of a batch from a different probe; disables epochs",
     .of = LEAT_CLI_PROBES},
    {.table = leat_loader_options_table, .of = LEAT_CLI_PROBES},
    {.own.name = "addresses",
     .own.kind = LEAT_SETTING_PATH,
     .own.value = "FILE",
     .own.help = "CSV with src_id and src_addr, for rows without a source address",
     .of = LEAT_CLI_PROBES},
    {.own.name = "rows",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "A,B,C",
     .own.help = "build these rows of each batch, in this order, instead of the rows of one host",
     .of = LEAT_CLI_PROBES},
    {.own.name = "steps",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "FIRST:END",
     .own.help =
         "steps to build, END excluded, counted from 0 across all epochs; either may be omitted "
         "(default: 10 steps, or to the end of --epochs)"},
    {.own.name = "hash",
     .own.kind = LEAT_SETTING_CHOICE,
     .own.value = "rows",
     .own.choices = "all|rows",
     .own.help = "print one SHA-256 over all rows; with =rows, one line per row: step, row "
                 "(graphs: epoch, batch) and the SHA-256 of its arrays",
     .bare = "all"},
    {.own.name = "time",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "print rates; runs for 3 seconds unless --steps is given"},
    {.own.name = "words",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "print the sequences in words (default: one step)",
     .of = LEAT_CLI_PROBES},
    {.own.name = "explain",
     .own.kind = LEAT_SETTING_INT,
     .own.value = "STEP [ROW]",
     .own.max = INT64_MAX,
     .own.help =
         "describe the contents of this row of the batch: shard, record, measurements; for a CAN "
         "cache (no ROW), the contents of the batch: graphs, files, windows, attacks; for an image "
         "data set (ROW may be omitted), the image",
     .may_have_second = true},
    {.own.name = "report",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "FILE",
     .own.help =
         "write an HTML page with plots of batch contents: padding compared with other packings, "
         "time scales, tokens, repeats; for graphs, fill, sizes, attacks and tiers; covers "
         "--steps, or one epoch (at most 16,384 sequences); with --json, also print its numbers; "
         "not for image data sets"},
    LEAT_PAGE_OPTIONS,
    {.own.name = "resume",
     .own.kind = LEAT_SETTING_PATH,
     .own.value = "FILE",
     .own.help = "start from the state in FILE"},
    {.own.name = "save-state",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "FILE",
     .own.help = "write the state to FILE at the end, even after a failure or a signal"},
    {.own.name = "curriculum",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "none|random|FILE",
     .own.help = "rank benign graphs, at random or by the scores in FILE (JSON), and start with "
                 "the easy ones",
     .of = LEAT_CLI_CAN,
     .preset = "none"},
    {.table = leat_graph_batch_options_table, .of = LEAT_CLI_CAN},
    {.table = leat_graph_loader_options_table, .of = LEAT_CLI_CAN},
    {.own.name = "device-memory",
     .own.kind = LEAT_SETTING_SIZE,
     .own.min = 1,
     .own.max = INT64_MAX,
     .own.help = "set --max-nodes and --max-edges so that a training step of --model uses at most "
                 "this much device memory, and print both",
     .of = LEAT_CLI_CAN},
    {.own.name = "model",
     .own.kind = LEAT_SETTING_CHOICE,
     .own.choices = &("" LEAT_GRAPH_MODEL_TABLE(OR))[1], /* without the first | */
     .own.help = "model to budget for with --device-memory",
     .of = LEAT_CLI_CAN},
    {.table = leat_image_loader_options_table, .of = LEAT_CLI_IMAGES},
    {.own.name = "stage",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "DIR",
     .own.help =
         "copy the cache to fast storage, verified, unless it is already there, and load from the "
         "copy; the copy is kept",
     .of = LEAT_CLI_CAN},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat batches data --time", "how fast batches are built, and how full they are"},
    {"leat batches data --words --steps 0:1 --batch 1", "one sequence in words"},
    {"leat batches data --batch 120 --steps 0:100 --hash",
     "one hash that is the same on every machine that builds these batches"},
    {"leat batches data --batch 120 --host 2 --hosts 8 --steps 0:100 --hash=rows",
     "one line per row of host 2 of 8; sorted together with the lines of the other hosts, they "
     "list all rows"},
    {"leat batches data --steps 0:50 --save-state state.json && leat batches data --resume "
     "state.json --steps :100",
     "steps 0 to 99 in two runs"},
    {"leat batches data --report batches.html", "contents of batches, as a page with plots"},
    {"leat batches data --explain 1000000 3", "contents of row 3 of step 1,000,000"},
    {"leat batches cache --device-memory 16G --model gat", "batches sized to fill a device, and "
                                                           "the memory model used"},
    {"leat batches cache --graphs benign --split all --report batches.html",
     "batches of benign graphs alone, of each split"},
    {"leat batches faces --as float --time", "how fast batches of images are built, as floats"},
    {"leat batches cache --curriculum scores.json --epochs 300 --report batches.html",
     "fill and attacks of graph batches, tiers of the curriculum"},
    {0},
};

const leat_cli_command leat_cmd_batches = {
    .words = "batches",
    .purpose = "make training batches of a data set",
    .usage = "PATH... [options]",
    .about =
        "Builds the batches that a training run receives: six int32 arrays of tokens, targets, "
        "positions and segments per row. Without --hash, --words, --explain or --report, it builds "
        "a few and reports how full they are.\n\n"
        "The bytes are a function of the rows of the data set, --split, --seed, --batch, --order, "
        "the options from --sampler to --boundary and, with --by client, of its weights and "
        "rounds. Threads, hosts, prefetch, --io, compression and the starting step do not change "
        "them.\n\n"
        "For a CAN cache, a batch is a union of window graphs: the features of all their nodes and "
        "the endpoints of all their edges. Graphs are assigned to batches anew each epoch, so "
        "epochs may differ in their number of batches. The bytes are a function of --split, "
        "--seed, --batch, the options from --graphs to --model, --order among them, and, with a "
        "curriculum, --epochs and its scores.\n\n"
        "For an image data set, a batch is images as levels or floats; every epoch has each image "
        "once, in an order drawn anew. The bytes are a function of the pixels, --seed, --batch, "
        "--as and --order.\n\n"
        "PATH is a folder written by an ingest, or ArrayRecord files of probe rows. All data is "
        "verified as it is read.",
    .argument = "PATH",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_batches,
};
