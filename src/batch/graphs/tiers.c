/* Scores sort as whole numbers: the bits of a double, turned so that they ascend with its value. */
#include "batch/graphs/tiers.h"

#include <math.h>
#include <string.h>

#include "batch/graphs/order.h"

int64_t leat_tier_begin(int64_t count, int64_t tiers, int64_t tier) {
    int64_t larger = count % tiers;
    return tier * (count / tiers) + (tier < larger ? tier : larger);
}

static uint64_t ascending_bits(double score) {
    uint64_t bits = 0;
    score += 0.0; /* -0 equals 0 */
    memcpy(&bits, &score, sizeof(bits));
    return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

void leat_tiers_sort(const double *score, uint32_t *items, uint32_t *scratch, uint32_t *key,
                     int64_t count) {
    for (int half = 0; half < 2; half++) { /* the lower one first: sorting keeps its order */
        for (int64_t i = 0; i < count; i++) {
            key[items[i]] = (uint32_t)(ascending_bits(score[items[i]]) >> 32 * half);
        }
        leat_order_by_key(key, false, items, scratch, count);
    }
}

int64_t leat_tiers_active(const leat_graph_batch_options *options, int64_t epoch) {
    double start = options->curriculum_start, end = options->curriculum_end, done = 1;
    if (options->curriculum == LEAT_CURRICULUM_NONE) return options->tiers;
    if (options->epochs > 1) done = fmin((double)epoch / (double)(options->epochs - 1), 1);
    double active = ceil((start + (end - start) * done) * (double)options->tiers / end);
    return (int64_t)fmin(fmax(active, 1), (double)options->tiers);
}
