/* A run of machines that there are not (plan.h), against what can be said without it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "crowd/plan.h"
#include "leat/crowd.h"

enum { MS = 1000, S = 1000000, MIB = 1 << 20 };

/* Machines that are alike, without bytes; calls and commits take no time. */
static leat_plan_setting alike(int64_t workers, int64_t units) {
    leat_plan_setting of = leat_plan_setting_default();
    of.workers = workers;
    of.units = units;
    of.unit_us = 8 * S;
    of.poll_us = 1 * MS;
    of.ask_us = 2 * MS;
    return of;
}

static leat_plan_sums run(const leat_plan_setting *of) {
    leat_plan_sums sums;
    assert_ok(leat_plan_run(of, &sums, err));
    assert_int_equal(sums.steps, of->steps - 1);
    assert_int_equal(sums.counted, sums.steps * of->units);
    assert_true(sums.useful_us <= sums.spent_us);
    assert_true(sums.capacity > 0);
    return sums;
}

static double step_of(const leat_plan_sums *sums) {
    return 1e-6 * (double)sums->us / (double)sums->steps;
}

/* A step takes so many seconds, but for the pauses between looks and questions. */
static void expect_step(const leat_plan_setting *of, double seconds) {
    const leat_plan_sums sums = run(of);
    const double most = seconds + 1e-6 * (double)(2 * of->poll_us + 2 * of->ask_us);
    if (step_of(&sums) < seconds - 1e-4 || step_of(&sums) > most)
        fail_msg("%lld units, %lld workers: %f s instead of %f s", (long long)of->units,
                 (long long)of->workers, step_of(&sums), seconds);
}

static void expect_shares(const leat_plan_setting *of, double useful, double speed) {
    const leat_plan_sums sums = run(of);
    const double u = sums.useful_us / sums.spent_us, s = (double)sums.counted / sums.capacity;
    if (u < useful - 0.002 || u > useful + 0.002 || s < speed - 0.002 || s > speed + 0.002)
        fail_msg("%lld units, %lld workers: %f and %f instead of %f and %f", (long long)of->units,
                 (long long)of->workers, u, s, useful, speed);
}

/* Machines that are alike compute in rounds, and nobody copies: nothing is out for longer than
 * usual before it is there. */
static void rounds(void **state) {
    static const struct {
        int64_t workers, units, rounds;
    } cases[] = {{1, 1, 1}, {1, 7, 7}, {2, 2, 1}, {2, 3, 2}, {3, 12, 4}, {4, 13, 4}, {5, 3, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int without = 0; without < 2; without++) {
            leat_plan_setting of = alike(cases[i].workers, cases[i].units);
            of.without_copies = without;
            expect_step(&of, 8.0 * (double)cases[i].rounds);
            expect_shares(&of, 1, (double)of.units / (double)(of.workers * cases[i].rounds));
            assert_int_equal(run(&of).copies, 0);
        }
}

/* A result is sent while the next unit is computed; the last one of a step is waited for. */
static void links(void **state) {
    (void)state;
    leat_plan_setting of = alike(1, 6);
    of.payload_bytes = 3 * MIB;
    of.up_bits = 8 * MIB; /* a part a second */
    expect_step(&of, 6 * 8 + 3);
    of.payload_bytes = 15 * MIB;
    expect_step(&of, 8 + 6 * 15);
    of.payload_bytes = 0;
    of.weights_bytes = 2 * MIB + MIB / 2;
    of.down_bits = 8 * MIB;
    expect_step(&of, 2.5 + 6 * 8);
    of = alike(5, 5);
    of.without_copies = true; /* of units that are sent */
    of.payload_bytes = MIB;
    of.server_bits = 8 * MIB; /* one after the other */
    expect_step(&of, 8 + 5);
    of.up_bits = 2 * MIB; /* one takes four seconds, during which three others pass */
    expect_step(&of, 8 + 5);
    of.server_bits = 80 * MIB;
    expect_step(&of, 8 + 4);
    of = alike(5, 5);
    of.without_copies = true;
    of.weights_bytes = MIB;
    of.server_bits = 8 * MIB;
    expect_step(&of, 5 + 8);
    leat_plan_sums sums = run(&of);
    assert_int_equal(sums.down_bytes, sums.steps * 5 * MIB);
    of = alike(2, 4);
    of.payload_bytes = 5000;
    sums = run(&of);
    assert_int_equal(sums.up_bytes, sums.counted * 5000);
}

/* Samples of the next unit are fetched while one is computed: the first ones of a step, and those
 * that take longer than a unit, are waited for. */
static void samples(void **state) {
    (void)state;
    leat_plan_setting of = alike(1, 6);
    of.down_bits = 8 * MIB; /* a part a second */
    of.sample_bytes = 3 * MIB;
    expect_step(&of, 3 + 6 * 8);
    of.sample_bytes = 10 * MIB;
    expect_step(&of, 6 * 10 + 8);
    const leat_plan_sums sums = run(&of);
    assert_int_equal(sums.down_bytes, sums.counted * 10 * MIB);
}

/* What the coordinator does one after the other: it reads once what comes in the order of units,
 * and twice what does not. */
static void coordinator(void **state) {
    (void)state;
    leat_plan_setting of = alike(4, 4);
    of.commit_us = 2 * S;
    expect_step(&of, 8 + 2);
    of.commit_us = 0;
    of.read_us = 3 * S;
    expect_step(&of, 8 + 4 * 3);
    assert_int_equal(run(&of).read_us, (of.steps - 1) * 4 * of.read_us);
    of = alike(1, 3);
    of.read_us = 15 * S; /* longer than a unit: the last one waits */
    expect_step(&of, 8 + 3 * 15);
    of = alike(2, 8); /* computing ends while a part is sent; waiting is not computing */
    of.payload_bytes = 3 * MIB;
    of.up_bits = 8 * MIB / 5;
    of.without_copies = true;
    const leat_plan_sums sums = run(&of);
    assert_true(sums.useful_us == sums.spent_us);
    of = alike(1, 1);
    of.call_us = 100 * MS; /* claim, weights; a claim that gives nothing comes before the result */
    of.ask_us = 1 * S;
    expect_step(&of, 8.3);
}

/* The speeds are drawn: about as much as asked for, by seed and number, and of no other machine. */
static void speeds(void **state) {
    leat_plan_setting of = alike(1000, 1);
    double sum = 0, squares = 0;
    (void)state;
    assert_int_equal(leat_plan_unit_us(&of, 3), 8 * S);
    of.spread = 0.3;
    int below = 0;
    for (int64_t i = 0; i < of.workers; i++) {
        const double us = (double)leat_plan_unit_us(&of, i) / (8 * S);
        sum += us;
        squares += us * us;
        below += us < 1;
    }
    const double mean = sum / 1000, deviation = squares / 1000 - mean * mean;
    assert_true(mean > 1.02 && mean < 1.07);            /* e^(0.3^2 / 2) is 1.046 */
    assert_true(deviation > 0.08 && deviation < 0.125); /* 0.103 */
    assert_true(below > 450 && below < 550);
    /* the same on every machine */
    assert_int_equal(leat_plan_unit_us(&of, 0), 10830443);
    of.seed = 1;
    assert_int_equal(leat_plan_unit_us(&of, 0), 4816013);
}

/* What is asked of the rule: nearly all of the machines' speed where there are ten
 * units for each. */
static void thirty(void **state) {
    (void)state;
    leat_plan_setting of = alike(30, 300);
    leat_plan_setting other;
    of.spread = 0.3;
    of.unit_us = 20 * S;
    of.payload_bytes = 12930000;
    of.weights_bytes = 12700000;
    of.up_bits = of.down_bits = 100000000;
    of.server_bits = 1000000000;
    of.read_us = 60 * MS;
    of.commit_us = 1 * S;
    of.poll_us = 500 * MS;
    of.ask_us = 5 * S;
    const leat_plan_sums built = run(&of);
    assert_true((double)built.counted > 0.85 * (double)built.finished);
    assert_true(built.useful_us > 0.85 * built.spent_us);
    assert_true((double)built.counted > 0.85 * built.capacity);
    assert_true(built.copies > 0);
    /* nothing decides it but the setting */
    const leat_plan_sums again = run(&of);
    assert_memory_equal(&built, &again, sizeof built);
    assert_int_equal(built.us, 1663840000);
    other = of;
    other.without_copies = true;
    const leat_plan_sums none = run(&other);
    assert_true(none.copies == 0 && none.useful_us == none.spent_us && none.abandoned == 0);
    assert_int_equal(none.finished, none.counted);
    other = of;
    other.seed = 1;
    assert_true(run(&other).us != built.us);
}

/* A machine whose part takes longer than silence may last is copied, and one whose part takes
 * longer than a lease lasts loses its unit. */
static void slow_links(void **state) {
    (void)state;
    leat_plan_setting of = alike(3, 5);
    of.payload_bytes = 4 * MIB;
    of.up_bits = 200000; /* a part takes 42 s */
    of.poll_us = 500 * MS;
    of.ask_us = 5 * S;
    of.steps = 3;
    const leat_plan_sums silent = run(&of);
    assert_true(silent.copies > 0);
    of.up_bits = 20000; /* 420 s, longer than a lease: they take each other's units away for ever */
    leat_plan_sums none;
    assert_fails(leat_plan_run(&of, &none, err), LEAT_ERR_OPTION, "more than 30 days");
}

static void refusals(void **state) {
    leat_plan_sums sums;
    leat_plan_setting of = alike(1, 1);
    (void)state;
    of.workers = 0;
    assert_fails(leat_plan_run(&of, &sums, err), LEAT_ERR_OPTION, "0 workers: 1 to 10000");
    of = alike(1, 100001);
    assert_fails(leat_plan_run(&of, &sums, err), LEAT_ERR_OPTION, "100001 units");
    of = alike(1, 1);
    of.up_bits = 10;
    assert_fails(leat_plan_run(&of, &sums, err), LEAT_ERR_OPTION, "10 bits a second up");
    int64_t *const rates[] = {&of.up_bits, &of.down_bits, &of.server_bits};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        of = alike(1, 1);
        *rates[i] = -5;
        assert_fails(leat_plan_run(&of, &sums, err), LEAT_ERR_OPTION, "-5 bits a second");
    }
    of = alike(1, 1);
    of.spread = 0.0 / 0.0;
    assert_fails(leat_plan_run(&of, &sums, err), LEAT_ERR_OPTION, "nan: 0 to 1");
    of = alike(1, LEAT_PLAN_UNITS_MAX);
    of.unit_us = LEAT_PLAN_UNIT_US_MAX;
    of.renew_us = INT64_C(86400) * S;
    assert_fails(leat_plan_run(&of, &sums, err), LEAT_ERR_OPTION, "more than 30 days");
    assert_int_equal(sums.counted, 0);
}

/* Rows: what was wanted, the same samples in more units, more units; the best of them. */
static void table(void **state) {
    leat_crowd_plan_options of = leat_crowd_plan_options_default();
    leat_crowd_plan_table table;
    (void)state;
    of.workers = 4;
    of.units = 3;
    of.unit_size = 64;
    of.multiple = 16;
    assert_ok(leat_crowd_plan(&of, &table, err));
    static const int64_t rows[][2] = {{3, 64}, {4, 48}, {6, 32},  {12, 16},
                                      {4, 64}, {8, 64}, {16, 64}, {40, 64}};
    assert_int_equal(table.count, 8);
    for (int i = 0; i < table.count; i++) {
        assert_int_equal(table.rows[i].units, rows[i][0]);
        assert_int_equal(table.rows[i].unit_size, rows[i][1]);
        assert_true(table.rows[i].useful_share > 0.5 && table.rows[i].useful_share <= 1);
        assert_true(table.rows[i].counted_share > 0.5 && table.rows[i].counted_share <= 1);
        assert_true(table.rows[i].speed_share <= table.rows[table.best].speed_share);
        assert_int_equal(table.rows[i].up_bytes, 0);
    }
    assert_true(table.is_enough && table.best == 7);
    of.spread = 0; /* equal machines: one round is enough */
    of.unit_seconds = 60;
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_int_equal(table.best, 1);
    of.link_bits = 1000000;
    of.payload_bytes = 10000000; /* 80 s for each result, whatever its size */
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_true(!table.is_enough && table.best == 7 && table.rows[7].speed_share > 0.6);
    assert_int_equal(table.rows[7].up_bytes, 40 * of.payload_bytes);
    of = leat_crowd_plan_options_default();
    of.workers = LEAT_CROWD_PLAN_WORKERS_MAX + 1;
    assert_fails(leat_crowd_plan(&of, &table, err), LEAT_ERR_OPTION, "at most 1000 machines");
    of.workers = 0;
    assert_fails(leat_crowd_plan(&of, &table, err), LEAT_ERR_OPTION, "0 workers");
    of.workers = 1;
    of.multiple = 7;
    assert_fails(leat_crowd_plan(&of, &table, err), LEAT_ERR_OPTION, "a multiple of 7");
    of.multiple = 1;
    of.unit_seconds = 4000;
    assert_fails(leat_crowd_plan(&of, &table, err), LEAT_ERR_OPTION, "takes 4000 s");
    of.unit_seconds = 1;
    of.weights_bytes = INT64_MAX;
    assert_fails(leat_crowd_plan(&of, &table, err), LEAT_ERR_OPTION, "512 MiB each");
    assert_int_equal(table.count, 0);
}

/* A step with more than a tenth of the data set is not the best one. */
static void data_sets(void **state) {
    leat_crowd_plan_options of = leat_crowd_plan_options_default();
    leat_crowd_plan_table table;
    (void)state;
    of.workers = 4;
    of.units = 3;
    of.unit_size = 64;
    of.multiple = 16;
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_true(table.best == 7 && isnan(table.rows[7].epoch_steps) && table.rows[7].fits);
    of.data_samples = 10 * 40 * 64;
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_true(table.is_enough && table.best == 7 && table.rows[7].fits);
    assert_true(table.rows[7].epoch_steps == 10);
    of.data_samples--;
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_true(!table.rows[7].fits && table.rows[6].fits);
    assert_true(table.best < 7);
    for (int i = 0; i < 7; i++)
        assert_true(table.rows[i].speed_share <= table.rows[table.best].speed_share);
    of.data_samples = 10 * 3 * 64 - 1; /* the first four have as many samples */
    of.spread = 0;
    of.unit_seconds = 60;
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_true(!table.rows[0].fits && !table.is_enough);
    assert_true(table.best == 1 && table.rows[1].speed_share > 0.9);
    of.data_samples = -1;
    assert_fails(leat_crowd_plan(&of, &table, err), LEAT_ERR_OPTION, "cannot have -1 samples");
}

static bool stop_after(void *user, const leat_progress *progress) {
    int *left = user;
    assert_int_equal(progress->total, 8);
    return (*left)-- > 0;
}

/* Each row is told of, and may be the last one; down is as up, unless it is given. */
static void progress(void **state) {
    leat_crowd_plan_options of = leat_crowd_plan_options_default();
    leat_crowd_plan_table table;
    (void)state;
    int left = 100;
    of.workers = 4;
    of.units = 3;
    of.unit_size = 64;
    of.multiple = 16;
    of.weights_bytes = 1000000;
    of.link_bits = 1000000; /* 8 s */
    of.progress = stop_after;
    of.progress_user = &left;
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_int_equal(left, 100 - 8);
    const double slow = table.rows[1].step_seconds;
    of.down_bits = 100000000;
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_true(table.rows[1].step_seconds < slow - 7);
    left = 2;
    assert_fails(leat_crowd_plan(&of, &table, err), LEAT_ERR_CANCELLED, "after 2 of 8 lines");
    assert_int_equal(table.count, 0);
    of = leat_crowd_plan_options_default();
    of.down_bits = -1;
    assert_fails(leat_crowd_plan(&of, &table, err), LEAT_ERR_OPTION, "-1 bits a second down");
}

/* A coordinator that has more to read than there is time for. */
static void reading(void **state) {
    leat_crowd_plan_options of = leat_crowd_plan_options_default();
    leat_crowd_plan_table table;
    (void)state;
    of.workers = 4;
    of.units = 4;
    of.unit_seconds = 0.01;
    of.link_bits = of.server_bits = 0;
    of.payload_bytes = 100000000; /* a second each */
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_true(table.rows[table.count - 1].read_share > 0.9);
    of.unit_seconds = 100;
    assert_ok(leat_crowd_plan(&of, &table, err));
    assert_true(table.rows[table.count - 1].read_share < 0.2);
}

/* Speeds of links as people write them. */
static void link_texts(void **state) {
    static const char *const wrong[] = {
        "",          "10",      "10M",     "10mbit",
        "Mbit",      "-1Mbit",  "0.5kbit", "1001Gbit",
        "1.2.3Mbit", "1e3Mbit", "10Mbit ", "99999999999999999999999999999999999Gbit"};
    static const struct {
        const char *text, *shown;
        int64_t bits;
    } right[] = {{"10Mbit", "10Mbit", 10000000},
                 {"0.25Mbit", "250kbit", 250000},
                 {"1000Mbit", "1Gbit", 1000000000},
                 {"1.5Gbit", "1.5Gbit", 1500000000},
                 {"1kbit", "1kbit", 1000},
                 {"1000Gbit", "1000Gbit", 1000000000000},
                 {"1234.567kbit", "1.234567Mbit", 1234567}};
    const leat_setting_table *of = leat_crowd_plan_options_table();
    leat_crowd_plan_options options = leat_crowd_plan_options_default();
    char text[LEAT_SETTING_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(leat_settings_set(of, &options, "uplink", wrong[i], err), LEAT_ERR_OPTION, "");
    assert_int_equal(options.link_bits, 100000000);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_ok(leat_settings_set(of, &options, "server-link", right[i].text, err));
        assert_int_equal(options.server_bits, right[i].bits);
        assert_string_equal(leat_settings_get(of, &options, "server-link", text), right[i].shown);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds),      cmocka_unit_test(links),    cmocka_unit_test(samples),
        cmocka_unit_test(coordinator), cmocka_unit_test(speeds),   cmocka_unit_test(thirty),
        cmocka_unit_test(slow_links),  cmocka_unit_test(refusals), cmocka_unit_test(table),
        cmocka_unit_test(data_sets),   cmocka_unit_test(progress), cmocka_unit_test(reading),
        cmocka_unit_test(link_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
