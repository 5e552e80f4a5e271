/* Image data sets on disk: entries, images.json, the header, and what is refused of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_support.h"
#include "format/safetensors/safetensors.h"
#include "image_set_support.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- entries -------------------------------------------------------------------------------- */

static char long_name[LEAT_IMAGE_NAME_BYTES + 1];

static void entries(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int32_t width, height;
        const char *message; /* NULL: accepted */
    } cases[] = {
        {"b", 1, 1, NULL},
        {"b", 1, 1, "\"b\": the name is given twice"},
        {"a", 1, 1, "\"a\": the name is not in the order"},
        {"b\x01", 65500, 65500, NULL},
        {"b/", 2, 3, NULL},
        {"b-", 2, 3, "not in the order"},
        {"", 1, 1, "a name of 0 bytes"},
        {"c\xff", 1, 1, "is not UTF-8"},
        {"c\xc3\xa4", 1, 1, NULL},
        {"d", 0, 1, "0 x 1 pixels"},
        {"d", 1, 0, "1 x 0 pixels"},
        {"d", 65501, 1, "65501 x 1 pixels"},
        {"d", 1, -1, "1 x -1 pixels"},
        {long_name + 1, 1, 1, NULL},
        {long_name, 1, 1, "a name of 4096 bytes"},
    };
    leat_image_set set = {.size = 8};
    int64_t count = 0;
    memset(long_name, 'x', sizeof long_name - 1);
    for (int i = 0; i < COUNT(cases); i++) {
        leat_error err = {0};
        const leat_image_entry entry = {cases[i].name, cases[i].width, cases[i].height,
                                        (uint64_t)i};
        leat_code code = leat_image_set_add(&set, &entry, &err);
        const char *message = cases[i].message;
        if ((code == LEAT_OK) != (message == NULL) ||
            (message != NULL && (code != LEAT_ERR_INPUT || strstr(err.message, message) == NULL)))
            fail_msg("case %d: code %d: %s", i, code, err.message);
        count += code == LEAT_OK;
        assert_int_equal(set.count, count);
    }
    const leat_image_entry second = leat_image_set_entry(&set, 1);
    assert_string_equal(second.name, "b\x01");
    assert_int_equal(second.width, 65500);
    assert_int_equal(second.decoded, 3);
    leat_image_set_free(&set);
}

/* ---- images.json ---------------------------------------------------------------------------- */

static const char good_text[] =
    "{\n"
    "  \"format\": \"leat.images\",\n"
    "  \"version\": 1,\n"
    "  \"count\": 2,\n"
    "  \"size\": 64,\n"
    "  \"fingerprint\": \"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\n"
    "  \"decoded_sha256\": \"e749311e64964dd3e6683e4dfc8ee5667d6de11d3d8cd74eac1f76209b9c20d5\",\n"
    "  \"rejected\": 3,\n"
    "  \"file_bytes\": 28672,\n"
    "  \"pages_xxh3\": \"0123456789abcdef\",\n"
    "  \"images\": [\n"
    "    [\"a \\\"b\\\".png\",640,480,\"00000000000000ff\"],\n"
    "    [\"\xc3\xa4/c.jpg\",1,65500,\"fedcba9876543210\"]\n"
    "  ]\n"
    "}";

static leat_code append(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    return leat_buf_append(context, bytes, size_bytes, err);
}

static void fill_small(leat_image_set *set) {
    const leat_image_entry entries[] = {{"a \"b\".png", 640, 480, 0xff},
                                        {"\xc3\xa4/c.jpg", 1, 65500, UINT64_C(0xfedcba9876543210)}};
    *set = (leat_image_set){.size = 64,
                            .rejected = 3,
                            .file_bytes = 4096 + 2 * 64 * 64 * 3,
                            .pages_hash = UINT64_C(0x0123456789abcdef)};
    for (int i = 0; i < 2; i++) assert_ok(leat_image_set_add(set, &entries[i], err));
    snprintf(set->fingerprint, 65, "%s", strstr(good_text, "0011223344"));
    set->fingerprint[64] = 0;
    leat_image_set_decoded_sha256(set, set->decoded_sha256);
}

static void document(void **state) {
    (void)state;
    leat_image_set set, again;
    leat_buf text = {0};
    fill_small(&set);
    assert_ok(leat_image_set_write(&set, append, &text, err));
    assert_ok(leat_buf_append(&text, "", 1, err));
    assert_string_equal((const char *)text.data, good_text);
    assert_ok(leat_image_set_parse(&again, (leat_json_span){(const char *)text.data, text.size - 1},
                                   "it", err));
    assert_int_equal(again.count, 2);
    assert_int_equal(again.size, 64);
    assert_int_equal(again.rejected, 3);
    assert_int_equal(again.file_bytes, set.file_bytes);
    assert_int_equal(again.pages_hash, set.pages_hash);
    assert_string_equal(again.fingerprint, set.fingerprint);
    assert_string_equal(again.decoded_sha256, set.decoded_sha256);
    for (int i = 0; i < 2; i++) {
        const leat_image_entry a = leat_image_set_entry(&set, i);
        const leat_image_entry b = leat_image_set_entry(&again, i);
        assert_string_equal(a.name, b.name);
        assert_true(a.width == b.width && a.height == b.height && a.decoded == b.decoded);
    }
    leat_image_set_free(&again);
    leat_image_set_free(&set);
    leat_buf_free(&text);
}

/* Members that older versions do not write, and those that are written only if they say something:
 * they come back. */
static void optional_members(void **state) {
    (void)state;
    leat_image_set set, again;
    leat_buf text = {0};
    fill_small(&set);
    set.texts = 7;
    snprintf(set.background, sizeof set.background, "#00ff0a");
    assert_ok(leat_image_set_sorted_sha256(&set, set.sorted_sha256, err));
    assert_ok(leat_image_set_write(&set, append, &text, err));
    assert_ok(leat_image_set_parse(&again, (leat_json_span){(const char *)text.data, text.size},
                                   "it", err));
    assert_int_equal(again.texts, 7);
    assert_string_equal(again.background, "#00ff0a");
    assert_string_equal(again.sorted_sha256, set.sorted_sha256);
    leat_image_set_free(&again);
    leat_image_set_free(&set);
    leat_buf_free(&text);
}

/* A part of the good text replaced by another. */
static const struct {
    const char *from, *to, *message;
    leat_code code;
} hostile[] = {
    {"leat.images", "leat.can", "must be \"leat.images\"", LEAT_ERR_CORRUPT},
    {"\"version\": 1", "\"version\": 2", "version 2, but", LEAT_ERR_UNSUPPORTED},
    {"\"version\": 1", "\"version\": 0", "\"version\" is 0", LEAT_ERR_CORRUPT},
    {"\"count\": 2", "\"count\": 1", "lists 2 images, but \"count\" is 1", LEAT_ERR_CORRUPT},
    {"\"count\": 2", "\"count\": 0", "\"count\" is 0", LEAT_ERR_CORRUPT},
    {"\"count\": 2", "\"count\": 2147483648", "\"count\" is 2147483648", LEAT_ERR_CORRUPT},
    {"\"size\": 64", "\"size\": 7", "\"size\" is 7", LEAT_ERR_CORRUPT},
    {"\"size\": 64", "\"size\": 1025", "\"size\" is 1025", LEAT_ERR_CORRUPT},
    {"\"size\": 64", "\"size\": 32", "a file of 28672 bytes for 2 images", LEAT_ERR_CORRUPT},
    {"28672", "28673", "it must have 28672", LEAT_ERR_CORRUPT},
    {"28672", "0", "\"file_bytes\" is 0", LEAT_ERR_CORRUPT},
    {"0011", "001", "\"fingerprint\" must be 64", LEAT_ERR_CORRUPT},
    {"0011", "001G", "\"fingerprint\" must be 64", LEAT_ERR_CORRUPT},
    {"0011", "001A", "\"fingerprint\" must be 64", LEAT_ERR_CORRUPT},
    {"\"decoded_sha256\": \"", "\"decoded_sha256\": \"0", "\"decoded_sha256\" must be 64",
     LEAT_ERR_CORRUPT},
    {"00000000000000ff", "00000000000000fe", "decoded_sha256 is not the SHA-256", LEAT_ERR_CORRUPT},
    {"\"rejected\": 3", "\"rejected\": -1", "\"rejected\" is -1", LEAT_ERR_CORRUPT},
    {"\"rejected\": 3", "\"rejected\": 3.0", "\"rejected\" must be an integer", LEAT_ERR_CORRUPT},
    {"\"rejected\": 3,", "\"rejected\": 3,\"background\": \"red\",", "must be #rrggbb",
     LEAT_ERR_CORRUPT},
    {"\"rejected\": 3,", "\"rejected\": 3,\"background\": \"#00FF00\",", "must be #rrggbb",
     LEAT_ERR_CORRUPT},
    {"\"rejected\": 3,", "\"rejected\": 3,\"texts\": -1,", "\"texts\" is -1", LEAT_ERR_CORRUPT},
    {"\"rejected\": 3,", "\"rejected\": 3,\"sorted_sha256\": \"00\",",
     "\"sorted_sha256\" must be 64", LEAT_ERR_CORRUPT},
    {"0123456789abcdef", "0123456789abcde", "pages_xxh3", LEAT_ERR_CORRUPT},
    {"0123456789abcdef", "0123456789ABCDEF", "pages_xxh3", LEAT_ERR_CORRUPT},
    {"0123456789abcdef", "00123456789abcdef", "pages_xxh3", LEAT_ERR_CORRUPT},
    {"\"images\"", "\"image\"", "\"images\" is missing", LEAT_ERR_CORRUPT},
    {"\"images\": [", "\"images\": {", "not a JSON array", LEAT_ERR_CORRUPT},
    {"640,480", "640,480,1", "image 0 must be [name", LEAT_ERR_CORRUPT},
    {"640,480,", "640,", "image 0 must be [name", LEAT_ERR_CORRUPT},
    {"640,480", "640,\"480\"", "image 0 must be [name", LEAT_ERR_CORRUPT},
    {"640,480", "0,480", "image 0 must be [name", LEAT_ERR_CORRUPT},
    {"640,480", "65501,480", "image 0 must be [name", LEAT_ERR_CORRUPT},
    {"640,480", "640,4294967297", "image 0 must be [name", LEAT_ERR_CORRUPT},
    {"fedcba9876543210", "fedcba987654321", "image 1 must be [name", LEAT_ERR_CORRUPT},
    {"fedcba9876543210", "+edcba9876543210", "image 1 must be [name", LEAT_ERR_CORRUPT},
    {"\"\xc3\xa4/c.jpg\"", "null", "image 1 must be [name", LEAT_ERR_CORRUPT},
    {"\xc3\xa4/c.jpg", "a \\\"b\\\".png", "the name is given twice", LEAT_ERR_CORRUPT},
    {"\xc3\xa4/c.jpg", "A", "not in the order", LEAT_ERR_CORRUPT},
    {"\xc3\xa4/c.jpg", "", "a name of 0 bytes", LEAT_ERR_CORRUPT},
    {"\xc3\xa4/c.jpg", "b\\u0000c", "NUL", LEAT_ERR_CORRUPT},
    {"\xc3\xa4/c.jpg", "\xc3", "not valid JSON", LEAT_ERR_CORRUPT},
    {"\"rejected\": 3,", "\"rejected\": 3,\"rejected\": 3,", "duplicate key", LEAT_ERR_CORRUPT},
    {"  ]\n}", "  ]\n", "ends too early", LEAT_ERR_CORRUPT},
    {"  ]\n}", "  ]\n}}", "text after the end", LEAT_ERR_CORRUPT},
    {"\"rejected\": 3,", "", "\"rejected\" is missing", LEAT_ERR_CORRUPT},
};

static void refused(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(hostile); i++) {
        char text[2 * sizeof good_text];
        leat_image_set set;
        leat_error err = {0};
        const char *at = strstr(good_text, hostile[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good_text), good_text, hostile[i].to,
                 at + strlen(hostile[i].from));
        leat_code code =
            leat_image_set_parse(&set, (leat_json_span){text, (int64_t)strlen(text)}, "it", &err);
        if (code != hostile[i].code || strstr(err.message, hostile[i].message) == NULL)
            fail_msg("case %d (%s): code %d: %s", i, hostile[i].to, code, err.message);
        assert_null(set.entries);
        assert_null(set.names.data);
    }
}

static void no_images(leat_image_set *set) { set->count = 0; }
static void wrong_size(leat_image_set *set) { set->size = 4; }
static void wrong_bytes(leat_image_set *set) { set->file_bytes++; }
static void wrong_digits(leat_image_set *set) { set->fingerprint[0] = 'x'; }
static void wrong_decoded(leat_image_set *set) { set->entries[0].decoded++; }
static void wrong_rejected(leat_image_set *set) { set->rejected = -1; }

/* The writer refuses whatever the reader would. */
static void refused_to_write(void **state) {
    (void)state;
    static void (*const spoil[])(leat_image_set * set) = {
        no_images, wrong_size, wrong_bytes, wrong_digits, wrong_decoded, wrong_rejected};
    for (int i = 0; i < COUNT(spoil); i++) {
        leat_image_set set;
        leat_buf text = {0};
        fill_small(&set);
        spoil[i](&set);
        if (leat_image_set_write(&set, append, &text, NULL) != LEAT_ERR_INPUT) fail_msg("%d", i);
        assert_int_equal(text.size, 0);
        leat_image_set_free(&set);
    }
}

/* ---- the header ----------------------------------------------------------------------------- */

static void headers(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        int32_t size;
    } cases[] = {{1, 8}, {12, 64}, {202599, 64}, {INT32_MAX, 1024}};
    for (int i = 0; i < COUNT(cases); i++) {
        uint8_t header[LEAT_IMAGES_HEADER_BYTES];
        leat_safetensors *read = NULL;
        const leat_tensor *images = NULL;
        int64_t count = cases[i].count;
        int32_t size = cases[i].size;
        const int64_t shape[] = {count, size, size, 3};
        assert_ok(leat_image_set_header(count, size, header, err));
        assert_ok(leat_safetensors_parse(&read, header, sizeof header,
                                         leat_image_place(size, count), "it", err));
        assert_int_equal(leat_safetensors_count(read), 1);
        assert_ok(leat_safetensors_find(read, "images", LEAT_DTYPE_U8, 4, shape, &images, err));
        assert_int_equal(images->offset, LEAT_IMAGES_HEADER_BYTES);
        assert_string_equal(leat_safetensors_metadata(read, "format"), "leat.images");
        leat_safetensors_destroy(read);
    }
}

/* ---- loaded --------------------------------------------------------------------------------- */

/* Any byte of images.json and .complete that changes is found, and either of them cut or gone. */
static void damage(void **state) {
    (void)state;
    static const char *const names[] = {LEAT_IMAGES_NAME, LEAT_COMPLETE_NAME};
    leat_image_set set;
    char dir[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    snprintf(dir, sizeof dir, "%s", ar_path("damage"));
    assert_ok(image_set_make(dir, 3, 8, 1, err));
    for (int i = 0; i < COUNT(names); i++) {
        assert_ok(leat_path_join(path, sizeof path, dir, names[i], err));
        ar_image image = ar_load(path);
        for (int64_t at = 0; at < image.size_bytes; at++) {
            image.data[at] ^= (uint8_t)(1 << at % 8);
            ar_save(path, image.data, image.size_bytes);
            assert_int_equal(leat_image_set_load(&set, dir, NULL), LEAT_ERR_CORRUPT);
            assert_null(set.entries);
            image.data[at] ^= (uint8_t)(1 << at % 8);
            ar_save(path, image.data, at);
            assert_int_equal(leat_image_set_load(&set, dir, NULL), LEAT_ERR_CORRUPT);
        }
        image.data[image.size_bytes] = '\n'; /* ar_load leaves room for a byte */
        ar_save(path, image.data, image.size_bytes + 1);
        assert_int_equal(leat_image_set_load(&set, dir, NULL), LEAT_ERR_CORRUPT);
        assert_ok(leat_path_remove(path, err));
        assert_fails(leat_image_set_load(&set, dir, err),
                     i == 1 ? LEAT_ERR_NOT_FOUND : LEAT_ERR_CORRUPT,
                     i == 1 ? "is not a complete image data set: .complete is missing"
                            : "\" is missing; repeat the `leat ingest images` command with");
        ar_save(path, image.data, image.size_bytes);
        free(image.data);
    }
    assert_ok(leat_image_set_load(&set, dir, err));
    assert_int_equal(set.count, 3);
    leat_image_set_free(&set);
}

/* Sizes, and with `pages` any bit of the two other files. */
static void files(void **state) {
    (void)state;
    static const char *const names[] = {LEAT_IMAGES_TENSORS_NAME, LEAT_IMAGES_PAGES_NAME};
    leat_image_set set;
    char dir[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    snprintf(dir, sizeof dir, "%s", ar_path("files"));
    assert_ok(
        image_set_make(dir, 5, 40, 0, err)); /* 24,000 bytes: the last page is a part of one */
    assert_ok(leat_image_set_load(&set, dir, err));
    for (int i = 0; i < COUNT(names); i++) {
        assert_ok(leat_path_join(path, sizeof path, dir, names[i], err));
        ar_image image = ar_load(path);
        static const int threads[] = {1, 2, 3, 8};
        for (int k = 0; k < COUNT(threads); k++)
            assert_ok(leat_image_set_files_check(&set, dir, true, threads[k], NULL, err));
        for (int64_t at = 0; at < image.size_bytes; at += 997 - 990 * i) {
            image.data[at] ^= (uint8_t)(1 << at % 8);
            ar_save(path, image.data, image.size_bytes);
            assert_ok(leat_image_set_files_check(&set, dir, false, 1, NULL, err));
            assert_fails(leat_image_set_files_check(&set, dir, true, 2, NULL, err),
                         LEAT_ERR_CORRUPT, names[i]);
            image.data[at] ^= (uint8_t)(1 << at % 8);
        }
        image.data[image.size_bytes] = 0;
        for (int more = -1; more < 2; more += 2) {
            ar_save(path, image.data, image.size_bytes + more);
            assert_fails(leat_image_set_files_check(&set, dir, false, 1, NULL, err),
                         LEAT_ERR_CORRUPT, "but its metadata says");
        }
        assert_ok(leat_path_remove(path, err));
        assert_fails(leat_image_set_files_check(&set, dir, false, 1, NULL, err), LEAT_ERR_CORRUPT,
                     "is missing");
        ar_save(path, image.data, image.size_bytes);
        free(image.data);
    }
    leat_image_set_free(&set);
}

static void reasons(void **state) {
    (void)state;
    assert_string_equal(leat_image_reason_name(LEAT_IMAGE_NOT_AN_IMAGE), "not_an_image");
    assert_string_equal(leat_image_reason_name(LEAT_IMAGE_UNREADABLE), "unreadable");
    for (int i = 0; i < LEAT_IMAGE_REASONS; i++) assert_true(leat_image_reason_name(i)[0] != 0);
    assert_string_equal(leat_image_reason_name(-1), "");
    assert_string_equal(leat_image_reason_name(LEAT_IMAGE_REASONS), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries),          cmocka_unit_test(document),
        cmocka_unit_test(optional_members), cmocka_unit_test(refused),
        cmocka_unit_test(refused_to_write), cmocka_unit_test(headers),
        cmocka_unit_test(damage),           cmocka_unit_test(files),
        cmocka_unit_test(reasons),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
