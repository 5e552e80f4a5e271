/*
 * A ticket: all that a machine needs to work on a run, in one word that a person can send and
 * paste.
 *
 *     leat1:BASE64URL
 *
 * The word is base64url (RFC 4648, without padding) of a record; integers are little-endian, and
 * each text has a byte with its length before it:
 *
 *     u8    version, 1
 *     u8    how the server is checked: leat_ticket_check
 *     u16   port
 *     text  host, database, run ("": the only open one), login, password
 *     u16   bytes of the certificate that follows, in DER; 0 unless the check is
 *           LEAT_TICKET_AUTHORITY
 *     4     first bytes of the SHA-256 of everything before them: a ticket that was not copied
 *           completely is not taken for another one
 *
 * It contains a password, so no message of this file repeats any of it.
 */
#ifndef LEAT_CROWD_TICKET_H
#define LEAT_CROWD_TICKET_H

#include "crowd/libpq.h"

#define LEAT_TICKET_TEXT_BYTES 8192
#define LEAT_TICKET_CERTIFICATE_BYTES 4096
#define LEAT_TICKET_HOST_CHARACTERS                                                                \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:"

typedef enum leat_ticket_check {
    LEAT_TICKET_PLAIN,     /* nothing is encrypted: the host is an address of the loopback
                            * interface, 127.x.x.x or ::1 */
    LEAT_TICKET_AUTHORITY, /* verify-full, by the certificate in the ticket */
    LEAT_TICKET_SYSTEM,    /* verify-full, by the authorities that the machine trusts */
} leat_ticket_check;

typedef struct leat_ticket {
    leat_ticket_check check;
    int64_t port;   /* 1 to 65535 */
    char host[256]; /* a name or an address, of LEAT_TICKET_HOST_CHARACTERS */
    char database[LEAT_PG_NAME_BYTES], login[LEAT_PG_NAME_BYTES]; /* 63 bytes at most */
    char run[LEAT_PG_NAME_BYTES];
    char password[129];
    int64_t certificate_bytes;
    uint8_t certificate[LEAT_TICKET_CERTIFICATE_BYTES]; /* of the server's authority, DER */
} leat_ticket;

/* Whether a text is a ticket, of any version, and not a URL. */
bool leat_ticket_is(const char *text);
/* The end of what a worker says until its first connection. Who has a ticket may have leat-worker
 * alone, and no leat doctor. */
const char *leat_ticket_remedy(const char *url);
/* LEAT_ERR_OPTION: it is not one, or not a complete one; the message says where.
 * LEAT_ERR_UNSUPPORTED: it is one of a later version of leat. */
LEAT_MUST_CHECK leat_code leat_ticket_parse(leat_ticket *out, const char *text, leat_error *err);
/* The inverse. LEAT_ERR_OPTION: a member is empty, too long, or not what leat_ticket_parse takes.
 */
LEAT_MUST_CHECK leat_code leat_ticket_write(const leat_ticket *ticket,
                                            char text[LEAT_TICKET_TEXT_BYTES], leat_error *err);
/* The URL of its database, without the certificate; with the password. */
void leat_ticket_url(const leat_ticket *ticket, char url[LEAT_PG_URL_BYTES]);
/* Its certificate in PEM; "": it has none. */
void leat_ticket_pem(const leat_ticket *ticket, char pem[LEAT_PG_PEM_BYTES]);
/* leat_pg_place_parse of a ticket. */
LEAT_MUST_CHECK leat_code leat_ticket_place(leat_pg_place *place, const char *text,
                                            leat_error *err);

#endif
