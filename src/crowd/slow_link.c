/* See slow_link.h. */
#include "crowd/slow_link.h"

#include <stdio.h>

enum { SAY_EVERY = 3, SHORT_BYTES = 16 };

/* Two digits at least, without an exponent. */
static const char *write_number(char text[SHORT_BYTES], double value) {
    snprintf(text, SHORT_BYTES, value < 9.95 ? "%.2g" : "%.0f", value < 1e9 ? value : 1e9);
    return text;
}

static void write_words(const leat_slow_link *link, double step_seconds, int64_t all,
                        char words[LEAT_SLOW_LINK_WORDS_BYTES]) {
    char download[SHORT_BYTES], step[SHORT_BYTES], rate[SHORT_BYTES];
    const double seconds = (double)link->fetch_ns * 1e-9 * (double)all / (double)link->bytes;
    snprintf(words, LEAT_SLOW_LINK_WORDS_BYTES,
             "download %s s, step %s s: this run needs %s Mbit/s", write_number(download, seconds),
             write_number(step, step_seconds),
             write_number(rate, (double)all * 8e-6 / step_seconds));
}

bool leat_slow_link_add(leat_slow_link *link, int64_t step, int64_t begun_ns, int64_t now_ns,
                        int64_t bytes, int64_t all, char words[LEAT_SLOW_LINK_WORDS_BYTES]) {
    if (bytes == 0) return false; /* they were gone before the first part was asked for */
    if (link->in_a_row == 0) *link = (leat_slow_link){.first_ns = begun_ns, .first_step = step};
    link->in_a_row++;
    link->bytes += bytes;
    link->fetch_ns += now_ns - begun_ns;
    if (link->in_a_row < SAY_EVERY) return false;
    const double seconds = (double)(now_ns - link->first_ns) * 1e-9;
    const int64_t steps = step - link->first_step + 1; /* that have ended since */
    write_words(link, seconds / (double)(steps > 0 ? steps : 1), all, words);
    link->in_a_row = 0;
    return true;
}

void leat_slow_link_end(leat_slow_link *link) { link->in_a_row = 0; }
