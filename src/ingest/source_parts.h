/*
 * The parts of leat_sources_check and leat_sources_scan: what the sources share, and what each of
 * them gives to sources.c.
 */
#ifndef LEAT_INGEST_SOURCE_PARTS_H
#define LEAT_INGEST_SOURCE_PARTS_H

#include <stdatomic.h>

#include "base/lines.h"
#include "ingest/report.h"
#include "ingest/source.h"

/* ---- a scan as a whole ---- */

/* What the sources of one scan share: how far they are, and whether to stop. */
typedef struct leat_scan {
    const leat_input_list *inputs;
    const leat_source_options *options;
    leat_reporter reporter;
    atomic_int_least64_t rows; /* records seen */
} leat_scan;

/* Reports now and then; LEAT_ERR_CANCELLED if the caller wants no more. bytes_done of all inputs.
 */
LEAT_MUST_CHECK leat_code leat_scan_report(leat_scan *scan, int64_t bytes_done, leat_error *err);

/* ---- measurements put together one by one ---- */

/* One worker's batch; handed over when it is full. */
typedef struct leat_rows {
    const leat_source_options *options;
    int worker;
    int32_t file_index;
    int64_t count;
    int64_t row[LEAT_BATCH_ROWS], time_us[LEAT_BATCH_ROWS];
    leat_text src[LEAT_BATCH_ROWS], dst[LEAT_BATCH_ROWS];
    int32_t ip_version[LEAT_BATCH_ROWS];
    float rtt[LEAT_BATCH_ROWS];
} leat_rows;

typedef struct leat_row {
    int64_t row, time_us;
    leat_text src, dst; /* the bytes stay valid until the rows are flushed */
    int32_t ip_version;
    float rtt;
} leat_row;

LEAT_MUST_CHECK leat_code leat_rows_flush(leat_rows *rows, leat_error *err);
LEAT_MUST_CHECK leat_code leat_rows_add(leat_rows *rows, const leat_row *row, leat_error *err);

/* ---- text: CSV and NDJSON ---- */

#define LEAT_CSV_FIELDS_MAX 1024
enum { LEAT_FIELD_TIME, LEAT_FIELD_SRC, LEAT_FIELD_DST, LEAT_FIELD_VERSION, LEAT_FIELD_RTT };
#define LEAT_FIELDS 5

/* Which fields of a record are wanted: by place, the LEAT_FIELD it is, or -1. */
typedef struct leat_csv_map {
    int32_t field_count;
    bool has_version;
    int8_t slot[LEAT_CSV_FIELDS_MAX];
} leat_csv_map;

/* What one worker parses with. */
typedef struct leat_text_worker {
    leat_rows rows;
    leat_csv_map map;                  /* of the file in hand */
    leat_buf reject;                   /* values of a record that is set aside */
    char *texts;                       /* addresses of NDJSON, LEAT_NDJSON_TEXTS bytes */
    int64_t text_bytes;                /* used */
    char head[LEAT_REJECT_TEXT_BYTES]; /* of a record that is unquoted in place */
} leat_text_worker;
#define LEAT_NDJSON_TEXTS (INT64_C(256) << 10)

/* The names of the columns in the order of LEAT_FIELD. */
void leat_source_names(const leat_source_columns *columns, const char *names[LEAT_FIELDS]);

/* Sets a line aside, by its beginning. */
LEAT_MUST_CHECK leat_code leat_text_reject(leat_text_worker *worker, int64_t row,
                                           leat_reject reason, const char *line, int64_t size_bytes,
                                           leat_error *err);

/* Takes the header: which column stands where. */
LEAT_MUST_CHECK leat_code leat_csv_read_header(leat_line *line, const char *path,
                                               const leat_source_columns *columns,
                                               leat_csv_map *map, leat_error *err);
/* One record or one line into the worker's rows, or set aside. */
LEAT_MUST_CHECK leat_code leat_csv_take(leat_text_worker *worker, leat_line *line, leat_error *err);
LEAT_MUST_CHECK leat_code leat_ndjson_take(leat_text_worker *worker, leat_line *line,
                                           leat_error *err);

/* The first line of a text input that is not blank; *found false if there is none. `lines` stays
 * open at the line behind it. */
LEAT_MUST_CHECK leat_code leat_text_first(leat_lines *lines, leat_line *line, bool *found,
                                          leat_error *err);

LEAT_MUST_CHECK leat_code leat_text_check(const leat_input *input,
                                          const leat_source_options *options, leat_error *err);
LEAT_MUST_CHECK leat_code leat_text_scan(leat_scan *scan, int threads, int64_t bytes_before,
                                         leat_error *err);
/* Memory of a scan of text with so many threads. */
int64_t leat_text_memory(int threads);

/* ---- Parquet ---- */

/* Looks at all Parquet inputs and fills their facts. */
LEAT_MUST_CHECK leat_code leat_parquet_check(const leat_input_list *inputs,
                                             const leat_source_options *options, leat_error *err);
LEAT_MUST_CHECK leat_code leat_parquet_scan(leat_scan *scan, leat_error *err);
/* Memory of a scan of the Parquet inputs with so many threads, 0 if there is none. */
int64_t leat_parquet_memory(const leat_input_list *inputs, int threads);

#endif
