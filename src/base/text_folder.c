/*
 * A folder of text files that appears complete or not at all: its files are written to a new folder
 * beside it, which then takes its place, or whose files are moved into it.
 */
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"

struct leat_text_folder {
    char path[LEAT_PATH_BYTES], draft[LEAT_PATH_BYTES];
    bool replace;
    bool drafted; /* the new folder exists */
};

/* Whether leat wrote a file of the folder, or it is the draft of one. */
static leat_code check_name(const char *path, const char *name, leat_error *err) {
    char file[LEAT_PATH_BYTES];
    const leat_mark mark = leat_own_mark_of_name(name);
    if (leat_path_is_draft(name)) return LEAT_OK;
    LEAT_TRY(leat_path_join(file, sizeof file, path, name, err));
    leat_error why = {0};
    const leat_code code =
        mark == LEAT_MARK_NONE ? LEAT_ERR_EXISTS : leat_own_check(file, mark, &why);
    if (code != LEAT_ERR_EXISTS) return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &why);
    return leat_fail(
        err, LEAT_ERR_EXISTS,
        "\"%.200s\" contains \"%.100s\", which is not recognised as a figure that leat "
        "wrote; use another folder, or --replace to overwrite files of the same names",
        path, name);
}

/* Whether there is a folder, where files may be added to it. */
static leat_code check_place(const char *path, bool replace, bool *exists, leat_error *err) {
    leat_path_facts facts;
    leat_path_list names = {0};
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *exists = facts.kind != LEAT_PATH_NONE;
    if (!*exists) return LEAT_OK;
    if (facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_EXISTS, "\"%.300s\" exists and is not a folder", path);
    if (replace) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(path, &names, err));
    leat_code code = LEAT_OK;
    for (int pass = 0; pass < 2; pass++) { /* tables after figures, without which none is leat's */
        for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
            const bool table = leat_own_mark_of_name(names.paths[i]) == LEAT_MARK_NUMBERS;
            if (table == (pass == 1)) code = check_name(path, names.paths[i], err);
        }
    }
    leat_path_list_free(&names);
    return code;
}

/* Before the work whose result is to be saved. */
static leat_code check_writable(const char *path, bool exists, leat_error *err) {
    char parent[LEAT_PATH_BYTES];
    if (exists) return leat_folder_can_write(path, err);
    LEAT_TRY(leat_path_parent(path, parent, err));
    return leat_folder_can_write(parent, err);
}

leat_code leat_text_folder_create(leat_text_folder **out, const char *path, bool replace,
                                  leat_error *err) {
    char trimmed[LEAT_PATH_BYTES];
    bool exists = false;
    leat_text_folder *folder = NULL;
    *out = NULL;
    LEAT_TRY(leat_path_check_local(path, err));
    LEAT_TRY(LEAT_NEW(&folder, 1, err));
    folder->replace = replace;
    leat_code code = leat_path_trim(path, trimmed, err);
    if (code == LEAT_OK) code = leat_path_target(folder->path, trimmed, err);
    if (code == LEAT_OK) code = check_place(folder->path, replace, &exists, err);
    if (code == LEAT_OK) code = check_writable(folder->path, exists, err);
    if (code == LEAT_OK) code = leat_path_draft(folder->draft, folder->path, err);
    if (code == LEAT_OK) *out = folder;
    else leat_free(folder);
    return code;
}

static leat_code make_draft(leat_text_folder *folder, leat_error *err) {
    if (folder->drafted) return LEAT_OK;
    folder->drafted = true;
    return leat_path_make_dir(folder->draft, err);
}

/* What was not published, or the empty folder that moved files leave. */
static void discard_draft(leat_text_folder *folder) {
    if (folder->drafted && leat_path_remove_tree(folder->draft, NULL) == LEAT_OK)
        folder->drafted = false;
}

leat_code leat_text_folder_add(leat_text_folder *folder, const char *name, const char *text,
                               int64_t size_bytes, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(make_draft(folder, err));
    LEAT_TRY(leat_path_join(path, sizeof path, folder->draft, name, err));
    return leat_file_save(path, text, size_bytes, err);
}

static leat_code move_own(const char *from, const char *to, leat_error *err) {
    return leat_own_rename(from, to, leat_own_mark_of_name(to), err);
}

leat_code leat_text_folder_publish(leat_text_folder *folder, leat_error *err) {
    bool exists = false;
    LEAT_TRY(make_draft(folder, err));
    LEAT_TRY(check_place(folder->path, folder->replace, &exists, err));
    if (!exists) return leat_path_move_dir(folder->draft, folder->path, err);
    leat_path_move_fn *move = folder->replace ? leat_path_rename : move_own;
    leat_code code = leat_path_move_files_by(move, folder->draft, folder->path, "", err);
    discard_draft(folder);
    return code;
}

void leat_text_folder_destroy(leat_text_folder *folder) {
    if (folder == NULL) return;
    discard_draft(folder);
    leat_free(folder);
}
