/*
 * Keys and permutations of a sequence. Each use of randomness has a stream number of its own, mixed
 * with the seed into a key, so that seed 1 of epoch 0 has nothing to do with seed 0 of epoch 1.
 */
#include "batch/tokens/source.h"

#include "base/error.h"
#include "base/rng.h"
#include "batch/random_streams.h"

leat_source leat_source_of_epoch(uint64_t seed, int64_t anchor_count, int64_t sequence) {
    LEAT_ASSERT(anchor_count >= 1 && sequence >= 0);
    int64_t epoch = sequence / anchor_count, position = sequence % anchor_count;
    uint64_t key = leat_random(seed, LEAT_STREAM_EPOCH, (uint64_t)epoch);
    return (leat_source){
        .key = key,
        .context_key = leat_random(key, LEAT_STREAM_CONTEXT, (uint64_t)position),
        .count = anchor_count,
        .position = position,
        .epoch = epoch,
    };
}

leat_source leat_source_of_client(uint64_t seed, int64_t first, int64_t count, int64_t step,
                                  int64_t batch_row) {
    LEAT_ASSERT(first >= 0 && count >= 1 && step >= 0 && batch_row >= 0);
    uint64_t step_key = leat_random(seed, LEAT_STREAM_CLIENT_SEQUENCE, (uint64_t)step);
    uint64_t key = leat_random(step_key, LEAT_STREAM_EPOCH, (uint64_t)batch_row);
    return (leat_source){
        .key = key,
        .context_key = leat_random(key, LEAT_STREAM_CONTEXT, 0),
        .first = first,
        .count = count,
        .by_client = true,
    };
}

leat_source leat_source_of_window(const leat_window *window, int64_t place, int64_t position) {
    return (leat_source){
        .key = window->epoch_key,
        .context_key = leat_random(window->epoch_key, LEAT_STREAM_CONTEXT, (uint64_t)position),
        .count = window->end - window->first,
        .position = position,
        .epoch = window->epoch,
        .window = window,
        .place = place,
    };
}

/*
 * In an epoch context t has a permutation of its own. By client a sequence has one permutation of
 * the probe's anchors, which its contexts walk along, and a new one each time they come to its end.
 */
int64_t leat_source_anchor(const leat_source *source, int64_t t) {
    LEAT_ASSERT(t >= 0);
    if (source->window != NULL) return leat_window_anchor(source->window, source->place, t);
    uint64_t round = (uint64_t)(source->by_client ? t / source->count : t);
    int64_t position = source->by_client ? t % source->count : source->position;
    uint64_t key = leat_random(source->key, LEAT_STREAM_ANCHOR, round);
    return source->first + leat_permute(key, source->count, position);
}

uint64_t leat_source_key(const leat_source *source, int64_t t) {
    return leat_random_at(source->context_key, (uint64_t)t);
}

int64_t leat_source_contexts_max(int32_t length) { return length / LEAT_TOKENS_MIN + 2; }
