/*
 * One row of a synthetic data set (see probes.h): who measures, when, which target, with what
 * result.
 *
 * Addresses of probes are distinct because they carry the probe's number through a keyed bijection
 * of 32 bits (a Feistel network, iterated until the value falls into the wanted range). Round-trip
 * times: log-normal with median 50 ms and 99th percentile 343 ms, most of the variance in the pair
 * of probe and target and the rest in the single measurement, plus a few stragglers with a Pareto
 * tail that ends at 302,281 ms.
 */
#include <string.h>

#include "base/rng.h"
#include "synth/probes/probes.h"

/* Streams of random numbers; for results and pairs a number or an anchor is added. */
#define STREAM_FEISTEL 1 /* and the three after it */
#define STREAM_VERSION 16
#define STREAM_IPV6 17
#define STREAM_ANCHOR_KEY 18
#define STREAM_CYCLE 19
#define STREAM_TARGET 20
#define STREAM_RESULT (UINT64_C(1) << 40)
#define STREAM_PAIR (UINT64_C(1) << 41)

#define IPV4_SHARE 0.577
#define FAILED_SHARE 0.035
#define ANCHOR_SHARE 0.85
#define STRAGGLER_SHARE 0.0003
#define STRAGGLER_LEAST_US 1e6
#define RTT_MOST_US 302281e3
#define RTT_MEDIAN_LOG2 15.609640474436812 /* of 50,000 microseconds */
#define RTT_SIGMA_LOG2 1.2174
#define PAIR_WEIGHT 0.9
#define NOISE_WEIGHT 0.4358898943540674 /* the squares add up to 1 */

/* ---- Addresses --------------------------------------------------------------------------- */

static uint32_t scramble(uint64_t seed, uint32_t value) {
    uint32_t left = value >> 16, right = value & 0xffff;
    for (uint64_t round = 0; round < 4; round++) {
        uint32_t mixed = (uint32_t)(leat_random(seed, STREAM_FEISTEL + round, right) >> 48);
        uint32_t next = left ^ mixed;
        left = right;
        right = next;
    }
    return left << 16 | right;
}

/* Whether the 256^3 addresses with this first octet are public. */
static bool is_public_octet(int octet) {
    switch (octet) {
    case 0:
    case 10:
    case 100:
    case 127:
    case 169:
    case 172:
    case 192:
    case 198:
    case 203: return false;
    default: return octet < 224;
    }
}

/* The iteration from a public address ends at another one: on a cycle of the bijection the next
 * public value after a public value is a bijection too. It starts with a numbering of the public
 * ones. */
static uint32_t public_ipv4(uint64_t seed, uint32_t number) {
    uint32_t octet = number >> 24, passed = 0, first = 0;
    for (; first < 224; first++) {
        if (!is_public_octet((int)first)) continue;
        if (passed++ == octet) break;
    }
    uint32_t value = first << 24 | (number & 0xffffff);
    do value = scramble(seed, value);
    while (!is_public_octet((int)(value >> 24)));
    return value;
}

static void format_ipv4(uint32_t value, leat_synth_address *address) {
    char *at = address->text;
    for (int shift = 24; shift >= 0; shift -= 8) {
        uint32_t octet = value >> shift & 255;
        if (octet >= 100) *at++ = (char)('0' + octet / 100);
        if (octet >= 10) *at++ = (char)('0' + octet / 10 % 10);
        *at++ = (char)('0' + octet % 10);
        if (shift > 0) *at++ = '.';
    }
    address->size_bytes = (uint8_t)(at - address->text);
}

static void format_ipv6(uint64_t seed, uint32_t number, leat_synth_address *address) {
    static const uint16_t prefixes[] = {0x2001, 0x2a00, 0x2a01, 0x2a02, 0x2a03, 0x2a06,
                                        0x2600, 0x2601, 0x2606, 0x2400, 0x2402, 0x2404,
                                        0x2800, 0x2804, 0x2c0f, 0x2003};
    uint64_t choice = leat_random(seed, STREAM_IPV6, number);
    uint64_t host = leat_random(seed, STREAM_IPV6, (uint64_t)number | UINT64_C(1) << 32);
    uint32_t site = scramble(seed, number);
    uint64_t groups[8] = {prefixes[choice & 15],
                          site >> 16,
                          site & 0xffff,
                          choice >> 4 & 0xffff,
                          host >> 48,
                          host >> 32,
                          host >> 16,
                          host};
    uint64_t kind = choice >> 56; /* of 256 */
    uint8_t bytes[16];
    if (kind < 26) { /* a server: ::1 and similar */
        groups[4] = groups[5] = groups[6] = 0;
        groups[7] = 1 + (host & 31);
    } else if (kind < 102) { /* derived from the hardware address */
        groups[4] |= 0x0200;
        groups[5] |= 0x00ff;
        groups[6] = 0xfe00 | (groups[6] & 0xff);
    }
    if (groups[1] == 0x0db8 && groups[0] == 0x2001)
        groups[0] = 0x2002; /* not the documentation prefix */
    for (int i = 0; i < 8; i++) {
        bytes[2 * i] = (uint8_t)(groups[i] >> 8);
        bytes[2 * i + 1] = (uint8_t)groups[i];
    }
    address->size_bytes = (uint8_t)leat_address_format(6, bytes, address->text);
}

static void format_address(uint64_t seed, int ip_version, uint32_t number,
                           leat_synth_address *address) {
    if (ip_version == 4) format_ipv4(public_ipv4(seed, number), address);
    else format_ipv6(seed, number, address);
}

int leat_synth_source(const leat_synth *synth, int64_t probe, leat_synth_address *address) {
    uint64_t bits = leat_random(synth->seed, STREAM_VERSION, (uint64_t)probe);
    int ip_version = leat_random_unit(bits) < IPV4_SHARE ? 4 : 6;
    format_address(synth->seed, ip_version, (uint32_t)probe, address);
    return ip_version;
}

/* ---- Targets ----------------------------------------------------------------------------- */

/* Popularity 1/(rank + 1). */
static void make_anchors(leat_synth *synth) {
    uint64_t seed = leat_random(synth->seed, STREAM_ANCHOR_KEY, 0);
    double sum = 0, part = 0;
    for (int i = 0; i < LEAT_SYNTH_ANCHORS; i++) sum += 1.0 / (i + 1);
    for (int i = 0; i < LEAT_SYNTH_ANCHORS; i++) {
        part += 1.0 / (i + 1);
        synth->anchor_bounds[i] = (uint64_t)(part / sum * 0x1p63) * 2;
        format_address(seed, 4, (uint32_t)i, &synth->anchors[0][i]);
        format_address(seed, 6, (uint32_t)i, &synth->anchors[1][i]);
    }
    synth->anchor_bounds[LEAT_SYNTH_ANCHORS - 1] = UINT64_MAX;
}

static int find_anchor(const leat_synth *synth, uint64_t bits) {
    int low = 0, high = LEAT_SYNTH_ANCHORS - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (bits < synth->anchor_bounds[middle]) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* Returns the anchor's number, or LEAT_SYNTH_ANCHORS for an address of its own. */
static int choose_target(const leat_synth *synth, leat_synth_row *row) {
    uint64_t seed = leat_random(synth->seed, STREAM_TARGET, (uint64_t)row->number);
    uint64_t bits = leat_random(seed, STREAM_TARGET, (uint64_t)row->probe);
    /* the low 32 bits decide whether, a new number decides which */
    uint64_t which = leat_random(bits, STREAM_TARGET, 0);
    if ((double)(bits & 0xffffffff) < ANCHOR_SHARE * 0x1p32) {
        int anchor = find_anchor(synth, which);
        row->dst = &synth->anchors[row->ip_version == 6][anchor];
        return anchor;
    }
    /* 2^31 numbers are all public in the numbering of public_ipv4 (215 of 256 first octets) */
    format_address(bits, row->ip_version, (uint32_t)(which >> 33), &row->own_target);
    row->dst = &row->own_target;
    return LEAT_SYNTH_ANCHORS;
}

/* ---- Results ----------------------------------------------------------------------------- */

/* The sum of four uniform numbers: close enough to a normal one, without a math library function.
 */
static double normal_of(uint64_t bits) {
    double sum =
        (double)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
    return (sum - 131070) / 37837.227;
}

/* 2^x for 0 <= x < 40, by the series of exp around one half. */
static double power_of_two(double x) {
    int whole = (int)x;
    double y = (x - whole - 0.5) * 0.6931471805599453, term = 1, sum = 1;
    for (int i = 1; i <= 9; i++) {
        term = term * y / i;
        sum += term;
    }
    return sum * 1.4142135623730951 * (double)(INT64_C(1) << whole);
}

static float draw_rtt(const leat_synth *synth, const leat_synth_row *row, int anchor) {
    uint64_t stream = STREAM_RESULT + (uint64_t)row->number;
    uint64_t fate = leat_random(synth->seed, stream, (uint64_t)row->probe);
    double unit = leat_random_unit(fate);
    if (unit < FAILED_SHARE) return -1;
    uint64_t noise_bits = leat_random(fate, STREAM_RESULT, 1);
    double rtt_us;
    if (unit < FAILED_SHARE + STRAGGLER_SHARE) {
        double least = STRAGGLER_LEAST_US / RTT_MOST_US;
        rtt_us = STRAGGLER_LEAST_US / (least + (1 - least) * leat_random_unit(noise_bits));
    } else {
        uint64_t pair =
            leat_random(synth->seed, STREAM_PAIR + (uint64_t)anchor, (uint64_t)row->probe);
        double z = PAIR_WEIGHT * normal_of(pair) + NOISE_WEIGHT * normal_of(noise_bits);
        rtt_us = power_of_two(RTT_MEDIAN_LOG2 + RTT_SIGMA_LOG2 * z);
    }
    return (float)((double)(int64_t)(rtt_us + 0.5) / 1000);
}

/* ---- Rows -------------------------------------------------------------------------------- */

static int64_t gcd_of(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The order of the lanes in the cursor's cycle: place -> place * multiplier + shift. */
static void enter_cycle(leat_synth_cursor *cursor) {
    uint64_t active = (uint64_t)cursor->synth->runs[cursor->run].active;
    uint64_t bits = leat_random(cursor->synth->seed, STREAM_CYCLE, (uint64_t)cursor->cycle);
    uint64_t more = leat_random(bits, STREAM_CYCLE, 1);
    cursor->active = (int64_t)active;
    cursor->shift = (int64_t)leat_random_below(more, active);
    cursor->multiplier = (int64_t)(active / 3 + leat_random_below(bits, active / 3 + 1));
    if (cursor->multiplier == 0) cursor->multiplier = 1;
    while (gcd_of(cursor->multiplier, cursor->active) != 1) cursor->multiplier++;
}

void leat_synth_seek(leat_synth_cursor *cursor, const leat_synth *synth, int64_t row) {
    *cursor = (leat_synth_cursor){.synth = synth, .row = row};
    if (row >= synth->measurements) return;
    int64_t low = 0, high = synth->run_count; /* runs[low] begins at or before the row */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (synth->runs[middle].row_first <= row) low = middle;
        else high = middle;
    }
    const leat_synth_run *run = &synth->runs[low];
    cursor->run = low;
    cursor->cycle = run->cycle_first + (row - run->row_first) / run->active;
    cursor->place = (row - run->row_first) % run->active;
    enter_cycle(cursor);
}

static void move_on(leat_synth_cursor *cursor) {
    cursor->row++;
    if (++cursor->place < cursor->active || cursor->row >= cursor->synth->measurements) return;
    cursor->place = 0;
    cursor->cycle++;
    if (cursor->cycle >= cursor->synth->runs[cursor->run + 1].cycle_first) cursor->run++;
    enter_cycle(cursor);
}

bool leat_synth_next(leat_synth_cursor *cursor, leat_synth_row *row) {
    const leat_synth *synth = cursor->synth;
    if (cursor->row >= synth->measurements) return false;
    int64_t lane = (int64_t)(((unsigned __int128)cursor->place * (uint64_t)cursor->multiplier +
                              (uint64_t)cursor->shift) %
                             (uint64_t)cursor->active);
    leat_synth_lane_find(synth, lane, cursor->cycle, &row->probe, &row->number);
    row->ip_version = leat_synth_source(synth, row->probe, &row->src);
    int anchor = choose_target(synth, row);
    row->rtt = draw_rtt(synth, row, anchor);
    uint64_t noise = leat_random(synth->seed, STREAM_CYCLE, ~(uint64_t)cursor->row);
    row->time_us =
        synth->start_us + cursor->cycle * LEAT_SYNTH_CYCLE_US +
        (int64_t)((double)cursor->place / (double)cursor->active * (double)LEAT_SYNTH_SPREAD_US) +
        (int64_t)leat_random_below(noise, LEAT_SYNTH_NOISE_US);
    move_on(cursor);
    return true;
}

/* Shorter periods begin where they always did: their bytes are a promise. */
static int64_t start_of(int64_t cycles) {
    int64_t over_us = cycles * LEAT_SYNTH_CYCLE_US - (LEAT_SYNTH_END_US - LEAT_SYNTH_START_US);
    if (over_us <= 0) return LEAT_SYNTH_START_US;
    int64_t days = (over_us + LEAT_SYNTH_DAY_US - 1) / LEAT_SYNTH_DAY_US;
    int64_t start_us = LEAT_SYNTH_START_US - days * LEAT_SYNTH_DAY_US;
    return start_us < LEAT_SYNTH_LEAST_US ? LEAT_SYNTH_LEAST_US : start_us;
}

leat_code leat_synth_create(leat_synth **out, int64_t measurements, int64_t probes, uint64_t seed,
                            leat_error *err) {
    leat_synth *synth = NULL;
    *out = NULL;
    if (measurements < 1 || measurements > LEAT_SYNTH_ROWS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "synthetic probes: measurements must be between 1 and %lld, not %lld",
                         (long long)LEAT_SYNTH_ROWS_MAX, (long long)measurements);
    if (probes < 1 || probes > measurements || probes > LEAT_SYNTH_PROBES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "synthetic probes: probes must be between 1 and the number of "
                         "measurements (%lld), at most %lld, not %lld",
                         (long long)measurements, (long long)LEAT_SYNTH_PROBES_MAX,
                         (long long)probes);
    LEAT_TRY(LEAT_NEW(&synth, 1, err));
    synth->measurements = measurements;
    synth->probes = probes;
    synth->seed = seed;
    leat_code code = leat_synth_shape(synth, err);
    if (code == LEAT_OK) code = leat_synth_pack(synth, err);
    if (code != LEAT_OK) {
        leat_synth_destroy(synth);
        return code;
    }
    synth->start_us = start_of(leat_synth_largest(synth));
    make_anchors(synth);
    *out = synth;
    return LEAT_OK;
}

void leat_synth_destroy(leat_synth *synth) {
    if (synth == NULL) return;
    leat_free(synth->runs);
    leat_free(synth->lanes);
    leat_free(synth->segments);
    leat_free(synth);
}
