/*
 * One measurement as tokens: fields that are put together in a given order. This is the plain form,
 * for callers with one measurement; the loop that makes contexts (context_write.c) is built of the
 * same inline parts (fields.h).
 */
#include "leat/sample.h"

#include "base/error.h"
#include "sample/fields.h"

const char *leat_token_name(int32_t token) {
    static const char *const names[] = {
        "MEASUREMENT_START", "SRC_IPV4",         "SRC_IPV6",         "DST_IPV4",
        "DST_IPV6",          "TIMESTAMP_ABS",    "TIMESTAMP_DELTA1", "TIMESTAMP_DELTA4",
        "RTT_START",         "THROUGHPUT_START", "FAILED",
    };
    return token >= 0 && token < LEAT_TOKEN_BYTE ? names[token] : "";
}

uint16_t leat_tokens_rtt_encode(float rtt_ms) { return leat_rtt_code(rtt_ms); }

int64_t leat_tokens_rtt_decode(uint16_t code) { return (int64_t)(code & 2047) << (code >> 11); }

int32_t leat_tokens_encode(const leat_measurement *measurement, const uint8_t order[LEAT_FIELDS],
                           bool timed, int64_t *clock_us, int32_t *tokens) {
    LEAT_ASSERT(measurement->time_us >= 0);
    bool v6 = measurement->ip_version == 6;
    int32_t *at = tokens;
    *at++ = LEAT_TOKEN_MEASUREMENT_START;
    for (int i = 0; i < LEAT_FIELDS; i++) {
        switch (order[i]) {
        case LEAT_FIELD_SRC:
            at = leat_put_address(at, v6 ? LEAT_TOKEN_SRC_IPV6 : LEAT_TOKEN_SRC_IPV4, v6,
                                  measurement->src_bytes);
            break;
        case LEAT_FIELD_DST:
            at = leat_put_address(at, v6 ? LEAT_TOKEN_DST_IPV6 : LEAT_TOKEN_DST_IPV4, v6,
                                  measurement->dst_bytes);
            break;
        case LEAT_FIELD_RESULT: at = leat_put_result(at, measurement->rtt); break;
        default:
            if (timed) at = leat_put_time(at, measurement->time_us, clock_us);
        }
    }
    return (int32_t)(at - tokens);
}
