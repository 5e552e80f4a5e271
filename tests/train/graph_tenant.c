/* See graph_tenant.h. */
#include "graph_tenant.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "nn/unit/unit.h"

/* ---- The model ------------------------------------------------------------------------------ */

enum { X = LEAT_MICRO_NODE_FEATURES };

typedef struct pooled {
    leat_engine engine;
    pooled_settings settings;
    int64_t size;    /* [X] weights, a bias, [vocabulary] numbers of identifiers */
    float *gradient; /* [threads][size], of each worker's micro-batch */
} pooled;

typedef struct computing {
    pooled *self;
    bool weighs_nodes;
    const leat_unit_batches *batches;
    const float *parameters;
} computing;

static int passes(const void *settings) {
    (void)settings;
    return 1;
}

static int64_t size_of(const pooled_settings *settings) { return X + 1 + settings->vocabulary; }

static leat_code sizes(const leat_model_setup *setup, leat_model_sizes *out, leat_error *err) {
    const pooled_settings *settings = setup->settings;
    *out = (leat_model_sizes){0};
    if (settings->vocabulary < 1)
        return leat_fail(err, LEAT_ERR_OPTION, "vocabulary is %d", settings->vocabulary);
    out->parameters = size_of(settings);
    out->bytes = (int64_t)sizeof(pooled) + setup->threads * out->parameters * 4;
    return LEAT_OK;
}

static void destroy(void *of) {
    pooled *self = of;
    if (self == NULL) return;
    leat_engine_stop(&self->engine);
    leat_free(self->gradient);
    leat_free(self);
}

static leat_code create(void **out, const leat_model_setup *setup, leat_error *err) {
    pooled *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->settings = *(const pooled_settings *)setup->settings;
    self->size = size_of(&self->settings);
    leat_code code = leat_engine_set(&self->engine, "pooled", setup->kernels, setup->threads, err);
    if (code == LEAT_OK) code = LEAT_NEW(&self->gradient, setup->threads * self->size, err);
    if (code == LEAT_OK) code = leat_engine_start(&self->engine, err);
    if (code == LEAT_OK) *out = self;
    else destroy(self);
    return code;
}

static bool tensor(const void *of, int index, leat_model_tensor *out) {
    const int64_t vocabulary = ((const pooled *)of)->settings.vocabulary;
    const leat_model_tensor all[] = {
        {.name = "weight", .rank = 2, .shape = {1, X}, .count = X},
        {.name = "bias", .rank = 1, .shape = {1}, .offset = X, .count = 1},
        {.name = "identifiers",
         .rank = 1,
         .shape = {vocabulary},
         .offset = X + 1,
         .count = vocabulary}};
    if (index >= 3) return false;
    *out = all[index];
    return true;
}

static void init(const void *of, uint64_t seed, float *parameters, float *running) {
    (void)running;
    for (int64_t i = 0; i < ((const pooled *)of)->size; i++)
        parameters[i] = (float)((int64_t)((uint64_t)i * 7 + seed) % 11 - 5) * 0.015625f;
}

/* Loss and gradient of a graph, divided by the number of graphs. */
static double graph_loss(const leat_graph_micro *graph, int64_t g, const float *parameters,
                         float *gradient) {
    const int64_t first = graph->node_first[g], nodes = graph->node_first[g + 1] - first;
    const float *numbers = parameters + X + 1;
    float mean[X] = {0}, got = 0;
    for (int64_t n = first; n < first + nodes; n++) {
        for (int k = 0; k < X; k++) mean[k] += graph->x[n * X + k] / (float)nodes;
        got += numbers[graph->node_id[n]] / (float)nodes;
    }
    for (int k = 0; k < X; k++) got += parameters[k] * mean[k];
    const float more = got + parameters[X] - (float)graph->label[g];
    const float back = more / (float)graph->graphs;
    for (int k = 0; k < X; k++) gradient[k] += back * mean[k];
    gradient[X] += back;
    for (int64_t n = first; n < first + nodes; n++)
        gradient[X + 1 + graph->node_id[n]] += back / (float)nodes;
    return 0.5 * more * more / (double)graph->graphs;
}

static leat_code make_micro(void *context, leat_micro *micro, leat_error *err) {
    const computing *of = context;
    const pooled *self = of->self;
    float *gradient = self->gradient + micro->worker * self->size;
    const void *made = NULL;
    LEAT_TRY(of->batches->get(of->batches->context, micro->index, micro->worker, &made, err));
    const leat_graph_micro *graph = made;
    LEAT_ASSERT(graph->nodes <= self->settings.max_nodes);
    LEAT_ASSERT(graph->edges <= self->settings.max_edges);
    memset(gradient, 0, (size_t)self->size * sizeof *gradient);
    for (int64_t g = 0; g < graph->graphs; g++)
        micro->sums[0] += graph_loss(graph, g, of->parameters, gradient);
    micro->gradient = gradient;
    micro->weight = (double)(of->weighs_nodes ? graph->nodes : graph->graphs);
    return LEAT_OK;
}

static leat_code run_unit(pooled *self, bool weighs_nodes, const leat_unit_batches *batches,
                          const float *parameters, leat_unit_numbers *out, leat_error *err) {
    computing computing = {self, weighs_nodes, batches, parameters};
    const leat_unit_job job = {.micro_batches = batches->count,
                               .size = self->size,
                               .end = self->size,
                               .sums = 1,
                               .make = make_micro,
                               .context = &computing};
    leat_unit_sums sums;
    uint64_t mode = 0;
    LEAT_TRY(leat_engine_enter(&self->engine, &mode, err));
    const leat_code code = leat_unit_run(&self->engine, &job, out->gradient, &sums, err);
    leat_engine_leave(&self->engine, mode);
    out->sums[0] = sums.sums[0];
    out->weight = sums.weight;
    return code;
}

static leat_code unit(void *of, int pass, const leat_unit_batches *batches, const float *parameters,
                      leat_unit_numbers *out, leat_error *err) {
    (void)pass;
    return run_unit(of, false, batches, parameters, out, err);
}

static leat_code unit_of_nodes(void *of, int pass, const leat_unit_batches *batches,
                               const float *parameters, leat_unit_numbers *out, leat_error *err) {
    (void)pass;
    return run_unit(of, true, batches, parameters, out, err);
}

static void fold(const void *self, int pass, int64_t micro_batches, const float *statistics,
                 float *running) {
    (void)self;
    (void)pass;
    (void)micro_batches;
    (void)statistics;
    (void)running;
}

static void norm(const void *of, int pass, const float *gradient, double weight, double *norms) {
    (void)pass;
    norms[0] = leat_unit_length(((const pooled *)of)->size, gradient, weight);
}

/* Steps of at most the rate: the features are large. */
static leat_code step(void *of, const leat_model_step *at, leat_error *err) {
    const pooled *self = of;
    const double length = leat_unit_length(self->size, at->gradient, at->weight);
    const double rate = self->settings.learning_rate / (length > 1 ? length : 1);
    (void)err;
    for (int64_t i = 0; i < self->size; i++)
        at->parameters[i] -= (float)(rate / at->weight) * at->gradient[i];
    return LEAT_OK;
}

static void cancel(void *of, bool cancelled) {
    leat_engine_cancel(&((pooled *)of)->engine, cancelled);
}

static const leat_value values[] = {{.name = "loss", .label = "loss", .better = -1},
                                    {.name = "norm", .label = "the mean"},
                                    {.name = NULL}};
static const char *const suites[] = {NULL};

#define POOLED(of, compute)                                                                        \
    {                                                                                              \
        .name = of, .identity = "leat pooled 1", .batch = LEAT_MICRO_BATCH_GRAPHS,                 \
        .values = values, .sums = 1, .norms = 1, .suites = suites, .passes = passes,               \
        .sizes = sizes, .create = create, .destroy = destroy, .tensor = tensor, .init = init,      \
        .unit = compute, .fold = fold, .norm = norm, .step = step, .cancel = cancel                \
    }
static const leat_model_class pooled_class = POOLED("pooled", unit);
static const leat_model_class benign_class = POOLED("pooled-benign", unit_of_nodes);

/* ---- Its settings, and the rows ------------------------------------------------------------- */

static const leat_setting rows[] = {
    {.name = "vocabulary",
     .kind = LEAT_SETTING_INT32,
     .place = offsetof(pooled_settings, vocabulary),
     .max = 1 << 20,
     .help = "identifiers and the unknown one; 0: those of the cache"},
    {.name = "max-nodes",
     .kind = LEAT_SETTING_INT,
     .place = offsetof(pooled_settings, max_nodes),
     .max = INT32_MAX,
     .help = "nodes of a micro-batch; 0: by the cache"},
    {.name = "max-edges",
     .kind = LEAT_SETTING_INT,
     .place = offsetof(pooled_settings, max_edges),
     .max = INT32_MAX,
     .help = "edges of a micro-batch; 0: by the cache"},
    {.name = "learning-rate",
     .kind = LEAT_SETTING_REAL,
     .place = offsetof(pooled_settings, learning_rate),
     .high = 1,
     .low_open = true,
     .help = "step size"},
    LEAT_GRAPH_SETTING_ROWS(pooled_row, graphs),
    {.name = NULL},
};

static void set_defaults(void *settings) {
    *(pooled_row *)settings =
        (pooled_row){.model = {.learning_rate = 0.03125}, .graphs = leat_graph_settings_default()};
}

const leat_setting_table *pooled_table(void) {
    static const leat_setting_table table = {.owner = "a mean of nodes",
                                             .rows = rows,
                                             .size_bytes = sizeof(pooled_row),
                                             .set_defaults = set_defaults};
    return &table;
}

static void get(const void *settings, leat_graph_bounds *out) {
    const pooled_settings *of = settings;
    *out = (leat_graph_bounds){of->vocabulary, of->max_nodes, of->max_edges};
}

static void set(void *settings, const leat_graph_bounds *of) {
    pooled_settings *to = settings;
    to->vocabulary = (int32_t)of->vocabulary;
    to->max_nodes = of->max_nodes;
    to->max_edges = of->max_edges;
}

const leat_graph_feed pooled_feed = {.class = LEAT_GRAPH_FEED_CLASS,
                                     .graphs = LEAT_FILTER_LABELLED,
                                     .settings = offsetof(pooled_row, graphs),
                                     .get = get,
                                     .set = set};
const leat_graph_feed pooled_benign_feed = {.class = LEAT_GRAPH_FEED_CLASS,
                                            .graphs = LEAT_FILTER_BENIGN,
                                            .weighs_nodes = true,
                                            .settings = offsetof(pooled_row, graphs),
                                            .get = get,
                                            .set = set};

const leat_task pooled_task = {
    .model = &pooled_class, .feed = &pooled_feed.class, .settings = pooled_table};
const leat_task pooled_benign_task = {
    .model = &benign_class, .feed = &pooled_benign_feed.class, .settings = pooled_table};
