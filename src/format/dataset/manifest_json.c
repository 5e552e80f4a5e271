/*
 * The manifest as JSON: written with the members in one fixed order, read with every member checked
 * against its bounds and against what follows from the others. A shard's file name follows from its
 * place in the list, so a name is only compared.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "format/dataset/manifest.h"

#define FORMAT_NAME "leat.probes"
/* 2: what readers of 1 take for granted, that a row has one source, does not hold. */
enum { FORMAT_VERSION = 1, FORMAT_VERSION_PROBE = 2 };
#define MANIFEST_BYTES_MAX (INT64_C(1) << 30)
/* Text of one shard, and of all that is not shards. */
#define SHARD_BYTES_MAX (INT64_C(1) << 16)
#define OTHER_BYTES_MAX (INT64_C(1) << 20)

/* ---- writing ----------------------------------------------------------------------------------
 */

static void put_sha256(leat_json *json, const char *key, const uint8_t digest[32]) {
    char text[65];
    leat_sha256_hex(digest, text);
    leat_json_member_string(json, key, text);
}

/* A time, or null where there are no measurements. */
static void put_time(leat_json *json, const char *key, int64_t us, bool any) {
    char text[LEAT_TIME_TEXT_BYTES];
    leat_json_key(json, key);
    if (!any) {
        leat_json_null(json);
        return;
    }
    leat_time_format(us, text);
    leat_json_string(json, text);
}

static void put_options(leat_json *json, const leat_manifest *manifest) {
    leat_json_key(json, "options");
    leat_json_begin_object(json);
    for (int64_t i = 0; i < manifest->option_count; i++) {
        const leat_manifest_option *option = &manifest->options[i];
        leat_json_key(json, option->key);
        if (option->type == LEAT_VALUE_TEXT) leat_json_string(json, option->text);
        else if (option->type == LEAT_VALUE_INT) leat_json_int(json, option->integer);
        else if (option->type == LEAT_VALUE_REAL) leat_json_double(json, option->real);
        else leat_json_bool(json, option->integer != 0);
    }
    leat_json_end_object(json);
}

static void put_totals(leat_json *json, const char *key, const leat_manifest_totals *totals) {
    leat_json_key(json, key);
    leat_json_begin_object(json);
    leat_json_member_int(json, "shards", totals->shard_count);
    leat_json_member_int(json, "rows", totals->row_count);
    leat_json_member_int(json, "measurements", totals->measurement_count);
    leat_json_member_int(json, "bytes", totals->file_bytes);
    put_time(json, "first_time", totals->first_us, totals->row_count > 0);
    put_time(json, "last_time", totals->last_us, totals->row_count > 0);
    leat_json_end_object(json);
}

static void put_shard(leat_json *json, const leat_shard_info *info) {
    char name[LEAT_SHARD_NAME_BYTES];
    leat_layout_shard_name(info->split, info->number, name);
    leat_json_begin_object(json);
    leat_json_member_string(json, "file", name);
    leat_json_member_int(json, "rows", info->row_count);
    leat_json_member_int(json, "measurements", info->measurement_count);
    leat_json_member_int(json, "bytes", info->file_bytes);
    put_time(json, "first_time", info->first_us, info->row_count > 0);
    put_time(json, "last_time", info->last_us, info->row_count > 0);
    put_sha256(json, "sha256", info->file_sha256);
    put_sha256(json, "records_sha256", info->records_sha256);
    leat_json_end_object(json);
}

static int version_of(const leat_manifest *manifest) {
    return leat_manifest_probe(manifest) != NULL ? FORMAT_VERSION_PROBE : FORMAT_VERSION;
}

static void put_manifest(leat_json *json, const leat_manifest *manifest) {
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", FORMAT_NAME);
    leat_json_member_int(json, "version", version_of(manifest));
    put_options(json, manifest);
    put_totals(json, "total", &manifest->total);
    put_totals(json, "train", &manifest->split[LEAT_SPLIT_TRAIN]);
    put_totals(json, "test", &manifest->split[LEAT_SPLIT_TEST]);
    leat_json_key(json, "index");
    leat_json_begin_object(json);
    leat_json_member_string(json, "file", LEAT_INDEX_NAME);
    leat_json_member_int(json, "bytes", manifest->index_bytes);
    put_sha256(json, "table_sha256", manifest->index_sha256);
    leat_json_end_object(json);
    put_sha256(json, "fingerprint", manifest->fingerprint);
    leat_json_key(json, "shards");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < manifest->shard_count; i++) put_shard(json, &manifest->shards[i]);
    leat_json_end_array(json);
    leat_json_end_object(json);
}

/* The text, in pieces. */
static leat_code stream_manifest(const leat_manifest *manifest, leat_json_out_fn out, void *context,
                                 leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_stream(json, out, context);
    put_manifest(json, manifest);
    const char *none = NULL;
    int64_t size_bytes = 0;
    leat_code code = leat_json_finish(json, &none, &size_bytes, err);
    leat_json_destroy(json);
    return code;
}

static leat_code append_text(void *text, const void *bytes, int64_t size_bytes, leat_error *err) {
    return leat_buf_append(text, bytes, size_bytes, err);
}

leat_code leat_manifest_write(const leat_manifest *manifest, leat_buf *text, leat_error *err) {
    return stream_manifest(manifest, append_text, text, err);
}

leat_code leat_manifest_sha256(const leat_manifest *manifest, uint8_t digest[32], leat_error *err) {
    leat_sha256 sha;
    leat_sha256_init(&sha);
    leat_code code = stream_manifest(manifest, leat_sha256_write, &sha, err);
    leat_sha256_final(&sha, digest);
    return code;
}

typedef struct text_file {
    leat_file *file;
    int64_t size_bytes;
} text_file;

static leat_code save_text(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    text_file *self = context;
    LEAT_TRY(leat_file_pwrite(self->file, bytes, size_bytes, self->size_bytes, err));
    self->size_bytes += size_bytes;
    return LEAT_OK;
}

leat_code leat_manifest_save(leat_manifest *manifest, const char *dir, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    text_file text = {0};
    LEAT_TRY(leat_path_join(path, sizeof(path), dir, LEAT_MANIFEST_NAME, err));
    LEAT_TRY(leat_manifest_seal(manifest, err));
    LEAT_TRY(leat_file_open_draft(&text.file, path, err));
    leat_code code = stream_manifest(manifest, save_text, &text, err);
    if (code == LEAT_OK) code = leat_file_publish(text.file, true, err);
    leat_file_close(text.file);
    return code;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static leat_code get_sha256(const json_t *object, const char *key, uint8_t digest[32],
                            const char *what, leat_error *err) {
    const char *text = NULL;
    LEAT_TRY(leat_json_get_string(object, key, &text, what, err));
    if (!leat_sha256_parse(text, digest)) {
        return leat_fail(
            err, LEAT_ERR_CORRUPT,
            "%s: member \"%s\" must be 64 lower-case hexadecimal digits, not \"%.80s\"", what, key,
            text);
    }
    return LEAT_OK;
}

static leat_code get_time(const json_t *object, const char *key, bool any, int64_t *us,
                          const char *what, leat_error *err) {
    *us = 0;
    const json_t *value = json_object_get(object, key);
    if (!any && json_is_null(value)) return LEAT_OK;
    if (any && json_is_string(value) && leat_time_parse(json_string_value(value), us)) {
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" must be %s", what, key,
                     any ? "a time as 2019-04-24T00:00:00.000000Z" : "null: there are no rows");
}

static leat_code get_options(const json_t *root, leat_manifest *manifest, const char *what,
                             leat_error *err) {
    const json_t *options = NULL;
    LEAT_TRY(leat_json_get_object(root, "options", &options, what, err));
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)options, key, value) {
        leat_code code = LEAT_ERR_CORRUPT;
        leat_error inner = {0};
        if (json_is_string(value)) {
            code = leat_manifest_add_text(manifest, key, json_string_value(value), &inner);
        } else if (json_is_integer(value)) {
            code = leat_manifest_add_int(manifest, key, json_integer_value(value), &inner);
        } else if (json_is_real(value)) {
            code = leat_manifest_add_real(manifest, key, json_real_value(value), &inner);
        } else if (json_is_boolean(value)) {
            code = leat_manifest_add_bool(manifest, key, json_is_true(value), &inner);
        } else {
            (void)leat_fail(&inner, code, "option \"%.64s\" is neither text, number nor boolean",
                            key);
        }
        if (code == LEAT_ERR_OPTION)
            code = LEAT_ERR_CORRUPT; /* the file's mistake, not the caller's */
        if (code != LEAT_OK) return leat_fail(err, code, "%s: %s", what, inner.message);
    }
    return LEAT_OK;
}

/* Totals follow from the shards: they are read only to be compared. */
static leat_code check_totals(const json_t *root, const char *key,
                              const leat_manifest_totals *expected, const char *what,
                              leat_error *err) {
    const json_t *object = NULL;
    int64_t first_us = 0, last_us = 0;
    LEAT_TRY(leat_json_get_object(root, key, &object, what, err));
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {
        {"shards", expected->shard_count},
        {"rows", expected->row_count},
        {"measurements", expected->measurement_count},
        {"bytes", expected->file_bytes},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        int64_t value = 0;
        LEAT_TRY(leat_json_get_int(object, counts[i].key, 0, INT64_MAX, &value, what, err));
        if (value == counts[i].value) continue;
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: \"%s\" has %lld %s, but its shards together have %lld", what, key,
                         (long long)value, counts[i].key, (long long)counts[i].value);
    }
    bool any = expected->row_count > 0;
    LEAT_TRY(get_time(object, "first_time", any, &first_us, what, err));
    LEAT_TRY(get_time(object, "last_time", any, &last_us, what, err));
    if (first_us == expected->first_us && last_us == expected->last_us) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: times of \"%s\" contradict its shards", what, key);
}

/* What the next shard must be: the next of this split, or the first of test. */
static leat_code get_shard_name(const json_t *object, const leat_manifest *manifest,
                                leat_shard_info *info, const char *what, leat_error *err) {
    const char *file = NULL;
    char name[LEAT_SHARD_NAME_BYTES];
    LEAT_TRY(leat_json_get_string(object, "file", &file, what, err));
    info->split = LEAT_SPLIT_TRAIN;
    if (manifest->shard_count > 0) {
        const leat_shard_info *last = &manifest->shards[manifest->shard_count - 1];
        info->split = last->split;
        info->number = last->number + 1;
    }
    leat_layout_shard_name(info->split, info->number, name);
    if (strcmp(file, name) == 0) return LEAT_OK;
    if (info->split == LEAT_SPLIT_TRAIN) {
        char first_test[LEAT_SHARD_NAME_BYTES];
        info->split = LEAT_SPLIT_TEST;
        info->number = 0;
        leat_layout_shard_name(info->split, info->number, first_test);
        if (strcmp(file, first_test) == 0) return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: shard %lld is \"%.80s\"; it must be \"%s\"", what,
                     (long long)manifest->shard_count, file, name);
}

static leat_code get_shard(const json_t *object, leat_manifest *manifest, const char *what,
                           leat_error *err) {
    leat_shard_info info = {0};
    if (!json_is_object(object)) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: shard %lld is not an object", what,
                         (long long)manifest->shard_count);
    }
    LEAT_TRY(get_shard_name(object, manifest, &info, what, err));
    LEAT_TRY(leat_json_get_int(object, "rows", 0, INT64_MAX, &info.row_count, what, err));
    LEAT_TRY(leat_json_get_int(object, "measurements", 0, INT64_MAX, &info.measurement_count, what,
                               err));
    LEAT_TRY(leat_json_get_int(object, "bytes", 1, INT64_MAX, &info.file_bytes, what, err));
    bool any = info.row_count > 0;
    LEAT_TRY(get_time(object, "first_time", any, &info.first_us, what, err));
    LEAT_TRY(get_time(object, "last_time", any, &info.last_us, what, err));
    LEAT_TRY(get_sha256(object, "sha256", info.file_sha256, what, err));
    LEAT_TRY(get_sha256(object, "records_sha256", info.records_sha256, what, err));
    leat_code code = leat_manifest_add_shard(manifest, &info, err);
    return code == LEAT_ERR_INPUT ? leat_error_context(err, LEAT_ERR_CORRUPT, "%s", what) : code;
}

/* Each shard is read by itself: as one value, 100,000 of them take hundreds of megabytes. */
static leat_code get_shards(leat_json_span list, leat_manifest *manifest, const char *what,
                            leat_error *err) {
    leat_json_walk walk;
    bool more = false;
    LEAT_TRY(leat_json_walk_array(&walk, list, what, err));
    while (true) {
        json_t *object = NULL;
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) return LEAT_OK;
        LEAT_TRY(leat_json_walk_value(&walk, SHARD_BYTES_MAX, &object, err));
        leat_code code = get_shard(object, manifest, what, err);
        json_decref(object);
        LEAT_TRY(code);
    }
}

/* `root` is the document without the shards. */
static leat_code get_manifest(const json_t *root, leat_json_span list, leat_manifest *manifest,
                              const char *what, leat_error *err) {
    const json_t *index = NULL;
    int64_t version = 0;
    LEAT_TRY(leat_json_expect_string(root, "format", FORMAT_NAME, what, err));
    LEAT_TRY(leat_json_get_int(root, "version", 1, INT32_MAX, &version, what, err));
    if (version > FORMAT_VERSION_PROBE) {
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "%s has version %lld, but this version of leat reads %d; use a newer leat",
                         what, (long long)version, FORMAT_VERSION_PROBE);
    }
    LEAT_TRY(get_options(root, manifest, what, err));
    if (version != version_of(manifest)) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s has version %lld, but its options imply %d",
                         what, (long long)version, version_of(manifest));
    }
    LEAT_TRY(leat_json_get_object(root, "index", &index, what, err));
    LEAT_TRY(leat_json_expect_string(index, "file", LEAT_INDEX_NAME, what, err));
    LEAT_TRY(leat_json_get_int(index, "bytes", 1, INT64_MAX, &manifest->index_bytes, what, err));
    LEAT_TRY(get_sha256(index, "table_sha256", manifest->index_sha256, what, err));
    if (list.text == NULL) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"shards\" is missing", what);
    }
    LEAT_TRY(get_shards(list, manifest, what, err));
    LEAT_TRY(leat_manifest_seal(manifest, err));
    LEAT_TRY(check_totals(root, "total", &manifest->total, what, err));
    LEAT_TRY(check_totals(root, "train", &manifest->split[LEAT_SPLIT_TRAIN], what, err));
    LEAT_TRY(check_totals(root, "test", &manifest->split[LEAT_SPLIT_TEST], what, err));
    uint8_t fingerprint[32];
    LEAT_TRY(get_sha256(root, "fingerprint", fingerprint, what, err));
    if (memcmp(fingerprint, manifest->fingerprint, 32) != 0) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: the fingerprint does not match the shards' record hashes", what);
    }
    return LEAT_OK;
}

leat_code leat_manifest_parse(const char *text, int64_t size_bytes, const char *what,
                              leat_manifest *manifest, leat_error *err) {
    static const char *const large[] = {"shards"};
    leat_json_span list;
    json_t *root = NULL;
    *manifest = (leat_manifest){0};
    LEAT_TRY(leat_json_split((leat_json_span){text, size_bytes}, (leat_json_large){large, 1, &list},
                             OTHER_BYTES_MAX, what, &root, err));
    leat_code code = get_manifest(root, list, manifest, what, err);
    json_decref(root);
    if (code != LEAT_OK) leat_manifest_free(manifest);
    return code;
}

leat_code leat_manifest_load(const char *dir, leat_manifest *manifest, leat_error *err) {
    char path[LEAT_PATH_BYTES], what[256];
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    *manifest = (leat_manifest){0};
    LEAT_TRY(leat_path_join(path, sizeof(path), dir, LEAT_MANIFEST_NAME, err));
    LEAT_TRY(leat_file_load(path, MANIFEST_BYTES_MAX, &text, &size_bytes, err));
    snprintf(what, sizeof(what), "manifest \"%.240s\"", path);
    leat_code code = leat_manifest_parse((const char *)text, size_bytes, what, manifest, err);
    leat_free(text);
    return code;
}
