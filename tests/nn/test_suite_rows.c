/* The suite "rows" of the kernels, as test_suite.c: every variant that runs here, the hash, and
 * kernels that are wrong on purpose. */
#include <inttypes.h>
#include <stdio.h>

#include "check.h"
#include "nn/kernel_suites.h"
#include "nn/kernels/suite.h"

/* Of every variant on every machine: a part of the kernel class of models that compute with rows.
 */
#define SUITE_HASH UINT64_C(0xb7db8084351ff320)

static void every_variant(void **state) {
    (void)state;
    const leat_kernels *kernels;
    for (int i = 0; (kernels = leat_kernels_at(i)) != NULL; i++) {
        if (!leat_kernels_supported(kernels)) continue; /* test_suite.c tells */
        char message[300];
        if (!leat_rows_check(kernels, message, sizeof message)) fail_msg("%s", message);
        const uint64_t hash = leat_rows_hash(kernels);
        if (hash != SUITE_HASH) fail_msg("%s: the hash is %016" PRIx64, kernels->name, hash);
    }
}

static void class_of_two(void **state) {
    static const char *const both[] = {LEAT_SUITE_CORE, LEAT_SUITE_ROWS, NULL};
    static const char *const rows[] = {LEAT_SUITE_ROWS, NULL};
    char class[LEAT_KERNEL_CLASS_BYTES], one[LEAT_KERNEL_CLASS_BYTES];
    (void)state;
    assert_ok(leat_kernel_class(both, NULL, class, err));
    assert_ok(leat_kernel_class(rows, NULL, one, err));
    assert_string_not_equal(class, one);
    assert_fails(leat_kernel_class(rows, "none", class, err), LEAT_ERR_OPTION, "\"none\"");
}

/* Adds the rows to each other first. */
static void sums_apart(int64_t rows, int64_t step, const float *x, float *sums) {
    float own[LEAT_LANES] = {0};
    leat_kernels_scalar.row_sums(rows, step, x, own);
    for (int i = 0; i < LEAT_LANES; i++) sums[i] += own[i];
}

/* One chain over the columns. */
static float dot_in_order(int64_t columns, const float *a, const float *b) {
    float sum = 0;
    for (int64_t c = 0; c < columns; c++) sum += a[c] * b[c];
    return sum;
}

/* Draws the element after each. */
static void dropout_late(const leat_dropout *of, uint64_t first, int64_t count, const float *x,
                         float *y) {
    leat_kernels_scalar.dropout(of, first + 1, count, x, y);
}

/* Leaves the largest value in. */
static float exp_of_itself(int64_t count, float *x, float *most) {
    float sum = 0;
    *most = 0;
    leat_kernels_scalar.map(LEAT_FUNCTION_EXP, count, x, x);
    for (int64_t i = 0; i < count; i++) sum += x[i];
    return sum;
}

/* Multiplies by factor / divisor. */
static void scale_once(int64_t count, float divisor, float factor, float *x) {
    for (int64_t i = 0; i < count; i++) x[i] *= factor / divisor;
}

/* The bias after the activation. */
static void finish_late(const leat_finish *of, int64_t rows, int64_t columns, int64_t step,
                        float *c) {
    const leat_finish first = {NULL, of->slope}, then = {of->bias, 1};
    leat_kernels_scalar.row_finish(&first, rows, columns, step, c);
    leat_kernels_scalar.row_finish(&then, rows, columns, step, c);
}

/* Leaves the divergence's terms out. */
static void latent_short(const leat_latent_values *of, int64_t count, float *z, float *terms) {
    (void)terms;
    float none[64];
    leat_kernels_scalar.latent(of, count, z, none);
}

/* Does not limit logvar. */
static void latent_back_wide(const leat_latent_values *of, int64_t count, const float *up,
                             float *down_mu, float *down_logvar) {
    leat_latent_values wide = *of;
    wide.most = 100;
    leat_kernels_scalar.latent_back(&wide, count, up, down_mu, down_logvar);
}

/* Multiplies by 1 / root. */
static void norm_of_inverse(const leat_graph_norm *norm, int64_t rows, int64_t step, const float *x,
                            float *y) {
    for (int64_t i = 0; i < rows; i++)
        for (int c = 0; c < LEAT_LANES; c++)
            y[i * step + c] = (x[i * step + c] - norm->mean_scale[c] * norm->mean[c]) *
                                  (1 / norm->root[c]) * norm->weight[c] +
                              norm->bias[c];
}

/* Leaves out that the mean depends on x. */
static void norm_back_short(const leat_graph_norm *norm, int64_t rows, int64_t step, const float *x,
                            const float *up, float *down) {
    static const float none[LEAT_LANES];
    leat_graph_norm wrong = *norm;
    wrong.mean_scale = none;
    leat_kernels_scalar.graph_norm_back(&wrong, rows, step, x, up, down);
}

/* Takes the cell of the step before as 0. */
static void lstm_forgetting(int64_t hidden, float *gates, const float *before, float *cell,
                            float *out) {
    (void)before;
    leat_kernels_scalar.lstm(hidden, gates, NULL, cell, out);
}

/* Leaves the carry as it is. */
static void lstm_back_without(int64_t hidden, float *gates, const float *before, const float *cell,
                              const float *up, float *carry) {
    float other[4 * LEAT_LANES];
    for (int64_t c = 0; c < hidden; c++) other[c] = carry[c];
    leat_kernels_scalar.lstm_back(hidden, gates, before, cell, up, other);
}

static void wrong_kernels_are_caught(void **state) {
    (void)state;
    leat_kernels wrong[12];
    static const char *const words[] = {"sums of rows: 2 rows",
                                        "product of rows: ",
                                        "normalisation of a graph: 1 rows",
                                        "its gradient: 1 rows",
                                        "step of an LSTM: 16 values: result",
                                        "its gradient: 16 values, first step",
                                        "dropout: ",
                                        "exponentials of a row: ",
                                        "shares of a row: ",
                                        "end of a product: ",
                                        "latent vector: ",
                                        "its gradient: "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) wrong[i] = leat_kernels_scalar;
    wrong[0].row_sums = sums_apart;
    wrong[1].row_dot = dot_in_order;
    wrong[2].graph_norm = norm_of_inverse;
    wrong[3].graph_norm_back = norm_back_short;
    wrong[4].lstm = lstm_forgetting;
    wrong[5].lstm_back = lstm_back_without;
    wrong[6].dropout = dropout_late;
    wrong[7].row_exp = exp_of_itself;
    wrong[8].row_scale = scale_once;
    wrong[9].row_finish = finish_late;
    wrong[10].latent = latent_short;
    wrong[11].latent_back = latent_back_wide;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[300];
        assert_false(leat_rows_check(&wrong[i], message, sizeof message));
        if (strstr(message, words[i]) == NULL) fail_msg("canary %zu: %s", i, message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant),
        cmocka_unit_test(class_of_two),
        cmocka_unit_test(wrong_kernels_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
