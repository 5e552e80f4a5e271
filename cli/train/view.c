/* What is seen of a run while it is trained: the progress line with its losses, and the report. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/train.h"

/* A reader who reloads the page sees a run that is at most this old, unless writing it takes long:
 * the pause after a report is at least this many times as long as the report took. */
#define REPORT_EVERY_NS 10000000000LL
enum { REPORT_PAUSE = 20 };

bool leat_train_view_progress(void *user, const leat_progress *progress) {
    return leat_cli_progress(((leat_train_view *)user)->cli, progress);
}

/* Once: where the export will be, and how to publish it. */
static void say_export(leat_train_view *view) {
    if (view->export_dir == NULL) return;
    leat_cli_note(view->cli,
                  "\"%.1000s\" will have the newest checkpoint; to publish it every 10 minutes: "
                  "hf upload REPO DIR --every 10",
                  view->export_dir);
    view->export_dir = NULL;
}

/* Once each: when it arises. */
static void say_warnings(leat_train_view *view, const leat_train_step *step) {
    for (int kind = 0; kind < LEAT_WARNINGS_MAX; kind++) {
        char text[LEAT_WARNING_BYTES];
        if (step->step > 0 && step->warnings[kind].step == step->step &&
            leat_train_warned(step->warnings, kind, text))
            leat_cli_note(view->cli, "warning: %s", text);
    }
}

/* "D loss 1.386, G loss 0.693" */
static void say_values(leat_cli *cli, const leat_train_step *step) {
    char text[48] = ""; /* as many as a progress line has place for */
    leat_train_sum sum;
    size_t used = 0;
    for (int k = 0; leat_train_sum_at(step->names, step->values, k, &sum); k++) {
        const int size = snprintf(text + used, sizeof text - used, "%s%s %.3f", k == 0 ? "" : ", ",
                                  sum.words, sum.value);
        if (size < 0 || used + (size_t)size >= sizeof text) {
            text[used] = 0;
            break;
        }
        used += (size_t)size;
    }
    leat_cli_progress_detail(cli, "%s", text);
}

static bool is_measured(const leat_train_step *step) {
    for (int i = 0; i < leat_value_count(step->measures); i++)
        if (!isnan(step->measured[i])) return true;
    return false;
}

void leat_train_view_stepped(void *user, const leat_train_step *step) {
    leat_train_view *view = user;
    const int64_t now_ns = leat_cli_clock_ns(), since_ns = now_ns - view->reported_ns;
    const int64_t every_ns = is_measured(step) ? 0 : REPORT_EVERY_NS;
    leat_error err = {0};
    say_export(view);
    say_warnings(view, step);
    if (step->step > 0) say_values(view->cli, step);
    if (step->step < step->steps &&
        (since_ns < every_ns || since_ns < REPORT_PAUSE * view->report_ns))
        return;
    if (leat_train_report(view->run, &err) != LEAT_OK)
        leat_cli_note(view->cli, "the report could not be written: %s", err.message);
    view->reported_ns = leat_cli_clock_ns();
    view->report_ns = view->reported_ns - now_ns;
}

void leat_train_view_end(leat_train_view *view, leat_code code) {
    leat_error err = {0};
    const bool stopped = code == LEAT_ERR_CANCELLED && leat_run_is_at(view->run);
    if (code != LEAT_OK && !stopped) return;
    if (leat_train_report(view->run, &err) != LEAT_OK)
        leat_cli_note(view->cli, "the report could not be written: %s", err.message);
}

/* The lines of a text, one note each. */
static void note_lines(leat_cli *cli, char *text) {
    for (char *at = text; *at != 0;) {
        char *end = strchr(at, '\n');
        if (end == NULL) end = at + strlen(at);
        const bool more = *end != 0;
        *end = 0;
        leat_cli_note(cli, "--config: %s", at);
        at = more ? end + 1 : end;
    }
}

/* The settings of a table that a run has. */
static leat_code take_table(const leat_run *run, const leat_setting_table *table, void *options,
                            leat_error *err) {
    leat_code code = LEAT_OK;
    for (const leat_setting *row = table->rows; code == LEAT_OK && row->name != NULL; row++) {
        const char *value = leat_run_setting(run, row->name);
        if (value != NULL) code = leat_setting_set(row, options, value, err);
    }
    return code;
}

/* A run that is resumed has its settings already; texts among them are none. */
static leat_code take_settings(leat_train_wanted *wanted, const leat_setting_table *own,
                               const char *path, leat_error *err) {
    leat_run *run = NULL;
    leat_code code = leat_run_open(&run, path, err);
    if (code == LEAT_OK) code = take_table(run, wanted->table, wanted->options, err);
    if (code == LEAT_OK) code = take_table(run, own, &wanted->settings, err);
    leat_run_close(run);
    return code;
}

void leat_train_wanted_begin(leat_train_wanted *wanted, const char *model,
                             const leat_setting_table *table, leat_train_options *options) {
    const leat_setting_table *own = leat_train_settings_table(model);
    *wanted = (leat_train_wanted){.model = model, .table = table, .options = options};
    leat_train_options_suit(options, model);
    if (own == NULL) return;
    own->set_defaults(&wanted->settings);
    options->settings = &wanted->settings;
}

void leat_train_wanted_free(leat_train_wanted *wanted) {
    leat_train_config_destroy(wanted->config);
    wanted->config = NULL;
}

/* --config, over what is there. */
static int read_config(leat_train_wanted *wanted, leat_cli *cli, const char *path) {
    leat_train_options *options = wanted->options;
    const int64_t steps = options->steps, epochs = options->epochs; /* of the run */
    char notes[4096] = "";
    leat_error err = {0};
    options->steps = options->epochs = 0;
    if (leat_train_config_load(&wanted->config, path, wanted->model, options, &wanted->settings,
                               notes, sizeof notes, &err) != LEAT_OK) {
        leat_cli_fail(cli, &err);
        return 2;
    }
    note_lines(cli, notes);
    if (options->steps == 0 && options->epochs == 0) { /* the file has no end */
        options->steps = steps;
        options->epochs = epochs;
    }
    return 0;
}

int leat_train_wanted_read(leat_train_wanted *wanted, leat_cli *cli, const char *run) {
    const leat_setting_table *own = leat_train_settings_table(wanted->model);
    const char *path = leat_cli_text(cli, "config");
    leat_train_options *options = wanted->options;
    leat_error err = {0};
    options->resume = leat_cli_flag(cli, "resume");
    options->export_replace = leat_cli_flag(cli, "replace");
    if (own == NULL) return 0;
    if (options->resume && run != NULL && leat_run_is_at(run) &&
        take_settings(wanted, own, run, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    int status = path == NULL ? 0 : read_config(wanted, cli, path);
    if (status != 0) return status;
    /* an end on the command line replaces the one in the file */
    if (leat_cli_given(cli, "steps")) options->epochs = 0;
    if (leat_cli_given(cli, "epochs")) options->steps = 0;
    status = leat_cli_set(cli, wanted->table, options);
    if (status == 0) status = leat_cli_set(cli, own, &wanted->settings);
    if (status == 0) status = leat_cli_refuse_others(cli, wanted->model);
    if (status == 0 && options->resume && run != NULL && !leat_run_is_at(run) &&
        options->steps == 0 && options->epochs == 0)
        return leat_cli_usage(cli, "\"%.300s\" holds no run to resume", run);
    if (status == 0 && options->export_replace && options->export_dir == NULL)
        return leat_cli_usage(cli, "--replace is for --export");
    return status;
}
