/*
 * Frames for an ingest: lines of the logs into the store, with rejected.csv beside it; or the store
 * as an interrupted run left it, after its scan.
 */
#include "base/error.h"
#include "format/dataset/manifest.h"
#include "ingest/can/job.h"
#include "ingest/can/read/formats.h"
#include "ingest/option_rows.h"

/* What a scan leaves in the work folder. */
typedef struct can_saved {
    char state[LEAT_PATH_BYTES], counts[LEAT_PATH_BYTES], rejects[LEAT_PATH_BYTES];
} can_saved;

static leat_code saved_paths(const leat_can_job *job, can_saved *saved, leat_error *err) {
    const char *work = job->folder.work;
    int64_t bytes = LEAT_PATH_BYTES;
    LEAT_TRY(leat_path_join(saved->state, bytes, work, LEAT_CAN_STATE_NAME, err));
    LEAT_TRY(leat_path_join(saved->counts, bytes, work, LEAT_CAN_COUNTS_NAME, err));
    return leat_path_join(saved->rejects, bytes, job->folder.out, LEAT_REJECTED_NAME, err);
}

leat_code leat_can_name_temp(const leat_can_job *job, leat_code code, leat_error *err) {
    if (code != LEAT_ERR_NO_SPACE) return code;
    return leat_error_context(err, code,
                              "frames are spilled to \"%s\"; free space there, or name a "
                              "folder on another disk with --temp",
                              job->folder.workdir.temp);
}

/* Lines into the store; rejected.csv in the work folder. */
static leat_code scan_lines(leat_can_job *job, const can_saved *saved, leat_error *err) {
    const leat_can_settings *settings = &job->options->settings;
    const leat_can_scan_options options = {
        .format = settings->format,
        .lines = leat_can_lines_of(settings, &job->mapping),
        .injections = job->splits.injections,
        .max_rejected = job->options->max_rejected,
        .threads = job->scan_threads,
        .rejects = job->rejects,
        .batch = leat_can_store_take,
        .batch_context = job->store,
        .ticker = &job->ticker,
    };
    int64_t bytes = 0;
    for (int64_t i = 0; i < job->splits.inputs.count; i++)
        bytes += job->splits.inputs.items[i].facts.size_bytes;
    leat_ticker_stage(&job->ticker, "reading", "bytes", bytes);
    leat_code code = leat_can_scan(&job->splits.inputs, &options, job->files, err);
    if (code != LEAT_OK) code = leat_inputs_blame(&job->splits.inputs, code, err);
    if (code != LEAT_OK) return leat_can_name_temp(job, code, err);
    LEAT_TRY(leat_reject_log_save(job->rejects, saved->rejects, err));
    return leat_can_store_finish(job->store, err);
}

static leat_code create_rejects(leat_can_job *job, int64_t memory_bytes, leat_error *err) {
    int64_t count = job->splits.inputs.count;
    LEAT_TRY(LEAT_NEW(&job->paths, count, err));
    for (int64_t i = 0; i < count; i++) job->paths[i] = job->splits.inputs.items[i].path;
    const leat_reject_options options = {.kind = &leat_can_rejects,
                                         .paths = job->paths,
                                         .workers = job->scan_threads,
                                         .memory_bytes = memory_bytes,
                                         .temp_dir = job->folder.workdir.temp};
    return leat_reject_log_create(&job->rejects, &options, err);
}

static leat_code load_saved(leat_can_job *job, const leat_can_store_options *options,
                            const can_saved *saved, leat_error *err) {
    leat_path_facts facts;
    int64_t count = job->splits.inputs.count, rejected = 0;
    LEAT_TRY(leat_can_store_load(&job->store, options, saved->state, err));
    LEAT_TRY(leat_can_saved_read(job->files, count, job->store, saved->counts, err));
    for (int64_t i = 0; i < count; i++) rejected += job->files[i].lines - job->files[i].frames;
    LEAT_TRY(leat_path_stat(saved->rejects, &facts, err));
    if (facts.kind == LEAT_PATH_FILE || rejected == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_NOT_FOUND, "\"%s\" no longer exists", saved->rejects);
}

/* The store as an interrupted run left it, and what that run found in the files. If the store is
 * missing or damaged, the run starts over. */
static leat_code resume(leat_can_job *job, leat_can_store_options *store, const can_saved *saved,
                        leat_error *err) {
    leat_code code = load_saved(job, store, saved, err);
    job->result->resumed = job->result->verified = code == LEAT_OK;
    /* everything else in the work folder becomes the cache at the end */
    if (code == LEAT_OK) return leat_path_remove_drafts(job->folder.out, err);
    if (job->store != NULL) leat_can_store_keep(job->store);
    leat_can_store_destroy(job->store);
    job->store = NULL;
    if (code == LEAT_ERR_LIMIT) {
        return leat_fail(err, code, "--memory %lldM is too low to resume; use --memory %lldM",
                         (long long)(job->options->memory_bytes >> 20),
                         (long long)leat_can_unread_mib(job));
    }
    if (code != LEAT_ERR_NOT_FOUND && code != LEAT_ERR_CORRUPT) return code;
    job->resumable = false;
    LEAT_TRY(leat_can_folder_clear(&job->folder, &job->splits, &job->options->settings, err));
    store->temp_dir = job->folder.workdir.temp;
    store->run = job->folder.workdir.run;
    return LEAT_OK;
}

/* Captures that are merged are sorted by time, whatever recordings they are of. */
static bool splits_falls(const leat_can_settings *settings) {
    return settings->clock_steps == LEAT_CLOCK_STEPS_SPLIT &&
           settings->captures == LEAT_CAPTURES_SEPARATE;
}

leat_code leat_can_frames_make(leat_can_job *job, leat_error *err) {
    can_saved saved;
    const leat_can_ingest_options *o = job->options;
    int64_t files = job->splits.inputs.count;
    const leat_can_shares shares = leat_can_share_scan(job, o->memory_bytes);
    leat_can_store_options options = {
        .temp_dir = job->folder.workdir.temp,
        .run = job->folder.workdir.run,
        .workers = shares.threads,
        .file_count = (int32_t)files,
        .split_falls = splits_falls(&o->settings),
        .pause_s = o->settings.pause_s,
        .ticker = &job->ticker,
    };
    job->resumable = o->resume; /* whatever an interrupted run left, until it is checked */
    LEAT_TRY(saved_paths(job, &saved, err));
    job->scan_threads = shares.threads;
    LEAT_TRY(leat_can_share_store(job, &shares, &options.memory_bytes, err));
    LEAT_TRY(LEAT_NEW(&job->files, files, err));
    if (o->resume) LEAT_TRY(resume(job, &options, &saved, err));
    if (job->result->resumed) return LEAT_OK;
    LEAT_TRY(leat_can_store_create(&job->store, &options, err));
    LEAT_TRY(create_rejects(job, shares.rejects_bytes, err));
    LEAT_TRY(scan_lines(job, &saved, err));
    /* before --resume can trust the scan */
    LEAT_TRY(leat_inputs_unchanged(&job->splits.inputs, err));
    LEAT_TRY(leat_can_saved_write(job->files, files, saved.counts, err));
    LEAT_TRY(leat_can_store_save(job->store, saved.state, err));
    job->resumable = true;
    return LEAT_OK;
}
