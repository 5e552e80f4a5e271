/*
 * Probe rows: the Arrow IPC records of docs/probe-rows.md, written without a general encoder.
 *
 * A record is a fixed sequence of pieces: frame bytes (messages, padding), facts of the row, and
 * the six column buffers of the measurements. leat_probe_frame_plan computes it from the counts
 * alone; the caller fills the column buffers in place (rows that fit in memory) or streams them
 * piece by piece (rows that do not). Below: reading a record, whole or a measurement at a time.
 */
#ifndef LEAT_FORMAT_PROBE_ROW_H
#define LEAT_FORMAT_PROBE_ROW_H

#include "format/arrayrecord/view.h"
#include "format/arrow/arrow.h"
#include "leat/format.h"

typedef enum leat_probe_column {
    LEAT_PROBE_EVENT_TIME,  /* int64 microseconds, n */
    LEAT_PROBE_SRC_OFFSETS, /* int32, n + 1 (plain) ; with dictionary: int8 indices, n, all 0 */
    LEAT_PROBE_SRC_DATA,    /* text, as a rule n times one; with dictionary: absent, size 0 */
    LEAT_PROBE_DST_OFFSETS, /* int32, n + 1 */
    LEAT_PROBE_DST_DATA,    /* text */
    LEAT_PROBE_IP_VERSION,  /* int8, n */
    LEAT_PROBE_RTT,         /* float32, n, -1 = failed */
    LEAT_PROBE_COLUMNS
} leat_probe_column;

/* Columns of the measurements, by what they hold. */
typedef enum leat_probe_field {
    LEAT_PROBE_FIELD_TIME,
    LEAT_PROBE_FIELD_SRC,
    LEAT_PROBE_FIELD_DST,
    LEAT_PROBE_FIELD_VERSION,
    LEAT_PROBE_FIELD_RTT,
    LEAT_PROBE_FIELDS
} leat_probe_field;

#define LEAT_PROBE_FRAME_BYTES 4096 /* bound on all frame bytes of a record together */

/* One piece of the record, in file order: frame bytes, or a column buffer; then pad zero bytes. */
typedef struct leat_probe_piece {
    int column;           /* leat_probe_column, or -1: frame bytes at `frame` */
    int64_t offset_bytes; /* in the record */
    int64_t size_bytes;
    int32_t pad_bytes; /* zeros after it */
    int32_t frame;     /* offset into plan->frame, for column -1 */
} leat_probe_piece;

typedef struct leat_probe_facts {
    int64_t src_id;
    int64_t n_measurements;
    int64_t first_us, last_us;
    int64_t dst_bytes;              /* of all destination texts together */
    char src[LEAT_PROBE_SRC_BYTES]; /* source address text, not NUL-terminated */
    int32_t src_size;
    bool own_sources;  /* measurements may have different sources, and src is not read */
    int64_t src_bytes; /* of all source texts together, if own_sources */
} leat_probe_facts;

typedef struct leat_probe_plan {
    int64_t record_bytes;       /* of the whole outer stream */
    int64_t measurements_bytes; /* of the inner stream: what --max-row-size limits */
    int64_t column_offset[LEAT_PROBE_COLUMNS];
    int64_t column_bytes[LEAT_PROBE_COLUMNS];
    leat_probe_piece pieces[24];
    int piece_count;
    uint8_t frame[LEAT_PROBE_FRAME_BYTES];
} leat_probe_plan;

/*
 * Bytes of the inner stream for n measurements: what --max-row-size limits. Cheap (no plan made).
 * src_bytes_total is of all source texts; with a dictionary, n times the one. INT64_MAX for what no
 * row can hold (n past 2^31 - 1, negative counts).
 */
int64_t leat_probe_measurements_bytes(int64_t n, int64_t src_bytes_total, int64_t dst_bytes,
                                      bool dictionary_src);
/* The largest inner stream that a row may have: 2 GiB - 64 KiB. */
#define LEAT_PROBE_MEASUREMENTS_MAX ((INT64_C(1) << 31) - 65536)

/* Plans a row. LEAT_ERR_LIMIT if it would pass LEAT_PROBE_MEASUREMENTS_MAX. A dictionary has one
 * source: own_sources excludes it. */
LEAT_MUST_CHECK leat_code leat_probe_plan_row(const leat_probe_facts *facts, bool dictionary_src,
                                              leat_probe_plan *plan, leat_error *err);
/* Copies frame bytes and padding into record (plan->record_bytes); the columns stay the caller's.
 */
void leat_probe_plan_put_frame(const leat_probe_plan *plan, uint8_t *record);

/*
 * A row opened to read single measurements, in the caller's memory. "Direct" rows (uncompressed,
 * one batch, plain or dictionary-encoded text: ours and PyArrow's as a rule) are read in place:
 * opening reads only the metadata and the facts, allocates nothing and owns nothing; each
 * measurement then touches, and checks, only what it needs. Any other row is decoded whole when it
 * is opened. What the view's context points to must outlive the row. One thread at a time.
 */
typedef struct leat_probe_row {
    leat_probe_row_info info;
    /* the rest is private */
    bool is_direct, is_trusted;
    bool own_sources; /* measurements have different sources, although the row is trusted */
    leat_view view;
    leat_arrow_array columns[LEAT_PROBE_FIELDS]; /* kind LEAT_ARROW_NULL: not there */
    leat_arrow_array values[2];                  /* dictionaries of src_addr and dst_addr */
    bool is_coded[2];
    leat_probe_address source, target; /* the last ones that were read, or the caller's source */
    bool has_source;
    leat_measurements decoded;
} leat_probe_row;

/* options may be NULL. On failure *row is closed. Codes as of leat_probe_record_decode. */
LEAT_MUST_CHECK leat_code leat_probe_row_open(leat_probe_row *row, const leat_view *view,
                                              const leat_probe_read_options *options,
                                              leat_error *err);
/*
 * The same for a record that leat wrote, from what its index says (n, src_id, first and last time)
 * and own_sources (the rest of *facts is ignored), as a trusted row: compares the frame with what
 * the writer makes of these facts, in a tenth of the time. For a place in a mapped file the chunk's
 * head is part of that. False, with *row closed, for any other record, and where bytes cannot be
 * read or trusted: leat_probe_row_open then reports why.
 */
LEAT_MUST_CHECK bool leat_probe_row_open_known(leat_probe_row *row, const leat_view *view,
                                               const leat_probe_facts *facts);
void leat_probe_row_close(leat_probe_row *row);
/* Measurement `index` in the row's order; past its end LEAT_ERR_INPUT. The texts belong to *row
 * until its next call. */
LEAT_MUST_CHECK leat_code leat_probe_row_get(leat_probe_row *row, int64_t index,
                                             leat_measurement *out, leat_error *err);
/*
 * `count` measurements at once, the same values as leat_probe_row_get gives; every index must be of
 * the row. Best in ascending order: each page is then looked at once. The texts go to `texts`
 * (count times LEAT_PROBE_TEXTS_BYTES); where it is NULL src and dst are NULL with size 0.
 * On failure the contents of *points are undefined.
 */
#define LEAT_PROBE_TEXTS_BYTES 96
LEAT_MUST_CHECK leat_code leat_probe_row_gather(leat_probe_row *row, const int64_t *indices,
                                                int64_t count, leat_measurement *points,
                                                char *texts, leat_error *err);

/* leat_probe_record_decode on a view. */
LEAT_MUST_CHECK leat_code leat_probe_row_decode(const leat_view *view,
                                                const leat_probe_read_options *options,
                                                leat_measurements *out, leat_probe_row_info *info,
                                                leat_error *err);

#endif
