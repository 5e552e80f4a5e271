/*
 * The public reader. A reader is the table of chunks and an open file, and does not change;
 * everything that must be kept while reading is in the caller's record. So threads share a reader
 * without locks.
 */
#include <string.h>

#include "base/thread.h"
#include "format/arrayrecord/internal.h"

#define CHUNK_BYTES_DEFAULT (INT64_C(1) << 31)
/* Beyond any file that there is; keeps sums of such numbers far from overflow. */
#define CHUNK_BYTES_MAX (INT64_C(1) << 40)

struct leat_ar_reader {
    leat_ar_source source;
    leat_ar_table table;
    int64_t max_chunk_bytes;
    int64_t memory_max; /* what reading a record may take; 0: no limit */
    int64_t opened_ns;  /* distinguishes a reader from an earlier one at the same address */
    char name[256];     /* for messages */
};

/* ---- where bytes come from ---- */

leat_code leat_ar_source_open(leat_ar_source *source, const char *path, leat_error *err) {
    *source = (leat_ar_source){0};
    LEAT_TRY(leat_file_open(&source->file, path, LEAT_FILE_READ, err));
    leat_code code = leat_file_size(source->file, &source->size_bytes, err);
    if (code != LEAT_OK) {
        leat_file_close(source->file);
        *source = (leat_ar_source){0};
    }
    return code;
}

/* Reads ahead to the end of the piece that a scan would ask for, so that reading a chunk's header
 * and the following scan take one system call. */
static const uint8_t *window_get(void *context, int64_t offset, int64_t size_bytes,
                                 uint8_t *scratch, leat_error *err) {
    (void)scratch;
    const leat_ar_window *window = context;
    leat_ar_room *room = window->room;
    LEAT_ASSERT(offset >= 0 && size_bytes <= window->source->size_bytes - offset);
    if (window->source->file == NULL) return window->source->memory + offset;
    bool there =
        offset >= room->read_offset && offset + size_bytes <= room->read_offset + room->read_bytes;
    if (!there) {
        int64_t end = (offset / LEAT_AR_SCAN_BYTES + 1) * LEAT_AR_SCAN_BYTES;
        if (end > window->window_end) end = window->window_end;
        if (end < offset + size_bytes) end = offset + size_bytes;
        LEAT_ASSERT(end - offset <= LEAT_AR_SCAN_BYTES);
        room->read_bytes = 0;
        if (room->scratch == NULL &&
            leat_alloc((void **)&room->scratch, LEAT_AR_SCAN_BYTES, 1, err) != LEAT_OK) {
            return NULL;
        }
        if (leat_file_pread(window->source->file, room->scratch, end - offset, offset, err) !=
            LEAT_OK) {
            return NULL;
        }
        room->read_offset = offset;
        room->read_bytes = end - offset;
    }
    return room->scratch + (offset - room->read_offset);
}

leat_ar_bytes leat_ar_window_bytes(leat_ar_window *window) {
    window->room->read_bytes = 0;
    return (leat_ar_bytes){window_get, window, window->source->size_bytes};
}

/* ---- opening ---- */

static leat_code open_table(leat_ar_reader *reader, int64_t *need_bytes, leat_error *err) {
    leat_ar_room *room = NULL;
    LEAT_TRY(leat_ar_room_create(&room, err));
    room->memory_max = reader->memory_max;
    leat_ar_window window = {&reader->source, room, reader->source.size_bytes};
    leat_ar_bytes bytes = leat_ar_window_bytes(&window);
    leat_code code = leat_ar_table_read(&bytes, room, &reader->table, err);
    *need_bytes = room->need_bytes;
    leat_ar_room_destroy(room);
    return code;
}

leat_code leat_ar_read_limit(const leat_ar_read_options *options, int64_t *max_chunk_bytes,
                             leat_error *err) {
    int64_t limit = options != NULL ? options->max_chunk_bytes : 0;
    if (limit < 0 || limit > CHUNK_BYTES_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "max_chunk_bytes is %lld; it must be 0 to 2^40",
                         (long long)limit);
    }
    *max_chunk_bytes = limit != 0 ? limit : CHUNK_BYTES_DEFAULT;
    return LEAT_OK;
}

/* How a reader is opened. */
typedef struct opening {
    const leat_ar_read_options *options;
    bool is_bare;
    int64_t memory_max;
} opening;

/* Takes the source over, on failure too. */
static leat_code open_source(leat_ar_reader **out, leat_ar_source *source, const char *name,
                             const opening *how, int64_t *need_bytes, leat_error *err) {
    leat_error found = {0};
    leat_ar_reader *reader = NULL;
    int64_t max_chunk_bytes = 0;
    *need_bytes = 0;
    leat_code code = leat_ar_read_limit(how->options, &max_chunk_bytes, &found);
    if (code == LEAT_OK) code = LEAT_NEW(&reader, 1, &found);
    if (code != LEAT_OK) {
        leat_file_close(source->file);
    } else {
        reader->source = *source;
        reader->max_chunk_bytes = max_chunk_bytes;
        reader->memory_max = how->memory_max;
        reader->opened_ns = leat_clock_ns();
        /* a long path is known by its end */
        size_t length = strlen(name), room = sizeof reader->name - 1;
        memcpy(reader->name, length > room ? name + length - room : name,
               length > room ? room : length);
        if (!how->is_bare) code = open_table(reader, need_bytes, &found);
        if (code != LEAT_OK) {
            leat_error_context(&found, code, "ArrayRecord file \"%s\"", reader->name);
            leat_ar_reader_close(reader);
        }
    }
    if (code != LEAT_OK) return leat_error_copy(err, &found);
    *out = reader;
    return LEAT_OK;
}

leat_code leat_ar_reader_open(leat_ar_reader **out, const char *path,
                              const leat_ar_read_options *options, leat_error *err) {
    *out = NULL;
    leat_ar_source source;
    LEAT_TRY(leat_ar_source_open(&source, path, err));
    int64_t need = 0;
    return open_source(out, &source, path, &(opening){.options = options}, &need, err);
}

leat_code leat_ar_reader_open_bare(leat_ar_reader **out, const char *path, leat_error *err) {
    *out = NULL;
    leat_ar_source source;
    int64_t need = 0;
    LEAT_TRY(leat_ar_source_open(&source, path, err));
    return open_source(out, &source, path, &(opening){.is_bare = true}, &need, err);
}

leat_code leat_ar_reader_open_within(leat_ar_reader **out, const char *path, int64_t memory_max,
                                     int64_t *need_bytes, leat_error *err) {
    *out = NULL;
    *need_bytes = 0;
    leat_ar_source source;
    LEAT_TRY(leat_ar_source_open(&source, path, err));
    const leat_ar_read_options options = {.max_chunk_bytes = memory_max > 0 ? CHUNK_BYTES_MAX : 0};
    return open_source(out, &source, path, &(opening){&options, false, memory_max}, need_bytes,
                       err);
}

int64_t leat_ar_record_need(const leat_ar_record *record) {
    return record->room == NULL ? 0 : record->room->need_bytes;
}

leat_code leat_ar_reader_open_memory(leat_ar_reader **out, const void *bytes, int64_t size_bytes,
                                     const leat_ar_read_options *options, leat_error *err) {
    *out = NULL;
    leat_ar_source source = {.memory = bytes, .size_bytes = size_bytes};
    int64_t need = 0;
    return open_source(out, &source, "(memory)", &(opening){.options = options}, &need, err);
}

leat_code leat_ar_reader_pread(const leat_ar_reader *reader, void *bytes, int64_t size_bytes,
                               int64_t offset, leat_error *err) {
    return leat_file_pread(reader->source.file, bytes, size_bytes, offset, err);
}

leat_code leat_ar_reader_open_piece(leat_ar_reader **out, const void *bytes, int64_t begin,
                                    int64_t end, leat_error *err) {
    *out = NULL;
    /* under their positions in the file; computed as integers, because this pointer does not point
     * into an object */
    uintptr_t file = (uintptr_t)bytes - (uintptr_t)begin;
    leat_ar_source source = {.memory = (const uint8_t *)file, .size_bytes = end};
    int64_t need = 0;
    return open_source(out, &source, "(memory)", &(opening){.is_bare = true}, &need, err);
}

void leat_ar_reader_close(leat_ar_reader *reader) {
    if (reader == NULL) return;
    leat_ar_table_free(&reader->table);
    leat_file_close(reader->source.file);
    leat_free(reader);
}

int64_t leat_ar_reader_record_count(const leat_ar_reader *reader) {
    return reader->table.index.record_count;
}
int64_t leat_ar_reader_chunk_count(const leat_ar_reader *reader) {
    return reader->table.index.count;
}
int64_t leat_ar_reader_group_size(const leat_ar_reader *reader) {
    return reader->table.index.group_size;
}
const char *leat_ar_reader_writer_options(const leat_ar_reader *reader) {
    return reader->table.writer_options;
}
int64_t leat_ar_reader_footer_offset(const leat_ar_reader *reader) {
    return reader->table.footer_offset;
}
int64_t leat_ar_reader_file_bytes(const leat_ar_reader *reader) {
    return reader->source.size_bytes;
}

leat_ar_chunk_facts leat_ar_reader_chunk(const leat_ar_reader *reader, int64_t index) {
    const leat_ar_index *t = &reader->table.index;
    LEAT_ASSERT(index >= 0 && index < t->count);
    return (leat_ar_chunk_facts){.offset = t->entries[index].offset,
                                 .decoded_bytes = t->entries[index].decoded_bytes,
                                 .first_record = index * t->group_size,
                                 .record_count = leat_ar_table_records(&reader->table, index)};
}

/* ---- reading ---- */

/* Where a chunk must end. */
static int64_t chunk_limit(const leat_ar_reader *reader, int64_t index) {
    const leat_ar_index *t = &reader->table.index;
    return index + 1 < t->count ? t->entries[index + 1].offset : reader->table.footer_offset;
}

leat_code leat_ar_reader_measure(const leat_ar_reader *reader, int64_t index, int64_t *file_bytes,
                                 int64_t *decoded_bytes, leat_error *err) {
    leat_ar_chunk_facts facts = leat_ar_reader_chunk(reader, index);
    int64_t limit = chunk_limit(reader, index);
    *file_bytes = limit - facts.offset;
    *decoded_bytes = facts.decoded_bytes;
    if (facts.decoded_bytes >= 0) return LEAT_OK;
    leat_ar_room *room = NULL;
    leat_ar_chunk chunk;
    LEAT_TRY(leat_ar_room_create(&room, err));
    leat_ar_window window = {&reader->source, room, limit};
    leat_ar_bytes bytes = leat_ar_window_bytes(&window);
    leat_code code = leat_ar_chunk_read(&bytes, facts.offset, limit, &chunk, err);
    leat_ar_room_destroy(room);
    *decoded_bytes = code == LEAT_OK ? chunk.decoded_bytes : 0;
    return code;
}

static leat_code load_chunk(const leat_ar_reader *reader, int64_t index, leat_ar_room *room,
                            leat_error *err) {
    leat_ar_chunk_facts facts = leat_ar_reader_chunk(reader, index);
    int64_t limit = chunk_limit(reader, index);
    leat_ar_window window = {&reader->source, room, limit};
    leat_ar_bytes bytes = leat_ar_window_bytes(&window);
    leat_ar_chunk chunk;
    leat_ar_decoded decoded;
    room->chunk_index = -1;
    room->memory_max = reader->memory_max;
    LEAT_TRY(leat_ar_chunk_read(&bytes, facts.offset, limit, &chunk, err));
    if (chunk.type == LEAT_AR_CHUNK_SIMPLE &&
        (chunk.record_count != facts.record_count ||
         (facts.decoded_bytes >= 0 && chunk.decoded_bytes != facts.decoded_bytes))) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "chunk at byte %lld: its %lld records of %lld bytes contradict the footer",
                         (long long)chunk.begin, (long long)chunk.record_count,
                         (long long)chunk.decoded_bytes);
    }
    LEAT_TRY(leat_ar_chunk_decode(&bytes, &chunk, reader->max_chunk_bytes, room, &decoded, err));
    room->records = decoded.values;
    room->reader = reader;
    room->opened_ns = reader->opened_ns;
    room->chunk_index = index;
    return LEAT_OK;
}

leat_code leat_ar_reader_read(const leat_ar_reader *reader, int64_t index, leat_ar_record *record,
                              leat_error *err) {
    const leat_ar_index *t = &reader->table.index;
    record->data = NULL;
    record->size_bytes = 0;
    if (index < 0 || index >= t->record_count) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "ArrayRecord file \"%s\": no record %lld: it has %lld records",
                         reader->name, (long long)index, (long long)t->record_count);
    }
    if (record->room == NULL) LEAT_TRY(leat_ar_room_create(&record->room, err));
    leat_ar_room *room = record->room;
    int64_t chunk = index / t->group_size;
    bool there = room->reader == reader && room->opened_ns == reader->opened_ns &&
                 room->chunk_index == chunk;
    if (!there) {
        leat_error found = {0};
        leat_code code = load_chunk(reader, chunk, room, &found);
        if (code != LEAT_OK) {
            leat_error_context(&found, code, "ArrayRecord file \"%s\": record %lld", reader->name,
                               (long long)index);
            return leat_error_copy(err, &found);
        }
    }
    int64_t first = room->starts[index % t->group_size];
    record->size_bytes = room->starts[index % t->group_size + 1] - first;
    record->data = room->records + first;
    return LEAT_OK;
}

/* Like load_chunk, without a table that describes the chunk. */
static leat_code load_chunk_at(const leat_ar_reader *reader, int64_t offset, leat_ar_room *room,
                               leat_error *err) {
    leat_ar_window window = {&reader->source, room, reader->source.size_bytes};
    leat_ar_bytes bytes = leat_ar_window_bytes(&window);
    leat_ar_chunk chunk;
    leat_ar_decoded decoded;
    room->memory_max = reader->memory_max;
    room->reader = NULL; /* what it holds belongs to no chunk of a table */
    LEAT_TRY(leat_ar_chunk_read(&bytes, offset, reader->source.size_bytes, &chunk, err));
    if (chunk.type == LEAT_AR_CHUNK_SIMPLE && chunk.record_count != 1) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "chunk at byte %lld: it has %lld records; it must have 1",
                         (long long)offset, (long long)chunk.record_count);
    }
    LEAT_TRY(leat_ar_chunk_decode(&bytes, &chunk, reader->max_chunk_bytes, room, &decoded, err));
    room->records = decoded.values;
    return LEAT_OK;
}

leat_code leat_ar_reader_read_at(const leat_ar_reader *reader, int64_t offset,
                                 leat_ar_record *record, leat_error *err) {
    leat_error found = {0};
    record->data = NULL;
    record->size_bytes = 0;
    if (record->room == NULL) LEAT_TRY(leat_ar_room_create(&record->room, err));
    leat_code code = load_chunk_at(reader, offset, record->room, &found);
    if (code != LEAT_OK) {
        leat_error_context(&found, code, "ArrayRecord file \"%s\"", reader->name);
        return leat_error_copy(err, &found);
    }
    record->data = record->room->records;
    record->size_bytes = record->room->starts[1];
    return LEAT_OK;
}

void leat_ar_record_free(leat_ar_record *record) {
    if (record == NULL) return;
    leat_ar_room_destroy(record->room);
    *record = (leat_ar_record){0};
}
