/*
 * Clocks that go back while batches are made and waited for: nothing waits longer for it than it
 * was told to, no time is counted as less than none, progress is reported, and batches are what
 * they are. What leat asks for the time is defined here: the true clock, and an offset.
 */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/ticker.h"
#include "graph_support.h"
#include "load/ring.h"

static _Atomic int64_t back_s;            /* how far the clocks were set back */
static _Atomic int64_t calls, back_every; /* 0: only when a test does it; else by an hour, and on */

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (syscall(SYS_clock_gettime, clock, now) != 0) return -1;
    int64_t call = atomic_fetch_add(&calls, 1), every = atomic_load(&back_every);
    now->tv_sec -= atomic_load(&back_s);
    if (every > 0) now->tv_sec -= 3600 * (call / every % 10);
    return 0;
}

static int64_t true_ms(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- progress -----------------------------------------------------------------------------------
 */

static bool count_report(void *user, const leat_progress *progress) {
    (void)progress;
    return ++*(int *)user < 3;
}

/* A report is due though the time of the next one is an hour away now; and so is a wish to stop. */
static void reports(void **state) {
    (void)state;
    leat_ticker ticker;
    leat_error err = {0};
    int count = 0;
    leat_ticker_create(&ticker, count_report, &count);
    leat_ticker_stage(&ticker, "testing", "things", 5);
    assert_int_equal(count, 1);
    assert_true(leat_ticker_add(&ticker, 1));
    assert_int_equal(count, 1); /* not yet */
    atomic_store(&back_s, 3600);
    assert_true(leat_ticker_add(&ticker, 1));
    assert_int_equal(count, 2);
    assert_true(leat_ticker_add(&ticker, 1));
    assert_int_equal(count, 2);
    atomic_store(&back_s, 7200);
    assert_false(leat_ticker_add(&ticker, 1));
    assert_int_equal(leat_ticker_check(&ticker, &err), LEAT_ERR_CANCELLED);
    leat_ticker_destroy(&ticker);
}

/* ---- waiting ------------------------------------------------------------------------------------
 */

enum { SLOW_MS = 3000 };

static void lay_out(const void *plan, leat_slot *slot) { (void)plan, (void)slot; }

static leat_code maker_create(const void *plan, void **maker, leat_error *err) {
    (void)plan, (void)err;
    *maker = NULL;
    return LEAT_OK;
}

static void maker_destroy(void *maker) { (void)maker; }

static leat_ring *_Atomic waited_for;

/* Sets the clocks back once the caller waits, and takes its time. */
static leat_code make_slowly(void *maker, leat_slot *slot, int64_t part, leat_error *err) {
    (void)maker, (void)slot, (void)part, (void)err;
    struct timespec pause = {.tv_nsec = 1000000};
    while (atomic_load(&waited_for) == NULL ||
           atomic_load(&atomic_load(&waited_for)->waiting_since_ns) == 0)
        nanosleep(&pause, NULL);
    atomic_store(&back_s, 3600);
    pause = (struct timespec){.tv_sec = SLOW_MS / 1000};
    nanosleep(&pause, NULL);
    return LEAT_OK;
}

static void waits_end(void **state) {
    (void)state;
    const leat_ring_work work = {.parts = 1,
                                 .slot_bytes = sizeof(leat_slot),
                                 .block_bytes = 4096,
                                 .lay_out = lay_out,
                                 .maker_create = maker_create,
                                 .maker_destroy = maker_destroy,
                                 .make = make_slowly};
    leat_ring *ring = NULL;
    leat_error err = {0};
    atomic_store(&back_s, 0);
    must(leat_ring_create(&ring, &work, 1, 10, 1, &err), &err);
    atomic_store(&waited_for, ring);
    int64_t begun_ms = true_ms();
    assert_false(leat_ring_wait(ring, 200));
    assert_in_range(true_ms() - begun_ms, 200, SLOW_MS - 200);
    assert_true(leat_ring_stall_ns(ring) >= 0);
    leat_ring_destroy(ring); /* when the part is made: then its time is counted */
    atomic_store(&back_s, 0);
}

/* ---- loaders ------------------------------------------------------------------------------------
 */

static void expect_time(int64_t stall_ns, int64_t work_ns) {
    const int64_t hour_ns = INT64_C(3600000000000);
    assert_true(stall_ns >= 0 && work_ns >= 0);
    /* one step back is nothing, one on is an hour: but not the time of every call */
    assert_true(stall_ns < 2000 * hour_ns && work_ns < 2000 * hour_ns);
}

static void graphs(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    leat_graph_loader_counters counters;
    char hash[2][65];
    for (int back = 0; back < 2; back++) {
        atomic_store(&back_every, back * 3);
        leat_graph_loader *loader = graphs_create(cache, &options);
        graphs_hash(&loader, 1, hash[back], NULL);
        leat_graph_loader_get_counters(loader, &counters);
        expect_time(counters.stall_ns, counters.work_ns);
        leat_graph_loader_destroy(loader);
    }
    atomic_store(&back_every, 0);
    assert_string_equal(hash[0], hash[1]);
    leat_can_cache_close(cache);
}

static void tokens(void **state) {
    (void)state;
    enum { STEPS = 20 };
    make_options made = loader_data_options(LEAT_COMPRESSION_ZSTD);
    leat_loader_options options = loader_options();
    leat_loader_counters counters;
    char dir[256];
    loader_make("clock", &made, dir);
    leat_dataset *dataset = loader_open(dir);
    run whole = run_make(dataset, &options, 0, STEPS);
    for (int64_t every = 1; every < 5; every++) {
        atomic_store(&back_every, every);
        leat_loader *loader = loader_create(dataset, &options);
        for (int i = 0; i < STEPS; i++) {
            const leat_batch *batch = loader_next(loader);
            run_expect(&whole, batch);
            leat_batch_release(batch);
            leat_loader_get_counters(loader, &counters);
            expect_time(counters.stall_ns, counters.work_ns);
        }
        leat_loader_destroy(loader);
    }
    atomic_store(&back_every, 0);
    run_free(&whole);
    leat_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports),
        cmocka_unit_test(waits_end),
        cmocka_unit_test(graphs),
        cmocka_unit_test(tokens),
    };
    return cmocka_run_group_tests(tests, graphs_setup, loader_teardown);
}
