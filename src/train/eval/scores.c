/*
 * Metrics as whole numbers first: counts of pairs and of windows, which are exact in any order, and
 * one division at the end. Only average precision is a sum of quotients.
 */
#include "train/eval/scores.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"

const char *leat_eval_metric_name(leat_eval_metric metric) {
#define LEAT_EVAL_METRIC_NAME(name, text) [name] = text,
    static const char *const names[] = {LEAT_EVAL_METRICS(LEAT_EVAL_METRIC_NAME)};
#undef LEAT_EVAL_METRIC_NAME
    LEAT_ASSERT((size_t)metric < LEAT_EVAL_METRIC_COUNT);
    return names[metric];
}

/* ---- ranking ------------------------------------------------------------------------------ */

typedef struct ranked {
    double score;
    int64_t index;
} ranked;

static int by_falling_score(const void *a, const void *b) {
    const ranked *left = a, *right = b;
    if (left->score != right->score) return left->score > right->score ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

int64_t leat_eval_ranking_bytes(int64_t count) {
    const int64_t each = (int64_t)(sizeof(ranked) + sizeof(int64_t) + sizeof(double) + 1);
    int64_t bytes = 0;
    return leat_mul_size(count, each, &bytes) ? bytes : INT64_MAX;
}

static leat_code rank(leat_eval_ranking *ranking, const double *score, const int32_t *label,
                      ranked *windows, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&ranking->order, ranking->count, err));
    LEAT_TRY(LEAT_NEW(&ranking->score, ranking->count, err));
    LEAT_TRY(LEAT_NEW(&ranking->attack, ranking->count, err));
    for (int64_t i = 0; i < ranking->count; i++) windows[i] = (ranked){score[i], i};
    qsort(windows, (size_t)ranking->count, sizeof *windows, by_falling_score);
    for (int64_t i = 0; i < ranking->count; i++) {
        ranking->order[i] = windows[i].index;
        ranking->score[i] = windows[i].score;
        ranking->attack[i] = label[windows[i].index] == 1;
    }
    return LEAT_OK;
}

leat_code leat_eval_ranking_init(leat_eval_ranking *ranking, const double *score,
                                 const int32_t *label, int64_t count, leat_error *err) {
    *ranking = (leat_eval_ranking){0};
    LEAT_TRY(leat_eval_check_scores(score, label, count, err));
    for (int64_t i = 0; i < count; i++) {
        if (label[i] < 0)
            return leat_fail(err, LEAT_ERR_INPUT,
                             "window %lld has no label; leave out the windows that are neither "
                             "attack nor benign",
                             (long long)i);
    }
    ranked *windows = NULL;
    LEAT_TRY(LEAT_NEW(&windows, count, err));
    ranking->count = count;
    leat_code code = rank(ranking, score, label, windows, err);
    leat_free(windows);
    if (code != LEAT_OK) leat_eval_ranking_free(ranking);
    return code;
}

void leat_eval_ranking_free(leat_eval_ranking *ranking) {
    leat_free(ranking->order);
    leat_free(ranking->score);
    leat_free(ranking->attack);
    *ranking = (leat_eval_ranking){0};
}

/* The windows of one score, from *at on: how many of each class; *at is then after them. */
typedef struct step {
    int64_t attacks, benign;
} step;

static step next_step(const leat_eval_ranking *ranking, const int32_t *times, int64_t *at) {
    step out = {0};
    const double score = ranking->score[*at];
    for (; *at < ranking->count && ranking->score[*at] == score; ++*at) {
        const int64_t n = times == NULL ? 1 : times[ranking->order[*at]];
        if (ranking->attack[*at]) out.attacks += n;
        else out.benign += n;
    }
    return out;
}

static step all_of(const leat_eval_ranking *ranking, const int32_t *times) {
    step all = {0};
    for (int64_t i = 0; i < ranking->count; i++) {
        const int64_t n = times == NULL ? 1 : times[ranking->order[i]];
        if (ranking->attack[i]) all.attacks += n;
        else all.benign += n;
    }
    LEAT_ASSERT(all.attacks + all.benign <= LEAT_EVAL_WINDOWS_MAX);
    return all;
}

static leat_eval_reason missing_class(int64_t attacks, int64_t benign) {
    if (attacks + benign == 0) return LEAT_EVAL_NO_WINDOW;
    if (attacks == 0) return LEAT_EVAL_NO_ATTACK;
    return benign == 0 ? LEAT_EVAL_NO_BENIGN : LEAT_EVAL_DEFINED;
}

leat_eval_number leat_eval_auroc(const leat_eval_ranking *ranking, const int32_t *times) {
    const step all = all_of(ranking, times);
    const leat_eval_reason missing = missing_class(all.attacks, all.benign);
    if (missing != LEAT_EVAL_DEFINED) return leat_eval_undefined(missing);
    /* twice the pairs in the right order: benign windows below count 2, those beside 1 */
    int64_t pairs = 0, below = all.benign;
    for (int64_t at = 0; at < ranking->count;) {
        const step here = next_step(ranking, times, &at);
        below -= here.benign;
        pairs += here.attacks * (2 * below + here.benign);
    }
    return leat_eval_defined((double)pairs / (2.0 * (double)all.attacks * (double)all.benign));
}

leat_eval_number leat_eval_average_precision(const leat_eval_ranking *ranking,
                                             const int32_t *times) {
    const step all = all_of(ranking, times);
    const leat_eval_reason missing = missing_class(all.attacks, all.benign);
    if (missing != LEAT_EVAL_DEFINED) return leat_eval_undefined(missing);
    double sum = 0;
    step above = {0};
    for (int64_t at = 0; at < ranking->count;) {
        const step here = next_step(ranking, times, &at);
        above.attacks += here.attacks;
        above.benign += here.benign;
        if (here.attacks > 0)
            sum += (double)here.attacks * (double)above.attacks /
                   (double)(above.attacks + above.benign);
    }
    return leat_eval_defined(sum / (double)all.attacks);
}

/* ---- at a threshold ----------------------------------------------------------------------- */

leat_eval_counts leat_eval_count(const leat_eval_windows *windows, const int32_t *times,
                                 double threshold) {
    leat_eval_counts counts = {0};
    for (int64_t i = 0; i < windows->count; i++) {
        const int64_t n = times == NULL ? 1 : times[i];
        const bool alarm = windows->score[i] > threshold;
        if (windows->label[i] == 1) {
            if (alarm) counts.true_positives += n;
            else counts.false_negatives += n;
        } else if (windows->label[i] == 0) {
            if (alarm) counts.false_positives += n;
            else counts.true_negatives += n;
        }
    }
    return counts;
}

static leat_eval_number quotient(int64_t part, int64_t all, leat_eval_reason if_none) {
    if (all == 0) return leat_eval_undefined(if_none);
    return leat_eval_defined((double)part / (double)all);
}

/* Products of two counts fit into 63 bits; of four they do not. */
static double mcc_of(const leat_eval_counts *counts) {
    const int64_t tp = counts->true_positives, fp = counts->false_positives;
    const int64_t fn = counts->false_negatives, tn = counts->true_negatives;
    if (tp + fp == 0 || tn + fn == 0) return 0;
    return (double)(tp * tn - fp * fn) /
           (sqrt((double)((tp + fp) * (tn + fn))) * sqrt((double)((tp + fn) * (tn + fp))));
}

void leat_eval_rates(const leat_eval_counts *counts,
                     leat_eval_number metrics[LEAT_EVAL_METRIC_COUNT]) {
    const int64_t tp = counts->true_positives, fp = counts->false_positives;
    const int64_t fn = counts->false_negatives, tn = counts->true_negatives;
    metrics[LEAT_EVAL_RECALL] = quotient(tp, tp + fn, LEAT_EVAL_NO_ATTACK);
    metrics[LEAT_EVAL_REALISED_FPR] = quotient(fp, fp + tn, LEAT_EVAL_NO_BENIGN);
    const leat_eval_reason missing = missing_class(tp + fn, fp + tn);
    if (missing != LEAT_EVAL_DEFINED) {
        metrics[LEAT_EVAL_PRECISION] = metrics[LEAT_EVAL_F1] = metrics[LEAT_EVAL_F1_BENIGN] =
            metrics[LEAT_EVAL_F1_MACRO] = metrics[LEAT_EVAL_MCC] = leat_eval_undefined(missing);
        return;
    }
    metrics[LEAT_EVAL_PRECISION] = quotient(tp, tp + fp, LEAT_EVAL_NO_ALARM);
    const leat_eval_number f1 = quotient(2 * tp, 2 * tp + fp + fn, LEAT_EVAL_NO_ATTACK);
    const leat_eval_number f1_benign = quotient(2 * tn, 2 * tn + fp + fn, LEAT_EVAL_NO_BENIGN);
    metrics[LEAT_EVAL_F1] = f1;
    metrics[LEAT_EVAL_F1_BENIGN] = f1_benign;
    metrics[LEAT_EVAL_F1_MACRO] = leat_eval_defined((f1.value + f1_benign.value) / 2);
    metrics[LEAT_EVAL_MCC] = leat_eval_defined(mcc_of(counts));
}

static leat_eval_number per_hour(int64_t alarms, double seconds) {
    if (!(seconds > 0)) return leat_eval_undefined(LEAT_EVAL_NO_TIME);
    return leat_eval_defined((double)alarms / (seconds / 3600));
}

void leat_eval_measure(const leat_eval_windows *windows, const leat_eval_ranking *ranking,
                       const int32_t *times, double threshold,
                       leat_eval_number metrics[LEAT_EVAL_METRIC_COUNT]) {
    LEAT_ASSERT(ranking->count == windows->count);
    metrics[LEAT_EVAL_AUROC] = leat_eval_auroc(ranking, times);
    metrics[LEAT_EVAL_AVERAGE_PRECISION] = leat_eval_average_precision(ranking, times);
    const leat_eval_counts counts = leat_eval_count(windows, times, threshold);
    leat_eval_rates(&counts, metrics);
    double all = 0, benign = 0;
    for (int64_t i = 0; i < windows->count; i++) {
        const double seconds = windows->seconds[i] * (times == NULL ? 1 : times[i]);
        all += seconds;
        if (windows->label[i] == 0) benign += seconds;
    }
    if (metrics[LEAT_EVAL_REALISED_FPR].undefined != LEAT_EVAL_DEFINED) {
        metrics[LEAT_EVAL_PER_HOUR] = metrics[LEAT_EVAL_PER_BENIGN_HOUR] =
            leat_eval_undefined(metrics[LEAT_EVAL_REALISED_FPR].undefined);
        return;
    }
    metrics[LEAT_EVAL_PER_HOUR] = per_hour(counts.false_positives, all);
    metrics[LEAT_EVAL_PER_BENIGN_HOUR] = per_hour(counts.false_positives, benign);
}
