/*
 * The models that can be trained, in one list: what the room knows of each besides its numbers.
 */
#ifndef LEAT_TRAIN_MODELS_H
#define LEAT_TRAIN_MODELS_H

#include "base/error.h"
#include "leat/base.h"

/* A key of another program's settings file that is read in place of an option. */
typedef struct leat_foreign_key {
    const char *section, *key; /* NULL: after the last */
    const char *option;        /* that it is here; NULL: none */
    const char *note;          /* what becomes of it; NULL: nothing to say */
    const char *only;          /* the value that it must have; NULL: any */
} leat_foreign_key;

typedef struct leat_model_row {
    const char *name;
    const leat_setting_table *(*settings)(void);
    /* The first names, of either table, in a run's files and hash, up to NULL; what is not among
     * them comes after: the model's settings, then the options of every run, each in the order of
     * its table. */
    const char *const *order;
    const leat_foreign_key *foreign;
} leat_model_row;

/* The row of a model; LEAT_ERR_OPTION names those that there are. */
LEAT_MUST_CHECK leat_code leat_model_find(const char *name, const leat_model_row **out,
                                          leat_error *err);

extern const leat_model_row leat_train_dcgan; /* (dcgan.c) */

#endif
