/* Orders of graphs, by size and at random, in linear time. */
#ifndef LEAT_BATCH_GRAPHS_ORDER_H
#define LEAT_BATCH_GRAPHS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sorts items[0 .. count - 1] by key[item], ascending or descending; equal keys keep their order,
 * either way. `scratch` has space for `count` items.
 */
void leat_order_by_key(const uint32_t *key, bool descending, uint32_t *items, uint32_t *scratch,
                       int64_t count);

/* Shuffles in place; `key` is well mixed, as that of leat_permute. */
void leat_order_shuffle(uint64_t key, uint32_t *items, int64_t count);

/*
 * The bucket shuffle of graphids: `sorted` is cut in LEAT_BUCKETS runs (the last ones may be
 * shorter or missing), the runs are walked in random order, each in random order.
 */
#define LEAT_BUCKETS 20
void leat_order_buckets(uint64_t key, const uint32_t *sorted, int64_t count, uint32_t *walk);

#endif
