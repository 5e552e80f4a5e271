/*
 * Epochs of graph batches: every graph once, budgets kept, drawn anew each epoch and yet the same
 * for the same (seed, epoch).
 */
#include <math.h>

#include "base/hash.h"
#include "base/rng.h"
#include "graph_support.h"

static json_t *golden;

/* ---- what holds for any options ---- */

typedef struct plan_case {
    leat_graph_batch_options options;
    test_graphs graphs;
    int32_t *y; /* 1: attack, 0: benign, -1: not labelled */
    double *score;
} plan_case;

static uint64_t pick(uint64_t key, uint64_t which, uint64_t count) {
    return leat_random_below(leat_random_at(key, which), count);
}

/* Left out by the filter. */
static bool is_out(const plan_case *it, int64_t g) {
    leat_graph_filter filter = it->options.graphs;
    if (filter == LEAT_FILTER_LABELLED) return it->y[g] < 0;
    return filter != LEAT_FILTER_ALL && it->y[g] != (filter == LEAT_FILTER_ATTACK);
}

static plan_case case_of(uint64_t number) {
    uint64_t key = leat_random(15, 5, number);
    plan_case it = {.options = leat_graph_batch_options_default()};
    leat_graph_batch_options *options = &it.options;
    int64_t count = 1 + (int64_t)pick(key, 0, number % 8 == 0 ? 4 : 300);
    it.graphs = make_graphs((graph_kind)pick(key, 1, GRAPHS_KINDS), number, count);
    options->pack = (leat_graph_pack)(number % 4);
    options->preset = (leat_graph_preset)pick(key, 2, 2);
    options->batch = 1 + (int64_t)pick(key, 3, 40);
    options->max_nodes = (int64_t)pick(key, 4, 600);
    options->max_edges = (int64_t)pick(key, 5, 1500);
    if (pick(key, 6, 4) == 0) options->max_edges = 0;
    if (options->max_nodes > 0 && options->max_nodes < 3) options->max_nodes = 3;
    if (options->max_nodes == 0 && options->max_edges == 0) options->max_nodes = 200;
    options->oversize = (leat_oversize)pick(key, 7, 2);
    options->min_steps = pick(key, 8, 2) == 0 ? 1 : 1 + (int64_t)pick(key, 9, 30);
    options->seed = number;
    options->curriculum = (leat_curriculum)pick(key, 10, 3);
    options->tiers = 1 + (int64_t)pick(key, 11, 12);
    options->epochs = 1 + (int64_t)pick(key, 12, 9);
    if (pick(key, 13, 3) == 0) options->graphs = (leat_graph_filter)pick(key, 14, 4);
    if (options->graphs == LEAT_FILTER_ATTACK) options->curriculum = LEAT_CURRICULUM_NONE;
    if (pick(key, 15, 3) == 0) {
        options->window_bytes = 1 << 20;
        options->preset = LEAT_GRAPHS_DEFAULT;
    }
    it.y = calloc((size_t)count, sizeof(*it.y));
    it.score = calloc((size_t)count, sizeof(*it.score));
    for (int64_t g = 0; g < count; g++) {
        it.y[g] = pick(leat_random(1, number, 0), (uint64_t)g, 3) == 0;
        if (it.y[g] && g % 2 == 0) it.y[g] = -1; /* unlabelled: no more benign than it */
        it.score[g] = (double)pick(leat_random(2, number, 0), (uint64_t)g, 50) / 7 - 3;
        if (it.y[g] != 0 || is_out(&it, g)) it.score[g] = NAN; /* not looked at */
    }
    return it;
}

static void free_case(plan_case *it) {
    free_graphs(&it->graphs);
    free(it->y);
    free(it->score);
}

static bool is_oversize(const plan_case *it, int64_t g) {
    const leat_graph_batch_options *options = &it->options;
    if (options->pack == LEAT_PACK_FIXED || is_out(it, g)) return false;
    return (options->max_nodes > 0 && it->graphs.nodes[g] > options->max_nodes) ||
           (options->max_edges > 0 && it->graphs.edges[g] > options->max_edges);
}

static int compare_scored(const void *a, const void *b, void *context) {
    const double *score = context;
    int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    if (score[i] != score[j]) return score[i] < score[j] ? -1 : 1;
    return (i > j) - (i < j);
}

/* active[g]: whether an epoch with so many tiers has graph g; by `scores` alone. */
static void find_active(const plan_case *it, int64_t tiers, bool *active) {
    int64_t order[300], count = 0, all = it->options.tiers, at = 0;
    for (int64_t g = 0; g < it->graphs.sizes.count; g++) {
        active[g] = !is_out(it, g);
        if (it->y[g] == 0 && active[g]) order[count++] = g;
    }
    qsort_r(order, (size_t)count, sizeof(*order), compare_scored, it->score);
    for (int64_t t = 0; t < all; t++) {
        int64_t size = count / all + (t < count % all);
        for (int64_t i = 0; i < size; i++) active[order[at++]] = t < tiers;
    }
    assert_int_equal(at, count);
}

static int64_t ramp(const leat_graph_batch_options *options, int64_t epoch) {
    double share = options->epochs == 1 ? 1 : (double)epoch / (double)(options->epochs - 1);
    if (options->curriculum == LEAT_CURRICULUM_NONE) return options->tiers;
    if (share > 1) share = 1;
    double tiers = ceil((options->curriculum_start +
                         (options->curriculum_end - options->curriculum_start) * share) *
                        (double)options->tiers / options->curriculum_end);
    return tiers < 1 ? 1 : (int64_t)tiers;
}

/* What the epoch holds of each graph, checked: once if it should, never if not. */
static void check_members(const plan_case *it, const leat_graph_epoch *epoch) {
    int64_t count = it->graphs.sizes.count, active_count = 0;
    int64_t seen[300] = {0};
    bool active[300];
    for (int64_t i = 0; i < epoch->graph_count; i++) seen[epoch->graph[i]]++;
    bool ranked = it->options.curriculum == LEAT_CURRICULUM_SCORES;
    find_active(it, ranked ? epoch->tiers : it->options.tiers, active);
    for (int64_t g = 0; g < count; g++) {
        bool skipped = is_oversize(it, g) && it->options.oversize == LEAT_OVERSIZE_SKIP;
        if (it->options.curriculum == LEAT_CURRICULUM_RANDOM && it->y[g] == 0) {
            assert_true(seen[g] <= (active[g] && !skipped));
        } else {
            assert_int_equal(seen[g], active[g] && !skipped);
        }
        active_count += seen[g];
    }
    assert_int_equal(active_count, epoch->graph_count);
}

static void check_batch(const plan_case *it, const leat_graph_epoch *epoch, int64_t b,
                        const leat_graph_limits *largest) {
    int64_t nodes = 0, edges = 0, graphs = (int64_t)epoch->first[b + 1] - epoch->first[b];
    bool alone = false;
    assert_true(epoch->first[b + 1] > epoch->first[b]);
    for (int64_t i = epoch->first[b]; i < epoch->first[b + 1]; i++) {
        nodes += it->graphs.nodes[epoch->graph[i]];
        edges += it->graphs.edges[epoch->graph[i]];
        alone |= is_oversize(it, epoch->graph[i]);
    }
    assert_true(graphs <= largest->graphs && nodes <= largest->nodes && edges <= largest->edges);
    if (alone) {
        assert_int_equal(graphs, 1);
        return;
    }
    assert_true(graphs <= epoch->limits.graphs && nodes <= epoch->limits.nodes);
    assert_true(edges <= epoch->limits.edges);
    if (it->options.pack == LEAT_PACK_FIXED) {
        assert_true(graphs <= it->options.batch);
        return;
    }
    assert_true(it->options.max_nodes == 0 || nodes <= it->options.max_nodes);
    assert_true(it->options.max_edges == 0 || edges <= it->options.max_edges);
}

/* The limits are as low as min_steps asks and no lower; then an epoch has so many batches. */
static void check_steps(const plan_case *it, const leat_graph_epoch *epoch) {
    const leat_graph_batch_options *options = &it->options;
    int64_t graphs = 0, nodes = 0, most = 0, steps = options->min_steps;
    for (int64_t i = 0; i < epoch->graph_count; i++) {
        if (is_oversize(it, epoch->graph[i])) continue;
        int32_t n = it->graphs.nodes[epoch->graph[i]];
        graphs++;
        nodes += n;
        if (n > most) most = n;
    }
    int64_t want = options->max_nodes == 0 ? INT32_MAX : options->max_nodes, cap = nodes / steps;
    if (cap < most) cap = most;
    if (cap < 1) cap = 1;
    if (options->pack == LEAT_PACK_FIXED) {
        want = options->batch;
        cap = graphs / steps < 1 ? 1 : graphs / steps;
        assert_int_equal(epoch->limits.graphs, steps > 1 && cap < want ? cap : want);
    } else {
        assert_int_equal(epoch->limits.nodes, steps > 1 && cap < want ? cap : want);
    }
    bool possible = options->pack == LEAT_PACK_FIXED ? graphs >= steps : most <= nodes / steps;
    if (possible && nodes > 0 && steps > 1) assert_true(epoch->batch_count >= steps);
}

/* The batches of a window hold graphs of its chunks alone; how many windows there are. */
static int64_t check_windows(const plan_case *it, const leat_graph_plan *plan,
                             const leat_graph_epoch *epoch) {
    const leat_graph_windows *windows = leat_graph_plan_windows(plan);
    uint32_t window[300] = {0};
    assert_int_equal(windows != NULL, it->options.window_bytes > 0);
    if (windows != NULL) leat_graph_windows_of(windows, it->options.seed, epoch->number, window);
    assert_int_equal(epoch->window_count, windows == NULL ? 1 : windows->count);
    assert_int_equal(epoch->window[0], 0);
    assert_int_equal(epoch->window[epoch->window_count], epoch->batch_count);
    for (int64_t b = 0; b < epoch->batch_count; b++) {
        int64_t its = leat_graph_epoch_window(epoch, b);
        assert_true(epoch->window[its] <= b && b < epoch->window[its + 1]);
        for (int64_t i = epoch->first[b]; i < epoch->first[b + 1]; i++)
            assert_int_equal(window[epoch->graph[i]], its);
    }
    return epoch->window_count;
}

static void any_options(void **state) {
    (void)state;
    int64_t batches = 0, oversize = 0, filtered = 0, empty = 0, several = 0;
    for (uint64_t number = 0; number < 4000; number++) {
        plan_case it = case_of(number);
        leat_graph_plan *plan = NULL;
        leat_graph_plan_facts facts;
        leat_graph_epoch epoch = {.number = -1};
        int64_t fit = 0, over = 0, out = 0;
        for (int64_t g = 0; g < it.graphs.sizes.count; g++) {
            over += is_oversize(&it, g);
            out += is_out(&it, g);
            fit += !is_oversize(&it, g) && !is_out(&it, g);
        }
        bool none = fit == 0 && it.options.oversize == LEAT_OVERSIZE_SKIP;
        leat_code wanted = none ? LEAT_ERR_INPUT : LEAT_OK;
        if (out == it.graphs.sizes.count) wanted = LEAT_ERR_OPTION;
        leat_code code =
            leat_graph_plan_create(&plan, &it.options, &it.graphs.sizes, it.y, it.score, NULL);
        assert_int_equal(code, wanted);
        filtered += out > 0;
        empty += wanted == LEAT_ERR_OPTION;
        for (int64_t e = 0; plan != NULL && e < 4; e++) {
            assert_fine(leat_graph_plan_epoch(plan, e * 3, &epoch, err));
            leat_graph_plan_get_facts(plan, &facts);
            assert_int_equal(epoch.number, e * 3);
            assert_int_equal(epoch.tiers, ramp(&it.options, e * 3));
            assert_int_equal(facts.oversize_count, over);
            assert_int_equal(facts.left_out, out);
            for (int64_t i = 0; i < over; i++) {
                assert_true(is_oversize(&it, facts.oversize[i]));
                assert_true(i == 0 || facts.oversize[i] > facts.oversize[i - 1]);
            }
            bool skip = it.options.oversize == LEAT_OVERSIZE_SKIP;
            assert_int_equal(facts.graph_count, fit + (skip ? 0 : over));
            assert_int_equal(epoch.first[epoch.batch_count], epoch.graph_count);
            check_members(&it, &epoch);
            check_steps(&it, &epoch);
            several += check_windows(&it, plan, &epoch) > 1;
            for (int64_t b = 0; b < epoch.batch_count; b++) {
                check_batch(&it, &epoch, b, &facts.largest);
            }
            batches += epoch.batch_count;
            oversize += over;
        }
        leat_graph_epoch_free(&epoch);
        leat_graph_plan_destroy(plan);
        free_case(&it);
    }
    assert_true(batches > 100000 && oversize > 10000);
    assert_true(filtered > 500 && empty > 20 && several > 500);
}

static bool same_epochs(const leat_graph_epoch *a, const leat_graph_epoch *b) {
    return a->batch_count == b->batch_count && a->graph_count == b->graph_count &&
           memcmp(a->first, b->first, sizeof(*a->first) * (size_t)(a->batch_count + 1)) == 0 &&
           memcmp(a->graph, b->graph, sizeof(*a->graph) * (size_t)a->graph_count) == 0;
}

/* ---- filtered ---- */

/* The graphs with this label, by themselves: number[i] is what graph i of *some was. */
static void select_graphs(const test_graphs *all, const int32_t *y, int32_t label,
                          test_graphs *some, uint32_t *number) {
    int64_t count = 0;
    some->nodes = calloc((size_t)all->sizes.count, sizeof(int32_t));
    some->edges = calloc((size_t)all->sizes.count, sizeof(int32_t));
    for (int64_t g = 0; g < all->sizes.count; g++) {
        if (y[g] != label) continue;
        some->nodes[count] = all->nodes[g];
        some->edges[count] = all->edges[g];
        number[count++] = (uint32_t)g;
    }
    some->sizes = (leat_graph_sizes){some->nodes, some->edges, count};
}

/* A filter plans the epochs of a split that has no other graphs. */
static void filtered(void **state) {
    (void)state;
    enum { COUNT = 700 };
    test_graphs graphs = make_graphs(GRAPHS_MIXED, 5, COUNT);
    int32_t y[COUNT];
    uint32_t number[COUNT];
    for (int g = 0; g < COUNT; g++) y[g] = g % 5 == 2 ? -1 : g % 3 == 0;
    for (int way = 0; way < 16; way++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        leat_graph_epoch some = {0}, all = {0};
        test_graphs selected = {0};
        leat_graph_plan_facts facts, its;
        options.pack = (leat_graph_pack)(way % 4);
        options.preset = (leat_graph_preset)(way / 4 % 2);
        options.max_nodes = 200;
        options.max_edges = 115; /* some are over it */
        options.min_steps = 3;
        select_graphs(&graphs, y, way / 8, &selected, number);
        leat_graph_plan *alone = plan_of(&options, &selected.sizes, NULL, NULL);
        options.graphs = way / 8 == 1 ? LEAT_FILTER_ATTACK : LEAT_FILTER_BENIGN;
        leat_graph_plan *plan = plan_of(&options, &graphs.sizes, y, NULL);
        leat_graph_plan_get_facts(plan, &facts);
        leat_graph_plan_get_facts(alone, &its);
        assert_int_equal(facts.left_out, COUNT - selected.sizes.count);
        assert_int_equal(facts.graph_count, its.graph_count);
        assert_int_equal(facts.oversize_count, its.oversize_count);
        assert_true(way % 4 == LEAT_PACK_FIXED || facts.oversize_count > 0);
        assert_memory_equal(&facts.largest, &its.largest, sizeof facts.largest);
        for (int64_t e = 0; e < 3; e++) {
            assert_fine(leat_graph_plan_epoch(alone, e, &some, err));
            assert_fine(leat_graph_plan_epoch(plan, e, &all, err));
            assert_true(some.graph_count > 100);
            for (int64_t i = 0; i < some.graph_count; i++) some.graph[i] = number[some.graph[i]];
            assert_true(same_epochs(&some, &all));
        }
        leat_graph_epoch_free(&some);
        leat_graph_epoch_free(&all);
        leat_graph_plan_destroy(plan);
        leat_graph_plan_destroy(alone);
        free_graphs(&selected);
    }
    free_graphs(&graphs);
}

static void nothing_left(void **state) {
    (void)state;
    static const int32_t nodes[] = {5, 6, 7}, edges[] = {1, 2, 3}, attacks[] = {1, -1, 1};
    const leat_graph_sizes sizes = {nodes, edges, 3};
    leat_graph_batch_options options = leat_graph_batch_options_default();
    leat_graph_plan *plan = NULL;
    leat_error err = {0};
    options.graphs = LEAT_FILTER_BENIGN;
    assert_int_equal(leat_graph_plan_create(&plan, &options, &sizes, attacks, NULL, &err),
                     LEAT_ERR_OPTION);
    assert_string_equal(err.message, "graphs benign: no graph is labelled benign (y = 0: 0 of 3; "
                                     "unlabelled: 1); use another split, or graphs all");
    options.graphs = LEAT_FILTER_ATTACK;
    assert_int_equal(leat_graph_plan_create(&plan, &options, &sizes, NULL, NULL, &err),
                     LEAT_ERR_OPTION);
    assert_string_equal(err.message, "graphs attack: no graph has an attack (y = 1: 0 of 3; "
                                     "unlabelled: 0); use another split, or graphs all");
    static const int32_t unlabelled[] = {-1, -1, -1};
    options.graphs = LEAT_FILTER_LABELLED;
    assert_int_equal(leat_graph_plan_create(&plan, &options, &sizes, unlabelled, NULL, &err),
                     LEAT_ERR_OPTION);
    assert_string_equal(err.message, "graphs labelled: none of 3 graphs is labelled; use another "
                                     "split, or graphs all");
    assert_null(plan);
}

/* ---- redrawn ---- */

/* Of the pairs of graphs that share a batch in `a`, how many do so in `b`. */
static double shared_pairs(const leat_graph_epoch *a, const leat_graph_epoch *b) {
    static int32_t batch_of[20000];
    int64_t pairs = 0, shared = 0;
    for (int64_t s = 0; s < b->batch_count; s++) {
        for (uint32_t i = b->first[s]; i < b->first[s + 1]; i++) batch_of[b->graph[i]] = (int)s;
    }
    for (int64_t s = 0; s < a->batch_count; s++) {
        for (uint32_t i = a->first[s]; i + 1 < a->first[s + 1]; i++) {
            pairs++;
            shared += batch_of[a->graph[i]] == batch_of[a->graph[i + 1]];
        }
    }
    return (double)shared / (double)pairs;
}

static void redrawn(void **state) {
    (void)state;
    test_graphs graphs = make_graphs(GRAPHS_WINDOWS, 1, 20000);
    for (int way = 0; way < 8; way++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        options.pack = (leat_graph_pack)(way % 4);
        options.preset = (leat_graph_preset)(way / 4);
        options.max_nodes = 1000;
        options.max_edges = 4000;
        leat_graph_plan *plan = plan_of(&options, &graphs.sizes, NULL, NULL);
        leat_graph_plan *again = plan_of(&options, &graphs.sizes, NULL, NULL);
        options.seed = 1;
        leat_graph_plan *other = plan_of(&options, &graphs.sizes, NULL, NULL);
        leat_graph_epoch a = {0}, b = {0}, c = {0};
        assert_fine(leat_graph_plan_epoch(plan, 7, &a, err));
        for (int64_t e = 5; e < 8; e++) assert_fine(leat_graph_plan_epoch(again, e, &b, err));
        assert_true(same_epochs(&a, &b));
        assert_fine(leat_graph_plan_epoch(again, 8, &b, err));
        assert_fine(leat_graph_plan_epoch(other, 7, &c, err));
        assert_true(!same_epochs(&a, &b) && !same_epochs(&a, &c) && !same_epochs(&b, &c));
        bool frozen = way == 4 || way == 5; /* ffd and next-fit of the reference */
        double most = way % 4 == LEAT_PACK_BUCKET ? 0.05 : 0.01;
        if (frozen) {
            assert_true(shared_pairs(&a, &b) == 1 && shared_pairs(&a, &c) == 1);
        } else {
            assert_true(shared_pairs(&a, &b) < most && shared_pairs(&a, &c) < most);
        }
        leat_graph_epoch_free(&a);
        leat_graph_epoch_free(&b);
        leat_graph_epoch_free(&c);
        leat_graph_plan_destroy(plan);
        leat_graph_plan_destroy(again);
        leat_graph_plan_destroy(other);
    }
    free_graphs(&graphs);
}

/* Mean and spread, over batches that are nearly full, of the mean size of their graphs. */
static void sizes_of_batches(leat_graph_pack pack, leat_graph_preset preset,
                             const test_graphs *graphs, double *spread, int64_t *batches) {
    leat_graph_batch_options options = leat_graph_batch_options_default();
    leat_graph_epoch epoch = {0};
    options.pack = pack;
    options.preset = preset;
    options.max_nodes = 2000;
    options.max_edges = 0;
    leat_graph_plan *plan = plan_of(&options, &graphs->sizes, NULL, NULL);
    assert_fine(leat_graph_plan_epoch(plan, 0, &epoch, err));
    double sum = 0, squares = 0, count = 0;
    for (int64_t b = 0; b < epoch.batch_count; b++) {
        double nodes = 0, held = epoch.first[b + 1] - epoch.first[b];
        for (uint32_t i = epoch.first[b]; i < epoch.first[b + 1]; i++) {
            nodes += graphs->nodes[epoch.graph[i]];
        }
        if (nodes < 1900) continue;
        sum += nodes / held;
        squares += nodes / held * nodes / held;
        count++;
    }
    *spread = sqrt(squares / count - sum / count * sum / count);
    *batches = epoch.batch_count;
    leat_graph_epoch_free(&epoch);
    leat_graph_plan_destroy(plan);
}

/* Batches of ffd hold graphs of all sizes, and there are hardly more of them than must be. */
static void mixed_sizes(void **state) {
    (void)state;
    test_graphs graphs = make_graphs(GRAPHS_WINDOWS, 3, 20000);
    double spread = 0;
    int64_t batches = 0, nodes = 0;
    for (int64_t g = 0; g < 20000; g++) nodes += graphs.nodes[g];
    int64_t least = (nodes + 1999) / 2000;
    sizes_of_batches(LEAT_PACK_FFD, LEAT_GRAPHS_DEFAULT, &graphs, &spread, &batches);
    assert_true(spread < 0.5 && batches <= least + 1);
    sizes_of_batches(LEAT_PACK_NEXT_FIT, LEAT_GRAPHS_DEFAULT, &graphs, &spread, &batches);
    assert_true(spread < 4 && batches <= least + least / 40);
    sizes_of_batches(LEAT_PACK_BUCKET, LEAT_GRAPHS_DEFAULT, &graphs, &spread, &batches);
    assert_true(spread > 10);
    sizes_of_batches(LEAT_PACK_FFD, LEAT_GRAPHS_REFERENCE, &graphs, &spread, &batches);
    assert_true(spread > 10);
    free_graphs(&graphs);
}

/* Attacks in the smallest windows, and so many batches that these do not fit in at the end: they
 * made a batch of attacks alone. */
static void mixed_attacks(void **state) {
    (void)state;
    enum { COUNT = 60000 };
    test_graphs graphs = make_graphs(GRAPHS_WINDOWS, 3, COUNT);
    int32_t *y = calloc(COUNT, sizeof *y);
    int64_t attacks = 0, again = 0;
    for (int g = 0; g < COUNT; g++) {
        y[g] = leat_random_below(leat_random(9, 1, (uint64_t)g), 20) == 0;
        graphs.nodes[g] = y[g] ? 24 + graphs.nodes[g] % 3 : 32 + graphs.nodes[g] % 13;
        attacks += y[g];
    }
    for (uint64_t seed = 0; seed < 3; seed++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        options.max_nodes = 3000;
        options.max_edges = 0;
        options.seed = seed;
        leat_graph_plan *plan = plan_of(&options, &graphs.sizes, y, NULL);
        leat_graph_epoch epoch = {0};
        for (int64_t e = 0; e < 3; e++) {
            assert_fine(leat_graph_plan_epoch(plan, e, &epoch, err));
            assert_int_equal(epoch.graph_count, COUNT);
            again += epoch.dealt_again;
            for (int64_t b = 0; b < epoch.batch_count; b++) {
                int64_t held = (int64_t)epoch.first[b + 1] - epoch.first[b], its = 0;
                for (uint32_t i = epoch.first[b]; i < epoch.first[b + 1]; i++)
                    its += y[epoch.graph[i]];
                assert_true(held > 0 && its * COUNT <= 3 * attacks * held);
            }
        }
        leat_graph_epoch_free(&epoch);
        leat_graph_plan_destroy(plan);
    }
    assert_true(again > 3); /* or the sizes of this test show nothing */
    free(y);
    free_graphs(&graphs);
}

/* Resumed runs and machines that share one rely on these draws. */
static void pinned(void **state) {
    (void)state;
    static const uint64_t want[8] = {UINT64_C(0x84a371e3c8158b5b), UINT64_C(0x80856ddf286d0804),
                                     UINT64_C(0x17cf33f5a01090a5), UINT64_C(0xdd7b11e4442664b9),
                                     UINT64_C(0x5ba8dbba0d69e476), UINT64_C(0x739b8f8e25637ec5),
                                     UINT64_C(0x9a54c87fa5a38784), UINT64_C(0xff992d68fe8f819c)};
    test_graphs graphs = make_graphs(GRAPHS_MIXED, 11, 500);
    int32_t attack[500];
    for (int g = 0; g < 500; g++) attack[g] = g % 3 == 0;
    for (int way = 0; way < 8; way++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        leat_graph_epoch epoch = {0};
        options.pack = (leat_graph_pack)(way % 4);
        options.preset = (leat_graph_preset)(way / 4);
        options.max_nodes = 200;
        options.max_edges = 700;
        options.curriculum = LEAT_CURRICULUM_RANDOM;
        options.epochs = 10;
        leat_graph_plan *plan = plan_of(&options, &graphs.sizes, attack, NULL);
        assert_fine(leat_graph_plan_epoch(plan, 4, &epoch, err));
        uint64_t hash = leat_xxh3(epoch.first, (epoch.batch_count + 1) * 4) ^
                        leat_random_mix(leat_xxh3(epoch.graph, epoch.graph_count * 4));
        if (hash != want[way]) fail_msg("%d: 0x%llx", way, (unsigned long long)hash);
        leat_graph_epoch_free(&epoch);
        leat_graph_plan_destroy(plan);
    }
    free_graphs(&graphs);
}

/* ---- preset reference ---- */

/* Its batches, whatever their order, are those of first-fit decreasing by a stable sort. */
static void golden_epoch(void **state) {
    (void)state;
    int64_t count = 0;
    int32_t *nodes = numbers_of(json_object_get(golden, "nodes"), &count);
    int32_t *edges = numbers_of(json_object_get(golden, "edges"), &count);
    leat_graph_sizes sizes = {nodes, edges, count};
    for (size_t c = 0; c < 4; c++) {
        const json_t *it = json_array_get(json_object_get(golden, "cases"), c);
        const json_t *batches = json_object_get(json_object_get(it, "ffd_stable"), "batches");
        leat_graph_batch_options options = leat_graph_batch_options_default();
        options.max_nodes = json_integer_value(json_object_get(it, "max_nodes"));
        options.max_edges = json_integer_value(json_object_get(it, "max_edges")); /* null: 0 */
        options.preset = LEAT_GRAPHS_REFERENCE;
        leat_graph_plan *plan = plan_of(&options, &sizes, NULL, NULL);
        leat_graph_epoch epoch = {0};
        leat_graph_plan_facts facts;
        leat_graph_plan_get_facts(plan, &facts);
        assert_int_equal(facts.oversize_count, json_array_size(json_object_get(it, "skipped")));
        assert_fine(leat_graph_plan_epoch(plan, (int64_t)c, &epoch, err));
        assert_int_equal(epoch.batch_count, json_array_size(batches));
        for (int64_t b = 0; b < epoch.batch_count; b++) {
            const json_t *batch = NULL;
            size_t k = 0, i = 0;
            const uint32_t *its = epoch.graph + epoch.first[b];
            json_array_foreach(batches, k, batch) {
                if (json_integer_value(json_array_get(batch, 0)) == its[0]) break;
            }
            assert_int_equal(json_array_size(batch), epoch.first[b + 1] - epoch.first[b]);
            for (; i < json_array_size(batch); i++) {
                assert_int_equal(json_integer_value(json_array_get(batch, i)), its[i]);
            }
        }
        leat_graph_epoch_free(&epoch);
        leat_graph_plan_destroy(plan);
    }
    free(nodes);
    free(edges);
}

/* ---- a million ---- */

static void million(void **state) {
    (void)state;
    enum { COUNT = 1000000 };
    static bool seen[COUNT];
    test_graphs graphs = make_graphs(GRAPHS_OPPOSED, 2, COUNT);
    for (int pack = 0; pack < 4; pack++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        leat_graph_epoch epoch = {0};
        options.pack = (leat_graph_pack)pack;
        options.max_nodes = options.max_edges = 12000;
        leat_graph_plan *plan = plan_of(&options, &graphs.sizes, NULL, NULL);
        for (int64_t e = 0; e < 2; e++) {
            assert_fine(leat_graph_plan_epoch(plan, e, &epoch, err));
            assert_int_equal(epoch.graph_count, COUNT);
            memset(seen, 0, sizeof(seen));
            for (int64_t i = 0; i < COUNT; i++) {
                assert_false(seen[epoch.graph[i]]);
                seen[epoch.graph[i]] = true;
            }
        }
        leat_graph_epoch_free(&epoch);
        leat_graph_plan_destroy(plan);
    }
    free_graphs(&graphs);
}

/* ---- refused ---- */

typedef struct refusal {
    int oversize, curriculum;
    int32_t nodes[3], edges[3];
    double score[3];
    int64_t count;
    leat_code code;
    const char *says;
} refusal;

enum { NONE = LEAT_CURRICULUM_NONE, SCORES = LEAT_CURRICULUM_SCORES };
enum { SKIP = LEAT_OVERSIZE_SKIP, FAIL = LEAT_OVERSIZE_FAIL, ALONE = LEAT_OVERSIZE_ALONE };

static const refusal refusals[] = {
    {FAIL,
     NONE,
     {5, 9, 101},
     {1, 2, 3},
     {0},
     3,
     LEAT_ERR_INPUT,
     "graph 2 has 101 nodes and 3 edges, over the budget of a batch (max-nodes 100, max-edges "
     "50; 0: no limit); raise it, or set oversize to skip or alone"},
    {FAIL, NONE, {5, 9, 10}, {51, 2, 3}, {0}, 3, LEAT_ERR_INPUT, "graph 0 has 5 nodes and 51"},
    {SKIP,
     NONE,
     {101, 102, 103},
     {0},
     {0},
     3,
     LEAT_ERR_INPUT,
     "all 3 graphs are over the budget of a batch: max-nodes 100"},
    {ALONE, NONE, {101, 102, 103}, {0}, {0}, 3, LEAT_OK, NULL},
    {SKIP, NONE, {1, -1, 1}, {1, 1, 1}, {0}, 3, LEAT_ERR_INPUT, "graph 1 has -1 nodes and 1"},
    {SKIP, NONE, {1, 1, 1}, {1, 1, -7}, {0}, 3, LEAT_ERR_INPUT, "graph 2 has 1 nodes and -7"},
    {SKIP, NONE, {0}, {0}, {0}, 0, LEAT_ERR_INPUT, "0 graphs; there must be"},
    {SKIP,
     SCORES,
     {1, 1, 1},
     {1, 1, 1},
     {1, NAN, 2},
     3,
     LEAT_ERR_INPUT,
     "curriculum: graph 1 has the score nan"},
    {SKIP,
     SCORES,
     {1, 1, 1},
     {1, 1, 1},
     {-INFINITY, 1, 2},
     3,
     LEAT_ERR_INPUT,
     "graph 0 has the score -inf"},
    {SKIP, SCORES, {0, 0, 1}, {0, 0, 1}, {1, 1, 1}, 3, LEAT_OK, NULL},
};

static void refused(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof(refusals) / sizeof(*refusals); c++) {
        const refusal *it = &refusals[c];
        leat_graph_batch_options options = leat_graph_batch_options_default();
        leat_graph_sizes sizes = {it->nodes, it->edges, it->count};
        leat_graph_plan *plan = NULL;
        leat_error err = {0};
        options.max_nodes = 100;
        options.max_edges = 50;
        options.oversize = (leat_oversize)it->oversize;
        options.curriculum = (leat_curriculum)it->curriculum;
        options.epochs = 2;
        assert_int_equal(leat_graph_plan_create(&plan, &options, &sizes, NULL, it->score, &err),
                         it->code);
        assert_true((plan != NULL) == (it->code == LEAT_OK));
        if (it->says != NULL && strstr(err.message, it->says) == NULL) {
            fail_msg("%d: %s", (int)c, err.message);
        }
        leat_graph_plan_destroy(plan);
    }
    leat_graph_batch_options options = leat_graph_batch_options_default();
    leat_graph_plan *plan = NULL;
    leat_graph_sizes sizes = {refusals[0].nodes, refusals[0].edges, 3};
    options.curriculum = LEAT_CURRICULUM_SCORES;
    options.epochs = 2;
    assert_int_equal(leat_graph_plan_create(&plan, &options, &sizes, NULL, NULL, NULL),
                     LEAT_ERR_INPUT);
    options.max_nodes = -1;
    assert_int_equal(leat_graph_plan_create(&plan, &options, &sizes, NULL, NULL, NULL),
                     LEAT_ERR_OPTION);
}

/* An epoch whose graphs are all skipped has no batch: tiers of one graph, the first too large. */
static void empty_epoch(void **state) {
    (void)state;
    static const int32_t nodes[] = {10, 300}, edges[] = {1, 1};
    static const double score[] = {2, 1};
    leat_graph_batch_options options = leat_graph_batch_options_default();
    leat_graph_sizes sizes = {nodes, edges, 2};
    leat_graph_epoch epoch = {0};
    options.max_nodes = 100;
    options.curriculum = LEAT_CURRICULUM_SCORES;
    options.tiers = options.epochs = 2;
    options.curriculum_end = 2;
    leat_graph_plan *plan = plan_of(&options, &sizes, NULL, score);
    assert_fine(leat_graph_plan_epoch(plan, 0, &epoch, err));
    assert_true(epoch.batch_count == 0 && epoch.graph_count == 0 && epoch.first[0] == 0);
    assert_fine(leat_graph_plan_epoch(plan, 1, &epoch, err));
    assert_true(epoch.batch_count == 1 && epoch.graph_count == 1 && epoch.graph[0] == 0);
    leat_graph_epoch_free(&epoch);
    leat_graph_plan_destroy(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_options),  cmocka_unit_test(redrawn),
        cmocka_unit_test(mixed_sizes),  cmocka_unit_test(mixed_attacks),
        cmocka_unit_test(pinned),       cmocka_unit_test(golden_epoch),
        cmocka_unit_test(million),      cmocka_unit_test(refused),
        cmocka_unit_test(empty_epoch),  cmocka_unit_test(filtered),
        cmocka_unit_test(nothing_left),
    };
    golden = golden_json("golden/can/batches_ref.json");
    int failed = cmocka_run_group_tests_name("graph plans", tests, NULL, NULL);
    json_decref(golden);
    return failed;
}
