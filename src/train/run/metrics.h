/*
 * RUN/metrics.jsonl: a JSON object a line, a line for each step, and one for each epoch that ends
 * in a step. Lines of steps after the checkpoint that a run resumes from are removed: the steps are
 * taken again.
 *
 *     {"step":0,"auc":0.5}               before the first step
 *     {"step":1,"error":0.7,"norm":1.0,"rate":0.0002,"seconds":0.8}
 *                                        and "state" and those of step 0 where they are known
 *     {"epoch":0,"step":6,"graphs":384,"seconds":4.9,"memory_peak_bytes":240000000}
 *
 * The names between "step" and "rate" are the model's, leat_train_step.names, and those after
 * "state" are of what is measured, leat_train_step.measures; samples are in the words of the feed.
 */
#ifndef LEAT_TRAIN_RUN_METRICS_H
#define LEAT_TRAIN_RUN_METRICS_H

#include "base/file.h"
#include "base/json.h"
#include "train/run/patience.h"
#include "train/run/task.h"

typedef struct leat_metrics {
    leat_file *file;
    int64_t size_bytes;
    const leat_task *task;               /* names the numbers of a line, and the samples */
    leat_warning_state warning_state;    /* what the lines so far warn of */
    leat_patience patience;              /* what they say of the best measurement */
    double measured[LEAT_MEASURES_MAX];  /* in the last line of a step; NaN: not measured there */
    double untrained[LEAT_MEASURES_MAX]; /* in that of step 0 */
} leat_metrics;

/* Opens the file, which is created if it is missing, and removes the lines of steps after `step`
 * and what follows them. `task` NULL: the numbers of the lines do not matter. */
LEAT_MUST_CHECK leat_code leat_metrics_open(leat_metrics *metrics, const leat_task *task,
                                            const char *path, int64_t step, leat_error *err);
/* Saves the lines that it would remove, and what is between and after them, as the file `to`, in
 * which nothing is if *any becomes false. `to` NULL: only looks. */
LEAT_MUST_CHECK leat_code leat_metrics_copy_later(const char *path, int64_t step, const char *to,
                                                  bool *any, leat_error *err);
void leat_metrics_close(leat_metrics *metrics);
/* The numbers of a step as a reader of its line has them: what is not finite is NaN. */
leat_train_step leat_metrics_as_read(const leat_train_step *step);
LEAT_MUST_CHECK leat_code leat_metrics_step(leat_metrics *metrics, const leat_train_step *step,
                                            double rate, leat_error *err);
/* The epoch of step->epoch has ended; `seconds` it took here. */
LEAT_MUST_CHECK leat_code leat_metrics_epoch(leat_metrics *metrics, int64_t epoch,
                                             const leat_train_step *step, double seconds,
                                             leat_error *err);
/* What a line says of a step, by step->names and step->measures, which the caller has set: the
 * step, its values and seconds, and what was measured; NaN where the line has no such number, and
 * what the line has besides is left out. False: it is not of a step, but of an epoch, or not ours.
 */
bool leat_metrics_parse(const json_t *line, leat_train_step *step);

/* Seconds of the last ones of many. */
enum { LEAT_METRICS_RECENT = 20 };
typedef struct leat_metrics_seconds {
    double last[LEAT_METRICS_RECENT]; /* in a ring */
    int64_t count;                    /* of all */
} leat_metrics_seconds;
double leat_metrics_seconds_median(const leat_metrics_seconds *of); /* NaN: of none */

/* What the last lines say, which is not to be had from curves. */
typedef struct leat_metrics_recent {
    int64_t steps;                       /* lines of steps with numbers; 0: there is no last one */
    double values[LEAT_STEP_VALUES_MAX]; /* of the last step; NaN: not finite, or missing */
    bool has[LEAT_STEP_VALUES_MAX];      /* false: its line has no such value, as of another leat */
    int64_t step_number;                 /* of the last step */
    char state[65];                      /* hash of the state after it; "": its line has none */
    leat_metrics_seconds step, epoch;
    int64_t epochs; /* that have ended */
    bool crowded;   /* more than one in a step: the seconds of an epoch mean nothing */
    int64_t since;  /* measurements after the best one, as --patience counts them */
} leat_metrics_recent;

typedef struct leat_metrics_reading {
    int64_t most;             /* points: see leat_run_metrics_load */
    bool (*stop)(void *user); /* asked now and then: true is LEAT_ERR_CANCELLED; NULL: never */
    void *user;
    leat_metrics_recent *recent; /* NULL: not wanted */
} leat_metrics_reading;
/* The steps of a file as leat_run_metrics_load gives them; there may be no file yet.
 * LEAT_ERR_INPUT: it is not a regular file. */
LEAT_MUST_CHECK leat_code leat_metrics_read(leat_run_metrics **out, const leat_task *task,
                                            const char *path, const leat_metrics_reading *how,
                                            leat_error *err);
/* Of a run that is open. */
LEAT_MUST_CHECK leat_code leat_run_metrics_read(leat_run_metrics **out, const leat_run *run,
                                                const leat_metrics_reading *how, leat_error *err);
/* Before a checkpoint says that these steps were taken. */
LEAT_MUST_CHECK leat_code leat_metrics_sync(leat_metrics *metrics, leat_error *err);

#endif
