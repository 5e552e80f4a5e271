/*
 * The output folder: see job.h. Everything grows in DIR/.leat and moves to its place at the end,
 * manifest.json last: a folder without it is no data set. Files of others are never touched.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "ingest/job.h"

/* What a data set consists of, in the order in which it is moved; the manifest makes it whole. */
static const char *const parts_of_dataset[] = {
    "train", "test", LEAT_INDEX_NAME, LEAT_RUN_NAME, "rejected.csv", LEAT_MANIFEST_NAME,
};
#define PART_COUNT ((int)(sizeof parts_of_dataset / sizeof *parts_of_dataset))

static leat_code is_there(const char *dir, const char *name, bool *there, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *there = false;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *there = facts.kind != LEAT_PATH_NONE;
    return LEAT_OK;
}

/* A folder is ours if its manifest is; one that cannot be read is an error, not a stranger's. */
static leat_code is_dataset(const char *dir, bool *ours, leat_error *err) {
    leat_manifest manifest = {0};
    leat_error problem = {0};
    leat_code code = leat_manifest_load(dir, &manifest, &problem);
    leat_manifest_free(&manifest);
    *ours = code == LEAT_OK;
    bool unread = code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO;
    return unread ? leat_error_copy(err, &problem) : LEAT_OK;
}

/* Decides what may be done with a folder that is there already. */
static leat_code judge_folder(leat_job_folder *folder, const leat_probes_ingest_options *options,
                              leat_error *err) {
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(folder->out, &names, err));
    char first[128] = "";
    if (names.count > 0) snprintf(first, sizeof first, "%s", names.paths[0]);
    bool empty = names.count == 0;
    leat_path_list_free(&names);
    if (empty) return LEAT_OK;
    bool interrupted = false;
    LEAT_TRY(is_there(folder->out, LEAT_WORK_NAME, &interrupted, err));
    if (interrupted) {
        folder->resuming = options->resume;
        if (options->resume || options->replace) return LEAT_OK;
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%s\" holds an interrupted ingest: pass --resume to go on with it or "
                         "--replace to begin anew",
                         folder->out);
    }
    bool ours = false;
    LEAT_TRY(is_dataset(folder->out, &ours, err));
    if (!ours) {
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%s\" is not empty (\"%s\") and no data set of leat: give another "
                         "folder",
                         folder->out, first);
    }
    if (options->replace) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" holds a complete data set: pass --replace to make it anew",
                     folder->out);
}

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
    int64_t room = LEAT_PATH_BYTES;
    if (options->temp_dir == NULL) {
        return leat_path_join(folder->temp, room, folder->work, "temp", err);
    }
    /* Two runs may share a --temp, and call their folders alike from where they stand: what the
     * file system calls the folder tells them apart. */
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(folder->out, &facts, err));
    const uint64_t mark[2] = {facts.device, facts.inode};
    char name[32];
    snprintf(name, sizeof name, "leat-ingest-%016llx",
             (unsigned long long)leat_xxh3(mark, (int64_t)sizeof mark));
    return leat_path_join(folder->temp, room, options->temp_dir, name, err);
}

static leat_code take_lock(leat_job_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, folder->work, "lock", err));
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    leat_file_mode mode = facts.kind == LEAT_PATH_NONE ? LEAT_FILE_CREATE : LEAT_FILE_UPDATE;
    LEAT_TRY(leat_file_open(&folder->lock, path, mode, err));
    leat_code code = leat_file_lock(folder->lock, err);
    if (code == LEAT_OK) return LEAT_OK;
    leat_file_close(folder->lock);
    folder->lock = NULL;
    return leat_error_context(err, code, "another ingest works in \"%s\"", folder->out);
}

/* Begins anew: only the lock stays. */
static leat_code clear_work(const leat_job_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, folder->work, "state.json", err));
    LEAT_TRY(leat_path_remove(path, err));
    LEAT_TRY(leat_path_remove_tree(folder->stage, err));
    LEAT_TRY(leat_path_remove_tree(folder->parts, err));
    return leat_path_remove_tree(folder->temp, err);
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

leat_code leat_job_folder_open(leat_job_folder *folder, const char *out_dir,
                               const leat_probes_ingest_options *options, leat_error *err) {
    *folder = (leat_job_folder){0};
    LEAT_TRY(set_paths(folder, out_dir, err));
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(folder->out, &facts, err));
    if (facts.kind == LEAT_PATH_DIR) {
        LEAT_TRY(judge_folder(folder, options, err));
    } else if (facts.kind != LEAT_PATH_NONE) {
        return leat_fail(err, LEAT_ERR_EXISTS, "output \"%s\" is a file, not a folder",
                         folder->out);
    }
    folder->created = facts.kind == LEAT_PATH_NONE;
    leat_code code = leat_path_make_dir(folder->work, err);
    if (code == LEAT_OK) code = take_lock(folder, err);
    if (code == LEAT_ERR_BUSY) return code; /* all that is there is another run's */
    if (code == LEAT_OK) code = set_temp(folder, options, err);
    if (code == LEAT_OK && !folder->resuming) code = clear_work(folder, err);
    if (code != LEAT_OK) {
        leat_job_folder_close(folder, folder->resuming ? LEAT_JOB_RESUMABLE : LEAT_JOB_FAILED);
    }
    return code;
}

leat_code leat_job_folder_publish(leat_job_folder *folder, leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES];
    /* What was there goes first, the old manifest before all, so that no mixture ever looks whole.
     * The first part of the new one is still staged as long as that is not done. */
    bool staged = false;
    LEAT_TRY(is_there(folder->stage, parts_of_dataset[0], &staged, err));
    for (int i = PART_COUNT - 1; i >= 0 && staged; i--) {
        LEAT_TRY(leat_path_join(to, sizeof to, folder->out, parts_of_dataset[i], err));
        LEAT_TRY(leat_path_remove_tree(to, err));
    }
    LEAT_TRY(leat_path_sync_dir(folder->out, err));
    for (int i = 0; i < PART_COUNT; i++) {
        LEAT_TRY(is_there(folder->stage, parts_of_dataset[i], &staged, err));
        if (!staged) continue;
        LEAT_TRY(leat_path_join(from, sizeof from, folder->stage, parts_of_dataset[i], err));
        LEAT_TRY(leat_path_join(to, sizeof to, folder->out, parts_of_dataset[i], err));
        LEAT_TRY(leat_path_rename(from, to, err));
    }
    return leat_path_sync_dir(folder->out, err);
}

static void discard_tree(const char *path) {
    if (leat_path_remove_tree(path, NULL) != LEAT_OK) return;
}

void leat_job_folder_close(leat_job_folder *folder, leat_job_outcome outcome) {
    if (outcome != LEAT_JOB_RESUMABLE) {
        char path[LEAT_PATH_BYTES];
        discard_tree(folder->temp);
        /* The state goes before all that it speaks of: who is killed here and resumes finds either
         * a run that is published, or none. */
        if (leat_path_join(path, sizeof path, folder->work, "state.json", NULL) == LEAT_OK) {
            leat_path_discard(path);
        }
        discard_tree(folder->work);
    }
    if (outcome == LEAT_JOB_FAILED && folder->created) discard_tree(folder->out);
    leat_file_close(folder->lock);
    folder->lock = NULL;
}
