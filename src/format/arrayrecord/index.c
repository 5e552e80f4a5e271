/*
 * Opening: from the end of the file to its table of chunks. The postscript is at a fixed position
 * and records where the footer is; the footer lists the chunks. Both are covered by hashes, but
 * their contents may still be invalid, so everything that later reading relies on is checked here,
 * once: positions that ascend, counts that add up.
 */
#include <string.h>

#include "format/arrayrecord/internal.h"

#define BLOCK LEAT_AR_BLOCK_BYTES
/* The signature chunk with its block header. */
#define FIRST_CHUNK_AT 64
#define FORMAT_VERSION 1

/* ---- messages: fields in any order, unknown ones skipped, the last of its number counts ---- */

#define WIRE_NUMBER 0
#define WIRE_64 1
#define WIRE_BYTES 2
#define WIRE_32 5

typedef struct field {
    uint64_t number, value; /* value: of a number */
    int wire;
    const uint8_t *bytes, *bytes_end; /* of bytes */
} field;

/* Moves *at past one field; false if there is no valid field. */
static bool take_field(const uint8_t **at, const uint8_t *end, field *f) {
    uint64_t tag = 0, length = 0;
    if (!leat_ar_take_varint(at, end, &tag)) return false;
    f->number = tag >> 3;
    f->wire = (int)(tag & 7);
    switch (f->wire) {
    case WIRE_NUMBER: return leat_ar_take_varint(at, end, &f->value);
    case WIRE_64: length = 8; break;
    case WIRE_32: length = 4; break;
    case WIRE_BYTES:
        if (!leat_ar_take_varint(at, end, &length)) return false;
        break;
    default: return false;
    }
    if (length > (uint64_t)(end - *at)) return false;
    f->bytes = *at;
    *at += length;
    f->bytes_end = *at;
    return true;
}

/* Numbers of the fields 1 to 3; -1 if missing. false: malformed, or a number of 2^63 or
 * more. */
static bool read_numbers(const uint8_t *at, const uint8_t *end, int64_t values[3]) {
    values[0] = values[1] = values[2] = -1;
    /* Fields 1, 2, 3 in their order: so writers put them, and a footer may have millions. */
    for (int i = 0; i < 3 && at < end && *at == 8 * (i + 1); i++) {
        uint64_t value = 0;
        at++;
        if (!leat_ar_take_varint(&at, end, &value) || value > INT64_MAX) return false;
        values[i] = (int64_t)value;
    }
    while (at < end) {
        field f;
        if (!take_field(&at, end, &f)) return false;
        if (f.wire != WIRE_NUMBER || f.number < 1 || f.number > 3) continue;
        if (f.value > INT64_MAX) return false;
        values[f.number - 1] = (int64_t)f.value;
    }
    return true;
}

/* ---- postscript ---- */

static leat_code read_postscript(const leat_ar_bytes *bytes, leat_ar_room *room,
                                 leat_ar_table *table, leat_error *err) {
    leat_ar_chunk chunk;
    leat_ar_decoded decoded;
    int64_t at = bytes->size_bytes - BLOCK, values[3];
    LEAT_TRY(leat_ar_chunk_read(bytes, at, bytes->size_bytes, &chunk, err));
    LEAT_TRY(leat_ar_chunk_decode(bytes, &chunk, BLOCK, room, &decoded, err));
    table->prefix_wrong |= decoded.prefix_wrong;
    table->postscript_count = chunk.record_count;
    table->postscripts_equal = true;
    const int64_t *starts = room->starts;
    for (int64_t i = 1; i < chunk.record_count; i++) {
        table->postscripts_equal &=
            starts[i + 1] - starts[i] == starts[1] &&
            memcmp(decoded.values + starts[i], decoded.values, (size_t)starts[1]) == 0;
    }
    if (chunk.record_count < 1 ||
        !read_numbers(decoded.values, decoded.values + starts[1], values) || values[0] < 0 ||
        (uint64_t)values[1] != LEAT_AR_MAGIC) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "chunk at byte %lld: no postscript", (long long)at);
    }
    table->footer_offset = values[0];
    if (!leat_ar_position_legal(values[0]) || values[0] < FIRST_CHUNK_AT || values[0] >= at) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "the postscript puts the footer at byte %lld",
                         (long long)values[0]);
    }
    return LEAT_OK;
}

/* ---- footer ---- */

static leat_code bad_footer(leat_error *err, const leat_ar_table *table, const char *what) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "footer at byte %lld: %s",
                     (long long)table->footer_offset, what);
}

static leat_code keep_options(leat_ar_table *table, const field *f, leat_error *err) {
    int64_t size = f->bytes_end - f->bytes;
    if (size > LEAT_AR_OPTIONS_TEXT_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "footer at byte %lld: writer options of %lld bytes",
                         (long long)table->footer_offset, (long long)size);
    }
    leat_free(table->writer_options);
    table->writer_options = NULL;
    LEAT_TRY(leat_alloc((void **)&table->writer_options, size + 1, 1, err));
    memcpy(table->writer_options, f->bytes, (size_t)size);
    return LEAT_OK;
}

/* The footer's first record: how many chunks and records there are. */
static leat_code read_head(const uint8_t *at, const uint8_t *end, leat_ar_table *table,
                           int64_t *chunk_count, leat_error *err) {
    const uint8_t *inner = NULL, *inner_end = NULL;
    int64_t values[3];
    while (at < end) {
        field f;
        if (!take_field(&at, end, &f)) return bad_footer(err, table, "malformed message");
        if (f.number != 1 || f.wire != WIRE_BYTES) continue;
        inner = f.bytes;
        inner_end = f.bytes_end;
    }
    if (inner == NULL || !read_numbers(inner, inner_end, values)) {
        return bad_footer(err, table, "not the metadata of an ArrayRecord file");
    }
    if (values[0] != FORMAT_VERSION) {
        return leat_fail(
            err, LEAT_ERR_UNSUPPORTED,
            "footer at byte %lld: format version %lld is not supported; leat reads version 1",
            (long long)table->footer_offset, (long long)values[0]);
    }
    for (at = inner; at < inner_end;) {
        field f;
        if (!take_field(&at, inner_end, &f)) return bad_footer(err, table, "malformed message");
        if (f.number == 4 && f.wire == WIRE_BYTES) LEAT_TRY(keep_options(table, &f, err));
    }
    /* an absent count is 0 */
    *chunk_count = values[1] < 0 ? 0 : values[1];
    table->index.record_count = values[2] < 0 ? 0 : values[2];
    return LEAT_OK;
}

/* One entry; `previous` is the offset of the one before. */
static leat_code read_entry(const uint8_t *at, const uint8_t *end, leat_ar_table *table,
                            int64_t number, leat_error *err) {
    int64_t values[3];
    leat_ar_index *index = &table->index;
    int64_t least = number == 0 ? FIRST_CHUNK_AT
                                : index->entries[number - 1].offset + LEAT_AR_CHUNK_HEADER_BYTES;
    if (!read_numbers(at, end, values)) return bad_footer(err, table, "malformed entry");
    if (number == 0) {
        if (values[2] < 1) return bad_footer(err, table, "its first entry has no record count");
        index->group_size = values[2];
        int64_t chunks = index->record_count / values[2] + (index->record_count % values[2] != 0);
        if (chunks != index->count) {
            return bad_footer(err, table, "numbers of chunks and records do not fit");
        }
    }
    if (values[0] < least || !leat_ar_position_legal(values[0]) ||
        values[0] > table->footer_offset - LEAT_AR_CHUNK_HEADER_BYTES) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "footer at byte %lld: chunk %lld cannot be at %lld",
                         (long long)table->footer_offset, (long long)number, (long long)values[0]);
    }
    if (values[2] >= 0 && values[2] != leat_ar_table_records(table, number)) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "footer at byte %lld: chunk %lld has %lld records, not %lld",
                         (long long)table->footer_offset, (long long)number, (long long)values[2],
                         (long long)leat_ar_table_records(table, number));
    }
    index->entries[number] = (leat_ar_index_entry){values[0], values[1] < 0 ? -1 : values[1]};
    return LEAT_OK;
}

static leat_code read_entries(const leat_ar_decoded *decoded, const int64_t *starts,
                              int64_t entry_count, int64_t chunk_count, leat_ar_table *table,
                              leat_error *err) {
    if (chunk_count > entry_count) {
        return bad_footer(err, table, "fewer entries than chunks");
    }
    if (chunk_count == 0 && table->index.record_count != 0) {
        return bad_footer(err, table, "records but no chunks");
    }
    table->extra_entries = entry_count - chunk_count;
    LEAT_TRY(LEAT_NEW(&table->index.entries, chunk_count, err));
    table->index.count = table->index.capacity = chunk_count;
    for (int64_t i = 0; i < chunk_count; i++) {
        const uint8_t *at = decoded->values + starts[i + 1];
        LEAT_TRY(read_entry(at, decoded->values + starts[i + 2], table, i, err));
    }
    return LEAT_OK;
}

static leat_code read_footer(const leat_ar_bytes *bytes, leat_ar_room *room, leat_ar_table *table,
                             leat_error *err) {
    leat_ar_chunk chunk;
    leat_ar_decoded decoded;
    int64_t chunk_count = 0;
    LEAT_TRY(
        leat_ar_chunk_read(bytes, table->footer_offset, bytes->size_bytes - BLOCK, &chunk, err));
    LEAT_TRY(leat_ar_chunk_decode(bytes, &chunk, LEAT_AR_FOOTER_BYTES_MAX, room, &decoded, err));
    table->prefix_wrong |= decoded.prefix_wrong;
    table->footer_end = chunk.end;
    if (chunk.record_count < 1) return bad_footer(err, table, "it is empty");
    LEAT_TRY(read_head(decoded.values, decoded.values + room->starts[1], table, &chunk_count, err));
    room->need_bytes += chunk.record_count * (int64_t)sizeof(leat_ar_index_entry);
    if (room->memory_max > 0 && room->need_bytes > room->memory_max) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "footer at byte %lld: its %lld entries require %lld MiB of memory, but "
                         "%lld MiB are left",
                         (long long)table->footer_offset, (long long)chunk.record_count,
                         (long long)(room->need_bytes >> 20) + 1,
                         (long long)(room->memory_max >> 20));
    }
    return read_entries(&decoded, room->starts, chunk.record_count - 1, chunk_count, table, err);
}

int64_t leat_ar_table_records(const leat_ar_table *table, int64_t index) {
    const leat_ar_index *t = &table->index;
    if (index < t->count - 1) return t->group_size;
    return t->record_count - (t->count - 1) * t->group_size;
}

void leat_ar_table_free(leat_ar_table *table) {
    leat_free(table->index.entries);
    leat_free(table->writer_options);
    *table = (leat_ar_table){0};
}

leat_code leat_ar_table_read(const leat_ar_bytes *bytes, leat_ar_room *room, leat_ar_table *table,
                             leat_error *err) {
    *table = (leat_ar_table){0};
    int64_t size = bytes->size_bytes;
    if (size < 2 * BLOCK || size % BLOCK != 0) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "its size of %lld bytes is not a multiple of 65536 and at least 131072: "
                         "it is truncated, unfinished, or not an ArrayRecord file",
                         (long long)size);
    }
    leat_code code = read_postscript(bytes, room, table, err);
    if (code == LEAT_OK) code = read_footer(bytes, room, table, err);
    if (code != LEAT_OK) leat_ar_table_free(table);
    return code;
}
