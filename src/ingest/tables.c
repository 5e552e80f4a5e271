/* Recognises tables by the folders that their formats prescribe: see tables.h. */
#include "ingest/tables.h"

#include <string.h>

#include "base/file.h"

static leat_code is_folder(const char *parent, const char *name, char path[LEAT_PATH_BYTES],
                           bool *found, leat_error *err) {
    leat_path_facts facts;
    *found = false;
    /* a path too long to be looked at is noticed where it is used */
    if (leat_path_join(path, LEAT_PATH_BYTES, parent, name, NULL) != LEAT_OK) return LEAT_OK;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *found = facts.kind == LEAT_PATH_DIR;
    return LEAT_OK;
}

/* Iceberg: metadata/v3.metadata.json, metadata/00003-<uuid>.metadata.json (also .gz), and
 * version-hint.text. */
static leat_code is_iceberg(const char *folder, bool *found, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    LEAT_TRY(is_folder(folder, "metadata", path, found, err));
    if (!*found) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(path, &names, err));
    *found = false;
    for (int64_t i = 0; i < names.count; i++) {
        const char *name = names.paths[i];
        *found = *found || leat_path_has_suffix(name, ".metadata.json") ||
                 leat_path_has_suffix(name, ".gz.metadata.json") ||
                 leat_path_has_suffix(name, ".metadata.json.gz") ||
                 strcmp(name, "version-hint.text") == 0;
    }
    leat_path_list_free(&names);
    return LEAT_OK;
}

/* A longer name is not repeated in the commands, so that the message has room for them. */
enum { SHOWN_MAX = 80 };

static leat_code refuse(const char *folder, bool delta, leat_error *err) {
    size_t size = strlen(folder);
    const char *shown = size <= SHOWN_MAX ? folder : "TABLE";
    const char *word = delta ? "delta" : "iceberg";
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s%s\" is %s table, whose files also hold deleted rows; export the live "
                     "ones: duckdb -c \"INSTALL %s; LOAD %s; COPY (FROM %s_scan('%s')) TO "
                     "'live.parquet'\", or in Spark: spark.read.format('%s').load('%s').write."
                     "parquet('live')",
                     size <= SHOWN_MAX ? "" : "...",
                     size <= SHOWN_MAX ? folder : folder + size - SHOWN_MAX,
                     delta ? "a Delta Lake" : "an Iceberg", word, word, word, shown, word, shown);
}

leat_code leat_tables_refuse(const char *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    bool found = false;
    LEAT_TRY(is_folder(folder, "_delta_log", path, &found, err));
    if (found) return refuse(folder, true, err);
    LEAT_TRY(is_iceberg(folder, &found, err));
    return found ? refuse(folder, false, err) : LEAT_OK;
}

leat_code leat_tables_refuse_around(const char *path, leat_error *err) {
    char folder[LEAT_PATH_BYTES];
    size_t size = strlen(path);
    if (size >= sizeof folder) return LEAT_OK;
    memcpy(folder, path, size + 1);
    for (;;) {
        while (size > 1 && folder[size - 1] == '/') size--;
        folder[size] = 0;
        if (size >= 2 && strcmp(folder + size - 2, "..") == 0) return LEAT_OK; /* is not in it */
        while (size > 0 && folder[size - 1] != '/') size--;
        while (size > 1 && folder[size - 1] == '/') size--;
        folder[size] = 0;
        LEAT_TRY(leat_tables_refuse(size > 0 ? folder : ".", err));
        if (size == 0 || strcmp(folder, "/") == 0) return LEAT_OK;
    }
}
