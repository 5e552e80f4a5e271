/* A small cache's metadata: see can_cache_support.h. */
#include "can_cache_support.h"

#include <string.h>

static leat_code add_capture(leat_can_meta *meta, const char *file, const char *folder,
                             const char *split, uint32_t first_id, leat_error *err) {
    LEAT_TRY(LEAT_GROW(&meta->captures, &meta->capture_capacity, meta->capture_count + 1, err));
    leat_can_meta_capture *capture = &meta->captures[meta->capture_count++];
    *capture = (leat_can_meta_capture){.recording = meta->capture_count,
                                       .bus = meta->capture_count == 2 ? 1 : 0,
                                       .vehicle = leat_can_vehicle(file),
                                       .frames = 1030,
                                       .windows = 9,
                                       .tail = 30,
                                       .between = 7,
                                       .dropped = 93,
                                       .rejected = 2,
                                       .first_s = -0.5,
                                       .last_s = 12.25};
    memcpy(capture->split, split, strlen(split));
    LEAT_TRY(leat_strdup(&capture->file, file, err));
    LEAT_TRY(leat_strdup(&capture->folder, folder, err));
    LEAT_TRY(LEAT_GROW(&capture->intervals, &capture->interval_capacity, 3, err));
    const leat_can_interval intervals[] = {
        {first_id, 1000, 0.0123}, {first_id + 1, 1, 0}, {5, 29, 0}};
    memcpy(capture->intervals, intervals, sizeof intervals);
    capture->interval_count = 3;
    return LEAT_OK;
}

static leat_code set_split(leat_can_meta_split *split, const char *name, int64_t graphs,
                           leat_error *err) {
    *split =
        (leat_can_meta_split){.graphs = graphs,
                              .nodes = graphs * 30,
                              .edges = graphs * 98,
                              .node_count = {20, 44, 30, 42, 43.52000045776367},
                              .edge_count = {98, 98, 98, 98, 98},
                              .balance = {{"dos", graphs / 3}, {"benign", graphs - graphs / 3}},
                              .balance_count = 2,
                              .file_bytes = 4096 * graphs + 7,
                              .pages_hash = UINT64_C(0x0123456789abcdef)};
    memcpy(split->name, name, strlen(name));
    if (strcmp(name, "val") == 0) return LEAT_OK;
    split->raw_samples = graphs * 100 + 30;
    LEAT_TRY(leat_path_list_add(&split->source_dirs, name, err));
    return leat_path_list_add(&split->source_dirs, "more \"\xc3\xa4\"", err);
}

static leat_code fill(leat_can_meta *meta, leat_error *err) {
    static const char *const ids[] = {"0C1", "0C9", "316", "7DF", "0C0", "18FEF100"};
    static const char digest[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    *meta = (leat_can_meta){.dataset = "set_01",
                            .preset = "default",
                            .preprocessing_version = "leat 0.1.0",
                            .built_at = "2026-11-20T20:53:16.323148Z",
                            .window = 100,
                            .stride = 100,
                            .seed = 42,
                            .val_fraction = 0.2,
                            .scaler_strategy = "z_benign",
                            .windows_dropped = 3};
    memcpy(meta->digest, digest, sizeof digest);
    for (int i = 0; i < LEAT_CAN_X_COLUMNS; i++) {
        meta->scaler.x_center[i] = i / 7.0;
        meta->scaler.x_scale[i] = 1 + i;
    }
    for (int i = 0; i < LEAT_CAN_EDGE_COLUMNS; i++) {
        meta->scaler.edge_center[i] = -i;
        meta->scaler.edge_scale[i] = 1e-6;
    }
    LEAT_TRY(leat_can_meta_set(meta, "window", "100", err));
    LEAT_TRY(leat_can_meta_set(meta, "bus", "separate", err));
    LEAT_TRY(LEAT_GROW(&meta->ids.text, &meta->ids.capacity, 6, err));
    for (int i = 0; i < 6; i++) {
        memset(meta->ids.text[i], 0, LEAT_CAN_ID_TEXT_BYTES);
        memcpy(meta->ids.text[i], ids[i], strlen(ids[i]));
    }
    meta->ids.count = 6;
    meta->ids.known = 4;
    LEAT_TRY(LEAT_NEW(&meta->splits, 4, err));
    static const char *const names[] = {"train", "val", "test_01_DoS", "test_02"};
    for (int i = 0; i < 4; i++) {
        meta->split_count = i + 1;
        LEAT_TRY(set_split(&meta->splits[i], names[i], i == 3 ? 0 : 12 - i, err));
    }
    meta->splits[3].node_count = meta->splits[3].edge_count = (leat_can_sizes){0};
    LEAT_TRY(add_capture(meta, "DoS-3.csv.gz", "train_02", "train", 0, err));
    LEAT_TRY(add_capture(meta, "DoS-3.csv.gz", "train_02", "train", 1, err));
    return add_capture(meta, "", "", "test_01_DoS", 2, err);
}

leat_code can_meta_fill(leat_can_meta *meta, leat_error *err) {
    leat_code code = fill(meta, err);
    if (code != LEAT_OK) leat_can_meta_free(meta);
    return code;
}

static leat_code append(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    return leat_buf_append(context, bytes, size_bytes, err);
}

leat_code can_document_text(leat_can_meta *meta, leat_can_document which, leat_buf *text,
                            leat_error *err) {
    *text = (leat_buf){0};
    leat_code code = leat_can_document_write(meta, which, append, text, err);
    if (code == LEAT_OK) code = leat_buf_append(text, "", 1, err);
    if (code == LEAT_OK) text->size--;
    else leat_buf_free(text);
    return code;
}
