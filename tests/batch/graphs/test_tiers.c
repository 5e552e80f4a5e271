/* The curriculum: tiers, their ramp and random ranks against the numbers of graphids. */
#include <math.h>

#include "batch/graphs/tiers.h"
#include "graph_support.h"

static json_t *golden;

static void golden_active_tiers(void **state) {
    (void)state;
    const json_t *cases = json_object_get(json_object_get(golden, "curriculum"), "active_tiers");
    assert_int_equal(json_array_size(cases), 4);
    for (size_t c = 0; c < 4; c++) {
        const json_t *it = json_array_get(cases, c), *active = json_object_get(it, "active");
        leat_graph_batch_options options = leat_graph_batch_options_default();
        options.curriculum = LEAT_CURRICULUM_RANDOM;
        options.tiers = json_integer_value(json_object_get(it, "num_tiers"));
        options.curriculum_start = json_number_value(json_object_get(it, "start_ratio"));
        options.curriculum_end = json_number_value(json_object_get(it, "end_ratio"));
        options.epochs = json_integer_value(json_object_get(it, "max_epochs"));
        for (size_t e = 0; e < json_array_size(active); e++) {
            int64_t want = json_integer_value(json_array_get(active, e));
            /* theirs begins a run of one epoch as any other, ours has all tiers */
            if (options.epochs == 1) want = options.tiers;
            assert_int_equal(leat_tiers_active(&options, (int64_t)e), want);
        }
    }
}

static void ends_of_the_ramp(void **state) {
    (void)state;
    leat_graph_batch_options options = leat_graph_batch_options_default();
    options.epochs = 300;
    assert_int_equal(leat_tiers_active(&options, 0), 10); /* no curriculum */
    options.curriculum = LEAT_CURRICULUM_SCORES;
    options.epochs = 2;
    assert_int_equal(leat_tiers_active(&options, 0), 1);
    assert_int_equal(leat_tiers_active(&options, 1), 10);
    assert_int_equal(leat_tiers_active(&options, INT64_MAX), 10);
    options.curriculum_start = 1e-320; /* vanishes next to the other end */
    options.curriculum_end = 1e9;
    assert_int_equal(leat_tiers_active(&options, 0), 1);
}

/* Tiers of 47 scores, some equal, in order of the scores: those of the stable sort. */
static void golden_tiers(void **state) {
    (void)state;
    const json_t *all = json_object_get(golden, "curriculum");
    const json_t *scores = json_object_get(all, "bucket_scores"), *tiers = NULL;
    enum { COUNT = 47 };
    double score[COUNT];
    uint32_t items[COUNT], scratch[COUNT], key[COUNT];
    const char *name = NULL;
    size_t cases = 0;
    assert_int_equal(json_array_size(scores), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        score[i] = json_number_value(json_array_get(scores, i));
        items[i] = (uint32_t)i;
    }
    leat_tiers_sort(score, items, scratch, key, COUNT);
    json_object_foreach(json_object_get(all, "bucket_stable"), name, tiers) {
        int64_t count = (int64_t)json_array_size(tiers), at = 0;
        assert_int_equal(count, atoi(name));
        for (int64_t t = 0; t < count; t++) {
            const json_t *tier = json_array_get(tiers, (size_t)t);
            assert_int_equal(leat_tier_begin(COUNT, count, t), at);
            for (size_t i = 0; i < json_array_size(tier); i++) {
                assert_int_equal(items[at++], json_integer_value(json_array_get(tier, i)));
            }
        }
        assert_int_equal(leat_tier_begin(COUNT, count, count), COUNT);
        cases++;
    }
    assert_int_equal(cases, 4);
}

static void sorted_scores(void **state) {
    (void)state;
    static const double score[] = {3, -1e300, 0.0,      -0.0, 1e-310, -1e-310,         1e300,   -5,
                                   3, -5.5,   0x1p-500, 2,    0x1p32, 0x1.00000001p32, -0x1p40, 0};
    static const uint32_t want[] = {1, 14, 9, 7, 5, 2, 3, 15, 4, 10, 11, 0, 8, 12, 13, 6};
    uint32_t items[16], scratch[16], key[16];
    for (uint32_t i = 0; i < 16; i++) items[i] = i;
    leat_tiers_sort(score, items, scratch, key, 16);
    assert_memory_equal(items, want, sizeof(want));
}

/* The graphs without attack of each epoch, one more each: the order in which they were ranked. */
static void ranks_of(const leat_graph_batch_options *options, int64_t count, const int32_t *attack,
                     const double *score, int64_t *rank) {
    int32_t sizes[64];
    bool seen[64] = {false};
    leat_graph_epoch epoch = {0};
    int64_t at = 0;
    for (int i = 0; i < 64; i++) sizes[i] = 1;
    leat_graph_sizes all = {sizes, sizes, count};
    leat_graph_plan *plan = plan_of(options, &all, attack, score);
    for (int64_t e = 0; e < options->epochs; e++) {
        assert_fine(leat_graph_plan_epoch(plan, e, &epoch, err));
        for (int64_t i = 0; i < epoch.graph_count; i++) {
            uint32_t g = epoch.graph[i];
            if (!seen[g] && attack[g] == 0) rank[at++] = g;
            seen[g] = true;
        }
        assert_int_equal(at, e + 1);
        for (int64_t g = 0; g < count; g++) assert_true(seen[g] || attack[g] == 0);
    }
    leat_graph_epoch_free(&epoch);
    leat_graph_plan_destroy(plan);
}

static leat_graph_batch_options one_by_one(int64_t count) {
    leat_graph_batch_options options = leat_graph_batch_options_default();
    options.epochs = options.tiers = count;
    options.curriculum_end = (double)count;
    return options;
}

/* Of graphs without attack alone; those with one stand between them. */
static void golden_random(void **state) {
    (void)state;
    json_t *list = json_object_get(json_object_get(golden, "curriculum"), "random_scorer");
    const json_t *scores = NULL;
    const char *name = NULL;
    int32_t attack[24];
    for (int g = 0; g < 24; g++) attack[g] = g % 2;
    json_object_foreach(list, name, scores) {
        leat_graph_batch_options options = one_by_one(12);
        options.curriculum = LEAT_CURRICULUM_RANDOM;
        options.preset = LEAT_GRAPHS_REFERENCE;
        options.seed = strtoull(name, NULL, 10);
        int64_t rank[24], ours[24];
        ranks_of(&options, 24, attack, NULL, rank);
        double before = -1;
        for (int i = 0; i < 12; i++) {
            double score = json_number_value(json_array_get(scores, (size_t)rank[i] / 2));
            assert_true(score > before);
            before = score;
        }
        options.preset = LEAT_GRAPHS_DEFAULT;
        ranks_of(&options, 24, attack, NULL, ours);
        assert_memory_not_equal(rank, ours, 12 * sizeof(*rank));
        options.seed++;
        ranks_of(&options, 24, attack, NULL, rank);
        assert_memory_not_equal(rank, ours, 12 * sizeof(*rank));
    }
}

static void ranked(void **state) {
    (void)state;
    static const double score[] = {5, 1, NAN, 1, -2, 7, INFINITY, 0};
    static const int32_t attack[] = {0, 0, 1, 0, 0, 0, 2, 0};
    static const int64_t want[] = {4, 7, 1, 3, 0, 5};
    int64_t rank[8];
    leat_graph_batch_options options = one_by_one(6);
    options.curriculum = LEAT_CURRICULUM_SCORES;
    ranks_of(&options, 8, attack, score, rank);
    assert_memory_equal(rank, want, sizeof(want));
}

/* Preset reference packs each tier alone; else batches mix them. */
static void tiers_apart(void **state) {
    (void)state;
    enum { COUNT = 1200 };
    static double score[COUNT];
    static int32_t attack[COUNT];
    test_graphs graphs = make_graphs(GRAPHS_WINDOWS, 4, COUNT);
    for (int g = 0; g < COUNT; g++) {
        score[g] = g % 4;
        attack[g] = g % 4 == 3;
    }
    for (int way = 0; way < 8; way++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        leat_graph_epoch epoch = {0};
        options.curriculum = LEAT_CURRICULUM_SCORES;
        options.tiers = 3;
        options.epochs = 1;
        options.max_nodes = 400;
        options.pack = (leat_graph_pack)(way % 4);
        options.preset = (leat_graph_preset)(way / 4);
        leat_graph_plan *plan = plan_of(&options, &graphs.sizes, attack, score);
        assert_fine(leat_graph_plan_epoch(plan, 0, &epoch, err));
        int64_t mixed = 0;
        for (int64_t b = 0; b < epoch.batch_count; b++) {
            bool more = false;
            for (uint32_t i = epoch.first[b]; i + 1 < epoch.first[b + 1]; i++) {
                more |= epoch.graph[i] % 4 != epoch.graph[i + 1] % 4;
            }
            mixed += more;
        }
        if (options.preset == LEAT_GRAPHS_REFERENCE) assert_int_equal(mixed, 0);
        else assert_true(mixed > epoch.batch_count * 9 / 10);
        leat_graph_epoch_free(&epoch);
        leat_graph_plan_destroy(plan);
    }
    free_graphs(&graphs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_tiers),     cmocka_unit_test(golden_active_tiers),
        cmocka_unit_test(ends_of_the_ramp), cmocka_unit_test(sorted_scores),
        cmocka_unit_test(golden_random),    cmocka_unit_test(ranked),
        cmocka_unit_test(tiers_apart),
    };
    golden = golden_json("golden/can/batches_ref.json");
    int failed = cmocka_run_group_tests_name("graph tiers", tests, NULL, NULL);
    json_decref(golden);
    return failed;
}
