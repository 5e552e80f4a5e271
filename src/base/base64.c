/* See base64.h. Three bytes are four digits, the high bits first. */
#include "base/base64.h"

#include <string.h>

static const char alphabets[][65] = {
    [LEAT_BASE64_PADDED] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    [LEAT_BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

int leat_base64_digit(char letter, leat_base64 kind) {
    const char *at = letter != 0 ? strchr(alphabets[kind], letter) : NULL;
    return at != NULL ? (int)(at - alphabets[kind]) : -1;
}

int64_t leat_base64_encode(char *text, const void *bytes, int64_t size_bytes, leat_base64 kind) {
    const uint8_t *from = bytes;
    int64_t length = 0;
    for (int64_t i = 0; i < size_bytes; i += 3) {
        const int64_t left = size_bytes - i;
        const uint32_t bits = (uint32_t)from[i] << 16 |
                              (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                              (left > 2 ? (uint32_t)from[i + 2] : 0);
        const int digits = left > 2 ? 4 : (int)left + 1;
        for (int k = 0; k < digits; k++)
            text[length++] = alphabets[kind][bits >> (18 - 6 * k) & 63];
        for (int k = digits; k < 4 && kind == LEAT_BASE64_PADDED; k++) text[length++] = '=';
    }
    text[length] = 0;
    return length;
}

int64_t leat_base64_decode(uint8_t *out, int64_t *out_bytes, const char *text, int64_t length) {
    uint32_t bits = 0;
    int held = 0;
    *out_bytes = 0;
    for (int64_t i = 0; i < length; i++) {
        const int digit = leat_base64_digit(text[i], LEAT_BASE64_URL);
        if (digit < 0) return i;
        bits = bits << 6 | (uint32_t)digit;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out[(*out_bytes)++] = (uint8_t)(bits >> held);
        bits &= (1u << held) - 1;
    }
    return length % 4 != 1 && bits == 0 ? -1 : length;
}
