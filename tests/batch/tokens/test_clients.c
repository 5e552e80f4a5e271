/*
 * By client: rows of a batch hold different probes, chosen as the weights say, each step and round
 * a pure function of its number.
 */
#include <math.h>

#include "base/rng.h"
#include "batch/tokens/clients.h"
#include "batch_support.h"

enum { PROBES = 10, STEPS = 60000 };

static leat_clients *clients_of(int64_t count, const double *weights) {
    leat_clients *clients = NULL;
    assert_fine(leat_clients_create(&clients, count, weights, err));
    return clients;
}

static void assert_different(const int64_t *probe, int32_t count, int64_t probes) {
    for (int32_t i = 0; i < count; i++) {
        assert_true(probe[i] >= 0 && probe[i] < probes);
        for (int32_t j = 0; j < i; j++) assert_true(probe[i] != probe[j]);
    }
}

static void assert_near(int64_t hits, double expected, const char *what, int64_t which) {
    double share = (double)hits / STEPS, se = sqrt(expected * (1 - expected) / STEPS);
    if (fabs(share - expected) > 5 * se + 1e-9) {
        fail_msg("%s %d: %.4f, not %.4f", what, (int)which, share, expected);
    }
}

static void uniform(void **state) {
    (void)state;
    leat_clients *clients = clients_of(PROBES, NULL);
    int64_t at[3][PROBES] = {{0}}, pairs[PROBES][PROBES] = {{0}};
    for (int64_t step = 0; step < STEPS; step++) {
        int64_t probe[PROBES];
        assert_fine(
            leat_clients_batch(clients, 4, step, &(leat_clients_drawn){3, probe, NULL}, err));
        assert_different(probe, 3, PROBES);
        for (int r = 0; r < 3; r++) at[r][probe[r]]++;
        pairs[probe[0]][probe[1]]++;
    }
    for (int p = 0; p < PROBES; p++) {
        for (int r = 0; r < 3; r++) assert_near(at[r][p], 1.0 / PROBES, "probe", p);
        for (int q = 0; q < PROBES; q++) {
            if (p != q) assert_near(pairs[p][q], 1.0 / (PROBES * (PROBES - 1)), "pair", p);
        }
    }
    int64_t probe[PROBES];
    assert_int_equal(leat_clients_count(clients), PROBES);
    assert_fine(leat_clients_batch(clients, 4, 1, &(leat_clients_drawn){PROBES, probe, NULL},
                                   err)); /* all of them */
    assert_different(probe, PROBES, PROBES);
    leat_clients_destroy(clients);
}

/* Successive sampling: the first by weight, the second by weight among the rest. */
static void weighted(void **state) {
    (void)state;
    static const double weights[PROBES] = {1, 0, 2, 3, 0, 10, 0.5, 4, 0, 20};
    double sum = 0;
    for (int p = 0; p < PROBES; p++) sum += weights[p];
    leat_clients *clients = clients_of(PROBES, weights);
    assert_int_equal(leat_clients_count(clients), 7);
    int64_t first[PROBES] = {0}, pairs[PROBES][PROBES] = {{0}}, third[PROBES] = {0};
    for (int64_t step = 0; step < STEPS; step++) {
        int64_t probe[PROBES], scratch[PROBES];
        assert_fine(
            leat_clients_batch(clients, 9, step, &(leat_clients_drawn){3, probe, scratch}, err));
        assert_different(probe, 3, PROBES);
        first[probe[0]]++;
        pairs[probe[0]][probe[1]]++;
        third[probe[2]]++;
        assert_fine(
            leat_clients_batch(clients, 9, step, &(leat_clients_drawn){7, probe, scratch}, err));
        assert_different(probe, 7, PROBES);
    }
    for (int p = 0; p < PROBES; p++) {
        double third_share = 0;
        assert_near(first[p], weights[p] / sum, "first", p);
        for (int q = 0; q < PROBES; q++) {
            double share = p == q ? 0 : weights[p] / sum * weights[q] / (sum - weights[p]);
            assert_near(pairs[p][q], share, "pair", p * PROBES + q);
            for (int r = 0; r < PROBES; r++) {
                if (q == r || q == p || r == p) continue;
                third_share += weights[q] / sum * weights[r] / (sum - weights[q]) * weights[p] /
                               (sum - weights[q] - weights[r]);
            }
        }
        assert_near(third[p], third_share, "third", p);
    }
    leat_clients_destroy(clients);
}

/* Counts of 10^6 and 1, and weights that only differ by a factor, choose alike. */
static void scaled(void **state) {
    (void)state;
    static const double a[] = {1, 7, 1e6, 0, 3}, b[] = {0.125, 0.875, 125e3, 0, 0.375};
    leat_clients *x = clients_of(5, a), *y = clients_of(5, b);
    for (int64_t step = 0; step < 1000; step++) {
        int64_t p[4], q[4], scratch[4];
        assert_fine(leat_clients_batch(x, 2, step, &(leat_clients_drawn){4, p, scratch}, err));
        assert_fine(leat_clients_batch(y, 2, step, &(leat_clients_drawn){4, q, scratch}, err));
        assert_memory_equal(p, q, sizeof(p));
        assert_int_equal(p[0] == 2 || step > 0, 1);
    }
    leat_clients_destroy(x);
    leat_clients_destroy(y);
    /* the smallest weight that there is still counts */
    static const double tiny[] = {1, 1e-300};
    x = clients_of(2, tiny);
    assert_int_equal(leat_clients_count(x), 2);
    leat_clients_destroy(x);
}

static void rounds(void **state) {
    (void)state;
    static const double weights[PROBES] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 11};
    for (int way = 0; way < 2; way++) {
        leat_clients *clients = clients_of(PROBES, way ? weights : NULL);
        int64_t taken[PROBES] = {0}, held[PROBES] = {0}, differ = 0;
        for (int64_t round = 0; round < STEPS / 4; round++) {
            int64_t probe[4], again[4], row[3], scratch[4];
            assert_fine(leat_clients_round(clients, 6, round,
                                           &(leat_clients_drawn){4, probe, scratch}, err));
            assert_different(probe, 4, PROBES);
            assert_fine(leat_clients_round(clients, 6, round,
                                           &(leat_clients_drawn){4, again, scratch}, err));
            assert_memory_equal(probe, again, sizeof(probe));
            assert_fine(leat_clients_round(clients, 7, round,
                                           &(leat_clients_drawn){4, again, scratch}, err));
            differ += memcmp(probe, again, sizeof(probe)) != 0;
            for (int i = 0; i < 4; i++) taken[probe[i]]++;
            for (int64_t step = round * 4; step < round * 4 + 4; step++) {
                assert_fine(leat_clients_round_batch(6, step, &(leat_clients_drawn){4, probe, NULL},
                                                     &(leat_clients_drawn){3, row, NULL}, err));
                assert_different(row, 3, PROBES);
                for (int r = 0; r < 3; r++) {
                    assert_true(row[r] == probe[0] || row[r] == probe[1] || row[r] == probe[2] ||
                                row[r] == probe[3]);
                    held[row[r]]++;
                }
            }
        }
        assert_true(differ > STEPS / 5);
        for (int p = 0; p < PROBES; p++) {
            /* of the rows of a step 3/4 of the round's clients: as many as are taken */
            assert_true(fabs((double)held[p] / (double)taken[p] - 3) < 0.1);
            if (way == 0) assert_true(fabs((double)taken[p] / (STEPS / 4) - 0.4) < 0.02);
        }
        if (way == 1) assert_true(taken[9] > STEPS / 5);
        leat_clients_destroy(clients);
    }
}

static void refused(void **state) {
    (void)state;
    static const struct {
        double weights[3];
        const char *says;
    } cases[] = {
        {{1, -1, 2}, "probe 1 has weight -1"},
        {{1, 2, NAN}, "probe 2 has weight"},
        {{INFINITY, 2, 3}, "probe 0 has weight inf"},
        {{0, 0, 0}, "all 3 probes have weight 0"},
    };
    leat_clients *clients = NULL;
    leat_error err = {0};
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        assert_int_equal(leat_clients_create(&clients, 3, cases[c].weights, &err), LEAT_ERR_OPTION);
        assert_null(clients);
        if (strstr(err.message, cases[c].says) == NULL) fail_msg("%s", err.message);
    }
    assert_int_equal(leat_clients_create(&clients, 0, NULL, &err), LEAT_ERR_OPTION);
    int64_t probe[5], scratch[5];
    clients = clients_of(3, NULL);
    assert_int_equal(
        leat_clients_batch(clients, 1, 0, &(leat_clients_drawn){4, probe, scratch}, &err),
        LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "rows of a batch: 4, but only 3 probes"));
    assert_int_equal(
        leat_clients_round(clients, 1, 0, &(leat_clients_drawn){4, probe, scratch}, &err),
        LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "clients per round: 4, but only 3 probes"));
    assert_int_equal(
        leat_clients_round(clients, 1, 0, &(leat_clients_drawn){0, probe, scratch}, &err),
        LEAT_ERR_OPTION);
    assert_int_equal(leat_clients_round_batch(1, 0, &(leat_clients_drawn){3, probe, NULL},
                                              &(leat_clients_drawn){4, scratch, NULL}, &err),
                     LEAT_ERR_OPTION);
    leat_clients_destroy(clients);
    static const double one[] = {0, 5, 0};
    clients = clients_of(3, one);
    assert_int_equal(
        leat_clients_batch(clients, 1, 0, &(leat_clients_drawn){2, probe, scratch}, &err),
        LEAT_ERR_OPTION);
    assert_fine(leat_clients_batch(clients, 1, 0, &(leat_clients_drawn){1, probe, scratch}, err));
    assert_int_equal(probe[0], 1);
    leat_clients_destroy(clients);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform), cmocka_unit_test(weighted), cmocka_unit_test(scaled),
        cmocka_unit_test(rounds),  cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("clients", tests, NULL, NULL);
}
