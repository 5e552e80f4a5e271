/* CPython's random.Random, as far as the content order of fields needs it. */
#ifndef LEAT_BATCH_TOKENS_CONTENT_ORDER_H
#define LEAT_BATCH_TOKENS_CONTENT_ORDER_H

#include "base/mt19937.h"
#include "leat/batch.h"

/* random.Random's shuffle(items). */
void leat_content_shuffle(leat_mt19937 *mt, uint8_t *items, int count);

/* The first four bytes, big-endian, of MD5("src|dst|seconds"). */
uint32_t leat_content_seed(const leat_measurement *measurement);

#endif
