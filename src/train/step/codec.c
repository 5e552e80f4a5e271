/* See codec.h. Bytes are put together one by one, so that any machine gives the same. */
#include "train/step/codec.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "nn/float_mode.h"

#define NAN_BITS UINT32_C(0x7fc00000)
enum { MOST = 127, BLOCK = LEAT_CODEC_BLOCK };

const char *leat_codec_name(leat_codec codec) {
    return codec == LEAT_CODEC_F32 ? "f32" : codec == LEAT_CODEC_BF16 ? "bf16" : "int8";
}

static int64_t blocks_of(int64_t count) { return (count + BLOCK - 1) / BLOCK; }

int64_t leat_codec_bytes(leat_codec codec, int64_t count) {
    LEAT_ASSERT(count >= 0 && codec <= LEAT_CODEC_INT8);
    if (codec == LEAT_CODEC_F32) return 4 * count;
    return codec == LEAT_CODEC_BF16 ? 2 * count : 4 * blocks_of(count) + count;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7fffffff) > 0x7f800000 ? NAN_BITS : bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void put32(uint8_t *out, uint32_t bits) {
    for (int i = 0; i < 4; i++) out[i] = (uint8_t)(bits >> 8 * i);
}

static uint32_t get32(const uint8_t *in) {
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

/* The high half, rounded; infinities and the one NaN stay. */
static uint16_t half_of(float value) {
    const uint32_t bits = bits_of(value);
    if ((bits & 0x7f800000) == 0x7f800000) return (uint16_t)(bits >> 16);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* ---- int8 ----------------------------------------------------------------------------------- */

static float scale_of(const float *values, int64_t count) {
    float most = 0;
    for (int64_t i = 0; i < count; i++) {
        const float size = fabsf(values[i]);
        if (!isfinite(size)) return float_of(NAN_BITS);
        if (size > most) most = size;
    }
    return most / (float)MOST;
}

/* value / scale, rounded down after a number of [0, 1) is added. */
static int8_t byte_of(float value, float scale, uint64_t key, int64_t i) {
    if (!(scale > 0)) return 0;
    const double part = (double)(leat_random_at(key, (uint64_t)i) >> 40) / (double)(1 << 24);
    const double at = (double)(value / scale) + part + 2 * MOST; /* above 0, and exact */
    const int rounded = (int)at - 2 * MOST;
    return (int8_t)(rounded > MOST ? MOST : rounded < -MOST ? -MOST : rounded);
}

static void encode_int8(uint64_t key, const float *values, int64_t count, uint8_t *out) {
    uint8_t *bytes = out + 4 * blocks_of(count);
    for (int64_t first = 0; first < count; first += BLOCK, out += 4) {
        const int64_t some = count - first < BLOCK ? count - first : BLOCK;
        const float scale = scale_of(values + first, some);
        put32(out, bits_of(scale));
        for (int64_t i = first; i < first + some; i++)
            bytes[i] = (uint8_t)byte_of(values[i], scale, key, i);
    }
}

static void decode_int8(const uint8_t *in, int64_t count, float *out) {
    const uint8_t *bytes = in + 4 * blocks_of(count);
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)(int8_t)bytes[i] * float_of(get32(in + 4 * (i / BLOCK)));
}

static void round_int8(uint64_t key, float *values, int64_t count) {
    for (int64_t first = 0; first < count; first += BLOCK) {
        const int64_t some = count - first < BLOCK ? count - first : BLOCK;
        const float scale = scale_of(values + first, some);
        for (int64_t i = first; i < first + some; i++)
            values[i] = (float)byte_of(values[i], scale, key, i) * scale;
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

void leat_codec_encode(leat_codec codec, uint64_t key, const float *values, int64_t count,
                       uint8_t *out) {
    LEAT_ASSERT(codec <= LEAT_CODEC_INT8); /* another one would leave *out as it is */
    const uint64_t mode = leat_float_mode_begin();
    if (codec == LEAT_CODEC_INT8) encode_int8(key, values, count, out);
    for (int64_t i = 0; codec == LEAT_CODEC_F32 && i < count; i++)
        put32(out + 4 * i, bits_of(values[i]));
    for (int64_t i = 0; codec == LEAT_CODEC_BF16 && i < count; i++) {
        const uint16_t half = half_of(values[i]);
        out[2 * i] = (uint8_t)half;
        out[2 * i + 1] = (uint8_t)(half >> 8);
    }
    leat_float_mode_end(mode);
}

void leat_codec_decode(leat_codec codec, const uint8_t *bytes, int64_t count, float *out) {
    LEAT_ASSERT(codec <= LEAT_CODEC_INT8);
    const uint64_t mode = leat_float_mode_begin();
    if (codec == LEAT_CODEC_INT8) decode_int8(bytes, count, out);
    for (int64_t i = 0; codec == LEAT_CODEC_F32 && i < count; i++)
        out[i] = float_of(get32(bytes + 4 * i));
    for (int64_t i = 0; codec == LEAT_CODEC_BF16 && i < count; i++)
        out[i] = float_of((uint32_t)bytes[2 * i] << 16 | (uint32_t)bytes[2 * i + 1] << 24);
    leat_float_mode_end(mode);
}

void leat_codec_round(leat_codec codec, uint64_t key, float *values, int64_t count) {
    LEAT_ASSERT(codec <= LEAT_CODEC_INT8);
    const uint64_t mode = leat_float_mode_begin();
    if (codec == LEAT_CODEC_INT8) round_int8(key, values, count);
    for (int64_t i = 0; codec == LEAT_CODEC_F32 && i < count; i++)
        values[i] = float_of(bits_of(values[i]));
    for (int64_t i = 0; codec == LEAT_CODEC_BF16 && i < count; i++)
        values[i] = float_of((uint32_t)half_of(values[i]) << 16);
    leat_float_mode_end(mode);
}
