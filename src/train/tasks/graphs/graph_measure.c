/* See graph_measure.h. Losses are computed in arithmetic that gives the same bits everywhere,
 * because they decide which checkpoint is kept. */
#include "train/tasks/graphs/graph_measure.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/portable_math.h"
#include "format/can_cache/can_cache.h"
#include "nn/models/gat/gat.h"
#include "nn/models/gat/model.h"
#include "nn/models/vgae/model.h"
#include "train/eval/scores.h"
#include "train/tasks/graphs/detector.h"
#include "train/tasks/graphs/graph_feed.h"
#include "train/tasks/graphs/graph_micro.h"
#include "train/tasks/graphs/graph_score.h"

const leat_value leat_vgae_measures[] = {
    {"val_loss", "benign validation graphs", -1, "Validation", "mean squared error of hidden nodes",
     "val_loss"},
    {0},
};

enum { VAL_AUROC, VAL_LOSS };
const leat_value leat_gat_measures[] = {
    [VAL_AUROC] = {"val_auroc", "validation graphs", 1, "AUROC of validation graphs", "AUROC",
                   "val_auroc"},
    [VAL_LOSS] = {"val_loss", "validation graphs", -1, "Validation", "loss, mean over graphs",
                  "val_loss"},
    {0},
};

typedef struct graph_measure {
    leat_measuring of;
    const leat_can_cache *cache;
    const leat_graph_file *file; /* of the split */
    leat_graph_filter graphs;
    const leat_model_class *class;
    int wants;
    int64_t count;       /* graphs that are measured */
    double *score;       /* of a GAT: [count] */
    int32_t *label;      /* of a GAT: [count] */
    double loss, weight; /* sums over those that were taken */
    int64_t taken;
} graph_measure;

/* ---- Graphs --------------------------------------------------------------------------------- */

static leat_code take_vgae(void *context, const leat_graph_scores *scores, leat_error *err) {
    graph_measure *self = context;
    (void)err;
    for (int64_t g = 0; g < scores->batch->graphs; g++) self->loss += scores->first[g];
    self->weight += (double)scores->batch->graphs;
    return LEAT_OK;
}

/* e^-a of a >= 0. */
static double decay(double a) { return a < 60 ? 1 / leat_exp(a) : 0; }

/* The terms of nn/ops/class_loss.h, in double: d is the logit of the other class less its own. */
static double loss_of(leat_gat_loss kind, double d) {
    const double e = decay(fabs(d));
    const double ce = (d > 0 ? d : 0) + leat_ln(1 + e);
    const double q = d > 0 ? 1 / (1 + e) : e / (1 + e);
    return kind == LEAT_GAT_LOSS_FOCAL ? q * q * ce : ce;
}

static leat_code take_gat(void *context, const leat_graph_scores *scores, leat_error *err) {
    graph_measure *self = context;
    const leat_gat_settings *settings = self->of.options->settings;
    (void)err;
    for (int64_t g = 0; g < scores->batch->graphs; g++) {
        const int32_t y = self->file->y[scores->batch->number[g]];
        const double own = (double)scores->logits[2 * g + y];
        const double other = (double)scores->logits[2 * g + 1 - y];
        const bool heavy = settings->loss == LEAT_GAT_LOSS_WEIGHTED && y == 1;
        const double weight = heavy ? LEAT_GAT_ATTACK_WEIGHT : 1;
        LEAT_ASSERT(self->taken < self->count);
        self->loss += weight * loss_of(settings->loss, other - own);
        self->weight += weight;
        self->score[self->taken] = (double)scores->probability[g];
        self->label[self->taken++] = y;
    }
    return LEAT_OK;
}

static leat_code walk(graph_measure *self, const float *parameters, leat_error *err) {
    const leat_train_options *options = self->of.options;
    const leat_graph_scoring scoring = {.class = self->class,
                                        .settings = options->settings,
                                        .parameters = parameters,
                                        .wants = self->wants,
                                        .kernels = options->kernels};
    const leat_graph_walk of = {.cache = self->cache,
                                .file = self->file,
                                .graphs = self->graphs,
                                .scoring = &scoring,
                                .threads = options->threads,
                                .take = self->class == &leat_gat_class ? take_gat : take_vgae,
                                .context = self};
    self->loss = self->weight = 0;
    self->taken = 0;
    return leat_graph_walk_run(&of, err);
}

static leat_code measure_auroc(const graph_measure *self, double *out, leat_error *err) {
    leat_eval_ranking ranking;
    LEAT_TRY(leat_eval_ranking_init(&ranking, self->score, self->label, self->count, err));
    *out = leat_eval_auroc(&ranking, NULL).value;
    leat_eval_ranking_free(&ranking);
    return LEAT_OK;
}

static leat_code take(void *of, const float *parameters, leat_train_step *step,
                      char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    graph_measure *self = of;
    const bool gat = self->class == &leat_gat_class;
    (void)note;
    if (self->count == 0) return LEAT_OK;
    leat_code code = walk(self, parameters, err);
    if (code == LEAT_OK && gat) code = measure_auroc(self, &step->measured[VAL_AUROC], err);
    if (code != LEAT_OK) return leat_error_context(err, code, "validation");
    step->measured[gat ? VAL_LOSS : 0] = self->loss / self->weight;
    return LEAT_OK;
}

/* Its detector's calibration, so that it can be used at once. */
static leat_code finish(void *of, char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    const graph_measure *self = of;
    _Static_assert(LEAT_DETECTOR_NOTE_BYTES == LEAT_MEASURE_NOTE_BYTES, "one note");
    return leat_detector_prepare(self->of.folder->path, self->of.feed, self->of.options,
                                 self->of.ticker, note, err);
}

/* ---- Begun and ended ------------------------------------------------------------------------ */

static void destroy(void *of) {
    graph_measure *self = of;
    if (self == NULL) return;
    leat_free(self->score);
    leat_free(self->label);
    leat_free(self);
}

static leat_code open_split(graph_measure *self, leat_error *err) {
    leat_graph_walk of = {.graphs = self->graphs};
    LEAT_TRY(leat_can_cache_file(self->cache, LEAT_CAN_SPLIT_VAL, &self->file, err));
    of.file = self->file;
    self->count = leat_graph_walk_count(&of);
    if (self->class != &leat_gat_class) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&self->score, self->count, err));
    return LEAT_NEW(&self->label, self->count, err);
}

static void note_classes(const graph_measure *self, char note[LEAT_MEASURE_NOTE_BYTES]) {
    int64_t attacks = 0;
    for (int64_t g = 0; g < self->file->shape.graphs; g++) attacks += self->file->y[g] == 1;
    if (self->count == 0)
        snprintf(
            note, LEAT_MEASURE_NOTE_BYTES,
            "the split val has no %s graph: nothing is measured, no checkpoint is the best, and "
            "leat eval and leat detect will have no threshold; ingest with --val-fraction above 0",
            self->graphs == LEAT_FILTER_BENIGN ? "benign" : "labelled");
    else if (self->class == &leat_gat_class && (attacks == 0 || attacks == self->count))
        snprintf(note, LEAT_MEASURE_NOTE_BYTES,
                 "all labelled graphs of the split val are %s: AUROC is not defined, and val_loss "
                 "says which checkpoint is the best",
                 attacks == 0 ? "benign" : "attacks");
}

static leat_code create(void **out, const leat_measuring *of, const leat_model_class *class,
                        char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    graph_measure *self = NULL;
    const bool gat = class == &leat_gat_class;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    *self = (graph_measure){.of = *of,
                            .cache = leat_graph_feed_cache(of->feed),
                            .graphs = gat ? LEAT_FILTER_LABELLED : LEAT_FILTER_BENIGN,
                            .class = class,
                            .wants = gat ? 0 : LEAT_GRAPH_WANT_FIRST};
    const leat_code code = open_split(self, err);
    if (code != LEAT_OK) {
        destroy(self);
        return code;
    }
    note_classes(self, note);
    *out = self;
    return LEAT_OK;
}

/* What there is of each graph of validation: the tables of their file; scores and labels that are
 * measured; the calibration (calibration.h), with its three numbers while it is made, and the bytes
 * of its file. */
enum {
    FILE_BYTES = 8 + 8 + 4 + 4,
    MEASURED_BYTES = 8 + 4,
    GAT_KEPT_BYTES = 8 + 4,
    VGAE_KEPT_BYTES = LEAT_WINDOW_SCORES * 8 + 4,
    VGAE_MAKING_BYTES = LEAT_REFERENCE_NUMBERS * 8
};

static int64_t split_bytes(const leat_train_options *options, const leat_feed *feed,
                           const leat_model_class *class) {
    const leat_graph_file *file = NULL;
    /* what cannot be read ends the run when it begins to measure, with the reason */
    if (leat_can_cache_file(leat_graph_feed_cache(feed), LEAT_CAN_SPLIT_VAL, &file, NULL) !=
        LEAT_OK)
        return 0;
    const int64_t graphs = file->shape.graphs,
                  makers = leat_graph_makers_bytes(file, options->threads);
    if (class != &leat_gat_class)
        return makers + graphs * (FILE_BYTES + 2 * VGAE_KEPT_BYTES + VGAE_MAKING_BYTES);
    return makers + graphs * (FILE_BYTES + MEASURED_BYTES + 2 * GAT_KEPT_BYTES) +
           leat_eval_ranking_bytes(graphs);
}

/* Graphs of validation are taken to be no larger than a batch of training. At the end, the best
 * checkpoint is in memory a second time, with a table of two numbers of each identifier and
 * feature while it is made, and when it is done. */
static int64_t bytes_of(const leat_train_options *options, const leat_feed *feed,
                        const leat_model_class *class, int64_t nodes, int64_t edges) {
    const leat_graph_scoring scoring = {.class = class,
                                        .settings = options->settings,
                                        .wants = LEAT_GRAPH_WANT_FIRST,
                                        .kernels = options->kernels};
    int64_t bytes = 0;
    /* what it refuses, the model of the run has refused before */
    if (leat_graph_walk_bytes(&scoring, options->threads, nodes, edges, &bytes, NULL) != LEAT_OK)
        return 0;
    leat_train_options alone = *options;
    leat_model_sizes sizes;
    alone.threads = 1;
    if (leat_model_measure(class, &alone, &sizes, NULL) != LEAT_OK) return 0;
    const int64_t table =
        leat_plain_bytes(leat_graph_vocabulary(&scoring), LEAT_MICRO_NODE_FEATURES);
    return bytes + sizes.bytes + 6 * 4 * sizes.parameters + 2 * table +
           split_bytes(options, feed, class);
}

static int64_t vgae_bytes(const leat_train_options *options, const leat_feed *feed) {
    const leat_vgae_settings *settings = options->settings;
    return bytes_of(options, feed, &leat_vgae_class, settings->max_nodes, settings->max_edges);
}

static int64_t gat_bytes(const leat_train_options *options, const leat_feed *feed) {
    const leat_gat_settings *settings = options->settings;
    return bytes_of(options, feed, &leat_gat_class, settings->max_nodes, settings->max_edges);
}

static leat_code vgae_create(void **self, const leat_measuring *of,
                             char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    return create(self, of, &leat_vgae_class, note, err);
}

static leat_code gat_create(void **self, const leat_measuring *of,
                            char note[LEAT_MEASURE_NOTE_BYTES], leat_error *err) {
    return create(self, of, &leat_gat_class, note, err);
}

const leat_measure_class leat_vgae_measure = {
    .bytes = vgae_bytes, .create = vgae_create, .destroy = destroy, .take = take, .finish = finish};
const leat_measure_class leat_gat_measure = {
    .bytes = gat_bytes, .create = gat_create, .destroy = destroy, .take = take, .finish = finish};
