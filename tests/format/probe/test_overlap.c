/* What splits share: counted like a plain loop over all pairs, and in a sample that does not depend
 * on order and workers. */
#include <math.h>

#include "format/probe/overlap.h"
#include "probe_support.h"

enum { HOSTS = 300, MEASUREMENTS = 40000 };

typedef struct made {
    int source, target;
} made;

static leat_split split_of(int source) {
    return source % 7 == 3 ? LEAT_SPLIT_TEST : LEAT_SPLIT_TRAIN;
}

static uint64_t host_of(int number) {
    char text[32];
    return leat_overlap_host(text, snprintf(text, sizeof text, "192.0.2.%d", number));
}

/* Measurements in some order: `step` is prime to their number. */
static made *make_all(int step) {
    made *all = calloc(MEASUREMENTS, sizeof *all);
    for (int64_t i = 0; i < MEASUREMENTS; i++) {
        const int64_t k = i * step % MEASUREMENTS;
        all[i] = (made){(int)(k * k % 211), (int)(k * 31 % (k % 3 == 0 ? 40 : HOSTS))};
    }
    return all;
}

static leat_split_overlap count_all(const made *all, int workers, int64_t most) {
    leat_overlap overlap;
    leat_split_overlap found;
    leat_overlap_worker *each = calloc((size_t)workers, sizeof *each);
    leat_overlap_create(&overlap, most);
    for (int w = 0; w < workers; w++) each[w].all = &overlap;
    for (int i = 0; i < MEASUREMENTS; i++)
        assert_ok(leat_overlap_add(&each[i / 7 % workers], split_of(all[i].source),
                                   host_of(all[i].source), host_of(all[i].target), err));
    for (int w = 0; w < workers; w++) assert_ok(leat_overlap_flush(&each[w], err));
    leat_overlap_count(&overlap, &found);
    leat_overlap_destroy(&overlap);
    free(each);
    return found;
}

static leat_split_overlap count_plainly(const made *all) {
    static bool pair[HOSTS][HOSTS], host[HOSTS][4];
    leat_split_overlap want = {.known = true};
    for (int i = 0; i < MEASUREMENTS; i++) {
        const int a = all[i].source, b = all[i].target, test = split_of(a) == LEAT_SPLIT_TEST;
        host[a][test] = host[b][2 + test] = true;
        if (!test) pair[a][b] = pair[b][a] = true;
    }
    for (int i = 0; i < MEASUREMENTS; i++) {
        if (split_of(all[i].source) != LEAT_SPLIT_TEST) continue;
        want.measurements++;
        want.mirrored += pair[all[i].source][all[i].target];
    }
    for (int i = 0; i < HOSTS; i++) {
        want.sources += host[i][1];
        want.sources_shared += host[i][1] && (host[i][0] || host[i][2]);
        want.destinations += host[i][3];
        want.destinations_shared += host[i][3] && host[i][2];
    }
    return want;
}

static void assert_same(const leat_split_overlap *a, const leat_split_overlap *b) {
    assert_int_equal(a->measurements, b->measurements);
    assert_int_equal(a->mirrored, b->mirrored);
    assert_int_equal(a->pairs_halved, b->pairs_halved);
    assert_int_equal(a->sources, b->sources);
    assert_int_equal(a->sources_shared, b->sources_shared);
    assert_int_equal(a->destinations, b->destinations);
    assert_int_equal(a->destinations_shared, b->destinations_shared);
    assert_int_equal(a->hosts_halved, b->hosts_halved);
}

static void test_exact(void **state) {
    (void)state;
    made *all = make_all(1);
    const leat_split_overlap want = count_plainly(all);
    assert_true(want.mirrored > 0 && want.mirrored < want.measurements);
    assert_true(want.sources_shared > 0 && want.destinations_shared > 0);
    for (int workers = 1; workers <= 3; workers++) {
        const leat_split_overlap found = count_all(all, workers, 1 << 16);
        assert_same(&found, &want);
    }
    free(all);
}

static void test_sample(void **state) {
    (void)state;
    made *all = make_all(1), *other = make_all(17);
    const leat_split_overlap exact = count_plainly(all);
    for (int64_t most = 64; most <= 4096; most *= 4) {
        const leat_split_overlap one = count_all(all, 1, most), two = count_all(other, 3, most);
        assert_same(&one, &two);
        assert_true(one.pairs_halved > 0);
        assert_int_equal(one.hosts_halved > 0, most < 200);
        if (most < 4096) continue;
        const double scale = ldexp(1, one.pairs_halved);
        assert_true(fabs((double)one.measurements * scale / (double)exact.measurements - 1) < 0.3);
        assert_true(fabs((double)one.mirrored * scale / (double)exact.mirrored - 1) < 0.3);
    }
    free(all);
    free(other);
}

static void test_documents(void **state) {
    (void)state;
    static const char *const bad[] = {
        "{}",
        "{\"overlap\": null}",
        "{\"overlap\": []}",
        "{\"overlap\": {\"measurements\": 1}}",
        "{\"overlap\": {\"measurements\": 1, \"mirrored\": -1, \"sources\": 1, \"sources_shared\": "
        "1, \"destinations\": 1, \"destinations_shared\": 1, \"pairs_sample\": 1, "
        "\"hosts_sample\": 1}}",
        "{\"overlap\": {\"measurements\": 1, \"mirrored\": 1, \"sources\": 1, \"sources_shared\": "
        "1, \"destinations\": 1, \"destinations_shared\": 1, \"pairs_sample\": 0.3, "
        "\"hosts_sample\": 1}}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        leat_split_overlap found = {.known = true, .mirrored = 7};
        json_t *root = json_loads(bad[i], 0, NULL);
        leat_overlap_get(root, &found);
        assert_false(found.known);
        assert_int_equal(found.mirrored, 0);
        json_decref(root);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_sample),
                                       cmocka_unit_test(test_documents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
