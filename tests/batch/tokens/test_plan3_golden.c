/*
 * plan3 with --packing none against what the sampler of ping-llm does
 * (golden/latency/plan3_ref.json): every number within 4 standard errors, both sides' errors
 * counted. Of IPv6 rows of 34 measurements and more, and of the real sample, only what stands
 * before its cut is compared.
 */
#include <math.h>

#include "base/rng.h"
#include "batch_support.h"

enum { CONTEXTS = 8000 };

typedef struct series { /* one number of each context */
    double value[CONTEXTS];
    int64_t count;
} series;

typedef struct cell_numbers {
    series padding, padding_by_mode[3], window, ln_window, measurements, drawn_tokens, kept_tokens,
        trained, mode[3];
} cell_numbers;

static void add(series *to, double value) { to->value[to->count++] = value; }

static void mean_of(const series *s, double *mean, double *se) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < s->count; i++) sum += s->value[i];
    *mean = sum / (double)s->count;
    for (int64_t i = 0; i < s->count; i++) squares += pow(s->value[i] - *mean, 2);
    *se = sqrt(squares / (double)(s->count - 1) / (double)s->count);
}

static int64_t compared;

static void compare_mean(const char *cell, const char *what, const series *ours, double theirs) {
    double mean = 0, se = 0;
    mean_of(ours, &mean, &se);
    /* theirs is as wide as ours, and was rounded to six places */
    if (fabs(mean - theirs) > 4 * sqrt(2) * se + 1e-6) {
        fail_msg("%s %s: %.6f, theirs %.6f, standard error %.6f", cell, what, mean, theirs,
                 sqrt(2) * se);
    }
    compared++;
}

/* Theirs are values at or below which so many tenths lie: of ours as many must, nearly. */
static void compare_deciles(const char *cell, const char *what, const series *ours,
                            const json_t *theirs) {
    for (size_t d = 0; d <= 10; d++) {
        double value = json_number_value(json_array_get(theirs, d)), share = (double)d / 10;
        int64_t below = 0, up_to = 0;
        for (int64_t i = 0; i < ours->count; i++) {
            below += ours->value[i] < value - 1e-6;
            up_to += ours->value[i] <= value + 1e-6;
        }
        double n = (double)ours->count, se = sqrt(2 * (share * (1 - share) + 2 / n) / n);
        if ((double)below / n > share + 4 * se || (double)up_to / n < share - 4 * se) {
            fail_msg("%s %s: decile %d is %g; of ours %.4f lie below, %.4f up to it", cell, what,
                     (int)d, value, (double)below / n, (double)up_to / n);
        }
        compared++;
    }
}

static void sample_cell(cell_numbers *out, int64_t n, int version) {
    leat_sampler_options options = leat_sampler_options_default();
    options.packing = LEAT_PACKING_NONE;
    options.seed = 3;
    test_rows *rows = make_rows(ROWS_CLOCK, 1, 1, n, version);
    maker *it = make_maker(&options, rows);
    memset(out, 0, sizeof(*out));
    for (int64_t s = 0; s < CONTEXTS; s++) {
        make_sequence(it, s);
        const context_fact *fact = &it->facts[0];
        int64_t used = used_tokens(it), trained = 0;
        for (int i = 0; i < 1024; i++) trained += it->sequence.targets_segmentation[i] != 0;
        double padding = 1 - (double)used / 1024;
        add(&out->padding, padding);
        add(&out->padding_by_mode[fact->mode], padding);
        for (int m = 0; m < 3; m++) add(&out->mode[m], m == (int)fact->mode);
        add(&out->window, (double)fact->window);
        add(&out->ln_window, log((double)fact->window));
        add(&out->measurements, fact->drawn);
        add(&out->drawn_tokens, fact->drawn_tokens);
        add(&out->kept_tokens, fact->tokens);
        add(&out->trained, (double)trained);
    }
    free_maker(it);
    free_rows(rows);
}

static double get(const json_t *cell, const char *key) {
    const json_t *value = json_object_get(cell, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* What does not depend on the texts of a row. */
static void compare_numbers(const char *name, const json_t *cell, const cell_numbers *ours) {
    static const char *const modes[] = {"full", "partial", "none"};
    compare_deciles(name, "window_deciles", &ours->window, json_object_get(cell, "window_deciles"));
    compare_mean(name, "window_mean_ln", &ours->ln_window, get(cell, "window_mean_ln"));
    compare_deciles(name, "measurements_deciles", &ours->measurements,
                    json_object_get(cell, "measurements_deciles"));
    compare_mean(name, "measurements_mean", &ours->measurements, get(cell, "measurements_mean"));
    for (int m = 0; m < 3; m++) {
        compare_mean(name, modes[m], &ours->mode[m],
                     get(json_object_get(cell, "mode_share"), modes[m]));
    }
}

static void check_cell(const char *name, const json_t *cell, const cell_numbers *ours) {
    static const char *const modes[] = {"full", "partial", "none"};
    compare_numbers(name, cell, ours);
    compare_mean(name, "tokens_before_cut_mean", &ours->drawn_tokens,
                 get(cell, "tokens_before_cut_mean"));
    if (get(cell, "ip_version") != 4) return;
    compare_mean(name, "padding_mean", &ours->padding, get(cell, "padding_mean"));
    compare_deciles(name, "padding_deciles", &ours->padding,
                    json_object_get(cell, "padding_deciles"));
    compare_mean(name, "trained_targets_mean", &ours->trained, get(cell, "trained_targets_mean"));
    for (int m = 0; m < 3; m++) {
        char key[40];
        snprintf(key, sizeof(key), "padding_mean_%s", modes[m]);
        compare_mean(name, key, &ours->padding_by_mode[m], get(cell, key));
    }
    /* IPv4 is never cut: what is drawn is kept */
    assert_true(get(cell, "truncated_share") == 0 && get(cell, "tokens_lost_share") == 0);
    for (int64_t i = 0; i < CONTEXTS; i++) {
        assert_true(ours->drawn_tokens.value[i] == ours->kept_tokens.value[i]);
    }
    compare_mean(name, "measurements_begun_in_1024_mean", &ours->measurements,
                 get(cell, "measurements_begun_in_1024_mean"));
}

static void cells(void **state) {
    (void)state;
    json_t *golden = golden_json("golden/latency/plan3_ref.json");
    static cell_numbers ours;
    const char *name = NULL;
    json_t *cell = NULL;
    int checked = 0;
    json_object_foreach(json_object_get(golden, "cells"), name, cell) {
        int64_t n = (int64_t)get(cell, "n");
        int version = (int)get(cell, "ip_version");
        if (version == 6 && n < 34) continue; /* ping-llm cuts these; ours are in blocks */
        sample_cell(&ours, n, version);
        check_cell(name, cell, &ours);
        checked++;
    }
    assert_int_equal(checked, 11 + 7);
    assert_true(compared > 600);
    json_decref(golden);
}

/* ---- the real sample ---- */

typedef struct row_sizes { /* so many rows have n measurements */
    int64_t n, rows;
} row_sizes;

/* Measurements per src_addr of data/latency/atlas_builtin_masked.parquet, whose splits are
 * those of its addresses in byte order; checked against the golden file's own numbers. */
static const row_sizes real_train[] = {{10, 1},   {32, 1},   {48, 1},  {138, 1}, {165, 1},
                                       {180, 27}, {181, 1},  {360, 7}, {361, 1}, {511, 1},
                                       {525, 2},  {540, 44}, {541, 1}, {542, 2}};
static const row_sizes real_test[] = {{180, 1}, {360, 1}, {525, 1}, {540, 8}};

static test_rows *make_real_rows(const row_sizes *sizes, const json_t *split) {
    test_rows *rows = make_rows(ROWS_CLOCK, 1, (int64_t)get(split, "rows"), 1, 4);
    int64_t made = 0, measurements = 0;
    int by_k[17] = {0};
    while (made < rows->count) {
        for (int64_t i = 0; i < sizes->rows; i++) rows->n[made++] = sizes->n;
        int64_t k = (sizes->n + 29) / 30;
        by_k[k > 16 ? 16 : k] += (int)sizes->rows;
        measurements += sizes->n * sizes->rows;
        sizes++;
    }
    assert_int_equal(made, rows->count);
    assert_true(measurements == (int64_t)get(split, "measurements"));
    for (int k = 1; k <= 16; k++) {
        char key[8];
        snprintf(key, sizeof key, "%d", k);
        const json_t *theirs = json_object_get(json_object_get(split, "rows_by_K"), key);
        assert_int_equal(json_integer_value(theirs), by_k[k]);
    }
    return rows;
}

/* ping-llm takes rows of less than 34 whole, ceil(n / 30) times; ours are in blocks. */
static void add_small_rows(cell_numbers *to, const test_rows *rows) {
    for (int64_t row = 0; row < rows->count; row++) {
        double n = (double)rows->n[row];
        for (int64_t k = 0; n < 34 && k < (rows->n[row] + 29) / 30; k++) {
            add(&to->window, n);
            add(&to->ln_window, log(n));
            add(&to->measurements, n);
        }
    }
}

static void sample_real(cell_numbers *out, test_rows *rows, int64_t epochs) {
    leat_sampler_options options = leat_sampler_options_default();
    options.packing = LEAT_PACKING_NONE;
    options.seed = 5;
    maker *it = make_maker(&options, rows);
    int64_t sequences = leat_anchors_first(it->anchors, rows->count);
    memset(out, 0, sizeof(*out));
    for (int64_t s = 0; s < epochs * sequences; s++) {
        make_sequence(it, s);
        const context_fact *fact = &it->facts[0];
        for (int m = 0; m < 3; m++) add(&out->mode[m], m == (int)fact->mode);
        if (rows->n[fact->row] < 34) continue;
        add(&out->window, (double)fact->window);
        add(&out->ln_window, log((double)fact->window));
        add(&out->measurements, fact->drawn);
    }
    for (int64_t epoch = 0; epoch < epochs; epoch++) add_small_rows(out, rows);
    free_maker(it);
}

static void real_sample(void **state) {
    (void)state;
    static const struct {
        const char *split;
        const row_sizes *sizes;
    } splits[] = {{"train", real_train}, {"test", real_test}};
    json_t *golden = golden_json("golden/latency/plan3_ref.json");
    static cell_numbers ours;
    for (int i = 0; i < 2; i++) {
        const char *name = splits[i].split;
        const json_t *split = json_object_get(json_object_get(golden, "real_sample"), name);
        test_rows *rows = make_real_rows(splits[i].sizes, split);
        sample_real(&ours, rows, (int64_t)get(split, "epochs"));
        assert_int_equal(ours.window.count, (int64_t)get(split, "contexts"));
        compare_numbers(name, split, &ours);
        free_rows(rows);
    }
    json_decref(golden);
}

/* A window that does not fit is drawn whole, and what is left out is counted. */
static void left_out(void **state) {
    (void)state;
    leat_sampler_options options = leat_sampler_options_default();
    options.packing = LEAT_PACKING_NONE;
    test_rows *rows = make_rows(ROWS_FIELD, 1, 1, 10000, 6);
    maker *it = make_maker(&options, rows);
    int64_t full = 0;
    for (int64_t s = 0; s < 400; s++) {
        make_sequence(it, s);
        check_sequence(it);
        const context_fact *fact = &it->facts[0];
        assert_int_equal(fact->drawn, fact->window < 34 ? fact->window : 34);
        assert_int_equal(fact->full, fact->drawn_tokens > 1024);
        assert_int_equal(fact->full, fact->kept < fact->drawn);
        if (!fact->full) assert_int_equal(fact->tokens, fact->drawn_tokens);
        else assert_true(fact->tokens > 1024 - 47);
        full += fact->full;
    }
    assert_true(full > 200);
    free_maker(it);
    free_rows(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells),
        cmocka_unit_test(real_sample),
        cmocka_unit_test(left_out),
    };
    return cmocka_run_group_tests_name("plan3 beside ping-llm", tests, NULL, NULL);
}
