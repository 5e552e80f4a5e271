/* The manifest: canonical bytes, round trip, hostile ones refused; times as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/dataset/manifest.h"

/* Two train shards, the second without rows, and one test shard. */
static void fill(leat_manifest *manifest) {
    leat_shard_info info = {
        .row_count = 3,
        .measurement_count = 70,
        .file_bytes = 131072,
        .first_us = INT64_C(1556064000000000),
        .last_us = INT64_C(1556064000999999),
    };
    *manifest = (leat_manifest){0};
    assert_int_equal(leat_manifest_add_int(manifest, "seed", 7, NULL), LEAT_OK);
    assert_int_equal(leat_manifest_add_real(manifest, "train_ratio", 0.9, NULL), LEAT_OK);
    assert_int_equal(leat_manifest_add_text(manifest, "compression", "zstd:3", NULL), LEAT_OK);
    assert_int_equal(leat_manifest_add_bool(manifest, "dictionary_src", false, NULL), LEAT_OK);
    memset(info.file_sha256, 0x11, 32);
    memset(info.records_sha256, 0x22, 32);
    assert_int_equal(leat_manifest_add_shard(manifest, &info, NULL), LEAT_OK);
    leat_shard_info empty = {.number = 1, .file_bytes = 131072};
    assert_int_equal(leat_manifest_add_shard(manifest, &empty, NULL), LEAT_OK);
    info.split = LEAT_SPLIT_TEST;
    info.row_count = info.measurement_count = 1;
    info.first_us = info.last_us = 5;
    info.records_sha256[31] = 0x23;
    assert_int_equal(leat_manifest_add_shard(manifest, &info, NULL), LEAT_OK);
    manifest->index_bytes = 4104;
    memset(manifest->index_sha256, 0xab, 32);
    assert_int_equal(leat_manifest_seal(manifest, NULL), LEAT_OK);
}

#define H11 "1111111111111111111111111111111111111111111111111111111111111111"
#define H22 "2222222222222222222222222222222222222222222222222222222222222222"
#define H23 "2222222222222222222222222222222222222222222222222222222222222223"
#define H00 "0000000000000000000000000000000000000000000000000000000000000000"
#define HAB "abababababababababababababababababababababababababababababababab"

static const char expected_format[] =
    "{\n  \"format\": \"leat.probes\",\n  \"version\": 1,\n  \"options\": {\n    \"seed\": 7,\n"
    "    \"train_ratio\": 0.9,\n    \"compression\": \"zstd:3\",\n    \"dictionary_src\": false\n  "
    "},\n"
    "  \"total\": {\n    \"shards\": 3,\n    \"rows\": 4,\n    \"measurements\": 71,\n"
    "    \"bytes\": 393216,\n    \"first_time\": \"1970-01-01T00:00:00.000005Z\",\n"
    "    \"last_time\": \"2019-04-24T00:00:00.999999Z\"\n  },\n"
    "  \"train\": {\n    \"shards\": 2,\n    \"rows\": 3,\n    \"measurements\": 70,\n"
    "    \"bytes\": 262144,\n    \"first_time\": \"2019-04-24T00:00:00.000000Z\",\n"
    "    \"last_time\": \"2019-04-24T00:00:00.999999Z\"\n  },\n"
    "  \"test\": {\n    \"shards\": 1,\n    \"rows\": 1,\n    \"measurements\": 1,\n"
    "    \"bytes\": 131072,\n    \"first_time\": \"1970-01-01T00:00:00.000005Z\",\n"
    "    \"last_time\": \"1970-01-01T00:00:00.000005Z\"\n  },\n"
    "  \"index\": {\n    \"file\": \"index.bin\",\n    \"bytes\": 4104,\n"
    "    \"table_sha256\": \"" HAB "\"\n  },\n"
    "  \"fingerprint\": \"%s\",\n  \"shards\": [\n"
    "    {\n      \"file\": \"train/train_shard_00000.arrayrecord\",\n      \"rows\": 3,\n"
    "      \"measurements\": 70,\n      \"bytes\": 131072,\n"
    "      \"first_time\": \"2019-04-24T00:00:00.000000Z\",\n"
    "      \"last_time\": \"2019-04-24T00:00:00.999999Z\",\n      \"sha256\": \"" H11 "\",\n"
    "      \"records_sha256\": \"" H22 "\"\n    },\n"
    "    {\n      \"file\": \"train/train_shard_00001.arrayrecord\",\n      \"rows\": 0,\n"
    "      \"measurements\": 0,\n      \"bytes\": 131072,\n      \"first_time\": null,\n"
    "      \"last_time\": null,\n      \"sha256\": \"" H00 "\",\n"
    "      \"records_sha256\": \"" H00 "\"\n    },\n"
    "    {\n      \"file\": \"test/test_shard_00000.arrayrecord\",\n      \"rows\": 1,\n"
    "      \"measurements\": 1,\n      \"bytes\": 131072,\n"
    "      \"first_time\": \"1970-01-01T00:00:00.000005Z\",\n"
    "      \"last_time\": \"1970-01-01T00:00:00.000005Z\",\n      \"sha256\": \"" H11 "\",\n"
    "      \"records_sha256\": \"" H23 "\"\n    }\n  ]\n}\n";

static char *expected_text(void) {
    uint8_t hashes[96] = {0}, digest[32];
    char print[65];
    leat_sha256 sha;
    memset(hashes, 0x22, 32);
    memset(hashes + 64, 0x22, 32);
    hashes[95] = 0x23;
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, hashes, sizeof(hashes));
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, print);
    static char text[sizeof(expected_format) + 65];
    snprintf(text, sizeof(text), expected_format, print);
    return text;
}

static void canonical(void **state) {
    (void)state;
    leat_manifest manifest, again;
    leat_buf text = {0}, second = {0};
    fill(&manifest);
    assert_int_equal(leat_manifest_write(&manifest, &text, NULL), LEAT_OK);
    char *expected = expected_text();
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, (size_t)text.size);
    leat_error err = {0};
    leat_code code = leat_manifest_parse(expected, text.size, "it", &again, &err);
    if (code != LEAT_OK) fail_msg("%s", err.message);
    assert_int_equal(again.shard_count, 3);
    assert_memory_equal(again.shards, manifest.shards, 3 * sizeof(*again.shards));
    assert_memory_equal(&again.total, &manifest.total, sizeof(again.total));
    assert_memory_equal(again.split, manifest.split, sizeof(again.split));
    assert_memory_equal(again.fingerprint, manifest.fingerprint, 32);
    assert_memory_equal(again.index_sha256, manifest.index_sha256, 32);
    assert_int_equal(again.index_bytes, 4104);
    assert_int_equal(again.option_count, 4);
    assert_string_equal(leat_manifest_find(&again, "compression")->text, "zstd:3");
    assert_true(leat_manifest_find(&again, "train_ratio")->real == 0.9);
    assert_int_equal(leat_manifest_find(&again, "seed")->integer, 7);
    assert_true(leat_manifest_find(&again, "seed")->real == 7);
    assert_int_equal(leat_manifest_find(&again, "dictionary_src")->type, LEAT_VALUE_BOOL);
    assert_null(leat_manifest_find(&again, "none"));
    assert_int_equal(leat_manifest_write(&again, &second, NULL), LEAT_OK);
    assert_int_equal(second.size, text.size);
    assert_memory_equal(second.data, text.data, (size_t)text.size);
    leat_buf_free(&text);
    leat_buf_free(&second);
    leat_manifest_free(&manifest);
    leat_manifest_free(&again);
}

/* Each: the first occurrence of a text replaced by another; what remains must be refused. */
static const struct {
    const char *from, *to;
    leat_code code;
} hostile_cases[] = {
    {"leat.probes", "leat.graphs", LEAT_ERR_CORRUPT},
    {"\"version\": 1", "\"version\": 3", LEAT_ERR_UNSUPPORTED},
    {"\"version\": 1", "\"version\": 2", LEAT_ERR_CORRUPT},
    {"\"seed\": 7,", "\"probe\": \"p\", \"seed\": 7,", LEAT_ERR_CORRUPT},
    {"\"version\": 1", "\"version\": 0", LEAT_ERR_CORRUPT},
    {"\"version\": 1", "\"version\": \"1\"", LEAT_ERR_CORRUPT},
    {"\"version\": 1,", "\"version\": 1, \"version\": 1,", LEAT_ERR_CORRUPT},
    {"\"seed\": 7", "\"seed\": null", LEAT_ERR_CORRUPT},
    {"\"seed\"", "\"Seed\"", LEAT_ERR_CORRUPT},
    {"\"seed\"", "\"\"", LEAT_ERR_CORRUPT},
    {"\"seed\"", "\"a2345678901234567890123456789012\"", LEAT_ERR_CORRUPT},
    {"\"seed\"", "\"train_ratio\"", LEAT_ERR_CORRUPT},
    {"0.9", "1e999", LEAT_ERR_CORRUPT},
    {"index.bin", "../index.bin", LEAT_ERR_CORRUPT},
    {"\"bytes\": 4104", "\"bytes\": 0", LEAT_ERR_CORRUPT},
    {"\"bytes\": 4104", "\"bytes\": -4104", LEAT_ERR_CORRUPT},
    {HAB, "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB", LEAT_ERR_CORRUPT},
    {HAB, "ab", LEAT_ERR_CORRUPT},
    {"train/train_shard_00000", "train/../train_shard_00000", LEAT_ERR_CORRUPT},
    {"train/train_shard_00000", "/train/train_shard_00000", LEAT_ERR_CORRUPT},
    {"train_shard_00000", "train_shard_00002", LEAT_ERR_CORRUPT},
    {"train_shard_00001", "train_shard_00000", LEAT_ERR_CORRUPT},
    {"test_shard_00000", "test_shard_00001", LEAT_ERR_CORRUPT},
    {"\"file\": \"test/test_shard_00000.arrayrecord\"",
     "\"file\": \"train/train_shard_00003.arrayrecord\"", LEAT_ERR_CORRUPT},
    {"\"rows\": 4", "\"rows\": 5", LEAT_ERR_CORRUPT},
    {"\"rows\": 3", "\"rows\": 4", LEAT_ERR_CORRUPT},
    {"\"shards\": 3", "\"shards\": 2", LEAT_ERR_CORRUPT},
    {"\"measurements\": 71", "\"measurements\": 70", LEAT_ERR_CORRUPT},
    {"\"bytes\": 393216", "\"bytes\": 393217", LEAT_ERR_CORRUPT},
    {"\"bytes\": 393216", "\"bytes\": 393216.0", LEAT_ERR_CORRUPT},
    {"000005Z", "000006Z", LEAT_ERR_CORRUPT},
    {"null", "\"1970-01-01T00:00:00.000000Z\"", LEAT_ERR_CORRUPT},
    {"\"2019-04-24T00:00:00.000000Z\"", "null", LEAT_ERR_CORRUPT},
    {"\"2019-04-24T00:00:00.000000Z\"", "5", LEAT_ERR_CORRUPT},
    {"      \"rows\": 3", "      \"rows\": 71", LEAT_ERR_CORRUPT},
    {"      \"rows\": 3", "      \"rows\": -3", LEAT_ERR_CORRUPT},
    {"      \"rows\": 3", "      \"rows\": 0", LEAT_ERR_CORRUPT},
    {H22, H23, LEAT_ERR_CORRUPT}, /* the fingerprint tells */
    {"\"shards\": [", "\"shards\": [7, ", LEAT_ERR_CORRUPT},
    {"\"shards\": [", "\"shardz\": [", LEAT_ERR_CORRUPT},
    {"\"shards\": [", "\"sh\\u0061rds\": [], \"shards\": [", LEAT_ERR_CORRUPT},
    {"\"shards\": [", "\"shards\": [], \"shards\": [", LEAT_ERR_CORRUPT},
    {"\"shards\": [", "\"shards\": [}", LEAT_ERR_CORRUPT},
    {"\"shards\": [", "\"shards\": [, ", LEAT_ERR_CORRUPT},
    {"    }\n  ]", "    },\n  ]", LEAT_ERR_CORRUPT},
    {"    }\n  ]", "    }\n", LEAT_ERR_CORRUPT},
    {"    },\n    {", "    }\n    {", LEAT_ERR_CORRUPT},
    {"    },\n    {", "    }:\n    {", LEAT_ERR_CORRUPT},
    {"\"fingerprint\"", "\"fingerprinz\"", LEAT_ERR_CORRUPT},
    {"\"options\": {", "\"options\": [], \"x\": {", LEAT_ERR_CORRUPT},
    {"{\n  \"format\"", "[{\n  \"format\"", LEAT_ERR_CORRUPT},
};

static void hostile(void **state) {
    (void)state;
    const char *good = expected_text();
    for (size_t i = 0; i < sizeof(hostile_cases) / sizeof(hostile_cases[0]); i++) {
        char text[8192];
        leat_manifest manifest;
        leat_error err = {0};
        const char *at = strstr(good, hostile_cases[i].from);
        assert_non_null(at);
        snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, hostile_cases[i].to,
                 at + strlen(hostile_cases[i].from));
        leat_code code = leat_manifest_parse(text, (int64_t)strlen(text), "it", &manifest, &err);
        if (code != hostile_cases[i].code) {
            fail_msg("%s -> %s: code %d: %s", hostile_cases[i].from, hostile_cases[i].to, code,
                     err.message);
        }
        assert_non_null(strstr(err.message, "it"));
        assert_null(manifest.shards);
        assert_null(manifest.options);
        assert_int_equal(manifest.shard_count, 0);
    }
    /* cut anywhere, it is refused */
    leat_manifest manifest;
    int64_t size = (int64_t)strlen(good);
    for (int64_t end = 0; end < size - 2; end++) {
        assert_int_equal(leat_manifest_parse(good, end, "it", &manifest, NULL), LEAT_ERR_CORRUPT);
    }
    assert_int_equal(leat_manifest_parse(good, size, "it", &manifest, NULL), LEAT_OK);
    leat_manifest_free(&manifest);
}

static void building(void **state) {
    (void)state;
    leat_manifest manifest = {0};
    char text[LEAT_MANIFEST_TEXT_BYTES + 1];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    assert_int_equal(leat_manifest_add_text(&manifest, "t", text, NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_manifest_add_text(&manifest, "t", text + 1, NULL), LEAT_OK);
    assert_int_equal(leat_manifest_add_int(&manifest, "t", 1, NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_manifest_add_int(&manifest, "T", 1, NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_manifest_add_real(&manifest, "r", 1.0 / 0.0, NULL), LEAT_ERR_OPTION);
    for (int i = 1; i < LEAT_MANIFEST_OPTIONS_MAX; i++) {
        char key[8];
        snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(leat_manifest_add_bool(&manifest, key, true, NULL), LEAT_OK);
    }
    assert_int_equal(leat_manifest_add_int(&manifest, "last", 1, NULL), LEAT_ERR_OPTION);
    static const struct {
        leat_split split;
        int32_t number;
        leat_code code;
    } order[] = {
        {LEAT_SPLIT_TRAIN, 1, LEAT_ERR_INPUT}, {LEAT_SPLIT_TEST, 1, LEAT_ERR_INPUT},
        {LEAT_SPLIT_NONE, 0, LEAT_ERR_INPUT},  {LEAT_SPLIT_TRAIN, 0, LEAT_OK},
        {LEAT_SPLIT_TRAIN, 0, LEAT_ERR_INPUT}, {LEAT_SPLIT_TRAIN, 1, LEAT_OK},
        {LEAT_SPLIT_TEST, 0, LEAT_OK},         {LEAT_SPLIT_TRAIN, 2, LEAT_ERR_INPUT},
        {LEAT_SPLIT_TEST, 1, LEAT_OK},
    };
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        leat_shard_info info = {
            .split = order[i].split, .number = order[i].number, .file_bytes = 1};
        assert_int_equal(leat_manifest_add_shard(&manifest, &info, NULL), order[i].code);
    }
    leat_shard_info huge = {.split = LEAT_SPLIT_TEST, .number = 2, .file_bytes = INT64_MAX};
    assert_int_equal(leat_manifest_add_shard(&manifest, &huge, NULL), LEAT_OK);
    assert_int_equal(leat_manifest_seal(&manifest, NULL), LEAT_ERR_LIMIT);
    leat_manifest_free(&manifest);
}

static void saved(void **state) {
    (void)state;
    char dir[] = "/tmp/leat_manifest_XXXXXX";
    assert_non_null(mkdtemp(dir));
    leat_manifest manifest, again;
    fill(&manifest);
    assert_int_equal(leat_manifest_save(&manifest, dir, NULL), LEAT_OK);
    assert_int_equal(leat_manifest_load(dir, &again, NULL), LEAT_OK);
    assert_int_equal(again.shard_count, 3);
    leat_manifest_free(&again);
    leat_manifest_free(&manifest);
    assert_int_equal(leat_path_remove_tree(dir, NULL), LEAT_OK);
    assert_int_equal(leat_manifest_load(dir, &again, NULL), LEAT_ERR_NOT_FOUND);
    assert_int_equal(leat_manifest_save(&manifest, dir, NULL), LEAT_ERR_NOT_FOUND);
}

static void times(void **state) {
    (void)state;
    static const struct {
        int64_t us;
        const char *text;
    } good[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {1, "1970-01-01T00:00:00.000001Z"},
        {INT64_C(951782400000000), "2000-02-29T00:00:00.000000Z"},
        {INT64_C(951868799999999), "2000-02-29T23:59:59.999999Z"},
        {INT64_C(4107542400000000), "2100-03-01T00:00:00.000000Z"},
        {INT64_C(1556668800000000), "2019-05-01T00:00:00.000000Z"},
        {INT64_C(253402300799999999), "9999-12-31T23:59:59.999999Z"},
        {INT64_MAX, "294247-01-10T04:00:54.775807Z"},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        char text[LEAT_TIME_TEXT_BYTES];
        int64_t us = -1;
        leat_time_format(good[i].us, text);
        assert_string_equal(text, good[i].text);
        assert_true(leat_time_parse(text, &us));
        assert_int_equal(us, good[i].us);
    }
    static const char *const bad[] = {
        "",
        "2019-05-01",
        "2019-05-01T00:00:00Z",
        "2019-05-01T00:00:00.000000",
        "2019-05-01T00:00:00.000000z",
        "2019-05-01 00:00:00.000000Z",
        "2019-05-01T00:00:00.000000Z ",
        " 2019-05-01T00:00:00.000000Z",
        "1969-12-31T23:59:59.999999Z",
        "2019-02-29T00:00:00.000000Z",
        "2019-13-01T00:00:00.000000Z",
        "2019-00-01T00:00:00.000000Z",
        "2019-01-00T00:00:00.000000Z",
        "2019-01-01T24:00:00.000000Z",
        "2019-01-01T00:60:00.000000Z",
        "2019-01-01T00:00:60.000000Z",
        "2019-01-01T-1:00:00.000000Z",
        "02019-01-01T00:00:00.000000Z",
        "294247-01-10T04:00:54.775808Z",
        "294247-12-31T00:00:00.000000Z",
        "999999-12-31T00:00:00.000000Z",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t us = -1;
        if (leat_time_parse(bad[i], &us)) fail_msg("%s", bad[i]);
        assert_int_equal(us, 0);
    }
}

/* 100,000 shards: written, read back, the same bytes. */
static void many(void **state) {
    (void)state;
    leat_manifest manifest = {0}, again;
    leat_buf text = {0}, second = {0};
    for (int i = 0; i < 100000; i++) {
        leat_shard_info info = {.split = i < 90000 ? LEAT_SPLIT_TRAIN : LEAT_SPLIT_TEST,
                                .number = i < 90000 ? i : i - 90000,
                                .row_count = 1000,
                                .measurement_count = 26000 + i,
                                .file_bytes = 131072 + i,
                                .first_us = i,
                                .last_us = INT64_C(1556064000000000) + i};
        memcpy(info.records_sha256, &i, sizeof(i));
        assert_int_equal(leat_manifest_add_shard(&manifest, &info, NULL), LEAT_OK);
    }
    manifest.index_bytes = 1;
    assert_int_equal(leat_manifest_seal(&manifest, NULL), LEAT_OK);
    assert_int_equal(leat_manifest_write(&manifest, &text, NULL), LEAT_OK);
    assert_int_equal(leat_manifest_parse((char *)text.data, text.size, "it", &again, NULL),
                     LEAT_OK);
    assert_int_equal(leat_manifest_write(&again, &second, NULL), LEAT_OK);
    assert_int_equal(second.size, text.size);
    assert_memory_equal(second.data, text.data, (size_t)text.size);
    leat_buf_free(&text);
    leat_buf_free(&second);
    leat_manifest_free(&manifest);
    leat_manifest_free(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical), cmocka_unit_test(hostile), cmocka_unit_test(building),
        cmocka_unit_test(saved),     cmocka_unit_test(times),   cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
