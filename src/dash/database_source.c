/* See database_source.h. */
#include "dash/database_source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "train/run/task.h"

enum { RETRY_SECONDS = 5 };

leat_code leat_database_source_create(leat_database_source *source, const char *url,
                                      const leat_stop *stop, leat_error *err) {
    *source = (leat_database_source){.span = 1};
    LEAT_TRY(LEAT_NEW(&source->points, LEAT_DASH_POINTS, err));
    return leat_crowd_watch_create(&source->watch, url, stop, err);
}

void leat_database_source_destroy(leat_database_source *source) {
    leat_crowd_watch_destroy(source->watch);
    leat_free(source->points);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static void forget(leat_database_source *source) {
    source->count = source->in_last = 0;
    source->span = 1;
    source->last = (leat_crowd_step){0};
    source->changed = false;
}

/* NaN, not known, is passed over: of the two what is known. */
static double mean(double a, double b, double share) {
    if (isnan(a)) return b;
    return isnan(b) ? a : a + (b - a) * share;
}

static void add_to(leat_database_point *to, const leat_database_point *more, double share) {
    to->step = more->step;
    to->seconds = mean(to->seconds, more->seconds, share);
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++)
        to->values[i] = mean(to->values[i], more->values[i], share);
}

static void add_point(leat_database_source *source, const leat_database_point *point) {
    if (source->count > 0 && source->in_last < source->span) {
        source->in_last++;
        add_to(&source->points[source->count - 1], point, 1.0 / (double)source->in_last);
        return;
    }
    if (source->count == LEAT_DASH_POINTS) {
        for (int64_t i = 0; i < LEAT_DASH_POINTS / 2; i++) {
            source->points[i] = source->points[2 * i];
            add_to(&source->points[i], &source->points[2 * i + 1], 0.5);
        }
        source->count = LEAT_DASH_POINTS / 2;
        source->span *= 2;
    }
    source->points[source->count++] = *point;
    source->in_last = 1;
}

_Static_assert(LEAT_DASH_POINTS % 2 == 0, "neighbours are merged");

/* The last step comes again, to be compared: times are left out, since the one of the first step
 * that is read is not known. */
static void on_step(void *user, const leat_crowd_step *step) {
    leat_database_source *source = user;
    leat_database_point point = {.step = step->step, .seconds = step->seconds};
    if (step->step == source->last.step) {
        source->changed = step->value_count != source->last.value_count ||
                          memcmp(step->values, source->last.values, sizeof step->values) != 0;
        return;
    }
    if (source->changed || step->step < source->last.step) return;
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++)
        point.values[i] = i < step->value_count ? step->values[i] : NAN;
    add_point(source, &point);
    source->last = *step;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static bool are_the_models(const leat_crowd_run *run, const leat_value *names) {
    if (leat_value_count(names) != run->value_count) return false;
    for (int i = 0; i < run->value_count; i++)
        if (strcmp(names[i].name, run->values[i].name) != 0) return false;
    return true;
}

/* Those of the model, with figures and labels, if this leat has it and they are the same ones. */
static void find_names(leat_database_source *source) {
    const leat_crowd_run *run = &source->seen.run;
    const leat_task *task;
    if (run->value_count == 0) return;
    if (leat_task_find(run->model, &task, NULL) == LEAT_OK) {
        source->names = leat_task_step(task).names;
        if (are_the_models(run, source->names)) return;
    }
    for (int i = 0; i < run->value_count; i++) {
        snprintf(source->own_texts[i], sizeof source->own_texts[i], "%s", run->values[i].name);
        source->own_names[i] = (leat_value){.name = source->own_texts[i],
                                            .label = source->own_texts[i],
                                            .figure = source->own_texts[i],
                                            .axis = "",
                                            .sum = source->own_texts[i]};
    }
    source->own_names[run->value_count] = (leat_value){0};
    source->names = source->own_names;
}

/* ---- Looking -------------------------------------------------------------------------------- */

/* In words without a host or an address: the page is shown to others. */
static const char *problem_of(leat_code code) {
    if (code == LEAT_ERR_CONNECTION)
        return "The database cannot be reached now; leat dash tries again.";
    if (code == LEAT_ERR_NOT_FOUND) return "The database has no such run; leat dash looks again.";
    if (code == LEAT_ERR_BUSY) return "The database is being restored; leat dash looks again.";
    return "The database cannot be read; where leat dash runs, it says why.";
}

leat_code leat_database_source_look(leat_database_source *source, leat_error *err) {
    if (leat_clock_ns() < source->next_ns) return LEAT_OK;
    const int64_t had = source->last.step, run = source->seen.id;
    const leat_code code = leat_crowd_watch_look(source->watch, had > 0 ? had - 1 : 0,
                                                 &source->seen, on_step, source, err);
    source->problem = code == LEAT_OK ? NULL : problem_of(code);
    if (code != LEAT_OK) {
        source->next_ns = leat_clock_ns() + RETRY_SECONDS * INT64_C(1000000000);
        return code;
    }
    /* read from the first step on by the next look */
    if (source->changed || (run != 0 && source->seen.id != run) ||
        source->seen.run.step < source->last.step)
        forget(source);
    find_names(source);
    return LEAT_OK;
}

/* ---- Facts ---------------------------------------------------------------------------------- */

static void fill_run(const leat_database_source *source, leat_dash_facts *facts) {
    const leat_crowd_run *run = &source->seen.run;
    const int64_t each = run->unit_size > 0 ? run->units * run->unit_size : 0;
    double values[LEAT_STEP_VALUES_MAX];
    snprintf(facts->name, sizeof facts->name, "%s", run->name);
    snprintf(facts->model, sizeof facts->model, "%s", run->model);
    snprintf(facts->many, sizeof facts->many, "%s", leat_train_sample_words(run->model, true));
    facts->step = run->step;
    facts->steps = run->steps;
    facts->step_seconds = run->step_seconds;
    facts->samples_per_second = NAN;
    if (run->step_seconds > 0 && each > 0)
        facts->samples_per_second = (double)each / run->step_seconds;
    for (int i = 0; i < run->value_count; i++) values[i] = run->values[i].value;
    if (run->value_count > 0) leat_dash_add_numbers(facts, source->names, values);
}

void leat_database_source_fill(const leat_database_source *source, bool alone,
                               leat_dash_facts *facts) {
    const leat_crowd_run *run = &source->seen.run;
    const bool is_open = strcmp(run->state, "open") == 0 && run->coordinated;
    facts->has_database = true;
    facts->database_problem = source->problem;
    facts->seen = source->seen;
    facts->more = (leat_dash_more){.unit_seconds = NAN, .step_seconds = NAN, .step_then = NAN};
    if (source->seen.id == 0) return;
    const int64_t units = run->ready + run->out + run->done;
    if (is_open) facts->more = leat_dash_estimate(&source->seen, units > 0 ? units : run->units);
    if (alone) fill_run(source, facts);
    facts->steps = run->steps;
    if (run->steps > 0) facts->epochs = 0;
    facts->finished = facts->finished || strcmp(run->state, "finished") == 0;
    /* while nobody takes steps, the times of the last ones say nothing about the rest */
    facts->seconds_left = NAN;
    if (is_open && source->seen.all.active > 0)
        facts->seconds_left = run->step_seconds * (double)(run->steps - run->step);
}

static const leat_value seconds_names[] = {
    {.name = "seconds", .label = "seconds per step", .figure = "Time", .axis = "seconds"}, {0}};

void leat_database_source_draw(const leat_database_source *source, leat_dash_curves *curves) {
    const leat_database_point *points = source->points;
    if (source->count == 0 || source->names == NULL) return;
    const leat_dash_figure of = {.count = source->count,
                                 .stride = sizeof *points / sizeof(double),
                                 .steps = &points[0].step};
    leat_dash_add_curves(curves, source->names, &of, points[0].values);
    leat_dash_add_curves(curves, seconds_names, &of, &points[0].seconds);
}

_Static_assert(sizeof(leat_database_point) % sizeof(double) == 0, "a stride in doubles");
