/* The numbers of an evaluation, each written down once: for the terminal, JSON and the page. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "eval/eval.h"

/* ---- Intervals ---------------------------------------------------------------------------- */

typedef struct interval {
    char key[64];
    leat_eval_interval of;
} interval;

enum { COUNTED = 4 }; /* intervals that are not of the bootstrap */

/* Those of the bootstrap by the names of the metrics, then those of counts. */
static interval interval_of(const leat_eval_group *group, int number) {
    static const char *const words[COUNTED] = {"recall_wilson", "realised_fpr_wilson",
                                               "false_alarms_per_hour_poisson",
                                               "false_alarms_per_benign_hour_poisson"};
    const leat_eval_interval counted[COUNTED] = {group->recall_wilson, group->fpr_wilson,
                                                 group->per_hour_poisson,
                                                 group->per_benign_hour_poisson};
    interval out;
    const int number_counted = number - LEAT_EVAL_METRIC_COUNT;
    out.of = number_counted < 0 ? group->intervals[number] : counted[number_counted];
    snprintf(out.key, sizeof out.key, "%s",
             number_counted < 0 ? leat_eval_metric_name((leat_eval_metric)number)
                                : words[number_counted]);
    return out;
}

/* Those that are defined. */
static bool interval_at(const void *source, int index, void *item) {
    const leat_eval_item *of = source;
    for (int i = 0; i < LEAT_EVAL_METRIC_COUNT + COUNTED; i++) {
        const interval at = interval_of(&of->group, i);
        if (isnan(at.of.low) || index-- > 0) continue;
        *(interval *)item = at;
        return true;
    }
    return false;
}

static void write_interval(leat_json *json, const void *source) {
    const interval *of = source;
    leat_json_begin_array(json);
    leat_json_double(json, of->of.low);
    leat_json_double(json, of->of.high);
    leat_json_end_array(json);
}

static const leat_fact interval_facts[] = {
    {"key", LEAT_FACT_CHARS, offsetof(interval, key), .help = "Name of the number."},
    {"range", LEAT_FACT_MEMBER, .member = write_interval, .help = "Its ends."},
    {0},
};
static const leat_fact_list intervals = {
    .rows = interval_facts, .shape = LEAT_FACT_NAMED, .at = interval_at};

/* ---- What is undefined --------------------------------------------------------------------- */

static bool take(const char *key, leat_eval_reason reason, int *index, leat_eval_missing *out) {
    if (reason == LEAT_EVAL_DEFINED || (*index)-- > 0) return false;
    *out = (leat_eval_missing){key, leat_eval_reason_text(reason)};
    return true;
}

/* Of intervals whose number is known: the same for all that lack one. */
static leat_eval_reason no_intervals(const leat_eval_item *item) {
    const leat_eval_group *of = &item->group;
    for (int m = 0; item->report->intervals && m < LEAT_EVAL_METRIC_COUNT; m++)
        if (of->metrics[m].undefined == LEAT_EVAL_DEFINED &&
            of->intervals[m].undefined == LEAT_EVAL_FEW_BLOCKS)
            return LEAT_EVAL_FEW_BLOCKS;
    return LEAT_EVAL_DEFINED;
}

bool leat_eval_missing_at(const void *item, int index, void *out) {
    const leat_eval_group *of = &((const leat_eval_item *)item)->group;
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++)
        if (take(leat_eval_metric_name((leat_eval_metric)m), of->metrics[m].undefined, &index, out))
            return true;
    return take("intervals_95", no_intervals(item), &index, out) ||
           take("delay", of->captures.median_ms.undefined, &index, out) ||
           take("episode_delay", of->episodes.median_ms.undefined, &index, out);
}

static const leat_fact undefined_facts[] = {
    {"key", LEAT_FACT_TEXT, offsetof(leat_eval_missing, key), .help = "Name of the number."},
    {"reason", LEAT_FACT_TEXT, offsetof(leat_eval_missing, reason), .help = "Why."},
    {0},
};
static const leat_fact_list undefined = {
    .rows = undefined_facts, .shape = LEAT_FACT_NAMED, .at = leat_eval_missing_at};

/* ---- Metrics ------------------------------------------------------------------------------ */

#define AT(member) offsetof(leat_eval_item, member)
#define METRIC(id) AT(group.metrics) + (id) * sizeof(leat_eval_number) /* its value is first */

static const leat_fact metric_facts[] = {
    {"auroc", LEAT_FACT_REAL, METRIC(LEAT_EVAL_AUROC), .digits = 3, .optional = true,
     .label = "AUROC",
     .help = "Share of pairs of an attack and a benign window in which the attack has the higher "
             "score, ties a half: 0.5 is chance. No threshold."},
    {"average_precision", LEAT_FACT_REAL, METRIC(LEAT_EVAL_AVERAGE_PRECISION), .digits = 3,
     .optional = true, .label = "AP",
     .help = "Precision, averaged over the steps of recall, without interpolation. No threshold."},
    {"precision", LEAT_FACT_REAL, METRIC(LEAT_EVAL_PRECISION), .digits = 3, .optional = true,
     .label = "precision", .help = "Share of the alarms that are attacks, at the threshold."},
    {"recall", LEAT_FACT_REAL, METRIC(LEAT_EVAL_RECALL), .digits = 3, .optional = true,
     .label = "recall", .help = "Share of the windows with an attack that alarm."},
    {"f1", LEAT_FACT_REAL, METRIC(LEAT_EVAL_F1), .digits = 3, .optional = true, .label = "F1",
     .help = "Harmonic mean of precision and recall."},
    {"f1_benign", LEAT_FACT_REAL, METRIC(LEAT_EVAL_F1_BENIGN), .digits = 3, .optional = true,
     .help = "The same with the classes exchanged."},
    {"f1_macro", LEAT_FACT_REAL, METRIC(LEAT_EVAL_F1_MACRO), .digits = 3, .optional = true,
     .help = "Mean of the two."},
    {"mcc", LEAT_FACT_REAL, METRIC(LEAT_EVAL_MCC), .digits = 3, .optional = true, .label = "MCC",
     .help = "Matthews correlation coefficient of alarms and labels: 0 is chance, 1 perfect."},
    {"realised_fpr", LEAT_FACT_REAL, METRIC(LEAT_EVAL_REALISED_FPR), LEAT_FACT_SHARE,
     .optional = true, .label = "false alarms",
     .help = "Share of the benign windows that alarm: what has become of the rate that the "
             "threshold was fitted for."},
    {"false_alarms_per_hour", LEAT_FACT_REAL, METRIC(LEAT_EVAL_PER_HOUR), LEAT_FACT_COUNT,
     .optional = true,
     .help = "Benign windows that alarm, each counted, in an hour of all bus time, also that of "
             "windows with an attack, in which no false alarm can be counted."},
    {"false_alarms_per_benign_hour", LEAT_FACT_REAL, METRIC(LEAT_EVAL_PER_BENIGN_HOUR),
     LEAT_FACT_COUNT, .optional = true, .label = "an hour",
     .help =
         "The same in an hour of bus time of benign windows: what a bus without attacks brings. "
         "It is what the table shows as FA/h."},
    {0},
};

static const leat_fact group_facts[] = {
    {"windows", LEAT_FACT_INT, AT(group.windows), LEAT_FACT_COUNT, .words = "window",
     .label = "windows", .help = "Windows with a label."},
    {"attack_windows", LEAT_FACT_INT, AT(group.attack_windows), LEAT_FACT_COUNT,
     .label = "with an attack", .help = "Those with an attack."},
    {"bus_seconds", LEAT_FACT_REAL, AT(group.time.seconds), LEAT_FACT_SECONDS, .optional = true,
     .label = "bus time", .help = "Bus time that the windows cover."},
    {"benign_bus_seconds", LEAT_FACT_REAL, AT(group.time.benign_seconds), LEAT_FACT_SECONDS,
     .optional = true, .help = "That of the benign windows."},
    {"true_positives", LEAT_FACT_INT, AT(group.counts.true_positives), LEAT_FACT_COUNT,
     .help = "Windows with an attack that alarm."},
    {"false_positives", LEAT_FACT_INT, AT(group.counts.false_positives), LEAT_FACT_COUNT,
     .words = "false alarm", .help = "Benign windows that alarm: false alarms."},
    {"false_negatives", LEAT_FACT_INT, AT(group.counts.false_negatives), LEAT_FACT_COUNT,
     .help = "Windows with an attack that do not alarm."},
    {"true_negatives", LEAT_FACT_INT, AT(group.counts.true_negatives), LEAT_FACT_COUNT,
     .help = "Benign windows that do not alarm."},
    {"metrics", LEAT_FACT_ROWS, 0, .rows = metric_facts},
    {"ece", LEAT_FACT_REAL, AT(group.ece.value), .digits = 3, .optional = true,
     .help = "Expected calibration error, in 15 bins, of a score that is a probability of an "
             "attack; absent of other scores."},
    {"intervals_95", LEAT_FACT_LIST, .list = &intervals,
     .help = "Confidence intervals at 95 %, by number: by resampling blocks of consecutive "
             "windows; recall_wilson and realised_fpr_wilson of counts of independent windows; "
             "..._poisson, exact, of rare false alarms."},
    {"captures_attacked", LEAT_FACT_INT, AT(group.captures.count), LEAT_FACT_COUNT,
     .help = "Captures with an attack."},
    {"captures_detected", LEAT_FACT_INT, AT(group.captures.detected), LEAT_FACT_COUNT,
     .help = "Those in which a window alarms at or after the first injected frame."},
    {"delay_frames", LEAT_FACT_REAL, AT(group.captures.median_frames.value), LEAT_FACT_COUNT,
     .optional = true,
     .help = "Frames from a capture's first injected frame to the end of the first window that "
             "alarms: the median of the captures that were detected."},
    {"delay_ms", LEAT_FACT_REAL, AT(group.captures.median_ms.value), LEAT_FACT_MS, .optional = true,
     .label = "delay", .help = "The same in milliseconds."},
    {"episodes", LEAT_FACT_INT, AT(group.episodes.count), LEAT_FACT_COUNT,
     .help = "Runs of windows with an attack."},
    {"episodes_detected", LEAT_FACT_INT, AT(group.episodes.detected), LEAT_FACT_COUNT,
     .help = "Those in which a window alarms."},
    {"episode_delay_frames", LEAT_FACT_REAL, AT(group.episodes.median_frames.value),
     LEAT_FACT_COUNT, .optional = true,
     .help = "Frames from an episode's first injected frame to the end of its first window that "
             "alarms: the median of those that were detected."},
    {"episode_delay_ms", LEAT_FACT_REAL, AT(group.episodes.median_ms.value), LEAT_FACT_MS,
     .optional = true, .label = "delay of an episode", .help = "The same in milliseconds."},
    {"gap_to_threshold", LEAT_FACT_REAL, AT(group.gap_to_threshold), .optional = true,
     .help = "The smallest distance of a score from the threshold, as a share of the threshold: "
             "arithmetic that differs by less changes no alarm."},
    {"undefined", LEAT_FACT_LIST, .list = &undefined,
     .help = "Why a number is absent, by its name; intervals_95: of those of the bootstrap; delay, "
             "episode_delay: of frames and milliseconds."},
    {"auroc_range", LEAT_FACT_CHARS, AT(auroc_range), .label = "95 %", .help = NULL},
    {"per_hour_range", LEAT_FACT_CHARS, AT(per_hour), .help = NULL},
    {"found", LEAT_FACT_CHARS, AT(found), .label = "episodes found", .help = NULL},
    {"mark", LEAT_FACT_CHARS, AT(mark), .help = NULL},
    {0},
};

/* ---- Parts of a split --------------------------------------------------------------------- */

static leat_fact_value kind_of(const void *source) {
    return (leat_fact_value){.text =
                                 leat_eval_kind_name(((const leat_eval_item *)source)->group.kind)};
}

static leat_fact_value number_of(const void *source) {
    return (leat_fact_value){.whole = ((const leat_eval_item *)source)->group.number};
}

static const leat_fact part_facts[] = {
    {"kind", LEAT_FACT_TEXT, .get = kind_of,
     .help = "attack: the windows of an attack type, beside all benign ones; vehicle, capture: all "
             "windows of one."},
    {"number", LEAT_FACT_INT, .get = number_of,
     .help = "Code of the attack type, number of the vehicle, or of the capture in the cache."},
    {"name", LEAT_FACT_CHARS, AT(name), .help = "Its name."},
    {"group", LEAT_FACT_ROWS, 0, .rows = group_facts},
    {"first_injected_frame", LEAT_FACT_INDEX, AT(group.delay.first_injected), .optional = true,
     .help = "Of a capture with an attack: the number of its first injected frame."},
    {"first_alarm_window_start", LEAT_FACT_INDEX, AT(group.delay.alarm_start), .optional = true,
     .help = "Of a capture that was detected: the first frame of the window that alarmed first, at "
             "or after that."},
    {0},
};

static bool part_at(const void *source, int index, void *item) {
    return leat_eval_item_part(item, source, index + 1);
}
static const leat_fact_list parts = {
    .rows = part_facts, .one = "An attack type, a vehicle or a capture.", .at = part_at};

/* ---- Blame -------------------------------------------------------------------------------- */

static const leat_evaluation_result *result_of(const leat_eval_item *item) {
    return &item->split->results[item->method];
}

static bool identifier_at(const void *source, int index, void *item) {
    const leat_evaluation_result *of = result_of(source);
    if (index >= of->identifier_count) return false;
    *(leat_blame_count *)item = of->identifiers[index];
    return true;
}

static bool feature_at(const void *source, int index, void *item) {
    const leat_evaluation_result *of = result_of(source);
    if (index >= of->feature_count) return false;
    *(leat_blame_count *)item = of->features[index];
    return true;
}

static const leat_fact blamed_facts[] = {
    {"name", LEAT_FACT_TEXT, offsetof(leat_blame_count, text),
     .help = "The identifier, or the feature."},
    {"windows", LEAT_FACT_INT, offsetof(leat_blame_count, windows), LEAT_FACT_COUNT,
     .help = "Windows that alarm in whose score it has the largest share."},
    {"attack_windows", LEAT_FACT_INT, offsetof(leat_blame_count, attack_windows), LEAT_FACT_COUNT,
     .help = "Those with an attack."},
    {0},
};
static const leat_fact_list blamed_identifiers = {
    .rows = blamed_facts, .one = "An identifier.", .at = identifier_at};
static const leat_fact_list blamed_features = {
    .rows = blamed_facts, .one = "A feature.", .at = feature_at};

typedef struct share {
    const char *attack;
    leat_blame_share of;
} share;

static bool share_at(const void *source, int index, void *item) {
    const leat_evaluation_result *of = result_of(source);
    share *out = item;
    if (index >= of->share_count) return false;
    out->of = of->shares[index];
    out->attack = out->of.attack < 0 ? "all" : leat_can_attack_name_of(1, out->of.attack);
    return true;
}

static leat_fact_value no_share(const void *source) {
    return (leat_fact_value){
        .text = leat_eval_reason_text(((const share *)source)->of.share.undefined)};
}

static const leat_fact share_facts[] = {
    {"attack", LEAT_FACT_TEXT, offsetof(share, attack), .help = "Attack type; \"all\": of all."},
    {"detected", LEAT_FACT_INT, offsetof(share, of.detected), LEAT_FACT_COUNT,
     .help = "Windows with that attack that alarm, and blame an identifier."},
    {"known", LEAT_FACT_INT, offsetof(share, of.known), LEAT_FACT_COUNT,
     .help = "Of those, the windows in which the first injected identifier can be told from all "
             "others: the cache says which it is, and it is known, or the only unknown one."},
    {"right", LEAT_FACT_INT, offsetof(share, of.right), LEAT_FACT_COUNT,
     .help = "Of those, the windows that blame that identifier."},
    {"share", LEAT_FACT_REAL, offsetof(share, of.share.value), LEAT_FACT_SHARE, .optional = true,
     .help = "right / known; absent: undefined says why."},
    {"low", LEAT_FACT_REAL, offsetof(share, of.wilson.low), LEAT_FACT_SHARE, .optional = true,
     .help = "Its interval at 95 % (Wilson)."},
    {"high", LEAT_FACT_REAL, offsetof(share, of.wilson.high), LEAT_FACT_SHARE, .optional = true,
     .help = "Its upper end."},
    {"undefined", LEAT_FACT_TEXT, .get = no_share, .optional = true,
     .help = "Why there is no share: no window with an attack, none that was detected, none that "
             "blames an identifier, or none of which it is known which was injected."},
    {0},
};
static const leat_fact_list shares = {.rows = share_facts,
                                      .one = "An attack type, or all.",
                                      .at = share_at,
                                      .item = "{attack} {share} of {known}",
                                      .between = ", "};

/* ---- Results ------------------------------------------------------------------------------ */

static leat_fact_value method_of(const void *source) {
    const leat_eval_item *item = source;
    return (leat_fact_value){.text = item->report->of->methods[item->method].name};
}

static leat_fact_value score_of(const void *source) {
    const leat_eval_item *item = source;
    return (leat_fact_value){.text = item->report->of->methods[item->method].score};
}

static leat_fact_value run_of(const void *source) {
    const leat_eval_item *item = source;
    return (leat_fact_value){.whole = item->report->of->methods[item->method].run};
}

static leat_fact_value rule_of(const void *source) {
    return (leat_fact_value){
        .text = leat_threshold_rule_name(((const leat_eval_item *)source)->threshold.rule)};
}

static const leat_fact threshold_facts[] = {
    {"threshold", LEAT_FACT_REAL, AT(threshold.value),
     .help = "A window alarms if its score is higher."},
    {"threshold_rule", LEAT_FACT_TEXT, .get = rule_of,
     .help = "fpr: for a share of benign windows that alarm; f1: the best F1."},
    {"threshold_split", LEAT_FACT_TEXT, AT(threshold.split),
     .help = "The split that it was fitted on, of a detector that of the cache that its run was "
             "trained on. No label of the split of this result was read for it."},
    {"threshold_fitted_on", LEAT_FACT_CHARS, AT(fitted_on), .help = NULL},
    {"threshold_benign_windows", LEAT_FACT_INT, AT(threshold.benign), LEAT_FACT_COUNT,
     .help = "Benign windows that it was fitted on."},
    {"threshold_attack_windows", LEAT_FACT_INT, AT(threshold.attacks), LEAT_FACT_COUNT,
     .help = "Windows with an attack of that split; fpr does not use them."},
    {"threshold_target_fpr", LEAT_FACT_REAL, AT(threshold.target_fpr), LEAT_FACT_SHARE,
     .optional = true, .help = "Share of benign windows that may alarm; absent: f1."},
    {"threshold_exceeding", LEAT_FACT_INT, AT(threshold.exceeding), LEAT_FACT_COUNT,
     .help = "Benign windows of the split that it was fitted on with a higher score."},
    {0},
};

static const leat_fact result_facts[] = {
    {"method", LEAT_FACT_TEXT, .get = method_of,
     .help = "Model of a detector, or name of a plain score: mean_abs_z, ..."},
    {"score", LEAT_FACT_TEXT, .get = score_of,
     .help = "residual, reference, difficulty: of a VGAE; probability: of a GAT; plain."},
    {"run", LEAT_FACT_INDEX, .get = run_of, .optional = true,
     .help = "Number of the run in runs, from 0; absent: a plain score."},
    {"threshold_of", LEAT_FACT_ROWS, 0, .rows = threshold_facts},
    {"all", LEAT_FACT_ROWS, 0, .rows = group_facts},
    {"parts", LEAT_FACT_LIST, .list = &parts,
     .help = "The same of attack types, vehicles (if known) and captures."},
    {"blamed_identifiers", LEAT_FACT_LIST, .list = &blamed_identifiers, .optional = true,
     .help = "Identifiers that are blamed in windows that alarm, most often first; absent: the "
             "method blames nothing, or nothing alarms."},
    {"blamed_features", LEAT_FACT_LIST, .list = &blamed_features, .optional = true,
     .help = "The same of features."},
    {"blame", LEAT_FACT_LIST, .list = &shares, .optional = true,
     .help = "How often the identifier of a window's first injected frame is blamed."},
    {"name", LEAT_FACT_CHARS, AT(name), .help = NULL},
    {0},
};

const leat_fact leat_eval_item_facts[] = {
    {"result", LEAT_FACT_ROWS, 0, .rows = result_facts},
    {0},
};
#undef METRIC
#undef AT
