/*
 * The summary of a split, by hand: groups, bus time, delays, episodes; that the order of windows
 * does not matter; bad input. tests/oracle/test_baselines.c has the real data.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "train/eval/summary.h"

enum { MOST = 64 };

typedef struct listed {
    int64_t count, window, stride;
    double score[MOST], seconds[MOST], injected_seconds[MOST];
    int32_t label[MOST], attack[MOST], vehicle[MOST], capture[MOST], attack_first[MOST];
    int64_t start[MOST];
} listed;

static leat_eval_windows windows_of(const listed *of) {
    return (leat_eval_windows){.count = of->count,
                               .window = of->window,
                               .stride = of->stride,
                               .score = of->score,
                               .label = of->label,
                               .attack = of->attack,
                               .vehicle = of->vehicle,
                               .capture = of->capture,
                               .start = of->start,
                               .attack_first = of->attack_first,
                               .seconds = of->seconds,
                               .injected_seconds = of->injected_seconds};
}

static leat_eval_options options_of(double threshold) {
    return (leat_eval_options){.threshold = threshold, .bootstrap = {.block_windows = 1}};
}

static leat_eval_summary *sum_up(const listed *of, const leat_eval_options *options) {
    const leat_eval_windows windows = windows_of(of);
    leat_eval_summary *summary = NULL;
    assert_ok(leat_eval_summary_create(&summary, &windows, options, err));
    return summary;
}

/*
 * Captures of ten windows of 100 frames, each 0.5 s long. "a": an attack of code 1, its first frame
 * in the middle of the window; "b": of code 2; capitals alarm; ".": benign, "!": and alarms; "?":
 * no label, alarms.
 */
static void add_capture(listed *of, int32_t capture, int32_t vehicle, const char *windows) {
    of->window = of->stride = 100;
    for (int64_t w = 0; windows[w] != 0; w++) {
        const char kind = windows[w];
        const int64_t i = of->count++;
        assert_true(i < MOST);
        const bool attack = strchr("aAbB", kind) != NULL;
        of->score[i] = strchr("AB!?", kind) != NULL ? 2 : 1;
        of->label[i] = kind == '?' ? -1 : attack;
        of->attack[i] = !attack ? 0 : kind == 'a' || kind == 'A' ? 1 : 2;
        of->attack_first[i] = attack ? 50 : -1;
        of->injected_seconds[i] = attack ? 0.25 : 0;
        of->seconds[i] = 0.5;
        of->start[i] = 100 * w;
        of->capture[i] = capture;
        of->vehicle[i] = vehicle;
    }
}

static listed drive(void) {
    listed of = {0};
    add_capture(&of, 7, 2, "..aAa.!.B?");
    add_capture(&of, 3, 1, "..........");
    add_capture(&of, 5, 2, ".aa..bA.bb");
    return of;
}

static const leat_eval_group *group_of(const leat_eval_summary *summary, leat_eval_kind kind,
                                       int32_t number) {
    for (int64_t g = 0; g < summary->group_count; g++) {
        if (summary->groups[g].kind == kind && summary->groups[g].number == number)
            return &summary->groups[g];
    }
    fail_msg("no group %s %d", leat_eval_kind_name(kind), (int)number);
    return NULL;
}

static void expect_counts(const leat_eval_group *group, int64_t tp, int64_t fp, int64_t fn,
                          int64_t tn) {
    assert_int_equal(group->counts.true_positives, tp);
    assert_int_equal(group->counts.false_positives, fp);
    assert_int_equal(group->counts.false_negatives, fn);
    assert_int_equal(group->counts.true_negatives, tn);
    assert_int_equal(group->windows, tp + fp + fn + tn);
    assert_int_equal(group->attack_windows, tp + fn);
}

static void expect_detections(const leat_eval_detections *of, int64_t count, int64_t detected,
                              double frames, double ms) {
    assert_int_equal(of->count, count);
    assert_int_equal(of->detected, detected);
    if (detected == 0) {
        assert_int_equal(of->median_frames.undefined,
                         count == 0 ? LEAT_EVAL_NO_ATTACK : LEAT_EVAL_NO_DETECTION);
        assert_true(isnan(of->median_frames.value) && isnan(of->median_ms.value));
        return;
    }
    assert_true(of->median_frames.value == frames);
    assert_true(of->median_ms.value == ms);
}

/* ---- groups ------------------------------------------------------------------------------- */

static void groups(void **state) {
    (void)state;
    const listed of = drive();
    const leat_eval_options options = options_of(1.5);
    leat_eval_summary *summary = sum_up(&of, &options);
    static const struct {
        leat_eval_kind kind;
        int32_t number;
    } order[] = {{LEAT_EVAL_ALL, 0},     {LEAT_EVAL_ATTACK, 1},  {LEAT_EVAL_ATTACK, 2},
                 {LEAT_EVAL_VEHICLE, 1}, {LEAT_EVAL_VEHICLE, 2}, {LEAT_EVAL_CAPTURE, 3},
                 {LEAT_EVAL_CAPTURE, 5}, {LEAT_EVAL_CAPTURE, 7}};
    assert_int_equal(summary->group_count, sizeof order / sizeof *order);
    for (int64_t g = 0; g < summary->group_count; g++) {
        assert_int_equal(summary->groups[g].kind, order[g].kind);
        assert_int_equal(summary->groups[g].number, order[g].number);
    }
    assert_int_equal(summary->unlabelled, 1);
    const leat_eval_group *all = group_of(summary, LEAT_EVAL_ALL, 0);
    expect_counts(all, 3, 1, 7, 18);
    assert_true(all->time.seconds == 14.5 && all->time.benign_seconds == 9.5);
    assert_true(all->metrics[LEAT_EVAL_PER_HOUR].value == 1 / (14.5 / 3600));
    assert_true(all->metrics[LEAT_EVAL_PER_BENIGN_HOUR].value == 1 / (9.5 / 3600));
    assert_true(fabs(all->per_hour_poisson.high - 5.571643390938898 * 3600 / 14.5) < 1e-8);
    assert_true(all->gap_to_threshold == 0.5 / 1.5);
    /* runs: aAa and B; aa, bA and bb: of each that alarms all but B in its second window */
    expect_detections(&all->episodes, 5, 3, 149, 750);
    expect_detections(&all->captures, 2, 2, 349, 1750);
    expect_counts(group_of(summary, LEAT_EVAL_ATTACK, 1), 2, 1, 4, 18);
    expect_counts(group_of(summary, LEAT_EVAL_ATTACK, 2), 1, 1, 3, 18);
    expect_detections(&group_of(summary, LEAT_EVAL_ATTACK, 2)->episodes, 3, 1, 49, 250);
    expect_counts(group_of(summary, LEAT_EVAL_VEHICLE, 2), 3, 1, 7, 8);
    const leat_eval_group *capture = group_of(summary, LEAT_EVAL_CAPTURE, 7);
    expect_counts(capture, 2, 1, 2, 4);
    assert_int_equal(capture->delay.first_injected, 250);
    assert_int_equal(capture->delay.alarm_start, 300);
    assert_true(capture->delay.is_attack && capture->delay.frames == 149);
    assert_true(capture->delay.ms == 750);
    leat_eval_summary_destroy(summary);
}

/* A run ends at a window that is missing, and at the end of a capture. */
static void gaps(void **state) {
    (void)state;
    listed of = {0};
    add_capture(&of, 1, 0, "aa?Aa");
    add_capture(&of, 2, 0, "aA...");
    const leat_eval_options options = options_of(1.5);
    leat_eval_summary *summary = sum_up(&of, &options);
    expect_detections(&summary->groups[0].episodes, 3, 2, 99, 500); /* 49 and 149 frames */
    /* from frame 50 to 399, of which 100 frames were not seen: as long as those that were */
    assert_int_equal(summary->groups[2].delay.frames, 349);
    assert_true(summary->groups[2].delay.ms == 1750);
    leat_eval_summary_destroy(summary);
}

/* What has one class, no attack or no alarm is undefined, with its reason. */
static void undefined(void **state) {
    (void)state;
    const listed of = drive();
    const leat_eval_options options = options_of(1.5);
    leat_eval_summary *summary = sum_up(&of, &options);
    const leat_eval_group *benign = group_of(summary, LEAT_EVAL_CAPTURE, 3);
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++) {
        const bool known = m >= LEAT_EVAL_REALISED_FPR;
        assert_int_equal(benign->metrics[m].undefined,
                         known ? LEAT_EVAL_DEFINED : LEAT_EVAL_NO_ATTACK);
        assert_int_equal(isnan(benign->metrics[m].value), !known);
    }
    assert_true(benign->metrics[LEAT_EVAL_PER_HOUR].value == 0);
    assert_true(benign->per_hour_poisson.high > 2600); /* five seconds without an alarm */
    assert_int_equal(benign->recall_wilson.undefined, LEAT_EVAL_NO_ATTACK);
    assert_int_equal(benign->ece.undefined, LEAT_EVAL_NO_PROBABILITY);
    expect_detections(&benign->episodes, 0, 0, 0, 0);
    assert_false(benign->delay.attacked);
    leat_eval_summary_destroy(summary);

    listed attacks = {0};
    add_capture(&attacks, 1, 0, "aaaa");
    summary = sum_up(&attacks, &options);
    assert_int_equal(summary->group_count, 3); /* a vehicle that is not known is no group */
    const leat_eval_group *all = &summary->groups[0];
    assert_int_equal(all->metrics[LEAT_EVAL_AUROC].undefined, LEAT_EVAL_NO_BENIGN);
    assert_int_equal(all->metrics[LEAT_EVAL_PER_HOUR].undefined, LEAT_EVAL_NO_BENIGN);
    assert_int_equal(all->per_hour_poisson.undefined, LEAT_EVAL_NO_BENIGN);
    assert_true(all->metrics[LEAT_EVAL_RECALL].value == 0);
    expect_detections(&all->episodes, 1, 0, 0, 0);
    assert_int_equal(summary->groups[2].delay.frames, -1);
    leat_eval_summary_destroy(summary);
}

static void same_real(double a, double b) { assert_memory_equal(&a, &b, sizeof a); }

static void same_interval(const leat_eval_interval *a, const leat_eval_interval *b) {
    same_real(a->low, b->low);
    same_real(a->high, b->high);
    assert_int_equal(a->undefined, b->undefined);
}

static void same_number(const leat_eval_number *a, const leat_eval_number *b) {
    same_real(a->value, b->value);
    assert_int_equal(a->undefined, b->undefined);
}

static void same_detections(const leat_eval_detections *a, const leat_eval_detections *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->detected, b->detected);
    same_number(&a->median_frames, &b->median_frames);
    same_number(&a->median_ms, &b->median_ms);
}

static void same_group(const leat_eval_group *a, const leat_eval_group *b) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->windows, b->windows);
    assert_int_equal(a->attack_windows, b->attack_windows);
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    assert_memory_equal(&a->time, &b->time, sizeof a->time);
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++) {
        same_number(&a->metrics[m], &b->metrics[m]);
        same_interval(&a->intervals[m], &b->intervals[m]);
    }
    same_interval(&a->recall_wilson, &b->recall_wilson);
    same_interval(&a->fpr_wilson, &b->fpr_wilson);
    same_interval(&a->per_hour_poisson, &b->per_hour_poisson);
    same_interval(&a->per_benign_hour_poisson, &b->per_benign_hour_poisson);
    same_number(&a->ece, &b->ece);
    same_detections(&a->captures, &b->captures);
    same_detections(&a->episodes, &b->episodes);
    assert_int_equal(a->delay.first_injected, b->delay.first_injected);
    assert_int_equal(a->delay.alarm_start, b->delay.alarm_start);
    assert_int_equal(a->delay.frames, b->delay.frames);
    assert_true(a->delay.attacked == b->delay.attacked && a->delay.detected == b->delay.detected &&
                a->delay.is_attack == b->delay.is_attack);
    same_real(a->delay.ms, b->delay.ms);
    same_real(a->gap_to_threshold, b->gap_to_threshold);
}

/* Scores, attack windows and blocks at random: the same bits in any order of the windows. */
static void any_order(void **state) {
    (void)state;
    static listed of, mixed;
    of = drive();
    leat_eval_options options = options_of(1.5);
    options.bootstrap = (leat_bootstrap_options){.seed = 1, .replicates = 40, .block_windows = 2};
    for (int64_t i = 0; i < of.count; i++)
        of.score[i] = of.score[i] + (double)(leat_random(2, 1, (uint64_t)i) % 4) / 2;
    mixed = of;
    for (int64_t i = 0; i < of.count; i++) {
        const int64_t from = leat_permute(leat_random(2, 3, 4), of.count, i);
        mixed.score[i] = of.score[from];
        mixed.label[i] = of.label[from];
        mixed.attack[i] = of.attack[from];
        mixed.vehicle[i] = of.vehicle[from];
        mixed.capture[i] = of.capture[from];
        mixed.attack_first[i] = of.attack_first[from];
        mixed.injected_seconds[i] = of.injected_seconds[from];
        mixed.start[i] = of.start[from];
    }
    leat_eval_summary *summary = sum_up(&of, &options), *again = sum_up(&mixed, &options);
    assert_int_equal(summary->group_count, again->group_count);
    for (int64_t g = 0; g < summary->group_count; g++)
        same_group(&summary->groups[g], &again->groups[g]);
    const leat_eval_interval interval = summary->groups[0].intervals[LEAT_EVAL_AUROC];
    assert_true(interval.low < interval.high);
    leat_eval_summary_destroy(summary);
    leat_eval_summary_destroy(again);
}

static void undefined_has_a_reason(void **state) {
    (void)state;
    const listed of = drive();
    leat_eval_options options = options_of(1.5);
    leat_eval_summary *summary = sum_up(&of, &options);
    const leat_eval_group *group = group_of(summary, LEAT_EVAL_CAPTURE, 3);
    assert_true(isnan(group->metrics[LEAT_EVAL_AUROC].value));
    assert_int_equal(group->metrics[LEAT_EVAL_AUROC].undefined, LEAT_EVAL_NO_ATTACK);
    assert_string_equal(leat_eval_reason_text(LEAT_EVAL_NO_ATTACK), "no window with an attack");
    assert_int_equal(group->intervals[LEAT_EVAL_REALISED_FPR].undefined, LEAT_EVAL_FEW_BLOCKS);
    assert_string_equal(leat_eval_reason_text(LEAT_EVAL_FEW_BLOCKS),
                        "too few blocks of time to resample");
    assert_int_equal(group->captures.median_frames.undefined, LEAT_EVAL_NO_ATTACK);
    assert_int_equal(group->episodes.median_frames.undefined, LEAT_EVAL_NO_ATTACK);
    assert_true(group->metrics[LEAT_EVAL_PER_HOUR].value == 0);
    assert_int_equal(group->counts.true_negatives, 10);
    assert_false(group->delay.attacked);
    leat_eval_summary_destroy(summary);
}

/* ---- time --------------------------------------------------------------------------------- */

static void window_seconds(void **state) {
    (void)state;
    static const float step[4 * 2] = {0.25F, 9, 0.5F, 9, 0.25F, 9, 1, 9}; /* a window of 6 frames */
    assert_true(leat_eval_window_seconds(step, 4, 2, 6, 6) == 3);
    assert_true(leat_eval_window_seconds(step, 4, 2, 6, 2) == 1);   /* each frame in 3 windows */
    assert_true(leat_eval_window_seconds(step, 4, 2, 6, 100) == 3); /* gaps are not observed */
    static const double after[6] = {2.5, 2.1875 * 32 / 30, 1.875, 2, 1, 0};
    for (int frame = 0; frame < 6; frame++)
        assert_true(fabs(leat_eval_seconds_after(step, 4, 2, frame) - after[frame]) < 1e-12);
}

/* Overlapping windows: a step is 25 frames, of 0.125 s; the injected frame is in four of them. */
static void overlapping(void **state) {
    (void)state;
    listed of = {.window = 100, .stride = 25, .count = 12};
    for (int64_t i = 0; i < of.count; i++) {
        of.start[i] = 25 * i;
        of.seconds[i] = 0.125;
        const int64_t first = 160 - of.start[i]; /* one frame, number 160 */
        of.label[i] = first >= 0 && first < 100;
        of.attack[i] = of.label[i];
        of.attack_first[i] = of.label[i] ? (int32_t)first : -1;
        of.injected_seconds[i] = of.label[i] ? (double)(99 - first) * 0.005 : 0;
        of.score[i] = i == 0 || i == 5;
    }
    const leat_eval_options options = options_of(0.5);
    leat_eval_summary *summary = sum_up(&of, &options);
    const leat_eval_group *capture = &summary->groups[summary->group_count - 1];
    assert_int_equal(capture->attack_windows, 4);
    assert_int_equal(capture->delay.first_injected, 160);
    assert_int_equal(capture->delay.alarm_start, 125);
    assert_int_equal(capture->delay.frames, 64);
    assert_true(fabs(capture->delay.ms - 64 * 5) < 1e-9);
    assert_int_equal(capture->episodes.count, 1);
    assert_true(capture->time.seconds == 1.5);
    leat_eval_summary_destroy(summary);
}

/* ---- bad input ---------------------------------------------------------------------------- */

/* A quadratic summary would take minutes. */
static void thousands_of_captures(void **state) {
    (void)state;
    enum { CAPTURES = 20000, WINDOWS = 2 * CAPTURES };
    static double score[WINDOWS], seconds[WINDOWS];
    static int32_t zeros[WINDOWS], label[WINDOWS], capture[WINDOWS];
    static int64_t start[WINDOWS];
    for (int i = 0; i < WINDOWS; i++) {
        score[i] = i % 2; /* the second window of a capture alarms, and is right in every other */
        label[i] = i % 4 == 1;
        seconds[i] = 0.5;
        capture[i] = CAPTURES - 1 - i / 2;
        start[i] = 100 * (i % 2);
    }
    const leat_eval_windows windows = {.count = WINDOWS,
                                       .window = 100,
                                       .stride = 100,
                                       .score = score,
                                       .label = label,
                                       .attack = zeros,
                                       .vehicle = zeros,
                                       .capture = capture,
                                       .attack_first = zeros,
                                       .start = start,
                                       .seconds = seconds,
                                       .injected_seconds = seconds};
    const leat_eval_options options = options_of(0.5);
    leat_eval_summary *summary = NULL;
    assert_ok(leat_eval_summary_create(&summary, &windows, &options, err));
    assert_int_equal(summary->group_count, 2 + CAPTURES); /* all, the one attack type */
    for (int c = 0; c < CAPTURES; c++) {
        const leat_eval_group *group = &summary->groups[2 + c];
        const int right = (CAPTURES - 1 - c) % 2 == 0;
        assert_true(group->kind == LEAT_EVAL_CAPTURE && group->number == c);
        assert_int_equal(group->windows, 2);
        expect_counts(group, right, 1 - right, 0, 1);
    }
    leat_eval_summary_destroy(summary);
}

static void refused(void **state) {
    (void)state;
    leat_eval_summary *summary = NULL;
    const leat_eval_options options = options_of(1.5), infinite = options_of((double)INFINITY);
    const struct {
        int64_t at;
        const char *words;
    } cases[] = {{0, "window 3: score nan"},
                 {1, "window 3: label 5"},
                 {2, "window 3: -1 seconds of bus time"},
                 {3, "window 3: first injected frame 100;"},
                 {4, "windows 3 and 4: both begin with frame 400 of capture 7"},
                 {5, "window 3: start -1"},
                 {6, "window 3: nan seconds"},
                 {7, "no labelled window among 3"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        listed of = drive();
        if (c == 0) of.score[3] = (double)NAN;
        if (c == 1) of.label[3] = 5;
        if (c == 2) of.seconds[3] = -1;
        if (c == 3) of.attack_first[3] = 100;
        if (c == 4) of.start[3] = 400;
        if (c == 5) of.start[3] = -1;
        if (c == 6) of.injected_seconds[3] = (double)NAN;
        for (of.count = c == 7 ? 3 : of.count; c == 7 && of.label[2] != -1;)
            of.label[0] = of.label[1] = of.label[2] = -1;
        const leat_eval_windows windows = windows_of(&of);
        assert_fails(leat_eval_summary_create(&summary, &windows, &options, err), LEAT_ERR_INPUT,
                     cases[c].words);
        assert_null(summary);
    }
    const listed of = drive();
    const leat_eval_windows windows = windows_of(&of);
    assert_fails(leat_eval_summary_create(&summary, &windows, &infinite, err), LEAT_ERR_OPTION,
                 "threshold: inf is not finite; choose it on validation data");
    assert_true(leat_eval_summary_bytes(1000, &options) < 1000000);
    assert_true(leat_eval_summary_bytes(INT64_MAX / 2, &options) == INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups),
                                       cmocka_unit_test(gaps),
                                       cmocka_unit_test(undefined),
                                       cmocka_unit_test(any_order),
                                       cmocka_unit_test(undefined_has_a_reason),
                                       cmocka_unit_test(window_seconds),
                                       cmocka_unit_test(overlapping),
                                       cmocka_unit_test(thousands_of_captures),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
