/* Counters of a loader: the caller's thread writes, any thread reads. */
#ifndef LEAT_LOAD_COUNTS_H
#define LEAT_LOAD_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

static inline void leat_count_more(_Atomic int64_t *count, int64_t more) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* Copies `count` counters. */
static inline void leat_counts_read(const _Atomic int64_t *counts, int count, int64_t *out) {
    for (int i = 0; i < count; i++) out[i] = atomic_load_explicit(&counts[i], memory_order_relaxed);
}

#endif
