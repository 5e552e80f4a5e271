/* Bytes that a reader of frames gets in small pieces, as from a pipe. */
#ifndef LEAT_TESTS_INGEST_TEXT_PIECES_H
#define LEAT_TESTS_INGEST_TEXT_PIECES_H

#include "leat/ingest.h"

typedef struct text_pieces {
    const uint8_t *bytes;
    int64_t size_bytes, at, piece_bytes; /* at: where the next piece begins */
} text_pieces;

/* A source of `of`, which must outlive it. */
leat_can_frames_source text_pieces_source(text_pieces *of);

#endif
