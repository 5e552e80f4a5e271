/* Hashes to compare batches by: a SHA-256 of each row, image or batch of graphs, and one over all
 * of them. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "leat/load_can.h"
#include "leat/load_images.h"

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

/* Adds the line of a row or batch with this hash. */
static void add_line(leat_batch_hash *hash, int64_t first, int64_t second, const char digest[65],
                     leat_textbuf *lines) {
    char line[128];
    int size =
        snprintf(line, sizeof line, "%lld %lld %s\n", (long long)first, (long long)second, digest);
    leat_sha256_update(&hash->lines, line, size);
    if (lines != NULL) leat_textbuf_append(lines, line, size);
}

void leat_batch_hash_add(leat_batch_hash *hash, const leat_batch *batch, leat_textbuf *lines) {
    for (int64_t i = 0; i < batch->row_count; i++) {
        char digest[65];
        hash_row(batch, i, digest);
        add_line(hash, batch->step, batch->rows[i], digest, lines);
    }
}

void leat_batch_hash_add_graphs(leat_batch_hash *hash, const leat_graph_batch *batch,
                                leat_textbuf *lines) {
    int64_t graphs = batch->graph_count, nodes = batch->node_count, edges = batch->edge_count;
    char text[65];
    uint8_t digest[32];
    leat_sha256 sha;
    if (graphs == 0) return;
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, batch->x, nodes * LEAT_NODE_FEATURES * 4);
    leat_sha256_update(&sha, batch->edge_attr, edges * LEAT_EDGE_FEATURES * 4);
    leat_sha256_update(&sha, batch->edge_index, edges * 2 * 4);
    leat_sha256_update(&sha, batch->node_id, nodes * 4);
    leat_sha256_update(&sha, batch->node_graph, nodes * 4);
    leat_sha256_update(&sha, batch->node_ptr, (graphs + 1) * 8);
    leat_sha256_update(&sha, batch->edge_ptr, (graphs + 1) * 8);
    leat_sha256_update(&sha, batch->y, graphs * 4);
    leat_sha256_update(&sha, batch->attack_type, graphs * 4);
    leat_sha256_update(&sha, batch->graph, graphs * 8);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, text);
    add_line(hash, batch->epoch, batch->batch, text, lines);
}

void leat_batch_hash_add_images(leat_batch_hash *hash, const leat_image_batch *batch,
                                leat_textbuf *lines) {
    int64_t values = (int64_t)batch->size * batch->size * 3;
    int64_t bytes = batch->u8 != NULL ? values : values * (int64_t)sizeof(float);
    const uint8_t *rows = batch->u8 != NULL ? batch->u8 : (const uint8_t *)batch->f32;
    for (int64_t i = 0; i < batch->row_count; i++) {
        char text[65];
        leat_sha256_hex_of(rows + i * bytes, bytes, text);
        add_line(hash, batch->step, batch->first_row + i, text, lines);
    }
}

void leat_batch_hash_text(const leat_batch_hash *hash, char text[65]) {
    leat_sha256 sha = hash->lines;
    uint8_t digest[32];
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, text);
}
