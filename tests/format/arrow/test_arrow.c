/*
 * Arrow streams against golden/latency/arrow: 255 streams with what they hold or why they
 * must be refused. Each is decoded as it is and, tables wrapped into a row, decoded as a row and
 * read a measurement at a time, from one piece of memory and from many.
 */
#include <jansson.h>
#if LEAT_HAVE_LZ4
#include <lz4frame.h>
#endif
#include <math.h>
#include <zstd.h>

#include "format/probe/read.h"
#include "probe_support.h"

#define GOLDEN "golden/latency/arrow"

/* One stream of the golden set. */
typedef struct golden {
    const char *name;
    const char *expect; /* rows, refuse, either */
    bool is_arrow;      /* refused because it is no valid stream */
    bool is_row;        /* an outer record */
    ar_image image;
    probe_case *cases; /* NULL where there is nothing to be read */
    int64_t count;
} golden;

static void load_rows(golden *g, json_t *rows) {
    g->count = (int64_t)json_array_size(rows);
    g->cases = calloc((size_t)g->count + 1, sizeof *g->cases);
    for (int64_t i = 0; i < g->count; i++) {
        json_t *row = json_array_get(rows, (size_t)i), *bits = json_array_get(row, 4);
        probe_case *to = &g->cases[i];
        to->time_us = json_integer_value(json_array_get(row, 0));
        to->src = json_string_value(json_array_get(row, 1));
        to->dst = json_string_value(json_array_get(row, 2));
        to->ip_version = (int)json_integer_value(json_array_get(row, 3));
        to->rtt = -1;
        if (!json_is_null(bits)) {
            uint32_t word = (uint32_t)json_integer_value(bits);
            memcpy(&to->rtt, &word, sizeof word);
        }
    }
}

static golden load_golden(json_t *files, const char *name, json_t *entry) {
    golden g = {.name = name};
    char path[256];
    snprintf(path, sizeof path, GOLDEN "/%s.arrows", name);
    g.image = ar_load(golden_path(path));
    assert_int_equal(g.image.size_bytes, json_integer_value(json_object_get(entry, "bytes")));
    g.expect = json_string_value(json_object_get(entry, "expect"));
    const char *level = json_string_value(json_object_get(entry, "level"));
    g.is_arrow = level && strcmp(level, "arrow") == 0;
    g.is_row = strncmp(name, "row_", 4) == 0;
    json_t *rows = json_object_get(entry, "rows");
    if (json_is_string(rows))
        rows = json_object_get(json_object_get(files, json_string_value(rows)), "rows");
    if (json_is_array(rows)) load_rows(&g, rows);
    return g;
}

static void free_golden(golden *g) {
    free(g->image.data);
    free(g->cases);
}

static leat_probe_read_options options_for(const golden *g) {
    leat_probe_read_options options = leat_probe_read_options_default();
    if (strcmp(g->name, "no_src_addr") == 0) options.src_addr = "192.0.2.17";
    options.verify = g->is_row;
    return options;
}

/* A result against what is expected; rows themselves were compared already. */
static void check_code(const golden *g, const char *how, leat_code code, bool may_refuse) {
    if (strcmp(g->expect, "refuse") == 0 && code == LEAT_OK)
        fail_msg("%s, %s: was not refused", g->name, how);
    if (strcmp(g->expect, "rows") == 0 && code != LEAT_OK && !may_refuse)
        fail_msg("%s, %s: refused (%s)", g->name, how, leat_code_text(code));
}

static void check_levels(const golden *g, leat_code code, const leat_error *err) {
    if (code == LEAT_OK) return;
    assert_int_equal(err->code, code);
    assert_true(err->message[0] != 0);
    /* what is valid Arrow is not called damaged; an overflow is valid bytes */
    if (strcmp(g->expect, "refuse") == 0 && !g->is_arrow && !strstr(g->name, "measurements_"))
        if (code != LEAT_ERR_INPUT) fail_msg("%s: %d %s", g->name, code, err->message);
}

static void check_decoded(const golden *g) {
    leat_probe_read_options options = options_for(g);
    leat_measurements out = {0};
    leat_error err = {0};
    leat_code code = g->is_row ? leat_probe_record_decode(g->image.data, g->image.size_bytes,
                                                          &options, &out, NULL, &err)
                               : leat_probe_table_decode(g->image.data, g->image.size_bytes,
                                                         &options, &out, &err);
    check_levels(g, code, &err);
    check_code(g, "decoded", code, false);
    if (code == LEAT_OK) probe_check_all(g->name, &out, g->cases, g->count);
    else assert_true(out.count == 0 && out.address_count == 0);
    leat_measurements_free(&out);
}

/* Rows hold no times before 1970 and no infinite rtt, although tables may. */
static bool row_may_refuse(const golden *g) {
    for (int64_t i = 0; i < g->count; i++)
        if (g->cases[i].time_us < 0 || isinf(g->cases[i].rtt)) return true;
    return false;
}

static void check_as_row(const golden *g) {
    leat_probe_read_options options = options_for(g);
    probe_wrap_facts facts = {0, g->cases ? g->count : 6, 1556136000000000, 1556139600000000};
    if (g->count > 0) {
        facts.first_us = g->cases[0].time_us;
        facts.last_us = g->cases[g->count - 1].time_us;
    }
    ar_image record = g->is_row
                          ? (ar_image){malloc((size_t)g->image.size_bytes + 1), g->image.size_bytes}
                          : probe_wrap(g->image.data, g->image.size_bytes, &facts);
    if (g->is_row) memcpy(record.data, g->image.data, (size_t)record.size_bytes);
    bool may_refuse = row_may_refuse(g);
    leat_measurements out = {0};
    probe_pieces pieces;
    leat_view views[2] = {leat_view_of(record.data, record.size_bytes),
                          probe_pieces_view(&pieces, record.data, record.size_bytes)};
    for (int v = 0; v < 2; v++) {
        leat_code code = leat_probe_row_decode(&views[v], &options, &out, NULL, NULL);
        check_code(g, "decoded as a row", code, may_refuse);
        if (may_refuse) assert_int_equal(code, LEAT_ERR_INPUT);
        if (code == LEAT_OK) probe_check_all(g->name, &out, g->cases, g->count);
        code = probe_read_singly(g->name, &views[v], &options, g->cases, g->count);
        check_code(g, "read singly", code, may_refuse);
        if (may_refuse) assert_int_equal(code, LEAT_ERR_INPUT);
    }
    leat_measurements_free(&out);
    free(record.data);
}

static void test_golden(void **state) {
    (void)state;
    json_t *all = golden_json(GOLDEN "/expected.json");
    json_t *files = json_object_get(all, "files"), *entry;
    const char *name;
    int count = 0;
    json_object_foreach(files, name, entry) {
        count++;
        if (!LEAT_HAVE_LZ4 && strstr(name, "lz4")) continue;
        golden g = load_golden(files, name, entry);
        check_decoded(&g);
        check_as_row(&g);
        free_golden(&g);
    }
    assert_int_equal(count, 255);
    json_decref(all);
}

/* What those of "either" are to be, so that a change of mind is seen. */
static void test_choices(void **state) {
    (void)state;
    static const struct {
        const char *name;
        leat_code code;
    } cases[] = {
        {"binary_addresses", LEAT_OK},
        {"dictionary_string_view", LEAT_OK},
        {"rtt_float16", LEAT_OK},
        {"rtt_inf", LEAT_OK},
        {"no_ip_version", LEAT_OK},
        {"ip_version_null", LEAT_OK},
        {"no_end_marker", LEAT_OK},
        {"bytes_after_end", LEAT_OK},
        {"bad_schema_only_no_end", LEAT_OK},
        {"bad_half_end_marker", LEAT_ERR_CORRUPT},
        {"bad_body_length_long", LEAT_OK},
        {"bad_null_count_no_bitmap", LEAT_ERR_CORRUPT},
        {"bad_null_count_huge", LEAT_ERR_CORRUPT},
        {"bad_null_count_negative", LEAT_ERR_CORRUPT},
        {"bad_overlap_same_dst_is_src", LEAT_OK},
        {"bad_overlap_rtt_is_time", LEAT_OK},
        {"bad_offsets_zero_length_rows", LEAT_OK},
        {"bad_rtt_int", LEAT_ERR_INPUT},
        {"bad_rtt_null_type", LEAT_OK},
        {"bad_time_int64", LEAT_ERR_INPUT},
        {"bad_dst_null", LEAT_OK},
        {"bad_src_null", LEAT_OK},
        {"bad_src_two", LEAT_OK},
        {"bad_order", LEAT_OK},
        {"extra_nested_60", LEAT_OK},
        {"bad_big_endian", LEAT_ERR_CORRUPT},
        {"bad_metadata_v3", LEAT_ERR_UNSUPPORTED},
        {"bad_codec_unknown", LEAT_ERR_UNSUPPORTED},
        {"bad_zstd_prefix_huge", LEAT_ERR_LIMIT},
        {"bad_empty", LEAT_ERR_CORRUPT},
        {"no_src_addr", LEAT_ERR_INPUT},
        {"time_s_overflow", LEAT_ERR_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        snprintf(path, sizeof path, GOLDEN "/%s.arrows", cases[i].name);
        ar_image image = ar_load(golden_path(path));
        leat_measurements out = {0};
        leat_error err = {0};
        leat_code code = leat_probe_table_decode(image.data, image.size_bytes, NULL, &out, &err);
        if (code != cases[i].code) fail_msg("%s: %d, %s", cases[i].name, code, err.message);
        leat_measurements_free(&out);
        free(image.data);
    }
}

/* Records of third-party files that are something else are told as that. */
static void test_other_contents(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {{"{\"a\": 1}", "not Arrow: it begins like JSON, with {\"a\""},
                 {"[1, 2, 3]", "not Arrow: it begins like JSON, with [1, "},
                 {"\x0a\x03"
                  "abc\x10\x01",
                  "not Arrow: it begins with the bytes 0a 03 61 62"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_measurements out = {0};
        leat_error err = {0};
        const char *text = cases[i].text;
        assert_int_equal(
            leat_probe_table_decode((const uint8_t *)text, (int64_t)strlen(text), NULL, &out, &err),
            LEAT_ERR_CORRUPT);
        if (strstr(err.message, cases[i].words) == NULL) fail_msg("%s", err.message);
        leat_measurements_free(&out);
    }
}

/* The caller's limit on decoded bytes holds for all buffers together. */
static void test_decoded_limit(void **state) {
    (void)state;
    static const char *const names[] = {"body_zstd", "body_zstd_dictionary", "body_lz4"};
    for (int i = 0; i < 2 + LEAT_HAVE_LZ4; i++) {
        char path[256];
        snprintf(path, sizeof path, GOLDEN "/%s.arrows", names[i]);
        ar_image image = ar_load(golden_path(path));
        leat_measurements out = {0};
        leat_probe_read_options options = leat_probe_read_options_default();
        int64_t low = 1, high = 1 << 20; /* low is refused, high is read */
        while (high - low > 1) {
            options.max_decoded_bytes = (low + high) / 2;
            leat_code code =
                leat_probe_table_decode(image.data, image.size_bytes, &options, &out, NULL);
            assert_true(code == LEAT_OK || code == LEAT_ERR_LIMIT);
            *(code == LEAT_OK ? &high : &low) = options.max_decoded_bytes;
        }
        /* 3000 measurements: times, versions and rtts alone take 13 bytes each */
        assert_true(high > 3000 * 13 && high < 3000 * 64);
        leat_measurements_free(&out);
        free(image.data);
    }
}

/* ---- streams put together of the golden ones' messages -------------------------------------- */

typedef struct message_place {
    int64_t at, body, end;
} message_place;

/* The messages of a stream; the count. */
static int find_messages(const ar_image *image, message_place *places) {
    leat_view view = leat_view_of(image->data, image->size_bytes);
    leat_arrow_stream stream = {.view = &view, .name = "splice", .end = image->size_bytes};
    for (int count = 0;; count++) {
        leat_arrow_message message;
        assert_ok(leat_arrow_next(&stream, &message, err));
        if (message.header == LEAT_ARROW_END) return count;
        places[count] = (message_place){message.at, message.body, stream.position};
    }
}

/* "a0 b1 a1": messages of the streams a and b, in this order, then the end mark. */
static ar_image splice(const ar_image *a, const ar_image *b, const char *recipe) {
    static const uint8_t end_mark[8] = {255, 255, 255, 255};
    message_place places[2][16];
    const ar_image *from[2] = {a, b};
    for (int i = 0; i < 2; i++) (void)find_messages(from[i], places[i]);
    ar_image made = {malloc((size_t)(4 * (a->size_bytes + b->size_bytes))), 0};
    for (const char *at = recipe; at[0] && at[1]; at += at[2] ? 3 : 2) {
        int which = at[0] - 'a';
        message_place place = places[which][at[1] - '0'];
        memcpy(made.data + made.size_bytes, from[which]->data + place.at,
               (size_t)(place.end - place.at));
        made.size_bytes += place.end - place.at;
    }
    memcpy(made.data + made.size_bytes, end_mark, 8);
    made.size_bytes += 8;
    return made;
}

static ar_image load_stream(const char *name) {
    char path[256];
    snprintf(path, sizeof path, GOLDEN "/%s.arrows", name);
    return ar_load(golden_path(path));
}

static void test_splices(void **state) {
    (void)state;
    static const struct {
        const char *a, *b, *recipe;
        leat_code code;
        int64_t count;
    } cases[] = {
        {"plain", "plain", "a0 b1", LEAT_OK, 6},
        {"plain", "plain", "a0 b1 b1", LEAT_OK, 12},
        {"plain", "plain", "a0 a0 b1", LEAT_ERR_CORRUPT, 0},
        {"plain", "plain_v6", "a0 a1 b1", LEAT_OK, 12}, /* both versions in one table */
        {"plain", "dictionary_int8", "a0 b1 a1", LEAT_ERR_CORRUPT, 0}, /* nobody's dictionary */
        {"plain", "no_src_addr", "a0 b1", LEAT_ERR_CORRUPT, 0},
        /* schema, dictionary, batch of 2, addition to it, batch of 2 */
        {"dictionary_delta", "plain", "a0 a1 a2 a3 a4", LEAT_OK, 4},
        {"dictionary_delta", "plain", "a0 a1 a3 a4", LEAT_OK, 2},
        {"dictionary_delta", "plain", "a0 a3 a3 a3 a4", LEAT_ERR_CORRUPT, 0}, /* to nothing */
        {"dictionary_delta", "plain", "a0 a1 a4", LEAT_ERR_CORRUPT, 0},
        {"dictionary_delta", "plain", "a0 a1 a3", LEAT_OK, 0},
        {"dictionary_replaced", "plain", "a0 a1 a3 a4", LEAT_OK, 2},
    };
    leat_measurements out = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ar_image a = load_stream(cases[i].a), b = load_stream(cases[i].b);
        ar_image made = splice(&a, &b, cases[i].recipe);
        leat_error err = {0};
        leat_code code = leat_probe_table_decode(made.data, made.size_bytes, NULL, &out, &err);
        if (code != cases[i].code || out.count != cases[i].count)
            fail_msg("%s, %s: %s: %d %s", cases[i].a, cases[i].b, cases[i].recipe, code,
                     err.message);
        /* the same as a row, in both ways */
        probe_wrap_facts facts = {.n = cases[i].count};
        if (out.count > 0) {
            facts.first_us = out.time_us[0];
            facts.last_us = out.time_us[out.count - 1];
        }
        ar_image record = probe_wrap(made.data, made.size_bytes, &facts);
        leat_view view = leat_view_of(record.data, record.size_bytes);
        assert_int_equal(leat_probe_row_decode(&view, NULL, &out, NULL, NULL), cases[i].code);
        code = probe_read_singly(cases[i].recipe, &view, NULL, NULL, 0);
        assert_int_equal(code == LEAT_OK, cases[i].code == LEAT_OK);
        free(record.data);
        free(made.data);
        free(a.data);
        free(b.data);
    }
    leat_measurements_free(&out);
}

/* A null count that the validity bits do not bear out. */
static void test_null_count(void **state) {
    (void)state;
    ar_image image = load_stream("rtt_null");
    message_place places[16];
    assert_int_equal(find_messages(&image, places), 2);
    uint8_t *nulls = image.data + places[1].body - 8; /* of the last node: rtt */
    assert_true(*nulls > 0 && *nulls < 5);
    leat_measurements out = {0};
    for (int delta = -1; delta < 2; delta++) {
        *nulls = (uint8_t)(*nulls + delta);
        leat_code code = leat_probe_table_decode(image.data, image.size_bytes, NULL, &out, NULL);
        /* a count of 0 says that the bits are to be left alone */
        assert_int_equal(code, delta == 0 || *nulls == 0 ? LEAT_OK : LEAT_ERR_CORRUPT);
        *nulls = (uint8_t)(*nulls - delta);
    }
    leat_measurements_free(&out);
    free(image.data);
}

/* A compressed buffer: declared size, then the frame. */
static int64_t put_frame(uint8_t *to, leat_arrow_codec codec, bool sized, const uint8_t *bytes,
                         size_t size, int64_t declared) {
    memcpy(to, &declared, 8);
#if LEAT_HAVE_LZ4
    if (codec == LEAT_ARROW_CODEC_LZ4) {
        LZ4F_preferences_t preferences = {0};
        preferences.frameInfo.contentSize = sized ? size : 0;
        return 8 + (int64_t)LZ4F_compressFrame(to + 8, 4096, bytes, size, &preferences);
    }
#endif
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, sized);
    size_t made = ZSTD_compress2(context, to + 8, 4096, bytes, size);
    ZSTD_freeCCtx(context);
    assert_false(ZSTD_isError(made));
    return 8 + (int64_t)made;
}

static void test_bodies(void **state) {
    (void)state;
    uint8_t plain[1000], frame[5000], out[1100];
    ar_noise(plain, sizeof plain, 1);
    memset(plain, 7, 600);
    for (int codec = !LEAT_HAVE_LZ4; codec < 2; codec++) { /* 0: lz4, 1: zstd */
        for (int sized = 0; sized < 2; sized++) {
            for (int delta = -1; delta < 2; delta++) {
                int64_t declared = 1000 + delta, have = 0;
                int64_t size = put_frame(frame, (leat_arrow_codec)codec, sized == 1, plain,
                                         sizeof plain, declared);
                leat_code code = leat_arrow_decoded_size((leat_arrow_codec)codec, frame, size,
                                                         1 << 20, &have, NULL);
                if (code == LEAT_OK) {
                    assert_int_equal(have, declared);
                    code = leat_arrow_decode((leat_arrow_codec)codec, frame, size, out, have, NULL);
                }
                assert_int_equal(code, delta == 0 ? LEAT_OK : LEAT_ERR_CORRUPT);
                if (delta == 0) assert_memory_equal(out, plain, sizeof plain);
                /* a byte after the frame */
                assert_true(delta != 0 ||
                            leat_arrow_decode((leat_arrow_codec)codec, frame, size + 1, out, have,
                                              NULL) == LEAT_ERR_CORRUPT);
            }
        }
    }
}

/* ---- schemas that no writer makes ---------------------------------------------------------- */

/* A flatbuffer put together front to back. */
typedef struct flat_maker {
    uint8_t bytes[1 << 16];
    int32_t size;
} flat_maker;

static int32_t flat_add(flat_maker *to, const void *bytes, int32_t size) {
    int32_t at = to->size;
    assert_true(at + size <= (int32_t)sizeof to->bytes);
    memcpy(to->bytes + at, bytes, (size_t)size);
    to->size += size;
    return at;
}

static void flat_point(flat_maker *to, int32_t from, int32_t target) {
    int32_t offset = target - from;
    memcpy(to->bytes + from, &offset, sizeof offset);
}

/*
 * A schema of one column: lists `depth` deep, the innermost of integers, each list pointing
 * `children` times to the same field below. Returns the size of the message at `bytes`.
 */
static int64_t nested_schema(flat_maker *m, int depth, int children, int endianness) {
    /* vtables: message, schema, field, int, list; a table begins with the way back to its own */
    static const uint16_t vtables[] = {12, 16, 4, 6, 8, 0,  8, 12, 8, 4, 16, 16,
                                       0,  0,  4, 8, 0, 12, 8, 8,  4, 0, 4,  4};
    enum { MESSAGE = 4, SCHEMA = 16, FIELD = 24, INT = 40, LIST = 48 };
    memset(m, 0, sizeof *m);
    flat_add(m, "\0\0\0\0", 4); /* root */
    flat_add(m, vtables, sizeof vtables);
    int32_t message = m->size, back = message - MESSAGE;
    flat_point(m, 0, message);
    flat_add(m, &back, 4);
    flat_add(m, "\4\0\1\0", 4); /* V5, schema */
    int32_t header = flat_add(m, "\0\0\0\0\0\0\0\0", 8);
    int32_t schema = m->size;
    back = schema - SCHEMA;
    flat_point(m, header, schema);
    flat_add(m, &back, 4);
    int32_t fields = flat_add(m, "\0\0\0\0", 4), up[8] = {0}, up_count = 1;
    flat_add(m, &endianness, 4);
    flat_point(m, fields, m->size);
    flat_add(m, "\1\0\0\0", 4);
    up[0] = flat_add(m, "\0\0\0\0", 4);
    for (int level = 0; level < depth; level++) {
        bool is_leaf = level == depth - 1;
        int32_t field = m->size, count = is_leaf ? 0 : children;
        for (int i = 0; i < up_count; i++) flat_point(m, up[i], field);
        back = field - FIELD;
        flat_add(m, &back, 4);
        flat_add(m, is_leaf ? "\2\0\0\0" : "\14\0\0\0", 4);
        int32_t type = flat_add(m, "\0\0\0\0\0\0\0\0", 8);
        flat_point(m, type, m->size);
        back = m->size - (is_leaf ? INT : LIST);
        flat_add(m, &back, 4);
        if (is_leaf) flat_add(m, "\40\0\0\0", 4);
        flat_point(m, type + 4, m->size);
        flat_add(m, &count, 4);
        for (up_count = 0; up_count < count; up_count++) up[up_count] = flat_add(m, "\0\0\0\0", 4);
    }
    return m->size;
}

static void test_schema_bounds(void **state) {
    (void)state;
    static const struct {
        int depth, children;
        leat_code code;
        int nodes, endianness;
    } cases[] = {{1, 0, LEAT_ERR_UNSUPPORTED, 0, 1},
                 {1, 0, LEAT_OK, 1, 0},
                 {5, 1, LEAT_OK, 5, 0},
                 {64, 1, LEAT_OK, 64, 0},
                 {65, 1, LEAT_ERR_UNSUPPORTED, 0, 0},
                 {500, 1, LEAT_ERR_UNSUPPORTED, 0, 0},
                 {12, 2, LEAT_OK, 4095, 0},
                 {13, 2, LEAT_ERR_UNSUPPORTED, 0, 0},
                 {60, 2, LEAT_ERR_UNSUPPORTED, 0, 0}, /* 2^60 fields, if one counted them */
                 {60, 8, LEAT_ERR_UNSUPPORTED, 0, 0}};
    static const char *const none[] = {NULL};
    static flat_maker maker;
    static uint8_t bytes[sizeof maker.bytes + 8];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t size =
            nested_schema(&maker, cases[i].depth, cases[i].children, cases[i].endianness);
        int32_t metadata = (int32_t)size;
        memset(bytes, 255, 4);
        memcpy(bytes + 4, &metadata, 4);
        memcpy(bytes + 8, maker.bytes, (size_t)size);
        leat_view view = leat_view_of(bytes, size + 8);
        leat_arrow_stream stream = {.view = &view, .name = "nested", .end = size + 8};
        leat_arrow_schema schema;
        leat_error err = {0};
        leat_code code = leat_arrow_read_schema(&stream, none, &schema, &err);
        if (code != cases[i].code || schema.node_count != cases[i].nodes)
            fail_msg("%d deep, %d children: %d, %d nodes: %s", cases[i].depth, cases[i].children,
                     code, schema.node_count, err.message);
    }
}

/* ---- single values ------------------------------------------------------------------------- */

static void test_times(void **state) {
    (void)state;
    static const struct {
        int unit;
        int64_t stored, time_us;
        bool fits;
    } cases[] = {{0, 3, 3000000, true},
                 {0, -3, -3000000, true},
                 {0, INT64_MAX / 1000000, INT64_MAX / 1000000 * 1000000, true},
                 {0, INT64_MAX / 1000000 + 1, 0, false},
                 {0, INT64_MIN / 1000000 - 1, 0, false},
                 {1, 3, 3000, true},
                 {1, INT64_MAX / 1000 + 1, 0, false},
                 {2, INT64_MIN, INT64_MIN, true},
                 {3, 1999, 1, true},
                 {3, -1, -1, true},
                 {3, -1000, -1, true},
                 {3, -1001, -2, true},
                 {3, INT64_MIN, INT64_MIN / 1000 - 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_arrow_type type = {LEAT_ARROW_TIMESTAMP, 8, (uint8_t)cases[i].unit, false};
        uint8_t bytes[8];
        int64_t time_us = 0;
        memcpy(bytes, &cases[i].stored, 8);
        assert_int_equal(leat_probe_time(type, bytes, &time_us), cases[i].fits);
        if (cases[i].fits) assert_int_equal(time_us, cases[i].time_us);
    }
}

static void test_rtts(void **state) {
    (void)state;
    static const struct {
        uint16_t half;
        float value;
    } halves[] = {{0x0000, 0},
                  {0x8000, 0},
                  {0x3c00, 1},
                  {0x3555, 0.33325195f},
                  {0x7bff, 65504},
                  {0x0001, 0x1p-24f},
                  {0x03ff, 0x1.ff8p-15f},
                  {0xbc00, -1},
                  {0x8001, -1},
                  {0x7c00, INFINITY},
                  {0xfc00, -1},
                  {0x7e00, -1}};
    leat_arrow_type type = {LEAT_ARROW_FLOAT, 2, 0, false};
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        memcpy(bytes, &halves[i].half, 2);
        float have = leat_probe_rtt(type, bytes);
        if (memcmp(&have, &halves[i].value, sizeof have) != 0)
            fail_msg("half %04x: %.9g", halves[i].half, have);
    }
    static const struct {
        double wide;
        float value;
    } doubles[] = {{0.1, 0.1f}, {-0.0, 0},         {-1e-300, 0},    {-1e-30, -1},
                   {NAN, -1},   {1e300, INFINITY}, {-INFINITY, -1}, {302281.5, 302281.5f}};
    type.bytes = 8;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        memcpy(bytes, &doubles[i].wide, 8);
        float have = leat_probe_rtt(type, bytes);
        if (memcmp(&have, &doubles[i].value, sizeof have) != 0)
            fail_msg("double %g: %.9g", doubles[i].wide, have);
    }
}

static void test_ints(void **state) {
    (void)state;
    uint8_t ones[8];
    memset(ones, 255, sizeof ones);
    static const int64_t unsigned_max[9] = {[1] = 255, [2] = 65535, [4] = 4294967295, [8] = -1};
    for (int bytes = 1; bytes <= 8; bytes *= 2) {
        leat_arrow_type type = {LEAT_ARROW_INT, (uint8_t)bytes, 0, true};
        assert_int_equal(leat_probe_int(type, ones), -1);
        type.is_signed = false;
        assert_int_equal(leat_probe_int(type, ones), unsigned_max[bytes]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),         cmocka_unit_test(test_choices),
        cmocka_unit_test(test_other_contents), cmocka_unit_test(test_decoded_limit),
        cmocka_unit_test(test_splices),        cmocka_unit_test(test_null_count),
        cmocka_unit_test(test_bodies),         cmocka_unit_test(test_schema_bounds),
        cmocka_unit_test(test_times),          cmocka_unit_test(test_rtts),
        cmocka_unit_test(test_ints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
