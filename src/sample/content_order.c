/*
 * --field-order content: the order in which the Python system writes the fields of a measurement,
 * which depends on what the measurement says. CPython's random.Random(seed).shuffle is the Mersenne
 * Twister MT19937 (Matsumoto, Nishimura 1998), seeded by init_by_array with one word, and a
 * Fisher-Yates shuffle from the end whose draws are the top bits of a word, drawn again while they
 * are too large.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "sample/content_order.h"
#include "sample/fields.h"

enum { WORDS = LEAT_TWISTER_WORDS, MIDDLE = 397 };

void leat_twister_seed(leat_twister *twister, uint32_t seed) {
    uint32_t *x = twister->word;
    x[0] = 19650218;
    for (uint32_t i = 1; i < WORDS; i++) x[i] = 1812433253u * (x[i - 1] ^ x[i - 1] >> 30) + i;
    int i = 1;
    for (int n = 0; n < WORDS; n++) {
        x[i] = (x[i] ^ (x[i - 1] ^ x[i - 1] >> 30) * 1664525u) + seed;
        if (++i == WORDS) {
            x[0] = x[WORDS - 1];
            i = 1;
        }
    }
    for (int n = 0; n < WORDS - 1; n++) {
        x[i] = (x[i] ^ (x[i - 1] ^ x[i - 1] >> 30) * 1566083941u) - (uint32_t)i;
        if (++i == WORDS) {
            x[0] = x[WORDS - 1];
            i = 1;
        }
    }
    x[0] = 0x80000000u;
    twister->next = 0;
}

/* Words are renewed one at a time, as they are asked for: the same as all of them at once. */
uint32_t leat_twister_next(leat_twister *twister) {
    uint32_t *x = twister->word;
    int i = twister->next;
    twister->next = (i + 1) % WORDS;
    uint32_t y = (x[i] & 0x80000000u) | (x[(i + 1) % WORDS] & 0x7fffffffu);
    y = x[i] = x[(i + MIDDLE) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

void leat_twister_shuffle(leat_twister *twister, uint8_t *items, int count) {
    for (int i = count - 1; i > 0; i--) {
        int bits = 32 - __builtin_clz((unsigned)i + 1);
        uint32_t j = 0;
        do j = leat_twister_next(twister) >> (32 - bits);
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
    leat_twister twister;
    for (int i = 0; i < LEAT_FIELDS; i++) order[i] = (uint8_t)i;
    leat_twister_seed(&twister, leat_content_seed(measurement));
    leat_twister_shuffle(&twister, order, timed ? LEAT_FIELDS : LEAT_FIELDS - 1);
}
