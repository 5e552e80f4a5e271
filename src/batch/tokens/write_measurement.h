/*
 * One measurement as tokens, for loops. Where each field begins is worked out first, so that the
 * fields are written one after the other whatever their order is: no branch depends on it.
 */
#ifndef LEAT_BATCH_TOKENS_WRITE_MEASUREMENT_H
#define LEAT_BATCH_TOKENS_WRITE_MEASUREMENT_H

#include "batch/tokens/fields.h"

/* One of the 24 orders of four fields, of the lower 32 bits of a random number. The order of the
 * other three, where the time is left out, is as random. */
static inline void leat_random_fields(uint64_t bits, uint8_t order[LEAT_FIELDS]) {
    static const uint8_t orders[24][LEAT_FIELDS] = {
        {0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1},
        {1, 0, 2, 3}, {1, 0, 3, 2}, {1, 2, 0, 3}, {1, 2, 3, 0}, {1, 3, 0, 2}, {1, 3, 2, 0},
        {2, 0, 1, 3}, {2, 0, 3, 1}, {2, 1, 0, 3}, {2, 1, 3, 0}, {2, 3, 0, 1}, {2, 3, 1, 0},
        {3, 0, 1, 2}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 1, 2, 0}, {3, 2, 0, 1}, {3, 2, 1, 0},
    };
    memcpy(order, orders[(bits >> 32) * 24 >> 32], LEAT_FIELDS);
}

/* Like leat_tokens_encode, but returns the position after the measurement. */
static inline int32_t *leat_write_measurement(int32_t *at, const leat_measurement *it,
                                              const uint8_t order[LEAT_FIELDS], bool timed,
                                              int64_t *clock_us) {
    bool v6 = it->ip_version == 6;
    int32_t size[LEAT_FIELDS], begin[LEAT_FIELDS], end = 1;
    size[LEAT_FIELD_SRC] = size[LEAT_FIELD_DST] = leat_address_width(v6);
    size[LEAT_FIELD_RESULT] = leat_rtt_failed(it->rtt) ? LEAT_WIDTH_FAILED : LEAT_WIDTH_RTT;
    size[LEAT_FIELD_TIME] = timed ? leat_time_tokens(it->time_us, *clock_us) : 0;
    for (int i = 0; i < LEAT_FIELDS; i++) {
        begin[order[i]] = end;
        end += size[order[i]];
    }
    at[0] = LEAT_TOKEN_MEASUREMENT_START;
    leat_put_address(at + begin[LEAT_FIELD_SRC], v6 ? LEAT_TOKEN_SRC_IPV6 : LEAT_TOKEN_SRC_IPV4, v6,
                     it->src_bytes);
    leat_put_address(at + begin[LEAT_FIELD_DST], v6 ? LEAT_TOKEN_DST_IPV6 : LEAT_TOKEN_DST_IPV4, v6,
                     it->dst_bytes);
    leat_put_result(at + begin[LEAT_FIELD_RESULT], it->rtt);
    if (timed) leat_put_time(at + begin[LEAT_FIELD_TIME], it->time_us, clock_us);
    return at + end;
}

#endif
