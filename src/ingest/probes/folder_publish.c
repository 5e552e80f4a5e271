/*
 * A data set moves from DIR/.leat/out into place: see job.h.
 *
 * Once the journal (format/dataset/journal.h) is on disk, the new data set is the one that leat
 * opens in DIR. The following steps, each of which can be repeated, move the files to their final
 * names:
 *
 *   1. DIR/manifest.json, if it is still the old one, is removed: software that does not know the
 *      journal sees no data set in DIR until step 3
 *   2. every other file of the new one is renamed into DIR, over the old one of its name
 *   3. manifest.json is renamed into DIR, once the names before it are on disk
 *   4. files of the old one that the new one does not have are removed
 *
 * When the work folder is removed, the journal is removed last.
 */
#include <string.h>

#include "ingest/probes/job.h"
#include "ingest/source.h"

/* Shards, then these; the manifest is last. */
static const char *const small_files[] = {LEAT_INDEX_NAME, LEAT_RUN_NAME, LEAT_REJECTED_NAME};
enum { SMALL_FILES = sizeof small_files / sizeof *small_files };

static leat_code in_dir(const leat_job_folder *folder, const char *name, char path[LEAT_PATH_BYTES],
                        leat_error *err) {
    return leat_path_join(path, LEAT_PATH_BYTES, folder->out, name, err);
}

static leat_code in_stage(const leat_job_folder *folder, const char *name,
                          char path[LEAT_PATH_BYTES], leat_error *err) {
    return leat_path_join(path, LEAT_PATH_BYTES, folder->stage, name, err);
}

static leat_code has_rejected(const leat_job_folder *folder, bool *there, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    LEAT_TRY(in_stage(folder, LEAT_REJECTED_NAME, path, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *there = facts.kind == LEAT_PATH_FILE;
    return LEAT_OK;
}

leat_code leat_job_folder_commit(const leat_job_folder *folder, const leat_job_state *state,
                                 leat_error *err) {
    const leat_job_output *output = folder->context;
    leat_journal journal = {0};
    memcpy(journal.manifest_sha256, state->manifest_sha256, sizeof journal.manifest_sha256);
    for (int split = 0; split < LEAT_SPLITS; split++) {
        journal.shards[split] = state->shards[split];
        journal.old_shards[split] = output->old_shards[split];
    }
    LEAT_TRY(has_rejected(folder, &journal.has_rejected, err));
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_sync_dir(folder->stage, err));
    LEAT_TRY(leat_path_join(path, sizeof path, folder->work, LEAT_JOURNAL_NAME, err));
    leat_code code = leat_journal_save(&journal, folder->work, err);
    /* A journal that exists but may not be on disk is removed before the files that it promises:
     * the run has failed, and they are removed. */
    if (code != LEAT_OK) leat_path_discard(path);
    return code;
}

/* The manifest of the journal's data set is where it should be: *staged says where. */
static leat_code check_manifest(const leat_job_folder *folder, const leat_journal *journal,
                                bool *staged, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    uint8_t found[32];
    LEAT_TRY(in_stage(folder, LEAT_MANIFEST_NAME, path, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *staged = facts.kind != LEAT_PATH_NONE;
    if (!*staged) LEAT_TRY(in_dir(folder, LEAT_MANIFEST_NAME, path, err));
    leat_code code = leat_file_sha256(path, found, err);
    if (code == LEAT_OK && memcmp(found, journal->manifest_sha256, sizeof found) == 0)
        return LEAT_OK;
    if (code != LEAT_OK && code != LEAT_ERR_NOT_FOUND) return code;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "the interrupted run had written a data set, but \"%s\" is not its manifest; "
                     "use --replace to start over",
                     path);
}

/* A file that is no longer in the stage was moved by an earlier run. */
static leat_code move(const leat_job_folder *folder, const char *name, leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES];
    leat_path_facts facts;
    LEAT_TRY(in_stage(folder, name, from, err));
    LEAT_TRY(in_dir(folder, name, to, err));
    leat_error why = {0};
    leat_code code = leat_path_rename(from, to, &why);
    if (code == LEAT_OK) return LEAT_OK;
    if (code != LEAT_ERR_NOT_FOUND) return leat_error_copy(err, &why);
    LEAT_TRY(leat_path_stat(to, &facts, err));
    if (facts.kind == LEAT_PATH_FILE) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "the interrupted run had written \"%s\", which is neither in \"%s\" nor in "
                     "\"%s\"; use --replace to start over",
                     name, folder->stage, folder->out);
}

static leat_code move_files(const leat_job_folder *folder, const leat_journal *journal,
                            leat_error *err) {
    char name[LEAT_SHARD_NAME_BYTES], path[LEAT_PATH_BYTES];
    for (int split = 0; split < LEAT_SPLITS; split++) {
        LEAT_TRY(in_dir(folder, leat_split_name((leat_split)split), path, err));
        LEAT_TRY(leat_path_make_dir(path, err));
        for (int64_t i = 0; i < journal->shards[split]; i++) {
            leat_layout_shard_name((leat_split)split, i, name);
            LEAT_TRY(move(folder, name, err));
        }
        LEAT_TRY(leat_path_sync_dir(path, err));
    }
    for (int i = 0; i < SMALL_FILES; i++) {
        bool is_rejected = strcmp(small_files[i], LEAT_REJECTED_NAME) == 0;
        if (!is_rejected || journal->has_rejected) LEAT_TRY(move(folder, small_files[i], err));
    }
    return leat_path_sync_dir(folder->out, err);
}

static leat_code remove_old_manifest(const leat_job_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(in_dir(folder, LEAT_MANIFEST_NAME, path, err));
    LEAT_TRY(leat_path_remove(path, err));
    return leat_path_sync_dir(folder->out, err);
}

static leat_code remove_old_files(const leat_job_folder *folder, const leat_journal *journal,
                                  leat_error *err) {
    char name[LEAT_SHARD_NAME_BYTES], path[LEAT_PATH_BYTES];
    for (int split = 0; split < LEAT_SPLITS; split++) {
        for (int64_t i = journal->shards[split]; i < journal->old_shards[split]; i++) {
            leat_layout_shard_name((leat_split)split, i, name);
            LEAT_TRY(in_dir(folder, name, path, err));
            LEAT_TRY(leat_path_remove(path, err));
        }
    }
    bool replaced = journal->old_shards[0] + journal->old_shards[1] > 0;
    if (journal->has_rejected || !replaced) return LEAT_OK;
    bool is_log = false;
    LEAT_TRY(in_dir(folder, LEAT_REJECTED_NAME, path, err));
    LEAT_TRY(leat_reject_is_log(&leat_probe_rejects, path, &is_log, err));
    return is_log ? leat_path_remove(path, err) : LEAT_OK;
}

/* Before the journal is removed: nothing else records these files. */
static leat_code sync_removals(const leat_job_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    for (int split = 0; split < LEAT_SPLITS; split++) {
        LEAT_TRY(in_dir(folder, leat_split_name((leat_split)split), path, err));
        LEAT_TRY(leat_path_sync_dir(path, err));
    }
    LEAT_TRY(leat_path_sync_dir(folder->out, err));
    return folder->created ? leat_path_sync_parent(folder->out, err) : LEAT_OK;
}

leat_code leat_job_folder_publish(const leat_job_folder *folder, leat_error *err) {
    leat_journal journal;
    bool there = false, staged = false;
    LEAT_TRY(leat_journal_load(folder->work, &journal, &there, err));
    if (!there)
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "\"%s/" LEAT_JOURNAL_NAME "\" was removed during the ingest; run it again "
                         "with --resume",
                         folder->work);
    LEAT_TRY(check_manifest(folder, &journal, &staged, err));
    LEAT_TRY(leat_path_sync_dir(folder->out, err)); /* it contains .leat, and with it the journal */
    if (staged) LEAT_TRY(remove_old_manifest(folder, err));
    LEAT_TRY(move_files(folder, &journal, err));
    if (staged) LEAT_TRY(move(folder, LEAT_MANIFEST_NAME, err));
    LEAT_TRY(leat_path_sync_dir(folder->out, err));
    LEAT_TRY(remove_old_files(folder, &journal, err));
    return sync_removals(folder, err);
}
