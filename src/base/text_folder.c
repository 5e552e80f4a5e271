/*
 * A folder of text files that appears complete or not at all: its files are written to a new folder
 * beside it, which then takes its place, or whose files are moved into it.
 */
#include "base/file.h"
#include "base/mem.h"

struct leat_text_folder {
    char path[LEAT_PATH_BYTES], draft[LEAT_PATH_BYTES];
    bool replace;
    bool drafted; /* the new folder exists */
};

/* Whether there is a folder, where files may be added to it. */
static leat_code check_place(const char *path, bool replace, bool *exists, leat_error *err) {
    leat_path_facts facts;
    leat_path_list names = {0};
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *exists = facts.kind != LEAT_PATH_NONE;
    if (!*exists) return LEAT_OK;
    if (facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_EXISTS, "\"%.300s\" exists and is not a folder", path);
    LEAT_TRY(leat_path_list_dir(path, &names, err));
    const int64_t count = names.count;
    leat_path_list_free(&names);
    if (count == 0 || replace) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%.300s\" is a folder that is not empty; use --replace to overwrite its "
                     "files of the same names",
                     path);
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

leat_code leat_text_folder_publish(leat_text_folder *folder, leat_error *err) {
    bool exists = false;
    LEAT_TRY(make_draft(folder, err));
    LEAT_TRY(check_place(folder->path, folder->replace, &exists, err));
    if (!exists) return leat_path_move_dir(folder->draft, folder->path, err);
    leat_code code = leat_path_move_files(folder->draft, folder->path, "", err);
    discard_draft(folder);
    return code;
}

void leat_text_folder_destroy(leat_text_folder *folder) {
    if (folder == NULL) return;
    discard_draft(folder);
    leat_free(folder);
}
