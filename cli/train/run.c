/* A training run as data that commands meet: leat inspect and leat doctor show and check it, the
 * others say where its parts are. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "data_kinds.h"
#include "doctor/doctor.h"
#include "train/train.h"

/* Rows for people. */
enum { ROWS = 12, COLUMN = 11 /* characters of a measure */ };

leat_code leat_run_shown_open(leat_run_shown *self, const char *path, leat_error *err) {
    *self = (leat_run_shown){0};
    leat_code code = leat_run_open(&self->run, path, err);
    if (code != LEAT_OK) return code;
    leat_run_get_facts(self->run, &self->facts);
    return leat_run_metrics_load(&self->metrics, self->run, LEAT_RUN_POINTS, err);
}

void leat_run_shown_close(leat_run_shown *self) {
    leat_run_metrics_destroy(self->metrics);
    leat_run_close(self->run);
}

/* ---- Lists of a run ----------------------------------------------------------------------- */

static bool ledger_at(const void *source, int index, void *item) {
    const leat_run_shown *self = source;
    *(leat_run_ledger *)item = self->ledger;
    return index == 0 && self->ledger.lines > 0;
}

#define AT(member) offsetof(leat_run_ledger, member)
static const leat_fact ledger_facts[] = {
    {"lines", LEAT_FACT_INT, AT(lines), .help = "Lines."},
    {"steps", LEAT_FACT_INT, AT(steps), .help = "Steps, without those that a rewind took back."},
    {"units", LEAT_FACT_INT, AT(units), LEAT_FACT_COUNT, .words = "result",
     .help = "Results that were counted: one for each unit of these steps, however often it was "
             "taken."},
    {"repeated", LEAT_FACT_INT, AT(repeated), LEAT_FACT_COUNT,
     .help = "Further lines of these units: a step is taken again if the coordinator dies while it "
             "commits it."},
    {"refused", LEAT_FACT_INT, AT(refused), LEAT_FACT_COUNT, .help = "Results that were refused."},
    {"head", LEAT_FACT_CHARS, AT(head),
     .help = "SHA-256 of the last line: what comes before it cannot be changed without changing "
             "it."},
    {0},
};
#undef AT

static const leat_fact_list ledger = {
    .rows = ledger_facts,
    .shape = LEAT_FACT_OBJECT,
    .at = ledger_at,
    .item = "  ledger       {units} counted[, {repeated} of them twice][, {refused} refused]; "
            "last line {head:.16}\n",
};

static bool warning_at(const void *source, int index, void *item) {
    return leat_train_warning_at(((const leat_run_shown *)source)->metrics->warnings, index, item);
}

static const leat_fact_list warnings = {.rows = leat_train_warning_facts,
                                        .one = "A warning.",
                                        .at = warning_at,
                                        .item = "  warning      {text}\n"};

typedef struct checkpoint {
    leat_run_checkpoint of;
    const char *best; /* "" if it is not */
} checkpoint;

static bool checkpoint_at(const void *source, int index, void *item) {
    checkpoint *out = item;
    if (!leat_run_checkpoint_at(((const leat_run_shown *)source)->run, index, &out->of))
        return false;
    int first = 0; /* the one that decides */
    while (first + 1 < leat_value_count(out->of.measures) && isnan(out->of.measured[first]))
        first++;
    out->best = out->of.best ? leat_train_best_word(&out->of.measures[first]) : "";
    return true;
}

typedef struct checkpoint_measure {
    const char *name;
    double value;
} checkpoint_measure;

/* Of what is measured, that which the checkpoint has. */
static bool checkpoint_measure_at(const void *source, int index, void *item) {
    const leat_run_checkpoint *of = &((const checkpoint *)source)->of;
    for (int i = 0; i < leat_value_count(of->measures); i++) {
        if (isnan(of->measured[i]) || index-- > 0) continue;
        *(checkpoint_measure *)item = (checkpoint_measure){of->measures[i].name, of->measured[i]};
        return true;
    }
    return false;
}

static const leat_fact checkpoint_measure_facts[] = {
    {"name", LEAT_FACT_TEXT, offsetof(checkpoint_measure, name), .help = NULL},
    {"value", LEAT_FACT_REAL, offsetof(checkpoint_measure, value), .help = NULL},
    {0},
};

static const leat_fact_list checkpoint_measures = {.rows = checkpoint_measure_facts,
                                                   .shape = LEAT_FACT_NAMED,
                                                   .at = checkpoint_measure_at,
                                                   .before = "  ",
                                                   .item = "{name} {value}",
                                                   .between = ", "};

static leat_fact_value of_name(const void *source, const char *name) {
    const leat_run_checkpoint *of = &((const checkpoint *)source)->of;
    return (leat_fact_value){.real = leat_value_get(of->measures, of->measured, name)};
}
static leat_fact_value score(const void *source) { return of_name(source, "score"); }
static leat_fact_value deviation(const void *source) { return of_name(source, "deviation"); }

static const leat_fact known_measures[] = {
    {"score", LEAT_FACT_REAL, .get = score, .optional = true,
     .help = "Score of samples of this step; absent: not measured."},
    {"deviation", LEAT_FACT_REAL, .get = deviation, .digits = 3, .optional = true,
     .help = LEAT_TRAIN_DEVIATION_HELP},
    {0},
};

#define AT(member) offsetof(checkpoint, of.member)
static const leat_fact checkpoint_facts[] = {
    {"step", LEAT_FACT_INT, AT(step), LEAT_FACT_COUNT, .help = "Step."},
    {"state", LEAT_FACT_TEXT, AT(state), .help = "Hash of the state."},
    {"path", LEAT_FACT_CHARS, AT(path), .help = "File of the weights, safetensors."},
    {"measures", LEAT_FACT_NAMES, .list = &checkpoint_measures, .rows = known_measures},
    {"best", LEAT_FACT_TEXT, offsetof(checkpoint, best), .help = NULL},
    {0},
};
#undef AT

_Static_assert(sizeof(checkpoint) <= LEAT_FACT_ITEM_BYTES, "an item of a list");

static const leat_fact_list checkpoints = {
    .rows = checkpoint_facts,
    .one = "A checkpoint.",
    .at = checkpoint_at,
    .item = "  step {step:-12} state {state:.16}{measures}[, the {best}]\n",
};

typedef struct setting {
    const char *name, *value;
} setting;

static bool setting_at(const void *source, int index, void *item) {
    setting *out = item;
    return leat_run_setting_at(((const leat_run_shown *)source)->run, index, &out->name,
                               &out->value);
}

static const leat_fact setting_facts[] = {
    {"name", LEAT_FACT_TEXT, offsetof(setting, name), .help = "Name."},
    {"value", LEAT_FACT_TEXT, offsetof(setting, value), .help = NULL},
    {0},
};

static const leat_fact_list settings = {.rows = setting_facts,
                                        .shape = LEAT_FACT_NAMED,
                                        .at = setting_at,
                                        .item = "  {name:-20} {value}\n"};

static bool verified_at(const void *source, int index, void *item) {
    *(bool *)item = true;
    return index == 0 && ((const leat_run_shown *)source)->verified;
}

static const leat_fact verified_facts[] = {
    {"ok", LEAT_FACT_FLAG, .help = "No problem was found."},
    {0},
};

static const leat_fact_list verification = {
    .rows = verified_facts,
    .shape = LEAT_FACT_OBJECT,
    .at = verified_at,
    .item = "  verification: every checkpoint has the hash it was written with\n",
};

/* ---- What was measured: the model says what ------------------------------------------------ */

/* Over the steps: first, last, and some times between. */
static void put_measurements(leat_cli *cli, const void *source) {
    const leat_run_metrics *metrics = ((const leat_run_shown *)source)->metrics;
    const int64_t all = metrics->measurement_count, rows = all < ROWS ? all : ROWS;
    if (rows == 0) return;
    leat_out(cli, "\n  measured at step");
    for (int k = 0; k < leat_value_count(metrics->measures); k++)
        leat_out(cli, " %*s", COLUMN, metrics->measures[k].name);
    leat_out(cli, "\n");
    for (int64_t i = 0; i < rows; i++) {
        const int64_t index = rows == 1 ? 0 : i * (all - 1) / (rows - 1);
        const leat_run_measurement *of = &metrics->measurements[index];
        char words[LEAT_WORDS_BYTES];
        leat_out(cli, "  %16s", leat_words_count(words, of->step));
        for (int k = 0; k < leat_value_count(metrics->measures); k++)
            if (isnan(of->values[k])) leat_out(cli, " %*s", COLUMN, "");
            else leat_out(cli, " %*.4g", COLUMN, of->values[k]);
        leat_out(cli, "\n");
    }
}

static void json_measurements(leat_json *json, const void *source) {
    const leat_run_metrics *metrics = ((const leat_run_shown *)source)->metrics;
    leat_json_begin_array(json);
    for (int64_t i = 0; i < metrics->measurement_count; i++) {
        const leat_run_measurement *of = &metrics->measurements[i];
        leat_json_begin_object(json);
        leat_json_member_int(json, "step", of->step);
        for (int k = 0; k < leat_value_count(metrics->measures); k++)
            leat_json_member_known(json, metrics->measures[k].name, of->values[k]);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

/* ---- The run ------------------------------------------------------------------------------ */

static leat_fact_value kind(const void *source) {
    (void)source;
    return (leat_fact_value){.text = "training run"};
}

static leat_fact_value image_size(const void *source) {
    return (leat_fact_value){.whole = ((const leat_run_shown *)source)->facts.sample_size};
}

static leat_fact_value checkpoint_count(const void *source) {
    return (leat_fact_value){.whole = ((const leat_run_shown *)source)->facts.checkpoint_count};
}

static leat_fact_value last_step(const void *source) {
    return (leat_fact_value){.whole = ((const leat_run_shown *)source)->metrics->last_step};
}

static const char *samples_of(const void *source, bool many) {
    const leat_run_facts *facts = &((const leat_run_shown *)source)->facts;
    return many ? facts->many : facts->one;
}

static bool reference_at(const void *source, int index, void *item) {
    *(leat_train_reference *)item = ((const leat_run_shown *)source)->facts.reference;
    return index == 0 && ((const leat_train_reference *)item)->name != NULL;
}

static const leat_fact reference_facts[] = {
    {"name", LEAT_FACT_TEXT, offsetof(leat_train_reference, name), .help = NULL},
    {"value", LEAT_FACT_REAL, offsetof(leat_train_reference, value), .optional = true},
    {0},
};

static const leat_fact_list reference = {
    .rows = reference_facts, .shape = LEAT_FACT_NAMED, .at = reference_at};

/* The median of the points. */
static leat_fact_value step_seconds(const void *source) {
    const leat_run_metrics *metrics = ((const leat_run_shown *)source)->metrics;
    double seconds[LEAT_RUN_POINTS];
    for (int64_t i = 0; i < metrics->point_count; i++) seconds[i] = metrics->points[i].seconds;
    return (leat_fact_value){.real = leat_median(seconds, metrics->point_count)};
}

#define AT(member) offsetof(leat_run_shown, facts.member)
static const leat_fact known_reference[] = {
    {"score_halves", LEAT_FACT_REAL, AT(reference.value), .optional = true,
     .help = LEAT_TRAIN_HALVES_HELP},
    {0},
};

static const leat_fact facts[] = {
    {"path", LEAT_FACT_TEXT, AT(path), .help = "The path on the command line."},
    {"kind", LEAT_FACT_TEXT, .get = kind, .help = "Kind of data."},
    {"model", LEAT_FACT_TEXT, AT(model), .label = "model", .help = "Model: \"dcgan\"."},
    {"run_hash", LEAT_FACT_TEXT, AT(run),
     .label = "run (hash of everything that determines the weights)",
     .help = "Hash of everything that determines the weights, 64 hexadecimal digits."},
    {"data", LEAT_FACT_TEXT, AT(data), .label = "data set (fingerprint)",
     .help = "Fingerprint of the data set, 64 hexadecimal digits; empty: imported weights, without "
             "data."},
    {"images", LEAT_FACT_INT, AT(samples), LEAT_FACT_COUNT, .noun = samples_of,
     .label = "images of the data set", .help = "Images of the data set; 0: imported weights."},
    {"image_size", LEAT_FACT_INT, .get = image_size},
    {"samples", LEAT_FACT_TEXT, AT(many), .help = NULL},
    {"init", LEAT_FACT_TEXT, AT(init), .optional = true,
     .help = "Hash of the initial weights (--init); absent: they follow from the seed."},
    {"kernel_class", LEAT_FACT_TEXT, AT(kernel_class), .label = "kernel class",
     .help = "Kernel class of the machine that began the run: the hash of the kernels' "
             "self-test."},
    {"leat_version", LEAT_FACT_TEXT, AT(leat_version),
     .help = "Version of leat that began the run."},
    {"last_step", LEAT_FACT_INT, .get = last_step, .unit = LEAT_FACT_COUNT, .label = "steps",
     .help = "Last step in metrics.jsonl."},
    {"step_seconds", LEAT_FACT_REAL, .get = step_seconds, .label = "seconds per step, median"},
    {"checkpoint_count", LEAT_FACT_INT, .get = checkpoint_count, .unit = LEAT_FACT_COUNT,
     .words = "checkpoint"},
    {"reference", LEAT_FACT_NAMES, .list = &reference, .rows = known_reference},
    {"ledger", LEAT_FACT_LIST, .list = &ledger, .optional = true,
     .help = "Who computed the run, from ledger.jsonl; absent unless leat coordinate trained it."},
    {"warnings", LEAT_FACT_LIST, .list = &warnings, .help = "What the run warned of."},
    {"measurements", LEAT_FACT_MEMBER, .member = json_measurements, .show = put_measurements,
     .help = "What the samples were like, by step; at most 400: of a longer run every second, "
             "fourth, ... one."},
    {"checkpoints", LEAT_FACT_LIST, .list = &checkpoints, .help = "Checkpoints, by step."},
    {"settings", LEAT_FACT_LIST, .list = &settings,
     .help = "Settings of the run, by their names on the command line, each as it is typed "
             "there."},
    {"verification", LEAT_FACT_LIST, .list = &verification, .optional = true,
     .help = "With --verify: every checkpoint has its hash. If one has not, nothing is written to "
             "stdout, and the exit status is 1."},
    {0},
};
#undef AT

const leat_facts leat_facts_run = {
    .schema = "inspect-run",
    .rows = facts,
    .layout = "{path}: training run of a {model}, started by leat {leat_version}\n"
              "[  data         {images}[ of {image_size} x {image_size}], fingerprint {data:.16}\n]"
              "  run          {run_hash:.16}, kernel class {kernel_class}\n"
              "[  init         weights with hash {init:.16}\n]"
              "  steps        {last_step} in metrics.jsonl, {checkpoint_count}\n"
              "{ledger}"
              "[  score        of one half of the {samples} against the other: {score_halves}\n]"
              "{warnings}{measurements}\n"
              "{checkpoints}\n"
              "{settings}\n"
              "  page: report.html in this folder\n"
              "{verification}",
};

void leat_run_shown_cards(leat_textbuf *out, const leat_run_shown *self, const char *keys) {
    leat_facts_cards(out, facts, keys, self);
}

static int show(leat_cli *cli, leat_run_shown *self) {
    leat_error err = {0};
    if (leat_run_ledger_load(self->run, &self->ledger, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (leat_cli_flag(cli, "verify")) {
        if (leat_run_verify(self->run, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
        self->verified = true;
    }
    return leat_facts_show(cli, &leat_facts_run, self);
}

int leat_inspect_run(leat_cli *cli) {
    leat_run_shown self;
    leat_error err = {0};
    if (leat_cli_given(cli, "html") || leat_cli_given(cli, "figures"))
        return leat_cli_usage(cli, "the page of a training run is report.html in its folder");
    leat_code code = leat_run_shown_open(&self, leat_cli_argument(cli, 0), &err);
    int status = code == LEAT_OK ? show(cli, &self) : leat_cli_fail(cli, &err);
    leat_run_shown_close(&self);
    return status;
}

int leat_cat_run(leat_cli *cli) {
    return leat_cli_usage(cli,
                          "\"%.200s\" holds a training run: its metrics are lines of JSON in "
                          "metrics.jsonl; leat sample generates images",
                          leat_cli_argument(cli, 0));
}

int leat_batches_run(leat_cli *cli) {
    return leat_cli_usage(
        cli,
        "\"%.200s\" holds a training run, which has no batches; give the data set "
        "that it is trained on",
        leat_cli_argument(cli, 0));
}

/* ---- Checked ------------------------------------------------------------------------------ */

static void doctor_ledger(leat_doctor *doc, const leat_run *run) {
    char what[256], words[LEAT_WORDS_BYTES];
    leat_run_ledger of;
    leat_error err = {0};
    if (leat_run_ledger_load(run, &of, &err) != LEAT_OK) {
        leat_doctor_tell(
            doc, LEAT_DOCTOR_PROBLEM, err.message,
            "the checkpoints do not depend on it; who computed what is no longer sure");
        return;
    }
    if (of.lines == 0) return;
    snprintf(what, sizeof what, "its ledger is unbroken: %s, the last one with hash %s",
             leat_things(words, of.lines, "line"), of.head);
    leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
}

void leat_doctor_run(leat_doctor *doc, const char *path) {
    char what[640], words[LEAT_WORDS_BYTES];
    leat_run_shown self;
    leat_error err = {0};
    leat_code code = leat_run_shown_open(&self, path, &err);
    if (code == LEAT_OK) code = leat_run_verify(self.run, &err);
    if (code != LEAT_OK) {
        snprintf(what, sizeof what,
                 "run leat train %.48s with --resume to continue from the last intact checkpoint",
                 self.facts.model != NULL ? self.facts.model : "MODEL");
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, err.message, what);
    } else {
        snprintf(what, sizeof what, "training run \"%.300s\" opens: %s, all with their hashes",
                 self.facts.path, leat_things(words, self.facts.checkpoint_count, "checkpoint"));
        leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
        doctor_ledger(doc, self.run);
    }
    leat_run_shown_close(&self);
}
