/*
 * The rules for a cache's metadata, in one place: the writer and the reader refuse whatever breaks
 * them.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "format/can_cache/can_cache.h"

/* The largest file that UINT32_MAX graphs of the largest window make is below; no sum of splits'
 * files, or of these and their page hashes, passes 2^63. */
#define FILE_BYTES_MAX (INT64_C(1) << 52)
/* Frames, windows and lines of all captures. */
#define COUNT_MAX (INT64_C(1) << 50)

/* ---- words ---------------------------------------------------------------------------------- */

static leat_code bad(leat_error *err, const char *what, const char *problem) {
    return leat_fail(err, LEAT_ERR_INPUT, "%s: %s", what, problem);
}

/* Text that the writer writes as it is. */
static leat_code check_text(const char *what, const char *text, leat_error *err) {
    if (text == NULL || !leat_json_is_utf8(text, (int64_t)strlen(text)))
        return bad(err, what, "is not UTF-8");
    return LEAT_OK;
}

/* ---- vocabulary ----------------------------------------------------------------------------- */

static bool id_is_good(const char *text) {
    size_t size = strnlen(text, LEAT_CAN_ID_TEXT_BYTES);
    if (size == 0 || size == LEAT_CAN_ID_TEXT_BYTES) return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] <= ' ' || text[i] > '~') return false;
    }
    return true;
}

static leat_code check_ids(const leat_can_ids *ids, leat_error *err) {
    if (ids->known < 0 || ids->known > ids->count || ids->count > UINT32_MAX)
        return bad(err, "identifiers", "too many");
    for (int64_t i = 0; i < ids->count; i++) {
        if (!id_is_good(ids->text[i])) {
            return leat_fail(err, LEAT_ERR_INPUT,
                             "identifier %lld is not 1 to %d printable characters", (long long)i,
                             LEAT_CAN_ID_TEXT_BYTES - 1);
        }
        bool first = i == 0 || i == ids->known;
        if (first || strcmp(ids->text[i - 1], ids->text[i]) < 0) continue;
        return leat_fail(err, LEAT_ERR_INPUT, "identifier \"%s\" does not come after \"%s\"",
                         ids->text[i], ids->text[i - 1]);
    }
    /* both parts ascend: what is in both is met where they are walked together */
    for (int64_t i = 0, k = ids->known; i < ids->known && k < ids->count;) {
        int order = strcmp(ids->text[i], ids->text[k]);
        if (order == 0) {
            return leat_fail(err, LEAT_ERR_INPUT, "identifier \"%s\" is both known and unknown",
                             ids->text[i]);
        }
        if (order < 0) i++;
        else k++;
    }
    return LEAT_OK;
}

/* ---- scaler --------------------------------------------------------------------------------- */

static leat_code check_columns(const char *what, const double *center, const double *scale,
                               int count, leat_error *err) {
    for (int i = 0; i < count; i++) {
        /* features are scaled in single precision */
        float by = (float)scale[i];
        if (isfinite((float)center[i]) && isfinite(by) && by > 0) continue;
        return leat_fail(err, LEAT_ERR_INPUT,
                         "%s, column %d: center %g, scale %g; as floats they must be finite, the "
                         "scale above 0",
                         what, i, center[i], scale[i]);
    }
    return LEAT_OK;
}

static leat_code check_scaler(const leat_can_meta *meta, leat_error *err) {
    const leat_can_scaler_values *scaler = &meta->scaler;
    LEAT_TRY(check_text("scaler", meta->scaler_strategy, err));
    LEAT_TRY(check_columns("scaler of nodes", scaler->x_center, scaler->x_scale, LEAT_CAN_X_COLUMNS,
                           err));
    return check_columns("scaler of edges", scaler->edge_center, scaler->edge_scale,
                         LEAT_CAN_EDGE_COLUMNS, err);
}

/* ---- splits --------------------------------------------------------------------------------- */

static bool sizes_are_good(const leat_can_sizes *sizes, int64_t graphs, int64_t rows,
                           int64_t window) {
    const double reals[] = {sizes->mean, sizes->p95, sizes->p99};
    for (int i = 0; i < 3; i++) {
        if (!(reals[i] >= 0 && reals[i] <= (double)window)) return false;
        if (graphs == 0 && reals[i] != 0) return false;
    }
    if (graphs == 0) return sizes->min == 0 && sizes->max == 0 && rows == 0;
    return sizes->min >= 0 && sizes->min <= sizes->max && sizes->max <= window &&
           rows >= sizes->min * graphs && rows <= sizes->max * graphs;
}

static const char *balance_problem(const leat_can_meta_split *split) {
    int64_t windows = 0;
    if (split->balance_count < 0 || split->balance_count > LEAT_CAN_ATTACKS_MAX)
        return "too many attack types";
    for (int i = 0; i < split->balance_count; i++) {
        const leat_can_balance *balance = &split->balance[i];
        if (check_text("", balance->attack, NULL) != LEAT_OK) return "an attack is not UTF-8";
        if (balance->windows < 0 || balance->windows > split->graphs - windows)
            return "more windows in attack_balance than graphs";
        windows += balance->windows;
        for (int k = 0; k < i; k++) {
            if (strcmp(split->balance[k].attack, balance->attack) == 0)
                return "an attack is listed twice";
        }
    }
    return windows == split->graphs ? NULL : "fewer windows in attack_balance than graphs";
}

/* What the text of a split takes beside the names of its folders is far below. */
#define DIRS_BYTES_MAX (LEAT_CAN_SPLIT_TEXT_BYTES_MAX - (INT64_C(1) << 16))

static const char *dirs_problem(const leat_path_list *dirs) {
    int64_t left = DIRS_BYTES_MAX;
    for (int64_t i = 0; i < dirs->count; i++) {
        const char *name = dirs->paths[i];
        if (check_text("", name, NULL) != LEAT_OK) return "a folder is not UTF-8";
        left -= 16; /* quotes, comma, line and blanks */
        for (; *name != 0 && left >= 0; name++) {
            bool plain = (unsigned char)*name >= ' ' && *name != '"' && *name != '\\';
            left -= plain ? 1 : 6;
        }
        if (left < 0) return "its folders' names take more than 4 MiB; give it fewer folders";
    }
    return NULL;
}

static const char *split_problem(const leat_can_meta *meta, const leat_can_meta_split *split) {
    bool val = strcmp(split->name, LEAT_CAN_SPLIT_VAL) == 0;
    if (split->graphs < 0 || split->graphs > UINT32_MAX) return "graphs out of range";
    if (!sizes_are_good(&split->node_count, split->graphs, split->nodes, meta->window))
        return "numbers of nodes contradict each other";
    if (!sizes_are_good(&split->edge_count, split->graphs, split->edges, meta->window))
        return "numbers of edges contradict each other";
    if (split->raw_samples < 0 || split->raw_samples > (val ? 0 : COUNT_MAX))
        return "samples out of range";
    if (split->file_bytes < 1) return "an empty file";
    if (split->file_bytes > FILE_BYTES_MAX) return "a file above 2^52 bytes";
    if (val && split->source_dirs.count > 0) return "folders of its own";
    const char *problem = dirs_problem(&split->source_dirs);
    return problem != NULL ? problem : balance_problem(split);
}

/* Train, val, then tests by name. */
static bool follows(const char *before, const char *name) {
    bool train = strcmp(before, LEAT_CAN_SPLIT_TRAIN) == 0;
    bool val = strcmp(name, LEAT_CAN_SPLIT_VAL) == 0;
    if (strcmp(name, LEAT_CAN_SPLIT_TRAIN) == 0) return false;
    if (val) return train;
    return train || strcmp(before, LEAT_CAN_SPLIT_VAL) == 0 || strcmp(before, name) < 0;
}

static leat_code check_splits(const leat_can_meta *meta, leat_error *err) {
    if (meta->split_count < 1 || meta->split_count > LEAT_CAN_CACHE_SPLITS_MAX)
        return bad(err, "splits", "none, or too many");
    for (int i = 0; i < meta->split_count; i++) {
        const leat_can_meta_split *split = &meta->splits[i];
        bool in_order = i == 0 ? strcmp(split->name, LEAT_CAN_SPLIT_TRAIN) == 0
                               : follows(meta->splits[i - 1].name, split->name);
        const char *problem = split_problem(meta, split);
        if (!leat_can_split_is_name(split->name)) problem = "not the name of a split";
        else if (!in_order) problem = "out of order: train, val, tests by name";
        if (problem != NULL)
            return leat_fail(err, LEAT_ERR_INPUT, "split \"%.64s\": %s", split->name, problem);
    }
    leat_can_sum sums[LEAT_CAN_SUMS];
    return leat_can_meta_sum(meta, sums) ? LEAT_OK : bad(err, "splits", "sums reach 2^63");
}

/* ---- captures ------------------------------------------------------------------------------- */

static const char *intervals_problem(const leat_can_meta *meta,
                                     const leat_can_meta_capture *capture) {
    int64_t frames = 0;
    for (int64_t i = 0; i < capture->interval_count; i++) {
        const leat_can_interval *it = &capture->intervals[i];
        if (it->id >= (uint64_t)meta->ids.count) return "an identifier is out of range";
        if (i > 0 && it->id <= capture->intervals[i - 1].id) return "identifiers out of order";
        if (it->frames < 1 || it->frames > capture->frames - frames)
            return "more frames of identifiers than frames";
        frames += it->frames;
        if (!(it->mean_s >= 0) || !isfinite(it->mean_s) || (it->frames == 1 && it->mean_s != 0))
            return "an interval out of range";
    }
    return NULL;
}

static const char *capture_problem(const leat_can_meta *meta,
                                   const leat_can_meta_capture *capture) {
    const int64_t left[] = {capture->tail, capture->between, capture->dropped};
    int64_t frames = capture->frames;
    if (check_text("", capture->file, NULL) != LEAT_OK ||
        check_text("", capture->folder, NULL) != LEAT_OK)
        return "its file's name is not UTF-8";
    if (strcmp(capture->split, LEAT_CAN_SPLIT_VAL) == 0 ||
        leat_can_meta_find_split(meta, capture->split) == NULL)
        return "of an impossible split";
    if (capture->bus < -1 || capture->bus > UINT16_MAX) return "bus out of range";
    if (capture->recording < 0) return "recording out of range";
    if (capture->vehicle < 0 || capture->vehicle > 999999) return "vehicle out of range";
    if (capture->frames < 0 || capture->windows < 0 || capture->rejected < 0)
        return "a count below 0";
    if (capture->windows > capture->frames) return "more windows than frames";
    for (int i = 0; i < 3; i++) {
        if (left[i] < 0 || left[i] > frames) return "more frames without a window than frames";
        frames -= left[i];
    }
    if (!isfinite(capture->first_s) || !isfinite(capture->last_s) ||
        capture->first_s > capture->last_s)
        return "its last time is before its first";
    return intervals_problem(meta, capture);
}

static leat_code check_captures(const leat_can_meta *meta, leat_error *err) {
    if (meta->capture_count < 0 || meta->capture_count > INT32_MAX)
        return bad(err, "captures", "too many");
    int64_t frames = 0, rejected = 0;
    for (int64_t i = 0; i < meta->capture_count; i++) {
        const leat_can_meta_capture *capture = &meta->captures[i];
        const char *problem = capture_problem(meta, capture);
        if (problem == NULL &&
            (capture->frames > COUNT_MAX - frames || capture->rejected > COUNT_MAX - rejected))
            problem = "frames or lines of all captures exceed 2^50";
        if (problem != NULL)
            return leat_fail(err, LEAT_ERR_INPUT, "capture %lld: %s", (long long)i, problem);
        frames += capture->frames;
        rejected += capture->rejected;
    }
    return LEAT_OK;
}

/* ---- metadata ------------------------------------------------------------------------------- */

static leat_code check_numbers(const leat_can_meta *meta, leat_error *err) {
    if (meta->window < 3 || meta->window > LEAT_CAN_CACHE_WINDOW_MAX)
        return bad(err, "window", "out of range");
    if (meta->stride < 1 || meta->stride > INT32_MAX) return bad(err, "stride", "out of range");
    if (meta->seed < 0) return bad(err, "seed", "below 0");
    if (!(meta->val_fraction >= 0 && meta->val_fraction < 1))
        return bad(err, "val_fraction", "out of range");
    if (meta->windows_dropped < 0 || meta->windows_dropped > COUNT_MAX)
        return bad(err, "dropped windows", "out of range");
    if (meta->frames_cut < 0) return bad(err, "frames cut", "below 0");
    return LEAT_OK;
}

static leat_code check_metadata(const leat_can_meta *meta, leat_error *err) {
    uint8_t digest[32];
    const struct {
        const char *what, *text;
    } texts[] = {{"dataset", meta->dataset},
                 {"preset", meta->preset},
                 {"preprocessing_version", meta->preprocessing_version},
                 {"built_at", meta->built_at},
                 {"warning", meta->warning}};
    if (!leat_sha256_parse(meta->digest, digest))
        return bad(err, "digest", "is not 64 lower-case hexadecimal digits");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        LEAT_TRY(check_text(texts[i].what, texts[i].text, err));
    for (int i = 0; i < meta->setting_count; i++) {
        LEAT_TRY(check_text("setting", meta->settings[i].name, err));
        LEAT_TRY(check_text(meta->settings[i].name, meta->settings[i].value, err));
    }
    LEAT_TRY(check_numbers(meta, err));
    LEAT_TRY(check_ids(&meta->ids, err));
    LEAT_TRY(check_splits(meta, err));
    return check_captures(meta, err);
}

leat_code leat_can_document_check(const leat_can_meta *meta, leat_can_document which,
                                  leat_error *err) {
    if (which == LEAT_CAN_VOCAB) return check_ids(&meta->ids, err);
    if (which == LEAT_CAN_SCALER) return check_scaler(meta, err);
    return check_metadata(meta, err);
}
