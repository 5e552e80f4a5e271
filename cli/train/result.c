/* What a training has done. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "train/train.h"

/* ---- Warnings ------------------------------------------------------------------------------ */

bool leat_train_warned(const leat_train_warning *warnings, int kind,
                       char text[LEAT_WARNING_BYTES]) {
    text[0] = 0;
    if (warnings[kind].step == 0) return false;
    leat_train_warning_text(&warnings[kind], text);
    return true;
}

/* Those of `warnings` that arose. */
bool leat_train_warning_at(const leat_train_warning *warnings, int index, void *item) {
    leat_train_warned_item *out = item;
    for (int kind = 0; kind < LEAT_WARNINGS_MAX; kind++) {
        if (!leat_train_warned(warnings, kind, out->text) || index-- > 0) continue;
        out->warning = warnings[kind];
        return true;
    }
    return false;
}

#define AT(member) offsetof(leat_train_warned_item, member)
const leat_fact leat_train_warning_facts[] = {
    {"kind", LEAT_FACT_TEXT, AT(warning.name),
     .help = "alike: the generated images are too much alike; won: the discriminator has won, so "
             "the generator no longer learns."},
    {"step", LEAT_FACT_INT, AT(warning.step), .help = "Step after which it arose, the last time."},
    {"over", LEAT_FACT_INT, AT(warning.over), .optional = true,
     .help = "Step after which it no longer held; absent while it holds."},
    {"text", LEAT_FACT_CHARS, AT(text), .help = "The warning as a sentence."},
    {0},
};
#undef AT

/* ---- Values of a step ------------------------------------------------------------------------ */

static bool is_same(const char *a, const char *b) {
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool leat_train_sum_at(const leat_value *names, const double *values, int k, leat_train_sum *out) {
    const int count = leat_value_count(names);
    for (int i = 0; i < count; i++) {
        int first = 0;
        while (first < i && !is_same(names[first].sum, names[i].sum)) first++;
        if (names[i].sum == NULL || first < i || k-- > 0) continue;
        *out = (leat_train_sum){.words = names[i].sum};
        for (int j = i; j < count; j++)
            if (is_same(names[j].sum, names[i].sum)) out->value += values[j];
        return true;
    }
    return false;
}

/* ---- Which measure is better ---------------------------------------------------------------- */

const char *leat_train_best_word(const leat_value *measure) {
    return measure->better > 0 ? "highest" : "lowest";
}

const char *leat_train_better_words(int better) {
    if (better == 0) return NULL;
    return better > 0 ? "higher is better:" : "lower is better:";
}

static bool warning_at(const void *source, int index, void *item) {
    return leat_train_warning_at(((const leat_train_result *)source)->warnings, index, item);
}

static const leat_fact_list warnings = {.rows = leat_train_warning_facts,
                                        .one = "A warning.",
                                        .at = warning_at,
                                        .item = "warning {text}\n"};

static leat_fact_value all_done(const void *source) {
    const leat_train_result *of = source;
    return (leat_fact_value){.whole = of->last_step == of->first_step ? of->last_step : -1};
}

static leat_fact_value first_taken(const void *source) {
    const leat_train_result *of = source;
    return (leat_fact_value){.whole = of->last_step == of->first_step ? -1 : of->first_step + 1};
}

static const char *samples_of(const void *source, bool many) {
    return many ? ((const leat_train_result *)source)->many : NULL;
}

/* ---- What is measured: the model says what --------------------------------------------------- */

typedef struct measured {
    char key[LEAT_PLAIN_BYTES];
    double value;
} measured;

static const leat_fact measured_facts[] = {
    {"key", LEAT_FACT_CHARS, offsetof(measured, key), .help = NULL},
    {"value", LEAT_FACT_REAL, offsetof(measured, value), .optional = true},
    {0},
};

/* Of the first measure also what to compare it with. */
static bool measured_at(const void *source, int index, void *item) {
    const leat_train_result *of = source;
    measured *out = item;
    const char *name = of->reference.name, *more = "";
    const int between = name != NULL ? 2 : 1; /* after the first */
    const int measure = index > between ? index - between : 0;
    if (measure >= leat_value_count(of->measures)) return false;
    out->value = of->measured[measure];
    if (index == 1) {
        out->value = of->untrained[0];
        more = "_untrained";
    } else if (index == 2 && name != NULL) {
        out->value = of->reference.value;
    }
    if (index != 2 || name == NULL) name = of->measures[measure].name;
    snprintf(out->key, sizeof out->key, "%s%s", name, more);
    return true;
}

static const leat_fact_list measures = {
    .rows = measured_facts, .shape = LEAT_FACT_NAMED, .at = measured_at};

static leat_fact_value of_name(const void *source, const char *name) {
    const leat_train_result *of = source;
    return (leat_fact_value){.real = leat_value_get(of->measures, of->measured, name)};
}
static leat_fact_value score(const void *source) { return of_name(source, "score"); }
static leat_fact_value deviation(const void *source) { return of_name(source, "deviation"); }
static leat_fact_value spread(const void *source) { return of_name(source, "spread"); }
static leat_fact_value spread_data(const void *source) { return of_name(source, "spread_data"); }

#define AT(member) offsetof(leat_train_result, member)
static const leat_fact known_measures[] = {
    {"score", LEAT_FACT_REAL, .get = score, .optional = true,
     .help = "Frechet distance between features of generated images and of the data, lower is "
             "better; absent: not measured."},
    {"score_untrained", LEAT_FACT_REAL, AT(untrained[0]), .optional = true,
     .help = "Score before the first step; absent: not measured."},
    {"score_halves", LEAT_FACT_REAL, AT(reference.value), .optional = true,
     .help = LEAT_TRAIN_HALVES_HELP},
    {"deviation", LEAT_FACT_REAL, .get = deviation, .digits = 3, .optional = true,
     .help = LEAT_TRAIN_DEVIATION_HELP},
    {"spread", LEAT_FACT_REAL, .get = spread, .digits = 3, .optional = true,
     .help = "How much the generated images differ: of each value the standard deviation over the "
             "images, then the mean of all, on the scale -1 to 1; absent: not measured."},
    {"spread_data", LEAT_FACT_REAL, .get = spread_data, .digits = 3, .optional = true,
     .help = "The same of the images of the data set; absent: not measured."},
    {0},
};

/* What the layout does not know by name. */
typedef struct other {
    const char *name;
    double value, untrained, best;
    int64_t best_step;
} other;

static bool is_known(const char *name) {
    for (const leat_fact *row = known_measures; row->key != NULL; row++)
        if (strcmp(row->key, name) == 0) return true;
    return false;
}

/* Of those that are measured, the first is the one that is compared. */
static bool other_at(const void *source, int index, void *item) {
    const leat_train_result *of = source;
    bool first = true;
    for (int i = 0; i < leat_value_count(of->measures); i++) {
        if (is_known(of->measures[i].name) || isnan(of->measured[i])) continue;
        if (index-- > 0) {
            first = false;
            continue;
        }
        *(other *)item = (other){.name = of->measures[i].name,
                                 .value = of->measured[i],
                                 .untrained = first ? of->untrained[i] : NAN,
                                 .best = first ? of->best : NAN,
                                 .best_step = first ? of->best_step : -1};
        return true;
    }
    return false;
}

static const leat_fact other_facts[] = {
    {"name", LEAT_FACT_TEXT, offsetof(other, name), .help = NULL},
    {"value", LEAT_FACT_REAL, offsetof(other, value), .help = NULL},
    {"untrained", LEAT_FACT_REAL, offsetof(other, untrained), .help = NULL},
    {"best", LEAT_FACT_REAL, offsetof(other, best), .help = NULL},
    {"best_step", LEAT_FACT_INDEX, offsetof(other, best_step), LEAT_FACT_COUNT, .help = NULL},
    {0},
};

static const leat_fact_list others = {
    .rows = other_facts,
    .at = other_at,
    .before = "measure ",
    .item = "{name} {value}[; untrained {untrained}][; best {best} after step {best_step}]",
    .between = ", ",
    .after = "\n"};

/* ---- The result ------------------------------------------------------------------------------ */

const leat_fact leat_train_result_facts[] = {
    {"first_step", LEAT_FACT_INT, AT(first_step),
     .help = "Steps that were done before: this command took first_step + 1 to last_step."},
    {"last_step", LEAT_FACT_INT, AT(last_step), LEAT_FACT_COUNT, .help = "Last step."},
    {"all_done", LEAT_FACT_INDEX, .get = all_done, .unit = LEAT_FACT_COUNT},
    {"first_taken", LEAT_FACT_INDEX, .get = first_taken, .unit = LEAT_FACT_COUNT},
    {"run_hash", LEAT_FACT_CHARS, AT(run),
     .help = "Hash of everything that determines the weights, 64 hexadecimal digits."},
    {"state", LEAT_FACT_CHARS, AT(state),
     .help = "Hash of the state after the last step, 64 hexadecimal digits: the same on every "
             "machine."},
    {"checkpoint", LEAT_FACT_CHARS, AT(checkpoint),
     .help = "File of the last checkpoint, safetensors; empty: none was written."},
    {"measures", LEAT_FACT_NAMES, .list = &measures, .rows = known_measures},
    {"other_measures", LEAT_FACT_LIST, .list = &others, .help = NULL},
    {"best_step", LEAT_FACT_INDEX, AT(best_step), .optional = true,
     .help = "Step with the best measurement of the run so far; absent: nothing was measured."},
    {"stopped_early", LEAT_FACT_FLAG, AT(stopped_early), .optional = true,
     .help = "The run has ended before its last step, since --patience measurements in a row were "
             "not the best; absent: it has not."},
    {"warnings", LEAT_FACT_LIST, .list = &warnings, .help = "What the run has warned of so far."},
    {"images_per_second", LEAT_FACT_REAL, AT(samples_per_second), .digits = 1, .noun = samples_of,
     .help = "Rate of training, without samples and checkpoints. Differs between runs."},
    {"samples", LEAT_FACT_TEXT, AT(many), .help = NULL},
    {"kept", LEAT_FACT_TEXT, AT(kept), .help = NULL},
    {"memory_peak_bytes", LEAT_FACT_INT, AT(memory_peak_bytes), LEAT_FACT_BYTES,
     .help = "Peak resident memory of the process. Differs between runs."},
    {"seconds", LEAT_FACT_REAL, AT(seconds), LEAT_FACT_SECONDS,
     .help = "Seconds in total. Differs between runs."},
    {0},
};
#undef AT

int leat_train_fail(leat_cli *cli, const leat_error *err) {
    const int status = leat_cli_fail(cli, err);
    if (err->code == LEAT_ERR_NO_SPACE)
        leat_cli_note(cli, "checkpoints that were written before are complete: free some space, "
                           "and continue with --resume");
    return status;
}
