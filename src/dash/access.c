/* See access.h. */
#include "dash/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/address.h"
#include "base/hash.h"
#include "base/random.h"

enum { PORT = 8501, PORT_MAX = 65535 };

/* ---- --listen ------------------------------------------------------------------------------- */

static leat_code refuse(const char *listen, leat_error *err) {
    return leat_fail(err, LEAT_ERR_OPTION,
                     "--listen: \"%.100s\" is not an address and a port of this machine; it takes "
                     "127.0.0.1:8501, [::1]:8501, or 0.0.0.0:8501 for all of its addresses",
                     listen);
}

/* The port after the address; false: it is not one. */
static bool parse_port(const char *text, int32_t *port) {
    char *end;
    *port = PORT;
    if (*text == 0) return true;
    if (*text != ':' || text[1] < '0' || text[1] > '9' || strlen(text) > 6) return false;
    const long number = strtol(text + 1, &end, 10);
    *port = (int32_t)number;
    return *end == 0 && number <= PORT_MAX;
}

static bool is_loopback(const leat_http_place *place) {
    static const uint8_t six[16] = {[15] = 1};
    return place->version == 4 ? place->bytes[0] == 127 : memcmp(place->bytes, six, 16) == 0;
}

/* "127.0.0.1", "[::1]" or "localhost", as far as `end`. */
static bool parse_address(const char *text, const char *end, leat_http_place *place) {
    const int64_t size = end - text;
    if (size == 9 && memcmp(text, "localhost", 9) == 0)
        place->version = leat_address_parse("127.0.0.1", 9, place->bytes);
    else if (size > 2 && text[0] == '[' && end[-1] == ']')
        place->version = leat_address_parse(text + 1, size - 2, place->bytes) == 6 ? 6 : 0;
    else place->version = leat_address_parse(text, size, place->bytes) == 4 ? 4 : 0;
    return place->version != 0;
}

static leat_code draw_token(leat_access *access, leat_error *err) {
    char words[64];
    LEAT_TRY(leat_random_hex(access->token, sizeof access->token, err));
    const int size = snprintf(words, sizeof words, "leat dash %s", access->token);
    leat_text_sha256(words, size, access->cookie);
    return LEAT_OK;
}

leat_code leat_access_create(leat_access *access, const char *listen, leat_error *err) {
    const char *close = strchr(listen, ']');
    const char *end = strchr(close != NULL ? close : listen, ':');
    char text[LEAT_ADDRESS_TEXT_BYTES];
    *access = (leat_access){0};
    if (end == NULL) end = listen + strlen(listen);
    if (!parse_address(listen, end, &access->place) || !parse_port(end, &access->place.port)) {
        *access = (leat_access){0};
        return refuse(listen, err);
    }
    const int size = leat_address_format(access->place.version, access->place.bytes, text);
    snprintf(access->listen, sizeof access->listen, access->place.version == 6 ? "[%.*s]" : "%.*s",
             size, text);
    if (gethostname(access->own, sizeof access->own - 1) != 0) access->own[0] = 0;
    access->open = is_loopback(&access->place);
    snprintf(access->cookie_name, sizeof access->cookie_name, "leat_dash_%d",
             (int)access->place.port);
    if (access->open) return LEAT_OK;
    LEAT_TRY(draw_token(access, err));
    /* two servers that chose their ports themselves have different cookies, too */
    if (access->place.port == 0)
        snprintf(access->cookie_name, sizeof access->cookie_name, "leat_dash_%.8s", access->cookie);
    return LEAT_OK;
}

/* ---- Requests ------------------------------------------------------------------------------- */

/* Whether the first bytes of a text are this name, whatever the case of its letters. */
static bool is_name(const char *text, size_t size, const char *name) {
    return name[0] != 0 && strlen(name) == size && strncasecmp(text, name, size) == 0;
}

/* The machine's own name, whole, or its first part alone. */
static bool is_own(const leat_access *access, const char *text, size_t size) {
    const size_t first = strcspn(access->own, ".");
    return is_name(text, size, access->own) ||
           (first > 0 && size == first && strncasecmp(text, access->own, first) == 0);
}

bool leat_access_knows_host(const leat_access *access, const char *host) {
    static const char local[] = ".local";
    const size_t most = sizeof local - 1;
    leat_http_place number;
    int32_t port;
    if (host == NULL) return false;
    const char *close = host[0] == '[' ? strchr(host, ']') : NULL;
    const char *end = strchr(close != NULL ? close : host, ':');
    if (end == NULL) end = host + strlen(host);
    size_t size = (size_t)(end - host);
    if (!parse_port(end, &port)) return false;
    if (parse_address(host, end, &number) || is_name(host, size, "localhost")) return true;
    if (is_own(access, host, size)) return true;
    return size > most && strncasecmp(end - most, local, most) == 0 &&
           is_own(access, host, size - most);
}

bool leat_access_is_equal(const char *given, const char *wanted) {
    if (given == NULL) return false;
    const size_t size = strlen(wanted), given_size = strlen(given);
    unsigned differ = size != given_size || size == 0;
    for (size_t i = 0; i < size; i++)
        differ |= (unsigned char)wanted[i] ^ (unsigned char)given[given_size == size ? i : 0];
    return differ == 0;
}

/* What a browser asks for because of a page of another site: all but the page itself. */
static bool is_from_elsewhere(const leat_http_request *request) {
    return request->site != NULL && strcmp(request->site, "same-origin") != 0 &&
           strcmp(request->site, "none") != 0 && strcmp(request->path, "/") != 0;
}

/* Trades the token. The cookie is Strict: if a page of another site had the link, the browser does
 * not send it with what follows at once, which the page about the missing token mends. */
static void lead_on(const leat_access *access, leat_http_reply *reply) {
    reply->status = 303;
    reply->location = "/";
    snprintf(reply->cookie, sizeof reply->cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict",
             access->cookie_name, access->cookie);
    reply->set_cookie = reply->cookie;
}

bool leat_access_admit(const leat_access *access, const leat_http_request *request,
                       leat_http_reply *reply) {
    if (!leat_access_knows_host(access, request->host)) {
        *reply = leat_http_words(421, "This server does not know that name. Use the address that "
                                      "leat dash has printed, its number if need be.\n");
        return false;
    }
    if (is_from_elsewhere(request)) {
        *reply = leat_http_words(403, "Not for pages of other sites.\n");
        return false;
    }
    if (access->open || leat_access_is_equal(request->cookie, access->cookie)) return true;
    if (leat_access_is_equal(request->token, access->token)) {
        if (strcmp(request->path, LEAT_ACCESS_METRICS) == 0) return true;
        if (strcmp(request->path, "/") == 0) {
            lead_on(access, reply);
            return false;
        }
    }
    *reply = leat_http_words(
        401,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>leat dash</title>\n"
        "<p>This page is shown to those who have its link, with the token that leat dash has "
        "printed.</p>\n<p>If you have just followed that link: <a href=\"/\">continue</a>.</p>\n");
    reply->type = "text/html; charset=utf-8";
    return false;
}
