/* Weights that a new step replaces before they are fetched: a machine whose link is too slow for a
 * run says so, with its own numbers. */
#ifndef LEAT_CROWD_SLOW_LINK_H
#define LEAT_CROWD_SLOW_LINK_H

#include "leat/base.h"

typedef struct leat_slow_link {
    int in_a_row; /* downloads in vain */
    int64_t bytes, fetch_ns;
    int64_t first_ns, first_step;
} leat_slow_link;

#define LEAT_SLOW_LINK_WORDS_BYTES 65 /* as many as an event of a machine keeps */
/* The weights of `step` were replaced when `bytes` of `all` were here. True, each third time in a
 * row: `words` has the numbers. */
bool leat_slow_link_add(leat_slow_link *link, int64_t step, int64_t begun_ns, int64_t now_ns,
                        int64_t bytes, int64_t all, char words[LEAT_SLOW_LINK_WORDS_BYTES]);
/* Weights are here. */
void leat_slow_link_end(leat_slow_link *link);

#endif
