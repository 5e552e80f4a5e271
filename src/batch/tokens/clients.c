/*
 * Probes of a step or of a round. Weights are whole numbers, laid end to end on a line; a random
 * point on the line is in the segment of one probe. Segments of probes that were drawn before are
 * skipped, so the rest is drawn exactly in proportion.
 */
#include "batch/tokens/clients.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "batch/random_streams.h"

static const double scale = 0x1p30; /* the largest weight; with 2^32 probes the sum is below 2^63 */

struct leat_clients {
    int64_t probe_count;
    int64_t choice_count;    /* with a weight that is not 0 */
    uint64_t *weight_before; /* [probe_count + 1]; NULL: all alike */
};

static leat_code add_weights(leat_clients *self, const double *weights, leat_error *err) {
    double most = 0;
    for (int64_t i = 0; i < self->probe_count; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i])) {
            return leat_fail(err, LEAT_ERR_OPTION,
                             "probe %lld has weight %g; it must be finite and at least 0",
                             (long long)i, weights[i]);
        }
        if (weights[i] > most) most = weights[i];
    }
    if (most == 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "all %lld probes have weight 0; give at least one a larger weight",
                         (long long)self->probe_count);
    }
    LEAT_TRY(LEAT_NEW(&self->weight_before, self->probe_count + 1, err));
    for (int64_t i = 0; i < self->probe_count; i++) {
        uint64_t weight = (uint64_t)(weights[i] / most * scale);
        if (weight == 0 && weights[i] > 0) weight = 1;
        self->weight_before[i + 1] = self->weight_before[i] + weight;
        self->choice_count += weight > 0;
    }
    return LEAT_OK;
}

leat_code leat_clients_create(leat_clients **out, int64_t probe_count, const double *weights,
                              leat_error *err) {
    *out = NULL;
    if (probe_count < 1 || probe_count > UINT32_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "by client: %lld probes; there must be 1 to %u",
                         (long long)probe_count, UINT32_MAX);
    }
    leat_clients *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->probe_count = probe_count;
    leat_code code = LEAT_OK;
    if (weights == NULL) self->choice_count = probe_count;
    else code = add_weights(self, weights, err);
    if (code != LEAT_OK) leat_clients_destroy(self);
    else *out = self;
    return code;
}

void leat_clients_destroy(leat_clients *clients) {
    if (clients == NULL) return;
    leat_free(clients->weight_before);
    leat_free(clients);
}

int64_t leat_clients_count(const leat_clients *clients) { return clients->choice_count; }

/* ---- drawing ------------------------------------------------------------------------------ */

/* The probe whose stretch holds a place on the line. */
static int64_t find_probe(const leat_clients *clients, uint64_t place) {
    int64_t low = 0, high = clients->probe_count - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (clients->weight_before[middle + 1] > place) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* `taken` holds the probes of the rows before, ascending. */
static void draw_weighted(const leat_clients *clients, uint64_t key, int32_t count, int64_t *probe,
                          int64_t *taken) {
    const uint64_t *before = clients->weight_before;
    uint64_t left = before[clients->probe_count];
    for (int32_t i = 0; i < count; i++) {
        uint64_t place = leat_random_below(leat_random_at(key, (uint64_t)i), left);
        int32_t at = 0;
        for (; at < i && place >= before[taken[at]]; at++) {
            place += before[taken[at] + 1] - before[taken[at]];
        }
        probe[i] = find_probe(clients, place);
        memmove(taken + at + 1, taken + at, sizeof(*taken) * (size_t)(i - at));
        taken[at] = probe[i];
        left -= before[probe[i] + 1] - before[probe[i]];
    }
}

static leat_code draw(const leat_clients *clients, uint64_t key, const leat_clients_drawn *to,
                      const char *what, leat_error *err) {
    int32_t count = to->count;
    if (count < 1 || count > LEAT_CLIENTS_DRAWN_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "%s: %d; by client it must be 1 to %d", what, count,
                         LEAT_CLIENTS_DRAWN_MAX);
    }
    if (count > clients->choice_count) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "%s: %d, but only %lld probes can be chosen and each one only once; ask "
                         "for fewer",
                         what, count, (long long)clients->choice_count);
    }
    if (clients->weight_before != NULL) {
        draw_weighted(clients, key, count, to->probe, to->scratch);
        return LEAT_OK;
    }
    for (int32_t i = 0; i < count; i++) to->probe[i] = leat_permute(key, clients->probe_count, i);
    return LEAT_OK;
}

leat_code leat_clients_batch(const leat_clients *clients, uint64_t seed, int64_t step,
                             const leat_clients_drawn *rows, leat_error *err) {
    uint64_t key = leat_random(seed, LEAT_STREAM_CLIENT_STEP, (uint64_t)step);
    return draw(clients, key, rows, "rows of a batch", err);
}

leat_code leat_clients_round(const leat_clients *clients, uint64_t seed, int64_t round,
                             const leat_clients_drawn *probes, leat_error *err) {
    uint64_t key = leat_random(seed, LEAT_STREAM_CLIENT_ROUND, (uint64_t)round);
    return draw(clients, key, probes, "clients per round", err);
}

leat_code leat_clients_round_batch(uint64_t seed, int64_t step, const leat_clients_drawn *round,
                                   const leat_clients_drawn *rows, leat_error *err) {
    if (rows->count < 1 || rows->count > round->count) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "rows of a batch: %d, with %d clients per round; each row holds a "
                         "different client, so it must be 1 to %d",
                         rows->count, round->count, round->count);
    }
    uint64_t key = leat_random(seed, LEAT_STREAM_ROUND_STEP, (uint64_t)step);
    for (int32_t i = 0; i < rows->count; i++)
        rows->probe[i] = round->probe[leat_permute(key, round->count, i)];
    return LEAT_OK;
}
