/* HighwayHash-64: known values, both paths equal, any cut of the input equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"

static const uint64_t riegeli_key[4] = {UINT64_C(0x2f696c6567656952), UINT64_C(0x0a7364726f636572),
                                        UINT64_C(0x2f696c6567656952), UINT64_C(0x0a7364726f636572)};

static void fill_pattern(uint8_t *bytes, int64_t size) {
    for (int64_t i = 0; i < size; i++) bytes[i] = (uint8_t)(7 * i + 3);
}

static void test_known_values(void **state) {
    (void)state;
    static const struct {
        const char *text; /* NULL: the pattern */
        int64_t size;
        uint64_t value;
    } cases[] = {
        {"", 0, UINT64_C(0x72c3b1e9c0139fe1)},      {"a", 1, UINT64_C(0x24793c7da388949f)},
        {"abc", 3, UINT64_C(0x672fe946c18d0ed9)},   {"Riegeli", 7, UINT64_C(0x07179813ca01243c)},
        {NULL, 16, UINT64_C(0xc0190b8aa768ad39)},   {NULL, 19, UINT64_C(0x3a9b1589cfc57c15)},
        {NULL, 31, UINT64_C(0x18533e0d730a4584)},   {NULL, 32, UINT64_C(0x6a2c29f49d855647)},
        {NULL, 33, UINT64_C(0xa56314eb640ed7ef)},   {NULL, 40, UINT64_C(0x795e62420c8816e3)},
        {NULL, 63, UINT64_C(0x2139360ba9bb718a)},   {NULL, 64, UINT64_C(0x6a09726d1c35ab4e)},
        {NULL, 1000, UINT64_C(0x851e84e8d1e6e97d)}, {NULL, 65536, UINT64_C(0xcb3ba30d952e760d)},
    };
    static uint8_t pattern[65536];
    fill_pattern(pattern, (int64_t)sizeof pattern);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const void *bytes = cases[i].text != NULL ? (const void *)cases[i].text : pattern;
        assert_true(leat_highwayhash_of(bytes, cases[i].size) == cases[i].value);
        assert_true(leat_highwayhash_portable(riegeli_key, bytes, cases[i].size) == cases[i].value);
    }
}

/* The algorithm's own test vectors use the key bytes 00..1f. */
static void test_other_key(void **state) {
    (void)state;
    static const uint64_t key[4] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908),
                                    UINT64_C(0x1716151413121110), UINT64_C(0x1f1e1d1c1b1a1918)};
    assert_true(leat_highwayhash_portable(key, "", 0) == UINT64_C(0x907a56de22c26e53));
    assert_true(leat_highwayhash_portable(key, "\0", 1) == UINT64_C(0x7eab43aac7cddd78));
}

static void test_paths_agree(void **state) {
    (void)state;
    uint8_t bytes[400];
    for (int i = 0; i < (int)sizeof bytes; i++) bytes[i] = (uint8_t)leat_random(1, 2, (uint64_t)i);
    for (int offset = 0; offset < 3; offset++) {
        for (int size = 0; size <= 300; size++) {
            assert_true(leat_highwayhash_of(bytes + offset, size) ==
                        leat_highwayhash_portable(riegeli_key, bytes + offset, size));
        }
    }
}

static void test_any_cut(void **state) {
    (void)state;
    uint8_t bytes[200];
    fill_pattern(bytes, (int64_t)sizeof bytes);
    uint64_t whole = leat_highwayhash_of(bytes, (int64_t)sizeof bytes);
    for (int first = 0; first <= 70; first++) {
        for (int second = 0; second <= 70; second++) {
            leat_highwayhash hash;
            leat_highwayhash_init(&hash);
            leat_highwayhash_update(&hash, bytes, first);
            leat_highwayhash_update(&hash, bytes + first, second);
            leat_highwayhash_update(&hash, bytes + first + second,
                                    (int64_t)sizeof bytes - first - second);
            assert_true(leat_highwayhash_final(&hash) == whole);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_other_key),
        cmocka_unit_test(test_paths_agree),
        cmocka_unit_test(test_any_cut),
    };
    return cmocka_run_group_tests_name("highwayhash", tests, NULL, NULL);
}
