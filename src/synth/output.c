/* Writing and publishing synthetic data: see output.h. */
#include "synth/output.h"

#include <stdio.h>
#include <string.h>

#include "base/own.h"

/* ---- What already exists ----------------------------------------------------------------- */

static leat_code exists(const leat_synth_output *output, const char *path, const char *why,
                        leat_error *err) {
    return leat_fail(err, LEAT_ERR_EXISTS, "%s: \"%s\" %s", output->what, path, why);
}

static leat_code check_names(const leat_synth_output *output, const char *root, const char *inside,
                             leat_error *err);

/* Whether the file or folder of this name in the folder `root`, and everything in it, may have been
 * written by leat. */
static leat_code check_name(const leat_synth_output *output, const char *root, const char *name,
                            leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    if (!output->is_ours(name))
        return exists(output, root,
                      "contains files that are not synthetic data; choose another folder", err);
    LEAT_TRY(leat_path_join(path, sizeof path, root, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    return facts.kind == LEAT_PATH_DIR ? check_names(output, root, name, err) : LEAT_OK;
}

/* The same for all names in the folder `inside` the root; "": the root. */
static leat_code check_names(const leat_synth_output *output, const char *root, const char *inside,
                             leat_error *err) {
    char path[LEAT_PATH_BYTES], name[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    LEAT_TRY(leat_path_join(path, sizeof path, root, inside, err));
    LEAT_TRY(leat_path_list_dir(path, &names, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        if (inside[0] == 0) code = check_name(output, root, names.paths[i], err);
        else code = leat_path_join(name, sizeof name, inside, names.paths[i], err);
        if (inside[0] != 0 && code == LEAT_OK) code = check_name(output, root, name, err);
    }
    leat_path_list_free(&names);
    return code;
}

/* Whether the folder contains nothing but leat's files, so that it may be removed. */
static leat_code check_folder(const leat_synth_output *output, const char *path, bool replace,
                              leat_error *err) {
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(path, &names, err));
    int64_t count = names.count;
    leat_path_list_free(&names);
    if (count > 0 && !replace)
        return exists(output, path, "is a folder that is not empty; use --replace to replace it",
                      err);
    return check_names(output, path, "", err);
}

static leat_code check_output(const leat_synth_output *output, const char *path, bool replace,
                              leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    if (output->is_folder) {
        if (facts.kind != LEAT_PATH_DIR)
            return exists(output, path, "exists and is not a folder", err);
        return check_folder(output, path, replace, err);
    }
    if (facts.kind != LEAT_PATH_FILE) return exists(output, path, "exists and is not a file", err);
    return replace ? LEAT_OK
                   : exists(output, path, "already exists; use --replace to replace it", err);
}

/* ---- The output -------------------------------------------------------------------------- */

leat_code leat_synth_settle(const char *path, int64_t *size_bytes, leat_error *err) {
    leat_file *file = NULL;
    *size_bytes = 0;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_UPDATE, err));
    leat_code code = leat_file_size(file, size_bytes, err);
    if (code == LEAT_OK) code = leat_file_sync(file, err);
    leat_file_close(file);
    return code;
}

/* The output is checked once more: what appeared meanwhile stays. */
static leat_code take_place(const leat_synth_output *output, const char *temp, const char *target,
                            leat_error *err) {
    LEAT_TRY(check_output(output, target, output->replace, err));
    leat_path_keep_access(temp, target);
    if (output->replace) return leat_path_replace(temp, target, err);
    if (output->is_folder) return leat_path_move_dir(temp, target, err);
    LEAT_TRY(leat_own_rename(temp, target, LEAT_MARK_NONE, err));
    leat_path_discard(temp); /* a link that led nowhere */
    return leat_path_sync_parent(target, err);
}

leat_code leat_synth_publish(const leat_synth_output *output, leat_error *err) {
    char path[LEAT_PATH_BYTES], target[LEAT_PATH_BYTES], temp[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_trim(output->path, path, err));
    LEAT_TRY(check_output(output, path, output->replace, err));
    LEAT_TRY(leat_path_target(target, path, err));
    LEAT_TRY(leat_path_draft(temp, target, err));
    leat_code code = output->write(output->context, temp, err);
    if (leat_ticker_check(output->ticker, NULL) != LEAT_OK)
        code = leat_fail(err, LEAT_ERR_CANCELLED, "%s: stopped as requested, nothing is kept",
                         output->what);
    if (code == LEAT_OK) code = take_place(output, temp, target, err);
    /* an error while clearing up after an error would hide the first */
    if (code != LEAT_OK && leat_path_remove_tree(temp, NULL) != LEAT_OK) return code;
    return code;
}
