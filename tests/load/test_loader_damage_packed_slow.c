/* Every bit and every truncation of test_loader_damage, instead of a sample, of a data set that is
 * compressed. */
#define STRIDE 1
#define TESTS cmocka_unit_test(every_bit_packed)
#pragma GCC diagnostic ignored "-Wunused-function"
#include "test_loader_damage.c"
