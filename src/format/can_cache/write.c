/*
 * The JSON of a cache, as graphids writes its own: members by name, two blanks a level,
 * no newline at the end. It goes out in pieces, however many captures and identifiers there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/can_cache/can_cache.h"

/* Of the fields that graphids has too. */
#define SCHEMA_VERSION 3

const leat_documents leat_can_documents = {
    .thing = "CAN cache",
    .rebuild = LEAT_CAN_REBUILD,
    .too_large = "too many captures or identifiers for one cache",
    .count = LEAT_CAN_DOCUMENTS,
    .names = {[LEAT_CAN_VOCAB] = "vocab.json",
              [LEAT_CAN_SCALER] = "scaler.json",
              [LEAT_CAN_METADATA] = LEAT_CAN_METADATA_NAME},
};

const char *leat_can_document_name(leat_can_document which) {
    return leat_can_documents.names[which];
}

/* ---- vocabulary, scaler --------------------------------------------------------------------- */

static void put_vocab(leat_json *json, const void *of) {
    const leat_can_meta *meta = of;
    leat_json_begin_object(json);
    leat_json_member_string(json, "digest", meta->vocab_digest);
    leat_json_key(json, "entries");
    leat_json_begin_object(json);
    for (int64_t i = 0; i < meta->ids.known; i++)
        leat_json_member_int(json, meta->ids.text[i], i + 1);
    leat_json_end_object(json);
    leat_json_member_int(json, "unk_index", 0);
    leat_json_end_object(json);
}

static void put_scaler(leat_json *json, const void *of) {
    const leat_can_meta *meta = of;
    const leat_can_scaler_values *scaler = &meta->scaler;
    leat_json_begin_object(json);
    leat_json_member_doubles(json, "edge_center", scaler->edge_center, LEAT_CAN_EDGE_COLUMNS);
    leat_json_member_doubles(json, "edge_scale", scaler->edge_scale, LEAT_CAN_EDGE_COLUMNS);
    leat_json_member_string(json, "strategy", meta->scaler_strategy);
    leat_json_member_doubles(json, "x_center", scaler->x_center, LEAT_CAN_X_COLUMNS);
    leat_json_member_doubles(json, "x_scale", scaler->x_scale, LEAT_CAN_X_COLUMNS);
    leat_json_end_object(json);
}

/* ---- splits --------------------------------------------------------------------------------- */

static void put_sizes(leat_json *json, const char *key, const leat_can_sizes *sizes) {
    leat_json_key(json, key);
    leat_json_begin_object(json);
    leat_json_member_int(json, "max", sizes->max);
    leat_json_member_double(json, "mean", sizes->mean);
    leat_json_member_int(json, "min", sizes->min);
    leat_json_member_double(json, "p95", sizes->p95);
    leat_json_member_double(json, "p99", sizes->p99);
    leat_json_end_object(json);
}

static int compare_balance(const void *a, const void *b) {
    return strcmp(((const leat_can_balance *)a)->attack, ((const leat_can_balance *)b)->attack);
}

static void put_balance(leat_json *json, const leat_can_meta_split *split) {
    leat_can_balance sorted[LEAT_CAN_ATTACKS_MAX];
    memcpy(sorted, split->balance, sizeof sorted);
    qsort(sorted, (size_t)split->balance_count, sizeof *sorted, compare_balance);
    leat_json_key(json, "attack_balance");
    leat_json_begin_object(json);
    for (int i = 0; i < split->balance_count; i++)
        leat_json_member_int(json, sorted[i].attack, sorted[i].windows);
    leat_json_end_object(json);
}

static void put_split(leat_json *json, const leat_can_meta *meta,
                      const leat_can_meta_split *split) {
    bool val = strcmp(split->name, LEAT_CAN_SPLIT_VAL) == 0;
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)split->pages_hash);
    leat_json_key(json, split->name);
    leat_json_begin_object(json);
    put_balance(json, split);
    leat_json_member_int(json, "bytes_on_disk", split->file_bytes);
    if (val) leat_json_member_string(json, "derived_from", LEAT_CAN_SPLIT_TRAIN);
    leat_json_key(json, "graph_stats");
    leat_json_begin_object(json);
    put_sizes(json, "edge_count", &split->edge_count);
    put_sizes(json, "node_count", &split->node_count);
    leat_json_end_object(json);
    leat_json_member_int(json, "num_edges", split->edges);
    leat_json_member_int(json, "num_graphs", split->graphs);
    leat_json_member_int(json, "num_nodes", split->nodes);
    if (!val) leat_json_member_int(json, "num_raw_samples", split->raw_samples);
    leat_json_member_string(json, "pages_xxh3", hash);
    leat_json_key(json, val ? "val_fraction_seed" : "source_dirs");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < split->source_dirs.count; i++)
        leat_json_string(json, split->source_dirs.paths[i]);
    if (val) leat_json_double(json, meta->val_fraction);
    if (val) leat_json_int(json, meta->seed);
    leat_json_end_array(json);
    leat_json_end_object(json);
}

/* By name: the tests, then train and val, which are first in the list. */
static void put_splits(leat_json *json, const leat_can_meta *meta) {
    int first_test = 0;
    size_t prefix = strlen(LEAT_CAN_SPLIT_TEST);
    while (first_test < meta->split_count &&
           strncmp(meta->splits[first_test].name, LEAT_CAN_SPLIT_TEST, prefix) != 0)
        first_test++;
    leat_json_key(json, "splits");
    leat_json_begin_object(json);
    for (int i = first_test; i < meta->split_count; i++) put_split(json, meta, &meta->splits[i]);
    for (int i = 0; i < first_test; i++) put_split(json, meta, &meta->splits[i]);
    leat_json_end_object(json);
}

static void put_aggregate(leat_json *json, const leat_can_meta *meta) {
    leat_can_sum sums[LEAT_CAN_SUMS];
    (void)leat_can_meta_sum(meta, sums); /* checked before */
    leat_json_key(json, "aggregate");
    leat_json_begin_object(json);
    for (int i = 0; i < LEAT_CAN_SUMS; i++) leat_json_member_int(json, sums[i].key, sums[i].value);
    leat_json_end_object(json);
}

/* ---- captures ------------------------------------------------------------------------------- */

static void put_word(leat_json *json, const char *key, const char *text) {
    leat_json_key(json, key);
    if (text[0] != 0) leat_json_string(json, text);
    else leat_json_null(json);
}

static void put_number(leat_json *json, const char *key, int64_t value, bool known) {
    leat_json_key(json, key);
    if (known) leat_json_int(json, value);
    else leat_json_null(json);
}

static void put_intervals(leat_json *json, const leat_can_meta *meta,
                          const leat_can_meta_capture *capture, bool frames) {
    leat_json_key(json, frames ? "id_frames" : "mean_interval");
    leat_json_begin_object(json);
    for (int64_t i = 0; i < capture->interval_count; i++) {
        const leat_can_interval *it = &capture->intervals[i];
        const char *id = meta->ids.text[it->id];
        if (frames) leat_json_member_int(json, id, it->frames);
        else if (it->frames > 1) leat_json_member_double(json, id, it->mean_s);
    }
    leat_json_end_object(json);
}

static void put_capture(leat_json *json, const leat_can_meta *meta,
                        const leat_can_meta_capture *capture) {
    leat_json_begin_object(json);
    leat_json_member_int(json, "between", capture->between);
    put_number(json, "bus", capture->bus, capture->bus >= 0);
    leat_json_member_int(json, "dropped", capture->dropped);
    put_word(json, "file", capture->file);
    leat_json_member_double(json, "first_s", capture->first_s);
    put_word(json, "folder", capture->folder);
    leat_json_member_int(json, "frames", capture->frames);
    put_intervals(json, meta, capture, true);
    leat_json_member_double(json, "last_s", capture->last_s);
    put_intervals(json, meta, capture, false);
    put_number(json, "recording", capture->recording, capture->recording > 0);
    leat_json_member_int(json, "rejected", capture->rejected);
    leat_json_member_string(json, "split", capture->split);
    leat_json_member_int(json, "tail", capture->tail);
    put_number(json, "vehicle", capture->vehicle, capture->vehicle > 0);
    leat_json_member_int(json, "windows", capture->windows);
    leat_json_end_object(json);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int compare_settings(const void *a, const void *b) {
    return strcmp(((const leat_can_meta_setting *)a)->name,
                  ((const leat_can_meta_setting *)b)->name);
}

static void put_settings(leat_json *json, const leat_can_meta *meta) {
    leat_can_meta_setting sorted[LEAT_CAN_SETTINGS_MAX];
    memcpy(sorted, meta->settings, sizeof sorted);
    qsort(sorted, (size_t)meta->setting_count, sizeof *sorted, compare_settings);
    leat_json_key(json, "settings");
    leat_json_begin_object(json);
    for (int i = 0; i < meta->setting_count; i++)
        leat_json_member_string(json, sorted[i].name, sorted[i].value);
    leat_json_end_object(json);
}

static void put_metadata(leat_json *json, const void *of) {
    const leat_can_meta *meta = of;
    leat_json_begin_object(json);
    put_aggregate(json, meta);
    leat_json_member_string(json, "built_at", meta->built_at);
    leat_json_key(json, "captures");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < meta->capture_count; i++) put_capture(json, meta, &meta->captures[i]);
    leat_json_end_array(json);
    leat_json_member_string(json, "dataset", meta->dataset);
    leat_json_member_string(json, "digest", meta->digest);
    leat_json_member_string(json, "format", LEAT_CAN_CACHE_FORMAT);
    if (meta->frames_cut > 0) leat_json_member_int(json, "frames_cut", meta->frames_cut);
    leat_json_member_int(json, "metadata_schema_version", SCHEMA_VERSION);
    leat_json_member_int(json, "num_arb_ids", meta->ids.known + 1);
    leat_json_member_string(json, "preprocessing_version", meta->preprocessing_version);
    leat_json_member_string(json, "preset", meta->preset);
    leat_json_member_string(json, "scaler_strategy", meta->scaler_strategy);
    leat_json_member_int(json, "seed", meta->seed);
    put_settings(json, meta);
    put_splits(json, meta);
    leat_json_member_string(json, "store", meta->frames ? "frames" : "features");
    leat_json_member_int(json, "stride", meta->stride);
    leat_json_key(json, "unknown_ids");
    leat_json_begin_array(json);
    for (int64_t i = meta->ids.known; i < meta->ids.count; i++)
        leat_json_string(json, meta->ids.text[i]);
    leat_json_end_array(json);
    leat_json_member_double(json, "val_fraction", meta->val_fraction);
    leat_json_member_int(json, "version", LEAT_CAN_CACHE_VERSION);
    leat_json_member_string(json, "vocab_digest", meta->vocab_digest);
    if (meta->warning[0] != 0) leat_json_member_string(json, "warning", meta->warning);
    leat_json_member_int(json, "window_size", meta->window);
    leat_json_end_object(json);
}

leat_code leat_can_document_write(leat_can_meta *meta, leat_can_document which,
                                  leat_json_out_fn out, void *context, leat_error *err) {
    static const leat_document_put_fn puts[LEAT_CAN_DOCUMENTS] = {
        [LEAT_CAN_VOCAB] = put_vocab,
        [LEAT_CAN_SCALER] = put_scaler,
        [LEAT_CAN_METADATA] = put_metadata,
    };
    leat_code code = leat_can_document_check(meta, which, err);
    if (code != LEAT_OK)
        return leat_error_context(err, code, "CAN cache, %s", leat_can_document_name(which));
    leat_can_vocab_digest(&meta->ids, meta->vocab_digest);
    return leat_document_write(&leat_can_documents, which, puts[which], meta, out, context, err);
}

static leat_code write_document(void *data, int which, leat_json_out_fn out, void *context,
                                leat_error *err) {
    return leat_can_document_write(data, (leat_can_document)which, out, context, err);
}

leat_code leat_can_meta_save(leat_can_meta *meta, const char *dir, leat_error *err) {
    return leat_complete_save(&leat_can_documents, dir, write_document, meta, err);
}
