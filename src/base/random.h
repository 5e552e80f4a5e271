/* Unpredictable numbers from the kernel, for names. Data never depends on them (that is what rng.h
 * is for). */
#ifndef LEAT_BASE_RANDOM_H
#define LEAT_BASE_RANDOM_H

#include "base/error.h"

/* 64 random bits; LEAT_ERR_IO with *out 0 if the kernel returns none. */
LEAT_MUST_CHECK leat_code leat_random_u64(uint64_t *out, leat_error *err);
/* Hexadecimal digits, 4 random bits each, as many as fit into text_bytes (at least 1) with a NUL;
 * "" if the kernel returns no bits. */
LEAT_MUST_CHECK leat_code leat_random_hex(char *text, int64_t text_bytes, leat_error *err);

#endif
