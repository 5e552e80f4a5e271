/*
 * Chunks onto a sink. A block header in the middle of a chunk records where the chunk ends, so the
 * end is computed before the first byte is written. Then the data is written piece by piece without
 * copying, with block headers inserted at their positions.
 */
#include <string.h>

#include "format/arrayrecord/internal.h"

#define BLOCK LEAT_AR_BLOCK_BYTES

/* Writes the block header if one is due; returns how many bytes may follow before the next. */
static leat_code open_block(leat_ar_emitter *emitter, int64_t *room, leat_error *err) {
    if (emitter->position % BLOCK == 0) {
        uint8_t header[LEAT_AR_BLOCK_HEADER_BYTES];
        leat_ar_block_header(header, emitter->position, emitter->begin, emitter->end);
        LEAT_TRY(leat_sink_write(emitter->sink, header, sizeof header, err));
        emitter->position += LEAT_AR_BLOCK_HEADER_BYTES;
    }
    *room = BLOCK - emitter->position % BLOCK;
    return LEAT_OK;
}

leat_code leat_ar_emit_data(void *emitter_pointer, const void *bytes, int64_t size_bytes,
                            leat_error *err) {
    leat_ar_emitter *emitter = emitter_pointer;
    const uint8_t *at = bytes;
    while (size_bytes > 0) {
        int64_t room = 0;
        LEAT_TRY(open_block(emitter, &room, err));
        int64_t step = size_bytes < room ? size_bytes : room;
        LEAT_ASSERT(step <= emitter->end - emitter->position);
        LEAT_TRY(leat_sink_write(emitter->sink, at, step, err));
        emitter->position += step;
        at += step;
        size_bytes -= step;
    }
    return LEAT_OK;
}

/* Zeros up to file position `stop`, block headers in between. */
static leat_code emit_zeros(leat_ar_emitter *emitter, int64_t stop, leat_error *err) {
    while (emitter->position < stop) {
        int64_t room = 0;
        LEAT_TRY(open_block(emitter, &room, err));
        int64_t left = stop - emitter->position;
        int64_t step = left < room ? left : room;
        LEAT_TRY(leat_sink_zeros(emitter->sink, step, err));
        emitter->position += step;
    }
    return LEAT_OK;
}

leat_code leat_ar_emit_begin(leat_ar_emitter *emitter, leat_ar_chunk *chunk, leat_error *err) {
    uint8_t header[LEAT_AR_CHUNK_HEADER_BYTES];
    LEAT_ASSERT(leat_ar_position_legal(emitter->position));
    chunk->begin = emitter->position;
    chunk->data_end = leat_ar_advance(chunk->begin, LEAT_AR_CHUNK_HEADER_BYTES + chunk->data_bytes);
    chunk->end = leat_ar_chunk_end(chunk->begin, chunk->data_bytes, chunk->record_count);
    emitter->begin = chunk->begin;
    emitter->end = chunk->end;
    leat_ar_chunk_header(header, chunk);
    return leat_ar_emit_data(emitter, header, sizeof header, err);
}

leat_code leat_ar_emit_end(leat_ar_emitter *emitter, leat_error *err) {
    LEAT_TRY(emit_zeros(emitter, emitter->end, err));
    LEAT_ASSERT(emitter->position == emitter->end);
    return LEAT_OK;
}

leat_code leat_ar_emit_packed(leat_ar_emitter *emitter, leat_ar_chunk *chunk, uint8_t codec_byte,
                              const leat_buf *sizes, const leat_buf *values, leat_error *err) {
    uint8_t front[1 + LEAT_AR_VARINT_BYTES] = {codec_byte};
    int front_bytes = 1 + leat_ar_put_varint(front + 1, (uint64_t)sizes->size);
    leat_highwayhash hash;
    leat_highwayhash_init(&hash);
    leat_highwayhash_update(&hash, front, front_bytes);
    leat_highwayhash_update(&hash, sizes->data, sizes->size);
    leat_highwayhash_update(&hash, values->data, values->size);
    chunk->data_hash = leat_highwayhash_final(&hash);
    chunk->data_bytes = front_bytes + sizes->size + values->size;
    LEAT_TRY(leat_ar_emit_begin(emitter, chunk, err));
    LEAT_TRY(leat_ar_emit_data(emitter, front, front_bytes, err));
    LEAT_TRY(leat_ar_emit_data(emitter, sizes->data, sizes->size, err));
    LEAT_TRY(leat_ar_emit_data(emitter, values->data, values->size, err));
    return leat_ar_emit_end(emitter, err);
}

/* The hash of any number of zeros, in steps of a block. */
static uint64_t hash_of_zeros(int64_t size_bytes) {
    static const uint8_t zeros[4096] = {0};
    leat_highwayhash hash;
    leat_highwayhash_init(&hash);
    while (size_bytes > 0) {
        int64_t step = size_bytes < (int64_t)sizeof zeros ? size_bytes : (int64_t)sizeof zeros;
        leat_highwayhash_update(&hash, zeros, step);
        size_bytes -= step;
    }
    return leat_highwayhash_final(&hash);
}

leat_code leat_ar_emit_padding(leat_ar_emitter *emitter, leat_error *err) {
    int64_t room = (BLOCK - emitter->position % BLOCK) % BLOCK;
    if (room == 0) return LEAT_OK;
    /* too little for a chunk header: the padding runs through one more block */
    if (room < LEAT_AR_CHUNK_HEADER_BYTES) room += LEAT_AR_BLOCK_ROOM;
    leat_ar_chunk chunk = {.type = LEAT_AR_CHUNK_PADDING,
                           .data_bytes = room - LEAT_AR_CHUNK_HEADER_BYTES};
    chunk.data_hash = hash_of_zeros(chunk.data_bytes);
    LEAT_TRY(leat_ar_emit_begin(emitter, &chunk, err));
    LEAT_TRY(leat_ar_emit_end(emitter, err));
    LEAT_ASSERT(emitter->position % BLOCK == 0);
    return LEAT_OK;
}
