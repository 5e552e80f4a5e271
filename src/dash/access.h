/*
 * Who may see the page. On the loopback interface everybody on this machine; beyond it only who has
 * the token, which the first request trades for a cookie. In both cases the browser must ask for a
 * host that is this machine's own: a page of another site whose name was made to lead here (DNS
 * rebinding) asks for that site's.
 */
#ifndef LEAT_DASH_ACCESS_H
#define LEAT_DASH_ACCESS_H

#include "dash/http.h"

#define LEAT_ACCESS_TOKEN_BYTES 33 /* 128 random bits in hexadecimal digits, and a NUL */

typedef struct leat_access {
    leat_http_place place;
    char listen[64]; /* the address alone, as in a URL: "127.0.0.1", "[::1]" */
    char own[256];   /* name of this machine, in any case; "": not known */
    bool open;       /* no token is needed */
    char token[LEAT_ACCESS_TOKEN_BYTES];
    char cookie_name[32], cookie[65]; /* by the port, if that was chosen; a hash of the token */
} leat_access;

/* Reads "ADDRESS:PORT": an IPv4 address, an IPv6 address in brackets, or localhost; without a port
 * 8501, and port 0 is any. Draws a token if the address is not on the loopback interface.
 * LEAT_ERR_OPTION: it is anything else. */
LEAT_MUST_CHECK leat_code leat_access_create(leat_access *access, const char *listen,
                                             leat_error *err);

/* Whether a header "Host" names this machine: a number, as browsers cannot be led elsewhere with;
 * localhost; or the machine's own name, whole or its first part, also with ".local". NULL: it is
 * missing. */
bool leat_access_knows_host(const leat_access *access, const char *host);
/* In a time that does not depend on where they differ. NULL is equal to nothing. */
bool leat_access_is_equal(const char *given, const char *wanted);

/* What may have the token with each request: a program that reads numbers keeps no cookie. */
#define LEAT_ACCESS_METRICS "/metrics"

/* True: the request may be answered. False: *reply says why not, or leads on without the token. */
bool leat_access_admit(const leat_access *access, const leat_http_request *request,
                       leat_http_reply *reply);

#endif
