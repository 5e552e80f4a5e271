/* Splits and shard ranges: inverse of each other, counts, shares, names. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "format/dataset/layout.h"

static void ranges(void **state) {
    (void)state;
    static const int64_t counts[] = {1, 2, 3, 5, 7, 10, 64, 100, 999, 4096, 65535, LEAT_SHARDS_MAX};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int64_t shards = counts[c], step = shards > 5000 ? 313 : 1;
        assert_int_equal(leat_layout_shard_begin(0, shards), 0);
        assert_int_equal(leat_layout_shard_begin(shards, shards), LEAT_SRC_ID_END);
        for (int64_t k = 0; k < shards; k += step) {
            int64_t begin = leat_layout_shard_begin(k, shards);
            int64_t end = leat_layout_shard_begin(k + 1, shards);
            assert_true(begin < end);
            assert_int_equal(leat_layout_shard_of(begin, shards), k);
            assert_int_equal(leat_layout_shard_of(end - 1, shards), k);
            if (k > 0) assert_int_equal(leat_layout_shard_of(begin - 1, shards), k - 1);
        }
        assert_int_equal(leat_layout_shard_of(LEAT_SRC_ID_END - 1, shards), shards - 1);
        for (uint64_t i = 0; i < 1000; i++) {
            int64_t id = (int64_t)(leat_random(1, 2, i) >> 4);
            int64_t k = leat_layout_shard_of(id, shards);
            assert_true(leat_layout_shard_begin(k, shards) <= id);
            assert_true(id < leat_layout_shard_begin(k + 1, shards));
        }
    }
}

static void shard_counts(void **state) {
    (void)state;
    static const struct {
        int64_t probes, each, want;
    } cases[] = {
        {0, 1000, 1},
        {1, 1000, 1},
        {499, 1000, 1},
        {500, 1000, 1},
        {1499, 1000, 1},
        {1500, 1000, 2},
        {2499, 1000, 2},
        {2500, 1000, 3},
        {7, 1, 7},
        {10, 3, 3},
        {11, 3, 4},
        {4, 3, 1},
        {5, 3, 2},
        {1, INT64_MAX, 1},
        {850000, 1000, 850},
        {INT64_MAX, 1, INT64_MAX},
        {INT64_MAX, INT64_MAX, 1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        assert_int_equal(leat_layout_shard_count(cases[c].probes, cases[c].each), cases[c].want);
    }
}

static void fixed_counts(void **state) {
    (void)state;
    static const struct {
        int64_t shards;
        double ratio;
        int64_t test;
    } cases[] = {
        {1, 0.9, 1},   {9, 0.9, 1},  {10, 0.9, 1}, {18, 0.9, 2},
        {90, 0.9, 10}, {8, 0.5, 8},  {4, 0.2, 16}, {5, 1, 1},
        {5, 0, 5},     {3, 0.75, 1}, {2, 0.4, 3},  {1000000, 1e-9, LEAT_SHARDS_MAX},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        assert_int_equal(
            leat_layout_fixed_shard_count(cases[c].shards, cases[c].ratio, LEAT_SPLIT_TRAIN),
            cases[c].shards);
        assert_int_equal(
            leat_layout_fixed_shard_count(cases[c].shards, cases[c].ratio, LEAT_SPLIT_TEST),
            cases[c].test);
    }
}

/* Each ratio gets its share within five standard deviations, for any seed, also of neighbours. */
static void hash_split(void **state) {
    (void)state;
    static const double ratios[] = {0, 0.01, 0.5, 0.9, 0.999, 1};
    enum { IDS = 40000 };
    for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            for (int neighbours = 0; neighbours < 2; neighbours++) {
                int64_t train = 0;
                for (uint64_t i = 0; i < IDS; i++) {
                    int64_t id = neighbours ? (int64_t)i : (int64_t)(leat_random(3, 3, i) >> 4);
                    leat_split split = leat_layout_hash_split(seed, ratios[r], id);
                    assert_true(split == LEAT_SPLIT_TRAIN || split == LEAT_SPLIT_TEST);
                    train += split == LEAT_SPLIT_TRAIN;
                }
                double deviation = sqrt(IDS * ratios[r] * (1 - ratios[r]));
                assert_true(fabs((double)train - IDS * ratios[r]) <= 5 * deviation);
            }
        }
    }
    /* a larger ratio only adds to train; another seed draws anew */
    int64_t differ = 0;
    for (int64_t id = 0; id < IDS; id++) {
        leat_split small = leat_layout_hash_split(7, 0.3, id);
        if (small == LEAT_SPLIT_TRAIN) {
            assert_int_equal(leat_layout_hash_split(7, 0.31, id), LEAT_SPLIT_TRAIN);
        }
        differ += small != leat_layout_hash_split(8, 0.3, id);
    }
    assert_in_range(differ, IDS * 40 / 100, IDS * 44 / 100); /* 2 * 0.3 * 0.7 of them */
}

static void ordered_counts(void **state) {
    (void)state;
    static const struct {
        double ratio;
        int64_t probes, want;
    } cases[] = {
        {0.9, 0, 0},         {0.9, 1, 0}, {0.9, 9, 8}, {0.9, 10, 9}, {0.9, 11, 9},
        {0.9, 18928, 17035}, {0, 50, 0},  {1, 50, 50}, {0.5, 7, 3},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        assert_int_equal(leat_layout_ordered_count(cases[c].ratio, cases[c].probes), cases[c].want);
    }
}

static void names(void **state) {
    (void)state;
    char name[LEAT_SHARD_NAME_BYTES];
    leat_layout_shard_name(LEAT_SPLIT_TRAIN, 3, name);
    assert_string_equal(name, "train/train_shard_00003.arrayrecord");
    leat_layout_shard_name(LEAT_SPLIT_TEST, LEAT_SHARDS_MAX - 1, name);
    assert_string_equal(name, "test/test_shard_999999.arrayrecord");
    assert_int_equal(leat_layout_shard_number(LEAT_SPLIT_TEST, name), LEAT_SHARDS_MAX - 1);
    static const char *const others[] = {
        "train/train_shard_00003.arrayrecord", "test/test_shard_3.arrayrecord",
        "test/test_shard_00003.arrayrecord.x", "test/test_shard_-0003.arrayrecord",
        "test/train_shard_00003.arrayrecord",  "test/test_shard_1000000.arrayrecord",
        "test_shard_00003.arrayrecord",        "test/notes",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(leat_layout_shard_number(LEAT_SPLIT_TEST, others[i]), -1);
    }
    assert_int_equal(leat_layout_shard_number(LEAT_SPLIT_TRAIN, others[0]), 3);
    assert_string_equal(leat_split_name(LEAT_SPLIT_TRAIN), "train");
    assert_string_equal(leat_split_name(LEAT_SPLIT_TEST), "test");
}

static void splits_of_paths(void **state) {
    (void)state;
    static const struct {
        const char *path;
        leat_split want;
    } cases[] = {
        {"train.arrayrecord", LEAT_SPLIT_TRAIN},
        {"test-00001.arrayrecord", LEAT_SPLIT_TEST},
        {"./test/part", LEAT_SPLIT_TEST},
        {"/train//part", LEAT_SPLIT_TRAIN},
        {"train/part", LEAT_SPLIT_TRAIN},
        /* the name of the file comes before that of its folder */
        {"train/test_x", LEAT_SPLIT_TEST},
        {"test/train_x", LEAT_SPLIT_TRAIN},
        {"a/training/x", LEAT_SPLIT_TRAIN},
        /* the folder above, or the middle of a name, says nothing */
        {"train/deep/x", LEAT_SPLIT_NONE},
        {"my_train/my_test", LEAT_SPLIT_NONE},
        {"tes", LEAT_SPLIT_NONE},
        {"/", LEAT_SPLIT_NONE},
        {"", LEAT_SPLIT_NONE},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        leat_split found = leat_layout_split_of_path(cases[c].path);
        if (found != cases[c].want) fail_msg("\"%s\" is %d", cases[c].path, (int)found);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges),          cmocka_unit_test(shard_counts),
        cmocka_unit_test(hash_split),      cmocka_unit_test(fixed_counts),
        cmocka_unit_test(names),           cmocka_unit_test(ordered_counts),
        cmocka_unit_test(splits_of_paths),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
