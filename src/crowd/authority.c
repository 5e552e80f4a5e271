/* See authority.h. What OpenSSL keeps of its errors is cleared: only that a call failed matters,
 * because none of these calls depends on anything from outside but memory. */
#include "crowd/authority.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"

enum { VERSION_3 = 2, FILE_BYTES_MAX = 1 << 20, NAMES_BYTES = 1200 };

/* RFC 5280, 4.1.2.5: no end. */
static const char begin[] = "20000101000000Z", end[] = "99991231235959Z";

static leat_code failed(const char *doing, leat_error *err) {
    ERR_clear_error();
    return leat_fail(err, LEAT_ERR_MEMORY, "OpenSSL: %s fails: too little memory", doing);
}

/* ---- files ----------------------------------------------------------------------------------- */

static leat_code save(BIO *from, const char *path, leat_error *err) {
    char *text = NULL;
    const long size = BIO_get_mem_data(from, &text);
    return leat_file_save_private(path, text, size, err);
}

static leat_code save_key(EVP_PKEY *key, const char *path, leat_error *err) {
    BIO *out = BIO_new(BIO_s_secmem());
    leat_code code = LEAT_OK;
    if (out == NULL || PEM_write_bio_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) != 1)
        code = failed("writing a key", err);
    else code = save(out, path, err);
    BIO_free(out);
    return code;
}

static leat_code save_certificate(X509 *certificate, const char *path, leat_error *err) {
    BIO *out = BIO_new(BIO_s_mem());
    leat_code code = LEAT_OK;
    if (out == NULL || PEM_write_bio_X509(out, certificate) != 1)
        code = failed("writing a certificate", err);
    else code = save(out, path, err);
    BIO_free(out);
    return code;
}

/* The file as a source of OpenSSL; *text is its bytes, which the caller frees after it. */
static leat_code open_text(const char *path, uint8_t **text, BIO **in, leat_error *err) {
    int64_t size = 0;
    *in = NULL;
    LEAT_TRY(leat_file_load(path, FILE_BYTES_MAX, text, &size, err));
    *in = BIO_new_mem_buf(*text, (int)size);
    if (*in != NULL) return LEAT_OK;
    leat_free(*text);
    *text = NULL;
    return failed("reading", err);
}

static leat_code load_key(const char *path, EVP_PKEY **key, leat_error *err) {
    uint8_t *text = NULL;
    BIO *in = NULL;
    LEAT_TRY(open_text(path, &text, &in, err));
    *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
    BIO_free(in);
    leat_free(text);
    if (*key != NULL) return LEAT_OK;
    ERR_clear_error();
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.300s\" is not a private key in PEM", path);
}

/* *count: how many certificates the file has; 2: more than one. */
static leat_code load_certificate(const char *path, X509 **certificate, int *count,
                                  leat_error *err) {
    uint8_t *text = NULL;
    BIO *in = NULL;
    LEAT_TRY(open_text(path, &text, &in, err));
    *certificate = PEM_read_bio_X509(in, NULL, NULL, NULL);
    X509 *second = *certificate != NULL ? PEM_read_bio_X509(in, NULL, NULL, NULL) : NULL;
    *count = *certificate == NULL ? 0 : second == NULL ? 1 : 2;
    X509_free(second);
    BIO_free(in);
    leat_free(text);
    ERR_clear_error();
    return LEAT_OK;
}

/* ---- certificates ---------------------------------------------------------------------------- */

static bool extend(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    const bool done = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return done;
}

static bool name(X509 *certificate, const char *common) {
    X509_NAME *of = X509_get_subject_name(certificate);
    return X509_NAME_add_entry_by_txt(of, "CN", MBSTRING_UTF8, (const unsigned char *)common, -1,
                                      -1, 0) == 1;
}

/* All but what makes it an authority's or a server's, and the signature. */
static X509 *draft(EVP_PKEY *key, uint64_t serial, const char *common) {
    X509 *certificate = X509_new();
    if (certificate == NULL) return NULL;
    if (X509_set_version(certificate, VERSION_3) == 1 &&
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
        ASN1_TIME_set_string(X509_getm_notBefore(certificate), begin) == 1 &&
        ASN1_TIME_set_string(X509_getm_notAfter(certificate), end) == 1 &&
        X509_set_pubkey(certificate, key) == 1 && name(certificate, common))
        return certificate;
    X509_free(certificate);
    return NULL;
}

leat_code leat_authority_create(const leat_authority_files *files, const char *common,
                                leat_error *err) {
    uint64_t serial = 0;
    leat_code code = LEAT_OK;
    LEAT_TRY(leat_random_u64(&serial, err));
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *own = key != NULL ? draft(key, serial, common) : NULL;
    if (own == NULL || X509_set_issuer_name(own, X509_get_subject_name(own)) != 1 ||
        !extend(own, own, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
        !extend(own, own, NID_key_usage, "critical,keyCertSign,cRLSign") ||
        !extend(own, own, NID_subject_key_identifier, "hash") ||
        X509_sign(own, key, EVP_sha256()) == 0)
        code = failed("creating an authority", err);
    if (code == LEAT_OK) code = save_key(key, files->key, err);
    if (code == LEAT_OK) code = save_certificate(own, files->certificate, err);
    X509_free(own);
    EVP_PKEY_free(key);
    return code;
}

/* "IP:192.168.1.5,DNS:192.168.1.5,DNS:db.local": libpq before 15 looks for addresses among the
 * names of hosts. */
static void list_names(char list[NAMES_BYTES], const char *const *names, int count) {
    uint8_t address[16];
    size_t size = 0;
    LEAT_ASSERT(count > 0 && count <= LEAT_AUTHORITY_NAMES_MAX);
    for (int i = 0; i < count; i++) {
        const char *comma = i == 0 ? "" : ",";
        const bool is_ipv6 = inet_pton(AF_INET6, names[i], address) == 1;
        if (is_ipv6 || inet_pton(AF_INET, names[i], address) == 1) {
            size += (size_t)snprintf(list + size, NAMES_BYTES - size, "%sIP:%s", comma, names[i]);
            comma = ",";
        }
        if (!is_ipv6)
            size += (size_t)snprintf(list + size, NAMES_BYTES - size, "%sDNS:%s", comma, names[i]);
        LEAT_ASSERT(size < NAMES_BYTES);
    }
}

/* The certificate of a server that has this key, signed. */
static X509 *vouch(X509 *authority, EVP_PKEY *authority_key, EVP_PKEY *key, uint64_t serial,
                   const char *list) {
    X509 *certificate = draft(key, serial, "leat server");
    if (certificate != NULL &&
        X509_set_issuer_name(certificate, X509_get_subject_name(authority)) == 1 &&
        extend(certificate, authority, NID_basic_constraints, "critical,CA:FALSE") &&
        extend(certificate, authority, NID_key_usage, "critical,digitalSignature") &&
        extend(certificate, authority, NID_ext_key_usage, "serverAuth") &&
        extend(certificate, authority, NID_subject_alt_name, list) &&
        extend(certificate, authority, NID_authority_key_identifier, "keyid") &&
        X509_sign(certificate, authority_key, EVP_sha256()) != 0)
        return certificate;
    X509_free(certificate);
    return NULL;
}

static leat_code sign(X509 *authority, EVP_PKEY *authority_key, const leat_authority_files *server,
                      const char *list, leat_error *err) {
    uint64_t serial = 0;
    leat_code code = LEAT_OK;
    LEAT_TRY(leat_random_u64(&serial, err));
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *own = key != NULL ? vouch(authority, authority_key, key, serial, list) : NULL;
    if (own == NULL) code = failed("creating a server's certificate", err);
    if (code == LEAT_OK) code = save_key(key, server->key, err);
    if (code == LEAT_OK) code = save_certificate(own, server->certificate, err);
    X509_free(own);
    EVP_PKEY_free(key);
    return code;
}

leat_code leat_authority_sign(const leat_authority_files *authority,
                              const leat_authority_files *server, const char *const *names,
                              int count, leat_error *err) {
    char list[NAMES_BYTES];
    EVP_PKEY *key = NULL;
    X509 *own = NULL;
    int found = 0;
    list_names(list, names, count);
    LEAT_TRY(load_key(authority->key, &key, err));
    leat_code code = load_certificate(authority->certificate, &own, &found, err);
    if (code == LEAT_OK && (found != 1 || X509_check_private_key(own, key) != 1)) {
        ERR_clear_error();
        code = leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%.200s\" is not the certificate of the key in \"%.200s\"; remove both, "
                         "and invite everybody again",
                         authority->certificate, authority->key);
    }
    if (code == LEAT_OK) code = sign(own, key, server, list, err);
    X509_free(own);
    EVP_PKEY_free(key);
    return code;
}

leat_code leat_authority_read(const char *path, uint8_t *der, int64_t most, int64_t *size_bytes,
                              leat_error *err) {
    X509 *certificate = NULL;
    uint8_t *bytes = NULL;
    int count = 0;
    *size_bytes = 0;
    LEAT_TRY(load_certificate(path, &certificate, &count, err));
    if (count != 1)
        return X509_free(certificate),
               leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.300s\" has %s; a ticket takes one: name a file with the certificate "
                         "of the server's authority alone",
                         path, count == 0 ? "no certificate in PEM" : "more than one certificate");
    const int size = i2d_X509(certificate, &bytes);
    X509_free(certificate);
    if (size <= 0) return failed("reading a certificate", err);
    leat_code code = LEAT_OK;
    if (size > most)
        code = leat_fail(err, LEAT_ERR_OPTION,
                         "the certificate in \"%.300s\" has %d bytes, and a ticket takes %lld at "
                         "most: name another authority of the server",
                         path, size, (long long)most);
    else memcpy(der, bytes, (size_t)size);
    if (code == LEAT_OK) *size_bytes = size;
    OPENSSL_free(bytes);
    return code;
}
