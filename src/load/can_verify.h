/*
 * Verification of a CAN cache, private part: what its files share.
 *
 *   can_verify.c          options, documents, names, and the order of it all
 *   can_verify_bytes.c    the files of a split: sizes, page hashes, header
 *   can_verify_graphs.c   each graph: labels, order, features, edges
 *   can_verify_windows.c  windows, captures and counts against each other
 *   can_verify_inputs.c   inputs.json, and the files it tells of
 */
#ifndef LEAT_LOAD_CAN_VERIFY_H
#define LEAT_LOAD_CAN_VERIFY_H

#include "base/ticker.h"
#include "load/findings.h"
#include "load/graph_cache.h"

typedef struct leat_can_verify {
    leat_verify_options options;
    char dir[LEAT_PATH_BYTES];
    leat_can_meta meta;    /* with intervals */
    leat_can_cache *cache; /* the same, for its graphs */
    leat_ticker ticker;
    leat_findings findings;
    leat_can_verify_report *report;
} leat_can_verify;

/* "train.safetensors", as findings call it. */
typedef struct leat_can_file_name {
    char text[LEAT_CAN_NAME_BYTES + sizeof LEAT_CAN_TENSORS_SUFFIX];
} leat_can_file_name;
leat_can_file_name leat_can_tensors_name(const leat_can_meta_split *split);
leat_can_file_name leat_can_pages_name(const leat_can_meta_split *split);

/* Most pieces that work is cut in. */
enum { LEAT_CAN_PIECES_MAX = 4096 };
/* Looks at one piece, by thread `thread`. Fails when it cannot look (memory, cancelled) only. */
typedef leat_code (*leat_can_piece_fn)(void *context, int thread, int64_t piece,
                                       leat_findings *findings, leat_error *err);
/* All pieces, by all threads; findings come in the order of the pieces. */
LEAT_MUST_CHECK leat_code leat_can_verify_pieces(leat_can_verify *job, int64_t count,
                                                 leat_can_piece_fn fn, void *context,
                                                 leat_error *err);
/* Reports so many bytes done: LEAT_ERR_CANCELLED if the caller wants no more. */
LEAT_MUST_CHECK leat_code leat_can_verify_tick(leat_can_verify *job, int64_t bytes,
                                               leat_error *err);
/* A failure of what was looked at is a finding; want of memory is returned. */
LEAT_MUST_CHECK leat_code leat_can_verify_tell(leat_findings *findings, const char *file,
                                               int64_t record, const leat_error *cause,
                                               leat_error *err);

/* The bytes of a split's files are those that were written. Findings go to job->findings. */
LEAT_MUST_CHECK leat_code leat_can_verify_bytes(leat_can_verify *job,
                                                const leat_can_meta_split *split, leat_error *err);
/* Each graph of a split whose bytes are right. */
LEAT_MUST_CHECK leat_code leat_can_verify_graphs(leat_can_verify *job,
                                                 const leat_can_meta_split *split, leat_error *err);
/* All splits together, when nothing was found in them. */
LEAT_MUST_CHECK leat_code leat_can_verify_windows(leat_can_verify *job, leat_error *err);
LEAT_MUST_CHECK leat_code leat_can_verify_inputs(leat_can_verify *job, leat_error *err);

#endif
