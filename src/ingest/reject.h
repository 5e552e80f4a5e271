/*
 * Rows that are set aside, not lost: counted by reason and written to rejected.csv, ordered by file
 * and row, in bounded memory however many there are (sorted runs on disk, merged at the end).
 */
#ifndef LEAT_INGEST_REJECT_H
#define LEAT_INGEST_REJECT_H

#include "base/error.h"

/* Reasons: name, text as it stands in rejected.csv, run.json and on the summary. */
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

typedef struct leat_reject_log leat_reject_log;

/* A row's values as they were found: the fields (each may be NULL with size -1) or a whole line. */
typedef struct leat_reject_row {
    int32_t file_index;
    int64_t row;
    leat_reject reason;
    const char *values; /* CSV text of the columns event_time..rtt,line, without newline */
    int64_t values_bytes;
} leat_reject_row;

/* The longest `values`; what leat_reject_format makes is shorter. */
#define LEAT_REJECT_VALUES_BYTES 8192

/* strict: the first add fails with LEAT_ERR_INPUT naming file, row, reason and values.
 * `paths` (file_index -> text) must outlive the log. memory_bytes bounds all its buffers (but each
 * worker takes 48 KiB at least, and none before its first row); beyond it, sorted runs go to
 * temp_dir. */
LEAT_MUST_CHECK leat_code leat_reject_log_create(leat_reject_log **out, const char *const *paths,
                                                 bool strict, int workers, int64_t memory_bytes,
                                                 const char *temp_dir, leat_error *err);
void leat_reject_log_destroy(leat_reject_log *log);
LEAT_MUST_CHECK leat_code leat_reject_log_add(leat_reject_log *log, int worker,
                                              const leat_reject_row *row, leat_error *err);
/* Total by reason, so far, over all workers (call when they rest). */
void leat_reject_log_counts(const leat_reject_log *log, int64_t counts[LEAT_REJECT_COUNT]);
/* Writes and publishes the file (temporary name, fsync, rename); writes none if nothing was added.
 * Columns: file,row,reason,event_time,src_addr,dst_addr,ip_version,rtt,line. Once, as the last
 * call. */
LEAT_MUST_CHECK leat_code leat_reject_log_save(leat_reject_log *log, const char *path,
                                               leat_error *err);

#endif
