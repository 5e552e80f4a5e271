/* The options of an evaluation: see leat/train_eval.h. */
#include <stddef.h>

#include "base/thread.h"
#include "train/eval/bootstrap.h"
#include "train/eval/windows.h"
#include "train/tasks/graphs/evaluation.h"

#define AT(field) .place = offsetof(leat_evaluation_options, field)

static const leat_setting rows[] = {
    {.name = "target-fpr",
     .kind = LEAT_SETTING_REAL,
     AT(target_fpr),
     .high = 1,
     .high_open = true,
     .help = "share of benign validation windows that may alarm"},
    {.name = "threshold",
     .kind = LEAT_SETTING_CHOICE,
     AT(threshold),
     .choices = "fpr|f1",
     .help = "what thresholds are fitted to on validation windows: --target-fpr, or the best F1"},
    {.name = "score",
     .kind = LEAT_SETTING_CHOICE,
     AT(score),
     .choices = "residual|reference|difficulty",
     .help = "score of a VGAE's window; a GAT has its probability of an attack"},
    {.name = "split",
     .kind = LEAT_SETTING_TEXT,
     AT(split),
     .value = "NAME",
     .usually = "all tests",
     .help = "split of the cache"},
    {.name = "step",
     .kind = LEAT_SETTING_INT,
     AT(step),
     .choices = "best",
     .word_value = -1,
     .max = INT64_C(1000000000000),
     .help = "step of the checkpoint"},
    {.name = "replicates",
     .kind = LEAT_SETTING_INT,
     AT(bootstrap.replicates),
     .max = LEAT_BOOTSTRAP_REPLICATES_MAX,
     .help = "replicates of the bootstrap, from which intervals come; 0: no intervals"},
    {.name = "block-windows",
     .kind = LEAT_SETTING_INT,
     AT(bootstrap.block_windows),
     .min = 1,
     .max = LEAT_EVAL_WINDOWS_MAX,
     .help = "consecutive windows that the bootstrap draws together"},
    {.name = "bootstrap-seed",
     .kind = LEAT_SETTING_SEED,
     AT(bootstrap.seed),
     .help = "seed of the bootstrap"},
    {.name = "threads",
     .kind = LEAT_SETTING_INT32,
     AT(threads),
     .min = 1,
     .max = LEAT_THREADS_MAX,
     .neutral = true,
     .usually = "one per processor",
     .help = "number of threads; no number depends on it"},
    {.name = "kernels",
     .kind = LEAT_SETTING_TEXT,
     AT(kernels),
     .neutral = true,
     .value = "NAME",
     .usually = "the widest that runs here",
     .help = "variant of the kernels; no number depends on it"},
    {.name = NULL},
};

leat_evaluation_options leat_evaluation_options_default(void) {
    return (leat_evaluation_options){.target_fpr = 0.01,
                                     .step = -1,
                                     .bootstrap = leat_bootstrap_options_default(),
                                     .curve_points = 512,
                                     .threads = leat_cpu_count(),
                                     .keep = true};
}

static void set_defaults(void *options) {
    *(leat_evaluation_options *)options = leat_evaluation_options_default();
}

const leat_setting_table *leat_evaluation_options_table(void) {
    static const leat_setting_table table = {.owner = "an evaluation",
                                             .rows = rows,
                                             .size_bytes = sizeof(leat_evaluation_options),
                                             .set_defaults = set_defaults};
    return &table;
}

leat_code leat_evaluation_check(const leat_evaluation_options *options, leat_error *err) {
    LEAT_TRY(leat_settings_check(leat_evaluation_options_table(), options, err));
    if (options->curve_points >= 8 && options->curve_points <= LEAT_EVAL_WINDOWS_MAX)
        return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "curve_points: %lld; it must be from 8 to %lld",
                     (long long)options->curve_points, (long long)LEAT_EVAL_WINDOWS_MAX);
}
