/*
 * --field-order content: the order in which ping-llm writes the fields of a measurement,
 * which depends on what the measurement says. CPython's random.Random(seed).shuffle is a
 * Fisher-Yates shuffle from the end whose draws are the top bits of a word, drawn again while they
 * are too large.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "batch/tokens/content_order.h"
#include "batch/tokens/fields.h"

void leat_content_shuffle(leat_mt19937 *mt, uint8_t *items, int count) {
    for (int i = count - 1; i > 0; i--) {
        int bits = 32 - __builtin_clz((unsigned)i + 1);
        uint32_t j = 0;
        do j = leat_mt19937_next(mt) >> (32 - bits);
        while (j > (uint32_t)i);
        uint8_t held = items[i];
        items[i] = items[j];
        items[j] = held;
    }
}

uint32_t leat_content_seed(const leat_measurement *measurement) {
    char text[256], seconds[32];
    uint8_t digest[16];
    int64_t size = 0;
    int digits =
        snprintf(seconds, sizeof(seconds), "%lld", (long long)(measurement->time_us / 1000000));
    struct {
        const char *text;
        int32_t size;
    } parts[] = {{measurement->src, measurement->src_size},
                 {"|", 1},
                 {measurement->dst, measurement->dst_size},
                 {"|", 1},
                 {seconds, digits}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        /* an address has at most 45 characters; nothing that parses is longer */
        int64_t room = (int64_t)sizeof(text) - size;
        int64_t take = parts[i].size < room ? parts[i].size : room;
        if (take > 0) memcpy(text + size, parts[i].text, (size_t)take);
        size += take;
    }
    leat_md5(text, size, digest);
    return (uint32_t)digest[0] << 24 | (uint32_t)digest[1] << 16 | (uint32_t)digest[2] << 8 |
           digest[3];
}

void leat_tokens_content_order(const leat_measurement *measurement, bool timed,
                               uint8_t order[LEAT_FIELDS]) {
    leat_mt19937 mt;
    for (int i = 0; i < LEAT_FIELDS; i++) order[i] = (uint8_t)i;
    leat_mt19937_seed_python(&mt, leat_content_seed(measurement));
    leat_content_shuffle(&mt, order, timed ? LEAT_FIELDS : LEAT_FIELDS - 1);
}
