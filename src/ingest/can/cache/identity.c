/* Which cache inputs and settings make: see identity.h. */
#include "ingest/can/cache/identity.h"

#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "format/can_cache/can_cache.h"
#include "ingest/can/cache/capture_metadata.h"
#include "ingest/can/cache/settings.h"

#define INPUTS_BYTES_MAX (INT64_C(256) << 20)

/* ---- what decides a cache's contents -------------------------------------------------------- */

/* Which metadata labels the inputs from a number on; nothing if there is none. */
static leat_code metadata_text(const leat_can_splits *splits, leat_buf *text, leat_error *err) {
    int32_t before = 0;
    for (int64_t i = 0; i < splits->inputs.count && splits->metadata_count > 0; i++) {
        char digest[65] = "none";
        int32_t metadata = splits->files[i].metadata;
        if (metadata == before) continue;
        if (metadata > 0) leat_sha256_hex(splits->metadata[metadata - 1].sha256, digest);
        LEAT_TRY(leat_buf_printf(text, err, "capture_metadata %lld %s\n", (long long)i, digest));
        before = metadata;
    }
    return LEAT_OK;
}

/* Names that once said nothing: a cache of unlabelled frames is not reused for benign ones. */
static leat_code names_text(const leat_can_splits *splits, const leat_can_settings *settings,
                            leat_buf *text, leat_error *err) {
    if (settings->unlabelled != LEAT_UNLABELLED_BY_NAME) return LEAT_OK;
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        if (leat_can_name_is_benign_now(splits->files[i].name, splits->files[i].folder))
            return leat_buf_printf(text, err, "names 2\n");
    }
    return LEAT_OK;
}

/* Everything but the inputs, one line each. The first rules of reading are not named: caches that
 * were made before there were others keep their digests. */
static leat_code settings_text(const leat_can_splits *splits, const leat_can_settings *settings,
                               int reader, leat_buf *text, leat_error *err) {
    LEAT_TRY(leat_buf_printf(text, err, "leat %s can cache %d\n", leat_version(),
                             LEAT_CAN_CACHE_VERSION));
    for (const leat_setting *row = leat_can_settings_table()->rows; row->name != NULL; row++) {
        char bytes[LEAT_SETTING_BYTES];
        const char *value = leat_can_setting_text(row, settings, bytes);
        if (value == NULL) continue;
        LEAT_TRY(leat_buf_printf(text, err, "%s %s\n", row->name, value));
    }
    if (reader != LEAT_CAN_READER_FIRST)
        LEAT_TRY(leat_buf_printf(text, err, "reader %d\n", reader));
    LEAT_TRY(names_text(splits, settings, text, err));
    LEAT_TRY(metadata_text(splits, text, err));
    return leat_buf_append(text, "", 1, err); /* ends like a text */
}

leat_code leat_can_identity_digest(const leat_can_splits *splits, const leat_can_settings *settings,
                                   int reader, char digest[65], leat_error *err) {
    leat_buf text = {0};
    leat_sha256 sha;
    leat_code code = settings_text(splits, settings, reader, &text, err);
    if (code == LEAT_OK) leat_can_digest_begin(&sha, (const char *)text.data);
    for (int64_t i = 0; i < splits->inputs.count && code == LEAT_OK; i++) {
        const leat_can_source *file = &splits->files[i];
        char content[65];
        leat_sha256_hex(splits->inputs.items[i].sha256, content);
        leat_can_digest_file(&sha, splits->name[file->split], file->folder, file->name, content);
    }
    if (code == LEAT_OK) leat_can_digest_end(&sha, digest);
    leat_buf_free(&text);
    return code;
}

/* ---- inputs.json ---------------------------------------------------------------------------- */

static void write_inputs(leat_json *json, const leat_can_splits *splits, const char *settings) {
    leat_json_begin_object(json);
    leat_json_member_string(json, "settings", settings);
    leat_json_member_int(json, "reader", LEAT_CAN_READER); /* the rules that decided */
    leat_json_key(json, "files");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        const leat_input *input = &splits->inputs.items[i];
        char content[65];
        leat_sha256_hex(input->sha256, content);
        leat_json_begin_object(json);
        leat_json_member_string(json, "split", splits->name[splits->files[i].split]);
        leat_json_member_string(json, "path", input->path);
        leat_json_member_int(json, "size_bytes", input->facts.size_bytes);
        leat_json_member_int(json, "mtime_ns", input->facts.mtime_ns);
        leat_json_member_string(json, "sha256", content);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    leat_json_end_object(json);
}

leat_code leat_can_identity_save(const char *dir, const leat_can_splits *splits,
                                 const leat_can_settings *settings, int reader, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_buf text = {0};
    leat_json *json = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_CAN_INPUTS_NAME, err));
    leat_code code = settings_text(splits, settings, reader, &text, err);
    if (code == LEAT_OK) code = leat_json_create(&json, false, err);
    if (code == LEAT_OK) {
        write_inputs(json, splits, (const char *)text.data);
        code = leat_json_save(json, path, err);
    }
    leat_buf_free(&text);
    return code;
}

/* Whether this is the file that was read, according to its path, size and time; if so, its hash is
 * filled in. */
static bool is_same_file(const json_t *item, leat_can_splits *splits, int64_t i) {
    static const char what[] = LEAT_CAN_INPUTS_NAME;
    const char *split = NULL, *path = NULL, *content = NULL;
    int64_t size = 0, mtime = 0;
    leat_input *input = &splits->inputs.items[i];
    if (leat_json_get_string(item, "split", &split, what, NULL) != LEAT_OK) return false;
    if (leat_json_get_string(item, "path", &path, what, NULL) != LEAT_OK) return false;
    if (leat_json_get_string(item, "sha256", &content, what, NULL) != LEAT_OK) return false;
    if (leat_json_get_int(item, "size_bytes", 0, INT64_MAX, &size, what, NULL) != LEAT_OK ||
        leat_json_get_int(item, "mtime_ns", INT64_MIN, INT64_MAX, &mtime, what, NULL) != LEAT_OK)
        return false;
    return strcmp(split, splits->name[splits->files[i].split]) == 0 &&
           strcmp(path, input->path) == 0 && size == input->facts.size_bytes &&
           mtime == input->facts.mtime_ns && leat_sha256_parse(content, input->sha256);
}

static leat_code load_inputs(const char *dir, json_t **root) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    *root = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_CAN_INPUTS_NAME, NULL));
    LEAT_TRY(leat_file_load(path, INPUTS_BYTES_MAX, &text, &size, NULL));
    leat_code code = leat_json_parse((const char *)text, size, path, root, NULL);
    leat_free(text);
    return code;
}

/* Whether the text names these settings, and the rules that it names. */
static bool has_same_settings(const char *said, const leat_can_splits *splits,
                              const leat_can_settings *settings, int *reader) {
    for (*reader = LEAT_CAN_READER_FIRST; *reader <= LEAT_CAN_READER; ++*reader) {
        leat_buf text = {0};
        bool same = settings_text(splits, settings, *reader, &text, NULL) == LEAT_OK &&
                    strcmp(said, (const char *)text.data) == 0;
        leat_buf_free(&text);
        if (same) return true;
    }
    return false;
}

/* Whether the present rules decided by which an inputs.json was read. */
static bool is_decided(const json_t *root) {
    int64_t rules = 0;
    return leat_json_get_int(root, "reader", 0, LEAT_CAN_READER, &rules, LEAT_CAN_INPUTS_NAME,
                             NULL) == LEAT_OK &&
           rules == LEAT_CAN_READER;
}

bool leat_can_identity_matches(const char *dir, leat_can_splits *splits,
                               const leat_can_settings *settings, int *reader, bool *decided) {
    static const char what[] = LEAT_CAN_INPUTS_NAME;
    json_t *root = NULL;
    const char *said = NULL;
    const json_t *files = NULL;
    bool same = load_inputs(dir, &root) == LEAT_OK &&
                leat_json_get_string(root, "settings", &said, what, NULL) == LEAT_OK &&
                leat_json_get_array(root, "files", &files, what, NULL) == LEAT_OK &&
                has_same_settings(said, splits, settings, reader) &&
                json_array_size(files) == (size_t)splits->inputs.count;
    for (int64_t i = 0; same && i < splits->inputs.count; i++) {
        same = is_same_file(json_array_get(files, (size_t)i), splits, i);
    }
    *decided = is_decided(root);
    json_decref(root);
    return same;
}

leat_code leat_can_identity_check(const char *dir, bool *decided) {
    json_t *root = NULL;
    leat_code code = load_inputs(dir, &root);
    *decided = code == LEAT_OK && is_decided(root);
    json_decref(root);
    return code;
}
