/*
 * Packers: the batches of graphids from its own orders (golden/can/batches_ref.json),
 * and first-fit against the search from the first batch on, for all kinds of sizes.
 */
#include "base/rng.h"
#include "batch/graphs/order.h"
#include "graph_support.h"

static json_t *golden;

/* Batches as lists must be those that `bin` says of `order`. */
static void assert_batches(const json_t *want, const uint32_t *order, const uint32_t *bin,
                           int64_t count, int64_t bins) {
    assert_int_equal(json_array_size(want), bins);
    int64_t *at = calloc((size_t)bins + 1, sizeof(*at));
    for (int64_t i = 0; i < count; i++) {
        const json_t *batch = json_array_get(want, bin[i]);
        assert_int_equal(json_integer_value(json_array_get(batch, (size_t)at[bin[i]]++)), order[i]);
    }
    for (int64_t b = 0; b < bins; b++) {
        assert_int_equal(json_array_size(json_array_get(want, (size_t)b)), at[b]);
    }
    free(at);
}

/* Those of a list that fit, as an order. */
static uint32_t *fitting(const json_t *list, const leat_graph_sizes *sizes,
                         const leat_graph_limits *limits, int64_t *count) {
    int64_t all = 0;
    int32_t *numbers = numbers_of(list, &all);
    uint32_t *order = calloc((size_t)all + 1, sizeof(*order));
    *count = 0;
    for (int64_t i = 0; i < all; i++) {
        if (leat_graph_fits(sizes, limits, numbers[i])) order[(*count)++] = (uint32_t)numbers[i];
    }
    free(numbers);
    return order;
}

static void golden_ffd(const json_t *its, const leat_graph_sizes *sizes,
                       const leat_graph_limits *limits, bool stable) {
    leat_packer packer = {.room = NULL};
    int64_t count = 0;
    uint32_t *order = fitting(json_object_get(its, "order"), sizes, limits, &count);
    uint32_t *bin = calloc((size_t)count, sizeof(*bin));
    assert_fine(
        leat_pack_first_fit(&packer, &(leat_pack_list){sizes, limits, order, count, bin}, err));
    assert_batches(json_object_get(its, "batches"), order, bin, count, packer.bin_count);
    if (stable) { /* ours is a stable sort too */
        uint32_t *ours = calloc((size_t)sizes->count, 2 * sizeof(*ours));
        for (int64_t g = 0; g < sizes->count; g++) ours[g] = (uint32_t)g;
        leat_order_by_key((const uint32_t *)sizes->nodes, true, ours, ours + sizes->count,
                          sizes->count);
        for (int64_t i = 0; i < sizes->count; i++) {
            assert_int_equal(ours[i], json_integer_value(json_array_get(
                                          json_object_get(its, "order"), (size_t)i)));
        }
        free(ours);
    }
    free(order);
    free(bin);
    leat_packer_free(&packer);
}

static void golden_bucket(const json_t *its, const leat_graph_sizes *sizes,
                          const leat_graph_limits *limits) {
    int64_t count = 0;
    uint32_t *walk = fitting(json_object_get(its, "walk"), sizes, limits, &count);
    uint32_t *bin = calloc((size_t)count, sizeof(*bin));
    int64_t bins = leat_pack_next_fit(&(leat_pack_list){sizes, limits, walk, count, bin});
    assert_batches(json_object_get(its, "batches"), walk, bin, count, bins);
    assert_int_equal(bins, json_integer_value(json_object_get(its, "length")));
    free(walk);
    free(bin);
}

/* The sampler without its shuffle walks the graphs by number. */
static void golden_greedy(const json_t *it, const leat_graph_sizes *sizes,
                          const leat_graph_limits *limits) {
    int64_t count = 0;
    uint32_t *order = calloc((size_t)sizes->count, sizeof(*order));
    uint32_t *bin = calloc((size_t)sizes->count, sizeof(*bin));
    for (int64_t g = 0; g < sizes->count; g++) {
        if (leat_graph_fits(sizes, limits, g)) order[count++] = (uint32_t)g;
    }
    int64_t bins = leat_pack_next_fit(&(leat_pack_list){sizes, limits, order, count, bin});
    assert_batches(json_object_get(it, "greedy_unshuffled"), order, bin, count, bins);
    const json_t *skipped = json_object_get(it, "skipped");
    assert_int_equal(json_array_size(skipped), sizes->count - count);
    for (size_t i = 0; i < json_array_size(skipped); i++) {
        int64_t graph = json_integer_value(json_array_get(skipped, i));
        assert_false(leat_graph_fits(sizes, limits, graph));
    }
    free(order);
    free(bin);
}

static void golden_packers(void **state) {
    (void)state;
    int64_t count = 0;
    int32_t *nodes = numbers_of(json_object_get(golden, "nodes"), &count);
    int32_t *edges = numbers_of(json_object_get(golden, "edges"), &count);
    leat_graph_sizes sizes = {nodes, edges, count};
    const json_t *cases = json_object_get(golden, "cases");
    assert_true(count == 300 && json_array_size(cases) == 4);
    for (size_t c = 0; c < 4; c++) {
        const json_t *it = json_array_get(cases, c), *most = json_object_get(it, "max_edges");
        leat_graph_limits limits = {INT32_MAX, json_integer_value(json_object_get(it, "max_nodes")),
                                    json_is_null(most) ? INT32_MAX : json_integer_value(most)};
        golden_ffd(json_object_get(it, "ffd_reference"), &sizes, &limits, false);
        golden_ffd(json_object_get(it, "ffd_stable"), &sizes, &limits, true);
        golden_bucket(json_object_get(it, "bucket_reference"), &sizes, &limits);
        golden_bucket(json_object_get(it, "bucket_stable"), &sizes, &limits);
        golden_greedy(it, &sizes, &limits);
    }
    free(nodes);
    free(edges);
}

/* ---- against the slow search ---- */

typedef struct slow_bin {
    int64_t nodes, edges;
} slow_bin;

/* The first batch, from the first on, that has room; opens one if none has. */
static int64_t slow_place(slow_bin *bins, int64_t *count, const leat_graph_limits *limits,
                          int32_t n, int32_t e) {
    int64_t b = 0;
    while (b < *count && (bins[b].nodes < n || bins[b].edges < e)) b++;
    if (b == *count) bins[(*count)++] = (slow_bin){limits->nodes, limits->edges};
    bins[b].nodes -= n;
    bins[b].edges -= e;
    return b;
}

typedef struct slow_case {
    graph_kind kind;
    int64_t count;
    leat_graph_limits limits;
} slow_case;

static slow_case case_of(uint64_t number) {
    uint64_t key = leat_random(5, 5, number);
    slow_case it = {.kind = (graph_kind)(number % GRAPHS_KINDS),
                    .count = (int64_t)leat_random_below(leat_random_at(key, 0), 120)};
    static const int64_t least[GRAPHS_KINDS][2] = {
        {68, 98}, {40, 120}, {300, 300}, {240, 240}, {3, 3}};
    /* from one graph a batch to all in one */
    for (int which = 0; which < 2; which++) {
        uint64_t times = leat_random_below(leat_random_at(key, 1 + (uint64_t)which), 9);
        uint64_t more = leat_random_below(leat_random_at(key, 3 + (uint64_t)which), 50);
        int64_t limit = least[it.kind][which] * (int64_t)(1 + times) + (int64_t)more;
        if (number % 11 == (uint64_t)which) limit = INT32_MAX;
        if (which == 0) it.limits.nodes = limit;
        else it.limits.edges = limit;
    }
    it.limits.graphs = INT32_MAX;
    return it;
}

static uint32_t *descending(const leat_graph_sizes *sizes) {
    uint32_t *order = calloc((size_t)sizes->count + 1, 2 * sizeof(*order));
    for (int64_t g = 0; g < sizes->count; g++) order[g] = (uint32_t)g;
    leat_order_by_key((const uint32_t *)sizes->nodes, true, order, order + sizes->count,
                      sizes->count);
    return order;
}

static void assert_descending(const leat_graph_sizes *sizes, const uint32_t *order) {
    for (int64_t i = 1; i < sizes->count; i++) {
        int32_t a = sizes->nodes[order[i - 1]], b = sizes->nodes[order[i]];
        assert_true(a > b || (a == b && order[i - 1] < order[i]));
    }
}

static void first_fit(void **state) {
    (void)state;
    leat_packer packer = {.room = NULL};
    int64_t several = 0;
    for (uint64_t number = 0; number < 6000; number++) {
        slow_case it = case_of(number);
        test_graphs graphs = make_graphs(it.kind, number, it.count);
        uint32_t *order = descending(&graphs.sizes), bin[120];
        slow_bin bins[120];
        int64_t slow_count = 0;
        assert_descending(&graphs.sizes, order);
        leat_pack_list list = {&graphs.sizes, &it.limits, order, it.count, bin};
        assert_fine(leat_pack_first_fit(&packer, &list, err));
        for (int64_t i = 0; i < it.count; i++) {
            int64_t want = slow_place(bins, &slow_count, &it.limits, graphs.nodes[order[i]],
                                      graphs.edges[order[i]]);
            if (bin[i] != want) {
                fail_msg("case %d: graph %d is in %d, not %d", (int)number, (int)i, (int)bin[i],
                         (int)want);
            }
        }
        assert_int_equal(packer.bin_count, slow_count);
        several += slow_count > 16; /* the tree grew */
        free(order);
        free_graphs(&graphs);
    }
    assert_true(several > 1000);
    leat_packer_free(&packer);
}

/*
 * Dealt by definition: run r of B graphs is dealt by permutation r; who finds no room there takes
 * the first batch that has some.
 */
static void dealt(void **state) {
    (void)state;
    leat_packer packer = {.room = NULL};
    int64_t moved = 0, opened = 0;
    for (uint64_t number = 0; number < 6000; number++) {
        slow_case it = case_of(number);
        test_graphs graphs = make_graphs(it.kind, number, it.count);
        uint32_t *order = descending(&graphs.sizes), bin[120];
        slow_bin bins[240];
        int64_t nodes = 0, edges = 0, slow_count = 0;
        uint64_t key = leat_random(6, 6, number);
        for (int64_t g = 0; g < it.count; g++) {
            nodes += graphs.nodes[g];
            edges += graphs.edges[g];
        }
        while (slow_count * it.limits.nodes < nodes || slow_count * it.limits.edges < edges) {
            bins[slow_count++] = (slow_bin){it.limits.nodes, it.limits.edges};
        }
        int64_t open = slow_count;
        leat_pack_list list = {&graphs.sizes, &it.limits, order, it.count, bin};
        assert_fine(leat_pack_dealt(&packer, &list, key, err));
        for (int64_t i = 0; i < it.count; i++) {
            int32_t n = graphs.nodes[order[i]], e = graphs.edges[order[i]];
            uint64_t run = open == 0 ? 0 : (uint64_t)(i / open);
            int64_t home = open == 0 ? -1 : leat_permute(leat_random_at(key, run), open, i % open);
            if (home >= 0 && bins[home].nodes >= n && bins[home].edges >= e) {
                bins[home].nodes -= n;
                bins[home].edges -= e;
            } else {
                home = slow_place(bins, &slow_count, &it.limits, n, e);
                moved++;
            }
            assert_int_equal(bin[i], home);
        }
        assert_int_equal(packer.bin_count, slow_count);
        opened += slow_count > open;
        /* the same if that is enough; or else all graphs are dealt to batches that none opens */
        bool again = false;
        uint32_t other[120];
        list.bin = other;
        assert_fine(leat_pack_all_dealt(&packer, &list, key, &again, err));
        assert_int_equal(again, slow_count > open && open < it.count);
        if (!again) assert_memory_equal(bin, other, (size_t)it.count * sizeof *bin);
        bool used[240] = {false};
        for (int64_t i = 0; i < it.count; i++) used[other[i]] = true;
        for (int64_t b = 0; b < packer.bin_count && again; b++) assert_true(used[b]);
        assert_true(packer.bin_count <= (open > it.count ? open : it.count));
        free(order);
        free_graphs(&graphs);
    }
    assert_true(moved > 10000 && opened > 1000);
    leat_packer_free(&packer);
}

/* Each batch is full: the graph that opens the next one would have passed one of its limits. */
static void next_fit(void **state) {
    (void)state;
    int64_t by[3] = {0};
    for (uint64_t number = 0; number < 6000; number++) {
        slow_case it = case_of(number);
        test_graphs graphs = make_graphs(it.kind, number, it.count);
        uint32_t order[120], bin[120];
        if (number % 3 == 0) it.limits.graphs = 1 + (int64_t)(number % 10);
        for (int64_t i = 0; i < it.count; i++) order[i] = (uint32_t)(it.count - 1 - i);
        leat_pack_list list = {&graphs.sizes, &it.limits, order, it.count, bin};
        int64_t bins = leat_pack_next_fit(&list);
        int64_t first = 0, nodes = 0, edges = 0;
        for (int64_t i = 0; i < it.count; i++) {
            int32_t n = graphs.nodes[order[i]], e = graphs.edges[order[i]];
            assert_int_equal(bin[i], i == 0 ? 0 : bin[i - 1] + (bin[i] != bin[i - 1]));
            if (i > 0 && bin[i] != bin[i - 1]) {
                bool full[3] = {i - first + 1 > it.limits.graphs, nodes + n > it.limits.nodes,
                                edges + e > it.limits.edges};
                assert_true(full[0] || full[1] || full[2]);
                for (int w = 0; w < 3; w++) by[w] += full[w] && full[0] + full[1] + full[2] == 1;
                first = i;
                nodes = edges = 0;
            }
            nodes += n;
            edges += e;
            assert_true(i - first + 1 <= it.limits.graphs && nodes <= it.limits.nodes);
            assert_true(edges <= it.limits.edges);
        }
        assert_int_equal(bins, it.count == 0 ? 0 : (int64_t)bin[it.count - 1] + 1);
        free_graphs(&graphs);
    }
    assert_true(by[0] > 1000 && by[1] > 1000 && by[2] > 1000);
}

/* ---- orders ---- */

static void sorting(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static uint32_t key[COUNT], items[COUNT], scratch[COUNT];
    static const int bits[] = {0, 1, 5, 11, 12, 22, 23, 31, 32};
    for (size_t c = 0; c < sizeof(bits) / sizeof(*bits); c++) {
        for (int way = 0; way < 2; way++) {
            for (int i = 0; i < COUNT; i++) {
                uint64_t word = leat_random(3, c, (uint64_t)i);
                key[i] = bits[c] == 0 ? 0 : (uint32_t)(word >> (64 - bits[c]));
                items[i] = (uint32_t)(COUNT - 1 - i);
            }
            leat_order_by_key(key, way == 1, items, scratch, COUNT);
            for (int i = 1; i < COUNT; i++) {
                uint32_t a = key[items[i - 1]], b = key[items[i]];
                bool before = way == 1 ? a > b : a < b;
                assert_true(before || (a == b && items[i - 1] > items[i]));
            }
        }
    }
}

static void shuffling(void **state) {
    (void)state;
    enum { ITEMS = 5, TIMES = 60000 };
    int64_t at[ITEMS][ITEMS] = {{0}};
    for (uint64_t t = 0; t < TIMES; t++) {
        uint32_t items[ITEMS] = {0, 1, 2, 3, 4}, seen = 0;
        leat_order_shuffle(leat_random(8, 8, t), items, ITEMS);
        for (int i = 0; i < ITEMS; i++) {
            at[i][items[i]]++;
            seen |= 1u << items[i];
        }
        assert_int_equal(seen, 31);
    }
    for (int i = 0; i < ITEMS * ITEMS; i++) {
        int64_t hits = at[i / ITEMS][i % ITEMS]; /* 12000, standard deviation 98 */
        assert_true(hits > 11500 && hits < 12500);
    }
    leat_order_shuffle(1, NULL, 0);
}

/* Runs stay together, hold what they should, and both they and their insides change with the key.
 */
static void buckets(void **state) {
    (void)state;
    static const int counts[] = {0, 1, 19, 20, 21, 39, 40, 47, 300, 1001};
    for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
        int count = counts[c], length = (count + 19) / 20, differ = 0, moved = 0;
        uint32_t sorted[1001], walk[1002], other[1002];
        for (int i = 0; i < count; i++) sorted[i] = (uint32_t)(i * 3);
        walk[count] = 12345;
        leat_order_buckets(leat_random(1, 1, 1), sorted, count, walk);
        leat_order_buckets(leat_random(1, 1, 2), sorted, count, other);
        assert_int_equal(walk[count], 12345);
        uint8_t seen[1001] = {0};
        for (int i = 0, end = 0; i < count; i++) {
            int place = (int)walk[i] / 3, run = place / length;
            assert_int_equal(seen[place]++, 0);
            if (i == end) {
                end += count - run * length < length ? count - run * length : length;
                moved += run * length != i;
            } else {
                assert_int_equal(run, (int)walk[i - 1] / 3 / length);
            }
            differ += walk[i] != other[i];
        }
        assert_true(count < 19 || (differ > count / 2 && moved > 5));
        int alike = 0; /* places in the second run that is walked as in the first */
        for (int i = 0; i < length && i + length < count; i++) {
            alike += (int)walk[i] / 3 % length == (int)walk[i + length] / 3 % length;
        }
        assert_true(length < 15 || alike < length / 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_packers), cmocka_unit_test(first_fit), cmocka_unit_test(dealt),
        cmocka_unit_test(next_fit),       cmocka_unit_test(sorting),   cmocka_unit_test(shuffling),
        cmocka_unit_test(buckets),
    };
    golden = golden_json("golden/can/batches_ref.json");
    int failed = cmocka_run_group_tests_name("graph packers", tests, NULL, NULL);
    json_decref(golden);
    return failed;
}
