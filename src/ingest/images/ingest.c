/* `leat ingest images` as a function: checks the options, runs the steps in order, one exit path.
 * See job.h. */
#include <stdio.h>
#include <string.h>

#include "format/image/image.h"
#include "ingest/images/job.h"

/* ---- what becomes of files ------------------------------------------------------------------ */

leat_code leat_images_job_settle(leat_images_job *job, const char *name,
                                 const leat_image_outcome *outcome, leat_error *err) {
    for (int r = 0; r < LEAT_IMAGE_REMARKS; r++)
        job->result->remarks[r] += outcome->remarks >> r & 1;
    if (outcome->reason == LEAT_IMAGE_GOOD) return LEAT_OK;
    if (outcome->reason != LEAT_IMAGE_TEXT)
        return leat_image_rejects_add(&job->rejects, name, outcome, err);
    job->texts++;
    return leat_image_list_skip(&job->list, name, err);
}

/* ---- an interrupted run --------------------------------------------------------------------- */

/* A run with --strict has no rejected files, whichever run read them. */
static leat_code check_strict(const leat_images_job *job, const char *name,
                              const leat_image_outcome *outcome, leat_error *err) {
    if (!job->options->strict || outcome->reason == LEAT_IMAGE_TEXT) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "--strict: the interrupted run has rejected \"%s\": %s: %s; run without "
                     "--strict to reject such files and continue",
                     name, leat_image_reason_name(outcome->reason), outcome->what);
}

/* A file that the notes say is done: it is, if the data set has its image. */
static leat_code keep(void *context, int64_t i, const leat_image_outcome *outcome, bool *kept,
                      leat_error *err) {
    leat_images_job *job = context;
    *kept = i < job->list.count;
    if (!*kept) return LEAT_OK;
    LEAT_TRY(leat_ticker_check(&job->ticker, err));
    const char *name = leat_image_list_name(&job->list, i);
    const leat_image_entry entry = {name, outcome->width, outcome->height, outcome->decoded};
    if (outcome->reason == LEAT_IMAGE_GOOD)
        LEAT_TRY(leat_image_writer_keep(job->writer, &entry, outcome->resized, kept, err));
    else LEAT_TRY(check_strict(job, name, outcome, err));
    if (*kept) LEAT_TRY(leat_images_job_settle(job, name, outcome, err));
    if (*kept) job->done = i + 1;
    return leat_ticker_step(&job->ticker, 1, err);
}

static leat_code begin(leat_images_job *job, leat_error *err) {
    const leat_ingest_folder *folder = &job->folder;
    const leat_image_notes_key key = {folder->work, folder->workdir.run, &job->setting};
    leat_image_setting_of(&job->list, job->options->size, job->options->background, &job->setting);
    /* of a run that was killed while it wrote its JSON */
    if (folder->resuming) LEAT_TRY(leat_path_remove_drafts(folder->stage, err));
    LEAT_TRY(leat_image_writer_create(&job->writer, folder->stage, job->options->size,
                                      folder->resuming, err));
    LEAT_TRY(leat_image_rejects_create(&job->rejects, folder->stage, err));
    if (!folder->resuming) return leat_image_notes_create(&job->notes, &key, err);
    leat_ticker_stage(&job->ticker, "resuming", "files", job->list.count);
    LEAT_TRY(leat_image_notes_open(&job->notes, &key, keep, job, err));
    job->result->resumed = job->done;
    return LEAT_OK;
}

/* ---- a complete data set -------------------------------------------------------------------- */

/* Every image is one of the files, in order, and the other files are rejected. */
static bool has_same_files(const leat_images_job *job, const leat_image_set *set) {
    int64_t i = 0;
    for (int64_t k = 0; k < set->count; k++) {
        const leat_image_entry entry = leat_image_set_entry(set, k);
        while (i < job->list.count && strcmp(leat_image_list_name(&job->list, i), entry.name) < 0)
            i++;
        if (i == job->list.count || strcmp(leat_image_list_name(&job->list, i), entry.name) != 0)
            return false;
    }
    return job->list.count == set->count + set->rejected + set->texts;
}

/* The next folder of the result; NULL if it has no place for more. */
static leat_images_folder *add_folder(leat_images_ingest_result *result, const char *name,
                                      int64_t name_bytes) {
    const int64_t at = result->folder_count++;
    if (at >= LEAT_IMAGES_FOLDERS) return NULL;
    leat_text_show(result->folders[at].name, sizeof result->folders[at].name, name, name_bytes);
    return &result->folders[at];
}

/* Names are sorted, so the images of a folder follow each other, apart from those beside the
 * folders, which come first in the result. */
static void fill_folders(leat_images_ingest_result *result, const leat_image_set *set) {
    leat_images_folder *folder = NULL;
    const char *before = NULL;
    int64_t beside = 0;
    for (int64_t i = 0; i < set->count; i++)
        beside += strchr(leat_image_set_entry(set, i).name, '/') == NULL;
    if (beside > 0) add_folder(result, "", 0)->images = beside;
    for (int64_t i = 0; i < set->count; i++) {
        const char *name = leat_image_set_entry(set, i).name, *slash = strchr(name, '/');
        if (slash == NULL) continue;
        const int64_t bytes = slash - name;
        if (before == NULL || strncmp(before, name, (size_t)bytes + 1) != 0)
            folder = add_folder(result, name, bytes);
        before = name;
        if (folder != NULL) folder->images++;
    }
}

static leat_code fill_duplicates(leat_images_ingest_result *result, const leat_image_set *set,
                                 leat_error *err) {
    int64_t first = -1, second = -1;
    LEAT_TRY(leat_image_set_duplicates(set, &result->duplicates, &first, &second, err));
    if (result->duplicates == 0) return LEAT_OK;
    leat_inputs_name(leat_image_set_entry(set, first).name, result->duplicate[0], 256);
    leat_inputs_name(leat_image_set_entry(set, second).name, result->duplicate[1], 256);
    return LEAT_OK;
}

static leat_code fill_from(leat_images_job *job, const leat_image_set *set, leat_error *err) {
    leat_images_ingest_result *result = job->result;
    result->images = set->count;
    result->rejected = set->rejected;
    result->bytes_written = set->file_bytes;
    memcpy(result->fingerprint, set->fingerprint, sizeof result->fingerprint);
    fill_folders(result, set);
    return fill_duplicates(result, set, err);
}

/* A share with three digits that is not below it. */
static double rounded_up(double share) {
    const double up = (double)(int64_t)(share * 1000) / 1000;
    const double next = up < share ? up + 0.001 : up;
    return next < 1 ? next : 1;
}

/* What the options of this run would not have accepted. */
static leat_code check_accepted(const leat_images_job *job, const leat_image_set *set,
                                leat_error *err) {
    const int64_t files = set->count + set->rejected;
    const double share = files > 0 ? (double)set->rejected / (double)files : 0;
    if (job->options->strict && set->rejected > 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "--strict: the data set was made without %lld files, see rejected.csv; "
                         "run without --strict, or use --strict --replace to stop at the first",
                         (long long)set->rejected);
    if (share <= job->options->max_rejected) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "%lld of %lld files were rejected when the data set was made, see "
                     "rejected.csv, a share of %.3g, and --max-rejected is %.3g; accept them with "
                     "--max-rejected %.3f, or correct the input and start over with --replace",
                     (long long)set->rejected, (long long)files, share, job->options->max_rejected,
                     rounded_up(share));
}

/* An earlier run has completed the data set, and it is in place by now. */
static leat_code run_finished(leat_images_job *job, leat_error *err) {
    leat_image_set set = {0};
    LEAT_TRY(leat_image_set_load(&set, job->folder.out, err));
    leat_code code = leat_image_set_files_check(&set, job->folder.out, false, 1, NULL, err);
    char background[8];
    leat_images_background_text(job->options->background, background);
    bool same = code == LEAT_OK && set.size == job->options->size &&
                strcmp(set.background, background) == 0 && has_same_files(job, &set);
    if (code == LEAT_OK && !same) code = leat_ingest_folder_refuse(&job->folder, err);
    if (same) code = check_accepted(job, &set, err);
    if (code == LEAT_OK) code = fill_from(job, &set, err);
    if (code == LEAT_OK) {
        job->texts = set.texts;
        job->list.skipped.count += set.texts;
        job->result->was_complete = !job->folder.published;
        job->result->resumed = job->list.count;
    }
    leat_image_set_free(&set);
    return code;
}

/* ---- the steps ------------------------------------------------------------------------------ */

static leat_code check_not_empty(const leat_images_job *job, leat_error *err) {
    const leat_image_list *list = &job->list;
    const leat_ingest_skipped *skipped = &list->skipped;
    if (list->count > 0) return LEAT_OK;
    char others[400] = "", excluded[80] = "";
    if (skipped->count > 0)
        snprintf(others, sizeof others, " (%lld skipped: \"%s\"%s)", (long long)skipped->count,
                 skipped->name[0], skipped->count > 1 ? ", ..." : "");
    if (list->excluded > 0)
        snprintf(excluded, sizeof excluded, " (%lld excluded by --include or --exclude)",
                 (long long)list->excluded);
    return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" contains no files to read%s%s", list->path,
                     others, excluded);
}

/* Most of such runs are a download that went wrong, or of the wrong folder. */
static leat_code check_share(leat_images_job *job, int64_t files, leat_error *err) {
    const double share = (double)job->rejects.count / (double)files;
    if (share <= job->options->max_rejected) return LEAT_OK;
    job->over_share = true;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "%lld of %lld files were rejected, a share of %.3g, and --max-rejected is "
                     "%.3g; the first is %s; accept them with --resume --max-rejected %.3f, or "
                     "correct the input and start over with --replace",
                     (long long)job->rejects.count, (long long)files, share,
                     job->options->max_rejected, job->rejects.first, rounded_up(share));
}

/* When nothing is left, check_images has more to say. */
leat_code leat_images_job_check_share(leat_images_job *job, leat_error *err) {
    const int64_t rejected = job->rejects.count, most = job->list.count - job->texts;
    if (job->done == job->list.count ||
        (double)rejected <= job->options->max_rejected * (double)most)
        return LEAT_OK;
    job->over_share = true;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "%lld of the first %lld files were rejected, which is more than the share of "
                     "%.3g of all %lld that --max-rejected allows; the first is %s; accept them "
                     "with --resume --max-rejected SHARE (0 to 1), or correct the input and start "
                     "over with --replace",
                     (long long)rejected, (long long)(job->done - job->texts),
                     job->options->max_rejected, (long long)most, job->rejects.first);
}

static leat_code check_images(leat_images_job *job, leat_error *err) {
    const int64_t rejected = job->rejects.count, files = job->list.count - job->texts;
    if (files == 0)
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" contains no files to read but %lld text%s",
                         job->list.path, (long long)job->texts, job->texts == 1 ? "" : "s");
    if (rejected < files) return check_share(job, files, err);
    if (files == 1)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%.200s\": the only file is not an image that can be used: %s",
                         job->list.path, job->rejects.first);
    int most = 0;
    for (int i = 0; i < LEAT_IMAGE_REASONS; i++)
        if (job->rejects.by[i] > job->rejects.by[most]) most = i;
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "\"%.200s\": none of the %lld files is an image that can be used (%s: %lld); the "
        "first is %s",
        job->list.path, (long long)rejected, leat_image_reason_name(most),
        (long long)job->rejects.by[most], job->rejects.first);
}

static leat_code finish(leat_images_job *job, leat_error *err) {
    const leat_image_set *set = NULL;
    char background[8];
    LEAT_TRY(check_images(job, err));
    leat_ticker_stage(&job->ticker, "writing", "files", -1);
    LEAT_TRY(leat_ticker_check(&job->ticker, err));
    LEAT_TRY(leat_image_rejects_finish(&job->rejects, err));
    leat_images_background_text(job->options->background, background);
    leat_image_writer_describe(job->writer, job->texts, background);
    LEAT_TRY(leat_image_writer_finish(job->writer, job->rejects.count, &set, err));
    LEAT_TRY(fill_from(job, set, err));
    LEAT_TRY(leat_images_folder_commit(&job->folder, err));
    job->complete = true;
    return LEAT_OK;
}

static leat_code publish(leat_images_job *job, leat_error *err) {
    leat_code code = leat_images_folder_kind.publish(&job->folder, err);
    if (code == LEAT_OK) return LEAT_OK;
    return leat_error_context(err, code,
                              "the data set is complete; use --resume to move it into place");
}

static leat_code run_steps(leat_images_job *job, leat_error *err) {
    const leat_images_ingest_options *options = job->options;
    if (job->folder.finished) return run_finished(job, err);
    LEAT_TRY(leat_images_memory_plan(&job->list, options->size, options->threads,
                                     options->memory_bytes, &job->memory, err));
    LEAT_TRY(begin(job, err));
    LEAT_TRY(leat_images_job_read(job, err));
    LEAT_TRY(leat_images_job_save(job, err));
    LEAT_TRY(leat_image_list_unchanged(&job->list, err));
    LEAT_TRY(finish(job, err));
    return publish(job, err);
}

/* A user who stops a run expects to resume it, and so does one who has to allow more memory. What
 * an earlier run has done is not discarded because of an option, a full disk or too little memory
 * in this one. */
static leat_ingest_outcome outcome_of(const leat_images_job *job, leat_code code) {
    if (code == LEAT_OK) return LEAT_INGEST_DONE;
    bool stopped = code == LEAT_ERR_CANCELLED || (code == LEAT_ERR_LIMIT && job->done > 0);
    bool wanted = stopped || job->over_share || job->folder.resuming || job->complete;
    return wanted ? LEAT_INGEST_RESUMABLE : LEAT_INGEST_FAILED;
}

static void close_files(leat_images_job *job, leat_ingest_outcome outcome) {
    bool begun = job->writer != NULL && job->notes.file != NULL && !job->complete;
    if (outcome == LEAT_INGEST_RESUMABLE && begun && leat_images_job_save(job, NULL) != LEAT_OK) {
        /* less is kept */
    }
    leat_image_writer_destroy(job->writer);
    leat_image_rejects_close(&job->rejects);
    leat_image_notes_close(&job->notes);
}

static void fill_result(leat_images_job *job) {
    leat_images_ingest_result *result = job->result;
    result->files = job->list.count - job->texts;
    result->excluded = job->list.excluded;
    result->skipped = job->list.skipped;
    memcpy(result->rejected_by, job->rejects.by, sizeof result->rejected_by);
    result->memory_peak_bytes = leat_rss_peak_bytes();
    result->seconds_total = (double)(leat_clock_ns() - job->begin_ns) * 1e-9;
}

static leat_code run_job(leat_images_job *job, const char *path, const char *out_dir,
                         leat_error *err) {
    const leat_images_ingest_options *options = job->options;
    const leat_ingest_folder_options how = {options->resume, options->replace, NULL};
    leat_ticker_stage(&job->ticker, "listing", "files", -1);
    LEAT_TRY(leat_image_list_find(&job->list, path, &job->filter, &job->ticker, err));
    LEAT_TRY(check_not_empty(job, err));
    LEAT_TRY(
        leat_ingest_folder_open(&job->folder, &leat_images_folder_kind, NULL, out_dir, &how, err));
    leat_error failure = {0}, left = {0};
    leat_code code = run_steps(job, &failure);
    leat_ingest_outcome outcome = outcome_of(job, code);
    close_files(job, outcome);
    leat_code closed = leat_ingest_folder_close(&job->folder, outcome, &left);
    if (code != LEAT_OK) return leat_error_copy(err, &failure);
    if (closed != LEAT_OK)
        leat_ingest_folder_warn(&job->folder, &left, job->result->warning,
                                sizeof job->result->warning);
    fill_result(job);
    return LEAT_OK;
}

/* A user who stops a run wants to know what can be continued. */
static leat_code explain(const leat_images_job *job, const leat_error *why, leat_error *err) {
    if (why->code != LEAT_ERR_CANCELLED) return leat_error_copy(err, why);
    return leat_fail(err, why->code,
                     "%s after %lld of %lld files; use --resume to continue, or --replace to start "
                     "over",
                     why->message, (long long)job->done, (long long)job->list.count);
}

leat_code leat_images_ingest(const char *path, const char *out_dir,
                             const leat_images_ingest_options *options,
                             leat_images_ingest_result *result, leat_error *err) {
    *result = (leat_images_ingest_result){0};
    LEAT_TRY(leat_images_options_check(options, err));
    LEAT_TRY(leat_image_check_libraries(err));
    leat_images_job *job = NULL;
    LEAT_TRY(LEAT_NEW(&job, 1, err));
    job->options = options;
    job->filter = (leat_image_filter){options->include, options->exclude};
    job->result = result;
    job->begin_ns = leat_clock_ns();
    leat_ticker_create(&job->ticker, options->progress, options->progress_user);
    leat_error why = {0};
    leat_code code = run_job(job, path, out_dir, &why);
    if (code != LEAT_OK) code = explain(job, &why, err);
    leat_ticker_destroy(&job->ticker);
    leat_image_list_free(&job->list);
    leat_free(job);
    if (code != LEAT_OK) *result = (leat_images_ingest_result){0};
    return code;
}
