/* leat batches: its options as the library wants them. */
#include <stdlib.h>
#include <string.h>

#include "batches.h"

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
                                  "--rows: \"%.100s\" is not accepted; it takes rows of the batch "
                                  "as 0,1,2",
                                  text);
        }
        if (*end == 0) break;
        at = end + 1;
    }
    job->options.rows = job->rows;
    job->options.row_count = count + 1;
    return 0;
}

/* The options of room sample have the same names and texts here and there. */
static int read_sample(batches_job *job) {
    const char *name = NULL;
    for (int i = 0; (name = leat_sample_option_name(i)) != NULL; i++) {
        leat_error err = {0};
        const char *text = leat_cli_text(job->run.cli, name);
        if (text == NULL) continue;
        if (leat_sample_option_set(&job->options.sample, name, text, &err) != LEAT_OK)
            return leat_cli_usage(job->run.cli, "--%s: %s", name, err.message);
    }
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
        return leat_cli_usage(cli, "--steps-per-round needs --clients-per-round");
    if (job->options.by_client) job->options.client_weights = leat_cli_text(cli, "client-weights");
    job->options.clients_per_round = leat_cli_int(cli, "clients-per-round");
    job->options.steps_per_round = leat_cli_int(cli, "steps-per-round");
    return 0;
}

static int read_split(batches_job *job) {
    const char *text = leat_cli_text(job->run.cli, "split");
    bool has_train = job->facts.split_rows[LEAT_SPLIT_TRAIN] > 0;
    if (text == NULL) job->options.split = has_train ? LEAT_SPLIT_TRAIN : LEAT_SPLIT_NONE;
    else if (strcmp(text, "train") == 0) job->options.split = LEAT_SPLIT_TRAIN;
    else if (strcmp(text, "test") == 0) job->options.split = LEAT_SPLIT_TEST;
    else
        return leat_cli_usage(job->run.cli,
                              "--split: \"%.100s\" is not accepted; it takes one of train|test for "
                              "probe rows",
                              text);
    return 0;
}

int batches_read_options(batches_job *job) {
    leat_cli *cli = job->run.cli;
    leat_loader_options *options = &job->options;
    *options = leat_loader_options_default();
    int status = read_sample(job);
    if (status == 0) status = read_clients(job);
    if (status == 0) status = read_rows(job);
    if (status == 0) status = read_split(job);
    if (status != 0) return status;
    if (options->rows != NULL && (leat_cli_given(cli, "host") || leat_cli_given(cli, "hosts")))
        return leat_cli_usage(cli, "--rows says which rows are made, --host and --hosts say it "
                                   "too: give one of them");
    options->batch = leat_cli_given(cli, "batch") ? leat_cli_int(cli, "batch") : BATCHES_PROBE_ROWS;
    options->host_index = leat_cli_int(cli, "host");
    options->host_count = leat_cli_int(cli, "hosts");
    options->epochs = leat_cli_int(cli, "epochs");
    if (leat_cli_given(cli, "threads")) options->threads = (int)leat_cli_int(cli, "threads");
    if (leat_cli_given(cli, "prefetch")) options->prefetch = leat_cli_int(cli, "prefetch");
    options->memory_bytes = leat_cli_int(cli, "memory");
    options->io = strcmp(leat_cli_text(cli, "io"), "mmap") == 0 ? LEAT_IO_MMAP : LEAT_IO_PREAD;
    options->on_corrupt = strcmp(leat_cli_text(cli, "on-corrupt"), "fail") == 0 ? LEAT_CORRUPT_FAIL
                                                                                : LEAT_CORRUPT_MASK;
    return 0;
}

/* Digits, or nothing (then *value stays). */
static bool take_number(const char **at, int64_t *value) {
    char *end = NULL;
    if (**at < '0' || **at > '9') return true;
    *value = strtoll(*at, &end, 10);
    *at = end;
    return *value < INT64_MAX;
}

int batches_split_steps(leat_cli *cli, int64_t *first, int64_t *end) {
    const char *text = leat_cli_text(cli, "steps"), *at = text;
    if (text == NULL) return 0;
    if (take_number(&at, first) && *at++ == ':' && take_number(&at, end) && *at == 0) {
        if (text[0] == ':' || *end < 0 || *first <= *end) return 0;
        return leat_cli_usage(cli, "--steps: \"%.100s\" ends before it begins", text);
    }
    return leat_cli_usage(cli,
                          "--steps: \"%.100s\" is not accepted; it takes FIRST:END, END not among "
                          "them: 5:6 is step 5 alone",
                          text);
}

int batches_read_steps(batches_job *job) {
    int64_t count = leat_loader_step_count(job->loader), resumed = leat_loader_step(job->loader);
    job->run.first = resumed;
    job->run.end = count;
    if (leat_cli_text(job->run.cli, "steps") == NULL) {
        if (job->run.words && !job->run.hashes && !job->run.times)
            job->run.end = job->run.first + 1;
        else if (count < 0 && !job->run.times) job->run.end = job->run.first + BATCHES_STEPS;
    } else {
        int status = batches_split_steps(job->run.cli, &job->run.first, &job->run.end);
        if (status != 0) return status;
        if (job->run.first != resumed && leat_cli_given(job->run.cli, "resume"))
            return leat_cli_usage(job->run.cli,
                                  "--steps begins at %lld and the state of --resume at %lld: leave "
                                  "the first step out (:END)",
                                  (long long)job->run.first, (long long)resumed);
        if (job->run.end < 0 && !job->run.times)
            return leat_cli_usage(job->run.cli,
                                  "--steps: \"%.100s\" has no end, and without --epochs "
                                  "the data has none",
                                  leat_cli_text(job->run.cli, "steps"));
    }
    if (count >= 0 && (job->run.end > count || job->run.end < 0)) job->run.end = count;
    job->run.ends = job->run.end >= 0;
    return 0;
}
