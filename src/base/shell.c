/* Words of a shell, for lines that a message prints to be run. */
#include <string.h>

#include "leat/base.h"

static bool put(char *out, int64_t out_bytes, int64_t *used, const char *text) {
    const int64_t size = (int64_t)strlen(text);
    if (*used + size >= out_bytes) return false;
    memcpy(out + *used, text, (size_t)size + 1);
    *used += size;
    return true;
}

bool leat_shell_word(char *out, int64_t out_bytes, const char *text) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-=,:+";
    const bool quoted = text[0] == 0 || text[0] == '-' || text[strspn(text, plain)] != 0;
    int64_t used = 0;
    bool fits = put(out, out_bytes, &used, quoted ? "'" : "");
    for (const char *at = text; *at != 0 && fits; at++) {
        const char one[2] = {*at, 0};
        const bool control = (unsigned char)*at < 0x20 || *at == 0x7f;
        fits = !control && put(out, out_bytes, &used, *at == '\'' ? "'\\''" : one);
    }
    fits = fits && put(out, out_bytes, &used, quoted ? "'" : "");
    if (!fits) out[0] = 0;
    return fits;
}
