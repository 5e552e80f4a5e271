/*
 * Codecs of floats that travel between machines. Encoding is a pure function of the values, the
 * codec and a key, so equal results have equal bytes; every NaN is written as one pattern. All
 * numbers are little-endian.
 *
 *   f32   the floats
 *   bf16  the high halves, rounded to nearest, ties to even
 *   int8  ceil(count / 256) scales (f32), then a signed byte a value: value = byte * scale. A scale
 *         is the largest magnitude of its 256 values / 127. value / scale is rounded down or up at
 *         random, by number i of the key (leat_random_at), so that the mean is right. Values that
 *         are not finite make the scale, and so the block, NaN.
 */
#ifndef LEAT_TRAIN_STEP_CODEC_H
#define LEAT_TRAIN_STEP_CODEC_H

#include "base/error.h"
#include "leat/train.h"

#define LEAT_CODEC_BLOCK 256

/* "f32", "bf16", "int8". */
const char *leat_codec_name(leat_codec codec);
/* Bytes of encoded floats; any count up to 2^40. */
int64_t leat_codec_bytes(leat_codec codec, int64_t count);
/* out: leat_codec_bytes. The key is used by int8 only. */
void leat_codec_encode(leat_codec codec, uint64_t key, const float *values, int64_t count,
                       uint8_t *out);
void leat_codec_decode(leat_codec codec, const uint8_t *bytes, int64_t count, float *out);
/* What decoding the encoded values gives, in place, without the bytes. */
void leat_codec_round(leat_codec codec, uint64_t key, float *values, int64_t count);

#endif
