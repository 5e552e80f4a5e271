/* See metrics.h. Numbers of machines are left out: a class has too many for labels. */
#include "dash/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is being written; after a failure nothing more is. */
typedef struct writer {
    leat_buf *out;
    leat_error *err;
    leat_code code;
} writer;

static void put_head(writer *to, const char *name, const char *type, const char *help) {
    if (to->code == LEAT_OK)
        to->code = leat_buf_printf(to->out, to->err, "# HELP leat_%s %s\n# TYPE leat_%s %s\n", name,
                                   help, name, type);
}

/* A label's value: the characters that the format has for itself are escaped. */
static void put_label(writer *to, const char *text) {
    char shown[512];
    leat_text_show(shown, sizeof shown, text, (int64_t)strlen(text));
    for (const char *at = shown; *at != 0 && to->code == LEAT_OK; at++) {
        const bool special = *at == '\\' || *at == '"';
        if (special) to->code = leat_buf_append(to->out, "\\", 1, to->err);
        if (to->code == LEAT_OK) to->code = leat_buf_append(to->out, at, 1, to->err);
    }
}

/* label NULL: none. */
static void put_value(writer *to, const char *name, const char *label, const char *of,
                      double value) {
    if (isnan(value) || to->code != LEAT_OK) return;
    to->code =
        leat_buf_printf(to->out, to->err, label != NULL ? "leat_%s{%s=\"" : "leat_%s", name, label);
    if (label != NULL) put_label(to, of);
    if (to->code == LEAT_OK)
        to->code =
            leat_buf_printf(to->out, to->err, "%s %.17g\n", label != NULL ? "\"}" : "", value);
}

static void put_gauge(writer *to, const char *name, const char *help, double value) {
    if (isnan(value)) return;
    put_head(to, name, "gauge", help);
    put_value(to, name, NULL, NULL, value);
}

static void put_run(writer *to, const leat_dash_facts *facts) {
    put_gauge(to, "step", "Steps taken.", (double)facts->step);
    put_gauge(to, "steps", "Steps planned.", facts->steps > 0 ? (double)facts->steps : NAN);
    put_gauge(to, "step_seconds", "Seconds of a step, the median of the last ones.",
              facts->step_seconds);
    put_gauge(to, "samples_per_second", "Samples of a step by its seconds.",
              facts->samples_per_second);
    put_gauge(to, "seconds_left", "Seconds that the steps left take.", facts->seconds_left);
    if (facts->number_count == 0) return;
    put_head(to, "value", "gauge", "What the last step has computed, such as losses.");
    for (int i = 0; i < facts->number_count; i++)
        put_value(to, "value", "name", facts->numbers[i].label, facts->numbers[i].value);
}

static void put_accounts(writer *to, const leat_crowd_seen *seen) {
    put_head(to, "accepted_units", "gauge", "Units of an account that were handed in.");
    for (int i = 0; i < seen->account_count; i++)
        put_value(to, "accepted_units", "account", seen->accounts_shown[i].account,
                  (double)seen->accounts_shown[i].accepted);
    put_head(to, "refused_results", "gauge", "Results of an account that were refused.");
    for (int i = 0; i < seen->account_count; i++)
        put_value(to, "refused_results", "account", seen->accounts_shown[i].account,
                  (double)seen->accounts_shown[i].refused);
}

static void put_database(writer *to, const leat_crowd_seen *seen) {
    put_head(to, "units", "gauge", "Units of the open step.");
    put_value(to, "units", "state", "ready", (double)seen->run.ready);
    put_value(to, "units", "state", "out", (double)seen->run.out);
    put_value(to, "units", "state", "done", (double)seen->run.done);
    put_gauge(to, "machines", "Machines that took part.", (double)seen->all.machines);
    put_gauge(to, "machines_active", "Machines that gave a sign of life within two minutes.",
              (double)seen->all.active);
    put_gauge(to, "coordinated", "Whether a coordinator holds the run.", seen->run.coordinated);
    put_gauge(to, "database_bytes", "Size of the database.", (double)seen->run.database_bytes);
    put_accounts(to, seen);
}

leat_code leat_dash_metrics(const leat_dash_facts *facts, leat_buf *out, leat_error *err) {
    writer to = {.out = out, .err = err, .code = LEAT_OK};
    put_head(&to, "source_up", "gauge", "Whether a source could be read at the last look.");
    if (facts->has_folder)
        put_value(&to, "source_up", "source", "folder", facts->folder_problem == NULL);
    if (facts->has_database)
        put_value(&to, "source_up", "source", "database", facts->database_problem == NULL);
    if (facts->has_folder || facts->seen.id != 0) put_run(&to, facts);
    if (facts->has_database && facts->seen.id != 0) put_database(&to, &facts->seen);
    return to.code;
}
