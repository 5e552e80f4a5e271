/*
 * Rows opened without parsing, and many measurements at once: both must be what the plain way
 * gives. Every test of probe rows gathers too (probe_support.c); here is what needs rows of its
 * own.
 */
#include "base/address.h"
#include "format/probe/read.h"
#include "probe_support.h"

enum { ROWS_MAX = 300 };

typedef struct made_row {
    probe_case cases[ROWS_MAX];
    char dst[ROWS_MAX][32];
    int64_t count;
    leat_probe_facts facts; /* as an index knows them */
} made_row;

static void make_row(made_row *row, int64_t count, int version) {
    row->count = count;
    for (int64_t i = 0; i < count; i++) {
        int number = (int)(i * 37 % 251);
        snprintf(row->dst[i], sizeof row->dst[i], version == 4 ? "198.51.%d.7" : "2001:db8:2::%x",
                 number);
        row->cases[i] = (probe_case){.time_us = 1556136000000000 + 60000007 * i,
                                     .src = version == 4 ? "192.0.2.17" : "2001:db8:1::17",
                                     .dst = row->dst[i],
                                     .ip_version = version,
                                     .rtt = i % 25 == 7 ? -1.0f : (float)(i * 13 % 4001) / 8};
    }
    const char *src = row->cases[0].src;
    row->facts = (leat_probe_facts){.src_id = leat_address_src_id(src, (int64_t)strlen(src)),
                                    .n_measurements = count,
                                    .first_us = row->cases[0].time_us,
                                    .last_us = row->cases[count - 1].time_us};
}

static void assert_same_array(const leat_arrow_array *a, const leat_arrow_array *b) {
    assert_memory_equal(&a->type, &b->type, sizeof a->type);
    assert_true(a->rows == b->rows && a->null_count == b->null_count);
    assert_int_equal(a->validity.size_bytes, b->validity.size_bytes);
    assert_memory_equal(&a->values, &b->values, sizeof a->values);
    assert_memory_equal(&a->data, &b->data, sizeof a->data);
}

/* What comparing finds is what parsing finds. */
static void assert_same_row(const leat_probe_row *a, const leat_probe_row *b) {
    assert_true(
        a->info.src_id == b->info.src_id && a->info.n_measurements == b->info.n_measurements &&
        a->info.first_us == b->info.first_us && a->info.last_us == b->info.last_us &&
        a->info.time_span_seconds == b->info.time_span_seconds &&
        a->info.has_first == b->info.has_first && a->info.has_last == b->info.has_last &&
        a->info.has_span == b->info.has_span && a->info.has_src_addr == b->info.has_src_addr &&
        a->info.has_ip_version == b->info.has_ip_version);
    assert_true(a->is_direct == b->is_direct && a->is_trusted == b->is_trusted);
    assert_memory_equal(a->is_coded, b->is_coded, sizeof a->is_coded);
    for (int i = 0; i < LEAT_PROBE_FIELDS; i++) assert_same_array(&a->columns[i], &b->columns[i]);
    assert_same_array(&a->values[0], &b->values[0]);
    assert_int_equal(b->values[1].rows, 0);
}

static void test_known(void **state) {
    (void)state;
    static const int64_t counts[] = {1, 2, 7, 8, 9, 26, 300};
    leat_probe_read_options options = leat_probe_read_options_default();
    options.trusted = true;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int k = 0; k < 4; k++) {
            made_row made;
            make_row(&made, counts[i], k & 1 ? 6 : 4);
            ar_image record = probe_write(made.cases, made.count, (k & 2) != 0);
            leat_view view = leat_view_of(record.data, record.size_bytes);
            leat_probe_row known, parsed;
            assert_true(leat_probe_row_open_known(&known, &view, &made.facts));
            assert_ok(leat_probe_row_open(&parsed, &view, &options, err));
            assert_same_row(&known, &parsed);
            probe_check_gather("known", &known);
            for (int64_t j = 0; j < made.count; j++) {
                leat_measurement one;
                assert_ok(leat_probe_row_get(&known, j, &one, err));
                probe_check_measurement("known", j, &one, &made.cases[j]);
            }
            leat_probe_row_close(&known);
            leat_probe_row_close(&parsed);
            free(record.data);
        }
    }
}

/* Measurements that have their own sources, of both versions, and as long together as equal ones.
 */
static void test_own_sources(void **state) {
    (void)state;
    static const char *const v4[] = {"192.0.2.17", "192.0.2.18", "10.1.0.200", "203.0.113.255"};
    static const char *const v6[] = {"2001:db8:1::17", "fe80::1"};
    static const int64_t counts[] = {1, 2, 8, 26, 63, 64, 65, 300};
    leat_probe_read_options options = leat_probe_read_options_default();
    options.trusted = true;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int k = 0; k < 3; k++) {
            made_row made, six;
            make_row(&made, counts[i], 4);
            make_row(&six, counts[i], 6);
            for (int64_t j = 0; j < counts[i]; j++) {
                if (k == 2 && j % 5 == 3) made.cases[j] = six.cases[j];
                if (k == 2 && j % 5 == 3) made.cases[j].src = v6[j % 2];
                else made.cases[j].src = v4[j % (k == 0 ? 3 : 4)];
            }
            ar_image record = probe_write(made.cases, made.count, false);
            leat_view view = leat_view_of(record.data, record.size_bytes);
            leat_probe_row known, parsed;
            made.facts.own_sources = true;
            assert_true(leat_probe_row_open_known(&known, &view, &made.facts));
            assert_true(known.own_sources);
            assert_ok(leat_probe_row_open(&parsed, &view, &options, err));
            assert_same_row(&known, &parsed);
            probe_check_gather("own sources", &known);
            for (int64_t j = 0; j < made.count; j++) {
                leat_measurement one;
                assert_ok(leat_probe_row_get(&known, j, &one, err));
                probe_check_measurement("own sources", j, &one, &made.cases[j]);
            }
            leat_probe_row_close(&known);
            leat_probe_row_close(&parsed);
            free(record.data);
        }
    }
}

/* One byte of the frame that is another, one fact that is another, one byte too few: parsed. */
static void test_not_known(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        made_row made;
        make_row(&made, 26, k & 1 ? 6 : 4);
        bool coded = (k & 2) != 0;
        ar_image record = probe_write(made.cases, made.count, coded);
        leat_view view = leat_view_of(record.data, record.size_bytes);
        leat_probe_row row;
        leat_probe_facts facts = made.facts;
        facts.src_size = (int32_t)strlen(made.cases[0].src);
        for (int64_t i = 0; i < made.count; i++) facts.dst_bytes += (int64_t)strlen(made.dst[i]);
        leat_probe_plan plan;
        memcpy(facts.src, made.cases[0].src, (size_t)facts.src_size);
        assert_ok(leat_probe_plan_row(&facts, coded, &plan, err));
        int64_t head = plan.pieces[0].size_bytes, tail = plan.record_bytes - 48;
        int64_t text = coded ? 840 + 384 + 176 + 8 : -1; /* the source: free to be another */
        int tried = 0;
        for (int64_t at = 0; at < plan.record_bytes; at == head - 1 ? (at = tail) : at++) {
            if (at >= text && at < text + facts.src_size) continue;
            record.data[at] ^= 0x10;
            if (leat_probe_row_open_known(&row, &view, &made.facts))
                fail_msg("byte %lld of %lld", (long long)at, (long long)plan.record_bytes);
            assert_false(row.is_direct);
            record.data[at] ^= 0x10;
            tried++;
        }
        assert_true(tried > 1500);
        for (int fact = 0; fact < 5; fact++) {
            leat_probe_facts other = made.facts;
            if (fact == 0) other.src_id++;
            if (fact == 1) other.n_measurements += 1;
            if (fact == 2) other.first_us--;
            if (fact == 3) other.last_us++;
            if (fact == 4) other.n_measurements = 0;
            assert_false(leat_probe_row_open_known(&row, &view, &other));
        }
        for (int64_t size = 0; size < record.size_bytes; size++) {
            ar_image cut = {malloc((size_t)size + 1), size}; /* a copy, so that a read past it is
                                                                seen by a sanitizer */
            memcpy(cut.data, record.data, (size_t)size);
            leat_view shorter = leat_view_of(cut.data, size);
            assert_false(leat_probe_row_open_known(&row, &shorter, &made.facts));
            free(cut.data);
        }
        free(record.data);
    }
}

/* Values that only the slow way knows, between others: the same values, the same words. */
static void test_out_of_the_ordinary(void **state) {
    (void)state;
    static const struct {
        const char *src, *dst;
        int version;
        float rtt;
        leat_code code;
    } cases[] = {
        {"192.0.2.17", "", 4, 1, LEAT_OK},
        {"2001:db8::1", "", 6, 1, LEAT_OK},
        {"", "198.51.100.1", 4, 1, LEAT_OK},
        {"", "2001:db8::2", 6, 1, LEAT_OK},
        {"", "", 4, 1, LEAT_OK},
        {"", "", 6, -1, LEAT_OK},
        {"192.0.2.17", "198.51.100.255", 4, -7.5f, LEAT_OK},
        {"192.0.2.17", "198.51.100.255", 4, -0.0f, LEAT_OK},
        {"192.0.2.17", "198.51.100.255", 4, __builtin_nanf(""), LEAT_OK},
        {"2001:DB8::1", "2001:0db8:0000:0000:0000:ffff:192.168.100.200", 6, 2, LEAT_OK},
        {"192.0.2.17", "198.51.100.1", 4, __builtin_inff(), LEAT_ERR_INPUT},
        {"192.0.2.17", "2001:db8::2", 6, 1, LEAT_ERR_INPUT},
        {"192.0.2.17", "198.51.100.256", 4, 1, LEAT_ERR_INPUT},
        {"192.0.2.17", "198.51.100.1 ", 4, 1, LEAT_ERR_INPUT},
        {"", "", 0, 1, LEAT_ERR_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_row made;
        const char *src = cases[i].src;
        make_row(&made, 40, *src == 0 ? cases[i].version : strchr(src, ':') ? 6 : 4);
        for (int64_t j = 0; j < made.count; j++) {
            made.cases[j].src = src;
            made.cases[j].ip_version = cases[i].version;
            if (cases[i].version == 0) made.cases[j].dst = "";
        }
        made.cases[23].dst = cases[i].dst;
        made.cases[23].rtt = cases[i].rtt;
        made.facts.src_id = leat_address_src_id(src, (int64_t)strlen(src));
        ar_image record = probe_write(made.cases, made.count, false);
        leat_view view = leat_view_of(record.data, record.size_bytes);
        leat_probe_row row;
        leat_measurement points[3], one;
        leat_error err = {0}, singly = {0};
        char texts[3 * LEAT_PROBE_TEXTS_BYTES];
        int64_t indices[3] = {22, 23, 24};
        assert_true(leat_probe_row_open_known(&row, &view, &made.facts));
        leat_code code = leat_probe_row_gather(&row, indices, 3, points, texts, &err);
        if (code != cases[i].code) fail_msg("case %d: code %d: %s", (int)i, code, err.message);
        if (code == LEAT_OK) {
            probe_check_gather("out of the ordinary", &row);
            assert_string_equal(points[1].dst, cases[i].dst);
            assert_string_equal(points[1].src, src);
            assert_true(points[1].rtt == (cases[i].rtt >= 0 ? cases[i].rtt : -1.0f));
        } else {
            int64_t first = cases[i].version == 0 ? 22 : 23;
            assert_int_equal(leat_probe_row_get(&row, first, &one, &singly), code);
            assert_string_equal(err.message, singly.message);
        }
        leat_probe_row_close(&row);
        free(record.data);
    }
}

/* Offsets that lead out of the text, times that are not the row's: refused, nothing read outside.
 */
static void test_bad_values(void **state) {
    (void)state;
    made_row made;
    make_row(&made, 40, 4);
    static const int32_t bad_offsets[] = {-1, INT32_MIN, INT32_MAX, 100000, 0};
    static const int64_t bad_times[] = {-1, INT64_MIN};
    for (int kind = 0; kind < 9; kind++) {
        ar_image record = probe_write(made.cases, made.count, false);
        leat_view view = leat_view_of(record.data, record.size_bytes);
        leat_probe_row row;
        leat_measurement points[40];
        leat_error err = {0};
        int64_t indices[40];
        for (int i = 0; i < 40; i++) indices[i] = i;
        assert_true(leat_probe_row_open_known(&row, &view, &made.facts));
        uint8_t *time = record.data + row.columns[LEAT_PROBE_FIELD_TIME].values.offset;
        uint8_t *offsets = record.data + row.columns[LEAT_PROBE_FIELD_DST].values.offset;
        if (kind < 5) memcpy(offsets + 4 * 20, &bad_offsets[kind], 4);
        else if (kind < 7) memcpy(time + 8 * 20, &bad_times[kind - 5], 8);
        else time[kind == 7 ? 0 : 8 * 39] ^= 1;
        leat_code code = leat_probe_row_gather(&row, indices, 40, points, NULL, &err);
        leat_code expected = kind < 5 ? LEAT_ERR_CORRUPT : LEAT_ERR_INPUT;
        if (code != expected) fail_msg("kind %d: %d %s", kind, code, err.message);
        leat_probe_row_close(&row);
        free(record.data);
    }
}

/* What is wanted of a place: the pages of its bytes, those behind a block header as well. */
static void test_wanted_pages(void **state) {
    (void)state;
    enum { PAGES = 64 };
    static uint8_t file[PAGES * LEAT_PAGE_BYTES];
    _Atomic uint64_t checked[1] = {0};
    leat_paged paged = {.data = file, .size_bytes = sizeof file, .checked = checked};
    leat_record_place place = {.data = file, .paged = &paged};
    int tried = 0, cut = 0;
    for (int64_t size = 1; size < 3 * LEAT_PAGE_BYTES; size += size < 100 ? 1 : 997) {
        for (int64_t before = -LEAT_AR_BLOCK_HEADER_BYTES; before <= size + 2;
             before += 1 + before / 100) {
            uint64_t expected = 0, wanted = 0;
            leat_look look = {.paged = &paged, .page = -1};
            int64_t at = 2 * LEAT_AR_BLOCK_BYTES - before;
            if (before <= 0 && before > -LEAT_AR_BLOCK_HEADER_BYTES) continue; /* in the header */
            for (int64_t i = 0; i < size; i++) {
                bool behind = before > 0 && i >= before;
                int64_t position = at + i + (behind ? LEAT_AR_BLOCK_HEADER_BYTES : 0);
                expected |= UINT64_C(1) << (position / LEAT_PAGE_BYTES);
            }
            leat_record_place_want(&place, &look, at, size);
            for (int i = 0; i < look.unchecked_count; i++) {
                wanted |= UINT64_C(1) << look.unchecked[i];
            }
            if (wanted != expected)
                fail_msg("%lld bytes, %lld before the header", (long long)size, (long long)before);
            cut += leat_record_place_cut(&place, at, size);
            tried++;
        }
    }
    assert_true(tried > 6000 && cut > 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),      cmocka_unit_test(test_wanted_pages),
        cmocka_unit_test(test_not_known),  cmocka_unit_test(test_out_of_the_ordinary),
        cmocka_unit_test(test_bad_values), cmocka_unit_test(test_own_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
