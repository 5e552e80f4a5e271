/*
 * The certificate authorities that a system trusts, for sslrootcert=system in a URL. libpq 16 and
 * newer leaves that to the OpenSSL that it is linked with, which knows only the folder that it was
 * configured with, and older ones take "system" for the name of a file.
 */
#ifndef LEAT_CROWD_AUTHORITIES_H
#define LEAT_CROWD_AUTHORITIES_H

#include "base/error.h"

#define LEAT_AUTHORITIES_BYTES 1024

/* The file that SSL_CERT_FILE names, or else the first that is there of those that systems have;
 * LEAT_ERR_OPTION if there is none, or the named one cannot be read. */
LEAT_MUST_CHECK leat_code leat_authorities_find(char path[LEAT_AUTHORITIES_BYTES], leat_error *err);

#endif
