/*
 * Partitioned measurements: each worker of the scan collects the measurements of thousands of
 * buckets in chunks of memory, which its spills take from one pool. When the pool has no chunk
 * left, all that it holds is encoded (spill_code.h) and appended to the spills' files, so that
 * nothing is written while there is memory, and what is written lies in order of the buckets.
 *
 * A stream (one worker, one bucket) is a sequence of two kinds of records, little-endian,
 * unaligned:
 *
 *   definition   i64 src_id, u32 LEAT_SPILL_DEFINITION | text bytes, text
 *   measurement  i64 time_us, u32 source, f32 rtt, u8 facts, destination text
 *
 * `source` counts the definitions of its generation, which come before their first use. A
 * generation begins with a definition that has LEAT_SPILL_FIRST: earlier definitions are not
 * referenced after it, so a reader keeps the definitions of one generation, however long the
 * stream. facts = length of the text, plus LEAT_SPILL_V6 for IP version 6, plus LEAT_SPILL_MORE if
 * a u32 follows the text: the number of the answer among the equal answers of one result, plus
 * LEAT_SPILL_OWN_SOURCE if a u8 length and the address of the measurement's source follow, because
 * the definition is the name of a probe. No record crosses a chunk.
 */
#ifndef LEAT_INGEST_PROBES_SPILL_H
#define LEAT_INGEST_PROBES_SPILL_H

#include <stdatomic.h>
#include <string.h>

#include "base/address.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/mem.h"

#define LEAT_SPILL_DEFINITION UINT32_C(0x80000000)
#define LEAT_SPILL_FIRST UINT32_C(0x40000000)
#define LEAT_SPILL_V6 0x40
#define LEAT_SPILL_MORE 0x80
#define LEAT_SPILL_MORE_BYTES 4
#define LEAT_SPILL_OWN_SOURCE UINT32_C(0x80000000)
#define LEAT_SPILL_LENGTH 0x3f
#define LEAT_SPILL_DEFINITION_BYTES 12
#define LEAT_SPILL_MEASUREMENT_BYTES 17
#define LEAT_SPILL_RTT_AT 12
#define LEAT_SPILL_FACTS_AT 16
#define LEAT_SPILL_TEXT_AT 17

/* Memory for the records of one bucket: a link to the next chunk, u32 bytes used, u32
 * measurements, records. */
#define LEAT_SPILL_CHUNK_BYTES 4096
#define LEAT_SPILL_HEADER_BYTES 16
/* Chunks are allocated and taken from the budget in slabs of at least this size. */
#define LEAT_SPILL_SLAB_BYTES_MIN 65536
/* The records that are encoded together: those of some chunks. */
#define LEAT_SPILL_BLOCK_BYTES 32768

/* Totals of one stream. */
typedef struct leat_spill_stream {
    int64_t bytes;   /* of its records */
    int64_t records; /* measurements */
    int64_t definitions;
    int64_t generation;      /* definitions of the last generation */
    int64_t generation_most; /* of the largest one */
} leat_spill_stream;

/* The chunks of a bucket: all that an append touches besides the bytes themselves. */
typedef struct leat_spill_tail {
    uint8_t *last; /* the one that is being filled; NULL: none */
    int32_t used;  /* of it, header included */
    uint32_t records;
    uint8_t *first;
} leat_spill_tail;

struct leat_spill;
struct leat_spill_encoder;
typedef struct leat_spill_texts leat_spill_texts; /* spill_code.h */

/* The chunks of one worker, for all of its spills. */
typedef struct leat_spill_pool {
    int64_t own_bytes;          /* it may take */
    atomic_llong *common_bytes; /* and then from these, which pools share; NULL: there are none */
    int64_t slab_bytes, slab_count, slab_capacity;
    uint8_t **slabs;
    uint8_t *free;             /* chunks, linked */
    struct leat_spill *spills; /* that are being filled, linked */
    struct leat_spill_encoder *encoder;
    leat_spill_texts *texts; /* of what its spills have written; read with them */
} leat_spill_pool;

typedef struct leat_spill {
    leat_file *file;
    leat_spill_pool *pool; /* while it is being filled */
    struct leat_spill *next;
    leat_spill_texts *texts; /* its pool's, or the caller's */
    uint64_t run;            /* number of the run that fills it, in the hash of every block */
    int bucket_count;
    leat_spill_tail *tails; /* of the buckets; NULL: all of them are in the file */
    leat_spill_stream *streams;
    int64_t file_bytes;
} leat_spill;

/* Memory of a pool and of its spills' tables, apart from its chunks. */
int64_t leat_spill_memory_bytes(int bucket_count);

/* bytes, and what common_bytes allows: rounded down to slabs, but at least one slab. */
LEAT_MUST_CHECK leat_code leat_spill_pool_create(leat_spill_pool *pool, int64_t bytes,
                                                 atomic_llong *common_bytes, leat_error *err);
/* After its spills: their chunks are in it. */
void leat_spill_pool_destroy(leat_spill_pool *pool);
/* Whether anything was written to the files of its spills. */
bool leat_spill_pool_has_written(const leat_spill_pool *pool);

/* Creates the file at path. The spill must stay where it is until it is finished. */
LEAT_MUST_CHECK leat_code leat_spill_create(leat_spill *spill, const char *path, uint64_t run,
                                            int bucket_count, leat_spill_pool *pool,
                                            leat_error *err);
/* Nothing is appended any more. What is in memory stays there, to be read. */
void leat_spill_finish(leat_spill *spill);
/* Writes a finished spill's chunks to its file, unless it was released; they are not used any
 * more. */
LEAT_MUST_CHECK leat_code leat_spill_write(leat_spill *spill, struct leat_spill_encoder *encoder,
                                           leat_error *err);
/* Reopens a written spill of the same run; its streams are the caller's to fill, and the texts are
 * those of its pool. */
LEAT_MUST_CHECK leat_code leat_spill_open(leat_spill *spill, const char *path, uint64_t run,
                                          int bucket_count, leat_spill_texts *texts,
                                          leat_error *err);
void leat_spill_close(leat_spill *spill);
/* Frees the disk space of a finished spill; nothing can be read from it any more, nor written. */
void leat_spill_release(leat_spill *spill);

/* Begins a chunk of the bucket (slow path of leat_spill_room). */
LEAT_MUST_CHECK leat_code leat_spill_next_chunk(leat_spill *spill, int bucket, leat_error *err);

/* Where the next size_bytes of the bucket go; they count as written. *at is NULL on failure. */
static inline leat_code leat_spill_room(leat_spill *spill, int bucket, int32_t size_bytes,
                                        uint8_t **at, leat_error *err) {
    leat_spill_tail *tail = &spill->tails[bucket];
    if (__builtin_expect(tail->used + size_bytes > LEAT_SPILL_CHUNK_BYTES, 0)) {
        *at = NULL;
        LEAT_TRY(leat_spill_next_chunk(spill, bucket, err));
        LEAT_ASSERT(tail->used + size_bytes <= LEAT_SPILL_CHUNK_BYTES);
    }
    *at = tail->last + tail->used;
    tail->used += size_bytes;
    return LEAT_OK;
}

/* Appends a definition to the bucket; its measurements refer to it by *number. */
LEAT_MUST_CHECK leat_code leat_spill_define(leat_spill *spill, int bucket, int64_t src_id,
                                            leat_text text, uint32_t *number, leat_error *err);
/* Begins a new generation in every bucket: earlier definitions are not referenced any more. */
void leat_spill_forget(leat_spill *spill);

/*
 * The order of two measurements of one probe: time, destination text, their own sources' texts if
 * they have them, rtt. That is everything that is written, so equal in these means equal bytes.
 * Then the number among equal answers of a result: equal in this order means that one is a
 * duplicate of the other.
 */
int leat_spill_compare(const uint8_t *a, const uint8_t *b);

/* The word after a measurement's text; 0 if there is none. */
static inline uint32_t leat_spill_more(const uint8_t *record) {
    uint32_t more = 0;
    uint8_t facts = record[LEAT_SPILL_FACTS_AT];
    if (facts & LEAT_SPILL_MORE)
        memcpy(&more, record + LEAT_SPILL_TEXT_AT + (facts & LEAT_SPILL_LENGTH), sizeof more);
    return more;
}
/* The address of the measurement's own source; NULL with size 0 if the definition is its source. */
static inline const uint8_t *leat_spill_own_source(const uint8_t *record, int32_t *size_bytes) {
    *size_bytes = 0;
    if ((leat_spill_more(record) & LEAT_SPILL_OWN_SOURCE) == 0) return NULL;
    const uint8_t *at = record + LEAT_SPILL_TEXT_AT + LEAT_SPILL_MORE_BYTES +
                        (record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH);
    *size_bytes = *at;
    return at + 1;
}

/* The size of a measurement. */
static inline int32_t leat_spill_record_bytes(const uint8_t *record) {
    uint8_t facts = record[LEAT_SPILL_FACTS_AT];
    int32_t size = LEAT_SPILL_MEASUREMENT_BYTES + (facts & LEAT_SPILL_LENGTH), own;
    if ((facts & LEAT_SPILL_MORE) == 0) return size;
    size += LEAT_SPILL_MORE_BYTES;
    return leat_spill_own_source(record, &own) != NULL ? size + 1 + own : size;
}
/* The longest measurement. */
#define LEAT_SPILL_RECORD_MAX                                                                      \
    (LEAT_SPILL_MEASUREMENT_BYTES + LEAT_SPILL_LENGTH + LEAT_SPILL_MORE_BYTES + 1 +                \
     LEAT_ADDRESS_TEXT_BYTES)

/* LEAT_ERR_CORRUPT: a temporary file does not contain what was written to it. */
LEAT_MUST_CHECK leat_code leat_temp_damaged(const leat_file *file, leat_error *err);

/* Whether the record at `at` lies within `left` bytes, and its texts have valid lengths;
 * *size_bytes is its size. */
static inline bool leat_spill_record_fits(const uint8_t *at, int64_t left, int32_t *size_bytes) {
    uint32_t word = 0;
    *size_bytes = LEAT_SPILL_DEFINITION_BYTES;
    if (left < LEAT_SPILL_DEFINITION_BYTES) return false;
    memcpy(&word, at + 8, 4);
    int32_t text = (int32_t)(word & LEAT_SPILL_LENGTH);
    if ((word & LEAT_SPILL_DEFINITION) == 0) {
        if (left < LEAT_SPILL_MEASUREMENT_BYTES) return false;
        text = at[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH;
        *size_bytes = LEAT_SPILL_MEASUREMENT_BYTES +
                      (at[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_MORE ? LEAT_SPILL_MORE_BYTES : 0);
    }
    *size_bytes += text;
    if (text > LEAT_ADDRESS_TEXT_BYTES || *size_bytes > left) return false;
    if ((word & LEAT_SPILL_DEFINITION) != 0 || (leat_spill_more(at) & LEAT_SPILL_OWN_SOURCE) == 0)
        return true;
    if (*size_bytes == left || at[*size_bytes] > LEAT_ADDRESS_TEXT_BYTES) return false;
    *size_bytes += 1 + at[*size_bytes];
    return *size_bytes <= left;
}

/* The last record written is a measurement. */
static inline void leat_spill_count(leat_spill *spill, int bucket) {
    spill->tails[bucket].records++;
}

/* Prefetches the place of the bucket's next record. */
static inline void leat_spill_prefetch(const leat_spill *spill, int bucket) {
    const leat_spill_tail *tail = &spill->tails[bucket];
    if (tail->last == NULL) return;
    __builtin_prefetch(tail->last + tail->used, 1, 3);
    if (tail->used + 63 < LEAT_SPILL_CHUNK_BYTES)
        __builtin_prefetch(tail->last + tail->used + 63, 1, 3);
}

struct leat_spill_decoder;

/* Reading one stream from beginning to end, block by block. */
typedef struct leat_spill_cursor {
    const leat_spill *spill;
    int bucket;
    struct leat_spill_decoder *decoder; /* the caller's */
    int64_t segment;                    /* of the file, the next one */
    int64_t at, end;                    /* the bucket's blocks in the segment before */
    const uint8_t *chunk;               /* the next one in memory */
    const uint8_t *block;               /* the records that were read ahead */
    int32_t size;                       /* of them; 0: none read ahead */
    uint32_t records;                   /* measurements among them */
} leat_spill_cursor;

void leat_spill_cursor_begin(leat_spill_cursor *cursor, const leat_spill *spill, int bucket,
                             struct leat_spill_decoder *decoder);
/* Makes the next block current, of at most LEAT_SPILL_BLOCK_BYTES; size 0 at the end. */
LEAT_MUST_CHECK leat_code leat_spill_cursor_next(leat_spill_cursor *cursor, leat_error *err);

/* Byte order of two texts: <0, 0, >0. */
int leat_text_compare(const char *a, int32_t a_bytes, const char *b, int32_t b_bytes);

#endif
