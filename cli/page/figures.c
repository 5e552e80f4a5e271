/* Figures: the frame around a plot, and plots shared by several pages. */
#include <math.h>
#include <stdio.h>

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

void leat_figure_histogram(leat_textbuf *out, const leat_histogram *spec, const leat_dist *dist) {
    char caption[LEAT_FIGURE_WORDS], words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES],
        b[LEAT_WORDS_BYTES];
    leat_columns columns;
    leat_columns_make(&columns, dist, LEAT_COLUMNS_MAX);
    if (columns.count == 0) {
        leat_figure_empty(out, spec->title, dist->count == 0 ? spec->empty : "all values are 0");
        return;
    }
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
        snprintf(words, sizeof words, "0: %s of the %s",
                 leat_unit_words(a, LEAT_UNIT_SHARE, columns.zeros / columns.total), spec->things);
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

#define NUMBERS_MAX 40 /* numbers with their own bar */

void leat_figure_numbers(leat_textbuf *out, const leat_histogram *spec, const leat_dist *dist) {
    char caption[LEAT_FIGURE_WORDS], words[LEAT_FIGURE_WORDS];
    char share[LEAT_WORDS_BYTES], count[LEAT_WORDS_BYTES];
    if (dist->count == 0 || dist->max > NUMBERS_MAX) {
        leat_figure_histogram(out, spec, dist);
        return;
    }
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

/* ---- Several distributions ---------------------------------------------------------------- */

/* Few columns: a line that follows chance, or the gaps between integers, means nothing. */
#define SERIES_COLUMNS 28
#define SERIES_NUMBERS 16

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

void leat_figure_series(leat_textbuf *out, const leat_histogram *spec, const leat_series *series,
                        int count) {
    leat_dist all = {0};
    leat_columns columns;
    for (int i = 0; i < count; i++) leat_dist_merge(&all, series[i].dist);
    leat_columns_make(&columns, &all,
                      spec->unit == LEAT_UNIT_COUNT ? SERIES_NUMBERS : SERIES_COLUMNS);
    if (columns.count == 0) {
        leat_figure_empty(out, spec->title, all.count == 0 ? spec->empty : "all values are 0");
        return;
    }
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
