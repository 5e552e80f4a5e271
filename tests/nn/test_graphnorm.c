/* GraphNorm against plain loops in double, its gradients against finite differences, and the same
 * bits for every variant, number of threads and way to cut graphs into batches. */
/* TSan: parts of a pool. */
#include "nn/ops/graphnorm.h"

#include <math.h>

#include "nn_support.h"

enum { CHANNELS = 19, STEP = 32, GRAPHS = 3 };
static const int64_t node_first[] = {0, 1, 5, 12};
enum { NODES = 12 };

typedef struct results {
    float *y, *down, *gradients; /* of weight, bias, mean_scale */
} results;

/* Parameters: weight, bias, mean_scale, one after the other. */
static results run(const leat_device *device, int64_t graphs, const int64_t *first,
                   const float *parameters, const float *x, const float *up, bool in_place) {
    const int64_t all = first[graphs] * STEP;
    results out = {nn_zeros(all), nn_zeros(all), nn_zeros(3 * CHANNELS)};
    const leat_graphnorm norm = {
        .graphs = graphs,
        .channels = CHANNELS,
        .node_first = first,
        .weight = parameters,
        .bias = parameters + CHANNELS,
        .mean_scale = parameters + 2 * CHANNELS,
        .mean = nn_zeros(graphs * STEP),
        .root = nn_zeros(graphs * STEP),
        .gradient = {out.gradients, out.gradients + CHANNELS, out.gradients + 2 * CHANNELS}};
    memcpy(out.y, x, sizeof *x * (size_t)all);
    memcpy(out.down, up, sizeof *x * (size_t)all);
    assert_ok(leat_graphnorm_forward(device, &norm, in_place ? out.y : x, out.y, err));
    assert_ok(leat_graphnorm_backward(device, &norm, x, in_place ? out.down : up, out.down, err));
    return out;
}

static void test_bits(void **state) {
    (void)state;
    const float *parameters = nn_numbers(1, 3 * CHANNELS), *x = nn_numbers(2, NODES * STEP);
    const float *up = nn_numbers(3, NODES * STEP);
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const results want = run(&scalar, GRAPHS, node_first, parameters, x, up, false);
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        const results got = run(&device, GRAPHS, node_first, parameters, x, up, i % 2 == 1);
        nn_assert_same(got.y, want.y, NODES * STEP);
        nn_assert_same(got.down, want.down, NODES * STEP);
        nn_assert_same(got.gradients, want.gradients, 3 * CHANNELS);
    }
    /* the last graph alone has the same activations */
    static const int64_t last[] = {0, 7};
    const results alone = run(&scalar, 1, last, parameters, x + 5 * STEP, up + 5 * STEP, false);
    nn_assert_same(alone.y, want.y + 5 * STEP, 7 * STEP);
    nn_assert_same(alone.down, want.down + 5 * STEP, 7 * STEP);
    nn_free_all();
}

static void norm_of(const double *p, const double *x, double *y) {
    for (int g = 0; g < GRAPHS; g++) {
        const int64_t first = node_first[g], n = node_first[g + 1] - first;
        for (int c = 0; c < CHANNELS; c++) {
            double mean = 0, squares = 0;
            for (int64_t i = first; i < first + n; i++) mean += x[i * STEP + c] / (double)n;
            for (int64_t i = first; i < first + n; i++)
                squares += pow(x[i * STEP + c] - p[2 * CHANNELS + c] * mean, 2) / (double)n;
            for (int64_t i = first; i < first + n; i++)
                y[i * STEP + c] = p[c] * (x[i * STEP + c] - p[2 * CHANNELS + c] * mean) /
                                      sqrt(squares + (double)LEAT_GRAPHNORM_EPS) +
                                  p[CHANNELS + c];
        }
    }
}

static double loss(const double *p, const double *x, const float *up) {
    double y[NODES * STEP] = {0}, sum = 0;
    norm_of(p, x, y);
    for (int i = 0; i < NODES * STEP; i++) sum += y[i] * (double)up[i];
    return sum;
}

static double slope_at(double *at, const double *p, const double *x, const float *up) {
    const double old = *at, step = 1e-5;
    *at = old + step;
    const double above = loss(p, x, up);
    *at = old - step;
    const double below = loss(p, x, up);
    *at = old;
    return (above - below) / (2 * step);
}

/* A graph of one node has no spread unless mean_scale leaves some of it: there gradients are those
 * of a root that is not small, because mean_scale is about 0.6. */
static void test_differences(void **state) {
    (void)state;
    float *parameters = nn_numbers(1, 3 * CHANNELS);
    for (int c = 0; c < CHANNELS; c++)
        parameters[2 * CHANNELS + c] = 0.6f + 0.1f * parameters[2 * CHANNELS + c];
    float *x = nn_numbers(2, NODES * STEP);
    for (int i = 0; i < NODES * STEP; i++)
        if (fabsf(x[i]) < 0.3f) x[i] = 0.3f;
    float *up = nn_numbers(3, NODES * STEP);
    for (int i = 0; i < NODES * STEP; i++)
        if (i % STEP >= CHANNELS) up[i] = 0;
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const results got = run(&scalar, GRAPHS, node_first, parameters, x, up, false);
    double p[3 * CHANNELS], in[NODES * STEP], y[NODES * STEP] = {0}, want[NODES * STEP] = {0};
    for (int i = 0; i < 3 * CHANNELS; i++) p[i] = (double)parameters[i];
    for (int i = 0; i < NODES * STEP; i++) in[i] = (double)x[i];
    norm_of(p, in, y);
    for (int i = 0; i < NODES; i++) nn_assert_close(got.y + i * STEP, y + i * STEP, CHANNELS, 2e-6);
    for (int i = 0; i < NODES * STEP; i++)
        if (i % STEP < CHANNELS) want[i] = slope_at(&in[i], p, in, up);
    nn_assert_close(got.down, want, NODES * STEP, 1e-5);
    for (int i = 0; i < 3 * CHANNELS; i++) want[i] = slope_at(&p[i], p, in, up);
    nn_assert_close(got.gradients, want, 3 * CHANNELS, 1e-5);
    nn_free_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_differences),
    };
    return cmocka_run_group_tests_name("GraphNorm", tests, NULL, NULL);
}
