/*
 * The loader and its process: no lock and no allocation once it runs; memory as declared; fork;
 * options that are refused; files cut while they are open. Threads are counted on everywhere.
 */
/* TSan: rings created and destroyed, and forked. */
#include "loader_support.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "calls.h"
#include "load/probes/loader.h"

static char plain[256];

/* ---- locks and allocations ----------------------------------------------------------------------
 */

#if COUNTS
/* The calls of each kind in so many steps. */
static void run_steps(leat_loader *loader, int steps, const leat_batch **held, long *locked,
                      long *allocated) {
    long locks_before = atomic_load(&locks), before = atomic_load(&allocations);
    for (int i = 0; i < steps; i++) {
        const leat_batch *batch = NULL;
        if (leat_loader_next(loader, &batch, NULL) != LEAT_OK) fail_msg("step %d", i);
        leat_batch_release(*held);
        *held = batch;
    }
    *locked = atomic_load(&locks) - locks_before;
    *allocated = atomic_load(&allocations) - before;
}
#endif

/* There comes a time without any. That is after the first steps, which touch every page, unless the
 * machine keeps a thread waiting: its buffer grows with its first parts, to the texts of a context.
 * Each call doubles it, so of each thread there are no more than 8. */
enum { GROWTHS_MAX = 8 };
static void steady(void **state) {
    (void)state;
#if COUNTS
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    options.threads = 3;
    for (int order = 0; order < 2; order++) {
        options.sample.field_order = order == 0 ? LEAT_FIELDS_RANDOM : LEAT_FIELDS_CONTENT;
        leat_loader *loader = loader_create(dataset, &options);
        const leat_batch *held = NULL;
        long locked = 0, allocated = 0;
        run_steps(loader, 200, &held, &locked, &allocated);
        assert_true(atomic_load(&locks) > 0 && atomic_load(&allocations) > 0); /* counted at all */
        for (int round = 0; round <= options.threads * GROWTHS_MAX; round++) {
            run_steps(loader, 500, &held, &locked, &allocated);
            if (locked == 0 && allocated == 0) break;
            printf("# round %d: %ld locks, %ld allocations\n", round, locked, allocated);
        }
        assert_int_equal(locked, 0);
        assert_int_equal(allocated, 0);
        leat_batch_release(held);
        leat_loader_destroy(loader);
    }
    leat_dataset_close(dataset);
#else
    skip();
#endif
}

/* ---- memory -------------------------------------------------------------------------------------
 */

static int64_t anonymous_bytes(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "RssAnon:", 8) == 0) kib = strtoll(line + 8, NULL, 10);
    }
    if (file != NULL) fclose(file);
    return kib * 1024;
}

/* Large batches: what they take is what was declared, and does not grow with threads. */
static void memory(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    for (int threads = 1; threads <= 8; threads *= 8) {
        leat_loader_options options = loader_options();
        leat_loader_counters counters;
        options.sample.length = 4096;
        options.batch = 64;
        options.threads = threads;
        options.memory_bytes = 40 << 20;
        int64_t before = anonymous_bytes();
        leat_loader *loader = loader_create(dataset, &options);
        for (int i = 0; i < 30; i++) leat_batch_release(loader_next(loader));
        leat_loader_get_counters(loader, &counters);
        assert_true(counters.memory_bytes <= 40 << 20);
        assert_true(counters.prefetch >= 3 && counters.prefetch <= 6);
#if COUNTS
        int64_t slot = INT64_C(64) * 4096 * 24;
        int64_t grown = anonymous_bytes() - before;
        assert_true(grown >= counters.prefetch * slot); /* it is in use */
        assert_true(grown <= counters.memory_bytes + (2 << 20));
#endif
        (void)before;
        leat_loader_destroy(loader);
    }
    leat_dataset_close(dataset);
}

static void memory_refused(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    leat_loader *loader = NULL;
    leat_error err = {0};
    options.memory_bytes = 100000;
    assert_int_equal(leat_loader_create(&loader, dataset, &options, &err), LEAT_ERR_OPTION);
    assert_null(loader);
    long long need = 0;
    const char *at = strstr(err.message, "memory_bytes is 100000, but ");
    assert_non_null(at);
    need = strtoll(at + strlen("memory_bytes is 100000, but "), NULL, 10);
    assert_true(need > 100000);
    /* the number that it names is the smallest that will do */
    options.memory_bytes = need - 1;
    assert_int_equal(leat_loader_create(&loader, dataset, &options, NULL), LEAT_ERR_OPTION);
    options.memory_bytes = need;
    loader = loader_create(dataset, &options);
    leat_batch_release(loader_next(loader));
    leat_loader_destroy(loader);
    options.prefetch = 7; /* said, so not lowered */
    assert_int_equal(leat_loader_create(&loader, dataset, &options, &err), LEAT_ERR_OPTION);
    leat_dataset_close(dataset);
}

/* ---- options that are refused -------------------------------------------------------------------
 */

static void expect_refusal(const leat_dataset *dataset, const leat_loader_options *options,
                           const char *words) {
    leat_loader *loader = (leat_loader *)1;
    leat_error err = {0};
    assert_int_equal(leat_loader_create(&loader, dataset, options, &err), LEAT_ERR_OPTION);
    assert_null(loader);
    if (strstr(err.message, words) == NULL) fail_msg("\"%s\" lacks \"%s\"", err.message, words);
}

static void refused(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    const leat_loader_options good = loader_options();
    leat_loader_options bad;
#define REFUSE(change, words)                                                                      \
    do {                                                                                           \
        bad = good;                                                                                \
        bad.change;                                                                                \
        expect_refusal(dataset, &bad, words);                                                      \
    } while (0)
    REFUSE(sample.length = 63, "63");
    REFUSE(sample.seed = UINT64_C(1) << 63, "seed is 9223372036854775808");
    REFUSE(batch = 0, "batch: \"0\"");
    REFUSE(batch = (1 << 20) + 1, "batch: \"1048577\"");
    REFUSE(host_count = 5, "5 hosts cannot share a batch of 12 rows");
    REFUSE(host_count = 13, "hosts is 13");
    REFUSE(host_index = 1, "host is 1; it must be 0 to 0");
    REFUSE(host_index = -1, "host: \"-1\"");
    REFUSE(epochs = -1, "epochs: \"-1\"");
    REFUSE(threads = 0, "threads: \"0\"");
    REFUSE(threads = 257, "threads: \"257\"");
    REFUSE(prefetch = -2,
           "prefetch: \"-2\" is not accepted; it takes auto or a whole number from 0 to 1024");
    REFUSE(prefetch = 1025, "prefetch: \"1025\"");
    REFUSE(memory_bytes = 0, "memory: \"0\"");
    REFUSE(io = (leat_io)7, "io: \"7\" is not accepted; it takes mmap or pread");
    REFUSE(on_corrupt = (leat_on_corrupt)2, "on-corrupt: \"2\"");
    REFUSE(split = (leat_split)3, "split: \"3\" is not accepted; it takes train, test or all");
    REFUSE(client_weights = "uniform", "by client");
    REFUSE(clients_per_round = 20, "by client");
    bad = good;
    bad.by_client = true;
    bad.epochs = 1;
    expect_refusal(dataset, &bad, "epochs is 1");
    bad.epochs = 0;
    bad.clients_per_round = 11;
    expect_refusal(dataset, &bad, "clients_per_round is 11; it must be 12");
    bad.clients_per_round = 12;
    bad.steps_per_round = 0;
    expect_refusal(dataset, &bad, "steps-per-round: \"0\"");
    leat_dataset_close(dataset);
}

/* ---- fork ---------------------------------------------------------------------------------------
 */

/* In the child: the loader says so, at once; one of its own works. Exits 0 if all is right. */
static void in_child(leat_loader *loader, const leat_dataset *dataset, const leat_batch *held) {
    leat_loader_options options = loader_options();
    const leat_batch *batch = (const leat_batch *)1;
    leat_loader *own = NULL;
    leat_explanation *told = NULL;
    leat_error err = {0};
    const char *path = plain;
    alarm(120); /* no hang */
    if (leat_loader_next(loader, &batch, &err) != LEAT_ERR_OPTION || batch != NULL) _exit(1);
    if (strstr(err.message, "before fork") == NULL) _exit(2);
    if (leat_loader_seek(loader, 3, NULL) != LEAT_ERR_OPTION) _exit(3);
    if (leat_loader_explain(loader, 0, 0, &told, NULL) != LEAT_ERR_OPTION) _exit(4);
    if (!leat_loader_wait(loader, -1)) _exit(5);
    leat_batch_release(held);
#if COUNTS
    long joined = atomic_load(&joins);
    leat_loader_destroy(loader); /* its threads are not here, so nobody may wait for them */
    if (atomic_load(&joins) != joined) _exit(11);
#else
    leat_loader_destroy(loader);
#endif
    if (leat_loader_create(&own, dataset, &options, &err) != LEAT_ERR_OPTION) _exit(6);
    if (strstr(err.message, "before fork") == NULL) _exit(7);
    leat_dataset *mine = NULL;
    if (leat_dataset_open(&mine, &path, 1, NULL, NULL) != LEAT_OK) _exit(8);
    if (leat_loader_create(&own, mine, &options, NULL) != LEAT_OK) _exit(9);
    if (leat_loader_next(own, &batch, NULL) != LEAT_OK || batch->step != 0) _exit(10);
    leat_batch_release(batch);
    leat_loader_destroy(own);
#if COUNTS
    if (atomic_load(&joins) <= joined) _exit(12); /* they are counted at all */
#endif
    leat_dataset_close(mine);
    _exit(0);
}

static void forked(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* threads in the child of a program with threads: the sanitizer ends it */
#endif
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    run reference = run_make(dataset, &options, 0, 40);
    leat_loader *loader = loader_create(dataset, &options);
    for (int i = 0; i < 20; i++) { /* forks while the threads are at anything */
        const leat_batch *held = loader_next(loader);
#if defined(__SANITIZE_ADDRESS__)
        ring_rests(loader->steps.ring); /* locks of this sanitizer's heap do not survive a fork */
#endif
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) in_child(loader, dataset, held);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0) fail_msg("child %d ended with %x", i, (unsigned)status);
        run_expect(&reference, held);
        leat_batch_release(held);
    }
    leat_loader_destroy(loader);
    run_free(&reference);
    leat_dataset_close(dataset);
}

/* ---- files cut while they are open --------------------------------------------------------------
 */

static void cut_while_open(void **state) {
    (void)state;
    for (int io = 0; io < 2; io++) {
        char dir[256], path[300];
        make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
        loader_make(io == 0 ? "cut_mapped" : "cut_read", &data, dir);
        leat_dataset_options uncached = {0};
        leat_dataset *dataset = NULL;
        leat_loader_options options = loader_options();
        leat_error err = {0};
        const leat_batch *batch = NULL;
        leat_loader_counters counters;
        const char *folder = dir;
        must(leat_dataset_open(&dataset, &folder, 1, &uncached, &err), &err);
        options.io = (leat_io)io;
        leat_loader *loader = loader_create(dataset, &options);
        leat_batch_release(loader_next(loader));
        for (int shard = 0; shard < 3; shard++) {
            snprintf(path, sizeof path, "%s/train/train_shard_0000%d.arrayrecord", dir, shard);
            assert_int_equal(truncate(path, 0), 0);
        }
        int64_t begun_ns = leat_clock_ns(), steps = 0;
        leat_code code = LEAT_OK;
        leat_loader_get_counters(loader, &counters);
        while (steps <= counters.prefetch &&
               (code = leat_loader_next(loader, &batch, &err)) == LEAT_OK) {
            leat_batch_release(batch); /* was made before */
            steps++;
        }
        printf("# cut: %d steps, %d ms\n", (int)steps,
               (int)((leat_clock_ns() - begun_ns) / 1000000));
        assert_int_equal(code, LEAT_ERR_IO);
        assert_non_null(strstr(err.message, "train_shard_0000"));
        /* told again, and by other steps; the process lives */
        leat_error again = {0};
        assert_int_equal(leat_loader_next(loader, &batch, &again), code);
        assert_string_equal(again.message, err.message);
        must(leat_loader_seek(loader, leat_loader_step(loader) + 5, NULL), NULL);
        assert_int_not_equal(leat_loader_next(loader, &batch, &again), LEAT_OK);
        assert_null(batch);
        leat_loader_destroy(loader);
        leat_dataset_close(dataset);
    }
}

/* ---- waiting ------------------------------------------------------------------------------------
 */

/* Files are read for leat here: not before the caller of this ring waits for it. */
static leat_ring *_Atomic waited_for;

ssize_t pread(int fd, void *bytes, size_t size, off_t at) {
    leat_ring *ring = atomic_load(&waited_for);
    for (int i = 0; i < 1200000 && ring != NULL; i++) { /* two minutes, if it never does */
        if (atomic_load(&ring->waiting_since_ns) != 0) break;
        usleep(100);
    }
    return syscall(SYS_pread64, fd, bytes, size, at);
}

static void waits(void **state) {
    (void)state;
    leat_dataset *dataset = loader_open(plain);
    leat_loader_options options = loader_options();
    leat_loader *loader = loader_create(dataset, &options);
    assert_true(leat_loader_wait(loader, -1));
    assert_true(leat_loader_wait(loader, 0));
    leat_batch_release(loader_next(loader));
    leat_loader_destroy(loader);
    options.prefetch = 0; /* begun by being waited for */
    options.io = LEAT_IO_PREAD;
    leat_loader_counters counters;
    loader = loader_create(dataset, &options);
    atomic_store(&waited_for, loader->steps.ring);
    assert_true(leat_loader_wait(loader, 120000));
    atomic_store(&waited_for, NULL);
    leat_loader_get_counters(loader, &counters);
    assert_int_equal(counters.batches, 0);
    assert_true(counters.stall_ns > 0);
    leat_batch_release(loader_next(loader));
    leat_loader_destroy(loader);
    leat_loader_destroy(NULL);
    leat_dataset_close(dataset);
}

static int setup(void **state) {
    (void)state;
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    loader_make("plain", &data, plain);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forked),  cmocka_unit_test(steady),
        cmocka_unit_test(memory),  cmocka_unit_test(memory_refused),
        cmocka_unit_test(refused), cmocka_unit_test(cut_while_open),
        cmocka_unit_test(waits),
    };
    return cmocka_run_group_tests(tests, setup, loader_teardown);
}
