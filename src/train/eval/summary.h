/*
 * The summary of one split: what a detector, or a plain score, is worth on all of its windows, and
 * on those of each attack type, vehicle and capture.
 */
#ifndef LEAT_TRAIN_EVAL_SUMMARY_H
#define LEAT_TRAIN_EVAL_SUMMARY_H

#include "train/eval/alarms.h"
#include "train/eval/bootstrap.h"

typedef struct leat_eval_options {
    double threshold; /* a window alarms if its score is higher; finite */
    bool probability; /* scores are probabilities of an attack: ECE exists */
    leat_bootstrap_options bootstrap;
} leat_eval_options;

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

#define LEAT_EVAL_GROUPS_MAX 65536
/*
 * All columns of `windows`, in any order; n log n of their number, times the groups that a window
 * is in, beside the replicates. LEAT_ERR_INPUT as leat_eval_sorted_create, and for a split without
 * a labelled window; LEAT_ERR_OPTION: threshold, bootstrap; LEAT_ERR_LIMIT: groups.
 */
LEAT_MUST_CHECK leat_code leat_eval_summary_create(leat_eval_summary **out,
                                                   const leat_eval_windows *windows,
                                                   const leat_eval_options *options,
                                                   leat_error *err);
void leat_eval_summary_destroy(leat_eval_summary *summary);
/* The most heap that it takes, beside the groups, with what sorting takes in libc; INT64_MAX: more
 * than can be counted. */
int64_t leat_eval_summary_bytes(int64_t windows, const leat_eval_options *options);

/* As members of the object that is open: "windows", "auroc", ..., intervals as [low, high], what is
 * undefined as null, and its reason in "undefined". */
void leat_eval_group_json(leat_json *json, const leat_eval_group *group);
/* "all", "attack", "vehicle", "capture". */
const char *leat_eval_kind_name(leat_eval_kind kind);

#endif
