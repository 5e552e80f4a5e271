/* A part is a graph: its rows, its key. */
#include "nn/ops/graph_random.h"

#include <string.h>

#include "base/rng.h"
#include "nn/ops/random.h"

typedef struct random_job {
    const leat_device *device;
    const leat_graph_random *of;
    int64_t columns, step;
    float share;
    uint8_t *mask;
    int32_t bound;
    int32_t *ids;
    leat_dropout dropout; /* without a key */
    const float *x;
    float *y;
} random_job;

uint64_t leat_graph_key(const leat_graph_random *of, int64_t graph) {
    const leat_graph_micro *batch = of->batch;
    LEAT_ASSERT(graph >= 0 && graph < batch->graphs);
    LEAT_ASSERT(batch->epoch >= 0 && batch->number[graph] >= 0);
    const uint64_t epoch = leat_random(batch->seed, of->stream, (uint64_t)batch->epoch);
    return leat_random(epoch, of->stream, (uint64_t)batch->number[graph]);
}

/* The rows of a graph, and its first element. */
typedef struct graph_rows {
    uint64_t key;
    int64_t first, count, element;
} graph_rows;

static graph_rows rows_of(const random_job *job, int64_t graph) {
    const leat_graph_random *of = job->of;
    const int64_t *node_first = of->batch->node_first;
    graph_rows rows = {.key = leat_graph_key(of, graph), .first = graph, .count = 1};
    if (!of->of_graphs) {
        rows.first = node_first[graph];
        rows.count = node_first[graph + 1] - node_first[graph];
    }
    LEAT_ASSERT(rows.count >= 1 && rows.count <= LEAT_GRAPH_ELEMENTS / job->columns);
    rows.element = of->place * LEAT_GRAPH_ELEMENTS;
    return rows;
}

static leat_code run(random_job *job, const leat_device *device, const leat_graph_random *of,
                     int64_t columns, void (*part)(void *context, int64_t part), leat_error *err) {
    LEAT_ASSERT(of->place >= 0 && of->place < LEAT_GRAPH_PLACES);
    LEAT_ASSERT(columns >= 1 && columns < LEAT_GRAPH_ELEMENTS && of->batch->graphs >= 1);
    job->device = device;
    job->of = of;
    job->columns = columns;
    job->step = leat_lanes(columns);
    return leat_device_run(device, of->batch->graphs, part, job, err);
}

static int64_t row_count(const leat_graph_random *of) {
    return of->of_graphs ? of->batch->graphs : of->batch->nodes;
}

static uint32_t bits_of(uint64_t key, int64_t element) {
    return (uint32_t)(leat_random_at(key, (uint64_t)element) >> 40);
}

static void mask_part(void *context, int64_t graph) {
    const random_job *job = context;
    const graph_rows rows = rows_of(job, graph);
    for (int64_t i = 0; i < rows.count; i++)
        job->mask[rows.first + i] =
            (float)bits_of(rows.key, rows.element + i) * 0x1p-24f < job->share; /* exact */
}

leat_code leat_graph_mask(const leat_device *device, const leat_graph_random *of, float share,
                          uint8_t *mask, leat_error *err) {
    random_job job = {.share = share, .mask = mask};
    LEAT_ASSERT(share >= 0 && share <= 1);
    return run(&job, device, of, 1, mask_part, err);
}

static void normal_part(void *context, int64_t graph) {
    const random_job *job = context;
    const graph_rows rows = rows_of(job, graph);
    for (int64_t i = 0; i < rows.count; i++) {
        float *out = job->y + (rows.first + i) * job->step;
        leat_normal_fill(job->device, rows.key, rows.element + i * job->columns, job->columns, out);
        for (int64_t c = job->columns; c < job->step; c++) out[c] = 0;
    }
}

leat_code leat_graph_normal(const leat_device *device, const leat_graph_random *of, int64_t columns,
                            float *out, leat_error *err) {
    random_job job = {.y = out};
    return run(&job, device, of, columns, normal_part, err);
}

static void below_part(void *context, int64_t graph) {
    const random_job *job = context;
    const graph_rows rows = rows_of(job, graph);
    int32_t *out = job->ids + rows.first * job->columns;
    for (int64_t i = 0; i < rows.count * job->columns; i++) {
        const uint64_t bits = leat_random_at(rows.key, (uint64_t)(rows.element + i));
        out[i] = (int32_t)leat_random_below(bits, (uint64_t)job->bound);
    }
}

leat_code leat_graph_below(const leat_device *device, const leat_graph_random *of, int64_t columns,
                           int32_t bound, int32_t *out, leat_error *err) {
    random_job job = {.bound = bound, .ids = out};
    LEAT_ASSERT(bound >= 1);
    return run(&job, device, of, columns, below_part, err);
}

static void dropout_part(void *context, int64_t graph) {
    const random_job *job = context;
    const graph_rows rows = rows_of(job, graph);
    leat_dropout dropout = job->dropout;
    dropout.key = rows.key;
    for (int64_t i = 0; i < rows.count; i++) {
        const float *x = job->x + (rows.first + i) * job->step;
        float *y = job->y + (rows.first + i) * job->step;
        job->device->kernels->dropout(&dropout, (uint64_t)(rows.element + i * job->columns),
                                      job->columns, x, y);
        for (int64_t c = job->columns; c < job->step; c++) y[c] = 0;
    }
}

static void copy_part(void *context, int64_t graph) {
    const random_job *job = context;
    const graph_rows rows = rows_of(job, graph);
    const int64_t at = rows.first * job->step;
    if (job->x != job->y)
        memcpy(job->y + at, job->x + at, sizeof *job->y * (size_t)(rows.count * job->step));
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t c = job->columns; c < job->step; c++) job->y[at + i * job->step + c] = 0;
}

float leat_graph_dropout_scale(double share) { return (float)(1 / (1 - share)); }

leat_dropout leat_dropout_of(double share) {
    LEAT_ASSERT(share >= 0 && share < 1);
    const double kept = 0x1p24 * (1 - share);
    leat_dropout dropout = {.below = (int32_t)kept, .scale = leat_graph_dropout_scale(share)};
    if ((double)dropout.below < kept) dropout.below++; /* the whole numbers below `kept` */
    return dropout;
}

leat_code leat_graph_dropout(const leat_device *device, const leat_graph_random *of,
                             int64_t columns, const float *x, float *y, leat_error *err) {
    const double share = of->share;
    const int64_t values = row_count(of) * leat_lanes(columns);
    LEAT_ASSERT(leat_same_or_apart(x, y, values));
    random_job job = {.x = x, .y = y, .dropout = leat_dropout_of(share)};
    return run(&job, device, of, columns, share > 0 ? dropout_part : copy_part, err);
}
