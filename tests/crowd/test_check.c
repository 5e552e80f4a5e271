/* What leat doctor --db says of a server's name. */
/* No TSan: one thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "crowd/check.h"

static bool has_route(const struct sockaddr *to, socklen_t size_bytes) {
    return to != NULL && size_bytes > 0;
}
static bool has_none(const struct sockaddr *to, socklen_t size_bytes) {
    return to == NULL || size_bytes == 0;
}

static void names(void **state) {
    const struct {
        const char *host;
        leat_check_reaches_fn *reaches;
        leat_check_address what;
    } cases[] = {
        {"2001:db8::1", has_none, LEAT_CHECK_IPV6},
        {"2001:db8::1", has_route, LEAT_CHECK_ADDRESS},
        {"127.0.0.1", has_none, LEAT_CHECK_ADDRESS}, /* refused, or not: not our question */
        {"127.0.0.1", leat_check_reaches, LEAT_CHECK_ADDRESS},
        {"nowhere.invalid", has_route, LEAT_CHECK_NO_ADDRESS}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (leat_check_host(cases[i].host, cases[i].reaches) != cases[i].what)
            fail_msg("case %zu: %s", i, cases[i].host);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
