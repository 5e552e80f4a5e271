/* Tickets: a round trip, the URL of one, and what is refused, with a remedy and without a secret.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "check.h"
#include "crowd/ticket.h"

static const leat_ticket usual = {.check = LEAT_TICKET_AUTHORITY,
                                  .port = 25432,
                                  .host = "db.example.org",
                                  .database = "my class",
                                  .login = "Ann B\xc3\xb6ll",
                                  .run = "night",
                                  .password = "s3cret/?@%",
                                  .certificate_bytes = 260,
                                  .certificate = {0x30, 0x82, 0x01, 0x00, 0xff}};

static leat_ticket with(leat_ticket_check check, const char *host) {
    leat_ticket ticket = usual;
    ticket.check = check;
    if (check != LEAT_TICKET_AUTHORITY) ticket.certificate_bytes = 0;
    if (check != LEAT_TICKET_AUTHORITY) memset(ticket.certificate, 0, sizeof ticket.certificate);
    snprintf(ticket.host, sizeof ticket.host, "%s", host);
    return ticket;
}

static void round_trip(void **state) {
    const leat_ticket tickets[] = {usual, with(LEAT_TICKET_PLAIN, "127.0.0.2"),
                                   with(LEAT_TICKET_PLAIN, "::1"),
                                   with(LEAT_TICKET_SYSTEM, "db.example.org")};
    (void)state;
    for (size_t i = 0; i < sizeof tickets / sizeof *tickets; i++) {
        char text[LEAT_TICKET_TEXT_BYTES];
        leat_ticket back;
        assert_ok(leat_ticket_write(&tickets[i], text, err));
        assert_true(leat_ticket_is(text));
        assert_int_equal(strspn(text + 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                          "0123456789-_"),
                         strlen(text) - 6);
        assert_ok(leat_ticket_parse(&back, text, err));
        assert_int_equal(back.check, tickets[i].check);
        assert_int_equal(back.port, tickets[i].port);
        assert_string_equal(back.host, tickets[i].host);
        assert_string_equal(back.database, tickets[i].database);
        assert_string_equal(back.run, tickets[i].run);
        assert_string_equal(back.login, tickets[i].login);
        assert_string_equal(back.password, tickets[i].password);
        assert_int_equal(back.certificate_bytes, tickets[i].certificate_bytes);
        assert_memory_equal(back.certificate, tickets[i].certificate, sizeof back.certificate);
    }
}

/* Everything at its longest. */
static void longest(void **state) {
    leat_ticket ticket = usual, back;
    char text[LEAT_TICKET_TEXT_BYTES], url[LEAT_PG_URL_BYTES], pem[LEAT_PG_PEM_BYTES];
    (void)state;
    memset(ticket.host, 'h', 255);
    memset(ticket.database, '/', 63);
    memset(ticket.run, '/', 64);
    memset(ticket.login, '/', 63);
    memset(ticket.password, '/', 128);
    ticket.certificate_bytes = LEAT_TICKET_CERTIFICATE_BYTES;
    ticket.certificate[2] = (LEAT_TICKET_CERTIFICATE_BYTES - 4) >> 8;
    ticket.certificate[3] = (LEAT_TICKET_CERTIFICATE_BYTES - 4) & 255;
    assert_ok(leat_ticket_write(&ticket, text, err));
    assert_ok(leat_ticket_parse(&back, text, err));
    leat_ticket_url(&back, url);
    assert_true(strlen(url) > 63 * 3 + 128 * 3 + 255 + 63 * 3 + 64 * 3);
    leat_ticket_pem(&back, pem);
    assert_non_null(strstr(pem, "\n-----END CERTIFICATE-----\n"));
    ticket.login[63] = 'x';
    assert_fails(leat_ticket_write(&ticket, text, err), LEAT_ERR_OPTION, "ticket");
}

static void as_a_place(void **state) {
    char text[LEAT_TICKET_TEXT_BYTES], url[LEAT_PG_URL_BYTES];
    leat_pg_place place;
    leat_ticket ipv6 = with(LEAT_TICKET_PLAIN, "::1");
    (void)state;
    assert_ok(leat_ticket_write(&usual, text, err));
    assert_ok(leat_pg_place_parse(&place, text, err));
    /* libpq 16 and newer are also told which way to ask for a password is good */
    char *const more = strstr(place.url, "&require_auth=scram-sha-256");
    if (more != NULL) *more = 0;
    assert_string_equal(
        place.url,
        "postgresql://Ann%20B%C3%B6ll:s3cret%2F%3F%40%25@db.example.org:"
        "25432/my%20class?sslmode=verify-full&sslcert=/dev/null/none&sslcrl=/dev/null/none");
    assert_string_equal(place.shown, "postgresql://Ann%20B%C3%B6ll:***@db.example.org:25432/"
                                     "my%20class?sslmode=verify-full&run=night");
    assert_string_equal(place.run, "night");
    assert_string_equal(place.login, usual.login);
    assert_string_equal(place.database, usual.database);
    /* as openssl writes it */
    assert_non_null(strstr(place.certificate,
                           "-----BEGIN CERTIFICATE-----\nMIIBAP8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                           "AAAAAAAAAAAAAAAAAAAAAA\nAAAA"));
    assert_non_null(strstr(place.certificate, "A=\n-----END CERTIFICATE-----\n"));
    leat_ticket_url(&ipv6, url);
    assert_non_null(strstr(url, "@[::1]:25432/"));
}

static void not_written(void **state) {
    const leat_ticket tickets[] = {
        with(LEAT_TICKET_PLAIN, "192.168.1.5"), with(LEAT_TICKET_PLAIN, "127.0.0.1.example.org"),
        with(LEAT_TICKET_PLAIN, "localhost"),   with(LEAT_TICKET_SYSTEM, "/tmp"),
        with(LEAT_TICKET_SYSTEM, "a,b"),        with(LEAT_TICKET_SYSTEM, ""),
        with((leat_ticket_check)3, "::1")};
    char text[LEAT_TICKET_TEXT_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof tickets / sizeof *tickets; i++)
        assert_fails(leat_ticket_write(&tickets[i], text, err), LEAT_ERR_OPTION, "ticket");
    leat_ticket bad = usual;
    bad.certificate[3] = 1; /* its length */
    assert_fails(leat_ticket_write(&bad, text, err), LEAT_ERR_OPTION, "ticket");
    bad = usual;
    bad.password[1] = '\n';
    assert_fails(leat_ticket_write(&bad, text, err), LEAT_ERR_OPTION, "ticket");
    bad = usual;
    bad.login[1] = (char)0x80; /* not UTF-8 */
    assert_fails(leat_ticket_write(&bad, text, err), LEAT_ERR_OPTION, "ticket");
    bad = usual;
    bad.port = 65536;
    assert_fails(leat_ticket_write(&bad, text, err), LEAT_ERR_OPTION, "ticket");
}

/* No message has anything of the ticket, and each says what to do. */
static void check_message(const leat_error *why) {
    assert_null(strstr(why->message, "s3cret"));
    assert_null(strstr(why->message, "example"));
    assert_true(strstr(why->message, "again") != NULL || strstr(why->message, "install") != NULL ||
                strstr(why->message, "begins with leat1:") != NULL);
}

/* Every character that is changed, left out or added, and every end that is missing, is noticed. */
static void damaged(void **state) {
    char text[LEAT_TICKET_TEXT_BYTES], bad[LEAT_TICKET_TEXT_BYTES];
    leat_ticket back;
    (void)state;
    assert_ok(leat_ticket_write(&usual, text, err));
    const size_t size = strlen(text);
    for (size_t i = 0; i < size; i++) {
        for (int how = 0; how < 4; how++) {
            leat_error why = {0};
            const char one = text[i] == 'x' ? 'y' : 'x';
            if (how == 0) snprintf(bad, sizeof bad, "%.*s", (int)i, text);
            if (how == 1) snprintf(bad, sizeof bad, "%.*s%s", (int)i, text, text + i + 1);
            if (how == 2) snprintf(bad, sizeof bad, "%.*s%c%s", (int)i, text, one, text + i + 1);
            if (how == 3) snprintf(bad, sizeof bad, "%.*s %s", (int)i, text, text + i);
            assert_true(strcmp(bad, text) != 0);
            assert_true(leat_ticket_parse(&back, bad, &why) != LEAT_OK);
            check_message(&why);
        }
    }
}

/* The record of a ticket by hand. */
static void by_hand(void **state) {
    static const char *const refused[][2] = {
        {"leat2:AAAA", "another version"},
        {"leat1:", "the end of the ticket is missing"},
        {"leat1:A", "the end of the ticket is missing"},
        {"leat1:AAAAAA", "the end of the ticket is missing"},
        {"leat1:AAAAAAAB", "not complete"},
        {"leat1:AA\nAA", "character 9 of the ticket is not a letter"},
        {"leat1:AAB", "the end of the ticket is missing"},
        {"postgresql://a:s3cret@example/x", "a ticket begins with leat1:"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        leat_ticket back;
        leat_error why = {0};
        assert_true(leat_ticket_parse(&back, refused[i][0], &why) != LEAT_OK);
        if (strstr(why.message, refused[i][1]) == NULL)
            fail_msg("%s: %s", refused[i][0], why.message);
        check_message(&why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(longest),
                                       cmocka_unit_test(as_a_place), cmocka_unit_test(not_written),
                                       cmocka_unit_test(damaged),    cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
