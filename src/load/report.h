/* Parts of the report on batches. */
#ifndef LEAT_LOAD_REPORT_H
#define LEAT_LOAD_REPORT_H

#include "load/loader_plan.h"

/* One pass over something in numbered parts, by several threads; the first part that fails ends it.
 */
typedef struct leat_report_pass {
    int64_t first, end; /* parts */
    const char *what, *unit;
    const leat_batch_report_options *options; /* for progress */
    _Atomic int64_t next, failed;             /* failed: the lowest part that did; `end`: none */
    pthread_mutex_t lock;                     /* of what follows */
    leat_error failure;
    bool is_cancelled;
    int64_t done;
} leat_report_pass;

void leat_report_pass_begin(leat_report_pass *pass, int64_t first, int64_t end,
                            const leat_batch_report_options *options);
/* The next part for a thread; false if there is none, or the pass is over. */
bool leat_report_pass_take(leat_report_pass *pass, int64_t *part);
/* Tells that a part is done, or why it failed. */
void leat_report_pass_done(leat_report_pass *pass, int64_t part, const leat_error *failure);
/* After the threads: the failure of the lowest part. */
LEAT_MUST_CHECK leat_code leat_report_pass_end(leat_report_pass *pass, leat_error *err);

/* ---- report_sequences.c ---- */
/* Adds the sequences of steps first .. end - 1 that the plan makes. */
LEAT_MUST_CHECK leat_code leat_report_sequences(const leat_plan *plan, int64_t first, int64_t end,
                                                const leat_batch_report_options *options,
                                                leat_sequence_stats *stats, leat_error *err);

/* ---- report_chunks.c ---- */
LEAT_MUST_CHECK leat_code leat_report_chunks(const leat_plan *plan,
                                             const leat_batch_report_options *options,
                                             leat_chunk_stats *stats, leat_error *err);

#endif
