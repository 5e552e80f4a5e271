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

/* Members that documents have whatever is trained: lines of metrics.jsonl, documents of
 * checkpoints, the result of a training, its estimate, and what leat inspect says of a run
 * (tests/cli/test_facts.py compares). */
static const char fixed[] =
    " step epoch rate state seconds memory_peak_bytes format version run position weights_sha256 "
    "first_step last_step best_step stopped_early other_measures run_hash checkpoint warnings "
    "units_counted units_refused "
    "units_computed_here connections parameters steps epochs memory_bytes checkpoint_bytes "
    "payload_bytes weights_bytes path kind model data init kernel_class leat_version ledger "
    "measurements checkpoints settings verification ";
/* Attributes of Python's Checkpoint and Metrics beside these: a value or measure, which is an
 * attribute, too, would be hidden behind one of its name (tests/python/test_runs.py compares). */
static const char attributes[] = " best count index measures score_step values ";

enum { NAME_BYTES = 64, NAMES_MAX = LEAT_STEP_VALUES_MAX + LEAT_MEASURES_MAX + 4 };
typedef struct names {
    int count;
    char of[NAMES_MAX][NAME_BYTES];
} names;

static void add_name(names *all, const char *name, const char *end) {
    const int size = snprintf(all->of[all->count++], NAME_BYTES, "%s%s", name, end);
    LEAT_ASSERT(size > 0 && size < NAME_BYTES);
}

/* Names of numbers, and the words of samples, are keys of objects beside each other and beside
 * those above, and what a document has twice, readers have once. Python's tuples have attributes
 * that begin with an underscore. */
static void check_names(const leat_task *task) {
    const leat_value *values = task->model->values, *measures = task->measures;
    const char *many = task->feed->many;
    names all = {0};
    for (int i = 0; i < leat_value_count(values); i++) add_name(&all, values[i].name, "");
    for (int i = 0; i < leat_value_count(measures); i++) add_name(&all, measures[i].name, "");
    if (leat_value_count(measures) > 0) add_name(&all, measures[0].name, "_untrained");
    if (task->measure != NULL && task->measure->reference_name != NULL)
        add_name(&all, task->measure->reference_name, "");
    add_name(&all, many, "");
    add_name(&all, many, "_per_second");
    for (int i = 0; i < all.count; i++) {
        char word[NAME_BYTES + 2];
        int same = 0;
        for (int k = 0; k < all.count; k++) same += strcmp(all.of[k], all.of[i]) == 0;
        snprintf(word, sizeof word, " %s ", all.of[i]);
        const bool other = strstr(fixed, word) != NULL || strstr(attributes, word) != NULL;
        LEAT_ASSERT(same == 1 && !other && all.of[i][0] != '_');
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
        check_names(*out);
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

const leat_setting_table *leat_train_model_options_table(const char *model) {
    const leat_task *task = find(model);
    return task == NULL ? NULL : leat_task_options(task);
}
