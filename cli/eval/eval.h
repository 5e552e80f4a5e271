/* Shared by the files of `leat eval`: an evaluation in three forms, whose numbers are facts. */
#ifndef LEAT_CLI_EVAL_EVAL_H
#define LEAT_CLI_EVAL_EVAL_H

#include "facts.h"
#include "leat/load_can.h"
#include "leat/train_eval.h"
#include "page/page.h"

typedef struct leat_eval_report {
    const leat_evaluation *of;
    const leat_can_cache *cache; /* for the names of captures */
    leat_can_facts facts;        /* of the cache */
    bool intervals;              /* those of the bootstrap were asked for */
    int64_t block_windows;       /* of its blocks */
    bool parts;                  /* on the terminal also attack types, vehicles and captures */
} leat_eval_report;

/* ---- A row of a table --------------------------------------------------------------------- */

/* As facts see it: numbers are copies, so that each has its place. */
enum { LEAT_EVAL_CELL = 32 };
typedef struct leat_eval_item {
    const leat_eval_report *report;
    const leat_evaluation_split *split;
    int method;                       /* -1: a mean or a deviation over runs */
    char name[LEAT_PLAIN_BYTES];      /* "vgae", "mean |z|"; of a part "dos", "DoS-1.csv" */
    char mark[2];                     /* "*": the highest AUROC of the table */
    char auroc_range[LEAT_EVAL_CELL]; /* "0.953-0.978"; "-": undefined; "": nobody asked */
    char per_hour[LEAT_EVAL_CELL];    /* of false alarms, benign bus: "1,700-12,222" */
    char found[LEAT_EVAL_CELL];       /* episodes: "52 of 53"; "-": none */
    char fitted_on[LEAT_EVAL_CELL];   /* the threshold: "val"; "val of another cache" */
    leat_threshold threshold;
    leat_eval_group group;
} leat_eval_item;
/* Of a method on all windows of a split. */
void leat_eval_item_make(leat_eval_item *item, const leat_eval_report *report,
                         const leat_evaluation_split *split, int method);
/* Of a part: 1 <= index < group_count of its summary; false after the last. */
bool leat_eval_item_part(leat_eval_item *item, const leat_eval_item *whole, int64_t index);
/* Over the runs, of all windows: their mean, and their deviation. False: there are no several. */
bool leat_eval_item_spread(leat_eval_item *item, const leat_eval_report *report,
                           const leat_evaluation_split *split, bool deviation);

/* "mean |z|"; of a detector its model, with the number of the run if others are of that model. */
const char *leat_eval_method_words(char text[LEAT_PLAIN_BYTES], const leat_evaluation *of,
                                   int method);
const char *leat_eval_part_words(char text[LEAT_PLAIN_BYTES], const leat_eval_report *report,
                                 const leat_eval_group *group);
/* "gat: calibration error 0.031"; "" if the score of a row is not a probability. */
enum { LEAT_EVAL_CALIBRATION = LEAT_PLAIN_BYTES + 64 };
const char *leat_eval_calibration_words(char text[LEAT_EVAL_CALIBRATION],
                                        const leat_eval_item *item);
/* NULL: the split has no window with a label. */
const leat_eval_group *leat_eval_all(const leat_evaluation_split *split, int method);

/* ---- Thresholds --------------------------------------------------------------------------- */

/* Rows whose thresholds were fitted on the same windows. Those of a run are of the cache that it
 * was trained on, those of plain tables of the one that is evaluated. */
typedef struct leat_eval_fit {
    char who[LEAT_PLAIN_BYTES];      /* "vgae, gat, plain tables"; "": all rows */
    const leat_threshold *threshold; /* of the first of them */
    const char *data;                /* fingerprint of another cache; NULL: it is this one */
} leat_eval_fit;
/* By number, from 0; false after the last. */
bool leat_eval_fit_at(const leat_eval_report *report, int index, leat_eval_fit *out);
/* Fingerprint of the cache whose validation windows the threshold of a method was fitted on; NULL:
 * it is the one that is evaluated. */
const char *leat_eval_fit_data(const leat_evaluation *of, int method);
/* "283 benign windows of val of the cache that it was trained on (f2e0313283c03db0...)" */
enum { LEAT_EVAL_FIT = 256 };
const char *leat_eval_fit_words(char text[LEAT_EVAL_FIT], const leat_eval_fit *fit);
/* What the user should know of these thresholds: leat_threshold_note; "" if nothing. */
enum { LEAT_EVAL_FIT_NOTE = LEAT_THRESHOLD_NOTE_BYTES + LEAT_PLAIN_BYTES };
const char *leat_eval_fit_note(char text[LEAT_EVAL_FIT_NOTE], const leat_eval_fit *fit);

/* ---- Which is better ---------------------------------------------------------------------- */

/* A detector, or the mean of several runs, and the best plain table on a split, by a number that
 * needs no threshold: AUROC, or average precision. */
typedef struct leat_eval_duel {
    leat_eval_metric metric;
    char detector[LEAT_PLAIN_BYTES], plain[LEAT_PLAIN_BYTES];
    double detector_value, plain_value;
    bool overlap; /* the intervals of both; false without */
    bool apart;   /* both have intervals, which do not overlap */
} leat_eval_duel;
/* By number, from 0, a detector each; false after the last, and where the metric is undefined. */
bool leat_eval_duel_at(const leat_eval_report *report, const leat_evaluation_split *split,
                       leat_eval_metric metric, int index, leat_eval_duel *out);
/* What is said of a split, by number, from 0: of each detector the duel by AUROC, and that by
 * average precision where a plain table is better by that alone. */
bool leat_eval_verdict_at(const leat_eval_report *report, const leat_evaluation_split *split,
                          int index, leat_eval_duel *out);
bool leat_eval_duel_is_lost(const leat_eval_duel *duel);
/* "test_01: a plain table is better by AUROC: mean |z| 0.981, vgae 0.975 (intervals overlap)"; in
 * the other case that none is, and the best of them. */
enum { LEAT_EVAL_VERDICT = 3 * LEAT_PLAIN_BYTES };
void leat_eval_duel_words(char text[LEAT_EVAL_VERDICT], const leat_evaluation_split *split,
                          const leat_eval_duel *duel);

/* ---- Its three forms ---------------------------------------------------------------------- */

/* The document is leat_facts_eval. */
extern const leat_fact leat_eval_item_facts[];
/* By number, from 0; false after the last. */
typedef struct leat_eval_missing {
    const char *key, *reason;
} leat_eval_missing;
bool leat_eval_missing_at(const void *item, int index, void *out);

/* How many blocks of this many windows with a label a split has; a capture begins a block. */
int64_t leat_eval_blocks(const leat_evaluation_split *split, int64_t block_windows);

/* Why numbers of a table are dashes. A reason is a line for all rows that lack the same numbers for
 * it. */
enum { LEAT_EVAL_REASONS = 16 };
typedef struct leat_eval_dashes {
    char what[LEAT_EVAL_REASONS][LEAT_PLAIN_BYTES]; /* "AUROC, AP: no window with an attack" */
    char who[LEAT_EVAL_REASONS][LEAT_PLAIN_BYTES];  /* the rows by name */
    int rows[LEAT_EVAL_REASONS];                    /* how many they are */
    int count, all;                                 /* lines; rows of the table */
} leat_eval_dashes;
void leat_eval_dashes_add(leat_eval_dashes *of, const leat_eval_item *item);

void leat_eval_terminal(leat_cli *cli, const leat_eval_report *report);
void leat_eval_page(leat_page *page, const void *report);
/* What of a split is drawn: all of it; the scores of its captures over time. */
enum { LEAT_EVAL_CURVE = 512 /* points */ };
void leat_eval_figures(leat_page *page, const leat_eval_report *report,
                       const leat_evaluation_split *split);
void leat_eval_courses(leat_page *page, const leat_eval_report *report,
                       const leat_evaluation_split *split);

#endif
