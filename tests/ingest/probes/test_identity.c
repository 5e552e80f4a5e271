/* Numbers and addresses of RIPE Atlas probes: counted as a table of all pairs counts them, with any
 * number of passes and logs. */
#include "core_support.h"

#include "ingest/probes/identity.h"

enum { NUMBERS = 3000, ADDRESSES = 4000, PAIRS = 20000, LOGS = 3 };

/* Half of the addresses are private; some are IPv6. */
static void address_of(int k, char text[46]) {
    static const char *const forms[] = {"10.1.%d.%d",      "192.0.%d.%d",  "fd00::%d:%d",
                                        "2001:db8::%d:%d", "172.31.%d.%d", "172.32.%d.%d",
                                        "100.127.%d.%d",   "100.128.%d.%d"};
    snprintf(text, 46, forms[k % 8], k / 200, k % 200);
}

static bool is_private(int k) { return k % 2 == 0; }

typedef struct table {
    uint8_t number[NUMBERS], address[ADDRESSES]; /* 1: in train, 2: in test, 4: own view */
} table;

static void add_pairs(leat_census_log *logs, table *all, bool ordered) {
    core_rng rng = {11, 0};
    for (int i = 0; i < PAIRS; i++) {
        int number = (int)core_below(&rng, NUMBERS - 7), k = (int)core_below(&rng, ADDRESSES - 9);
        bool own = core_below(&rng, 3) == 0;
        char text[46];
        address_of(k, text);
        /* the ordered split: the texts from "2" on */
        bool test = ordered ? strcmp(text, "2") >= 0 : k % 5 == 0;
        leat_text address = {text, (int32_t)strlen(text)};
        assert_ok(leat_identity_add(
            &logs[i % LOGS], (uint32_t)(number + 1) | (own ? LEAT_PROBE_OWN_VIEW : 0),
            test && !ordered ? LEAT_SPLIT_TEST : LEAT_SPLIT_TRAIN, &address, err));
        all->number[number] |= test ? 2 : 1;
        all->address[k] |= (uint8_t)((test ? 2 : 1) | (own ? 4 : 0));
    }
}

static void check_counts(bool ordered, int64_t memory_bytes) {
    leat_census_log logs[LOGS + 1] = {{0}}; /* the last is never opened */
    leat_census_bound bound = {1, "2"};
    leat_identities want = {0}, found;
    table *all = calloc(1, sizeof *all);
    for (int i = 0; i < LOGS; i++) assert_ok(leat_census_log_open(&logs[i], core_dir(), err));
    add_pairs(logs, all, ordered);
    for (int i = 0; i < LOGS; i++) assert_ok(leat_census_log_flush(&logs[i], err));
    for (int i = 0; i < NUMBERS; i++) {
        want.probes += all->number[i] != 0;
        want.test += (all->number[i] & 2) != 0;
        want.shared += all->number[i] == 3;
    }
    for (int k = 0; k < ADDRESSES; k++) {
        want.addresses += all->address[k] != 0;
        want.merged += is_private(k) && (all->address[k] & 4) != 0;
    }
    assert_ok(leat_identity_count(&(leat_census_logs){logs, LOGS + 1, memory_bytes}, 0,
                                  ordered ? &bound : NULL, NULL, &found, err));
    assert_true(want.shared > 0 && want.merged > 0 && want.test > want.shared);
    assert_memory_equal(&found, &want, sizeof want);
    for (int i = 0; i < LOGS; i++) leat_census_log_close(&logs[i]);
    free(all);
}

static void test_counts(void **state) {
    (void)state;
    for (int ordered = 0; ordered < 2; ordered++) {
        check_counts(ordered != 0, 1);
        check_counts(ordered != 0, INT64_C(1) << 30);
    }
}

static void test_none(void **state) {
    (void)state;
    leat_census_log log = {0};
    leat_identities found = {.probes = 7};
    assert_ok(
        leat_identity_count(&(leat_census_logs){&log, 1, 1 << 20}, 0, NULL, NULL, &found, err));
    assert_int_equal(found.probes, 0);
}

/* ---- more pairs than are kept ---- */

/* Pair i of numbers that have `each` addresses, one after the other. */
static void enter_pair(leat_identity_set *set, leat_census_log *log, int i, int each) {
    char text[46];
    bool fresh = false;
    address_of(i, text);
    leat_text address = {text, (int32_t)strlen(text)};
    uint32_t number = (uint32_t)(i / each + 1);
    assert_ok(leat_identity_enter(set, number, &address, &fresh, err));
    if (fresh) assert_ok(leat_identity_add(log, number, LEAT_SPLIT_TRAIN, &address, err));
}

/* The counts of so many pairs, each of which comes twice, in steps of `step`. */
static leat_identities sampled(int pairs, int each, int most, int step, int *level) {
    leat_identity_set set = {.lock = PTHREAD_MUTEX_INITIALIZER, .most = most};
    leat_census_log log = {0};
    leat_identities found;
    assert_ok(leat_census_log_open(&log, core_dir(), err));
    for (int64_t i = 0; i < 2 * (int64_t)pairs; i++)
        enter_pair(&set, &log, (int)(i * step % pairs), each);
    assert_true(set.used <= most);
    assert_true(log.entries <= (set.level + 1) * most);
    *level = set.level;
    leat_identity_set_free(&set);
    assert_ok(leat_census_log_flush(&log, err));
    assert_ok(leat_identity_count(&(leat_census_logs){&log, 1, 1 << 20}, *level, NULL, NULL, &found,
                                  err));
    leat_census_log_close(&log);
    return found;
}

/* All pairs, up to the maximum; of more, a sample of the numbers, with all of their pairs, the same
 * in any order. A number that has too many is in none. */
static void test_sample(void **state) {
    (void)state;
    enum { EACH = 4, MOST = 2000 };
    for (int pairs = MOST; pairs <= 8 * MOST; pairs += MOST - EACH) {
        int level = 0, other = 0;
        leat_identities found = sampled(pairs, EACH, MOST, 1, &level);
        assert_int_equal(level > 0, pairs > MOST);
        assert_int_equal(found.addresses, EACH * found.probes);
        assert_true(found.probes * EACH <= MOST && found.probes * EACH > MOST / 3);
        if (level == 0) assert_int_equal(found.probes * EACH, pairs);
        leat_identities again = sampled(pairs, EACH, MOST, pairs - 1, &other);
        assert_int_equal(level, other);
        assert_memory_equal(&found, &again, sizeof found);
    }
    int level = 0;
    assert_int_equal(sampled(MOST + 1, MOST + 1, MOST, 1, &level).probes, 0);
    assert_true(level > 0);
}

static void test_most(void **state) {
    (void)state;
    assert_int_equal(leat_identity_most(1), 1024);
    assert_int_equal(leat_identity_most(INT64_C(64) << 20), 1 << 17);
    assert_int_equal(leat_identity_most(INT64_C(1) << 40), LEAT_IDENTITY_PAIRS_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_none),
                                       cmocka_unit_test(test_sample), cmocka_unit_test(test_most)};
    return cmocka_run_group_tests(tests, NULL, core_teardown);
}
