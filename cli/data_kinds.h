/*
 * The kinds of data that commands read: one row each, in data_kinds.c. A command looks up the kind
 * of its arguments and calls the functions of that row; the code of a kind is in the kind's own
 * files.
 *
 * A new kind is a value of leat_cli_data, a row, and its functions. Options of its own are rows of
 * the commands' tables with `.of`.
 */
#ifndef LEAT_CLI_DATA_KINDS_H
#define LEAT_CLI_DATA_KINDS_H

#include "command/cli.h"

typedef struct leat_doctor leat_doctor;

typedef struct leat_data_kind {
    const char *name;   /* what its options are for: "CAN caches" */
    const char *one;    /* what a path holds: "a CAN cache" */
    const char *ingest; /* the command that makes it: "leat ingest can" */
    /* Raw inputs of `ingest`, and files inside the data: names, or suffixes if they start with a
     * full stop; each list ends with NULL. Neither is a valid argument of a command. */
    const char *const *inputs;
    const char *const *parts;
    bool alone;                      /* must be the only argument */
    bool (*is_at)(const char *path); /* NULL: anything that no other kind recognises */
    int (*inspect)(leat_cli *cli);   /* these three return the exit status */
    int (*cat)(leat_cli *cli);
    int (*batches)(leat_cli *cli);
    void (*doctor)(leat_doctor *doc, const char *path);
} leat_data_kind;

/* The kind of the data at a path. */
const leat_data_kind *leat_data_kind_at(const char *path);
/* The kind of the command's arguments. Returns 0, or 2 after reporting an error: an argument that
 * is not data by its name, an option for another kind, or a second argument after one that must be
 * the only argument. */
int leat_cli_take_data(leat_cli *cli, const leat_data_kind **kind);

/* The functions of the rows. */
int leat_inspect_probes(leat_cli *cli);
int leat_inspect_can(leat_cli *cli);
int leat_inspect_images(leat_cli *cli);
int leat_inspect_run(leat_cli *cli);
int leat_cat_probes(leat_cli *cli);
int leat_cat_can(leat_cli *cli);
int leat_cat_images(leat_cli *cli);
int leat_cat_run(leat_cli *cli);
int leat_batches_probes(leat_cli *cli);
int leat_batches_can(leat_cli *cli);
int leat_batches_images(leat_cli *cli);
int leat_batches_run(leat_cli *cli);
void leat_doctor_probes(leat_doctor *doc, const char *path);
void leat_doctor_can(leat_doctor *doc, const char *path);
void leat_doctor_images(leat_doctor *doc, const char *path);
void leat_doctor_run(leat_doctor *doc, const char *path);

#endif
