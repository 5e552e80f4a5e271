/*
 * A record that does not fit in memory. The header of its chunk holds the size and the hash of what
 * follows, so the record is processed twice: uncompressed, the caller produces it twice;
 * compressed, it is written to an unnamed temporary file while it is hashed, and copied from there
 * to the sink.
 */
#include <stdio.h>
#include <string.h>

#include "format/arrayrecord/internal.h"

#define COPY_BYTES (256 * 1024)

/* Passes on what the caller produces, counted and hashed after `front`. */
typedef struct counter {
    const uint8_t *front;
    int64_t front_bytes;
    int64_t left;
    leat_highwayhash hash;
    leat_ar_put_fn put; /* NULL: only the hash is wanted */
    void *context;
} counter;

static leat_code count_put(void *counter_pointer, const void *bytes, int64_t size_bytes,
                           leat_error *err) {
    counter *c = counter_pointer;
    LEAT_ASSERT(size_bytes >= 0);
    if (size_bytes > c->left) {
        return leat_fail(err, LEAT_ERR_INPUT, "the record has more bytes than announced");
    }
    c->left -= size_bytes;
    leat_highwayhash_update(&c->hash, bytes, size_bytes);
    return c->put == NULL ? LEAT_OK : c->put(c->context, bytes, size_bytes, err);
}

/* One pass: exactly the bytes of the record. */
static leat_code pass(const leat_ar_stream *record, counter *c, uint64_t *hash, leat_error *err) {
    c->left = record->size_bytes;
    leat_highwayhash_init(&c->hash);
    leat_highwayhash_update(&c->hash, c->front, c->front_bytes);
    LEAT_TRY(record->produce(record->context, count_put, c, err));
    if (c->left != 0) {
        return leat_fail(err, LEAT_ERR_INPUT, "the record has %lld bytes fewer than announced",
                         (long long)c->left);
    }
    *hash = leat_highwayhash_final(&c->hash);
    return LEAT_OK;
}

static leat_code stream_plain(leat_ar_sink_writer *writer, leat_ar_chunk *chunk,
                              const leat_ar_stream *record, leat_error *err) {
    uint8_t front[LEAT_AR_FRONT_BYTES];
    int front_bytes = leat_ar_record_front(front, chunk->decoded_bytes);
    leat_ar_emitter *emitter = &writer->emitter;
    counter first = {.front = front, .front_bytes = front_bytes};
    counter second = first;
    second.put = leat_ar_emit_data;
    second.context = emitter;
    uint64_t again = 0;
    LEAT_TRY(pass(record, &first, &chunk->data_hash, err));
    chunk->data_bytes = front_bytes + chunk->decoded_bytes;
    LEAT_TRY(leat_ar_emit_begin(emitter, chunk, err));
    LEAT_TRY(leat_ar_emit_data(emitter, front, front_bytes, err));
    LEAT_TRY(pass(record, &second, &again, err));
    if (again != chunk->data_hash) {
        return leat_fail(err, LEAT_ERR_INPUT, "a record's bytes differ on the second pass");
    }
    return leat_ar_emit_end(emitter, err);
}

/* Where compressed bytes go: hash and file. */
typedef struct spill {
    leat_file *file;
    int64_t size_bytes;
    leat_highwayhash hash;
} spill;

static leat_code spill_put(void *spill_pointer, const void *bytes, int64_t size_bytes,
                           leat_error *err) {
    spill *s = spill_pointer;
    leat_highwayhash_update(&s->hash, bytes, size_bytes);
    LEAT_TRY(leat_file_pwrite(s->file, bytes, size_bytes, s->size_bytes, err));
    s->size_bytes += size_bytes;
    return LEAT_OK;
}

/* The chunk's data up to the compressed record: codec, sizes, and the record's size. */
static leat_code pack_front(leat_ar_sink_writer *writer, int64_t size_bytes, leat_buf *front,
                            leat_error *err) {
    uint8_t number[LEAT_AR_VARINT_BYTES];
    uint8_t codec_byte = leat_ar_codec_byte(writer->options.compression);
    int number_bytes = leat_ar_put_varint(number, (uint64_t)size_bytes);
    leat_buf *sizes = &writer->packed_sizes;
    LEAT_TRY(leat_ar_pack(writer->encoder, number, number_bytes, sizes, err));
    front->size = 0;
    LEAT_TRY(leat_buf_append(front, &codec_byte, 1, err));
    int length_bytes = leat_ar_put_varint(number, (uint64_t)sizes->size);
    LEAT_TRY(leat_buf_append(front, number, length_bytes, err));
    LEAT_TRY(leat_buf_append(front, sizes->data, sizes->size, err));
    number_bytes = leat_ar_put_varint(number, (uint64_t)size_bytes);
    return leat_buf_append(front, number, number_bytes, err);
}

static leat_code copy_spill(leat_ar_emitter *emitter, const spill *s, leat_error *err) {
    uint8_t *piece = NULL;
    LEAT_TRY(leat_alloc((void **)&piece, COPY_BYTES, 1, err));
    leat_code code = LEAT_OK;
    for (int64_t at = 0; at < s->size_bytes && code == LEAT_OK; at += COPY_BYTES) {
        int64_t step = s->size_bytes - at < COPY_BYTES ? s->size_bytes - at : COPY_BYTES;
        code = leat_file_pread(s->file, piece, step, at, err);
        if (code == LEAT_OK) code = leat_ar_emit_data(emitter, piece, step, err);
    }
    leat_free(piece);
    return code;
}

static leat_code stream_packed(leat_ar_sink_writer *writer, leat_ar_chunk *chunk, spill *s,
                               const leat_ar_stream *record, leat_error *err) {
    leat_buf *front = &writer->packed_values;
    leat_ar_emitter *emitter = &writer->emitter;
    counter c = {.put = leat_ar_put_encoder, .context = writer->encoder};
    uint64_t unused = 0;
    LEAT_TRY(pack_front(writer, chunk->decoded_bytes, front, err));
    leat_highwayhash_init(&s->hash);
    leat_highwayhash_update(&s->hash, front->data, front->size);
    LEAT_TRY(leat_ar_encoder_begin(writer->encoder, chunk->decoded_bytes, spill_put, s, err));
    LEAT_TRY(pass(record, &c, &unused, err));
    LEAT_TRY(leat_ar_encoder_end(writer->encoder, err));
    chunk->data_bytes = front->size + s->size_bytes;
    chunk->data_hash = leat_highwayhash_final(&s->hash);
    LEAT_TRY(leat_ar_emit_begin(emitter, chunk, err));
    LEAT_TRY(leat_ar_emit_data(emitter, front->data, front->size, err));
    LEAT_TRY(copy_spill(emitter, s, err));
    return leat_ar_emit_end(emitter, err);
}

static leat_code stream_record(leat_ar_sink_writer *writer, const leat_ar_stream *record,
                               const char *temp_dir, leat_error *err) {
    leat_ar_chunk chunk = {
        .type = LEAT_AR_CHUNK_SIMPLE, .record_count = 1, .decoded_bytes = record->size_bytes};
    LEAT_TRY(leat_ar_expect_chunk(writer, err));
    if (writer->encoder == NULL) {
        LEAT_TRY(stream_plain(writer, &chunk, record, err));
    } else {
        spill s = {0};
        LEAT_TRY(leat_file_open_nameless(&s.file, temp_dir, err));
        leat_code code = stream_packed(writer, &chunk, &s, record, err);
        leat_file_close(s.file);
        LEAT_TRY(code);
    }
    return leat_ar_note_chunk(writer, &chunk, err);
}

leat_code leat_ar_sink_writer_append_stream(leat_ar_sink_writer *writer,
                                            const leat_ar_stream *record, const char *temp_dir,
                                            leat_ar_place *place, leat_error *err) {
    if (place != NULL) *place = (leat_ar_place){0};
    LEAT_ASSERT(record->size_bytes >= 0);
    LEAT_TRY(leat_ar_writer_usable(writer, err));
    if (writer->options.group_size != 1) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a streamed record requires group_size 1, but this file has %d",
                         (int)writer->options.group_size);
    }
    leat_ar_place found = {.chunk_offset = writer->emitter.position,
                           .record_index = writer->index.record_count,
                           .size_bytes = record->size_bytes};
    leat_code code = stream_record(writer, record, temp_dir, err);
    writer->failed = code;
    if (code == LEAT_OK && place != NULL) *place = found;
    return code;
}
