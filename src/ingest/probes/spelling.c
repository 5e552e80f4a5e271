/* Spellings of addresses: see spelling.h. */
#include "ingest/probes/spelling.h"

#include <string.h>

enum { V6_BYTES = 16, V4_AT = 12 };

/* ::ffff:0:0/96 of RFC 4291, which sockets for both versions report for IPv4. */
static bool is_mapped(const uint8_t bytes[V6_BYTES]) {
    static const uint8_t prefix[V4_AT] = {[10] = 0xff, [11] = 0xff};
    return memcmp(bytes, prefix, sizeof prefix) == 0;
}

void leat_spelling_make(leat_spelling *out, leat_address_rule rule, const leat_text *written) {
    uint8_t bytes[V6_BYTES];
    out->version = leat_address_parse(written->data, written->size_bytes, bytes);
    out->size_bytes = -1;
    /* IPv4 has one spelling */
    out->mapped = out->version == 6 && rule != LEAT_ADDRESS_WRITTEN && is_mapped(bytes);
    if (out->mapped) {
        out->version = 4;
        out->size_bytes = leat_address_format(4, bytes + V4_AT, out->text);
    } else if (out->version == 6 && rule == LEAT_ADDRESS_CANONICAL) {
        out->size_bytes = leat_address_format(6, bytes, out->text);
    }
}
