/* Values in the form that pages show, and distributions divided into columns for drawing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/page.h"

double leat_ratio(int64_t a, int64_t b) { return b == 0 ? 0 : (double)a / (double)b; }

const char *leat_version_words(int ip_version) {
    return ip_version == 4 ? "IPv4" : ip_version == 6 ? "IPv6" : "IPv4 and IPv6";
}

const char *leat_split_words(leat_split split) {
    return split == LEAT_SPLIT_TRAIN ? "train" : split == LEAT_SPLIT_TEST ? "test" : "files";
}

const char *leat_time_words(char text[LEAT_WORDS_BYTES], int64_t time_us) {
    leat_words_time(text, time_us);
    char *letter = strchr(text, 'T');
    if (letter != NULL) *letter = ' ';
    size_t size = strlen(text);
    if (size > 0 && text[size - 1] == 'Z') text[size - 1] = 0;
    return text;
}

/* Three significant digits, without an exponent or trailing zeros. */
static void put_three_digits(char text[LEAT_WORDS_BYTES], double value, const char *unit) {
    int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, LEAT_WORDS_BYTES, "%.*f%s", decimals, value, unit);
}

static void put_duration(char text[LEAT_WORDS_BYTES], double us) {
    double seconds = us * 1e-6;
    if (us < 1) snprintf(text, LEAT_WORDS_BYTES, "0 s");
    else if (us < 1000) snprintf(text, LEAT_WORDS_BYTES, "%.0f us", us);
    else if (seconds < 1) put_three_digits(text, us * 1e-3, " ms");
    else if (seconds < 600 && fabs(seconds - round(seconds)) < 5e-4)
        snprintf(text, LEAT_WORDS_BYTES, "%.0f s", seconds);
    else if (seconds < 99.95) put_three_digits(text, seconds, " s");
    else if (seconds < 600) snprintf(text, LEAT_WORDS_BYTES, "%.0f s", seconds);
    else if (seconds < 400 * 86400.0) leat_words_seconds(text, seconds);
    else put_three_digits(text, seconds / (365.25 * 86400), " years");
}

static void put_rtt(char text[LEAT_WORDS_BYTES], double ns) {
    double ms = ns * 1e-6;
    if (ms < 1 && ms > 0) snprintf(text, LEAT_WORDS_BYTES, "%.3f ms", ms);
    else if (ms < 1000) put_three_digits(text, ms, " ms");
    else put_three_digits(text, ms * 1e-3, " s");
}

static void put_share(char text[LEAT_WORDS_BYTES], double share) {
    double percent = share * 100;
    if (percent == 0 || percent >= 0.095)
        snprintf(text, LEAT_WORDS_BYTES, "%.*f %%", percent >= 10 ? 1 : 2, percent);
    else snprintf(text, LEAT_WORDS_BYTES, "%.2g %%", percent);
}

const char *leat_display_words(char text[LEAT_WORDS_BYTES], leat_display_unit unit, double value) {
    switch (unit) {
    case LEAT_DISPLAY_COUNT: return leat_words_count(text, (int64_t)llround(value));
    case LEAT_DISPLAY_BYTES: return leat_words_bytes(text, (int64_t)llround(value));
    case LEAT_DISPLAY_DURATION_US: put_duration(text, value); return text;
    case LEAT_DISPLAY_RTT_NS: put_rtt(text, value); return text;
    case LEAT_DISPLAY_SHARE: put_share(text, value); return text;
    case LEAT_DISPLAY_NUMBER: snprintf(text, LEAT_WORDS_BYTES, "%.4g", value); return text;
    case LEAT_DISPLAY_DATE_US: break;
    }
    leat_time_words(text, (int64_t)value);
    char *point = strchr(text, '.');
    if (point != NULL) *point = 0;
    return text;
}

void leat_columns_make(leat_columns *columns, const leat_distribution *dist, int max_count) {
    memset(columns, 0, sizeof *columns);
    columns->total = (double)dist->count;
    columns->zeros = (double)dist->bins[0];
    int first = 1;
    while (first < LEAT_DISTRIBUTION_BINS && dist->bins[first] == 0) first++;
    if (first == LEAT_DISTRIBUTION_BINS) return;
    int last = LEAT_DISTRIBUTION_BINS - 1;
    while (dist->bins[last] == 0) last--;
    if (max_count > LEAT_COLUMNS_MAX) max_count = LEAT_COLUMNS_MAX;
    double low = log2((double)leat_distribution_bin_low(first));
    double high = log2((double)leat_distribution_bin_low(last + 1));
    /* Columns start at fixed fractions of octaves: the same for data sets of similar range. */
    for (int per_octave = 16; per_octave >= 1; per_octave /= 2) {
        double begin = floor(low * per_octave + 1e-9), end = ceil(high * per_octave - 1e-9);
        if (end - begin > max_count && per_octave > 1) continue;
        columns->count = end - begin > max_count ? max_count : (int)(end - begin);
        for (int i = 0; i <= columns->count; i++) columns->edge[i] = exp2((begin + i) / per_octave);
        break;
    }
    /* Bins that straddle an edge are divided, but a column holds a whole number of values, and all
     * columns hold all of them: rounded is the sum up to each edge. */
    double sum = 0, before = 0;
    for (int i = 0; i < columns->count; i++) {
        double from = i == 0 ? 1 : columns->edge[i];
        double to = i + 1 == columns->count ? 9.3e18 : columns->edge[i + 1];
        sum += leat_distribution_between(dist, from, to);
        columns->values[i] = round(sum) - before;
        before = round(sum);
    }
}

void leat_json_distribution(leat_json *json, const char *name, const leat_distribution *dist,
                            double scale) {
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {{"p1", 0.01}, {"p10", 0.1}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
    leat_json_key(json, name);
    leat_json_begin_object(json);
    leat_json_member_int(json, "count", dist->count);
    if (dist->count > 0) {
        leat_json_member_double(json, "min", (double)dist->min * scale);
        leat_json_member_double(json, "max", (double)dist->max * scale);
        leat_json_member_double(json, "mean", leat_distribution_mean(dist) * scale);
        for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
            leat_json_member_double(json, quantiles[i].name,
                                    leat_distribution_quantile(dist, quantiles[i].share) * scale);
        leat_json_member_int(json, "zeros", dist->bins[0]);
        leat_json_key(json, "histogram");
        leat_json_begin_array(json);
        for (int i = 1; i < LEAT_DISTRIBUTION_BINS; i++) {
            if (dist->bins[i] == 0) continue;
            leat_json_begin_object(json);
            leat_json_member_double(json, "from", (double)leat_distribution_bin_low(i) * scale);
            leat_json_member_double(json, "to", (double)leat_distribution_bin_low(i + 1) * scale);
            leat_json_member_int(json, "count", dist->bins[i]);
            leat_json_end_object(json);
        }
        leat_json_end_array(json);
    }
    leat_json_end_object(json);
}
