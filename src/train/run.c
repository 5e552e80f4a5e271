/*
 * `leat train` as a function: opens the data, the folder and the state, takes the steps, and keeps
 * what a run keeps. Order of what is written after a step: its samples, its line in metrics.jsonl,
 * then, if it is due, a checkpoint, before which the line is on disk; so a run that is killed
 * anywhere resumes at a checkpoint whose metrics and samples are there.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "base/ticker.h"
#include "train/bill.h"
#include "train/checkpoint.h"
#include "train/data.h"
#include "train/init.h"
#include "train/metrics.h"
#include "train/options.h"
#include "train/sampling.h"

/* Steps between hashes of the state in metrics.jsonl. */
enum { STATE_EVERY = 100 };

typedef struct train_job {
    const leat_train_options *options;
    leat_train_result *result;
    leat_data data;
    leat_plan plan;
    int64_t steps; /* of the run */
    leat_trainer *trainer;
    leat_identity identity;
    leat_run_folder folder;
    char version[LEAT_RUN_VERSION_BYTES]; /* of leat when the run began */
    leat_sampling sampling;               /* no model: none are made */
    leat_metrics metrics;
    leat_ticker ticker;
    int64_t begin_ns, saved_ns, epoch_ns;
    int64_t saved_step;                     /* of the last checkpoint; -1: none */
    double score, deviation, train_seconds; /* the first two of the last step */
} train_job;

static double seconds_since(int64_t ns) { return (double)(leat_clock_ns() - ns) * 1e-9; }

/* ---- Beginning ------------------------------------------------------------------------------ */

/* Initial weights, and where they are, for config.yaml. */
static leat_code load_init(train_job *job, leat_error *err) {
    leat_identity *identity = &job->identity;
    LEAT_TRY(leat_init_load(job->options->init, job->trainer, identity->init, err));
    return leat_path_real(job->options->init, identity->init_path, err);
}

static leat_code begin(train_job *job, const char *model, const char *data, leat_error *err) {
    const leat_train_options *options = job->options;
    LEAT_TRY(leat_model_find(model, err));
    LEAT_TRY(leat_train_options_check(options, err));
    LEAT_TRY(leat_data_open(&job->data, data, err));
    LEAT_TRY(leat_plan_make(&job->plan, options, job->data.samples.count, err));
    LEAT_TRY(leat_plan_steps(&job->plan, options, &job->steps, err));
    LEAT_TRY(leat_train_check_memory(options, &job->plan, err));
    LEAT_TRY(leat_trainer_create(&job->trainer, options, &job->plan, &job->data.samples, err));
    if (options->init != NULL) LEAT_TRY(load_init(job, err));
    return leat_identity_make(&job->identity, leat_trainer_model(job->trainer), &job->data.samples,
                              options, err);
}

/* Adds a sentence to what the caller should know about a run that goes on. */
static void add_note(train_job *job, const char *format, ...) LEAT_PRINTF(2, 3);
static void add_note(train_job *job, const char *format, ...) {
    char *note = job->result->note;
    const size_t size = sizeof job->result->note, used = strlen(note);
    const size_t begin = used == 0 || used + 3 > size ? used : used + 2;
    if (begin > used) memcpy(note + used, "; ", 3);
    va_list args;
    va_start(args, format);
    vsnprintf(note + begin, size - begin, format, args);
    va_end(args);
}

/* The state of the last checkpoint that is not damaged. */
static leat_code load_last(train_job *job, const leat_checkpoints *list, leat_error *err) {
    int64_t damaged = list->damaged;
    leat_error last = list->why;
    for (int64_t i = list->count - 1; i >= 0; i--) {
        const leat_checkpoint *of = &list->items[i];
        leat_error why = {0};
        leat_code code = leat_checkpoint_load(job->folder.checkpoints, of, job->trainer, &why);
        if (code == LEAT_OK) {
            if (damaged > of->step)
                add_note(job, "checkpoint %lld is damaged; resumed from an earlier one: %.300s",
                         (long long)damaged, last.message);
            job->saved_step = of->step;
            job->score = of->score;
            job->deviation = of->deviation;
            return leat_checkpoint_path(job->folder.checkpoints, of->step, job->result->checkpoint,
                                        err);
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

static leat_code resume(train_job *job, leat_error *err) {
    leat_identity there;
    leat_train_options options;
    leat_checkpoints list;
    json_t *settings = NULL;
    LEAT_TRY(leat_training_load(&job->folder, &there, &options, &settings, job->version, err));
    if (job->options->init == NULL) {
        memcpy(job->identity.init, there.init, sizeof there.init);
        memcpy(job->identity.init_path, there.init_path, sizeof there.init_path);
    }
    leat_code code = leat_identity_compare(&job->identity, job->options, &there, settings, err);
    json_decref(settings);
    LEAT_TRY(code);
    LEAT_TRY(leat_identity_hash(&job->identity, job->options, err));
    LEAT_TRY(leat_checkpoints_list(&list, job->folder.checkpoints, job->identity.run, true, err));
    code = load_last(job, &list, err);
    leat_checkpoints_free(&list);
    if (code == LEAT_OK && job->saved_step < 0 && there.init[0] != 0 && job->options->init == NULL)
        code = leat_fail(err, LEAT_ERR_OPTION,
                         "the run began with --init and has no checkpoint yet; pass --init again");
    LEAT_TRY(code);
    if (leat_trainer_state(job->trainer)->step <= job->steps) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the run is at step %lld already, and ends at step %lld; use a larger --steps "
                     "or --epochs",
                     (long long)leat_trainer_state(job->trainer)->step, (long long)job->steps);
}

static leat_code open_run(train_job *job, const char *run, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_run_folder_open(&job->folder, run, job->options->resume, err));
    job->saved_step = -1;
    snprintf(job->version, sizeof job->version, "%s", leat_version());
    if (job->folder.exists) LEAT_TRY(resume(job, err));
    if (job->options->resume && !job->folder.exists)
        add_note(job, "there was nothing to resume: this is a new run");
    if (job->folder.exists && job->saved_step < 0)
        add_note(job, "the run has no checkpoint: it begins at its first step again");
    if (job->plan.samples < job->plan.micro_batch)
        add_note(job,
                 "the data set has %lld images, so a micro-batch of %lld has them more than once",
                 (long long)job->plan.samples, (long long)job->plan.micro_batch);
    if (job->options->sample_every > 0 && job->plan.samples < 2 * LEAT_SCORE_N)
        add_note(job, "the data set has %lld images, too few for the score to mean anything",
                 (long long)job->plan.samples);
    LEAT_TRY(leat_training_save(&job->folder, &job->identity, job->options, job->version, err));
    if (job->options->sample_every > 0)
        LEAT_TRY(leat_sampling_create(&job->sampling, &job->folder,
                                      (leat_model *)(uintptr_t)leat_trainer_model(job->trainer),
                                      &job->data.samples, job->options, &job->ticker, err));
    LEAT_TRY(leat_run_folder_join(&job->folder, LEAT_RUN_METRICS, path, err));
    const int64_t kept = job->saved_step < 0 ? -1 : job->saved_step;
    return leat_metrics_open(&job->metrics, path, kept, err);
}

/* ---- After a step --------------------------------------------------------------------------- */

static bool due(int64_t step, int64_t every) { return every > 0 && step % every == 0; }

static leat_code measure(train_job *job, leat_train_step *step, leat_error *err) {
    const leat_train_state *state = leat_trainer_state(job->trainer);
    const bool sample = due(state->step, job->options->sample_every) ||
                        (state->step == job->steps && job->options->sample_every > 0);
    const bool last = state->step == job->steps;
    step->score = step->deviation = NAN;
    if (sample)
        LEAT_TRY(leat_sampling_take(&job->sampling, &job->folder, state->parameters, state->step,
                                    &step->score, &step->deviation, err));
    if (sample && step->deviation < LEAT_SAMPLE_DEVIATION_MIN)
        add_note(
            job,
            "the samples of step %lld are almost uniform (deviation %.4f): no grid was written",
            (long long)state->step, step->deviation);
    if (state->step > 0 && (due(state->step, STATE_EVERY) || last))
        leat_trainer_hash(job->trainer, step->state);
    job->score = step->score;
    job->deviation = step->deviation;
    step->memory_peak_bytes = leat_rss_peak_bytes();
    return LEAT_OK;
}

static leat_code tell(train_job *job, leat_train_step *step, leat_error *err) {
    const int64_t before = step->images - job->plan.units * job->plan.unit_size;
    LEAT_TRY(leat_metrics_step(&job->metrics, step, job->options->learning_rate, err));
    for (int64_t e = before / job->plan.samples; step->step > 0; e++) {
        if ((e + 1) * job->plan.samples > step->images) break;
        LEAT_TRY(leat_metrics_epoch(&job->metrics, e, step, seconds_since(job->epoch_ns), err));
        job->epoch_ns = leat_clock_ns();
    }
    if (job->options->stepped != NULL) job->options->stepped(job->options->user, step);
    return LEAT_OK;
}

static leat_code save(train_job *job, leat_error *err) {
    leat_checkpoint of = {.score = job->score, .deviation = job->deviation};
    memcpy(of.run, job->identity.run, sizeof of.run);
    const char *dir = job->folder.checkpoints;
    LEAT_TRY(leat_metrics_sync(&job->metrics, err));
    LEAT_TRY(leat_checkpoint_save(dir, job->trainer, &of, err));
    job->saved_step = of.step;
    job->saved_ns = leat_clock_ns();
    LEAT_TRY(leat_checkpoint_path(dir, of.step, job->result->checkpoint, err));
    return leat_checkpoints_prune(dir, job->identity.run, job->options->keep, of.step, err);
}

static bool wants_checkpoint(const train_job *job, int64_t step) {
    const double minutes = job->options->checkpoint_minutes;
    if (step == job->steps || due(step, job->options->checkpoint_every)) return true;
    return minutes > 0 && seconds_since(job->saved_ns) >= 60 * minutes;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static leat_code take_step(train_job *job, leat_error *err) {
    leat_step_numbers numbers;
    const int64_t begin_ns = leat_clock_ns();
    LEAT_TRY(leat_trainer_step(job->trainer, &numbers, err));
    const int64_t done = leat_trainer_state(job->trainer)->step;
    leat_train_step step = {
        .step = done,
        .steps = job->steps,
        .images = leat_plan_position(&job->plan, done, 0),
        .loss_d_images = numbers.sums[0] / numbers.weight,
        .loss_d_fakes = numbers.sums[1] / numbers.weight,
        .loss_g = numbers.sums[2] / numbers.weight,
        .norm_d = numbers.norm_d,
        .norm_g = numbers.norm_g,
        .seconds = seconds_since(begin_ns),
    };
    step.epoch = (step.images - 1) / job->plan.samples;
    job->train_seconds += step.seconds;
    LEAT_TRY(measure(job, &step, err));
    LEAT_TRY(tell(job, &step, err));
    return wants_checkpoint(job, done) ? save(job, err) : LEAT_OK;
}

/* The untrained generator is one end of the scale. */
static leat_code measure_untrained(train_job *job, leat_error *err) {
    leat_train_step step = {.steps = job->steps};
    LEAT_TRY(measure(job, &step, err));
    job->result->score_untrained = step.score;
    return tell(job, &step, err);
}

static leat_code stop(train_job *job, leat_error *err) {
    const int64_t step = leat_trainer_state(job->trainer)->step;
    if (job->saved_step != step) LEAT_TRY(save(job, err));
    return leat_fail(err, LEAT_ERR_CANCELLED,
                     "cancelled after step %lld of %lld, which is saved; use --resume to continue",
                     (long long)step, (long long)job->steps);
}

/* Reports after every step: a step takes long enough. False: the caller wants the run to stop. */
static bool goes_on(const train_job *job) {
    const leat_train_options *options = job->options;
    const leat_progress progress = {"training", "steps", leat_trainer_state(job->trainer)->step,
                                    job->steps};
    return options->progress == NULL || options->progress(options->user, &progress);
}

static leat_code take_steps(train_job *job, leat_error *err) {
    const leat_train_state *state = leat_trainer_state(job->trainer);
    job->saved_ns = job->epoch_ns = leat_clock_ns();
    job->result->first_step = job->result->last_step = state->step;
    if (job->saved_step < 0 && job->options->sample_every > 0)
        LEAT_TRY(measure_untrained(job, err));
    while (state->step < job->steps && goes_on(job)) {
        LEAT_TRY(take_step(job, err));
        job->result->last_step = state->step;
    }
    return state->step < job->steps ? stop(job, err) : LEAT_OK; /* a late wish changes nothing */
}

static void fill_result(train_job *job) {
    leat_train_result *result = job->result;
    const int64_t steps = result->last_step - result->first_step;
    memcpy(result->run, job->identity.run, sizeof result->run);
    leat_trainer_hash(job->trainer, result->state);
    result->score = job->score;
    result->deviation = job->deviation;
    if (job->sampling.model != NULL) result->score_halves = job->sampling.halves;
    if (result->score > result->score_untrained)
        add_note(job,
                 "the score is worse than before the first step: training has diverged, or was "
                 "too short");
    if (job->train_seconds > 0)
        result->images_per_second =
            (double)leat_plan_position(&job->plan, steps, 0) / job->train_seconds;
    result->memory_peak_bytes = leat_rss_peak_bytes();
    result->seconds = seconds_since(job->begin_ns);
}

leat_code leat_train(const char *model, const char *data, const char *run,
                     const leat_train_options *options, leat_train_result *result,
                     leat_error *err) {
    train_job job = {.options = options, .result = result, .begin_ns = leat_clock_ns()};
    job.score = job.deviation = NAN;
    memset(result, 0, sizeof *result);
    result->score = result->score_untrained = result->score_halves = result->deviation = NAN;
    leat_ticker_create(&job.ticker, options->progress, options->user);
    leat_code code = begin(&job, model, data, err);
    if (code == LEAT_OK) code = open_run(&job, run, err);
    if (code == LEAT_OK) code = take_steps(&job, err);
    if (code == LEAT_OK) fill_result(&job);
    leat_ticker_destroy(&job.ticker);
    leat_metrics_close(&job.metrics);
    leat_sampling_free(&job.sampling);
    leat_run_folder_close(&job.folder);
    leat_trainer_destroy(job.trainer);
    leat_data_close(&job.data);
    if (code != LEAT_OK && code != LEAT_ERR_CANCELLED) {
        leat_train_result failed = {0}; /* but what was noted says why */
        memcpy(failed.note, result->note, sizeof failed.note);
        *result = failed;
    }
    return code;
}
