/*
 * The feed of graphs: its micro-batches are the batches of a graph loader with the same options,
 * which is another program over the same plan, cut into units and steps by rules that are computed
 * here again. Asked in any order and by several threads they are the same bytes.
 */
/* TSan: threads ask for units while others plan epochs. */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "check.h"
#include "graph_tenant.h"
#include "load/graph_support.h"
#include "threads.h"
#include "train/tasks/graphs/graph_epochs.h"

/* Instead of the list in src/train/tasks/tasks.c. */
const leat_task *const leat_tasks[] = {&pooled_task, &pooled_benign_task, NULL};

enum { EPOCHS = 3, VOCABULARY = MAKE_VOCAB + 1 };

/* ---- A feed --------------------------------------------------------------------------------- */

typedef struct side {
    leat_run_options all;
    leat_feed feed;
    uint8_t *batch;
} side;

static pooled_row row_default(void) {
    pooled_row row;
    pooled_table()->set_defaults(&row);
    row.model.max_nodes = 60;
    row.model.max_edges = 200;
    return row;
}

static leat_train_options options_default(const pooled_row *row) {
    leat_train_options options = leat_train_options_default();
    options.settings = row;
    options.units = 2;
    options.unit_size = 2;
    options.epochs = EPOCHS;
    options.seed = 11;
    options.threads = 1;
    return options;
}

static leat_code open_side(side *of, const char *model, const char *cache,
                           const leat_train_options *options, leat_error *why) {
    *of = (side){0};
    LEAT_TRY(leat_run_options_take(&of->all, model, options, why));
    LEAT_TRY(leat_run_options_check(&of->all, why));
    LEAT_TRY(leat_feed_open(&of->feed, of->all.task->feed, cache, why));
    LEAT_TRY(leat_run_options_settle(&of->all, &of->feed, why));
    LEAT_TRY(leat_feed_plan(&of->feed, &of->all.run, why));
    of->batch = malloc((size_t)of->feed.batch_bytes);
    return LEAT_OK;
}

static void close_side(side *of) {
    leat_feed_close(&of->feed);
    free(of->batch);
}

/* Opening it must fail so. */
static void refused(const char *model, const char *cache, const leat_train_options *options,
                    leat_code code, const char *words) {
    side of;
    assert_fails(open_side(&of, model, cache, options, err), code, words);
    close_side(&of);
}

static const leat_graph_micro *micro_of(const side *of, const leat_unit_place *at, int64_t index) {
    assert_ok(of->feed.class->make(&of->feed, at, index, of->batch, err));
    return (const leat_graph_micro *)of->batch;
}

/* ---- Compared with a loader ----------------------------------------------------------------- */

static leat_graph_loader_options loader_of(const pooled_row *row, const leat_train_options *options,
                                           leat_graph_filter filter) {
    leat_graph_loader_options out = leat_graph_loader_options_default();
    const leat_graph_settings *graphs = &row->graphs;
    out.threads = 1;
    out.batches.graphs = filter;
    out.batches.pack = graphs->pack;
    out.batches.batch = graphs->batch;
    out.batches.max_nodes = row->model.max_nodes;
    out.batches.max_edges = row->model.max_edges;
    out.batches.min_steps = graphs->min_steps;
    out.batches.seed = options->seed;
    out.batches.curriculum = graphs->curriculum;
    out.batches.tiers = graphs->tiers;
    out.batches.curriculum_start = graphs->curriculum_start;
    out.batches.curriculum_end = graphs->curriculum_end;
    out.batches.epochs = EPOCHS;
    return out;
}

static void same_batch(const leat_graph_micro *micro, const leat_graph_batch *batch,
                       uint64_t seed) {
    const size_t nodes = (size_t)batch->node_count, edges = (size_t)batch->edge_count;
    assert_int_equal(micro->graphs, batch->graph_count);
    assert_int_equal(micro->nodes, nodes);
    assert_int_equal(micro->edges, edges);
    assert_memory_equal(micro->x, batch->x, nodes * LEAT_NODE_FEATURES * 4);
    assert_memory_equal(micro->edge_attr, batch->edge_attr, edges * LEAT_EDGE_FEATURES * 4);
    assert_memory_equal(micro->source, batch->edge_index, edges * 4);
    assert_memory_equal(micro->target, batch->edge_index + edges, edges * 4);
    assert_memory_equal(micro->node_id, batch->node_id, nodes * 4);
    const size_t graphs = (size_t)batch->graph_count;
    assert_memory_equal(micro->node_first, batch->node_ptr, (graphs + 1) * 8);
    assert_memory_equal(micro->edge_first, batch->edge_ptr, (graphs + 1) * 8);
    assert_memory_equal(micro->label, batch->y, graphs * 4);
    assert_memory_equal(micro->number, batch->graph, graphs * 8);
    assert_true(micro->seed == seed && micro->epoch == batch->epoch);
}

/* Where the next unit must be, and what it must weigh. */
typedef struct walk {
    int64_t step, unit, position, batches;
    double weight;
} walk;

/* The unit of the next batches of an epoch that has so many, of which `first` were before it. */
static void check_unit(const side *of, leat_graph_loader *loader, const walk *at, int64_t first,
                       int64_t left, walk *next) {
    const leat_train_options *options = &of->all.run;
    const bool benign = strcmp(of->all.task->model->name, "pooled-benign") == 0;
    leat_unit_place place;
    double weight = 0, expected = 0;
    int64_t units = 0;
    assert_ok(leat_feed_units(&of->feed, at->step, &units, err));
    const int64_t of_step = left + at->unit * options->unit_size;
    const int64_t most = options->units * options->unit_size;
    assert_int_equal(units, ((of_step < most ? of_step : most) - 1) / options->unit_size + 1);
    assert_ok(leat_feed_place(&of->feed, at->step, at->unit, &place, err));
    assert_int_equal(place.count, left < options->unit_size ? left : options->unit_size);
    assert_true(place.batches == place.count && place.first == first);
    assert_int_equal(place.position, at->position);
    *next = *at;
    for (int64_t i = 0; i < place.count; i++) {
        const leat_graph_batch *batch = graphs_next(loader);
        assert_int_equal(place.epoch, batch->epoch);
        same_batch(micro_of(of, &place, i), batch, options->seed);
        expected += (double)(benign ? batch->node_count : batch->graph_count);
        next->position += batch->graph_count;
        leat_graph_batch_release(batch);
    }
    assert_ok(leat_feed_weight(&of->feed, &place, &weight, err));
    assert_true(weight == expected);
    next->unit = left > options->unit_size && at->unit + 1 < options->units ? at->unit + 1 : 0;
    next->step += next->unit == 0;
}

/* All epochs, as a loader with these options has them. */
static void check_feed(const char *model, const char *cache_dir, const pooled_row *row,
                       int64_t units) {
    leat_train_options options = options_default(row);
    side of;
    walk at = {0};
    int64_t steps = 0, position = 0, graphs = 0;
    options.units = units;
    assert_ok(open_side(&of, model, cache_dir, &options, err));
    const leat_graph_filter filter = ((const leat_graph_feed *)of.feed.class)->graphs;
    leat_can_cache *cache = graphs_open(cache_dir);
    leat_graph_loader_options as = loader_of(row, &options, filter);
    leat_graph_loader *loader = graphs_create(cache, &as);
    for (int64_t e = 0; e < EPOCHS; e++) {
        leat_graph_epoch_facts facts;
        assert_ok(leat_graph_loader_get_epoch(loader, e, &facts, err));
        const int64_t before = at.position;
        for (int64_t b = 0; b < facts.batch_count; b += options.unit_size)
            check_unit(&of, loader, &at, b, facts.batch_count - b, &at);
        assert_int_equal(at.unit, 0); /* no step has batches of two epochs */
        assert_int_equal(at.position - before, facts.graph_count);
        if (row->graphs.curriculum == LEAT_CURRICULUM_NONE)
            assert_int_equal(facts.graph_count, of.feed.count);
        else assert_true(facts.graph_count > graphs); /* a tier more */
        graphs = facts.graph_count;
    }
    assert_ok(leat_feed_steps(&of.feed, &of.all.run, &steps, err));
    assert_int_equal(steps, at.step);
    assert_ok(leat_feed_position(&of.feed, steps, &position, err));
    assert_int_equal(position, at.position);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
    close_side(&of);
}

static void units_are_the_batches_of_a_loader(void **state) {
    (void)state;
    for (int pack = LEAT_PACK_FFD; pack <= LEAT_PACK_FIXED; pack++) {
        pooled_row row = row_default();
        row.graphs.pack = (leat_graph_pack)pack;
        row.graphs.batch = 3;
        if (pack == LEAT_PACK_FIXED) row.model.max_nodes = row.model.max_edges = INT32_MAX;
        check_feed("pooled", pack % 2 == 0 ? graphs_stored : graphs_framed, &row, 2);
        check_feed("pooled-benign", pack % 2 == 1 ? graphs_stored : graphs_framed, &row, 3);
    }
}

/* A curriculum adds graphs, so that epochs differ in their number of batches, and min-steps makes
 * them smaller; unlabelled graphs are not trained on. */
static void epochs_may_differ(void **state) {
    make_cache some = make_cache_default();
    char dir[256];
    (void)state;
    some.unlabelled = true;
    graphs_make("unlabelled", &some, dir);
    pooled_row row = row_default();
    row.graphs.curriculum = LEAT_CURRICULUM_RANDOM;
    row.graphs.tiers = row.graphs.curriculum_epochs = EPOCHS;
    row.graphs.curriculum_end = 3;
    check_feed("pooled", dir, &row, 1);
    check_feed("pooled-benign", dir, &row, 2);
    row.graphs.min_steps = 9;
    check_feed("pooled-benign", dir, &row, 2);
}

/* ---- Any order, several threads ------------------------------------------------------------- */

enum { ASKED = 40, THREADS = 3 };

/* What a unit is, as a hash; 0: the step has no such unit. */
static uint64_t hash_unit(const leat_feed *feed, int64_t step, int64_t unit, void *batch) {
    leat_unit_place place;
    int64_t units = 0;
    double weight = 0;
    assert_ok(leat_feed_units(feed, step, &units, err));
    if (unit >= units) return 0;
    assert_ok(leat_feed_place(feed, step, unit, &place, err));
    assert_ok(leat_feed_weight(feed, &place, &weight, err));
    uint64_t hash = leat_xxh3(&place, sizeof place) ^ (uint64_t)weight;
    for (int64_t i = 0; i < place.batches; i++) {
        assert_ok(feed->class->make(feed, &place, i, batch, err));
        const leat_graph_micro *micro = batch;
        const uint64_t parts[] = {
            hash, leat_xxh3(micro->x, micro->nodes * LEAT_NODE_FEATURES * 4),
            leat_xxh3(micro->edge_attr, micro->edges * LEAT_EDGE_FEATURES * 4),
            leat_xxh3(micro->number, micro->graphs * 8)};
        hash = leat_xxh3(parts, sizeof parts);
    }
    return hash;
}

typedef struct asking {
    const leat_feed *feed;
    uint64_t (*hashes)[2]; /* [ASKED][unit] */
} asking;

/* Each thread asks for its steps, from the last to the first. */
static leat_code ask(void *context, int index, leat_error *err) {
    const asking *of = context;
    void *batch = malloc((size_t)of->feed->batch_bytes);
    (void)err;
    for (int64_t step = ASKED - 1; step >= 0; step--)
        if (step % THREADS == index)
            for (int64_t unit = 0; unit < 2; unit++)
                of->hashes[step][unit] = hash_unit(of->feed, step, unit, batch);
    free(batch);
    return LEAT_OK;
}

static void any_order_and_any_threads(void **state) {
    uint64_t forward[ASKED][2], threaded[ASKED][2];
    const pooled_row row = row_default();
    const leat_train_options options = options_default(&row);
    side one, many, far;
    (void)state;
    assert_ok(open_side(&one, "pooled", graphs_framed, &options, err));
    assert_ok(open_side(&many, "pooled", graphs_framed, &options, err));
    assert_ok(open_side(&far, "pooled", graphs_framed, &options, err));
    for (int64_t step = 0; step < ASKED; step++)
        for (int64_t unit = 0; unit < 2; unit++)
            forward[step][unit] = hash_unit(&one.feed, step, unit, one.batch);
    asking asking = {&many.feed, threaded};
    assert_ok(run_threads(THREADS, ask, &asking, err));
    assert_memory_equal(forward, threaded, sizeof forward);
    /* where a run resumes: the first that this process asks for */
    assert_true(hash_unit(&far.feed, ASKED - 1, 0, far.batch) == forward[ASKED - 1][0]);
    assert_true(forward[ASKED - 1][0] != 0);
    close_side(&one);
    close_side(&many);
    close_side(&far);
}

/* ---- What the data decide ------------------------------------------------------------------- */

static void the_data_decide_what_is_not_set(void **state) {
    made_graphs graphs = make_graphs(0, &(make_cache){.graphs = {60, 12}, .window = 20});
    pooled_row row = row_default();
    leat_train_options options = options_default(&row);
    side of;
    (void)state;
    row.model.max_nodes = row.model.max_edges = 0;
    options.micro_batch = 7;
    assert_ok(open_side(&of, "pooled", graphs_stored, &options, err));
    const pooled_settings *settled = of.all.run.settings;
    assert_int_equal(settled->vocabulary, VOCABULARY);
    assert_int_equal(settled->max_nodes, (7 * graphs.nodes + 59) / 60);
    assert_int_equal(settled->max_edges, (7 * graphs.edges + 59) / 60);
    assert_int_equal(row.model.vocabulary, 0); /* the caller's own is not changed */
    close_side(&of);
    row.model.max_edges = 500; /* what is set stays */
    options.micro_batch = 2;
    assert_ok(open_side(&of, "pooled", graphs_stored, &options, err));
    settled = of.all.run.settings;
    assert_true(settled->max_edges == 500 && settled->max_nodes >= 2 * graphs.nodes / 60);
    close_side(&of);
    row.model.max_edges = 0;
    row.graphs.pack = LEAT_PACK_FIXED; /* the largest batch that there may be */
    row.graphs.batch = 60;
    assert_ok(open_side(&of, "pooled", graphs_stored, &options, err));
    settled = of.all.run.settings;
    assert_int_equal(settled->max_nodes, graphs.nodes);
    assert_int_equal(settled->max_edges, graphs.edges);
    close_side(&of);
    made_graphs_free(&graphs);
}

/* What a run of another cache has, or nobody has settled. */
static void other_numbers_are_refused(void **state) {
    pooled_row row = row_default();
    const leat_train_options options = options_default(&row);
    leat_feed feed = {0};
    (void)state;
    row.model.vocabulary = VOCABULARY + 1;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION,
            "vocabulary is 32, but the cache has 30 identifiers and the unknown one, 31");
    row.model.vocabulary = 0;
    assert_ok(leat_feed_open(&feed, pooled_task.feed, graphs_stored, err));
    assert_fails(leat_feed_plan(&feed, &options, err), LEAT_ERR_OPTION, "vocabulary is 0");
    row.model.vocabulary = VOCABULARY;
    row.model.max_edges = 0;
    assert_fails(leat_feed_plan(&feed, &options, err), LEAT_ERR_OPTION,
                 "max-nodes is 60 and max-edges 0");
    leat_feed_close(&feed);
}

/* ---- What may go wrong ---------------------------------------------------------------------- */

static void budgets(void **state) {
    pooled_row row = row_default();
    leat_train_options options = options_default(&row);
    side of;
    (void)state;
    row.model.max_nodes = 12;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION,
            "more than a batch may have (max-nodes 12, max-edges 200); raise them, or leave such "
            "graphs out with --oversize skip");
    row.graphs.oversize = LEAT_GRAPH_OVERSIZE_SKIP;
    assert_ok(open_side(&of, "pooled", graphs_stored, &options, err));
    assert_non_null(strstr(of.feed.note, "of 60 graphs are left out: they have more than 12 nodes "
                                         "or 200 edges"));
    close_side(&of);
    row.model.max_nodes = 1;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION, "no graph is so small; raise them");
    row.model.max_nodes = 60;
    row.graphs.pack = LEAT_PACK_FIXED;
    row.graphs.oversize = LEAT_GRAPH_OVERSIZE_FAIL;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION, "batches of 32 graphs have up to");
    row.graphs.oversize = LEAT_GRAPH_OVERSIZE_SKIP;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION,
            "oversize skip and pack fixed: batches of a fixed number of graphs leave none out");
    row = row_default();
    row.graphs.curriculum = LEAT_CURRICULUM_RANDOM;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION, "set curriculum-epochs");
    row.graphs.curriculum_epochs = 4;
    row.graphs.curriculum_start = 11;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION, "above curriculum-end");
}

static void too_many_epochs(void **state) {
    const pooled_row row = row_default();
    leat_train_options options = options_default(&row);
    int64_t steps = 0;
    side of;
    (void)state;
    assert_ok(open_side(&of, "pooled", graphs_stored, &options, err));
    options.epochs = LEAT_GRAPH_RUN_EPOCHS_MAX + 1;
    assert_fails(leat_feed_steps(&of.feed, &options, &steps, err), LEAT_ERR_OPTION,
                 "1048577 epochs: too many");
    options.epochs = 0;
    options.steps = of.feed.steps_most + 1;
    assert_fails(leat_feed_steps(&of.feed, &options, &steps, err), LEAT_ERR_OPTION, "too many");
    options.steps--;
    assert_ok(leat_feed_steps(&of.feed, &options, &steps, err));
    leat_unit_place place;
    assert_fails(of.feed.class->place(&of.feed, 0, 2, &place, err), LEAT_ERR_OPTION,
                 "step 1 has no unit 2");
    assert_fails(of.feed.class->place(&of.feed, options.steps + 1, 0, &place, err), LEAT_ERR_OPTION,
                 "a run over these graphs has at most ");
    close_side(&of);
}

static void all_attacks(made_graphs *made) {
    for (int64_t g = 0; g < made->graphs; g++) made->y[g] = made->attack_type[g] = 1;
}
static void no_labels(made_graphs *made) {
    for (int64_t g = 0; g < made->graphs; g++) made->y[g] = made->attack_type[g] = -1;
}
/* Of graph 9, an edge; of graph 17, a node. */
static void no_number(made_graphs *made) {
    made->edge_attr[made->edge_ptr[9] * LEAT_EDGE_FEATURES + 3] = INFINITY;
    made->x[(made->node_ptr[18] - 1) * LEAT_NODE_FEATURES + 34] = NAN;
}

static void no_graph_to_train_on(void **state) {
    const pooled_row row = row_default();
    const leat_train_options options = options_default(&row);
    make_cache of_cache = make_cache_default();
    char dir[256];
    (void)state;
    of_cache.change = all_attacks;
    graphs_make("attacks", &of_cache, dir);
    refused("pooled-benign", dir, &options, LEAT_ERR_INPUT,
            "the split train has no benign graph to train on (60 graphs, 60 with an attack, 0 "
            "unlabelled)");
    of_cache.change = no_labels;
    graphs_make("nolabels", &of_cache, dir);
    refused("pooled", dir, &options, LEAT_ERR_INPUT, "no labelled graph to train on (60 graphs, 0");
    of_cache = (make_cache){.graphs = {0, 12}, .window = 20};
    graphs_make("empty", &of_cache, dir);
    refused("pooled", dir, &options, LEAT_ERR_INPUT, "no labelled graph to train on (0 graphs");
    refused("pooled", loader_folder(), &options, LEAT_ERR_INPUT, "caches");
    refused("pooled", "/dev/null", &options, LEAT_ERR_NOT_FOUND, "is not a folder");
}

/* A step far beyond the end would be found by planning all epochs before it. */
static void what_comes_after_the_end_is_refused(void **state) {
    const pooled_row row = row_default();
    const leat_train_options options = options_default(&row);
    leat_unit_place place;
    int64_t steps = 0, units = 0;
    side of;
    (void)state;
    assert_ok(open_side(&of, "pooled", graphs_stored, &options, err));
    assert_ok(leat_feed_steps(&of.feed, &options, &steps, err));
    leat_feed_end(&of.feed, steps);
    assert_ok(leat_feed_place(&of.feed, steps, 0, &place, err));
    assert_fails(leat_feed_place(&of.feed, steps + 1, 0, &place, err), LEAT_ERR_OPTION,
                 "the run has ");
    assert_fails(leat_feed_units(&of.feed, of.feed.steps_most, &units, err), LEAT_ERR_OPTION,
                 "the run has ");
    close_side(&of);
}

static void overlap(leat_can_meta *meta) {
    assert_ok(leat_can_meta_set(meta, "allow-overlap", "true", err));
}

static void windows_of_both_splits_are_told(void **state) {
    const pooled_row row = row_default();
    const leat_train_options options = options_default(&row);
    make_cache of_cache = make_cache_default();
    char dir[256];
    side of;
    (void)state;
    of_cache.change_meta = overlap;
    graphs_make("overlap", &of_cache, dir);
    assert_ok(open_side(&of, "pooled", dir, &options, err));
    assert_non_null(strstr(of.feed.note, "validation windows have frames of training windows"));
    close_side(&of);
    assert_ok(open_side(&of, "pooled", graphs_stored, &options, err));
    assert_string_equal(of.feed.note, "");
    close_side(&of);
}

/* ---- A curriculum by scores ------------------------------------------------------------------ */

/* A file in which a graph with a higher number has a lower score. */
static const char *write_scores(const char *name, const char *score_name, const char *digest) {
    static char path[300];
    leat_json *json = NULL;
    snprintf(path, sizeof path, "%s/%s", loader_folder(), name);
    assert_ok(leat_json_create(&json, true, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, "fingerprint", digest);
    leat_json_member_string(json, "score_name", score_name);
    for (int list = 0; list < 3; list++) {
        static const char *const names[] = {"capture", "window_start", "score"};
        leat_json_key(json, names[list]);
        leat_json_begin_array(json);
        for (int g = 0; g < 60; g++)
            leat_json_double(json, list == 0 ? g % 2 : list == 1 ? 10 * g : -g);
        leat_json_end_array(json);
    }
    leat_json_end_object(json);
    assert_ok(leat_json_save(json, path, err));
    return path;
}

static void scores_rank_benign_graphs(void **state) {
    pooled_row row = row_default();
    leat_train_options options = options_default(&row);
    leat_can_facts facts;
    leat_can_cache *cache = graphs_open(graphs_stored);
    int64_t seen = 0;
    side of;
    (void)state;
    leat_can_cache_get_facts(cache, &facts);
    row.graphs.curriculum = LEAT_CURRICULUM_SCORES;
    row.graphs.tiers = row.graphs.curriculum_epochs = 3;
    row.graphs.curriculum_end = 3;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION, "requires their file, also of a");
    options.scores = write_scores("scores.json", "difficulty", facts.fingerprint);
    assert_ok(open_side(&of, "pooled", graphs_stored, &options, err));
    const pooled_row *settled = (const void *)&of.all.settings;
    assert_true(settled->graphs.scores_hash > 0);
    for (int64_t step = 0;; step++) { /* the first epoch */
        leat_unit_place place;
        assert_ok(leat_feed_place(&of.feed, step, 0, &place, err));
        if (place.epoch > 0) break;
        const int64_t next = step;
        int64_t units = 0;
        assert_ok(leat_feed_units(&of.feed, next, &units, err));
        for (int64_t u = 0; u < units; u++) {
            assert_ok(leat_feed_place(&of.feed, next, u, &place, err));
            for (int64_t i = 0; i < place.batches; i++) {
                const leat_graph_micro *micro = micro_of(&of, &place, i);
                for (int64_t g = 0; g < micro->graphs; g++) {
                    if (micro->label[g] != 0) continue;
                    assert_true(micro->number[g] >= 40); /* the last 16 of 48 benign ones */
                    seen++;
                }
            }
        }
    }
    assert_int_equal(seen, 16);
    const int64_t hash = settled->graphs.scores_hash;
    close_side(&of);
    row.graphs.scores_hash = hash + 1;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION, "has other scores (scores-hash");
    row.graphs.scores_hash = hash;
    assert_ok(open_side(&of, "pooled", graphs_stored, &options, err));
    close_side(&of);
    row.graphs.curriculum = LEAT_CURRICULUM_NONE;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION, "scores are for a curriculum");
    options.scores = NULL;
    refused("pooled", graphs_stored, &options, LEAT_ERR_OPTION, "there is no curriculum by scores");
    row.graphs.curriculum = LEAT_CURRICULUM_SCORES;
    options.scores = write_scores("residual.json", "residual", facts.fingerprint);
    refused("pooled", graphs_stored, &options, LEAT_ERR_INPUT, "the scores are \"residual\"");
    options.scores = write_scores("other.json", "difficulty", "00");
    refused("pooled", graphs_stored, &options, LEAT_ERR_INPUT, "of a cache with fingerprint 00");
    leat_can_cache_close(cache);
}

/* Every unit of the first epoch, until one fails. */
static leat_code make_all(const side *of, leat_error *why) {
    for (int64_t step = 0, epoch = 0; epoch == 0; step++) {
        leat_unit_place place;
        int64_t units = 0;
        LEAT_TRY(leat_feed_units(&of->feed, step, &units, why));
        for (int64_t u = 0; u < units; u++) {
            LEAT_TRY(leat_feed_place(&of->feed, step, u, &place, why));
            for (int64_t i = 0; i < place.batches; i++)
                LEAT_TRY(of->feed.class->make(&of->feed, &place, i, of->batch, why));
        }
        epoch = place.epoch;
    }
    return LEAT_OK;
}

static void what_is_no_number_is_named(void **state) {
    pooled_row row = row_default();
    const leat_train_options options = options_default(&row);
    make_cache of_cache = make_cache_default();
    leat_error why = {0};
    char dir[256];
    side of;
    (void)state;
    row.graphs.pack = LEAT_PACK_FIXED;
    row.graphs.batch = 1;
    row.model.max_nodes = row.model.max_edges = 0;
    of_cache.change = no_number;
    graphs_make("nonumber", &of_cache, dir);
    assert_ok(open_side(&of, "pooled", dir, &options, err));
    assert_int_equal(make_all(&of, &why), LEAT_ERR_INPUT);
    const bool node = strstr(why.message, "graph 17: a node has the ") != NULL;
    const bool edge = strstr(why.message, "graph 9: an edge has the ") != NULL;
    if (!node && !edge) fail_msg("%s", why.message);
    close_side(&of);
}

static void damage_is_named(void **state) {
    const pooled_row row = row_default();
    const leat_train_options options = options_default(&row);
    make_cache of_cache = make_cache_default();
    leat_error why = {0};
    char dir[256];
    side of;
    (void)state;
    graphs_make("damaged", &of_cache, dir);
    assert_ok(open_side(&of, "pooled", dir, &options, err));
    assert_ok(make_all(&of, err));
    close_side(&of);
    loader_flip(dir, "train.safetensors", 60000, 3);
    leat_code code = open_side(&of, "pooled", dir, &options, &why);
    if (code == LEAT_OK) code = make_all(&of, &why);
    assert_int_equal(code, LEAT_ERR_CORRUPT);
    assert_non_null(strstr(why.message, "train.safetensors"));
    close_side(&of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_the_batches_of_a_loader),
        cmocka_unit_test(epochs_may_differ),
        cmocka_unit_test(any_order_and_any_threads),
        cmocka_unit_test(the_data_decide_what_is_not_set),
        cmocka_unit_test(other_numbers_are_refused),
        cmocka_unit_test(budgets),
        cmocka_unit_test(too_many_epochs),
        cmocka_unit_test(no_graph_to_train_on),
        cmocka_unit_test(what_comes_after_the_end_is_refused),
        cmocka_unit_test(windows_of_both_splits_are_told),
        cmocka_unit_test(scores_rank_benign_graphs),
        cmocka_unit_test(what_is_no_number_is_named),
        cmocka_unit_test(damage_is_named),
    };
    return cmocka_run_group_tests(tests, graphs_setup, loader_teardown);
}
