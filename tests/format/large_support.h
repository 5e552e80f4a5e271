/* Inputs as large as a format allows, for tests of what reading and writing them takes. */
#ifndef LEAT_TESTS_LARGE_SUPPORT_H
#define LEAT_TESTS_LARGE_SUPPORT_H

#include "format/can_cache/can_cache.h"

/* Reads headers of safetensors as large as they may be, none of which is right: each is refused
 * for its own reason. None takes memory for what it claims. */
void large_headers_refused(void);

/* 700 captures of 400 identifiers each; and that they are what was read. */
void large_meta_fill(leat_can_meta *meta);
void large_meta_check(const leat_can_meta *meta);
/* A sink: adds the number of bytes to the int64_t `context`. */
leat_code large_count(void *context, const void *bytes, int64_t size_bytes, leat_error *err);

#endif
