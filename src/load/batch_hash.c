/* What batches are compared by: a SHA-256 of every row, and one of all of them. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "leat/load.h"

struct leat_batch_hash {
    leat_sha256 lines;
};

leat_code leat_batch_hash_create(leat_batch_hash **out, leat_error *err) {
    *out = NULL;
    LEAT_TRY(LEAT_NEW(out, 1, err));
    leat_sha256_init(&(*out)->lines);
    return LEAT_OK;
}

void leat_batch_hash_destroy(leat_batch_hash *hash) { leat_free(hash); }

static void hash_row(const leat_batch *batch, int64_t index, char text[65]) {
    const int32_t *arrays[6] = {batch->inputs,
                                batch->targets,
                                batch->inputs_position,
                                batch->targets_position,
                                batch->inputs_segmentation,
                                batch->targets_segmentation};
    leat_sha256 sha;
    uint8_t digest[32];
    leat_sha256_init(&sha);
    for (int i = 0; i < 6; i++) {
        leat_sha256_update(&sha, arrays[i] + index * batch->length, batch->length * 4);
    }
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, text);
}

void leat_batch_hash_add(leat_batch_hash *hash, const leat_batch *batch, leat_textbuf *lines) {
    for (int64_t i = 0; i < batch->row_count; i++) {
        char digest[65], line[128];
        hash_row(batch, i, digest);
        int size = snprintf(line, sizeof line, "%lld %lld %s\n", (long long)batch->step,
                            (long long)batch->rows[i], digest);
        leat_sha256_update(&hash->lines, line, size);
        if (lines != NULL) leat_textbuf_append(lines, line, size);
    }
}

void leat_batch_hash_text(const leat_batch_hash *hash, char text[65]) {
    leat_sha256 sha = hash->lines;
    uint8_t digest[32];
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, text);
}
