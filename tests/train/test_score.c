/* The distance between sets of images: cases with a known answer, and its file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train/tasks/images/image_spread.h"
#include "train/tasks/images/measure.h"
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
    char *text = train_read(path, &size), *found = strstr(text, "\"spread\":0.");
    assert_non_null(found);
    found[10]++; /* its number is hashed as well */
    assert_ok(leat_file_save(path, text, size, err));
    assert_fails(leat_score_load(&other, "abc", path, err), LEAT_ERR_NOT_FOUND, "damaged");
    found[10]--;
    for (int64_t cut = 0; cut < size - 2; cut += 101) {
        assert_ok(leat_file_save(path, text, cut, err));
        assert_fails(leat_score_load(&other, "abc", path, err), LEAT_ERR_NOT_FOUND, "");
    }
    leat_free(text);
}

/* Two sets of images that are as far apart as a formula says. */
static void the_spread_of_the_data_is_measured(void **state) {
    const leat_samples samples = train_samples(9);
    leat_score_reference *reference = calloc(1, sizeof *reference);
    leat_image_spread *spread = calloc(1, sizeof *spread);
    uint8_t image[LEAT_IMAGE_VALUES];
    (void)state;
    for (int64_t i = 0; i < 9; i++) {
        assert_ok(samples.read(samples.context, i, image, err));
        leat_image_spread_add(spread, image);
    }
    assert_ok(leat_score_measure(reference, &samples, 2, NULL, NULL, err));
    assert_true(reference->spread > 0.01 && reference->spread == leat_image_spread_get(spread));
    const leat_samples one = train_samples(1);
    assert_ok(leat_score_measure(reference, &one, 1, NULL, NULL, err));
    assert_true(isnan(reference->spread));
    free(reference);
    free(spread);
}

/* A process that goes on with the run. */
static void resume_with(const char *run, const leat_samples *samples) {
    const leat_train_options options = train_small();
    leat_trainer *trainer = train_create(&options, samples);
    leat_image_measure sampling;
    leat_run_folder folder;
    assert_ok(leat_run_folder_look(&folder, run, err));
    const leat_feed feed = {.samples = samples};
    const leat_measuring of = {.folder = &folder,
                               .model = leat_trainer_model(trainer),
                               .feed = &feed,
                               .options = &options};
    assert_ok(leat_image_measure_create(&sampling, &of, err));
    leat_image_measure_free(&sampling);
    train_destroy(trainer);
}

/* What leat wrote before it measured the spread still has the rest; a run that goes on measures. */
static void files_without_a_spread_are_read(void **state) {
    const leat_samples samples = train_samples(9);
    const char *run = train_path("version1");
    char path[LEAT_PATH_BYTES];
    leat_score_reference *here = calloc(1, sizeof *here), *there = calloc(1, sizeof *there);
    int64_t size = 0;
    (void)state;
    assert_ok(leat_path_make_dir(run, err));
    assert_ok(leat_path_join(path, sizeof path, run, LEAT_RUN_REFERENCE, err));
    assert_ok(leat_score_measure(here, &samples, 1, NULL, NULL, err));
    here->spread = NAN;
    assert_ok(leat_score_save(here, samples.fingerprint, path, err)); /* the same hash */
    char *text = train_read(path, &size), *version = strstr(text, "\"version\":2");
    assert_null(strstr(text, "spread"));
    assert_non_null(version);
    version[10] = '1';
    assert_ok(leat_file_save(path, text, size, err));
    assert_ok(leat_score_load(there, samples.fingerprint, path, err));
    assert_memory_equal(here->half, there->half, sizeof here->half);
    assert_true(isnan(there->spread));
    version[10] = '3';
    assert_ok(leat_file_save(path, text, size, err));
    assert_fails(leat_score_load(there, samples.fingerprint, path, err), LEAT_ERR_NOT_FOUND,
                 "damaged");
    version[10] = '1';
    assert_ok(leat_file_save(path, text, size, err));
    resume_with(run, &samples);
    assert_ok(leat_score_load(there, samples.fingerprint, path, err));
    assert_memory_equal(here->half, there->half, sizeof here->half);
    assert_true(there->spread > 0.01);
    const int64_t again = size;
    leat_free(text);
    text = train_read(path, &size);
    assert_true(size > again);
    leat_free(text);
    free(here);
    free(there);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_distances),
        cmocka_unit_test(few_images_have_none),
        cmocka_unit_test(sums_are_merged),
        cmocka_unit_test(measurements_are_kept),
        cmocka_unit_test(the_spread_of_the_data_is_measured),
        cmocka_unit_test(files_without_a_spread_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
