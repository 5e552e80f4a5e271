/* What the commands that train share: the report of a run, and words about it. */
#ifndef LEAT_CLI_TRAIN_TRAIN_H
#define LEAT_CLI_TRAIN_TRAIN_H

#include "facts.h"
#include "leat/train.h"

/* A run as it is shown: by leat inspect, and on its page. `ledger` and `verified` are set by those
 * who ask for them. */
enum { LEAT_RUN_POINTS = 400 }; /* of its metrics, at most */
typedef struct leat_run_shown {
    leat_run *run;
    leat_run_facts facts;
    leat_run_metrics *metrics;
    leat_run_ledger ledger;
    bool verified; /* and no problem was found */
} leat_run_shown;
/* Close it also after a failure. */
LEAT_MUST_CHECK leat_code leat_run_shown_open(leat_run_shown *self, const char *path,
                                              leat_error *err);
void leat_run_shown_close(leat_run_shown *self);
/* Facts of leat inspect on a page, by their keys: see leat_facts_cards. */
void leat_run_shown_cards(leat_textbuf *out, const leat_run_shown *self, const char *keys);

/* Writes RUN/report.html: curves, samples, settings; also while the run is trained. */
LEAT_MUST_CHECK leat_code leat_train_report(const char *run, leat_error *err);

/* For .words of an option with leat_train_options_table. */
extern const leat_setting leat_train_image_words[], leat_train_graph_words[];

/* The settings of models of graphs, for .table of an option: leat_train_settings_table. */
const leat_setting_table *leat_train_vgae_settings(void);
const leat_setting_table *leat_train_gat_settings(void);

/* What a run warns of: true if number `kind` arose, with its sentence; and as the items of a list.
 */
bool leat_train_warned(const leat_train_warning *warnings, int kind, char text[LEAT_WARNING_BYTES]);
typedef struct leat_train_warned_item {
    leat_train_warning warning;
    char text[LEAT_WARNING_BYTES];
} leat_train_warned_item;
bool leat_train_warning_at(const leat_train_warning *warnings, int index, void *item);
extern const leat_fact leat_train_warning_facts[];

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

/* What a training has done: facts of a leat_train_result, and a layout of them and of "run", the
 * folder. */
extern const leat_fact leat_train_result_facts[];
#define LEAT_TRAIN_RESULT_LAYOUT                                                                   \
    "[steps   all {all_done} steps were already done\n]"                                           \
    "[steps   {first_taken} to {last_step}, {images_per_second} {samples}/s\n]"                    \
    "[score   {score}[; untrained {score_untrained}][; half of the images against the other "      \
    "half: {score_halves}][; deviation of the samples {deviation}]\n"                              \
    "[spread  {spread} between the samples[, {spread_data} between the images of the data set]\n]" \
    "]"                                                                                            \
    "{other_measures}{warnings}"                                                                   \
    "state   {state}\n"                                                                            \
    "run     {run}: report.html, [{kept}/, ]checkpoints/\n"                                        \
    "time    {seconds}, peak memory {memory_peak_bytes}\n"
/* What several tables say. */
#define LEAT_TRAIN_RUN_HELP "Folder of the run, as given on the command line."
#define LEAT_TRAIN_HALVES_HELP                                                                     \
    "Score of one half of the data set against the other half, for comparison; absent: not "       \
    "measured."
#define LEAT_TRAIN_DEVIATION_HELP                                                                  \
    "Standard deviation of all values of the generated images, on the scale -1 to 1; absent: not " \
    "measured."

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

/* Before a training: what the ingest of a CAN cache found doubtful is as doubtful of what is
 * trained on it. Nothing of other data; what cannot be opened is for the training to refuse. */
void leat_train_repeat_warning(leat_cli *cli, const char *data);

/* The command `leat train MODEL` of a model (command.c), whose options are those of every run, in
 * its leat_train_model_options_table, and those of its own table; returns the exit status.
 * `own_words`: as leat_train_image_words, or NULL. */
int leat_train_command(leat_cli *cli, const char *model);
/* The same of a model of graphs, whose options begin with LEAT_TRAIN_OPTION_CURRICULUM: in place of
 * the setting of that name, also a file of scores. */
int leat_train_graphs_command(leat_cli *cli, const char *model);
#define LEAT_TRAIN_OPTION_CURRICULUM                                                               \
    {                                                                                              \
        .own.name = "curriculum", .own.kind = LEAT_SETTING_PATH, .own.value = "none|random|FILE",  \
        .own.usually = "none",                                                                     \
        .own.help = "rank benign graphs, at random or by the scores in FILE (leat eval --score "   \
                    "difficulty --scores FILE), lowest first, and begin with the first tier of "   \
                    "them"                                                                         \
    }
#define LEAT_TRAIN_OPTIONS_OF(run_table, own_table, own_words)                                     \
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
        {.table = (run_table), .words = (own_words)},                                              \
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
/* Of a model whose runs have the defaults of all. */
#define LEAT_TRAIN_OPTIONS(own_table, own_words)                                                   \
    LEAT_TRAIN_OPTIONS_OF(leat_train_options_table, own_table, own_words)

#endif
