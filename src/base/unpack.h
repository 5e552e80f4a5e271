/*
 * Files packed by gzip, bzip2, xz or zstd, unpacked as they are read, in the memory of the
 * unpacker. Such a file consists of one or more members (in xz: streams, in zstd: frames) whose
 * contents follow one another; zero bytes between and after them are allowed. Every member must be
 * complete, and the checksums that it has are compared.
 */
#ifndef LEAT_BASE_UNPACK_H
#define LEAT_BASE_UNPACK_H

#include "base/error.h"

typedef enum leat_coding {
    LEAT_CODING_NONE,
    LEAT_CODING_GZIP,
    LEAT_CODING_BZIP2,
    LEAT_CODING_XZ,
    LEAT_CODING_ZSTD
} leat_coding;

/* How a file is packed, by its first bytes, of which LEAT_CODING_MAGIC_BYTES are enough. */
#define LEAT_CODING_MAGIC_BYTES 10
leat_coding leat_coding_of(const uint8_t *bytes, int64_t size_bytes);
/* "gzip" and the like, for messages; "" for none. */
const char *leat_coding_name(leat_coding coding);
/* Whether `bytes`, all of a file, are too few to say how it is packed, but begin as its name says:
 * a packed file that was truncated. */
bool leat_coding_is_cut(const char *path, const uint8_t *bytes, int64_t size_bytes);
/* The size of a path without the suffix of a packed file (".gz", ".bz2", ".xz", ".zst", in any
 * case): all of it if it has none. */
int64_t leat_coding_stem_bytes(const char *path);

typedef struct leat_unpacker leat_unpacker;

/* Where the bytes of a step come from and go to; both move on. */
typedef struct leat_unpack_flow {
    const uint8_t *in;
    int64_t in_bytes;
    uint8_t *out;
    int64_t out_bytes;
    bool last; /* no bytes come after `in` */
} leat_unpack_flow;

/*
 * memory_bytes: a member that requires more is LEAT_ERR_LIMIT; 0: LEAT_UNPACK_MEMORY_BYTES. Only
 * the dictionaries of xz and the windows of zstd differ much. LEAT_ERR_UNSUPPORTED: the library is
 * not installed, or leat was built without it.
 */
#define LEAT_UNPACK_MEMORY_BYTES (INT64_C(1) << 30)
LEAT_MUST_CHECK leat_code leat_unpacker_create(leat_unpacker **out, leat_coding coding,
                                               int64_t memory_bytes, leat_error *err);
void leat_unpacker_destroy(leat_unpacker *unpacker);
/*
 * Uses some of the input or produces some of the output; neither happens only without input, and
 * not at the end. *ended: that was the end of the last member. LEAT_ERR_CORRUPT: the message says
 * what is damaged, for the caller to name the file.
 */
LEAT_MUST_CHECK leat_code leat_unpacker_step(leat_unpacker *unpacker, leat_unpack_flow *flow,
                                             bool *ended, leat_error *err);
/* The most memory that members have required so far, one that was refused included, without small
 * change. */
int64_t leat_unpacker_memory_bytes(const leat_unpacker *unpacker);

#endif
