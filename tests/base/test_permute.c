/* Keyed permutations: bijections of every size, and as even as random ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

static uint64_t key_of(uint64_t i) { return leat_random(12, 34, i); }

static void bijections(void **state) {
    (void)state;
    static uint8_t seen[2001];
    for (int64_t size = 1; size <= 2000; size++) {
        memset(seen, 0, sizeof(seen));
        uint64_t key = key_of((uint64_t)size);
        for (int64_t i = 0; i < size; i++) {
            int64_t value = leat_permute(key, size, i);
            assert_true(value >= 0 && value < size);
            assert_int_equal(seen[value]++, 0);
            assert_int_equal(leat_permute_inverse(key, size, value), i);
        }
    }
}

static void large_sizes(void **state) {
    (void)state;
    for (int bits = 20; bits <= 62; bits++) {
        for (int64_t size = (INT64_C(1) << bits) - 1; size <= (INT64_C(1) << bits) + 1; size++) {
            if (size > LEAT_PERMUTE_SIZE_MAX) continue;
            for (uint64_t i = 0; i < 50; i++) {
                int64_t position = i == 0 ? 0 : (int64_t)(leat_random(1, 1, i) % (uint64_t)size);
                if (i == 1) position = size - 1;
                int64_t value = leat_permute(key_of(i), size, position);
                assert_true(value >= 0 && value < size);
                assert_int_equal(leat_permute_inverse(key_of(i), size, value), position);
            }
        }
    }
}

/* Chi-square of where a position goes, and of where two go, over keys. */
static void even(void **state) {
    (void)state;
    static const int sizes[] = {2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17};
    enum { KEYS = 100000, MOST = 17 };
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        int size = sizes[s];
        double single[MOST][MOST] = {{0}}, pair[MOST][MOST] = {{0}};
        for (uint64_t k = 0; k < KEYS; k++) {
            int64_t to[MOST];
            for (int i = 0; i < size; i++) {
                to[i] = leat_permute(key_of(k), size, i);
                single[i][to[i]]++;
            }
            pair[to[0]][to[size - 1]]++;
        }
        for (int i = 0; i < size; i++) {
            double chi = 0, each = (double)KEYS / size;
            for (int v = 0; v < size; v++) chi += pow(single[i][v] - each, 2) / each;
            if (chi > size - 1 + 5 * sqrt(2.0 * size) + 5) {
                fail_msg("size %d, position %d: chi-square %.1f", size, i, chi);
            }
        }
        double chi = 0, cells = (double)size * (size - 1), each = KEYS / cells;
        for (int a = 0; a < size; a++) {
            for (int b = 0; b < size && a != b; b++) chi += pow(pair[a][b] - each, 2) / each;
            for (int b = a + 1; b < size; b++) chi += pow(pair[a][b] - each, 2) / each;
            assert_true(pair[a][a] == 0);
        }
        if (chi > cells - 1 + 5 * sqrt(2 * cells) + 5) {
            fail_msg("size %d: chi-square of pairs %.1f", size, chi);
        }
    }
}

/* All 24 permutations of 4 come, alike. */
static void all_of_four(void **state) {
    (void)state;
    enum { KEYS = 48000 };
    double counts[256] = {0}, chi = 0;
    int cells = 0;
    for (uint64_t k = 0; k < KEYS; k++) {
        int code = 0;
        for (int i = 0; i < 4; i++) code = code * 4 + (int)leat_permute(key_of(k), 4, i);
        counts[code]++;
    }
    for (int c = 0; c < 256; c++) {
        if (counts[c] == 0) continue;
        cells++;
        chi += pow(counts[c] - KEYS / 24.0, 2) / (KEYS / 24.0);
    }
    assert_int_equal(cells, 24);
    assert_true(chi < 23 + 5 * sqrt(46) + 5);
}

/* Fixed points, neighbours that stay neighbours, and ascents of one large permutation are as many
 * as a random one has. */
static void one_large(void **state) {
    (void)state;
    enum { SIZE = 100003, KEYS = 20 };
    int64_t fixed = 0, neighbours = 0, ascents = 0;
    for (uint64_t k = 0; k < KEYS; k++) {
        int64_t last = 0;
        for (int64_t i = 0; i < SIZE; i++) {
            int64_t value = leat_permute(key_of(k), SIZE, i);
            fixed += value == i;
            if (i > 0) neighbours += value - last == 1 || last - value == 1;
            if (i > 0) ascents += value > last;
            last = value;
        }
    }
    assert_in_range(fixed, 2, 45);       /* expected 20, deviation 4.5 */
    assert_in_range(neighbours, 10, 75); /* 40, 6.3 */
    double deviation = sqrt((double)SIZE * KEYS / 12);
    assert_true(fabs((double)ascents - (SIZE - 1) * (double)KEYS / 2) < 5 * deviation);
}

/* One bit of key or position changed: half of the bits of the value change. */
static void avalanche(void **state) {
    (void)state;
    const int64_t size = INT64_C(1) << 40;
    enum { DRAWS = 4000 };
    double key_flips = 0, position_flips = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        int64_t position = (int64_t)(leat_random(3, 3, i) >> 24);
        uint64_t key = key_of(i);
        int64_t value = leat_permute(key, size, position);
        int64_t other = leat_permute(key ^ UINT64_C(1) << i % 64, size, position);
        key_flips += __builtin_popcountll((uint64_t)(value ^ other));
        other = leat_permute(key, size, position ^ INT64_C(1) << i % 40);
        position_flips += __builtin_popcountll((uint64_t)(value ^ other));
    }
    assert_true(fabs(key_flips / DRAWS - 20) < 0.3);
    assert_true(fabs(position_flips / DRAWS - 20) < 0.3);
}

static void fixed_for_ever(void **state) {
    (void)state;
    static const struct {
        uint64_t key;
        int64_t size, position, value;
    } cases[] = {
        {0, 1, 0, 0},
        {0, 10, 3, 0},
        {1, 1000000007, 12345, 671775707},
        {UINT64_MAX, INT64_C(1) << 62, 1, INT64_C(2292401715911384681)},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        int64_t value = leat_permute(cases[c].key, cases[c].size, cases[c].position);
        if (value != cases[c].value) fail_msg("case %d: %lld", (int)c, (long long)value);
    }
    assert_int_equal(leat_random_at(0, 0), leat_random_mix(UINT64_C(0x9e3779b97f4a7c15)));
    /* splitmix64 seeded with 0 begins so */
    assert_int_equal(leat_random_at(0, 0), UINT64_C(0xe220a8397b1dcdaf));
    assert_int_equal(leat_random_at(0, 1), UINT64_C(0x6e789e6aa1b965f4));
}

/* Several at once are those one by one, wherever they begin. */
static void abreast(void **state) {
    (void)state;
    static const int64_t sizes[] = {1,
                                    2,
                                    3,
                                    4,
                                    5,
                                    7,
                                    8,
                                    9,
                                    63,
                                    129,
                                    256,
                                    257,
                                    1000,
                                    70000,
                                    1000003,
                                    INT32_MAX,
                                    INT64_C(1) << 32};
    uint32_t out[20];
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (int64_t trial = 0; trial < 200; trial++) {
            uint64_t key = leat_random(7, s, (uint64_t)trial);
            int64_t most = sizes[s] < 19 ? sizes[s] : 19, count = trial % (most + 1);
            int64_t first = (int64_t)leat_random_below(leat_random_at(key, 1),
                                                       (uint64_t)(sizes[s] - count + 1));
            memset(out, 0xee, sizeof(out));
            leat_permute_some(key, sizes[s], first, count, out);
            for (int64_t i = 0; i < count; i++)
                assert_int_equal(out[i], leat_permute(key, sizes[s], first + i));
            assert_int_equal(out[count], 0xeeeeeeee);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bijections),     cmocka_unit_test(large_sizes),
        cmocka_unit_test(even),           cmocka_unit_test(all_of_four),
        cmocka_unit_test(one_large),      cmocka_unit_test(avalanche),
        cmocka_unit_test(fixed_for_ever), cmocka_unit_test(abreast),
    };
    return cmocka_run_group_tests_name("permutations", tests, NULL, NULL);
}
