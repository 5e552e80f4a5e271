/*
 * The ingest with every allocation and every call into the file system failing in turn, once and
 * for good: the right code, nothing left behind but what --resume goes on with, and the same data
 * set as soon as nothing fails. Each program tries some settings, because all of them take longer
 * than the gate gives a program on a slow machine.
 */
#ifndef LEAT_TESTS_FAULT_INGEST_SWEEP_H
#define LEAT_TESTS_FAULT_INGEST_SWEEP_H

#include "ingest/core_support.h"
#include "ingest/ingest_support.h"
#include "opens.h"

#include <unistd.h>

#include "points.h"

#define POINTS_MAX 20000

static int threads_refused; /* runs that failed for want of a thread */

/* How a run finds its folder. */
typedef enum start { FRESH, EMPTY_FOLDER, REPLACES, RESUMES } start;

typedef struct setting {
    const char *name;
    start begins;
    int threads;
    bool own_temp;
    leat_split_rule split;
    int64_t max_row_bytes;
    leat_compression compression;
    leat_spill_rule spill;
    int step; /* every so many points; what a setting shares with `plain` is tried there */
} setting;

static leat_probes_ingest_options options_of(const setting *how) {
    leat_probes_ingest_options options = ingest_options();
    options.memory_bytes = ingest_memory(400);
    options.threads = how->threads;
    options.split = how->split;
    options.spill = how->spill;
    options.max_row_bytes = how->max_row_bytes;
    options.record.compression = how->compression;
    options.probes_per_shard = 6;
    options.temp_dir = how->own_temp ? core_made(core_path("temp")) : NULL;
    options.verify = how->begins == EMPTY_FOLDER || how->begins == RESUMES;
    return options;
}

static leat_code run(const char *out, const leat_probes_ingest_options *options, leat_error *err) {
    leat_probes_ingest_result result;
    memset(&result, 1, sizeof result);
    leat_code code = leat_probes_ingest(csv_paths("faults", 2), 2, out, options, &result, err);
    assert_int_equal(result.measurements, code == LEAT_OK ? 150 : 0);
    return code;
}

static bool stop_at_write(void *user, const leat_progress *progress) {
    (void)user;
    return strcmp(progress->stage, "writing") != 0;
}

/* The folder as the setting finds it; the digest of a data set that is there already. */
static dataset_digest make_ready(const char *out, const setting *how) {
    dataset_digest before = {{0}};
    leat_probes_ingest_options options = options_of(how);
    assert_ok(leat_path_remove_tree(out, err));
    if (how->begins == EMPTY_FOLDER) assert_ok(leat_path_make_dir(out, err));
    if (how->begins == RESUMES) {
        options.progress = stop_at_write;
        assert_int_equal(run(out, &options, NULL), LEAT_ERR_CANCELLED);
    }
    if (how->begins == REPLACES) {
        options.seed = 7;
        assert_ok(run(out, &options, err));
        before = dataset_hash(out);
    }
    return before;
}

static leat_code expected_code(void) {
    switch (atomic_load(&fault_kind)) {
    case LEAT_FAULT_ALLOC: return LEAT_ERR_MEMORY;
    case LEAT_FAULT_WRITE: return LEAT_ERR_NO_SPACE;
    default: return LEAT_ERR_IO;
    }
}

/* A fault that came once: the code is its own, and what is left is what the setting found, or a run
 * that says that it can be resumed. */
static void check_failed(const char *out, const setting *how, const dataset_digest *before,
                         leat_code code, const leat_error *err, long at) {
    leat_code want = expected_code();
    bool truncation = atomic_load(&fault_kind) == LEAT_FAULT_WRITE && code == LEAT_ERR_IO;
    if (code != want && !truncation) {
        fail_msg("%s, point %ld of kind %d: code %d: %s", how->name, at, atomic_load(&fault_kind),
                 code, err->message);
    }
    assert_int_equal(err->code, code);
    assert_true(err->message[0] != 0);
    if (atomic_load(&fault_kind) == LEAT_FAULT_THREAD) {
        assert_non_null(strstr(err->message, "fewer --threads"));
        threads_refused++;
    }
    if (how->begins == REPLACES) { /* leat opens one of the two, whatever failed */
        char found[65];
        leat_error why = {0};
        if (dataset_opens(out, found, &why) != LEAT_OK)
            fail_msg("%s, point %ld (%s): %s", how->name, at, err->message, why.message);
    }
    if (strstr(err->message, "--resume to move it") != NULL) {
        assert_true(has_work(out));
        return;
    }
    if (how->begins == RESUMES) assert_true(has_work(out));
    else if (path_exists(out) && has_work(out)) {
        fail_msg("%s, point %ld: work is left after: %s", how->name, at, err->message);
    }
    if (how->begins == FRESH) assert_false(path_exists(out));
    if (how->begins == EMPTY_FOLDER) assert_int_equal(dir_count(out), 0);
    if (how->begins == REPLACES) assert_same_dataset(out, *before);
    if (how->own_temp) assert_true(dir_count(core_path("temp")) <= 0);
}

/* Nothing fails any more: whatever is left is finished or replaced. */
static void check_mended(const char *out, const setting *how, const dataset_digest *want) {
    leat_probes_ingest_options options = options_of(how);
    leat_error err = {0};
    options.resume = path_exists(out) && has_work(out);
    options.replace = !options.resume;
    leat_code code = run(out, &options, &err);
    if (options.resume && how->begins == REPLACES && code == LEAT_ERR_EXISTS) {
        /* nothing but a lock was left beside the old data set */
        options.resume = false;
        options.replace = true;
        assert_false(has_work(out));
        code = run(out, &options, &err);
    }
    if (code != LEAT_OK) fail_msg("%s: %s", how->name, err.message);
    assert_same_dataset(out, *want);
    if (how->own_temp) assert_true(dir_count(core_path("temp")) <= 0);
}

static long sweep(const setting *how, bool stays, const dataset_digest *want) {
    const char *out = core_path("out");
    for (long at = 0; at < POINTS_MAX; at += how->step * (stays ? 5 : 1)) {
        dataset_digest before = make_ready(out, how);
        leat_probes_ingest_options options = options_of(how);
        leat_error err = {0};
        options.resume = how->begins == RESUMES;
        options.replace = how->begins == REPLACES;
        set_fault(at, stays);
        leat_code code = run(out, &options, &err);
        bool reached = clear_fault();
        if (code == LEAT_OK) {
            dataset_digest got = dataset_hash(out);
            assert_memory_equal(got.bytes, want->bytes, sizeof got.bytes);
            /* it may have been the removal of what is of no use any more that failed */
            if (!has_work(out)) assert_ok(leat_path_remove_tree(core_path("temp"), err));
        }
        if (!reached) {
            assert_int_equal(code, LEAT_OK);
            return at;
        }
        if (code != LEAT_OK && !stays) check_failed(out, how, &before, code, &err, at);
        /* most leave nothing to mend; each eleventh is tried all the same */
        bool left = path_exists(out) && has_work(out);
        if (left || stays || at % 11 == 0) check_mended(out, how, want);
    }
    fail_msg("%s: more than %d points", how->name, POINTS_MAX);
    return 0;
}

static void sweep_setting(const setting *how) {
    leat_probes_ingest_options options = options_of(how);
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_ok(run(core_path("out"), &options, err));
    dataset_digest want = dataset_hash(core_path("out"));
    assert_true(sweep(how, false, &want) > 200);
    assert_true(sweep(how, true, &want) > 200);
}

static int ingest_sweep_setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(64) << 20);
    core_shape shape = {.seed = 3, .rows = 150, .sources = 14, .times = 40, .targets = 8};
    core_row *rows = core_rows(&shape);
    csv_write("faults", rows, shape.rows, &(csv_cut){.files = 2, .bad_every = 30});
    free(rows);
    return 0;
}

#endif
