/*
 * When the probes of a synthetic data set are active (see probes.h): probes one after the other in
 * lanes that all begin with the period and end with it or slightly earlier.
 *
 * The largest probes begin one lane each, as many as there would be full lanes for all rows; the
 * rest of a lane is filled with the largest probes that fit. The lanes with the least space are
 * filled first, so that small probes, which fit anywhere, are available to fill them to the end,
 * and remain for lanes of their own, where they begin at all times. Probes of equal size are
 * handled together, and lanes that hold the same sizes are one entry of the table, so that time and
 * memory are proportional to the shape's runs, whatever the number of probes.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "synth/probes/probes.h"

#define STREAM_LANE 21

/* Probes [probe, probe + count), not in a lane yet, have `size` measurements each. */
typedef struct size_class {
    int64_t size, probe, count;
} size_class;

typedef struct packer {
    leat_synth *synth;
    size_class *classes; /* the largest first */
    int64_t class_count;
    int64_t period;      /* the maximum cycles of a lane */
    int64_t head, heads; /* classes [head, heads) begin one lane each */
    int64_t first;       /* of the later classes, the first that is not used up */
} packer;

/* The classes of a shape; the one that contains probe `heads` is split there. */
static leat_code list_classes(packer *pack, const leat_synth_run *shape, int64_t run_count,
                              int64_t heads, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&pack->classes, run_count + 1, err));
    for (int64_t k = run_count - 1; k >= 0; k--) {
        size_class found = {shape[k + 1].cycle_first, shape[k + 1].active,
                            shape[k].active - shape[k + 1].active};
        int64_t before = heads - found.probe; /* probes of it that begin lanes, if there are any */
        if (before > 0 && before < found.count) {
            pack->classes[pack->class_count++] = (size_class){found.size, found.probe, before};
            found.probe = heads;
            found.count -= before;
        }
        if (found.count > 0) pack->classes[pack->class_count++] = found;
        if (found.probe < heads) pack->heads = pack->class_count;
        else if (before > 0) pack->heads = pack->class_count - 1;
    }
    pack->first = pack->heads;
    return LEAT_OK;
}

/* Appends `each` probes of a class to each of the given number of lanes. */
static leat_code take(packer *pack, size_class *class, int64_t lanes, int64_t each, int64_t *length,
                      leat_error *err) {
    leat_synth *synth = pack->synth;
    LEAT_TRY(LEAT_GROW(&synth->segments, &synth->segment_capacity, synth->segment_count + 1, err));
    class->count -= lanes * each;
    synth->segments[synth->segment_count++] =
        (leat_synth_segment){*length, class->size, each, class->probe + class->count};
    *length += each * class->size;
    while (pack->first < pack->class_count && pack->classes[pack->first].count == 0) pack->first++;
    return LEAT_OK;
}

/* The first class not used up whose probes fit into `room` cycles. */
static int64_t find_class(const packer *pack, int64_t room) {
    int64_t low = pack->first, high = pack->class_count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (pack->classes[middle].size <= room) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* The next lanes that hold the same sizes: as many as there are probes of the class that begins
 * them. */
static leat_code add_lanes(packer *pack, leat_error *err) {
    leat_synth *synth = pack->synth;
    leat_synth_lanes group = {.segment_first = synth->segment_count};
    bool heads = pack->head < pack->heads;
    size_class *head = &pack->classes[heads ? pack->head : pack->first];
    int64_t room = pack->period - head->size, next = find_class(pack, room);
    int64_t each = heads ? 1 : pack->period / head->size;
    if (each > head->count) each = head->count;
    group.lanes = head->count / each;
    /* No more lanes than the next class can fill, or large probes would be left for the end. */
    if (heads && next < pack->class_count) {
        int64_t most = pack->classes[next].count / (room / pack->classes[next].size);
        if (most < group.lanes) group.lanes = most > 0 ? most : 1;
    }
    LEAT_TRY(take(pack, head, group.lanes, each, &group.length, err));
    if (heads && head->count == 0) pack->head++;
    for (int64_t i = find_class(pack, pack->period - group.length); i < pack->class_count; i++) {
        size_class *class = &pack->classes[i];
        int64_t fitting = (pack->period - group.length) / class->size;
        each = class->count / group.lanes < fitting ? class->count / group.lanes : fitting;
        if (each > 0) LEAT_TRY(take(pack, class, group.lanes, each, &group.length, err));
        if (group.length == pack->period) break;
    }
    group.segment_count = synth->segment_count - group.segment_first;
    LEAT_TRY(LEAT_GROW(&synth->lanes, &synth->lanes_capacity, synth->lanes_count + 1, err));
    synth->lanes[synth->lanes_count++] = group;
    return LEAT_OK;
}

/* The longest first, so that the lanes active in a cycle are the first ones. */
static int compare_lanes(const void *a, const void *b) {
    const leat_synth_lanes *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? -1 : 1;
    return x->segment_first < y->segment_first ? -1 : 1;
}

static leat_code pack_lanes(packer *pack, leat_error *err) {
    leat_synth *synth = pack->synth;
    while (pack->head < pack->heads || pack->first < pack->class_count)
        LEAT_TRY(add_lanes(pack, err));
    qsort(synth->lanes, (size_t)synth->lanes_count, sizeof *synth->lanes, compare_lanes);
    int64_t lanes = 0, cycle = 0;
    for (int64_t i = 0; i < synth->lanes_count; i++) {
        synth->lanes[i].lane_first = lanes;
        lanes += synth->lanes[i].lanes;
    }
    for (int64_t i = synth->lanes_count - 1; i >= 0; i--) {
        const leat_synth_lanes *group = &synth->lanes[i];
        LEAT_TRY(leat_synth_add_run(synth, group->lane_first + group->lanes, group->length - cycle,
                                    err));
        cycle = group->length;
    }
    LEAT_ASSERT(synth->runs[synth->run_count].row_first == synth->measurements);
    return LEAT_OK;
}

leat_code leat_synth_pack(leat_synth *synth, leat_error *err) {
    leat_synth_run *shape = synth->runs;
    packer pack = {.synth = synth, .period = leat_synth_largest(synth)};
    int64_t heads = (synth->measurements - 1) / pack.period + 1;
    leat_code code = list_classes(&pack, shape, synth->run_count, heads, err);
    synth->runs = NULL;
    synth->run_count = synth->run_capacity = 0;
    if (code == LEAT_OK) code = pack_lanes(&pack, err);
    leat_free(pack.classes);
    leat_free(shape);
    return code;
}

static const leat_synth_segment *find_segment(const leat_synth *synth,
                                              const leat_synth_lanes *group, int64_t at) {
    int64_t low = group->segment_first, high = low + group->segment_count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (synth->segments[middle].begin <= at) low = middle;
        else high = middle;
    }
    return &synth->segments[low];
}

/* A lane is rotated so that a random one of its probes is the first, and every other lane is
 * reversed. As the cut is between two probes, none is split; the largest, which may take most of
 * the lane, is not chosen, so that it begins anywhere that it can. */
void leat_synth_lane_find(const leat_synth *synth, int64_t lane, int64_t cycle, int64_t *probe,
                          int64_t *number) {
    int64_t low = 0, high = synth->lanes_count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (synth->lanes[middle].lane_first <= lane) low = middle;
        else high = middle;
    }
    const leat_synth_lanes *group = &synth->lanes[low];
    uint64_t bits = leat_random(synth->seed, STREAM_LANE, (uint64_t)lane);
    int64_t first = 0, others = group->length - synth->segments[group->segment_first].size;
    if (others > 0)
        first = group->length - others + (int64_t)leat_random_below(bits, (uint64_t)others);
    const leat_synth_segment *segment = find_segment(synth, group, first);
    first -= (first - segment->begin) % segment->size;
    bool backwards = (leat_random(bits, STREAM_LANE, 0) & 1) != 0;
    int64_t at = (first + (backwards ? group->length - 1 - cycle : cycle)) % group->length;
    segment = find_segment(synth, group, at);
    int64_t offset = at - segment->begin, in_probe = offset % segment->size;
    *probe =
        segment->probe_first + (lane - group->lane_first) * segment->count + offset / segment->size;
    *number = backwards ? segment->size - 1 - in_probe : in_probe;
}
