/* Lines for a shell: see advice.h. */
#include "ingest/probes/advice.h"

#include <string.h>

static bool put(char *out, size_t out_bytes, size_t *used, const char *text) {
    const size_t size = strlen(text);
    if (*used + size >= out_bytes) return false;
    memcpy(out + *used, text, size + 1);
    *used += size;
    return true;
}

/* Between two quotation marks. Each text of `instead` is a letter and what is written for it. */
static bool quote(char *out, size_t out_bytes, const char *text, const char *const *instead) {
    size_t used = 0;
    bool fits = put(out, out_bytes, &used, "'");
    for (; *text != 0 && fits; text++) {
        const char one[2] = {*text, 0}, *as = one;
        for (const char *const *each = instead; *each != NULL; each++)
            if ((*each)[0] == *text) as = *each + 1;
        fits = (unsigned char)*text >= 0x20 && *text != 0x7f && put(out, out_bytes, &used, as);
    }
    fits = fits && put(out, out_bytes, &used, "'");
    if (!fits) out[0] = 0;
    return fits;
}

bool leat_advice_word(char *out, size_t out_bytes, const char *text) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-";
    static const char *const instead[] = {"''\\''", NULL};
    size_t used = 0;
    if (text[0] == 0 || text[0] == '-' || text[strspn(text, plain)] != 0)
        return quote(out, out_bytes, text, instead);
    if (put(out, out_bytes, &used, text)) return true;
    out[0] = 0;
    return false;
}

bool leat_advice_literal(char *out, size_t out_bytes, const char *text) {
    static const char *const instead[] = {"'''", "\"\\\"", "$\\$", "`\\`", "\\\\\\", NULL};
    return quote(out, out_bytes, text, instead);
}
