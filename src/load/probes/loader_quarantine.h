/*
 * Records that sequences were masked for: what is known of each, once, in a bounded list. Any
 * thread may add; adding is rare, so that one lock is enough.
 */
#ifndef LEAT_LOAD_PROBES_LOADER_QUARANTINE_H
#define LEAT_LOAD_PROBES_LOADER_QUARANTINE_H

#include "load/probes/dataset.h"

#define LEAT_QUARANTINE_MAX 10000

typedef struct leat_quarantine {
    pthread_mutex_t lock;
    leat_quarantined *items; /* by row */
    int64_t count, capacity;
} leat_quarantine;

void leat_quarantine_init(leat_quarantine *list);
void leat_quarantine_destroy(leat_quarantine *list);
/* Adds a row that could not be read for the reason in `why`, unless it is in the list or the list
 * is full; fails only if memory runs out. */
LEAT_MUST_CHECK leat_code leat_quarantine_add(leat_quarantine *list, const leat_dataset *dataset,
                                              int64_t row, const leat_error *why, leat_error *err);
/* A copy of the list. */
LEAT_MUST_CHECK leat_code leat_quarantine_copy(leat_quarantine *list, leat_quarantined **items,
                                               int64_t *count, leat_error *err);

#endif
