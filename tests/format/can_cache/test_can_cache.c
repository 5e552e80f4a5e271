/* The cache of CAN graphs: names, tensors of a split, and the JSON beside them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ar_support.h"
#include "can_cache_support.h"
#include "large_support.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- names ---------------------------------------------------------------------------------- */

static void names(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool good;
    } splits[] = {
        {"train", true},          {"val", true},       {"test_01_DoS", true},
        {"test_a-b.c", true},     {"", false},         {"test", false},
        {"test_", false},         {"train_01", false}, {"test_/x", false},
        {"test_\xc3\xa4", false}, {"Train", false},    {"test_a b", false},
        {"../train", false},
    };
    for (int i = 0; i < COUNT(splits); i++) {
        if (leat_can_split_is_name(splits[i].name) != splits[i].good)
            fail_msg("%s", splits[i].name);
    }
    char longer[LEAT_CAN_NAME_BYTES + 1] = "test_";
    memset(longer + 5, 'x', sizeof longer - 6);
    longer[sizeof longer - 1] = 0;
    assert_false(leat_can_split_is_name(longer));
    assert_true(leat_can_split_is_name(memcpy(longer + 1, "test_", 5)));
    static const struct {
        const char *file;
        int32_t vehicle;
    } files[] = {
        {"DoS-3.csv.gz", 3},
        {"attack-free-12.log", 12},
        {"DoS-v40.csv", 0},
        {"DoS.csv", 0},
        {"-7", 7},
        {"a-", 0},
        {"12.csv", 0},
        {"", 0},
        {"a-1234567.csv", 0},
        {"a-999999.csv", 999999},
        {"a3.csv", 0},
        {"a-3b.csv", 0},
    };
    for (int i = 0; i < COUNT(files); i++)
        assert_int_equal(leat_can_vehicle(files[i].file), files[i].vehicle);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static leat_code read_shape(leat_tensor *tensors, int64_t count, leat_safetensors **out,
                            leat_error *err) {
    leat_buf header = {0};
    int64_t file_bytes = 0;
    *out = NULL;
    leat_code code = leat_safetensors_plan(tensors, count, NULL, 0, &header, &file_bytes, err);
    if (code == LEAT_OK)
        code = leat_safetensors_parse(out, header.data, header.size, file_bytes, "it", err);
    leat_buf_free(&header);
    return code;
}

static void tensors_of_both_stores(void **state) {
    (void)state;
    static const leat_can_shape shapes[] = {
        {3, 100, 294, 100, false}, {3, 100, 294, 100, true},   {0, 0, 0, 100, false},
        {0, 0, 0, 100, true},      {1, 1, 1, 3, false},        {1, 1, 1, 3, true},
        {7, 19, 35, 7, false},     {1000001, 33, 44, 5, true},
    };
    static const struct {
        leat_can_tensor which;
        int64_t shape[2]; /* of the first two of the table */
    } some[] = {{LEAT_CAN_NODE_PTR, {4, 0}},     {LEAT_CAN_WINDOW_START, {3, 0}},
                {LEAT_CAN_X, {100, 35}},         {LEAT_CAN_EDGE_ATTR, {294, 11}},
                {LEAT_CAN_EDGE_INDEX, {2, 294}}, {LEAT_CAN_NODE_ID, {100, 0}},
                {LEAT_CAN_CAPTURE, {3, 0}},      {LEAT_CAN_FRAME_BYTES, {300, 8}}};
    for (int i = 0; i < COUNT(shapes); i++) {
        leat_tensor tensors[LEAT_CAN_TENSORS];
        leat_safetensors *read = NULL;
        int64_t offsets[LEAT_CAN_TENSORS], at = 0;
        int64_t count = leat_can_tensors(&shapes[i], tensors);
        assert_int_equal(count, shapes[i].frames ? 11 : 12);
        assert_ok(read_shape(tensors, count, &read, err)); /* so the order is aligned */
        assert_ok(leat_can_tensors_check(read, &shapes[i], offsets, err));
        for (int t = 0; t < LEAT_CAN_TENSORS; t++) {
            bool stored = at < count &&
                          strcmp(tensors[at].name, leat_can_tensor_name((leat_can_tensor)t)) == 0;
            assert_int_equal(offsets[t], stored ? tensors[at].offset : -1);
            for (int k = 0; k < COUNT(some) && stored && i < 2; k++) {
                if ((int)some[k].which == t)
                    assert_memory_equal(tensors[at].shape, some[k].shape, sizeof some[k].shape);
            }
            at += stored;
        }
        assert_int_equal(at, count);
        leat_safetensors_destroy(read);
    }
}

/* As wide. */
static leat_dtype other_type(leat_dtype dtype) {
    int64_t bytes = leat_dtype_bytes(dtype);
    if (bytes == 8) return LEAT_DTYPE_U64;
    if (bytes == 2) return LEAT_DTYPE_U16;
    return dtype == LEAT_DTYPE_U32 ? LEAT_DTYPE_I32 : LEAT_DTYPE_U32;
}

/* Each tensor missing, of another type, another extent; one more; another number of graphs. */
static void other_tensors(void **state) {
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        for (int which = 0; which < 23; which++) {
            leat_can_shape shape = {3, 100, 294, 100, which >= 12};
            leat_tensor tensors[LEAT_CAN_TENSORS + 1];
            leat_safetensors *read = NULL;
            leat_error err = {0};
            int64_t offsets[LEAT_CAN_TENSORS], count = leat_can_tensors(&shape, tensors);
            leat_tensor *tensor = &tensors[which % 12];
            const char *part = tensor->name;
            if (kind == 0) snprintf(tensor->name, sizeof tensor->name, "other");
            if (kind == 1) tensor->dtype = other_type(tensor->dtype);
            if (kind == 2) tensor->shape[tensor->rank - 1]++;
            if (kind == 3) {
                tensors[count++] = (leat_tensor){.name = "other", .dtype = LEAT_DTYPE_U8};
                part = "tensors; it must have";
            }
            assert_ok(read_shape(tensors, count, &read, err));
            if (kind == 4) shape.graphs += which % 2 == 0 ? 1 : -1;
            leat_code code = leat_can_tensors_check(read, &shape, offsets, &err);
            if (code != LEAT_ERR_CORRUPT ||
                (kind > 0 && kind < 4 && strstr(err.message, part) == NULL))
                fail_msg("kind %d, tensor %d: code %d: %s", kind, which, code, err.message);
            for (int i = 0; i < LEAT_CAN_TENSORS; i++) assert_int_equal(offsets[i], -1);
            leat_safetensors_destroy(read);
        }
    }
}

/* A file of others that is right but for its places. */
static void unaligned(void **state) {
    (void)state;
    static const char header[] =
        "{\"node_ptr\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"edge_ptr\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[8,16]}}";
    char bytes[8 + sizeof header + 16] = {0};
    const leat_can_shape shape = {.window = 100};
    leat_safetensors *read = NULL;
    leat_error err = {0};
    uint64_t size = sizeof header - 1;
    int64_t offsets[LEAT_CAN_TENSORS];
    assert_true(size % 8 != 0);
    memcpy(bytes, &size, 8);
    memcpy(bytes + 8, header, sizeof header - 1);
    assert_ok(
        leat_safetensors_parse(&read, bytes, 8 + (int64_t)size, 24 + (int64_t)size, "it", err));
    assert_int_equal(leat_can_tensors_check(read, &shape, offsets, &err), LEAT_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "not aligned"));
    leat_safetensors_destroy(read);
}

/* ---- documents ------------------------------------------------------------------------------ */

/* tests/golden/can_cache holds the documents of can_meta_fill; LEAT_UPDATE=1 writes them anew. */
static ar_image load_golden(leat_can_document which, const leat_buf *text) {
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, LEAT_SOURCE_DIR "/tests/golden/can_cache/%s",
             leat_can_document_name(which));
    if (text != NULL && getenv("LEAT_UPDATE") != NULL) ar_save(path, text->data, text->size);
    return ar_load(path);
}

static leat_code parse_text(leat_can_meta *meta, leat_can_document which, const char *text,
                            leat_error *err) {
    leat_json_span span = {text, (int64_t)strlen(text)};
    return leat_can_document_parse(meta, which, span, true, "it", err);
}

/* What is written is what was, and reads back as what writes the same. */
static void documents(void **state) {
    (void)state;
    leat_can_meta meta, again = {0};
    assert_ok(can_meta_fill(&meta, err));
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++) {
        leat_buf text = {0}, second = {0};
        assert_ok(can_document_text(&meta, (leat_can_document)i, &text, err));
        ar_image golden = load_golden((leat_can_document)i, &text);
        assert_int_equal(text.size, golden.size_bytes);
        assert_memory_equal(text.data, golden.data, (size_t)text.size);
        free(golden.data);
        assert_ok(parse_text(&again, (leat_can_document)i, (const char *)text.data, err));
        assert_ok(can_document_text(&again, (leat_can_document)i, &second, err));
        assert_string_equal((const char *)text.data, (const char *)second.data);
        leat_buf_free(&text);
        leat_buf_free(&second);
    }
    assert_memory_equal(&meta.scaler, &again.scaler, sizeof meta.scaler);
    assert_int_equal(again.ids.count, 6);
    assert_int_equal(again.capture_count, 3);
    assert_int_equal(again.captures[2].vehicle, 0);
    assert_int_equal(again.captures[1].bus, 1);
    assert_int_equal(again.captures[1].recording, 2);
    assert_int_equal(again.captures[1].intervals[2].id, 5);
    assert_true(again.captures[1].intervals[0].mean_s == 0.0123);
    static const char *const order[] = {"train", "val", "test_01_DoS", "test_02"};
    for (int i = 0; i < 4; i++) assert_string_equal(again.splits[i].name, order[i]);
    assert_string_equal(leat_can_meta_get(&again, "bus"), "separate");
    assert_null(leat_can_meta_get(&again, "none"));
    assert_true(leat_can_meta_find_split(&again, "val") == &again.splits[1]);
    assert_null(leat_can_meta_find_split(&again, "test_03"));
    leat_can_meta_free(&meta);
    leat_can_meta_free(&again);
}

/* Each: the first occurrence of a text replaced by another; what remains must be refused. */
static const struct {
    leat_can_document which;
    const char *from, *to;
    leat_code code;
    const char *message;
} hostile_cases[] = {
    {LEAT_CAN_VOCAB, "7c26", "7c27", LEAT_ERR_CORRUPT, "\"digest\""},
    {LEAT_CAN_VOCAB, ": 2", ": 3", LEAT_ERR_CORRUPT, "integer of 2 to 2"},
    {LEAT_CAN_VOCAB, ": 2", ": \"2\"", LEAT_ERR_CORRUPT, "integer of 2 to 2"},
    {LEAT_CAN_VOCAB, "0C9", "0C0", LEAT_ERR_CORRUPT, "\"digest\""},
    {LEAT_CAN_VOCAB, "0C9", "0C90C90C90C90C90C90C90C9", LEAT_ERR_CORRUPT, "more than 23 bytes"},
    {LEAT_CAN_VOCAB, "\"unk_index\": 0", "\"unk_index\": 1", LEAT_ERR_CORRUPT, "\"unk_index\""},
    {LEAT_CAN_VOCAB, "entries", "entriez", LEAT_ERR_CORRUPT, "\"entries\" is missing"},
    {LEAT_CAN_VOCAB, "\"digest\"", "\"entries\": {}, \"digest\"", LEAT_ERR_CORRUPT, "duplicate"},
    {LEAT_CAN_SCALER, "\"z_benign\"", "5", LEAT_ERR_CORRUPT, "\"strategy\""},
    {LEAT_CAN_SCALER, "z_benign", "z_benign_z_benign_z_benign_z_benign", LEAT_ERR_CORRUPT,
     "the limit is 31"},
    {LEAT_CAN_SCALER, "    1.0e-06,\n", "", LEAT_ERR_CORRUPT, "must be 11 numbers"},
    {LEAT_CAN_SCALER, "1.0e-06", "0", LEAT_ERR_CORRUPT, "column 0: center 0, scale 0"},
    {LEAT_CAN_SCALER, "1.0e-06", "-1", LEAT_ERR_CORRUPT, "the scale above 0"},
    {LEAT_CAN_SCALER, "1.0e-06", "1e-46", LEAT_ERR_CORRUPT, "scale 1e-46; as floats"},
    {LEAT_CAN_SCALER, "1.0e-06", "1e39", LEAT_ERR_CORRUPT, "scale 1e+39; as floats"},
    {LEAT_CAN_SCALER, "1.0e-06", "null", LEAT_ERR_CORRUPT, "must be 11 numbers"},
    {LEAT_CAN_SCALER, "x_scale", "x_scalf", LEAT_ERR_CORRUPT, "\"x_scale\" is missing"},
    {LEAT_CAN_METADATA, "leat.can", "leat.cat", LEAT_ERR_CORRUPT, "\"format\""},
    {LEAT_CAN_METADATA, "\"version\": 1", "\"version\": 2", LEAT_ERR_UNSUPPORTED, "newer leat"},
    {LEAT_CAN_METADATA, "\"version\": 1", "\"version\": 0", LEAT_ERR_CORRUPT, "\"version\""},
    {LEAT_CAN_METADATA, "schema_version\": 3", "schema_version\": 4", LEAT_ERR_CORRUPT,
     "must be 3"},
    {LEAT_CAN_METADATA, "0011", "0g11", LEAT_ERR_CORRUPT, "digest"},
    {LEAT_CAN_METADATA, "\"num_arb_ids\": 5", "\"num_arb_ids\": 6", LEAT_ERR_CORRUPT, "must be 5"},
    {LEAT_CAN_METADATA, "7c26", "7c27", LEAT_ERR_CORRUPT, "\"vocab_digest\""},
    {LEAT_CAN_METADATA, "\"features\"", "\"feature\"", LEAT_ERR_CORRUPT, "\"store\""},
    {LEAT_CAN_METADATA, "\"window_size\": 100", "\"window_size\": 2", LEAT_ERR_CORRUPT, "window"},
    {LEAT_CAN_METADATA, "\"window_size\": 100", "\"window_size\": 97", LEAT_ERR_CORRUPT,
     "numbers of edges"},
    {LEAT_CAN_METADATA, "\"window_size\": 100", "\"window_size\": 5000", LEAT_ERR_CORRUPT,
     "window"},
    {LEAT_CAN_METADATA, "\"stride\": 100", "\"stride\": 0", LEAT_ERR_CORRUPT, "\"stride\""},
    {LEAT_CAN_METADATA, "\"seed\": 42", "\"seed\": 43", LEAT_ERR_CORRUPT, "val_fraction_seed"},
    {LEAT_CAN_METADATA, "\"seed\": 42", "\"seed\": -42", LEAT_ERR_CORRUPT, "\"seed\""},
    {LEAT_CAN_METADATA, "\"val_fraction\": 0.2", "\"val_fraction\": 1", LEAT_ERR_CORRUPT,
     "val_fraction"},
    {LEAT_CAN_METADATA, "set_01",
     "set_01set_01set_01set_01set_01set_01set_01set_01set_01set_01set_01"
     "set_01set_01set_01set_01set_01set_01set_01set_01set_01set_01set_01",
     LEAT_ERR_CORRUPT, "the limit is 127"},
    {LEAT_CAN_METADATA, "\"window\": \"100\"", "\"window\": 100", LEAT_ERR_CORRUPT, "not a text"},
    {LEAT_CAN_METADATA, "\"window\": \"100\"", "\"window_window_window_window_window\": \"100\"",
     LEAT_ERR_CORRUPT, "more than 31"},
    {LEAT_CAN_METADATA, "\"18FEF100\"\n  ]", "18\n  ]", LEAT_ERR_CORRUPT, "not a text"},
    {LEAT_CAN_METADATA, "\"18FEF100\"\n  ]", "\"0C0\"\n  ]", LEAT_ERR_CORRUPT,
     "does not come after"},
    {LEAT_CAN_METADATA, "\"0C0\",\n", "\"7DF\",\n", LEAT_ERR_CORRUPT, "does not come after"},
    {LEAT_CAN_METADATA, "\"0C0\",\n", "\"0C1\",\n", LEAT_ERR_CORRUPT, "known and unknown"},
    {LEAT_CAN_METADATA, "\"unknown_ids\"", "\"unknown_idz\"", LEAT_ERR_CORRUPT, "is missing"},
    /* sums */
    {LEAT_CAN_METADATA, "\"num_graphs\": 33", "\"num_graphs\": 34", LEAT_ERR_CORRUPT, "must be 33"},
    {LEAT_CAN_METADATA, "\"bytes_on_disk\": 135196", "\"bytes_on_disk\": 135197", LEAT_ERR_CORRUPT,
     "must be 135196"},
    {LEAT_CAN_METADATA, "\"bytes_on_disk\": 45063", "\"bytes_on_disk\": 9223372036854775807",
     LEAT_ERR_CORRUPT, "reach 2^63"},
    {LEAT_CAN_METADATA, "\"num_dropped_windows\": 3", "\"num_dropped_windows\": -3",
     LEAT_ERR_CORRUPT, "num_dropped_windows"},
    /* splits */
    {LEAT_CAN_METADATA, "\"test_02\": {", "\"../test\": {", LEAT_ERR_CORRUPT, "not the name of a"},
    {LEAT_CAN_METADATA, "\"test_02\": {", "\"test_01_DoS\": {", LEAT_ERR_CORRUPT, "out of order"},
    {LEAT_CAN_METADATA, "\"val\": {", "\"train\": {", LEAT_ERR_CORRUPT, "\"num_raw_samples\""},
    {LEAT_CAN_METADATA, "\"train\": {", "\"test_\": {", LEAT_ERR_CORRUPT, "not the name of a"},
    {LEAT_CAN_METADATA, "\"train\": {", "\"test_9\": {", LEAT_ERR_CORRUPT, "must be"},
    {LEAT_CAN_METADATA, "\"benign\": 7", "\"benign\": 8", LEAT_ERR_CORRUPT, "more windows in"},
    {LEAT_CAN_METADATA, "\"benign\": 7", "\"benign\": 6", LEAT_ERR_CORRUPT, "fewer windows in"},
    {LEAT_CAN_METADATA, "\"benign\": 7", "\"benign\": -7", LEAT_ERR_CORRUPT, "\"benign\""},
    {LEAT_CAN_METADATA, "\"benign\": 7", "\"benign_benign_benign_benign_benign\": 7",
     LEAT_ERR_CORRUPT, "too long"},
    {LEAT_CAN_METADATA, "\"num_nodes\": 300", "\"num_nodes\": 199", LEAT_ERR_CORRUPT,
     "numbers of nodes"},
    {LEAT_CAN_METADATA, "\"num_edges\": 980", "\"num_edges\": 981", LEAT_ERR_CORRUPT,
     "numbers of edges"},
    {LEAT_CAN_METADATA, "\"recording\": 1", "\"recording\": 0", LEAT_ERR_CORRUPT, "\"recording\""},
    {LEAT_CAN_METADATA, "\"recording\": 1", "\"recording\": null", LEAT_OK, ""}, /* merged */
    {LEAT_CAN_METADATA, "\"recording\": 1", "\"older\": 1", LEAT_OK, ""},  /* of older caches */
    {LEAT_CAN_METADATA, "\"mean\": 30.0", "\"mean\": 3e+01", LEAT_OK, ""}, /* of older caches */
    {LEAT_CAN_METADATA, "\"mean\": 30.0", "\"mean\": -1", LEAT_ERR_CORRUPT, "numbers of nodes"},
    {LEAT_CAN_METADATA, "\"mean\": 30.0", "\"mean\": null", LEAT_ERR_CORRUPT, "must be a number"},
    {LEAT_CAN_METADATA, "\"min\": 20", "\"min\": 45", LEAT_ERR_CORRUPT, "numbers of nodes"},
    {LEAT_CAN_METADATA, "0123456789abcdef", "0123456789abcdeg", LEAT_ERR_CORRUPT, "16 hex digits"},
    {LEAT_CAN_METADATA, "0123456789abcdef", "0123456789abcde", LEAT_ERR_CORRUPT, "16 hex digits"},
    {LEAT_CAN_METADATA, "0123456789abcdef", "0123456789ABCDEF", LEAT_ERR_CORRUPT, "16 hex digits"},
    {LEAT_CAN_METADATA, "derived_from\": \"train", "derived_from\": \"val", LEAT_ERR_CORRUPT,
     "derived_from"},
    {LEAT_CAN_METADATA, "        \"test_02\",", "        2,", LEAT_ERR_CORRUPT, "source_dirs"},
    /* captures */
    {LEAT_CAN_METADATA, "\"bus\": 0", "\"bus\": 65536", LEAT_ERR_CORRUPT, "\"bus\""},
    {LEAT_CAN_METADATA, "\"tail\": 30", "\"tail\": 931", LEAT_ERR_CORRUPT, "without a window"},
    {LEAT_CAN_METADATA, "\"tail\": 30", "\"tail\": 9223372036854775807", LEAT_ERR_CORRUPT,
     "without a window"},
    {LEAT_CAN_METADATA, "\"frames\": 1030", "\"frames\": 1029", LEAT_ERR_CORRUPT,
     "more frames of identifiers"},
    {LEAT_CAN_METADATA, "\"frames\": 1030", "\"frames\": 9223372036854775807", LEAT_ERR_CORRUPT,
     "exceed 2^50"},
    {LEAT_CAN_METADATA, "\"rejected\": 2", "\"rejected\": 9223372036854775807", LEAT_ERR_CORRUPT,
     "exceed 2^50"},
    {LEAT_CAN_METADATA, "\"windows\": 9", "\"windows\": 1031", LEAT_ERR_CORRUPT,
     "more windows than frames"},
    {LEAT_CAN_METADATA, "\"first_s\": -0.5", "\"first_s\": 12.5", LEAT_ERR_CORRUPT, "last time"},
    {LEAT_CAN_METADATA, "\"split\": \"train\"", "\"split\": \"val\"", LEAT_ERR_CORRUPT,
     "of an impossible split"},
    {LEAT_CAN_METADATA, "\"split\": \"train\"", "\"split\": \"test_03\"", LEAT_ERR_CORRUPT,
     "of an impossible split"},
    {LEAT_CAN_METADATA, "\"vehicle\": 3", "\"vehicle\": 0", LEAT_ERR_CORRUPT, "\"vehicle\""},
    {LEAT_CAN_METADATA, "\"file\": \"DoS-3.csv.gz\"", "\"file\": 3", LEAT_ERR_CORRUPT, "\"file\""},
    {LEAT_CAN_METADATA, "\"0C1\": 1000", "\"0C2\": 1000", LEAT_ERR_CORRUPT, "id_frames names"},
    {LEAT_CAN_METADATA, "\"0C1\": 1000", "\"316\": 1000", LEAT_ERR_CORRUPT, "mean_interval does"},
    {LEAT_CAN_METADATA, "\"0C1\": 1000", "\"0C1\": 0", LEAT_ERR_CORRUPT, "integer of 1"},
    {LEAT_CAN_METADATA, "\"0C1\": 1000", "\"0C1\": 1", LEAT_ERR_CORRUPT, "mean_interval does"},
    {LEAT_CAN_METADATA, "\"0C1\": 1000", "\"0C1\": 9223372036854775807", LEAT_ERR_CORRUPT,
     "more frames of identifiers"},
    {LEAT_CAN_METADATA, "\"0C9\": 1,", "\"0C9\": 2,", LEAT_ERR_CORRUPT, "mean_interval does"},
    {LEAT_CAN_METADATA, "\"0C1\": 0.0123", "\"0C1\": -1", LEAT_ERR_CORRUPT, "an interval out of"},
    {LEAT_CAN_METADATA, "\"0C1\": 0.0123", "\"0C1\": \"1\"", LEAT_ERR_CORRUPT, "not a number"},
    {LEAT_CAN_METADATA, "\"0C1\": 0.0123,", "", LEAT_ERR_CORRUPT, "mean_interval does"},
    {LEAT_CAN_METADATA, "\"18FEF100\": 0.0\n", "\"18FEF100\": 0.0, \"18FEF100\": 0\n",
     LEAT_ERR_CORRUPT, "of its own"},
    {LEAT_CAN_METADATA, "\"id_frames\"", "\"id_framez\"", LEAT_ERR_CORRUPT, "\"id_frames\" is mis"},
    {LEAT_CAN_METADATA, "\"captures\": [", "\"captures\": [7, ", LEAT_ERR_CORRUPT,
     "not a JSON object"},
    {LEAT_CAN_METADATA, "\"captures\": [", "\"captures\": {}, \"c\": [", LEAT_ERR_CORRUPT,
     "not a JSON array"},
};

static void hostile(void **state) {
    (void)state;
    leat_can_meta good;
    leat_buf texts[LEAT_CAN_DOCUMENTS];
    int good_cases = 0;
    assert_ok(can_meta_fill(&good, err));
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++)
        assert_ok(can_document_text(&good, (leat_can_document)i, &texts[i], err));
    for (int i = 0; i < COUNT(hostile_cases); i++) {
        static char text[32768];
        leat_can_document which = hostile_cases[i].which;
        const char *from = hostile_cases[i].from, *all = (const char *)texts[which].data;
        const char *at = strstr(all, from);
        leat_can_meta meta = {0};
        leat_error err = {0};
        if (at == NULL) fail_msg("case %d: no %s", i, from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - all), all, hostile_cases[i].to,
                 at + strlen(from));
        if (which == LEAT_CAN_METADATA)
            assert_int_equal(parse_text(&meta, LEAT_CAN_VOCAB, (const char *)texts[0].data, NULL),
                             LEAT_OK);
        leat_code code = parse_text(&meta, which, text, &err);
        if (code != hostile_cases[i].code || strstr(err.message, hostile_cases[i].message) == NULL)
            print_error("%s -> %s: code %d: %s\n", from, hostile_cases[i].to, code, err.message);
        else good_cases++;
        if (code != LEAT_OK) assert_non_null(strstr(err.message, "it"));
        leat_can_meta_free(&meta);
    }
    assert_int_equal(good_cases, COUNT(hostile_cases));
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++) leat_buf_free(&texts[i]);
    leat_can_meta_free(&good);
}

/* ---- what is not written -------------------------------------------------------------------- */

static void ids_out_of_order(leat_can_meta *meta) { meta->ids.text[1][2] = '0'; }
static void id_with_blank(leat_can_meta *meta) { meta->ids.text[1][2] = ' '; }
static void id_empty(leat_can_meta *meta) { meta->ids.text[0][0] = 0; }
static void id_endless(leat_can_meta *meta) {
    memset(meta->ids.text[1], '1', LEAT_CAN_ID_TEXT_BYTES);
}
static void scale_none(leat_can_meta *meta) { meta->scaler.x_scale[34] = 0; }
static void center_nan(leat_can_meta *meta) {
    meta->scaler.edge_center[10] = (double)(0.0f / 0.0f);
}
static void center_large(leat_can_meta *meta) { meta->scaler.x_center[3] = -3.5e38; }
static void dataset_bytes(leat_can_meta *meta) { meta->dataset[0] = '\xff'; }
static void no_digest(leat_can_meta *meta) { meta->digest[63] = 0; }
static void no_train(leat_can_meta *meta) { meta->splits[0].name[0] = 'T'; }
static void tests_swapped(leat_can_meta *meta) { memcpy(meta->splits[3].name, "test_00", 8); }
static void val_with_samples(leat_can_meta *meta) { meta->splits[1].raw_samples = 1; }
static void file_large(leat_can_meta *meta) { meta->splits[0].file_bytes = (INT64_C(1) << 52) + 1; }
static void samples_many(leat_can_meta *meta) {
    meta->splits[0].raw_samples = (INT64_C(1) << 50) + 1;
}
static void dropped_many(leat_can_meta *meta) { meta->windows_dropped = (INT64_C(1) << 50) + 1; }
static void frames_many(leat_can_meta *meta) {
    meta->captures[1].frames = (INT64_C(1) << 50) - meta->captures[0].frames + 1;
}
/* Each byte of a name takes six in the document. */
static void dirs_many(leat_can_meta *meta) {
    char name[256];
    memset(name, '\1', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (int i = 0; i < 3000; i++)
        assert_ok(leat_path_list_add(&meta->splits[0].source_dirs, name, err));
}
static void balance_off(leat_can_meta *meta) { meta->splits[0].balance[1].windows--; }
static void attack_twice(leat_can_meta *meta) {
    memcpy(meta->splits[0].balance[0].attack, "benign", 7);
}
static void nodes_without_graphs(leat_can_meta *meta) { meta->splits[3].nodes = 1; }
static void interval_swapped(leat_can_meta *meta) {
    leat_can_interval *intervals = meta->captures[0].intervals, first = intervals[0];
    intervals[0] = intervals[1];
    intervals[1] = first;
}
static void interval_of_none(leat_can_meta *meta) { meta->captures[0].intervals[2].id = 6; }
static void interval_of_one(leat_can_meta *meta) { meta->captures[0].intervals[1].mean_s = 1; }
static void time_nan(leat_can_meta *meta) { meta->captures[0].last_s = (double)(0.0f / 0.0f); }
static void file_bytes(leat_can_meta *meta) { meta->captures[0].file[0] = '\x80'; }
static void setting_bytes(leat_can_meta *meta) { meta->settings[1].value[0] = '\x80'; }

static const struct {
    leat_can_document which;
    void (*spoil)(leat_can_meta *meta);
    const char *message;
} spoilt[] = {
    {LEAT_CAN_VOCAB, ids_out_of_order, "\"0C0\" does not come after \"0C1\""},
    {LEAT_CAN_VOCAB, id_with_blank, "identifier 1 is not 1 to 23"},
    {LEAT_CAN_VOCAB, id_empty, "identifier 0 is not 1 to 23"},
    {LEAT_CAN_VOCAB, id_endless, "identifier 1 is not 1 to 23"},
    {LEAT_CAN_SCALER, scale_none, "column 34"},
    {LEAT_CAN_SCALER, center_nan, "column 10"},
    {LEAT_CAN_SCALER, center_large, "column 3"},
    {LEAT_CAN_METADATA, dataset_bytes, "dataset: is not UTF-8"},
    {LEAT_CAN_METADATA, no_digest, "digest"},
    {LEAT_CAN_METADATA, no_train, "not the name of a split"},
    {LEAT_CAN_METADATA, tests_swapped, "out of order"},
    {LEAT_CAN_METADATA, val_with_samples, "samples out of range"},
    {LEAT_CAN_METADATA, file_large, "a file above 2^52 bytes"},
    {LEAT_CAN_METADATA, samples_many, "samples out of range"},
    {LEAT_CAN_METADATA, dropped_many, "dropped windows: out of range"},
    {LEAT_CAN_METADATA, frames_many, "capture 1: frames or lines of all captures exceed 2^50"},
    {LEAT_CAN_METADATA, dirs_many, "take more than 4 MiB"},
    {LEAT_CAN_METADATA, balance_off, "fewer windows"},
    {LEAT_CAN_METADATA, attack_twice, "an attack is listed twice"},
    {LEAT_CAN_METADATA, nodes_without_graphs, "numbers of nodes"},
    {LEAT_CAN_METADATA, interval_swapped, "identifiers out of order"},
    {LEAT_CAN_METADATA, interval_of_none, "an identifier is out of range"},
    {LEAT_CAN_METADATA, interval_of_one, "an interval out of range"},
    {LEAT_CAN_METADATA, time_nan, "its last time"},
    {LEAT_CAN_METADATA, file_bytes, "file's name is not UTF-8"},
    {LEAT_CAN_METADATA, setting_bytes, "bus: is not UTF-8"},
};

static void refused_to_write(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(spoilt); i++) {
        leat_can_meta meta;
        leat_buf text = {0};
        leat_error err = {0};
        assert_int_equal(can_meta_fill(&meta, NULL), LEAT_OK);
        spoilt[i].spoil(&meta);
        leat_code code = can_document_text(&meta, spoilt[i].which, &text, &err);
        if (code != LEAT_ERR_INPUT || strstr(err.message, spoilt[i].message) == NULL)
            fail_msg("case %d: code %d: %s", i, code, err.message);
        assert_non_null(strstr(err.message, leat_can_document_name(spoilt[i].which)));
        leat_can_meta_free(&meta);
    }
    leat_can_meta meta = {0};
    char name[LEAT_CAN_WORD_BYTES + 1];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(leat_can_meta_set(&meta, name, "", NULL), LEAT_ERR_OPTION);
    char value[LEAT_CAN_SETTING_BYTES + 1];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = 0;
    assert_int_equal(leat_can_meta_set(&meta, "x", value, NULL), LEAT_ERR_OPTION);
    for (int i = 0; i < LEAT_CAN_SETTINGS_MAX; i++) {
        snprintf(name, sizeof name, "s%d", i);
        assert_int_equal(leat_can_meta_set(&meta, name, "1", NULL), LEAT_OK);
    }
    assert_int_equal(leat_can_meta_set(&meta, "more", "1", NULL), LEAT_ERR_OPTION);
    assert_int_equal(leat_can_meta_set(&meta, "s7", "2", NULL), LEAT_OK);
    assert_string_equal(leat_can_meta_get(&meta, "s7"), "2");
}

/* ---- files ---------------------------------------------------------------------------------- */

static const char *const file_names[] = {"vocab.json", "scaler.json", "cache_metadata.json",
                                         ".complete"};

/* Any byte of the four files that changes is found, and any of them that is cut or gone. */
static void damage(void **state) {
    (void)state;
    leat_can_meta meta, again;
    char path[LEAT_PATH_BYTES];
    assert_ok(can_meta_fill(&meta, err));
    assert_ok(leat_can_meta_save(&meta, ar_dir(), err));
    assert_ok(leat_can_meta_load(&again, ar_dir(), true, err));
    assert_int_equal(again.captures[0].interval_count, 3);
    assert_string_equal(again.vocab_digest, meta.vocab_digest);
    leat_can_meta_free(&again);
    assert_ok(leat_can_meta_load(&again, ar_dir(), false, err));
    assert_int_equal(again.captures[0].interval_count, 0);
    leat_can_meta_free(&again);
    for (int i = 0; i < COUNT(file_names); i++) {
        assert_ok(leat_path_join(path, sizeof path, ar_dir(), file_names[i], err));
        ar_image image = ar_load(path);
        for (int64_t at = 0; at < image.size_bytes; at += i == 2 ? 13 : 1) {
            image.data[at] ^= (uint8_t)(1 << at % 8);
            ar_save(path, image.data, image.size_bytes);
            assert_int_equal(leat_can_meta_load(&again, ar_dir(), true, NULL), LEAT_ERR_CORRUPT);
            assert_null(again.splits);
            image.data[at] ^= (uint8_t)(1 << at % 8);
            ar_save(path, image.data, at);
            assert_int_equal(leat_can_meta_load(&again, ar_dir(), true, NULL), LEAT_ERR_CORRUPT);
        }
        image.data[image.size_bytes] = '\n'; /* ar_load leaves room for a byte */
        ar_save(path, image.data, image.size_bytes + 1);
        assert_int_equal(leat_can_meta_load(&again, ar_dir(), true, NULL), LEAT_ERR_CORRUPT);
        assert_ok(leat_path_remove(path, err));
        bool complete = strcmp(file_names[i], LEAT_CAN_COMPLETE_NAME) == 0;
        assert_fails(leat_can_meta_load(&again, ar_dir(), true, err),
                     complete ? LEAT_ERR_NOT_FOUND : LEAT_ERR_CORRUPT,
                     complete ? "is missing"
                              : "\" is missing; repeat the `leat ingest can` command of this cache "
                                "with --replace");
        ar_save(path, image.data, image.size_bytes);
        free(image.data);
    }
    assert_ok(leat_can_meta_load(&again, ar_dir(), true, err));
    leat_can_meta_free(&again);
    leat_can_meta_free(&meta);
}

/* What cannot be saved leaves nothing, not even what was there. */
static void not_saved(void **state) {
    (void)state;
    leat_can_meta meta;
    leat_path_list left = {0};
    char dir[LEAT_PATH_BYTES];
    assert_ok(can_meta_fill(&meta, err));
    assert_ok(leat_path_join(dir, sizeof dir, ar_dir(), "none", err));
    assert_int_equal(leat_can_meta_save(&meta, dir, NULL), LEAT_ERR_NOT_FOUND);
    assert_ok(leat_path_make_dir(dir, err));
    assert_ok(leat_can_meta_save(&meta, dir, err));
    meta.stride = 0;
    assert_int_equal(leat_can_meta_save(&meta, dir, NULL), LEAT_ERR_INPUT);
    assert_ok(leat_path_list_dir(dir, &left, err));
    assert_int_equal(left.count, 0);
    leat_path_list_free(&left);
    leat_can_meta_free(&meta);
}

/* Scaler and metadata name the same strategy: documents of two caches do not mix. */
static void mixed(void **state) {
    (void)state;
    leat_can_meta meta, again;
    leat_error err = {0};
    char complete[512] = "", path[LEAT_PATH_BYTES];
    assert_int_equal(can_meta_fill(&meta, NULL), LEAT_OK);
    assert_int_equal(leat_can_meta_save(&meta, ar_dir(), NULL), LEAT_OK);
    leat_buf text = {0};
    meta.scaler_strategy[0] = 'y';
    assert_int_equal(can_document_text(&meta, LEAT_CAN_SCALER, &text, NULL), LEAT_OK);
    snprintf(path, sizeof path, "%s/scaler.json", ar_dir());
    ar_save(path, text.data, text.size);
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++) {
        char hex[65];
        uint8_t digest[32];
        snprintf(path, sizeof path, "%s/%s", ar_dir(), file_names[i]);
        assert_int_equal(leat_file_sha256(path, digest, NULL), LEAT_OK);
        leat_sha256_hex(digest, hex);
        size_t at = strlen(complete);
        snprintf(complete + at, sizeof complete - at, "%s  %s\n", hex, file_names[i]);
    }
    snprintf(path, sizeof path, "%s/.complete", ar_dir());
    ar_save(path, (const uint8_t *)complete, (int64_t)strlen(complete));
    assert_int_equal(leat_can_meta_load(&again, ar_dir(), true, &err), LEAT_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "y_benign"));
    leat_buf_free(&text);
    leat_can_meta_free(&meta);
}

/* ---- the files of graphids ------------------------------------------------------------------ */

static char *load_reference(const char *name) {
    uint8_t *text = NULL;
    int64_t size = 0;
    assert_ok(leat_file_load(golden_path(name), 1 << 20, &text, &size, err));
    return (char *)text;
}

static void golden_vocab(void **state) {
    (void)state;
    char *text = load_reference("golden/can/cache/vocab.json");
    leat_can_meta meta = {0};
    leat_buf again = {0};
    assert_ok(parse_text(&meta, LEAT_CAN_VOCAB, text, err));
    assert_int_equal(meta.ids.known, 50);
    assert_ok(can_document_text(&meta, LEAT_CAN_VOCAB, &again, err));
    assert_string_equal(text, (const char *)again.data);
    leat_buf_free(&again);
    leat_can_meta_free(&meta);
    leat_free(text);
}

/* Members of `theirs` are in `ours` too, of the same type; numbers are of one. */
static void same_members(const json_t *theirs, const json_t *ours, const char *where) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)theirs, key, value) {
        const json_t *own = json_object_get(ours, key);
        if (own == NULL) fail_msg("%s has no %s", where, key);
        if (!(json_is_number(value) && json_is_number(own)) &&
            json_typeof(value) != json_typeof(own))
            fail_msg("%s: %s is of another type", where, key);
        if (json_is_object(value) && strcmp(key, "splits") != 0 &&
            strcmp(key, "attack_balance") != 0)
            same_members(value, own, key);
    }
}

static void golden_metadata(void **state) {
    (void)state;
    char *text = load_reference("golden/can/cache/cache_metadata.json");
    json_t *theirs = NULL, *ours = NULL;
    assert_ok(leat_json_parse(text, (int64_t)strlen(text), "theirs", &theirs, err));
    ar_image own = load_golden(LEAT_CAN_METADATA, NULL);
    assert_ok(leat_json_parse((const char *)own.data, own.size_bytes, "ours", &ours, err));
    free(own.data);
    same_members(theirs, ours, "cache_metadata.json");
    static const char *const splits[][2] = {
        {"train", "train"}, {"val", "val"}, {"test_test_02_fuzzing", "test_01_DoS"}};
    for (int i = 0; i < COUNT(splits); i++) {
        same_members(json_object_get(json_object_get(theirs, "splits"), splits[i][0]),
                     json_object_get(json_object_get(ours, "splits"), splits[i][1]), splits[i][0]);
    }
    json_decref(theirs);
    json_decref(ours);
    leat_free(text);
}

/* ---- many captures and identifiers ---------------------------------------------------------- */

/* What that takes is in fault/test_memory.c. */
static void many(void **state) {
    (void)state;
    leat_can_meta meta, again;
    int64_t written = 0;
    large_meta_fill(&meta);
    assert_ok(leat_can_document_write(&meta, LEAT_CAN_METADATA, large_count, &written, err));
    assert_true(written > INT64_C(10) << 20);
    assert_ok(leat_can_meta_save(&meta, ar_dir(), err));
    assert_ok(leat_can_meta_load(&again, ar_dir(), true, err));
    large_meta_check(&again);
    leat_can_meta_free(&meta);
    leat_can_meta_free(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(tensors_of_both_stores),
        cmocka_unit_test(other_tensors),
        cmocka_unit_test(unaligned),
        cmocka_unit_test(documents),
        cmocka_unit_test(hostile),
        cmocka_unit_test(refused_to_write),
        cmocka_unit_test(damage),
        cmocka_unit_test(not_saved),
        cmocka_unit_test(mixed),
        cmocka_unit_test(golden_vocab),
        cmocka_unit_test(golden_metadata),
        cmocka_unit_test(many),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ar_dir_remove();
    return failed;
}
