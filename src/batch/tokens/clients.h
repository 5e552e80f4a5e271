/*
 * By client: which probes the rows of a batch hold, and which take part in a federated round. Each
 * row of a batch holds a different probe. There are no epochs; steps never end.
 *
 * Uniform choice is a keyed permutation of the probes, one a step. Weighted choice is successive
 * sampling without replacement: each row draws from the probes that the rows before it left, in
 * proportion to their weights; exact, with one random number a row.
 */
#ifndef LEAT_BATCH_TOKENS_CLIENTS_H
#define LEAT_BATCH_TOKENS_CLIENTS_H

#include "leat/batch.h"

typedef struct leat_clients leat_clients;

/* Probes that can be drawn at once (batch rows, or clients of a round). */
#define LEAT_CLIENTS_DRAWN_MAX 16384

/*
 * probe_count >= 1 probes. `weights` (finite, >= 0, not all 0) may be NULL: all alike; they are
 * scaled to whole numbers, so that the choice is the same on every machine, and a weight below
 * 2^-30 of the largest counts as that, one of 0 is never chosen. Memory: 8 bytes a probe if there
 * are weights.
 */
LEAT_MUST_CHECK leat_code leat_clients_create(leat_clients **out, int64_t probe_count,
                                              const double *weights, leat_error *err);
void leat_clients_destroy(leat_clients *clients);

/* Probes that can be chosen: those whose weight is not 0. */
int64_t leat_clients_count(const leat_clients *clients);

/* Where drawn probes are written; the caller owns the arrays. */
typedef struct leat_clients_drawn {
    int32_t count;
    int64_t *probe;   /* [count], all different */
    int64_t *scratch; /* [count]; may be NULL where weights are uniform */
} leat_clients_drawn;

/*
 * The probes of step `step`, one a row. LEAT_ERR_OPTION if there are fewer probes than rows.
 * Uniform choice takes O(rows), weighted O(rows^2) at worst, and needs no more memory.
 */
LEAT_MUST_CHECK leat_code leat_clients_batch(const leat_clients *clients, uint64_t seed,
                                             int64_t step, const leat_clients_drawn *rows,
                                             leat_error *err);

/*
 * The probes that take part in federated round `round`, drawn by the weights; and those of them
 * that the rows of a step hold: no more rows than probes, uniformly; `rows` needs no scratch.
 */
LEAT_MUST_CHECK leat_code leat_clients_round(const leat_clients *clients, uint64_t seed,
                                             int64_t round, const leat_clients_drawn *probes,
                                             leat_error *err);
LEAT_MUST_CHECK leat_code leat_clients_round_batch(uint64_t seed, int64_t step,
                                                   const leat_clients_drawn *round,
                                                   const leat_clients_drawn *rows, leat_error *err);

#endif
