/*
 * What a loader makes, and how one sequence of it is made. A plan never changes after it was
 * created and is read by all threads; a maker belongs to one thread.
 */
#ifndef LEAT_LOAD_PROBES_LOADER_PLAN_H
#define LEAT_LOAD_PROBES_LOADER_PLAN_H

#include "batch/tokens/anchors.h"
#include "batch/tokens/clients.h"
#include "batch/tokens/context.h"
#include "batch/tokens/sequence.h"
#include "load/option_rows.h"
#include "load/probes/blocks.h"
#include "load/probes/dataset.h"
#include "load/probes/loader_quarantine.h"
#include "load/probes/readahead.h"
#include "load/probes/src_table.h"

/* Rows of the split that are consecutive in the data set too. */
typedef struct leat_row_range {
    int64_t first; /* of the split's rows */
    int64_t row;   /* of the data set */
} leat_row_range;

typedef struct leat_loader_plan {
    const leat_dataset *dataset;
    leat_loader_options options; /* its pointers are NULL */
    leat_sampler_options sample; /* of the options */
    int64_t *rows;               /* of the global batch, that are made */
    int64_t row_count;

    /* rows of the split, numbered through */
    leat_row_range *ranges;
    int64_t range_count, split_rows;
    int64_t *order; /* rows of the split in another order: by client, or of third-party files */
    leat_anchors *anchors;
    int64_t record_bytes_max; /* of a record of the split, where the index tells */
    int64_t epoch_sequences;  /* anchors; -1 by client */
    int64_t sequence_count;   /* of all epochs; INT64_MAX without end */
    int64_t step_count;       /* -1 without end */

    leat_blocks *blocks; /* in the windowed order; else NULL */

    /* by client */
    leat_clients *clients; /* NULL: not by client */
    int64_t *client_first; /* [client_count + 1] first anchor of each probe */
    int64_t client_count;

    leat_src_table *weights; /* NULL: by weights_name, "uniform" or "measurements" */
    const char *weights_name;

    /* the loader's; what they point to changes */
    leat_quarantine *quarantine;
    leat_readahead *ahead; /* in the windowed order, while a loader runs; else NULL */

    char fingerprint[65];
    char *words; /* the options that decide bytes, as JSON */
    char hash[17];
} leat_loader_plan;

/* ---- loader_options.c ---- */
LEAT_MUST_CHECK leat_code leat_loader_options_check(const leat_loader_options *options,
                                                    leat_error *err);
/* Fills plan->words and plan->hash. */
LEAT_MUST_CHECK leat_code leat_loader_plan_describe(leat_loader_plan *plan, leat_error *err);
/* What windows take at most, in memory or, of mapped shards, in the page cache; 0: no windows. */
int64_t leat_loader_plan_window_bytes(const leat_loader_plan *plan);
/* Prefetch depth and memory that it needs; LEAT_ERR_OPTION with the number if that is too much. */
LEAT_MUST_CHECK leat_code leat_loader_plan_budget(const leat_loader_plan *plan, int64_t *prefetch,
                                                  int64_t *memory_bytes, leat_error *err);
/* Before third-party rows are read: LEAT_ERR_LIMIT if one of their chunks is too large, with a
 * limit that is enough for all that the loader will take. */
LEAT_MUST_CHECK leat_code leat_loader_plan_check_chunks(const leat_loader_plan *plan,
                                                        leat_error *err);

/* ---- loader_plan.c ---- */
LEAT_MUST_CHECK leat_code leat_loader_plan_create(leat_loader_plan **out,
                                                  const leat_dataset *dataset,
                                                  const leat_loader_options *options,
                                                  leat_error *err);
void leat_loader_plan_destroy(leat_loader_plan *plan);
/* Steps are below this: their number, or where steps without end have theirs all the same. */
static inline int64_t leat_loader_plan_end(const leat_loader_plan *plan) {
    return plan->step_count < 0 ? LEAT_STEPS_MAX : plan->step_count;
}
/* The data set's row of a row of the split. */
int64_t leat_loader_plan_row(const leat_loader_plan *plan, int64_t split_row);

/* ---- loader_clients.c ---- */
/* Groups the rows by probe; fills order, client_*, clients. Anchors are made after `order` and
 * before client_first. */
LEAT_MUST_CHECK leat_code leat_loader_plan_order_by_client(leat_loader_plan *plan, leat_error *err);
LEAT_MUST_CHECK leat_code leat_loader_plan_find_clients(leat_loader_plan *plan,
                                                        const leat_loader_options *options,
                                                        leat_error *err);

/* ---- loader_maker.c ---- */

/* The six arrays of one row. */
typedef struct leat_arrays {
    int32_t *inputs, *targets;
    int32_t *inputs_position, *targets_position;
    int32_t *inputs_segmentation, *targets_segmentation;
} leat_arrays;
enum { LEAT_ARRAYS = 6 };
/* Those of one sequence, one after the other. */
static inline leat_arrays leat_arrays_in(int32_t *room, int64_t length) {
    return (leat_arrays){room,
                         room + length,
                         room + 2 * length,
                         room + 3 * length,
                         room + 4 * length,
                         room + 5 * length};
}

/* What became of one row. */
typedef struct leat_made {
    int32_t tokens, segments;
    int64_t measurements, dropped;
    bool is_masked, is_past_end;
} leat_made;

/* Where a sequence comes from; in the windowed order the window is the maker's or was taken. */
typedef struct leat_origin {
    int64_t step, batch_row;
    int64_t sequence; /* step * batch + batch_row */
    bool is_past_end;
    int64_t client; /* -1: not by client */
    leat_source source;
} leat_origin;

typedef struct leat_maker leat_maker;

LEAT_MUST_CHECK leat_code leat_maker_create(leat_maker **out, const leat_loader_plan *plan,
                                            leat_error *err);
void leat_maker_destroy(leat_maker *maker);
const leat_loader_plan *leat_maker_plan(const leat_maker *maker);
/* Bytes that a maker takes, threads' stacks included; the records that it holds come on top. */
int64_t leat_maker_bytes(const leat_loader_plan *plan);

bool leat_loader_plan_is_past_end(const leat_loader_plan *plan, int64_t step, int64_t batch_row);
LEAT_MUST_CHECK leat_code leat_maker_find(leat_maker *maker, int64_t step, int64_t batch_row,
                                          leat_origin *origin, leat_error *err);
/* In the windowed order: makes the next sequences from this window, and its blocks, instead of
 * looking for the window and reading the rows itself; NULL: no longer. */
void leat_maker_take(leat_maker *maker, const leat_taken *taken);
/*
 * Makes row `batch_row` of the step. With LEAT_CORRUPT_MASK damage is not a failure. On failure the
 * arrays contain zeros.
 */
LEAT_MUST_CHECK leat_code leat_maker_make(leat_maker *maker, int64_t step, int64_t batch_row,
                                          const leat_arrays *arrays, leat_made *made,
                                          leat_error *err);
/* Why the last sequence was masked. */
const char *leat_maker_reason(const leat_maker *maker);
/* From now on reports every context to `explain` (see leat_row_reader), with split rows as rows. */
typedef void (*leat_explain_fn)(void *user, int64_t t, int64_t row, int64_t k,
                                const leat_context *context, const leat_measurement *points);
void leat_maker_listen(leat_maker *maker, leat_explain_fn explain, void *user);

#endif
