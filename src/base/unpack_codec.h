/* What unpack.c needs of each library: one member at a time. */
#ifndef LEAT_BASE_UNPACK_CODEC_H
#define LEAT_BASE_UNPACK_CODEC_H

#include "base/unpack.h"

typedef struct leat_unpack_codec {
    /* memory_bytes as in leat_unpacker_create, not 0 */
    leat_code (*create)(void **out, int64_t memory_bytes, leat_error *err);
    void (*destroy)(void *codec); /* NULL accepted */
    /* Before the first byte of a member. */
    leat_code (*begin)(void *codec, leat_error *err);
    /* One step; *end: that was the end of the member. LEAT_ERR_CORRUPT: see leat_unpacker_step. */
    leat_code (*step)(void *codec, leat_unpack_flow *flow, bool *end, leat_error *err);
    int64_t (*memory_bytes)(const void *codec);
} leat_unpack_codec;

extern const leat_unpack_codec leat_unpack_gzip, leat_unpack_bzip2, leat_unpack_xz,
    leat_unpack_zstd;

#endif
