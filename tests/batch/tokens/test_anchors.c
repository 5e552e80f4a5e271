/* Anchors: K by rule, and finding (row, k) against counting from the first row on. */
#include <stdlib.h>

#include "base/rng.h"
#include "batch_support.h"

static void contexts_of_rows(void **state) {
    (void)state;
    static const struct {
        leat_sampler sampler;
        int32_t length;
        int64_t n;
        int version;
        int64_t contexts;
    } cases[] = {
        {LEAT_SAMPLER_PLAN3, 1024, 0, 4, 0},
        {LEAT_SAMPLER_PLAN3, 1024, 1, 4, 1},
        {LEAT_SAMPLER_PLAN3, 1024, 33, 4, 1}, /* 4 + 19 * 33 = 631 */
        {LEAT_SAMPLER_PLAN3, 1024, 23, 6, 1}, /* 4 + 43 * 23 = 993 */
        {LEAT_SAMPLER_PLAN3, 1024, 24, 6, 2}, /* 4 + 43 * 24 = 1036 */
        {LEAT_SAMPLER_PLAN3, 1024, 24, 0, 2}, /* both versions count as IPv6 */
        {LEAT_SAMPLER_PLAN3, 1024, 34, 4, 2}, /* from here on ceil(n / 30) */
        {LEAT_SAMPLER_PLAN3, 1024, 60, 6, 2},
        {LEAT_SAMPLER_PLAN3, 1024, 61, 4, 3},
        {LEAT_SAMPLER_PLAN3, 1024, 450, 4, 15},
        {LEAT_SAMPLER_PLAN3, 1024, 451, 4, 16},
        {LEAT_SAMPLER_PLAN3, 1024, INT32_MAX, 4, 16},
        {LEAT_SAMPLER_PLAN2, 1024, 100, 4, 4},
        {LEAT_SAMPLER_PLAN3, 4096, 136, 6, 5}, /* floor(4096 / 30) = 136 */
        {LEAT_SAMPLER_PLAN3, 4096, 135, 6, 2}, /* 4 + 43 * 135 = 5809 */
        {LEAT_SAMPLER_PLAN3, 64, 2, 4, 1},
        {LEAT_SAMPLER_PLAN3, 64, 1, 6, 1},
        {LEAT_SAMPLER_ALL, 1024, 34, 4, 1},
        {LEAT_SAMPLER_ALL, 1024, 1000, 4, 19}, /* 19004 */
        {LEAT_SAMPLER_ALL, 64, INT32_MAX, 6, 1442840576},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_sampler_options options = leat_sampler_options_default();
        options.sampler = cases[c].sampler;
        options.length = cases[c].length;
        int64_t got = leat_contexts_of_row(&options, cases[c].n, cases[c].version);
        if (got != cases[c].contexts) fail_msg("case %d: %lld", (int)c, (long long)got);
    }
    assert_int_equal(leat_small_row(1024), 34);
    assert_int_equal(leat_row_tokens_max(33, 4), 631);
    assert_int_equal(leat_row_tokens_max(33, 6), 1423);
    assert_int_equal(leat_row_tokens_max(33, 0), 1423);
}

typedef struct sizes {
    uint64_t seed;
    int64_t zeros; /* of 100 rows so many have no measurement */
    int64_t asked, fail_at, bad_at;
} sizes;

static int64_t size_of(const sizes *self, int64_t row) {
    uint64_t bits = leat_random(self->seed, 0, (uint64_t)row);
    return (int64_t)(bits % 100) < self->zeros ? 0 : INT64_C(1) << (bits >> 20) % 14;
}

static leat_code row_size(void *user, int64_t row, int64_t *n, int *ip_version, leat_error *err) {
    sizes *self = user;
    (void)err;
    assert_int_equal(row, self->asked++); /* each once, in order */
    if (row == self->fail_at) return LEAT_ERR_IO;
    *n = row == self->bad_at ? -1 : size_of(self, row);
    *ip_version = row % 2 == 0 ? 4 : 6;
    return LEAT_OK;
}

static void found(void **state) {
    (void)state;
    static const struct {
        leat_sampler sampler;
        int64_t rows, zeros;
    } cases[] = {
        {LEAT_SAMPLER_PLAN3, 0, 0},      {LEAT_SAMPLER_PLAN3, 1, 0},
        {LEAT_SAMPLER_PLAN3, 63, 0},     {LEAT_SAMPLER_PLAN3, 64, 0},
        {LEAT_SAMPLER_PLAN3, 65, 0},     {LEAT_SAMPLER_PLAN3, 100, 100},
        {LEAT_SAMPLER_PLAN3, 5000, 0},   {LEAT_SAMPLER_PLAN3, 5000, 50},
        {LEAT_SAMPLER_PLAN3, 20000, 99}, {LEAT_SAMPLER_ALL, 1, 0},
        {LEAT_SAMPLER_ALL, 3000, 30},    {LEAT_SAMPLER_PLAN2, 700, 95},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_sampler_options options = leat_sampler_options_default();
        leat_anchors *anchors = NULL;
        sizes self = {.seed = c, .zeros = cases[c].zeros, .fail_at = -1, .bad_at = -1};
        options.sampler = cases[c].sampler;
        assert_fine(leat_anchors_create(&anchors, &options, cases[c].rows, row_size, &self, err));
        assert_int_equal(self.asked, cases[c].rows);
        int64_t anchor = 0;
        for (int64_t row = 0; row < cases[c].rows; row++) {
            assert_int_equal(leat_anchors_first(anchors, row), anchor);
            int64_t all = leat_contexts_of_row(&options, size_of(&self, row), row % 2 ? 6 : 4);
            for (int64_t k = 0; k < all; k++, anchor++) {
                int64_t got_row = -1, got_k = -1;
                leat_anchors_find(anchors, anchor, &got_row, &got_k);
                assert_int_equal(got_row, row);
                assert_int_equal(got_k, k);
            }
        }
        assert_int_equal(leat_anchors_first(anchors, cases[c].rows), anchor);
        assert_int_equal(leat_anchors_count(anchors), anchor);
        leat_anchors_destroy(anchors);
    }
}

static void refused(void **state) {
    (void)state;
    leat_sampler_options options = leat_sampler_options_default();
    leat_anchors *anchors = NULL;
    leat_error err = {0};
    sizes bad = {.seed = 1, .fail_at = -1, .bad_at = 70}, broken = {.fail_at = 3, .bad_at = -1};
    assert_int_equal(leat_anchors_create(&anchors, &options, 100, row_size, &bad, &err),
                     LEAT_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "row 70 has -1 measurements"));
    assert_null(anchors);
    assert_int_equal(leat_anchors_create(&anchors, &options, 100, row_size, &broken, &err),
                     LEAT_ERR_IO);
    assert_null(anchors);
    assert_int_equal(
        leat_anchors_create(&anchors, &options, (int64_t)INT32_MAX + 1, row_size, &bad, &err),
        LEAT_ERR_LIMIT);
    assert_null(anchors);
    leat_anchors_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_of_rows),
        cmocka_unit_test(found),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("anchors", tests, NULL, NULL);
}
