/*
 * Messages and batches of a stream.
 *
 * A message is a prefix (continuation mark and metadata size; before Arrow 0.15 the size alone),
 * metadata, and a body whose size is in the metadata. A batch's metadata list field nodes and
 * buffers; every one of them is checked here once, the skipped columns' too, so that what follows
 * may use them as they are.
 */
#include <string.h>

#include "base/escape.h"
#include "format/arrow/arrow.h"

enum { MESSAGE_VERSION, MESSAGE_KIND, MESSAGE_HEADER, MESSAGE_BODY_BYTES };
enum { BATCH_ROWS, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VARIADIC };
enum { DICTIONARY_BATCH_ID, DICTIONARY_BATCH_DATA, DICTIONARY_BATCH_DELTA };
enum { COMPRESSION_CODEC, COMPRESSION_METHOD };

#define VERSION_V4 3
#define VERSION_V5 4
#define CONTINUATION 0xFFFFFFFFu
#define ROWS_MAX (INT64_C(1) << 40) /* keeps products of rows and widths from overflowing */

static leat_code damaged(const leat_arrow_stream *stream, int64_t at, const char *what,
                         leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: message at byte %lld: %s", stream->name,
                     (long long)(at - stream->begin), what);
}

/* Bytes of the stream as one piece; the caller has checked that they are inside. */
static leat_code get_bytes(leat_arrow_stream *stream, int64_t at, int64_t size,
                           const uint8_t **bytes, leat_error *err) {
    uint8_t *scratch = stream->scratch;
    if (size > stream->scratch_bytes && !leat_view_memory(stream->view)) {
        if (!stream->heap)
            return leat_fail(err, LEAT_ERR_LIMIT, "%s: message of %lld bytes", stream->name,
                             (long long)size);
        stream->heap->size = 0;
        LEAT_TRY(leat_buf_reserve(stream->heap, size, err));
        scratch = stream->heap->data;
    }
    return leat_view_bytes(stream->view, at, size, scratch, bytes, err);
}

/* The first message has a size that cannot be: records of third-party files are often something
 * else. */
static leat_code refuse_first(const leat_arrow_stream *stream, const uint8_t bytes[4],
                              leat_error *err) {
    char shown[32];
    if (bytes[0] == '{' || bytes[0] == '[') {
        leat_text_show(shown, sizeof shown, (const char *)bytes, 4);
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: not Arrow: it begins like JSON, with %s",
                         stream->name, shown);
    }
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "%s: not Arrow: it begins with the bytes %02x %02x %02x %02x; it may be a "
                     "protobuf message",
                     stream->name, bytes[0], bytes[1], bytes[2], bytes[3]);
}

/* Reads the prefix at stream->position: metadata size (0: end mark) and where metadata begin. */
static leat_code read_prefix(leat_arrow_stream *stream, int64_t *size, int64_t *metadata,
                             leat_error *err) {
    int64_t at = stream->position, left = stream->end - at;
    const uint8_t *bytes;
    uint32_t word;
    if (left < 4) return damaged(stream, at, "cut in its first bytes", err);
    LEAT_TRY(get_bytes(stream, at, left < 8 ? 4 : 8, &bytes, err));
    memcpy(&word, bytes, sizeof word);
    int64_t prefix = 4;
    if (word == CONTINUATION) {
        if (left < 8) return damaged(stream, at, "cut in its first bytes", err);
        memcpy(&word, bytes + 4, sizeof word);
        prefix = 8;
    }
    *size = word;
    *metadata = at + prefix;
    if (prefix == 4 && at == stream->begin && *size > left - prefix)
        return refuse_first(stream, bytes, err);
    if (*size > LEAT_ARROW_METADATA_MAX || *size > left - prefix)
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: message at byte %lld: %lld bytes of metadata, but %lld are left",
                         stream->name, (long long)(at - stream->begin), (long long)*size,
                         (long long)(left - prefix));
    return LEAT_OK;
}

leat_code leat_arrow_next(leat_arrow_stream *stream, leat_arrow_message *message, leat_error *err) {
    memset(message, 0, sizeof *message);
    int64_t at = stream->position, size = 0, metadata = 0;
    message->at = at;
    if (at == stream->end && at > stream->begin) return LEAT_OK; /* no end mark: allowed */
    LEAT_TRY(read_prefix(stream, &size, &metadata, err));
    if (size == 0) return LEAT_OK;
    const uint8_t *bytes;
    LEAT_TRY(get_bytes(stream, metadata, size, &bytes, err));
    leat_flat *flat = &message->flat;
    flat->data = bytes;
    flat->size = size;
    leat_flat_table root = leat_flat_root(flat);
    int64_t version = leat_flat_int(flat, &root, MESSAGE_VERSION, 2, 0);
    int64_t kind = leat_flat_int(flat, &root, MESSAGE_KIND, 1, 0);
    int64_t body_bytes = leat_flat_int(flat, &root, MESSAGE_BODY_BYTES, 8, 0);
    message->table = leat_flat_child(flat, &root, MESSAGE_HEADER);
    if (flat->broken || message->table.position == 0)
        return damaged(stream, at, "its metadata are damaged", err);
    if (version != VERSION_V4 && version != VERSION_V5)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "%s: message at byte %lld: metadata version V%lld is not supported; leat "
                         "reads V4 and V5",
                         stream->name, (long long)(at - stream->begin), (long long)version + 1);
    if (kind < LEAT_ARROW_SCHEMA || kind > LEAT_ARROW_RECORD_BATCH)
        return damaged(stream, at, "of a kind that tables do not have", err);
    if (body_bytes < 0 || body_bytes > stream->end - metadata - size)
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: message at byte %lld: body of %lld bytes, but %lld are left",
                         stream->name, (long long)(at - stream->begin), (long long)body_bytes,
                         (long long)(stream->end - metadata - size));
    message->header = (leat_arrow_header)kind;
    message->version = (int32_t)version;
    message->body = metadata + size;
    message->body_bytes = body_bytes;
    stream->position = message->body + body_bytes;
    return LEAT_OK;
}

static int64_t pair_item(const leat_flat *flat, const leat_flat_vector *pairs, int64_t index,
                         int second) {
    int64_t value;
    memcpy(&value, flat->data + pairs->position + 16 * index + 8 * second, sizeof value);
    return value;
}

/* Every buffer inside the body, at a multiple of 8 bytes. */
static const char *check_buffers(const leat_flat *flat, const leat_arrow_batch *batch) {
    for (int64_t i = 0; i < batch->buffers.count; i++) {
        int64_t offset = pair_item(flat, &batch->buffers, i, 0);
        int64_t size = pair_item(flat, &batch->buffers, i, 1);
        if (offset < 0 || size < 0 || offset > batch->body_bytes ||
            size > batch->body_bytes - offset)
            return "a buffer lies outside the body";
        if (size > 0 && offset % 8 != 0) return "a buffer is not aligned to 8 bytes";
    }
    return NULL;
}

/* Every node's counts possible; columns' own nodes as long as the batch. */
static const char *check_nodes(const leat_flat *flat, const leat_arrow_batch *batch,
                               const leat_arrow_schema *schema) {
    for (int64_t i = 0; i < batch->nodes.count; i++) {
        int64_t length = pair_item(flat, &batch->nodes, i, 0);
        int64_t nulls = pair_item(flat, &batch->nodes, i, 1);
        if (length < 0 || length > ROWS_MAX) return "a column of impossible length";
        if (nulls < 0 || nulls > length) return "a column has more nulls than rows";
        bool own = schema == NULL || (schema->top_nodes[i / 64] >> (i % 64) & 1);
        if (own && length != batch->rows) return "a column is not as long as the batch";
    }
    return NULL;
}

static const char *check_variadic(const leat_flat *flat, const leat_arrow_batch *batch,
                                  int64_t *total) {
    *total = 0;
    for (int64_t i = 0; i < batch->variadic.count; i++) {
        int64_t count;
        memcpy(&count, flat->data + batch->variadic.position + 8 * i, sizeof count);
        if (count < 0 || count > batch->buffers.count - *total)
            return "an impossible number of variadic buffers";
        *total += count;
    }
    return NULL;
}

static leat_code read_codec(const leat_arrow_stream *stream, leat_arrow_message *message,
                            const leat_flat_table *table, leat_arrow_batch *batch,
                            leat_error *err) {
    leat_flat *flat = &message->flat;
    leat_flat_table compression = leat_flat_child(flat, table, BATCH_COMPRESSION);
    batch->codec = LEAT_ARROW_CODEC_NONE;
    if (compression.position == 0) return LEAT_OK;
    int64_t codec = leat_flat_int(flat, &compression, COMPRESSION_CODEC, 1, 0);
    int64_t method = leat_flat_int(flat, &compression, COMPRESSION_METHOD, 1, 0);
    if (method != 0 || (codec != LEAT_ARROW_CODEC_LZ4 && codec != LEAT_ARROW_CODEC_ZSTD))
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "%s: message at byte %lld: body compressed by codec %lld, method %lld; "
                         "leat reads lz4 (0) and zstd (1) of single buffers (0)",
                         stream->name, (long long)(message->at - stream->begin), (long long)codec,
                         (long long)method);
    batch->codec = (leat_arrow_codec)codec;
    return LEAT_OK;
}

/* Of a dictionary batch: its id, and the table of the batch inside. */
static leat_flat_table open_dictionary(leat_arrow_message *message, leat_arrow_batch *batch) {
    leat_flat *flat = &message->flat;
    batch->dictionary_id = leat_flat_int(flat, &message->table, DICTIONARY_BATCH_ID, 8, 0);
    batch->is_delta = leat_flat_int(flat, &message->table, DICTIONARY_BATCH_DELTA, 1, 0) != 0;
    return leat_flat_child(flat, &message->table, DICTIONARY_BATCH_DATA);
}

leat_code leat_arrow_read_batch(const leat_arrow_stream *stream, const leat_arrow_schema *schema,
                                leat_arrow_message *message, leat_arrow_batch *batch,
                                leat_error *err) {
    leat_flat *flat = &message->flat;
    bool is_dictionary = message->header == LEAT_ARROW_DICTIONARY_BATCH;
    memset(batch, 0, sizeof *batch);
    batch->at = message->at;
    batch->body = message->body;
    batch->body_bytes = message->body_bytes;
    leat_flat_table table = is_dictionary ? open_dictionary(message, batch) : message->table;
    if (table.position == 0) return damaged(stream, batch->at, "its batch is missing", err);
    batch->rows = leat_flat_int(flat, &table, BATCH_ROWS, 8, 0);
    batch->nodes = leat_flat_items(flat, &table, BATCH_NODES, 16);
    batch->buffers = leat_flat_items(flat, &table, BATCH_BUFFERS, 16);
    batch->variadic = leat_flat_items(flat, &table, BATCH_VARIADIC, 8);
    LEAT_TRY(read_codec(stream, message, &table, batch, err));
    if (flat->broken) return damaged(stream, batch->at, "its metadata are damaged", err);
    if (batch->rows < 0 || batch->rows > ROWS_MAX)
        return damaged(stream, batch->at, "an impossible number of rows", err);
    if (is_dictionary && !leat_arrow_has_dictionary(schema, batch->dictionary_id))
        return damaged(stream, batch->at, "a dictionary that is not in the schema", err);
    int64_t variadic;
    const char *problem = check_variadic(flat, batch, &variadic);
    if (!problem && !is_dictionary &&
        (batch->nodes.count != schema->node_count ||
         batch->variadic.count != schema->variadic_count ||
         batch->buffers.count != schema->buffer_count + variadic))
        problem = "the columns that it lists are not the schema's";
    if (!problem) problem = check_buffers(flat, batch);
    if (!problem && !is_dictionary) problem = check_nodes(flat, batch, schema);
    return problem ? damaged(stream, batch->at, problem, err) : LEAT_OK;
}

leat_arrow_span leat_arrow_buffer(leat_arrow_message *message, const leat_arrow_batch *batch,
                                  int64_t index) {
    leat_arrow_span span = {.offset =
                                batch->body + pair_item(&message->flat, &batch->buffers, index, 0),
                            .size_bytes = pair_item(&message->flat, &batch->buffers, index, 1)};
    return span;
}

int64_t leat_arrow_values_bytes(leat_arrow_type type, int64_t rows) {
    if (leat_arrow_is_view(type)) return 16 * rows;
    /* Offsets are one more than rows; PyArrow writes none at all where there are no rows. */
    if (leat_arrow_is_text(type)) return rows == 0 ? 0 : type.bytes * (rows + 1);
    return type.bytes * rows;
}

/* Fills an array from the pieces that begin at the given node and buffer. */
static leat_code fill_array(const leat_arrow_stream *stream, leat_arrow_message *message,
                            const leat_arrow_batch *batch, int64_t node, int64_t buffer,
                            leat_arrow_array *array, leat_error *err) {
    leat_flat *flat = &message->flat;
    array->rows = batch->rows;
    array->null_count = pair_item(flat, &batch->nodes, node, 1);
    if (array->type.kind == LEAT_ARROW_NULL) return LEAT_OK;
    array->validity = leat_arrow_buffer(message, batch, buffer);
    array->values = leat_arrow_buffer(message, batch, buffer + 1);
    if (leat_arrow_is_text(array->type) && !leat_arrow_is_view(array->type))
        array->data = leat_arrow_buffer(message, batch, buffer + 2);
    if (array->null_count == 0) array->validity.size_bytes = 0; /* then its bits say nothing */
    if (array->null_count > 0 && array->validity.size_bytes == 0)
        return damaged(stream, batch->at, "a column has nulls and no validity buffer", err);
    if (batch->codec != LEAT_ARROW_CODEC_NONE) return LEAT_OK;
    if (array->null_count > 0 && array->validity.size_bytes < (array->rows + 7) / 8)
        return damaged(stream, batch->at, "a validity buffer is too short", err);
    if (array->values.size_bytes < leat_arrow_values_bytes(array->type, array->rows))
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: message at byte %lld: a buffer of %lld bytes for %lld values of "
                         "type %s",
                         stream->name, (long long)(batch->at - stream->begin),
                         (long long)array->values.size_bytes, (long long)array->rows,
                         leat_arrow_kind_text(array->type.kind));
    return LEAT_OK;
}

static int64_t variadic_before(const leat_flat *flat, const leat_arrow_batch *batch, int64_t end) {
    int64_t sum = 0, count;
    for (int64_t i = 0; i < end; i++) {
        memcpy(&count, flat->data + batch->variadic.position + 8 * i, sizeof count);
        sum += count;
    }
    return sum;
}

leat_code leat_arrow_get_array(const leat_arrow_stream *stream, const leat_arrow_column *column,
                               leat_arrow_message *message, const leat_arrow_batch *batch,
                               leat_arrow_array *array, leat_error *err) {
    memset(array, 0, sizeof *array);
    array->type.kind = LEAT_ARROW_NULL;
    array->rows = array->null_count = batch->rows;
    if (!column->present) return LEAT_OK;
    array->type = column->is_coded ? column->index : column->type;
    leat_flat *flat = &message->flat;
    int64_t skipped = variadic_before(flat, batch, column->variadic);
    int64_t buffer = column->buffer + skipped;
    if (leat_arrow_is_view(array->type)) {
        array->variadic_first = buffer + 2;
        array->variadic_count = variadic_before(flat, batch, column->variadic + 1) - skipped;
    }
    return fill_array(stream, message, batch, column->node, buffer, array, err);
}

leat_code leat_arrow_get_values(const leat_arrow_stream *stream, leat_arrow_type type,
                                leat_arrow_message *message, const leat_arrow_batch *batch,
                                leat_arrow_array *array, leat_error *err) {
    memset(array, 0, sizeof *array);
    array->type = type;
    bool view = leat_arrow_is_view(type);
    int64_t variadic = view ? variadic_before(&message->flat, batch, batch->variadic.count) : 0;
    if (batch->nodes.count != 1 || batch->variadic.count != view ||
        batch->buffers.count != (type.kind == LEAT_ARROW_NULL ? 0
                                 : view                       ? 2
                                                              : 3) +
                                    variadic)
        return damaged(stream, batch->at, "the dictionary's buffers do not match its type", err);
    const char *problem = check_nodes(&message->flat, batch, NULL);
    if (problem) return damaged(stream, batch->at, problem, err);
    array->variadic_first = 2;
    array->variadic_count = variadic;
    return fill_array(stream, message, batch, 0, 0, array, err);
}
