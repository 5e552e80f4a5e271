/* Positions against a walk over every byte; numbers; options. */
#include "ar_support.h"

/* Walks the stream byte by byte: where does each one lie, and where is the end? */
static void test_positions(void **state) {
    (void)state;
    static const int64_t begins[] = {0,     64,    65536 - 45, 65509, 65511, 65512,
                                     65513, 65535, 65536,      65561, 70000, 131072};
    for (size_t b = 0; b < sizeof begins / sizeof *begins; b++) {
        int64_t begin = begins[b], position = begin;
        assert_true(leat_ar_position_legal(begin));
        for (int64_t index = 0; index < 140000; index++) {
            assert_int_equal(leat_ar_advance(begin, index), position);
            if (position % LEAT_AR_BLOCK_BYTES == 0) position += LEAT_AR_BLOCK_HEADER_BYTES;
            assert_int_equal(leat_ar_byte_at(begin, index), position);
            int64_t offset = 0, together = 65536 - position % 65536;
            int64_t size = leat_ar_fragment(begin, index, 1000, &offset);
            assert_int_equal(offset, position);
            assert_int_equal(size, together < 1000 ? together : 1000);
            position++;
        }
    }
    for (int64_t i = 1; i <= 24; i++) assert_false(leat_ar_position_legal(65536 + i));
    assert_true(leat_ar_position_legal(65536 + 25));
    assert_false(leat_ar_position_legal(-65536));
}

static void test_chunk_ends(void **state) {
    (void)state;
    static const struct {
        int64_t begin, data_bytes, records, end;
    } cases[] = {
        {64, 70005, 1, 70133},   {64, 38, 200000, 200064},    {65509, 7, 1, 65580},
        {0, 0, 0, 64},           {64, 65432, 0, 65536},       {65496, 0, 0, 65536},
        {65497, 0, 0, 65561},    {64, 0, 65473, 65561},       {64, 0, 65472, 65536},
        {131072, 44, 3, 131180}, {64, 38, 65496, 65536 + 25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(leat_ar_chunk_end(cases[i].begin, cases[i].data_bytes, cases[i].records),
                         cases[i].end);
    }
}

/* Block headers that Google's writer made. */
static void test_block_headers(void **state) {
    (void)state;
    static const struct {
        int64_t position, begin, end;
        uint8_t hash[8];
    } cases[] = {
        {65536, 64, 70133, {0x7e, 0x7a, 0x8d, 0x58, 0x2a, 0xad, 0x09, 0x63}},
        {65536, 65509, 65580, {0x9b, 0x46, 0x0b, 0xd0, 0xde, 0xe3, 0xea, 0xd3}},
        {0, 0, 64, {0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t header[LEAT_AR_BLOCK_HEADER_BYTES];
        leat_ar_block_header(header, cases[i].position, cases[i].begin, cases[i].end);
        assert_memory_equal(header, cases[i].hash, 8);
        assert_true(leat_ar_load64(header + 8) == (uint64_t)(cases[i].position - cases[i].begin));
        assert_true(leat_ar_load64(header + 16) == (uint64_t)(cases[i].end - cases[i].position));
    }
}

static void test_varints(void **state) {
    (void)state;
    static const struct {
        int size;
        uint8_t bytes[11];
        bool good, shortest;
        uint64_t value;
    } cases[] = {
        {1, {0}, true, true, 0},
        {1, {0x7f}, true, true, 127},
        {2, {0x80, 0x01}, true, true, 128},
        {2, {0x80, 0x00}, true, false, 0},
        {3, {0xff, 0x80, 0x00}, true, false, 127},
        {10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, true, true, UINT64_MAX},
        {10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, false, false, 0},
        {11, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, false, false, 0},
        {1, {0x80}, false, false, 0},
        {0, {0}, false, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *at = cases[i].bytes, *end = at + cases[i].size;
        uint64_t value = 9;
        assert_int_equal(leat_ar_take_varint(&at, end, &value), cases[i].good);
        assert_true(value == (cases[i].good ? cases[i].value : 0));
        if (!cases[i].good) continue;
        assert_ptr_equal(at, end);
        if (!cases[i].shortest) continue;
        uint8_t again[LEAT_AR_VARINT_BYTES];
        assert_int_equal(leat_ar_put_varint(again, value), cases[i].size);
        assert_int_equal(leat_ar_varint_bytes(value), cases[i].size);
        assert_memory_equal(again, cases[i].bytes, (size_t)cases[i].size);
    }
}

static void test_options_text(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int32_t group_size;
        const char *footer;
    } cases[] = {
        {"none", true, 1, "uncompressed"},
        {"zstd", true, 1, "zstd:3,window_log:20"},
        {"zstd:0", true, 5, "zstd:3,window_log:20"},
        {"zstd:22", true, 65536, "zstd:22,window_log:20"},
        {"zstd:-131072", true, 1, "zstd:-131072,window_log:20"},
        {"brotli", true, 1, "brotli:6"},
        {"brotli:0", true, 1, "brotli:0"},
        {"brotli:11", true, 1, "brotli:11"},
        {"snappy", true, 2147483647, "snappy"},
        {"", false, 1, NULL},
        {"zst", false, 1, NULL},
        {"zstd:", false, 1, NULL},
        {"zstd:-", false, 1, NULL},
        {"zstd:23", false, 1, NULL},
        {"zstd:-131073", false, 1, NULL},
        {"zstd:99999999999999999999", false, 1, NULL},
        {"zstd:3x", false, 1, NULL},
        {"zstd:+3", false, 1, NULL},
        {"brotli:12", false, 1, NULL},
        {"brotli:-1", false, 1, NULL},
        {"snappy:1", false, 1, NULL},
        {"none:0", false, 1, NULL},
        {"Zstd", false, 1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_ar_options options = leat_ar_options_default();
        leat_error err = {0};
        leat_code code = leat_ar_options_parse(cases[i].text, &options, &err);
        assert_int_equal(code, cases[i].good ? LEAT_OK : LEAT_ERR_OPTION);
        if (!cases[i].good) {
            assert_non_null(strstr(err.message, cases[i].text));
            continue;
        }
        char text[LEAT_AR_OPTIONS_TEXT_BYTES], expected[256];
        options.group_size = cases[i].group_size;
        assert_int_equal(leat_ar_options_check(&options, &options, NULL), LEAT_OK);
        int size = leat_ar_options_text(&options, text);
        snprintf(expected, sizeof expected,
                 "group_size:%d,transpose:false,pad_to_block_boundary:false,%s,max_parallelism:1",
                 (int)cases[i].group_size, cases[i].footer);
        assert_int_equal(size, strlen(expected));
        assert_memory_equal(text, expected, (size_t)size);
    }
}

static void test_options_refused(void **state) {
    (void)state;
    static const leat_ar_options cases[] = {
        {LEAT_COMPRESSION_NONE, 0, 0, false},    {LEAT_COMPRESSION_NONE, 0, -1, false},
        {LEAT_COMPRESSION_ZSTD, 23, 1, false},   {LEAT_COMPRESSION_BROTLI, -1, 1, false},
        {LEAT_COMPRESSION_BROTLI, 12, 1, false}, {(leat_compression)9, 0, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_ar_writer *writer = (leat_ar_writer *)&cases;
        leat_error err = {0};
        const char *path = ar_path("refused");
        assert_int_equal(leat_ar_writer_create(&writer, path, &cases[i], false, &err),
                         LEAT_ERR_OPTION);
        assert_null(writer);
        assert_true(err.message[0] != 0);
        leat_path_list names = {0};
        assert_int_equal(leat_path_list_dir(ar_dir(), &names, NULL), LEAT_OK);
        assert_int_equal(names.count, 0);
        leat_path_list_free(&names);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions),     cmocka_unit_test(test_chunk_ends),
        cmocka_unit_test(test_block_headers), cmocka_unit_test(test_varints),
        cmocka_unit_test(test_options_text),  cmocka_unit_test(test_options_refused),
    };
    int failed = cmocka_run_group_tests_name("ArrayRecord layout", tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
