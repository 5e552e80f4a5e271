/* Encoded records: see spill_code.h. The decoder checks every length against what is left, since
 * temporary files may lie on a disk that changes them. */
#include "ingest/probes/spill_code.h"

#include "base/hash.h"

/* A slot has the number of its text in the low bits, and the block that it is of. */
#define NUMBER_BITS 12
#define NUMBER_MASK ((UINT32_C(1) << NUMBER_BITS) - 1)
#define BLOCKS_MAX (UINT32_C(1) << (32 - NUMBER_BITS))
_Static_assert(LEAT_SPILL_TEXTS_MAX < (1 << NUMBER_BITS), "a number fits its bits");

/* ---- encoding ---- */

void leat_spill_encode_begin(leat_spill_encoder *encoder) {
    encoder->time_us = 0;
    encoder->text_count = 0;
    if (++encoder->block < BLOCKS_MAX) return;
    memset(encoder->slots, 0, sizeof encoder->slots);
    encoder->block = 1;
}

static inline uint8_t *put_varint(uint8_t *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

/* What a text and its version are compared by: the byte before it without LEAT_SPILL_MORE. */
static inline uint8_t kind_of(const uint8_t *text) { return *text & (uint8_t)~LEAT_SPILL_MORE; }

/* The number of a text among the shared ones, which it joins if there is room; -1: there is none.
 */
static int64_t shared_number(leat_spill_texts *shared, uint64_t at, const uint8_t *text) {
    size_t size = *text & LEAT_SPILL_LENGTH;
    for (;; at++) {
        uint16_t *slot = &shared->slots[at % LEAT_SPILL_SHARED_SLOTS];
        if (*slot == 0) {
            if (shared->count == LEAT_SPILL_SHARED_MAX) return -1;
            leat_spill_text *added = &shared->texts[shared->count++];
            added->kind = kind_of(text);
            memcpy(added->text, text + 1, size);
            *slot = (uint16_t)shared->count;
            return shared->count - 1;
        }
        const leat_spill_text *known = &shared->texts[*slot - 1];
        if (known->kind == kind_of(text) && memcmp(known->text, text + 1, size) == 0)
            return *slot - 1;
    }
}

/* What stands for a text, which begins with its byte of length and version; 0: it is new. */
static uint32_t number_of(leat_spill_encoder *encoder, const uint8_t *text) {
    int32_t size = *text & LEAT_SPILL_LENGTH;
    uint64_t at = leat_xxh3(text + 1, size);
    int64_t shared = shared_number(encoder->shared, at, text);
    if (shared >= 0) return 1 + 2 * (uint32_t)shared;
    for (;; at++) {
        uint32_t *slot = &encoder->slots[at % LEAT_SPILL_SLOTS];
        if (*slot >> NUMBER_BITS != encoder->block) {
            LEAT_ASSERT(encoder->text_count < LEAT_SPILL_TEXTS_MAX);
            encoder->texts[++encoder->text_count] = text;
            *slot = encoder->block << NUMBER_BITS | encoder->text_count;
            return 0;
        }
        const uint8_t *known = encoder->texts[*slot & NUMBER_MASK];
        if (kind_of(known) == kind_of(text) && memcmp(known + 1, text + 1, (size_t)size) == 0)
            return 2 * (*slot & NUMBER_MASK);
    }
}

static inline uint8_t *put_text(uint8_t *to, uint32_t number, const uint8_t *text) {
    if (number > 0) return to;
    int32_t size = *text & LEAT_SPILL_LENGTH;
    *to++ = kind_of(text);
    memcpy(to, text + 1, (size_t)size);
    return to + size;
}

static uint8_t *put_more(leat_spill_encoder *encoder, uint8_t *to, const uint8_t *record) {
    int32_t size = 0;
    const uint8_t *own = leat_spill_own_source(record, &size);
    uint64_t answer = leat_spill_more(record) & ~LEAT_SPILL_OWN_SOURCE;
    to = put_varint(to, answer << 1 | (own != NULL));
    if (own == NULL) return to;
    uint32_t number = number_of(encoder, own - 1);
    return put_text(put_varint(to, number), number, own - 1);
}

static uint8_t *put_measurement(leat_spill_encoder *encoder, uint8_t *to, const uint8_t *record) {
    const uint8_t *text = record + LEAT_SPILL_FACTS_AT;
    bool more = (*text & LEAT_SPILL_MORE) != 0;
    int64_t time_us = 0;
    uint32_t source = 0, number = number_of(encoder, text);
    memcpy(&time_us, record, 8);
    memcpy(&source, record + 8, 4);
    uint64_t step = (uint64_t)time_us - (uint64_t)encoder->time_us;
    encoder->time_us = time_us;
    to = put_text(put_varint(to, 1 + 2 * (uint64_t)number + more), number, text);
    to = put_varint(to, step << 1 ^ (step >> 63 ? UINT64_MAX : 0));
    to = put_varint(to, source);
    memcpy(to, record + LEAT_SPILL_RTT_AT, 4);
    to += 4;
    return more ? put_more(encoder, to, record) : to;
}

void leat_spill_encode(leat_spill_encoder *encoder, leat_spill_texts *shared,
                       const uint8_t *records, int64_t size_bytes) {
    encoder->shared = shared;
    uint8_t *to = encoder->bytes + encoder->filled;
    for (const uint8_t *at = records, *end = records + size_bytes; at < end;) {
        uint32_t word = 0;
        memcpy(&word, at + 8, 4);
        if (word & LEAT_SPILL_DEFINITION) {
            int32_t size = LEAT_SPILL_DEFINITION_BYTES + (int32_t)(word & LEAT_SPILL_LENGTH);
            *to++ = 0;
            memcpy(to, at, (size_t)size);
            to += size;
            at += size;
        } else {
            to = put_measurement(encoder, to, at);
            at += leat_spill_record_bytes(at);
        }
    }
    encoder->filled = to - encoder->bytes;
    LEAT_ASSERT(encoder->filled <= (int64_t)sizeof encoder->bytes);
}

/* ---- decoding ---- */

typedef struct decoding {
    leat_spill_decoder *decoder;
    const leat_spill_texts *shared;
    const uint8_t *at, *end;
    uint8_t *to, *to_end;
    int64_t time_us;
    uint32_t text_count;
    bool ok;
} decoding;

static inline uint64_t take_varint(decoding *self) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && self->at < self->end; shift += 7) {
        uint8_t byte = *self->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) return value;
    }
    self->ok = false;
    return 0;
}

/* Copies size bytes from what is encoded; false if there are fewer, or no room. */
static inline bool copy(decoding *self, int64_t size) {
    self->ok = self->ok && self->end - self->at >= size && self->to_end - self->to >= size;
    if (!self->ok) return false;
    memcpy(self->to, self->at, (size_t)size);
    self->at += size;
    self->to += size;
    return true;
}

/* Writes the text that a number stands for, or a new one, with the byte before it. */
static void take_text(decoding *self, uint64_t number) {
    leat_spill_decoder *decoder = self->decoder;
    uint8_t *to = self->to;
    if (number > 0) {
        bool shared = (number & 1) != 0;
        uint64_t end = shared ? (uint64_t)self->shared->count : self->text_count + UINT64_C(1);
        self->ok = self->ok && number >> 1 < end;
        if (!self->ok) return;
        const uint8_t *known = shared ? &self->shared->texts[number >> 1].kind
                                      : decoder->block + decoder->texts[number >> 1];
        int64_t size = 1 + (*known & LEAT_SPILL_LENGTH);
        self->ok = self->to_end - to >= size;
        if (!self->ok) return;
        /* most texts are short, and a call costs more than copying them */
        if (shared && size <= 16 && self->to_end - to >= 16) memcpy(to, known, 16);
        else memcpy(to, known, (size_t)size);
        *to = kind_of(to);
        self->to += size;
        return;
    }
    self->ok = self->ok && self->at < self->end && self->text_count < LEAT_SPILL_TEXTS_MAX &&
               (*self->at & LEAT_SPILL_MORE) == 0;
    if (self->ok && copy(self, 1 + (*self->at & LEAT_SPILL_LENGTH)))
        decoder->texts[++self->text_count] = (uint32_t)(to - decoder->block);
}

static void take_more(decoding *self) {
    uint64_t word = take_varint(self);
    uint32_t more = (uint32_t)(word >> 1) | (word & 1 ? LEAT_SPILL_OWN_SOURCE : 0);
    self->ok = self->ok && word >> 1 < LEAT_SPILL_OWN_SOURCE &&
               self->to_end - self->to >= LEAT_SPILL_MORE_BYTES;
    if (!self->ok) return;
    memcpy(self->to, &more, LEAT_SPILL_MORE_BYTES);
    self->to += LEAT_SPILL_MORE_BYTES;
    if (word & 1) take_text(self, take_varint(self));
}

static void take_measurement(decoding *self, uint64_t code) {
    uint8_t *record = self->to;
    self->ok = self->to_end - record >= LEAT_SPILL_MEASUREMENT_BYTES;
    if (!self->ok) return;
    self->to += LEAT_SPILL_FACTS_AT;
    take_text(self, (code - 1) >> 1);
    uint64_t step = take_varint(self), source = take_varint(self);
    self->ok = self->ok && self->end - self->at >= 4 && source < LEAT_SPILL_DEFINITION;
    if (!self->ok) return;
    self->time_us = (int64_t)((uint64_t)self->time_us + (step >> 1 ^ (step & 1 ? UINT64_MAX : 0)));
    uint32_t number = (uint32_t)source;
    memcpy(record, &self->time_us, 8);
    memcpy(record + 8, &number, 4);
    memcpy(record + LEAT_SPILL_RTT_AT, self->at, 4);
    self->at += 4;
    if (((code - 1) & 1) == 0) return;
    record[LEAT_SPILL_FACTS_AT] |= LEAT_SPILL_MORE;
    take_more(self);
}

static void take_definition(decoding *self) {
    uint32_t word = 0;
    self->ok = self->ok && self->end - self->at >= LEAT_SPILL_DEFINITION_BYTES;
    if (!self->ok) return;
    memcpy(&word, self->at + 8, 4);
    self->ok = (word & LEAT_SPILL_DEFINITION) != 0;
    (void)copy(self, LEAT_SPILL_DEFINITION_BYTES + (int64_t)(word & LEAT_SPILL_LENGTH));
}

bool leat_spill_decode(leat_spill_decoder *decoder, const leat_spill_texts *shared,
                       int64_t size_bytes, int64_t block_bytes) {
    if (size_bytes > LEAT_SPILL_ENCODED_MAX || block_bytes > LEAT_SPILL_BLOCK_BYTES) return false;
    decoding self = {.decoder = decoder,
                     .shared = shared,
                     .at = decoder->bytes + LEAT_SPILL_BLOCK_HEADER_BYTES,
                     .end = decoder->bytes + LEAT_SPILL_BLOCK_HEADER_BYTES + size_bytes,
                     .to = decoder->block,
                     .to_end = decoder->block + block_bytes,
                     .ok = true};
    while (self.ok && self.at < self.end) {
        uint64_t code = take_varint(&self);
        if (code == 0) take_definition(&self);
        else take_measurement(&self, code);
    }
    return self.ok && self.to == self.to_end;
}
