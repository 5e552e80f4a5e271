/*
 * Files of others: ping-llm's own ArrayRecord files, and its nine records under every other
 * compression and group size, must give the rows that PyArrow decoded (golden/latency/rows).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/json.h"
#include "golden_files.h"
#include "leat/load.h"

static json_t *golden;

static int64_t number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

/* The record `index` of the file that was written as `file`. */
static const json_t *find_record(const char *file, int64_t index) {
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(golden, "records"), i, record) {
        const char *name = json_string_value(json_object_get(record, "file"));
        if (strcmp(name, file) == 0 && number(record, "record") == index) return record;
    }
    return NULL;
}

static void check_measurement(const leat_measurement *got, const json_t *record, int64_t i) {
    const json_t *it = json_array_get(json_object_get(record, "measurements"), (size_t)i);
    const char *src = json_string_value(json_object_get(record, "src_addr"));
    const char *dst = json_string_value(json_array_get(
        json_object_get(golden, "dst_addr"), (size_t)json_integer_value(json_array_get(it, 1))));
    uint32_t bits = 0, expected = (uint32_t)json_integer_value(json_array_get(it, 3));
    float rtt = 0;
    memcpy(&bits, &got->rtt, 4);
    memcpy(&rtt, &expected, 4);
    assert_int_equal(got->time_us, json_integer_value(json_array_get(it, 0)));
    assert_int_equal(got->ip_version, json_integer_value(json_array_get(it, 2)));
    if (rtt < 0) assert_true(got->rtt == -1);
    else assert_int_equal(bits, expected);
    assert_int_equal(got->src_size, strlen(src));
    assert_memory_equal(got->src, src, strlen(src));
    assert_int_equal(got->dst_size, strlen(dst));
    assert_memory_equal(got->dst, dst, strlen(dst));
}

static void check_row(const leat_dataset *dataset, int64_t row, leat_row *cursor,
                      const json_t *record) {
    leat_error err = {0};
    leat_measurement got;
    leat_code code = leat_dataset_row_open(dataset, row, cursor, &err);
    if (code != LEAT_OK) fail_msg("row %d: %s", (int)row, err.message);
    const leat_row_facts *facts = leat_row_get_facts(cursor);
    assert_int_equal(facts->src_id, number(record, "src_id"));
    assert_int_equal(facts->n_measurements, number(record, "n_measurements"));
    assert_int_equal(facts->first_us, number(record, "first_timestamp_us"));
    assert_int_equal(facts->last_us, number(record, "last_timestamp_us"));
    assert_int_equal(facts->record_bytes, number(record, "record_bytes"));
    const uint8_t *bytes = NULL;
    int64_t size = 0;
    assert_int_equal(leat_dataset_row_record(cursor, &bytes, &size, NULL), LEAT_OK);
    leat_sha256 sha;
    uint8_t digest[32];
    char text[65];
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, bytes, size);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, text);
    assert_string_equal(text, json_string_value(json_object_get(record, "record_sha256")));
    for (int64_t i = 0; i < facts->n_measurements; i++) {
        code = leat_row_measurement(cursor, i, &got, &err);
        if (code != LEAT_OK) fail_msg("row %d, %d: %s", (int)row, (int)i, err.message);
        check_measurement(&got, record, i);
    }
    leat_measurements all = {0};
    code = leat_dataset_row_decode(cursor, &all, &err);
    if (code != LEAT_OK) fail_msg("row %d: %s", (int)row, err.message);
    assert_int_equal(all.count, facts->n_measurements);
    for (int64_t i = 0; i < all.count; i++) {
        leat_measurements_get(&all, i, &got);
        check_measurement(&got, record, i);
    }
    leat_measurements_free(&all);
}

static void files(void **state) {
    (void)state;
    static const struct {
        const char *name, *written_as;
        leat_split split;
        int rows;
    } cases[] = {
        {"train", "train", LEAT_SPLIT_TRAIN, 78},   {"test", "test", LEAT_SPLIT_TEST, 9},
        {"g1_none", "test", LEAT_SPLIT_NONE, 9},    {"g1_zstd", "test", LEAT_SPLIT_NONE, 9},
        {"g1_brotli6", "test", LEAT_SPLIT_NONE, 9}, {"g1_snappy", "test", LEAT_SPLIT_NONE, 9},
        {"g4_none", "test", LEAT_SPLIT_NONE, 9},    {"g4_zstd", "test", LEAT_SPLIT_NONE, 9},
        {"g4_brotli6", "test", LEAT_SPLIT_NONE, 9}, {"g4_snappy", "test", LEAT_SPLIT_NONE, 9},
        {"empty", "none", LEAT_SPLIT_NONE, 0},
    };
    enum { CASES = sizeof(cases) / sizeof(cases[0]) };
    const char *paths[CASES];
    for (int c = 0; c < CASES; c++) {
        char name[100];
        snprintf(name, sizeof(name), "golden/latency/rows/%s.arrayrecord", cases[c].name);
        paths[c] = golden_path(name);
    }
    leat_dataset *dataset = NULL;
    leat_row *cursor = NULL;
    leat_error err = {0};
    leat_code code = leat_dataset_open(&dataset, paths, CASES, NULL, &err);
    if (code != LEAT_OK) fail_msg("%s", err.message);
    assert_int_equal(leat_row_create(&cursor, dataset, NULL), LEAT_OK);
    int64_t row = 0;
    for (int c = 0; c < CASES; c++) {
        leat_dataset_shard shard;
        assert_int_equal(leat_dataset_get_shard(dataset, c, &shard, NULL), LEAT_OK);
        assert_int_equal(shard.row_count, cases[c].rows);
        assert_int_equal(shard.split, cases[c].split);
        char file[64];
        snprintf(file, sizeof(file), "%s.arrayrecord", cases[c].written_as);
        for (int64_t i = 0; i < shard.row_count; i++, row++) {
            const json_t *record = find_record(file, i);
            assert_non_null(record);
            check_row(dataset, row, cursor, record);
        }
    }
    leat_dataset_facts facts;
    leat_dataset_get_facts(dataset, &facts);
    assert_int_equal(row, facts.row_count);
    leat_row_destroy(cursor);
    leat_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files)};
    golden = golden_json("golden/latency/rows/rows.json.gz");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(golden);
    return failed;
}
