/*
 * What an image data set is in the output folder (ingest/folder.h), and how it moves into place.
 * Once the stage is complete, DIR/.leat/images.move says so, with the hash of its `.complete`: from
 * then on every run first moves it, in steps that can be repeated:
 *
 *   1. DIR/.complete of an older data set is removed: there is none in DIR while files of both are
 *   2. a rejected.csv that the new one does not have is removed
 *   3. every file is renamed into DIR, `.complete` after all others
 *
 * When the work folder is removed, images.move is removed last.
 */
#include <string.h>

#include "base/hash.h"
#include "ingest/images/job.h"

#define MOVE_NAME "images.move"

/* Everything that a run keeps in DIR/.leat. */
static const char *const work_names[] = {
    LEAT_IMAGE_NOTES_NAME, MOVE_NAME, "out/", LEAT_IMAGES_NAMES("out/"), "temp/", NULL,
};
/* Without these it is not a data set; in the order in which they are moved. */
static const char *const needed[] = {LEAT_IMAGES_NAME, LEAT_IMAGES_PAGES_NAME,
                                     LEAT_IMAGES_TENSORS_NAME};
enum { NEEDED = sizeof needed / sizeof *needed };

static leat_code is_publishing(const leat_ingest_folder *folder, bool *publishing,
                               leat_error *err) {
    return leat_ingest_folder_has(folder->work, MOVE_NAME, publishing, err);
}

static leat_code look_at_old(leat_ingest_folder *folder, leat_error *err) {
    leat_output output;
    LEAT_TRY(leat_output_of(folder->out, &output, err));
    if (output.kind == LEAT_OUTPUT_IMAGES && output.complete) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" is not empty and does not hold a data set that this version of leat "
                     "can replace; remove it yourself, or use another folder",
                     folder->out);
}

/* The files of a data set may be replaced, if it is complete; rejected.csv must begin as leat's. */
static leat_code check_others(const leat_ingest_folder *folder, leat_error *err) {
    static const char *const names[] = {LEAT_IMAGES_NAMES("")};
    char path[LEAT_PATH_BYTES];
    leat_output output;
    bool is_log = false;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->out, LEAT_REJECTED_NAME, err));
    LEAT_TRY(leat_image_rejects_is_log(path, &is_log, err));
    if (!is_log) return leat_ingest_folder_refuse_other(folder->out, LEAT_REJECTED_NAME, err);
    LEAT_TRY(leat_output_of(folder->out, &output, err));
    if (output.kind == LEAT_OUTPUT_IMAGES && output.complete) return LEAT_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool there = false;
        LEAT_TRY(leat_ingest_folder_has(folder->out, names[i], &there, err));
        if (there) return leat_ingest_folder_refuse_other(folder->out, names[i], err);
    }
    return LEAT_OK;
}

/* ---- moving into place ---------------------------------------------------------------------- */

static leat_code remove_old(const leat_ingest_folder *folder, const char *name, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, folder->out, name, err));
    return leat_path_remove(path, err);
}

static leat_code hash_complete(const char *dir, uint8_t digest[32], leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_COMPLETE_NAME, err));
    return leat_file_sha256(path, digest, err);
}

leat_code leat_images_folder_commit(const leat_ingest_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t digest[32];
    LEAT_TRY(leat_path_sync_dir(folder->stage, err));
    LEAT_TRY(hash_complete(folder->stage, digest, err));
    LEAT_TRY(leat_path_join(path, sizeof path, folder->work, MOVE_NAME, err));
    leat_code code = leat_file_save(path, digest, sizeof digest, err);
    /* if it exists but may not be on disk, it must not outlive the files that the run removes */
    if (code != LEAT_OK) leat_path_discard(path);
    return code;
}

static leat_code fail_incomplete(const leat_ingest_folder *folder, const char *name,
                                 leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "the interrupted run had written \"%s\", which is neither in \"%s\" nor in "
                     "\"%s\"; use --replace to start over",
                     name, folder->stage, folder->out);
}

/* *moved: the data set that was committed is in place, up to its last file. LEAT_ERR_CORRUPT: it is
 * not in the stage either. */
static leat_code look_for_complete(const leat_ingest_folder *folder, bool *moved, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *wanted = NULL, found[32];
    int64_t size = 0;
    bool staged = false;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->work, MOVE_NAME, err));
    LEAT_TRY(leat_ingest_folder_has(folder->stage, LEAT_COMPLETE_NAME, &staged, err));
    LEAT_TRY(leat_file_load(path, 4096, &wanted, &size, err));
    leat_error why = {0};
    leat_code code = hash_complete(staged ? folder->stage : folder->out, found, &why);
    bool same = code == LEAT_OK && size == sizeof found && memcmp(wanted, found, 32) == 0;
    leat_free(wanted);
    *moved = same && !staged;
    if (same) return LEAT_OK;
    if (code != LEAT_OK && code != LEAT_ERR_NOT_FOUND) return leat_error_copy(err, &why);
    return fail_incomplete(folder, LEAT_COMPLETE_NAME, err);
}

/* Before anything is removed: nothing but files is where files go. */
static leat_code check_places(const leat_ingest_folder *folder, leat_error *err) {
    static const char *const names[] = {LEAT_IMAGES_NAMES("")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[LEAT_PATH_BYTES];
        leat_path_facts facts;
        bool link = false;
        LEAT_TRY(leat_path_join(path, sizeof path, folder->out, names[i], err));
        LEAT_TRY(leat_path_is_link(path, &link, err));
        LEAT_TRY(leat_path_stat(path, &facts, err));
        if (link || facts.kind == LEAT_PATH_DIR || facts.kind == LEAT_PATH_OTHER)
            return leat_ingest_folder_refuse_other(folder->out, names[i], err);
    }
    return LEAT_OK;
}

/* Every file is in the stage, or was moved by an earlier run; *begun: some were. */
static leat_code check_files(const leat_ingest_folder *folder, bool *begun, leat_error *err) {
    *begun = false;
    for (int i = 0; i < NEEDED; i++) {
        bool staged = false, moved = false;
        LEAT_TRY(leat_ingest_folder_has(folder->stage, needed[i], &staged, err));
        LEAT_TRY(leat_ingest_folder_has(folder->out, needed[i], &moved, err));
        *begun = *begun || !staged;
        if (!staged && !moved) return fail_incomplete(folder, needed[i], err);
    }
    return LEAT_OK;
}

/* Of the data set that is replaced, if the new one has none. */
static leat_code remove_rejected(const leat_ingest_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    bool is_log = false;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->out, LEAT_REJECTED_NAME, err));
    LEAT_TRY(leat_image_rejects_is_log(path, &is_log, err));
    return is_log ? leat_path_remove(path, err) : LEAT_OK;
}

static leat_code publish(const leat_ingest_folder *folder, leat_error *err) {
    bool begun = false, rejected = false, moved = false;
    LEAT_TRY(look_for_complete(folder, &moved, err));
    if (moved) return LEAT_OK;
    LEAT_TRY(check_places(folder, err));
    LEAT_TRY(check_files(folder, &begun, err));
    LEAT_TRY(leat_ingest_folder_has(folder->stage, LEAT_REJECTED_NAME, &rejected, err));
    LEAT_TRY(remove_old(folder, LEAT_COMPLETE_NAME, err));
    /* once the first file was moved, a rejected.csv in DIR is the new one */
    if (!begun && !rejected) LEAT_TRY(remove_rejected(folder, err));
    LEAT_TRY(leat_path_sync_dir(folder->out, err));
    LEAT_TRY(leat_path_move_files(folder->stage, folder->out, LEAT_COMPLETE_NAME, err));
    return folder->created ? leat_path_sync_parent(folder->out, err) : LEAT_OK;
}

/* What is left in the stage is removed with the work; in DIR there is no data set any more. */
static leat_code give_up(leat_ingest_folder *folder, leat_error *err) {
    for (int i = 0; i < NEEDED; i++) LEAT_TRY(remove_old(folder, needed[i], err));
    return LEAT_OK;
}

const leat_ingest_folder_kind leat_images_folder_kind = {
    .output = LEAT_OUTPUT_IMAGES,
    .work_names = work_names,
    .identity = LEAT_COMPLETE_NAME,
    .state = LEAT_IMAGE_NOTES_NAME,
    .last = MOVE_NAME,
    .is_publishing = is_publishing,
    .look_at_old = look_at_old,
    .check_others = check_others,
    .publish = publish,
    .give_up = give_up,
};
