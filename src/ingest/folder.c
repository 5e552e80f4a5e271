/* The output folder of an ingest: see folder.h. */
#include "ingest/folder.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define LOCK_NAME LEAT_WORK_NAME ".lock"

leat_code leat_ingest_folder_has(const char *dir, const char *name, bool *there, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *there = false;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *there = facts.kind != LEAT_PATH_NONE;
    return LEAT_OK;
}

leat_code leat_ingest_folder_refuse_other(const char *dir, const char *name, leat_error *err) {
    return leat_fail(
        err, LEAT_ERR_EXISTS,
        "\"%s\" contains \"%s\", which was not written by leat; move it away and run this again",
        dir, name);
}

leat_code leat_ingest_folder_refuse(const leat_ingest_folder *folder, leat_error *err) {
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" holds a complete data set; use --replace to replace it", folder->out);
}

/* ---- what exists ---- */

/* The state of a folder. */
typedef struct found_folder {
    leat_path_kind kind;
    bool work;       /* .leat belongs to an interrupted ingest, or to a running one */
    bool publishing; /* its data set is complete and is being moved into place */
    bool dataset;
    leat_output_kind other; /* what another ingest wrote, or is writing, there */
    char first[128]; /* the name of anything other than .leat and its lock; "" if there is none */
} found_folder;

static leat_code refuse_output(const leat_ingest_folder *folder, const found_folder *found,
                               leat_error *err) {
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" holds the output of `%s` (\"%s\"); use another folder for the data "
                     "set",
                     folder->out, leat_output_command(found->other), found->first);
}

/*
 * Another kind may also work in DIR/.leat: its output is refused before the work folder is examined
 * further. A run that was killed in its first moments has left nothing by which its kind could be
 * told: its folder may be used by any.
 */
static leat_code look_for_other(leat_ingest_folder *folder, found_folder *found, leat_error *err) {
    leat_output output, itself;
    LEAT_TRY(leat_output_look(folder->out, &output, err));
    if (output.kind == folder->kind->output || output.kind == LEAT_OUTPUT_NONE) return LEAT_OK;
    found->other = output.kind;
    if (output.kind == LEAT_OUTPUT_CAN) return LEAT_OK;
    LEAT_TRY(leat_output_of(folder->out, &itself, err));
    leat_error why = {0};
    leat_code code = LEAT_ERR_EXISTS;
    if (itself.kind == LEAT_OUTPUT_NONE)
        code = leat_workdir_look(&folder->workdir, folder->work, folder->kind->work_names, &why);
    if (code == LEAT_OK) found->other = LEAT_OUTPUT_NONE;
    if (code != LEAT_ERR_EXISTS) return code == LEAT_OK ? code : leat_error_copy(err, &why);
    if (found->first[0] == 0) snprintf(found->first, sizeof found->first, "%s", LEAT_WORK_NAME);
    return refuse_output(folder, found, err);
}

static leat_code look(leat_ingest_folder *folder, found_folder *found, leat_error *err) {
    leat_path_facts facts;
    *found = (found_folder){0};
    LEAT_TRY(leat_path_stat(folder->out, &facts, err));
    found->kind = facts.kind;
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(folder->out, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        const char *name = names.paths[i];
        if (strcmp(name, LEAT_WORK_NAME) == 0 || strcmp(name, LOCK_NAME) == 0) continue;
        if (found->first[0] == 0) snprintf(found->first, sizeof found->first, "%s", name);
        found->dataset = found->dataset || strcmp(name, folder->kind->identity) == 0;
    }
    leat_path_list_free(&names);
    LEAT_TRY(look_for_other(folder, found, err));
    LEAT_TRY(leat_workdir_look(&folder->workdir, folder->work, folder->kind->work_names, err));
    found->work = folder->workdir.run != 0 && folder->workdir.used;
    return found->work ? folder->kind->is_publishing(folder, &found->publishing, err) : LEAT_OK;
}

/* ---- what is allowed ---- */

/* Identifies the data set in DIR: the one that an interrupted run is allowed to replace. "": there
 * is none. */
static leat_code name_dataset(const leat_ingest_folder *folder, char digest[65], leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t raw[32];
    leat_path_facts facts;
    digest[0] = 0;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->out, folder->kind->identity, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    LEAT_TRY(leat_file_sha256(path, raw, err));
    leat_sha256_hex(raw, digest);
    return LEAT_OK;
}

/* An interrupted run is not allowed to replace a data set written after it began. */
static leat_code check_known(const leat_ingest_folder *folder, leat_error *err) {
    char digest[65];
    LEAT_TRY(name_dataset(folder, digest, err));
    if (strcmp(digest, folder->workdir.note) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" holds an interrupted ingest, and a data set that was not there when "
                     "it began; move the data set away, or use --replace to replace it",
                     folder->out);
}

/* What --replace, of this or of the interrupted run, is to replace. */
static leat_code judge_dataset(leat_ingest_folder *folder,
                               const leat_ingest_folder_options *options, const found_folder *found,
                               leat_error *err) {
    if (found->work && !options->replace) LEAT_TRY(check_known(folder, err));
    LEAT_TRY(folder->kind->look_at_old(folder, err));
    if (found->work || options->replace) return folder->kind->check_others(folder, err);
    return options->resume ? LEAT_OK : leat_ingest_folder_refuse(folder, err);
}

/* Decides whether the folder in its present state may be used; changes nothing. */
static leat_code judge(leat_ingest_folder *folder, const leat_ingest_folder_options *options,
                       const found_folder *found, leat_error *err) {
    if (found->kind == LEAT_PATH_NONE) return LEAT_OK;
    if (found->kind != LEAT_PATH_DIR) {
        return leat_fail(err, LEAT_ERR_EXISTS, "output \"%s\" is a file, not a folder",
                         folder->out);
    }
    if (found->publishing) return LEAT_OK; /* it is finished first, whatever the options */
    if (found->work && !options->resume && !options->replace) {
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%s\" holds an interrupted ingest; use --resume to continue it, or "
                         "--replace to start over",
                         folder->out);
    }
    if (found->dataset && found->other == LEAT_OUTPUT_NONE)
        return judge_dataset(folder, options, found, err);
    if (found->work) return folder->kind->check_others(folder, err);
    if (found->first[0] == 0) return LEAT_OK;
    if (found->other != LEAT_OUTPUT_NONE) return refuse_output(folder, found, err);
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" is not empty (\"%s\") and does not hold a data set written by leat; "
                     "use another folder",
                     folder->out, found->first);
}

/* ---- names and the lock ---- */

static leat_code set_paths(leat_ingest_folder *folder, const char *out_dir, leat_error *err) {
    size_t length = strlen(out_dir);
    while (length > 1 && out_dir[length - 1] == '/') length--;
    if (length == 0 || length >= LEAT_PATH_BYTES - 64) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "output folder \"%.64s\": its name of %zu bytes is too long", out_dir,
                         length);
    }
    memcpy(folder->out, out_dir, length);
    int64_t bytes = LEAT_PATH_BYTES;
    LEAT_TRY(leat_path_join(folder->work, bytes, folder->out, LEAT_WORK_NAME, err));
    return leat_path_join(folder->stage, bytes, folder->work, LEAT_WORK_OUT_NAME, err);
}

static void discard_empty(const leat_ingest_folder *folder) {
    if (folder->created && leat_path_remove_dir(folder->out, NULL) != LEAT_OK) {
        /* it is not empty */
    }
}

/* A run that ends may remove the lock, and DIR with it, between any two steps of the run that takes
 * it. */
#define LOCK_TRIES 20

static leat_code take_lock(leat_ingest_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, folder->out, LOCK_NAME, err));
    leat_code code = LEAT_ERR_NOT_FOUND;
    for (int i = 0; i < LOCK_TRIES && code == LEAT_ERR_NOT_FOUND; i++) {
        code = leat_path_make_dir(folder->out, err);
        if (code == LEAT_OK) code = leat_lock_try(&folder->lock, path, err);
    }
    if (code == LEAT_OK) return LEAT_OK;
    discard_empty(folder);
    if (code != LEAT_ERR_BUSY) return code;
    return leat_fail(err, code,
                     "another ingest is running in \"%s\"; wait until it ends, or stop it",
                     folder->out);
}

static void leave(leat_ingest_folder *folder) {
    if (folder->lock.file == NULL) return;
    leat_lock_release(&folder->lock);
    discard_empty(folder);
}

/* What looks like an interrupted run may be a running one. */
static leat_code refuse_or_busy(leat_ingest_folder *folder, leat_code code, const leat_error *why,
                                leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_error busy = {0};
    leat_path_facts facts;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->out, LOCK_NAME, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (code != LEAT_ERR_EXISTS || facts.kind == LEAT_PATH_NONE) return leat_error_copy(err, why);
    if (take_lock(folder, &busy) == LEAT_ERR_BUSY) return leat_error_copy(err, &busy);
    leave(folder);
    return leat_error_copy(err, why);
}

/* ---- the work ---- */

static leat_code remove_work(leat_ingest_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    if (folder->workdir.run != 0) {
        LEAT_TRY(leat_path_join(path, sizeof path, folder->work, folder->kind->state, err));
        LEAT_TRY(leat_path_remove(path, err));
    }
    return leat_workdir_remove(&folder->workdir, folder->kind->last, err);
}

/* A complete data set is moved into place before anything else happens: it is neither resumed, nor
 * discarded for one that does not exist yet. */
static leat_code finish_publishing(leat_ingest_folder *folder, bool replace, leat_error *err) {
    leat_code code = folder->kind->publish(folder, err);
    folder->published = code == LEAT_OK;
    if (code == LEAT_OK) return remove_work(folder, err);
    return code == LEAT_ERR_CORRUPT && replace ? folder->kind->give_up(folder, err) : code;
}

/* Whether an interrupted run can be continued: it has a state, and its temporary files are where
 * this run expects them. */
static leat_code look_for_state(leat_ingest_folder *folder,
                                const leat_ingest_folder_options *options, leat_error *err) {
    bool there = false;
    bool same = true;
    if (!options->resume || folder->workdir.run == 0) return LEAT_OK;
    LEAT_TRY(leat_ingest_folder_has(folder->work, folder->kind->state, &there, err));
    if (!there) return LEAT_OK;
    if (options->temp_dir != NULL)
        LEAT_TRY(leat_workdir_is_temp(&folder->workdir, options->temp_dir, &same, err));
    if (!same)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "cannot resume: temporary files are in \"%s\", not in \"%s\"; use the "
                         "--temp of the interrupted run, or none",
                         folder->workdir.temp, options->temp_dir);
    folder->resuming = true;
    return LEAT_OK;
}

/* Under the lock: what was found before may belong to another run that has finished since. */
static leat_code settle(leat_ingest_folder *folder, const leat_ingest_folder_options *options,
                        leat_error *err) {
    found_folder found;
    LEAT_TRY(look(folder, &found, err));
    if (found.publishing) {
        LEAT_TRY(finish_publishing(folder, options->replace, err));
        LEAT_TRY(look(folder, &found, err));
        found.publishing = false; /* what could not be finished is given up */
    }
    LEAT_TRY(judge(folder, options, &found, err));
    folder->finished = options->resume && found.dataset && !found.work;
    LEAT_TRY(look_for_state(folder, options, err));
    if (folder->resuming) return LEAT_OK;
    LEAT_TRY(remove_work(folder, err));
    if (folder->finished) return LEAT_OK;
    char digest[65];
    LEAT_TRY(name_dataset(folder, digest, err));
    return leat_workdir_begin(&folder->workdir, options->temp_dir, digest, err);
}

leat_code leat_ingest_folder_open(leat_ingest_folder *folder, const leat_ingest_folder_kind *kind,
                                  void *context, const char *out_dir,
                                  const leat_ingest_folder_options *options, leat_error *err) {
    found_folder found;
    *folder = (leat_ingest_folder){.kind = kind, .context = context};
    LEAT_TRY(set_paths(folder, out_dir, err));
    leat_error why = {0};
    leat_code code = look(folder, &found, &why);
    if (code == LEAT_OK) code = judge(folder, options, &found, &why);
    if (code != LEAT_OK) return refuse_or_busy(folder, code, &why, err);
    folder->created = found.kind == LEAT_PATH_NONE;
    LEAT_TRY(take_lock(folder, err));
    code = settle(folder, options, err);
    if (code != LEAT_OK) leave(folder);
    return code;
}

leat_code leat_ingest_folder_close(leat_ingest_folder *folder, leat_ingest_outcome outcome,
                                   leat_error *err) {
    leat_code code = LEAT_OK;
    if (outcome != LEAT_INGEST_RESUMABLE) code = remove_work(folder, err);
    leave(folder);
    return code;
}

void leat_ingest_folder_warn(const leat_ingest_folder *folder, const leat_error *left,
                             char *warning, size_t warning_bytes) {
    snprintf(warning, warning_bytes,
             "the data set is complete, but temporary files could not be removed: %s (the next "
             "ingest to \"%s\" removes them)",
             left->message, folder->out);
}
