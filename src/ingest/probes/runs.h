/*
 * The external sort of a bucket that does not fit in memory: sorted pieces are written as runs to a
 * temporary file and merged into a stream of measurements in order.
 */
#ifndef LEAT_INGEST_PROBES_RUNS_H
#define LEAT_INGEST_PROBES_RUNS_H

#include "base/merge.h"
#include "ingest/probes/bucket.h"

/* A run: definitions, each followed by its measurements in order; the layout of spill.h. */
typedef struct leat_runs {
    leat_merge_runs sorted;
    uint8_t *write_buffer;
} leat_runs;

LEAT_MUST_CHECK leat_code leat_runs_create(leat_runs *runs, const char *temp_dir, leat_error *err);
/* Closes the file, which removes it. */
void leat_runs_destroy(leat_runs *runs);
/* Writes the loaded piece of a bucket as a run. */
LEAT_MUST_CHECK leat_code leat_runs_add(leat_runs *runs, const leat_bucket *bucket,
                                        leat_error *err);

/* One measurement in order; `source` and `record` are valid during the call. */
typedef leat_code (*leat_runs_fn)(void *context, const leat_bucket_source *source,
                                  const uint8_t *record, leat_error *err);
/* Merges all runs through `memory` (the arena, free by now): see leat_merge_all. */
LEAT_MUST_CHECK leat_code leat_runs_merge(leat_runs *runs, uint8_t *memory, int64_t memory_bytes,
                                          leat_runs_fn fn, void *context, leat_error *err);

#endif
