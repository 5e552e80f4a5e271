/* A group of a summary as JSON. Numbers that are undefined are null, never 0, and a member says why
 * for each. */
#include "train/eval/summary.h"

static void put_interval(leat_json *json, const char *name, leat_eval_interval interval) {
    leat_json_key(json, name);
    leat_json_begin_array(json);
    leat_json_double(json, interval.low);
    leat_json_double(json, interval.high);
    leat_json_end_array(json);
}

static void put_number(leat_json *json, const char *name, leat_eval_number number) {
    leat_json_member_double(json, name, number.value);
}

static void put_detections(leat_json *json, const char *name,
                           const leat_eval_detections *detections) {
    leat_json_key(json, name);
    leat_json_begin_object(json);
    leat_json_member_int(json, "count", detections->count);
    leat_json_member_int(json, "detected", detections->detected);
    put_number(json, "median_delay_frames", detections->median_frames);
    put_number(json, "median_delay_ms", detections->median_ms);
    leat_json_end_object(json);
}

static void put_delay(leat_json *json, const leat_eval_delay *delay) {
    leat_json_key(json, "delay");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "attacked", delay->attacked);
    leat_json_member_bool(json, "detected", delay->detected);
    if (delay->attacked) leat_json_member_int(json, "first_injected_frame", delay->first_injected);
    if (delay->detected) {
        leat_json_member_int(json, "first_alarm_window_start", delay->alarm_start);
        leat_json_member_bool(json, "that_window_is_attack", delay->is_attack);
        leat_json_member_int(json, "delay_frames", delay->frames);
        leat_json_member_double(json, "delay_ms", delay->ms);
    }
    leat_json_end_object(json);
}

static void put_reason(leat_json *json, const char *name, leat_eval_reason reason) {
    if (reason != LEAT_EVAL_DEFINED)
        leat_json_member_string(json, name, leat_eval_reason_text(reason));
}

/* By the name of the number, or of the object whose numbers have the same reason: the medians of
 * captures and of episodes, and intervals of the bootstrap. */
static void put_reasons(leat_json *json, const leat_eval_group *group) {
    leat_json_key(json, "undefined");
    leat_json_begin_object(json);
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++)
        put_reason(json, leat_eval_metric_name((leat_eval_metric)m), group->metrics[m].undefined);
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++) {
        /* of an interval whose metric is known: the same for all that lack one */
        if (group->intervals[m].undefined == LEAT_EVAL_FEW_BLOCKS) {
            leat_json_member_string(json, "bootstrap_95",
                                    leat_eval_reason_text(LEAT_EVAL_FEW_BLOCKS));
            break;
        }
    }
    put_reason(json, "captures", group->captures.median_frames.undefined);
    put_reason(json, "episodes", group->episodes.median_frames.undefined);
    put_reason(json, "ece", group->ece.undefined);
    leat_json_end_object(json);
}

void leat_eval_group_json(leat_json *json, const leat_eval_group *group) {
    leat_json_member_string(json, "kind", leat_eval_kind_name(group->kind));
    leat_json_member_int(json, "number", group->number);
    leat_json_member_int(json, "windows", group->windows);
    leat_json_member_int(json, "attack_windows", group->attack_windows);
    leat_json_member_int(json, "true_positives", group->counts.true_positives);
    leat_json_member_int(json, "false_positives", group->counts.false_positives);
    leat_json_member_int(json, "false_negatives", group->counts.false_negatives);
    leat_json_member_int(json, "true_negatives", group->counts.true_negatives);
    leat_json_member_double(json, "bus_seconds", group->time.seconds);
    leat_json_member_double(json, "benign_bus_seconds", group->time.benign_seconds);
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++)
        put_number(json, leat_eval_metric_name((leat_eval_metric)m), group->metrics[m]);
    put_number(json, "ece", group->ece);
    leat_json_key(json, "bootstrap_95");
    leat_json_begin_object(json);
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++)
        put_interval(json, leat_eval_metric_name((leat_eval_metric)m), group->intervals[m]);
    leat_json_end_object(json);
    put_interval(json, "recall_wilson_95", group->recall_wilson);
    put_interval(json, "realised_fpr_wilson_95", group->fpr_wilson);
    put_interval(json, "false_alarms_per_hour_poisson_95", group->per_hour_poisson);
    put_interval(json, "false_alarms_per_benign_hour_poisson_95", group->per_benign_hour_poisson);
    put_detections(json, "captures", &group->captures);
    put_detections(json, "episodes", &group->episodes);
    if (group->kind == LEAT_EVAL_CAPTURE) put_delay(json, &group->delay);
    leat_json_member_double(json, "gap_to_threshold", group->gap_to_threshold);
    put_reasons(json, group);
}
