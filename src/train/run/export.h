/*
 * A run as a folder that other programs read, and what a session needs to write one. What is a
 * model's own in it is a row of functions, leat_export_class; the rest is every model's: files of
 * weights, config.json, the frame of the model card, hashes, marks, and who may replace what.
 */
#ifndef LEAT_TRAIN_RUN_EXPORT_H
#define LEAT_TRAIN_RUN_EXPORT_H

#include "base/json.h"
#include "format/safetensors/safetensors.h"
#include "train/run/checkpoint.h"
#include "train/run/train_options.h"

/* A file of weights, "pt" for PyTorch. */
typedef struct leat_export_file {
    const char *name;   /* "weights.safetensors"; NULL: after the last */
    const char *prefix; /* of its tensors, "G.", which are in it without; "": all tensors */
    /* config.json has the name of the file as this member, and its SHA-256 as MEMBER_sha256 of
     * "training". */
    const char *member;
} leat_export_file;

/* What is exported. */
typedef struct leat_exporting {
    const leat_run *run;
    const leat_checkpoint *checkpoint;
    const leat_model *model;
    const float *parameters;
    const float *running; /* as they are exported */
} leat_exporting;

/* A file that is not made of tensors. */
typedef struct leat_export_extra {
    const char *name; /* "samples.png"; NULL: there is none */
    leat_mark mark;   /* by which leat knows that it wrote it */
    leat_code (*save)(const leat_exporting *of, const char *path, leat_error *err);
} leat_export_extra;

/* What the exports of a model have. All functions may be NULL: then there is no such thing. */
typedef struct leat_export_class {
    const leat_export_file *files; /* one at least */
    leat_export_extra extra;
    /* Replaces running statistics of the state by what other programs should compute with. */
    leat_code (*running)(const leat_model *model, const float *parameters, float *running,
                         leat_error *err);
    /* Members of config.json, after "model_type". */
    void (*config)(const leat_exporting *of, leat_json *json);
    /* The model card: from its tags, after that of the model's name, to the rows of its table that
     * are of this model; then what comes after the table. NULL: settings of the run, no more. */
    leat_code (*card)(const leat_exporting *of, leat_buf *text, leat_error *err);
    leat_code (*card_end)(const leat_exporting *of, leat_buf *text, leat_error *err);
    /* Fills the model's settings, which are the defaults, from the shapes in a file of weights: the
     * first file of a folder, or with `whole` all of them in one. LEAT_ERR_NOT_FOUND: they are not
     * of this model. NULL: only exports are imported, whose config.json has the settings. */
    leat_code (*guess)(const leat_safetensors *tensors, const char *path, bool whole,
                       void *settings, leat_error *err);
    /* For the user: what the data of such weights have to be, which nothing can check; or NULL. */
    const char *unsaid;
    bool always_guesses; /* also of an export, whose shapes say all that is needed */
    /* Sets those settings that data would decide (leat_feed_class.settle), where `guess` has been
     * asked and there are no data. NULL: there are none. */
    void (*settle)(void *settings);
    /* Whether such settings fit the data, which are open. LEAT_ERR_OPTION: weights of this shape
     * are not for them. NULL: weights fit any. */
    leat_code (*check)(const void *settings, const leat_feed *feed, leat_error *err);
    /* Tensors that a file may have besides those of the model, by the beginnings of their names, up
     * to NULL; others are refused. NULL: all may be there. */
    const char *const *extras;
    const char *third_party; /* for messages, what `guess` knows; NULL as it is */
    /* For messages, or NULL: what may be wrong where shapes differ, and what has to be there where
     * something is missing ("both networks"). */
    const char *misfit, *needed;
} leat_export_class;

/* Members of config.json that an import reads, too. Statistics are means over micro-batches, so
 * that an import without theirs has slightly different ones. */
#define LEAT_EXPORT_MODEL "model_type"
#define LEAT_EXPORT_MICRO_BATCH "micro_batch"
#define LEAT_EXPORT_TRAINING "training"
#define LEAT_EXPORT_DATA "data" /* of "training": the fingerprint */
#define LEAT_EXPORT_CONFIG "config.json"

/* Whether exports of a run (its hash) may be written to a folder. LEAT_ERR_EXISTS: it has such
 * files, which are not of an export of this run, and `replace` is not set; or it is not a folder.
 * LEAT_ERR_UNSUPPORTED: leat does not export this model. */
LEAT_MUST_CHECK leat_code leat_export_check(const leat_task *task, const char *dir,
                                            const char run[65], bool replace, leat_error *err);
/* Exports the state of a trainer, of which the folder `run` has a checkpoint; what `dir` has of an
 * earlier export is replaced. Errors as above. */
LEAT_MUST_CHECK leat_code leat_export_state(const char *run, leat_trainer *trainer, const char *dir,
                                            bool replace, leat_error *err);

/* config.json of a folder; *root (json_decref) is NULL if there is none. One that is not JSON, or
 * is too large, is LEAT_ERR_CORRUPT, LEAT_ERR_INPUT or LEAT_ERR_LIMIT, or, with `tolerant`, none.
 */
LEAT_MUST_CHECK leat_code leat_export_load_config(const char *dir, bool tolerant, json_t **root,
                                                  leat_error *err);
/* The model that it names, if leat wrote it; NULL: it is somebody else's. */
const char *leat_export_config_model(const json_t *root);

#endif
