/* What a table of an evaluation has: rows with names, and which of them is the best. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval/eval.h"
#include "inspect/can.h"

/* ---- Names -------------------------------------------------------------------------------- */

static const char *plain_words(const char *name) {
    static const char *const words[][2] = {
        {"mean_abs_z", "mean |z|"},
        {"max_abs_z", "largest |z|"},
        {"frame_count", "frame count"},
        {"window_duration", "window duration"},
        {"unknown_identifiers", "unknown identifiers"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], name) == 0) return words[i][1];
    return name;
}

/* Whether another run is of the same model. */
static bool has_twin(const leat_evaluation *of, int method) {
    for (int m = 0; m < of->method_count; m++)
        if (m != method && of->methods[m].run >= 0 &&
            strcmp(of->methods[m].name, of->methods[method].name) == 0)
            return true;
    return false;
}

const char *leat_eval_method_words(char text[LEAT_PLAIN_BYTES], const leat_evaluation *of,
                                   int method) {
    const leat_evaluation_method *at = &of->methods[method];
    if (at->run >= 0 && has_twin(of, method))
        snprintf(text, LEAT_PLAIN_BYTES, "%s, run %d", at->name, at->run + 1);
    else snprintf(text, LEAT_PLAIN_BYTES, "%s", at->run < 0 ? plain_words(at->name) : at->name);
    return text;
}

const char *leat_eval_part_words(char text[LEAT_PLAIN_BYTES], const leat_eval_report *report,
                                 const leat_eval_group *group) {
    leat_can_capture_facts capture;
    const char *name = NULL;
    text[0] = 0;
    switch (group->kind) {
    case LEAT_EVAL_ALL: snprintf(text, LEAT_PLAIN_BYTES, "all"); break;
    case LEAT_EVAL_ATTACK:
        name = leat_can_attack_name_of(1, group->number);
        if (name[0] != 0) snprintf(text, LEAT_PLAIN_BYTES, "%s", name);
        else snprintf(text, LEAT_PLAIN_BYTES, "type %d", group->number);
        break;
    case LEAT_EVAL_VEHICLE:
        if (group->number > 0) snprintf(text, LEAT_PLAIN_BYTES, "vehicle %d", group->number);
        else snprintf(text, LEAT_PLAIN_BYTES, "vehicle not known");
        break;
    case LEAT_EVAL_CAPTURE:
        if (leat_can_cache_get_capture(report->cache, group->number, &capture, NULL) == LEAT_OK)
            leat_can_capture_words(text, &capture);
        else snprintf(text, LEAT_PLAIN_BYTES, "capture %d", group->number);
        break;
    }
    return text;
}

/* ---- Rows --------------------------------------------------------------------------------- */

const leat_eval_group *leat_eval_all(const leat_evaluation_split *split, int method) {
    const leat_eval_summary *summary = split->results[method].summary;
    return summary == NULL || summary->group_count == 0 ? NULL : &summary->groups[0];
}

static void forget(leat_eval_group *group, leat_eval_reason reason) {
    const leat_eval_number none = {(double)NAN, reason};
    const leat_eval_interval nowhere = {(double)NAN, (double)NAN, reason};
    *group = (leat_eval_group){.time = {(double)NAN, (double)NAN},
                               .recall_wilson = nowhere,
                               .fpr_wilson = nowhere,
                               .per_hour_poisson = nowhere,
                               .per_benign_hour_poisson = nowhere,
                               .ece = none,
                               .captures = {.median_frames = none, .median_ms = none},
                               .episodes = {.median_frames = none, .median_ms = none},
                               .gap_to_threshold = (double)NAN};
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++) {
        group->metrics[m] = none;
        group->intervals[m] = nowhere;
    }
}

/* What is said of the group that was copied. */
static void describe(leat_eval_item *item) {
    leat_eval_group *group = &item->group;
    const leat_eval_interval *range = &group->intervals[LEAT_EVAL_AUROC];
    item->mark[0] = 0;
    snprintf(item->auroc_range, sizeof item->auroc_range, "%s",
             item->method < 0 || !item->report->intervals ? "" : "-");
    if (!isnan(range->low))
        snprintf(item->auroc_range, sizeof item->auroc_range, "%.3f-%.3f", range->low, range->high);
    const leat_eval_interval *per_hour = &group->per_benign_hour_poisson;
    char low[LEAT_WORDS_BYTES], high[LEAT_WORDS_BYTES];
    snprintf(item->per_hour, sizeof item->per_hour, "%s", item->method < 0 ? "" : "-");
    if (!isnan(per_hour->low))
        snprintf(item->per_hour, sizeof item->per_hour, "%s-%s",
                 leat_display_words(low, LEAT_DISPLAY_COUNT, per_hour->low),
                 leat_display_words(high, LEAT_DISPLAY_COUNT, per_hour->high));
    snprintf(item->found, sizeof item->found, "%s", item->method < 0 ? "" : "-");
    if (group->episodes.count > 0)
        snprintf(item->found, sizeof item->found, "%lld of %lld",
                 (long long)group->episodes.detected, (long long)group->episodes.count);
    if (group->kind != LEAT_EVAL_CAPTURE || !group->delay.attacked)
        group->delay = (leat_eval_delay){.first_injected = -1, .alarm_start = -1, .frames = -1};
}

/* The AUROC of a row that is compared with others: of several runs that is their mean, since the
 * best of them is known only from the test. */
static bool is_compared(const leat_eval_report *report, const leat_evaluation_split *split,
                        int method) {
    return report->of->methods[method].run < 0 || split->spread == NULL;
}

static void mark_highest(leat_eval_item *item) {
    const leat_evaluation_split *split = item->split;
    const double auroc = item->group.metrics[LEAT_EVAL_AUROC].value;
    bool highest = !isnan(auroc);
    for (int m = 0; m < item->report->of->method_count; m++) {
        const leat_eval_group *all = leat_eval_all(split, m);
        if (is_compared(item->report, split, m) && all != NULL &&
            all->metrics[LEAT_EVAL_AUROC].value > auroc)
            highest = false;
    }
    if (split->spread != NULL && split->spread->mean[LEAT_EVAL_AUROC].value > auroc)
        highest = false;
    snprintf(item->mark, sizeof item->mark, "%s", highest ? "*" : "");
}

void leat_eval_item_make(leat_eval_item *item, const leat_eval_report *report,
                         const leat_evaluation_split *split, int method) {
    const leat_eval_group *all = leat_eval_all(split, method);
    item->report = report;
    item->split = split;
    item->method = method;
    item->threshold = report->of->methods[method].threshold;
    leat_eval_method_words(item->name, report->of, method);
    snprintf(item->fitted_on, sizeof item->fitted_on, "%.10s%s", item->threshold.split,
             leat_eval_fit_data(report->of, method) == NULL ? "" : " of another cache");
    if (all == NULL) forget(&item->group, LEAT_EVAL_NO_WINDOW);
    else item->group = *all;
    describe(item);
    if (is_compared(report, split, method)) mark_highest(item);
}

bool leat_eval_item_part(leat_eval_item *item, const leat_eval_item *whole, int64_t index) {
    const leat_eval_summary *summary =
        whole->method < 0 ? NULL : whole->split->results[whole->method].summary;
    if (summary == NULL || index >= summary->group_count) return false;
    if (item != whole) *item = *whole;
    item->group = summary->groups[index];
    leat_eval_part_words(item->name, item->report, &item->group);
    describe(item);
    return true;
}

/* Mean and deviation of the runs' median delays; undefined where a run has none. */
static leat_eval_number delay_over_runs(const leat_eval_report *report,
                                        const leat_evaluation_split *split, bool deviation) {
    const int count = report->of->run_count; /* the first methods */
    double sum = 0, squares = 0;
    for (int m = 0; m < count; m++) {
        const leat_eval_number delay = leat_eval_all(split, m)->captures.median_ms;
        if (delay.undefined != LEAT_EVAL_DEFINED) return delay;
        sum += delay.value;
    }
    for (int m = 0; m < count; m++) {
        const double apart = leat_eval_all(split, m)->captures.median_ms.value - sum / count;
        squares += apart * apart;
    }
    return (leat_eval_number){.value = deviation ? sqrt(squares / (count - 1)) : sum / count};
}

bool leat_eval_item_spread(leat_eval_item *item, const leat_eval_report *report,
                           const leat_evaluation_split *split, bool deviation) {
    if (split->spread == NULL || leat_eval_all(split, 0) == NULL) return false;
    memset(item, 0, sizeof *item);
    item->report = report;
    item->split = split;
    item->method = -1;
    item->threshold.value = (double)NAN;
    forget(&item->group, LEAT_EVAL_NO_WINDOW);
    memcpy(item->group.metrics, deviation ? split->spread->deviation : split->spread->mean,
           sizeof item->group.metrics);
    item->group.captures.median_ms = delay_over_runs(report, split, deviation);
    describe(item);
    if (!deviation) mark_highest(item);
    if (deviation) snprintf(item->name, sizeof item->name, "  deviation");
    else snprintf(item->name, sizeof item->name, "mean of %d runs", report->of->run_count);
    return true;
}

const char *leat_eval_calibration_words(char text[LEAT_EVAL_CALIBRATION],
                                        const leat_eval_item *item) {
    char name[LEAT_PLAIN_BYTES];
    text[0] = 0;
    if (!isnan(item->group.ece.value))
        snprintf(text, LEAT_EVAL_CALIBRATION, "%s: calibration error %.3f",
                 leat_plain(name, item->name), item->group.ece.value);
    return text;
}

/* ---- Which is better ---------------------------------------------------------------------- */

/* The plain table with the highest value on all windows of a split, the first of equal ones; -1: it
 * is undefined. Detectors are never chosen by a test. */
static int best_plain_by(const leat_evaluation *of, const leat_evaluation_split *split,
                         leat_eval_metric metric) {
    double most = (double)NAN;
    int best = -1;
    for (int m = 0; m < of->method_count; m++) {
        const leat_eval_group *all = leat_eval_all(split, m);
        if (of->methods[m].run >= 0 || all == NULL) continue;
        const double value = all->metrics[metric].value;
        if (isnan(value) || value <= most) continue;
        most = value;
        best = m;
    }
    return best;
}

/* The method of the detector with this number; -1: after the last. */
static int detector_at(const leat_evaluation *of, int index) {
    for (int m = 0; m < of->method_count; m++)
        if (of->methods[m].run >= 0 && index-- == 0) return m;
    return -1;
}

bool leat_eval_duel_at(const leat_eval_report *report, const leat_evaluation_split *split,
                       leat_eval_metric metric, int index, leat_eval_duel *out) {
    const int plain = best_plain_by(report->of, split, metric);
    const int method = split->spread != NULL && index > 0 ? -1 : detector_at(report->of, index);
    if (plain < 0 || method < 0 || leat_eval_all(split, method) == NULL) return false;
    const leat_eval_group *theirs = leat_eval_all(split, plain);
    const leat_eval_group *ours = leat_eval_all(split, method);
    const leat_eval_interval *a = &ours->intervals[metric], *b = &theirs->intervals[metric];
    leat_eval_item mean;
    *out = (leat_eval_duel){.metric = metric, .plain_value = theirs->metrics[metric].value};
    leat_eval_method_words(out->plain, report->of, plain);
    if (leat_eval_item_spread(&mean, report, split, false)) {
        snprintf(out->detector, sizeof out->detector, "the %s", mean.name);
        out->detector_value = mean.group.metrics[metric].value;
    } else {
        leat_eval_method_words(out->detector, report->of, method);
        out->detector_value = ours->metrics[metric].value;
        out->overlap = a->low <= b->high && b->low <= a->high; /* false where one is NaN */
        out->apart = a->low > b->high || b->low > a->high;
    }
    return !isnan(out->detector_value);
}

bool leat_eval_duel_is_lost(const leat_eval_duel *duel) {
    return duel->plain_value > duel->detector_value;
}

bool leat_eval_verdict_at(const leat_eval_report *report, const leat_evaluation_split *split,
                          int index, leat_eval_duel *out) {
    leat_eval_duel by_precision;
    for (int i = 0; leat_eval_duel_at(report, split, LEAT_EVAL_AUROC, i, out); i++) {
        if (index-- == 0) return true;
        if (leat_eval_duel_is_lost(out) ||
            !leat_eval_duel_at(report, split, LEAT_EVAL_AVERAGE_PRECISION, i, &by_precision) ||
            !leat_eval_duel_is_lost(&by_precision))
            continue;
        *out = by_precision;
        if (index-- == 0) return true;
    }
    return false;
}

void leat_eval_duel_words(char text[LEAT_EVAL_VERDICT], const leat_evaluation_split *split,
                          const leat_eval_duel *duel) {
    const bool lost = leat_eval_duel_is_lost(duel);
    const char *metric = duel->metric == LEAT_EVAL_AUROC ? "AUROC" : "AP";
    char name[LEAT_PLAIN_BYTES], words[64];
    snprintf(words, sizeof words,
             lost ? "a plain table is better by %s" : "no plain table has a higher %s", metric);
    snprintf(text, LEAT_EVAL_VERDICT, "%s: %s: %s %.3f, %s %.3f%s", leat_plain(name, split->name),
             words, lost ? duel->plain : duel->detector,
             lost ? duel->plain_value : duel->detector_value, lost ? duel->detector : duel->plain,
             lost ? duel->detector_value : duel->plain_value,
             duel->overlap ? " (intervals overlap)"
             : duel->apart ? ""
                           : " (no intervals to compare)");
}
