/*
 * The output folder: see job.h. Everything grows in DIR/.leat and moves to its place at the end,
 * manifest.json last: a folder without it is no data set. Files of others are never touched, and
 * nothing is removed but by who holds the lock of DIR/.leat.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "ingest/job.h"
#include "ingest/temp.h"

#define LOCK_NAME "lock"

/* What a data set consists of, in the order in which it is moved: the folders of its splits first,
 * and last the manifest, which makes it whole. */
static const char *const parts_of_dataset[] = {
    "train", "test", LEAT_INDEX_NAME, LEAT_RUN_NAME, LEAT_REJECTED_NAME, LEAT_MANIFEST_NAME,
};
#define PART_COUNT ((int)(sizeof parts_of_dataset / sizeof *parts_of_dataset))

static leat_code kind_of(const char *dir, const char *name, leat_path_kind *kind, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *kind = LEAT_PATH_NONE;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *kind = facts.kind;
    return LEAT_OK;
}

static leat_code is_there(const char *dir, const char *name, bool *there, leat_error *err) {
    leat_path_kind kind;
    leat_code code = kind_of(dir, name, &kind, err);
    *there = kind != LEAT_PATH_NONE;
    return code;
}

/* ---- what is there ---- */

/* A folder as it is found. */
typedef struct found_folder {
    leat_path_kind kind;
    bool work;       /* .leat holds more than a lock: an ingest was interrupted, or is at work */
    bool publishing; /* its data set is complete and being moved to its place */
    bool manifest;
    char first[128]; /* name of anything besides .leat; "" if there is none */
} found_folder;

/* Whether DIR/.leat holds anything that an ingest could go on with, or that should be removed. */
static leat_code work_is_there(const leat_job_folder *folder, bool *work, leat_error *err) {
    leat_path_facts facts;
    *work = false;
    LEAT_TRY(leat_path_stat(folder->work, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    leat_path_list names = {0};
    leat_code code = leat_path_list_dir(folder->work, &names, err);
    if (code == LEAT_ERR_NOT_FOUND) return LEAT_OK; /* who worked there is done */
    for (int64_t i = 0; i < names.count; i++) {
        *work = *work || strcmp(names.paths[i], LOCK_NAME) != 0;
    }
    leat_path_list_free(&names);
    return code;
}

static leat_code look(const leat_job_folder *folder, found_folder *found, leat_error *err) {
    leat_path_facts facts;
    *found = (found_folder){0};
    LEAT_TRY(leat_path_stat(folder->out, &facts, err));
    found->kind = facts.kind;
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(folder->out, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        const char *name = names.paths[i];
        if (strcmp(name, LEAT_WORK_NAME) == 0) continue;
        if (found->first[0] == 0) snprintf(found->first, sizeof found->first, "%s", name);
        found->manifest = found->manifest || strcmp(name, LEAT_MANIFEST_NAME) == 0;
    }
    leat_path_list_free(&names);
    LEAT_TRY(work_is_there(folder, &found->work, err));
    if (!found->work) return LEAT_OK;
    leat_job_peek state;
    LEAT_TRY(leat_job_state_peek(folder, &state, err));
    found->publishing = state.publishing;
    return LEAT_OK;
}

/* ---- files of others ---- */

static leat_code refuse_other(const char *dir, const char *name, leat_error *err) {
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" holds \"%s\", which no ingest of leat has made: move it away, then "
                     "run this again",
                     dir, name);
}

/* Whether a name in DIR/train or DIR/test is that of a shard below `shard_count`, or of one that
 * was being written. */
static bool is_shard_name(leat_split split, const char *name, int64_t shard_count) {
    char shard[LEAT_PATH_BYTES];
    snprintf(shard, sizeof shard, "%s/%s", leat_split_name(split), name);
    size_t length = strlen(shard);
    if (length > 4 && strcmp(shard + length - 4, ".tmp") == 0) shard[length - 4] = 0;
    int64_t number = leat_layout_shard_number(split, shard);
    return number >= 0 && number < shard_count;
}

/* Everything in DIR/train (DIR/test) is a shard of ours below shard_count. */
static leat_code check_split(const leat_job_folder *folder, leat_split split, int64_t shard_count,
                             leat_error *err) {
    char dir[LEAT_PATH_BYTES];
    leat_path_kind kind;
    LEAT_TRY(kind_of(folder->out, leat_split_name(split), &kind, err));
    if (kind == LEAT_PATH_NONE) return LEAT_OK;
    if (kind != LEAT_PATH_DIR) return refuse_other(folder->out, leat_split_name(split), err);
    LEAT_TRY(leat_path_join(dir, sizeof dir, folder->out, leat_split_name(split), err));
    leat_path_list names = {0};
    leat_code code = leat_path_list_dir(dir, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        if (is_shard_name(split, names.paths[i], shard_count)) continue;
        code = refuse_other(dir, names.paths[i], err);
    }
    leat_path_list_free(&names);
    return code;
}

/* Where a data set is to come, there is nothing but the one that it replaces. */
static leat_code check_others(const leat_job_folder *folder, const leat_manifest *old,
                              leat_error *err) {
    for (int split = 0; split < LEAT_SPLITS; split++) {
        LEAT_TRY(check_split(folder, split, old->split[split].shard_count, err));
    }
    if (old->shard_count > 0) return LEAT_OK;
    for (int i = LEAT_SPLITS; i < PART_COUNT; i++) {
        bool there = false;
        LEAT_TRY(is_there(folder->out, parts_of_dataset[i], &there, err));
        if (there) return refuse_other(folder->out, parts_of_dataset[i], err);
    }
    return LEAT_OK;
}

/* ---- what may be done ---- */

static leat_code load_old(const leat_job_folder *folder, leat_manifest *old, leat_error *err) {
    leat_code code = leat_manifest_load(folder->out, old, err);
    if (code == LEAT_OK || code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO) return code;
    return leat_error_context(err, LEAT_ERR_EXISTS,
                              "\"%s\" is not empty and no data set that this leat can replace "
                              "(remove it yourself, or give another folder)",
                              folder->out);
}

leat_code leat_job_folder_refuse(const leat_job_folder *folder, leat_error *err) {
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" holds a complete data set: pass --replace to make it anew",
                     folder->out);
}

static leat_code judge_dataset(const leat_job_folder *folder,
                               const leat_probes_ingest_options *options, const found_folder *found,
                               leat_error *err) {
    leat_manifest old = {0};
    LEAT_TRY(load_old(folder, &old, err));
    leat_code code = LEAT_OK;
    if (found->work || options->replace) code = check_others(folder, &old, err);
    else if (!options->resume) code = leat_job_folder_refuse(folder, err);
    leat_manifest_free(&old);
    return code;
}

/* Decides whether the folder may be worked in, as it is now; touches nothing. */
static leat_code judge(const leat_job_folder *folder, const leat_probes_ingest_options *options,
                       const found_folder *found, leat_error *err) {
    if (found->kind == LEAT_PATH_NONE) return LEAT_OK;
    if (found->kind != LEAT_PATH_DIR) {
        return leat_fail(err, LEAT_ERR_EXISTS, "output \"%s\" is a file, not a folder",
                         folder->out);
    }
    if (found->work) {
        if (!options->resume && !options->replace) {
            return leat_fail(err, LEAT_ERR_EXISTS,
                             "\"%s\" holds an interrupted ingest: pass --resume to go on with it "
                             "or --replace to begin anew",
                             folder->out);
        }
        if (found->publishing) return LEAT_OK; /* what is there is its own */
        if (found->manifest) return judge_dataset(folder, options, found, err);
        return check_others(folder, &(leat_manifest){0}, err);
    }
    if (found->manifest) return judge_dataset(folder, options, found, err);
    if (found->first[0] == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" is not empty (\"%s\") and no data set of leat: give another folder",
                     folder->out, found->first);
}

/* ---- names ---- */

static leat_code set_paths(leat_job_folder *folder, const char *out_dir, leat_error *err) {
    size_t length = strlen(out_dir);
    while (length > 1 && out_dir[length - 1] == '/') length--;
    if (length == 0 || length >= LEAT_PATH_BYTES - 64) {
        return leat_fail(err, LEAT_ERR_OPTION, "output folder \"%.64s\": name of %zu bytes",
                         out_dir, length);
    }
    memcpy(folder->out, out_dir, length);
    int64_t room = LEAT_PATH_BYTES;
    LEAT_TRY(leat_path_join(folder->work, room, folder->out, LEAT_WORK_NAME, err));
    LEAT_TRY(leat_path_join(folder->stage, room, folder->work, "out", err));
    return leat_path_join(folder->parts, room, folder->work, "parts", err);
}

static leat_code set_temp(leat_job_folder *folder, const leat_probes_ingest_options *options,
                          leat_error *err) {
    if (options->temp_dir == NULL) {
        return leat_path_join(folder->temp, sizeof folder->temp, folder->work, "temp", err);
    }
    return leat_temp_path(folder->temp, options->temp_dir, folder->out, err);
}

/* ---- the lock ---- */

static void discard_dir(const char *path) {
    if (leat_path_remove_dir(path, NULL) != LEAT_OK) return;
}

/* DIR/.leat and DIR go if they are empty and nothing of what this run found. */
static void discard_empty(const leat_job_folder *folder) {
    discard_dir(folder->work);
    if (folder->created) discard_dir(folder->out);
}

static leat_code try_lock(leat_job_folder *folder, const char *path, leat_error *err) {
    LEAT_TRY(leat_path_make_dir(folder->work, err));
    leat_code code = leat_file_open(&folder->lock, path, LEAT_FILE_NEW, err);
    bool made = code == LEAT_OK;
    if (code == LEAT_ERR_EXISTS) code = leat_file_open(&folder->lock, path, LEAT_FILE_UPDATE, err);
    if (code == LEAT_OK) code = leat_file_lock(folder->lock, err);
    if (code == LEAT_OK) return LEAT_OK;
    if (made && code != LEAT_ERR_BUSY && code != LEAT_ERR_NOT_FOUND) leat_path_discard(path);
    leat_file_close(folder->lock);
    folder->lock = NULL;
    return code;
}

/* Who ends a run removes the lock, and .leat with it, between any two steps of who takes it. */
#define LOCK_TRIES 20

static leat_code take_lock(leat_job_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, folder->work, LOCK_NAME, err));
    leat_code code = LEAT_ERR_NOT_FOUND;
    for (int i = 0; i < LOCK_TRIES && code == LEAT_ERR_NOT_FOUND; i++) {
        code = try_lock(folder, path, err);
    }
    if (code == LEAT_OK) return LEAT_OK;
    discard_empty(folder);
    if (code != LEAT_ERR_BUSY) return code;
    return leat_error_context(err, code, "another ingest works in \"%s\"", folder->out);
}

/* Ends the work: the lock goes if there is nothing more to lock, as the last of what is there. */
static void leave(leat_job_folder *folder) {
    char path[LEAT_PATH_BYTES];
    bool work = true;
    if (folder->lock == NULL) return;
    if (work_is_there(folder, &work, NULL) == LEAT_OK && !work &&
        leat_path_join(path, sizeof path, folder->work, LOCK_NAME, NULL) == LEAT_OK) {
        leat_path_discard(path);
        discard_empty(folder);
    }
    leat_file_close(folder->lock);
    folder->lock = NULL;
}

/* ---- what is left of the work ---- */

/* All but the lock and the state. */
static leat_code remove_work(const leat_job_folder *folder, leat_error *err) {
    LEAT_TRY(leat_path_remove_tree(folder->temp, err));
    leat_path_list names = {0};
    leat_code code = leat_path_list_dir(folder->work, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        char path[LEAT_PATH_BYTES];
        const char *name = names.paths[i];
        if (strcmp(name, LOCK_NAME) == 0 || strcmp(name, LEAT_STATE_NAME) == 0) continue;
        code = leat_path_join(path, sizeof path, folder->work, name, err);
        if (code == LEAT_OK) code = leat_path_remove_tree(path, err);
    }
    leat_path_list_free(&names);
    return code;
}

static leat_code remove_state(const leat_job_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, folder->work, LEAT_STATE_NAME, err));
    return leat_path_remove(path, err);
}

/* Begins anew. The state goes before all that it speaks of. */
static leat_code clear_unfinished(const leat_job_folder *folder, leat_error *err) {
    LEAT_TRY(remove_state(folder, err));
    return remove_work(folder, err);
}

/* Once the data set is at its place. The state goes last: who is killed before finds a run that is
 * being published, and who is killed after, a complete data set beside nothing. */
static leat_code clear_published(const leat_job_folder *folder, leat_error *err) {
    LEAT_TRY(remove_work(folder, err));
    return remove_state(folder, err);
}

leat_code leat_job_folder_prepare(const leat_job_folder *folder, leat_error *err) {
    static const char *const splits[] = {"train", "test"};
    char path[LEAT_PATH_BYTES];
    for (int i = 0; i < 2; i++) {
        LEAT_TRY(leat_path_join(path, sizeof path, folder->stage, splits[i], err));
        LEAT_TRY(leat_path_make_dir(path, err));
    }
    LEAT_TRY(leat_path_make_dir(folder->parts, err));
    return leat_path_make_dir(folder->temp, err);
}

/* ---- opening and closing ---- */

/* Under the lock: what was found before may have been another run's, which is done by now. */
static leat_code settle(leat_job_folder *folder, const leat_probes_ingest_options *options,
                        leat_error *err) {
    leat_job_peek state;
    LEAT_TRY(leat_job_state_peek(folder, &state, err));
    if (state.publishing && options->replace) {
        /* A data set that is complete is not thrown away for one that has yet to be made; and what
         * of it is in DIR already could not be told from files of others without its manifest. */
        leat_code code = leat_job_folder_publish(folder, state.manifest_sha256, err);
        if (code == LEAT_OK) code = clear_published(folder, err);
        if (code != LEAT_OK && code != LEAT_ERR_CORRUPT) return code;
    }
    found_folder found;
    LEAT_TRY(look(folder, &found, err));
    LEAT_TRY(judge(folder, options, &found, err));
    folder->resuming = options->resume && state.there;
    folder->finished = options->resume && found.manifest && !found.work;
    return folder->resuming ? LEAT_OK : clear_unfinished(folder, err);
}

leat_code leat_job_folder_open(leat_job_folder *folder, const char *out_dir,
                               const leat_probes_ingest_options *options, leat_error *err) {
    found_folder found;
    *folder = (leat_job_folder){0};
    LEAT_TRY(set_paths(folder, out_dir, err));
    LEAT_TRY(look(folder, &found, err));
    LEAT_TRY(judge(folder, options, &found, err));
    folder->created = found.kind == LEAT_PATH_NONE;
    LEAT_TRY(take_lock(folder, err));
    leat_code code = set_temp(folder, options, err);
    if (code == LEAT_OK) code = settle(folder, options, err);
    if (code != LEAT_OK) leave(folder);
    return code;
}

void leat_job_folder_close(leat_job_folder *folder, leat_job_outcome outcome) {
    leat_code code = LEAT_OK;
    if (outcome == LEAT_JOB_DONE) code = clear_published(folder, NULL);
    if (outcome == LEAT_JOB_FAILED) code = clear_unfinished(folder, NULL);
    (void)code; /* what could not be removed is found by the next run */
    leave(folder);
}

/* ---- publishing ---- */

static leat_code remove_old_split(const leat_job_folder *folder, leat_split split,
                                  leat_error *err) {
    char dir[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    LEAT_TRY(leat_path_join(dir, sizeof dir, folder->out, leat_split_name(split), err));
    LEAT_TRY(check_split(folder, split, LEAT_SHARDS_MAX, err));
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    leat_path_list names = {0};
    leat_code code = leat_path_list_dir(dir, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        code = leat_path_join(path, sizeof path, dir, names.paths[i], err);
        if (code == LEAT_OK) code = leat_path_remove(path, err);
    }
    leat_path_list_free(&names);
    return code == LEAT_OK ? leat_path_remove_dir(dir, err) : code;
}

/* The data set that was there, its manifest before all, so that no mixture ever looks whole. */
static leat_code remove_old(const leat_job_folder *folder, leat_error *err) {
    for (int i = PART_COUNT - 1; i >= LEAT_SPLITS; i--) {
        char path[LEAT_PATH_BYTES];
        LEAT_TRY(leat_path_join(path, sizeof path, folder->out, parts_of_dataset[i], err));
        LEAT_TRY(leat_path_remove(path, err));
        if (i == PART_COUNT - 1) LEAT_TRY(leat_path_sync_dir(folder->out, err));
    }
    for (int split = 0; split < LEAT_SPLITS; split++) {
        LEAT_TRY(remove_old_split(folder, split, err));
    }
    return leat_path_sync_dir(folder->out, err);
}

leat_code leat_job_folder_manifest(const leat_job_folder *folder, const char **dir,
                                   leat_error *err) {
    bool staged = false;
    leat_code code = is_there(folder->stage, LEAT_MANIFEST_NAME, &staged, err);
    *dir = staged ? folder->stage : folder->out;
    return code;
}

/* An earlier run has made the data set: it is there as it was, wherever it is by now. */
static leat_code check_finished(const leat_job_folder *folder, const uint8_t sha256[32],
                                leat_error *err) {
    char path[LEAT_PATH_BYTES];
    const char *dir = NULL;
    uint8_t found[32];
    LEAT_TRY(leat_job_folder_manifest(folder, &dir, err));
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_MANIFEST_NAME, err));
    leat_code code = leat_file_sha256(path, found, err);
    if (code == LEAT_OK && memcmp(found, sha256, sizeof found) == 0) return LEAT_OK;
    if (code != LEAT_OK && code != LEAT_ERR_NOT_FOUND) return code;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "the interrupted run had made a data set, but \"%s\" is not its manifest: "
                     "begin anew with --replace",
                     path);
}

leat_code leat_job_folder_publish(const leat_job_folder *folder, const uint8_t *finished_sha256,
                                  leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES];
    if (finished_sha256 != NULL) LEAT_TRY(check_finished(folder, finished_sha256, err));
    /* The first part of the new one is still staged as long as the old one is not removed. */
    bool staged = false;
    LEAT_TRY(is_there(folder->stage, parts_of_dataset[0], &staged, err));
    if (staged) LEAT_TRY(remove_old(folder, err));
    for (int i = 0; i < PART_COUNT; i++) {
        LEAT_TRY(is_there(folder->stage, parts_of_dataset[i], &staged, err));
        if (!staged) continue;
        /* The manifest says that all the others are there, after a power failure too. */
        if (i == PART_COUNT - 1) LEAT_TRY(leat_path_sync_dir(folder->out, err));
        LEAT_TRY(leat_path_join(from, sizeof from, folder->stage, parts_of_dataset[i], err));
        LEAT_TRY(leat_path_join(to, sizeof to, folder->out, parts_of_dataset[i], err));
        LEAT_TRY(leat_path_rename(from, to, err));
    }
    return leat_path_sync_dir(folder->out, err);
}
