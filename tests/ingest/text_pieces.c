/* See text_pieces.h. */
#include "text_pieces.h"

#include <string.h>

static leat_code read_piece(void *user, void *bytes, int64_t size_bytes, int64_t *got,
                            leat_error *err) {
    text_pieces *of = user;
    (void)err;
    int64_t size = of->size_bytes - of->at;
    if (size > of->piece_bytes) size = of->piece_bytes;
    if (size > size_bytes) size = size_bytes;
    if (size > 0) memcpy(bytes, of->bytes + of->at, (size_t)size);
    of->at += size;
    *got = size;
    return LEAT_OK;
}

leat_can_frames_source text_pieces_source(text_pieces *of) {
    return (leat_can_frames_source){read_piece, of};
}
