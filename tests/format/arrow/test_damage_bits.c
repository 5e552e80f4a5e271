/* As test_damage.c, with each of the other seven bits. */
#include "arrow_damage.h"
#include "check.h"

static void test_damage_bits(void **state) {
    (void)state;
    arrow_damage(false, 1, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damage_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
