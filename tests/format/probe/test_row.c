/*
 * Probe rows: ours are PyArrow's bytes (tests/golden/probe_rows), read back in every way; the
 * reference's own rows (tests/golden/reference) are read, and written again to the byte.
 */
#include <jansson.h>

#include "base/address.h"
#include "format/probe/read.h"
#include "format/probe/template.h"
#include "probe_support.h"

#define ROWS "golden/latency/rows/"

/* Measurement i of the golden records, as tests/golden/probe_rows/make.py makes it. */
static probe_case row_of(int64_t i, int version, char dst[32]) {
    int number = (int)(i * 37 % 251);
    snprintf(dst, 32, version == 4 ? "198.51.100.%d" : "2001:db8:2::%x", number);
    probe_case made = {.time_us = 1556136000000000 + 60000007 * i,
                       .src = version == 4 ? "192.0.2.17" : "2001:db8:1::17",
                       .dst = dst,
                       .ip_version = version,
                       .rtt = i % 25 == 7 ? -1.0f : (float)(i * 13 % 4001) / 8};
    return made;
}

typedef struct made_rows {
    probe_case *cases;
    char (*dst)[32];
    int64_t count;
} made_rows;

static made_rows make_rows(int64_t count, int version) {
    made_rows rows = {calloc((size_t)count + 1, sizeof *rows.cases),
                      calloc((size_t)count + 1, sizeof *rows.dst), count};
    for (int64_t i = 0; i < count; i++) rows.cases[i] = row_of(i, version, rows.dst[i]);
    return rows;
}

static void free_rows(made_rows *rows) {
    free(rows->cases);
    free(rows->dst);
}

static void assert_same_bytes(const char *name, const ar_image *have, const ar_image *want) {
    if (have->size_bytes != want->size_bytes)
        fail_msg("%s: %lld bytes, not %lld", name, (long long)have->size_bytes,
                 (long long)want->size_bytes);
    for (int64_t i = 0; i < want->size_bytes; i++)
        if (have->data[i] != want->data[i])
            fail_msg("%s: byte %lld is %d, not %d", name, (long long)i, have->data[i],
                     want->data[i]);
}

static const struct {
    const char *name;
    int64_t count;
    int version;
    bool dictionary;
} golden[] = {
    {"plain_1", 1, 4, false},        {"plain_26", 26, 4, false},   {"plain_v6_9", 9, 6, false},
    {"plain_300", 300, 4, false},    {"dictionary_1", 1, 4, true}, {"dictionary_26", 26, 4, true},
    {"dictionary_v6_9", 9, 6, true},
};

static void test_pyarrow_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        char path[512];
        snprintf(path, sizeof path, LEAT_SOURCE_DIR "/tests/golden/probe_rows/%s.record",
                 golden[i].name);
        ar_image want = ar_load(path);
        made_rows rows = make_rows(golden[i].count, golden[i].version);
        ar_image have = probe_write(rows.cases, rows.count, golden[i].dictionary);
        assert_same_bytes(golden[i].name, &have, &want);
        free_rows(&rows);
        free(have.data);
        free(want.data);
    }
}

/* Every way of reading gives what was written. */
static void check_read(const char *name, const ar_image *record, const probe_case *cases,
                       int64_t count) {
    leat_probe_read_options options = leat_probe_read_options_default();
    leat_measurements out = {0};
    leat_probe_row_info info;
    probe_pieces pieces;
    leat_view views[2] = {leat_view_of(record->data, record->size_bytes),
                          probe_pieces_view(&pieces, record->data, record->size_bytes)};
    options.verify = true;
    for (int v = 0; v < 2; v++) {
        assert_ok(leat_probe_row_decode(&views[v], &options, &out, &info, err));
        probe_check_all(name, &out, cases, count);
        assert_true(info.has_first && info.has_last && info.has_span && info.has_src_addr &&
                    info.has_ip_version);
        for (int trusted = 0; trusted < 2; trusted++) {
            options.trusted = trusted == 1;
            leat_code code = probe_read_singly(name, &views[v], &options, cases, count);
            if (code != LEAT_OK) fail_msg("%s: %s", name, leat_code_text(code));
        }
    }
    leat_measurements_free(&out);
}

static void test_write_and_read(void **state) {
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 7, 8, 9, 64, 3000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int k = 0; k < 4; k++) {
            made_rows rows = make_rows(counts[i], k & 1 ? 6 : 4);
            ar_image record = probe_write(rows.cases, rows.count, (k & 2) != 0);
            int64_t dst_bytes = 0, src_bytes = rows.count ? (int64_t)strlen(rows.cases[0].src) : 0;
            for (int64_t j = 0; j < rows.count; j++) dst_bytes += (int64_t)strlen(rows.dst[j]);
            int64_t inner = leat_probe_measurements_bytes(rows.count, rows.count * src_bytes,
                                                          dst_bytes, (k & 2) != 0);
            assert_int_equal(record.size_bytes, 880 + inner);
            if (!(k & 2)) { /* the sizes of ping-llm */
#define P(size) (((size) + 7) / 8 * 8)
                int64_t n = rows.count;
                assert_int_equal(inner, 720 + P(8 * n) + 2 * P(4 * n + 4) + P(n * src_bytes) +
                                            P(dst_bytes) + P(n) + P(4 * n));
#undef P
            }
            if (rows.count > 0) {
                check_read("written", &record, rows.cases, rows.count);
            } else { /* no source to verify, no facts of times */
                leat_measurements out = {0};
                assert_ok(leat_probe_record_decode(record.data, record.size_bytes, NULL, &out, NULL,
                                                   err));
                assert_int_equal(out.count, 0);
                leat_measurements_free(&out);
            }
            free(record.data);
            free_rows(&rows);
        }
    }
}

/* A record put together piece by piece, as a row larger than memory is written. */
static void test_pieces(void **state) {
    (void)state;
    for (int dictionary = 0; dictionary < 2; dictionary++) {
        made_rows rows = make_rows(300, 4);
        ar_image record = probe_write(rows.cases, rows.count, dictionary);
        leat_probe_facts facts = {.n_measurements = rows.count, .src_size = 10};
        memcpy(facts.src, rows.cases[0].src, 10);
        facts.src_id = leat_address_src_id(facts.src, 10);
        facts.first_us = rows.cases[0].time_us;
        facts.last_us = rows.cases[299].time_us;
        for (int64_t i = 0; i < rows.count; i++) facts.dst_bytes += (int64_t)strlen(rows.dst[i]);
        leat_probe_plan plan;
        assert_ok(leat_probe_plan_row(&facts, dictionary, &plan, err));
        int64_t at = 0;
        for (int i = 0; i < plan.piece_count; i++) {
            const leat_probe_piece *piece = &plan.pieces[i];
            static const uint8_t zeros[8];
            assert_int_equal(piece->offset_bytes, at); /* in order, without gaps */
            if (piece->column < 0) {
                assert_memory_equal(record.data + at, plan.frame + piece->frame, piece->size_bytes);
            } else {
                assert_int_equal(plan.column_offset[piece->column], at);
                assert_int_equal(plan.column_bytes[piece->column], piece->size_bytes);
            }
            at += piece->size_bytes;
            assert_true(piece->pad_bytes >= 0 && piece->pad_bytes < 8);
            assert_memory_equal(record.data + at, zeros, piece->pad_bytes);
            at += piece->pad_bytes;
        }
        assert_int_equal(at, plan.record_bytes);
        free(record.data);
        free_rows(&rows);
    }
}

static void test_plan_limits(void **state) {
    (void)state;
    leat_probe_facts good = {.n_measurements = 20000000, .src_size = 10, .dst_bytes = 240000000};
    leat_probe_plan plan;
    leat_error err;
    assert_int_equal(leat_probe_plan_row(&good, false, &plan, &err), LEAT_OK);
    assert_int_equal(plan.record_bytes, 880 + plan.measurements_bytes);
    /* the largest row that fits, and 8 bytes more */
    int64_t rest = plan.measurements_bytes - good.dst_bytes;
    good.dst_bytes = LEAT_PROBE_MEASUREMENTS_MAX - rest;
    assert_int_equal(leat_probe_plan_row(&good, false, &plan, &err), LEAT_OK);
    assert_int_equal(plan.measurements_bytes, LEAT_PROBE_MEASUREMENTS_MAX);
    good.dst_bytes++;
    assert_int_equal(leat_probe_plan_row(&good, false, &plan, &err), LEAT_ERR_LIMIT);
    assert_int_equal(plan.record_bytes, 0);
    static const leat_probe_facts bad[] = {
        {.n_measurements = -1},
        {.n_measurements = 1, .src_size = 49},
        {.n_measurements = 1, .src_size = -1},
        {.n_measurements = 1, .dst_bytes = -1},
        {.n_measurements = 1, .first_us = 2, .last_us = 1},
        {.n_measurements = 1, .first_us = -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(leat_probe_plan_row(&bad[i], false, &plan, &err), LEAT_ERR_INPUT);
    leat_probe_facts huge = {.n_measurements = INT64_MAX, .src_size = 48, .dst_bytes = INT64_MAX};
    for (int d = 0; d < 2; d++)
        assert_int_equal(leat_probe_plan_row(&huge, d, &plan, &err), LEAT_ERR_LIMIT);
    assert_int_equal(leat_probe_measurements_bytes(-1, 0, 0, false), INT64_MAX);
    assert_int_equal(leat_probe_measurements_bytes(INT64_C(1) << 31, 0, 0, true), INT64_MAX);
}

/* Opening looks at both ends of a record; a measurement at its own places. */
static void test_touches_little(void **state) {
    (void)state;
    made_rows rows = make_rows(3000, 4);
    ar_image record = probe_write(rows.cases, rows.count, false);
    leat_probe_facts facts = {.n_measurements = 3000, .src_size = 10};
    for (int64_t i = 0; i < rows.count; i++) facts.dst_bytes += (int64_t)strlen(rows.dst[i]);
    leat_probe_plan plan;
    assert_ok(leat_probe_plan_row(&facts, false, &plan, err));
    probe_pieces pieces;
    leat_view view = probe_pieces_view(&pieces, record.data, record.size_bytes);
    leat_probe_read_options options = leat_probe_read_options_default();
    leat_probe_row row;
    leat_measurement m;
    for (int trusted = 0; trusted < 2; trusted++) {
        options.trusted = trusted == 1;
        pieces.total_bytes = 0;
        /* no byte of any column is touched by opening */
        pieces.watch_begin = plan.column_offset[0];
        pieces.watch_end = plan.column_offset[LEAT_PROBE_RTT] + 12000;
        pieces.watched = 0;
        assert_ok(leat_probe_row_open(&row, &view, &options, err));
        assert_true(row.is_direct);
        assert_int_equal(pieces.watched, 0);
        assert_true(pieces.total_bytes < 1800);
        assert_ok(leat_probe_row_get(&row, 17, &m, err));
        static const int quiet[] = {LEAT_PROBE_SRC_OFFSETS, LEAT_PROBE_SRC_DATA,
                                    LEAT_PROBE_IP_VERSION};
        for (int i = 0; i < 3; i++) {
            pieces.watch_begin = plan.column_offset[quiet[i]];
            pieces.watch_end = pieces.watch_begin + plan.column_bytes[quiet[i]];
            pieces.watched = 0;
            pieces.total_bytes = 0;
            assert_ok(leat_probe_row_get(&row, 2000, &m, err));
            probe_check_measurement("2000", 2000, &m, &rows.cases[2000]);
            assert_int_equal(pieces.watched > 0, !trusted);
            assert_true(pieces.total_bytes < 64);
        }
        assert_int_equal(leat_probe_row_get(&row, 3000, &m, NULL), LEAT_ERR_INPUT);
        assert_int_equal(leat_probe_row_get(&row, -1, &m, NULL), LEAT_ERR_INPUT);
        leat_probe_row_close(&row);
    }
    free(record.data);
    free_rows(&rows);
}

/* A page that cannot be read is that error, whichever it is; the next measurement is read again. */
static void test_bad_pages(void **state) {
    (void)state;
    made_rows rows = make_rows(26, 4);
    for (int dictionary = 0; dictionary < 2; dictionary++) {
        ar_image record = probe_write(rows.cases, rows.count, dictionary);
        probe_pieces pieces;
        leat_view view = probe_pieces_view(&pieces, record.data, record.size_bytes);
        leat_code code = LEAT_ERR_IO;
        for (int64_t n = 0; code != LEAT_OK; n++) {
            assert_true(n < 1000);
            pieces.calls = 0;
            pieces.fail_from = n;
            code = probe_read_singly("bad page", &view, NULL, rows.cases, rows.count);
            assert_true(code == LEAT_ERR_IO || (code == LEAT_OK && n > 26));
        }
        pieces.fail_from = -1;
        leat_probe_row row;
        leat_measurement m;
        assert_ok(leat_probe_row_open(&row, &view, NULL, err));
        pieces.fail_from = 0;
        assert_int_equal(leat_probe_row_get(&row, 3, &m, NULL), LEAT_ERR_IO);
        pieces.fail_from = -1;
        assert_ok(leat_probe_row_get(&row, 3, &m, err));
        probe_check_measurement("again", 3, &m, &rows.cases[3]);
        leat_probe_row_close(&row);
        leat_measurements out = {0};
        pieces.calls = pieces.fail_from = 0;
        assert_int_equal(leat_probe_row_decode(&view, NULL, &out, NULL, NULL), LEAT_ERR_IO);
        leat_measurements_free(&out);
        free(record.data);
    }
    free_rows(&rows);
}

/* Facts and values that are no row's: both ways of reading refuse them as bad input. */
static void test_refused_values(void **state) {
    (void)state;
    enum { OFFSET_FACT_N = 40, OFFSET_SPAN = 32 };
    /* span, first and last lie together; each pair agrees with itself, not with the times */
    static const struct {
        double span;
        int64_t first_us, last_us;
    } early = {1500.000175 + 1, 1556136000000000 - 1000000, 1556136000000000 + 25 * 60000007},
      late = {1500.000175 + 1, 1556136000000000, 1556136000000000 + 25 * 60000007 + 1000000};
    made_rows rows = make_rows(26, 4);
    ar_image record = probe_write(rows.cases, rows.count, false);
    leat_probe_facts facts = {.n_measurements = 26, .src_size = 10};
    for (int64_t i = 0; i < rows.count; i++) facts.dst_bytes += (int64_t)strlen(rows.dst[i]);
    leat_probe_plan plan;
    assert_ok(leat_probe_plan_row(&facts, false, &plan, err));
    const int64_t *column = plan.column_offset, end = record.size_bytes;
    static const float infinite = __builtin_inff();
    static const int64_t old = -1;
    static const double nan_span = __builtin_nan(""), off_span = 1500.0;
    const struct {
        const char *name;
        int64_t offset;
        const void *bytes;
        int size;
    } cases[] = {
        {"infinite rtt", column[LEAT_PROBE_RTT] + 20, &infinite, 4},
        {"before 1970", column[LEAT_PROBE_EVENT_TIME] + 24, &old, 8},
        {"version 5", column[LEAT_PROBE_IP_VERSION] + 3, "\x05", 1},
        {"version 0", column[LEAT_PROBE_IP_VERSION] + 3, "\0", 1},
        {"version 6", column[LEAT_PROBE_IP_VERSION] + 3, "\x06", 1},
        {"source", column[LEAT_PROBE_SRC_DATA] + 30, "x", 1},
        {"destination", column[LEAT_PROBE_DST_DATA] + 30, "\0", 1},
        {"n", end - OFFSET_FACT_N, "\x1b", 1},
        {"negative n", end - OFFSET_FACT_N + 3, "\xff", 1},
        {"span", end - OFFSET_SPAN, &off_span, 8},
        {"span not a number", end - OFFSET_SPAN, &nan_span, 8},
        {"first", end - OFFSET_SPAN, &early, sizeof early},
        {"last", end - OFFSET_SPAN, &late, sizeof late},
        {"IPv6 destination", column[LEAT_PROBE_DST_DATA] + 12, "2001:db8:2::1", 13},
    };
    leat_measurements out = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ar_image bad = {malloc((size_t)end), end};
        memcpy(bad.data, record.data, (size_t)end);
        memcpy(bad.data + cases[i].offset, cases[i].bytes, (size_t)cases[i].size);
        leat_view view = leat_view_of(bad.data, end);
        leat_error err = {0};
        leat_code code = leat_probe_row_decode(&view, NULL, &out, NULL, &err);
        if (code != LEAT_ERR_INPUT)
            fail_msg("%s: decoded: %d %s", cases[i].name, code, err.message);
        code = probe_read_singly(cases[i].name, &view, NULL, NULL, 0);
        if (code != LEAT_ERR_INPUT) fail_msg("%s: read singly: %d", cases[i].name, code);
        free(bad.data);
    }
    leat_measurements_free(&out);
    free(record.data);
    free_rows(&rows);
}

/* A source that is not the row's by MD5 is told only to those who ask. */
static void test_verify(void **state) {
    (void)state;
    made_rows rows = make_rows(26, 4);
    for (int dictionary = 0; dictionary < 2; dictionary++) {
        ar_image record = probe_write(rows.cases, rows.count, dictionary);
        record.data[424 + 400] ^= 1; /* src_id: after outer schema and batch metadata */
        leat_view view = leat_view_of(record.data, record.size_bytes);
        leat_probe_read_options options = leat_probe_read_options_default();
        leat_measurements out = {0};
        for (int verify = 0; verify < 2; verify++) {
            options.verify = verify == 1;
            leat_code want = verify ? LEAT_ERR_INPUT : LEAT_OK;
            assert_int_equal(leat_probe_row_decode(&view, &options, &out, NULL, NULL), want);
            assert_int_equal(probe_read_singly("src_id", &view, &options, rows.cases, 26), want);
        }
        leat_measurements_free(&out);
        free(record.data);
    }
    free_rows(&rows);
}

/* Many different addresses: the table of texts grows, is emptied and used again. */
static void test_many_addresses(void **state) {
    (void)state;
    int64_t count = 20000;
    probe_case *cases = calloc((size_t)count, sizeof *cases);
    char(*dst)[32] = calloc((size_t)count, sizeof *dst);
    for (int64_t i = 0; i < count; i++) {
        snprintf(dst[i], 32, "10.%d.%d.%d", (int)(i >> 14 & 255), (int)(i >> 6 & 255),
                 (int)(i & 63));
        cases[i] = (probe_case){1556136000000000 + i, "192.0.2.17", dst[i], 4, 1.5f};
    }
    ar_image large = probe_write(cases, count, false), small = probe_write(cases, 3, false);
    leat_measurements out = {0};
    for (int i = 0; i < 4; i++) {
        const ar_image *record = i % 2 ? &small : &large;
        assert_ok(
            leat_probe_record_decode(record->data, record->size_bytes, NULL, &out, NULL, err));
        probe_check_all("many", &out, cases, i % 2 ? 3 : count);
        assert_int_equal(out.address_count, 1 + (i % 2 ? 3 : count));
    }
    leat_measurements_free(&out);
    free(large.data);
    free(small.data);
    free(cases);
    free(dst);
}

/* The schemas known by their bytes are what walking those bytes finds. */
static void test_known_schemas(void **state) {
    (void)state;
    static const struct {
        const uint8_t *bytes;
        int64_t size;
        const char *const *names;
    } cases[] = {{leat_outer_schema, sizeof leat_outer_schema, leat_probe_fact_names},
                 {leat_inner_schema, sizeof leat_inner_schema, leat_probe_field_names},
                 {leat_coded_schema, sizeof leat_coded_schema, leat_probe_field_names}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_view view = leat_view_of(cases[i].bytes, cases[i].size);
        leat_arrow_stream stream = {.view = &view, .name = "known", .end = cases[i].size};
        leat_arrow_schema walked, room;
        const leat_arrow_schema *known;
        assert_ok(leat_arrow_read_schema(&stream, cases[i].names, &walked, err));
        assert_int_equal(stream.position, cases[i].size);
        stream.position = 0;
        assert_ok(leat_probe_schema_read(&stream, cases[i].names, &room, &known, err));
        assert_int_equal(stream.position, cases[i].size);
        assert_ptr_not_equal(known, &room);
        for (int c = 0; c < LEAT_ARROW_WANTED_MAX; c++) {
            const leat_arrow_column *a = &walked.columns[c], *b = &known->columns[c];
            assert_true(a->present == b->present && a->is_coded == b->is_coded);
            assert_memory_equal(&a->type, &b->type, sizeof a->type);
            assert_memory_equal(&a->index, &b->index, sizeof a->index);
            assert_true(a->dictionary_id == b->dictionary_id && a->node == b->node &&
                        a->buffer == b->buffer && a->variadic == b->variadic);
        }
        assert_true(walked.version == known->version && walked.node_count == known->node_count &&
                    walked.buffer_count == known->buffer_count &&
                    walked.variadic_count == known->variadic_count &&
                    walked.dictionary_count == known->dictionary_count);
        assert_memory_equal(walked.dictionary_ids, known->dictionary_ids,
                            sizeof walked.dictionary_ids);
        assert_memory_equal(walked.top_nodes, known->top_nodes, sizeof walked.top_nodes);
    }
}

/* ---- the rows of ping-llm ------------------------------------------------------------------- */

/* One record of rows.json.gz as cases; free(the result). */
static probe_case *expected_cases(json_t *record, json_t *addresses, int64_t *count) {
    json_t *rows = json_object_get(record, "measurements");
    *count = (int64_t)json_array_size(rows);
    probe_case *cases = calloc((size_t)*count + 1, sizeof *cases);
    for (int64_t i = 0; i < *count; i++) {
        json_t *row = json_array_get(rows, (size_t)i);
        size_t dst = (size_t)json_integer_value(json_array_get(row, 1));
        uint32_t bits = (uint32_t)json_integer_value(json_array_get(row, 3));
        cases[i].time_us = json_integer_value(json_array_get(row, 0));
        cases[i].src = json_string_value(json_object_get(record, "src_addr"));
        cases[i].dst = json_string_value(json_array_get(addresses, dst));
        cases[i].ip_version = (int)json_integer_value(json_array_get(row, 2));
        memcpy(&cases[i].rtt, &bits, sizeof bits);
    }
    return cases;
}

static void check_reference_record(json_t *entry, json_t *addresses, const ar_image *record) {
    int64_t count;
    probe_case *cases = expected_cases(entry, addresses, &count);
    const char *file = json_string_value(json_object_get(entry, "file"));
    check_read(file, record, cases, count);
    ar_image ours = probe_write(cases, count, false);
    assert_same_bytes(file, &ours, record);
    leat_measurements out = {0};
    leat_probe_row_info info;
    assert_ok(leat_probe_record_decode(record->data, record->size_bytes, NULL, &out, &info, err));
    assert_int_equal(info.src_id, json_integer_value(json_object_get(entry, "src_id")));
    assert_int_equal(info.n_measurements, count);
    assert_int_equal(info.first_us,
                     json_integer_value(json_object_get(entry, "first_timestamp_us")));
    assert_int_equal(info.last_us, json_integer_value(json_object_get(entry, "last_timestamp_us")));
    assert_true(info.time_span_seconds ==
                json_real_value(json_object_get(entry, "time_span_seconds")));
    leat_measurements_free(&out);
    free(ours.data);
    free(cases);
}

static void test_reference_rows(void **state) {
    (void)state;
    json_t *all = golden_json(ROWS "rows.json.gz"), *entry;
    size_t index;
    int checked = 0;
    const char *open_file = "";
    leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    json_array_foreach(json_object_get(all, "records"), index, entry) {
        const char *file = json_string_value(json_object_get(entry, "file"));
        if (strcmp(file, open_file) != 0) {
            char name[128];
            leat_ar_record_free(&record);
            leat_ar_reader_close(reader);
            snprintf(name, sizeof name, ROWS "%s", file);
            assert_ok(leat_ar_reader_open(&reader, golden_path(name), NULL, err));
            open_file = file;
        }
        int64_t number = json_integer_value(json_object_get(entry, "record"));
        assert_ok(leat_ar_reader_read(reader, number, &record, err));
        ar_image image = {malloc((size_t)record.size_bytes), record.size_bytes};
        memcpy(image.data, record.data, (size_t)record.size_bytes);
        check_reference_record(entry, json_object_get(all, "dst_addr"), &image);
        free(image.data);
        checked++;
    }
    leat_ar_record_free(&record);
    leat_ar_reader_close(reader);
    assert_int_equal(checked, 87);
    json_decref(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pyarrow_bytes),  cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_pieces),         cmocka_unit_test(test_plan_limits),
        cmocka_unit_test(test_touches_little), cmocka_unit_test(test_bad_pages),
        cmocka_unit_test(test_refused_values), cmocka_unit_test(test_verify),
        cmocka_unit_test(test_many_addresses), cmocka_unit_test(test_known_schemas),
        cmocka_unit_test(test_reference_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
