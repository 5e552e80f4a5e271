/* leat cat: the complete records of a data set as text. */
#include "data_kinds.h"

static int run_cat(leat_cli *cli) {
    const leat_data_kind *kind = NULL;
    int status = leat_cli_take_data(cli, &kind);
    if (status == 0) status = leat_cli_check_replace(cli);
    return status != 0 ? status : kind->cat(cli);
}

static const leat_cli_option options[] = {
    {.own.name = "format",
     .own.kind = LEAT_SETTING_CHOICE,
     .own.choices = "ndjson|csv|words",
     .own.help =
         "ndjson: one measurement, graph or image per line; csv: measurements only (both of "
         "measurements are complete and can be ingested again); words: for reading",
     .letter = 'f',
     .preset = "ndjson"},
    {.own.name = "rows",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "FIRST:END",
     .own.help =
         "rows to write, counted from 0, END excluded; either may be omitted, and a single number "
         "selects that row",
     .of = LEAT_CLI_PROBES},
    {.own.name = "src",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "ADDRESS",
     .own.help = "write only measurements of the source with this address, spelled as in the input",
     .of = LEAT_CLI_PROBES},
    {.own.name = "graph",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "I",
     .own.help = "graph of the split to write, counted from 0; or graphs FIRST:END, END excluded, "
                 "and : for all; without this option the first",
     .of = LEAT_CLI_CAN},
    {.own.name = "split",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "NAME",
     .own.help = "split to write: train, val or a test split; leat inspect lists them",
     .preset = "train",
     .of = LEAT_CLI_CAN},
    {.own.name = "scale",
     .own.kind = LEAT_SETTING_CHOICE,
     .own.choices = "none|stored",
     .own.help = "none: features as stored; stored: scaled by the cache's scaler, as in loading",
     .preset = "none",
     .of = LEAT_CLI_CAN},
    {.own.name = "image",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "I",
     .own.help =
         "image to write: its number, counted from 0, or its name; or images FIRST:END, END "
         "excluded; otherwise all of them",
     .of = LEAT_CLI_IMAGES},
    {.own.name = "output",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "FILE",
     .own.help = "also write the pixels of --image to FILE, as PNG",
     .letter = 'o',
     .of = LEAT_CLI_IMAGES},
    {.own.name = "replace",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "let --output overwrite an existing file even if leat did not write it",
     .of = LEAT_CLI_IMAGES},
    {.own.name = "memory",
     .own.kind = LEAT_SETTING_SIZE,
     .own.min = 1024,
     .own.max = INT64_MAX,
     .own.help =
         "memory limit for third-party files, not counting mapped files; a chunk that does not fit "
         "is an error that names a sufficient SIZE",
     .preset = "512M",
     .of = LEAT_CLI_PROBES},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat cat data | head", "the first measurements as JSON, one per line"},
    {"leat cat data --format csv --src 192.0.2.7 > probe.csv", "all measurements of one probe"},
    {"leat cat data/test/test_shard_00000.arrayrecord --format words --rows 0:3",
     "three rows of one shard in words"},
    {"leat cat cache --graph 5 --format words", "a window of CAN frames as a graph, in words"},
    {"leat cat faces --image 7 -o face.png", "an image as it is stored, and what is known of it"},
    {0},
};

const leat_cli_command leat_cmd_cat = {
    .words = "cat",
    .purpose = "print the measurements, graphs or images of a data set",
    .usage = "PATH... [options]",
    .about =
        "Writes the measurements of a data set, or of ArrayRecord files of probe rows, to stdout: "
        "all columns, row by row, in file order. Round-trip times are printed with the fewest "
        "digits that read back as the same number.\n\n"
        "For a CAN cache, it writes the graphs of one split: all tensors of a graph on one JSON "
        "line, with the capture, frames and identifiers that it was built from.\n\n"
        "For an image data set, it lists the images: number, name, and the size and hash of the "
        "original; with -o, it writes one of them as PNG.\n\n"
        "Data is verified before it is written; a damaged record ends the output with an error "
        "that names it.",
    .argument = "PATH",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_cat,
};
