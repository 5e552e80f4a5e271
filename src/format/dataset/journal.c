/* The journal of a data set on its way to its place: see journal.h. */
#include "format/dataset/journal.h"

#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "format/dataset/manifest.h"

#define FORMAT "leat publish"
#define VERSION 1
#define JOURNAL_BYTES_MAX 4096

static void write_counts(leat_json *json, const char *key, const int64_t counts[LEAT_SPLITS]) {
    leat_json_key(json, key);
    leat_json_begin_object(json);
    for (int split = 0; split < LEAT_SPLITS; split++)
        leat_json_member_int(json, leat_split_name((leat_split)split), counts[split]);
    leat_json_end_object(json);
}

leat_code leat_journal_save(const leat_journal *journal, const char *work_dir, leat_error *err) {
    char path[LEAT_PATH_BYTES], digest[65];
    leat_json *json = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, work_dir, LEAT_JOURNAL_NAME, err));
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_sha256_hex(journal->manifest_sha256, digest);
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", FORMAT);
    leat_json_member_int(json, "version", VERSION);
    leat_json_member_string(json, "manifest_sha256", digest);
    write_counts(json, "shards", journal->shards);
    write_counts(json, "old_shards", journal->old_shards);
    leat_json_member_bool(json, "rejected", journal->has_rejected);
    leat_json_end_object(json);
    return leat_json_save(json, path, err);
}

static leat_code read_counts(const json_t *root, const char *key, int64_t counts[LEAT_SPLITS],
                             const char *path, leat_error *err) {
    const json_t *object = NULL;
    LEAT_TRY(leat_json_get_object(root, key, &object, path, err));
    for (int split = 0; split < LEAT_SPLITS; split++)
        LEAT_TRY(leat_json_get_int(object, leat_split_name((leat_split)split), 0, LEAT_SHARDS_MAX,
                                   &counts[split], path, err));
    return LEAT_OK;
}

static leat_code read_journal(const json_t *root, leat_journal *journal, const char *path,
                              leat_error *err) {
    const char *digest = NULL;
    int64_t version = 0;
    LEAT_TRY(leat_json_expect_string(root, "format", FORMAT, path, err));
    LEAT_TRY(leat_json_get_int(root, "version", VERSION, VERSION, &version, path, err));
    LEAT_TRY(leat_json_get_string(root, "manifest_sha256", &digest, path, err));
    if (!leat_sha256_parse(digest, journal->manifest_sha256))
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\": manifest_sha256 is not a SHA-256", path);
    LEAT_TRY(read_counts(root, "shards", journal->shards, path, err));
    LEAT_TRY(read_counts(root, "old_shards", journal->old_shards, path, err));
    journal->has_rejected = json_is_true(json_object_get(root, "rejected"));
    return LEAT_OK;
}

leat_code leat_journal_load(const char *work_dir, leat_journal *journal, bool *there,
                            leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    json_t *root = NULL;
    leat_path_facts facts;
    leat_error why = {0};
    *journal = (leat_journal){0};
    *there = false;
    LEAT_TRY(leat_path_join(path, sizeof path, work_dir, LEAT_JOURNAL_NAME, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    leat_code code = leat_file_load(path, JOURNAL_BYTES_MAX, &text, &size_bytes, &why);
    if (code == LEAT_ERR_NOT_FOUND) return LEAT_OK; /* removed in between */
    if (code == LEAT_OK) code = leat_json_parse((const char *)text, size_bytes, path, &root, &why);
    if (code == LEAT_OK) code = read_journal(root, journal, path, &why);
    json_decref(root);
    leat_free(text);
    *there = code == LEAT_OK;
    if (*there || code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO) return leat_error_copy(err, &why);
    *journal = (leat_journal){0};
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "%s (the journal of files that were being moved to their place); run the "
                     "ingest again with --replace",
                     why.message);
}

leat_code leat_places_find(leat_places *places, const char *dir, leat_error *err) {
    char work[LEAT_PATH_BYTES];
    leat_journal journal;
    bool there = false;
    *places = (leat_places){0};
    LEAT_TRY(leat_path_join(work, sizeof work, dir, LEAT_WORK_NAME, err));
    memcpy(places->dir, dir, strlen(dir) + 1); /* it fits: work is longer */
    LEAT_TRY(leat_journal_load(work, &journal, &there, err));
    if (!there) return LEAT_OK;
    return leat_path_join(places->stage, sizeof places->stage, work, LEAT_STAGE_NAME, err);
}

leat_code leat_places_look(leat_places *places, const char *dir, bool *there, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *there = false;
    /* A manifest that goes between two looks goes for a journal, and is back before that goes. */
    for (int i = 0; i < 2 && !*there; i++) {
        LEAT_TRY(leat_places_find(places, dir, err));
        LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_MANIFEST_NAME, err));
        LEAT_TRY(leat_path_stat(path, &facts, err));
        *there = places->stage[0] != 0 || facts.kind != LEAT_PATH_NONE;
    }
    return LEAT_OK;
}

leat_code leat_places_folder(const leat_places *places, const char *name, const char **folder,
                             leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts = {0};
    *folder = places->dir;
    if (places->stage[0] == 0) return LEAT_OK;
    LEAT_TRY(leat_path_join(path, sizeof path, places->stage, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_FILE) *folder = places->stage;
    return LEAT_OK;
}

leat_code leat_places_path(const leat_places *places, const char *name, char path[LEAT_PATH_BYTES],
                           leat_error *err) {
    const char *folder = NULL;
    LEAT_TRY(leat_places_folder(places, name, &folder, err));
    return leat_path_join(path, LEAT_PATH_BYTES, folder, name, err);
}
