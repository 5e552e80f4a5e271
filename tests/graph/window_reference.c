/* See window_reference.h. Nothing here is shared with the library but the numbers of columns. */
#include "window_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = LEAT_CAN_BYTES };

static double clip(double value) { return fmax(-10, fmin(10, value)); }

/* -sum p ln p of the positions' shares in the sum of the bytes. */
static double entropy(const int16_t *bytes) {
    double sum = 0, entropy = 0;
    for (int k = 0; k < BYTES; k++) sum += bytes[k];
    sum = fmax(sum, 1e-12);
    for (int k = 0; k < BYTES; k++) {
        double p = bytes[k] / sum;
        if (bytes[k] > 0) entropy -= p * log(p);
    }
    return entropy;
}

static void byte_features(const window *it, const int32_t *frame, int32_t n, double *x) {
    double changes = 0;
    for (int k = 0; k < BYTES; k++) {
        double sum = 0, low = INFINITY, high = -INFINITY, m2 = 0, m3 = 0, m4 = 0;
        for (int32_t i = 0; i < n; i++) {
            double b = it->bytes[frame[i]][k];
            sum += b;
            low = fmin(low, b);
            high = fmax(high, b);
            if (i > 0 && b != it->bytes[frame[i - 1]][k]) changes++;
        }
        double mean = sum / n;
        for (int32_t i = 0; i < n; i++) {
            double d = it->bytes[frame[i]][k] - mean;
            m2 += d * d / n;
            m3 += d * d * d / n;
            m4 += d * d * d * d / n;
        }
        x[k] = mean;
        x[8 + k] = n > 1 ? sqrt(m2 * n / (n - 1)) : 0;
        x[16 + k] = high - low;
        if (low == high) {
            x[8 + k] = 0;
            continue;
        }
        x[26] += clip(m3 / pow(m2, 1.5)) / BYTES;
        x[27] += clip(m4 / (m2 * m2) - 3) / BYTES;
    }
    x[30] = n > 1 ? changes / (n - 1) / BYTES : 0;
}

static void frame_features(window *it, int32_t v) {
    static int32_t frame[LEAT_WINDOW_MAX];
    double *x = it->x[v];
    int32_t n = 0, early = 0;
    for (int32_t i = 0; i < it->count; i++) {
        if (it->id[i] != it->node[v]) continue;
        frame[n++] = i;
        early += i < it->count / 2;
        x[25] += entropy(it->bytes[i]);
    }
    byte_features(it, frame, n, x);
    x[24] = n;
    x[25] /= n;
    x[29] = (double)early / n;
    if (n < 2) return;
    for (int32_t i = 1; i < n; i++)
        x[31] += (it->time[frame[i]] - it->time[frame[i - 1]]) / (n - 1);
    for (int32_t i = 1; i < n && n > 2; i++) {
        double gap = it->time[frame[i]] - it->time[frame[i - 1]];
        x[32] += (gap - x[31]) * (gap - x[31]) / (n - 2);
    }
    x[32] = sqrt(x[32]);
}

/* there[u * n + v]: how many edges lead from u to v. */
static double clustering(const int32_t *there, int32_t n, int32_t v, bool loops) {
    static int32_t near[LEAT_WINDOW_MAX];
    double k = 0, triangles = 0, looped = 0, loop = loops && there[v * n + v] > 0;
    for (int32_t u = 0; u < n; u++) {
        if (u == v || (there[u * n + v] == 0 && there[v * n + u] == 0)) continue;
        looped += loops && there[u * n + u] > 0;
        near[(int)k++] = u;
    }
    for (int i = 0; i < (int)k; i++) {
        for (int j = 0; j < i; j++) {
            triangles += there[near[i] * n + near[j]] > 0 || there[near[j] * n + near[i]] > 0;
        }
    }
    double ends = k + loop;
    return ends > 1 ? (2 * triangles + loop * k + looped) / (ends * (ends - 1)) : 0;
}

static int32_t node_number(const window *it, uint32_t id) {
    int32_t v = 0;
    while (it->node[v] != id) v++;
    return v;
}

static void edge_features(window *it, const leat_graph_options *options) {
    int32_t n = it->node_count;
    int32_t *there = calloc((size_t)n * (size_t)n, sizeof(*there));
    assert_non_null(there);
    it->edge_count = 0;
    for (int32_t i = 1; i + 1 < it->count; i++) {
        int32_t e = it->edge_count++;
        it->source[e] = node_number(it, it->id[i]);
        it->target[e] = node_number(it, it->id[i + 1]);
        there[it->source[e] * n + it->target[e]]++;
        it->x[it->source[e]][34]++;
        it->x[it->target[e]][33]++;
    }
    for (int32_t e = 0; e < it->edge_count; e++) {
        int32_t u = it->source[e], v = it->target[e];
        int32_t now = options->edge_step == LEAT_EDGE_STEP_OWN ? e + 2 : e + 1;
        it->edge_attr[e][0] = it->time[now] - it->time[now - 1];
        for (int k = 0; k < BYTES; k++) {
            it->edge_attr[e][1 + k] = abs(it->bytes[now][k] - it->bytes[now - 1][k]);
        }
        it->edge_attr[e][9] = there[v * n + u] > 0;
        it->edge_attr[e][10] = there[u * n + v];
    }
    for (int32_t v = 0; v < n; v++) {
        it->x[v][28] = clustering(there, n, v, options->self_loops == LEAT_SELF_LOOPS_COUNT);
    }
    free(there);
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void reference_make(window *it, const leat_graph_options *options) {
    memcpy(it->node, it->id, sizeof(it->node));
    qsort(it->node, (size_t)it->count, sizeof(*it->node), by_number);
    it->node_count = 1;
    for (int32_t i = 1; i < it->count; i++) {
        if (it->node[i] != it->node[i - 1]) it->node[it->node_count++] = it->node[i];
    }
    memset(it->x, 0, (size_t)it->node_count * sizeof(it->x[0]));
    for (int32_t v = 0; v < it->node_count; v++) frame_features(it, v);
    edge_features(it, options);
}

/* Differences and counts are whole numbers, the same to the bit; the rest is rounded once to f32
 * and was rounded some times as a double. */
static void expect(float got, double want, bool exact, const char *name, const char *what,
                   int row) {
    if (exact ? got == (float)want : fabs(got - want) <= 2e-7 * fmax(fabs(want), 1e-3)) return;
    fail_msg("%s: row %d: %s is %.9g, not %.9g", what, row, name, got, want);
}

void expect_reference(const window *it, const leat_graph *graph, const char *what) {
    assert_int_equal(graph->node_count, it->node_count);
    assert_int_equal(graph->edge_count, it->edge_count);
    assert_memory_equal(graph->node, it->node, (size_t)it->node_count * sizeof(*it->node));
    for (int32_t v = 0; v < it->node_count; v++) {
        for (int c = 0; c < LEAT_NODE_FEATURES; c++) {
            bool exact = c < 8 || (c >= 16 && c <= 24) || c == 28 || c == 29 || c >= 33;
            expect(graph->x[v * LEAT_NODE_FEATURES + c], it->x[v][c], exact,
                   leat_node_feature_name(c), what, v);
        }
    }
    for (int32_t e = 0; e < it->edge_count; e++) {
        assert_int_equal(graph->source[e], it->source[e]);
        assert_int_equal(graph->target[e], it->target[e]);
        for (int c = 0; c < LEAT_EDGE_FEATURES; c++) {
            expect(graph->edge_attr[e * LEAT_EDGE_FEATURES + c], it->edge_attr[e][c], true,
                   leat_edge_feature_name(c), what, e);
        }
    }
}
