/*
 * What a context draws: the distributions of windows, places, orders and stamps, against what
 * docs/sampling.md says of them. Seeds are fixed; limits are 5 standard errors or their like.
 */
#include <math.h>

#include "base/rng.h"
#include "batch/tokens/log_uniform.h"
#include "batch_support.h"

/* Fails unless the counts of `cells` equally likely cells look so. */
static void assert_even(const int64_t *counts, int cells, const char *what) {
    double sum = 0, chi = 0;
    for (int i = 0; i < cells; i++) sum += (double)counts[i];
    for (int i = 0; i < cells; i++) {
        chi += pow((double)counts[i] - sum / cells, 2) / (sum / cells);
    }
    double limit = cells - 1 + 5 * sqrt(2.0 * (cells - 1)) + 5;
    if (sum / cells < 20) fail_msg("%s: %.0f draws for %d cells", what, sum, cells);
    if (chi > limit) fail_msg("%s: chi-square %.1f of %d cells", what, chi, cells);
}

/* Fails unless a share of `count` is within 5 standard errors of what is expected. */
static void assert_share(int64_t hits, int64_t count, double expected, const char *what) {
    double se = sqrt(expected * (1 - expected) / (double)count);
    double share = (double)hits / (double)count;
    if (fabs(share - expected) > 5 * se) {
        fail_msg("%s: %.4f of %d, not %.4f", what, share, (int)count, expected);
    }
}

static leat_context *context_of(leat_sampler sampler, leat_packing packing, int32_t length) {
    leat_sampler_options options = leat_sampler_options_default();
    leat_context *context = NULL;
    options.sampler = sampler;
    options.packing = packing;
    options.length = length;
    assert_fine(leat_context_create(&context, &options, err));
    return context;
}

static uint64_t key_of(int64_t i) { return leat_random(77, 0, (uint64_t)i); }

/* ---- windows ---- */

static void log_uniform(void **state) {
    (void)state;
    for (int64_t n = 1; n <= INT64_C(1) << 53; n = n * 3 + 1) {
        assert_int_equal(leat_log_uniform(0, n), 1);
        assert_in_range(leat_log_uniform(UINT64_MAX, n), n > 1 ? n - 1 - n / 1000 : 1, n);
    }
    /* floor(exp(U ln n)) = w with probability ln((w + 1) / w) / ln n */
    enum { N = 50, DRAWS = 400000 };
    int64_t counts[N + 1] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) counts[leat_log_uniform(leat_random(4, 4, i), N)]++;
    for (int w = 1; w < N; w++) {
        assert_share(counts[w], DRAWS, log((w + 1.0) / w) / log(N), "window");
    }
}

static void windows(void **state) {
    (void)state;
    enum { DRAWS = 60000, N = 5000, BINS = 20 };
    leat_context *it = context_of(LEAT_SAMPLER_PLAN3, LEAT_PACKING_FILL, 1024);
    int64_t scale[BINS] = {0}, offset[BINS] = {0}, place[BINS] = {0};
    for (int64_t i = 0; i < DRAWS; i++) {
        leat_context_draw(it, N, 4, key_of(i), 3, 1024, true);
        assert_true(it->window >= 1 && it->offset >= 0 && it->offset + it->window <= N);
        assert_false(it->is_block);
        if (it->window >= 100) { /* the floor is not felt there: uniform in ln w */
            scale[(int)(log((double)it->window / 100) / log(N / 100.0 + 1e-9) * BINS)]++;
        }
        if (it->window < N / 2) {
            offset[it->offset * BINS / (N - it->window + 1)]++;
        }
        if (it->window > 2000) {
            for (int c = 0; c < it->count; c++) {
                place[(it->index[c] - it->offset) * BINS / it->window]++;
            }
        }
    }
    int64_t ends[2] = {0}; /* of a window one shorter than the row, both offsets */
    for (int64_t i = 0; i < DRAWS; i++) {
        leat_context_draw(it, 40, 4, key_of(i), 1, 1024, true);
        if (it->window == 39) ends[it->offset]++;
        assert_true(it->offset + it->window <= 40);
    }
    assert_even(ends, 2, "both ends of a row");
    assert_even(scale, BINS, "scale of windows");
    assert_even(offset, BINS, "offset of windows");
    for (int b = 0; b < BINS; b++) place[b] /= 20; /* places of one draw avoid each other */
    assert_even(place, BINS, "places in a window");
    leat_context_destroy(it);
}

/* Few candidates of small windows: every ordered choice is alike. */
static void choices(void **state) {
    (void)state;
    static const struct {
        int64_t window;
        int32_t space, count;
    } cases[] = {{3, 30, 3}, {4, 30, 3}, {5, 30, 3}, {6, 30, 3}, {7, 30, 3}, {12, 30, 3}};
    leat_context *it = context_of(LEAT_SAMPLER_PLAN3, LEAT_PACKING_FILL, 1024);
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        int64_t window = cases[c].window, tuples[12 * 12 * 12] = {0}, even[12 * 12 * 12];
        for (int64_t i = 0; i < 600000; i++) {
            leat_context_draw(it, 40, 4, key_of(i), 0, cases[c].space, false);
            if (it->window != window || it->mode != LEAT_TIME_FULL) continue;
            assert_int_equal(it->count, cases[c].count);
            int64_t drawn[3] = {0};
            for (int32_t j = 0; j < 3; j++) drawn[it->rank[j]] = it->index[j] - it->offset;
            tuples[(drawn[0] * window + drawn[1]) * window + drawn[2]]++;
        }
        int cells = 0;
        for (int64_t a = 0; a < window * window * window; a++) {
            int64_t x = a / window / window, y = a / window % window, z = a % window;
            if (x == y || y == z || x == z) assert_int_equal(tuples[a], 0);
            else even[cells++] = tuples[a];
        }
        if (window == 12) { /* too many cells for these draws: by the first and the last */
            int64_t pairs[144] = {0}, some[144];
            for (int64_t a = 0; a < 1728; a++) pairs[a / 144 * 12 + a % 12] += tuples[a];
            cells = 0;
            for (int p = 0; p < 144; p++) {
                if (p / 12 != p % 12) some[cells++] = pairs[p];
            }
            assert_even(some, cells, "pairs of a window of 12");
            continue;
        }
        assert_even(even, cells, "ordered choices");
    }
    leat_context_destroy(it);
}

/* No measurement is left out that would have fit: draws are deep enough for the smallest ones. */
static void deep_enough(void **state) {
    (void)state;
    static const int versions[] = {4, 6, 0};
    for (int way = 0; way < 2 * 3 * 2; way++) {
        leat_sampler_options options = leat_sampler_options_default();
        options.sampler = way % 2 ? LEAT_SAMPLER_PLAN2 : LEAT_SAMPLER_PLAN3;
        options.tail = LEAT_TAIL_PAD;
        test_rows *rows =
            make_rows(way / 6 ? ROWS_FAILED : ROWS_FIELD, 5, 10, 3000, versions[way / 2 % 3]);
        maker *it = make_maker(&options, rows);
        for (int64_t s = 0; s < 400; s++) {
            make_sequence(it, s);
            for (int64_t f = 0; f < it->fact_count; f++) {
                const context_fact *fact = &it->facts[f];
                int64_t there = options.sampler == LEAT_SAMPLER_PLAN3
                                    ? fact->window
                                    : (3000 - 1 - fact->offset) / fact->stride + 1;
                if (!fact->full && fact->count < there) {
                    assert_true(fact->space - fact->tokens < LEAT_TOKENS_MIN);
                }
            }
        }
        free_maker(it);
        free_rows(rows);
    }
}

/* ---- timestamp modes ---- */

/* Draws and writes one context of row 0 into an empty sequence; its entries say what it holds. */
static const context_fact *one_context(maker *it, int64_t i, int64_t n) {
    leat_sequence *sequence = &it->sequence;
    it->entry_count = it->fact_count = 0;
    leat_sequence_begin(sequence);
    leat_context_draw(it->context, n, it->rows->version[0], key_of(i), 0, sequence->length, true);
    assert_fine(
        it->reader.points(it, 0, it->context->index, it->context->count, it->reader.point, err));
    leat_context_write(it->context, it->reader.point, sequence);
    it->reader.explain(it, 0, 0, 0, it->context, it->reader.point);
    leat_sequence_finish(sequence);
    return &it->facts[0];
}

static bool ascends(const maker *it, bool stamped_only) {
    int64_t last = -1;
    for (int64_t i = 0; i < it->entry_count; i++) {
        if (stamped_only && !it->entries[i].stamped) continue;
        if (it->entries[i].index <= last) return false;
        last = it->entries[i].index;
    }
    return true;
}

static int64_t count_unstamped(const maker *it) {
    int64_t count = 0;
    for (int64_t i = 0; i < it->entry_count; i++) count += !it->entries[i].stamped;
    return count;
}

static maker *maker_of(leat_sampler sampler, const int modes[3], leat_packing packing) {
    leat_sampler_options options = leat_sampler_options_default();
    options.sampler = sampler;
    options.packing = packing;
    for (int i = 0; i < 3; i++) options.timestamp_modes[i] = modes[i];
    return make_maker(&options, make_rows(ROWS_FIELD, 5, 1, 20000, 4));
}

static void done_with(maker *it) {
    test_rows *rows = it->rows;
    free_maker(it);
    free_rows(rows);
}

static void mode_shares(void **state) {
    (void)state;
    static const int cases[][3] = {{40, 30, 30}, {0, 100, 0}, {100, 0, 0}, {1, 9, 90}};
    static const leat_time_mode modes[2][3] = {
        {LEAT_TIME_FULL, LEAT_TIME_PARTIAL, LEAT_TIME_NONE},
        {LEAT_TIME_FULL, LEAT_TIME_NONE, LEAT_TIME_MIXED},
    };
    enum { DRAWS = 20000 };
    for (int c = 0; c < 8; c++) {
        maker *it = maker_of((leat_sampler)(c % 2), cases[c / 2], LEAT_PACKING_FILL);
        int64_t seen[4] = {0};
        for (int64_t i = 0; i < DRAWS; i++) {
            leat_context_draw(it->context, 20000, 4, key_of(i), 0, 1024, true);
            seen[it->context->mode]++;
        }
        for (int m = 0; m < 3; m++) {
            assert_share(seen[modes[c % 2][m]], DRAWS, cases[c / 2][m] / 100.0, "mode");
        }
        done_with(it);
    }
}

/* full: all stamped, in time order. none: no stamps, every order alike. */
static void full_and_none(void **state) {
    (void)state;
    maker *full = maker_of(LEAT_SAMPLER_PLAN3, (int[]){100, 0, 0}, LEAT_PACKING_FILL);
    maker *none = maker_of(LEAT_SAMPLER_PLAN3, (int[]){0, 0, 100}, LEAT_PACKING_FILL);
    int64_t first[5] = {0}, last[5] = {0};
    for (int64_t i = 0; i < 60000; i++) {
        one_context(full, i, 40);
        assert_int_equal(count_unstamped(full), 0);
        assert_true(ascends(full, false));
        const context_fact *fact = one_context(none, i, 40);
        assert_int_equal(count_unstamped(none), none->entry_count);
        if (fact->window != 5) continue;
        first[none->entries[0].index - fact->offset]++;
        last[none->entries[4].index - fact->offset]++;
    }
    assert_even(first, 5, "first of none");
    assert_even(last, 5, "last of none");
    done_with(full);
    done_with(none);
}

/* partial: u = max(1, floor(p m)) lose their stamps, p uniform on [0.1, 0.9]; the others stay in
 * time order; the places of those without are alike, and so is which ones they are. */
static void partial(void **state) {
    (void)state;
    maker *it = maker_of(LEAT_SAMPLER_PLAN3, (int[]){0, 100, 0}, LEAT_PACKING_FILL);
    for (int64_t i = 0; i < 20000; i++) {
        int64_t m = one_context(it, i, 200)->kept, u = count_unstamped(it);
        assert_true(ascends(it, true));
        assert_true(u >= (m / 10 > 1 ? m / 10 : 1) && (u <= m * 9 / 10 || u == 1));
    }
    int64_t place[20] = {0}, count[21] = {0}, who[20] = {0}, pair[2] = {0};
    for (int64_t i = 0; i < 40000; i++) { /* m fixed: a small row of 20 */
        assert_int_equal(one_context(it, i, 20)->kept, 20);
        count[count_unstamped(it)]++;
        if (count_unstamped(it) != 5) continue;
        int64_t before = -1;
        for (int e = 0; e < 20; e++) {
            int64_t index = it->entries[e].index;
            if (it->entries[e].stamped) continue;
            place[e]++;
            who[index]++;
            if (before >= 0) pair[index > before]++;
            before = index;
        }
    }
    assert_even(place, 20, "places of 5 of 20");
    assert_even(who, 20, "which 5 of 20");
    assert_even(pair, 2, "orders of those without");
    assert_int_equal(count[0] + count[1], 0);
    assert_even(count + 2, 16, "how many of 20"); /* 2 .. 17, 1 / 16 of the time each */
    assert_int_equal(count[18] + count[19] + count[20], 0);
    done_with(it);
}

/* Packing none: a fair coin says which of the two lists goes on, until one is used up. */
static void partial_by_coin(void **state) {
    (void)state;
    maker *it = maker_of(LEAT_SAMPLER_PLAN3, (int[]){0, 100, 0}, LEAT_PACKING_NONE);
    int64_t first = 0, second = 0, all = 0, last_differs = 0, few = 0;
    for (int64_t i = 0; i < 40000; i++) {
        assert_int_equal(one_context(it, i, 33)->kept, 33);
        assert_true(ascends(it, true));
        int64_t u = count_unstamped(it);
        if (u < 2) continue;
        all++;
        first += !it->entries[0].stamped;
        second += !it->entries[1].stamped;
        if (u == 4) { /* 29 stamped ones outlast them: the end is stamped, nearly always */
            few++;
            for (int e = 22; e < 33; e++) last_differs += !it->entries[e].stamped;
        }
    }
    assert_share(first, all, 0.5, "first by coin");
    assert_share(second, all, 0.5, "second by coin");
    assert_true(few > 500 && last_differs < few / 50);
    done_with(it);
}

/* plan2: strides are powers of two up to n / m, all alike; time order in every mode. */
static void strides(void **state) {
    (void)state;
    maker *it = maker_of(LEAT_SAMPLER_PLAN2, (int[]){40, 30, 30}, LEAT_PACKING_FILL);
    int64_t powers[9] = {0}, stamped = 0, mixed = 0, starts[10] = {0};
    for (int64_t i = 0; i < 20000; i++) {
        const context_fact *fact = one_context(it, i, 20000); /* 20000 / 64 = 312: up to 2^8 */
        assert_true(fact->stride > 0 && (fact->stride & (fact->stride - 1)) == 0);
        int power = __builtin_ctzll((uint64_t)fact->stride);
        if (fact->mode == LEAT_TIME_FULL) {
            assert_in_range(power, 0, 8);
            powers[power]++;
        }
        assert_true(ascends(it, false));
        for (int64_t e = 0; e < it->entry_count; e++) {
            assert_int_equal(it->entries[e].index, fact->offset + e * fact->stride);
        }
        assert_true(fact->window <= 20000 && fact->offset + fact->window <= 20000);
        assert_int_equal(fact->window, (it->entry_count - 1) * fact->stride + 1);
        if (fact->stride == 1) starts[fact->offset * 10 / (20000 - fact->window + 1)]++;
        int64_t u = count_unstamped(it);
        if (fact->mode == LEAT_TIME_FULL) assert_int_equal(u, 0);
        if (fact->mode == LEAT_TIME_NONE) assert_int_equal(u, it->entry_count);
        if (fact->mode != LEAT_TIME_MIXED) continue;
        mixed += it->entry_count;
        stamped += it->entry_count - u;
    }
    assert_even(powers, 9, "powers of strides");
    assert_even(starts, 10, "starts");
    /* a context ends sooner where there are more stamps, which leans the share a little */
    assert_true(fabs((double)stamped / (double)mixed - 0.5) < 0.01);
    done_with(it);
}

/* Random field order: every order of the fields is alike, with a stamp and without. */
static void field_orders(void **state) {
    (void)state;
    maker *it = maker_of(LEAT_SAMPLER_PLAN3, (int[]){40, 30, 30}, LEAT_PACKING_FILL);
    static leat_decoded decoded[100];
    int64_t orders[2][64] = {{0}}, even[24];
    for (int64_t i = 0; i < 3000; i++) {
        int32_t count = 0;
        one_context(it, i, 20000);
        assert_fine(leat_tokens_decode(it->sequence.inputs, it->sequence.inputs_segmentation, 1024,
                                       decoded, 100, &count, err));
        for (int32_t m = 0; m < count; m++) {
            const uint8_t *o = decoded[m].order;
            orders[decoded[m].field_count - 3][o[0] * 16 + o[1] * 4 + o[2]]++;
        }
    }
    for (int timed = 0; timed < 2; timed++) {
        int cells = 0;
        for (int o = 0; o < 64; o++) {
            if (orders[timed][o] > 0) even[cells++] = orders[timed][o];
        }
        assert_int_equal(cells, timed ? 24 : 6);
        assert_even(even, cells, timed ? "orders of four fields" : "orders of three fields");
    }
    done_with(it);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_uniform), cmocka_unit_test(windows),
        cmocka_unit_test(choices),     cmocka_unit_test(deep_enough),
        cmocka_unit_test(mode_shares), cmocka_unit_test(full_and_none),
        cmocka_unit_test(partial),     cmocka_unit_test(partial_by_coin),
        cmocka_unit_test(strides),     cmocka_unit_test(field_orders),
    };
    return cmocka_run_group_tests_name("contexts", tests, NULL, NULL);
}
