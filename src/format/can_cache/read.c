/*
 * Reads the JSON of a cache. .complete has the hashes of the three documents, so that a flipped bit
 * is found; but a cache may come from anywhere, so the documents are bounded and checked as if
 * there were no hashes. Captures, identifiers and splits are walked; everything else is small.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/can_cache/can_cache.h"

#define SCHEMA_VERSION 3
/* Text of what is not walked; of a split; of a capture without its identifiers. */
#define SMALL_BYTES_MAX (INT64_C(1) << 20)
#define CAPTURE_BYTES_MAX (INT64_C(1) << 16)
#define NUMBER_BYTES_MAX 64
#define WHAT_BYTES 320

/* ---- members -------------------------------------------------------------------------------- */

static leat_code corrupt(leat_error *err, const char *what, const char *problem) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: %s", what, problem);
}

/* A text that fits `bytes` with its NUL. */
static leat_code get_word(const json_t *object, const char *key, char *out, size_t bytes,
                          const char *what, leat_error *err) {
    const char *text = NULL;
    LEAT_TRY(leat_json_get_string(object, key, &text, what, err));
    size_t size = strlen(text);
    if (size >= bytes) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" has %zu bytes; the limit is %zu",
                         what, key, size, bytes - 1);
    }
    memcpy(out, text, size + 1);
    return LEAT_OK;
}

/* A copy of a text; "" for null. */
static leat_code copy_word(const json_t *object, const char *key, char **out, const char *what,
                           leat_error *err) {
    const char *text = "";
    if (!json_is_null(json_object_get(object, key)))
        LEAT_TRY(leat_json_get_string(object, key, &text, what, err));
    return leat_strdup(out, text, err);
}

/* Numbers of [min, max]; `none` for null. */
typedef struct range {
    int64_t min, max;
    int32_t none;
} range;

static leat_code get_known(const json_t *object, const char *key, range of, int32_t *out,
                           const char *what, leat_error *err) {
    int64_t value = of.none;
    if (!json_is_null(json_object_get(object, key)))
        LEAT_TRY(leat_json_get_int(object, key, of.min, of.max, &value, what, err));
    *out = (int32_t)value;
    return LEAT_OK;
}

static leat_code expect_int(const json_t *object, const char *key, int64_t expected,
                            const char *what, leat_error *err) {
    int64_t value = 0;
    LEAT_TRY(leat_json_get_int(object, key, INT64_MIN, INT64_MAX, &value, what, err));
    if (value == expected) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" is %lld; it must be %lld", what, key,
                     (long long)value, (long long)expected);
}

/* The piece of the document that must be there. */
static leat_code expect_span(leat_json_span span, const char *key, const char *what,
                             leat_error *err) {
    if (span.text != NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" is missing", what, key);
}

/* The walk's last value as an integer of [min, max]. */
static leat_code walk_int(const leat_json_walk *walk, int64_t min, int64_t max, int64_t *out,
                          leat_error *err) {
    json_t *value = NULL;
    LEAT_TRY(leat_json_walk_value(walk, NUMBER_BYTES_MAX, &value, err));
    bool good = json_is_integer(value);
    *out = json_integer_value(value);
    json_decref(value);
    if (good && *out >= min && *out <= max) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: \"%.80s\" must be an integer of %lld to %lld",
                     walk->what, walk->key, (long long)min, (long long)max);
}

/* ---- vocabulary, scaler --------------------------------------------------------------------- */

/* Order and bytes are checked once all of them are read. */
static leat_code add_id(leat_can_ids *ids, const char *text, const char *what, leat_error *err) {
    size_t size = strlen(text);
    if (size >= LEAT_CAN_ID_TEXT_BYTES) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: identifier \"%.80s\" has more than %d bytes",
                         what, text, LEAT_CAN_ID_TEXT_BYTES - 1);
    }
    LEAT_TRY(LEAT_GROW(&ids->text, &ids->capacity, ids->count + 1, err));
    memset(ids->text[ids->count], 0, LEAT_CAN_ID_TEXT_BYTES);
    memcpy(ids->text[ids->count++], text, size);
    return LEAT_OK;
}

static leat_code parse_entries(leat_can_ids *ids, leat_json_span entries, const char *what,
                               leat_error *err) {
    leat_json_walk walk;
    bool more = false;
    int64_t number = 0;
    LEAT_TRY(leat_json_walk_object(&walk, entries, what, err));
    while (true) {
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) return LEAT_OK;
        LEAT_TRY(walk_int(&walk, ids->count + 1, ids->count + 1, &number, err));
        LEAT_TRY(add_id(ids, walk.key, what, err));
        ids->known = ids->count;
    }
}

static leat_code parse_vocab(leat_can_meta *meta, leat_json_span text, const char *what,
                             leat_error *err) {
    static const char *const large[] = {"entries"};
    leat_json_span entries;
    json_t *root = NULL;
    LEAT_TRY(leat_json_split(text, (leat_json_large){large, 1, &entries}, SMALL_BYTES_MAX, what,
                             &root, err));
    leat_code code = expect_span(entries, large[0], what, err);
    if (code == LEAT_OK) code = expect_int(root, "unk_index", 0, what, err);
    if (code == LEAT_OK) code = parse_entries(&meta->ids, entries, what, err);
    leat_can_vocab_digest(&meta->ids, meta->vocab_digest);
    if (code == LEAT_OK)
        code = leat_json_expect_string(root, "digest", meta->vocab_digest, what, err);
    json_decref(root);
    return code;
}

static leat_code parse_columns(const json_t *root, const char *key, double *values, int count,
                               const char *what, leat_error *err) {
    const json_t *list = NULL;
    LEAT_TRY(leat_json_get_array(root, key, &list, what, err));
    bool good = json_array_size(list) == (size_t)count;
    for (int i = 0; i < count && good; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        good = json_is_number(value);
        values[i] = json_number_value(value) + 0.0; /* no negative zero */
    }
    if (good) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: member \"%s\" must be %d numbers", what, key,
                     count);
}

static leat_code read_scaler(leat_can_meta *meta, const json_t *root, const char *what,
                             leat_error *err) {
    leat_can_scaler_values *scaler = &meta->scaler;
    LEAT_TRY(
        get_word(root, "strategy", meta->scaler_strategy, sizeof meta->scaler_strategy, what, err));
    LEAT_TRY(parse_columns(root, "x_center", scaler->x_center, LEAT_CAN_X_COLUMNS, what, err));
    LEAT_TRY(parse_columns(root, "x_scale", scaler->x_scale, LEAT_CAN_X_COLUMNS, what, err));
    LEAT_TRY(
        parse_columns(root, "edge_center", scaler->edge_center, LEAT_CAN_EDGE_COLUMNS, what, err));
    return parse_columns(root, "edge_scale", scaler->edge_scale, LEAT_CAN_EDGE_COLUMNS, what, err);
}

static leat_code parse_scaler(leat_can_meta *meta, leat_json_span text, const char *what,
                              leat_error *err) {
    json_t *root = NULL;
    LEAT_TRY(
        leat_json_split(text, (leat_json_large){NULL, 0, NULL}, SMALL_BYTES_MAX, what, &root, err));
    leat_code code = read_scaler(meta, root, what, err);
    json_decref(root);
    return code;
}

/* ---- splits --------------------------------------------------------------------------------- */

static leat_code read_sizes(const json_t *stats, const char *key, leat_can_sizes *sizes,
                            const char *what, leat_error *err) {
    const json_t *object = NULL;
    LEAT_TRY(leat_json_get_object(stats, key, &object, what, err));
    LEAT_TRY(leat_json_get_int(object, "min", 0, INT32_MAX, &sizes->min, what, err));
    LEAT_TRY(leat_json_get_int(object, "max", 0, INT32_MAX, &sizes->max, what, err));
    LEAT_TRY(leat_json_get_double(object, "mean", &sizes->mean, what, err));
    LEAT_TRY(leat_json_get_double(object, "p95", &sizes->p95, what, err));
    return leat_json_get_double(object, "p99", &sizes->p99, what, err);
}

static leat_code read_balance(const json_t *object, leat_can_meta_split *split, const char *what,
                              leat_error *err) {
    const json_t *balance = NULL;
    const char *attack = NULL;
    json_t *value = NULL;
    LEAT_TRY(leat_json_get_object(object, "attack_balance", &balance, what, err));
    json_object_foreach((json_t *)balance, attack, value) {
        if (split->balance_count == LEAT_CAN_ATTACKS_MAX)
            return corrupt(err, what, "too many attack types");
        leat_can_balance *out = &split->balance[split->balance_count++];
        if (strlen(attack) >= sizeof out->attack)
            return corrupt(err, what, "the name of an attack is too long");
        memcpy(out->attack, attack, strlen(attack));
        LEAT_TRY(leat_json_get_int(balance, attack, 0, INT64_MAX, &out->windows, what, err));
    }
    return LEAT_OK;
}

/* What a split of its own has, and what val has, which is a part of train. */
static leat_code read_source(const leat_can_meta *meta, const json_t *object,
                             leat_can_meta_split *split, const char *what, leat_error *err) {
    const json_t *list = NULL;
    if (strcmp(split->name, LEAT_CAN_SPLIT_VAL) == 0) {
        LEAT_TRY(leat_json_expect_string(object, "derived_from", LEAT_CAN_SPLIT_TRAIN, what, err));
        LEAT_TRY(leat_json_get_array(object, "val_fraction_seed", &list, what, err));
        bool same = json_array_size(list) == 2 &&
                    json_number_value(json_array_get(list, 0)) == meta->val_fraction &&
                    json_integer_value(json_array_get(list, 1)) == meta->seed;
        return same ? LEAT_OK : corrupt(err, what, "its val_fraction_seed is not the cache's");
    }
    LEAT_TRY(
        leat_json_get_int(object, "num_raw_samples", 0, INT64_MAX, &split->raw_samples, what, err));
    LEAT_TRY(leat_json_get_array(object, "source_dirs", &list, what, err));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text == NULL) return corrupt(err, what, "its source_dirs are not texts");
        LEAT_TRY(leat_path_list_add(&split->source_dirs, text, err));
    }
    return LEAT_OK;
}

static leat_code read_split(const leat_can_meta *meta, const json_t *object,
                            leat_can_meta_split *split, const char *what, leat_error *err) {
    const json_t *stats = NULL;
    char hash[17], again[17];
    LEAT_TRY(read_balance(object, split, what, err));
    LEAT_TRY(leat_json_get_object(object, "graph_stats", &stats, what, err));
    LEAT_TRY(read_sizes(stats, "node_count", &split->node_count, what, err));
    LEAT_TRY(read_sizes(stats, "edge_count", &split->edge_count, what, err));
    LEAT_TRY(
        leat_json_get_int(object, "bytes_on_disk", 1, INT64_MAX, &split->file_bytes, what, err));
    LEAT_TRY(leat_json_get_int(object, "num_graphs", 0, UINT32_MAX, &split->graphs, what, err));
    LEAT_TRY(leat_json_get_int(object, "num_nodes", 0, INT64_MAX, &split->nodes, what, err));
    LEAT_TRY(leat_json_get_int(object, "num_edges", 0, INT64_MAX, &split->edges, what, err));
    LEAT_TRY(get_word(object, "pages_xxh3", hash, sizeof hash, what, err));
    split->pages_hash = strtoull(hash, NULL, 16);
    snprintf(again, sizeof again, "%016llx", (unsigned long long)split->pages_hash);
    if (strcmp(hash, again) != 0) return corrupt(err, what, "pages_xxh3 is not 16 hex digits");
    return read_source(meta, object, split, what, err);
}

/* Train, val, tests by name: the order of leat_can_meta.splits. */
static int compare_splits(const void *a, const void *b) {
    const char *x = ((const leat_can_meta_split *)a)->name;
    const char *y = ((const leat_can_meta_split *)b)->name;
    bool x_test = strncmp(x, LEAT_CAN_SPLIT_TEST, strlen(LEAT_CAN_SPLIT_TEST)) == 0;
    bool y_test = strncmp(y, LEAT_CAN_SPLIT_TEST, strlen(LEAT_CAN_SPLIT_TEST)) == 0;
    return x_test != y_test ? x_test - y_test : strcmp(x, y);
}

static leat_code add_split(leat_can_meta *meta, int64_t *capacity, const leat_json_walk *walk,
                           leat_error *err) {
    char what[WHAT_BYTES];
    json_t *object = NULL;
    snprintf(what, sizeof what, "%.180s, split \"%.100s\"", walk->what, walk->key);
    if (!leat_can_split_is_name(walk->key)) return corrupt(err, what, "not the name of a split");
    if (meta->split_count == LEAT_CAN_CACHE_SPLITS_MAX)
        return corrupt(err, what, "too many splits");
    LEAT_TRY(leat_json_walk_value(walk, LEAT_CAN_SPLIT_TEXT_BYTES_MAX, &object, err));
    leat_code code = LEAT_GROW(&meta->splits, capacity, meta->split_count + 1, err);
    if (code == LEAT_OK) {
        leat_can_meta_split *split = &meta->splits[meta->split_count++];
        *split = (leat_can_meta_split){0};
        memcpy(split->name, walk->key, strlen(walk->key));
        code = read_split(meta, object, split, what, err);
    }
    json_decref(object);
    return code;
}

static leat_code parse_splits(leat_can_meta *meta, leat_json_span text, const char *what,
                              leat_error *err) {
    leat_json_walk walk;
    bool more = true;
    int64_t capacity = 0;
    LEAT_TRY(leat_json_walk_object(&walk, text, what, err));
    while (true) {
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) break;
        LEAT_TRY(add_split(meta, &capacity, &walk, err));
    }
    if (meta->split_count > 0)
        qsort(meta->splits, (size_t)meta->split_count, sizeof *meta->splits, compare_splits);
    return LEAT_OK;
}

/* ---- captures ------------------------------------------------------------------------------- */

/* The identifier's index, or -1. */
static int64_t find_id(const leat_can_ids *ids, const char *text) {
    for (int part = 0; part < 2; part++) {
        int64_t low = part == 0 ? 0 : ids->known, end = part == 0 ? ids->known : ids->count;
        int64_t high = end;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (strcmp(ids->text[middle], text) < 0) low = middle + 1;
            else high = middle;
        }
        if (low < end && strcmp(ids->text[low], text) == 0) return low;
    }
    return -1;
}

static leat_code parse_id_frames(const leat_can_meta *meta, leat_can_meta_capture *capture,
                                 leat_json_span text, const char *what, leat_error *err) {
    leat_json_walk walk;
    bool more = false;
    LEAT_TRY(leat_json_walk_object(&walk, text, what, err));
    while (true) {
        leat_can_interval it = {0};
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) return LEAT_OK;
        int64_t id = find_id(&meta->ids, walk.key);
        if (id < 0) return corrupt(err, what, "id_frames names an unknown identifier");
        it.id = (uint32_t)id;
        LEAT_TRY(walk_int(&walk, 1, INT64_MAX, &it.frames, err));
        LEAT_TRY(LEAT_GROW(&capture->intervals, &capture->interval_capacity,
                           capture->interval_count + 1, err));
        capture->intervals[capture->interval_count++] = it;
    }
}

/* Of the same identifiers, without those of a single frame. */
static leat_code parse_mean_interval(const leat_can_meta *meta, leat_can_meta_capture *capture,
                                     leat_json_span text, const char *what, leat_error *err) {
    leat_json_walk walk;
    bool more = true;
    LEAT_TRY(leat_json_walk_object(&walk, text, what, err));
    for (int64_t i = 0; i < capture->interval_count && more; i++) {
        leat_can_interval *it = &capture->intervals[i];
        json_t *value = NULL;
        if (it->frames == 1) continue;
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more || strcmp(walk.key, meta->ids.text[it->id]) != 0)
            return corrupt(err, what, "mean_interval does not have the identifiers of id_frames");
        LEAT_TRY(leat_json_walk_value(&walk, NUMBER_BYTES_MAX, &value, err));
        bool good = json_is_number(value);
        it->mean_s = json_number_value(value) + 0.0;
        json_decref(value);
        if (!good) return corrupt(err, what, "a mean_interval is not a number");
    }
    LEAT_TRY(leat_json_walk_next(&walk, &more, err));
    return more ? corrupt(err, what, "mean_interval has identifiers of its own") : LEAT_OK;
}

static leat_code read_capture(const json_t *object, leat_can_meta_capture *capture,
                              const char *what, leat_error *err) {
    const struct {
        const char *key;
        int64_t *out;
    } counts[] = {{"frames", &capture->frames},   {"windows", &capture->windows},
                  {"tail", &capture->tail},       {"between", &capture->between},
                  {"dropped", &capture->dropped}, {"rejected", &capture->rejected}};
    LEAT_TRY(copy_word(object, "file", &capture->file, what, err));
    LEAT_TRY(copy_word(object, "folder", &capture->folder, what, err));
    LEAT_TRY(get_word(object, "split", capture->split, sizeof capture->split, what, err));
    LEAT_TRY(get_known(object, "bus", (range){0, UINT16_MAX, -1}, &capture->bus, what, err));
    LEAT_TRY(get_known(object, "vehicle", (range){1, INT32_MAX, 0}, &capture->vehicle, what, err));
    if (json_object_get(object, "recording") != NULL) /* caches of earlier versions have none */
        LEAT_TRY(get_known(object, "recording", (range){1, INT32_MAX, 0}, &capture->recording, what,
                           err));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        LEAT_TRY(leat_json_get_int(object, counts[i].key, 0, INT64_MAX, counts[i].out, what, err));
    LEAT_TRY(leat_json_get_double(object, "first_s", &capture->first_s, what, err));
    return leat_json_get_double(object, "last_s", &capture->last_s, what, err);
}

static leat_code add_capture(leat_can_meta *meta, leat_json_span text, bool intervals,
                             const char *in, leat_error *err) {
    static const char *const large[] = {"id_frames", "mean_interval"};
    char what[WHAT_BYTES];
    leat_json_span spans[2];
    json_t *object = NULL;
    snprintf(what, sizeof what, "%.240s, capture %lld", in, (long long)meta->capture_count);
    LEAT_TRY(LEAT_GROW(&meta->captures, &meta->capture_capacity, meta->capture_count + 1, err));
    LEAT_TRY(leat_json_split(text, (leat_json_large){large, 2, spans}, CAPTURE_BYTES_MAX, what,
                             &object, err));
    leat_can_meta_capture *capture = &meta->captures[meta->capture_count++];
    *capture = (leat_can_meta_capture){0};
    leat_code code = read_capture(object, capture, what, err);
    json_decref(object);
    for (int i = 0; i < 2 && code == LEAT_OK; i++)
        code = expect_span(spans[i], large[i], what, err);
    if (code != LEAT_OK || !intervals) return code;
    LEAT_TRY(parse_id_frames(meta, capture, spans[0], what, err));
    return parse_mean_interval(meta, capture, spans[1], what, err);
}

static leat_code parse_captures(leat_can_meta *meta, leat_json_span text, bool intervals,
                                const char *what, leat_error *err) {
    leat_json_walk walk;
    bool more = false;
    LEAT_TRY(leat_json_walk_array(&walk, text, what, err));
    while (true) {
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) return LEAT_OK;
        LEAT_TRY(add_capture(meta, walk.value, intervals, what, err));
    }
}

static leat_code parse_unknown(leat_can_ids *ids, leat_json_span text, const char *what,
                               leat_error *err) {
    leat_json_walk walk;
    bool more = false;
    ids->count = ids->known; /* those of a document read before go */
    LEAT_TRY(leat_json_walk_array(&walk, text, what, err));
    while (true) {
        json_t *value = NULL;
        LEAT_TRY(leat_json_walk_next(&walk, &more, err));
        if (!more) return LEAT_OK;
        LEAT_TRY(leat_json_walk_value(&walk, LEAT_JSON_KEY_BYTES, &value, err));
        const char *id = json_string_value(value);
        leat_code code = id != NULL ? add_id(ids, id, what, err)
                                    : corrupt(err, what, "an unknown identifier is not a text");
        json_decref(value);
        LEAT_TRY(code);
    }
}

/* ---- all of it ------------------------------------------------------------------------------ */

static leat_code check_format(const json_t *root, const char *what, leat_error *err) {
    int64_t version = 0;
    LEAT_TRY(leat_json_expect_string(root, "format", LEAT_CAN_CACHE_FORMAT, what, err));
    LEAT_TRY(leat_json_get_int(root, "version", 1, INT32_MAX, &version, what, err));
    if (version == LEAT_CAN_CACHE_VERSION)
        return expect_int(root, "metadata_schema_version", SCHEMA_VERSION, what, err);
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "%s has version %lld, but this version of leat reads %d; use a newer leat",
                     what, (long long)version, LEAT_CAN_CACHE_VERSION);
}

static leat_code read_settings(leat_can_meta *meta, const json_t *root, const char *what,
                               leat_error *err) {
    const json_t *settings = NULL;
    const char *name = NULL;
    json_t *value = NULL;
    LEAT_TRY(leat_json_get_object(root, "settings", &settings, what, err));
    json_object_foreach((json_t *)settings, name, value) {
        leat_error inner = {0};
        if (!json_is_string(value)) return corrupt(err, what, "a setting is not a text");
        if (leat_can_meta_set(meta, name, json_string_value(value), &inner) != LEAT_OK)
            return corrupt(err, what, inner.message);
    }
    return LEAT_OK;
}

/* Only where there is something to say. */
static leat_code read_doubts(leat_can_meta *meta, const json_t *root, const char *what,
                             leat_error *err) {
    if (json_object_get(root, "frames_cut") != NULL)
        LEAT_TRY(leat_json_get_int(root, "frames_cut", 1, INT64_MAX, &meta->frames_cut, what, err));
    if (json_object_get(root, "warning") == NULL) return LEAT_OK;
    return get_word(root, "warning", meta->warning, sizeof meta->warning, what, err);
}

static leat_code read_facts(leat_can_meta *meta, const json_t *root, const char *what,
                            leat_error *err) {
    const struct {
        const char *key;
        char *out;
        size_t bytes;
    } words[] = {
        {"digest", meta->digest, sizeof meta->digest},
        {"dataset", meta->dataset, sizeof meta->dataset},
        {"preset", meta->preset, sizeof meta->preset},
        {"preprocessing_version", meta->preprocessing_version, sizeof meta->preprocessing_version},
        {"built_at", meta->built_at, sizeof meta->built_at},
        {"scaler_strategy", meta->scaler_strategy, sizeof meta->scaler_strategy},
    };
    const char *store = NULL;
    LEAT_TRY(check_format(root, what, err));
    LEAT_TRY(read_doubts(meta, root, what, err));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        LEAT_TRY(get_word(root, words[i].key, words[i].out, words[i].bytes, what, err));
    LEAT_TRY(leat_json_get_int(root, "window_size", 1, INT32_MAX, &meta->window, what, err));
    LEAT_TRY(leat_json_get_int(root, "stride", 1, INT32_MAX, &meta->stride, what, err));
    LEAT_TRY(leat_json_get_int(root, "seed", 0, INT64_MAX, &meta->seed, what, err));
    LEAT_TRY(leat_json_get_double(root, "val_fraction", &meta->val_fraction, what, err));
    LEAT_TRY(leat_json_get_string(root, "store", &store, what, err));
    meta->frames = strcmp(store, "frames") == 0;
    if (!meta->frames) LEAT_TRY(leat_json_expect_string(root, "store", "features", what, err));
    LEAT_TRY(read_settings(meta, root, what, err));
    LEAT_TRY(expect_int(root, "num_arb_ids", meta->ids.known + 1, what, err));
    leat_can_vocab_digest(&meta->ids, meta->vocab_digest);
    return leat_json_expect_string(root, "vocab_digest", meta->vocab_digest, what, err);
}

static leat_code read_sums(leat_can_meta *meta, const json_t *root, const char *what,
                           leat_error *err) {
    const json_t *aggregate = NULL;
    leat_can_sum sums[LEAT_CAN_SUMS];
    LEAT_TRY(leat_json_get_object(root, "aggregate", &aggregate, what, err));
    LEAT_TRY(leat_json_get_int(aggregate, "num_dropped_windows", 0, INT64_MAX,
                               &meta->windows_dropped, what, err));
    if (!leat_can_meta_sum(meta, sums)) return corrupt(err, what, "sums over splits reach 2^63");
    for (int i = 0; i < LEAT_CAN_SUMS; i++)
        LEAT_TRY(expect_int(aggregate, sums[i].key, sums[i].value, what, err));
    return LEAT_OK;
}

static leat_code parse_metadata(leat_can_meta *meta, leat_json_span text, bool intervals,
                                const char *what, leat_error *err) {
    static const char *const large[] = {"unknown_ids", "splits", "captures"};
    leat_json_span spans[3];
    json_t *root = NULL;
    LEAT_TRY(leat_json_split(text, (leat_json_large){large, 3, spans}, SMALL_BYTES_MAX, what, &root,
                             err));
    leat_code code = read_facts(meta, root, what, err);
    for (int i = 0; i < 3 && code == LEAT_OK; i++)
        code = expect_span(spans[i], large[i], what, err);
    if (code == LEAT_OK) code = parse_unknown(&meta->ids, spans[0], what, err);
    if (code == LEAT_OK) { /* before they are searched */
        code = leat_can_document_check(meta, LEAT_CAN_VOCAB, err);
        if (code != LEAT_OK) code = leat_error_context(err, LEAT_ERR_CORRUPT, "%s", what);
    }
    if (code == LEAT_OK) code = parse_splits(meta, spans[1], what, err);
    if (code == LEAT_OK) code = parse_captures(meta, spans[2], intervals, what, err);
    if (code == LEAT_OK) code = read_sums(meta, root, what, err);
    json_decref(root);
    return code;
}

leat_code leat_can_document_parse(leat_can_meta *meta, leat_can_document which, leat_json_span text,
                                  bool intervals, const char *what, leat_error *err) {
    if (which == LEAT_CAN_VOCAB) LEAT_TRY(parse_vocab(meta, text, what, err));
    else if (which == LEAT_CAN_SCALER) LEAT_TRY(parse_scaler(meta, text, what, err));
    else LEAT_TRY(parse_metadata(meta, text, intervals, what, err));
    leat_code code = leat_can_document_check(meta, which, err);
    return code == LEAT_OK ? LEAT_OK : leat_error_context(err, LEAT_ERR_CORRUPT, "%s", what);
}

/* ---- files ---------------------------------------------------------------------------------- */

static leat_code load_document(leat_can_meta *meta, leat_can_document which, const char *dir,
                               const char *sha256, bool intervals, leat_error *err) {
    char path[LEAT_PATH_BYTES], what[WHAT_BYTES];
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, leat_can_document_name(which), err));
    snprintf(what, sizeof what, "\"%.240s\"", path);
    LEAT_TRY(leat_document_load(&leat_can_documents, which, dir, sha256, &text, &size_bytes, err));
    leat_json_span span = {(const char *)text, size_bytes};
    leat_code code = leat_can_document_parse(meta, which, span, intervals, what, err);
    leat_free(text);
    return code;
}

static leat_code load(leat_can_meta *meta, const char *dir, bool intervals, const char **file,
                      leat_error *err) {
    char sha256[LEAT_CAN_DOCUMENTS][65];
    char strategy[LEAT_CAN_WORD_BYTES] = "";
    *meta = (leat_can_meta){0};
    *file = LEAT_CAN_COMPLETE_NAME;
    leat_code code = leat_complete_load(&leat_can_documents, dir, sha256, err);
    for (int i = 0; i < LEAT_CAN_DOCUMENTS && code == LEAT_OK; i++) {
        *file = leat_can_document_name((leat_can_document)i);
        code = load_document(meta, (leat_can_document)i, dir, sha256[i], intervals, err);
        if (i == LEAT_CAN_SCALER) memcpy(strategy, meta->scaler_strategy, sizeof strategy);
    }
    if (code == LEAT_OK && strcmp(strategy, meta->scaler_strategy) != 0) {
        code = leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%.200s\": the scaler is %s, but %s by the metadata; " LEAT_CAN_REBUILD,
                         dir, strategy, meta->scaler_strategy);
    }
    if (code != LEAT_OK) leat_can_meta_free(meta);
    return code;
}

leat_code leat_can_meta_load(leat_can_meta *meta, const char *dir, bool intervals,
                             leat_error *err) {
    const char *file = NULL;
    return load(meta, dir, intervals, &file, err);
}

leat_code leat_can_meta_load_all(leat_can_meta *meta, const char *dir, const char **file,
                                 leat_error *err) {
    return load(meta, dir, true, file, err);
}
