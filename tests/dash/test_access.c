/* Who may see the page: addresses to listen at, names of this machine, tokens and cookies. */
#include "check.h"

#include <stdio.h>
#include <unistd.h>

#include "dash/access.h"

static void addresses(void **state) {
    static const struct {
        const char *listen, *shown;
        int port;
        bool open;
    } good[] = {
        {"127.0.0.1:8501", "127.0.0.1", 8501, true}, {"127.0.0.1", "127.0.0.1", 8501, true},
        {"localhost:80", "127.0.0.1", 80, true},     {"[::1]:9", "[::1]", 9, true},
        {"127.8.0.1:0", "127.8.0.1", 0, true},       {"0.0.0.0:8501", "0.0.0.0", 8501, false},
        {"[::]:65535", "[::]", 65535, false},        {"192.168.1.7:81", "192.168.1.7", 81, false},
    };
    static const char *const bad[] = {
        "",
        "8501",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:+80",
        "127.0.0.1:",
        "::1",
        "[::1",
        "[127.0.0.1]:80",
        "example.org:80",
        "[::1]x",
        "127.0.0.1:8 ",
        "127.0.0.1:80:80",
        "127.0.0.1:000080",
    };
    leat_access access;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_ok(leat_access_create(&access, good[i].listen, err));
        assert_string_equal(access.listen, good[i].shown);
        assert_int_equal(access.place.port, good[i].port);
        assert_int_equal(access.open, good[i].open);
        assert_int_equal(strlen(access.token), good[i].open ? 0 : 32);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_fails(leat_access_create(&access, bad[i], err), LEAT_ERR_OPTION, "--listen");
}

static void hosts(void **state) {
    static const char *const good[] = {
        "127.0.0.1:8501", "127.0.0.1", "localhost",   "LocalHost:9000", "[::1]:8501",
        "192.168.1.7:81", "[fe80::1]", "myself:8501", "MySelf.local",
    };
    static const char *const bad[] = {
        "",
        "evil.example.org",
        "evil.example.org:8501",
        "localhost.evil.org",
        "local",
        ".local",
        "127.0.0.1.evil.org",
        "127.0.0.1:port",
        "localhost@evil.org",
        "[::1].x",
        "127.0.0.1:",
        "other.local",
    };
    leat_access access;
    (void)state;
    assert_ok(leat_access_create(&access, "0.0.0.0:8501", err));
    snprintf(access.own, sizeof access.own, "myself");
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!leat_access_knows_host(&access, good[i])) fail_msg("refused: \"%s\"", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (leat_access_knows_host(&access, bad[i])) fail_msg("accepted: \"%s\"", bad[i]);
    assert_false(leat_access_knows_host(&access, NULL));
    /* the name may be a whole one: its first part is this machine, too, and no other domain */
    snprintf(access.own, sizeof access.own, "myself.example.org");
    assert_true(leat_access_knows_host(&access, "MySelf.example.org:8501"));
    assert_true(leat_access_knows_host(&access, "myself"));
    assert_true(leat_access_knows_host(&access, "myself.local"));
    assert_false(leat_access_knows_host(&access, "myself.evil.org"));
    assert_false(leat_access_knows_host(&access, "mysel"));
    access.own[0] = 0; /* a machine without a name has none */
    assert_false(leat_access_knows_host(&access, ""));
    assert_false(leat_access_knows_host(&access, ".local"));
}

static void equal_texts(void **state) {
    (void)state;
    assert_true(leat_access_is_equal("abc", "abc"));
    assert_false(leat_access_is_equal("abd", "abc"));
    assert_false(leat_access_is_equal("ab", "abc"));
    assert_false(leat_access_is_equal("abcd", "abc"));
    assert_false(leat_access_is_equal(NULL, "abc"));
    assert_false(leat_access_is_equal("", "")); /* where there is no token, none is right */
}

static int admit(const leat_access *access, const leat_http_request *request,
                 leat_http_reply *reply) {
    *reply = (leat_http_reply){0};
    return leat_access_admit(access, request, reply) ? 0 : reply->status;
}

/* The token is good for the page alone, once: what follows has the cookie. */
static void token_and_cookie(void **state) {
    leat_access access, other;
    leat_http_reply reply;
    char wanted[160];
    (void)state;
    assert_ok(leat_access_create(&access, "0.0.0.0:8501", err));
    assert_ok(leat_access_create(&other, "0.0.0.0:8501", err));
    assert_string_not_equal(access.token, other.token);
    assert_string_equal(access.cookie_name, "leat_dash_8501");
    leat_access free_port, another;
    assert_ok(leat_access_create(&free_port, "0.0.0.0:0", err));
    assert_ok(leat_access_create(&another, "0.0.0.0:0", err));
    assert_string_not_equal(free_port.cookie_name, another.cookie_name);
    leat_http_request request = {.path = "/", .host = "192.168.1.7:8501"};
    assert_int_equal(admit(&access, &request, &reply), 401);
    request.token = other.token;
    assert_int_equal(admit(&access, &request, &reply), 401);
    request.token = access.token;
    assert_int_equal(admit(&access, &request, &reply), 303);
    assert_string_equal(reply.location, "/");
    snprintf(wanted, sizeof wanted, "leat_dash_8501=%s; Path=/; HttpOnly; SameSite=Strict",
             access.cookie);
    assert_string_equal(reply.set_cookie, wanted);
    assert_null(strstr(reply.set_cookie, access.token));
    request.path = "/metrics"; /* for programs, which keep no cookie */
    assert_int_equal(admit(&access, &request, &reply), 0);
    request.path = "/facts.json";
    assert_int_equal(admit(&access, &request, &reply), 401);
    request.token = NULL;
    request.cookie = other.cookie;
    assert_int_equal(admit(&access, &request, &reply), 401);
    request.cookie = access.token;
    assert_int_equal(admit(&access, &request, &reply), 401);
    request.cookie = access.cookie;
    assert_int_equal(admit(&access, &request, &reply), 0);
    request.host = "evil.example.org";
    assert_int_equal(admit(&access, &request, &reply), 421);
}

/* Pages of other sites may lead here, and have nothing loaded from here. */
static void other_sites(void **state) {
    leat_access access;
    leat_http_reply reply;
    (void)state;
    assert_ok(leat_access_create(&access, "127.0.0.1:8501", err));
    leat_http_request request = {.path = "/events", .host = "127.0.0.1:8501"};
    assert_int_equal(admit(&access, &request, &reply), 0);
    request.site = "same-origin";
    assert_int_equal(admit(&access, &request, &reply), 0);
    request.site = "cross-site";
    assert_int_equal(admit(&access, &request, &reply), 403);
    request.site = "same-site";
    assert_int_equal(admit(&access, &request, &reply), 403);
    request.path = "/";
    assert_int_equal(admit(&access, &request, &reply), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),   cmocka_unit_test(hosts),
        cmocka_unit_test(equal_texts), cmocka_unit_test(token_and_cookie),
        cmocka_unit_test(other_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
