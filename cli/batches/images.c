/* leat batches of an image data set. */
#include "batches/images.h"

#include "data_kinds.h"

static images_job *job_of(batches_run *run) { return (images_job *)run; }

/* ---- A run -------------------------------------------------------------------------------- */

static bool wait_next(batches_run *run, int64_t timeout_ms) {
    return leat_image_loader_wait(job_of(run)->loader, timeout_ms);
}

static leat_code take(batches_run *run, bool *more, leat_error *err) {
    const leat_image_batch *batch = NULL;
    leat_code code = leat_image_loader_next(job_of(run)->loader, &batch, err);
    *more = batch != NULL;
    if (code != LEAT_OK || batch == NULL) return code;
    if (run->hashes) leat_batch_hash_add_images(run->hash, batch, run->lines ? run->text : NULL);
    leat_image_batch_release(batch);
    return LEAT_OK;
}

static leat_code save(batches_run *run, const char *path, leat_error *err) {
    return leat_image_loader_save(job_of(run)->loader, path, leat_cli_flag(run->cli, "replace"),
                                  err);
}

static void write_summary(batches_run *run) { images_write_summary(job_of(run)); }
static int json_summary(batches_run *run) { return images_json_summary(job_of(run)); }
static int note(batches_run *run) {
    (void)run;
    return 0;
}

static const batches_kind kind = {wait_next, take, save, write_summary, json_summary, note};

static int make_batches(images_job *job) {
    leat_error err = {0};
    int64_t count = leat_image_loader_step_count(job->loader);
    int status = batches_read_steps(&job->run, leat_image_loader_step(job->loader), count);
    if (status != 0) return status;
    if (leat_image_loader_seek(job->loader, job->run.first, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    return batches_run_steps(&job->run);
}

/* ---- What the command does ---------------------------------------------------------------- */

static int explain(const images_job *job) {
    leat_cli *cli = job->run.cli;
    int64_t step = leat_cli_int(cli, "explain"), row = leat_cli_second(cli, "explain");
    int64_t batch = job->options.batch, count = leat_image_loader_step_count(job->loader);
    if (count >= 0 && step >= count)
        return leat_cli_usage(cli, "--explain: step %lld is after the last step, %lld, of --epochs",
                              (long long)step, (long long)count - 1);
    if (step >= INT64_MAX / batch - 1)
        return leat_cli_usage(cli, "--explain: step %lld is too large", (long long)step);
    if (row != LEAT_CLI_NONE && (row < 0 || row >= batch))
        return leat_cli_usage(cli, "--explain: no row %lld: a batch has rows 0 to %lld",
                              (long long)row, (long long)batch - 1);
    const images_explained explained = {job, step, row == LEAT_CLI_NONE ? 0 : row,
                                        row == LEAT_CLI_NONE ? batch : row + 1};
    if (job->run.json) return images_json_explanation(&explained);
    images_write_explanation(&explained);
    return 0;
}

static int with_loader(images_job *job) {
    leat_error err = {0};
    const char *state = leat_cli_text(job->run.cli, "resume");
    if (state != NULL && leat_image_loader_load(job->loader, state, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    return leat_cli_given(job->run.cli, "explain") ? explain(job) : make_batches(job);
}

/* Options of all kinds of data that have no meaning here. */
static int refuse_others(leat_cli *cli) {
    static const char *const others[] = {"split", "report"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (leat_cli_given(cli, others[i]))
            return leat_cli_usage(
                cli,
                "--%s is for probe rows and CAN caches; \"%.200s\" holds an image "
                "data set",
                others[i], leat_cli_argument(cli, 0));
    }
    return 0;
}

static int with_images(images_job *job) {
    leat_error err = {0};
    leat_images_get_facts(job->images, &job->facts);
    job->options = leat_image_loader_options_default();
    int status = leat_cli_set(job->run.cli, leat_image_loader_options_table(), &job->options);
    if (status != 0) return status;
    if (job->options.window_bytes == 0)
        batches_note_memory(job->run.cli, "data set", job->facts.file_bytes);
    if (leat_image_loader_create(&job->loader, job->images, &job->options, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    status = with_loader(job);
    leat_image_loader_destroy(job->loader);
    return status;
}

int leat_batches_images(leat_cli *cli) {
    images_job job = {.run = batches_run_begin(cli, &kind)};
    leat_error err = {0};
    int status = refuse_others(cli);
    if (status != 0) return status;
    if (leat_images_open(&job.images, leat_cli_argument(cli, 0), &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    status = with_images(&job);
    batches_run_end(&job.run);
    leat_images_close(job.images);
    return status;
}
