/*
 * Chains of blocks in one file: see spill.h. A block's place in the file is reserved before it is
 * full, so that the previous block can name it and chains are read forwards. Each block carries a
 * hash of its contents and of the run that wrote it: a resumed run accepts neither a block torn by
 * a crash nor one written by another run.
 */
#include "ingest/probes/spill.h"

#include "base/hash.h"

#define RECORD_BYTES_MAX (LEAT_SPILL_MEASUREMENT_BYTES + LEAT_ADDRESS_TEXT_BYTES)

int leat_text_compare(const char *a, int32_t a_bytes, const char *b, int32_t b_bytes) {
    int order = memcmp(a, b, (size_t)(a_bytes < b_bytes ? a_bytes : b_bytes));
    return order != 0 ? order : a_bytes - b_bytes;
}

/* Header: i64 offset of the next block (-1: last), u32 bytes used after the header, u32
 * measurements, u64 XXH3 of those 16 bytes and the records. */
static void put_header(uint8_t *block, uint64_t run, int64_t next, int32_t used, uint32_t records) {
    uint32_t size = (uint32_t)(used - LEAT_SPILL_HEADER_BYTES);
    memcpy(block + 8, &next, 8);
    memcpy(block + 16, &size, 4);
    memcpy(block + 20, &records, 4);
    uint64_t hash = leat_xxh3(block + 8, used - 8) ^ run;
    memcpy(block, &hash, 8);
}

int64_t leat_spill_memory_bytes(int bucket_count, int32_t block_bytes) {
    return (int64_t)bucket_count * (block_bytes + (int64_t)sizeof(leat_spill_stream) + 16);
}

static leat_code spill_tables(leat_spill *spill, uint64_t run, int bucket_count,
                              int32_t block_bytes, leat_error *err) {
    LEAT_ASSERT(bucket_count > 0 && block_bytes >= RECORD_BYTES_MAX + LEAT_SPILL_HEADER_BYTES);
    *spill = (leat_spill){.run = run, .bucket_count = bucket_count, .block_bytes = block_bytes};
    LEAT_TRY(LEAT_NEW(&spill->streams, bucket_count, err));
    for (int i = 0; i < bucket_count; i++) spill->streams[i].head = -1;
    return LEAT_OK;
}

leat_code leat_spill_create(leat_spill *spill, const char *path, uint64_t run, int bucket_count,
                            int32_t block_bytes, leat_error *err) {
    leat_code code = spill_tables(spill, run, bucket_count, block_bytes, err);
    if (code == LEAT_OK) code = LEAT_NEW(&spill->tails, bucket_count, err);
    if (code == LEAT_OK) {
        code = leat_block_alloc((void **)&spill->buffers, (int64_t)bucket_count * block_bytes, err);
    }
    if (code == LEAT_OK) code = leat_file_open(&spill->file, path, LEAT_FILE_CREATE, err);
    if (code != LEAT_OK) {
        leat_spill_close(spill);
        return code;
    }
    /* A bucket without a block looks full, so that the hot path tests one thing. */
    for (int i = 0; i < bucket_count; i++) spill->tails[i].used = block_bytes;
    return LEAT_OK;
}

leat_code leat_spill_open(leat_spill *spill, const char *path, uint64_t run, int bucket_count,
                          int32_t block_bytes, leat_error *err) {
    leat_code code = spill_tables(spill, run, bucket_count, block_bytes, err);
    if (code == LEAT_OK) code = leat_file_open(&spill->file, path, LEAT_FILE_UPDATE, err);
    if (code == LEAT_OK) code = leat_file_size(spill->file, &spill->file_bytes, err);
    if (code != LEAT_OK) leat_spill_close(spill);
    return code;
}

static void free_buffers(leat_spill *spill) {
    leat_block_free(spill->buffers, (int64_t)spill->bucket_count * spill->block_bytes);
    leat_free(spill->tails);
    spill->buffers = NULL;
    spill->tails = NULL;
}

void leat_spill_close(leat_spill *spill) {
    free_buffers(spill);
    leat_free(spill->streams);
    leat_file_close(spill->file);
    *spill = (leat_spill){0};
}

void leat_spill_release(leat_spill *spill) {
    /* Only disk space is lost if this fails: the file is removed with its folder in the end. */
    if (leat_file_truncate(spill->file, 0, NULL) != LEAT_OK) return;
}

/* Writes the block that a bucket is filling, and updates the totals. */
static leat_code write_block(leat_spill *spill, int bucket, int64_t next, leat_error *err) {
    uint8_t *block = spill->buffers + (int64_t)bucket * spill->block_bytes;
    const leat_spill_tail *tail = &spill->tails[bucket];
    LEAT_ASSERT(tail->used >= LEAT_SPILL_HEADER_BYTES && tail->used <= spill->block_bytes);
    LEAT_ASSERT(tail->offset >= 0 && tail->offset <= spill->file_bytes - spill->block_bytes);
    put_header(block, spill->run, next, tail->used, tail->records);
    spill->streams[bucket].bytes += tail->used - LEAT_SPILL_HEADER_BYTES;
    spill->streams[bucket].records += tail->records;
    return leat_file_pwrite(spill->file, block, tail->used, tail->offset, err);
}

leat_code leat_spill_next_block(leat_spill *spill, int bucket, leat_error *err) {
    int64_t next = spill->file_bytes;
    LEAT_ASSERT(spill->buffers != NULL && bucket >= 0 && bucket < spill->bucket_count);
    if (spill->streams[bucket].head < 0) {
        spill->streams[bucket].head = next;
    } else {
        LEAT_TRY(write_block(spill, bucket, next, err));
    }
    spill->tails[bucket] = (leat_spill_tail){.used = LEAT_SPILL_HEADER_BYTES, .offset = next};
    spill->file_bytes += spill->block_bytes;
    return LEAT_OK;
}

leat_code leat_spill_define(leat_spill *spill, int bucket, int64_t src_id, const char *text,
                            int32_t size_bytes, uint32_t *number, leat_error *err) {
    leat_spill_stream *stream = &spill->streams[bucket];
    *number = (uint32_t)stream->generation;
    LEAT_ASSERT(size_bytes > 0 && size_bytes <= LEAT_ADDRESS_TEXT_BYTES);
    if (stream->generation >= LEAT_SPILL_DEFINITION) {
        return leat_fail(err, LEAT_ERR_LIMIT, "more than 2^31 sources in one of %d buckets",
                         spill->bucket_count);
    }
    uint32_t first = stream->generation == 0 ? LEAT_SPILL_FIRST : 0;
    uint32_t word = LEAT_SPILL_DEFINITION | first | (uint32_t)size_bytes;
    uint8_t *at = NULL;
    LEAT_TRY(leat_spill_room(spill, bucket, LEAT_SPILL_DEFINITION_BYTES + size_bytes, &at, err));
    memcpy(at, &src_id, 8);
    memcpy(at + 8, &word, 4);
    memcpy(at + LEAT_SPILL_DEFINITION_BYTES, text, (size_t)size_bytes);
    stream->definitions++;
    stream->generation++;
    if (stream->generation > stream->generation_most) stream->generation_most = stream->generation;
    return LEAT_OK;
}

void leat_spill_forget(leat_spill *spill) {
    for (int i = 0; i < spill->bucket_count; i++) spill->streams[i].generation = 0;
}

leat_code leat_spill_finish(leat_spill *spill, leat_error *err) {
    LEAT_ASSERT(spill->buffers != NULL);
    for (int i = 0; i < spill->bucket_count; i++) {
        if (spill->streams[i].head >= 0) LEAT_TRY(write_block(spill, i, -1, err));
    }
    free_buffers(spill);
    /* The last blocks are not full, but are read like any other. */
    return leat_file_truncate(spill->file, spill->file_bytes, err);
}

/* The texts of two measurements' own sources. */
static int compare_sources(const uint8_t *a, const uint8_t *b) {
    int32_t a_bytes, b_bytes;
    const uint8_t *own_a = leat_spill_own_source(a, &a_bytes);
    const uint8_t *own_b = leat_spill_own_source(b, &b_bytes);
    if (own_a == NULL || own_b == NULL) return 0;
    return leat_text_compare((const char *)own_a, a_bytes, (const char *)own_b, b_bytes);
}

int leat_spill_compare(const uint8_t *a, const uint8_t *b) {
    int64_t time_a, time_b;
    memcpy(&time_a, a, 8);
    memcpy(&time_b, b, 8);
    if (time_a != time_b) return time_a < time_b ? -1 : 1;
    int order = leat_text_compare(
        (const char *)a + LEAT_SPILL_TEXT_AT, a[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH,
        (const char *)b + LEAT_SPILL_TEXT_AT, b[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH);
    if (order != 0) return order;
    bool more = ((a[LEAT_SPILL_FACTS_AT] | b[LEAT_SPILL_FACTS_AT]) & LEAT_SPILL_MORE) != 0;
    if (more) order = compare_sources(a, b);
    if (order != 0) return order;
    float rtt_a, rtt_b;
    memcpy(&rtt_a, a + LEAT_SPILL_RTT_AT, 4);
    memcpy(&rtt_b, b + LEAT_SPILL_RTT_AT, 4);
    order = (rtt_a > rtt_b) - (rtt_a < rtt_b);
    if (order != 0 || !more) return order;
    uint32_t more_a = leat_spill_more(a), more_b = leat_spill_more(b);
    return (more_a > more_b) - (more_a < more_b);
}

leat_code leat_temp_damaged(const leat_file *file, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "temporary file \"%s\" does not contain what was written to it; check the "
                     "disk, then run the ingest again with --replace",
                     leat_file_path(file));
}

void leat_spill_cursor_begin(leat_spill_cursor *cursor, const leat_spill *spill, int bucket,
                             uint8_t *block) {
    LEAT_ASSERT(spill->buffers == NULL); /* finished: none of it is in memory only */
    LEAT_ASSERT(bucket >= 0 && bucket < spill->bucket_count);
    *cursor = (leat_spill_cursor){
        .spill = spill,
        .next = spill->streams[bucket].head,
        .block = block,
        .blocks_left = spill->file_bytes / spill->block_bytes,
    };
}

leat_code leat_spill_cursor_next(leat_spill_cursor *cursor, leat_error *err) {
    cursor->size = 0;
    cursor->records = 0;
    if (cursor->next < 0) return LEAT_OK;
    const leat_spill *spill = cursor->spill;
    int64_t at = cursor->next, left = spill->file_bytes - at;
    /* Every block is complete, the last ones too: a truncated file was never finished. */
    bool ok =
        cursor->blocks_left-- > 0 && at % spill->block_bytes == 0 && left >= spill->block_bytes;
    if (ok) {
        LEAT_TRY(leat_file_pread(spill->file, cursor->block, spill->block_bytes, at, err));
        uint64_t hash = 0;
        uint32_t size = 0;
        memcpy(&hash, cursor->block, 8);
        memcpy(&cursor->next, cursor->block + 8, 8);
        memcpy(&size, cursor->block + 16, 4);
        memcpy(&cursor->records, cursor->block + 20, 4);
        ok = size <= (uint32_t)spill->block_bytes - LEAT_SPILL_HEADER_BYTES &&
             hash == (leat_xxh3(cursor->block + 8, (int64_t)size + LEAT_SPILL_HEADER_BYTES - 8) ^
                      spill->run);
        cursor->size = (int32_t)size;
    }
    if (ok) return LEAT_OK;
    cursor->size = 0;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "temporary file \"%s\": block at byte %lld is damaged, or belongs to another "
                     "run; run the ingest again with --replace",
                     leat_file_path(spill->file), (long long)at);
}
