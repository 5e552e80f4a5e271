/* What the commands that train share: the report of a run, and words about it. */
#ifndef LEAT_CLI_TRAIN_TRAIN_H
#define LEAT_CLI_TRAIN_TRAIN_H

#include "frame/cli.h"
#include "leat/train.h"

/* Writes RUN/report.html: curves, samples, settings; also while the run is trained. */
LEAT_MUST_CHECK leat_code leat_train_report(const char *run, leat_error *err);

/* For .words of an option with leat_train_options_table. */
extern const leat_setting leat_train_image_words[];

/* What a run warns of: true if number `kind` arose, with its sentence; and a member "warnings". */
bool leat_train_warned(const leat_train_warning *warnings, int kind, char text[LEAT_WARNING_BYTES]);
void leat_train_json_warnings(leat_json *json, const leat_train_warning *warnings);

/* "lowest" or "highest": which of the scores is the best checkpoint's; and "lower is better:" or
 * "higher is better:", NULL if neither is. Of a value's leat_value.better. */
const char *leat_train_best_word(const leat_value *measure);
const char *leat_train_better_words(int better);

/* The few numbers that stand for a step where there is little space: sums of its values, in the
 * order of the list (see leat_value.sum). False after the last, k from 0. */
typedef struct leat_train_sum {
    const char *words;
    double value;
} leat_train_sum;
bool leat_train_sum_at(const leat_value *names, const double *values, int k, leat_train_sum *out);

/* Reports that a training has failed, and what to do if a disk is full; returns the exit status. */
int leat_train_fail(leat_cli *cli, const leat_error *err);

/* What a training has done. */
void leat_train_write_result(leat_cli *cli, const char *run, const leat_train_result *result);
void leat_train_json_result(leat_json *json, const char *run, const leat_train_result *result);

/* The context of a run's hooks: progress, and a report now and then. */
typedef struct leat_train_view {
    leat_cli *cli;
    const char *run;
    const char *export_dir; /* NULL: none, or the user knows it */
    int64_t reported_ns;    /* when the report was written last */
    int64_t report_ns;      /* how long that took */
} leat_train_view;
/* Of commands whose table has "export". */
#define LEAT_TRAIN_OPTION_REPLACE                                                                  \
    {                                                                                              \
        .own.name = "replace", .own.kind = LEAT_SETTING_FLAG,                                      \
        .own.help = "let --export overwrite the files of another export, or files of those names " \
                    "that leat did not write, once"                                                \
    }
/* As leat_train_options.progress and .stepped; user is a leat_train_view. */
bool leat_train_view_progress(void *user, const leat_progress *progress);
void leat_train_view_stepped(void *user, const leat_train_step *step);
/* After the run, or what was done of it before it was stopped: the report has its last step. */
void leat_train_view_end(leat_train_view *view, leat_code code);

/* A model, and memory for the options of a run of it: what the command line is read into. */
typedef struct leat_train_wanted {
    const char *model;
    const leat_setting_table *table; /* of the options that every run has */
    leat_train_options *options;
    leat_setting_memory settings; /* of the model, options->settings */
    leat_train_config *config;    /* owns texts of the options; leat_train_wanted_free */
} leat_train_wanted;
/* Sets the model's defaults. What there is no model for is refused by who trains it. */
void leat_train_wanted_begin(leat_train_wanted *wanted, const char *model,
                             const leat_setting_table *table, leat_train_options *options);
/* Reads the options: over what is there come the settings of the folder with --resume, then
 * --config, then the command line. Returns 0, or the exit status after reporting an error. */
int leat_train_wanted_read(leat_train_wanted *wanted, leat_cli *cli, const char *run);
void leat_train_wanted_free(leat_train_wanted *wanted);

/* The command `leat train MODEL` of a model (command.c), whose options are those of every run and
 * those of its table; returns the exit status. `own_words`: as leat_train_image_words, or NULL. */
int leat_train_command(leat_cli *cli, const char *model);
#define LEAT_TRAIN_OPTIONS(own_table, own_words)                                                   \
    {.own.name = "output",                                                                         \
     .own.kind = LEAT_SETTING_OUTPUT,                                                              \
     .own.value = "RUN",                                                                           \
     .own.help = "folder of the run; required without --dry-run",                                  \
     .letter = 'o'},                                                                               \
        {.own.name = "config",                                                                     \
         .own.kind = LEAT_SETTING_PATH,                                                            \
         .own.value = "FILE",                                                                      \
         .own.help = "read settings from a YAML file, such as RUN/config.yaml; command-line "      \
                     "options take precedence"},                                                   \
        {.table = leat_train_options_table, .words = (own_words)},                                 \
        {.table = (own_table), .heading = "Options of the model"},                                 \
        {.own.name = "resume",                                                                     \
         .own.kind = LEAT_SETTING_FLAG,                                                            \
         .own.help = "continue an interrupted run, or with more --steps a finished one, from its " \
                     "last checkpoint and with its settings"},                                     \
        {.own.name = "rewind",                                                                     \
         .own.kind = LEAT_SETTING_INT,                                                             \
         .own.max = INT64_C(1000000000000),                                                        \
         .own.value = "STEP",                                                                      \
         .own.help = "with --resume: continue from the checkpoint of this step, and move what is " \
                     "later to RUN/rewound-STEP"},                                                 \
        {.own.name = "dry-run",                                                                    \
         .own.kind = LEAT_SETTING_FLAG,                                                            \
         .own.help = "print parameters, memory, steps and the estimated time, and write nothing"}, \
        LEAT_TRAIN_OPTION_REPLACE, LEAT_CLI_OPTION_JSON

#endif
