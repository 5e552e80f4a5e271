/*
 * Synthetic measurements: the numbers that were asked for are kept exactly, the distributions are
 * those that are promised, any row can be made alone, and files appear whole or not at all.
 */
/* TSan: measurements written by several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "synth/probes/probes.h"

#define MINUTE_US INT64_C(60000000)

static leat_synth *make(int64_t measurements, int64_t probes, uint64_t seed) {
    leat_synth *synth = NULL;
    leat_error err = {0};
    if (leat_synth_create(&synth, measurements, probes, seed, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    return synth;
}

/* ---- Shape ------------------------------------------------------------------------------- */

static const struct {
    int64_t measurements, probes;
    double least_ratio, most_ratio; /* largest probe to mean probe */
} shapes[] = {
    {1, 1, 1, 1},
    {2, 1, 1, 1},
    {2, 2, 1, 1},
    {1000, 1, 1, 1},
    {1000, 999, 1, 2},
    {1000, 1000, 1, 1},
    {1000000, 1, 1, 1},
    {1000, 3, 1, 3},
    {12345, 67, 2, 20},
    {500028, 18928, 100, 1000},
    {1000000, 4255, 50, 200},
    {100000000, 425531, 1000, 2500},
    {1000000000, 4255319, 1000, 2500},
    {1000000000, 7, 1, 7},
    {1000000000, 1000000000, 1, 1},
    {10000000000, 2000000000, 100, 20000},
};

/* The rows of 20 equal parts of the period, the least and the most as shares of the mean. */
static void measure_rate(const leat_synth *synth, double *least, double *most) {
    enum { PARTS = 20 };
    const leat_synth_run *run = synth->runs;
    int64_t cycles = leat_synth_largest(synth), before = 0;
    double mean = (double)synth->measurements / PARTS;
    *least = 2, *most = 0;
    for (int64_t part = 1; part <= PARTS; part++) {
        int64_t end = (int64_t)((__int128)cycles * part / PARTS);
        while (run[1].cycle_first < end) run++;
        int64_t rows = run->row_first + (end - run->cycle_first) * run->active;
        double rate = (double)(rows - before) / mean;
        if (rate < *least) *least = rate;
        if (rate > *most) *most = rate;
        before = rows;
    }
}

static void test_shape(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        leat_synth *synth = make(shapes[i].measurements, shapes[i].probes, 5);
        const leat_synth_run *runs = synth->runs;
        int64_t sum = 0, probes = 0, lanes = 0;
        for (int64_t k = 0; k < synth->run_count; k++) {
            assert_int_equal(runs[k].row_first, sum);
            assert_true(runs[k + 1].cycle_first > runs[k].cycle_first);
            if (k > 0) assert_true(runs[k].active <= runs[k - 1].active && runs[k].active > 0);
            sum += runs[k].active * (runs[k + 1].cycle_first - runs[k].cycle_first);
        }
        assert_int_equal(sum, shapes[i].measurements);
        sum = 0;
        for (int64_t k = 0; k < synth->lanes_count; k++) {
            const leat_synth_lanes *group = &synth->lanes[k];
            int64_t length = 0;
            assert_int_equal(group->lane_first, lanes);
            assert_true(k == 0 || group->length <= group[-1].length);
            lanes += group->lanes;
            for (int64_t j = 0; j < group->segment_count; j++) {
                const leat_synth_segment *segment = &synth->segments[group->segment_first + j];
                assert_int_equal(segment->begin, length);
                length += segment->size * segment->count;
                probes += segment->count * group->lanes;
            }
            assert_int_equal(length, group->length);
            sum += length * group->lanes;
        }
        assert_int_equal(sum, shapes[i].measurements);
        assert_int_equal(probes, shapes[i].probes);
        assert_int_equal(lanes, runs[0].active);
        /* a table that grew with the probes would be no table */
        assert_true(synth->segment_count + synth->lanes_count < 100000);
        double mean = (double)shapes[i].measurements / (double)shapes[i].probes;
        double ratio = (double)leat_synth_largest(synth) / mean, least, most;
        if (ratio < shapes[i].least_ratio || ratio > shapes[i].most_ratio)
            fail_msg("%lld measurements, %lld probes: the largest has %.1f times the mean",
                     (long long)shapes[i].measurements, (long long)shapes[i].probes, ratio);
        measure_rate(synth, &least, &most);
        leat_synth_destroy(synth);
    }
}

/* The last row is before LEAT_SYNTH_END_US, whatever the size; shorter periods begin as ever. */
static void test_period(void **state) {
    static const struct {
        int64_t measurements, probes;
        bool moved;
    } cases[] = {
        {1, 1, false},           {1000000, 4255, false},     {10000000, 42553, false},
        {190080, 1, false},      {190081, 1, true},          {20000000, 85000, true},
        {4000000, 1, true},      {300000000, 1276595, true}, {1000000000, 4255319, true},
        {500028, 500028, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_synth *synth = make(cases[i].measurements, cases[i].probes, 5);
        leat_synth_cursor cursor;
        leat_synth_row first, last;
        leat_synth_seek(&cursor, synth, 0);
        assert_true(leat_synth_next(&cursor, &first));
        leat_synth_seek(&cursor, synth, cases[i].measurements - 1);
        assert_true(leat_synth_next(&cursor, &last));
        assert_true(last.time_us < LEAT_SYNTH_END_US);
        assert_int_equal(synth->start_us != LEAT_SYNTH_START_US, cases[i].moved);
        assert_int_equal((synth->start_us - LEAT_SYNTH_START_US) % LEAT_SYNTH_DAY_US, 0);
        assert_true(first.time_us >= synth->start_us);
        if (cases[i].moved) /* and not earlier than necessary */
            assert_true(last.time_us > LEAT_SYNTH_END_US - LEAT_SYNTH_DAY_US - LEAT_SYNTH_CYCLE_US);
        leat_synth_destroy(synth);
    }
}

static void test_shape_refused(void **state) {
    static const int64_t cases[][2] = {{0, 1},  {-1, 1},          {10, 11},
                                       {10, 0}, {10000000001, 1}, {10000000000, 2000000001}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_synth *synth = (leat_synth *)state;
        leat_error err = {0};
        assert_int_equal(leat_synth_create(&synth, cases[i][0], cases[i][1], 1, &err),
                         LEAT_ERR_OPTION);
        assert_null(synth);
    }
}

/* ---- Rows -------------------------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void assert_between(const char *what, double value, double least, double most) {
    if (!(value >= least && value <= most))
        fail_msg("%s: %g is not between %g and %g", what, value, least, most);
}

/* What a pass over all rows finds. */
typedef struct found {
    int64_t *counts, *last_us;     /* by probe */
    leat_synth_address *addresses; /* by probe */
    float *rtt;
    int64_t rtt_count, failed, ipv4, anchored, last_row_us, period_us;
    int64_t begun[10]; /* probes whose first measurement is in that tenth of the period */
} found;

static void look_at_row(found *all, const leat_synth_row *row) {
    int64_t probe = row->probe;
    assert_int_equal(row->number, all->counts[probe]);
    if (row->number == 0) {
        all->addresses[probe] = row->src;
        all->begun[(row->time_us - LEAT_SYNTH_START_US) * 10 / all->period_us]++;
        assert_int_equal(leat_address_parse(row->src.text, row->src.size_bytes, NULL),
                         row->ip_version);
    } else {
        int64_t gap_us = row->time_us - all->last_us[probe];
        assert_true(gap_us >= MINUTE_US && gap_us <= 5 * MINUTE_US);
        assert_int_equal(row->src.size_bytes, all->addresses[probe].size_bytes);
        assert_memory_equal(row->src.text, all->addresses[probe].text, row->src.size_bytes);
    }
    assert_int_equal(leat_address_parse(row->dst->text, row->dst->size_bytes, NULL),
                     row->ip_version);
    assert_true(row->time_us >= all->last_row_us - LEAT_SYNTH_NOISE_US);
    all->last_row_us = row->time_us;
    all->last_us[probe] = row->time_us;
    all->counts[probe]++;
    all->ipv4 += row->ip_version == 4;
    all->anchored += row->dst != &row->own_target;
    if (row->rtt < 0) {
        assert_true(row->rtt == -1.0f);
        all->failed++;
    } else {
        all->rtt[all->rtt_count++] = row->rtt;
    }
}

static int compare_addresses(const void *a, const void *b) {
    const leat_synth_address *x = a, *y = b;
    if (x->size_bytes != y->size_bytes) return x->size_bytes - y->size_bytes;
    return memcmp(x->text, y->text, x->size_bytes);
}

static void check_probes(found *all, int64_t probes) {
    int64_t ipv6_long = 0, ipv6 = 0, small = 0;
    for (int64_t i = 0; i < probes; i++) {
        assert_true(all->counts[i] >= 1);
        small += all->counts[i] <= 20;
        if (leat_address_parse(all->addresses[i].text, all->addresses[i].size_bytes, NULL) == 6) {
            ipv6++;
            ipv6_long += all->addresses[i].size_bytes >= 30;
        }
    }
    assert_between("share of IPv4 probes", 1 - (double)ipv6 / (double)probes, 0.567, 0.587);
    assert_between("share of long IPv6 addresses", (double)ipv6_long / (double)ipv6, 0.75, 1);
    assert_between("share of small probes", (double)small / (double)probes, 0.7, 0.95);
    qsort(all->addresses, (size_t)probes, sizeof *all->addresses, compare_addresses);
    for (int64_t i = 1; i < probes; i++)
        assert_true(compare_addresses(&all->addresses[i - 1], &all->addresses[i]) != 0);
}

static void test_distributions(void **state) {
    enum { MEASUREMENTS = 1300000, PROBES = 50000 };
    leat_synth *synth = make(MEASUREMENTS, PROBES, 3);
    leat_synth_cursor cursor;
    leat_synth_row row;
    found all = {.last_row_us = LEAT_SYNTH_START_US,
                 .period_us = leat_synth_largest(synth) * LEAT_SYNTH_CYCLE_US};
    int64_t rows = 0;
    (void)state;
    all.counts = calloc(PROBES, sizeof *all.counts);
    all.last_us = calloc(PROBES, sizeof *all.last_us);
    all.addresses = calloc(PROBES, sizeof *all.addresses);
    all.rtt = calloc(MEASUREMENTS, sizeof *all.rtt);
    for (leat_synth_seek(&cursor, synth, 0); leat_synth_next(&cursor, &row); rows++)
        look_at_row(&all, &row);
    assert_int_equal(rows, MEASUREMENTS);
    check_probes(&all, PROBES);
    assert_int_equal(all.counts[0], leat_synth_largest(synth));
    for (int i = 1; i < PROBES; i++) assert_true(all.counts[i] <= all.counts[i - 1]);
    for (int i = 0; i < 10; i++)
        assert_between("share of probes that begin", (double)all.begun[i] / PROBES, 0.03, 0.25);
    qsort(all.rtt, (size_t)all.rtt_count, sizeof *all.rtt, compare_floats);
    assert_between("share of failures", (double)all.failed / MEASUREMENTS, 0.0345, 0.0355);
    assert_between("share of anchors", (double)all.anchored / MEASUREMENTS, 0.845, 0.855);
    /* most of the variance is in pairs of probe and target, and large probes have few pairs */
    assert_between("median rtt", all.rtt[all.rtt_count / 2], 48, 52);
    assert_between("99th percentile of rtt", all.rtt[all.rtt_count * 99 / 100], 330, 356);
    assert_between("largest rtt", all.rtt[all.rtt_count - 1], 50000, 302281.01);
    assert_between("smallest rtt", all.rtt[0], 0.1, 10);
    free(all.counts);
    free(all.last_us);
    free(all.addresses);
    free(all.rtt);
    leat_synth_destroy(synth);
}

static bool same_row(const leat_synth_row *a, const leat_synth_row *b) {
    return a->probe == b->probe && a->number == b->number && a->time_us == b->time_us &&
           a->rtt == b->rtt && compare_addresses(&a->src, &b->src) == 0 &&
           compare_addresses(a->dst, b->dst) == 0;
}

/* Any row alone is the row that a pass gives. */
static void test_seek(void **state) {
    static const int64_t sizes[][2] = {{1, 1}, {10, 3}, {5000, 40}, {5000, 5000}, {5000, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        leat_synth *synth = make(sizes[i][0], sizes[i][1], 9);
        leat_synth_cursor walking, jumping;
        leat_synth_row expected, row;
        leat_synth_seek(&walking, synth, 0);
        for (int64_t at = 0; leat_synth_next(&walking, &expected); at++) {
            leat_synth_seek(&jumping, synth, at);
            assert_true(leat_synth_next(&jumping, &row));
            assert_true(same_row(&row, &expected));
        }
        leat_synth_seek(&jumping, synth, sizes[i][0]);
        assert_false(leat_synth_next(&jumping, &row));
        leat_synth_destroy(synth);
    }
}

/* ---- Files ------------------------------------------------------------------------------- */

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/leat-synth-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
    (void)state;
    return leat_path_remove_tree(folder, NULL) != LEAT_OK;
}

static const char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static leat_code write_rows(const char *name, const leat_synth_probes_options *options,
                            leat_synth_probes_result *result) {
    leat_error err = {0};
    leat_code code = leat_synth_probes(path_of(name), options, result, &err);
    if (code != LEAT_OK) assert_true(err.message[0] != 0);
    return code;
}

static leat_synth_probes_options options_of(int64_t measurements, int64_t probes) {
    leat_synth_probes_options options = leat_synth_probes_options_default();
    options.measurements = measurements;
    options.probes = probes;
    options.seed = 1;
    return options;
}

static void sha256_of(const char *name, char text[65], int64_t *size_bytes) {
    uint8_t *bytes = NULL, digest[32];
    leat_sha256 sha;
    leat_error err = {0};
    if (leat_file_load(path_of(name), 1 << 30, &bytes, size_bytes, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, bytes, *size_bytes);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, text);
    leat_free(bytes);
}

static int64_t names_in(const char *name) {
    leat_path_list names = {0};
    assert_int_equal(leat_path_list_dir(path_of(name), &names, NULL), LEAT_OK);
    int64_t count = names.count;
    leat_path_list_free(&names);
    return count;
}

/* The bytes are a promise: other processors, compilers and releases must give the same. */
static void test_csv_bytes(void **state) {
    static const struct {
        int64_t measurements, probes;
        uint64_t seed;
        const char *sha256;
    } cases[] = {
        {1000, 50, 1, "5bc2a2bd61c4cad1b67d3331175734aecb95b60acae43a409590382203f7e09e"},
        {1000, 50, 2, "3059b8c626536c78ae10ec8f4d9c3b44c833b691125a95f8eb78e6fa47ab9cd3"},
        {30000, 0, 1, "eefe414fb6e36d74a235efc50975fec16ff175d16c52c42db4a670da0890e701"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_synth_probes_options options = options_of(cases[i].measurements, cases[i].probes);
        leat_synth_probes_result result;
        char hex[65];
        int64_t size_bytes = 0;
        options.seed = cases[i].seed;
        options.replace = true;
        assert_int_equal(write_rows("rows.csv", &options, &result), LEAT_OK);
        sha256_of("rows.csv", hex, &size_bytes);
        assert_string_equal(hex, cases[i].sha256);
        assert_int_equal(size_bytes, result.bytes_written);
        assert_int_equal(result.measurements, cases[i].measurements);
        assert_int_equal(result.probes, cases[i].probes != 0 ? cases[i].probes : 30000 / 235);
    }
}

static void test_output_refused(void **state) {
    leat_synth_probes_options options = options_of(100, 10);
    leat_synth_probes_result result;
    (void)state;
    assert_int_equal(write_rows("kept.csv", &options, &result), LEAT_OK);
    assert_int_equal(write_rows("kept.csv", &options, &result), LEAT_ERR_EXISTS);
    assert_int_equal(result.measurements, 0);
    assert_int_equal(leat_path_make_dir(path_of("dir.csv"), NULL), LEAT_OK);
    options.replace = true;
    assert_int_equal(write_rows("dir.csv", &options, &result), LEAT_ERR_EXISTS);
    assert_int_equal(write_rows("no/folder/x.csv", &options, &result), LEAT_ERR_NOT_FOUND);
    assert_int_equal(write_rows("x.csv.gz", &options, &result), LEAT_ERR_OPTION);
    assert_int_equal(leat_path_make_dir(path_of("mine"), NULL), LEAT_OK);
    assert_int_equal(leat_file_save(path_of("mine/thesis.tex"), "x", 1, NULL), LEAT_OK);
    assert_int_equal(write_rows("mine", &options, &result), LEAT_ERR_EXISTS);
    assert_int_equal(names_in("mine"), 1);
    options.measurements = 0;
    assert_int_equal(write_rows("zero.csv", &options, &result), LEAT_ERR_OPTION);
    assert_int_equal(names_in("."), 3);
}

static bool stop_at_once(void *user, const leat_progress *progress) {
    assert_true(progress->done >= 0 && progress->done <= progress->total);
    ++*(int *)user;
    return false;
}

static void test_cancelled(void **state) {
    static const char *const names[] = {"x.csv", "x.parquet", "x"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        leat_synth_probes_options options = options_of(1000000, 1000);
        leat_synth_probes_result result;
        int calls = 0;
        options.progress = stop_at_once;
        options.progress_user = &calls;
        options.rows_per_file = 300000;
        options.threads = 2;
        leat_code code = write_rows(names[i], &options, &result);
        if (code == LEAT_ERR_UNSUPPORTED) continue;
        assert_int_equal(code, LEAT_ERR_CANCELLED);
        assert_int_equal(calls, 1);
        assert_int_equal(names_in("."), 0);
    }
}

/* ---- Parquet ----------------------------------------------------------------------------- */

static void test_parquet_files(void **state) {
    leat_synth_probes_options options = options_of(300000, 0);
    leat_synth_probes_result result;
    char first[65], hex[65];
    int64_t size_bytes = 0;
    (void)state;
    leat_code code = write_rows("one.parquet", &options, &result);
    if (code == LEAT_ERR_UNSUPPORTED) skip();
    assert_int_equal(code, LEAT_OK);
    assert_int_equal(result.probes, 300000 / 235);
    sha256_of("one.parquet", first, &size_bytes);
    assert_int_equal(result.bytes_written, size_bytes);
    options.replace = true;
    options.threads = 3;
    options.memory_bytes = 128 << 20;
    assert_int_equal(write_rows("one.parquet", &options, &result), LEAT_OK);
    sha256_of("one.parquet", hex, &size_bytes);
    assert_string_equal(hex, first);
    assert_int_equal(names_in("."), 1);
}

static void test_parquet_folder(void **state) {
    char expected[4][65] = {{0}}, hex[65], name[64];
    leat_synth_probes_result result;
    int64_t size_bytes = 0, sum = 0;
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        leat_synth_probes_options options = options_of(350000, 5000);
        options.rows_per_file = 100000;
        options.threads = threads;
        options.replace = true;
        leat_code code = write_rows("many/", &options, &result);
        if (code == LEAT_ERR_UNSUPPORTED) skip();
        assert_int_equal(code, LEAT_OK);
        assert_int_equal(result.files, 4);
        assert_int_equal(names_in("many"), 4);
        sum = 0;
        for (int i = 0; i < 4; i++) {
            snprintf(name, sizeof name, "many/part-%05d.parquet", i);
            sha256_of(name, hex, &size_bytes);
            sum += size_bytes;
            if (threads == 1) memcpy(expected[i], hex, sizeof hex);
            assert_string_equal(hex, expected[i]);
        }
        assert_int_equal(result.bytes_written, sum);
    }
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),         cmocka_unit_test(test_period),
        cmocka_unit_test(test_shape_refused), cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_seek),          WITH_FOLDER(test_csv_bytes),
        WITH_FOLDER(test_output_refused),     WITH_FOLDER(test_cancelled),
        WITH_FOLDER(test_parquet_files),      WITH_FOLDER(test_parquet_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
