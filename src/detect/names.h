/* The numbers of known identifiers: a hash table that is built once. */
#ifndef LEAT_DETECT_NAMES_H
#define LEAT_DETECT_NAMES_H

#include "leat/detect.h"

enum { LEAT_NAME_BYTES = 16 };

typedef struct leat_name_slot {
    char id[LEAT_NAME_BYTES]; /* zero padded; all 0: the slot is free */
    uint32_t bus, index;
} leat_name_slot;

typedef struct leat_names {
    leat_name_slot *slots; /* [mask + 1], at most half of them taken */
    uint32_t mask;
} leat_names;

#define LEAT_NAME_UNKNOWN UINT32_MAX

/* LEAT_ERR_INPUT: a name cannot be one, or is there twice. On failure there is nothing to free. */
LEAT_MUST_CHECK leat_code leat_names_make(leat_names *names, const leat_detect_context *context,
                                          leat_error *err);
void leat_names_free(leat_names *names);
int64_t leat_names_bytes(int64_t count);
/* The index of an identifier, of the bus that its name begins with, or of bus 0; or
 * LEAT_NAME_UNKNOWN. */
uint32_t leat_names_find(const leat_names *names, const char id[LEAT_NAME_BYTES], uint32_t bus);

#endif
