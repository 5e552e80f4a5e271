/* Bytes as text: base64 (RFC 4648). */
#ifndef LEAT_BASE_BASE64_H
#define LEAT_BASE_BASE64_H

#include <stdint.h>

typedef enum leat_base64 {
    LEAT_BASE64_PADDED, /* digits 62 and 63 are + and /; with = at its end up to a multiple of 4 */
    LEAT_BASE64_URL,    /* they are - and _; ends with its last digit */
} leat_base64;

/* At most, of so many bytes: all characters and a NUL. */
#define LEAT_BASE64_BYTES(size_bytes) (((size_bytes) + 2) / 3 * 4 + 1)

/* The value of a digit, 0 to 63; -1: it is none, as = and NUL are. */
int leat_base64_digit(char letter, leat_base64 kind);
/* text: LEAT_BASE64_BYTES; NUL-terminated. Returns the length. */
int64_t leat_base64_encode(char *text, const void *bytes, int64_t size_bytes, leat_base64 kind);
/*
 * The bytes of a text of LEAT_BASE64_URL; `out` has room for (length / 4 + 1) * 3. Strict: no two
 * texts have the same bytes. Returns -1; or the place of the first character that is no digit, or
 * `length` if the text ends within a byte, with *out_bytes that come before.
 */
int64_t leat_base64_decode(uint8_t *out, int64_t *out_bytes, const char *text, int64_t length);

#endif
