/*
 * Rejected rows are counted by reason and written to rejected.csv, ordered by file and row, in
 * bounded memory for any number of rows (sorted runs on disk, merged at the end). The job defines
 * the reasons and the columns.
 */
#ifndef LEAT_INGEST_REJECT_H
#define LEAT_INGEST_REJECT_H

#include "base/error.h"
#include "leat/ingest.h" /* LEAT_REJECT_REASONS_MAX */

/* What a job rejects; constant, and must outlive its logs. */
typedef struct leat_reject_kind {
    const char *columns;        /* header line: "file,", row column, "reason", values */
    const char *row;            /* what messages call a row: "row", "line" */
    const char *const *reasons; /* texts by number, as written to the file */
    int reason_count;           /* up to LEAT_REJECT_REASONS_MAX */
} leat_reject_kind;

typedef struct leat_reject_log leat_reject_log;

/* A row and its original values. */
typedef struct leat_reject_row {
    int32_t file_index;
    int64_t row;
    int reason;         /* an index of the kind's reasons */
    const char *values; /* CSV text of the columns after the reason, without newline */
    int64_t values_bytes;
} leat_reject_row;

/* The maximum length of `values`. */
#define LEAT_REJECT_VALUES_BYTES 8192
/* The minimum memory of a worker that rejects. */
#define LEAT_REJECT_WORKER_BYTES_MIN (INT64_C(48) << 10)

/* What its pointers lead to must outlive the log. */
typedef struct leat_reject_options {
    const leat_reject_kind *kind;
    const char *const *paths; /* file_index -> text */
    bool strict; /* the first add fails with LEAT_ERR_INPUT naming file, row, reason and values */
    int workers;
    /* Limits all its buffers (but each worker takes LEAT_REJECT_WORKER_BYTES_MIN, and none before
     * its first row); beyond it, sorted runs go to temp_dir. */
    int64_t memory_bytes;
    const char *temp_dir;
} leat_reject_options;

LEAT_MUST_CHECK leat_code leat_reject_log_create(leat_reject_log **out,
                                                 const leat_reject_options *options,
                                                 leat_error *err);
void leat_reject_log_destroy(leat_reject_log *log);
LEAT_MUST_CHECK leat_code leat_reject_log_add(leat_reject_log *log, int worker,
                                              const leat_reject_row *row, leat_error *err);
/* Totals by reason so far, over all workers (call while none is running); one per reason of the
 * kind. */
void leat_reject_log_counts(const leat_reject_log *log, int64_t *counts);
/* Writes and publishes the file (temporary name, fsync, rename), or no file if nothing was added.
 * Call once, last. */
LEAT_MUST_CHECK leat_code leat_reject_log_save(leat_reject_log *log, const char *path,
                                               leat_error *err);

/* Whether the file at `path` begins as a log of this kind; *is_log is true if it does not exist. */
LEAT_MUST_CHECK leat_code leat_reject_is_log(const leat_reject_kind *kind, const char *path,
                                             bool *is_log, leat_error *err);

#endif
