/*
 * leat/train_eval.h: what a detector of CAN windows is worth: its scores on a cache that it was not
 * trained on, with thresholds from validation data, beside those of plain tables of the same cache.
 * docs/evaluate.md says what each number is.
 *
 * Labels of a test decide nothing: they are read when everything that they are compared with, the
 * checkpoint, the calibration, the thresholds and the scores, is fixed. All numbers are the same on
 * every machine and for any number of threads.
 */
#ifndef LEAT_TRAIN_EVAL_H
#define LEAT_TRAIN_EVAL_H

#include "leat/base.h"
#include "leat/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Numbers ------------------------------------------------------------------------------ */

/* Why a number is undefined. A number is never 0 for want of windows. */
typedef enum leat_eval_reason {
    LEAT_EVAL_DEFINED,
    LEAT_EVAL_NO_WINDOW,
    LEAT_EVAL_NO_ATTACK,
    LEAT_EVAL_NO_BENIGN,
    LEAT_EVAL_NO_ALARM,
    LEAT_EVAL_NO_TIME,
    LEAT_EVAL_NO_PROBABILITY,
    LEAT_EVAL_NO_DETECTION,
    LEAT_EVAL_FEW_BLOCKS,
    LEAT_EVAL_NO_INJECTED,
    LEAT_EVAL_NO_BLAME,
} leat_eval_reason;
/* "no window with an attack"; for LEAT_EVAL_DEFINED "". */
LEAT_API const char *leat_eval_reason_text(leat_eval_reason reason);

typedef struct leat_eval_number {
    double value; /* NaN if it is undefined */
    leat_eval_reason undefined;
} leat_eval_number;

/* A confidence interval at 95 %. */
typedef struct leat_eval_interval {
    double low, high; /* NaN if it is undefined */
    leat_eval_reason undefined;
} leat_eval_interval;

/* Name in C, name in JSON. */
#define LEAT_EVAL_METRICS(X)                                                                       \
    X(LEAT_EVAL_AUROC, "auroc")                                                                    \
    X(LEAT_EVAL_AVERAGE_PRECISION, "average_precision")                                            \
    X(LEAT_EVAL_PRECISION, "precision")                                                            \
    X(LEAT_EVAL_RECALL, "recall")                                                                  \
    X(LEAT_EVAL_F1, "f1")                                                                          \
    X(LEAT_EVAL_F1_BENIGN, "f1_benign")                                                            \
    X(LEAT_EVAL_F1_MACRO, "f1_macro")                                                              \
    X(LEAT_EVAL_MCC, "mcc")                                                                        \
    X(LEAT_EVAL_REALISED_FPR, "realised_fpr")                                                      \
    X(LEAT_EVAL_PER_HOUR, "false_alarms_per_hour")                                                 \
    X(LEAT_EVAL_PER_BENIGN_HOUR, "false_alarms_per_benign_hour")
#define LEAT_EVAL_METRIC_ENUM(name, text) name,
typedef enum leat_eval_metric {
    LEAT_EVAL_METRICS(LEAT_EVAL_METRIC_ENUM) LEAT_EVAL_METRIC_COUNT
} leat_eval_metric;
#undef LEAT_EVAL_METRIC_ENUM
LEAT_API const char *leat_eval_metric_name(leat_eval_metric metric);

/* ---- Windows ------------------------------------------------------------------------------ */

/* Windows that were scored, as columns; some may be NULL, as a comment beside them says. */
typedef struct leat_eval_windows {
    int64_t count;
    int64_t window, stride;      /* frames; at least 1 */
    const double *score;         /* [count] higher: more suspicious */
    const int32_t *label;        /* [count] 1: has an injected frame, 0: benign, -1: not known */
    const int32_t *attack;       /* [count] code of the attack type; read where label is 1 */
    const int32_t *vehicle;      /* [count] 0: not known */
    const int32_t *capture;      /* [count] */
    const int64_t *start;        /* [count] first frame, by its number in the capture */
    const int32_t *attack_first; /* [count] of the frames in the window; read where label is 1 */
    const double *seconds;       /* [count] of bus time */
    /* [count] from the first injected frame to the end of the window; read where label is 1 */
    const double *injected_seconds;
} leat_eval_windows;

/* ---- Thresholds --------------------------------------------------------------------------- */

typedef enum leat_threshold_rule {
    LEAT_THRESHOLD_FPR, /* the share of benign windows that alarm */
    LEAT_THRESHOLD_F1,  /* the best F1 */
} leat_threshold_rule;
/* "fpr", "f1". */
LEAT_API const char *leat_threshold_rule_name(leat_threshold_rule rule);

/* With what it was fitted on, because no number of a report means anything without. */
typedef struct leat_threshold {
    double value; /* a window alarms if its score is higher */
    leat_threshold_rule rule;
    const char *split;       /* whose windows it was fitted on */
    int64_t benign, attacks; /* windows it was fitted on; the rule FPR reads only the benign ones */
    double target_fpr;       /* of the rule FPR; else NaN */
    int64_t allowed;         /* floor(target_fpr benign); 0 of the rule F1 */
    int64_t exceeding;       /* benign windows of that split with a higher score */
    double f1;               /* there; NaN: no attack */
} leat_threshold;
/* As members of the object that is open: "threshold", "rule", "fitted_on": {"split",
 * "benign_windows", "attack_windows"}, ...; "f1" only if it is known. */
LEAT_API void leat_threshold_json(leat_json *json, const leat_threshold *threshold);
/* Whether the rule is a share of benign windows that is less than one of those that it was fitted
 * on: then the threshold is the highest of their scores, and does not keep that share. */
LEAT_API bool leat_threshold_is_weak(const leat_threshold *threshold);
#define LEAT_THRESHOLD_NOTE_BYTES 256
/* What the user should know of it, with the remedy; "" if it is not weak. Returns `text`. */
LEAT_API const char *leat_threshold_note(const leat_threshold *threshold,
                                         char text[LEAT_THRESHOLD_NOTE_BYTES]);

/* ---- The summary of one split --------------------------------------------------------------- */

typedef struct leat_eval_counts {
    int64_t true_positives, false_positives, false_negatives, true_negatives;
} leat_eval_counts;

/* Windows with score >= `score` alarm: so many of each class. Both curves come from it: ROC is
 * (false / benign, true / attacks), PR (true / attacks, true / (true + false)). */
typedef struct leat_eval_point {
    double score; /* of the first point infinity */
    int64_t true_positives, false_positives;
} leat_eval_point;

/* Bus time, in seconds: the sum over windows, in their order. */
typedef struct leat_eval_time {
    double seconds, benign_seconds;
} leat_eval_time;

/*
 * From the first injected frame of a capture (the smallest start + attack_first) to the end of the
 * first alarming window that ends at that frame or later. Such a window need not have an injected
 * frame: is_attack says whether it has. The time is that of the frames to the end of the window
 * with the first injected frame, and then the mean time of a frame in the windows up to the
 * alarming one.
 */
typedef struct leat_eval_delay {
    bool attacked, detected;
    int64_t first_injected; /* frame of the capture; -1: not attacked */
    int64_t alarm_start;    /* of the alarming window; -1: none */
    bool is_attack;
    int64_t frames; /* -1: not detected */
    double ms;      /* NaN: not detected */
} leat_eval_delay;

/*
 * Captures with an attack; or episodes: runs of windows with an attack in which each begins at most
 * `stride` frames after the one before. An episode is detected if one of its windows alarms, and
 * its delay is from its first injected frame to the end of the first of them. Medians are over
 * those detected; of an even number the mean of the two in the middle.
 */
typedef struct leat_eval_detections {
    int64_t count, detected;
    leat_eval_number median_frames, median_ms;
} leat_eval_detections;

/*
 * Which windows a part of a split has: those of one vehicle or capture; or those of an attack type,
 * beside all benign ones, since neither a rate of false alarms nor AUROC exists without.
 */
typedef enum leat_eval_kind {
    LEAT_EVAL_ALL,
    LEAT_EVAL_ATTACK,
    LEAT_EVAL_VEHICLE,
    LEAT_EVAL_CAPTURE,
} leat_eval_kind;
/* "all", "attack", "vehicle", "capture". */
LEAT_API const char *leat_eval_kind_name(leat_eval_kind kind);

typedef struct leat_eval_group {
    leat_eval_kind kind;
    int32_t number; /* code of the attack type, vehicle, capture; 0 of all */
    int64_t windows, attack_windows;
    leat_eval_counts counts;
    leat_eval_time time;
    leat_eval_number metrics[LEAT_EVAL_METRIC_COUNT];
    leat_eval_interval intervals[LEAT_EVAL_METRIC_COUNT]; /* of the bootstrap */
    leat_eval_interval recall_wilson, fpr_wilson;
    leat_eval_interval per_hour_poisson, per_benign_hour_poisson; /* of false alarms */
    leat_eval_number ece;
    leat_eval_detections captures, episodes;
    leat_eval_delay delay; /* of a capture; of other kinds zeros */
    /* The smallest |score - threshold| / |threshold|: arithmetic that differs by less changes no
     * alarm. The threshold 0: the distance itself. */
    double gap_to_threshold;
} leat_eval_group;

/* Groups in this order: all windows, attack types, vehicles, captures, each by number. Vehicle 0 is
 * a group if another vehicle is there. */
typedef struct leat_eval_summary {
    int64_t unlabelled; /* windows without a label: in no group */
    int64_t group_count;
    leat_eval_group *groups;
} leat_eval_summary;

/* Intervals by resampling blocks of consecutive windows. */
typedef struct leat_bootstrap_options {
    uint64_t seed;
    int64_t replicates;    /* 0: no intervals; at most LEAT_BOOTSTRAP_REPLICATES_MAX */
    int64_t block_windows; /* at least 1 */
} leat_bootstrap_options;
#define LEAT_BOOTSTRAP_REPLICATES_MAX 100000
/* Fewer blocks than these give no interval. */
#define LEAT_BOOTSTRAP_BLOCKS_MIN 10
/* Seed 0, 1000 replicates, blocks of 20 windows: at 100 frames each and 1,500 frames a second
 * more than a second of bus, longer than most runs of injected frames. */
LEAT_API leat_bootstrap_options leat_bootstrap_options_default(void);

/* ---- An evaluation ------------------------------------------------------------------------ */

/*
 * The score of a VGAE's window. A GAT's is its probability of an attack, and the first is the only
 * one that it takes.
 *
 * - residual: every node is hidden from the net once, and what remains of its features beside their
 *   reconstruction is compared with tables of each identifier and feature, made of benign training
 *   graphs. The largest deviation, in standard deviations, is the score.
 * - reference: that of graphids (docs/README.md), without its random numbers: the largest z-score
 *   of the error of the reconstruction, the distance of the latent vectors and the KL divergence,
 *   each compared with benign validation graphs.
 * - difficulty: the mean squared error with no node hidden, by which graphids orders a curriculum.
 */
typedef enum leat_window_score {
    LEAT_WINDOW_SCORE_RESIDUAL,
    LEAT_WINDOW_SCORE_REFERENCE,
    LEAT_WINDOW_SCORE_DIFFICULTY,
} leat_window_score;

typedef struct leat_evaluation_options {
    leat_threshold_rule threshold;
    double target_fpr; /* of the rule FPR: 0 <= target_fpr < 1 */
    leat_window_score score;
    const char *split; /* NULL: all tests of the cache */
    int64_t step;      /* of a checkpoint; -1: the best by what was measured on validation data, the
                        * last if nothing was */
    leat_bootstrap_options bootstrap;
    int64_t curve_points; /* of a curve, at most; at least 8 */
    int32_t threads;      /* 1 .. 256 */
    const char *kernels;  /* as in leat_dcgan_options */
    bool keep;            /* the calibration is kept in the folder of its run for the next time */
    leat_progress_fn progress;
    void *user;
} leat_evaluation_options;
/* 1 % of benign validation windows, residual, all tests, the best checkpoint, the bootstrap's
 * defaults, 512 points, all processors, kept. */
LEAT_API leat_evaluation_options leat_evaluation_options_default(void);
/* The options by name: "target-fpr", "threshold", "score", "split", "step", "replicates",
 * "block-windows", "bootstrap-seed", "threads", "kernels". */
LEAT_API const leat_setting_table *leat_evaluation_options_table(void);

/* A run that is evaluated, by one of its checkpoints. */
typedef struct leat_evaluated_run {
    const char *path, *model, *run; /* as in leat_run_facts */
    /* Fingerprint of the cache that it was trained on, from whose validation windows its threshold
     * comes, also if another one is evaluated. */
    const char *data;
    int64_t step;
    const char *state;   /* hash of the checkpoint's state */
    bool best;           /* of the run by `measure`; false if the files of a better one are lost */
    const char *measure; /* name of what was measured on validation data; NULL: nothing was */
    double measured;
    /* What its scores are computed from: made of so many graphs of these splits; 0 of a GAT. */
    int64_t train_graphs, val_graphs;
    bool reused; /* it was found in the run's folder, and not made again */
} leat_evaluated_run;

/* Detectors, in the order of the runs, and then the plain scores: each judged in the same way. */
typedef struct leat_evaluation_method {
    const char *name;  /* of a detector its model, "vgae"; of a plain score "mean_abs_z", ... */
    const char *score; /* "residual", "reference", "difficulty", "probability"; "plain" */
    int run;           /* index; -1: a plain score */
    bool probability;  /* scores are probabilities of an attack */
    leat_threshold threshold;
} leat_evaluation_method;

/* How often something was blamed: has the largest share in the score of a window that alarms. */
typedef struct leat_blame_count {
    int32_t number;         /* of the identifier, 0: unknown ones; or of the feature */
    const char *text;       /* the identifier, or the feature's name */
    int64_t windows;        /* that alarm */
    int64_t attack_windows; /* of those */
} leat_blame_count;
/*
 * Whether the injected identifier was blamed in detected windows with an attack: that of the
 * window's first injected frame, which the cache says. Identifiers that were injected later in the
 * window do not count. All unknown identifiers have one number: where the injected one is unknown
 * and the window has others, it cannot be told which was blamed, so the window is not `known`.
 */
typedef struct leat_blame_share {
    int32_t attack;         /* code of the attack type; -1: of all */
    int64_t detected;       /* windows with an attack that alarm, and blame an identifier */
    int64_t known;          /* of those, the first injected identifier can be told */
    int64_t right;          /* of those, it is the one that is blamed */
    leat_eval_number share; /* right / known */
    leat_eval_interval wilson;
} leat_blame_share;

/* A method on a split. */
typedef struct leat_evaluation_result {
    const leat_eval_summary *summary; /* NULL: the split has no window with a label */
    const leat_eval_point *curve;     /* of all windows */
    int64_t curve_count;
    /* Of detectors, and of the largest |z|; other plain scores blame nothing: 0, and NULL. */
    const leat_blame_count *identifiers, *features; /* most windows first, then by number */
    int64_t identifier_count, feature_count;
    const leat_blame_share *shares; /* of all, then of each attack type */
    int64_t share_count;
} leat_evaluation_result;

/* Mean and standard deviation (divided by n - 1) over runs of the same model, of a group. */
typedef struct leat_evaluation_spread {
    leat_eval_number mean[LEAT_EVAL_METRIC_COUNT], deviation[LEAT_EVAL_METRIC_COUNT];
} leat_evaluation_spread;

typedef struct leat_evaluation_split {
    const char *name;
    /* In the order of the cache: window g is graph g of the split. Its scores are NULL: those of
     * method m are scores[m]. */
    leat_eval_windows windows;
    const double *const *scores; /* [method_count][windows.count] */
    /* [method_count]: of each window number of identifier and feature that is blamed, -1: none;
     * NULL of a method that blames nothing. */
    const int32_t *const *blamed_identifiers, *const *blamed_features;
    int64_t unlabelled;                    /* windows without a label */
    int64_t unknown_windows;               /* windows of unknown identifiers alone */
    const leat_evaluation_result *results; /* [method_count] */
    /* [group_count of the summaries]: with at least two runs, all of one model; else NULL. */
    const leat_evaluation_spread *spread;
} leat_evaluation_split;

/* Texts and arrays are its own. */
typedef struct leat_evaluation {
    const char *cache;       /* path of its folder */
    const char *fingerprint; /* of the cache */
    const char *dataset;
    leat_window_score score;
    int run_count;
    const leat_evaluated_run *runs;
    int method_count;
    const leat_evaluation_method *methods;
    int split_count;
    const leat_evaluation_split *splits;
    const char *note; /* what the user should know, below LEAT_EVALUATION_NOTE_BYTES; "" */
} leat_evaluation;
#define LEAT_EVALUATION_NOTE_BYTES 1024

/*
 * Evaluates 1 to 64 runs on a cache: on every split of it that is a test, or the one that the
 * options name. A split without a window, without a label, or of unknown identifiers alone is no
 * error: the note says so. Of another cache than the one that a run was trained on, whose windows
 * mean the same, detectors use the calibration that the run has kept.
 *
 * LEAT_ERR_UNSUPPORTED: a run is of a model that is no detector. LEAT_ERR_OPTION: options out of
 * range; no such split, or checkpoint; a score that the model does not have; the same run twice;
 * a cache that the run was not trained for: another window, vocabulary or scaler, or another of the
 * settings that decide what a graph is, by name. LEAT_ERR_INPUT: no test, no benign training or
 * validation window, no calibration, weights or a score that are not finite. LEAT_ERR_NOT_FOUND: a
 * run without a checkpoint. LEAT_ERR_CANCELLED: progress returned false. Memory: of each window of
 * the splits 80 bytes and 16 for each method; while a split is summarised up to 500 a window more;
 * and while graphs are scored a model for each thread, with batches of 512 nodes.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_evaluation_create(leat_evaluation **out,
                                                          const char *const *runs, int run_count,
                                                          const char *cache,
                                                          const leat_evaluation_options *options,
                                                          leat_error *err);
LEAT_API void leat_evaluation_destroy(leat_evaluation *evaluation);

/* Where scores are written. */
typedef struct leat_scores_output {
    const char *path;
    bool replace; /* a file that is there */
    /* Set: what the user should know of the run and its calibration, as in leat_evaluation; "" also
     * after a failure. */
    char note[LEAT_EVALUATION_NOTE_BYTES];
} leat_scores_output;
/*
 * Writes the scores of all windows of a split (options->split; NULL: "train") by one run as JSON,
 * in the order of the cache, for a curriculum (docs/can-graphs.md): {"format": "leat.scores",
 * "version": 1, "fingerprint", "split", "model", "score_name", "run", "step", "state",
 * "capture": [...], "window_start": [...], "score": [...]}. "score_name" is as in
 * leat_evaluation_method.score.
 * Errors as leat_evaluation_create; LEAT_ERR_EXISTS: the file exists and `replace` is not set.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_evaluation_save_scores(
    const char *run, const char *cache, const leat_evaluation_options *options,
    leat_scores_output *out, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
