/*
 * Arrow IPC streams, reading: messages, one schema, record and dictionary batches, from bytes that
 * may be hostile. Nothing here knows what the columns mean; format/probe_*.c does.
 *
 * The metadata are flatbuffers, read in place with every offset checked (flat.c). Of the
 * schema only the columns that the caller names are kept, with the place that their field nodes
 * and buffers have in a batch; all others are walked once, to count theirs (schema.c).
 *
 * Failures are LEAT_ERR_CORRUPT (not a valid stream), LEAT_ERR_UNSUPPORTED (valid, but beyond this
 * reader, such as big-endian) or LEAT_ERR_LIMIT; `name` in a stream opens every message.
 */
#ifndef LEAT_FORMAT_ARROW_ARROW_H
#define LEAT_FORMAT_ARROW_ARROW_H

#include "base/mem.h"
#include "format/arrayrecord/view.h"

#define LEAT_ARROW_DEPTH_MAX 64           /* nesting of types in columns that are skipped */
#define LEAT_ARROW_NODES_MAX 4096         /* fields of a schema, nested ones counted */
#define LEAT_ARROW_DICTIONARIES_MAX 256   /* dictionary-encoded fields of a schema */
#define LEAT_ARROW_METADATA_MAX (1 << 24) /* bytes of one message's metadata */
#define LEAT_ARROW_WANTED_MAX 8           /* columns that a caller names */

/* ---- flatbuffers -------------------------------------------------------------------------- */

/* A flatbuffer; positions are byte offsets in it. `broken` stays set after the first bad access. */
typedef struct leat_flat {
    const uint8_t *data;
    int64_t size;
    bool broken;
} leat_flat;

/* A table: where it begins, its inline bytes, its vtable. position 0 is "no table". */
typedef struct leat_flat_table {
    int64_t position, size;
    int64_t slots, slot_count; /* where the vtable's slots begin, and how many */
} leat_flat_table;

/* A vector: where its first item lies. */
typedef struct leat_flat_vector {
    int64_t position, count;
} leat_flat_vector;

leat_flat_table leat_flat_root(leat_flat *flat);
/* A scalar of `bytes` 1, 2, 4 or 8, sign-extended; `missing` if the table does not have it. */
int64_t leat_flat_int(leat_flat *flat, const leat_flat_table *table, int slot, int bytes,
                      int64_t missing);
/* A table or vector that a slot points to; zeros if the slot is not there. */
leat_flat_table leat_flat_child(leat_flat *flat, const leat_flat_table *table, int slot);
leat_flat_vector leat_flat_items(leat_flat *flat, const leat_flat_table *table, int slot,
                                 int item_bytes);
/* Table number `index` of a vector of tables (item_bytes 4). */
leat_flat_table leat_flat_item(leat_flat *flat, const leat_flat_vector *items, int64_t index);

/* ---- types and columns -------------------------------------------------------------------- */

/* Numbers as in the format's Type union. */
typedef enum leat_arrow_kind {
    LEAT_ARROW_NONE = 0,
    LEAT_ARROW_NULL = 1,
    LEAT_ARROW_INT = 2,
    LEAT_ARROW_FLOAT = 3,
    LEAT_ARROW_BINARY = 4,
    LEAT_ARROW_UTF8 = 5,
    LEAT_ARROW_BOOL = 6,
    LEAT_ARROW_DECIMAL = 7,
    LEAT_ARROW_DATE = 8,
    LEAT_ARROW_TIME = 9,
    LEAT_ARROW_TIMESTAMP = 10,
    LEAT_ARROW_INTERVAL = 11,
    LEAT_ARROW_LIST = 12,
    LEAT_ARROW_STRUCT = 13,
    LEAT_ARROW_UNION = 14,
    LEAT_ARROW_FIXED_BINARY = 15,
    LEAT_ARROW_FIXED_LIST = 16,
    LEAT_ARROW_MAP = 17,
    LEAT_ARROW_DURATION = 18,
    LEAT_ARROW_LARGE_BINARY = 19,
    LEAT_ARROW_LARGE_UTF8 = 20,
    LEAT_ARROW_LARGE_LIST = 21,
    LEAT_ARROW_RUN_END = 22,
    LEAT_ARROW_BINARY_VIEW = 23,
    LEAT_ARROW_UTF8_VIEW = 24,
    LEAT_ARROW_LIST_VIEW = 25,
    LEAT_ARROW_LARGE_LIST_VIEW = 26,
    LEAT_ARROW_KINDS
} leat_arrow_kind;

typedef struct leat_arrow_type {
    uint8_t kind;  /* leat_arrow_kind */
    uint8_t bytes; /* of one value: INT 1..8, FLOAT 2, 4, 8, TIMESTAMP 8; of one offset: 4, 8 */
    uint8_t unit;  /* TIMESTAMP: 0 s, 1 ms, 2 us, 3 ns */
    bool is_signed;
} leat_arrow_type;

/* "timestamp", "string", ...: for messages. */
const char *leat_arrow_kind_text(int kind);
/* Text or bytes of any length, however it is laid out. */
bool leat_arrow_is_text(leat_arrow_type type);
bool leat_arrow_is_view(leat_arrow_type type);

/* A column that the caller named. */
typedef struct leat_arrow_column {
    bool present, is_coded; /* coded: dictionary-encoded, `index` into values of `type` */
    leat_arrow_type type, index;
    int64_t dictionary_id;
    int32_t node, buffer, variadic; /* its first node, buffer (fixed ones) and variadic count */
} leat_arrow_column;

/* Names in order of the caller's columns; ends with NULL. */
typedef struct leat_arrow_schema {
    leat_arrow_column columns[LEAT_ARROW_WANTED_MAX];
    int32_t version; /* metadata version: 3 is V4, 4 is V5 */
    int32_t node_count, buffer_count, variadic_count;
    int32_t dictionary_count;
    int64_t dictionary_ids[LEAT_ARROW_DICTIONARIES_MAX];
    uint64_t top_nodes[LEAT_ARROW_NODES_MAX / 64]; /* bit i: node i is a column's own */
} leat_arrow_schema;

/* ---- messages ----------------------------------------------------------------------------- */

typedef enum leat_arrow_header {
    LEAT_ARROW_END = 0,
    LEAT_ARROW_SCHEMA = 1,
    LEAT_ARROW_DICTIONARY_BATCH = 2,
    LEAT_ARROW_RECORD_BATCH = 3,
} leat_arrow_header;

/*
 * A stream inside [begin, end) of a view. Metadata that the view cannot return in one piece is
 * copied to `scratch`, or past its size to `heap`; without heap (NULL) such a message is
 * LEAT_ERR_LIMIT.
 */
typedef struct leat_arrow_stream {
    const leat_view *view;
    const char *name; /* "measurements": for messages */
    int64_t begin, end, position;
    uint8_t *scratch;
    int64_t scratch_bytes;
    leat_buf *heap;
} leat_arrow_stream;

typedef struct leat_arrow_message {
    leat_arrow_header header;
    leat_flat flat; /* valid until the next message is read */
    leat_flat_table table;
    int32_t version;
    int64_t at;               /* where it begins in the view */
    int64_t body, body_bytes; /* in the view */
} leat_arrow_message;

/* The next message; LEAT_ARROW_END at the end mark or where the bytes end between messages. */
LEAT_MUST_CHECK leat_code leat_arrow_next(leat_arrow_stream *stream, leat_arrow_message *message,
                                          leat_error *err);
/* Reads the schema, which must come first. names: up to LEAT_ARROW_WANTED_MAX, NULL at the end. */
LEAT_MUST_CHECK leat_code leat_arrow_read_schema(leat_arrow_stream *stream,
                                                 const char *const *names,
                                                 leat_arrow_schema *schema, leat_error *err);

/* ---- batches ------------------------------------------------------------------------------ */

typedef enum leat_arrow_codec {
    LEAT_ARROW_CODEC_NONE = -1,
    LEAT_ARROW_CODEC_LZ4 = 0,
    LEAT_ARROW_CODEC_ZSTD = 1,
} leat_arrow_codec;

/* A buffer's place in the view, checked to lie in the body of its message. */
typedef struct leat_arrow_span {
    int64_t offset, size_bytes;
} leat_arrow_span;

/* A batch whose nodes and buffers were all checked against the schema and the body. */
typedef struct leat_arrow_batch {
    leat_arrow_codec codec;
    int64_t rows;
    int64_t dictionary_id; /* of a dictionary batch */
    bool is_delta;
    int64_t at, body, body_bytes; /* as in the message */
    leat_flat_vector nodes, buffers, variadic;
} leat_arrow_batch;

/* One column of a batch: where its buffers lie. Uncompressed sizes are checked against rows. */
typedef struct leat_arrow_array {
    leat_arrow_type type; /* of what is stored: a coded column's indices */
    int64_t rows, null_count;
    leat_arrow_span validity;               /* size 0: nothing is null */
    leat_arrow_span values;                 /* fixed width values, indices, offsets or views */
    leat_arrow_span data;                   /* text of offsets */
    int64_t variadic_first, variadic_count; /* of views: numbers of the batch's buffers */
} leat_arrow_array;

/* Reads a record batch, or a dictionary batch whose values are of `values` type (flat). */
LEAT_MUST_CHECK leat_code leat_arrow_read_batch(const leat_arrow_stream *stream,
                                                const leat_arrow_schema *schema,
                                                leat_arrow_message *message,
                                                leat_arrow_batch *batch, leat_error *err);
/* Whether the schema knows the dictionary; a batch of one that it does not is damage. */
bool leat_arrow_has_dictionary(const leat_arrow_schema *schema, int64_t id);
/* Column of a record batch; a column that is not present gives kind LEAT_ARROW_NULL. */
LEAT_MUST_CHECK leat_code leat_arrow_get_array(const leat_arrow_stream *stream,
                                               const leat_arrow_column *column,
                                               leat_arrow_message *message,
                                               const leat_arrow_batch *batch,
                                               leat_arrow_array *array, leat_error *err);
/* The values of a dictionary batch. */
LEAT_MUST_CHECK leat_code leat_arrow_get_values(const leat_arrow_stream *stream,
                                                leat_arrow_type type, leat_arrow_message *message,
                                                const leat_arrow_batch *batch,
                                                leat_arrow_array *array, leat_error *err);
/* Buffer number `index` of a batch (variadic buffers), in the view. */
leat_arrow_span leat_arrow_buffer(leat_arrow_message *message, const leat_arrow_batch *batch,
                                  int64_t index);
/* Bytes that the values buffer of `rows` rows must have at least. */
int64_t leat_arrow_values_bytes(leat_arrow_type type, int64_t rows);

/* ---- bodies ------------------------------------------------------------------------------- */

/*
 * One buffer of a compressed body: 8 bytes of size, then a frame (or, size -1, the bytes as they
 * are). *size_bytes receives the decoded size, checked for plausibility; at most `limit`.
 */
LEAT_MUST_CHECK leat_code leat_arrow_decoded_size(leat_arrow_codec codec, const uint8_t *bytes,
                                                  int64_t size, int64_t limit, int64_t *size_bytes,
                                                  leat_error *err);
/* Decodes into out (exactly out_bytes, as leat_arrow_decoded_size said). */
LEAT_MUST_CHECK leat_code leat_arrow_decode(leat_arrow_codec codec, const uint8_t *bytes,
                                            int64_t size, uint8_t *out, int64_t out_bytes,
                                            leat_error *err);

#endif
