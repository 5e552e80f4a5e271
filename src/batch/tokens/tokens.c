/* The tokens of one measurement, and the names of tokens, for callers with one at a time. */
#include "leat/batch.h"

#include "base/error.h"
#include "batch/tokens/write_measurement.h"

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
    return (int32_t)(leat_write_measurement(tokens, measurement, order, timed, clock_us) - tokens);
}
