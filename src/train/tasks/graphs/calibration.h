/*
 * What the numbers of a checkpoint (graph_score.h) are compared with, made of the cache that its
 * run was trained on, and the scores of that cache's validation windows, from which thresholds
 * come. It is kept in the run's folder:
 *
 *     calibration-000000300.safetensors    of the checkpoint of step 300
 *
 * whose metadata name the state of the checkpoint, the cache, and the SHA-256 of all that follows
 * the header, so that one of other weights, or a damaged one, is never used. No test is read.
 *
 * Scores of a VGAE (leat_window_score):
 *
 *   residual: of all nodes and features, the largest |r - mean| / deviation, where r = x less its
 *   reconstruction while the node is hidden, and mean and deviation are those of its identifier and
 *   feature over benign training graphs, with the floor of eval/plain.h. Identifiers that these
 *   graphs lack have the pooled mean and that floor (leat_plain_table_narrow): so an identifier
 *   which should not be there counts, as it would not with the pooled deviation. Chosen on the
 *   validation windows of V40 (AUROC .876 in place of .854) and of two synthetic vehicles (1.000,
 *   .996 in place of .991, .995).
 *
 *   reference: the largest z-score of a graph's three numbers: the mean of r^2; the mean over nodes
 *   of the sum over d of ((mu_d - m_d) / s_d)^2; the mean over nodes and dimensions of the KL
 *   divergence; the last two with no node hidden. m and s are mean and deviation (divided by n - 1,
 *   at least 1e-3) of mu over the nodes of benign validation graphs; z = (number - mean) /
 *   (deviation + 1e-6), with those of the number over these graphs, divided by n - 1 as well. As in
 *   graphids, but that nothing is drawn at random.
 *
 *   difficulty: the mean squared error with no node hidden.
 *
 * A GAT has one score, the probability of an attack, in the place of `residual`.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_CALIBRATION_H
#define LEAT_TRAIN_TASKS_GRAPHS_CALIBRATION_H

#include "leat/train_eval.h"
#include "train/eval/plain.h"
#include "train/tasks/graphs/graph_score.h"

enum { LEAT_WINDOW_SCORES = 3, LEAT_REFERENCE_NUMBERS = 3 };

typedef struct leat_calibration {
    char state[65]; /* hash of the checkpoint's state */
    char cache[65]; /* fingerprint */
    /* Of a VGAE; else NULL and 0. */
    leat_plain_table *residual;             /* of residuals: numbers of identifiers x features */
    int64_t width;                          /* W */
    double *latent_mean, *latent_deviation; /* [W] */
    double mean[LEAT_REFERENCE_NUMBERS], deviation[LEAT_REFERENCE_NUMBERS];
    int64_t train_graphs; /* benign ones that the table is made of */
    int64_t val_benign;   /* benign validation graphs */
    /* Validation, in the order of the cache. */
    int64_t count;
    int32_t *label;                    /* [count] */
    double *score[LEAT_WINDOW_SCORES]; /* [count]; of a GAT the first alone, else NULL */
} leat_calibration;

/* Makes it: reads the splits "train" (of a VGAE) and "val". The scoring's wants are ignored. state:
 * that of the checkpoint. LEAT_ERR_INPUT: no benign training graph, or a number is not finite. */
LEAT_MUST_CHECK leat_code leat_calibration_make(leat_calibration **out,
                                                const leat_graph_scoring *scoring,
                                                const char *state, const leat_scoring_work *with,
                                                leat_error *err);
void leat_calibration_destroy(leat_calibration *calibration);

/* What must be wanted of graphs for a score. */
int leat_calibration_wants(const leat_model_class *class, leat_window_score score);

/* The score of one graph, and what it is blamed on: the node and feature of the largest deviation
 * of a residual, or of a GAT of |gradient x feature|, the first of equal ones; -1: nothing, by
 * difficulty. */
typedef struct leat_scored {
    double score;
    int64_t node, feature;
} leat_scored;
/* Of graph g of a batch, of which that was wanted. LEAT_ERR_INPUT: the score is not finite; of
 * `reference`, also if there were fewer than 2 benign validation graphs. */
LEAT_MUST_CHECK leat_code leat_calibration_score(const leat_calibration *calibration,
                                                 const leat_graph_scores *scores, int64_t g,
                                                 leat_window_score score, leat_scored *out,
                                                 leat_error *err);

/* A threshold from validation windows. Errors as leat_threshold_fit_fpr and _f1. */
LEAT_MUST_CHECK leat_code leat_calibration_threshold(const leat_calibration *calibration,
                                                     leat_window_score score,
                                                     leat_threshold_rule rule, double target_fpr,
                                                     leat_threshold *out, leat_error *err);

/* ---- Kept ----------------------------------------------------------------------------------- */

/* "calibration-000000300.safetensors". */
#define LEAT_CALIBRATION_NAME_BYTES 64
void leat_calibration_name(int64_t step, char name[LEAT_CALIBRATION_NAME_BYTES]);
/* Writes a file, complete or not at all. */
LEAT_MUST_CHECK leat_code leat_calibration_save(const leat_calibration *calibration,
                                                const char *path, leat_error *err);
/* Reads that of a checkpoint with this state and model. LEAT_ERR_NOT_FOUND: there is none, or it is
 * of another state; LEAT_ERR_CORRUPT: it is damaged; LEAT_ERR_UNSUPPORTED: of another version. */
LEAT_MUST_CHECK leat_code leat_calibration_load(leat_calibration **out, const char *path,
                                                const leat_graph_scoring *scoring,
                                                const char *state, leat_error *err);

#endif
