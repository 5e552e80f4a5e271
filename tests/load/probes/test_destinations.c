/*
 * Counts of destinations against brute force: all of them, and the sample that is left of too many,
 * which no order and no division among threads may change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "load/probes/destinations.h"

enum { ADDRESSES = 3000, EVENTS = 40000 };

typedef struct event {
    int address;
    bool failed;
} event;

/* IPv4 and IPv6; a few have most of the measurements. */
static void address_of(int number, uint8_t key[16]) {
    leat_probe_address address = {.version = number % 3 == 0 ? 6 : 4};
    memcpy(address.bytes, &number, sizeof number);
    leat_destination_key(&address, 0, key);
}

static event *make_events(uint64_t seed) {
    event *events = calloc(EVENTS, sizeof *events);
    assert_non_null(events);
    for (int i = 0; i < EVENTS; i++) {
        double unit = leat_random_unit(leat_random(seed, 0, (uint64_t)i));
        events[i].address = (int)(unit * unit * unit * ADDRESSES);
        events[i].failed =
            leat_random(seed, 1, (uint64_t)i) % 100 < (uint64_t)events[i].address % 90;
    }
    return events;
}

static void count(leat_destinations *table, const event *events, int first, int step) {
    for (int i = first; i < EVENTS && i >= 0; i += step) {
        leat_destination one = {.measurements = 1, .failures = events[i].failed};
        address_of(events[i].address, one.address);
        assert_int_equal(leat_destinations_add(table, &one, NULL), LEAT_OK);
    }
}

static const leat_destination *find(const leat_destinations *table, int number) {
    uint8_t key[16];
    address_of(number, key);
    for (int64_t i = 0; i < table->slot_count; i++)
        if (table->slots[i].measurements > 0 && memcmp(table->slots[i].address, key, 16) == 0)
            return &table->slots[i];
    return NULL;
}

/* The level is the least at which at most `most` are left; those that are left have all counts. */
static void expect_counts(const leat_destinations *table, const event *events) {
    static int64_t measurements[ADDRESSES], failures[ADDRESSES];
    int64_t left[64] = {0}, expected = 0;
    memset(measurements, 0, sizeof measurements);
    memset(failures, 0, sizeof failures);
    for (int i = 0; i < EVENTS; i++) {
        measurements[events[i].address]++;
        failures[events[i].address] += events[i].failed;
    }
    for (int number = 0; number < ADDRESSES; number++) {
        uint8_t key[16];
        if (measurements[number] == 0) continue;
        address_of(number, key);
        uint64_t hash = leat_xxh3(key, sizeof key);
        for (int level = 0; level < 64 && (level == 0 || hash >> (64 - level) == 0); level++)
            left[level]++;
        const leat_destination *found = find(table, number);
        bool counted = table->level == 0 || hash >> (64 - table->level) == 0;
        assert_int_equal(found != NULL, counted);
        if (!counted) continue;
        expected++;
        assert_int_equal(found->measurements, measurements[number]);
        assert_int_equal(found->failures, failures[number]);
    }
    assert_int_equal(table->used, expected);
    assert_true(left[table->level] <= table->most);
    if (table->level > 0) assert_true(left[table->level - 1] > table->most);
}

static void test_counts(void **state) {
    (void)state;
    static const int64_t limits[] = {1, 7, 100, 1000, 1 << 18};
    for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        event *events = make_events(l);
        leat_destinations forward = {.most = limits[l]}, backward = {.most = limits[l]};
        leat_destinations merged = {.most = limits[l]};
        count(&forward, events, 0, 1);
        count(&backward, events, EVENTS - 1, -1);
        for (int part = 0; part < 3; part++) { /* as threads do */
            leat_destinations one = {.most = ADDRESSES};
            count(&one, events, part, 3);
            assert_int_equal(leat_destinations_merge(&merged, &one, NULL), LEAT_OK);
            leat_destinations_free(&one);
        }
        expect_counts(&forward, events);
        expect_counts(&backward, events);
        expect_counts(&merged, events);
        assert_int_equal(forward.level > 0, limits[l] <= 1000);
        leat_summary *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
        assert_true(a != NULL && b != NULL);
        leat_destinations_summarise(&forward, a);
        leat_destinations_summarise(&backward, b);
        assert_memory_equal(a, b, sizeof *a);
        leat_destinations_clear(&forward);
        count(&forward, events, 0, 1);
        expect_counts(&forward, events);
        free(a);
        free(b);
        free(events);
        leat_destinations_free(&forward);
        leat_destinations_free(&backward);
        leat_destinations_free(&merged);
    }
}

/* The order of the worst: share of failures, then measurements, then address. */
static void test_worst(void **state) {
    (void)state;
    static const struct {
        uint8_t last;
        int64_t measurements, failures;
    } rows[] = {{1, 20, 20}, {2, 19, 19}, {3, 40, 40}, {4, 40, 40}, {5, 1000, 10},
                {6, 30, 0},  {7, 40, 39}, {8, 20, 19}, {9, 200, 2}};
    static const char *const expected[] = {"192.0.2.3", "192.0.2.4", "192.0.2.1", "192.0.2.7",
                                           "192.0.2.8", "192.0.2.5", "192.0.2.9"};
    leat_destinations table = {.most = 100};
    leat_summary *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        leat_probe_address address = {.bytes = {192, 0, 2, rows[i].last}, .version = 4};
        leat_destination one = {.measurements = rows[i].measurements, .failures = rows[i].failures};
        leat_destination_key(&address, 4, one.address);
        assert_int_equal(leat_destinations_add(&table, &one, NULL), LEAT_OK);
    }
    leat_destinations_summarise(&table, s);
    assert_int_equal(s->destinations, 9);
    assert_int_equal(s->worst_count, 7);
    for (int i = 0; i < s->worst_count; i++) assert_string_equal(s->worst[i].dst, expected[i]);
    static const int64_t by_loss[LEAT_LOSSES] = {1, 2, 0, 0, 0, 2, 3};
    for (int i = 0; i < LEAT_LOSSES; i++) assert_int_equal(s->destinations_by_loss[i], by_loss[i]);
    free(s);
    leat_destinations_free(&table);
}

/* An empty address is that of its measurement's version. */
static void test_keys(void **state) {
    (void)state;
    static const struct {
        leat_probe_address address;
        int ip_version;
        const char *text;
    } rows[] = {{{.version = 0}, 4, "0.0.0.0"},
                {{.version = 0}, 6, "::"},
                {{.version = 4, .bytes = {198, 51, 100, 7}}, 4, "198.51.100.7"},
                {{.version = 6, .bytes = {0x20, 1, 0xd, 0xb8, [15] = 9}}, 6, "2001:db8::9"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        leat_destinations table = {.most = 10};
        leat_destination one = {.measurements = 20, .failures = 1};
        leat_summary *s = calloc(1, sizeof *s);
        assert_non_null(s);
        leat_destination_key(&rows[i].address, rows[i].ip_version, one.address);
        assert_int_equal(leat_destinations_add(&table, &one, NULL), LEAT_OK);
        leat_destinations_summarise(&table, s);
        assert_int_equal(s->worst_count, 1);
        assert_string_equal(s->worst[0].dst, rows[i].text);
        free(s);
        leat_destinations_free(&table);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_worst),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
