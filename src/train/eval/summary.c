/*
 * A group is a copy of its windows, in order of time, on which the functions of this folder run. So
 * a group's numbers are those of a split that has nothing else.
 */
#include "train/eval/summary.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "train/eval/interval.h"

const char *leat_eval_kind_name(leat_eval_kind kind) {
    static const char *const names[] = {"all", "attack", "vehicle", "capture"};
    LEAT_ASSERT((size_t)kind < sizeof names / sizeof *names);
    return names[kind];
}

int64_t leat_eval_summary_bytes(int64_t windows, const leat_eval_options *options) {
    /* sorted windows, those of a group, and while they are copied their rows; the ranking; delays
     * and numbers, of which there are at most as many as windows, in buffers that double */
    const int64_t parts[] = {
        leat_eval_sorted_bytes(windows),  leat_eval_sorted_bytes(windows),
        leat_eval_sorted_bytes(windows),  leat_eval_sorted_bytes(windows),
        leat_eval_ranking_bytes(windows), leat_bootstrap_bytes(windows, &options->bootstrap),
    };
    int64_t sum = 0;
    if (!leat_mul_size(windows, 4 * (int64_t)sizeof(double), &sum)) return INT64_MAX;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!leat_add_size(sum, parts[i], &sum)) return INT64_MAX;
    }
    return sum;
}

void leat_eval_summary_destroy(leat_eval_summary *summary) {
    if (summary == NULL) return;
    leat_free(summary->groups);
    leat_free(summary);
}

/* ---- a group ------------------------------------------------------------------------------ */

static leat_eval_interval rate(leat_eval_interval count, double seconds, leat_eval_number metric) {
    if (metric.undefined != LEAT_EVAL_DEFINED)
        return (leat_eval_interval){(double)NAN, (double)NAN, metric.undefined};
    return (leat_eval_interval){.low = count.low / (seconds / 3600),
                                .high = count.high / (seconds / 3600)};
}

static double gap(const leat_eval_windows *windows, double threshold) {
    double least = (double)INFINITY;
    for (int64_t i = 0; i < windows->count; i++) {
        const double apart = fabs(windows->score[i] - threshold);
        if (apart < least) least = apart;
    }
    return threshold == 0 ? least : least / fabs(threshold);
}

static void count_group(leat_eval_group *group, const leat_eval_windows *windows,
                        double threshold) {
    const leat_eval_counts counts = leat_eval_count(windows, NULL, threshold);
    const leat_eval_number *metrics = group->metrics;
    group->counts = counts;
    group->windows = windows->count;
    group->attack_windows = counts.true_positives + counts.false_negatives;
    group->time = leat_eval_time_of(windows);
    group->recall_wilson =
        leat_interval_wilson(counts.true_positives, group->attack_windows, LEAT_EVAL_NO_ATTACK);
    group->fpr_wilson =
        leat_interval_wilson(counts.false_positives, counts.false_positives + counts.true_negatives,
                             LEAT_EVAL_NO_BENIGN);
    const leat_eval_interval alarms = leat_interval_poisson(counts.false_positives);
    group->per_hour_poisson = rate(alarms, group->time.seconds, metrics[LEAT_EVAL_PER_HOUR]);
    group->per_benign_hour_poisson =
        rate(alarms, group->time.benign_seconds, metrics[LEAT_EVAL_PER_BENIGN_HOUR]);
    group->gap_to_threshold = gap(windows, threshold);
}

static leat_code measure(leat_eval_group *group, const leat_eval_windows *windows,
                         const leat_eval_ranking *ranking, const leat_eval_options *options,
                         leat_error *err) {
    leat_eval_measure(windows, ranking, NULL, options->threshold, group->metrics);
    count_group(group, windows, options->threshold);
    LEAT_TRY(leat_bootstrap(windows, ranking, options->threshold, &options->bootstrap,
                            group->intervals, err));
    group->ece = leat_eval_undefined(LEAT_EVAL_NO_PROBABILITY);
    if (options->probability)
        LEAT_TRY(leat_eval_ece(windows->score, windows->label, windows->count, &group->ece, err));
    LEAT_TRY(leat_eval_captures(&group->captures, windows, options->threshold, err));
    LEAT_TRY(leat_eval_episodes(&group->episodes, windows, options->threshold, err));
    if (group->kind == LEAT_EVAL_CAPTURE)
        group->delay = leat_eval_delay_of(windows, 0, windows->count, options->threshold);
    return LEAT_OK;
}

static leat_code evaluate(leat_eval_group *group, const leat_eval_windows *sorted,
                          const leat_eval_options *options, leat_error *err) {
    leat_eval_sorted *part = NULL;
    leat_eval_ranking ranking = {0};
    LEAT_TRY(leat_eval_sorted_part(&part, sorted, group->kind, group->number, err));
    const leat_eval_windows *windows = leat_eval_sorted_windows(part);
    leat_code code =
        leat_eval_ranking_init(&ranking, windows->score, windows->label, windows->count, err);
    if (code == LEAT_OK) code = measure(group, windows, &ranking, options, err);
    leat_eval_ranking_free(&ranking);
    leat_eval_sorted_destroy(part);
    return code;
}

/* ---- which groups there are --------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return left < right ? -1 : left > right;
}

/* The distinct ones of count >= 1 numbers, ascending; returns how many. */
static int64_t distinct(int32_t *numbers, int64_t count) {
    if (count == 0) return 0;
    qsort(numbers, (size_t)count, sizeof *numbers, ascending);
    int64_t kept = 1;
    for (int64_t i = 1; i < count; i++) {
        if (numbers[i] != numbers[kept - 1]) numbers[kept++] = numbers[i];
    }
    return kept;
}

static int64_t numbers_of(const leat_eval_windows *sorted, leat_eval_kind kind, int32_t *numbers) {
    int64_t count = 0;
    for (int64_t i = 0; i < sorted->count; i++) {
        if (kind == LEAT_EVAL_ALL) numbers[count++] = 0;
        else if (kind == LEAT_EVAL_VEHICLE) numbers[count++] = sorted->vehicle[i];
        else if (kind == LEAT_EVAL_CAPTURE) numbers[count++] = sorted->capture[i];
        else if (sorted->label[i] == 1) numbers[count++] = sorted->attack[i];
    }
    const int64_t kept = distinct(numbers, count);
    const bool unknown = kind == LEAT_EVAL_VEHICLE && kept == 1 && numbers[0] == 0;
    return unknown ? 0 : kept;
}

static leat_code list_groups(leat_eval_summary *summary, const leat_eval_windows *sorted,
                             leat_error *err) {
    static const leat_eval_kind kinds[] = {LEAT_EVAL_ALL, LEAT_EVAL_ATTACK, LEAT_EVAL_VEHICLE,
                                           LEAT_EVAL_CAPTURE};
    int64_t capacity = 0;
    int32_t *numbers = NULL;
    LEAT_TRY(LEAT_NEW(&numbers, sorted->count, err));
    leat_code code = LEAT_OK;
    for (size_t k = 0; code == LEAT_OK && k < sizeof kinds / sizeof *kinds; k++) {
        const int64_t count = numbers_of(sorted, kinds[k], numbers);
        const int64_t all = summary->group_count + count;
        code = all > LEAT_EVAL_GROUPS_MAX
                   ? leat_fail(err, LEAT_ERR_LIMIT,
                               "%lld captures, vehicles and attack types: at most %d can be "
                               "evaluated at once; split the logs",
                               (long long)all, LEAT_EVAL_GROUPS_MAX)
                   : LEAT_GROW(&summary->groups, &capacity, all, err);
        for (int64_t i = 0; code == LEAT_OK && i < count; i++)
            summary->groups[summary->group_count++] =
                (leat_eval_group){.kind = kinds[k], .number = numbers[i]};
    }
    leat_free(numbers);
    return code;
}

static leat_code fill(leat_eval_summary *summary, const leat_eval_sorted *sorted,
                      const leat_eval_options *options, leat_error *err) {
    const leat_eval_windows *windows = leat_eval_sorted_windows(sorted);
    summary->unlabelled = leat_eval_sorted_unlabelled(sorted);
    if (windows->count == 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "no labelled window among %lld: there is nothing to compare scores with; "
                         "use a split whose logs are labelled",
                         (long long)summary->unlabelled);
    LEAT_TRY(list_groups(summary, windows, err));
    for (int64_t g = 0; g < summary->group_count; g++)
        LEAT_TRY(evaluate(&summary->groups[g], windows, options, err));
    return LEAT_OK;
}

leat_code leat_eval_summary_create(leat_eval_summary **out, const leat_eval_windows *windows,
                                   const leat_eval_options *options, leat_error *err) {
    *out = NULL;
    if (!isfinite(options->threshold))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "threshold: %g is not finite; choose it on validation data",
                         options->threshold);
    leat_eval_sorted *sorted = NULL;
    leat_eval_summary *summary = NULL;
    LEAT_TRY(leat_eval_sorted_create(&sorted, windows, err));
    leat_code code = LEAT_NEW(&summary, 1, err);
    if (code == LEAT_OK) code = fill(summary, sorted, options, err);
    leat_eval_sorted_destroy(sorted);
    if (code == LEAT_OK) *out = summary;
    else leat_eval_summary_destroy(summary);
    return code;
}
