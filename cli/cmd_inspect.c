/*
 * leat inspect: what is in a data set, as text, as one JSON document, as a page; and whether all of
 * it is right.
 *
 * Verification comes first: a damaged data set that cannot be summarised is still told of.
 */
#include <stdio.h>
#include <string.h>

#include "inspect.h"

static leat_code verify(leat_cli *cli, leat_verify_report **out, leat_error *err) {
    leat_verify_options options = leat_verify_options_default();
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    leat_code code =
        leat_verify(leat_cli_arguments(cli), leat_cli_argument_count(cli), &options, out, err);
    leat_cli_progress_end(cli);
    return code;
}

static leat_code summarise(leat_cli *cli, leat_summary **out, leat_error *err) {
    leat_summary_options options = leat_summary_options_default();
    leat_dataset *dataset = NULL;
    *out = NULL;
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    options.read_bytes_max = leat_cli_int(cli, "read");
    options.row_count = leat_cli_int(cli, "rows");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    leat_code code = leat_dataset_open(&dataset, leat_cli_arguments(cli),
                                       leat_cli_argument_count(cli), NULL, err);
    if (code == LEAT_OK) code = leat_summary_create(out, dataset, &options, err);
    leat_dataset_close(dataset);
    leat_cli_progress_end(cli);
    return code;
}

static int write_report(leat_cli *cli, const leat_report *report, const leat_error *failure) {
    leat_error err = {0};
    int status = 0;
    if (leat_cli_flag(cli, "json")) status = leat_out_object(cli, leat_report_json, report);
    else leat_report_terminal(cli, report);
    if (failure->code != LEAT_OK) return leat_cli_fail(cli, failure);
    if (leat_cli_text(cli, "html") != NULL) {
        if (leat_page_save(leat_cli_text(cli, "html"), leat_report_page, report, &err) != LEAT_OK)
            return leat_cli_fail(cli, &err);
        if (!leat_cli_flag(cli, "json"))
            leat_out(cli, "\n  page written to %s\n", leat_cli_text(cli, "html"));
    }
    return report->verify != NULL && report->verify->problem_count > 0 ? 1 : status;
}

static int run_inspect(leat_cli *cli) {
    leat_verify_report *checked = NULL;
    leat_summary *summary = NULL;
    leat_error err = {0};
    leat_cli_data data = LEAT_CLI_ANY;
    int status = leat_cli_take_data(cli, &data);
    if (status != 0) return status;
    if (leat_cli_given(cli, "html") && leat_text_can_save(leat_cli_text(cli, "html"), &err))
        return leat_cli_fail(cli, &err);
    leat_cli_cancellable(cli);
    if (data == LEAT_CLI_CAN) return leat_inspect_can(cli);
    if (leat_cli_flag(cli, "verify") && verify(cli, &checked, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_code code = summarise(cli, &summary, &err);
    if (code != LEAT_OK && (checked == NULL || code == LEAT_ERR_CANCELLED)) {
        status = leat_cli_fail(cli, &err);
    } else {
        leat_report report = {leat_cli_argument(cli, 0), summary, checked};
        status = write_report(cli, &report, &err);
    }
    leat_summary_destroy(summary);
    leat_verify_report_destroy(checked);
    return status;
}

static const leat_cli_option options[] = {
    LEAT_CLI_OPTION_JSON,
    {.name = "html",
     .kind = LEAT_CLI_TEXT,
     .value = "FILE",
     .help =
         "write a page with plots too: one file that needs nothing else, no network, no script"},
    {.name = "rows",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "describe N rows in words, spread evenly over the data set",
     .preset = "3",
     .min = 0,
     .max = LEAT_SUMMARY_ROWS_MAX,
     .of = LEAT_CLI_PROBES},
    {.name = "read",
     .kind = LEAT_CLI_SIZE_OR_NONE,
     .value = "SIZE",
     .help = "where rows or graphs take more than this, look for values (round trips, gaps, "
             "failures; features) in a sample of about this size, chosen by number alone; none: "
             "read all",
     .preset = "4G",
     .min = 0},
    {.name = "verify",
     .kind = LEAT_CLI_FLAG,
     .help = "read everything and check everything: hashes, structure, every row or graph, their "
             "order, index or metadata, that no probe or window is in two splits; exit status 1 if "
             "something is wrong"},
    {.name = "threads",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "read with N threads, which changes nothing in the result (default: all processors)",
     .min = 1,
     .max = 256},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat inspect data", "sizes, distributions, largest probes, three rows in words"},
    {"leat inspect data --html data.html", "the same as a page with plots"},
    {"leat inspect data --verify --json | jq .verification", "is every byte right?"},
    {"leat inspect cache --html cache.html", "the graphs, attacks and features of a CAN cache"},
    {0},
};

const leat_cli_command leat_cmd_inspect = {
    .words = "inspect",
    .purpose = "what is in a data set or CAN cache: sizes, distributions; verification",
    .usage = "PATH... [options]",
    .about = "Looks at a data set that an ingest wrote, or at ArrayRecord files of probe rows "
             "written by others. Counts, sizes and time spans come from the index and are of every "
             "row; values (round trips, gaps, failures, the course over time) are read from the "
             "rows, and the output says of how many.\n\n"
             "Of a CAN cache: graphs, nodes and attacks of each split, captures, identifiers that "
             "training does not know, ranges of features.\n\n"
             "With --verify everything is read and checked, and each thing found wrong is named "
             "with file and record or graph.",
    .argument = "PATH",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = options,
    .examples = examples,
    .run = run_inspect,
};
