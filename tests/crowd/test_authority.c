/* A certificate authority in files: what it signs, which files it refuses. That libpq accepts a
 * server with such a certificate: test_listen.py. */
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "crowd/authority.h"
#include "crowd/local.h"

static char top[64], paths[32][128];

/* A file in the folder; valid until 32 others were asked for. */
static const char *at(const char *name) {
    static int next = 0;
    char *path = paths[next++ % 32];
    snprintf(path, sizeof *paths, "%s/%s", top, name);
    return path;
}

static int setup(void **state) {
    (void)state;
    snprintf(top, sizeof top, "/tmp/leat-authority-XXXXXX");
    return mkdtemp(top) == NULL;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

static void create(const char *key, const char *certificate) {
    const leat_authority_files files = {at(key), at(certificate)};
    assert_ok(leat_authority_create(&files, "leat authority 1", err));
}

static X509 *load(const char *name) {
    FILE *file = fopen(at(name), "r");
    assert_non_null(file);
    X509 *certificate = PEM_read_X509(file, NULL, NULL, NULL);
    fclose(file);
    assert_non_null(certificate);
    return certificate;
}

/* Whether the authority in a file has signed the server's certificate, as TLS asks it. */
static bool trusts(const char *authority, const char *server) {
    X509 *own = load(authority), *certificate = load(server);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    assert_int_equal(X509_STORE_add_cert(store, own), 1);
    assert_int_equal(X509_STORE_CTX_init(context, store, certificate, NULL), 1);
    assert_int_equal(X509_STORE_CTX_set_purpose(context, X509_PURPOSE_SSL_SERVER), 1);
    const bool trusted = X509_verify_cert(context) == 1;
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    X509_free(own);
    X509_free(certificate);
    return trusted;
}

static void signs(void **state) {
    static const char *const names[] = {"db.local", "192.168.1.5", "fd00::2"};
    const leat_authority_files authority = {at("a.key"), at("a.pem")};
    const leat_authority_files server = {at("s.key"), at("s.pem")};
    struct stat facts;
    (void)state;
    create("a.key", "a.pem");
    create("b.key", "b.pem");
    assert_ok(leat_authority_sign(&authority, &server, names, 3, err));
    assert_true(trusts("a.pem", "s.pem"));
    assert_false(trusts("b.pem", "s.pem"));
    X509 *certificate = load("s.pem");
    assert_int_equal(X509_check_host(certificate, "db.local", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(certificate, "192.168.1.5", 0, 0, NULL), 1);
    assert_int_equal(X509_check_ip_asc(certificate, "192.168.1.5", 0), 1);
    assert_int_equal(X509_check_ip_asc(certificate, "fd00::2", 0), 1);
    assert_int_equal(X509_check_host(certificate, "other.local", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(certificate, "192.168.1.6", 0), 0);
    assert_int_equal(X509_check_ca(certificate), 0);
    X509_free(certificate);
    for (const char *const *name = (const char *const[]){"a.key", "s.key", NULL}; *name; name++) {
        assert_int_equal(stat(at(*name), &facts), 0);
        assert_int_equal(facts.st_mode & 0777, 0600);
    }
}

/* A ticket's certificate is the file's, byte for byte. */
static void is_read(void **state) {
    uint8_t der[4096], *expected = NULL;
    int64_t size = 0;
    (void)state;
    create("a.key", "a.pem");
    X509 *certificate = load("a.pem");
    assert_ok(leat_authority_read(at("a.pem"), der, sizeof der, &size, err));
    assert_int_equal(i2d_X509(certificate, &expected), size);
    assert_memory_equal(der, expected, size);
    assert_int_equal(X509_check_ca(certificate), 1);
    OPENSSL_free(expected);
    X509_free(certificate);
    assert_fails(leat_authority_read(at("a.pem"), der, size - 1, &size, err), LEAT_ERR_OPTION,
                 "a ticket takes");
    assert_int_equal(size, 0);
}

static void refused(void **state) {
    static const char *const names[] = {"db.local"};
    const leat_authority_files mixed = {at("a.key"), at("b.pem")};
    const leat_authority_files none = {at("no.key"), at("a.pem")};
    const leat_authority_files server = {at("x.key"), at("x.pem")};
    uint8_t der[4096], *first = NULL;
    int64_t size = 0;
    (void)state;
    create("a.key", "a.pem");
    create("b.key", "b.pem");
    assert_fails(leat_authority_sign(&mixed, &server, names, 1, err), LEAT_ERR_CORRUPT,
                 "is not the certificate of the key");
    assert_fails(leat_authority_sign(&none, &server, names, 1, err), LEAT_ERR_NOT_FOUND, "no.key");
    assert_ok(leat_file_load(at("a.pem"), 4096, &first, &size, err));
    char twice[8192];
    snprintf(twice, sizeof twice, "%s%s", (char *)first, (char *)first);
    leat_free(first);
    assert_ok(leat_file_save(at("two.pem"), twice, (int64_t)strlen(twice), err));
    assert_fails(leat_authority_read(at("two.pem"), der, sizeof der, &size, err), LEAT_ERR_OPTION,
                 "more than one certificate");
    assert_ok(leat_file_save(at("text.pem"), "text", 4, err));
    assert_fails(leat_authority_read(at("text.pem"), der, sizeof der, &size, err), LEAT_ERR_OPTION,
                 "no certificate in PEM");
    assert_ok(leat_file_save(at("a.key"), "text", 4, err));
    const leat_authority_files damaged = {at("a.key"), at("a.pem")};
    assert_fails(leat_authority_sign(&damaged, &server, names, 1, err), LEAT_ERR_CORRUPT,
                 "is not a private key in PEM");
}

/* A start that was killed after it had written the key of a new authority. */
static void key_alone(void **state) {
    leat_local local = {.listen = {.host = "127.0.0.2"}};
    (void)state;
    snprintf(local.folder, sizeof local.folder, "%s", at("."));
    assert_ok(leat_local_write_listen(&local, err));
    assert_int_equal(unlink(at("authority.pem")), 0);
    assert_ok(leat_local_write_listen(&local, err));
    assert_true(trusts("authority.pem", "server.pem"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(signs, setup, teardown),
                                       cmocka_unit_test_setup_teardown(is_read, setup, teardown),
                                       cmocka_unit_test_setup_teardown(key_alone, setup, teardown),
                                       cmocka_unit_test_setup_teardown(refused, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
