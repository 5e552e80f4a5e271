/*
 * Records of a bucket (spill.h), some chunks of them at a time, in about a third of their size:
 * times as differences, and addresses by number. Lossless, and byte by byte, so that encoding costs
 * less than writing the rest of the bytes.
 *
 *   definition   varint 0, the record
 *   measurement  varint 1 + 2 * text + (1 if more follows), [text], varint of the zigzag difference
 *                to the time before, varint source, f32 rtt; more: varint 2 * answer + (1 if it has
 *                its own source), varint text, [text]
 *
 * text: 1 + 2 * number among the texts of the worker, which all of its blocks share; or 2 * number
 * in the block, where texts are numbered from 1 in the order in which they come first; 0: a byte of
 * length and version, and a text that becomes the next number of the block. A varint has 7 bits per
 * byte, low bits first, and the highest bit in all but its last.
 */
#ifndef LEAT_INGEST_PROBES_SPILL_CODE_H
#define LEAT_INGEST_PROBES_SPILL_CODE_H

#include "ingest/probes/spill.h"

/* No measurement is shorter, so a block does not have more of them, nor more texts than twice
 * that. */
#define LEAT_SPILL_TEXTS_MAX (2 * LEAT_SPILL_BLOCK_BYTES / (LEAT_SPILL_MEASUREMENT_BYTES + 1))
/* Bytes that a record may grow by: varints longer than what they encode. */
#define LEAT_SPILL_GROWTH 12
#define LEAT_SPILL_ENCODED_MAX                                                                     \
    (LEAT_SPILL_BLOCK_BYTES +                                                                      \
     LEAT_SPILL_BLOCK_BYTES / (LEAT_SPILL_DEFINITION_BYTES + 1) * LEAT_SPILL_GROWTH)

/* Texts that all blocks of a worker share: the first ones that it met. Few targets get most of the
 * measurements, so they are among them. */
#define LEAT_SPILL_SHARED_MAX 4096
#define LEAT_SPILL_SHARED_SLOTS 8192
typedef struct leat_spill_text {
    uint8_t kind; /* length and version */
    char text[LEAT_ADDRESS_TEXT_BYTES + 2];
} leat_spill_text;
struct leat_spill_texts {
    int64_t count;
    leat_spill_text texts[LEAT_SPILL_SHARED_MAX];
    uint16_t slots[LEAT_SPILL_SHARED_SLOTS]; /* number + 1 of a text; 0: empty */
};

/* Before each block in a file (spill.c). */
#define LEAT_SPILL_BLOCK_HEADER_BYTES 20

#define LEAT_SPILL_SLOTS 8192
_Static_assert(LEAT_SPILL_SLOTS > 2 * LEAT_SPILL_TEXTS_MAX, "the table of texts is never full");

typedef struct leat_spill_encoder {
    leat_spill_texts *shared;
    int64_t time_us; /* of the last measurement */
    uint32_t text_count;
    uint32_t slots[LEAT_SPILL_SLOTS]; /* number of a text and `block`; of another block: empty */
    uint32_t block;                   /* counts blocks, so that the table need not be emptied */
    const uint8_t *texts[LEAT_SPILL_TEXTS_MAX + 1]; /* by number, in the chunks */
    int64_t filled;                                 /* of `bytes` */
    /* blocks that are not written yet, with headers; one more fits after LEAT_SPILL_ENCODED_MAX */
    uint8_t bytes[2 * LEAT_SPILL_ENCODED_MAX + LEAT_SPILL_BLOCK_HEADER_BYTES];
} leat_spill_encoder;

typedef struct leat_spill_decoder {
    uint32_t texts[LEAT_SPILL_TEXTS_MAX + 1]; /* by number, in `block` */
    uint8_t bytes[LEAT_SPILL_BLOCK_HEADER_BYTES + LEAT_SPILL_ENCODED_MAX]; /* an encoded block */
    uint8_t block[LEAT_SPILL_BLOCK_BYTES];
} leat_spill_decoder;

/* Begins a block. */
void leat_spill_encode_begin(leat_spill_encoder *encoder);
/* Appends whole records to `bytes`, and their texts to those that are shared; they must stay in
 * place until the block is complete, which has at most LEAT_SPILL_BLOCK_BYTES of them. */
void leat_spill_encode(leat_spill_encoder *encoder, leat_spill_texts *shared,
                       const uint8_t *records, int64_t size_bytes);
/* Decodes the size_bytes after the header in `bytes` into exactly block_bytes of `block`; false:
 * they are not what an encoder writes. */
bool leat_spill_decode(leat_spill_decoder *decoder, const leat_spill_texts *shared,
                       int64_t size_bytes, int64_t block_bytes);

#endif
