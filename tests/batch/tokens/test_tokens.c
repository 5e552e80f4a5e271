/*
 * Tokens against those of ping-llm (golden/latency/tokens.json.gz), token for
 * token; the decoder on what the encoder makes, on every way to cut it, and on what nobody should
 * make.
 */
#include <math.h>

#include "base/address.h"
#include "base/rng.h"
#include "batch/tokens/content_order.h"
#include "batch_support.h"

static json_t *golden;

static int64_t number(const json_t *array, size_t index) {
    return json_integer_value(json_array_get(array, index));
}

static float float_of_bits(int64_t bits) {
    uint32_t narrow = (uint32_t)bits;
    float value = 0;
    memcpy(&value, &narrow, sizeof(value));
    return value;
}

/* ping-llm reads "fe80::1%eth0" and takes blanks for no address; rows of ours never hold
 * either: here the zone is left out, and blanks are the zero address. */
static void parse_bytes(const char *text, int version, uint8_t bytes[16]) {
    int64_t size = (int64_t)strcspn(text, "% ");
    if (size > 0) assert_int_equal(leat_address_parse(text, size, bytes), version);
}

static leat_measurement golden_measurement(const json_t *it) {
    leat_measurement out = {
        .time_us = json_integer_value(json_object_get(it, "event_time_us")),
        .src = json_string_value(json_object_get(it, "src_addr")),
        .dst = json_string_value(json_object_get(it, "dst_addr")),
        .ip_version = (int)json_integer_value(json_object_get(it, "ip_version")),
        .rtt = float_of_bits(json_integer_value(json_object_get(it, "rtt_bits"))),
    };
    out.src_size = (int32_t)strlen(out.src);
    out.dst_size = (int32_t)strlen(out.dst);
    parse_bytes(out.src, out.ip_version, out.src_bytes);
    parse_bytes(out.dst, out.ip_version, out.dst_bytes);
    return out;
}

static void assert_tokens(const int32_t *got, int32_t count, const json_t *want, const char *what,
                          int64_t id) {
    if ((size_t)count != json_array_size(want)) {
        fail_msg("%s %d: %d tokens, not %d", what, (int)id, count, (int)json_array_size(want));
    }
    for (int32_t i = 0; i < count; i++) {
        if (got[i] != number(want, (size_t)i)) {
            fail_msg("%s %d: token %d is %d, not %d", what, (int)id, i, got[i],
                     (int)number(want, (size_t)i));
        }
    }
}

/* ---- golden ---- */

static void golden_measurements(void **state) {
    (void)state;
    static const char *const fields[] = {"src", "dst", "result", "time_abs"};
    const json_t *all = json_object_get(golden, "measurements");
    assert_int_equal(json_array_size(all), 612);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *it = json_array_get(all, i);
        leat_measurement point = golden_measurement(it);
        int32_t tokens[LEAT_TOKENS_MAX];
        assert_int_equal(leat_content_seed(&point),
                         json_integer_value(json_object_get(it, "seed")));
        for (int timed = 0; timed < 2; timed++) {
            uint8_t order[LEAT_FIELDS];
            int64_t clock_us = LEAT_CLOCK_UNSET;
            const json_t *want = json_object_get(it, timed ? "order4" : "order3");
            leat_tokens_content_order(&point, timed, order);
            for (size_t f = 0; f < json_array_size(want); f++) {
                assert_int_equal(order[f], number(want, f));
            }
            int32_t count = leat_tokens_encode(&point, order, timed, &clock_us, tokens);
            assert_tokens(tokens, count, json_object_get(it, timed ? "tokens" : "tokens_no_time"),
                          "measurement", (int64_t)i);
            assert_int_equal(clock_us, timed ? point.time_us : LEAT_CLOCK_UNSET);
        }
        for (int f = 0; f < LEAT_FIELDS; f++) { /* each field alone, from a place at the front */
            uint8_t order[LEAT_FIELDS] = {0, 1, 2, 3};
            int64_t clock_us = LEAT_CLOCK_UNSET;
            order[0] = (uint8_t)f;
            order[f] = 0;
            leat_tokens_encode(&point, order, true, &clock_us, tokens);
            const json_t *want = json_object_get(it, fields[f]);
            assert_tokens(tokens + 1, (int32_t)json_array_size(want), want, fields[f], (int64_t)i);
        }
        const json_t *rtt = json_object_get(it, "rtt_decoded_ms");
        assert_int_equal(json_is_null(rtt), !(point.rtt >= 0));
        if (!json_is_null(rtt)) {
            double ms = (double)leat_tokens_rtt_decode(leat_tokens_rtt_encode(point.rtt)) / 1000;
            assert_true(fabs(ms - json_number_value(rtt)) < 1e-9 * (1 + ms));
        }
    }
}

static void golden_sequences(void **state) {
    (void)state;
    const json_t *all = json_object_get(golden, "sequences");
    const json_t *measurements = json_object_get(golden, "measurements");
    assert_int_equal(json_array_size(all), 70);
    static int32_t tokens[100000];
    static leat_decoded decoded[10000];
    for (size_t s = 0; s < json_array_size(all); s++) {
        const json_t *it = json_array_get(all, s), *ids = json_object_get(it, "ids");
        const json_t *timed = json_object_get(it, "timed"), *starts = json_object_get(it, "starts");
        int64_t clock_us = LEAT_CLOCK_UNSET;
        int32_t count = 0, found = 0;
        for (size_t i = 0; i < json_array_size(ids); i++) {
            leat_measurement point =
                golden_measurement(json_array_get(measurements, (size_t)number(ids, i)));
            uint8_t order[LEAT_FIELDS];
            assert_int_equal(count, number(starts, i));
            leat_tokens_content_order(&point, number(timed, i) != 0, order);
            count +=
                leat_tokens_encode(&point, order, number(timed, i) != 0, &clock_us, tokens + count);
        }
        assert_tokens(tokens, count, json_object_get(it, "tokens"), "sequence", (int64_t)s);
        assert_fine(leat_tokens_decode(tokens, NULL, count, decoded, 10000, &found, err));
        assert_int_equal(found, json_array_size(ids));
        for (int32_t i = 0; i < found; i++) {
            assert_int_equal(decoded[i].first, number(starts, (size_t)i));
            assert_int_equal(decoded[i].time_token != 0, number(timed, (size_t)i));
            assert_false(decoded[i].cut);
        }
    }
}

static void golden_rtts(void **state) {
    (void)state;
    const json_t *all = json_object_get(golden, "rtt_pairs");
    assert_int_equal(json_array_size(all), 837);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *it = json_array_get(all, i);
        leat_measurement point = {.ip_version = 4, .rtt = float_of_bits(number(it, 0))};
        static const uint8_t order[LEAT_FIELDS] = {LEAT_FIELD_RESULT, 0, 1, 3};
        int32_t tokens[LEAT_TOKENS_MAX];
        int64_t clock_us = LEAT_CLOCK_UNSET;
        leat_tokens_encode(&point, order, false, &clock_us, tokens);
        if (json_is_null(json_array_get(it, 1))) {
            assert_int_equal(tokens[1], LEAT_TOKEN_FAILED);
            continue;
        }
        assert_int_equal(tokens[1], LEAT_TOKEN_RTT_START);
        assert_int_equal(tokens[2], LEAT_TOKEN_BYTE + number(it, 1));
        assert_int_equal(tokens[3], LEAT_TOKEN_BYTE + number(it, 2));
        double ms = (double)leat_tokens_rtt_decode((uint16_t)(number(it, 1) << 8 | number(it, 2)));
        double want = json_number_value(json_array_get(it, 3));
        assert_true(fabs(ms / 1000 - want) <= 1e-9 * want);
    }
}

static void golden_times(void **state) {
    (void)state;
    const json_t *all = json_object_get(golden, "time_pairs");
    assert_int_equal(json_array_size(all), 20);
    int raised = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *it = json_array_get(all, i), *want = json_array_get(it, 2);
        int64_t time_us = number(it, 1);
        bool first = json_is_null(json_array_get(it, 0));
        int64_t clock_us = first ? LEAT_CLOCK_UNSET : number(it, 0);
        static const uint8_t order[LEAT_FIELDS] = {LEAT_FIELD_TIME, 0, 1, 2};
        int32_t tokens[LEAT_TOKENS_MAX];
        if (time_us < 0) continue; /* never passes ingest */
        leat_measurement point = {.ip_version = 4, .rtt = -1, .time_us = time_us};
        int32_t count = leat_tokens_encode(&point, order, true, &clock_us, tokens);
        if (json_is_array(want)) {
            assert_int_equal(count, LEAT_TOKENS_MIN + (int)json_array_size(want));
            assert_tokens(tokens + 1, (int32_t)json_array_size(want), want, "time pair",
                          (int64_t)i);
        } else { /* too far from the last one: absolute, where ping-llm gives up */
            assert_int_equal(count, LEAT_TOKENS_MIN + 9);
            assert_int_equal(tokens[1], LEAT_TOKEN_TIMESTAMP_ABS);
            raised++;
        }
    }
    assert_true(raised >= 2);
}

static void golden_mersenne(void **state) {
    (void)state;
    const json_t *all = json_object_get(golden, "mersenne");
    assert_int_equal(json_array_size(all), 64);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *it = json_array_get(all, i);
        leat_mt19937 mt;
        leat_mt19937_seed_python(&mt, (uint32_t)number(it, 0));
        for (size_t w = 0; w < 4; w++) {
            assert_int_equal(leat_mt19937_next(&mt), number(json_array_get(it, 1), w));
        }
        for (int count = 3; count <= 4; count++) {
            uint8_t items[4] = {0, 1, 2, 3};
            leat_mt19937_seed_python(&mt, (uint32_t)number(it, 0));
            leat_content_shuffle(&mt, items, count);
            for (int w = 0; w < count; w++) {
                assert_int_equal(items[w],
                                 number(json_array_get(it, (size_t)count - 1), (size_t)w));
            }
        }
    }
}

/* The 10000th word of MT19937 seeded by init_by_array({5489}): far behind the first renewal. The
 * value is CPython's: r = random.Random(5489); [r.getrandbits(32) for _ in range(10000)][-1] */
static void mersenne_far(void **state) {
    (void)state;
    leat_mt19937 mt;
    uint32_t word = 0;
    leat_mt19937_seed_python(&mt, 5489);
    for (int i = 0; i < 10000; i++) word = leat_mt19937_next(&mt);
    assert_int_equal(word, UINT32_C(2375762794));
}

/* ---- by rule ---- */

static void names(void **state) {
    (void)state;
    assert_string_equal(leat_token_name(0), "MEASUREMENT_START");
    assert_string_equal(leat_token_name(4), "DST_IPV6");
    assert_string_equal(leat_token_name(10), "FAILED");
    assert_string_equal(leat_token_name(11), "");
    assert_string_equal(leat_token_name(-1), "");
    assert_string_equal(leat_token_name(INT32_MAX), "");
    if (golden == NULL) return;
    const json_t *all = json_object_get(golden, "names");
    for (int i = 0; i < LEAT_TOKEN_BYTE; i++) {
        char key[8];
        snprintf(key, sizeof(key), "%d", i);
        assert_string_equal(leat_token_name(i), json_string_value(json_object_get(all, key)));
    }
    assert_int_equal(json_integer_value(json_object_get(golden, "vocab")), LEAT_TOKEN_COUNT);
}

/* The loop of docs/tokens.md. */
static int slow_rtt_code(float rtt) {
    double us = fmax(1, (double)rtt * 1000);
    int exponent = 0;
    while (us >= 2048 && exponent < 31) {
        us /= 2;
        exponent++;
    }
    double mantissa = fmin(floor(us), 2047);
    return exponent << 11 | (int)mantissa;
}

static void rtts(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 400000; i++) {
        float rtt = fabsf(float_of_bits((int64_t)(leat_random(5, 5, i) >> 32)));
        if (!isfinite(rtt)) continue;
        int code = leat_tokens_rtt_encode(rtt);
        assert_int_equal(code, slow_rtt_code(rtt));
        double us = fmax(1, (double)rtt * 1000),
               back = (double)leat_tokens_rtt_decode((uint16_t)code);
        if (us < 2047.0 * (INT64_C(1) << 31)) {
            assert_true(back <= us && us - back < (us < 1024 ? 1 : us * 0.001));
        }
    }
    for (int code = 0; code < 65536; code++) { /* every code that can be written reads back */
        float rtt = (float)((double)leat_tokens_rtt_decode((uint16_t)code) / 1000);
        if ((code & 2047) < 1024 && code >> 11 != 0) continue;
        int64_t again = leat_tokens_rtt_decode(leat_tokens_rtt_encode(rtt));
        assert_true(llabs(again - leat_tokens_rtt_decode((uint16_t)code)) <= INT64_C(1)
                                                                                 << (code >> 11));
    }
}

/* How many tokens a measurement takes, by version, stamp and result. */
static void sizes(void **state) {
    (void)state;
    static const struct {
        int version;
        int64_t clock_us, time_us;
        bool timed;
        int tokens;
    } cases[] = {
        {4, -1, 500, true, 23},
        {4, 0, 255999999, true, 16},
        {4, 0, 256000000, true, 19},
        {4, 5, 6, false, 14},
        {6, -1, 500, true, 47},
        {6, 0, 255999999, true, 40},
        {6, 0, 256000000, true, 43},
        {6, 5, 6, false, 38},
        {4, 9000000, 0, true, 16},
        {4, 0, INT64_C(4294967295999999), true, 19},
        {4, 0, INT64_C(4294967296000000), true, 23},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        static const uint8_t order[LEAT_FIELDS] = {3, 1, 2, 0};
        leat_measurement point = {
            .ip_version = cases[c].version, .time_us = cases[c].time_us, .rtt = 1};
        int32_t tokens[LEAT_TOKENS_MAX];
        for (int failed = 0; failed < 2; failed++) {
            int64_t clock_us = cases[c].clock_us;
            point.rtt = failed ? -1 : 1;
            int32_t count = leat_tokens_encode(&point, order, cases[c].timed, &clock_us, tokens);
            assert_int_equal(count, cases[c].tokens - 2 * failed);
            assert_int_equal(clock_us, cases[c].timed ? cases[c].time_us : cases[c].clock_us);
        }
    }
}

/* ---- the decoder ---- */

typedef struct made { /* a sequence with what it holds */
    int32_t tokens[4000], segments[4000], first[400];
    int32_t length, count;
} made;

static void make_two_segments(made *out, test_rows *rows) {
    out->length = out->count = 0;
    for (int segment = 1; segment <= 2; segment++) {
        int64_t clock_us = LEAT_CLOCK_UNSET;
        for (int64_t i = 0; i < 20; i++) {
            leat_measurement point;
            uint8_t order[LEAT_FIELDS] = {0, 1, 2, 3};
            uint64_t bits = leat_random(8, (uint64_t)segment, (uint64_t)i);
            order[0] = (uint8_t)(bits % 4);
            order[bits % 4] = 0;
            make_point(rows, segment, i, 0, &point);
            out->first[out->count++] = out->length;
            int32_t size = leat_tokens_encode(&point, order, (bits >> 20) % 3 > 0, &clock_us,
                                              out->tokens + out->length);
            for (int32_t t = 0; t < size; t++) out->segments[out->length++] = segment;
        }
    }
}

static void cut_tails(void **state) {
    (void)state;
    test_rows *rows = make_rows(ROWS_FIELD, 3, 3, 100, 0);
    static made it;
    static leat_decoded all[400], part[400];
    int32_t count = 0, marked = 0;
    make_two_segments(&it, rows);
    assert_fine(leat_tokens_decode(it.tokens, it.segments, it.length, all, 400, &count, err));
    assert_int_equal(count, it.count);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(all[i].first, it.first[i]);
        assert_int_equal(all[i].segment, 1 + i / 20);
        assert_false(all[i].cut);
    }
    for (int32_t length = 0; length <= it.length; length++) {
        int32_t whole = 0;
        while (whole < it.count && all[whole].first + all[whole].count <= length) whole++;
        int32_t rest = length - (whole < it.count ? all[whole].first : it.length);
        assert_fine(leat_tokens_decode(it.tokens, it.segments, length, part, 400, &count, err));
        assert_int_equal(count, whole + (rest > 0));
        assert_memory_equal(part, all, sizeof(*all) * (size_t)whole);
        if (rest <= 0) continue;
        const leat_decoded *tail = &part[whole], *full = &all[whole];
        assert_int_equal(tail->first, full->first);
        assert_int_equal(tail->count, rest);
        /* what is missing may be the timestamp alone: then it looks whole, without one */
        bool whole_but_time = tail->src_version != 0 && tail->dst_version != 0 && tail->has_result;
        if (whole_but_time && !tail->cut) assert_int_equal(tail->time_token, 0);
        else assert_true(tail->cut);
        assert_true(tail->field_count < full->field_count);
        assert_memory_equal(tail->order, full->order, (size_t)tail->field_count);
        marked += tail->cut;
    }
    assert_true(marked > it.length / 2);
    /* fewer places than measurements: all are counted, what fits is given */
    assert_fine(leat_tokens_decode(it.tokens, it.segments, it.length, part, 3, &count, err));
    assert_int_equal(count, it.count);
    assert_fine(leat_tokens_decode(it.tokens, it.segments, it.length, NULL, 0, &count, err));
    assert_int_equal(count, it.count);
    free_rows(rows);
}

enum { B = LEAT_TOKEN_BYTE };
#define SRC4 1, B + 1, B + 2, B + 3, B + 4
#define DST4 3, B + 5, B + 6, B + 7, B + 8
#define WHOLE 0, SRC4, DST4, 10

static void hostile(void **state) {
    (void)state;
    static const struct {
        int32_t tokens[40];
        int32_t segments[40];
        int32_t length;
        const char *says; /* NULL: fine */
    } cases[] = {
        {{WHOLE}, {0}, 12, NULL},
        {{WHOLE, WHOLE}, {0}, 24, NULL},
        {{1}, {0}, 1, "token 0 of the sequence is 1 (SRC_IPV4), not MEASUREMENT_START"},
        {{-5}, {0}, 1, "token 0 of the sequence is -5, not MEASUREMENT_START"},
        {{0, 267}, {0}, 2, "token 1 of the sequence is 267, not a field"},
        {{0, INT32_MIN}, {0}, 2, "not a field"},
        {{0, INT32_MAX}, {0}, 2, "not a field"},
        {{0, 9, B, B}, {0}, 4, "token 1 of the sequence is 9 (THROUGHPUT_START), not a field"},
        {{0, B}, {0}, 2, "token 1 of the sequence is 11, not a field"},
        {{0, SRC4, SRC4}, {0}, 11, "token 6 of the sequence is 1 (SRC_IPV4), not a field that"},
        {{0, 10, 8, B, B}, {0}, 5, "token 2 of the sequence is 8 (RTT_START), not a field that"},
        {{0, 1, B, 3}, {0}, 4, "token 3 of the sequence is 3 (DST_IPV4), not a byte"},
        {{0, 1, B, 0}, {0}, 4, "token 3 of the sequence is 0 (MEASUREMENT_START), not a byte"},
        {{0, 1, B, 267}, {0}, 4, "token 3 of the sequence is 267, not a byte"},
        {{0, SRC4, DST4, 0}, {0}, 12, "token 11 of the sequence is 0 (MEASUREMENT_START), not the"},
        {{0, 0}, {0}, 2, "not the rest of the previous measurement"},
        {{WHOLE, 6, B + 3},
         {0},
         14,
         "token 12 of the sequence is 6 (TIMESTAMP_DELTA1), not a time"},
        {{0, 5, 139, B, B, B, B, B, B, B}, {0}, 10, "token 1 of the sequence is 5"},
        {{WHOLE, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, 14, NULL},
        {{WHOLE, 0, 7}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, 14, "token 13 of the sequence"},
        {{WHOLE, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2}, 14, "after padding"},
        {{WHOLE, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3}, 13, "in segment 3, after segment 1"},
        {{WHOLE, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1}, 13, "in segment -1, after"},
        {{0, 10, 0},
         {1, 1, 2},
         3,
         "the measurement at token 0 ends incomplete at token 2 with its segment"},
        {{0, 1, 0},
         {1, 1, 0},
         3,
         "the measurement at token 0 ends incomplete at token 2 with its segment"},
        {{0}, {2}, 1, "in segment 2, after segment 0"},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_decoded out[8];
        leat_error err = {0};
        int32_t count = 77;
        bool segmented = false;
        for (int i = 0; i < cases[c].length; i++) segmented |= cases[c].segments[i] != 0;
        leat_code code = leat_tokens_decode(cases[c].tokens, segmented ? cases[c].segments : NULL,
                                            cases[c].length, out, 8, &count, &err);
        if (cases[c].says == NULL) {
            assert_int_equal(code, LEAT_OK);
            continue;
        }
        assert_int_equal(code, LEAT_ERR_CORRUPT);
        assert_int_equal(count, 0);
        if (strstr(err.message, cases[c].says) == NULL) {
            fail_msg("case %d: \"%s\" does not say \"%s\"", (int)c, err.message, cases[c].says);
        }
    }
}

/* A difference over several seconds' worth of clock: times add up, and never past 2^63. */
static void decoded_times(void **state) {
    (void)state;
    static const int32_t tokens[] = {WHOLE, 5, B,       B,     B,     B, B, B, B + 1, B + 2,
                                     WHOLE, 6, B + 200, WHOLE, WHOLE, 7, B, B, B + 1, B};
    leat_decoded out[4];
    int32_t count = 0;
    assert_fine(leat_tokens_decode(tokens, NULL, sizeof(tokens) / 4, out, 4, &count, err));
    static const int64_t times[] = {258, 458, -1, 714}, values[] = {258, 200, 0, 256};
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(out[i].time_s, times[i]);
        assert_int_equal(out[i].time_value, values[i]);
    }
    static const int32_t late[] = {WHOLE,   5,       B + 127, B + 255, B + 255, B + 255, B + 255,
                                   B + 255, B + 255, B + 255, WHOLE,   6,       B + 1};
    leat_error err = {0};
    assert_int_equal(leat_tokens_decode(late, NULL, 21, out, 4, &count, &err), LEAT_OK);
    assert_int_equal(leat_tokens_decode(late, NULL, sizeof(late) / 4, out, 4, &count, &err),
                     LEAT_ERR_CORRUPT);
}

static void words(void **state) {
    (void)state;
    static const int32_t tokens[] = {0,  SRC4, DST4, 8,      B + 36,  B + 226, 5,      B,
                                     B,  B,    B,    B + 92, B + 192, B + 192, B + 64, 0,
                                     10, SRC4, DST4, 6,      B + 240, 0,       DST4,   999};
    static const int32_t padded[] = {WHOLE, 0, 0};
    static const int32_t ends[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
    static const struct {
        const int32_t *tokens, *segments;
        int32_t length;
        leat_code code;
        const char *text;
    } cases[] = {
        {tokens, NULL, 23, LEAT_OK,
         "    0 +23  segment 1  2019-04-24T20:00:00Z absolute    1.2.3.4 -> 5.6.7.8  20.000 ms  "
         "[src dst result time]\n"},
        {tokens, NULL, 43, LEAT_OK,
         "    0 +23  segment 1  2019-04-24T20:00:00Z absolute    1.2.3.4 -> 5.6.7.8  20.000 ms  "
         "[src dst result time]\n"
         "   23 +14  segment 1  2019-04-24T20:04:00Z +240 s      1.2.3.4 -> 5.6.7.8  failed  "
         "[result src dst time]\n"
         "   37 +6   segment 1  no time                          ? -> 5.6.7.8  ?  [dst] cut "
         "here\n"},
        {tokens, NULL, 44, LEAT_ERR_CORRUPT,
         "    0 +23  segment 1  2019-04-24T20:00:00Z absolute    1.2.3.4 -> 5.6.7.8  20.000 ms  "
         "[src dst result time]\n"
         "   23 +14  segment 1  2019-04-24T20:04:00Z +240 s      1.2.3.4 -> 5.6.7.8  failed  "
         "[result src dst time]\n"},
        {padded, ends, 14, LEAT_OK,
         "    0 +12  segment 1  no time                          1.2.3.4 -> 5.6.7.8  failed  "
         "[src dst result]\n"
         "   12 +2   padding\n"},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_textbuf *text = NULL;
        const char *got = NULL;
        int64_t size = 0;
        assert_fine(leat_textbuf_create(&text, err));
        leat_code code =
            leat_tokens_words(cases[c].tokens, cases[c].segments, cases[c].length, text, NULL);
        assert_int_equal(code, cases[c].code);
        assert_fine(leat_textbuf_finish(text, &got, &size, err));
        assert_string_equal(got, cases[c].text);
        leat_textbuf_destroy(text);
    }
}

static int setup(void **state) {
    (void)state;
    golden = golden_json("golden/latency/tokens.json.gz");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    json_decref(golden);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_measurements),
        cmocka_unit_test(golden_sequences),
        cmocka_unit_test(golden_rtts),
        cmocka_unit_test(golden_times),
        cmocka_unit_test(golden_mersenne),
        cmocka_unit_test(mersenne_far),
        cmocka_unit_test(names),
        cmocka_unit_test(rtts),
        cmocka_unit_test(sizes),
        cmocka_unit_test(cut_tails),
        cmocka_unit_test(hostile),
        cmocka_unit_test(decoded_times),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests_name("tokens", tests, setup, teardown);
}
