/*
 * The writer on a sink: records gathered into chunks, chunks handed to the emitter, their places
 * kept for the footer (16 bytes a chunk). With one record a chunk and no compression, the usual
 * case, a record is read in place: once for the hash, once for the sink.
 */
#include "format/arrayrecord/internal.h"

/* Where records are gathered into chunks: our readers take chunks of up to this by default. */
#define GROUP_BYTES_MAX (INT64_C(1) << 31)

static leat_code write_signature(leat_ar_emitter *emitter, leat_error *err) {
    leat_ar_chunk chunk = {.type = LEAT_AR_CHUNK_SIGNATURE,
                           .data_hash = leat_highwayhash_of(NULL, 0)};
    LEAT_TRY(leat_ar_emit_begin(emitter, &chunk, err));
    return leat_ar_emit_end(emitter, err);
}

leat_code leat_ar_sink_writer_create(leat_ar_sink_writer **out, leat_sink *sink,
                                     const leat_ar_options *options, leat_error *err) {
    *out = NULL;
    leat_ar_options checked;
    LEAT_TRY(leat_ar_options_check(options, &checked, err));
    LEAT_ASSERT(leat_sink_position(sink) == 0);
    leat_ar_sink_writer *writer = NULL;
    LEAT_TRY(LEAT_NEW(&writer, 1, err));
    writer->options = checked;
    writer->emitter.sink = sink;
    writer->index.group_size = checked.group_size;
    leat_code code = LEAT_OK;
    if (checked.compression != LEAT_COMPRESSION_NONE) {
        code = leat_ar_encoder_create(&writer->encoder, checked.compression, checked.level, err);
    }
    if (code == LEAT_OK) code = write_signature(&writer->emitter, err);
    if (code != LEAT_OK) {
        leat_ar_sink_writer_destroy(writer);
        return code;
    }
    *out = writer;
    return LEAT_OK;
}

void leat_ar_sink_writer_destroy(leat_ar_sink_writer *writer) {
    if (writer == NULL) return;
    leat_ar_encoder_destroy(writer->encoder);
    leat_free(writer->index.entries);
    leat_buf_free(&writer->sizes);
    leat_buf_free(&writer->values);
    leat_buf_free(&writer->packed_sizes);
    leat_buf_free(&writer->packed_values);
    leat_free(writer);
}

leat_code leat_ar_writer_usable(const leat_ar_sink_writer *writer, leat_error *err) {
    if (writer->failed != LEAT_OK) {
        return leat_fail(err, writer->failed,
                         "cannot continue to write: an earlier write to this file failed");
    }
    if (writer->finished) {
        return leat_fail(err, LEAT_ERR_INPUT, "cannot continue to write: this file is finished");
    }
    return LEAT_OK;
}

leat_code leat_ar_expect_chunk(leat_ar_sink_writer *writer, leat_error *err) {
    leat_ar_index *index = &writer->index;
    return LEAT_GROW(&index->entries, &index->capacity, index->count + 1, err);
}

leat_code leat_ar_note_chunk(leat_ar_sink_writer *writer, const leat_ar_chunk *chunk,
                             leat_error *err) {
    leat_ar_index *index = &writer->index;
    index->entries[index->count++] = (leat_ar_index_entry){chunk->begin, chunk->decoded_bytes};
    index->record_count += chunk->record_count;
    return writer->options.pad_to_block_boundary ? leat_ar_emit_padding(&writer->emitter, err)
                                                 : LEAT_OK;
}

leat_code leat_ar_pack(leat_ar_encoder *encoder, const void *bytes, int64_t size_bytes,
                       leat_buf *out, leat_error *err) {
    uint8_t prefix[LEAT_AR_VARINT_BYTES];
    int prefix_bytes = leat_ar_put_varint(prefix, (uint64_t)size_bytes);
    out->size = 0;
    LEAT_TRY(leat_buf_append(out, prefix, prefix_bytes, err));
    LEAT_TRY(leat_ar_encoder_begin(encoder, size_bytes, leat_ar_put_buf, out, err));
    LEAT_TRY(leat_ar_encoder_put(encoder, bytes, size_bytes, err));
    return leat_ar_encoder_end(encoder, err);
}

/* An uncompressed chunk: what comes before the records, then the records. */
static leat_code write_plain(leat_ar_sink_writer *writer, leat_ar_chunk *chunk,
                             const uint8_t *front, int64_t front_bytes, const leat_buf *sizes,
                             const void *values, leat_error *err) {
    int64_t sizes_bytes = sizes == NULL ? 0 : sizes->size;
    leat_highwayhash hash;
    leat_highwayhash_init(&hash);
    leat_highwayhash_update(&hash, front, front_bytes);
    if (sizes != NULL) leat_highwayhash_update(&hash, sizes->data, sizes_bytes);
    leat_highwayhash_update(&hash, values, chunk->decoded_bytes);
    chunk->data_hash = leat_highwayhash_final(&hash);
    chunk->data_bytes = front_bytes + sizes_bytes + chunk->decoded_bytes;
    leat_ar_emitter *emitter = &writer->emitter;
    LEAT_TRY(leat_ar_emit_begin(emitter, chunk, err));
    LEAT_TRY(leat_ar_emit_data(emitter, front, front_bytes, err));
    if (sizes != NULL) LEAT_TRY(leat_ar_emit_data(emitter, sizes->data, sizes_bytes, err));
    LEAT_TRY(leat_ar_emit_data(emitter, values, chunk->decoded_bytes, err));
    return leat_ar_emit_end(emitter, err);
}

static leat_code write_packed(leat_ar_sink_writer *writer, leat_ar_chunk *chunk, const void *sizes,
                              int64_t sizes_bytes, const void *values, leat_error *err) {
    leat_buf *packed_sizes = &writer->packed_sizes, *packed_values = &writer->packed_values;
    LEAT_TRY(leat_ar_pack(writer->encoder, sizes, sizes_bytes, packed_sizes, err));
    LEAT_TRY(leat_ar_pack(writer->encoder, values, chunk->decoded_bytes, packed_values, err));
    return leat_ar_emit_packed(&writer->emitter, chunk,
                               leat_ar_codec_byte(writer->options.compression), packed_sizes,
                               packed_values, err);
}

static leat_code write_record(leat_ar_sink_writer *writer, const void *record, int64_t size_bytes,
                              leat_error *err) {
    leat_ar_chunk chunk = {
        .type = LEAT_AR_CHUNK_SIMPLE, .record_count = 1, .decoded_bytes = size_bytes};
    uint8_t front[LEAT_AR_FRONT_BYTES];
    int front_bytes = leat_ar_record_front(front, size_bytes);
    LEAT_TRY(leat_ar_expect_chunk(writer, err));
    if (writer->encoder == NULL) {
        LEAT_TRY(write_plain(writer, &chunk, front, front_bytes, NULL, record, err));
    } else {
        LEAT_TRY(write_packed(writer, &chunk, front + 2, front_bytes - 2, record, err));
    }
    return leat_ar_note_chunk(writer, &chunk, err);
}

static leat_code write_group(leat_ar_sink_writer *writer, leat_error *err) {
    leat_ar_chunk chunk = {.type = LEAT_AR_CHUNK_SIMPLE,
                           .record_count = writer->group_count,
                           .decoded_bytes = writer->values.size};
    LEAT_TRY(leat_ar_expect_chunk(writer, err));
    if (writer->encoder == NULL) {
        uint8_t front[1 + LEAT_AR_VARINT_BYTES] = {0};
        int front_bytes = 1 + leat_ar_put_varint(front + 1, (uint64_t)writer->sizes.size);
        LEAT_TRY(write_plain(writer, &chunk, front, front_bytes, &writer->sizes,
                             writer->values.data, err));
    } else {
        LEAT_TRY(write_packed(writer, &chunk, writer->sizes.data, writer->sizes.size,
                              writer->values.data, err));
    }
    LEAT_TRY(leat_ar_note_chunk(writer, &chunk, err));
    writer->group_count = 0;
    writer->sizes.size = writer->values.size = 0;
    return LEAT_OK;
}

static leat_code gather(leat_ar_sink_writer *writer, const void *record, int64_t size_bytes,
                        leat_error *err) {
    uint8_t size[LEAT_AR_VARINT_BYTES];
    if (size_bytes > GROUP_BYTES_MAX - writer->values.size) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "a chunk of %d records has more than %lld bytes; use a smaller group_size",
                         (int)writer->options.group_size, (long long)GROUP_BYTES_MAX);
    }
    LEAT_TRY(
        leat_buf_append(&writer->sizes, size, leat_ar_put_varint(size, (uint64_t)size_bytes), err));
    LEAT_TRY(leat_buf_append(&writer->values, record, size_bytes, err));
    writer->group_count++;
    return writer->group_count == writer->options.group_size ? write_group(writer, err) : LEAT_OK;
}

leat_code leat_ar_sink_writer_append(leat_ar_sink_writer *writer, const void *record,
                                     int64_t size_bytes, leat_ar_place *place, leat_error *err) {
    if (place != NULL) *place = (leat_ar_place){0};
    LEAT_ASSERT(size_bytes >= 0);
    LEAT_TRY(leat_ar_writer_usable(writer, err));
    bool alone = writer->options.group_size == 1;
    leat_ar_place found = {.chunk_offset = alone ? writer->emitter.position : -1,
                           .record_index = writer->index.record_count + writer->group_count,
                           .index_in_chunk = writer->group_count,
                           .size_bytes = size_bytes};
    leat_code code = alone ? write_record(writer, record, size_bytes, err)
                           : gather(writer, record, size_bytes, err);
    writer->failed = code;
    if (code == LEAT_OK && place != NULL) *place = found;
    return code;
}

static leat_code finish(leat_ar_sink_writer *writer, leat_error *err) {
    if (writer->group_count > 0) LEAT_TRY(write_group(writer, err));
    return leat_ar_emit_footer(&writer->emitter, &writer->options, writer->encoder, &writer->index,
                               err);
}

leat_code leat_ar_sink_writer_finish(leat_ar_sink_writer *writer, leat_error *err) {
    LEAT_TRY(leat_ar_writer_usable(writer, err));
    writer->failed = finish(writer, err);
    writer->finished = writer->failed == LEAT_OK;
    return writer->failed;
}
