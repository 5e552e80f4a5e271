/*
 * Matrix products in every form against plain loops, bit for bit, with every edge of the tiles; and
 * against PyTorch (golden/nn).
 */
/* TSan: parts of a product on a pool. */
#include "nn/ops/product.h"

#include <math.h>
#include <stdio.h>

#include "nn_support.h"

static void multiply(const leat_product *p, float *c) {
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->columns; j++) {
            float sum = p->add ? p->c[i * p->c_step + j] : 0;
            for (int64_t k = 0; k < p->depth; k++)
                sum =
                    fmaf(p->a_transposed ? p->a[k * p->a_step + i] : p->a[i * p->a_step + k],
                         p->b_transposed ? p->b[j * p->b_step + k] : p->b[k * p->b_step + j], sum);
            if (p->bias != NULL) sum += p->bias[j];
            if (p->act == LEAT_ACT_LEAKY) sum = sum > 0 ? sum : sum * p->slope;
            if (p->act == LEAT_ACT_FUNCTION) leat_kernels_scalar.map(p->function, 1, &sum, &sum);
            c[i * p->c_step + j] = sum;
        }
}

static void run(const leat_device *device, const leat_product *p) {
    float *work = nn_zeros(leat_product_work_count(device, p));
    assert_ok(leat_product_run(device, p, work, err));
}

/* One shape in all forms; what lies around c must stay. */
static void check_shape(int64_t m, int64_t n, int64_t k, int all) {
    for (int form = 0; form < (all ? 8 : 1); form++) {
        leat_product p = {.rows = m,
                          .columns = n,
                          .depth = k,
                          .a_transposed = form & 1,
                          .b_transposed = form & 2,
                          .add = form & 4,
                          .c_step = n + 3};
        p.a_step = (p.a_transposed ? m : k) + 1;
        p.b_step = (p.b_transposed ? k : n) + 2;
        p.a = nn_numbers(1, p.a_step * (p.a_transposed ? k : m));
        p.b = nn_numbers(2, p.b_step * (p.b_transposed ? n : k));
        if (form >= 4) p.bias = nn_numbers(4, n);
        p.act = form == 5 ? LEAT_ACT_LEAKY : form == 6 ? LEAT_ACT_FUNCTION : LEAT_ACT_NONE;
        p.slope = 0.2f;
        p.function = LEAT_FUNCTION_TANH;
        const int64_t size = m * p.c_step;
        float *start = nn_numbers(3, size), *want = nn_numbers(3, size);
        p.c = start;
        multiply(&p, want);
        leat_device device;
        for (int i = 0; nn_variant(i, true, &device); i++) {
            p.c = nn_numbers(3, size);
            run(&device, &p);
            nn_assert_same(p.c, want, size);
        }
        nn_free_all();
    }
}

static void test_edges(void **state) {
    (void)state;
    static const int64_t rows[] = {0, 1, 3, 5, 6, 7, 13, 14, 15, 29};
    static const int64_t columns[] = {0, 1, 15, 16, 17, 31, 32, 33, 67};
    static const int64_t depths[] = {0, 1, 2, 17};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++)
            for (size_t l = 0; l < sizeof depths / sizeof *depths; l++)
                check_shape(rows[i], columns[j], depths[l], (i + j + l) % 3 == 0);
}

/* More than one part and more than one step of k. */
static void test_large(void **state) {
    (void)state;
    check_shape(131, 300, 37, 1);
    check_shape(20, 40, 513, 1);
    check_shape(250, 17, 256, 1);
    check_shape(1, 520, 257, 1);
    check_shape(9, 600, 40, 1);   /* too many columns to read a in place */
    check_shape(1025, 17, 5, 1);  /* too many rows to read b in place */
    check_shape(257, 1022, 2, 0); /* and with rows of b at steps of 1024 */
    check_shape(3, 5, 1023, 1);   /* rows of a at steps of 1024 */
    check_shape(1023, 3, 2, 1);
}

/* Rows of b and c with NaN after their columns, which shows nowhere else. */
static void check_padded(int64_t m, int64_t n, int64_t k, bool add) {
    const int64_t step = leat_lanes(n);
    leat_product p = {.rows = m,
                      .columns = n,
                      .depth = k,
                      .a = nn_numbers(1, m * k),
                      .a_step = k,
                      .b_step = step,
                      .c_step = step,
                      .bias = nn_numbers(4, n),
                      .act = LEAT_ACT_LEAKY,
                      .slope = 0.2f,
                      .add = add};
    float *b = nn_numbers(2, k * step), *want = nn_numbers(3, m * step);
    for (int64_t i = 0; i < k * step; i++)
        if (i % step >= n) b[i] = NAN;
    p.b = b;
    p.c = want;
    multiply(&p, want);
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        for (int padded = 1; padded < 4; padded++) {
            p.b_padded = padded & 1;
            p.c_padded = padded & 2;
            p.c = nn_numbers(3, m * step);
            for (int64_t at = 0; at < m * step; at++)
                if (at % step >= n) p.c[at] = NAN;
            run(&device, &p);
            for (int64_t row = 0; row < m; row++)
                nn_assert_same(p.c + row * step, want + row * step, n);
        }
    }
    nn_free_all();
}

static void test_padded(void **state) {
    (void)state;
    check_padded(1, 1, 1, false);
    check_padded(15, 35, 9, true);
    check_padded(29, 67, 260, true);
    check_padded(1030, 11, 3, false);
}

static void check_golden(const char *name, int64_t m, int64_t n, int64_t k, bool linear) {
    char file[128];
    snprintf(file, sizeof file, "ops/%s.safetensors", name);
    nn_golden *golden = nn_golden_open(file);
    int64_t count;
    const float *a = nn_golden_floats(golden, linear ? "in.x" : "in.a", &count);
    const float *b = nn_golden_floats(golden, linear ? "in.w" : "in.b", &count);
    const float *up = nn_golden_floats(golden, "up.y", &count);
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        float *y = nn_zeros(m * n), *da = nn_zeros(m * k), *db = nn_zeros(n * k);
        run(&device, &(leat_product){.rows = m,
                                     .columns = n,
                                     .depth = k,
                                     .a = a,
                                     .a_step = k,
                                     .b = b,
                                     .b_step = linear ? k : n,
                                     .b_transposed = linear,
                                     .c = y,
                                     .c_step = n});
        run(&device, &(leat_product){.rows = m,
                                     .columns = k,
                                     .depth = n,
                                     .a = up,
                                     .a_step = n,
                                     .b = b,
                                     .b_step = linear ? k : n,
                                     .b_transposed = !linear,
                                     .c = da,
                                     .c_step = k});
        run(&device, &(leat_product){.rows = linear ? n : k,
                                     .columns = linear ? k : n,
                                     .depth = m,
                                     .a = linear ? up : a,
                                     .a_step = linear ? n : k,
                                     .a_transposed = true,
                                     .b = linear ? a : up,
                                     .b_step = linear ? k : n,
                                     .c = db,
                                     .c_step = linear ? k : n});
        nn_assert_golden(y, golden, "out.y.f64", 2e-6);
        nn_assert_golden(da, golden, linear ? "grad.x.f64" : "grad.a.f64", 2e-6);
        nn_assert_golden(db, golden, linear ? "grad.w.f64" : "grad.b.f64", 2e-6);
    }
    nn_golden_close(golden);
    nn_free_all();
}

static void test_golden(void **state) {
    (void)state;
    check_golden("matmul.1x1x1", 1, 1, 1, false);
    check_golden("matmul.1x7x3", 1, 7, 3, false);
    check_golden("matmul.13x31x64", 13, 31, 64, false);
    check_golden("matmul.14x32x48", 14, 32, 48, false);
    check_golden("matmul.1x267x64", 1, 267, 64, false);
    check_golden("matmul.33x65x129", 33, 65, 129, false);
    check_golden("matmul.37x1x29", 37, 1, 29, false);
    check_golden("matmul.6x16x8", 6, 16, 8, false);
    check_golden("matmul.7x17x33", 7, 17, 33, false);
    check_golden("linear.5x64x176", 5, 176, 64, true);
}

static void test_refused(void **state) {
    (void)state;
    const leat_device device = {.kernels = &leat_kernels_scalar};
    leat_product p = {.rows = 2, .columns = 3, .depth = 4, .a_step = 3, .b_step = 3, .c_step = 3};
    assert_fails(leat_product_run(&device, &p, NULL, err), LEAT_ERR_OPTION, "2 x 4 by 4 x 3");
    p.a_step = 4;
    p.rows = INT64_MAX / 2;
    assert_fails(leat_product_run(&device, &p, NULL, err), LEAT_ERR_OPTION, "2^40 values");
    assert_int_equal(leat_product_work_count(&device, &p), -1);
    p.rows = -1;
    assert_fails(leat_product_run(&device, &p, NULL, err), LEAT_ERR_OPTION, "-1 x 4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),   cmocka_unit_test(test_large),
        cmocka_unit_test(test_padded),  cmocka_unit_test(test_golden),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("products", tests, NULL, NULL);
}
