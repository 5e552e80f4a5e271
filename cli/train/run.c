/* A training run as data that commands meet: leat inspect and leat doctor show and check it, the
 * others say where its parts are. */
#include <math.h>
#include <stdio.h>

#include "doctor/doctor.h"
#include "kinds.h"
#include "train/train.h"

/* At most, in JSON; and rows for people. */
enum { MEASUREMENTS = 400, ROWS = 12, COLUMN = 11 /* characters of a measure */ };

typedef struct inspected {
    leat_run *run;
    leat_run_facts facts;
    leat_run_metrics *metrics;
    leat_run_ledger ledger;
    bool verified; /* asked for, and no problem was found */
} inspected;

static leat_code open_run(inspected *self, const char *path, leat_error *err) {
    *self = (inspected){0};
    leat_code code = leat_run_open(&self->run, path, err);
    if (code != LEAT_OK) return code;
    leat_run_get_facts(self->run, &self->facts);
    return leat_run_metrics_load(&self->metrics, self->run, MEASUREMENTS, err);
}

static void close_run(inspected *self) {
    leat_run_metrics_destroy(self->metrics);
    leat_run_close(self->run);
}

/* ---- Shown -------------------------------------------------------------------------------- */

/* A score is of the first of what is measured. */
static void put_checkpoint(leat_cli *cli, const leat_value *measures,
                           const leat_run_checkpoint *of) {
    char words[LEAT_WORDS_BYTES];
    leat_out(cli, "  step %-12s state %.16s", leat_words_count(words, of->step), of->state);
    if (!isnan(of->score) && leat_value_count(measures) > 0) {
        leat_out(cli, "  %s %.4g", measures[0].name, of->score);
        if (!isnan(of->deviation)) leat_out(cli, ", deviation %.3f", of->deviation);
        if (of->best) leat_out(cli, ", the %s", leat_train_best_word(&measures[0]));
    }
    leat_out(cli, "\n");
}

/* What was measured, over the steps: first, last, and some times between. */
static void put_measurements(leat_cli *cli, const leat_run_metrics *metrics) {
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

static void put_warnings(leat_cli *cli, const leat_run_metrics *metrics) {
    for (int kind = 0; kind < LEAT_WARNINGS_MAX; kind++) {
        char text[LEAT_WARNING_BYTES];
        if (leat_train_warned(metrics->warnings, kind, text))
            leat_out(cli, "  warning      %s\n", text);
    }
}

static void put_ledger(leat_cli *cli, const leat_run_ledger *of) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (of->lines == 0) return;
    leat_out(cli, "  ledger       %s counted", leat_things(a, of->units, "result"));
    if (of->repeated > 0) leat_out(cli, ", %s of them twice", leat_words_count(b, of->repeated));
    if (of->refused > 0) leat_out(cli, ", %s refused", leat_words_count(b, of->refused));
    leat_out(cli, "; last line %.16s\n", of->head);
}

static void put_data(leat_cli *cli, const leat_run_facts *facts) {
    char words[LEAT_WORDS_BYTES];
    leat_out(cli, "  data         %s", leat_things(words, facts->samples, facts->one));
    if (facts->sample_size > 0)
        leat_out(cli, " of %d x %d", (int)facts->sample_size, (int)facts->sample_size);
    leat_out(cli, ", fingerprint %.16s\n", facts->data);
}

static void put_run(leat_cli *cli, const inspected *self) {
    const leat_run_facts *facts = &self->facts;
    leat_run_checkpoint of;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_out_name(cli, facts->path);
    leat_out(cli, ": training run of a %s, started by leat %s\n", facts->model,
             facts->leat_version);
    if (facts->samples > 0) put_data(cli, facts);
    leat_out(cli, "  run          %.16s, kernel class %s\n", facts->run, facts->kernel_class);
    if (facts->init[0] != 0) leat_out(cli, "  init         weights with hash %.16s\n", facts->init);
    leat_out(cli, "  steps        %s in metrics.jsonl, %s\n",
             leat_words_count(a, self->metrics->last_step),
             leat_things(b, facts->checkpoint_count, "checkpoint"));
    put_ledger(cli, &self->ledger);
    if (!isnan(facts->reference.value))
        leat_out(cli, "  score        of one half of the %s against the other: %.4g\n", facts->many,
                 facts->reference.value);
    put_warnings(cli, self->metrics);
    put_measurements(cli, self->metrics);
    leat_out(cli, "\n");
    for (int i = 0; leat_run_checkpoint_at(self->run, i, &of); i++)
        put_checkpoint(cli, self->metrics->measures, &of);
    leat_out(cli, "\n");
    const char *name, *value;
    for (int i = 0; leat_run_setting_at(self->run, i, &name, &value); i++)
        leat_out(cli, "  %-20s %s\n", name, value);
    leat_out(cli, "\n  page: report.html in this folder\n");
    if (self->verified)
        leat_out(cli, "  verification: every checkpoint has the hash it was written with\n");
}

static void json_ledger(leat_json *json, const leat_run_ledger *of) {
    leat_json_key(json, "ledger");
    leat_json_begin_object(json);
    leat_json_member_int(json, "lines", of->lines);
    leat_json_member_int(json, "steps", of->steps);
    leat_json_member_int(json, "units", of->units);
    leat_json_member_int(json, "repeated", of->repeated);
    leat_json_member_int(json, "refused", of->refused);
    leat_json_member_string(json, "head", of->head);
    leat_json_end_object(json);
}

static void json_measurements(leat_json *json, const leat_run_metrics *metrics) {
    leat_json_key(json, "measurements");
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

static void json_run(leat_json *json, const void *of) {
    const inspected *self = of;
    const leat_run_facts *facts = &self->facts;
    leat_run_checkpoint checkpoint;
    const char *name, *value;
    leat_json_member_string(json, "path", facts->path);
    leat_json_member_string(json, "kind", "training run");
    leat_json_member_string(json, "model", facts->model);
    leat_json_member_string(json, "run_hash", facts->run);
    leat_json_member_string(json, "data", facts->data);
    leat_json_member_int(json, facts->many, facts->samples);
    if (facts->init[0] != 0) leat_json_member_string(json, "init", facts->init);
    leat_json_member_string(json, "kernel_class", facts->kernel_class);
    leat_json_member_string(json, "leat_version", facts->leat_version);
    leat_json_member_int(json, "last_step", self->metrics->last_step);
    if (facts->reference.name != NULL)
        leat_json_member_known(json, facts->reference.name, facts->reference.value);
    if (self->ledger.lines > 0) json_ledger(json, &self->ledger);
    leat_train_json_warnings(json, self->metrics->warnings);
    json_measurements(json, self->metrics);
    leat_json_key(json, "checkpoints");
    leat_json_begin_array(json);
    for (int i = 0; leat_run_checkpoint_at(self->run, i, &checkpoint); i++) {
        leat_json_begin_object(json);
        leat_json_member_int(json, "step", checkpoint.step);
        leat_json_member_string(json, "state", checkpoint.state);
        leat_json_member_string(json, "path", checkpoint.path);
        leat_json_member_known(json, "score", checkpoint.score);
        leat_json_member_known(json, "deviation", checkpoint.deviation);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    leat_json_key(json, "settings");
    leat_json_begin_object(json);
    for (int i = 0; leat_run_setting_at(self->run, i, &name, &value); i++)
        leat_json_member_string(json, name, value);
    leat_json_end_object(json);
    if (!self->verified) return;
    leat_json_key(json, "verification");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "ok", true);
    leat_json_end_object(json);
}

static int show(leat_cli *cli, inspected *self) {
    leat_error err = {0};
    if (leat_run_ledger_load(self->run, &self->ledger, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (leat_cli_flag(cli, "verify")) {
        if (leat_run_verify(self->run, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
        self->verified = true;
    }
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_run, self);
    put_run(cli, self);
    return 0;
}

int leat_inspect_run(leat_cli *cli) {
    inspected self;
    leat_error err = {0};
    if (leat_cli_given(cli, "html") || leat_cli_given(cli, "figures"))
        return leat_cli_usage(cli, "the page of a training run is report.html in its folder");
    leat_code code = open_run(&self, leat_cli_argument(cli, 0), &err);
    int status = code == LEAT_OK ? show(cli, &self) : leat_cli_fail(cli, &err);
    close_run(&self);
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
    inspected self;
    leat_error err = {0};
    leat_code code = open_run(&self, path, &err);
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
    close_run(&self);
}
