/*
 * Chunks in memory, segments in a file: see spill.h. Each time the pool has no chunk left, each of
 * its spills appends one segment to its file: a table of where the blocks of each bucket end, then
 * the blocks of all buckets. Table and blocks carry a hash of their contents and of the run that
 * wrote them: a resumed run accepts neither what a crash has torn nor what another run wrote.
 */
#include "ingest/probes/spill.h"

#include "base/hash.h"
#include "ingest/probes/spill_code.h"

#define SLABS_MAX 64
#define SLAB_BYTES_MAX (INT64_C(32) << 20)

int leat_text_compare(const char *a, int32_t a_bytes, const char *b, int32_t b_bytes) {
    int order = memcmp(a, b, (size_t)(a_bytes < b_bytes ? a_bytes : b_bytes));
    return order != 0 ? order : a_bytes - b_bytes;
}

/* ---- the pool ---- */

int64_t leat_spill_memory_bytes(int bucket_count) {
    int64_t bucket = sizeof(leat_spill_stream) + sizeof(leat_spill_tail) + sizeof(int64_t);
    return (int64_t)(sizeof(leat_spill_encoder) + sizeof(leat_spill_texts)) + bucket_count * bucket;
}

leat_code leat_spill_pool_create(leat_spill_pool *pool, int64_t bytes, atomic_llong *common_bytes,
                                 leat_error *err) {
    int64_t slab = bytes / SLABS_MAX / LEAT_SPILL_SLAB_BYTES_MIN * LEAT_SPILL_SLAB_BYTES_MIN;
    if (slab < LEAT_SPILL_SLAB_BYTES_MIN) slab = LEAT_SPILL_SLAB_BYTES_MIN;
    if (slab > SLAB_BYTES_MAX) slab = SLAB_BYTES_MAX;
    *pool = (leat_spill_pool){.own_bytes = bytes, .common_bytes = common_bytes, .slab_bytes = slab};
    leat_code code = LEAT_NEW(&pool->encoder, 1, err);
    if (code == LEAT_OK) code = LEAT_NEW(&pool->texts, 1, err);
    if (code != LEAT_OK) leat_spill_pool_destroy(pool);
    return code;
}

void leat_spill_pool_destroy(leat_spill_pool *pool) {
    for (int64_t i = 0; i < pool->slab_count; i++)
        leat_block_free(pool->slabs[i], pool->slab_bytes);
    leat_free(pool->slabs);
    leat_free(pool->encoder);
    leat_free(pool->texts);
    *pool = (leat_spill_pool){0};
}

bool leat_spill_pool_has_written(const leat_spill_pool *pool) {
    bool written = false;
    for (const leat_spill *spill = pool->spills; spill != NULL; spill = spill->next)
        written = written || spill->file_bytes > 0;
    return written;
}

/* Whether the pool may take another slab; the first one always. */
static bool may_grow(leat_spill_pool *pool) {
    if ((pool->slab_count + 1) * pool->slab_bytes <= pool->own_bytes || pool->slab_count == 0)
        return true;
    if (pool->common_bytes == NULL) return false;
    if (atomic_fetch_sub(pool->common_bytes, pool->slab_bytes) >= pool->slab_bytes) return true;
    atomic_fetch_add(pool->common_bytes, pool->slab_bytes);
    return false;
}

static void free_chunk(leat_spill_pool *pool, uint8_t *chunk) {
    memcpy(chunk, &pool->free, sizeof pool->free);
    pool->free = chunk;
}

static leat_code grow(leat_spill_pool *pool, leat_error *err) {
    uint8_t *slab = NULL;
    LEAT_TRY(LEAT_GROW(&pool->slabs, &pool->slab_capacity, pool->slab_count + 1, err));
    LEAT_TRY(leat_block_alloc((void **)&slab, pool->slab_bytes, err));
    pool->slabs[pool->slab_count++] = slab;
    for (int64_t at = pool->slab_bytes; at > 0; at -= LEAT_SPILL_CHUNK_BYTES)
        free_chunk(pool, slab + at - LEAT_SPILL_CHUNK_BYTES);
    return LEAT_OK;
}

/* ---- chunks ---- */

static const uint8_t *next_of(const uint8_t *chunk) {
    const uint8_t *next = NULL;
    memcpy(&next, chunk, sizeof next);
    return next;
}

static int32_t used_of(const uint8_t *chunk) {
    uint32_t used = 0;
    memcpy(&used, chunk + 8, sizeof used);
    return (int32_t)used;
}

static uint32_t records_of(const uint8_t *chunk) {
    uint32_t records = 0;
    memcpy(&records, chunk + 12, sizeof records);
    return records;
}

/* Completes the chunk that a bucket is filling, and updates the totals. */
static void end_chunk(leat_spill *spill, int bucket, uint8_t *next) {
    leat_spill_tail *tail = &spill->tails[bucket];
    uint32_t used = (uint32_t)tail->used;
    if (tail->last == NULL) return;
    memcpy(tail->last, &next, sizeof next);
    memcpy(tail->last + 8, &used, sizeof used);
    memcpy(tail->last + 12, &tail->records, sizeof tail->records);
    spill->streams[bucket].bytes += tail->used - LEAT_SPILL_HEADER_BYTES;
    spill->streams[bucket].records += tail->records;
}

/* A bucket without a chunk looks full, so that the hot path tests one thing. */
static const leat_spill_tail no_chunk = {.used = LEAT_SPILL_CHUNK_BYTES};

/* ---- writing ---- */

/* Table: u64 hash, i64 bytes of the segment, i64 per bucket: where its blocks end in it. Block: u64
 * hash, u32 encoded bytes, u32 bytes of records, u32 measurements, encoded records. */
#define TABLE_HEADER_BYTES 16
static int64_t table_bytes(const leat_spill *spill) {
    return TABLE_HEADER_BYTES + spill->bucket_count * INT64_C(8);
}

static uint64_t hash_of(const leat_spill *spill, const uint8_t *bytes, int64_t size_bytes) {
    return leat_xxh3(bytes + 8, size_bytes - 8) ^ spill->run;
}

/* Writes the encoded blocks at *at, which moves to their end. */
static leat_code write_out(const leat_spill *spill, leat_spill_encoder *encoder, int64_t *at,
                           leat_error *err) {
    int64_t size = encoder->filled;
    encoder->filled = 0;
    LEAT_TRY(leat_file_pwrite(spill->file, encoder->bytes, size, *at, err));
    *at += size;
    return LEAT_OK;
}

/* Encodes chunks from *chunk on, as many as one block holds; *chunk becomes the next one. */
static void encode_block(const leat_spill *spill, leat_spill_encoder *encoder,
                         const uint8_t **chunk) {
    int64_t begin = encoder->filled;
    uint32_t size = 0, records = 0;
    encoder->filled += LEAT_SPILL_BLOCK_HEADER_BYTES;
    leat_spill_encode_begin(encoder);
    for (; *chunk != NULL; *chunk = next_of(*chunk)) {
        int32_t used = used_of(*chunk) - LEAT_SPILL_HEADER_BYTES;
        if (size + (uint32_t)used > LEAT_SPILL_BLOCK_BYTES) break;
        leat_spill_encode(encoder, spill->texts, *chunk + LEAT_SPILL_HEADER_BYTES, used);
        size += (uint32_t)used;
        records += records_of(*chunk);
    }
    uint8_t *block = encoder->bytes + begin;
    uint32_t encoded = (uint32_t)(encoder->filled - begin - LEAT_SPILL_BLOCK_HEADER_BYTES);
    memcpy(block + 8, &encoded, 4);
    memcpy(block + 12, &size, 4);
    memcpy(block + 16, &records, 4);
    uint64_t hash = hash_of(spill, block, encoder->filled - begin);
    memcpy(block, &hash, 8);
}

static leat_code write_segment(leat_spill *spill, leat_spill_encoder *encoder, uint8_t *table,
                               leat_error *err) {
    int64_t at = spill->file_bytes + table_bytes(spill);
    encoder->filled = 0;
    for (int i = 0; i < spill->bucket_count; i++) {
        for (const uint8_t *chunk = spill->tails[i].first; chunk != NULL;) {
            encode_block(spill, encoder, &chunk);
            if (encoder->filled > LEAT_SPILL_ENCODED_MAX)
                LEAT_TRY(write_out(spill, encoder, &at, err));
        }
        int64_t end = at + encoder->filled - spill->file_bytes;
        memcpy(table + TABLE_HEADER_BYTES + (int64_t)i * 8, &end, 8);
    }
    LEAT_TRY(write_out(spill, encoder, &at, err));
    int64_t size = at - spill->file_bytes;
    memcpy(table + 8, &size, 8);
    uint64_t hash = hash_of(spill, table, table_bytes(spill));
    memcpy(table, &hash, 8);
    LEAT_TRY(leat_file_pwrite(spill->file, table, table_bytes(spill), spill->file_bytes, err));
    spill->file_bytes = at;
    return LEAT_OK;
}

/* Writes all complete chunks of a spill as a segment. */
static leat_code write_chunks(leat_spill *spill, leat_spill_encoder *encoder, leat_error *err) {
    bool any = false;
    for (int i = 0; i < spill->bucket_count; i++) any = any || spill->tails[i].first != NULL;
    if (!any) return LEAT_OK;
    uint8_t *table = NULL;
    LEAT_TRY(LEAT_NEW(&table, table_bytes(spill), err));
    leat_code code = write_segment(spill, encoder, table, err);
    leat_free(table);
    return code;
}

/* The pool has no chunk left: writes those of all its spills. */
static leat_code empty_pool(leat_spill_pool *pool, leat_error *err) {
    for (leat_spill *spill = pool->spills; spill != NULL; spill = spill->next) {
        for (int i = 0; i < spill->bucket_count; i++) end_chunk(spill, i, NULL);
        LEAT_TRY(write_chunks(spill, pool->encoder, err));
        for (int i = 0; i < spill->bucket_count; i++) spill->tails[i] = no_chunk;
    }
    pool->free = NULL;
    for (int64_t i = pool->slab_count - 1; i >= 0; i--) {
        for (int64_t at = pool->slab_bytes; at > 0; at -= LEAT_SPILL_CHUNK_BYTES)
            free_chunk(pool, pool->slabs[i] + at - LEAT_SPILL_CHUNK_BYTES);
    }
    return LEAT_OK;
}

/* ---- a spill ---- */

static leat_code spill_tables(leat_spill *spill, uint64_t run, int bucket_count, leat_error *err) {
    LEAT_ASSERT(bucket_count > 0);
    *spill = (leat_spill){.run = run, .bucket_count = bucket_count};
    return LEAT_NEW(&spill->streams, bucket_count, err);
}

leat_code leat_spill_create(leat_spill *spill, const char *path, uint64_t run, int bucket_count,
                            leat_spill_pool *pool, leat_error *err) {
    leat_code code = spill_tables(spill, run, bucket_count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&spill->tails, bucket_count, err);
    if (code == LEAT_OK) code = leat_file_open(&spill->file, path, LEAT_FILE_CREATE, err);
    if (code != LEAT_OK) {
        leat_spill_close(spill);
        return code;
    }
    for (int i = 0; i < bucket_count; i++) spill->tails[i] = no_chunk;
    spill->pool = pool;
    spill->texts = pool->texts;
    spill->next = pool->spills;
    pool->spills = spill;
    return LEAT_OK;
}

leat_code leat_spill_open(leat_spill *spill, const char *path, uint64_t run, int bucket_count,
                          leat_spill_texts *texts, leat_error *err) {
    leat_code code = spill_tables(spill, run, bucket_count, err);
    spill->texts = texts;
    if (code == LEAT_OK) code = leat_file_open(&spill->file, path, LEAT_FILE_UPDATE, err);
    if (code == LEAT_OK) code = leat_file_size(spill->file, &spill->file_bytes, err);
    if (code != LEAT_OK) leat_spill_close(spill);
    return code;
}

/* The pool does not know the spill any more. */
static void leave_pool(leat_spill *spill) {
    if (spill->pool == NULL) return;
    leat_spill **link = &spill->pool->spills;
    while (*link != spill) link = &(*link)->next;
    *link = spill->next;
    spill->next = NULL;
    spill->pool = NULL;
}

void leat_spill_close(leat_spill *spill) {
    leave_pool(spill);
    leat_free(spill->tails);
    leat_free(spill->streams);
    leat_file_close(spill->file);
    *spill = (leat_spill){0};
}

void leat_spill_release(leat_spill *spill) {
    leat_free(spill->tails);
    spill->tails = NULL;
    /* Only disk space is lost if this fails: the file is removed with its folder in the end. */
    if (leat_file_truncate(spill->file, 0, NULL) != LEAT_OK) return;
}

leat_code leat_spill_next_chunk(leat_spill *spill, int bucket, leat_error *err) {
    LEAT_ASSERT(spill->pool != NULL && bucket >= 0 && bucket < spill->bucket_count);
    leat_spill_pool *pool = spill->pool;
    if (pool->free == NULL && may_grow(pool)) LEAT_TRY(grow(pool, err));
    if (pool->free == NULL) LEAT_TRY(empty_pool(pool, err));
    uint8_t *chunk = pool->free;
    memcpy(&pool->free, chunk, sizeof pool->free);
    end_chunk(spill, bucket, chunk);
    leat_spill_tail *tail = &spill->tails[bucket];
    uint8_t *first = tail->first != NULL ? tail->first : chunk;
    *tail = (leat_spill_tail){.last = chunk, .used = LEAT_SPILL_HEADER_BYTES, .first = first};
    return LEAT_OK;
}

leat_code leat_spill_define(leat_spill *spill, int bucket, int64_t src_id, leat_text text,
                            uint32_t *number, leat_error *err) {
    const int32_t size_bytes = text.size_bytes;
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
    memcpy(at + LEAT_SPILL_DEFINITION_BYTES, text.data, (size_t)size_bytes);
    stream->definitions++;
    stream->generation++;
    if (stream->generation > stream->generation_most) stream->generation_most = stream->generation;
    return LEAT_OK;
}

void leat_spill_forget(leat_spill *spill) {
    for (int i = 0; i < spill->bucket_count; i++) spill->streams[i].generation = 0;
}

void leat_spill_finish(leat_spill *spill) {
    leave_pool(spill);
    for (int i = 0; i < spill->bucket_count; i++) end_chunk(spill, i, NULL);
}

leat_code leat_spill_write(leat_spill *spill, leat_spill_encoder *encoder, leat_error *err) {
    LEAT_ASSERT(spill->pool == NULL);
    if (spill->tails == NULL) return LEAT_OK;
    LEAT_TRY(write_chunks(spill, encoder, err));
    leat_free(spill->tails);
    spill->tails = NULL;
    return LEAT_OK;
}

/* ---- order ---- */

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

/* ---- reading ---- */

void leat_spill_cursor_begin(leat_spill_cursor *cursor, const leat_spill *spill, int bucket,
                             leat_spill_decoder *decoder) {
    LEAT_ASSERT(spill->pool == NULL && bucket >= 0 && bucket < spill->bucket_count);
    *cursor = (leat_spill_cursor){
        .spill = spill,
        .bucket = bucket,
        .decoder = decoder,
        .chunk = spill->tails != NULL ? spill->tails[bucket].first : NULL,
    };
}

/* `at`: where it begins. */
static leat_code damaged(const leat_spill_cursor *cursor, int64_t at, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "temporary file \"%s\": block at byte %lld is damaged, or belongs to another "
                     "run; run the ingest again with --replace",
                     leat_file_path(cursor->spill->file), (long long)at);
}

/* Finds the bucket's blocks in the next segment. A truncated file was never finished. */
static leat_code next_segment(leat_spill_cursor *cursor, leat_error *err) {
    const leat_spill *spill = cursor->spill;
    int64_t begin = cursor->segment, left = spill->file_bytes - begin, size = table_bytes(spill);
    uint8_t *table = cursor->decoder->bytes;
    LEAT_ASSERT(size <= (int64_t)sizeof cursor->decoder->bytes);
    if (left < size) return damaged(cursor, begin, err);
    LEAT_TRY(leat_file_pread(spill->file, table, size, begin, err));
    uint64_t hash = 0;
    int64_t segment = 0, first = size, last = 0;
    memcpy(&hash, table, 8);
    memcpy(&segment, table + 8, 8);
    const uint8_t *end = table + TABLE_HEADER_BYTES + (int64_t)cursor->bucket * 8;
    if (cursor->bucket > 0) memcpy(&first, end - 8, 8);
    memcpy(&last, end, 8);
    if (hash != hash_of(spill, table, size) || segment < size || segment > left || first < size ||
        last < first || last > segment)
        return damaged(cursor, begin, err);
    cursor->at = begin + first;
    cursor->end = begin + last;
    cursor->segment += segment;
    return LEAT_OK;
}

static leat_code next_block(leat_spill_cursor *cursor, leat_error *err) {
    const leat_spill *spill = cursor->spill;
    leat_spill_decoder *decoder = cursor->decoder;
    int64_t at = cursor->at, left = cursor->end - at;
    uint8_t *header = decoder->bytes;
    uint32_t encoded = 0, size = 0, records = 0;
    uint64_t hash = 0;
    if (left <= LEAT_SPILL_BLOCK_HEADER_BYTES) return damaged(cursor, at, err);
    LEAT_TRY(leat_file_pread(spill->file, header, LEAT_SPILL_BLOCK_HEADER_BYTES, at, err));
    memcpy(&hash, header, 8);
    memcpy(&encoded, header + 8, 4);
    memcpy(&size, header + 12, 4);
    memcpy(&records, header + 16, 4);
    int64_t whole = LEAT_SPILL_BLOCK_HEADER_BYTES + (int64_t)encoded;
    if (encoded > LEAT_SPILL_ENCODED_MAX || left < whole || size == 0 ||
        size > LEAT_SPILL_BLOCK_BYTES || records > size / LEAT_SPILL_MEASUREMENT_BYTES)
        return damaged(cursor, at, err);
    LEAT_TRY(leat_file_pread(spill->file, header + LEAT_SPILL_BLOCK_HEADER_BYTES, encoded,
                             at + LEAT_SPILL_BLOCK_HEADER_BYTES, err));
    if (hash != hash_of(spill, header, whole) ||
        !leat_spill_decode(decoder, spill->texts, encoded, size))
        return damaged(cursor, at, err);
    cursor->at += whole;
    cursor->block = decoder->block;
    cursor->size = (int32_t)size;
    cursor->records = records;
    return LEAT_OK;
}

leat_code leat_spill_cursor_next(leat_spill_cursor *cursor, leat_error *err) {
    cursor->size = 0;
    cursor->records = 0;
    while (cursor->at == cursor->end && cursor->segment < cursor->spill->file_bytes)
        LEAT_TRY(next_segment(cursor, err));
    if (cursor->at < cursor->end) return next_block(cursor, err);
    const uint8_t *chunk = cursor->chunk;
    if (chunk == NULL) return LEAT_OK;
    cursor->chunk = next_of(chunk);
    cursor->block = chunk + LEAT_SPILL_HEADER_BYTES;
    cursor->size = used_of(chunk) - LEAT_SPILL_HEADER_BYTES;
    cursor->records = records_of(chunk);
    return LEAT_OK;
}
