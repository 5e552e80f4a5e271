/* An evaluation while it is made, shared by the files evaluation*.c: see leat/train_eval.h. */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_EVALUATION_H
#define LEAT_TRAIN_TASKS_GRAPHS_EVALUATION_H

#include "train/tasks/graphs/detector.h"
#include "train/tasks/graphs/split_windows.h"

#define LEAT_EVALUATION_RUNS_MAX 64

/* What was allocated for a split beside its columns. */
typedef struct leat_evaluating_split {
    leat_split_windows columns;
    const double **scores;           /* [methods]: of detectors their own, then the columns' */
    const int32_t **identifier;      /* [methods] */
    const int32_t **feature;         /* [methods] */
    leat_eval_summary **summaries;   /* [methods] */
    leat_evaluation_result *results; /* [methods] */
    leat_evaluation_spread *spread;
} leat_evaluating_split;

typedef struct leat_evaluating {
    leat_evaluation out; /* what the caller has */
    leat_evaluation_options options;
    leat_can_cache *cache;
    leat_can_facts facts;
    leat_plain_table *table;
    leat_detector **detectors; /* [runs] */
    leat_evaluated_run *runs;
    leat_evaluation_method *methods;
    leat_evaluation_split *splits;
    leat_evaluating_split *own; /* [splits] */
    int own_count;
    leat_ticker ticker;
    char note[LEAT_EVALUATION_NOTE_BYTES];
} leat_evaluating;

LEAT_MUST_CHECK leat_code leat_evaluation_check(const leat_evaluation_options *options,
                                                leat_error *err);
/* A sentence more to a note, as far as it has room. */
void leat_evaluation_note(char note[LEAT_EVALUATION_NOTE_BYTES], const char *format, ...)
    LEAT_PRINTF(2, 3);
/* Of a run that is opened: what its checkpoint is, and whether it is of another cache than that
 * with this fingerprint. */
void leat_evaluation_note_run(char note[LEAT_EVALUATION_NOTE_BYTES], const leat_detector *detector,
                              const char *fingerprint);

/* Scores all windows of a split by all methods; reads no label for it. */
LEAT_MUST_CHECK leat_code leat_evaluating_score(leat_evaluating *self, int index, leat_error *err);
/* The scores of a detector, and what it blames; arrays of as many as the split has graphs. */
typedef struct leat_detected {
    double *score;
    int32_t *identifier, *feature; /* numbers; -1: nothing */
} leat_detected;
LEAT_MUST_CHECK leat_code leat_evaluating_detect(const leat_detector *detector,
                                                 const leat_scoring_work *with, const char *split,
                                                 const leat_detected *out, leat_error *err);
/* Then what the scores are worth. */
LEAT_MUST_CHECK leat_code leat_evaluating_judge(leat_evaluating *self, int index, leat_error *err);
/* What a method blames in a split that is scored, and how often rightly. */
LEAT_MUST_CHECK leat_code leat_evaluating_blame(leat_evaluating *self, int index, int method,
                                                leat_error *err);
void leat_evaluating_split_free(leat_evaluating_split *own, int methods, int detectors);

#endif
