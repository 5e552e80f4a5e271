/*
 * Summaries against brute force over values that are functions of (probe, measurement), and the
 * same for any number of threads.
 */
/* TSan: rows read by several threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/address.h"
#include "base/rng.h"
#include "load/subset.h"
#include "make_dataset.h"
#include "plant.h"

static char root[] = "/tmp/leat-summary-XXXXXX";
static int made_folders;

static int make_root(void **state) {
    (void)state;
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state) {
    (void)state;
    return leat_path_remove_tree(root, NULL) != LEAT_OK;
}

static const char *planted(char path[256], const plant_options *options) {
    snprintf(path, 256, "%s/%d", root, made_folders++);
    plant(path, options);
    return path;
}

/* ---- Distributions ------------------------------------------------------------------------ */

static void test_bins(void **state) {
    (void)state;
    for (int bin = 0; bin < LEAT_DISTRIBUTION_BINS; bin++) {
        int64_t low = leat_distribution_bin_low(bin), next = leat_distribution_bin_low(bin + 1);
        assert_true(next > low);
        assert_int_equal(leat_distribution_bin(low), bin);
        assert_int_equal(leat_distribution_bin(next - 1), bin);
        if (low >= 64) assert_true((double)(next - low) / (double)low <= 1.0 / 64);
        else assert_int_equal(next, low + 1);
    }
    assert_int_equal(leat_distribution_bin(INT64_MAX), LEAT_DISTRIBUTION_BINS - 1);
    assert_int_equal(leat_distribution_bin(-5), 0);
}

static int compare_values(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Values over many octaves, among them small ones, equal ones and the largest there is. */
static int64_t random_value(uint64_t seed, int64_t i) {
    uint64_t bits = leat_random(seed, 0, (uint64_t)i);
    return (int64_t)(bits >> 1) >> (leat_random(seed, 1, (uint64_t)i) % 63);
}

/* Everything a distribution says, against the sorted values. */
static void expect_dist(const leat_distribution *dist, int64_t *values, int64_t count) {
    long double sum = 0;
    assert_int_equal(dist->count, count);
    if (count == 0) return;
    qsort(values, (size_t)count, sizeof *values, compare_values);
    for (int64_t i = 0; i < count; i++) sum += values[i];
    assert_int_equal(dist->min, values[0]);
    assert_int_equal(dist->max, values[count - 1]);
    double mean = (double)(sum / count);
    assert_true(fabs(leat_distribution_mean(dist) - mean) <= 1e-12 * (mean + 1));
    for (int p = 0; p <= 100; p++) {
        int64_t rank = (int64_t)ceil(p / 100.0 * (double)count);
        double exact = (double)values[rank < 1 ? 0 : rank - 1];
        double said = leat_distribution_quantile(dist, p / 100.0);
        if (fabs(said - exact) > exact / 64 + 1e-9)
            fail_msg("p%d is %.17g, must be %.17g", p, said, exact);
    }
}

static void test_quantiles(void **state) {
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 3, 10, 1000, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        leat_distribution *dist = calloc(1, sizeof *dist), *parts = calloc(3, sizeof *parts);
        int64_t *values = calloc((size_t)counts[c] + 1, sizeof *values);
        assert_true(dist != NULL && parts != NULL && values != NULL);
        for (int64_t i = 0; i < counts[c]; i++) {
            values[i] = random_value(c, i);
            leat_distribution_add(&parts[i % 3], values[i], 1);
        }
        for (int i = 2; i >= 0; i--) leat_distribution_merge(dist, &parts[i]);
        expect_dist(dist, values, counts[c]);
        leat_distribution whole = {0};
        for (int64_t i = 0; i < counts[c]; i++) leat_distribution_add(&whole, values[i], 1);
        assert_memory_equal(dist, &whole, sizeof whole);
        double all = leat_distribution_between(dist, 0, 1e19);
        assert_true(fabs(all - (double)counts[c]) < 1e-6);
        free(dist);
        free(parts);
        free(values);
    }
    leat_distribution twice = {0}, one = {0};
    leat_distribution_add(&twice, 5, 2);
    leat_distribution_add(&one, 5, 1);
    leat_distribution_add(&one, 5, 1);
    leat_distribution_add(&one, 9, 0);
    assert_memory_equal(&twice, &one, sizeof one);
    assert_true(leat_distribution_between(&one, 5, 6) == 2 &&
                leat_distribution_between(&one, 5.5, 9) == 0);
}

/* The same times in other orders and parts give the same line; the step is the least that fits. */
static void test_timeline(void **state) {
    (void)state;
    static const int64_t ranges_s[] = {0,    1,     255,        256,           257,
                                       3600, 86400, 40 * 86400, 2000 * 86400LL};
    static const int64_t steps_s[] = {1, 1, 1, 5, 5, 30, 600, 6 * 3600, 28 * 86400};
    for (size_t r = 0; r < sizeof ranges_s / sizeof ranges_s[0]; r++) {
        enum { N = 500 };
        int64_t times[N], total = 0, failures = 0;
        leat_timeline forward = {0}, backward = {0}, parts[3] = {{0}}, merged = {0};
        for (int i = 0; i < N; i++) {
            double unit = i == 0   ? 0
                          : i == 1 ? 1
                                   : leat_random_unit(leat_random(r, 2, (uint64_t)i));
            times[i] = INT64_C(1556064000000000) + (int64_t)(unit * (double)ranges_s[r] * 1e6);
        }
        for (int i = 0; i < N; i++) {
            leat_timeline_add(&forward, times[i], 1, i % 7 == 0);
            leat_timeline_add(&backward, times[N - 1 - i], 1, (N - 1 - i) % 7 == 0);
            leat_timeline_add(&parts[i % 50 == 0 ? 0 : i % 3], times[i], 1, i % 7 == 0);
        }
        for (int i = 0; i < 3; i++) leat_timeline_merge(&merged, &parts[2 - i]);
        assert_memory_equal(&forward, &backward, sizeof forward);
        assert_memory_equal(&forward, &merged, sizeof forward);
        assert_int_equal(forward.step_us, steps_s[r] * 1000000);
        assert_true(forward.bins <= LEAT_TIMELINE_BINS);
        for (int i = 0; i < forward.bins; i++) {
            int64_t begin = forward.begin_us + i * forward.step_us, count = 0;
            for (int k = 0; k < N; k++)
                count += times[k] >= begin && times[k] < begin + forward.step_us;
            assert_int_equal(forward.measurements[i], count);
            total += forward.measurements[i];
            failures += forward.failures[i];
        }
        assert_int_equal(total, N);
        assert_int_equal(failures, (N + 6) / 7);
    }
    /* A part of a finer step, merged into one of a coarser step and the other way round. */
    leat_timeline fine = {0}, coarse = {0}, expected = {0}, there, back;
    leat_timeline_add(&fine, 3000000, 1, 0);
    leat_timeline_add(&coarse, 0, 1, 1);
    leat_timeline_add(&coarse, 257000000, 1, 0);
    leat_timeline_add(&expected, 0, 1, 1);
    leat_timeline_add(&expected, 257000000, 1, 0);
    leat_timeline_add(&expected, 3000000, 1, 0);
    there = fine;
    leat_timeline_merge(&there, &coarse);
    back = coarse;
    leat_timeline_merge(&back, &fine);
    assert_memory_equal(&there, &expected, sizeof expected);
    assert_memory_equal(&back, &expected, sizeof expected);

    there = (leat_timeline){0};
    leat_timeline_merge(&there, &coarse);
    assert_memory_equal(&there, &coarse, sizeof coarse);

    leat_timeline far = {0};
    leat_timeline_add(&far, INT64_MAX, 1, 0);
    leat_timeline_add(&far, INT64_MIN, 1, 1);
    assert_true(far.bins <= LEAT_TIMELINE_BINS);
}

/* ---- A data set --------------------------------------------------------------------------- */

static leat_summary *summary_of(const char *dir, const leat_summary_options *options) {
    leat_dataset *dataset = NULL;
    leat_summary *summary = NULL;
    leat_error err = {0};
    if (leat_dataset_open(&dataset, &dir, 1, NULL, &err) != LEAT_OK ||
        leat_summary_create(&summary, dataset, options, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    leat_dataset_close(dataset);
    return summary;
}

typedef struct brute {
    int64_t rtt[8192], gap[8192], counts[PLANT_PROBES], sorted_counts[PLANT_PROBES];
    int64_t rtts, gaps, measurements, failures[2], values[2], first_us, last_us;
} brute;

static void count_by_brute_force(brute *all) {
    memset(all, 0, sizeof *all);
    all->first_us = INT64_MAX;
    for (int probe = 0; probe < PLANT_PROBES; probe++) {
        all->counts[probe] = all->sorted_counts[probe] = plant_count(probe);
        for (int64_t i = 0; i < plant_count(probe); i++) {
            plant_value value = plant_measurement(probe, i);
            int version = value.ip_version == 6;
            all->measurements++;
            all->values[version]++;
            if (value.rtt < 0) all->failures[version]++;
            else all->rtt[all->rtts++] = (int64_t)llround((double)value.rtt * 1e6);
            if (i > 0)
                all->gap[all->gaps++] = value.time_us - plant_measurement(probe, i - 1).time_us;
            if (value.time_us < all->first_us) all->first_us = value.time_us;
            if (value.time_us > all->last_us) all->last_us = value.time_us;
        }
    }
}

static void expect_values(const leat_summary *s, brute *all) {
    expect_dist(&s->rtt_ns, all->rtt, all->rtts);
    expect_dist(&s->gap_us, all->gap, all->gaps);
    expect_dist(&s->probe_measurements, all->sorted_counts, PLANT_PROBES);
    assert_int_equal(s->rows_read, s->all.rows);
    assert_int_equal(s->measurements_read, all->measurements);
    assert_int_equal(s->bytes_read, s->all.record_bytes);
    for (int version = 0; version < 2; version++) {
        assert_int_equal(s->values_by_version[version], all->values[version]);
        assert_int_equal(s->measurements_by_version[version], all->values[version]);
        assert_int_equal(s->failures_by_version[version], all->failures[version]);
    }
    int64_t total = 0, failures = 0;
    for (int i = 0; i < s->timeline.bins; i++) {
        total += s->timeline.measurements[i];
        failures += s->timeline.failures[i];
    }
    assert_int_equal(total, all->measurements);
    assert_int_equal(failures, all->failures[0] + all->failures[1]);
    assert_int_equal(s->first_us, all->first_us);
    assert_int_equal(s->last_us, all->last_us);
}

static void expect_parts(const leat_summary *s, const brute *all) {
    int64_t rows = 0, measurements = 0, bytes = 0, shard_rows = 0;
    assert_int_equal(s->all.probes, PLANT_PROBES);
    assert_int_equal(s->all.measurements, all->measurements);
    assert_int_equal(s->split[0].probes + s->split[1].probes + s->split[2].probes, PLANT_PROBES);
    for (int split = 0; split < 3; split++) {
        rows += s->split[split].rows;
        measurements += s->split[split].measurements;
        bytes += s->split[split].record_bytes;
    }
    for (int64_t k = 0; k < s->shard_count; k++) shard_rows += s->shards[k].rows;
    assert_int_equal(rows, s->all.rows);
    assert_int_equal(shard_rows, s->all.rows);
    assert_int_equal(measurements, all->measurements);
    assert_int_equal(bytes, s->all.record_bytes);
    assert_int_equal(s->record_bytes.count, s->all.rows);
    assert_int_equal(s->row_measurements.count, s->all.rows);
    assert_true(s->all.rows > PLANT_PROBES);
}

/* The list of the largest probes against sorting all of them. */
static void expect_top(const leat_summary *s) {
    assert_int_equal(s->top_count, LEAT_SUMMARY_TOP);
    for (int i = 0; i < s->top_count; i++) {
        char src[LEAT_PROBE_SRC_BYTES];
        int larger = 0, probe = -1;
        for (int k = 0; k < PLANT_PROBES; k++) {
            plant_source(k, src);
            if (plant_count(k) > s->top[i].measurements) larger++;
            if (strcmp(src, s->top[i].src) == 0) probe = k;
        }
        assert_true(probe >= 0);
        plant_source(probe, src);
        assert_int_equal(s->top[i].measurements, plant_count(probe));
        assert_int_equal(s->top[i].src_id, leat_address_src_id(src, (int64_t)strlen(src)));
        assert_true(larger <= i);
        assert_int_equal(s->top[i].first_us, plant_measurement(probe, 0).time_us);
        assert_int_equal(s->top[i].last_us,
                         plant_measurement(probe, plant_count(probe) - 1).time_us);
        if (i > 0) assert_true(s->top[i].measurements <= s->top[i - 1].measurements);
    }
}

static void expect_rows(const leat_summary *s, int64_t wanted) {
    assert_int_equal(s->row_count, wanted);
    for (int64_t i = 0; i < s->row_count; i++) {
        const leat_summary_row *row = &s->rows[i];
        if (i > 0) assert_true(row->row > s->rows[i - 1].row);
        int64_t failures = 0;
        int probe = 0;
        char src[LEAT_PROBE_SRC_BYTES];
        for (; probe < PLANT_PROBES; probe++) {
            plant_source(probe, src);
            if (strcmp(src, row->src) == 0) break;
        }
        assert_true(probe < PLANT_PROBES);
        int64_t first = 0;
        while (plant_measurement(probe, first).time_us < row->first_us) first++;
        /* Rows of one probe may share a time at the cut. */
        for (int64_t k = 0; k < row->measurements; k++)
            failures += plant_measurement(probe, first + k).rtt < 0;
        assert_true(llabs(failures - row->failures) <= 1);
        assert_int_equal(row->ip_version, plant_measurement(probe, 0).ip_version);
        assert_int_equal(row->shown_count, row->measurements < 3 ? row->measurements : 3);
    }
    assert_int_equal(s->rows[0].row, 0);
    assert_int_equal(s->rows[s->row_count - 1].row, s->all.rows - 1);
}

/* Compares all but the addresses of what the summaries own. */
static void expect_equal(const leat_summary *a, const leat_summary *b) {
    leat_summary x = *a, y = *b;
    for (int64_t i = 0; i < a->row_count; i++)
        assert_memory_equal(&a->rows[i], &b->rows[i], sizeof a->rows[i]);
    for (int64_t i = 0; i < a->shard_count; i++)
        assert_string_equal(a->shards[i].path, b->shards[i].path);
    x.shards = y.shards = NULL;
    x.rows = y.rows = NULL;
    assert_memory_equal(&x, &y, sizeof x);
}

static void test_against_brute_force(void **state) {
    (void)state;
    brute *all = calloc(1, sizeof *all);
    assert_non_null(all);
    for (int variant = 0; variant < 4; variant++) {
        char dir[256];
        plant_options planted_options = plant_options_default();
        leat_error err = {0};
        if (variant & 1)
            assert_int_equal(leat_ar_options_parse("zstd", &planted_options.record, &err), LEAT_OK);
        planted(dir, &planted_options);
        if (variant & 2) assert_int_equal(make_files_of_others(dir, NULL), LEAT_OK);
        leat_summary_options options = leat_summary_options_default();
        options.threads = 1;
        options.row_count = 5;
        leat_summary *s = summary_of(dir, &options);
        assert_int_equal(s->ours, !(variant & 2));
        count_by_brute_force(all);
        expect_values(s, all);
        expect_parts(s, all);
        expect_top(s);
        expect_rows(s, 5);
        static const int threads[] = {2, 3, 8};
        for (int i = 0; i < 3; i++) {
            options.threads = threads[i];
            leat_summary *other = summary_of(dir, &options);
            expect_equal(s, other);
            leat_summary_destroy(other);
        }
        leat_summary_destroy(s);
    }
    free(all);
}

/* A sample depends on the budget alone, has about its size, and is said to be one. */
static void test_sample(void **state) {
    (void)state;
    char dir[256];
    plant_options planted_options = plant_options_default();
    planted(dir, &planted_options);
    leat_summary_options options = leat_summary_options_default();
    options.read_bytes_max = -1;
    leat_summary *whole = summary_of(dir, &options);
    static const int64_t divisors[] = {2, 4, 100000000};
    for (size_t i = 0; i < 3; i++) {
        options.read_bytes_max = whole->all.record_bytes / divisors[i];
        if (options.read_bytes_max == 0) options.read_bytes_max = 1;
        options.threads = 1;
        leat_summary *one = summary_of(dir, &options);
        options.threads = 8;
        leat_summary *eight = summary_of(dir, &options);
        expect_equal(one, eight);
        assert_true(one->rows_read >= 1 && one->rows_read < whole->all.rows);
        int64_t expected = 0;
        for (int64_t row = 0; row < whole->all.rows; row++)
            expected += leat_subset_has(row, options.read_bytes_max, whole->all.record_bytes);
        assert_int_equal(one->rows_read, expected == 0 ? 1 : expected);
        assert_int_equal(one->all.measurements, whole->all.measurements);
        assert_memory_equal(&one->row_span_us, &whole->row_span_us, sizeof one->row_span_us);
        leat_summary_destroy(one);
        leat_summary_destroy(eight);
    }
    options.read_bytes_max = 0;
    leat_summary *facts = summary_of(dir, &options);
    assert_int_equal(facts->rows_read, 0);
    assert_int_equal(facts->rtt_ns.count, 0);
    assert_int_equal(facts->all.rows, whole->all.rows);
    leat_summary_destroy(facts);
    leat_summary_destroy(whole);
    int64_t chosen = 0;
    for (int64_t row = 0; row < 100000; row++) chosen += leat_subset_has(row, 1, 4);
    assert_true(chosen > 24500 && chosen < 25500); /* 3.6 standard deviations */
}

/* The row that fails is named, the lowest one, whatever the threads do. */
static void test_damaged_row(void **state) {
    (void)state;
    char dir[256], path[512], message[LEAT_MESSAGE_BYTES] = "";
    plant_options planted_options = plant_options_default();
    planted(dir, &planted_options);
    static const char *const shards[] = {"train/train_shard_00001", "train/train_shard_00003",
                                         "test/test_shard_00000"};
    for (int i = 0; i < 3; i++) {
        leat_file *file = NULL;
        uint8_t byte = 0;
        snprintf(path, sizeof path, "%s/%s.arrayrecord", dir, shards[i]);
        assert_int_equal(leat_file_open(&file, path, LEAT_FILE_UPDATE, NULL), LEAT_OK);
        for (int64_t at = 500; at < 9000; at += 4096) {
            assert_int_equal(leat_file_pread(file, &byte, 1, at, NULL), LEAT_OK);
            byte ^= 4;
            assert_int_equal(leat_file_pwrite(file, &byte, 1, at, NULL), LEAT_OK);
        }
        leat_file_close(file);
    }
    for (int threads = 1; threads <= 40; threads++) {
        leat_dataset *dataset = NULL;
        leat_summary *summary = NULL;
        leat_error err = {0};
        leat_summary_options options = leat_summary_options_default();
        const char *dir_text = dir;
        options.threads = threads;
        assert_int_equal(leat_dataset_open(&dataset, &dir_text, 1, NULL, &err), LEAT_OK);
        assert_int_equal(leat_summary_create(&summary, dataset, &options, &err), LEAT_ERR_CORRUPT);
        assert_null(summary);
        assert_non_null(strstr(err.message, "train_shard_00001"));
        if (message[0] == 0) snprintf(message, sizeof message, "%s", err.message);
        assert_string_equal(message, err.message);
        leat_dataset_close(dataset);
    }
}

static void test_refusals(void **state) {
    (void)state;
    char dir[256];
    plant_options planted_options = plant_options_default();
    const char *dir_text = planted(dir, &planted_options);
    leat_dataset *dataset = NULL;
    leat_summary *summary = NULL;
    leat_error err = {0};
    leat_summary_options options = leat_summary_options_default();
    assert_int_equal(leat_dataset_open(&dataset, &dir_text, 1, NULL, &err), LEAT_OK);
    options.threads = 0;
    assert_int_equal(leat_summary_create(&summary, dataset, &options, &err), LEAT_ERR_OPTION);
    options.threads = 1;
    options.row_count = -1;
    assert_int_equal(leat_summary_create(&summary, dataset, &options, &err), LEAT_ERR_OPTION);
    options.row_count = 1000000;
    assert_int_equal(leat_summary_create(&summary, dataset, &options, &err), LEAT_ERR_OPTION);
    options.row_count = 1000; /* more than there are */
    assert_int_equal(leat_summary_create(&summary, dataset, &options, &err), LEAT_OK);
    assert_int_equal(summary->row_count, summary->all.rows);
    leat_summary_destroy(summary);
    options.progress = plant_stop_at_once;
    assert_int_equal(leat_summary_create(&summary, dataset, &options, &err), LEAT_ERR_CANCELLED);
    assert_null(summary);
    leat_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bins),     cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_timeline), cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_sample),   cmocka_unit_test(test_damaged_row),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
