/*
 * The saved state of a frame store, beside the spill files that it was made with. The first byte
 * chooses: 0 a state as it is, 1 one whose checksum is made right, so that what lies behind it is
 * reached. What can be loaded can be put in order and read, or says what is wrong with it.
 */
#include "ingest/can_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "memory_folder.h"

static char folder[512], path[600];

static leat_can_store_options options_of(void) {
    return (leat_can_store_options){
        .temp_dir = folder,
        .workers = 1,
        .memory_bytes = 8 << 20,
        .file_count = 2,
        .split_falls = true,
    };
}

static void remove_folder(void) { (void)!leat_path_remove_tree(folder, NULL); }

/* Frames that overlap here and there, spilled; their state is the corpus' "frames". */
static void spill(void) {
    const can_shape shape = {
        .order = CAN_STEPPING, .files = 2, .buses = 2, .ids = 5, .lines = 300, .block_lines = 60};
    snprintf(folder, sizeof folder, "%s/leat-fuzz-XXXXXX", memory_folder(INT64_C(16) << 20));
    if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0) abort();
    snprintf(path, sizeof path, "%s/state", folder);
    can_frames frames = can_frames_make(&shape);
    leat_can_store *store = NULL;
    leat_can_store_options options = options_of();
    if (leat_can_store_create(&store, &options, NULL) != LEAT_OK) abort();
    if (can_frames_store(&frames, store, 1, NULL) != LEAT_OK) abort();
    if (leat_can_store_save(store, path, NULL) != LEAT_OK) abort();
    leat_can_store_keep(store);
    leat_can_store_destroy(store);
    can_frames_free(&frames);
}

static void write_state(const uint8_t *data, int64_t size, bool seal) {
    uint8_t digest[32];
    leat_sha256 sha;
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, data, size);
    leat_sha256_final(&sha, digest);
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(data, 1, (size_t)size, out) != (size_t)size) abort();
    if (seal && fwrite(digest, 1, sizeof digest, out) != sizeof digest) abort();
    if (fclose(out) != 0) abort();
}

static void read_all(const leat_can_store *store, int32_t stream) {
    double time[64];
    uint32_t id[64];
    int16_t bytes[64][LEAT_CAN_BYTES];
    bool attack[64];
    uint8_t type[64];
    int32_t file[64];
    leat_can_frames_out out = {time, id, bytes, attack, type, file};
    int64_t count = leat_can_store_frames(store, stream);
    for (int64_t at = 0; at < count; at += 64) {
        int64_t piece = count - at < 64 ? count - at : 64;
        leat_code code = leat_can_store_read(store, stream, at, piece, &out, NULL);
        if (code != LEAT_OK && code != LEAT_ERR_CORRUPT) abort();
        for (int64_t i = 0; code == LEAT_OK && i < piece; i++) {
            if (file[i] < 0 || file[i] > 1) abort();
        }
    }
}

static void put_in_order(leat_can_store *store, can_streams way) {
    int32_t stream_count = 0, *streams = can_streams_of(store, way, &stream_count);
    uint32_t *numbers = can_id_numbers(store);
    leat_error err = {0};
    leat_code code = leat_can_store_order(store, streams, stream_count, numbers, 1, &err);
    if (code != LEAT_OK && code != LEAT_ERR_CORRUPT && code != LEAT_ERR_LIMIT) abort();
    for (int32_t s = 0; s < stream_count && code == LEAT_OK; s++) read_all(store, s);
    free(streams);
    free(numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (folder[0] == 0) spill();
    if (size < 1) return 0;
    write_state(data + 1, (int64_t)size - 1, (data[0] & 1) != 0);
    leat_can_store *store = NULL;
    leat_can_store_options options = options_of();
    leat_error err = {0};
    leat_code code = leat_can_store_load(&store, &options, path, &err);
    if (code != LEAT_OK) {
        if (store != NULL || (code != LEAT_ERR_CORRUPT && code != LEAT_ERR_LIMIT)) abort();
        return 0;
    }
    put_in_order(store, CAN_SEPARATE);
    put_in_order(store, CAN_MERGED);
    leat_can_store_keep(store);
    leat_can_store_destroy(store);
    return 0;
}
