/*
 * Clocks that go back while batches are made and waited for: nothing waits longer for it than it
 * was told to, no time is counted as less than none, progress is reported, and batches are what
 * they are. What leat asks for the time is defined here: the true clock, or one that stands still,
 * and an offset.
 */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/ticker.h"
#include "graph_support.h"
#include "load/ring.h"

enum { BACK_HOURS_MAX = 9 };
static _Atomic int64_t stands_at_s;       /* 0: the clocks run */
static _Atomic int64_t back_s;            /* how far they were set back */
static _Atomic int64_t calls, back_every; /* 0: only when a test does it; else by an hour, and on */
static _Thread_local int back_at_call;    /* by an hour after so many calls of this thread */

int clock_gettime(clockid_t clock, struct timespec *now) {
    int64_t stands_s = atomic_load(&stands_at_s);
    if (stands_s > 0) *now = (struct timespec){.tv_sec = stands_s};
    else if (syscall(SYS_clock_gettime, clock, now) != 0) return -1;
    int64_t call = atomic_fetch_add(&calls, 1), every = atomic_load(&back_every);
    now->tv_sec -= atomic_load(&back_s);
    if (every > 0) now->tv_sec -= 3600 * (call / every % (BACK_HOURS_MAX + 1));
    if (back_at_call > 0 && --back_at_call == 0) atomic_store(&back_s, 3600);
    return 0;
}

static int64_t true_ms(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int true_clock(void **state) {
    (void)state;
    atomic_store(&stands_at_s, 0);
    atomic_store(&back_s, 0);
    atomic_store(&back_every, 0);
    back_at_call = 0;
    return 0;
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
    atomic_store(&stands_at_s, 100000);
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

static void lay_out(const void *plan, leat_slot *slot) { (void)plan, (void)slot; }

static leat_code maker_create(const void *plan, void **maker, leat_error *err) {
    (void)plan, (void)err;
    *maker = NULL;
    return LEAT_OK;
}

static void maker_destroy(void *maker) { (void)maker; }

static atomic_bool part_is_wanted;

/* Makes the part once it is wanted; or, where nobody ever wants it, after two minutes at least. */
static leat_code make_when_wanted(void *maker, leat_slot *slot, int64_t part, leat_error *err) {
    (void)maker, (void)slot, (void)part, (void)err;
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 120000 && !atomic_load(&part_is_wanted); i++) nanosleep(&pause, NULL);
    return LEAT_OK;
}

/* Waits for a part that is made only after the wait, with the clocks set back after each of the
 * times that the wait asks for: it ends, and not before its time. */
static void waits_end(void **state) {
    (void)state;
    enum { WAIT_MS = 50 };
    const leat_ring_work work = {.parts = 1,
                                 .slot_bytes = sizeof(leat_slot),
                                 .block_bytes = 4096,
                                 .lay_out = lay_out,
                                 .maker_create = maker_create,
                                 .maker_destroy = maker_destroy,
                                 .make = make_when_wanted};
    for (int at = 1; at <= 6; at++) {
        leat_ring *ring = NULL;
        leat_error err = {0};
        atomic_store(&back_s, 0);
        atomic_store(&part_is_wanted, false);
        must(leat_ring_create(&ring, &work, 1, 10, 1, &err), &err);
        int64_t begun_ms = true_ms();
        back_at_call = at;
        if (leat_ring_wait(ring, WAIT_MS)) fail_msg("call %d: did not end, until all was made", at);
        int64_t waited_ms = true_ms() - begun_ms;
        if (at <= 3) assert_int_equal(back_at_call, 0); /* it went back during the wait */
        assert_true(waited_ms >= WAIT_MS);
        printf("# set back after call %d: waited %d ms\n", at, (int)waited_ms);
        assert_true(leat_ring_stall_ns(ring) >= 0);
        atomic_store(&part_is_wanted, true);
        leat_ring_destroy(ring); /* when the part is made: then its time is counted */
    }
}

/* ---- loaders ------------------------------------------------------------------------------------
 */

/* What one thread has counted since `before`: a step back is nothing, one on is its hours, and
 * there is one on in so many calls. */
static int64_t most_ns(int64_t before) {
    const int64_t hour_ns = INT64_C(3600000000000);
    int64_t every = atomic_load(&back_every), count = atomic_load(&calls) - before;
    int64_t steps_on = every == 0 ? 0 : count / (every * (BACK_HOURS_MAX + 1)) + 1;
    return hour_ns * (1 + steps_on * BACK_HOURS_MAX); /* and the time that really passed */
}

static void expect_time(int64_t stall_ns, int64_t work_ns, int threads, int64_t before) {
    assert_in_range(stall_ns, 0, most_ns(before));
    assert_in_range(work_ns, 0, threads * most_ns(before));
}

static void graphs(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(graphs_stored);
    leat_graph_loader_options options = graphs_options();
    leat_graph_loader_counters counters;
    char hash[2][65];
    for (int back = 0; back < 2; back++) {
        atomic_store(&back_every, back * 3);
        int64_t before = atomic_load(&calls);
        leat_graph_loader *loader = graphs_create(cache, &options);
        graphs_hash(&loader, 1, hash[back], NULL);
        leat_graph_loader_get_counters(loader, &counters);
        expect_time(counters.stall_ns, counters.work_ns, options.threads, before);
        leat_graph_loader_destroy(loader);
    }
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
        int64_t before = atomic_load(&calls);
        leat_loader *loader = loader_create(dataset, &options);
        for (int i = 0; i < STEPS; i++) {
            const leat_batch *batch = loader_next(loader);
            run_expect(&whole, batch);
            leat_batch_release(batch);
            leat_loader_get_counters(loader, &counters);
            expect_time(counters.stall_ns, counters.work_ns, options.threads, before);
        }
        leat_loader_destroy(loader);
    }
    run_free(&whole);
    leat_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(reports, true_clock),
        cmocka_unit_test_teardown(waits_end, true_clock),
        cmocka_unit_test_teardown(graphs, true_clock),
        cmocka_unit_test_teardown(tokens, true_clock),
    };
    return cmocka_run_group_tests(tests, graphs_setup, loader_teardown);
}
