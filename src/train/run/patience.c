/* See patience.h. */
#include "train/run/patience.h"

#include <math.h>

#include "train/run/task.h"

int leat_measure_decider(const leat_task *task, const double measured[LEAT_MEASURES_MAX]) {
    for (int i = 0; task != NULL && i < task->saved_measures; i++)
        if (task->measures[i].better != 0 && !isnan(measured[i])) return i;
    return -1;
}

leat_patience leat_patience_begin(void) {
    return (leat_patience){.decider = -1, .best = NAN, .best_step = -1};
}

static bool is_measured(const leat_task *task, const double *measured) {
    for (int i = 0; task != NULL && i < leat_value_count(task->measures); i++)
        if (!isnan(measured[i])) return true;
    return false;
}

void leat_patience_step(leat_patience *patience, const leat_task *task,
                        const leat_train_step *step) {
    if (!is_measured(task, step->measured)) return;
    if (patience->decider < 0) patience->decider = leat_measure_decider(task, step->measured);
    if (patience->decider < 0) return;
    /* one that is missing beside others was not finite: it is no better */
    const double value = step->measured[patience->decider];
    const bool first = patience->best_step < 0 && !isnan(value);
    patience->since++;
    if (!first && !leat_value_is_better(&task->measures[patience->decider], value, patience->best))
        return;
    patience->best = value;
    patience->best_step = step->step;
    patience->since = 0;
}
