/* The inner loop of leat_sha256_update2 (base/hash.h). */
#ifndef LEAT_BASE_SHA256_PAIR_H
#define LEAT_BASE_SHA256_PAIR_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the processor has instructions for SHA-256: asked once a state, since asking is slow on
 * virtual machines. */
bool leat_sha256_pair_supported(void);
/* Takes `blocks` blocks of 64 bytes into each of two chaining values; only where supported. */
void leat_sha256_pair_blocks(uint32_t ha[8], const uint8_t *a, uint32_t hb[8], const uint8_t *b,
                             int64_t blocks);

#endif
