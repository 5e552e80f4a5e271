/* Damage anywhere in an image data set, a sample; all of it is in test_damage_slow.c. */
#include "image_damage.h"

static void sample(void **state) {
    (void)state;
    image_damage("damage", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sample)};
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
