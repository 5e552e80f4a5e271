/* The census: counts in tiny memory, ranks against a sorted array, duplicates over logs. */
#include "core_support.h"

static int compare_texts(const void *a, const void *b) { return strcmp(a, b); }

typedef struct logs {
    leat_census_log each[5];
    int count;
} logs;

static logs open_logs(int count) {
    logs self = {.count = count};
    for (int i = 0; i < count; i++) {
        assert_ok(leat_census_log_open(&self.each[i], core_dir(), err));
    }
    return self;
}

static void close_logs(logs *self) {
    for (int i = 0; i < self->count; i++) leat_census_log_close(&self->each[i]);
}

static void add(leat_census_log *log, const char *text, leat_split split) {
    assert_ok(leat_census_log_add(log, core_src_id(text), split, text, (int32_t)strlen(text), err));
}

static void flush_logs(logs *self) {
    for (int i = 0; i < self->count; i++) assert_ok(leat_census_log_flush(&self->each[i], err));
}

static void counts(void **state) {
    (void)state;
    static const struct {
        int64_t sources, adds, memory_bytes;
        int logs;
    } cases[] = {
        {0, 0, 0, 1},
        {1, 1, 0, 1},
        {1, 5000, 0, 3},
        {511, 511, 0, 1},
        {3000, 50000, 0, 5},
        {3000, 50000, 100000, 5},
        {40000, 90000, 20000, 2},
        {40000, 90000, INT64_C(1) << 30, 2},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        logs self = open_logs(cases[c].logs);
        core_rng rng = {.seed = c};
        bool *seen = calloc((size_t)cases[c].sources + 1, 1);
        int64_t want[LEAT_SPLITS] = {0};
        for (int64_t i = 0; i < cases[c].adds; i++) {
            int64_t k = i < cases[c].sources ? i : core_below(&rng, cases[c].sources);
            char text[46];
            snprintf(text, sizeof text, "%d.%d.%d.%d", 10, (int)(k >> 16 & 255),
                     (int)(k >> 8 & 255), (int)(k & 255));
            leat_split split = k % 4 == 0 ? LEAT_SPLIT_TEST : LEAT_SPLIT_TRAIN;
            if (!seen[k]) want[split]++;
            seen[k] = true;
            add(&self.each[core_below(&rng, cases[c].logs)], text, split);
        }
        flush_logs(&self);
        leat_census got;
        assert_ok(leat_census_count(
            &(leat_census_logs){self.each, self.count, cases[c].memory_bytes}, &got, err));
        assert_int_equal(got.probes[LEAT_SPLIT_TRAIN], want[LEAT_SPLIT_TRAIN]);
        assert_int_equal(got.probes[LEAT_SPLIT_TEST], want[LEAT_SPLIT_TEST]);
        leat_census_free(&got);
        free(seen);
        close_logs(&self);
    }
}

/* Texts of all lengths, some of them beginnings of others, bytes above 127 too. */
static int64_t make_texts(char (*texts)[46], int64_t count) {
    for (int64_t i = 0; i < count; i++) core_address((uint64_t)i, i % 2 == 0 ? 4 : 6, texts[i]);
    strcpy(texts[0], "1");
    strcpy(texts[1], "1.1.1.1");
    strcpy(texts[2], "1.1.1.10");
    memset(texts[3], 'f', 45);
    memset(texts[4], 'f', 44);
    texts[3][45] = texts[4][44] = 0;
    strcpy(texts[5], "1.1.1.1\xff");
    qsort(texts, (size_t)count, sizeof *texts, compare_texts);
    int64_t distinct = 0;
    for (int64_t i = 0; i < count; i++) {
        if (distinct == 0 || strcmp(texts[distinct - 1], texts[i]) != 0) {
            memmove(texts[distinct++], texts[i], 46);
        }
    }
    return distinct;
}

static void ranks(void **state) {
    (void)state;
    static const struct {
        int64_t texts, step, memory_bytes;
    } cases[] = {{8, 1, 0}, {150, 1, 0}, {5000, 617, 0}, {5000, 617, 1 << 20}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char(*texts)[46] = malloc((size_t)cases[c].texts * sizeof *texts);
        int64_t count = make_texts(texts, cases[c].texts);
        logs self = open_logs(3);
        core_rng rng = {.seed = c};
        for (int64_t i = 0; i < count * 3; i++) {
            int64_t k = i < count ? i * 7919 % count : core_below(&rng, count);
            add(&self.each[core_below(&rng, 3)], texts[k], LEAT_SPLIT_TRAIN);
        }
        for (int64_t k = 0; k < count; k++) add(&self.each[k % 3], texts[k], LEAT_SPLIT_TRAIN);
        flush_logs(&self);
        for (int64_t rank = 0; rank <= count;
             rank += rank + cases[c].step > count && rank < count ? count - rank : cases[c].step) {
            leat_census_bound bound;
            assert_ok(leat_census_rank(&(leat_census_logs){self.each, 3, cases[c].memory_bytes},
                                       rank, core_dir(), &bound, err));
            if (rank == count) {
                assert_int_equal(bound.size_bytes, -1); /* all texts are below */
                continue;
            }
            assert_int_equal(bound.size_bytes, strlen(texts[rank]));
            assert_memory_equal(bound.text, texts[rank], strlen(texts[rank]));
        }
        close_logs(&self);
        free(texts);
    }
}

static void text_order(void **state) {
    (void)state;
    static const char *const texts[] = {"", "1", "1.1.1.1", "1.1.1.10", "1.1.1.2", "a", "\xff"};
    enum { COUNT = sizeof texts / sizeof *texts };
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < COUNT; j++) {
            int got = leat_text_compare(texts[i], (int32_t)strlen(texts[i]), texts[j],
                                        (int32_t)strlen(texts[j]));
            assert_int_equal((got > 0) - (got < 0), (i > j) - (i < j));
        }
    }
}

/* The fullest shard: exact where shards are whole ranges, else not far above. */
static void fullest(void **state) {
    (void)state;
    enum { SOURCES = 30000 };
    static const int64_t shards[] = {1, 2, 64, 4096, 3, 700, 99999};
    logs self = open_logs(2);
    int64_t *ids = calloc(SOURCES, sizeof *ids), *counts = calloc(100000, sizeof *counts);
    for (int i = 0; i < SOURCES; i++) {
        char text[46];
        snprintf(text, sizeof text, "10.%d.%d.1", i >> 8, i & 255);
        /* a third of them close together */
        ids[i] = i % 3 == 0 ? (LEAT_SRC_ID_END / 7) + i : core_src_id(text);
        for (int k = 0; k <= i % 2; k++) {
            assert_ok(leat_census_log_add(&self.each[k], ids[i], LEAT_SPLIT_TEST, text,
                                          (int32_t)strlen(text), err));
        }
    }
    flush_logs(&self);
    leat_census census;
    assert_ok(leat_census_count(&(leat_census_logs){self.each, 2, 1 << 20}, &census, err));
    for (size_t c = 0; c < sizeof shards / sizeof *shards; c++) {
        int64_t want = 0, got = leat_census_fullest(&census, LEAT_SPLIT_TEST, shards[c]);
        memset(counts, 0, 100000 * sizeof *counts);
        for (int i = 0; i < SOURCES; i++) {
            int64_t n = ++counts[leat_layout_shard_of(ids[i], shards[c])];
            if (n > want) want = n;
        }
        if (c < 4) assert_int_equal(got, want);
        else assert_in_range(got, want, want + 10);
        assert_int_equal(leat_census_fullest(&census, LEAT_SPLIT_TRAIN, shards[c]), 0);
    }
    leat_census_free(&census);
    free(counts);
    free(ids);
    close_logs(&self);
}

/* Addresses of two spellings: counted, and beyond the maximum the same ones in any order. */
static void spellings(void **state) {
    (void)state;
    enum { MANY = 50000, MAXIMUM = 1 << 15 };
    static const int cases[][2] = {{100, 1}, {MANY, 1}, {MANY, 3}};
    int64_t counted = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        logs self = open_logs(cases[c][1]);
        for (int i = 0; i < cases[c][0]; i++) {
            int k = c == 2 ? cases[c][0] - 1 - i : i; /* the other way round */
            for (int other = 0; other < 1 + (k % 3 > 0); other++) {
                char text[46];
                snprintf(text, sizeof text, other ? "2001:db8:1::%x" : "2001:DB8:1::%x", k + 1);
                add(&self.each[k % self.count], text, LEAT_SPLIT_TRAIN);
            }
        }
        flush_logs(&self);
        leat_census_spellings got;
        assert_ok(
            leat_census_spell(&(leat_census_logs){self.each, self.count, 1 << 20}, &got, err));
        assert_int_equal(got.probes, 2 * got.addresses);
        assert_int_equal(got.complete, c == 0);
        if (c == 0) assert_int_equal(got.addresses, 66);
        else assert_in_range(got.addresses, MAXIMUM / 2, MAXIMUM);
        if (c == 2) assert_int_equal(got.addresses, counted);
        counted = got.addresses;
        close_logs(&self);
    }
}

/* A log that was cut is told, not read past. */
static void cut_log(void **state) {
    (void)state;
    logs self = open_logs(1);
    for (int i = 0; i < 9000; i++) {
        char text[46];
        core_address((uint64_t)i, 4, text);
        add(&self.each[0], text, LEAT_SPLIT_TRAIN);
    }
    flush_logs(&self);
    assert_ok(leat_file_truncate(self.each[0].file, self.each[0].file_bytes - 1, err));
    leat_census census;
    assert_fails(leat_census_count(&(leat_census_logs){self.each, 1, 1 << 20}, &census, err),
                 LEAT_ERR_CORRUPT, "scratch");
    close_logs(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),     cmocka_unit_test(ranks),     cmocka_unit_test(fullest),
        cmocka_unit_test(text_order), cmocka_unit_test(spellings), cmocka_unit_test(cut_log),
    };
    int failed = cmocka_run_group_tests_name("census", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
