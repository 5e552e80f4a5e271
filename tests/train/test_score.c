/* The distance between sets of images: cases with a known answer, and its file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train/score.h"
#include "train_support.h"

enum { N = LEAT_SCORE_N };

static leat_score_sums a, b;

static double distance(const leat_score_sums *x, const leat_score_sums *y) {
    double result = 0;
    assert_ok(leat_score_distance(x, y, &result, err));
    return result;
}

/* Adds points m +- s_i sqrt(2 N) e_i / 2 ..., whose covariance is diagonal: s_i^2 but for
 * rounding. */
static void fill(leat_score_sums *sums, const double *mean, const double *deviation,
                 const double *turned) {
    memset(sums, 0, sizeof *sums);
    for (int i = 0; i < N; i++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            float features[N];
            for (int k = 0; k < N; k++) {
                double along = sqrt((2.0 * N - 1) / 2) * deviation[i] * sign;
                /* reflected at the plane across `turned`, which keeps lengths and angles */
                double value = k == i ? along : 0;
                if (turned != NULL) value -= 2 * turned[k] * turned[i] * along;
                features[k] = (float)(mean[k] + value);
            }
            leat_score_add(sums, features);
        }
    }
}

static void numbers(uint64_t seed, double *out, double scale) {
    for (int i = 0; i < N; i++)
        out[i] = scale * leat_random_unit(leat_random(seed, 0, (uint64_t)i));
}

static void known_distances(void **state) {
    double mean_a[N], mean_b[N], deviation_a[N], deviation_b[N], normal[N], want = 0, length = 0;
    (void)state;
    numbers(1, mean_a, 1);
    numbers(2, mean_b, 1);
    numbers(3, deviation_a, 0.5);
    numbers(4, deviation_b, 0.5);
    numbers(5, normal, 1);
    for (int i = 0; i < N; i++) {
        want += pow(mean_a[i] - mean_b[i], 2) + pow(deviation_a[i] - deviation_b[i], 2);
        length += normal[i] * normal[i];
    }
    for (int i = 0; i < N; i++) normal[i] /= sqrt(length);
    fill(&a, mean_a, deviation_a, NULL);
    fill(&b, mean_b, deviation_b, NULL);
    assert_float_equal(distance(&a, &b), want, 1e-5 * want);
    assert_float_equal(distance(&a, &a), 0, 1e-7);
    /* turned together, they are as far apart; turned alone, they are not */
    fill(&a, mean_a, deviation_a, normal);
    fill(&b, mean_b, deviation_b, normal);
    assert_float_equal(distance(&a, &b), want, 1e-5 * want);
    assert_float_equal(distance(&a, &b), distance(&b, &a), 1e-9);
    fill(&b, mean_b, deviation_b, NULL);
    assert_true(fabs(distance(&a, &b) - want) > 1e-3 * want);
}

static void few_images_have_none(void **state) {
    float features[N] = {0};
    double zeros[N] = {0};
    (void)state;
    fill(&a, zeros, zeros, NULL);
    memset(&b, 0, sizeof b);
    assert_true(isnan(distance(&a, &b)));
    leat_score_add(&b, features);
    assert_true(isnan(distance(&a, &b)));
    leat_score_add(&b, features);
    assert_true(distance(&a, &b) == 0);
    features[3] = NAN;
    leat_score_add(&b, features);
    assert_true(isnan(distance(&a, &b)));
}

static void sums_are_merged(void **state) {
    leat_score_sums all = {0}, half[2] = {{0}, {0}};
    (void)state;
    for (int i = 0; i < 20; i++) {
        float features[N];
        for (int k = 0; k < N; k++) features[k] = (float)((i * 7 + k * 3) % 11);
        leat_score_add(&all, features);
        leat_score_add(&half[i % 2], features);
    }
    leat_score_merge(&half[0], &half[1]);
    assert_memory_equal(&half[0], &all, sizeof all); /* whole numbers add up exactly */
}

static void measurements_are_kept(void **state) {
    const leat_samples samples = train_samples(9);
    const char *path = train_path("reference.json");
    leat_score_reference one, other, three;
    int64_t size = 0;
    (void)state;
    assert_ok(leat_score_measure(&one, &samples, 1, NULL, NULL, err));
    assert_ok(leat_score_measure(&three, &samples, 3, "scalar", NULL, err));
    assert_memory_equal(&one, &three, sizeof one);
    assert_int_equal(one.half[0].count, 5);
    assert_int_equal(one.half[1].count, 4);
    assert_ok(leat_score_save(&one, "abc", path, err));
    assert_ok(leat_score_load(&other, "abc", path, err));
    assert_memory_equal(&one, &other, sizeof one);
    assert_fails(leat_score_load(&other, "abd", path, err), LEAT_ERR_NOT_FOUND,
                 "different data set");
    char *text = train_read(path, &size);
    for (int64_t cut = 0; cut < size - 2; cut += 101) {
        assert_ok(leat_file_save(path, text, cut, err));
        assert_fails(leat_score_load(&other, "abc", path, err), LEAT_ERR_NOT_FOUND, "");
    }
    leat_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_distances),
        cmocka_unit_test(few_images_have_none),
        cmocka_unit_test(sums_are_merged),
        cmocka_unit_test(measurements_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
