/*
 * From a chunk in a file to its records in memory. Every size in a chunk is checked against its
 * header, which the hash covers, and against stated limits before memory is allocated.
 */
#include "format/arrayrecord/internal.h"

leat_code leat_ar_room_create(leat_ar_room **out, leat_error *err) {
    *out = NULL;
    leat_ar_room *room = NULL;
    LEAT_TRY(LEAT_NEW(&room, 1, err));
    room->chunk_index = -1;
    leat_code code = leat_ar_decoder_create(&room->decoder, err);
    if (code != LEAT_OK) {
        leat_ar_room_destroy(room);
        return code;
    }
    *out = room;
    return LEAT_OK;
}

void leat_ar_room_destroy(leat_ar_room *room) {
    if (room == NULL) return;
    leat_ar_decoder_destroy(room->decoder);
    leat_free(room->scratch);
    leat_buf_free(&room->data);
    leat_buf_free(&room->sizes);
    leat_buf_free(&room->values);
    leat_free(room->starts);
    leat_free(room);
}

static leat_code bad_chunk(leat_error *err, const leat_ar_chunk *chunk, const char *what) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "chunk at byte %lld: %s", (long long)chunk->begin,
                     what);
}

static leat_code check_limits(const leat_ar_chunk *chunk, int64_t max_bytes, leat_error *err) {
    int64_t table_bytes = 0;
    if (chunk->type == LEAT_AR_CHUNK_TRANSPOSED) {
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "chunk at byte %lld is transposed, which leat does not support; write the "
                         "file again with transpose:false (Python: array_record's "
                         "ArrayRecordWriter with options \"group_size:1,transpose:false\")",
                         (long long)chunk->begin);
    }
    if (chunk->type != LEAT_AR_CHUNK_SIMPLE) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "chunk at byte %lld: type 0x%02x where records should be",
                         (long long)chunk->begin, chunk->type);
    }
    if (!leat_mul_size(chunk->record_count, (int64_t)sizeof(int64_t), &table_bytes) ||
        chunk->data_bytes > max_bytes || chunk->decoded_bytes > max_bytes ||
        table_bytes > max_bytes) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "chunk at byte %lld: %lld bytes that decode to %lld bytes in %lld "
                         "records, more than the %lld bytes allowed (max_chunk_bytes)",
                         (long long)chunk->begin, (long long)chunk->data_bytes,
                         (long long)chunk->decoded_bytes, (long long)chunk->record_count,
                         (long long)max_bytes);
    }
    return LEAT_OK;
}

/* Sizes as varints, and offsets of the records. */
static int64_t table_bytes(const leat_ar_chunk *chunk, bool packed) {
    return (chunk->record_count + 1) * (int64_t)sizeof(int64_t) +
           (packed ? chunk->record_count * LEAT_AR_VARINT_BYTES : 0);
}

/* Counts memory about to be allocated against the limit. */
static leat_code check_memory(const leat_ar_chunk *chunk, int64_t need_bytes, leat_ar_room *room,
                              leat_error *err) {
    room->need_bytes = need_bytes;
    if (room->memory_max == 0 || need_bytes <= room->memory_max) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "chunk at byte %lld: its %lld bytes decode to %lld bytes in %lld records, "
                     "which requires %lld MiB of memory, but %lld MiB are left",
                     (long long)chunk->begin, (long long)chunk->data_bytes,
                     (long long)chunk->decoded_bytes, (long long)chunk->record_count,
                     (long long)(need_bytes >> 20) + 1, (long long)(room->memory_max >> 20));
}

/* Decompresses the two parts; `sizes` are the first, without their size uncompressed before them,
 * and the values go on to `end`. */
static leat_code unpack(const leat_ar_chunk *chunk, leat_ar_packed sizes, const uint8_t *end,
                        leat_ar_room *room, leat_ar_decoded *decoded, leat_error *err) {
    const uint8_t *values_at = sizes.at + sizes.size_bytes;
    uint64_t said = 0;
    int64_t count = chunk->record_count;
    if (!leat_ar_take_varint(&sizes.at, values_at, &said) || said < (uint64_t)count ||
        (said - (uint64_t)count) / LEAT_AR_VARINT_BYTES > (uint64_t)count) {
        return bad_chunk(err, chunk, "the length of its sizes is not possible");
    }
    sizes.size_bytes = values_at - sizes.at;
    sizes.out_bytes = (int64_t)said;
    /* one stream after the other; each is known by its first bytes, the values' after a length */
    leat_ar_packed values = {sizes.codec_byte, values_at, 0, chunk->decoded_bytes};
    bool has_length = leat_ar_take_varint(&values.at, end, &said);
    values.size_bytes = has_length ? end - values.at : 0;
    int64_t state = leat_ar_decoder_bytes(&sizes), other = leat_ar_decoder_bytes(&values);
    LEAT_TRY(check_memory(chunk,
                          chunk->data_bytes + table_bytes(chunk, true) + chunk->decoded_bytes +
                              (state > other ? state : other),
                          room, err));
    leat_code code = leat_ar_decode(room->decoder, &sizes, &room->sizes, err);
    if (code == LEAT_OK) {
        /* other readers ignore this number, so a wrong one is not a reason to refuse the chunk */
        if (!has_length) return bad_chunk(err, chunk, "its records have no length");
        decoded->prefix_wrong = said != (uint64_t)chunk->decoded_bytes;
        code = leat_ar_decode(room->decoder, &values, &room->values, err);
    }
    if (code != LEAT_OK) {
        return leat_error_context(err, code, "chunk at byte %lld", (long long)chunk->begin);
    }
    decoded->sizes = room->sizes.data;
    decoded->sizes_end = room->sizes.data + room->sizes.size;
    decoded->values = room->values.data;
    return LEAT_OK;
}

/* Converts sizes to offsets, and checks them against the header. */
static leat_code read_sizes(const leat_ar_chunk *chunk, const leat_ar_decoded *decoded,
                            leat_ar_room *room, leat_error *err) {
    const uint8_t *at = decoded->sizes;
    int64_t sum = 0;
    if (decoded->sizes_end - at < chunk->record_count) {
        return bad_chunk(err, chunk, "it has fewer sizes than records");
    }
    LEAT_TRY(LEAT_GROW(&room->starts, &room->starts_capacity, chunk->record_count + 1, err));
    for (int64_t i = 0; i < chunk->record_count; i++) {
        uint64_t size = 0;
        room->starts[i] = sum;
        if (!leat_ar_take_varint(&at, decoded->sizes_end, &size) ||
            size > (uint64_t)(chunk->decoded_bytes - sum)) {
            return bad_chunk(err, chunk, "one of its sizes is not possible");
        }
        sum += (int64_t)size;
    }
    room->starts[chunk->record_count] = sum;
    if (at != decoded->sizes_end || sum != chunk->decoded_bytes) {
        return bad_chunk(err, chunk, "its sizes do not add up");
    }
    return LEAT_OK;
}

leat_code leat_ar_chunk_decode(const leat_ar_bytes *bytes, const leat_ar_chunk *chunk,
                               int64_t max_bytes, leat_ar_room *room, leat_ar_decoded *decoded,
                               leat_error *err) {
    *decoded = (leat_ar_decoded){0};
    room->chunk_index = -1;
    LEAT_TRY(check_limits(chunk, max_bytes, err));
    LEAT_TRY(check_memory(chunk, chunk->data_bytes + table_bytes(chunk, false), room, err));
    room->data.size = 0;
    /* a byte more, so that there is a place even for nothing */
    LEAT_TRY(leat_buf_reserve(&room->data, chunk->data_bytes + 1, err));
    LEAT_TRY(leat_ar_chunk_scan(bytes, chunk, room->data.data, room->scratch, err));
    room->data.size = chunk->data_bytes;
    const uint8_t *at = room->data.data, *end = at + chunk->data_bytes;
    uint64_t sizes_bytes = 0;
    uint8_t codec_byte = chunk->data_bytes > 0 ? *at++ : 0;
    if (!leat_ar_take_varint(&at, end, &sizes_bytes) || sizes_bytes > (uint64_t)(end - at)) {
        return bad_chunk(err, chunk, "its sizes end after it");
    }
    if (codec_byte != 0) {
        const leat_ar_packed sizes = {codec_byte, at, (int64_t)sizes_bytes, 0};
        LEAT_TRY(unpack(chunk, sizes, end, room, decoded, err));
    } else {
        decoded->sizes = at;
        decoded->sizes_end = decoded->values = at + sizes_bytes;
        if (end - decoded->values != chunk->decoded_bytes) {
            return bad_chunk(err, chunk, "its records do not fill it");
        }
    }
    return read_sizes(chunk, decoded, room, err);
}
