/*
 * Against files that Google's writer made: files known by their SHA-256, one of them byte by byte,
 * and golden files of every option, read and written again.
 */
#include "ar_support.h"

#include <jansson.h>

#include "base/hash.h"

static void check_sha256(const uint8_t *bytes, int64_t size_bytes, const char *expected) {
    leat_sha256 sha;
    uint8_t digest[32];
    char text[65];
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, bytes, size_bytes);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, text);
    assert_string_equal(text, expected);
}

static void free_image(ar_image *image) {
    free(image->data);
    *image = (ar_image){0};
}

#define VECTOR_RECORDS 300
typedef struct vector {
    const char *name;
    int32_t group_size;
    bool pad;
    int64_t count;
    int64_t sizes[4]; /* of patterns; -1: the text; count 300: sizes 0 to 299 */
    const char *texts[4];
    int64_t size_bytes;
    const char *sha256;
} vector;

static const vector vectors[] = {
    {"V1",
     1,
     false,
     3,
     {-1, -1, -1},
     {"alpha", "", "gamma!"},
     131072,
     "d66f26b0f7512b2228b9f03d7a16baaa7f146e00bced3d2573b203ac985fb290"},
    {"V2",
     2,
     true,
     3,
     {-1, -1, -1},
     {"alpha", "", "gamma!"},
     262144,
     "f9f6be84f82ba3deb0c7fa6529bc3cbb6b8caf4776930a06b859c629afd4dca5"},
    {"V3",
     1,
     false,
     2,
     {70000, -1},
     {"", "end"},
     196608,
     "811ac7e5d70cd6ec358c29d536f6f37ff4233212b8ac071ba3c1b7cf44dfe0d2"},
    {"V4",
     1,
     false,
     0,
     {0},
     {""},
     131072,
     "bb7d9c8ed25aa0ec5f40ee07e444096b2b58697cb675400fdadaedfab1ce2c40"},
    {"V5",
     1,
     false,
     2,
     {65400, -1},
     {"", "tail"},
     196608,
     "265f0f6ad1317b42c9f9eb0c1c6622a3963b6aee28f8f69379594636eb54588e"},
    {"V6",
     1,
     false,
     2,
     {8388608, 1000},
     {""},
     8519680,
     "d1e2df4fa38defa6f6e398375818ff2404cd18f8adaf22f9cc7739d90044e073"},
    {"V7",
     2,
     false,
     VECTOR_RECORDS,
     {0},
     {""},
     131072,
     "4c3dc499e78fca93c2ec95d5c68ec10e681748d82e2f6ccc85abf6e64637c7c1"},
};

static void test_files_by_digest(void **state) {
    (void)state;
    uint8_t *pattern = ar_pattern(8388608);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const vector *v = &vectors[i];
        ar_rec records[VECTOR_RECORDS];
        for (int64_t r = 0; r < v->count; r++) {
            bool text = v->count < VECTOR_RECORDS && v->sizes[r] < 0;
            records[r].data = text ? (const void *)v->texts[r] : pattern;
            records[r].size_bytes = text                         ? (int64_t)strlen(v->texts[r])
                                    : v->count == VECTOR_RECORDS ? r
                                                                 : v->sizes[r];
        }
        leat_ar_options options = leat_ar_options_default();
        options.group_size = v->group_size;
        options.pad_to_block_boundary = v->pad;
        ar_image image = ar_write(&options, records, v->count);
        assert_int_equal(image.size_bytes, v->size_bytes);
        check_sha256(image.data, image.size_bytes, v->sha256);
        ar_check_records(&image, records, v->count);
        free_image(&image);
    }
    free(pattern);
}

/* V1 up to the padding chunk after the footer, and its postscript block. */
static void test_first_file_byte_by_byte(void **state) {
    (void)state;
    static const char *const head =
        "83af70d10d884a3f00000000000000004000000000000000"
        "91bac23c9287e1a90000000000000000e19f13c0e9b1c37273000000000000000000000000000000"
        "e6f3414edf460dcc08000000000000001022975df910ad9f72010000000000000500000000000000"
        "000105616c706861"
        "d7857ecc80bf6e4203000000000000008d713339c2e4cfd172010000000000000000000000000000"
        "000100"
        "4549190901"
        "82c92e0900000000000000"
        "0ee0a5ba1b5619d072010000000000000600000000000000"
        "000106"
        "67616d6d6121";
    static const char *const tail = "bc812e208ad95aea00000000000000006c00000000000000350000";
    ar_rec records[3] = {{"alpha", 5}, {"", 0}, {"gamma!", 6}};
    leat_ar_options options = leat_ar_options_default();
    ar_image image = ar_write(&options, records, 3);
    for (size_t i = 0; i < strlen(head) / 2; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(head + 2 * i, "%2x", &byte), 1);
        assert_int_equal(image.data[i], byte);
    }
    for (size_t i = 0; i < 24; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(tail + 2 * i, "%2x", &byte), 1);
        assert_int_equal(image.data[65536 + i], byte);
    }
    static const char options_text[] =
        "group_size:1,transpose:false,pad_to_block_boundary:false,uncompressed,max_parallelism:1";
    assert_memory_equal(image.data + 0x104, options_text, sizeof options_text - 1);
    free_image(&image);
}

/* ---- golden files ---- */

static int64_t json_int(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

/* Options of a writer from the text that stands in the footer; false if leat does not write such.
 */
static bool options_from_text(const char *text, leat_ar_options *options) {
    static const struct {
        const char *text;
        leat_compression compression;
    } names[] = {{",uncompressed,", LEAT_COMPRESSION_NONE},
                 {",zstd:3,", LEAT_COMPRESSION_ZSTD},
                 {",brotli:6,", LEAT_COMPRESSION_BROTLI},
                 {",snappy,", LEAT_COMPRESSION_SNAPPY}};
    *options = leat_ar_options_default();
    if (strstr(text, "transpose:true") != NULL) return false;
    options->group_size = atoi(text + strlen("group_size:"));
    options->pad_to_block_boundary = strstr(text, "boundary:true") != NULL;
    for (size_t i = 0; i < 4; i++) {
        if (strstr(text, names[i].text) != NULL) options->compression = names[i].compression;
    }
    return true;
}

/* Reads every record; their digests must be the listed ones. Fills records with copies. */
static void read_golden(const ar_image *image, const json_t *entry, ar_rec *records) {
    leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    leat_sha256 all;
    leat_sha256_init(&all);
    assert_ok(leat_ar_reader_open_memory(&reader, image->data, image->size_bytes, NULL, err));
    int64_t count = json_int(entry, "num_records");
    assert_int_equal(leat_ar_reader_record_count(reader), count);
    assert_string_equal(leat_ar_reader_writer_options(reader),
                        json_string_value(json_object_get(entry, "writer_options")));
    const json_t *listed = json_object_get(entry, "records");
    for (int64_t i = 0; i < count; i++) {
        uint8_t length[8];
        assert_ok(leat_ar_reader_read(reader, i, &record, err));
        leat_ar_store64(length, (uint64_t)record.size_bytes);
        leat_sha256_update(&all, length, 8);
        leat_sha256_update(&all, record.data, record.size_bytes);
        const json_t *one = json_array_get(listed, (size_t)i);
        if (one != NULL) {
            assert_int_equal(record.size_bytes, json_integer_value(json_array_get(one, 0)));
            check_sha256(record.data, record.size_bytes, json_string_value(json_array_get(one, 1)));
        }
        void *copy = malloc((size_t)record.size_bytes + 1);
        assert_non_null(copy);
        memcpy(copy, record.data, (size_t)record.size_bytes);
        records[i] = (ar_rec){copy, record.size_bytes};
    }
    uint8_t digest[32];
    char text[65];
    leat_sha256_final(&all, digest);
    leat_sha256_hex(digest, text);
    assert_string_equal(text, json_string_value(json_object_get(entry, "all_records_sha256")));
    leat_ar_record_free(&record);
    leat_ar_reader_close(reader);
}

static void check_refused(const ar_image *image) {
    leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    leat_error err = {0};
    assert_ok(leat_ar_reader_open_memory(&reader, image->data, image->size_bytes, NULL, err));
    assert_int_equal(leat_ar_reader_read(reader, 0, &record, &err), LEAT_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "transpose:false"));
    leat_ar_record_free(&record);
    leat_ar_reader_close(reader);
}

static void test_golden_files(void **state) {
    (void)state;
    json_t *root = golden_json("golden/latency/rows/files.json");
    const char *name = NULL;
    json_t *entry = NULL;
    int identical = 0;
    json_object_foreach(json_object_get(root, "files"), name, entry) {
        leat_ar_options options;
        char path[100];
        snprintf(path, sizeof path, "golden/latency/rows/%s", name);
        ar_image image = ar_load(golden_path(path));
        const char *text = json_string_value(json_object_get(entry, "writer_options"));
        check_sha256(image.data, image.size_bytes,
                     json_string_value(json_object_get(entry, "file_sha256")));
        if (!options_from_text(text, &options)) {
            check_refused(&image);
            free_image(&image);
            continue;
        }
        int64_t count = json_int(entry, "num_records");
        ar_rec *records = calloc((size_t)count + 1, sizeof *records);
        assert_non_null(records);
        read_golden(&image, entry, records);
        assert_int_equal(ar_findings(&image), 0);
        ar_image again = ar_write(&options, records, count);
        bool same = again.size_bytes == image.size_bytes &&
                    memcmp(again.data, image.data, (size_t)image.size_bytes) == 0;
        if (options.compression == LEAT_COMPRESSION_NONE && !same) fail_msg("%s differs", name);
        if (same) identical++;
        ar_check_records(&again, records, count);
        for (int64_t i = 0; i < count; i++) free((void *)(uintptr_t)records[i].data);
        free(records);
        free_image(&again);
        free_image(&image);
    }
    printf("# %d files written again to the same bytes\n", identical);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_by_digest),
        cmocka_unit_test(test_first_file_byte_by_byte),
        cmocka_unit_test(test_golden_files),
    };
    int failed = cmocka_run_group_tests_name("ArrayRecord vectors", tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
