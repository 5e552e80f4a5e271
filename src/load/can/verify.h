/*
 * Verification of a CAN cache, private part: what its files share besides checks.h.
 *
 *   verify.c          options, documents, names, and the sequence of checks
 *   verify_bytes.c    the files of a split: sizes, page hashes, header
 *   verify_graphs.c   each graph: labels, order, features, edges
 *   verify_windows.c  windows, captures and counts against each other
 *   verify_inputs.c   inputs.json, and the files that it lists
 */
#ifndef LEAT_LOAD_CAN_VERIFY_H
#define LEAT_LOAD_CAN_VERIFY_H

#include "load/can/cache.h"
#include "load/checks.h"

typedef struct leat_can_verify {
    leat_checks checks;
    char dir[LEAT_PATH_BYTES];
    leat_can_meta meta;    /* with intervals */
    leat_can_cache *cache; /* the same, for its graphs */
    leat_can_verify_report *report;
} leat_can_verify;

/* "train.safetensors", as findings name it. */
typedef struct leat_can_file_name {
    char text[LEAT_CAN_NAME_BYTES + sizeof LEAT_CAN_TENSORS_SUFFIX];
} leat_can_file_name;
leat_can_file_name leat_can_tensors_name(const leat_can_meta_split *split);
leat_can_file_name leat_can_pages_name(const leat_can_meta_split *split);

/* Checks that the bytes of a split's files are those that were written. Findings go to
 * job->checks.findings. */
LEAT_MUST_CHECK leat_code leat_can_verify_bytes(leat_can_verify *job,
                                                const leat_can_meta_split *split, leat_error *err);
/* Checks each graph of a split whose bytes are intact. */
LEAT_MUST_CHECK leat_code leat_can_verify_graphs(leat_can_verify *job,
                                                 const leat_can_meta_split *split, leat_error *err);
/* Checks all splits together, if they have no findings. */
LEAT_MUST_CHECK leat_code leat_can_verify_windows(leat_can_verify *job, leat_error *err);
LEAT_MUST_CHECK leat_code leat_can_verify_inputs(leat_can_verify *job, leat_error *err);

#endif
