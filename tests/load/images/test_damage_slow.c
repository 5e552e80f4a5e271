/* Every bit and every truncation of an image data set. */
#include "image_damage.h"

static void all(void **state) {
    (void)state;
    image_damage("damage", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
