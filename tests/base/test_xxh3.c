/* XXH3 as the pages of an index are hashed: whatever instructions take it, the library's value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/rng.h"

enum { SIZE_MAX_BYTES = 4200 };

static void is_the_plain_one(void **state) {
    (void)state;
    static uint8_t bytes[SIZE_MAX_BYTES + 8];
    for (int i = 0; i < (int)sizeof(bytes); i++) bytes[i] = (uint8_t)leat_random(1, 0, (uint64_t)i);
    for (int size = 0; size <= SIZE_MAX_BYTES; size++) {
        const uint8_t *at = bytes + size % 8;
        assert_true(leat_xxh3(at, size) == XXH3_64bits(at, (size_t)size));
    }
    /* of the algorithm's own test vectors */
    assert_true(leat_xxh3("", 0) == UINT64_C(0x2d06800538d394c2));
}

/* In pieces of any size, and again after another text. */
static void in_pieces(void **state) {
    (void)state;
    static uint8_t bytes[SIZE_MAX_BYTES];
    leat_xxh3_run *run = NULL;
    assert_int_equal(leat_xxh3_create(&run, NULL), LEAT_OK);
    for (int i = 0; i < SIZE_MAX_BYTES; i++) bytes[i] = (uint8_t)leat_random(2, 0, (uint64_t)i);
    for (int piece = 1; piece < 700; piece += 13) {
        for (int size = 0; size <= SIZE_MAX_BYTES; size += 1 + size / 2) {
            leat_xxh3_begin(run);
            for (int at = 0; at < size; at += piece)
                leat_xxh3_update(run, bytes + at, size - at < piece ? size - at : piece);
            assert_true(leat_xxh3_final(run) == leat_xxh3(bytes, size));
        }
    }
    leat_xxh3_destroy(run);
    leat_xxh3_destroy(NULL);
}

#if defined(__x86_64__)
/* The upper halves of the sixteen vector registers. */
__attribute__((target("avx"), noinline)) static void upper_halves(uint8_t out[16][16]) {
#define STORE(n)                                                                                   \
    __asm__ volatile("vextractf128 $1, %%ymm" #n ", %0" : "=m"(*(uint8_t(*)[16])out[n]))
    STORE(0);
    STORE(1);
    STORE(2);
    STORE(3);
    STORE(4);
    STORE(5);
    STORE(6);
    STORE(7);
    STORE(8);
    STORE(9);
    STORE(10);
    STORE(11);
    STORE(12);
    STORE(13);
    STORE(14);
    STORE(15);
#undef STORE
}
#endif

/* What comes after it is not slowed down: no register's upper half is in use. */
static void leaves_vectors_clean(void **state) {
    (void)state;
#if defined(__x86_64__)
    static uint8_t bytes[SIZE_MAX_BYTES], found[16][16];
    static const uint8_t none[16][16];
    if (!leat_cpu_has(LEAT_CPU_AVX)) skip();
    leat_xxh3_run *run = NULL;
    assert_int_equal(leat_xxh3_create(&run, NULL), LEAT_OK);
    for (int i = 0; i < SIZE_MAX_BYTES; i++) bytes[i] = (uint8_t)leat_random(3, 0, (uint64_t)i);
    for (int way = 0; way < 2; way++) {
        if (way == 0) (void)leat_xxh3(bytes, SIZE_MAX_BYTES);
        else leat_xxh3_update(run, bytes, SIZE_MAX_BYTES);
        upper_halves(found);
        assert_memory_equal(found, none, sizeof none);
    }
    (void)leat_xxh3_final(run);
    upper_halves(found);
    assert_memory_equal(found, none, sizeof none);
    leat_xxh3_destroy(run);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_the_plain_one),
                                       cmocka_unit_test(in_pieces),
                                       cmocka_unit_test(leaves_vectors_clean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
