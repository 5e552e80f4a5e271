/* See run_source.h. */
#include "dash/run_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/thread.h"

enum { PAUSE = 20, QUIET = 60, SAMPLES_BYTES_MAX = 64 << 20 };
enum { METRICS = 1, SAMPLES }; /* of files */

static const char *const files[LEAT_RUN_SOURCE_FILES] = {"training.json", "metrics.jsonl",
                                                         "samples", "checkpoints"};

/* ---- Reading -------------------------------------------------------------------------------- */

static leat_code stat_files(const leat_run_source *source,
                            leat_path_facts facts[LEAT_RUN_SOURCE_FILES], leat_error *err) {
    char path[LEAT_PATH_BYTES];
    for (int i = 0; i < LEAT_RUN_SOURCE_FILES; i++) {
        LEAT_TRY(leat_path_join(path, sizeof path, source->path, files[i], err));
        LEAT_TRY(leat_path_stat(path, &facts[i], err));
    }
    return LEAT_OK;
}

static bool is_same(const leat_path_facts *a, const leat_path_facts *b) {
    return a->kind == b->kind && a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns && a->inode == b->inode && a->device == b->device;
}

static leat_code list_kept(const leat_run *run, int64_t **kept, int64_t *count, leat_error *err) {
    int64_t capacity = 0;
    leat_run_kept of;
    for (int i = 0; leat_run_kept_at(run, i, &of); i++) {
        LEAT_TRY(LEAT_GROW(kept, &capacity, *count + 1, err));
        (*kept)[(*count)++] = of.step;
    }
    return LEAT_OK;
}

/* All of it, or nothing is changed. */
static leat_code read_all(leat_run_source *source, leat_error *err) {
    leat_run *run = NULL, *before;
    leat_run_metrics *metrics = NULL;
    leat_metrics_recent recent;
    const leat_metrics_reading how = {.most = LEAT_DASH_POINTS,
                                      .stop = source->stop->asked,
                                      .user = source->stop->of,
                                      .recent = &recent};
    int64_t *kept = NULL, count = 0;
    leat_code code = leat_run_open(&run, source->path, err);
    if (code == LEAT_OK) code = leat_run_metrics_read(&metrics, run, &how, err);
    if (code == LEAT_OK) code = list_kept(run, &kept, &count, err);
    if (code != LEAT_OK) {
        leat_free(kept);
        leat_run_metrics_destroy(metrics);
        leat_run_close(run);
        return code;
    }
    leat_run_metrics_destroy(source->metrics);
    leat_free(source->kept);
    source->metrics = metrics;
    source->recent = recent;
    source->kept = kept;
    source->kept_count = count;
    source->version++;
    pthread_mutex_lock(&source->lock);
    before = source->run;
    source->run = run;
    pthread_mutex_unlock(&source->lock);
    leat_run_close(before);
    return LEAT_OK;
}

static leat_code note(leat_run_source *source, leat_code code) {
    if (code != LEAT_ERR_CANCELLED)
        source->problem = code == LEAT_OK ? NULL
                                          : "The folder of the run cannot be read now; this is "
                                            "what was read before.";
    return code;
}

leat_code leat_run_source_look(leat_run_source *source, leat_error *err) {
    leat_path_facts now[LEAT_RUN_SOURCE_FILES];
    const int64_t begin_ns = leat_clock_ns();
    bool same = source->problem == NULL;
    leat_code code = stat_files(source, now, err);
    if (code != LEAT_OK) return note(source, code);
    source->changed_ns = now[METRICS].kind == LEAT_PATH_FILE ? now[METRICS].mtime_ns : 0;
    if (begin_ns < source->next_ns) return LEAT_OK;
    for (int i = 0; i < LEAT_RUN_SOURCE_FILES; i++)
        same = same && is_same(&now[i], &source->files[i]);
    if (same) return LEAT_OK;
    /* the files may change while they are read: then they differ from `now` the next time */
    code = read_all(source, err);
    const int64_t end_ns = leat_clock_ns();
    source->next_ns = end_ns + PAUSE * (end_ns - begin_ns);
    if (code == LEAT_OK) memcpy(source->files, now, sizeof now);
    return note(source, code);
}

leat_code leat_run_source_create(leat_run_source *source, const char *path, const leat_stop *stop,
                                 leat_error *err) {
    *source = (leat_run_source){.problem = "not read yet", .stop = stop};
    pthread_mutex_init(&source->lock, NULL);
    LEAT_TRY(leat_path_check_local(path, err));
    LEAT_TRY(leat_path_real(path, source->path, err));
    return leat_run_source_look(source, err);
}

void leat_run_source_destroy(leat_run_source *source) {
    leat_run_metrics_destroy(source->metrics);
    leat_free(source->kept);
    leat_run_close(source->run);
    pthread_mutex_destroy(&source->lock);
}

/* Everybody who sees the page may ask for it, so it is a PNG of RUN/samples itself, or nothing. */
static leat_code open_samples(leat_run_kept *of, leat_file **file, int64_t *size_bytes,
                              leat_error *err) {
    static const uint8_t begin[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t first[sizeof begin];
    char *name = strrchr(of->path, '/');
    LEAT_ASSERT(name != NULL);
    *name++ = 0;
    LEAT_TRY(leat_file_open_within(file, of->path, name, err));
    LEAT_TRY(leat_file_size(*file, size_bytes, err));
    if (*size_bytes > SAMPLES_BYTES_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT, "\"%.300s\" is too large for a picture", name);
    LEAT_TRY(leat_file_pread(*file, first, sizeof first, 0, err));
    if (memcmp(first, begin, sizeof begin) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "\"%.300s\" is not a PNG", name);
}

leat_code leat_run_source_open(leat_run_source *source, int64_t step, leat_file **file,
                               int64_t *size_bytes, leat_error *err) {
    leat_run_kept of;
    bool found = false;
    *file = NULL;
    *size_bytes = 0;
    pthread_mutex_lock(&source->lock);
    for (int i = 0; !found && leat_run_kept_at(source->run, i, &of); i++) found = of.step == step;
    pthread_mutex_unlock(&source->lock);
    if (!found)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "no samples of step %lld", (long long)step);
    const leat_code code = open_samples(&of, file, size_bytes, err);
    if (code != LEAT_OK) {
        leat_file_close(*file);
        *file = NULL;
    }
    return code;
}

/* ---- Facts ---------------------------------------------------------------------------------- */

static int64_t whole(const leat_run *run, const char *name) {
    const char *text = leat_run_setting(run, name);
    return text == NULL ? 0 : strtoll(text, NULL, 10);
}

/* As leat train counts them (its --epochs); 0 if that is not known from the folder: units of
 * samples that have no size may have different numbers of them. */
static int64_t count_steps(const leat_run *run, const leat_run_facts *of, int64_t each) {
    const int64_t steps = whole(run, "steps"), epochs = whole(run, "epochs");
    int64_t all;
    if (steps > 0 || epochs <= 0 || each <= 0 || of->sample_size == 0) return steps;
    return leat_mul_size(epochs, of->samples, &all) ? (all - 1) / each + 1 : 0;
}

/* Since the last line: of a run that goes on, shorter than its steps take. 0: it may go on. */
static int64_t count_quiet(const leat_run_source *source, double step_seconds) {
    const double quiet = (double)time(NULL) - (double)source->changed_ns * 1e-9;
    const double usual = step_seconds > QUIET / 5.0 ? 5 * step_seconds : QUIET;
    return source->changed_ns > 0 && quiet >= usual ? (int64_t)quiet / 60 * 60 : 0;
}

static bool is_finished(const leat_run_source *source, const leat_dash_facts *facts) {
    const int64_t patience = whole(source->run, "patience");
    return (facts->steps > 0 && facts->step >= facts->steps) ||
           (facts->epochs > 0 && facts->epoch >= facts->epochs) ||
           (patience > 0 && source->recent.since >= patience);
}

/* By steps where their number is known, else by epochs. */
static void fill_speed(const leat_run_source *source, const leat_run_facts *of, int64_t each,
                       leat_dash_facts *facts) {
    const leat_metrics_recent *recent = &source->recent;
    const double epoch =
        recent->crowded ? (double)NAN : leat_metrics_seconds_median(&recent->epoch);
    if (facts->step_seconds > 0 && each > 0)
        facts->samples_per_second = (double)each / facts->step_seconds;
    else if (of->sample_size == 0 && epoch > 0 && of->samples > 0)
        facts->samples_per_second = (double)of->samples / epoch;
    /* while nobody takes steps, the times of the last ones say nothing about the rest */
    if (facts->finished || facts->quiet_seconds > 0) return;
    if (facts->steps > 0)
        facts->seconds_left = facts->step_seconds * (double)(facts->steps - facts->step);
    else if (facts->epochs > 0)
        facts->seconds_left = epoch * (double)(facts->epochs - facts->epoch);
}

static void fill_times(const leat_run_source *source, const leat_run_facts *of,
                       leat_dash_facts *facts) {
    const int64_t units = whole(source->run, "units"), size = whole(source->run, "unit-size");
    int64_t each = 0;
    if (units > 0 && size > 0 && of->sample_size > 0 && !leat_mul_size(units, size, &each))
        each = 0;
    facts->steps = count_steps(source->run, of, each);
    facts->epoch = source->recent.epochs;
    if (facts->steps == 0) facts->epochs = whole(source->run, "epochs");
    facts->step_seconds = leat_metrics_seconds_median(&source->recent.step);
    facts->finished = is_finished(source, facts);
    facts->at_most = whole(source->run, "patience") > 0;
    facts->quiet_seconds = count_quiet(source, facts->step_seconds);
    fill_speed(source, of, each, facts);
}

static void fill_best(const leat_run_metrics *metrics, leat_dash_facts *facts) {
    facts->best_step = metrics->best_step;
    facts->best = metrics->best;
    if (metrics->best_step < 0) return;
    const leat_value *of = &metrics->measures[metrics->best_measure];
    snprintf(facts->measure, sizeof facts->measure, "%s", of->axis != NULL ? of->axis : of->name);
}

static void fill_warnings(const leat_run_metrics *metrics, leat_dash_facts *facts) {
    for (int i = 0; i < LEAT_WARNINGS_MAX && metrics->warnings[i].name != NULL; i++)
        if (metrics->warnings[i].step > 0)
            (void)leat_train_warning_text(&metrics->warnings[i], facts->warnings[i]);
}

void leat_run_source_fill(const leat_run_source *source, leat_dash_facts *facts) {
    const leat_run_metrics *metrics = source->metrics;
    const char *slash = strrchr(source->path, '/');
    leat_run_checkpoint checkpoint;
    leat_run_facts of;
    leat_run_get_facts(source->run, &of);
    facts->has_folder = true;
    facts->folder_problem = source->problem;
    snprintf(facts->name, sizeof facts->name, "%s", slash != NULL ? slash + 1 : source->path);
    snprintf(facts->model, sizeof facts->model, "%s", of.model);
    snprintf(facts->many, sizeof facts->many, "%s", of.many);
    facts->step = metrics->last_step;
    fill_times(source, &of, facts);
    if (source->recent.steps > 0)
        leat_dash_add_numbers(facts, metrics->names, source->recent.values, source->recent.has);
    fill_best(metrics, facts);
    fill_warnings(metrics, facts);
    facts->kept = source->kept;
    facts->kept_count = source->kept_count;
    facts->kept_version = source->files[SAMPLES].mtime_ns / 1000000;
    if (leat_run_checkpoint_at(source->run, of.checkpoint_count - 1, &checkpoint))
        facts->checkpoint_step = checkpoint.step;
}

bool leat_run_source_state(const leat_run_source *source, int64_t *step, const char **state) {
    *step = source->recent.step_number;
    *state = source->recent.state;
    return source->recent.state[0] != 0;
}

bool leat_run_source_may_be(const leat_run_source *source, const leat_crowd_run *run) {
    leat_run_facts of;
    leat_run_get_facts(source->run, &of);
    return strcmp(of.model, run->model) == 0 && of.samples == run->samples &&
           (run->unit_size == 0 || (whole(source->run, "units") == run->units &&
                                    whole(source->run, "unit-size") == run->unit_size));
}

void leat_run_source_draw(const leat_run_source *source, leat_dash_curves *curves) {
    const leat_run_metrics *metrics = source->metrics;
    const leat_run_measurement *measured = metrics->measurements;
    leat_dash_add_points(curves, metrics->names, metrics->points, metrics->point_count);
    if (metrics->measurement_count > 0) {
        const leat_dash_figure few = {.count = metrics->measurement_count,
                                      .stride = sizeof *measured / sizeof(double),
                                      .steps = &measured[0].step};
        leat_dash_add_curves(curves, metrics->measures, &few, measured[0].values);
    }
    leat_dash_add_seconds(curves, metrics->points, metrics->point_count);
}

_Static_assert(sizeof(leat_run_measurement) % sizeof(double) == 0, "a stride in doubles");
