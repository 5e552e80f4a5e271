/*
 * What sources (Parquet, CSV, NDJSON) deliver to the ingest: batches of raw measurements and
 * unusable lines, from several threads at once.
 */
#ifndef LEAT_INGEST_SOURCE_H
#define LEAT_INGEST_SOURCE_H

#include "base/file.h"
#include "base/lines.h"
#include "base/mem.h"
#include "base/ticker.h"
#include "ingest/reject.h"
#include "leat/ingest.h"

/* Times without a value: missing, or outside the range of 64-bit microseconds in either direction.
 */
#define LEAT_TIME_MISSING INT64_MIN
#define LEAT_TIME_PAST (INT64_MIN + 1)
#define LEAT_TIME_FUTURE INT64_MAX

/* Arrays of `count` items, valid only during the call. */
typedef struct leat_raw_batch {
    int32_t file_index;     /* in the list of inputs */
    int64_t count;          /* 1..LEAT_BATCH_ROWS */
    const int64_t *row;     /* row in the file, or line where the record begins, from 1 */
    const int64_t *time_us; /* microseconds since 1970 UTC, floor; LEAT_TIME_MISSING */
    const leat_text *src, *dst;
    const int32_t *ip_version; /* 0: absent; any other value as in the input */
    const float *rtt;          /* milliseconds as float32, not yet checked; NaN = null */
    /* The number of the measurement among the equal ones of its record, from 0: those are no
     * duplicates of each other. NULL: all are 0. */
    const uint32_t *twin;
    /* The number of a RIPE Atlas probe (probes/identity.h), 0 if it is unknown. NULL: all are. */
    const uint32_t *probe;
    /* The name of the probe, by which probes are told apart, where a column has it
     * (leat_source_columns.probe); NULL: by the address. Of one that is longer than
     * LEAT_NAME_BYTES_MAX, a source may pass on the beginning. */
    const leat_text *name;
} leat_raw_batch;
#define LEAT_BATCH_ROWS 2048

/* Why a row is not a measurement: name, and text as shown in rejected.csv, run.json and the
 * summary. */
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
    X(LEAT_REJECT_DUPLICATES, "only_duplicate_packets")                                            \
    X(LEAT_REJECT_RTT_BAD, "rtt_unparsable")                                                       \
    X(LEAT_REJECT_PROBE_MISSING, "probe_missing")

#define LEAT_REJECT_ENUM(name, text) name,
typedef enum leat_reject { LEAT_REJECTS(LEAT_REJECT_ENUM) LEAT_REJECT_COUNT } leat_reject;
#undef LEAT_REJECT_ENUM
const char *leat_reject_text(leat_reject reason);
extern const leat_reject_kind leat_probe_rejects;

/* Appends row i in its original form, for leat_reject_row.values: times as ISO 8601 in UTC with six
 * digits of the second, missing values empty, texts truncated to LEAT_REJECT_TEXT_BYTES. */
LEAT_MUST_CHECK leat_code leat_reject_format(leat_buf *buf, const leat_raw_batch *batch, int64_t i,
                                             leat_error *err);
/* The same for a line that is not a record: its beginning. */
LEAT_MUST_CHECK leat_code leat_reject_format_line(leat_buf *buf, const char *line,
                                                  int64_t size_bytes, leat_error *err);
#define LEAT_REJECT_TEXT_BYTES 1024
#define LEAT_NAME_BYTES_MAX LEAT_REJECT_TEXT_BYTES

/* `worker` < the number of workers; calls of one worker do not overlap, those of different workers
 * do.
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
    bool plain; /* it can be read in its plain form only, see parquet.h */
    int64_t rows, row_groups;
    int64_t metadata_bytes; /* of the footer */
    int64_t group_bytes;    /* the most memory that decoding one row group takes */
    uint64_t schema;        /* equal for files that one query may read */
    int time_type, version_type, probe_type;
    bool rtt_double;
    uint8_t nulls; /* columns of the type of pyarrow's nulls: bits of LEAT_COLUMN_SRC, _DST, _RTT */
} leat_parquet_facts;

typedef struct leat_input {
    char *path;
    leat_input_format format;
    leat_coding coding;
    bool zip;             /* a zip archive of one file */
    int64_t unpack_bytes; /* the memory that unpacking takes, known after leat_sources_check */
    leat_path_facts facts;
    leat_parquet_facts parquet;
    uint8_t sha256[32]; /* of the complete file; see leat_input_list.hashed */
} leat_input;

typedef struct leat_input_list {
    leat_input *items; /* sorted by path */
    int64_t count, capacity;
    bool hashed;                 /* the items' sha256 are known */
    leat_ingest_skipped skipped; /* in the folders that were searched */
    leat_path_list beside;       /* there, of the name that the kind has for such files */
} leat_input_list;

/* Names of the five columns in the input, NULL-terminated texts ("event_time", ...); and of the one
 * with the names of the probes, NULL if probes are addresses. */
typedef struct leat_source_columns {
    const char *event_time, *src_addr, *dst_addr, *ip_version, *rtt, *probe;
} leat_source_columns;

struct leat_notes;

typedef struct leat_source_options {
    leat_source_columns columns;
    /* Columns whose names were given, in the order above, which also hold for Atlas results; those
     * of other names than the usual ones count as given. */
    bool mapped[5];
    leat_time_unit time_unit;
    leat_rtt_unit rtt_unit;       /* AUTO is milliseconds: names are not considered here */
    const struct leat_lost *lost; /* values of rtt that are lost pings; NULL: none */
    struct leat_notes *notes;     /* what is noticed (probes/notes.h); NULL: only errors */
    bool per_packet;              /* Atlas NDJSON: one measurement per packet */
    int threads;                  /* workers 0..threads-1 */
    int64_t memory_bytes;         /* for decode buffers, including those of libraries; see
                                     leat_sources_memory_min. leat_sources_check: 0 for no limit */
    const char *temp_dir;
    leat_reject_log *rejects; /* receives lines that are not records */
    leat_batch_fn batch;
    void *batch_context;
    /* Counts bytes of input consumed (of the file sizes; for Parquet the proportion of rows read).
     * May be NULL. */
    leat_ticker *ticker;
} leat_source_options;

/* The inputs that a job accepts. */
typedef struct leat_input_kind {
    const char *const *suffixes; /* of the files to read in a folder, lower case; ends with NULL */
    const char *shown;           /* the suffixes, for a message */
    /* Sets the format from the first `size` bytes of the file, up to LEAT_CODING_MAGIC_BYTES;
     * coding is set. */
    leat_code (*detect)(leat_input *input, const uint8_t *magic, int64_t size, leat_error *err);
    bool tables; /* folders may be tables of Parquet files, which are refused (ingest/tables.h) */
    /* Files of a folder with another suffix may be inputs by their contents: whether one is; NULL:
     * none. */
    leat_code (*look)(const char *path, bool *is, leat_error *err);
    const char *beside; /* a file of this name in a folder may say something about the others: it is
                           listed, not skipped; NULL: none does */
} leat_input_kind;
/* *.parquet, *.csv, *.ndjson, *.jsonl, *.json, and packed ones of all but the first; the format is
 * detected from the contents. */
extern const leat_input_kind leat_probe_inputs;
/* *.csv, *.log, *.txt, *.asc, *.trc and their .gz, and *.json with raw messages of OpenXC; the log
 * format is detected when they are read. */
extern const leat_input_kind leat_can_inputs;
#define LEAT_CAN_METADATA_FILE "capture_metadata.json" /* beside logs (can/cache) */

/* Expands paths (files, globs, folders), each file once (by device and inode), sorted by path. In a
 * folder, files are selected by the suffixes of their names, in any case; names that begin with "."
 * or "_" are skipped. */
LEAT_MUST_CHECK leat_code leat_inputs_find(const char *const *paths, int64_t path_count,
                                           const leat_input_kind *kind, leat_input_list *inputs,
                                           leat_error *err);
void leat_input_list_free(leat_input_list *inputs);
/* Whether a file of this name would be selected in a folder, if it does not begin with "_". */
bool leat_inputs_has_name(const leat_input_kind *kind, const char *name);
/* Opens the text of an input; options->coding is that of the input. */
LEAT_MUST_CHECK leat_code leat_input_lines_open(leat_lines **out, const leat_input *input,
                                                const leat_lines_options *options, leat_error *err);
/* What reading from a zip archive takes, besides the memory of the lines. */
#define LEAT_INPUT_ZIP_BYTES (INT64_C(1) << 20)
/* A path as a name of up to that many bytes; the beginning of a longer one becomes "...". */
void leat_inputs_name(const char *path, char *name, int64_t size_bytes);
/* Counts a file or folder that is not read, or all of another list. */
void leat_inputs_skip(leat_ingest_skipped *skipped, const char *path);
void leat_inputs_skip_all(leat_ingest_skipped *skipped, const leat_ingest_skipped *more);
/*
 * After reading: whether every input is unchanged since it was found. LEAT_ERR_INPUT names one that
 * was removed, replaced or changed, whose rows may mix old and new contents. Sizes and times are
 * compared. The time of the last change of any kind (ctime), which nobody can set back, counts
 * unless new permissions, owners or links explain it: those may change.
 */
LEAT_MUST_CHECK leat_code leat_inputs_unchanged(const leat_input_list *inputs, leat_error *err);
/* The same for one file. */
LEAT_MUST_CHECK leat_code leat_input_unchanged(const char *path, const leat_path_facts *then,
                                               leat_error *err);
/* Computes the sha256 of every input with `threads` threads; LEAT_ERR_INPUT as above, so that the
 * hashes are of the files that the facts describe. */
LEAT_MUST_CHECK leat_code leat_inputs_hash(leat_input_list *inputs, int threads,
                                           leat_ticker *ticker, leat_error *err);
/* For `code`, a failure to read inputs: if an input was changed, replaces the failure with that
 * cause; otherwise returns the failure itself, which err holds. */
LEAT_MUST_CHECK leat_code leat_inputs_blame(const leat_input_list *inputs, leat_code code,
                                            leat_error *err);

/*
 * Checks every input before rows are read: that it opens and has the columns with supported types.
 * Errors name the file, the column, and what was found instead. Sets the items' facts.
 */
LEAT_MUST_CHECK leat_code leat_sources_check(const leat_input_list *inputs,
                                             const leat_source_options *options, leat_error *err);

/* Reads all inputs once, calling options->batch. The set of measurements is independent of threads
 * and memory; their order is not. *rows_read counts all records, including rejected ones. */
LEAT_MUST_CHECK leat_code leat_sources_scan(const leat_input_list *inputs,
                                            const leat_source_options *options, int64_t *rows_read,
                                            leat_error *err);

/*
 * The minimum memory_bytes of leat_sources_scan for these inputs, after leat_sources_check; and
 * what it takes when all `threads` read at once. In between, fewer threads read. Both are in
 * addition to the resident set after leat_sources_check, which includes DuckDB's library (about 35
 * MiB) if there is a Parquet file.
 */
int64_t leat_sources_memory_min(const leat_input_list *inputs, int threads);
int64_t leat_sources_memory_full(const leat_input_list *inputs, int threads);
/* How much of memory_bytes a scan may take to unpack a file, whatever its first member required. */
int64_t leat_sources_unpack_bytes(const leat_input_list *inputs, int threads, int64_t memory_bytes);

#endif
