/* Codecs of floats: bytes that are pinned, what becomes of odd values, bounds of the rounding. */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "check.h"
#include "train/step/codec.h"

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- single values -------------------------------------------------------------------------- */

static void halves_are_rounded_to_even(void **state) {
    static const struct {
        uint32_t from, to;
    } cases[] = {
        {0x3f800000, 0x3f800000}, {0x3f808000, 0x3f800000}, /* halfway: to even */
        {0x3f818000, 0x3f820000}, {0x3f808001, 0x3f810000}, {0x3f807fff, 0x3f800000},
        {0x80000000, 0x80000000}, {0x00000001, 0x00000000}, {0x00008001, 0x00010000},
        {0x7f7fffff, 0x7f800000}, {0xff7fffff, 0xff800000}, {0x7f800000, 0x7f800000},
        {0xff800000, 0xff800000}, {0x7f800001, 0x7fc00000}, {0xffffffff, 0x7fc00000},
        {0x7fc00000, 0x7fc00000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float value = from_bits(cases[i].from);
        leat_codec_round(LEAT_CODEC_BF16, 0, &value, 1);
        if (to_bits(value) != cases[i].to)
            fail_msg("%08x: %08x instead of %08x", cases[i].from, to_bits(value), cases[i].to);
    }
}

static void floats_keep_all_but_the_kind_of_nan(void **state) {
    static const struct {
        uint32_t from, to;
    } cases[] = {{0x3f800001, 0x3f800001},
                 {0x80000001, 0x80000001},
                 {0xff800000, 0xff800000},
                 {0x7f800001, 0x7fc00000},
                 {0xffc12345, 0x7fc00000}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float value = from_bits(cases[i].from);
        leat_codec_round(LEAT_CODEC_F32, 0, &value, 1);
        assert_int_equal(to_bits(value), cases[i].to);
    }
}

/* ---- arrays --------------------------------------------------------------------------------- */

enum { COUNT = 1000 }; /* three blocks and a part */

static void fill(float *values) {
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)(leat_random_unit(leat_random(1, 2, (uint64_t)i)) - 0.5);
        values[i] *= i / 256 == 1 ? 1e-30f : i / 256 == 2 ? 1e30f : 1;
    }
}

static void rounding_is_what_the_bytes_give(void **state) {
    (void)state;
    for (int codec = 0; codec <= LEAT_CODEC_INT8; codec++) {
        for (int count = 0; count <= COUNT; count += count < 3 ? 1 : 251) {
            float values[COUNT], decoded[COUNT + 1];
            const int64_t bytes = leat_codec_bytes((leat_codec)codec, count);
            uint8_t *out = malloc((size_t)bytes + 1);
            fill(values);
            if (count > 300) values[300] = NAN;
            out[bytes] = 0xa5;
            decoded[count] = 7;
            leat_codec_encode((leat_codec)codec, 99, values, count, out);
            leat_codec_decode((leat_codec)codec, out, count, decoded);
            leat_codec_round((leat_codec)codec, 99, values, count);
            assert_int_equal(out[bytes], 0xa5);
            assert_true(decoded[count] == 7);
            assert_memory_equal(values, decoded, sizeof(float) * (size_t)count);
            free(out);
        }
    }
}

/* The bytes go over the wire and are hashed: they must never change. */
static void bytes_are_pinned(void **state) {
    static const float values[4] = {1, -0.5f, 0.3f, 0.001f};
    static const uint8_t f32[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf};
    static const uint8_t bf16[] = {0x80, 0x3f, 0, 0xbf, 0x9a, 0x3e, 0x83, 0x3a};
    static const uint8_t int8[] = {0x04, 0x02, 0x01, 0x3c, 127, 0xc0, 38, 0};
    uint8_t out[64];
    (void)state;
    leat_codec_encode(LEAT_CODEC_F32, 0, values, 2, out);
    assert_memory_equal(out, f32, sizeof f32);
    leat_codec_encode(LEAT_CODEC_BF16, 0, values, 4, out);
    assert_memory_equal(out, bf16, sizeof bf16);
    assert_int_equal(leat_codec_bytes(LEAT_CODEC_INT8, 4), sizeof int8);
    leat_codec_encode(LEAT_CODEC_INT8, 12345, values, 4, out);
    assert_memory_equal(out, int8, sizeof int8);
}

static void int8_is_near_and_right_on_average(void **state) {
    float values[COUNT], rounded[COUNT];
    double error[COUNT] = {0};
    (void)state;
    fill(values);
    for (int key = 0; key < 400; key++) {
        memcpy(rounded, values, sizeof values);
        leat_codec_round(LEAT_CODEC_INT8, leat_random(7, 7, (uint64_t)key), rounded, COUNT);
        for (int i = 0; i < COUNT; i++) error[i] += ((double)rounded[i] - values[i]) / 400;
        for (int begin = 0; begin < COUNT; begin += LEAT_CODEC_BLOCK) {
            float most = 0;
            const int end = begin + LEAT_CODEC_BLOCK < COUNT ? begin + LEAT_CODEC_BLOCK : COUNT;
            for (int i = begin; i < end; i++) most = fmaxf(most, fabsf(values[i]));
            for (int i = begin; i < end; i++)
                assert_true(fabs((double)rounded[i] - values[i]) <= most / 127 * 1.0001);
        }
    }
    for (int i = 0; i < COUNT; i++) { /* 0.5 / sqrt(400) of a step is a deviation */
        const float scale = i / 256 == 1 ? 1e-30f : i / 256 == 2 ? 1e30f : 1;
        assert_true(fabs(error[i]) < 0.15 * scale / 127);
    }
}

static void a_block_that_is_not_finite_is_nan(void **state) {
    static const float strange[] = {INFINITY, -INFINITY, NAN};
    (void)state;
    for (int i = 0; i < 3; i++) {
        float values[COUNT];
        fill(values);
        values[5] = strange[i];
        leat_codec_round(LEAT_CODEC_INT8, 3, values, COUNT);
        for (int k = 0; k < 256; k++) assert_int_equal(to_bits(values[k]), 0x7fc00000);
        for (int k = 256; k < COUNT; k++) assert_true(isfinite(values[k]));
    }
}

static void zeros_and_the_smallest_stay_zero(void **state) {
    float values[4] = {0, -0.0f, from_bits(1), 0};
    (void)state;
    leat_codec_round(LEAT_CODEC_INT8, 3, values, 4);
    for (int i = 0; i < 4; i++) assert_true(values[i] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_rounded_to_even),
        cmocka_unit_test(floats_keep_all_but_the_kind_of_nan),
        cmocka_unit_test(rounding_is_what_the_bytes_give),
        cmocka_unit_test(bytes_are_pinned),
        cmocka_unit_test(int8_is_near_and_right_on_average),
        cmocka_unit_test(a_block_that_is_not_finite_is_nan),
        cmocka_unit_test(zeros_and_the_smallest_stay_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
