/* Radix sort by digits of 11 bits, as many as the keys have, and two shuffles. */
#include "batch/graphs/order.h"

#include <string.h>

#include "base/rng.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static void sort_by_digit(const uint32_t *key, uint32_t flip, int shift, const uint32_t *from,
                          uint32_t *to, int64_t count) {
    uint32_t place[DIGITS] = {0}, before = 0;
    for (int64_t i = 0; i < count; i++) place[((key[from[i]] ^ flip) >> shift) % DIGITS]++;
    for (int d = 0; d < DIGITS; d++) {
        uint32_t here = place[d];
        place[d] = before;
        before += here;
    }
    for (int64_t i = 0; i < count; i++) {
        to[place[((key[from[i]] ^ flip) >> shift) % DIGITS]++] = from[i];
    }
}

void leat_order_by_key(const uint32_t *key, bool descending, uint32_t *items, uint32_t *scratch,
                       int64_t count) {
    uint32_t some = 0, *from = items, *to = scratch;
    for (int64_t i = 0; i < count; i++) some |= key[items[i]];
    for (int shift = 0; shift < 32 && some >> shift != 0; shift += DIGIT_BITS) {
        sort_by_digit(key, descending ? UINT32_MAX : 0, shift, from, to, count);
        uint32_t *held = from;
        from = to;
        to = held;
    }
    if (from != items) memcpy(items, from, sizeof(*items) * (size_t)count);
}

void leat_order_shuffle(uint64_t key, uint32_t *items, int64_t count) {
    for (int64_t i = count - 1; i > 0; i--) {
        uint64_t j = leat_random_below(leat_random_at(key, (uint64_t)i), (uint64_t)i + 1);
        uint32_t held = items[i];
        items[i] = items[j];
        items[j] = held;
    }
}

void leat_order_buckets(uint64_t key, const uint32_t *sorted, int64_t count, uint32_t *walk) {
    int64_t length = (count + LEAT_BUCKETS - 1) / LEAT_BUCKETS;
    if (count == 0) return;
    int64_t runs = (count + length - 1) / length;
    for (int64_t i = 0; i < runs; i++) {
        int64_t run = leat_permute(leat_random_at(key, 0), runs, i), first = run * length;
        int64_t size = count - first < length ? count - first : length;
        memcpy(walk, sorted + first, sizeof(*walk) * (size_t)size);
        leat_order_shuffle(leat_random_at(key, (uint64_t)run + 1), walk, size);
        walk += size;
    }
}
