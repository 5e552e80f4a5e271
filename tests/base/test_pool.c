/*
 * The thread pool: every part is made once; results are taken in order; the error is that of the
 * lowest part for any number of threads; calls on a busy pool are refused; signals are blocked in
 * its threads; a call allocates nothing and is cheap. Thread counts 1, 2, 3, 8 give the same.
 */
/* TSan: parts made by several threads at once, results taken in order. */
#include "base/pool.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 1
static atomic_long allocations;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(block, size);
}

/* And the system calls by which the calling thread wakes others, and sleeps. */
static _Thread_local long wakes, sleeps;
long syscall(long number, ...) {
    static long (*_Atomic real)(long, ...);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_futex && (int)a[1] == FUTEX_WAKE_PRIVATE) wakes++;
    if (number == SYS_futex && (int)a[1] == FUTEX_WAIT_PRIVATE) sleeps++;
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif

/* What must not happen in a thread, where an assertion of cmocka cannot be. */
static atomic_bool wrong;
#define expect(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) atomic_store(&wrong, true);                                              \
    } while (0)

enum { PARTS = 64 };
static const int thread_counts[] = {1, 2, 3, 8};
enum { COUNTS = sizeof thread_counts / sizeof *thread_counts };

/* Delays that differ from run to run of a part, but not by much. */
static void dawdle(int64_t part, int round) {
    uint32_t mixed = ((uint32_t)part * 2654435761u + (uint32_t)round * 40503u) >> 16;
    if (mixed % 3 == 0) usleep(mixed % 700);
}

typedef struct trial {
    leat_pool *pool;
    int threads, round;
    uint64_t fails, take_fails; /* a bit for each part */
    int64_t fetched;            /* parts that there are to fetch */
    atomic_int made[PARTS], inside[LEAT_THREADS_MAX], taking;
    int64_t result[LEAT_THREADS_MAX]; /* in each worker's scratch space */
    int64_t taken[PARTS], taken_count;
} trial;

static leat_code make(void *context, int worker, int64_t part, leat_error *err) {
    trial *self = context;
    expect(worker >= 0 && worker < self->threads);
    expect(atomic_fetch_add(&self->inside[worker], 1) == 0);
    atomic_fetch_add(&self->made[part], 1);
    dawdle(part, self->round);
    self->result[worker] = part * part;
    atomic_fetch_sub(&self->inside[worker], 1);
    if (self->fails >> part & 1) return leat_fail(err, LEAT_ERR_INPUT, "part %d", (int)part);
    return LEAT_OK;
}

static leat_code take(void *context, int worker, int64_t part, leat_error *err) {
    trial *self = context;
    expect(atomic_fetch_add(&self->taking, 1) == 0);
    expect(self->result[worker] == part * part);
    self->taken[self->taken_count++] = part;
    atomic_fetch_sub(&self->taking, 1);
    if (self->take_fails >> part & 1) return leat_fail(err, LEAT_ERR_IO, "taking %d", (int)part);
    return LEAT_OK;
}

static leat_code fetch(void *context, int worker, int64_t part, bool *more, leat_error *err) {
    trial *self = context;
    (void)err;
    expect(worker >= 0 && worker < self->threads);
    *more = part < self->fetched;
    return LEAT_OK;
}

static void check_taken(const trial *self, int64_t count) {
    assert_int_equal(self->taken_count, count);
    for (int64_t i = 0; i < count; i++) assert_int_equal(self->taken[i], i);
}

/* ---- parts --------------------------------------------------------------------------------------
 */

static void every_part_once(void **state) {
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        leat_pool *pool = NULL;
        assert_ok(leat_pool_create(&pool, thread_counts[t], err));
        assert_int_equal(leat_pool_threads(pool), thread_counts[t]);
        for (int64_t parts = 0; parts <= PARTS; parts += parts < 4 ? 1 : 30) {
            for (int fetching = 0; fetching < 2; fetching++) {
                trial self = {.threads = thread_counts[t], .round = (int)parts, .fetched = parts};
                leat_pool_job job = {.parts = fetching ? 0 : parts,
                                     .context = &self,
                                     .fetch = fetching ? fetch : NULL,
                                     .make = make,
                                     .take = take};
                assert_ok(leat_pool_run(pool, &job, err));
                for (int i = 0; i < PARTS; i++)
                    assert_int_equal(atomic_load(&self.made[i]), i < parts);
                check_taken(&self, parts);
            }
        }
        leat_pool_destroy(pool);
    }
    leat_pool_destroy(NULL);
}

/* A job may ask for fewer threads than there are. */
static void fewer_threads(void **state) {
    (void)state;
    leat_pool *pool = NULL;
    assert_ok(leat_pool_create(&pool, 8, err));
    for (int threads = 1; threads <= 8; threads++) {
        trial self = {.threads = threads};
        leat_pool_job job = {.parts = PARTS, .threads = threads, .context = &self, .make = make};
        assert_ok(leat_pool_run(pool, &job, err));
        assert_ok(leat_pool_once(&job, err));
        for (int i = 0; i < PARTS; i++) assert_int_equal(atomic_load(&self.made[i]), 2);
    }
    leat_pool_destroy(pool);
}

/* ---- failures -----------------------------------------------------------------------------------
 */

static int lowest(uint64_t set) { return set == 0 ? PARTS : __builtin_ctzll(set); }

static void lowest_part_fails(void **state) {
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        leat_pool *pool = NULL;
        assert_ok(leat_pool_create(&pool, thread_counts[t], err));
        for (int round = 0; round < 100; round++) {
            trial self = {.threads = thread_counts[t], .round = round, .fetched = PARTS};
            for (int k = 0; k < 64; k++) {
                uint64_t bits = leat_random(12, (uint64_t)round, (uint64_t)k);
                self.fails |= (uint64_t)(bits % 16 == 0) << k;
                self.take_fails |= (uint64_t)(round % 2 && bits % 16 == 1) << k;
            }
            leat_pool_job job = {.parts = PARTS,
                                 .context = &self,
                                 .fetch = round % 3 ? fetch : NULL,
                                 .make = make,
                                 .take = round % 4 ? take : NULL};
            leat_error err = {0};
            leat_code code = leat_pool_run(pool, &job, &err);
            int made = lowest(self.fails);
            int taken = job.take == NULL ? PARTS : lowest(self.take_fails);
            int first = made <= taken ? made : taken;
            char words[32] = "";
            snprintf(words, sizeof words, made <= taken ? "part %d" : "taking %d", first);
            assert_int_equal(code, first == PARTS  ? LEAT_OK
                                   : made <= taken ? LEAT_ERR_INPUT
                                                   : LEAT_ERR_IO);
            assert_int_equal(err.code, code);
            assert_string_equal(err.message, first == PARTS ? "" : words);
            for (int i = 0; i < first; i++) assert_int_equal(atomic_load(&self.made[i]), 1);
            if (job.take != NULL) check_taken(&self, taken < made ? taken + 1 : first);
        }
        leat_pool_destroy(pool);
    }
}

/* A part that takes long asks whether it is wanted, and ends once a lower one has failed. */
static leat_code wait_for_failure(void *context, int worker, int64_t part, leat_error *err) {
    trial *self = context;
    (void)worker;
    if (part == 1) {
        usleep(2000);
        expect(leat_pool_wants(self->pool, part));
        return leat_fail(err, LEAT_ERR_INPUT, "the first");
    }
    while (part > 1 && leat_pool_wants(self->pool, part)) usleep(100);
    return part > 1 ? leat_fail(err, LEAT_ERR_CANCELLED, "not wanted") : LEAT_OK;
}

static void unwanted_parts_end(void **state) {
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        trial self = {.threads = thread_counts[t]};
        leat_pool_job job = {.parts = PARTS, .context = &self, .make = wait_for_failure};
        assert_ok(leat_pool_create(&self.pool, thread_counts[t], err));
        assert_fails(leat_pool_run(self.pool, &job, err), LEAT_ERR_INPUT, "the first");
        leat_pool_destroy(self.pool);
    }
}

static leat_code fetch_two(void *context, int worker, int64_t part, bool *more, leat_error *err) {
    (void)context;
    (void)worker;
    (void)more;
    return part < 2 ? LEAT_OK : leat_fail(err, LEAT_ERR_INPUT, "fetching %d", (int)part);
}

static void fetching_fails(void **state) {
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        for (uint64_t fails = 0; fails < 4; fails++) {
            trial self = {.threads = thread_counts[t], .fails = fails};
            leat_pool_job job = {.threads = thread_counts[t],
                                 .context = &self,
                                 .fetch = fetch_two,
                                 .make = make,
                                 .take = take};
            static const char *const words[] = {"fetching 2", "part 0", "part 1", "part 0"};
            assert_fails(leat_pool_once(&job, err), LEAT_ERR_INPUT, words[fails]);
            check_taken(&self, fails == 0 ? 2 : lowest(fails));
        }
    }
}

/* ---- calls on a pool that is busy -------------------------------------------------------------
 */

static leat_code nothing(void *context, int worker, int64_t part, leat_error *err) {
    (void)context, (void)worker, (void)part, (void)err;
    return LEAT_OK;
}

static leat_code call_again(void *context, int worker, int64_t part, leat_error *err) {
    leat_pool *const *pools = context;
    (void)worker;
    leat_pool_job job = {.parts = 1, .make = nothing};
    return leat_pool_run(pools[part % 2], &job, err);
}

static void nested_calls(void **state) {
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        leat_pool *pools[2];
        for (int i = 0; i < 2; i++) assert_ok(leat_pool_create(&pools[i], thread_counts[t], err));
        leat_pool_job job = {.parts = 1, .context = pools, .make = call_again};
        assert_fails(leat_pool_run(pools[1], &job, err), LEAT_OK, ""); /* another pool is free */
        for (int again = 0; again < 3; again++) {
            assert_fails(leat_pool_run(pools[0], &job, err), LEAT_ERR_BUSY,
                         "must not call the pool that it runs on");
        }
        for (int i = 0; i < 2; i++) leat_pool_destroy(pools[i]);
    }
}

/* ---- threads
 * -------------------------------------------------------------------------------------- */

typedef struct masks {
    atomic_int workers_seen;
    atomic_bool arrived[3];
    sigset_t of[3];
} masks;

/* Three parts that wait for each other: each has a worker of its own. */
static leat_code look_at_mask(void *context, int worker, int64_t part, leat_error *err) {
    masks *self = context;
    (void)part, (void)err;
    pthread_sigmask(SIG_SETMASK, NULL, &self->of[worker]);
    expect(!atomic_exchange(&self->arrived[worker], true));
    atomic_fetch_add(&self->workers_seen, 1);
    while (atomic_load(&self->workers_seen) < 3) usleep(100);
    return LEAT_OK;
}

static void signals_blocked(void **state) {
    (void)state;
    masks self = {0};
    sigset_t before, after;
    leat_pool_job job = {.parts = 3, .threads = 3, .context = &self, .make = look_at_mask};
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_ok(leat_pool_once(&job, err));
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    static const int of_program[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, SIGWINCH};
    static const int of_thread[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (int worker = 0; worker < 3; worker++) {
        for (size_t i = 0; i < sizeof of_program / sizeof *of_program; i++)
            assert_int_equal(sigismember(&self.of[worker], of_program[i]), worker > 0);
        for (size_t i = 0; i < sizeof of_thread / sizeof *of_thread; i++)
            assert_false(sigismember(&self.of[worker], of_thread[i]));
    }
    for (int number = 1; number < SIGRTMIN; number++)
        assert_int_equal(sigismember(&before, number), sigismember(&after, number));
}

/* ---- short calls --------------------------------------------------------------------------------
 */

typedef struct tiles {
    int64_t values[8], call;
} tiles;

static leat_code add_tile(void *context, int worker, int64_t part, leat_error *err) {
    tiles *self = context;
    (void)worker, (void)err;
    self->values[part] += self->call; /* by no two workers at once */
    return LEAT_OK;
}

enum { CALLS = 100000 };

/* A call wakes others once, if there are any, and then sleeps only for those that have begun: how
 * long that takes is the machine's affair, how often it happens is not. */
static void many_short_calls(void **state) {
    (void)state;
    for (int t = 0; t < COUNTS; t++) {
        leat_pool *pool = NULL;
        tiles self = {0};
        leat_pool_job job = {.parts = 8, .context = &self, .make = add_tile};
        assert_ok(leat_pool_create(&pool, thread_counts[t], err));
#ifdef COUNTS_ALLOCATIONS
        long before = atomic_load(&allocations);
        assert_true(before > 0);
        wakes = sleeps = 0;
#endif
        int64_t begun = leat_clock_ns();
        leat_code code = LEAT_OK;
        for (self.call = 1; self.call <= CALLS && code == LEAT_OK; self.call++)
            code = leat_pool_run(pool, &job, NULL);
        double us = (double)(leat_clock_ns() - begun) / 1e3 / CALLS;
#ifdef COUNTS_ALLOCATIONS
        assert_int_equal(atomic_load(&allocations), before);
        assert_in_range(wakes, 0, thread_counts[t] == 1 ? 0 : CALLS);
        assert_in_range(sleeps, 0, (long)CALLS * (thread_counts[t] - 1));
        printf("# %d threads: woken %ld times, slept %ld times\n", thread_counts[t], wakes, sleeps);
#endif
        printf("# %d threads: %.2f us a call\n", thread_counts[t], us);
        assert_int_equal(code, LEAT_OK);
        for (int i = 0; i < 8; i++)
            assert_int_equal(self.values[i], (int64_t)CALLS * (CALLS + 1) / 2);
        leat_pool_destroy(pool);
    }
}

/* Pools that end while their threads have hardly begun. */
static void short_lives(void **state) {
    (void)state;
    for (int i = 0; i < 300; i++) {
        leat_pool *pool = NULL;
        trial self = {.threads = 8};
        leat_pool_job job = {.parts = i % 3, .context = &self, .make = make, .take = take};
        assert_ok(leat_pool_create(&pool, i % 8 + 1, err));
        if (i % 2) assert_ok(leat_pool_run(pool, &job, err));
        leat_pool_destroy(pool);
    }
}

static int check_threads(void **state) {
    (void)state;
    return atomic_load(&wrong) ? -1 : 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_once),   cmocka_unit_test(fewer_threads),
        cmocka_unit_test(lowest_part_fails), cmocka_unit_test(unwanted_parts_end),
        cmocka_unit_test(fetching_fails),    cmocka_unit_test(nested_calls),
        cmocka_unit_test(signals_blocked),   cmocka_unit_test(many_short_calls),
        cmocka_unit_test(short_lives),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, check_threads);
}
