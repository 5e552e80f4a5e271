/* How much deflated bytes (RFC 1950) become, without keeping them. */
#ifndef LEAT_BASE_INFLATE_H
#define LEAT_BASE_INFLATE_H

#include "base/error.h"

/* Whether the bytes inflate to more than `limit_bytes`: inflates no more than that and 4 KiB.
 * Damaged data counts up to the damage. LEAT_ERR_MEMORY. */
LEAT_MUST_CHECK leat_code leat_inflates_beyond(const uint8_t *bytes, int64_t size_bytes,
                                               int64_t limit_bytes, bool *beyond, leat_error *err);

#endif
