/*
 * An epoch is put together from groups of graphs that are packed by themselves: all of them are one
 * group, or each tier is one (preset reference). The graphs of a group are taken from an order that
 * is made once, since sizes never change; a group appends its graphs to `order` and their batches
 * to `bin`. At the end these are sorted into the batches, in the order that a permutation gives
 * them.
 */
#include "batch/graphs/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/mt19937.h"
#include "base/rng.h"
#include "batch/graphs/order.h"
#include "batch/graphs/tiers.h"
#include "batch/random_streams.h"

/* In `tier`, behind all tiers: graphs with attacks and unlabelled ones, always active; and those
 * that are not packed. The number of ATTACK is part of the keys of draws and must not change. */
enum { LEFT_OUT = 253, ATTACK = 254, OVERSIZE = 255 };

/* A group: one tier, or all that are active. */
enum { ALL_ACTIVE = -1 };

struct leat_graph_plan {
    leat_graph_batch_options options;
    leat_graph_sizes sizes;
    leat_graph_limits limits;
    leat_graph_plan_facts facts;
    uint8_t *tier;    /* [count] 0 without a curriculum */
    uint32_t *packed; /* those that are packed, in the order that the packer wants */
    int64_t packed_count;
    uint32_t *order, *bin; /* [count] of the epoch that is planned */
    uint32_t *begin;       /* of each of its batches */
    int64_t begin_capacity;
    uint32_t *oversize;
    uint8_t *oversize_tier;
    leat_packer packer;
    leat_graph_windows windows; /* none in the global order */
    uint32_t *window;           /* [count] of each graph in the epoch that is planned */
    uint32_t *share;            /* [windows + 1] of plan_windows */
};

/* ---- making a plan: labels ----------------------------------------------------------------- */

static bool has_attack(const int32_t *y, int64_t graph) { return y != NULL && y[graph] > 0; }
static bool is_benign(const int32_t *y, int64_t graph) { return y == NULL || y[graph] == 0; }

static bool passes(leat_graph_filter filter, const int32_t *y, int64_t graph) {
    if (is_benign(y, graph)) return filter != LEAT_FILTER_ATTACK;
    return has_attack(y, graph) ? filter != LEAT_FILTER_BENIGN : filter == LEAT_FILTER_ALL;
}

static leat_code leave_out(leat_graph_plan *plan, const int32_t *y, leat_error *err) {
    const leat_graph_filter filter = plan->options.graphs;
    const bool benign = filter == LEAT_FILTER_BENIGN;
    int64_t count = plan->sizes.count, unlabelled = 0;
    if (filter == LEAT_FILTER_ALL) return LEAT_OK;
    for (int64_t g = 0; g < count; g++) {
        if (passes(filter, y, g)) continue;
        plan->tier[g] = LEFT_OUT;
        unlabelled += y != NULL && y[g] < 0;
        plan->facts.left_out++;
    }
    if (plan->facts.left_out < count) return LEAT_OK;
    if (filter == LEAT_FILTER_LABELLED)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "graphs labelled: none of %lld graphs is labelled; use another split, or "
                         "graphs all",
                         (long long)count);
    return leat_fail(err, LEAT_ERR_OPTION,
                     "graphs %s: no graph %s (y = %d: 0 of %lld; unlabelled: %lld); use another "
                     "split, or graphs all",
                     benign ? "benign" : "attack", benign ? "is labelled benign" : "has an attack",
                     !benign, (long long)count, (long long)unlabelled);
}

/* ---- making a plan: tiers ------------------------------------------------------------------ */

static bool in_reference(const leat_graph_plan *plan) {
    return plan->options.preset == LEAT_GRAPHS_REFERENCE;
}

static void draw_scores(const leat_graph_plan *plan, const uint32_t *graphs, int64_t count,
                        double *score) {
    leat_mt19937 mt;
    leat_mt19937_seed(&mt, plan->options.seed);
    uint64_t key = leat_random(plan->options.seed, LEAT_STREAM_GRAPH_RANK, 0);
    for (int64_t i = 0; i < count; i++) {
        score[graphs[i]] = in_reference(plan) ? (double)leat_mt19937_unit(&mt)
                                              : leat_random_unit(leat_random_at(key, graphs[i]));
    }
}

static leat_code check_scores(const uint32_t *graphs, int64_t count, const double *score,
                              leat_error *err) {
    if (score == NULL) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "curriculum: no scores are given; give those of a trained model");
    }
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(score[graphs[i]])) continue;
        return leat_fail(err, LEAT_ERR_INPUT,
                         "curriculum: graph %u has the score %g; it must be a finite number",
                         graphs[i], score[graphs[i]]);
    }
    return LEAT_OK;
}

static leat_code rank_graphs(leat_graph_plan *plan, int64_t count, const double *given,
                             leat_error *err) {
    double *drawn = NULL;
    uint32_t *key = NULL;
    leat_code code = LEAT_OK;
    if (plan->options.curriculum == LEAT_CURRICULUM_SCORES) {
        LEAT_TRY(check_scores(plan->order, count, given, err));
    } else {
        LEAT_TRY(LEAT_NEW(&drawn, plan->sizes.count, err));
        draw_scores(plan, plan->order, count, drawn);
    }
    code = LEAT_NEW(&key, plan->sizes.count, err);
    if (code == LEAT_OK) {
        leat_tiers_sort(drawn != NULL ? drawn : given, plan->order, plan->bin, key, count);
    }
    leat_free(drawn);
    leat_free(key);
    return code;
}

static leat_code make_tiers(leat_graph_plan *plan, const int32_t *y, const double *score,
                            leat_error *err) {
    int64_t count = 0, tiers = plan->options.tiers;
    if (plan->options.curriculum == LEAT_CURRICULUM_NONE) return LEAT_OK;
    for (int64_t g = 0; g < plan->sizes.count; g++) {
        if (plan->tier[g] == LEFT_OUT) continue;
        if (!is_benign(y, g)) plan->tier[g] = ATTACK;
        else plan->order[count++] = (uint32_t)g;
    }
    LEAT_TRY(rank_graphs(plan, count, score, err));
    for (int64_t t = 0; t < tiers; t++) {
        int64_t end = leat_tier_begin(count, tiers, t + 1);
        for (int64_t i = leat_tier_begin(count, tiers, t); i < end; i++) {
            plan->tier[plan->order[i]] = (uint8_t)t;
        }
    }
    return LEAT_OK;
}

/* ---- making a plan: sizes ------------------------------------------------------------------ */

static leat_code refuse_oversize(const leat_graph_plan *plan, int64_t graph, leat_error *err) {
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "graph %lld has %d nodes and %d edges, over the budget of a batch (max-nodes %lld, "
        "max-edges %lld; 0: no limit); raise it, or set oversize to skip or alone",
        (long long)graph, plan->sizes.nodes[graph], plan->sizes.edges[graph],
        (long long)plan->options.max_nodes, (long long)plan->options.max_edges);
}

static bool is_over(const leat_graph_plan *plan, int64_t graph) {
    return plan->tier[graph] != LEFT_OUT && !leat_graph_fits(&plan->sizes, &plan->limits, graph);
}

static leat_code take_out_oversize(leat_graph_plan *plan, leat_error *err) {
    leat_graph_plan_facts *facts = &plan->facts;
    facts->graph_count = plan->sizes.count - facts->left_out;
    for (int64_t g = 0; g < plan->sizes.count; g++) {
        if (plan->sizes.nodes[g] < 0 || plan->sizes.edges[g] < 0) {
            return leat_fail(err, LEAT_ERR_INPUT, "graph %lld has %d nodes and %d edges",
                             (long long)g, plan->sizes.nodes[g], plan->sizes.edges[g]);
        }
        facts->oversize_count += is_over(plan, g);
    }
    LEAT_TRY(LEAT_NEW(&plan->oversize, facts->oversize_count, err));
    LEAT_TRY(LEAT_NEW(&plan->oversize_tier, facts->oversize_count, err));
    facts->oversize = plan->oversize;
    int64_t at = 0;
    for (int64_t g = 0; at < facts->oversize_count; g++) {
        if (!is_over(plan, g)) continue;
        if (plan->options.oversize == LEAT_OVERSIZE_FAIL) return refuse_oversize(plan, g, err);
        plan->oversize[at] = (uint32_t)g;
        plan->oversize_tier[at++] = plan->tier[g];
        plan->tier[g] = OVERSIZE;
    }
    if (plan->options.oversize == LEAT_OVERSIZE_SKIP) facts->graph_count -= at;
    if (facts->graph_count > 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "all %lld graphs are over the budget of a batch: max-nodes %lld, max-edges "
                     "%lld (0: no limit)",
                     (long long)at, (long long)plan->options.max_nodes,
                     (long long)plan->options.max_edges);
}

static int64_t list_packed(const leat_graph_plan *plan, uint32_t *items) {
    int64_t count = 0;
    for (int64_t g = 0; g < plan->sizes.count; g++) {
        uint8_t tier = plan->tier[g];
        if (tier != OVERSIZE && tier != LEFT_OUT) items[count++] = (uint32_t)g;
    }
    return count;
}

static int64_t sort_by_size(leat_graph_plan *plan, const int32_t *size, bool descending,
                            uint32_t *items) {
    int64_t count = list_packed(plan, items);
    leat_order_by_key((const uint32_t *)size, descending, items, plan->bin, count);
    return count;
}

/* How many of the smallest graphs fit into `room`: more of them than of any others. */
static int64_t most_graphs(leat_graph_plan *plan, const int32_t *size, int64_t room) {
    int64_t count = sort_by_size(plan, size, false, plan->order), sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += size[plan->order[i]];
        if (sum > room) return i;
    }
    return count;
}

/* The largest total size of that many graphs. */
static int64_t most_size(leat_graph_plan *plan, const int32_t *size, int64_t graphs) {
    int64_t count = sort_by_size(plan, size, true, plan->order), sum = 0;
    for (int64_t i = 0; i < graphs && i < count; i++) sum += size[plan->order[i]];
    return sum;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void find_largest(leat_graph_plan *plan) {
    const leat_graph_limits *limits = &plan->limits;
    const leat_graph_sizes *sizes = &plan->sizes;
    leat_graph_limits *largest = &plan->facts.largest;
    int64_t by_nodes = most_graphs(plan, sizes->nodes, limits->nodes);
    int64_t by_edges = most_graphs(plan, sizes->edges, limits->edges);
    largest->graphs = smaller(smaller(by_nodes, by_edges), limits->graphs);
    largest->nodes = smaller(most_size(plan, sizes->nodes, largest->graphs), limits->nodes);
    largest->edges = smaller(most_size(plan, sizes->edges, largest->graphs), limits->edges);
    if (plan->options.oversize != LEAT_OVERSIZE_ALONE) return;
    for (int64_t i = 0; i < plan->facts.oversize_count; i++) {
        largest->graphs = larger(largest->graphs, 1);
        largest->nodes = larger(largest->nodes, sizes->nodes[plan->oversize[i]]);
        largest->edges = larger(largest->edges, sizes->edges[plan->oversize[i]]);
    }
}

static void sort_packed(leat_graph_plan *plan) {
    leat_graph_pack pack = plan->options.pack;
    bool descending = pack == LEAT_PACK_FFD || (pack == LEAT_PACK_NEXT_FIT && in_reference(plan));
    if (descending || pack == LEAT_PACK_BUCKET) {
        plan->packed_count = sort_by_size(plan, plan->sizes.nodes, descending, plan->packed);
    } else {
        plan->packed_count = list_packed(plan, plan->packed);
    }
}

/* ---- making a plan ------------------------------------------------------------------------- */

static leat_graph_limits limits_of(const leat_graph_batch_options *options) {
    bool fixed = options->pack == LEAT_PACK_FIXED;
    bool any_nodes = fixed || options->max_nodes == 0, any_edges = fixed || options->max_edges == 0;
    return (leat_graph_limits){.graphs = fixed ? options->batch : INT32_MAX,
                               .nodes = any_nodes ? INT32_MAX : options->max_nodes,
                               .edges = any_edges ? INT32_MAX : options->max_edges};
}

static leat_code build(leat_graph_plan *plan, const int32_t *y, const double *score,
                       leat_error *err) {
    int64_t count = plan->sizes.count;
    if (count < 1 || count > INT32_MAX) {
        return leat_fail(err, LEAT_ERR_INPUT, "%lld graphs; there must be 1 to %d",
                         (long long)count, INT32_MAX);
    }
    LEAT_TRY(LEAT_NEW(&plan->tier, count, err));
    LEAT_TRY(LEAT_NEW(&plan->order, count, err));
    LEAT_TRY(LEAT_NEW(&plan->bin, count, err));
    LEAT_TRY(LEAT_NEW(&plan->packed, count, err));
    LEAT_TRY(leave_out(plan, y, err));
    LEAT_TRY(make_tiers(plan, y, score, err));
    LEAT_TRY(take_out_oversize(plan, err));
    find_largest(plan);
    sort_packed(plan);
    if (plan->options.window_bytes == 0) return LEAT_OK;
    LEAT_TRY(
        leat_graph_windows_create(&plan->windows, &plan->sizes, plan->options.window_bytes, err));
    LEAT_TRY(LEAT_NEW(&plan->share, plan->windows.count + 1, err));
    return LEAT_NEW(&plan->window, count, err);
}

leat_code leat_graph_plan_create(leat_graph_plan **out, const leat_graph_batch_options *options,
                                 const leat_graph_sizes *sizes, const int32_t *y,
                                 const double *score, leat_error *err) {
    *out = NULL;
    LEAT_TRY(leat_graph_batch_options_check(options, err));
    leat_graph_plan *plan = NULL;
    LEAT_TRY(LEAT_NEW(&plan, 1, err));
    plan->options = *options;
    plan->sizes = *sizes;
    plan->limits = limits_of(options);
    leat_code code = build(plan, y, score, err);
    if (code != LEAT_OK) leat_graph_plan_destroy(plan);
    else *out = plan;
    return code;
}

void leat_graph_plan_destroy(leat_graph_plan *plan) {
    if (plan == NULL) return;
    leat_free(plan->tier);
    leat_free(plan->packed);
    leat_free(plan->order);
    leat_free(plan->bin);
    leat_free(plan->begin);
    leat_free(plan->oversize);
    leat_free(plan->oversize_tier);
    leat_packer_free(&plan->packer);
    leat_graph_windows_free(&plan->windows);
    leat_free(plan->window);
    leat_free(plan->share);
    leat_free(plan);
}

void leat_graph_plan_get_facts(const leat_graph_plan *plan, leat_graph_plan_facts *facts) {
    *facts = plan->facts;
}

const leat_graph_windows *leat_graph_plan_windows(const leat_graph_plan *plan) {
    return plan->options.window_bytes > 0 ? &plan->windows : NULL;
}

/* ---- an epoch ------------------------------------------------------------------------------ */

static bool is_active(uint8_t tier, int64_t active) { return tier < active || tier == ATTACK; }

/* With min_steps, batches are small enough for an epoch to have that many, if graphs allow it. */
static leat_graph_limits epoch_limits(const leat_graph_plan *plan, int64_t active) {
    leat_graph_limits limits = plan->limits;
    int64_t graphs = 0, nodes = 0, most = 0, steps = plan->options.min_steps;
    if (steps == 1) return limits;
    for (int64_t i = 0; i < plan->packed_count; i++) {
        uint32_t graph = plan->packed[i];
        if (!is_active(plan->tier[graph], active)) continue;
        graphs++;
        nodes += plan->sizes.nodes[graph];
        most = larger(most, plan->sizes.nodes[graph]);
    }
    if (plan->options.pack == LEAT_PACK_FIXED) {
        limits.graphs = smaller(limits.graphs, larger(graphs / steps, 1));
    } else {
        limits.nodes = smaller(limits.nodes, larger(larger(nodes / steps, most), 1));
    }
    return limits;
}

/* What is planned so far: graphs in plan->order, their batches in plan->bin. */
typedef struct planning {
    leat_graph_plan *plan;
    uint64_t key; /* of seed and epoch */
    int64_t active, graph_count, batch_count;
    bool dealt_again;
    leat_graph_limits limits;
} planning;

static int64_t list_group(const planning *it, int group, uint32_t *list) {
    const leat_graph_plan *plan = it->plan;
    int64_t count = 0;
    for (int64_t i = 0; i < plan->packed_count; i++) {
        uint32_t graph = plan->packed[i];
        uint8_t tier = plan->tier[graph];
        bool taken = group == ALL_ACTIVE ? is_active(tier, it->active) : tier == group;
        if (taken) list[count++] = graph;
    }
    return count;
}

/* The packers; each returns the number of batches, the first through *bins. */
static leat_code pack_decreasing(planning *it, uint64_t key, const leat_pack_list *list,
                                 int64_t *bins, leat_error *err) {
    leat_graph_plan *plan = it->plan;
    if (in_reference(plan)) {
        LEAT_TRY(leat_pack_first_fit(&plan->packer, list, err));
    } else {
        bool again = false;
        LEAT_TRY(leat_pack_all_dealt(&plan->packer, list, key, &again, err));
        it->dealt_again = it->dealt_again || again;
    }
    *bins = plan->packer.bin_count;
    return LEAT_OK;
}

/* `order` is that of the list. */
static int64_t pack_walk(const planning *it, uint64_t key, const leat_pack_list *list,
                         uint32_t *order) {
    const leat_graph_plan *plan = it->plan;
    if (plan->options.pack == LEAT_PACK_BUCKET) {
        memcpy(list->bin, order, sizeof(*order) * (size_t)list->count);
        leat_order_buckets(key, list->bin, list->count, order);
    } else if (plan->options.pack == LEAT_PACK_FIXED || !in_reference(plan)) {
        leat_order_shuffle(key, order, list->count);
    }
    return leat_pack_next_fit(list);
}

/* Packs the next `count` graphs of plan->order. */
static leat_code pack_next(planning *it, uint64_t key, int64_t count, leat_error *err) {
    leat_graph_plan *plan = it->plan;
    uint32_t *order = plan->order + it->graph_count, *bin = plan->bin + it->graph_count;
    leat_pack_list list = {&plan->sizes, &it->limits, order, count, bin};
    int64_t bins = 0;
    if (plan->options.pack == LEAT_PACK_FFD) {
        LEAT_TRY(pack_decreasing(it, key, &list, &bins, err));
    } else {
        bins = pack_walk(it, key, &list, order);
    }
    for (int64_t i = 0; i < count; i++) bin[i] += (uint32_t)it->batch_count;
    it->graph_count += count;
    it->batch_count += bins;
    return LEAT_OK;
}

static leat_code plan_group(planning *it, int group, leat_error *err) {
    uint64_t key = leat_random_at(it->key, (uint64_t)(group - ALL_ACTIVE));
    int64_t count = list_group(it, group, it->plan->order + it->graph_count);
    return pack_next(it, key, count, err);
}

static void plan_oversize(planning *it) {
    leat_graph_plan *plan = it->plan;
    if (plan->options.oversize != LEAT_OVERSIZE_ALONE) return;
    for (int64_t i = 0; i < plan->facts.oversize_count; i++) {
        if (!is_active(plan->oversize_tier[i], it->active)) continue;
        plan->order[it->graph_count] = plan->oversize[i];
        plan->bin[it->graph_count++] = (uint32_t)it->batch_count++;
    }
}

/* ---- an epoch in windows -------------------------------------------------------------------- */

/* Sorts items[] by the windows of their graphs, stably, into to[]; end[w] receives where those of
 * window w end. */
static void sort_by_window(const leat_graph_plan *plan, const uint32_t *items, int64_t count,
                           uint32_t *to, uint32_t *end) {
    int64_t windows = plan->windows.count;
    memset(end, 0, sizeof(*end) * (size_t)(windows + 1));
    for (int64_t i = 0; i < count; i++) end[plan->window[items[i]] + 1]++;
    for (int64_t w = 0; w < windows; w++) end[w + 1] += end[w];
    for (int64_t i = 0; i < count; i++) to[end[plan->window[items[i]]]++] = items[i];
}

/* Batches of one graph that is over the budget are the last ones of their window: share[w] of them,
 * from next[w] on. */
static void put_oversize(planning *it, uint32_t *next) {
    leat_graph_plan *plan = it->plan;
    for (int64_t i = 0; i < plan->facts.oversize_count; i++) {
        if (!is_active(plan->oversize_tier[i], it->active)) continue;
        plan->order[it->graph_count] = plan->oversize[i];
        plan->bin[it->graph_count++] = next[plan->window[plan->oversize[i]]]++;
    }
}

static void count_oversize(const planning *it, uint32_t *share) {
    const leat_graph_plan *plan = it->plan;
    memset(share, 0, sizeof(*share) * (size_t)(plan->windows.count + 1));
    if (plan->options.oversize != LEAT_OVERSIZE_ALONE) return;
    for (int64_t i = 0; i < plan->facts.oversize_count; i++) {
        if (is_active(plan->oversize_tier[i], it->active)) share[plan->window[plan->oversize[i]]]++;
    }
}

static leat_code plan_windows(planning *it, int64_t number, leat_graph_epoch *epoch,
                              leat_error *err) {
    leat_graph_plan *plan = it->plan;
    int64_t windows = plan->windows.count, done = 0;
    uint64_t key = leat_random(plan->options.seed, LEAT_STREAM_GRAPH_WINDOW, (uint64_t)number);
    leat_graph_windows_of(&plan->windows, plan->options.seed, number, plan->window);
    /* epoch->window holds the ends until each is replaced by the window's first batch */
    sort_by_window(plan, plan->bin, list_group(it, ALL_ACTIVE, plan->bin), plan->order,
                   epoch->window);
    count_oversize(it, plan->share);
    for (int64_t w = 0; w < windows; w++) {
        int64_t end = epoch->window[w];
        epoch->window[w] = (uint32_t)it->batch_count;
        LEAT_TRY(pack_next(it, leat_random_at(key, (uint64_t)w), end - done, err));
        done = end;
        int64_t alone = plan->share[w];
        plan->share[w] = (uint32_t)it->batch_count;
        it->batch_count += alone;
    }
    epoch->window[windows] = (uint32_t)it->batch_count;
    if (plan->options.oversize == LEAT_OVERSIZE_ALONE) put_oversize(it, plan->share);
    return LEAT_OK;
}

/* ---- all epochs ----------------------------------------------------------------------------- */

/* The batch, in the order in which they were packed, that is the b-th of the epoch. */
static int64_t batch_at(const leat_graph_epoch *epoch, uint64_t key, int64_t window, int64_t b) {
    int64_t first = epoch->window[window], count = epoch->window[window + 1] - first;
    /* the only window of the global order has the key itself */
    if (epoch->window_count > 1) key = leat_random_at(key, (uint64_t)window);
    return first + leat_permute(key, count, b - first);
}

/* Sorts the graphs into their batches, and the batches into the order of the epoch. */
static leat_code deliver(const planning *it, uint64_t key, leat_graph_epoch *epoch,
                         leat_error *err) {
    leat_graph_plan *plan = it->plan;
    int64_t bins = it->batch_count, graphs = 0, window = 0;
    LEAT_TRY(LEAT_GROW(&plan->begin, &plan->begin_capacity, bins + 1, err));
    LEAT_TRY(LEAT_GROW(&epoch->first, &epoch->first_capacity, bins + 1, err));
    LEAT_TRY(LEAT_GROW(&epoch->graph, &epoch->graph_capacity, plan->facts.graph_count, err));
    memset(plan->begin, 0, sizeof(*plan->begin) * (size_t)bins);
    for (int64_t i = 0; i < it->graph_count; i++) plan->begin[plan->bin[i]]++;
    for (int64_t b = 0; b < bins; b++) {
        while (b >= epoch->window[window + 1]) window++;
        uint32_t *its = &plan->begin[batch_at(epoch, key, window, b)], size = *its;
        *its = epoch->first[b] = (uint32_t)graphs;
        graphs += size;
    }
    epoch->first[bins] = (uint32_t)graphs;
    for (int64_t i = 0; i < it->graph_count; i++) {
        epoch->graph[plan->begin[plan->bin[i]]++] = plan->order[i];
    }
    return LEAT_OK;
}

leat_code leat_graph_plan_epoch(leat_graph_plan *plan, int64_t number, leat_graph_epoch *epoch,
                                leat_error *err) {
    const leat_graph_batch_options *options = &plan->options;
    uint64_t key = leat_random(options->seed, LEAT_STREAM_GRAPH_STEP, (uint64_t)number);
    planning it = {.plan = plan, .active = leat_tiers_active(options, number)};
    epoch->batch_count = epoch->graph_count = 0;
    LEAT_ASSERT(number >= 0);
    it.key = leat_random(options->seed, LEAT_STREAM_GRAPH_PACK, (uint64_t)number);
    it.limits = epoch_limits(plan, it.active);
    epoch->window_count = options->window_bytes > 0 ? plan->windows.count : 1;
    LEAT_TRY(LEAT_GROW(&epoch->window, &epoch->window_capacity, epoch->window_count + 1, err));
    if (options->window_bytes > 0) {
        LEAT_TRY(plan_windows(&it, number, epoch, err));
    } else if (in_reference(plan) && options->curriculum != LEAT_CURRICULUM_NONE) {
        for (int tier = 0; tier < it.active; tier++) LEAT_TRY(plan_group(&it, tier, err));
        LEAT_TRY(plan_group(&it, ATTACK, err));
    } else {
        LEAT_TRY(plan_group(&it, ALL_ACTIVE, err));
    }
    if (options->window_bytes == 0) {
        plan_oversize(&it);
        epoch->window[0] = 0;
        epoch->window[1] = (uint32_t)it.batch_count;
    }
    LEAT_TRY(deliver(&it, key, epoch, err));
    epoch->number = number;
    epoch->batch_count = it.batch_count;
    epoch->graph_count = it.graph_count;
    epoch->tiers = it.active;
    epoch->dealt_again = it.dealt_again;
    epoch->limits = it.limits;
    return LEAT_OK;
}

void leat_graph_epoch_free(leat_graph_epoch *epoch) {
    leat_free(epoch->first);
    leat_free(epoch->graph);
    leat_free(epoch->window);
    *epoch = (leat_graph_epoch){0};
}

int64_t leat_graph_epoch_window(const leat_graph_epoch *epoch, int64_t batch) {
    int64_t low = 0, high = epoch->window_count - 1;
    LEAT_ASSERT(batch >= 0 && batch < epoch->batch_count);
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (epoch->window[middle] <= batch) low = middle;
        else high = middle - 1;
    }
    return low;
}
