/* What others draw with the Mersenne Twister: numbers that the C++ standard and PyTorch give. */
#include <stdlib.h>
#include <string.h>

#include "base/mt19937.h"
#include "check.h"

/* The standard says of std::mt19937 that its 10000th number, with the seed 5489, is 4123659995. */
static void words(void **state) {
    (void)state;
    leat_mt19937 mt;
    uint32_t word = 0;
    leat_mt19937_seed(&mt, 5489);
    for (int i = 0; i < 10000; i++) word = leat_mt19937_next(&mt);
    assert_int_equal(word, UINT32_C(4123659995));
}

/* torch.rand of torch 2.13 after manual_seed(0) and manual_seed(42), as doubles. */
static void units(void **state) {
    (void)state;
    static const struct {
        uint64_t seed;
        double first[4];
    } cases[] = {
        {0, {0.49625658988952637, 0.7682217955589294, 0.08847743272781372, 0.13203048706054688}},
        {42, {0.8822692632675171, 0.9150039553642273, 0.38286375999450684, 0.9593056440353394}},
        {(UINT64_C(7) << 32) + 42, {0.8822692632675171, 0.9150039553642273, 0.38286375999450684}},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_mt19937 mt;
        leat_mt19937_seed(&mt, cases[c].seed);
        for (int i = 0; i < 4 && cases[c].first[i] != 0; i++) {
            assert_true((double)leat_mt19937_unit(&mt) == cases[c].first[i]);
        }
    }
}

/* torch.randperm with the seed 42. */
static void permutations(void **state) {
    (void)state;
    static const int64_t ten[] = {2, 6, 1, 8, 4, 5, 0, 9, 3, 7};
    static const int64_t thousand[] = {542, 618, 816, 68, 94, 215, 60, 585, 942, 165};
    static int64_t out[1000];
    assert_ok(leat_mt19937_permutation(42, 10, out, err));
    assert_memory_equal(out, ten, sizeof(ten));
    assert_ok(leat_mt19937_permutation(42, 1000, out, err));
    assert_memory_equal(out, thousand, sizeof(thousand));
    static uint8_t seen[1000];
    for (int i = 0; i < 1000; i++) assert_int_equal(seen[out[i]]++, 0);
    assert_ok(leat_mt19937_permutation(42, 1, out, err));
    assert_int_equal(out[0], 0);
    assert_ok(leat_mt19937_permutation(42, 0, NULL, err));
}

static void refused(void **state) {
    (void)state;
    static const int64_t counts[] = {-1, LEAT_MT19937_PERMUTATION_MAX + INT64_C(1), INT64_MAX};
    for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
        leat_error err = {0};
        assert_int_equal(leat_mt19937_permutation(42, counts[c], NULL, &err), LEAT_ERR_LIMIT);
        if (strstr(err.message, "0 to 214748363") == NULL) fail_msg("%s", err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(units),
        cmocka_unit_test(permutations),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("mt19937", tests, NULL, NULL);
}
