/*
 * From sorted measurements to probe rows: splits a probe's measurements by size and writes each
 * piece as one record, from a bucket in memory or from a stream that does not fit in memory.
 */
#ifndef LEAT_INGEST_PROBES_ROWS_H
#define LEAT_INGEST_PROBES_ROWS_H

#include "base/lines.h"
#include "ingest/probes/bucket.h"
#include "ingest/probes/shard.h"

typedef struct leat_row_maker {
    int64_t limit_bytes; /* of a row's serialised measurements */
    bool dictionary_src;
    bool named; /* probes have names, and each measurement its own source */
    leat_shard_writer *shards;
    uint8_t *record; /* the caller's block: a complete record, or the columns of a stream */
    int64_t record_bytes;
    leat_probe_plan plan;
} leat_row_maker;

/* The maximum size of a record whose serialised measurements take limit_bytes. */
int64_t leat_rows_record_bytes(int64_t limit_bytes);
/* The maximum record size of any row of a bucket in an arena of the given size. */
int64_t leat_rows_record_bytes_of_arena(int64_t arena_bytes);

/* The source of a measurement: its own, or that of the definition. */
static inline leat_text leat_rows_source(const leat_bucket_source *source, const uint8_t *record) {
    int32_t size;
    const uint8_t *own = leat_spill_own_source(record, &size);
    return own != NULL ? (leat_text){(const char *)own, size}
                       : (leat_text){source->text, source->size};
}
/* LEAT_ERR_OPTION: a row that stores its source once has measurements of two. */
LEAT_MUST_CHECK leat_code leat_rows_two_sources(const leat_bucket_source *probe, const leat_text *a,
                                                const leat_text *b, leat_error *err);

/* Writes a group of a loaded bucket to the open shard. */
LEAT_MUST_CHECK leat_code leat_rows_write_group(leat_row_maker *maker, const leat_bucket *bucket,
                                                const leat_bucket_group *group, leat_error *err);

/*
 * Rows from a stream of sorted measurements: columns are collected in memory, and in temporary
 * files once they exceed it, until the row is full.
 */
typedef enum leat_stream_column {
    LEAT_STREAM_TIME,
    LEAT_STREAM_DST_OFFSETS,
    LEAT_STREAM_DST_DATA,
    LEAT_STREAM_RTT,
    LEAT_STREAM_SRC_OFFSETS, /* these only where measurements have their own sources */
    LEAT_STREAM_SRC_DATA,
    LEAT_STREAM_VERSION,
    LEAT_STREAM_COLUMNS
} leat_stream_column;

/* The minimum leat_row_maker.record_bytes for a stream. */
#define LEAT_ROW_STREAM_BYTES_MIN (65536 + LEAT_STREAM_SRC_OFFSETS * 4096)

typedef struct leat_row_stream {
    leat_row_maker *maker;
    const char *temp_dir;
    leat_bucket_source probe;
    leat_text source; /* of the first measurement, in `source_text` */
    char source_text[LEAT_ADDRESS_TEXT_BYTES];
    int version; /* 0: measurements of both */
    int64_t count, src_bytes, dst_bytes, first_us, last_us;
    uint8_t *column[LEAT_STREAM_COLUMNS]; /* parts of maker->record */
    int column_count;                     /* in use */
    int64_t column_bytes;                 /* of each */
    int64_t filled[LEAT_STREAM_COLUMNS];
    leat_file *file[LEAT_STREAM_COLUMNS];
    int64_t spilled[LEAT_STREAM_COLUMNS];
} leat_row_stream;

LEAT_MUST_CHECK leat_code leat_row_stream_begin(leat_row_stream *stream, leat_row_maker *maker,
                                                const char *temp_dir, leat_error *err);
/* One measurement, as its spill record; the probe must be the same until leat_row_stream_flush. */
LEAT_MUST_CHECK leat_code leat_row_stream_add(leat_row_stream *stream,
                                              const leat_bucket_source *source,
                                              const uint8_t *record, leat_error *err);
/* Writes the collected measurements as a row: the source has no more of them. */
LEAT_MUST_CHECK leat_code leat_row_stream_flush(leat_row_stream *stream, leat_error *err);
/* Closes and removes the temporary files. */
void leat_row_stream_end(leat_row_stream *stream);

#endif
