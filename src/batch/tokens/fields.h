/*
 * The fields of a measurement as tokens, inlined into the code that writes measurements: each
 * function writes one field at `at` and returns the position after it.
 */
#ifndef LEAT_BATCH_TOKENS_FIELDS_H
#define LEAT_BATCH_TOKENS_FIELDS_H

#include <string.h>

#include "leat/batch.h"

#define LEAT_DELTA_MAX_S ((INT64_C(1) << 32) - 1)

/* Tokens of each part of a measurement: one that announces what follows, and the bytes. All other
 * token counts are derived from these. */
enum {
    LEAT_WIDTH_START = 1,
    LEAT_WIDTH_IPV4 = 5,
    LEAT_WIDTH_IPV6 = 17,
    LEAT_WIDTH_RTT = 3,
    LEAT_WIDTH_FAILED = 1,
    LEAT_WIDTH_TIME = 9,
    LEAT_WIDTH_DELTA1 = 2,
    LEAT_WIDTH_DELTA4 = 5,
};

static inline int32_t leat_address_width(bool v6) { return v6 ? LEAT_WIDTH_IPV6 : LEAT_WIDTH_IPV4; }

/* Tokens of a measurement without its time. */
static inline int32_t leat_untimed_width(bool v6, bool failed) {
    return LEAT_WIDTH_START + 2 * leat_address_width(v6) +
           (failed ? LEAT_WIDTH_FAILED : LEAT_WIDTH_RTT);
}

_Static_assert(LEAT_TOKENS_MIN == LEAT_WIDTH_START + 2 * LEAT_WIDTH_IPV4 + LEAT_WIDTH_FAILED,
               "a failed measurement over IPv4, without a time");
_Static_assert(LEAT_TOKENS_MAX ==
                   LEAT_WIDTH_START + 2 * LEAT_WIDTH_IPV6 + LEAT_WIDTH_RTT + LEAT_WIDTH_TIME,
               "a measurement over IPv6 with an absolute time");

/* Failed: negative or NaN. */
static inline bool leat_rtt_failed(float rtt) { return !(rtt >= 0); }

/*
 * u = max(1, rtt * 1000) microseconds, halved until it is below 2048 (at most 31 times); the whole
 * part of what is left is the mantissa. Halving a double is exact, so shifting its whole part gives
 * the same; beyond 2^63 all are the largest code.
 */
static inline uint16_t leat_rtt_code(float rtt_ms) {
    double us = (double)rtt_ms * 1000;
    uint64_t whole = us < 1 ? 1 : us >= 0x1p62 ? UINT64_C(1) << 62 : (uint64_t)us;
    int exponent = 53 - __builtin_clzll(whole);
    if (exponent < 0) exponent = 0;
    if (exponent > 31) exponent = 31;
    uint64_t mantissa = whole >> exponent;
    return (uint16_t)(exponent << 11 | (mantissa > 2047 ? 2047 : (int)mantissa));
}

static inline int32_t *leat_put_byte(int32_t *at, uint64_t byte) {
    *at = LEAT_TOKEN_BYTE + (int32_t)(byte & 255);
    return at + 1;
}

static inline int32_t *leat_put_address(int32_t *at, int32_t token, bool v6, const uint8_t *bytes) {
    *at++ = token;
    for (int i = 0; i < 4; i++) at[i] = LEAT_TOKEN_BYTE + bytes[i];
    if (!v6) return at + 4;
    for (int i = 4; i < 16; i++) at[i] = LEAT_TOKEN_BYTE + bytes[i];
    return at + 16;
}

static inline int32_t *leat_put_result(int32_t *at, float rtt) {
    if (leat_rtt_failed(rtt)) {
        *at = LEAT_TOKEN_FAILED;
        return at + 1;
    }
    unsigned code = leat_rtt_code(rtt);
    at[0] = LEAT_TOKEN_RTT_START;
    at[1] = LEAT_TOKEN_BYTE + (int32_t)(code >> 8);
    at[2] = LEAT_TOKEN_BYTE + (int32_t)(code & 255);
    return at + 3;
}

/* Microseconds from the last stamped measurement, never below 0; -1: an absolute time is due. */
static inline int64_t leat_delta_us(int64_t time_us, int64_t clock_us) {
    if (clock_us < 0) return -1;
    int64_t delta_us = time_us > clock_us ? time_us - clock_us : 0;
    return delta_us < (LEAT_DELTA_MAX_S + 1) * 1000000 ? delta_us : -1;
}

/* The tokens that a timestamp takes. */
static inline int32_t leat_time_tokens(int64_t time_us, int64_t clock_us) {
    int64_t delta_us = leat_delta_us(time_us, clock_us);
    if (delta_us < 0) return LEAT_WIDTH_TIME;
    return delta_us < 256 * INT64_C(1000000) ? LEAT_WIDTH_DELTA1 : LEAT_WIDTH_DELTA4;
}

static inline int32_t *leat_put_time(int32_t *at, int64_t time_us, int64_t *clock_us) {
    int64_t delta_us = leat_delta_us(time_us, *clock_us);
    bool absolute = delta_us < 0;
    uint64_t seconds = (uint64_t)(absolute ? time_us : delta_us) / 1000000;
    *clock_us = time_us;
    if (!absolute && seconds < 256) {
        *at++ = LEAT_TOKEN_TIMESTAMP_DELTA1;
        return leat_put_byte(at, seconds);
    }
    *at++ = absolute ? LEAT_TOKEN_TIMESTAMP_ABS : LEAT_TOKEN_TIMESTAMP_DELTA4;
    for (int shift = absolute ? 56 : 24; shift >= 0; shift -= 8) {
        at = leat_put_byte(at, seconds >> shift);
    }
    return at;
}

#endif
