/*
 * Names and tensors of a cache of CAN graphs, in one table that writing and checking share; and its
 * metadata as a value. Its JSON is in write.c and read.c.
 */
#include "format/can_cache/can_cache.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "leat/format.h"

bool leat_can_split_is_name(const char *name) {
    if (strcmp(name, LEAT_CAN_SPLIT_TRAIN) == 0 || strcmp(name, LEAT_CAN_SPLIT_VAL) == 0)
        return true;
    size_t prefix = strlen(LEAT_CAN_SPLIT_TEST), size = strnlen(name, LEAT_CAN_NAME_BYTES);
    if (strncmp(name, LEAT_CAN_SPLIT_TEST, prefix) != 0 || size == prefix) return false;
    if (size == LEAT_CAN_NAME_BYTES) return false;
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") ==
           size;
}

/* ---- tensors -------------------------------------------------------------------------------- */

typedef enum rows { OF_GRAPHS, OF_GRAPHS_AND_ONE, OF_NODES, OF_EDGES, OF_FRAMES } rows;
typedef enum stores { FEATURES = 1, FRAMES = 2, BOTH = 3 } stores;

/* edge_index alone has its rows as columns. */
static const struct {
    const char *name;
    leat_dtype dtype;
    rows rows;
    int64_t columns; /* 0: one value a row */
    stores stores;
} forms[LEAT_CAN_TENSORS] = {
    [LEAT_CAN_NODE_PTR] = {"node_ptr", LEAT_DTYPE_I64, OF_GRAPHS_AND_ONE, 0, BOTH},
    [LEAT_CAN_EDGE_PTR] = {"edge_ptr", LEAT_DTYPE_I64, OF_GRAPHS_AND_ONE, 0, BOTH},
    [LEAT_CAN_WINDOW_START] = {"window_start", LEAT_DTYPE_I64, OF_GRAPHS, 0, BOTH},
    [LEAT_CAN_FRAME_TIME] = {"frame_time", LEAT_DTYPE_F64, OF_FRAMES, 0, FRAMES},
    [LEAT_CAN_X] = {"x", LEAT_DTYPE_F32, OF_NODES, LEAT_CAN_X_COLUMNS, FEATURES},
    [LEAT_CAN_EDGE_ATTR] = {"edge_attr", LEAT_DTYPE_F32, OF_EDGES, LEAT_CAN_EDGE_COLUMNS, FEATURES},
    [LEAT_CAN_EDGE_INDEX] = {"edge_index", LEAT_DTYPE_I32, OF_EDGES, 2, FEATURES},
    [LEAT_CAN_NODE_ID] = {"node_id", LEAT_DTYPE_I32, OF_NODES, 0, FEATURES},
    [LEAT_CAN_FRAME_ID] = {"frame_id", LEAT_DTYPE_U32, OF_FRAMES, 0, FRAMES},
    [LEAT_CAN_Y] = {"y", LEAT_DTYPE_I32, OF_GRAPHS, 0, BOTH},
    [LEAT_CAN_ATTACK_TYPE] = {"attack_type", LEAT_DTYPE_I32, OF_GRAPHS, 0, BOTH},
    [LEAT_CAN_ATTACK_FIRST] = {"attack_first", LEAT_DTYPE_I32, OF_GRAPHS, 0, BOTH},
    [LEAT_CAN_ATTACK_COUNT] = {"attack_count", LEAT_DTYPE_I32, OF_GRAPHS, 0, BOTH},
    [LEAT_CAN_CAPTURE] = {"capture", LEAT_DTYPE_I32, OF_GRAPHS, 0, BOTH},
    [LEAT_CAN_FRAME_BYTES] = {"frame_bytes", LEAT_DTYPE_I16, OF_FRAMES, LEAT_CAN_BYTE_COLUMNS,
                              FRAMES},
};

const char *leat_can_tensor_name(leat_can_tensor tensor) { return forms[tensor].name; }

static bool is_stored(const leat_can_shape *shape, int which) {
    return (forms[which].stores & (shape->frames ? FRAMES : FEATURES)) != 0;
}

static leat_tensor tensor_of(const leat_can_shape *shape, int which) {
    const int64_t counts[] = {[OF_GRAPHS] = shape->graphs,
                              [OF_GRAPHS_AND_ONE] = shape->graphs + 1,
                              [OF_NODES] = shape->nodes,
                              [OF_EDGES] = shape->edges,
                              [OF_FRAMES] = shape->graphs * shape->window};
    leat_tensor tensor = {.dtype = forms[which].dtype,
                          .rank = forms[which].columns > 0 ? 2 : 1,
                          .shape = {counts[forms[which].rows], forms[which].columns}};
    if (which == LEAT_CAN_EDGE_INDEX) {
        tensor.shape[0] = forms[which].columns;
        tensor.shape[1] = counts[forms[which].rows];
    }
    memcpy(tensor.name, forms[which].name, strlen(forms[which].name));
    return tensor;
}

int64_t leat_can_tensors(const leat_can_shape *shape, leat_tensor tensors[LEAT_CAN_TENSORS]) {
    int64_t count = 0;
    for (int i = 0; i < LEAT_CAN_TENSORS; i++) {
        if (is_stored(shape, i)) tensors[count++] = tensor_of(shape, i);
    }
    return count;
}

static leat_code check_tensor(const leat_safetensors *tensors, const leat_can_shape *shape,
                              int which, int64_t *offset, leat_error *err) {
    const leat_tensor wanted = tensor_of(shape, which), *found = NULL;
    leat_code code = leat_safetensors_find(tensors, wanted.name, wanted.dtype, wanted.rank,
                                           wanted.shape, &found, err);
    if (code != LEAT_OK) return leat_error_context(err, LEAT_ERR_CORRUPT, "CAN cache");
    if (found->offset % leat_dtype_bytes(found->dtype) != 0) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "CAN cache: tensor \"%s\" begins at byte %lld, not aligned to its type",
                         wanted.name, (long long)found->offset);
    }
    *offset = found->offset;
    return LEAT_OK;
}

leat_code leat_can_tensors_check(const leat_safetensors *tensors, const leat_can_shape *shape,
                                 int64_t offsets[LEAT_CAN_TENSORS], leat_error *err) {
    int64_t count = 0, frames = 0;
    for (int i = 0; i < LEAT_CAN_TENSORS; i++) offsets[i] = -1;
    if (shape->graphs < 0 || shape->graphs == INT64_MAX || shape->nodes < 0 || shape->edges < 0 ||
        !leat_mul_size(shape->graphs, shape->window, &frames)) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "CAN cache: %lld graphs are not possible",
                         (long long)shape->graphs);
    }
    for (int i = 0; i < LEAT_CAN_TENSORS; i++) {
        if (!is_stored(shape, i)) continue;
        leat_code code = check_tensor(tensors, shape, i, &offsets[i], err);
        if (code != LEAT_OK) {
            for (int k = 0; k < i; k++) offsets[k] = -1;
            return code;
        }
        count++;
    }
    if (leat_safetensors_count(tensors) == count) return LEAT_OK;
    for (int i = 0; i < LEAT_CAN_TENSORS; i++) offsets[i] = -1;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "CAN cache: a split has %lld tensors; it must have %lld",
                     (long long)leat_safetensors_count(tensors), (long long)count);
}

/* ---- identifiers ---------------------------------------------------------------------------- */

void leat_can_vocab_digest(const leat_can_ids *ids, char digest[65]) {
    leat_sha256 sha;
    uint8_t bytes[32];
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, "[", 1);
    for (int64_t i = 0; i < ids->known; i++) {
        char item[2 * LEAT_CAN_ID_TEXT_BYTES + 48];
        int size = snprintf(item, sizeof item, "%s[\"", i > 0 ? ", " : "");
        for (const char *at = ids->text[i]; *at != 0; at++) {
            if (*at == '"' || *at == '\\') item[size++] = '\\';
            item[size++] = *at;
        }
        size += snprintf(item + size, sizeof item - (size_t)size, "\", %lld]", (long long)i + 1);
        leat_sha256_update(&sha, item, size);
    }
    leat_sha256_update(&sha, "]", 1);
    leat_sha256_final(&sha, bytes);
    leat_sha256_hex(bytes, digest);
}

/* ---- attacks, sizes ------------------------------------------------------------------------- */

static const char *const attack_names[] = {
    "benign",        "dos",        "fuzzing",    "gear",     "rpm",        "flooding",
    "malfunction",   "double",     "triple",     "interval", "speed",      "speed-accessory",
    "rpm-accessory", "standstill", "systematic", "suppress", "masquerade", "replay",
    "spoof",
};

const char *leat_can_attack_name(int code) {
    int count = (int)(sizeof attack_names / sizeof *attack_names);
    if (code == -1) return "unlabelled";
    return code >= 0 && code < count ? attack_names[code] : "";
}

const char *leat_can_attack_name_of(int y, int code) {
    return y > 0 && code == 0 ? "attack of unknown type" : leat_can_attack_name(code);
}

/* Between two neighbours. */
static double percentile(leat_can_size_fn size, const void *context, int64_t count, double share) {
    double place = (double)(count - 1) * share, below = floor(place), rest = place - below;
    double a = (double)size(context, (int64_t)below),
           b = (double)size(context, (int64_t)ceil(place));
    return (double)(float)(a + (b - a) * rest);
}

leat_can_sizes leat_can_sizes_of(leat_can_size_fn size, const void *context, int64_t count,
                                 int64_t sum) {
    if (count == 0) return (leat_can_sizes){0};
    return (leat_can_sizes){
        .min = size(context, 0),
        .max = size(context, count - 1),
        .mean = (double)(float)((double)sum / (double)count),
        .p95 = percentile(size, context, count, 0.95),
        .p99 = percentile(size, context, count, 0.99),
    };
}

/* ---- digest --------------------------------------------------------------------------------- */

void leat_can_digest_begin(leat_sha256 *sha, const char *settings) {
    leat_sha256_init(sha);
    leat_sha256_update(sha, settings, (int64_t)strlen(settings) + 1);
}

void leat_can_digest_file(leat_sha256 *sha, const char *split, const char *folder, const char *name,
                          const char *content) {
    const char *const lines[] = {split, folder, name, content};
    for (int i = 0; i < 4; i++) {
        leat_sha256_update(sha, lines[i], (int64_t)strlen(lines[i]));
        leat_sha256_update(sha, "\n", 1);
    }
}

void leat_can_digest_end(leat_sha256 *sha, char digest[65]) {
    uint8_t bytes[32];
    leat_sha256_final(sha, bytes);
    leat_sha256_hex(bytes, digest);
}

/* ---- metadata ------------------------------------------------------------------------------- */

int32_t leat_can_vehicle(const char *file) {
    size_t end = strcspn(file, "."), begin = end;
    int32_t number = 0;
    while (begin > 0 && isdigit((unsigned char)file[begin - 1])) begin--;
    if (begin == 0 || begin == end || file[begin - 1] != '-' || end - begin > 6) return 0;
    for (size_t i = begin; i < end; i++) number = number * 10 + (file[i] - '0');
    return number;
}

void leat_can_meta_free(leat_can_meta *meta) {
    for (int i = 0; i < meta->split_count; i++) leat_path_list_free(&meta->splits[i].source_dirs);
    for (int64_t i = 0; i < meta->capture_count; i++) {
        leat_free(meta->captures[i].file);
        leat_free(meta->captures[i].folder);
        leat_free(meta->captures[i].intervals);
    }
    leat_free(meta->splits);
    leat_free(meta->captures);
    leat_free(meta->ids.text);
    *meta = (leat_can_meta){0};
}

static leat_can_meta_setting *find_setting(const leat_can_meta *meta, const char *name) {
    for (int i = 0; i < meta->setting_count; i++) {
        if (strcmp(meta->settings[i].name, name) == 0)
            return (leat_can_meta_setting *)&meta->settings[i];
    }
    return NULL;
}

const char *leat_can_meta_get(const leat_can_meta *meta, const char *name) {
    const leat_can_meta_setting *setting = find_setting(meta, name);
    return setting != NULL ? setting->value : NULL;
}

leat_code leat_can_meta_set(leat_can_meta *meta, const char *name, const char *value,
                            leat_error *err) {
    leat_can_meta_setting *setting = find_setting(meta, name);
    size_t name_bytes = strlen(name), value_bytes = strlen(value);
    if (name_bytes >= LEAT_CAN_WORD_BYTES || value_bytes >= LEAT_CAN_SETTING_BYTES) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "CAN cache: setting %.64s = \"%.64s\": more than %d characters", name,
                         value,
                         name_bytes >= LEAT_CAN_WORD_BYTES ? LEAT_CAN_WORD_BYTES - 1
                                                           : LEAT_CAN_SETTING_BYTES - 1);
    }
    if (setting == NULL && meta->setting_count == LEAT_CAN_SETTINGS_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "CAN cache: setting %s: more than %d settings", name,
                         LEAT_CAN_SETTINGS_MAX);
    }
    if (setting == NULL) setting = &meta->settings[meta->setting_count++];
    *setting = (leat_can_meta_setting){0};
    memcpy(setting->name, name, name_bytes);
    memcpy(setting->value, value, value_bytes);
    return LEAT_OK;
}

const leat_can_meta_split *leat_can_meta_find_split(const leat_can_meta *meta, const char *name) {
    for (int i = 0; i < meta->split_count; i++) {
        if (strcmp(meta->splits[i].name, name) == 0) return &meta->splits[i];
    }
    return NULL;
}

bool leat_can_meta_sum(const leat_can_meta *meta, leat_can_sum sums[LEAT_CAN_SUMS]) {
    int64_t bytes = 0, samples = 0, graphs = 0, train = 0, val = 0, test = 0;
    bool fits = true;
    for (int i = 0; i < meta->split_count; i++) {
        const leat_can_meta_split *split = &meta->splits[i];
        bool is_train = strcmp(split->name, LEAT_CAN_SPLIT_TRAIN) == 0;
        bool is_val = strcmp(split->name, LEAT_CAN_SPLIT_VAL) == 0;
        int64_t *part = is_train ? &train : is_val ? &val : &test;
        fits = leat_add_size(bytes, split->file_bytes, &bytes) && fits;
        fits = leat_add_size(samples, split->raw_samples, &samples) && fits;
        fits = leat_add_size(graphs, split->graphs, &graphs) && fits;
        *part += split->graphs; /* no more than in all */
    }
    const leat_can_sum all[LEAT_CAN_SUMS] = {
        {"bytes_on_disk", bytes},  {"num_dropped_windows", meta->windows_dropped},
        {"num_graphs", graphs},    {"num_raw_samples", samples},
        {"num_test_graphs", test}, {"num_train_graphs", train},
        {"num_val_graphs", val},
    };
    memcpy(sums, all, sizeof all);
    return fits;
}
