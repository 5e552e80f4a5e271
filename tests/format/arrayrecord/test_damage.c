/*
 * Damaged files: what is wrong is refused or does not matter, a wrong record is never given as
 * right, and verify reports every flipped bit.
 */
#include "ar_support.h"

#include <jansson.h>

static void free_image(ar_image *image) {
    free(image->data);
    *image = (ar_image){0};
}

static ar_image copy_image(const ar_image *image, int64_t size_bytes) {
    ar_image copy = {malloc((size_t)size_bytes + 1), size_bytes};
    assert_non_null(copy.data);
    memcpy(copy.data, image->data,
           (size_t)(size_bytes < image->size_bytes ? size_bytes : image->size_bytes));
    return copy;
}

static void count_findings(const leat_ar_finding *finding, int64_t *count) {
    assert_true(finding->message[0] != 0);
    assert_int_not_equal(finding->code, LEAT_OK);
    (*count)++;
}
static bool on_finding(void *user, const leat_ar_finding *finding) {
    count_findings(finding, user);
    return true;
}

/* What became of the records: bit i of *bad if record i is refused. -1: not opened. A record that
 * is given must be right. */
static int outcome(const ar_image *image, const ar_rec *records, int count) {
    leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    leat_error err = {0};
    leat_code code =
        leat_ar_reader_open_memory(&reader, image->data, image->size_bytes, NULL, &err);
    if (code != LEAT_OK) {
        assert_null(reader);
        assert_int_equal(err.code, code);
        assert_true(code == LEAT_ERR_CORRUPT || code == LEAT_ERR_UNSUPPORTED);
        return -1;
    }
    int bad = 0;
    assert_int_equal(leat_ar_reader_record_count(reader), count);
    for (int i = 0; i < count; i++) {
        code = leat_ar_reader_read(reader, i, &record, &err);
        if (code != LEAT_OK) {
            assert_null(record.data);
            assert_int_equal(record.size_bytes, 0);
            assert_true(code == LEAT_ERR_CORRUPT || code == LEAT_ERR_UNSUPPORTED);
            bad |= 1 << i;
            continue;
        }
        assert_int_equal(record.size_bytes, records[i].size_bytes);
        if (record.size_bytes > 0) {
            assert_memory_equal(record.data, records[i].data, (size_t)record.size_bytes);
        }
    }
    leat_ar_record_free(&record);
    leat_ar_reader_close(reader);
    return bad;
}

/* ---- the golden list ---- */

#define BASE_RECORDS 5
static void base_records(ar_rec *records) {
    static const int64_t sizes[BASE_RECORDS] = {100, 70000, 0, 1000, 300};
    for (int i = 0; i < BASE_RECORDS; i++) records[i] = (ar_rec){ar_pattern(sizes[i]), sizes[i]};
}
static void free_records(ar_rec *records, int count) {
    for (int i = 0; i < count; i++) free((void *)(uintptr_t)records[i].data);
}

static void apply(ar_image *image, const json_t *op) {
    const char *kind = json_string_value(json_array_get(op, 0));
    int64_t first = json_integer_value(json_array_get(op, 1));
    int64_t second = json_integer_value(json_array_get(op, 2));
    if (strcmp(kind, "truncate") == 0) {
        image->size_bytes = first;
    } else if (strcmp(kind, "flip") == 0) {
        image->data[first] ^= (uint8_t)(1 << second);
    } else if (strcmp(kind, "zero") == 0) {
        memset(image->data + first, 0, (size_t)second);
    } else {
        assert_string_equal(kind, "append");
        const char *hex = json_string_value(json_array_get(op, 1));
        int64_t more = (int64_t)strlen(hex) / 2;
        ar_image longer = copy_image(image, image->size_bytes + more);
        for (int64_t i = 0; i < more; i++) {
            unsigned byte = 0;
            assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
            longer.data[image->size_bytes + i] = (uint8_t)byte;
        }
        free_image(image);
        *image = longer;
    }
}

/* "refuse_record 0,1" as bits. */
static int expected_outcome(const char *text) {
    if (strcmp(text, "refuse_open") == 0) return -1;
    if (strcmp(text, "ignored") == 0) return 0;
    int bad = 0;
    assert_int_equal(strncmp(text, "refuse_record ", 14), 0);
    for (const char *at = text + 14; *at != 0; at++) {
        if (*at != ',') bad |= 1 << (*at - '0');
    }
    return bad;
}

static void test_listed_damage(void **state) {
    (void)state;
    json_t *root = golden_json("golden/latency/rows/damage.json");
    const json_t *variants = json_object_get(root, "variants");
    assert_int_equal(json_array_size(variants), 98);
    ar_rec records[BASE_RECORDS];
    base_records(records);
    for (size_t i = 0; i < json_array_size(variants); i++) {
        const json_t *variant = json_array_get(variants, i);
        const char *name = json_string_value(json_object_get(variant, "name"));
        char base[100];
        snprintf(base, sizeof base, "golden/latency/rows/%s",
                 json_string_value(json_object_get(variant, "base")));
        ar_image image = ar_load(golden_path(base));
        apply(&image, json_object_get(variant, "op"));
        int expected = expected_outcome(json_string_value(json_object_get(variant, "expect")));
        int found = outcome(&image, records, BASE_RECORDS);
        if (found != expected) fail_msg("%s: %d, expected %d", name, found, expected);
        int64_t findings = 0;
        leat_ar_check check;
        leat_error err = {0};
        ar_save(ar_path("damaged"), image.data, image.size_bytes);
        leat_code code =
            leat_ar_verify(ar_path("damaged"), NULL, on_finding, &findings, &check, &err);
        if (code == LEAT_OK || findings == 0) fail_msg("%s: verify finds nothing", name);
        assert_int_equal(findings, check.findings);
        assert_int_equal(err.code, code);
        free_image(&image);
    }
    free_records(records, BASE_RECORDS);
    json_decref(root);
}

/* ---- every bit, every length ---- */

/* A file's bytes that are not the inside of its two padding chunks, whose bits are all alike: of
 * those only some are flipped. */
static bool interesting(const ar_image *image, int64_t at) {
    int64_t near = 24;
    if (at % 65536 < 70 || at % 65536 > 65536 - 48) return true;
    if (at % 4999 == 0) return true;
    for (int64_t i = -near; i <= near; i++) {
        if (at + i >= 0 && at + i < image->size_bytes && image->data[at + i] != 0) return true;
    }
    return false;
}

static void flip_all(const leat_ar_options *options, const ar_rec *records, int count,
                     int64_t stride) {
    ar_image image = ar_write(options, records, count);
    ar_check_records(&image, records, count);
    for (int64_t at = 0; at < image.size_bytes; at++) {
        if (!interesting(&image, at) || (at % stride != 0 && at % 65536 > 600)) continue;
        for (int bit = 0; bit < 8; bit++) {
            image.data[at] ^= (uint8_t)(1 << bit);
            (void)outcome(&image, records, count);
            if (ar_findings(&image) == 0) {
                fail_msg("bit %d of byte %lld: verify finds nothing", bit, (long long)at);
            }
            image.data[at] ^= (uint8_t)(1 << bit);
        }
    }
    free_image(&image);
}

static void test_every_bit(void **state) {
    (void)state;
    static const struct {
        leat_compression compression;
        int32_t group_size;
    } cases[] = {{LEAT_COMPRESSION_NONE, 1},
                 {LEAT_COMPRESSION_NONE, 2},
                 {LEAT_COMPRESSION_ZSTD, 2},
                 {LEAT_COMPRESSION_BROTLI, 1},
                 {LEAT_COMPRESSION_SNAPPY, 3}};
    uint8_t noise[300];
    ar_noise(noise, 300, 3);
    ar_rec records[4] = {{noise, 5}, {noise, 0}, {noise, 40}, {noise + 3, 130}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_ar_options options = leat_ar_options_default();
        options.compression = cases[i].compression;
        options.group_size = cases[i].group_size;
        flip_all(&options, records, 4, 1);
    }
}

/* A record over a block header, and chunk padding. */
static void test_bits_around_blocks(void **state) {
    (void)state;
    uint8_t *pattern = ar_pattern(66000);
    ar_rec records[3] = {{pattern, 65400}, {"tail", 4}, {pattern, 100}};
    leat_ar_options options = leat_ar_options_default();
    flip_all(&options, records, 3, 499);
    free(pattern);
}

static const uint8_t *image_get(void *context, int64_t offset, int64_t size_bytes, uint8_t *scratch,
                                leat_error *err) {
    (void)scratch, (void)err;
    const ar_image *image = context;
    assert_true(offset >= 0 && size_bytes >= 0 && offset + size_bytes <= image->size_bytes);
    return image->data + offset;
}

/* A chunk whose header a block header cuts, looked at in place: each bit of both is checked. */
static void test_cut_header_in_place(void **state) {
    (void)state;
    uint8_t *pattern = ar_pattern(65400);
    ar_rec records[2] = {{pattern, 65400}, {"tail", 4}};
    leat_ar_options options = leat_ar_options_default();
    ar_image image = ar_write(&options, records, 2);
    leat_ar_bytes bytes = {image_get, &image, image.size_bytes};
    leat_ar_chunk chunk;
    assert_ok(leat_ar_chunk_read(&bytes, 65509, image.size_bytes, &chunk, err));
    assert_int_equal(chunk.end, 65580);
    assert_int_equal(leat_ar_chunk_read(&bytes, 65509, 65579, &chunk, NULL), LEAT_ERR_CORRUPT);
    for (int64_t at = 65509; at < 65509 + 64; at++) {
        for (int bit = 0; bit < 8; bit++) {
            image.data[at] ^= (uint8_t)(1 << bit);
            assert_int_equal(leat_ar_chunk_read(&bytes, 65509, image.size_bytes, &chunk, NULL),
                             LEAT_ERR_CORRUPT);
            image.data[at] ^= (uint8_t)(1 << bit);
        }
    }
    static const int64_t nowhere[] = {INT64_MIN, -65536, -1, 1, 65537, 65560, INT64_MAX};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        assert_int_equal(leat_ar_chunk_read(&bytes, nowhere[i], image.size_bytes, &chunk, NULL),
                         LEAT_ERR_CORRUPT);
    }
    free_image(&image);
    free(pattern);
}

static void test_every_length(void **state) {
    (void)state;
    ar_rec records[3] = {{"alpha", 5}, {"", 0}, {"gamma!", 6}};
    leat_ar_options options = leat_ar_options_default();
    ar_image image = ar_write(&options, records, 3);
    for (int64_t size = 0; size < image.size_bytes; size++) {
        ar_image cut = {image.data, size};
        assert_int_equal(outcome(&cut, records, 3), -1);
        if (size % 1024 < 2 || size < 400) assert_true(ar_findings(&cut) > 0);
    }
    static const int64_t longer[] = {1, 40, 65535, 65536, 131072};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        ar_image more = copy_image(&image, image.size_bytes + longer[i]);
        memset(more.data + image.size_bytes, 0, (size_t)longer[i]);
        assert_int_equal(outcome(&more, records, 3), -1);
        assert_true(ar_findings(&more) > 0);
        free_image(&more);
    }
    free_image(&image);
}

static bool stop_at_once(void *user, const leat_ar_finding *finding) {
    count_findings(finding, user);
    return false;
}

static void test_verify_can_be_stopped(void **state) {
    (void)state;
    ar_rec records[2] = {{"alpha", 5}, {"b", 1}};
    leat_ar_options options = leat_ar_options_default();
    ar_image image = ar_write(&options, records, 2);
    image.data[64] ^= 1;
    image.data[0] ^= 1;
    int64_t findings = 0;
    leat_ar_check check;
    assert_int_equal(leat_ar_verify_memory(image.data, image.size_bytes, NULL, stop_at_once,
                                           &findings, &check, NULL),
                     LEAT_ERR_CANCELLED);
    assert_int_equal(findings, 1);
    assert_int_equal(ar_findings(&image), 2);
    free_image(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed_damage),       cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_bits_around_blocks),  cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_cut_header_in_place), cmocka_unit_test(test_verify_can_be_stopped),
    };
    int failed = cmocka_run_group_tests_name("ArrayRecord damage", tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
