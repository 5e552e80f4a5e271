/* See payload.h. */
#include "train/step/payload.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

#define VERSION 1
static const char magic[8] = {'l', 'e', 'a', 't', 'u', 'n', 'i', 't'};

enum {
    AT_VERSION = 8,
    AT_CODEC = 12,
    AT_RUN = 16,
    AT_STEP = 32,
    AT_UNIT = 40,
    AT_WEIGHTS = 48,
    AT_PASS = 80,
    AT_ZERO = 84,
    AT_WEIGHT = 88,
    AT_GRADIENT = 96,
    AT_STATISTICS = 104,
    AT_SUMS = 112,
    AT_BYTES = 120
};

static void put(uint8_t *out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) out[i] = (uint8_t)(value >> 8 * i);
}

_Static_assert(LEAT_CODEC_F32 == 0 && LEAT_CODEC_BF16 == 1 && LEAT_CODEC_INT8 == 2,
               "the numbers of codecs are in payloads");

static uint64_t get(const uint8_t *in, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t)in[i] << 8 * i;
    return value;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    if (isnan(value)) return UINT64_C(0x7ff8000000000000);
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int64_t leat_payload_bytes(leat_codec codec, int64_t gradient_count, int64_t statistics_count,
                           int64_t sum_count) {
    const int64_t most = LEAT_PAYLOAD_BYTES_MAX / 32;
    if (gradient_count < 0 || gradient_count > most || statistics_count < 0 ||
        statistics_count > most || sum_count < 0 || sum_count > most)
        return 0;
    return LEAT_PAYLOAD_HEADER_BYTES + leat_codec_bytes(codec, gradient_count) +
           4 * statistics_count + 8 * sum_count;
}

static int64_t bytes_of(const leat_payload_header *header) {
    return leat_payload_bytes(header->codec, header->gradient_count, header->statistics_count,
                              header->sum_count);
}

/* ---- the header ----------------------------------------------------------------------------- */

static void write_header(const leat_payload_header *header, uint8_t *out) {
    memset(out, 0, LEAT_PAYLOAD_HEADER_BYTES);
    memcpy(out, magic, sizeof magic);
    put(out + AT_VERSION, VERSION, 4);
    put(out + AT_CODEC, header->codec, 4);
    memcpy(out + AT_RUN, header->run, sizeof header->run);
    put(out + AT_STEP, (uint64_t)header->step, 8);
    put(out + AT_UNIT, (uint64_t)header->unit, 8);
    memcpy(out + AT_WEIGHTS, header->weights, sizeof header->weights);
    put(out + AT_PASS, (uint64_t)header->pass, 4);
    put(out + AT_WEIGHT, bits_of(header->weight), 8);
    put(out + AT_GRADIENT, (uint64_t)header->gradient_count, 8);
    put(out + AT_STATISTICS, (uint64_t)header->statistics_count, 8);
    put(out + AT_SUMS, (uint64_t)header->sum_count, 8);
    put(out + AT_BYTES, (uint64_t)bytes_of(header), 8);
}

/* Fields whose bytes must be those of the expected header, in the order of messages. */
static const struct {
    const char *name;
    int at, bytes;
} fields[] = {{"version", AT_VERSION, 4},
              {"codec", AT_CODEC, 4},
              {"run", AT_RUN, 16},
              {"step", AT_STEP, 8},
              {"unit", AT_UNIT, 8},
              {"weights", AT_WEIGHTS, 32},
              {"pass", AT_PASS, 4},
              {"reserved field", AT_ZERO, 4},
              {"weight", AT_WEIGHT, 8},
              {"gradient count", AT_GRADIENT, 8},
              {"statistics count", AT_STATISTICS, 8},
              {"sum count", AT_SUMS, 8},
              {"size", AT_BYTES, 8}};

static leat_code check_header(const uint8_t *bytes, const leat_payload_header *expected,
                              leat_error *err) {
    uint8_t want[LEAT_PAYLOAD_HEADER_BYTES];
    write_header(expected, want);
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return leat_fail(err, LEAT_ERR_INPUT, "payload: does not begin with \"leatunit\"");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const uint8_t *is = bytes + fields[i].at, *wanted = want + fields[i].at;
        if (memcmp(is, wanted, (size_t)fields[i].bytes) == 0) continue;
        if (fields[i].at == AT_WEIGHT)
            return leat_fail(err, LEAT_ERR_INPUT, "payload: weight is %g (expected %g)",
                             double_of(get(is, 8)), expected->weight);
        if (fields[i].bytes > 8)
            return leat_fail(err, LEAT_ERR_INPUT,
                             "payload: unexpected %s: %02x%02x%02x... (expected %02x%02x%02x...)",
                             fields[i].name, is[0], is[1], is[2], wanted[0], wanted[1], wanted[2]);
        return leat_fail(err, LEAT_ERR_INPUT, "payload: %s is %lld (expected %lld)", fields[i].name,
                         (long long)get(is, fields[i].bytes),
                         (long long)get(wanted, fields[i].bytes));
    }
    return LEAT_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

void leat_payload_write(const leat_payload_header *header, uint64_t key,
                        const leat_payload_values *values, uint8_t *out) {
    const uint8_t *end = out + bytes_of(header) - 8 * header->sum_count;
    LEAT_ASSERT(header->step >= 0 && header->unit >= 0);
    LEAT_ASSERT(header->weight > 0); /* a unit without samples is no unit */
    write_header(header, out);
    out += LEAT_PAYLOAD_HEADER_BYTES;
    leat_codec_encode(header->codec, key, values->gradient, header->gradient_count, out);
    out += leat_codec_bytes(header->codec, header->gradient_count);
    leat_codec_encode(LEAT_CODEC_F32, 0, values->statistics, header->statistics_count, out);
    out += 4 * header->statistics_count;
    LEAT_ASSERT(out == end); /* the size that receivers expect */
    for (int64_t i = 0; i < header->sum_count; i++) put(out + 8 * i, bits_of(values->sums[i]), 8);
}

leat_code leat_payload_read(const uint8_t *bytes, int64_t size_bytes,
                            const leat_payload_header *expected, leat_payload_values *values,
                            leat_error *err) {
    const int64_t want_bytes = bytes_of(expected);
    LEAT_ASSERT(want_bytes > 0);
    if (size_bytes != want_bytes)
        return leat_fail(err, LEAT_ERR_INPUT, "payload: %lld bytes instead of %lld",
                         (long long)size_bytes, (long long)want_bytes);
    LEAT_TRY(check_header(bytes, expected, err));
    bytes += LEAT_PAYLOAD_HEADER_BYTES;
    leat_codec_decode(expected->codec, bytes, expected->gradient_count, values->gradient);
    bytes += leat_codec_bytes(expected->codec, expected->gradient_count);
    leat_codec_decode(LEAT_CODEC_F32, bytes, expected->statistics_count, values->statistics);
    bytes += 4 * expected->statistics_count;
    for (int64_t i = 0; i < expected->sum_count; i++)
        values->sums[i] = double_of(get(bytes + 8 * i, 8));
    return LEAT_OK;
}

void leat_payload_hash(const uint8_t *bytes, int64_t size_bytes, uint8_t hash[32]) {
    leat_sha256_of(bytes, size_bytes, hash);
}
