/*
 * Where the server of a private database listens, and whom it lets in from where: see local.h.
 *
 * Programs on this machine use 127.0.0.1, unencrypted, with or without --listen. With it, the
 * server has an address that other machines reach as well, on the same port. There it takes only
 * logins that were invited, over TLS, with passwords; its certificate is new at each start, from an
 * authority that stays with the run, because that is what the tickets have.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "crowd/authority.h"
#include "crowd/local.h"
#include "crowd/ticket.h"
#include "crowd/url_text.h"

#define AUTHORITY_KEY "authority.key"
#define AUTHORITY "authority.pem"
#define SERVER_KEY "server.key"
#define SERVER_CERTIFICATE "server.pem"
#define ACCESS "access.conf"

const char *const leat_local_listen_files[] = {
    AUTHORITY_KEY, AUTHORITY, SERVER_KEY, SERVER_CERTIFICATE, ACCESS, LEAT_LOCAL_INVITE, NULL};

/* pg_hba.conf: the first line that fits decides. */
static const char rules[] = "local all all scram-sha-256\n"
                            "host all all 127.0.0.1/32 scram-sha-256\n"
                            "host all all ::1/128 scram-sha-256\n"
                            "host all admin,owner,worker all reject\n"
                            "hostssl " LEAT_LOCAL_DATABASE " all all scram-sha-256\n";

/* ---- addresses ------------------------------------------------------------------------------- */

/* "192.168.1.5, fd00::2": what this machine has besides its loopback interface. */
static void list_own(char list[400]) {
    struct ifaddrs *all = NULL;
    size_t size = 0;
    snprintf(list, 400, "none");
    if (getifaddrs(&all) != 0) return;
    for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
        char text[INET6_ADDRSTRLEN] = "";
        if (at->ifa_addr == NULL || (at->ifa_flags & IFF_LOOPBACK) != 0) continue;
        if (at->ifa_addr->sa_family == AF_INET)
            inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr,
                      text, sizeof text);
        /* an address of one link is reached only by naming the link */
        if (at->ifa_addr->sa_family == AF_INET6) {
            const struct in6_addr *address =
                &((const struct sockaddr_in6 *)(const void *)at->ifa_addr)->sin6_addr;
            if (!IN6_IS_ADDR_LINKLOCAL(address)) inet_ntop(AF_INET6, address, text, sizeof text);
        }
        if (text[0] == 0 || size + strlen(text) + 3 > 400) continue;
        size += (size_t)snprintf(list + size, 400 - size, "%s%s", size > 0 ? ", " : "", text);
    }
    freeifaddrs(all);
}

static void set_port(struct sockaddr_storage *at, int64_t port) {
    if (at->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)at)->sin6_port = htons((uint16_t)port);
    else ((struct sockaddr_in *)(void *)at)->sin_port = htons((uint16_t)port);
}

static bool can_bind(const leat_local_address *address, int64_t port) {
    struct sockaddr_storage at = address->at;
    const int yes = 1, s = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) return false;
    set_port(&at, port);
    const bool bound = setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                       bind(s, (struct sockaddr *)&at, address->size) == 0;
    close(s);
    return bound;
}

bool leat_local_can_listen(const leat_local *self, int64_t port) {
    for (int i = 0; i < self->listen.count; i++)
        if (!can_bind(&self->listen.addresses[i], port)) return false;
    return true;
}

/* The addresses of the host, each once. */
static leat_code resolve(leat_local *self, leat_error *err) {
    leat_local_listen *of = &self->listen;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char own[400];
    list_own(own);
    if (getaddrinfo(of->host, NULL, &hints, &found) != 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--listen %.200s: this machine finds no address for that name; use one "
                         "of its own addresses: %s",
                         of->host, own);
    for (const struct addrinfo *at = found; at != NULL && of->count < LEAT_LOCAL_ADDRESSES_MAX;
         at = at->ai_next) {
        leat_local_address *to = &of->addresses[of->count];
        if (at->ai_addrlen > sizeof to->at) continue;
        memcpy(&to->at, at->ai_addr, at->ai_addrlen);
        to->size = at->ai_addrlen;
        if (getnameinfo(at->ai_addr, at->ai_addrlen, to->text, sizeof to->text, NULL, 0,
                        NI_NUMERICHOST) == 0 &&
            strcmp(to->text, "127.0.0.1") != 0) /* where it listens anyway */
            of->count++;
    }
    freeaddrinfo(found);
    if (leat_local_can_listen(self, 0)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "--listen %.200s: this machine does not have that address; its own are: %s",
                     of->host, own);
}

/* "192.168.1.5", "192.168.1.5:25432", "db.local:25432", "fd00::2", "[fd00::2]:25432". */
static bool split(const char *text, leat_local_listen *of) {
    const char *host = text, *colon = strrchr(text, ':');
    size_t length = strlen(text);
    if (text[0] == '[') {
        const char *close = strchr(text, ']');
        if (close == NULL || (close[1] != 0 && close[1] != ':')) return false;
        host = text + 1;
        length = (size_t)(close - host);
        colon = close[1] == ':' ? close + 1 : NULL;
    } else if (colon != NULL && strchr(text, ':') != colon) {
        colon = NULL; /* an IPv6 address */
    } else if (colon != NULL) {
        length = (size_t)(colon - text);
    }
    if (length == 0 || length >= sizeof of->host) return false;
    memcpy(of->host, host, length);
    of->host[length] = 0;
    if (strspn(of->host, LEAT_TICKET_HOST_CHARACTERS) != length) return false;
    if (colon == NULL) return true;
    if (strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5) return false;
    of->port = strtoll(colon + 1, NULL, 10);
    return of->port >= 1024 && of->port <= 65535;
}

leat_code leat_local_place_listen(leat_local *self, leat_error *err) {
    const char *text = self->options.listen;
    char own[400];
    self->listen = (leat_local_listen){0};
    if (text == NULL) return LEAT_OK;
    if (!split(text, &self->listen))
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "--listen must be an address or a name of this machine and, optionally, :PORT (1024 to "
            "65535), not \"%.200s\"",
            text);
    if (strcmp(self->listen.host, "0.0.0.0") == 0 || strcmp(self->listen.host, "::") == 0) {
        list_own(own);
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--listen %s: name the address at which volunteers reach this machine, "
                         "because its certificate has that; its own are: %s",
                         self->listen.host, own);
    }
    return resolve(self, err);
}

/* ---- files of the server --------------------------------------------------------------------- */

static bool is_file(const char *path) {
    leat_path_facts facts;
    return leat_path_stat(path, &facts, NULL) == LEAT_OK && facts.kind == LEAT_PATH_FILE;
}

static leat_code give(const leat_local *self, const char *path, leat_error *err) {
    return self->other_user ? leat_path_give(path, self->user.user, self->user.group, err)
                            : LEAT_OK;
}

leat_code leat_local_write_listen(leat_local *self, leat_error *err) {
    char key[LEAT_PATH_BYTES], certificate[LEAT_PATH_BYTES], name[64];
    const leat_authority_files authority = {key, certificate};
    const leat_authority_files server = {self->listen.key, self->listen.certificate};
    const char *names[1 + LEAT_LOCAL_ADDRESSES_MAX] = {self->listen.host};
    int count = 1;
    if (self->listen.host[0] == 0) return LEAT_OK;
    LEAT_TRY(leat_local_join(self, AUTHORITY_KEY, key, err));
    LEAT_TRY(leat_local_join(self, AUTHORITY, certificate, err));
    LEAT_TRY(leat_local_join(self, SERVER_KEY, self->listen.key, err));
    LEAT_TRY(leat_local_join(self, SERVER_CERTIFICATE, self->listen.certificate, err));
    LEAT_TRY(leat_local_join(self, ACCESS, self->listen.access, err));
    for (int i = 0; i < self->listen.count; i++)
        if (strcmp(self->listen.addresses[i].text, self->listen.host) != 0)
            names[count++] = self->listen.addresses[i].text;
    /* a key alone is of a start that was killed: no ticket has had its certificate */
    if (!is_file(certificate)) {
        char word[17];
        LEAT_TRY(leat_random_hex(word, sizeof word, err));
        snprintf(name, sizeof name, "leat authority %s", word);
        LEAT_TRY(leat_authority_create(&authority, name, err));
    }
    LEAT_TRY(leat_authority_sign(&authority, &server, names, count, err));
    LEAT_TRY(leat_file_save_private(self->listen.access, rules, sizeof rules - 1, err));
    LEAT_TRY(give(self, self->listen.key, err));
    LEAT_TRY(give(self, self->listen.certificate, err));
    return give(self, self->listen.access, err);
}

void leat_local_listen_addresses(const leat_local *self, char out[LEAT_LOCAL_LISTEN_BYTES]) {
    size_t size = (size_t)snprintf(out, LEAT_LOCAL_LISTEN_BYTES, "listen_addresses=127.0.0.1");
    for (int i = 0; i < self->listen.count; i++)
        size += (size_t)snprintf(out + size, LEAT_LOCAL_LISTEN_BYTES - size, ",%s",
                                 self->listen.addresses[i].text);
    LEAT_ASSERT(size < LEAT_LOCAL_LISTEN_BYTES);
}

leat_code leat_local_keep_listened(leat_local *self, leat_error *err) {
    char now[LEAT_LOCAL_LISTENED_BYTES] = "", *before = self->state.listened;
    const char *host = self->listen.host;
    const bool is_ipv6 = strchr(host, ':') != NULL;
    if (host[0] != 0)
        snprintf(now, sizeof now, "%s%s%s:%d", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "",
                 (int)self->state.port);
    if (strcmp(now, before) == 0) return LEAT_OK;
    if (before[0] != 0)
        leat_local_say(self,
                       "this run listened on %s before, and tickets name that address: use "
                       "--listen %s, or give everybody a new ticket with leat invite NAME "
                       "--new-password",
                       before, before);
    if (now[0] == 0) return LEAT_OK; /* the tickets are good again at that address */
    memcpy(before, now, sizeof now);
    return leat_local_save(self, err);
}

/* ---- the URL for invitations ----------------------------------------------------------------- */

/* A path in a URL's parameter; false: it does not fit. */
static bool add_path(char url[LEAT_PG_URL_BYTES], const char *path) {
    size_t size = strlen(url);
    for (; *path != 0; path++) {
        const char one[2] = {*path, 0};
        char coded[LEAT_URL_WORD_BYTES];
        if (*path == '/') snprintf(coded, sizeof coded, "/");
        else leat_url_encode(coded, one, "");
        if (size + strlen(coded) + sizeof LEAT_PG_REQUIRE_SCRAM + 1 > LEAT_PG_URL_BYTES)
            return false;
        size += (size_t)snprintf(url + size, LEAT_PG_URL_BYTES - size, "%s", coded);
    }
    return true;
}

leat_code leat_local_write_invite(const leat_local *self, leat_error *err) {
    char path[LEAT_PATH_BYTES], authority[LEAT_PATH_BYTES], url[LEAT_PG_URL_BYTES];
    const char *host = self->listen.host[0] != 0 ? self->listen.host : "127.0.0.1";
    const bool is_ipv6 = strchr(host, ':') != NULL;
    LEAT_TRY(leat_local_join(self, LEAT_LOCAL_INVITE, path, err));
    LEAT_TRY(leat_local_join(self, AUTHORITY, authority, err));
    snprintf(url, sizeof url, "postgresql://admin:%s@%s%s%s:%d/" LEAT_LOCAL_DATABASE "?%s",
             self->state.admin, is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", (int)self->state.port,
             self->listen.host[0] != 0 ? "hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert="
                                       : "sslmode=disable");
    if (self->listen.host[0] != 0 && !add_path(url, authority))
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "the path of \"%.100s...\" is too long for a URL; use a shorter one",
                         authority);
    snprintf(url + strlen(url), sizeof url - strlen(url), LEAT_PG_REQUIRE_SCRAM "\n");
    return leat_file_save_private(path, url, (int64_t)strlen(url), err);
}
