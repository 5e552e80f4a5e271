/* Numbers in readable form. */
#include <stdio.h>
#include <string.h>

#include "command/internal.h"

const char *leat_words_bytes(char text[LEAT_WORDS_BYTES], int64_t size_bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (size_bytes < 1024) {
        snprintf(text, LEAT_WORDS_BYTES, "%lld bytes", (long long)size_bytes);
        return text;
    }
    double value = (double)size_bytes / 1024;
    int unit = 0;
    for (; value >= 1024 && unit < 3; unit++) value /= 1024;
    snprintf(text, LEAT_WORDS_BYTES, "%.*f %s",
             value < 10    ? 2
             : value < 100 ? 1
                           : 0,
             value, units[unit]);
    return text;
}

const char *leat_words_count(char text[LEAT_WORDS_BYTES], int64_t count) {
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%lld", (long long)count);
    int at = 0;
    for (int i = 0; i < size; i++) {
        int left = size - i;
        text[at++] = digits[i];
        if (digits[i] != '-' && left > 1 && left % 3 == 1) text[at++] = ',';
    }
    text[at] = 0;
    return text;
}

const char *leat_words_rate(char text[LEAT_WORDS_BYTES], double per_second) {
    static const char *const units[] = {"", " k", " M", " G", " T"};
    double value = per_second > 0 ? per_second : 0;
    int unit = 0;
    for (; value >= 999.5 && unit < 4; unit++) value /= 1000;
    snprintf(text, LEAT_WORDS_BYTES, "%.*f%s",
             value < 9.995   ? 2
             : value < 99.95 ? 1
                             : 0,
             value, units[unit]);
    return text;
}

const char *leat_things(char text[LEAT_WORDS_BYTES], int64_t count, const char *thing) {
    char words[LEAT_WORDS_BYTES];
    snprintf(text, LEAT_WORDS_BYTES, "%s %s%s", leat_words_count(words, count), thing,
             count == 1 ? "" : "s");
    return text;
}

int64_t leat_frame_after(int64_t frame, int64_t count) {
    return (int64_t)((uint64_t)frame + (uint64_t)count);
}

const char *leat_plain(char text[LEAT_PLAIN_BYTES], const char *from) {
    leat_text_show(text, LEAT_PLAIN_BYTES, from, (int64_t)strlen(from));
    return text;
}

/* Characters of UTF-8. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text != 0; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void leat_column_fit(int *width, const char *text) {
    const int needed = width_of(text);
    if (needed > *width) *width = needed;
}

const char *leat_column_pad(char text[LEAT_PLAIN_BYTES], int width, const char *from) {
    size_t size = strlen(from);
    int blanks = width - width_of(from);
    if (from != text) memcpy(text, from, size + 1);
    for (; blanks > 0 && size + 1 < LEAT_PLAIN_BYTES; blanks--) text[size++] = ' ';
    text[size] = 0;
    return text;
}

const char *leat_words_seconds(char text[LEAT_WORDS_BYTES], double seconds) {
    if (!(seconds >= 0) || seconds > 1e9) seconds = 1e9;
    long long whole = (long long)(seconds + 0.5);
    if (seconds < 10) snprintf(text, LEAT_WORDS_BYTES, "%.2f s", seconds);
    else if (seconds < 60) snprintf(text, LEAT_WORDS_BYTES, "%.1f s", seconds);
    else if (whole < 3600)
        snprintf(text, LEAT_WORDS_BYTES, "%lld min %lld s", whole / 60, whole % 60);
    else if (whole < 86400)
        snprintf(text, LEAT_WORDS_BYTES, "%lld h %lld min", whole / 3600, whole / 60 % 60);
    else snprintf(text, LEAT_WORDS_BYTES, "%lld d %lld h", whole / 86400, whole / 3600 % 24);
    return text;
}

const char *leat_words_time(char text[LEAT_WORDS_BYTES], int64_t time_us) {
    leat_time_format(time_us, text);
    return text;
}

const char *leat_words_float(char text[LEAT_WORDS_BYTES], float value) {
    leat_float_format(value, text);
    return text;
}
