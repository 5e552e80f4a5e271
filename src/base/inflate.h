/* What deflated bytes (RFC 1950) become, or only how much. */
#ifndef LEAT_BASE_INFLATE_H
#define LEAT_BASE_INFLATE_H

#include "base/error.h"

/* Whether the bytes inflate to more than `limit_bytes`: inflates no more than that and 4 KiB.
 * Damaged data counts up to the damage. LEAT_ERR_MEMORY. */
LEAT_MUST_CHECK leat_code leat_inflates_beyond(const uint8_t *bytes, int64_t size_bytes,
                                               int64_t limit_bytes, bool *beyond, leat_error *err);

/* Inflates as far as the bytes go, or as `out` has space: *written of them; -1: they are not
 * deflated bytes, or no longer. LEAT_ERR_MEMORY. */
LEAT_MUST_CHECK leat_code leat_inflate(const uint8_t *bytes, int64_t size_bytes, uint8_t *out,
                                       int64_t out_bytes, int64_t *written, leat_error *err);

#endif
