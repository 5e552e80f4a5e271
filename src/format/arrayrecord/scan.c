/*
 * Reads chunks in place: headers, a walk over a chunk's bytes that checks every block header and
 * the data hash, and the position of a record in an uncompressed chunk. The bytes come through a
 * function, so the same code reads mapped files, memory, and files through pread.
 */
#include <string.h>

#include "format/arrayrecord/internal.h"

#define BLOCK LEAT_AR_BLOCK_BYTES
#define BLOCK_HEADER LEAT_AR_BLOCK_HEADER_BYTES
#define CHUNK_HEADER LEAT_AR_CHUNK_HEADER_BYTES
/* A chunk header and the block header that may precede or interrupt it. */
#define HEAD_BYTES (CHUNK_HEADER + BLOCK_HEADER)

static leat_code bad_chunk(leat_error *err, int64_t begin, const char *what) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "chunk at byte %lld: %s; the file is damaged",
                     (long long)begin, what);
}

/* Whether the block header at `position`, read to `found`, is the one that this chunk requires
 * there. */
static leat_code check_block(const uint8_t *found, int64_t position, const leat_ar_chunk *chunk,
                             leat_error *err) {
    uint8_t expected[BLOCK_HEADER];
    leat_ar_block_header(expected, position, chunk->begin, chunk->end);
    if (memcmp(found, expected, BLOCK_HEADER) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "chunk at byte %lld: block header at byte %lld is wrong; the file is damaged",
                     (long long)chunk->begin, (long long)position);
}

leat_code leat_ar_chunk_read(const leat_ar_bytes *bytes, int64_t begin, int64_t limit,
                             leat_ar_chunk *chunk, leat_error *err) {
    *chunk = (leat_ar_chunk){0};
    leat_error unheard;
    if (err == NULL) err = &unheard;
    LEAT_ASSERT(limit <= bytes->size_bytes);
    if (!leat_ar_position_legal(begin) || begin > limit - CHUNK_HEADER) {
        return bad_chunk(err, begin, "no chunk can begin here");
    }
    int64_t head = leat_ar_advance(begin, CHUNK_HEADER) - begin;
    if (head > limit - begin) return bad_chunk(err, begin, "its header is truncated");
    uint8_t scratch[HEAD_BYTES], header[CHUNK_HEADER];
    const uint8_t *found = bytes->get(bytes->context, begin, head, scratch, err);
    if (found == NULL) return err->code;
    /* bytes of the header before the block header, if there is one: 0 at a block boundary */
    int64_t before = head == CHUNK_HEADER ? CHUNK_HEADER : (BLOCK - begin % BLOCK) % BLOCK;
    memcpy(header, found, (size_t)before);
    if (before < CHUNK_HEADER) {
        memcpy(header + before, found + before + BLOCK_HEADER, (size_t)(CHUNK_HEADER - before));
    }
    leat_ar_chunk parsed = {.begin = begin};
    if (!leat_ar_chunk_header_parse(header, &parsed)) {
        return bad_chunk(err, begin, "header hash mismatch");
    }
    if (parsed.data_bytes > limit - begin) {
        return bad_chunk(err, begin, "its data ends after the part that contains it");
    }
    parsed.data_end = leat_ar_advance(begin, CHUNK_HEADER + parsed.data_bytes);
    parsed.end = leat_ar_chunk_end(begin, parsed.data_bytes, parsed.record_count);
    if (parsed.end > limit) {
        return bad_chunk(err, begin, "it ends after the part that contains it");
    }
    if (before < CHUNK_HEADER) {
        LEAT_TRY(check_block(found + before, begin + before, &parsed, err));
    }
    *chunk = parsed;
    return LEAT_OK;
}

typedef struct scan {
    leat_highwayhash hash;
    int64_t stream; /* bytes of the chunk's stream seen, its header included */
    uint8_t *data;  /* where data goes, or NULL */
} scan;

/* A run of stream bytes without block header. */
static void scan_run(scan *s, const uint8_t *run, int64_t size_bytes) {
    int64_t skip = s->stream < CHUNK_HEADER ? CHUNK_HEADER - s->stream : 0;
    if (skip > size_bytes) skip = size_bytes;
    s->stream += size_bytes;
    run += skip;
    size_bytes -= skip;
    if (size_bytes == 0) return;
    if (s->data != NULL) {
        /* the copy first: the hash then reads what is in the cache */
        memcpy(s->data, run, (size_t)size_bytes);
        run = s->data;
        s->data += size_bytes;
    }
    leat_highwayhash_update(&s->hash, run, size_bytes);
}

leat_code leat_ar_chunk_scan(const leat_ar_bytes *bytes, const leat_ar_chunk *chunk, uint8_t *data,
                             uint8_t *scratch, leat_error *err) {
    leat_error unheard;
    if (err == NULL) err = &unheard;
    scan s = {.data = data};
    leat_highwayhash_init(&s.hash);
    int64_t position = chunk->begin;
    while (position < chunk->data_end) {
        /* pieces end on multiples of their size, so no block header is cut */
        int64_t stop = (position / LEAT_AR_SCAN_BYTES + 1) * LEAT_AR_SCAN_BYTES;
        if (stop > chunk->data_end) stop = chunk->data_end;
        const uint8_t *piece = bytes->get(bytes->context, position, stop - position, scratch, err);
        if (piece == NULL) return err->code;
        while (position < stop) {
            if (position % BLOCK == 0) {
                LEAT_TRY(check_block(piece, position, chunk, err));
                piece += BLOCK_HEADER;
                position += BLOCK_HEADER;
            }
            int64_t run = BLOCK - position % BLOCK;
            if (run > stop - position) run = stop - position;
            scan_run(&s, piece, run);
            piece += run;
            position += run;
        }
    }
    LEAT_ASSERT(s.stream == CHUNK_HEADER + chunk->data_bytes);
    if (leat_highwayhash_final(&s.hash) == chunk->data_hash) return LEAT_OK;
    return bad_chunk(err, chunk->begin, "data hash mismatch");
}

/* ---- the place of a record ---- */

/* Reads a chunk's stream front to back in small pieces. */
typedef struct stream {
    const leat_ar_bytes *bytes;
    int64_t begin, at, end; /* stream indices: next byte to fetch, end of what may be read */
    uint8_t piece[512];
    const uint8_t *next, *stop;
} stream;

static leat_code stream_fill(stream *s, leat_error *err) {
    int64_t want =
        s->end - s->at < (int64_t)sizeof s->piece ? s->end - s->at : (int64_t)sizeof s->piece;
    int64_t offset = 0;
    int64_t size = leat_ar_fragment(s->begin, s->at, want, &offset);
    s->next = s->bytes->get(s->bytes->context, offset, size, s->piece, err);
    if (s->next == NULL) return err->code;
    s->stop = s->next + size;
    s->at += size;
    return LEAT_OK;
}

/* The next byte's stream index. */
static int64_t stream_index(const stream *s) { return s->at - (s->stop - s->next); }

static leat_code stream_varint(stream *s, uint64_t *value, leat_error *err) {
    uint64_t sum = 0;
    for (int i = 0; i < LEAT_AR_VARINT_BYTES; i++) {
        if (s->next == s->stop) {
            if (s->at == s->end) break;
            LEAT_TRY(stream_fill(s, err));
        }
        uint8_t byte = *s->next++;
        if (i == LEAT_AR_VARINT_BYTES - 1 && byte > 1) break;
        sum |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *value = sum;
            return LEAT_OK;
        }
    }
    return bad_chunk(err, s->begin, "one of its sizes is not a valid number");
}

leat_code leat_ar_chunk_record(const leat_ar_bytes *bytes, const leat_ar_chunk *chunk,
                               int64_t index, int64_t *first, int64_t *size_bytes,
                               leat_error *err) {
    *first = *size_bytes = 0;
    leat_error unheard;
    if (err == NULL) err = &unheard;
    if (index < 0 || index >= chunk->record_count) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "chunk at byte %lld: has %lld records, no record %lld",
                         (long long)chunk->begin, (long long)chunk->record_count, (long long)index);
    }
    int64_t end = CHUNK_HEADER + chunk->data_bytes;
    stream s = {.bytes = bytes, .begin = chunk->begin, .at = CHUNK_HEADER, .end = end};
    uint64_t codec = 1, sizes_bytes = 0;
    if (chunk->type == LEAT_AR_CHUNK_SIMPLE) LEAT_TRY(stream_varint(&s, &codec, err));
    if (codec != 0) {
        return leat_fail(
            err, LEAT_ERR_UNSUPPORTED,
            "chunk at byte %lld: it is compressed or transposed and cannot be read in place",
            (long long)chunk->begin);
    }
    LEAT_TRY(stream_varint(&s, &sizes_bytes, err));
    int64_t sizes_at = stream_index(&s);
    if (sizes_bytes > (uint64_t)(end - sizes_at)) {
        return bad_chunk(err, chunk->begin, "its sizes end after it");
    }
    int64_t values_at = sizes_at + (int64_t)sizes_bytes;
    if (end - values_at != chunk->decoded_bytes) {
        return bad_chunk(err, chunk->begin, "its records do not fill it");
    }
    int64_t sum = 0, found_first = 0, found_size = 0;
    for (int64_t i = 0; i < chunk->record_count; i++) {
        uint64_t size = 0;
        LEAT_TRY(stream_varint(&s, &size, err));
        if (size > (uint64_t)(chunk->decoded_bytes - sum)) {
            return bad_chunk(err, chunk->begin, "its records are larger than the chunk");
        }
        if (i == index) {
            found_first = values_at + sum;
            found_size = (int64_t)size;
        }
        sum += (int64_t)size;
    }
    if (stream_index(&s) != values_at || sum != chunk->decoded_bytes) {
        return bad_chunk(err, chunk->begin, "its sizes do not add up");
    }
    *first = found_first;
    *size_bytes = found_size;
    return LEAT_OK;
}
