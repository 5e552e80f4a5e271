/*
 * More than the memory holds: one probe is most of the data and the limit the smallest that is
 * accepted, so that its measurements are sorted outside and its row is streamed. The bytes must be
 * those of a run with plenty of it.
 */
/* No TSan: the threads of test_ingest, with more data. */
#include "ingest_support.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

/* The temporary files without a name that were made: base opens each and removes its name with this
 * function, which this program defines in place of the C library's. */
static _Atomic int scratch_files;

int unlink(const char *path) {
    if (strstr(path, "/.scratch.leat-") != NULL) scratch_files++;
    return unlinkat(AT_FDCWD, path, 0);
}

typedef struct watch {
    int64_t done, total; /* of the last report of writing */
} watch;

static bool look(void *user, const leat_progress *progress) {
    watch *self = user;
    if (strcmp(progress->stage, "writing") != 0) return true;
    self->done = progress->done;
    self->total = progress->total;
    return true;
}

/* The least limit that is accepted, found by doing what the refusals say. */
static leat_code ingest_least(const char *out, const char *name,
                              leat_probes_ingest_options *options,
                              leat_probes_ingest_result *result, leat_error *err) {
    options->memory_bytes = INGEST_MEMORY_MIN;
    for (int i = 0; i < 12; i++) {
        leat_error refusal = {0};
        leat_code code = ingest_to(out, name, 2, options, result, &refusal);
        if (code != LEAT_ERR_LIMIT) return leat_error_copy(err, &refusal), code;
        assert_false(path_exists(out));
        const char *at = strstr(refusal.message, "at least ");
        if (at == NULL) fail_msg("no limit named: %s", refusal.message);
        int64_t named = (int64_t)strtoll(at + 9, NULL, 10) << 20;
        assert_true(named > options->memory_bytes);
        options->memory_bytes = named;
    }
    fail_msg("no limit is accepted");
    return LEAT_ERR_LIMIT;
}

static void skewed(void **state) {
    (void)state;
    static const struct {
        int64_t rows;
        int threads;
        core_order order;
        int heavy;
        int64_t times, max_row_bytes;
        bool dictionary;
        leat_compression compression;
        leat_split_rule split;
    } cases[] = {
        {300000, 1, CORE_ASCENDING, 97, 400000, 0, false, LEAT_COMPRESSION_NONE, LEAT_SPLIT_HASH},
        {300000, 3, CORE_RANDOM, 90, 400000, 0, true, LEAT_COMPRESSION_NONE, LEAT_SPLIT_ORDERED},
        {700000, 2, CORE_DESCENDING, 97, 1000, 100000, false, LEAT_COMPRESSION_NONE,
         LEAT_SPLIT_HASH},
        {300000, 1, CORE_RANDOM, 99, 50, 0, false, LEAT_COMPRESSION_ZSTD, LEAT_SPLIT_HASH},
    };
    const char *out = core_path("large_out"), *temp = core_path("large_temp");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        core_shape shape = {.seed = c,
                            .rows = cases[c].rows,
                            .sources = 12,
                            .heavy = cases[c].heavy,
                            .times = cases[c].times,
                            .targets = 90,
                            .order = cases[c].order};
        core_row *rows = core_rows(&shape);
        csv_write("large", rows, shape.rows, &(csv_cut){.files = 2});
        leat_probes_ingest_options options = ingest_options();
        leat_probes_ingest_result result;
        watch eye = {0};
        options.max_row_bytes = cases[c].max_row_bytes;
        options.dictionary_src = cases[c].dictionary;
        options.record.compression = cases[c].compression;
        options.split = cases[c].split;
        options.temp_dir = core_made(temp);
        options.memory_bytes = ingest_memory(900);
        options.threads = 1;
        scratch_files = 0;
        assert_ok(ingest_to(out, "large", 2, &options, &result, err));
        dataset_digest want = dataset_hash(out);
        if (c == 0) dataset_check(out, rows, shape.rows, &options);
        free(rows); /* what the process holds counts against the limit */
        options.threads = cases[c].threads;
        options.progress = look;
        options.progress_user = &eye;
        int of_one_scan = scratch_files;
        scratch_files = 0;
        assert_ok(ingest_least(out, "large", &options, &result, err));
        assert_same_dataset(out, want);
        assert_int_equal(result.measurements, shape.rows);
        assert_int_equal(eye.total, shape.rows);
        assert_int_equal(eye.done, eye.total);
        assert_int_equal(dir_count(temp), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        /* each thread that scans has a log; whatever is more is sorted runs and columns on disk. A
         * sanitizer keeps what was freed, which the plan counts: it leaves more to sort in. */
        assert_true(scratch_files > of_one_scan + options.threads - 1);
#else
        (void)of_one_scan;
#endif
    }
}

int main(void) {
    core_in_memory(INT64_C(1024) << 20);
    const struct CMUnitTest tests[] = {cmocka_unit_test(skewed)};
    int failed = cmocka_run_group_tests_name("ingest of large probes", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
