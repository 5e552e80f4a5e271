/* The document of leat eval --json. Its members are facts; docs/schema/eval.json has what they say.
 */
#include <math.h>
#include <stddef.h>

#include "eval/eval.h"

/* ---- Runs --------------------------------------------------------------------------------- */

static bool run_at(const void *source, int index, void *item) {
    const leat_evaluation *of = ((const leat_eval_report *)source)->of;
    if (index >= of->run_count) return false;
    leat_evaluated_run *out = item;
    *out = of->runs[index];
    if (out->measure == NULL) {
        out->measure = "";
        out->measured = (double)NAN;
    }
    return true;
}

#define AT(member) offsetof(leat_evaluated_run, member)
static const leat_fact run_facts[] = {
    {"path", LEAT_FACT_TEXT, AT(path), .help = "Folder of the run."},
    {"model", LEAT_FACT_TEXT, AT(model), .help = "Its model."},
    {"run_hash", LEAT_FACT_TEXT, AT(run),
     .help = "Hash of everything that determines the weights, 64 hexadecimal digits."},
    {"trained_on", LEAT_FACT_TEXT, AT(data),
     .help = "Fingerprint of the cache that it was trained on, from whose validation windows its "
             "thresholds come; mostly that of the document."},
    {"step", LEAT_FACT_INT, AT(step), LEAT_FACT_COUNT, .help = "Step of the checkpoint."},
    {"state", LEAT_FACT_TEXT, AT(state), .help = "Hash of its state."},
    {"best", LEAT_FACT_FLAG, AT(best), .words = "the best|",
     .help = "Whether it is the best of the run by `measure`, on validation data, as the one that "
             "is chosen without --step; false if the files of a better one are lost, as the note "
             "says."},
    {"measure", LEAT_FACT_TEXT, AT(measure), .optional = true,
     .help = "What was measured of checkpoints on validation data; absent: nothing was."},
    {"measured", LEAT_FACT_REAL, AT(measured), .optional = true, .help = "Of this checkpoint."},
    {"calibration_train_graphs", LEAT_FACT_INT, AT(train_graphs), LEAT_FACT_COUNT,
     .help = "Benign graphs of train that the tables of its score were made of; 0: it has none."},
    {"calibration_val_graphs", LEAT_FACT_INT, AT(val_graphs), LEAT_FACT_COUNT,
     .help = "The same of val."},
    {"calibration_reused", LEAT_FACT_FLAG, AT(reused),
     .help = "Whether they were found in the folder of the run. Differs between calls."},
    {0},
};
#undef AT
static const leat_fact_list runs = {
    .rows = run_facts,
    .one = "A run.",
    .at = run_at,
    .item = "run        {path}: {model}, step {step}[, {best} by {measure} on val ({measured})]\n"};

/* ---- Splits ------------------------------------------------------------------------------- */

typedef struct split_item {
    const leat_eval_report *report;
    const leat_evaluation_split *split;
    int64_t attack_windows, labelled;
} split_item;

static bool split_at(const void *source, int index, void *item) {
    const leat_eval_report *report = source;
    if (index >= report->of->split_count) return false;
    const leat_evaluation_split *split = &report->of->splits[index];
    split_item *out = item;
    *out = (split_item){report, split, 0, split->windows.count - split->unlabelled};
    for (int64_t i = 0; i < split->windows.count; i++)
        out->attack_windows += split->windows.label[i] == 1;
    return true;
}

static leat_fact_value name_of(const void *source) {
    return (leat_fact_value){.text = ((const split_item *)source)->split->name};
}

static leat_fact_value unlabelled_of(const void *source) {
    return (leat_fact_value){.whole = ((const split_item *)source)->split->unlabelled};
}

static leat_fact_value unknown_of(const void *source) {
    return (leat_fact_value){.whole = ((const split_item *)source)->split->unknown_windows};
}

static bool result_at(const void *source, int index, void *item) {
    const split_item *of = source;
    if (index >= of->report->of->method_count) return false;
    leat_eval_item_make(item, of->report, of->split, index);
    return true;
}
static const leat_fact_list results = {
    .rows = leat_eval_item_facts, .one = "A detector or a plain score.", .at = result_at};

/* ---- Several runs ------------------------------------------------------------------------- */

typedef struct spread_item {
    const leat_eval_report *report;
    leat_eval_group group;
    const leat_evaluation_spread *spread;
    char name[LEAT_PLAIN_BYTES];
} spread_item;

static bool spread_at(const void *source, int index, void *item) {
    const split_item *of = source;
    const leat_eval_summary *summary = of->split->results[0].summary;
    spread_item *out = item;
    if (of->split->spread == NULL || summary == NULL || index >= summary->group_count) return false;
    out->report = of->report;
    out->group = summary->groups[index];
    out->spread = &of->split->spread[index];
    leat_eval_part_words(out->name, of->report, &out->group);
    return true;
}

typedef struct named_number {
    const char *key;
    double value;
} named_number;

static bool number_at(const leat_eval_number *numbers, int index, named_number *out) {
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++) {
        if (isnan(numbers[m].value) || index-- > 0) continue;
        *out = (named_number){leat_eval_metric_name((leat_eval_metric)m), numbers[m].value};
        return true;
    }
    return false;
}
static bool mean_at(const void *source, int index, void *item) {
    return number_at(((const spread_item *)source)->spread->mean, index, item);
}
static bool deviation_at(const void *source, int index, void *item) {
    return number_at(((const spread_item *)source)->spread->deviation, index, item);
}

static const leat_fact number_facts[] = {
    {"key", LEAT_FACT_TEXT, offsetof(named_number, key), .help = "Name of the number."},
    {"value", LEAT_FACT_REAL, offsetof(named_number, value), .help = "Its value."},
    {0},
};
static const leat_fact_list means = {.rows = number_facts, .shape = LEAT_FACT_NAMED, .at = mean_at};
static const leat_fact_list deviations = {
    .rows = number_facts, .shape = LEAT_FACT_NAMED, .at = deviation_at};

static leat_fact_value spread_kind(const void *source) {
    return (leat_fact_value){.text =
                                 leat_eval_kind_name(((const spread_item *)source)->group.kind)};
}
static leat_fact_value spread_number(const void *source) {
    return (leat_fact_value){.whole = ((const spread_item *)source)->group.number};
}

static const leat_fact spread_facts[] = {
    {"kind", LEAT_FACT_TEXT, .get = spread_kind, .help = "all, attack, vehicle or capture."},
    {"number", LEAT_FACT_INT, .get = spread_number, .help = "As in parts; 0: of all."},
    {"name", LEAT_FACT_CHARS, offsetof(spread_item, name), .help = "Its name."},
    {"mean", LEAT_FACT_LIST, .list = &means,
     .help = "Mean of each number over the runs; absent: it is undefined for one of them."},
    {"deviation", LEAT_FACT_LIST, .list = &deviations,
     .help = "Standard deviation, divided by the number of runs - 1."},
    {0},
};
static const leat_fact_list spreads = {
    .rows = spread_facts, .one = "All windows, or a part of them.", .at = spread_at};

/* ---- Where a plain table is better --------------------------------------------------------- */

static bool lost_at(const split_item *of, leat_eval_metric metric, int index, leat_eval_duel *out) {
    for (int i = 0; leat_eval_duel_at(of->report, of->split, metric, i, out); i++)
        if (leat_eval_duel_is_lost(out) && index-- == 0) return true;
    return false;
}
static bool by_auroc_at(const void *source, int index, void *item) {
    return lost_at(source, LEAT_EVAL_AUROC, index, item);
}
static bool by_precision_at(const void *source, int index, void *item) {
    return lost_at(source, LEAT_EVAL_AVERAGE_PRECISION, index, item);
}

#define DUEL_FACTS(ours, theirs, what)                                                             \
    {                                                                                              \
        {"detector", LEAT_FACT_CHARS, offsetof(leat_eval_duel, detector),                          \
         .help = "The detector, or the mean of several runs."},                                    \
            {ours, LEAT_FACT_REAL, offsetof(leat_eval_duel, detector_value), .digits = 3,          \
             .help = "Its " what "."},                                                             \
            {"plain", LEAT_FACT_CHARS, offsetof(leat_eval_duel, plain),                            \
             .help = "The best plain score."},                                                     \
            {theirs, LEAT_FACT_REAL, offsetof(leat_eval_duel, plain_value), .digits = 3,           \
             .help = "Its " what "."},                                                             \
            {"overlap", LEAT_FACT_FLAG, offsetof(leat_eval_duel, overlap),                         \
             .words = "; their 95 % intervals overlap|",                                           \
             .help = "Whether their intervals at 95 % overlap; false as well where there is "      \
                     "none."},                                                                     \
            {0},                                                                                   \
    }
static const leat_fact by_auroc_facts[] = DUEL_FACTS("detector_auroc", "plain_auroc", "AUROC");
static const leat_fact by_precision_facts[] =
    DUEL_FACTS("detector_average_precision", "plain_average_precision", "average precision");
static const leat_fact_list by_auroc = {
    .rows = by_auroc_facts, .one = "A detector that a plain score surpasses.", .at = by_auroc_at};
static const leat_fact_list by_precision = {.rows = by_precision_facts,
                                            .one = "A detector that a plain score surpasses.",
                                            .at = by_precision_at};

static const leat_fact split_facts[] = {
    {"split", LEAT_FACT_TEXT, .get = name_of, .help = "Name of the split."},
    {"windows", LEAT_FACT_INT, offsetof(split_item, labelled), LEAT_FACT_COUNT,
     .help = "Windows with a label."},
    {"attack_windows", LEAT_FACT_INT, offsetof(split_item, attack_windows), LEAT_FACT_COUNT,
     .help = "Those with an attack."},
    {"unlabelled_windows", LEAT_FACT_INT, .get = unlabelled_of, .unit = LEAT_FACT_COUNT,
     .help = "Windows without a label, which count nowhere."},
    {"unknown_windows", LEAT_FACT_INT, .get = unknown_of, .unit = LEAT_FACT_COUNT,
     .help = "Windows all of whose identifiers are unknown."},
    {"results", LEAT_FACT_LIST, .list = &results,
     .help = "Detectors in the order of the runs, then the plain scores."},
    {"over_runs", LEAT_FACT_LIST, .list = &spreads, .optional = true,
     .help = "Mean and deviation over several runs of one model; absent: there is one run, or they "
             "are of several models."},
    {"plain_is_better", LEAT_FACT_LIST, .list = &by_auroc,
     .help = "Detectors whose AUROC is below that of a plain score of the same cache."},
    {"plain_is_better_by_average_precision", LEAT_FACT_LIST, .list = &by_precision,
     .help = "Detectors whose average precision is below that of a plain score, which need not be "
             "the one with the best AUROC."},
    {0},
};
static const leat_fact_list splits = {.rows = split_facts, .one = "A split.", .at = split_at};

/* ---- The document -------------------------------------------------------------------------- */

#define OF(name, member, kind)                                                                     \
    static leat_fact_value name(const void *source) {                                              \
        return (leat_fact_value){.kind = ((const leat_eval_report *)source)->member};              \
    }
OF(cache_of, of->cache, text)
OF(fingerprint_of, of->fingerprint, text)
OF(dataset_of, of->dataset, text)
OF(window_of, facts.window, whole)
OF(stride_of, facts.stride, whole)
OF(note_of, of->note, text)
#undef OF

static const leat_fact facts[] = {
    {"cache", LEAT_FACT_TEXT, .get = cache_of, .help = "Folder of the cache."},
    {"fingerprint", LEAT_FACT_TEXT, .get = fingerprint_of,
     .help = "Digest of the cache, 64 hexadecimal digits."},
    {"dataset", LEAT_FACT_TEXT, .get = dataset_of, .help = "Name of its data set."},
    {"window", LEAT_FACT_INT, .get = window_of, .unit = LEAT_FACT_COUNT, .words = "frame",
     .help = "Frames of a window."},
    {"stride", LEAT_FACT_INT, .get = stride_of, .unit = LEAT_FACT_COUNT,
     .help = "Frames from a window to the next."},
    {"runs", LEAT_FACT_LIST, .list = &runs, .help = "What was evaluated."},
    {"note", LEAT_FACT_TEXT, .get = note_of, .optional = true,
     .help = "What the user should know."},
    {"splits", LEAT_FACT_LIST, .list = &splits, .help = "Results by split."},
    {0},
};

const leat_facts leat_facts_eval = {
    .schema = "eval",
    .rows = facts,
    .layout =
        "{runs}cache      {cache}: windows of {window}, stride {stride}\n[note       {note}\n]",
};
