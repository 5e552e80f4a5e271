/* What is usual among the results of a run (usual.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "crowd/usual.h"

static void put(leat_usual *usual, int64_t step, double gradient) {
    leat_usual_put(usual, step, (leat_unit_norms){gradient, gradient / 4});
}

static double limit(const leat_usual *usual, int64_t step) {
    leat_unit_norms most;
    const bool known = leat_usual_limits(usual, step, LEAT_USUAL_OUTLIER, &most);
    assert_true(known == isfinite(most.gradient) && known == isfinite(most.statistics));
    if (known) assert_true(most.statistics == most.gradient / 4);
    return most.gradient;
}

/* Results of the last steps, those of the step itself and later ones not among them. */
static void limits(void **state) {
    leat_usual usual;
    leat_unit_norms most;
    (void)state;
    leat_usual_clear(&usual);
    assert_true(isinf(limit(&usual, 0)));
    put(&usual, 0, 4);
    assert_true(isinf(limit(&usual, 0)));
    assert_true(limit(&usual, 1) == 40);
    assert_true(limit(&usual, LEAT_USUAL_STEPS) == 40);
    assert_true(isinf(limit(&usual, LEAT_USUAL_STEPS + 1)));
    put(&usual, 1, 1e6); /* one that counted decides nothing alone */
    put(&usual, 2, 2);
    assert_true(limit(&usual, 3) == 40);
    assert_true(leat_usual_limits(&usual, 3, 3, &most) && most.gradient == 12);
    put(&usual, 2, 8); /* the step is taken again */
    assert_true(limit(&usual, 3) == 80);
    put(&usual, 1, 0); /* nor does a zero */
    put(&usual, 2, 0);
    put(&usual, 0, 4), put(&usual, 3, 4);
    assert_true(limit(&usual, 4) == 40);
    for (int64_t step = 3; step < 20; step++) put(&usual, step, (double)step);
    assert_true(limit(&usual, 20) == 160); /* of 12 to 19 */
    assert_true(limit(&usual, 18) == 150); /* went back: of 12 to 17 */
}

static void medians(void **state) {
    leat_unit_norms norms[] = {{3, 1}, {1, 7}, {2, 5}, {9, 6}};
    (void)state;
    leat_unit_norms out = leat_usual_medians(norms, 4);
    assert_true(out.gradient == 3 && out.statistics == 6);
    norms[0] = (leat_unit_norms){8, 8};
    out = leat_usual_medians(norms, 1);
    assert_true(out.gradient == 8 && out.statistics == 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits), cmocka_unit_test(medians)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
