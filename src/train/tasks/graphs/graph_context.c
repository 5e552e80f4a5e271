/* See graph_context.h. */
#include "train/tasks/graphs/graph_context.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "load/can/cache.h"
#include "train/run/folder.h"

/* Of a document, and of what it has besides the identifiers. */
#define BYTES_MAX (INT64_C(256) << 20)
#define REST_BYTES_MAX (INT64_C(1) << 20)
enum { VERSION = 1, IDENTIFIER_BYTES_MAX = 512 };

#define REMEDY                                                                                     \
    "; restore it from a backup, or remove it and resume the run on its cache, which writes it "   \
    "again"

/* ---- Of a cache ----------------------------------------------------------------------------- */

static leat_code fill(leat_graph_context *self, const leat_can_meta *meta, leat_error *err) {
    memcpy(self->cache, meta->digest, sizeof self->cache);
    memcpy(self->dataset, meta->dataset, sizeof self->dataset);
    memcpy(self->preset, meta->preset, sizeof self->preset);
    self->window = meta->window;
    self->stride = meta->stride;
    memcpy(self->settings, meta->settings, sizeof self->settings);
    self->setting_count = meta->setting_count;
    memcpy(self->scaler_strategy, meta->scaler_strategy, sizeof self->scaler_strategy);
    self->scaler = meta->scaler;
    LEAT_TRY(LEAT_NEW(&self->identifiers, meta->ids.known, err));
    self->identifier_count = meta->ids.known;
    for (int64_t i = 0; i < meta->ids.known; i++) {
        memcpy(self->identifiers[i].text, meta->ids.text[i], sizeof self->identifiers[i].text);
        self->identifiers[i].interval_s = NAN;
    }
    return LEAT_OK;
}

leat_code leat_graph_context_make(leat_graph_context **out, const leat_can_cache *cache,
                                  leat_error *err) {
    leat_graph_context *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    const leat_code code = fill(self, &cache->meta, err);
    if (code == LEAT_OK) *out = self;
    else leat_graph_context_destroy(self);
    return code;
}

void leat_graph_context_destroy(leat_graph_context *context) {
    if (context == NULL) return;
    leat_free(context->identifiers);
    leat_free(context);
}

const char *leat_graph_context_setting(const leat_graph_context *context, const char *name) {
    for (int i = 0; i < context->setting_count; i++)
        if (strcmp(context->settings[i].name, name) == 0) return context->settings[i].value;
    return NULL;
}

/* ---- Written -------------------------------------------------------------------------------- */

static void put_columns(leat_json *json, const char *key, const double *values, int count) {
    leat_json_key(json, key);
    leat_json_begin_array(json);
    leat_json_on_line(json, true);
    for (int i = 0; i < count; i++) leat_json_double(json, values[i]);
    leat_json_end_array(json);
    leat_json_on_line(json, false);
}

static void put_scaler(leat_json *json, const leat_graph_context *self) {
    const leat_can_scaler_values *scaler = &self->scaler;
    leat_json_key(json, "scaler");
    leat_json_begin_object(json);
    leat_json_member_string(json, "strategy", self->scaler_strategy);
    put_columns(json, "x_center", scaler->x_center, LEAT_CAN_X_COLUMNS);
    put_columns(json, "x_scale", scaler->x_scale, LEAT_CAN_X_COLUMNS);
    put_columns(json, "edge_center", scaler->edge_center, LEAT_CAN_EDGE_COLUMNS);
    put_columns(json, "edge_scale", scaler->edge_scale, LEAT_CAN_EDGE_COLUMNS);
    leat_json_end_object(json);
}

static void put_identifiers(leat_json *json, const leat_graph_context *self) {
    leat_json_key(json, "identifiers");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < self->identifier_count; i++) {
        const leat_graph_identifier *of = &self->identifiers[i];
        leat_json_begin_object(json);
        leat_json_on_line(json, true);
        leat_json_member_string(json, "id", of->text);
        leat_json_member_int(json, "frames", of->frames);
        leat_json_key(json, "interval_s");
        if (of->frames > 0) leat_json_double(json, of->interval_s);
        else leat_json_null(json);
        leat_json_end_object(json);
        leat_json_on_line(json, false);
    }
    leat_json_end_array(json);
}

/* The members that the hash is of. */
static void put_members(leat_json *json, const leat_graph_context *self) {
    leat_json_member_string(json, "cache", self->cache);
    leat_json_member_string(json, "dataset", self->dataset);
    leat_json_member_string(json, "preset", self->preset);
    leat_json_member_int(json, "window", self->window);
    leat_json_member_int(json, "stride", self->stride);
    leat_json_key(json, "settings");
    leat_json_begin_object(json);
    for (int i = 0; i < self->setting_count; i++)
        leat_json_member_string(json, self->settings[i].name, self->settings[i].value);
    leat_json_end_object(json);
    put_scaler(json, self);
    leat_json_key(json, "benign");
    leat_json_begin_object(json);
    leat_json_member_int(json, "windows", self->benign_windows);
    leat_json_member_double(json, "seconds", self->benign_seconds);
    leat_json_end_object(json);
    put_identifiers(json, self);
}

static leat_code hash_of(const leat_graph_context *self, char hash[65], leat_error *err) {
    leat_json *json = NULL;
    leat_sha256 sha;
    uint8_t digest[32];
    const char *text = NULL;
    int64_t size = 0;
    hash[0] = 0;
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_sha256_init(&sha);
    leat_json_stream(json, leat_sha256_write, &sha);
    leat_json_begin_object(json);
    put_members(json, self);
    leat_json_end_object(json);
    const leat_code code = leat_json_finish(json, &text, &size, err);
    leat_json_destroy(json);
    LEAT_TRY(code);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hash);
    return LEAT_OK;
}

leat_code leat_graph_context_save(const leat_graph_context *context, const char *run,
                                  leat_error *err) {
    char path[LEAT_PATH_BYTES], hash[65];
    leat_json *json = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, run, LEAT_RUN_DETECTOR, err));
    LEAT_TRY(hash_of(context, hash, err));
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", "leat.detector");
    leat_json_member_int(json, "version", VERSION);
    leat_json_member_string(json, "hash", hash);
    put_members(json, context);
    leat_json_end_object(json);
    return leat_json_save(json, path, err);
}

/* ---- Read ----------------------------------------------------------------------------------- */

typedef struct reading {
    leat_graph_context *context;
    const char *path;
    char hash[65];
} reading;

static leat_code corrupt(leat_error *err, const char *what) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s", what);
}

static leat_code get_text(const json_t *root, const char *key, char *out, size_t size,
                          leat_error *err) {
    const char *text = NULL;
    LEAT_TRY(leat_json_get_string(root, key, &text, LEAT_RUN_DETECTOR, err));
    if (strlen(text) >= size) return corrupt(err, "a text is too long");
    memcpy(out, text, strlen(text) + 1);
    return LEAT_OK;
}

static leat_code get_columns(const json_t *scaler, const char *key, double *values, int count,
                             leat_error *err) {
    const json_t *array = NULL;
    LEAT_TRY(leat_json_get_array(scaler, key, &array, LEAT_RUN_DETECTOR, err));
    if ((int)json_array_size(array) != count)
        return corrupt(err, "a scaler has another number of columns");
    for (int i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, (size_t)i);
        if (!json_is_number(item)) return corrupt(err, "a scaler's value is not a number");
        values[i] = json_number_value(item);
    }
    return LEAT_OK;
}

static leat_code get_scaler(const reading *of, const json_t *root, leat_error *err) {
    leat_graph_context *self = of->context;
    leat_can_scaler_values *scaler = &self->scaler;
    const json_t *object = NULL;
    LEAT_TRY(leat_json_get_object(root, "scaler", &object, LEAT_RUN_DETECTOR, err));
    LEAT_TRY(
        get_text(object, "strategy", self->scaler_strategy, sizeof self->scaler_strategy, err));
    LEAT_TRY(get_columns(object, "x_center", scaler->x_center, LEAT_CAN_X_COLUMNS, err));
    LEAT_TRY(get_columns(object, "x_scale", scaler->x_scale, LEAT_CAN_X_COLUMNS, err));
    LEAT_TRY(get_columns(object, "edge_center", scaler->edge_center, LEAT_CAN_EDGE_COLUMNS, err));
    return get_columns(object, "edge_scale", scaler->edge_scale, LEAT_CAN_EDGE_COLUMNS, err);
}

static leat_code get_settings(const reading *of, const json_t *root, leat_error *err) {
    leat_graph_context *self = of->context;
    const json_t *object = NULL;
    const char *name;
    json_t *value;
    LEAT_TRY(leat_json_get_object(root, "settings", &object, LEAT_RUN_DETECTOR, err));
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        leat_can_meta_setting *to = &self->settings[self->setting_count];
        if (self->setting_count == LEAT_CAN_SETTINGS_MAX || strlen(name) >= sizeof to->name)
            return corrupt(err, "settings of no cache");
        LEAT_TRY(get_text(object, name, to->value, sizeof to->value, err));
        memcpy(to->name, name, strlen(name) + 1);
        self->setting_count++;
    }
    return LEAT_OK;
}

/* All but the identifiers. */
static leat_code get_rest(reading *of, const json_t *root, leat_error *err) {
    leat_graph_context *self = of->context;
    const json_t *benign = NULL;
    LEAT_TRY(get_text(root, "hash", of->hash, sizeof of->hash, err));
    LEAT_TRY(get_text(root, "cache", self->cache, sizeof self->cache, err));
    LEAT_TRY(get_text(root, "dataset", self->dataset, sizeof self->dataset, err));
    LEAT_TRY(get_text(root, "preset", self->preset, sizeof self->preset, err));
    LEAT_TRY(leat_json_get_int(root, "window", LEAT_WINDOW_MIN, LEAT_WINDOW_MAX, &self->window,
                               LEAT_RUN_DETECTOR, err));
    LEAT_TRY(
        leat_json_get_int(root, "stride", 1, INT64_MAX, &self->stride, LEAT_RUN_DETECTOR, err));
    LEAT_TRY(get_settings(of, root, err));
    LEAT_TRY(get_scaler(of, root, err));
    LEAT_TRY(leat_json_get_object(root, "benign", &benign, LEAT_RUN_DETECTOR, err));
    LEAT_TRY(leat_json_get_int(benign, "windows", 0, INT64_MAX, &self->benign_windows,
                               LEAT_RUN_DETECTOR, err));
    return leat_json_get_double(benign, "seconds", &self->benign_seconds, LEAT_RUN_DETECTOR, err);
}

static leat_code get_identifier(const json_t *item, leat_graph_identifier *out, leat_error *err) {
    *out = (leat_graph_identifier){.interval_s = NAN};
    LEAT_TRY(get_text(item, "id", out->text, sizeof out->text, err));
    LEAT_TRY(leat_json_get_int(item, "frames", 0, INT64_MAX, &out->frames, LEAT_RUN_DETECTOR, err));
    if (out->frames == 0) return LEAT_OK;
    return leat_json_get_double(item, "interval_s", &out->interval_s, LEAT_RUN_DETECTOR, err);
}

static leat_code get_identifiers(const reading *of, leat_json_span text, leat_error *err) {
    leat_graph_context *self = of->context;
    leat_json_walk walk;
    int64_t capacity = 0;
    LEAT_TRY(leat_json_walk_array(&walk, text, LEAT_RUN_DETECTOR, err));
    for (;;) {
        bool more = false;
        json_t *item = NULL;
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) return LEAT_OK;
        LEAT_TRY(LEAT_GROW(&self->identifiers, &capacity, self->identifier_count + 1, err));
        LEAT_TRY(leat_json_walk_value(&walk, IDENTIFIER_BYTES_MAX, &item, err));
        const leat_code code =
            json_is_object(item)
                ? get_identifier(item, &self->identifiers[self->identifier_count], err)
                : corrupt(err, "an identifier is not an object");
        json_decref(item);
        LEAT_TRY(code);
        self->identifier_count++;
    }
}

/* Before the rest is looked at: whether it is a document of this version. */
static leat_code check_format(const reading *of, const json_t *root, leat_error *err) {
    int64_t version = 0;
    LEAT_TRY(leat_json_expect_string(root, "format", "leat.detector", LEAT_RUN_DETECTOR, err));
    LEAT_TRY(leat_json_get_int(root, "version", 1, INT64_MAX, &version, LEAT_RUN_DETECTOR, err));
    if (version == VERSION) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "\"%.300s\" has version %lld, and this version of leat reads %d; use the one "
                     "that the run began with, or a newer one",
                     of->path, (long long)version, VERSION);
}

static leat_code parse(reading *of, leat_json_span text, leat_error *err) {
    static const char *const large[] = {"identifiers"};
    leat_json_span span = {0};
    json_t *root = NULL;
    char hash[65];
    LEAT_TRY(leat_json_split(text, (leat_json_large){large, 1, &span}, REST_BYTES_MAX,
                             LEAT_RUN_DETECTOR, &root, err));
    leat_code code = check_format(of, root, err);
    if (code == LEAT_OK) code = get_rest(of, root, err);
    json_decref(root);
    LEAT_TRY(code);
    if (span.text == NULL) return corrupt(err, "\"identifiers\" is missing");
    LEAT_TRY(get_identifiers(of, span, err));
    LEAT_TRY(hash_of(of->context, hash, err));
    return strcmp(hash, of->hash) == 0 ? LEAT_OK : corrupt(err, "\"hash\" is not that of the rest");
}

static leat_code load(reading *of, leat_error *err) {
    uint8_t *text = NULL;
    int64_t size = 0;
    leat_error why = {0};
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(of->path, &facts, err));
    /* to open a pipe would wait for who writes to it */
    leat_code code = facts.kind == LEAT_PATH_DIR || facts.kind == LEAT_PATH_OTHER
                         ? corrupt(&why, "it is not a file")
                         : leat_file_load(of->path, BYTES_MAX, &text, &size, &why);
    if (code == LEAT_ERR_NOT_FOUND)
        return leat_fail(err, code,
                         "\"%.300s\" is missing: the run was begun without it, or it was removed; "
                         "resume the run on its cache, which writes it",
                         of->path);
    if (code == LEAT_OK) code = parse(of, (leat_json_span){(const char *)text, size}, &why);
    leat_free(text);
    if (code != LEAT_ERR_CORRUPT) return leat_error_copy(err, &why);
    return leat_fail(err, code, "\"%.200s\" is damaged: %.150s" REMEDY, of->path, why.message);
}

leat_code leat_graph_context_load(leat_graph_context **out, const char *run, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    reading of = {.path = path};
    *out = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, run, LEAT_RUN_DETECTOR, err));
    LEAT_TRY(LEAT_NEW(&of.context, 1, err));
    const leat_code code = load(&of, err);
    if (code == LEAT_OK) *out = of.context;
    else leat_graph_context_destroy(of.context);
    return code;
}

leat_code leat_graph_context_check(const leat_graph_context *context, const char *run,
                                   const char *data, leat_error *err) {
    if (strcmp(context->cache, data) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%.200s/" LEAT_RUN_DETECTOR "\" is of the cache %.16s..., but the run was "
                     "trained on %.16s..." REMEDY,
                     run, context->cache, data);
}
