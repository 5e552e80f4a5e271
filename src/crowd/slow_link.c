/* See slow_link.h. */
#include "crowd/slow_link.h"

#include <stdio.h>

enum { SAY_EVERY = 3, SHORT_BYTES = 16 };

/* Two digits at least, without an exponent. */
static const char *write_number(char text[SHORT_BYTES], double value) {
    snprintf(text, SHORT_BYTES, value < 9.95 ? "%.2g" : "%.0f", value < 1e9 ? value : 1e9);
    return text;
}

static void write_words(const leat_slow_link *lag, double step_seconds, int64_t all,
                        char words[LEAT_SLOW_LINK_WORDS_BYTES]) {
    char download[SHORT_BYTES], step[SHORT_BYTES], rate[SHORT_BYTES];
    const double seconds = (double)lag->fetch_ns * 1e-9 * (double)all / (double)lag->bytes;
    snprintf(words, LEAT_SLOW_LINK_WORDS_BYTES,
             "download %s s, step %s s: this run needs %s Mbit/s", write_number(download, seconds),
             write_number(step, step_seconds),
             write_number(rate, (double)all * 8e-6 / step_seconds));
}

bool leat_slow_link_add(leat_slow_link *lag, int64_t step, int64_t begun_ns, int64_t now_ns,
                        int64_t bytes, int64_t all, char words[LEAT_SLOW_LINK_WORDS_BYTES]) {
    if (bytes == 0) return false; /* they were gone before the first part was asked for */
    if (lag->in_a_row == 0) *lag = (leat_slow_link){.first_ns = begun_ns, .first_step = step};
    lag->in_a_row++;
    lag->bytes += bytes;
    lag->fetch_ns += now_ns - begun_ns;
    if (lag->in_a_row < SAY_EVERY) return false;
    const double seconds = (double)(now_ns - lag->first_ns) * 1e-9;
    const int64_t steps = step - lag->first_step + 1; /* that have ended since */
    write_words(lag, seconds / (double)(steps > 0 ? steps : 1), all, words);
    lag->in_a_row = 0;
    return true;
}

void leat_slow_link_end(leat_slow_link *lag) { lag->in_a_row = 0; }
