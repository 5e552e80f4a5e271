/* The suite "rows" of the kernels, as test_suite.c: every variant that runs here, the hash, and
 * kernels that are wrong on purpose. */
#include "suite_frame.h"

/* Of every variant on every machine: a part of the kernel class of models that compute with rows.
 */
#define SUITE_HASH UINT64_C(0x801e67b477874da8)
static const tested_suite suite = {LEAT_SUITE_ROWS, SUITE_HASH, leat_rows_check};

static void every_variant(void **state) {
    (void)state;
    suite_every_variant(&suite);
}

static void known_by_name(void **state) {
    (void)state;
    suite_is_known(&suite);
}

static void class_of_two(void **state) {
    static const char *const both[] = {LEAT_SUITE_CORE, LEAT_SUITE_ROWS, NULL};
    static const char *const rows[] = {LEAT_SUITE_ROWS, NULL};
    char class[LEAT_KERNEL_CLASS_BYTES], one[LEAT_KERNEL_CLASS_BYTES];
    (void)state;
    assert_ok(leat_kernel_class(both, NULL, class, err));
    assert_ok(leat_kernel_class(rows, NULL, one, err));
    assert_string_not_equal(class, one);
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

/* Takes 0 as above 0. */
static void relu_back_at_0(float scale, int64_t count, const float *y, const float *up,
                           float *down) {
    for (int64_t i = 0; i < count; i++) down[i] = y[i] >= 0 ? up[i] * scale : 0;
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
    suite_canary wrong[] = {
        {leat_kernels_scalar, "sums of rows: 2 rows"},
        {leat_kernels_scalar, "product of rows: "},
        {leat_kernels_scalar, "normalisation of a graph: 1 rows"},
        {leat_kernels_scalar, "its gradient: 1 rows"},
        {leat_kernels_scalar, "step of an LSTM: 16 values: result"},
        {leat_kernels_scalar, "its gradient: 16 values, first step"},
        {leat_kernels_scalar, "dropout: "},
        {leat_kernels_scalar, "exponentials of a row: "},
        {leat_kernels_scalar, "shares of a row: "},
        {leat_kernels_scalar, "end of a product: "},
        {leat_kernels_scalar, "latent vector: "},
        {leat_kernels_scalar, "its gradient: "},
        {leat_kernels_scalar, "gradient of ReLU and dropout: "},
    };
    wrong[0].kernels.row_sums = sums_apart;
    wrong[1].kernels.row_dot = dot_in_order;
    wrong[2].kernels.graph_norm = norm_of_inverse;
    wrong[3].kernels.graph_norm_back = norm_back_short;
    wrong[4].kernels.lstm = lstm_forgetting;
    wrong[5].kernels.lstm_back = lstm_back_without;
    wrong[6].kernels.dropout = dropout_late;
    wrong[7].kernels.row_exp = exp_of_itself;
    wrong[8].kernels.row_scale = scale_once;
    wrong[9].kernels.row_finish = finish_late;
    wrong[10].kernels.latent = latent_short;
    wrong[11].kernels.latent_back = latent_back_wide;
    wrong[12].kernels.relu_back = relu_back_at_0;
    suite_catches(&suite, wrong, sizeof wrong / sizeof *wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant),
        cmocka_unit_test(known_by_name),
        cmocka_unit_test(class_of_two),
        cmocka_unit_test(wrong_kernels_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
