/* Parquet files whose footers count other rows than there are: DuckDB would read what the row
 * groups say and lose the rest in silence. The files are those of tests/golden/parquet, where
 * make.py says what was changed in each. */
#include "source_support.h"

#include <sys/stat.h>

#include "duckdb/api.h"

#if LEAT_HAVE_DUCKDB

#define GOLDEN LEAT_SOURCE_DIR "/tests/golden/parquet/"

static const char *copy(const char *from, const char *to) {
    char path[512];
    snprintf(path, sizeof path, GOLDEN "%s.parquet", from);
    core_image image = core_load(path);
    core_save(core_path(to), image.data, image.size_bytes);
    free(image.data);
    return core_path(to);
}

static const struct {
    const char *name, *words;
} lies[] = {
    {"group_50", "row group 1 has 50 rows, but 100 values in column \"event_time\""},
    {"group_0", "row group 1 has 0 rows, but 100 values in column \"event_time\""},
    {"group_150", "row group 1 has 150 rows, but 100 values in column \"event_time\""},
    {"group_negative", "row group 1: invalid size -100 in its metadata"},
    {"group_missing", "its footer counts 300 rows, but there are 200 in 2 row groups"},
    {"groups_exchanged", "row group 0 has 50 rows, but 100 values in column \"event_time\""},
    {"group_and_file", "row group 1 has 50 rows, but 100 values in column \"event_time\""},
    {"group_and_values", "its footer counts 300 rows, but there are 250 in 3 row groups"},
    {"file_250", "its footer counts 250 rows, but there are 300 in 3 row groups"},
    {"file_350", "its footer counts 350 rows, but there are 300 in 3 row groups"},
    {"file_0", "its footer counts 0 rows, but there are 300 in 3 row groups"},
    {"file_negative", "negative number of rows"},
    {"values_50", "row group 2 has 100 rows, but 50 values in column \"src_addr\""},
    {"values_150", "row group 2 has 100 rows, but 150 values in column \"rtt\""},
    {"values_negative", "row group 0: invalid size -1 in its metadata"},
    {"column_missing", "cannot be read as Parquet"},
};

/* Alone, and between two good files that share its query: refused before a row is read, by name. */
static void refused(void **state) {
    (void)state;
    mkdir(core_path("counts"), 0777);
    const char *paths[] = {copy("whole", "counts/a.parquet"), core_path("counts/b.parquet"),
                           copy("whole", "counts/c.parquet")};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        copy(lies[i].name, "counts/b.parquet");
        for (int together = 0; together < 2; together++) {
            source_run run;
            source_run_init(&run);
            leat_error error = {0};
            leat_code code = together ? source_run_paths(&run, paths, 3, &error)
                                      : source_run_file(&run, paths[1], &error);
            if (code != LEAT_ERR_CORRUPT || strstr(error.message, lies[i].words) == NULL ||
                strstr(error.message, "counts/b.parquet\"") == NULL) {
                fail_msg("%s: code %d: %s", lies[i].name, (int)code, error.message);
            }
            assert_int_equal(run.count, 0);
            source_run_free(&run);
        }
    }
}

/* Which of the two would be read is DuckDB's choice. */
static void twice(void **state) {
    (void)state;
    source_run run;
    source_run_init(&run);
    assert_fails(source_run_file(&run, copy("column_twice", "twice.parquet"), err), LEAT_ERR_INPUT,
                 "twice.parquet\" has two columns \"rtt\"");
    source_run_free(&run);
}

static void read_rows(const char *name, int64_t rows, source_run *run) {
    source_run_init(run);
    assert_ok(source_run_file(run, copy(name, "one.parquet"), err));
    assert_int_equal(run->rows_read, rows);
    assert_int_equal(run->count, rows);
}

static bool has_row(const source_run *run, const char *row) {
    bool found = false;
    for (int64_t i = 0; i < run->count; i++) found = found || strcmp(run->rows[i], row) == 0;
    return found;
}

/* Nulls are values too. */
static void taken(void **state) {
    (void)state;
    source_run run;
    read_rows("whole", 300, &run);
    assert_true(has_row(&run, "0 2 1556136001000000 <192.0.2.1> <198.51.100.1> 0 1"));
    assert_true(has_row(&run, "0 10 1556136009000000 <192.0.2.2> - 0 9"));
    assert_true(has_row(&run, "0 104 1556136103000000 <192.0.2.5> <198.51.100.1> 0 -"));
    source_run_free(&run);
}

/*
 * What is not found, as docs/ingest.md and leat doctor say; should a DuckDB find it one day, they
 * are to say that. A page's checksum is not looked at, and counts that all agree are believed.
 */
static void not_found(void **state) {
    (void)state;
    source_run run;
    read_rows("page_damaged", 300, &run);
    assert_true(has_row(&run, "0 2 1556136001000000 <192.0.2.1> <198.51.100.1> 0 1.5"));
    source_run_free(&run);
    read_rows("all_agree", 250, &run);
    source_run_free(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused),
        cmocka_unit_test(twice),
        cmocka_unit_test(taken),
        cmocka_unit_test(not_found),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    core_dir_remove();
    return failed;
}

#else

int main(void) {
    print_message("skipped: built without DuckDB\n");
    return 77;
}

#endif
