/* Arrays of random numbers: known values, moments, any cut, every variant; and the streams. */
#include <inttypes.h>
#include <math.h>

#include "base/rng.h"
#include "batch/random_streams.h"
#include "check.h"
#include "nn/ops/random.h"
#include "nn/random_streams.h"
#include "ulp.h"

enum { MANY = 1 << 20 };
typedef void fill_function(const leat_device *device, uint64_t key, int64_t first, int64_t count,
                           float *out);
static fill_function *const fills[] = {leat_uniform_fill, leat_normal_fill};

/* sample's are 10 from LEAT_STREAM_EPOCH on; both lists have room to grow. */
_Static_assert(LEAT_STREAM_INIT > LEAT_STREAM_EPOCH + 0x10000, "streams of nn and batch");
_Static_assert(LEAT_STREAM_NN_END < LEAT_STREAM_INIT + 0x10000, "streams of nn");

static const leat_device scalar = {.kernels = &leat_kernels_scalar};
static float numbers[MANY];

static void streams_differ(void **state) {
    (void)state;
    static const uint64_t others[] = {
        1 /* splits, format/dataset */,
        2 /* subsets, load */,
        LEAT_STREAM_EPOCH,
        LEAT_STREAM_ANCHOR,
        LEAT_STREAM_CONTEXT,
        LEAT_STREAM_CLIENT_SEQUENCE,
        LEAT_STREAM_CLIENT_STEP,
        LEAT_STREAM_CLIENT_ROUND,
        LEAT_STREAM_ROUND_STEP,
        LEAT_STREAM_GRAPH_PACK,
        LEAT_STREAM_GRAPH_STEP,
        LEAT_STREAM_GRAPH_RANK,
    };
    for (uint64_t stream = LEAT_STREAM_INIT; stream < LEAT_STREAM_NN_END; stream++) {
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            assert_true(stream != others[i]);
            assert_true(leat_random(7, stream, 0) != leat_random(7, others[i], 0));
        }
    }
    /* never renumbered: the weights of every seed depend on them */
    assert_int_equal(LEAT_STREAM_INIT, 0x6e6e6f70);
    assert_int_equal(LEAT_STREAM_NOISE, 0x6e6e6f71);
    assert_int_equal(LEAT_STREAM_FIXED_NOISE, 0x6e6e6f72);
}

/* With the formulas of random.h in double. */
static void known_values(void **state) {
    (void)state;
    static const float pinned[2][4] = {
        {0x1.6a42bp-3f, 0x1.919b38p-3f, 0x1.ba169p-4f, 0x1.7d8eap-1f},
        {-0x1.d7ed14p+0f, -0x1.0763ep-2f, -0x1.7b37c2p+0f, 0x1.08102cp+0f},
    };
    static const uint64_t sums[2] = {1052295290840, 2152939186094};
    const uint64_t key = leat_random(42, LEAT_STREAM_NOISE, 3);
    for (int f = 0; f < 2; f++) {
        float out[1000];
        uint64_t sum = 0;
        fills[f](&scalar, key, 0, 1000, out);
        for (int i = 0; i < 1000; i++) {
            double expected = (double)(leat_random_at(key, (uint64_t)i) >> 40) / 0x1p24;
            if (f == 1) {
                const uint64_t bits = leat_random_at(key, (uint64_t)i / 2);
                const double u = ((double)(bits >> 33) + 0.5) / 0x1p31;
                const double angle =
                    2 * 3.14159265358979323846 * (double)(bits & 0xffffff) / 0x1p24;
                expected = sqrt(-2 * log(u)) * (i % 2 == 0 ? cos(angle) : sin(angle));
            }
            sum += bits_of(out[i]);
            assert_true(fabs((double)out[i] - expected) <= f * 2e-6);
            if (i < 4 && out[i] != pinned[f][i])
                fail_msg("%d: number %d is %a", f, i, (double)out[i]);
        }
        if (sum != sums[f]) fail_msg("%d: the sum of the bits is %" PRIu64, f, sum);
    }
}

static void same_for_every_variant_and_cut(void **state) {
    (void)state;
    enum { SIZE = 1500 };
    static const int cuts[] = {1, 2, 3, 7, 16, 31, 255, 512, 513, SIZE};
    for (int f = 0; f < 2; f++) {
        float expected[SIZE], got[SIZE + 1];
        fills[f](&scalar, 99, 1001, SIZE, expected);
        const leat_kernels *kernels;
        for (int v = 0; (kernels = leat_kernels_at(v)) != NULL; v++) {
            if (!leat_kernels_supported(kernels)) {
                print_message("%s: built, not run\n", kernels->name);
                continue;
            }
            const leat_device device = {.kernels = kernels};
            for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
                memset(got, 0, sizeof got);
                for (int done = 0; done < SIZE; done += cuts[c]) {
                    const int left = SIZE - done, count = left < cuts[c] ? left : cuts[c];
                    fills[f](&device, 99, 1001 + done, count, got + done);
                    fills[f](&device, 99, 1001 + done, 0, got + done);
                    assert_true(got[done + count] == 0.0f);
                }
                for (int i = 0; i < SIZE; i++)
                    assert_int_equal(bits_of(got[i]), bits_of(expected[i]));
            }
        }
    }
}

/* The mean of x^power over all numbers, and its distance from the true one in standard errors. */
static void check_moment(int power, double truth, double deviation) {
    double sum = 0;
    for (int i = 0; i < MANY; i++) sum += pow((double)numbers[i], power);
    const double off = (sum / MANY - truth) / (deviation / sqrt(MANY));
    if (fabs(off) > 4) fail_msg("moment %d is off by %.1f standard errors", power, off);
}

/* Of numbers at a distance; 4 standard errors. */
static void check_correlation(int distance, double mean, double variance) {
    double sum = 0;
    for (int i = 0; i + distance < MANY; i++)
        sum += ((double)numbers[i] - mean) * ((double)numbers[i + distance] - mean);
    const double correlation = sum / MANY / variance;
    if (fabs(correlation) > 4 / sqrt(MANY)) fail_msg("distance %d: %g", distance, correlation);
}

static void moments(void **state) {
    (void)state;
    const leat_device device = {.kernels = leat_kernels_find(NULL)};
    leat_uniform_fill(&device, leat_random(1, LEAT_STREAM_INIT, 0), 0, MANY, numbers);
    for (int power = 1; power <= 4; power++) {
        const double mean = 1.0 / (power + 1);
        check_moment(power, mean, sqrt(1.0 / (2 * power + 1) - mean * mean));
    }
    for (int i = 0; i < MANY; i++) assert_true(numbers[i] >= 0 && numbers[i] < 1);
    for (int distance = 1; distance <= 3; distance++) check_correlation(distance, 0.5, 1.0 / 12);

    leat_normal_fill(&device, leat_random(1, LEAT_STREAM_NOISE, 0), 0, MANY, numbers);
    /* E x^2n = 1 * 3 * ... * (2n - 1) */
    static const double even[] = {1, 1, 3, 15, 105, 945, 10395};
    for (int power = 1; power <= 6; power++) {
        const double mean = power % 2 == 0 ? even[power / 2] : 0;
        check_moment(power, mean, sqrt(even[power] - mean * mean));
    }
    for (int distance = 1; distance <= 3; distance++) check_correlation(distance, 0, 1);
    /* the shares beyond 1, 2, 3 and 4 */
    for (int limit = 1; limit <= 4; limit++) {
        const double share = erfc(limit / sqrt(2));
        double count = 0;
        for (int i = 0; i < MANY; i++) count += fabsf(numbers[i]) > (float)limit;
        assert_true(fabs(count - share * MANY) < 4 * sqrt(share * MANY));
    }
}

/* The largest and the smallest distances, at all quarters of the circle. */
static void ends(void **state) {
    (void)state;
    const int32_t radius[4] = {0, 0, INT32_MAX, INT32_MAX}, angle[4] = {0, 3 << 22, 0, 1 << 23};
    float out[8];
    leat_kernels_scalar.normal(4, radius, angle, out);
    assert_true(out[0] > 6.66f && out[0] < 6.67f && out[1] == 0.0f);
    assert_true(fabsf(out[2]) < 1e-5f && out[3] < -6.66f && out[3] > -6.67f);
    for (int i = 4; i < 8; i++) assert_true(fabsf(out[i]) < 1e-4f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_differ),
        cmocka_unit_test(known_values),
        cmocka_unit_test(same_for_every_variant_and_cut),
        cmocka_unit_test(moments),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
