/*
 * The options of every run by name, for the command line, YAML, the run folder and Python, and
 * those of one run, with the settings of its model. Those that affect the weights are not neutral;
 * they are part of a run's identity.
 */
#include "train/run/train_options.h"
#include "train/run/task.h"

#include <math.h>
#include <string.h>

#include "base/thread.h"

#define AT(field) .place = offsetof(leat_train_options, field)

const leat_setting leat_train_rows[] = {
    {.name = "steps",
     .kind = LEAT_SETTING_INT,
     AT(steps),
     .max = INT64_C(1000000000000),
     .neutral = true,
     .usually = "set this or --epochs",
     .help = "steps to train, counted from the beginning of the run"},
    {.name = "epochs",
     .kind = LEAT_SETTING_INT,
     AT(epochs),
     .max = INT64_C(1000000000),
     .neutral = true,
     .usually = "set this or --steps",
     .value = "E",
     .help = "train for E epochs: ceil(E x samples / samples per step) steps"},
    {.name = "units",
     .kind = LEAT_SETTING_INT,
     AT(units),
     .min = 1,
     .max = 100000,
     .value = "K",
     .help = "units per step; in distributed training at most that many machines compute at once"},
    {.name = "unit-size",
     .kind = LEAT_SETTING_INT,
     AT(unit_size),
     .min = 1,
     .max = 1 << 20,
     .help = "samples per unit, a multiple of --micro-batch"},
    {.name = "micro-batch",
     .kind = LEAT_SETTING_INT32,
     AT(micro_batch),
     .min = 2,
     .max = 1024,
     .value = "B",
     .help = "samples that are computed at once"},
    {.name = "codec-up",
     .kind = LEAT_SETTING_CHOICE,
     AT(codec_up),
     .choices = "f32|bf16|int8",
     .help = "how gradients are rounded before they are added, as in distributed training"},
    {.name = "codec-down",
     .kind = LEAT_SETTING_CHOICE,
     AT(codec_down),
     .choices = "f32|bf16",
     .help = "how weights are rounded before units are computed from them, as in distributed "
             "training"},
    {.name = "seed",
     .kind = LEAT_SETTING_SEED,
     AT(seed),
     .help = "seed of the initial weights, the order of the data, and what the model draws"},
    {.name = "checkpoint-every",
     .kind = LEAT_SETTING_INT,
     AT(checkpoint_every),
     .max = INT64_C(1000000000000),
     .neutral = true,
     .help = "steps between checkpoints; 0: only by time; the last step is always saved"},
    {.name = "checkpoint-minutes",
     .kind = LEAT_SETTING_REAL,
     AT(checkpoint_minutes),
     .high = 10080,
     .neutral = true,
     .help = "maximum minutes between checkpoints; 0: only by steps"},
    {.name = "keep",
     .kind = LEAT_SETTING_INT,
     AT(keep),
     .min = 1,
     .max = 1000000,
     .neutral = true,
     .help = "number of recent checkpoints to keep; the best one is kept as well"},
    {.name = "sample-every",
     .kind = LEAT_SETTING_INT,
     AT(sample_every),
     .max = INT64_C(1000000000000),
     .neutral = true,
     .help = "steps between measurements of the model; 0: none"},
    {.name = "patience",
     .kind = LEAT_SETTING_INT,
     AT(patience),
     .max = INT64_C(1000000000),
     .neutral = true,
     .help = "end the run after N measurements in a row that are not the best so far; 0: do not"},
    {.name = "threads",
     .kind = LEAT_SETTING_INT32,
     AT(threads),
     .min = 1,
     .max = LEAT_THREADS_MAX,
     .neutral = true,
     .usually = "one per processor",
     .help = "number of threads; the weights do not depend on it"},
    {.name = "memory",
     .kind = LEAT_SETTING_SIZE,
     AT(memory_bytes),
     .choices = "none",
     .word_value = 0,
     .min = 1,
     .max = INT64_MAX,
     .neutral = true,
     .value = "SIZE|none",
     .help = "fail if the run needs more memory than this, not counting mapped data"},
    {.name = "kernels",
     .kind = LEAT_SETTING_TEXT,
     AT(kernels),
     .neutral = true,
     .value = "scalar|avx2|avx512|neon",
     .usually = "the widest that this processor runs",
     .help = "kernels to compute with; all give the same bits"},
    {.name = "init",
     .kind = LEAT_SETTING_PATH,
     AT(init),
     .value = "RUN|FILE",
     .usually = "new weights from the seed",
     .help = "begin with the weights of a run, an export or a safetensors file"},
    {.name = "export",
     .kind = LEAT_SETTING_OUTPUT,
     AT(export_dir),
     .neutral = true,
     .value = "DIR",
     .usually = "no export",
     .help = "keep the newest checkpoint in DIR as leat export writes it"},
    {.name = NULL},
};

leat_train_options leat_train_options_default(void) {
    return (leat_train_options){
        .units = 1,
        .unit_size = 64,
        .micro_batch = 64,
        .checkpoint_every = 100,
        .checkpoint_minutes = 10,
        .keep = 3,
        .sample_every = 100,
        .threads = leat_cpu_count(),
        .rewind = -1,
    };
}

static void set_defaults(void *options) {
    *(leat_train_options *)options = leat_train_options_default();
}

const leat_setting_table *leat_train_options_table(void) {
    static const leat_setting_table table = {"a training run", leat_train_rows,
                                             sizeof(leat_train_options), set_defaults};
    return &table;
}

const leat_setting_table *leat_task_options(const leat_task *task) {
    return task->options == NULL ? leat_train_options_table() : task->options();
}

void leat_train_options_suit(leat_train_options *options, const char *model) {
    const leat_setting_table *own = leat_train_model_options_table(model);
    leat_train_options of_model, plain = leat_train_options_default();
    if (own == NULL) return;
    own->set_defaults(&of_model);
    for (const leat_setting *row = own->rows; row->name != NULL; row++) {
        char text[LEAT_SETTING_BYTES], there[LEAT_SETTING_BYTES];
        const char *value = leat_setting_get(row, &of_model, text);
        const char *usual = leat_setting_get(row, &plain, there);
        if (value == NULL || (usual != NULL && strcmp(value, usual) == 0)) continue;
        const leat_code code = leat_setting_set(row, options, value, NULL);
        LEAT_ASSERT(code == LEAT_OK); /* defaults are in range */
    }
}

/* ---- Of one run ----------------------------------------------------------------------------- */

leat_code leat_run_options_take(leat_run_options *out, const char *model,
                                const leat_train_options *options, leat_error *err) {
    LEAT_ASSERT(options->settings != &out->settings); /* they are overwritten first */
    *out = (leat_run_options){.run = *options};
    out->run.settings = &out->settings;
    LEAT_TRY(leat_task_find(model, &out->task, err));
    const leat_setting_table *own = out->task->settings();
    if (options->settings == NULL) own->set_defaults(&out->settings);
    else memcpy(&out->settings, options->settings, own->size_bytes);
    return LEAT_OK;
}

leat_code leat_run_options_check(const leat_run_options *options, leat_error *err) {
    LEAT_ASSERT(options->run.settings == &options->settings);
    LEAT_TRY(leat_settings_check(leat_train_options_table(), &options->run, err));
    LEAT_TRY(leat_settings_check(options->task->settings(), &options->settings, err));
    if (options->run.codec_down != LEAT_CODEC_INT8) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "codec-down: weights are f32 or bf16");
}

leat_code leat_run_options_settle(leat_run_options *options, const leat_feed *feed,
                                  leat_error *err) {
    LEAT_ASSERT(options->run.settings == &options->settings);
    LEAT_TRY(leat_feed_settle(feed, &options->run, &options->settings, err));
    return leat_settings_check(options->task->settings(), &options->settings, err);
}

const leat_setting *leat_run_option_find(leat_run_options *options, const char *name, void **of) {
    const leat_setting *row = leat_setting_find(options->task->settings(), name);
    *of = &options->settings;
    if (row != NULL) return row;
    *of = &options->run;
    return leat_setting_find(leat_train_options_table(), name);
}

double leat_run_learning_rate(const leat_run_options *options) {
    const leat_setting *row = leat_setting_find(options->task->settings(), "learning-rate");
    double rate = NAN;
    if (row == NULL) return rate;
    LEAT_ASSERT(row->kind == LEAT_SETTING_REAL);
    memcpy(&rate, options->settings.bytes + row->place, sizeof rate);
    return rate;
}

static bool is_ordered(const leat_task *task, const char *name) {
    for (int i = 0; task->order != NULL && task->order[i] != NULL; i++)
        if (strcmp(task->order[i], name) == 0) return true;
    return false;
}

/* Row number *index of those that the model's order does not name; NULL: there are fewer, and their
 * number was taken off *index. */
static const leat_setting *rest_at(const leat_task *task, const leat_setting_table *table,
                                   int *index) {
    for (const leat_setting *row = table->rows; row->name != NULL; row++)
        if (!is_ordered(task, row->name) && (*index)-- == 0) return row;
    return NULL;
}

bool leat_run_option_at(const leat_run_options *options, int index, leat_run_option *out) {
    const leat_task *task = options->task;
    const leat_setting_table *own = task->settings(), *all = leat_train_options_table();
    LEAT_ASSERT(index >= 0);
    for (int i = 0; task->order != NULL && task->order[i] != NULL; i++) {
        if (index-- > 0) continue;
        out->row = leat_setting_find(own, task->order[i]);
        out->of = &options->settings;
        if (out->row != NULL) return true;
        out->row = leat_setting_find(all, task->order[i]);
        out->of = &options->run;
        LEAT_ASSERT(out->row != NULL); /* the order has only names of options */
        return true;
    }
    out->of = &options->settings;
    out->row = rest_at(task, own, &index);
    if (out->row != NULL) return true;
    out->of = &options->run;
    out->row = rest_at(task, all, &index);
    return out->row != NULL;
}
