/*
 * The end of a file: the footer, which lists the data chunks, and the postscript, which says where
 * the footer is. A footer may list millions of chunks, so its bytes are never all in memory: they
 * are produced from the table of chunks as often as needed, once for the hash and once to be
 * written, or through the encoder into a buffer.
 */
#include <string.h>

#include "format/arrayrecord/internal.h"

/* Tag bytes: field number * 8 + wire type. */
#define TAG_FIELD_1_NUMBER 0x08
#define TAG_FIELD_2_NUMBER 0x10
#define TAG_FIELD_3_NUMBER 0x18
#define TAG_FIELD_1_BYTES 0x0a
#define TAG_FIELD_4_BYTES 0x22
#define FORMAT_VERSION 1
#define POSTSCRIPT_COPIES 3

#define HEAD_BYTES (LEAT_AR_OPTIONS_TEXT_BYTES + 64)
#define ENTRY_BYTES 40

typedef struct footer {
    const leat_ar_index *index;
    uint8_t head[HEAD_BYTES]; /* record 0 */
    int64_t head_bytes;
    int64_t sizes_bytes, values_bytes;
} footer;

static int put_number(uint8_t *bytes, uint8_t tag, uint64_t value) {
    bytes[0] = tag;
    return 1 + leat_ar_put_varint(bytes + 1, value);
}

static void make_head(footer *f, const leat_ar_options *options) {
    char text[LEAT_AR_OPTIONS_TEXT_BYTES];
    int text_bytes = leat_ar_options_text(options, text);
    uint8_t inner[HEAD_BYTES];
    int size = put_number(inner, TAG_FIELD_1_NUMBER, FORMAT_VERSION);
    size += put_number(inner + size, TAG_FIELD_2_NUMBER, (uint64_t)f->index->count);
    size += put_number(inner + size, TAG_FIELD_3_NUMBER, (uint64_t)f->index->record_count);
    size += put_number(inner + size, TAG_FIELD_4_BYTES, (uint64_t)text_bytes);
    memcpy(inner + size, text, (size_t)text_bytes);
    size += text_bytes;
    f->head_bytes = put_number(f->head, TAG_FIELD_1_BYTES, (uint64_t)size);
    memcpy(f->head + f->head_bytes, inner, (size_t)size);
    f->head_bytes += size;
}

static int64_t records_of(const leat_ar_index *index, int64_t chunk) {
    if (chunk < index->count - 1) return index->group_size;
    return index->record_count - (index->count - 1) * index->group_size;
}

static int make_entry(const leat_ar_index *index, int64_t chunk, uint8_t bytes[ENTRY_BYTES]) {
    const leat_ar_index_entry *entry = &index->entries[chunk];
    int size = put_number(bytes, TAG_FIELD_1_NUMBER, (uint64_t)entry->offset);
    size += put_number(bytes + size, TAG_FIELD_2_NUMBER, (uint64_t)entry->decoded_bytes);
    size += put_number(bytes + size, TAG_FIELD_3_NUMBER, (uint64_t)records_of(index, chunk));
    return size;
}

/* Collects small items, so that the receiver is called once for some kilobytes. */
typedef struct gather {
    leat_ar_put_fn put;
    void *context;
    uint8_t bytes[4096];
    int64_t filled;
} gather;

static leat_code gather_flush(gather *g, leat_error *err) {
    int64_t filled = g->filled;
    g->filled = 0;
    return filled == 0 ? LEAT_OK : g->put(g->context, g->bytes, filled, err);
}

static leat_code gather_put(gather *g, const void *bytes, int64_t size_bytes, leat_error *err) {
    if (g->filled + size_bytes > (int64_t)sizeof g->bytes) LEAT_TRY(gather_flush(g, err));
    memcpy(g->bytes + g->filled, bytes, (size_t)size_bytes);
    g->filled += size_bytes;
    return LEAT_OK;
}

/* The sizes of all records of the footer, as varints. */
static leat_code produce_sizes(const footer *f, leat_ar_put_fn put, void *context,
                               leat_error *err) {
    gather g = {.put = put, .context = context};
    uint8_t bytes[ENTRY_BYTES];
    int size = leat_ar_put_varint(bytes, (uint64_t)f->head_bytes);
    LEAT_TRY(gather_put(&g, bytes, size, err));
    for (int64_t i = 0; i < f->index->count; i++) {
        uint8_t length = (uint8_t)make_entry(f->index, i, bytes);
        LEAT_TRY(gather_put(&g, &length, 1, err));
    }
    return gather_flush(&g, err);
}

static leat_code produce_values(const footer *f, leat_ar_put_fn put, void *context,
                                leat_error *err) {
    gather g = {.put = put, .context = context};
    LEAT_TRY(gather_put(&g, f->head, f->head_bytes, err));
    for (int64_t i = 0; i < f->index->count; i++) {
        uint8_t bytes[ENTRY_BYTES];
        LEAT_TRY(gather_put(&g, bytes, make_entry(f->index, i, bytes), err));
    }
    return gather_flush(&g, err);
}

static void measure(footer *f) {
    f->sizes_bytes = leat_ar_varint_bytes((uint64_t)f->head_bytes) + f->index->count;
    f->values_bytes = f->head_bytes;
    for (int64_t i = 0; i < f->index->count; i++) {
        uint8_t bytes[ENTRY_BYTES];
        f->values_bytes += make_entry(f->index, i, bytes);
    }
}

static leat_code put_hash(void *hash, const void *bytes, int64_t size_bytes, leat_error *err) {
    (void)err;
    leat_highwayhash_update(hash, bytes, size_bytes);
    return LEAT_OK;
}

static leat_code produce_plain(const footer *f, leat_ar_put_fn put, void *context,
                               leat_error *err) {
    uint8_t front[1 + LEAT_AR_VARINT_BYTES] = {0};
    int size = 1 + leat_ar_put_varint(front + 1, (uint64_t)f->sizes_bytes);
    LEAT_TRY(put(context, front, size, err));
    LEAT_TRY(produce_sizes(f, put, context, err));
    return produce_values(f, put, context, err);
}

static leat_code emit_plain(leat_ar_emitter *emitter, const footer *f, leat_ar_chunk *chunk,
                            leat_error *err) {
    leat_highwayhash hash;
    leat_highwayhash_init(&hash);
    LEAT_TRY(produce_plain(f, put_hash, &hash, err));
    chunk->data_hash = leat_highwayhash_final(&hash);
    chunk->data_bytes =
        1 + leat_ar_varint_bytes((uint64_t)f->sizes_bytes) + f->sizes_bytes + f->values_bytes;
    LEAT_TRY(leat_ar_emit_begin(emitter, chunk, err));
    LEAT_TRY(produce_plain(f, leat_ar_emit_data, emitter, err));
    return leat_ar_emit_end(emitter, err);
}

typedef leat_code (*produce_fn)(const footer *f, leat_ar_put_fn put, void *context,
                                leat_error *err);
/* Appends the varint of the size and the compressed stream. */
static leat_code encode(leat_ar_encoder *encoder, const footer *f, produce_fn produce,
                        int64_t size_bytes, leat_buf *out, leat_error *err) {
    uint8_t prefix[LEAT_AR_VARINT_BYTES];
    int length = leat_ar_put_varint(prefix, (uint64_t)size_bytes);
    LEAT_TRY(leat_buf_append(out, prefix, length, err));
    LEAT_TRY(leat_ar_encoder_begin(encoder, size_bytes, leat_ar_put_buf, out, err));
    LEAT_TRY(produce(f, leat_ar_put_encoder, encoder, err));
    return leat_ar_encoder_end(encoder, err);
}

static leat_code emit_encoded(leat_ar_emitter *emitter, const footer *f,
                              leat_compression compression, leat_ar_encoder *encoder,
                              leat_ar_chunk *chunk, leat_error *err) {
    leat_buf sizes = {0}, values = {0};
    leat_code code = encode(encoder, f, produce_sizes, f->sizes_bytes, &sizes, err);
    if (code == LEAT_OK) {
        code = encode(encoder, f, produce_values, f->values_bytes, &values, err);
    }
    if (code == LEAT_OK) {
        uint8_t codec_byte = leat_ar_codec_byte(compression);
        code = leat_ar_emit_packed(emitter, chunk, codec_byte, &sizes, &values, err);
    }
    leat_buf_free(&sizes);
    leat_buf_free(&values);
    return code;
}

static leat_code emit_postscript(leat_ar_emitter *emitter, int64_t footer_offset, leat_error *err) {
    uint8_t message[32], data[8 + POSTSCRIPT_COPIES * sizeof message] = {0, POSTSCRIPT_COPIES};
    int size = put_number(message, TAG_FIELD_1_NUMBER, (uint64_t)footer_offset);
    size += put_number(message + size, TAG_FIELD_2_NUMBER, LEAT_AR_MAGIC);
    int64_t at = 2;
    for (int i = 0; i < POSTSCRIPT_COPIES; i++) data[at++] = (uint8_t)size;
    for (int i = 0; i < POSTSCRIPT_COPIES; i++, at += size) {
        memcpy(data + at, message, (size_t)size);
    }
    leat_ar_chunk chunk = {.type = LEAT_AR_CHUNK_SIMPLE,
                           .data_bytes = at,
                           .data_hash = leat_highwayhash_of(data, at),
                           .record_count = POSTSCRIPT_COPIES,
                           .decoded_bytes = POSTSCRIPT_COPIES * size};
    LEAT_TRY(leat_ar_emit_begin(emitter, &chunk, err));
    LEAT_TRY(leat_ar_emit_data(emitter, data, at, err));
    return leat_ar_emit_end(emitter, err);
}

leat_code leat_ar_emit_footer(leat_ar_emitter *emitter, const leat_ar_options *options,
                              leat_ar_encoder *encoder, const leat_ar_index *index,
                              leat_error *err) {
    footer f = {.index = index};
    make_head(&f, options);
    measure(&f);
    leat_ar_chunk chunk = {.type = LEAT_AR_CHUNK_SIMPLE,
                           .record_count = 1 + index->count,
                           .decoded_bytes = f.values_bytes};
    if (encoder == NULL) LEAT_TRY(emit_plain(emitter, &f, &chunk, err));
    else LEAT_TRY(emit_encoded(emitter, &f, options->compression, encoder, &chunk, err));
    LEAT_TRY(leat_ar_emit_padding(emitter, err));
    LEAT_TRY(emit_postscript(emitter, chunk.begin, err));
    return leat_ar_emit_padding(emitter, err);
}
