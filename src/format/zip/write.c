/*
 * Archives of stored members: see zip.h. PKWARE's APPNOTE 6.3 describes the records. A member is a
 * local header and its bytes; the directory at the end repeats the headers with the members'
 * places. Zip64 records are written only where numbers do not fit, so that small archives are the
 * plainest.
 */
#include <string.h>

#include "format/zip/zip.h"

#define SIGNATURE_LOCAL UINT32_C(0x04034b50)
#define SIGNATURE_CENTRAL UINT32_C(0x02014b50)
#define SIGNATURE_END UINT32_C(0x06054b50)
#define SIGNATURE_END64 UINT32_C(0x06064b50)
#define SIGNATURE_LOCATOR64 UINT32_C(0x07064b50)
#define MAX16 0xffff
#define MAX32 INT64_C(0xffffffff)
enum {
    VERSION = 20,
    VERSION_64 = 45,
    UTF8_NAMES = 1 << 11,
    FIRST_DAY = 0x21, /* 1 January 1980 */
    EXTRA_64 = 1,
    EXTRA_64_BYTES = 12, /* an extra field with one number */
    BUFFER_BYTES = 256 << 10,
};

struct leat_zip_writer {
    leat_file *file;
    int64_t position; /* bytes of the file, with those in the buffer */
    int64_t filled;
    uint8_t *buffer;
    int64_t members;
    leat_buf directory;
    uint32_t crc_table[256];
    bool finished;
};

/* ---- CRC-32 --------------------------------------------------------------------------------- */

static void make_table(uint32_t table[256]) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = (value >> 1) ^ ((value & 1) != 0 ? UINT32_C(0xedb88320) : 0);
        table[i] = value;
    }
}

static uint32_t crc32_of(const uint32_t table[256], const uint8_t *bytes, int64_t size_bytes) {
    uint32_t crc = UINT32_MAX;
    for (int64_t i = 0; i < size_bytes; i++) crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
    return ~crc;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* A record being put together; it always fits. */
typedef struct record {
    uint8_t bytes[128];
    int size;
} record;

static void put(record *to, int64_t value, int count) {
    for (int i = 0; i < count; i++) to->bytes[to->size++] = (uint8_t)(value >> 8 * i);
}

static int64_t most(int64_t value, int64_t limit) { return value < limit ? value : limit; }

/* ---- the file ------------------------------------------------------------------------------- */

static leat_code flush(leat_zip_writer *writer, leat_error *err) {
    int64_t begin = writer->position - writer->filled;
    LEAT_TRY(leat_file_pwrite(writer->file, writer->buffer, writer->filled, begin, err));
    leat_file_start_writeback(writer->file, begin, writer->filled);
    writer->filled = 0;
    return LEAT_OK;
}

static leat_code append(leat_zip_writer *writer, const void *bytes, int64_t size_bytes,
                        leat_error *err) {
    const uint8_t *from = bytes;
    while (size_bytes > 0) {
        int64_t part = most(size_bytes, BUFFER_BYTES - writer->filled);
        memcpy(writer->buffer + writer->filled, from, (size_t)part);
        writer->filled += part;
        writer->position += part;
        from += part;
        size_bytes -= part;
        if (writer->filled == BUFFER_BYTES) LEAT_TRY(flush(writer, err));
    }
    return LEAT_OK;
}

leat_code leat_zip_writer_create(leat_zip_writer **out, leat_file *file, int64_t offset,
                                 leat_error *err) {
    leat_zip_writer *writer = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&writer, 1, err));
    writer->file = file;
    writer->position = offset;
    make_table(writer->crc_table);
    leat_code code = LEAT_NEW(&writer->buffer, BUFFER_BYTES, err);
    if (code == LEAT_OK) *out = writer;
    else leat_zip_writer_destroy(writer);
    return code;
}

void leat_zip_writer_destroy(leat_zip_writer *writer) {
    if (writer == NULL) return;
    leat_buf_free(&writer->directory);
    leat_free(writer->buffer);
    leat_free(writer);
}

int64_t leat_zip_writer_bytes(const leat_zip_writer *writer) { return writer->position; }

/* ---- members -------------------------------------------------------------------------------- */

/* The numbers that local header and directory have in common. */
static void put_common(record *to, uint32_t crc, int64_t size_bytes, int64_t name_bytes,
                       int version) {
    put(to, version, 2);
    put(to, UTF8_NAMES, 2);
    put(to, 0, 2); /* stored */
    put(to, 0, 2); /* midnight */
    put(to, FIRST_DAY, 2);
    put(to, crc, 4);
    put(to, size_bytes, 4);
    put(to, size_bytes, 4);
    put(to, name_bytes, 2);
}

static leat_code add_to_directory(leat_zip_writer *writer, const char *name, int64_t name_bytes,
                                  uint32_t crc, int64_t size_bytes, leat_error *err) {
    record entry = {.size = 0}, extra = {.size = 0};
    const int64_t begin = writer->position;
    const bool far = begin >= MAX32;
    put(&entry, SIGNATURE_CENTRAL, 4);
    put(&entry, 3 << 8 | VERSION, 2); /* made on Unix */
    put_common(&entry, crc, size_bytes, name_bytes, far ? VERSION_64 : VERSION);
    put(&entry, far ? EXTRA_64_BYTES : 0, 2);
    put(&entry, 0, 2 + 2 + 2); /* no comment, the first disk, not text */
    put(&entry, INT64_C(0100644) << 16, 4);
    put(&entry, most(begin, MAX32), 4);
    LEAT_TRY(leat_buf_append(&writer->directory, entry.bytes, entry.size, err));
    LEAT_TRY(leat_buf_append(&writer->directory, name, name_bytes, err));
    if (!far) return LEAT_OK;
    put(&extra, EXTRA_64, 2);
    put(&extra, 8, 2);
    put(&extra, begin, 8);
    return leat_buf_append(&writer->directory, extra.bytes, extra.size, err);
}

leat_code leat_zip_writer_add(leat_zip_writer *writer, const char *name, const void *bytes,
                              int64_t size_bytes, leat_error *err) {
    LEAT_ASSERT(!writer->finished);
    int64_t name_bytes = (int64_t)strlen(name);
    if (name_bytes > LEAT_ZIP_NAME_BYTES_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "zip member \"%.64s...\": its name must have at most %d bytes, not %lld",
                         name, LEAT_ZIP_NAME_BYTES_MAX, (long long)name_bytes);
    if (size_bytes > LEAT_ZIP_MEMBER_BYTES_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "zip member \"%.64s\" must have at most %lld bytes, not %lld", name,
                         (long long)LEAT_ZIP_MEMBER_BYTES_MAX, (long long)size_bytes);
    uint32_t crc = crc32_of(writer->crc_table, bytes, size_bytes);
    record header = {.size = 0};
    LEAT_TRY(add_to_directory(writer, name, name_bytes, crc, size_bytes, err));
    put(&header, SIGNATURE_LOCAL, 4);
    put_common(&header, crc, size_bytes, name_bytes, VERSION);
    put(&header, 0, 2); /* no extra field */
    LEAT_TRY(append(writer, header.bytes, header.size, err));
    LEAT_TRY(append(writer, name, name_bytes, err));
    LEAT_TRY(append(writer, bytes, size_bytes, err));
    writer->members++;
    return LEAT_OK;
}

/* ---- the end -------------------------------------------------------------------------------- */

static leat_code end64(leat_zip_writer *writer, int64_t begin, leat_error *err) {
    const int64_t here = writer->position;
    record end = {.size = 0};
    put(&end, SIGNATURE_END64, 4);
    put(&end, 44, 8); /* bytes that follow */
    put(&end, 3 << 8 | VERSION_64, 2);
    put(&end, VERSION_64, 2);
    put(&end, 0, 4 + 4); /* one disk */
    put(&end, writer->members, 8);
    put(&end, writer->members, 8);
    put(&end, writer->directory.size, 8);
    put(&end, begin, 8);
    put(&end, SIGNATURE_LOCATOR64, 4);
    put(&end, 0, 4);
    put(&end, here, 8);
    put(&end, 1, 4);
    return append(writer, end.bytes, end.size, err);
}

leat_code leat_zip_writer_finish(leat_zip_writer *writer, leat_error *err) {
    const int64_t begin = writer->position, members = most(writer->members, MAX16);
    record end = {.size = 0};
    LEAT_ASSERT(!writer->finished);
    writer->finished = true;
    LEAT_TRY(append(writer, writer->directory.data, writer->directory.size, err));
    if (writer->members >= MAX16 || begin >= MAX32 || writer->directory.size >= MAX32)
        LEAT_TRY(end64(writer, begin, err));
    put(&end, SIGNATURE_END, 4);
    put(&end, 0, 2 + 2); /* one disk */
    put(&end, members, 2);
    put(&end, members, 2);
    put(&end, most(writer->directory.size, MAX32), 4);
    put(&end, most(begin, MAX32), 4);
    put(&end, 0, 2); /* no comment */
    LEAT_TRY(append(writer, end.bytes, end.size, err));
    return flush(writer, err);
}
