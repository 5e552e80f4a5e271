/*
 * What two splits share although each probe is in one of them: pairs of hosts that measured each
 * other, or were measured by either, and hosts. A pair is counted by a hash of both its addresses
 * that does not depend on the direction, a host by a hash of its address, as text; hashes of 64
 * bits hardly ever collide. If there are more pairs, or hosts, than a maximum, those with a hash in
 * the lower half are kept, then in the lowest quarter, and so on: a kept one is counted from its
 * first measurement on, so the sample and its counts are the same in whatever order, and by however
 * many workers, measurements are added.
 */
#ifndef LEAT_FORMAT_PROBE_OVERLAP_H
#define LEAT_FORMAT_PROBE_OVERLAP_H

#include <pthread.h>

#include "base/hash.h"
#include "base/json.h"
#include "leat/format.h"

typedef struct leat_overlap_entry {
    uint64_t hash;  /* 0: empty */
    uint64_t value; /* marks in its highest bits, a count in the others */
} leat_overlap_entry;

typedef struct leat_overlap_table {
    leat_overlap_entry *slots; /* NULL: none yet */
    int64_t slot_count, used, most;
    int halved; /* how often */
} leat_overlap_table;

typedef struct leat_overlap {
    pthread_mutex_t lock;
    leat_overlap_table pairs, hosts;
} leat_overlap;

enum { LEAT_OVERLAP_NEAR = 256, LEAT_OVERLAP_RECENT = 1024, LEAT_OVERLAP_WAITING = 512 };
/* One worker's measurements, until they are added to those of all. */
typedef struct leat_overlap_worker {
    leat_overlap *all;
    leat_overlap_entry near[LEAT_OVERLAP_NEAR]; /* pairs, at the places of their hashes */
    leat_overlap_entry pairs[LEAT_OVERLAP_WAITING], hosts[LEAT_OVERLAP_WAITING];
    int pair_count, host_count;
    int pairs_halved, hosts_halved;       /* of `all`, when they were last seen: they only grow */
    uint64_t recent[LEAT_OVERLAP_RECENT]; /* hosts that were added, with their marks */
} leat_overlap_worker;

/* With at most this many pairs, and as many hosts. */
void leat_overlap_create(leat_overlap *overlap, int64_t most);
void leat_overlap_destroy(leat_overlap *overlap);
/* The maximum of a job with so much memory, and what its tables take of it. */
int64_t leat_overlap_most(int64_t memory_bytes);
int64_t leat_overlap_bytes(int64_t most);

/* A host as it is counted. */
static inline uint64_t leat_overlap_host(const void *text, int64_t size_bytes) {
    return leat_xxh3(text, size_bytes) | 1;
}
/* Adds a measurement of a split. Workers may call this at once, each with its own `worker`, which
 * begins as zeros but for `all`. */
LEAT_MUST_CHECK leat_code leat_overlap_add(leat_overlap_worker *worker, leat_split split,
                                           uint64_t source, uint64_t target, leat_error *err);
/* At the end of each worker. */
LEAT_MUST_CHECK leat_code leat_overlap_flush(leat_overlap_worker *worker, leat_error *err);
/* After all workers. */
void leat_overlap_count(const leat_overlap *overlap, leat_split_overlap *out);

/* As the member "overlap" of a document, null if it is not known; and back, not known if a member
 * is missing or not what it is to be. */
void leat_overlap_put(leat_json *json, const leat_split_overlap *overlap);
void leat_overlap_get(const json_t *root, leat_split_overlap *out);

#endif
