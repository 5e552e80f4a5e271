/*
 * Rows that are set aside, not lost: counted by reason and written to rejected.csv, ordered by file
 * and row, in bounded memory however many there are (sorted runs on disk, merged at the end). What
 * the reasons and the columns are is the job's to say.
 */
#ifndef LEAT_INGEST_REJECT_H
#define LEAT_INGEST_REJECT_H

#include "base/error.h"
#include "leat/ingest.h" /* LEAT_REJECT_REASONS_MAX */

/* What a job sets aside; constant, and outlives its logs. */
typedef struct leat_reject_kind {
    const char *columns; /* the file's first line: "file,", that of the row, "reason", the values */
    const char *row;     /* what a row is called in messages: "row", "line" */
    const char *const *reasons; /* texts by number, as they stand in the file */
    int reason_count;           /* up to LEAT_REJECT_REASONS_MAX */
} leat_reject_kind;

typedef struct leat_reject_log leat_reject_log;

/* A row and its values as they were found. */
typedef struct leat_reject_row {
    int32_t file_index;
    int64_t row;
    int reason;         /* of the kind's */
    const char *values; /* CSV text of the columns behind the reason, without newline */
    int64_t values_bytes;
} leat_reject_row;

/* The longest `values`. */
#define LEAT_REJECT_VALUES_BYTES 8192
/* What a worker that rejects takes at least. */
#define LEAT_REJECT_WORKER_BYTES_MIN (INT64_C(48) << 10)

/* strict: the first add fails with LEAT_ERR_INPUT naming file, row, reason and values.
 * `paths` (file_index -> text) must outlive the log. memory_bytes bounds all its buffers (but each
 * worker takes LEAT_REJECT_WORKER_BYTES_MIN, and none before its first row); beyond it, sorted runs
 * go to temp_dir. */
LEAT_MUST_CHECK leat_code leat_reject_log_create(leat_reject_log **out,
                                                 const leat_reject_kind *kind,
                                                 const char *const *paths, bool strict, int workers,
                                                 int64_t memory_bytes, const char *temp_dir,
                                                 leat_error *err);
void leat_reject_log_destroy(leat_reject_log *log);
LEAT_MUST_CHECK leat_code leat_reject_log_add(leat_reject_log *log, int worker,
                                              const leat_reject_row *row, leat_error *err);
/* Total by reason, so far, over all workers (call when they rest); as many as the kind has. */
void leat_reject_log_counts(const leat_reject_log *log, int64_t *counts);
/* Writes and publishes the file (temporary name, fsync, rename); writes none if nothing was added.
 * Once, as the last call. */
LEAT_MUST_CHECK leat_code leat_reject_log_save(leat_reject_log *log, const char *path,
                                               leat_error *err);

#endif
