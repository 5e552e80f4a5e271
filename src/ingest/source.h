/*
 * What sources (Parquet, CSV, NDJSON) give to the ingest: batches of raw measurements, from several
 * threads at once, and lines that are none.
 */
#ifndef LEAT_INGEST_SOURCE_H
#define LEAT_INGEST_SOURCE_H

#include "base/file.h"
#include "base/lines.h"
#include "base/mem.h"
#include "ingest/reject.h"
#include "ingest/report.h"

/* Times that are none: missing; and beyond what 64 bits of microseconds hold, either way. */
#define LEAT_TIME_MISSING INT64_MIN
#define LEAT_TIME_PAST (INT64_MIN + 1)
#define LEAT_TIME_FUTURE INT64_MAX

/* Arrays of `count` items, valid during the call only. */
typedef struct leat_raw_batch {
    int32_t file_index;     /* in the list of inputs */
    int64_t count;          /* 1..LEAT_BATCH_ROWS */
    const int64_t *row;     /* row in the file, or line where the record begins, from 1 */
    const int64_t *time_us; /* microseconds since 1970 UTC, floor; LEAT_TIME_MISSING */
    const leat_text *src, *dst;
    const int32_t *ip_version; /* 0: absent; any other value as found */
    const float *rtt;          /* milliseconds as float32, not yet judged; NaN = null */
} leat_raw_batch;
#define LEAT_BATCH_ROWS 2048

/* Why a row is no measurement: name, text as it stands in rejected.csv, run.json and on the
 * summary.
 */
#define LEAT_REJECTS(X)                                                                            \
    X(LEAT_REJECT_LINE, "malformed_line")                                                          \
    X(LEAT_REJECT_NOT_PING, "not_a_ping_result")                                                   \
    X(LEAT_REJECT_SRC_MISSING, "src_addr_missing")                                                 \
    X(LEAT_REJECT_SRC_BAD, "src_addr_unparsable")                                                  \
    X(LEAT_REJECT_DST_MISSING, "dst_addr_missing")                                                 \
    X(LEAT_REJECT_DST_BAD, "dst_addr_unparsable")                                                  \
    X(LEAT_REJECT_VERSION, "ip_version_contradiction")                                             \
    X(LEAT_REJECT_TIME_MISSING, "event_time_missing")                                              \
    X(LEAT_REJECT_TIME_RANGE, "event_time_out_of_range")                                           \
    X(LEAT_REJECT_RTT, "rtt_infinite")                                                             \
    X(LEAT_REJECT_DUPLICATES, "only_duplicate_packets")

#define LEAT_REJECT_ENUM(name, text) name,
typedef enum leat_reject { LEAT_REJECTS(LEAT_REJECT_ENUM) LEAT_REJECT_COUNT } leat_reject;
#undef LEAT_REJECT_ENUM
const char *leat_reject_text(leat_reject reason);
extern const leat_reject_kind leat_probe_rejects;

/* Appends row i as it was found, for leat_reject_row.values: times as ISO 8601 in UTC with six
 * digits of the second, missing values empty, texts cut at LEAT_REJECT_TEXT_BYTES. */
LEAT_MUST_CHECK leat_code leat_reject_format(leat_buf *buf, const leat_raw_batch *batch, int64_t i,
                                             leat_error *err);
/* The same for a line that is no row: its beginning alone. */
LEAT_MUST_CHECK leat_code leat_reject_format_line(leat_buf *buf, const char *line,
                                                  int64_t size_bytes, leat_error *err);
#define LEAT_REJECT_TEXT_BYTES 1024

/* `worker` < the number of workers; a worker's calls do not overlap, different workers' do.
 * A failure stops the source, which returns it. */
typedef leat_code (*leat_batch_fn)(void *context, int worker, const leat_raw_batch *batch,
                                   leat_error *err);

typedef enum leat_input_format {
    LEAT_INPUT_PARQUET,
    LEAT_INPUT_CSV,
    LEAT_INPUT_NDJSON
} leat_input_format;

/* What leat_sources_check found out about a Parquet file; all zero before, and for other formats.
 */
typedef struct leat_parquet_facts {
    bool known;
    int64_t rows, row_groups;
    int64_t metadata_bytes; /* of the footer */
    int64_t group_bytes;    /* the most memory that decoding one row group takes */
    uint64_t schema;        /* equal for files that one query may read */
    int time_type, version_type;
    bool rtt_double;
} leat_parquet_facts;

typedef struct leat_input {
    char *path;
    leat_input_format format;
    bool gzip;
    leat_path_facts facts;
    leat_parquet_facts parquet;
} leat_input;

typedef struct leat_input_list {
    leat_input *items; /* sorted by path */
    int64_t count, capacity;
} leat_input_list;

/* Names of the five columns in the input, NULL-terminated texts ("event_time", ...). */
typedef struct leat_source_columns {
    const char *event_time, *src_addr, *dst_addr, *ip_version, *rtt;
} leat_source_columns;

typedef struct leat_source_options {
    leat_source_columns columns;
    bool per_packet;      /* Atlas NDJSON: one measurement per packet */
    int threads;          /* workers 0..threads-1 */
    int64_t memory_bytes; /* for decode buffers, libraries' included; see leat_sources_memory_min.
                             leat_sources_check: 0 for no limit */
    const char *temp_dir;
    leat_reject_log *rejects; /* lines that are no record go here */
    leat_batch_fn batch;
    void *batch_context;
    /* Bytes of input consumed (of the files' sizes; for Parquet their share by rows) and records
     * seen so far, from any worker but one at a time, some ten times a second; false: stop, with
     * LEAT_ERR_CANCELLED. May be NULL. */
    leat_report_fn progress;
    void *progress_context;
} leat_source_options;

/* What a job reads. */
typedef struct leat_input_kind {
    const char *const *suffixes; /* of the files that a folder is read for; ends with NULL */
    const char *shown;           /* the suffixes, for a message */
    /* Fills format and gzip from what the file begins with, `size` bytes of it, up to 4. */
    leat_code (*tell)(leat_input *input, const uint8_t *magic, int64_t size, leat_error *err);
} leat_input_kind;
/* *.parquet, *.csv, *.ndjson, *.jsonl, *.json and .gz of all but the first; format by content. */
extern const leat_input_kind leat_probe_inputs;
/* *.csv, *.log, *.txt and their .gz; which format they have is told when they are read. */
extern const leat_input_kind leat_can_inputs;

/* Expands paths (files, globs, folders), each file once (by device and inode), sorted by path. */
LEAT_MUST_CHECK leat_code leat_inputs_find(const char *const *paths, int64_t path_count,
                                           const leat_input_kind *kind, leat_input_list *inputs,
                                           leat_error *err);
void leat_input_list_free(leat_input_list *inputs);

/*
 * Looks at every input before a row is read: it opens, has the columns, with types that are
 * accepted. Errors name the file, the column, and what there is instead. Fills the items' facts.
 */
LEAT_MUST_CHECK leat_code leat_sources_check(const leat_input_list *inputs,
                                             const leat_source_options *options, leat_error *err);

/* Reads all inputs once, calling options->batch; the set of measurements given does not depend on
 * threads or memory, their order does. *rows_read counts records seen, set aside ones included. */
LEAT_MUST_CHECK leat_code leat_sources_scan(const leat_input_list *inputs,
                                            const leat_source_options *options, int64_t *rows_read,
                                            leat_error *err);

/*
 * The least memory_bytes that leat_sources_scan takes for these inputs, after leat_sources_check;
 * and what it takes when all `threads` read at once. In between fewer threads read. Both count on
 * top of the resident set that leat_sources_check left behind, which holds DuckDB's library (some
 * 35 MiB) if there is a Parquet file.
 */
int64_t leat_sources_memory_min(const leat_input_list *inputs, int threads);
int64_t leat_sources_memory_full(const leat_input_list *inputs, int threads);

#endif
