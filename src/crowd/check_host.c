/* Whether a name leads to an address that this machine can reach. */
#include <netdb.h>
#include <unistd.h>

#include "crowd/check.h"

bool leat_check_reaches(const struct sockaddr *to, socklen_t size_bytes) {
    const int s = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s < 0) return false;
    const bool has_route = connect(s, to, size_bytes) == 0;
    close(s);
    return has_route;
}

leat_check_address leat_check_host(const char *host, leat_check_reaches_fn *reaches) {
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, "5432", &hints, &found) != 0) return LEAT_CHECK_NO_ADDRESS;
    leat_check_address what = LEAT_CHECK_IPV6;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
        if (at->ai_family != AF_INET6 || reaches(at->ai_addr, at->ai_addrlen))
            what = LEAT_CHECK_ADDRESS;
    freeaddrinfo(found);
    return what;
}
