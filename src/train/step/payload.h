/*
 * The result of a unit as bytes: what a machine hands in, and what is hashed. No names, no code, no
 * offsets from the wire: the layout follows from the header, and the header must be the one that
 * the reader expects.
 *
 * Little-endian:  0 "leatunit"   8 u32 version 1     12 u32 codec    16 run (16 bytes)
 *                32 i64 step    40 i64 unit          48 SHA-256 of the weights used (32 bytes)
 *                80 u32 pass    84 u32 0             88 f64 weight
 *                96 i64 gradient values             104 i64 statistics          112 i64 sums
 *               120 i64 bytes of all
 * then the gradient in the codec, the statistics as f32, the sums as f64. NaN is one pattern. The
 * hash of a unit is SHA-256 over all of it; nothing in it says who computed it, so that copies have
 * one hash. See "The payload" in docs.
 */
#ifndef LEAT_TRAIN_STEP_PAYLOAD_H
#define LEAT_TRAIN_STEP_PAYLOAD_H

#include "base/hash.h"
#include "train/step/codec.h"

#define LEAT_PAYLOAD_HEADER_BYTES 128
#define LEAT_PAYLOAD_RUN_BYTES 16
#define LEAT_PAYLOAD_BYTES_MAX (INT64_C(1) << 33)

typedef struct leat_payload_header {
    leat_codec codec;
    uint8_t run[LEAT_PAYLOAD_RUN_BYTES];
    int64_t step, unit;
    uint8_t weights[32]; /* hash of the encoded weights that it was computed from */
    int pass;
    double weight;
    int64_t gradient_count, statistics_count, sum_count;
} leat_payload_header;

/* The numbers of a unit; arrays have the header's counts. */
typedef struct leat_payload_values {
    float *gradient, *statistics;
    double *sums;
} leat_payload_values;

/* Bytes of a payload with these counts; 0 if they are out of range. */
int64_t leat_payload_bytes(leat_codec codec, int64_t gradient_count, int64_t statistics_count,
                           int64_t sum_count);
/* out: leat_payload_bytes of the header. key: of the codec. */
void leat_payload_write(const leat_payload_header *header, uint64_t key,
                        const leat_payload_values *values, uint8_t *out);
/*
 * Reads a payload whose header must be `expected`: LEAT_ERR_INPUT names the field that differs. The
 * bytes may be anything. The values may be any, too: they are not judged here.
 */
LEAT_MUST_CHECK leat_code leat_payload_read(const uint8_t *bytes, int64_t size_bytes,
                                            const leat_payload_header *expected,
                                            leat_payload_values *values, leat_error *err);
void leat_payload_hash(const uint8_t *bytes, int64_t size_bytes, uint8_t hash[32]);

#endif
