/*
 * leat batches: training batches of a data set: looked at, hashed, timed, explained; their state
 * saved and resumed.
 */
#include <string.h>

#include "batches.h"

/* ---- One batch after the other ------------------------------------------------------------ */

static leat_code write_words(batches_job *job, const leat_batch *batch, leat_error *err) {
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < batch->row_count && code == LEAT_OK; i++) {
        leat_textbuf_printf(job->text, "step %lld row %lld\n", (long long)batch->step,
                            (long long)batch->rows[i]);
        code = leat_tokens_words(batch->inputs + i * batch->length,
                                 batch->inputs_segmentation + i * batch->length,
                                 (int32_t)batch->length, job->text, err);
    }
    return code;
}

/* What is to be written of a batch goes into `text` first, which --json keeps and others flush. */
static leat_code take_batch(batches_job *job, const leat_batch *batch, leat_error *err) {
    const char *text = NULL;
    int64_t size_bytes = 0;
    leat_textbuf *lines = NULL;
    if (!job->lines && !job->words) {
        if (job->hashes) leat_batch_hash_add(job->hash, batch, NULL);
        return LEAT_OK;
    }
    leat_code code = leat_textbuf_create(&lines, err);
    if (code != LEAT_OK) return code;
    job->text = lines;
    if (job->hashes) leat_batch_hash_add(job->hash, batch, job->lines ? lines : NULL);
    if (job->words) code = write_words(job, batch, err);
    if (code == LEAT_OK) code = leat_textbuf_finish(lines, &text, &size_bytes, err);
    if (code == LEAT_OK && job->json) leat_textbuf_append(job->kept, text, size_bytes);
    else if (code == LEAT_OK) leat_out_bytes(job->cli, text, size_bytes);
    leat_textbuf_destroy(lines);
    return code;
}

/* Whether the next step is still wanted. */
static bool goes_on(batches_job *job) {
    leat_progress progress = {"batches", "steps", job->done - job->first,
                              job->end < 0 ? -1 : job->end - job->first};
    if (leat_out_broken(job->cli)) return false;
    bool more = job->end < 0 || job->done < job->end;
    if (!leat_cli_progress(job->cli, &progress)) {
        job->stopped = job->end >= 0 && more;
        return false;
    }
    if (job->end >= 0) return more;
    return leat_cli_clock_ns() - job->begun_ns < BATCHES_TIME_NS;
}

static leat_code run_steps(batches_job *job, leat_error *err) {
    const leat_batch *batch = NULL;
    leat_code code = LEAT_OK;
    job->begun_ns = leat_cli_clock_ns();
    for (job->done = job->first; code == LEAT_OK && goes_on(job); job->done++) {
        /* a wait may be long, and a signal must still end it */
        while (!leat_loader_wait(job->loader, 200)) {
            if (goes_on(job)) continue;
            job->ended_ns = leat_cli_clock_ns();
            return LEAT_OK;
        }
        code = leat_loader_next(job->loader, &batch, err);
        if (code != LEAT_OK || batch == NULL) break; /* NULL: steps end, those without epochs too */
        code = take_batch(job, batch, err);
        leat_batch_release(batch);
        if (code != LEAT_OK) break;
    }
    job->ended_ns = leat_cli_clock_ns();
    return code;
}

/* ---- What the command does ---------------------------------------------------------------- */

static int explain(batches_job *job) {
    leat_explanation *explanation = NULL;
    leat_error err = {0};
    int status = 0;
    if (leat_loader_explain(job->loader, leat_cli_int(job->cli, "explain"),
                            leat_cli_second(job->cli, "explain"), &explanation, &err) != LEAT_OK)
        return leat_cli_fail(job->cli, &err);
    if (job->json) status = batches_json_explanation(job, explanation);
    else status = batches_write_explanation(job, explanation);
    leat_explanation_destroy(explanation);
    return status;
}

static int write_results(batches_job *job) {
    char hash[65];
    if (job->json) return batches_json_summary(job);
    leat_cli_progress_end(job->cli);
    if (job->hashes && !job->lines) {
        leat_batch_hash_text(job->hash, hash);
        leat_out(job->cli, "%s\n", hash);
    }
    if (job->times || (!job->hashes && !job->words)) batches_write_summary(job);
    return batches_note_quarantine(job);
}

/* A hash of fewer steps than were asked for would look like one of all of them. */
static int write_stopped(batches_job *job, const char *state) {
    leat_cli_note(job->cli, "stopped before step %lld of %lld to %lld%s%s", (long long)job->done,
                  (long long)job->first, (long long)job->end - 1,
                  state == NULL ? "" : "; --resume goes on with the state in ",
                  state == NULL ? "" : state);
    if (!job->hashes && !job->json) (void)write_results(job);
    return 1;
}

static int make_batches(batches_job *job) {
    leat_error err = {0};
    const char *state = leat_cli_text(job->cli, "save-state");
    int status = batches_read_steps(job);
    if (status == 0 && state != NULL && leat_text_can_save(state, &err) != LEAT_OK)
        status = leat_cli_fail(job->cli, &err);
    if (status == 0 && leat_loader_seek(job->loader, job->first, &err) != LEAT_OK)
        status = leat_cli_fail(job->cli, &err);
    if (status != 0) return status;
    if (leat_batch_hash_create(&job->hash, &err) != LEAT_OK) return leat_cli_fail(job->cli, &err);
    if (leat_textbuf_create(&job->kept, &err) != LEAT_OK) return leat_cli_fail(job->cli, &err);
    leat_cli_cancellable(job->cli);
    leat_code code = run_steps(job, &err);
    leat_cli_progress_end(job->cli);
    if (code != LEAT_OK) status = leat_cli_fail(job->cli, &err);
    /* the state is that of the step that was not made, so that a run can go on behind a failure */
    if (state != NULL && leat_loader_save(job->loader, state, &err) != LEAT_OK)
        return leat_cli_fail(job->cli, &err);
    if (status == 0) return job->stopped ? write_stopped(job, state) : write_results(job);
    (void)batches_note_quarantine(job);
    return status;
}

static int with_loader(batches_job *job) {
    leat_error err = {0};
    const char *state = leat_cli_text(job->cli, "resume");
    if (state != NULL && leat_loader_load(job->loader, state, &err) != LEAT_OK)
        return leat_cli_fail(job->cli, &err);
    return leat_cli_given(job->cli, "explain") ? explain(job) : make_batches(job);
}

/* Counts sequences by itself: no loader runs. */
static int report(batches_job *job) {
    int64_t first = 0, end = -1;
    int status = batches_split_steps(job->cli, &first, &end);
    if (status != 0) return status;
    return batches_write_report(job->cli, job->dataset, &job->options, first, end);
}

static int with_dataset(batches_job *job) {
    leat_error err = {0};
    leat_dataset_get_facts(job->dataset, &job->facts);
    int status = batches_read_options(job);
    if (status != 0) return status;
    if (leat_cli_given(job->cli, "report")) return report(job);
    if (leat_loader_create(&job->loader, job->dataset, &job->options, &err) != LEAT_OK)
        return leat_cli_fail(job->cli, &err);
    status = with_loader(job);
    leat_loader_destroy(job->loader);
    leat_batch_hash_destroy(job->hash);
    leat_textbuf_destroy(job->kept);
    return status;
}

static int run_batches(leat_cli *cli) {
    batches_job job = {.cli = cli};
    leat_error err = {0};
    leat_dataset_options options = leat_dataset_options_default();
    const char *hash = leat_cli_text(cli, "hash");
    leat_cli_data data = LEAT_CLI_ANY;
    int status = leat_cli_take_data(cli, &data);
    if (status != 0) return status;
    job.hashes = hash != NULL;
    job.lines = hash != NULL && strcmp(hash, "rows") == 0;
    job.times = leat_cli_flag(cli, "time");
    job.words = leat_cli_flag(cli, "words");
    job.json = leat_cli_flag(cli, "json");
    if (options.cache_bytes > leat_cli_int(cli, "memory") / 4)
        options.cache_bytes = leat_cli_int(cli, "memory") / 4;
    options.addresses = leat_cli_text(cli, "addresses");
    if (leat_dataset_open(&job.dataset, leat_cli_arguments(cli), leat_cli_argument_count(cli),
                          &options, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    status = with_dataset(&job);
    leat_dataset_close(job.dataset);
    return status;
}

/* ---- The command -------------------------------------------------------------------------- */

static const leat_cli_option options[] = {
    LEAT_CLI_OPTION_JSON,
    {.name = "split",
     .kind = LEAT_CLI_CHOICE,
     .choices = "train|test",
     .help = "which rows (default: train; all, if the files are of neither side)"},
    {.name = "length",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "tokens of a sequence",
     .preset = "1024",
     .min = 64,
     .max = 1048576},
    {.name = "batch",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "rows of the global batch, of all hosts together",
     .preset = "8",
     .min = 1,
     .max = 1048576},
    {.name = "seed",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "decides every draw",
     .preset = "0",
     .min = 0},
    {.name = "sampler",
     .kind = LEAT_CLI_CHOICE,
     .choices = "plan3|plan2|all",
     .help = "how contexts are drawn from a row: docs/sampling.md",
     .preset = "plan3"},
    {.name = "by",
     .kind = LEAT_CLI_CHOICE,
     .choices = "client",
     .help = "each row of a batch is another probe's; there are no epochs then"},
    {.name = "client-weights",
     .kind = LEAT_CLI_TEXT,
     .value = "uniform|measurements|FILE",
     .help = "how often a probe is drawn by client; FILE is a CSV with src_id and weight (default: "
             "uniform)"},
    {.name = "clients-per-round",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "by client: the probes of a batch are among N that are drawn anew each round",
     .min = 1,
     .max = 65536},
    {.name = "steps-per-round",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "steps of a round",
     .preset = "1",
     .min = 1},
    {.name = "timestamp-modes",
     .kind = LEAT_CLI_TEXT,
     .value = "A,B,C",
     .help = "percent of contexts with all, some, no timestamps (plan2: all, none, mixed)",
     .preset = "40,30,30"},
    {.name = "field-order",
     .kind = LEAT_CLI_CHOICE,
     .choices = "random|content",
     .help = "order of a measurement's fields: drawn, or made of its content",
     .preset = "random"},
    {.name = "packing",
     .kind = LEAT_CLI_CHOICE,
     .choices = "fill|none",
     .help = "fill sequences with more contexts, or one context each",
     .preset = "fill"},
    {.name = "tail",
     .kind = LEAT_CLI_CHOICE,
     .choices = "cut|pad",
     .help = "the last measurement of a filled sequence may be cut, or the space is left",
     .preset = "cut"},
    {.name = "boundary",
     .kind = LEAT_CLI_CHOICE,
     .choices = "mask|cross",
     .help = "whether the last token of a context predicts the next context's first",
     .preset = "mask"},
    {.name = "addresses",
     .kind = LEAT_CLI_TEXT,
     .value = "FILE",
     .help = "CSV with src_id and src_addr, for rows that have no source themselves"},
    {.name = "epochs",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "end after N epochs; 0: never",
     .preset = "0",
     .min = 0},
    {.name = "host",
     .kind = LEAT_CLI_INT,
     .value = "H",
     .help = "make the rows of host H",
     .preset = "0",
     .min = 0},
    {.name = "hosts",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "of N hosts, which share each batch",
     .preset = "1",
     .min = 1},
    {.name = "rows",
     .kind = LEAT_CLI_TEXT,
     .value = "A,B,C",
     .help = "make these rows of each batch, in this order, instead of a host's"},
    {.name = "threads",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "threads (default: all processors); the bytes do not depend on it",
     .min = 1,
     .max = 256},
    {.name = "memory",
     .kind = LEAT_CLI_SIZE,
     .value = "SIZE",
     .help = "bound on memory, mapped files apart",
     .preset = "512M",
     .min = 1024},
    {.name = "prefetch",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "batches made ahead (default: what --memory holds, at most 8)",
     .min = 0,
     .max = 1024},
    {.name = "io",
     .kind = LEAT_CLI_CHOICE,
     .choices = "mmap|pread",
     .help = "how uncompressed shards are read",
     .preset = "mmap"},
    {.name = "steps",
     .kind = LEAT_CLI_TEXT,
     .value = "FIRST:END",
     .help = "make these steps, END not among them; either may be left out (default: 10 steps, or "
             "to the end of --epochs)"},
    {.name = "hash",
     .kind = LEAT_CLI_CHOICE,
     .choices = "all|rows",
     .bare = "all",
     .value = "rows",
     .help = "print the SHA-256 of all rows' lines; with =rows the lines: step, row, SHA-256 of "
             "its arrays"},
    {.name = "time", .kind = LEAT_CLI_FLAG, .help = "print rates; without --steps for 3 seconds"},
    {.name = "words",
     .kind = LEAT_CLI_FLAG,
     .help = "print the sequences in words; without --steps of one step"},
    {.name = "explain",
     .kind = LEAT_CLI_INT_PAIR,
     .value = "STEP ROW",
     .help = "say what this row of the batch holds: shard, record, measurements",
     .min = 0},
    {.name = "report",
     .kind = LEAT_CLI_TEXT,
     .value = "FILE",
     .help = "write a page on what batches hold, with plots: padding beside other ways, scales, "
             "tokens, repeats; of --steps, or of one epoch, at most 16,384 sequences; with --json "
             "its numbers"},
    {.name = "resume",
     .kind = LEAT_CLI_TEXT,
     .value = "FILE",
     .help = "begin where the state in FILE is"},
    {.name = "save-state",
     .kind = LEAT_CLI_TEXT,
     .value = "FILE",
     .help = "write the state at the end, also after a failure or a signal"},
    {.name = "on-corrupt",
     .kind = LEAT_CLI_CHOICE,
     .choices = "fail|mask",
     .help = "damaged data: fail, or make zeros of the sequences that need it and list it",
     .preset = "fail"},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat batches data --time", "how fast batches are made, how full they are"},
    {"leat batches data --words --steps 0:1 --batch 1", "one sequence in words"},
    {"leat batches data --batch 120 --steps 0:100 --hash",
     "one number that is the same on every machine that makes these batches"},
    {"leat batches data --batch 120 --host 2 --hosts 8 --steps 0:100 --hash=rows",
     "a line for each row that host 2 of 8 makes; sorted with those of the others: all rows"},
    {"leat batches data --steps 0:50 --save-state state.json && leat batches data --resume "
     "state.json --steps :100",
     "steps 0 to 99 in two runs"},
    {"leat batches data --report batches.html", "what batches hold, as a page with plots"},
    {"leat batches data --explain 1000000 3", "what row 3 of step 1,000,000 holds"},
    {0},
};

const leat_cli_command leat_cmd_batches = {
    .words = "batches",
    .purpose = "training batches of a data set",
    .usage = "PATH... [options]",
    .about =
        "Makes the batches that a training run would see: six int32 arrays of tokens, targets, "
        "positions and segments a row. Without --hash, --words, --explain or --report it makes "
        "some and says how full they are.\n\n"
        "The bytes depend on the rows of the data set, on --split, --batch and the options "
        "from --length to --boundary, and on nothing else: not on threads, hosts, prefetch, "
        "--io, compression, or where a run began.\n\n"
        "PATH is a folder that an ingest wrote, or ArrayRecord files of probe rows. Everything "
        "that is read is checked first.",
    .argument = "PATH",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = options,
    .examples = examples,
    .run = run_batches,
};
