/* Numbers as people read them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frame.h"

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

const char *leat_words_size(char text[LEAT_WORDS_BYTES], int64_t size_bytes) {
    const char *letters = "KMGT";
    int power = 0;
    for (; power < 4 && size_bytes != 0 && size_bytes % 1024 == 0; power++) size_bytes /= 1024;
    snprintf(text, LEAT_WORDS_BYTES, "%lld%.*s", (long long)size_bytes, power > 0 ? 1 : 0,
             power > 0 ? letters + power - 1 : letters);
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
    int64_t second = time_us / 1000000, rest = time_us % 1000000;
    if (rest < 0) {
        rest += 1000000;
        second--;
    }
    time_t whole = second;
    struct tm at;
    if (gmtime_r(&whole, &at) == NULL) memset(&at, 0, sizeof at);
    snprintf(text, LEAT_WORDS_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", at.tm_year + 1900,
             at.tm_mon + 1, at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec, (int)rest);
    return text;
}

/*
 * Measured times mostly have few decimals, and those need no trial printing: k / 10^d with d <= 3
 * and k below 2^40 is far from any midpoint of two floats (by 2^-35 relative at the least, a double
 * errs by 2^-53), so rounding it twice gives what reading the text would give. Fewer decimals are
 * tried first, so the first that reads back is the shortest.
 */
static bool float_by_decimals(char text[LEAT_WORDS_BYTES], float value) {
    static const int scale[] = {1, 10, 100, 1000};
    double magnitude = fabs((double)value);
    if (!(magnitude < 1e6) || (magnitude != 0 && magnitude < 1e-3)) return false;
    for (int decimals = 0; decimals < 4; decimals++) {
        long long k = llround(magnitude * scale[decimals]);
        if ((float)((double)k / scale[decimals]) != (float)magnitude) continue;
        int size = snprintf(text, LEAT_WORDS_BYTES, "%s%lld", signbit(value) ? "-" : "",
                            k / scale[decimals]);
        if (decimals > 0)
            snprintf(text + size, (size_t)(LEAT_WORDS_BYTES - size), ".%0*lld", decimals,
                     k % scale[decimals]);
        return true;
    }
    return false;
}

const char *leat_words_float(char text[LEAT_WORDS_BYTES], float value) {
    if (float_by_decimals(text, value)) return text;
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, LEAT_WORDS_BYTES, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    return text;
}
