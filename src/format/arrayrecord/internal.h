/* Shared by the files of this folder. */
#ifndef LEAT_FORMAT_ARRAYRECORD_INTERNAL_H
#define LEAT_FORMAT_ARRAYRECORD_INTERNAL_H

#include "base/sink.h"
#include "format/arrayrecord/arrayrecord.h"

/* ---- layout.c: numbers, positions, headers ---- */

#define LEAT_AR_VARINT_BYTES 10
#define LEAT_AR_MAGIC UINT64_C(0x71930e704fdae05e)
/* Counts of records have 56 bits. */
#define LEAT_AR_RECORDS_MAX ((INT64_C(1) << 56) - 1)

static inline uint64_t leat_ar_load64(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}
static inline void leat_ar_store64(uint8_t *bytes, uint64_t value) {
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
}

/* Writes the shortest form, returns its length (1..10). */
int leat_ar_put_varint(uint8_t *bytes, uint64_t value);
int leat_ar_varint_bytes(uint64_t value);
/* Moves *at past a varint; false if it does not end before `end` or has more than 64 bits. */
bool leat_ar_take_long_varint(const uint8_t **at, const uint8_t *end, uint64_t *value);
static inline bool leat_ar_take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value) {
    if (*at == end || **at >= 0x80) return leat_ar_take_long_varint(at, end, value);
    *value = *(*at)++;
    return true;
}

int64_t leat_ar_chunk_end(int64_t begin, int64_t data_bytes, int64_t record_count);
void leat_ar_block_header(uint8_t header[LEAT_AR_BLOCK_HEADER_BYTES], int64_t position,
                          int64_t begin, int64_t end);
/* begin, data_end and end are ignored. */
void leat_ar_chunk_header(uint8_t header[LEAT_AR_CHUNK_HEADER_BYTES], const leat_ar_chunk *chunk);
/* Fills all but the positions; false if the hash or a number is wrong. */
bool leat_ar_chunk_header_parse(const uint8_t header[LEAT_AR_CHUNK_HEADER_BYTES],
                                leat_ar_chunk *chunk);
/* The bytes before an uncompressed record alone in its chunk; returns their number. */
#define LEAT_AR_FRONT_BYTES (2 + LEAT_AR_VARINT_BYTES)
int leat_ar_record_front(uint8_t front[LEAT_AR_FRONT_BYTES], int64_t size_bytes);

/* ---- codec.c: the three compressions ---- */

/* The input is compressed in pieces of this size, the last one apart, however it was handed over:
 * so the output is a function of the input and the options. */
#define LEAT_AR_PIECE_BYTES (256 * 1024)

typedef struct leat_ar_encoder leat_ar_encoder;
LEAT_MUST_CHECK leat_code leat_ar_encoder_create(leat_ar_encoder **out,
                                                 leat_compression compression, int level,
                                                 leat_error *err);
void leat_ar_encoder_destroy(leat_ar_encoder *encoder);
/* Begins a stream of exactly size_bytes, whose compressed bytes go to put. */
LEAT_MUST_CHECK leat_code leat_ar_encoder_begin(leat_ar_encoder *encoder, int64_t size_bytes,
                                                leat_ar_put_fn put, void *context, leat_error *err);
LEAT_MUST_CHECK leat_code leat_ar_encoder_put(leat_ar_encoder *encoder, const void *bytes,
                                              int64_t size_bytes, leat_error *err);
LEAT_MUST_CHECK leat_code leat_ar_encoder_end(leat_ar_encoder *encoder, leat_error *err);
/* The compression_type byte. */
uint8_t leat_ar_codec_byte(leat_compression compression);
/* leat_ar_put_fn: to an encoder; to a leat_buf. */
LEAT_MUST_CHECK leat_code leat_ar_put_encoder(void *encoder, const void *bytes, int64_t size_bytes,
                                              leat_error *err);
LEAT_MUST_CHECK leat_code leat_ar_put_buf(void *buf, const void *bytes, int64_t size_bytes,
                                          leat_error *err);

typedef struct leat_ar_decoder leat_ar_decoder;
/* A compressed stream, and how many bytes it has uncompressed. */
typedef struct leat_ar_packed {
    uint8_t codec_byte;
    const uint8_t *at;
    int64_t size_bytes, out_bytes;
} leat_ar_packed;
/*
 * The most that decompressing one stream takes beside *out: brotli's window, which
 * grows with the output up to what the stream's first bytes say, the old one beside the new one,
 * and its code tables; the others less than 1 MiB.
 */
int64_t leat_ar_decoder_bytes(const leat_ar_packed *packed);
/* The same before a stream has been seen, for any codec with a window of RFC 7932. */
#define LEAT_AR_CODE_TABLE_BYTES (INT64_C(16) << 20)
#define LEAT_AR_WINDOW_BYTES_USUAL (INT64_C(16) << 20)
LEAT_MUST_CHECK leat_code leat_ar_decoder_create(leat_ar_decoder **out, leat_error *err);
void leat_ar_decoder_destroy(leat_ar_decoder *decoder);
/*
 * Decompresses one whole stream, with nothing after it, to exactly out_bytes bytes in *out (made
 * larger as needed, its content replaced). Memory beside *out: up to leat_ar_decoder_bytes.
 */
LEAT_MUST_CHECK leat_code leat_ar_decode(leat_ar_decoder *decoder, const leat_ar_packed *packed,
                                         leat_buf *out, leat_error *err);

/* ---- emit.c: chunks onto a sink, block headers put in between ---- */

typedef struct leat_ar_emitter {
    leat_sink *sink;
    int64_t position;
    int64_t begin, end; /* of the chunk that is being written */
} leat_ar_emitter;

/* Begins a chunk; of *chunk the caller fills what its header holds, the positions are set here. */
LEAT_MUST_CHECK leat_code leat_ar_emit_begin(leat_ar_emitter *emitter, leat_ar_chunk *chunk,
                                             leat_error *err);
/* A leat_ar_put_fn: the data of the chunk, piece by piece. */
LEAT_MUST_CHECK leat_code leat_ar_emit_data(void *emitter, const void *bytes, int64_t size_bytes,
                                            leat_error *err);
/* The chunk's own padding. */
LEAT_MUST_CHECK leat_code leat_ar_emit_end(leat_ar_emitter *emitter, leat_error *err);
/* A compressed simple chunk from its two parts (each the varint of its size, and a stream); fills
 * the data facts of *chunk and emits all of it. */
LEAT_MUST_CHECK leat_code leat_ar_emit_packed(leat_ar_emitter *emitter, leat_ar_chunk *chunk,
                                              uint8_t codec_byte, const leat_buf *sizes,
                                              const leat_buf *values, leat_error *err);
/* A padding chunk that ends on a block boundary; none if the position is one. */
LEAT_MUST_CHECK leat_code leat_ar_emit_padding(leat_ar_emitter *emitter, leat_error *err);

/* ---- writer_options.c ---- */

/* The options with the level filled in and everything in its range. */
LEAT_MUST_CHECK leat_code leat_ar_options_check(const leat_ar_options *options,
                                                leat_ar_options *checked, leat_error *err);
/* The text in the footer; returns its length. */
#define LEAT_AR_OPTIONS_TEXT_BYTES 160
int leat_ar_options_text(const leat_ar_options *options, char text[LEAT_AR_OPTIONS_TEXT_BYTES]);

/* ---- footer.c: the index, written ---- */

typedef struct leat_ar_index_entry {
    int64_t offset;
    int64_t decoded_bytes;
} leat_ar_index_entry;

typedef struct leat_ar_index {
    leat_ar_index_entry *entries;
    int64_t count, capacity;
    int64_t group_size;
    int64_t record_count;
} leat_ar_index;

/* Writes footer, padding, postscript, padding. The encoder is NULL without compression. */
LEAT_MUST_CHECK leat_code leat_ar_emit_footer(leat_ar_emitter *emitter,
                                              const leat_ar_options *options,
                                              leat_ar_encoder *encoder, const leat_ar_index *index,
                                              leat_error *err);

/* ---- writer.c ---- */

struct leat_ar_sink_writer {
    leat_ar_emitter emitter;
    leat_ar_options options;
    leat_ar_encoder *encoder; /* NULL without compression */
    leat_ar_index index;
    leat_buf sizes, values; /* of the group that is being gathered */
    int64_t group_count;
    leat_buf packed_sizes, packed_values; /* the same, compressed */
    leat_code failed;
    bool finished;
};

/* Before a chunk is emitted: room for it in the index. */
LEAT_MUST_CHECK leat_code leat_ar_expect_chunk(leat_ar_sink_writer *writer, leat_error *err);
/* After it: notes it, and pads if the options say so. */
LEAT_MUST_CHECK leat_code leat_ar_note_chunk(leat_ar_sink_writer *writer,
                                             const leat_ar_chunk *chunk, leat_error *err);
/* LEAT_OK, or why nothing more can be written. */
LEAT_MUST_CHECK leat_code leat_ar_writer_usable(const leat_ar_sink_writer *writer, leat_error *err);
/* Replaces *out by the varint of the size and the compressed bytes. */
LEAT_MUST_CHECK leat_code leat_ar_pack(leat_ar_encoder *encoder, const void *bytes,
                                       int64_t size_bytes, leat_buf *out, leat_error *err);

/* ---- decode.c: from a chunk to its records ---- */

/* Buffers of one thread. The data lies in `data` or, decompressed, in `values`. */
typedef struct leat_ar_room {
    uint8_t *scratch;                /* LEAT_AR_SCAN_BYTES */
    int64_t read_offset, read_bytes; /* what lies in scratch */
    leat_buf data, sizes, values;
    int64_t *starts; /* record_count + 1 offsets into the records */
    int64_t starts_capacity;
    leat_ar_decoder *decoder;
    int64_t memory_max;           /* memory that decoding a chunk may take; 0: no limit */
    int64_t need_bytes;           /* memory that the last chunk takes, as far as it was read */
    const leat_ar_reader *reader; /* whose chunk it holds, with the chunk's number; -1: none */
    int64_t opened_ns;
    int64_t chunk_index;
    const uint8_t *records;
} leat_ar_room;

LEAT_MUST_CHECK leat_code leat_ar_room_create(leat_ar_room **out, leat_error *err);
void leat_ar_room_destroy(leat_ar_room *room);

typedef struct leat_ar_decoded {
    const uint8_t *sizes, *sizes_end; /* record_count varints */
    const uint8_t *values;            /* decoded_bytes */
    bool prefix_wrong; /* the size before the compressed values is not theirs: read all the same */
} leat_ar_decoded;
/*
 * Reads, checks and decompresses the simple chunk *chunk into the room; the results point there.
 * LEAT_ERR_LIMIT, before the memory is taken, where it is more than room->memory_max.
 * The sizes are checked: record_count of them, nothing after them, their sum decoded_bytes.
 */
LEAT_MUST_CHECK leat_code leat_ar_chunk_decode(const leat_ar_bytes *bytes,
                                               const leat_ar_chunk *chunk, int64_t max_bytes,
                                               leat_ar_room *room, leat_ar_decoded *decoded,
                                               leat_error *err);

/* ---- index.c: postscript and footer, read ---- */

/* Footers of up to 10^8 chunks. */
#define LEAT_AR_FOOTER_BYTES_MAX (INT64_C(1) << 31)
#define LEAT_AR_OPTIONS_TEXT_MAX 65536

typedef struct leat_ar_table {
    leat_ar_index index; /* decoded_bytes is -1 where the footer does not say */
    char *writer_options;
    int64_t footer_offset, footer_end;
    int64_t extra_entries;    /* entries beyond num_chunks */
    int64_t postscript_count; /* copies */
    bool postscripts_equal;
    bool prefix_wrong; /* in footer or postscript */
} leat_ar_table;

LEAT_MUST_CHECK leat_code leat_ar_table_read(const leat_ar_bytes *bytes, leat_ar_room *room,
                                             leat_ar_table *table, leat_error *err);
void leat_ar_table_free(leat_ar_table *table);
/* Records of chunk `index`. */
int64_t leat_ar_table_records(const leat_ar_table *table, int64_t index);

/* ---- reader.c ---- */

/* Where a reader's bytes come from: a file or memory. */
typedef struct leat_ar_source {
    leat_file *file; /* NULL: memory */
    const uint8_t *memory;
    int64_t size_bytes;
} leat_ar_source;

/*
 * The source as seen through a room (whose scratch holds what was read last). No read goes past
 * `window_end`, so that the first look at a small chunk brings in all of it and nothing more.
 */
typedef struct leat_ar_window {
    const leat_ar_source *source;
    leat_ar_room *room;
    int64_t window_end;
} leat_ar_window;
leat_ar_bytes leat_ar_window_bytes(leat_ar_window *window);
/* The limit that the options (NULL allowed) set. */
LEAT_MUST_CHECK leat_code leat_ar_read_limit(const leat_ar_read_options *options,
                                             int64_t *max_chunk_bytes, leat_error *err);
LEAT_MUST_CHECK leat_code leat_ar_source_open(leat_ar_source *source, const char *path,
                                              leat_error *err);

#endif
