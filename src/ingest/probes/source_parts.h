/*
 * The parts of leat_sources_check and leat_sources_scan: what the sources share, and what each of
 * them provides to sources.c.
 */
#ifndef LEAT_INGEST_PROBES_SOURCE_PARTS_H
#define LEAT_INGEST_PROBES_SOURCE_PARTS_H

#include <stdatomic.h>

#include "base/json_scan.h"
#include "base/lines.h"
#include "ingest/probes/notes.h"
#include "ingest/probes/rtt_values.h"
#include "ingest/source.h"

/* ---- a scan as a whole ---- */

/* What the sources of one scan share. */
typedef struct leat_scan {
    const leat_input_list *inputs;
    const leat_source_options *options;
    atomic_int_least64_t rows; /* records seen */
} leat_scan;

/* ---- measurements collected one by one ---- */

/* One worker's batch; passed on when it is full. */
typedef struct leat_rows {
    const leat_source_options *options;
    int worker;
    int32_t file_index;
    int64_t count;
    int64_t row[LEAT_BATCH_ROWS], time_us[LEAT_BATCH_ROWS];
    leat_text src[LEAT_BATCH_ROWS], dst[LEAT_BATCH_ROWS];
    int32_t ip_version[LEAT_BATCH_ROWS];
    float rtt[LEAT_BATCH_ROWS];
    uint32_t twin[LEAT_BATCH_ROWS], probe[LEAT_BATCH_ROWS];
    leat_text name[LEAT_BATCH_ROWS];
} leat_rows;

typedef struct leat_source_row {
    int64_t row, time_us;
    leat_text src, dst, name; /* the bytes stay valid until the rows are flushed */
    int32_t ip_version;
    float rtt;
    uint32_t twin, probe; /* see leat_raw_batch */
} leat_source_row;

LEAT_MUST_CHECK leat_code leat_rows_flush(leat_rows *rows, leat_error *err);
LEAT_MUST_CHECK leat_code leat_rows_add(leat_rows *rows, const leat_source_row *row,
                                        leat_error *err);

/* ---- text: CSV and NDJSON ---- */

#define LEAT_CSV_FIELDS_MAX 1024
enum {
    LEAT_COLUMN_TIME,
    LEAT_COLUMN_SRC,
    LEAT_COLUMN_DST,
    LEAT_COLUMN_VERSION,
    LEAT_COLUMN_RTT,
    LEAT_COLUMN_PROBE, /* only where probes have names */
    LEAT_COLUMNS
};

/* A further field of CSV: the number of a RIPE Atlas probe, in results that were flattened. */
enum { LEAT_CSV_PRB_ID = LEAT_COLUMNS };

/* Which fields of a record are used: by position, the LEAT_COLUMN, or -1. */
typedef struct leat_csv_map {
    int32_t field_count;
    bool has_version;
    char separator; /* a comma or a tab; 0: no header was read yet */
    bool blanks;    /* around names of the header, so also around fields: they do not count */
    int8_t slot[LEAT_CSV_FIELDS_MAX];
} leat_csv_map;

/* The members of JSON objects that are read: those of the columns, and RIPE Atlas' own. */
typedef enum leat_member {
    LEAT_MEMBER_TIME, /* the columns, in their order, by the names that they have */
    LEAT_MEMBER_SRC,
    LEAT_MEMBER_DST,
    LEAT_MEMBER_VERSION,
    LEAT_MEMBER_RTT,
    LEAT_MEMBER_PROBE, /* only where probes have names */
    LEAT_MEMBER_TYPE,
    LEAT_MEMBER_TIMESTAMP,
    LEAT_MEMBER_FROM,
    LEAT_MEMBER_SRC_ADDR,
    LEAT_MEMBER_SRCADDR, /* until firmware 4460 */
    LEAT_MEMBER_DST_ADDR,
    LEAT_MEMBER_ADDR, /* the same */
    LEAT_MEMBER_AF,
    LEAT_MEMBER_AVG,
    LEAT_MEMBER_RESULT,
    LEAT_MEMBER_ERROR,
    LEAT_MEMBER_PRB_ID,
    LEAT_MEMBER_MSM_ID,
    LEAT_MEMBER_START, /* scamper's own */
    LEAT_MEMBER_RESPONSES,
    LEAT_MEMBER_SOURCE, /* what Elasticsearch puts an object into */
    LEAT_MEMBERS
} leat_member;

/* How the members of objects are found; different members may have one name. */
typedef struct leat_ndjson_map {
    leat_json_names names;
    uint8_t slot[LEAT_MEMBERS]; /* of each member: its number in `names` */
    bool named;                 /* probes have names */
    uint32_t plain, atlas;      /* those that decide over a plain measurement, an Atlas result */
    leat_json_names packet;     /* members of a packet: */
    uint8_t packet_rtt, packet_dup, packet_mapped; /* Atlas' rtt; dup; the rtt that is read */
    bool given[LEAT_COLUMNS];                      /* leat_source_is_mapped */
} leat_ndjson_map;
void leat_ndjson_map_make(leat_ndjson_map *map, const leat_source_options *options);

/* What one worker parses with. */
typedef struct leat_text_worker {
    leat_rows rows;
    leat_csv_map map; /* of the current file */
    leat_ndjson_map json;
    leat_json_fields fields, packet;   /* of the current object, and of one of its packets */
    leat_buf reject;                   /* values of a rejected record */
    leat_buf answers;                  /* rtts of a result's packets */
    char *texts;                       /* addresses with escapes, LEAT_NDJSON_TEXTS bytes */
    int64_t text_bytes;                /* used */
    char head[LEAT_REJECT_TEXT_BYTES]; /* of a record that is unquoted in place */
    const char *path;                  /* of the current file; NULL: unknown */
    int64_t records;                   /* of the block: its lines without later headers */
    int64_t with, without, atlas;      /* of the block: see leat_notes */
    uint8_t units;                     /* the same */
    leat_rtt_tally rtts;               /* the same */
    leat_digits digits;                /* of the block */
} leat_text_worker;
#define LEAT_NDJSON_TEXTS (INT64_C(256) << 10)

/* Counts an rtt as written, and converts it: a lost ping is NaN. */
float leat_text_rtt(leat_text_worker *worker, double answer);

/* The names of the columns in the order of LEAT_COLUMN; returns how many there are: without names
 * of probes, the last is missing. */
int leat_source_names(const leat_source_columns *columns, const char *names[LEAT_COLUMNS]);
/* What the columns are called in options and messages. */
extern const char *const leat_source_fields[LEAT_COLUMNS];
/* Refuses a file because it lacks columns: those not `seen` of the `count` names; `list` has those
 * that it has. The message has the options that map all that are missing. */
LEAT_MUST_CHECK leat_code leat_source_missing(const char *path, const char *const *names, int count,
                                              const bool *seen, const char *list, leat_error *err);
/* Whether the name of the column was given, so that it holds for Atlas results too. */
bool leat_source_is_mapped(const leat_source_options *options, int column);

/* What helps with a column that a file lacks: another name; or if a folder of its path is
 * NAME=VALUE, as in tables in partitions, how to write that value into the file: then true. */
enum { LEAT_SOURCE_REMEDY_BYTES = 380 };
bool leat_source_remedy(const char *path, const char *name, char out[LEAT_SOURCE_REMEDY_BYTES]);

/* Rejects a line, showing its beginning. */
LEAT_MUST_CHECK leat_code leat_text_reject(leat_text_worker *worker, int64_t row,
                                           leat_reject reason, const char *line, int64_t size_bytes,
                                           leat_error *err);

/* Reads the header: the position of each column. A map that has a separator keeps it. */
LEAT_MUST_CHECK leat_code leat_csv_read_header(leat_line *line, const char *path,
                                               const leat_source_columns *columns,
                                               leat_csv_map *map, leat_error *err);
/* Reads the header from the beginning of a file, after lines of other things: comments, sep=,
 * titles. A file without any line has a map without fields. LEAT_ERR_INPUT: there is no header, or
 * it lacks a column. */
#define LEAT_CSV_PREAMBLE_MAX 100
LEAT_MUST_CHECK leat_code leat_csv_find_header(leat_lines *lines, const char *path,
                                               const leat_source_columns *columns,
                                               leat_csv_map *map, int64_t *preamble,
                                               leat_error *err);
/* Whether a line in a file is another header, with all of the columns: stacked files have one for
 * each part. */
bool leat_csv_is_header(const leat_line *line, char separator, const leat_source_columns *columns);
/* LEAT_ERR_INPUT: CR alone, not LF, ends the lines of a file. */
LEAT_MUST_CHECK leat_code leat_text_refuse_cr(const char *path, leat_error *err);
/* Adds one record or line to the worker's rows, or rejects it. A header changes the map for what
 * follows; LEAT_ERR_INPUT if it has some of the columns, but not all, or other names. */
LEAT_MUST_CHECK leat_code leat_csv_take(leat_text_worker *worker, leat_line *line, leat_error *err);
/* The rows may refer to the bytes of the line until they are flushed. */
LEAT_MUST_CHECK leat_code leat_ndjson_take(leat_text_worker *worker, leat_line *line,
                                           leat_error *err);

/* Sets the input's unpack_bytes. */
LEAT_MUST_CHECK leat_code leat_text_check(leat_input *input, const leat_source_options *options,
                                          leat_error *err);
LEAT_MUST_CHECK leat_code leat_text_scan(leat_scan *scan, int threads, int64_t bytes_before,
                                         leat_error *err);
/* Memory of a scan of text with the given number of threads. */
int64_t leat_text_memory(const leat_input_list *inputs, int threads);
/* How much of the memory of such a scan unpacking may take. */
int64_t leat_text_unpack_bytes(int threads, int64_t memory_bytes);

/* ---- Parquet ---- */

/* Checks all Parquet inputs and sets their facts. */
LEAT_MUST_CHECK leat_code leat_parquet_check(const leat_input_list *inputs,
                                             const leat_source_options *options, leat_error *err);
LEAT_MUST_CHECK leat_code leat_parquet_scan(leat_scan *scan, leat_error *err);
/* Memory of a scan of the Parquet inputs with the given number of threads, 0 if there are none. */
int64_t leat_parquet_memory(const leat_input_list *inputs, int threads);

#endif
