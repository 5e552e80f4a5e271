/*
 * Files made chunk by chunk that Google's writer never makes: those that the format allows must be
 * read, the others refused with a clear code, whatever their hashes say, and without taking memory
 * that they cannot need.
 */
#include "ar_support.h"

#include <zstd.h>
#if LEAT_HAVE_BROTLI
#include <brotli/encode.h>
#endif

static void free_image(ar_image *image) {
    free(image->data);
    *image = (ar_image){0};
}

/* ---- a file made by hand ---- */

typedef struct craft {
    ar_bench bench;
    int64_t footer_offset;
} craft;

static int64_t put_chunk(craft *c, uint8_t type, const void *data, int64_t size_bytes,
                         int64_t records, int64_t decoded_bytes) {
    leat_ar_chunk chunk = {.type = type,
                           .data_bytes = size_bytes,
                           .data_hash = leat_highwayhash_of(data, size_bytes),
                           .record_count = records,
                           .decoded_bytes = decoded_bytes};
    assert_ok(leat_ar_emit_begin(&c->bench.emitter, &chunk, err));
    assert_ok(leat_ar_emit_data(&c->bench.emitter, data, size_bytes, err));
    assert_ok(leat_ar_emit_end(&c->bench.emitter, err));
    return chunk.begin;
}

static void begin_as(craft *c, uint8_t type) {
    *c = (craft){0};
    ar_bench_open(&c->bench);
    put_chunk(c, type, "", 0, 0, 0);
}
static void begin(craft *c) { begin_as(c, LEAT_AR_CHUNK_SIGNATURE); }

static leat_buf join(const leat_buf *parts, int count) {
    leat_buf out = {0};
    for (int i = 0; i < count; i++) {
        assert_ok(leat_buf_append(&out, parts[i].data, parts[i].size, err));
    }
    return out;
}

static void add_varint(leat_buf *buf, uint64_t value) {
    uint8_t bytes[LEAT_AR_VARINT_BYTES];
    assert_ok(leat_buf_append(buf, bytes, leat_ar_put_varint(bytes, value), err));
}
static void add_bytes(leat_buf *buf, const void *bytes, int64_t size) {
    assert_ok(leat_buf_append(buf, bytes, size, err));
}
static void add_number(leat_buf *buf, uint8_t tag, uint64_t value) {
    add_bytes(buf, &tag, 1);
    add_varint(buf, value);
}

/* An uncompressed simple chunk of these records. */
static int64_t put_records(craft *c, const leat_buf *records, int count) {
    leat_buf sizes = {0}, data = {0}, values = join(records, count);
    uint8_t none = 0;
    for (int i = 0; i < count; i++) add_varint(&sizes, (uint64_t)records[i].size);
    add_bytes(&data, &none, 1);
    add_varint(&data, (uint64_t)sizes.size);
    add_bytes(&data, sizes.data, sizes.size);
    add_bytes(&data, values.data, values.size);
    int64_t at = put_chunk(c, LEAT_AR_CHUNK_SIMPLE, data.data, data.size, count, values.size);
    leat_buf_free(&sizes);
    leat_buf_free(&data);
    leat_buf_free(&values);
    return at;
}

static leat_buf head_message(uint64_t version, uint64_t chunks, uint64_t records) {
    leat_buf inner = {0}, outer = {0};
    uint8_t tag = 0x0a;
    add_number(&inner, 0x08, version);
    add_number(&inner, 0x10, chunks);
    add_number(&inner, 0x18, records);
    add_bytes(&outer, &tag, 1);
    add_varint(&outer, (uint64_t)inner.size);
    add_bytes(&outer, inner.data, inner.size);
    leat_buf_free(&inner);
    return outer;
}

static leat_buf entry_message(uint64_t offset, uint64_t decoded_bytes, uint64_t records) {
    leat_buf entry = {0};
    add_number(&entry, 0x08, offset);
    add_number(&entry, 0x10, decoded_bytes);
    add_number(&entry, 0x18, records);
    return entry;
}

/* copies: 0 means three, the last of them another. */
static ar_image end_with(craft *c, uint64_t footer_offset, uint64_t magic, int copies) {
    bool differ = copies == 0;
    if (differ) copies = 3;
    leat_buf messages[3] = {{0}, {0}, {0}};
    assert_ok(leat_ar_emit_padding(&c->bench.emitter, err));
    for (int i = 0; i < copies; i++) {
        add_number(&messages[i], 0x08, footer_offset + (differ && i == 2));
        add_number(&messages[i], 0x10, magic);
    }
    put_records(c, messages, copies);
    for (int i = 0; i < copies; i++) leat_buf_free(&messages[i]);
    assert_ok(leat_ar_emit_padding(&c->bench.emitter, err));
    return ar_bench_close(&c->bench);
}

#define FOOTER_MAX 6
/* Footer of these messages (freed), padding, postscript. */
static ar_image end(craft *c, leat_buf *messages, int count) {
    int64_t footer = put_records(c, messages, count);
    for (int i = 0; i < count; i++) leat_buf_free(&messages[i]);
    return end_with(c, (uint64_t)footer, LEAT_AR_MAGIC, 3);
}

/* Opens; reads record 0 if that works. Which of the two failed, and how? */
typedef struct verdict {
    leat_code open, read;
    leat_error err;
} verdict;

static verdict judge(const ar_image *image, int64_t max_chunk_bytes, const void *expected,
                     int64_t expected_bytes) {
    verdict v = {0};
    leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    leat_ar_read_options options = {.max_chunk_bytes = max_chunk_bytes};
    v.open = leat_ar_reader_open_memory(&reader, image->data, image->size_bytes, &options, &v.err);
    if (v.open == LEAT_OK) {
        v.read = leat_ar_reader_read(reader, 0, &record, &v.err);
        if (v.read == LEAT_OK && expected != NULL) {
            assert_int_equal(record.size_bytes, expected_bytes);
            assert_memory_equal(record.data, expected, (size_t)expected_bytes);
        }
    }
    leat_ar_record_free(&record);
    leat_ar_reader_close(reader);
    return v;
}

/* ---- chunk data ---- */

typedef struct data_case {
    const char *name;
    const char *hex; /* of the chunk's data */
    int64_t records, decoded_bytes;
    bool good;
} data_case;

/* "alpha" and "beta" as Google's writer packs them, and what is wrong with variants. */
static const data_case data_cases[] = {
    {"zstd",
     "7a0c0228b52ffd20021100000504"
     "0928b52ffd2009490000616c70686162657461",
     2, 9, true},
    {"zstd, wrong size before the values",
     "7a0c0228b52ffd20021100000504"
     "0828b52ffd2009490000616c70686162657461",
     2, 9, true},
    {"zstd, size before the values in two bytes",
     "7a0c0228b52ffd20021100000504"
     "890028b52ffd2009490000616c70686162657461",
     2, 9, true},
    {"zstd, a byte after the values",
     "7a0c0228b52ffd20021100000504"
     "0928b52ffd2009490000616c7068616265746100",
     2, 9, false},
    {"zstd, two frames",
     "7a0c0228b52ffd20021100000504"
     "0928b52ffd2005290000616c70686128b52ffd200421000062657461",
     2, 9, false},
    {"zstd, skippable frame first",
     "7a0c0228b52ffd20021100000504"
     "09502a4d180000000028b52ffd2009490000616c70686162657461",
     2, 9, false},
    {"zstd, cut",
     "7a0c0228b52ffd20021100000504"
     "0928b52ffd2009490000616c706861626574",
     2, 9, false},
    {"zstd, sizes with a byte after",
     "7a0d0228b52ffd2002110000050400"
     "0928b52ffd2009490000616c70686162657461",
     2, 9, false},
    {"zstd, sizes say another length",
     "7a0c0328b52ffd20021100000504"
     "0928b52ffd2009490000616c70686162657461",
     2, 9, false},
    {"zstd, header says one byte less",
     "7a0c0228b52ffd20021100000504"
     "0928b52ffd2009490000616c70686162657461",
     2, 8, false},
    {"zstd, header says one byte more",
     "7a0c0228b52ffd20021100000504"
     "0928b52ffd2009490000616c70686162657461",
     2, 10, false},
    {"zstd, header says far too much",
     "7a0c0228b52ffd20021100000504"
     "0928b52ffd2009490000616c70686162657461",
     2, 1 << 30, false},
    {"zstd of nothing", "7a0b0128b52ffd2001090000000028b52ffd2000010000", 1, 0, true},
    {"zstd, nothing at all where a stream must be",
     "7a0b0128b52ffd200109000000"
     "00",
     1, 0, false},
#if LEAT_HAVE_BROTLI
    {"brotli",
     "6207028b0080050403"
     "090b0480616c7068616265746103",
     2, 9, true},
    {"brotli, a byte after",
     "6207028b0080050403"
     "090b0480616c706861626574610300",
     2, 9, false},
    {"brotli, cut",
     "6207028b0080050403"
     "090b0480616c70686162657461",
     2, 9, false},
    {"brotli, one byte less",
     "6207028b0080050403"
     "090b0480616c7068616265746103",
     2, 8, false},
    {"brotli, one byte more",
     "6207028b0080050403"
     "090b0480616c7068616265746103",
     2, 10, false},
    {"brotli of nothing",
     "6206010b00800003"
     "003b",
     1, 0, true},
    {"brotli, no stream",
     "6206010b00800003"
     "00",
     1, 0, false},
#endif
#if LEAT_HAVE_SNAPPY
    {"snappy",
     "7305020204"
     "0504"
     "090920616c70686162657461",
     2, 9, true},
    {"snappy, a byte after",
     "7305020204"
     "0504"
     "090920616c7068616265746100",
     2, 9, false},
    {"snappy, cut",
     "7305020204"
     "0504"
     "090920616c706861626574",
     2, 9, false},
    {"snappy, one byte more",
     "7305020204"
     "0504"
     "090920616c70686162657461",
     2, 10, false},
    {"snappy of nothing",
     "7304010100"
     "00"
     "0000",
     1, 0, true},
    {"snappy, no stream",
     "7304010100"
     "00"
     "00",
     1, 0, false},
#endif
    {"plain",
     "00020504"
     "616c70686162657461",
     2, 9, true},
    {"plain, sizes not in the shortest form",
     "0003850004"
     "616c70686162657461",
     2, 9, true},
    {"plain, too few sizes",
     "000105"
     "616c706861",
     2, 5, false},
    {"plain, a size too many",
     "0003050400"
     "616c70686162657461",
     2, 9, false},
    {"plain, sizes too small",
     "00020503"
     "616c70686162657461",
     2, 9, false},
    {"plain, sizes too large",
     "00020505"
     "616c70686162657461",
     2, 9, false},
    {"plain, a byte after",
     "00020504"
     "616c7068616265746100",
     2, 9, false},
    {"plain, a byte missing",
     "00020504"
     "616c706861626574",
     2, 9, false},
    {"plain, sizes end after the chunk",
     "00ff01"
     "0504",
     2, 9, false},
    {"plain, length of sizes has no end", "00ffffffffffffffffffff", 2, 9, false},
    {"plain, a size of 2^63",
     "000b80808080808080808001"
     "04"
     "616c70686162657461",
     2, 9, false},
    {"empty data", "", 2, 9, false},
    {"only a codec", "00", 2, 9, false},
    {"codec unknown",
     "01020504"
     "616c70686162657461",
     2, 9, false},
    {"no records", "0000", 0, 0, false},
};

static int64_t from_hex(const char *hex, uint8_t *bytes) {
    int64_t size = (int64_t)strlen(hex) / 2;
    for (int64_t i = 0; i < size; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (uint8_t)byte;
    }
    return size;
}

static void test_chunk_data(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof data_cases / sizeof *data_cases; i++) {
        const data_case *d = &data_cases[i];
        uint8_t data[256];
        int64_t size = from_hex(d->hex, data);
        craft c;
        begin(&c);
        int64_t at = put_chunk(&c, LEAT_AR_CHUNK_SIMPLE, data, size, d->records, d->decoded_bytes);
        uint64_t count = d->records == 0 ? 1 : (uint64_t)d->records;
        leat_buf messages[2] = {head_message(1, 1, count),
                                entry_message((uint64_t)at, (uint64_t)d->decoded_bytes, count)};
        ar_image image = end(&c, messages, 2);
        verdict v = judge(&image, 0, d->records == 1 ? "" : "alpha", d->records == 1 ? 0 : 5);
        if (v.open != LEAT_OK) fail_msg("%s: %s", d->name, v.err.message);
        if ((v.read == LEAT_OK) != d->good) fail_msg("%s: %s", d->name, v.err.message);
        assert_int_equal(v.read, d->good ? LEAT_OK : LEAT_ERR_CORRUPT);
        bool clean = d->good && strstr(d->name, "wrong size") == NULL;
        if ((ar_findings(&image) == 0) != clean) fail_msg("%s: verify differs", d->name);
        free_image(&image);
    }
}

/* ---- compressed streams that others may write ---- */

/* One record, both buffers compressed already. */
static void check_packed(uint8_t codec, const leat_buf *sizes, const leat_buf *values,
                         const uint8_t *record, int64_t size_bytes) {
    leat_buf data = {0};
    craft c;
    add_bytes(&data, &codec, 1);
    add_varint(&data, (uint64_t)sizes->size);
    add_bytes(&data, sizes->data, sizes->size);
    add_bytes(&data, values->data, values->size);
    begin(&c);
    int64_t at = put_chunk(&c, LEAT_AR_CHUNK_SIMPLE, data.data, data.size, 1, size_bytes);
    leat_buf messages[2] = {head_message(1, 1, 1),
                            entry_message((uint64_t)at, (uint64_t)size_bytes, 1)};
    ar_image image = end(&c, messages, 2);
    verdict v = judge(&image, 0, record, size_bytes);
    if (v.open != LEAT_OK || v.read != LEAT_OK) fail_msg("%s", v.err.message);
    assert_int_equal(ar_findings(&image), 0);
    leat_buf_free(&data);
    free_image(&image);
}

static void add_zstd(leat_buf *out, const void *bytes, int64_t size, int window_log, bool checksum,
                     bool content_size) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound((size_t)size);
    uint8_t *packed = malloc(room);
    assert_non_null(packed);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, content_size);
    size_t got = ZSTD_compress2(context, packed, room, bytes, (size_t)size);
    assert_false(ZSTD_isError(got));
    add_varint(out, (uint64_t)size);
    add_bytes(out, packed, (int64_t)got);
    free(packed);
    ZSTD_freeCCtx(context);
}

static void test_other_zstd_frames(void **state) {
    (void)state;
    int64_t size = 3 << 20;
    uint8_t *noise = malloc((size_t)size);
    assert_non_null(noise);
    ar_noise(noise, size, 4);
    for (int kind = 0; kind < 8; kind++) {
        leat_buf sizes = {0}, values = {0};
        uint8_t varint[LEAT_AR_VARINT_BYTES];
        int varint_bytes = leat_ar_put_varint(varint, (uint64_t)size);
        int window_log = kind & 4 ? 27 : 10;
        add_zstd(&sizes, varint, varint_bytes, window_log, kind & 1, kind & 2);
        add_zstd(&values, noise, size, window_log, kind & 1, kind & 2);
        check_packed(0x7a, &sizes, &values, noise, size);
        leat_buf_free(&sizes);
        leat_buf_free(&values);
    }
    free(noise);
}

/* Frames that do not say how long they are: one is right, two are not, whatever they add up to. */
static void test_two_zstd_frames(void **state) {
    (void)state;
    for (int frames = 1; frames <= 2; frames++) {
        leat_buf sizes = {0}, values = {0}, second = {0}, data = {0};
        uint8_t varint[2], codec = 0x7a;
        int64_t each = frames == 1 ? 10 : 5;
        add_zstd(&sizes, varint, leat_ar_put_varint(varint, 10), 10, false, false);
        add_zstd(&values, "alphaalpha", each, 10, false, false);
        values.data[0] = 10; /* the size of both */
        add_zstd(&second, "alphaalpha", each, 10, false, false);
        if (frames == 2) add_bytes(&values, second.data + 1, second.size - 1);
        add_bytes(&data, &codec, 1);
        add_varint(&data, (uint64_t)sizes.size);
        add_bytes(&data, sizes.data, sizes.size);
        add_bytes(&data, values.data, values.size);
        craft c;
        begin(&c);
        int64_t at = put_chunk(&c, LEAT_AR_CHUNK_SIMPLE, data.data, data.size, 1, 10);
        leat_buf messages[2] = {head_message(1, 1, 1), entry_message((uint64_t)at, 10, 1)};
        ar_image image = end(&c, messages, 2);
        verdict v = judge(&image, 0, "alphaalpha", 10);
        assert_int_equal(v.open, LEAT_OK);
        assert_int_equal(v.read, frames == 1 ? LEAT_OK : LEAT_ERR_CORRUPT);
        leat_buf_free(&sizes);
        leat_buf_free(&values);
        leat_buf_free(&second);
        leat_buf_free(&data);
        free_image(&image);
    }
}

#if LEAT_HAVE_BROTLI
static void add_brotli(leat_buf *out, const uint8_t *bytes, int64_t size, uint32_t window_log) {
    BrotliEncoderState *state = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    size_t room = BrotliEncoderMaxCompressedSize((size_t)size) + 64, out_left = room;
    size_t in_left = (size_t)size;
    uint8_t *packed = malloc(room), *at = packed;
    assert_non_null(packed);
    BrotliEncoderSetParameter(state, BROTLI_PARAM_LARGE_WINDOW, window_log > 24);
    BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, window_log);
    BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, 4);
    assert_true(BrotliEncoderCompressStream(state, BROTLI_OPERATION_FINISH, &in_left, &bytes,
                                            &out_left, &at, NULL));
    assert_true(BrotliEncoderIsFinished(state));
    add_varint(out, (uint64_t)size);
    add_bytes(out, packed, at - packed);
    free(packed);
    BrotliEncoderDestroyInstance(state);
}

static void test_large_windows_of_brotli(void **state) {
    (void)state;
    static const uint32_t windows[] = {10, 22, 24, 25, 30};
    int64_t size = 3 << 20;
    uint8_t *zeros = calloc(1, (size_t)size);
    assert_non_null(zeros);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        leat_buf sizes = {0}, values = {0};
        uint8_t varint[LEAT_AR_VARINT_BYTES];
        int varint_bytes = leat_ar_put_varint(varint, (uint64_t)size);
        add_brotli(&sizes, varint, varint_bytes, windows[i]);
        add_brotli(&values, zeros, size, windows[i]);
        check_packed(0x62, &sizes, &values, zeros, size);
        leat_buf_free(&sizes);
        leat_buf_free(&values);
    }
    free(zeros);
}
#endif

/* ---- footers ---- */

typedef enum twist {
    NOTHING,
    FIELDS_UNKNOWN, /* read all the same: down to ENTRY_TOO_MANY */
    NO_DECODED_SIZE,
    NO_LATER_COUNTS,
    ONE_POSTSCRIPT,
    PADDING_BETWEEN,
    METADATA_CHUNK,
    FIELD_ORDER,
    ENTRY_TOO_MANY, /* read, but verify tells */
    PADDING_NOT_ZERO,
    OTHER_SIGNATURE,
    POSTSCRIPTS_DIFFER,
    WRONG_MAGIC, /* refused from here on */
    FOOTER_BEYOND,
    FOOTER_ILLEGAL,
    FOOTER_IS_DATA,
    VERSION_2,
    NO_METADATA,
    EMPTY_FOOTER,
    ENTRY_MISSING,
    CHUNKS_TOO_FEW,
    CHUNKS_TOO_MANY,
    CHUNKS_HUGE,
    RECORDS_TOO_MANY,
    RECORDS_TOO_FEW,
    RECORDS_HUGE,
    NO_FIRST_COUNT,
    FIRST_COUNT_0,
    COUNTS_DIFFER,
    LAST_COUNT_LARGE,
    OFFSETS_FALL,
    OFFSETS_EQUAL,
    OFFSET_ILLEGAL,
    OFFSET_IN_FOOTER,
    OFFSET_NEGATIVE,
    OFFSET_IN_SIGNATURE,
    NO_OFFSET,
    ENTRY_MALFORMED,
    TWISTS
} twist;

/* The footer's entry of chunk i, twisted. */
static leat_buf twisted_entry(twist t, int i, uint64_t offset, uint64_t size, uint64_t count) {
    leat_buf entry = {0};
    if (t == FIELD_ORDER) add_number(&entry, 0x18, count);
    if (t == FIELDS_UNKNOWN)
        add_bytes(&entry,
                  "\x21"
                  "12345678"
                  "\x2d"
                  "1234"
                  "\x32\x01x\x38\x05",
                  19);
    if (t != NO_OFFSET || i != 1) add_number(&entry, 0x08, offset);
    if (t != NO_DECODED_SIZE) add_number(&entry, 0x10, size);
    bool counted = !((t == NO_LATER_COUNTS || t == CHUNKS_TOO_MANY) && i > 0) &&
                   !(t == NO_FIRST_COUNT && i == 0);
    if (counted && t != FIELD_ORDER) add_number(&entry, 0x18, count);
    if (t == ENTRY_MALFORMED && i == 1) add_bytes(&entry, "\x0b", 1);
    return entry;
}

static ar_image twisted(twist t) {
    craft c;
    begin_as(&c, t == OTHER_SIGNATURE ? LEAT_AR_CHUNK_PADDING : LEAT_AR_CHUNK_SIGNATURE);
    if (t == METADATA_CHUNK) put_chunk(&c, LEAT_AR_CHUNK_METADATA, "any", 3, 0, 12);
    leat_buf records[5];
    for (int i = 0; i < 5; i++) {
        records[i] = (leat_buf){0};
        add_bytes(&records[i], "record ", 7);
        add_varint(&records[i], (uint64_t)i);
    }
    /* two records a chunk, the last one alone */
    uint64_t offsets[3], counts[3] = {2, 2, 1}, sizes[3] = {16, 16, 8};
    for (int i = 0; i < 3; i++) {
        offsets[i] = (uint64_t)put_records(&c, records + 2 * i, (int)counts[i]);
        if (t == PADDING_NOT_ZERO) put_chunk(&c, LEAT_AR_CHUNK_PADDING, "\0\1\0", 3, 0, 0);
        if (t == PADDING_BETWEEN || t == CHUNKS_TOO_MANY)
            put_chunk(&c, LEAT_AR_CHUNK_PADDING, "\0\0\0", 3, 0, 0);
    }
    uint64_t version = t == VERSION_2 ? 2 : 1, chunks = 3, total = 5;
    int64_t footer_at = c.bench.emitter.position;
    if (t == CHUNKS_TOO_FEW) chunks = 2;
    if (t == CHUNKS_TOO_MANY) chunks = 4;
    if (t == CHUNKS_HUGE) chunks = UINT64_C(1) << 62;
    if (t == RECORDS_TOO_MANY) total = 7;
    if (t == RECORDS_TOO_FEW) total = 4;
    if (t == RECORDS_HUGE) total = UINT64_C(1) << 63;
    if (t == FIRST_COUNT_0) counts[0] = 0;
    if (t == COUNTS_DIFFER) counts[1] = 1;
    if (t == LAST_COUNT_LARGE) counts[2] = 2;
    if (t == OFFSETS_FALL) offsets[1] = 64;
    if (t == OFFSETS_EQUAL) offsets[1] = offsets[0];
    if (t == OFFSET_ILLEGAL) offsets[2] = 65536 + 3;
    if (t == OFFSET_IN_FOOTER) offsets[2] = (uint64_t)footer_at;
    if (t == OFFSET_NEGATIVE) offsets[0] = UINT64_C(0xffffffffffff0000);
    if (t == OFFSET_IN_SIGNATURE) offsets[0] = 0;
    leat_buf messages[FOOTER_MAX] = {head_message(version, chunks, total)};
    int count = 1;
    if (t == NO_METADATA) messages[0].data[0] = 0x12;
    if (t == EMPTY_FOOTER) leat_buf_free(&messages[--count]);
    for (int i = 0; i < 3 && t != EMPTY_FOOTER; i++) {
        if (t == ENTRY_MISSING && i == 2) continue;
        messages[count++] = twisted_entry(t, i, offsets[i], sizes[i], counts[i]);
    }
    if (t == ENTRY_TOO_MANY) messages[count++] = entry_message(200, 1, 1);
    if (t == CHUNKS_TOO_MANY) {
        /* a place where a chunk could be, and no count that would tell */
        messages[count] = (leat_buf){0};
        add_number(&messages[count++], 0x08, offsets[2] + 51);
    }
    int64_t footer = put_records(&c, messages, count);
    assert_int_equal(footer, footer_at);
    for (int i = 0; i < count; i++) leat_buf_free(&messages[i]);
    for (int i = 0; i < 5; i++) leat_buf_free(&records[i]);
    if (t == FOOTER_BEYOND) footer = 1 << 20;
    if (t == FOOTER_ILLEGAL) footer = 3;
    if (t == FOOTER_IS_DATA) footer = (int64_t)offsets[0];
    uint64_t magic = t == WRONG_MAGIC ? LEAT_AR_MAGIC + 1 : LEAT_AR_MAGIC;
    int copies = t == ONE_POSTSCRIPT ? 1 : t == POSTSCRIPTS_DIFFER ? 0 : 3;
    return end_with(&c, (uint64_t)footer, magic, copies);
}

static void test_footers(void **state) {
    (void)state;
    for (int t = 0; t < TWISTS; t++) {
        ar_image image = twisted((twist)t);
        verdict v = judge(&image, 0, "record \0", 8);
        bool good = t < WRONG_MAGIC;
        if ((v.open == LEAT_OK) != good) fail_msg("twist %d: %s", t, v.err.message);
        if (good) assert_int_equal(v.read, LEAT_OK);
        else if (t == VERSION_2) assert_int_equal(v.open, LEAT_ERR_UNSUPPORTED);
        else assert_int_equal(v.open, LEAT_ERR_CORRUPT);
        bool clean = t < ENTRY_TOO_MANY && t != ONE_POSTSCRIPT;
        if ((ar_findings(&image) == 0) != clean) fail_msg("twist %d: verify differs", t);
        free_image(&image);
    }
}

/* ---- chunks that do not fit their place ---- */

/* `entry_offset`: where the index puts the second chunk, relative to where it is. */
static ar_image two_chunks(uint64_t first_count, uint64_t first_bytes, int64_t second_moves,
                           uint8_t type) {
    craft c;
    begin(&c);
    leat_buf records[2] = {{0}, {0}};
    add_bytes(&records[0], "first one", 9);
    add_bytes(&records[1], "second", 6);
    int64_t first = 0;
    if (type == LEAT_AR_CHUNK_SIMPLE) first = put_records(&c, records, 1);
    else
        first = put_chunk(&c, type,
                          "\0\1\x09"
                          "first one",
                          12, 1, 9);
    int64_t second = put_records(&c, records + 1, 1);
    leat_buf messages[3] = {head_message(1, 2, 2 * first_count),
                            entry_message((uint64_t)first, first_bytes, first_count),
                            entry_message((uint64_t)(second + second_moves), 6, first_count)};
    leat_buf_free(&records[0]);
    leat_buf_free(&records[1]);
    return end(&c, messages, 3);
}

static void test_chunks_against_index(void **state) {
    (void)state;
    static const struct {
        uint64_t count, bytes;
        int64_t moves;
        uint8_t type;
        leat_code read;
    } cases[] = {
        {1, 9, 0, LEAT_AR_CHUNK_SIMPLE, LEAT_OK},
        {2, 9, 0, LEAT_AR_CHUNK_SIMPLE, LEAT_ERR_CORRUPT},
        {1, 8, 0, LEAT_AR_CHUNK_SIMPLE, LEAT_ERR_CORRUPT},
        {1, 9, -1, LEAT_AR_CHUNK_SIMPLE, LEAT_ERR_CORRUPT}, /* ends after the next one's begin */
        {1, 9, 0, LEAT_AR_CHUNK_TRANSPOSED, LEAT_ERR_UNSUPPORTED},
        {1, 9, 0, LEAT_AR_CHUNK_PADDING, LEAT_ERR_CORRUPT},
        {1, 9, 0, LEAT_AR_CHUNK_METADATA, LEAT_ERR_CORRUPT},
        {1, 9, 0, 0x99, LEAT_ERR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ar_image image = two_chunks(cases[i].count, cases[i].bytes, cases[i].moves, cases[i].type);
        verdict v = judge(&image, 0, "first one", 9);
        if (v.open != LEAT_OK || v.read != cases[i].read) fail_msg("%d: %s", (int)i, v.err.message);
        assert_int_equal(ar_findings(&image) == 0, cases[i].read == LEAT_OK);
        free_image(&image);
    }
}

/* ---- limits ---- */

static void test_limits(void **state) {
    (void)state;
    uint8_t *pattern = ar_pattern(100000);
    leat_ar_options options = leat_ar_options_default();
    for (int zstd = 0; zstd < 2; zstd++) {
        options.compression = zstd ? LEAT_COMPRESSION_ZSTD : LEAT_COMPRESSION_NONE;
        ar_rec records[1] = {{pattern, 100000}};
        ar_image image = ar_write(&options, records, 1);
        verdict v = judge(&image, 100010, pattern, 100000);
        assert_int_equal(v.read, LEAT_OK);
        v = judge(&image, 99999, NULL, 0);
        assert_int_equal(v.open, LEAT_OK);
        assert_int_equal(v.read, LEAT_ERR_LIMIT);
        assert_non_null(strstr(v.err.message, "100000"));
        v = judge(&image, -1, NULL, 0);
        assert_int_equal(v.open, LEAT_ERR_OPTION);
        /* the same by memory: what decoding takes, no less, and so much is enough */
        ar_save(ar_path("limits"), image.data, image.size_bytes);
        int64_t need = 0, most = 100020 + 2 * 8 + (zstd ? 100000 + 20 + (1 << 20) : 0);
        leat_ar_reader *reader = NULL;
        leat_ar_record record = {0};
        assert_ok(leat_ar_reader_open_within(&reader, ar_path("limits"), most, &need, err));
        assert_in_range(need, 1, most);
        assert_ok(leat_ar_reader_read(reader, 0, &record, err));
        need = leat_ar_record_need(&record);
        assert_in_range(need, zstd ? 100000 + (1 << 20) : 100000, most);
        leat_ar_record_free(&record);
        leat_ar_reader_close(reader);
        assert_ok(leat_ar_reader_open_within(&reader, ar_path("limits"), need - 1, &most, err));
        assert_int_equal(leat_ar_reader_read(reader, 0, &record, NULL), LEAT_ERR_LIMIT);
        assert_int_equal(leat_ar_record_need(&record), need);
        leat_ar_record_free(&record);
        leat_ar_reader_close(reader);
        free_image(&image);
    }
    free(pattern);
    /* what a header says is refused before memory is taken, and its records counted in */
    static const struct {
        int64_t records, bytes;
        leat_code code;
    } cases[] = {
        {1, INT64_C(1) << 62, LEAT_ERR_LIMIT},
        {1, (INT64_C(1) << 31) + 1, LEAT_ERR_LIMIT},
        {1, INT64_C(1) << 31, LEAT_ERR_CORRUPT},
        {1000, 1000, LEAT_ERR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        craft c;
        begin(&c);
        uint8_t data[64];
        int64_t size = from_hex("7a0b0128b52ffd2001090000000028b52ffd2000010000", data);
        int64_t at =
            put_chunk(&c, LEAT_AR_CHUNK_SIMPLE, data, size, cases[i].records, cases[i].bytes);
        uint64_t count = (uint64_t)cases[i].records;
        leat_buf messages[2] = {head_message(1, 1, count),
                                entry_message((uint64_t)at, (uint64_t)cases[i].bytes, count)};
        ar_image image = end(&c, messages, 2);
        verdict v = judge(&image, 0, NULL, 0);
        assert_int_equal(v.open, LEAT_OK);
        assert_int_equal(v.read, cases[i].code);
        free_image(&image);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunk_data),
        cmocka_unit_test(test_other_zstd_frames),
        cmocka_unit_test(test_two_zstd_frames),
#if LEAT_HAVE_BROTLI
        cmocka_unit_test(test_large_windows_of_brotli),
#endif
        cmocka_unit_test(test_footers),
        cmocka_unit_test(test_chunks_against_index),
        cmocka_unit_test(test_limits),
    };
    int failed = cmocka_run_group_tests_name("ArrayRecord made by hand", tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
