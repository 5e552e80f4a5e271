/* URLs of databases as text, without libpq. */
#ifndef LEAT_CROWD_URL_TEXT_H
#define LEAT_CROWD_URL_TEXT_H

#include "crowd/libpq.h"

/* The parameters of a URL, from its "?"; NULL: none. A password may have one, too. */
const char *leat_url_parameters(const char *url);
/* The URL without its passwords, wherever they are. */
void leat_url_hide(const char *url, char shown[LEAT_PG_URL_BYTES]);
/* A part of a URL as it is written there: other bytes than letters, digits and "-._~" as %XX. NULL:
 * `word`. What does not fit is left out. */
#define LEAT_URL_WORD_BYTES 128
void leat_url_encode(char to[LEAT_URL_WORD_BYTES], const char *value, const char *word);

#endif
