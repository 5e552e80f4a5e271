/*
 * Golden Arrow streams that are cut, or have a bit of a byte flipped: refused, or read as whole
 * rows and one by one alike.
 */
#include "arrow_damage.h"
#include "check.h"

static void test_damage(void **state) {
    (void)state;
    arrow_damage(true, 0, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
