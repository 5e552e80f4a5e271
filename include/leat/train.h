/*
 * leat/train.h: a model trained on this machine, and what is done with a run afterwards: samples,
 * export, import. docs/dcgan.md describes one model and the run folder, docs/detect.md two others.
 *
 * The weights after a step are a pure function of the data set, the settings that affect the
 * weights (those not marked neutral in leat_train_options_table and leat_train_settings_table), the
 * seed and the step: not of threads, memory, interruptions, or the machine. A step consists of
 * `units` units of `unit_size` images, or of `unit_size` batches of graphs, each computed from the
 * same weights and added in order; training over many machines computes the same units.
 */
#ifndef LEAT_TRAIN_H
#define LEAT_TRAIN_H

#include "leat/base.h"
#include "leat/nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Options ------------------------------------------------------------------------------ */

/* How numbers are written when they travel between machines; every run rounds them in this way, so
 * that one machine computes what many do. int8: a scale for each 256 values; stochastic rounding,
 * keyed by (run, step, unit, pass), keeps the expected value unbiased. */
typedef enum leat_codec { LEAT_CODEC_F32, LEAT_CODEC_BF16, LEAT_CODEC_INT8 } leat_codec;

/*
 * What the numbers of a run warn of, by the list of its model: for a DCGAN "alike" and "won"
 * (docs/dcgan.md). A warning arises when its condition has held for some numbers in a row, and is
 * over when it has not held for as many.
 */
typedef struct leat_train_warning {
    const char *name;       /* in JSON; NULL: after the last of the list */
    const char *what, *why; /* of the sentence about it, before and after the step */
    int64_t step;           /* after which it arose, the last time; 0: never */
    int64_t over;           /* after which it no longer held; 0: it never arose, or holds */
} leat_train_warning;
#define LEAT_WARNINGS_MAX 4 /* of a model */
/* A sentence about one that arose; returns text. */
#define LEAT_WARNING_BYTES 256
LEAT_API const char *leat_train_warning_text(const leat_train_warning *warning,
                                             char text[LEAT_WARNING_BYTES]);

#define LEAT_STEP_VALUES_MAX 16 /* of a model, in a step */
#define LEAT_MEASURES_MAX 8

/* What a step has computed, and what was measured after it. */
typedef struct leat_train_step {
    int64_t step, steps; /* this one, from 1 (0: before the first); the last one */
    int64_t samples;     /* used so far, by all steps: of a DCGAN images */
    int64_t epoch;       /* of the last sample, from 0 */
    /* What the model computes in a step, such as the parts of its loss, and its numbers, in the
     * order of the list: means over the samples of the step, norms of the mean gradients. NaN
     * before the first step. */
    const leat_value *names;
    double values[LEAT_STEP_VALUES_MAX];
    double seconds; /* of the step */
    /* What is measured of the model after some steps, and its numbers; NaN if it was not after this
     * one. The best checkpoint is the one with the best of the first. Of samples of a DCGAN (see
     * leat_run_sample): "score"; "deviation"; "spread" and "spread_data", the spread between the
     * samples and that between the images of the data set: of each value the standard deviation
     * over the images, then the mean of all, on the scale -1 .. 1. */
    const leat_value *measures;
    double measured[LEAT_MEASURES_MAX];
    char state[65]; /* hash of the state, if it was computed; else "" */
    leat_train_warning warnings[LEAT_WARNINGS_MAX]; /* in the order of the list, with this step */
    int64_t memory_peak_bytes;
} leat_train_step;
/* The value or measurement of that name, such as "loss_g"; NaN: there is none. */
LEAT_API double leat_train_step_value(const leat_train_step *step, const char *name);

/* What every run has, and the settings of its model. The tables below have the range of each value.
 * Texts and settings are not copied, and must outlive the call. */
typedef struct leat_train_options {
    /* What determines the weights. */
    /* Of the model: for "dcgan" a leat_dcgan_settings; for "vgae" and "gat" a leat_setting_memory
     * that its leat_train_settings_table fills. NULL: its defaults. */
    const void *settings;
    int64_t units, unit_size; /* of a step; images of a unit, a multiple of micro_batch, or batches
                                 of graphs */
    int32_t micro_batch;      /* images, or graphs for which a batch has room */
    leat_codec codec_up, codec_down; /* of gradients; of weights (not int8) */
    uint64_t seed;
    /* Where the run ends: one of the two, the other 0. */
    int64_t steps, epochs;
    /* What is kept. */
    int64_t checkpoint_every;  /* steps; 0: only by time */
    double checkpoint_minutes; /* and at the end; 0: only by steps */
    int64_t keep;              /* checkpoints */
    /* Between measurements of the model: steps, or of models that are measured by epochs (every
     * model of graphs) epochs; also at the end. 0: never. */
    int64_t sample_every;
    /* The run ends after so many measurements in a row whose first number is not better than the
     * best before them; then `steps` or `epochs` are the most that it has. 0: it does not. */
    int64_t patience;
    int32_t threads;      /* 1 .. 256 */
    int64_t memory_bytes; /* 0: no limit; otherwise a run that needs more fails */
    const char *kernels;  /* as in leat_dcgan_options */
    bool resume;
    int64_t rewind; /* with resume: from the checkpoint of this step, not the last; -1: none */
    /* Of models of graphs whose setting "curriculum" is scores: the file of these, by which benign
     * graphs are ranked (docs/can-graphs.md); NULL: there is none. */
    const char *scores;
    const char *init; /* a run folder, or a file of weights (leat_run_import) to begin with; NULL */
    const char *export_dir; /* has the newest checkpoint, as leat_run_export writes it; NULL */
    bool export_replace;    /* what export_dir has of other exports or of a user, once */
    /* Called from one thread at a time; `stepped` after each step and its measurements, with step 0
     * for the weights before the first. */
    leat_progress_fn progress;
    void (*stepped)(void *user, const leat_train_step *step);
    void *user; /* of both */
} leat_train_options;

/* The model's defaults, one unit of one micro-batch of 64, f32, seed 0; no end yet; a checkpoint
 * each 100 steps and 10 minutes, of which 3 are kept, samples each 100 steps; all processors. */
LEAT_API leat_train_options leat_train_options_default(void);
/* The options of every run by name: "steps", "units", ...; neutral ones do not affect the weights.
 */
LEAT_API const leat_setting_table *leat_train_options_table(void);
/* The same with the defaults of runs of this model, which says what a unit has: of "vgae" and "gat"
 * batches of graphs. NULL: there is no such model. */
LEAT_API const leat_setting_table *leat_train_model_options_table(const char *model);
/* Sets those options whose defaults are other ones in that table than in leat_train_options_table;
 * of a model that there is not, none. */
LEAT_API void leat_train_options_suit(leat_train_options *options, const char *model);
/* The settings of a model by name, such as leat_dcgan_settings_table for "dcgan"; NULL: there is no
 * such model. No name is in both tables. */
LEAT_API const leat_setting_table *leat_train_settings_table(const char *model);
/* What the data sets of a model have, one or many: "image", "images"; "sample", "samples": there is
 * no such model. */
LEAT_API const char *leat_train_sample_words(const char *model, bool many);
/*
 * Sets options, and `settings` of the model, from a YAML file of "name: value" lines; an unknown
 * name is an error that suggests the nearest one. `settings` is the struct of the model's table
 * (leat_setting_memory holds any), set by the caller, and options->settings then points to it. What
 * a model reads of other programs' files is read as well: for a DCGAN the sections of the
 * config.yaml of GANNs-with-friends (docs/dcgan.md lists them). `notes` receives a line for each
 * value that is interpreted differently or not used, "" if there is none; at most notes_bytes are
 * written. String options point into *owner and are valid until it is destroyed. After a failure
 * options and settings are unchanged.
 */
typedef struct leat_train_config leat_train_config;
LEAT_API LEAT_MUST_CHECK leat_code leat_train_config_load(leat_train_config **owner,
                                                          const char *path, const char *model,
                                                          leat_train_options *options,
                                                          void *settings, char *notes,
                                                          size_t notes_bytes, leat_error *err);
LEAT_API void leat_train_config_destroy(leat_train_config *config);

/* ---- A run -------------------------------------------------------------------------------- */

/* An estimate: what a run would need and do. */
#define LEAT_PARTS_MAX 4
typedef struct leat_train_part {
    const char *name; /* "generator"; NULL: after the last */
    int64_t parameters;
} leat_train_part;
typedef struct leat_train_estimate {
    int64_t parameters;
    leat_train_part parts[LEAT_PARTS_MAX]; /* of the model, if it has some: of a DCGAN G, then D */
    int64_t samples, sample_size;          /* as in leat_run_facts */
    int64_t steps, step_samples;           /* step_samples: of the first step */
    double epochs;
    int64_t memory_bytes; /* at most, with what the process has by now, besides the mapped data;
                             memory_bytes of the options that is as much is enough */
    int64_t checkpoint_bytes;
    int64_t payload_bytes, weights_bytes; /* of a unit's result and of the weights, encoded */
    double samples_per_second;            /* 0 if not measured */
    int64_t mapped_bytes; /* of the data that are mapped; 0: of images, which are not counted */
} leat_train_estimate;
/* Checks the options against the data set and computes the estimate; `measure`: also the speed, for
 * a second or two. Writes nothing. Errors as leat_train. */
LEAT_API LEAT_MUST_CHECK leat_code leat_train_plan(const char *model, const char *data,
                                                   const leat_train_options *options, bool measure,
                                                   leat_train_estimate *estimate, leat_error *err);

/* What the data alone say, to compare the first measure with: of a DCGAN "score_halves", the score
 * of one half of the images against the other half. */
typedef struct leat_train_reference {
    const char *name; /* NULL: the model has no such number */
    double value;     /* NaN: not known */
} leat_train_reference;

typedef struct leat_train_result {
    int64_t first_step, last_step; /* taken by this call: first_step + 1 .. last_step */
    char run[65];                  /* hash of everything that determines the weights */
    char state[65];                /* hash of the state after the last step */
    char checkpoint[4096];         /* path of the last one; "" if none was written */
    char note[1024];               /* what the user should know; "" */
    /* What is measured, as in leat_train_step, after the last step, and before the first one. NaN:
     * not computed. */
    const leat_value *measures;
    double measured[LEAT_MEASURES_MAX], untrained[LEAT_MEASURES_MAX];
    /* The best measurement of the run so far, by the first measure that is known, and the step
     * after which it was taken; NaN and -1: there is none. */
    double best;
    int64_t best_step;
    bool stopped_early; /* by options->patience, after last_step; also if an earlier call did */
    leat_train_reference reference;                 /* as in leat_run_facts */
    leat_train_warning warnings[LEAT_WARNINGS_MAX]; /* of the run so far */
    const char *many;                               /* as in leat_run_facts */
    const char *kept; /* the folder of what it keeps of steps, "samples"; "": it keeps nothing */
    double samples_per_second; /* of training alone */
    int64_t memory_peak_bytes;
    double seconds;
} leat_train_result;

/*
 * Trains `model` on a data set, "dcgan" on one of images, "vgae" and "gat" on a CAN cache
 * (leat_train_options_suit has their defaults), in the folder `run`, which must not exist or be
 * empty, or, with `resume`, hold an interrupted run of the same data and settings. The run folder
 * has config.yaml, training.json, metrics.jsonl, checkpoints, and samples if it keeps some; the
 * report is the caller's.
 *
 * With `rewind`, what the run holds of later steps is moved to a folder in it first, "rewound-STEP"
 * or, if that exists, "rewound-STEP-2", ...: checkpoints, samples, lines of metrics.jsonl. A step
 * without checkpoint is LEAT_ERR_OPTION and names those that have one. A rewind that was
 * interrupted is completed by the next call with `resume`.
 *
 * With export_dir, each checkpoint is also exported. The folder may hold an export of this run, or
 * other files; another export, or a file that is not what config.json says, is LEAT_ERR_EXISTS
 * unless export_replace is set. An export that fails later is in the note and stops nothing.
 *
 * LEAT_ERR_CANCELLED: progress returned false; the state is saved, and `resume` continues to the
 * same bits. LEAT_ERR_INPUT: a loss or gradient is not finite, with term and step; the last
 * checkpoint is kept. LEAT_ERR_BUSY: another process or thread trains in the folder (in different
 * folders, several may at once). LEAT_ERR_EXISTS: it holds something else, or a run and `resume` is
 * not set. LEAT_ERR_OPTION: also if `resume` meets another data set, setting or kernel class than
 * the run began with, by name.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_train(const char *model, const char *data, const char *run,
                                              const leat_train_options *options,
                                              leat_train_result *result, leat_error *err);

/* ---- What a run holds --------------------------------------------------------------------- */

typedef struct leat_run leat_run;

/* Opens a run folder for reading, also while it is trained. */
LEAT_API LEAT_MUST_CHECK leat_code leat_run_open(leat_run **out, const char *path, leat_error *err);
LEAT_API void leat_run_close(leat_run *run);
/* Whether `path` is the folder of a run, finished or not. */
LEAT_API bool leat_run_is_at(const char *path);

typedef struct leat_run_facts {
    const char *path, *model;
    const char *run;        /* hash of everything that determines the weights */
    const char *data;       /* fingerprint of the data set; "": imported weights, no data */
    const char *one, *many; /* samples of its data in words: "image", "images" */
    int64_t samples;        /* of the data set */
    int32_t sample_size;    /* the side of an image; 0: samples have none */
    const char *init; /* hash of the initial weights (--init); "": they are those of the seed */
    const char *kernel_class, *model_hash, *leat_version; /* that started it */
    leat_train_reference reference;
    int checkpoint_count;
} leat_run_facts;
LEAT_API void leat_run_get_facts(const leat_run *run, leat_run_facts *facts);
/* A setting of the run by its name, in leat_train_options_table or leat_train_settings_table; NULL
 * if there is none. */
LEAT_API const char *leat_run_setting(const leat_run *run, const char *name);
/* The settings by number, from 0; false after the last. */
LEAT_API bool leat_run_setting_at(const leat_run *run, int index, const char **name,
                                  const char **value);

typedef struct leat_run_checkpoint {
    int64_t step;
    const char *state; /* hash */
    char path[4096];   /* of the weights, a safetensors file */
    /* What is measured, as in leat_train_step; NaN: not at this step, or a checkpoint does not have
     * it: that of a DCGAN has "score" and "deviation". */
    const leat_value *measures;
    double measured[LEAT_MEASURES_MAX];
    bool best; /* by the first of the measures, among the checkpoints present */
} leat_run_checkpoint;
/* 0 <= index < checkpoint_count, by step. */
LEAT_API bool leat_run_checkpoint_at(const leat_run *run, int index, leat_run_checkpoint *out);

/* Reads every checkpoint and compares its hashes. LEAT_ERR_CORRUPT names the file that is damaged
 * or missing. */
LEAT_API LEAT_MUST_CHECK leat_code leat_run_verify(const leat_run *run, leat_error *err);

/* What a run that many machines train says of who computed it: RUN/ledger.jsonl, in which each line
 * has the hash of the line before it. docs/crowd.md describes it. */
typedef struct leat_run_ledger {
    int64_t lines; /* 0: there is no ledger */
    /* Of the run as it is: each unit of a step counts once, and those that a rewind took back do
     * not. `repeated`: lines of units that have one already, of steps that were taken again because
     * the coordinator died while it committed them. `refused`: all lines. */
    int64_t steps, units, repeated, refused;
    char head[65]; /* SHA-256 of the last line; what comes before cannot be changed without it */
} leat_run_ledger;
/* Reads and checks all of it. LEAT_ERR_CORRUPT names the first line that does not follow from the
 * one before it. */
LEAT_API LEAT_MUST_CHECK leat_code leat_run_ledger_load(const leat_run *run, leat_run_ledger *out,
                                                        leat_error *err);

/* An account, by its name in the database, and what it has computed of a run. */
#define LEAT_RUN_ACCOUNT_BYTES 65
typedef struct leat_run_contributor {
    char account[LEAT_RUN_ACCOUNT_BYTES];
    int64_t units; /* that are in the weights: each unit of a step once, without what a rewind took
                    * back */
    int64_t refused; /* of all its results */
} leat_run_contributor;
#define LEAT_RUN_CONTRIBUTORS_MAX 100
typedef struct leat_run_contributors {
    bool ledger;        /* there is one, also if it cannot be read: leat coordinate trained it */
    int64_t units, own; /* that are in the weights; of these the coordinator has computed */
    /* Of how many steps these are, and which of them is the last. Who computed a step that is not
     * among them is not known: leat train took it, or the lines about it were taken back by a
     * rewind after which the run continued from a later state, that of its database. */
    int64_t steps, last_step;
    int64_t missing_first, missing_last; /* steps before last_step; 0: none is missing */
    int64_t accounts;                    /* how many there are */
    int count;                           /* of them here: those with most units */
    leat_run_contributor shown[LEAT_RUN_CONTRIBUTORS_MAX];
} leat_run_contributors;
/* Who has computed the run, by its ledger; all 0 if there is none and, but for `ledger`, after a
 * failure. The lines are not checked against each other, as leat_run_ledger_load does.
 * LEAT_ERR_CORRUPT names a line that lacks a step, a unit or a name. */
LEAT_API LEAT_MUST_CHECK leat_code leat_run_contributors_load(const leat_run *run,
                                                              leat_run_contributors *out,
                                                              leat_error *err);

/* What a run keeps of the steps that were measured, by step; false after the last. Of a DCGAN:
 * grids of samples. */
typedef struct leat_run_kept {
    int64_t step;
    char path[4096]; /* of a DCGAN a PNG */
} leat_run_kept;
LEAT_API bool leat_run_kept_at(const leat_run *run, int index, leat_run_kept *out);

/*
 * The metrics of a run as curves of at most `most` points (at least 2): if there are more steps, a
 * point is the mean of some that follow each other, and `step` is the last of them. Measurements
 * are points of their own.
 */
typedef struct leat_run_point {
    int64_t step;
    double seconds;                      /* NaN: not known */
    double values[LEAT_STEP_VALUES_MAX]; /* by leat_run_metrics.names; NaN: not known */
} leat_run_point;
typedef struct leat_run_measurement {
    int64_t step;
    double values[LEAT_MEASURES_MAX]; /* by leat_run_metrics.measures; NaN: not known */
} leat_run_measurement;
typedef struct leat_run_metrics {
    int64_t last_step;
    const leat_value *names, *measures; /* as in leat_train_step */
    leat_run_point *points;
    int64_t point_count;
    leat_run_measurement *measurements;
    int64_t measurement_count;
    leat_train_warning warnings[LEAT_WARNINGS_MAX];
    /* The best of all measurements after a step, by number of its measure, the first of equal ones,
     * whether or not its checkpoint is still there; best_step -1: nothing was measured. The state
     * before the first step never has a checkpoint. */
    int best_measure;
    int64_t best_step;
    double best;
} leat_run_metrics;
/* Also while the run is trained: lines that are not complete yet are left out. */
LEAT_API LEAT_MUST_CHECK leat_code leat_run_metrics_load(leat_run_metrics **out,
                                                         const leat_run *run, int64_t most,
                                                         leat_error *err);
LEAT_API void leat_run_metrics_destroy(leat_run_metrics *metrics);

/* ---- Samples ------------------------------------------------------------------------------ */

/* Statistics of G's normalisations are computed from this many fixed latent vectors. */
#define LEAT_SAMPLE_VECTORS 1024
/* Images are almost uniform if the standard deviation of all their values, scaled to -1 .. 1, is
 * below this. */
#define LEAT_SAMPLE_DEVIATION_MIN 0.02

typedef struct leat_run_sample_options {
    int64_t step;         /* of a checkpoint; -1: the last one */
    uint64_t seed;        /* of the latent vectors */
    bool run_seed;        /* instead of `seed` the run's own, as in its grids */
    int64_t first, count; /* images first .. first + count - 1, from 0 */
    int32_t threads;      /* 1 .. 256; the images do not depend on it */
    const char *kernels;  /* as in leat_dcgan_options */
    bool replace;         /* any file, for leat_run_sample_save */
} leat_run_sample_options;
/* The last step, images 0 .. 63 from the run's own seed, all processors. */
LEAT_API leat_run_sample_options leat_run_sample_options_default(void);
/*
 * Images first .. first + count - 1 of a checkpoint: out is [count][size][size][3], 0 .. 255. Image
 * i is a function of the checkpoint, the seed and i. *deviation (may be NULL) receives the standard
 * deviation of all values on the scale -1 .. 1, and *step (may be NULL) the step.
 * LEAT_ERR_UNSUPPORTED: the run is of another model than "dcgan".
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_run_sample(const leat_run *run,
                                                   const leat_run_sample_options *options,
                                                   uint8_t *out, double *deviation, int64_t *step,
                                                   leat_error *err);
/* Writes such images as a PNG, in rows of `columns`: see leat_png_save. LEAT_ERR_INPUT: they are
 * almost uniform (deviation below LEAT_SAMPLE_DEVIATION_MIN), and nothing is written. */
LEAT_API LEAT_MUST_CHECK leat_code leat_run_sample_save(const leat_run *run,
                                                        const leat_run_sample_options *options,
                                                        const char *path, int64_t columns,
                                                        double *deviation, int64_t *step,
                                                        leat_error *err);
/* Writes a PNG of images in rows of `columns`, with borders of two black pixels: see leat_png_save.
 * LEAT_ERR_OPTION: a size is out of range. */
LEAT_API LEAT_MUST_CHECK leat_code leat_image_grid_save(const char *path, const uint8_t *images,
                                                        int64_t count, int32_t size,
                                                        int64_t columns, bool replace,
                                                        leat_error *err);

/* ---- To and from other programs ----------------------------------------------------------- */

/* Writes a checkpoint (-1: the last) as a folder in Hugging Face's layout: files of weights with
 * PyTorch's names, config.json, README.md (a model card with the run's facts) and what the model
 * adds; of a DCGAN generator.safetensors, discriminator.safetensors and samples.png. They are moved
 * there once all are complete. LEAT_ERR_EXISTS: the folder has such a file and `replace` is not
 * set; other files stay as they are. LEAT_ERR_UNSUPPORTED: runs of this model are not exported. */
LEAT_API LEAT_MUST_CHECK leat_code leat_run_export(const char *run, int64_t step, const char *dir,
                                                   bool replace, leat_error *err);
/* Creates a run with one checkpoint, at step 0, from an exported folder, whose config.json says of
 * which model it is, or from weights that leat did not export, whose names and shapes say it:
 * of a DCGAN a safetensors file with PyTorch state-dict names prefixed "G." and "D.", or a folder
 * with the two files of an export; of a VGAE or GAT a file with the state-dict names of graphids.
 *
 * `data` (NULL: none) are those that the weights are for: a cache, without which a detector's
 * weights score nothing; the run then can be evaluated, can watch a bus, and may be trained on.
 * LEAT_ERR_OPTION: an export was trained on others, or the weights are for another number of
 * identifiers. What cannot be checked is in `note` (NULL: not told), else "": weights of another
 * program do not say which data they are of.
 *
 * LEAT_ERR_UNSUPPORTED: exported of a model that this version does not have, or does not import; or
 * weights of no model that it knows. LEAT_ERR_INPUT: shapes differ, tensors are missing, a network
 * has others, or a value is not finite; the message names the tensor. */
#define LEAT_IMPORT_NOTE_BYTES 300
LEAT_API LEAT_MUST_CHECK leat_code leat_run_import(const char *path, const char *data,
                                                   const char *run,
                                                   char note[LEAT_IMPORT_NOTE_BYTES],
                                                   leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
