/* SHA-256: the standard's vectors, and two streams hashed together against each of them alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"

static void test_vectors(void **state) {
    (void)state;
    static const struct {
        const char *text, *hex;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_sha256 sha, beside;
        uint8_t digest[32], back[32];
        char hex[65];
        leat_sha256_init(&sha);
        leat_sha256_init(&beside);
        leat_sha256_update2(&sha, cases[i].text, (int64_t)strlen(cases[i].text), &beside, "x", 1);
        leat_sha256_final(&sha, digest);
        leat_sha256_hex(digest, hex);
        assert_string_equal(hex, cases[i].hex);
        assert_true(leat_sha256_parse(hex, back));
        assert_memory_equal(digest, back, 32);
        leat_sha256_of(cases[i].text, (int64_t)strlen(cases[i].text), back);
        assert_memory_equal(digest, back, 32);
        leat_sha256_hex_of(cases[i].text, (int64_t)strlen(cases[i].text), hex);
        assert_string_equal(hex, cases[i].hex);
        leat_sha256_init(&sha);
        for (const char *at = cases[i].text; *at != 0; at++)
            assert_int_equal(leat_sha256_write(&sha, at, 1, NULL), LEAT_OK);
        leat_sha256_final(&sha, back);
        assert_memory_equal(digest, back, 32);
    }
}

/* Streams cut at random places: whatever the two calls hold, each digest is its own stream's. */
static void test_two_streams(void **state) {
    (void)state;
    enum { BYTES = 4096, ROUNDS = 400 };
    static uint8_t bytes[2][BYTES];
    for (int i = 0; i < BYTES; i++) {
        bytes[0][i] = (uint8_t)leat_random(1, 0, (uint64_t)i);
        bytes[1][i] = (uint8_t)leat_random(1, 1, (uint64_t)i);
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        leat_sha256 together[2], alone[2];
        int64_t done[2] = {0, 0};
        for (int s = 0; s < 2; s++) {
            leat_sha256_init(&together[s]);
            leat_sha256_init(&alone[s]);
        }
        for (uint64_t call = 0; call < 6; call++) {
            int64_t size[2];
            for (uint64_t s = 0; s < 2; s++) {
                uint64_t bits = leat_random(2 + round, s, call);
                size[s] = (int64_t)leat_random_below(bits, call % 2 == 0 ? 200 : 600);
            }
            leat_sha256_update2(&together[0], bytes[0] + done[0], size[0], &together[1],
                                bytes[1] + done[1], size[1]);
            for (int s = 0; s < 2; s++) {
                leat_sha256_update(&alone[s], bytes[s] + done[s], size[s]);
                done[s] += size[s];
            }
        }
        for (int s = 0; s < 2; s++) {
            uint8_t a[32], b[32];
            leat_sha256_final(&together[s], a);
            leat_sha256_final(&alone[s], b);
            assert_memory_equal(a, b, 32);
        }
    }
}

/* The count of bits is part of the digest: past 2^32 bits it needs its upper word. */
static void test_long_streams(void **state) {
    (void)state;
    static uint8_t zeros[1 << 20];
    leat_sha256 together[2], alone;
    leat_sha256_init(&together[0]);
    leat_sha256_init(&together[1]);
    leat_sha256_init(&alone);
    for (int i = 0; i < 520; i++) {
        leat_sha256_update2(&together[0], zeros, sizeof zeros, &together[1], zeros, sizeof zeros);
        leat_sha256_update(&alone, zeros, sizeof zeros);
    }
    uint8_t a[32], b[32], c[32];
    leat_sha256_final(&together[0], a);
    leat_sha256_final(&together[1], b);
    leat_sha256_final(&alone, c);
    assert_memory_equal(a, c, 32);
    assert_memory_equal(b, c, 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_two_streams),
        cmocka_unit_test(test_long_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
