/* Arrays of random numbers: bits from base's generator, a block at a time, that the kernels turn
 * into floats. */
#include "nn/ops/random.h"

#include "base/error.h"
#include "base/rng.h"
#include "nn/float_mode.h"

enum { BLOCK = 256 }; /* draws; any number gives the same results */
#define NUMBERS (INT64_C(1) << 62)

static void check_range(int64_t first, int64_t count) {
    LEAT_ASSERT(first >= 0 && first < NUMBERS && count >= 0 && count < NUMBERS - first);
}

void leat_uniform_fill(const leat_device *device, uint64_t key, int64_t first, int64_t count,
                       float *out) {
    check_range(first, count);
    int32_t bits[BLOCK];
    for (int64_t done = 0; done < count; done += BLOCK) {
        const int64_t left = count - done, draws = left < BLOCK ? left : BLOCK;
        for (int64_t i = 0; i < draws; i++)
            bits[i] = (int32_t)(leat_random_at(key, (uint64_t)(first + done + i)) >> 40);
        device->kernels->uniform(draws, bits, out + done);
    }
}

/* The numbers of the pairs first .. first + count - 1; count <= BLOCK. */
static void fill_pairs(const leat_device *device, uint64_t key, int64_t first, int64_t count,
                       float *out) {
    int32_t radius[BLOCK], angle[BLOCK];
    LEAT_ASSERT(count <= BLOCK);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = leat_random_at(key, (uint64_t)(first + i));
        radius[i] = (int32_t)(bits >> 33);
        angle[i] = (int32_t)(bits & 0xffffff);
    }
    device->kernels->normal(count, radius, angle, out);
}

void leat_normal_fill(const leat_device *device, uint64_t key, int64_t first, int64_t count,
                      float *out) {
    LEAT_ASSERT(leat_float_mode_is_set());
    check_range(first, count);
    float pair[2];
    if (count > 0 && first % 2 != 0) { /* the second of a pair */
        fill_pairs(device, key, first / 2, 1, pair);
        *out++ = pair[1];
        first++;
        count--;
    }
    while (count >= 2) {
        const int64_t pairs = count / 2 < BLOCK ? count / 2 : BLOCK;
        fill_pairs(device, key, first / 2, pairs, out);
        out += 2 * pairs;
        first += 2 * pairs;
        count -= 2 * pairs;
    }
    if (count > 0) { /* the first of a pair */
        fill_pairs(device, key, first / 2, 1, pair);
        *out = pair[0];
    }
}

void leat_normal_values(const leat_device *device, uint64_t key, float mean, float deviation,
                        int64_t count, float *out) {
    leat_normal_fill(device, key, 0, count, out);
    for (int64_t i = 0; i < count; i++) out[i] = mean + deviation * out[i];
}
