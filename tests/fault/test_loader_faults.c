/*
 * Fault sweep over the loader: the n-th allocation, file call or start of a thread fails, once or
 * from then on, until the work succeeds untouched. Each time it fails with an error that says why,
 * or gives the right batches; and leaves no memory behind (under a sanitizer) and no half file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/address.h"
#include "leat/load.h"
#include "load/make_dataset.h"
#include "sweep.h"

static char top[] = "/tmp/leat_loader_faults_XXXXXX";
static char folder[3][64]; /* mapped, compressed, of others */
static char state_path[128], csv_path[128];

static int64_t few(int64_t row) { return 1 + row * 9; }

enum { STEPS = 3, BATCH = 4, LENGTH = 128 };
static int32_t expected[9][STEPS][BATCH][LENGTH]; /* inputs, by task */

typedef struct task {
    const char *name;
    int folder;
    leat_io io;
    int threads;
    bool by_client, windowed;
} task;
static const task tasks[] = {
    {"mapped", .threads = 1},
    {"mapped, two threads", .threads = 2},
    {"pages read", .io = LEAT_IO_PREAD, .threads = 2},
    {"compressed", 1, .threads = 2},
    {"of others", 2, .threads = 2},
    {"by client", 2, .threads = 1, .by_client = true},
    {"windows mapped", .threads = 2, .windowed = true},
    {"windows read", .io = LEAT_IO_PREAD, .threads = 2, .windowed = true},
    {"windows decoded", 1, .threads = 2, .windowed = true},
};
_Static_assert(sizeof tasks / sizeof *tasks == sizeof expected / sizeof *expected, "one for each");

static leat_code take(leat_loader *loader, const task *work, bool learn, leat_error *err) {
    for (int s = 0; s < STEPS; s++) {
        const leat_batch *batch = (const leat_batch *)1;
        leat_code code = leat_loader_next(loader, &batch, err);
        if (code != LEAT_OK) {
            assert_null(batch);
            return code;
        }
        assert_int_equal(batch->step, s);
        if (learn) memcpy(expected[work - tasks][s], batch->inputs, sizeof expected[0][0]);
        assert_memory_equal(batch->inputs, expected[work - tasks][s], sizeof expected[0][0]);
        leat_batch_release(batch);
    }
    return LEAT_OK;
}

/* What stands beside batches: states as files, explanations, lists. */
static leat_code look(leat_loader *loader, leat_error *err) {
    leat_explanation *told = NULL;
    leat_quarantined *items = NULL;
    leat_batch_hash *hash = NULL;
    int64_t count = 0;
    LEAT_TRY(leat_loader_save(loader, state_path, false, err));
    LEAT_TRY(leat_loader_seek(loader, 9, err));
    LEAT_TRY(leat_loader_load(loader, state_path, err));
    assert_int_equal(leat_loader_step(loader), STEPS);
    LEAT_TRY(leat_loader_explain(loader, 1, 2, &told, err));
    assert_int_equal(told->row, 2);
    leat_explanation_destroy(told);
    LEAT_TRY(leat_batch_hash_create(&hash, err));
    leat_batch_hash_destroy(hash);
    LEAT_TRY(leat_loader_quarantine(loader, &items, &count, err));
    leat_quarantine_free(items);
    return LEAT_OK;
}

static leat_code do_task(const task *work, bool learn, leat_error *err) {
    const char *path = folder[work->folder];
    leat_dataset *dataset = NULL;
    leat_dataset_options opened = leat_dataset_options_default();
    leat_loader *loader = (leat_loader *)1;
    leat_loader_options options = leat_loader_options_default();
    options.sample.length = LENGTH;
    options.batch = BATCH;
    options.threads = work->threads;
    options.prefetch = 1;
    options.io = work->io;
    options.by_client = work->by_client;
    if (work->windowed) options.window_bytes = 1 << 20;
    if (work->by_client) {
        options.client_weights = csv_path;
        opened.addresses = csv_path;
        opened.cache_bytes = 0; /* every record is read anew */
    }
    leat_code code = leat_dataset_open(&dataset, &path, 1, &opened, err);
    if (code != LEAT_OK) return code;
    code = leat_loader_create(&loader, dataset, &options, err);
    if (code != LEAT_OK) assert_null(loader);
    if (code == LEAT_OK) code = take(loader, work, learn, err);
    if (code == LEAT_OK) code = look(loader, err);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
    return code;
}

static leat_code do_again(const void *of, leat_error *err) { return do_task(of, false, err); }

static void look_after(leat_code code) {
    (void)code;
    expect_no_drafts(top);
}

static void all(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        leat_error err = {0};
        if (do_task(&tasks[i], true, &err) != LEAT_OK)
            fail_msg("%s: %s", tasks[i].name, err.message);
        sweep_faults(&(fault_sweep){tasks[i].name, do_again, &tasks[i], look_after, 10});
    }
}

static int setup(void **state) {
    (void)state;
    leat_error err = {0};
    char src[LEAT_PROBE_SRC_BYTES];
    if (mkdtemp(top) == NULL) return 1;
    snprintf(state_path, sizeof state_path, "%s/state.json", top);
    snprintf(csv_path, sizeof csv_path, "%s/probes.csv", top);
    for (int i = 0; i < 3; i++) {
        make_options options = make_options_default();
        options.count_of = few;
        options.record.compression = i == 1 ? LEAT_COMPRESSION_ZSTD : LEAT_COMPRESSION_NONE;
        snprintf(folder[i], sizeof folder[i], "%s/d%d", top, i);
        if (make_dataset(folder[i], &options, &err) != LEAT_OK) return 1;
    }
    if (make_files_of_others(folder[2], &err) != LEAT_OK) return 1;
    FILE *csv = fopen(csv_path, "w");
    if (csv == NULL) return 1;
    fprintf(csv, "src_id,weight,src_addr\n");
    for (int64_t row = 0; row < 12; row++) {
        make_source(row, src);
        fprintf(csv, "%lld,%lld,%s\n", (long long)leat_address_src_id(src, (int64_t)strlen(src)),
                (long long)row + 1, src);
    }
    return fclose(csv);
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
