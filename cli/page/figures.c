/* Figures: the frame around a plot, and plots shared by several pages. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/page.h"

void leat_figure_begin(leat_textbuf *out, const char *title, const char *caption) {
    leat_textbuf_printf(out, "<figure>\n<figcaption><h3>%s</h3><p>", title);
    leat_textbuf_put(out, caption); /* leat's own text, with entities where needed */
    leat_textbuf_put(out, "</p></figcaption>\n");
}

void leat_figure_end(leat_textbuf *out) { leat_textbuf_put(out, "</figure>\n"); }

void leat_figure_empty(leat_textbuf *out, const char *title, const char *why) {
    leat_figure_begin(out, title, "&nbsp;");
    leat_textbuf_printf(out, "<p class=\"none\">%s</p>\n", why);
    leat_figure_end(out);
}

void leat_figure_quantiles(char caption[LEAT_FIGURE_WORDS], const leat_dist *dist, leat_unit unit) {
    char p50[LEAT_WORDS_BYTES], p99[LEAT_WORDS_BYTES], max[LEAT_WORDS_BYTES];
    leat_unit_words(p50, unit, leat_dist_quantile(dist, 0.5));
    leat_unit_words(p99, unit, leat_dist_quantile(dist, 0.99));
    leat_unit_words(max, unit, (double)dist->max);
    snprintf(caption, LEAT_FIGURE_WORDS, "median <b>%s</b>, p99 <b>%s</b>, max <b>%s</b>", p50, p99,
             max);
}

double leat_axis_end(double value) {
    if (!(value > 0)) return 1;
    double unit = pow(10, floor(log10(value)));
    static const double steps[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (value <= steps[i] * unit * 1.0000001) return steps[i] * unit;
    return 10 * unit;
}

/* ---- Histograms --------------------------------------------------------------------------- */

static void draw_histogram(leat_textbuf *out, const leat_histogram *spec, const leat_dist *dist) {
    char caption[LEAT_FIGURE_WORDS], words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES],
        b[LEAT_WORDS_BYTES];
    leat_columns columns;
    leat_columns_make(&columns, dist, LEAT_COLUMNS_MAX);
    double peak = columns.zeros;
    for (int i = 0; i < columns.count; i++)
        if (columns.values[i] > peak) peak = columns.values[i];
    leat_plot plot = {
        .out = out,
        .x = {spec->unit, true, columns.edge[0], columns.edge[columns.count], spec->x_label},
        .y = {LEAT_UNIT_SHARE, false, 0, leat_axis_end(peak / columns.total), spec->y_label}};
    bool zeros = spec->zeros && columns.zeros > 0;
    leat_figure_quantiles(caption, dist, spec->unit);
    leat_figure_begin(out, spec->title, caption);
    snprintf(words, sizeof words, "%s: a histogram", spec->title);
    leat_plot_begin(&plot, words, zeros);
    for (int i = 0; i < columns.count; i++) {
        char share[LEAT_WORDS_BYTES], count[LEAT_WORDS_BYTES];
        if (columns.values[i] <= 0) continue;
        snprintf(words, sizeof words, "%s to %s: %s of the %s (%s)",
                 leat_unit_words(a, spec->unit, columns.edge[i]),
                 leat_unit_words(b, spec->unit, columns.edge[i + 1]),
                 leat_unit_words(share, LEAT_UNIT_SHARE, columns.values[i] / columns.total),
                 spec->things, leat_unit_words(count, LEAT_UNIT_COUNT, columns.values[i]));
        leat_plot_bar(&plot, columns.edge[i], columns.edge[i + 1],
                      columns.values[i] / columns.total, "bar", words);
    }
    if (zeros) {
        snprintf(words, sizeof words, "0: %s of the %s (%s)",
                 leat_unit_words(a, LEAT_UNIT_SHARE, columns.zeros / columns.total), spec->things,
                 leat_unit_words(b, LEAT_UNIT_COUNT, columns.zeros));
        leat_plot_zero_bar(&plot, columns.zeros / columns.total, words);
    }
    double p50 = leat_dist_quantile(dist, 0.5), p99 = leat_dist_quantile(dist, 0.99);
    char words99[LEAT_FIGURE_WORDS];
    snprintf(words, sizeof words, "p50 %s", leat_unit_words(a, spec->unit, p50));
    snprintf(words99, sizeof words99, "p99 %s", leat_unit_words(b, spec->unit, p99));
    if (p50 > 0) leat_plot_marks(&plot, p50, words, p99, words99);
    leat_plot_end(&plot);
    leat_figure_end(out);
}

/* Each whole number from the smallest to the largest has its bar. */
static void draw_numbers(leat_textbuf *out, const leat_histogram *spec, const leat_dist *dist) {
    char caption[LEAT_FIGURE_WORDS], words[LEAT_FIGURE_WORDS];
    char share[LEAT_WORDS_BYTES], count[LEAT_WORDS_BYTES];
    double total = (double)dist->count, peak = 0;
    for (int64_t value = dist->min; value <= dist->max; value++)
        if ((double)dist->bins[value] > peak) peak = (double)dist->bins[value];
    leat_plot plot = {
        .out = out,
        .x = {spec->unit, false, (double)dist->min - 0.5, (double)dist->max + 0.5, spec->x_label},
        .y = {LEAT_UNIT_SHARE, false, 0, leat_axis_end(peak / total), spec->y_label}};
    snprintf(caption, sizeof caption, "mean <b>%.2f</b>, most <b>%lld</b>", leat_dist_mean(dist),
             (long long)dist->max);
    leat_figure_begin(out, spec->title, caption);
    leat_plot_begin(&plot, spec->title, false);
    for (int64_t value = dist->min; value <= dist->max; value++) {
        double here = (double)dist->bins[value];
        snprintf(words, sizeof words, "%lld: %s of the %s (%s)", (long long)value,
                 leat_unit_words(share, LEAT_UNIT_SHARE, here / total), spec->things,
                 leat_unit_words(count, LEAT_UNIT_COUNT, here));
        leat_plot_bar(&plot, (double)value - 0.4, (double)value + 0.4, here / total, "bar", words);
    }
    leat_plot_end(&plot);
    leat_figure_end(out);
}

/* The values of a bin: "4 min", or "4 min 1 s to 4 min 4 s" where it may hold several. */
static void bin_words(char words[LEAT_FIGURE_WORDS], leat_unit unit, const leat_dist *dist,
                      int bin) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    int64_t low = leat_dist_bin_low(bin), high = leat_dist_bin_low(bin + 1) - 1;
    leat_unit_words(a, unit, (double)(low > dist->min ? low : dist->min));
    leat_unit_words(b, unit, (double)(high < dist->max ? high : dist->max));
    if (strcmp(a, b) == 0) snprintf(words, LEAT_FIGURE_WORDS, "%s", a);
    else snprintf(words, LEAT_FIGURE_WORDS, "%s to %s", a, b);
}

static void put_value(leat_bars *bars, const leat_histogram *spec, const char *name,
                      const leat_dist *dist, int bin, const char *class_name) {
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    double share = leat_ratio(dist->bins[bin], dist->count);
    snprintf(words, sizeof words, "%s of the %s (%s)", leat_unit_words(a, LEAT_UNIT_SHARE, share),
             spec->things, leat_words_count(b, dist->bins[bin]));
    leat_bars_put(bars, name, share, class_name, words);
}

static double value_peak(const leat_dist *dist) {
    int64_t peak = 0;
    for (int bin = 0; bin < LEAT_DIST_BINS; bin++)
        if (dist->bins[bin] > peak) peak = dist->bins[bin];
    return leat_ratio(peak, dist->count);
}

static int value_count(const leat_dist *dist) {
    int count = 0;
    for (int bin = 0; bin < LEAT_DIST_BINS; bin++) count += dist->bins[bin] > 0;
    return count;
}

/* On an axis, a few values would be hairlines between which nothing is. */
static void draw_values(leat_textbuf *out, const leat_histogram *spec, const leat_dist *dist) {
    char caption[LEAT_FIGURE_WORDS], name[LEAT_FIGURE_WORDS];
    leat_bars bars = {out, LEAT_UNIT_SHARE, value_peak(dist), value_count(dist), 0};
    snprintf(caption, sizeof caption, "%s, by %s", spec->y_label, spec->x_label);
    leat_figure_begin(out, spec->title, caption);
    leat_bars_begin(&bars, spec->title);
    for (int bin = 0; bin < LEAT_DIST_BINS; bin++) {
        if (dist->bins[bin] == 0) continue;
        bin_words(name, spec->unit, dist, bin);
        put_value(&bars, spec, name, dist, bin, "bar");
    }
    leat_bars_end(&bars);
    leat_figure_end(out);
}

#define NUMBERS_MAX 40 /* numbers with their own bar */
#define VALUES_MAX 8   /* values with their own bar and name */

void leat_figure_histogram(leat_textbuf *out, const leat_histogram *spec, const leat_dist *dist) {
    if (dist->count == 0) leat_figure_empty(out, spec->title, spec->empty);
    else if (spec->unit == LEAT_UNIT_COUNT && dist->max <= NUMBERS_MAX)
        draw_numbers(out, spec, dist);
    else if (value_count(dist) <= VALUES_MAX) draw_values(out, spec, dist);
    else draw_histogram(out, spec, dist);
}

/* ---- Several distributions ---------------------------------------------------------------- */

/* Few columns: a line that follows chance, or the gaps between integers, means nothing. */
#define SERIES_COLUMNS 28
#define SERIES_NUMBERS 16
#define SERIES_VALUES 4 /* values with a bar for each series */

/* "key name median 12" of each. */
static void series_caption(leat_textbuf *out, const leat_histogram *spec, const leat_series *series,
                           int count) {
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_printf(out, "<figure>\n<figcaption><h3>%s</h3><p>median: ", spec->title);
    for (int i = 0; i < count; i++) {
        if (series[i].dist->count == 0) continue;
        leat_textbuf_printf(
            out, "<span class=\"item\"><span class=\"key l%d\"></span>%s <b>%s</b></span> ", i + 1,
            series[i].name,
            leat_unit_words(words, spec->unit, leat_dist_quantile(series[i].dist, 0.5)));
    }
    leat_textbuf_put(out, "</p></figcaption>\n");
}

static void draw_series(leat_plot *plot, const leat_columns *columns, const leat_dist *dist,
                        int number) {
    double xs[LEAT_COLUMNS_MAX + 3], ys[LEAT_COLUMNS_MAX + 3];
    char class_name[32];
    int count = 0;
    xs[count] = columns->edge[0];
    ys[count++] = 0;
    for (int i = 0; i < columns->count; i++) {
        double from = i == 0 ? 1 : columns->edge[i];
        double to = i + 1 == columns->count ? 9.3e18 : columns->edge[i + 1];
        xs[count] = columns->edge[i];
        ys[count++] = leat_dist_between(dist, from, to) / (double)dist->count;
    }
    xs[count] = columns->edge[columns->count];
    ys[count++] = 0;
    snprintf(class_name, sizeof class_name, "line l%d", number);
    leat_plot_line(plot, xs, ys, count, true, class_name);
}

static double series_peak(const leat_columns *columns, const leat_series *series, int count) {
    double peak = 0;
    for (int k = 0; k < count; k++) {
        if (series[k].dist->count == 0) continue;
        for (int i = 0; i < columns->count; i++) {
            double here =
                leat_dist_between(series[k].dist, columns->edge[i],
                                  i + 1 == columns->count ? 9.3e18 : columns->edge[i + 1]);
            if (here / (double)series[k].dist->count > peak)
                peak = here / (double)series[k].dist->count;
        }
    }
    return peak;
}

/* A bar for each value of each series; the name is that of the value. */
static void draw_series_values(leat_textbuf *out, const leat_histogram *spec,
                               const leat_series *series, int count, const leat_dist *all) {
    static const char *const classes[LEAT_SERIES_MAX] = {"bar", "bar second", "bar third"};
    leat_bars bars = {.out = out, .unit = LEAT_UNIT_SHARE};
    char value[LEAT_FIGURE_WORDS], name[2 * LEAT_FIGURE_WORDS];
    for (int k = 0; k < count; k++) {
        bars.count += value_count(series[k].dist);
        bars.peak = fmax(bars.peak, value_peak(series[k].dist));
    }
    series_caption(out, spec, series, count);
    leat_bars_begin(&bars, spec->title);
    for (int bin = 0; bin < LEAT_DIST_BINS; bin++) {
        for (int k = 0; k < count; k++) {
            if (series[k].dist->bins[bin] == 0) continue;
            bin_words(value, spec->unit, all, bin);
            snprintf(name, sizeof name, "%s, %s", series[k].name, value);
            put_value(&bars, spec, name, series[k].dist, bin, classes[k]);
        }
    }
    leat_bars_end(&bars);
    leat_figure_end(out);
}

static void draw_series_lines(leat_textbuf *out, const leat_histogram *spec,
                              const leat_series *series, int count, const leat_dist *all) {
    leat_columns columns;
    leat_columns_make(&columns, all,
                      spec->unit == LEAT_UNIT_COUNT ? SERIES_NUMBERS : SERIES_COLUMNS);
    double peak = series_peak(&columns, series, count);
    leat_plot plot = {
        .out = out,
        .x = {spec->unit, true, columns.edge[0], columns.edge[columns.count], spec->x_label},
        .y = {LEAT_UNIT_SHARE, false, 0, leat_axis_end(peak), spec->y_label}};
    series_caption(out, spec, series, count);
    leat_plot_begin(&plot, spec->title, false);
    for (int i = count - 1; i >= 0; i--)
        if (series[i].dist->count > 0) draw_series(&plot, &columns, series[i].dist, i + 1);
    leat_plot_end(&plot);
    leat_figure_end(out);
}

void leat_figure_series(leat_textbuf *out, const leat_histogram *spec, const leat_series *series,
                        int count) {
    leat_dist all = {0};
    for (int i = 0; i < count; i++) leat_dist_merge(&all, series[i].dist);
    if (all.count == 0) leat_figure_empty(out, spec->title, spec->empty);
    else if (value_count(&all) <= SERIES_VALUES) draw_series_values(out, spec, series, count, &all);
    else draw_series_lines(out, spec, series, count, &all);
}
