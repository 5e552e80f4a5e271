/* Parts of the report on batches. */
#ifndef LEAT_LOAD_PROBES_REPORT_H
#define LEAT_LOAD_PROBES_REPORT_H

#include "base/pool.h"
#include "base/ticker.h"
#include "load/probes/loader_plan.h"

/* With threads and progress, which all parts share. */
typedef struct leat_report_threads {
    leat_pool *pool;
    leat_ticker *ticker;
} leat_report_threads;

/* ---- report_sequences.c ---- */
/* Adds the sequences of steps first .. end - 1 that the plan makes. */
LEAT_MUST_CHECK leat_code leat_report_sequences(const leat_loader_plan *plan, int64_t first,
                                                int64_t end, leat_report_threads by,
                                                leat_sequence_stats *stats, leat_error *err);

/* ---- report_first.c ---- */
/* The first sequences of the report's first step. */
LEAT_MUST_CHECK leat_code leat_report_first(const leat_loader_plan *plan, leat_batch_report *report,
                                            leat_error *err);

/* ---- report_chunks.c ---- */
LEAT_MUST_CHECK leat_code leat_report_chunks(const leat_loader_plan *plan, int64_t read_bytes_max,
                                             leat_report_threads by, leat_chunk_stats *stats,
                                             leat_error *err);

#endif
