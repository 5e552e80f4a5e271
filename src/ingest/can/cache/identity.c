/* Which cache inputs and settings make: see identity.h. */
#include "ingest/can/cache/identity.h"

#include <stdlib.h>
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

#define READER_LINE "reader "

/* Everything but the inputs, one line each. */
static leat_code settings_text(const leat_can_splits *splits, const leat_can_settings *settings,
                               leat_buf *text, leat_error *err) {
    LEAT_TRY(leat_buf_printf(text, err, "leat %s can cache %d\n", leat_version(),
                             LEAT_CAN_CACHE_VERSION));
    for (const leat_setting *row = leat_can_settings_table()->rows; row->name != NULL; row++) {
        char bytes[LEAT_SETTING_BYTES];
        const char *value = leat_can_setting_text(row, settings, bytes);
        if (value == NULL) continue;
        LEAT_TRY(leat_buf_printf(text, err, "%s %s\n", row->name, value));
    }
    LEAT_TRY(leat_buf_printf(text, err, READER_LINE "%d\n", LEAT_CAN_READER));
    if (splits->like[0] != 0) LEAT_TRY(leat_buf_printf(text, err, "like %s\n", splits->like));
    LEAT_TRY(metadata_text(splits, text, err));
    return leat_buf_append(text, "", 1, err); /* ends like a text */
}

leat_code leat_can_identity_digest(const leat_can_splits *splits, const leat_can_settings *settings,
                                   char digest[65], leat_error *err) {
    leat_buf text = {0};
    leat_sha256 sha;
    leat_code code = settings_text(splits, settings, &text, err);
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
                                 const leat_can_settings *settings, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_buf text = {0};
    leat_json *json = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_CAN_INPUTS_NAME, err));
    leat_code code = settings_text(splits, settings, &text, err);
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

/* The text of the settings without its line of the rules, whose number is returned; 1: it has none.
 */
static int64_t cut_reader(char *text) {
    const size_t size = strlen(READER_LINE);
    for (char *line = text; *line != 0; line = strchr(line, '\n') + 1) {
        char *end = strchr(line, '\n');
        if (end == NULL) return 1;
        if (strncmp(line, READER_LINE, size) != 0) continue;
        int64_t reader = strtoll(line + size, NULL, 10);
        memmove(line, end + 1, strlen(end + 1) + 1);
        return reader;
    }
    return 1;
}

/* Whether a text names these settings; *reader: the rules that it names. */
static bool has_same_settings(const char *said, const leat_can_splits *splits,
                              const leat_can_settings *settings, int64_t *reader) {
    char *other = NULL;
    leat_buf text = {0};
    bool same = settings_text(splits, settings, &text, NULL) == LEAT_OK &&
                leat_strdup(&other, said, NULL) == LEAT_OK;
    if (same) {
        *reader = cut_reader(other);
        (void)cut_reader((char *)text.data);
        same = strcmp(other, (const char *)text.data) == 0;
    }
    leat_free(other);
    leat_buf_free(&text);
    return same;
}

bool leat_can_identity_matches(const char *dir, leat_can_splits *splits,
                               const leat_can_settings *settings, int64_t *reader) {
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
    json_decref(root);
    return same;
}

leat_code leat_can_identity_check(const char *dir) {
    json_t *root = NULL;
    leat_code code = load_inputs(dir, &root);
    json_decref(root);
    return code;
}
