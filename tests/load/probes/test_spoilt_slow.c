/*
 * Data sets of leat's own whose records are spoilt, and whose hashes, pages and index are those of
 * the spoilt bytes: what is wrong reaches the readers that trust an index. Nothing goes wrong but
 * with an error; all ways of reading a row agree as far as they get; and where verification finds
 * nothing, everything reads, and batches are made.
 */
#include "loader_support.h"
#include "plant.h"

#ifndef ROUNDS
#define ROUNDS 100
#endif

enum { SINGLE_MAX = 128 };

static uint64_t draw_state;
static int64_t spared; /* of so many records one is spoilt */

static uint64_t draw_bits(void) {
    uint64_t z = draw_state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static int64_t draw(int64_t below) { return (int64_t)(draw_bits() % (uint64_t)below); }

/* ---- spoiling -----------------------------------------------------------------------------------
 */

static void spoil_number(uint8_t *at, int width) {
    static const uint64_t words[] = {0,          1,          2,        7,          8,
                                     63,         64,         255,      65535,      0x7FFFFFFF,
                                     0x80000000, 0xFFFFFFFF, 1u << 20, UINT64_MAX, UINT64_MAX / 2};
    uint64_t value = 0;
    memcpy(&value, at, (size_t)width);
    switch (draw(6)) {
    case 0: value += 1; break;
    case 1: value -= 1; break;
    case 2: value ^= UINT64_C(1) << draw(8 * width); break;
    case 3: value += 8; break;
    case 4: value = draw_bits(); break;
    default: value = words[draw((int64_t)(sizeof words / sizeof words[0]))];
    }
    memcpy(at, &value, (size_t)width);
}

/* Of the frames at both ends more often than of the columns; most rows stay as they are. */
static void spoil(uint8_t *record, int64_t size_bytes) {
    static const int widths[] = {1, 1, 2, 4, 4, 8};
    if (draw(spared) != 0) return;
    for (int64_t times = 1 + draw(2); times > 0; times--) {
        int width = widths[draw(6)];
        int64_t places = size_bytes / width, at = draw(places);
        int64_t frames = (1600 < size_bytes ? 1600 : size_bytes) / width;
        if (draw(3) != 0) at = draw(8) == 0 ? places - 1 - draw(80 / width) : draw(frames);
        if (draw(8) == 0) memcpy(record + at * width, record + draw(places) * width, (size_t)width);
        else spoil_number(record + at * width, width);
    }
}

/* ---- reading ------------------------------------------------------------------------------------
 */

static void expect_same(const leat_measurement *a, const leat_measurement *b, bool with_source) {
    assert_int_equal(a->time_us, b->time_us);
    assert_memory_equal(&a->rtt, &b->rtt, sizeof a->rtt);
    assert_int_equal(a->ip_version, b->ip_version);
    assert_int_equal(a->dst_size, b->dst_size);
    assert_memory_equal(a->dst, b->dst, (size_t)a->dst_size);
    assert_memory_equal(a->dst_bytes, b->dst_bytes, sizeof a->dst_bytes);
    if (!with_source) return; /* of a trusted row all sources are the first one */
    assert_int_equal(a->src_size, b->src_size);
    assert_memory_equal(a->src, b->src, (size_t)a->src_size);
}

/* Whether the row can be decoded whole; what the other ways give must agree with it. */
static bool read_row(const leat_dataset *dataset, leat_row *cursor, int64_t row, bool is_clean) {
    leat_measurements all = {0};
    leat_measurement one, want, gathered[SINGLE_MAX];
    int64_t indices[SINGLE_MAX];
    leat_error err = {0};
    leat_code opened = leat_dataset_row_open(dataset, row, cursor, &err);
    assert_true((opened != LEAT_OK) == (err.message[0] != 0));
    if (opened != LEAT_OK) return false;
    int64_t n = leat_row_get_facts(cursor)->n_measurements;
    assert_in_range(n, 1, SINGLE_MAX);
    bool decoded = leat_dataset_row_decode(cursor, &all, &err) == LEAT_OK;
    if (decoded) assert_int_equal(all.count, n);
    for (int64_t i = 0; i < n; i++) indices[i] = i;
    leat_row_keep_texts(cursor, true);
    bool together = leat_row_gather(cursor, indices, n, gathered, &err) == LEAT_OK;
    if (decoded && !together)
        fail_msg("row %d is decoded, not gathered: %s", (int)row, err.message);
    for (int64_t i = 0; i < n && decoded; i++) {
        leat_measurements_get(&all, i, &want);
        expect_same(&gathered[i], &want, is_clean);
    }
    for (int64_t i = 0; i < n; i++) {
        leat_code code = leat_row_measurement(cursor, i, &one, &err);
        if (!together) continue;
        if (code != LEAT_OK) fail_msg("row %d, measurement %d: %s", (int)row, (int)i, err.message);
        if (!decoded) continue; /* texts of the gathered ones are gone */
        leat_measurements_get(&all, i, &want);
        expect_same(&one, &want, is_clean);
    }
    leat_measurements_free(&all);
    return decoded;
}

/* Some steps, by rows that fail as a whole and by rows that are zeros. */
static void make_batches(const leat_dataset *dataset, bool is_clean) {
    for (int mask = 0; mask < 2; mask++) {
        leat_loader_options options = loader_options();
        leat_loader *loader = NULL;
        leat_error err = {0};
        options.on_corrupt = mask ? LEAT_CORRUPT_MASK : LEAT_CORRUPT_FAIL;
        options.batch = 4;
        leat_code code = leat_loader_create(&loader, dataset, &options, &err);
        if (is_clean) must(code, &err);
        for (int i = 0; i < 6 && code == LEAT_OK; i++) {
            const leat_batch *batch = NULL;
            code = leat_loader_next(loader, &batch, &err);
            if (is_clean) must(code, &err);
            leat_batch_release(batch);
        }
        leat_loader_destroy(loader);
    }
}

static int64_t problems_of(const char *dir) {
    leat_verify_options options = leat_verify_options_default();
    leat_verify_report *report = NULL;
    leat_error err = {0};
    options.threads = 1;
    must(leat_verify(&dir, 1, &options, &report, &err), &err);
    int64_t count = report->problem_count;
    leat_verify_report_destroy(report);
    return count;
}

static void summarize(leat_dataset *dataset, bool is_clean) {
    leat_summary_options options = leat_summary_options_default();
    leat_summary *summary = NULL;
    leat_error err = {0};
    options.threads = 1;
    leat_code code = leat_summary_create(&summary, dataset, &options, &err);
    if (is_clean) must(code, &err);
    leat_summary_destroy(summary);
}

typedef struct tally {
    int64_t rows, decoded, clean;
} tally;

static void round_of(const plant_options *options, int number, tally *sum) {
    char dir[256];
    leat_dataset_facts facts;
    leat_row *cursor = NULL;
    leat_error err = {0};
    snprintf(dir, sizeof dir, "%s/spoilt%d", loader_folder(), number);
    plant(dir, options);
    bool is_clean = problems_of(dir) == 0;
    if (options->spoil == NULL) assert_true(is_clean);
    leat_dataset *dataset = loader_open(dir);
    leat_dataset_get_facts(dataset, &facts);
    must(leat_row_create(&cursor, dataset, &err), &err);
    for (int64_t row = 0; row < facts.row_count; row++) {
        bool decoded = read_row(dataset, cursor, row, is_clean);
        if (is_clean) assert_true(decoded);
        sum->decoded += decoded;
        sum->rows++;
    }
    sum->clean += is_clean;
    leat_row_destroy(cursor);
    make_batches(dataset, is_clean);
    summarize(dataset, is_clean);
    leat_dataset_close(dataset);
    must(leat_path_remove_tree(dir, &err), &err);
}

static void spoilt(void **state) {
    (void)state;
    static const leat_compression codecs[] = {LEAT_COMPRESSION_NONE, LEAT_COMPRESSION_NONE,
                                              LEAT_COMPRESSION_ZSTD};
    tally sum = {0};
    draw_state = 3;
    for (int i = 0; i < ROUNDS; i++) {
        plant_options options = plant_options_default();
        options.record.compression = codecs[i % 3];
        options.dictionary_src = i / 3 % 2 == 1;
        spared = i % 2 == 0 ? 6 : 60;
        options.spoil = i % 10 == 9 ? NULL : spoil;
        round_of(&options, i, &sum);
    }
    print_message("# %lld rows, %lld of them decoded; %lld data sets of %d without a problem\n",
                  (long long)sum.rows, (long long)sum.decoded, (long long)sum.clean, ROUNDS);
    assert_true(sum.decoded < sum.rows && sum.decoded > sum.rows / 2);
    assert_true(sum.clean >= ROUNDS / 10 && sum.clean < ROUNDS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spoilt)};
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
