/*
 * Fault sweep over what is computed from scores of windows: the n-th allocation fails, once or from
 * then on. Each time it says so, and nothing is left behind; and what a summary takes is within
 * what it says beforehand.
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "count.h"
#include "sweep.h"
#include "train/eval/plain.h"
#include "train/eval/summary.h"
#include "train/eval/threshold.h"

enum { WINDOWS = 300, FEATURES = 5, IDS = 500 };

static double score[WINDOWS], seconds[WINDOWS];
static int32_t label[WINDOWS], zero[WINDOWS], capture[WINDOWS];
static int64_t start[WINDOWS];
static const leat_eval_windows windows = {.count = WINDOWS,
                                          .window = 100,
                                          .stride = 100,
                                          .score = score,
                                          .label = label,
                                          .attack = zero,
                                          .vehicle = zero,
                                          .capture = capture,
                                          .start = start,
                                          .attack_first = zero,
                                          .seconds = seconds,
                                          .injected_seconds = seconds};
static const leat_eval_options options = {.threshold = 0.9,
                                          .bootstrap = {.replicates = 20, .block_windows = 3}};

static void fill(void) {
    for (int i = 0; i < WINDOWS; i++) {
        score[i] = leat_random_unit(leat_random(1, 1, (uint64_t)i));
        label[i] = i % 7 == 0;
        capture[i] = i / 100;
        start[i] = 100 * i;
        seconds[i] = 0.0625;
    }
}

static leat_code sum_up(const void *of, leat_error *err) {
    (void)of;
    leat_eval_summary *summary = NULL;
    leat_code code = leat_eval_summary_create(&summary, &windows, &options, err);
    assert_int_equal(summary == NULL, code != LEAT_OK);
    if (code == LEAT_OK) assert_int_equal(summary->group_count, 5);
    leat_eval_summary_destroy(summary);
    return code;
}

static leat_code make_table(const void *of, leat_error *err) {
    (void)of;
    static const int32_t ids[2] = {1, 2};
    static const float x[2 * FEATURES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const leat_plain_graph graph = {2, ids, x};
    leat_plain *plain = NULL;
    leat_plain_table *table = NULL;
    leat_code code = leat_plain_create(&plain, IDS, FEATURES, err);
    assert_int_equal(plain == NULL, code != LEAT_OK);
    if (code == LEAT_OK) code = leat_plain_add(plain, &graph, 0, err);
    if (code == LEAT_OK) {
        code = leat_plain_finish(plain, &table, err);
        assert_int_equal(table == NULL, code != LEAT_OK);
    }
    leat_plain_table_destroy(table);
    leat_plain_destroy(plain);
    return code;
}

static leat_code fit(const void *of, leat_error *err) {
    (void)of;
    leat_threshold threshold;
    LEAT_TRY(leat_threshold_fit_fpr(&threshold, &windows, "val", 0.05, err));
    return leat_threshold_fit_f1(&threshold, &windows, "val", err);
}

static int64_t live;

static void nothing_left(leat_code code) {
    (void)code;
    assert_int_equal(count_live(), live);
}

static void faults(void **state) {
    (void)state;
    fill();
    live = count_live();
    const fault_sweep sweeps[] = {{"summary", sum_up, NULL, nothing_left, 50},
                                  {"table", make_table, NULL, nothing_left, 8},
                                  {"threshold", fit, NULL, nothing_left, 10}};
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++) sweep_faults(&sweeps[i]);
}

static void memory_is_stated(void **state) {
    (void)state;
    fill();
    count_restart();
    const int64_t before = count_live();
    assert_int_equal(sum_up(NULL, NULL), LEAT_OK);
    const int64_t groups = 8 * (int64_t)sizeof(leat_eval_group);
    const int64_t said = leat_eval_summary_bytes(WINDOWS, &options);
    const int64_t taken = count_peak() - before;
    assert_true(taken <= said + groups);
    assert_true(taken > said / 2);
    count_restart();
    assert_int_equal(make_table(NULL, NULL), LEAT_OK);
    const int64_t rounding = 10 * 16; /* of the allocations, by the allocator */
    assert_true(count_peak() - before <= 2 * leat_plain_bytes(IDS, FEATURES) + rounding);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults),
                                       cmocka_unit_test(memory_is_stated)};
    return cmocka_run_group_tests_name("faults of evaluation", tests, NULL, NULL);
}
