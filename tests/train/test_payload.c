/* Payloads: written and read back, every bit of the header, sizes, and what a reader refuses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "check.h"
#include "train/step/payload.h"

enum { GRADIENT = 700, STATISTICS = 9, SUMS = 3 };

typedef struct fixture {
    leat_payload_header header;
    float gradient[GRADIENT], statistics[STATISTICS];
    double sums[SUMS];
    leat_payload_values values;
    int64_t size;
    uint8_t *bytes;
} fixture;

static void begin(fixture *f, leat_codec codec) {
    *f = (fixture){.header = {.codec = codec,
                              .step = 17,
                              .unit = 2,
                              .pass = LEAT_DCGAN_D,
                              .weight = 320,
                              .gradient_count = GRADIENT,
                              .statistics_count = STATISTICS,
                              .sum_count = SUMS},
                   .sums = {1.25, NAN, -1e300}};
    for (int i = 0; i < GRADIENT; i++) f->gradient[i] = sinf((float)i);
    for (int i = 0; i < STATISTICS; i++) f->statistics[i] = (float)i / 3;
    for (int i = 0; i < 16; i++) f->header.run[i] = (uint8_t)(i + 1);
    for (int i = 0; i < 32; i++) f->header.weights[i] = (uint8_t)(200 - i);
    f->values = (leat_payload_values){f->gradient, f->statistics, f->sums};
    f->size = leat_payload_bytes(codec, GRADIENT, STATISTICS, SUMS);
    f->bytes = malloc((size_t)f->size); /* exactly, for the sanitizer */
    leat_payload_write(&f->header, 55, &f->values, f->bytes);
}

static void values_come_back(void **state) {
    (void)state;
    for (int codec = 0; codec <= LEAT_CODEC_INT8; codec++) {
        fixture f, out;
        begin(&f, (leat_codec)codec);
        out = f;
        out.values = (leat_payload_values){out.gradient, out.statistics, out.sums};
        memset(out.gradient, 0, sizeof out.gradient);
        memset(out.statistics, 0, sizeof out.statistics);
        memset(out.sums, 0, sizeof out.sums);
        assert_ok(leat_payload_read(f.bytes, f.size, &f.header, &out.values, err));
        leat_codec_round((leat_codec)codec, 55, f.gradient, GRADIENT);
        assert_memory_equal(out.gradient, f.gradient, sizeof f.gradient);
        assert_memory_equal(out.statistics, f.statistics, sizeof f.statistics);
        assert_true(out.sums[0] == 1.25 && isnan(out.sums[1]) && out.sums[2] == -1e300);
        free(f.bytes);
    }
}

/* The hash is compared between machines and versions. */
static void the_hash_is_pinned(void **state) {
    fixture f;
    uint8_t hash[32];
    char hex[65];
    (void)state;
    begin(&f, LEAT_CODEC_F32);
    for (int i = 0; i < GRADIENT; i++) f.gradient[i] = (float)i / 8;
    leat_payload_write(&f.header, 0, &f.values, f.bytes);
    leat_payload_hash(f.bytes, f.size, hash);
    leat_sha256_hex(hash, hex);
    assert_string_equal(hex, "ed3e031fe825ce112933ea3766999ebf8ca45750d9ee7956d89fa6b695087dd7");
    free(f.bytes);
}

static void nan_has_one_pattern(void **state) {
    fixture a, b;
    const uint32_t other = 0xffc12345;
    const uint64_t other_sum = UINT64_C(0xfff8000000000001);
    (void)state;
    begin(&a, LEAT_CODEC_F32);
    begin(&b, LEAT_CODEC_F32);
    a.gradient[3] = a.statistics[1] = NAN;
    memcpy(&b.gradient[3], &other, sizeof other);
    memcpy(&b.statistics[1], &other, sizeof other);
    memcpy(&b.sums[1], &other_sum, sizeof other_sum);
    b.values = (leat_payload_values){b.gradient, b.statistics, b.sums};
    a.values = (leat_payload_values){a.gradient, a.statistics, a.sums};
    leat_payload_write(&a.header, 0, &a.values, a.bytes);
    leat_payload_write(&b.header, 0, &b.values, b.bytes);
    assert_memory_equal(a.bytes, b.bytes, (size_t)a.size);
    free(a.bytes);
    free(b.bytes);
}

/* No bit of the header may be another. */
static void a_header_with_a_flipped_bit_is_refused(void **state) {
    fixture f;
    (void)state;
    begin(&f, LEAT_CODEC_INT8);
    for (int bit = 0; bit < 8 * LEAT_PAYLOAD_HEADER_BYTES; bit++) {
        leat_error err = {0};
        f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (leat_payload_read(f.bytes, f.size, &f.header, &f.values, &err) != LEAT_ERR_INPUT)
            fail_msg("bit %d", bit);
        assert_non_null(strstr(err.message, "payload: "));
        f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_ok(leat_payload_read(f.bytes, f.size, &f.header, &f.values, err));
    free(f.bytes);
}

/* The numbers have no check of their own: what a flipped bit changes is the hash, by which results
 * are compared. */
static void flipped_bits_change_the_hash(void **state) {
    fixture f;
    uint8_t want[32], hash[32];
    (void)state;
    begin(&f, LEAT_CODEC_INT8);
    leat_payload_hash(f.bytes, f.size, want);
    for (uint64_t i = 0; i < 1000; i++) {
        const int64_t bit = (int64_t)leat_random_below(leat_random_mix(i), (uint64_t)(8 * f.size));
        f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        leat_payload_hash(f.bytes, f.size, hash);
        if (memcmp(hash, want, sizeof hash) == 0) fail_msg("bit %lld", (long long)bit);
        f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(f.bytes);
}

static void other_sizes_are_refused(void **state) {
    fixture f;
    (void)state;
    begin(&f, LEAT_CODEC_BF16);
    for (int64_t size = 0; size < f.size; size++) {
        uint8_t *part = malloc((size_t)size + 1);
        memcpy(part, f.bytes, (size_t)size);
        assert_int_equal(leat_payload_read(part, size, &f.header, &f.values, NULL), LEAT_ERR_INPUT);
        free(part);
    }
    assert_int_equal(leat_payload_read(f.bytes, f.size + 1, &f.header, &f.values, NULL),
                     LEAT_ERR_INPUT);
    free(f.bytes);
}

static void the_field_that_differs_is_named(void **state) {
    fixture f;
    static const struct {
        const char *says;
        int at;
        uint8_t value;
    } cases[] = {{"begin with", 0, 'x'},
                 {"version is 3", 8, 3},
                 {"codec is 1", 12, 1},
                 {"unexpected run: ", 20, 77},
                 {"step is 18 (expected 17)", 32, 18},
                 {"unit is 0 (expected 2)", 40, 0},
                 {"unexpected weights: ", 48, 1},
                 {"pass is 0 (expected 1)", 80, 0},
                 {"weight is", 94, 0x75}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&f, LEAT_CODEC_F32);
        f.bytes[cases[i].at] = cases[i].value;
        assert_fails(leat_payload_read(f.bytes, f.size, &f.header, &f.values, err), LEAT_ERR_INPUT,
                     cases[i].says);
        free(f.bytes);
    }
}

static void impossible_counts_have_no_size(void **state) {
    (void)state;
    assert_int_equal(leat_payload_bytes(LEAT_CODEC_F32, -1, 0, 0), 0);
    assert_int_equal(leat_payload_bytes(LEAT_CODEC_F32, INT64_MAX, 0, 0), 0);
    assert_int_equal(leat_payload_bytes(LEAT_CODEC_F32, 0, INT64_MAX / 4, 0), 0);
    assert_int_equal(leat_payload_bytes(LEAT_CODEC_F32, 0, 0, 0), LEAT_PAYLOAD_HEADER_BYTES);
    /* the sizes of the DCGAN at width 64, a unit of 10 micro-batches */
    assert_int_equal(leat_payload_bytes(LEAT_CODEC_INT8, 6342272, 55040, 3),
                     128 + 6342272 + 99100 + 220160 + 24);
    assert_int_equal(leat_payload_bytes(LEAT_CODEC_BF16, 6342272, 55040, 3),
                     128 + 12684544 + 220160 + 24);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(the_hash_is_pinned),
        cmocka_unit_test(nan_has_one_pattern),
        cmocka_unit_test(a_header_with_a_flipped_bit_is_refused),
        cmocka_unit_test(flipped_bits_change_the_hash),
        cmocka_unit_test(other_sizes_are_refused),
        cmocka_unit_test(the_field_that_differs_is_named),
        cmocka_unit_test(impossible_counts_have_no_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
