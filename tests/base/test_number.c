/* Decimal texts as doubles, bit for bit as strtod reads them; and what is no decimal text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/rng.h"
#include "check.h"

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* `text` times 10^shift against strtod on the same number written out. */
static void check(const char *text, int shift) {
    const char *e = strpbrk(text, "eE");
    char wanted[1024];
    int digits = e != NULL ? (int)(e - text) : (int)strlen(text);
    snprintf(wanted, sizeof wanted, "%.*se%d", digits, text, (e != NULL ? atoi(e + 1) : 0) + shift);
    double want = strtod(wanted, NULL), got = -1;
    if (!leat_decimal_parse(text, (int64_t)strlen(text), shift, &got) || !same_bits(got, want)) {
        fail_msg("%s e%d: %a instead of %a", text, shift, got, want);
    }
}

static void test_some(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "+1",
        "007",
        "1.",
        ".5",
        "-.5e1",
        "1580000100.000865",
        "1e0",
        "1E-3",
        "1e+22",
        "1e22",
        "1e23",
        "9007199254740992",
        "9007199254740993", /* a tie, to even */
        "9007199254740993.0000000000000000001",
        "9007199254740995",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "0.9999999999999999999",
        "900719925474099.35",
        "4503599627370497.5", /* a tie with digits behind the point */
        "4503599627370498.5",
        "1700000000.123456789",
        "123456789012345678901234567890",
        "0.000000000000000000000000000001",
        "1e308",
        "1e309",
        "-1e309",
        "5e-324",
        "2e-324",
        "2.2250738585072011e-308",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999999",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        /* atoi of an exponent beyond int is the model's affair, not ours */
        if (strlen(texts[i]) > 14 && strchr(texts[i], 'e') != NULL && strstr(texts[i], "9999")) {
            double value = -1;
            assert_true(leat_decimal_parse(texts[i], (int64_t)strlen(texts[i]), 0, &value));
            assert_true(strstr(texts[i], "e-") != NULL ? value == 0 : isinf(value));
            continue;
        }
        check(texts[i], 0);
        check(texts[i], -6);
        check(texts[i], 3);
    }
}

/* Digits at random, around every way of the parser and its borders. */
static void test_random(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 300000; i++) {
        char text[64];
        int digits = 1 + (int)(leat_random(3, 0, i) % 22);
        int point = (int)(leat_random(3, 1, i) % 24), size = 0; /* beyond the digits: none */
        if (leat_random(3, 2, i) % 4 == 0) text[size++] = '-';
        uint64_t bits = leat_random(3, 3, i), more = leat_random(3, 4, i);
        for (int k = 0; k < digits; k++) {
            if (k == point) text[size++] = '.';
            text[size++] = (char)('0' + (k < 16 ? bits : more) % 10);
            bits /= 10;
            more /= 10;
        }
        if (leat_random(3, 5, i) % 8 == 0) {
            size += sprintf(text + size, "e%d", (int)(leat_random(3, 6, i) % 60) - 30);
        }
        text[size] = 0;
        check(text, i % 3 == 0 ? -6 : 0);
    }
    /* what logs hold: seconds with six digits, or nine */
    for (uint64_t i = 0; i < 200000; i++) {
        char text[64];
        unsigned long long seconds = leat_random(4, 0, i) % 4000000000u;
        if (i % 2 == 0) snprintf(text, sizeof text, "%llu.%06u", seconds, (unsigned)(i % 1000000));
        else {
            snprintf(text, sizeof text, "%llu.%09u", seconds,
                     (unsigned)(leat_random(4, 1, i) % 1000000000u));
        }
        check(text, 0);
    }
}

/* Numbers halfway between two doubles, and one digit beside it: where one rounding too many or a
 * lost remainder shows. */
static void test_halfway(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        int bits = 54 + (int)(leat_random(5, 0, i) % 10);
        uint64_t m = leat_random(5, 1, i) >> (64 - bits) | UINT64_C(1) << (bits - 1);
        uint64_t half = UINT64_C(1) << (bits - 54);
        m = (m & ~(2 * half - 1)) | half;
        m += leat_random(5, 2, i) % 3 - 1;
        char text[64];
        snprintf(text, sizeof text, "%llu", (unsigned long long)m);
        check(text, 0);
        /* the same number with a point in it: m * 2^-k in decimal digits */
        int size = snprintf(text, sizeof text, "%llu", (unsigned long long)(m >> 11));
        snprintf(text + size, sizeof text - (size_t)size, ".%s", i % 2 == 0 ? "5" : "25");
        check(text, 0);
    }
}

/* Just above halfway, by less than what 64 bits of a quotient show: only its remainder tells. */
static void test_remainder(void **state) {
    (void)state;
    const uint64_t ten19 = UINT64_C(10000000000000000000);
    int tried = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        /* a quotient m * 2^64 / 10^19 of 53 bits and a half: is there such an m below 10^19? */
        uint64_t quotient = UINT64_C(1) << 63 | leat_random(6, 0, i) >> 12 << 11 | 1 << 10;
        uint64_t rest = (uint64_t)0 - quotient * ten19;
        if (rest == 0 || rest >= ten19) continue;
        uint64_t m = (uint64_t)(((unsigned __int128)quotient * ten19 + rest) >> 64);
        if (m >> 63 == 0) continue;
        char text[64];
        snprintf(text, sizeof text, ".%019llu", (unsigned long long)m);
        check(text, 0);
        tried++;
    }
    assert_true(tried > 1000);
}

static void test_none(void **state) {
    (void)state;
    static const char *const texts[] = {"",    "-",    "+",    ".",     "-.",   "e5",  "1e",
                                        "1e+", "1e-",  "1.e",  " 1",    "1 ",   "1,0", "0x10",
                                        "nan", "inf",  "1..0", "1.0.0", "--1",  "+-1", "1e5.0",
                                        "1_0", "1e 5", "1f",   "\xb2",  "1\t2", ".e1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = 7;
        if (leat_decimal_parse(texts[i], (int64_t)strlen(texts[i]), 0, &value)) {
            fail_msg("<%s> is %a", texts[i], value);
        }
        assert_true(value == 0);
    }
    double value = 7;
    assert_false(leat_decimal_parse("1\0", 2, 0, &value));
    /* the size alone counts, not what stands behind */
    assert_true(leat_decimal_parse("12345", 3, 0, &value));
    assert_true(value == 123);
    char text[LEAT_DECIMAL_TEXT_MAX + 2];
    memset(text, '7', sizeof text);
    assert_false(leat_decimal_parse(text, LEAT_DECIMAL_TEXT_MAX + 1, 0, &value));
    text[LEAT_DECIMAL_TEXT_MAX] = 0;
    check(text, 0);
    memset(text, '0', LEAT_DECIMAL_TEXT_MAX - 2);
    memcpy(text + LEAT_DECIMAL_TEXT_MAX - 2, ".5", 3);
    check(text, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_some),    cmocka_unit_test(test_random),
        cmocka_unit_test(test_halfway), cmocka_unit_test(test_remainder),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
