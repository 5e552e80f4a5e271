/*
 * The index and the parts that it is made of. The first byte chooses: 0 an index as it is, 1 an
 * index whose page table is made right first (so that what lies behind the hashes is reached), 2 a
 * part as it is, 3 a part with right hashes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/dataset/index.h"

/* Makes the page table right and returns the SHA-256 of it. */
static void seal_index(uint8_t *bytes, int64_t size, int fix, uint8_t sha256[32]) {
    int64_t pages = (size + 4103) / 4104, body = size - pages * 8;
    for (int64_t p = 0; fix && p < pages && body > 0; p++) {
        int64_t left = body - p * 4096;
        uint64_t hash = left <= 0 ? 0 : leat_xxh3(bytes + p * 4096, left < 4096 ? left : 4096);
        memcpy(bytes + body + p * 8, &hash, 8);
    }
    leat_sha256 sha;
    leat_sha256_init(&sha);
    if (body >= 0) leat_sha256_update(&sha, bytes + body, pages * 8);
    leat_sha256_final(&sha, sha256);
}

/* The hashes of a part: of rows and page hashes at bytes 136 and 144, of the head at byte 152. */
static void seal_part(uint8_t *bytes, int64_t size) {
    int64_t rows = 0;
    if (size < 160) return;
    memcpy(&rows, bytes + 24, 8);
    if (rows < 0 || rows > (size - 160) / 48) return;
    uint64_t hash = leat_xxh3(bytes + 160, rows * 48);
    memcpy(bytes + 136, &hash, 8);
    hash = leat_xxh3(bytes + 160 + rows * 48, size - 160 - rows * 48);
    memcpy(bytes + 144, &hash, 8);
    hash = leat_xxh3(bytes, 152);
    memcpy(bytes + 152, &hash, 8);
}

static void read_index(const char *path, int64_t size, const uint8_t sha256[32]) {
    leat_index *index = NULL;
    leat_error err;
    if (leat_index_open(&index, path, size, sha256, &err) != LEAT_OK) {
        if (index != NULL || err.message[0] == 0) abort();
        return;
    }
    for (int64_t row = 0; row < leat_index_row_count(index); row++) {
        leat_index_row out;
        int64_t shard = leat_index_shard_of(index, row);
        const leat_index_shard *facts = leat_index_shard_get(index, shard);
        if (row < facts->first_row || row >= facts->first_row + facts->row_count) abort();
        if (leat_index_row_get(index, row, &out, &err) == LEAT_OK &&
            (out.chunk_offset >= facts->file_bytes || out.n_measurements == 0)) {
            abort();
        }
    }
    for (int64_t s = 0; s < leat_index_shard_count(index); s++) {
        const leat_index_shard *facts = leat_index_shard_get(index, s);
        uint64_t hash = 0;
        if (facts->page_count > 0) {
            (void)!leat_index_page_hash(index, s, facts->page_count - 1, &hash, &err);
        }
    }
    (void)!leat_index_verify(index, &err);
    leat_index_close(index);
}

static void read_part(const char *path) {
    leat_shard_part part;
    leat_error err;
    if (leat_shard_part_load(path, 0, &part, &err) != LEAT_OK) {
        if (part.rows != NULL || part.page_hashes != NULL || err.message[0] == 0) abort();
        return;
    }
    int64_t measurements = 0;
    for (int64_t i = 0; i < part.info.row_count; i++) measurements += part.rows[i].n_measurements;
    if (measurements != part.info.measurement_count) abort();
    leat_shard_part_free(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    uint8_t sha256[32];
    if (size < 1) return 0;
    int kind = data[0] % 4;
    int64_t bytes = (int64_t)size - 1;
    uint8_t *copy = malloc(size);
    int fd = memfd_create("index", 0);
    if (copy == NULL || fd < 0) abort();
    if (bytes > 0) memcpy(copy, data + 1, (size_t)bytes);
    if (kind < 2) seal_index(copy, bytes, kind == 1, sha256);
    if (kind == 3) seal_part(copy, bytes);
    if (write(fd, copy, (size_t)bytes) != bytes) abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (kind < 2) read_index(path, bytes, sha256);
    else read_part(path);
    close(fd);
    free(copy);
    return 0;
}
