/* See vgae_loss.h. */
#include "nn/ops/vgae_loss.h"

#include <string.h>

enum { ROWS = 32, PIECE = 64 };

static int64_t parts_of(int64_t rows) { return (rows + ROWS - 1) / ROWS; }

/* ---- Squares -------------------------------------------------------------------------------- */

typedef struct square_job {
    const leat_square_loss *of;
    float *up;
    double *sums;
} square_job;

static void square_part(void *context, int64_t part) {
    const square_job *job = context;
    const leat_square_loss *of = job->of;
    const int64_t step = leat_lanes(of->columns), end = leat_min(of->rows, (part + 1) * ROWS);
    const float twice = 2 * of->factor;
    for (int64_t row = part * ROWS; row < end; row++) {
        double sum = 0;
        float *up = job->up + row * step;
        for (int64_t c = 0; c < of->columns; c++) {
            const float d = of->got[row * step + c] - of->want[row * of->columns + c];
            sum += (double)(d * d);
            up[c] = twice * d;
        }
        memset(up + of->columns, 0, sizeof *up * (size_t)(step - of->columns));
        job->sums[row] = sum;
    }
}

leat_code leat_square_loss_run(const leat_device *device, const leat_square_loss *of, float *up,
                               double *sums, leat_error *err) {
    square_job job = {of, up, sums};
    LEAT_ASSERT(of->rows >= 0 && of->columns >= 1);
    return leat_device_run(device, parts_of(of->rows), square_part, &job, err);
}

/* ---- Identifiers ---------------------------------------------------------------------------- */

typedef struct id_job {
    const leat_kernels *kernels;
    const leat_id_loss *of;
    float *logits;
    double *terms;
} id_job;

static float sum_of(int64_t count, const float *x) {
    float lanes[LEAT_LANES] = {0};
    for (int64_t c = 0; c < count; c++) lanes[c % LEAT_LANES] += x[c];
    for (int half = LEAT_LANES / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}

static void id_part(void *context, int64_t part) {
    const id_job *job = context;
    const leat_id_loss *of = job->of;
    const int64_t step = leat_lanes(of->ids), end = leat_min(of->rows, (part + 1) * ROWS);
    for (int64_t row = part * ROWS; row < end; row++) {
        float *x = job->logits + row * step, most = x[0], logarithm;
        const int32_t want = of->want[row];
        LEAT_ASSERT(want >= 0 && want < of->ids);
        for (int64_t c = 1; c < of->ids; c++) most = x[c] > most ? x[c] : most;
        for (int64_t c = 0; c < of->ids; c++) x[c] -= most;
        const float right = x[want];
        job->kernels->map(LEAT_FUNCTION_EXP, of->ids, x, x);
        const float sum = sum_of(of->ids, x);
        job->kernels->map(LEAT_FUNCTION_LOG, 1, &sum, &logarithm);
        job->terms[row] = (double)(logarithm - right);
        for (int64_t c = 0; c < of->ids; c++)
            x[c] = (x[c] / sum - (c == want ? 1.0f : 0.0f)) * of->factor;
        memset(x + of->ids, 0, sizeof *x * (size_t)(step - of->ids));
    }
}

leat_code leat_id_loss_run(const leat_device *device, const leat_id_loss *of, float *logits,
                           double *terms, leat_error *err) {
    id_job job = {device->kernels, of, logits, terms};
    LEAT_ASSERT(of->rows >= 0 && of->ids >= 1);
    return leat_device_run(device, parts_of(of->rows), id_part, &job, err);
}

/* ---- Neighbours ----------------------------------------------------------------------------- */

static bool any(const uint8_t *set, int64_t count) {
    return set != NULL && memchr(set, 1, (size_t)count) != NULL;
}

/* Counting sort of the edges by source, without those of nodes that do not count. */
static void set_positives(const leat_graph_micro *batch, const uint8_t *hidden,
                          leat_neighbours *out) {
    int32_t *end = out->first + 1, sum = 0;
    const bool all = !any(hidden, batch->nodes);
    memset(out->first, 0, sizeof *end * (size_t)(batch->nodes + 1));
    for (int64_t e = 0; e < batch->edges; e++)
        if (all || hidden[batch->source[e]] != 0) end[batch->source[e]]++;
    for (int64_t i = 0; i < batch->nodes; i++) {
        const int32_t count = end[i];
        end[i] = sum;
        sum += count;
    }
    for (int64_t e = 0; e < batch->edges; e++)
        if (all || hidden[batch->source[e]] != 0)
            out->positive[end[batch->source[e]]++] = batch->node_id[batch->target[e]];
    out->positives = sum;
}

static bool is_positive(const leat_neighbours *of, int64_t node, int32_t id) {
    for (int32_t k = of->first[node]; k < of->first[node + 1]; k++)
        if (of->positive[k] == id) return true;
    return false;
}

void leat_neighbours_set(const leat_graph_micro *batch, const uint8_t *hidden,
                         leat_neighbours *out) {
    LEAT_ASSERT(out->draws >= 1 && out->ids >= 1 && batch->edges <= INT32_MAX);
    out->nodes = batch->nodes;
    set_positives(batch, hidden, out);
    out->negatives = 0;
    for (int64_t i = 0; i < out->nodes * out->draws; i++) {
        const bool kept = !is_positive(out, i / out->draws, out->drawn[i]);
        LEAT_ASSERT(out->drawn[i] >= 0 && out->drawn[i] < out->ids);
        out->kept[i] = kept ? 1 : 0;
        out->negatives += kept ? 1 : 0;
    }
}

typedef struct neighbour_job {
    const leat_kernels *kernels;
    const leat_neighbour_loss *loss;
    float *up;
    double *positives, *negatives;
} neighbour_job;

/* How often each identifier occurs: above 0 as a negative, below as a positive. */
static void count_ids(const leat_neighbours *of, int64_t node, float *counts) {
    memset(counts, 0, sizeof *counts * (size_t)leat_lanes(of->ids));
    for (int64_t i = node * of->draws; i < (node + 1) * of->draws; i++)
        if (of->kept[i] != 0) counts[of->drawn[i]] += 1;
    for (int32_t k = of->first[node]; k < of->first[node + 1]; k++) counts[of->positive[k]] -= 1;
}

/* Identifiers that occur, up to PIECE: their logits, with the sign of a positive turned. */
typedef struct found {
    int count;
    int32_t id[PIECE];
    float x[PIECE], loss[PIECE], slope[PIECE];
} found;

static void take_found(const neighbour_job *job, int64_t row, found *f, float *counts) {
    const leat_neighbour_loss *loss = job->loss;
    job->kernels->map(LEAT_FUNCTION_SOFTPLUS, f->count, f->x, f->loss);
    job->kernels->map(LEAT_FUNCTION_SIGMOID, f->count, f->x, f->slope);
    for (int i = 0; i < f->count; i++) {
        float *count = counts + f->id[i];
        if (*count > 0) job->negatives[row] += (double)*count * (double)f->loss[i];
        else job->positives[row] -= (double)*count * (double)f->loss[i];
        *count = *count * f->slope[i] * (*count > 0 ? loss->of_negative : loss->of_positive);
    }
    f->count = 0;
}

static void neighbour_part(void *context, int64_t part) {
    const neighbour_job *job = context;
    const leat_neighbour_loss *loss = job->loss;
    const leat_neighbours *of = loss->of;
    const int64_t step = leat_lanes(of->ids), end = leat_min(loss->rows, (part + 1) * ROWS);
    for (int64_t row = part * ROWS; row < end; row++) {
        float *counts = job->up + row * step;
        const float *logits = loss->logits + row * step;
        found f = {0};
        count_ids(of, loss->node + row, counts);
        job->positives[row] = job->negatives[row] = 0;
        for (int32_t id = 0; id < of->ids; id++) {
            if (counts[id] == 0) continue;
            if (f.count == PIECE) take_found(job, row, &f, counts);
            f.id[f.count] = id;
            f.x[f.count++] = counts[id] > 0 ? logits[id] : -logits[id];
        }
        take_found(job, row, &f, counts);
    }
}

leat_code leat_neighbour_loss_run(const leat_device *device, const leat_neighbour_loss *loss,
                                  float *up, double *positives, double *negatives,
                                  leat_error *err) {
    neighbour_job job = {device->kernels, loss, up, positives, negatives};
    LEAT_ASSERT(loss->node >= 0 && loss->rows >= 0 && loss->node + loss->rows <= loss->of->nodes);
    return leat_device_run(device, parts_of(loss->rows), neighbour_part, &job, err);
}
