/* See graph_score.h: a batch. A scorer has a model of its own, with memory for the batches of
 * scoring, which are not those of training: a test may have larger graphs. */
#include "train/tasks/graphs/graph_score.h"

#include <math.h>

#include "base/mem.h"
#include "nn/models/gat/model.h"
#include "nn/models/vgae/model.h"
#include "nn/models/vgae/vgae.h"
#include "train/tasks/graphs/graph_masks.h"

enum { F = LEAT_MICRO_NODE_FEATURES };

struct leat_graph_scorer {
    leat_graph_scoring of;
    void *model;
    bool gat;
    int64_t width;
    uint8_t *mask, *hidden; /* [nodes] */
    float *recon;           /* [nodes][F] */
    float *residual, *latent, *logits, *probability, *blame;
    double *first, *difficulty, *divergence;
};

/* ---- Settings ------------------------------------------------------------------------------- */

bool leat_graph_scores_class(const leat_model_class *class) {
    return class == &leat_vgae_class || class == &leat_gat_class;
}

int64_t leat_graph_vocabulary(const leat_graph_scoring *of) {
    LEAT_ASSERT(of->class == &leat_vgae_class || of->class == &leat_gat_class);
    if (of->class == &leat_gat_class) return ((const leat_gat_settings *)of->settings)->vocabulary;
    return ((const leat_vgae_settings *)of->settings)->vocabulary;
}

int64_t leat_graph_latent(const leat_graph_scoring *of) {
    leat_vgae_shape shape;
    if (of->class == &leat_gat_class) return 0;
    const leat_vgae_settings *settings = of->settings;
    /* the model was made with them */
    if (leat_vgae_shape_set(&shape, settings->size, settings->vocabulary, NULL) != LEAT_OK)
        return 0;
    return shape.values;
}

typedef union settings {
    leat_vgae_settings vgae;
    leat_gat_settings gat;
} settings;

/* Those of the run, for other batches. */
static leat_model_setup setup_of(const leat_graph_scoring *of, const leat_graph_limits *most,
                                 settings *copy) {
    LEAT_ASSERT(of->class == &leat_vgae_class || of->class == &leat_gat_class);
    const int64_t edges = most->edges > 0 ? most->edges : 1;
    if (of->class == &leat_gat_class) {
        copy->gat = *(const leat_gat_settings *)of->settings;
        copy->gat.max_nodes = most->nodes;
        copy->gat.max_edges = edges;
    } else {
        copy->vgae = *(const leat_vgae_settings *)of->settings;
        copy->vgae.max_nodes = most->nodes;
        copy->vgae.max_edges = edges;
    }
    return (leat_model_setup){
        .settings = copy, .micro_batch = most->graphs, .threads = 1, .kernels = of->kernels};
}

/* ---- Memory --------------------------------------------------------------------------------- */

static leat_code make_vgae(leat_graph_scorer *self, const leat_graph_limits *most,
                           leat_error *err) {
    const int wants = self->of.wants;
    self->width = leat_vgae_latent(self->model);
    LEAT_TRY(LEAT_NEW(&self->mask, most->nodes, err));
    LEAT_TRY(LEAT_NEW(&self->hidden, most->nodes, err));
    LEAT_TRY(LEAT_NEW(&self->recon, most->nodes * F, err));
    if ((wants & LEAT_GRAPH_WANT_FIRST) != 0) LEAT_TRY(LEAT_NEW(&self->first, most->graphs, err));
    if ((wants & LEAT_GRAPH_WANT_RESIDUAL) != 0)
        LEAT_TRY(LEAT_NEW(&self->residual, most->nodes * F, err));
    if ((wants & LEAT_GRAPH_WANT_OPEN) == 0) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&self->difficulty, most->graphs, err));
    LEAT_TRY(LEAT_NEW(&self->latent, most->nodes * self->width, err));
    return LEAT_NEW(&self->divergence, most->nodes, err);
}

static leat_code make_gat(leat_graph_scorer *self, const leat_graph_limits *most, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&self->logits, most->graphs * 2, err));
    LEAT_TRY(LEAT_NEW(&self->probability, most->graphs, err));
    if ((self->of.wants & LEAT_GRAPH_WANT_BLAME) == 0) return LEAT_OK;
    return LEAT_NEW(&self->blame, most->nodes * F, err);
}

leat_code leat_graph_scorer_create(leat_graph_scorer **out, const leat_graph_scoring *of,
                                   const leat_graph_limits *most, leat_error *err) {
    leat_graph_scorer *self = NULL;
    settings copy;
    const leat_model_setup setup = setup_of(of, most, &copy);
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->of = *of;
    self->gat = of->class == &leat_gat_class;
    leat_code code = of->class->create(&self->model, &setup, err);
    if (code == LEAT_OK) code = self->gat ? make_gat(self, most, err) : make_vgae(self, most, err);
    if (code == LEAT_OK) *out = self;
    else leat_graph_scorer_destroy(self);
    return code;
}

void leat_graph_scorer_destroy(leat_graph_scorer *scorer) {
    if (scorer == NULL) return;
    scorer->of.class->destroy(scorer->model);
    leat_free(scorer->mask);
    leat_free(scorer->hidden);
    leat_free(scorer->recon);
    leat_free(scorer->residual);
    leat_free(scorer->latent);
    leat_free(scorer->logits);
    leat_free(scorer->probability);
    leat_free(scorer->blame);
    leat_free(scorer->first);
    leat_free(scorer->difficulty);
    leat_free(scorer->divergence);
    leat_free(scorer);
}

leat_code leat_graph_scorer_bytes(const leat_graph_scoring *of, const leat_graph_limits *most,
                                  int64_t *bytes, leat_error *err) {
    settings copy;
    leat_model_sizes sizes;
    const leat_model_setup setup = setup_of(of, most, &copy);
    *bytes = 0;
    LEAT_TRY(of->class->sizes(&setup, &sizes, err));
    /* masks, two arrays of features, latent vectors of at most 128 values, a few numbers a graph */
    const int64_t node = 2 + 2 * F * (int64_t)sizeof(float) + 128 * (int64_t)sizeof(float) + 8;
    *bytes =
        sizes.bytes + most->nodes * node + most->graphs * 32 + (int64_t)sizeof(leat_graph_scorer);
    return LEAT_OK;
}

/* ---- A VGAE --------------------------------------------------------------------------------- */

/* Of the nodes first .. end - 1 that `hidden` has, or of all: the mean over them and their features
 * of (x - recon)^2. The differences are exact in double, and summed in the order of the nodes. */
static double error_of(const float *x, const float *recon, const uint8_t *hidden, int64_t first,
                       int64_t end) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = first; i < end; i++) {
        if (hidden != NULL && hidden[i] == 0) continue;
        for (int f = 0; f < F; f++) {
            const double d = (double)x[i * F + f] - (double)recon[i * F + f];
            sum += d * d;
        }
        count += F;
    }
    LEAT_ASSERT(count > 0);
    return sum / (double)count;
}

static void errors_of(const leat_graph_micro *batch, const float *recon, const uint8_t *hidden,
                      double *out) {
    for (int64_t g = 0; g < batch->graphs; g++)
        out[g] = error_of(batch->x, recon, hidden, batch->node_first[g], batch->node_first[g + 1]);
}

/* The reconstruction of what mask `number` hides. */
static leat_code hide(leat_graph_scorer *self, const leat_graph_micro *batch, int number,
                      leat_error *err) {
    const leat_vgae_output out = {.recon = self->recon};
    for (int64_t i = 0; i < batch->nodes; i++) self->hidden[i] = self->mask[i] == number;
    return leat_vgae_reconstruct(self->model, batch, self->hidden, self->of.parameters, &out, err);
}

static leat_code run_masks(leat_graph_scorer *self, const leat_graph_micro *batch,
                           leat_error *err) {
    const int count = self->residual != NULL ? LEAT_GRAPH_MASKS : self->first != NULL ? 1 : 0;
    leat_graph_masks_of(batch, self->mask);
    for (int k = 0; k < count; k++) {
        LEAT_TRY(hide(self, batch, k, err));
        if (k == 0 && self->first != NULL) errors_of(batch, self->recon, self->hidden, self->first);
        for (int64_t i = 0; i < batch->nodes && self->residual != NULL; i++) {
            if (self->hidden[i] == 0) continue;
            for (int64_t at = i * F; at < (i + 1) * F; at++)
                self->residual[at] = batch->x[at] - self->recon[at];
        }
    }
    return LEAT_OK;
}

static leat_code run_open(leat_graph_scorer *self, const leat_graph_micro *batch, leat_error *err) {
    const leat_vgae_output out = {
        .recon = self->recon, .mu = self->latent, .divergence = self->divergence};
    if (self->difficulty == NULL) return LEAT_OK;
    LEAT_TRY(leat_vgae_reconstruct(self->model, batch, NULL, self->of.parameters, &out, err));
    errors_of(batch, self->recon, NULL, self->difficulty);
    return LEAT_OK;
}

/* ---- A batch -------------------------------------------------------------------------------- */

static bool is_finite(const leat_graph_scorer *self, const leat_graph_micro *batch, int64_t g) {
    double sum = 0; /* of numbers of which none is so large that finite ones overflow */
    const int64_t first = batch->node_first[g], end = batch->node_first[g + 1];
    if (self->first != NULL) sum += self->first[g];
    if (self->difficulty != NULL) sum += self->difficulty[g];
    if (self->logits != NULL) sum += (double)self->logits[2 * g] + (double)self->logits[2 * g + 1];
    for (int64_t i = first * F; i < end * F; i++) {
        if (self->residual != NULL) sum += (double)self->residual[i];
        if (self->blame != NULL) sum += (double)self->blame[i];
    }
    for (int64_t i = first; i < end && self->divergence != NULL; i++) sum += self->divergence[i];
    return isfinite(sum);
}

static leat_code check(const leat_graph_scorer *self, const leat_graph_micro *batch,
                       leat_error *err) {
    for (int64_t g = 0; g < batch->graphs; g++) {
        if (is_finite(self, batch, g)) continue;
        return leat_fail(err, LEAT_ERR_INPUT,
                         "graph %lld: what the %s makes of it is not finite; its weights have "
                         "diverged: use an earlier checkpoint (--step), or train again with a "
                         "smaller --learning-rate",
                         (long long)batch->number[g], self->gat ? "GAT" : "VGAE");
    }
    return LEAT_OK;
}

leat_code leat_graph_scorer_run(leat_graph_scorer *scorer, const leat_graph_micro *batch,
                                leat_graph_scores *out, leat_error *err) {
    const leat_graph_scoring *of = &scorer->of;
    *out = (leat_graph_scores){.batch = batch};
    if (scorer->gat) {
        const leat_gat_scores scores = {scorer->logits, scorer->probability, scorer->blame};
        LEAT_TRY(leat_gat_score(scorer->model, batch, of->parameters, &scores, err));
    } else {
        LEAT_TRY(run_masks(scorer, batch, err));
        LEAT_TRY(run_open(scorer, batch, err));
    }
    LEAT_TRY(check(scorer, batch, err));
    *out = (leat_graph_scores){.batch = batch,
                               .first = scorer->first,
                               .residual = scorer->residual,
                               .difficulty = scorer->difficulty,
                               .latent = scorer->latent,
                               .divergence = scorer->divergence,
                               .width = scorer->width,
                               .logits = scorer->logits,
                               .probability = scorer->probability,
                               .blame = scorer->blame};
    return LEAT_OK;
}
