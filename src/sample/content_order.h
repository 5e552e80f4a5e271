/* CPython's random.Random, as far as the content order of fields needs it. */
#ifndef LEAT_SAMPLE_CONTENT_ORDER_H
#define LEAT_SAMPLE_CONTENT_ORDER_H

#include "leat/sample.h"

#define LEAT_TWISTER_WORDS 624

typedef struct leat_twister {
    uint32_t word[LEAT_TWISTER_WORDS];
    int next;
} leat_twister;

/* random.Random(seed), 0 <= seed < 2^32. */
void leat_twister_seed(leat_twister *twister, uint32_t seed);
/* getrandbits(32). */
uint32_t leat_twister_next(leat_twister *twister);
/* shuffle(items). */
void leat_twister_shuffle(leat_twister *twister, uint8_t *items, int count);

/* The first four bytes, big-endian, of MD5("src|dst|seconds"). */
uint32_t leat_content_seed(const leat_measurement *measurement);

#endif
