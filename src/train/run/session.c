/* See session.h. */
#include "train/run/session.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "train/run/checkpoint.h"
#include "train/run/estimate.h"
#include "train/run/export.h"
#include "train/run/init.h"
#include "train/run/rewind.h"
#include "train/run/train_options.h"

/* Steps between hashes of the state in metrics.jsonl. */
enum { STATE_EVERY = 100 };

static double seconds_since(int64_t ns) { return (double)(leat_clock_ns() - ns) * 1e-9; }

/* ---- Beginning ------------------------------------------------------------------------------ */

/* Initial weights, and where they are, for config.yaml. */
static leat_code load_init(leat_session *session, leat_error *err) {
    leat_identity *identity = &session->identity;
    LEAT_TRY(leat_init_load(session->options->init, session->task, session->trainer, identity->init,
                            err));
    return leat_path_real(session->options->init, identity->init_path, err);
}

leat_code leat_session_begin(leat_session *session, const char *model, const char *data,
                             const leat_train_options *options, leat_train_result *result,
                             leat_error *err) {
    *session = (leat_session){.options = &session->all.run, .result = result, .saved_step = -1};
    session->begin_ns = session->saved_ns = session->epoch_ns = leat_clock_ns();
    leat_measured_none(session->measured);
    memset(result, 0, sizeof *result);
    leat_measured_none(result->measured);
    leat_measured_none(result->untrained);
    result->reference.value = NAN;
    leat_ticker_create(&session->ticker, options->progress, options->user);
    LEAT_TRY(leat_run_options_take(&session->all, model, options, err));
    LEAT_TRY(leat_run_options_check(&session->all, err));
    options = session->options;
    session->task = session->all.task;
    LEAT_TRY(leat_feed_open(&session->feed, session->task->feed, data, err));
    LEAT_TRY(leat_run_options_settle(&session->all, &session->feed, err));
    LEAT_TRY(leat_feed_plan(&session->feed, options, err));
    LEAT_TRY(leat_feed_steps(&session->feed, options, &session->planned, err));
    session->steps = session->planned;
    leat_feed_end(&session->feed, session->planned);
    LEAT_TRY(leat_train_check_memory(session->task, options, &session->feed, 0, err));
    LEAT_TRY(
        leat_trainer_create(&session->trainer, session->task->model, options, &session->feed, err));
    if (options->init != NULL) LEAT_TRY(load_init(session, err));
    return leat_identity_make(&session->identity, leat_trainer_model(session->trainer),
                              &session->feed, &session->all, err);
}

void leat_session_note(leat_session *session, const char *format, ...) {
    char *note = session->result->note;
    const size_t size = sizeof session->result->note, used = strlen(note);
    const size_t begin = used == 0 || used + 3 > size ? used : used + 2;
    if (begin > used) memcpy(note + used, "; ", 3);
    va_list args;
    va_start(args, format);
    vsnprintf(note + begin, size - begin, format, args);
    va_end(args);
}

/* The state is that of a checkpoint. */
static leat_code take(leat_session *session, const leat_checkpoint *of, leat_error *err) {
    session->saved_step = of->step;
    memcpy(session->measured, of->measured, sizeof session->measured);
    return leat_checkpoint_path(session->folder.checkpoints, of->step, session->result->checkpoint,
                                err);
}

/* The state of the last checkpoint that is not damaged. */
static leat_code load_last(leat_session *session, const leat_checkpoints *list, leat_error *err) {
    int64_t damaged = list->damaged;
    leat_error last = list->why;
    for (int64_t i = list->count - 1; i >= 0; i--) {
        const leat_checkpoint *of = &list->items[i];
        leat_error why = {0};
        leat_code code =
            leat_checkpoint_load(session->folder.checkpoints, of, session->trainer, &why);
        if (code == LEAT_OK) {
            if (damaged > of->step)
                leat_session_note(session,
                                  "checkpoint %lld is damaged; resumed from an earlier one: %.300s",
                                  (long long)damaged, last.message);
            return take(session, of, err);
        }
        if (code != LEAT_ERR_CORRUPT && code != LEAT_ERR_IO) return leat_error_copy(err, &why);
        if (of->step > damaged) {
            damaged = of->step;
            last = why;
        }
    }
    return damaged < 0
               ? LEAT_OK
               : leat_fail(err, last.code, "every checkpoint is damaged: %.400s", last.message);
}

static leat_code refuse_end(const leat_session *session, int64_t step, leat_error *err) {
    if (step <= session->steps) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the run is at step %lld already, and ends at step %lld; use a larger --steps "
                     "or --epochs",
                     (long long)step, (long long)session->steps);
}

static leat_code check_export(const leat_session *session, leat_error *err) {
    if (session->options->export_dir == NULL) return LEAT_OK;
    return leat_export_check(session->task, session->options->export_dir, session->identity.run,
                             session->options->export_replace, err);
}

static leat_rewind_of rewinding(const leat_session *session) {
    return (leat_rewind_of){.folder = &session->folder,
                            .run = session->identity.run,
                            .kept = leat_task_kept(session->task)};
}

static void note_rewound(leat_session *session, const leat_rewound *of) {
    if (of->path[0] != 0)
        leat_session_note(session, "rewound to step %lld; what came after it is in \"%.300s\"",
                          (long long)of->step, of->path);
}

/* To the checkpoint of the step that was asked for, once nothing can refuse it. */
static leat_code rewind_run(leat_session *session, const leat_checkpoints *list, leat_error *err) {
    const int64_t step = session->options->rewind;
    const leat_checkpoint *of = leat_checkpoints_find(list, step);
    const leat_rewind_of what = rewinding(session);
    leat_rewound rewound;
    if (of == NULL) return leat_checkpoints_refuse(list, step, session->feed.count, err);
    LEAT_TRY(refuse_end(session, step, err));
    LEAT_TRY(check_export(session, err));
    LEAT_TRY(leat_checkpoint_load(session->folder.checkpoints, of, session->trainer, err));
    LEAT_TRY(leat_rewind(&what, step, &rewound, err));
    if (rewound.path[0] == 0)
        leat_session_note(session, "the run has nothing after step %lld", (long long)step);
    note_rewound(session, &rewound);
    return take(session, of, err);
}

/* The state of a checkpoint, after an interrupted rewind is complete. */
static leat_code load_state(leat_session *session, leat_error *err) {
    leat_checkpoints list;
    const leat_rewind_of what = rewinding(session);
    leat_rewound rewound;
    const char *dir = session->folder.checkpoints, *run = session->identity.run;
    LEAT_TRY(leat_rewind_complete(&what, &rewound, err));
    note_rewound(session, &rewound);
    LEAT_TRY(leat_checkpoints_list(&list, session->task, dir, run, true, err));
    leat_code code = session->options->rewind >= 0 ? rewind_run(session, &list, err)
                                                   : load_last(session, &list, err);
    leat_checkpoints_free(&list);
    return code;
}

/* Nothing but that is left of where it began. */
static leat_code refuse_no_init(const leat_identity *there, leat_error *err) {
    char path[400];
    if (!leat_shell_word(path, sizeof path, there->init_path)) snprintf(path, sizeof path, "RUN");
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the run began with --init and has no checkpoint yet; pass --init %s again",
                     path);
}

static leat_code resume(leat_session *session, leat_error *err) {
    leat_identity there;
    leat_run_options options;
    json_t *settings = NULL;
    LEAT_TRY(
        leat_training_load(&session->folder, &there, &options, &settings, session->version, err));
    if (session->options->init == NULL) {
        memcpy(session->identity.init, there.init, sizeof there.init);
        memcpy(session->identity.init_path, there.init_path, sizeof there.init_path);
    }
    leat_code code =
        leat_identity_compare(&session->identity, &session->all, &there, settings, err);
    json_decref(settings);
    LEAT_TRY(code);
    LEAT_TRY(leat_identity_hash(&session->identity, &session->all, err));
    code = load_state(session, err);
    if (code == LEAT_OK && session->saved_step < 0 && there.init[0] != 0 &&
        session->options->init == NULL)
        code = refuse_no_init(&there, err);
    LEAT_TRY(code);
    return refuse_end(session, leat_trainer_state(session->trainer)->step, err);
}

static leat_code check_rewind(const leat_session *session, leat_error *err) {
    if (session->options->rewind < 0) return LEAT_OK;
    if (!session->may_rewind)
        return leat_fail(err, LEAT_ERR_OPTION, "only a run of one machine can be rewound");
    if (!session->options->resume)
        return leat_fail(err, LEAT_ERR_OPTION, "only a run that is resumed can be rewound");
    return LEAT_OK;
}

/* Whether it ends early after the last of these measurements. */
static bool is_exhausted(const leat_session *session, const leat_patience *patience) {
    const int64_t most = session->options->patience;
    return most > 0 && patience->since >= most;
}

static leat_code begin_measuring(leat_session *session, leat_error *err) {
    const leat_measure_class *class = session->task->measure;
    const leat_measuring of = {.folder = &session->folder,
                               .model = leat_trainer_model(session->trainer),
                               .feed = &session->feed,
                               .options = session->options,
                               .ticker = &session->ticker};
    char note[LEAT_MEASURE_NOTE_BYTES] = "";
    if (class == NULL || session->options->sample_every == 0) return LEAT_OK;
    const leat_code code = class->create(&session->measure, &of, note, err);
    if (note[0] != 0) leat_session_note(session, "%s", note);
    return code;
}

leat_code leat_session_open(leat_session *session, const char *run, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(check_rewind(session, err));
    LEAT_TRY(leat_run_folder_open(&session->folder, run, session->options->resume, err));
    snprintf(session->version, sizeof session->version, "%s", leat_version());
    if (!session->folder.exists && session->options->rewind >= 0)
        return leat_fail(err, LEAT_ERR_OPTION, "\"%.300s\" does not hold a run to rewind", run);
    if (session->folder.exists) LEAT_TRY(resume(session, err));
    LEAT_TRY(check_export(session, err));
    if (session->options->resume && !session->folder.exists)
        leat_session_note(session, "there was nothing to resume: this is a new run");
    if (session->folder.exists && session->saved_step < 0)
        leat_session_note(session, "the run has no checkpoint: it begins at its first step again");
    const leat_feed *feed = &session->feed;
    if (feed->repeats)
        leat_session_note(session,
                          "the data set has %lld %s, so a micro-batch of %lld has them more than "
                          "once",
                          (long long)feed->count, feed->class->many,
                          (long long)session->options->micro_batch);
    if (feed->note[0] != 0) leat_session_note(session, "%s", feed->note);
    LEAT_TRY(leat_training_save(&session->folder, &session->identity, &session->all,
                                session->version, err));
    if (feed->class->keep != NULL) LEAT_TRY(feed->class->keep(feed, session->folder.path, err));
    LEAT_TRY(begin_measuring(session, err));
    LEAT_TRY(leat_run_folder_join(&session->folder, LEAT_RUN_METRICS, path, err));
    const int64_t kept = session->saved_step < 0 ? -1 : session->saved_step;
    LEAT_TRY(leat_metrics_open(&session->metrics, session->task, path, kept, err));
    if (kept >= 0 && is_exhausted(session, &session->metrics.patience)) session->steps = kept;
    return LEAT_OK;
}

/* ---- After a step --------------------------------------------------------------------------- */

static bool due(int64_t step, int64_t every) { return every > 0 && step % every == 0; }

/* The epochs that ended in a step: *first .. *end - 1. */
static leat_code ended_epochs(const leat_session *session, int64_t step, int64_t *first,
                              int64_t *end, leat_error *err) {
    leat_unit_place before = {0}, next = {0};
    if (step > 0) {
        LEAT_TRY(leat_feed_place(&session->feed, step - 1, 0, &before, err));
        LEAT_TRY(leat_feed_place(&session->feed, step, 0, &next, err));
    }
    *first = before.epoch;
    *end = next.epoch;
    return LEAT_OK;
}

/* Whether the state after a step is measured. */
static leat_code is_measured(const leat_session *session, int64_t step, bool *out,
                             leat_error *err) {
    const int64_t every = session->options->sample_every;
    int64_t epoch = 0, end = 0;
    *out = every > 0 && (step == 0 || step == session->steps);
    if (every == 0 || session->measure == NULL || *out) return LEAT_OK;
    if (!session->task->measures_epochs) {
        *out = due(step, every);
        return LEAT_OK;
    }
    LEAT_TRY(ended_epochs(session, step, &epoch, &end, err));
    for (; epoch < end; epoch++) *out = *out || due(epoch + 1, every);
    return LEAT_OK;
}

/* With what was measured just now. */
static void end_early(leat_session *session, const leat_train_step *step) {
    leat_patience patience = session->metrics.patience;
    const leat_train_step read = leat_metrics_as_read(step);
    leat_patience_step(&patience, session->task, &read);
    if (is_exhausted(session, &patience)) session->steps = step->step;
}

static leat_code measure(leat_session *session, leat_train_step *step, leat_error *err) {
    const leat_train_state *state = leat_trainer_state(session->trainer);
    bool sample = false;
    char note[LEAT_MEASURE_NOTE_BYTES] = "";
    leat_measured_none(step->measured);
    LEAT_TRY(is_measured(session, state->step, &sample, err));
    if (sample && session->measure != NULL)
        LEAT_TRY(
            session->task->measure->take(session->measure, state->parameters, step, note, err));
    if (note[0] != 0) leat_session_note(session, "%s", note);
    if (state->step > 0) end_early(session, step);
    step->steps = session->steps;
    if (state->step > 0 && (due(state->step, STATE_EVERY) || state->step == session->steps))
        leat_trainer_hash(session->trainer, step->state);
    memcpy(session->measured, step->measured, sizeof session->measured);
    step->memory_peak_bytes = leat_rss_peak_bytes();
    return LEAT_OK;
}

static leat_code tell(leat_session *session, leat_train_step *step, leat_error *err) {
    int64_t first = 0, end = 0;
    LEAT_TRY(ended_epochs(session, step->step, &first, &end, err));
    LEAT_TRY(
        leat_metrics_step(&session->metrics, step, leat_run_learning_rate(&session->all), err));
    memcpy(step->warnings, session->metrics.warning_state.warnings, sizeof step->warnings);
    for (int64_t e = first; e < end; e++) {
        LEAT_TRY(
            leat_metrics_epoch(&session->metrics, e, step, seconds_since(session->epoch_ns), err));
        session->epoch_ns = leat_clock_ns();
    }
    if (session->options->stepped != NULL) session->options->stepped(session->options->user, step);
    return LEAT_OK;
}

/* The checkpoint that was just saved. The run does not depend on it. */
static void export_it(leat_session *session) {
    leat_error why = {0};
    const bool replace = session->options->export_replace && !session->exported;
    const leat_code code = leat_export_state(session->folder.path, session->trainer,
                                             session->options->export_dir, replace, &why);
    session->exported = session->exported || code == LEAT_OK;
    if (code == LEAT_OK) session->export_failed = false;
    else if (!session->export_failed)
        leat_session_note(session, "step %lld was not exported: %.300s",
                          (long long)leat_trainer_state(session->trainer)->step, why.message);
    session->export_failed = session->export_failed || code != LEAT_OK;
}

static leat_code save(leat_session *session, leat_error *err) {
    leat_checkpoint of = {.task = session->task};
    memcpy(of.measured, session->measured, sizeof of.measured);
    memcpy(of.run, session->identity.run, sizeof of.run);
    const char *dir = session->folder.checkpoints;
    LEAT_TRY(leat_metrics_sync(&session->metrics, err));
    LEAT_TRY(leat_checkpoint_save(dir, session->trainer, &of, err));
    session->saved_step = of.step;
    session->saved_ns = leat_clock_ns();
    LEAT_TRY(leat_checkpoint_path(dir, of.step, session->result->checkpoint, err));
    LEAT_TRY(leat_checkpoints_prune(dir, session->task, session->identity.run,
                                    session->options->keep, of.step, err));
    if (session->options->export_dir != NULL) export_it(session);
    return LEAT_OK;
}

/* Whether each state that is measured has a checkpoint: so what is best is kept, and no measurement
 * that may end the run is taken twice. */
static bool keeps_measured(const leat_session *session) {
    return session->task->measures_epochs || session->options->patience > 0;
}

static bool wants_checkpoint(const leat_session *session, int64_t step) {
    const double minutes = session->options->checkpoint_minutes;
    const bool measured = leat_measure_decider(session->task, session->measured) >= 0;
    if (step == session->steps || due(step, session->options->checkpoint_every)) return true;
    if (measured && keeps_measured(session)) return true;
    return minutes > 0 && seconds_since(session->saved_ns) >= 60 * minutes;
}

leat_code leat_session_stepped(leat_session *session, const leat_step_numbers *numbers,
                               double seconds, leat_error *err) {
    const int64_t done = leat_trainer_state(session->trainer)->step;
    leat_unit_place next;
    int64_t before = 0;
    leat_train_step step = leat_task_step(session->task);
    step.step = done;
    step.steps = session->steps;
    step.seconds = seconds;
    leat_step_values(numbers, step.values);
    LEAT_TRY(leat_feed_position(&session->feed, done - 1, &before, err));
    LEAT_TRY(leat_feed_place(&session->feed, done, 0, &next, err));
    step.samples = next.position;
    session->samples += step.samples - before;
    step.epoch = next.epoch - (next.first == 0); /* the last sample is the one before the next */
    session->train_seconds += seconds;
    LEAT_TRY(measure(session, &step, err));
    LEAT_TRY(tell(session, &step, err));
    if (wants_checkpoint(session, done)) LEAT_TRY(save(session, err));
    session->result->last_step = done;
    session->taken++;
    return LEAT_OK;
}

/* ---- Beginning and end ---------------------------------------------------------------------- */

/* The untrained model is one end of the scale. */
leat_code leat_session_start(leat_session *session, leat_error *err) {
    const int64_t step = leat_trainer_state(session->trainer)->step;
    session->saved_ns = session->epoch_ns = leat_clock_ns();
    session->result->first_step = session->result->last_step = step;
    memcpy(session->result->untrained, session->metrics.untrained,
           sizeof session->result->untrained); /* of a run that is resumed */
    if (session->saved_step >= 0 || session->measure == NULL) return LEAT_OK;
    leat_train_step untrained = leat_task_step(session->task);
    untrained.steps = session->steps;
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++) untrained.values[i] = NAN;
    LEAT_TRY(measure(session, &untrained, err));
    memcpy(session->result->untrained, untrained.measured, sizeof untrained.measured);
    return tell(session, &untrained, err);
}

leat_code leat_session_arrived(leat_session *session, leat_error *err) {
    leat_train_step step = leat_task_step(session->task);
    if (!keeps_measured(session)) return LEAT_OK;
    step.step = leat_trainer_state(session->trainer)->step;
    step.seconds = NAN;
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++) step.values[i] = NAN;
    LEAT_TRY(measure(session, &step, err));
    if (leat_measure_decider(session->task, session->measured) < 0) return LEAT_OK;
    LEAT_TRY(leat_feed_position(&session->feed, step.step, &step.samples, err));
    LEAT_TRY(tell(session, &step, err));
    return save(session, err);
}

/* Reports after every step: a step takes long enough. */
bool leat_session_goes_on(const leat_session *session) {
    const leat_train_options *options = session->options;
    const int64_t step = leat_trainer_state(session->trainer)->step;
    const leat_progress progress = {"training", "steps", step, session->steps};
    if (step >= session->steps) return false;
    return options->progress == NULL || options->progress(options->user, &progress);
}

/* The checkpoint says what it knows, and the last line of metrics.jsonl the rest. */
static void fill_measured(leat_session *session) {
    const leat_measure_class *class = session->task->measure;
    leat_train_result *result = session->result;
    result->measures = session->task->measures;
    memcpy(result->measured, session->metrics.measured, sizeof result->measured);
    for (int i = 0; i < session->task->saved_measures; i++)
        result->measured[i] = session->measured[i];
    if (class == NULL) return;
    result->reference.name = class->reference_name;
    if (session->measure != NULL && class->reference_name != NULL)
        result->reference.value = class->get_reference(session->measure);
}

static bool is_worse(const leat_train_result *result, int measure) {
    return leat_value_is_better(&result->measures[measure], result->untrained[measure],
                                result->measured[measure]);
}

/* Of all measures: the first may not exist, as of data of one class, and another one may become
 * worse while the one that decides does not. */
static void note_worse(leat_session *session) {
    const leat_train_result *result = session->result;
    const int decider = leat_measure_decider(session->task, result->untrained);
    char names[LEAT_MEASURES_MAX * 32] = "";
    int count = 0;
    if (decider < 0 || result->stopped_early) return;
    for (int i = 0; i < leat_value_count(result->measures); i++) {
        const size_t used = strlen(names);
        if (!is_worse(result, i)) continue;
        snprintf(names + used, sizeof names - used, "%s%.28s", count++ > 0 ? ", " : "",
                 result->measures[i].name);
    }
    if (count == 0) return;
    if (is_worse(result, decider))
        leat_session_note(session,
                          "the %s %s worse than before the first step: training has diverged, or "
                          "was too short",
                          names, count == 1 ? "is" : "are");
    else
        leat_session_note(session, "the %s %s worse than before the first step, the %s is not",
                          names, count == 1 ? "is" : "are", result->measures[decider].name);
}

static void fill_best(leat_session *session) {
    const leat_patience *patience = &session->metrics.patience;
    leat_train_result *result = session->result;
    result->stopped_early = session->steps < session->planned;
    result->best_step = patience->best_step;
    result->best = patience->best;
    if (!result->stopped_early) return;
    leat_session_note(
        session,
        "stopped early after step %lld of %lld: in %lld measurements, %s has not been "
        "better than %.6g after step %lld",
        (long long)session->steps, (long long)session->planned, (long long)patience->since,
        session->task->measures[patience->decider].name, patience->best,
        (long long)patience->best_step);
}

static void fill_result(leat_session *session) {
    leat_train_result *result = session->result;
    const leat_metrics *metrics = &session->metrics;
    memcpy(result->run, session->identity.run, sizeof result->run);
    leat_trainer_hash(session->trainer, result->state);
    fill_measured(session);
    fill_best(session);
    memcpy(result->warnings, metrics->warning_state.warnings, sizeof result->warnings);
    note_worse(session);
    result->many = session->feed.class->many;
    result->kept = leat_task_kept(session->task) == NULL ? "" : LEAT_RUN_SAMPLES;
    if (session->train_seconds > 0)
        result->samples_per_second = (double)session->samples / session->train_seconds;
    result->memory_peak_bytes = leat_rss_peak_bytes();
    result->seconds = seconds_since(session->begin_ns);
}

static void finish_measuring(leat_session *session) {
    const leat_measure_class *class = session->task->measure;
    char note[LEAT_MEASURE_NOTE_BYTES] = "";
    leat_error why = {0};
    if (session->measure == NULL || class->finish == NULL) return;
    if (class->finish(session->measure, note, &why) != LEAT_OK)
        leat_session_note(session, "what the best checkpoint is used with is not made yet: %s",
                          why.message);
    if (note[0] != 0) leat_session_note(session, "%s", note);
}

leat_code leat_session_finish(leat_session *session, leat_error *err) {
    const int64_t step = leat_trainer_state(session->trainer)->step;
    /* a state that came from elsewhere, such as a database, is not saved yet */
    if (session->saved_step != step) LEAT_TRY(save(session, err));
    if (step == session->steps) { /* a late wish to stop changes nothing */
        session->result->last_step = step;
        finish_measuring(session);
        fill_result(session);
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_CANCELLED,
                     "cancelled after step %lld of %lld, which is saved; use --resume to continue",
                     (long long)step, (long long)session->steps);
}

void leat_session_close(leat_session *session) {
    if (session->measure != NULL) session->task->measure->destroy(session->measure);
    leat_ticker_destroy(&session->ticker); /* the measure has it (task.h) */
    leat_metrics_close(&session->metrics);
    leat_run_folder_close(&session->folder);
    leat_trainer_destroy(session->trainer);
    leat_feed_close(&session->feed);
}
