/*
 * Any bytes as an ArrayRecord file: opened, all read, verified; each chunk looked at in place too.
 * What is read must agree between the ways of reading.
 *
 * Hashes keep a fuzzer out of everything behind them, so the input is first read as a recipe: bit 0
 * of the first byte asks to have the hashes of the chunks that can be found put right before.
 */
#include <stdlib.h>
#include <string.h>

#include "format/arrayrecord/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_BYTES_MAX (1 << 20)
#define CHUNK_BYTES_MAX (8 << 20)
#define RECORDS_READ_MAX 1000

static void require(bool condition) {
    if (!condition) abort();
}

typedef struct image {
    uint8_t *data;
    int64_t size_bytes;
} image;

static const uint8_t *image_get(void *context, int64_t offset, int64_t size_bytes, uint8_t *scratch,
                                leat_error *err) {
    (void)scratch, (void)err;
    const image *file = context;
    require(offset >= 0 && size_bytes >= 0 && size_bytes <= file->size_bytes - offset);
    return file->data + offset;
}

/* Puts the hashes of the chunk at `begin` right: its header's, its data's, its block headers. */
static void repair_chunk(image *file, int64_t begin) {
    if (!leat_ar_position_legal(begin) || file->size_bytes - begin < 64) return;
    uint8_t header[LEAT_AR_CHUNK_HEADER_BYTES];
    for (int64_t i = 0; i < LEAT_AR_CHUNK_HEADER_BYTES; i++) {
        header[i] = file->data[leat_ar_byte_at(begin, i)];
    }
    leat_ar_chunk chunk = {.begin = begin};
    leat_ar_store64(header, leat_highwayhash_of(header + 8, 32));
    if (!leat_ar_chunk_header_parse(header, &chunk) ||
        chunk.data_bytes > file->size_bytes - begin) {
        return;
    }
    chunk.data_end = leat_ar_advance(begin, LEAT_AR_CHUNK_HEADER_BYTES + chunk.data_bytes);
    chunk.end = leat_ar_chunk_end(begin, chunk.data_bytes, chunk.record_count);
    if (chunk.end > file->size_bytes) return;
    leat_highwayhash hash;
    leat_highwayhash_init(&hash);
    for (int64_t i = 0; i < chunk.data_bytes;) {
        int64_t offset = 0;
        int64_t run =
            leat_ar_fragment(begin, LEAT_AR_CHUNK_HEADER_BYTES + i, chunk.data_bytes - i, &offset);
        leat_highwayhash_update(&hash, file->data + offset, run);
        i += run;
    }
    chunk.data_hash = leat_highwayhash_final(&hash);
    leat_ar_chunk_header(header, &chunk);
    for (int64_t i = 0; i < LEAT_AR_CHUNK_HEADER_BYTES; i++) {
        file->data[leat_ar_byte_at(begin, i)] = header[i];
    }
    for (int64_t at = (begin + LEAT_AR_BLOCK_BYTES - 1) / LEAT_AR_BLOCK_BYTES * LEAT_AR_BLOCK_BYTES;
         at < chunk.end; at += LEAT_AR_BLOCK_BYTES) {
        leat_ar_block_header(file->data + at, at, begin, chunk.end);
    }
}

/* The file that a recipe stands for: its bytes spread over three blocks, so that small inputs make
 * whole files: 2 bytes length of the data part, then data part at 0 and postscript part at the end.
 */
static image unfold(const uint8_t *data, size_t size) {
    image file = {NULL, 2 * LEAT_AR_BLOCK_BYTES};
    size_t front = (size_t)(data[1] | data[2] << 8);
    data += 3;
    size -= 3;
    if (front > size) front = size;
    size_t back = size - front;
    if (back > LEAT_AR_BLOCK_BYTES) back = LEAT_AR_BLOCK_BYTES;
    file.data = calloc(1, (size_t)file.size_bytes);
    require(file.data != NULL);
    memcpy(file.data, data, front);
    memcpy(file.data + LEAT_AR_BLOCK_BYTES, data + front, back);
    int64_t at = 0;
    /* as many chunks as stand one after the other */
    for (int i = 0; i < 64 && at < LEAT_AR_BLOCK_BYTES; i++) {
        leat_ar_chunk chunk;
        leat_ar_bytes bytes = {image_get, &file, file.size_bytes};
        repair_chunk(&file, at);
        if (leat_ar_chunk_read(&bytes, at, file.size_bytes, &chunk, NULL) != LEAT_OK) break;
        at = chunk.end;
    }
    repair_chunk(&file, LEAT_AR_BLOCK_BYTES);
    return file;
}

static void look_in_place(image *file, const leat_ar_reader *reader, int64_t index,
                          const leat_ar_record *record) {
    leat_ar_bytes bytes = {image_get, file, file->size_bytes};
    int64_t chunk_index = index / leat_ar_reader_group_size(reader);
    leat_ar_chunk_facts facts = leat_ar_reader_chunk(reader, chunk_index);
    leat_ar_chunk chunk;
    int64_t first = 0, size = 0;
    if (leat_ar_chunk_read(&bytes, facts.offset, leat_ar_reader_footer_offset(reader), &chunk,
                           NULL) != LEAT_OK) {
        require(record->data == NULL);
        return;
    }
    leat_code code =
        leat_ar_chunk_record(&bytes, &chunk, index - facts.first_record, &first, &size, NULL);
    if (record->data == NULL || code != LEAT_OK) {
        require(record->data == NULL || code == LEAT_ERR_UNSUPPORTED);
        return;
    }
    require(size == record->size_bytes);
    for (int64_t at = 0; at < size;) {
        int64_t offset = 0;
        int64_t run = leat_ar_fragment(chunk.begin, first + at, size - at, &offset);
        require(memcmp(file->data + offset, record->data + at, (size_t)run) == 0);
        at += run;
    }
}

static void read_all(image *file) {
    leat_ar_read_options options = {.max_chunk_bytes = CHUNK_BYTES_MAX};
    leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    leat_error err = {0};
    leat_ar_check check;
    leat_code code =
        leat_ar_reader_open_memory(&reader, file->data, file->size_bytes, &options, &err);
    bool all_good = code == LEAT_OK;
    int64_t count = code == LEAT_OK ? leat_ar_reader_record_count(reader) : 0;
    for (int64_t i = 0; i < count && i < RECORDS_READ_MAX; i++) {
        code = leat_ar_reader_read(reader, i, &record, &err);
        require((code == LEAT_OK) == (record.data != NULL));
        require(code == LEAT_OK || err.message[0] != 0);
        all_good &= code == LEAT_OK;
        look_in_place(file, reader, i, &record);
    }
    leat_ar_record_free(&record);
    leat_ar_reader_close(reader);
    code = leat_ar_verify_memory(file->data, file->size_bytes, &options, NULL, NULL, &check, &err);
    require((code == LEAT_OK) == (check.findings == 0));
    /* verify is never kinder than reading */
    require(all_good || code != LEAT_OK);
    require(code != LEAT_OK || check.record_count == count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > INPUT_BYTES_MAX) return 0;
    if (size > 3 && (data[0] & 1) != 0) {
        image file = unfold(data, size);
        read_all(&file);
        free(file.data);
        return 0;
    }
    image file = {malloc(size + 1), (int64_t)size};
    require(file.data != NULL);
    if (size > 0) memcpy(file.data, data, size);
    read_all(&file);
    free(file.data);
    return 0;
}
