/* See neighbours.h. Parts are blocks of rows; of the gradients of weights, blocks of columns. */
#include "nn/ops/neighbours.h"

#include <math.h>
#include <string.h>

enum { ROWS = 32, PIECE = 256, WORD = 64 };

static int64_t parts_of(int64_t rows) { return (rows + ROWS - 1) / ROWS; }

/* ---- Which there are ------------------------------------------------------------------------ */

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
    for (int64_t node = 0; node < out->nodes; node++) {
        const int32_t *drawn = out->drawn + node * out->draws;
        uint8_t *kept = out->kept + node * out->draws;
        for (int64_t i = 0; i < out->draws; i++) {
            LEAT_ASSERT(drawn[i] >= 0 && drawn[i] < out->ids);
            kept[i] = is_positive(out, node, drawn[i]) ? 0 : 1;
            out->negatives += kept[i];
        }
    }
}

/* ---- Terms ---------------------------------------------------------------------------------- */

int64_t leat_neighbour_terms_most(int64_t rows, int64_t draws, int64_t edges) {
    return rows * draws + edges;
}

/* Counts of all identifiers; a bit for each that occurs; and one for each word of these. */
typedef struct table {
    float *counts;
    uint64_t *found, *words;
} table;

static int64_t words_of(int64_t bits) { return (bits + WORD - 1) / WORD; }

int64_t leat_neighbour_work_count(int64_t ids) {
    return leat_lanes(ids) + 2 * (words_of(ids) + words_of(words_of(ids)));
}

static table table_of(const leat_neighbour_terms *terms) {
    table out = {.counts = terms->counts};
    LEAT_ASSERT((uintptr_t)terms->counts % sizeof *out.found == 0);
    out.found = (uint64_t *)(void *)(terms->counts + leat_lanes(terms->ids));
    out.words = out.found + words_of(terms->ids);
    return out;
}

static void count_id(const table *in, int32_t id, float by) {
    in->counts[id] += by;
    in->found[id / WORD] |= UINT64_C(1) << id % WORD;
    in->words[id / (WORD * WORD)] |= UINT64_C(1) << id / WORD % WORD;
}

/* The place of the lowest bit that is set, which is cleared. */
static int64_t next_bit(uint64_t *bits) {
    const int64_t at = __builtin_ctzll(*bits);
    *bits &= *bits - 1;
    return at;
}

/* Empties the table into the terms from `at` on; where they end. */
static int32_t take_ids(const table *in, int32_t at, leat_neighbour_terms *out) {
    const int64_t ends = words_of(words_of(out->ids));
    for (int64_t high = 0; high < ends; high++) {
        while (in->words[high] != 0) {
            const int64_t word = high * WORD + next_bit(&in->words[high]);
            uint64_t bits = in->found[word];
            in->found[word] = 0;
            while (bits != 0) {
                const int64_t id = word * WORD + next_bit(&bits);
                out->id[at] = (int32_t)id;
                out->times[at++] = in->counts[id];
                in->counts[id] = 0;
            }
        }
    }
    return at;
}

void leat_neighbour_terms_set(const leat_neighbours *of, int64_t node, int64_t rows,
                              leat_neighbour_terms *out) {
    LEAT_ASSERT(node >= 0 && rows >= 0 && node + rows <= of->nodes && of->ids == out->ids);
    const table table = table_of(out);
    out->rows = rows;
    out->first[0] = 0;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t at = node + row;
        for (int64_t i = at * of->draws; i < (at + 1) * of->draws; i++)
            if (of->kept[i] != 0) count_id(&table, of->drawn[i], 1);
        for (int32_t k = of->first[at]; k < of->first[at + 1]; k++)
            count_id(&table, of->positive[k], -1);
        out->first[row + 1] = take_ids(&table, out->first[row], out);
    }
}

void leat_neighbour_terms_take(const leat_neighbour_terms *terms, const float *logits) {
    const int64_t step = leat_lanes(terms->ids);
    for (int64_t row = 0; row < terms->rows; row++)
        for (int32_t t = terms->first[row]; t < terms->first[row + 1]; t++)
            terms->logit[t] = logits[row * step + terms->id[t]];
}

void leat_neighbour_terms_put(const leat_neighbour_terms *terms, float *logits) {
    const int64_t step = leat_lanes(terms->ids);
    memset(logits, 0, sizeof *logits * (size_t)(terms->rows * step));
    for (int64_t row = 0; row < terms->rows; row++)
        for (int32_t t = terms->first[row]; t < terms->first[row + 1]; t++)
            logits[row * step + terms->id[t]] = terms->logit[t];
}

/* ---- Logits --------------------------------------------------------------------------------- */

typedef struct logit_job {
    const leat_kernels *kernels;
    const leat_neighbour_logits *of;
    const leat_neighbour_gradient *out;
} logit_job;

/* Terms of a row, or of some. */
typedef struct span {
    int64_t first, count;
} span;
static span terms_of(const leat_neighbour_terms *terms, int64_t row, int64_t end) {
    return (span){terms->first[row], terms->first[end] - terms->first[row]};
}

static void logit_part(void *context, int64_t part) {
    const logit_job *job = context;
    const leat_neighbour_logits *of = job->of;
    const leat_neighbour_terms *terms = of->terms;
    const int64_t end = leat_min(terms->rows, (part + 1) * ROWS);
    for (int64_t row = part * ROWS; row < end; row++) {
        const span in = terms_of(terms, row, row + 1);
        const leat_gather gather = {of->in, of->in, terms->id + in.first};
        float *logit = terms->logit + in.first;
        job->kernels->gather_dots(&gather, in.count, of->weight, of->x + row * of->in, logit);
        for (int64_t t = 0; t < in.count; t++) logit[t] += of->bias[gather.index[t]];
    }
}

leat_code leat_neighbour_logits_forward(const leat_device *device, const leat_neighbour_logits *of,
                                        leat_error *err) {
    logit_job job = {device->kernels, of, NULL};
    LEAT_ASSERT(of->in >= 1 && of->in % LEAT_LANES == 0);
    return leat_device_run(device, parts_of(of->terms->rows), logit_part, &job, err);
}

static void down_part(void *context, int64_t part) {
    const logit_job *job = context;
    const leat_neighbour_logits *of = job->of;
    const leat_neighbour_terms *terms = of->terms;
    const int64_t end = leat_min(terms->rows, (part + 1) * ROWS);
    for (int64_t row = part * ROWS; row < end; row++) {
        const span in = terms_of(terms, row, row + 1);
        const leat_edge_rows rows = {of->in, 1, of->in, terms->id + in.first, of->weight};
        float *x = job->out->x + row * of->in;
        memset(x, 0, sizeof *x * (size_t)of->in);
        job->kernels->edge_sums(&rows, in.count, terms->logit + in.first, x);
    }
}

/* Columns of the weights' gradient; after the last of them, that of the bias. */
static void weight_part(void *context, int64_t part) {
    const logit_job *job = context;
    const leat_neighbour_logits *of = job->of;
    const leat_neighbour_terms *terms = of->terms;
    const int64_t first = part * 4 * LEAT_LANES;
    if (first >= of->in) {
        for (int64_t t = 0; t < terms->first[terms->rows]; t++)
            job->out->bias[terms->id[t]] += terms->logit[t];
        return;
    }
    for (int64_t row = 0; row < terms->rows; row++) {
        const span in = terms_of(terms, row, row + 1);
        const leat_gather gather = {leat_min(4 * LEAT_LANES, of->in - first), of->in,
                                    terms->id + in.first};
        job->kernels->gather_add(&gather, in.count, terms->logit + in.first,
                                 of->x + row * of->in + first, job->out->weight + first);
    }
}

leat_code leat_neighbour_logits_backward(const leat_device *device, const leat_neighbour_logits *of,
                                         const leat_neighbour_gradient *out, leat_error *err) {
    logit_job job = {device->kernels, of, out};
    const int64_t parts = (of->in + 4 * LEAT_LANES - 1) / (4 * LEAT_LANES) + 1;
    LEAT_ASSERT(of->in >= 1 && of->in % LEAT_LANES == 0);
    LEAT_ASSERT(leat_apart(out->x, of->terms->rows * of->in, of->x, of->terms->rows * of->in));
    LEAT_TRY(leat_device_run(device, parts_of(of->terms->rows), down_part, &job, err));
    return leat_device_run(device, parts, weight_part, &job, err);
}

/* ---- Loss ----------------------------------------------------------------------------------- */

typedef struct loss_job {
    const leat_kernels *kernels;
    const leat_neighbour_loss *loss;
    double *positives, *negatives;
} loss_job;

/* Terms whose functions are computed at once. */
typedef struct piece {
    float x[PIECE], loss[PIECE];
} piece;

/* The logits become slopes, and `out` has the terms of the loss. */
static void set_piece(const loss_job *job, int64_t first, int64_t count, piece *out) {
    const leat_neighbour_terms *terms = job->loss->terms;
    const float *times = terms->times + first;
    float *logit = terms->logit + first;
    for (int64_t t = 0; t < count; t++) out->x[t] = times[t] > 0 ? logit[t] : -logit[t];
    job->kernels->map(LEAT_FUNCTION_SOFTPLUS, count, out->x, out->loss);
    job->kernels->map(LEAT_FUNCTION_SIGMOID, count, out->x, logit);
    for (int64_t t = 0; t < count; t++)
        logit[t] =
            times[t] * logit[t] * (times[t] > 0 ? job->loss->of_negative : job->loss->of_positive);
}

static void loss_part(void *context, int64_t part) {
    const loss_job *job = context;
    const leat_neighbour_terms *terms = job->loss->terms;
    const int64_t end = leat_min(terms->rows, (part + 1) * ROWS);
    const span all = terms_of(terms, part * ROWS, end);
    int64_t at = all.first, next = all.first; /* a term; where the next piece begins */
    piece piece;
    for (int64_t row = part * ROWS; row < end; row++) {
        double positives = 0, negatives = 0; /* a term of the other kind adds +0 */
        for (; at < terms->first[row + 1]; at++) {
            if (at == next) {
                const int64_t count = leat_min(PIECE, all.first + all.count - at);
                set_piece(job, at, count, &piece);
                next = at + count;
            }
            const float times = terms->times[at];
            const float loss = piece.loss[(at - all.first) % PIECE];
            const double term = (double)fabsf(times) * (double)loss;
            positives += times > 0 ? 0 : term;
            negatives += times > 0 ? term : 0;
        }
        job->positives[row] = positives;
        job->negatives[row] = negatives;
    }
}

leat_code leat_neighbour_loss_run(const leat_device *device, const leat_neighbour_loss *loss,
                                  double *positives, double *negatives, leat_error *err) {
    loss_job job = {device->kernels, loss, positives, negatives};
    return leat_device_run(device, parts_of(loss->terms->rows), loss_part, &job, err);
}
