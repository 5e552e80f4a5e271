/*
 * The merge of sorted runs: order, and equal records in the order of their runs, whatever the
 * number of runs and buffers; sources that fail, files that have lost their end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "merge_records.h"

static char folder[] = "/tmp/leat_merge_XXXXXX";

static records begin(void) { return (records){.runs = {.temp_dir = folder}, .refuse_at = -1}; }

static void in_order(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t runs, records, empty; /* every such run has none; 0: all have some */
        uint32_t keys;
        int64_t more_max, buffers;
        int passes;
    } cases[] = {
        {"no runs", 0, 0, 0, 1, 0, 2, 0},
        {"one source", 1, 5000, 0, 700, 100, 2, 0},
        {"one record", 1, 1, 0, 1, 0, 2, 0},
        {"two sources", 2, 3000, 0, 3000, 100, 2, 0},
        {"only equal records", 9, 40, 0, 1, 3, 9, 0},
        {"ties", 40, 100, 0, 7, 50, 64, 0},
        {"ties in passes", 40, 100, 0, 7, 50, 3, 3},
        {"only empty sources", 20, 0, 0, 1, 0, 4, 2},
        {"some empty sources", 21, 60, 2, 9, 9, 4, 2},
        {"the longest records", 12, 300, 0, 100, LEAT_MERGE_RECORD_BYTES_MAX - RECORD_HEAD_BYTES, 3,
         2},
        {"1,000 sources, four buffers", 1000, 30, 0, 500, 200, 4, 4},
        {"1,000 sources, two buffers", 1000, 3, 3, 500, 0, 2, 9},
        {"1,000 sources at once", 1000, 30, 0, 500, 200, 1000, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        records it = begin();
        int64_t total = 0;
        leat_error error = {0};
        for (int64_t k = 0; k < cases[i].runs; k++) {
            const bool none = cases[i].empty > 0 && k % cases[i].empty == 0;
            const int64_t count = none ? 0 : cases[i].records;
            assert_ok(records_add_run(&it, count, cases[i].keys, cases[i].more_max, err));
            total += count;
        }
        if (records_merge(&it, cases[i].buffers, &error) != LEAT_OK)
            fail_msg("%s: %s", cases[i].name, error.message);
        if (it.taken != total || it.runs.passes != cases[i].passes ||
            it.put != total * cases[i].passes || it.runs.count > cases[i].buffers)
            fail_msg("%s: %lld of %lld records, %d passes, %lld records put by them, %lld runs",
                     cases[i].name, (long long)it.taken, (long long)total, it.runs.passes,
                     (long long)it.put, (long long)it.runs.count);
        /* what passes have made is merged again */
        assert_ok(records_merge(&it, cases[i].buffers, err));
        assert_int_equal(it.taken, total);
        leat_merge_runs_close(&it.runs);
    }
    assert_int_equal(rmdir(folder), 0); /* nothing is left in it */
    assert_non_null(mkdtemp(strcpy(folder, "/tmp/leat_merge_XXXXXX")));
}

/* Runs that are read after an error are those that there were. */
static void failures(void **state) {
    (void)state;
    enum { RUNS = 30, RECORDS = 200 };
    for (int64_t buffers = 3; buffers <= RUNS; buffers *= 10) {
        records it = begin();
        leat_merge_run damaged = {0};
        uint8_t head[RECORD_HEAD_BYTES];
        const uint32_t bad = UINT32_MAX;
        for (int i = 0; i < RUNS; i++) assert_ok(records_add_run(&it, RECORDS, 50, 0, err));
        /* a user that refuses a record */
        it.refuse_at = 1234;
        assert_fails(records_merge(&it, RUNS, err), LEAT_ERR_INPUT, "refused");
        assert_int_equal(it.taken, 1234);
        it.refuse_at = -1;
        /* a record in the middle of a source that cannot be read */
        damaged = it.runs.items[17];
        const int64_t at = damaged.offset + 99 * RECORD_HEAD_BYTES;
        assert_ok(leat_file_pread(it.runs.file, head, sizeof head, at, err));
        assert_ok(leat_file_pwrite(it.runs.file, &bad, sizeof bad, at + 4, err));
        assert_fails(records_merge(&it, buffers, err), LEAT_ERR_CORRUPT,
                     "record 99 of a run is damaged");
        assert_int_equal(it.runs.count, RUNS);
        assert_ok(leat_file_pwrite(it.runs.file, head, sizeof head, at, err));
        assert_int_equal(it.runs.passes, 0);
        /* a file that has lost its end: the message says where it ends */
        char place[64];
        snprintf(place, sizeof place, "%lld", (long long)it.runs.file_bytes - 5);
        assert_ok(leat_file_truncate(it.runs.file, it.runs.file_bytes - 5, err));
        assert_fails(records_merge(&it, buffers, err), LEAT_ERR_CORRUPT, "/scratch\"");
        assert_fails(records_merge(&it, buffers, err), LEAT_ERR_CORRUPT, place);
        leat_merge_runs_close(&it.runs);
    }
}

/* The bytes of a writer are those put, whatever its buffer; a run is added before it is written. */
static void writers(void **state) {
    (void)state;
    uint8_t buffer[64], bytes[300], got[3 * 300];
    leat_merge_runs runs = {.temp_dir = folder};
    for (int i = 0; i < 300; i++) bytes[i] = (uint8_t)i;
    assert_ok(leat_merge_runs_open(&runs, err));
    assert_ok(leat_merge_runs_open(&runs, err));
    for (int64_t capacity = 1; capacity <= 64; capacity += 21) {
        leat_merge_writer to = {
            .file = runs.file, .offset = runs.file_bytes, .buffer = buffer, .capacity = capacity};
        const int64_t begin = runs.file_bytes;
        int64_t size = 0;
        assert_ok(leat_merge_runs_add(&runs, 600, err));
        for (int64_t part = 0; size < 600; size += part) {
            part = (part * 7 + 3) % 100;
            if (part > 600 - size) part = 600 - size;
            assert_ok(leat_merge_put(&to, bytes + size % 200, part, err));
            assert_int_equal(to.written, size + part);
        }
        assert_ok(leat_merge_flush(&to, err));
        assert_int_equal(to.offset, runs.file_bytes);
        assert_ok(leat_file_pread(runs.file, got, 600, begin, err));
        int64_t at = 0;
        for (int64_t part = 0; at < 600; at += part) {
            part = (part * 7 + 3) % 100;
            if (part > 600 - at) part = 600 - at;
            assert_memory_equal(got + at, bytes + at % 200, (size_t)part);
        }
    }
    leat_merge_runs_close(&runs);
    assert_null(runs.file);
    leat_merge_runs_close(&runs);
}

static void no_folder(void **state) {
    (void)state;
    leat_merge_runs runs = {.temp_dir = "/no/such/folder"};
    assert_fails(leat_merge_runs_open(&runs, err), LEAT_ERR_NOT_FOUND, "/no/such/folder");
    assert_null(runs.file);
    leat_merge_runs_close(&runs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order),
        cmocka_unit_test(failures),
        cmocka_unit_test(writers),
        cmocka_unit_test(no_folder),
    };
    if (mkdtemp(folder) == NULL) return 1;
    int failed = cmocka_run_group_tests_name("merge", tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
