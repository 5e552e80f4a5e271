/* The definition of UTF-8, for all code that examines text byte by byte. */
#ifndef LEAT_BASE_ESCAPE_H
#define LEAT_BASE_ESCAPE_H

#include "leat/base.h"

/* Bytes of the well-formed UTF-8 character at `at`, with `left` bytes available (RFC 3629: shortest
 * form, no surrogates); 0 if it is not well formed. */
int leat_utf8_length(const uint8_t *at, int64_t left);

#endif
