/*
 * How much memory decoding a column chunk takes. DuckDB holds one page of it at a time, both
 * compressed and decompressed, and its dictionary. The footer has only the sizes of complete
 * chunks, which may be a hundred pages; so the page headers are parsed, a few bytes each. They are
 * structs of Thrift's compact protocol: fields with a number (as a step from the previous one) and
 * a type, integers as zigzag varints.
 *
 * Measured with DuckDB 1.5: pages in both forms at once, 16 bytes per dictionary entry; the delta
 * encodings decode a complete page, texts into 16 bytes and two lengths per value, and the text
 * itself.
 */
#include <string.h>

#include "ingest/probes/parquet.h"

#if LEAT_HAVE_DUCKDB

enum { HEADER_READ = 512, DEPTH_MAX = 8, FIELDS_MAX = 64, PAGES_MAX = 1 << 20 };
/* A text in delta encoding has no size of its own; addresses take up to 45 bytes. */
enum { DELTA_TEXT_BYTES = 72, DELTA_NUMBER_BYTES = 8, VIEW_BYTES = 16 };

enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2, PAGE_DATA_V2 = 3 };

/* The fields of a page header that matter here. */
typedef struct page_header {
    int64_t type, unpacked_bytes, packed_bytes, values;
    int64_t size_bytes; /* of the header itself */
} page_header;

static uint8_t next_byte(leat_thrift *in) {
    if (in->at >= in->size) {
        in->failed = true;
        return 0;
    }
    return in->bytes[in->at++];
}

uint64_t leat_thrift_varint(leat_thrift *in) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t byte = next_byte(in);
        value |= (uint64_t)(byte & 127) << shift;
        if ((byte & 128) == 0) return value;
    }
    in->failed = true;
    return 0;
}

int64_t leat_thrift_integer(leat_thrift *in) {
    uint64_t value = leat_thrift_varint(in);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void skip_bytes(leat_thrift *in, uint64_t size) {
    if (size > (uint64_t)(in->size - in->at)) in->failed = true;
    else in->at += (int64_t)size;
}

int leat_thrift_field(leat_thrift *in, int64_t *number) {
    uint8_t head = next_byte(in);
    if (in->failed || head == 0) return 0;
    int64_t step = head >> 4;
    *number = step != 0 ? *number + step : leat_thrift_integer(in);
    return head & 15;
}

int64_t leat_thrift_list(leat_thrift *in, int *type) {
    const uint8_t head = next_byte(in);
    const uint64_t count = head >> 4 == 15 ? leat_thrift_varint(in) : (uint64_t)(head >> 4);
    *type = head & 15;
    if (count > (uint64_t)(in->size - in->at)) in->failed = true; /* each has a byte at least */
    return in->failed ? 0 : (int64_t)count;
}

void leat_thrift_skip(leat_thrift *in, int type, int depth) {
    switch (type) {
    case LEAT_THRIFT_TRUE:
    case LEAT_THRIFT_FALSE: return;
    case LEAT_THRIFT_BYTE: skip_bytes(in, 1); return;
    case LEAT_THRIFT_I16:
    case LEAT_THRIFT_I32:
    case LEAT_THRIFT_I64: leat_thrift_varint(in); return;
    case LEAT_THRIFT_DOUBLE: skip_bytes(in, 8); return;
    case LEAT_THRIFT_TEXT: skip_bytes(in, leat_thrift_varint(in)); return;
    case LEAT_THRIFT_LIST: {
        int inner = 0;
        const int64_t count = leat_thrift_list(in, &inner);
        if (depth == DEPTH_MAX) in->failed = true;
        for (int64_t i = 0; i < count && !in->failed; i++) {
            const bool truth = inner == LEAT_THRIFT_TRUE || inner == LEAT_THRIFT_FALSE;
            leat_thrift_skip(in, truth ? LEAT_THRIFT_BYTE : inner, depth + 1);
        }
        return;
    }
    case LEAT_THRIFT_STRUCT: {
        int64_t number = 0;
        int inner, fields = 0;
        while (!in->failed && (inner = leat_thrift_field(in, &number)) != 0) {
            if (depth == DEPTH_MAX || ++fields > FIELDS_MAX) in->failed = true;
            else leat_thrift_skip(in, inner, depth + 1);
        }
        return;
    }
    default: in->failed = true;
    }
}

/* One of the three structs for the kinds of pages; field 1 is the number of values in each. */
static void read_page_struct(leat_thrift *in, page_header *page) {
    int64_t number = 0;
    int type, fields = 0;
    while (!in->failed && (type = leat_thrift_field(in, &number)) != 0) {
        if (number == 1 && type == LEAT_THRIFT_I32) page->values = leat_thrift_integer(in);
        else if (++fields > FIELDS_MAX) in->failed = true;
        else leat_thrift_skip(in, type, 1);
    }
}

static bool read_page_header(const uint8_t *bytes, int64_t size, page_header *page) {
    leat_thrift in = {.bytes = bytes, .size = size};
    *page = (page_header){.type = -1, .unpacked_bytes = -1, .packed_bytes = -1};
    int64_t number = 0;
    int type, fields = 0;
    while (!in.failed && (type = leat_thrift_field(&in, &number)) != 0) {
        if (++fields > FIELDS_MAX) in.failed = true;
        else if (type == LEAT_THRIFT_I32 && number == 1) page->type = leat_thrift_integer(&in);
        else if (type == LEAT_THRIFT_I32 && number == 2)
            page->unpacked_bytes = leat_thrift_integer(&in);
        else if (type == LEAT_THRIFT_I32 && number == 3)
            page->packed_bytes = leat_thrift_integer(&in);
        else if (type == LEAT_THRIFT_STRUCT && number >= 5 && number <= 8)
            read_page_struct(&in, page);
        else leat_thrift_skip(&in, type, 0);
    }
    page->size_bytes = in.at;
    return !in.failed && page->type >= 0 && page->unpacked_bytes >= 0 && page->packed_bytes >= 0 &&
           page->values >= 0;
}

/* Memory for values that are decoded a page at a time. */
static int64_t delta_bytes(const leat_parquet_chunk *chunk, int64_t values) {
    if (!chunk->delta) return 0;
    return values * (chunk->text ? DELTA_TEXT_BYTES : DELTA_NUMBER_BYTES);
}

int64_t leat_parquet_chunk_bytes(const leat_parquet_chunk *chunk) {
    int64_t bytes = chunk->unpacked_bytes + (chunk->packed ? chunk->size_bytes : 0);
    if (chunk->delta) return bytes + delta_bytes(chunk, chunk->values);
    /* all of it could be a dictionary, whose entries are a length and 12 bytes of text */
    return chunk->text ? bytes + chunk->unpacked_bytes : bytes;
}

static int64_t page_bytes(const leat_parquet_chunk *chunk, const page_header *page) {
    int64_t bytes = page->unpacked_bytes + (chunk->packed ? page->packed_bytes : 0);
    if (page->type == PAGE_DICTIONARY) return bytes + page->values * VIEW_BYTES;
    return bytes + delta_bytes(chunk, page->values);
}

leat_code leat_parquet_chunk_walk(leat_file *file, const leat_parquet_chunk *chunk, int64_t *bytes,
                                  leat_error *err) {
    uint8_t head[HEADER_READ];
    int64_t at = chunk->offset, end = chunk->offset + chunk->size_bytes;
    int64_t page_most = 0, dictionary = 0;
    *bytes = leat_parquet_chunk_bytes(chunk);
    for (int pages = 0; at < end; pages++) {
        page_header page;
        int64_t size = end - at < HEADER_READ ? end - at : HEADER_READ;
        LEAT_TRY(leat_file_pread(file, head, size, at, err));
        if (pages == PAGES_MAX || !read_page_header(head, size, &page)) return LEAT_OK;
        int64_t taken = page_bytes(chunk, &page);
        if (page.type == PAGE_DICTIONARY) dictionary += taken;
        else if (page.type != PAGE_DATA && page.type != PAGE_DATA_V2) return LEAT_OK;
        else if (taken > page_most) page_most = taken;
        at += page.size_bytes + page.packed_bytes;
    }
    if (at == end && page_most + dictionary < *bytes) *bytes = page_most + dictionary;
    return LEAT_OK;
}

#endif
