/*
 * Probes of RIPE Atlas have a number, but are told apart by their address: a probe that changes its
 * address becomes several, which may be in both splits, and probes behind one private address
 * become one. This counts how often, for a warning: pairs of number and address are logged as they
 * first occur, and counted within a memory limit. If they become more than a maximum, only those of
 * a half of the probes are kept, then of a quarter, and so on. A hash of its number gives each
 * probe a level: half of them have at least 1, a quarter at least 2, ... So the sample has all
 * pairs of its probes, and is the same in whatever order the pairs come.
 */
#ifndef LEAT_INGEST_PROBES_IDENTITY_H
#define LEAT_INGEST_PROBES_IDENTITY_H

#include <pthread.h>

#include "base/lines.h"
#include "base/ticker.h"
#include "ingest/probes/census.h"

/* A probe in a raw batch: its number, and whether the address is the probe's own view of it. */
#define LEAT_PROBE_OWN_VIEW (UINT32_C(1) << 31)
#define LEAT_PROBE_NUMBER_MAX (LEAT_PROBE_OWN_VIEW - 1)

typedef struct leat_identities {
    int64_t probes, addresses; /* of results with a number */
    int64_t test, shared; /* probes with an address in test; those that also have one in train */
    int64_t merged;       /* private addresses, in the probe's own view */
} leat_identities;

/* The pairs of the sample, by a hash. A log may also have pairs of probes that have left it. */
typedef struct leat_identity_set {
    pthread_mutex_t lock;
    uint64_t *slots; /* 0: empty; its highest bits are the level of the probe */
    int64_t slot_count, used;
    int64_t most; /* pairs */
    int level;    /* the least of the probes in the sample; 0: all are in it */
} leat_identity_set;

#define LEAT_IDENTITY_PAIRS_MAX (INT64_C(1) << 20)
/* The maximum of a run with this much memory. */
int64_t leat_identity_most(int64_t memory_bytes);
/* *fresh: the pair is to be logged; it is not new, or not in the sample, if not. Threads may call
 * this. */
LEAT_MUST_CHECK leat_code leat_identity_enter(leat_identity_set *set, uint32_t probe,
                                              const leat_text *address, bool *fresh,
                                              leat_error *err);
void leat_identity_set_free(leat_identity_set *set);

/* Adds a pair to a log, which may have it already. */
LEAT_MUST_CHECK leat_code leat_identity_add(leat_census_log *log, uint32_t probe, leat_split split,
                                            const leat_text *address, leat_error *err);
/* Of the probes from this level on. bound: of the ordered split, with which every pair is in train
 * when it is added; NULL: another split. */
LEAT_MUST_CHECK leat_code leat_identity_count(const leat_census_logs *logs, int level,
                                              const leat_census_bound *bound, leat_ticker *ticker,
                                              leat_identities *out, leat_error *err);

#endif
