/* Lines for a shell: see advice.h. */
#include "ingest/advice.h"

#include <string.h>

static bool put(char *out, size_t out_bytes, size_t *used, const char *text) {
    const size_t size = strlen(text);
    if (*used + size >= out_bytes) return false;
    memcpy(out + *used, text, size + 1);
    *used += size;
    return true;
}

bool leat_advice_literal(char *out, size_t out_bytes, const char *text) {
    size_t used = 0;
    bool fits = put(out, out_bytes, &used, "'");
    for (; *text != 0 && fits; text++) {
        const char one[2] = {*text, 0};
        const char *before = *text == '\'' ? "'" : strchr("\"$`\\", *text) != NULL ? "\\" : "";
        fits = (unsigned char)*text >= 0x20 && *text != 0x7f &&
               put(out, out_bytes, &used, before) && put(out, out_bytes, &used, one);
    }
    fits = fits && put(out, out_bytes, &used, "'");
    if (!fits) out[0] = 0;
    return fits;
}
