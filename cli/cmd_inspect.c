/* leat inspect: the contents of a data set as text, one JSON document or a page, and its
 * verification. */
#include "data_kinds.h"
#include "inspect/inspect.h"

static int run_inspect(leat_cli *cli) {
    const leat_data_kind *kind = NULL;
    leat_error err = {0};
    leat_cli_cancellable(cli);
    int status = leat_cli_take_data(cli, &kind);
    if (status != 0) return status;
    status = leat_cli_check_replace(cli);
    if (status == 0) status = leat_page_check(cli, "html");
    if (status != 0) return status;
    const leat_page_places places = leat_page_asked(cli, "html");
    if (leat_page_can_save(&places, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    return kind->inspect(cli);
}

static const leat_cli_option options[] = {
    LEAT_CLI_OPTION_JSON,
    {.own.name = "html",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "FILE",
     .own.help =
         "also write a page with plots: one self-contained file, without scripts or network "
         "access"},
    LEAT_PAGE_OPTIONS,
    {.own.name = "rows",
     .own.kind = LEAT_SETTING_INT,
     .own.max = LEAT_SUMMARY_ROWS_MAX,
     .own.help = "describe N rows in words, evenly spaced over the data set",
     .preset = "3",
     .of = LEAT_CLI_PROBES},
    {.own.name = "read",
     .own.kind = LEAT_SETTING_SIZE,
     .own.value = "SIZE|none",
     .own.choices = "none",
     .own.word_value = LEAT_CLI_NONE,
     .own.max = INT64_MAX,
     .own.help =
         "if rows, graphs or images exceed this size, compute values (round trips, gaps, failures; "
         "features; pixels) from a sample of about this size, selected by their numbers; none: "
         "read all",
     .preset = "4G"},
    {.own.name = "verify",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help =
         "read and check everything: hashes, structure, every row, graph or image, their order, "
         "index or metadata, and that no probe or window is in two splits; exit status 1 if a "
         "problem is found"},
    {.own.name = "memory",
     .own.kind = LEAT_SETTING_SIZE,
     .own.min = 1024,
     .own.max = INT64_MAX,
     .own.help =
         "memory limit for third-party files, not counting mapped files; uses fewer threads if "
         "necessary; a chunk that does not fit is an error that names a sufficient SIZE",
     .preset = "512M",
     .of = LEAT_CLI_PROBES},
    {.own.name = "threads",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = 256,
     .own.usually = "one per processor",
     .own.help = "number of threads; does not change the result"},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat inspect data", "sizes, distributions, largest probes, three rows in words"},
    {"leat inspect data --html data.html", "the same as a page with plots"},
    {"leat inspect data --figures figures", "each plot as SVG, and its numbers as CSV"},
    {"leat inspect data --verify --json | jq .verification", "is every byte correct?"},
    {"leat inspect cache --html cache.html", "the graphs, attacks and features of a CAN cache"},
    {"leat inspect faces --html faces.html", "a contact sheet, the mean image, what was rejected"},
    {"leat inspect run --verify", "the settings and checkpoints of a training run"},
    {0},
};

const leat_cli_command leat_cmd_inspect = {
    .words = "inspect",
    .purpose = "describe and verify a data set: sizes, distributions, hashes",
    .usage = "PATH... [options]",
    .about =
        "Summarises a data set written by an ingest, or third-party ArrayRecord files of "
        "probe rows. Counts, sizes and time spans come from the index and cover every row; "
        "values (round trips, gaps, failures, duplicates, change over time) are read from the "
        "rows, and the output states how many were read. A duplicate equals the measurement "
        "before it of the same probe in all columns.\n\n"
        "For a CAN cache: graphs, nodes and attacks of each split, captures, identifiers, "
        "ranges of features; the page also draws windows as graphs, and a capture over time.\n\n"
        "For an image data set: sizes of the originals, levels and brightness, rejected files; "
        "the page has a contact sheet and the mean image.\n\n"
        "For a training run: data, settings, checkpoints with their scores. Its page is "
        "report.html in the folder of the run.\n\n"
        "With --verify, everything is read and checked, and each problem is listed with its "
        "file and record, graph or line.",
    .argument = "PATH",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_inspect,
};
