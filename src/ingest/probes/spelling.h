/*
 * In which spelling an address is stored. A probe is the text of its address, so the spelling
 * decides which probe a measurement belongs to; base/address.h says what the spellings are.
 */
#ifndef LEAT_INGEST_PROBES_SPELLING_H
#define LEAT_INGEST_PROBES_SPELLING_H

#include "base/address.h"
#include "base/lines.h"
#include "leat/ingest.h"

typedef struct leat_spelling {
    int version;        /* of the stored text, 4 or 6; 0: not an address */
    bool mapped;        /* an IPv4-mapped address (::ffff:192.0.2.1) that is stored as IPv4 */
    int32_t size_bytes; /* of the stored text; -1: as written */
    char text[LEAT_ADDRESS_TEXT_BYTES]; /* no NUL */
} leat_spelling;

void leat_spelling_make(leat_spelling *out, leat_address_rule rule, const leat_text *written);
/* The stored text: of the spelling, which must outlive it, or the written one. */
static inline leat_text leat_spelling_text(const leat_spelling *spelling,
                                           const leat_text *written) {
    return spelling->size_bytes < 0 ? *written : (leat_text){spelling->text, spelling->size_bytes};
}

#endif
