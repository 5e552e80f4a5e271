/*
 * Positions of bytes in an ArrayRecord file. A file is a sequence of chunks; at every multiple of
 * 65,536 a block header of 24 bytes is inserted, wherever that falls. So a chunk's bytes are
 * numbered as a stream without block headers, and all positions follow from arithmetic.
 */
#include <string.h>

#include "format/arrayrecord/internal.h"

#define BLOCK LEAT_AR_BLOCK_BYTES

bool leat_ar_position_legal(int64_t position) {
    return position >= 0 &&
           (position % BLOCK == 0 || position % BLOCK > LEAT_AR_BLOCK_HEADER_BYTES);
}

/* The first legal position from `position` on. */
static int64_t round_up(int64_t position) {
    int64_t inside = position % BLOCK;
    if (inside == 0 || inside > LEAT_AR_BLOCK_HEADER_BYTES) return position;
    return position - inside + LEAT_AR_BLOCK_HEADER_BYTES + 1;
}

int64_t leat_ar_chunk_end(int64_t begin, int64_t data_bytes, int64_t record_count) {
    int64_t encoded = leat_ar_advance(begin, LEAT_AR_CHUNK_HEADER_BYTES + data_bytes);
    int64_t spread = round_up(begin + record_count);
    return encoded > spread ? encoded : spread;
}

int leat_ar_varint_bytes(uint64_t value) {
    int size = 1;
    while (value >= 0x80) {
        value >>= 7;
        size++;
    }
    return size;
}

int leat_ar_put_varint(uint8_t *bytes, uint64_t value) {
    int size = 0;
    while (value >= 0x80) {
        bytes[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[size++] = (uint8_t)value;
    return size;
}

bool leat_ar_take_long_varint(const uint8_t **at, const uint8_t *end, uint64_t *value) {
    uint64_t sum = 0;
    *value = 0;
    for (int i = 0; i < LEAT_AR_VARINT_BYTES; i++) {
        if (*at == end) return false;
        uint8_t byte = *(*at)++;
        if (i == LEAT_AR_VARINT_BYTES - 1 && byte > 1) return false;
        sum |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *value = sum;
            return true;
        }
    }
    return false;
}

void leat_ar_block_header(uint8_t header[LEAT_AR_BLOCK_HEADER_BYTES], int64_t position,
                          int64_t begin, int64_t end) {
    leat_ar_store64(header + 8, (uint64_t)(position - begin));
    leat_ar_store64(header + 16, (uint64_t)(end - position));
    leat_ar_store64(header, leat_highwayhash_of(header + 8, 16));
}

void leat_ar_chunk_header(uint8_t header[LEAT_AR_CHUNK_HEADER_BYTES], const leat_ar_chunk *chunk) {
    leat_ar_store64(header + 8, (uint64_t)chunk->data_bytes);
    leat_ar_store64(header + 16, chunk->data_hash);
    leat_ar_store64(header + 24, chunk->type | (uint64_t)chunk->record_count << 8);
    leat_ar_store64(header + 32, (uint64_t)chunk->decoded_bytes);
    leat_ar_store64(header, leat_highwayhash_of(header + 8, 32));
}

int leat_ar_record_front(uint8_t front[LEAT_AR_FRONT_BYTES], int64_t size_bytes) {
    front[0] = 0;
    front[1] = (uint8_t)leat_ar_put_varint(front + 2, (uint64_t)size_bytes);
    return 2 + front[1];
}

int leat_ar_plain_head(int64_t begin, int64_t record_bytes, uint8_t head[LEAT_AR_PLAIN_HEAD_BYTES],
                       int64_t *end) {
    _Static_assert(LEAT_AR_CHUNK_HEADER_BYTES + LEAT_AR_FRONT_BYTES <= LEAT_AR_PLAIN_HEAD_BYTES,
                   "");
    uint8_t *front = head + LEAT_AR_CHUNK_HEADER_BYTES;
    int front_bytes = leat_ar_record_front(front, record_bytes);
    int64_t data_bytes = front_bytes + record_bytes;
    memset(head, 0, LEAT_AR_CHUNK_HEADER_BYTES);
    leat_ar_store64(head + 8, (uint64_t)data_bytes);
    leat_ar_store64(head + 24, LEAT_AR_CHUNK_SIMPLE | UINT64_C(1) << 8);
    leat_ar_store64(head + 32, (uint64_t)record_bytes);
    *end = leat_ar_chunk_end(begin, data_bytes, 1);
    return LEAT_AR_CHUNK_HEADER_BYTES + front_bytes;
}

bool leat_ar_chunk_header_parse(const uint8_t header[LEAT_AR_CHUNK_HEADER_BYTES],
                                leat_ar_chunk *chunk) {
    if (leat_ar_load64(header) != leat_highwayhash_of(header + 8, 32)) return false;
    uint64_t data_bytes = leat_ar_load64(header + 8), decoded_bytes = leat_ar_load64(header + 32);
    if (data_bytes > INT64_MAX || decoded_bytes > INT64_MAX) return false;
    chunk->data_bytes = (int64_t)data_bytes;
    chunk->data_hash = leat_ar_load64(header + 16);
    chunk->type = header[24];
    chunk->record_count = (int64_t)(leat_ar_load64(header + 24) >> 8);
    chunk->decoded_bytes = (int64_t)decoded_bytes;
    return true;
}
