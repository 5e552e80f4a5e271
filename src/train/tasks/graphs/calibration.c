/* See calibration.h: made, and what scores are by it. Everything is summed in the order of the
 * graphs, so that threads change nothing. */
#include "train/tasks/graphs/calibration.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "format/can_cache/can_cache.h"
#include "nn/models/gat/model.h"
#include "train/eval/threshold.h"

enum { F = LEAT_MICRO_NODE_FEATURES, RECON = 0, DISTANCE, DIVERGENCE };

#define LATENT_FLOOR 1e-3
#define NUMBER_FLOOR 1e-6

void leat_calibration_destroy(leat_calibration *calibration) {
    if (calibration == NULL) return;
    leat_plain_table_destroy(calibration->residual);
    leat_free(calibration->latent_mean);
    leat_free(calibration->latent_deviation);
    leat_free(calibration->label);
    for (int i = 0; i < LEAT_WINDOW_SCORES; i++) leat_free(calibration->score[i]);
    leat_free(calibration);
}

int leat_calibration_wants(const leat_model_class *class, leat_window_score score) {
    if (class == &leat_gat_class) return LEAT_GRAPH_WANT_BLAME;
    switch (score) {
    case LEAT_WINDOW_SCORE_RESIDUAL: return LEAT_GRAPH_WANT_RESIDUAL;
    case LEAT_WINDOW_SCORE_REFERENCE: return LEAT_GRAPH_WANT_RESIDUAL | LEAT_GRAPH_WANT_OPEN;
    default: return LEAT_GRAPH_WANT_OPEN;
    }
}

/* ---- The numbers of a graph ----------------------------------------------------------------- */

static int64_t nodes_of(const leat_graph_micro *batch, int64_t g) {
    return batch->node_first[g + 1] - batch->node_first[g];
}

static leat_plain_graph residual_of(const leat_graph_scores *scores, int64_t g) {
    const int64_t first = scores->batch->node_first[g];
    return (leat_plain_graph){.node_count = nodes_of(scores->batch, g),
                              .node_id = scores->batch->node_id + first,
                              .x = scores->residual + first * F};
}

static double square_of(const leat_graph_scores *scores, int64_t g) {
    const leat_plain_graph of = residual_of(scores, g);
    double sum = 0;
    for (int64_t i = 0; i < of.node_count * F; i++) sum += (double)of.x[i] * (double)of.x[i];
    return sum / (double)(of.node_count * F);
}

static double distance_of(const leat_calibration *self, const leat_graph_scores *scores,
                          int64_t g) {
    const int64_t width = scores->width, nodes = nodes_of(scores->batch, g);
    const float *mu = scores->latent + scores->batch->node_first[g] * width;
    double sum = 0;
    for (int64_t i = 0; i < nodes * width; i++) {
        const int64_t d = i % width;
        const double z = ((double)mu[i] - self->latent_mean[d]) / self->latent_deviation[d];
        sum += z * z;
    }
    return sum / (double)nodes;
}

static double divergence_of(const leat_graph_scores *scores, int64_t g) {
    const int64_t nodes = nodes_of(scores->batch, g);
    const double *each = scores->divergence + scores->batch->node_first[g];
    double sum = 0;
    for (int64_t i = 0; i < nodes; i++) sum += each[i];
    return sum / (double)(nodes * scores->width);
}

static double reference_of(const leat_calibration *self, const double number[]) {
    double most = -(double)INFINITY;
    for (int i = 0; i < LEAT_REFERENCE_NUMBERS; i++) {
        const double z = (number[i] - self->mean[i]) / (self->deviation[i] + NUMBER_FLOOR);
        if (!(z <= most)) most = z; /* NaN as well */
    }
    return most;
}

static leat_code score_residual(const leat_calibration *self, const leat_graph_scores *scores,
                                int64_t g, leat_scored *out, leat_error *err) {
    const leat_plain_window window = {.graph = residual_of(scores, g),
                                      .number = scores->batch->number[g]};
    leat_plain_scores plain;
    LEAT_TRY(leat_plain_score(self->residual, &window, &plain, err));
    *out = (leat_scored){plain.max_abs_z, plain.max_node, plain.max_feature};
    return LEAT_OK;
}

static leat_scored score_gat(const leat_graph_scores *scores, int64_t g) {
    const int64_t first = scores->batch->node_first[g] * F;
    leat_scored out = {(double)scores->probability[g], -1, -1};
    if (scores->blame == NULL) return out;
    float most = -1;
    for (int64_t i = 0; i < nodes_of(scores->batch, g) * F; i++) {
        if (!(scores->blame[first + i] > most)) continue;
        most = scores->blame[first + i];
        out.node = i / F;
        out.feature = i % F;
    }
    return out;
}

static leat_code check_finite(const leat_graph_scores *scores, int64_t g, double score,
                              leat_error *err) {
    if (isfinite(score)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "graph %lld: its score %g is not finite; train again, or use another "
                     "checkpoint (--step)",
                     (long long)scores->batch->number[g], score);
}

static leat_code score_reference(const leat_calibration *self, const leat_graph_scores *scores,
                                 int64_t g, leat_scored *out, leat_error *err) {
    if (self->val_benign < 2)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "--score reference compares windows with benign validation windows, of "
                         "which the cache has %lld; use --score residual",
                         (long long)self->val_benign);
    const double number[LEAT_REFERENCE_NUMBERS] = {[RECON] = square_of(scores, g),
                                                   [DISTANCE] = distance_of(self, scores, g),
                                                   [DIVERGENCE] = divergence_of(scores, g)};
    LEAT_TRY(score_residual(self, scores, g, out, err)); /* for whom is to blame */
    out->score = reference_of(self, number);
    return LEAT_OK;
}

leat_code leat_calibration_score(const leat_calibration *calibration,
                                 const leat_graph_scores *scores, int64_t g,
                                 leat_window_score score, leat_scored *out, leat_error *err) {
    leat_scored scored = {NAN, -1, -1};
    *out = scored;
    if (scores->probability != NULL) scored = score_gat(scores, g);
    else if (score == LEAT_WINDOW_SCORE_RESIDUAL)
        LEAT_TRY(score_residual(calibration, scores, g, &scored, err));
    else if (score == LEAT_WINDOW_SCORE_REFERENCE)
        LEAT_TRY(score_reference(calibration, scores, g, &scored, err));
    else scored.score = scores->difficulty[g];
    LEAT_TRY(check_finite(scores, g, scored.score, err));
    *out = scored;
    return LEAT_OK;
}

leat_code leat_calibration_threshold(const leat_calibration *calibration, leat_window_score score,
                                     leat_threshold_rule rule, double target_fpr,
                                     leat_threshold *out, leat_error *err) {
    const double *of = calibration->score[score];
    const leat_eval_windows windows = {
        .count = calibration->count, .score = of, .label = calibration->label};
    LEAT_ASSERT(of != NULL);
    if (rule == LEAT_THRESHOLD_F1)
        return leat_threshold_fit_f1(out, &windows, LEAT_CAN_SPLIT_VAL, err);
    return leat_threshold_fit_fpr(out, &windows, LEAT_CAN_SPLIT_VAL, target_fpr, err);
}

/* ---- Made ----------------------------------------------------------------------------------- */

typedef struct making {
    leat_calibration *of;
    leat_graph_walk walk;
    leat_plain *residual;
    double *square; /* [W] sums of squared differences, while the latent vectors are counted */
    double *number[LEAT_REFERENCE_NUMBERS]; /* [count] of validation graphs */
    int64_t nodes, taken;
} making;

static leat_code take_train(void *context, const leat_graph_scores *scores, leat_error *err) {
    making *self = context;
    for (int64_t g = 0; g < scores->batch->graphs; g++) {
        const leat_plain_graph graph = residual_of(scores, g);
        LEAT_TRY(leat_plain_add(self->residual, &graph, scores->batch->number[g], err));
        self->of->train_graphs++;
    }
    return LEAT_OK;
}

/* Mean and sum of squared differences, node by node (Welford 1962). */
static void add_latent(making *self, const leat_graph_scores *scores, int64_t g) {
    const int64_t width = scores->width;
    const float *mu = scores->latent + scores->batch->node_first[g] * width;
    for (int64_t i = 0; i < nodes_of(scores->batch, g); i++) {
        self->nodes++;
        for (int64_t d = 0; d < width; d++) {
            const double value = (double)mu[i * width + d];
            const double before = value - self->of->latent_mean[d];
            self->of->latent_mean[d] += before / (double)self->nodes;
            self->square[d] += before * (value - self->of->latent_mean[d]);
        }
    }
}

/* All of a validation graph but its distance, which needs those of all others. */
static leat_code take_val(void *context, const leat_graph_scores *scores, leat_error *err) {
    making *self = context;
    leat_calibration *of = self->of;
    for (int64_t g = 0; g < scores->batch->graphs; g++) {
        const int64_t at = scores->batch->number[g];
        leat_scored scored;
        LEAT_TRY(leat_calibration_score(of, scores, g, LEAT_WINDOW_SCORE_RESIDUAL, &scored, err));
        of->score[LEAT_WINDOW_SCORE_RESIDUAL][at] = scored.score;
        if (scores->probability != NULL) continue;
        of->score[LEAT_WINDOW_SCORE_DIFFICULTY][at] = scores->difficulty[g];
        self->number[RECON][at] = square_of(scores, g);
        self->number[DIVERGENCE][at] = divergence_of(scores, g);
        if (of->label[at] == 0) add_latent(self, scores, g);
    }
    return LEAT_OK;
}

static leat_code take_distance(void *context, const leat_graph_scores *scores, leat_error *err) {
    making *self = context;
    (void)err;
    for (int64_t g = 0; g < scores->batch->graphs; g++)
        self->number[DISTANCE][scores->batch->number[g]] = distance_of(self->of, scores, g);
    return LEAT_OK;
}

static leat_code walk(making *self, const char *split, leat_graph_filter graphs, int wants,
                      leat_code (*take)(void *, const leat_graph_scores *, leat_error *),
                      leat_error *err) {
    leat_graph_scoring scoring = *self->walk.scoring;
    leat_graph_walk of = self->walk;
    scoring.wants = wants;
    of.scoring = &scoring;
    of.graphs = graphs;
    of.take = take;
    of.context = self;
    LEAT_TRY(leat_can_cache_file(of.cache, split, &of.file, err));
    leat_ticker_stage(of.ticker, "calibrating", "graphs", leat_graph_walk_count(&of));
    const leat_code code = leat_graph_walk_run(&of, err);
    return code == LEAT_OK ? code : leat_error_context(err, code, "split %s", split);
}

static leat_code make_table(making *self, leat_error *err) {
    leat_calibration *of = self->of;
    const int64_t ids = leat_graph_vocabulary(self->walk.scoring);
    LEAT_TRY(leat_plain_create(&self->residual, ids, F, err));
    LEAT_TRY(walk(self, LEAT_CAN_SPLIT_TRAIN, LEAT_FILTER_BENIGN, LEAT_GRAPH_WANT_RESIDUAL,
                  take_train, err));
    LEAT_TRY(leat_plain_finish(self->residual, &of->residual, err));
    leat_plain_table_narrow(of->residual);
    return LEAT_OK;
}

static leat_code take_labels(making *self, leat_error *err) {
    leat_calibration *of = self->of;
    const leat_graph_file *file = NULL;
    LEAT_TRY(leat_can_cache_file(self->walk.cache, LEAT_CAN_SPLIT_VAL, &file, err));
    of->count = file->shape.graphs;
    LEAT_TRY(LEAT_NEW(&of->label, of->count, err));
    for (int64_t g = 0; g < of->count; g++) {
        of->label[g] = file->y[g];
        of->val_benign += file->y[g] == 0;
    }
    return LEAT_NEW(&of->score[LEAT_WINDOW_SCORE_RESIDUAL], of->count, err);
}

/* Mean and deviation (n - 1) of a number over benign validation graphs. */
static void fit_number(making *self, int number) {
    leat_calibration *of = self->of;
    double mean = 0, square = 0, count = 0;
    for (int64_t g = 0; g < of->count; g++) {
        if (of->label[g] != 0) continue;
        const double before = self->number[number][g] - mean;
        mean += before / ++count;
        square += before * (self->number[number][g] - mean);
    }
    of->mean[number] = mean;
    of->deviation[number] = count > 1 ? sqrt(square / (count - 1)) : 0;
}

static leat_code fit_reference(making *self, leat_error *err) {
    leat_calibration *of = self->of;
    for (int64_t d = 0; d < of->width; d++) {
        const double own = self->nodes > 1 ? sqrt(self->square[d] / (double)(self->nodes - 1)) : 0;
        of->latent_deviation[d] = own > LATENT_FLOOR ? own : LATENT_FLOOR;
    }
    LEAT_TRY(
        walk(self, LEAT_CAN_SPLIT_VAL, LEAT_FILTER_ALL, LEAT_GRAPH_WANT_OPEN, take_distance, err));
    for (int i = 0; i < LEAT_REFERENCE_NUMBERS; i++) fit_number(self, i);
    for (int64_t g = 0; g < of->count; g++) {
        const double number[] = {self->number[RECON][g], self->number[DISTANCE][g],
                                 self->number[DIVERGENCE][g]};
        of->score[LEAT_WINDOW_SCORE_REFERENCE][g] = reference_of(of, number);
    }
    return LEAT_OK;
}

static leat_code make_vgae(making *self, leat_error *err) {
    leat_calibration *of = self->of;
    const int wants = LEAT_GRAPH_WANT_RESIDUAL | LEAT_GRAPH_WANT_OPEN;
    of->width = leat_graph_latent(self->walk.scoring);
    LEAT_TRY(LEAT_NEW(&of->latent_mean, of->width, err));
    LEAT_TRY(LEAT_NEW(&of->latent_deviation, of->width, err));
    LEAT_TRY(LEAT_NEW(&self->square, of->width, err));
    for (int i = 0; i < LEAT_REFERENCE_NUMBERS; i++)
        LEAT_TRY(LEAT_NEW(&self->number[i], of->count, err));
    LEAT_TRY(LEAT_NEW(&of->score[LEAT_WINDOW_SCORE_REFERENCE], of->count, err));
    LEAT_TRY(LEAT_NEW(&of->score[LEAT_WINDOW_SCORE_DIFFICULTY], of->count, err));
    LEAT_TRY(make_table(self, err));
    LEAT_TRY(walk(self, LEAT_CAN_SPLIT_VAL, LEAT_FILTER_ALL, wants, take_val, err));
    return fit_reference(self, err);
}

static leat_code make(making *self, leat_error *err) {
    LEAT_TRY(take_labels(self, err));
    if (self->walk.scoring->class != &leat_gat_class) return make_vgae(self, err);
    return walk(self, LEAT_CAN_SPLIT_VAL, LEAT_FILTER_ALL, 0, take_val, err);
}

leat_code leat_calibration_make(leat_calibration **out, const leat_graph_scoring *scoring,
                                const char *state, const leat_scoring_work *with, leat_error *err) {
    making self = {.walk = {.cache = with->cache,
                            .scoring = scoring,
                            .threads = with->threads,
                            .ticker = with->ticker}};
    leat_can_facts facts;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self.of, 1, err));
    leat_can_cache_get_facts(with->cache, &facts);
    snprintf(self.of->state, sizeof self.of->state, "%s", state);
    snprintf(self.of->cache, sizeof self.of->cache, "%s", facts.fingerprint);
    const leat_code code = make(&self, err);
    leat_plain_destroy(self.residual);
    leat_free(self.square);
    for (int i = 0; i < LEAT_REFERENCE_NUMBERS; i++) leat_free(self.number[i]);
    if (code == LEAT_OK) *out = self.of;
    else leat_calibration_destroy(self.of);
    return code;
}
