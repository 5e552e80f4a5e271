/* See graph_feed.h. */
#include "train/tasks/graphs/graph_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leat/load_can.h"
#include "load/can/loader.h"
#include "load/option_rows.h"
#include "train/tasks/graphs/graph_context.h"
#include "train/tasks/graphs/graph_epochs.h"
#include "train/tasks/graphs/graph_micro.h"

/* Of tables, per graph: sizes here; the plan, 13 bytes for each graph and 56 for each batch, of
 * which there are as many as graphs if none holds two; and offsets and labels in the cache. */
enum { GRAPH_BYTES = 8 + 13 + 56 + 24 };

typedef struct graph_feed {
    leat_can_cache *cache;
    const leat_graph_file *file; /* of the split */
    int32_t *nodes, *edges;      /* of each graph */
    leat_graph_plan *plan;
    leat_graph_epochs *epochs;
    leat_graph_makers *makers;
    leat_graph_limits largest; /* of a batch */
    int64_t units, unit_size;
    uint64_t seed;
    double *scores; /* of each graph, for a curriculum; NULL: none */
    int64_t scores_hash;
} graph_feed;

/* The row's own part, which the class is the first member of. */
static const leat_graph_feed *row_of(const leat_feed *feed) {
    _Static_assert(offsetof(leat_graph_feed, class) == 0, "one address");
    return (const leat_graph_feed *)feed->class;
}

/* ---- The data ------------------------------------------------------------------------------- */

/* Whether a row with this filter trains on a graph of this label. */
static bool takes(leat_graph_filter filter, int32_t y) {
    if (y < 0) return filter == LEAT_FILTER_ALL;
    if (filter == LEAT_FILTER_BENIGN) return y == 0;
    return filter != LEAT_FILTER_ATTACK || y == 1;
}

static leat_code refuse_labels(const graph_feed *self, leat_graph_filter filter, leat_error *err) {
    const leat_graph_file *file = self->file;
    int64_t attacks = 0, unlabelled = 0;
    for (int64_t g = 0; g < file->shape.graphs; g++) {
        attacks += file->y[g] > 0;
        unlabelled += file->y[g] < 0;
    }
    const char *wanted = filter == LEAT_FILTER_BENIGN   ? "benign"
                         : filter == LEAT_FILTER_ATTACK ? "attack"
                                                        : "labelled";
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%.300s\": the split %s has no %s graph to train on (%lld graphs, %lld with "
                     "an attack, %lld unlabelled); ingest logs whose frames are labelled and of "
                     "which some are of that kind",
                     leat_map_path(file->paged.map), file->split, wanted,
                     (long long)file->shape.graphs, (long long)attacks, (long long)unlabelled);
}

/* What tells benign windows from others has to see both. */
static leat_code check_classes(const graph_feed *self, leat_error *err) {
    const leat_graph_file *file = self->file;
    int64_t benign = 0, attacks = 0;
    for (int64_t g = 0; g < file->shape.graphs; g++) {
        benign += file->y[g] == 0;
        attacks += file->y[g] > 0;
    }
    if (benign > 0 && attacks > 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%.300s\": all %lld labelled graphs of the split %s are %s: this model "
                     "learns to tell benign graphs from attacks, and needs both; ingest logs with "
                     "both%s",
                     leat_map_path(file->paged.map), (long long)(benign + attacks), file->split,
                     benign > 0 ? "benign" : "attacks",
                     benign > 0 ? ", or train a VGAE, which learns from benign graphs alone" : "");
}

static leat_code take_sizes(graph_feed *self, leat_error *err) {
    const leat_graph_file *file = self->file;
    LEAT_TRY(LEAT_NEW(&self->nodes, file->shape.graphs, err));
    LEAT_TRY(LEAT_NEW(&self->edges, file->shape.graphs, err));
    for (int64_t g = 0; g < file->shape.graphs; g++) {
        self->nodes[g] = (int32_t)(file->node_ptr[g + 1] - file->node_ptr[g]);
        self->edges[g] = (int32_t)(file->edge_ptr[g + 1] - file->edge_ptr[g]);
        if (self->nodes[g] == 0)
            return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.300s\": graph %lld has no node; %s",
                             leat_map_path(file->paged.map), (long long)g, LEAT_CAN_REBUILD);
    }
    return LEAT_OK;
}

/* Of the splits that a run reads, to train and to measure. */
static leat_code count_mapped(const graph_feed *self, int64_t *bytes, leat_error *err) {
    static const char *const names[] = {LEAT_CAN_SPLIT_TRAIN, LEAT_CAN_SPLIT_VAL};
    leat_can_split split;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        LEAT_TRY(leat_can_cache_find_split(self->cache, names[i], &split, err));
        *bytes += split.file_bytes;
    }
    return LEAT_OK;
}

leat_code leat_graph_feed_open(leat_feed *feed, const char *path, leat_error *err) {
    const leat_graph_filter filter = row_of(feed)->graphs;
    leat_can_facts facts;
    graph_feed *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    feed->self = self;
    LEAT_TRY(leat_can_cache_open(&self->cache, path, err));
    LEAT_TRY(leat_can_cache_file(self->cache, LEAT_CAN_SPLIT_TRAIN, &self->file, err));
    LEAT_TRY(take_sizes(self, err));
    LEAT_TRY(count_mapped(self, &feed->mapped_bytes, err));
    leat_can_cache_get_facts(self->cache, &facts);
    feed->fingerprint = facts.fingerprint;
    for (int64_t g = 0; g < self->file->shape.graphs; g++)
        feed->count += takes(filter, self->file->y[g]);
    if (feed->count == 0) return refuse_labels(self, filter, err);
    if (row_of(feed)->both_classes) LEAT_TRY(check_classes(self, err));
    return leat_graph_makers_create(&self->makers, self->cache, self->file, err);
}

const leat_can_cache *leat_graph_feed_cache(const leat_feed *feed) {
    return ((const graph_feed *)feed->self)->cache;
}

int64_t leat_graph_feed_vocabulary(const leat_feed *feed) {
    return ((const graph_feed *)feed->self)->file->vocab_count + 1;
}

void leat_graph_feed_close(void *of) {
    graph_feed *self = of;
    leat_graph_epochs_destroy(self->epochs);
    leat_graph_plan_destroy(self->plan);
    leat_graph_makers_destroy(self->makers);
    leat_free(self->nodes);
    leat_free(self->edges);
    leat_free(self->scores);
    leat_can_cache_close(self->cache);
    leat_free(self);
}

/* ---- The scores of a curriculum -------------------------------------------------------------- */

static leat_graph_settings *settings_of(const leat_feed *feed, void *settings) {
    return (leat_graph_settings *)(void *)((char *)settings + row_of(feed)->settings);
}

/* 60 bits, as a number that a run has among its settings. */
static int64_t number_of(const char sha256[65]) {
    char digits[16];
    memcpy(digits, sha256, 15);
    digits[15] = 0;
    return (int64_t)strtoull(digits, NULL, 16);
}

/* Once, also if it is asked again. */
static leat_code read_scores(graph_feed *self, const leat_graph_settings *of, const char *path,
                             leat_error *err) {
    char sha256[65];
    const bool wanted = of->curriculum == LEAT_CURRICULUM_SCORES;
    if (wanted != (path != NULL))
        return leat_fail(err, LEAT_ERR_OPTION,
                         wanted ? "a curriculum by scores requires their file, also of a run that "
                                  "is resumed, on the one machine that trains it: --curriculum FILE"
                                : "scores are for a curriculum: --curriculum FILE");
    if (!wanted || self->scores != NULL) return LEAT_OK;
    LEAT_TRY(leat_graph_scores_load(&self->scores, sha256, path, self->cache, self->file, err));
    self->scores_hash = number_of(sha256);
    return LEAT_OK;
}

static leat_code check_scores(const graph_feed *self, const leat_graph_settings *of,
                              const char *path, leat_error *err) {
    if (of->scores_hash == self->scores_hash) return LEAT_OK;
    if (self->scores == NULL)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "scores-hash is %lld, but there is no curriculum by scores; leave it out",
                         (long long)of->scores_hash);
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.300s\" has other scores (scores-hash %lld) than the run (%lld); use the "
                     "file that the run began with",
                     path, (long long)self->scores_hash, (long long)of->scores_hash);
}

/* ---- What the data decide ------------------------------------------------------------------- */

static leat_code read_batches(const leat_feed *feed, const leat_train_options *options,
                              const leat_graph_bounds *bounds, leat_graph_batch_options *out,
                              leat_error *err) {
    const leat_graph_feed *row = row_of(feed);
    const char *settings = options->settings;
    LEAT_TRY(leat_graph_settings_read((const void *)(settings + row->settings), out, err));
    out->seed = options->seed;
    out->graphs = row->graphs;
    out->max_nodes = bounds->max_nodes;
    out->max_edges = bounds->max_edges;
    return LEAT_OK;
}

static leat_code make_plan(const graph_feed *self, const leat_graph_batch_options *options,
                           leat_graph_plan **out, leat_graph_limits *largest, leat_error *err) {
    const leat_graph_sizes sizes = {self->nodes, self->edges, self->file->shape.graphs};
    leat_graph_plan_facts facts;
    LEAT_TRY(leat_graph_plan_create(out, options, &sizes, self->file->y, self->scores, err));
    leat_graph_plan_get_facts(*out, &facts);
    *largest = facts.largest;
    return LEAT_OK;
}

/* Room for `graphs` graphs of mean size, and for the largest one. */
static int64_t room_for(int64_t graphs, int64_t sum, int64_t count, int64_t most) {
    const int64_t mean = graphs * sum / count + (graphs * sum % count > 0);
    const int64_t room = mean > most ? mean : most;
    return room < 1 ? 1 : room < INT32_MAX ? room : INT32_MAX;
}

static void settle_budget(const leat_feed *feed, int64_t graphs, leat_graph_bounds *bounds) {
    const graph_feed *self = feed->self;
    int64_t nodes = 0, edges = 0, nodes_most = 0, edges_most = 0;
    for (int64_t g = 0; g < self->file->shape.graphs; g++) {
        if (!takes(row_of(feed)->graphs, self->file->y[g])) continue;
        nodes += self->nodes[g];
        edges += self->edges[g];
        if (self->nodes[g] > nodes_most) nodes_most = self->nodes[g];
        if (self->edges[g] > edges_most) edges_most = self->edges[g];
    }
    if (bounds->max_nodes == 0)
        bounds->max_nodes = room_for(graphs, nodes, feed->count, nodes_most);
    if (bounds->max_edges == 0)
        bounds->max_edges = room_for(graphs, edges, feed->count, edges_most);
}

/* Batches of a fixed number of graphs have the budget of the largest that any epoch can have. */
static leat_code settle_fixed(const leat_feed *feed, const leat_graph_batch_options *options,
                              leat_graph_bounds *bounds, leat_error *err) {
    leat_graph_plan *plan = NULL;
    leat_graph_limits largest = {0};
    const leat_code code = make_plan(feed->self, options, &plan, &largest, err);
    leat_graph_plan_destroy(plan);
    if (bounds->max_nodes == 0) bounds->max_nodes = largest.nodes;
    if (bounds->max_edges == 0) bounds->max_edges = largest.edges > 1 ? largest.edges : 1;
    return code;
}

leat_code leat_graph_feed_settle(const leat_feed *feed, const leat_train_options *options,
                                 void *settings, leat_error *err) {
    graph_feed *self = feed->self;
    leat_graph_settings *graphs = settings_of(feed, settings);
    leat_graph_batch_options batches;
    leat_graph_bounds bounds;
    LEAT_TRY(read_scores(self, graphs, options->scores, err));
    if (graphs->scores_hash == 0) graphs->scores_hash = self->scores_hash;
    row_of(feed)->get(settings, &bounds);
    if (bounds.vocabulary == 0) bounds.vocabulary = leat_graph_feed_vocabulary(feed);
    const leat_graph_bounds any = {.max_nodes = INT32_MAX, .max_edges = INT32_MAX};
    LEAT_TRY(read_batches(feed, options, &any, &batches, err));
    if (batches.pack == LEAT_PACK_FIXED) LEAT_TRY(settle_fixed(feed, &batches, &bounds, err));
    else settle_budget(feed, options->micro_batch, &bounds);
    row_of(feed)->set(settings, &bounds);
    return LEAT_OK;
}

/* ---- The plan ------------------------------------------------------------------------------- */

static leat_code check_bounds(const graph_feed *self, const leat_graph_bounds *bounds,
                              leat_error *err) {
    const int64_t vocabulary = self->file->vocab_count + 1;
    if (bounds->vocabulary != vocabulary)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "vocabulary is %lld, but the cache has %lld identifiers and the unknown "
                         "one, %lld; leave vocabulary out, or use the cache that it is of",
                         (long long)bounds->vocabulary, (long long)vocabulary - 1,
                         (long long)vocabulary);
    if (bounds->max_nodes >= 1 && bounds->max_edges >= 1) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "max-nodes is %lld and max-edges %lld; a run has numbers of 1 or more",
                     (long long)bounds->max_nodes, (long long)bounds->max_edges);
}

static leat_code refuse_graph(const graph_feed *self, int64_t graph,
                              const leat_graph_bounds *bounds, leat_error *err) {
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.300s\": graph %lld has %d nodes and %d edges, more than a batch may have "
                     "(max-nodes %lld, max-edges %lld); raise them, or leave such graphs out with "
                     "--oversize skip",
                     leat_map_path(self->file->paged.map), (long long)graph, self->nodes[graph],
                     self->edges[graph], (long long)bounds->max_nodes,
                     (long long)bounds->max_edges);
}

/* Of the graphs that it trains on, those that alone are over a budget. */
static leat_code check_sizes(const leat_feed *feed, const leat_graph_bounds *bounds, bool skip,
                             int64_t *over, leat_error *err) {
    const graph_feed *self = feed->self;
    *over = 0;
    for (int64_t g = 0; g < self->file->shape.graphs; g++) {
        if (!takes(row_of(feed)->graphs, self->file->y[g])) continue;
        if (self->nodes[g] <= bounds->max_nodes && self->edges[g] <= bounds->max_edges) continue;
        if (!skip) return refuse_graph(self, g, bounds, err);
        (*over)++;
    }
    if (*over < feed->count) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "max-nodes %lld and max-edges %lld: no graph is so small; raise them",
                     (long long)bounds->max_nodes, (long long)bounds->max_edges);
}

static leat_code check_largest(const graph_feed *self, const leat_graph_batch_options *batches,
                               const leat_graph_bounds *bounds, leat_error *err) {
    const leat_graph_limits *largest = &self->largest;
    if (largest->nodes <= bounds->max_nodes && largest->edges <= bounds->max_edges) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "batches of %lld graphs have up to %lld nodes and %lld edges, more than "
                     "max-nodes %lld and max-edges %lld; leave both out, or use a smaller --batch",
                     (long long)batches->batch, (long long)largest->nodes,
                     (long long)largest->edges, (long long)bounds->max_nodes,
                     (long long)bounds->max_edges);
}

static void note_left_out(leat_feed *feed, int64_t over, const leat_graph_bounds *bounds) {
    const size_t used = strlen(feed->note);
    if (over == 0) return;
    snprintf(feed->note + used, sizeof feed->note - used,
             "%s%lld of %lld graphs are left out: they have more than %lld nodes or %lld edges "
             "(max-nodes, max-edges)",
             used > 0 ? "; " : "", (long long)over, (long long)feed->count,
             (long long)bounds->max_nodes, (long long)bounds->max_edges);
}

/* Of a cache that was made with --allow-overlap, which says so where windows do overlap. */
static void note_overlap(leat_feed *feed) {
    const graph_feed *self = feed->self;
    const char *value = leat_can_cache_setting(self->cache, "allow-overlap");
    if (value == NULL || strcmp(value, "true") != 0) return;
    snprintf(feed->note, sizeof feed->note,
             "validation windows have frames of training windows (--allow-overlap of the ingest): "
             "what is measured is better than it is");
}

static leat_code plan_epochs(graph_feed *self, const leat_graph_batch_options *batches,
                             leat_error *err) {
    const leat_graph_sizes sizes = {self->nodes, self->edges, self->file->shape.graphs};
    int64_t step_batches = 0;
    LEAT_TRY(make_plan(self, batches, &self->plan, &self->largest, err));
    if (!leat_mul_size(self->units, self->unit_size, &step_batches))
        return leat_fail(err, LEAT_ERR_OPTION, "%lld units of %lld batches: too many",
                         (long long)self->units, (long long)self->unit_size);
    return leat_graph_epochs_create(&self->epochs, self->plan, &sizes, step_batches, err);
}

/* Epochs that a run may see, for its memory: each has a step at least. */
static int64_t epochs_of(const leat_train_options *options) {
    return options->epochs > 0 ? options->epochs : options->steps > 0 ? options->steps : 1;
}

static int64_t bytes_of(const graph_feed *self, const leat_train_options *options) {
    const int64_t graphs = self->file->shape.graphs;
    return graphs * GRAPH_BYTES + leat_graph_epochs_bytes(graphs, epochs_of(options)) +
           leat_graph_makers_bytes(self->file, options->threads);
}

leat_code leat_graph_feed_plan(leat_feed *feed, const leat_train_options *options,
                               leat_error *err) {
    graph_feed *self = feed->self;
    leat_graph_batch_options batches;
    leat_graph_bounds bounds;
    int64_t over = 0;
    row_of(feed)->get(options->settings, &bounds);
    const leat_graph_settings *settings =
        (const void *)((const char *)options->settings + row_of(feed)->settings);
    LEAT_TRY(read_scores(self, settings, options->scores, err));
    LEAT_TRY(check_scores(self, settings, options->scores, err));
    LEAT_TRY(check_bounds(self, &bounds, err));
    LEAT_TRY(read_batches(feed, options, &bounds, &batches, err));
    const bool fixed = batches.pack == LEAT_PACK_FIXED;
    const bool skip = settings->oversize == LEAT_GRAPH_OVERSIZE_SKIP;
    if (!fixed) LEAT_TRY(check_sizes(feed, &bounds, skip, &over, err));
    self->units = options->units;
    self->unit_size = options->unit_size;
    self->seed = options->seed;
    LEAT_TRY(plan_epochs(self, &batches, err));
    leat_free(self->scores); /* the plan has ranked the graphs */
    self->scores = NULL;
    LEAT_TRY(check_largest(self, &batches, &bounds, err));
    note_overlap(feed);
    note_left_out(feed, over, &bounds);
    leat_loader_expect_all(self->file->paged.map);
    feed->steps_most = leat_graph_epochs_steps_most(self->epochs);
    feed->units_most = self->units;
    feed->batches_most = self->unit_size;
    feed->batch_bytes = leat_graph_micro_bytes(&self->largest);
    feed->bytes = bytes_of(self, options);
    return LEAT_OK;
}

/* ---- Steps and units ------------------------------------------------------------------------ */

leat_code leat_graph_feed_steps(const leat_feed *feed, const leat_train_options *options,
                                int64_t *out, leat_error *err) {
    const graph_feed *self = feed->self;
    *out = options->steps;
    if (options->steps > 0) return LEAT_OK;
    if (options->epochs <= LEAT_GRAPH_RUN_EPOCHS_MAX)
        return leat_graph_epochs_steps(self->epochs, options->epochs, out, err);
    return leat_fail(err, LEAT_ERR_OPTION,
                     "%lld epochs: too many; a run over graphs has at most %lld",
                     (long long)options->epochs, (long long)LEAT_GRAPH_RUN_EPOCHS_MAX);
}

leat_code leat_graph_feed_units(const leat_feed *feed, int64_t step, int64_t *out,
                                leat_error *err) {
    const graph_feed *self = feed->self;
    leat_graph_stretch of;
    LEAT_TRY(leat_graph_epochs_find(self->epochs, step, &of, err));
    *out = (of.count - 1) / self->unit_size + 1;
    return LEAT_OK;
}

leat_code leat_graph_feed_place(const leat_feed *feed, int64_t step, int64_t unit,
                                leat_unit_place *out, leat_error *err) {
    const graph_feed *self = feed->self;
    const int64_t before = unit * self->unit_size;
    leat_graph_stretch of;
    LEAT_TRY(leat_graph_epochs_find(self->epochs, step, &of, err));
    if (before >= of.count)
        return leat_fail(err, LEAT_ERR_OPTION, "step %lld has no unit %lld", (long long)step + 1,
                         (long long)unit);
    const int64_t left = of.count - before;
    of.first += before;
    of.count = left < self->unit_size ? left : self->unit_size;
    out->epoch = of.epoch;
    out->first = of.first;
    out->count = out->batches = of.count;
    return leat_graph_epochs_position(self->epochs, &of, &out->position, err);
}

leat_code leat_graph_feed_weight(const leat_feed *feed, const leat_unit_place *at, double *out,
                                 leat_error *err) {
    const graph_feed *self = feed->self;
    const leat_graph_stretch of = {at->epoch, at->first, at->count};
    leat_graph_contents has;
    LEAT_TRY(leat_graph_epochs_count(self->epochs, &of, &has, err));
    *out = (double)(row_of(feed)->weighs_nodes ? has.nodes : has.graphs);
    return LEAT_OK;
}

leat_code leat_graph_feed_make(const leat_feed *feed, const leat_unit_place *at, int64_t index,
                               void *batch, leat_error *err) {
    const graph_feed *self = feed->self;
    const int64_t number = at->first + index;
    leat_graph_micro *micro = leat_graph_micro_place(batch, &self->largest);
    leat_graph_contents has;
    LEAT_TRY(leat_graph_epochs_read(self->epochs, at->epoch, number,
                                    leat_graph_micro_numbers(micro), &has, err));
    LEAT_ASSERT(has.nodes <= self->largest.nodes && has.edges <= self->largest.edges);
    micro->graphs = has.graphs;
    micro->nodes = has.nodes;
    micro->edges = has.edges;
    micro->seed = self->seed;
    micro->epoch = at->epoch;
    const leat_code code = leat_graph_micro_make(self->makers, micro, err);
    if (code == LEAT_OK) return LEAT_OK;
    return leat_error_context(err, code, "epoch %lld, batch %lld", (long long)at->epoch,
                              (long long)number);
}

/* ---- What a run keeps of the data ----------------------------------------------------------- */

static leat_code write_context(const leat_can_cache *cache, const char *run, leat_error *err) {
    leat_graph_context *context = NULL;
    LEAT_TRY(leat_graph_context_make(&context, cache, err));
    leat_code code = leat_graph_context_count(context, cache, err);
    if (code == LEAT_OK) code = leat_graph_context_save(context, run, err);
    leat_graph_context_destroy(context);
    return code;
}

leat_code leat_graph_feed_keep(const leat_feed *feed, const char *run, leat_error *err) {
    const graph_feed *self = feed->self;
    leat_graph_context *there = NULL;
    leat_error why = {0};
    leat_code code = leat_graph_context_load(&there, run, &why);
    if (code == LEAT_ERR_NOT_FOUND) return write_context(self->cache, run, err);
    if (code == LEAT_OK) code = leat_graph_context_check(there, run, feed->fingerprint, &why);
    if (code == LEAT_OK) code = leat_graph_context_compare(there, self->cache, &why);
    leat_graph_context_destroy(there);
    return leat_error_copy(err, &why);
}
