/* Recognises tables by the folders that their formats prescribe: see tables.h. */
#include "ingest/tables.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "ingest/advice.h"

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

/* ---- Iceberg: metadata/v3.metadata.json, metadata/00003-<uuid>.metadata.json (also .gz), and
 * version-hint.text ---- */

static bool is_metadata(const char *name) {
    return leat_path_has_suffix(name, ".metadata.json") ||
           leat_path_has_suffix(name, ".gz.metadata.json") ||
           leat_path_has_suffix(name, ".metadata.json.gz");
}

enum { UUID_CHARS = 36 };

/* Whether metadata is named as Iceberg does, and not just ends alike. */
static bool is_version(const char *name) {
    size_t prefix = name[0] == 'v', digits = strspn(name + prefix, "0123456789");
    const char *rest = name + prefix + digits;
    if (digits == 0 || !is_metadata(name)) return false;
    if (prefix > 0) return rest[0] == '.';
    return rest[0] == '-' && strspn(rest + 1, "0123456789abcdefABCDEF-") == UUID_CHARS &&
           rest[1 + UUID_CHARS] == '.';
}

/* around: the folder was not given, but contains what was. It may have a metadata folder of any
 * other kind, which may be another user's. */
static leat_code is_iceberg(const char *folder, bool around, bool *found, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    LEAT_TRY(is_folder(folder, "metadata", path, found, err));
    if (!*found) return LEAT_OK;
    *found = false;
    if (around && !leat_path_may_list(path)) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(path, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        const char *name = names.paths[i];
        bool other = !around && (is_metadata(name) || strcmp(name, "version-hint.text") == 0);
        *found = *found || other || is_version(name);
    }
    leat_path_list_free(&names);
    return LEAT_OK;
}

/* A longer name is not repeated in the commands, so that the message has room for them; nor is one
 * that Spark's line would have to escape. */
enum { SHOWN_MAX = 80, LITERAL_BYTES = 2 * SHOWN_MAX };

static leat_code refuse(const char *folder, bool delta, leat_error *err) {
    size_t size = strlen(folder);
    char literal[LITERAL_BYTES];
    const bool fits = size <= SHOWN_MAX && leat_advice_literal(literal, sizeof literal, folder);
    if (!fits) snprintf(literal, sizeof literal, "'TABLE'");
    const char *spark = fits && strpbrk(folder, "'\\") == NULL ? folder : "TABLE";
    const char *word = delta ? "delta" : "iceberg";
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s%s\" is %s table, whose files also hold deleted rows; export the live "
                     "ones: duckdb -c \"INSTALL %s; LOAD %s; COPY (FROM %s_scan(%s)) TO "
                     "'live.parquet'\", or in Spark: spark.read.format('%s').load('%s').write."
                     "parquet('live')",
                     size <= SHOWN_MAX ? "" : "...",
                     size <= SHOWN_MAX ? folder : folder + size - SHOWN_MAX,
                     delta ? "a Delta Lake" : "an Iceberg", word, word, word, literal, word, spark);
}

static leat_code refuse_delta(const char *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    bool found = false;
    LEAT_TRY(is_folder(folder, "_delta_log", path, &found, err));
    return found ? refuse(folder, true, err) : LEAT_OK;
}

static leat_code refuse_iceberg(const char *folder, bool around, leat_error *err) {
    bool found = false;
    LEAT_TRY(is_iceberg(folder, around, &found, err));
    return found ? refuse(folder, false, err) : LEAT_OK;
}

leat_code leat_tables_refuse(const char *folder, leat_error *err) {
    LEAT_TRY(refuse_delta(folder, err));
    return refuse_iceberg(folder, false, err);
}

/* A file of an Iceberg table lies in its data folder, in folders of the partition. */
enum { ICEBERG_LEVELS = 5 };

leat_code leat_tables_refuse_around(const char *path, leat_error *err) {
    char folder[LEAT_PATH_BYTES];
    size_t size = strlen(path);
    if (size >= sizeof folder) return LEAT_OK;
    memcpy(folder, path, size + 1);
    for (int level = 0;; level++) {
        while (size > 1 && folder[size - 1] == '/') size--;
        folder[size] = 0;
        if (size >= 2 && strcmp(folder + size - 2, "..") == 0) return LEAT_OK; /* is not in it */
        while (size > 0 && folder[size - 1] != '/') size--;
        while (size > 1 && folder[size - 1] == '/') size--;
        folder[size] = 0;
        const char *at = size > 0 ? folder : ".";
        LEAT_TRY(refuse_delta(at, err));
        if (level < ICEBERG_LEVELS) LEAT_TRY(refuse_iceberg(at, true, err));
        if (size == 0 || strcmp(folder, "/") == 0) return LEAT_OK;
    }
}
