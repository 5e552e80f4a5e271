/* See facts.h. */
#include "dash/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

leat_dash_more leat_dash_estimate(const leat_crowd_seen *seen, int64_t units) {
    leat_dash_more more = {.machines = seen->delivered,
                           .units = units,
                           .unit_seconds = seen->unit_seconds,
                           .step_seconds = seen->run.step_seconds,
                           .step_then = NAN};
    if (more.machines < 1 || units < 1 || !(more.unit_seconds > 0) || !(more.step_seconds > 0))
        return more;
    const int64_t rounds = (units + more.machines - 1) / more.machines;
    /* machines are faster than the median of units says, or not as many: it is no measure here */
    if (more.step_seconds < (double)rounds * more.unit_seconds) return more;
    more.known = true;
    more.rounds = rounds;
    more.rounds_then = (units + more.machines) / (more.machines + 1);
    more.step_then = more.step_seconds - (double)(rounds - more.rounds_then) * more.unit_seconds;
    return more;
}

void leat_dash_add_numbers(leat_dash_facts *facts, const leat_value *list, const double *values,
                           const bool *has) {
    for (int i = 0; i < leat_value_count(list) && facts->number_count < LEAT_DASH_SHOWN; i++) {
        double sum = 0;
        bool again = list[i].sum == NULL;
        for (int k = 0; k < i && !again; k++)
            again = list[k].sum != NULL && strcmp(list[k].sum, list[i].sum) == 0;
        if (again) continue;
        bool missing = false;
        for (int k = i; k < leat_value_count(list); k++) {
            if (list[k].sum == NULL || strcmp(list[k].sum, list[i].sum) != 0) continue;
            missing = missing || (has != NULL && !has[k]);
            sum += values[k];
        }
        if (missing) continue;
        leat_dash_number *to = &facts->numbers[facts->number_count++];
        snprintf(to->label, sizeof to->label, "%s", list[i].sum);
        to->value = sum;
    }
}

/* ---- JSON of the facts ---------------------------------------------------------------------- */

/* Three digits are enough for what is shown, and what does not change is not sent again. */
static void put_rounded(leat_json *json, const char *key, double value) {
    if (isnan(value) || isinf(value)) return;
    const double size = fabs(value);
    const double grain = size > 0 ? pow(10, floor(log10(size)) - 2) : 1;
    leat_json_key(json, key);
    leat_json_float(json, (float)(round(value / grain) * grain));
}

/* The time since a machine was heard of, so coarse that a page with nothing new is not sent. */
static int64_t ago(double seconds) {
    if (!(seconds > 0)) return 0;
    if (seconds < 120) return (int64_t)seconds / 10 * 10;
    if (seconds > 1e9) return 1000000000;
    return (int64_t)seconds / 60 * 60;
}

static void put_numbers(leat_json *json, const leat_dash_facts *facts) {
    leat_json_key(json, "numbers");
    leat_json_begin_array(json);
    for (int i = 0; i < facts->number_count; i++) {
        leat_json_begin_object(json);
        leat_json_member_string(json, "label", facts->numbers[i].label);
        put_rounded(json, "value", facts->numbers[i].value); /* none: not finite */
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_run(leat_json *json, const leat_dash_facts *facts) {
    leat_json_member_string(json, "name", facts->name);
    leat_json_member_string(json, "model", facts->model);
    leat_json_member_string(json, "many", facts->many);
    leat_json_member_int(json, "step", facts->step);
    if (facts->steps > 0) leat_json_member_int(json, "steps", facts->steps);
    if (facts->epochs > 0) {
        leat_json_member_int(json, "epoch", facts->epoch);
        leat_json_member_int(json, "epochs", facts->epochs);
    }
    leat_json_member_bool(json, "finished", facts->finished);
    leat_json_member_bool(json, "at_most", facts->at_most);
    put_rounded(json, "step_seconds", facts->step_seconds);
    put_rounded(json, "samples_per_second", facts->samples_per_second);
    put_rounded(json, "seconds_left", facts->seconds_left);
    put_numbers(json, facts);
}

/* Of many samples some, with the first and the last. */
static void put_kept(leat_json *json, const leat_dash_facts *facts) {
    const int64_t count = facts->kept_count;
    const int64_t shown = count < LEAT_DASH_PICKED ? count : LEAT_DASH_PICKED;
    leat_json_member_int(json, "kept", count);
    leat_json_member_int(json, "samples_version", facts->kept_version);
    leat_json_key(json, "samples");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < shown; i++)
        leat_json_int(json, facts->kept[shown < 2 ? 0 : i * (count - 1) / (shown - 1)]);
    leat_json_end_array(json);
}

static void put_folder(leat_json *json, const leat_dash_facts *facts) {
    leat_json_key(json, "folder");
    leat_json_begin_object(json);
    if (facts->folder_problem != NULL)
        leat_json_member_string(json, "problem", facts->folder_problem);
    leat_json_member_int(json, "quiet_seconds", facts->quiet_seconds);
    put_kept(json, facts);
    if (facts->checkpoint_step >= 0)
        leat_json_member_int(json, "checkpoint_step", facts->checkpoint_step);
    if (facts->best_step >= 0) {
        leat_json_member_string(json, "measure", facts->measure);
        leat_json_member_int(json, "best_step", facts->best_step);
        put_rounded(json, "best", facts->best);
    }
    leat_json_key(json, "warnings");
    leat_json_begin_array(json);
    for (int i = 0; i < LEAT_WARNINGS_MAX; i++)
        if (facts->warnings[i][0] != 0) leat_json_string(json, facts->warnings[i]);
    leat_json_end_array(json);
    leat_json_end_object(json);
}

static void put_account(leat_json *json, const leat_crowd_account *of) {
    leat_json_member_string(json, "account", of->account);
    leat_json_member_int(json, "machines", of->machines);
    leat_json_member_int(json, "active", of->active);
    leat_json_member_int(json, "units", of->accepted);
    leat_json_member_int(json, "refused", of->refused);
    leat_json_member_int(json, "bytes", of->bytes);
}

static void put_accounts(leat_json *json, const leat_crowd_seen *seen) {
    leat_json_key(json, "all");
    leat_json_begin_object(json);
    put_account(json, &seen->all);
    leat_json_member_int(json, "accounts", seen->accounts);
    leat_json_end_object(json);
    leat_json_key(json, "accounts");
    leat_json_begin_array(json);
    for (int i = 0; i < seen->account_count; i++) {
        leat_json_begin_object(json);
        put_account(json, &seen->accounts_shown[i]);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_machines(leat_json *json, const leat_crowd_seen *seen) {
    leat_json_key(json, "machines");
    leat_json_begin_array(json);
    for (int i = 0; i < seen->worker_count; i++) {
        const leat_crowd_worker *of = &seen->workers[i];
        leat_json_begin_object(json);
        leat_json_member_string(json, "name", of->name);
        leat_json_member_string(json, "account", of->account);
        leat_json_member_string(json, "hardware", of->hardware);
        leat_json_member_bool(json, "active", of->active);
        leat_json_member_int(json, "ago", ago(of->seen_seconds));
        leat_json_member_int(json, "units", of->accepted);
        leat_json_member_int(json, "refused", of->refused);
        if (of->unit >= 0) leat_json_member_int(json, "unit", of->unit);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_events(leat_json *json, const leat_crowd_seen *seen) {
    leat_json_key(json, "events");
    leat_json_begin_array(json);
    for (int i = 0; i < seen->event_count; i++) {
        const leat_crowd_event *of = &seen->events[i];
        leat_json_begin_object(json);
        leat_json_member_string(json, "kind", of->kind);
        leat_json_member_string(json, "account", of->account);
        leat_json_member_string(json, "name", of->name);
        leat_json_member_string(json, "words", of->words);
        leat_json_member_int(json, "ago", ago(of->seconds));
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_more(leat_json *json, const leat_dash_more *more) {
    leat_json_key(json, "one_more");
    leat_json_begin_object(json);
    leat_json_member_int(json, "machines", more->machines);
    leat_json_member_int(json, "units", more->units);
    put_rounded(json, "unit_seconds", more->unit_seconds);
    put_rounded(json, "step_seconds", more->step_seconds);
    if (more->known) {
        leat_json_member_int(json, "rounds", more->rounds);
        leat_json_member_int(json, "rounds_then", more->rounds_then);
        put_rounded(json, "step_then", more->step_then);
    }
    leat_json_end_object(json);
}

static void put_database(leat_json *json, const leat_dash_facts *facts) {
    const leat_crowd_run *run = &facts->seen.run;
    leat_json_key(json, "database");
    leat_json_begin_object(json);
    if (facts->database_problem != NULL)
        leat_json_member_string(json, "problem", facts->database_problem);
    if (facts->seen.id != 0) {
        leat_json_member_string(json, "state", run->state);
        leat_json_member_string(json, "reason", run->reason);
        leat_json_member_bool(json, "coordinated", run->coordinated);
        leat_json_member_int(json, "ready", run->ready);
        leat_json_member_int(json, "out", run->out);
        leat_json_member_int(json, "done", run->done);
        leat_json_member_int(json, "unit_size", run->unit_size);
        leat_json_member_int(json, "bytes", run->database_bytes);
        leat_json_member_int(json, "payload_bytes", run->payload_bytes);
        leat_json_member_int(json, "weights_bytes", run->weights_bytes);
        put_accounts(json, &facts->seen);
        put_machines(json, &facts->seen);
        put_events(json, &facts->seen);
        put_more(json, &facts->more);
    }
    leat_json_end_object(json);
}

leat_code leat_dash_facts_json(const leat_dash_facts *facts, leat_json **out, const char **text,
                               int64_t *size_bytes, leat_error *err) {
    LEAT_TRY(leat_json_create(out, true, err));
    leat_json_begin_object(*out);
    put_run(*out, facts);
    if (facts->has_folder) put_folder(*out, facts);
    if (facts->has_database) put_database(*out, facts);
    leat_json_end_object(*out);
    return leat_json_finish(*out, text, size_bytes, err);
}

/* ---- Curves --------------------------------------------------------------------------------- */

static leat_dash_figure *find_figure(leat_dash_curves *curves, const char *title, int first) {
    for (int i = first; i < curves->figure_count; i++)
        if (strcmp(curves->figures[i].title, title) == 0 &&
            curves->figures[i].line_count < LEAT_DASH_LINES)
            return &curves->figures[i];
    return NULL;
}

void leat_dash_add_curves(leat_dash_curves *curves, const leat_value *list,
                          const leat_dash_figure *points, const double *values) {
    const int first = curves->figure_count;
    for (int i = 0; i < leat_value_count(list); i++) {
        if (list[i].figure == NULL) continue;
        leat_dash_figure *to = find_figure(curves, list[i].figure, first);
        if (to == NULL) {
            if (curves->figure_count == LEAT_DASH_FIGURES) return;
            to = &curves->figures[curves->figure_count++];
            *to = *points;
            to->title = list[i].figure;
            to->axis = list[i].axis;
            to->line_count = 0;
        }
        to->lines[to->line_count++] = (leat_dash_line){.value = &list[i], .ys = values + i};
    }
}

_Static_assert(sizeof(leat_run_point) % sizeof(double) == 0, "a stride in doubles");

static leat_dash_figure figure_of(const leat_run_point *points, int64_t count) {
    return (leat_dash_figure){
        .count = count, .stride = sizeof *points / sizeof(double), .steps = &points[0].step};
}

void leat_dash_add_points(leat_dash_curves *curves, const leat_value *list,
                          const leat_run_point *points, int64_t count) {
    if (count == 0) return;
    const leat_dash_figure of = figure_of(points, count);
    leat_dash_add_curves(curves, list, &of, points[0].values);
}

void leat_dash_add_seconds(leat_dash_curves *curves, const leat_run_point *points, int64_t count) {
    static const leat_value seconds[] = {
        {.name = "seconds", .label = "seconds per step", .figure = "Time", .axis = "seconds"}, {0}};
    if (count == 0) return;
    const leat_dash_figure of = figure_of(points, count);
    leat_dash_add_curves(curves, seconds, &of, &points[0].seconds);
}

static void put_line(leat_json *json, const leat_dash_figure *figure, const leat_dash_line *line) {
    leat_json_begin_object(json);
    leat_json_member_string(json, "label", line->value->label);
    leat_json_key(json, "ys");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < figure->count; i++)
        leat_json_float(json, (float)line->ys[i * figure->stride]);
    leat_json_end_array(json);
    leat_json_end_object(json);
}

static void put_figure(leat_json *json, const leat_dash_figure *figure) {
    leat_json_begin_object(json);
    leat_json_member_string(json, "title", figure->title);
    leat_json_member_string(json, "axis", figure->axis != NULL ? figure->axis : "");
    leat_json_key(json, "steps");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < figure->count; i++)
        leat_json_int(json, figure->steps[i * figure->stride]);
    leat_json_end_array(json);
    leat_json_key(json, "lines");
    leat_json_begin_array(json);
    for (int i = 0; i < figure->line_count; i++) put_line(json, figure, &figure->lines[i]);
    leat_json_end_array(json);
    leat_json_end_object(json);
}

leat_code leat_dash_curves_json(const leat_dash_curves *curves, leat_json **out, const char **text,
                                int64_t *size_bytes, leat_error *err) {
    LEAT_TRY(leat_json_create(out, true, err));
    leat_json_begin_object(*out);
    leat_json_key(*out, "figures");
    leat_json_begin_array(*out);
    for (int i = 0; i < curves->figure_count; i++)
        if (curves->figures[i].count > 0) put_figure(*out, &curves->figures[i]);
    leat_json_end_array(*out);
    leat_json_end_object(*out);
    return leat_json_finish(*out, text, size_bytes, err);
}
