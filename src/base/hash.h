/* Hashes: SHA-256 and MD5 (libcrypto), XXH3-64 (libxxhash), HighwayHash-64 (highwayhash.c). */
#ifndef LEAT_BASE_HASH_H
#define LEAT_BASE_HASH_H

#include "leat/base.h"

/* SHA-256, a running state that may be copied; no allocation. */
typedef struct leat_sha256 {
    uint64_t state[15];
    /* Whether the processor can hash two streams at once: 1, -1, or 0 before it was asked. Asking
     * takes some 20 us in a virtual machine, so it is asked only when two are hashed. */
    int8_t pairs;
} leat_sha256;
void leat_sha256_init(leat_sha256 *sha);
void leat_sha256_update(leat_sha256 *sha, const void *bytes, int64_t size_bytes);
void leat_sha256_final(leat_sha256 *sha, uint8_t digest[32]);
/* Of bytes that are all there; and as the text of leat_sha256_hex. */
void leat_sha256_of(const void *bytes, int64_t size_bytes, uint8_t digest[32]);
void leat_sha256_hex_of(const void *bytes, int64_t size_bytes, char text[65]);
/* leat_sha256_update of the leat_sha256 `sha`, for those who write to a function; never fails. */
LEAT_MUST_CHECK leat_code leat_sha256_write(void *sha, const void *bytes, int64_t size_bytes,
                                            leat_error *err);
/* Two states at once, in little more time than one. */
void leat_sha256_update2(leat_sha256 *a, const void *bytes_a, int64_t size_a, leat_sha256 *b,
                         const void *bytes_b, int64_t size_b);
/* 64 lower-case hexadecimal digits and a NUL. */
void leat_sha256_hex(const uint8_t digest[32], char text[65]);
/* Parses them; false if the text is anything else. */
bool leat_sha256_parse(const char *text, uint8_t digest[32]);

void leat_md5(const void *bytes, int64_t size_bytes, uint8_t digest[16]);

uint64_t leat_xxh3(const void *bytes, int64_t size_bytes);
/* The same for bytes that come in pieces. */
typedef struct leat_xxh3_run leat_xxh3_run;
LEAT_MUST_CHECK leat_code leat_xxh3_create(leat_xxh3_run **out, leat_error *err);
void leat_xxh3_destroy(leat_xxh3_run *run);
/* Begins, also again. */
void leat_xxh3_begin(leat_xxh3_run *run);
void leat_xxh3_update(leat_xxh3_run *run, const void *bytes, int64_t size_bytes);
uint64_t leat_xxh3_final(const leat_xxh3_run *run);

/*
 * HighwayHash-64 with the key of Riegeli ("Riegeli/records\n" twice), incremental. Uses AVX2 where
 * the processor has it; the portable path gives the same value.
 */
typedef struct leat_highwayhash {
    uint64_t v0[4], v1[4], m0[4], m1[4];
    uint8_t tail[32];
    int64_t tail_size;
} leat_highwayhash;
void leat_highwayhash_init(leat_highwayhash *hash);
void leat_highwayhash_update(leat_highwayhash *hash, const void *bytes, int64_t size_bytes);
uint64_t leat_highwayhash_final(leat_highwayhash *hash);
/* One shot. */
uint64_t leat_highwayhash_of(const void *bytes, int64_t size_bytes);
/* The portable path, for tests; also with another key (four words). */
uint64_t leat_highwayhash_portable(const uint64_t key[4], const void *bytes, int64_t size_bytes);

#endif
