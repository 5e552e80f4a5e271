/* leat batches of probe rows: sequences of tokens. */
#include "batches/batches.h"
#include "data_kinds.h"

static batches_job *job_of(batches_run *run) { return (batches_job *)run; }

static leat_code write_words(batches_run *run, const leat_batch *batch, leat_error *err) {
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < batch->row_count && code == LEAT_OK; i++) {
        leat_textbuf_printf(run->text, "step %lld row %lld\n", (long long)batch->step,
                            (long long)batch->rows[i]);
        code = leat_tokens_words(batch->inputs + i * batch->length,
                                 batch->inputs_segmentation + i * batch->length,
                                 (int32_t)batch->length, run->text, err);
    }
    return code;
}

/* ---- A run -------------------------------------------------------------------------------- */

static bool wait_next(batches_run *run, int64_t timeout_ms) {
    return leat_loader_wait(job_of(run)->loader, timeout_ms);
}

static leat_code take(batches_run *run, bool *more, leat_error *err) {
    const leat_batch *batch = NULL;
    leat_code code = leat_loader_next(job_of(run)->loader, &batch, err);
    *more = batch != NULL; /* steps end, even without epochs */
    if (code != LEAT_OK || batch == NULL) return code;
    if (run->hashes) leat_batch_hash_add(run->hash, batch, run->lines ? run->text : NULL);
    if (run->words) code = write_words(run, batch, err);
    leat_batch_release(batch);
    return code;
}

static leat_code save(batches_run *run, const char *path, leat_error *err) {
    return leat_loader_save(job_of(run)->loader, path, leat_cli_flag(run->cli, "replace"), err);
}

static void write_summary(batches_run *run) { batches_write_summary(job_of(run)); }
static int json_summary(batches_run *run) { return batches_json_summary(job_of(run)); }
static int note(batches_run *run) { return batches_note_quarantine(job_of(run)); }

static const batches_kind kind = {wait_next, take, save, write_summary, json_summary, note};

static int make_batches(batches_job *job) {
    leat_error err = {0};
    int64_t count = leat_loader_step_count(job->loader);
    int status = batches_read_steps(&job->run, leat_loader_step(job->loader), count);
    if (status != 0) return status;
    if (leat_loader_seek(job->loader, job->run.first, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    batches_write_start(job);
    return batches_run_steps(&job->run);
}

/* ---- What the command does ---------------------------------------------------------------- */

static int explain(batches_job *job) {
    leat_cli *cli = job->run.cli;
    leat_explanation *explanation = NULL;
    leat_error err = {0};
    int status = 0;
    if (leat_loader_explain(job->loader, leat_cli_int(cli, "explain"),
                            leat_cli_second(cli, "explain"), &explanation, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (job->run.json) status = batches_json_explanation(job, explanation);
    else status = batches_write_explanation(job, explanation);
    leat_explanation_destroy(explanation);
    return status;
}

static int with_loader(batches_job *job) {
    leat_error err = {0};
    const char *state = leat_cli_text(job->run.cli, "resume");
    if (state != NULL && leat_loader_load(job->loader, state, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    return leat_cli_given(job->run.cli, "explain") ? explain(job) : make_batches(job);
}

/* Counts sequences itself, without a loader. */
static int report(batches_job *job) {
    int64_t first = 0, end = -1;
    int status = batches_split_steps(job->run.cli, &first, &end);
    if (status != 0) return status;
    return batches_write_report(job->run.cli, job->dataset, &job->options, first, end);
}

static int with_dataset(batches_job *job) {
    leat_error err = {0};
    leat_dataset_get_facts(job->dataset, &job->facts);
    int status = batches_read_options(job);
    if (status != 0) return status;
    if (leat_cli_given(job->run.cli, "report")) return report(job);
    if (leat_loader_create(&job->loader, job->dataset, &job->options, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    int64_t data_bytes = 0, memory_bytes = 0;
    if (leat_loader_exceeds_memory(job->loader, &data_bytes, &memory_bytes))
        batches_note_memory(job->run.cli, "data set", data_bytes);
    status = with_loader(job);
    leat_loader_destroy(job->loader);
    return status;
}

int leat_batches_probes(leat_cli *cli) {
    batches_job job = {.run = batches_run_begin(cli, &kind)};
    leat_error err = {0};
    leat_dataset_options options = leat_dataset_options_default();
    if (leat_cli_given(cli, "explain") && leat_cli_second(cli, "explain") == LEAT_CLI_NONE)
        return leat_cli_usage(cli, "--explain: for probe rows, give the row too (STEP ROW)");
    job.options = leat_loader_options_default();
    int status = leat_cli_set(cli, leat_loader_options_table(), &job.options);
    if (status != 0) return status;
    options.memory_bytes = job.options.memory_bytes;
    options.addresses = leat_cli_text(cli, "addresses");
    if (leat_dataset_open(&job.dataset, leat_cli_arguments(cli), leat_cli_argument_count(cli),
                          &options, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    status = with_dataset(&job);
    batches_run_end(&job.run);
    leat_dataset_close(job.dataset);
    return status;
}
