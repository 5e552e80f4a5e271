/*
 * Which part of time is validation: the time axis is divided into blocks, and a seeded choice of
 * them is validation, so that most windows that are neighbours in time are on the same side.
 * Captures that overlap in time may hold the same drive, so they are divided at the same times.
 */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "ingest/can/cache/plan.h"

/* The stream of random numbers for the choice. */
#define CHOICE_STREAM 0x63616e2076616cULL

typedef struct span {
    double first_s, last_s;
    int32_t stream;
} span;

static int compare_spans(const void *a, const void *b) {
    const span *x = a, *y = b;
    if (x->first_s != y->first_s) return x->first_s < y->first_s ? -1 : 1;
    return x->stream < y->stream ? -1 : x->stream > y->stream;
}

/* The boundaries of one axis, number `axis` in time. */
static leat_can_cuts cut(double first_s, double last_s, double fraction, uint64_t seed, int axis) {
    leat_can_cuts cuts = {.first_s = first_s, .last_s = last_s};
    int chosen = (int)floor(LEAT_CAN_BLOCKS * fraction + 0.5);
    uint64_t key = leat_random(seed, CHOICE_STREAM, (uint64_t)axis);
    for (int i = 0; i < chosen; i++) cuts.validation[leat_permute(key, LEAT_CAN_BLOCKS, i)] = true;
    return cuts;
}

leat_code leat_can_cuts_make(const leat_can_stream *streams, int32_t count, double fraction,
                             uint64_t seed, leat_can_cuts *cuts, leat_error *err) {
    span *spans = NULL;
    LEAT_TRY(LEAT_NEW(&spans, count, err));
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        if (streams[i].split != 0 || streams[i].frames == 0) continue;
        spans[used++] = (span){streams[i].first_s, streams[i].last_s, i};
    }
    qsort(spans, (size_t)used, sizeof *spans, compare_spans);
    int axis = 0;
    for (int32_t begin = 0; begin < used; axis++) {
        int32_t end = begin;
        double last_s = spans[begin].last_s;
        for (; end < used && spans[end].first_s <= last_s; end++)
            last_s = fmax(last_s, spans[end].last_s);
        leat_can_cuts of_axis = cut(spans[begin].first_s, last_s, fraction, seed, axis);
        for (; begin < end; begin++) cuts[spans[begin].stream] = of_axis;
    }
    leat_free(spans);
    return LEAT_OK;
}

static int block_of(const leat_can_cuts *cuts, double time_s) {
    double length = cuts->last_s - cuts->first_s;
    double place = length > 0 ? (time_s - cuts->first_s) / length * LEAT_CAN_BLOCKS : 0;
    int block = (int)fmax(0, floor(place));
    return block < LEAT_CAN_BLOCKS ? block : LEAT_CAN_BLOCKS - 1;
}

int leat_can_cuts_part(const leat_can_cuts *cuts, double first_s, double last_s) {
    int first = block_of(cuts, first_s), last = block_of(cuts, last_s);
    for (int i = first; i < last; i++) {
        if (cuts->validation[i] != cuts->validation[i + 1]) return 2;
    }
    return cuts->validation[first] ? 1 : 0;
}
