/*
 * What `leat train MODEL` trains: a model, and the feed that its units are made of. The rows are
 * one list, in tasks.c.
 */
#ifndef LEAT_TRAIN_RUN_TASK_H
#define LEAT_TRAIN_RUN_TASK_H

#include "base/ticker.h"
#include "train/run/export.h"
#include "train/run/folder.h"
#include "train/run/warnings.h"
#include "train/step/trainer.h"

/* What measures the states of a run. */
typedef struct leat_measuring {
    const leat_run_folder *folder;
    const leat_model *model;
    const leat_feed *feed;
    const leat_train_options *options;
    leat_ticker *ticker;
} leat_measuring;

#define LEAT_MEASURE_NOTE_BYTES 400

typedef struct leat_measure_class {
    const char *kept; /* ending of the files that it keeps (leat_run_kept_path); NULL: none */
    /* Bytes that it takes, and that an export takes, with a feed that is planned. */
    int64_t (*bytes)(const leat_train_options *options, const leat_feed *feed);
    /* What `of` points to outlives it. `note`, at first "", is what the user should know. */
    leat_code (*create)(void **self, const leat_measuring *of, char note[LEAT_MEASURE_NOTE_BYTES],
                        leat_error *err);
    void (*destroy)(void *self);
    /* Of the state after step->step: fills step->measured, and writes what a run keeps of it. */
    leat_code (*take)(void *self, const float *parameters, leat_train_step *step,
                      char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err);
    /* After the last step of a run, when its checkpoints are written: makes what those need who use
     * the best one. If it fails, that is noted, and the run is as good as before, as it is if it
     * cannot be kept, which `note` says, with the remedy. NULL: nothing. */
    leat_code (*finish)(void *self, char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err);
    /* What the data alone say, to compare the first measure with: its name, NULL: there is nothing
     * of the kind; and what the run's folder has of it, NaN: it was not measured. `data`: their
     * fingerprint. */
    const char *reference_name;
    leat_code (*reference)(const leat_run_folder *folder, const char *data, double *out,
                           leat_error *err);
    /* The same of one that was created. */
    double (*get_reference)(const void *self);
} leat_measure_class;

/* A key of another program's settings file that is read in place of an option. */
typedef struct leat_foreign_key {
    const char *section, *key; /* NULL: after the last */
    const char *option;        /* that it is here; NULL: none */
    const char *note;          /* what becomes of it; NULL: nothing to say */
    const char *only;          /* the value that it must have; NULL: any */
} leat_foreign_key;

struct leat_task {
    const leat_model_class *model;
    const leat_feed_class *feed; /* of the same kind of batches */
    /* The checkpoint with the best of the one that decides (patience.h), mostly the first, by
     * leat_value.better, is kept as well as the last ones: of equal ones the earliest; none if
     * neither is better. NULL, as an empty list: nothing is measured. */
    const leat_value *measures;
    /* A checkpoint has the first so many of them, by name: at least the first, which decides what
     * is kept. The others are in metrics.jsonl alone. */
    int saved_measures;
    const leat_measure_class *measure; /* NULL: nothing is measured */
    /* It is measured where epochs end, options->sample_every of them apart, and a checkpoint is
     * written there. False: options->sample_every steps apart. */
    bool measures_epochs;
    const leat_warning_rule *warning_rules; /* NULL, as an empty list: nothing is warned of */
    /* Names the parts of the model and counts their parameters; NULL: it has none. */
    void (*parts)(const leat_model *model, leat_train_part parts[LEAT_PARTS_MAX]);
    /* The model's, in a struct that begins with the model's own, which is what the model gets; what
     * follows it is for the feed. One table, and no texts. Where the feed settles some
     * (leat_feed_class.settle), their range has 0, "by the data". */
    const leat_setting_table *(*settings)(void);
    /* The options of every run with the defaults of this model's: leat_train_rows, in a table whose
     * set_defaults sets others. NULL: leat_train_options_table. */
    const leat_setting_table *(*options)(void);
    /* The first names, of either table, in a run's files and hash, up to NULL; what is not among
     * them comes after: the model's settings, then the options of every run, each in the order of
     * its table. NULL: none is named. */
    const char *const *order;
    const leat_foreign_key *foreign;  /* NULL: none is read */
    const leat_export_class *exports; /* NULL: its runs are neither exported nor imported */
};

/* All of them; the last one is NULL. */
extern const leat_task *const leat_tasks[];

/* A step of a run of it, whose numbers have their names; NULL: a step without numbers. */
leat_train_step leat_task_step(const leat_task *task);

/* The table that `options` says. */
const leat_setting_table *leat_task_options(const leat_task *task);

/* Before anything is measured: all are NaN. */
void leat_measured_none(double measured[LEAT_MEASURES_MAX]);

/* The ending of the files that it keeps of steps; NULL: none. */
const char *leat_task_kept(const leat_task *task);

/* The task of a model's name. LEAT_ERR_OPTION: there is none. */
LEAT_MUST_CHECK leat_code leat_task_find(const char *name, const leat_task **out, leat_error *err);

#endif
