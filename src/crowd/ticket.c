/* See ticket.h. One table says what a ticket's texts may be; reader and writer both go by it. */
#include "crowd/ticket.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/hash.h"
#include "base/mem.h"
#include "crowd/url_text.h"

enum { VERSION = 1, SUM_BYTES = 4, RECORD_BYTES = 5120, LINE = 64 };
_Static_assert(LEAT_TICKET_TEXT_BYTES >= 6 + LEAT_BASE64_BYTES(RECORD_BYTES), "it fits as text");
_Static_assert(4 + 5 + 255 + 63 + 64 + 63 + 128 + 2 + LEAT_TICKET_CERTIFICATE_BYTES + SUM_BYTES <=
                   RECORD_BYTES,
               "everything at its longest fits");

static const char prefix[] = "leat1:";

#define AGAIN "; copy the whole line again, or ask for another ticket"

/* The texts in their order. */
static const struct {
    const char *name, *characters; /* NULL: any but control characters */
    size_t at;
    int least, most;
} texts[] = {
    {"host", LEAT_TICKET_HOST_CHARACTERS, offsetof(leat_ticket, host), 1, 255},
    {"database", NULL, offsetof(leat_ticket, database), 1, 63},
    {"run", NULL, offsetof(leat_ticket, run), 0, 64},
    {"login", NULL, offsetof(leat_ticket, login), 1, 63},
    {"password", NULL, offsetof(leat_ticket, password), 1, 128},
};
enum { TEXTS = sizeof texts / sizeof *texts };

/* ---- what a ticket may say ------------------------------------------------------------------- */

static bool is_loopback(const char *host) {
    uint8_t address[16];
    if (inet_pton(AF_INET, host, address) == 1) return address[0] == 127;
    return strcmp(host, "::1") == 0;
}

static bool is_text(const char *text, int64_t size, const char *characters) {
    for (int64_t i = 0; i < size; i++) {
        const uint8_t c = (uint8_t)text[i];
        if (c < 0x20 || c == 0x7f || (characters != NULL && strchr(characters, c) == NULL))
            return false;
    }
    return leat_text_clean(text, size) == size;
}

/* One certificate: a DER sequence of 256 bytes or more that ends where the bytes do. */
static bool is_certificate(const leat_ticket *of) {
    const int64_t size = of->certificate_bytes;
    return size > 4 && size <= LEAT_TICKET_CERTIFICATE_BYTES && of->certificate[0] == 0x30 &&
           of->certificate[1] == 0x82 &&
           (of->certificate[2] << 8 | of->certificate[3]) == (int)size - 4;
}

static leat_code check(const leat_ticket *of, leat_error *err) {
    for (int i = 0; i < TEXTS; i++) {
        const char *text = (const char *)of + texts[i].at;
        const int64_t size = (int64_t)strlen(text);
        if (size < texts[i].least || size > texts[i].most ||
            !is_text(text, size, texts[i].characters))
            return leat_fail(err, LEAT_ERR_OPTION,
                             "the %s of a ticket must have %d to %d bytes, and no other characters "
                             "than %s have",
                             texts[i].name, texts[i].least, texts[i].most,
                             texts[i].characters != NULL ? "names and addresses" : "plain texts");
    }
    if (of->port < 1 || of->port > 65535)
        return leat_fail(err, LEAT_ERR_OPTION, "the port of a ticket must be between 1 and 65535");
    if (of->check > LEAT_TICKET_SYSTEM)
        return leat_fail(err, LEAT_ERR_OPTION, "the ticket has no valid check of the server" AGAIN);
    if (of->check == LEAT_TICKET_PLAIN && !is_loopback(of->host))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the ticket does not say how the server is verified, and that is possible "
                         "only on the server's own machine (127.0.0.1); ask for a ticket with a "
                         "certificate");
    if ((of->check == LEAT_TICKET_AUTHORITY) ? !is_certificate(of) : of->certificate_bytes != 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the certificate of the ticket is not one of 260 to %d bytes" AGAIN,
                         LEAT_TICKET_CERTIFICATE_BYTES);
    return LEAT_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

bool leat_ticket_is(const char *text) {
    const size_t digits = strncmp(text, "leat", 4) == 0 ? strspn(text + 4, "0123456789") : 0;
    return digits > 0 && text[4 + digits] == ':';
}

const char *leat_ticket_remedy(const char *url) {
    return leat_ticket_is(url) ? "; if this lasts, ask whoever sent the ticket"
                               : LEAT_PG_NEVER_CONNECTED;
}

static leat_code decode(uint8_t record[RECORD_BYTES], int64_t *record_bytes, const char *text,
                        leat_error *err) {
    const int64_t length = (int64_t)strlen(text);
    *record_bytes = 0;
    if (length / 4 * 3 + 3 > RECORD_BYTES)
        return leat_fail(err, LEAT_ERR_OPTION, "the ticket is too long" AGAIN);
    const int64_t wrong = leat_base64_decode(record, record_bytes, text, length);
    if (wrong < 0) return LEAT_OK;
    if (wrong == length)
        return leat_fail(err, LEAT_ERR_OPTION, "the end of the ticket is missing" AGAIN);
    return leat_fail(err, LEAT_ERR_OPTION,
                     "character %lld of the ticket is not a letter, a digit, - or _" AGAIN,
                     (long long)(wrong + (int64_t)sizeof prefix));
}

typedef struct reader {
    const uint8_t *bytes;
    int64_t size, at;
} reader;

/* False: the record ends before. */
static bool take(reader *of, void *out, int64_t count) {
    if (of->size - of->at < count) return false;
    memcpy(out, of->bytes + of->at, (size_t)count);
    of->at += count;
    return true;
}

static bool take_number(reader *of, int bytes, int64_t *number) {
    uint8_t raw[2] = {0};
    if (!take(of, raw, bytes)) return false;
    *number = raw[0] | raw[1] << 8;
    return true;
}

static bool take_fields(reader *of, leat_ticket *out) {
    int64_t version = 0, kind = 0, size = 0;
    if (!take_number(of, 1, &version) || !take_number(of, 1, &kind) ||
        !take_number(of, 2, &out->port))
        return false;
    out->check = (leat_ticket_check)kind;
    for (int i = 0; i < TEXTS; i++) {
        char *text = (char *)out + texts[i].at;
        if (!take_number(of, 1, &size) || size > texts[i].most || !take(of, text, size) ||
            memchr(text, 0, (size_t)size) != NULL)
            return false;
    }
    return take_number(of, 2, &out->certificate_bytes) &&
           out->certificate_bytes <= LEAT_TICKET_CERTIFICATE_BYTES &&
           take(of, out->certificate, out->certificate_bytes) && of->at == of->size;
}

static leat_code read_record(leat_ticket *out, const uint8_t *record, int64_t size,
                             leat_error *err) {
    uint8_t sum[32];
    reader of = {record, size - SUM_BYTES, 0};
    if (size <= SUM_BYTES)
        return leat_fail(err, LEAT_ERR_OPTION, "the end of the ticket is missing" AGAIN);
    leat_sha256_of(record, of.size, sum);
    if (memcmp(sum, record + of.size, SUM_BYTES) != 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the ticket is not complete, or a character of it was changed" AGAIN);
    if (record[0] != VERSION || !take_fields(&of, out))
        return leat_fail(err, LEAT_ERR_OPTION, "the ticket is not one that leat wrote" AGAIN);
    return check(out, err);
}

leat_code leat_ticket_parse(leat_ticket *out, const char *text, leat_error *err) {
    uint8_t *record = NULL;
    int64_t size = 0;
    *out = (leat_ticket){0};
    if (!leat_ticket_is(text))
        return leat_fail(err, LEAT_ERR_OPTION, "a ticket begins with %s", prefix);
    if (strncmp(text, prefix, strlen(prefix)) != 0)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "the ticket is one of another version of leat: this one reads tickets "
                         "that begin with %s; install the version of whoever made it",
                         prefix);
    LEAT_TRY(LEAT_NEW(&record, RECORD_BYTES, err));
    leat_code code = decode(record, &size, text + strlen(prefix), err);
    if (code == LEAT_OK) code = read_record(out, record, size, err);
    if (code != LEAT_OK) *out = (leat_ticket){0};
    leat_free(record);
    return code;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put(uint8_t *record, int64_t *size, const void *bytes, int64_t count) {
    LEAT_ASSERT(*size + count <= RECORD_BYTES);
    memcpy(record + *size, bytes, (size_t)count);
    *size += count;
}

static void put_number(uint8_t *record, int64_t *size, int bytes, int64_t number) {
    const uint8_t raw[2] = {(uint8_t)number, (uint8_t)(number >> 8)};
    put(record, size, raw, bytes);
}

leat_code leat_ticket_write(const leat_ticket *ticket, char text[LEAT_TICKET_TEXT_BYTES],
                            leat_error *err) {
    uint8_t *record = NULL, sum[32];
    int64_t size = 0;
    text[0] = 0;
    LEAT_TRY(check(ticket, err));
    LEAT_TRY(LEAT_NEW(&record, RECORD_BYTES, err));
    put_number(record, &size, 1, VERSION);
    put_number(record, &size, 1, ticket->check);
    put_number(record, &size, 2, ticket->port);
    for (int i = 0; i < TEXTS; i++) {
        const char *of = (const char *)ticket + texts[i].at;
        put_number(record, &size, 1, (int64_t)strlen(of));
        put(record, &size, of, (int64_t)strlen(of));
    }
    put_number(record, &size, 2, ticket->certificate_bytes);
    put(record, &size, ticket->certificate, ticket->certificate_bytes);
    leat_sha256_of(record, size, sum);
    put(record, &size, sum, SUM_BYTES);
    memcpy(text, prefix, sizeof prefix);
    leat_base64_encode(text + strlen(prefix), record, size, LEAT_BASE64_URL);
    leat_free(record);
    return LEAT_OK;
}

/* ---- as a place to connect to ---------------------------------------------------------------- */

/* Those in ~/.postgresql, a client's certificate and a list of revoked ones, are for other servers,
 * and libpq refuses to connect with them. */
#define NO_FILES_OF_OTHERS "&sslcert=/dev/null/none&sslcrl=/dev/null/none"

/* Appends a part of a URL, with %XX where it needs that. */
static void add_word(char url[LEAT_PG_URL_BYTES], const char *before, const char *word) {
    char *to = url + strlen(url);
    to += snprintf(to, LEAT_PG_URL_BYTES - (size_t)(to - url), "%s", before);
    for (; *word != 0; word++) {
        const char one[2] = {*word, 0};
        char coded[LEAT_URL_WORD_BYTES];
        leat_url_encode(coded, one, "");
        LEAT_ASSERT(to - url + 4 < LEAT_PG_URL_BYTES);
        to += snprintf(to, 4, "%s", coded);
    }
}

void leat_ticket_url(const leat_ticket *ticket, char url[LEAT_PG_URL_BYTES]) {
    static const char *const modes[] = {
        [LEAT_TICKET_PLAIN] = "?sslmode=disable" LEAT_PG_REQUIRE_SCRAM,
        [LEAT_TICKET_AUTHORITY] = "?sslmode=verify-full" NO_FILES_OF_OTHERS LEAT_PG_REQUIRE_SCRAM,
        [LEAT_TICKET_SYSTEM] =
            "?sslmode=verify-full&sslrootcert=system" NO_FILES_OF_OTHERS LEAT_PG_REQUIRE_SCRAM,
    };
    const bool is_ipv6 = strchr(ticket->host, ':') != NULL;
    url[0] = 0;
    add_word(url, "postgresql://", ticket->login);
    add_word(url, ":", ticket->password);
    const size_t size = strlen(url);
    snprintf(url + size, LEAT_PG_URL_BYTES - size, is_ipv6 ? "@[%s]:%d" : "@%s:%d", ticket->host,
             (int)ticket->port);
    add_word(url, "/", ticket->database);
    add_word(url, modes[ticket->check], "");
    if (ticket->run[0] != 0) add_word(url, "&run=", ticket->run);
}

void leat_ticket_pem(const leat_ticket *ticket, char pem[LEAT_PG_PEM_BYTES]) {
    static const char begin[] = "-----BEGIN CERTIFICATE-----\n";
    static const char end[] = "-----END CERTIFICATE-----\n";
    pem[0] = 0;
    if (ticket->certificate_bytes == 0) return;
    char *to = pem + snprintf(pem, LEAT_PG_PEM_BYTES, "%s", begin);
    for (int64_t i = 0; i < ticket->certificate_bytes; i += LINE / 4 * 3) {
        const int64_t left = ticket->certificate_bytes - i;
        const int64_t count = left < LINE / 4 * 3 ? left : LINE / 4 * 3;
        to += leat_base64_encode(to, ticket->certificate + i, count, LEAT_BASE64_PADDED);
        *to++ = '\n';
    }
    LEAT_ASSERT(to - pem + (int64_t)sizeof end <= LEAT_PG_PEM_BYTES);
    memcpy(to, end, sizeof end);
}

leat_code leat_ticket_place(leat_pg_place *place, const char *text, leat_error *err) {
    leat_ticket *ticket = NULL;
    char url[LEAT_PG_URL_BYTES];
    *place = (leat_pg_place){0};
    LEAT_TRY(LEAT_NEW(&ticket, 1, err));
    leat_code code = leat_ticket_parse(ticket, text, err);
    if (code == LEAT_OK) {
        leat_ticket_url(ticket, url);
        code = leat_pg_place_parse(place, url, err);
    }
    if (code == LEAT_OK) leat_ticket_pem(ticket, place->certificate);
    leat_free(ticket);
    return code;
}
