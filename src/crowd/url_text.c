/* See url_text.h. */
#include "crowd/url_text.h"

#include <stdio.h>
#include <string.h>

const char *leat_url_parameters(const char *url) {
    const char *host = strchr(url, '@');
    return strchr(host != NULL ? host : url, '?');
}

/* Parameters that may be shown to everybody. */
static bool is_plain_parameter(const char *word, size_t length) {
    static const char *const plain[] = {"run=",    "sslmode=",         "sslrootcert=",
                                        "sslcrl=", "connect_timeout=", "target_session_attrs=",
                                        "sslsni=", "channel_binding=", "gssencmode="};
    static const char none[] = "sslcrl=/dev/null/none"; /* of a ticket: nobody has written it */
    if (length == strlen(none) && strncmp(word, none, length) == 0) return false;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (length > strlen(plain[i]) && strncmp(word, plain[i], strlen(plain[i])) == 0)
            return true;
    return false;
}

void leat_url_hide(const char *url, char shown[LEAT_PG_URL_BYTES]) {
    const char *user = strstr(url, "://");
    const char *at = user != NULL ? strchr(user + 3, '@') : NULL;
    const char *colon = at != NULL ? memchr(user + 3, ':', (size_t)(at - user - 3)) : NULL;
    const char *query = leat_url_parameters(url);
    const int end = (int)(query != NULL ? query - url : (long)strlen(url));
    if (colon == NULL) snprintf(shown, LEAT_PG_URL_BYTES, "%.*s", end, url);
    else
        snprintf(shown, LEAT_PG_URL_BYTES, "%.*s:***%.*s", (int)(colon - url), url,
                 end - (int)(at - url), at);
    for (char mark = '?'; query != NULL && *query != 0;) {
        const size_t length = strcspn(query + 1, "&"), used = strlen(shown);
        if (is_plain_parameter(query + 1, length)) {
            snprintf(shown + used, LEAT_PG_URL_BYTES - used, "%c%.*s", mark, (int)length,
                     query + 1);
            mark = '&';
        }
        query += 1 + length;
    }
}

void leat_url_encode(char to[LEAT_URL_WORD_BYTES], const char *value, const char *word) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    int size = 0;
    to[0] = 0;
    for (const char *at = value != NULL ? value : word; *at != 0 && size + 4 <= LEAT_URL_WORD_BYTES;
         at++)
        size += snprintf(to + size, 4, strchr(plain, *at) != NULL ? "%c" : "%%%02X",
                         (unsigned char)*at);
}
