/* Sorted numbers and medians, with NaNs among them. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/sort.h"
#include "check.h"

static void sorted(void **state) {
    double values[] = {3, NAN, -INFINITY, 1, INFINITY, NAN, -2, 1, 1e-300};
    static const double wanted[] = {-INFINITY, -2, 1e-300, 1, 1, 3, INFINITY};
    (void)state;
    leat_sort_doubles(values, 9);
    for (int i = 0; i < 7; i++) assert_true(values[i] == wanted[i]);
    assert_true(isnan(values[7]) && isnan(values[8]));
    leat_sort_doubles(NULL, 0);
}

/* Whatever their order was. */
static void zeros(void **state) {
    (void)state;
    for (int k = 0; k < 16; k++) {
        double values[4];
        int negative = 0;
        for (int i = 0; i < 4; i++) {
            values[i] = (k >> i & 1) != 0 ? -0.0 : 0.0;
            negative += k >> i & 1;
        }
        leat_sort_doubles(values, 4);
        for (int i = 0; i < 4; i++) assert_int_equal(signbit(values[i]) != 0, i < negative);
        assert_int_equal(signbit(leat_median(values, 3)) != 0, negative >= 2);
    }
}

/* NaNs anywhere; every one of the order's places is checked. */
static void many(void **state) {
    enum { COUNT = 500 };
    double values[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        const uint64_t bits = leat_random(4, 0, (uint64_t)i);
        values[i] = bits % 5 == 0 ? (double)NAN : leat_random_unit(bits) - 0.5;
    }
    leat_sort_doubles(values, COUNT);
    int numbers = 0;
    while (numbers < COUNT && !isnan(values[numbers])) numbers++;
    assert_in_range(numbers, COUNT / 2, COUNT - 1);
    for (int i = 1; i < numbers; i++) assert_true(values[i - 1] <= values[i]);
    for (int i = numbers; i < COUNT; i++) assert_true(isnan(values[i]));
}

static void medians(void **state) {
    static const struct {
        double values[5];
        int64_t count;
        double median;
    } cases[] = {
        {{7}, 1, 7},
        {{7, 1}, 2, 4},
        {{7, 1, 2}, 3, 2},
        {{7, 1, 2, 4}, 4, 3},
        {{1e308, NAN, 1.5e308}, 3, 1.25e308},
        {{NAN, 5, NAN, 4, 9}, 5, 5},
        {{0.1, 0.1, 0.1}, 3, 0.1},
        {{-INFINITY, 2, INFINITY}, 3, 2},
    };
    double nans[] = {NAN, NAN};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double values[5];
        memcpy(values, cases[i].values, sizeof values);
        assert_true(leat_median(values, cases[i].count) == cases[i].median);
    }
    assert_true(isnan(leat_median(nans, 2)));
    assert_true(isnan(leat_median(NULL, 0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorted), cmocka_unit_test(zeros),
                                       cmocka_unit_test(many), cmocka_unit_test(medians)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
