/* Distributions, as several pages draw them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "page/page.h"

void leat_figure_quantiles(leat_page *page, const leat_distribution *dist, leat_display_unit unit) {
    char words[LEAT_WORDS_BYTES];
    leat_figure_item(page, NULL, "median",
                     leat_display_words(words, unit, leat_distribution_quantile(dist, 0.5)));
    leat_figure_item(page, NULL, "p99",
                     leat_display_words(words, unit, leat_distribution_quantile(dist, 0.99)));
    leat_figure_item(page, NULL, "max", leat_display_words(words, unit, (double)dist->max));
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

static void draw_histogram(leat_page *page, const leat_histogram *spec,
                           const leat_distribution *dist) {
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_columns columns;
    leat_columns_make(&columns, dist, LEAT_COLUMNS_MAX);
    double peak = columns.zeros;
    for (int i = 0; i < columns.count; i++)
        if (columns.values[i] > peak) peak = columns.values[i];
    leat_plot plot = {
        .page = page,
        .x = {spec->unit, true, columns.edge[0], columns.edge[columns.count], spec->x_label},
        .y = {LEAT_DISPLAY_SHARE, false, 0, leat_axis_end(peak / columns.total), spec->y_label},
        .counts = spec->things};
    bool zeros = spec->zeros && columns.zeros > 0;
    leat_figure_begin(page, spec->title);
    leat_figure_quantiles(page, dist, spec->unit);
    leat_plot_begin(&plot, zeros);
    for (int i = 0; i < columns.count; i++) {
        char share[LEAT_WORDS_BYTES], count[LEAT_WORDS_BYTES];
        if (columns.values[i] <= 0) continue;
        snprintf(words, sizeof words, "%s to %s: %s of the %s (%s)",
                 leat_display_words(a, spec->unit, columns.edge[i]),
                 leat_display_words(b, spec->unit, columns.edge[i + 1]),
                 leat_display_words(share, LEAT_DISPLAY_SHARE, columns.values[i] / columns.total),
                 spec->things, leat_display_words(count, LEAT_DISPLAY_COUNT, columns.values[i]));
        leat_plot_bar(&plot, (leat_plot_span){columns.edge[i], columns.edge[i + 1]},
                      columns.values[i] / columns.total, columns.values[i], "bar", words);
    }
    if (zeros) {
        snprintf(words, sizeof words, "0: %s of the %s (%s)",
                 leat_display_words(a, LEAT_DISPLAY_SHARE, columns.zeros / columns.total),
                 spec->things, leat_display_words(b, LEAT_DISPLAY_COUNT, columns.zeros));
        leat_plot_zero_bar(&plot, columns.zeros / columns.total, columns.zeros, words);
    }
    double p50 = leat_distribution_quantile(dist, 0.5),
           p99 = leat_distribution_quantile(dist, 0.99);
    char words99[LEAT_FIGURE_WORDS];
    snprintf(words, sizeof words, "p50 %s", leat_display_words(a, spec->unit, p50));
    snprintf(words99, sizeof words99, "p99 %s", leat_display_words(b, spec->unit, p99));
    if (p50 > 0) leat_plot_marks(&plot, p50, words, p99, words99);
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* Each whole number from the smallest to the largest has its bar. */
static void draw_numbers(leat_page *page, const leat_histogram *spec,
                         const leat_distribution *dist) {
    char words[LEAT_FIGURE_WORDS];
    char share[LEAT_WORDS_BYTES], count[LEAT_WORDS_BYTES];
    double total = (double)dist->count, peak = 0;
    for (int64_t value = dist->min; value <= dist->max; value++)
        if ((double)dist->bins[value] > peak) peak = (double)dist->bins[value];
    leat_plot plot = {
        .page = page,
        .x = {spec->unit, false, (double)dist->min - 0.5, (double)dist->max + 0.5, spec->x_label},
        .y = {LEAT_DISPLAY_SHARE, false, 0, leat_axis_end(peak / total), spec->y_label},
        .points = true,
        .counts = spec->things};
    leat_figure_begin(page, spec->title);
    snprintf(words, sizeof words, "%.2f", leat_distribution_mean(dist));
    leat_figure_item(page, NULL, "mean", words);
    leat_figure_item(page, NULL, "most", leat_words_count(count, dist->max));
    leat_plot_begin(&plot, false);
    for (int64_t value = dist->min; value <= dist->max; value++) {
        double here = (double)dist->bins[value];
        snprintf(words, sizeof words, "%lld: %s of the %s (%s)", (long long)value,
                 leat_display_words(share, LEAT_DISPLAY_SHARE, here / total), spec->things,
                 leat_display_words(count, LEAT_DISPLAY_COUNT, here));
        leat_plot_bar(&plot, (leat_plot_span){(double)value - 0.4, (double)value + 0.4},
                      here / total, here, "bar", words);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* What a bin may hold, from its smallest value to its largest. */
static void bin_ends(const leat_distribution *dist, int bin, double *low, double *high) {
    int64_t first = leat_distribution_bin_low(bin), last = leat_distribution_bin_low(bin + 1) - 1;
    *low = (double)(first > dist->min ? first : dist->min);
    *high = (double)(last < dist->max ? last : dist->max);
}

/* "4 min", or "4 min 1 s to 4 min 4 s". */
static void bin_words(char words[LEAT_FIGURE_WORDS], leat_display_unit unit,
                      const leat_distribution *dist, int bin) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    double low, high;
    bin_ends(dist, bin, &low, &high);
    leat_display_words(a, unit, low);
    leat_display_words(b, unit, high);
    if (strcmp(a, b) == 0) snprintf(words, LEAT_FIGURE_WORDS, "%s", a);
    else snprintf(words, LEAT_FIGURE_WORDS, "%s to %s", a, b);
}

static void put_value_columns(leat_page *page, const leat_histogram *spec, bool series) {
    leat_textbuf_put(page->csv, series ? "series," : "");
    leat_csv_name(page->csv, spec->x_label, spec->unit, "_from,");
    leat_csv_name(page->csv, spec->x_label, spec->unit, "_to,");
    leat_csv_name(page->csv, spec->y_label, LEAT_DISPLAY_SHARE, ",");
    leat_csv_name(page->csv, spec->things, LEAT_DISPLAY_COUNT, "\n");
}

/* The values of `dist` in a bin of all series, which may hold others as well. */
static void put_value(leat_bars *bars, const leat_histogram *spec, const char *name,
                      const leat_distribution *all, const leat_series *series, int bin,
                      const char *class_name) {
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    const leat_distribution *dist = series->dist;
    leat_textbuf *csv = bars->page->csv;
    double share = leat_ratio(dist->bins[bin], dist->count), low, high;
    snprintf(words, sizeof words, "%s of the %s (%s)",
             leat_display_words(a, LEAT_DISPLAY_SHARE, share), spec->things,
             leat_words_count(b, dist->bins[bin]));
    leat_bars_put(bars, name, share, dist->bins[bin], class_name, words);
    bin_ends(all, bin, &low, &high);
    if (series->name != NULL) {
        leat_csv_text(csv, series->name);
        leat_textbuf_put(csv, ",");
    }
    leat_csv_value(csv, spec->unit, low);
    leat_textbuf_put(csv, ",");
    leat_csv_value(csv, spec->unit, high);
    leat_textbuf_put(csv, ",");
    leat_csv_value(csv, LEAT_DISPLAY_SHARE, share);
    leat_textbuf_printf(csv, ",%lld\n", (long long)dist->bins[bin]);
}

static double value_peak(const leat_distribution *dist) {
    int64_t peak = 0;
    for (int bin = 0; bin < LEAT_DISTRIBUTION_BINS; bin++)
        if (dist->bins[bin] > peak) peak = dist->bins[bin];
    return leat_ratio(peak, dist->count);
}

static int value_count(const leat_distribution *dist) {
    int count = 0;
    for (int bin = 0; bin < LEAT_DISTRIBUTION_BINS; bin++) count += dist->bins[bin] > 0;
    return count;
}

/* On an axis, a few values would be hairlines between which nothing is. */
static void draw_values(leat_page *page, const leat_histogram *spec,
                        const leat_distribution *dist) {
    char words[2 * LEAT_FIGURE_WORDS], name[LEAT_FIGURE_WORDS];
    const leat_series series = {NULL, dist};
    leat_bars bars = {.page = page,
                      .unit = LEAT_DISPLAY_SHARE,
                      .peak = value_peak(dist),
                      .count = value_count(dist)};
    snprintf(words, sizeof words, "%s, by %s", spec->y_label, spec->x_label);
    leat_figure_begin(page, spec->title);
    leat_figure_say(page, words);
    leat_bars_begin(&bars);
    put_value_columns(page, spec, false);
    for (int bin = 0; bin < LEAT_DISTRIBUTION_BINS; bin++) {
        if (dist->bins[bin] == 0) continue;
        bin_words(name, spec->unit, dist, bin);
        put_value(&bars, spec, name, dist, &series, bin, "bar");
    }
    leat_bars_end(&bars);
    leat_figure_end(page);
}

#define NUMBERS_MAX 40 /* numbers with their own bar */
#define VALUES_MAX 8   /* values with their own bar and name */

void leat_figure_histogram(leat_page *page, const leat_histogram *spec,
                           const leat_distribution *dist) {
    if (dist->count == 0) leat_figure_empty(page, spec->title, spec->empty);
    else if (spec->unit == LEAT_DISPLAY_COUNT && dist->max <= NUMBERS_MAX)
        draw_numbers(page, spec, dist);
    else if (value_count(dist) <= VALUES_MAX) draw_values(page, spec, dist);
    else draw_histogram(page, spec, dist);
}

/* ---- Several distributions ---------------------------------------------------------------- */

/* Few columns: a line that follows chance, or the gaps between integers, means nothing. */
#define SERIES_COLUMNS 28
#define SERIES_NUMBERS 16
#define SERIES_VALUES 4 /* values with a bar for each series */

static const char *const line_classes[LEAT_SERIES_MAX] = {"line l1", "line l2", "line l3"};
static const char *const bar_classes[LEAT_SERIES_MAX] = {"bar", "bar second", "bar third"};

/* The name and the median of each. */
static void put_medians(leat_page *page, const leat_histogram *spec, const leat_series *series,
                        int count, const char *const classes[LEAT_SERIES_MAX]) {
    char words[LEAT_WORDS_BYTES];
    leat_figure_begin(page, spec->title);
    leat_figure_say(page, "median:");
    for (int i = 0; i < count; i++)
        if (series[i].dist->count > 0)
            leat_figure_item(page, classes[i], series[i].name,
                             leat_display_words(words, spec->unit,
                                                leat_distribution_quantile(series[i].dist, 0.5)));
}

static void draw_series(leat_plot *plot, const leat_columns *columns, const leat_distribution *dist,
                        int number) {
    double xs[LEAT_COLUMNS_MAX + 3], ys[LEAT_COLUMNS_MAX + 3];
    int count = 0;
    xs[count] = columns->edge[0];
    ys[count++] = 0;
    for (int i = 0; i < columns->count; i++) {
        double from = i == 0 ? 1 : columns->edge[i];
        double to = i + 1 == columns->count ? 9.3e18 : columns->edge[i + 1];
        xs[count] = columns->edge[i];
        ys[count++] = leat_distribution_between(dist, from, to) / (double)dist->count;
    }
    xs[count] = columns->edge[columns->count];
    ys[count++] = 0;
    leat_plot_line(plot, xs, ys, count, true, line_classes[number]);
}

static double series_peak(const leat_columns *columns, const leat_series *series, int count) {
    double peak = 0;
    for (int k = 0; k < count; k++) {
        if (series[k].dist->count == 0) continue;
        for (int i = 0; i < columns->count; i++) {
            double here =
                leat_distribution_between(series[k].dist, columns->edge[i],
                                          i + 1 == columns->count ? 9.3e18 : columns->edge[i + 1]);
            if (here / (double)series[k].dist->count > peak)
                peak = here / (double)series[k].dist->count;
        }
    }
    return peak;
}

/* A bar for each value of each series; the name is that of the value. */
static void draw_series_values(leat_page *page, const leat_histogram *spec,
                               const leat_series *series, int count, const leat_distribution *all) {
    leat_bars bars = {.page = page, .unit = LEAT_DISPLAY_SHARE};
    char value[LEAT_FIGURE_WORDS], name[2 * LEAT_FIGURE_WORDS];
    for (int k = 0; k < count; k++) {
        bars.count += value_count(series[k].dist);
        bars.peak = fmax(bars.peak, value_peak(series[k].dist));
    }
    put_medians(page, spec, series, count, bar_classes);
    leat_bars_begin(&bars);
    put_value_columns(page, spec, true);
    for (int bin = 0; bin < LEAT_DISTRIBUTION_BINS; bin++) {
        for (int k = 0; k < count; k++) {
            if (series[k].dist->bins[bin] == 0) continue;
            bin_words(value, spec->unit, all, bin);
            snprintf(name, sizeof name, "%s, %s", series[k].name, value);
            put_value(&bars, spec, name, all, &series[k], bin, bar_classes[k]);
        }
    }
    leat_bars_end(&bars);
    leat_figure_end(page);
}

static void draw_series_lines(leat_page *page, const leat_histogram *spec,
                              const leat_series *series, int count, const leat_distribution *all) {
    leat_columns columns;
    leat_columns_make(&columns, all,
                      spec->unit == LEAT_DISPLAY_COUNT ? SERIES_NUMBERS : SERIES_COLUMNS);
    double peak = series_peak(&columns, series, count);
    leat_plot plot = {
        .page = page,
        .x = {spec->unit, true, columns.edge[0], columns.edge[columns.count], spec->x_label},
        .y = {LEAT_DISPLAY_SHARE, false, 0, leat_axis_end(peak), spec->y_label}};
    put_medians(page, spec, series, count, line_classes);
    plot.series = series[0].name;
    leat_plot_begin(&plot, false);
    for (int i = count - 1; i >= 0; i--) {
        plot.series = series[i].name;
        if (series[i].dist->count > 0) draw_series(&plot, &columns, series[i].dist, i);
    }
    leat_plot_end(&plot);
    leat_figure_end(page);
}

void leat_figure_series(leat_page *page, const leat_histogram *spec, const leat_series *series,
                        int count) {
    leat_distribution all = {0};
    for (int i = 0; i < count; i++) leat_distribution_merge(&all, series[i].dist);
    if (all.count == 0) leat_figure_empty(page, spec->title, spec->empty);
    else if (value_count(&all) <= SERIES_VALUES)
        draw_series_values(page, spec, series, count, &all);
    else draw_series_lines(page, spec, series, count, &all);
}
