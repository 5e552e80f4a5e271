/* See task.h. */
#include "train/run/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "vgae, gat" */
static void list_names(char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; leat_tasks[i] != NULL && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 leat_tasks[i]->model->name);
}

static const leat_task *find(const char *name) {
    for (int i = 0; name != NULL && leat_tasks[i] != NULL; i++)
        if (strcmp(leat_tasks[i]->model->name, name) == 0) return leat_tasks[i];
    return NULL;
}

/* The options of a run are one list of names for the command line, YAML, Python and the run's
 * files, and its settings fit into the memory that every owner of some has. Settings are read from
 * files and databases that are closed then, so none is a text, of which only the address is kept.
 */
static void check_row(const leat_task *task) {
    const leat_setting_table *own = task->settings(), *all = leat_train_options_table();
    const bool fit = strcmp(task->model->batch, task->feed->batch) == 0;
    LEAT_ASSERT(fit && own->size_bytes <= sizeof(leat_setting_memory));
    LEAT_ASSERT(strlen(task->model->name) < LEAT_MODEL_NAME_BYTES);
    LEAT_ASSERT(leat_value_count(task->model->values) <= LEAT_STEP_VALUES_MAX);
    const int measures = leat_value_count(task->measures), saved = task->saved_measures;
    LEAT_ASSERT(measures <= LEAT_MEASURES_MAX && saved <= measures && saved >= (measures > 0));
    const leat_setting *rate = leat_setting_find(own, "learning-rate");
    LEAT_ASSERT(rate == NULL || rate->kind == LEAT_SETTING_REAL); /* leat_run_learning_rate */
    for (const leat_setting *row = own->rows; row->name != NULL; row++) {
        const leat_setting *twin = leat_setting_find(all, row->name);
        LEAT_ASSERT(twin == NULL && row->kind != LEAT_SETTING_TEXT &&
                    row->kind != LEAT_SETTING_PATH && row->kind != LEAT_SETTING_OUTPUT);
    }
}

/* Names of numbers are the keys of one object, a line of metrics.jsonl. */
static void check_names(const leat_value *list, const leat_value *others) {
    static const leat_value of_line[] = {{.name = "step"},  {.name = "epoch"},   {.name = "rate"},
                                         {.name = "state"}, {.name = "seconds"}, {.name = NULL}};
    for (int i = 0; i < leat_value_count(list); i++) {
        const char *name = list[i].name;
        int same = 0;
        for (int k = 0; k < leat_value_count(list); k++) same += strcmp(list[k].name, name) == 0;
        for (int k = 0; k < leat_value_count(others); k++)
            same += strcmp(others[k].name, name) == 0;
        for (int k = 0; of_line[k].name != NULL; k++) same += strcmp(of_line[k].name, name) == 0;
        LEAT_ASSERT(same == 1);
    }
}

leat_train_step leat_task_step(const leat_task *task) {
    if (task == NULL) return (leat_train_step){0};
    return (leat_train_step){.names = task->model->values, .measures = task->measures};
}

void leat_measured_none(double measured[LEAT_MEASURES_MAX]) {
    for (int i = 0; i < LEAT_MEASURES_MAX; i++) measured[i] = NAN;
}

const char *leat_task_kept(const leat_task *task) {
    return task->measure == NULL ? NULL : task->measure->kept;
}

leat_code leat_task_find(const char *name, const leat_task **out, leat_error *err) {
    char names[200];
    *out = find(name);
    if (*out != NULL) {
        check_row(*out);
        check_names((*out)->model->values, (*out)->measures);
        check_names((*out)->measures, NULL);
        return LEAT_OK;
    }
    list_names(names, sizeof names);
    if (name == NULL)
        return leat_fail(err, LEAT_ERR_OPTION, "no model is named; there is %s", names);
    return leat_fail(err, LEAT_ERR_OPTION, "there is no model \"%.40s\"; there is %s", name, names);
}

const leat_setting_table *leat_train_settings_table(const char *model) {
    const leat_task *task = find(model);
    return task == NULL ? NULL : task->settings();
}

const char *leat_train_sample_words(const char *model, bool many) {
    const leat_task *task = find(model);
    if (task == NULL) return many ? "samples" : "sample";
    return many ? task->feed->many : task->feed->one;
}
