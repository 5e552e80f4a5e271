/*
 * Which image a position of a run is: a keyed permutation of each epoch, so that no list of images
 * is kept, and any position is found at once.
 */
#include "sample/images/order.h"

#include "base/error.h"
#include "base/rng.h"
#include "sample/streams.h"

static uint64_t key_of(uint64_t seed, int64_t epoch) {
    return leat_random(seed, LEAT_STREAM_IMAGE_ORDER, (uint64_t)epoch);
}

int64_t leat_image_at(uint64_t seed, int64_t count, int64_t position) {
    LEAT_ASSERT(count > 0 && position >= 0);
    return leat_permute(key_of(seed, position / count), count, position % count);
}

void leat_images_at(uint64_t seed, int64_t count, int64_t first, int64_t n, int64_t *out) {
    LEAT_ASSERT(count > 0 && first >= 0);
    int64_t epoch = first / count, place = first % count;
    uint64_t key = key_of(seed, epoch);
    for (int64_t i = 0; i < n; i++) {
        out[i] = leat_permute(key, count, place);
        if (++place < count) continue;
        place = 0;
        key = key_of(seed, ++epoch);
    }
}
