/*
 * Edge lists, embeddings and GATv2: against plain loops, against PyTorch Geometric (golden/can),
 * gradients against finite differences in double, and the same bits for every variant of the
 * kernels and number of threads.
 */
/* TSan: parts of nodes and heads on a pool. */
#include "nn/ops/gatv2.h"

#include <math.h>
#include <stdio.h>

#include "graphs.h"
#include "nn/ops/embedding.h"

/* ---- Edges ---------------------------------------------------------------------------------- */

/* The rules of the header, the slow way: for each node all edges to it, then its self-loop. */
static void check_edges(const leat_graph_micro *batch) {
    const leat_graph_edges edges = nn_graph_edges(batch);
    int64_t at = 0;
    for (int32_t node = 0; node < batch->nodes; node++) {
        float mean[LEAT_EDGE_STEP] = {0};
        assert_int_equal(edges.target_first[node], at);
        for (int64_t e = 0; e < batch->edges; e++) {
            if (batch->target[e] != node || batch->source[e] == node) continue;
            const float *row = batch->edge_attr + e * LEAT_MICRO_EDGE_FEATURES;
            assert_int_equal(edges.source[at], batch->source[e]);
            assert_int_equal(edges.target[at], node);
            nn_assert_same(edges.features + at * LEAT_EDGE_STEP, row, LEAT_MICRO_EDGE_FEATURES);
            for (int f = 0; f < LEAT_MICRO_EDGE_FEATURES; f++) mean[f] += row[f];
            at++;
        }
        const int64_t count = at - edges.target_first[node];
        for (int f = 0; f < LEAT_MICRO_EDGE_FEATURES && count > 0; f++) mean[f] /= (float)count;
        assert_int_equal(edges.source[at], node);
        assert_int_equal(edges.target[at], node);
        nn_assert_same(edges.features + at * LEAT_EDGE_STEP, mean, LEAT_EDGE_STEP);
        at++;
    }
    assert_int_equal(edges.count, at);
    int64_t place = 0;
    for (int32_t node = 0; node < batch->nodes; node++) {
        assert_int_equal(edges.source_first[node], place);
        for (int64_t k = 0; k < edges.count; k++)
            if (edges.source[k] == node) assert_int_equal(edges.place[place++], k);
    }
    assert_int_equal(edges.source_first[batch->nodes], place);
}

static void test_edges(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const leat_graph_micro batch = nn_graphs(seed, 12, 9, 5);
        check_edges(&batch);
        nn_free_all();
    }
    const leat_graph_micro alone = nn_graphs(4, 1, 1, 1); /* one node, no edge */
    check_edges(&alone);
    assert_int_equal(nn_graph_edges(&alone).count, 1);
    const leat_graph_micro loops = nn_graphs(4, 2, 1, 1); /* and one with self-loops only */
    assert_true(loops.edges > 0);
    assert_int_equal(nn_graph_edges(&loops).count, 2);
    nn_free_all();
}

/* ---- Embedding ------------------------------------------------------------------------------ */

enum { ROWS = 300, IDS = 70, WIDTH = 5, FEATURES = 35 };

static void test_embedding(void **state) {
    (void)state;
    const int64_t step = leat_lanes(WIDTH + FEATURES);
    const float *table = nn_numbers(1, IDS * WIDTH), *x = nn_numbers(2, ROWS * FEATURES);
    const float *up = nn_to_rows(nn_numbers(3, ROWS * (WIDTH + FEATURES)), ROWS, WIDTH + FEATURES);
    const float *before = nn_numbers(4, IDS * WIDTH);
    int32_t *id = nn_ints(ROWS), *work = nn_ints(leat_embedding_work_count(ROWS, IDS));
    uint8_t mask[ROWS];
    float want[IDS * WIDTH], got[IDS * WIDTH], *out = nn_zeros(ROWS * step);
    for (int i = 0; i < ROWS; i++) id[i] = i % 3 == 0 ? IDS - 1 : i * 7 % IDS;
    for (int i = 0; i < ROWS; i++) mask[i] = i % 5 == 0;
    memcpy(want, before, sizeof want);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < WIDTH; c++) want[id[i] * WIDTH + c] += up[i * step + c];
    const leat_embedding of = {ROWS, IDS, WIDTH, FEATURES, id, table};
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        assert_ok(leat_embedding_forward(&device, &of, x, mask, out, err));
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < step; c++) {
                const float *row = x + (ptrdiff_t)r * FEATURES;
                const float value = c < WIDTH              ? table[id[r] * WIDTH + c]
                                    : c < WIDTH + FEATURES ? (mask[r] ? 0 : row[c - WIDTH])
                                                           : 0;
                nn_assert_same(&out[r * step + c], &value, 1);
            }
        memcpy(got, before, sizeof got);
        assert_ok(leat_embedding_backward(&device, &of, up, got, work, err));
        nn_assert_same(got, want, IDS * WIDTH);
    }
    nn_free_all();
}

/* ---- GATv2 ---------------------------------------------------------------------------------- */

/* A layer whose arrays are one block: parameters in the order of leat_gatv2_gradient, then x. */
typedef struct net {
    leat_gatv2 layer;
    int64_t nodes, count, x_at; /* of the block */
    int64_t at[8];              /* att, bias, left, right, their biases, edge; end */
} net;

static net net_of(int in, int heads, int width, int64_t nodes) {
    net of = {.layer = {.in = in, .heads = heads, .width = width}, .nodes = nodes};
    const int64_t out = heads * width;
    const int64_t counts[] = {
        out, out, out * in, out * in, out, out, out * LEAT_MICRO_EDGE_FEATURES};
    for (int i = 0; i < 7; i++) of.at[i + 1] = of.at[i] + counts[i];
    of.x_at = of.at[7];
    of.count = of.x_at + nodes * in;
    return of;
}

static void put_params(net *of, const float *block) {
    of->layer.att = block + of->at[0];
    of->layer.bias = block + of->at[1];
    of->layer.left = block + of->at[2];
    of->layer.right = block + of->at[3];
    of->layer.left_bias = block + of->at[4];
    of->layer.right_bias = block + of->at[5];
    of->layer.edge = block + of->at[6];
}

typedef struct results {
    float *y, *alpha, *gradient; /* gradient: of the whole block */
} results;

static results run(const leat_device *device, net *of, const leat_graph_edges *edges,
                   const float *block, const float *up) {
    const leat_gatv2 *layer = &of->layer;
    const int64_t out = layer->heads * layer->width, step = leat_lanes(out);
    put_params(of, block);
    results r = {.alpha = nn_zeros(edges->count * layer->heads), .gradient = nn_zeros(of->count)};
    const leat_gatv2_kept kept = {nn_zeros(of->nodes * step), nn_zeros(of->nodes * step), r.alpha};
    float *work = nn_zeros(leat_gatv2_work_count(device, layer, of->nodes, edges->count));
    float *y = nn_zeros(of->nodes * step), *down = nn_zeros(of->nodes * leat_lanes(layer->in));
    const float *x = nn_to_rows(block + of->x_at, of->nodes, layer->in);
    const leat_gatv2_flow flow = {x, &kept, nn_to_rows(up, of->nodes, out), down};
    of->layer.work = work;
    assert_ok(leat_gatv2_forward(device, layer, edges, &flow, y, err));
    for (int64_t i = 0; i < of->nodes * step; i++)
        if (i % step >= out) assert_true(y[i] == 0);
    float *g = r.gradient;
    const leat_gatv2_gradient to = {g + of->at[0], g + of->at[1], g + of->at[2], g + of->at[3],
                                    g + of->at[4], g + of->at[5], g + of->at[6]};
    assert_ok(leat_gatv2_backward(device, layer, edges, &flow, &to, err));
    memcpy(g + of->x_at, nn_from_rows(down, of->nodes, layer->in),
           sizeof *g * (size_t)(of->nodes * layer->in));
    r.y = nn_from_rows(y, of->nodes, out);
    return r;
}

static const struct {
    int in, heads, width;
} shapes[] = {{67, 4, 16}, {64, 1, 35}, {51, 4, 24}, {9, 8, 64}, {1, 3, 1}};

static void test_bits(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const leat_graph_micro batch = nn_graphs(20 + s, 30, 9, 5);
        const leat_graph_edges edges = nn_graph_edges(&batch);
        net of = net_of(shapes[s].in, shapes[s].heads, shapes[s].width, batch.nodes);
        const int64_t out = of.nodes * shapes[s].heads * shapes[s].width;
        const float *block = nn_numbers(30 + s, of.count), *up = nn_numbers(40 + s, out);
        leat_device device;
        results first = {0};
        for (int i = 0; nn_variant(i, true, &device); i++) {
            const results r = run(&device, &of, &edges, block, up);
            if (i == 0) first = r;
            nn_assert_same(r.y, first.y, out);
            nn_assert_same(r.alpha, first.alpha, edges.count * shapes[s].heads);
            nn_assert_same(r.gradient, first.gradient, of.count);
        }
        nn_free_all();
    }
}

/* Sum of y * up, in double. */
static double loss(const net *of, const leat_graph_edges *edges, const double *block,
                   const float *up) {
    const leat_gatv2 *layer = &of->layer;
    const int64_t in = layer->in, width = layer->width, out = layer->heads * width;
    double sum = 0, left[64 * 16], right[64 * 16];
    assert_true(of->nodes <= 64 && out <= 16);
    for (int64_t i = 0; i < of->nodes * out; i++) {
        const double *x = block + of->x_at + i / out * in;
        left[i] = block[of->at[4] + i % out];
        right[i] = block[of->at[5] + i % out];
        for (int64_t k = 0; k < in; k++) {
            left[i] += x[k] * block[of->at[2] + i % out * in + k];
            right[i] += x[k] * block[of->at[3] + i % out * in + k];
        }
    }
    for (int64_t node = 0; node < of->nodes; node++) {
        for (int64_t h = 0; h < layer->heads; h++) {
            double total = 1e-16, weighted = 0;
            for (int64_t k = edges->target_first[node]; k < edges->target_first[node + 1]; k++) {
                double score = 0, value = 0;
                for (int64_t c = h * width; c < (h + 1) * width; c++) {
                    double m = left[edges->source[k] * out + c] + right[node * out + c];
                    for (int f = 0; f < LEAT_MICRO_EDGE_FEATURES; f++)
                        m += (double)edges->features[k * LEAT_EDGE_STEP + f] *
                             block[of->at[6] + c * LEAT_MICRO_EDGE_FEATURES + f];
                    score += (m > 0 ? m : 0.2 * m) * block[of->at[0] + c];
                    value += left[edges->source[k] * out + c] * (double)up[node * out + c];
                }
                total += exp(score);
                weighted += exp(score) * value;
            }
            sum += weighted / total;
        }
        for (int64_t c = 0; c < out; c++) sum += block[of->at[1] + c] * (double)up[node * out + c];
    }
    return sum;
}

static void test_differences(void **state) {
    (void)state;
    const leat_graph_micro batch = nn_graphs(7, 5, 5, 5);
    const leat_graph_edges edges = nn_graph_edges(&batch);
    net of = net_of(3, 2, 3, batch.nodes);
    float *block = nn_numbers(8, of.count);
    const float *up = nn_numbers(9, of.nodes * 6);
    double *values = (double *)nn_zeros(2 * of.count), *want = (double *)nn_zeros(2 * of.count);
    for (int64_t i = 0; i < of.count; i++) values[i] = block[i];
    for (int64_t i = 0; i < of.count; i++) {
        const double step = 1e-5, old = values[i];
        values[i] = old + step;
        const double above = loss(&of, &edges, values, up);
        values[i] = old - step;
        want[i] = (above - loss(&of, &edges, values, up)) / (2 * step);
        values[i] = old;
    }
    leat_device device;
    assert_true(nn_variant(0, false, &device));
    const results r = run(&device, &of, &edges, block, up);
    for (int i = 0; i < 8; i++) {
        const int64_t at = of.at[i], end = i < 7 ? of.at[i + 1] : of.count;
        nn_assert_close(r.gradient + at, want + at, end - at, 2e-5);
    }
    nn_free_all();
}

/* ---- PyTorch Geometric ---------------------------------------------------------------------- */

static void take(nn_golden *golden, const char *layer, const char *name, float *to, int64_t count) {
    char full[128];
    int64_t n;
    snprintf(full, sizeof full, "w/%s.%s", layer, name);
    memcpy(to, nn_golden_floats(golden, full, &n), sizeof *to * (size_t)count);
    assert_int_equal(n, count);
}

static void check_layer(nn_golden *golden, const leat_graph_edges *edges, net *of,
                        const char *layer, const char *input) {
    static const char *const names[] = {
        "att",        "bias",       "lin_l.weight",   "lin_r.weight",
        "lin_l.bias", "lin_r.bias", "lin_edge.weight"};
    int64_t n;
    char name[128];
    float *block = nn_zeros(of->count);
    for (int i = 0; i < 7; i++)
        take(golden, layer, names[i], block + of->at[i], of->at[i + 1] - of->at[i]);
    memcpy(block + of->x_at, nn_golden_floats(golden, input, &n),
           sizeof *block * (size_t)(of->nodes * of->layer.in));
    const int64_t heads = of->layer.heads;
    leat_device device;
    assert_true(nn_variant(0, false, &device));
    const results r =
        run(&device, of, edges, block, nn_numbers(1, of->nodes * heads * of->layer.width));
    snprintf(name, sizeof name, "act/out/%s", layer);
    nn_assert_golden(r.y, golden, name, 3e-6);
    /* its edges are in another order, but those of a target are in ours */
    snprintf(name, sizeof name, "act/out/%s.alpha", layer);
    const double *alpha = nn_golden_doubles(golden, name, &n);
    const double *index = nn_golden_doubles(golden, "act/out/encoder_layers.0.edge_index_used", &n);
    int32_t *next = nn_ints(edges->nodes);
    assert_int_equal(n, 2 * edges->count);
    for (int64_t e = 0; e < edges->count; e++) {
        const int32_t target = (int32_t)index[edges->count + e];
        const int64_t at = edges->target_first[target] + next[target]++;
        assert_int_equal(edges->source[at], (int32_t)index[e]);
        nn_assert_close(r.alpha + at * heads, alpha + e * heads, heads, 2e-5);
    }
}

static void test_golden(void **state) {
    (void)state;
    nn_golden *golden = nn_golden_open_path(golden_left_out("golden/can/vgae_ref.safetensors"));
    const leat_graph_micro batch = nn_golden_graphs(golden);
    const leat_graph_edges edges = nn_graph_edges(&batch);
    net encoder = net_of(67, 4, 16, batch.nodes), decoder = net_of(64, 1, 35, batch.nodes);
    check_layer(golden, &edges, &encoder, "encoder_layers.0", "act/out/input_encoder");
    check_layer(golden, &edges, &decoder, "decoder_layers.0", "act/in/decoder_layers.0");
    nn_golden_close(golden);
    nn_free_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),  cmocka_unit_test(test_embedding),
        cmocka_unit_test(test_bits),   cmocka_unit_test(test_differences),
        cmocka_unit_test(test_golden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
