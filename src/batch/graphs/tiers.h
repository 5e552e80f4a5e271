/*
 * The curriculum: graphs in tiers from easy to hard, and how many tiers an epoch has. Tiers are
 * stretches of one list of graphs; nothing is copied.
 */
#ifndef LEAT_BATCH_GRAPHS_TIERS_H
#define LEAT_BATCH_GRAPHS_TIERS_H

#include "leat/batch.h"

/*
 * Where tier 0 <= tier <= tiers begins among `count` graphs in order (of `tiers`: count): as equal
 * as possible, the first count mod tiers of them one larger.
 */
int64_t leat_tier_begin(int64_t count, int64_t tiers, int64_t tier);

/*
 * Sorts items[0 .. count - 1] by score[item] (finite), ascending; equal scores stay in order.
 * scratch[0 .. count - 1]; key has room for one number of every item up to the largest.
 */
void leat_tiers_sort(const double *score, uint32_t *items, uint32_t *scratch, uint32_t *key,
                     int64_t count);

/*
 * How many tiers epoch 0, 1, ... has, 1 .. options->tiers:
 *     ceil((s + (t - s) min(e / (E - 1), 1)) tiers / t), s and t the ends of the ramp, E its
 * epochs. All of them if there is one epoch, or no curriculum.
 */
int64_t leat_tiers_active(const leat_graph_batch_options *options, int64_t epoch);

#endif
