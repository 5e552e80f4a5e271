/* See threshold.h. Both rules walk one list of labelled scores, the highest first. */
#include "train/eval/threshold.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "train/eval/scores.h"

const char *leat_threshold_rule_name(leat_threshold_rule rule) {
    return rule == LEAT_THRESHOLD_F1 ? "f1" : "fpr";
}

static leat_code rank_labelled(leat_eval_ranking *ranking, const leat_eval_windows *windows,
                               double *score, int32_t *label, leat_error *err) {
    int64_t count = 0;
    for (int64_t i = 0; i < windows->count; i++) {
        if (windows->label[i] < 0) continue;
        score[count] = windows->score[i];
        label[count++] = windows->label[i];
    }
    return leat_eval_ranking_init(ranking, score, label, count, err);
}

/* The labelled windows, of which there must be benign ones. */
static leat_code begin(leat_eval_ranking *ranking, leat_threshold *out,
                       const leat_eval_windows *windows, leat_error *err) {
    *ranking = (leat_eval_ranking){0};
    LEAT_TRY(leat_eval_check_scores(windows->score, windows->label, windows->count, err));
    for (int64_t i = 0; i < windows->count; i++) {
        if (windows->label[i] == 0) out->benign++;
        if (windows->label[i] == 1) out->attacks++;
    }
    if (out->benign == 0)
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "split \"%s\": no benign window among %lld, so no threshold can be chosen; "
            "ingest logs without attacks as well, or with a larger --val-fraction",
            out->split, (long long)windows->count);
    if (out->attacks == 0 && out->rule == LEAT_THRESHOLD_F1)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "split \"%s\": no window with an attack among %lld, so no threshold has "
                         "an F1; choose it by the share of false alarms (--threshold fpr)",
                         out->split, (long long)windows->count);
    double *score = NULL;
    int32_t *label = NULL;
    leat_code code = LEAT_NEW(&score, windows->count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&label, windows->count, err);
    if (code == LEAT_OK) code = rank_labelled(ranking, windows, score, label, err);
    leat_free(score);
    leat_free(label);
    return code;
}

static void finish(leat_threshold *out, const leat_eval_windows *windows) {
    const leat_eval_counts counts = leat_eval_count(windows, NULL, out->value);
    leat_eval_number metrics[LEAT_EVAL_METRIC_COUNT];
    leat_eval_rates(&counts, metrics);
    out->exceeding = counts.false_positives;
    out->f1 = metrics[LEAT_EVAL_F1].value;
}

/* 0.29 * 100 is 28.999999999999996: a share is meant as it was written. */
static int64_t share_of(int64_t count, double share) {
    const double product = share * (double)count;
    const double whole = floor(product + 0.5);
    const double rounding = 4 * 0x1p-53 * (double)count;
    const int64_t k = (int64_t)(fabs(product - whole) <= rounding ? whole : floor(product));
    return k < count ? k : count - 1;
}

static double benign_at(const leat_eval_ranking *ranking, int64_t k) {
    for (int64_t i = 0; i < ranking->count; i++) {
        if (!ranking->attack[i] && k-- == 0) return ranking->score[i];
    }
    LEAT_ASSERT(false);
}

leat_code leat_threshold_fit_fpr(leat_threshold *out, const leat_eval_windows *windows,
                                 const char *split, double target_fpr, leat_error *err) {
    *out = (leat_threshold){0};
    if (!(target_fpr >= 0 && target_fpr < 1))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "target-fpr: %g; it must be at least 0 and below 1, such as 0.01",
                         target_fpr);
    leat_threshold fitted = {.rule = LEAT_THRESHOLD_FPR, .split = split, .target_fpr = target_fpr};
    leat_eval_ranking ranking;
    LEAT_TRY(begin(&ranking, &fitted, windows, err));
    fitted.allowed = share_of(fitted.benign, target_fpr);
    fitted.value = benign_at(&ranking, fitted.allowed);
    leat_eval_ranking_free(&ranking);
    finish(&fitted, windows);
    *out = fitted;
    return LEAT_OK;
}

/* Between two scores, high > low, so that only the first exceeds it. */
static double between(double high, double low) {
    const double middle = 0.5 * high + 0.5 * low;
    return middle >= low && middle < high ? middle : low;
}

static double best_cut(const leat_eval_ranking *ranking, int64_t attacks) {
    double best = -1, cut = 0;
    int64_t hits = 0;
    for (int64_t i = 0; i < ranking->count; i++) {
        const bool last = i + 1 == ranking->count;
        if (ranking->attack[i]) hits++;
        if (!last && ranking->score[i + 1] == ranking->score[i]) continue;
        const double f1 = 2 * (double)hits / (double)(attacks + i + 1);
        if (f1 <= best) continue;
        best = f1;
        cut = last ? nextafter(ranking->score[i], -(double)INFINITY)
                   : between(ranking->score[i], ranking->score[i + 1]);
    }
    return cut;
}

leat_code leat_threshold_fit_f1(leat_threshold *out, const leat_eval_windows *windows,
                                const char *split, leat_error *err) {
    *out = (leat_threshold){0};
    leat_threshold fitted = {.rule = LEAT_THRESHOLD_F1, .split = split, .target_fpr = (double)NAN};
    leat_eval_ranking ranking;
    LEAT_TRY(begin(&ranking, &fitted, windows, err));
    fitted.value = best_cut(&ranking, fitted.attacks);
    leat_eval_ranking_free(&ranking);
    finish(&fitted, windows);
    *out = fitted;
    return LEAT_OK;
}

bool leat_threshold_is_weak(const leat_threshold *threshold) {
    return threshold->rule == LEAT_THRESHOLD_FPR && threshold->allowed == 0 &&
           threshold->target_fpr > 0;
}

const char *leat_threshold_note(const leat_threshold *threshold,
                                char text[LEAT_THRESHOLD_NOTE_BYTES]) {
    text[0] = 0;
    if (leat_threshold_is_weak(threshold))
        snprintf(text, LEAT_THRESHOLD_NOTE_BYTES,
                 "%.4g %% of %lld benign window%s of %.60s is less than one window, so the "
                 "threshold is the highest of their scores; validation data with more benign "
                 "windows allows a better one",
                 100 * threshold->target_fpr, (long long)threshold->benign,
                 threshold->benign == 1 ? "" : "s", threshold->split);
    return text;
}

void leat_threshold_json(leat_json *json, const leat_threshold *threshold) {
    leat_json_member_double(json, "threshold", threshold->value);
    leat_json_member_string(json, "rule", leat_threshold_rule_name(threshold->rule));
    leat_json_member_known(json, "target_fpr", threshold->target_fpr);
    leat_json_key(json, "fitted_on");
    leat_json_begin_object(json);
    leat_json_member_string(json, "split", threshold->split);
    leat_json_member_int(json, "benign_windows", threshold->benign);
    leat_json_member_int(json, "attack_windows", threshold->attacks);
    leat_json_member_int(json, "benign_windows_above", threshold->exceeding);
    leat_json_member_known(json, "f1", threshold->f1);
    leat_json_end_object(json);
}
