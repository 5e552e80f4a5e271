/* Every bit and every truncation of a data set that is not compressed. */
#include "damage_bits.h"

static void every_bit(void **state) {
    (void)state;
    damage_bits(LEAT_COMPRESSION_NONE, "tiny_plain", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_bit)};
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
