/*
 * Parquet with cells in error, read in its plain form, with every allocation and call into the file
 * system of leat failing in turn: an error that says so, or all rows; no copy is left behind.
 */
#include "ingest/core_support.h"

#include <stdatomic.h>

#include "duckdb/api.h"
#include "ingest/source.h"
#include "sweep.h"

#if LEAT_HAVE_DUCKDB

enum { ROWS = 6000 };
static leat_input_list inputs;
static atomic_long rows;

static leat_code count(void *context, int worker, const leat_raw_batch *batch, leat_error *err) {
    (void)context;
    (void)worker;
    (void)err;
    atomic_fetch_add(&rows, batch->count);
    return LEAT_OK;
}

/* Spoils all texts of that kind; the time is spoiled in the statistics too. */
static void spoil(const char *path, bool times) {
    int64_t from = 1600000000777, to = INT64_C(1) << 62;
    core_image image = core_load(path);
    for (int64_t i = 0; i + 8 <= image.size_bytes; i++) {
        if (times && memcmp(image.data + i, &from, 8) == 0) memcpy(image.data + i, &to, 8);
        if (memcmp(image.data + i, "@BAD", 4) == 0) memcpy(image.data + i, "\xff\xfe\xfd@", 4);
    }
    core_save(path, image.data, image.size_bytes);
    free(image.data);
}

static void make(const char *name, bool times) {
    leat_duckdb db;
    duckdb_result result;
    char sql[2048];
    snprintf(
        sql, sizeof sql,
        "COPY (SELECT make_timestamp((CASE WHEN i = 4000 THEN 1600000000777 ELSE i END) * "
        "1000)::TIMESTAMP_MS AS event_time, CASE WHEN i = 3000 THEN '@BAD' ELSE 's' || i END "
        "AS src_addr, 'd' AS dst_addr, 1::FLOAT AS rtt FROM range(0, %d) t(i)) TO '%s' (FORMAT "
        "PARQUET, ROW_GROUP_SIZE 2048, COMPRESSION uncompressed)",
        ROWS, core_path(name));
    assert_ok(leat_duckdb_open(&db, 1, 0, err));
    assert_ok(leat_duckdb_query(&db, sql, &result, err));
    db.api.destroy_result(&result);
    leat_duckdb_close(&db);
    spoil(core_path(name), times);
}

static leat_code work(const void *of, leat_error *err) {
    leat_source_options options = {
        .columns = {"event_time", "src_addr", "dst_addr", "ip_version", "rtt", NULL},
        .threads = *(const int *)of,
        .memory_bytes = INT64_C(256) << 20,
        .temp_dir = core_dir(),
        .batch = count};
    int64_t read = 0;
    atomic_store(&rows, 0);
    LEAT_TRY(leat_sources_check(&inputs, &options, err));
    LEAT_TRY(leat_sources_scan(&inputs, &options, &read, err));
    assert_int_equal(read, 2 * ROWS);
    assert_int_equal(atomic_load(&rows), 2 * ROWS);
    return LEAT_OK;
}

static void expect_no_copy(leat_code code) {
    leat_path_list names = {0};
    int64_t copies = 0;
    (void)code;
    assert_ok(leat_path_list_dir(core_dir(), &names, err));
    /* removing a copy may fail; the folder of a job is cleared at its end */
    for (int64_t i = 0; i < names.count; i++) {
        if (strstr(names.paths[i], "plain_") == NULL) continue;
        assert_int_equal(atomic_load(&fault_kind), LEAT_FAULT_PATH);
        char path[LEAT_PATH_BYTES];
        const char *slash = strrchr(names.paths[i], '/');
        snprintf(path, sizeof path, "%s", core_path(slash != NULL ? slash + 1 : names.paths[i]));
        assert_ok(leat_path_remove(path, err));
        copies++;
    }
    assert_int_equal(names.count, 2 + copies);
    leat_path_list_free(&names);
}

static void sweep(void **state) {
    (void)state;
    make("a.parquet", false);
    make("b.parquet", true);
    const char *paths[] = {core_path("a.parquet"), core_path("b.parquet")};
    assert_ok(leat_inputs_find(paths, 2, &leat_probe_inputs, &inputs, err));
    static const int threads = 2;
    fault_sweep sweep = {.name = "parquet cells",
                         .work = work,
                         .of = &threads,
                         .after = expect_no_copy,
                         .least = 15};
    sweep_faults(&sweep);
    leat_input_list_free(&inputs);
    core_dir_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
