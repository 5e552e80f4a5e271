/*
 * Sequences as a whole: what they hold is what the record says, under every combination of options
 * and every kind of row; the same whatever was made before; each (row, context) at the front of one
 * sequence an epoch; no padding to speak of.
 */
#include <math.h>

#include "base/rng.h"
#include "batch_support.h"

static leat_sampler_options options_of(leat_sampler sampler, int32_t length, uint64_t seed) {
    leat_sampler_options options = leat_sampler_options_default();
    options.sampler = sampler;
    options.length = length;
    options.seed = seed;
    return options;
}

/* ---- what is in it ---- */

/* Every sampler, packing, tail, boundary and field order, over rows of all sizes. */
static void by_definition(void **state) {
    (void)state;
    static const int32_t lengths[] = {64, 100, 1024, 4096};
    static const int64_t sizes[] = {1, 2, 5, 26, 33, 34, 35, 100, 3000, 100000};
    static const int versions[] = {4, 6, 0};
    enum { ROWS = 30 };
    int64_t sequences = 0, cuts = 0, not_full = 0;
    for (int way = 0; way < 3 * 4 * 16 * 2; way++) {
        int bits = way / 12;
        leat_sampler_options options =
            options_of((leat_sampler)(way % 3), lengths[way / 3 % 4], (uint64_t)way);
        options.packing = (leat_packing)(bits & 1);
        options.tail = (leat_tail)(bits >> 1 & 1);
        options.boundary = (leat_boundary)(bits >> 2 & 1);
        options.field_order = (leat_field_order)(bits >> 3 & 1);
        test_rows *rows = make_rows(bits >> 4 ? ROWS_WILD : ROWS_FIELD, 9, ROWS, 0, 4);
        for (int r = 0; r < ROWS; r++) {
            rows->n[r] = sizes[r % 10];
            rows->version[r] = versions[r / 10];
        }
        maker *it = make_maker(&options, rows);
        int64_t all = leat_anchors_count(it->anchors);
        for (int64_t s = 0; s < 12; s++) {
            make_sequence(it, (int64_t)(leat_random(3, (uint64_t)way, (uint64_t)s) % (2 * all)));
            check_sequence(it);
            bool filled =
                options.packing == LEAT_PACKING_FILL && options.sampler != LEAT_SAMPLER_ALL;
            assert_true(filled || it->fact_count == 1);
            if (filled && options.tail == LEAT_TAIL_CUT) {
                assert_int_equal(it->sequence.used, options.length);
            } else {
                assert_false(it->sequence.cut);
                not_full += it->sequence.used < options.length;
            }
            cuts += it->sequence.cut;
            sequences++;
        }
        free_maker(it);
        free_rows(rows);
    }
    assert_true(cuts > sequences / 20);
    assert_true(not_full > sequences / 4);
}

/* Each context takes no more than its space and as many measurements as fit: one more would not. */
static void as_many_as_fit(void **state) {
    (void)state;
    for (int version = 4; version <= 6; version += 2) {
        test_rows *rows = make_rows(ROWS_FIELD, 1, 20, 5000, version);
        leat_sampler_options options = options_of(LEAT_SAMPLER_PLAN3, 1024, 2);
        options.tail = LEAT_TAIL_PAD;
        maker *it = make_maker(&options, rows);
        for (int64_t s = 0; s < 300; s++) {
            make_sequence(it, s);
            const context_fact *anchor = &it->facts[0];
            assert_true(anchor->tokens <= anchor->space);
            /* the whole window, or so much that the largest measurement does not fit beside it */
            if (anchor->full) assert_true(anchor->tokens + (version == 4 ? 23 : 47) > 1024);
            else assert_int_equal(anchor->kept, anchor->window);
        }
        free_maker(it);
        free_rows(rows);
    }
}

/* A sequence is the same whatever was made before it, and by whom. */
static void pure(void **state) {
    (void)state;
    enum { SEQUENCES = 60 };
    for (int sampler = 0; sampler < 3; sampler++) {
        test_rows *rows = make_heavy_rows(3, 200, 50);
        leat_sampler_options options = options_of((leat_sampler)sampler, 256, 11);
        maker *a = make_maker(&options, rows), *b = make_maker(&options, rows);
        int32_t *first = malloc(SEQUENCES * 6 * 256 * sizeof(int32_t));
        for (int64_t s = 0; s < SEQUENCES; s++) {
            make_sequence(a, s * 37);
            memcpy(first + s * 6 * 256, a->arrays, 6 * 256 * sizeof(int32_t));
        }
        int64_t differ = 0;
        for (int64_t i = 0; i < SEQUENCES; i++) {
            int64_t s = leat_permute(5, SEQUENCES, i);
            if (i % 3 == 0) make_sequence(b, 1000 + i);
            make_sequence(b, s * 37);
            assert_memory_equal(first + s * 6 * 256, b->arrays, 6 * 256 * sizeof(int32_t));
            if (s > 0) differ += memcmp(first, b->arrays, 256 * sizeof(int32_t)) != 0;
        }
        assert_int_equal(differ, SEQUENCES - 1);
        free(first);
        free_maker(a);
        free_maker(b);
        free_rows(rows);
    }
}

/* FNV-1a over the six arrays of some sequences. These must never change: a resumed run relies on
 * them, and machines that share a run. */
static void fixed_for_ever(void **state) {
    (void)state;
    static const struct {
        leat_sampler sampler;
        leat_field_order order;
        leat_packing packing;
        uint64_t hash;
    } cases[] = {
        {LEAT_SAMPLER_PLAN3, LEAT_FIELDS_RANDOM, LEAT_PACKING_FILL, UINT64_C(0xa5cf9b3e19e480e2)},
        {LEAT_SAMPLER_PLAN3, LEAT_FIELDS_CONTENT, LEAT_PACKING_NONE, UINT64_C(0x508fcc09d259f9c1)},
        {LEAT_SAMPLER_PLAN2, LEAT_FIELDS_RANDOM, LEAT_PACKING_FILL, UINT64_C(0x308e06c520d1517e)},
        {LEAT_SAMPLER_ALL, LEAT_FIELDS_RANDOM, LEAT_PACKING_FILL, UINT64_C(0x0f2c199add8b3c93)},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        test_rows *rows = make_heavy_rows(1, 100, 40);
        leat_sampler_options options = options_of(cases[c].sampler, 512, 7);
        options.field_order = cases[c].order;
        options.packing = cases[c].packing;
        maker *it = make_maker(&options, rows);
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        for (int64_t s = 0; s < 40; s++) {
            make_sequence(it, s * 11);
            for (int i = 0; i < 6 * 512; i++) {
                hash = (hash ^ (uint32_t)it->arrays[i]) * UINT64_C(0x100000001b3);
            }
        }
        if (hash != cases[c].hash) {
            fail_msg("case %d: 0x%016llx", (int)c, (unsigned long long)hash);
        }
        free_maker(it);
        free_rows(rows);
    }
}

/* ---- epochs ---- */

/* Every (row, k) is the anchor of one sequence an epoch, and context t of one, for every t; epochs
 * and seeds have different orders. */
static void once_an_epoch(void **state) {
    (void)state;
    test_rows *rows = make_heavy_rows(2, 150, 40);
    for (int i = 0; i < 10; i++) rows->n[i * 15] = 0; /* rows without measurements are nobody's */
    int64_t same_order = 0, orders = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        leat_sampler_options options = options_of(LEAT_SAMPLER_PLAN3, 256, seed);
        maker *it = make_maker(&options, rows);
        int64_t all = leat_anchors_count(it->anchors), sum = 0;
        for (int64_t r = 0; r < rows->count; r++) {
            sum += leat_contexts_of_row(&options, rows->n[r], rows->version[r]);
        }
        assert_int_equal(all, sum);
        for (int64_t epoch = 0; epoch < 3; epoch++) {
            int *seen = calloc((size_t)all * 4, sizeof(*seen));
            for (int64_t j = 0; j < all; j++) {
                make_sequence(it, epoch * all + j);
                int64_t first = leat_anchors_first(it->anchors, it->facts[0].row);
                assert_true(rows->n[it->facts[0].row] > 0);
                seen[first + it->facts[0].k]++;
                leat_source source = leat_source_of_epoch(seed, all, epoch * all + j);
                leat_source other = leat_source_of_epoch(seed + epoch, all, j);
                same_order += leat_source_anchor(&source, 0) == leat_source_anchor(&other, 0);
                orders += epoch > 0;
                if (epoch == 0) same_order--;
                for (int t = 1; t < 4; t++) seen[t * all + leat_source_anchor(&source, t)]++;
            }
            for (int64_t i = 0; i < 4 * all; i++) assert_int_equal(seen[i], 1);
            free(seen);
        }
        free_maker(it);
    }
    /* seed 0 of epoch 1 is not seed 1 of epoch 0 */
    assert_true(same_order < orders / 20);
    free_rows(rows);
}

/* A small row's blocks hold every measurement of it once, whole and in one sequence each. */
static void blocks(void **state) {
    (void)state;
    static const leat_sampler samplers[] = {LEAT_SAMPLER_PLAN3, LEAT_SAMPLER_PLAN2,
                                            LEAT_SAMPLER_ALL};
    for (int c = 0; c < 3 * 3 * 2; c++) {
        int64_t n_max = samplers[c % 3] == LEAT_SAMPLER_ALL ? 200 : 33;
        leat_sampler_options options = options_of(samplers[c % 3], 1024, 3);
        options.packing = c / 9 ? LEAT_PACKING_NONE : LEAT_PACKING_FILL;
        static const int versions[] = {4, 6, 0};
        for (int64_t n = 1; n <= n_max; n += n < 33 ? 1 : 67) {
            test_rows *rows = make_rows(ROWS_FIELD, 3, 1, n, versions[c / 3 % 3]);
            maker *it = make_maker(&options, rows);
            int64_t all = leat_anchors_count(it->anchors);
            int64_t most = versions[c / 3 % 3] == 4 ? 19 : 43;
            assert_int_equal(all, (4 + most * n + 1023) / 1024);
            int seen[200] = {0};
            for (int64_t j = 0; j < all; j++) {
                make_sequence(it, j);
                assert_int_equal(it->facts[0].kept, it->facts[0].drawn);
                assert_true(it->facts[0].is_block);
                for (int64_t i = 0; i < it->facts[0].kept; i++) seen[it->entries[i].index]++;
            }
            for (int64_t i = 0; i < n; i++) assert_int_equal(seen[i], 1);
            free_maker(it);
            free_rows(rows);
        }
    }
}

/* ---- padding ---- */

typedef struct padding_case {
    double mean; /* of measurements a row; 0: rows of `n` */
    int64_t n;
    row_kind kind;
    int version;
} padding_case;

static double padding_of(const padding_case *c, leat_tail tail, double *contexts) {
    test_rows *rows = c->mean > 0 ? make_heavy_rows(4, 3000, c->mean)
                                  : make_rows(c->kind, 4, 300, c->n, c->version);
    leat_sampler_options options = options_of(LEAT_SAMPLER_PLAN3, 1024, 5);
    options.tail = tail;
    maker *it = make_maker(&options, rows);
    enum { SEQUENCES = 2000 };
    int64_t used = 0;
    *contexts = 0;
    for (int64_t s = 0; s < SEQUENCES; s++) {
        make_sequence(it, s);
        used += used_tokens(it);
        *contexts += (double)it->fact_count / SEQUENCES;
    }
    free_maker(it);
    free_rows(rows);
    return 1 - (double)used / (SEQUENCES * 1024.0);
}

static void padding(void **state) {
    (void)state;
    static const padding_case cases[] = {
        {26, 0, ROWS_FIELD, 0},   {235, 0, ROWS_FIELD, 0},   {0, 1, ROWS_FIELD, 4},
        {0, 1, ROWS_FIELD, 6},    {0, 10000, ROWS_FIELD, 4}, {0, 10000, ROWS_FIELD, 6},
        {0, 300, ROWS_FAILED, 4}, {0, 300, ROWS_FAILED, 6},  {0, 300, ROWS_WILD, 0},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        double contexts = 0, cut = padding_of(&cases[c], LEAT_TAIL_CUT, &contexts);
        double pad = padding_of(&cases[c], LEAT_TAIL_PAD, &contexts);
        printf("# mean %.0f n %d: padding %.5f cut, %.5f pad, %.1f contexts a sequence\n",
               cases[c].mean, (int)cases[c].n, cut, pad, contexts);
        assert_true(cut < 0.001);
        /* rows of IPv6 alone leave half of one of its measurements */
        assert_true(pad > 0 && pad < (cases[c].mean > 0 ? 0.02 : 0.025));
    }
    test_rows *rows = make_heavy_rows(4, 3000, 26);
    assert_true(fabs(mean_of_rows(rows) - 26) < 5);
    free_rows(rows);
}

/* ---- failures ---- */

/* A reader that fails leaves a row of zeros, and nothing of it in the next one. */
static void failing_reader(void **state) {
    (void)state;
    test_rows *rows = make_heavy_rows(6, 100, 26);
    leat_sampler_options options = options_of(LEAT_SAMPLER_PLAN3, 512, 5);
    maker *it = make_maker(&options, rows), *clean = make_maker(&options, rows);
    for (int64_t after = 0; after < 3; after++) {
        leat_source source = leat_source_of_epoch(5, leat_anchors_count(it->anchors), 3);
        rows->fail_after = after;
        rows->calls = 0;
        it->fact_count = it->entry_count = 0;
        leat_code code =
            leat_sequence_make(&it->sequence, &source, it->anchors, it->context, &it->reader, NULL);
        rows->fail_after = -1;
        if (code == LEAT_OK) {
            assert_true(it->fact_count <= after);
            continue;
        }
        assert_int_equal(code, LEAT_ERR_CORRUPT);
        for (int i = 0; i < 6 * 512; i++) assert_int_equal(it->arrays[i], 0);
        make_sequence(it, 8);
        make_sequence(clean, 8);
        assert_memory_equal(it->arrays, clean->arrays, 6 * 512 * sizeof(int32_t));
    }
    free_maker(it);
    free_maker(clean);
    free_rows(rows);
}

/* By client: all contexts are of the probe's anchors, each once before one comes again. */
static void one_client(void **state) {
    (void)state;
    test_rows *rows = make_rows(ROWS_FIELD, 7, 12, 40, 4);
    leat_sampler_options options = options_of(LEAT_SAMPLER_PLAN3, 4096, 5);
    maker *it = make_maker(&options, rows);
    int64_t first = leat_anchors_first(it->anchors, 5), end = leat_anchors_first(it->anchors, 8);
    int seen[64] = {0}, fronts[64] = {0};
    for (int64_t step = 0; step < 50; step++) {
        leat_source source = leat_source_of_client(5, first, end - first, step, step % 4);
        make_sequence_of(it, &source);
        check_sequence(it);
        assert_int_equal(it->sequence.used, 4096);
        int often[64] = {0};
        for (int64_t t = 0; t < it->fact_count; t++) {
            assert_in_range(it->facts[t].row, 5, 7);
            often[leat_anchors_first(it->anchors, it->facts[t].row) + it->facts[t].k - first]++;
        }
        fronts[leat_anchors_first(it->anchors, it->facts[0].row) + it->facts[0].k - first]++;
        for (int64_t a = 0; a < end - first; a++) {
            assert_in_range(often[a], it->fact_count / (end - first),
                            it->fact_count / (end - first) + 1);
            seen[a] += often[a];
        }
    }
    for (int64_t a = 0; a < end - first; a++) {
        assert_true(seen[a] > 0);
        assert_true(fronts[a] > 0);
    }
    free_maker(it);
    free_rows(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_definition), cmocka_unit_test(as_many_as_fit),
        cmocka_unit_test(pure),          cmocka_unit_test(fixed_for_ever),
        cmocka_unit_test(once_an_epoch), cmocka_unit_test(blocks),
        cmocka_unit_test(padding),       cmocka_unit_test(failing_reader),
        cmocka_unit_test(one_client),
    };
    return cmocka_run_group_tests_name("sequences", tests, NULL, NULL);
}
