/* A sequence read back, one measurement after the other. */
#ifndef LEAT_BATCH_TOKENS_DECODE_H
#define LEAT_BATCH_TOKENS_DECODE_H

#include "leat/batch.h"

typedef struct leat_decoder {
    const int32_t *tokens, *segments;
    int32_t length;
    int32_t at, end; /* the next token, and where its segment ends */
    int32_t segment;
    int64_t clock_s; /* time of the last stamped measurement of the segment */
    leat_decoded now;
} leat_decoder;

/* As leat_tokens_decode; the arrays stay the caller's. */
void leat_decoder_begin(leat_decoder *decoder, const int32_t *tokens, const int32_t *segments,
                        int32_t length);

/* The next one in `now`; *found is false at the end. */
LEAT_MUST_CHECK leat_code leat_decoder_next(leat_decoder *decoder, bool *found, leat_error *err);

#endif
