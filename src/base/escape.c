/*
 * Makes untrusted text safe to display: see leat/base.h. One list of what is escaped, for messages,
 * tables, pages and JSON documents.
 */
#include "base/escape.h"

#include <stdio.h>
#include <string.h>

int leat_utf8_length(const uint8_t *at, int64_t left) {
    static const struct {
        uint8_t first_low, first_high, second_low, second_high;
        int length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    if (at[0] < 0x80) return 1;
    for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
        if (at[0] < forms[f].first_low || at[0] > forms[f].first_high) continue;
        if (left < forms[f].length) return 0;
        if (at[1] < forms[f].second_low || at[1] > forms[f].second_high) return 0;
        for (int i = 2; i < forms[f].length; i++) {
            if ((at[i] & 0xc0) != 0x80) return 0;
        }
        return forms[f].length;
    }
    return 0;
}

/* Characters above U+007F that are escaped. */
static bool is_hidden(uint32_t letter) {
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0080, 0x009f}, /* C1 */
        {0x061c, 0x061c}, /* Arabic letter mark */
        {0x200e, 0x200f}, /* left-to-right and right-to-left mark */
        {0x2028, 0x202e}, /* separators; embeddings, overrides and their end */
        {0x2066, 0x2069}, /* isolates and their end */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (letter >= ranges[i].first && letter <= ranges[i].last) return true;
    return false;
}

/* The character at `at`, which has `length` bytes, 2 or 3. */
static uint32_t letter_of(const uint8_t *at, int length) {
    if (length == 2) return (uint32_t)(at[0] & 0x1f) << 6 | (at[1] & 0x3f);
    return (uint32_t)(at[0] & 0x0f) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3f);
}

/* Bytes of the character at `at` if it needs no escape, else 0. */
static int shown_length(const uint8_t *at, int64_t left) {
    if (at[0] < 0x80) return at[0] >= 0x20 && at[0] != 0x7f;
    int length = leat_utf8_length(at, left);
    return length < 2 || length > 3 || !is_hidden(letter_of(at, length)) ? length : 0;
}

int64_t leat_text_clean(const char *text, int64_t size_bytes) {
    const uint8_t *bytes = (const uint8_t *)text;
    int64_t i = 0;
    while (i < size_bytes) {
        int length = shown_length(bytes + i, size_bytes - i);
        if (length == 0) return i;
        i += length;
    }
    return i;
}

int leat_text_escape(const char *text, int64_t size_bytes, leat_escape style,
                     char escape[LEAT_ESCAPE_BYTES]) {
    const uint8_t *at = (const uint8_t *)text;
    int length = leat_utf8_length(at, size_bytes);
    bool json = style == LEAT_ESCAPE_JSON;
    if (length > 1) {
        snprintf(escape, LEAT_ESCAPE_BYTES, "\\u%04x", (unsigned)letter_of(at, length) & 0xffff);
    } else if (length == 1) {
        snprintf(escape, LEAT_ESCAPE_BYTES, json ? "\\u%04x" : "\\x%02x", (unsigned)at[0]);
    } else if (json) {
        snprintf(escape, LEAT_ESCAPE_BYTES, "\\ufffd");
    } else {
        snprintf(escape, LEAT_ESCAPE_BYTES, "\\x%02x", (unsigned)at[0]);
    }
    return length == 0 ? 1 : length;
}

int64_t leat_text_show(char *out, int64_t out_bytes, const char *text, int64_t size_bytes) {
    int64_t done = 0, used = 0;
    while (done < size_bytes) {
        char escape[LEAT_ESCAPE_BYTES];
        const char *from = text + done;
        int length = shown_length((const uint8_t *)from, size_bytes - done), taken = length;
        if (length == 0) {
            taken = leat_text_escape(from, size_bytes - done, LEAT_ESCAPE_WORDS, escape);
            from = escape;
            length = (int)strlen(escape);
        }
        if (used + length >= out_bytes) break;
        memcpy(out + used, from, (size_t)length);
        used += length;
        done += taken;
    }
    out[used] = 0;
    return done;
}
