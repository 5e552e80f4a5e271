/* safetensors headers: what is planned reads back, hostile ones are refused, golden files open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_support.h"
#include "base/rng.h"
#include "format/safetensors/safetensors.h"
#include "large_support.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* A file of the header and `data_bytes` more, in memory; free(data). */
static ar_image image_of(const char *header, int64_t header_bytes, int64_t data_bytes) {
    ar_image image = {NULL, 8 + header_bytes + data_bytes};
    uint64_t size = (uint64_t)header_bytes;
    image.data = calloc(1, (size_t)image.size_bytes);
    assert_non_null(image.data);
    memcpy(image.data, &size, 8);
    memcpy(image.data + 8, header, (size_t)header_bytes);
    return image;
}

static leat_code parse(const ar_image *image, leat_safetensors **out, leat_error *err) {
    return leat_safetensors_parse(out, image->data, image->size_bytes, image->size_bytes, "it",
                                  err);
}

static leat_tensor tensor_of(const char *name, leat_dtype dtype, int rank, const int64_t *shape) {
    leat_tensor tensor = {.dtype = dtype, .rank = rank};
    snprintf(tensor.name, sizeof tensor.name, "%s", name);
    for (int i = 0; i < rank; i++) tensor.shape[i] = shape[i];
    return tensor;
}

/* ---- planned and read ----------------------------------------------------------------------- */

static void exact_bytes(void **state) {
    (void)state;
    const int64_t shape[] = {2, 3};
    leat_tensor tensors[] = {tensor_of("edge\"s", LEAT_DTYPE_I64, 1, shape),
                             tensor_of("x", LEAT_DTYPE_F32, 2, shape),
                             tensor_of("none", LEAT_DTYPE_U8, 0, NULL)};
    const char *const metadata[] = {"format", "leat\n", "a", ""};
    static const char expected[] =
        "{\"__metadata__\":{\"format\":\"leat\\n\",\"a\":\"\"},"
        "\"edge\\\"s\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[0,16]},"
        "\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[16,40]},"
        "\"none\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[40,41]}}";
    leat_buf header = {0};
    int64_t file_bytes = 0;
    uint64_t stated = 0;
    assert_ok(leat_safetensors_plan(tensors, 3, metadata, 2, &header, &file_bytes, err));
    assert_int_equal(header.size, 256); /* 8 + 221, filled up */
    assert_int_equal(file_bytes, 256 + 41);
    memcpy(&stated, header.data, 8);
    assert_int_equal(stated, 248);
    assert_memory_equal(header.data + 8, expected, sizeof expected - 1);
    for (int64_t i = 8 + (int64_t)sizeof expected - 1; i < header.size; i++)
        assert_int_equal(header.data[i], ' ');
    assert_int_equal(tensors[1].offset, 256 + 16);
    assert_int_equal(tensors[1].size_bytes, 24);
    leat_buf_free(&header);
}

static uint64_t draws;
static int64_t draw(int64_t bound) {
    return (int64_t)leat_random_below(leat_random_at(11, draws++), (uint64_t)bound);
}

/* Tensors of any type and rank, wide types first; about every fifth is empty. */
static int64_t draw_tensors(leat_tensor *tensors, int64_t max) {
    int64_t count = draw(max + 1);
    int dtype = LEAT_DTYPE_COUNT - 1;
    for (int64_t i = 0; i < count; i++) {
        char name[64];
        int64_t shape[LEAT_TENSOR_RANK_MAX];
        while (dtype > 0 && draw(3) == 0) dtype--;
        for (int k = 0; k < LEAT_TENSOR_RANK_MAX; k++) shape[k] = draw(20) == 0 ? 0 : 1 + draw(4);
        snprintf(name, sizeof name, "%d/\xc3\xa4\"\\%lld", (int)draw(1000), (long long)i);
        tensors[i] = tensor_of(name, (leat_dtype)dtype, (int)draw(LEAT_TENSOR_RANK_MAX + 1), shape);
    }
    return count;
}

static void check_found(const leat_safetensors *read, const leat_tensor *planned) {
    const leat_tensor *found = NULL;
    assert_ok(leat_safetensors_find(read, planned->name, planned->dtype, planned->rank,
                                    planned->shape, &found, err));
    assert_string_equal(found->name, planned->name);
    assert_int_equal(found->offset, planned->offset);
    assert_int_equal(found->size_bytes, planned->size_bytes);
    assert_int_equal(found->offset % leat_dtype_bytes(found->dtype), 0);
}

static void round_trip(void **state) {
    (void)state;
    enum { TENSORS = 12 };
    for (int round = 0; round < 2000; round++) {
        leat_tensor tensors[TENSORS];
        leat_buf header = {0};
        leat_safetensors *read = NULL;
        int64_t count = draw_tensors(tensors, TENSORS), file_bytes = 0, end = 0;
        char value[64];
        snprintf(value, sizeof value, "\t%d\xe2\x82\xac", round);
        const char *const metadata[] = {"k\"ey", value, "", "of none"};
        assert_ok(
            leat_safetensors_plan(tensors, count, metadata, round % 3, &header, &file_bytes, err));
        assert_int_equal(header.size % 64, 0);
        assert_ok(leat_safetensors_parse(&read, header.data, header.size, file_bytes, "it", err));
        assert_int_equal(leat_safetensors_count(read), count);
        for (int64_t i = 0; i < count; i++) check_found(read, &tensors[i]);
        for (int64_t i = 0; i < count; i++) {
            const leat_tensor *tensor = leat_safetensors_at(read, i);
            assert_int_equal(tensor->offset, i == 0 ? header.size : end);
            end = tensor->offset + tensor->size_bytes;
        }
        if (count > 0) assert_int_equal(end, file_bytes);
        const char *text = leat_safetensors_metadata(read, "k\"ey");
        assert_true(round % 3 == 0 ? text == NULL : strcmp(text, value) == 0);
        assert_true((leat_safetensors_metadata(read, "") != NULL) == (round % 3 == 2));
        assert_null(leat_safetensors_metadata(read, "none"));
        leat_safetensors_destroy(read);
        leat_buf_free(&header);
    }
}

#define LONGER LONG LONG LONG LONG /* 256 bytes */
#define LONG "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
#define HUGE_OF(bytes) (INT64_MAX / (bytes) + 1)

/* Two tensors of one extent each, and pairs of metadata. */
static const struct {
    struct {
        const char *name;
        leat_dtype dtype;
        int64_t extent;
    } a, b;
    const char *metadata[4];
    int64_t metadata_count;
    leat_code code;
    const char *message;
} bad_plans[] = {
    {{"a", LEAT_DTYPE_U8, 3},
     {"b", LEAT_DTYPE_F16, 1},
     {NULL},
     0,
     LEAT_ERR_OPTION,
     "\"b\" (F16) begins at byte 3, which is not a multiple of 2"},
    {{"a", LEAT_DTYPE_F32, 3},
     {"b", LEAT_DTYPE_I64, 0},
     {NULL},
     0,
     LEAT_ERR_OPTION,
     "not a multiple of 8; put wide types first"},
    {{"a", LEAT_DTYPE_U8, 3},
     {"a", LEAT_DTYPE_U8, 1},
     {NULL},
     0,
     LEAT_ERR_OPTION,
     "tensor \"a\" is given twice"},
    {{"\xc3", LEAT_DTYPE_U8, 3}, {"b", LEAT_DTYPE_U8, 1}, {NULL}, 0, LEAT_ERR_OPTION, "not UTF-8"},
    {{"__metadata__", LEAT_DTYPE_U8, 3},
     {"b", LEAT_DTYPE_U8, 1},
     {NULL},
     0,
     LEAT_ERR_OPTION,
     "may not be \"__metadata__\""},
    {{"a", LEAT_DTYPE_I16, HUGE_OF(2)},
     {"b", LEAT_DTYPE_U8, 1},
     {NULL},
     0,
     LEAT_ERR_LIMIT,
     "\"a\" exceeds 2^63"},
    {{"a", LEAT_DTYPE_I64, HUGE_OF(16)},
     {"b", LEAT_DTYPE_I64, HUGE_OF(16)},
     {NULL},
     0,
     LEAT_ERR_LIMIT,
     "\"b\" exceeds 2^63"},
    {{"a", LEAT_DTYPE_U8, INT64_MAX},
     {"b", LEAT_DTYPE_U8, 0},
     {NULL},
     0,
     LEAT_ERR_LIMIT,
     "the file exceeds 2^63"},
    {{"a", LEAT_DTYPE_U8, -1}, {"b", LEAT_DTYPE_U8, 1}, {NULL}, 0, LEAT_ERR_LIMIT, "\"a\" exceeds"},
    {{"a", LEAT_DTYPE_U8, 3},
     {"b", LEAT_DTYPE_U8, 1},
     {"k", "v", "k", "w"},
     2,
     LEAT_ERR_OPTION,
     "metadata \"k\" is given twice"},
    {{"a", LEAT_DTYPE_U8, 3},
     {"b", LEAT_DTYPE_U8, 1},
     {"k", "\xff"},
     1,
     LEAT_ERR_OPTION,
     "not UTF-8"},
    {{"a", LEAT_DTYPE_U8, 3},
     {"b", LEAT_DTYPE_U8, 1},
     {LONGER, "v"},
     1,
     LEAT_ERR_OPTION,
     "has 256 bytes; the limit is 255"},
    {{"a", LEAT_DTYPE_U8, 3},
     {"b", LEAT_DTYPE_U8, 1},
     {NULL},
     65537,
     LEAT_ERR_LIMIT,
     "the limit is 65536"},
};

static void plan_refuses(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(bad_plans); i++) {
        leat_tensor tensors[2] = {
            tensor_of(bad_plans[i].a.name, bad_plans[i].a.dtype, 1, &bad_plans[i].a.extent),
            tensor_of(bad_plans[i].b.name, bad_plans[i].b.dtype, 1, &bad_plans[i].b.extent)};
        leat_buf header = {0};
        leat_error err = {0};
        int64_t file_bytes = -1;
        leat_code code =
            leat_safetensors_plan(tensors, 2, bad_plans[i].metadata, bad_plans[i].metadata_count,
                                  &header, &file_bytes, &err);
        if (code != bad_plans[i].code || strstr(err.message, bad_plans[i].message) == NULL)
            fail_msg("case %d: code %d: %s", i, code, err.message);
        assert_null(header.data);
        assert_int_equal(file_bytes, 0);
        assert_int_equal(tensors[1].offset, 0);
    }
}

/* ---- hostile headers ------------------------------------------------------------------------ */

#define ONE(dtype, shape, offsets)                                                                 \
    "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define F32(begin, end) "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" begin "," end "]}"
#define EMPTY(at) "{\"dtype\":\"F32\",\"shape\":[5,0],\"data_offsets\":[" at "," at "]}"

/* tests/oracle compares with what the owner's reader refuses. */
static const struct {
    const char *header;
    int64_t data_bytes;
    leat_code code;
    const char *message; /* a piece of it */
} cases[] = {
    {"{}", 0, LEAT_OK, ""},
    {"{}  \n\t", 0, LEAT_OK, ""},
    {" {}", 0, LEAT_OK, ""},
    {ONE("\"F32\"", "[1]", "[0,4]"), 4, LEAT_OK, ""},
    {ONE("\"F32\"", "[]", "[0,4]"), 4, LEAT_OK, ""},
    {ONE("\"F32\"", "[0]", "[0,0]"), 0, LEAT_OK, ""},
    {ONE("\"F32\"", "[0,4611686018427387904,4]", "[0,0]"), 0, LEAT_OK, ""},
    {ONE("\"U8\"", "[1,1,1,1,1,1,1,2]", "[0,2]"), 2, LEAT_OK, ""},
    {"{\"b\":" F32("4", "8") ",\"a\":" F32("0", "4") "}", 8, LEAT_OK, ""},
    {"{\"b\":" F32("0", "4") ",\"a\":" EMPTY("0") ",\"c\":" EMPTY("4") "}", 4, LEAT_OK, ""},
    {"{\"\":" F32("0", "4") "}", 4, LEAT_OK, ""},
    {"{\"a\":{\"dtype\":\"U8\",\"more\":[{}],\"shape\":[1],\"data_offsets\":[0,1]}}", 1, LEAT_OK,
     ""},
    {"{\"__metadata__\":{}}", 0, LEAT_OK, ""},
    {"{\"__metadata__\":null}", 0, LEAT_OK, ""},
    {"", 0, LEAT_ERR_CORRUPT, "not a JSON object"},
    {"[]", 0, LEAT_ERR_CORRUPT, "not a JSON object"},
    {"null", 0, LEAT_ERR_CORRUPT, "not a JSON object"},
    {"{", 0, LEAT_ERR_CORRUPT, "ends too early"},
    {"{}x", 0, LEAT_ERR_CORRUPT, "text after the end"},
    {"{\"a\":1}", 0, LEAT_ERR_CORRUPT, "\"a\": member \"dtype\" is missing"},
    {"{\"a\":[\"F32\",[1],[0,4]]}", 4, LEAT_ERR_CORRUPT, "\"dtype\" is missing"},
    {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, LEAT_ERR_CORRUPT, "\"dtype\" is missing"},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, LEAT_ERR_CORRUPT, "\"shape\" is mis"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, LEAT_ERR_CORRUPT, "\"data_offsets\" is mis"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     LEAT_ERR_CORRUPT, "duplicate"},
    {ONE("7", "[1]", "[0,4]"), 4, LEAT_ERR_CORRUPT, "\"dtype\" must be a string"},
    {ONE("\"f32\"", "[1]", "[0,4]"), 4, LEAT_ERR_UNSUPPORTED, "type \"f32\""},
    {ONE("\"F8_E4M3\"", "[1]", "[0,1]"), 1, LEAT_ERR_UNSUPPORTED, "type \"F8_E4M3\""},
    {ONE("\"F32\"", "1", "[0,4]"), 4, LEAT_ERR_CORRUPT, "\"shape\" must be an array"},
    {ONE("\"F32\"", "[-1]", "[0,4]"), 4, LEAT_ERR_CORRUPT, "number 0 of \"shape\""},
    {ONE("\"F32\"", "[1.0]", "[0,4]"), 4, LEAT_ERR_CORRUPT, "number 0 of \"shape\""},
    {ONE("\"F32\"", "[1,\"1\"]", "[0,4]"), 4, LEAT_ERR_CORRUPT, "number 1 of \"shape\""},
    {ONE("\"F32\"", "[18446744073709551617]", "[0,4]"), 4, LEAT_ERR_CORRUPT, "not valid JSON"},
    {ONE("\"U8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, LEAT_ERR_LIMIT, "9 numbers; the limit is 8"},
    {ONE("\"F32\"", "[4611686018427387904,4,0]", "[0,0]"), 0, LEAT_ERR_CORRUPT, "exceeds 2^63"},
    {ONE("\"F32\"", "[4611686018427387904]", "[0,0]"), 0, LEAT_ERR_CORRUPT, "exceeds 2^63"},
    {ONE("\"F32\"", "[2]", "[0,4]"), 4, LEAT_ERR_CORRUPT, "4 bytes by its offsets, but 8 by type"},
    {ONE("\"F32\"", "[1]", "[0]"), 4, LEAT_ERR_CORRUPT, "\"data_offsets\" are 0 and 0"},
    {ONE("\"F32\"", "[1]", "[0,4,4]"), 4, LEAT_ERR_LIMIT, "3 numbers; the limit is 2"},
    {ONE("\"F32\"", "[1]", "[-4,0]"), 4, LEAT_ERR_CORRUPT, "number 0 of \"data_offsets\""},
    {ONE("\"F32\"", "[0]", "[4,0]"), 4, LEAT_ERR_CORRUPT, "\"data_offsets\" are 4 and 0"},
    {ONE("\"F32\"", "[1]", "[0,4]"), 3, LEAT_ERR_CORRUPT, "within the 3 bytes after the header"},
    {ONE("\"F32\"", "[1]", "[0,4]"), 5, LEAT_ERR_CORRUPT, "end at byte 66, but the file has 67"},
    {ONE("\"F32\"", "[1]", "[4,8]"), 8, LEAT_ERR_CORRUPT,
     "\"a\" begins at byte 66; it must begin at 62"},
    {"{}", 1, LEAT_ERR_CORRUPT, "end at byte 10, but the file has 11"},
    {"{\"a\":" F32("0", "4") ",\"b\":" F32("0", "4") "}", 4, LEAT_ERR_CORRUPT, "\"b\" begins at"},
    {"{\"a\":" F32("0", "4") ",\"b\":" F32("8", "12") "}", 12, LEAT_ERR_CORRUPT, "\"b\" begins at"},
    {"{\"a\":" EMPTY("2") ",\"b\":" F32("0", "4") "}", 4, LEAT_ERR_CORRUPT, "\"a\" begins at"},
    {"{\"a\":" F32("0", "4") ",\"a\":" F32("4", "8") "}", 8, LEAT_ERR_CORRUPT,
     "\"a\" appears twice"},
    {"{\"a\":" EMPTY("0") ",\"\\u0061\":" EMPTY("0") "}", 0, LEAT_ERR_CORRUPT, "appears twice"},
    {"{\"\\u0000\":" EMPTY("0") "}", 0, LEAT_ERR_CORRUPT, "not valid JSON"},
    {"{\"\xff\":" EMPTY("0") "}", 0, LEAT_ERR_CORRUPT, "not valid JSON"},
    {"{\"__metadata__\":[]}", 0, LEAT_ERR_CORRUPT, "__metadata__ is not a JSON object"},
    {"{\"__metadata__\":{\"a\":1}}", 0, LEAT_ERR_CORRUPT, "\"a\" is not a string"},
    {"{\"__metadata__\":{\"a\":null}}", 0, LEAT_ERR_CORRUPT, "\"a\" is not a string"},
    {"{\"__metadata__\":{\"a\":\"\\ud800\"}}", 0, LEAT_ERR_CORRUPT, "not valid JSON"},
    {"{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0, LEAT_ERR_CORRUPT, "\"a\" appears twice"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, LEAT_ERR_CORRUPT,
     "__metadata__ appears twice"},
    {"{\"__metadata__\":null,\"__metadata__\":{}}", 0, LEAT_ERR_CORRUPT, "appears twice"},
};

static void hostile(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        ar_image image =
            image_of(cases[i].header, (int64_t)strlen(cases[i].header), cases[i].data_bytes);
        leat_safetensors *read = (leat_safetensors *)1;
        leat_error err = {0};
        leat_code code = parse(&image, &read, &err);
        if (code != cases[i].code || strstr(err.message, cases[i].message) == NULL)
            fail_msg("case %d, %s: code %d: %s", i, cases[i].header, code, err.message);
        if (code != LEAT_OK) {
            assert_null(read);
            assert_non_null(strstr(err.message, "\"it\""));
        }
        leat_safetensors_destroy(read);
        free(image.data);
    }
}

/* The eight bytes in front. */
static void prefixes(void **state) {
    (void)state;
    static const struct {
        uint64_t stated;
        int64_t given, file_bytes;
        leat_code code;
    } table[] = {
        {2, 10, 10, LEAT_OK},
        {2, 0, 0, LEAT_ERR_CORRUPT},
        {2, 7, 7, LEAT_ERR_CORRUPT},
        {2, 7, 10, LEAT_ERR_CORRUPT},
        {2, 8, 10, LEAT_ERR_INPUT},
        {2, 9, 10, LEAT_ERR_INPUT},
        {2, 9, 9, LEAT_ERR_CORRUPT},
        {3, 10, 10, LEAT_ERR_CORRUPT},
        {UINT64_MAX, 10, 10, LEAT_ERR_CORRUPT},
        {UINT64_C(1) << 63, 10, 10, LEAT_ERR_CORRUPT},
        {LEAT_SAFETENSORS_HEADER_MAX + 1, 10, INT64_C(1) << 40, LEAT_ERR_LIMIT},
        {LEAT_SAFETENSORS_HEADER_MAX, 10, INT64_C(1) << 40, LEAT_ERR_INPUT},
    };
    for (int i = 0; i < COUNT(table); i++) {
        char bytes[10];
        leat_safetensors *read = NULL;
        leat_error err = {0};
        memcpy(bytes, "........{}", sizeof bytes);
        memcpy(bytes, &table[i].stated, 8);
        leat_code code =
            leat_safetensors_parse(&read, bytes, table[i].given, table[i].file_bytes, "it", &err);
        if (code != table[i].code) fail_msg("case %d: code %d: %s", i, code, err.message);
        leat_safetensors_destroy(read);
    }
}

/* Headers as large as they may be; what that takes is in fault/test_memory.c. */
static void maxima(void **state) {
    (void)state;
    large_headers_refused();
}

static void most_tensors(void **state) {
    (void)state;
    leat_tensor *tensors = calloc(LEAT_SAFETENSORS_TENSORS_MAX + 1, sizeof *tensors);
    const int64_t none[] = {0};
    leat_buf header = {0};
    leat_safetensors *read = NULL;
    int64_t file_bytes = 0, count = LEAT_SAFETENSORS_TENSORS_MAX;
    assert_non_null(tensors);
    for (int64_t i = 0; i <= count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%lld", (long long)(i * 7919 % 1000003));
        tensors[i] = tensor_of(name, LEAT_DTYPE_F32, 1, none);
    }
    assert_ok(leat_safetensors_plan(tensors, count, NULL, 0, &header, &file_bytes, err));
    assert_ok(leat_safetensors_parse(&read, header.data, header.size, file_bytes, "it", err));
    check_found(read, &tensors[0]);
    check_found(read, &tensors[count - 1]);
    leat_safetensors_destroy(read);
    leat_buf_free(&header);
    assert_int_equal(leat_safetensors_plan(tensors, count + 1, NULL, 0, &header, &file_bytes, NULL),
                     LEAT_ERR_LIMIT);
    for (int64_t i = 0; i < count; i++) memset(tensors[i].name, 'n', 240);
    for (int64_t i = 0; i < count; i++) snprintf(tensors[i].name + 240, 16, "%lld", (long long)i);
    assert_int_equal(leat_safetensors_plan(tensors, count, NULL, 0, &header, &file_bytes, NULL),
                     LEAT_ERR_LIMIT); /* a header of 20 MB */
    assert_null(header.data);
    free(tensors);
}

/* ---- looking, files ------------------------------------------------------------------------- */

static void finding(void **state) {
    (void)state;
    static const char header[] =
        "{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},\"y\":" EMPTY("24") "}";
    ar_image image = image_of(header, (int64_t)sizeof header - 1, 24);
    const int64_t exact[] = {2, 3}, any[] = {-1, 3}, other[] = {-1, 4};
    const struct {
        const char *name;
        leat_dtype dtype;
        int rank;
        const int64_t *shape;
        leat_code code;
        const char *message;
    } table[] = {
        {"x", LEAT_DTYPE_F32, 2, exact, LEAT_OK, NULL},
        {"x", LEAT_DTYPE_F32, 2, any, LEAT_OK, NULL},
        {"x", LEAT_DTYPE_F32, 2, NULL, LEAT_OK, NULL},
        {"x", LEAT_DTYPE_F32, 2, other, LEAT_ERR_INPUT,
         "\"it\": tensor \"x\" is F32 [2, 3]; it must be F32 [any, 4]"},
        {"x", LEAT_DTYPE_F32, 1, NULL, LEAT_ERR_INPUT,
         "\"it\": tensor \"x\" is F32 [2, 3]; it must be F32 [any]"},
        {"x", LEAT_DTYPE_I64, 2, exact, LEAT_ERR_INPUT,
         "\"it\": tensor \"x\" is F32 [2, 3]; it must be I64 [2, 3]"},
        {"w", LEAT_DTYPE_F32, 2, exact, LEAT_ERR_NOT_FOUND, "\"it\" has no tensor \"w\""},
        {"z", LEAT_DTYPE_F32, 2, exact, LEAT_ERR_NOT_FOUND, "\"it\" has no tensor \"z\""},
    };
    leat_safetensors *read = NULL;
    assert_ok(parse(&image, &read, err));
    for (int i = 0; i < COUNT(table); i++) {
        const leat_tensor *found = (const leat_tensor *)1;
        leat_error err = {0};
        leat_code code = leat_safetensors_find(read, table[i].name, table[i].dtype, table[i].rank,
                                               table[i].shape, &found, &err);
        assert_int_equal(code, table[i].code);
        assert_true((found != NULL) == (code == LEAT_OK));
        if (code != LEAT_OK) assert_string_equal(err.message, table[i].message);
    }
    leat_safetensors_destroy(read);
    free(image.data);
}

/* A file that is cut or grows is refused, wherever. */
static void files(void **state) {
    (void)state;
    const char *header = "{\"__metadata__\":{\"k\":\"v\"},\"x\":" F32("0", "4") "}";
    ar_image image = image_of(header, (int64_t)strlen(header), 5);
    for (int64_t size = 0; size <= image.size_bytes; size++) {
        leat_safetensors *read = NULL;
        const char *path = ar_path("some.safetensors");
        ar_save(path, image.data, size);
        leat_code code = leat_safetensors_read(&read, path, NULL);
        assert_int_equal(code, size == image.size_bytes - 1 ? LEAT_OK : LEAT_ERR_CORRUPT);
        if (code == LEAT_OK) assert_string_equal(leat_safetensors_metadata(read, "k"), "v");
        leat_safetensors_destroy(read);
    }
    leat_safetensors *read = (leat_safetensors *)1;
    assert_int_equal(leat_safetensors_read(&read, ar_path("none"), NULL), LEAT_ERR_NOT_FOUND);
    assert_null(read);
    free(image.data);
}

/* Every file of the graphs of graphids, as its owner's library wrote it. */
static void golden(void **state) {
    (void)state;
    leat_path_list names = {0};
    int opened = 0, known = 0;
    assert_ok(leat_path_list_dir(golden_path("golden/can"), &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        char name[LEAT_PATH_BYTES];
        leat_safetensors *read = NULL;
        char *end = strstr(names.paths[i], ".safetensors");
        if (end == NULL) continue;
        end[strlen(".safetensors")] = 0; /* without .gz */
        snprintf(name, sizeof name, "golden/can/%s", names.paths[i]);
        assert_ok(leat_safetensors_read(&read, golden_path(name), err));
        assert_true(leat_safetensors_count(read) > 0);
        if (strcmp(names.paths[i], "features_ref.safetensors") == 0) {
            known++;
            const int64_t shape[] = {-1, 35};
            const leat_tensor *x = NULL;
            assert_ok(leat_safetensors_find(read, "x", LEAT_DTYPE_F32, 2, shape, &x, err));
            assert_non_null(leat_safetensors_metadata(read, "about"));
        }
        leat_safetensors_destroy(read);
        opened++;
    }
    leat_path_list_free(&names);
    assert_int_equal(known, 1);
    assert_true(opened >= 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_bytes),  cmocka_unit_test(round_trip),
        cmocka_unit_test(plan_refuses), cmocka_unit_test(hostile),
        cmocka_unit_test(prefixes),     cmocka_unit_test(maxima),
        cmocka_unit_test(most_tensors), cmocka_unit_test(finding),
        cmocka_unit_test(files),        cmocka_unit_test(golden),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
