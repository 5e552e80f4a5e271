/* leat batches: its options in the form that the library takes. */
#include <stdlib.h>

#include "batches/batches.h"

/* "3,1,2" as numbers. */
static int read_rows(batches_job *job) {
    const char *text = leat_cli_text(job->run.cli, "rows");
    int64_t count = 0;
    if (text == NULL) return 0;
    for (const char *at = text;; count++) {
        char *end = NULL;
        if (count == BATCHES_ROWS_MAX)
            return leat_cli_usage(job->run.cli, "--rows takes at most %d rows", BATCHES_ROWS_MAX);
        if (*at >= '0' && *at <= '9') job->rows[count] = strtoll(at, &end, 10);
        if (end == NULL || (*end != ',' && *end != 0)) {
            return leat_cli_usage(job->run.cli,
                                  "--rows: \"%.100s\" is not accepted; it takes rows of the batch, "
                                  "for example 0,1,2",
                                  text);
        }
        if (*end == 0) break;
        at = end + 1;
    }
    job->options.rows = job->rows;
    job->options.row_count = count + 1;
    return 0;
}

static int read_clients(batches_job *job) {
    leat_cli *cli = job->run.cli;
    static const char *const needs_client[] = {"client-weights", "clients-per-round",
                                               "steps-per-round"};
    job->options.by_client = leat_cli_given(cli, "by");
    for (int i = 0; i < 3; i++) {
        if (leat_cli_given(cli, needs_client[i]) && !job->options.by_client)
            return leat_cli_usage(cli, "--%s is for --by client", needs_client[i]);
    }
    if (leat_cli_given(cli, "steps-per-round") && !leat_cli_given(cli, "clients-per-round"))
        return leat_cli_usage(cli, "--steps-per-round requires --clients-per-round");
    return 0;
}

/* Without --split, it is train; of third-party files that have no such rows, all. Not of a data set
 * whose train is empty: its test probes would be trained on. */
static int read_split(batches_job *job) {
    const char *text = leat_cli_text(job->run.cli, "split");
    bool no_train = job->facts.split_rows[LEAT_SPLIT_TRAIN] == 0;
    leat_error err = {0};
    if (text == NULL && no_train && !job->facts.indexed) text = "all";
    if (text == NULL) return 0;
    if (leat_settings_set(leat_loader_options_table(), &job->options, "split", text, &err) !=
        LEAT_OK)
        return leat_cli_usage(job->run.cli, "--%s", err.message);
    return 0;
}

int batches_read_options(batches_job *job) {
    leat_cli *cli = job->run.cli;
    leat_loader_options *options = &job->options;
    int status = leat_cli_set(cli, leat_sampler_options_table(), &options->sample);
    if (status == 0) status = read_clients(job);
    if (status == 0) status = read_rows(job);
    if (status == 0) status = read_split(job);
    if (status != 0) return status;
    if (options->rows != NULL && (leat_cli_given(cli, "host") || leat_cli_given(cli, "hosts")))
        return leat_cli_usage(cli, "--rows and --host or --hosts both select rows; give only one "
                                   "of them");
    return 0;
}
