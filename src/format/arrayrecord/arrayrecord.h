/*
 * ArrayRecord, private part: positions, the writer on a sink, and the reader's pieces that mapping
 * needs. The public reader and writer are in leat/format.h. Format: docs/arrayrecord.md.
 */
#ifndef LEAT_FORMAT_ARRAYRECORD_ARRAYRECORD_H
#define LEAT_FORMAT_ARRAYRECORD_ARRAYRECORD_H

#include "base/sink.h"
#include "leat/format.h"

#define LEAT_AR_BLOCK_BYTES 65536
#define LEAT_AR_BLOCK_HEADER_BYTES 24
#define LEAT_AR_CHUNK_HEADER_BYTES 40

#define LEAT_AR_BLOCK_ROOM (LEAT_AR_BLOCK_BYTES - LEAT_AR_BLOCK_HEADER_BYTES)

/*
 * File position after `count` chunk bytes from legal chunk begin `begin` (the page's advance).
 * Here, and unsigned, because reading single values of a mapped record does little else.
 */
static inline int64_t leat_ar_advance(int64_t begin, int64_t count) {
    uint64_t in_block = ((uint64_t)begin + LEAT_AR_BLOCK_ROOM - 1) % LEAT_AR_BLOCK_BYTES;
    uint64_t headers = ((uint64_t)count + in_block) / LEAT_AR_BLOCK_ROOM;
    return begin + count + (int64_t)headers * LEAT_AR_BLOCK_HEADER_BYTES;
}

/* File position of stream byte `index` of the chunk that begins at `begin` (byte_at). */
static inline int64_t leat_ar_byte_at(int64_t begin, int64_t index) {
    return leat_ar_advance(begin, index + 1) - 1;
}

/*
 * How many of the size_bytes bytes (1..) from stream byte `index` on are contiguous in the file;
 * *file_offset is where. 1..size_bytes, cut where a block header interrupts. Arithmetic only.
 */
static inline int64_t leat_ar_fragment(int64_t begin, int64_t index, int64_t size_bytes,
                                       int64_t *file_offset) {
    *file_offset = leat_ar_byte_at(begin, index);
    int64_t together = LEAT_AR_BLOCK_BYTES - *file_offset % LEAT_AR_BLOCK_BYTES;
    return size_bytes < together ? size_bytes : together;
}

/* Where one record was put. */
typedef struct leat_ar_place {
    int64_t chunk_offset; /* file position where its chunk begins */
    int64_t record_index; /* in the file */
    int64_t index_in_chunk;
    int64_t size_bytes; /* uncompressed */
} leat_ar_place;

typedef struct leat_ar_sink_writer leat_ar_sink_writer;

/* Writes to a sink (the caller's, which must outlive the writer) from its position 0. */
LEAT_MUST_CHECK leat_code leat_ar_sink_writer_create(leat_ar_sink_writer **out, leat_sink *sink,
                                                     const leat_ar_options *options,
                                                     leat_error *err);
void leat_ar_sink_writer_destroy(leat_ar_sink_writer *writer);
/* With group_size 1 *place is final; with larger groups chunk_offset is -1. place may be NULL. */
LEAT_MUST_CHECK leat_code leat_ar_sink_writer_append(leat_ar_sink_writer *writer,
                                                     const void *record, int64_t size_bytes,
                                                     leat_ar_place *place, leat_error *err);
/*
 * A record too large for memory: `produce` is called once for the hash and once for the bytes
 * (uncompressed) and must `put` exactly size_bytes bytes, the same each time.
 */
typedef leat_code (*leat_ar_put_fn)(void *put_context, const void *bytes, int64_t size_bytes,
                                    leat_error *err);
typedef leat_code (*leat_ar_produce_fn)(void *context, leat_ar_put_fn put, void *put_context,
                                        leat_error *err);
typedef struct leat_ar_stream {
    int64_t size_bytes;
    leat_ar_produce_fn produce;
    void *context;
} leat_ar_stream;
/* Compressed records are compressed in one pass to an anonymous file in temp_dir first. Needs
 * group_size 1. */
LEAT_MUST_CHECK leat_code leat_ar_sink_writer_append_stream(leat_ar_sink_writer *writer,
                                                            const leat_ar_stream *record,
                                                            const char *temp_dir,
                                                            leat_ar_place *place, leat_error *err);
/* Writes footer and postscript; the sink is the caller's to finish. */
LEAT_MUST_CHECK leat_code leat_ar_sink_writer_finish(leat_ar_sink_writer *writer, leat_error *err);

/* ---- Reading from mapped files ---- */

/*
 * Bytes [offset, offset + size_bytes) of a file, inside the limit that the caller gave: a pointer
 * to them in the source, or `scratch` (size_bytes of it) filled; NULL with *err filled if they
 * cannot be read. A mapping gives pointers and never needs scratch.
 */
typedef const uint8_t *(*leat_ar_bytes_fn)(void *context, int64_t offset, int64_t size_bytes,
                                           uint8_t *scratch, leat_error *err);
typedef struct leat_ar_bytes {
    leat_ar_bytes_fn get;
    void *context;
    int64_t size_bytes; /* of the file */
} leat_ar_bytes;

/* The header of a chunk, checked by its hash, and what follows from it. */
typedef struct leat_ar_chunk {
    int64_t begin;    /* file positions */
    int64_t data_end; /* after the last byte of data */
    int64_t end;      /* after the chunk's own padding */
    int64_t data_bytes;
    int64_t record_count;
    int64_t decoded_bytes;
    uint64_t data_hash;
    uint8_t type; /* leat_ar_chunk_type */
} leat_ar_chunk;

typedef enum leat_ar_chunk_type {
    LEAT_AR_CHUNK_SIGNATURE = 0x73,
    LEAT_AR_CHUNK_METADATA = 0x6d,
    LEAT_AR_CHUNK_PADDING = 0x70,
    LEAT_AR_CHUNK_SIMPLE = 0x72,
    LEAT_AR_CHUNK_TRANSPOSED = 0x74,
} leat_ar_chunk_type;

/*
 * Reads the chunk header at `begin`: its hash, a block header that cuts it, all sizes, and that the
 * chunk ends at or before `limit` (<= the file's size). Looks at up to 64 bytes. LEAT_ERR_CORRUPT
 * if any of these is wrong; begin may be any number.
 */
LEAT_MUST_CHECK leat_code leat_ar_chunk_read(const leat_ar_bytes *bytes, int64_t begin,
                                             int64_t limit, leat_ar_chunk *chunk, leat_error *err);
/*
 * Checks the whole chunk: every block header inside it, and the hash of its data. `data`, if it is
 * not NULL, receives the chunk's data (chunk->data_bytes). Bytes are requested in pieces of up to
 * LEAT_AR_SCAN_BYTES; scratch is that large, or NULL if get never needs it.
 */
#define LEAT_AR_SCAN_BYTES (256 * 1024)
LEAT_MUST_CHECK leat_code leat_ar_chunk_scan(const leat_ar_bytes *bytes, const leat_ar_chunk *chunk,
                                             uint8_t *data, uint8_t *scratch, leat_error *err);
/*
 * The position of record `index` of a simple uncompressed chunk: stream byte *first, for
 * leat_ar_fragment, and its size. Checks the bytes before the records (type, sizes and their sum)
 * against the header; for a chunk of one record these are a few bytes right before it.
 * LEAT_ERR_UNSUPPORTED: the chunk is compressed or transposed, so it must be decoded. Nothing is
 * hashed here.
 */
LEAT_MUST_CHECK leat_code leat_ar_chunk_record(const leat_ar_bytes *bytes,
                                               const leat_ar_chunk *chunk, int64_t index,
                                               int64_t *first, int64_t *size_bytes,
                                               leat_error *err);

/*
 * The beginning of the stream of a chunk with one uncompressed record: the chunk header, whose two
 * hashes are left zero, and the framing before the record. Returns its size: the stream byte where
 * the record begins. *end gets the file position after a chunk that begins at `begin`.
 */
#define LEAT_AR_PLAIN_HEAD_BYTES 56
int leat_ar_plain_head(int64_t begin, int64_t record_bytes, uint8_t head[LEAT_AR_PLAIN_HEAD_BYTES],
                       int64_t *end);
/* May a chunk begin or end here? */
bool leat_ar_position_legal(int64_t position);

/*
 * A reader for callers that know the positions of chunks from another source: the file's own index
 * is not read, so that damage to it cannot prevent reading an intact chunk. Only
 * leat_ar_reader_read_at, _pread, _file_bytes and _close accept it.
 */
LEAT_MUST_CHECK leat_code leat_ar_reader_open_bare(leat_ar_reader **out, const char *path,
                                                   leat_error *err);
/* Bytes of the reader's file, unchecked. */
LEAT_MUST_CHECK leat_code leat_ar_reader_pread(const leat_ar_reader *reader, void *bytes,
                                               int64_t size_bytes, int64_t offset, leat_error *err);
/* A bare reader of bytes [begin, end) of a file that are in memory: of chunks that lie within them.
 */
LEAT_MUST_CHECK leat_code leat_ar_reader_open_piece(leat_ar_reader **out, const void *bytes,
                                                    int64_t begin, int64_t end, leat_error *err);
/*
 * A reader that takes at most memory_max bytes for its table, and as much for each record that is
 * read (0: no limit): if more is required, the call fails with LEAT_ERR_LIMIT before the memory is
 * allocated. *need_bytes receives what opening requires; leat_ar_record_need returns what the last
 * record required.
 */
LEAT_MUST_CHECK leat_code leat_ar_reader_open_within(leat_ar_reader **out, const char *path,
                                                     int64_t memory_max, int64_t *need_bytes,
                                                     leat_error *err);
int64_t leat_ar_record_need(const leat_ar_record *record);
/* What an open reader keeps of each chunk. */
#define LEAT_AR_TABLE_CHUNK_BYTES 16
/* How many bytes a chunk has in the file at most, and decoded: its header is read only if the
 * footer does not record that. */
LEAT_MUST_CHECK leat_code leat_ar_reader_measure(const leat_ar_reader *reader, int64_t index,
                                                 int64_t *file_bytes, int64_t *decoded_bytes,
                                                 leat_error *err);
/* leat_ar_verify, with chunks that take more than memory_max bytes as findings (0: no limit). */
LEAT_MUST_CHECK leat_code leat_ar_verify_within(const char *path,
                                                const leat_ar_read_options *options,
                                                int64_t memory_max, leat_ar_finding_fn finding,
                                                void *user, leat_ar_check *check, leat_error *err);
/* The one record of the chunk at `offset`, checked as by leat_ar_reader_read; threads likewise. */
LEAT_MUST_CHECK leat_code leat_ar_reader_read_at(const leat_ar_reader *reader, int64_t offset,
                                                 leat_ar_record *record, leat_error *err);

/* File position of the footer chunk, where the data chunks end. */
int64_t leat_ar_reader_footer_offset(const leat_ar_reader *reader);
int64_t leat_ar_reader_file_bytes(const leat_ar_reader *reader);

/* The text that leat_ar_options_parse reads, with the level filled in: "none", "zstd:3".
 * LEAT_ERR_OPTION if the options are out of their range. */
#define LEAT_AR_COMPRESSION_TEXT_BYTES 24
LEAT_MUST_CHECK leat_code leat_ar_compression_text(const leat_ar_options *options,
                                                   char text[LEAT_AR_COMPRESSION_TEXT_BYTES],
                                                   leat_error *err);

#endif
