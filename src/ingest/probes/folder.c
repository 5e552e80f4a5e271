/*
 * The output folder: see job.h. The output is written to DIR/.leat, a work folder (base/workdir.h),
 * and moved into place at the end (folder_publish.c). Third-party files are never touched, and
 * nothing is removed except under the lock DIR/.leat.lock.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "format/can_cache/can_cache.h"
#include "ingest/probes/job.h"
#include "ingest/source.h"

#define LOCK_NAME LEAT_WORK_NAME ".lock"

/* Everything that a run keeps in DIR/.leat; the contents of temp/ may be elsewhere. */
static const char *const work_names[] = {
    LEAT_STATE_NAME,
    LEAT_STREAMS_NAME,
    LEAT_JOURNAL_NAME,
    "out/",
    "out/train/",
    "out/train/train_shard_*" LEAT_SHARD_SUFFIX,
    "out/test/",
    "out/test/test_shard_*" LEAT_SHARD_SUFFIX,
    "out/" LEAT_INDEX_NAME,
    "out/" LEAT_RUN_NAME,
    "out/" LEAT_REJECTED_NAME,
    "out/" LEAT_MANIFEST_NAME,
    "parts/",
    "parts/train_*.part",
    "parts/test_*.part",
    "temp/",
    "temp/spill_*",
    "temp/rejected.*",
    "temp/scratch",
    "temp/plain_*",
    NULL,
};

static leat_code is_there(const char *dir, const char *name, bool *there, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *there = false;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *there = facts.kind != LEAT_PATH_NONE;
    return LEAT_OK;
}

/* ---- what exists ---- */

/* The state of a folder. */
typedef struct found_folder {
    leat_path_kind kind;
    bool work;       /* .leat belongs to an interrupted ingest, or to a running one */
    bool publishing; /* its data set is complete and is being moved into place */
    bool manifest;
    char first[128]; /* the name of anything other than .leat and its lock; "" if there is none */
} found_folder;

static leat_code look(leat_job_folder *folder, found_folder *found, leat_error *err) {
    leat_path_facts facts;
    leat_journal journal;
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
        found->manifest = found->manifest || strcmp(name, LEAT_MANIFEST_NAME) == 0;
    }
    leat_path_list_free(&names);
    LEAT_TRY(leat_workdir_look(&folder->workdir, folder->work, work_names, err));
    found->work = folder->workdir.run != 0 && folder->workdir.used;
    if (!found->work) return LEAT_OK;
    leat_error why = {0};
    leat_code code = leat_journal_load(folder->work, &journal, &found->publishing, &why);
    if (code != LEAT_OK && code != LEAT_ERR_CORRUPT) return leat_error_copy(err, &why);
    found->publishing = found->publishing || code != LEAT_OK; /* reported, or dropped, later */
    return LEAT_OK;
}

/* ---- third-party files ---- */

static leat_code refuse_other(const char *dir, const char *name, leat_error *err) {
    return leat_fail(
        err, LEAT_ERR_EXISTS,
        "\"%s\" contains \"%s\", which was not written by leat; move it away and run this again",
        dir, name);
}

/* Whether a name in DIR/train or DIR/test is that of a shard below `shard_count`. */
static bool is_shard_name(leat_split split, const char *name, int64_t shard_count) {
    char shard[LEAT_PATH_BYTES];
    snprintf(shard, sizeof shard, "%s/%s", leat_split_name(split), name);
    int64_t number = leat_layout_shard_number(split, shard);
    return number >= 0 && number < shard_count;
}

/* Whether DIR/train (DIR/test) is a folder, not a link to one, and contains only leat's shards
 * below shard_count. */
static leat_code check_split(const leat_job_folder *folder, leat_split split, int64_t shard_count,
                             leat_error *err) {
    char dir[LEAT_PATH_BYTES];
    leat_path_facts facts;
    bool link = false;
    LEAT_TRY(leat_path_join(dir, sizeof dir, folder->out, leat_split_name(split), err));
    LEAT_TRY(leat_path_is_link(dir, &link, err));
    if (link)
        return leat_fail(
            err, LEAT_ERR_EXISTS,
            "\"%s\" is a link: a data set whose folders are links cannot be replaced (nothing was "
            "changed); replace the link by the folder itself, or write to another folder",
            dir);
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    if (facts.kind != LEAT_PATH_DIR) return refuse_other(folder->out, leat_split_name(split), err);
    leat_path_list names = {0};
    leat_code code = leat_path_list_dir(dir, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        if (is_shard_name(split, names.paths[i], shard_count)) continue;
        code = refuse_other(dir, names.paths[i], err);
    }
    leat_path_list_free(&names);
    return code;
}

/* Checks that the place of a new data set holds nothing but the one that it replaces. */
static leat_code check_others(const leat_job_folder *folder, leat_error *err) {
    static const char *const files[] = {LEAT_INDEX_NAME, LEAT_RUN_NAME, LEAT_REJECTED_NAME,
                                        LEAT_MANIFEST_NAME};
    for (int split = 0; split < LEAT_SPLITS; split++)
        LEAT_TRY(check_split(folder, (leat_split)split, folder->old_shards[split], err));
    char path[LEAT_PATH_BYTES];
    bool is_log = true;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->out, LEAT_REJECTED_NAME, err));
    LEAT_TRY(leat_reject_is_log(&leat_probe_rejects, path, &is_log, err));
    if (!is_log) return refuse_other(folder->out, LEAT_REJECTED_NAME, err);
    if (folder->old_shards[0] + folder->old_shards[1] > 0) return LEAT_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bool there = false;
        LEAT_TRY(is_there(folder->out, files[i], &there, err));
        if (there) return refuse_other(folder->out, files[i], err);
    }
    return LEAT_OK;
}

/* ---- what is allowed ---- */

static leat_code load_old(const leat_job_folder *folder, leat_manifest *old, leat_error *err) {
    leat_code code = leat_manifest_load(folder->out, old, err);
    if (code == LEAT_OK || code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO) return code;
    return leat_error_context(err, LEAT_ERR_EXISTS,
                              "\"%s\" is not empty and does not hold a data set that this version "
                              "of leat can replace; remove it yourself, or use another folder",
                              folder->out);
}

leat_code leat_job_folder_refuse(const leat_job_folder *folder, leat_error *err) {
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" holds a complete data set; use --replace to replace it", folder->out);
}

/* Identifies the data set in DIR by its manifest: the one that an interrupted run is allowed to
 * replace. "": there is none. */
static leat_code name_dataset(const leat_job_folder *folder, char digest[65], leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t raw[32];
    leat_path_facts facts;
    digest[0] = 0;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->out, LEAT_MANIFEST_NAME, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    LEAT_TRY(leat_file_sha256(path, raw, err));
    leat_sha256_hex(raw, digest);
    return LEAT_OK;
}

/* An interrupted run is not allowed to replace a data set written after it began. */
static leat_code check_known(const leat_job_folder *folder, leat_error *err) {
    char digest[65];
    LEAT_TRY(name_dataset(folder, digest, err));
    if (strcmp(digest, folder->workdir.note) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" holds an interrupted ingest, and a data set that was not there when "
                     "it began; move the data set away, or use --replace to replace it",
                     folder->out);
}

/* What --replace, of this or of the interrupted run, is to replace. */
static leat_code judge_dataset(leat_job_folder *folder, const leat_probes_ingest_options *options,
                               const found_folder *found, leat_error *err) {
    leat_manifest old = {0};
    if (found->work && !options->replace) LEAT_TRY(check_known(folder, err));
    LEAT_TRY(load_old(folder, &old, err));
    for (int split = 0; split < LEAT_SPLITS; split++) {
        int64_t count = old.split[split].shard_count;
        if (count > folder->old_shards[split]) folder->old_shards[split] = count;
    }
    leat_manifest_free(&old);
    if (found->work || options->replace) return check_others(folder, err);
    return options->resume ? LEAT_OK : leat_job_folder_refuse(folder, err);
}

/* Whether a folder is a CAN cache, or contains one or more, complete or unfinished. */
static leat_code holds_caches(const char *dir, bool *found, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    LEAT_TRY(is_there(dir, LEAT_CAN_COMPLETE_NAME, found, err));
    if (*found) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(dir, &names, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < names.count && code == LEAT_OK && !*found; i++) {
        bool work = strncmp(names.paths[i], LEAT_WORK_NAME "-", sizeof LEAT_WORK_NAME) == 0;
        code = leat_path_join(path, sizeof path, dir, names.paths[i], err);
        if (code == LEAT_OK)
            code = is_there(path, work ? LEAT_WORKDIR_MARK : LEAT_CAN_COMPLETE_NAME, found, err);
    }
    leat_path_list_free(&names);
    return code;
}

/* Decides whether the folder in its present state may be used; changes nothing. */
static leat_code judge(leat_job_folder *folder, const leat_probes_ingest_options *options,
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
    if (found->manifest) return judge_dataset(folder, options, found, err);
    if (found->work) return check_others(folder, err);
    if (found->first[0] == 0) return LEAT_OK;
    bool caches = false;
    LEAT_TRY(holds_caches(folder->out, &caches, err));
    if (caches)
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%s\" holds the output of `leat ingest can` (\"%s\"); use another "
                         "folder for the data set",
                         folder->out, found->first);
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" is not empty (\"%s\") and does not hold a data set written by leat; "
                     "use another folder",
                     folder->out, found->first);
}

/* ---- names and the lock ---- */

static leat_code set_paths(leat_job_folder *folder, const char *out_dir, leat_error *err) {
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
    LEAT_TRY(leat_path_join(folder->stage, bytes, folder->work, LEAT_STAGE_NAME, err));
    return leat_path_join(folder->parts, bytes, folder->work, "parts", err);
}

static void discard_empty(const leat_job_folder *folder) {
    if (folder->created && leat_path_remove_dir(folder->out, NULL) != LEAT_OK) {
        /* it is not empty */
    }
}

/* A run that ends may remove the lock, and DIR with it, between any two steps of the run that takes
 * it. */
#define LOCK_TRIES 20

static leat_code take_lock(leat_job_folder *folder, leat_error *err) {
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

static void leave(leat_job_folder *folder) {
    if (folder->lock.file == NULL) return;
    leat_lock_release(&folder->lock);
    discard_empty(folder);
}

/* ---- the work ---- */

/* The state is removed before everything that it describes, so that a killed run cannot leave a
 * state that calls half of its work complete. */
static leat_code remove_work(leat_job_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    if (folder->workdir.run != 0) {
        LEAT_TRY(leat_path_join(path, sizeof path, folder->work, LEAT_STATE_NAME, err));
        LEAT_TRY(leat_path_remove(path, err));
    }
    return leat_workdir_remove(&folder->workdir, LEAT_JOURNAL_NAME, err);
}

leat_code leat_job_folder_prepare(const leat_job_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    for (int split = 0; split < LEAT_SPLITS; split++) {
        const char *name = leat_split_name((leat_split)split);
        LEAT_TRY(leat_path_join(path, sizeof path, folder->stage, name, err));
        LEAT_TRY(leat_path_make_dir(path, err));
    }
    return leat_path_make_dir(folder->parts, err);
}

/* Shards in DIR, of any data set. */
static leat_code count_shards(const leat_job_folder *folder, leat_split split, int64_t *count,
                              leat_error *err) {
    char dir[LEAT_PATH_BYTES], shard[LEAT_PATH_BYTES];
    leat_path_facts facts;
    leat_path_list names = {0};
    *count = 0;
    LEAT_TRY(leat_path_join(dir, sizeof dir, folder->out, leat_split_name(split), err));
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(dir, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        snprintf(shard, sizeof shard, "%s/%s", leat_split_name(split), names.paths[i]);
        int64_t number = leat_layout_shard_number(split, shard);
        if (number >= *count) *count = number + 1;
    }
    leat_path_list_free(&names);
    return LEAT_OK;
}

/* Gives up a data set that could not be moved into place; whatever is in DIR by now is replaced
 * with the rest. */
static leat_code give_up(leat_job_folder *folder, leat_error *err) {
    leat_journal journal;
    bool there = false;
    leat_error why = {0};
    leat_code code = leat_journal_load(folder->work, &journal, &there, &why);
    if (code != LEAT_OK && code != LEAT_ERR_CORRUPT) return leat_error_copy(err, &why);
    for (int split = 0; split < LEAT_SPLITS; split++) {
        int64_t *count = &folder->old_shards[split];
        int64_t now = journal.shards[split], old = journal.old_shards[split];
        if (there) *count = now > old ? now : old;
        else LEAT_TRY(count_shards(folder, (leat_split)split, count, err));
    }
    return LEAT_OK;
}

/* A complete data set is moved into place before anything else happens: it is neither resumed, nor
 * discarded for one that does not exist yet. */
static leat_code finish_publishing(leat_job_folder *folder, bool replace, leat_error *err) {
    leat_code code = leat_job_folder_publish(folder, err);
    folder->published = code == LEAT_OK;
    if (code == LEAT_OK) return remove_work(folder, err);
    return code == LEAT_ERR_CORRUPT && replace ? give_up(folder, err) : code;
}

/* Whether an interrupted run can be continued: it has a state, and its temporary files are where
 * this run expects them. */
static leat_code look_for_state(leat_job_folder *folder, const leat_probes_ingest_options *options,
                                leat_error *err) {
    bool there = false;
    bool same = true;
    if (!options->resume || folder->workdir.run == 0) return LEAT_OK;
    LEAT_TRY(is_there(folder->work, LEAT_STATE_NAME, &there, err));
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
static leat_code settle(leat_job_folder *folder, const leat_probes_ingest_options *options,
                        leat_error *err) {
    found_folder found;
    LEAT_TRY(look(folder, &found, err));
    if (found.publishing) {
        LEAT_TRY(finish_publishing(folder, options->replace, err));
        LEAT_TRY(look(folder, &found, err));
        found.publishing =
            false; /* the journal of a data set that could not be finished is given up */
    }
    LEAT_TRY(judge(folder, options, &found, err));
    folder->finished = options->resume && found.manifest && !found.work;
    LEAT_TRY(look_for_state(folder, options, err));
    if (folder->resuming) return LEAT_OK;
    LEAT_TRY(remove_work(folder, err));
    if (folder->finished) return LEAT_OK;
    char digest[65];
    LEAT_TRY(name_dataset(folder, digest, err));
    return leat_workdir_begin(&folder->workdir, options->temp_dir, digest, err);
}

/* What looks like an interrupted run may be a running one. */
static leat_code refuse_or_busy(leat_job_folder *folder, leat_code code, const leat_error *why,
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

leat_code leat_job_folder_open(leat_job_folder *folder, const char *out_dir,
                               const leat_probes_ingest_options *options, leat_error *err) {
    found_folder found;
    *folder = (leat_job_folder){0};
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

leat_code leat_job_folder_close(leat_job_folder *folder, leat_job_outcome outcome,
                                leat_error *err) {
    leat_code code = LEAT_OK;
    if (outcome != LEAT_JOB_RESUMABLE) code = remove_work(folder, err);
    leave(folder);
    return code;
}
