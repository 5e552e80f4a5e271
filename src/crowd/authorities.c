/* See authorities.h. A variable that is set decides alone: trusting more than it names would be a
 * surprise, and trusting less is an error that says so. */
#include "crowd/authorities.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

/* Of Debian and Ubuntu, Fedora and RHEL, openSUSE, older RHEL, Alpine and others. */
static const char *const places[] = {"/etc/ssl/certs/ca-certificates.crt",
                                     "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                     "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                                     "/etc/ssl/cert.pem"};

static bool is_readable(const char *path) {
    leat_file *file = NULL;
    if (leat_file_open(&file, path, LEAT_FILE_READ, NULL) != LEAT_OK) return false;
    leat_file_close(file);
    return true;
}

static leat_code take_named(char path[LEAT_AUTHORITIES_BYTES], const char *named, leat_error *err) {
    if (snprintf(path, LEAT_AUTHORITIES_BYTES, "%s", named) < LEAT_AUTHORITIES_BYTES &&
        is_readable(path))
        return LEAT_OK;
    path[0] = 0;
    return leat_fail(
        err, LEAT_ERR_OPTION,
        "sslrootcert=system: SSL_CERT_FILE is \"%.200s\", which cannot be read; set it "
        "to a file of certificate authorities in PEM, or unset it",
        named);
}

leat_code leat_authorities_find(char path[LEAT_AUTHORITIES_BYTES], leat_error *err) {
    const char *file = getenv("SSL_CERT_FILE"), *folder = getenv("SSL_CERT_DIR");
    path[0] = 0;
    if (file != NULL && file[0] != 0) return take_named(path, file, err);
    if (folder != NULL && folder[0] != 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "sslrootcert=system: SSL_CERT_DIR is set, but leat reads authorities from "
                         "one file; set SSL_CERT_FILE, or give sslrootcert=FILE in the URL");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!is_readable(places[i])) continue;
        snprintf(path, LEAT_AUTHORITIES_BYTES, "%s", places[i]);
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_OPTION,
                     "sslrootcert=system: this system has no list of certificate authorities (%s "
                     "and four other places); install the package ca-certificates, set "
                     "SSL_CERT_FILE to such a file, or give sslrootcert=FILE in the URL",
                     places[0]);
}
