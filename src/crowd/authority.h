/*
 * A certificate authority of one's own, for the server of a run: what a volunteer's ticket has, so
 * that no other machine can pass for the server. The only file of the room that knows OpenSSL.
 *
 * Keys are on P-256, certificates without an end: a ticket is good as long as its login is, and a
 * volunteer's clock may be wrong. Files are PEM; those of keys are for this user alone.
 */
#ifndef LEAT_CROWD_AUTHORITY_H
#define LEAT_CROWD_AUTHORITY_H

#include "base/error.h"

#define LEAT_AUTHORITY_NAMES_MAX 4

/* The files of an authority, and of a server that it vouches for. */
typedef struct leat_authority_files {
    const char *key, *certificate;
} leat_authority_files;

/* Creates an authority; existing files are replaced. `name` is what its certificate says. */
LEAT_MUST_CHECK leat_code leat_authority_create(const leat_authority_files *files, const char *name,
                                                leat_error *err);
/* Creates the key and certificate of a server, which has these names (of hosts, or addresses), at
 * least one; of letters, digits and "._-:". LEAT_ERR_CORRUPT: the files of the authority are not
 * those that leat_authority_create wrote. */
LEAT_MUST_CHECK leat_code leat_authority_sign(const leat_authority_files *authority,
                                              const leat_authority_files *server,
                                              const char *const *names, int count, leat_error *err);
/* The certificate in a file, as DER. LEAT_ERR_OPTION: the file does not have exactly one, or it has
 * more than `most` bytes. */
LEAT_MUST_CHECK leat_code leat_authority_read(const char *path, uint8_t *der, int64_t most,
                                              int64_t *size_bytes, leat_error *err);

#endif
