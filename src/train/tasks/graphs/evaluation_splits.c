/* The splits of an evaluation: scored, and then judged. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "train/eval/scores.h"
#include "train/eval/summary.h"
#include "train/tasks/graphs/evaluation.h"

/* Allocated here, and not written by who has it. */
#define OWNED(array) ((void *)(uintptr_t)(array))

void leat_evaluating_split_free(leat_evaluating_split *own, int methods, int detectors) {
    for (int m = 0; m < methods; m++) {
        if (own->summaries != NULL) leat_eval_summary_destroy(own->summaries[m]);
        if (m < detectors && own->scores != NULL) leat_free(OWNED(own->scores[m]));
        if (m < detectors && own->identifier != NULL) leat_free(OWNED(own->identifier[m]));
        if (m < detectors && own->feature != NULL) leat_free(OWNED(own->feature[m]));
        if (own->results == NULL) continue;
        leat_free(OWNED(own->results[m].curve));
        leat_free(OWNED(own->results[m].identifiers));
        leat_free(OWNED(own->results[m].features));
        leat_free(OWNED(own->results[m].shares));
    }
    leat_free(own->scores);
    leat_free(own->identifier);
    leat_free(own->feature);
    leat_free(own->summaries);
    leat_free(own->results);
    leat_free(own->spread);
    leat_split_windows_free(&own->columns);
}

/* ---- Scores --------------------------------------------------------------------------------- */

typedef struct detecting {
    const leat_detector *detector;
    const leat_detected *out;
} detecting;

static leat_code take(void *context, const leat_graph_scores *scores, leat_error *err) {
    const detecting *self = context;
    const leat_graph_micro *batch = scores->batch;
    for (int64_t g = 0; g < batch->graphs; g++) {
        const int64_t at = batch->number[g];
        leat_scored scored;
        LEAT_TRY(leat_calibration_score(self->detector->calibration, scores, g,
                                        self->detector->score, &scored, err));
        self->out->score[at] = scored.score;
        self->out->feature[at] = (int32_t)scored.feature;
        self->out->identifier[at] =
            scored.node < 0 ? -1 : batch->node_id[batch->node_first[g] + scored.node];
    }
    return LEAT_OK;
}

leat_code leat_evaluating_detect(const leat_detector *detector, const leat_scoring_work *with,
                                 const char *split, const leat_detected *out, leat_error *err) {
    detecting self = {detector, out};
    leat_graph_walk walk = {.cache = with->cache,
                            .scoring = &detector->scoring,
                            .threads = with->threads,
                            .ticker = with->ticker,
                            .take = take,
                            .context = &self};
    LEAT_TRY(leat_can_cache_file(with->cache, split, &walk.file, err));
    leat_ticker_stage(with->ticker, "scoring", "graphs", walk.file->shape.graphs);
    const leat_code code = leat_graph_walk_run(&walk, err);
    if (code == LEAT_OK) return code;
    return leat_error_context(err, code, "run \"%.200s\", split %s", detector->run->folder.path,
                              split);
}

static leat_code detect(leat_evaluating *self, int index, int run, leat_error *err) {
    leat_evaluating_split *own = &self->own[index];
    const leat_scoring_work with = {self->cache, self->options.threads, &self->ticker};
    const int64_t count = own->columns.windows.count;
    leat_detected out = {0};
    LEAT_TRY(LEAT_NEW(&out.score, count, err));
    own->scores[run] = out.score;
    LEAT_TRY(LEAT_NEW(&out.identifier, count, err));
    own->identifier[run] = out.identifier;
    LEAT_TRY(LEAT_NEW(&out.feature, count, err));
    own->feature[run] = out.feature;
    return leat_evaluating_detect(self->detectors[run], &with, self->splits[index].name, &out, err);
}

/* Whether a plain score has something to blame: the largest |z|. */
static bool plain_blames(int index) {
    return strcmp(leat_plain_score_name(index), "max_abs_z") == 0;
}

leat_code leat_evaluating_score(leat_evaluating *self, int index, leat_error *err) {
    leat_evaluation_split *split = &self->splits[index];
    leat_evaluating_split *own = &self->own[index];
    const int runs = self->out.run_count, methods = self->out.method_count;
    LEAT_TRY(leat_split_windows_read(&own->columns, self->cache, split->name, self->table,
                                     &self->ticker, err));
    LEAT_TRY(LEAT_NEW(&own->scores, methods, err));
    LEAT_TRY(LEAT_NEW(&own->identifier, methods, err));
    LEAT_TRY(LEAT_NEW(&own->feature, methods, err));
    LEAT_TRY(LEAT_NEW(&own->summaries, methods, err));
    LEAT_TRY(LEAT_NEW(&own->results, methods, err));
    for (int r = 0; r < runs; r++) LEAT_TRY(detect(self, index, r, err));
    for (int i = 0; i < LEAT_PLAIN_SCORES; i++) {
        own->scores[runs + i] = own->columns.plain[i];
        if (!plain_blames(i)) continue;
        own->identifier[runs + i] = own->columns.plain_identifier;
        own->feature[runs + i] = own->columns.plain_feature;
    }
    split->windows = own->columns.windows;
    split->scores = own->scores;
    split->blamed_identifiers = own->identifier;
    split->blamed_features = own->feature;
    split->unlabelled = own->columns.unlabelled;
    split->unknown_windows = own->columns.unknown_windows;
    split->results = own->results;
    return LEAT_OK;
}

/* ---- Results -------------------------------------------------------------------------------- */

static leat_code make_curve(const leat_eval_windows *windows, int64_t most,
                            leat_evaluation_result *out, leat_error *err) {
    leat_eval_sorted *sorted = NULL;
    leat_eval_ranking ranking = {0};
    leat_eval_point *points = NULL;
    LEAT_TRY(leat_eval_sorted_create(&sorted, windows, err));
    const leat_eval_windows *of = leat_eval_sorted_windows(sorted);
    leat_code code = leat_eval_ranking_init(&ranking, of->score, of->label, of->count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&points, most, err);
    out->curve = points;
    if (code == LEAT_OK) out->curve_count = leat_eval_curve(&ranking, most, points);
    leat_eval_ranking_free(&ranking);
    leat_eval_sorted_destroy(sorted);
    return code;
}

static leat_code judge(leat_evaluating *self, int index, int method, leat_error *err) {
    leat_evaluating_split *own = &self->own[index];
    const leat_evaluation_method *of = &self->methods[method];
    const leat_eval_options options = {.threshold = of->threshold.value,
                                       .probability = of->probability,
                                       .bootstrap = self->options.bootstrap};
    leat_eval_windows windows = own->columns.windows;
    windows.score = own->scores[method];
    LEAT_TRY(leat_ticker_step(&self->ticker, 1, err));
    if (own->columns.unlabelled == windows.count) return LEAT_OK;
    LEAT_TRY(leat_eval_summary_create(&own->summaries[method], &windows, &options, err));
    own->results[method].summary = own->summaries[method];
    LEAT_TRY(make_curve(&windows, self->options.curve_points, &own->results[method], err));
    return leat_evaluating_blame(self, index, method, err);
}

/* Of a metric over the runs, which are the first methods: undefined if it is of one of them. */
static void spread_of(const leat_evaluating_split *own, int runs, int64_t group,
                      leat_eval_metric metric, leat_evaluation_spread *out) {
    double mean = 0, square = 0;
    for (int r = 0; r < runs; r++) {
        const leat_eval_number value = own->summaries[r]->groups[group].metrics[metric];
        if (value.undefined != LEAT_EVAL_DEFINED) {
            out->mean[metric] = out->deviation[metric] = value;
            return;
        }
        const double before = value.value - mean;
        mean += before / (r + 1);
        square += before * (value.value - mean);
    }
    out->mean[metric] = leat_eval_defined(mean);
    out->deviation[metric] = leat_eval_defined(sqrt(square / (runs - 1)));
}

static leat_code spread(leat_evaluating *self, int index, leat_error *err) {
    leat_evaluating_split *own = &self->own[index];
    const int runs = self->out.run_count;
    bool same = runs > 1 && own->summaries[0] != NULL;
    for (int r = 1; r < runs; r++)
        same = same && strcmp(self->runs[r].model, self->runs[0].model) == 0;
    if (!same) return LEAT_OK;
    /* groups are those of the windows, whatever the scores */
    const int64_t groups = own->summaries[0]->group_count;
    LEAT_TRY(LEAT_NEW(&own->spread, groups, err));
    for (int64_t g = 0; g < groups; g++) {
        for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++)
            spread_of(own, runs, g, (leat_eval_metric)m, &own->spread[g]);
    }
    self->splits[index].spread = own->spread;
    return LEAT_OK;
}

leat_code leat_evaluating_judge(leat_evaluating *self, int index, leat_error *err) {
    leat_code code = LEAT_OK;
    for (int m = 0; m < self->out.method_count && code == LEAT_OK; m++)
        code = judge(self, index, m, err);
    if (code == LEAT_OK) code = spread(self, index, err);
    if (code == LEAT_OK) return code;
    return leat_error_context(err, code, "split %s", self->splits[index].name);
}
