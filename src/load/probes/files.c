/* ArrayRecord files below a path: see files.h. */
#include "load/probes/files.h"

#include "format/dataset/manifest.h"

static leat_code add_folder(const char *dir, leat_path_list *files, leat_error *err) {
    leat_path_facts facts;
    leat_path_list names = {0};
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    leat_code code = leat_path_list_dir(dir, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        char path[LEAT_PATH_BYTES];
        if (!leat_path_has_suffix(names.paths[i], LEAT_SHARD_SUFFIX)) continue;
        code = leat_path_join(path, sizeof path, dir, names.paths[i], err);
        if (code == LEAT_OK) code = leat_path_list_add(files, path, err);
    }
    leat_path_list_free(&names);
    return code;
}

leat_code leat_files_of_folder(const char *dir, leat_path_list *files, leat_error *err) {
    LEAT_TRY(add_folder(dir, files, err));
    for (int split = 0; split < LEAT_SPLITS; split++) {
        char inner[LEAT_PATH_BYTES];
        LEAT_TRY(leat_path_join(inner, sizeof inner, dir, leat_split_name((leat_split)split), err));
        LEAT_TRY(add_folder(inner, files, err));
    }
    return LEAT_OK;
}

leat_code leat_files_of_path(const char *path, leat_path_list *files, leat_error *err) {
    leat_path_facts facts;
    int64_t before = files->count;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) {
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "cannot open \"%s\": no such file or folder",
                         path);
    }
    if (facts.kind != LEAT_PATH_DIR) return leat_path_list_add(files, path, err);
    LEAT_TRY(leat_files_of_folder(path, files, err));
    if (files->count > before) return LEAT_OK;
    leat_output found;
    LEAT_TRY(leat_output_look(path, &found, err));
    bool cache = found.kind == LEAT_OUTPUT_CAN && found.complete;
    if (cache || found.kind == LEAT_OUTPUT_IMAGES)
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "\"%s\" is a %s of `%s`, not a data set of probes; open it with %s", path,
                         cache ? "cache" : "data set", leat_output_command(found.kind),
                         leat_output_opened_with(found.kind));
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "\"%s\" has neither %s nor *" LEAT_SHARD_SUFFIX
                     " files; give the folder that an ingest wrote, or ArrayRecord files; to "
                     "convert raw logs, use `leat ingest probes` or `leat ingest can`",
                     path, LEAT_MANIFEST_NAME);
}
