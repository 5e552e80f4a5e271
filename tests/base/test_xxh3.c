/* XXH3 as the pages of an index are hashed: whatever instructions take it, the library's value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include <cmocka.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_the_plain_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
