/* Internet addresses as text and bytes. */
#ifndef LEAT_BASE_ADDRESS_H
#define LEAT_BASE_ADDRESS_H

#include "leat/base.h"

/* The longest text of an IPv6 address, without a NUL ("ffff:...:255.255.255.255"). */
#define LEAT_ADDRESS_TEXT_BYTES 45

/*
 * Parses an address: strict dotted quad (no leading zeros) or IPv6 as in RFC 4291, without zone or
 * blanks. Returns 4 or 6, or 0 if the text is not an address. `bytes` receives 4 or 16 bytes in
 * network order; it may be NULL. size_bytes may be anything; the text needs no NUL.
 */
int leat_address_parse(const char *text, int64_t size_bytes, uint8_t bytes[16]);

/* The canonical text (RFC 5952), no NUL; returns its length. version 4 or 6. */
int leat_address_format(int version, const uint8_t *bytes, char text[LEAT_ADDRESS_TEXT_BYTES]);

/* The probe number of an address text: the first 15 hexadecimal digits of its MD5. */
int64_t leat_address_src_id(const char *text, int64_t size_bytes);

#endif
