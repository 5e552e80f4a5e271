/* See database_source.h. */
#include "dash/database_source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "train/run/task.h"

enum { RETRY_SECONDS = 5 };

leat_code leat_database_source_create(leat_database_source *source, const char *url,
                                      const leat_stop *stop, leat_error *err) {
    *source = (leat_database_source){0};
    LEAT_TRY(leat_points_create(&source->points, LEAT_DASH_POINTS, err));
    return leat_crowd_watch_create(&source->watch, url, stop, err);
}

void leat_database_source_destroy(leat_database_source *source) {
    leat_crowd_watch_destroy(source->watch);
    leat_points_free(&source->points);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static void forget(leat_database_source *source) {
    source->version++;
    memset(source->states, 0, sizeof source->states);
    leat_points_clear(&source->points);
    source->last = (leat_crowd_step){0};
    source->changed = false;
}

/* The last step comes again, to be compared: times are left out, since the one of the first step
 * that is read is not known. */
static void on_step(void *user, const leat_crowd_step *step) {
    leat_database_source *source = user;
    leat_run_point point = {.step = step->step, .seconds = step->seconds};
    if (step->step == source->last.step) {
        source->changed = step->value_count != source->last.value_count ||
                          memcmp(step->values, source->last.values, sizeof step->values) != 0;
        return;
    }
    if (source->changed || step->step < source->last.step) return;
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++)
        point.values[i] = i < step->value_count ? step->values[i] : NAN;
    leat_points_add(&source->points, &point);
    memcpy(source->states[step->step % LEAT_DATABASE_SOURCE_STATES], step->state,
           sizeof step->state);
    source->version++;
    source->last = *step;
}

const char *leat_database_source_state(const leat_database_source *source, int64_t step) {
    if (step < 1 || step > source->last.step ||
        step <= source->last.step - LEAT_DATABASE_SOURCE_STATES)
        return NULL;
    const char *state = source->states[step % LEAT_DATABASE_SOURCE_STATES];
    return state[0] != 0 ? state : NULL;
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
    source->looked_ns = leat_clock_ns();
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
    if (run->step_seconds > 0 && each > 0)
        facts->samples_per_second = (double)each / run->step_seconds;
    for (int i = 0; i < run->value_count; i++) values[i] = run->values[i].value;
    if (run->value_count > 0) leat_dash_add_numbers(facts, source->names, values, NULL);
}

/* What was "now" when it was read is not, if nothing was read since. */
static void age(const leat_database_source *source, leat_crowd_seen *seen) {
    const double seconds = (double)(leat_clock_ns() - source->looked_ns) * 1e-9;
    if (source->problem == NULL) return;
    for (int i = 0; i < seen->worker_count; i++) seen->workers[i].seen_seconds += seconds;
    for (int i = 0; i < seen->event_count; i++) seen->events[i].seconds += seconds;
}

void leat_database_source_fill(const leat_database_source *source, bool alone,
                               leat_dash_facts *facts) {
    const leat_crowd_run *run = &source->seen.run;
    const bool is_open = strcmp(run->state, "open") == 0 && run->coordinated;
    facts->has_database = true;
    facts->database_problem = source->problem;
    facts->seen = source->seen;
    age(source, &facts->seen);
    if (source->seen.id == 0) return;
    const int64_t units = run->ready + run->out + run->done;
    if (is_open) facts->more = leat_dash_estimate(&source->seen, units > 0 ? units : run->units);
    if (alone) fill_run(source, facts);
    facts->steps = run->steps;
    if (run->steps > 0) facts->epochs = 0;
    facts->finished = facts->finished || strcmp(run->state, "finished") == 0;
    /* while nobody takes steps, the times of the last ones say nothing about the rest */
    facts->seconds_left = NAN;
    if (is_open && source->problem == NULL && source->seen.all.active > 0)
        facts->seconds_left = run->step_seconds * (double)(run->steps - run->step);
}

void leat_database_source_draw(const leat_database_source *source, leat_dash_curves *curves) {
    const leat_points *of = &source->points;
    if (source->names == NULL) return;
    leat_dash_add_points(curves, source->names, of->points, of->count);
    leat_dash_add_seconds(curves, of->points, of->count);
}
